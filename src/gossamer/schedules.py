"""Schedules of the step η(t), t = 1, 2, …: frozen records that are called with an array of rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer.registry import record
from gossamer.validation import Array, number

__all__ = ["Constant", "InverseSqrt", "InverseTime"]


@record
class Constant:
    """Constant step: η(t) = c, c > 0.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Constant(0.5)(t=np.array([1, 2, 3]))
    array([0.5, 0.5, 0.5])
    """

    c: float

    def __post_init__(self) -> None:
        number(self.c, "c", above=0)

    def __call__(self, t: Array) -> Array:
        """Return the steps of the rounds t."""
        return np.full(len(t), float(self.c))


@record
class InverseSqrt:
    """Step for convex problems: η(t) = c / √t, c > 0.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.InverseSqrt(2.0)(t=np.array([1, 4, 16]))
    array([2. , 1. , 0.5])
    """

    c: float

    def __post_init__(self) -> None:
        number(self.c, "c", above=0)

    def __call__(self, t: Array) -> Array:
        """Return the steps of the rounds t."""
        return self.c / np.sqrt(t)


@record
class InverseTime:
    """Step for strongly convex problems: η(t) = 1 / (H t), H > 0 the modulus (α for ½ α ‖w‖²).

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.InverseTime(0.5)(t=np.array([1, 2, 4]))
    array([2. , 1. , 0.5])
    """

    h: float

    def __post_init__(self) -> None:
        number(self.h, "h", above=0)

    def __call__(self, t: Array) -> Array:
        """Return the steps of the rounds t."""
        return 1.0 / (self.h * np.asarray(t, np.float64))


def steps(schedule: Any, first: int, count: int) -> Array:
    """Return η for rounds `first` … `first + count − 1`, checked to be positive and finite."""
    t = np.arange(first, first + count, dtype=np.float64)
    eta = np.asarray(schedule(t), np.float64)
    if eta.shape != t.shape:
        try:
            eta = np.ascontiguousarray(np.broadcast_to(eta, t.shape))
        except ValueError:
            raise ValueError(
                f"A step function must return one step per round; it returned shape {eta.shape}."
            ) from None
    if count and not (np.isfinite(eta).all() and eta.min() > 0):
        bad = int(np.flatnonzero(~(np.isfinite(eta) & (eta > 0)))[0])
        raise ValueError(f"Steps must be positive and finite; at round {first + bad} the step is {eta[bad]}.")
    return np.ascontiguousarray(eta)
