"""The papers' synthetic problems, and the features they make of real data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RANKS = {0.2: 16, 0.3: 9}  # mean |correlation|: the m of the covariance


def correlated(n: int, d: int, correlation: float, seed: np.random.Generator) -> np.ndarray:
    """Return n rows of d features with mean |correlation| 0, .2 or .3, the largest entry of each row 1.

    The covariance is random, as in the paper, which does not say how: AAᵀ/m + .01 I, A normal, d × m. For .3, m = 9 has
    about 340 pairs of 400 features that are more than 80% correlated; the paper's have about 350.
    """
    X = seed.standard_normal((n, d))
    if correlation > 0:
        A = seed.standard_normal((d, m := RANKS[correlation]))
        X = X @ np.linalg.cholesky(A @ A.T / m + 0.01 * np.eye(d)).T
    return X / np.abs(X).max(axis=1, keepdims=True)


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
    n: int,
    d: int,
    k: int,
    zero_rows: int,
    noise: float,
    seed: np.random.Generator,
    X: np.ndarray | None = None,
    weights: Callable[[np.ndarray], np.ndarray] = np.copy,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, y and W: normal X, y = argmax XW, a share of the labels drawn anew.

    W is normal, or what `weights` makes of that; its first rows are zero.
    """
    X = seed.standard_normal((n, d)) if X is None else X
    W = weights(seed.standard_normal((d, k)))
    W[:zero_rows] = 0
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


def strength_for(
    target: float, share_at: Callable[[float], float], most: float, least: float = 0.0, rounds: int = 10
) -> float:
    """Return the strength at which a share that grows with it is nearest the target, by halving log α."""
    low, high = least or most * 1e-4, most
    tried = []
    for _ in range(rounds):
        alpha = float(np.sqrt(low * high))
        share = share_at(alpha)
        tried.append((abs(share - target), alpha))
        low, high = (alpha, high) if share < target else (low, alpha)
        if tried[-1][0] < 0.003:
            break
    return min(tried)[1]


def standardised(X: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both with columns of mean 0 and deviation 1 over X; constant columns become 0."""
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    scale = np.where(deviation > 0, deviation, 1.0)
    return (X - mean) / scale, (X_test - mean) / scale
