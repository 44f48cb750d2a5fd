"""Penalties Ω(w) and sets, with the same methods.

Every penalty has

- ``value(w)``: Ω(w); for a set 0 inside and ∞ outside,
- ``prox(v, step)`` = argmin_w ½‖w − v‖² + step · Ω(w); for a set the projection, for any step,
- ``dual_norm(v)``: the smallest λ ≥ 0 with v ∈ λ ∂Ω(0). If Ω is a norm, that is its dual norm; in every case it is the
  smallest strength at which w = 0 is optimal. A ball has the dual norm of the norm it bounds.
- ``is_set``: True for a set.

w is a vector over the features, or a matrix with one row per feature and one column per output. Group penalties take
rows as groups, or the user's groups of features (over all outputs); all others take a matrix as one long vector.
Weights are one number per feature (`L1` and its kin) or one per group. A weight of ∞ bars a feature, or a whole group:
Ω is ∞ unless its weights are zero, at every strength, and they stay zero. The strength α belongs to the estimator, not
to the penalty.

A point counts as inside a set up to rounding error: 1e-9 of the radius, 1e-4 in float32.

What the rest of the library must know about a penalty is on its class too: see `Penalty` for the facts and methods and
their defaults. `PENALTIES.part` registers a class.
"""

from gossamer.penalties.base import PENALTIES as PENALTIES
from gossamer.penalties.base import OwnPenalty as OwnPenalty
from gossamer.penalties.base import Penalty as Penalty
from gossamer.penalties.base import as_penalty as as_penalty
from gossamer.penalties.base import resolve as resolve
from gossamer.penalties.of_blocks import L2, GroupL2, GroupLInf, LInf, NonNegativeGroupL2, SparseGroupL2
from gossamer.penalties.of_numbers import L1, Berhu, ElasticNet, L2Squared, NonNegativeL1, NoPenalty, SmoothL1
from gossamer.penalties.sets import KL, Box, GroupL2Ball, GroupLInfBall, L1Ball, L2Ball, Simplex

__all__ = [
    "KL",
    "L1",
    "L2",
    "Berhu",
    "Box",
    "ElasticNet",
    "GroupL2",
    "GroupL2Ball",
    "GroupLInf",
    "GroupLInfBall",
    "L1Ball",
    "L2Ball",
    "L2Squared",
    "LInf",
    "NoPenalty",
    "NonNegativeGroupL2",
    "NonNegativeL1",
    "Simplex",
    "SmoothL1",
    "SparseGroupL2",
]
