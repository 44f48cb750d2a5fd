"""Sparse matrices with far more columns than entries: nothing here takes memory or time for columns without entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gossamer.validation import Array

WIDE = 1 << 16  # columns, from which on their number matters
DENSE = 1 << 26  # weights: more of them are kept as a sparse matrix where most are zero


def touched(X: Any) -> Array | None:
    """Return the columns that have entries if there are far fewer of them than columns, otherwise None.

    Where there are no entries at all, the first column is returned.
    """
    if not sp.issparse(X) or X.shape[1] <= max(WIDE, 8 * X.nnz):
        return None
    columns = np.unique(X.indices) if X.format == "csr" else np.flatnonzero(np.diff(X.indptr))
    return (columns if len(columns) else np.zeros(1)).astype(np.int64)


def selected(X: Any, columns: Array) -> Any:
    """Return these columns of a sparse matrix (increasing numbers), as CSR.

    >>> selected(sp.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), np.array([0, 2])).toarray()
    array([[1., 2.],
           [0., 0.]])
    """
    if X.format != "csr":
        return X[:, columns].tocsr()
    if len(columns) == 0:
        return sp.csr_array((X.shape[0], 0), dtype=X.dtype)
    place = np.minimum(np.searchsorted(columns, X.indices), len(columns) - 1)
    stay = columns[place] == X.indices
    starts = np.concatenate([[0], np.cumsum(stay)])[X.indptr]
    return sp.csr_array((X.data[stay], place[stay], starts), shape=(X.shape[0], len(columns)))


def spread(W: Array, columns: Array, width: int) -> Any:
    """Return Wᵀ, one row per output, over all `width` features: a sparse matrix beyond `DENSE` numbers.

    `columns` are the features of the rows of W.
    """
    if width * W.shape[1] > DENSE:
        small = sp.csr_matrix(W.T)
        return sp.csr_matrix((small.data, columns[small.indices], small.indptr), shape=(W.shape[1], width))
    coef = np.zeros((W.shape[1], width))
    coef[:, columns] = W.T
    return coef
