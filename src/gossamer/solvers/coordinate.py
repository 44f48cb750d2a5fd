"""Block coordinate descent with working sets: minimise f(W) + α Σ_b Ω_b(W_b) over blocks b of features.

Blocks are single weights (ℓ1, elastic net, …), rows of W (one feature over all outputs), or the user's groups. Every
iteration is one proximal Newton step on a working set: the loss is replaced by its quadratic model, which is minimised
block by block; see core/coordinate.hpp. For squared loss the model is exact.

Friedman, Hastie, Tibshirani: Regularization paths for generalized linear models via coordinate descent, JSS 2010; Yuan,
Ho, Lin: An improved GLMNET for ℓ1-regularized logistic regression, JMLR 2012.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gossamer import _core, penalties
from gossamer.arrays import Array
from gossamer.objective import Objective, Point
from gossamer.solvers.base import Solver

_SINGLE = (penalties.L1, penalties.L2Squared, penalties.Berhu, penalties.ElasticNet, penalties.NonNegativeL1)
_BLOCKS = (penalties.GroupL2, penalties.GroupLInf, penalties.SparseGroupL2)


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

    def check(self, objective: Objective) -> None:
        """Refuse losses without curvature and penalties that couple features."""
        self.needs_a_slope(objective)
        if not objective.mean.has_curvature:
            name = type(objective.loss).__name__
            raise self.refuse(name, "it needs the second derivative.", "Use solver='fista' or 'sparsa'.")
        if not goes_with(objective):
            name = type(objective.penalty).__name__
            raise self.refuse(name, "the penalty couples all features.", "Use solver='auto', 'fista' or 'sparsa'.")

    def iterates(self, objective: Objective, W: Array) -> Iterator[Array | Point]:
        """Yield a point after every Newton step."""
        solver = make(objective)
        alpha, k = objective.alpha, objective.outputs
        now = solver.start(np.ascontiguousarray(W), objective._b, alpha)
        share, before = 0.3, now.violation
        while True:
            now = solver.round(alpha, share, 200)
            share = _next_share(now.step, now.violation, before)
            before = now.violation
            W, S, G = (a.reshape(-1, k) for a in (solver.weights, solver.slopes, solver.gradient))
            yield Point(W.copy(), solver.intercept.copy(), now.loss, S, G)


def _next_share(step: float, violation: float, before: float) -> float:
    """Return how well to solve the next model: roughly after a step that had to be shortened, better and better else."""
    if step < 1:
        return 0.3
    return min(0.1, max(0.01, violation / before if before > 0 else 0.1))


def make(objective: Objective) -> Any:
    """Return the compiled solver of a problem."""
    penalty = objective.penalty
    if objective.outputs == 1 and _single(objective):
        core = penalty._core() if not isinstance(penalty, (penalties.Box, *_BLOCKS, penalties.NoPenalty)) else (
            _core.Box(float(penalty.low), float(penalty.high)) if isinstance(penalty, penalties.Box) else _core.L1()
        )
        weights = getattr(penalty, "weights", None)
        if isinstance(penalty, penalties.NoPenalty):
            weights = np.zeros(objective.features)
        return _core.coordinate_solver(objective.design, objective.mean, core, weights, objective.fit_intercept)
    raise NotImplementedError


def _single(objective: Objective) -> bool:
    penalty = objective.penalty
    if isinstance(penalty, penalties.Box):
        return np.ndim(penalty.low) == np.ndim(penalty.high) == 0
    if isinstance(penalty, _BLOCKS):  # groups of one number each are the ℓ1 norm
        return penalty.parsed_groups is None and objective.outputs == 1
    return isinstance(penalty, (*_SINGLE, penalties.NoPenalty))


def goes_with(objective: Objective) -> bool:
    """Return whether there is a compiled solver for the penalty and the loss."""
    return objective.outputs == 1 and _single(objective)
