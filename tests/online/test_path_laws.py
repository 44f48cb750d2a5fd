"""The path in one pass: each strength as if it were alone, and what must not matter."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer

import gossamer as gs
from gossamer import _core, methods
from gossamer.online import step_search
from gossamer.sources.rows import Rows, csr_arrays
from online.paths import (
    ALPHAS,
    AUTO,
    METHODS,
    PENALTIES,
    SPARSE,
    X,
    assert_each_is_as_if_alone,
    assert_same_weights,
    path_of,
    rounding_of,
)
from online.problems import LOGISTIC, MULTINOMIAL, PROBLEMS, features

# Each strength as if it were alone


@pytest.mark.parametrize("problem", [LOGISTIC, MULTINOMIAL], ids=lambda p: p.name)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("method", METHODS)
def test_every_penalty_as_if_alone(method, penalty, problem):
    path = path_of(problem.estimator)(ALPHAS, problem.loss, PENALTIES[penalty], METHODS[method], shuffle=False)
    assert_each_is_as_if_alone(path.fit(SPARSE, problem.y), problem, SPARSE, problem.y)


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("method", METHODS)
def test_every_loss_as_if_alone(method, problem):
    path = path_of(problem.estimator)(ALPHAS, problem.loss, "l1", METHODS[method], shuffle=False)
    assert_each_is_as_if_alone(path.fit(SPARSE, problem.y), problem, SPARSE, problem.y)


def test_extra_l1_of_rda_as_if_alone():
    path = gs.OnlineClassifierCV(ALPHAS, method=gs.RDA(gamma=2.0, rho=0.1), shuffle=False)
    assert_each_is_as_if_alone(path.fit(SPARSE, LOGISTIC.y), LOGISTIC, SPARSE, LOGISTIC.y)


@pytest.mark.parametrize("method", AUTO)
@pytest.mark.parametrize("n", [12, 60, 100])
def test_each_strength_finds_the_step_it_would_find_alone(method, n):
    X = features(n)
    y = np.where(X @ np.array([1.0, 1, 1, -1, -1, 0]) > 0, "yes", "no")
    y[:2] = "yes", "no"
    alphas = ALPHAS[:-1]  # theory needs some strength
    path = gs.OnlineClassifierCV(alphas, method=AUTO[method], shuffle=False)
    assert_each_is_as_if_alone(path.fit(X, y), LOGISTIC, X, y)


@pytest.mark.parametrize("method", ["auto", "fobos", "rda"])
def test_the_first_rows_and_the_rest_as_if_alone(method):
    X = features(2200)
    y = np.where(X @ np.array([1.0, 1, 1, -1, -1, 0]) + np.sin(np.arange(len(X))) > 0, 1.0, -1.0)
    path = gs.OnlineClassifierCV(5, method=method, shuffle=False).fit(X, y)
    assert path._trainer.buffer is None
    assert_each_is_as_if_alone(path, LOGISTIC, X, y)


@pytest.mark.parametrize("method", ["auto", gs.Fobos(0.5)])
def test_passes_and_shuffling_as_if_alone(method):
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.std(axis=0)
    path = gs.OnlineClassifierCV(4, method=method, max_passes=5, random_state=3).fit(X, y)
    for alpha in path.alphas_:
        single = gs.OnlineClassifier(alpha=float(alpha), method=method, max_passes=5, random_state=3, select="sparsest")
        single.fit(X, y)
        rounding = rounding_of(path)
        assert_same_weights(path.at(alpha).coef_, single.coef_, rounding)
        assert_allclose(path.at(alpha).progressive_loss_, single.progressive_loss_, rtol=max(rounding, 1e-9))


@pytest.mark.parametrize("method", [name for name in AUTO if "theory" not in name])
def test_steps_are_tried_side_by_side_or_one_by_one(method):
    method, rng = AUTO[method], np.random.default_rng(5)
    X = sp.random_array((200, 30), density=0.3, rng=rng, format="csr")
    y = np.sign(X @ rng.normal(size=30) + rng.normal(size=200))[:, None]
    rows, call = Rows(*csr_arrays(X), y, None), _core.loss_call(gs.Logistic()._core())
    setup = methods.Setup(30, 1, 1e-3, fit_intercept=True)
    tried = step_search._candidates(method, gs.Logistic(), rows, 1)
    for n in (16, 64, 200):
        part = rows[:n]
        together = step_search._side_by_side(method, gs.L1(), setup, np.array([1e-3]), call, part, tried, threads=1)
        assert together == [step_search._one_by_one(method, gs.L1(), setup, call, part, tried)]
    many = np.geomspace(0.1, 1e-3, 5)  # more than two threads take at once
    together = step_search._side_by_side(method, gs.L1(), setup, many, call, rows, tried, threads=2)
    apart = [step_search._one_by_one(method, gs.L1(), replace(setup, alpha=float(a)), call, rows, tried) for a in many]
    assert_array_equal(together, apart)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_lanes_in_parts_are_the_same(method, classes):
    rng = np.random.default_rng(0)
    X = sp.random_array((700, 50), density=0.5, rng=rng, format="csr")  # worth a thread
    loss, outputs = (gs.Logistic(), 1) if classes == 2 else (gs.Multinomial(), 3)
    y = rng.integers(classes, size=(700, 1)).astype(float)
    rows = Rows(*csr_arrays(X), 2 * y - 1 if classes == 2 else y, rng.random(700))
    setup = methods.Setup(50, outputs, 0.0, fit_intercept=True)
    settings = methods.Lanes(np.geomspace(0.1, 1e-4, 18), np.linspace(0.1, 2.0, 18))

    def taught(learner, begin, end):
        learner.scoring = begin > 0
        step = np.linspace(1.0, 0.5, end - begin)
        rows[begin:end].teach(learner, step, _core.loss_call(loss._core()))
        return learner

    def seen(learner):
        cells, some = 18 * outputs, np.array([3, 1], np.int32)
        W, b, W_some, b_some = np.empty((50, cells)), np.empty(cells), np.empty((2, cells)), np.empty(cells)
        counts = np.empty(cells, np.int64)
        learner.read(W, b)
        learner.read_some(some, W_some, b_some)
        learner.count_nonzeros(counts)
        starts = np.concatenate([[0], np.cumsum(counts)])
        index, value = np.empty(starts[-1], np.int64), np.empty(starts[-1])
        learner.gather(starts[:-1].copy(), index, value)
        yield from (W, b, W_some, b_some, counts, index, value, learner.losses, learner.squares, learner.intercepts)
        yield np.array([learner.rounds, learner.weight_seen, learner.scored, learner.scored_squares])
        for lane in (0, 9, 17):
            W, b = np.empty((50, outputs)), np.empty(outputs)
            learner.read_lane(lane, W, b)
            yield from (W, b, *learner.alone(lane).values())

    def made(together):
        learner = METHODS[method].make_lanes(gs.L1() if outputs == 1 else gs.GroupL2(), setup, settings, together)
        learner.threads = 2
        return learner

    whole = taught(taught(made(18), 0, 20), 20, 700)
    assert np.count_nonzero(next(seen(whole))) > 50
    for together in (5, 8, 12):
        split = taught(made(together), 0, 20)
        again = made(together)
        again.restore(split.state())
        for learner in (taught(split, 20, 700), taught(again, 20, 700)):
            for mine, theirs in zip(seen(learner), seen(whole), strict=True):
                assert_array_equal(mine, theirs)
        assert any(name.endswith("_of_part_1") for name in split.state())


def test_long_streams_settle_their_records():
    """More rounds than the records of the elastic net hold."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(sp.random(70_000, 20, 0.05, random_state=0, format="csr"))
    y = rng.normal(size=70_000) + X @ rng.normal(size=20)
    for penalty in (gs.ElasticNet(0.5), gs.Berhu(0.05)):
        path = gs.OnlineRegressorCV([0.1, 0.01], "squared", penalty, gs.Fobos(0.1), shuffle=False).fit(X, y)
        assert_each_is_as_if_alone(path, PROBLEMS["squared"], X, y)


# What must not matter


@pytest.mark.parametrize("alphas", [5, [0.1, 0.01]])
@pytest.mark.parametrize("method", AUTO)
def test_it_does_not_matter_how_the_rows_are_cut(method, alphas):
    X = sp.csr_array(features(100))
    y = (X @ np.array([1.0, 1, 1, -1, -1, 0]) > 0).astype(int)
    y[:2] = 0, 1
    whole = gs.OnlineClassifierCV(alphas, method=AUTO[method], shuffle=False).fit(X, y)
    for cuts in ([0, 1, 3, 16, 17, 33, 90, 100], [0, 64, 100]):
        stream = gs.OnlineClassifierCV(alphas, method=AUTO[method])
        for begin, end in pairwise(cuts):
            stream.partial_fit(X[begin:end], y[begin:end], classes=[0, 1])
        assert_array_equal(stream.alphas_, whole.alphas_)
        assert_array_equal(stream.coef_, whole.coef_)
        assert_array_equal(stream.path_loss_, whole.path_loss_)
        assert_array_equal(stream.path_loss_se_, whole.path_loss_se_)
        assert_array_equal(stream.path_nonzeros_, whole.path_nonzeros_)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("penalty", ["l1", "elastic_net", "group_l2"])
def test_dense_and_sparse_rows_are_the_same(penalty, center):
    settings = {"penalty": penalty, "shuffle": False, "center": center}
    dense = gs.OnlineClassifierCV(5, **settings).fit(X, MULTINOMIAL.y)
    sparse = gs.OnlineClassifierCV(5, **settings).fit(sp.csc_matrix(X), MULTINOMIAL.y)
    for one, other in zip(dense.coef_path_, sparse.coef_path_, strict=True):
        assert_array_equal(one.toarray(), other.toarray())


def test_without_an_intercept():
    path = gs.OnlineClassifierCV(ALPHAS, method=gs.Fobos(0.5), fit_intercept=False, shuffle=False).fit(X, LOGISTIC.y)
    assert_each_is_as_if_alone(path, LOGISTIC, X, LOGISTIC.y, fit_intercept=False)
    assert_array_equal(path.intercept_path_, 0.0)


def test_rows_of_single_precision():
    rough = X.astype(np.float32)
    one = gs.OnlineClassifierCV(5, shuffle=False).fit(rough, LOGISTIC.y)
    other = gs.OnlineClassifierCV(5, shuffle=False).fit(rough.astype(np.float64), LOGISTIC.y)
    assert_array_equal(one.coef_, other.coef_)


def test_a_weight_of_zero_is_no_row():
    weight = np.tile([1.0, 0.0, 2.0], len(X) // 3)
    kept = weight > 0
    one = gs.OnlineClassifierCV(5, shuffle=False).fit(X, LOGISTIC.y, sample_weight=weight)
    other = gs.OnlineClassifierCV(5, shuffle=False).fit(X[kept], LOGISTIC.y[kept], sample_weight=weight[kept])
    assert_array_equal(one.coef_, other.coef_)
    assert_array_equal(one.path_loss_se_, other.path_loss_se_)


def test_sample_and_class_weights_as_if_alone():
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    path = gs.OnlineClassifierCV(4, class_weight={-1: 1.0, 1: 3.0}, shuffle=False)
    path.fit(X, LOGISTIC.y, sample_weight=weight)
    for alpha in path.alphas_:
        single = gs.OnlineClassifier(
            alpha=float(alpha), class_weight={-1: 1.0, 1: 3.0}, shuffle=False, select="sparsest"
        )
        single.fit(X, LOGISTIC.y, sample_weight=weight)
        assert_same_weights(path.at(alpha).coef_, single.coef_, rounding_of(path))
