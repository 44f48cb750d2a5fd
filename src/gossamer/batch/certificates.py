"""Certificates: upper bounds on F(w) − min F.

For F(w) = f(Xw) + αΩ(w) with f(z) = Σ p_i ℓ(z_i, y_i), every u with Σ p_i u_i = 0 (when there is an intercept) gives a
lower bound on the minimum (Fenchel),

    D(u) = −Σ p_i ℓ*(u_i, y_i) − (αΩ)*(−Xᵀ(p∘u)),

so the duality gap F(w) − D(u) is an upper bound on F(w) − min F. At the optimum u is the slope of the loss, so slopes
at w, shrunk until the second term is finite, give a bound that vanishes as w approaches the optimum.

If no such u is known (no penalty on some features, a custom loss or penalty), the length of the prox-gradient step,
‖(w − prox(w − g/L, α/L)) L‖, is reported instead. It is zero at the optimum and only there, but it is no bound. The
penalty says which dual points it allows (`Penalty.has_dual`, `Penalty.shrinkages`).
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
    """The objective at a point, and how far from the minimum it is."""

    objective: float
    gap: float
    name: str  # what `gap` is: "duality gap", a bound on F(w) − min F, or "prox-gradient residual"


def residual(penalty: Penalty, alpha: float, W: Array, G: Array, lipschitz: float) -> float:
    """Return the length of the prox-gradient step from W, in units of the gradient."""
    moved = W - penalty.prox(W - G / lipschitz, alpha / lipschitz)
    return float(np.linalg.norm(moved) * lipschitz) if math.isfinite(lipschitz) else math.inf
