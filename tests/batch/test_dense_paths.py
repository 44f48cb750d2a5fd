"""Paths and several outputs on dense data: the same optimum as by other ways, and no work twice."""

import numpy as np
import pytest
import scipy.sparse as sp

import gossamer as gs
from gossamer.batch import cv, solvers
from gossamer.batch.driver import solve
from gossamer.batch.objective import Objective

ROWS, FEATURES, OUTPUTS = 300, 80, 7


def problem(loss, intercept, weighted, order="C", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, FEATURES)) @ (np.eye(FEATURES) + 0.2 * rng.standard_normal((FEATURES, FEATURES)))
    Z = X[:, :12] @ rng.standard_normal((12, OUTPUTS)) / 4 + 0.5 * rng.standard_normal((ROWS, OUTPUTS))
    y = Z.argmax(axis=1)[:, None] if loss == "multinomial" else np.sign(Z) if loss == "logistic" else Z
    weight = rng.integers(1, 4, ROWS).astype(float) if weighted else None
    X = np.asarray(X + 1.0, order=order)
    return X, y.astype(float), {"outputs": OUTPUTS, "fit_intercept": intercept, "sample_weight": weight}


# Large enough for products of columns (block_coordinate.cpp: worth_a_metric); FISTA shares nothing with them.
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])
@pytest.mark.parametrize("penalty", ["group_l2", "sparse_group_l2", "group_linf", "groups"])
@pytest.mark.parametrize("loss", ["multinomial", "logistic", "squared"])
def test_several_outputs_on_dense_data(loss, penalty, intercept, weighted):
    if penalty == "groups":
        penalty = gs.GroupL2(groups=np.arange(FEATURES) // 4)
    X, y, settings = problem(loss, intercept, weighted)
    top = cv._alpha_max(Objective(X, y, loss, penalty, 1.0, **settings))
    objective = Objective(X, y, loss, penalty, 0.05 * top, **settings)
    fast = solve(objective, solvers.CoordinateDescent(), tol=1e-7)
    slow = solve(objective, solvers.FISTA(), tol=1e-6, max_iter=5000)
    scale = objective.scale(fast.certificate.name)
    assert fast.converged
    assert slow.converged
    assert fast.certificate.gap <= 1e-7 * scale
    assert abs(fast.certificate.objective - slow.certificate.objective) <= 2e-6 * scale
    assert np.isclose(objective.value_at(fast.W), fast.certificate.objective, rtol=1e-9)


@pytest.mark.parametrize("form", ["C", "F", "csr"])
@pytest.mark.parametrize(
    ("loss", "penalty"),
    [
        ("squared", "l1"),
        ("logistic", "l1"),
        ("squared", gs.GroupL2(np.arange(FEATURES) // 4)),
        ("multinomial", "group_l2"),
    ],
    ids=["lasso", "logistic", "groups", "rows"],
)
def test_a_strength_of_a_path_is_a_fit_of_its_own(loss, penalty, form):
    X, y, _ = problem("multinomial" if loss == "multinomial" else "squared", True, False, "F" if form == "F" else "C")
    y = y[:, 0] if loss != "logistic" else y[:, 0] > 0
    X = sp.csr_array(np.where(np.abs(X) > 1.5, X, 0)) if form == "csr" else X
    path = gs.regularization_path(X, y, loss=loss, penalty=penalty, alphas=8, alpha_min_ratio=0.05, tol=1e-6)
    make = gs.BatchRegressor if loss == "squared" else gs.BatchClassifier
    for alpha, objective, gap in zip(path.alphas, path.objectives, path.dual_gaps, strict=True):
        alone = make(loss=loss, penalty=penalty, alpha=alpha, tol=1e-6).fit(X, y)
        assert abs(objective - alone.objective_) <= gap + alone.dual_gap_ + 1e-12
    assert (path.dual_gaps <= 1e-6 * path.objectives[0]).all()


def test_a_strength_starts_at_the_known_point_of_the_last(monkeypatch):
    X, y, settings = problem("squared", True, False)
    objective = Objective(X, y[:, :1], "squared", "l1", 1.0, **settings | {"outputs": 1})
    strengths = cv._alpha_max(objective) * np.geomspace(1, 0.05, 10)
    looked = []
    at = Objective.at
    monkeypatch.setattr(Objective, "at", lambda self, W: looked.append(W) or at(self, W))
    _, solutions = cv.walk(objective, strengths, "auto", 1e-4, 1000, None)
    assert len(solutions) == 10
    assert len(looked) <= 2  # the first strength, and the empty model that gaps are measured by


def test_ordered_rows_do_not_make_the_penalty_stronger():
    rng = np.random.default_rng(0)
    place = np.repeat(np.arange(20), 20)  # rows of a place are neighbours, and places differ
    X = np.c_[np.eye(20)[place], rng.standard_normal((400, 5))]
    y = 3 * rng.standard_normal(20)[place] + X[:, 20] + 0.3 * rng.standard_normal(400)
    mixed = rng.permutation(400)
    ordered, shuffled = gs.BatchRegressorCV(alphas=20).fit(X, y), gs.BatchRegressorCV(alphas=20).fit(X[mixed], y[mixed])
    assert ordered.alpha_ <= 3 * shuffled.alpha_
    assert ordered.alpha_ < gs.BatchRegressorCV(alphas=20, cv=5).fit(X, y).alpha_


@pytest.mark.parametrize("seed", range(10))
def test_the_choice_is_within_one_standard_error_of_the_best(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 30))
    y = X[:, :4] @ rng.standard_normal(4) + rng.standard_normal(80)
    best, few = (gs.BatchRegressorCV(alphas=20, select=select).fit(X, y) for select in ("best", "sparsest"))
    loss, top = few.path_loss_, int(np.argmin(few.path_loss_))
    at = int(np.flatnonzero(few.alphas_ == few.alpha_)[0])
    assert best.alpha_ == best.alphas_[top]
    assert few.path_nonzeros_[at] <= few.path_nonzeros_[top]
    assert loss[at] - loss[top] <= few.path_loss_se_[at] + few.path_loss_se_[top]
