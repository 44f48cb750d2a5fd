"""Many settings side by side in one pass: learners with lanes (core/lanes.hpp), each with a strength and a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer import _core, methods, penalties
from gossamer.frozen import record
from gossamer.validation import Array

TOGETHER = 8  # lanes on one thread: those of the default method then learn in registers


@record
class Lanes:
    """What the lanes differ in: the strength and the pace of each."""

    alphas: Array
    paces: Array


def refusal(method: Any, penalty: Any) -> Exception | None:
    """Return an error that says why there is no rule for many strengths at once, or None where there is one."""
    if not isinstance(method, (methods.Fobos, methods.RDA, methods.AdaGrad, methods.FTRL)):
        return methods.refusal(
            method,
            penalty,
            "on a path: it has no rule for many strengths at once.",
            "Use 'fobos', 'rda', 'adagrad' or 'ftrl', or OnlineClassifier with one strength.",
        )
    if penalty.is_set or isinstance(penalty, penalties.NoPenalty) or not methods.sums_over_features(penalty):
        return methods.refusal(
            method,
            penalty,
            "on a path: it is no sum over features with a strength to choose.",
            "Use 'l1', 'elastic_net', 'berhu', 'l2_squared', 'non_negative_l1', or 'group_l2', 'group_linf', "
            "'sparse_group_l2' on rows.",
        )
    return None


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
    compiled: Any
    match method:
        case methods.Fobos():
            compiled = _core.Fobos()
        case methods.RDA():
            compiled = _core.Rda(float(method.rho))
        case methods.AdaGrad():
            compiled = _core.AdaGradDual() if method.form == "rda" else _core.AdaGradPrimal()
        case methods.FTRL():
            compiled = _core.Ftrl(float(method.beta))
    rows = methods.rowwise(penalty, setup)
    assert rows is not None
    alphas, paces = np.ascontiguousarray(lanes.alphas), np.ascontiguousarray(lanes.paces)
    own = _core.Setup(setup.features, setup.outputs, alphas, paces, setup.fit_intercept)
    return _core.learner(compiled, *rows[:2], own, together or 0)
