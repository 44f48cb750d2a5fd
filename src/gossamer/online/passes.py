"""Passes over the rows."""

from __future__ import annotations

import numpy as np

from gossamer import _core
from gossamer.validation import Array


class SeededOrders:
    """Random orders by a seed: those of NumPy's RandomState, which takes longer to make than to use.

    >>> SeededOrders(7).permutation(5).tolist() == np.random.RandomState(7).permutation(5).tolist()
    True
    """

    def __init__(self, seed: int) -> None:
        self._orders = _core.Orders(seed)

    def permutation(self, count: int) -> Array:
        """Return 0 … count − 1 in the next order."""
        order = np.empty(count, np.int64)
        self._orders.next(order)
        return order
