"""Batch estimators: all rows at once, scikit-learn's interface, and a certificate with every fit."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from gossamer import losses, penalties
from gossamer.batch import solvers
from gossamer.batch.driver import Progress, Solution, solve
from gossamer.batch.objective import Objective
from gossamer.estimators import inputs, targets, units, wide
from gossamer.estimators.grouped import with_groups
from gossamer.estimators.inputs import checked_offset, checked_weights
from gossamer.estimators.linear import (
    Linear,
    LinearClassifier,
    LinearRegressor,
    Tasks,
    checked,
    class_weighted,
    refuse_huge,
    several_labels,
    some_weight,
    with_callbacks,
)
from gossamer.estimators.mistakes import chosen_strength
from gossamer.validation import FEWER, Array, check_memory, number, whole

__all__ = ["BatchClassifier", "BatchRegressor"]


class _Batch(Linear):
    """What the estimators share: checking, the objective, and the fit."""

    loss: Any
    penalty: Any
    alpha: float
    solver: Any
    tol: float
    max_iter: int
    fit_intercept: bool
    standardize: Any = False
    warm_start: bool
    verbose: int

    def _find_targets(self, y: Array, loss: Any) -> targets.Targets:
        return label_targets(y, loss) if isinstance(self, ClassifierMixin) else targets.for_regression(y, loss)

    def _objective(
        self, X: Any, y: Any, sample_weight: Any, alpha: float, offset: Any = None
    ) -> tuple[Objective, targets.Targets, tuple[Any, Array, Array | None, Array | None, Array | None]]:
        """Check everything; return the problem, how y is coded, and the rows that count.

        These are X, y, their weights and offsets, and their numbers, or None if all rows count.
        """
        number(self.tol, "tol", least=0)
        whole(self.max_iter, "max_iter")
        loss = losses.as_loss(self.loss, "binary" if isinstance(self, ClassifierMixin) else "regression")
        penalty = penalties.as_penalty(self.penalty)
        X, y = checked(self, X, y, ("csr", "csc"))
        refuse_huge(self, X)
        weight = None if sample_weight is None else some_weight(checked_weights(sample_weight, X.shape[0]))
        coded = self._find_targets(y, loss)
        weight = class_weighted(getattr(self, "class_weight", None), y, weight, coded)
        if offset is not None:
            offset = checked_offset(offset, X.shape[0])
            coded.check_offset()
        if coded.classes is not None:
            self.classes_ = coded.classes
        some = None
        if weight is not None and not weight.all():
            some = np.flatnonzero(weight)
            X, y, weight = X[some], y[some], weight[some]
            offset = None if offset is None else offset[some]
        encoded, width = coded.encode(y), X.shape[1]
        penalty = with_groups(self, penalty, width)
        self._groups = penalty.groups
        X, penalty, columns = _narrowed(X, penalty, coded.outputs)
        spread = units.spreads(X, weight) if units.standardizes(self.standardize, not sp.issparse(X)) else None
        X = X if spread is None else units.divided(X, spread)
        if self.fit_intercept and not coded.loss.has_best_intercept:
            apart = next(name for name, make in losses.LOSSES.items() if make().joint() == coded.loss)
            raise ValueError(
                f"{coded.loss.label} in batch goes without an intercept: use fit_intercept=False, or {apart!r}, which "
                "is one-vs-rest."
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
            offset=offset,
            columns=columns,
            width=width,
            spread=spread,
        )
        objective.penalty_at(objective.origin())  # raises if the penalty does not fit the shape of W
        return objective, coded, (X, y, weight, offset, some)

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any, options: dict[str, Any]) -> Any:
        new = copy.copy(self)  # it learns: if anything raises, the estimator is unchanged
        X, y, sample_weight, offset = inputs.matrix(new, X, y, sample_weight, offset, options)
        objective, coded, _ = new._objective(X, y, sample_weight, chosen_strength(self), offset)
        solver = solvers.resolve(self.solver, objective)
        shape = (objective.features, objective.outputs)
        start = self._weights(objective.columns) if self.warm_start and hasattr(self, "coef_") else None
        start = start if start is not None and start.shape == shape else None
        if start is not None and objective.spread is not None:
            start = start * objective.spread[:, None]
        tasks = Tasks(self, X, y, "iteration")

        def report(progress: Progress) -> bool:
            if self.verbose:
                printed(progress)
            shown = {"_targets": coded, "operations_": progress.operations}
            return tasks.turn(lambda: {**shown, **_shown(coded, coef_of(objective, progress.W), progress.intercept)})

        solution = solve(
            objective,
            solver,
            tol=self.tol,
            max_iter=self.max_iter,
            start=start,
            report=report if self.verbose or tasks.heard else None,
        )
        warn_if_short(solution, objective, self.tol)
        new._targets = coded
        new._show(solution, coef_of(objective, solution.W))
        self._become(new)
        tasks.finish()
        return self

    def fit_source(self, source: Any, *, memory: float | None = None, **options: Any) -> Any:
        r"""Minimise the objective over a source (see `gossamer.source`) that may be larger than memory.

        The source is read several times. A sample of its rows says which columns matter; these are solved in memory,
        and a last pass proves the duality gap over all columns. If they do not fit, proximal Newton reads the source in
        every step (smooth losses only). The answer is that of `fit`, with the same certificate.

        Parameters
        ----------
        source : path, list of paths, data frame, source, …
            What `gossamer.source` takes, with its options.
        memory : float, optional
            The bytes that the data may take in memory; by default half of what is free. What cannot be done in it
            raises a MemoryError that says how much is needed, after the first pass and before anything is solved.
        **options
            Of `gossamer.source`.

        Examples
        --------
        >>> import gossamer as gs
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "rows.svm")
        >>> _ = path.write_text("1 1:0.5 2:2\n-1 1:1\n1 2:1\n-1 1:3 2:0.5\n" * 50)
        >>> model = gs.BatchClassifier(alpha=0.01).fit_source(path, memory=60_000)
        >>> model.dual_gap_ < 1e-4, model.n_passes_
        (True, 3)
        """
        from gossamer.batch import streamed

        return streamed.fit(self, source, memory, options, _shown)

    def _become(self, new: _Batch) -> None:
        """Take over what a copy has learned."""
        inputs.forget(self)
        self.__dict__.update(new.__dict__)

    def _show(self, solution: Solution, coef: Any) -> None:
        self.__dict__.update(_shown(self._targets, coef, solution.intercept))
        self.objective_ = solution.certificate.objective
        self.dual_gap_ = solution.certificate.gap
        self.certificate_ = solution.certificate.name
        self.n_iter_ = max(solution.iterations, 1)
        self.operations_ = solution.operations

    def _weights(self, columns: Array | None) -> Array:
        """Return W, one row for each of some features (None: all), one column per output."""
        coef: Any = sp.csr_array(self.coef_) if sp.issparse(self.coef_) else np.atleast_2d(self.coef_)
        if columns is not None and columns[-1] < coef.shape[1]:
            coef = wide.selected(coef, columns) if sp.issparse(coef) else coef[:, columns]
        return np.ascontiguousarray((coef.toarray() if sp.issparse(coef) else coef).T)


def _narrowed(X: Any, penalty: Any, outputs: int) -> tuple[Any, Any, Array | None]:
    """Return X without its empty columns, the penalty over the others, and their numbers; None if X stays as it is.

    That is exact for a sum over features or groups that is smallest at zero: the weights of the other columns are zero.
    """
    columns = wide.touched(X)
    grouped = penalty.on_rows and penalty.groups is not None
    fits = grouped or penalty.weights is None or len(penalty.weights) == X.shape[1]
    if columns is not None and (grouped or penalty.sums_over_features) and fits:
        smaller = penalty.restricted(columns)
        if not smaller.prox(np.zeros((len(columns), 1)), 0.0).any():
            return wide.selected(X, columns), smaller, columns
    arrays = 8 * 8 * X.shape[1] * outputs  # weights, gradients and what solvers keep, of 8 bytes each
    check_memory(arrays, f"A fit with {X.shape[1]:,} features", FEWER)
    return X, penalty, None


def coef_of(objective: Objective, W: Array) -> Any:
    """Return the weights of all columns of the data as given, one row per output; sparse if there are very many."""
    W = objective.in_given_units(W)
    return (
        np.ascontiguousarray(W.T) if objective.columns is None else wide.spread(W, objective.columns, objective.width)
    )


def _shown(coded: targets.Targets, coef: Any, intercept: Array) -> dict[str, Any]:
    """Return `coef_` and `intercept_`."""
    flat = coded.kind == "regression" and coded.flat and not sp.issparse(coef)
    return {"coef_": coef[0] if flat else coef, "intercept_": intercept}


def printed(progress: Progress) -> None:
    """Print one line about an iteration."""
    certificate = progress.certificate
    print(
        f"iteration {progress.iteration}: objective {certificate.objective:.8g}, {certificate.name} "
        f"{certificate.gap:.3g}, {progress.nonzeros} features used, {progress.seconds:.1f} s",
        flush=True,
    )


def warn_if_short(solution: Solution, objective: Objective, tol: float) -> None:
    """Warn if the solver stopped before the gap was small enough."""
    if solution.interrupted:
        warnings.warn(
            f"Interrupted after {solution.iterations} iterations: the best weights so far are kept.", stacklevel=4
        )
    elif not solution.converged:
        reached = solution.certificate.gap / objective.scale(solution.certificate.name)
        warnings.warn(
            f"Stopped after {solution.iterations} iterations with a relative {solution.certificate.name} of "
            f"{reached:.2g}, and tol is {tol:g}. {advice(objective)}",
            ConvergenceWarning,
            stacklevel=4,
        )


def advice(objective: Objective) -> str:
    """Return what helps where a gap stays large."""
    start = "Allow more iterations (max_iter), accept a larger tol, "
    if objective.smooth:
        return start + "scale the features, or try another solver."
    return start + f"or use a loss without kinks, such as {objective.loss.smooth_kin!r}."


class BatchClassifier(LinearClassifier, _Batch):
    """A sparse linear classifier learned from all rows at once: minimise mean loss + α·Ω(w), with a certificate.

    Two classes make one output; more make one output per class, with "logistic" becoming multinomial and other
    losses one-vs-rest. A matrix y of 0 and 1 makes one output per label.

    Parameters
    ----------
    loss : str or loss, default "logistic"
        A classification loss, or an object with `value(z, y)` and `slope(z, y)`, y = ±1.
    penalty : str, penalty or set, default "l1"
        Ω, a set that the weights stay in, or an object with `value(w)` and `prox(v, step)`.
    alpha : float, default 1e-4
        The regularization strength α ≥ 0.
    solver : str or solver, default "auto"
        How to minimise; "auto" chooses by loss and penalty. See docs/batch.md.
    tol : float, default 1e-4
        Stop when the duality gap is at most this fraction of the loss of the empty model.
    max_iter : int, default 1000
        The most iterations; ten cheap ones of "fobos", "fista", "sparsa" and "projected_gradient" count as one.
    fit_intercept : bool, default True
        Whether to fit an intercept. It is never penalised, and always optimal.
    standardize : bool or "auto", default False
        Whether columns are in units of their standard deviation while fitting, so that Ω treats all alike; "auto" does
        so for arrays, not for sparse matrices. Columns are not centred, which would change nothing but the intercept,
        so sparse data stays sparse. `coef_` is in the units of X; `alpha`, the weights of Ω, `objective_` and the
        certificate are those of the standardised problem: mean loss + α·Ω(s·w), s the standard deviations.
    class_weight : dict, "balanced" or None
        Weights of the classes.
    warm_start : bool, default False
        Whether `fit` starts from the weights of the previous fit.
    verbose : int, default 0
        1 prints one line per iteration.

    Attributes
    ----------
    coef_, intercept_ : arrays
        The weights, one row per output, and the intercepts. `coef_` is a sparse matrix, as after `sparsify`, if X has
        more than 2^26 columns times outputs and most of them are empty.
    objective_ : float
        Mean loss + αΩ at the answer.
    dual_gap_ : float
        An upper bound on `objective_` − minimum, if `certificate_` is "duality gap".
    certificate_ : str
        What `dual_gap_` is: "duality gap", or "prox-gradient residual" if there is no dual point. The residual is zero
        at the optimum only, but it is no bound.
    n_iter_ : int
        Number of iterations.
    operations_ : int
        The cost of the solver's products with X: 2 per non-zero of X and output. See docs/batch.md.
    classes_, nonzero_features_, nonzero_groups_, n_features_in_, feature_names_in_
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
        standardize: Any = False,
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
        self.standardize = standardize
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, **options: Any
    ) -> BatchClassifier:
        """Minimise the objective over these rows.

        X is a matrix; or a file, a data frame, an Arrow table or a source with columns of any kind. Then y may be left
        out, and `options` are those of `gossamer.source`: ``fit("prices.csv", target="price")``. `offset` is one number
        per row that is added to its scores and not learned.
        """
        return self._fit(X, y, sample_weight, offset, options)


def label_targets(y: Array, loss: Any) -> targets.Targets:
    """Return the coding of labels: multinomial for "logistic", one-vs-rest for other margin losses."""
    if several_labels(y):
        return targets.for_indicators(y, loss)
    classes = targets.distinct(y)
    joint = loss.joint()
    if joint is not None and not joint.has_best_intercept and len(classes) > 2:
        return targets.Targets("one_vs_rest", len(classes), loss, classes)
    return targets.for_labels(classes, loss, False)


class BatchRegressor(LinearRegressor, _Batch):
    """A sparse linear regressor learned from all rows at once: minimise mean loss + α·Ω(w), with a certificate.

    A matrix y makes one output per column; with `GroupL2` a feature is zero for all outputs at once.

    Parameters
    ----------
    loss : str or loss, default "squared"
        A regression loss, or an object with `value(z, y)` and `slope(z, y)`.
    penalty, alpha, solver, tol, max_iter, fit_intercept, standardize, warm_start, verbose
        As in `BatchClassifier`.

    Attributes
    ----------
    coef_, intercept_ : arrays
        The weights (a vector for a vector y, one row per output otherwise) and the intercepts.
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
        standardize: Any = False,
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
        self.standardize = standardize
        self.warm_start = warm_start
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, **options: Any
    ) -> BatchRegressor:
        """Minimise the objective over these rows.

        X, `offset` and `options` are as in `BatchClassifier.fit`.
        """
        return self._fit(X, y, sample_weight, offset, options)
