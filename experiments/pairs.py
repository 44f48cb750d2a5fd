"""Pairs of handwritten digits, and the online methods that the RDA paper sets side by side on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import gossamer as gs
from experiments import data

GAMMA = 5000.0
SMALL = 1e-5  # weights under it count as zero for methods that never reach zero


@dataclass(frozen=True)
class Pair:
    """Two digits, raw pixels: +1 is the first."""

    X: sp.csr_matrix
    y: np.ndarray
    X_test: sp.csr_matrix
    y_test: np.ndarray

    def error(self, w: np.ndarray) -> float:
        """Return the share of the test rows that the sign of <w, x> gets wrong."""
        return float(np.mean(self.y_test * (self.X_test @ w) <= 0))


def pair(digits: data.Data, first: int, second: int) -> Pair:
    """Return the rows of two of the digits."""
    sides = []
    for X, y in ((digits.X, digits.y), (digits.X_test, digits.y_test)):
        some = (y == first) | (y == second)
        sides += [sp.csr_matrix(X[some]), np.where(y[some] == first, 1, -1)]
    return Pair(*sides)


def online(name: str, alpha: float, rounds: int, **settings) -> gs.OnlineClassifier:
    """Return a learner as in the paper: no intercept, γ = 5000, for SGD and TG the constant step √(2/T) / γ."""
    step = gs.Constant(np.sqrt(2 / rounds) / GAMMA)
    method = {
        "SGD": gs.Subgradient(step),
        "TG, K = 1": gs.TruncatedGradient(step, period=1),
        "TG, K = 10": gs.TruncatedGradient(step, period=10),
        "RDA, γρ = 0": gs.RDA(GAMMA),
        "RDA, γρ = 25": gs.RDA(GAMMA, rho=0.005),
    }[name]
    return gs.OnlineClassifier(alpha=alpha, method=method, fit_intercept=False, **settings)


def count(name: str, w: np.ndarray) -> int:
    """Return the non-zeros, as the paper counts them: exact where every round makes zeros, else above 1e-5."""
    exact = name.startswith("RDA") or name == "TG, K = 1"
    return int(np.sum(w != 0 if exact else np.abs(w) > SMALL))


def picture(w: np.ndarray) -> str:
    """Return the weights as one digit a pixel: 4 is zero, 8 the largest weight, 0 the same below zero."""
    levels = np.sign(w) * np.ceil(4 * np.abs(w) / max(np.abs(w).max(), 1e-300))
    return "".join(map(str, 4 + levels.astype(int)))


def show(axes: Any, picture: str) -> None:
    """Draw such a picture: gray is zero, bright above, dark below."""
    side = int(np.sqrt(len(picture)))
    axes.imshow(np.array(list(picture), int).reshape(side, side), cmap="gray", vmin=0, vmax=8)
    axes.set(xticks=[], yticks=[])
