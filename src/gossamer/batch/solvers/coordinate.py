"""Block coordinate descent with working sets: minimise f(W) + α Σ_b Ω_b(W_b) over blocks b of features.

Blocks are single weights (ℓ1, elastic net, …), rows of W (one feature over all outputs), or the user's groups. Every
iteration is one proximal Newton step on a working set: the loss is replaced by its quadratic model, which is minimised
block by block; see core/batch/coordinate.hpp. For squared loss the model is exact.

Friedman, Hastie, Tibshirani: Regularization paths for generalized linear models via coordinate descent, JSS 2010; Yuan,
Ho, Lin: An improved GLMNET for ℓ1-regularized logistic regression, JMLR 2012.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gossamer import _core
from gossamer.batch.objective import Objective, Point
from gossamer.batch.solvers.base import SOLVERS, Solver
from gossamer.validation import Array


@SOLVERS.part("coordinate", same=("cd", "cyclic"), near=("liblinear", "lbfgs", "newton-cg", "newton-cholesky", "saga"))
@dataclass(frozen=True)
class CoordinateDescent(Solver):
    """Block coordinate descent with working sets, for losses with curvature and penalties that are sums over features.

    References
    ----------
    Yuan, Ho, Lin: An improved GLMNET for ℓ1-regularized logistic regression, JMLR 2012.

    Examples
    --------
    >>> import gossamer as gs
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, 0.0, 2.0]
    >>> gs.BatchRegressor(alpha=0.1, solver=gs.CoordinateDescent(), tol=1e-8).fit(X, y).coef_.round(3)
    array([1.55, 0.  ])
    """

    narrows: ClassVar[bool] = True

    def check(self, objective: Objective) -> None:
        """Refuse losses without curvature and penalties that couple features."""
        self.needs_a_slope(objective)
        if not objective.mean.has_curvature:
            name = objective.loss.label
            raise self.refuse(name, "it needs the second derivative.", "Use solver='fista' or 'sparsa'.")
        if not goes_with(objective):
            name = objective.penalty.label
            raise self.refuse(name, "the penalty couples all features.", "Use solver='auto', 'fista' or 'sparsa'.")

    def begin(self, objective: Objective, start: Point) -> Point:
        """Return the point with a gradient that is exact where it matters at this strength."""
        solver = _solver(objective)
        now = solver.start(np.ascontiguousarray(start.W), objective._b, objective.alpha)
        objective.memory["begun"] = start.W, objective.alpha, now
        return replace(
            start, loss=now.loss, slopes=_rows(objective, solver.slopes), gradient=_rows(objective, solver.gradient)
        )

    def iterates(self, objective: Objective, W: Array) -> Iterator[Array | Point]:
        """Yield a point after every Newton step."""
        solver, alpha, k = _solver(objective), objective.alpha, objective.outputs
        begun = objective.memory.pop("begun", None)
        if begun is not None and begun[0] is W and begun[1] == alpha:
            now = begun[2]
        else:
            now = solver.start(np.ascontiguousarray(W), objective._b, alpha)
        products = now.products
        share, before = 0.3, now.violation
        while True:
            now = solver.round(alpha, share, 200)
            share = _next_share(now, before)
            before = now.violation
            W, S, G = (_rows(objective, a) for a in (solver.weights, solver.slopes, solver.gradient))
            columns = 2 * now.epochs * now.working + products + now.products  # visits are two products each
            products = 0
            objective.operations += 2 * k * round(columns * objective.column_length + objective.nonzeros)  # and margins
            yield Point(W.copy(), solver.intercept.copy(), now.loss, S, G)


def _solver(objective: Objective) -> Any:
    return objective.memory.get("coordinate") or objective.memory.setdefault("coordinate", make(objective))


def _rows(objective: Objective, numbers: Array) -> Array:
    return numbers.reshape(-1, objective.outputs)


def _next_share(now: Any, before: float) -> float:
    """Return the accuracy for the next model: low while the working set grows or steps are shortened."""
    if now.growing:
        return 0.8
    if now.step < 1:
        return 0.5
    return min(0.3, max(0.02, now.violation / before if before > 0 else 0.3))


def make(objective: Objective) -> Any:
    """Return the compiled solver of a problem."""
    data, features = (objective.design, objective.mean), objective.features
    single = objective.penalty.single_form(features) if objective.outputs == 1 else None
    if single is not None:
        return _core.coordinate_solver(*data, *single, objective.fit_intercept)
    blocks = objective.penalty.block_form(features)
    assert blocks is not None
    return _core.block_solver(*data, *blocks, objective.fit_intercept)


def goes_with(objective: Objective) -> bool:
    """Return whether there is a compiled solver for the penalty."""
    penalty, features = objective.penalty, objective.features
    if objective.outputs == 1 and penalty.single_form(features) is not None:
        return True
    return penalty.block_form(features) is not None
