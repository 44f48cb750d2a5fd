"""The command line: misuse, huge numbers as options, special files as outputs, hostile names in exports."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import gossamer as gs
from attacks.problems import DENSE, TWO, model_file, run, svmlight, table, write
from attacks.rows import SOUND, Either, Row, exits, raises
from gossamer.model import exports

HUGE = "1" + "0" * 400
EITHER = Either((exits(0), exits(1)))


def train(*options: str) -> int:
    """Train on a small file; a model that was written must be finite."""
    code = run("train", write(svmlight(), "a.svm"), "-o", "m.gsm", "-q", *options)
    if code == 0:
        gs.load("m.gsm")
    return code


def usage_rows() -> list[Row]:
    wrong: dict[str, list[str]] = {
        "an unknown command": ["dance"],
        "train without data": ["train", "-o", "m.gsm"],
        "an unknown option": ["train", "a.svm", "-o", "m", "--color", "red"],
        "an unknown format": ["train", "a.svm", "-o", "m", "--format", "xml"],
        "an unknown choice": ["train", "a.svm", "-o", "m", "--select", "worst"],
        "passes that are a word": ["train", "a.svm", "-o", "m", "--passes", "two"],
        "alpha that is a word": ["train", "a.svm", "-o", "m", "--alpha", "strong"],
        "export without a language": ["export", "m.gsm"],
        "export to an unknown language": ["export", "m.gsm", "--to", "cobol"],
        "predict without data": ["predict", "m.gsm"],
        "inspect without a model": ["inspect"],
        "a NUL in a word": ["da\x00nce"],
    }
    rows = [Row(f"usage: {kind}", partial(run, *words), exits(2, "--help has")) for kind, words in wrong.items()]
    rows += [Row("usage: no such file", lambda: run("train", "nothing.svm"), exits(1, "no file"))]
    return [*rows, Row("usage: no command", run, exits(0))]


OPTIONS: dict[str, tuple[list[str], Any]] = {
    "passes of 0": (["--passes", "0"], exits(2, "--passes")),
    "passes of -1": (["--passes", "-1"], exits(2, "--passes")),
    "holdout of 1": (["--holdout", "1"], exits(2, "--holdout")),
    "holdout of nan": (["--holdout", "nan"], exits(2, "--holdout")),
    "alpha of -1": (["--alpha", "-1"], exits(2, "--alpha")),
    "alpha of nan": (["--alpha", "nan"], exits(2, "--alpha")),
    "alpha of inf": (["--alpha", "inf"], exits(2, "--alpha")),
    "alpha of 1e400": (["--alpha", "1e400"], exits(2, "--alpha")),
    "alpha of 1e308": (["--alpha", "1e308"], EITHER),
    "a path of 1": (["--path", "1"], exits(2, "--path")),
    "a path of -3": (["--path", "-3"], exits(2, "--path")),
    "a path of 10^12": (["--path", "1000000000000"], exits(2, "--path")),
    "a path of 10^400": (["--path", HUGE], exits(2, "--path")),
    "alpha and a path": (["--alpha", "1", "--path", "3"], exits(2, "path")),
    "features of -1": (["--features", "-1"], exits(2, "--features")),
    "features of 0": (["--features", "0"], exits(2, "--features")),
    "features of 2": (["--features", "2"], exits(1, "feature")),
    "features of 10^12": (["--features", "1000000000000"], exits(2, "--features")),
    "features of 10^400": (["--features", HUGE], exits(2, "--features")),
    "max-features of -1": (["--max-features", "-1"], exits(2, "--max-features")),
    "max-features of 0": (["--max-features", "0"], exits(2, "--max-features")),
    "max-features of 10^400": (["--max-features", HUGE], EITHER),
    "every of 0": (["--checkpoint", "c", "--every", "0"], exits(2, "--every")),
    "every of -1": (["--checkpoint", "c", "--every", "-1"], exits(2, "--every")),
    "every of 10^400": (["--checkpoint", "c", "--every", HUGE], EITHER),
    "a loss that is unknown": (["--loss", "log_loss"], exits(2, "logistic")),
    "a loss of scikit-learn": (["--loss", "modified_huber"], exits(2, "loss")),
    "a loss that is code": (["--loss", "__import__('os').system('touch owned')"], exits(2)),
    "a penalty that is code": (["--penalty", "elastic_net(l1_ratio=__import__('os').system('touch owned'))"], exits(2)),
    "a penalty with an unknown setting": (["--penalty", "l1(color=3)"], exits(2, "color", "settings")),
    "a penalty with an open bracket": (["--penalty", "l1(3"], exits(2, "penalty")),
    "a penalty with deep brackets": (["--penalty", f"l1({'(' * 5000}{')' * 5000})"], exits(2)),
    "a penalty with a setting of 10^400": (["--penalty", f"elastic_net(l1_ratio={HUGE})"], exits(2)),
    "a step of 1e300": (["--alpha", "0.1", "--method", "fobos(step=1e300)"], exits(1, "diverg", "finite", "step")),
    "a step of -1": (["--method", "fobos(step=-1)"], exits(2, "step")),
    "a step of nan": (["--method", "fobos(step='nan')"], exits(2, "step")),
    "a loss of regression with labels": (["--loss", "squared"], exits(0)),
    "classes that are not in the data": (["--classes", "a,b"], exits(1, "class")),
    "one class": (["--classes", "1"], exits(2, "class")),
    "an empty list of classes": (["--classes", ""], exits(2)),
    "on-error without a file": (["--on-error", "quarantine"], exits(2, "quarantine")),
    "on-error that is unknown": (["--on-error", "pray"], exits(2, "on-error")),
    "a quarantine that is a folder": (["--on-error", "quarantine", "/"], exits(1)),
    "bits for svmlight": (["--bits", "5"], exits(2, "svmlight", "bits")),
    "a report in a folder that is not there": (["--report", "no/where.html"], exits(1, "no/where")),
}


def option_rows() -> list[Row]:
    rows = [Row(f"train: {kind}", partial(train, *words), must) for kind, (words, must) in OPTIONS.items()]
    tables: dict[str, tuple[list[str], Any]] = {
        "a target that is not there": (["--target", "price"], exits(1, "price")),
        "a weight that is not there": (["--weight", "heavy"], exits(1, "heavy")),
        "a weight that is the target": (["--weight", "y"], exits(1, "target")),
        "a weight of words": (["--weight", "color"], exits(1)),
        "a category that is not there": (["--categories", "shape"], exits(1, "shape")),
        "a column to leave out that is not there": (["--ignore", "shape"], exits(1, "shape")),
        "all columns left out": (["--ignore", "x,color"], exits(1, "column")),
        "a column to leave out with a slip": (["--ignore", "colour"], exits(1, "'color'")),
        "a column to leave out that is a category": (["--ignore", "color", "--categories", "color"], exits(2, "color")),
        "a target to leave out": (["--target", "y", "--ignore", "y"], exits(2, "'y'")),
        "a delimiter of two characters": (["--delimiter", "ab"], exits(2, "delimiter")),
        "a delimiter that is empty": (["--delimiter", ""], exits(2, "delimiter")),
        "a delimiter that is a quote": (["--delimiter", '"'], exits(2)),
        "a delimiter that is a line end": (["--delimiter", "\n"], exits(2)),
        "bits of 0": (["--bits", "0"], Either((exits(0), exits(1, "bits")))),
        "bits of 31": (["--bits", "31"], exits(2, "--bits")),
        "bits of -1": (["--bits", "-1"], exits(2, "--bits")),
        "bits of 30 in 700 MB": (["--bits", "30"], Either((exits(0), exits(1, "bits", "memory")))),
    }
    for kind, (words, must) in tables.items():
        rows.append(Row(f"train a table: {kind}", partial(train_table, *words), must, megabytes=700))
    return rows


def train_table(*options: str) -> int:
    return run("train", write(table()), "-o", "m.gsm", "-q", *options)


# Where it writes


def special(make: Callable[[str], None], *command: str) -> int:
    """Write to X, which is no regular file: X must be what it was."""
    make("X")
    before = os.lstat("X")
    code = run(*command)
    after = os.lstat("X")
    assert stat.S_IFMT(before.st_mode) == stat.S_IFMT(after.st_mode), "a special file was replaced by another kind"
    assert (before.st_dev, before.st_ino) == (after.st_dev, after.st_ino), "a special file was replaced"
    assert not [path for path in Path().iterdir() if path.name.startswith(".X")], "a temporary file is left"
    return code


def fifo(path: str) -> None:
    os.mkfifo(path)


def device(path: str) -> None:
    """Make a node that is like /dev/full; where that is not allowed, a link to it."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))
    except PermissionError:
        Path(path).symlink_to("/dev/full")


def socket(path: str) -> None:
    import socket as sockets

    with sockets.socket(sockets.AF_UNIX) as made:
        made.bind(path)


SPECIAL = {"a FIFO": fifo, "a device": device, "a folder": os.mkdir, "a socket": socket}


def output_rows() -> list[Row]:
    commands = {
        "train -o": lambda: ("train", write(svmlight(), "a.svm"), "-o", "X", "-q"),
        "train --report": lambda: ("train", write(svmlight(), "a.svm"), "-o", "m", "-q", "--report", "X"),
        "export -o": lambda: ("export", model_file(), "--to", "json", "-o", "X"),
    }
    rows = []
    for title, command in commands.items():
        for kind, make in SPECIAL.items():
            must = EITHER if title == "export -o" and kind in ("a FIFO",) else exits(1)
            rows.append(Row(f"{title} {kind}", lambda m=make, c=command: special(m, *c()), must, seconds=1.0))
    rows += [
        Row("train -o a link: the file behind it is written", through_link, SOUND),
        Row("train -o a link to nothing", partial(link_to, "new.gsm"), EITHER),
        Row("train -o a link to itself", partial(link_to, "X"), exits(1)),
        Row("train -o keeps the mode 0600", keeps_mode, SOUND),
        Row("train -o a file that is read-only", read_only, exits(1, "X")),
        Row("save to a read-only file", saved_read_only, raises(OSError, "X")),
        Row("train -o in a folder that is not there", lambda: train_to("no/m.gsm"), exits(1, "no")),
        Row("train -o an empty name", lambda: train_to(""), exits(1)),
        Row("train -o a name of 300 letters", lambda: train_to("m" * 300), exits(1, "long")),
        Row("train -o a name with a NUL", lambda: train_to("a\x00b"), exits(1)),
        Row("train -o the data", lambda: train_to("a.svm"), exits(2, "would replace")),
        Row("predict -o in a folder that is not there", lambda: predict("-o", "no/p.tsv"), exits(1, "no")),
        Row("predict -o /dev/full", lambda: predict("-o", "/dev/full"), exits(1, "device")),
        Row("predict --proba of a model without probabilities", predict_hinge, exits(2, "probabilit")),
        Row("inspect --top -5", lambda: run("inspect", model_file(), "--top", "-5"), exits(2, "--top")),
        Row("inspect --top 10^400", lambda: run("inspect", model_file(), "--top", HUGE), EITHER),
    ]
    return rows


def train_to(path: str) -> int:
    return run("train", write(svmlight(), "a.svm"), "-o", path, "-q")


def predict(*options: str) -> int:
    return run("predict", model_file(), "train.csv", *options)


def predict_hinge() -> int:
    assert run("train", write(svmlight(), "a.svm"), "-o", "m.gsm", "-q", "--loss", "hinge") == 0
    return run("predict", "m.gsm", "a.svm", "--proba")


def through_link() -> None:
    Path("folder").mkdir()
    model_file("folder/real.gsm")
    before = Path("folder/real.gsm").read_bytes()
    Path("X").symlink_to("folder/real.gsm")
    assert train_to("X") == 0
    assert Path("X").is_symlink()
    assert Path("folder/real.gsm").read_bytes() != before


def link_to(where: str) -> int:
    Path("X").symlink_to(where)
    code = train_to("X")
    assert Path("X").is_symlink(), "the link was replaced"
    return code


def keeps_mode() -> None:
    model_file("X")
    Path("X").chmod(0o600)
    assert train_to("X") == 0
    assert stat.S_IMODE(Path("X").stat().st_mode) == 0o600


def read_only() -> int:
    model_file("X")
    before = Path("X").read_bytes()
    Path("X").chmod(0o400)
    code = train_to("X")
    assert Path("X").read_bytes() == before, "a read-only file was overwritten"
    return code


def saved_read_only() -> None:
    model_file("X")
    Path("X").chmod(0o400)
    gs.save(gs.OnlineClassifier().fit(DENSE, TWO), "X")


# Exports

NAMES = ['a"b', "a'b", "a;DROP TABLE data;--", "*/ int x; /*", "a\nb", "", "é", "a" * 500, "\\", "</script>", "%s%n"]
KEYWORDS = ["while", "int", "main()", "a b", "1a", "", "a;b", "é", "_Bool", "double", "exp"]


def named_model(name: str) -> gs.Model:
    from gossamer.model.model import from_weights

    fit = gs.OnlineClassifier(alpha=1e-4).fit(DENSE[:, :2], TWO)
    names = {0: name, 1: "plain"}
    return from_weights(fit._targets, np.array([[1.5], [-2.0]]), np.array([0.25]), names)


def sql_is_right(name: str) -> None:
    """The query gives the scores of the model in SQLite, or is refused."""
    model = named_model(name)
    query = exports.to_sql(model)
    base = sqlite3.connect(":memory:")
    quoted = '"' + name.replace('"', '""') + '"'
    base.execute(f'CREATE TABLE data (id, {quoted} REAL, "plain" REAL)')
    base.execute("INSERT INTO data VALUES (1, 2.0, 3.0)")
    got = base.execute(query)
    row = dict(zip([c[0] for c in got.description], got.fetchone(), strict=False))
    score = next(v for k, v in row.items() if k.startswith("score"))
    assert abs(score - (0.25 + 1.5 * 2 - 2.0 * 3)) < 1e-12
    assert [r[0] for r in base.execute("SELECT count(*) FROM data")] == [1]


def sql_of_categories() -> None:
    """A model with categories: the score for city = 'Paris', or a refusal, never another number."""
    write("city,x,y\n" + "".join(f"{'Paris' if i % 2 else 'Rome'},{i % 5},{i % 2}\n" for i in range(200)), "t.csv")
    assert run("train", "t.csv", "-o", "c.gsm", "-q", "--alpha", "1e-5") == 0
    model = gs.load("c.gsm")
    query = exports.to_sql(model)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data (city TEXT, x REAL)")
    base.execute("INSERT INTO data VALUES ('Paris', 2.0)")
    got = base.execute(query)
    row = dict(zip([c[0] for c in got.description], got.fetchone(), strict=False))
    score = next(v for k, v in row.items() if k.startswith("score"))
    import pandas as pd

    assert abs(score - float(model.decision_function(pd.DataFrame({"city": ["Paris"], "x": [2.0]}))[0])) < 1e-9


def sql_with_column(column: str) -> None:
    """A table that has a column named like an output: the prediction is that of the model, or it is refused."""
    model = named_model("a")
    query = exports.to_sql(model)
    base = sqlite3.connect(":memory:")
    base.execute(f'CREATE TABLE data (a REAL, plain REAL, "{column}")')
    base.execute("INSERT INTO data VALUES (2.0, 3.0, 'wrong')")
    try:
        got = base.execute(query)
    except sqlite3.Error as error:
        raise ValueError(f"the database refuses the query: {error}") from None
    names, values = [c[0] for c in got.description], got.fetchone()
    row = np.array([[2.0, 3.0]])
    right = {"prediction": model.predict(row)[0], "score_output_0": model.decision_function(row)[0]}
    for name, value in right.items():
        found = [v for k, v in zip(names, values, strict=True) if k == name]
        assert any(v == value or (not isinstance(v, str) and abs(v - value) < 1e-12) for v in found), f"{name}: {found}"


def c_compiles(name: str) -> None:
    code = exports.to_c(named_model(name))
    write(code, "m.c")
    subprocess.run(["cc", "-std=c99", "-c", "m.c", "-o", "m.o"], check=True, capture_output=True)


def html_is_inert(name: str) -> None:
    from gossamer.model import report

    report.write("r.html", named_model(name), [])
    text = Path("r.html").read_text(encoding="utf-8")
    assert not re.search(r"<script>alert|<img src=x", text)


def export_rows() -> list[Row]:
    either = Either((raises(ValueError), SOUND))
    rows = [Row(f"SQL: a feature named {name[:20]!r}", partial(sql_is_right, name), either) for name in NAMES]
    rows += [
        Row("SQL: a category", sql_of_categories, either),
        *[
            Row(f"SQL: a table with a column {column!r}", partial(sql_with_column, column), either)
            for column in ("prediction", "score_output_0", "probability_1", "PREDICTION")
        ],
        Row("SQL: an unknown layout", lambda: exports.to_sql(named_model("a"), layout="round"), raises(ValueError)),
    ]
    for name in KEYWORDS:
        must = exits(1, "name", "cannot be called")
        rows.append(
            Row(
                f"C: a function named {name!r}",
                lambda n=name: run("export", model_file(), "--to", "c", "--name", n),
                must,
            )
        )
    if shutil.which("cc"):
        rows += [Row(f"C: a feature named {name[:20]!r}", partial(c_compiles, name), either) for name in NAMES[:7]]
    rows += [
        Row(f"report: a feature named {name!r}", partial(html_is_inert, name), SOUND)
        for name in ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</style><script>alert(1)</script>")
    ]
    return rows


ROWS = [*usage_rows(), *option_rows(), *output_rows(), *export_rows()]
