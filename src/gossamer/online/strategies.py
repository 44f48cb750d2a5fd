"""At which strengths a trainer learns: at one, or at many side by side (core/path/lanes.hpp), each as it would alone.

A strategy says what depends on that:

    alpha                    the strength in `methods.Setup`
    judges                   whether rows that were seen before are left out of the losses, which judge the strengths
    decides(method)          whether the first rows decide on the setting: the step, or the strengths and their steps
    start(trainer)           the setting before that, and a learner; raises where the problem is not possible
    make(trainer, setting)   a new learner
    choose(trainer, rows)    the setting that these first rows decide on
    schedule(method, setting)  the steps as a function of rounds
    check_growth(trainer, outputs)  raises where a learner cannot get more features, or this many outputs
    mean_loss(trainer), count_used(trainer)  for progress

A count of strengths stands for a grid from an estimate of the strength at which all weights are zero. It is made from
the same first rows that decide on the step (`step_search`), so neither depends on how the data is cut into calls.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gossamer import methods, penalties
from gossamer.estimators import parallel
from gossamer.online import lanes, step_search
from gossamer.online.lanes import Lanes
from gossamer.sources.rows import Rows
from gossamer.validation import Array

SPAN = 1e-5  # the weakest strength of a grid over the strongest


class OneStrength:
    """Learn at one strength; the setting is the step: a number or a schedule."""

    judges = False

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def decides(self, method: Any) -> bool:
        """Return whether the first rows decide on the step."""
        return step_search.needs_prefix(method)

    def start(self, trainer: Any) -> tuple[Any, Any]:
        """Return the step before rows decide, and a learner."""
        method, setup = trainer.method, trainer.setup
        learner = method.make(trainer.penalty, setup)
        step_search.check(method, trainer.penalty, setup)
        return step_search.default_step(method) if self.decides(method) else method.step_for(setup), learner

    def make(self, trainer: Any, step: Any) -> Any:
        """Return a new learner."""
        return trainer.method.make(trainer.penalty, trainer.setup)

    def choose(self, trainer: Any, rows: Rows) -> float:
        """Return the step that these first rows decide on."""
        t = trainer
        return step_search.choose(t.method, t.penalty, t.setup, t.targets.loss, t.loss_call, rows)

    def schedule(self, method: Any, step: Any) -> Any:
        """Return the steps as a function of rounds."""
        return method.schedule(step)

    def check_growth(self, trainer: Any, outputs: int) -> None:
        """Raise where the learner cannot grow."""
        method, penalty, setup = trainer.method, trainer.penalty, trainer.setup
        if not (penalty.sums_over_features and method.grows):
            raise ValueError(
                f"{type(method).__name__} with {penalty.label} couples features and cannot grow "
                f"from {setup.features} features and {setup.outputs} outputs; start with all of them, or use a "
                "penalty on single features."
            )

    def mean_loss(self, trainer: Any) -> float:
        """Return the mean loss of each row before it was learned from."""
        return trainer.loss_seen / max(trainer.weight_seen, 1e-300)

    def count_used(self, trainer: Any) -> int:
        """Return the number of features that have a weight."""
        return int(trainer.read()[0].any(axis=1).sum())


class ManyStrengths:
    """Learn at many strengths, given or a count of them; the setting is `Lanes`, the strengths and their steps."""

    alpha = 0.0
    judges = True

    def __init__(self, alphas: int | Array, n_jobs: int | None = None) -> None:
        self.alphas, self.n_jobs = alphas, n_jobs

    def decides(self, method: Any) -> bool:
        """Return whether the first rows decide on the strengths or the steps."""
        return isinstance(self.alphas, int) or step_search.needs_prefix(method)

    def start(self, trainer: Any) -> tuple[Lanes, Any]:
        """Return the strengths and steps before rows decide, and a learner."""
        method, penalty = trainer.method, trainer.penalty
        alphas = self._grid(1.0)
        weakest = replace(trainer.setup, alpha=float(alphas[-1]))
        method.make(penalty, weakest)  # refuses what it cannot handle
        searching = step_search.needs_prefix(method)
        setting = Lanes(alphas, _same(alphas, step_search.default_step(method) if searching else method.step))
        learner = self.make(trainer, setting)
        step_search.check(method, penalty, weakest)
        return setting, learner

    def make(self, trainer: Any, setting: Lanes) -> Any:
        """Return a new learner."""
        learner = lanes.make(trainer.method, trainer.penalty, trainer.setup, setting)
        learner.threads = parallel.threads(self.n_jobs)
        return learner

    def choose(self, trainer: Any, rows: Rows) -> Lanes:
        """Return the strengths and steps that these first rows decide on."""
        t, loss, rows = trainer, trainer.targets.loss, rows.compact()
        top = strongest(t.penalty, loss, rows, t.setup) if isinstance(self.alphas, int) else 1.0
        alphas = self._grid(top)
        if not step_search.needs_prefix(t.method):
            return Lanes(alphas, _same(alphas, t.method.step))
        threads = parallel.threads(self.n_jobs)
        found = step_search.choose_each(t.method, t.penalty, t.setup, alphas, loss, t.loss_call, rows, threads)
        return Lanes(alphas, found)

    def _grid(self, top: float) -> Array:
        return top * np.geomspace(1.0, SPAN, self.alphas) if isinstance(self.alphas, int) else self.alphas

    def schedule(self, method: Any, setting: Lanes) -> Any:
        """Return the steps of a lane whose own is 1; every lane multiplies them by its own."""
        return method.schedule(method.step if callable(method.step) else 1.0)

    def check_growth(self, trainer: Any, outputs: int) -> None:
        """Raise where the learner cannot grow."""
        if outputs != trainer.setup.outputs:
            raise ValueError("A path cannot grow new classes; name all of them before, or use one strength.")

    def mean_loss(self, trainer: Any) -> float:
        """Return the lowest mean loss of a strength on rows it had not seen."""
        return float(progressive(trainer.learner)[0].min())

    def count_used(self, trainer: Any) -> int:
        """Return the number of non-zero weights at the strength with the lowest loss."""
        best = int(np.argmin(progressive(trainer.learner)[0]))
        return int(nonzeros(trainer.learner).reshape(trainer.learner.lanes, -1).sum(axis=1)[best])


def _same(alphas: Array, step: Any) -> Array:
    """Return the same step for all strengths; a schedule is followed as it is."""
    return np.full(len(alphas), 1.0 if callable(step) else float(step))


def progressive(learner: Any) -> tuple[Array, Array]:
    """Return the mean loss of each lane on rows it had not seen, and its standard error."""
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
    """Return an estimate of the least strength at which all weights are zero: the dual norm of the mean gradient there.

    The slopes at zero are centred where there is an intercept, which for the squared loss, the logistic loss and the
    multinomial is what the best intercept makes of them.
    """
    slopes = step_search.slopes_at_zero(loss, rows, setup.outputs)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    if setup.fit_intercept:
        slopes = slopes - np.average(slopes, axis=0, weights=weight)
    small, penalty, setup = step_search.compressed(penalty, setup, rows)
    lengths = small.ends - small.begins
    gradient = np.empty((setup.features, setup.outputs))
    for r in range(setup.outputs):
        shares = small.value * np.repeat(weight * slopes[:, r], lengths)
        gradient[:, r] = np.bincount(small.index, shares, setup.features) / len(rows)
    for norm in (penalty.with_faint_l1(), penalties.L1()):  # the first has no use for a weight of zero
        top = float(norm.dual_norm(-gradient))
        if np.isfinite(top) and top > 0:
            return top
    return 1.0
