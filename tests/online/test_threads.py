"""Threads take turns at an estimator: no crash, and no row is lost. Each run is a process of its own."""

import copy
import os
import pickle
import subprocess
import sys
import threading

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import gossamer as gs
from gossamer.estimators import linear

RUNS = int(os.environ.get("GOSSAMER_THREAD_RUNS", "1"))
START = """
import sys, threading
import numpy as np
import scipy.sparse as sp
import gossamer as gs

random = np.random.default_rng(0)
X = sp.random(120, 4000, density=0.015, format="csr", random_state=0)
y = random.integers(0, 3, 120)
failures = []

def together(*works):
    def guarded(work):
        try:
            work()
        except BaseException as error:
            failures.append(repr(error))
    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not failures, failures
"""
LEARN = """
model = {model}
model.partial_fit(X, {y}, **({{"classes": [0, 1, 2]}} if isinstance(model, gs.OnlineClassifier) else {{}}))

def learn():
    for _ in range(12): model.partial_fit(X, {y})
def read():
    for _ in range(25):
        model.predict(X[:5]), model.coef_, model.predict(X[0:1])
together(learn, learn, learn, read, read)
assert model.t_ == 120 * 37, model.t_
assert np.isfinite(model.coef_).all()
"""
SCRIPTS = {
    "fobos, averaged": LEARN.format(model="gs.OnlineClassifier(method=gs.Fobos(0.1), average=True)", y="y"),
    "adagrad": LEARN.format(model="gs.OnlineClassifier()", y="y"),
    "elastic net": LEARN.format(model="gs.OnlineRegressor(penalty='elastic_net', method=gs.Fobos(0.1))", y="y * 1.0"),
    "simplex": LEARN.format(model="gs.OnlineRegressor(penalty='simplex', method=gs.Fobos(0.1))", y="y * 1.0"),
    "path": LEARN.format(model="gs.OnlineRegressorCV(4, n_jobs=2)", y="y * 1.0"),
    "growing": """
model = gs.OnlineClassifier(grow=True, method=gs.Fobos(0.1)).partial_fit(X[:, :100], y)
def learn(first):
    for n in range(10): model.partial_fit(X, y)
def read():
    for _ in range(30): model.coef_, model.t_
together(lambda: learn(0), lambda: learn(1), read)
assert model.t_ == 120 * 21, model.t_
""",
    "fit and predict": """
model = gs.OnlineClassifier(random_state=0).fit(X, y)
right = model.coef_
def fit():
    for _ in range(10): model.fit(X, y)
def read():
    for _ in range(30): assert (model.coef_ == right).all()
together(fit, fit, read, read)
""",
    "pickle while learning": """
import pickle
model = gs.OnlineRegressor(method=gs.Fobos(0.1), average=True).partial_fit(X, y * 1.0)
def learn():
    for _ in range(20): model.partial_fit(X, y * 1.0)
def save():
    for _ in range(15): assert pickle.loads(pickle.dumps(model)).t_ % 120 == 0
together(learn, learn, save)
""",
    "sparse ball": """
ball = gs.SparseL1Ball(5000, 3.0)
def change(seed):
    own = np.random.default_rng(seed)
    for _ in range(400): ball.update(own.integers(0, 5000, 20), own.normal(size=20))
def read():
    for _ in range(400): assert np.abs(ball.to_array()).sum() <= 3.0 * (1 + 1e-9)
together(lambda: change(1), lambda: change(2), lambda: change(3), read)
""",
    "batch and boosting": """
D = X[:, :40].toarray()
for model in (gs.BatchClassifier(alpha=1e-2), gs.BatchRegressor(alpha=1e-2), gs.BoostingClassifier(max_rounds=5)):
    model.fit(D, y)
    def fit():
        for _ in range(3): model.fit(D, y)
    def read():
        for _ in range(10): model.predict(D)
    together(fit, fit, read)
""",
    "a saved model": """
import os, tempfile
path = os.path.join(tempfile.mkdtemp(), "m.gsm")
gs.save(gs.OnlineClassifier().fit(X, y), path)
model = gs.load(path)
right = model.predict(X)
def read():
    for _ in range(30): assert (model.predict(X) == right).all()
together(read, read, read)
""",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_threads_lose_nothing(script):
    for _ in range(RUNS):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", START + SCRIPTS[script]],
            timeout=120,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]


X = sp.random(60, 50, density=0.2, format="csr", random_state=0)
Y = np.random.default_rng(0).integers(0, 2, 60)


def test_copies_pickles_and_clones_have_locks_of_their_own():
    model = gs.OnlineClassifier().fit(X, Y)
    inside, may_go = threading.Event(), threading.Event()

    others = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)), clone(model).fit(X, Y)]

    def hold():
        with linear._TURNS[model].lock:
            inside.set()
            assert may_go.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    assert inside.wait(30)
    for other in others:
        other.partial_fit(X, Y)  # does not wait for the other one
        assert other.t_ == 120
    may_go.set()
    holder.join()
    model.partial_fit(X, Y)
    assert model.t_ == 120


def _predict(model):
    return model.predict(X)


def test_joblib_hands_estimators_to_threads_and_processes():
    model = gs.OnlineClassifier(random_state=0).fit(X, Y)
    for backend in ("threading", "loky"):
        for answer in joblib.Parallel(2, backend=backend)(joblib.delayed(_predict)(model) for _ in range(4)):
            assert (answer == model.predict(X)).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_learns_on_and_refuses_what_is_half_changed():
    code = """
import os, threading, warnings
warnings.simplefilter("ignore")
import numpy as np
import gossamer as gs
from gossamer.estimators import linear
X, y = np.eye(8), np.arange(8) % 2
free, held = gs.OnlineClassifier().fit(X, y), gs.OnlineClassifier().fit(X, y)
inside, may_go = threading.Event(), threading.Event()
def hold():
    with linear._TURNS[held].lock:
        inside.set()
        may_go.wait(60)
holder = threading.Thread(target=hold)
holder.start()
inside.wait(60)
child = os.fork()
if child == 0:
    code = 1
    try:
        assert free.partial_fit(X, y).t_ == 16
        held.predict(X)
    except RuntimeError as error:
        code = 0 if "forked" in str(error) else 2
    finally:
        os._exit(code)
may_go.set()
holder.join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert held.partial_fit(X, y).t_ == 16
"""
    subprocess.run([sys.executable, "-c", code], timeout=120, check=True)
