"""Sources turn any supported input into blocks of CSR rows: files, arrays, data frames, iterators.

Each format has its own file. `source` finds the format, `read` returns all blocks as one matrix.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gossamer.registry import nearest
from gossamer.sources import files
from gossamer.sources.base import Source

if TYPE_CHECKING:
    from gossamer.validation import Array

__all__ = ["read", "source"]

# File formats: the module, the class, and the file endings.
FORMATS = {
    "svmlight": ("svmlight", "Svmlight", (".svm", ".svmlight", ".libsvm")),
    "vw": ("vw", "Vw", (".vw",)),
    "csv": ("csv", "Csv", (".csv", ".tsv")),
    "arrow": ("tables", "Table", (".parquet", ".arrow", ".feather", ".ipc")),
}

TABLES = ("csv", "arrow")  # formats with named columns

# Methods by which the result of a query that does not speak the Arrow stream protocol gives a reader that does, or
# several; "scanner" and "to_reader" are of data sets of Arrow, "collect_batches" of lazy frames of polars.
QUERIES = ("to_arrow_reader", "fetch_record_batch", "fetch_arrow", "scanner", "to_reader", "collect_batches")

# The options of each kind of data; "in memory" are those of what is no file.
_ALL = ("need_labels",)
_COLUMNS = (
    *("target", "weight", "offset", "roles", "categories", "ignore", "numbers", "missing", "ngrams", "interactions"),
    *("bits", "one_hot", "learned"),
)
_TEXT = (*_ALL, "on_error", "max_features", "block")
OPTIONS = {
    "svmlight": (*_TEXT, "zero_based"),
    "vw": (*_TEXT, "bits", "interactions"),
    "csv": (*_TEXT, "delimiter", "header", *_COLUMNS),
    "arrow": (*_TEXT, *_COLUMNS),
    "a table in memory": (*_ALL, "on_error", *_COLUMNS),
    "arrays in memory": _ALL,
}


class OptionError(TypeError):
    """An option that this kind of data does not have."""


def _check_options(kind: str, options: dict[str, Any]) -> None:
    for name in options:
        if name not in OPTIONS[kind]:
            having = [other for other, names in OPTIONS.items() if name in names]
            instead = f"is for {', '.join(having)}." if having else f"is unknown.{nearest(name, OPTIONS[kind])}"
            raise OptionError(f"The option {name} {instead} Options of {kind} are {', '.join(OPTIONS[kind])}.")


def source(data: Any, format: str | None = None, *, shuffle: int | None = None, **options: Any) -> Source:
    r"""Return a source of blocks of rows.

    Parameters
    ----------
    data : path, pattern, "-" or a list of them; data frame; Arrow table; (X, y) or (X, y, weight); iterator of such
        Files are plain or compressed by gzip, bz2, xz or zstandard, which is found from their first bytes; "-" is
        standard input.
        A `Source` is returned as it is.
    format : str, optional
        The format of files: "svmlight", "vw", "csv" or "arrow" (also Parquet and Feather). By default it is found from
        the file ending or the first line.
    shuffle : int, optional
        The seed of a random order of the rows. Pieces of plain text files come in random order and rows are shuffled
        within a window; of other data, rows are shuffled within a window of 65,536 rows.
    **options
        Text: `on_error` ("stop", "skip" or ("quarantine", path)) and `max_features`; svmlight: `zero_based`; vw:
        `bits`, `interactions` of namespaces; csv: `delimiter`, `header`; tables: `target`, `weight`, `offset` (names of
        columns), `roles` ({"query": "text", "zip": "category", "when": "date", "id": "ignore", "age": "number"}),
        `missing` (words for missing values besides NA, N/A, NaN, nan, null, None, ?, - and the empty cell), `ngrams`
        (the most words in a feature of a text), `interactions` ([("user", "item")]), `bits`, `one_hot`; `categories`,
        `ignore` and `numbers` are lists of columns with these roles. Rows without labels are invalid unless
        `need_labels=False`.

    Examples
    --------
    >>> import gossamer as gs
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.svm")
    >>> _ = path.write_text("1 3:0.5 7:2\n-1 4:1\n")
    >>> [(len(block), block.index.tolist()) for block in gs.source(path).blocks()]
    [(2, [2, 6, 3])]
    """
    if shuffle is not None:
        from gossamer.sources.shuffle import Shuffled

        return Shuffled(source(data, format, **options), shuffle)
    if isinstance(data, Source):
        if options or format:
            raise ValueError("A source is read as it was made: give its options when it is made.")
        return data
    if not is_paths(data):
        if format:
            raise ValueError("A format is for files.")
        return _in_memory(data, options)
    paths = files.expanded(data)
    format = format or detect(paths[0])
    if format not in FORMATS:
        raise ValueError(f"There is no format {format!r}; there are {', '.join(FORMATS)}.")
    module, name, _ = FORMATS[format]
    _check_options(format, options)
    return getattr(import_module(f"{__name__}.{module}"), name)(paths, **options)


def again(data: Any, settings: dict[str, Any], **options: Any) -> Source:
    """Return other data as a source that is read with the `settings` of an earlier one."""
    if not (is_paths(data) or is_table(data)):
        return source(data, **options)
    known, named, table = settings.get("format"), "numbers" in settings, is_table(data)
    if named and "learned" not in settings:
        settings = settings | {"missing": None}  # of a model that is older than features of missing values
    given = None if table else options.get("format") or (detect(files.expanded(data)[0]) if named else known)
    if settings and given != known:
        if named != (table or given in TABLES):
            learned = "a table with named columns" if named else known
            raise ValueError(f"The model learned from {learned}; {given or 'a table'} cannot be read in the same way.")
        # the same columns in another form
        settings = {name: value for name, value in settings.items() if name not in ("format", "delimiter", "header")}
    return source(data, **(settings | options))


def is_paths(data: Any) -> bool:
    """Return whether data is a path or a list of paths."""
    if isinstance(data, (list, tuple)):
        return len(data) == 0 or isinstance(data[0], (str, os.PathLike))
    return isinstance(data, (str, os.PathLike))


def is_table(data: Any) -> bool:
    """Return whether data has named columns."""
    named = any(hasattr(data, name) for name in ("__arrow_c_stream__", "iloc", *QUERIES))
    return named and not is_paths(data)


def _in_memory(data: Any, options: dict[str, Any]) -> Source:
    if is_table(data):
        from gossamer.sources import tables

        _check_options("a table in memory", options)
        return tables.Table(data, **options)
    import numpy as np

    from gossamer.sources.matrices import Matrices

    _check_options("arrays in memory", options)
    if isinstance(data, tuple):
        return Matrices([data], **options)
    if isinstance(data, np.ndarray) or hasattr(data, "tocsr"):
        return Matrices([(data,)], **options)
    if isinstance(data, list) and data and not isinstance(data[0], tuple):
        return Matrices([(data,)], **options)
    return Matrices(data, **options)


def detect(path: str) -> str:
    """Return the format of a file, by its ending or else by its first line."""
    suffixes = [f".{s}" for s in os.path.basename(path).lower().lstrip(".").split(".")[1:]]
    while suffixes and suffixes[-1] in files.COMPRESSED:
        suffixes.pop()
    for format, (_, _, endings) in FORMATS.items():
        if suffixes and suffixes[-1] in endings:
            return format
    found = _by_first_line(path) if files.rereadable(path) else None
    if found is None:
        raise ValueError(f"The format of {path!r} is unknown; give it by format=, one of {', '.join(FORMATS)}.")
    return found


def _by_first_line(path: str) -> str | None:
    with files.opened(path) as file:
        head = file.read(1 << 16)
    lines = [line for line in head.split(b"\n") if line.strip() and not line.startswith(b"#")]
    first = lines[0].split(b"#")[0] if lines else b""
    words = first.split()
    if head[:4] == b"PAR1" or head[:6] == b"ARROW1":
        return "arrow"
    what = files.foreign(head) or (files.JSON if head.lstrip()[:1] in (b"{", b"[") else None)
    if what is not None:
        raise ValueError(f"{path}: this is {what}.")
    if b"|" in first:
        return "vw"
    marked = any(mark in first for mark in (b",", b"\t", b";"))
    if not words or (all(b":" in word for word in words[1:]) and not (marked and len(words) == 1)):
        return "svmlight"
    return "csv" if marked else None


class Data(tuple):  # type: ignore[type-arg]
    """The result of `read`: unpacks into X and y; `weight`, `offset` and `names` are None if the data has none."""

    weight: Array | None
    offset: Array | None
    names: Any


def read(data: Any, format: str | None = None, *, n_features: int | None = None, **options: Any) -> Data:
    r"""Return all rows of a source at once: X as a CSR matrix and y.

    Parameters
    ----------
    data, format, **options
        As in `source`.
    n_features : int, optional
        The number of columns; by default that of the largest feature.

    Returns
    -------
    X, y : CSR matrix and array
        The result also has `weight`, `offset` and `names` (a function of the column, or None).

    Examples
    --------
    >>> import gossamer as gs
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.svm")
    >>> _ = path.write_text("1 3:0.5 7:2\n-1 4:1\n")
    >>> X, y = gs.read(path)
    >>> X.shape, X.nnz, y
    ((2, 7), 3, array([ 1., -1.]))
    """
    import numpy as np
    from scipy.sparse import csr_matrix

    if is_paths(data):
        options = {"max_features": 2**31 - 1} | options  # empty columns of a sparse matrix take no memory
    rows = source(data, format, **options)
    blocks = list(rows.blocks())
    filled = [block for block in blocks if len(block)]
    width = max([block.width for block in blocks] + [rows.features or 0])
    if n_features is not None:
        if width > n_features:
            raise ValueError(f"n_features is {n_features}, but the data has a feature in column {width}.")
        width = n_features
    moved = np.cumsum([0] + [len(block.index) for block in filled])
    starts = [block.starts[1:] + m for block, m in zip(filled, moved, strict=False)]
    indptr = np.concatenate([np.zeros(1, np.int64), *starts])
    kind = np.int32 if moved[-1] < 2**31 else np.int64
    index = _joined([block.index for block in filled], np.int32)
    X = csr_matrix(
        (_joined([block.value for block in filled], np.float64), index.astype(kind, copy=False), indptr.astype(kind)),
        shape=(len(indptr) - 1, width),
    )
    labels = [block.label for block in filled if block.label is not None]
    y = _joined(labels, np.float64) if labels else np.full(X.shape[0], np.nan)
    result = Data((X, y))
    weighted = any(block.weight is not None for block in filled)
    weights = [np.ones(len(block)) if block.weight is None else block.weight for block in filled]
    result.weight = np.concatenate(weights) if weighted else None
    offsets = [np.zeros(len(block)) if block.rows.offset is None else block.rows.offset for block in filled]
    result.offset = np.concatenate(offsets) if any(block.rows.offset is not None for block in filled) else None
    result.names = rows.name
    return result


def _joined(arrays: list[Array], kind: Any) -> Array:
    import numpy as np

    return np.concatenate(arrays) if arrays else np.empty(0, kind)
