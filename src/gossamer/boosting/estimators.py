"""Boosting estimators: features come in, weights are corrected, features go out, and it stops by itself."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gossamer import losses, penalties
from gossamer.boosting import features as kinds
from gossamer.boosting import rounds
from gossamer.estimators import inputs, targets, wide
from gossamer.estimators.grouped import Grouped
from gossamer.estimators.inputs import checked_offset, checked_weights
from gossamer.estimators.linear import (
    CallbackSupportMixin,
    LinearClassifier,
    LinearRegressor,
    Strict,
    Tasks,
    accepted,
    checked,
    class_weighted,
    decided,
    several_labels,
    some_weight,
    with_callbacks,
)
from gossamer.validation import Array, check_memory, number, thread_count, whole

__all__ = ["BoostingClassifier", "BoostingRegressor"]


class _Boosting(Strict, Grouped, CallbackSupportMixin, BaseEstimator):
    """What the two estimators share: checks, the run, and the weights."""

    _scores_by_row = False  # products of dense matrices round by blocks of rows
    _targets: targets.Targets
    _kind: Any  # the kind of features, as fitted to the training data
    n_features_in_: int

    def _find_targets(self, y: Array, loss: Any) -> targets.Targets:
        if not isinstance(self, ClassifierMixin):
            return targets.for_regression(y, loss)
        if several_labels(y):
            return targets.for_indicators(y, loss)
        return targets.for_labels(targets.distinct(y), loss, grow=False)

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        validation: Any = None,
        *,
        offset: Any = None,
        **options: Any,
    ) -> Any:
        """Learn from all rows.

        X is a matrix; or a file, a data frame, an Arrow table or a source with columns of any kind. Then y may be left
        out, and `options` are those of `gossamer.source`: ``fit("prices.csv", target="price")``. `offset` is one number
        per row that is added to its scores and not learned. `validation` is a pair (X, y) or (X, y, offset), or a table
        with the target; `history_` records the loss and the score on it.
        """
        batch, most = whole(self.batch, "batch"), whole(self.max_rounds, "max_rounds")
        tasks = Tasks(self, X, y, "round", most)
        # A copy learns: if anything raises, the estimator is unchanged.
        new = copy.copy(self)
        X, y, sample_weight, offset = inputs.matrix(new, X, y, sample_weight, offset, options)
        X = X if self._takes_sparse() or not hasattr(new, "source_settings_") else _dense(X)
        loss = losses.as_loss(self.loss, "binary" if isinstance(self, ClassifierMixin) else "regression")
        penalty = penalties.as_penalty(self.penalty)
        alpha = number(self.alpha, "alpha", least=0)
        rounds.check_order(self.order, self.tol)
        kind = kinds.resolve(self.features)
        threads = thread_count(self.n_jobs)
        X, y = checked(new, X, y, ("csc", "csr") if self._takes_sparse() else False)
        narrow = not isinstance(kind, kinds.ColumnFeatures) or wide.touched(X) is None
        X = sp.csc_array(X) if sp.issparse(X) and narrow else X
        weight = None if sample_weight is None else some_weight(checked_weights(sample_weight, X.shape[0]))
        coded = self._find_targets(y, loss)
        weight = class_weighted(getattr(self, "class_weight", None), y, weight, coded)
        weight = None if weight is None else _moderate(weight)
        if offset is not None:
            offset = checked_offset(offset, X.shape[0])
            coded.check_offset()
        columns = X.shape[1] if isinstance(kind, kinds.ColumnFeatures) else None
        shape = rounds.shape(self.bound, coded.loss, penalty, self.order, columns)
        watch = None if validation is None else new._watch(coded, *new._validation(validation))
        encoded = coded.encode(y)
        if weight is not None and not weight.all():
            some = np.flatnonzero(weight)
            X, encoded, weight = X[some], encoded[some], weight[some]
            offset = None if offset is None else offset[some]
        if callable(getattr(kind, "ready", None)):
            kind = kind.ready(X, _single_labels(coded, encoded))
        if columns is None:
            pool = kinds.pool_of(kind, X)
        else:
            centred = self.fit_intercept and not sp.issparse(X)
            pool = kind.pool(X, shape.weights, np.average(X, axis=0, weights=weight) if centred else None)
        rounds.check_fits(self.order, pool)
        run = rounds.start(
            shape,
            coded.loss,
            encoded,
            coded.outputs,
            weight,
            alpha,
            float(self.tol),
            offset=offset,
            pool=pool,
            batch=batch,
            threads=threads,
            fit_intercept=bool(self.fit_intercept),
            random=check_random_state(self.random_state),
        )
        new._targets, new._kind = coded, kind
        if coded.classes is not None:
            new.classes_ = coded.classes

        def fitted(model: rounds.Model) -> dict[str, Any]:
            new.features_, new.weights_, new.intercept_ = model
            return new.__dict__

        model, new.history_, new.stopped_by_ = rounds.boost(
            run,
            self.order,
            most,
            watch,
            self.verbose,
            lambda model: tasks.turn(lambda: fitted(model)),
            coded.loss.lipschitz is not None,
        )
        if new.stopped_by_ == "out of reach":
            before, last = (r.objective for r in new.history_[-2:])
            warnings.warn(
                f"Stopped after {len(new.history_) - 1} rounds: y is out of reach. The objective is {last:.3g}, a "
                f"round lowers it by {before - last:.3g}, and max_rounds is {most}. Scale y such that an error of 1 "
                "matters.",
                ConvergenceWarning,
                stacklevel=3,
            )
        new.features_, new.weights_, new.intercept_ = model
        new.n_iter_ = max(len(new.history_) - 1, 1)
        self.__dict__ = new.__dict__
        tasks.finish()
        return self

    def _validation(self, given: Any) -> tuple[Any, Any, Array | None]:
        """Return X, y and offsets of validation data, checked."""
        accept_sparse = "csr" if self._takes_sparse() else False
        given = (given, None) if inputs.is_table(given) else given
        X, y, offset = (*_pair(given), None)[:3]
        if not inputs.is_table(X) or not inputs.predicts_by_source(self, X):
            X, y = accepted(self, X, y, accept_sparse=accept_sparse, reset=False)
            return X, y, checked_offset(offset, X.shape[0])
        table = inputs.other(self, X, y, offset)
        return table.X if accept_sparse else _dense(table.X), table.y, table.offset

    def _watch(self, coded: targets.Targets, X: Any, y: Any, offset: Array | None) -> Any:
        """Return a function that measures loss and score on validation data."""
        encoded = coded.encode(y)

        def measured(model: rounds.Model) -> tuple[float, float]:
            z = _margins(self._kind, X, *model)
            z = z if offset is None else z + offset[:, None]
            if coded.kind == "multiclass":
                loss = coded.loss.value(z, encoded[:, 0])
            else:
                loss = np.sum(coded.loss.value(z, encoded), axis=1)
            measure = r2_score if coded.kind == "regression" else accuracy_score
            return float(np.mean(loss)), float(measure(y, coded.predictions(z)))

        return measured

    # Results

    @property
    def n_features_used_(self) -> int:
        """Number of features with a non-zero weight."""
        check_is_fitted(self, "features_")
        return len(self.features_)

    @property
    def nonzero_features_(self) -> Array:
        """The names of the features with a non-zero weight, the largest weights first."""
        check_is_fitted(self, "features_")
        names = getattr(self, "feature_names_in_", None)
        if names is None and hasattr(self, "source_names_"):
            names = self.source_names_
        order = np.argsort(-np.abs(self.weights_).max(axis=1, initial=0.0), kind="stable")
        return np.array([kinds.name_of(self._kind, self.features_[j], names) for j in order], dtype=object)

    @property
    def coef_(self) -> Array:
        """The weights of all columns, one row per output; for features="columns"."""
        if not isinstance(getattr(self, "_kind", None), kinds.ColumnFeatures):
            raise AttributeError("coef_ exists once the estimator is fitted with features='columns'; see weights_.")
        check_memory(8 * self.n_features_in_ * self._targets.outputs, "coef_", "Read features_ and weights_.")
        W = np.zeros((self.n_features_in_, self._targets.outputs))
        W[np.asarray(self.features_, dtype=np.intp)] = self.weights_
        return W[:, 0] if self._targets.kind == "regression" and self._targets.flat else W.T

    def _decide(self, X: Any, offset: Any = None) -> Array:
        """Return z plus the offset, n × k."""
        check_is_fitted(self, "features_")
        return decided(self, X, offset, "csr" if self._takes_sparse() else False)

    def _scores(self, X: Any) -> Array:
        """Return z of a matrix that is checked."""
        X = X if self._takes_sparse() or not sp.issparse(X) else _dense(X)
        return _margins(self._kind, X, self.features_, self.weights_, self.intercept_)

    def _takes_sparse(self) -> bool:
        kind = kinds.KINDS.get(self.features) if isinstance(self.features, str) else self.features
        return bool(getattr(kind, "takes_sparse", True))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "features_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        tags.target_tags.multi_output = True
        return tags


def _margins(kind: Any, X: Any, features: list[Any], W: Array, b: Array) -> Array:
    """Return z = b + Σ_j h_j(x) W_j, computed for a limited number of rows at a time to bound the memory."""
    z = np.tile(b, (X.shape[0], 1))
    if not features:
        return z
    rows = max(1, (1 << 24) // len(features))
    for begin in range(0, X.shape[0], rows):
        part = X[begin : begin + rows]
        z[begin : begin + rows] += np.asarray(kinds.computed(kind, part, features) @ W)
    return z


def _single_labels(coded: targets.Targets, encoded: Array) -> Array | None:
    """Return one class 0, 1, … per row, or None if rows have no single class."""
    if coded.kind == "multiclass":
        return encoded[:, 0].astype(np.intp)
    if coded.kind == "binary":
        return (encoded[:, 0] > 0).astype(np.intp)
    return np.argmax(encoded, axis=1) if coded.kind == "one_vs_rest" else None


def _moderate(weight: Array) -> Array:
    """Return the weights, divided by a power of 2 if sums of them could overflow: only their ratios count."""
    return weight if weight.max() < 1e100 else np.ldexp(weight, -int(np.frexp(weight.max())[1]))


def _dense(X: Any) -> Array:
    check_memory(8 * X.shape[0] * X.shape[1], "The table as an array", "Use features='columns', which stays sparse.")
    return X.toarray()


def _pair(validation: Any) -> tuple[Any, ...]:
    if not isinstance(validation, (tuple, list)) or len(validation) not in (2, 3):
        raise TypeError(f"validation must be a pair (X, y); {type(validation).__name__} was given.")
    return tuple(validation)


class BoostingClassifier(LinearClassifier, _Boosting):
    """A sparse classifier over features that it selects as it learns: minimise mean loss + α Σ_j Ω(W_j).

    In each round the candidates with the best scores enter, all weights are optimised, and features whose weights are
    zero are dropped. A score is a lower bound on the decrease of the objective if the feature enters. When no candidate
    scores above zero, the model is the optimum over all of them, and boosting stops.

    Two classes make one output; more make one output per class (multinomial loss). A matrix y of 0 and 1 makes one
    output per label.

    Parameters
    ----------
    penalty : str or penalty, default "l1"
        Ω. "ada" has rules for "l1", "group_linf", "linf", "smooth_l1" and "none"; "grad" also for "group_l2",
        "l2_norm", "l2_squared", "elastic_net", "sparse_group_l2", "berhu" and "non_negative_l1". Groups are rows: one
        feature over all outputs. "l2_norm" and "linf" are norms of all weights and need order="parallel".
    alpha : float, default 1e-3
        The regularization strength α ≥ 0; 0 is classical boosting.
    bound : "ada" or "grad", default "ada"
        The bound on the loss that updates minimise: exponential, as in AdaBoost, or quadratic.
    features : "columns", "products", "stumps", "kernel", or an object, default "columns"
        The candidates: see `ColumnFeatures`, `ProductFeatures`, `StumpFeatures`, `KernelFeatures`; an object of your
        own has ``propose(X, used)`` and ``evaluate(X, features)``.
    loss : "logistic", "exponential", "multinomial" or a loss, default "logistic"
        "exponential" needs bound="ada"; "grad" also takes "squared_hinge".
    order : "corrective", "greedy", "cyclic", "random" or "parallel", default "corrective"
        Corrective adds the best `batch` features per round and optimises all weights. Greedy updates the best `batch`
        once (with batch=1 and alpha=0: AdaBoost). Cyclic and random update all features in turn, parallel updates them
        all at once.
    batch : int, default 30
        Features added per round.
    max_rounds : int, default 1000
        The maximum number of rounds.
    tol : float, default 1e-3
        Gradients within tol · α count as optimal (tol · 1e-3 if α = 0).
    fit_intercept : bool, default True
        Whether to learn an intercept. It is never penalised.
    class_weight : dict, "balanced" or None
        Weights of the classes.
    n_jobs : int, optional
        Number of threads for scoring; the result does not depend on it. By default the number of joblib's
        `parallel_config`, or all cores that this process may use.
    random_state : int, RandomState or None
        Seed of order="random".
    verbose : int, default 0
        1 prints one line per round.

    Attributes
    ----------
    features_ : list
        The features in use: column numbers, or descriptions of the kind of candidate.
    weights_ : matrix
        Their weights, one row per feature, one column per output.
    intercept_ : vector
        The intercepts.
    nonzero_features_ : array
        The names of the features in use, largest weights first.
    n_features_used_ : int
        The number of features in use.
    coef_ : matrix
        With features="columns", the weights of all columns, one row per output.
    history_ : list of rounds
        Each with round, objective, selected, pruned, nonzeros, score, validation_loss, validation_score.
    stopped_by_ : str
        "no candidate" (the automatic stop), "max_rounds", "callback", "interrupted", or "out of reach", with a warning,
        if y is so large that `max_rounds` rounds do not get near it.
    classes_, n_iter_, n_features_in_, feature_names_in_
        The classes, rounds, columns of X, their names.

    References
    ----------
    Duchi, Singer: Boosting with structural sparsity, ICML 2009.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = gs.BoostingClassifier(alpha=0.01, features="stumps").fit(X, y)
    >>> model.score(X, y) > 0.95, model.stopped_by_
    (True, 'no candidate')
    """

    def __init__(
        self,
        penalty: Any = "l1",
        alpha: float = 1e-3,
        bound: str = "ada",
        features: Any = "columns",
        *,
        loss: Any = "logistic",
        order: str = "corrective",
        batch: int = 30,
        max_rounds: int = 1000,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.bound = bound
        self.features = features
        self.loss = loss
        self.order = order
        self.batch = batch
        self.max_rounds = max_rounds
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class BoostingRegressor(LinearRegressor, _Boosting):
    """A sparse regressor over features that it selects as it learns: minimise mean loss + α Σ_j Ω(W_j).

    As `BoostingClassifier`, for real y; a matrix y makes one output per column. The default loss is about
    quadratic for errors below 1 and linear beyond, so y should be scaled such that an error of 1 matters.

    Parameters
    ----------
    penalty, alpha, bound, features, order, batch, max_rounds, tol, fit_intercept, n_jobs, random_state, verbose
        As in `BoostingClassifier`.
    loss : str or loss, default "log_epsilon_insensitive"
        bound="grad" also takes "squared" and "huber".

    Attributes
    ----------
    features_, weights_, intercept_, nonzero_features_, n_features_used_, coef_, history_, stopped_by_
        As in `BoostingClassifier`.
    n_iter_, n_features_in_, feature_names_in_
        Rounds, columns of X, their names.

    References
    ----------
    Duchi, Singer: Boosting with structural sparsity, ICML 2009, §6.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = gs.BoostingRegressor(alpha=0.03, features="products").fit(X / X.std(), scale(y))
    >>> model.nonzero_features_[:3].tolist()
    ['s5', 'bmi', 'bp']
    """

    def __init__(
        self,
        penalty: Any = "l1",
        alpha: float = 1e-3,
        bound: str = "ada",
        features: Any = "columns",
        *,
        loss: Any = "log_epsilon_insensitive",
        order: str = "corrective",
        batch: int = 30,
        max_rounds: int = 1000,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.bound = bound
        self.features = features
        self.loss = loss
        self.order = order
        self.batch = batch
        self.max_rounds = max_rounds
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
