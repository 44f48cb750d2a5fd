"""Many settings side by side in one pass: learners with lanes (core/path/lane_rule.hpp), one strength and step each."""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer import methods
from gossamer.frozen import record
from gossamer.validation import Array


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


def make(method: Any, penalty: Any, setup: methods.Setup, lanes: Lanes, together: int = 0) -> Any:
    """Return a new learner with these lanes, or raise where there is no rule for them.

    `together` is how many of them learn on one thread, 0 for what is fastest; what they learn is the same.
    """
    check(method, penalty)
    alphas, steps = np.ascontiguousarray(lanes.alphas), np.ascontiguousarray(lanes.steps)
    return method.make_lanes(penalty, setup, alphas, steps, together)
