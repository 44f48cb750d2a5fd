"""Rows that fail today, each with the reason: strict expected failures, except races, whose reason begins so.

`python tests/attacks/runner.py --settle` takes out those that pass.
"""

from __future__ import annotations

import ast
from pathlib import Path

PENDING: dict[str, str] = {}


def remove(names: list[str]) -> None:
    """Take rows out of this file."""
    path = Path(__file__)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not _names(line) & set(names)), encoding="utf-8")


def _names(line: str) -> set[str]:
    """Return the row that a line of the table names."""
    return set(ast.literal_eval("{" + line.strip() + "}")) if line.startswith(('    "', "    '")) else set()
