"""Batches: a step follows the mean gradient of several rows, over the whole matrix method × loss × penalty."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import gossamer as gs
from online.matrix import ALLOWED, AVERAGED, METHODS, alpha_for, penalty_for
from online.paths import path_of
from online.problems import (
    ONE_AND_THREE,
    PROBLEMS,
    N,
    X,
    assert_is_the_twin,
    assert_same_model,
    assert_same_numbers,
    assert_same_weights,
    over,
    weights,
)

BATCHES = [pair for pair in ALLOWED if pair[0] != "step free"]
SIZE = 7  # the last batch of a pass has 4 of 60 rows
CUTS = [0, 1, 3, 10, 11, 32, 59, N]
FIRST = range(0, N, 5)


def in_parts(problem, model, data=None, rows=N, cuts=CUTS, sample_weight=None):
    data = sp.csr_array(X) if data is None else data
    for begin, end in pairwise(cuts):
        if begin < rows:
            problem.teach(model, data, slice(begin, min(end, rows)), sample_weight)
    return model


def assert_same_bits(one, other):
    assert_array_equal(one.coef_, other.coef_)
    assert_array_equal(one.intercept_, other.intercept_)
    assert_array_equal(one.progressive_loss_, other.progressive_loss_)
    assert one.t_ == other.t_


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize(("method", "name"), BATCHES)
def test_batches_are_those_of_the_twin(method, name, problem):
    assert_batches_are_those_of_the_twin(method, name, problem)


@over("problem", [*PROBLEMS.values()])
@pytest.mark.parametrize("method", ["fobos", "rda", "adagrad rda", "adagrad fobos", "ftrl", "subgradient"])
def test_of_every_loss(method, problem):
    assert_batches_are_those_of_the_twin(method, "l1", problem)


def assert_batches_are_those_of_the_twin(method, name, problem):
    penalty, alpha = penalty_for(name, problem.outputs), alpha_for(method)
    model = problem.model(METHODS[method], penalty, alpha, batch_size=SIZE)
    problem.teach(model, sp.csr_array(X), slice(0, 56))
    whole = problem.twin(METHODS[method], penalty, X[:56], alpha, batch_size=SIZE)
    assert_is_the_twin(model, whole)
    assert model.t_ == 8


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize(("method", "name"), AVERAGED)
def test_the_average_is_over_batches(method, name, problem):
    penalty, alpha = penalty_for(name, problem.outputs), alpha_for(method)
    model = problem.model(METHODS[method], penalty, alpha, batch_size=SIZE, average=True)
    problem.teach(model, sp.csr_array(X), slice(0, 56))
    twin = problem.twin(METHODS[method], penalty, X[:56], alpha, batch_size=SIZE)
    assert_same_weights(weights(model), twin.average_weights)
    assert_same_numbers(model.intercept_, twin.average_intercept)


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize(("method", "name"), BATCHES)
def test_batches_do_not_depend_on_the_cut(method, name, problem):
    settings = {"penalty": penalty_for(name, problem.outputs), "alpha": alpha_for(method), "batch_size": SIZE}
    weight = np.random.default_rng(3).integers(0, 3, N).astype(float)
    model = problem.model(METHODS[method], **settings)
    problem.teach(model, sp.csr_array(X), sample_weight=weight)
    parts = in_parts(problem, problem.model(METHODS[method], **settings), sample_weight=weight)
    assert_same_bits(parts, model)
    restored = in_parts(problem, problem.model(METHODS[method], **settings), rows=11, sample_weight=weight)
    restored = pickle.loads(pickle.dumps(restored))
    assert_same_bits(in_parts(problem, restored, cuts=CUTS[4:], sample_weight=weight), model)


@pytest.mark.parametrize(("method", "name"), BATCHES)
def test_two_equal_rows_are_one(method, name):
    """The mean gradient of a row and one like it is that of the row; and batches of one row are rows, to the bit."""
    problem = PROBLEMS["logistic"]
    settings = {"penalty": penalty_for(name, problem.outputs), "alpha": alpha_for(method)}
    plain = problem.teach(problem.model(METHODS[method], **settings), sp.csr_array(X), slice(0, 20))
    one = problem.teach(problem.model(METHODS[method], batch_size=1, **settings), sp.csr_array(X), slice(0, 20))
    assert_same_bits(one, plain)
    twice = problem.teach(
        problem.model(METHODS[method], batch_size=2, **settings), sp.csr_array(X), np.repeat(np.arange(20), 2)
    )
    assert_same_weights(weights(twice), weights(plain))
    assert_same_numbers(twice.progressive_loss_, plain.progressive_loss_)
    assert twice.t_ == plain.t_ == 20


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize("method", ["fobos", "rda", "adagrad rda", "adagrad fobos", "ftrl"])
@pytest.mark.parametrize("name", ["l1", "l1, weights", "elastic net", "group l2, rows"])
def test_a_path_learns_batches_as_each_strength_does(method, name, problem):
    penalty, alphas = penalty_for(name, problem.outputs), [0.2, 0.04, 0.001]
    path = path_of(problem.estimator)(alphas, problem.loss, penalty, METHODS[method], batch_size=SIZE)
    in_parts(problem, path)
    for alpha in alphas:
        alone = problem.teach(problem.model(METHODS[method], penalty, alpha, batch_size=SIZE), sp.csr_array(X))
        one = path.at(alpha)
        assert_same_weights(weights(one), weights(alone))
        for model in (one, alone):
            problem.teach(model, sp.csr_array(X), slice(0, 10))  # the rows that waited are there too
        assert_same_weights(weights(one), weights(alone))


def large(dense=False):
    random = np.random.default_rng(5)
    data = sp.random_array((900, 400), density=0.3, rng=random, format="csr")
    y = np.argmax(data @ random.normal(size=(400, 3)), axis=1)
    return (data.toarray() if dense else data), y


@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_and_containers_do_not_matter(dense, dtype):
    import joblib

    data, y = large(dense)
    data = data.astype(dtype)
    settings = {"method": gs.Fobos(1.0), "batch_size": 300, "alpha": 1e-4, "shuffle": False, "max_passes": 2}
    models = []
    for threads in (1, 2, 3):
        with joblib.parallel_config(n_jobs=threads):
            models.append(gs.OnlineClassifier(**settings).fit(data, y))
    for model in models[1:]:
        assert_same_bits(model, models[0])
    assert_same_model(gs.OnlineClassifier(**settings).fit(sp.csr_array(data), y), models[0])
    assert models[0].score(data, y) > 0.5


def test_the_last_batch_of_a_pass_may_have_fewer_rows():
    data, y = sp.csr_array(X), PROBLEMS["logistic"].y
    settings = {"method": gs.Fobos(0.5), "batch_size": SIZE, "alpha": 0.01}
    model = gs.OnlineClassifier(max_passes=2, shuffle=False, **settings).fit(data, y)
    assert model.t_ == 18
    problem = PROBLEMS["logistic"]
    assert_is_the_twin(model, problem.twin(gs.Fobos(0.5), gs.L1(), X, 0.01, batch_size=SIZE, passes=2))
    waiting = gs.OnlineClassifier(**settings).partial_fit(data[: SIZE - 1], y[: SIZE - 1], classes=[-1, 1])
    assert waiting.t_ == 0
    assert not waiting.coef_.any()
    waiting.partial_fit(data[SIZE - 1 : SIZE], y[SIZE - 1 : SIZE])
    assert waiting.t_ == 1


def test_rows_that_wait_are_copies():
    data, y = X[:SIZE].copy(), PROBLEMS["logistic"].y[:SIZE].copy()
    model, other = (gs.OnlineClassifier(method=gs.Fobos(0.5), batch_size=SIZE) for _ in range(2))
    model.partial_fit(data[:-1], y[:-1], classes=[-1, 1])
    other.partial_fit(data[:-1], y[:-1], classes=[-1, 1])
    data[:-1], y[:-1] = 9.0, -y[:-1]
    model.partial_fit(X[SIZE - 1 : SIZE], y[-1:])
    other.partial_fit(X[SIZE - 1 : SIZE], y[-1:])
    assert_same_bits(model, other)


@pytest.mark.parametrize("method", ["fobos", "rda", "adagrad"])
@pytest.mark.parametrize("size", [7, 300, 5000])
def test_steps_that_are_searched_do_not_depend_on_the_cut(method, size):
    data, y = large()
    for make in (
        lambda: gs.OnlineClassifier(method=method, batch_size=size),
        lambda: gs.OnlineClassifierCV(4, method=method, batch_size=size),
    ):
        whole = make().partial_fit(data, y, classes=[0, 1, 2])
        parts = make()
        for begin, end in pairwise([0, 1, 15, 16, 40, 301, 302, 900]):
            parts.partial_fit(data[begin:end], y[begin:end], classes=[0, 1, 2])
        assert_same_bits(parts, whole)
        assert parts.step_ == whole.step_


def test_refusals_in_words():
    data, y = sp.csr_array(X), PROBLEMS["logistic"].y
    with pytest.raises(ValueError, match=r"StepFree cannot handle .*batch_size=1, or method='adagrad'"):
        gs.OnlineClassifier(method="step_free", batch_size=2).fit(data, y)
    for wrong in (0, -1, 2.5, True, "all"):
        with pytest.raises(ValueError, match="batch_size must be a whole number, 1 or more"):
            gs.OnlineClassifier(batch_size=wrong).fit(data, y)
    assert type(gs.OnlineClassifier(batch_size=5).fit(data, y)._trainer.method) is gs.AdaGrad


def test_a_batch_that_diverges_leaves_no_trace():
    data, y = sp.csr_array(X), PROBLEMS["squared"].y
    model = gs.OnlineRegressor(method=gs.Fobos(0.5), batch_size=10).partial_fit(data[:15], y[:15])
    before = model.coef_.copy()
    far = y[15:25].copy()
    far[0] = 1e300
    with pytest.raises(FloatingPointError, match="diverges at batch 2"):
        model.partial_fit(data[15:25], far)
    assert_array_equal(model.coef_, before)
    assert model.t_ == 1
    assert model.partial_fit(data[30:40], y[30:40]).t_ == 2  # its rows are left out


def test_classes_that_come_later():
    data, y = large()
    model = gs.OnlineClassifier(method=gs.Fobos(1.0), batch_size=64, grow=True)
    order = np.argsort(y == 2, kind="stable")
    for rows in np.array_split(order, 50):
        model.partial_fit(data[rows], y[rows])
    assert list(model.classes_) == [0, 1, 2]
    assert model.t_ == 900 // 64
