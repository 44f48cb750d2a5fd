"""Data frames (pandas, polars, Arrow) and files of columns (Parquet, Arrow, Feather)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gossamer.arrays import Array
from gossamer.sources import files
from gossamer.sources.base import Source
from gossamer.sources.blocks import Block, Position, ReadError
from gossamer.sources.columns import Columns

ROWS = 8192  # of a block


class Frame(Source):
    """A data frame: `columns`, `len`, and columns that become arrays. See `Columns` for what columns are for."""

    def __init__(self, data: Any, *, need_labels: bool = True, **columns: Any) -> None:
        super().__init__()
        self.need_labels = need_labels
        self.columns = Columns(**columns)
        self.data = data

    def _batches(self, start: int) -> Iterator[tuple[dict[str, Array], float]]:
        """Yield some rows as arrays by name, and the share of all that was read."""
        data, total = self.data, len(self.data)
        names = [str(name) for name in data.columns]
        if hasattr(data, "to_pandas") and not hasattr(data, "iloc"):  # polars
            whole = {str(name): data[name] for name in data.columns}
        else:
            whole = dict(zip(names, (data.iloc[:, j] for j in range(len(names))), strict=True))
        for begin in range(start, total, ROWS):
            part = slice(begin, min(begin + ROWS, total))
            yield {name: np.asarray(column[part]) for name, column in whole.items()}, part.stop / total

    def _read(self, start: Position) -> Iterator[Block]:
        at = start.rows
        for arrays, share in self._batches(start.rows):
            block = self._block(arrays, at, share)
            at = block.position.rows
            yield block

    def _block(self, arrays: dict[str, Array], at: int, share: float) -> Block:
        plan = self.columns
        if plan.numbers is None or at == 0:
            plan.settle(
                list(arrays), lambda name: arrays[name].dtype.kind in "biuf", self.need_labels, "The data frame"
            )
        n = len(next(iter(arrays.values()))) if arrays else 0
        parts = [self._numbers(name, arrays[name], j, at) for j, name in enumerate(plan.numbers or [])]
        parts += [self._categories(name, arrays[name]) for name in plan.categories]
        starts, index, value = _csr(n, parts)
        label = arrays.get(plan.target) if plan.target else None
        weight = arrays.get(plan.weight) if plan.weight else None
        return Block(
            starts,
            index,
            value,
            None if label is None else self._labels(label, at),
            None if weight is None else _checked_weights(weight, at),
            plan.width(int(index.max(initial=-1)) + 1),
            Position(0, 0, 0, at + n),
            share,
        )

    def _numbers(self, name: str, column: Array, feature: int, at: int) -> tuple[Array, Array, Array]:
        if column.dtype.kind not in "biuf":
            column = _floats(column, f"Column {name!r}", at)
        x = column.astype(np.float64)
        if np.isinf(x).any():
            raise ReadError(f"Column {name!r}, row {at + int(np.argmax(np.isinf(x))) + 1}: the number is not finite.")
        rows = np.flatnonzero(~np.isnan(x) & (x != 0))
        return rows, np.full(len(rows), feature, np.int32), x[rows]

    def _categories(self, name: str, column: Array) -> tuple[Array, Array, Array]:
        plan = self.columns
        there = np.array([not _missing(v) for v in column.tolist()], bool)
        words = np.array([_word(v) for v in column[there].tolist()], dtype=object)
        different, inverse = np.unique(words.astype(str), return_inverse=True)
        numbers = np.array([plan.first + plan.named.number(f"{name}={word}") for word in different], np.int32)
        rows = np.flatnonzero(there)
        return rows, numbers[inverse] if len(rows) else np.empty(0, np.int32), np.ones(len(rows))

    def _labels(self, label: Array, at: int) -> Array:
        if label.dtype.kind in "biu":
            return label
        missing = np.array([_missing(v) for v in label.tolist()], bool)
        if missing.any():
            if self.need_labels:
                raise ReadError(f"Row {at + int(np.argmax(missing)) + 1} has no label.")
            return np.full(len(label), np.nan)
        if label.dtype.kind == "f":
            return _floats(label, "The target", at)
        return label.astype(str)

    def name(self, feature: int) -> str | None:
        return self.columns.name(feature)

    def other_name(self, feature: int) -> str | None:
        return self.columns.other(feature)

    @property
    def collisions(self) -> int:
        return int(self.columns.named.names.collisions)

    def settings(self) -> dict[str, Any]:
        return self.columns.settings()

    def recall(self, features: Array, names: list[str] | None) -> Array:
        return self.columns.recall(features, names)

    def state(self) -> dict[str, Any]:
        return self.columns.state()

    def restore(self, state: dict[str, Any]) -> None:
        self.columns.restore(state)


class Arrow(Frame):
    """Arrow tables, and files of columns: Parquet, Arrow IPC, Feather."""

    def __init__(self, data: Any, **options: Any) -> None:
        paths = files.expanded(data) if isinstance(data, (str, list)) else None
        options = {name: value for name, value in options.items() if name not in ("max_features", "block")}
        if options.pop("on_error", "stop") != "stop":
            raise ValueError("on_error is for text: a file of columns is read whole or not at all.")
        super().__init__(paths or data, **options)
        self.paths = paths
        if paths and not all(files.rereadable(path) for path in paths):
            raise ValueError("Files of columns need to be files: they cannot be read from a pipe.")

    def _batches(self, start: int) -> Iterator[tuple[dict[str, Array], float]]:
        done = 0
        for batch, share in self._record_batches():
            rows = batch.num_rows
            if done + rows > start:
                part = batch.slice(max(start - done, 0))
                for begin in range(0, part.num_rows, ROWS):
                    yield _arrays(part.slice(begin, ROWS)), share
            done += rows

    def _record_batches(self) -> Iterator[tuple[Any, float]]:
        arrow = _pyarrow()
        if self.paths is None:
            for batch in self.data.to_batches():
                yield batch, 0.0
            return
        for number, path in enumerate(self.paths):
            try:
                for batch, share in _file_batches(arrow, path):
                    yield batch, (number + share) / len(self.paths)
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


def _arrays(batch: Any) -> dict[str, Array]:
    """Return the columns of a record batch; missing numbers become NaN, everything else objects."""
    return {name: batch.column(j).to_numpy(zero_copy_only=False) for j, name in enumerate(batch.schema.names)}


def _csr(n: int, parts: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    """Return CSR arrays from entries (row, feature, value), those of one place added up."""
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


def _missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _floats(column: Array, what: str, at: int) -> Array:
    values = [np.nan if _missing(v) else v for v in column.tolist()]
    for i, value in enumerate(values):
        if isinstance(value, str) or not isinstance(value, (int, float, np.number)):
            raise ReadError(f"{what}, row {at + i + 1}: a number is needed; {value!r} was given.")
    x = np.array(values, np.float64)
    if np.isinf(x).any():
        raise ReadError(f"{what}, row {at + int(np.argmax(np.isinf(x))) + 1}: the number is not finite.")
    return x


def _checked_weights(weight: Array, at: int) -> Array:
    w = _floats(weight, "The weight", at)
    bad = ~(w >= 0)
    if bad.any():
        raise ReadError(f"The weight, row {at + int(np.argmax(bad)) + 1}: a number ≥ 0 is needed.")
    return w
