"""What all solvers share.

A solver is a frozen setting with two verbs:

- ``check(objective)`` raises, in words, if the problem is not one that it solves;
- ``iterates(objective, W)`` yields better and better weights from W on, for ever: arrays W, or `Point` where loss and
  gradient are at hand anyway. Stopping, printing and choosing the answer are the business of `gossamer.solving`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from gossamer.batch.objective import Objective, Point
from gossamer.validation import Array


class Solver:
    """Settings as scikit-learn sees them, and the refusals that several solvers share."""

    look_every: int = 1  # iterations between two certificates; a setting where iterations are cheap
    patience: ClassVar[int] = 1  # how many of its iterations make one of `max_iter`

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings, for scikit-learn's ``solver__name``."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Any:
        """Change settings in place, for scikit-learn's grid search, which works on copies."""
        changed = type(self)(**{**self.get_params(), **params})
        for name, value in changed.get_params().items():
            object.__setattr__(self, name, value)
        return self

    def check(self, objective: Objective) -> None:
        """Raise if this solver does not solve the problem."""
        raise NotImplementedError

    def iterates(self, objective: Objective, W: Array) -> Iterator[Array | Point]:
        """Yield better and better weights from W on."""
        raise NotImplementedError

    def refuse(self, what: str, why: str, instead: str) -> ValueError:
        """Return the error that says what does not go together, why, and what does."""
        return ValueError(f"{type(self).__name__} does not go with {what}: {why} {instead}")

    def needs_a_slope(self, objective: Objective) -> None:
        """Raise if the loss has kinks."""
        if not objective.smooth:
            raise self.refuse(objective.loss.label, "the loss has kinks.", "Use solver='fobos', or a smooth loss.")


def dot(a: Array, b: Array) -> float:
    """Return Σ a b."""
    return float(np.vdot(a, b))
