"""The papers' data: from a folder, else from scikit-learn's fetchers, else (small runs only) a stand-in made here.

The folder is the one named by GOSSAMER_DATA, by default ../shared/data beside the project; it holds one NAME.npz a set
with X (or data, indices, indptr, shape), y and split (0 = train, 1 = test). Values are raw: counts, bytes, numbers.
"""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import datasets


@dataclass(frozen=True)
class Data:
    """Training and test rows; `source` says where they come from."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    source: str

    @property
    def notes(self) -> list[str]:
        """What a row of the results should say of the data."""
        return [f"Data: {self.source}."]


def folder() -> Path:
    """Return the folder of the data, which need not be there."""
    return Path(os.environ.get("GOSSAMER_DATA", Path(__file__).parents[2] / "shared" / "data"))


def load(name: str, size: Any, topic: str = "CCAT") -> Data:
    """Return a data set; `topic` is the positive class of rcv1."""
    path = folder() / f"{name}.npz"
    if path.exists():
        return _from_folder(name, path, topic)
    if size.quick:
        return STAND_INS[name](name)
    if name not in FETCHERS:
        raise SystemExit(
            f"scikit-learn has no fetcher for {name}: set GOSSAMER_DATA to a folder that holds {name}.npz."
        )
    try:
        return FETCHERS[name](topic)
    except OSError as error:
        raise SystemExit(f"Set GOSSAMER_DATA to a folder that holds {name}.npz, or go online: {error}") from error


def word_pairs(name: str, columns: int) -> np.ndarray | None:
    """Return which columns of a set of words are pairs of words, if its NAME.vocab.txt.gz says so."""
    path = folder() / f"{name}.vocab.txt.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as words:
        pairs = np.flatnonzero([len(word.rstrip("\n").replace("_", " ").split()) > 1 for word in words])
    return pairs if len(pairs) and pairs[-1] < columns else None


def _from_folder(name: str, path: Path, topic: str) -> Data:
    z = dict(np.load(path, allow_pickle=False))
    y = z["y"].astype(np.float64)
    if "X" in z:
        X = z["X"].astype(np.float64)
    else:
        X = sp.csr_matrix((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"]), dtype=np.float64)
    if name == "rcv1":
        number = z["topic_names"].tolist().index(topic)
        rows = np.repeat(np.arange(len(y)), np.diff(z["topic_indptr"]))
        y = np.full(len(y), -1.0)
        y[rows[z["topic_indices"] == number]] = 1.0
    return _split(
        X, y, z["split"] == 0, f"{name}, {np.sum(z['split'] == 0):,} training and {np.sum(z['split'] == 1):,} test rows"
    )


def _split(X: Any, y: np.ndarray, train: np.ndarray, source: str) -> Data:
    return Data(X[train], y[train], X[~train], y[~train], source)


def _first(n: int, rows: int) -> np.ndarray:
    return np.arange(rows) < n


def _openml(name: str, n_train: int) -> Data:
    X, y = datasets.fetch_openml(name, version=1, return_X_y=True, as_frame=False)
    return _split(X.astype(np.float64), y.astype(np.float64), _first(n_train, len(y)), f"{name} of OpenML")


def _rcv1(topic: str) -> Data:
    train, test = (datasets.fetch_rcv1(subset=subset) for subset in ("train", "test"))
    column = train.target_names.tolist().index(topic)
    sides = [np.where(part.target[:, column].toarray()[:, 0] == 1, 1.0, -1.0) for part in (train, test)]
    return Data(train.data, sides[0], test.data, sides[1], "RCV1 of scikit-learn")


def _news20_bigrams(topic: str) -> Data:
    from sklearn.feature_extraction.text import CountVectorizer

    train, test = (datasets.fetch_20newsgroups(subset=subset) for subset in ("train", "test"))
    words = CountVectorizer(ngram_range=(1, 2), binary=True, dtype=np.float64)
    X, X_test = words.fit_transform(train.data), words.transform(test.data)
    sides = [np.where(part.target < 10, 1.0, -1.0) for part in (train, test)]
    return Data(X, sides[0], X_test, sides[1], "20 newsgroups of scikit-learn, words and pairs of words")


FETCHERS = {
    "mnist": lambda topic: _openml("mnist_784", 60_000),
    "landsat": lambda topic: _openml("satimage", 4_435),
    "boston": lambda topic: _openml("boston", 404),
    "ailerons": lambda topic: _openml("ailerons", 7_154),
    "rcv1": _rcv1,
    "news20_bigrams": _news20_bigrams,
}


def _digits(name: str) -> Data:
    """Return scikit-learn's 8 × 8 digits in bytes: all for MNIST, for LandSat the inner 6 × 6 of six classes."""
    X, y = datasets.load_digits(return_X_y=True)
    X, y, source = X * (255 / 16), y.astype(np.float64), f"stand-in for {name}: scikit-learn's digits"
    if name == "landsat":
        X, some = X.reshape(-1, 8, 8)[:, 1:7, 1:7].reshape(-1, 36), y < 6
        X, y = X[some], y[some]
    return _split(X, y, np.arange(len(y)) % 4 != 0, source)


def _diabetes(name: str) -> Data:
    X, y = datasets.load_diabetes(return_X_y=True)
    return _split(X, y, np.arange(len(y)) % 4 != 0, f"stand-in for {name}: scikit-learn's diabetes")


def _words(name: str) -> Data:
    """Return made-up text: 0/1 columns whose frequency falls as 1/rank, a few of which carry the label."""
    n, d, seed = 1200, 4000, np.random.default_rng(0)
    X = sp.csr_matrix(seed.random((n, d)) < np.minimum(10 / (np.arange(d) + 10), 0.5), dtype=np.float64)
    w = np.where(seed.random(d) < 0.1, seed.standard_normal(d), 0.0)
    margins = X @ w
    y = np.where(margins + 0.3 * margins.std() * seed.standard_normal(n) > np.median(margins), 1.0, -1.0)
    return _split(X, y, np.arange(n) % 4 != 0, f"stand-in for {name}: made-up text")


STAND_INS = {
    "mnist": _digits,
    "landsat": _digits,
    "boston": _diabetes,
    "ailerons": _diabetes,
    "rcv1": _words,
    "amazon": _words,
    "news20_bigrams": _words,
}
