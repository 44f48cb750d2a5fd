"""What a value from outside may be: a rule for each field of a header or a saved state, checked before it is used.

A table maps the name of a field to what it is called in messages and to its rule. `check` raises `FileError` for a
field that is missing, unknown or against its rule, in a sentence that says what is needed and what was found.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gossamer.model.file_format import FileError
from gossamer.registry import record

DEEPEST = 16  # levels of lists in lists of a field that may hold anything


@record
class Rule:
    """What a value must be: in words, and as a test that raises for no value."""

    needs: str
    holds: Callable[[Any], bool]


Table = dict[str, tuple[str, Rule]]


def check(values: Any, table: Table, *, every: bool = True, where: str = "header") -> dict[str, Any]:
    """Return `values`, a dict with the fields of a table and no others; with `every` all of them must be there."""
    if not isinstance(values, dict):
        raise FileError(f"invalid {where}: an object is needed, {shown(values)} was found. The file is corrupt.")
    for name in values:
        if name not in table:
            raise FileError(
                f"invalid {where}: {name!r} is unknown, there are {', '.join(table)}. "
                "The file is corrupt, or of a later version of gossamer."
            )
    for name, (what, rule) in table.items():
        if name in values:
            demand(values[name], rule, what)
        elif every:
            raise FileError(f"invalid {what}: {name!r} is missing from the {where}. The file is corrupt.")
    return values


def demand(value: Any, rule: Rule, what: str) -> Any:
    """Return a value that is as the rule says, or raise."""
    found = fault(value, rule, what)
    if found:
        raise FileError(f"{found} The file is corrupt.")
    return value


def fault(value: Any, rule: Rule, what: str) -> str:
    """Return a sentence about a value that is not as the rule says; nothing if it is."""
    return "" if rule.holds(value) else f"invalid {what}: {rule.needs} is needed, {shown(value)} was found."


def shown(value: Any) -> str:
    """Return a value, shortened, for a message."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.size} numbers ({value.dtype})"
    try:
        words = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        words = type(value).__name__
    return words if len(words) <= 60 else f"{words[:60]}…"


# Rules

text = Rule("a string", lambda v: is_text(v))
flag = Rule("true or false", lambda v: isinstance(v, bool))
finite = Rule("a finite number", lambda v: is_number(v) and math.isfinite(v))
anything = Rule("a value of JSON without NaN and infinity", lambda v: is_plain(v))


def is_text(value: Any) -> bool:
    """Return whether a value is a string that can be written as UTF-8: JSON can name half of a character."""
    return isinstance(value, str) and (value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value))


def is_delimiter(value: Any) -> bool:
    """Return whether a value can separate the cells of a line."""
    return (
        isinstance(value, str)
        and len(value) == 1
        and value.isascii()
        and value != '"'
        and (value.isprintable() or value == "\t")
    )


def is_number(value: Any) -> bool:
    """Return whether a value of JSON is a number that fits into a float."""
    if isinstance(value, float):
        return True
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 1023


def is_plain(value: Any, levels: int = DEEPEST) -> bool:
    """Return whether a value is one of JSON: of strings, finite numbers, true, false and null, not too deep."""
    if isinstance(value, (list, dict)):
        inner = value.values() if isinstance(value, dict) else value
        return levels > 0 and all(is_plain(v, levels - 1) for v in inner)
    return value is None or isinstance(value, bool) or is_text(value) or (is_number(value) and math.isfinite(value))


def whole(least: int, most: int) -> Rule:
    """Return the rule for whole numbers in a range."""

    def holds(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    return Rule(f"a whole number from {least} to {most}", holds)


def one_of(*values: Any) -> Rule:
    """Return the rule for one of some values, and of their type."""
    needs = f"one of {', '.join(shown(v) for v in values)}"
    return Rule(needs, lambda v: any(type(v) is type(known) and v == known for known in values))


def maybe(rule: Rule) -> Rule:
    """Return the rule for null, or what another rule says."""
    return Rule(f"null or {rule.needs}", lambda v: v is None or rule.holds(v))


def either(*rules: Rule) -> Rule:
    """Return the rule for what one of several rules says."""
    return Rule(" or ".join(rule.needs for rule in rules), lambda v: any(rule.holds(v) for rule in rules))


def listed(rule: Rule, *, distinct: bool = False) -> Rule:
    """Return the rule for a list whose items are as another rule says."""

    def holds(value: Any) -> bool:
        return isinstance(value, list) and all(map(rule.holds, value)) and not (distinct and doubled(value))

    return Rule(f"a list of {'different ' if distinct else ''}items, each {rule.needs},", holds)


def doubled(values: list[Any]) -> bool:
    """Return whether an item comes twice."""
    return len(set(values)) < len(values)


def mapped(rule: Rule) -> Rule:
    """Return the rule for an object whose values are as another rule says."""
    return Rule(
        f"an object of values, each {rule.needs},", lambda v: isinstance(v, dict) and all(map(rule.holds, v.values()))
    )


def array(kind: Any, ndim: int = 1) -> Rule:
    """Return the rule for an array of a type."""
    name = np.dtype(kind).name
    return Rule(
        f"an array of {name} with {ndim} dimension{'s' * (ndim > 1)}",
        lambda v: isinstance(v, np.ndarray) and v.dtype == kind and v.ndim == ndim,
    )
