"""The search for a step: "auto" tries several on the first rows, "theory" computes the papers' choice from them.

Both look at a prefix of the data of fixed length, so that the result does not depend on how the data is cut into calls:
after n rows the step is that of the first 2^m ≤ min(n, PREFIX) rows, and the learner is the one that learned all n rows
with that step. While the prefix grows its rows are kept and replayed whenever the choice is made again.

The candidates of "auto" are multiples of a natural scale, so that they follow the units of the features and of the
targets: with h the curvature of the loss, S the root mean square of its slope at zero and X² the mean ‖x‖²,

    1 / (h X²) for FOBOS and its kin,   h X² for γ of RDA,   S / h for AdaGrad, which follows the features by itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gossamer import _core, methods
from gossamer.estimators import parallel
from gossamer.online import lanes
from gossamer.schedules import steps
from gossamer.sources.rows import Rows
from gossamer.validation import Array

PREFIX = 2048
FIRST = 16


def deciding_rows(n: int) -> int:
    """Return how many of the first rows decide after n rows: a power of two, or 0 before there are enough."""
    return min(PREFIX, 1 << (n.bit_length() - 1)) if n >= FIRST else 0


def needs_prefix(method: Any) -> bool:
    """Return whether the step is to be found from the data."""
    return isinstance(method.step, str)


def check(method: Any, penalty: Any, setup: methods.Setup) -> None:
    """Raise if the step is to come from a theory that does not cover the problem."""
    if isinstance(method.step, str) and method.step == "theory":
        _diameter(penalty, setup, 1.0)


def default_step(method: Any) -> float:
    """Return the step before there are rows enough to choose."""
    return float(method.first_step)


def choose(method: Any, penalty: Any, setup: methods.Setup, loss: Any, loss_call: Any, rows: Rows) -> float:
    """Return the step (or γ) for these rows."""
    return float(choose_each(method, penalty, setup, np.array([setup.alpha]), loss, loss_call, rows)[0])


def choose_each(
    method: Any,
    penalty: Any,
    setup: methods.Setup,
    alphas: Array,
    loss: Any,
    loss_call: Any,
    rows: Rows,
    threads: int = 1,
) -> Array:
    """Return the step (or γ) for these rows and each strength."""
    rows = rows.compact()
    if method.step == "theory":
        return np.array([_theory(method, penalty, replace(setup, alpha=float(a)), loss, rows) for a in alphas])
    small, penalty, setup = compressed(penalty, replace(setup, average=False), rows)
    candidates = np.asarray(_candidates(method, loss, rows, setup.outputs), np.float64)
    if not method.handles_path(penalty):
        setups = [replace(setup, alpha=float(a)) for a in alphas]
        return np.array([_one_by_one(method, penalty, s, loss_call, small, candidates) for s in setups])
    return _side_by_side(method, penalty, setup, alphas, loss_call, small, candidates, threads)


def _one_by_one(
    method: Any, penalty: Any, setup: methods.Setup, loss_call: Any, rows: Rows, candidates: Array
) -> float:
    """Return the best of some steps: the better half after the first quarter of the rows, the best on the rest."""
    tried = [(float(step), method.make(penalty, setup)) for step in candidates]
    begin = 0
    for end in (len(rows) // 4, len(rows)):
        piece = rows[begin:end]
        scores = []
        for step, learner in tried:
            before, seen = learner.loss_seen, learner.weight_seen
            piece.teach(learner, steps(method.schedule(step), begin + 1, len(piece)), loss_call)
            loss = (learner.loss_seen - before) / (learner.weight_seen - seen)
            scores.append(loss if np.isfinite(loss) else np.inf)
        best = np.argsort(scores, kind="stable")[: len(tried) // 2]
        tried, begin = [tried[i] for i in best], end
    return tried[0][0]


def _side_by_side(
    method: Any,
    penalty: Any,
    setup: methods.Setup,
    alphas: Array,
    loss_call: Any,
    rows: Rows,
    candidates: Array,
    threads: int = 1,
) -> Array:
    """Return the same for each strength, trying the steps of one or several of them in one pass."""
    quarter = len(rows) // 4
    problems = {quarter: compressed(penalty, setup, rows[:quarter]), len(rows): (rows, penalty, setup)}

    def ranked(some: Array, tried: Array, begin: int, end: int) -> Array:
        """Return the steps tried for each of some strengths, by their loss on rows begin … end − 1."""
        most = max(1, _core.LANES_IN_REGISTERS // tried.shape[1])
        if len(some) > most:
            cuts = range(0, len(some), most)
            return np.concatenate([ranked(some[i : i + most], tried[i : i + most], begin, end) for i in cuts])
        small, own_penalty, own_setup = problems[end]
        settings = lanes.Lanes(np.repeat(some, tried.shape[1]), tried.ravel())
        learner = lanes.make(method, own_penalty, own_setup, settings)
        for first, last in ((0, begin), (begin, end)):
            learner.scoring = last == end
            piece = small[first:last]
            piece.teach(learner, steps(method.schedule(1.0), first + 1, len(piece)), loss_call)
        loss = learner.losses.reshape(tried.shape)
        order = np.argsort(np.where(np.isfinite(loss), loss, np.inf), axis=1, kind="stable")
        return np.take_along_axis(tried, order, axis=1)

    def best(some: Array) -> Array:
        tried = ranked(some, np.tile(candidates, (len(some), 1)), 0, quarter)[:, : len(candidates) // 2]
        return ranked(some, tried, quarter, len(rows))[:, 0]

    groups = [alphas[i : i + 2] for i in range(0, len(alphas), 2)]  # the better halves of two are as many as all of one
    return np.concatenate(list(parallel.each(best, groups, threads)))


def compressed(penalty: Any, setup: methods.Setup, rows: Rows) -> tuple[Rows, Any, methods.Setup]:
    """Return the same problem over the features that occur, where the penalty allows it."""
    if not penalty.sums_over_features:
        return rows, penalty, setup
    small, used = rows.renumbered()
    return small, penalty.restricted(used), replace(setup, features=max(len(used), 1))


def slopes_at_zero(loss: Any, rows: Rows, outputs: int) -> Array:
    """Return the slopes of the loss at the score 0, n × outputs."""
    z = np.zeros((len(rows), outputs))
    if loss.kind == "multiclass":
        return loss.slope(z, rows.y[:, 0]) if outputs > 1 else z  # a single class so far has nothing to tell
    return loss.slope(z, rows.y)


def _curvature(loss: Any, rows: Rows, outputs: int) -> float:
    """Return the mean second derivative at zero, by a difference over a small part of the targets' scale."""
    scale = 1e-3 * (np.abs(rows.y).mean() if loss.kind == "regression" else 1.0) or 1e-3
    if loss.kind == "multiclass":
        return 0.5
    z = np.full((len(rows), outputs), scale)
    h = float(np.mean(loss.slope(z, rows.y) - loss.slope(-z, rows.y)) / (2 * scale))
    return h if h > 1e-6 else 1.0


def _candidates(method: Any, loss: Any, rows: Rows, outputs: int) -> Array:
    h = _curvature(loss, rows, outputs)
    slope = float(np.sqrt(np.mean(np.square(slopes_at_zero(loss, rows, outputs))))) or 1.0
    return method.candidates(h, slope, rows)


def _theory(method: Any, penalty: Any, setup: methods.Setup, loss: Any, rows: Rows) -> float:
    """Return the papers' step from a bound D on ‖w*‖ and a bound G on the gradients."""
    z = np.zeros((len(rows), setup.outputs))
    y = rows.y[:, 0] if loss.kind == "multiclass" else rows.y
    values = loss.value(z, y)
    start = float(np.mean(values if values.ndim == 1 else values.sum(axis=1)))
    lipschitz = loss.lipschitz or float(np.abs(slopes_at_zero(loss, rows, setup.outputs)).max())
    g = lipschitz * float(np.sqrt(rows.squared_norms().max())) or 1.0
    d = _diameter(penalty, setup, start) or 1.0
    return float(method.theory(d, g))


def _diameter(penalty: Any, setup: methods.Setup, start: float) -> float:
    """Return a bound on ‖w*‖₂: a ball's radius, or what αΩ(w*) ≤ F(0) gives."""
    reach = penalty.reach(setup.alpha, start)
    if reach is None:
        raise ValueError(
            f"step='theory' needs a bound on the weights: alpha > 0 with a norm, or a ball. "
            f"{penalty.label} with alpha={setup.alpha:g} gives none; use step='auto' or a number."
        )
    return float(reach)
