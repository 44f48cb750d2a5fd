"""Checkpoints: processes that are really killed, at random moments, end with the same bits as one that is not.

The short version kills for some seconds; GOSSAMER_KILLS=1000 kills as often as that for every method.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gossamer.cli import arguments as cli
from gossamer.cli.checkpoint import NAME, Checkpoint
from gossamer.model import file_format
from gossamer.online.strategies import OneStrength
from gossamer.online.stream import Problem, Streaming

KILLS = int(os.environ.get("GOSSAMER_KILLS", "4"))

METHODS = {
    "adagrad": ["--alpha", "1e-5"],
    "adagrad, fobos form": ["--method", "adagrad(form='fobos')"],
    "fobos": ["--method", "fobos"],
    "rda": ["--method", "rda", "--penalty", "elastic_net(l1_ratio=0.7)"],
    "ftrl": ["--method", "ftrl"],
    "truncated gradient": ["--method", "truncated_gradient"],
    "subgradient": ["--method", "subgradient", "--penalty", "l2_squared"],
    "pegasos": ["--method", "pegasos", "--penalty", "l2_squared", "--loss", "hinge", "--alpha", "1e-3"],
    "eg": ["--method", "eg", "--penalty", "none"],
    "averaged": ["--method", "fobos", "--average"],
    "berhu": ["--method", "fobos", "--penalty", "berhu"],
    "ball": ["--method", "fobos", "--penalty", "l1_ball(5.0)"],
    "group": ["--method", "rda", "--penalty", "l2_norm"],
    "groups of columns": ["--method", "rda", "--penalty", "group_l2(groups='columns')"],
    "groups by name": ["--method", "fobos", "--penalty", "group_l2(groups={'place': ['city', 'zip']})", "--one-hot"],
    "path": [],
    "path of four": ["--path", "4", "--method", "ftrl"],
    "path, two passes": ["--path", "3", "--method", "fobos", "--passes", "2"],
    "path, several classes": ["--path", "3", "--classes", "0,1,2", "--method", "rda", "--penalty", "group_l2"],
    "batches": ["--method", "fobos", "--alpha", "1e-5", "--batch-size", "70", "--passes", "2"],
    "path, batches": ["--path", "3", "--batch-size", "33"],
    "two passes": ["--passes", "2", "--holdout", "0.1", "--alpha", "1e-5"],
}


def rows(n, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(300, classes))
    for _ in range(n):
        index = np.unique(rng.integers(0, 300, 12))
        value = np.round(rng.normal(size=len(index)), 3)
        yield int(np.argmax(value @ w[index])), index, value


def svmlight(path, n, classes=2):
    lines = (f"{y} " + " ".join(f"{j + 1}:{x}" for j, x in zip(i, v, strict=True)) for y, i, v in rows(n, classes))
    path.write_text("\n".join(lines) + "\n")
    return path


def vw(path, n):
    lines = (f"{2 * y - 1} |f " + " ".join(f"w{j}:{x}" for j, x in zip(i, v, strict=True)) for y, i, v in rows(n))
    path.write_text("\n".join(lines) + "\n")
    return path


def csv(path, n):
    rng = np.random.default_rng(0)
    words = [
        f"{x:.3f},{'abcdef'[k]},{'yes' if x + k > 2 else 'no'}"
        for x, k in zip(rng.normal(size=n), rng.integers(0, 6, n), strict=True)
    ]
    path.write_text("x,kind,target\n" + "\n".join(words) + "\n")
    return path


def levels(path, n):
    """Write a table of categories with levels that keep coming."""
    rng = np.random.default_rng(1)
    city, code, x = rng.integers(0, 5, n), rng.integers(0, 20 + np.arange(n) // 5), rng.normal(size=n)
    words = [
        f"c{a},z{b},{v:.2f},{int(v + (a == 2) + 0.5 * (b % 7 == 0) > 0.4)}"
        for a, b, v in zip(city, code, x, strict=True)
    ]
    path.write_text("city,zip,x,target\n" + "\n".join(words) + "\n")
    return path


def trained(data, folder, *extra):
    """Return the bytes of the model of an undisturbed run."""
    path = folder / "whole.gsm"
    assert cli.main(["train", str(data), "-o", str(path), "-q", *extra]) == 0
    return path.read_bytes()


# In one process: every method, stopped after every few blocks


class Stop(Exception):  # noqa: N818 (it is no error)
    pass


@pytest.mark.parametrize("settings", METHODS.values(), ids=METHODS)
def test_every_method_goes_on_to_the_same_bits(tmp_path, monkeypatch, settings):
    data = levels(tmp_path / "a.csv", 6000) if "groups=" in str(settings) else svmlight(tmp_path / "a.svm", 900)
    small = ["--features", "300"] if "ball" in str(settings) else []
    extra = [*settings, *small]
    monkeypatch.setattr("gossamer.sources.text.BLOCK", 4000)
    expected = trained(data, tmp_path, *extra)
    out = tmp_path / "stopped.gsm"
    learn, countdown = Streaming.learn, [0]

    def stopping(self, block, **how):
        countdown[0] -= 1
        if countdown[0] < 0:
            raise Stop
        learn(self, block, **how)

    monkeypatch.setattr(Streaming, "learn", stopping)
    for attempt in range(200):
        countdown[0] = 2 + attempt % 3
        command = [
            "train",
            str(data),
            "-o",
            str(out),
            "-q",
            *extra,
            "--checkpoint",
            str(tmp_path / "c"),
            "--every",
            "1",
        ]
        try:
            assert cli.main(command) == 0
            break
        except Stop:
            pass
    assert attempt > 5
    assert out.read_bytes() == expected
    assert list((tmp_path / "c").iterdir()) == []


# Real processes, really killed


def killed_until_done(command, rng, longest):
    """Run a command, killing it at random moments, until it ends by itself; return how often it was killed."""
    kills = 0
    while True:
        process = subprocess.Popen(command, stderr=subprocess.PIPE)
        try:
            _, words = process.communicate(timeout=rng.uniform(0.0, 1.5 * longest))  # the machine may be slower now
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
            continue
        assert process.returncode == 0, words.decode()
        return kills


KILLED = {
    "svmlight": (svmlight, []),
    "svmlight, one strength": (svmlight, ["--alpha", "1e-5"]),
    "vw, exact names": (vw, ["--bits", "0", "--passes", "2"]),
    "csv": (csv, ["--one-hot"]),
}
if "GOSSAMER_KILLS" in os.environ:
    KILLED |= {name: (svmlight, settings) for name, settings in METHODS.items()}
    KILLED["csv, shuffled"] = csv, ["--shuffle", "--seed", "3"]


@pytest.mark.parametrize(("write", "extra"), KILLED.values(), ids=KILLED)
def test_killed_processes_end_with_the_same_bits(tmp_path, write, extra):
    suffix = {svmlight: "svm", vw: "vw", csv: "csv"}[write]
    data = write(tmp_path / f"a.{suffix}", 60_000 if write is svmlight else 40_000)
    expected = trained(data, tmp_path, *extra)
    out, folder = tmp_path / "killed.gsm", tmp_path / "state"
    command = [sys.executable, "-m", "gossamer", "train", str(data), "-o", str(out), "-q", *extra]
    command += ["--checkpoint", str(folder), "--every", "2000"]
    start = time.perf_counter()
    assert subprocess.run(command, check=True).returncode == 0
    longest = time.perf_counter() - start
    assert out.read_bytes() == expected
    kills, rng = 0, random.Random(0)
    while kills < KILLS:  # a run goes on from its checkpoints, and ends after some kills
        out.unlink()
        kills += killed_until_done(command, rng, longest)
        assert out.read_bytes() == expected
        assert list(folder.iterdir()) == []


# What may go wrong


def test_a_checkpoint_of_another_run_is_refused(tmp_path, capsys):
    data = svmlight(tmp_path / "a.svm", 300)
    stream, source = Streaming(Problem(*_parts())), _source(data)
    for block in source.blocks():
        stream.learn(block)
    checkpoint = Checkpoint(tmp_path / "c", 1, {"alpha": 1.0})
    checkpoint.save(stream, source, block.position, 0, 300)
    checkpoint.finish()
    other = Checkpoint(tmp_path / "c", 1, {"alpha": 2.0})
    with pytest.raises(ValueError, match=r"of another run: alpha was 1\.0 and is 2\.0"):
        other.resume(Streaming(Problem(*_parts())), _source(data))
    again = Streaming(Problem(*_parts()))
    assert checkpoint.resume(again, _source(data))[2] == 300
    np.testing.assert_array_equal(again.trainer.read()[0], stream.trainer.read()[0])


def test_a_broken_checkpoint_is_refused(tmp_path):
    (tmp_path / NAME).write_bytes(b"gossamer" + bytes(100))
    data = svmlight(tmp_path / "a.svm", 50)
    out = str(tmp_path / "m.gsm")
    assert cli.main(["train", str(data), "-o", out, "-q", "--checkpoint", str(tmp_path)]) == 1
    file_format.write(tmp_path / NAME, {"schema": "checkpoint 1", "state": {"dict": {"settings": {"dict": {}}}}}, {})
    with pytest.raises(file_format.FileError, match="the learner is missing"):
        Checkpoint(tmp_path, 1, {}).resume(Streaming(Problem(*_parts())), _source(data))


def test_a_checkpoint_with_another_byte_or_length_is_refused(tmp_path):
    path = tmp_path / "c"
    file_format.write(path, {"schema": "checkpoint 1"}, {"a": np.arange(9.0)}, file_format.CRASH_MAGIC)
    whole = path.read_bytes()
    assert file_format.parse(whole)[1]["a"].tolist() == list(range(9))
    for at in range(len(whole)):
        for broken in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
            with pytest.raises(file_format.FileError):
                file_format.parse(broken)
    with pytest.raises(file_format.FileError):
        file_format.parse(whole + b"0")


def test_files_of_a_killed_writer_are_removed(tmp_path):
    left = tmp_path / f".{NAME}.abc"
    left.write_bytes(b"half")
    Checkpoint(tmp_path, 10, {})
    assert not left.exists()
    with pytest.raises(ValueError, match="1 or more"):
        Checkpoint(tmp_path, 0, {})


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    data = svmlight(tmp_path / "a.svm", 300)

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(file_format, "write", full)
    command = [
        "train",
        str(data),
        "-o",
        str(tmp_path / "m.gsm"),
        "-q",
        "--checkpoint",
        str(tmp_path / "c"),
        "--every",
        "1",
    ]
    assert cli.main(command) == 1


def test_learning_does_not_wait_for_a_slow_disk(tmp_path, monkeypatch):
    data, written, write = svmlight(tmp_path / "a.svm", 900), [], file_format.write
    expected = trained(data, tmp_path)

    def slow(path, *rest):
        if str(path).endswith(NAME):
            time.sleep(0.5)
            written.append(path)
        write(path, *rest)

    monkeypatch.setattr(file_format, "write", slow)
    monkeypatch.setattr("gossamer.sources.text.BLOCK", 4000)
    out = tmp_path / "m.gsm"
    command = ["train", str(data), "-o", str(out), "-q", "--checkpoint", str(tmp_path / "c"), "--every", "1"]
    assert cli.main(command) == 0
    assert out.read_bytes() == expected
    blocks = len(list(_source(data).blocks()))
    assert blocks > 10
    assert 1 <= len(written) < blocks / 2


def test_quarantined_lines_come_once(tmp_path, monkeypatch):
    data = svmlight(tmp_path / "a.svm", 900)
    lines = data.read_text().splitlines()
    data.write_text("\n".join(line if i % 50 else f"bad {i}" for i, line in enumerate(lines)) + "\n")
    kept = tmp_path / "bad.txt"
    learn, countdown = Streaming.learn, [0]

    def stopping(self, block, **how):
        countdown[0] -= 1
        if countdown[0] < 0:
            raise Stop
        learn(self, block, **how)

    monkeypatch.setattr(Streaming, "learn", stopping)
    monkeypatch.setattr("gossamer.sources.text.BLOCK", 4000)
    command = ["train", str(data), "-o", str(tmp_path / "m.gsm"), "-q", "--on-error", "quarantine", str(kept)]
    for _ in range(100):
        countdown[0] = 3
        try:
            assert cli.main([*command, "--checkpoint", str(tmp_path / "c"), "--every", "1"]) == 0
            break
        except Stop:
            pass
    assert kept.read_text().splitlines() == [f"bad {i}" for i in range(0, 900, 50)]


def _parts():
    from gossamer import Logistic, methods, penalties

    return Logistic(), penalties.L1(), OneStrength(1e-5), methods.AdaGrad()


def _source(path):
    from gossamer import source

    return source(Path(path))
