"""The command line as its users meet it."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
from gossamer.cli import arguments as cli

random = np.random.default_rng(0)
X = np.round(random.normal(size=(400, 20)) * (random.random((400, 20)) < 0.5), 3)
W = random.normal(size=20)
LABELS = np.where(X @ W > 0, 1, -1)


def text(y=LABELS):
    rows = zip(y, X, strict=True)
    return "".join(f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v) + "\n" for label, x in rows)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text(text())
    return path


@pytest.fixture
def trained(data, tmp_path):
    assert cli.main(["train", str(data), "-o", str(tmp_path / "m.gsm"), "-q", "--alpha", "1e-3"]) == 0
    return tmp_path / "m.gsm"


def run(*command, **settings):
    return subprocess.run([sys.executable, "-m", "gossamer", *map(str, command)], capture_output=True, **settings)


def test_train_is_the_estimator(trained, data):
    made = gs.load(trained)
    whole = gs.OnlineClassifier(alpha=1e-3, shuffle=False).fit(*gs.read(data))
    assert_array_equal(made.weights[:, 0], whole.coef_[0][whole.nonzero_features_])
    assert_array_equal(made.classes, [-1, 1])
    assert made.facts["rows"] == 400
    assert made.name(0) == str(made.features[0] + 1)  # as the file counts


def test_train_speaks_json(data, tmp_path, capsys):
    command = ["train", str(data), "-o", str(tmp_path / "m.gsm"), "--json", "--holdout", "0.2"]
    assert cli.main(command) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["rows"] + said["holdout"]["rows"] == 400
    assert 50 < said["holdout"]["rows"] < 110
    assert said["holdout"]["error"] < 0.3
    assert said["nonzero_features"] == len(gs.load(tmp_path / "m.gsm").features)


def test_train_in_words(data, tmp_path, capsys):
    assert cli.main(["train", str(data), "-o", str(tmp_path / "m.gsm"), "--holdout", "0.2"]) == 0
    words = capsys.readouterr()
    assert words.out == ""
    assert "target: two classes: " in words.err
    assert re.search(r"trained   \d+ rows in [\d.]+ s, \d+ held out\n", words.err)
    assert re.search(r"of 20 features have weights, progressive loss 0\.\d+ \(without features 0\.6\d+\)", words.err)
    assert re.search(r"held out  error [\d.]+% \(\d+ of \d+; always -?1: [\d.]+%\), AUC 0\.\d+, loss [\d.]+", words.err)
    assert re.search(rf"wrote     {tmp_path / 'm.gsm'} \(\d+ kB\)", words.err)
    assert f"gossamer predict {tmp_path / 'm.gsm'} NEW.svm --proba" in words.err


SETTINGS = {
    "penalty": ["--penalty", "elastic_net(l1_ratio=0.3)", "--method", "fobos(step=0.5)"],
    "hinge": ["--loss", "hinge", "--average", "--no-intercept"],
    "no path": ["--method", "pegasos", "--penalty", "l2_squared", "--loss", "hinge"],
    "one strength": ["--alpha", "1e-3"],
    "groups on a path": ["--penalty", "group_l2", "--method", "rda", "--loss", "multinomial", "--classes=-1,1,5"],
    "passes": ["--passes", "3"],
    "coupled": ["--penalty", "l1_ball(3.0)"],
    "regression": ["--loss", "huber(delta=0.5)"],
    "classes": ["--classes=-1,1,5"],
    "grow": ["--grow"],
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_settings(data, tmp_path, settings):
    assert cli.main(["train", str(data), "-o", str(tmp_path / "m.gsm"), "-q", *settings]) == 0
    made = gs.load(tmp_path / "m.gsm")
    assert len(made.predict(data)) == 400


def test_path(data, tmp_path, capsys):
    """The strength that is kept is that of the estimator that chooses by the same rule."""
    out = tmp_path / "m.gsm"
    data.write_text(text(np.where(np.random.default_rng(3).random(len(X)) < 0.2, -LABELS, LABELS)))
    for select in ("best", "sparsest"):
        whole = gs.OnlineClassifierCV(alphas=8, shuffle=False, select=select).fit(*gs.read(data))
        assert cli.main(["train", str(data), "-o", str(out), "--path", "8", "--select", select]) == 0
        assert "<- chosen" in capsys.readouterr().err
        made = gs.load(out)
        assert_allclose(made.facts["path"]["alphas"], whole.alphas_, rtol=1e-12)
        assert_allclose(made.facts["path"]["progressive_loss"], whole.path_loss_, rtol=1e-12)
        best = int(np.argmin(whole.path_loss_))
        chosen = whole.alphas_[best] if select == "best" else whole.alpha_
        assert made.facts["alpha"] == chosen
        assert_allclose(made.decision_function(X), whole.at(chosen).decision_function(X), rtol=1e-9)
    assert whole.alpha_ > whole.alphas_[best]
    assert cli.main(["train", str(data), "-o", str(tmp_path / "default.gsm"), "--path", "8"]) == 0
    assert (tmp_path / "default.gsm").read_bytes() == out.read_bytes()
    with pytest.raises(SystemExit, match="2"):
        cli.main(["train", str(data), "-o", str(out), "--path", "1"])
    assert cli.main(["train", str(data), "-o", str(out), "--path", "8", "--alpha", "1"]) == 2


def test_sixteen_strengths_are_the_default(data, tmp_path, capsys):
    out = tmp_path / "m.gsm"
    assert cli.main(["train", str(data), "-o", str(out)]) == 0
    assert len(gs.load(out).facts["path"]["alphas"]) == 16
    capsys.readouterr()
    assert cli.main(["train", str(data), "-o", str(out), "--average"]) == 0
    assert "--average learns one strength, not a path: alpha 1e-05" in capsys.readouterr().err
    assert gs.load(out).facts["alpha"] == 1e-5
    assert cli.main(["train", str(data), "-o", str(out), "--penalty", "l1_ball(3.0)"]) == 0
    assert "learns one strength" not in capsys.readouterr().err  # a ball has none


@pytest.mark.parametrize("method", ["adagrad", "adagrad(form='fobos')", "fobos", "rda", "ftrl"])
def test_a_path_grows_with_the_features(tmp_path, method, monkeypatch):
    """Features that come late change nothing: neither the strengths nor the weights."""
    lines = text().splitlines()
    data, out = tmp_path / "a.svm", tmp_path / "m.gsm"
    data.write_text("\n".join([*lines, "1 1500:0.5 3:1", *lines, "-1 5000:1", *lines]) + "\n")
    monkeypatch.setattr("gossamer.sources.text.BLOCK", 4000)
    models = []
    for more in ([], ["--features", "5000"]):
        assert cli.main(["train", str(data), "-o", str(out), "-q", "--method", method, *more]) == 0
        models.append(out.read_bytes())
    assert models[0] == models[1]


NAMES = [f"f{j}<script>&'" for j in range(20)]


def report(folder, *more):
    """Return the page about a training on features with hostile names."""
    rows = (
        f"{label} |" + "".join(f" {n}:{v}" for n, v in zip(NAMES, x, strict=True))
        for label, x in zip(LABELS, X, strict=True)
    )
    data, page = folder / "a.vw", folder / "r.html"
    data.write_text("\n".join(rows))
    assert cli.main(["train", str(data), "-o", str(folder / "m.gsm"), "--report", str(page), "-q", *more]) == 0
    return page


def test_report(tmp_path, capsys):
    """The page holds what was learned, is well formed, loads nothing, and shows names as they are, not as HTML."""
    for more in (["--holdout", "0.2", "--passes", "2"], ["--alpha", "1e-3"], ["--alpha", "100"]):
        words = report(tmp_path, *more).read_text()
        tree = ElementTree.fromstring(words.replace("<!doctype html>", ""))
        assert ("progressive loss" in words, "held out: error" in words) == (True, "--holdout" in more)
        shown = [cell.text for cell in tree.iter("td") if (cell.text or "").startswith("f")]
        assert set(shown) <= set(NAMES)
        assert len(shown) == min(30, len(gs.load(tmp_path / "m.gsm").features))
        assert "<script" not in words
        assert not any(load in words for load in ("http:", "https:", "//", "src=", "href=", "url(", "@import"))
        assert "default-src 'none'" in words
    assert "There are none" in words  # alpha 100 leaves no weight


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
@pytest.mark.parametrize("width", [500, 1200])
def test_report_in_a_browser(tmp_path, width):
    """Nothing is wider than the page, no text of a picture is cut off, and no name becomes an element."""
    ask = """<script>
      const texts = [...document.querySelectorAll("svg text")], cut = texts.filter(text => {
        const a = text.getBoundingClientRect(), b = text.ownerSVGElement.getBoundingClientRect();
        return a.left < b.left || a.right > b.right || a.top < b.top || a.bottom > b.bottom;
      });
      const facts = [document.documentElement.scrollWidth, cut.length, document.scripts.length, texts.length];
      document.title = facts.join(" ");
    </script>"""
    page = report(tmp_path, "--holdout", "0.2", "--passes", "2")
    page.write_text(page.read_text().replace("default-src 'none'", "default-src 'unsafe-inline'") + ask)
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    words = [*options, f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900", "--dump-dom"]
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # no sanitizer in the browser
    done = subprocess.run(["chromium", *words, page.as_uri()], check=True, capture_output=True, env=plain, timeout=100)
    shown = done.stdout.decode()
    wide, cut, scripts, texts = map(int, re.search("<title>(.*)</title>", shown)[1].split())
    assert wide <= width
    assert (cut, scripts) == (0, 1)  # the one of this test
    assert texts >= 10


def test_predict(trained, data, tmp_path, capsys):
    made = gs.load(trained)
    assert cli.main(["predict", str(trained), str(data)]) == 0
    assert [int(line) for line in capsys.readouterr().out.split()] == made.predict(X).tolist()
    out = tmp_path / "out.tsv"
    assert cli.main(["predict", str(trained), str(data), "--proba", "--scores", "-o", str(out)]) == 0
    head, *lines = out.read_text().splitlines()
    assert head == "label\tp(-1)\tp(1)\tscore"
    got = np.array([line.split("\t") for line in lines], float)
    assert_allclose(got[:, 1:3], made.predict_proba(X), rtol=1e-5)
    assert_allclose(got[:, 3], made.decision_function(X), rtol=1e-8)
    assert all(len(cell) <= 11 for line in lines for cell in line.split("\t")[1:3])  # 6 digits
    assert cli.main(["predict", str(trained), str(data), "--proba", "-o", str(out), "--no-header"]) == 0
    assert len(out.read_text().splitlines()) == 400
    assert cli.main(["predict", str(trained), str(data), "--header"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "label"


def test_answers_as_csv(tmp_path):
    """A file that is called so has commas; labels with commas, marks and ends of lines are quoted."""
    rows = ["yes, sure", 'no "way"', "plain\nend"] * 40
    frame = pd.DataFrame({"x": np.arange(120.0) % 3, "answer": rows})
    gs.save(gs.OnlineClassifier(max_passes=5).fit(frame, target="answer"), tmp_path / "m.gsm")
    frame.to_csv(tmp_path / "a.csv", index=False)
    words = ["predict", str(tmp_path / "m.gsm"), str(tmp_path / "a.csv"), "--proba", "-o"]
    assert cli.main([*words, str(tmp_path / "out.csv")]) == 0
    answers = pd.read_csv(tmp_path / "out.csv")
    assert answers.columns[0] == "label"
    assert answers.label.tolist() == gs.load(tmp_path / "m.gsm").predict(frame).tolist()
    assert_allclose(answers.iloc[:, 1:].sum(axis=1), 1, atol=1e-5)


def test_predict_rows_without_labels_and_with_tags(tmp_path, capsys):
    lines = [
        f"{label} 't{i}|f " + " ".join(f"x{j}:{v}" for j, v in enumerate(x))
        for i, (label, x) in enumerate(zip(LABELS, X, strict=True))
    ]
    path = tmp_path / "a.vw"
    path.write_text("\n".join(lines))
    assert cli.main(["train", str(path), "-o", str(tmp_path / "m.gsm"), "-q"]) == 0
    plain = tmp_path / "b.vw"
    plain.write_text("\n".join(line.split(" ", 1)[1] for line in lines))
    assert cli.main(["predict", str(tmp_path / "m.gsm"), str(plain)]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [tag for _, tag in rows] == [f"t{i}" for i in range(400)]
    assert np.mean([int(answer) for answer, _ in rows] == LABELS) > 0.85
    assert cli.main(["inspect", str(tmp_path / "m.gsm"), "--top", "3"]) == 0
    assert "f^x" in capsys.readouterr().out


def test_inspect(trained, capsys):
    assert cli.main(["inspect", str(trained), "--top", "4"]) == 0
    words = capsys.readouterr().out
    assert "binary model, Logistic loss, classes -1, 1" in words
    assert len(words.split("(intercept)")[1].splitlines()) == 5
    assert cli.main(["inspect", str(trained), "--json", "--top", "4"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert len(said["largest"]) == 4
    sizes = [abs(row["weights"][0]) for row in said["largest"]]
    assert sizes == sorted(sizes, reverse=True)


def test_inspect_shows_hostile_names_as_escapes(tmp_path, capsys):
    name = "\x1b]0;title\x07\u202e\n(intercept)"
    made = gs.Model.of(gs.OnlineRegressor(alpha=0.0, method=gs.Fobos(1.0)).fit([[2.0]], [1.0]))
    gs.save(gs.Model(**{**vars(made), "names": [name]}), tmp_path / "m.gsm")
    assert cli.main(["inspect", str(tmp_path / "m.gsm")]) == 0
    words = capsys.readouterr().out
    assert all(c.isprintable() for c in words.replace("\n", ""))
    assert r"\x1b]0;title\x07\u202e\n" in words


def test_a_model_says_which_data_it_can_read(trained, tmp_path, capsys):
    table = tmp_path / "a.csv"
    table.write_text("x,target\n1,2\n2,3\n")
    assert cli.main(["predict", str(trained), str(table), "--format", "csv"]) == 1
    assert "The model learned from svmlight; csv cannot be read in the same way" in capsys.readouterr().err
    of_table = str(tmp_path / "t.gsm")
    assert cli.main(["train", str(table), "-o", of_table, "-q", "--loss", "squared", "--alpha", "1e-3"]) == 0
    assert cli.main(["predict", of_table, str(tmp_path / "a.svm")]) == 1
    assert "The model learned from a table with named columns; svmlight cannot be read" in capsys.readouterr().err
    assert cli.main(["predict", of_table, str(table), "--format", "csv"]) == 0


def test_export(trained, tmp_path, capsys):
    assert cli.main(["export", str(trained), "--to", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "binary"
    assert cli.main(["export", str(trained), "--to", "c", "--name", "score"]) == 0
    assert "long score(long n" in capsys.readouterr().out
    query = tmp_path / "q.sql"
    assert cli.main(["export", str(trained), "--to", "sql", "--layout", "long", "-o", str(query)]) == 0
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE data (id INTEGER, feature INTEGER, value DOUBLE)")
    rows = [(i, j, v) for i, x in enumerate(X.tolist()) for j, v in enumerate(x)]
    database.executemany("INSERT INTO data VALUES (?, ?, ?)", rows)
    got = {row[0]: row[-1] for row in database.execute(query.read_text())}
    database.close()
    assert [got[i] for i in range(400)] == gs.load(trained).predict(X).tolist()
    assert cli.main(["export", str(trained), "--to", "onnx", "-o", str(tmp_path / "m.onnx")]) == 0
    assert (tmp_path / "m.onnx").stat().st_size > 100


def test_demo(tmp_path, monkeypatch, capsys):
    """The journey from a raw table, told in the folder where its files are."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo", "there"]) == 0
    words = capsys.readouterr().out
    assert re.findall(r"^\$ gossamer (\w+)", words, re.MULTILINE) == ["look", "train", "inspect", "predict"]
    assert {path.name for path in (tmp_path / "there").iterdir()} == {"rents.csv", "new.csv", "rents.gsm", "rents.html"}
    assert gs.load(tmp_path / "there" / "rents.gsm").facts["holdout"]["r2"] > 0.9
    answers = words.split("$ gossamer predict")[1].splitlines()[1:7]
    assert answers[0] == "prediction"
    assert all(300 < float(answer) < 4000 for answer in answers[1:])
    shipped = Path(__file__).parents[2] / "examples" / "rents.csv"
    assert (tmp_path / "there" / "rents.csv").read_text() == shipped.read_text()


def test_bad_lines(data, tmp_path, capsys):
    data.write_text(text() + "oops\n1 7:1\n")
    out = str(tmp_path / "m.gsm")
    assert cli.main(["train", str(data), "-o", out]) == 1
    assert f"{data}, line 401, column 1: a number is needed here" in capsys.readouterr().err
    assert not (tmp_path / "m.gsm").exists()
    assert cli.main(["train", str(data), "-o", out, "--on-error", "skip"]) == 0
    assert "skipped   1 line that could not be read" in capsys.readouterr().err
    assert gs.load(out).facts["skipped_lines"] == 1
    kept = tmp_path / "kept.txt"
    assert cli.main(["train", str(data), "-o", out, "-q", "--on-error", "quarantine", str(kept)]) == 0
    assert kept.read_text() == "oops\n"
    assert cli.main(["train", str(data), "-o", out, "--on-error", "panic"]) == 2
    assert "--on-error is stop, skip, or quarantine FILE; 'panic' was given" in capsys.readouterr().err


WRONG = {
    "no file": (1, ["train", "nowhere.svm"], "There is no file 'nowhere.svm'"),
    "no model": (1, ["predict", "nowhere.gsm", "DATA"], "There is no file 'nowhere.gsm'"),
    "nothing to inspect": (1, ["inspect", "nowhere.gsm"], "There is no file 'nowhere.gsm'"),
    "nothing to export": (1, ["export", "nowhere.gsm", "--to", "c"], "There is no file 'nowhere.gsm'"),
    "no folder": (1, ["train", "DATA", "-o", "none/m"], "cannot be written: there is no folder"),
    "no folder for the report": (1, ["train", "DATA", "--report", "none/r"], "there is no folder"),
    "loss": (2, ["train", "DATA", "--loss", "logistc"], "Did you mean 'logistic'"),
    "loss of another library": (2, ["train", "DATA", "--loss", "log_loss"], "It is called 'logistic' here"),
    "settings": (2, ["train", "DATA", "--penalty", "l1(3, 4, 5)"], "The settings of the penalty"),
    "setting": (2, ["train", "DATA", "--penalty", "elastic_net(l1_ratio=7)"], "The settings of the penalty"),
    "code": (2, ["train", "DATA", "--penalty", "l1(__import__('os'))"], "malformed"),
    "nothing": (2, ["train", "DATA", "--penalty", "(("], "A penalty is a name"),
    "pair": (2, ["train", "DATA", "--penalty", "group_l2", "--method", "eg"], "ExponentiatedGradient cannot handle"),
    "pair, one strength": (
        2,
        ["train", "DATA", "--alpha", "1", "--penalty", "l1_ball", "--method", "subgradient"],
        "Subgradient cannot handle L1Ball",
    ),
    "penalty": (2, ["train", "DATA", "--penalty", "l3"], "There is no penalty 'l3'"),
    "method": (2, ["train", "DATA", "--method", "adam"], "There is no method 'adam'"),
    "a setting": (2, ["train", "DATA", "--loss", "huber(delta=-1)"], "delta"),
    "a step": (2, ["train", "DATA", "--method", "fobos(step=-1)"], "step"),
    "alpha and path": (2, ["train", "DATA", "--path", "4", "--alpha", "1"], "give one of the two"),
    "average and path": (2, ["train", "DATA", "--path", "4", "--average"], "--average or --grow"),
    "output is input": (2, ["train", "DATA", "-o", "DATA"], "would replace a file that is read"),
    "two outputs": (2, ["train", "DATA", "-o", "m", "--report", "m"], "is named for two files"),
    "model to stdout": (2, ["train", "DATA", "-o", "-"], "A model is a file"),
    "bad lines": (2, ["train", "DATA", "--on-error", "quarantine"], "quarantine FILE"),
    "classes": (1, ["train", "DATA", "--classes", "1,2"], "label -1.0, which is not one of"),
    "not a model": (1, ["inspect", "DATA"], "this is not a file of gossamer"),
    "path": (2, ["train", "DATA", "--path", "4", "--penalty", "l1_ball"], "on a path"),
    "max": (1, ["train", "DATA", "--max-features", "5"], "beyond --max-features; raise that"),
    "features": (1, ["train", "DATA", "--features", "5"], "The number of features is 5"),
    "two roles": (2, ["train", "DATA", "--text", "a,b", "--ignore", "b"], "'b' is named by --text and by --ignore"),
    "a role and the target": (2, ["train", "DATA", "--target", "a", "--date", "a"], "by --date and by --target"),
    "half a pair": (2, ["train", "DATA", "--interact", "user"], "--interact takes two columns"),
    "an option of tables": (2, ["train", "DATA", "--text", "a"], "--text"),
}


@pytest.mark.parametrize(("code", "command", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(data, tmp_path, monkeypatch, capsys, code, command, words):
    monkeypatch.chdir(tmp_path)
    before = {*tmp_path.iterdir()}
    assert cli.main([str(data) if word == "DATA" else word for word in command]) == code
    told = capsys.readouterr().err
    assert words in told
    assert f"gossamer {command[0]}: " in told
    assert {*tmp_path.iterdir()} == before


SLIPS = {
    "a letter": (["train", "DATA", "--alhpa", "1"], "there is no option --alhpa. Did you mean --alpha?"),
    "with a value": (["train", "DATA", "--hold-out=0.1"], "there is no option --hold-out. Did you mean --holdout?"),
    "of another command": (["train", "DATA", "--proba"], "--proba is an option of gossamer predict."),
    "of none": (["inspect", "m.gsm", "--xyzzy"], "there is no option --xyzzy."),
    "a word of scikit-learn": (
        ["train", "DATA", "--max-iter", "5"],
        "there is no option --max-iter. The number of passes",
    ),
    "-q of Vowpal Wabbit": (["train", "DATA", "-q", "ui"], "-q ui of Vowpal Wabbit is --interact u:i."),
    "an argument": (["inspect", "a.gsm", "b.gsm"], "'b.gsm' is one argument too many."),
    "a command": (["trian", "DATA"], "there is no command 'trian'. Did you mean train?"),
    "nothing": (["train"], "the following arguments are required: DATA"),
    "before the command": (["--quiet", "train", "DATA"], "--quiet is an option of gossamer train"),
}


@pytest.mark.parametrize(("command", "words"), SLIPS.values(), ids=SLIPS)
def test_a_wrong_command_ends_with_two(command, words, data, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main([str(data) if word == "DATA" else word for word in command])
    assert caught.value.code == 2
    told = capsys.readouterr().err.splitlines()
    assert words in told[0]
    assert len(told) == 2
    assert told[1].endswith("--help has the options, with examples.")


def test_the_command_alone_shows_help(capsys):
    assert cli.main([]) == 0
    words = capsys.readouterr()
    assert "gossamer look houses.csv" in words.out
    assert words.err == ""


VALUES = {  # just outside what each option takes
    "--passes": ("0", "-1", "1.5", "two"),
    "--holdout": ("1", "-0.1", "nan", "half"),
    "--alpha": ("-1", "nan", "inf", "1e400", "strong"),
    "--path": ("1", "1000001", "9" * 400, "9" * 5000),
    "--features": ("0", "2147483648", "9" * 400),
    "--max-features": ("0", "-5"),
    "--every": ("0",),
    "--bits": ("-1", "31"),
    "--delimiter": ("", "ab", '"', "\n", "é"),
}


@pytest.mark.parametrize(("option", "value"), [(option, value) for option in VALUES for value in VALUES[option]])
def test_a_wrong_value_ends_with_two(option, value, data, tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["train", str(data), "-o", str(tmp_path / "m"), f"{option}={value}"])
    assert caught.value.code == 2
    told = capsys.readouterr().err.splitlines()[0]
    assert f"argument {option}: " in told
    assert " is needed; '" in told
    assert len(told) < 200
    assert not (tmp_path / "m").exists()


def test_an_option_of_another_format_ends_with_two(data, tmp_path, capsys):
    assert cli.main(["train", str(data), "-o", str(tmp_path / "m"), "--bits", "5"]) == 2
    assert "--bits is for vw, csv, arrow" in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], *([name] for name in cli.COMMANDS)])
def test_help(command, capsys):
    """Every command has examples of its own, and no others; each comes with a sentence."""
    with pytest.raises(SystemExit) as caught:
        cli.main([*command, "--help"])
    assert caught.value.code == 0
    words = capsys.readouterr().out
    assert "usage: gossamer" in words
    examples = re.findall(r"^  (?:.*\| )?gossamer (\w+) ?", words, re.MULTILINE)
    assert set(examples) == (set(command) or {"look", "train", "predict"})
    assert re.search(r"^\w.*:\n  (?:.*\| )?gossamer ", words, re.MULTILINE)


def test_standard_input_and_the_installed_command(tmp_path, data):
    out = tmp_path / "m.gsm"
    done = run("train", "-", "--format", "svmlight", "-o", out, "--json", input=text().encode(), check=True)
    assert json.loads(done.stdout)["rows"] == 400
    done = run("train", "-", "--format", "svmlight", "-o", out, "--passes", "2", input=b"")
    assert done.returncode == 2
    assert b"read the data again" in done.stderr
    done = run("train", "-", "--format", "svmlight", "-o", out, "--penalty", "l2_norm", input=text().encode())
    assert b"--features N" in done.stderr


def test_a_reader_that_leaves_early(trained, data):
    """As in `gossamer predict … | head -1`: no traceback."""
    data.write_text(text() * 200)
    command = [sys.executable, "-m", "gossamer", "predict", str(trained), str(data)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline()
    process.stdout.close()
    words = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 1
    assert words == b""


def test_training_starts_without_scikit_learn(data, tmp_path):
    code = (
        "import sys; from gossamer.cli.arguments import main; code = main(sys.argv[1:]); "
        "print(code, any(m.split('.')[0] in ('sklearn', 'scipy', 'pandas') for m in sys.modules))"
    )
    for command in (
        ["train", data, "-o", tmp_path / "m.gsm", "-q"],
        ["predict", tmp_path / "m.gsm", data, "-o", tmp_path / "x"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, command)], capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == ["0", "False"]


def test_control_c_leaves_a_model(tmp_path):
    pipe = tmp_path / "pipe.svm"
    os.mkfifo(pipe)
    out = tmp_path / "m.gsm"
    command = [sys.executable, "-m", "gossamer", "train", str(pipe), "-o", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    with pipe.open("w") as writer:
        for _ in range(150):  # more than a block, and no end of it
            writer.write(text())
        writer.flush()
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=30)
    assert process.returncode == 130, words
    assert b"; interrupted\n" in words
    assert b"wrote     " in words
    assert gs.load(out).facts["rows"] > 1000
