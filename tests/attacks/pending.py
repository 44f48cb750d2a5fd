"""Rows that fail today, each with the reason: strict expected failures, except races, whose reason begins so.

`python tests/attacks/runner.py --settle` takes out those that pass.
"""

from __future__ import annotations

import ast
from pathlib import Path

PENDING: dict[str, str] = {
    "state of a trainer: no learner": "the state of a learner is not validated",
    "data that changed before the checkpoint": "the error is not a sentence",
    "train: a path of 10^400": "the error is not a sentence",
    "train: features of 10^400": "the error is not a sentence",
    "train: bits for svmlight": "the error is not a sentence",
    "C: a function named 'while'": "the export accepts names that cannot be right",
    "C: a function named 'int'": "the export accepts names that cannot be right",
    "C: a function named '_Bool'": "the export accepts names that cannot be right",
    "C: a function named 'double'": "the export accepts names that cannot be right",
    "C: a function named 'exp'": "the export accepts names that cannot be right",
    "Ctrl-C: a process 100 ms old": "sometimes: Ctrl-C while starting prints a traceback",
    "Ctrl-C: a process 200 ms old": "sometimes: Ctrl-C while starting prints a traceback",
    "Ctrl-C: a process 350 ms old": "sometimes: Ctrl-C while starting prints a traceback",
}


def remove(names: list[str]) -> None:
    """Take rows out of this file."""
    path = Path(__file__)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not _names(line) & set(names)), encoding="utf-8")


def _names(line: str) -> set[str]:
    """Return the row that a line of the table names."""
    return set(ast.literal_eval("{" + line.strip() + "}")) if line.startswith(('    "', "    '")) else set()
