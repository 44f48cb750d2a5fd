"""`gossamer train --exact` and `gossamer certify`."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import gossamer as gs
from gossamer.cli.arguments import main
from gossamer.cli.exact import check
from gossamer.cli.words import UsageError


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A svmlight file of two classes, and a table of numbers in odd units."""
    folder, random = tmp_path_factory.mktemp("exact"), np.random.default_rng(0)
    X = sp.random(3000, 200, 0.05, format="csr", random_state=0, data_rvs=random.standard_normal)
    z = X[:, :10] @ (3 * random.standard_normal(10))
    dump_svmlight_file(X, np.where(z + random.logistic(size=3000) > 0, 1, -1), str(folder / "a.svm"), zero_based=False)
    big, small, kind = random.normal(100, 3, 2000), random.normal(0, 0.01, 2000), random.choice(list("xyz"), 2000)
    target = 3 * big + 500 * small + 4 * (kind == "x") + random.standard_normal(2000)
    lines = [f"{a:.3f},{b:.6f},{k},{t:.4f}" for a, b, k, t in zip(big, small, kind, target, strict=True)]
    (folder / "t.csv").write_text("\n".join(["big,small,kind,target", *lines]) + "\n")
    return folder


def run(capsys, *words):
    code = main(list(map(str, words)))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("file", ["a.svm", "t.csv"])
@pytest.mark.parametrize("method", ["auto", "adagrad"])  # the second learns a table in units of its spreads
@pytest.mark.parametrize("memory", ["1G", "700k"])
def test_training_ends_at_the_optimum_and_certify_agrees(capsys, tmp_path, data, file, method, memory):
    model = tmp_path / "m.gsm"
    words = (data / file, "-o", model, "--exact", "--memory", memory, "--method", method, "--json")
    words += ("--one-hot",) if file == "t.csv" else ()
    code, out, _ = run(capsys, "train", *words)
    assert code == 0
    facts = json.loads(out)
    assert facts["certificate"] == "duality gap"
    assert not [words for words in facts["warnings"] if "gap" in words]
    code, out, _ = run(capsys, "certify", model, data / file, "--json")
    proof = json.loads(out)
    assert code == 0
    assert proof["objective"] == pytest.approx(facts["objective"], rel=1e-9)
    assert proof["gap"] <= 1e-4 * facts["constant_loss"] * 1.1


def test_certify_tells_online_from_exact(capsys, tmp_path, data):
    model, file = tmp_path / "m.gsm", data / "a.svm"
    assert run(capsys, "train", file, "-o", model, "-q")[0] == 0
    code, out, _ = run(capsys, "certify", model, file)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["rows", "objective", "bound", "gap"]
    alpha = gs.load(model).facts["alpha"]
    X, y = gs.read(file)
    best = gs.BatchClassifier(alpha=alpha, tol=1e-7).fit(X, y)
    found = json.loads(run(capsys, "certify", model, file, "--json")[1])
    assert found["bound"] <= best.objective_ <= found["objective"]
    assert found["gap"] > 1e-3
    none = json.loads(run(capsys, "certify", model, file, "--json", "--alpha", "0")[1])
    assert none["bound"] is None
    assert "without a penalty" in none["reason"]


def test_the_strength_and_rows_held_out_are_those_of_the_online_path(capsys, tmp_path, data):
    X, y = gs.read(data / "a.svm")
    found = json.loads(
        run(capsys, "train", data / "a.svm", "-o", tmp_path / "m.gsm", "--exact", "--alpha", "0.004", "--json")[1]
    )
    assert found["alpha"] == 0.004
    assert found["objective"] == pytest.approx(gs.BatchClassifier(alpha=0.004, tol=1e-6).fit(X, y).objective_, abs=1e-4)
    held = json.loads(
        run(capsys, "train", data / "a.svm", "-o", tmp_path / "h.gsm", "--exact", "--holdout", "0.2", "--json")[1]
    )
    assert held["holdout"]["rows"] > 400
    assert held["certificate"] == "duality gap"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["DATA", "--exact", "--average"], "--average is for learning in passes"),
        (["DATA", "--memory", "1G"], "--memory and --tol are for --exact"),
        (["DATA", "--exact", "--memory", "much"], "a number of bytes, such as 500M or 2G"),
    ],
)
def test_what_does_not_go_together(capsys, tmp_path, monkeypatch, data, words, said):
    monkeypatch.chdir(tmp_path)
    words = [str(data / "a.svm") if word == "DATA" else word for word in words]
    try:
        code = main(["train", *words])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert said in capsys.readouterr().err


def test_a_pipe_is_refused():
    with pytest.raises(UsageError, match="not possible with standard input"):
        check(SimpleNamespace(exact=True), SimpleNamespace(rereadable=False))


def test_too_little_memory_says_how_much(capsys, tmp_path, data):
    code, _, err = run(capsys, "train", data / "a.svm", "-o", tmp_path / "m.gsm", "--exact", "--memory", "50k", "-q")
    assert code == 1
    assert "rows and 200 columns need about" in err
