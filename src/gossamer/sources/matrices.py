"""Matrices in memory, and iterators of matrices, as sources."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gossamer import _core
from gossamer.sources.base import Source
from gossamer.sources.blocks import ROWS, Block, Position, ReadError
from gossamer.sources.rows import Rows
from gossamer.validation import Array, floats, refuse_odd, sparse_matrix


def csr_of(X: Any) -> tuple[Array, Array, Array, int]:
    """Return starts, index, value and width of a dense or sparse matrix, checked."""
    if hasattr(X, "tocsr"):
        X = sparse_matrix(X, "X")
        value = np.ascontiguousarray(X.data if X.data.dtype in (np.float32, np.float64) else X.data.astype(np.float64))
        if not _core.all_finite(value):
            raise ReadError("X holds NaN or infinity.")
        if X.shape[1] >= 2**31:
            raise ReadError(f"X has {X.shape[1]} features; at most 2^31 - 1 are possible.")
        return np.asarray(X.indptr, np.int64), np.asarray(X.indices, np.int32), value, X.shape[1]
    X = floats(X, "X", ndim=(2,))
    row, index = np.nonzero(X)
    starts = np.searchsorted(row, np.arange(len(X) + 1)).astype(np.int64)
    return starts, index.astype(np.int32), np.ascontiguousarray(X[row, index]), X.shape[1]


class Matrices(Source):
    """Blocks (X, y) or (X, y, weight) from an iterable; X alone if no labels are needed."""

    def __init__(self, parts: Iterable[Any], *, need_labels: bool = True) -> None:
        super().__init__()
        self.need_labels = need_labels
        self.parts = parts
        self.rereadable = isinstance(parts, (list, tuple))
        if isinstance(parts, (list, tuple)) and len(parts) == 1:
            self.features = int(np.shape(parts[0][0])[1]) if len(np.shape(parts[0][0])) == 2 else None

    @property
    def numbers(self) -> int:
        if not isinstance(self.parts, (list, tuple)):  # look at the first part, and put it back
            parts = iter(self.parts)
            first = list(itertools.islice(parts, 1))
            self.parts = itertools.chain(first, parts)
        else:
            first = list(self.parts[:1])
        X = first[0][0] if first and isinstance(first[0], tuple) else first[0] if first else None
        return 0 if X is None or hasattr(X, "tocsr") or len(np.shape(X)) != 2 else int(np.shape(X)[1])

    def _read(self, start: Position) -> Iterator[Block]:
        at = 0
        for part in self.parts:
            X, y, weight = (*(part if isinstance(part, tuple) else (part,)), None, None)[:3]
            starts, index, value, width = csr_of(X)
            n = len(starts) - 1
            refuse_odd(y, "y")
            y = None if y is None else np.asarray(y)
            if self.need_labels and (y is None or y.shape != (n,)):
                raise ReadError(f"A block has {n} rows, and its labels {'are missing' if y is None else y.shape}.")
            weight = None if weight is None else floats(weight, "weight", ndim=(1,)).astype(np.float64)
            if weight is not None and (len(weight) != n or (weight < 0).any()):
                raise ReadError(f"Weights must be one per row and not negative; a block has {n} rows.")
            rows = Rows.of(starts, index, value, y, weight)
            for begin in range(0, n, ROWS):
                end = min(begin + ROWS, n)
                at += end - begin
                if at <= start.rows:
                    continue
                yield Block(rows[begin:end].compact(), width, Position(0, 0, 0, at))
