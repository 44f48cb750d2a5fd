"""Smoothing with multipliers: minimise f(XW) + αΩ(W), f a sum of losses with kinks.

    W_t = argmin over W of  Σ_i p_i ℓ_μ(W'x_i + b + μ u_i, y_i) + αΩ(W),     ℓ_μ(z) = min over x of ℓ(x) + (x − z)²/2μ
    u_i ← slope of ℓ_μ there,     μ smaller if it was solved

With u = 0 this is smoothing, whose error is in the order of μ. The multipliers u take that error away: it is the
proximal point method on the dual problem (the augmented Lagrangian method), which converges for every μ, the faster the
smaller μ. Every u is a dual point of the problem with kinks, so the duality gap is known at every step. The smooth
problems are solved by coordinate descent where it goes with the penalty, by FISTA otherwise, each from the last W and
only as far as the gap needs.

Rockafellar: Augmented Lagrangians and applications of the proximal point algorithm in convex programming, 1976; Li,
Sun, Toh: A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso problems, SIAM
J. Optim. 2018.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gossamer.batch.objective import Objective, Point
from gossamer.batch.solvers import coordinate
from gossamer.batch.solvers.base import SOLVERS, Solver
from gossamer.batch.solvers.coordinate import CoordinateDescent
from gossamer.batch.solvers.fista import FISTA
from gossamer.validation import Array, number

LEAST = 1e-9  # width of a kink beside the scale of the margins, below which rounding decides
PATIENCE = 100  # looks at a smooth problem before the multipliers move on


@SOLVERS.part("smoothing")
@dataclass(frozen=True)
class Smoothing(Solver):
    """Smoothing with multipliers, for losses with kinks (hinge, ε-insensitive, quantile) and every penalty.

    Parameters
    ----------
    shrink : float
        By which the width of the rounded kinks is multiplied after every smooth problem, 0 < shrink < 1.

    References
    ----------
    Rockafellar: Augmented Lagrangians and applications of the proximal point algorithm in convex programming, 1976.

    Examples
    --------
    >>> import gossamer as gs
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 2.0, 3.0, 40.0]
    >>> model = gs.BatchRegressor(loss="quantile", alpha=1e-3, solver=gs.Smoothing(), tol=1e-6).fit(X, y)
    >>> model.coef_.round(3), model.dual_gap_ < 1e-4
    (array([1.]), True)
    """

    shrink: float = 0.2

    def __post_init__(self) -> None:
        if not 0 < number(self.shrink, "shrink") < 1:
            raise ValueError(f"shrink must be above 0 and below 1; {self.shrink} was given.")

    def check(self, objective: Objective) -> None:
        """Refuse losses whose kinks are not known."""
        if not objective.loss.smooth_kin:
            name = objective.loss.label
            raise self.refuse(name, "it is for losses with known kinks.", "Use solver='auto'.")

    def iterates(self, objective: Objective, W: Array) -> Iterator[Array | Point]:
        """Yield points, with the multipliers as slopes: at the end of every smooth problem, and where the gap falls."""
        length = objective._scales().length or 1.0
        U, width = objective.memory.get("multipliers", (None, length))
        U = np.zeros((objective.design.rows, objective.outputs)) if U is None else U
        p, gap = objective.p[:, None], np.inf
        while True:
            smooth = objective.smoothed(width, width * U)
            assert smooth is not None
            solver = CoordinateDescent() if coordinate.goes_with(objective) and smooth.smooth else FISTA()
            for step, found in enumerate(solver.iterates(smooth, W)):
                if step % solver.look_every:
                    continue
                inner = found if isinstance(found, Point) else smooth.at(found)
                point = _seen(objective, inner)
                before, gap = gap, min(gap, objective.certify(point).gap)
                W, solved = inner.W, smooth.certify(inner).gap <= 0.1 * gap
                last = solved or step >= PATIENCE * solver.look_every
                if gap < before or last:
                    yield point
                if last:
                    break
            objective._b, U = inner.b.copy(), inner.slopes / p
            objective.memory["multipliers"] = (U, max(width, 0.03 * length))
            if solved:
                width = max(width * self.shrink, LEAST * length)


def _seen(objective: Objective, inner: Point) -> Point:
    """Return the point as the problem with kinks sees it."""
    loss = objective.mean.value(objective.margins(inner.W), inner.b)
    return Point(inner.W, inner.b, float(loss), inner.slopes.copy(), inner.gradient.copy())
