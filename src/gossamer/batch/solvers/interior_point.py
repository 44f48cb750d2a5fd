"""Interior point: minimise Σ p_i ℓ(z_i, y_i) + α Σ_j a_j |w_j|, ℓ logistic or squared, by truncated Newton steps.

With bounds u on the weights, −u ≤ w ≤ u, the problem is smooth, and the central path minimises

    t (f(w) + α Σ a_j u_j) − Σ log(u_j + w_j) − Σ log(u_j − w_j)

for growing t. Newton's system in w, after u is eliminated, is (tH + D) dw = r with H = Xᵀ diag(h) X and a diagonal D;
it is solved by preconditioned conjugate gradients to a share of the duality gap. The iterates have no zeros: weights
whose gradient is inside the dual constraint are set to zero in the points that are yielded.

It is the baseline of the papers.

Koh, Kim, Boyd: An interior-point method for large-scale ℓ1-regularized logistic regression, JMLR 2007.
Kim, Koh, Lustig, Boyd, Gorinevsky: An interior-point method for large-scale ℓ1-regularized least squares, 2007.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gossamer.batch.certificates import DUALITY_GAP
from gossamer.batch.objective import Objective, Point
from gossamer.batch.solvers.base import SOLVERS, Solver, dot
from gossamer.losses import LOSSES
from gossamer.validation import Array


@SOLVERS.part("interior_point")
@dataclass(frozen=True)
class InteriorPoint(Solver):
    """Truncated Newton interior point, for ℓ1 with logistic or squared loss and one output.

    References
    ----------
    Koh, Kim, Boyd: An interior-point method for large-scale ℓ1-regularized logistic regression, JMLR 2007.

    Examples
    --------
    >>> import gossamer as gs
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, 0.0, 2.0]
    >>> gs.BatchRegressor(alpha=0.1, solver="interior_point", tol=1e-8).fit(X, y).coef_.round(3)
    array([1.55, 0.  ])
    """

    def check(self, objective: Objective) -> None:
        """Refuse all but ℓ1 with logistic or squared loss, one output, positive strengths."""
        instead = "Use solver='auto'."
        if not objective.loss.for_interior_point:
            known = [name for name, make in LOSSES.items() if make.for_interior_point]
            raise self.refuse(objective.loss.label, f"it is for {' and '.join(known)} loss.", instead)
        if not objective.penalty.is_l1:
            raise self.refuse(objective.penalty.label, "it is for the ℓ1 norm.", instead)
        if objective.outputs != 1:
            raise self.refuse(f"{objective.outputs} outputs", "it is for one.", instead)
        weights = objective.penalty.weights
        if objective.alpha <= 0 or (weights is not None and not np.all(weights > 0)):
            raise self.refuse("features without a penalty", "its barrier needs alpha and weights > 0.", instead)

    def iterates(self, objective: Objective, W: Array) -> Iterator[Array | Point]:
        """Yield the points of the path, small weights set to zero."""
        weights = objective.penalty.weights
        a = objective.alpha * (np.ones(objective.features) if weights is None else weights)
        w = W[:, 0].copy()
        point = objective.at(w[:, None])
        gap = objective.certify(point).gap
        t = min(max(1.0, float(np.max(np.abs(point.gradient[:, 0]) / a, initial=0.0))), 2 * len(w)) / max(gap, 1e-300)
        u = 1.5 * np.abs(w) + 2 / (t * a)  # for w = 0 where the central path is at t
        p = objective.p[:, None]
        h = np.empty_like(p)
        direction = np.zeros_like(w)
        while True:
            objective.mean.curvatures(objective.margins(w[:, None]), point.b, h)
            total = float(h.sum())

            def hessian(v: Array, total: float = total) -> Array:
                z = objective.margins(v[:, None])
                if objective.fit_intercept and total > 0:
                    z -= np.sum(h * z) / total
                return objective.gradient(h * z)[:, 0]

            g = point.gradient[:, 0]
            above, below = 1 / (u + w), 1 / (u - w)
            slope_w, slope_u = t * g - above + below, t * a - above - below
            d1, d2 = above**2 + below**2, above**2 - below**2
            bend = d1 - d2**2 / d1
            right = -slope_w + d2 / d1 * slope_u
            diagonal = t * self._diagonal(objective, h) + bend
            tolerance = min(0.1, 0.3 * gap / objective.scale(DUALITY_GAP))
            direction = _conjugate_gradients(
                lambda v, t=t, bend=bend: t * hessian(v) + bend * v, right, diagonal, direction, tolerance
            )
            step_u = -(slope_u + d2 * direction) / d1
            w, u, point, step = self._search(objective, a, t, w, u, point, direction, step_u, slope_w, slope_u)
            rounded = self._rounded(objective, a, point)
            gap = min(objective.certify(point).gap, objective.certify(rounded).gap)
            if step >= 0.5:
                t = max(2 * min(2 * len(w) / max(gap, 1e-300), t), t)
            yield rounded

    @staticmethod
    def _diagonal(objective: Objective, h: Array) -> Array:
        """Return the diagonal of Xᵀ diag(h) X, Σ_i h_i x_ij²: that of H but for what the intercept takes away."""
        squares = np.empty(objective.features)
        objective.design.weighted_squares(h[:, 0].copy(), squares)
        objective.operations += 2 * objective.nonzeros
        return squares

    @staticmethod
    def _search(
        objective: Objective,
        a: Array,
        t: float,
        w: Array,
        u: Array,
        point: Point,
        dw: Array,
        du: Array,
        slope_w: Array,
        slope_u: Array,
    ) -> tuple[Array, Array, Point, float]:
        """Return the first of the steps 1, ½, … that stays inside and lowers the barrier function enough."""

        def change(to_w: Array, to_u: Array, loss: float) -> float:
            logs = np.log((to_u + to_w) / (u + w)) + np.log((to_u - to_w) / (u - w))
            return t * (loss - point.loss + dot(a, to_u - u)) - float(np.sum(logs))

        promised, step = dot(slope_w, dw) + dot(slope_u, du), 1.0
        while step > 1e-12:
            to_w, to_u = w + step * dw, u + step * du
            if np.all(np.abs(to_w) < to_u):
                there = objective.at(to_w[:, None])
                if change(to_w, to_u, there.loss) <= 0.01 * step * promised:
                    return to_w, to_u, there, step
            step /= 2
        return w, u, point, 0.0

    @staticmethod
    def _rounded(objective: Objective, a: Array, point: Point) -> Point:
        """Return the point with zeros where the gradient is inside the constraint, if that is no worse."""
        W = np.where(np.abs(point.gradient[:, 0]) <= 0.9999 * a, 0.0, point.W[:, 0])[:, None]
        rounded = objective.at(W)
        better = rounded.loss + objective.penalty_at(W) <= point.loss + objective.penalty_at(point.W)
        return rounded if better else replace(point, W=point.W.copy())


def _conjugate_gradients(apply: object, right: Array, diagonal: Array, x: Array, tolerance: float) -> Array:
    """Return an approximate solution of apply(x) = right, from x on."""
    rest = right - apply(x)  # type: ignore[operator]
    if np.linalg.norm(rest) > np.linalg.norm(right):
        x, rest = np.zeros_like(x), right.copy()
    q = rest / diagonal
    size, enough = dot(rest, q), tolerance * float(np.linalg.norm(right))
    for _ in range(1000):
        if math.sqrt(dot(rest, rest)) <= enough or size <= 0:
            break
        turned = apply(q)  # type: ignore[operator]
        far = size / dot(q, turned)
        x, rest = x + far * q, rest - far * turned
        z = rest / diagonal
        before, size = size, dot(rest, z)
        q = z + size / before * q
    return x
