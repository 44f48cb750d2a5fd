"""Batch over partitions: the objective of the plain estimator, a certificate, and the same bits on every cluster."""

import pickle

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from dask.distributed import Client, LocalCluster

import dask
import gossamer as gs
import gossamer.dask as gd

GROUPS = [list(range(i, i + 4)) for i in range(0, 40, 4)]


def problem(seed=0, n=400, d=40):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.4)
    w = np.zeros(d)
    w[:6] = [2, -1, 1.5, 1, -2, 0.5]
    z = X @ w + 0.5
    y = {
        "binary": (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int),
        "classes": np.digitize(z + rng.logistic(size=n), [-1, 1]),
        "labels": np.stack([z > 0, z > 1], axis=1).astype(int),
        "real": z + rng.standard_normal(n),
        "two": np.stack([z + rng.standard_normal(n), z], axis=1),
        "counts": rng.poisson(np.exp(np.clip(z / 3, -3, 3))).astype(float),
        "positive": np.exp(z / 3) + 0.1,
    }
    return X, y, rng.random(n) + 0.1


def blocks(*arrays, parts=3):
    return [dask.delayed(tuple(a[i::parts] for a in arrays)) for i in range(parts)]


PROBLEMS = [
    ("Classifier", "binary", {}),
    ("Classifier", "binary", {"fit_intercept": False}),
    ("Classifier", "binary", {"penalty": "elastic_net"}),
    ("Classifier", "binary", {"penalty": gs.GroupL2(groups=GROUPS)}),
    ("Classifier", "binary", {"loss": "squared_hinge"}),
    ("Classifier", "binary", {"loss": "exponential"}),
    ("Classifier", "binary", {"class_weight": "balanced"}),
    ("Classifier", "classes", {"penalty": "group_l2"}),
    ("Classifier", "classes", {}),
    ("Classifier", "classes", {"loss": "squared_hinge", "penalty": "group_l2"}),
    ("Classifier", "labels", {"penalty": "group_l2"}),
    ("Regressor", "real", {}),
    ("Regressor", "real", {"loss": "huber"}),
    ("Regressor", "real", {"loss": "log_epsilon_insensitive"}),
    ("Regressor", "two", {"penalty": "group_l2"}),
    ("Regressor", "counts", {"loss": "poisson"}),
    ("Regressor", "positive", {"loss": "gamma"}),
]


@pytest.mark.parametrize(("kind", "target", "settings"), PROBLEMS, ids=str)
def test_the_objective_is_that_of_the_plain_estimator(kind, target, settings):
    X, y, c = problem()
    plain = getattr(gs, f"Batch{kind}")(alpha=0.02, tol=1e-11, **settings).fit(X, y[target], sample_weight=c)
    found = getattr(gd, f"Batch{kind}")(alpha=0.02, tol=1e-11, client="local", **settings)
    found.fit(blocks(X, y[target], c))
    assert abs(found.objective_ - plain.objective_) <= 1e-10
    assert found.certificate_ == "duality gap"
    assert found.objective_ - plain.objective_ <= found.dual_gap_ + 1e-12
    np.testing.assert_array_equal(found.predict(X), plain.predict(X)) if kind == "Classifier" else None


def test_a_gap_is_a_bound_wherever_it_stops():
    X, y, _ = problem(1)
    least = gs.BatchClassifier(alpha=1e-3, tol=1e-12).fit(X, y["binary"]).objective_
    for most in range(1, 5):
        with pytest.warns(Warning, match="Stopped after"):
            m = gd.BatchClassifier(alpha=1e-3, tol=0, max_iter=most, client="local").fit(blocks(X, y["binary"]))
        assert m.objective_ - least <= m.dual_gap_ + 1e-13


def bits(model):
    return model.coef_.tobytes(), model.intercept_.tobytes(), model.dual_gap_, model.n_rounds_


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0") as made:
        yield made


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_cluster_gives_the_bits_of_the_loop(cluster, workers):
    cluster.scale(workers)
    X, y, c = problem(2)
    local = gd.BatchClassifier(alpha=0.01, tol=1e-8, client="local").fit(blocks(X, y["classes"], c, parts=5))
    with Client(cluster) as client:
        there = gd.BatchClassifier(alpha=0.01, tol=1e-8, client=client).fit(blocks(X, y["classes"], c, parts=5))
    assert bits(there) == bits(local)


def test_arrays_with_sparse_blocks(cluster):
    X, y, _ = problem(3)
    whole = gs.BatchClassifier(alpha=0.01, tol=1e-9).fit(X, y["binary"])
    with Client(cluster):
        cut = da.from_array(X, chunks=(100, 40)).map_blocks(sp.csr_matrix)
        m = gd.BatchClassifier(alpha=0.01, tol=1e-9).fit(cut, da.from_array(y["binary"], chunks=100))
    assert abs(m.objective_ - whole.objective_) < 1e-9
    again = pickle.loads(pickle.dumps(m))
    assert again.client is None
    np.testing.assert_array_equal(again.predict(X), whole.predict(X))


def test_files_and_ranges_of_bytes(tmp_path):
    rng = np.random.default_rng(0)
    X = sp.random(500, 60, 0.1, "csr", rng=rng)
    y = np.where(X @ rng.standard_normal(60) > 0, 1, -1)
    lines = [
        f"{y[i]} " + " ".join(f"{j + 1}:{v!r}" for j, v in zip(X[i].indices, X[i].data.tolist(), strict=True)) + "\n"
        for i in range(500)
    ]
    (tmp_path / "a.svm").write_text("".join(lines[:300]))
    (tmp_path / "b.svm").write_text("".join(lines[300:]).rstrip("\n"))
    whole = gs.BatchClassifier(alpha=1e-3, tol=1e-9).fit(X, y)
    for size in (1, 1000, 4096, 10**6)[1:]:
        data = gd.source(str(tmp_path / "*.svm"), partition_bytes=size)
        m = gd.BatchClassifier(alpha=1e-3, tol=1e-9, client="local").fit(data)
        assert abs(m.objective_ - whole.objective_) < 1e-10, size
    gs.save(m, tmp_path / "m.gsm")
    assert (gs.load(tmp_path / "m.gsm").predict(X) == whole.predict(X)).mean() > 0.99


def test_a_checkpoint_is_where_it_goes_on(tmp_path):
    X, y, _ = problem(4)
    made = {"alpha": 1e-3, "tol": 1e-9, "client": "local", "checkpoint": tmp_path / "w.npz"}
    first = gd.BatchClassifier(**made).fit(blocks(X, y["binary"]))
    assert first.n_iter_ > 2
    assert gd.BatchClassifier(**made).fit(blocks(X, y["binary"])).n_iter_ == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "hinge"}, "smooth loss, such as 'squared_hinge'"),
        ({"penalty": "l1_ball"}, "couples all features"),
        ({"solver": "fista"}, "one solver"),
        ({"alpha": 0.0}, "no certificate"),
    ],
)
def test_what_is_refused(settings, words):
    X, y, _ = problem()
    with pytest.raises(ValueError, match=words):
        gd.BatchClassifier(client="local", **settings).fit(blocks(X, y["binary"]))


def test_bad_data_is_named():
    X, y, _ = problem()
    with pytest.raises(ValueError, match="blocks of columns"):
        gd.source(da.from_array(X, chunks=(100, 20)), da.from_array(y["binary"], chunks=100))
    with pytest.raises(ValueError, match="rechunk"):
        gd.source(da.from_array(X, chunks=(100, 40)), da.from_array(y["binary"], chunks=50))
    with pytest.raises(TypeError, match="in memory"):
        gd.source(X)
    with pytest.raises(ValueError, match="bits=22"):
        gd.source(__file__, format="csv")
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match="block 1: X holds NaN"):
        gd.BatchClassifier(client="local").fit(blocks(X, y["binary"]))
