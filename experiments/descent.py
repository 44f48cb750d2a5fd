"""Projected gradient and exponentiated gradient on whole batches: the two rules that the ℓ1-projection paper compares.

Both yield the weights after every step. `gradient(w)` is the gradient of the loss, from all rows or from some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from time import process_time
from typing import Any

import numpy as np


def projected(gradient: Callable, w: np.ndarray, project: Callable, step: Callable) -> Iterator[np.ndarray]:
    """Yield w ← Π(w − η_t g)."""
    for t in count(1):
        w = project(w - step(t) * gradient(w))
        yield w


def exponentiated(
    gradient: Callable, shape: Any, radius: float, step: Callable, signed: bool = True
) -> Iterator[np.ndarray]:
    """Yield w = w⁺ − w⁻, w± ∝ w± exp(∓η_t g), with ‖w⁺‖₁ + ‖w⁻‖₁ = radius for every output (row of w).

    Without signs it is w⁺ alone: non-negative weights.
    """
    logs = np.zeros((2 if signed else 1, *shape))
    for t in count(1):
        parts = np.exp(logs - logs.max(axis=(0, -1), keepdims=True))
        parts *= radius / parts.sum(axis=(0, -1), keepdims=True)
        w = parts[0] - parts[1] if signed else parts[0]
        if t > 1:
            yield w
        change = step(t) * gradient(w)
        logs[0] -= change
        logs[1:] += change


def timed(iterates: Iterator[np.ndarray], value: Callable, seconds: float, looks: int = 100) -> dict[str, list[float]]:
    """Follow iterates for so much CPU time: return time and value, looked at so often; looking does not count."""
    spent, times, values = 0.0, [], []
    while spent < seconds:
        start = process_time()
        w = next(iterates)
        spent += process_time() - start
        if not times or spent >= times[-1] + seconds / looks or spent >= seconds:
            times.append(spent)
            values.append(value(w))
    return {"seconds": times, "value": values}


def counted(iterates: Iterator[np.ndarray], value: Callable, steps: int, looks: int = 100) -> dict[str, list[float]]:
    """Follow iterates for so many steps: return the number of the step and the value, looked at so often."""
    every = max(1, steps // looks)
    seen = [(t, value(w)) for t, w in zip(range(1, steps + 1), iterates, strict=False) if t % every == 0]
    return dict(zip(("step", "value"), map(list, zip(*seen, strict=True)), strict=True))
