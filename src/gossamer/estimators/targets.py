"""The coding of y: from labels or numbers to what the loss reads, and from scores back to predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gossamer.registry import record
from gossamer.validation import Array


@record
class Targets:
    """How y is coded.

    kind : "binary" (one output, y = ±1), "multiclass" (one output per class, y the class), "one_vs_rest" (one output
    per class, y = ±1 for each), "multilabel" (one output per label, y = ±1 for each), "regression" (one output per
    column).
    """

    kind: str
    outputs: int
    loss: Any  # the loss that the learner uses
    classes: Array | None = None
    flat: bool = True  # regression: whether y was a vector

    def encode(self, y: Array) -> Array:
        """Return y as the learner reads it, n × targets."""
        if self.kind == "regression":
            return np.ascontiguousarray(self.loss.check_targets(y).reshape(len(y), self.outputs))
        if self.kind == "multilabel":
            check_indicators(y)
            return np.where(y != 0, 1.0, -1.0)
        index = self.index_of(y)
        if self.kind == "binary":
            return (2.0 * index - 1.0)[:, None]
        if self.kind == "multiclass":
            return index.astype(np.float64)[:, None]
        coded = np.full((len(y), self.outputs), -1.0)
        coded[np.arange(len(y)), index] = 1.0
        return coded

    def index_of(self, y: Array) -> Array:
        """Return the index of each label in `classes`."""
        assert self.classes is not None
        if len(self.classes) == 2:
            second = y == self.classes[1]
            unknown = ~(second | (y == self.classes[0]))
            index = second.astype(np.intp)
        else:
            order = np.argsort(self.classes, kind="stable")
            place = np.searchsorted(self.classes, y, sorter=order)
            index = order[np.minimum(place, len(order) - 1)]
            unknown = self.classes[index] != y
        if unknown.any():
            raise ValueError(
                f"y holds the label {y[unknown].tolist()[0]!r}, which is not one of the classes {_some(self.classes)}. "
                "Name all classes in the first partial_fit(classes=...), or use grow=True."
            )
        return index

    def with_new_classes(self, y: Array) -> Targets:
        """Return targets with the new labels of y added at the end."""
        assert self.classes is not None
        new = np.setdiff1d(y, self.classes)
        if len(new) == 0 or self.kind not in ("multiclass", "one_vs_rest"):
            return self
        classes = np.concatenate([self.classes, new])
        return replace(self, classes=classes, outputs=len(classes))

    def check_offset(self) -> None:
        """Raise if adding one number to the scores of a row changes nothing."""
        if self.kind == "multiclass":
            raise ValueError(
                f"offset is one number per row, added to the scores of all classes, and with {self.loss.label} that "
                "changes nothing. Use it with two classes, or with a regression loss."
            )

    # From scores z = X W + b, n × outputs, to what users see

    def decisions(self, z: Array) -> Array:
        """Return the `decision_function`: a vector for two classes or one target, else one column per output."""
        if self.kind == "regression":
            return z[:, 0] if self.flat else z
        if self.kind == "binary":
            return z[:, 0]
        return z[:, 1] - z[:, 0] if self.kind != "multilabel" and z.shape[1] == 2 else z

    def predictions(self, z: Array) -> Array:
        """Return classes, a matrix of 0 and 1 for several labels, or the numbers that regression predicts."""
        if self.kind == "regression":
            return self.decisions(self.loss.link(z))
        if self.kind == "multilabel":
            return (z > 0).astype(int)
        assert self.classes is not None
        scores = self.decisions(z)
        return self.classes[(scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)]

    def probabilities(self, z: Array) -> Array:
        """Return the probability of each class or label; raise if the loss gives none."""
        if not self.loss.probabilistic:
            raise ValueError(f"{self.loss.label} gives no probabilities; 'logistic' and 'multinomial' do.")
        p = self.loss.link(z)
        if self.kind == "binary":
            return np.hstack([1 - p, p])
        if self.kind == "one_vs_rest":
            total = p.sum(axis=1, keepdims=True)
            return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])
        return p


def distinct(y: Array) -> Array:
    """Return the distinct labels of y, sorted; one or two labels, and small integers, are found without sorting.

    >>> distinct(np.array([1, -1, 1])), distinct(np.array([3, 1, 1, 2]))
    (array([-1,  1]), array([1, 2, 3]))
    """
    if y.ndim == 1 and y.dtype.kind in "iuf" and len(y):
        low, high = y.min(), y.max()
        if ((y == low) | (y == high)).all():
            return np.array([low, high] if low < high else [low])
        if y.dtype.kind != "f" and int(high) - int(low) < len(y) + 1000:
            low = int(low)
            return (np.flatnonzero(np.bincount(np.subtract(y, low, dtype=np.int64))) + low).astype(y.dtype)
    return np.unique(y)


def whole_numbers(y: Array) -> Array:
    """Return floats that are all whole numbers as integers, and any other y as it is.

    >>> whole_numbers(np.array([1.0, 0.0])), whole_numbers(np.array([0.5]))
    (array([1, 0]), array([0.5]))
    """
    if y.dtype.kind != "f" or not (y == np.floor(y)).all() or not (np.abs(y) < 2**53).all():
        return y
    return y.astype(np.int64)


def refuse_other_kind(y: Array, regression: bool, who: str) -> None:
    """Raise if y holds words and the estimator `who` learns numbers, or fractions and it learns classes.

    >>> refuse_other_kind(np.array([0.5, 1.25]), False, "BatchClassifier")
    Traceback (most recent call last):
    ...
    ValueError: The target holds numbers such as 0.5, and BatchClassifier learns classes; BatchRegressor learns numbers.
    """
    if regression and y.dtype.kind not in "biuf" and len(y):
        other = who.replace("Regressor", "Classifier")
        word = y[:1].tolist()[0]
        raise ValueError(f"The target holds words such as {word!r}, and {who} learns numbers; {other} learns classes.")
    if not regression and y.dtype.kind == "f" and y.ndim == 1:
        fractions = np.flatnonzero((y != np.floor(y)) & np.isfinite(y))
        if len(fractions):
            other, number = who.replace("Classifier", "Regressor"), y[fractions[0]]
            raise ValueError(
                f"The target holds numbers such as {number:g}, and {who} learns classes; {other} learns numbers."
            )


def _some(classes: Array) -> str:
    shown = ", ".join(repr(c) for c in classes[:10].tolist())
    return shown + (", …" if len(classes) > 10 else "")


def for_regression(y: Array, loss: Any) -> Targets:
    """Return the coding of real targets."""
    if loss.kind != "regression":
        raise ValueError(f"A regressor needs a regression loss such as 'squared'; {type(loss).__name__} was given.")
    if y.dtype.kind in "OUS":
        raise TypeError(
            f"y must hold real numbers; its dtype is {y.dtype}. A regressor predicts numbers; for labels use a "
            "classifier (OnlineClassifier, BatchClassifier, BoostingClassifier)."
        )
    return Targets("regression", 1 if y.ndim == 1 else y.shape[1], loss, flat=y.ndim == 1)


def for_labels(classes: Array, loss: Any, grow: bool) -> Targets:
    """Return the coding of labels: with the joint loss of all classes if there is one, one-vs-rest otherwise."""
    if loss.kind not in ("binary", "multiclass"):
        raise ValueError(
            f"A classifier needs a classification loss such as 'logistic' or 'hinge'; {type(loss).__name__} was given."
        )
    if len(classes) < 2 and not grow:
        raise ValueError(
            f"The labels hold one class only, {_some(classes)}; a classifier needs at least two. "
            "With partial_fit, name all classes in the first call."
        )
    if loss.kind == "multiclass":
        return Targets("multiclass", len(classes), loss, classes)
    if len(classes) == 2 and not grow:
        return Targets("binary", 1, loss, classes)
    joint = loss.joint()
    if joint is not None:
        return Targets("multiclass", len(classes), joint, classes)
    return Targets("one_vs_rest", len(classes), loss, classes)


def check_indicators(y: Array) -> None:
    """Raise unless y holds 0 and 1 only."""
    if not np.isin(y, (0, 1)).all():
        raise ValueError("Several labels at once are a matrix of 0 and 1, one column per label; y holds other numbers.")


def for_indicators(y: Array, loss: Any) -> Targets:
    """Return the coding of a matrix of 0 and 1, one column per label."""
    check_indicators(y)
    if loss.kind != "binary":
        raise ValueError(
            f"Several labels at once need a binary loss such as 'logistic'; {type(loss).__name__} was given."
        )
    return Targets("multilabel", y.shape[1], loss, np.arange(y.shape[1]))
