"""Learners that saw different rows become one, and one learner becomes equal shares that go on apart.

The dual forms (RDA, AdaGrad's dual form, FTRL) read their weights from an objective that adds up over learners: sums of
gradients G, rounds t and curvatures H, with w = −soft(G, αt) / H for the ℓ1 norm. A share has a part of each, so it
reads the same weights, and shares add up to what they were made from (FTRL: but for features seen so rarely that a
share of H is below that of β). The rule without a step adds up approximately, and its shares read other corrections
(core/online/step_free_merging.hpp).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from gossamer.online.step_search import PREFIX
from gossamer.online.trainer import Trainer


def refuse(method: Any, penalty: Any, average: bool) -> None:
    """Raise if learners of this kind cannot be merged."""
    why = None
    if not method.reads_by_strength:
        why = f"{type(method).__name__} keeps weights, not sums of gradients"
    elif not (penalty.acts_on_rows and penalty.sums_over_features):
        why = f"{penalty.label} couples features"
    elif average:
        why = "the average of the iterates of several learners is not that of one"
    if why is not None:
        raise ValueError(
            f"Learners cannot be merged: {why}. Use merges=0, which learns from one partition after the other, or "
            "method='adagrad' with a penalty that is a sum over features and average=False."
        )


def merged(trainers: Sequence[Trainer]) -> Trainer:
    """Return the trainer that several, which began alike and saw different rows, become."""
    first = trainers[0]
    refuse(first.method, first.penalty, first.setup.average)
    new = copy.copy(first)
    new.decided, new.buffer, new.repeats = PREFIX, None, []
    new.learner = first.learner.merged([_state(trainer, first) for trainer in trainers])
    return _with_own_step(new)


def share(trainer: Trainer, number: int, count: int) -> Trainer:
    """Return one of so many equal shares of a trainer; the rounds that are left over go to the first ones."""
    new = copy.copy(trainer)
    new.decided, new.buffer, new.repeats = PREFIX, None, []
    new.learner = trainer.learner.merged([trainer.learner.state()])
    new.learner.share(float(count), float(trainer.rounds // count + (number < trainer.rounds % count)))
    return _with_own_step(new)


def _state(trainer: Trainer, first: Trainer) -> dict[str, Any]:
    """Return the state of a trainer as a learner with the steps of the first one has it."""
    state = trainer.learner.state()
    if "gamma" in state:
        state["gamma"] = state["gamma"] * trainer.strategy.multiple(trainer.setting, first.setting)
    return state


def _with_own_step(trainer: Trainer) -> Trainer:
    """Return the trainer with the γ of its learner as its setting: H = γ√t adds up, so γ changes."""
    state, strategy, method = trainer.learner.state(), trainer.strategy, trainer.method
    if "gamma" not in state or trainer.rounds == 0:
        return trainer
    trainer.setting = strategy.scaled(
        trainer.setting, float(state["gamma"][0] / strategy.step_of(method, trainer.setting))
    )
    trainer.learner = strategy.make(trainer, trainer.setting)
    trainer.learner.restore(state | {"gamma": np.array([float(strategy.step_of(method, trainer.setting))])})
    return trainer
