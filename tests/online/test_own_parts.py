"""Losses and penalties of one's own: compiled ones learn, Python objects are refused in words."""

import ctypes

import pytest
import scipy
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import gossamer as gs
from online.tasks import MANY, REAL, REALS, THREE, TWO, X, classifier, regressor


class OwnLoss:
    """What batch would accept."""

    kind = "binary"

    def value(self, z, y):
        return (z - y) ** 2

    def slope(self, z, y):
        return 2 * (z - y)


class OwnPenalty:
    def value(self, w):
        return 0.0

    def prox(self, v, step):
        return v


class Bare:
    """A loss or penalty that says nothing else about itself."""

    def value(self, *_):
        return 0.0

    slope = prox = value


@pytest.mark.parametrize("own", [OwnLoss(), Bare()], ids=lambda o: type(o).__name__)
def test_losses_in_python_are_refused_in_words(own):
    for make, y in ((classifier, TWO), (classifier, THREE), (classifier, MANY), (regressor, REAL)):
        with pytest.raises(ValueError, match=rf"compiled losses, and {type(own).__name__} is a Python object"):
            make(loss=own).fit(X, y)


def c_function(function):
    return scipy.LowLevelCallable(ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(function))


SQUARED = gs.CompiledLoss(c_function(lambda z, y: 0.5 * (z - y) * (z - y)), c_function(lambda z, y: z - y))
SQUARED_HINGE = gs.CompiledLoss(
    c_function(lambda z, y: 0.5 * max(1 - y * z, 0.0) ** 2), c_function(lambda z, y: -y * max(1 - y * z, 0.0)), "binary"
)


@pytest.mark.parametrize("y", [REAL, REALS], ids=["one", "three"])
def test_a_compiled_loss_learns_like_the_librarys(y):
    own, known = (regressor(loss=loss).fit(X, y) for loss in (SQUARED, "squared"))
    assert_allclose(own.coef_, known.coef_, rtol=1e-12, atol=1e-14)
    assert_allclose(own.progressive_loss_, known.progressive_loss_, rtol=1e-12)


@pytest.mark.parametrize("y", [TWO, THREE, MANY], ids=["two", "three", "several labels"])
def test_a_compiled_loss_classifies_like_the_librarys(y):
    own, known = (classifier(loss=loss, method="auto").fit(X, y) for loss in (SQUARED_HINGE, "squared_hinge"))
    assert_allclose(own.coef_, known.coef_, rtol=1e-10, atol=1e-14)
    assert not hasattr(own, "predict_proba")
    with pytest.raises(ValueError, match="classification loss"):
        classifier(loss=SQUARED).fit(X, TWO)


def test_an_estimator_with_a_compiled_loss_can_be_cloned():
    model = clone(regressor(loss=SQUARED))
    assert_array_equal(model.fit(X, REAL).coef_, regressor(loss=SQUARED).fit(X, REAL).coef_)
    assert cross_val_score(regressor(loss=SQUARED, max_passes=3), X, REAL, cv=2).mean() > 0.5


@pytest.mark.parametrize("own", [OwnPenalty(), Bare()], ids=lambda o: type(o).__name__)
@pytest.mark.parametrize("method", ["auto", "fobos", "rda", "adagrad", "ftrl", "subgradient", "eg", "pegasos"])
def test_penalties_in_python_are_refused_in_words(own, method):
    with pytest.raises(ValueError, match="this penalty is a Python object"):
        classifier(penalty=own, method=method).fit(X, TWO)
