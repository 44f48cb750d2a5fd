"""The online estimators as their users meet them."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import gossamer as gs
from online.tasks import (
    FIXED,
    REAL,
    REALS,
    TASKS,
    THREE,
    TWO,
    D,
    N,
    X,
    assert_same_state,
    classifier,
    over_tasks,
    regressor,
    setting,
    state,
)

# What every estimator can do


@over_tasks
def test_fit_learns(task):
    model, y, _ = setting(task)
    assert model.set_params(max_passes=10).fit(X, y) is model
    score = model.score(X, y)
    assert score > (0.5 if task == "multilabel" or "eg" in task else 0.8)
    assert model.n_iter_ == 10
    assert model.t_ == 10 * N
    assert model.n_features_in_ == D
    assert not hasattr(model, "feature_names_in_")


SHAPES = {
    "binary": ((1, D), (1,), (N,), (N,)),
    "multiclass": ((3, D), (3,), (N, 3), (N,)),
    "one against the rest": ((3, D), (3,), (N, 3), (N,)),
    "multilabel": ((3, D), (3,), (N, 3), (N, 3)),
}


@pytest.mark.parametrize("task", SHAPES)
def test_shapes_of_a_classifier(task):
    model, y, _ = setting(task)
    model.fit(X, y)
    coef, intercept, decision, prediction = SHAPES[task]
    assert model.coef_.shape == coef
    assert model.intercept_.shape == intercept
    assert model.decision_function(X).shape == decision
    assert model.predict(X).shape == prediction
    z = (X @ model.coef_.T + model.intercept_).reshape(decision)
    assert_allclose(model.decision_function(X), z, rtol=1e-12, atol=1e-12)
    expected = (
        (z > 0).astype(int)
        if task == "multilabel"
        else model.classes_[np.argmax(z, axis=1) if z.ndim == 2 else (z > 0).astype(int)]
    )
    assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize(("y", "shape"), [(REAL, (N,)), (REAL[:, None], (N, 1)), (REALS, (N, 3))])
def test_shapes_of_a_regressor(y, shape):
    model = regressor().fit(X, y)
    assert model.predict(X).shape == shape
    assert model.coef_.shape == ((D,) if y.ndim == 1 else (y.shape[1], D))
    assert model.intercept_.shape == (1 if y.ndim == 1 else y.shape[1],)
    assert_allclose(model.predict(X), (X @ np.atleast_2d(model.coef_).T + model.intercept_).reshape(shape), atol=1e-12)


def test_poisson_predicts_the_mean():
    counts = np.random.default_rng(1).poisson(np.exp(0.5 * X[:, 0] + 0.3))
    model = regressor(loss="poisson", max_passes=20).fit(X, counts)
    assert_allclose(model.predict(X), np.exp(X @ model.coef_ + model.intercept_), rtol=1e-12)
    assert abs(model.predict(X).mean() - counts.mean()) < 0.3


@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel"])
def test_probabilities(task):
    model, y, _ = setting(task)
    p, z = model.fit(X, y).predict_proba(X), model.decision_function(X)
    if task == "binary":
        assert_allclose(p, np.column_stack([1 / (1 + np.exp(z)), 1 / (1 + np.exp(-z))]), rtol=1e-10)
    elif task == "multilabel":
        assert_allclose(p, 1 / (1 + np.exp(-z)), rtol=1e-10)
    else:
        assert_allclose(p, np.exp(z) / np.exp(z).sum(axis=1, keepdims=True), rtol=1e-10)
    assert_allclose(np.exp(model.predict_log_proba(X)), p, rtol=1e-12)


def test_probabilities_of_the_exponential_loss():
    model = classifier(loss="exponential", method=gs.Fobos(step=0.05))
    p = model.fit(X, TWO).predict_proba(X)
    assert_allclose(p[:, 1], 1 / (1 + np.exp(-2 * model.decision_function(X))), rtol=1e-10)
    p = model.fit(X, THREE).predict_proba(X)
    assert_allclose(p.sum(axis=1), 1.0)
    assert_array_equal(np.argmax(p, axis=1), np.argmax(model.decision_function(X), axis=1))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "multiclass_hinge"])
def test_no_probabilities_from_a_hinge(loss):
    model = classifier(loss=loss).fit(X, TWO)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as refusal:
        model.predict_proba(X)
    words = str(refusal.value)
    able = [name for name, make in gs.losses.LOSSES.items() if make().probabilistic]
    assert all(repr(name) in words for name in able)
    assert "exponential" in able
    assert not hasattr(model, "predict_log_proba")


def test_a_joint_loss_with_two_classes_answers_like_any_two_classes():
    for loss in ("multinomial", "multiclass_hinge"):
        model = classifier(loss=loss, max_passes=3).fit(X, TWO)
        assert model.decision_function(X).shape == (N,)
        assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0)
        assert model.score(X, TWO) > 0.8


def test_multinomial_with_two_classes_has_probabilities_that_agree():
    model = classifier(loss="multinomial").fit(X, TWO)
    assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-model.decision_function(X))), rtol=1e-10)


@over_tasks
def test_nothing_is_there_before_fit(task):
    model, _, _ = setting(task)
    for name in ("coef_", "intercept_", "t_", "progressive_loss_", "step_", "nonzero_features_", "n_iter_", "classes_"):
        assert not hasattr(model, name)
    for call in (model.predict, getattr(model, "decision_function", model.predict)):
        with pytest.raises(NotFittedError):
            call(X)
    for call in (model.sparsify, model.densify):
        with pytest.raises(NotFittedError):
            call()


@over_tasks
def test_sparsify_and_densify(task):
    model, y, known = setting(task)
    model.set_params(alpha=model.alpha if "pegasos" in task else 0.05).fit(X, y)
    dense, answer = model.coef_.copy(), model.predict(X)
    assert model.sparsify() is model
    assert sp.issparse(model.coef_)
    assert_array_equal(model.coef_.toarray(), np.atleast_2d(dense))
    assert model.coef_.nnz == np.count_nonzero(dense)
    for data in (X, sp.csr_array(X), sp.csr_matrix(X)):
        assert_allclose(model.predict(data), answer, rtol=1e-12) if "regression" in task or "outputs" in task else (
            assert_array_equal(model.predict(data), answer)
        )
    again = pickle.loads(pickle.dumps(model))
    assert sp.issparse(again.coef_)
    assert model.densify() is model
    assert_array_equal(model.coef_, dense)
    model.sparsify().partial_fit(X, y, **known)
    model.predict(X)


def test_nonzero_features_are_the_features_in_use():
    model = classifier(alpha=0.1).fit(X, THREE)
    assert_array_equal(model.nonzero_features_, np.flatnonzero(model.coef_.any(axis=0)))
    assert 0 < len(model.nonzero_features_) <= D
    assert len(classifier(alpha=100.0).fit(X, THREE).nonzero_features_) == 0


def test_the_weights_are_not_the_models_own():
    """Writing to what coef_ returned must not change the model in a way that half of it sees."""
    model = classifier().fit(X, TWO)
    before = model.decision_function(X)
    try:
        model.coef_[:] = 0
    except ValueError:  # read-only: just as well
        assert_array_equal(model.decision_function(X), before)
    else:
        assert_array_equal(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0])


@pytest.mark.parametrize("task", [task for task in TASKS if "auto" not in task and "average" not in task])
def test_progressive_loss_is_predict_then_learn(task):
    """An average does not predict while it learns, and an automatic step learns the first rows anew."""
    model, y, known = setting(task)
    losses, weight = [], np.random.default_rng(2).integers(1, 4, N).astype(float)
    for i in range(N):
        row, target = X[i : i + 1], y[i : i + 1]
        if i == 0:
            model.partial_fit(row, target, sample_weight=weight[:1], **known)
            losses.append(model.progressive_loss_)  # the first prediction is made by zeros
            continue
        z = row @ np.atleast_2d(model.coef_).T + model.intercept_
        coded = model._targets.encode(target)
        value = model._targets.loss.value(z, coded[:, 0] if model._targets.kind == "multiclass" else coded)
        losses.append(float(np.sum(value)))
        model.partial_fit(row, target, sample_weight=weight[i : i + 1])
    assert_allclose(model.progressive_loss_, np.average(losses, weights=weight), rtol=1e-10)


def test_the_first_progressive_loss_is_that_of_zeros():
    assert_allclose(classifier().partial_fit(X[:1], TWO[:1], classes=["no", "yes"]).progressive_loss_, np.log(2))
    assert_allclose(regressor().partial_fit(X[:1], REAL[:1]).progressive_loss_, REAL[0] ** 2 / 2)
    three = classifier().partial_fit(X[:1], THREE[:1], classes=["ant", "bee", "cat"])
    assert_allclose(three.progressive_loss_, np.log(3))


def test_names_of_an_earlier_fit_are_forgotten():
    pd = pytest.importorskip("pandas")
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    model = gs.OnlineClassifier().fit(pd.DataFrame(X, columns=list("abcd")), y)
    assert not hasattr(model.fit(X, y), "feature_names_in_")


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("method", ["fobos", "rda", "adagrad", "ftrl", "auto"])
def test_predictions_from_few_weights_are_the_same_as_from_all(method, labels, average):
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 5000), density=0.004, format="csr", rng=rng)
    y = rng.integers(labels, size=300)
    model = gs.OnlineClassifier(alpha=1e-4, method=method, average=average, random_state=0).fit(X, y)
    few = X[[0, 7, 7]]
    assert few.nnz < X.shape[1] // 4
    some = model.decision_function(few)  # nothing is read yet: the weights of its features only
    assert model._read_once.weights is None
    assert model.coef_.any()  # now all are
    np.testing.assert_array_equal(model.decision_function(few), some)


def test_test_then_train_is_the_progressive_loss_and_grows_with_entries_only():
    X = sp.csr_array((np.ones(40), (np.arange(40), np.arange(40) % 7 * 1000)), shape=(40, 20_000))
    y = np.arange(40) % 7 > 3
    model, losses = gs.OnlineClassifier(alpha=1e-4, method=gs.Fobos(1.0)), []
    for i in range(40):
        if i:
            p = model.predict_proba(X[[i]])[0, int(y[i])]
            losses.append(-np.log(p))
            assert model._read_once.weights is None
        model.partial_fit(X[[i]], y[[i]], classes=[False, True])
    np.testing.assert_allclose((np.sum(losses) + np.log(2)) / 40, model.progressive_loss_)


# Copies


@over_tasks
@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy])
@pytest.mark.parametrize("at", [5, 40])
def test_copies_go_on_as_if_nothing_had_happened(task, copied, at):
    model, y, known = setting(task)
    whole = clone(model).partial_fit(X, y, **known)
    model.partial_fit(X[:at], y[:at], **known)
    coef, twin = model.coef_.copy(), copied(model)
    assert_array_equal(twin.coef_, coef)
    assert twin.progressive_loss_ == model.progressive_loss_
    twin.partial_fit(X[at:], y[at:])
    assert_array_equal(model.coef_, coef)  # the original stays where it was
    assert_array_equal(twin.coef_, whole.coef_)
    assert_array_equal(twin.intercept_, whole.intercept_)
    assert twin.progressive_loss_ == whole.progressive_loss_
    model.partial_fit(X[at:], y[at:])
    assert_array_equal(model.coef_, whole.coef_)


@over_tasks
def test_a_clone_knows_the_settings_only(task):
    model, y, _ = setting(task)
    model.fit(X, y)
    fresh = clone(model)
    assert not hasattr(fresh, "coef_")
    assert repr(fresh) == repr(clone(fresh))
    assert_array_equal(fresh.fit(X, y).coef_, model.coef_)


# In company


def test_grid_search():
    grid = {"alpha": [1e-4, 1e-1], "method__step": [0.1, 1.0]}
    search = GridSearchCV(classifier(), grid, cv=3).fit(X, TWO)
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ > 0.8
    assert gs.Fobos(step=0.5) == FIXED  # the search worked on copies


def test_nested_parameters():
    model = classifier()
    assert model.get_params()["method__step"] == 0.5
    assert clone(model).set_params(method__step=2.0).method == gs.Fobos(step=2.0)
    assert model.method == gs.Fobos(step=0.5)
    with pytest.raises(ValueError, match="must be finite"):
        clone(model).set_params(method__step=-1.0)


def test_metadata_can_be_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = classifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        model.set_partial_fit_request(sample_weight=True, classes=True)
        GridSearchCV(model, {"alpha": [1e-3]}, cv=3).fit(X, TWO, sample_weight=np.ones(N))


def test_cross_validation():
    assert cross_val_score(regressor(max_passes=5), X, REAL, cv=3).mean() > 0.8


def test_pipeline_with_hashed_text():
    texts = ["sun and sea", "rain and wind", "sea and sand and sun", "wind with rain and hail"] * 20
    y = ["good", "bad"] * 40
    pipeline = make_pipeline(HashingVectorizer(n_features=2**16), classifier(alpha=1e-4))
    assert pipeline.fit(texts, y).score(texts, y) == 1.0
    model = pipeline[-1]
    assert model.n_features_in_ == 2**16
    assert len(model.nonzero_features_) < 12
    blocks = classifier(alpha=1e-4)
    for begin in range(0, 80, 16):
        block = slice(begin, begin + 16)
        blocks.partial_fit(pipeline[0].transform(texts[block]), y[block], classes=["bad", "good"])
    assert blocks.score(pipeline[0].transform(texts), y) == 1.0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(library):
    frames = pytest.importorskip(library)
    names = [f"column {j}" for j in range(D)]
    frame = frames.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    model = classifier(alpha=0.05).fit(frame, frames.Series(TWO))
    assert_array_equal(model.feature_names_in_, names)
    assert_array_equal(model.coef_, classifier(alpha=0.05).fit(X, TWO).coef_)
    assert set(model.nonzero_features_) <= set(names)
    assert_array_equal(model.predict(frame), model.predict(frame[names]))
    model.partial_fit(frame, frames.Series(TWO))
    before = state(model)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[names[::-1]], TWO)
    assert_same_state(model, before)
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(X)


# On tame data nothing runs away or warns


@pytest.mark.parametrize(
    ("penalty", "expected"),
    [
        ("l1", gs.StepFree),
        ("elastic_net", gs.StepFree),
        ("group_l2", gs.StepFree),
        (gs.L1(weights=np.ones(D)), gs.StepFree),
        ("l2_norm", gs.Fobos),
        ("l1_ball", gs.Fobos),
        (gs.L1Ball(weights=np.ones(D)), gs.Fobos),
        (gs.GroupL2(groups=np.arange(D) // 2, weights=np.ones(D // 2)), gs.Fobos),
        (gs.GroupL2(groups=np.arange(D) // 2), gs.Fobos),
        ("none", gs.StepFree),
    ],
    ids=str,
)
def test_the_automatic_method_can_handle_every_penalty(penalty, expected):
    model = classifier(penalty=penalty, method="auto", max_passes=3).fit(X, TWO)
    assert isinstance(model._trainer.method, expected)
    assert model.score(X, TWO) > 0.7


@pytest.mark.parametrize("method", ["auto", "fobos", "rda", "ftrl", gs.AdaGrad(form="fobos")], ids=str)
def test_steep_losses_do_not_run_away(method):
    """On tame data the model stays finite and predicts better than zeros, whose loss is 1."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(500, 5))
    counts = random.poisson(np.exp(rows @ [0.5, 0.3, 0, 0, 0] + 1))
    assert regressor(loss="poisson", method=method).fit(rows, counts).progressive_loss_ < 1.0
    labels = rows @ [1, -1, 0, 0, 0] + random.normal(size=500) > 0
    assert classifier(loss="exponential", method=method).fit(rows, labels).progressive_loss_ < 1.0


def test_an_intercept_does_not_make_a_steep_loss_run_away():
    random = np.random.default_rng(0)
    rows = random.normal(size=(60, 6)) * 0.8
    labels = rows @ random.normal(size=6) > 0
    works = 0
    for seed in range(10):
        settings = {"loss": "exponential", "method": gs.AdaGrad(step=0.1, form="fobos"), "random_state": seed}
        if classifier(fit_intercept=False, **settings).fit(rows, labels).progressive_loss_ < 1:
            works += 1
            assert classifier(**settings).fit(rows, labels).progressive_loss_ < 2
    assert works >= 5


def test_a_large_intercept_is_found_quickly():
    """The intercept is free of scale: a target far from zero is not a problem."""
    model = regressor(method="auto", max_passes=20).fit(X, REAL + 1000.0)
    assert abs(model.intercept_[0] - 1000.0) < 5.0


def test_estimators_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for task in TASKS:
            model, y, _ = setting(task)
            model.fit(X, y).predict(X)
