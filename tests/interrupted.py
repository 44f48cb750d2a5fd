"""Tasks that take minutes, for tests/test_interrupts.py: each is told to stop by Ctrl-C, and says what it has.

The parent sends a line, the name of a task, and a SIGINT a moment after the answer "begin"; the task answers what it is
left with.
"""

import json
import signal
import sys
import tempfile
import time
import warnings
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_regressor

import gossamer as gs

ENDLESS = {"tol": 0, "max_iter": 10**9}


@cache
def dense():
    """Return X, far from orthogonal, labels and real targets."""
    r = np.random.default_rng(0)
    X = r.standard_normal((2000, 400)) @ r.standard_normal((400, 400))
    labels = (X[:, 0] + X[:, 1] + 20 * r.standard_normal(2000) > 0).astype(int)
    return X, labels, X[:, :3].sum(axis=1) + r.standard_normal(2000)


@cache
def many():
    """Return many sparse rows, labels and real targets."""
    X = sp.random_array((200_000, 5000), density=0.002, rng=np.random.default_rng(0), format="csr")
    real = np.asarray(X[:, :2500].sum(axis=1)).ravel()
    return X, (real > 2.5).astype(int), real


def blocks():
    """Yield blocks of rows without end."""
    X, labels, _ = many()
    while True:
        yield X[:1000], labels[:1000]


def usable(model, X):
    """Return whether the model predicts finite numbers."""
    return bool(np.isfinite(np.asarray(model.predict(X[:5]), float)).all())


def fitted(model, data):
    """Return a task: fit, then say what the model has."""

    def run():
        X, labels, real = data()
        model.fit(X, real if is_regressor(model) else labels)
        return {"usable": usable(model, X), "rows": getattr(model, "t_", None)}

    return run


def path():
    """Follow a path."""
    X, _, real = dense()
    found = gs.regularization_path(X, real, alphas=10**6, tol=1e-3)
    return {"usable": len(found.alphas) == len(found.coefs) == len(found.dual_gaps) >= 1}


def partial():
    """Learn from one call that takes minutes; the learner is at a row boundary, and learns on."""
    X, labels, _ = many()
    model, again = (gs.OnlineClassifier(penalty="linf", alpha=1e-3, method=gs.Fobos(0.1)) for _ in range(2))
    try:
        model.partial_fit(X, labels, classes=[0, 1])
    except KeyboardInterrupt:
        ended, rows = time.monotonic(), model.t_
        again.partial_fit(X[:rows], labels[:rows], classes=[0, 1])
        same = bool(np.array_equal(model.coef_, again.coef_))
        return {"usable": same and 0 < rows < X.shape[0], "rows": rows, "warned": "KeyboardInterrupt", "at": ended}
    return {}


def predict():
    """Predict without end."""
    X, labels, _ = many()
    model = gs.OnlineClassifier().fit(X[:1000], labels[:1000])
    try:
        while True:
            model.predict(X)
    except KeyboardInterrupt:
        return {"usable": usable(model, X), "warned": "KeyboardInterrupt"}


def read():
    """Read files without end."""
    with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
        file.write("1 1:1 2:0.5\n-1 2:1 3:2\n" * 1000)
        file.flush()
        try:
            gs.read([file.name] * 10**6)
        except KeyboardInterrupt:
            return {"usable": gs.read(file.name)[0].shape == (2000, 3), "warned": "KeyboardInterrupt"}
    return {}


def project():
    """Compute one prox that takes a minute."""
    v = np.full(5 * 10**6, 1e-7)
    try:
        gs.KL().prox(v)
    except KeyboardInterrupt:
        return {"usable": gs.KL().prox(v[:4]).sum() == pytest.approx(1), "warned": "KeyboardInterrupt"}
    return {}


def source():
    """Learn from blocks without end."""
    model = gs.OnlineClassifier().fit_source(blocks(), classes=[0, 1])
    return {"usable": usable(model, many()[0])}


TASKS = {
    "online": fitted(gs.OnlineClassifier(max_passes=10**6), many),
    "online, coupled": fitted(gs.OnlineClassifier(penalty="linf", alpha=1e-3), many),
    "online, regression": fitted(gs.OnlineRegressor(max_passes=10**6), many),
    "online path": fitted(gs.OnlineClassifierCV(max_passes=10**6), many),
    "one call of partial_fit": partial,
    "source": source,
    "predict": predict,
    "read": read,
    "prox": project,
    "batch": fitted(gs.BatchClassifier(alpha=1e-4, **ENDLESS), dense),
    "batch, blocks": fitted(gs.BatchRegressor(alpha=1e-4, penalty=gs.GroupL2(np.arange(400) // 4), **ENDLESS), dense),
    "batch, first order": fitted(gs.BatchClassifier(alpha=1e-4, solver="fista", **ENDLESS), dense),
    "batch, kinks": fitted(gs.BatchClassifier("hinge", alpha=1e-4, **ENDLESS), dense),
    "batch, folds in threads": fitted(gs.BatchClassifierCV(alphas=3, cv=900, tol=1e-9, n_jobs=2), dense),
    "batch, path of all rows": fitted(gs.BatchClassifierCV(alphas=10**5), dense),
    "batch, folds": fitted(gs.BatchRegressorCV(alphas=3, cv=900, tol=1e-9, n_jobs=1), dense),
    "path": path,
    "boosting": fitted(gs.BoostingClassifier(alpha=1e-7, tol=0, max_rounds=10**9), dense),
    "boosting, in turn": fitted(gs.BoostingRegressor(alpha=1e-7, tol=0, order="cyclic", max_rounds=10**9), dense),
}

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    dense(), many()
    print("ready", flush=True)
    for name in sys.stdin:
        print("begin", flush=True)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                found = TASKS[name.strip()]()
            except KeyboardInterrupt:
                found = {"raised": True}
        words = [str(w.message) for w in told if "Interrupted" in str(w.message)]
        print(json.dumps({"warned": words[:1], "at": time.monotonic(), **found}), flush=True)
