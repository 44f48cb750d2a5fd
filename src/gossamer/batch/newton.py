"""Proximal Newton over partitions: minimise f(W, b) + αΩ(W), sending curvature, not iterations.

    once  up: bounds on the gradient of every column, so that columns that cannot matter leave
    E     down: W, and the step to it     up: losses at eight step lengths, gradient, conjugates → the duality gap
    H     down: W, the working set A      up: X_Aᵀ D X_A in float32, or X_A and D if that is the smaller message
    here: minimise the quadratic model over A by coordinate descent; next E. A full step needs no further round.
    H is left out while gradients correct the curvature well enough, and cheaply (secant.py).

Gradient, objective and gap are float64; curvature only chooses the step. The intercept is a variable of the model.
The conjugate of the loss at a shrunk dual point is bounded by a chord between two of the shrinkages that were sent up:
it is convex, so the gap stays a bound.

Yuan, Ho, Lin: An improved GLMNET for ℓ1-regularized logistic regression, JMLR 2012.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from gossamer import _core
from gossamer.batch.certificates import DUALITY_GAP, Certificate
from gossamer.batch.driver import Solution
from gossamer.batch.objective import design
from gossamer.batch.partitions import (
    LENGTHS,
    SHRINKAGES,
    Evaluation,
    Rows,
    added,
    bounds,
    constant,
    curvature,
    evaluate,
)
from gossamer.batch.runs import Runner
from gossamer.batch.secant import ROUND, Curvature
from gossamer.losses import Squared
from gossamer.validation import Array

CORE = 4096  # variables whose curvature is sent in full; of others only the diagonal


def kept_columns(runner: Runner, loss: Any, penalty: Any, alpha: float, outputs: int) -> Array | None:
    """Return the columns whose weights may differ from zero; None: all."""
    barred = penalty.barred()
    limit = penalty.limits(alpha) if alpha > 0 and loss.lipschitz is not None else None
    if limit is None:
        return None if barred is None else np.flatnonzero(~barred)
    one_sided = outputs == 1 and loss.kind == "binary"
    above, below = added(runner.run(bounds, one_sided))
    most = np.maximum(above, below) if one_sided else above + below
    keep = most * loss.longest_slope(penalty.slope_order, outputs) > limit * (1 - 1e-9)
    if barred is not None:
        keep &= ~barred
    return None if keep.all() else np.flatnonzero(keep)


def best_constant(runner: Runner, loss: Any, outputs: int) -> tuple[Array, float, Array]:
    """Return the best constant model b, its loss, and Σ |slopes| there: Newton steps on b, halved where they fail."""
    b = np.zeros(outputs)
    value, slope, size, curve = added(runner.run(constant, b))
    for _ in range(50):
        if np.all(np.abs(slope) <= 1e-9 * size):
            break
        step, t = -slope / np.maximum(curve, 1e-12 * (1 + size)), 1.0
        step = np.clip(step, -5 - np.abs(b), 5 + np.abs(b)) if loss.kind != "regression" else step
        while True:
            there = added(runner.run(constant, b + t * step))
            if there[0][0] <= value[0] + 1e-12 * abs(value[0]) or t < 1e-6:
                break
            t /= 2
        if t < 1e-6:
            break
        b, (value, slope, size, curve) = b + t * step, there
    return b, float(value[0]), size


def best_constant_of_classes(coded: Any, shares: Array) -> tuple[Array, float, Array]:
    """Return the same for labels without offsets, from the shares of the classes: no round is needed."""
    y = coded.encode(coded.classes)
    mean, b, S = (
        coded.loss.mean(coded.outputs, y, shares, 1),
        np.zeros(coded.outputs),
        np.empty((len(y), coded.outputs)),
    )
    loss = mean.best_slopes(np.zeros_like(S), b, S)
    return b, float(loss), np.abs(S).sum(axis=0)


class Problem:
    """F over partitions, with the columns that stay."""

    def __init__(
        self,
        runner: Runner,
        loss: Any,
        penalty: Any,
        alpha: float,
        features: int,
        outputs: int,
        intercept: bool,
        constant_model: tuple[Array, float, Array] | None = None,
    ) -> None:
        self.runner, self.loss, self.penalty, self.alpha = runner, loss, penalty, alpha
        self.features, self.outputs, self.fit_intercept = features, outputs, intercept
        self.b0 = np.zeros(outputs)
        if intercept:
            self.b0, at_zero, size = constant_model or best_constant(runner, loss, outputs)
        else:
            at_zero, _, size, _ = added(runner.run(constant, self.b0))
            at_zero = at_zero[0]
        self.at_zero, self.pull = float(at_zero), float(size.sum())
        self.known: Curvature | None = None
        self.unit = self.length = 0.0  # of gaps and of intercepts; known after the first evaluation

    def as_given(self, W: Array) -> Array:
        """Return W as the penalty reads it: a vector for one output."""
        return W[:, 0] if self.outputs == 1 else W

    def omega(self, W: Array) -> float:
        """Return αΩ(W)."""
        value = self.penalty.value(self.as_given(W))
        return float(self.alpha * value) if self.alpha > 0 or math.isinf(value) else 0.0

    def prox(self, V: Array, step: float) -> Array:
        """Return the prox of step · αΩ."""
        return self.penalty.prox(self.as_given(V), step * self.alpha).reshape(V.shape)

    def evaluated(self, W: Array, b: Array, old: Array, b_old: Array, many: bool) -> Evaluation:
        """Return sums at W, and at points between the old one and W."""
        rows = np.flatnonzero(W.any(axis=1) | old.any(axis=1)).astype(np.int32)
        before = self.runner.bytes_up
        there = added(self.runner.run(evaluate, rows, W[rows], old[rows], b, b_old, many))
        if self.known is not None:
            self.known.spent += ROUND + self.runner.bytes_up - before
        if self.unit == 0:
            least = -float(there.conjugates[0]) if len(there.conjugates) else -math.inf
            loss = self.at_zero - least if math.isfinite(least) else abs(self.at_zero)
            self.unit, self.length = max(loss, 1e-300), loss / self.pull if self.pull > 0 else 0.0
        return there

    def bound(self, there: Evaluation, b: Array) -> float:
        """Return a lower bound on the minimum of F (batch/certificates.py)."""
        off = float(np.abs(there.slopes) @ (self.length + np.abs(b))) if self.fit_intercept else 0.0
        best = -math.inf
        for s, conjugate in self.penalty.shrinkages(self.alpha, self.as_given(there.gradient)):
            best = max(best, -float(np.interp(s, SHRINKAGES, there.conjugates)) - conjugate - off)
        return best

    def ask(self, W: Array, b: Array, some: Array) -> None:
        """Get the curvature over some features."""
        k, m, before = self.outputs, len(some), self.runner.bytes_up
        core = m if m * k <= CORE else CORE // k
        rows = np.flatnonzero(W.any(axis=1)).astype(np.int32)
        found = self.runner.run(curvature, rows, W[rows], b, some.astype(np.int32), core, self.runner.sends)
        joint = self.loss.kind == "multiclass"
        packed = added([one.packed(joint, core + 1) if isinstance(one, Rows) else one for one, _ in found])
        diagonal = added([one for _, one in found])
        self.known = Curvature(some, _unpacked(packed, diagonal, m, core, k), self.runner.bytes_up - before, k)

    def ready(self, W: Array, b: Array, some: Array, pulls: Array) -> Array:
        """Return the features of `some` whose curvature is known, after asking for it if that pays."""
        known = self.known
        if known is not None and self.runner.sends and not known.pays(some):
            there = known.has(some)
            if (pulls[some[~there]] ** 2).sum() <= (pulls[some[there]] ** 2).sum():
                return some[there]
        self.ask(W, b, some)
        return some

    def model(self, W: Array, b: Array, there: Evaluation, some: Array) -> tuple[Array, Array]:
        """Return the step that minimises the quadratic model over some features and the intercept."""
        k, m = self.outputs, len(some)
        assert self.known is not None
        Q = self.known.over(some)
        g, g_b = there.gradient[some].reshape(-1), there.slopes
        C, B = Q[: m * k, m * k :], Q[m * k :, m * k :]
        if self.fit_intercept:
            B = cho_factor(B + np.eye(k) * 1e-8 * max(np.trace(B), 1e-300))
            Q, g = Q[: m * k, : m * k] - C @ cho_solve(B, C.T), g - C @ cho_solve(B, g_b)
        else:
            Q = Q[: m * k, : m * k]
        Q = Q + np.eye(m * k) * (1e-7 * max(np.trace(Q) / max(m * k, 1), 1e-300))
        try:
            R = cholesky(Q)
        except np.linalg.LinAlgError:
            value, vectors = np.linalg.eigh(Q)
            R = np.linalg.qr(np.sqrt(np.maximum(value, 1e-6 * value[-1]))[:, None] * vectors.T)[1]
        w = W[some].reshape(-1)
        target = R @ w - solve_triangular(R, g, trans=1)
        moved = _minimised(R, target, self.penalty.restricted(some), self.alpha, w, m, k) - w
        db = -cho_solve(B, g_b + C.T @ moved) if self.fit_intercept else np.zeros(k)
        return moved.reshape(m, k), db

    def working_set(self, W: Array, pulls: Array, most: int) -> Array:
        """Return the features with weights and those whose weights would leave zero, the most needed ones first."""
        used = np.asarray(W.any(axis=1))
        groups = self.penalty.groups
        if groups is not None:
            number = np.asarray(groups.of(np.arange(len(W))))
            ours = np.zeros(number.max() + 1, bool)
            ours[number[used | (pulls > 0)]] = True
            return np.flatnonzero(ours[number])
        order = np.argsort(-pulls, kind="stable")
        new = order[: int(np.count_nonzero(pulls[order] > 0))]
        new = new[~used[new]][: max(most, 2 * int(used.sum()))]
        return np.sort(np.concatenate([np.flatnonzero(used), new]))


def _unpacked(packed: Array, diagonal: Array, m: int, core: int, k: int) -> Array:
    """Return the curvature as a matrix over m features × k outputs, then k intercepts."""
    size = (core + 1) * k
    Q = np.zeros(((m + 1) * k, (m + 1) * k))
    at = np.concatenate([np.arange(core * k), m * k + np.arange(k)])
    if len(packed) == 1 and packed.shape[1] == size * (size + 1) // 2:
        full = np.zeros((size, size))
        full[np.triu_indices(size)] = packed[0]
    else:
        full = np.zeros((size, size))
        for r in range(k):
            own = np.zeros((core + 1, core + 1))
            own[np.triu_indices(core + 1)] = packed[r]
            full[r::k, r::k] = own
    Q[np.ix_(at, at)] = full + np.triu(full, 1).T
    rest = np.arange(core * k, m * k)
    Q[rest, rest] = np.maximum(diagonal.reshape(-1), 1e-12)
    return Q


def _minimised(R: Array, target: Array, penalty: Any, alpha: float, w: Array, m: int, k: int) -> Array:
    """Return argmin ½‖Rw − target‖² + αΩ(w): the model is squared loss, which the coordinate solver handles."""
    table, y, ones = design(np.asfortranarray(R), 1), np.ascontiguousarray(target[:, None]), np.ones(len(target))
    mean = Squared().mean(1, y, ones, 1)
    single: tuple[Any, Any] | None = penalty.single_form(m) if k == 1 else None
    if single is not None:
        solver = _core.coordinate_solver(table, mean, *single, False)
    else:
        core, weights, members, starts = penalty.block_form(m)
        if members is None:
            members, starts = np.arange(m), np.arange(m + 1)
        members = np.ascontiguousarray((np.asarray(members)[:, None] * k + np.arange(k)).reshape(-1), np.int64)
        starts = np.ascontiguousarray(np.asarray(starts) * k, np.int64)
        solver = _core.block_solver(table, mean, core, weights, members, starts, False)
    now = solver.start(np.ascontiguousarray(w[:, None]), np.zeros(1), alpha)
    first = now.violation
    for _ in range(60):
        if now.violation <= 1e-6 * first:
            break
        now = solver.round(alpha, 0.1, 500)
    return np.array(solver.weights).reshape(-1)


def minimise(
    problem: Problem, *, tol: float, max_iter: int, start: tuple[Array, Array] | None = None, report: Any = None
) -> Solution:
    """Minimise F until the gap is at most `tol` of that of the empty model, or until Ctrl-C.

    Whatever error ends it has the best certified solution as `solution`, if there is one.
    """
    W = np.zeros((problem.features, problem.outputs)) if start is None else start[0]
    b = problem.b0 if start is None else start[1]
    best: Solution | None = None
    try:
        there = problem.evaluated(W, b, W, b, False)
        value, bound = float(there.losses[0]) + problem.omega(W), -math.inf
        for iteration in range(max_iter + 1):
            bound = max(bound, problem.bound(there, b))
            gap = max(value - bound, 0.0)
            done = gap <= tol * problem.unit
            best = Solution(W, b, Certificate(value, gap, DUALITY_GAP), iteration, 0, done)
            if (report is not None and report(best)) or done or iteration == max_iter:
                break
            pulls = np.abs(problem.prox(W - there.gradient, 1.0) - W).max(axis=1)
            some = problem.ready(W, b, problem.working_set(W, pulls, 256), pulls)
            moved, db = problem.model(W, b, there, some)
            assert problem.known is not None
            V = W.copy()
            V[some] += moved
            following = problem.evaluated(V, b + db, W, b, True)
            tried = [
                float(loss) + problem.omega(W + t * (V - W)) for t, loss in zip(LENGTHS, following.losses, strict=True)
            ]
            t = int(np.nanargmin(tried)) if tried[0] > value - 1e-4 * abs(value - min(tried)) else 0
            if not tried[t] < value + 1e-15 * abs(value):
                if problem.known.fresh:
                    break
                problem.known = None  # the next step has new curvature
                continue
            V, c = (V, b + db) if t == 0 else (W + LENGTHS[t] * (V - W), b + LENGTHS[t] * db)
            before, there = there, following if t == 0 else problem.evaluated(V, c, V, c, False)
            problem.known.correct(V - W, c - b, there.gradient - before.gradient, there.slopes - before.slopes)
            W, b, value = V, c, tried[t]
    except KeyboardInterrupt:
        if best is None:
            raise
        return replace(best, converged=True, interrupted=True)
    except Exception as error:
        error.solution = best  # type: ignore[attr-defined]
        raise
    assert best is not None
    return best
