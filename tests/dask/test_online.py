"""Online over partitions: a chain is one learner, merged learners are the same wherever they learn, and are good."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from dask.distributed import Client, LocalCluster

import dask
import gossamer as gs
import gossamer.dask as gd


def problem(n=2000, d=60, seed=0):
    random = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.2, rng=random, format="csr")
    w = np.where(np.arange(d) < 12, random.standard_normal(d) * 3, 0)
    z = X @ w
    return X, {"binary": (z > 0).astype(int), "classes": np.digitize(z, [-1, 1]), "real": z + 2}, random.random(n)


X, Y, C = problem()


def blocks(y, parts=4, weight=None, made=lambda x: x):
    cut = np.array_split(np.arange(len(y)), parts)
    return [dask.delayed((made(X[i]), y[i], *(() if weight is None else (weight[i],)))) for i in cut]


def bits(model):
    return model.coef_.tobytes(), model.intercept_.tobytes(), model.progressive_loss_, model.t_


CHAINS = [
    ("Classifier", "binary", {}),
    ("Classifier", "classes", {"method": "adagrad"}),
    ("Classifier", "binary", {"method": "fobos", "penalty": "l1_ball"}),
    ("Classifier", "binary", {"method": "adagrad", "average": True}),
    ("Regressor", "real", {"max_passes": 2}),
    ("ClassifierCV", "binary", {}),
    ("RegressorCV", "real", {"max_passes": 2, "method": "rda"}),
]


@pytest.mark.parametrize(("kind", "target", "settings"), CHAINS, ids=str)
@pytest.mark.parametrize("made", [lambda x: x, lambda x: x.toarray()], ids=["sparse", "dense"])
def test_a_chain_has_the_bits_of_one_learner(kind, target, settings, made):
    y = Y[target]
    plain = getattr(gs, f"Online{kind}")(shuffle=False, **settings).fit(made(X), y, sample_weight=C)
    found = getattr(gd, f"Online{kind}")(shuffle=False, merges=0, client="local", **settings)
    found.fit(blocks(y, weight=C, made=made))
    assert bits(found) == bits(plain)
    assert found.predict(X[:9]).tolist() == plain.predict(X[:9]).tolist()


MERGES = [
    ("Classifier", "binary", {}),
    ("Classifier", "binary", {"method": "rda"}),
    ("Classifier", "classes", {"method": "step_free"}),
    ("Regressor", "real", {"method": "ftrl", "penalty": "elastic_net"}),
    ("ClassifierCV", "binary", {}),
    ("RegressorCV", "real", {"method": "rda"}),
]


@pytest.mark.parametrize("merges", [1, 3])
@pytest.mark.parametrize(("kind", "target", "settings"), MERGES, ids=str)
def test_merged_learners_predict_nearly_as_well(kind, target, settings, merges):
    y = Y[target]
    settings = {"random_state": 0, "max_passes": 3} | settings
    plain = getattr(gs, f"Online{kind}")(**settings).fit(X, y)
    found = getattr(gd, f"Online{kind}")(merges=merges, client="local", **settings).fit(blocks(y))
    assert found.t_ == 3 * len(y)
    assert found.score(X, y) > plain.score(X, y) - 0.07
    again = pickle.loads(pickle.dumps(found))
    assert again.client is None
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    if kind == "Classifier":
        before = found.coef_.copy()
        found.partial_fit(X[:50], y[:50])  # it goes on as an ordinary model
        assert (found.coef_ != before).any()


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0") as made:
        yield made


@pytest.mark.parametrize("merges", [0, 2])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_cluster_gives_the_bits_of_the_loop(cluster, workers, merges):
    cluster.scale(workers)
    made = {"random_state": 1, "merges": merges, "max_passes": 2}
    local = gd.OnlineClassifier(client="local", **made).fit(blocks(Y["classes"], 5))
    with Client(cluster) as client:
        there = gd.OnlineClassifier(client=client, **made).fit(blocks(Y["classes"], 5))
        assert bits(there) == bits(local)
        assert there.n_rounds_ == local.n_rounds_


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "fobos"}, "merges=0"),
        ({"method": gs.AdaGrad(form="fobos")}, "merges=0"),
        ({"penalty": "l1_ball"}, "merges=0"),
        ({"method": "adagrad", "average": True}, "merges=0"),
        ({"merges": -1}, "merges"),
    ],
)
def test_what_is_refused(settings, words):
    model = gd.OnlineClassifier(client="local", **settings)
    with pytest.raises(ValueError, match=words):
        model.fit(blocks(Y["binary"]))
    assert not hasattr(model, "classes_")


def test_weights_of_classes_and_a_partition_without_rows():
    y = Y["binary"]
    none = [dask.delayed((X[:0], y[:0]))]
    made = {"class_weight": {0: 1.0, 1: 3.0}, "shuffle": False}
    plain = gs.OnlineClassifier(**made).fit(X, y)
    found = gd.OnlineClassifier(merges=0, client="local", **made).fit([*blocks(y)[:2], *none, *blocks(y)[2:]])
    assert bits(found) == bits(plain)
    merged = gd.OnlineClassifier(client="local", **made).fit([*blocks(y), *none])
    assert merged.score(X, y) > 0.8
