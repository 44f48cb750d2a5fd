"""The bounds on regret (CLAIMS R4)."""

import math
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import gossamer as gs

PREFIXES = [25, 50, 100, 200, 400, 800]


@cache
def unit_rows(d=15):
    random = np.random.default_rng(13)
    X = random.normal(size=(PREFIXES[-1], d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    w = np.where(np.arange(d) < 5, 4.0 * random.normal(size=d), 0)
    y = np.where(X @ w + 0.5 * random.normal(size=len(X)) > 0, 1, -1)
    return X, y


def walk(model):
    """Return the weights before each round (and after the last), learning row by row."""
    X, y = unit_rows()
    rows, path = sp.csr_array(X), [np.zeros(X.shape[1])]
    for t in range(len(y)):
        model.partial_fit(rows[t : t + 1], y[t : t + 1], classes=[-1, 1])
        path.append(model.coef_[0].copy())
    return np.array(path)


def smoothed(loss, z, y):
    """The loss and its slope; the kink of the hinge is smoothed over 0.01, so the comparator is nearly the best."""
    if isinstance(loss, gs.Logistic):
        return loss.value(z, y), loss.slope(z, y)
    short, width = 1 - y * z, 0.01
    value = np.where(short > width, short - width / 2, np.maximum(short, 0) ** 2 / (2 * width))
    return value, -y * np.clip(short / width, 0, 1)


@cache
def minimiser(loss, penalty, alpha, t):
    """argmin (1/t) Σ ℓ + αΩ over the first t rows, in w = u − v, u, v ≥ 0."""
    X, y = (a[:t] for a in unit_rows())

    def objective(uv):
        u, v = np.split(uv, 2)
        values, slopes = smoothed(loss, X @ (u - v), y)
        value, gradient = values.mean(), X.T @ slopes / t
        if isinstance(penalty, gs.L1):
            return value + alpha * uv.sum(), np.concatenate([gradient + alpha, -gradient + alpha])
        gradient = gradient + alpha * (u - v)
        return value + alpha * np.sum((u - v) ** 2) / 2, np.concatenate([gradient, -gradient])

    start = np.zeros(2 * X.shape[1])
    found = minimize(objective, start, jac=True, bounds=[(0, None)] * len(start), options={"maxiter": 300})
    u, v = np.split(found.x, 2)
    return u - v


def comparators(loss, penalty, alpha):
    return np.array([minimiser(loss, penalty, alpha, t) for t in PREFIXES])


def regrets(loss, penalty, alpha, path):
    """R_t(w) = Σ_{τ≤t} ℓ_τ(w_τ) + αΩ(w_τ) − ℓ_τ(w) − αΩ(w) for every t, a row for the best w of each prefix."""
    X, y = unit_rows()
    before = path[:-1]
    ours = loss.value(np.sum(X * before, axis=1), y) + alpha * np.array([penalty.value(w) for w in before])
    theirs = [loss.value(X @ w, y) + alpha * penalty.value(w) for w in comparators(loss, penalty, alpha)]
    return np.array([np.cumsum(ours - other) for other in theirs])


ROUND = np.arange(1, PREFIXES[-1] + 1)
GENERAL = [(gs.Logistic(), 0.01), (gs.Hinge(), 0.01), (gs.Logistic(), 0.05)]


@pytest.mark.parametrize(("loss", "alpha"), GENERAL, ids=str)
def test_regret_of_rda(loss, alpha):
    """R_t ≤ (γD² + L²/γ)√t for every w with ½‖w‖² ≤ D²; ‖g‖ ≤ L = 1 on unit rows; the best γ is L/D."""
    L, D = 1.0, np.linalg.norm(comparators(loss, gs.L1(), alpha), axis=1).max() / math.sqrt(2)
    gamma = L / D
    model = gs.OnlineClassifier(loss, gs.L1(), alpha, gs.RDA(gamma=gamma), fit_intercept=False)
    regret = regrets(loss, gs.L1(), alpha, walk(model))
    assert (regret <= (gamma * D**2 + L**2 / gamma) * np.sqrt(ROUND)).all()
    assert regret[-1, -1] > 0


@pytest.mark.parametrize(("loss", "alpha"), GENERAL, ids=str)
@pytest.mark.parametrize("c", ["best", 0.3, 3.0])
def test_regret_of_fobos(loss, alpha, c):
    """Theorem 6: R_T ≤ 2GD + (D²/(2c) + 7G²c)√T with ‖w_t − w*‖ ≤ D, and ∂f, ∂r bounded by G."""
    best = comparators(loss, gs.L1(), alpha)
    G = max(1.0, alpha * math.sqrt(best.shape[1]))
    if c == "best":  # Corollary 7: D/(4G), with twice the comparator's norm for D
        c = 2 * np.linalg.norm(best[-1]) / (4 * G)
    path = walk(gs.OnlineClassifier(loss, gs.L1(), alpha, gs.Fobos(step=c), fit_intercept=False))
    regret = regrets(loss, gs.L1(), alpha, path)
    for row, w in zip(regret, best, strict=True):
        D = max(np.linalg.norm(path - w, axis=1).max(), np.linalg.norm(path, axis=1).max())
        assert (row <= 2 * G * D + (D**2 / (2 * c) + 7 * G**2 * c) * np.sqrt(ROUND)).all()
    assert regret[-1, -1] > 0


STRONG = [(gs.Logistic(), 0.02), (gs.Hinge(), 0.05)]


@pytest.mark.parametrize(("loss", "alpha"), STRONG, ids=str)
def test_regret_of_rda_under_strong_convexity(loss, alpha):
    """β_t = 0, σ = α: R_t ≤ L²/(2σ) (6 + log t)."""
    model = gs.OnlineClassifier(loss, gs.L2Squared(), alpha, gs.RDA(gamma=0), fit_intercept=False)
    regret = regrets(loss, gs.L2Squared(), alpha, walk(model))
    assert (regret <= (6 + np.log(ROUND)) / (2 * alpha)).all()
    assert regret[-1, -1] > 0


@pytest.mark.parametrize(("loss", "alpha"), STRONG, ids=str)
@pytest.mark.parametrize("method", ["fobos", "pegasos"])
def test_regret_of_fobos_under_strong_convexity(loss, alpha, method):
    """Theorem 8, from its proof: R_T ≤ 2GD + HD² + 7G²/(2H) (1 + log T), H = α, ‖w‖ ≤ G/α (Lemma 9)."""
    chosen = gs.Fobos(step=gs.InverseTime(alpha)) if method == "fobos" else gs.Pegasos()
    path = walk(gs.OnlineClassifier(loss, gs.L2Squared(), alpha, chosen, fit_intercept=False))
    assert np.linalg.norm(path, axis=1).max() <= 1 / alpha * (1 + 1e-12)
    regret = regrets(loss, gs.L2Squared(), alpha, path)
    for row, w in zip(regret, comparators(loss, gs.L2Squared(), alpha), strict=True):
        D = np.linalg.norm(path - w, axis=1).max()
        assert (row <= 2 * D + alpha * D**2 + 3.5 / alpha * (1 + np.log(ROUND))).all()
    assert regret[-1, -1] > 0
