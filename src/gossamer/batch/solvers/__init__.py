"""Batch solvers, one file each. A solver sees only an `Objective`; `base` defines what a solver is."""

from __future__ import annotations

from typing import Any

from gossamer.batch.objective import Objective
from gossamer.batch.solvers import coordinate
from gossamer.batch.solvers.base import SOLVERS
from gossamer.batch.solvers.coordinate import CoordinateDescent
from gossamer.batch.solvers.fista import FISTA
from gossamer.batch.solvers.fobos import BatchFobos
from gossamer.batch.solvers.interior_point import InteriorPoint
from gossamer.batch.solvers.projected_gradient import ProjectedGradient
from gossamer.batch.solvers.smoothing import Smoothing
from gossamer.batch.solvers.sparsa import SpaRSA

__all__ = ["FISTA", "BatchFobos", "CoordinateDescent", "InteriorPoint", "ProjectedGradient", "Smoothing", "SpaRSA"]


def resolve(spec: Any, objective: Objective) -> Any:
    """Return the solver called `spec`; "auto" is chosen for the problem.

    "auto" is coordinate descent if the penalty is a sum over features or blocks and the loss has a second derivative,
    FISTA for other smooth problems, and smoothing for losses with kinks (FOBOS if they are not known).
    """
    if isinstance(spec, str) and spec == "auto":
        if not objective.smooth:
            return Smoothing() if objective.loss.smooth_kin else BatchFobos()
        if objective.mean.has_curvature and coordinate.goes_with(objective):
            return CoordinateDescent()
        return FISTA()
    return SOLVERS.resolve(spec)
