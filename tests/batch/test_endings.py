"""Fits that cannot make progress end early, and say so."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import gossamer as gs
from gossamer.batch.objective import Objective, shares

n, d = 60, 4
r = np.random.default_rng(0)
X = r.standard_normal((n, d))
signal = X[:, 0] + 0.1 * r.standard_normal(n)
heavy = r.random(n) < 0.5

HOSTILE = {
    "denormal features": (X * 1e-310, signal, None),
    "extreme weights": (X, signal, np.where(heavy, 1e300, 1e-300)),
    "weights whose sum overflows": (X, signal, np.full(n, 1e308)),
    "offset of y": (X, signal + 1e6, None),
    "offset of X": (X + 1e6, signal, None),
}


def _target(kind, y):
    return (y > np.median(y)).astype(int) if kind is gs.BatchClassifierCV else y


@pytest.mark.parametrize("kind", [gs.BatchClassifierCV, gs.BatchRegressorCV])
@pytest.mark.parametrize("name", HOSTILE)
def test_cross_validation_ends_in_time(kind, name, monkeypatch):
    features, y, weight = HOSTILE[name]
    rounds = _counted(monkeypatch)
    model = kind(alphas=8, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(features, _target(kind, y), sample_weight=weight)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(model.predict(features)).all()
    if not name.startswith("offset"):  # there it may be slow, but gets on
        assert len(rounds) < 50 * 8 * 4


def _counted(monkeypatch):
    """Return a list that grows by one with every certificate."""
    rounds, certify = [], Objective.certify

    def counted(self, point):
        rounds.append(1)
        return certify(self, point)

    monkeypatch.setattr(Objective, "certify", counted)
    return rounds


def test_denormal_features_end_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="scale the features"):
        model = gs.BatchRegressor(alpha=1e-312).fit(X * 1e-310, signal)
    assert model.n_iter_ < 100


@pytest.mark.parametrize("kind", [gs.BatchClassifier, gs.BatchRegressor])
def test_rows_without_a_share_of_the_weight_do_not_count(kind):
    y = (signal > 0).astype(int) if kind is gs.BatchClassifier else signal
    weight = np.where(heavy, 1e300, 1e-300)
    both = kind(alpha=0.01, tol=1e-10).fit(X, y, sample_weight=weight)
    some = kind(alpha=0.01, tol=1e-10).fit(X[heavy], y[heavy])
    np.testing.assert_allclose(both.coef_, some.coef_, rtol=1e-12)
    np.testing.assert_allclose(both.dual_gap_, some.dual_gap_, atol=1e-12)


def test_shares():
    np.testing.assert_allclose(shares([1e308, 1e308]), [0.5, 0.5])
    np.testing.assert_allclose(shares([5e-324, 1e-323]), [1 / 3, 2 / 3])
    np.testing.assert_array_equal(shares([1e300, 1e-300]), [1.0, 0.0])
    np.testing.assert_allclose(shares([3.0, 1.0]), [0.75, 0.25], rtol=1e-15)
