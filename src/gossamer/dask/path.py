"""Paths of strengths over partitions, and cross-validation: warm starts from the largest strength on.

Row i of a partition is in fold i mod K, so that folds do not depend on where partitions are. The strengths are those of
all rows; every fold is one path over the other rows, judged by its own.
"""

from __future__ import annotations

import copy
import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from gossamer import batch, losses, penalties
from gossamer.batch import newton
from gossamer.batch.cv import RegularizationPath, _errors_of_differences, _mean_and_error
from gossamer.batch.driver import Solution
from gossamer.batch.estimators import _shown
from gossamer.batch.partitions import Raw, Spec, held_out, prepare
from gossamer.batch.runs import Runner
from gossamer.dask.batch import Partitioned, refuse
from gossamer.dask.data import source
from gossamer.dask.predicting import Predicting, PredictingClasses
from gossamer.estimators.selection import SELECT, selected
from gossamer.validation import Array, checked_alphas, number, one_of, whole

__all__ = ["BatchClassifierCV", "BatchRegressorCV", "regularization_path"]


def weights_of_folds(raw: Raw, spec: Spec, count: int) -> Array:
    """Return Σ c of each fold."""
    assert raw.y is not None
    c = np.ones(len(raw.y)) if raw.weight is None else np.asarray(raw.weight, np.float64)
    if spec.class_weight is not None and len(raw.y):
        c = c * spec.class_weight[spec.coded.index_of(raw.y)]
    return np.bincount(np.arange(len(c)) % count, c, count)


class Walk:
    """Solutions at decreasing strengths over some rows of all partitions."""

    def __init__(self, raw: Runner, spec: Spec, penalty: Any, fit_intercept: bool, tol: float, most: int) -> None:
        self.raw, self.spec, self.penalty, self.fit_intercept = raw, spec, penalty, fit_intercept
        self.tol, self.most = tol, most
        self.rounds = self.bytes_up = self.bytes_down = 0

    def solved(self, alphas: Any, ratio: float, constant: Any, report: Any = None) -> tuple[Array, list[Solution]]:
        """Return the strengths, and the solutions over all columns."""
        spec, coded = self.spec, self.spec.coded
        runner = self.raw.mapped(prepare, spec)
        narrow: Runner | None = None
        try:
            sizes = (spec.width, coded.outputs, self.fit_intercept)
            problem = newton.Problem(runner, coded.loss, self.penalty, 1.0, *sizes, constant)
            strengths = checked_alphas(alphas)
            if isinstance(strengths, int):
                W = np.zeros((spec.width, coded.outputs))
                there = problem.evaluated(W, problem.b0, W, problem.b0, False)
                top = float(self.penalty.dual_norm(-problem.as_given(there.gradient))) or 1.0
                if not math.isfinite(top):
                    raise ValueError(f"{self.penalty.label} has no strength that makes all weights zero; give alphas.")
                ratio = number(ratio, "alpha_min_ratio", above=0, below=1)
                strengths = top * np.geomspace(1.0, ratio, strengths)
            kept = newton.kept_columns(runner, coded.loss, self.penalty, float(strengths[-1]), coded.outputs)
            if kept is not None:
                narrow = self.raw.mapped(prepare, replace(spec, kept=kept))
                known = (problem.b0, problem.at_zero, np.array([problem.pull]))
                penalty, sizes = self.penalty.restricted(kept), (len(kept), *sizes[1:])
                problem = newton.Problem(
                    narrow, coded.loss, penalty, 1.0, *sizes, known if self.fit_intercept else None
                )
            found: list[Solution] = []
            start: Any = None
            for alpha in strengths:
                here = copy.copy(problem)
                here.alpha = float(alpha)
                solution = newton.minimise(here, tol=self.tol, max_iter=self.most, start=start)
                problem.unit, problem.length = here.unit, here.length
                start = (solution.W, solution.intercept)
                full = solution.W
                if kept is not None:
                    full = np.zeros((spec.width, coded.outputs))
                    full[kept] = solution.W
                b = solution.intercept if spec.shift is None else spec.shift.intercept(full, solution.intercept)
                found.append(replace(solution, W=full, intercept=b))
                if report is not None:
                    report(alpha, found[-1])
                if solution.interrupted:
                    raise KeyboardInterrupt
            short = sum(not s.converged for s in found)
            if short:
                warnings.warn(
                    f"{short} of {len(found)} fits of the path stopped early. Use larger alphas, or raise max_iter.",
                    ConvergenceWarning,
                    stacklevel=5,
                )
            return strengths, found
        finally:
            for one in (runner, narrow):
                if one is not None:
                    self.rounds, self.bytes_up = self.rounds + one.rounds, self.bytes_up + one.bytes_up
                    self.bytes_down += one.bytes_down
                    one.release()


def _path(strengths: Array, found: list[Solution]) -> RegularizationPath:
    return RegularizationPath(
        strengths,
        [sp.csr_array(s.W.T) for s in found],
        np.stack([s.intercept for s in found]),
        np.array([s.certificate.objective for s in found]),
        np.array([s.certificate.gap for s in found]),
        found[0].certificate.name,
        np.array([int(np.count_nonzero(s.W.any(axis=1))) for s in found]),
        np.array([s.iterations for s in found]),
    )


class _CrossValidated(Partitioned):
    """Chooses α by cross-validation over partitions."""

    alphas: Any
    alpha_min_ratio: float
    cv: Any
    select: str

    def _parts(self, raw: Runner) -> tuple[Any, Spec, Any, Any]:
        """Return the penalty, how partitions become a problem, the shares of classes and the constant model."""
        classifier = isinstance(self, ClassifierMixin)
        loss = losses.as_loss(self.loss, "binary" if classifier else "regression")
        penalty = penalties.as_penalty(self.penalty)
        coded, spec, shares = self._surveyed(raw, loss)
        blank = np.zeros((1, 1 if coded.kind == "multiclass" else coded.outputs))
        mean = coded.loss.mean(coded.outputs, blank, np.ones(1), 1)
        refuse(coded.loss, penalty, mean, 1.0, spec.width, coded.outputs)
        constant = None
        if shares is not None and self.fit_intercept:
            constant = newton.best_constant_of_classes(coded, shares)
        return penalty, spec, shares, constant

    def _said(self, alpha: float, solution: Solution) -> None:
        if self.verbose:
            c = solution.certificate
            print(f"alpha {alpha:.4g}: objective {c.objective:.8g}, {c.name} {c.gap:.3g}", flush=True)

    def _fit_folds(self, X: Any, y: Any, weight: Any, options: dict[str, Any]) -> Any:
        number(self.tol, "tol", least=0)
        most, select = whole(self.max_iter, "max_iter"), one_of(self.select, "select", SELECT)
        count = whole(self.cv, "cv", 2)
        new = copy.copy(self)
        new.client = self.client
        data = source(X, y, weight=weight, **options)
        raw = self._runner(data)
        try:
            penalty, spec, _, constant = self._parts(raw)
            walk = Walk(raw, spec, penalty, bool(self.fit_intercept), self.tol, most)
            strengths, found = walk.solved(self.alphas, self.alpha_min_ratio, constant, self._said)
            totals = np.sum(raw.run(weights_of_folds, spec, count), axis=0)
            if not ((totals > 0) & (totals < totals.sum())).all():
                raise ValueError(f"A fold of cv={count} has no row with a positive weight; use fewer folds.")
            losses_of_folds = []
            for fold in range(count):
                rest = replace(spec, fold=(fold, count, False), total=float(totals.sum() - totals[fold]))
                of_fold = Walk(raw, rest, penalty, bool(self.fit_intercept), self.tol, most)
                _, there = of_fold.solved(strengths, self.alpha_min_ratio, None)
                of_rest = replace(spec, fold=(fold, count, True), total=float(totals[fold]), shift=None)
                judge = raw.mapped(prepare, of_rest)
                weights = [sp.csr_array(s.W.T) for s in there]
                intercepts = np.stack([s.intercept for s in there])
                losses_of_folds.append(np.sum(judge.run(held_out, weights, intercepts), axis=0))
                walk.rounds += of_fold.rounds + judge.rounds
                walk.bytes_up += of_fold.bytes_up + judge.bytes_up
                walk.bytes_down += of_fold.bytes_down + judge.bytes_down
                judge.release()
        finally:
            raw.release()
        path = _path(strengths, found)
        new._targets = spec.coded
        if spec.coded.classes is not None:
            new.classes_ = spec.coded.classes
        new.n_features_in_ = spec.width
        new.alphas_, new.path_nonzeros_ = strengths, path.nonzeros
        new.path_loss_, new.path_loss_se_ = _mean_and_error(losses_of_folds, len(strengths))
        best = selected(select, new.path_loss_, _errors_of_differences(losses_of_folds), path.nonzeros)
        new.alpha_, new.coef_path_, new.intercept_path_ = float(strengths[best]), path.coefs, path.intercepts
        solution = found[best]
        new.__dict__.update(_shown(spec.coded, np.ascontiguousarray(solution.W.T), solution.intercept))
        new.objective_, new.dual_gap_ = solution.certificate.objective, solution.certificate.gap
        new.certificate_, new.n_iter_, new.operations_ = solution.certificate.name, solution.iterations, 0
        new.n_rounds_ = raw.rounds + walk.rounds
        new.bytes_up_, new.bytes_down_ = raw.bytes_up + walk.bytes_up, raw.bytes_down + walk.bytes_down
        new._name_features(data)
        self._become(new)
        return self


class BatchClassifierCV(PredictingClasses, _CrossValidated, batch.BatchClassifierCV):
    """`gossamer.BatchClassifierCV` over partitions of rows on a Dask cluster.

    Parameters
    ----------
    loss, penalty, alphas, alpha_min_ratio, select, tol, max_iter, fit_intercept, class_weight, verbose
        As in `gossamer.BatchClassifierCV`.
    cv : int, default 5
        The number of folds; row i of a partition is in fold i mod cv.
    client : dask.distributed.Client, "local" or None
        As in `gossamer.dask.BatchClassifier`.

    Attributes
    ----------
    alpha_, alphas_, path_loss_, path_loss_se_, path_nonzeros_, coef_path_, intercept_path_, coef_, intercept_
        As in `gossamer.BatchClassifierCV`.
    n_rounds_, bytes_up_, bytes_down_
        As in `gossamer.dask.BatchClassifier`, of all paths together.

    Examples
    --------
    >>> import dask
    >>> import gossamer.dask as gd
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> blocks = [dask.delayed((scale(X)[i::2], y[i::2])) for i in range(2)]
    >>> model = gd.BatchClassifierCV(alphas=8, cv=3, client="local").fit(blocks)
    >>> model.score(scale(X), y) > 0.96
    True
    """

    def __init__(
        self,
        loss: Any = "logistic",
        penalty: Any = "l1",
        alphas: Any = 50,
        *,
        alpha_min_ratio: float = 1e-3,
        cv: int = 5,
        select: str = "sparsest",
        tol: float = 1e-4,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        class_weight: Any = None,
        verbose: int = 0,
        client: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alphas = alphas
        self.alpha_min_ratio = alpha_min_ratio
        self.cv = cv
        self.select = select
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.verbose = verbose
        self.client = client

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> BatchClassifierCV:
        """Choose α by folds of all partitions of X: what `gossamer.dask.source` takes, with its options."""
        return self._fit_folds(X, y, sample_weight, options)


class BatchRegressorCV(Predicting, _CrossValidated, batch.BatchRegressorCV):
    """`gossamer.BatchRegressorCV` over partitions of rows on a Dask cluster.

    Parameters
    ----------
    loss, penalty, alphas, alpha_min_ratio, select, tol, max_iter, fit_intercept, verbose
        As in `gossamer.BatchRegressorCV`.
    cv, client
        As in `gossamer.dask.BatchClassifierCV`.

    Attributes
    ----------
    alpha_, alphas_, path_loss_, path_loss_se_, path_nonzeros_, coef_path_, intercept_path_, coef_, intercept_
        As in `gossamer.BatchRegressorCV`.
    n_rounds_, bytes_up_, bytes_down_
        As in `gossamer.dask.BatchClassifierCV`.

    Examples
    --------
    >>> import dask
    >>> import gossamer.dask as gd
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> blocks = [dask.delayed((X[i::2], y[i::2])) for i in range(2)]
    >>> len(gd.BatchRegressorCV(alphas=8, cv=3, client="local").fit(blocks).nonzero_features_) < 10
    True
    """

    def __init__(
        self,
        loss: Any = "squared",
        penalty: Any = "l1",
        alphas: Any = 50,
        *,
        alpha_min_ratio: float = 1e-3,
        cv: int = 5,
        select: str = "sparsest",
        tol: float = 1e-4,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        verbose: int = 0,
        client: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alphas = alphas
        self.alpha_min_ratio = alpha_min_ratio
        self.cv = cv
        self.select = select
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.client = client

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> BatchRegressorCV:
        """Choose α by folds of all partitions of X: what `gossamer.dask.source` takes, with its options."""
        return self._fit_folds(X, y, sample_weight, options)


def regularization_path(
    X: Any,
    y: Any = None,
    *,
    loss: Any = "squared",
    penalty: Any = "l1",
    alphas: Any = 50,
    alpha_min_ratio: float = 1e-2,
    tol: float = 1e-4,
    max_iter: int = 1000,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    client: Any = None,
    verbose: int = 0,
    **options: Any,
) -> RegularizationPath:
    """`gossamer.regularization_path` over partitions of rows on a Dask cluster.

    Parameters
    ----------
    X, y, sample_weight, **options
        What `gossamer.dask.source` takes.
    loss, penalty, alphas, alpha_min_ratio, tol, max_iter, fit_intercept, verbose
        As in `gossamer.regularization_path`.
    client : dask.distributed.Client, "local" or None
        As in `gossamer.dask.BatchClassifier`.

    Examples
    --------
    >>> import dask
    >>> import gossamer.dask as gd
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> blocks = [dask.delayed((X[i::3], y[i::3])) for i in range(3)]
    >>> gd.regularization_path(blocks, alphas=[1.0, 0.5, 0.1], client="local").nonzeros
    array([3, 4, 7])
    """
    regression = losses.as_loss(loss).kind == "regression"
    made: Any = BatchRegressorCV if regression else BatchClassifierCV
    model = made(loss, penalty, fit_intercept=fit_intercept, verbose=verbose, client=client)
    raw = model._runner(source(X, y, weight=sample_weight, **options))
    try:
        parted, spec, _, constant = model._parts(raw)
        walk = Walk(raw, spec, parted, fit_intercept, number(tol, "tol", least=0), whole(max_iter, "max_iter"))
        return _path(*walk.solved(alphas, alpha_min_ratio, constant, model._said))
    finally:
        raw.release()
