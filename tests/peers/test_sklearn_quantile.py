"""What scikit-learn tests of QuantileRegressor (linear_model/tests/test_quantile.py), of our batch regressor.

Theirs solves a linear program, to a vertex. Ours smooths the kinks, with multipliers, down to the tolerance asked for:
where a test compares many digits, tol is small.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import QuantileRegressor

import gossamer as gs
from peers.ledger import Ledger

ledger = Ledger(
    "sklearn/linear_model/tests/test_quantile.py",
    {
        "It is about solvers that SciPy has removed.": """
            test_incompatible_solver_for_sparse_input test_error_interior_point_future""",
    },
    since="1.9",
)
ports = ledger.ports


def ours(quantile=0.5, alpha=1.0, **rest):
    """Their settings are ours: mean pinball loss + α‖w‖₁."""
    return gs.BatchRegressor(gs.Quantile(quantile), "l1", alpha, **rest)


def fit(model, X, y, weight=None):
    """Fit without the warning that the gap is not small."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, weight)


def objective(model, X, y, quantile, alpha, weight=None):
    r = y - X @ model.coef_ - np.ravel(model.intercept_)[0]
    return np.average(np.maximum(quantile * r, (quantile - 1) * r), weights=weight) + alpha * np.abs(model.coef_).sum()


def skewed(quantile, rows=300):
    """Exponential targets whose quantile is 1.23 + ½x₁ − 2x₂."""
    random = np.random.RandomState(42)
    X = np.c_[np.abs(random.randn(rows)), -random.randint(2, size=rows)]
    return X, random.exponential(-(X @ [0.5, -2] + 1.23) / np.log(1 - quantile))


def five(rows=60):
    random = np.random.RandomState(42)
    X, y = make_regression(rows, 5, n_informative=5, random_state=random, shuffle=False)
    return X, y + random.exponential(100, rows), random


@pytest.mark.parametrize(
    ("quantile", "alpha", "intercept", "slope"),
    [
        (0.5, 0, 1, None),  # any slope from 1 to 10
        (0.51, 0, 1, 10),
        (0.49, 0, 1, 1),
        (0.5, 0.01, 1, 1),
        (0.5, 100, 2, 0),  # the constant median
    ],
)
@ports("test_quantile_toy_example")
def test_three_points(quantile, alpha, intercept, slope):
    model = fit(ours(quantile, alpha), [[0], [1], [1]], [1, 2, 11])
    np.testing.assert_allclose(model.intercept_, intercept, atol=1e-2)
    if slope is None:
        assert 1 <= model.coef_[0] <= 10
    else:
        np.testing.assert_allclose(model.coef_, slope, atol=1e-2)


@pytest.mark.parametrize("intercept", [True, False])
@ports("test_quantile_equals_huber_for_low_epsilon")
def test_a_narrow_huber_is_the_median(intercept):
    """With δ → 0 Huber's loss is δ|r|, 2δ times the pinball loss at ½, so its strength is 2δα."""
    X, y = make_regression(100, 8, random_state=0, noise=1.0)
    huber = gs.BatchRegressor(gs.Huber(1e-2), "l1", 2e-6, fit_intercept=intercept, solver="fista", max_iter=2000)
    huber = fit(huber, X, y)
    median = fit(ours(0.5, 1e-4, fit_intercept=intercept), X, y)
    np.testing.assert_allclose(median.coef_, huber.coef_, atol=0.1)
    assert objective(median, X, y, 0.5, 1e-4) <= objective(huber, X, y, 0.5, 1e-4) * 1.01
    if intercept:
        assert np.mean(y < median.predict(X)) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.05])
@ports("test_quantile_estimates_calibration", "test_linprog_failure")
def test_the_share_of_points_below(quantile):
    X, y = make_regression(500, 10, random_state=0, noise=1.0)
    with pytest.warns(ConvergenceWarning, match=r"Stopped after \d+ iterations with a relative"):
        ours(quantile, 0.0, max_iter=3).fit(X, y)
    model = ours(quantile, 0.0, max_iter=300).fit(X, y)
    assert np.mean(y < model.predict(X)) == pytest.approx(quantile, abs=2e-2)


@ports("test_quantile_sample_weight")
def test_weights_move_the_quantile():
    X, y = make_regression(300, 5, random_state=0, noise=10.0)
    weight = np.where(y > y.mean(), 100.0, 1.0)
    below = y < fit(ours(0.5, 1e-8, max_iter=500), X, y, weight).predict(X)
    assert below.mean() > 0.5
    assert np.average(below, weights=weight) == pytest.approx(0.5, abs=5e-2)


@pytest.mark.parametrize("quantile", [0.2, 0.5, 0.8])
@ports("test_asymmetric_error")
def test_skewed_targets(quantile):
    X, y = skewed(quantile)
    for alpha in (0.0, 0.01):
        theirs, model = QuantileRegressor(quantile=quantile, alpha=alpha).fit(X, y), fit(ours(quantile, alpha), X, y)
        best, reached = (objective(each, X, y, quantile, alpha) for each in (theirs, model))
        assert best * (1 - 1e-12) <= reached <= best * (1 + 1e-4)
        assert np.mean(model.predict(X) > y) == pytest.approx(quantile, abs=2e-2)
        np.testing.assert_allclose(model.coef_, theirs.coef_, atol=0.05)
        np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=0.05)


@pytest.mark.parametrize("quantile", [0.2, 0.5, 0.8])
def test_skewed_targets_to_seven_digits(quantile):
    X, y = skewed(quantile)
    theirs, model = (
        QuantileRegressor(quantile=quantile, alpha=0.01).fit(X, y),
        ours(quantile, 0.01, tol=1e-10).fit(X, y),
    )
    np.testing.assert_allclose(model.coef_, theirs.coef_)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_)


def moved(quantile):
    """Fits of the same data scaled, mirrored, tilted and mixed, with the weights each should have."""
    X, y, random = five()
    base = ours(quantile, 0.0, tol=1e-9).fit(X, y)
    w, b = base.coef_, base.intercept_[0]
    g, c, A = random.randn(5), random.randn(), random.randn(5, 5)
    return [
        (X, 2.5 * y, quantile, 2.5 * w, 2.5 * b),
        (X, -2.5 * y, 1 - quantile, -2.5 * w, -2.5 * b),
        (X, y + X @ g + c, quantile, w + g, b + c),
        (X @ A, y, quantile, np.linalg.solve(A, w), b),
    ]


@pytest.mark.parametrize("quantile", [0.2, 0.5, 0.8])
@ports("test_equivariance")
def test_the_optimum_moves_with_the_data(quantile):
    for X, y, q, w, b in moved(quantile):
        model = fit(ours(q, 0.0), X, y)
        reached = objective(model, X, y, q, 0.0)
        model.coef_, model.intercept_ = w, b
        assert reached == pytest.approx(objective(model, X, y, q, 0.0), rel=5e-3)


@pytest.mark.parametrize("quantile", [0.2, 0.5, 0.8])
def test_the_optimum_moves_with_the_data_to_five_digits(quantile):
    for X, y, q, w, b in moved(quantile):
        model = ours(q, 0.0, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(model.coef_, w, rtol=1e-5)
        np.testing.assert_allclose(model.intercept_, b, rtol=1e-5)


@pytest.mark.parametrize("as_x", [sp.csc_array, sp.csr_matrix, sp.coo_array])
@pytest.mark.parametrize("intercept", [True, False])
@ports("test_sparse_input")
def test_sparse_and_dense_are_one_problem(as_x, intercept):
    X, y = make_regression(200, 12, n_informative=6, random_state=0, noise=1.0)
    dense, sparse = (fit(ours(0.6, 0.1, fit_intercept=intercept, max_iter=300), A, y) for A in (X, as_x(X)))
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-2, atol=1e-6)
    assert abs(np.count_nonzero(sparse.coef_) - 6) <= 1
    if intercept:
        assert sparse.intercept_[0] == pytest.approx(dense.intercept_[0], rel=1e-2)
        assert np.mean(y < sparse.predict(as_x(X))) == pytest.approx(0.6, abs=3e-2)


def test_the_ledger_is_complete():
    ledger.check()
