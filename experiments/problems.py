"""The papers' synthetic problems, and the features they make of real data."""

from __future__ import annotations

from typing import Any

import numpy as np


def correlated(n: int, d: int, correlation: float, seed: np.random.Generator) -> np.ndarray:
    """Return n rows of d features with mean |correlation| about 0, .2 or .3, the largest entry of each row 1.

    Σ = (1 − s) I + s A'A/d with unit diagonal mixes features through a few common factors; s and the number of factors
    are set so that the mean absolute correlation is the one asked for.
    """
    Z = seed.standard_normal((n, d))
    if correlation > 0:
        factors = 6 if correlation <= 0.2 else 3
        A = seed.standard_normal((factors, d))
        A /= np.linalg.norm(A, axis=0)
        own = np.abs(A.T @ A)
        share = correlation / float(np.mean(own[~np.eye(d, dtype=bool)]))
        sigma = (1 - share) * np.eye(d) + share * (A.T @ A)
        Z = Z @ np.linalg.cholesky(sigma).T
    return Z / np.abs(Z).max(axis=1, keepdims=True)


def noisy_signs(X: np.ndarray, w: np.ndarray, noise: float, seed: np.random.Generator) -> np.ndarray:
    """Return sign(Xw) with a share of the signs turned."""
    y = np.where(X @ w >= 0, 1.0, -1.0)
    turned = seed.permutation(len(y))[: round(noise * len(y))]
    y[turned] *= -1
    return y


def half_sparse(d: int, seed: np.random.Generator) -> np.ndarray:
    """Return d normal weights, a random half of them zero."""
    w = seed.standard_normal(d)
    w[seed.permutation(d)[: d // 2]] = 0
    return w


def multinomial(
    n: int, d: int, k: int, zero_rows: int, noise: float, seed: np.random.Generator, X: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, y and W: normal X, normal W with zero rows, y = argmax XW, a share of the labels drawn anew."""
    X = seed.standard_normal((n, d)) if X is None else X
    W = seed.standard_normal((d, k))
    W[seed.permutation(d)[:zero_rows]] = 0
    y = np.argmax(X @ W, axis=1)
    turned = seed.permutation(n)[: round(noise * n)]
    y[turned] = seed.integers(0, k, len(turned))
    return X, y, W


def products(X: np.ndarray) -> np.ndarray:
    """Return the products of all pairs of columns, both orders: 36 columns make the paper's 1296."""
    return (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)


def gaussian_kernel(X: np.ndarray, support: np.ndarray, width: float) -> np.ndarray:
    """Return exp(−‖x − s‖² / (2 width²)) for all rows x of X and s of the support set."""
    squares = (X**2).sum(axis=1)[:, None] - 2 * (X @ support.T) + (support**2).sum(axis=1)
    return np.exp(-np.maximum(squares, 0) / (2 * width**2))


def sample(X: Any, y: np.ndarray, per_class: int, seed: np.random.Generator) -> np.ndarray:
    """Return the numbers of so many rows of each class, at random."""
    return np.sort(np.concatenate([seed.permutation(np.flatnonzero(y == c))[:per_class] for c in np.unique(y)]))
