"""A look at data before anything is learned from it: what the columns hold, what the target is, what is suspicious.

Only the head of a table is read (`Source.head`), or the first block of other data; `Look.lines` makes a table of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gossamer.registry import record
from gossamer.sources.roles import EITHER, LOOK, plain_cell, target_kind, written_otherwise

if TYPE_CHECKING:
    from gossamer.sources.base import Source

TWO, CLASSES, COUNTS, CONTINUOUS = "two", "classes", "counts", "continuous"
LOSSES = {TWO: "logistic", CLASSES: "multinomial", COUNTS: "poisson", CONTINUOUS: "squared"}
ENOUGH = 30  # rows from which on a column may be suspected
MOST_SHOWN = 40  # columns, where not all are asked for
WIDEST = 24  # characters of a name
MOST_ALIKE = 3  # columns with the same trouble that are named one by one


@record
class Target:
    """What is to be predicted."""

    name: str | None
    kind: str  # one of `LOSSES`
    words: str  # the values
    levels: int  # different values among the rows looked at
    whole: bool  # whether they are whole numbers
    odd: str | None = None  # one of them, where they are numbers that are written as words

    @property
    def loss(self) -> str:
        """The loss that follows."""
        return LOSSES[self.kind]


@record
class Column:
    """A column of a table, from its first rows."""

    name: str
    role: str
    why: str
    levels: int
    missing: int
    words: str  # the range, or some values

    def row(self) -> list[str]:
        """Return the cells of the table that people see."""
        name = self.name if len(self.name) <= WIDEST else f"{self.name[: WIDEST - 1]}…"
        return [name, self.role, f"{self.levels:,}", f"{self.missing:,}", self.words, self.why]


@record
class Look:
    """What a look at data has found."""

    where: str  # the name of the data
    format: str
    rows: int  # that were looked at
    whole: bool  # whether there are no others
    columns: tuple[Column, ...]  # of a table
    facts: str  # of other data
    target: Target | None
    warnings: tuple[str, ...]

    def lines(self, width: int, every: bool = True) -> list[str]:
        """Return the table as lines of at most this width."""
        counted = f"{self.rows:,} row{'s' * (self.rows != 1)}"
        counted = counted if self.whole else f"the first {counted}"
        if not self.columns:
            return [", ".join(filter(None, (f"{self.where}: {counted}", self.facts))), *self._about_target()]
        lines = [f"{self.where}: {len(self.columns)} column{'s' * (len(self.columns) != 1)}, {counted}"]
        shown = self.columns if every or len(self.columns) <= MOST_SHOWN else self.columns[: MOST_SHOWN - 5]
        lines += table(["column", "role", "levels", "missing", "holds", "why"], [c.row() for c in shown], width)
        if len(shown) < len(self.columns):
            roles = Counter(column.role for column in self.columns[len(shown) :])
            rest = ", ".join(f"{count} {role}" for role, count in roles.items())
            lines.append(f"  … and {len(self.columns) - len(shown):,} more ({rest}); gossamer look shows all")
        return lines + self._about_target()

    def _about_target(self) -> list[str]:
        if self.target is None:
            return ["target: none is named; name the column to learn by --target"] if self.columns else []
        name = "" if self.target.name is None else f" {self.target.name}"
        return [f"target{name}: {self.target.words}"]

    def facts_for_machines(self) -> dict[str, Any]:
        """Return the same as JSON values."""
        columns = [{n: getattr(c, n) for n in ("name", "role", "why", "levels", "missing")} for c in self.columns]
        target = None
        if self.target is not None:
            target = {"name": self.target.name, "kind": self.target.kind, "loss": self.target.loss}
        return {
            "data": self.where,
            "format": self.format,
            "rows": self.rows,
            "all_rows": self.whole,
            "columns": columns,
            "target": target,
            "warnings": list(self.warnings),
        }


def table(heads: list[str], rows: Sequence[list[str]], width: int) -> list[str]:
    r"""Return lines of cells under their heads; the last columns get what is left of the width, or nothing.

    >>> print("\n".join(table(["column", "levels", "holds"], [["city", "5", "Lyon 31%, Nice 20%"]], 29)))
      column  levels  holds
      city         5  Lyon 31%, …
    """
    right = {"levels", "missing"}
    lines = [""] * (len(rows) + 1)
    left = width
    for j, head in enumerate(heads):
        cells = [head, *(row[j] for row in rows)]
        wide = max(map(len, cells))
        if head == "holds":  # room for the reasons, if there is enough of it
            after = max(len(row[-1]) for row in rows) + 2 if heads[-1] == "why" else 0
            wide = min(wide, max(left - 2 - after, min(left - 2, 16)))
        if left < 2 + min(wide, 6) or (head == "why" and left < 2 + wide):
            break
        wide = min(wide, left - 2)
        for i, cell in enumerate(cells):
            cell = cell if len(cell) <= wide else _cut(cell, wide)
            lines[i] += "  " + (cell.rjust(wide) if head in right else cell.ljust(wide))
        left -= 2 + wide
    return [line.rstrip() for line in lines]


def _cut(cell: str, wide: int) -> str:
    """Return the beginning of a cell, up to a comma if there is one."""
    at = cell.rfind(", ", 0, wide - 1)
    return f"{cell[:at]}, …" if at > 0 else f"{cell[: wide - 1]}…"


# The target


def number(value: Any) -> float | None:
    """Return a value or the text of a cell as a finite number, or None."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        return None
    return result if math.isfinite(result) else None


def target_of(name: str | None, values: Sequence[Any], odd: str | None = None) -> Target:
    """Return what the values of a target say; they are not missing."""
    found = Counter(values)
    kind = str(target_kind([plain_cell(value) for value in values]))
    numbers = [x for x in map(number, found) if x is not None]
    spread = f"{_short(min(numbers))} … {_short(max(numbers))}" if len(numbers) == len(found) and numbers else ""
    if kind == CONTINUOUS:
        words = f"{len(found):,} different numbers, {spread}: regression (--loss squared)"
    elif kind == COUNTS:
        words = f"counts, {spread}: --loss poisson (squared for an amount, multinomial for labels)"
    else:
        what = "one value" if len(found) == 1 else "two classes" if kind == TWO else f"{len(found):,} classes"
        words = f"{what}: {shares(found)} (--loss {LOSSES[kind]})"
    whole = len(numbers) == len(found) and all(x == math.floor(x) for x in numbers)
    return Target(name, kind, words, len(found), whole, odd)


def shares(found: Counter[Any], most: int = 4) -> str:
    """Return the commonest values and their shares.

    >>> shares(Counter("aab"))
    'a 67%, b 33%'
    """
    total = sum(found.values())
    common = [f"{_cell(value)} {_percent(count / total)}" for value, count in found.most_common(most)]
    return ", ".join(common) + (", …" if len(found) > most else "")


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.01 or share == 0 else f"{100 * share:.1g}%"


def _cell(value: Any, most: int = 30) -> str:
    value = int(value) if isinstance(value, float) and value == math.floor(value) else value
    words = "".join(c if c.isprintable() else " " for c in str(value))
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value == math.floor(value) and abs(value) < 1e9 else f"{value:.4g}"


# Looking


def look(source: Source) -> Look:
    """Look at the head of a source; nothing of it is lost for reading it later."""
    if hasattr(source, "head"):
        source.settle()
        return _of_table(source, source.head())
    return _of_rows(source)


def _of_table(source: Any, head: dict[str, list[str | None]]) -> Look:
    plan = source.columns
    rows = max(map(len, head.values()), default=0)
    columns = tuple(
        _column(name, role, plan.why.get(name, ""), rows, head[name])
        for name, role in plan.roles.items()
        if name in head
    )
    odd = {name: cell for name, cells in head.items() if (cell := written_otherwise(cells)) is not None}
    target = None
    if plan.target is not None and (answers := [cell for cell in head.get(plan.target, ()) if cell is not None]):
        target = target_of(plan.target, answers, odd.get(plan.target))
    warnings = [*_suspicions([column for column in columns if column.name not in odd], rows, rows < LOOK)]
    warnings += _misread(plan.roles, head, odd)
    warnings += [told_of_dates(name) for name, why in plan.why.items() if why == EITHER]
    if target is not None:
        warnings += _answers(target, columns, head)
    return Look(_where(source), _format(source), rows, rows < LOOK, columns, "", target, tuple(warnings))


def _column(name: str, role: str, why: str, rows: int, cells: Sequence[str | None]) -> Column:
    found = Counter(cell for cell in cells if cell is not None)
    return Column(name, role, why, len(found), rows - sum(found.values()), _holds(role, cells, found))


def _holds(role: str, cells: Sequence[str | None], found: Counter[str]) -> str:
    if not found:
        return ""
    numbers = [number(cell) for cell in found]
    known = [x for x in numbers if x is not None]
    if len(known) == len(numbers) and role in ("number", "weight", "offset", "target") and len(found) > 2:
        return f"{_short(min(known))} … {_short(max(known))}"
    if role == "date":
        return _cell(min(found)) if len(found) == 1 else f"{_cell(min(found))} … {_cell(max(found))}"
    if role in ("text", "ignore"):
        first = next(cell for cell in cells if cell is not None)
        return f'"{_cell(first, 60)}"' if role == "text" else f"{_cell(first)}, …" if len(found) > 1 else _cell(first)
    return shares(found)


def _of_rows(source: Source) -> Look:
    block = source.peek()
    if block is None or len(block) == 0:
        return Look(_where(source), _format(source), 0, True, (), "nothing to learn from", None, ())
    labels = None if block.label is None or block.label.ndim > 1 else block.label[:LOOK].tolist()
    facts = f"{len(block.index) / len(block):.3g} features per row"
    whole = block.share > 0.999
    target = None if not labels else target_of(None, labels)
    return Look(_where(source), _format(source), len(block), whole, (), facts, target, ())


def _where(source: Any) -> str:
    paths = getattr(source, "paths", None)
    if not paths:
        return "the data"
    name = "standard input" if paths[0] == "-" else str(paths[0]).rsplit("/", 1)[-1]
    return name if len(paths) == 1 else f"{name} and {len(paths) - 1} more"


def _format(source: Any) -> str:
    return str(source.settings().get("format") or type(source).__name__.lower())


# What is suspicious


def _suspicions(columns: Sequence[Column], rows: int, whole: bool) -> list[str]:
    found: dict[str, list[tuple[str, str]]] = {}  # columns and sentences, by what is wrong
    for column in columns:
        if column.role not in ("target", "weight", "offset", "ignore") and rows >= 2:
            for what, words in _suspicion(column, rows, whole):
                found.setdefault(what, []).append((column.name, words))
    said = []
    for what, cases in found.items():
        if len(cases) <= MOST_ALIKE:
            said += [words for _, words in cases]
        else:
            names = ", ".join(repr(name) for name, _ in cases[:MOST_ALIKE])
            said.append(f"{len(cases):,} columns are {what}: {names}, …")
    return said


def _misread(roles: dict[str, str], head: dict[str, list[str | None]], odd: dict[str, str]) -> Iterable[str]:
    """Yield what is said of cells that are written in a way that is not understood."""
    for name, cells in head.items():
        role = roles.get(name)
        if name in odd and role in ("category", "text", "ignore", "target"):
            read = {"target": "read as classes", "ignore": "ignored"}.get(role, "read as words")
            yield (
                f"column {name!r} holds numbers that are written like {odd[name]!r}, and they are {read}: write them "
                "with digits and a point, as in 1234.5"
            )
        if any(cell is not None and "\ufffd" in cell for cell in cells):
            yield f"column {name!r} holds bytes that are not UTF-8; convert the file: iconv -f LATIN1 -t UTF-8"


def told_of_dates(name: str) -> str:
    """Return what is said of dates that can be read in two ways."""
    return (
        f"column {name!r} holds dates of which the day or the month may come first; they are read as day first. If "
        "that is wrong, write them as 2024-12-31"
    )


def _suspicion(column: Column, rows: int, whole: bool) -> Iterable[tuple[str, str]]:
    """Yield what is wrong with a column, as it is said of many and as it is said of this one."""
    where = "all rows" if whole else f"the first {rows:,} rows"
    if column.missing == rows:
        yield f"empty in {where}", f"column {column.name!r} is empty in {where}"
    elif column.levels == 1 and column.missing == 0 and (whole or column.role != "date"):
        value = column.words.removesuffix(" 100%")
        yield f"constant in {where}", f"column {column.name!r} is constant: {value} in {where}"
    elif column.missing > 0.5 * rows:
        share = _percent(column.missing / rows)
        yield "missing in most rows", f"column {column.name!r} is missing in {share} of the rows"
    elif column.role == "category" and column.levels > 0.9 * (rows - column.missing) and rows >= ENOUGH:
        yield (
            "categories that are different in nearly every row",
            f"column {column.name!r} is different in nearly every row: as a category it tells nothing of new rows "
            f"(--ignore {column.name}; --text {column.name} if it holds words)",
        )


def _answers(target: Target, columns: Sequence[Column], head: dict[str, list[str | None]]) -> Iterable[str]:
    """Yield a warning for every column that alone gives the target away."""
    assert target.name is not None
    for column in columns:
        if column.role not in ("number", "category") or column.levels < 2:
            continue
        cells = zip(head[column.name], head[target.name], strict=True)
        pairs = [(x, y) for x, y in cells if x is not None and y is not None]
        if len(pairs) >= ENOUGH and (why := _gives_away(column, target, pairs)):
            yield (
                f"column {column.name!r} gives the answer away: {why}. "
                f"Will it be known when you predict? If not: --ignore {column.name}"
            )


def _gives_away(column: Column, target: Target, pairs: list[tuple[str, str]]) -> str | None:
    if target.kind in (CONTINUOUS, COUNTS):
        alike = _correlation(pairs) if column.role == "number" else 0.0
        return f"its correlation with the target is {alike:.4f}" if abs(alike) > 0.999 else None
    if column.levels <= len(pairs) / 3:
        by_level: dict[str, Counter[str]] = {}
        for x, y in pairs:
            by_level.setdefault(x, Counter())[y] += 1
        pure = sum(max(counts.values()) for counts in by_level.values()) / len(pairs)
        base = max(Counter(y for _, y in pairs).values()) / len(pairs)
        if base < 1 and (pure - base) / (1 - base) > 0.98 and (1 - base) * len(pairs) >= 5:
            return f"each of its {column.levels} values has one class" if pure == 1 else "each value has one class"
    if target.kind == TWO and column.role == "number":
        return "it separates the two classes" if _separates(pairs) else None
    return None


def _correlation(pairs: list[tuple[str, str]]) -> float:
    points = [(a, b) for a, b in ((number(x), number(y)) for x, y in pairs) if a is not None and b is not None]
    if len(points) < ENOUGH:
        return 0.0
    a, b = (math.fsum(values) / len(points) for values in zip(*points, strict=True))
    across = math.fsum((x - a) * (y - b) for x, y in points)
    spread = math.fsum((x - a) ** 2 for x, _ in points) * math.fsum((y - b) ** 2 for _, y in points)
    return across / math.sqrt(spread) if spread > 0 else 0.0


def _separates(pairs: list[tuple[str, str]]) -> bool:
    """Return whether the classes lie on two sides of a number."""
    sides: dict[str, list[float]] = {}
    for x, y in pairs:
        if (value := number(x)) is not None:
            sides.setdefault(y, []).append(value)
    if len(sides) != 2 or min(map(len, sides.values())) < 10:
        return False
    a, b = sides.values()
    return max(a) < min(b) or max(b) < min(a)
