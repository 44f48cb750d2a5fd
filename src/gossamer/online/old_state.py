"""Conversion of learner states in older checkpoints to the present layout.

A path with a penalty other than ℓ1, or with several outputs, kept the part of a feature that its strengths share in an
array of its own ("heads"); now it is in the record of the feature ("slots"). FTRL kept its weights beside its sums.
Sums over rounds did not have what rounding took from them ("lazy_rest", "total_rest"), and the losses of two strengths
were not compared row by row ("lane_products": infinite where it is not known).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gossamer.methods import AdaGrad
from gossamer.validation import Array


def method_of(names: Any, method: Any, loss: Any) -> Any:
    """Return the method of a run whose learner has vectors of these names: "auto" was AdaGrad."""
    if not method.free_of_steps or any(str(name).startswith("squares") for name in names):
        return method
    return AdaGrad(form="fobos" if loss.kind == "regression" else "rda")


def converted(saved: dict[str, Array], wanted: dict[str, Array], features: int) -> dict[str, Array]:
    """Return saved state under the names and in the layout of `wanted`, the state of a new learner."""
    try:
        return _converted(saved, wanted, features)
    except (KeyError, ValueError, IndexError, TypeError, AttributeError, ZeroDivisionError):
        raise ValueError("The saved state does not belong to this learner: its vectors have other sizes.") from None


def _converted(saved: dict[str, Array], wanted: dict[str, Array], features: int) -> dict[str, Array]:
    unknown = {name: np.full_like(wanted[name], np.inf) for name in ("lane_products",) if name in wanted}
    saved = {name: value for name, value in wanted.items() if re.match("lazy_rest|total_rest", name)} | unknown | saved
    fixed = [name for name in wanted if re.match("slots|sums|levels|heads", name)]
    if saved.keys() == wanted.keys() and all(len(saved[name]) == len(wanted[name]) for name in fixed):
        return saved
    state: dict[str, Array] = {}
    for part in {re.sub(r".*?(_of_part_\d+|$)", r"\1", name) for name in wanted}:
        old = {name.removesuffix(part): value for name, value in saved.items() if name.endswith(part)}
        new = {name.removesuffix(part): value for name, value in wanted.items() if name.endswith(part)}
        state |= {name + part: value for name, value in _moved(old, new, features).items()}
    return state


def _moved(old: dict[str, Array], new: dict[str, Array], d: int) -> dict[str, Array]:
    made = {name: old.get(name, value) for name, value in new.items()}
    if "heads" not in old:  # FTRL with one strength: s, √s, c, G, weights
        outputs = len(new["slots"]) // d - 3
        return made | {"slots": old["slots"].reshape(d, -1)[:, : 3 + outputs].ravel()}
    m, one = len(old["lane_seen"]), np.ones(1)  # the step of a path is 1, its strengths have step factors of their own
    slots, heads = old["slots"].reshape(d, -1), old["heads"].reshape(d, -1)
    if "gamma" in new:  # RDA
        return made | {"gamma": one, ("sums" if "sums" in new else "slots"): old["slots"]}
    if "etas" in old:  # AdaGrad, dual: s and G of each strength
        s, largest = slots[:, :m], heads
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(s > 0, old["etas"] / (largest * np.sqrt(s)), 0.0)
        return made | {"eta": one, "slots": np.hstack([s, largest, rate, slots[:, m:]]).ravel()}
    if "rounds" in new:  # AdaGrad, primal: s, step and weights of each strength
        shared, largest = np.hsplit(heads, 2)
        return made | {"eta": one, "slots": np.hstack([shared, slots[:, :m], largest, slots[:, m:]]).ravel()}
    totals = {name: old["lazy_total"] for name in new if name.startswith("lazy_total")}
    return made | totals | {"slots": np.hstack([heads, slots]).ravel()}  # FOBOS: weights
