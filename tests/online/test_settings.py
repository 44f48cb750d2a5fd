"""Wrong settings are refused in words that say what is right."""

import numpy as np
import pytest

import gossamer as gs
from online.tasks import MANY, REAL, THREE, TWO, X, classifier, regressor


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        ("loss", "logistik", r"no loss 'logistik'. Did you mean 'logistic'\? The names are: .*hinge.*squared_hinge"),
        ("penalty", "lasso", r"no penalty 'lasso'.*The names are: .*elastic_net.*l1.*simplex"),
        ("method", "adagard", r"no method 'adagard'. Did you mean 'adagrad'\? The names are: .*fobos.*rda"),
        ("method", "sgd", r"no method 'sgd'.*The names are: .*auto.*fobos"),
        ("alpha", -1.0, "alpha must be finite and ≥ 0"),
        ("alpha", np.nan, "alpha must be finite"),
        ("max_passes", 0, "max_passes must be a whole number, 1 or more"),
        ("max_passes", 1.5, "max_passes must be a whole number"),
        ("tol", -1.0, "tol"),
        ("class_weight", "even", "class_weight"),
        ("random_state", "seed", "seed"),
    ],
)
def test_wrong_settings_say_what_is_right(name, wrong, words):
    model = classifier(**{name: wrong})
    before = dict(vars(model))
    with pytest.raises(ValueError, match=words):
        model.fit(X, TWO)
    assert vars(model) == before


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        ("loss", gs.Logistic, r"an object, not a class: pass Logistic\(\)"),
        ("penalty", gs.L1, r"an object, not a class: pass L1\(\)"),
        ("method", gs.Fobos, r"an object, not a class: pass Fobos\(\)"),
        ("loss", 3, "loss"),
        ("penalty", None, "penalty"),
        ("method", 0.1, "method"),
        ("alpha", "1e-3", "alpha must be a number"),
        ("tol", "small", "tol must be a number"),
    ],
)
def test_settings_of_the_wrong_type(name, wrong, words):
    with pytest.raises(TypeError, match=words):
        classifier(**{name: wrong}).fit(X, TWO)


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson", "quantile", "epsilon_insensitive"])
def test_a_classifier_refuses_regression_losses(loss):
    for y in (TWO, THREE, MANY):
        with pytest.raises(ValueError, match=r"(classification|binary) loss such as 'logistic'"):
            classifier(loss=loss).fit(X, y)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "multinomial", "exponential", "multiclass_hinge"])
def test_a_regressor_refuses_classification_losses(loss):
    with pytest.raises(ValueError, match="regression loss such as 'squared'"):
        regressor(loss=loss).fit(X, REAL)


@pytest.mark.parametrize("loss", ["multinomial", "multiclass_hinge"])
def test_several_labels_need_a_binary_loss(loss):
    with pytest.raises(ValueError, match="binary loss such as 'logistic'"):
        classifier(loss=loss).fit(X, MANY)
