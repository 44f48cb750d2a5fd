"""The online estimators as their users meet them."""

import copy
import ctypes
import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import compute_class_weight

import gossamer as gs
from gossamer.online.passes import SeededOrders
from gossamer.online.trainer import Trainer

N, D = 120, 8
random = np.random.default_rng(0)
X = random.normal(size=(N, D)) * (random.random((N, D)) < 0.6)
SCORES = X @ random.normal(size=(D, 3)) + 0.2 * random.normal(size=(N, 3))
TWO = np.where(SCORES[:, 0] > 0, "yes", "no")
THREE = np.array(["ant", "bee", "cat"])[np.argmax(SCORES, axis=1)]
MANY = (SCORES > 0).astype(int)
REAL, REALS = SCORES[:, 0], SCORES
FIXED = gs.Fobos(step=0.5)


def classifier(**settings):
    return gs.OnlineClassifier(**{"alpha": 1e-3, "method": FIXED, "random_state": 0} | settings)


def regressor(**settings):
    return gs.OnlineRegressor(**{"alpha": 1e-3, "method": gs.Fobos(step=0.1), "random_state": 0} | settings)


TASKS = {
    "binary": (classifier(), TWO, {"classes": ["no", "yes"]}),
    "multiclass": (classifier(), THREE, {"classes": ["ant", "bee", "cat"]}),
    "multiclass hinge": (classifier(loss="hinge"), THREE, {"classes": ["ant", "bee", "cat"]}),
    "one against the rest": (classifier(loss="squared_hinge"), THREE, {"classes": ["ant", "bee", "cat"]}),
    "multilabel": (classifier(), MANY, {}),
    "regression": (regressor(), REAL, {}),
    "several outputs": (regressor(), REALS, {}),
    "binary, auto": (classifier(method="auto"), TWO, {"classes": ["no", "yes"]}),
    "binary, average": (classifier(average=True), TWO, {"classes": ["no", "yes"]}),
    "several outputs, rda": (regressor(method=gs.RDA(gamma=5.0)), REALS, {}),
    "binary, ball": (classifier(penalty=gs.L1Ball(2.0)), TWO, {"classes": ["no", "yes"]}),
    "multiclass, groups": (
        classifier(penalty=gs.GroupL2(groups=np.arange(D) // 2)),
        THREE,
        {"classes": ["ant", "bee", "cat"]},
    ),
    "binary, pegasos": (
        classifier(penalty="l2_squared", method="pegasos", alpha=0.1),
        TWO,
        {"classes": ["no", "yes"]},
    ),
    "regression, eg": (regressor(penalty="none", method=gs.ExponentiatedGradient(5.0, 0.1)), REAL, {}),
}
over_tasks = pytest.mark.parametrize("task", TASKS)


def setting(task):
    model, y, known = TASKS[task]
    return clone(model), y, known


def state(model):
    return pickle.dumps(model)


def assert_same_state(model, before):
    """Nothing in the estimator has changed: every attribute is there with the same value, and no other."""
    assert_same(pickle.loads(before).__getstate__(), model.__getstate__(), "estimator")


def assert_same(old, new, name):
    if isinstance(old, Trainer):
        old, new = old.__getstate__(), new.__getstate__()
    if isinstance(old, dict):
        assert old.keys() == new.keys(), name
        for key in old:
            assert_same(old[key], new[key], f"{name}.{key}")
    else:
        assert pickle.dumps(old) == pickle.dumps(new) or np.array_equal(old, new), name


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


# Labels and weights of classes


@pytest.mark.parametrize(
    "labels",
    [(0, 1), (-1, 1), (5, 3), (1.0, 2.0), (False, True), ("b", "a"), (10**12, 1)],
    ids=repr,
)
def test_any_two_labels(labels):
    y = np.array(labels)[(TWO == "yes").astype(int)]
    model = classifier(max_passes=3).fit(X, y)
    assert_array_equal(model.classes_, np.unique(y))
    assert set(model.predict(X)) <= set(labels)
    assert model.score(X, y) > 0.8
    flipped = np.array(labels)[1] == model.classes_[0]
    plain = classifier(max_passes=3).fit(X, (TWO == "yes") != flipped)
    assert_array_equal(model.coef_, plain.coef_)


def test_object_labels():
    model = classifier(max_passes=3).fit(X, THREE.astype(object))
    assert model.classes_.dtype == object
    assert model.score(X, THREE.astype(object)) > 0.8


def test_a_column_of_labels_warns():
    with pytest.warns(UserWarning, match="column-vector"):
        model = classifier().fit(X, TWO[:, None])
    assert_array_equal(model.coef_, classifier().fit(X, TWO).coef_)


def test_sparse_indicators_are_indicators():
    model = classifier().fit(X, sp.csr_array(MANY))
    assert_array_equal(model.coef_, classifier().fit(X, MANY).coef_)


def test_class_weight_multiplies_the_weights_of_examples():
    weights = {"no": 0.5, "yes": 3.0}
    each = np.where(TWO == "yes", 3.0, 0.5)
    model = classifier(class_weight=weights).fit(X, TWO)
    assert_array_equal(model.coef_, classifier().fit(X, TWO, sample_weight=each).coef_)
    both = classifier(class_weight=weights).fit(X, TWO, sample_weight=np.full(N, 2.0))
    assert_array_equal(both.coef_, classifier().fit(X, TWO, sample_weight=2 * each).coef_)
    taught = classifier(class_weight=weights).partial_fit(X, TWO, classes=["no", "yes"])
    plain = classifier().partial_fit(X, TWO, classes=["no", "yes"], sample_weight=each)
    assert_array_equal(taught.coef_, plain.coef_)


def test_class_weight_of_three_classes_in_small_blocks():
    weights = {"ant": 0.5, "bee": 3.0, "cat": 1.0}
    whole = classifier(class_weight=weights).partial_fit(X, THREE, classes=["ant", "bee", "cat"])
    rows = classifier(class_weight=weights)
    for i in range(N):
        rows.partial_fit(X[i : i + 1], THREE[i : i + 1], classes=["ant", "bee", "cat"])
    assert_array_equal(rows.coef_, whole.coef_)


def test_balanced_class_weight():
    each = compute_class_weight("balanced", classes=np.unique(THREE), y=THREE)
    expected = classifier().fit(X, THREE, sample_weight=each[np.searchsorted(np.unique(THREE), THREE)])
    assert_array_equal(classifier(class_weight="balanced").fit(X, THREE).coef_, expected.coef_)
    with pytest.raises(ValueError, match="needs all rows at once"):
        classifier(class_weight="balanced").partial_fit(X, TWO, classes=["no", "yes"])
    with pytest.raises(ValueError, match="class_weight is for one label a row"):
        classifier(class_weight={0: 1.0, 1: 2.0}).fit(X, MANY)


# Passes


def test_shuffling_is_repeatable_by_seed():
    one, same, other = (classifier(random_state=seed, max_passes=2).fit(X, TWO) for seed in (3, 3, 4))
    assert_array_equal(one.coef_, same.coef_)
    assert (one.coef_ != other.coef_).any()
    unshuffled = [classifier(random_state=seed, shuffle=False).fit(X, TWO).coef_ for seed in (3, 4)]
    assert_array_equal(*unshuffled)


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**32 - 1])
def test_the_orders_of_a_seed_are_those_of_numpy(seed):
    orders, numpys = SeededOrders(seed), np.random.RandomState(seed)
    for count in (0, 1, 2, 3, 64, 65, 1000, 4096, 70_000):
        assert_array_equal(orders.permutation(count), numpys.permutation(count))
    models = [classifier(random_state=s, max_passes=2).fit(X, TWO) for s in (seed, np.random.RandomState(seed))]
    assert_array_equal(models[0].coef_, models[1].coef_)


def test_fit_forgets_unless_it_starts_warm():
    model = classifier(shuffle=False).fit(X, TWO)
    once = model.coef_.copy()
    assert_array_equal(model.fit(X, TWO).coef_, once)
    warm = classifier(shuffle=False, warm_start=True).fit(X, TWO).fit(X, TWO)
    assert warm.t_ == 2 * N
    assert_array_equal(warm.coef_, classifier(shuffle=False, max_passes=2).fit(X, TWO).coef_)


def test_a_warm_start_needs_the_same_problem():
    model = classifier(warm_start=True).fit(X, TWO)
    before = state(model)
    with pytest.raises(ValueError, match="features"):
        model.fit(X[:, :3], TWO)
    with pytest.raises(ValueError, match="'ant'"):
        model.fit(X, np.where(THREE == "ant", "ant", "no"))
    assert_same_state(model, before)


def test_tol_stops_early():
    model = classifier(max_passes=500, tol=1e-3).fit(X, TWO)
    assert 1 < model.n_iter_ < 500
    assert model.t_ == model.n_iter_ * N
    assert classifier(max_passes=5, tol=None).fit(X, TWO).n_iter_ == 5


def test_verbose_prints_a_line_a_pass(capsys):
    classifier(max_passes=3, verbose=1).fit(X, TWO)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["pass 1", "pass 2", "pass 3"]
    assert all("progressive loss" in line and "features" in line for line in lines)
    classifier(max_passes=3).fit(X, TWO)
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def interruptible():
    """SIGINT means KeyboardInterrupt, whatever the test runner made of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("rows", [200_000, 100], ids=["long passes", "short passes"])
def test_ctrl_c_stops_and_keeps_what_was_learned(interruptible, rows):
    random = np.random.default_rng(1)
    data = sp.random_array((rows, 1000), density=0.02, format="csr", rng=random)
    y = random.integers(0, 2, rows)
    model, sent = classifier(max_passes=10**9, verbose=0), []

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.0, interrupt)
    timer.start()
    with pytest.warns(UserWarning, match="Interrupted"):
        model.fit(data, y)
    stopped = time.perf_counter()
    timer.join()
    assert stopped - sent[0] < 1.0
    assert model.t_ > 0
    assert model.predict(data[:5]).shape == (5,)
    model.partial_fit(data[:5], y[:5])
    assert pickle.loads(pickle.dumps(model)).t_ == model.t_


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


# Growing

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
COUPLED = ["l2", "linf", "l1_ball", "l2_ball", "group_l2_ball", "group_linf_ball", "simplex", "kl"]
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


# A call that raises leaves the estimator as it was


def spoiled(value):
    data = X.copy()
    data[3, 2] = value
    return data


def sparse(data):
    return sp.csr_array(data)


BAD_CALLS = {
    "NaN": lambda y: (spoiled(np.nan), y, None),
    "infinity": lambda y: (spoiled(np.inf), y, None),
    "NaN, sparse": lambda y: (sparse(spoiled(np.nan)), y, None),
    "infinity, sparse": lambda y: (sparse(spoiled(-np.inf)), y, None),
    "a vector": lambda y: (X[0], y[:1], None),
    "three dimensions": lambda y: (X[:, :, None], y, None),
    "negative weight": lambda y: (X, y, np.where(np.arange(N) == 4, -1.0, 1.0)),
    "NaN weight": lambda y: (X, y, np.where(np.arange(N) == 4, np.nan, 1.0)),
    "too few weights": lambda y: (X, y, np.ones(N - 1)),
    "weights in two dimensions": lambda y: (X, y, np.ones((N, 2))),
    "fewer rows": lambda y: (X[:-1], y, None),
    "fewer targets": lambda y: (sparse(X), y[:-1], None),
    "words": lambda y: (np.full((N, D), "word"), y, None),
    "objects": lambda y: (np.full((N, D), object()), y, None),
    "complex": lambda y: (X + 1j, y, None),
    "empty": lambda y: (X[:0], y[:0], None),
    "empty, sparse": lambda y: (sparse(X)[:0], y[:0], None),
    "no features": lambda y: (X[:, :0], y, None),
    "no targets": lambda y: (X, None, None),
    "NaN target": lambda y: (X, np.full(y.shape, np.nan), None),
    "infinite target": lambda y: (sparse(X), np.full(y.shape, np.inf), None),
}
BAD_LABELS = {
    "unknown label": lambda y: (X, np.full(N, "elephant"), None),
    "labels in columns": lambda y: (X, np.column_stack([y, y]), None),
    "real numbers": lambda y: (X, REALS, None),
}
BAD_INDICATORS = {
    "real numbers": lambda y: (X, REALS, None),
    "signs": lambda y: (X, 2 * y - 1, None),
    "twos": lambda y: (X, 2 * y, None),
}
BAD_LATER = {  # not wrong in the first call
    "too wide": lambda y: (np.hstack([X, X]), y, None),
    "too narrow": lambda y: (X[:, :3], y, None),
    "too narrow, sparse": lambda y: (sparse(X[:, :3]), y, None),
    "other targets": lambda y: (X, np.column_stack([y, y, y, y]), None),
}
BAD_BY_TASK = {
    "binary": BAD_CALLS | BAD_LABELS,
    "multiclass": BAD_CALLS | BAD_LABELS,
    "multilabel": BAD_CALLS | BAD_INDICATORS,
    "regression": BAD_CALLS,
    "several outputs": BAD_CALLS,
    "binary, auto": BAD_CALLS | BAD_LABELS,
}
RAISING = [
    *[
        (t, v, when, c)
        for t in BAD_BY_TASK
        for v in ("fit", "partial_fit")
        for when in (0, 5, N)
        for c in BAD_BY_TASK[t]
    ],
    *[(t, "partial_fit", when, c) for t in BAD_BY_TASK for when in (5, N) for c in BAD_LATER],
]


@pytest.mark.parametrize(("task", "verb", "rows", "case"), RAISING)
def test_a_call_that_raises_changes_nothing(task, verb, rows, case):
    model, y, known = setting(task)
    data, targets, weight = (BAD_BY_TASK[task] | BAD_LATER)[case](y)
    if rows:
        model.partial_fit(X[:rows], y[:rows], **known)
        model.predict(X)
    before = state(model)
    arguments = known if verb == "partial_fit" else {}
    with pytest.raises((ValueError, TypeError)) as refusal:
        getattr(model, verb)(data, targets, sample_weight=weight, **arguments)
    assert len(str(refusal.value)) > 15
    assert_same_state(model, before)
    if rows:
        other, _, _ = setting(task)
        other.partial_fit(X[:rows], y[:rows], **known).partial_fit(X, y)
        assert_array_equal(model.partial_fit(X, y).coef_, other.coef_)


@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_a_step_function_that_fails_leaves_a_new_estimator_new(verb):
    for step in (lambda t: 50.5 - t, lambda t: 1 / 0):
        model = classifier(method=gs.Fobos(step=step))
        before = dict(vars(model))
        with pytest.raises((ValueError, ZeroDivisionError)):
            getattr(model, verb)(X, TWO, **({"classes": ["no", "yes"]} if verb == "partial_fit" else {}))
        assert vars(model) == before


def test_a_step_function_that_fails_later_leaves_what_was_learned():
    model = classifier(method=gs.Fobos(step=lambda t: 50.5 - t)).partial_fit(X[:40], TWO[:40], classes=["no", "yes"])
    coef, t = model.coef_.copy(), model.t_
    with pytest.raises(ValueError, match="at round 51"):
        model.partial_fit(X[40:], TWO[40:])
    assert model.t_ == t
    assert_array_equal(model.coef_, coef)
    with pytest.raises(ValueError, match="at round 51"):
        model.fit(X, TWO)
    assert model.t_ == t
    assert_array_equal(model.coef_, coef)


def test_one_class_is_refused():
    model = classifier()
    for call in (
        lambda: model.fit(X, ["no"] * N),
        lambda: model.partial_fit(X, ["no"] * N, classes=["no"]),
    ):
        with pytest.raises(ValueError, match=r"one class only, 'no'.*at least two"):
            call()
    assert not hasattr(model, "classes_")


def test_all_weights_zero():
    with pytest.raises(ValueError, match="zero"):
        classifier().fit(X, TWO, sample_weight=np.zeros(N))
    model = classifier().partial_fit(X, TWO, classes=["no", "yes"], sample_weight=np.zeros(N))
    assert model.t_ == 0
    assert not model.coef_.any()
    assert np.isnan(model.progressive_loss_)
    model.partial_fit(X, TWO)
    assert_array_equal(model.coef_, classifier().partial_fit(X, TWO, classes=["no", "yes"]).coef_)


# Settings


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


@pytest.mark.parametrize(
    ("penalty", "expected"),
    [
        ("l1", gs.AdaGrad),
        ("elastic_net", gs.AdaGrad),
        ("group_l2", gs.AdaGrad),
        (gs.L1(weights=np.ones(D)), gs.AdaGrad),
        ("l2", gs.Fobos),
        ("l1_ball", gs.Fobos),
        (gs.L1Ball(weights=np.ones(D)), gs.Fobos),
        (gs.GroupL2(groups=np.arange(D) // 2, weights=np.ones(D // 2)), gs.Fobos),
        (gs.GroupL2(groups=np.arange(D) // 2), gs.Fobos),
        ("none", gs.AdaGrad),
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


@pytest.mark.parametrize(
    ("part", "value"), [("indices", -1), ("indices", 99), ("indptr", 1), ("indptr", 10**6)], ids=str
)
def test_a_csr_matrix_with_parts_that_do_not_fit_is_refused(part, value):
    X = sp.csr_array(np.eye(4))
    y = np.array([0, 1, 0, 1])
    model = gs.OnlineClassifier().fit(X, y)
    before = model.coef_.copy()
    getattr(X, part)[0 if part == "indices" or value == 1 else -1] = value
    for call in (gs.OnlineClassifier().fit, model.partial_fit):
        with pytest.raises(ValueError, match="not a valid CSR matrix"):
            call(X, y)
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("part", "value"), [("indices", -1), ("indices", 99), ("data", np.nan), ("data", -np.inf)])
@pytest.mark.parametrize("method", [gs.Fobos(1.0), gs.RDA(1.0), gs.AdaGrad(0.1), gs.FTRL(0.1), gs.Subgradient(1.0)])
def test_bad_entries_found_on_the_way_leave_no_trace(method, part, value, dtype, labels, fitted):
    """With a fixed step a first pass finds them as it learns: wherever they are, nothing of it stays."""
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 30), density=0.2, rng=rng, dtype=dtype).tocsr()
    y = rng.integers(labels, size=60)
    model = gs.OnlineClassifier(method=method, max_passes=2, random_state=0)
    if fitted:
        model.fit(X[:, :20], y)
    before = pickle.dumps(model)
    bad = X.copy()
    getattr(bad, part)[rng.integers(X.nnz)] = value
    with pytest.raises(ValueError, match="not a valid CSR matrix" if part == "indices" else "NaN or infinity"):
        model.fit(bad, y)
    assert pickle.dumps(model) == before
    assert np.isfinite(model.fit(X, y).coef_).all()


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
