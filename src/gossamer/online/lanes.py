"""Many settings side by side in one pass: learners with lanes (core/path/lanes.hpp), one strength and step each."""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer import _core, methods
from gossamer.frozen import record
from gossamer.validation import Array

TOGETHER = 8  # lanes on one thread: those of the default method then learn in registers


@record
class Lanes:
    """What the lanes differ in: the strength and the step of each."""

    alphas: Array
    steps: Array


def refusal(method: Any, penalty: Any) -> Exception | None:
    """Return an error that says why there is no rule for many strengths at once, or None where there is one."""
    return method.path_refusal(penalty)


def check(method: Any, penalty: Any) -> None:
    """Raise where there is no rule for many strengths at once."""
    error = refusal(method, penalty)
    if error is not None:
        raise error


def make(method: Any, penalty: Any, setup: methods.Setup, lanes: Lanes, together: int | None = None) -> Any:
    """Return a new learner with these lanes, or raise where there is no rule for them.

    Those that are not together learn on several threads; what they learn is the same. FOBOS and RDA do so little for a
    feature that to fetch it once for all lanes is faster.
    """
    check(method, penalty)
    if together is None:
        together = TOGETHER if method.lanes_in_registers else len(lanes.alphas)
    settings = _core.LaneSettings(np.ascontiguousarray(lanes.alphas), np.ascontiguousarray(lanes.steps), together)
    return method.make_lanes(penalty, setup, settings)
