"""Tables in columns: data frames, whatever speaks the Arrow stream protocol, and files (Parquet, Arrow, Feather)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gossamer import _core
from gossamer.registry import record
from gossamer.sources import QUERIES, files
from gossamer.sources.blocks import ROWS, BadRow, Block, Position, ReadError
from gossamer.sources.columns import refuse_doubles
from gossamer.sources.roles import LOOK, is_number, plain_cell
from gossamer.sources.rows import Rows
from gossamer.sources.tabular import Tabular

SLICE = 8 * ROWS  # rows of a pandas frame that are converted at once


@record
class Batch:
    """Some rows of a table."""

    rows: Any  # `_core.RecordBatch`
    path: str  # the name of the table in messages
    first: int  # rows of this table before these
    share: float  # fraction of all tables read so far, 0 if unknown


class Table(Tabular):
    """A table in columns. Batches are encoded as they come, and never held all at once; see `Columns`."""

    def __init__(self, data: Any, *, need_labels: bool = True, on_error: Any = "stop", **options: Any) -> None:
        super().__init__(on_error)
        self.need_labels = need_labels
        self.paths = files.expanded(data) if isinstance(data, (str, list)) else None
        if self.paths and not all(files.rereadable(path) for path in self.paths):
            raise ValueError("Parquet and Arrow files cannot be read from a pipe.")
        for name in ("max_features", "block"):  # options of all files, which text needs
            options.pop(name, None)
        self._tabulate(options)
        self.data = data
        again = ("__len__", "num_rows", "scanner", "collect_batches")  # what gives its rows more than once
        self.rereadable = bool(self.paths) or any(hasattr(data, name) for name in again)
        self.limits = _core.Limits(1 if self.rejects.stops else 2**62, need_labels, 2**31 - 1)
        self._mixed: set[str] = set()  # columns whose type says nothing
        self._waiting: Iterator[Batch] | None = None  # of a table that is read once: from its beginning on

    def _peek(self) -> None:
        """Look at the first rows."""
        kept: list[Batch] = []
        rows: list[list[Any]] = []
        fields: list[tuple[str, str]] = []
        batches = self._batches()
        for batch in batches:
            kept.append(batch)
            fields = fields or batch.rows.fields
            rows += [batch.rows.cells(i) for i in range(min(len(batch.rows), LOOK - len(rows)))]
            if len(rows) >= LOOK:
                break
        if not self.rereadable:
            self._waiting = _chained(kept, batches)
        if kept:
            names = [name for name, _ in fields]
            refuse_doubles(names, kept[0].path)
            cells = [[plain_cell(value) for value in column] for column in zip(*rows, strict=True)]
            spoilt = {name for name, column in zip(names, cells, strict=True) if self._is_spoilt(name, column)}
            types = {name: kind for name, kind in fields if name not in self._mixed | spoilt}
            self._look(names, cells, types, kept[0].path)

    def _is_spoilt(self, name: str, column: list[str | None]) -> bool:
        """Return whether only words for missing values keep a column from being numbers: "1", "?", "2".

        A reader of files that does not know such a word makes strings of them all. Strings that are all numbers are
        meant to be strings, such as codes.
        """
        words = {"", *self.columns.missing_words} if self.columns.fills else set()
        filled = [cell.strip() for cell in column if cell is not None]
        rest = [cell for cell in filled if cell not in words]
        return name != self.columns.target and 0 < len(rest) < len(filled) and all(map(is_number, rest))

    def _type_of_labels(self, filled: list[str], kind: str | None) -> str:
        if kind == "moment":
            raise ReadError(f"The target {self.columns.target!r} holds dates or times; a number or a class is needed.")
        return super()._type_of_labels(filled, kind)

    def _read(self, start: Position) -> Iterator[Block]:
        self.settle()
        if self._names is None:
            return
        batches = self._waiting if not self.rereadable else self._batches()
        if batches is None:
            raise ReadError("This table can be read only once; pass a table that is held in memory, or make it again.")
        self._waiting = None
        plan = self.columns.plan(self._names, self._text_target)
        done = 0
        for batch in batches:
            if [name for name, _ in batch.rows.fields] != self._names:
                raise ReadError(f"{batch.path}: the columns are not those of the first table.")
            count = len(batch.rows)
            for begin in range(max(start.rows - done, 0), count, ROWS):
                end = min(begin + ROWS, count)
                encoded = batch.rows.encode(
                    plan, self.columns.values.table, self.classes, self.limits, begin, end
                ).arrays()
                yield self._made(encoded, batch, Position(0, 0, 0, done + end))
            done += count

    def _made(self, got: dict[str, Any], batch: Batch, end: Position) -> Block:
        rows = Rows.of(
            got["starts"], got["index"], got["value"], self._labels(got["label"]), got["weight"], got["offset"]
        )
        bad = tuple(self._bad_row(batch, *line[:3]) for line in got["bad"])
        return Block(rows, self.columns.width(got["width"]), end, batch.share, bad=bad)

    def _bad_row(self, batch: Batch, row: int, column: int, reason: str) -> BadRow:
        assert self._names is not None
        cells = batch.rows.cells(row - 1)
        name = str(self.columns.target) if reason == "the row has no label" else self._names[column - 1]
        if reason.startswith(("a number", "the number", "a date")):
            reason = self._explained(reason, name, str(cells[column - 1]))
        shown = json.dumps(dict(zip(self._names, cells, strict=True)), ensure_ascii=False)
        return BadRow(batch.path, batch.first + row, name, reason, shown.encode("utf-8", "replace"))

    def settings(self) -> dict[str, Any]:
        return ({"format": "arrow"} if self.paths else {}) | self.columns.settings()

    # Batches

    def _batches(self) -> Iterator[Batch]:
        if self.paths:
            yield from self._of_files(self.paths)
        elif _is_pandas(self.data):
            yield from self._of_pandas()
        else:
            yield from self._of_stream()

    def _of_files(self, paths: list[str]) -> Iterator[Batch]:
        arrow = _pyarrow()
        for number, path in enumerate(paths):
            first = 0
            try:
                for batch, share in _file_batches(arrow, path):
                    yield Batch(_imported(batch, path), path, first, (number + share) / len(paths))
                    first += batch.num_rows
            except (arrow.ArrowException, OSError) as error:
                raise ReadError(f"{path}: {error}") from None

    def _of_pandas(self) -> Iterator[Batch]:
        total, names = len(self.data), [str(name) for name in self.data.columns]
        refuse_doubles(names, "the data frame")
        for first in range(0, max(total, 1), SLICE):
            part = self.data.iloc[first : first + SLICE]
            table = _arrow_table(_pyarrow(), part, names, self._mixed)
            for batch in table.combine_chunks().to_batches():
                yield Batch(_imported(batch, "the data frame"), "the data frame", first, (first + len(part)) / total)

    def _of_stream(self) -> Iterator[Batch]:
        data = self.data
        for query in QUERIES:
            if not hasattr(data, "__arrow_c_stream__") and hasattr(data, query):
                data = getattr(data, query)()
        where, first = "the table", 0
        total = len(data) if hasattr(data, "__len__") else 0
        for part in [data] if hasattr(data, "__arrow_c_stream__") else data:
            stream = _core.RecordStream(part.__arrow_c_stream__())
            refuse_doubles([name for name, _ in stream.fields], where)
            while (batch := _next(stream)) is not None:
                share = (first + len(batch)) / total if total else 0.0
                yield Batch(batch, where, first, share)
                first += len(batch)


def _is_pandas(data: Any) -> bool:
    return hasattr(data, "iloc") and hasattr(data, "columns")


def _chained(first: list[Batch], rest: Iterator[Batch]) -> Iterator[Batch]:
    while first:
        yield first.pop(0)
    yield from rest


def _next(stream: Any) -> Any:
    try:
        return stream.next()
    except RuntimeError as error:
        raise ReadError(f"the table: {error}") from None


def _imported(batch: Any, where: str) -> Any:
    refuse_doubles(batch.schema.names, where)
    return _core.RecordBatch(*batch.__arrow_c_array__())


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError("Parquet and Arrow need pyarrow: pip install 'gossamer[parquet]'.") from None
    return pyarrow


def _file_batches(arrow: Any, path: str) -> Iterator[tuple[Any, float]]:
    with files.opened(path) as file:
        magic = file.read(6)
    if magic[:4] == b"PAR1":
        import pyarrow.parquet as parquet

        with parquet.ParquetFile(path) as table:
            done = 0
            for batch in table.iter_batches(batch_size=ROWS):
                done += batch.num_rows
                yield batch, done / max(table.metadata.num_rows, 1)
        return
    with arrow.memory_map(path) as source:
        if magic == b"ARROW1":
            reader = arrow.ipc.open_file(source)
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i), (i + 1) / reader.num_record_batches
        else:
            for batch in arrow.ipc.open_stream(source):
                yield batch, 0.0


def _arrow_table(arrow: Any, frame: Any, names: list[str], mixed: set[str]) -> Any:
    """Return some rows of a pandas frame as an Arrow table; columns of mixed objects become strings."""
    arrays = []
    for j in range(len(names)):
        column = frame.iloc[:, j]
        try:
            arrays.append(arrow.array(column, from_pandas=True))
        except (arrow.ArrowException, TypeError, ValueError):
            mixed.add(names[j])
            arrays.append(arrow.array(column.astype(object).map(str, na_action="ignore"), from_pandas=True))
    return arrow.Table.from_arrays(arrays, names=names)
