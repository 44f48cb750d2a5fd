"""More features and new classes on the way are as if they had been known, or refused."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
from online.tasks import MANY, REALS, THREE, TWO, D, N, X, assert_same_state, classifier, regressor, state

GROWERS = {
    "fobos": gs.Fobos(step=0.5),
    "rda": gs.RDA(gamma=2.0),
    "adagrad rda": gs.AdaGrad(step=0.4),
    "adagrad fobos": gs.AdaGrad(step=0.2, form="fobos"),
    "ftrl": gs.FTRL(step=0.5),
    "truncated gradient": gs.TruncatedGradient(step=0.5, period=3),
    "subgradient": gs.Subgradient(step=0.3),
}
ROW_PENALTIES = ["l1", "elastic_net", "berhu", "group_l2", "group_linf", "sparse_group_l2", "non_negative_l1"]
COUPLED = ["l2_norm", "linf", "l1_ball", "l2_ball", "group_l2_ball", "group_linf_ball", "simplex", "kl"]
WIDENING = [
    *[(m, p) for m in ("fobos", "rda", "adagrad rda", "adagrad fobos", "ftrl") for p in ROW_PENALTIES],
    ("truncated gradient", "l1"),
    *[("subgradient", p) for p in ROW_PENALTIES[:-1]],
]


def narrow_then_wide():
    """The first 40 rows know four features, the next 40 six, the rest all."""
    known = np.repeat([4, 6, D], 40)
    return np.where(np.arange(D) < known[:, None], X, 0.0), [(0, 40, 4), (40, 80, 6), (80, N, D)]


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(("method", "penalty"), WIDENING)
def test_more_features_are_as_if_they_had_been_known(method, penalty, y, average):
    rows, parts = narrow_then_wide()
    settings = {"method": GROWERS[method], "penalty": penalty, "alpha": 0.01, "grow": True, "average": average}
    model, classes = classifier(**settings), np.unique(y)
    for begin, end, width in parts:
        before = model.coef_.copy() if begin else None
        model.partial_fit(rows[begin:end, :width], y[begin:end], classes=classes)
        assert model.n_features_in_ == width
        assert before is None or model.coef_.shape[1] > before.shape[1]
    known = classifier(**settings).partial_fit(rows, y, classes=classes)
    assert_array_equal(model.coef_, known.coef_)
    assert_array_equal(model.intercept_, known.intercept_)
    assert model.progressive_loss_ == known.progressive_loss_


@pytest.mark.parametrize("estimator", ["regressor", "multilabel"])
def test_more_features_with_several_outputs(estimator):
    rows, parts = narrow_then_wide()
    make, y = (regressor, REALS) if estimator == "regressor" else (classifier, MANY)
    model = make(grow=True)
    for begin, end, width in parts:
        model.partial_fit(sp.csr_array(rows[begin:end, :width]), y[begin:end])
    assert_array_equal(model.coef_, make(grow=True).partial_fit(rows, y).coef_)


@pytest.mark.parametrize("method", [gs.AdaGrad(), gs.Fobos(), gs.RDA(), gs.Fobos(step="theory")], ids=repr)
def test_more_features_while_the_step_is_being_found(method):
    rows, parts = narrow_then_wide()
    model = classifier(method=method, grow=True)
    for begin, end, width in parts:
        model.partial_fit(rows[begin:end, :width], TWO[begin:end], classes=["no", "yes"])
    known = classifier(method=method, grow=True).partial_fit(rows, TWO, classes=["no", "yes"])
    assert model.step_ == known.step_
    assert_array_equal(model.coef_, known.coef_)


def test_narrower_rows_are_fine_for_a_grown_model_too():
    """Widths are allowed to fall back: the missing features are zero."""
    model = classifier(grow=True).partial_fit(X, TWO, classes=["no", "yes"])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :3], TWO)


@pytest.mark.parametrize("penalty", COUPLED)
@pytest.mark.parametrize("method", ["fobos", "rda"])
def test_penalties_that_couple_features_do_not_grow(method, penalty):
    model = classifier(grow=True, method=method, penalty=penalty).partial_fit(X[:, :4], TWO, classes=["no", "yes"])
    before = state(model)
    with pytest.raises(ValueError, match="cannot grow"):
        model.partial_fit(X, TWO)
    assert_same_state(model, before)


def test_penalties_made_for_one_width_do_not_grow():
    for penalty in (gs.L1(weights=np.ones(4)), gs.GroupL2(groups=[[0, 1], [2, 3]]), gs.Box(np.zeros(4), np.ones(4))):
        model = classifier(grow=True, penalty=penalty).partial_fit(X[:, :4], TWO, classes=["no", "yes"])
        before = state(model)
        with pytest.raises(ValueError, match="4"):
            model.partial_fit(X, TWO)
        assert_same_state(model, before)


NOT_GROWING = [*[(m, p) for m in ("fobos", "rda") for p in COUPLED], ("eg", "none"), ("pegasos", "l2_squared")]


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize(("method", "penalty"), NOT_GROWING)
def test_what_couples_features_says_that_it_cannot_grow(method, penalty, average):
    """A start that depends on the width, or a state that is one for all features; in words, and nothing changes."""
    rule = gs.ExponentiatedGradient(2.0, 0.1) if method == "eg" else GROWERS.get(method, method)
    model = classifier(penalty=penalty, method=rule, alpha=0.1, grow=True, average=average)
    model.partial_fit(X[:40, :4], THREE[:40], classes=["ant", "bee", "cat"])
    before = state(model)
    for data, y in ((X, THREE), (X[:1, :4], ["dog"])):
        with pytest.raises(ValueError, match="cannot grow"):
            model.partial_fit(data, y)
        assert_same_state(model, before)
    model.partial_fit(X[40:, :4], THREE[40:])


def class_order():
    """Rows in which the third class comes last."""
    return np.argsort(THREE == "cat", kind="stable")


@pytest.mark.parametrize("method", GROWERS)
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
def test_new_classes_keep_the_old_weights(method, loss, average):
    order = class_order()
    rows, y = X[order], THREE[order]
    early = int(np.sum(y != "cat"))
    model = classifier(method=GROWERS[method], loss=loss, grow=True, average=average)
    model.partial_fit(rows[:early], y[:early])
    assert_array_equal(model.classes_, ["ant", "bee"])
    coef, intercept = model.coef_.copy(), model.intercept_.copy()
    model.partial_fit(rows[:1], ["dog"], sample_weight=[0.0])  # a class, and nothing learned
    assert_array_equal(model.classes_, ["ant", "bee", "dog"])
    assert_allclose(model.coef_[:2], coef, rtol=1e-12, atol=1e-14)
    assert_allclose(model.intercept_[:2], intercept, rtol=1e-12)
    assert not model.coef_[2].any()
    model.partial_fit(rows[early:], y[early:])
    assert_array_equal(model.classes_, ["ant", "bee", "dog", "cat"])
    assert model.coef_.shape == (4, D)
    assert set(model.predict(rows)) <= {"ant", "bee", "cat", "dog"}
    assert model.t_ == N
    if hasattr(model, "predict_proba"):
        assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)


@pytest.mark.parametrize("method", ["fobos", "rda", "truncated gradient", "subgradient"])
def test_one_against_the_rest_grows_as_if_the_class_had_been_known(method):
    """The outputs do not see one another, so those of the old classes are the same."""
    order = class_order()
    rows, y = X[order], THREE[order]
    settings = {"loss": "squared_hinge", "grow": True, "method": GROWERS[method]}
    grown = classifier(**settings)
    for block in (slice(0, 50), slice(50, 100), slice(100, N)):
        grown.partial_fit(rows[block], y[block])
    known = classifier(**settings).partial_fit(rows, y, classes=["ant", "bee", "cat"])
    assert_array_equal(grown.classes_, known.classes_)
    assert_allclose(grown.coef_[:2], known.coef_[:2], rtol=1e-10, atol=1e-14)
    assert_allclose(grown.intercept_[:2], known.intercept_[:2], rtol=1e-10)


def test_classes_and_features_grow_together():
    model = classifier(grow=True).partial_fit(X[:40, :4], np.where(THREE == "ant", "ant", "bee")[:40])
    before = model.coef_.copy()
    model.partial_fit(X[:1], ["cat"], sample_weight=[0.0])
    assert model.coef_.shape == (3, D)
    assert_allclose(model.coef_[:2, :4], before, rtol=1e-12, atol=1e-14)
    assert not model.coef_[2].any()
    assert not model.coef_[:, 4:].any()
    model.partial_fit(X, THREE)


@pytest.mark.parametrize("alpha", [0.001, 0.02])
@pytest.mark.parametrize(("method", "penalty"), WIDENING)
def test_averages_grow_from_one_class(method, penalty, alpha):
    """One output becomes two: the average is still the mean of all iterates."""
    rows, y = X[:60], np.where(np.arange(60) > 40, TWO[:60], "no")
    y[40] = "yes"
    settings = {"loss": "squared_hinge", "penalty": penalty, "alpha": alpha, "grow": True, "method": GROWERS[method]}
    grown = classifier(**settings, average=True).partial_fit(rows[:40], y[:40])
    assert grown.coef_.shape[0] == 1
    grown.partial_fit(rows[40:], y[40:])
    step, total = classifier(**settings), np.zeros((2, D))
    for i in range(60):
        step.partial_fit(rows[i : i + 1], y[i : i + 1])
        total[: len(step.coef_)] += step.coef_
    assert_allclose(grown.coef_, total / 60, rtol=1e-9, atol=1e-13)


def test_growing_from_one_class():
    model = classifier(grow=True).partial_fit(X[:3], ["ant"] * 3)
    assert_array_equal(model.predict(X[:3]), ["ant"] * 3)
    model.partial_fit(X[3:5], ["bee", "ant"])
    assert model.decision_function(X).shape == (N,)
    assert set(model.predict(X)) <= {"ant", "bee"}


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "exponential"])
def test_two_classes_answer_alike_whether_growing_or_not(loss):
    model = classifier(loss=loss, grow=True, method=gs.Fobos(step=0.05), max_passes=5).fit(X, TWO)
    assert model.decision_function(X).shape == (N,)
    assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0)


def test_a_grown_model_survives_pickling_mid_stream():
    rows, parts = narrow_then_wide()
    model = classifier(grow=True)
    for begin, end, width in parts:
        model = pickle.loads(pickle.dumps(model))
        model.partial_fit(rows[begin:end, :width], THREE[begin:end], classes=["ant", "bee", "cat"])
    whole = classifier(grow=True).partial_fit(rows, THREE, classes=["ant", "bee", "cat"])
    assert_array_equal(model.coef_, whole.coef_)


def test_without_growing_new_things_are_errors():
    model = classifier().partial_fit(X, TWO, classes=["no", "yes"])
    before = state(model)
    with pytest.raises(ValueError, match=r"X has 9 features, but OnlineClassifier is expecting 8"):
        model.partial_fit(np.ones((2, 9)), ["no", "yes"])
    with pytest.raises(ValueError, match=r"label 'maybe'.*grow=True"):
        model.partial_fit(X[:1], ["maybe"])
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        classifier().partial_fit(X, TWO)
    with pytest.raises(ValueError, match="not the same as in the first call"):
        model.partial_fit(X, TWO, classes=["no", "yes", "maybe"])
    assert_same_state(model, before)
