"""What all solvers share.

A solver is a frozen setting with two verbs:

- ``check(objective)`` raises, in words, if the problem is not one that it solves;
- ``iterates(objective, W)`` yields better and better weights from W on, for ever: arrays W, or `Point` where loss and
  gradient are at hand anyway. Stopping, printing and choosing the answer are the business of `gossamer.batch.driver`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import ClassVar, TypeVar

import numpy as np

from gossamer.batch.objective import Objective, Point
from gossamer.registry import Registry, Settings
from gossamer.validation import Array, number

Found = TypeVar("Found")
SOLVERS = Registry("solver", ("check", "iterates"))


class Solver(Settings):
    """Settings as scikit-learn sees them, and the refusals that several solvers share."""

    look_every: int = 1  # iterations between two certificates; a setting where iterations are cheap
    patience: ClassVar[int] = 1  # how many of its iterations make one of `max_iter`

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


class FirstOrder(Solver):
    """A gradient and a prox per iteration: cheap, so ten count as one, and the gap is looked at now and then."""

    patience = 10

    def __post_init__(self) -> None:
        number(self.look_every, "look_every", least=1)

    def check(self, objective: Objective) -> None:
        """Refuse losses with kinks."""
        self.needs_a_slope(objective)


def proximal_step(
    objective: Objective, point: Point, lipschitz: float, look: Callable[[Array], tuple[float, Found]]
) -> tuple[Found, float]:
    """Return what is found at V = prox(W − g/L, α/L), and L, doubled until f(V) is under its quadratic bound.

    `look` returns f(V) and what is found there.
    """
    while True:
        V = objective.prox(point.W - point.gradient / lipschitz, 1 / lipschitz)
        moved = V - point.W
        bound = point.loss + dot(point.gradient, moved) + lipschitz / 2 * dot(moved, moved)
        loss, found = look(V)
        if loss <= bound + 1e-14 * abs(point.loss) or not math.isfinite(2 * lipschitz):
            return found, lipschitz
        lipschitz *= 2


def dot(a: Array, b: Array) -> float:
    """Return Σ a b."""
    return float(np.vdot(a, b))
