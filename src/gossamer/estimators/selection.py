"""The choice of a strength on a regularization path, online and in batch."""

from __future__ import annotations

import numpy as np

from gossamer.validation import Array

SELECT = ("best", "sparsest")


def selected(select: str, loss: Array, error: Array, nonzeros: Array, allowed: Array | None = None) -> int:
    """Return the index of the chosen strength: the lowest loss, or the sparsest within one standard error of it.

    `error` has the standard error of each loss, or of each difference between two of them, one row per strength.
    Strengths decrease, and the first of equal ones is chosen. `allowed` marks those that may be chosen.

    >>> loss, error, nonzeros = np.array([0.5, 0.31, 0.3]), np.full(3, 0.02), np.array([2, 5, 9])
    >>> selected("best", loss, error, nonzeros), selected("sparsest", loss, error, nonzeros)
    (2, 1)
    """
    loss = np.where(np.isfinite(loss), loss, np.inf)
    allowed = np.full(len(loss), True) if allowed is None else allowed
    best = int(np.argmin(np.where(allowed, loss, np.inf)))
    if not allowed[best]:  # every loss is infinite
        best = int(np.flatnonzero(allowed)[0])
    if select == "best" or not np.isfinite(loss[best]):
        return best
    near = allowed & (loss <= loss[best] + np.where(np.isnan(error[best]), 0.0, error[best]))
    return int(np.argmin(np.where(near, nonzeros, np.iinfo(np.int64).max)))


def falls_at_the_end(loss: Array, chosen: int) -> bool:
    """Return whether the weakest strength is chosen, and is still better than the one before it by more than a little.

    A little is a hundredth of what it gains over the worst strength, which is nearly the model without features.

    >>> falls_at_the_end(np.array([1.0, 0.6, 0.5]), 2), falls_at_the_end(np.array([1.0, 0.5, 0.4999]), 2)
    (True, False)
    """
    known = np.flatnonzero(np.isfinite(loss))
    if len(known) < 2 or chosen != known[-1]:
        return False
    last, before = loss[chosen], loss[known[-2]]
    return bool(before - last > 0.01 * (loss[known].max() - last))
