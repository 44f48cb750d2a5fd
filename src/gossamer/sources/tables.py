"""Data frames (pandas, polars, Arrow) and files of columns (Parquet, Arrow, Feather)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from gossamer.registry import record
from gossamer.sources import files
from gossamer.sources.base import Source
from gossamer.sources.blocks import ROWS, BadRow, Block, Position, ReadError
from gossamer.sources.columns import Columns, holds_numbers, refuse_doubles
from gossamer.sources.rows import Rows
from gossamer.validation import Array

REAL = (int, float, np.number, Decimal)


@record
class Batch:
    """Some rows of a table as arrays by name."""

    arrays: dict[str, Array]
    path: str  # the name of the table in messages
    first: int  # rows of this table before these
    share: float  # fraction of all tables read so far, 0 if unknown

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values()))) if self.arrays else 0


class Frame(Source):
    """A data frame: an object with `columns`, `len`, and columns that convert to arrays. See `Columns`."""

    def __init__(self, data: Any, *, need_labels: bool = True, on_error: Any = "stop", **columns: Any) -> None:
        super().__init__(on_error)
        self.need_labels = need_labels
        self.names = self.columns = Columns(**columns)
        self.data = data

    def _batches(self, start: int) -> Iterator[Batch]:
        """Yield the rows from row number `start` on."""
        data, total = self.data, len(self.data)
        names = [str(name) for name in data.columns]
        refuse_doubles(names, "the data frame")
        if hasattr(data, "to_pandas") and not hasattr(data, "iloc"):  # polars
            whole = {str(name): data[name] for name in data.columns}
        else:
            whole = dict(zip(names, (data.iloc[:, j] for j in range(len(names))), strict=True))
        for begin in range(start, total, ROWS):
            part = slice(begin, min(begin + ROWS, total))
            arrays = {name: np.asarray(column[part]) for name, column in whole.items()}
            yield Batch(arrays, "the data frame", begin, part.stop / total)

    def _read(self, start: Position) -> Iterator[Block]:
        at = start.rows
        for batch in self._batches(start.rows):
            at += len(batch)
            yield self._rows(batch, Position(0, 0, 0, at))

    def _rows(self, batch: Batch, end: Position) -> Block:
        plan, arrays = self.columns, batch.arrays
        if plan.numbers is None or batch.first == 0:
            plan.settle(
                list(arrays), lambda name: _is_number(name, arrays[name], batch.path), self.need_labels, batch.path
            )
            if plan.target in arrays and self.need_labels:
                _refuse_dates(str(plan.target), arrays[plan.target], batch.path)
        wrong: dict[int, tuple[str, str]] = {}  # by row: the first invalid column, and why

        def numbers(name: str) -> Array:
            x, reasons = _floats(arrays[name])
            for i, why in reasons.items():
                wrong.setdefault(i, (name, why))
            return x

        parts = []
        for feature, name in enumerate(plan.numbers or []):
            x = numbers(name)
            rows = np.flatnonzero(~np.isnan(x) & (x != 0))
            parts.append((rows, np.full(len(rows), feature, np.int32), x[rows]))
        parts += [self._categories(name, arrays[name]) for name in plan.categories]
        starts, index, value = _csr(len(batch), parts)
        label = weight = None
        if plan.target in arrays:
            label, missing = self._labels(arrays[plan.target], lambda: numbers(str(plan.target)))
            wrong = {int(i): (str(plan.target), "the row has no label") for i in missing} | wrong
        if plan.weight in arrays:
            weight = numbers(str(plan.weight))
            negative = np.flatnonzero(~(weight >= 0))
            wrong = {int(i): (str(plan.weight), "a number ≥ 0 is needed") for i in negative} | wrong
        width = plan.width(int(index.max(initial=-1)) + 1)
        block = Block(Rows.of(starts, index, value, label, weight), width, end, batch.share)
        if not wrong:
            return block
        good = np.setdiff1d(np.arange(len(batch)), list(wrong))
        bad = (
            BadRow(batch.path, batch.first + i + 1, wrong[i][0], wrong[i][1], _shown(arrays, i)) for i in sorted(wrong)
        )
        return replace(block.taken(good), bad=tuple(bad))

    def _categories(self, name: str, column: Array) -> tuple[Array, Array, Array]:
        plan = self.columns
        there = np.array([not _missing(v) for v in column.tolist()], bool)
        words = np.array([_word(v) for v in column[there].tolist()], dtype=object)
        different, inverse = np.unique(words.astype(str), return_inverse=True)
        numbers = np.array([plan.first + plan.values.number(f"{name}={word}") for word in different], np.int32)
        rows = np.flatnonzero(there)
        return rows, numbers[inverse] if len(rows) else np.empty(0, np.int32), np.ones(len(rows))

    def _labels(self, label: Array, numbers: Callable[[], Array]) -> tuple[Array, Array]:
        """Return the labels, and the rows that lack a label they need."""
        none = np.empty(0, np.int64)
        if label.dtype.kind in "biu":
            return label, none
        missing = np.flatnonzero([_missing(v) for v in label.tolist()])
        if len(missing) and not self.need_labels:
            return np.full(len(label), np.nan), none
        return numbers() if label.dtype.kind == "f" else label.astype(str), missing

    def settings(self) -> dict[str, Any]:
        return self.columns.settings()


class Arrow(Frame):
    """Arrow tables, and files of columns: Parquet, Arrow IPC, Feather."""

    def __init__(self, data: Any, **options: Any) -> None:
        paths = files.expanded(data) if isinstance(data, (str, list)) else None
        options = {name: value for name, value in options.items() if name not in ("max_features", "block")}
        super().__init__(paths or data, **options)
        self.paths = paths
        if paths and not all(files.rereadable(path) for path in paths):
            raise ValueError("Parquet and Arrow files cannot be read from a pipe.")

    def _batches(self, start: int) -> Iterator[Batch]:
        done, first, path = 0, 0, None
        for batch, where, share in self._record_batches():
            first, path = (first, path) if path == where else (0, where)
            rows = batch.num_rows
            for begin in range(max(start - done, 0), rows, ROWS):
                yield Batch(_arrays(batch.slice(begin, ROWS), where), where, first + begin, share)
            done, first = done + rows, first + rows

    def _record_batches(self) -> Iterator[tuple[Any, str, float]]:
        arrow = _pyarrow()
        if self.paths is None:
            for batch in self.data.to_batches():
                yield batch, "the table", 0.0
            return
        for number, path in enumerate(self.paths):
            try:
                for batch, share in _file_batches(arrow, path):
                    yield batch, path, (number + share) / len(self.paths)
            except (arrow.ArrowException, OSError) as error:
                raise ReadError(f"{path}: {error}") from None

    def settings(self) -> dict[str, Any]:
        return ({"format": "arrow"} if self.paths else {}) | super().settings()


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


def _arrays(batch: Any, where: str) -> dict[str, Array]:
    """Return the columns of a record batch; missing numbers become NaN, other columns hold objects."""
    refuse_doubles(batch.schema.names, where)
    return {name: batch.column(j).to_numpy(zero_copy_only=False) for j, name in enumerate(batch.schema.names)}


def _csr(n: int, parts: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    """Return CSR arrays from entries (row, feature, value); duplicates are added up."""
    if not parts:
        return np.zeros(n + 1, np.int64), np.empty(0, np.int32), np.empty(0)
    row, index, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((index, row))
    row, index, value = row[order], index[order], value[order]
    new = np.ones(len(row), bool)
    new[1:] = (row[1:] != row[:-1]) | (index[1:] != index[:-1])
    if not new.all():
        value = np.add.reduceat(value, np.flatnonzero(new))
        row, index = row[new], index[new]
    starts = np.searchsorted(row, np.arange(n + 1)).astype(np.int64)
    return starts, np.ascontiguousarray(index, np.int32), np.ascontiguousarray(value, np.float64)


def _is_number(name: str, column: Array, where: str) -> bool:
    """Return whether a column holds numbers; objects decide as the cells of a text do."""
    _refuse_dates(name, column, where)
    if column.dtype.kind != "O":
        return column.dtype.kind in "biuf"
    values = [value for value in column[:1000].tolist() if not _missing(value)]
    others = [str(value) for value in values if not isinstance(value, REAL) or isinstance(value, bool)]
    return bool(values) and holds_numbers(name, len(values) - len(others), others, where)


def _refuse_dates(name: str, column: Array, where: str) -> None:
    if column.dtype.kind in "Mm":
        raise ReadError(
            f"{where}: column {name!r} holds dates or times ({column.dtype}). Convert it to numbers first, name it in "
            "categories (--categories) to make each date a category, or leave it out by ignore (--ignore)."
        )


def _missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _floats(column: Array) -> tuple[Array, dict[int, str]]:
    """Return the numbers of a column, NaN where a value is missing, and the errors by row."""
    wrong = {}
    if column.dtype.kind in "biuf":
        x = column.astype(np.float64)
    else:
        x = np.full(len(column), np.nan)
        for i, value in enumerate(column.tolist()):
            if isinstance(value, REAL):
                x[i] = value
            elif not _missing(value):
                wrong[i] = f"a number is needed; {value!r} was given"
    return x, wrong | {int(i): "the number is not finite" for i in np.flatnonzero(np.isinf(x))}


def _shown(arrays: dict[str, Array], row: int) -> bytes:
    """Return a row as a line of JSON."""
    values = {name: column[row : row + 1].tolist()[0] for name, column in arrays.items()}
    return json.dumps(values, ensure_ascii=False, default=str).encode("utf-8", "replace")
