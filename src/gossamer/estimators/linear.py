"""Base classes of the estimators: checks of data, labels and weights, predictions, callbacks, turns of threads."""

from __future__ import annotations

import functools
import math
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from gossamer import _core, losses
from gossamer.estimators import inputs, targets, wide
from gossamer.estimators.grouped import Grouped
from gossamer.estimators.mistakes import offered_if, refuse_words, right_word
from gossamer.registry import record
from gossamer.validation import Array, check_memory, refuse_odd, sparse_matrix

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # pragma: no cover  (an older scikit-learn)

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """An estimator without callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method."""
        return method


Call = TypeVar("Call", bound=Callable[..., Any])
BLOCK = 1 << 24  # products in one call of NumPy or SciPy, which cannot be interrupted: some hundredths of a second


class Strict:
    """An estimator whose constructor says the right word for a setting that it does not have."""

    def __new__(cls, *args: Any, **named: Any) -> Any:
        """Raise if a setting has a name that the constructor does not know."""
        code = cls.__init__.__code__
        if not code.co_flags & 0x08:  # a class of the user may take any
            known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
            for name in named:
                if name not in known:
                    raise TypeError(f"{cls.__name__} has no setting {name!r}.{right_word(name, known)}")
        return super().__new__(cls)


class Linear(Strict, Grouped, CallbackSupportMixin, BaseEstimator):
    """A model with `coef_` and `intercept_`."""

    _scores_by_row = True  # whether the scores of a row have the same bits whatever the rows beside it
    coef_: Any  # one row per output, or a vector for one real target
    intercept_: Array
    _targets: targets.Targets  # how y is coded

    @property
    def nonzero_features_(self) -> Array:
        """The features with a non-zero weight: their names if the data had names, their numbers otherwise."""
        check_is_fitted(self)
        coef = self.coef_
        if sp.issparse(coef):
            used = np.unique(coef.indices[coef.data != 0]).astype(np.int64)
        else:
            used = np.flatnonzero(np.atleast_2d(coef).any(axis=0))
        return named(self, used)

    def sparsify(self) -> Any:
        """Make `coef_` a sparse matrix; return self."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(np.atleast_2d(self.coef_)) if not sp.issparse(self.coef_) else self.coef_
        return self

    def densify(self) -> Any:
        """Make `coef_` an array; return self."""
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            check_memory(8 * math.prod(self.coef_.shape), "coef_ as an array", "Keep it sparse.")
            dense = self.coef_.toarray()
            self.coef_ = dense[0] if self._targets.kind == "regression" and self._targets.flat else dense
        return self

    def _decide(self, X: Any, offset: Any = None) -> Array:
        """Return z = X W + b plus the offset, n × k."""
        check_is_fitted(self)
        return decided(self, X, offset, ("csr", "csc"))

    def _scores(self, X: Any) -> Array:
        """Return z = X W + b of a matrix that is checked."""
        X, W, b = self._terms(X)
        return _product(X, W) + b

    def _terms(self, X: Any) -> tuple[Any, Array, Array]:
        """Return X, W and b, without columns that matter to no score."""
        if not sp.issparse(self.coef_):
            return X, np.atleast_2d(self.coef_).T, self.intercept_
        coef = sp.csr_array(self.coef_)
        used = np.unique(coef.indices)
        X = wide.selected(X, used) if sp.issparse(X) else X[:, used]
        return X, wide.selected(coef, used).toarray().T, self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags


def decided(estimator: Any, X: Any, offset: Any, accept_sparse: Any) -> Array:
    """Return the scores of a matrix, or of a table block by block, from `estimator._scores`, plus the offset."""
    if type(X) is not np.ndarray and inputs.predicts_by_source(estimator, X):
        return read_scores(estimator, X, offset).scores
    z = estimator._scores(accepted(estimator, X, accept_sparse=accept_sparse, reset=False))
    if offset is None:
        return z
    return _shifted(estimator, z, inputs.checked_offset(offset, len(z)))


def _shifted(estimator: Any, z: Array, offset: Array | None) -> Array:
    """Return scores plus offsets."""
    if offset is None:
        return z
    estimator._targets.check_offset()
    return z + offset[:, None]


@record
class Scored:
    """The scores of a table, with the labels and weights of its rows if it has them."""

    scores: Array
    y: Array | None
    weight: Array | None


def read_scores(estimator: Any, X: Any, offset: Any = None, **options: Any) -> Scored:
    """Return the scores of the rows of a table or file, read as the training data was."""
    offset = inputs.checked_offset(offset)
    parts, labels, weights, offsets = [], [], [], []
    for part, block in inputs.each_matrix(estimator, X, **options):
        parts.append(_sums(*estimator._terms(part)) if estimator._scores_by_row else part)
        labels += [] if block.label is None else [block.label]
        weights += [] if block.weight is None else [block.weight]
        offsets += [] if block.offset is None else [block.offset]
    if not parts:
        z = np.empty((0, estimator._targets.outputs))
    else:
        z = np.concatenate(parts) if estimator._scores_by_row else estimator._scores(sp.vstack(parts, "csr"))
    z = _shifted(estimator, z, np.concatenate(offsets) if offsets else None)
    if offset is not None and len(offset) != len(z):
        raise ValueError(f"offset must have one entry per row: there are {len(offset)} offsets and {len(z)} rows.")
    y = targets.whole_numbers(np.concatenate(labels)) if labels else None
    return Scored(_shifted(estimator, z, offset), y, np.concatenate(weights) if weights else None)


def _sums(X: Any, W: Array, b: Array) -> Array:
    """Return z = X W + b of CSR rows, added up as `Model` does it: both have the same bits."""
    used, outputs = np.nonzero(W)
    features, starts = np.unique(used, return_index=True)
    starts = np.append(starts, len(used)).astype(np.int64)
    score = _core.Scorer(features.astype(np.int64), starts, outputs.astype(np.int32), W[used, outputs])
    z = np.tile(np.broadcast_to(b, W.shape[1:]), (X.shape[0], 1))
    score(X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data, z)
    return z


def named(estimator: Any, features: Array) -> Array:
    """Return the names of some features if the data had names, their numbers otherwise."""
    if hasattr(estimator, "source_names_"):
        return np.array([estimator.source_names_.get(j, str(j)) for j in features.tolist()], dtype=object)
    names = getattr(estimator, "feature_names_in_", None)
    return features if names is None else names[features]


def _product(X: Any, W: Any) -> Array:
    """Return X W as an array. Large products are made block by block, so that Ctrl-C is noticed."""
    entries = X.nnz if sp.issparse(X) else X.size
    if sp.issparse(X) and X.format == "csc" and entries > BLOCK:
        X = X.tocsr()
    count = max(1, X.shape[0] * BLOCK // max(entries * W.shape[1], 1))
    if count >= X.shape[0]:
        Z = X @ W
        return np.asarray(Z.toarray() if sp.issparse(Z) else Z)
    blocks = (X[i : i + count] @ W for i in range(0, X.shape[0], count))
    return np.concatenate([Z.toarray() if sp.issparse(Z) else Z for Z in blocks])


def has_probabilities(estimator: Any) -> bool:
    """Return True if the loss gives probabilities; raise otherwise."""
    loss = losses.as_loss(estimator.loss)
    if not loss.probabilistic:
        *others, last = [repr(name) for name, make in losses.LOSSES.items() if make().probabilistic]
        raise AttributeError(
            f"{type(estimator).__name__} with {loss.label} has no predict_proba: this loss does not give probabilities."
            f" Use loss='logistic' ({', '.join(others)} and {last} give them), or decision_function."
        )
    return True


def several_labels(y: Array) -> bool:
    """Return True for a matrix of 0 and 1, one column per label, and False for one label per row; raise otherwise."""
    if y.ndim == 1 and y.dtype.kind in "iu":
        return False
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind not in ("binary", "multiclass", "multilabel-indicator"):
        raise ValueError(
            f"Unknown label type: {kind}. A classifier needs labels or a matrix of 0 and 1. For real numbers use a "
            "regressor (OnlineRegressor, BatchRegressor, BoostingRegressor); if they are labels, pass y.astype(str)."
        )
    return bool(kind == "multilabel-indicator")


def accepted(estimator: Any, X: Any, y: Any = "no_validation", *, accept_sparse: Any = "csr", **options: Any) -> Any:
    """Return X, or X and y, checked: the one way in, for `fit` and for predictions.

    X is an array of float64 or float32, or a canonical sparse matrix. `validate_data` of scikit-learn does the rest; it
    trusts the arrays of a sparse matrix, drops masks and takes dates for numbers.
    """
    refuse_odd(X, "X")
    if sp.issparse(X) and accept_sparse:
        X = sparse_matrix(X, "X", (accept_sparse,) if isinstance(accept_sparse, str) else accept_sparse)
    if not isinstance(y, str):
        refuse_odd(y, "y")
        y = sparse_matrix(y, "y").toarray() if sp.issparse(y) else y
        options["y_numeric"] = is_regressor(estimator)
        options["multi_output"] = True
    with np.errstate(invalid="ignore"):  # its sums of numbers near 1e308 may be ∞ − ∞; it then looks at each of them
        try:
            return validate_data(
                estimator, X, y, accept_sparse=accept_sparse, dtype=[np.float64, np.float32], **options
            )
        except ValueError as error:
            if "could not convert string" in str(error):
                refuse_words(X, None if isinstance(y, str) else y)
            if "Input y contains" in str(error):
                raise ValueError(_naming_the_label(str(error), y)) from None
            if "features as input" in str(error) and "roles" in (getattr(estimator, "source_settings_", None) or {}):
                columns = [name for name, role in estimator.source_settings_["roles"].items() if role != "ignore"]
                some = ", ".join(columns[:10]) + ", …" * (len(columns) > 10)
                raise ValueError(
                    f"{error} It learned from a table, and X has no names: pass a table with the columns {some}."
                ) from None
            if "Input X contains" not in str(error):
                raise
            raise ValueError(_naming_the_entry(str(error), X, not options.get("reset", True))) from None


def _naming_the_label(words: str, y: Any) -> str:
    """Return an error about NaN or infinity in y that names the first one, and what would do."""
    values = np.asarray(y, np.float64)
    row = int(np.argwhere(~np.isfinite(values))[0, 0])
    return f"{words.splitlines()[0].rstrip('.')}: y[{row}] is {values[row]}. Leave out the rows without a target."


def _naming_the_entry(words: str, X: Any, learned: bool) -> str:
    """Return an error about NaN or infinity in X that names the first such entry, and what would do."""
    if sp.issparse(X):
        entries = X.tocoo()
        bad = np.flatnonzero(~np.isfinite(entries.data))[0]
        row, column, value = entries.row[bad], entries.col[bad], entries.data[bad]
    else:
        values = np.asarray(X, np.float64)
        row, column = np.argwhere(~np.isfinite(values))[0]
        value = values[row, column]
    names = getattr(X, "columns", None)
    named = column if names is None or callable(names) else repr(list(names)[column])
    first = words.splitlines()[0].rstrip(".")
    instead = "Fill it in, or give a table with names of columns, whose missing values become features."
    if learned:
        instead = "Fill it in, or learn from a table with missing values too: then they become features."
    return f"{first}: row {row}, column {named}, is {value:g}. {instead}"


def checked(estimator: Any, X: Any, y: Any, accept_sparse: Any) -> tuple[Any, Array]:
    """Return X, canonical if it is sparse, and y, both checked, for `fit` on all rows at once."""
    names = getattr(estimator, "feature_names_in_", None) if hasattr(estimator, "source_settings_") else None
    X, y = accepted(estimator, X, y, accept_sparse=accept_sparse)
    if names is not None:  # of a table that was read: the matrix has none
        estimator.feature_names_in_ = names
    if X.shape[1] >= 2**31 or X.shape[0] >= 2**31:
        raise ValueError(f"X is {X.shape[0]} × {X.shape[1]}; at most 2^31 - 1 rows and features are possible.")
    if isinstance(estimator, ClassifierMixin) and y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    return X, y


def refuse_huge(estimator: Any, X: Any) -> None:
    """Raise if the squares of the entries of X add up to infinity, naming the column with the largest one."""
    values = (X.data if sp.issparse(X) else X).ravel(order="K")
    with np.errstate(over="ignore"):
        if np.isfinite(np.dot(values, values)) or values.dtype != np.float64:  # float32 is squared in float64
            return
    largest = abs(X).max(axis=0)
    largest = largest.toarray().ravel() if sp.issparse(largest) else np.asarray(largest)
    j = int(np.argmax(largest))
    name = repr(estimator.feature_names_in_[j]) if hasattr(estimator, "feature_names_in_") else j
    raise ValueError(
        f"The values of column {name} of X are too large: up to {largest[j]:.3g}, and their squares add up to "
        "infinity. Scale the columns first, for instance by sklearn.preprocessing.MaxAbsScaler."
    )


def some_weight(weight: Array) -> Array:
    """Return the weights; raise if all are zero."""
    if not weight.any():
        raise ValueError("All sample weights are zero: there is nothing to learn from.")
    return weight


def class_weighted(class_weight: Any, y: Array, weight: Array | None, coded: targets.Targets) -> Array | None:
    """Return the weights of the rows times those of their classes."""
    if class_weight is None:
        return weight
    if coded.kind == "multilabel":
        raise ValueError("class_weight is for one label per row; weight the rows of a matrix y by sample_weight.")
    of_class = compute_class_weight(class_weight, classes=coded.classes, y=y, sample_weight=weight)
    factors = of_class[coded.index_of(y)]
    if weight is None:
        return factors
    with np.errstate(over="ignore"):
        product = weight * factors
    if not np.isfinite(product).all():
        raise ValueError(
            f"sample_weight times class_weight is not finite: they are up to {weight.max():.3g} and "
            f"{factors.max():.3g}. Divide sample_weight by its largest value."
        )
    return product


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """Scores, classes and probabilities, from scores z = self._decide(X, offset), n × outputs.

    X is a matrix, or a table, file or source that is read as the training data was. `offset` is one number per row that
    is added to the scores.
    """

    classes_: Array
    loss: Any
    _targets: targets.Targets  # how y is coded

    def decision_function(self, X: Any, *, offset: Any = None) -> Array:
        """Return the scores: a vector for two classes, one column per class or label otherwise."""
        z = self._decide(X, offset)
        return self._targets.decisions(z)

    def predict(self, X: Any, *, offset: Any = None) -> Array:
        """Return the classes, or a matrix of 0 and 1 for several labels."""
        z = self._decide(X, offset)
        return self._targets.predictions(z)

    @offered_if(has_probabilities)
    def predict_proba(self, X: Any, *, offset: Any = None) -> Array:
        """Return the probability of each class (or of each label)."""
        z = self._decide(X, offset)
        return self._targets.probabilities(z)

    @offered_if(has_probabilities)
    def predict_log_proba(self, X: Any, *, offset: Any = None) -> Array:
        """Return the logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, offset=offset))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None) -> float:
        """Return the accuracy. A table or file has the labels (and weights) itself if y is not given."""
        y, predicted, weight = judged(self, X, y, sample_weight, offset)
        return float(accuracy_score(y, predicted, sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class LinearRegressor(RegressorMixin, BaseEstimator):
    """Predictions of real targets, from scores z = self._decide(X, offset), n × outputs; see `LinearClassifier`."""

    _targets: targets.Targets  # how y is coded

    def predict(self, X: Any, *, offset: Any = None) -> Array:
        """Return the predictions: the mean for "poisson", z otherwise."""
        z = self._decide(X, offset)
        return self._targets.predictions(z)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None) -> float:
        """Return R². A table or file has the targets (and weights) itself if y is not given."""
        y, predicted, weight = judged(self, X, y, sample_weight, offset)
        return float(r2_score(y, predicted, sample_weight=weight))


def judged(estimator: Any, X: Any, y: Any, weight: Any, offset: Any) -> tuple[Any, Array, Any]:
    """Return y, the predictions and the weights; y and weights are those of the table if they are not given."""
    if y is None and inputs.is_table(X):
        check_is_fitted(estimator)
        settings = getattr(estimator, "source_settings_", {"numbers": None})
        if "numbers" in settings and settings.get("target") is None:  # of a table
            raise ValueError("score needs y: the estimator has learned from a y apart, not from a column of a table.")
        found = read_scores(estimator, X, offset, need_labels=True)
        y, weight = found.y, found.weight if weight is None else weight
        return y, estimator._targets.predictions(found.scores), weight
    return y, estimator.predict(X) if offset is None else estimator.predict(X, offset=offset), weight


class Tasks:
    """Reports the begin and end of a fit, and of its parts, to scikit-learn's callbacks (1.9 and later).

    `most` is the number of parts, if known. Without callbacks nothing happens.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, part: str, most: int | None = None) -> None:
        self._estimator, self._data, self._part, self._most = estimator, {"X": X, "y": y}, part, most
        self._done = 0
        self._fit: Any = None
        self._task: Any = None
        if hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx"):
            self._fit = estimator._init_callback_context(max_subtasks=most)
            self._fit.call_on_fit_task_begin(estimator=estimator, **self._data)
            self._begin()

    @property
    def heard(self) -> bool:
        """Whether there are callbacks."""
        return self._fit is not None

    def turn(self, fitted: Callable[[], dict[str, Any]]) -> bool:
        """Report the end of a part and the begin of the next; return whether a callback wants to stop the fit.

        `fitted` returns the attributes of the estimator as fitted so far.
        """
        if self._task is None:
            return False
        stop = self._task.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=fitted, **self._data
        )
        self._done += 1
        self._task = None
        if not stop and self._done != self._most:
            self._begin()
        return bool(stop)

    def finish(self) -> None:
        """Report the end of the fit."""
        if self._fit is None:
            return
        if self._task is not None:  # a part that was not needed
            self._task.call_on_fit_task_end(estimator=self._estimator)
        self._fit.call_on_fit_task_end(estimator=self._estimator, reconstruction_attributes={}, **self._data)

    def _begin(self) -> None:
        self._task = self._fit.subcontext(task_name=self._part)
        self._task.call_on_fit_task_begin(estimator=self._estimator, **self._data)


# Threads take turns at an estimator: one learns, or one reads. The locks are kept beside the estimators, not in them:
# pickles, copies and clones have locks of their own.


class Turns:
    """A lock that its thread may take again, and whether what it guards is whole.

    A process that is forked while another thread learns has a copy of the estimator that is half changed.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.torn = False

    def after_fork(self) -> None:
        """Find out whether the state was being changed."""
        if self.lock.acquire(blocking=False):  # it was free, or belongs to the thread that forked
            self.lock.release()
        else:
            self.torn = True


_TURNS: weakref.WeakKeyDictionary[Any, Turns] = weakref.WeakKeyDictionary()


def in_turn(method: Call) -> Call:
    """Return the method of an estimator, called when no other thread learns or reads."""

    @functools.wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        turns = _TURNS.get(self)
        if turns is None:
            turns = _TURNS.setdefault(self, Turns())  # the same for all threads
        if turns.torn:
            raise RuntimeError(
                "Another thread was learning with this estimator when the process was forked: the copy in this process "
                "is not complete. Fork before or after learning, or give the process a pickle of the estimator."
            )
        with turns.lock:
            return method(self, *args, **kwargs)

    return cast(Call, called)


def _after_fork() -> None:
    for turns in _TURNS.values():
        turns.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
