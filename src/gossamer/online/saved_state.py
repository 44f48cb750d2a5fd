"""Checks of a trainer's state from outside, of a pickle or a checkpoint, before anything of it is used.

The compiled part checks itself (core/online/restore.cpp). Here are the rows kept while they decide, and the settings.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gossamer.methods import Lanes
from gossamer.sources.rows import Rows
from gossamer.validation import Array

_PARTS = ["method", "penalty", "strategy", "targets", "setup", "setting", "learner", "decided", "buffer", "repeats"]
_ARRAYS = {"begins": (np.int64,), "ends": (np.int64,), "index": (np.int32,), "value": (np.float32, np.float64)}


def check(state: dict[str, Any], prefix: int) -> None:
    """Raise unless the parts of a trainer's state fit each other; at most `prefix` rows decide on the setting."""
    missing = [name for name in _PARTS if name not in state]
    _need(not missing, "its content", f"without {', '.join(missing)}", "all of it")
    setup, targets = state["setup"], state["targets"]
    _need(setup.outputs == targets.outputs, "setup", f"{setup.outputs} outputs", f"{targets.outputs}, one per target")
    decided = state["decided"]
    _need(_whole(decided) and 0 <= decided <= prefix, "decided", decided, f"a whole number from 0 to {prefix}")
    _check_setting(state["setting"])
    _check_repeats(state["repeats"])
    _need(isinstance(state["learner"], dict), "learner", type(state["learner"]).__name__, "a dict of vectors")
    if state["buffer"] is not None:
        _check_rows(state["buffer"], setup.features, targets, prefix)


def _check_setting(setting: Any) -> None:
    if isinstance(setting, Lanes):
        for name in ("alphas", "steps"):
            values = getattr(setting, name)
            right = isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype == np.float64 and len(values)
            _need(right, f"setting.{name}", values, "a vector of numbers")
            _need(
                bool(np.isfinite(values).all() and (values >= 0).all()), f"setting.{name}", values, "finite numbers ≥ 0"
            )
        _need(len(setting.alphas) == len(setting.steps), "setting", len(setting.steps), "one step per strength")
    elif not callable(setting):
        right = isinstance(setting, (int, float)) and not isinstance(setting, bool) and math.isfinite(setting)
        _need(right and setting >= 0, "setting", setting, "a step: a finite number ≥ 0")


def _check_repeats(repeats: Any) -> None:
    right = isinstance(repeats, list) and all(isinstance(span, list) and len(span) == 2 for span in repeats)
    _need(right, "repeats", repeats, "a list of pairs of rounds")
    ends = [end for span in repeats for end in span]
    right = all(isinstance(end, (int, float)) and (end == math.inf or (end >= 0 and end == int(end))) for end in ends)
    _need(right and ends == sorted(ends), "repeats", repeats, "rounds in rising order")


def _check_rows(rows: Any, features: int, targets: Any, prefix: int) -> None:
    _need(isinstance(rows, Rows), "buffer", type(rows).__name__, "rows")
    for name, types in _ARRAYS.items():
        values = getattr(rows, name)
        right = isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype in types
        _need(right and values.flags.c_contiguous, f"buffer.{name}", _words(values), f"a vector of {types[0].__name__}")
    n, width = len(rows.begins), 1 if targets.kind == "multiclass" else targets.outputs
    _need(len(rows.ends) == n and n <= prefix, "buffer.ends", len(rows.ends), f"{n} rows, at most {prefix}")
    within = (rows.begins >= 0) & (rows.begins <= rows.ends) & (rows.ends <= len(rows.index))
    _need(
        bool(within.all()) and len(rows.value) == len(rows.index), "buffer.ends", "other entries", "those that it has"
    )
    rows.check(features)
    rows.check_size()
    _need(_matrix(rows.y, (n, width)), "buffer.y", _words(rows.y), f"finite numbers, {n} × {width}")
    if targets.kind == "multiclass":
        right = (rows.y == np.floor(rows.y)) & (rows.y >= 0) & (rows.y < targets.outputs)
        _need(bool(right.all()), "buffer.y", "others", f"classes 0 to {targets.outputs - 1}")
    elif targets.kind == "regression":
        targets.loss.check_targets(rows.y)
    else:
        _need(bool((np.abs(rows.y) == 1).all()), "buffer.y", "others", "-1 and 1")
    if rows.weight is not None:
        right = _matrix(rows.weight, (n,)) and bool((rows.weight >= 0).all())
        _need(right, "buffer.weight", _words(rows.weight), f"{n} finite numbers ≥ 0")


def _matrix(values: Any, shape: tuple[int, ...]) -> bool:
    right = isinstance(values, np.ndarray) and values.dtype == np.float64 and values.shape == shape
    return right and bool(values.flags.c_contiguous and np.isfinite(values).all())


def _words(values: Array | Any) -> str:
    return f"{values.dtype} × {values.shape}" if isinstance(values, np.ndarray) else type(values).__name__


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _need(holds: Any, name: str, found: Any, needed: str) -> None:
    if not holds:
        raise ValueError(f"The saved state does not belong to this trainer: {name} is {found}, and {needed} is needed.")
