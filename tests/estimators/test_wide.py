"""Very wide data: memory and time follow the entries, or an error says how much would be needed, before allocating."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import gossamer as gs
from gossamer import validation
from gossamer.estimators import wide

WIDEST = 2**31 - 1
rng = np.random.default_rng(0)
SMALL = sp.random_array((60, 8), density=0.4, rng=rng, format="csr")
COLUMNS = np.array([0, 3, 70_000, 70_001, 900_000, 10**8, 2**30, WIDEST - 1])
REAL = np.asarray(SMALL.sum(axis=1)).ravel() - np.asarray(SMALL[:, [1]].sum(axis=1)).ravel() * 3
LABELS = (np.median(REAL) < REAL).astype(int)


def widened(width=WIDEST):
    """Return the small problem with its columns spread over very many."""
    return sp.csr_array((SMALL.data, COLUMNS[SMALL.indices], SMALL.indptr), shape=(60, width))


FITS = {
    "batch": lambda **more: gs.BatchClassifier(alpha=0.01, **more),
    "batch regression": lambda **more: gs.BatchRegressor(alpha=0.01, tol=1e-8, **more),
    "batch, fista": lambda **more: gs.BatchRegressor(alpha=0.01, solver="fista", **more),
    "batch, elastic net": lambda **more: gs.BatchRegressor("squared", "elastic_net", 0.01, **more),
    "batch, rows": lambda **more: gs.BatchRegressor(penalty="group_l2", alpha=0.01, **more),
    "batch, kinks": lambda **more: gs.BatchRegressor("quantile", alpha=0.01, max_iter=20, **more),
    "cross-validation": lambda **more: gs.BatchRegressorCV(alphas=4, cv=3, **more),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", FITS)
def test_empty_columns_change_nothing(name):
    y = LABELS if name == "batch" else REAL
    a, b = FITS[name]().fit(widened(), y), FITS[name]().fit(SMALL, y)
    assert sp.issparse(a.coef_)
    assert a.coef_.shape == (1, WIDEST)
    np.testing.assert_allclose(wide.selected(a.coef_, COLUMNS).toarray(), np.atleast_2d(b.coef_), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose([a.objective_, *a.intercept_], [b.objective_, *b.intercept_], rtol=1e-9)
    np.testing.assert_array_equal(a.nonzero_features_, COLUMNS[b.nonzero_features_])
    np.testing.assert_allclose(a.predict(widened()), b.predict(SMALL), rtol=1e-9)


def test_warm_start_and_saving(tmp_path):
    model = gs.BatchRegressor(alpha=0.01, tol=1e-8, warm_start=True).fit(widened(), REAL)
    before = model.predict(widened())
    assert model.fit(widened(), REAL).n_iter_ <= 1
    np.testing.assert_allclose(model.predict(widened()), before, atol=1e-6)
    before = model.predict(widened())
    gs.save(model, tmp_path / "m.gsm")
    np.testing.assert_allclose(gs.load(tmp_path / "m.gsm").predict(widened()), before, rtol=1e-9)


def test_up_to_a_size_coef_is_an_array():
    X = sp.csr_array((SMALL.data, SMALL.indices * 9, SMALL.indptr), (60, 2**20))
    model = gs.BatchRegressor(alpha=0.01).fit(X, REAL)
    assert model.coef_.shape == (2**20,)
    np.testing.assert_allclose(model.coef_[:72:9], gs.BatchRegressor(alpha=0.01).fit(SMALL, REAL).coef_, rtol=1e-9)


@pytest.mark.parametrize("order", ["corrective", "cyclic"])
def test_boosting(order):
    a, b = (gs.BoostingClassifier(alpha=0.01, order=order).fit(X, LABELS) for X in (widened(), SMALL))
    assert a.features_ == COLUMNS[b.features_].tolist()
    np.testing.assert_array_equal(a.weights_, b.weights_)
    np.testing.assert_allclose(a.decision_function(widened()), b.decision_function(SMALL), rtol=1e-12)


def test_weights_belong_to_their_columns():
    weights = np.ones(2**20)
    weights[9] = np.inf
    X = sp.csr_array((SMALL.data, SMALL.indices * 9, SMALL.indptr), (60, 2**20))
    left = [0, 2, 3, 4, 5, 6, 7]
    for kind in (gs.BatchRegressor, gs.BoostingRegressor):
        a = kind(alpha=0.01, penalty=gs.L1(weights)).fit(X, REAL)
        b = kind(alpha=0.01).fit(SMALL[:, left], REAL)
        np.testing.assert_allclose(a.coef_[:72:9][left], b.coef_, rtol=1e-6, atol=1e-9)
        assert a.coef_[9] == 0
    with pytest.raises(ValueError, match="weights"):
        gs.BatchRegressor(penalty=gs.L1([1.0, 2.0])).fit(X, REAL)


def test_zero_is_not_always_smallest():
    X = sp.csr_array((SMALL.data, SMALL.indices * 9, SMALL.indptr), (60, 70_000))
    model = gs.BatchRegressor(penalty=gs.Box(1.0, 2.0)).fit(X, REAL)
    assert model.coef_.min() == 1.0  # of the columns without entries too


def test_available_memory():
    assert 0 < validation.available() < 1e15
    validation.check_memory(100, "a trifle", "nothing")
    with pytest.raises(
        MemoryError, match=r"^The moon takes about 1000000000.0 GB of memory, and .* GB are available. Ask"
    ):
        validation.check_memory(1e18, "The moon", "Ask for less.")


# What does not fit, in a process with four gigabytes: what is done, and what must happen.
LIMITED = {
    "BatchClassifier()": "fits",
    "BatchRegressorCV(alphas=3, cv=2)": "fits",
    "BoostingClassifier()": "fits",
    "BatchClassifier(penalty='linf')": "A fit with 2,147,483,647 features takes about 137.4 GB",
    "BatchRegressor(penalty=gs.Box(1, 2))": "A fit with 2,147,483,647 features takes about 137.4 GB",
    "OnlineClassifier()": "A learner with 2,147,483,647 features takes about 17.2 GB",
    "OnlineRegressor(penalty='linf')": "A learner with 2,147,483,647 features takes about 17.2 GB",
    "OnlineClassifierCV()": "A learner with 2,147,483,647 features takes about 17.2 GB",
    "OnlineClassifierCV(alphas=60) # 10**8": "A learner with 100,000,000 features takes 48.0 GB of memory or more",
    "BatchClassifier(penalty=gs.L2Ball()) # 10**8": "A fit with 100,000,000 features takes about 6.4 GB",
    "BatchClassifier().fit(X, y).densify()": "coef_ as an array takes about 17.2 GB",
    "BoostingClassifier().fit(X, y).coef_": "coef_ takes about 17.2 GB",
}
CHILD = """
import json, resource, sys
import numpy as np, scipy.sparse as sp
import gossamer as gs
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
found = {}
for words in json.loads(sys.argv[1]):
    task, _, width = words.partition(" # ")
    d = eval(width or "2**31 - 1")
    X = sp.csr_array((np.array([1.0, 2.0, -1.0, 1.0]), np.array([5, d // 2, d - 1, 5]), np.arange(5)), shape=(4, d))
    y = [0, 1, 0, 1]
    try:
        made = eval("gs." + task)
        if ".fit" not in task:
            made.fit(X, y).predict(X)
        found[words] = "fits"
    except MemoryError as error:
        found[words] = str(error)
print(json.dumps(found))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer takes memory of its own")
def test_what_does_not_fit_says_so():
    run = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(list(LIMITED))],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        timeout=100,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    for task, words in LIMITED.items():
        assert found[task].startswith(words), (task, found[task])
        assert words == "fits" or len(found[task]) > len(words) + 40, task  # and says what would do
