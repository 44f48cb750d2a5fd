"""Checkpoints from outside: any value may be wrong, another process may use the folder, the data may be other.

The short form changes some values in some ways; GOSSAMER_FUZZ=1 changes all of them in all ways.
"""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gossamer as gs
import hostile_files
from gossamer.cli import arguments as cli
from gossamer.cli import checkpoint_state, fingerprint
from gossamer.cli.checkpoint import NAME, Checkpoint
from gossamer.cli.lock import Lock
from gossamer.model import file_format
from gossamer.online.stream import Streaming
from hostile_files import DROP, changed, places

LONG = "GOSSAMER_FUZZ" in os.environ
ODD = [
    *(DROP, None, True, -1, 0, 1, 2, 2**26 + 1, 2**40, 2**63, 10**400, -0.5, 1e308),
    *("", "x", "0", "inf", "\ud800", [], [[]], [None], [1], {}, {"x": 1}),
    *({"list": []}, {"list": [1, 2]}, {"list": ["x", "x"]}, {"dict": {}}, {"dict": {"x": 1}}, {"float": "nan"}),
    *({"float": "1e5"}, {"array": "0", "shape": [5]}, {"array": "0", "shape": [10**12]}, {"array": "0", "shape": [-1]}),
    *({"array": "0"}, {"array": "99", "shape": [5]}, {"array": 0, "shape": ["x"]}, {"array": "1", "shape": [2, 2, 2]}),
]
DEEP = json.loads('{"list": [' * 200 + "]}" * 200)

rng = np.random.default_rng(0)
VALUES = np.round(rng.normal(size=(400, 4)), 3)
DATA = {
    "a.svm": "".join(f"{int(x[0] > 0)} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) + "\n" for x in VALUES),
    "a.vw": "".join(f"{x[0]} |f " + " ".join(f"w{j}:{v}" for j, v in enumerate(x)) + "\n" for x in VALUES),
    "a.csv": "x,kind,target\n"
    + "".join(f"{a},{'abc'[int(b > 0)]},{'yes' if c > 0 else 'no'}\n" for a, b, c, _ in VALUES),
}
RUNS = {
    "one strength": ("a.svm", ["--alpha", "1e-3"]),
    "path": ("a.svm", ["--path", "3", "--passes", "2"]),
    "several classes": ("a.svm", ["--alpha", "1e-3", "--loss", "multinomial", "--classes", "0,1,2"]),
    "hashed names": ("a.vw", ["--loss", "squared", "--alpha", "1e-3", "--bits", "8"]),
    "columns": ("a.csv", ["--one-hot", "--alpha", "1e-3"]),
}


class Stop(Exception):  # noqa: N818 (it is no error)
    pass


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """Return a function that begins a run, stops it after some blocks, and returns the command that resumes it."""

    def begin(name, more, blocks=3):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("gossamer.sources.text.BLOCK", 300)
        (tmp_path / name).write_text(DATA[name])
        command = ["train", name, "-o", "m.gsm", "-q", "--checkpoint", "c", "--every", "1", *more]
        learn, left = Streaming.learn, [blocks]

        def stopping(self, block, **how):
            left[0] -= 1
            if left[0] < 0:
                raise Stop
            learn(self, block, **how)

        with monkeypatch.context() as patch:
            patch.setattr(Streaming, "learn", stopping)
            with pytest.raises(Stop):
                cli.main(command)
        return command

    return begin


def sealed(header, arrays):
    return hostile_files.sealed(header, arrays, file_format.CRASH_MAGIC)


def broken(header, arrays, draw):
    """Yield changed arrays: of other types, cut, longer, and with odd numbers, except in the learner's own vectors."""
    learner = header["state"]["dict"]["trainer"]["dict"]["learner"]["dict"]
    own = {vector["array"] for vector in learner.values()}  # odd numbers in them are for the tests of learners
    for name, old in arrays.items():
        wrong = [old[:-1], np.concatenate([old, old[:1]]), old.astype(np.float32 if old.dtype != np.float32 else "i4")]
        for number in () if name in own else (-1, 0, 100, 2**31 - 1, np.nan, np.inf):
            if len(old) and (old.dtype.kind == "f" or (number == number and abs(number) < np.iinfo(old.dtype).max)):
                with np.errstate(invalid="ignore"):
                    wrong.append(
                        np.where(np.arange(len(old)) == draw.randrange(len(old)), number, old).astype(old.dtype)
                    )
        for new in wrong if LONG else draw.sample(wrong, 2):
            yield arrays | {name: new}


@pytest.mark.parametrize(("name", "more"), RUNS.values(), ids=RUNS)
def test_any_value_may_be_wrong(stopped, tmp_path, capsys, name, more):
    command, draw = stopped(name, more), random.Random(name)
    path = tmp_path / "c" / NAME
    header, arrays = file_format.read(path)
    header.pop("arrays")
    cases = [(header, other) for other in broken(header, arrays, draw)]
    for place in [place for place in places(header, items=2) if place and place[1:3] != ("dict", "settings")]:
        values = [*ODD, DEEP]
        cases += [(changed(header, place, value), arrays) for value in (values if LONG else draw.sample(values, 2))]
    outcomes = {0: 0, 1: 0}
    for other, data in cases:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(sealed(other, data))
        capsys.readouterr()
        code = cli.main(command)
        words = capsys.readouterr().err
        outcomes[code] += 1
        if code == 0:
            made = gs.load(tmp_path / "m.gsm")
            assert np.isfinite(made.value).all()
        else:
            assert 1 <= len(words.splitlines()) <= 3, words
            assert len(words) < 1000, words
            assert sorted(p.name for p in path.parent.iterdir()) == [NAME]
    assert outcomes[1] > len(cases) / 3


def test_a_shape_claims_no_memory():
    for shape in ([10**12], [2**31, 2**31], [checkpoint_state.SPARE + 2]):
        with pytest.raises(file_format.FileError, match="does not fit"):
            checkpoint_state.unpacked({"array": "0", "shape": shape}, {"0": np.ones(1)})


def test_a_checkpoint_without_fingerprints_resumes(stopped, tmp_path):
    """As earlier versions wrote it."""
    command = stopped(*RUNS["columns"])
    path = tmp_path / "c" / NAME
    header, arrays = file_format.read(path)
    del header["arrays"], header["state"]["dict"]["files"]
    path.write_bytes(sealed(header, arrays))
    assert cli.main(command) == 0
    resumed = (tmp_path / "m.gsm").read_bytes()
    assert cli.main([*command[: command.index("--checkpoint")], *RUNS["columns"][1]]) == 0
    assert (tmp_path / "m.gsm").read_bytes() == resumed


def test_every_source_is_in_the_table(tmp_path):
    import pandas as pd

    seen = set()
    for name, text in DATA.items():
        (tmp_path / name).write_text(text)
        seen |= set(gs.source(tmp_path / name).state())
    pd.read_csv(tmp_path / "a.csv").to_parquet(tmp_path / "a.parquet")
    seen |= set(gs.source(tmp_path / "a.parquet").state())
    assert seen == set(checkpoint_state.SOURCE)


# Two processes on one folder

HOLD = """
import sys, time
from pathlib import Path
from gossamer.cli.lock import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_process_says_who_holds_the_folder(stopped, tmp_path, capsys):
    command = stopped(*RUNS["one strength"])
    before = (tmp_path / "c" / NAME).read_bytes()
    left = tmp_path / "c" / f".{NAME}.abc"
    left.write_bytes(b"the other one writes this now")
    with subprocess.Popen([sys.executable, "-c", HOLD, "c"], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        assert cli.main(command) == 1
        assert f"are in use by process {holder.pid} on" in capsys.readouterr().err
        assert (tmp_path / "c" / NAME).read_bytes() == before
        assert left.exists()
        holder.send_signal(signal.SIGKILL)
    assert cli.main(command) == 0  # the lock died with its process
    assert list((tmp_path / "c").iterdir()) == []


def test_a_lock_is_for_one(tmp_path):
    first = Lock(tmp_path)
    with pytest.raises(OSError, match=f"in use by process {os.getpid()}"):
        Lock(tmp_path)
    first.release()
    first.release()
    second = Lock(tmp_path)
    second.release()
    assert list(tmp_path.iterdir()) == []
    os.mkfifo(tmp_path / "gossamer.lock")
    with pytest.raises(OSError, match="is not a file"):
        Lock(tmp_path)


MANY = """
import os, sys, time
from pathlib import Path
from gossamer.cli.lock import Lock
folder, end = Path(sys.argv[1]), time.monotonic() + 1.0
held = 0
while time.monotonic() < end:
    try:
        lock = Lock(folder)
    except OSError:
        continue
    with open(folder / "inside", "x"):  # raises if another one is inside
        held += 1
    os.unlink(folder / "inside")
    lock.release()
print(held)
"""


def test_many_processes_take_turns(tmp_path):
    running = [subprocess.Popen([sys.executable, "-c", MANY, tmp_path], stdout=subprocess.PIPE) for _ in range(4)]
    held = [int(process.communicate(timeout=60)[0]) for process in running]
    assert all(process.returncode == 0 for process in running)
    assert sum(held) > 10


def test_a_folder_that_is_none(tmp_path, capsys):
    (tmp_path / "a.svm").write_text(DATA["a.svm"])
    (tmp_path / "c").write_bytes(b"")
    command = ["train", str(tmp_path / "a.svm"), "-o", str(tmp_path / "m"), "-q", "--checkpoint"]
    assert cli.main([*command, str(tmp_path / "c")]) == 1
    assert "is not a folder; checkpoints need one" in capsys.readouterr().err
    (tmp_path / "d").mkdir()
    os.mkfifo(tmp_path / "d" / NAME)
    assert cli.main([*command, str(tmp_path / "d")]) == 1
    assert "is a pipe, which is never replaced" in capsys.readouterr().err


# Other data


def edited(text):
    return text.replace("0.", "1.", 1)


CHANGES = {
    "a digit": (
        lambda p: p.write_text(edited(p.read_text())),
        "is not the file that the run began with (of the same size)",
    ),
    "shorter": (lambda p: p.write_text(p.read_text()[:-100]), "is not the file that the run began with"),
    "appended": (lambda p: p.write_text(p.read_text() + "1 1:1\n"), "To learn from all of it, delete the folder"),
    "appended and changed": (lambda p: p.write_text(edited(p.read_text()) + "1 1:1\n"), "is not the file"),
    "replaced": (lambda p: p.write_text("1 1:1\n0 1:2\n" * 500), "is not the file"),
    "another file": (lambda p: p.with_name("b.svm").write_text("1 1:1\n"), "began with other files: a.svm; now"),
}


@pytest.mark.parametrize(("change", "words"), CHANGES.values(), ids=CHANGES)
def test_other_data_is_refused(stopped, tmp_path, monkeypatch, capsys, change, words):
    command = stopped("a.svm", ["--alpha", "1e-3"])
    before = (tmp_path / "c" / NAME).read_bytes()
    change(tmp_path / "a.svm")
    if words.startswith("began"):  # a pattern that matches more files now
        header, arrays = file_format.read(tmp_path / "c" / NAME)
        del header["arrays"]
        header = changed(header, ("state", "dict", "settings", "dict", "data"), {"list": ["*.svm"]})
        before = sealed(header, arrays)
        (tmp_path / "c" / NAME).write_bytes(before)
        command = ["*.svm" if word == "a.svm" else word for word in command]
    assert cli.main(command) == 1
    said = capsys.readouterr().err
    assert words in said
    assert len(said.splitlines()) == 1
    assert (tmp_path / "c" / NAME).read_bytes() == before


def test_the_same_data_elsewhere_in_time_resumes(stopped, tmp_path, capsys):
    command = stopped("a.svm", ["--alpha", "1e-3"])
    os.utime(tmp_path / "a.svm", (1, 1))
    assert cli.main(command) == 0
    assert capsys.readouterr().err == ""  # a small file was compared as a whole


PIPED = """
import os, sys
from gossamer.cli import arguments
from gossamer.online.stream import Streaming
from gossamer.sources import text
text.BLOCK = 300
learn, left = Streaming.learn, [int(sys.argv[1])]
def stopping(self, block, **how):
    left[0] -= 1
    if left[0] < 0:
        raise KeyError("stop")
    learn(self, block, **how)
Streaming.learn = stopping
sys.exit(arguments.main(sys.argv[2:]))
"""


def test_standard_input_is_compared_by_its_first_bytes_and_that_is_said(tmp_path):
    command = ["train", "-", "--format", "svmlight", "-o", "m.gsm", "-q", "--alpha", "1e-3"]
    resumed = [*command, "--checkpoint", "c", "--every", "1"]

    def run(blocks, command, text):
        words = [sys.executable, "-c", PIPED, str(blocks), *command]
        return subprocess.run(words, cwd=tmp_path, input=text.encode(), capture_output=True, check=False)

    assert run(10**6, command, DATA["a.svm"]).returncode == 0
    expected = (tmp_path / "m.gsm").read_bytes()
    assert b"KeyError" in run(8, resumed, DATA["a.svm"]).stderr
    done = run(10**6, resumed, "1 1:1\n")
    assert done.returncode == 1
    assert b"is shorter than it was when the checkpoint was written" in done.stderr
    done = run(10**6, resumed, "1 1:1\n" + DATA["a.svm"])
    assert done.returncode == 1
    assert b"Standard input begins with other data than when the checkpoint was written" in done.stderr
    done = run(10**6, resumed, DATA["a.svm"])
    assert done.returncode == 0
    assert done.stderr.startswith(b"Standard input can be compared with what the run began with")
    assert len(done.stderr.splitlines()) == 1
    assert (tmp_path / "m.gsm").read_bytes() == expected


def test_fingerprints_of_large_files(tmp_path, monkeypatch):
    """Pieces over the whole file: head, tail and what lies between; a change elsewhere is told by the time."""
    monkeypatch.setattr(fingerprint, "PIECES", 5)
    monkeypatch.setattr(fingerprint, "PIECE", 10)
    path = tmp_path / "a"
    path.write_bytes(bytes(1000))
    before = fingerprint.of([str(path)])
    for at in (0, 9, 249, 500, 745, 990, 999):
        path.write_bytes(bytes(at) + b"x" + bytes(999 - at))
        with pytest.raises(ValueError, match="of the same size"):
            fingerprint.compare(before, fingerprint.of([str(path)]), "c")
    path.write_bytes(bytes(100) + b"x" + bytes(899))
    os.utime(path, (1, 1))
    (note,) = fingerprint.compare(before, fingerprint.of([str(path)]), "c")
    assert "was written to since the run began" in note
    path.write_bytes(bytes(1010))
    with pytest.raises(ValueError, match="has grown from 1000 to 1010 bytes"):
        fingerprint.compare(before, fingerprint.of([str(path)]), "c")


def test_bad_lines_that_are_gone(stopped, tmp_path, capsys):
    DATA["b.svm"] = "bad\n" * 5 + DATA["a.svm"]
    command = stopped("b.svm", ["--alpha", "1e-3", "--on-error", "quarantine", "bad.txt"])
    Path("bad.txt").write_bytes(b"")
    assert cli.main(command) == 1
    assert "bytes of bad lines at the checkpoint and has fewer now" in capsys.readouterr().err


def test_nothing_is_changed_by_a_checkpoint_that_is_refused(stopped, tmp_path):
    stopped("a.svm", ["--alpha", "1e-3"])
    path = tmp_path / "c" / NAME
    header, arrays = file_format.read(path)
    del header["arrays"]
    path.write_bytes(sealed(changed(header, ("state", "dict", "trainer", "dict", "decided"), "x"), arrays))
    settings = checkpoint_state.unpacked(header["state"]["dict"]["settings"], arrays)
    checkpoint = Checkpoint(path.parent, 1, settings, ["a.svm"])
    from gossamer import Logistic, methods, penalties
    from gossamer.online.strategies import OneStrength
    from gossamer.online.stream import Problem

    stream, source = (
        Streaming(Problem(Logistic(), penalties.L1(), OneStrength(1e-3), methods.AdaGrad())),
        gs.source("a.svm"),
    )
    before, base = dict(stream.__dict__), source.base
    with pytest.raises(file_format.FileError, match="invalid decided: a whole number from 0 to 2048 is needed"):
        checkpoint.resume(stream, source)
    assert stream.__dict__ == before
    assert source.base == base
    checkpoint.finish()
