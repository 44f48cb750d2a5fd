"""Ctrl-C at any moment ends the command with at most one line and code 130, and leaves no half-written file.

GOSSAMER_INTERRUPTS=1000 interrupts every command as often as that.
"""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from gossamer.cli import arguments as cli

TIMES = int(os.environ.get("GOSSAMER_INTERRUPTS", "6"))
CODE = """
import gc, os
from gossamer.cli.start import command
gc.set_threshold = lambda _: os.write(1, b".")  # the first call after Ctrl-C is taken care of: says that our code runs
command()
"""
ROWS = "1 1:0.5 2:1\n-1 1:-1 3:2\n" * 20_000
COMMANDS = {
    "train": ["train", "a.svm", "-o", "out", "-q"],
    "train with checkpoints": [
        "train",
        "a.svm",
        "-o",
        "out",
        "-q",
        "--checkpoint",
        "c",
        "--every",
        "1000",
        "--report",
        "r",
    ],
    "predict": ["predict", "m.gsm", "a.svm", "-o", "out", "--proba"],
    "train to the optimum": ["train", "a.svm", "-o", "out", "-q", "--exact"],
    "certify": ["certify", "m.gsm", "a.svm"],
    "look": ["look", "a.svm"],
    "inspect": ["inspect", "m.gsm"],
    "export": ["export", "m.gsm", "--to", "onnx", "-o", "out"],
    "wait for input": ["train", "-", "--format", "svmlight", "-o", "out", "-q"],
    "help": ["train", "--help"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("interrupt")
    (made / "a.svm").write_text(ROWS)
    assert cli.main(["train", str(made / "a.svm"), "-o", str(made / "m.gsm"), "-q"]) == 0
    return made


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_control_c_at_any_moment(folder, command):
    draw, ends = random.Random(str(command)), {0: 0, 130: 0}
    for _ in range(TIMES):
        process = subprocess.Popen(
            [sys.executable, "-c", CODE, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
        )
        assert process.stdout.read(1) == b"."
        time.sleep(0.6 * draw.uniform(0.0, 1.0) ** 3)  # more often early, while modules load
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=60)
        assert process.returncode in ends, words.decode()
        ends[process.returncode] += 1
        assert words in (b"", b"interrupted\n"), words.decode()
        hidden = [path.name for path in folder.iterdir() if path.name.startswith(".")]
        assert hidden == []
        left = {path.name for path in folder.glob("c/*")}
        assert left <= {"gossamer.checkpoint", "gossamer.lock"}
    assert ends[130] > 0


def test_a_background_job_ignores_it(folder):
    """As of `nohup gossamer … &` in a script: who starts the process has said that Ctrl-C is not for it."""
    command = [sys.executable, "-c", CODE, "train", "-", "--format", "svmlight", "-o", "out", "-q"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(
        command, cwd=folder, **pipes, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
    )
    assert process.stdout.read(1) == b"."
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(ROWS[:2400].encode(), timeout=60)
    assert (process.returncode, words) == (0, b"")
