"""A few rounds of RDA (MATH §5), Pegasos and exponentiated gradient, by hand."""

import math

import numpy as np
import pytest

import gossamer as gs
from online_reference import soft


def squared_rounds():
    """Three rounds of x = (1, 2), y = 1 with the squared loss and no intercept."""
    return np.array([[1.0, 2.0]] * 3), np.ones(3)


def follow(weights_of, rounds=3):
    """w_{t+1} from the mean gradient of t rounds."""
    X, y = squared_rounds()
    w, total = np.zeros(2), np.zeros(2)
    for t in range(1, rounds + 1):
        total += (X[t - 1] @ w - y[t - 1]) * X[t - 1]
        w = weights_of(total / t, t)
    return w


BY_HAND = {
    "ℓ1, ρ": (
        gs.RDA(gamma=2.0, rho=0.3),
        gs.L1(),
        lambda g, t: -(math.sqrt(t) / 2) * soft(g, 0.5 + 2 * 0.3 / math.sqrt(t)),
    ),
    "ℓ2²": (gs.RDA(gamma=0), gs.L2Squared(), lambda g, t: -g / 0.5),
    "ℓ1 and ℓ2²": (gs.RDA(gamma=0), gs.ElasticNet(l1_ratio=0.4), lambda g, t: -soft(g, 0.5 * 0.4) / (0.5 * 0.6)),
    "elastic net with ρ": (
        gs.RDA(gamma=2.0, rho=0.1),
        gs.ElasticNet(l1_ratio=0.4),
        lambda g, t: -soft(g, 0.2 + 0.2 / math.sqrt(t)) / (0.3 + 2 / math.sqrt(t)),
    ),
    "set": (gs.RDA(gamma=2.0), gs.Box(-0.5, 0.7), lambda g, t: np.clip(-math.sqrt(t) / 2 * g, -0.5, 0.7)),
    "ball": (
        gs.RDA(gamma=2.0),
        gs.L2Ball(0.5),
        lambda g, t: -g * min(math.sqrt(t) / 2, 0.5 / np.linalg.norm(g)),
    ),
    "group": (
        gs.RDA(gamma=2.0),
        gs.GroupL2(groups=[[0, 1]]),
        lambda g, t: -(math.sqrt(t) / 2) * max(1 - 0.5 / np.linalg.norm(g), 0) * g,
    ),
}


@pytest.mark.parametrize("case", BY_HAND)
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_rda_by_hand(case, rounds):
    method, penalty, weights_of = BY_HAND[case]
    model = gs.OnlineRegressor(penalty=penalty, alpha=0.5, method=method, fit_intercept=False)
    rows = squared_rounds()
    model.partial_fit(rows[0][:rounds], rows[1][:rounds])
    np.testing.assert_allclose(model.coef_, follow(weights_of, rounds), rtol=1e-10, atol=1e-14)


def test_rda_on_the_simplex_by_hand():
    def weights_of(g, t):
        p = np.array([0.25, 0.75]) * np.exp(-g / 0.5)
        return p / p.sum()

    X, y = np.array([[1.0, 0.5]]), np.array([3.0])
    model = gs.OnlineRegressor(
        penalty=gs.KL(prior=[0.25, 0.75]), alpha=0.5, method=gs.RDA(gamma=1.0), fit_intercept=False
    ).partial_fit(X, y)
    start = np.array([0.25, 0.75])
    np.testing.assert_allclose(model.coef_, weights_of((X[0] @ start - 3) * X[0], 1), rtol=1e-12)


def test_pegasos_by_hand():
    """α = ½, hinge, x = (1, 2), y = 1 twice: w = x/α, onto the ball of radius √2; then no loss, and w halves."""
    X, y = squared_rounds()
    for project, first in ((False, np.array([2.0, 4.0])), (True, np.array([2.0, 4.0]) * math.sqrt(2 / 20))):
        model = gs.OnlineClassifier("hinge", "l2_squared", 0.5, gs.Pegasos(project=project), fit_intercept=False)
        model.partial_fit(X[:1], y[:1], classes=[-1, 1])
        np.testing.assert_allclose(model.coef_[0], first, rtol=1e-14)
        model.partial_fit(X[1:2], y[1:2])
        np.testing.assert_allclose(model.coef_[0], first / 2, rtol=1e-14)


def test_exponentiated_gradient_by_hand():
    """w = r sinh(a) / Σ cosh(a), a = −Σ η g."""
    X, y = squared_rounds()
    model = gs.OnlineRegressor(
        penalty="none", method=gs.ExponentiatedGradient(radius=3.0, step=gs.Constant(0.1)), fit_intercept=False
    )
    a, w = np.zeros(2), np.zeros(2)
    for t in range(3):
        a -= 0.1 * (X[t] @ w - y[t]) * X[t]
        w = 3 * np.sinh(a) / np.cosh(a).sum()
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        np.testing.assert_allclose(model.coef_, w, rtol=1e-13)
