"""What estimators say of common mistakes: settings of other libraries, words in X or y, no probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gossamer.registry import nearest
from gossamer.validation import number

_STEP = "The step belongs to the method: method=gossamer.AdaGrad(step=0.1), or method=gossamer.Fobos(step=0.5)."
_NO_STEP = "There is no step to choose: it follows from the loss and the data."
_STRENGTH = "The regularization strength is alpha (alphas for many of them)."
_PASSES = "The number of passes over the data is max_passes."
_ONE_THREAD = "It uses one thread; OnlineClassifierCV, BatchClassifierCV, BoostingClassifier and the like take n_jobs."
_EPSILON = "It belongs to the loss: loss=gossamer.Huber(…), gossamer.EpsilonInsensitive(…), gossamer.Quantile(…)."
# Settings of scikit-learn and others, and the right word here; where an estimator has a setting, it needs none.
_SETTINGS = {
    "C": "alpha = 1 / (n C), with n rows: C=1.0 is alpha=1 / len(X).",
    "max_iter": "{iterations}",
    "n_iter": "{iterations}",
    "max_passes": "{iterations}",
    "epochs": "{iterations}",
    "n_epochs": "{iterations}",
    "n_estimators": "{iterations}",
    "max_rounds": "{iterations}",
    "eta0": "{step}",
    "eta": "{step}",
    "lr": "{step}",
    "learning_rate": "{step}",
    "learning_rate_init": "{step}",
    "power_t": "{step}",
    "step": "{step}",
    "l1_ratio": "It belongs to the penalty: penalty=gossamer.ElasticNet(l1_ratio=0.5).",
    "groups": "They belong to the penalty: penalty=gossamer.GroupL2(groups=[[0, 1], [2]]).",
    "epsilon": _EPSILON,
    "delta": _EPSILON,
    "n_jobs": _ONE_THREAD,
    "lambda_": _STRENGTH,
    "lam": _STRENGTH,
    "lambd": _STRENGTH,
    "reg": _STRENGTH,
    "reg_lambda": _STRENGTH,
    "reg_alpha": _STRENGTH,
    "regularization": "{strength}",
    "alphas": "{strength}",
    "Cs": "{strength}",
    "n_alphas": "{strength}",
    "eps": "{strength}",
    "alpha": "It tries many strengths: alphas=[0.1, 0.01], or the number of them, alphas=50.",
    "cv": "Estimators whose names end in CV choose the strength: BatchClassifierCV(cv=5).",
    "positive": "It is a penalty: penalty='non_negative_l1'.",
    "normalize": "Scale before: sklearn.pipeline.make_pipeline(StandardScaler(), …).",
    "random_state": "Nothing here depends on chance.",
    "seed": "It is called random_state where something depends on chance.",
    "multi_class": "Several classes need no setting; loss='squared_hinge' is one-vs-rest.",
    "class_weight": "It weighs classes; weigh rows by fit(X, y, sample_weight=…).",
    "dual": "There is no such choice; solver= names the algorithm.",
    "method": "Online estimators have methods; this one has solver='auto'.",
    "solver": "Batch estimators have solvers; this one has method='auto'.",
}


def right_word(name: str, known: tuple[str, ...]) -> str:
    """Return what to say of a setting that an estimator does not have."""
    iterations = next((word for word in ("max_passes", "max_iter", "max_rounds") if word in known), "")
    strength = "alphas, a sequence or a number of them" if "alphas" in known else "alpha"
    said = _SETTINGS.get(name, "").format(
        iterations=f"The number of rounds is {iterations}." if iterations != "max_passes" else _PASSES,
        strength=f"The regularization strength is {strength}.",
        step=_STEP if "method" in known else _NO_STEP,
    )
    return f" {said}" if said else nearest(name, known) or f" Its settings are {', '.join(known)}."


def refuse_words(X: Any, y: Any = None) -> None:
    """Raise if the data of a user holds words, naming the row and the column.

    >>> refuse_words([["1", "Rome"]])
    Traceback (most recent call last):
    ...
    ValueError: X holds words: could not convert string to float: 'Rome', in row 0, column 1. ...
    """
    names = getattr(X, "columns", None)
    cells = np.asarray(X, dtype=object)
    for column in range(cells.shape[1] if cells.ndim == 2 else 0):
        row = _first_word(cells[:, column])
        if row is not None:
            called = "" if names is None else f" ({list(names)[column]!r})"
            raise ValueError(
                f"X holds words: could not convert string to float: {cells[row, column]!r}, in row {row}, column "
                f"{column}{called}. Categories, texts and dates are read from data frames and files: "
                "fit(pandas.DataFrame(X), y), or fit(frame, target=…)."
            )
    if y is not None:
        labels = np.asarray(y, dtype=object)
        row = _first_word(labels)
        if row is not None:
            raise TypeError(
                f"y must hold real numbers; y[{row}] is {labels[row]!r}. A regressor predicts numbers; "
                "for labels use a classifier (OnlineClassifier, BatchClassifier, BoostingClassifier)."
            )


def _first_word(cells: Any) -> int | None:
    """Return where the first cell is that is no number, or None."""
    for row, cell in enumerate(cells.tolist()):
        try:
            float(cell)
        except (TypeError, ValueError):
            return row
    return None


def chosen_strength(estimator: Any) -> float:
    """Return `alpha`, checked; a word says which estimator chooses it."""
    if isinstance(estimator.alpha, str):
        raise TypeError(
            f"alpha must be a number; {estimator.alpha!r} was given. {type(estimator).__name__}CV chooses it from the "
            "data."
        )
    return number(estimator.alpha, "alpha", least=0)


class offered_if:  # noqa: N801  (a decorator)
    """A method that exists if `check(estimator)` returns True; the error it raises otherwise says what would do.

    `sklearn.utils.metaestimators.available_if` hides the words of the error.
    """

    def __init__(self, check: Callable[[Any], bool]) -> None:
        self.check = check

    def __call__(self, method: Callable[..., Any]) -> Any:
        """Return the descriptor of a method."""
        self.method, self.__doc__ = method, method.__doc__
        return self

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        if estimator is None:
            return self.method
        self.check(estimator)
        return self.method.__get__(estimator, owner)
