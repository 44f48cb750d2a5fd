"""FOBOS, deterministic: minimise f(W) + αΩ(W) by full (sub)gradient steps and proxes.

    V = W − η_t g(W);   W ← prox(V, η_{t+½} α)

For a loss with Lipschitz gradient, η = 1/L and F(W_T) − F* ≤ 2LD²/T. For a loss with kinks (hinge, ε-insensitive,
quantile) the steps decrease, and the slopes averaged over the iterations are the dual point of the certificate. Both
are slow: it is the baseline of the other solvers, and the only one for losses with kinks.

Duchi, Singer: Efficient online and batch learning using forward backward splitting, JMLR 2009, §2, Theorem 2 and
Corollary 10.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gossamer.batch.certificates import DUALITY_GAP
from gossamer.batch.objective import Objective, Point
from gossamer.batch.solvers.base import SOLVERS, FirstOrder, dot, proximal_step
from gossamer.validation import Array, number


@SOLVERS.part("fobos")
@dataclass(frozen=True)
class BatchFobos(FirstOrder):
    """Deterministic FOBOS: gradient steps and proxes, for every loss and every penalty.

    Parameters
    ----------
    step : float, "auto" or "theory"
        A number c makes η_t = c/√t. "theory" is the papers' D / (√7 G √t), with D from αΩ(W*) ≤ F(0). "auto" is 1/L
        with backtracking for smooth losses, and for those with kinks the distance covered so far over the root of
        the sum of squared gradients, which needs no constants.
    look_every : int
        Iterations between two computations of the gap, and so between two lines of `verbose` or calls of callbacks.

    References
    ----------
    Duchi, Singer: Efficient online and batch learning using forward backward splitting, JMLR 2009.

    Examples
    --------
    >>> import gossamer as gs
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, 0.0, 2.0]
    >>> gs.BatchRegressor(alpha=0.1, solver="fobos", tol=1e-8).fit(X, y).coef_.round(3)
    array([1.55, 0.  ])
    """

    step: Any = "auto"
    look_every: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.step, str):
            if self.step not in ("auto", "theory"):
                raise ValueError(f"step must be a number, 'auto' or 'theory'; {self.step!r} was given.")
        else:
            number(self.step, "step", above=0)

    def check(self, objective: Objective) -> None:
        """Accept every problem; step="theory" needs a bound on the weights."""
        if self.step == "theory" and not (objective.alpha > 0 or objective.penalty.radius is not None):
            raise ValueError("step='theory' needs a bound on the weights: alpha > 0 or a ball. Use step='auto'.")

    def iterates(self, objective: Objective, W: Array) -> Iterator[Array | Point]:
        """Yield the iterates; with decreasing steps, points whose slopes are averages."""
        if objective.smooth and self.step == "auto":
            yield from _steady(objective, W)
            return
        point = objective.at(W)
        c = self._first_step(objective, point)
        start, squares = W, 0.0
        # The first distance: a share of the loss per slope, which scales with W.
        far = 1e-3 * (objective.scale(DUALITY_GAP) / max(float(np.linalg.norm(point.gradient)), 1e-300))
        far += 1e-3 * float(np.linalg.norm(start))
        total, slopes, gradient = 0.0, np.zeros_like(point.slopes), np.zeros_like(point.gradient)
        for t in range(1, 2**62):
            squares += dot(point.gradient, point.gradient)
            if c is not None:
                now, then = c / math.sqrt(t), c / math.sqrt(t + 1)
            else:
                now = then = far / max(math.sqrt(squares), 1e-300)
            total += now
            slopes += now / total * (point.slopes - slopes)
            gradient += now / total * (point.gradient - gradient)
            yield replace(point, slopes=slopes, gradient=gradient)
            W = objective.prox(W - now * point.gradient, then)
            far = max(far, float(np.linalg.norm(W - start)))
            point = objective.at(W)

    def _first_step(self, objective: Objective, point: Point) -> float | None:
        if self.step == "auto":
            return None
        if self.step != "theory":
            return float(self.step)
        radius = objective.penalty.radius
        f0 = objective.scale(DUALITY_GAP)
        diameter = float(radius) if radius is not None else f0 / objective.alpha
        return diameter / (math.sqrt(7) * max(float(np.linalg.norm(point.gradient)), 1e-300))


def _steady(objective: Objective, W: Array) -> Iterator[Array | Point]:
    """Take steps of 1/L, with L doubled whenever f rises above its quadratic bound."""

    def look(V: Array) -> tuple[float, Point]:
        there = objective.at(V)
        return there.loss, there

    point = objective.at(W)
    lipschitz = objective.first_lipschitz(point)
    while True:
        point, lipschitz = proximal_step(objective, point, lipschitz, look)
        yield point
