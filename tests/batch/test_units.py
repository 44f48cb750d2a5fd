"""`standardize` of the batch estimators: a problem over standardised columns, given back in the units of X."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

import gossamer as gs
from gossamer.estimators import units

RNG = np.random.default_rng(0)
UNITS = 10.0 ** RNG.integers(-3, 4, 8)
X = (RNG.normal(size=(120, 8)) + 2) * UNITS
SPARSE = sp.csr_array(np.where(RNG.random(X.shape) < 0.3, X, 0.0))
Y = (X / UNITS) @ np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.3, 0.0, 0.0]) + 0.1 * RNG.normal(size=120)
CLASSES = np.where(np.median(Y) < Y, "yes", "no")
THREE = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
WEIGHT = RNG.integers(0, 4, 120).astype(float)


def test_spreads_are_those_of_the_definition():
    for weight in (None, WEIGHT):
        mean = np.average(X, axis=0, weights=weight)
        expected = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
        for given in (X, np.asfortranarray(X), sp.csr_array(X), sp.csc_array(X)):
            assert_allclose(units.spreads(given, weight), expected, rtol=1e-12)
    dense = SPARSE.toarray()
    assert_allclose(units.spreads(SPARSE), dense.std(axis=0), rtol=1e-12)
    assert_array_equal(units.spreads(np.full((5, 2), 0.1)), [1, 1])
    assert_allclose(units.spreads(np.array([[1e200], [3e200]])), [1e200])
    assert_allclose(units.spreads(np.array([[1e-200], [3e-200]])), [1e-200])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("data", [X, SPARSE, SPARSE.tocsc()], ids=["dense", "csr", "csc"])
def test_the_answer_is_that_of_scaled_columns(data, fit_intercept):
    """Centring as well changes nothing, where there is an intercept."""
    settings = {"alpha": 0.25, "fit_intercept": fit_intercept, "tol": 1e-9}
    model = gs.BatchRegressor(standardize=True, **settings).fit(data, Y)
    dense = data.toarray() if sp.issparse(data) else data
    scaler = StandardScaler(with_mean=fit_intercept).fit(dense)
    other = gs.BatchRegressor(**settings).fit(scaler.transform(dense), Y)
    assert_allclose(model.coef_ * scaler.scale_, other.coef_, atol=1e-5)
    assert_allclose(model.predict(data), other.predict(scaler.transform(dense)), atol=1e-4)
    assert_allclose(model.objective_, other.objective_, rtol=1e-8)
    assert model.dual_gap_ <= 1e-8 * model.objective_ + 1e-8
    assert np.any(model.coef_)


@pytest.mark.parametrize("penalty", ["l1", "group_l2", "elastic_net"])
@pytest.mark.parametrize("labels", [CLASSES, THREE], ids=["two", "three"])
def test_units_of_columns_change_no_prediction(labels, penalty):
    settings = {"alpha": 0.02, "standardize": "auto", "penalty": penalty, "tol": 1e-8}
    model = gs.BatchClassifier(**settings).fit(X, labels, sample_weight=WEIGHT)
    other = gs.BatchClassifier(**settings).fit(X / UNITS, labels, sample_weight=WEIGHT)
    assert_allclose(model.decision_function(X), other.decision_function(X / UNITS), rtol=1e-4, atol=1e-4)
    assert_array_equal(model.nonzero_features_, other.nonzero_features_)


def test_auto_leaves_sparse_matrices_alone():
    plain, auto = (gs.BatchRegressor(alpha=0.1, standardize=s).fit(SPARSE, Y) for s in (False, "auto"))
    assert_array_equal(plain.coef_, auto.coef_)


def test_paths_and_cross_validation_follow_the_units():
    top = gs.alpha_max(X, Y, standardize=True)
    assert_allclose(top, gs.alpha_max(StandardScaler().fit_transform(X), Y), rtol=1e-9)
    path = gs.regularization_path(X, Y, alphas=8, standardize=True, tol=1e-8)
    for alpha, coef in zip(path.alphas, path.coefs, strict=True):
        single = gs.BatchRegressor(alpha=alpha, standardize=True, tol=1e-8).fit(X, Y)
        assert_allclose(coef.toarray()[0] * UNITS, single.coef_ * UNITS, atol=1e-3)
    first, second = (gs.BatchRegressorCV(alphas=10, standardize=True, tol=1e-8).fit(A, Y) for A in (X, X / UNITS))
    assert_allclose(first.alpha_, second.alpha_, rtol=1e-9)
    assert_allclose(first.path_loss_, second.path_loss_, rtol=1e-4)
    chosen = int(np.argmin(np.abs(first.alphas_ - first.alpha_)))
    assert_allclose(first.coef_path_[chosen].toarray()[0], first.coef_, rtol=1e-12)
    assert_allclose(first.predict(X), second.predict(X / UNITS), rtol=1e-4, atol=1e-4)


def test_a_warm_start_begins_where_the_last_fit_ended():
    model = gs.BatchClassifier(alpha=0.01, standardize=True, warm_start=True, tol=1e-7).fit(X, CLASSES)
    before = model.n_iter_
    assert before > 1
    assert model.fit(X, CLASSES).n_iter_ == 1


def test_empty_columns_of_wide_data():
    wide = sp.csr_array((SPARSE.data, SPARSE.indices.astype(np.int64) * 100_000, SPARSE.indptr), shape=(120, 800_001))
    model = gs.BatchRegressor(alpha=0.1, standardize=True).fit(wide, Y)
    narrow = gs.BatchRegressor(alpha=0.1, standardize=True).fit(SPARSE, Y)
    assert_allclose(model.coef_[::100_000][:8], narrow.coef_, rtol=1e-9)
    path = gs.regularization_path(wide, Y, alphas=[0.1], standardize=True).coefs[0]
    assert_allclose(path[:, ::100_000].toarray()[0][:8], narrow.coef_, rtol=1e-3, atol=1e-12)


def test_wrong_settings_are_refused():
    data, y = load_diabetes(return_X_y=True)
    for wrong in ("yes", 1, None):
        with pytest.raises(ValueError, match="standardize must be True, False or 'auto'"):
            gs.BatchRegressor(standardize=wrong).fit(data, y)


def test_sparse_sources_have_units_only_if_asked():
    assert gs.BatchRegressor(alpha=0.1, standardize="auto").fit_source(gs.source((SPARSE, Y))).n_features_in_ == 8
