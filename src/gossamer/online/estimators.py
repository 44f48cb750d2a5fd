"""Online estimators: one or a few passes over the data, with scikit-learn's interface and exact zeros."""

from __future__ import annotations

import copy
import functools
import operator
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted, column_or_1d

from gossamer import losses, methods, penalties
from gossamer.estimators import inputs, targets, units
from gossamer.estimators.inputs import checked_offset, checked_weights
from gossamer.estimators.linear import (
    Linear,
    LinearClassifier,
    LinearRegressor,
    Tasks,
    accepted,
    class_weighted,
    decided,
    in_turn,
    named,
    several_labels,
    some_weight,
    with_callbacks,
)
from gossamer.estimators.mistakes import chosen_strength
from gossamer.estimators.selection import SELECT
from gossamer.groups import GrowingGroups, Known
from gossamer.online.strategies import OneStrength
from gossamer.online.stream import Problem, Streaming, columns_of, settled
from gossamer.online.trainer import Pass, SeededOrders, Stopping, Trainer, passes
from gossamer.sources.rows import Rows, csr_arrays
from gossamer.validation import Array, check_memory, number, one_of, refuse_odd, sparse_matrix, whole

__all__ = ["OnlineClassifier", "OnlineRegressor"]


def rows_of(X: Any, centred: int, y: Any, weight: Array | None, offset: Array | None) -> Rows:
    """Return the rows of a checked matrix, those of an array with all of its values if they are centred."""
    if sp.issparse(X) and centred < X.shape[1]:
        return Rows(*csr_arrays(X), y, weight, offset, False, X.shape[1])
    if centred == X.shape[1]:
        if sp.issparse(X):
            what = f"{X.shape[0]:,} rows with a value for each of {centred:,} centred features"
            check_memory(8 * X.shape[0] * centred, what, "Use center=False.")
            X = X.toarray()
        return Rows.of_array(X, y, weight, offset)
    return Rows.of_nonzeros(X, y, weight, offset)


class _Online(Linear):
    """What the two estimators share: checking, the passes, and the weights."""

    _trainer: Trainer
    _read_once: _ReadOnce  # W and b, read once after each change
    _sparse: bool  # whether coef_ is a sparse matrix
    _one_model = True  # whether the learner has one set of weights
    n_features_in_: int

    def _find_targets(
        self, y: Array, classes: Any, loss: Any, known: targets.Targets | None, at_once: bool
    ) -> targets.Targets:
        raise NotImplementedError

    def _reweighted(self, y: Array, weight: Array | None, coded: targets.Targets, at_once: bool) -> Array | None:
        """Return the weights of the rows times those of their classes; `at_once` says that these are all rows."""
        class_weight = getattr(self, "class_weight", None)
        if isinstance(class_weight, str) and class_weight == "balanced" and not at_once:
            raise ValueError(
                "class_weight='balanced' needs all rows at once, and partial_fit and sources show some. Compute "
                "the weights from a sample: class_weight=dict(zip(classes, compute_class_weight('balanced', "
                "classes=classes, y=sample))), with compute_class_weight from sklearn.utils."
            )
        return class_weighted(class_weight, y, weight, coded)

    def _strategy(self) -> Any:
        """Return the strategy, with its strengths checked."""
        return OneStrength(chosen_strength(self))

    def _parts(self) -> tuple[Any, Any, Any]:
        """Return the loss, the penalty and the strategy, checked."""
        loss = losses.as_loss(self.loss)
        if not loss.compiled:
            raise ValueError(
                f"Online learning runs compiled losses, and {loss.label} is a Python object. "
                "Use one of the library's, or give compiled functions to CompiledLoss."
            )
        return loss, penalties.as_penalty(self.penalty), self._strategy()

    def _checked_select(self) -> str:
        return one_of(self.select, "select", SELECT)

    def _checked_standardize(self, method: Any) -> Any:
        """Return True, False or "auto"; False where the method learns in the units of the features anyway."""
        if self.standardize is False:
            return False
        units.standardizes(self.standardize, dense=True)  # raises for other settings
        return False if method.free_of_steps else self.standardize

    def _checked_batch_size(self) -> int:
        return whole(self.batch_size, "batch_size")

    def _checked_passes(self) -> int:
        return whole(self.max_passes, "max_passes")

    def _stopping(self) -> Stopping:
        """Return when `fit` stops before the last pass, checked."""
        tol = self.tol if self.tol is None else number(self.tol, "tol", least=0)
        patience = whole(self.n_iter_no_change, "n_iter_no_change")
        if not self.early_stopping:
            return Stopping(tol, patience)
        fraction = number(self.validation_fraction, "validation_fraction", above=0, below=1)
        return Stopping(0.0 if tol is None else tol, patience, fraction)

    def _stopping_without_held_out(self, call: str) -> Stopping:
        """Return the same where no rows can be held out; raise if they should be."""
        stopping = self._stopping()
        if stopping.held_out:
            raise ValueError(
                f"early_stopping holds rows out of fit(X, y), and {call} cannot: use early_stopping=False. "
                "progressive_loss_ judges every row before it is learned from, and tol in fit_source watches it."
            )
        return stopping

    # Learning

    @in_turn
    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> Any:
        most, stopping = self._checked_passes(), self._stopping()
        fresh = not (self.warm_start and self.__sklearn_is_fitted__())
        seed = self.random_state
        seeded = isinstance(seed, int) and 0 <= seed < 2**32
        random: Any = SeededOrders(seed) if seeded else check_random_state(seed)
        before = dict(vars(self))
        if not fresh:
            before["_trainer"] = copy.copy(self._trainer)
        rows = self._accept(X, y, sample_weight, None, fresh=fresh, at_once=True, offset=offset)

        def blocks(number: int) -> list[Rows]:
            return [rows.taken(random.permutation(len(rows))) if self.shuffle else rows]

        self.n_iter_ = 0
        tasks = Tasks(self, X, y, "pass", most)
        all_rows = rows
        try:
            rows, held_out = stopping.parted(rows, random)
            for done in passes(self._trainer, blocks, most, stopping=stopping, held_out=held_out):
                self._read_once = _ReadOnce()
                self.n_iter_ = done.number
                if self.verbose:
                    print(self._pass_words(done), flush=True)
                if tasks.turn(dict):
                    break
            self._trainer.check_finite(rows)
        except KeyboardInterrupt:
            warnings.warn("Interrupted: the model is the one learned so far.", stacklevel=3)
        except Exception:
            features = self.n_features_in_
            self.__dict__ = before
            all_rows.check(features)  # names an entry that is not finite by the rows as they were given
            raise
        self._read_once = _ReadOnce()
        tasks.finish()
        return self

    def _pass_words(self, done: Pass) -> str:
        used = len(self.nonzero_features_)
        held_out = "" if done.held_out is None else f"loss of held-out rows {done.held_out:.6g}, "
        return f"pass {done.number}: progressive loss {done.loss:.6g}, {held_out}{used} features used"

    @in_turn
    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, offset: Any, classes: Any) -> Any:
        fresh = not self.__sklearn_is_fitted__()
        if fresh or not self._settings_are_known():
            self._stopping_without_held_out("partial_fit")
        before = dict(vars(self))
        rows = self._accept(X, y, sample_weight, classes, fresh=fresh, at_once=False, offset=offset)
        try:
            self._trainer.learn(rows)
        except Exception:
            if self._trainer is not before.get("_trainer"):
                self.__dict__ = before
            raise
        self.n_iter_ = 1
        return self

    def _learn(self, X: Any, y: Any, sample_weight: Any, offset: Any, options: dict[str, Any]) -> Any:
        """Learn for `fit`: a matrix at once, a table or a file block by block."""
        if (type(X) is np.ndarray or sp.issparse(X)) and not options:
            return self._fit(X, y, sample_weight, offset)
        before = self if self.warm_start and self.__sklearn_is_fitted__() else None
        if not inputs.learns_by_source(X, y, offset, options, before):
            return self._fit(X, y, sample_weight, offset)
        given = {"y": y, "sample_weight": sample_weight, "offset": offset}
        return self._fit_source(X, options, options.pop("classes", None), **given)

    def _learn_more(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, options: dict[str, Any], classes: Any = None
    ) -> Any:
        """Learn for `partial_fit`."""
        if (type(X) is np.ndarray or sp.issparse(X)) and not options:
            return self._partial_fit(X, y, sample_weight, offset, classes)
        before = self if self.__sklearn_is_fitted__() else None
        if not inputs.learns_by_source(X, y, offset, options, before):
            return self._partial_fit(X, y, sample_weight, offset, classes)
        given = {"y": y, "sample_weight": sample_weight, "offset": offset}
        return self._partial_fit_source(X, options, classes, **given)

    @with_callbacks
    def fit_source(self, source: Any, classes: Any = None, **options: Any) -> Any:
        """Learn from a source (see `gossamer.source`) block by block, `max_passes` times, in its order.

        `fit` does the same with a file or a table. Memory is bounded by the weights and a few blocks. If `classes` are
        not given they are found: labels 0 and 1, or -1 and 1, in the first block, others by reading the source once
        more.
        """
        return self._fit_source(source, options, classes)

    @in_turn
    def _fit_source(self, source: Any, options: dict[str, Any], classes: Any, **given: Any) -> Any:
        most, stopping = self._checked_passes(), self._stopping_without_held_out("learning from a table or a file")
        fresh = not (self.warm_start and self.__sklearn_is_fitted__())
        rows = inputs.opened(self, source, options, fresh=fresh, **given)
        if most > 1 and not rows.rereadable:
            raise ValueError(
                f"max_passes is {most}, but this source can be read only once; "
                "use max_passes=1, a file, or a table in memory."
            )
        stream, first = self._stream(rows, classes, fresh=fresh)
        stream.trainer = copy.copy(stream.trainer)
        tasks = Tasks(self, source, given.get("y"), "pass", most)
        before, complete = dict(vars(self)), 0
        try:
            for done in passes(stream, lambda number: first if number == 1 else rows.blocks(), most, stopping=stopping):
                complete = done.number
                if self.verbose or tasks.heard:
                    self._take(stream, rows, complete, fresh)
                if self.verbose:
                    print(self._pass_words(done), flush=True)
                if tasks.turn(dict):
                    break
            stream.check_classes()
            self._take(stream, rows, complete, fresh)
        except KeyboardInterrupt:
            if stream.trainer is None:
                raise
            warnings.warn("Interrupted: the model is the one learned so far.", stacklevel=4)
            self._take(stream, rows, complete, fresh)
        except Exception:
            self.__dict__ = before
            raise
        tasks.finish()
        return self

    def partial_fit_source(self, source: Any, classes: Any = None, **options: Any) -> Any:
        """Learn from a source block by block, continuing from the present state.

        `partial_fit` does the same with a file or a table. New features are added. If a row cannot be read or learned
        from, the rows before it have been learned from.
        """
        return self._partial_fit_source(source, options, classes)

    @in_turn
    def _partial_fit_source(self, source: Any, options: dict[str, Any], classes: Any, **given: Any) -> Any:
        self._stopping_without_held_out("partial_fit")
        fresh = not self.__sklearn_is_fitted__()
        rows = inputs.opened(self, source, options, fresh=fresh, **given)
        stream, blocks = self._stream(rows, classes, fresh=fresh)
        try:
            list(passes(stream, lambda number: blocks, 1, ends=False))
        finally:
            if stream.trainer is not None:
                self._take(stream, rows, 1, fresh)
        return self

    def _stream(self, rows: Any, classes: Any, fresh: bool) -> tuple[Streaming, Any]:
        """Return a learner for the blocks of a source, new or continuing from this one, and the blocks."""
        loss, penalty, strategy = self._parts()
        kind = "regression" if isinstance(self, RegressorMixin) else "classification"
        if (loss.kind == "regression") != (kind == "regression"):
            raise ValueError(f"A {kind} loss is needed; {type(loss).__name__} was given.")
        if not fresh and (self._targets.kind == "multilabel" or not self._targets.flat):
            raise ValueError("A source has one label per row; this estimator has learned several.")
        batch_size = self._checked_batch_size()
        method = methods.resolve_for(self.method, penalty, loss, bool(self.average), batch_size)
        problem = Problem(
            loss,
            penalty,
            strategy,
            method,
            bool(self.fit_intercept),
            bool(self.average),
            bool(getattr(self, "grow", False)),
            None if classes is None else unique_labels(classes),
            sparsest=self._checked_select() == "sparsest",
            center=method.centring(self.center, self.fit_intercept),
            standardize=self._checked_standardize(method),
            batch_size=batch_size,
        )

        def reweigh(labels: Array, weight: Array | None, coded: targets.Targets) -> Array | None:
            return self._reweighted(labels, weight, coded, at_once=False)

        problem, blocks = settled(problem, rows) if fresh else (problem, rows.blocks())
        if not fresh and isinstance(self._trainer.penalty.groups, GrowingGroups):
            problem = replace(
                problem, penalty=self._trainer.penalty, column_of=columns_of(self._trainer.penalty.groups, rows)
            )
        stream = Streaming(problem, reweigh)
        if not fresh:
            stream.trainer, stream.width = self._trainer, self.n_features_in_
        return stream, blocks

    def _take(self, stream: Streaming, rows: Any, passes: int, fresh: bool) -> None:
        """Take over the trainer of a stream."""
        trainer = stream.finished()
        self._trainer = trainer
        self._read_once, self._sparse = _ReadOnce(), False
        self.n_iter_, self.n_features_in_ = passes, stream.width
        if self._targets.classes is not None:
            self.classes_ = self._targets.classes
        if fresh:
            inputs.forget(self)
        inputs.remember(self, rows, stream.width, self._used())

    def _used(self) -> Array:
        """Return the features that have a weight, at any strength."""
        return np.flatnonzero(self._read()[0].any(axis=1))

    def _accept(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, *, fresh: bool, at_once: bool, offset: Any = None
    ) -> Rows:
        """Check everything, then prepare to learn; if anything raises, the estimator is unchanged."""
        if fresh or not self._settings_are_known():
            loss, penalty, strategy = self._parts()
        else:
            loss, penalty, strategy = self._targets.loss, None, None  # what it has learned with
        width = None if fresh else self.n_features_in_
        X, y, names = self._checked(X, y, width)
        if isinstance(self, ClassifierMixin) and y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        weight = None if sample_weight is None else checked_weights(sample_weight, X.shape[0])
        if at_once and weight is not None:
            some_weight(weight)
        coded = self._find_targets(y, classes, loss, None if fresh else self._targets, at_once)
        if offset is not None:
            offset = checked_offset(offset, X.shape[0])
            coded.check_offset()
        encoded = coded.encode(y)
        weight = self._reweighted(y, weight, coded, at_once)
        features = X.shape[1] if width is None else max(width, X.shape[1])
        if fresh:
            penalty = penalty.bound(Known(features, names))
            batch_size = self._checked_batch_size()
            method = methods.resolve_for(self.method, penalty, coded.loss, bool(self.average), batch_size)
            center = method.centring(self.center, self.fit_intercept)
            centred = features if center is True or (center == "auto" and not sp.issparse(X)) else 0
            standardized = self._standardized(method, X)
            trainer = Trainer(
                method,
                penalty,
                strategy,
                coded,
                features,
                fit_intercept=bool(self.fit_intercept),
                average=bool(self.average),
                centred=centred,
                sparsest=self._checked_select() == "sparsest",
                batch_size=batch_size,
                standardized=standardized,
            )
        elif features != self._trainer.setup.features and self._trainer.setup.standardized:
            raise ValueError(
                f"standardize={self.standardize!r} has the units of {self._trainer.setup.features} features, and X has "
                f"{features}: begin with all of them, or use standardize=False."
            )
        elif (features, coded.outputs) != (self._trainer.setup.features, self._trainer.setup.outputs):
            trainer = self._trainer.grown(features, coded)
        else:
            trainer = self._trainer
        dense = trainer.setup.centred or trainer.setup.standardized
        rows = rows_of(X, dense, encoded, weight, offset)
        if not (
            fresh and at_once and weight is None and trainer.finds_bad_entries
        ):  # otherwise learning finds bad entries
            rows.check(features)
            rows.check_size()
        rows = rows.without_zero_weights()
        trainer.check_steps(len(rows))
        # Nothing below can fail.
        self._trainer = trainer
        self.n_features_in_ = features
        if fresh and hasattr(self, "source_settings_"):
            inputs.forget(self)
        if names is not None:
            self.feature_names_in_ = names
        elif fresh and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if coded.classes is not None:
            self.classes_ = coded.classes
        self._read_once = _ReadOnce()
        self._sparse = False
        self._known_settings = list(map(self.__dict__.get, self._setting_names()))
        return rows

    def _standardized(self, method: Any, X: Any) -> int:
        """Return how many features of a matrix are standardised: all or none."""
        wanted = self._checked_standardize(method)
        if wanted is True and sp.issparse(X):
            raise ValueError(
                "standardize=True is for arrays and for numbers of tables, and X is a sparse matrix: the spread of a "
                "feature that few rows have is not known from the first rows. Use method='step_free', which learns all "
                "features in their own units, or standardize='auto'."
            )
        return 0 if wanted is False or sp.issparse(X) else X.shape[1]

    @classmethod
    @functools.cache
    def _setting_names(cls) -> tuple[str, ...]:
        return tuple(cls._get_param_names())

    def _settings_are_known(self) -> bool:
        """Return whether all settings are the very objects that have been checked."""
        names = self._setting_names()
        known = getattr(self, "_known_settings", ())
        own = self.__dict__
        return len(known) == len(names) and all(map(operator.is_, known, map(own.get, names)))

    def _checked(self, X: Any, y: Any, width: int | None) -> tuple[Any, Array, Array | None]:
        """Return X as canonical CSR or as an array, and y, both checked."""
        quick = (
            sp.issparse(X)
            and X.format == "csr"
            and X.ndim == 2
            and (X.shape[1] > 0 if width is None else X.shape[1] == width)
            and X.data.dtype in (np.float32, np.float64)
            and isinstance(y, np.ndarray)
            and y.shape == (X.shape[0],)
            and len(y) > 0
            and y.dtype.kind in "iuf"
        )
        names = None
        if not quick:
            probe = _Probe(self, width)
            X, y = accepted(probe, X, y, reset=probe.reset(X))
            names = getattr(probe, "feature_names_in_", None)
        else:
            refuse_odd(y, "y")
            X = sparse_matrix(X, "X")
            if y.dtype.kind == "f" and not np.isfinite(y).all():
                raise ValueError("Input y contains NaN or infinity.")
        if X.shape[1] >= 2**31:
            raise ValueError(f"X has {X.shape[1]} features; at most 2^31 - 1 are possible.")
        return X, y, names

    # Weights

    @in_turn
    def _read(self) -> tuple[Array, Array]:
        """Return W (d × k) and b, read from the learner once after each change."""
        check_is_fitted(self, "_trainer")
        if self._read_once.weights is None:
            self._read_once.weights = self._trainer.read()
        return self._read_once.weights

    @in_turn
    def _read_some(self, features: Array) -> tuple[Array, Array]:
        """Return the weights of some features, in their order, and b."""
        return self._trainer.read_some(features)

    @property
    def coef_(self) -> Any:
        """The weights, one row per output; sparse after `sparsify`."""
        if not hasattr(self, "_trainer"):
            raise AttributeError("coef_ exists once the estimator is fitted.")
        W, _ = self._read()
        if self._sparse:
            return sp.csr_matrix(W.T)
        return W[:, 0] if self._targets.kind == "regression" and self._targets.flat else W.T

    @property
    def intercept_(self) -> Array:  # type: ignore[override]
        """The intercepts, one per output."""
        if not hasattr(self, "_trainer"):
            raise AttributeError("intercept_ exists once the estimator is fitted.")
        return self._read()[1]

    @property
    def t_(self) -> int:
        """Number of steps taken: examples learned from, or batches of them."""
        if not hasattr(self, "_trainer"):
            raise AttributeError("t_ exists once the estimator is fitted.")
        return int(self._trainer.rounds)

    @property
    def progressive_loss_(self) -> float:
        """The mean loss of each example before it was learned from."""
        if not hasattr(self, "_trainer"):
            raise AttributeError("progressive_loss_ exists once the estimator is fitted.")
        seen = self._trainer.weight_seen
        return float(self._trainer.loss_seen / seen) if seen > 0 else float("nan")

    @property
    def step_(self) -> Any:
        """The step in use: the one chosen by "auto" or "theory", or the one given."""
        if not hasattr(self, "_trainer"):
            raise AttributeError("step_ exists once the estimator is fitted.")
        return self._trainer.setting

    @property
    def nonzero_features_(self) -> Array:
        """The features with a non-zero weight: their names if the data had names, their numbers otherwise."""
        W, _ = self._read()
        used = np.flatnonzero(W.any(axis=1))
        return named(self, used)

    def sparsify(self) -> Any:
        """Make `coef_` a sparse matrix; return self."""
        check_is_fitted(self, "_trainer")
        self._sparse = True
        return self

    def densify(self) -> Any:
        """Make `coef_` an array; return self."""
        check_is_fitted(self, "_trainer")
        self._sparse = False
        return self

    def _decide(self, X: Any, offset: Any = None) -> Array:
        """Return z = X W + b plus the offset, n × k."""
        check_is_fitted(self, "_trainer")
        return decided(self, X, offset, "csr")

    def _scores(self, X: Any) -> Array:
        """Return z = X W + b, n × k."""
        X, W, b = self._terms(X)
        return np.asarray(X @ W) + b

    def _terms(self, X: Any) -> tuple[Any, Array, Array]:
        """Return X, W and b; if X has few entries, only the weights of its features are read."""
        if sp.issparse(X) and self._read_once.weights is None and X.nnz < self.n_features_in_ // 4 and self._one_model:
            W, b = self._read_some(np.ascontiguousarray(X.indices[: X.nnz], np.int32))
            X = sp.csr_array((X.data, np.arange(X.nnz, dtype=X.indptr.dtype), X.indptr), shape=(X.shape[0], X.nnz))
        else:
            W, b = self._read()
        return X, W, b

    # Saving

    @in_turn
    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_known_settings", None)
        if "_trainer" in state:
            state["_trainer"] = copy.copy(self._trainer)  # shallow copies have a state of their own too
            state["_read_once"] = _ReadOnce()
        return state

    @property
    def _groups(self) -> Any:
        """The groups of the penalty."""
        return self._trainer.penalty.groups

    @property
    def _targets(self) -> targets.Targets:  # type: ignore[override]
        """How y is coded."""
        return self._trainer.targets

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_trainer")


def _example(y: Array) -> str:
    """Return labels to name in an example: those of y, if they are few."""
    found = targets.distinct(y).tolist()
    return repr(found) if 2 <= len(found) <= 5 else "[0, 1]"


class _ReadOnce:
    """W and b between two changes of the learner; predicting fills it in without changing the estimator."""

    def __init__(self) -> None:
        self.weights: tuple[Array, Array] | None = None
        self.choice: Any = None  # for many strengths: the one in use


class _Probe(BaseEstimator):
    """Stands in for an estimator while its data is checked, so that a failed check does not change it."""

    def __init__(self, estimator: Any, width: int | None) -> None:
        self.estimator = estimator
        self.width = width
        if width is not None:
            self.n_features_in_ = width
            if hasattr(estimator, "feature_names_in_"):
                self.feature_names_in_ = estimator.feature_names_in_
        self.__class__ = type(type(estimator).__name__, (_Probe,), {})

    def reset(self, X: Any) -> bool:
        """Return whether this is the first data, or wider data where growing is allowed."""
        if self.width is None:
            return True
        grows = getattr(self.estimator, "grow", False) and len(np.shape(X)) == 2
        return bool(grows and np.shape(X)[1] > self.width)

    def __sklearn_tags__(self) -> Any:
        return self.estimator.__sklearn_tags__()


class OnlineClassifier(LinearClassifier, _Online):
    r"""A sparse linear classifier learned online: minimise mean loss + α·Ω(w), one example at a time.

    Two classes make one output; more make one output per class, with the joint loss if there is one ("logistic"
    becomes multinomial, "hinge" becomes the multiclass hinge) and one-vs-rest otherwise. A matrix y of 0 and 1
    makes one output per label. The result does not depend on how the data is split into calls.

    Parameters
    ----------
    loss : str or loss, default "logistic"
        A classification loss.
    penalty : str, penalty or set, default "l1"
        Ω, or a set that the weights stay in.
    alpha : float, default 1e-5
        The regularization strength α ≥ 0.
    method : str or method, default "auto"
        How to learn; "auto" is the rule without a step (`StepFree`), FOBOS if the penalty couples features, and AdaGrad
        if `average` or `batch_size` asks for it.
    max_passes : int, default 1
        Passes over the data in `fit`.
    batch_size : int, default 1
        How many rows make a step. With more than one, the step follows the mean of their gradients (each times its
        weight) at the weights before it. At the end of every pass of `fit` the rest makes a smaller batch; after
        `partial_fit` the rest waits for more rows, and is part of what is saved. Not for the rule without a step, so
        "auto" is then AdaGrad.
    tol : float, optional
        Stop `fit` when a pass lowers the progressive loss of the best pass before by less than this.
    early_stopping : bool, default False
        Whether `fit` holds rows out, chosen at random, and `tol` (0 if it is None) watches their loss after each pass.
        The weights are those of the last pass.
    validation_fraction : float, default 0.1
        The fraction of rows that `early_stopping` holds out.
    n_iter_no_change : int, default 1
        How many passes in a row must bring less than `tol` before `fit` stops.
    shuffle : bool, default True
        Whether `fit` shuffles the rows of a matrix before each pass; files and tables are read in their order.
    average : bool, default False
        Whether the weights are the average of all iterates.
    center : bool or "auto", default "auto"
        Which features are centred while learning: those of arrays and the numbers of tables ("auto"); all (True), at
        the cost of a value for each feature in every row; or none. `coef_` and `intercept_` are for the data as it is.
    standardize : bool or "auto", default False
        For methods with a step: whether they learn arrays and the numbers of tables in units of their standard
        deviation, around the mean if there is an intercept. The units are those of the first 2,048 rows, or of the
        largest power of two if there are fewer. Sparse matrices are refused (True) or learned as they are ("auto").
        `coef_` is for the data as it is; α is in these units. The rule without a step always learns in units of the
        features.
    select : "best" or "sparsest", default "best"
        "sparsest" also reads those weights as zero that are hardly above the noise of their gradients: a tenth to a
        half of the features remain, for a little more loss. For the rule without a step, labels and the ℓ1 norm.
    fit_intercept : bool, default True
        Whether to learn an intercept. It is never penalised.
    class_weight : dict, "balanced" or None
        Weights of the classes; "balanced" works in `fit` only.
    warm_start : bool, default False
        Whether `fit` continues from the present state (warm start).
    grow : bool, default False
        Whether `partial_fit` accepts new classes and more features.
    random_state : int, RandomState or None
        Seed of the shuffling.
    verbose : int, default 0
        1 prints one line per pass.

    Attributes
    ----------
    coef_, intercept_ : arrays
        The weights, one row per output, and the intercepts.
    classes_ : array
        The classes.
    nonzero_features_, nonzero_groups_ : arrays
        The features, and the groups of features, that are used.
    progressive_loss_ : float
        The mean loss of each example before it was learned from.
    step_ : float or schedule
        The step in use.
    n_iter_, t_, n_features_in_, feature_names_in_
        Passes, steps taken (examples, or batches of them), features, their names.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = gs.OnlineClassifier(alpha=1e-2, max_passes=5, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True

    A table, in memory or in a file, may have columns of any kind:

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "mails.csv")
    >>> _ = path.write_text("words,sender,spam\n" + "120,friend,no\n30,shop,yes\n" * 50)
    >>> model = gs.OnlineClassifier(alpha=1e-3).fit(path, target="spam")
    >>> sorted(model.nonzero_features_)[:2], model.score(path)
    (['sender=friend', 'sender=shop'], 1.0)
    """

    def __init__(
        self,
        loss: Any = "logistic",
        penalty: Any = "l1",
        alpha: float = 1e-5,
        method: Any = "auto",
        *,
        max_passes: int = 1,
        batch_size: int = 1,
        tol: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 1,
        shuffle: bool = True,
        average: bool = False,
        center: Any = "auto",
        standardize: Any = False,
        select: str = "best",
        fit_intercept: bool = True,
        class_weight: Any = None,
        warm_start: bool = False,
        grow: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.method = method
        self.max_passes = max_passes
        self.batch_size = batch_size
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.average = average
        self.center = center
        self.standardize = standardize
        self.select = select
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.grow = grow
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, **options: Any
    ) -> OnlineClassifier:
        """Learn from all rows, `max_passes` times, afresh unless `warm_start`.

        X is a matrix; or a file, a data frame, an Arrow table or a source with columns of any kind, which is learned
        from in its order. Then y may be left out, and `options` are those of `gossamer.source`: ``fit("prices.csv",
        target="price")``. `offset` is one number per row that is added to its scores and not learned.
        """
        return self._learn(X, y, sample_weight, offset, options)

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        **options: Any,
    ) -> OnlineClassifier:
        """Learn from these rows, in their order. The first call needs all `classes`, unless `grow`."""
        return self._learn_more(X, y, sample_weight, offset, options, classes)

    def _find_targets(self, y: Array, classes: Any, loss: Any, known: Any, at_once: bool) -> targets.Targets:
        if classes is not None and known is not None and not np.array_equal(np.unique(classes), np.sort(known.classes)):
            raise ValueError(f"classes={classes!r} is not the same as in the first call, {known.classes!r}.")
        if known is not None:
            if known.kind == "multilabel":
                if y.ndim != 2 or y.shape[1] != known.outputs:
                    raise ValueError(f"y must have {known.outputs} columns of 0 and 1, as before.")
                return known
            return known.with_new_classes(targets.distinct(y)) if self.grow else known
        if several_labels(y):
            return targets.for_indicators(y, loss)
        if classes is None:
            if not at_once and not self.grow:
                raise ValueError(
                    "classes must be passed on the first call to partial_fit, which may not see all of them: "
                    f"partial_fit(X, y, classes={_example(y)}). With grow=True new classes may come later."
                )
            classes = targets.distinct(y)
        else:
            classes = unique_labels(classes)
        return targets.for_labels(classes, loss, bool(self.grow))


class OnlineRegressor(LinearRegressor, _Online):
    """A sparse linear regressor learned online: minimise mean loss + α·Ω(w), one example at a time.

    A matrix y makes one output per column. The result does not depend on how the data is split into calls.

    Parameters
    ----------
    loss : str or loss, default "squared"
        A regression loss.
    penalty, alpha, method, max_passes, tol, early_stopping, validation_fraction, n_iter_no_change, shuffle, average
        As in `OnlineClassifier`.
    center, standardize, select, fit_intercept, warm_start, grow, random_state, verbose
        As in `OnlineClassifier`.

    Attributes
    ----------
    coef_, intercept_ : arrays
        The weights (a vector for a vector y, one row per output otherwise) and the intercepts.
    nonzero_features_, nonzero_groups_, progressive_loss_, step_, n_iter_, t_, n_features_in_, feature_names_in_
        As in `OnlineClassifier`.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> gs.OnlineRegressor(alpha=0.1, max_passes=20, random_state=0).fit(X, y).score(X, y) > 0.4
    True
    """

    def __init__(
        self,
        loss: Any = "squared",
        penalty: Any = "l1",
        alpha: float = 1e-5,
        method: Any = "auto",
        *,
        max_passes: int = 1,
        batch_size: int = 1,
        tol: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 1,
        shuffle: bool = True,
        average: bool = False,
        center: Any = "auto",
        standardize: Any = False,
        select: str = "best",
        fit_intercept: bool = True,
        warm_start: bool = False,
        grow: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.method = method
        self.max_passes = max_passes
        self.batch_size = batch_size
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.average = average
        self.center = center
        self.standardize = standardize
        self.select = select
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.grow = grow
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, **options: Any
    ) -> OnlineRegressor:
        """Learn from all rows, `max_passes` times, afresh unless `warm_start`.

        X, `offset` and `options` are as in `OnlineClassifier.fit`.
        """
        return self._learn(X, y, sample_weight, offset, options)

    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, **options: Any
    ) -> OnlineRegressor:
        """Learn from these rows, in their order."""
        return self._learn_more(X, y, sample_weight, offset, options)

    def _find_targets(self, y: Array, classes: Any, loss: Any, known: Any, at_once: bool) -> targets.Targets:
        coded = targets.for_regression(y, loss)
        if known is not None and coded.outputs != known.outputs:
            raise ValueError(f"y must have {known.outputs} columns, as before; it has {coded.outputs}.")
        return coded if known is None else known
