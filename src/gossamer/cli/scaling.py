"""The units in which numbers of a table are learned: from their mean, by their spread.

A column in metres and the same in millimetres then give the same model, and the penalty treats all columns alike. The
weights of the model are given back in the units of the table, so nobody has to know.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gossamer.cli.tally import lowest, mean_loss
from gossamer.estimators.targets import Targets
from gossamer.model import schema
from gossamer.model.file_format import FileError
from gossamer.sources.base import Source
from gossamer.sources.blocks import Block
from gossamer.sources.rows import Rows
from gossamer.validation import Array

ROWS = 1000  # that are measured
MOST = 512  # columns that may be centred: each row then has a value for every one of them
FIELDS: schema.Table = {  # what a checkpoint keeps
    "mean": ("means of columns", schema.array(np.float64)),
    "spread": ("spreads of columns", schema.array(np.float64)),
    "start": ("first score", schema.finite),
}


class Scaling:
    """x → (x − mean) / spread of the first features of a table, and scores that are counted from `start`."""

    def __init__(self, mean: Array, spread: Array, start: float = 0.0) -> None:
        self.mean, self.spread, self.start = mean, spread, start

    def state(self) -> dict[str, Any]:
        """Return the settings, for a checkpoint."""
        return {"mean": self.mean, "spread": self.spread, "start": self.start}

    @staticmethod
    def restored(state: dict[str, Any]) -> Scaling:
        """Return the scaling of a checkpoint, every value checked."""
        schema.check(state, FIELDS, where="scaling")
        mean, spread = state["mean"], state["spread"]
        sound = len(mean) == len(spread) and bool(np.isfinite([*mean, *spread]).all()) and bool((spread > 0).all())
        if not sound:
            raise FileError("invalid scaling: means and spreads do not agree. The file is corrupt.")
        return Scaling(mean, spread, state["start"])

    def applied(self, block: Block) -> Block:
        """Return a block as the learner sees it."""
        rows = block.rows.compact()
        if self.mean.any():
            rows = self._centred(rows)
        elif len(self.spread):
            ours = rows.index < len(self.spread)
            value = rows.value.astype(np.float64)
            value[ours] /= self.spread[rows.index[ours]]
            rows = replace(rows, value=value)
        if self.start:
            shift = np.full(len(rows), self.start) if rows.offset is None else rows.offset + self.start
            rows = replace(rows, offset=shift)
        return replace(block, rows=rows)

    def _centred(self, rows: Rows) -> Rows:
        """Return rows with a value for every one of our features, at the beginning, and then their other entries."""
        n, k = len(rows), len(self.spread)
        lengths = rows.ends - rows.begins
        row = np.repeat(np.arange(n), lengths)
        ours = rows.index < k
        dense = np.zeros((n, k))
        dense[row[ours], rows.index[ours]] = rows.value[ours]
        dense = (dense - self.mean) / self.spread
        others = lengths - np.bincount(row[ours], minlength=n)
        ends = np.cumsum(others + k)
        begins = ends - others - k
        index, value = np.empty(ends[-1] if n else 0, np.int32), np.empty(ends[-1] if n else 0)
        place = (begins[:, None] + np.arange(k)).reshape(-1)
        index[place], value[place] = np.tile(np.arange(k, dtype=np.int32), n), dense.reshape(-1)
        rest = np.ones(len(index), bool)
        rest[place] = False
        index[rest], value[rest] = rows.index[~ours], rows.value[~ours]
        return replace(rows, begins=begins, ends=ends, index=index, value=value)

    def undone(self, W: Array, b: Array) -> tuple[Array, Array]:
        """Return weights and intercepts in the units of the table."""
        W, k = W.copy(), min(len(self.spread), len(W))
        W[:k] /= self.spread[:k, None]
        return W, b - self.mean[:k] @ W[:k] + self.start


def possible(source: Source) -> bool:
    """Return whether a source is a table with columns of numbers."""
    plan: Any = getattr(source, "columns", None)
    return plan is not None and source.peek() is not None and bool(plan.numbers)


def found(source: Source, targets: Targets | None, rows_of: Any) -> Scaling | None:
    """Measure the first rows of a table; return None for data that is no table.

    `targets` codes numbers to predict, whose best constant is where scores start; it is None for classes. `rows_of`
    returns the rows of a block that are learned from.
    """
    plan: Any = getattr(source, "columns", None)
    block = None if plan is None else source.peek()
    if block is None or len(block) == 0 or block.label is None:
        return None
    first = rows_of(block)
    first = first.taken(np.arange(min(ROWS, len(first))))
    k, n = len(plan.numbers) + len(getattr(plan, "dates", ())), len(first)
    if n == 0:
        return None
    ours = first.index < k
    count = np.bincount(first.index[ours], minlength=k)  # of values that are not zero
    mean = np.bincount(first.index[ours], first.value[ours], k) / n
    squares = np.bincount(first.index[ours], (first.value[ours] - mean[first.index[ours]]) ** 2, k)
    spread = np.sqrt((squares + (n - count) * mean**2) / n)
    mean = np.where((count > 0.5 * n) & (k <= MOST), mean, 0.0)
    spread = np.where(spread > 1e-12 * np.maximum(np.abs(mean), 1e-300), spread, 1.0)
    start = 0.0
    if targets is not None:
        start = lowest(mean_loss(targets.loss, targets.encode(first.label)[:, 0], first.weight, first.rows.offset))[0]
    return Scaling(mean, spread, start)
