"""The C export compiles whatever the names are, as C and as C++, or the name is refused."""

import keyword
import shutil
import subprocess

import numpy as np
import pytest

import gossamer as gs
from gossamer.cli import arguments as cli
from gossamer.model import exports
from gossamer.model.exports import c

X = np.random.default_rng(0).normal(size=(60, 3))
MADE = gs.Model.of(gs.OnlineClassifier(alpha=1e-3, random_state=0).fit(X, X[:, 0] > 0))
ACCEPTED = ["model", "f", "score", "predict", "a1", "Model", "modelE", "wert", *keyword.kwlist]
COMPILERS = {
    "C": ([shutil.which("cc") or shutil.which("gcc"), "-std=c99"], ".c"),
    "C23": ([shutil.which("cc") or shutil.which("gcc"), "-std=gnu2x"], ".c"),
    "C++": ([shutil.which("c++") or shutil.which("g++"), "-std=c++20"], ".cpp"),
}
STRICT = ["-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only"]


def compiles(text, folder, language):
    command, suffix = COMPILERS[language]
    if command[0] is None:
        pytest.skip("there is no compiler")
    path = folder / f"m{suffix}"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([*command, *STRICT, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


REFUSED = [
    *c.KEYWORDS.split(),
    *c.FUNCTIONS.split(),
    *c.OTHERS.split(),
    *c.OWN.split(),
    "expf",
    "sqrtl",
    "_x",
    "__x",
    "_X",
]
REFUSED += ["NAN", "INFINITY", "HUGE_VAL", "M_PI", "FP_NAN", "EOF", "NULL", "", "1a", "a b", "a-b", "é", "a;b", "main"]


def test_names_that_are_taken_are_refused():
    for name in REFUSED:
        with pytest.raises(ValueError, match=r"cannot be called|must be the name of a C function") as caught:
            exports.to_c(MADE, name)
        words = str(caught.value)
        if "would do" in words:  # the name that would do does
            exports.to_c(MADE, words.rsplit("'", 2)[1])


@pytest.mark.parametrize("language", COMPILERS)
def test_names_that_are_accepted_compile(tmp_path, language):
    """Many functions in one file: each name that is not refused."""
    names = []
    for name in ACCEPTED:
        try:
            exports.to_c(MADE, name)
            names.append(name)
        except ValueError:
            assert name in REFUSED
    assert "model" in names
    compiles("\n".join(exports.to_c(MADE, name) for name in names), tmp_path, language)


@pytest.mark.parametrize("language", COMPILERS)
def test_labels_are_inert(tmp_path, language):
    labels = ["*/", "/*", "//", "\\", "*\\/", "??/", "\n#error", '"', "é\x00.", "*/ int x; /*"]
    made = gs.Model.of(gs.OnlineClassifier(alpha=1e-3).fit(X, np.resize(labels, len(X))))
    compiles(exports.to_c(made), tmp_path, language)


def test_on_the_command_line(tmp_path, capsys):
    gs.save(MADE, tmp_path / "m.gsm")
    assert cli.main(["export", str(tmp_path / "m.gsm"), "--to", "c", "--name", "while"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "cannot be called 'while': it is a keyword of C or C++. 'while_model' would do." in said.err
