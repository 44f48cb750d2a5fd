"""Rows that must fail: they prove that the runner notices a crash, a hang, much memory and a wrong word."""

from __future__ import annotations

import os
import sys
import time

import numpy as np

from attacks.rows import SOUND, Row, exits, raises

SANITIZED = "san.so" in os.environ.get("LD_PRELOAD", "")


def spin() -> None:
    while True:
        pass


def raising(error: BaseException) -> None:
    raise error


def crash() -> None:
    os.kill(os.getpid(), 11)


def unclosed() -> int:
    sys.stderr.write("Traceback (most recent call last):\n")
    return 1


ROWS = [  # and the word that the outcome must hold
    Row("planted: abort", os.abort, SOUND),
    Row("planted: segmentation fault", crash, SOUND),
    Row("planted: a loop without end", spin, SOUND, seconds=0.5),
    Row("planted: sleep", lambda: time.sleep(100), SOUND, seconds=0.2),
    Row("planted: 4 GB", lambda: np.ones(1 << 29), SOUND, needs_limit=True),
    Row("planted: exit", lambda: os._exit(0), SOUND),
    Row("planted: an exception", lambda: raising(ValueError("a sentence about nothing")), SOUND),
    Row("planted: no exception", lambda: None, raises(ValueError)),
    Row("planted: another exception", lambda: raising(KeyError("a sentence about a key")), raises(ValueError)),
    Row("planted: another word", lambda: raising(ValueError("a sentence about nothing")), raises(ValueError, "CSR")),
    Row("planted: a bare exception", lambda: raising(ValueError("std::bad_alloc")), raises(ValueError)),
    Row("planted: another code", lambda: sys.stderr.write("a sentence\n") and 2, exits(1)),
    Row("planted: a traceback", unclosed, exits(1)),
    Row("planted: an error without a word", lambda: 1, exits(1)),
]
FAILS_BY = {
    "planted: abort": "signal 6",
    "planted: segmentation fault": "exit 1 without an answer" if SANITIZED else "signal 11",
    "planted: a loop without end": "out of time",
    "planted: sleep": "out of time",
    "planted: 4 GB": "MemoryError",
    "planted: exit": "without an answer",
    "planted: an exception": "raised ValueError: a sentence",
    "planted: no exception": "returned 0",
    "planted: another exception": "raised KeyError",
    "planted: another word": "raised ValueError: a sentence",
    "planted: a bare exception": "bad_alloc",
    "planted: another code": "returned 2",
    "planted: a traceback": "Traceback",
    "planted: an error without a word": "returned 1",
}
