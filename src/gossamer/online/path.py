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
        self.alphas: Array = trainer.setting.alphas  # from the largest to the smallest
        self.steps: Array = trainer.setting.steps  # one per strength

    def progressive(self) -> tuple[Array, Array]:
        """Return the mean loss at each strength on rows not seen before, and its standard error."""
        return strategies.progressive(self.learner)

    def nonzeros(self) -> Array:
        """Return the number of non-zero weights at each strength."""
        return strategies.nonzeros(self.learner).reshape(len(self.alphas), -1).sum(axis=1)

    def read(self, lane: int) -> tuple[Array, Array]:
        """Return W and b at a strength."""
        setup = self.trainer.setup
        W, b = np.empty((setup.features, setup.outputs)), np.empty(setup.outputs)
        self.learner.read_lane(lane, W, b)
        return finite(W), b

    def intercepts(self) -> Array:
        """Return b at every strength."""
        setup = self.trainer.setup
        shape = (len(self.alphas), setup.outputs)
        return self.learner.intercepts.reshape(shape) if setup.fit_intercept else np.zeros(shape)

    def read_sparse(self) -> tuple[Array, Array, Array]:
        """Return starts, index and value of all weights as a CSR matrix, one row per output of a strength."""
        starts = np.concatenate([[0], np.cumsum(strategies.nonzeros(self.learner))])
        index, value = np.empty(starts[-1], np.int64), np.empty(starts[-1])
        self.learner.gather(starts[:-1].copy(), index, value)
        return starts, index, value

    def alone(self, lane: int) -> Trainer:
        """Return a trainer of one strength that has learned the same, and can continue."""
        old, step = self.trainer, float(self.steps[lane])
        one = OneStrength(float(self.alphas[lane]))
        trainer = Trainer(
            old.method, old.penalty, one, old.targets, old.setup.features, fit_intercept=old.setup.fit_intercept
        )
        state = {**trainer.learner.state(), **self.learner.alone(lane)}
        for name, value in (("rounds", old.rounds), ("eta", step), ("gamma", step)):
            if name in state:
                state[name] = np.array([float(value)])
        trainer.learner.restore(state)
        if strategies.needs_prefix(old.method):
            trainer.setting, trainer.decided, trainer.buffer = step, old.decided, old.buffer
        return trainer
