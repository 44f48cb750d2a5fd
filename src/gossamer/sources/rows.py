"""Rows of data from arrays and files: CSR entries, labels or targets, weights."""

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
    """Some rows: CSR entries, y, and weights (None means all ones).

    Row i is entries begins[i] … ends[i] − 1, so rows are chosen and reordered without moving their entries. From a
    source, y holds labels, or is None if there are none; learners read coded targets, float64, n × targets.
    """

    begins: Array  # int64
    ends: Array  # int64
    index: Array  # int32, features, sorted in each row
    value: Array  # float32 or float64, finite
    y: Any
    weight: Array | None = None  # float64

    @staticmethod
    def of(starts: Array, index: Array, value: Array, y: Any, weight: Array | None = None) -> Rows:
        """Return rows whose entries follow each other; `starts` has the begin of every row and the end of the last."""
        return Rows(starts[:-1], starts[1:], index, value, y, weight)

    def __len__(self) -> int:
        return len(self.begins)

    def taken(self, which: Any) -> Rows:
        """Return some of the rows, or all in another order."""
        y = None if self.y is None else self.y.take(which, axis=0)
        weight = None if self.weight is None else self.weight.take(which)
        return Rows(self.begins.take(which), self.ends.take(which), self.index, self.value, y, weight)

    def __getitem__(self, which: slice) -> Rows:
        y = None if self.y is None else self.y[which]
        weight = None if self.weight is None else self.weight[which]
        return Rows(self.begins[which], self.ends[which], self.index, self.value, y, weight)

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
        ones = [np.ones(len(r)) if r.weight is None else r.weight for r in (first, second)]
        return Rows(
            np.concatenate([first.begins, second.begins + moved]),
            np.concatenate([first.ends, second.ends + moved]),
            np.concatenate([first.index, second.index]),
            np.concatenate([first.value, second.value]),
            np.concatenate([first.y, second.y]),
            None if first.weight is None and second.weight is None else np.concatenate(ones),
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
            raise ValueError("Input X contains NaN or infinity.")
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
        learner.learn(self.begins, self.ends, self.index, self.value, self.y, self.weight, steps, loss)


def csr_arrays(X: Any) -> tuple[Array, Array, Array, Array]:
    """Return begins, ends, index and value of a canonical CSR matrix, in the types the learners read."""
    starts = np.ascontiguousarray(X.indptr, np.int64)
    index, value = X.indices[: starts[-1]], X.data[: starts[-1]]
    value = value if value.dtype in (np.float32, np.float64) else value.astype(np.float64)
    return starts[:-1], starts[1:], np.ascontiguousarray(index, np.int32), np.ascontiguousarray(value)
