"""At which regularization strengths a trainer learns, and with which steps.

A strategy learns at one strength, or at many side by side (core/path/lane_rule.hpp), each as it would alone. It has

    alpha                    the strength in `methods.Setup`
    lanes                    the number of strengths
    judges                   whether the losses choose among strengths, so that rows seen before are left out of them
    decides(method)          whether the first rows decide on the setting: the step, or the strengths and their steps
    start(trainer)           the setting before that, and a learner; raises if the problem is not possible
    make(trainer, setting)   a new learner
    choose(trainer, rows)    the setting that these first rows decide on
    step_of(method, setting)  the step that `Method.steps` is called with
    check_growth(trainer, outputs)  raises if a learner cannot get more features, or this many outputs
    mean_loss(trainer), count_used(trainer)  for progress

Steps: "auto" tries several on the first rows, "theory" computes the papers' choice from them. Strengths: a count stands
for a grid that starts at an estimate of the strength at which all weights are zero. Both look at a prefix of the data
of fixed length, so the result does not depend on how the data is cut into calls. After n rows the setting is that of
the first 2^m ≤ min(n, PREFIX) rows, and the learner is the one that learned all n rows with that setting. While the
prefix grows, its rows are kept, and replayed whenever the choice is made again.

The candidates of "auto" are multiples of a natural scale, so they follow the units of the features and of the targets.
With h the curvature of the loss, S the root mean square of its slope at zero and X² the mean ‖x‖², the scale is

    1 / (h X²) for FOBOS and similar methods,   h X² for γ of RDA,   S / h for AdaGrad, which adapts to the features.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gossamer import _core, methods, penalties
from gossamer.methods import Lanes
from gossamer.sources.rows import Rows
from gossamer.validation import Array, thread_count

PREFIX = 2048  # rows that decide on the setting
FIRST = 16  # rows before which nothing is decided
SPAN = 1e-5  # the smallest strength of a grid divided by the largest


class OneStrength:
    """Learn at one strength; the setting is the step: a number or a schedule."""

    judges = False
    lanes = 1

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def decides(self, method: Any) -> bool:
        """Return whether the first rows decide on the step."""
        return needs_prefix(method)

    def start(self, trainer: Any) -> tuple[Any, Any]:
        """Return the step in use before rows decide, and a learner."""
        method, setup = trainer.method, trainer.setup
        learner = method.make(trainer.penalty, setup)
        check_theory(method, trainer.penalty, setup)
        return default_step(method) if self.decides(method) else method.step_for(setup), learner

    def make(self, trainer: Any, step: Any) -> Any:
        """Return a new learner."""
        return trainer.method.make(trainer.penalty, trainer.setup)

    def choose(self, trainer: Any, rows: Rows) -> float:
        """Return the step that these first rows decide on."""
        t = trainer
        return choose_step(t.method, t.penalty, t.setup, t.targets.loss, t.loss_call, rows)

    def step_of(self, method: Any, step: Any) -> Any:
        """Return the step."""
        return step

    def check_growth(self, trainer: Any, outputs: int) -> None:
        """Raise if the learner cannot grow."""
        method, penalty, setup = trainer.method, trainer.penalty, trainer.setup
        if not (penalty.grows and method.grows):
            raise ValueError(
                f"{type(method).__name__} with {penalty.label} couples features and cannot grow "
                f"from {setup.features} features and {setup.outputs} outputs; start with all of them, or use a "
                "penalty on single features."
            )

    def mean_loss(self, trainer: Any) -> float:
        """Return the mean loss of each row before it was learned from."""
        return trainer.loss_seen / max(trainer.weight_seen, 1e-300)

    def count_used(self, trainer: Any) -> int:
        """Return the number of features with a non-zero weight."""
        return int(trainer.read()[0].any(axis=1).sum())


class ManyStrengths:
    """Learn at many strengths, given or as a count; the setting is `Lanes`, the strengths and their steps."""

    alpha = 0.0
    judges = True

    def __init__(self, alphas: int | Array, n_jobs: int | None = None) -> None:
        self.alphas, self.n_jobs = alphas, n_jobs

    @property
    def lanes(self) -> int:
        """Number of strengths."""
        return self.alphas if isinstance(self.alphas, int) else len(self.alphas)

    def decides(self, method: Any) -> bool:
        """Return whether the first rows decide on the strengths or the steps."""
        return isinstance(self.alphas, int) or needs_prefix(method)

    def start(self, trainer: Any) -> tuple[Lanes, Any]:
        """Return the strengths and steps in use before rows decide, and a learner."""
        method, penalty = trainer.method, trainer.penalty
        alphas = self._grid(1.0)
        weakest = replace(trainer.setup, alpha=float(alphas[-1]))
        method.make(penalty, weakest)  # refuses what it cannot handle
        searching = needs_prefix(method)
        setting = Lanes(alphas, _same(alphas, default_step(method) if searching else method.step))
        learner = self.make(trainer, setting)
        check_theory(method, penalty, weakest)
        return setting, learner

    def make(self, trainer: Any, setting: Lanes) -> Any:
        """Return a new learner."""
        learner = trainer.method.make_lanes(trainer.penalty, trainer.setup, setting)
        learner.threads = thread_count(self.n_jobs)
        return learner

    def choose(self, trainer: Any, rows: Rows) -> Lanes:
        """Return the strengths and steps that these first rows decide on."""
        t, loss, rows = trainer, trainer.targets.loss, rows.compact()
        top = strongest(t.penalty, loss, rows, t.setup) if isinstance(self.alphas, int) else 1.0
        alphas = self._grid(top)
        if not needs_prefix(t.method):
            return Lanes(alphas, _same(alphas, t.method.step))
        threads = thread_count(self.n_jobs)
        found = choose_each(t.method, t.penalty, t.setup, alphas, loss, t.loss_call, rows, threads)
        return Lanes(alphas, found)

    def _grid(self, top: float) -> Array:
        return top * np.geomspace(1.0, SPAN, self.alphas) if isinstance(self.alphas, int) else self.alphas

    def step_of(self, method: Any, setting: Lanes) -> Any:
        """Return the schedule, or 1: every lane multiplies the steps by its own."""
        return method.step if callable(method.step) else 1.0

    def check_growth(self, trainer: Any, outputs: int) -> None:
        """Raise if the learner cannot grow."""
        if outputs != trainer.setup.outputs:
            raise ValueError("A path cannot grow new classes; name all of them in the first call, or use one strength.")

    def mean_loss(self, trainer: Any) -> float:
        """Return the lowest mean loss of all strengths, on rows not seen before."""
        return float(progressive(trainer.learner)[0].min())

    def count_used(self, trainer: Any) -> int:
        """Return the number of non-zero weights at the strength with the lowest loss."""
        best = int(np.argmin(progressive(trainer.learner)[0]))
        return int(nonzeros(trainer.learner).reshape(trainer.learner.lanes, -1).sum(axis=1)[best])


def _same(alphas: Array, step: Any) -> Array:
    """Return the same step for all strengths; a schedule is followed as it is."""
    return np.full(len(alphas), 1.0 if callable(step) else float(step))


def progressive(learner: Any) -> tuple[Array, Array]:
    """Return the mean loss of each lane on rows not seen before, and its standard error."""
    total, squares = learner.scored, learner.scored_squares
    if total == 0:
        return np.full(learner.lanes, np.nan), np.full(learner.lanes, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = learner.losses / total
        spread = np.maximum(learner.squares / total - mean**2, 0.0)
        return mean, np.sqrt(spread * squares) / total


def nonzeros(learner: Any) -> Array:
    """Return the number of non-zero weights of each output of each lane."""
    counts = np.empty(learner.outputs, np.int64)
    learner.count_nonzeros(counts)
    return counts


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


# The search for steps


def deciding_rows(n: int) -> int:
    """Return how many of the first rows decide after n rows: a power of two, or 0 if there are too few."""
    return min(PREFIX, 1 << (n.bit_length() - 1)) if n >= FIRST else 0


def needs_prefix(method: Any) -> bool:
    """Return whether the step is chosen from the data."""
    return isinstance(method.step, str)


def check_theory(method: Any, penalty: Any, setup: methods.Setup) -> None:
    """Raise if step="theory" does not cover the problem."""
    if isinstance(method.step, str) and method.step == "theory":
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
                piece.teach(learner, method.steps(step, begin + 1, len(piece)), loss_call)
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
            piece.teach(learner, method.steps(1.0, first + 1, len(piece)), loss_call)
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
