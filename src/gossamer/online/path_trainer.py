"""Many strengths in one pass: the trainer behind the regularisation path.

Every strength learns as a learner of its own would, side by side with the others (core/lanes.hpp), and with a step of
its own where the step is chosen from the data. A grid that is given as a count starts at an estimate of the strength
from which all weights are zero, made from the same first rows that decide on the step (see `step_search`), so that
neither depends on how the data is cut into calls.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from gossamer import _core, methods, penalties
from gossamer.estimators.targets import Targets
from gossamer.online import lanes, step_search
from gossamer.online.examples import Rows
from gossamer.online.lanes import Lanes
from gossamer.online.trainer import Trainer
from gossamer.schedules import steps
from gossamer.validation import Array, floats

SPAN = 1e-5  # the weakest strength of a grid over the strongest


def checked_alphas(alphas: Any) -> int | Array:
    """Return a count, or strengths from the largest to the smallest."""
    if isinstance(alphas, (int, np.integer)) and not isinstance(alphas, bool):
        if alphas < 2:
            raise ValueError(f"alphas must be at least 2 strengths, or a sequence of strengths; {alphas!r} was given.")
        return int(alphas)
    if np.ndim(alphas) == 0:
        raise ValueError(f"alphas must be a whole number or a sequence of strengths; {alphas!r} was given.")
    given = floats(alphas, "alphas", ndim=(1,)).astype(np.float64)
    if len(given) == 0:
        raise ValueError("alphas must hold at least one strength; it is empty.")
    if given.min() < 0:
        raise ValueError(f"alphas must not be negative; they hold {given.min():g}.")
    return np.unique(given)[::-1].copy()


def strongest(penalty: Any, loss: Any, rows: Rows, setup: methods.Setup) -> float:
    """Return an estimate of the least strength at which all weights are zero: the dual norm of the mean gradient there.

    The slopes at zero are centred where there is an intercept, which for the squared loss, the logistic loss and the
    multinomial is what the best intercept makes of them.
    """
    slopes = step_search._slopes_at_zero(loss, rows, setup.outputs)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    if setup.fit_intercept:
        slopes = slopes - np.average(slopes, axis=0, weights=weight)
    small, penalty, setup = step_search._compressed(penalty, setup, rows)
    lengths = small.ends - small.begins
    gradient = np.empty((setup.features, setup.outputs))
    for r in range(setup.outputs):
        shares = small.value * np.repeat(weight * slopes[:, r], lengths)
        gradient[:, r] = np.bincount(small.index, shares, setup.features) / len(rows)
    if isinstance(penalty, penalties.L2Squared):  # no strength makes all weights zero: the grid of a faint ℓ1 part
        penalty = penalties.ElasticNet(0.0, weights=penalty.weights)
    if isinstance(penalty, penalties.ElasticNet):
        penalty = replace(penalty, l1_ratio=max(penalty.l1_ratio, 1e-3))
    for norm in (penalty, penalties.L1()):  # the first has no use for a weight of zero
        top = float(norm.dual_norm(-gradient))
        if np.isfinite(top) and top > 0:
            return top
    return 1.0


class PathTrainer(Trainer):
    """A learner with lanes: many strengths, given or found from the first rows, each with its step.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> import gossamer as gs
    >>> from gossamer import methods
    >>> from gossamer.online import examples
    >>> from gossamer.estimators import targets
    >>> coded = targets.for_labels(np.array(["ham", "spam"]), gs.Logistic(), grow=False)
    >>> setup = methods.Setup(features=3, outputs=1, alpha=0.0, fit_intercept=True)
    >>> trainer = PathTrainer(gs.Fobos(1.0), gs.L1(), setup, coded, np.array([1.0, 0.1, 0.01]))
    >>> X = sp.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    >>> trainer.learn(examples.Rows(*examples.csr_arrays(X), coded.encode(np.array(["spam", "ham"])), None))
    >>> trainer.nonzeros().tolist()
    [1, 3, 3]
    """

    pace: Lanes  # the strengths and steps in use

    def __init__(self, method: Any, penalty: Any, setup: methods.Setup, targets: Targets, alphas: int | Array) -> None:
        self.method, self.penalty, self.setup, self.targets, self.alphas = method, penalty, setup, targets, alphas
        counted = isinstance(alphas, int)
        start = np.geomspace(1.0, SPAN, alphas) if isinstance(alphas, int) else alphas
        searching = step_search.needs_prefix(method)
        paces = self._paces(start, step_search.default_pace(method) if searching else method.pace)
        weakest = replace(setup, alpha=float(start[-1]))
        method.make(penalty, weakest)  # refuses what it cannot handle
        self.pace = Lanes(start, paces)
        self.learner = self._made(self.pace)
        step_search.check(method, penalty, weakest)
        self._loss_call = _core.loss_call(targets.loss._core())
        self.decided = 0 if searching or counted else step_search.PREFIX
        self.buffer: Rows | None = None
        self.repeats: list[list[float]] = []  # spans of rounds whose rows were seen before: they do not count

    notices = False  # lanes do not look

    def _made(self, pace: Lanes) -> Any:
        return lanes.make(self.method, self.penalty, self.setup, pace)

    def _paces(self, alphas: Array, pace: Any) -> Array:
        """Return the same pace for all; a schedule is followed as it is."""
        return np.full(len(alphas), 1.0 if callable(pace) else float(pace))

    def _steps(self, pace: Lanes, first: int, count: int) -> Array:
        """Return the steps of pace 1, which each lane multiplies by its own."""
        given = self.method.pace
        return steps(self.method.schedule(given if callable(given) else 1.0), first, count)

    # The first rows

    def _choose(self, rows: Rows) -> Lanes:
        rows = rows.compact()
        loss = self.targets.loss
        if isinstance(self.alphas, int):
            alphas = strongest(self.penalty, loss, rows, self.setup) * np.geomspace(1.0, SPAN, self.alphas)
        else:
            alphas = self.alphas
        if not step_search.needs_prefix(self.method):
            return Lanes(alphas, self._paces(alphas, self.method.pace))
        found = step_search.choose_each(self.method, self.penalty, self.setup, alphas, loss, self._loss_call, rows)
        return Lanes(alphas, found)

    # Learning

    def _teach(self, learner: Any, pace: Lanes, rows: Rows) -> None:
        """Learn; the losses of rows that were seen before do not count."""
        done = int(learner.rounds)
        cuts = {int(r) - done for span in self.repeats for r in span if done < r < done + len(rows)}
        for begin, end in pairwise(sorted({0, len(rows), *cuts})):
            learner.scoring = not any(first <= done + begin < last for first, last in self.repeats)
            super()._teach(learner, pace, rows.part(begin, end))

    @contextmanager
    def repeating(self) -> Iterator[None]:
        """Learn from rows that were seen before."""
        self.repeats.append([self.rounds, math.inf])
        try:
            yield
        finally:
            self.repeats[-1][1] = self.rounds

    def grown(self, features: int, targets: Targets) -> PathTrainer:
        """Return a trainer with the same state, made for more features, or for fewer that all came."""
        if targets.outputs != self.setup.outputs:
            raise ValueError("A path cannot grow new classes; name all of them before, or use one strength.")
        new = PathTrainer(self.method, self.penalty, replace(self.setup, features=features), targets, self.alphas)
        new.pace, new.decided, new.buffer, new.repeats = self.pace, self.decided, self.buffer, self.repeats
        new.learner = self.learner.grown(features, targets.outputs)
        return new

    # What is known

    def progressive(self) -> tuple[Array, Array]:
        """Return the mean loss of each lane on rows it had not seen, and its standard error."""
        total, squares = self.learner.scored, self.learner.scored_squares
        if total == 0:
            return np.full(len(self.pace.alphas), np.nan), np.full(len(self.pace.alphas), np.nan)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = self.learner.losses / total
            spread = np.maximum(self.learner.squares / total - mean**2, 0.0)
            return mean, np.sqrt(spread * squares) / total

    def nonzeros(self) -> Array:
        """Return the number of non-zero weights of each lane."""
        return self._cells().reshape(len(self.pace.alphas), -1).sum(axis=1)

    def _cells(self) -> Array:
        counts = np.empty(len(self.pace.alphas) * self.setup.outputs, np.int64)
        self.learner.count_nonzeros(counts)
        return counts

    def read_lane(self, lane: int) -> tuple[Array, Array]:
        """Return W and b of a lane."""
        W, b = np.empty((self.setup.features, self.setup.outputs)), np.empty(self.setup.outputs)
        self.learner.read_lane(lane, W, b)
        return W, b

    def intercepts(self) -> Array:
        """Return b of every lane."""
        shape = (len(self.pace.alphas), self.setup.outputs)
        return self.learner.intercepts.reshape(shape) if self.setup.fit_intercept else np.zeros(shape)

    def read_sparse(self) -> tuple[Array, Array, Array]:
        """Return starts, index and value of all weights as a CSR matrix, one row an output of a lane."""
        starts = np.concatenate([[0], np.cumsum(self._cells())])
        index, value = np.empty(starts[-1], np.int64), np.empty(starts[-1])
        self.learner.gather(starts[:-1].copy(), index, value)
        return starts, index, value

    def alone(self, lane: int) -> Trainer:
        """Return a trainer of one strength that has learned the same, and can go on."""
        alpha, pace = float(self.pace.alphas[lane]), float(self.pace.paces[lane])
        trainer = Trainer(self.method, self.penalty, replace(self.setup, alpha=alpha), self.targets)
        state = {**trainer.learner.state(), **self.learner.alone(lane)}
        for name, value in (("rounds", self.rounds), ("eta", pace), ("gamma", pace)):
            if name in state:
                state[name] = np.array([float(value)])
        trainer.learner.restore(state)
        if step_search.needs_prefix(self.method):
            trainer.pace, trainer.decided, trainer.buffer = pace, self.decided, self.buffer
        return trainer
