"""Data in partitions: what each worker loads for itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from gossamer import sources
from gossamer.batch.partitions import Raw
from gossamer.registry import record
from gossamer.sources import files
from gossamer.sources.blocks import ReadError
from gossamer.validation import Array, floats, refuse_odd, sparse_matrix

__all__ = ["Data", "source"]

PARTITION = 1 << 26  # bytes of text in a partition


@record
class Block:
    """A Dask block of rows (X, y) or (X, y, weight), or a frame, that a task turns into `Raw`."""

    block: Any  # delayed
    name: str
    columns: tuple[str | None, str | None] | None = None  # the target and the weight of a frame

    @property
    def made(self) -> Any:
        """What turns the computed block into `Raw`."""
        return _Named(self.name) if self.columns is None else _Framed(self.name, *self.columns)

    def __call__(self) -> Raw:
        return self.made(self.block.compute(scheduler="sync"))


@record
class _Named:
    name: str

    def __call__(self, got: Any) -> Raw:
        X, y, weight = (*got, None, None)[:3]
        dense = not sp.issparse(X)
        for array, what in ((X, "X"), (y, "y"), (weight, "weight")):
            refuse_odd(array, f"{what} of {self.name}")
        X = sp.csr_array(_numbers(X, f"X of {self.name}", 2) if dense else sparse_matrix(X, f"X of {self.name}"))
        y = None if y is None else np.asarray(y)
        weight = None if weight is None else _numbers(weight, f"weight of {self.name}", 1)
        return Raw(X, y, weight, None, self.name, dense)


def _numbers(array: Any, name: str, ndim: int) -> Array:
    """Return an array of numbers, which may be objects, as float64."""
    array = np.asarray(array)
    if array.dtype.kind == "O":
        array = array.astype(np.float64)
    return floats(array, name, ndim=(ndim,), finite=False).astype(np.float64, copy=False)


@record
class _Framed:
    name: str
    target: str | None
    weight: str | None

    def __call__(self, frame: Any) -> Raw:
        features = frame.drop(columns=[name for name in (self.target, self.weight) if name is not None])
        other = [str(name) for name, kind in features.dtypes.items() if kind.kind not in "biuf"]
        if other:
            raise ValueError(
                f"{self.name}: the columns {', '.join(other)} hold no numbers. Encode them, or write the frame to "
                "Parquet files and give these, with bits=22 or so for hashed names."
            )
        refuse_odd(frame, self.name)
        y = None if self.target is None else frame[self.target].to_numpy()
        weight = None if self.weight is None else frame[self.weight].to_numpy(np.float64)
        return Raw(sp.csr_array(features.to_numpy(np.float64)), y, weight, None, self.name, True)


@record
class File:
    """A file, or a part of it: a range of bytes of text whose lines begin in it, or some row groups of Parquet."""

    path: str
    begin: int
    end: int | None  # None: the whole file
    options: Any  # settings of `gossamer.source`, as the first rows decided
    name: str
    head: bytes = b""  # what a range of bytes begins with: the header

    def __call__(self) -> Raw:
        return self._each(self._read)

    def _each(self, read: Any) -> Any:
        """Return what `read` returns for this part."""
        if self.end is None:
            return read(self.path)
        if self.options.get("format") == "arrow":
            from pyarrow import parquet

            groups = parquet.ParquetFile(self.path).read_row_groups(list(range(self.begin, self.end)))
            return read(groups)
        import tempfile

        with open(self.path, "rb") as file:  # noqa: PTH123
            text = _lines(file, self.begin, self.end)
        if self.options.get("format") == "csv" and b'"' in text:
            raise ReadError(
                f"{self.name}: there are cells in quotes, which may have line ends, so the file is not read in parts. "
                "Use Parquet, smaller files, or a partition_bytes larger than the files."
            )
        handle, path = tempfile.mkstemp()
        try:
            with os.fdopen(handle, "wb") as out:
                out.write((self.head if self.begin > 0 else b"") + text)
            return read(path)
        except Exception as error:
            raise type(error)(str(error).replace(path, self.name)) from None
        finally:
            os.unlink(path)  # noqa: PTH108

    def names_of(self, features: Array) -> dict[int, str]:
        """Return the names of some features that this part has, reading it again."""
        return self._each(lambda data: _names_in(self._source(data), features))

    def _source(self, data: Any) -> Any:
        if "numbers" not in self.options:
            return sources.source(data, **self.options)
        of_path = {"format": self.options["format"]} if sources.is_paths(data) else {}
        return sources.again(data, self.options, **of_path)  # a table, which is read as the first one

    def _read(self, data: Any) -> Raw:
        got = sources.read(self._source(data)) if "numbers" in self.options else sources.read(data, **self.options)
        return Raw(sp.csr_array(got[0]), got[1], got.weight, got.offset, self.name)


def _names_in(rows: Any, features: Array) -> dict[int, str]:
    for _ in rows.blocks():
        pass
    found = {j: rows.name(j) for j in features.tolist()}
    return {j: name for j, name in found.items() if name}


def _lines(file: Any, begin: int, end: int) -> bytes:
    """Return the lines that begin in a range of bytes."""
    if begin > 0:
        file.seek(begin - 1)
        begin = begin - 1 + len(file.readline())
    if begin >= end:
        return b""
    file.seek(begin)
    text = file.read(end - begin)
    return text if text.endswith(b"\n") else text + file.readline()


class Data:
    """Partitions of rows, each loaded by the worker that needs it; made by `source`."""

    settings: Any = None  # how files are read
    named = False  # whether features of files have names

    def __init__(self, loaders: Sequence[Any], names: Sequence[str] | None = None) -> None:
        self.loaders = list(loaders)
        self.names = names  # of the columns of a frame

    def __len__(self) -> int:
        return len(self.loaders)


def source(data: Any, y: Any = None, *, weight: Any = None, partition_bytes: int = PARTITION, **options: Any) -> Data:
    r"""Return partitions of rows for the estimators of `gossamer.dask`.

    Parameters
    ----------
    data : path, pattern or list of them; Dask array or data frame; list of delayed (X, y) or (X, y, weight)
        Each worker reads its own part: ranges of bytes of large plain text (svmlight, VW, CSV), row groups of Parquet,
        other files whole. Files have one format and are read as the first rows of the first one decide. Blocks of
        Dask arrays are NumPy arrays or CSR matrices, cut by rows only; the columns of data frames are numbers.
    y, weight : Dask arrays
        With a Dask array: labels and weights, cut into the same rows. `weight` of a data frame names a column.
    partition_bytes : int, default 2^26
        The size of a part of a file.
    **options
        Of `gossamer.source`, for files; for a data frame `target`, the name of a column. Names of features need
        `bits`: they are hashed, so that workers agree.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gossamer.dask as gd
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.svm")
    >>> _ = path.write_text("1 3:0.5 7:2\n-1 4:1\n" * 10)
    >>> len(gd.source(path)), len(gd.source(path, partition_bytes=50))
    (1, 4)
    """
    if isinstance(data, Data):
        return data
    if sources.is_paths(data) and data != []:
        if weight is not None:
            options["weight"] = weight
        return _files(files.expanded(data), partition_bytes, options)
    if hasattr(data, "to_delayed") and hasattr(data, "map_partitions") and hasattr(data, "columns"):
        return _frames(data, y, weight, options)
    if options:
        raise TypeError(f"The options {', '.join(options)} are for files, and data is a {type(data).__name__}.")
    if hasattr(data, "to_delayed") and hasattr(data, "chunks"):
        return Data(_blocks(data, y, weight))
    if isinstance(data, (list, tuple)) and data and all(hasattr(block, "compute") for block in data):
        return Data([Block(block, f"block {i}") for i, block in enumerate(data)])
    raise TypeError(
        f"Data in partitions are files, a Dask array with y, or a list of delayed (X, y); {type(data).__name__} was "
        "given. The estimators of gossamer itself take what is in memory."
    )


def _files(paths: list[str], size: int, options: dict[str, Any]) -> Data:
    format = options.get("format") or sources.detect(paths[0])
    if format != "svmlight" and not options.get("bits"):
        raise ValueError(
            f"{paths[0]!r} names its features, and workers must agree on their numbers: give bits=22 or so for "
            "hashed names."
        )
    first = sources.source(paths[0], **options)  # what its first rows decide holds for all
    first.peek()
    first.close()
    settings = options | first.settings() | {"format": format}
    found: list[File] = []
    for path in paths:
        with files.opened(path) as file:
            plain = file.plain
            head = file.read(1 << 20) if plain and format == "csv" and settings.get("header") else b""
        found += _parts(path, files.size(path), size, settings, plain, head[: head.find(b"\n") + 1])
    made = Data(found)
    made.settings, made.named = first.settings(), first.names is not None
    return made


def _parts(path: str, bytes_: int, size: int, settings: dict[str, Any], plain: bool, head: bytes) -> list[File]:
    """Return the parts of a file, of about so many bytes each."""
    if bytes_ <= size or not plain or not files.rereadable(path):
        return [File(path, 0, None, settings, path)]
    if settings["format"] == "arrow":
        return _row_groups(path, size, settings)
    ends = [min(at + size, bytes_) for at in range(0, bytes_, size)]
    return [
        File(path, begin, end, settings, f"{path}, bytes {begin} to {end}", head)
        for begin, end in zip([0, *ends[:-1]], ends, strict=True)
    ]


def _row_groups(path: str, size: int, settings: dict[str, Any]) -> list[File]:
    from pyarrow import ArrowInvalid, parquet

    try:
        about = parquet.ParquetFile(path).metadata
    except ArrowInvalid:  # Feather has no row groups
        return [File(path, 0, None, settings, path)]
    found, begin, held = [], 0, 0
    for group in range(about.num_row_groups):
        held += about.row_group(group).total_byte_size
        if held >= size or group == about.num_row_groups - 1:
            name = f"{path}, row groups {begin} to {group}"
            found.append(File(path, begin, group + 1, settings, name))
            begin, held = group + 1, 0
    return found


def _frames(data: Any, y: Any, weight: Any, options: dict[str, Any]) -> Data:
    """Return the partitions of a data frame of numbers."""
    target, cell = options.pop("target", None), options.pop("weight", weight)
    if options:
        raise TypeError(f"Of a data frame target and weight can be said; {', '.join(options)} is for files.")
    names = list(map(str, data.columns))
    if y is not None or target not in names or not (cell is None or cell in names):
        raise ValueError(
            f"A data frame holds its labels (and weights): target= and weight= name columns. It has {', '.join(names)}."
        )
    blocks = [Block(part, f"partition {i}", (target, cell)) for i, part in enumerate(data.to_delayed())]
    return Data(blocks, [name for name in names if name not in (target, cell)])


def _blocks(X: Any, y: Any, weight: Any) -> list[Block]:
    import dask

    if y is None:
        raise ValueError("A Dask array of features needs y, a Dask array cut into the same rows.")
    if X.ndim != 2 or X.numblocks[1] != 1:
        raise ValueError(
            f"X is cut into {X.numblocks[1:]} blocks of columns; every block must have all columns: "
            "X.rechunk({1: -1})."
        )
    columns = [X.to_delayed()[:, 0]]
    for name, other in (("y", y), ("weight", weight)):
        if other is None:
            continue
        if other.chunks[0] != X.chunks[0]:
            raise ValueError(
                f"{name} is cut into rows {other.chunks[0]}, and X into {X.chunks[0]}; rechunk one of them."
            )
        columns.append(other.to_delayed().reshape(-1))
    delayed: Any = dask.delayed  # type: ignore[attr-defined]
    return [Block(delayed(tuple)(list(parts)), f"block {i}") for i, parts in enumerate(zip(*columns, strict=True))]
