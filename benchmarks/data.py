"""Real data for the benchmarks: the folder named by GOSSAMER_DATA, with one NAME.npz a set."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

UNIT_ROWS = ("amazon", "news20_bigrams")


def folder():
    here = Path(os.environ.get("GOSSAMER_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not here.is_dir():
        sys.exit(
            "Set GOSSAMER_DATA to a folder with the data sets as NAME.npz (data, indices, indptr, shape, y, split)."
        )
    return here


def load(name):
    """Return X and y of the training rows, then of the test rows; sparse sets as CSR, text with rows of length one."""
    z = dict(np.load(folder() / f"{name}.npz", allow_pickle=False))
    if "X" in z:
        X = z["X"].astype(np.float64)
    else:
        X = sp.csr_matrix((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"]), dtype=np.float64)
    if name in UNIT_ROWS:
        X = normalize(X)
    train = z["split"] == 0
    return X[train], z["y"][train], X[~train], z["y"][~train]
