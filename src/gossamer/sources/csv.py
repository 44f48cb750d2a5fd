"""Tables as text: values separated by commas, tabs or semicolons, with or without a header."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gossamer import _core
from gossamer.sources.blocks import ReadError
from gossamer.sources.columns import Columns, holds_numbers
from gossamer.sources.feature_names import decoded
from gossamer.sources.text import TextSource

if TYPE_CHECKING:
    from gossamer.validation import Array

LOOK = 1000  # rows that decide whether a column holds numbers
MOST_CLASSES = 1 << 16


class Csv(TextSource):
    """Tables as text. The first thousand rows decide what a column holds; see `Columns`."""

    has_preamble = True

    def __init__(
        self,
        paths: Any,
        *,
        delimiter: str | None = None,
        header: bool = True,
        on_error: Any = "stop",
        need_labels: bool = True,
        max_features: int | None = None,
        block: int | None = None,
        **columns: Any,
    ) -> None:
        limits = {"max_features": max_features, "block": block}
        given = {name: value for name, value in limits.items() if value is not None}
        super().__init__(paths, on_error=on_error, need_labels=need_labels, **given)
        if delimiter is not None and len(delimiter.encode()) != 1:
            raise ValueError(f"delimiter must be one character; {delimiter!r} was given.")
        self.delimiter, self.has_header = delimiter, header
        self._given = {} if delimiter is None else {"delimiter": delimiter}  # otherwise it is found in each file
        self.names = self.columns = Columns(**columns)
        self.classes = _core.NameTable(0, MOST_CLASSES)
        self._names: list[str] | None = None  # of the columns, in the order of the file
        self._text_target = False  # whether the target holds strings
        self._known: list[str] = []  # the classes so far

    def _preamble(self, text: bytes, path: str) -> int:
        _refuse_other_encodings(text, path)
        mark = 3 if text[:3] == b"\xef\xbb\xbf" else 0  # a byte order mark
        if self.delimiter is None:  # the one that makes the most cells, and the first one of equals
            self.delimiter = max(",\t;", key=lambda c: _count(text[mark:], c))
        try:
            cells, length = _header(text[mark:], self.delimiter)
        except csv.Error as error:
            raise ReadError(f"{path}, line 1: invalid header: {error}.") from None
        if not cells:
            raise ReadError(f"{path}, line 1: the line is empty; the names of the columns are needed here.")
        end = mark + length
        names = cells if self.has_header else [str(i + 1) for i in range(len(cells))]
        if self._names is None:
            self._settle(names, text[end if self.has_header else mark :], path)
        elif names != self._names:
            raise ReadError(f"{path}: the columns are not those of {self.paths[0]}: {', '.join(names[:20])}.")
        return end if self.has_header else mark

    def _settle(self, names: list[str], text: bytes, path: str) -> None:
        sample = io.StringIO(text[: 1 << 20].decode("utf-8", "replace").replace("\0", "\ufffd"), newline="\n")
        rows: list[list[str]] = []
        with contextlib.suppress(csv.Error):  # bad lines are reported when they are parsed
            reader = csv.reader(sample, delimiter=self.delimiter or ",", skipinitialspace=True)
            rows.extend(itertools.islice(reader, LOOK))
        columns = list(zip(*(row for row in rows if len(row) == len(names)), strict=True)) or [()] * len(names)
        place = {name: j for j, name in enumerate(names)}

        def cells_of(name: str) -> tuple[int, list[str]]:
            """Return how many cells of a column are numbers, and the others."""
            filled = [cell for cell in map(str.strip, columns[place[name]]) if cell]
            others = [cell for cell in filled if not _is_number(cell)]
            return len(filled) - len(others), others

        def is_number(name: str) -> bool:
            return holds_numbers(name, *cells_of(name), path)

        self.columns.settle(names, is_number, self.need_labels, path)
        target = self.columns.target
        if target is not None and target in place:  # labels that nobody needs may be anything
            self._text_target = not is_number(target) if self.need_labels else bool(cells_of(target)[1])
        self._names = names

    def _make_parser(self) -> Any:
        assert self._names is not None
        column, plan = _core.CsvColumn, self.columns
        numbers, categories = {name: j for j, name in enumerate(plan.numbers or [])}, set(plan.categories)
        roles = []
        for name in self._names:
            if name in numbers:
                roles.append(column.number(numbers[name]))
            elif name in categories:
                roles.append(column.category(plan.first, f"{name}=".encode()))
            elif name == plan.target:
                roles.append(column.target_class() if self._text_target else column.target())
            else:
                roles.append(column.weight() if name == plan.weight else column.skipped())
        return _core.CsvParser(roles, self.delimiter or ",", plan.values.table, self.classes, self.limits)

    def _why(self, reason: str, column: int, text: bytes) -> str:
        if not reason.startswith(("a number", "the number")):
            return reason
        try:
            place = len(self._cells(text[: column - 1] + b"x")) - 1
            name, cell = (self._names or [])[place], self._cells(text)[place].strip()
        except (csv.Error, LookupError):  # the line has more errors than this one
            return reason
        more = " or name the column in categories (--categories) if it holds words"
        more = more if name in (self.columns.numbers or []) else ""
        return f"{reason}; column {name!r} holds numbers, and {cell!r} was found. Correct or empty the cell{more}"

    def _cells(self, row: bytes) -> list[str]:
        text = io.StringIO(row.decode("utf-8", "replace"), newline="\n")
        return next(csv.reader(text, delimiter=self.delimiter or ",", skipinitialspace=True), [])

    def _labels(self, label: Array) -> Array | None:
        if not self._text_target:
            return super()._labels(label)
        import numpy as np

        if len(label) and np.isnan(label).all():
            return None
        self._known += [decoded(self.classes.name(i)) for i in range(len(self._known), len(self.classes))]
        names = np.array([*self._known, ""])
        return names[np.where(np.isnan(label), len(names) - 1, label).astype(np.int64)]

    def _width(self, width: int) -> int:
        return self.columns.width(width)

    def settings(self) -> dict[str, Any]:
        return {"format": "csv", "header": self.has_header} | self._given | self.columns.settings()

    def state(self) -> dict[str, Any]:
        found = {"columns": self._names, "delimiter": self.delimiter, "text_target": self._text_target}
        return found | super().state() | {"classes": self.classes.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self._names, self.delimiter, self._text_target = state["columns"], state["delimiter"], state["text_target"]
        super().restore(state)
        self.classes.restore(state["classes"])
        self._parser = None


def _header(text: bytes, delimiter: str) -> tuple[list[str], int]:
    """Return the cells of the first row, and its length in bytes; a cell in quotes may have line ends."""
    taken = 0

    def lines() -> Iterator[str]:
        nonlocal taken
        while end := text.find(b"\n", taken) + 1:
            line, taken = text[taken:end], end
            yield line.decode("utf-8", "replace")
        raise csv.Error("a quote is not closed; close it, or write the header without quotes")

    cells = next(csv.reader(lines(), delimiter=delimiter, skipinitialspace=True))
    return [cell.strip() for cell in cells], taken


def _count(text: bytes, delimiter: str) -> int:
    try:
        return len(_header(text, delimiter)[0])
    except csv.Error:
        return 0


def _refuse_other_encodings(text: bytes, path: str) -> None:
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        found = "begins with the byte order mark of UTF-16 (or UTF-32)"
    elif b"\0" in text[: text.find(b"\n") + 1]:
        found = "has NUL bytes in its first line, as UTF-16 has"
    else:
        return
    raise ReadError(
        f"{path}: the file {found}; UTF-8 is needed. Convert it, for instance: iconv -f UTF-16 -t UTF-8 {path}"
    )


def _is_number(cell: str) -> bool:
    if cell[0].isalpha():  # words are many, and exceptions slow
        return False
    try:
        return math.isfinite(float(cell)) and "_" not in cell
    except ValueError:
        return False
