"""Batch estimators over partitions: the same names and parameters, the same answer, and a certificate."""

from __future__ import annotations

import copy
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin

from gossamer import batch, losses, output, penalties
from gossamer.batch import newton
from gossamer.batch.driver import Solution
from gossamer.batch.estimators import _Batch, _shown, warn_if_short
from gossamer.batch.partitions import Spec, prepare
from gossamer.dask.data import source
from gossamer.dask.over import OverPartitions
from gossamer.dask.predicting import Predicting, PredictingClasses
from gossamer.dask.runs import ClusterError
from gossamer.estimators.mistakes import chosen_strength
from gossamer.validation import Array, floats, number, shape_words, whole

__all__ = ["BatchClassifier", "BatchRegressor"]


class Partitioned(OverPartitions, _Batch):
    """What batch estimators over partitions share."""

    checkpoint: Any

    def _fit_partitions(self, X: Any, y: Any, weight: Any, options: dict[str, Any]) -> Any:
        number(self.tol, "tol", least=0)
        whole(self.max_iter, "max_iter")
        if self.solver != "auto":
            raise ValueError(
                f"Over partitions there is one solver; solver='auto' is needed, {self.solver!r} was given."
            )
        if self.checkpoint is not None:
            output.check(self.checkpoint)
        new = copy.copy(self)
        new.client = self.client
        classifier = isinstance(self, ClassifierMixin)
        loss = losses.as_loss(self.loss, "binary" if classifier else "regression")
        penalty = penalties.as_penalty(self.penalty)
        data = source(X, y, weight=weight, **options)
        raw = self._runner(data)
        coded, spec, shares = self._surveyed(raw, loss)
        mean = coded.loss.mean(
            coded.outputs, np.zeros((1, 1 if coded.kind == "multiclass" else coded.outputs)), np.ones(1), 1
        )
        refuse(coded.loss, penalty, mean, chosen_strength(self), spec.width, coded.outputs)
        runner = raw.mapped(prepare, spec)
        alpha = chosen_strength(self)
        kept = newton.kept_columns(runner, coded.loss, penalty, alpha, coded.outputs)
        small = penalty
        if kept is not None:
            small = penalty.restricted(kept)
            narrow = raw.mapped(prepare, Spec(coded, spec.width, spec.total, kept, spec.class_weight))
            narrow.rounds, narrow.bytes_up, narrow.bytes_down = runner.rounds, runner.bytes_up, runner.bytes_down
            runner.release()
            runner = narrow
        runner.rounds, runner.bytes_up = runner.rounds + raw.rounds, runner.bytes_up + raw.bytes_up
        width = spec.width if kept is None else len(kept)

        def show(model: Any, solution: Solution) -> None:
            W = solution.W
            if kept is not None:
                W = np.zeros((spec.width, coded.outputs))
                W[kept] = solution.W
            model._targets = coded
            if coded.classes is not None:
                model.classes_ = coded.classes
            model.n_features_in_ = spec.width
            model.__dict__.update(_shown(coded, np.ascontiguousarray(W.T), solution.intercept))
            model.objective_, model.dual_gap_ = solution.certificate.objective, solution.certificate.gap
            model.certificate_, model.n_iter_, model.operations_ = solution.certificate.name, solution.iterations, 0
            model.n_rounds_, model.bytes_up_, model.bytes_down_ = runner.rounds, runner.bytes_up, runner.bytes_down

        def report(solution: Solution) -> bool:
            if self.checkpoint is not None:
                show(new, solution)
                _write(self.checkpoint, new.coef_, solution.intercept)
            if self.verbose:
                c = solution.certificate
                print(f"round {runner.rounds}: objective {c.objective:.8g}, {c.name} {c.gap:.3g}", flush=True)
            return False

        try:
            constant = None if shares is None else newton.best_constant_of_classes(coded, shares)
            sizes = (width, coded.outputs, bool(self.fit_intercept))
            problem = newton.Problem(runner, coded.loss, small, alpha, *sizes, constant)
            start = self._start((coded.outputs, spec.width), kept)
            solution = newton.minimise(problem, tol=self.tol, max_iter=self.max_iter, start=start, report=report)
        except ClusterError as error:
            best = getattr(error, "solution", None)
            if best is not None:
                show(new, best)
                self._become(new)
            raise
        finally:
            runner.release()
            raw.release()
        problem.scale = lambda name: problem.unit  # type: ignore[attr-defined]
        problem.smooth = True  # type: ignore[attr-defined]
        warn_if_short(solution, problem, self.tol)  # type: ignore[arg-type]
        show(new, solution)
        new._name_features(data)
        self._become(new)
        return self

    def _start(self, shape: tuple[int, int], kept: Array | None) -> tuple[Array, Array] | None:
        """Return the weights to start from: of a checkpoint, or of the fit before."""
        coef = b = None
        if self.checkpoint is not None and Path(self.checkpoint).exists():
            coef, b = _read(self.checkpoint)
        elif self.warm_start and hasattr(self, "coef_"):
            coef = self.coef_.toarray() if sp.issparse(self.coef_) else np.atleast_2d(self.coef_)
            b = self.intercept_
        if coef is None or coef.shape != shape:
            return None
        W = np.ascontiguousarray(coef.T)
        return (W if kept is None else W[kept]), np.array(b, np.float64)


def _write(path: Any, coef: Array, intercept: Array) -> None:
    """Write weights to a file, all of them or none."""
    with output.replaced(path) as file:
        np.savez(file, coef=np.atleast_2d(coef), intercept=intercept)


def _read(path: Any) -> tuple[Array, Array]:
    """Return the weights of a checkpoint: coef, outputs × features, and intercepts."""
    try:
        with np.load(path) as saved:
            coef, b = (floats(saved[name], name).astype(np.float64) for name in ("coef", "intercept"))
    except (OSError, EOFError, KeyError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{os.fspath(path)!r} is not a checkpoint of weights ({error}). Name another file, or remove this one."
        ) from error
    if coef.ndim != 2 or b.shape != coef.shape[:1]:
        raise ValueError(
            f"{os.fspath(path)!r} is not a checkpoint of weights: its intercept is {shape_words(b.shape)}, and its "
            f"coef {shape_words(coef.shape)}. Name another file, or remove this one."
        )
    return coef, b


def refuse(loss: Any, penalty: Any, mean: Any, alpha: float, features: int, outputs: int) -> None:
    """Raise if the driver does not know the loss or the penalty."""
    if not mean.has_curvature or not loss.has_conjugate:
        raise ValueError(
            f"{loss.label} does not go with partitions: it has kinks or no conjugate. Use a smooth loss, such as "
            "'squared_hinge', 'logistic', 'squared' or 'huber'."
        )
    single = outputs == 1 and penalty.single_form(features) is not None
    if not single and penalty.block_form(features) is None:
        raise ValueError(
            f"{penalty.label} does not go with partitions: it couples all features. Use a sum over features or groups, "
            "such as 'l1' or 'group_l2', or the estimator of gossamer itself."
        )
    if not penalty.has_dual(alpha):
        raise ValueError(
            f"{penalty.label} with alpha={alpha:g} has no certificate over partitions: some weights are not penalised."
        )


class BatchClassifier(PredictingClasses, Partitioned, batch.BatchClassifier):
    """`gossamer.BatchClassifier` over partitions of rows on a Dask cluster.

    Proximal Newton: a round sends up gradients or curvature, and the quadratic model is minimised in this process.
    The same partitions give the same bits, whatever the workers. Losses must be smooth; penalties sums over features or
    groups.

    Parameters
    ----------
    loss, penalty, alpha, solver, tol, max_iter, fit_intercept, class_weight, warm_start, verbose
        As in `gossamer.BatchClassifier`; the solver is "auto".
    client : dask.distributed.Client, "local" or None
        Where to compute: by default the current client. "local" is a loop in this process.
    checkpoint : path, optional
        A file that holds the best weights so far after every iteration. If it exists, `fit` starts from it.

    Attributes
    ----------
    coef_, intercept_, objective_, dual_gap_, certificate_, n_iter_, classes_
        As in `gossamer.BatchClassifier`.
    n_rounds_, bytes_up_, bytes_down_ : int
        Rounds of tasks, and the bytes that one partition (that with the largest messages) sent and was sent.

    Examples
    --------
    >>> import dask
    >>> import gossamer.dask as gd
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> blocks = [dask.delayed((scale(X)[i::4], y[i::4])) for i in range(4)]
    >>> model = gd.BatchClassifier(alpha=0.01, client="local").fit(blocks)
    >>> len(model.nonzero_features_), model.dual_gap_ < 1e-4
    (9, True)
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
        client: Any = None,
        checkpoint: Any = None,
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
        self.client = client
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> BatchClassifier:
        """Fit all partitions of X: what `gossamer.dask.source` takes, with its options."""
        return self._fit_partitions(X, y, sample_weight, options)


class BatchRegressor(Predicting, Partitioned, batch.BatchRegressor):
    """`gossamer.BatchRegressor` over partitions of rows on a Dask cluster.

    Parameters
    ----------
    loss, penalty, alpha, solver, tol, max_iter, fit_intercept, warm_start, verbose
        As in `gossamer.BatchRegressor`.
    client, checkpoint
        As in `gossamer.dask.BatchClassifier`.

    Attributes
    ----------
    coef_, intercept_, objective_, dual_gap_, certificate_, n_iter_
        As in `gossamer.BatchRegressor`.
    n_rounds_, bytes_up_, bytes_down_
        As in `gossamer.dask.BatchClassifier`.

    Examples
    --------
    >>> import dask
    >>> import gossamer.dask as gd
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> blocks = [dask.delayed((X[i::3], y[i::3])) for i in range(3)]
    >>> gd.BatchRegressor(alpha=1.0, client="local").fit(blocks).nonzero_features_
    array([2, 3, 8])
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
        client: Any = None,
        checkpoint: Any = None,
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
        self.client = client
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> BatchRegressor:
        """Fit all partitions of X: what `gossamer.dask.source` takes, with its options."""
        return self._fit_partitions(X, y, sample_weight, options)
