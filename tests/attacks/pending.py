"""Rows that fail today, each with the reason: strict expected failures, except races, whose reason begins so.

`python tests/attacks/runner.py --settle` takes out those that pass.
"""

from __future__ import annotations

from pathlib import Path

PENDING: dict[str, str] = {}


def remove(names: list[str]) -> None:
    """Take rows out of this file."""
    path = Path(__file__)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    gone = tuple(f"    {name!r}:".replace("'", '"') for name in names)
    path.write_text("".join(line for line in lines if not (gone and line.startswith(gone))), encoding="utf-8")
