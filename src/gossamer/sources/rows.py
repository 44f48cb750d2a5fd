"""Rows of data from arrays and files: CSR entries, labels or targets, weights, offsets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gossamer import _core
from gossamer.registry import record
from gossamer.validation import Array

LARGEST = 1e70  # value of a feature that a learner accepts (core/online/learner.hpp)


@record
class Rows:
    """Some rows: CSR entries, y, weights (None means all ones), and offsets of the scores (None means zeros).

    Row i is entries begins[i] … ends[i] − 1, so rows are chosen and reordered without moving their entries. From a
    source, y holds labels, or is None if there are none; learners read coded targets, float64, n × targets.
    """

    begins: Array  # int64
    ends: Array  # int64
    index: Array  # int32, features, sorted in each row
    value: Array  # float32 or float64, finite
    y: Any
    weight: Array | None = None  # float64
    offset: Array | None = None  # float64, added to the margins; None means all zeros

    @staticmethod
    def of(
        starts: Array, index: Array, value: Array, y: Any, weight: Array | None = None, offset: Array | None = None
    ) -> Rows:
        """Return rows whose entries follow each other; `starts` has the begin of every row and the end of the last."""
        return Rows(starts[:-1], starts[1:], index, value, y, weight, offset)

    def __len__(self) -> int:
        return len(self.begins)

    def taken(self, which: Any) -> Rows:
        """Return some of the rows, or all in another order."""
        y = None if self.y is None else self.y.take(which, axis=0)
        weight = None if self.weight is None else self.weight.take(which)
        offset = None if self.offset is None else self.offset.take(which)
        return Rows(self.begins.take(which), self.ends.take(which), self.index, self.value, y, weight, offset)

    def __getitem__(self, which: slice) -> Rows:
        y = None if self.y is None else self.y[which]
        weight = None if self.weight is None else self.weight[which]
        offset = None if self.offset is None else self.offset[which]
        return Rows(self.begins[which], self.ends[which], self.index, self.value, y, weight, offset)

    def without_zero_weights(self) -> Rows:
        """Return the rows with a positive weight."""
        if self.weight is None or self.weight.all():
            return self
        return self.taken(np.flatnonzero(self.weight))

    def without(self, barred: Array | None) -> Rows:
        """Return the rows without the entries of barred features, a mask over all features; None bars nothing."""
        if barred is None:
            return self
        rows = self.compact()
        stay = ~barred[rows.index]
        before = np.concatenate([[0], np.cumsum(stay)])
        return replace(
            rows,
            begins=before[rows.begins],
            ends=before[rows.ends],
            index=np.ascontiguousarray(rows.index[stay]),
            value=np.ascontiguousarray(rows.value[stay]),
        )

    def compact(self) -> Rows:
        """Return the same rows with their entries stored one after the other, and no others."""
        if len(self) and (self.begins[1:] == self.ends[:-1]).all():  # already compact
            first, last = self.begins[0], self.ends[-1]
            moved = replace(self, begins=self.begins - first, ends=self.ends - first)
            return replace(moved, index=self.index[first:last], value=self.value[first:last])
        lengths = self.ends - self.begins
        ends = np.cumsum(lengths)
        begins = ends - lengths
        entries = np.arange(lengths.sum()) + np.repeat(self.begins - begins, lengths)
        return replace(self, begins=begins, ends=ends, index=self.index[entries], value=self.value[entries])

    def then(self, other: Rows) -> Rows:
        """Return these rows followed by the others, compact."""
        first, second = self.compact(), other.compact()
        moved = len(first.index)
        return Rows(
            np.concatenate([first.begins, second.begins + moved]),
            np.concatenate([first.ends, second.ends + moved]),
            np.concatenate([first.index, second.index]),
            np.concatenate([first.value, second.value]),
            np.concatenate([first.y, second.y]),
            _joined(first, second, "weight", 1.0),
            _joined(first, second, "offset", 0.0),
        )

    def renumbered(self) -> tuple[Rows, Array]:
        """Return the rows, compact, with their features renumbered 0, 1, …, and the old numbers."""
        rows = self.compact()
        width = int(rows.index.max(initial=-1)) + 1
        if width > 8 * len(rows.index):  # a table of all features would cost more than sorting
            used, index = np.unique(rows.index, return_inverse=True)
            return replace(rows, index=index.astype(np.int32)), used
        present = np.zeros(width, bool)
        present[rows.index] = True
        numbers = np.cumsum(present, dtype=np.int32) - np.int32(1)
        return replace(rows, index=numbers[rows.index]), np.flatnonzero(present)

    def check(self, features: int) -> None:
        """Raise unless all values are finite and all indices are below `features`."""
        if _core.valid_entries(self.index, self.value, features):
            return
        if not _core.all_finite(self.value):
            bad = int(np.flatnonzero(~np.isfinite(self.value))[0])
            row = np.flatnonzero((self.begins <= bad) & (bad < self.ends))
            where = f": its row {row[0]}, column {self.index[bad]}, is {self.value[bad]}" if len(row) else ""
            raise ValueError(f"Input X contains NaN or infinity{where}.")
        raise ValueError(f"X is not a valid CSR matrix: indices must lie in 0 … {features - 1}.")

    def check_size(self) -> None:
        """Raise if a value is so large that squares of gradients are not finite."""
        if self.value.itemsize == 8 and not _core.largest(self.value) <= LARGEST:
            raise ValueError(
                f"X has a value of {_core.largest(self.value):.3g}; values up to {LARGEST:g} can be learned from. "
                "Scale the features."
            )

    def squared_norms(self) -> Array:
        """Return ‖x‖² of every row."""
        rows = self.compact()
        sums = np.concatenate([[0.0], np.cumsum(np.square(rows.value, dtype=np.float64))])
        return sums[rows.ends] - sums[rows.begins]

    def teach(self, learner: Any, steps: Array, loss: Any) -> None:
        """Teach a learner the rows, in their order."""
        rows = self.begins, self.ends, self.index, self.value, self.y, self.weight
        learner.learn(*rows, steps, loss, self.offset)


def _joined(first: Rows, second: Rows, name: str, otherwise: float) -> Array | None:
    """Return the weights or offsets of two records of rows, or None if neither has any."""
    both = [getattr(rows, name) for rows in (first, second)]
    if both[0] is None and both[1] is None:
        return None
    lengths = len(first), len(second)
    return np.concatenate([np.full(n, otherwise) if v is None else v for v, n in zip(both, lengths, strict=True)])


def csr_arrays(X: Any) -> tuple[Array, Array, Array, Array]:
    """Return begins, ends, index and value of a canonical CSR matrix, in the types the learners read."""
    starts = np.ascontiguousarray(X.indptr, np.int64)
    index, value = X.indices[: starts[-1]], X.data[: starts[-1]]
    value = value if value.dtype in (np.float32, np.float64) else value.astype(np.float64)
    return starts[:-1], starts[1:], np.ascontiguousarray(index, np.int32), np.ascontiguousarray(value)
