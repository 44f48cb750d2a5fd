"""Blocks of examples as the learners read them: CSR rows with targets and weights, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gossamer.arrays import Array


@dataclass(frozen=True)
class Rows:
    """Some examples: CSR arrays, targets (n × targets), weights or None for all ones."""

    starts: Array  # int64, where each row begins
    index: Array  # int32, features
    value: Array  # float32 or float64
    y: Array  # float64, n × targets
    weight: Array | None  # float64

    def __len__(self) -> int:
        return len(self.starts) - 1

    def part(self, begin: int, end: int) -> Rows:
        """Return rows begin … end − 1, without copying the features."""
        low, high = self.starts[begin], self.starts[end]
        return Rows(
            self.starts[begin : end + 1] - low,
            self.index[low:high],
            self.value[low:high],
            self.y[begin:end],
            None if self.weight is None else self.weight[begin:end],
        )

    def then(self, other: Rows) -> Rows:
        """Return these rows followed by the others."""
        ones = [np.ones(len(r)) if r.weight is None else r.weight for r in (self, other)]
        return Rows(
            np.concatenate([self.starts, other.starts[1:] + self.starts[-1]]),
            np.concatenate([self.index, other.index]),
            np.concatenate([self.value, other.value]),
            np.concatenate([self.y, other.y]),
            None if self.weight is None and other.weight is None else np.concatenate(ones),
        )

    def without_zero_weights(self) -> Rows:
        """Return the rows that have a weight."""
        if self.weight is None or self.weight.all():
            return self
        keep = np.flatnonzero(self.weight)
        lengths = np.diff(self.starts)
        entries = np.repeat(self.weight != 0, lengths)
        starts = np.concatenate([[0], np.cumsum(lengths[keep])])
        return Rows(starts, self.index[entries], self.value[entries], self.y[keep], self.weight[keep])

    def taken(self, order: Array) -> Rows:
        """Return the rows in another order."""
        lengths = np.diff(self.starts)[order]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.arange(starts[-1]) + np.repeat(self.starts[:-1][order] - starts[:-1], lengths)
        weight = None if self.weight is None else self.weight[order]
        return Rows(starts, self.index[entries], self.value[entries], self.y[order], weight)

    def renumbered(self) -> tuple[Rows, Array]:
        """Return the rows with their features renumbered 0, 1, …, and the old numbers."""
        used, index = np.unique(self.index, return_inverse=True)
        return Rows(self.starts, index.astype(np.int32), self.value, self.y, self.weight), used

    def teach(self, learner: Any, steps: Array, loss: Any) -> None:
        """Let the learner learn from the rows in their order."""
        learner.learn(self.starts, self.index, self.value, self.y, self.weight, steps, loss)


def csr_arrays(X: Any) -> tuple[Array, Array, Array]:
    """Return starts, index and value of a canonical CSR matrix, in the types the learners read."""
    value = X.data if X.data.dtype in (np.float32, np.float64) else X.data.astype(np.float64)
    return (
        np.ascontiguousarray(X.indptr, np.int64),
        np.ascontiguousarray(X.indices, np.int32),
        np.ascontiguousarray(value),
    )
