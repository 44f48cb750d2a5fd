"""Tables as text: values separated by commas, tabs or semicolons, with or without a header."""

from __future__ import annotations

import contextlib
import csv
import itertools
import math
from typing import TYPE_CHECKING, Any

from gossamer import _core
from gossamer.sources.blocks import ReadError
from gossamer.sources.columns import Columns
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
        head = text[:3] == b"\xef\xbb\xbf"  # a byte order mark
        end = _core.csv_cut(text[: text.find(b"\n") + 1]) or text.find(b"\n") + 1
        first = text[3 if head else 0 : end].decode("utf-8", "replace")
        if self.delimiter is None:
            self.delimiter = max(",\t;", key=first.count)  # the first one if counts are equal
        try:
            cells = [cell.strip() for cell in next(csv.reader([first], delimiter=self.delimiter), [])]
        except csv.Error as error:
            raise ReadError(f"{path}, line 1: invalid header: {error}.") from None
        names = cells if self.has_header else [str(i + 1) for i in range(len(cells))]
        if self._names is None:
            self._settle(names, text[end if self.has_header else 0 :], path)
        elif names != self._names:
            raise ReadError(f"{path}: the columns are not those of {self.paths[0]}: {', '.join(names[:20])}.")
        return end if self.has_header else (3 if head else 0)

    def _settle(self, names: list[str], text: bytes, path: str) -> None:
        lines = text[: 1 << 20].decode("utf-8", "replace").splitlines()
        rows: list[list[str]] = []
        with contextlib.suppress(csv.Error):  # bad lines are reported when they are parsed
            rows.extend(itertools.islice(csv.reader(lines, delimiter=self.delimiter or ","), LOOK))
        place = {name: j for j, name in enumerate(names)}

        def is_number(name: str) -> bool:
            cells = (row[place[name]].strip() for row in rows if len(row) == len(names))
            return all(_is_number(cell) for cell in cells if cell)

        self.columns.settle(names, is_number, self.need_labels, path)
        target = self.columns.target
        self._text_target = target in place and not is_number(str(target))
        self._names = names

    def _make_parser(self) -> Any:
        assert self._names is not None
        column, plan = _core.CsvColumn, self.columns
        roles = []
        for name in self._names:
            if name in (plan.numbers or []):
                roles.append(column.number((plan.numbers or []).index(name)))
            elif name in plan.categories:
                roles.append(column.category(plan.first, f"{name}=".encode()))
            elif name == plan.target:
                roles.append(column.target_class() if self._text_target else column.target())
            else:
                roles.append(column.weight() if name == plan.weight else column.skipped())
        return _core.CsvParser(roles, self.delimiter or ",", plan.values.table, self.classes, self.limits)

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


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell)) and "_" not in cell
    except ValueError:
        return False
