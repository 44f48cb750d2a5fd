"""Predictions of Dask collections: lazily, block by block; what is no Dask collection is predicted as elsewhere."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from gossamer.estimators.linear import has_probabilities
from gossamer.estimators.mistakes import offered_if
from gossamer.validation import Array


def is_lazy(X: Any) -> bool:
    """Return whether X is a Dask array or data frame."""
    return hasattr(X, "__dask_graph__") and (hasattr(X, "map_blocks") or hasattr(X, "map_partitions"))


def _of_no_rows(model: Any, how: str) -> Array:
    """Return what is predicted for no rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # this row has no names of features
        return getattr(model, how)(np.zeros((1, model.n_features_in_)))[:0]


def _predicted(block: Any, model: Any, how: str) -> Array:
    if len(np.shape(block)) != 2 or block.shape[0] == 0:  # what Dask tries out, or a block without rows
        return _of_no_rows(model, how)
    return getattr(model, how)(block)


def lazily(model: Any, X: Any, how: str) -> Any:
    """Return model.how(X) as a Dask array."""
    plain = copy.copy(model)
    plain.client = None
    like = _of_no_rows(plain, how)
    if not hasattr(X, "chunks"):  # a frame: its blocks have unknown numbers of rows
        return X.map_partitions(_predicted, plain, how, meta=like)
    _need_whole_rows(X)
    if like.ndim == 1:
        return X.map_blocks(_predicted, plain, how, drop_axis=1, dtype=like.dtype, meta=like)
    return X.map_blocks(_predicted, plain, how, chunks=(X.chunks[0], (like.shape[1],)), dtype=like.dtype, meta=like)


def _need_whole_rows(X: Any) -> None:
    if X.ndim != 2 or X.numblocks[1] != 1:
        raise ValueError(
            f"X is cut into {X.numblocks[1:]} blocks of columns; every block must have all columns: "
            "X.rechunk({1: -1})."
        )


def _moments(X: Any, y: Any, weight: Any, model: Any) -> Array:
    """Return Σ c, and for classes Σ c [right]; for numbers the mean of y, Σ c (y − mean)² and Σ c (y − ŷ)²."""
    y = np.asarray(y)
    c = np.ones(len(y)) if weight is None else np.asarray(weight, np.float64)
    if len(y) == 0:
        return np.zeros(4)
    found = model.predict(X)
    right = found == y if found.ndim == 1 else (found == y).all(axis=1)
    if isinstance(model, ClassifierMixin):
        return np.array([c.sum(), float(c @ right), 0.0, 0.0])
    mean = float(np.average(y, weights=c)) if c.sum() > 0 else 0.0
    return np.array([c.sum(), mean, float(c @ (y - mean) ** 2), float(c @ (y - found) ** 2)])


def _score(parts: list[Array], classes: bool) -> float:
    total = parts[0]
    for part in parts[1:]:
        weight = total[0] + part[0]
        if classes or weight == 0:
            total = total + part
            continue
        off, share = part[1] - total[1], part[0] / weight
        spread = total[2] + part[2] + total[0] * share * off * off
        total = np.array([weight, total[1] + share * off, spread, total[3] + part[3]])
    return float(total[1] / total[0]) if classes else float(1 - total[3] / total[2])


def scored(model: Any, X: Any, y: Any, weight: Any) -> Any:
    """Return the share of right predictions, or R² of one target, as a delayed number."""
    import dask

    delayed: Any = dask.delayed  # type: ignore[attr-defined]
    plain = copy.copy(model)
    plain.client = None
    if hasattr(X, "chunks"):
        _need_whole_rows(X)
    columns = [X.to_delayed()[:, 0] if hasattr(X, "chunks") else X.to_delayed()]
    for name, other in (("y", y), ("sample_weight", weight)):
        if other is None:
            columns.append([None] * len(columns[0]))
            continue
        if not is_lazy(other) or len(np.ravel(other.to_delayed())) != len(columns[0]):
            raise ValueError(f"{name} must be a Dask collection in as many blocks of rows as X, {len(columns[0])}.")
        columns.append(np.ravel(other.to_delayed()))
    sent = delayed(plain)
    parts = [delayed(_moments)(*block, sent) for block in zip(*columns, strict=True)]
    return delayed(_score)(parts, isinstance(model, ClassifierMixin))


class Predicting:
    """An estimator that predicts Dask collections lazily."""

    def predict(self, X: Any, *args: Any, **named: Any) -> Any:
        """Return predictions; of a Dask array or data frame a Dask array."""
        return lazily(self, X, "predict") if is_lazy(X) else super().predict(X, *args, **named)  # type: ignore[misc]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **named: Any) -> Any:
        """Return the accuracy or R²; of Dask collections a delayed number."""
        if is_lazy(X):
            return scored(self, X, y, sample_weight)
        return super().score(X, y, sample_weight, **named)  # type: ignore[misc]


class PredictingClasses(Predicting):
    """A classifier that predicts Dask collections lazily."""

    def decision_function(self, X: Any, *args: Any, **named: Any) -> Any:
        """Return scores; of a Dask array or data frame a Dask array."""
        if is_lazy(X):
            return lazily(self, X, "decision_function")
        return super().decision_function(X, *args, **named)  # type: ignore[misc]

    @offered_if(has_probabilities)
    def predict_proba(self, X: Any, *args: Any, **named: Any) -> Any:
        """Return probabilities of the classes; of a Dask array or data frame a Dask array."""
        if is_lazy(X):
            return lazily(self, X, "predict_proba")
        return super().predict_proba(X, *args, **named)  # type: ignore[misc]
