"""The one loop over passes: `fit`, `fit_source`, paths and the command line all learn through it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from gossamer import _core
from gossamer.frozen import record
from gossamer.validation import Array


@record
class Pass:
    """A complete pass."""

    number: int  # from 1
    loss: float  # the mean loss of each row before it was learned from


def passes(
    trainer: Any, blocks: Callable[[int], Iterable[Any]], most: int, *, done: int = 0, tol: float | None = None
) -> Iterator[Pass]:
    """Yield after each pass of a `Trainer` or `Streaming` over `blocks(number)`, up to pass `most`.

    With `tol`, stop when the loss of a pass is not lower than that of the pass before by at least that much. What
    follows a `yield` in a generator of blocks happens once that block has been learned from.
    """
    before = math.inf
    for number in range(done + 1, most + 1):
        loss, weight = trainer.loss_seen, trainer.weight_seen
        for block in blocks(number):
            trainer.learn(block, repeated=number > 1)
        now = (trainer.loss_seen - loss) / max(trainer.weight_seen - weight, 1e-300)
        yield Pass(number, now)
        if tol is not None and not now < before - tol:
            return
        before = now


class SeededOrders:
    """Random orders by a seed: those of NumPy's RandomState, in 75 µs instead of 370 for the 20,242 rows of RCV1.

    A pass of FOBOS over these rows takes 2.2 ms.

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
