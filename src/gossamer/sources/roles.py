"""What the columns of a table are for, guessed from their names, their types and their first cells."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from gossamer import _core
from gossamer.registry import record

LOOK = 1000  # rows that are looked at
ROLES = ("number", "category", "text", "date", "ignore", "target", "weight", "offset")
TARGETS = ("target", "label", "y", "class")

# How dates are written, as the core counts the forms (core/text/dates.hpp).
FORMS = ("year first", "month first", "day first", "named month", "day", "hour", "long hour", "seconds", "milliseconds")
_WRITTEN, _COMPACT = (0, 3, 2, 1), (4, 5, 6, 7, 8)  # with marks between the numbers; digits only
_TIMED = (5, 6, 7, 8)  # forms that always have an hour
_TIME_WORDS = ("hour", "date", "time", "day", "when", "ts", "timestamp", "datetime")
_SPAN = (-2208988800, 4102444800)  # 1900 to 2100
_RECENT = (631152000, 4102444800)  # 1990 to 2100

# Rows that it takes to call a column an identifier, or a text.
_MANY, _SOME = 100, 20
_ALIKE = 3  # columns of codes that make another of the same name one
WHOLE = "whole numbers"
EITHER = "dates, day or month first"  # nothing tells which: read as day first
MISWRITTEN = "numbers written like "  # and an example: why they are words

# Numbers with signs of money, per cent, thousands apart, or a decimal comma.
_ODD = re.compile(r"[-+]?\s?[$€£¥]?\s?[-+]?\d+(?:[.,'\u00a0 ]\d{3})*(?:[.,]\d*)?\s?(?:[$€£¥%]|EUR|USD|CHF|GBP)?")


@record
class Guess:
    """A role and a short reason."""

    role: str
    why: str


def is_number(cell: str) -> bool:
    """Return whether a cell is a finite number.

    >>> is_number("1e3"), is_number("1_000"), is_number("inf"), is_number("one")
    (True, False, False, False)
    """
    if cell[:1].isalpha():  # words are many, and exceptions slow
        return False
    try:
        return math.isfinite(float(cell)) and "_" not in cell and cell.isascii()
    except ValueError:
        return False


def numbers_of(cells: Sequence[str | None]) -> list[float]:
    """Return the cells that are finite numbers, as numbers.

    >>> numbers_of(["1", "many", None, "2.5"])
    [1.0, 2.5]
    """
    filled = [cell for cell in cells if cell is not None]
    joined = "".join(filled)
    if joined.isascii() and "_" not in joined:  # nearly always: all at once
        try:
            numbers = list(map(float, filled))
        except ValueError:
            numbers = [math.nan]
        if all(map(math.isfinite, numbers)):
            return numbers
    return [float(cell) for cell in filled if is_number(cell)]


def written_otherwise(cells: Sequence[str | None]) -> str | None:
    """Return the first cell of a column of numbers that are written as people write them, or None.

    >>> written_otherwise(["$6.30", "$12.00"]), written_otherwise(["1,5", "2,25"]), written_otherwise(["5%", None])
    ('$6.30', '1,5', '5%')
    >>> written_otherwise(["1.5", "2"]), written_otherwise(["A4", "B5"]), written_otherwise(["10:30"])
    (None, None, None)
    """
    filled = [cell for cell in cells if cell is not None]
    if len(numbers_of(filled)) == len(filled):  # nearly always, and quickly seen
        return None
    odd = [cell for cell in filled if _ODD.fullmatch(cell) and not is_number(cell)]
    plain = len(numbers_of(filled)) if odd else 0
    return odd[0] if odd and len(odd) + plain >= 0.9 * len(filled) else None


def holds_numbers(cells: Sequence[str]) -> bool:
    """Return whether a column of filled cells holds numbers: at least half of them are.

    >>> holds_numbers(["1", "2", "many"]), holds_numbers(["1", "Rome", "Oslo"])
    (True, False)
    """
    return bool(cells) and 2 * len(numbers_of(cells)) >= len(cells)


def guess(name: str, cells: Sequence[str | None], kind: str | None = None) -> Guess:
    """Return what a column is for, given its cells (None where missing) and the type that a frame gives it.

    >>> guess("price", ["1.5", "20", None])
    Guess(role='number', why='all numbers')
    >>> guess("city", ["Rome", "Oslo", "Rome"])
    Guess(role='category', why='2 levels')
    """
    filled = [cell for cell in cells if cell is not None]
    levels = len(set(filled))
    if kind == "moment":
        return Guess("date", "dates by type")
    if kind in ("category", "truth"):
        return Guess("category", f"{levels} levels")
    if kind == "real":
        return Guess("number", "all numbers")
    if not filled:
        return Guess("ignore", "nothing but missing values")
    numbers = len(numbers_of(filled)) if kind in (None, "whole") else 0
    numeric = kind == "whole" or 2 * numbers >= len(filled)
    form = date_form(name, filled, numeric)
    if form is not None:
        return Guess("date", EITHER if _either_way(filled, form) else "looks like dates")
    if not numeric:
        return _string(name, filled, levels)
    return _number_or_code(name, filled, levels, "all numbers" if numbers == len(filled) else "mostly numbers")


def _number_or_code(name: str, filled: list[str], levels: int, why: str) -> Guess:
    n = len(filled)
    try:
        values = [int(cell) for cell in filled]
    except ValueError:
        return Guess("number", why)
    number = Guess("number", WHOLE)
    if levels == n and _is_identifier(name, n, min(map(abs, values)) >= 10**9):
        return Guess("ignore", "all different")
    if levels < 3 and max(map(abs, values)) <= 10:
        return number
    few = levels <= max(n // 4, 2)
    low, high = min(values), max(values)
    span = high - low + 1
    by_name = _ends(name, ("id", "code", "type", "cat", "category", "zip", "zipcode"))
    amounts = values.count(0) >= 0.3 * n or "year" in name.lower()  # many zeros: sums of money, counts
    gaps = span > 5 * levels or low > 5 * span  # values are far apart, or far from zero
    if n >= _SOME and few and (by_name or (gaps and not amounts and high > 10)):
        return Guess("category", f"codes with {levels} levels")
    if by_name and levels < n and n >= _SOME and _ends(name, ("id", "code", "zip", "zipcode")):
        return Guess("category", f"codes with {levels} levels")
    return number


def codes_like_others(guesses: dict[str, Guess], levels: dict[str, int]) -> dict[str, Guess]:
    """Return the columns of whole numbers that are codes because nearly all columns of that name are: C14, C15, C18.

    >>> found = {f"C{j}": Guess("category", "codes with 9 levels") for j in (1, 14, 15)}
    >>> codes_like_others(found | {"C18": Guess("number", WHOLE)}, {"C18": 4})
    {'C18': Guess(role='category', why='4 levels, codes as C1')}
    """
    stems: dict[str, list[str]] = {}
    for name, found in guesses.items():
        stem = name.rstrip("0123456789")
        if stem != name and (found.why.startswith("codes") or found.why == WHOLE):
            stems.setdefault(stem, []).append(name)
    changed: dict[str, Guess] = {}
    for names in stems.values():
        codes = [name for name in names if guesses[name].role == "category"]
        if len(codes) >= max(_ALIKE, 0.75 * len(names)):
            changed |= {
                name: Guess("category", f"{levels[name]} levels, codes as {codes[0]}")
                for name in names
                if name not in codes and levels[name] <= LOOK // 4
            }
    return changed


def _string(name: str, filled: list[str], levels: int) -> Guess:
    n = len(filled)
    if (odd := written_otherwise(filled)) is not None:
        return Guess("ignore" if levels == n >= _MANY else "category", f"{MISWRITTEN}{odd!r}")
    words = sum(len(cell.split()) for cell in filled) / n
    if (words >= 4 and levels > 0.2 * n) or (words >= 2 and levels > 0.5 * n and n >= _SOME):
        return Guess("text", f"{words:.0f} words in a cell")
    digits = sum(any(map(str.isdigit, cell)) for cell in filled)
    if levels == n and (_is_identifier(name, n, digits == n) or n >= _MANY):
        return Guess("ignore", "all different")
    return Guess("category", f"{levels} level{'s' * (levels != 1)}")


def _is_identifier(name: str, n: int, looks: bool) -> bool:
    """Return whether a column of different values names the rows rather than tells about them."""
    exact = name.strip().lower() in ("", "id", "key", "index", "uuid", "guid", "rowid", "row_id", "unnamed: 0")
    return n >= (10 if exact else _MANY) and (exact or looks or _ends(name, ("id", "key", "uuid", "guid", "index")))


def _parts(name: str) -> list[str]:
    """Return the words of a name: "siteId" and "site_id" have two."""
    if name.islower() and name.isalnum():
        return [name]
    spaced = "".join(
        f" {c}" if c.isupper() and not before.isupper() else c for before, c in zip(" " + name, name, strict=False)
    )
    return "".join(c if c.isalnum() else " " for c in spaced).lower().split()


def _ends(name: str, endings: tuple[str, ...]) -> bool:
    parts = _parts(name)
    return bool(parts) and (parts[-1] in endings or "".join(parts) in endings)


def date_form(name: str, filled: Sequence[str], numeric: bool, asked: bool = False) -> int | None:
    """Return how the dates of a column are written, or None if it holds none.

    Numbers are dates only where the name says so and all are plausible; `asked` says that the column is to hold dates.

    >>> FORMS[date_form("when", ["21.10.2014", "22.10.2014 05:00"], False)]
    'day first'
    >>> FORMS[date_form("hour", ["14102100", "14102123"], True)], date_form("C14", ["14102100"], True)
    ('hour', None)
    """
    if numeric and not asked and not any(part in _TIME_WORDS for part in _parts(name)):
        return None
    coded = [cell.encode("utf-8", "replace") for cell in filled]
    needed = len(coded) if numeric and not asked else max(1, math.ceil(0.9 * len(coded)))
    first = coded[: len(coded) - needed + 1]  # one of them must be a date, or too few are
    best: tuple[int, int] | None = None
    for form in _COMPACT if numeric else _WRITTEN:
        if all(_core.read_date(cell, form) is None for cell in first):
            continue
        found = [seconds for cell in coded if (seconds := _core.read_date(cell, form)) is not None]
        low, high = _RECENT if FORMS[form] in ("hour", "seconds", "milliseconds") else _SPAN
        right = sum(low <= seconds <= high for seconds in found)
        if right >= needed and (best is None or right > best[0]):
            best = (right, form)
    return None if best is None else best[1]


def _either_way(filled: Sequence[str], form: int) -> bool:
    """Return whether dates may be read day first and month first, and mean other days."""
    if FORMS[form] not in ("month first", "day first"):
        return False
    coded = [cell.encode("utf-8", "replace") for cell in filled]
    both = [[_core.read_date(cell, FORMS.index(way)) for way in ("month first", "day first")] for cell in coded]
    known = [pair for pair in both if pair != [None, None]]
    return not any(None in pair for pair in known) and any(one != other for one, other in known)


@record
class Dates:
    """How the dates of a column are read."""

    form: int
    first_day: int  # days are counted from it
    timed: bool  # whether the hour is a feature


def dates_of(name: str, cells: Sequence[str | None], kind: str | None) -> Dates | None:
    """Return how to read a column of dates, or None if its cells are no dates."""
    filled = [cell for cell in cells if cell is not None]
    form = 0 if kind == "moment" or not filled else date_form(name, filled, holds_numbers(filled), asked=True)
    if form is None:
        return None
    seconds = [s for cell in filled if (s := _core.read_date(cell.encode("utf-8", "replace"), form)) is not None]
    timed = form in _TIMED or any(s % 86400 for s in seconds)
    return Dates(form, min(seconds, default=0) // 86400, timed)


class TargetKind(str):
    """What a target holds: "continuous", "counts", "two" or "classes"; `levels` is the number of its values."""

    levels: int

    def __new__(cls, kind: str, levels: int) -> TargetKind:
        made = super().__new__(cls, kind)
        made.levels = levels
        return made


def target_kind(cells: Sequence[str | None]) -> TargetKind:
    """Return what a target holds.

    >>> target_kind(["1.5", "2.25", "3"]), target_kind(["yes", "no"]), target_kind(["a", "b", "c"]).levels
    ('continuous', 'two', 3)
    """
    filled = [cell for cell in cells if cell is not None]
    if not holds_numbers(filled):
        levels = len(set(filled))
        return TargetKind("two" if levels <= 2 else "classes", levels)
    counts = Counter(numbers_of(filled))
    levels, n = len(counts), len(filled)
    if levels <= 2:
        return TargetKind("two", levels)
    if not all(x.is_integer() for x in counts):
        return TargetKind("continuous", levels)
    if min(counts) < 0:
        return TargetKind("classes" if levels <= 20 and levels <= n / 2 else "continuous", levels)
    if _are_counts(counts, n):
        return TargetKind("counts", levels)
    return TargetKind(
        "classes" if levels <= max(20, n / 20) and max(counts) < 10**6 and levels <= n / 2 else "continuous", levels
    )


def _are_counts(counts: Counter[float], n: int) -> bool:
    """Return whether whole numbers ≥ 0 are counts: small ones are many, and large ones few."""
    ordered = sorted(counts)
    if ordered[0] > 1 or len(ordered) < 4:
        return False
    usual = max(counts, key=lambda x: (counts[x], -x))
    median = sorted(x for x in counts.elements())[n // 2] if n else 0
    falls = counts[ordered[-1]] <= 0.2 * counts[usual]
    return falls and usual <= median + 1 and median <= 50 and ordered[-1] >= 2 * max(median, 1)


def plain_cell(value: Any) -> str | None:
    """Return a value of a frame as the core writes it as the level of a category; None if it is missing."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)
