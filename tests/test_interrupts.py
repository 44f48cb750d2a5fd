"""Ctrl-C ends whatever takes long within a second, with what it has: a real SIGINT, to a process of its own."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.interrupted import TASKS

WITHIN = 1.0  # seconds from the signal to the answer


@pytest.fixture(scope="module")
def process():
    """A process that runs the tasks it is told."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.interrupted"],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "ready\n"
    yield child
    child.kill()
    child.communicate()


def interrupted(process, name, after):
    """Return what a task answers that is told to stop after some seconds, and how long that took."""
    process.stdin.write(name + "\n")
    process.stdin.flush()
    assert process.stdout.readline() == "begin\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    answer = json.loads(process.stdout.readline())
    return answer, answer["at"] - sent


@pytest.mark.parametrize("name", TASKS)
def test_ctrl_c_ends_it(process, name):
    for after in (0.4, 1.0, 3.0):  # where other processes take the time, it may need another try
        answer, took = interrupted(process, name, after)
        if answer.get("usable") and took < WITHIN:
            break
    assert answer.get("usable"), answer
    assert answer["warned"], answer
    assert took < WITHIN, answer


@pytest.mark.parametrize("command", ["train", "predict"])
def test_ctrl_c_ends_a_command(tmp_path, command):
    out, model = tmp_path / "out", tmp_path / "m.gsm"
    rows = b"1 1:1 2:0.5\n-1 2:1 3:2\n" * 1000
    arguments = {"train": ["train", "-", "-o", out], "predict": ["predict", model, "-", "-o", out]}[command]
    run = [sys.executable, "-m", "gossamer"]
    subprocess.run([*run, "train", "-", "--format", "svmlight", "-o", model, "-q"], input=rows, check=True)
    forever = subprocess.Popen(
        [sys.executable, "-c", f"import os\nwhile True: os.write(1, {rows[:2400]!r})"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    process = subprocess.Popen(
        [*run, *map(str, arguments), "--format", "svmlight"], stdin=forever.stdout, stderr=subprocess.PIPE
    )
    try:
        time.sleep(2.0)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        _, words = process.communicate(timeout=20)
    finally:
        forever.kill(), forever.wait(), forever.stdout.close()
    assert process.returncode == 130, words
    assert time.monotonic() - sent < WITHIN
    assert b"interrupted" in words
    assert b"Traceback" not in words
