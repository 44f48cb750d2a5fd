"""The default method on raw columns and raw counts: no overflow, and close to the batch optimum after some passes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes

import gossamer as gs

RNG = np.random.default_rng(7)
N = 1000
UNITS = 10.0 ** np.array([-4, -1, 0, 2, 5, 7])
FACTORS = RNG.normal(size=(N, 6))
X = (FACTORS + 3) * UNITS
RATE = np.exp(FACTORS @ [0.5, -0.3, 0.2, 0.0, 0.0, 0.3])
WORDS = sp.csr_array((RNG.random((N, 40)) < 0.1) * RNG.integers(1, 500, (N, 40)).astype(float))
LOSSES = ["poisson", "gamma", gs.losses.Tweedie(1.5), gs.Quantile(0.9), "huber", "squared", "epsilon_insensitive"]


def targets(loss, size):
    """Counts or sizes, of the kind that the loss takes."""
    name = str(loss).lower()
    if "poisson" in name:
        return RNG.poisson(size * RATE).astype(float)
    if "tweedie" in name:
        return RNG.poisson(RATE) * RNG.gamma(2.0, size, N)
    return size * RATE * RNG.gamma(4.0, 0.25, N)


@pytest.mark.parametrize("size", [1.0, 1e6], ids="size{:g}".format)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_raw_columns_and_counts(loss, size):
    y = targets(loss, size)
    for data in (X, WORDS):
        with np.errstate(over="raise", invalid="raise"):
            one = gs.OnlineRegressor(loss, random_state=0).fit(data, y)
            assert np.isfinite(one.coef_).all()
            assert np.isfinite(one.predict(data)).all()
            assert np.isfinite(one.progressive_loss_)
    value = gs.losses.as_loss(loss, "regression")
    model = gs.OnlineRegressor(loss, max_passes=5, random_state=0).fit(X, y)
    exact = gs.BatchRegressor(loss, alpha=0.0, standardize=True, tol=1e-3).fit(X, y)
    constant = gs.OnlineRegressor(loss, random_state=0, alpha=1e9 * size).fit(X, y)
    assert not constant.coef_.any()

    def mean(m):
        return float(np.mean(value.value((X @ m.coef_ + m.intercept_)[:, None], y[:, None])))

    gained = (mean(constant) - mean(model)) / (mean(constant) - mean(exact))
    assert gained > 0.9, (mean(constant), mean(model), mean(exact))


def test_raw_columns_reach_least_squares():
    """Within 1.10 of it after one pass, 1.02 after twenty (benchmarks/quality.py has more sets)."""
    data, y = load_diabetes(return_X_y=True, scaled=False)
    least = np.sqrt(np.mean((gs.BatchRegressor(alpha=0.0).fit(data, y).predict(data) - y) ** 2))
    for passes, most in ((1, 1.1), (20, 1.02)):
        model = gs.OnlineRegressor(max_passes=passes, random_state=0).fit(data, y)
        assert np.sqrt(np.mean((model.predict(data) - y) ** 2)) < most * least
