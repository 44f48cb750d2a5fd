"""What is left out because it cannot matter: gradients of features that rest, columns without weights, transposing."""

import numpy as np
import pytest
import scipy.sparse as sp

import gossamer as gs
from gossamer.batch import cv, objective, solvers
from gossamer.batch.driver import solve
from gossamer.batch.objective import Objective, design

GROUPS = np.arange(60) // 4
PENALTIES = [
    "l1",
    gs.L1(weights=np.linspace(0.5, 2, 60)),
    gs.ElasticNet(0.7),
    gs.NonNegativeL1(),
    gs.Berhu(),
    gs.GroupL2(GROUPS),
    gs.GroupLInf(GROUPS),
    gs.SparseGroupL2(0.4, GROUPS),
    gs.NonNegativeGroupL2(GROUPS),
]


def data(rows=200, features=60, offset=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, features)) @ (np.eye(features) + 0.1 * rng.standard_normal((features, features)))
    y = X[:, :5] @ np.array([3.0, -2.0, 1.0, 1.0, -0.5]) + rng.standard_normal(rows)
    return X + offset, y[:, None], rng.integers(1, 4, rows).astype(float)


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: p if isinstance(p, str) else type(p).__name__)
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
@pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])
def test_gradients_that_are_not_computed_change_no_certificate(loss, penalty, intercept):
    X, y, weight = data()
    y = np.sign(y) if loss == "logistic" else y
    problem = Objective(X, y, loss, penalty, 1.0, sample_weight=weight, fit_intercept=intercept)
    exact = Objective(X, y, loss, penalty, 1.0, sample_weight=weight, fit_intercept=intercept)
    left_out, start = 0, None
    for alpha in cv._alpha_max(exact) * np.geomspace(1, 0.03, 12):
        here, there = problem.with_alpha(alpha), exact.with_alpha(alpha)
        if start is not None:
            start = solvers.CoordinateDescent().begin(here, start)
        W = here.origin() if start is None else start.W
        iterates = solvers.CoordinateDescent().iterates(here, W)
        for step in range(3):  # a point is looked at before the next is asked for
            point = start if step == 0 and start is not None else next(iterates)
            truth = there.at(point.W)
            scale = there.scale("duality gap")
            assert abs(here.certify(point).gap - there.certify(truth).gap) <= 1e-9 * scale
            assert abs(point.loss - truth.loss) <= 1e-12 * scale
            rests = ~np.isclose(point.gradient, truth.gradient, rtol=1e-9, atol=1e-12 * scale).all(axis=1)
            assert not point.W[rests].any()
            left_out += np.count_nonzero(rests)
        start = point
    assert left_out > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [3, 50, 1031])
def test_products_by_rows_and_by_columns(rows, dtype):
    rng = np.random.default_rng(rows)
    X = rng.standard_normal((rows, 37)).astype(dtype)
    s, w, h = rng.standard_normal((rows, 1)), rng.standard_normal((37, 1)), rng.random(rows)
    w[rng.random(37) < 0.5] = 0
    for form in (np.ascontiguousarray(X), np.asfortranarray(X), sp.csr_array(X), sp.csc_array(X)):
        for few in (w, 0 * w, np.where(np.arange(37) == 3, w.T, 0).T):
            for threads in (1, 2):
                table, Z, G, squares = design(form, threads), np.empty((rows, 1)), np.empty((37, 1)), np.empty(37)
                table.margins(np.ascontiguousarray(few), Z)
                table.gradient(s, G)
                table.weighted_squares(h, squares)
                assert np.allclose(Z, X.astype(float) @ few, rtol=1e-12, atol=1e-12)
                assert np.allclose(G, X.astype(float).T @ s, rtol=1e-12, atol=1e-11)
                assert np.allclose(squares, h @ X.astype(float) ** 2, rtol=1e-12)


@pytest.mark.parametrize(
    "penalty", ["l1", gs.ElasticNet(0.5), gs.NonNegativeL1(), gs.L1(weights=[*[1.0] * 59, np.inf])]
)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("share", [0.9, 0.3, 0.01])
def test_only_columns_that_want_weights_are_copied(monkeypatch, loss, penalty, share):
    X, y, weight = data(rows=400)
    y = np.sign(y) if loss == "logistic" else y
    settings = {"sample_weight": weight, "fit_intercept": True}
    alpha = share * cv._alpha_max(Objective(X, y, loss, "l1", 1.0, **settings))
    slow = solve(Objective(X, y, loss, penalty, alpha, **settings), solvers.FISTA(), tol=1e-9, max_iter=5000)
    monkeypatch.setattr(objective, "LARGE", 0)
    problem = Objective(X, y, loss, penalty, alpha, **settings)
    assert problem.can_narrow
    copied = []
    narrowed = Objective.narrowed
    monkeypatch.setattr(Objective, "narrowed", lambda self, some: copied.append(len(some)) or narrowed(self, some))
    fast = solve(problem, solvers.CoordinateDescent(), tol=1e-6)
    scale = problem.scale("duality gap")
    assert fast.converged
    assert fast.certificate.gap <= 1e-6 * scale
    assert (
        -1e-9 * scale <= fast.certificate.objective - slow.certificate.objective <= fast.certificate.gap + 1e-8 * scale
    )
    assert np.isclose(problem.value_at(fast.W), fast.certificate.objective, rtol=1e-9)
    assert copied or share == 0.01
    again = solve(problem, solvers.CoordinateDescent(), tol=1e-6, start=fast.W)
    assert again.iterations <= 1 + fast.iterations // 2
    few = solve(problem, solvers.CoordinateDescent(), tol=1e-12, max_iter=1)
    exact = problem.certify(problem.at(few.W))
    assert slow.certificate.objective >= few.certificate.objective - few.certificate.gap - 1e-8 * scale
    assert np.isclose(exact.objective, few.certificate.objective, rtol=1e-9)


def test_ctrl_c_while_others_are_looked_at_keeps_the_weights(monkeypatch):
    monkeypatch.setattr(objective, "LARGE", 0)
    X, y, _ = data(rows=400)
    problem = Objective(X, y, "squared", "l1", 1.0)

    def stopped(self, S):
        raise KeyboardInterrupt

    inside = Objective.narrowed

    def narrowed(self, some):
        smaller = inside(self, some)
        self.gradient = stopped.__get__(self)
        return smaller

    monkeypatch.setattr(Objective, "narrowed", narrowed)
    found = solve(problem, solvers.CoordinateDescent())
    assert found.interrupted
    assert found.W.any()
    assert found.certificate.gap >= 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("features", [5, 33, 90])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_products_of_dense_columns_give_the_same_optimum(loss, features, dtype):
    X, y, weight = data(rows=4000, features=features)
    X = np.asfortranarray(X, dtype=dtype)
    y = np.sign(y) if loss == "logistic" else y
    settings = {"sample_weight": weight, "fit_intercept": True}
    alpha = 1e-3 * cv._alpha_max(Objective(X, y, loss, "l1", 1.0, **settings))
    dense, sparse = (
        solve(Objective(form, y, loss, "l1", alpha, **settings), solvers.CoordinateDescent(), tol=1e-9)
        for form in (X, sp.csc_array(X))
    )
    assert dense.converged
    assert np.allclose(dense.W, sparse.W, atol=1e-4)
    assert np.isclose(dense.certificate.objective, sparse.certificate.objective, rtol=1e-8)
