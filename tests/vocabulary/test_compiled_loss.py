import ctypes

import numpy as np
import pytest
import scipy
from numpy.testing import assert_allclose

import gossamer as gs

FUNCTION = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
value = FUNCTION(lambda z, y: 0.5 * (z - y) ** 2)
slope = FUNCTION(lambda z, y: z - y)
logistic_value = FUNCTION(lambda z, y: float(np.log1p(np.exp(-y * z))))
logistic_slope = FUNCTION(lambda z, y: float(-y / (1 + np.exp(y * z))))


def compiled(value, slope, **settings):
    return gs.CompiledLoss(scipy.LowLevelCallable(value), scipy.LowLevelCallable(slope), **settings)


def test_value_and_slope_are_the_functions():
    loss = compiled(value, slope)
    z, y = np.linspace(-3, 3, 7), np.linspace(1, 2, 7)
    assert_allclose(loss.value(z, y), gs.Squared().value(z, y))
    assert_allclose(loss.slope(z, y), gs.Squared().slope(z, y))
    assert_allclose(loss.link(z), z)


@pytest.mark.parametrize("method", [gs.Fobos(0.1), gs.RDA(10.0), gs.AdaGrad(0.5)])
def test_online_it_is_the_built_in_loss(method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60)
    ours = gs.OnlineRegressor(compiled(value, slope), alpha=0.01, method=method, random_state=0).fit(X, y)
    built_in = gs.OnlineRegressor("squared", alpha=0.01, method=method, random_state=0).fit(X, y)
    assert_allclose(ours.coef_, built_in.coef_, rtol=1e-12, atol=1e-14)
    labels = np.where(y > 0, "up", "down")
    loss = compiled(logistic_value, logistic_slope, kind="binary")
    ours = gs.OnlineClassifier(loss, alpha=0.01, method=method, random_state=0).fit(X, labels)
    built_in = gs.OnlineClassifier("logistic", alpha=0.01, method=method, random_state=0).fit(X, labels)
    assert_allclose(ours.coef_, built_in.coef_, rtol=1e-10, atol=1e-14)


def test_what_is_not_such_a_function_is_refused():
    with pytest.raises(TypeError, match="LowLevelCallable"):
        gs.CompiledLoss(lambda z, y: 0.0, lambda z, y: 0.0)
    other = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda z: z)
    with pytest.raises(TypeError, match=r"double \(double\)"):
        compiled(other, other)
    with pytest.raises(ValueError, match="kind"):
        compiled(value, slope, kind="multiclass")
    with pytest.raises(ValueError, match="-1 and"):
        compiled(value, slope, kind="binary").value([0.0], [0.0])
