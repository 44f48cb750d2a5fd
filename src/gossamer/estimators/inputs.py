"""What estimators learn from and predict: matrices as they are, tables and files through a source.

A matrix is an array, a sparse matrix or a list of rows. A data frame of numbers without missing values is one too where
y is given apart: its columns are the features, as in scikit-learn. Anything else with columns, a file or a list of
files is read by a source (`gossamer.source`), which makes features of numbers, categories, text and dates. The fitted
estimator remembers how: `source_settings_`. It reads other data in the same way.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_regressor

from gossamer import penalties, sources
from gossamer.estimators import targets
from gossamer.groups import NamedGroups
from gossamer.registry import record
from gossamer.sources.base import Source
from gossamer.sources.blocks import Block
from gossamer.sources.feature_names import FeatureNames
from gossamer.sources.look import told_of_dates
from gossamer.sources.roles import EITHER, MISWRITTEN
from gossamer.sources.rows import refuse_large_offsets
from gossamer.validation import Array, floats, refuse_odd, shape_words

REMEMBERED = ("source_settings_", "source_names_", "_source_state", "_source_columns")  # of an estimator: how it read


# Matrix or table


def is_table(X: Any) -> bool:
    """Return whether X is a file, a table or a source, not a matrix.

    >>> is_table("prices.csv"), is_table([[1.0, 2.0]]), is_table(["a.csv", "b.csv"])
    (True, False, True)
    """
    if type(X) is np.ndarray or sp.issparse(X):
        return False
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and isinstance(X[0], (str, os.PathLike))
    return isinstance(X, (str, os.PathLike, Source)) or hasattr(X, "__arrow_c_stream__") or sources.is_table(X)


def learns_by_source(X: Any, y: Any, offset: Any, options: dict[str, Any], before: Any = None) -> bool:
    """Return whether `fit` reads X by a source; `before` is the estimator if it continues from what it has learned."""
    if isinstance(y, str):
        raise TypeError(f"y={y!r} is a name; the column to learn is named by target={y!r}.")
    if not is_table(X):
        if (isinstance(X, dict) and not hasattr(X, "tocsr")) or (isinstance(X, list) and X and isinstance(X[0], dict)):
            word = "a dict" if isinstance(X, dict) else "a list of dicts"
            raise TypeError(f"X is {word}; a table or a matrix is needed, for instance pandas.DataFrame(X).")
        if options:
            raise TypeError(
                f"fit got {_listed(options)}; such options are for files and tables, and X is a matrix. "
                "Was another parameter meant? There are sample_weight and offset."
            )
        return False
    if y is None or options or isinstance(offset, str):
        return True
    return predicts_by_source(before, X) if before is not None else not is_matrix_of_numbers(X)


def predicts_by_source(estimator: Any, X: Any) -> bool:
    """Return whether predictions read X by a source."""
    if not is_table(X):
        return False
    return hasattr(estimator, "source_settings_") or _kinds(X) is None


def is_matrix_of_numbers(X: Any) -> bool:
    """Return whether a data frame holds numbers only, and none is missing."""
    kinds = _kinds(X)
    if kinds is None or not all(map(_is_real, kinds)):
        return False
    if hasattr(X, "isna"):  # pandas
        return not X.isna().to_numpy().any()
    values = np.asarray(X)
    return values.dtype.kind != "O" and not (values.dtype.kind == "f" and np.isnan(values).any())


def _kinds(X: Any) -> list[Any] | None:
    """Return the types of the columns of a frame that scikit-learn takes (pandas, polars, Arrow); None of others."""
    if hasattr(X, "column_names") and hasattr(X, "__array__"):  # Arrow
        return list(X.schema.types)
    named = hasattr(X, "__array__") and hasattr(X, "dtypes") and hasattr(X, "columns")
    return list(X.dtypes) if named else None


def _is_real(dtype: Any) -> bool:
    if hasattr(dtype, "kind"):  # NumPy, pandas
        return dtype.kind in "biuf"
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return str(dtype).startswith(("int", "uint", "float", "double", "halffloat", "bool"))  # Arrow


# Sources


class Labelled(Source):
    """A source with labels, weights or offsets that are given apart, one per row."""

    def __init__(self, rows: Source, y: Array | None, weight: Array | None, offset: Array | None) -> None:
        super().__init__()
        self.rows, self.given = rows, {"y": y, "weight": weight, "offset": offset}
        self.rereadable, self.features = rows.rereadable, rows.features

    @property
    def names(self) -> Any:  # type: ignore[override]
        """The names of the features."""
        return self.rows.names

    def settle(self) -> None:
        """Decide on how to read the rows."""
        self.rows.settle()

    @property
    def numbers(self) -> int:
        """How many of the first features are numbers."""
        return self.rows.numbers

    def blocks(self, start: Any = None) -> Generator[Block, None, None]:
        """Yield the blocks with what is given."""
        given = {name: values for name, values in self.given.items() if values is not None}
        at = 0 if start is None else start.rows
        for block in self.rows.blocks(start):
            for name in given:
                if name != "y" and getattr(block.rows, name) is not None:
                    word = "sample_weight" if name == "weight" else name
                    raise ValueError(f"The table has a column of the role {name!r}, and {word} is given too: use one.")
            part = slice(at, at + len(block))
            at += len(block)
            self._check_length(at, False)
            more: dict[str, Any] = {name: values[part] for name, values in given.items()}
            yield replace(block, rows=replace(block.rows, **more))
        self._check_length(at, True)

    def _check_length(self, rows: int, all_read: bool) -> None:
        for name, values in self.given.items():
            if values is not None and (len(values) < rows or (all_read and len(values) != rows)):
                word = "sample_weight" if name == "weight" else name
                count = f"{rows}" if all_read else f"more than {len(values)}"
                raise ValueError(
                    f"{word} has {len(values)} entries, one per row is needed; the table has {count} rows."
                )

    def settings(self) -> dict[str, Any]:
        """Return how the rows are read."""
        return self.rows.settings()

    @property
    def _origins(self) -> Any:
        return self.rows._origins


def opened(
    estimator: Any,
    data: Any,
    options: dict[str, Any],
    *,
    y: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
    fresh: bool = True,
) -> Source:
    """Return the source to learn from; an estimator that is not `fresh` has learned before, and reads as it did."""
    if y is not None and options.get("target") is not None:
        raise TypeError(f"y is given, and target={options['target']!r} too: use one of them.")
    if y is not None:
        options = {"need_labels": False} | options
    if isinstance(offset, str):  # the name of a column
        options, offset = options | {"offset": offset}, None
    rows = sources.source(data, **options) if fresh else reopened(estimator, data, **options)
    if y is None and sample_weight is None and offset is None:
        return rows
    weight = None if sample_weight is None else checked_weights(sample_weight)
    return Labelled(rows, None if y is None else _labels(y), weight, checked_offset(offset))


def reopened(estimator: Any, data: Any, **options: Any) -> Source:
    """Return a source that reads other data as the estimator has read."""
    settings = getattr(estimator, "source_settings_", None)
    if settings is None and hasattr(estimator, "feature_names_in_"):
        settings = {"numbers": estimator.feature_names_in_.tolist(), "categories": []}
    if isinstance(data, Source) and settings and hasattr(data, "columns"):  # its own guesses do not count
        data = getattr(data, "paths", None) or getattr(data, "data", data)
    rows = data if isinstance(data, Source) else sources.again(data, settings or {}, **options)
    state = getattr(estimator, "_source_state", None)
    if state is not None and rows.names is not None:
        rows.names.restore(state)
    return rows


def remember(estimator: Any, rows: Source, width: int, used: Array) -> None:
    """Keep how a source was read, and the names of the features in use, in an estimator that learned from it."""
    before = getattr(estimator, "source_names_", {})
    forget(estimator)
    _warn_of_misread(rows)
    estimator.source_settings_ = rows.settings()
    if rows.names is None:
        return
    names = {j: rows.name(j) or before.get(j, "") for j in used.tolist()}
    estimator.source_names_ = names
    numbered = rows.names if isinstance(rows.names, FeatureNames) else rows.names.values
    if numbered.bits == 0:  # features have numbers in the order in which they appeared
        estimator._source_state = rows.names.state()
        estimator.feature_names_in_ = np.array([rows.name(j) for j in range(width)], dtype=object)


def _warn_of_misread(rows: Source) -> None:
    """Warn of columns whose numbers are written in a way that is not understood, and of dates with two readings."""
    why = getattr(getattr(getattr(rows, "rows", rows), "columns", None), "why", {})
    for name, reason in why.items():
        if reason == EITHER:
            warnings.warn(f"{told_of_dates(name)}.", stacklevel=2)
        if reason.startswith(MISWRITTEN):
            warnings.warn(
                f"column {name!r} holds {reason}, and they are read as words: write them with digits and a point, as "
                f"in 1234.5; or say what they are: roles={{{name!r}: 'category'}}.",
                stacklevel=2,
            )


def forget(estimator: Any) -> None:
    """Drop how an estimator read before."""
    for name in (*REMEMBERED, "feature_names_in_"):
        estimator.__dict__.pop(name, None)


# What is read


@record
class Table:
    """All rows of a table."""

    X: Any  # CSR
    y: Array
    weight: Array | None
    offset: Array | None


def matrix(
    estimator: Any, X: Any, y: Any, sample_weight: Any, offset: Any, options: dict[str, Any]
) -> tuple[Any, Any, Any, Any]:
    """Return X, y, weights and offsets for an estimator that learns from all rows at once.

    A matrix is returned as it is, for other checks. Of a table all rows are read, and the estimator, which is fresh,
    remembers how. Categories have exact names unless `bits` asks for hashing.
    """
    forget(estimator)
    if not learns_by_source(X, y, offset, options):
        return X, y, sample_weight, offset
    if not isinstance(X, Source) and _has_columns(X) and "bits" not in options:
        options = {"one_hot": True} | options
    rows = opened(estimator, X, options, y=y, sample_weight=sample_weight, offset=offset)
    found = _read(rows, estimator)
    used = np.unique(found.X.indices)
    remember(estimator, rows, found.X.shape[1], used)
    if isinstance(penalties.as_penalty(estimator.penalty).groups, NamedGroups) and rows.column_names is not None:
        column_of = np.full(found.X.shape[1], -1)
        column_of[used] = rows.column_of(used)
        estimator._source_columns = (rows.column_names, column_of)
    return found.X, found.y, found.weight, found.offset


def other(estimator: Any, X: Any, y: Any, offset: Any) -> Table:
    """Return all rows of other data with labels, read as the training data was."""
    rows = opened(estimator, X, {}, y=y, offset=offset, fresh=False)
    return _read(rows, estimator, estimator.n_features_in_)


def _read(rows: Source, estimator: Any, width: int | None = None) -> Table:
    found = sources.read(rows)
    X, y = found
    targets.refuse_other_kind(y, is_regressor(estimator), type(estimator).__name__)
    y = y if is_regressor(estimator) else targets.whole_numbers(y)
    X = X if width is None or X.shape[1] == width else X[:, :width]
    return Table(X, y, found.weight, found.offset)


def _has_columns(data: Any) -> bool:
    if not sources.is_paths(data):
        return True
    from gossamer.sources import files

    return sources.detect(files.expanded(data)[0]) in sources.TABLES


def each_matrix(estimator: Any, data: Any, **options: Any) -> Iterator[tuple[Any, Block]]:
    """Yield the blocks of other data as CSR matrices with the features of the estimator; new ones are left out."""
    rows = reopened(estimator, data, **{"need_labels": False} | options)
    width = estimator.n_features_in_
    for block in rows.blocks():
        starts, index, value = block.starts, block.index, block.value
        if block.width > width:
            stay = index < width
            starts = np.concatenate([[0], np.cumsum(stay)])[starts]
            index, value = index[stay], value[stay]
        yield sp.csr_array((value, index, starts), shape=(len(block), width)), block


# Numbers per row


def checked_weights(sample_weight: Any, n: int | None = None) -> Array:
    """Return one weight per row, finite and not negative; all zeros are allowed here."""
    if isinstance(sample_weight, str):
        raise TypeError(
            f"sample_weight={sample_weight!r} is a name; a column of weights is named by weight={sample_weight!r}, "
            "beside target=."
        )
    refuse_odd(sample_weight, "sample_weight")
    sample_weight = np.asarray(sample_weight)
    if sample_weight.ndim == 0 and n is not None:
        sample_weight = np.full(n, sample_weight)
    weight = floats(sample_weight, "sample_weight", ndim=(1,)).astype(np.float64)
    if n is not None and len(weight) != n:
        raise ValueError(f"sample_weight must have one entry per row: there are {len(weight)} weights and {n} rows.")
    if (weight < 0).any():
        raise ValueError(f"sample_weight must not be negative; it holds {weight.min():g}.")
    return weight


def checked_offset(offset: Any, n: int | None = None) -> Array | None:
    """Return one offset per row, finite."""
    if offset is None:
        return None
    refuse_odd(offset, "offset")
    values = floats(offset, "offset", ndim=(1,)).astype(np.float64)
    if n is not None and len(values) != n:
        raise ValueError(f"offset must have one entry per row: there are {len(values)} offsets and {n} rows.")
    refuse_large_offsets(values)
    return values


def _labels(y: Any) -> Array:
    refuse_odd(y, "y")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim == 0 or y.ndim > 2:
        raise ValueError(f"y must have one entry per row of the table; it is {shape_words(y.shape)}.")
    if y.dtype.kind == "O":
        y = np.array(y.tolist())
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        i = int(np.flatnonzero(~np.isfinite(y.reshape(len(y), -1)).all(axis=1))[0])
        raise ValueError(f"Input y contains NaN or infinity: y[{i}] is {y[i]}.")
    return y


def _listed(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}=" for name in options)
