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
    scaled(setting, by)      the setting with steps that are so many times as large
    multiple(setting, to)    how many times as large the steps are that a learner does not keep
    check_growth(trainer, outputs)  raises if a learner cannot get more features, or this many outputs
    mean_loss(trainer), count_used(trainer)  for progress

The rule without a step learns at once. Other methods may look at a prefix of the data of fixed length (`step_search`),
so the result does not depend on how the data is cut into calls. After n rows the setting is that of the first
2^m ≤ min(n, PREFIX) rows, and the learner is the one that learned all n rows with that setting. While the prefix grows,
its rows are kept, and replayed whenever the choice is made again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gossamer.methods import Lanes
from gossamer.online.step_search import check_theory, choose_each, choose_step, default_step, strongest
from gossamer.sources.rows import Rows
from gossamer.validation import Array, thread_count

SPAN = 1e-5  # the smallest strength of a grid divided by the largest
FREE_SPAN = 1e-6  # the same for the rule without a step, whose grid does not depend on the data
SLOPE = 0.5  # of the logistic loss at zero: the largest mean gradient of a feature with values of size one


class OneStrength:
    """Learn at one strength; the setting is the step: a number or a schedule."""

    judges = False
    lanes = 1

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def decides(self, method: Any) -> bool:
        """Return whether the first rows decide on the step."""
        return bool(method.searches)

    def start(self, trainer: Any) -> tuple[Any, Any]:
        """Return the step in use before rows decide, and a learner."""
        method, setup = trainer.method, trainer.setup
        learner = method.make(trainer.penalty, setup)
        if not method.searches:
            return method.step_for(setup), learner
        check_theory(method, trainer.penalty, setup)
        return default_step(method), learner

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

    def scaled(self, step: Any, by: float) -> Any:
        """Return another step, so many times as large."""
        return step * by

    def multiple(self, step: Any, to: Any) -> float:
        """Return 1: a learner of one strength keeps its step."""
        return 1.0

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
    ratio: float | None = None  # the last strength of a grid divided by the first; None: that of the method

    def __init__(self, alphas: int | Array, n_jobs: int | None = None, ratio: float | None = None) -> None:
        self.alphas, self.n_jobs, self.ratio = alphas, n_jobs, ratio

    @property
    def lanes(self) -> int:
        """Number of strengths."""
        return self.alphas if isinstance(self.alphas, int) else len(self.alphas)

    def decides(self, method: Any) -> bool:
        """Return whether the first rows decide on the strengths or the steps."""
        return not method.free_of_steps and (isinstance(self.alphas, int) or method.searches)

    def start(self, trainer: Any) -> tuple[Lanes, Any]:
        """Return the strengths and steps in use before rows decide, and a learner."""
        method, penalty = trainer.method, trainer.penalty
        free, counted = method.free_of_steps, isinstance(self.alphas, int)
        labels = trainer.setup.target == "labels"
        alphas = self._grid(SLOPE if free and labels else 1.0, FREE_SPAN if free else SPAN)
        weakest = replace(trainer.setup, alpha=float(alphas[-1]))
        method.make(penalty, weakest)  # refuses what it cannot handle
        steps = _same(alphas, default_step(method) if method.searches else method.step)
        setting = Lanes(alphas, steps, relative=free and counted and not labels)
        learner = self.make(trainer, setting)
        if method.searches:
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
        if not t.method.searches:
            return Lanes(alphas, _same(alphas, t.method.step))
        threads = thread_count(self.n_jobs)
        found = choose_each(t.method, t.penalty, t.setup, alphas, loss, t.loss_call, rows, threads)
        return Lanes(alphas, found)

    def _grid(self, top: float, span: float = SPAN) -> Array:
        if not isinstance(self.alphas, int):
            return self.alphas
        return top * np.geomspace(1.0, self.ratio or span, self.alphas)

    def step_of(self, method: Any, setting: Lanes) -> Any:
        """Return the schedule, or 1: every lane multiplies the steps by its own."""
        return method.step if callable(method.step) else 1.0

    def scaled(self, setting: Lanes, by: float) -> Lanes:
        """Return the same strengths with other steps, so many times as large."""
        return replace(setting, steps=setting.steps * by)

    def multiple(self, setting: Lanes, to: Lanes) -> float:
        """Return how many times as large the steps are as others."""
        return float(setting.steps[0] / to.steps[0])

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


def differences(learner: Any) -> Array:
    """Return the standard errors of the differences between the mean losses of two lanes, lanes × lanes.

    They are of the same rows, so they are far smaller than those of the losses. With very many lanes, or where an
    earlier version learned the first rows, those of the losses are returned instead, one per lane.
    """
    mean, error = progressive(learner)
    total, squares, m = learner.scored, learner.scored_squares, learner.lanes
    if total == 0 or len(learner.products) == 0 or np.isinf(learner.products).all():
        return error
    with np.errstate(over="ignore", invalid="ignore"):
        products = learner.products.reshape(m, m) / total
        own = np.diag(products)
        spread = own[:, None] + own - 2 * products - (mean[:, None] - mean) ** 2
        return np.sqrt(np.maximum(spread, 0.0) * squares) / total


def nonzeros(learner: Any) -> Array:
    """Return the number of non-zero weights of each output of each lane."""
    counts = np.empty(learner.outputs, np.int64)
    learner.count_nonzeros(counts)
    return counts
