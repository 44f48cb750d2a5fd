"""Batch estimators: all rows at once, scikit-learn's interface, and a certificate with every fit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import column_or_1d, validate_data

from gossamer import losses, penalties
from gossamer.batch import solvers
from gossamer.batch.driver import Progress, Solution, solve
from gossamer.batch.objective import Objective
from gossamer.estimators import targets
from gossamer.estimators.callbacks import CallbackSupportMixin, Tasks, with_callbacks
from gossamer.estimators.linear import (
    Linear,
    LinearClassifier,
    LinearRegressor,
    checked_weights,
    class_weighted,
    several_labels,
    some_weight,
)
from gossamer.validation import Array, number

__all__ = ["BatchClassifier", "BatchRegressor"]


class _Batch(CallbackSupportMixin, Linear):
    """What the estimators share: checking, the objective, and the fit."""

    loss: Any
    penalty: Any
    alpha: float
    solver: Any
    tol: float
    max_iter: int
    fit_intercept: bool
    warm_start: bool
    verbose: int

    def _find_targets(self, y: Array, loss: Any) -> targets.Targets:
        raise NotImplementedError

    def _reweighted(self, y: Array, weight: Array | None, coded: targets.Targets) -> Array | None:
        return weight

    def _objective(
        self, X: Any, y: Any, sample_weight: Any, alpha: float
    ) -> tuple[Objective, targets.Targets, tuple[Any, Array, Array | None]]:
        """Check everything; return the problem, how y is coded, and the rows that count: X, y and their weights."""
        number(self.tol, "tol", least=0)
        if not isinstance(self.max_iter, (int, np.integer)) or self.max_iter < 1:
            raise ValueError(f"max_iter must be a whole number, 1 or more; {self.max_iter!r} was given.")
        loss = losses.as_loss(self.loss, "binary" if isinstance(self, ClassifierMixin) else "regression")
        penalty = penalties.as_penalty(self.penalty)
        X, y = checked(self, X, y)
        weight = None if sample_weight is None else some_weight(checked_weights(sample_weight, X.shape[0]))
        coded = self._find_targets(y, loss)
        weight = self._reweighted(y, weight, coded)
        if coded.classes is not None:
            self.classes_ = coded.classes
        if weight is not None and not weight.all():
            some = np.flatnonzero(weight)
            X, y, weight = X[some], y[some], weight[some]
        encoded = coded.encode(y)
        if self.fit_intercept and not coded.loss.has_best_intercept:
            apart = next(name for name, make in losses.LOSSES.items() if make().joint() == coded.loss)
            raise ValueError(
                f"{coded.loss.label} in batch goes without an intercept: use fit_intercept=False, or {apart!r}, which "
                "is one against the rest."
            )
        objective = Objective(
            X,
            encoded,
            coded.loss,
            penalty,
            alpha,
            outputs=coded.outputs,
            sample_weight=weight,
            fit_intercept=bool(self.fit_intercept),
        )
        objective.penalty_at(objective.origin())  # a penalty for other shapes says so here
        return objective, coded, (X, y, weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        objective, coded, _ = self._objective(X, y, sample_weight, number(self.alpha, "alpha", least=0))
        solver = solvers.resolve(self.solver, objective)
        shape = (objective.features, objective.outputs)
        start = self._weights() if self.warm_start and hasattr(self, "coef_") else None
        start = start if start is not None and start.shape == shape else None
        tasks = Tasks(self, X, y, "iteration")

        def report(progress: Progress) -> bool:
            if self.verbose:
                printed(progress)
            shown = {"_targets": coded, "operations_": progress.operations}
            return tasks.turn(lambda: {**shown, **_shown(coded, progress.W, progress.intercept)})

        solution = solve(
            objective,
            solver,
            tol=self.tol,
            max_iter=self.max_iter,
            start=start,
            report=report if self.verbose or tasks.heard else None,
        )
        warn_if_short(solution, objective, self.tol)
        self._targets = coded
        self._show(solution)
        tasks.finish()
        return self

    def _show(self, solution: Solution) -> None:
        self.__dict__.update(_shown(self._targets, solution.W, solution.intercept))
        self.objective_ = solution.certificate.objective
        self.dual_gap_ = solution.certificate.gap
        self.certificate_ = solution.certificate.name
        self.n_iter_ = max(solution.iterations, 1)
        self.operations_ = solution.operations

    def _weights(self) -> Array:
        """Return W, d × k."""
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else np.atleast_2d(self.coef_)
        return np.ascontiguousarray(coef.T)


def _shown(coded: targets.Targets, W: Array, intercept: Array) -> dict[str, Array]:
    """Return the attributes that users see of the weights."""
    coef = np.ascontiguousarray(W.T)
    return {"coef_": coef[0] if coded.kind == "regression" and coded.flat else coef, "intercept_": intercept}


def checked(estimator: Any, X: Any, y: Any) -> tuple[Any, Array]:
    """Return X as canonical CSR or CSC or a dense array, and y, both checked."""
    if sp.issparse(y):
        y = y.toarray()
    X, y = validate_data(
        estimator,
        X,
        y,
        accept_sparse=("csr", "csc"),
        dtype=[np.float64, np.float32],
        multi_output=True,
        y_numeric=isinstance(estimator, RegressorMixin),
    )
    if X.shape[1] >= 2**31 or X.shape[0] >= 2**31:
        raise ValueError(f"X is {X.shape[0]} × {X.shape[1]}; at most 2^31 - 1 rows and features are possible.")
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if isinstance(estimator, ClassifierMixin) and y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    return X, y


def printed(progress: Progress) -> None:
    """Print a line about an iteration."""
    certificate = progress.certificate
    print(
        f"iteration {progress.iteration}: objective {certificate.objective:.8g}, {certificate.name} "
        f"{certificate.gap:.3g}, {progress.nonzeros} features used, {progress.seconds:.1f} s",
        flush=True,
    )


def warn_if_short(solution: Solution, objective: Objective, tol: float) -> None:
    """Warn if the solver stopped before the gap was small enough."""
    if not solution.converged:
        reached = solution.certificate.gap / objective.scale(solution.certificate.name)
        warnings.warn(
            f"Stopped after {solution.iterations} iterations with a relative {solution.certificate.name} of "
            f"{reached:.2g}, and tol is {tol:g}. Allow more iterations (max_iter), accept a larger tol, scale the "
            "features, or try another solver.",
            ConvergenceWarning,
            stacklevel=4,
        )


class BatchClassifier(LinearClassifier, _Batch):
    """A sparse linear classifier learned from all rows at once: minimise mean loss + α·Ω(w), with a certificate.

    Two classes make one output; more make one output a class, "logistic" becoming multinomial and other losses one
    against the rest. A matrix y of 0 and 1 makes one output a label.

    Parameters
    ----------
    loss : str or loss, default "logistic"
        A classification loss, or an object with `value(z, y)` and `slope(z, y)`, y = ±1.
    penalty : str, penalty or set, default "l1"
        Ω, a set that the weights stay in, or an object with `value(w)` and `prox(v, step)`.
    alpha : float, default 1e-4
        The strength α ≥ 0 of the penalty.
    solver : str or solver, default "auto"
        How to minimise; "auto" chooses by loss and penalty. See docs/batch.md.
    tol : float, default 1e-4
        Stop when the gap is at most this share of the loss of the empty model.
    max_iter : int, default 1000
        Iterations; of the cheap ones of "fobos", "fista", "sparsa" and "projected_gradient" ten count as one.
    fit_intercept : bool, default True
        Whether there is an intercept. It is never penalised, and always exact.
    class_weight : dict, "balanced" or None
        Weights of the classes.
    warm_start : bool, default False
        Whether `fit` starts from the weights of the fit before.
    verbose : int, default 0
        1 prints a line an iteration.

    Attributes
    ----------
    coef_, intercept_ : arrays
        The weights, one row an output, and the intercepts.
    objective_ : float
        Mean loss + αΩ at the answer.
    dual_gap_ : float
        By how much at most `objective_` is above the minimum, where `certificate_` is "duality gap".
    certificate_ : str
        What `dual_gap_` is: "duality gap", or "prox-gradient residual" where there is no dual point (zero at the
        optimum only, but no bound).
    n_iter_ : int
        Iterations made.
    operations_ : int
        What the solver's products with X cost: 2 for every non-zero of X and output. See docs/batch.md.
    classes_, nonzero_features_, n_features_in_, feature_names_in_
        The classes, the features that are used, the number of features, their names.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = gs.BatchClassifier(alpha=0.01).fit(scale(X), y)
    >>> len(model.nonzero_features_), round(model.score(scale(X), y), 2)
    (9, 0.97)
    >>> model.dual_gap_ < 1e-4
    True
    """

    def __init__(
        self,
        loss: Any = "logistic",
        penalty: Any = "l1",
        alpha: float = 1e-4,
        solver: Any = "auto",
        *,
        tol: float = 1e-4,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        class_weight: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BatchClassifier:
        """Minimise the objective over these rows."""
        return self._fit(X, y, sample_weight)

    def _find_targets(self, y: Array, loss: Any) -> targets.Targets:
        return label_targets(y, loss)

    def _reweighted(self, y: Array, weight: Array | None, coded: targets.Targets) -> Array | None:
        return class_weighted(self.class_weight, y, weight, coded)


def label_targets(y: Array, loss: Any) -> targets.Targets:
    """Return the coding of labels: multinomial for "logistic", one against the rest for other margin losses."""
    if several_labels(y):
        return targets.for_indicators(y, loss)
    classes = targets.distinct(y)
    joint = loss.joint()
    if joint is not None and not joint.has_best_intercept and len(classes) > 2:
        return targets.Targets("one_vs_rest", len(classes), loss, classes)
    return targets.for_labels(classes, loss, False)


class BatchRegressor(LinearRegressor, _Batch):
    """A sparse linear regressor learned from all rows at once: minimise mean loss + α·Ω(w), with a certificate.

    A matrix y makes one output a column; with `GroupL2` a feature leaves all outputs at once.

    Parameters
    ----------
    loss : str or loss, default "squared"
        A regression loss, or an object with `value(z, y)` and `slope(z, y)`.
    penalty, alpha, solver, tol, max_iter, fit_intercept, warm_start, verbose
        As in `BatchClassifier`.

    Attributes
    ----------
    coef_, intercept_ : arrays
        The weights (a vector for a vector y, one row an output otherwise) and the intercepts.
    objective_, dual_gap_, certificate_, n_iter_, operations_, nonzero_features_, n_features_in_, feature_names_in_
        As in `BatchClassifier`.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = gs.BatchRegressor(alpha=0.5).fit(X, y)
    >>> model.nonzero_features_
    array([2, 3, 6, 8])
    """

    def __init__(
        self,
        loss: Any = "squared",
        penalty: Any = "l1",
        alpha: float = 1e-4,
        solver: Any = "auto",
        *,
        tol: float = 1e-4,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BatchRegressor:
        """Minimise the objective over these rows."""
        return self._fit(X, y, sample_weight)

    def _find_targets(self, y: Array, loss: Any) -> targets.Targets:
        return targets.for_regression(y, loss)
