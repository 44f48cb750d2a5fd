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


# Parts whose units do not scale without rounding: the value of the objective, within the gaps


@pytest.mark.parametrize("s", [1e-8, 1e8])
@over([e for e in REGRESSION if e.least is not None])
def test_scaling_counts(entry, s):
    """With a log link, s y has the same weights, and log s more in the intercept."""
    X, y = data(entry)
    y = y + (entry.least == 0)
    power = {gs.Poisson: 1.0, gs.Gamma: 0.0}.get(type(entry.loss), 2 - getattr(entry.loss, "power", 0))
    model = gs.BatchRegressor(entry.loss, alpha=0.05, tol=1e-12).fit(X, y[:, 0])
    other = gs.BatchRegressor(entry.loss, alpha=0.05 * s**power, tol=1e-12).fit(X, s * y[:, 0])
    np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-6)
    np.testing.assert_allclose(other.intercept_, model.intercept_ + math.log(s), atol=1e-6)


@pytest.mark.parametrize("s", SCALES)
@pytest.mark.parametrize("solver", ["coordinate", "fista", "sparsa", "fobos"])
def test_scaling_y_for_the_elastic_net(solver, s):
    X, y = data(next(e for e in LOSSES if e.name == "squared"))
    ratio, alpha = 0.3, 0.05
    total = ratio * s + (1 - ratio)  # α' ρ' s = s² α ρ, α' (1 − ρ') s² = s² α (1 − ρ)
    ours = gs.BatchRegressor(penalty=gs.ElasticNet(ratio), alpha=alpha, solver=solver, tol=1e-12).fit(X, y[:, 0])
    penalty = gs.ElasticNet(ratio * s / total)
    other = gs.BatchRegressor(penalty=penalty, alpha=alpha * total, solver=solver, tol=1e-12).fit(X, s * y[:, 0])
    rounded = EPS * max(s, 1) / (1 - ratio)  # of 1 − ρ'
    assert math.isclose(other.objective_, s * s * ours.objective_, rel_tol=1e-11 + rounded)
    np.testing.assert_allclose(other.coef_, s * ours.coef_, atol=1e-5 * s)


# Offsets


def intercepts(loss):
    return [e for e in loss if e.loss.has_best_intercept]


@over(RESIDUAL)
@pytest.mark.parametrize("penalty", EVERY)
def test_adding_a_constant_to_y(entry, penalty):
    """Nothing but the intercept changes, not by a bit where the sum is exact."""
    X, y = data(entry)
    penalty = by_name(penalty).penalty
    for name, solver in SOLVERS.items():
        found = solved(X, y, entry.loss, penalty, 0.05, solver)
        for c in SHIFTS:
            other = solved(X, y + c, entry.loss, penalty, 0.05, solver)
            same(found, other, 1.0, 1.0, f"{name} {c}")
            if found is not None:
                np.testing.assert_allclose(other.intercept, found.intercept + c, rtol=4 * EPS)


FORMS = {"dense": np.asarray, "columns": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}


@over(intercepts(LOSSES))
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_adding_constants_to_columns(entry, form):
    """Nothing but the intercept changes: not by a bit between large constants, and within the gaps from none at all."""
    X, y = data(entry)
    loss, k = scalar(entry.loss), outputs_of(entry)
    by = np.array([1.0, -2.0, 0.0, 4.0, 0.5, -1.0])
    for name, solver in SOLVERS.items():
        found = solved(X, y, loss, gs.GroupL2() if k > 1 else gs.L1(), 0.05, solver, k, 100)
        first = None
        for c in SHIFTS:
            other = solved(form(X + c * by), y, loss, gs.GroupL2() if k > 1 else gs.L1(), 0.05, solver, k, 100)
            if found is None:
                assert other is None
                continue
            first = first or other
            same(first, other, 1.0, 1.0, f"{name} {c}")
            off = abs(other.certificate.objective - found.certificate.objective)
            noise = 64 * EPS * abs(found.certificate.objective)
            assert off <= max(other.certificate.gap, found.certificate.gap) + noise, f"{name} {c}"
            moved = found.intercept - c * by @ found.W
            if found.converged and other.converged and solver is not SOLVERS["fobos"]:
                np.testing.assert_allclose(other.intercept, moved, rtol=1e-3, atol=1e-3 * abs(c))


@pytest.mark.parametrize("offset", [1e2, 1e4, 1e6, 1e8, 1e10, 1e12])
@pytest.mark.parametrize("penalty", [gs.L1(), gs.ElasticNet(0.5), gs.L1Ball(1.5), gs.NoPenalty(), gs.GroupL2()])
def test_digits_lost_to_offsets(penalty, offset):
    """Where sums round, the answer is that of data that are off by half a unit in the last place of the offset."""
    rng = np.random.default_rng(int(math.log10(offset)))
    X = rng.standard_normal((200, 5))
    y = X[:, 0] - 0.5 * X[:, 1] + 0.1 * rng.standard_normal(200)
    lost = EPS * offset  # a bound on the rounding of every entry
    least = float(np.linalg.eigvalsh(np.cov(X.T, bias=True))[0])
    for solver in ("coordinate", "fista", "sparsa"):
        if solver == "coordinate" and penalty.is_set:
            continue
        settings = {"penalty": penalty, "alpha": 1e-3, "solver": solver, "tol": 1e-10}
        model = gs.BatchRegressor(**settings).fit(X, y)
        w = np.abs(model.coef_).sum()
        gap = 1e-10 * y.var()  # of each
        # F is off by at most the mean of |slope| · |error of z − y|, on both sides of the comparison; the distance of
        # two weights whose F differ by D is at most √(2D / the smallest curvature), as F is that convex.
        for other, rows in (
            (gs.BatchRegressor(**settings).fit(X, y + offset), lost),
            (gs.BatchRegressor(**settings).fit(X + offset * np.arange(1, 6), y), 5 * lost * w),
        ):
            excess = 2 * (rows * y.std() + rows**2) + 2 * gap
            assert abs(other.objective_ - model.objective_) <= excess
            assert np.linalg.norm(other.coef_ - model.coef_) <= 2 * math.sqrt(2 * excess / least)


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8])
def test_a_path_with_an_offset(offset):
    """Cross-validation ends as soon as without an offset, with the same choice."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = grid(X[:, 0] + 0.1 * rng.standard_normal(300))
    model, other = (gs.BatchRegressorCV(alphas=20).fit(X, t) for t in (y, y + offset))
    np.testing.assert_allclose(other.alphas_, model.alphas_, rtol=1e-12)
    assert other.alpha_ == pytest.approx(model.alpha_)
    np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-9)
    np.testing.assert_allclose(other.path_loss_, model.path_loss_, rtol=1e-6)
    assert other.n_iter_ <= 2 * model.n_iter_
