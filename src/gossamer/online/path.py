"""Results of a trainer with many strengths: losses, non-zeros and weights at each."""

from __future__ import annotations

import numpy as np

from gossamer.online import strategies
from gossamer.online.strategies import OneStrength
from gossamer.online.trainer import Trainer, finite
from gossamer.validation import Array


class LearnedPath:
    """A view of a trainer with `ManyStrengths`."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer, self.learner = trainer, trainer.learner
        unit = self.learner.strength_unit if trainer.setting.relative else 1.0
        self.alphas: Array = trainer.setting.alphas * unit  # from the largest to the smallest
        self.steps: Array = trainer.setting.steps  # one per strength

    def progressive(self) -> tuple[Array, Array]:
        """Return the mean loss at each strength on rows not seen before, and its standard error."""
        return strategies.progressive(self.learner)

    def differences(self) -> Array:
        """Return the standard errors of the differences between these losses, one row per strength."""
        return strategies.differences(self.learner)

    def nonzeros(self) -> Array:
        """Return the number of non-zero weights at each strength."""
        return strategies.nonzeros(self.learner).reshape(len(self.alphas), -1).sum(axis=1)

    def read(self, lane: int) -> tuple[Array, Array]:
        """Return W and b at a strength."""
        setup = self.trainer.setup
        W, b = np.empty((setup.features, setup.outputs)), np.empty(setup.outputs)
        self.learner.read_lane(lane, W, b)
        if self.trainer.units is not None:
            W = self.trainer.units.weights(np.arange(len(W)), W)
            b = self.trainer.units.intercepts(W[: setup.standardized], b)
        return finite(W), b

    def intercepts(self) -> Array:
        """Return b at every strength."""
        setup = self.trainer.setup
        shape = (len(self.alphas), setup.outputs)
        if self.trainer.units is not None:
            return np.array([self.read(lane)[1] for lane in range(len(self.alphas))])
        return self.learner.intercepts.reshape(shape) if setup.fit_intercept else np.zeros(shape)

    def read_sparse(self) -> tuple[Array, Array, Array]:
        """Return starts, index and value of all weights as a CSR matrix, one row per output of a strength."""
        starts = np.concatenate([[0], np.cumsum(strategies.nonzeros(self.learner))])
        index, value = np.empty(starts[-1], np.int64), np.empty(starts[-1])
        self.learner.gather(starts[:-1].copy(), index, value)
        if self.trainer.units is not None:
            value = self.trainer.units.weights(index, value)
        return starts, index, value

    def within(self, budget: int, nonzeros: Array) -> tuple[int, float] | None:
        """Return a lane and a strength, between two of the path, at which nearly `budget` weights are not zero.

        Sums of gradients are read at any strength, so this is the lane that has too many weights, read at a stronger
        one. None if there is no such strength.
        """
        over = np.flatnonzero(nonzeros > budget)
        if not self.trainer.method.reads_by_strength or len(over) == 0 or over[0] == 0 or self.alphas[over[0]] <= 0:
            return None
        lane = int(over[0])
        low, high = float(self.alphas[lane]), float(self.alphas[lane - 1])

        def count_at(alpha: float) -> int:
            return int(np.count_nonzero(self.alone(lane, alpha).read()[0]))

        for _ in range(40):  # what this lane has learned may need more than the strength of its neighbour
            if count_at(high) <= budget:
                break
            low, high = high, 2 * high
        else:
            return None
        for _ in range(40):
            between = (low * high) ** 0.5
            count = count_at(between)
            if count > budget:
                low = between
            else:
                high = between
                if count >= 0.98 * budget:
                    break
        return lane, high

    def alone(self, lane: int, alpha: float | None = None) -> Trainer:
        """Return a trainer of one strength that has learned the same, and can continue; at another strength if given.

        Only a method that reads by strength has other weights then.
        """
        old, step = self.trainer, float(self.steps[lane])
        one = OneStrength(float(self.alphas[lane]) if alpha is None else alpha)
        trainer = Trainer(
            old.method,
            old.penalty,
            one,
            old.targets,
            old.setup.features,
            fit_intercept=old.setup.fit_intercept,
            centred=old.setup.centred,
            sparsest=old.setup.sparsest,
            standardized=old.setup.standardized,
            batch_size=old.setup.batch_size,
        )
        trainer.pending = list(old.pending)
        state = {**trainer.learner.state(), **self.learner.alone(lane)}
        for name, value in (("rounds", old.rounds), ("eta", step), ("gamma", step)):
            if name in state:
                state[name] = np.array([float(value)])
        trainer.learner.restore(state)
        if old.method.searches:
            trainer.setting = step
        if old.method.searches or old.units is not None:
            trainer.decided, trainer.buffer = old.decided, old.buffer
        if old.units is not None:
            trainer.units = old.units
        return trainer
