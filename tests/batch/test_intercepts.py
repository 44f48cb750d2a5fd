"""What the search for an intercept and coordinate descent know about a loss, and how they use it."""

import math
import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import gossamer as gs
from catalogue import SCALAR_LOSSES, over
from gossamer.batch.driver import solve
from gossamer.batch.objective import Objective, Point

EPS = 2.0**-52
RESIDUAL = [e for e in SCALAR_LOSSES if e.loss.of_residual]


@over(SCALAR_LOSSES)
def test_which_losses_are_of_a_residual(entry):
    """ℓ(z + c, y + c) = ℓ(z, y): for those that say so, and no others."""
    if entry.loss.kind != "regression":
        assert not entry.loss.of_residual
        return
    z, y = np.array([-1.5, 0.25, 2.0, 7.0]), np.array([1.0, 2.0, 1.0, 4.0])
    same = np.allclose(entry.loss.value(z + 8.0, y + 8.0), entry.loss.value(z, y))
    assert entry.loss.of_residual == same


def losses_like(entry, rng, unit):
    """Return the loss with a setting of its own, in units of y."""
    settings = {"delta", "epsilon"} & set(vars(entry.loss))
    return type(entry.loss)(**dict.fromkeys(settings, unit * 10.0 ** rng.uniform(-2, 1))) if settings else entry.loss


@over(RESIDUAL)
def test_intercepts_of_random_problems(entry):
    """The slopes change sign within a few units in the last place of the intercept, whatever offset and spread are."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n, spread = int(rng.integers(2, 40)), 10.0 ** rng.uniform(-8, 8)
        offset = spread * rng.choice([0.0, 1.0, -1.0]) * 10.0 ** rng.uniform(-2, 10)
        y = offset + spread * rng.standard_t(2, n)
        loss = losses_like(entry, rng, spread)
        c = 10.0 ** rng.uniform(-3, 3, n)
        objective = Objective(np.zeros((n, 1)), y[:, None], loss, gs.L1(), 1.0, sample_weight=c)
        point = objective.at(np.zeros((1, 1)))
        b = objective.intercept(point.W, point.b)[0]
        centred = y - np.median(y)  # so that the slopes of this test are exact
        at, near = b - np.median(y), 8 * EPS * (abs(b) + np.abs(centred).max())
        coarse = 2 * EPS * abs(point.b[0]) * (loss.smoothness or 0.0)  # a step of one unit in the last place
        assert abs(point.slopes.sum()) <= 1e-12 * np.abs(point.slopes).sum() + coarse
        low, high = (c @ loss.slope(np.full(n, at + by), centred) for by in (-near, near))
        rounding = n * EPS * (c @ np.abs(loss.slope(np.full(n, at), centred)))
        assert low <= rounding
        assert high >= -rounding


@over(RESIDUAL)
def test_majorants_are_nowhere_below(entry):
    """ℓ(v) ≤ ℓ(z) + ℓ'(z)(v − z) + ½ m (v − z)², where m is the curvature with full damping."""
    rng = np.random.default_rng(0)
    n, b = 2000, np.zeros(1)
    y, z, v = (10.0 ** rng.uniform(-3, 3, (n, 1)) * rng.choice([-1, 1], (n, 1)) for _ in range(3))
    objective = Objective(np.zeros((n, 1)), y, entry.loss, gs.L1(), 1.0, fit_intercept=False)
    if not objective.mean.has_majorant:
        assert not isinstance(entry.loss, (gs.Huber, gs.LogEpsilonInsensitive))
        return
    h = np.empty_like(z)
    objective.mean.curvatures(z, b, h, 1.0)
    value, slope, there = (
        np.asarray(a) for a in (entry.loss.value(z, y), entry.loss.slope(z, y), entry.loss.value(v, y))
    )
    above = value + slope * (v - z) + n * h / 2 * (v - z) ** 2
    assert np.all(there <= above + 16 * EPS * (np.abs(value) + np.abs(slope * (v - z)) + np.abs(there) + 1))
    assert np.all(h > 0)


@pytest.mark.parametrize("penalty", [gs.L1(), gs.ElasticNet(1.0), gs.ElasticNet(0.5), gs.GroupL2([[0, 1], [2, 3, 4]])])
@pytest.mark.parametrize("make", [gs.Huber, gs.LogEpsilonInsensitive])
def test_coordinate_descent_where_losses_are_flat(make, penalty):
    """At the start all residuals may lie on the straight parts of the loss."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 5)) * 10.0 ** rng.uniform(-1, 1, 5)
        y = X @ rng.standard_normal(5) + rng.standard_t(1.5, 60)
        y *= 1.0 if make is gs.Huber else 10.0 if penalty.groups else 1e3  # blocks are slow where kinks are that sharp
        loss = make(10.0 ** rng.uniform(-3, 0) * np.abs(y).mean())
        top = gs.alpha_max(X, y, loss=loss, penalty=penalty)
        model = gs.BatchRegressor(loss, penalty, 0.01 * top, "coordinate", tol=1e-7, max_iter=300).fit(X, y)
        best = gs.BatchRegressor(loss, penalty, 0.01 * top, "fista", tol=1e-4, max_iter=3000).fit(X, y)
        assert model.objective_ <= best.objective_ * (1 + 1e-7)
        assert best.objective_ - best.dual_gap_ <= model.objective_


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 30.0, 600.0, 740.0, 2000.0, 1e6])
def test_conjugates_of_wide_tubes(epsilon):
    """ℓ(z) + ℓ*(ℓ'(z)) = z ℓ'(z), where e^{−ε} is nothing too: otherwise gaps never close."""
    z = np.concatenate([np.linspace(-5, 5, 41) + epsilon, np.linspace(-5, 5, 41) - epsilon])[:, None]
    n, b, S = len(z), np.zeros(1), np.empty_like(z)
    objective = Objective(np.zeros((n, 1)), 0 * z, gs.LogEpsilonInsensitive(epsilon), gs.L1(), 1.0, fit_intercept=False)
    value = objective.mean.slopes(z, b, S)
    assert abs(value + objective.mean.conjugate(S) - np.sum(z * S)) <= 16 * EPS * (1 + epsilon)


# Nothing stops short in silence

KINKS = ["hinge", "epsilon_insensitive", "quantile"]


def calls(loss, X, y):
    classify = loss == "hinge"
    y = np.sign(y) if classify else y
    single, many = (gs.BatchClassifier, gs.BatchClassifierCV) if classify else (gs.BatchRegressor, gs.BatchRegressorCV)
    yield "fit", lambda: single(loss, alpha=1e-3, max_iter=5).fit(X, y)
    yield "path", lambda: gs.regularization_path(X, y, loss=loss, alphas=3, max_iter=5)
    yield "cv", lambda: many(loss, alphas=3, max_iter=5, cv=3).fit(X, y)


@pytest.mark.parametrize("loss", KINKS)
def test_warnings_say_how_far_and_what_helps(loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    y = X[:, 0] + 0.5 * rng.standard_normal(80)
    for name, call in calls(loss, X, y):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            call()
        words = [str(w.message) for w in said if w.category is ConvergenceWarning]
        assert words, name
        for word in words:
            gap = re.search(r"relative duality gap of (?:up to )?([\d.e-]+)", word)
            assert gap, word
            assert 1e-4 < float(gap[1]) < 10, word
            assert "max_iter" in word
            assert "loss without kinks, such as '" in word


def test_a_solver_that_gains_nothing_stops():
    """With counts of 1e8 and a spread of 1 the objective has no digits left for a gap: some iterations show it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    objective = Objective(X, (1e8 + X[:, :1]).round(), gs.Poisson(), gs.L1(), 1e-3)
    found = solve(objective, gs.CoordinateDescent(), tol=1e-6, max_iter=1000)
    assert found.iterations < 30
    assert math.isclose(found.W[0, 0] * 1e8, 1.0, rel_tol=0.1)


@pytest.mark.parametrize("solver", ["auto", "fista", "sparsa", "fobos"])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("penalty", ["l1", "l2_squared", "group_l2", "group_linf", "l2_norm", "l1_ball", "none"])
def test_a_class_without_rows(penalty, loss, solver):
    """Its best intercept is −∞: the optimum, and a certificate for it, are those of the problem without the class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    y = np.argmax(X[:, :4] + rng.normal(size=(120, 4)), axis=1)
    weight = np.where(y == 2, 0.0, rng.uniform(0.5, 2, 120))
    settings = {"loss": loss, "penalty": penalty, "alpha": 0.02, "solver": solver, "tol": 1e-6, "max_iter": 2000}
    model = gs.BatchClassifier(**settings).fit(X, y, sample_weight=weight)
    without = gs.BatchClassifier(**settings).fit(X[y != 2], y[y != 2], sample_weight=weight[y != 2])
    assert model.objective_ == pytest.approx(without.objective_, rel=1e-12)
    assert model.dual_gap_ == pytest.approx(without.dual_gap_, rel=1e-6, abs=1e-12)
    assert_array_equal(np.abs(model.coef_[2]) < 1e-12, True)
    np.testing.assert_allclose(np.delete(model.coef_, 2, axis=0), without.coef_, atol=1e-9)
    assert 2 not in model.predict(X)
    assert model.classes_.tolist() == [0, 1, 2, 3]


def test_an_imbalance_of_a_class_without_rows_is_no_dual_point():
    """A finite intercept at which the class still has a share: only u = 0 is sure to be a dual point."""
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    objective = Objective(X, y[:, None].astype(float), gs.Multinomial(), gs.L1(), 0.01, outputs=3)
    point = objective.at(np.zeros((3, 3)))
    assert objective.certify(point).gap < 0.9 * point.loss
    S = np.empty((30, 3))
    loss = objective.mean.slopes(objective.margins(point.W), np.zeros(3), S)
    away = Point(point.W, np.zeros(3), float(loss), S, objective.gradient(S))
    best = solve(objective, gs.FISTA(), tol=1e-10).certificate.objective
    assert objective.lower_bound(away) <= best
