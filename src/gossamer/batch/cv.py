"""Regularisation paths: the strength that zeroes everything, warm-started fits from there on, cross-validation."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from gossamer import losses, penalties
from gossamer.batch import solvers
from gossamer.batch.driver import Solution, solve
from gossamer.batch.estimators import BatchClassifier, BatchRegressor, _Batch, advice, coef_of, printed
from gossamer.batch.objective import Objective, Point
from gossamer.estimators import inputs, parallel, targets
from gossamer.estimators.linear import LinearClassifier, LinearRegressor, Tasks, with_callbacks
from gossamer.estimators.selection import SELECT, selected
from gossamer.validation import Array, checked_alphas, number, one_of, thread_count

__all__ = ["BatchClassifierCV", "BatchRegressorCV", "RegularizationPath", "alpha_max", "regularization_path"]


def _problem(
    X: Any,
    y: Any,
    loss: Any,
    penalty: Any,
    fit_intercept: bool,
    standardize: Any,
    sample_weight: Any,
    offset: Any,
) -> Objective:
    regression = losses.as_loss(loss).kind == "regression"
    estimator: Any = BatchRegressor if regression else BatchClassifier
    model = estimator(loss=loss, penalty=penalty, fit_intercept=fit_intercept, standardize=standardize)
    X, y, sample_weight, offset = inputs.matrix(model, X, y, sample_weight, offset, {})
    return model._objective(X, y, sample_weight, 1.0, offset)[0]


def alpha_max(
    X: Any,
    y: Any,
    *,
    loss: Any = "squared",
    penalty: Any = "l1",
    fit_intercept: bool = True,
    standardize: Any = False,
    sample_weight: Any = None,
    offset: Any = None,
) -> float:
    """Return the smallest regularization strength α at which all penalised weights are zero.

    It is the dual norm of the gradient at w = 0 with the best intercept: w = 0 is optimal if and only if −g ∈ α ∂Ω(0).
    Features whose weight in the penalty is 0 are fitted first.

    Parameters
    ----------
    X, y : arrays
        The data, as estimators take it; a classification loss makes y labels.
    loss, penalty : str or object
        As in `BatchClassifier` and `BatchRegressor`.
    fit_intercept : bool, default True
        Whether to fit an intercept.
    standardize : bool or "auto", default False
        As in `BatchClassifier`: the strength is that of the standardised problem.
    sample_weight, offset : vectors, optional
        One weight, and one offset of the scores, per row.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> top = gs.alpha_max(X, y)
    >>> gs.BatchRegressor(alpha=top).fit(X, y).nonzero_features_
    array([], dtype=int64)
    >>> gs.BatchRegressor(alpha=0.9 * top).fit(X, y).nonzero_features_
    array([2, 8])
    """
    return _alpha_max(_problem(X, y, loss, penalty, fit_intercept, standardize, sample_weight, offset))


def _alpha_max(objective: Objective) -> float:
    penalty = objective.penalty
    if penalty.is_set or not penalty.has_dual_norm:
        raise ValueError(f"{penalty.label} has no strength that makes all weights zero; give alphas yourself.")
    W = np.zeros((objective.features, objective.outputs))
    kept = penalty.unpenalised()
    if kept is not None:
        free = objective.restricted(kept, penalties.NoPenalty())
        W[kept] = solve(free, solvers.resolve("auto", free), tol=1e-10).W
        G = objective.at(W).gradient
        G[kept] = 0
    else:
        G = objective.at(W).gradient
    top = float(penalty.dual_norm(-objective._as_given(G)))
    if not math.isfinite(top):
        raise ValueError(f"{penalty.label} never makes all weights zero, whatever the strength; give alphas yourself.")
    return top


def _grid(alphas: Any, objective: Objective, ratio: float) -> Array:
    """Return decreasing strengths: those given, or a grid from α_max down to a fraction of it."""
    alphas = checked_alphas(alphas)
    if not isinstance(alphas, int):
        return alphas
    top = _alpha_max(objective) or 1.0
    return top * np.geomspace(1.0, number(ratio, "alpha_min_ratio", above=0, below=1), alphas)


@dataclass(frozen=True)
class RegularizationPath:
    """Fits along decreasing regularization strengths.

    After Ctrl-C it holds the strengths that were solved before.

    Attributes
    ----------
    alphas : vector
        The strengths, decreasing.
    coefs : list of sparse matrices
        The weights at each, outputs × features.
    intercepts : array
        One row per strength, one column per output.
    objectives, dual_gaps : vectors
        F at each solution, and an upper bound on F − min F.
    certificate : str
        What `dual_gaps` holds: "duality gap" or "prox-gradient residual".
    nonzeros : vector
        Features used at each strength.
    n_iters : vector
        Iterations at each.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> gs.regularization_path(X, y, alphas=4).nonzeros
    array([0, 4, 7, 8])
    """

    alphas: Array
    coefs: list[Any]
    intercepts: Array
    objectives: Array
    dual_gaps: Array
    certificate: str
    nonzeros: Array
    n_iters: Array


def regularization_path(
    X: Any,
    y: Any,
    *,
    loss: Any = "squared",
    penalty: Any = "l1",
    alphas: Any = 50,
    alpha_min_ratio: float = 1e-2,
    solver: Any = "auto",
    tol: float = 1e-4,
    max_iter: int = 1000,
    fit_intercept: bool = True,
    standardize: Any = False,
    sample_weight: Any = None,
    offset: Any = None,
    verbose: int = 0,
) -> RegularizationPath:
    """Fit along decreasing regularization strengths, each with a warm start from the one before.

    Parameters
    ----------
    X, y, loss, penalty, fit_intercept, standardize, sample_weight, offset
        As in `alpha_max`.
    alphas : int or vector, default 50
        The strengths, or their number: then from α_max down.
    alpha_min_ratio : float, default 1e-2
        The last strength divided by the first.
    solver, tol, max_iter, verbose
        As in `BatchClassifier`.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = gs.regularization_path(X, y, alphas=[1.0, 0.5, 0.1])
    >>> path.nonzeros, bool((path.dual_gaps <= 1e-4 * y.var()).all())
    (array([3, 4, 7]), True)
    """
    objective = _problem(X, y, loss, penalty, fit_intercept, standardize, sample_weight, offset)
    strengths = _grid(alphas, objective, alpha_min_ratio)
    kept, solutions = walk(objective, strengths, solver, tol, max_iter, printed if verbose else None)
    if len(solutions) < len(strengths):
        warnings.warn(f"Interrupted: the path ends after {len(solutions)} of {len(strengths)} strengths.", stacklevel=2)
    return _gathered(objective, strengths[: len(solutions)], kept, solutions)


def _gathered(
    objective: Objective, strengths: Array, kept: Array | None, solutions: Sequence[Solution]
) -> RegularizationPath:
    screened = kept
    if objective.columns is not None:
        kept = objective.columns if kept is None else objective.columns[kept]
    coefs = []
    for solution in solutions:
        small = sp.csr_array(objective.in_given_units(solution.W, screened).T)
        if kept is not None:
            shape = (small.shape[0], objective.width)
            small = sp.csr_array((small.data, kept[small.indices], small.indptr), shape=shape)
        coefs.append(small)
    return RegularizationPath(
        strengths,
        coefs,
        np.stack([s.intercept for s in solutions]),
        np.array([s.certificate.objective for s in solutions]),
        np.array([s.certificate.gap for s in solutions]),
        solutions[0].certificate.name,
        np.array([int(np.count_nonzero(s.W.any(axis=1))) for s in solutions]),
        np.array([s.iterations for s in solutions]),
    )


def walk(
    objective: Objective, strengths: Array, solver: Any, tol: float, max_iter: int, report: Any
) -> tuple[Array | None, list[Solution]]:
    """Return the features that are not screened out (None: all), and the solutions over them, one per strength.

    Ctrl-C ends the path before the strength at which it comes; before the first strength is solved, it is raised.
    """
    smaller, kept = objective.with_alpha(float(strengths[-1])).screened()
    chosen = solvers.resolve(solver, smaller)
    solutions: list[Solution] = []
    try:
        for solution in _solutions(smaller, strengths, chosen, tol, max_iter, report):
            solutions.append(solution)
    except KeyboardInterrupt:
        if not solutions:
            raise
    short = [_gap(smaller, a, s) for a, s in zip(strengths, solutions, strict=False) if not s.converged]
    _warn_of_short(smaller, short, len(solutions), tol)
    return kept, solutions


def _gap(objective: Objective, alpha: float, solution: Solution) -> tuple[float, float, str]:
    """Return the relative gap of a solution, its strength, and what its gap is."""
    name = solution.certificate.name
    return solution.certificate.gap / objective.with_alpha(float(alpha)).scale(name), float(alpha), name


def _warn_of_short(objective: Objective, short: list[tuple[float, float, str]], count: int, tol: float) -> None:
    """Warn if some fits of a path stopped before their gap was small enough."""
    if not short:
        return
    far, worst, name = max(short)
    what = advice(objective)
    warnings.warn(
        f"{len(short)} of {count} fits of the path stopped early, with a relative {name} of up to {far:.2g} "
        f"(at alpha={worst:.3g}), and tol is {tol:g}. Use larger alphas, or {what[0].lower()}{what[1:]}",
        ConvergenceWarning,
        stacklevel=5,
    )


def _solutions(
    objective: Objective, strengths: Array, solver: Any, tol: float, max_iter: int, report: Any
) -> Iterator[Solution]:
    """Yield the solution at each strength, started at the one before; Ctrl-C is raised."""
    start: Array | Point | None = None
    for alpha in strengths:
        solution = solve(
            objective.with_alpha(float(alpha)),
            solver,
            start=start,
            tol=tol,
            max_iter=max_iter,
            report=report,
            screen=False,
        )
        if solution.interrupted:
            raise KeyboardInterrupt
        yield solution
        start = solution.W if solution.point is None else solution.point


def _select(select: str, rule: str) -> str:
    """Return how to choose a strength; `rule` is the former name of `select`."""
    if rule == "deprecated":
        return one_of(select, "select", SELECT)
    words = {"best": "best", "one_standard_error": "sparsest"}
    if rule not in words:
        raise ValueError(f"rule must be 'one_standard_error' or 'best'; {rule!r} was given.")
    warnings.warn(f"rule={rule!r} is deprecated; use select={words[rule]!r}.", FutureWarning, stacklevel=4)
    return words[rule]


def _splitter(cv: Any, y: Array, stratified: bool) -> Any:
    """Return what splits the rows: as scikit-learn does; five folds of shuffled rows where nothing is said.

    Rows are often in an order (by place, by time of entry), and folds of neighbours ask a model about what it has not
    seen: that chooses too strong a penalty.
    """
    usual = check_cv(cv, y, classifier=stratified)
    return type(usual)(5, shuffle=True, random_state=0) if cv is None else usual


def _of_some(folds: list[tuple[Array, Array]], some: Array, count: int) -> list[tuple[Array, Array]]:
    """Return folds of `count` rows as folds of some of them."""
    place = np.full(count, -1)
    place[some] = np.arange(len(some))
    numbered = [(place[train], place[test]) for train, test in folds]
    found = [(train[train >= 0], test[test >= 0]) for train, test in numbered]
    if not all(len(train) and len(test) for train, test in found):
        raise ValueError("A fold of cv has no row with a positive weight to learn from or to judge by.")
    return found


class _CrossValidated(_Batch):
    """Chooses α by cross-validation: the path of all rows, then a path per fold and the losses of the rows left out."""

    alphas: Any
    alpha_min_ratio: float
    cv: Any
    select: str
    rule: str
    n_jobs: int | None

    def _fit_path(self, X: Any, y: Any, sample_weight: Any, offset: Any, options: dict[str, Any]) -> Any:
        select = _select(self.select, self.rule)
        new = copy.copy(self)  # it learns: if anything raises, the estimator is unchanged
        X, y, sample_weight, offset = inputs.matrix(new, X, y, sample_weight, offset, options)
        given = X, y
        objective, coded, (X, y, weight, offset, some) = new._objective(X, y, sample_weight, 1.0, offset)
        strengths = _grid(self.alphas, objective, self.alpha_min_ratio)
        stratified = coded.classes is not None and coded.kind != "multilabel"
        if some is None or self.cv is None or isinstance(self.cv, int):
            folds = list(_splitter(self.cv, y, stratified).split(X, y))
        else:  # the user's folds number the rows as they were given
            folds = _of_some(
                list(check_cv(self.cv, given[1], classifier=stratified).split(*given)), some, np.shape(given[1])[0]
            )

        tasks = Tasks(self, X, y, "fold", len(folds) + 1)  # the first one is the path of all rows
        kept, solutions = walk(
            objective, strengths, self.solver, self.tol, self.max_iter, printed if self.verbose else None
        )
        complete = len(solutions) == len(strengths)
        tasks.turn(dict)
        judged = [_Fold(self, objective, coded, strengths, (X, y, weight, offset), *fold) for fold in folds if complete]
        try:
            self._judge(judged, len(strengths), stops=isinstance(self.alphas, (int, np.integer)))
        except KeyboardInterrupt:
            complete = False
        for fold in judged:
            fold.warn(self.tol)
            tasks.turn(dict)
        strengths = strengths[: len(solutions)]
        path = _gathered(objective, strengths, kept, solutions)
        new._targets = coded
        new.alphas_, new.path_nonzeros_ = strengths, path.nonzeros
        found = _losses(judged, len(strengths))
        new.path_loss_, new.path_loss_se_ = _mean_and_error(found, len(strengths))
        best = len(strengths) - 1  # where no fold has judged anything
        if len(found):
            best = selected(select, new.path_loss_, _errors_of_differences(found), new.path_nonzeros_)
        new.alpha_ = float(strengths[best])
        new.coef_path_, new.intercept_path_ = path.coefs, path.intercepts
        W = solutions[best].W
        if kept is not None:
            W = np.zeros((objective.features, objective.outputs))
            W[kept] = solutions[best].W
        new._show(solutions[best], coef_of(objective, W))
        if not complete:
            known = int(np.isfinite(new.path_loss_).sum())
            where = "" if known == len(strengths) else f" at {known} of {len(strengths)} strengths"
            chosen = (
                f"chosen by {len(found)} of {len(folds)} folds{where}" if len(found) else "the smallest that was solved"
            )
            warnings.warn(f"Interrupted: alpha_ is {chosen}.", stacklevel=3)
        self._become(new)
        tasks.finish()
        return self

    def _judge(self, folds: list[_Fold], strengths: int, stops: bool) -> None:
        """Take all folds along the path, a few strengths at a time; stop where weaker ones get worse and worse."""
        at_once = AT_ONCE if stops else strengths
        for end in range(at_once, strengths + at_once, at_once):
            goes = partial(_Fold.go, end=min(end, strengths))
            for i, fold in enumerate(parallel.each(goes, folds, thread_count(self.n_jobs))):
                if self.verbose:
                    print(f"fold {i + 1} of {len(folds)}: {fold.words()}", flush=True)
            if stops and folds and _gets_worse(np.array([fold.losses for fold in folds])):
                return


AT_ONCE = 10  # strengths that all folds do before it is seen whether weaker ones may still be better


def _gets_worse(losses: Array) -> bool:
    """Return whether the mean loss has risen at ten strengths, to two standard errors above the best and more.

    >>> falling = np.linspace(1.0, 0.5, 20)
    >>> rising = np.concatenate([falling, np.linspace(0.5, 0.9, 12)])
    >>> _gets_worse(np.array([falling, falling + 0.1])), _gets_worse(np.array([rising, rising + 0.1]))
    (False, True)
    """
    mean = losses.mean(axis=0)
    best = int(np.argmin(np.where(np.isfinite(mean), mean, np.inf)))
    last = len(mean) - 1
    if last - best < AT_ONCE or len(losses) < 2:
        return False
    away = losses[:, last] - losses[:, best]
    error = float(np.std(away, ddof=1)) / math.sqrt(len(losses))
    return bool(away.mean() > 2 * error and (np.diff(mean[last - AT_ONCE :]) >= 0).all())


class _Fold:
    """A path over some rows, and the losses at its strengths of the rows left out."""

    def __init__(
        self,
        settings: Any,
        objective: Objective,
        coded: targets.Targets,
        strengths: Array,
        data: tuple[Any, Array, Array | None, Array | None],
        train: Array,
        test: Array,
    ) -> None:
        self.settings, self.objective, self.coded, self.strengths, self.data = (
            settings,
            objective,
            coded,
            strengths,
            data,
        )
        self.train, self.test = train, test
        self.losses: list[float] = []
        self.short: list[tuple[float, float, str]] = []
        self._solutions: Any = None

    def go(self, end: int) -> _Fold:
        """Go on until `end` strengths are done."""
        if self._solutions is None:
            self._begin()
        while len(self.losses) < end:
            alpha = self.strengths[len(self.losses)]
            solution = next(self._solutions)
            W = solution.W
            if self.kept is not None:
                W = np.zeros((self.objective.features, self.objective.outputs))
                W[self.kept] = solution.W
            if not solution.converged:
                self.short.append(_gap(self.path_of, alpha, solution))
            self.losses.append(float(self.held_out.mean.value(self.held_out.margins(W), solution.intercept)))
        return self

    def _begin(self) -> None:
        settings = self.settings
        whole = self._over(self.train, self.objective.fit_intercept)
        self.path_of, self.kept = whole.with_alpha(float(self.strengths[-1])).screened()
        self.held_out = self._over(self.test, False)  # the intercept is that of the solution
        solver = solvers.resolve(settings.solver, self.path_of)
        self._solutions = _solutions(self.path_of, self.strengths, solver, settings.tol, settings.max_iter, None)

    def _over(self, rows: Array, fit_intercept: bool) -> Objective:
        X, y, weight, offset = self.data
        objective, coded = self.objective, self.coded
        return Objective(
            X[rows],
            coded.encode(y[rows]),
            coded.loss,
            objective.penalty,
            1.0,
            outputs=coded.outputs,
            sample_weight=None if weight is None else weight[rows],
            fit_intercept=fit_intercept,
            threads=1,
            offset=None if offset is None else offset[rows],
        )

    def warn(self, tol: float) -> None:
        """Warn if some strengths stopped early."""
        if self.short:
            _warn_of_short(self.path_of, self.short, len(self.losses), tol)

    def words(self) -> str:
        """Return how far it is."""
        best = int(np.argmin(self.losses))
        return (
            f"{len(self.losses)} of {len(self.strengths)} strengths, loss {self.losses[-1]:.6g} at alpha "
            f"{self.strengths[len(self.losses) - 1]:.3g}, best {self.losses[best]:.6g} at {self.strengths[best]:.3g}"
        )


def _losses(folds: list[_Fold], strengths: int) -> Array:
    """Return the losses, folds × strengths, nan where not all folds were: of the folds that have judged anything."""
    begun = [fold.losses for fold in folds if fold.losses]
    found = np.full((len(begun), strengths), np.nan)
    common = min(map(len, begun), default=0)
    for row, known in zip(found, begun, strict=True):
        row[:common] = known[:common]
    return found


def _mean_and_error(losses_of_folds: Sequence[Array] | Array, strengths: int) -> tuple[Array, Array]:
    """Return the mean loss over the folds and its standard error, at every strength; nan where there are too few."""
    mean, error = np.full(strengths, np.nan), np.full(strengths, np.nan)
    if len(losses_of_folds):
        mean = np.mean(losses_of_folds, axis=0)
    if len(losses_of_folds) > 1:
        error = np.std(losses_of_folds, axis=0, ddof=1) / math.sqrt(len(losses_of_folds))
    return mean, error


def _errors_of_differences(losses_of_folds: Sequence[Array] | Array) -> Array:
    """Return the standard errors of the differences between the losses at two strengths; 0 for one fold.

    All strengths are judged by the same rows: what makes a fold hard for one makes it hard for all, and says nothing
    about which is better.
    """
    found = np.array(losses_of_folds)
    folds, strengths = found.shape
    if folds < 2:
        return np.zeros((strengths, strengths))
    with np.errstate(invalid="ignore"):  # infinite losses
        differences = found[:, :, None] - found[:, None, :]
        return np.nan_to_num(np.std(differences, axis=0, ddof=1) / math.sqrt(folds), posinf=0.0)


class BatchClassifierCV(LinearClassifier, _CrossValidated):
    """`BatchClassifier` with α chosen by cross-validation along a warm-started path.

    Parameters
    ----------
    loss, penalty, solver, tol, max_iter, fit_intercept, standardize, class_weight, verbose
        As in `BatchClassifier`. The standard deviations are those of all rows, in all folds.
    alphas : int or vector, default 50
        The strengths to try, or their number: then from α_max down.
    alpha_min_ratio : float, default 1e-3
        The last strength divided by the first.
    cv : int, splitter or None
        How to split the rows; None is 5 folds of rows in a random order that is always the same. A number is so many
        folds of rows in the order given, as in scikit-learn.
    select : "best" or "sparsest", default "sparsest"
        The strength with the lowest loss; or, among those whose loss is higher by at most one standard error of the
        difference, the one with the fewest features.
    rule : str
        Deprecated: the former name of `select`, where "sparsest" was "one_standard_error".
    n_jobs : int, optional
        Number of folds fitted at the same time, each on one thread. By default the number of joblib's
        `parallel_config`, or all cores that this process may use.

    Attributes
    ----------
    alpha_ : float
        The strength chosen.
    alphas_, path_loss_, path_loss_se_, path_nonzeros_ : vectors
        The strengths, decreasing; at each the mean loss of the rows left out, its standard error, and features used.
        The loss is nan at the end of a grid where weaker strengths got worse and worse, and were not judged.
    coef_path_ : list of sparse arrays
        The weights at each strength, one row per output; `PathDisplay` draws them.
    intercept_path_ : array
        Strengths × outputs.
    coef_, intercept_, objective_, dual_gap_, certificate_, n_iter_, operations_, classes_
        As in `BatchClassifier`, at `alpha_`.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = gs.BatchClassifierCV(alphas=20).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.97, len(model.nonzero_features_) < 20
    (True, True)
    """

    def __init__(
        self,
        loss: Any = "logistic",
        penalty: Any = "l1",
        alphas: Any = 50,
        solver: Any = "auto",
        *,
        alpha_min_ratio: float = 1e-3,
        cv: Any = None,
        select: str = "sparsest",
        rule: str = "deprecated",
        tol: float = 1e-4,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        standardize: Any = False,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alphas = alphas
        self.solver = solver
        self.alpha_min_ratio = alpha_min_ratio
        self.cv = cv
        self.select = select
        self.rule = rule
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, **options: Any
    ) -> BatchClassifierCV:
        """Choose α by cross-validation, and fit all rows with it.

        X, `offset` and `options` are as in `BatchClassifier.fit`.
        """
        return self._fit_path(X, y, sample_weight, offset, options)


class BatchRegressorCV(LinearRegressor, _CrossValidated):
    """`BatchRegressor` with α chosen by cross-validation along a warm-started path.

    Parameters
    ----------
    loss, penalty, solver, tol, max_iter, fit_intercept, standardize, verbose
        As in `BatchRegressor`. The standard deviations are those of all rows, in all folds.
    alphas, alpha_min_ratio, cv, select, rule, n_jobs
        As in `BatchClassifierCV`.

    Attributes
    ----------
    alpha_, alphas_, path_loss_, path_loss_se_, path_nonzeros_, coef_path_, intercept_path_
        As in `BatchClassifierCV`.
    coef_, intercept_, objective_, dual_gap_, certificate_, n_iter_, operations_
        As in `BatchRegressor`, at `alpha_`.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = gs.BatchRegressorCV(alphas=20).fit(X, y)
    >>> model.nonzero_features_
    array([1, 2, 3, 4, 6, 8, 9])
    """

    def __init__(
        self,
        loss: Any = "squared",
        penalty: Any = "l1",
        alphas: Any = 50,
        solver: Any = "auto",
        *,
        alpha_min_ratio: float = 1e-3,
        cv: Any = None,
        select: str = "sparsest",
        rule: str = "deprecated",
        tol: float = 1e-4,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        standardize: Any = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alphas = alphas
        self.solver = solver
        self.alpha_min_ratio = alpha_min_ratio
        self.cv = cv
        self.select = select
        self.rule = rule
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, **options: Any
    ) -> BatchRegressorCV:
        """Choose α by cross-validation, and fit all rows with it.

        X, `offset` and `options` are as in `BatchClassifier.fit`.
        """
        return self._fit_path(X, y, sample_weight, offset, options)
