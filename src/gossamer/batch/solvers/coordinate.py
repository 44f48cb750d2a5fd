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
from gossamer.batch.objective import Objective, Point
from gossamer.batch.solvers.base import Solver
from gossamer.validation import Array

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
        solver = objective.memory.get("coordinate") or objective.memory.setdefault("coordinate", make(objective))
        alpha, k = objective.alpha, objective.outputs
        now = solver.start(np.ascontiguousarray(W), objective._b, alpha)
        share, before = 0.3, now.violation
        while True:
            now = solver.round(alpha, share, 200)
            share = _next_share(now, before)
            before = now.violation
            W, S, G = (a.reshape(-1, k) for a in (solver.weights, solver.slopes, solver.gradient))
            if visits := now.epochs * now.working:  # each is two products with a column; then margins and a gradient
                objective.operations += 4 * k * round(visits * objective.column_length + objective.nonzeros)
            yield Point(W.copy(), solver.intercept.copy(), now.loss, S, G)


def _next_share(now: Any, before: float) -> float:
    """Return how well to solve the next model: roughly while the working set grows or steps are shortened."""
    if now.growing:
        return 0.8
    if now.step < 1:
        return 0.5
    return min(0.3, max(0.02, now.violation / before if before > 0 else 0.3))


def make(objective: Objective) -> Any:
    """Return the compiled solver of a problem."""
    penalty, data = objective.penalty, (objective.design, objective.mean)
    weights = getattr(penalty, "weights", None)
    if objective.outputs == 1 and _single(objective):
        return _core.coordinate_solver(*data, *_compiled(penalty, objective.features), objective.fit_intercept)
    groups = getattr(penalty, "parsed_groups", None)
    members, starts = (None, None) if groups is None else (groups.members, groups.starts)
    core, weights = (
        (penalty._core(), weights) if isinstance(penalty, _BLOCKS) else _compiled(penalty, objective.features)
    )
    return _core.block_solver(*data, core, weights, members, starts, objective.fit_intercept)


def _compiled(penalty: Any, features: int) -> tuple[Any, Any]:
    """Return the compiled penalty on single numbers, and its weights."""
    match penalty:
        case penalties.NoPenalty():
            return _core.L1(), np.zeros(features)
        case penalties.Box():
            return _core.Box(float(penalty.low), float(penalty.high)), None
        case penalties.SparseGroupL2():  # on groups of one number: ρ|w| + (1 − ρ) ω |w|
            weights = np.ones(features) if penalty.weights is None else penalty.weights
            return _core.L1(), penalty.l1_ratio + (1 - penalty.l1_ratio) * weights
        case penalties.GroupL2() | penalties.GroupLInf():
            return _core.L1(), penalty.weights
    return penalty._core(), penalty.weights


def _single(objective: Objective) -> bool:
    """Return whether the penalty is a sum over single weights, for one output."""
    penalty = objective.penalty
    if isinstance(penalty, penalties.Box):
        return np.ndim(penalty.low) == np.ndim(penalty.high) == 0
    if isinstance(penalty, _BLOCKS):  # groups of one number each are the ℓ1 norm
        return penalty.parsed_groups is None
    return isinstance(penalty, (*_SINGLE, penalties.NoPenalty))


def goes_with(objective: Objective) -> bool:
    """Return whether there is a compiled solver for the penalty."""
    if objective.outputs == 1 and _single(objective):
        return True
    return isinstance(objective.penalty, (*_SINGLE, *_BLOCKS, penalties.NoPenalty))
