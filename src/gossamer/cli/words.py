"""Words for people: the nearest name, flags instead of Python's options, and lines that fit the terminal."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from gossamer.registry import similar

WIDTH = 80  # columns where there is no terminal


class UsageError(ValueError):
    """The command itself is wrong: an unknown part, invalid settings, or options that contradict each other."""


@contextlib.contextmanager
def usage() -> Iterator[None]:
    """Say that what is wrong in this block is the command, not data or a model."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from None


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return a question about a misspelt command or option, or nothing.

    >>> did_you_mean("--alhpa", ["--alpha", "--path"]), did_you_mean("--color", ["--holdout"])
    (' Did you mean --alpha?', '')
    """
    bare = {name.lstrip("-"): name for name in names}
    near = similar(word.lstrip("-"), bare)
    return "" if near is None else f" Did you mean {bare[near]}?"


def with_flags(words: str, flags: dict[str, str]) -> str:
    """Return a message with the flags of the command line in place of Python's options; `flags` maps one to the other.

    >>> flags = {"format": "--format", "on_error": "--on-error", "missing": "--missing", "one_hot": "--one-hot"}
    >>> with_flags("Give it by format=, or use on_error='skip', or one_hot=True.", flags)
    'Give it by --format, or use --on-error skip, or --one-hot.'
    >>> with_flags("Say missing=['n a'], or roles={'zip': 'category'}.", flags)
    "Say --missing 'n a', or --category zip."
    """
    value = r"""(?:\[?(?P<quote>['"])(?P<quoted>.*?)(?P=quote)\]?|(?P<bare>\w[\w.]*\w|\w))"""
    words = re.sub(rf"\broles=\{{{value}: '(?P<role>\w+)'\}}", lambda m: f"--{m['role']} {_value(m)}", words)
    for name, flag in flags.items():
        words = re.sub(rf"(?<![\w'-]){name}={value}?", partial(_flagged, flag), words)
        if "_" in name:  # no word of English
            words = re.sub(rf"(?<![\w'-]){name}\b", flag, words)
    return words


def _flagged(flag: str, found: re.Match[str]) -> str:
    return f"{flag} {_value(found)}".rstrip()


def _value(found: re.Match[str]) -> str:
    """Return the value of an option as a shell needs it; of one that is only on or off, nothing."""
    import shlex

    if found["quoted"] is not None:
        return shlex.quote(found["quoted"])
    return "" if found["bare"] in ("True", "False", None) else found["bare"]


def columns(stream: int = 2) -> int:
    """Return the width of the terminal of standard output (1) or standard error (2)."""
    try:
        return int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size(stream).columns
    except (ValueError, OSError):  # not a number; not a terminal
        return WIDTH


def wrapped(lines: Iterable[str], stream: Any, indent: int) -> Iterator[str]:
    """Yield lines that are wrapped where the terminal ends; a file or a pipe gets them as they are."""
    if not stream.isatty():
        yield from lines
        return
    import textwrap

    width = max(columns(1 if stream is sys.stdout else 2), 2 * indent)
    for line in lines:
        yield from textwrap.wrap(line, width, subsequent_indent=" " * indent, drop_whitespace=True) or [""]


def printable(words: str) -> str:
    """Return words with escapes in place of characters that a terminal would obey."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in words)


def size(count: int) -> str:
    """Return a number of bytes in words.

    >>> size(620), size(2_048), size(3_500_000)
    ('620 bytes', '2 kB', '3.5 MB')
    """
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1e3:.0f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def percent(share: Any) -> str:
    """Return a share in percent, with three digits.

    >>> percent(0.0019), percent(0.375), percent(0.0)
    ('0.19%', '37.5%', '0%')
    """
    return f"{100 * share:.3g}%" if share == 0 or share >= 0.0995 else f"{100 * share:.2g}%"


def short(value: float) -> str:
    """Return a loss with five digits.

    >>> short(0.4334182), short(20246.66926), short(12.5)
    ('0.43342', '20,247', '12.5')
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.5g}"
