"""The strengths of a path, online or in batch: which ones there are, and which one is chosen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gossamer.validation import Array, floats

SELECT = ("best", "sparsest")


def checked_alphas(alphas: Any, least: int = 1) -> int | Array:
    """Return a count of strengths, at least so many, or those given, without repetition, from the largest down."""
    if isinstance(alphas, (int, np.integer)) and not isinstance(alphas, bool):
        if alphas < least:
            raise ValueError(
                f"alphas must be at least {least} strengths, or a sequence of strengths; {alphas!r} was given."
            )
        return int(alphas)
    if np.ndim(alphas) == 0:
        raise ValueError(f"alphas must be a whole number or a sequence of strengths; {alphas!r} was given.")
    given = floats(alphas, "alphas", ndim=(1,)).astype(np.float64)
    if len(given) == 0:
        raise ValueError("alphas must hold at least one strength; it is empty.")
    if given.min() < 0:
        raise ValueError(f"alphas must not be negative; they hold {given.min():g}.")
    return np.unique(given)[::-1].copy()


def grid(alphas: int | Array, top: float, ratio: float) -> Array:
    """Return the strengths: those given, or a count of them, evenly spaced in logarithm from `top` to `ratio · top`."""
    return top * np.geomspace(1.0, ratio, alphas) if isinstance(alphas, int) else alphas


def strongest(penalty: Any, gradient: Array) -> float | None:
    """Return the least α with −gradient ∈ α ∂Ω(0), from which on all weights are zero; None where there is none."""
    top = float(penalty.dual_norm(-gradient))
    return top if math.isfinite(top) else None


def checked_select(select: Any) -> str:
    """Return `select`, or raise where it is not a rule."""
    if select not in SELECT:
        raise ValueError(f"select must be 'best' or 'sparsest'; {select!r} was given.")
    return str(select)


def selected(select: str, loss: Array, error: Array, nonzeros: Array, allowed: Array | None = None) -> int:
    """Return which strength is chosen: the one with the lowest loss, or the sparsest within its standard error.

    Strengths fall, and the first of equals is chosen. `allowed` says which may be chosen.

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
    near = allowed & (loss <= loss[best] + error[best])
    return int(np.argmin(np.where(near, nonzeros, np.iinfo(np.int64).max)))
