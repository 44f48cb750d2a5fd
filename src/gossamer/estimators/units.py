"""Columns in units of their standard deviation, so that a penalty treats all alike: what `standardize` means.

The weights are given back in the units of the data. Columns are divided and not centred: an intercept takes up any
constant, so centring changes no optimum, and sparse data stays sparse. A column that is constant stays as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gossamer.validation import Array

_BLOCK = 1 << 22  # numbers of a dense matrix that are looked at at a time


def standardizes(standardize: Any, dense: bool) -> bool:
    """Return whether the columns of a matrix are put in units of their standard deviation; raise for other settings.

    >>> standardizes("auto", dense=True), standardizes("auto", dense=False), standardizes(True, dense=False)
    (True, False, True)
    """
    if isinstance(standardize, str) and standardize == "auto":
        return dense
    if not isinstance(standardize, (bool, np.bool_)):
        raise ValueError(
            f"standardize must be True, False or 'auto' (arrays, not sparse matrices); {standardize!r} was given."
        )
    return bool(standardize)


def spreads(X: Any, weight: Array | None = None) -> Array:
    """Return the standard deviation of each column of a matrix with weighted rows; 1 for constant columns.

    >>> spreads(np.array([[1.0, 5.0, 0.0], [3.0, 5.0, 0.0]])), spreads(sp.csr_array([[0.0], [4.0]]))
    (array([1., 1., 1.]), array([2.]))
    """
    n, d = X.shape
    c = np.ones(n) if weight is None else weight / weight.max()
    total = c.sum()
    largest = abs(X).max(axis=0)
    largest = largest.toarray().ravel() if sp.issparse(X) else np.asarray(largest)
    unit = np.where(largest > 0, largest, 1.0).astype(np.float64)  # squares of what is left do not overflow
    if sp.issparse(X):
        rows = X.tocsr()
        of_row = np.repeat(c, np.diff(rows.indptr))
        value = rows.data / unit[rows.indices]
        mean = np.bincount(rows.indices, of_row * value, d) / total
        squares = np.bincount(rows.indices, of_row * (value - mean[rows.indices]) ** 2, d)
        squares += np.maximum(total - np.bincount(rows.indices, of_row, d), 0.0) * mean**2
    else:
        at_a_time = max(1, _BLOCK // d)
        blocks = [(c[i : i + at_a_time], X[i : i + at_a_time]) for i in range(0, n, at_a_time)]
        mean = sum(p @ (part / unit) for p, part in blocks) / total
        squares = sum(p @ (part / unit - mean) ** 2 for p, part in blocks)
    found = np.sqrt(squares / total)
    return np.where(found > 1e-12, found * unit, 1.0)


def divided(X: Any, spread: Array) -> Any:
    """Return a matrix, CSR, CSC or dense, with each column divided by its spread."""
    if not sp.issparse(X):
        return (X / spread).astype(X.dtype, copy=False)
    by = spread[X.indices] if X.format == "csr" else np.repeat(spread, np.diff(X.indptr))
    other = X.copy()
    other.data = (X.data / by).astype(X.dtype, copy=False)
    return other
