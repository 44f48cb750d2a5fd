"""Steps and strengths from the first rows, for the methods that need them.

Steps: "auto" tries several on the first rows and keeps the one that predicted best, "theory" computes the papers'
choice from them. Strengths: a count stands for a grid that starts at an estimate of the strength at which all weights
are zero. The candidates of "auto" are multiples of a natural scale, so they follow the units of the features and of the
targets. With h the curvature of the loss, S the root mean square of its slope at zero and X² the mean ‖x‖², it is

    1 / (h X²) for FOBOS and similar methods,   h X² for γ of RDA,   S / h for AdaGrad, which adapts to the features.

The rule without a step needs none of this.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gossamer import _core, methods, penalties
from gossamer.methods import Lanes
from gossamer.sources.rows import Rows
from gossamer.validation import Array

PREFIX = 2048  # rows that decide on the setting
FIRST = 16  # rows before which nothing is decided


def strongest(penalty: Any, loss: Any, rows: Rows, setup: methods.Setup) -> float:
    """Return an estimate of the smallest strength at which all weights are zero.

    It is the dual norm of the mean gradient at zero. With an intercept the slopes at zero are centred. For
    squared, logistic and multinomial loss these are the slopes at the best intercept.
    """
    slopes = slopes_at_zero(loss, rows, setup.outputs)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    if setup.fit_intercept:
        slopes = slopes - np.average(slopes, axis=0, weights=weight)
    small, penalty, setup = compressed(penalty, setup, rows)
    lengths = small.ends - small.begins
    gradient = np.empty((setup.features, setup.outputs))
    for r in range(setup.outputs):
        shares = small.value * np.repeat(weight * slopes[:, r], lengths)
        gradient[:, r] = np.bincount(small.index, shares, setup.features) / len(rows)
    for norm in (penalty.with_faint_l1(), penalties.L1()):  # the first is infinite if a weight of the penalty is zero
        top = float(norm.dual_norm(-gradient))
        if np.isfinite(top) and top > 0:
            return top
    return 1.0


# Steps


def deciding_rows(n: int) -> int:
    """Return how many of the first rows decide after n rows: a power of two, or 0 if there are too few."""
    return min(PREFIX, 1 << (n.bit_length() - 1)) if n >= FIRST else 0


def check_theory(method: Any, penalty: Any, setup: methods.Setup) -> None:
    """Raise if the step is "theory", and that does not cover the problem."""
    if method.step == "theory":
        _diameter(penalty, setup, 1.0)


def default_step(method: Any) -> float:
    """Return the step in use while there are too few rows to choose one."""
    return float(method.first_step)


def choose_step(method: Any, penalty: Any, setup: methods.Setup, loss: Any, loss_call: Any, rows: Rows) -> float:
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
    """Return the best of some steps: the better half on the first quarter of the rows, the best of it on the rest."""
    tried = [(float(step), method.make(penalty, setup)) for step in candidates]
    begin = 0
    for end in (len(rows) // 4, len(rows)):
        piece = rows[begin:end]
        scores = []
        for step, learner in tried:
            before, seen = learner.loss_seen, learner.weight_seen
            try:
                steps = method.steps(step, setup.steps_of(begin) + 1, setup.steps_of(len(piece)))
                piece.teach(learner, steps, loss_call)
            except FloatingPointError:  # this step is too large
                scores.append(np.inf)
                continue
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
    threads: int,
) -> Array:
    """Return the same for each strength, with the steps of several strengths tried in one pass."""
    quarter = len(rows) // 4
    problems = {quarter: compressed(penalty, setup, rows[:quarter]), len(rows): (rows, penalty, setup)}

    def ranked(some: Array, tried: Array, begin: int, end: int) -> Array:
        """Return the steps tried for each of some strengths, by their loss on rows begin … end − 1."""
        small, own_penalty, own_setup = problems[end]
        lanes = Lanes(np.repeat(some, tried.shape[1]), tried.ravel())
        learner = method.make_lanes(own_penalty, own_setup, lanes, _core.LANES_IN_REGISTERS)
        learner.threads = threads
        for first, last in ((0, begin), (begin, end)):
            learner.scoring = last == end
            piece = small[first:last]
            steps = method.steps(1.0, setup.steps_of(first) + 1, setup.steps_of(len(piece)))
            piece.teach(learner, steps, loss_call)
        loss = learner.losses.reshape(tried.shape)
        order = np.argsort(np.where(np.isfinite(loss), loss, np.inf), axis=1, kind="stable")
        return np.take_along_axis(tried, order, axis=1)

    def best(some: Array) -> Array:
        tried = ranked(some, np.tile(candidates, (len(some), 1)), 0, quarter)[:, : len(candidates) // 2]
        return ranked(some, tried, quarter, len(rows))[:, 0]

    # The better halves of two strengths fill the lanes of a thread. All strengths at once would take more memory.
    most = 2 * threads
    return np.concatenate([best(alphas[i : i + most]) for i in range(0, len(alphas), most)])


def compressed(penalty: Any, setup: methods.Setup, rows: Rows) -> tuple[Rows, Any, methods.Setup]:
    """Return the same problem over the features that occur, if the penalty allows it."""
    if not penalty.sums_over_features:
        return rows, penalty, setup
    small, used = rows.renumbered()
    used = used if len(used) else np.zeros(1, np.int64)  # rows without entries: any feature does
    return small, penalty.restricted(used), replace(setup, features=len(used))


def scores_at_zero(rows: Rows, outputs: int) -> Array:
    """Return the scores where all weights are zero, n × outputs."""
    z = np.zeros((len(rows), outputs))
    return z if rows.offset is None else z + rows.offset[:, None]


def slopes_at_zero(loss: Any, rows: Rows, outputs: int) -> Array:
    """Return the slopes of the loss at the score 0 (plus the offset), n × outputs."""
    z = scores_at_zero(rows, outputs)
    if loss.kind == "multiclass":
        return loss.slope(z, rows.y[:, 0]) if outputs > 1 else z  # there is one class so far
    return loss.slope(z, rows.y)


def _curvature(loss: Any, rows: Rows, outputs: int) -> float:
    """Return the mean second derivative at zero, by a difference over a small part of the targets' scale."""
    scale = 1e-3 * (np.abs(rows.y).mean() if loss.kind == "regression" else 1.0) or 1e-3
    if loss.kind == "multiclass":
        return 0.5
    z = scores_at_zero(rows, outputs)
    h = float(np.mean(loss.slope(z + scale, rows.y) - loss.slope(z - scale, rows.y)) / (2 * scale))
    return h if h > 1e-6 else 1.0


def _candidates(method: Any, loss: Any, rows: Rows, outputs: int) -> Array:
    h = _curvature(loss, rows, outputs)
    slope = float(np.sqrt(np.mean(np.square(slopes_at_zero(loss, rows, outputs))))) or 1.0
    return method.candidates(h, slope, rows)


def _theory(method: Any, penalty: Any, setup: methods.Setup, loss: Any, rows: Rows) -> float:
    """Return the papers' step from a bound D on ‖w*‖ and a bound G on the gradients."""
    y = rows.y[:, 0] if loss.kind == "multiclass" else rows.y
    values = loss.value(scores_at_zero(rows, setup.outputs), y)
    start = float(np.mean(values if values.ndim == 1 else values.sum(axis=1)))
    lipschitz = loss.lipschitz or float(np.abs(slopes_at_zero(loss, rows, setup.outputs)).max())
    g = lipschitz * float(np.sqrt(rows.squared_norms().max())) or 1.0
    d = _diameter(penalty, setup, start) or 1.0
    return float(method.theory(d, g))


def _diameter(penalty: Any, setup: methods.Setup, start: float) -> float:
    """Return a bound on ‖w*‖₂: the radius of a ball, or the bound from αΩ(w*) ≤ F(0)."""
    reach = penalty.reach(setup.alpha, start)
    if reach is None:
        raise ValueError(
            f"step='theory' needs a bound on the weights: alpha > 0 with a norm, or a ball. "
            f"{penalty.label} with alpha={setup.alpha:g} gives none; use step='auto' or a number."
        )
    return float(reach)
