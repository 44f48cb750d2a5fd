"""Paths and cross-validation over partitions: the objectives of the plain functions, at the same strengths."""

import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask.distributed import Client, LocalCluster, Security

import dask
import gossamer as gs
import gossamer.dask as gd
from gossamer.dask.over import warn_if_open


def problem(n=300, d=20, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) * (random.random((n, d)) < 0.5)
    z = X[:, :4] @ [2.0, -1.0, 1.0, 0.5] + 0.3
    return X, (z + random.logistic(size=n) > 0).astype(int), z + random.standard_normal(n), random.random(n) + 0.1


X, LABELS, NUMBERS, C = problem()


def blocks(*arrays, parts=3):
    return [dask.delayed(tuple(a[i::parts] for a in arrays)) for i in range(parts)]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("loss", "y"), [("squared", NUMBERS), ("logistic", LABELS)])
def test_a_path_has_the_objectives_of_the_plain_one(loss, y, intercept):
    settings = {"loss": loss, "alphas": 6, "tol": 1e-9, "fit_intercept": intercept}
    plain = gs.regularization_path(X, y, sample_weight=C, **settings)
    found = gd.regularization_path(blocks(X, y, C), client="local", **settings)
    np.testing.assert_allclose(found.alphas, plain.alphas, rtol=1e-6)
    np.testing.assert_allclose(found.objectives, plain.objectives, atol=1e-7)
    assert found.nonzeros.tolist() == plain.nonzeros.tolist()


@pytest.mark.parametrize(("kind", "y"), [("Classifier", LABELS), ("Regressor", NUMBERS)])
def test_folds_choose_as_the_plain_estimator_with_the_same_folds(kind, y):
    """Twin: the plain estimator with the folds given row by row."""
    folds = np.concatenate([np.arange(len(X[i::3])) % 4 for i in range(3)])
    order = np.concatenate([np.arange(len(X))[i::3] for i in range(3)])
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(4)]
    settings = {"alphas": np.array([0.2, 0.05, 0.02, 0.005]), "tol": 1e-9}
    plain = getattr(gs, f"Batch{kind}CV")(cv=splits, **settings).fit(X[order], y[order], sample_weight=C[order])
    found = getattr(gd, f"Batch{kind}CV")(cv=4, client="local", **settings).fit(blocks(X, y, C))
    np.testing.assert_allclose(found.path_loss_, plain.path_loss_, atol=1e-5)
    assert found.alpha_ == plain.alpha_
    assert found.path_nonzeros_.tolist() == plain.path_nonzeros_.tolist()
    np.testing.assert_allclose(found.coef_, plain.coef_, atol=1e-4)
    assert len(found.coef_path_) == 4


def test_predictions_of_collections_are_lazy():
    m = gd.BatchClassifier(alpha=0.01, client="local").fit(blocks(X, LABELS))
    cut = da.from_array(X, chunks=(100, 20))
    for made in (cut, cut.map_blocks(sp.csr_matrix)):
        found = m.predict(made)
        assert isinstance(found, da.Array)
        np.testing.assert_array_equal(found.compute(scheduler="sync"), m.predict(X))
        np.testing.assert_allclose(m.predict_proba(made).compute(scheduler="sync"), m.predict_proba(X), rtol=1e-12)
        np.testing.assert_allclose(
            m.decision_function(made).compute(scheduler="sync"), m.decision_function(X), rtol=1e-12
        )
        y = da.from_array(LABELS, chunks=100)
        assert abs(m.score(made, y).compute(scheduler="sync") - m.score(X, LABELS)) < 1e-12
    r = gd.BatchRegressor(alpha=0.01, client="local").fit(blocks(X, NUMBERS))
    lazy = r.score(cut, da.from_array(NUMBERS, chunks=100), da.from_array(C, chunks=100))
    assert abs(lazy.compute(scheduler="sync") - r.score(X, NUMBERS, C)) < 1e-12
    with pytest.raises(ValueError, match="rechunk"):
        m.predict(cut.rechunk((100, 10)))
    with pytest.raises(ValueError, match="as many blocks"):
        m.score(cut, da.from_array(LABELS, chunks=50))
    assert not hasattr(gd.BatchClassifier(loss="squared_hinge"), "predict_proba")


def test_data_frames():
    frame = pd.DataFrame(X[:, :5], columns=list("abcde")).assign(y=LABELS, w=C)
    parts = dd.from_pandas(frame, npartitions=3)
    m = gd.OnlineClassifier(merges=0, shuffle=False, client="local").fit(parts, target="y", sample_weight="w")
    plain = gs.OnlineClassifier(shuffle=False).fit(frame[list("abcde")], LABELS, sample_weight=C)
    assert m.coef_.tobytes() == plain.coef_.tobytes()
    assert m.feature_names_in_.tolist() == list("abcde")
    found = m.predict(parts[list("abcde")]).compute(scheduler="sync")
    np.testing.assert_array_equal(found, plain.predict(frame[list("abcde")]))
    with pytest.raises(ValueError, match="name columns"):
        gd.source(parts, target="z")
    with pytest.raises(ValueError, match="hold no numbers"):
        gd.BatchClassifier(client="local").fit(dd.from_pandas(frame.assign(s="x"), npartitions=2), target="y")


def write_tables(folder):
    random = np.random.default_rng(1)
    n = 400
    frame = pd.DataFrame({"y": LABELS[np.arange(n) % 300], "x": X[np.arange(n) % 300, 0]})
    frame["word"] = random.choice(["red", "green", "blue", "ünder"], n)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet", row_group_size=50)
    marks = np.where(frame.y > 0, 1, -1)
    lines = [f"{y} |f x:{x!r} {w}\n" for y, x, w in zip(marks, frame.x.tolist(), frame.word, strict=True)]
    (folder / "t.vw").write_text("".join(lines), encoding="utf-8")
    return frame


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.vw"])
def test_parts_of_files_are_the_file(tmp_path, name):
    write_tables(tmp_path)
    options = {"bits": 12} | ({} if name == "t.vw" else {"target": "y"})
    whole = gd.source(tmp_path / name, **options)
    assert len(whole) == 1
    size = 1500 if name != "t.parquet" else 1
    parts = gd.source(tmp_path / name, partition_bytes=size, **options)
    assert len(parts) > 3
    raw, cut = whole.loaders[0](), [load() for load in parts.loaders]
    assert sum(len(one.y) for one in cut) == len(raw.y)
    width = raw.X.shape[1]
    stacked = sp.vstack([sp.csr_array((p.X.data, p.X.indices, p.X.indptr), (p.X.shape[0], width)) for p in cut])
    assert (stacked != raw.X).nnz == 0
    np.testing.assert_array_equal(np.concatenate([one.y for one in cut]), raw.y)


def test_quoted_cells_are_not_cut(tmp_path):
    (tmp_path / "q.csv").write_text("y,x\n" + '1,"a\nb"\n0,"c"\n' * 50)
    data = gd.source(tmp_path / "q.csv", partition_bytes=100, target="y", bits=10)
    with pytest.raises(ValueError, match="cells in quotes"):
        data.loaders[1]()


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        ("tcp://10.0.0.7:8786", True),
        ("tls://10.0.0.7:8786", False),
        ("tcp://127.0.0.1:8786", False),
        ("inproc://1/2", False),
    ],
)
def test_plain_tcp_to_another_machine_is_warned_of(address, warned):
    client = SimpleNamespace(scheduler=SimpleNamespace(address=address))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_open(client)
    assert bool(caught) == warned


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_a_cluster_with_tls(tmp_path):
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout {key} -out {certificate}"
    subprocess.run(command.split(), check=True, capture_output=True)
    security = Security(
        tls_ca_file=certificate, tls_client_cert=certificate, tls_client_key=key, tls_scheduler_cert=certificate,
        tls_scheduler_key=key, tls_worker_cert=certificate, tls_worker_key=key, require_encryption=True,
    )  # fmt: skip
    settings = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with (
        LocalCluster(security=security, protocol="tls://", host="127.0.0.1", **settings) as cluster,
        Client(cluster.scheduler_address, security=security) as client,
    ):
        assert cluster.scheduler_address.startswith("tls://")
        there = gd.BatchClassifier(alpha=0.01, client=client).fit(blocks(X, LABELS))
    here = gd.BatchClassifier(alpha=0.01, client="local").fit(blocks(X, LABELS))
    assert there.coef_.tobytes() == here.coef_.tobytes()


def test_the_example():
    path = Path(__file__).parents[2] / "examples" / "cluster.py"
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "duality gap" in done.stdout
    assert re.search(r"accuracy on new rows: batch 0\.9\d+, online 0\.9\d+", done.stdout), done.stdout
