"""A weight of infinity bars a feature: every result is that of the same problem without its column."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import gossamer as gs
from catalogue import PENALTIES, by_name
from online.matrix import METHODS, REFUSED

WEIGHTED = [entry.name for entry in PENALTIES if getattr(entry.penalty, "weights", None) is not None]
UNITS = {"single": (), "pair": (2,)}  # the outputs of W
rng = np.random.default_rng(3)
X = rng.standard_normal((80, 6)) * (rng.random((80, 6)) < 0.7)
Y = X[:, :2] + X[:, 4:] + 0.1 * rng.standard_normal((80, 2))


def barred(name):
    """Return the penalty with some weights made infinite, the features that are left, and the penalty over these."""
    penalty = by_name(name).penalty
    weights = np.array(penalty.weights)
    weights[1] = math.inf
    if len(weights) > 3:
        weights[4] = math.inf
    penalty = replace(penalty, weights=weights)
    left = np.flatnonzero(~penalty.barred())
    assert 0 < len(left) < 6
    return penalty, left, penalty.restricted(left)


@pytest.mark.parametrize("outputs", UNITS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", WEIGHTED)
def test_value_prox_and_dual_norm(name, dtype, outputs):
    penalty, left, smaller = barred(name)
    v = (3 * rng.standard_normal((6, *UNITS[outputs]))).astype(dtype)
    assert penalty.value(v) == math.inf
    inside = np.zeros_like(v)
    inside[left] = np.abs(v[left]) / 50
    assert penalty.value(inside) == pytest.approx(smaller.value(inside[left]), rel=1e-6)
    for step in (0.0, 0.3, 1e300 if dtype is np.float64 else 1e30):
        found = penalty.prox(v, step)
        np.testing.assert_array_equal(np.delete(found, left, axis=0), 0)
        np.testing.assert_array_equal(found[left], smaller.prox(v[left], step))
    if by_name(name).has_dual:
        np.testing.assert_allclose(penalty.dual_norm(v), smaller.dual_norm(v[left]), rtol=1e-12)
    rows = penalty.prox(np.zeros((6, 5), dtype))  # five columns: rows are taken four at a time
    np.testing.assert_array_equal(rows, 0)


@pytest.mark.parametrize("outputs", UNITS)
@pytest.mark.parametrize("solver", ["auto", "fista", "fobos"])
@pytest.mark.parametrize("name", WEIGHTED)
def test_batch(name, solver, outputs):
    penalty, left, smaller = barred(name)
    y = Y[:, 0] if outputs == "single" else Y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a = gs.BatchRegressor(penalty=penalty, alpha=0.02, solver=solver, tol=1e-9).fit(X, y)
        b = gs.BatchRegressor(penalty=smaller, alpha=0.02, solver=solver, tol=1e-9).fit(X[:, left], y)
    np.testing.assert_array_equal(np.delete(a.coef_, left, axis=-1), 0)
    np.testing.assert_allclose(a.coef_[..., left], b.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose([a.objective_, a.dual_gap_], [b.objective_, b.dual_gap_], rtol=1e-9, atol=1e-12)
    assert a.certificate_ == b.certificate_


PAIRS = [(m, name) for m in METHODS for name in WEIGHTED if name not in REFUSED[m]]


@pytest.mark.parametrize("outputs", UNITS)
@pytest.mark.parametrize(
    ("method", "name", "average"), [(m, name, a) for m, name in PAIRS for a in (False, True)[: 1 + (m != "step free")]]
)
def test_online(method, name, outputs, average):
    penalty, left, smaller = barred(name)
    y = Y[:, 0] if outputs == "single" else Y
    settings = {"method": METHODS[method], "alpha": 0.02, "average": average, "random_state": 0, "max_passes": 2}
    a = gs.OnlineRegressor(penalty=penalty, **settings).fit(X, y)
    b = gs.OnlineRegressor(penalty=smaller, **settings).fit(X[:, left], y)
    np.testing.assert_array_equal(np.delete(a.coef_, left, axis=-1), 0)
    np.testing.assert_allclose(a.coef_[..., left], b.coef_, rtol=1e-12)
    np.testing.assert_allclose(a.intercept_, b.intercept_, rtol=1e-12)


@pytest.mark.parametrize("step", ["auto", "theory"])
def test_steps_and_saving(step, tmp_path):
    penalty, left, smaller = barred("l1, weights")
    labels = Y[:, 0] > 0
    a, b = (
        gs.OnlineClassifier(penalty=p, method=gs.Fobos(step), alpha=0.01, random_state=0) for p in (penalty, smaller)
    )
    a.fit(X, labels), b.fit(X[:, left], labels)
    assert a.step_ == b.step_
    np.testing.assert_allclose(a.coef_[:, left], b.coef_, rtol=1e-12)
    gs.save(a, tmp_path / "m.gsm")
    again = gs.load(tmp_path / "m.gsm")
    np.testing.assert_array_equal(again.predict(sp.csr_array(X)), a.predict(X))
    a.partial_fit(X, labels), b.partial_fit(X[:, left], labels)
    np.testing.assert_allclose(a.coef_[:, left], b.coef_, rtol=1e-12)


def test_bad_entries_are_found():
    penalty, _, _ = barred("l1, weights")
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        gs.OnlineRegressor(penalty=penalty, method=gs.Fobos(0.1)).fit(sp.csr_array(bad), Y[:, 0])


@pytest.mark.parametrize("name", ["l1, weights", "group l2, labels, weights", "non-negative l1, weights"])
def test_strengths_and_paths(name):
    penalty, left, smaller = barred(name)
    y = Y[:, 0]
    tops = [gs.alpha_max(data, y, penalty=p) for data, p in ((X, penalty), (X[:, left], smaller))]
    np.testing.assert_allclose(*tops, rtol=1e-9)
    a = gs.BatchRegressorCV(penalty=penalty, alphas=5, cv=3).fit(X, y)
    b = gs.BatchRegressorCV(penalty=smaller, alphas=5, cv=3).fit(X[:, left], y)
    np.testing.assert_allclose(a.path_loss_, b.path_loss_, rtol=1e-6)
    np.testing.assert_allclose(a.coef_[left], b.coef_, rtol=1e-6, atol=1e-9)
    if name == "l1, weights":
        a, b = (gs.OnlineRegressorCV(penalty=p, alphas=5, random_state=0) for p in (penalty, smaller))
        a.fit(X, y), b.fit(X[:, left], y)
        np.testing.assert_allclose(a.coef_[left], b.coef_, rtol=1e-9)


@pytest.mark.parametrize("order", ["corrective", "greedy", "cyclic", "random", "parallel"])
@pytest.mark.parametrize("name", ["l1, weights", "group l2, rows, weights"])
def test_boosting(name, order):
    penalty, left, smaller = barred(name)
    settings = {
        "alpha": 0.02,
        "order": order,
        "random_state": 0,
        "max_rounds": 50,
        "bound": "grad" if "l2" in name else "ada",
    }
    a = gs.BoostingRegressor(penalty=penalty, **settings).fit(X, Y[:, 0])
    b = gs.BoostingRegressor(penalty=smaller, **settings).fit(X[:, left], Y[:, 0])
    np.testing.assert_array_equal(np.delete(a.coef_, left), 0)
    np.testing.assert_allclose(a.coef_[left], b.coef_, rtol=1e-9, atol=1e-12)
    # Extrapolation enlarges the rounding of the columns' means, which depends on the layout of X.
    np.testing.assert_allclose([r.objective for r in a.history_], [r.objective for r in b.history_], rtol=1e-7)


def test_all_features_barred():
    penalty = gs.L1(weights=np.full(6, math.inf))
    batch, online = gs.BatchRegressor(penalty=penalty), gs.OnlineRegressor(penalty=penalty, random_state=0)
    for model in (batch, online):
        model.fit(X, Y[:, 0])
        np.testing.assert_array_equal(model.coef_, 0)
    assert batch.intercept_ == pytest.approx(Y[:, 0].mean())
    assert abs(online.intercept_[0]) < 1
    assert gs.alpha_max(X, Y[:, 0], penalty=penalty) == 0


def test_projection():
    np.testing.assert_array_equal(gs.project_l1_ball([3.0, -1.0, 0.5], 2.5, weights=[1, math.inf, 1]), [2.5, 0, 0])


@pytest.mark.parametrize("bad", [-1.0, math.nan, -math.inf])
@pytest.mark.parametrize("name", WEIGHTED)
def test_other_weights_are_refused(name, bad):
    penalty = by_name(name).penalty
    weights = np.array(penalty.weights)
    weights[2] = bad
    with pytest.raises(ValueError, match=rf"weights\[2\] is {bad}"):
        replace(penalty, weights=weights)
