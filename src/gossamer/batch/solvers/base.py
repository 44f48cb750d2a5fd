"""The base classes of solvers.

A solver is a frozen record with two methods:

- ``check(objective)`` raises an error that says why, if it cannot solve the problem;
- ``iterates(objective, W)`` yields better and better weights from W on, without end: arrays W, or `Point` if loss and
  gradient are known. `gossamer.batch.driver` stops it, prints, and chooses the solution.
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
    """Settings as scikit-learn sees them, and checks that several solvers share."""

    look_every: int = 1  # iterations between two certificates; a setting if iterations are cheap
    narrows: ClassVar[bool] = False  # whether it is fast where few features are left
    patience: ClassVar[int] = 1  # how many of its iterations count as one for `max_iter`

    def check(self, objective: Objective) -> None:
        """Raise if this solver cannot solve the problem."""
        raise NotImplementedError

    def iterates(self, objective: Objective, W: Array) -> Iterator[Array | Point]:
        """Yield better and better weights from W on."""
        raise NotImplementedError

    def begin(self, objective: Objective, start: Point) -> Point:
        """Return the point at which it starts, if that is the last one of another strength."""
        return start

    def refuse(self, what: str, why: str, instead: str) -> ValueError:
        """Return the error that says what the solver does not handle, why, and what to use."""
        return ValueError(f"{type(self).__name__} does not go with {what}: {why} {instead}")

    def needs_a_slope(self, objective: Objective) -> None:
        """Raise if the loss has kinks."""
        if not objective.smooth:
            raise self.refuse(objective.loss.label, "the loss has kinks.", "Use solver='fobos', or a smooth loss.")


class FirstOrder(Solver):
    """One gradient and one prox per iteration: cheap, so ten count as one, and the gap is computed now and then."""

    patience = 10

    def __post_init__(self) -> None:
        number(self.look_every, "look_every", least=1)

    def check(self, objective: Objective) -> None:
        """Refuse losses with kinks."""
        self.needs_a_slope(objective)


def proximal_step(
    objective: Objective, point: Point, lipschitz: float, look: Callable[[Array], tuple[float, Found]]
) -> tuple[Found, float]:
    """Return the result of `look` at V = prox(W − g/L, α/L), and L, doubled until f(V) is below its quadratic bound.

    `look` returns f(V) and its result.
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
