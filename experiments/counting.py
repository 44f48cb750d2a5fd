"""Runs of the methods with their operations counted, as the papers compare them.

An operation is a multiplication with an addition or the like. A product of X with weights, or of its transpose with
slopes, counts 2 for every non-zero of X and output; a prox counts 2 for every weight. A visit of coordinate descent to
a weight (or row of weights) counts two products with its column: one for its slope, one to move the margins. The
estimate of the Lipschitz constant that some solvers begin with is not counted: the papers' begin with a guess.
"""

from __future__ import annotations

import contextlib
import copy
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import gossamer as gs


@dataclass(frozen=True)
class Problem:
    """Mean loss + αΩ over rows X and targets y (±1, or class numbers from 0), without an intercept."""

    X: Any
    y: np.ndarray
    loss: Any
    penalty: Any
    alpha: float
    outputs: int = 1

    @property
    def size(self) -> int:
        """The non-zeros of X."""
        return self.X.nnz if sp.issparse(self.X) else self.X.size

    @property
    def origin(self) -> np.ndarray:
        """Weights of zero: a vector, or d × k."""
        return np.zeros(self.X.shape[1]) if self.outputs == 1 else np.zeros((self.X.shape[1], self.outputs))

    def value(self, W: np.ndarray) -> float:
        """Return F(W)."""
        return float(np.mean(self.loss.value(self.X @ W, self.y)) + self.alpha * self.penalty.value(W))

    def gradient(self, W: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        """Return the gradient of the mean loss over some rows."""
        X, y = self.X[rows], self.y[rows]
        return X.T @ (self.loss.slope(X @ W, y) / len(y))

    def model(self, **settings: Any) -> Any:
        """Return the batch estimator of this problem."""
        settings = {"loss": self.loss, "penalty": self.penalty, "alpha": self.alpha, "fit_intercept": False, **settings}
        if isinstance(self.loss, gs.Multinomial):
            settings["loss"] = "logistic"
        classifies = self.outputs > 1 or isinstance(self.loss, (gs.Logistic, gs.Hinge, gs.SquaredHinge))
        return (gs.BatchClassifier if classifies else gs.BatchRegressor)(**settings)

    def weights(self, model: Any) -> np.ndarray:
        """Return the weights of an estimator: a vector, or d × k."""
        return np.asarray(model.coef_).reshape(-1) if self.outputs == 1 else np.ascontiguousarray(model.coef_.T)

    def solve(self, tol: float = 1e-8, **settings: Any) -> tuple[np.ndarray, float]:
        """Return the minimiser and the minimum."""
        model = self.model(tol=tol, **settings).fit(self.X, self.y)
        return self.weights(model), float(model.objective_ - model.dual_gap_ / 2)


@dataclass
class Trace:
    """What a run looked like: operations so far, and something measured there."""

    operations: list[float] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def first_under(self, bound: float) -> float:
        """Return the operations at which the values first were at most `bound`, or infinity."""
        return next((o for o, v in zip(self.operations, self.values, strict=True) if v <= bound), float("inf"))

    def at(self, operations: np.ndarray) -> np.ndarray:
        """Return the values at these numbers of operations: those of the last iterate before."""
        number = np.searchsorted(self.operations, operations, side="right") - 1
        return np.asarray(self.values)[np.maximum(number, 0)]


def stochastic(
    problem: Problem, step: Callable[[int], float], batch: int, seed: Any
) -> Iterator[tuple[float, np.ndarray]]:
    """Yield (operations, W) of FOBOS with gradients over random batches, for ever: W ← prox(W − η g, η α).

    With a set as the penalty it is stochastic projected gradient. `batch` = all rows makes it deterministic.
    """
    W, operations, n = problem.origin, 0.0, problem.X.shape[0]
    per_row = 4 * problem.size / n * problem.outputs
    yield operations, W
    t = 0
    while True:
        t += 1
        rows = slice(None) if batch >= n else seed.choice(n, batch, replace=False)
        W = problem.penalty.prox(W - step(t) * problem.gradient(W, rows), step(t) * problem.alpha)
        operations += per_row * min(batch, n) + 2 * W.size
        yield operations, W


def follow(
    iterates: Iterator[tuple[float, np.ndarray]], measure: Callable[[np.ndarray], Any], budget: float, points: int = 200
) -> Trace:
    """Return the trace of iterates up to a budget of operations, measured at about so many points, denser early."""
    trace, due = Trace(), 0.0
    marks = iter(np.append(budget * np.linspace(0, 1, points)[1:] ** 2, np.inf))
    for operations, W in iterates:
        last = operations >= budget
        if operations >= due or last:
            trace.operations.append(operations)
            trace.values.append(measure(W))
            while operations >= due:
                due = next(marks)
        if last:
            return trace
    return trace


def batch(
    problem: Problem, solver: Any, measure: Callable[[np.ndarray], Any], budget: float, tol: float = 1e-9
) -> Trace:
    """Return the trace of a batch solver up to a budget of operations or a gap of `tol`."""
    counted = Counted(solver, problem, measure, budget)
    with warnings.catch_warnings(), contextlib.suppress(Spent):
        warnings.simplefilter("ignore", ConvergenceWarning)
        problem.model(solver=counted, tol=tol, max_iter=100_000).fit(problem.X, problem.y)
    return counted.trace


class Spent(Exception):  # noqa: N818
    """The budget of operations is used up."""


class Counted:
    """A solver as it is, its operations counted: it sees an objective whose products with X are counted."""

    look_every, patience = 1, 1

    def __init__(self, solver: Any, problem: Problem, measure: Callable[[np.ndarray], Any], budget: float) -> None:
        self.solver, self.measure, self.budget = solver, measure, budget
        self.outputs, self.trace, self.operations = problem.outputs, Trace(), 0.0
        self.size, self.per_column = problem.size, problem.size / problem.X.shape[1]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return no settings: this is not for grid search."""
        return {}

    def check(self, objective: Any) -> None:
        """Refuse what the solver refuses; see which features are left out because they cannot matter."""
        self.solver.check(objective)
        self.features, self.kept = objective.features, objective.screened()[1]

    def iterates(self, objective: Any, W: np.ndarray) -> Iterator[Any]:
        """Yield what the solver yields, and keep the trace; raise `Spent` when the budget is."""
        self._note(W)
        objective.lipschitz()
        seen = objective
        if not isinstance(self.solver, gs.CoordinateDescent):
            seen = copy.copy(objective)
            seen.design = Watched(objective.design, self)
        for found in self.solver.iterates(seen, W):
            self._count_visits(found)
            self._note(getattr(found, "W", found))
            if self.operations > self.budget:
                raise Spent
            yield found

    def _count_visits(self, found: Any) -> None:
        visits = getattr(found, "visits", 0)
        if visits:  # coordinate descent: its visits, and one gradient and one product for its next model
            self.operations += 4 * self.outputs * (visits * self.per_column + self.size)

    def _note(self, W: np.ndarray) -> None:
        if self.kept is not None:
            whole = np.zeros((self.features, self.outputs))
            whole[self.kept] = W
            W = whole
        W = W[:, 0] if self.outputs == 1 else W
        self.trace.operations.append(self.operations)
        self.trace.values.append(self.measure(W))


class Watched:
    """The compiled form of X, its products counted."""

    def __init__(self, design: Any, counted: Counted) -> None:
        self._design, self._counted = design, counted

    def __getattr__(self, name: str) -> Any:
        return getattr(self._design, name)

    def margins(self, W: np.ndarray, Z: np.ndarray) -> None:
        """Fill Z with XW."""
        self._counted.operations += 2 * self._counted.size * W.shape[1]
        self._design.margins(W, Z)

    def gradient(self, S: np.ndarray, G: np.ndarray) -> None:
        """Fill G with X'S."""
        self._counted.operations += 2 * self._counted.size * S.shape[1]
        self._design.gradient(S, G)
