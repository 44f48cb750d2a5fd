"""Curvature that is known over some features: sums from partitions, corrected by gradients until it pays to ask again.

A message of curvature over m features has m²/2 numbers, one of gradients has one per feature, so over many features the
curvature is asked for seldom. In between a step s and the change y of the gradient that it made correct it (BFGS):

    Q ← Q − Q s sᵀ Q / (sᵀ Q s) + y yᵀ / (yᵀ s)          then Q s = y, and Q stays positive definite

It is asked for again once the rounds since have cost as much as asking does: at most twice the cost of the best moment.
"""

from __future__ import annotations

import numpy as np

from gossamer.validation import Array

ROUND = 1 << 20  # bytes that a round costs by the time it takes: some hundredths of a second


class Curvature:
    """A matrix over some features × outputs, then the intercepts."""

    def __init__(self, features: Array, Q: Array, message: int, outputs: int) -> None:
        self.features, self.Q, self.message, self.outputs = features, Q, message, outputs
        self.fresh = True
        self.spent = 0.0

    def has(self, some: Array) -> Array:
        """Return which of some features it is known of."""
        return np.isin(some, self.features, assume_unique=True)

    def pays(self, some: Array) -> bool:
        """Return whether to ask for the curvature of these features now."""
        return self.spent >= ROUND + self.message * (len(some) / max(len(self.features), 1)) ** 2

    def over(self, some: Array) -> Array:
        """Return the matrix over some of the features and the intercepts."""
        k = self.outputs
        at = (np.searchsorted(self.features, some)[:, None] * k + np.arange(k)).reshape(-1)
        at = np.concatenate([at, len(self.features) * k + np.arange(k)])
        return self.Q[np.ix_(at, at)]

    def correct(self, moved: Array, moved_b: Array, change: Array, change_b: Array) -> None:
        """Learn from a step, and the change of the gradient that it made."""
        s = np.concatenate([moved[self.features].reshape(-1), moved_b])
        y = np.concatenate([change[self.features].reshape(-1), change_b])
        Qs, by = self.Q @ s, float(s @ y)
        self.fresh = False
        if by > 1e-10 * np.linalg.norm(s) * np.linalg.norm(y):
            self.Q += np.outer(y, y / by) - np.outer(Qs, Qs / float(s @ Qs))
