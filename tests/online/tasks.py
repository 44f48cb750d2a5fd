"""Every kind of target with an estimator for it, and what it means that an estimator is unchanged."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import gossamer as gs
from gossamer.online.trainer import Trainer

N, D = 120, 8
random = np.random.default_rng(0)
X = random.normal(size=(N, D)) * (random.random((N, D)) < 0.6)
SCORES = X @ random.normal(size=(D, 3)) + 0.2 * random.normal(size=(N, 3))
TWO = np.where(SCORES[:, 0] > 0, "yes", "no")
THREE = np.array(["ant", "bee", "cat"])[np.argmax(SCORES, axis=1)]
MANY = (SCORES > 0).astype(int)
REAL, REALS = SCORES[:, 0], SCORES
FIXED = gs.Fobos(step=0.5)


def classifier(**settings):
    return gs.OnlineClassifier(**{"alpha": 1e-3, "method": FIXED, "random_state": 0} | settings)


def regressor(**settings):
    return gs.OnlineRegressor(**{"alpha": 1e-3, "method": gs.Fobos(step=0.1), "random_state": 0} | settings)


TASKS = {
    "binary": (classifier(), TWO, {"classes": ["no", "yes"]}),
    "multiclass": (classifier(), THREE, {"classes": ["ant", "bee", "cat"]}),
    "multiclass hinge": (classifier(loss="hinge"), THREE, {"classes": ["ant", "bee", "cat"]}),
    "one against the rest": (classifier(loss="squared_hinge"), THREE, {"classes": ["ant", "bee", "cat"]}),
    "multilabel": (classifier(), MANY, {}),
    "regression": (regressor(), REAL, {}),
    "several outputs": (regressor(), REALS, {}),
    "binary, auto": (classifier(method="auto"), TWO, {"classes": ["no", "yes"]}),
    "binary, average": (classifier(average=True), TWO, {"classes": ["no", "yes"]}),
    "several outputs, rda": (regressor(method=gs.RDA(gamma=5.0)), REALS, {}),
    "binary, ball": (classifier(penalty=gs.L1Ball(2.0)), TWO, {"classes": ["no", "yes"]}),
    "multiclass, groups": (
        classifier(penalty=gs.GroupL2(groups=np.arange(D) // 2)),
        THREE,
        {"classes": ["ant", "bee", "cat"]},
    ),
    "binary, pegasos": (
        classifier(penalty="l2_squared", method="pegasos", alpha=0.1),
        TWO,
        {"classes": ["no", "yes"]},
    ),
    "regression, eg": (regressor(penalty="none", method=gs.ExponentiatedGradient(5.0, 0.1)), REAL, {}),
}
over_tasks = pytest.mark.parametrize("task", TASKS)


def setting(task):
    model, y, known = TASKS[task]
    return clone(model), y, known


def state(model):
    return pickle.dumps(model)


def assert_same_state(model, before):
    """Nothing in the estimator has changed: every attribute is there with the same value, and no other."""
    assert_same(pickle.loads(before).__getstate__(), model.__getstate__(), "estimator")


def assert_same(old, new, name):
    if isinstance(old, Trainer):
        old, new = old.__getstate__(), new.__getstate__()
    if isinstance(old, dict):
        assert old.keys() == new.keys(), name
        for key in old:
            assert_same(old[key], new[key], f"{name}.{key}")
    else:
        assert pickle.dumps(old) == pickle.dumps(new) or np.array_equal(old, new), name
