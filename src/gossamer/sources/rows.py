"""Rows of data from arrays and files: CSR entries, labels or targets, weights, offsets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gossamer import _core
from gossamer.registry import record
from gossamer.validation import Array

LARGEST = 1e70  # value of a feature, or offset, that a learner accepts (core/online/learner.hpp)


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
    dense: bool = False  # whether all rows have the same features, which `index` holds once
    within: int = 0  # all of `index` was found to be in 0 … within − 1; 0: it may have to be looked at

    @staticmethod
    def of(
        starts: Array, index: Array, value: Array, y: Any, weight: Array | None = None, offset: Array | None = None
    ) -> Rows:
        """Return rows whose entries follow each other; `starts` has the begin of every row and the end of the last."""
        return Rows(starts[:-1], starts[1:], index, value, y, weight, offset, False)

    @staticmethod
    def of_array(X: Array, y: Any, weight: Array | None = None, offset: Array | None = None) -> Rows:
        """Return rows that have a value for every column of an array, zero or not."""
        n, d = X.shape
        value = np.ascontiguousarray(X if X.dtype in (np.float32, np.float64) else X.astype(np.float64))
        starts = np.arange(n + 1, dtype=np.int64) * d
        return Rows(
            starts[:-1], starts[1:], np.arange(d, dtype=np.int32), value.reshape(-1), y, weight, offset, True, d
        )

    @staticmethod
    def of_nonzeros(X: Array, y: Any, weight: Array | None = None, offset: Array | None = None) -> Rows:
        """Return rows with the values of an array that are not zero.

        Takes a third of the time of SciPy's conversion; where no value is zero, none.
        """
        if X.all():
            return Rows.of_array(X, y, weight, offset)
        n, d = X.shape
        here = X != 0
        flat, counts = np.flatnonzero(here), here.sum(axis=1)
        starts = np.concatenate([[0], np.cumsum(counts)])
        index = (flat - np.repeat(np.arange(n) * d, counts)).astype(np.int32)
        value = X.reshape(-1).take(flat)
        value = value if value.dtype in (np.float32, np.float64) else value.astype(np.float64)
        return Rows(starts[:-1], starts[1:], index, value, y, weight, offset, False, d)

    def __len__(self) -> int:
        return len(self.begins)

    def taken(self, which: Any) -> Rows:
        """Return some of the rows, or all in another order."""
        y = None if self.y is None else self.y.take(which, axis=0)
        weight = None if self.weight is None else self.weight.take(which)
        offset = None if self.offset is None else self.offset.take(which)
        begins, ends = self.begins.take(which), self.ends.take(which)
        return Rows(begins, ends, self.index, self.value, y, weight, offset, self.dense, self.within)

    def __getitem__(self, which: slice) -> Rows:
        y = None if self.y is None else self.y[which]
        weight = None if self.weight is None else self.weight[which]
        offset = None if self.offset is None else self.offset[which]
        begins, ends = self.begins[which], self.ends[which]
        return Rows(begins, ends, self.index, self.value, y, weight, offset, self.dense, self.within)

    def without_zero_weights(self) -> Rows:
        """Return the rows with a positive weight."""
        if self.weight is None or self.weight.all():
            return self
        return self.taken(np.flatnonzero(self.weight))

    def sparse(self) -> Rows:
        """Return the same rows with an index for every entry."""
        if not self.dense:
            return self
        lengths = self.ends - self.begins
        width = len(self.index)
        ends = np.arange(1, len(self) + 1, dtype=np.int64) * width
        entries = (np.repeat(self.begins - (ends - lengths), lengths) + np.arange(len(self) * width)).astype(np.int64)
        index = np.tile(self.index, len(self))
        return replace(self, begins=ends - width, ends=ends, index=index, value=self.value[entries], dense=False)

    def filled(self, count: int) -> Rows:
        """Return the rows with an entry for each of the first features, zero where there was none."""
        if count == 0 or (self.dense and count == len(self.index)):
            return self
        rows = self.compact()
        n, lengths = len(rows), rows.ends - rows.begins
        row, ours = np.repeat(np.arange(n), lengths), rows.index < count
        have = np.bincount(row[ours], minlength=n)
        if (have == count).all():
            return rows
        first = np.zeros((n, count), rows.value.dtype)
        first[row[ours], rows.index[ours]] = rows.value[ours]
        ends = np.cumsum(lengths - have + count)
        begins = ends - (lengths - have + count)
        index, value = np.empty(ends[-1], np.int32), np.empty(ends[-1], rows.value.dtype)
        place = (begins[:, None] + np.arange(count)).reshape(-1)
        index[place], value[place] = np.tile(np.arange(count, dtype=np.int32), n), first.reshape(-1)
        rest = np.ones(len(index), bool)
        rest[place] = False
        index[rest], value[rest] = rows.index[~ours], rows.value[~ours]
        return replace(rows, begins=begins, ends=ends, index=index, value=value, within=0)

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
        """Return the same rows with an index for every entry, entries stored one after the other, and no others."""
        if self.dense:
            return self.sparse()
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
        return joined([self, other])

    def copied(self) -> Rows:
        """Return a compact copy, which does not change with the arrays that the rows came from."""
        rows = self.compact()
        arrays: dict[str, Any] = {name: np.array(getattr(rows, name)) for name in _ARRAYS if _has(rows, name)}
        return replace(rows, **arrays)

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
        if self.dense:
            if _core.all_finite(self.value):
                return
            bad = int(np.flatnonzero(~np.isfinite(self.value))[0])
            column = bad % len(self.index)
            where = f"its row {bad // len(self.index)}, column {column}, is {self.value[bad]}"
            raise ValueError(f"Input X contains NaN or infinity: {where}.")
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
        refuse_large_offsets(self.offset)

    def squared_norms(self) -> Array:
        """Return ‖x‖² of every row."""
        rows = self.compact()
        sums = np.concatenate([[0.0], np.cumsum(np.square(rows.value, dtype=np.float64))])
        return sums[rows.ends] - sums[rows.begins]

    def teach(self, learner: Any, steps: Array, loss: Any) -> None:
        """Teach a learner the rows, in their order."""
        rows = self.begins, self.ends, self.index, self.value, self.y, self.weight
        learner.learn(*rows, steps, loss, self.offset, self.dense, self.within)


def refuse_large_offsets(offset: Array | None) -> None:
    """Raise if an offset is so large that squares of losses are not finite."""
    if offset is not None and not _core.largest(offset) <= LARGEST:
        raise ValueError(
            f"offset has a value of {_core.largest(offset):.3g}; offsets up to {LARGEST:g} can be learned from."
        )


_ARRAYS = ("begins", "ends", "index", "value", "y", "weight", "offset")


def _has(rows: Rows, name: str) -> bool:
    return getattr(rows, name) is not None


def joined(parts: list[Rows]) -> Rows:
    """Return the rows of some records, in their order; compact if they are several."""
    if len(parts) == 1:
        return parts[0]
    parts = [rows.compact() for rows in parts]
    moved = np.cumsum([0, *(len(rows.index) for rows in parts[:-1])])
    return Rows(
        np.concatenate([rows.begins + by for rows, by in zip(parts, moved, strict=True)]),
        np.concatenate([rows.ends + by for rows, by in zip(parts, moved, strict=True)]),
        np.concatenate([rows.index for rows in parts]),
        np.concatenate([rows.value for rows in parts]),
        np.concatenate([rows.y for rows in parts]),
        _joined(parts, "weight", 1.0),
        _joined(parts, "offset", 0.0),
    )


def _joined(parts: list[Rows], name: str, otherwise: float) -> Array | None:
    """Return the weights or offsets of some records of rows, or None if none has any."""
    if not any(_has(rows, name) for rows in parts):
        return None
    return np.concatenate(
        [getattr(rows, name) if _has(rows, name) else np.full(len(rows), otherwise) for rows in parts]
    )


def csr_arrays(X: Any) -> tuple[Array, Array, Array, Array]:
    """Return begins, ends, index and value of a canonical CSR matrix, in the types the learners read."""
    starts = np.ascontiguousarray(X.indptr, np.int64)
    index, value = X.indices[: starts[-1]], X.data[: starts[-1]]
    value = value if value.dtype in (np.float32, np.float64) else value.astype(np.float64)
    return starts[:-1], starts[1:], np.ascontiguousarray(index, np.int32), np.ascontiguousarray(value)
