"""Batch learning does not depend on units: scales and offsets change the answer only as mathematics says.

A scale that is a power of two changes no digit of any number, so the answer must be the scaled one bit for bit: one
constant with a unit (a first step of 1, a tolerance of 1e-12) anywhere in a solver fails. Offsets are bit for bit too
where they add up without rounding; elsewhere digits are lost, as many as the offset is larger than the spread.
"""

import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse as sp

import gossamer as gs
from batch.test_laws import SOLVERS, numbers, outputs_of, scalar, sized, targets_for
from catalogue import LOSSES, PENALTIES, by_name, over
from gossamer.batch.driver import solve
from gossamer.batch.objective import Objective

EPS = 2.0**-52
SCALES = [2.0**-27, 2.0**27]  # 7e-9 and 1e8
SHIFTS = [2.0**10, -(2.0**24), 2.0**38]
REGRESSION = [e for e in LOSSES if not e.outputs and e.loss.kind == "regression"]
RESIDUAL = [e for e in REGRESSION if e.loss.of_residual]
EVERY = ["l1", "l1 ball", "group l2, groups", "none"]
SIX = [e for e in PENALTIES if sized(e, (6,))]


def grid(values, unit=2.0**-12):
    """Round to multiples of a unit: sums with whole numbers up to 2^40 are exact."""
    return np.round(np.asarray(values) / unit) * unit


def data(entry, n=48):
    y = targets_for(entry, n)
    X = grid(numbers(n))
    if entry.loss.kind == "regression" and entry.least is None:
        y = grid(X @ np.array([[1.0], [-2.0], [0.0], [0.5], [0.0], [1.0]]) + 0.3 * y)
    return X, y


def solved(X, y, loss, penalty, alpha, solver, outputs=1, max_iter=20, tol=1e-9, **settings):
    settings.setdefault("fit_intercept", loss.has_best_intercept)
    objective = Objective(X, y, loss, penalty, alpha, outputs=outputs, **settings)
    try:
        solver.check(objective)
    except ValueError:  # refused, in words; tests of refusals are elsewhere
        return None
    return solve(objective, solver, tol=tol, max_iter=max_iter)


# How parts scale


def scaled_loss(loss, s):
    """Return ℓ' and c with ℓ'(s z, s y) = c ℓ(z, y), or None if there is no such loss."""
    if isinstance(loss, gs.Squared):
        return loss, s * s
    if isinstance(loss, gs.Huber):
        return gs.Huber(loss.delta * s), s * s
    if isinstance(loss, gs.EpsilonInsensitive):
        return gs.EpsilonInsensitive(loss.epsilon * s), s
    if isinstance(loss, gs.Quantile):
        return loss, s
    return None  # log ε-insensitive: its kinks are rounded over a length of 1


def scaled_penalty(penalty, alpha, s, c):
    """Return Ω' and α' with α' Ω'(s w) = c α Ω(w), or None if there are none without rounding."""
    if isinstance(penalty, gs.KL):
        return None  # over the simplex, whatever the units of w
    if isinstance(penalty, gs.L2Squared) or (isinstance(penalty, gs.ElasticNet) and penalty.l1_ratio == 0):
        return penalty, alpha * c / (s * s)
    if isinstance(penalty, gs.ElasticNet) and penalty.l1_ratio < 1:
        return None  # two norms: the mixing ratio changes, and rounds
    if isinstance(penalty, gs.Box):
        return gs.Box(np.multiply(penalty.low, s), np.multiply(penalty.high, s)), alpha
    if penalty.is_set:
        return dataclasses.replace(penalty, radius=penalty.radius * s), alpha
    if isinstance(penalty, gs.Berhu):
        penalty = dataclasses.replace(penalty, gamma=penalty.gamma * s)
    return penalty, alpha * c / s


def same(found, other, s, c, name):
    assert (found is None) == (other is None), name
    if found is None:
        return
    assert found.iterations == other.iterations, name
    np.testing.assert_array_equal(other.W, s * found.W, err_msg=name)
    assert other.certificate.objective == c * found.certificate.objective, name
    unit = c if found.certificate.name == "duality gap" else c / s
    assert other.certificate.gap == unit * found.certificate.gap, name


def check_scaled_y(loss_entry, entry):
    X, y = data(loss_entry)
    for s in SCALES:
        made = scaled_loss(loss_entry.loss, s)
        if made is None or scaled_penalty(entry.penalty, 0.05, s, made[1]) is None:
            pytest.skip("the units of this part are fixed")
        loss, c = made
        penalty, alpha = scaled_penalty(entry.penalty, 0.05, s, c)
        for name, solver in SOLVERS.items():
            found = solved(X, y, loss_entry.loss, entry.penalty, 0.05, solver)
            same(found, solved(X, s * y, loss, penalty, alpha, solver), s, c, f"{name} {s}")


def check_scaled_columns(loss_entry, entry):
    X, y = data(loss_entry)
    loss, k = scalar(loss_entry.loss), outputs_of(loss_entry)
    for s in SCALES:
        made = scaled_penalty(entry.penalty, 0.05, 1 / s, 1.0)
        if made is None:
            pytest.skip("the units of this part are fixed")
        for name, solver in SOLVERS.items():
            found = solved(X, y, loss, entry.penalty, 0.05, solver, k)
            same(found, solved(s * X, y, loss, *made, solver, k), 1 / s, 1.0, f"{name} {s}")


@over(SIX)
def test_scaling_y_by_penalty(entry):
    check_scaled_y(next(e for e in LOSSES if e.name == "squared"), entry)


@over(RESIDUAL)
@pytest.mark.parametrize("penalty", EVERY)
def test_scaling_y_by_loss(entry, penalty):
    check_scaled_y(entry, by_name(penalty))


@over(SIX)
def test_scaling_columns_by_penalty(entry):
    check_scaled_columns(next(e for e in LOSSES if e.name == "logistic"), entry)


@over([e for e in LOSSES if e.name not in ("logistic",)])
@pytest.mark.parametrize("penalty", ["l1", "l1 ball", "group l2, rows", "none"])
def test_scaling_columns_by_loss(entry, penalty):
    check_scaled_columns(entry, by_name(penalty))
