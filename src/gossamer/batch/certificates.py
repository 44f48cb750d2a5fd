"""Certificates: how far from the optimum a point can be at most.

For F(w) = f(Xw) + αΩ(w) with f(z) = Σ p_i ℓ(z_i, y_i), every u with Σ p_i u_i = 0 (when there is an intercept) gives a
lower bound of the minimum (Fenchel),

    D(u) = −Σ p_i ℓ*(u_i, y_i) − (αΩ)*(−Xᵀ(p∘u)),

so F(w) − D(u) bounds what is left to gain. At the optimum u is the slope of the loss, so slopes at w, shrunk until the
second term is finite, give a bound that vanishes as w approaches the optimum.

Where no such u is at hand (no penalty on some features, a loss or penalty of the user's own), the length of the
prox-gradient step, ‖(w − prox(w − g/L, α/L)) L‖, is what is reported instead: zero at the optimum and only there,
but no bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gossamer import penalties
from gossamer.validation import Array

DUALITY_GAP = "duality gap"
RESIDUAL = "prox-gradient residual"


@dataclass(frozen=True)
class Certificate:
    """What is known of a point: its objective, and how far that is from the best."""

    objective: float
    gap: float
    name: str  # what `gap` is: "duality gap", a bound on F(w) − min F, or "prox-gradient residual"


def has_dual(penalty: Any, alpha: float) -> bool:
    """Return whether slopes, shrunk, always give a finite bound that is reached at the optimum."""
    match penalty:
        case penalties.NoPenalty():
            return False
        case penalties.Box():
            return bool(np.all(np.isfinite(penalty.low)) and np.all(np.isfinite(penalty.high)))
        case penalties.Simplex() | penalties.L2Ball() | penalties.GroupL2Ball() | penalties.GroupLInfBall():
            return True
        case penalties.L1Ball():
            return penalty.weights is None or bool(np.all(penalty.weights > 0))
        case penalties.KL():
            return alpha > 0
        case penalties.SparseGroupL2():
            return alpha > 0 and (penalty.l1_ratio > 0 or penalty.weights is None or bool(np.all(penalty.weights > 0)))
    if alpha <= 0 or not callable(getattr(penalty, "dual_norm", None)):
        return False
    weights = getattr(penalty, "weights", None)
    return weights is None or bool(np.all(np.asarray(weights) > 0))


def shrinkages(penalty: Any, alpha: float, G: Array) -> list[tuple[float, float]]:
    """Return pairs of a factor s and (αΩ)*(−sG): dual points s·u to try, given G = Xᵀ(p∘u)."""
    if getattr(penalty, "is_set", False) or isinstance(penalty, penalties.KL):
        return [(1.0, _support(penalty, alpha, G))]
    norm = penalty.dual_norm(-G)
    s = 1.0 if norm <= alpha else alpha / norm
    tried = [(s, 0.0)]
    at_one = _conjugate(penalty, alpha, G)
    if at_one is not None and s < 1:
        tried.append((1.0, at_one))
    return tried


def _support(penalty: Any, alpha: float, G: Array) -> float:
    match penalty:
        case penalties.Simplex():
            return float(penalty.radius * np.max(-G))
        case penalties.Box():
            low, high = penalty._bounds(G)
            return float(np.sum(np.maximum(-G * low, -G * high)))
        case penalties.KL():
            p, v = penalty.prior_for(G.size), -G.reshape(-1) / alpha
            used = p > 0
            top = v[used].max()
            return float(alpha * (top + np.log(np.sum(p[used] * np.exp(v[used] - top)))))
    return float(penalty.radius * penalty.dual_norm(-G))


def _conjugate(penalty: Any, alpha: float, G: Array) -> float | None:
    """Return (αΩ)*(−G) where it is finite everywhere, None where Ω is a norm."""
    weights = getattr(penalty, "weights", None)
    a = alpha * (1.0 if weights is None else (weights[:, None] if G.ndim == 2 else weights))
    size = np.abs(G)
    match penalty:
        case penalties.L2Squared():
            return float(np.sum(size**2 / (2 * a)))
        case penalties.ElasticNet() if penalty.l1_ratio < 1:
            over = np.maximum(size - a * penalty.l1_ratio, 0)
            return float(np.sum(over**2 / (2 * a * (1 - penalty.l1_ratio))))
        case penalties.Berhu():
            over = np.maximum((size / a) ** 2 - 1, 0)
            return float(np.sum(a * penalty.gamma * over / 2))
    return None


def residual(penalty: Any, alpha: float, W: Array, G: Array, lipschitz: float) -> float:
    """Return the length of the prox-gradient step from W, in units of the gradient."""
    moved = W - penalty.prox(W - G / lipschitz, alpha / lipschitz)
    return float(np.linalg.norm(moved) * lipschitz) if math.isfinite(lipschitz) else math.inf
