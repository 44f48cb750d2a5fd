"""Certificates: how far from the optimum a point can be at most.

For F(w) = f(Xw) + αΩ(w) with f(z) = Σ p_i ℓ(z_i, y_i), every u with Σ p_i u_i = 0 (when there is an intercept) gives a
lower bound of the minimum (Fenchel),

    D(u) = −Σ p_i ℓ*(u_i, y_i) − (αΩ)*(−Xᵀ(p∘u)),

so F(w) − D(u) bounds what is left to gain. At the optimum u is the slope of the loss, so slopes at w, shrunk until the
second term is finite, give a bound that vanishes as w approaches the optimum.

Where no such u is at hand (no penalty on some features, a loss or penalty of the user's own), the length of the
prox-gradient step, ‖(w − prox(w − g/L, α/L)) L‖, is what is reported instead: zero at the optimum and only there,
but no bound. A penalty says itself which dual points it allows (`Penalty.has_dual`, `Penalty.shrinkages`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gossamer.penalties import Penalty
from gossamer.validation import Array

DUALITY_GAP = "duality gap"
RESIDUAL = "prox-gradient residual"


@dataclass(frozen=True)
class Certificate:
    """What is known of a point: its objective, and how far that is from the best."""

    objective: float
    gap: float
    name: str  # what `gap` is: "duality gap", a bound on F(w) − min F, or "prox-gradient residual"


def residual(penalty: Penalty, alpha: float, W: Array, G: Array, lipschitz: float) -> float:
    """Return the length of the prox-gradient step from W, in units of the gradient."""
    moved = W - penalty.prox(W - G / lipschitz, alpha / lipschitz)
    return float(np.linalg.norm(moved) * lipschitz) if math.isfinite(lipschitz) else math.inf
