"""A demonstration: the way from a raw table to a model, by the commands that a user would type."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from gossamer import output
from gossamer.cli import rents

COMMANDS = (
    ("How would this table be read?", "look rents.csv --target rent"),
    ("Learn to predict the rent; test on a fifth of the rows; write a page.",
     "train rents.csv --target rent --holdout 0.2 --report rents.html"),
    ("What did it learn?", "inspect rents.gsm --top 12"),
    ("Predict the rents of flats that it has not seen.", "predict rents.gsm new.csv --header"),
)  # fmt: skip
SHOWN = 4  # lines of the table


def show(folder: str) -> int:
    """Write the table into a folder, run the commands there, and say what is where; return an exit code."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    with _inside(folder):
        for name, text in (("rents.csv", rents.known()), ("new.csv", rents.new())):
            output.write(name, [text.encode()])
        print(f"A raw table, as it comes: {Path(folder, 'rents.csv')}\n")
        print("\n".join(line[: _width()] for line in rents.known().splitlines()[:SHOWN]))
        for words, command in COMMANDS:
            print(f"\n{words}\n$ gossamer {command}", flush=True)
            code = _run(command.split())
            if code:
                return code
    print(f"\nThe files are in {folder}: rents.html is a page about the model. Try the commands on your own data.")
    return 0


def _run(command: list[str]) -> int:
    """Run a command; what it says goes to standard output, where the rest is."""
    from gossamer.cli.arguments import main

    with contextlib.redirect_stderr(sys.stdout):
        return main(command)


def _width() -> int:
    from gossamer.cli.words import columns

    return columns(1)


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
