"""`standardize` of the online estimators: learning from standardised columns, given back in the units of X."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
from gossamer.online import step_search

RNG = np.random.default_rng(5)
N = 64  # a power of two: all rows decide on the units
UNITS = 10.0 ** RNG.integers(-3, 4, 6)
X = (RNG.normal(size=(N, 6)) + 1) * UNITS
Y = (X / UNITS) @ [1.0, -2.0, 0.0, 0.5, 0.0, 0.0] + 0.3 * RNG.normal(size=N)
CLASSES = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
SCALED = (X - X.mean(axis=0)) / X.std(axis=0)
METHODS = [gs.Fobos(0.5), gs.Fobos(), gs.RDA(2.0), gs.AdaGrad(0.3), gs.AdaGrad(form="fobos"), gs.FTRL(0.3)]
OTHERS = [gs.TruncatedGradient(0.5), gs.Subgradient(0.5)]


def whole_and_parts(make, edges, y, classes=()):
    """Return an estimator that learned all rows at once, and one that learned them in parts, saved in between."""
    whole, parts = make(), make()
    more = {"classes": classes} if len(classes) else {}
    whole.partial_fit(X, y, **more)
    for begin, end in pairwise(edges):
        parts.partial_fit(X[begin:end], y[begin:end], **more)
        parts = pickle.loads(pickle.dumps(parts))
    return whole, parts


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("method", [*METHODS, *OTHERS], ids=str)
def test_it_is_learning_from_scaled_columns(method, fit_intercept):
    settings = {"alpha": 0.01, "method": method, "fit_intercept": fit_intercept, "shuffle": False}
    scaled = SCALED if fit_intercept else X / X.std(axis=0)
    for make, y in ((gs.OnlineClassifier, CLASSES), (gs.OnlineRegressor, Y)):
        model = make(standardize=True, max_passes=2, **settings).fit(X, y)
        other = make(max_passes=2, **settings).fit(scaled, y)
        assert_allclose(model.coef_ * X.std(axis=0), other.coef_, rtol=1e-7, atol=1e-9)
        assert_allclose(model.progressive_loss_, other.progressive_loss_, rtol=1e-9)
        assert_allclose(model.predict(X), other.predict(scaled), rtol=1e-6, atol=1e-8)
        assert_array_equal(model.coef_ != 0, other.coef_ != 0)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_paths_too(method):
    settings = {"alphas": 5, "method": method, "shuffle": False}
    path = gs.OnlineClassifierCV(standardize="auto", **settings).fit(X, CLASSES)
    other = gs.OnlineClassifierCV(**settings).fit(SCALED, CLASSES)
    assert_allclose(path.alphas_, other.alphas_, rtol=1e-9)
    assert_allclose(path.path_loss_, other.path_loss_, rtol=1e-7)
    for found, expected in zip(path.coef_path_, other.coef_path_, strict=True):
        assert_allclose(found.toarray() * X.std(axis=0), expected.toarray(), rtol=1e-6, atol=1e-9)
    lane = list(path.alphas_).index(path.alpha_)
    assert_allclose(path.intercept_path_[lane], path.intercept_)
    one = path.at()
    assert_array_equal(one.coef_, path.coef_)
    assert_allclose(one.decision_function(X), path.decision_function(X))
    assert_allclose(one.partial_fit(X, CLASSES).coef_, path.at().partial_fit(X, CLASSES).coef_)


@pytest.mark.parametrize("method", [*METHODS, *OTHERS], ids=str)
def test_cutting_the_data_and_saving_in_between_changes_nothing(method):
    edges = [0, 1, 3, 17, 30, 31, 60, N]
    for make in (
        lambda: gs.OnlineClassifier(method=method, standardize=True, alpha=0.01),
        lambda: gs.OnlineClassifierCV(4, method=method, standardize=True),
    ):
        if method in OTHERS and isinstance(make(), gs.OnlineClassifierCV):
            continue
        whole, parts = whole_and_parts(make, edges, CLASSES, [0, 1, 2])
        assert_array_equal(parts.coef_, whole.coef_)
        assert_array_equal(parts.intercept_, whole.intercept_)
        assert_array_equal(parts.progressive_loss_, whole.progressive_loss_)


def test_units_change_no_prediction():
    make = {"method": gs.Fobos(), "standardize": True, "random_state": 0}
    one, other = (gs.OnlineRegressor(**make).fit(A, Y) for A in (X, X / UNITS + 7))
    assert_allclose(other.predict(X / UNITS + 7), one.predict(X), rtol=1e-6)


def test_the_units_are_those_of_the_first_rows(monkeypatch):
    monkeypatch.setattr(step_search, "PREFIX", 32)
    model = gs.OnlineRegressor(method=gs.Fobos(0.1), standardize=True, shuffle=False)
    for begin in range(0, N, 5):
        model.partial_fit(X[begin : begin + 5], Y[begin : begin + 5])
    assert_allclose(model._trainer.units.spread, X[:32].std(axis=0))
    assert_allclose(model._trainer.units.mean, X[:32].mean(axis=0))
    assert model._trainer.buffer is None


def test_sparse_rows_are_read_as_they_are():
    """A prediction that reads the weights of some features knows what the means of all do to the intercept."""
    model = gs.OnlineRegressor(method=gs.Fobos(0.1), standardize=True, shuffle=False).partial_fit(X, Y)
    row = np.zeros((1, 6))
    row[0, 2] = 3.0
    few = model.predict(sp.csr_array(row))
    assert_allclose(few, row @ model.coef_ + model.intercept_)


def test_constant_and_barred_columns():
    A = np.column_stack([X, np.full(N, 7.0)])
    penalty = gs.L1(weights=[1, 1, np.inf, 1, 1, 1, 1])
    model = gs.OnlineRegressor("squared", penalty, 0.01, gs.AdaGrad(0.3), standardize=True).fit(A, Y)
    assert np.isfinite(model.coef_).all()
    assert model.coef_[2] == model.coef_[6] == 0


def test_numbers_of_tables():
    frame = pd.DataFrame({"x": X[:, 0], "kind": np.where(X[:, 1] > X[:, 1].mean(), "a", "b"), "y": Y})
    model = gs.OnlineRegressor(method=gs.Fobos(0.1), standardize="auto").fit(frame, target="y")
    assert model._trainer.setup.standardized == 1
    assert_allclose(model._trainer.units.spread, [X[:, 0].std()])
    other = gs.OnlineRegressor(method=gs.Fobos(0.1), standardize="auto").fit(frame.assign(x=frame.x * 1000), target="y")
    assert_allclose(model.predict(frame), other.predict(frame.assign(x=frame.x * 1000)), rtol=1e-6)


def test_the_rule_without_a_step_has_units_of_its_own():
    for data in (X, sp.csr_array(X)):
        plain, told = (gs.OnlineRegressor(standardize=s, random_state=0).fit(data, Y) for s in (False, True))
        assert_array_equal(plain.coef_, told.coef_)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="X is a sparse matrix"):
        gs.OnlineRegressor(method="fobos", standardize=True).fit(sp.csr_array(X), Y)
    for source in (sp.csr_array(X),):
        with pytest.raises(ValueError, match="this source has none"):
            gs.OnlineRegressor(method="fobos", standardize=True).fit_source(gs.source((source, Y)))
    with pytest.raises(ValueError, match="must be True, False or 'auto'"):
        gs.OnlineRegressor(standardize="yes").fit(X, Y)
    model = gs.OnlineRegressor(method=gs.Fobos(0.1), standardize=True, grow=True).partial_fit(X, Y)
    with pytest.raises(ValueError, match="has the units of 6 features"):
        model.partial_fit(np.ones((2, 7)), [0.0, 1.0])
    plain, auto = (
        gs.OnlineRegressor(method=gs.AdaGrad(0.1), standardize=s, shuffle=False).fit(sp.csr_array(X), Y)
        for s in (False, "auto")
    )
    assert_array_equal(auto.coef_, plain.coef_)


def test_the_first_rows_are_in_units_of_their_own():
    """Large numbers do not diverge before there are rows enough to choose a step from."""
    model = gs.OnlineRegressor(method=gs.Fobos(0.5), standardize=True)
    for row, y in zip(X * 1e9, Y, strict=True):
        model.partial_fit(row[None, :], [y])
        assert np.abs(model.predict(X * 1e9)).max() < 1e4


@pytest.mark.parametrize("spread", [np.ones(5), np.zeros(6), np.full(6, np.nan), None])
def test_a_state_with_other_units_is_refused(spread):
    trainer = gs.OnlineRegressor(method=gs.Fobos(0.1), standardize=True).fit(X, Y)._trainer
    state = trainer.__getstate__()
    state["units"] = None if spread is None else type(trainer.units)(np.zeros(6), spread)
    with pytest.raises(ValueError, match="does not belong to this trainer: invalid units"):
        trainer.__setstate__(state)
