"""Runs of the methods with their operations counted, as the papers compare them.

Batch solvers count themselves, as `operations_` of their estimators: every product of X with weights, or of its
transpose with slopes, counts 2 for every non-zero of X and output, those of a power iteration included (docs/batch.md).
The stochastic methods here are counted in the same way, over the rows of a batch. The prox is charged to none.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
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

    @property
    def row_length(self) -> float:
        """The mean length of a row, the paper's G."""
        return float(np.sqrt(self.X.multiply(self.X).sum(axis=1) if sp.issparse(self.X) else (self.X**2).sum(1)).mean())

    @property
    def first_step(self) -> float:
        """The FOBOS paper's c for steps c/√t: D/(√7 G), D = F(0)/α."""
        return self.value(self.origin) / self.alpha / (np.sqrt(7) * self.row_length)

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
    """What a run looked like: operations so far, and something measured there; the first look is at its start.

    `ended` says that the run stopped by itself, at the optimum, and would have stayed there.
    """

    operations: list[float] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    ended: bool = False

    def first_under(self, bound: float) -> float:
        """Return the operations at which the values first were at most `bound`, or infinity."""
        return next((o for o, v in zip(self.operations, self.values, strict=True) if v <= bound), float("inf"))

    @property
    def first_look(self) -> float:
        """The operations at the first look after the start."""
        return self.operations[1]

    def at(self, operations: Any) -> np.ndarray:
        """Return the values at these numbers of operations, between the looks before and after.

        Where there is no such look the value is NaN: before the first one after the start, and after the last one of a
        run that did not end by itself.
        """
        wanted, values = np.asarray(operations, float), np.asarray(self.values, float)
        columns = values.reshape(len(values), -1).T
        found = np.stack([np.interp(wanted, self.operations, column) for column in columns], axis=-1)
        late = (wanted > self.operations[-1]) & (not self.ended)
        found[(wanted < self.first_look) | late] = np.nan
        return found.reshape(wanted.shape + values.shape[1:])


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
        operations += per_row * min(batch, n)
        yield operations, W


@dataclass(frozen=True)
class Until:
    """When a run is over: when its operations are spent, or later, when it is within `close`, and then at `most`."""

    budget: float
    close: float = np.inf
    most: float = 0.0

    def over(self, operations: float, value: Any) -> bool:
        """Return whether the run is over."""
        return operations >= self.budget and (self.most <= operations or value <= self.close)


def follow(
    iterates: Iterator[tuple[float, np.ndarray]],
    measure: Callable[[np.ndarray], Any],
    until: float | Until,
    points: int = 200,
) -> Trace:
    """Return the trace of iterates up to a budget of operations, measured at about so many points, denser early.

    Beyond the budget (see `Until`) they are measured after every hundredth of what has been done.
    """
    until = until if isinstance(until, Until) else Until(until)
    trace, due = Trace(), 0.0
    marks = iter(until.budget * np.linspace(0, 1, points)[1:] ** 2)
    for operations, W in iterates:
        if operations >= due:
            trace.operations.append(operations)
            trace.values.append(measure(W))
            if until.over(operations, trace.values[-1]):
                return trace
            while operations >= due:
                due = next(marks, 1.01 * operations)
    return trace


def batch(
    problem: Problem, solver: Any, measure: Callable[[np.ndarray], Any], until: float | Until, tol: float = 1e-9
) -> Trace:
    """Return the trace of a batch solver, of its best weights so far, up to a budget or a gap of `tol`."""
    until = until if isinstance(until, Until) else Until(until)
    if "look_every" in solver.get_params():
        solver = replace(solver, look_every=1)
    follower = Follower(problem, measure, until)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = problem.model(solver=solver, tol=tol, max_iter=100_000)
        model.set_callbacks(follower).fit(problem.X, problem.y)
    follower.trace.ended = not follower.stopped
    return follower.trace


class Follower:
    """A callback (of scikit-learn 1.9) that measures every iteration, and stops the fit when the run is over."""

    def __init__(self, problem: Problem, measure: Callable[[np.ndarray], Any], until: Until) -> None:
        self.problem, self.measure, self.until, self.stopped = problem, measure, until, False
        self.trace = Trace([0.0], [measure(problem.origin)])

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> bool:
        """Take note of an iteration; return whether to stop."""
        if fitted_estimator is None or context.task_name != "iteration":
            return False
        self.trace.operations.append(fitted_estimator.operations_)
        self.trace.values.append(self.measure(self.problem.weights(fitted_estimator)))
        self.stopped = self.until.over(fitted_estimator.operations_, self.trace.values[-1])
        return self.stopped

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing, as in the two methods after this."""

    on_fit_task_begin = teardown = setup
