"""An estimator that raised is exactly as it was before the call: every estimator, every kind of bad input."""

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import gossamer as gs

N, D = 40, 6
_random = np.random.default_rng(0)
X = _random.normal(size=(N, D))
REAL = X[:, 0] - X[:, 1] + 0.1 * _random.normal(size=N)
LABELS = np.where(REAL > 0, "yes", "no")
WIDE = _random.normal(size=(N, D + 2))  # what a call that raises must leave no trace of
THREE = np.array(["a", "b", "c"])[np.arange(N) % 3]


def spoiled(value, data=WIDE):
    data = data.copy()
    data[3, 2] = value
    return data


class Named:
    """A data frame with columns of its own names."""

    def __new__(cls, data):
        import pandas as pd

        return pd.DataFrame(data, columns=[f"column {j}" for j in range(data.shape[1])])


def falling(t):
    return 20.5 - t


# The data of the call, given new targets; the settings that are changed before it, if any.
ROWS = {
    "NaN": lambda y: (spoiled(np.nan), y),
    "infinity in a data frame": lambda y: (Named(spoiled(np.inf)), y),
    "infinity, sparse": lambda y: (sp.csr_array(spoiled(np.inf)), y),
    "a vector": lambda y: (X[0], y),
    "no rows": lambda y: (WIDE[:0], y[:0]),
    "fewer targets": lambda y: (WIDE, y[:-1]),
    "no targets": lambda y: (WIDE, None),
    "negative weights": lambda y: (WIDE, y, -np.ones(N)),
    "too few weights": lambda y: (WIDE, y, np.ones(N - 1)),
    "weights of NaN, a data frame": lambda y: (Named(WIDE), y, np.full(N, np.nan)),
}
OF_LABELS = {
    "one class": lambda y: (WIDE, np.full(N, "yes")),
    "real numbers": lambda y: (WIDE, REAL),
    "class weights of no class": lambda y: (WIDE, y, None, {"class_weight": {"elephant": 2.0}}),
}
OF_NUMBERS = {
    "words": lambda y: (WIDE, LABELS),
    "targets of NaN": lambda y: (Named(WIDE), np.full(N, np.nan)),
    "negative counts": lambda y: (WIDE, -np.abs(y), None, {"loss": "poisson"}),
}
SETTINGS = {
    "weights of a penalty for other columns": lambda y: (WIDE, y, None, {"penalty": gs.L1(weights=np.ones(D))}),
    "an unknown loss": lambda y: (WIDE, y, None, {"loss": "nonsense"}),
    "an unknown penalty": lambda y: (Named(WIDE), y, None, {"penalty": "nonsense"}),
}
ONLINE = {
    "a method that refuses the penalty": lambda y: (
        WIDE,
        y,
        None,
        {"method": gs.Pegasos(), "penalty": gs.GroupL2(groups=np.arange(D + 2) // 2)},
    ),
    "a step that diverges": lambda y: (WIDE * 1e30, y, None, {"method": gs.Fobos(1e300)}),
    "a step function that fails": lambda y: (WIDE, y, None, {"method": gs.Fobos(falling)}),
}
BATCH = {
    "values whose squares overflow": lambda y: (Named(WIDE * 1e200), y),
    "a solver that refuses the loss": lambda y: (WIDE, y, None, {"solver": "interior_point", "penalty": "group_l2"}),
    "weights that are all zero": lambda y: (WIDE, y, np.zeros(N)),
    "no convergence, as an error": lambda y: (WIDE, y, None, {"max_iter": 1, "tol": 1e-15, "solver": "fobos"}),
}
CV = {"too many folds": lambda y: (Named(WIDE), y, None, {"cv": 1000})}
BOOSTING = {
    "a bound that refuses the penalty": lambda y: (WIDE, y, None, {"bound": "ada", "penalty": "group_l2"}),
    "weights that are all zero": lambda y: (WIDE, y, np.zeros(N)),
}
LATER = {  # of partial_fit
    "too wide": lambda y: (WIDE, y),
    "too narrow": lambda y: (X[:, :3], y),
    "NaN": lambda y: (spoiled(np.nan, X), y),
    "negative weights": lambda y: (X, y, -np.ones(N)),
    "numbers that diverge": lambda y: (X * 1e200, y * 1e200 if y.dtype.kind == "f" else y),
}
TOO_LARGE = {"too large": lambda y: (WIDE, y / np.abs(y).max() * 1e308)}
UNSEEN = {"unseen labels": lambda y: (X, THREE), "real numbers": lambda y: (X, REAL)}

KINDS = {"Online": ONLINE, "Batch": BATCH, "Boosting": BOOSTING}
FAMILIES = ("Online{}", "Online{}CV", "Batch{}", "Batch{}CV", "Boosting{}")


def calls():
    for family in FAMILIES:
        for task, own in (("Classifier", OF_LABELS), ("Regressor", OF_NUMBERS)):
            name = family.format(task)
            kind = KINDS[family.split("{")[0]]
            table = ROWS | own | SETTINGS | kind | (CV if name.startswith("Batch") and name.endswith("CV") else {})
            if name.startswith("Boosting") and task == "Regressor":
                table = {k: v for k, v in table.items() if k != "negative counts"} | TOO_LARGE
            yield from ((name, "fit", case, make) for case, make in table.items())
            if name.startswith("Online"):
                later = LATER | (UNSEEN if task == "Classifier" else {})
                yield from ((name, "partial_fit", case, make) for case, make in later.items())


CALLS = list(calls())


@pytest.mark.parametrize(
    ("name", "verb", "make"), [c[:2] + c[3:] for c in CALLS], ids=[", ".join(c[:3]) for c in CALLS]
)
def test_an_estimator_that_raised_is_as_before(name, verb, make):
    labels = "Classifier" in name
    model = getattr(gs, name)().fit(X, LABELS if labels else REAL)
    given = make((THREE if verb == "fit" else LABELS) if labels else REAL)
    data, y, weight, settings = given + (None, {})[len(given) - 2 :]
    model.set_params(**settings)
    shown, before, answers = dict(vars(model)), joblib.hash(model.__getstate__()), model.predict(X)
    with pytest.raises((ValueError, TypeError, ArithmeticError, Warning)) as refusal:  # warnings are errors in tests
        getattr(model, verb)(data, y, **({} if weight is None else {"sample_weight": weight}))
    assert len(str(refusal.value)) > 15
    assert list(vars(model)) == list(shown)
    assert joblib.hash(model.__getstate__()) == before
    assert_array_equal(model.predict(X), answers)
