"""Models: one file that holds data only, checked before use; exports that answer as the model does."""

import ctypes
import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
from gossamer.model import exports, file_format, model
from gossamer.model.file_format import FileError

FIXTURES = Path(__file__).parents[1] / "fixtures"
N, D = 80, 9
random = np.random.default_rng(0)
X = random.normal(size=(N, D)) * (random.random((N, D)) < 0.6)
SCORES = X @ random.normal(size=(D, 3)) + 0.2 * random.normal(size=(N, 3))
WORDS = np.array(["ant", "b'e\"e", "çat"])[np.argmax(SCORES, axis=1)]
SETTINGS = {"alpha": 3e-2, "random_state": 0, "max_passes": 3}

FITTED = {
    "binary": gs.OnlineClassifier(**SETTINGS).fit(X, SCORES[:, 0] > 0),
    "binary, words": gs.OnlineClassifier(**SETTINGS).fit(X, np.where(SCORES[:, 0] > 0, "yes", "no")),
    "binary, hinge": gs.OnlineClassifier("hinge", **SETTINGS).fit(X, np.where(SCORES[:, 0] > 0, 5.0, -2.0)),
    "binary, exponential": gs.OnlineClassifier("exponential", **SETTINGS).fit(X, np.where(SCORES[:, 0] > 0, 7, 3)),
    "multinomial": gs.OnlineClassifier(**SETTINGS).fit(X, WORDS),
    "multiclass hinge": gs.OnlineClassifier("hinge", "group_l2", **SETTINGS).fit(X, np.argmax(SCORES, axis=1)),
    "one against the rest": gs.OnlineClassifier("exponential", **SETTINGS).fit(X, WORDS),
    "multilabel": gs.OnlineClassifier(**SETTINGS).fit(X, (SCORES > 0).astype(int)),
    "regression": gs.OnlineRegressor(**SETTINGS).fit(X, SCORES[:, 0]),
    "several outputs": gs.OnlineRegressor("huber", **SETTINGS).fit(X, SCORES),
    "poisson": gs.OnlineRegressor("poisson", **SETTINGS).fit(X, np.exp(SCORES[:, 0] / 3)),
    "empty": gs.OnlineClassifier(**SETTINGS | {"alpha": 1e3}).fit(X, np.where(SCORES[:, 0] > 0, 1, 0)),
}
over_all = pytest.mark.parametrize("estimator", FITTED.values(), ids=FITTED)


def same_answers(ours, theirs, data=X):
    assert_array_equal(ours.predict(data), theirs.predict(data)) if hasattr(theirs, "classes_") else assert_allclose(
        ours.predict(data), theirs.predict(data), rtol=1e-12, atol=1e-12
    )
    if hasattr(theirs, "decision_function"):
        assert_allclose(ours.decision_function(data), theirs.decision_function(data), rtol=1e-12, atol=1e-12)
    if hasattr(theirs, "predict_proba"):
        assert_allclose(ours.predict_proba(data), theirs.predict_proba(data), rtol=1e-12, atol=1e-12)


@over_all
def test_a_model_answers_as_its_estimator(estimator, tmp_path):
    gs.save(estimator, tmp_path / "m.gsm")
    for made in (gs.Model.of(estimator), gs.load(tmp_path / "m.gsm")):
        for data in (X, sp.csr_matrix(X), sp.csc_array(X), sp.csr_array(X.astype(np.float32)).astype(np.float64)):
            same_answers(made, estimator, data)
        assert_array_equal(made.features, np.flatnonzero(np.atleast_2d(estimator.coef_).any(axis=0)))


@over_all
def test_only_what_is_not_zero_is_stored(estimator, tmp_path):
    gs.save(estimator, tmp_path / "m.gsm")
    _, arrays = file_format.read(tmp_path / "m.gsm")
    assert len(arrays["value"]) == np.count_nonzero(estimator.coef_)
    assert (arrays["value"] != 0).all()


@over_all
def test_pickle_and_skops(estimator):
    from skops import io as skops

    same_answers(pickle.loads(pickle.dumps(estimator)), estimator)
    same_answers(pickle.loads(pickle.dumps(gs.Model.of(estimator))), estimator)
    dumped = skops.dumps(estimator)
    trusted = skops.get_untrusted_types(data=dumped)
    same_answers(skops.loads(dumped, trusted=trusted), estimator)


def test_names_of_a_data_frame(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"col {j}" for j in range(D)])
    estimator = gs.OnlineClassifier(**SETTINGS).fit(frame, WORDS)
    gs.save(estimator, tmp_path / "m.gsm")
    made = gs.load(tmp_path / "m.gsm")
    assert made.names == estimator.nonzero_features_.tolist()
    assert_array_equal(made.predict(frame[frame.columns[::-1]]), estimator.predict(frame))
    with pytest.raises(ValueError, match="there is no column 'col 3'"):
        made.predict(frame.drop(columns="col 3"))


def test_loading_needs_no_scikit_learn(tmp_path):
    gs.save(FITTED["multinomial"], tmp_path / "m.gsm")
    code = (
        "import sys, gossamer as gs; m = gs.load(sys.argv[1]); m.predict_proba([[1.0] * 9]); "
        "print('sklearn' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code, tmp_path / "m.gsm"], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_wrong_width_and_wrong_things():
    made = gs.Model.of(FITTED["binary"])
    with pytest.raises(ValueError, match="The data has 3 columns; the model has 9 features"):
        made.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match="finite"):
        made.predict(np.full((2, 9), np.nan))
    with pytest.raises(ValueError, match="gives no probabilities"):
        gs.Model.of(FITTED["binary, hinge"]).predict_proba(X)
    with pytest.raises(TypeError, match="fitted linear estimator of gossamer"):
        gs.save(object(), "nowhere")
    with pytest.raises(TypeError, match="fitted linear estimator of gossamer"):
        gs.save(gs.OnlineClassifier(), "nowhere")


# Files


def rewritten(path, change_header=None, change_arrays=None):
    """Return the bytes of a file with a right checksum and a changed header or arrays."""
    header, arrays = file_format.read(path)
    header.pop("arrays")
    if change_header:
        change_header(header)
    if change_arrays:
        change_arrays(arrays)
    file_format.write(path, header, arrays)
    return path


HOSTILE = {
    "a later version": (lambda h: h.update(schema=99), None, "later version"),
    "no such kind": (lambda h: h.update(kind="forest"), None, "kind"),
    "code for a loss": (lambda h: h.update(loss=["os.system", {"x": "ls"}]), None, "loss"),
    "settings of a loss": (lambda h: h.update(loss=["multinomial", {"x": 1}]), None, "settings of the loss"),
    "a loss of another kind": (lambda h: h.update(loss=["squared", {}]), None, "invalid loss"),
    "a huge width": (lambda h: h.update(n_features=2**80), None, "number of features"),
    "a width that is none": (lambda h: h.update(n_features="9"), None, "number of features"),
    "too narrow": (lambda h: h.update(n_features=2), None, "invalid features"),
    "names that are numbers": (lambda h: h.update(names=[1, 2]), None, "names"),
    "too few names": (lambda h: h.update(names=["a"]), None, "names"),
    "too few classes": (lambda h: h.update(classes=["a"]), None, "classes"),
    "classes of classes": (lambda h: h.update(classes=[[1], [2], [3]]), None, "classes"),
    "the same class twice": (lambda h: h.update(classes=["a", "a", "b"]), None, "classes"),
    "NaN": (None, lambda a: a["value"].__setitem__(0, np.nan), "invalid weights"),
    "an output that is not there": (None, lambda a: a["output"].__setitem__(0, 77), "outputs"),
    "a negative output": (None, lambda a: a["output"].__setitem__(0, -1), "outputs"),
    "features out of order": (None, lambda a: a["features"].__setitem__(slice(None), 0), "invalid features"),
    "a negative feature": (None, lambda a: a["features"].__setitem__(0, -5), "invalid features"),
    "places beyond the end": (None, lambda a: a["starts"].__setitem__(-1, 10**6), "places"),
    "places that go back": (None, lambda a: a["starts"].__setitem__(1, -4), "places"),
    "no array": (None, lambda a: a.pop("starts"), "missing"),
    "another type": (None, lambda a: a.update(value=a["value"].astype(np.float32)), "missing or of another type"),
    "flat": (lambda h: h.update(flat="yes"), None, "shape"),
}


@pytest.mark.parametrize(("header", "arrays", "words"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_refused(tmp_path, header, arrays, words):
    path = tmp_path / "m.gsm"
    gs.save(FITTED["multinomial"], path)
    with pytest.raises(FileError, match=words):
        gs.load(rewritten(path, header, arrays))


def test_a_broken_file_is_refused(tmp_path):
    path = tmp_path / "m.gsm"
    gs.save(FITTED["binary"], path)
    data = path.read_bytes()
    for i in range(0, len(data), 7):
        path.write_bytes(data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :])
        with pytest.raises(FileError):
            gs.load(path)
        path.write_bytes(data[:i])
        with pytest.raises(FileError):
            gs.load(path)
    path.write_bytes(data + b"more")
    with pytest.raises(FileError):
        gs.load(path)


@given(st.binary(max_size=300), st.sampled_from([None, *file_format.SUMS]))
def test_any_bytes_are_refused(data, magic):
    if magic is not None:  # past the checksum, to what is behind it
        data = magic + data
        data += file_format.SUMS[magic][1]([data])
    with pytest.raises(FileError):
        model.checked(*file_format.parse(data))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=12,
    )
)
def test_any_header_is_refused_or_right(value):
    import hashlib

    words = json.dumps({"arrays": value} if not isinstance(value, dict) else value).encode()
    data = file_format.MAGIC + len(words).to_bytes(8, "little") + words
    data += hashlib.sha256(data).digest()
    with pytest.raises(FileError):
        model.checked(*file_format.parse(data))


def test_a_file_with_a_deep_header():
    import hashlib

    words = b"[" * 100_000
    data = file_format.MAGIC + len(words).to_bytes(8, "little") + words
    with pytest.raises(FileError, match="not JSON"):
        file_format.parse(data + hashlib.sha256(data).digest())


def test_a_feature_far_out_claims_no_memory(tmp_path):
    path = tmp_path / "m.gsm"
    gs.save(FITTED["regression"], path)

    def far(arrays):
        arrays["features"][-1] = 2**31 - 2

    made = gs.load(rewritten(path, lambda h: h.update(n_features=2**31 - 1), far))
    wide = sp.csr_matrix(([2.0], ([0], [2**31 - 2])), shape=(1, 2**31 - 1))
    assert_allclose(made.predict(wide), made.intercept + 2 * made.value[-1])


SMALL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
from gossamer.cli.arguments import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer takes memory of its own")
def test_many_classes_and_features_claim_no_memory(tmp_path):
    """A file of some megabytes whose weights, written out, would take 80 GB: it is shown, and predicts, in little."""
    path, n = tmp_path / "m.gsm", 100_000
    a = {"features": np.arange(n), "starts": np.arange(n + 1), "output": np.arange(n, dtype=np.int32)}
    a |= {"value": np.linspace(1.0, 2.0, n), "intercept": np.zeros(n)}
    header = {"schema": 1, "library": "0.1.0", "kind": "multiclass", "loss": ["multinomial", {}], "n_features": n}
    header |= {"classes": list(range(n)), "names": None, "flat": True, "shared": {}, "input": {}, "facts": {}}
    file_format.write(path, header, a)
    rows = tmp_path / "a.svm"
    rows.write_text("".join(f"0 {j + 1}:5\n" for j in range(0, n, 100)))
    run = [sys.executable, "-c", SMALL]
    done = subprocess.run([*run, "inspect", str(path)], capture_output=True, text=True, check=True)
    assert "100,000 of 100,000 features" in done.stdout
    done = subprocess.run(
        [*run, "predict", str(path), str(rows), "--format", "svmlight"], capture_output=True, text=True, check=True
    )
    assert [int(line) for line in done.stdout.split()] == list(range(0, n, 100))
    with pytest.raises(ValueError, match="too many to write down"):
        gs.load(path).weights.sum()
    header["classes"] = ["x" * 10_000_000] + [str(j) for j in range(n - 1)]  # as an array: 4 TB
    file_format.write(path, header, a)
    with pytest.raises(FileError, match="invalid classes"):
        gs.load(path)


def test_sizes_and_some_weights():
    a = [np.array(x) for x in ([0, 3, 5, 9], [0, 2, 2, 3, 3], [0, 1, 1], [1.0, -4.0, 2.0], [0.0, 0.0])]
    made = gs.Model("multiclass", gs.Multinomial(), np.array([0, 1]), 10, *a)
    assert_allclose(made.sizes, np.abs(made.weights).max(axis=1))
    assert_allclose(made.weights, [[1, -4], [0, 0], [0, 2], [0, 0]])
    assert_allclose(made.weights_of(np.array([2, 0])), [[0, 2], [1, -4]])


def test_writing_leaves_the_old_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "m.gsm"
    gs.save(FITTED["binary"], path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        gs.save(FITTED["multinomial"], path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.gsm"]


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.gsm")), ids=lambda p: p.stem)
def test_files_of_earlier_versions_load(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    made = gs.load(path)
    assert_array_equal(made.predict(np.array(expected["X"])), expected["answers"])
    assert_allclose(made.decision_function(np.array(expected["X"])), expected["scores"], rtol=1e-12)


def test_there_are_fixtures():
    assert len(list(FIXTURES.glob("v1-*.gsm"))) >= 4


# Exports

DATA = np.vstack([X, 40 * X[:5], np.zeros((1, D))])


def expected_of(made):
    if made.probabilistic:
        return made.predict_proba(DATA)
    z = made._all_scores(DATA)
    return np.atleast_2d(made.predict(DATA).T).T if made.kind == "regression" else z


@over_all
def test_json(estimator):
    made = gs.Model.of(estimator)
    words = json.loads(exports.to_json(made))
    W = np.zeros((D, len(words["intercept"])))
    for row in words["features"]:
        W[row["feature"]] = row["weights"]
    assert_allclose(DATA @ W + words["intercept"], made._all_scores(DATA), rtol=1e-12, atol=1e-12)
    assert words["classes"] == (None if made.classes is None else made.classes.tolist())


@over_all
def test_c(estimator, tmp_path):
    made = gs.Model.of(estimator)
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "m.c").write_text(exports.to_c(made, "answer"), encoding="utf-8")
    command = [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "m.c", "-o", "m.so", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    call = ctypes.CDLL(str(tmp_path / "m.so")).answer
    call.restype = ctypes.c_long
    for x, expected, label in zip(DATA, expected_of(made), made.predict(DATA), strict=True):
        index = np.flatnonzero(x)[::-1].astype(np.longlong)
        value, out = np.ascontiguousarray(x[index]), np.empty(len(expected))
        pointers = [index.ctypes.data_as(ctypes.c_void_p), value.ctypes.data_as(ctypes.c_void_p)]
        place = call(ctypes.c_long(len(index)), *pointers, out.ctypes.data_as(ctypes.c_void_p))
        assert_allclose(out, expected, atol=1e-6)
        if made.kind not in ("regression", "multilabel"):
            assert made.classes[place] == label


def rows_of(database, query):
    done = database.execute(query)
    names = [d[0] for d in done.description]
    return [dict(zip(names, row, strict=True)) for row in done.fetchall()]


def check_sql(made, rows):
    labels = [] if made.classes is None else made.classes.tolist()
    answers = made.predict(DATA)
    if made.probabilistic:
        got = [[row[f"probability_{c}"] for c in labels] for row in rows]
        assert_allclose(got, made.predict_proba(DATA), atol=1e-6)
    if made.kind == "regression":
        names = ["prediction"] if made.flat else [f"prediction_{r}" for r in range(len(made.intercept))]
        assert_allclose([[row[n] for n in names] for row in rows], np.atleast_2d(answers.T).T, atol=1e-6)
    elif made.kind == "multilabel":
        assert_array_equal([[row[f"prediction_{c}"] for c in labels] for row in rows], answers)
    else:
        assert [row["prediction"] for row in rows] == answers.tolist()


@over_all
@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
@pytest.mark.parametrize("layout", ["wide", "long"])
def test_sql(estimator, engine, layout):
    made = gs.Model.of(estimator)
    database = (sqlite3 if engine == "sqlite" else pytest.importorskip("duckdb")).connect(":memory:")
    if layout == "wide":
        columns = ", ".join(f'"f{j}" DOUBLE' for j in range(D))
        database.execute(f"CREATE TABLE data (id INTEGER, {columns})")
        rows = [[i, *(None if v == 0 else v for v in x)] for i, x in enumerate(DATA.tolist())]
        database.executemany(f"INSERT INTO data VALUES ({', '.join('?' * (D + 1))})", rows)
    else:
        database.execute("CREATE TABLE data (id INTEGER, feature BIGINT, value DOUBLE)")
        rows = [[i, j, v] for i, x in enumerate(DATA.tolist()) for j, v in enumerate(x)]
        database.executemany("INSERT INTO data VALUES (?, ?, ?)", rows)
    query = exports.to_sql(made, layout=layout)
    check_sql(made, sorted(rows_of(database, query), key=lambda row: row["id"]))
    database.close()


def test_sql_of_a_wide_model():
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(20, 1500))
    made = gs.Model.of(gs.OnlineRegressor(alpha=0.0, method=gs.Fobos(1e-4)).fit(wide, wide[:, 0]))
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE data (id INTEGER, {', '.join(f'f{j} DOUBLE' for j in range(1500))})")
    database.execute(f"INSERT INTO data VALUES (0, {', '.join(map(str, wide[0].tolist()))})")
    (row,) = rows_of(database, exports.to_sql(made))
    assert_allclose(row["prediction"], made.predict(wide[:1])[0], rtol=1e-9)
    database.close()


def test_sql_names_are_quoted():
    import pandas as pd

    frame = pd.DataFrame({'a "b"; DROP TABLE data': [1.0, 2.0, 3.0], "x y": [0.0, 1.0, 0.0]})
    made = gs.Model.of(gs.OnlineClassifier(alpha=0.0).fit(frame, ["it's", "o'k", "o'k"]))
    database = sqlite3.connect(":memory:")
    frame.to_sql("data", database, index=False)
    rows = rows_of(database, exports.to_sql(made))
    assert [row["prediction"] for row in rows] == made.predict(frame).tolist()
    database.close()


@over_all
def test_onnx(estimator):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    made = gs.Model.of(estimator)
    session = runtime.InferenceSession(exports.to_onnx(made), providers=["CPUExecutionProvider"])
    got = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": DATA}), strict=True))
    if made.kind == "regression":
        assert_allclose(got["variable"], np.atleast_2d(made.predict(DATA).T).T, atol=1e-6)
        return
    assert_array_equal(got["label"], made.predict(DATA))
    name = "probabilities" if made.probabilistic else "scores"
    assert_allclose(got[name], expected_of(made), atol=1e-6)


def test_onnx_where_no_class_has_a_chance():
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    output = np.array([0, 1, 2], np.int32)
    a = np.array([0]), np.array([0, 3]), output, np.array([-1e3, -2e3, -3e3]), np.zeros(3)
    made = gs.Model("one_vs_rest", gs.Exponential(), np.array([1, 2, 3]), 1, *a)
    data = np.array([[1.0], [-1.0], [0.0]])
    session = runtime.InferenceSession(exports.to_onnx(made), providers=["CPUExecutionProvider"])
    label, chances = session.run(None, {"X": data})
    assert_array_equal(label, made.predict(data))
    assert_allclose(chances, made.predict_proba(data), atol=1e-9)
    large = gs.Model("one_vs_rest", gs.Exponential(), np.array([1, 2, 2**63], np.uint64), 1, *a)
    with pytest.raises(ValueError, match="up to 2"):
        exports.to_onnx(large)


def test_a_bad_name_or_layout():
    made = gs.Model.of(FITTED["binary"])
    with pytest.raises(ValueError, match="name of a C function"):
        exports.to_c(made, "a b")
    with pytest.raises(ValueError, match="layout must be"):
        exports.to_sql(made, layout="tall")
