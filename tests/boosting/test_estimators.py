"""Boosting as its users meet it: what they see, and what is refused."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gossamer as gs
from boosting.problems import ORDERS, Ratios, data, estimator

# What a user sees


def test_history_follows_validation_data():
    X, y = data("multiclass", n=200)
    model = gs.BoostingClassifier(alpha=0.01, batch=2).fit(X[:150], y[:150], validation=(X[150:], y[150:]))
    last = model.history_[-1]
    assert last.validation_score == model.score(X[150:], y[150:])
    z = model.decision_function(X[150:])
    assert last.validation_loss == pytest.approx(gs.Multinomial().value(z, y[150:]).mean())
    assert np.isnan(gs.BoostingClassifier().fit(X, y).history_[-1].validation_loss)
    for kind in ("binary", "multilabel", "regression", "outputs"):
        X, y = data(kind, n=100)
        model = estimator(kind)(alpha=0.05).fit(X[:70], y[:70], validation=(X[70:], y[70:]))
        assert model.history_[-1].validation_score == pytest.approx(model.score(X[70:], y[70:]))
        assert model.history_[-1].validation_loss > 0
    assert pd.DataFrame(model.history_).shape[1] == 8


def test_verbose_prints_a_line_a_round(capsys):
    X, y = data()
    model = gs.BoostingClassifier(alpha=0.02, batch=2, verbose=1).fit(X, y, validation=(X, y))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(model.history_)
    assert lines[1].startswith("round 1: objective 0.")
    assert "validation loss" in lines[1]


def test_an_interrupt_leaves_a_usable_model():
    class Interrupting(Ratios):
        calls = 0

        def propose(self, X, used):
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt
            return super().propose(X, used)

    X, y = data()
    with pytest.warns(UserWarning, match="Interrupted"):
        model = gs.BoostingClassifier(alpha=0.01, features=Interrupting(), batch=2).fit(X, y)
    assert model.stopped_by_ == "interrupted"
    assert len(model.history_) == 3
    two = gs.BoostingClassifier(alpha=0.01, features=Ratios(), batch=2, max_rounds=2).fit(X, y)
    assert (model.decision_function(X) == two.decision_function(X)).all()


@pytest.mark.parametrize("features", ["columns", "products", "stumps", "kernel"])
def test_pickles_predict_the_same(features):
    X, y = data("multiclass")
    model = gs.BoostingClassifier(alpha=0.02, features=features).fit(X, y)
    other = pickle.loads(pickle.dumps(model))
    assert (other.predict_proba(X) == model.predict_proba(X)).all()
    assert other.history_ == model.history_ or np.isnan(model.history_[0].score)
    assert len(pickle.dumps(model)) < 60_000  # the training data is not in it


def test_what_it_predicts():
    for kind in ("binary", "multiclass", "multilabel"):
        X, y = data(kind, n=200)
        model = gs.BoostingClassifier(alpha=0.01).fit(X, y)
        assert model.score(X, y) > 0.5
        P = model.predict_proba(X)
        if kind == "multilabel":
            assert ((P > 0.5) == model.predict(X)).all()
        else:
            np.testing.assert_allclose(P.sum(axis=1), 1)
            assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()
            np.testing.assert_allclose(model.predict_log_proba(X), np.log(P))
    X, y = data("multiclass")
    one_vs_rest = gs.BoostingClassifier(alpha=0.01, loss="exponential").fit(X, y)
    assert one_vs_rest.predict_proba(X).shape == (len(y), 3)
    hinge = gs.BoostingClassifier(alpha=0.01, loss="squared_hinge", bound="grad").fit(X, y)
    assert not hasattr(hinge, "predict_proba")


def test_empty_columns_and_constant_ones():
    X, y = data()
    X = np.hstack([X, np.zeros((len(y), 2)), np.ones((len(y), 1)), np.full((len(y), 1), 1e-320)])
    for order in ORDERS:
        for form in (X, sp.csc_array(X)):
            model = gs.BoostingClassifier(alpha=0.02, order=order, max_rounds=200).fit(form, y)
            assert not {8, 9, 11} & set(model.features_)
            assert np.isfinite(model.weights_).all()


def test_no_warnings_on_plain_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, y = data()
        gs.BoostingClassifier().fit(X, y).predict(X)


# What is refused


REFUSED = [
    ({"alpha": -1}, "alpha must be"),
    ({"bound": "newton"}, "bound must be 'ada' or 'grad'; 'newton' was given"),
    ({"penalty": "group_l2"}, "bound='ada' has rules for L1, .*GroupLInf.*GroupL2 was given.*'grad' has rules for"),
    ({"penalty": "l2_squared"}, "bound='ada' has rules"),
    ({"penalty": "l2_norm", "order": "parallel"}, "bound='ada' has rules"),
    ({"penalty": "l2_norm", "bound": "grad"}, "order='parallel'.*GroupL2"),
    ({"penalty": "linf"}, "order='parallel'.*GroupLInf"),
    ({"penalty": "simplex", "bound": "grad"}, "bound='grad' has rules"),
    ({"penalty": "group_l3"}, "There is no penalty 'group_l3'"),
    ({"penalty": gs.GroupL2(groups=[[0, 1], [2, 3, 4, 5, 6, 7]]), "bound": "grad"}, "groups=None"),
    ({"penalty": gs.L1(weights=[1, 2])}, "one per column of X.*2 weights and 8 columns"),
    ({"penalty": gs.L1(weights=[1, 2]), "features": "stumps"}, "made as needed"),
    ({"loss": "hinge"}, "bound='ada' holds for Exponential, LogEpsilonInsensitive, Logistic, Multinomial; Hinge"),
    ({"loss": "exponential", "bound": "grad"}, "bound='grad' holds for"),
    ({"loss": "squared"}, "classification loss"),
    ({"order": "backwards"}, "order must be one of 'corrective'"),
    ({"order": "cyclic", "features": "products"}, "'corrective' or 'greedy'"),
    ({"order": "cyclic", "features": "stumps"}, "'corrective' or 'greedy'"),
    ({"batch": 0}, "batch must be a whole number"),
    ({"max_rounds": 1.5}, "max_rounds must be a whole number"),
    ({"tol": -1}, "tol must be"),
    ({"features": "polynomials"}, "There is no kind of feature 'polynomials'"),
    ({"features": 3}, "evaluate"),
    ({"features": gs.L1}, "object, not a class"),
    ({"features": gs.KernelFeatures(support=[[1.0]])}, "8 columns of X"),
    ({"features": gs.ProductFeatures(scale=[1.0])}, "one number per column"),
    ({"n_jobs": 0}, "n_jobs must be"),
]


@pytest.mark.parametrize(("settings", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_does_not_fit_is_refused_in_words_and_leaves_no_trace(settings, words):
    X, y = data()
    model = gs.BoostingClassifier(alpha=0.02).fit(X, y)
    before = model.decision_function(X)
    model.set_params(**settings)
    with pytest.raises((ValueError, TypeError), match=words):
        model.fit(X, y)
    assert (model.decision_function(X) == before).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gs.KernelFeatures(gamma=-1), "gamma must be"),
        (lambda: gs.KernelFeatures(gamma="big"), "gamma must be"),
        (lambda: gs.KernelFeatures(max_support=0), "max_support must be"),
        (lambda: gs.KernelFeatures(support=[1.0]), "support must be a matrix"),
        (lambda: gs.ProductFeatures(max_degree=0), "max_degree must be"),
        (lambda: gs.ProductFeatures(scale=[0.0]), "above 0"),
        (lambda: gs.StumpFeatures(max_cuts=0), "max_cuts must be"),
        (lambda: gs.SmoothL1().prox([1.0]), "no prox"),
    ],
)
def test_settings_are_checked(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_bad_data_is_refused():
    X, y = data()
    model = gs.BoostingClassifier()
    with pytest.raises(TypeError, match="dense data is required"):
        gs.BoostingClassifier(features="stumps").fit(sp.csr_array(X), y)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="negative"):
        model.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="one entry per row"):
        model.fit(X, y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="All sample weights are zero"):
        model.fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(TypeError, match="pair"):
        model.fit(X, y, validation=X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="not one of the classes"):
        model.fit(X, y, validation=(X, np.full(len(y), "eggs")))
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("size", [1e-200, 2.0**900, 1e308])
def test_only_the_ratios_of_weights_count(size):
    X, y = data(n=100)
    shares = np.random.default_rng(0).uniform(0.1, 1.0, len(y))
    one = gs.BoostingClassifier(alpha=0.01, tol=1e-6).fit(X, y, sample_weight=shares)
    other = gs.BoostingClassifier(alpha=0.01, tol=1e-6).fit(X, y, sample_weight=shares * size)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.intercept_, one.intercept_, rtol=1e-6)


def test_numbers_beyond_all_bounds_are_refused():
    X, y = data("regression", n=100)
    with pytest.raises(ValueError, match=r"not finite: y is too large, up to 1e\+308"):
        gs.BoostingRegressor().fit(X, np.where(y > 0, 1e308, -1e308))
    X, y = data(n=100)
    with pytest.raises(ValueError, match="sample_weight times class_weight is not finite"):
        gs.BoostingClassifier(class_weight=dict.fromkeys(set(y), 10.0)).fit(X, y, sample_weight=np.full(len(y), 1e308))
