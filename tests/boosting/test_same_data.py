"""What must not matter: how the data is held, weighted, or shared among threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import gossamer as gs
from boosting.problems import ORDERS, data, estimator, optimum


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_how_the_data_is_held_makes_no_difference(kind, order):
    X, y = data(kind, d=12)
    plain = estimator(kind)(alpha=0.03, order=order, batch=3, max_rounds=20, random_state=0, fit_intercept=False)
    exact = estimator(kind)(alpha=0.03, order=order, batch=3, tol=1e-7, max_rounds=5000, random_state=0)
    forms = (sp.csc_matrix(X), sp.csr_matrix(X), sp.csr_array(X), np.asfortranarray(X), sp.coo_matrix(X))
    dense = clone(plain).fit(X, y)
    for other in forms:  # step by step the same
        same = clone(plain).fit(other, y)
        assert same.features_ == dense.features_
        np.testing.assert_allclose(same.weights_, dense.weights_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(same._decide(other), same._decide(X), atol=1e-12)
    if order != "parallel":  # with an intercept dense columns are centred: another way to the same end
        np.testing.assert_allclose(clone(exact).fit(X, y).coef_, clone(exact).fit(forms[0], y).coef_, atol=1e-5)
    single = clone(plain).fit(X.astype(np.float32), y)
    assert set(single.features_) == set(dense.features_)
    np.testing.assert_allclose(single.coef_, dense.coef_, atol=1e-4)


def test_columns_far_from_zero_are_no_harder():
    X, y = data()
    near, away = (gs.BoostingClassifier(alpha=0.02, tol=1e-6).fit(A, y) for A in (X, X + 1000))
    assert away.features_ == near.features_
    assert len(away.history_) == len(near.history_)
    np.testing.assert_allclose(away.coef_, near.coef_, atol=1e-6)
    np.testing.assert_allclose(away.decision_function(X + 1000), near.decision_function(X), atol=1e-4)


def test_the_number_of_threads_changes_nothing():
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 5000), density=0.01, rng=rng, format="csc")
    y = rng.integers(3, size=300)
    for more in ({}, {"order": "parallel", "max_rounds": 20}, {"order": "greedy", "max_rounds": 20}):
        one, two = (gs.BoostingClassifier(alpha=1e-3, n_jobs=jobs, **more).fit(X, y) for jobs in (1, 3))
        assert one.features_ == two.features_
        assert (one.weights_ == two.weights_).all()
    X = rng.normal(size=(200, 20))
    y = rng.integers(2, size=200)
    one, two = (gs.BoostingClassifier(alpha=0.02, features="stumps", n_jobs=jobs).fit(X, y) for jobs in (None, -1))
    assert one.features_ == two.features_
    assert (one.weights_ == two.weights_).all()


def test_data_is_not_changed_and_columns_are_not_copied():
    X, y = data()
    X = sp.csc_array(X)
    X.data.flags.writeable = X.indices.flags.writeable = False
    before = X.toarray()
    gs.BoostingClassifier(alpha=0.01, order="cyclic", max_rounds=5).fit(X, y)
    assert (X.toarray() == before).all()


@pytest.mark.parametrize("features", ["columns", "products", "stumps"])
@pytest.mark.parametrize("bound", ["ada", "grad"])
def test_a_weight_is_a_repetition_and_zero_is_absence(bound, features):
    X, y = data("multiclass", d=5)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, len(y))
    model = gs.BoostingClassifier(alpha=0.05, bound=bound, features=features, tol=1e-8)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)
    assert weighted.history_[-1].objective == pytest.approx(repeated.history_[-1].objective, abs=1e-9)


def test_class_weights_are_sample_weights():
    X, y = data()
    weighted = gs.BoostingClassifier(alpha=0.02, class_weight={"ham": 1, "spam": 3}, tol=1e-8).fit(X, y)
    by_hand = gs.BoostingClassifier(alpha=0.02, tol=1e-8).fit(X, y, sample_weight=np.where(y == "spam", 3, 1))
    np.testing.assert_allclose(weighted.coef_, by_hand.coef_)
    assert gs.BoostingClassifier(alpha=0.02, class_weight="balanced").fit(X, y).n_features_used_ > 0


def test_penalty_weights():
    X, y = data()
    weights = np.array([0, 1, 1, 1, 100, 1, 1, 1.0])
    for bound in ("ada", "grad"):
        for order in ("corrective", "cyclic"):
            penalty = gs.L1(weights=weights)
            model = gs.BoostingClassifier(penalty, 0.05, bound, order=order, tol=1e-6, max_rounds=5000).fit(X, y)
            got, best = optimum(model, X, y, 0.05)
            assert got == pytest.approx(best, abs=1e-7)
            assert 0 in model.features_
            assert 4 not in model.features_
