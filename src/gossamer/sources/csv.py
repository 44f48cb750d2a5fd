"""Tables as text: values separated by commas, tabs, semicolons or bars, with or without a header."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
from collections.abc import Iterator
from typing import Any

from gossamer import _core
from gossamer.sources.blocks import Position, ReadError
from gossamer.sources.files import foreign
from gossamer.sources.roles import LOOK
from gossamer.sources.tabular import Tabular
from gossamer.sources.text import TextSource

MOST = 1 << 26  # bytes of the first rows


class Csv(Tabular, TextSource):
    """Tables as text. The first thousand rows decide on the roles of the columns; see `Columns`."""

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
        self._tabulate(columns)

    def _peek(self) -> None:
        if not self.rereadable:
            self.begin()  # what is read to look at it is read once
            return
        for number in range(len(self.paths)):
            opened = self._opened(Position(number))
            if opened is not None:
                opened.close()
                return

    def _enough(self, text: bytes) -> bool:
        if len(text) >= MOST:
            return True
        if sum(1 for _ in itertools.islice(_lines(text), LOOK + 1)) <= LOOK:
            return False
        return b'"' not in text or len(self._sample(text)) > LOOK

    def _preamble(self, text: bytes, path: str) -> int:
        _refuse_other_encodings(text, path)
        mark = 3 if text[:3] == b"\xef\xbb\xbf" else 0  # a byte order mark
        if self.delimiter is None:
            self.delimiter = _delimiter(text[mark:])
        try:
            cells, length = _header(text[mark:], self.delimiter)
        except csv.Error as error:
            raise ReadError(f"{path}, line 1: invalid header: {error}.") from None
        if not cells:
            raise ReadError(f"{path}, line 1: the line is empty; the names of the columns are needed here.")
        end = mark + length
        names = cells if self.has_header else [str(i + 1) for i in range(len(cells))]
        if self._names is None:
            rows = self._sample(text[end if self.has_header else mark :])[:LOOK]
            whole = [row for row in rows if len(row) == len(names)]
            if rows and not whole:
                raise ReadError(f"{path}: {_unlike(names, rows)}")
            self._look(names, [list(column) for column in zip(*whole, strict=True)], {}, path)
        elif names != self._names:
            raise ReadError(f"{path}: the columns are not those of {self.paths[0]}: {', '.join(names[:20])}.")
        return end if self.has_header else mark

    def _sample(self, text: bytes) -> list[list[Any]]:
        """Return the cells of the first rows of a text, and one row more if there is one."""
        rows: list[list[Any]] = []
        lines = (line.decode("utf-8", "replace").replace("\0", "\ufffd") for line in _lines(text))
        with contextlib.suppress(csv.Error):  # bad lines are reported when they are parsed
            reader = csv.reader(lines, delimiter=self.delimiter or _delimiter(text), skipinitialspace=True)
            rows.extend(itertools.islice((row for row in reader if row), LOOK + 1))
        return rows

    def _make_parser(self) -> Any:
        assert self._names is not None
        plan = self.columns.plan(self._names, self._text_target)
        return _core.CsvParser(plan, self.delimiter or ",", self.columns.values.table, self.classes, self.limits)

    def _why(self, reason: str, column: int, text: bytes) -> str:
        if not reason.startswith(("a number", "the number", "a date", "a weight", "the weight", "the offset")):
            return reason
        try:
            place = len(self._cells(text[: column - 1] + b"x")) - 1
            name, cell = (self._names or [])[place], self._cells(text)[place].strip()
        except (csv.Error, LookupError):  # the line has more errors than this one
            return reason
        return self._explained(reason, name, cell)

    def _cells(self, row: bytes) -> list[str]:
        text = io.StringIO(row.decode("utf-8", "replace"), newline="\n")
        return next(csv.reader(text, delimiter=self.delimiter or ",", skipinitialspace=True), [])

    def _width(self, width: int) -> int:
        return self.columns.width(width)

    def settings(self) -> dict[str, Any]:
        return {"format": "csv", "header": self.has_header} | self._given | self.columns.settings()

    def state(self) -> dict[str, Any]:
        return {"delimiter": self.delimiter} | super().state()

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.delimiter, self._parser = state["delimiter"], None


def _lines(text: bytes) -> Iterator[bytes]:
    """Yield the lines of a text, with their ends."""
    begin = 0
    while end := text.find(b"\n", begin) + 1:
        yield text[begin:end]
        begin = end
    if begin < len(text):
        yield text[begin:]


def _delimiter(text: bytes) -> str:
    """Return the delimiter that makes the most cells, and the first one of equals."""
    return max(",\t;|", key=lambda c: _count(text, c))


def _unlike(names: list[str], rows: list[list[Any]]) -> str:
    """Return what is wrong with a first line that does not name the columns of the rows, and what would do."""
    counts = [f"{n} {word}{'s' * (n != 1)}" for n, word in ((len(rows[0]), "cell"), (len(names), "column"))]
    if len(names) == 1 or names[0].startswith("sep="):
        what = "If it is a title or a comment, remove it (tail -n +2); or another delimiter is meant (delimiter=)."
    elif len(rows[0]) != len(names) + 1:
        what = "Make them as many; another delimiter may be meant (delimiter=)."
    elif all(row[-1] == "" for row in rows):
        what = "The rows end with a delimiter and the first line does not: add one to it."
    else:
        what = (
            "Make them as many: if the rows begin with their own names, as R writes them, add a name such as id to the "
            "first line; another delimiter may be meant (delimiter=)."
        )
    return f"the first row has {counts[0]}, but the first line names {counts[1]} ({', '.join(names[:5])}). {what}"


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
    if (what := foreign(text[:100])) is not None:
        raise ReadError(f"{path}: this is {what}.")
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        found = "begins with the byte order mark of UTF-16 (or UTF-32)"
    elif b"\0" in text[: text.find(b"\n") + 1]:
        found = "has NUL bytes in its first line, as UTF-16 has"
    else:
        return
    raise ReadError(
        f"{path}: the file {found}; UTF-8 is needed. Convert it, for instance: iconv -f UTF-16 -t UTF-8 {path}"
    )
