"""Checks of a trainer's state from outside, of a pickle or a checkpoint, before anything of it is used.

The compiled part checks itself (core/online/restore.cpp). Here are the rows kept while they decide, and the settings.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gossamer.methods import Lanes
from gossamer.model.schema import Rule, array, either, fault, finite, flag, is_number, listed, one_of, whole
from gossamer.online.units import Units
from gossamer.sources.rows import Rows

_PARTS = ["method", "penalty", "strategy", "targets", "setup", "setting", "learner", "decided", "buffer", "repeats"]
_STEP = Rule("a finite number ≥ 0", lambda v: finite.holds(v) and v >= 0)
_STEPS = Rule(
    "a vector of finite numbers ≥ 0",
    lambda v: array(np.float64).holds(v) and len(v) > 0 and bool(np.isfinite(v).all() and (v >= 0).all()),
)
_ROUND = Rule("a round", lambda v: is_number(v) and (v == math.inf or (v >= 0 and v == math.floor(v))))
_SPANS = Rule(
    "a list of pairs of rounds in rising order",
    lambda v: (
        listed(Rule("a pair", lambda p: listed(_ROUND).holds(p) and len(p) == 2)).holds(v)
        and [end for pair in v for end in pair] == sorted(end for pair in v for end in pair)
    ),
)
_ARRAYS = {"begins": array(np.int64), "ends": array(np.int64), "index": array(np.int32)}
_ARRAYS["value"] = either(array(np.float32), array(np.float64))


def check(state: dict[str, Any], prefix: int) -> None:
    """Raise unless the parts of a trainer's state fit each other; at most `prefix` rows decide on the setting."""
    for name in _PARTS:
        if name not in state:
            raise ValueError(f"The saved state does not belong to this trainer: it comes without {name}.")
    setup, targets, setting = state["setup"], state["targets"], state["setting"]
    _need(setup.outputs, one_of(targets.outputs), "number of outputs")
    _need(state["decided"], whole(0, prefix), "decided")
    if isinstance(setting, Lanes):
        _need(setting.alphas, _STEPS, "setting.alphas")
        _need(setting.steps, _STEPS, "setting.steps")
        _need(len(setting.steps), one_of(len(setting.alphas)), "number of steps")
        _need(setting.relative, flag, "setting.relative")
    elif not callable(setting):
        _need(setting, _STEP, "setting")
    _need(state["repeats"], _SPANS, "repeats")
    if setup.standardized or state.get("units") is not None:
        found = Units.fault(state.get("units"), setup.standardized)
        if found:
            raise ValueError(f"The saved state does not belong to this trainer: {found}")
    _need(state["learner"], Rule("a dict of vectors", lambda v: isinstance(v, dict)), "learner")
    batch = setup.batch_size
    if state["buffer"] is not None:
        _check_rows("buffer", state["buffer"], setup.features, targets, -(-prefix // batch) * batch)
    if state.get("pending") is not None:
        _check_rows("pending", state["pending"], setup.features, targets, batch - 1)


def _check_rows(kept: str, rows: Any, features: int, targets: Any, most: int) -> None:
    _need(rows, Rule("rows", lambda v: isinstance(v, Rows)), kept)
    for name, rule in _ARRAYS.items():
        values = getattr(rows, name)
        _need(values, rule, f"{kept}.{name}")
        _need(values.flags.c_contiguous, one_of(True), f"order of {kept}.{name}")
    _need(rows.dense, one_of(False), f"{kept}.dense")
    n, width = len(rows.begins), 1 if targets.kind == "multiclass" else targets.outputs
    _need(n, whole(0, most), f"number of rows in {kept}")
    _need(len(rows.ends), one_of(n), f"number of ends in {kept}")
    _need(len(rows.value), one_of(len(rows.index)), f"number of values in {kept}")
    within = Rule(
        "a row of entries that are there",
        lambda v: bool(((rows.begins >= 0) & (rows.begins <= v) & (v <= len(rows.index))).all()),
    )
    _need(rows.ends, within, f"{kept}.ends")
    rows.check(features)
    rows.check_size()
    _need(rows.compact(), Rule("features in rising order in each row", _rise), f"{kept}.index")
    _need(rows.y, _matrix(n, width), f"{kept}.y")
    if targets.kind == "multiclass":
        coded = Rule(
            f"a class from 0 to {targets.outputs - 1} in each row",
            lambda y: bool(((y == np.floor(y)) & (y >= 0) & (y < targets.outputs)).all()),
        )
        _need(rows.y, coded, f"{kept}.y")
    elif targets.kind == "regression":
        targets.loss.check_targets(rows.y)
    else:
        _need(rows.y, Rule("-1 or 1 in each place", lambda y: bool((np.abs(y) == 1).all())), f"{kept}.y")
    if rows.weight is not None:
        _need(rows.weight, _matrix(n), f"{kept}.weight")
        _need(rows.weight, Rule("a number ≥ 0 in each row", lambda c: bool((c >= 0).all())), f"{kept}.weight")
    if rows.offset is not None:
        _need(rows.offset, _matrix(n), f"{kept}.offset")


def _rise(rows: Rows) -> bool:
    """Return whether the features of each row rise."""
    row = np.repeat(np.arange(len(rows.begins)), rows.ends - rows.begins)
    return bool(((np.diff(rows.index) > 0) | (np.diff(row) > 0)).all())


def _matrix(*shape: int) -> Rule:
    """Return the rule for finite numbers in an array of a shape."""
    return Rule(
        f"an array of finite numbers, {' × '.join(map(str, shape))},",
        lambda v: (
            array(np.float64, len(shape)).holds(v)
            and v.shape == shape
            and bool(v.flags.c_contiguous and np.isfinite(v).all())
        ),
    )


def _need(value: Any, rule: Rule, what: str) -> None:
    """Raise unless a value is as the rule says."""
    found = fault(value, rule, what)
    if found:
        raise ValueError(f"The saved state does not belong to this trainer: {found}")
