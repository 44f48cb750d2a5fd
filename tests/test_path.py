"""The path in one pass: each strength as if it were alone, the choice among them, and what must not matter."""

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes

import gossamer as gs
from gossamer import _core, methods
from gossamer.online import lanes, step_search, strategies
from gossamer.online.path import LearnedPath
from gossamer.sources.rows import Rows, csr_arrays
from test_online_laws import LOGISTIC, MULTINOMIAL, PROBLEMS, features

ALPHAS = [0.3, 0.1, 0.04, 0.01, 0.001, 0.0]
METHODS = {
    "fobos": gs.Fobos(step=0.5),
    "fobos, a schedule": gs.Fobos(step=gs.Constant(0.2)),
    "rda": gs.RDA(gamma=2.0),
    "adagrad rda": gs.AdaGrad(step=0.4),
    "adagrad fobos": gs.AdaGrad(step=0.4, form="fobos"),
    "ftrl": gs.FTRL(step=0.5, beta=0.5),
}
AUTO = {
    "fobos": gs.Fobos(),
    "fobos theory": gs.Fobos("theory"),
    "rda": gs.RDA(),
    "rda theory": gs.RDA("theory"),
    "adagrad rda": gs.AdaGrad(),
    "adagrad fobos": gs.AdaGrad(form="fobos"),
    "ftrl": gs.FTRL(),
}
WEIGHTS = np.array([1.0, 0.5, 2.0, 1.5, 0.7, 1.0])
PENALTIES = {
    "l1": gs.L1(),
    "l1, weights": gs.L1(weights=WEIGHTS),
    "non-negative l1": gs.NonNegativeL1(),
    "elastic net": gs.ElasticNet(0.7),
    "elastic net, weights": gs.ElasticNet(0.7, weights=WEIGHTS),
    "ridge": gs.L2Squared(),
    "berhu": gs.Berhu(0.1),
    "berhu, weights": gs.Berhu(0.1, weights=WEIGHTS),
    "group l2": gs.GroupL2(),
    "group l2, weights": gs.GroupL2(weights=WEIGHTS),
    "group linf": gs.GroupLInf(),
    "sparse group": gs.SparseGroupL2(0.5),
}
X = features()
SPARSE = sp.csr_array(X)


def path_of(estimator):
    return gs.OnlineRegressorCV if estimator is gs.OnlineRegressor else gs.OnlineClassifierCV


def alone(path, problem, X, y, alpha, **settings):
    """Return the estimator with one strength, fitted to the same rows."""
    model = problem.estimator(problem.loss, path.penalty, float(alpha), path.method, shuffle=False, **settings)
    return model.fit(X, y)


def assert_same_weights(one, other):
    """To 1e-6 of the largest, and the same zeros but for ties."""
    scale = np.abs(other).max(initial=0.0)
    assert_allclose(one, other, rtol=1e-6, atol=1e-9 * scale)
    differ = (one != 0) != (other != 0)
    assert np.abs(np.where(differ, one - other, 0.0)).max(initial=0.0) <= 1e-12 * max(scale, 1.0)


def assert_each_is_as_if_alone(path, problem, X, y, **settings):
    used = 0
    for i, alpha in enumerate(path.alphas_):
        single = alone(path, problem, X, y, alpha, **settings)
        mine = path.at(alpha)
        assert_same_weights(mine.coef_, single.coef_)
        assert_same_weights(path.coef_path_[i].toarray(), np.atleast_2d(single.coef_))
        assert_allclose(mine.intercept_, single.intercept_, rtol=1e-6, atol=1e-12)
        assert_array_equal(path.intercept_path_[i], mine.intercept_)
        assert path.path_nonzeros_[i] == np.count_nonzero(single.coef_)
        if settings.get("max_passes", 1) == 1:
            assert_allclose(path.path_loss_[i], single.progressive_loss_, rtol=1e-9)
        assert_allclose(mine.progressive_loss_, single.progressive_loss_, rtol=1e-9)
        if not callable(single.step_):
            assert_allclose(path.path_step_[i], single.step_, rtol=1e-12)
        assert mine.t_ == single.t_
        used += np.count_nonzero(single.coef_)
    assert used > 0
    chosen = path.at()
    assert chosen.alpha == path.alpha_
    assert_array_equal(path.coef_, chosen.coef_)
    assert_array_equal(path.predict(X), chosen.predict(X))


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
        single = gs.OnlineClassifier(alpha=float(alpha), method=method, max_passes=5, random_state=3).fit(X, y)
        assert_same_weights(path.at(alpha).coef_, single.coef_)
        assert_allclose(path.at(alpha).progressive_loss_, single.progressive_loss_, rtol=1e-9)


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
        together = step_search._side_by_side(method, gs.L1(), setup, np.array([1e-3]), call, part, tried)
        assert together == [step_search._one_by_one(method, gs.L1(), setup, call, part, tried)]
    many = np.geomspace(0.1, 1e-3, 5)  # on two threads
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
    settings = lanes.Lanes(np.geomspace(0.1, 1e-4, 18), np.linspace(0.1, 2.0, 18))

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
        learner = lanes.make(METHODS[method], gs.L1() if outputs == 1 else gs.GroupL2(), setup, settings, together)
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


@pytest.mark.parametrize("penalty", ["l1", "elastic_net", "group_l2"])
def test_dense_and_sparse_rows_are_the_same(penalty):
    dense = gs.OnlineClassifierCV(5, penalty=penalty, shuffle=False).fit(X, MULTINOMIAL.y)
    sparse = gs.OnlineClassifierCV(5, penalty=penalty, shuffle=False).fit(sp.csc_matrix(X), MULTINOMIAL.y)
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
        single = gs.OnlineClassifier(alpha=float(alpha), class_weight={-1: 1.0, 1: 3.0}, shuffle=False)
        single.fit(X, LOGISTIC.y, sample_weight=weight)
        assert_same_weights(path.at(alpha).coef_, single.coef_)


# Loss and its standard error


def test_progressive_loss_and_its_standard_error():
    """Predict, then learn; the spread over the square root of the (effective) number of rows."""
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    stream = gs.OnlineClassifierCV(ALPHAS, method=gs.Fobos(0.5))
    rows = []
    for i in range(len(X)):
        if i == 0:
            z = np.zeros(len(ALPHAS))
        else:
            z = np.array([stream.at(a).decision_function(X[i : i + 1])[0] for a in ALPHAS])
        rows.append(np.log1p(np.exp(-LOGISTIC.y[i] * z)))
        stream.partial_fit(X[i : i + 1], LOGISTIC.y[i : i + 1], classes=[-1, 1], sample_weight=weight[i : i + 1])
    mean = np.average(rows, axis=0, weights=weight)
    spread = np.average(np.square(rows - mean), axis=0, weights=weight)
    assert_allclose(stream.path_loss_, mean, rtol=1e-9)
    assert_allclose(stream.path_loss_se_, np.sqrt(spread * np.sum(weight**2)) / weight.sum(), rtol=1e-6)


def test_only_the_first_pass_counts():
    once = gs.OnlineClassifierCV(5, method=gs.Fobos(0.5), shuffle=False).fit(X, LOGISTIC.y)
    often = gs.OnlineClassifierCV(once.alphas_, method=gs.Fobos(0.5), shuffle=False, max_passes=4).fit(X, LOGISTIC.y)
    assert_array_equal(once.path_loss_, often.path_loss_)
    assert_array_equal(once.path_loss_se_, often.path_loss_se_)
    assert np.any(once.coef_ != often.coef_)
    more = often.partial_fit(X[:5], LOGISTIC.y[:5])
    assert np.any(more.path_loss_ != once.path_loss_)


# The grid


def test_the_grid_starts_where_weights_begin():
    """Batch optimality at zero: no weight at the top of the grid, some weight just below it."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:256] * 10, y[:256] / 50
    top = gs.OnlineRegressorCV(4, shuffle=False).fit(X, y).alphas_[0]
    gradient = (X - X.mean(axis=0)).T @ (y - y.mean()) / len(y)
    assert_allclose(top, np.abs(gradient).max(), rtol=1e-9)
    assert_allclose(gs.OnlineRegressorCV(4).fit(X, y).alphas_ / top, np.geomspace(1, strategies.SPAN, 4), rtol=1.0)


@pytest.mark.parametrize(
    "penalty", ["l1", "elastic_net", "l2_squared", "berhu", "group_l2", "group_linf", gs.NonNegativeL1()]
)
def test_a_grid_for_every_penalty(penalty):
    path = gs.OnlineClassifierCV(6, penalty=penalty, shuffle=False).fit(X, MULTINOMIAL.y)
    assert len(path.alphas_) == 6
    assert np.all(np.diff(path.alphas_) < 0)
    assert 1e-4 < path.alphas_[0] < 1e4


def test_before_there_are_rows_enough():
    path = gs.OnlineClassifierCV(6).partial_fit(X[:3], LOGISTIC.y[:3], classes=[-1, 1])
    assert path.alphas_[0] == 1.0
    assert np.isfinite(path.predict_proba(X)).all()
    path.partial_fit(X[3:30], LOGISTIC.y[3:30])
    assert path._trainer.decided == 16


def test_rows_of_nothing():
    path = gs.OnlineRegressorCV(3).fit(np.zeros((40, 2)), np.arange(40.0))
    assert_array_equal(path.path_nonzeros_, [0, 0, 0])
    assert path.alphas_[0] == 1.0


def test_given_strengths_are_sorted_and_unique():
    path = gs.OnlineClassifierCV([0.01, 0.1, 0.01, 0.0]).fit(X, LOGISTIC.y)
    assert_array_equal(path.alphas_, [0.1, 0.01, 0.0])


# The choice


def test_the_best_is_the_lowest_loss():
    path = gs.OnlineClassifierCV(8, select="best", shuffle=False).fit(X, LOGISTIC.y)
    assert path.alpha_ == path.alphas_[np.argmin(path.path_loss_)]
    assert path.progressive_loss_ == path.path_loss_.min()
    assert_array_equal(path.nonzero_features_, np.flatnonzero(path.coef_[0]))


def few_of_many(n=500, d=40, seed=0):
    """Two of many features matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] - X[:, 1] + rng.normal(size=n) > 0, 1, 0)


def test_the_sparsest_is_within_one_standard_error():
    X, y = few_of_many()
    path = gs.OnlineClassifierCV(12, random_state=0).fit(X, y)
    assert path.select == "sparsest"
    best = np.argmin(path.path_loss_)
    near = np.flatnonzero(path.path_loss_ <= path.path_loss_[best] + path.path_loss_se_[best])
    chosen = int(np.flatnonzero(path.alphas_ == path.alpha_)[0])
    assert chosen in near
    assert path.path_nonzeros_[chosen] == path.path_nonzeros_[near].min() < path.path_nonzeros_[best]


def test_a_budget_of_weights():
    X, y = few_of_many()
    free = gs.OnlineClassifierCV(12, random_state=0).fit(X, y)
    for most in (2, 5, 40):
        path = gs.OnlineClassifierCV(12, select="best", max_nonzeros=most, random_state=0).fit(X, y)
        allowed = free.path_nonzeros_ <= most
        assert path.progressive_loss_ == free.path_loss_[allowed].min()
        assert np.count_nonzero(path.coef_) <= most


def test_a_budget_that_none_meets():
    path = gs.OnlineClassifierCV([0.0, 1e-9], max_nonzeros=1).fit(X, LOGISTIC.y)
    with pytest.warns(UserWarning, match="No strength has at most max_nonzeros=1"):
        assert path.alpha_ in (0.0, 1e-9)


def test_diverging_strengths_are_not_chosen():
    path = gs.OnlineRegressorCV([10.0, 0.0], "squared", "l2_squared", gs.Fobos(gs.Constant(3.0)), shuffle=False)
    path.fit(np.full((500, 1), 2.0), np.ones(500))
    assert path.alpha_ == 10.0
    assert np.isfinite(path.coef_).all()


def test_strengths_that_overflow_are_not_chosen():
    X = np.where(np.arange(40)[:, None] % [2, 3] == 0, 1e200, -1e200)
    y = np.where(np.arange(40) % 5 == 0, 1, 0)
    path = gs.OnlineClassifierCV([1e250, 0.0], method=gs.Fobos(1.0), shuffle=False).fit(X, y)
    assert not np.isfinite(path.path_loss_[1])
    assert path.alpha_ == 1e250


@pytest.mark.parametrize("z", [0.0, 1e-300, 1e-9, 0.5, 3.0, 36.0, 700.0, 800.0, 1e8])
def test_the_logistic_loss_of_lanes_is_the_logistic_loss(z):
    """A weight of ±z, then one row more: its loss, and what it does to the weight."""
    for sign in (-1.0, 1.0):
        path = gs.OnlineRegressorCV([0.0], "squared", method=gs.Fobos(gs.Constant(1.0)), fit_intercept=False)
        learner = path.partial_fit([[1.0]], [sign * z])._trainer.learner
        state = learner.state()
        learner.restore({**state, "lane_losses": np.zeros(1)})
        row = Rows(*csr_arrays(sp.csr_array([[1.0]])), np.array([[1.0]]), None)
        row.teach(learner, np.ones(1), _core.loss_call(gs.Logistic()._core()))
        loss, slope = gs.Logistic().value([sign * z], [1.0])[0], gs.Logistic().slope([sign * z], [1.0])[0]
        assert_allclose(learner.losses[0], loss, rtol=1e-15, atol=1e-300)
        W, _ = LearnedPath(path._trainer).read(0)
        assert_allclose(W[0, 0], sign * z - slope, rtol=1e-15)


# One strength of the path


@pytest.mark.parametrize("penalty", ["l1", "elastic_net", "berhu", "group_l2"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("problem", [LOGISTIC, MULTINOMIAL, PROBLEMS["squared"]], ids=lambda p: p.name)
def test_one_strength_goes_on_learning(problem, method, penalty):
    path = path_of(problem.estimator)(ALPHAS[1:3], problem.loss, penalty, METHODS[method], shuffle=False)
    single = problem.estimator(problem.loss, penalty, ALPHAS[1], METHODS[method])
    for model in (path, single):
        problem.teach(model, X, slice(0, 40))
    one = path.at(ALPHAS[1])
    problem.teach(one, X, slice(40, 60))
    problem.teach(single, X, slice(40, 60))
    assert type(one) is problem.estimator
    assert_same_weights(one.coef_, single.coef_)
    assert_allclose(one.progressive_loss_, single.progressive_loss_, rtol=1e-9)
    before = path.coef_.copy()
    assert_array_equal(path.coef_, before)


def test_one_strength_goes_on_finding_its_step():
    path = gs.OnlineClassifierCV([0.01, 0.001], shuffle=False)
    single = gs.OnlineClassifier(alpha=0.01)
    for model in (path, single):
        LOGISTIC.teach(model, X, slice(0, 20))
    one = path.at(0.01)
    for model in (one, single):
        LOGISTIC.teach(model, X, slice(20, 60))
    assert one.step_ == single.step_
    assert_same_weights(one.coef_, single.coef_)


def test_one_strength_may_grow():
    one = gs.OnlineClassifierCV(ALPHAS, method=gs.AdaGrad(0.4)).fit(X, LOGISTIC.y).at(0.01)
    one.set_params(grow=True).partial_fit(np.ones((1, X.shape[1] + 2)), [1.0])
    assert one.coef_.shape == (1, X.shape[1] + 2)


def test_a_strength_that_is_not_there():
    path = gs.OnlineClassifierCV([0.1, 0.01]).fit(X, LOGISTIC.y)
    with pytest.raises(ValueError, match=r"alpha=0.02 is not on the path; the nearest is 0.01"):
        path.at(0.02)


# Estimators


def test_outputs_of_the_path():
    path = gs.OnlineClassifierCV(4, penalty="group_l2").fit(X, MULTINOMIAL.y)
    assert len(path.coef_path_) == 4
    assert path.coef_path_[0].shape == path.coef_.shape == (3, X.shape[1])
    lane = list(path.alphas_).index(path.alpha_)
    assert_array_equal(path.coef_path_[lane].toarray(), path.coef_)
    rows = np.count_nonzero(path.coef_, axis=0)
    assert set(rows.tolist()) <= {0, 3}


@pytest.mark.parametrize("penalty", ["l1", "elastic_net", "berhu"])
@pytest.mark.parametrize("method", [*METHODS.values(), "auto"], ids=str)
@pytest.mark.parametrize("at", [10, 40])
def test_copies_go_on_as_if_nothing_had_happened(method, penalty, at):
    path = gs.OnlineClassifierCV(4, penalty=penalty, method=method)
    LOGISTIC.teach(path, X, slice(0, at))
    copied = pickle.loads(pickle.dumps(path))
    assert_array_equal(copied.coef_, path.coef_)
    for model in (path, copied):
        LOGISTIC.teach(model, X, slice(at, 60))
    assert_array_equal(copied.coef_, path.coef_)
    assert_array_equal(copied.path_loss_, path.path_loss_)


def test_a_clone_knows_the_settings_only():
    path = gs.OnlineClassifierCV([0.1, 0.01], max_nonzeros=4).fit(X, LOGISTIC.y)
    assert clone(path).get_params() == path.get_params()
    assert not hasattr(clone(path), "alpha_")


def test_a_warm_start_goes_on():
    path = gs.OnlineClassifierCV([0.1, 0.01], method=gs.Fobos(0.5), warm_start=True, shuffle=False)
    whole = gs.OnlineClassifierCV([0.1, 0.01], method=gs.Fobos(0.5), shuffle=False).fit(X, LOGISTIC.y)
    path.fit(X[:30], LOGISTIC.y[:30]).fit(X[30:], LOGISTIC.y[30:])
    assert_array_equal(path.coef_, whole.coef_)
    assert_array_equal(path.path_loss_, whole.path_loss_)


def test_verbose_prints_a_line_a_pass(capsys):
    gs.OnlineClassifierCV(4, verbose=1, max_passes=2).fit(X, LOGISTIC.y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("pass 2: progressive loss 0.")
    assert "at alpha = " in lines[1]


@pytest.mark.parametrize("rows", [40, 3000])
def test_ctrl_c_keeps_what_was_learned(monkeypatch, rows):
    X, y = features(rows), np.where(np.arange(rows) % 2, 1.0, -1.0)
    path = gs.OnlineClassifierCV(4, max_passes=3, shuffle=False)
    teach, calls = Rows.teach, []

    def interrupted(self, learner, steps, loss):
        calls.append(len(self))
        if getattr(learner, "rounds", 0) >= rows:
            raise KeyboardInterrupt
        teach(self, learner, steps, loss)

    monkeypatch.setattr(Rows, "teach", interrupted)
    with pytest.warns(UserWarning, match="Interrupted"):
        path.fit(X, y)
    assert path.t_ >= rows
    assert path.n_iter_ == 1
    assert np.isfinite(path.predict_proba(X)).all()
    monkeypatch.undo()
    path.partial_fit(X, y)
    assert np.isfinite(path.path_loss_).all()


def test_nothing_is_there_before_fit():
    for name in ("alphas_", "alpha_", "path_loss_", "path_nonzeros_", "coef_path_", "coef_", "progressive_loss_"):
        assert not hasattr(gs.OnlineClassifierCV(), name)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alphas": 1}, "at least 2"),
        ({"alphas": []}, "at least one strength"),
        ({"alphas": [0.1, -1.0]}, "must not be negative"),
        ({"alphas": [0.1, np.nan]}, "must be finite"),
        ({"alphas": 0.1}, "whole number or a sequence"),
        ({"alphas": True}, "whole number or a sequence"),
        ({"alphas": "many"}, "whole number or a sequence"),
        ({"select": "worst"}, "'best' or 'sparsest'"),
        ({"max_nonzeros": -1}, "0 or more"),
        ({"max_nonzeros": 2.5}, "0 or more"),
        ({"method": "pegasos", "penalty": "l2_squared"}, "Pegasos cannot handle L2Squared: on a path"),
        ({"method": "truncated_gradient"}, "TruncatedGradient cannot handle L1: on a path"),
        ({"method": "subgradient"}, "'fobos', 'rda', 'adagrad' or 'ftrl'"),
        ({"method": "eg", "penalty": "none"}, "ExponentiatedGradient cannot handle NoPenalty"),
        ({"penalty": "none"}, "no sum over features with a strength to choose"),
        ({"penalty": "l1_ball"}, "no sum over features with a strength to choose"),
        ({"penalty": "l2", "method": "fobos"}, "no sum over features with a strength to choose"),
        ({"penalty": gs.GroupL2(groups=[0, 0, 1, 1, 2, 2]), "method": "fobos"}, "no sum over features"),
        ({"penalty": gs.L1(weights=[1.0, 2.0])}, "one weight a feature"),
        ({"penalty": "berhu", "method": gs.RDA(rho=1.0)}, "ρ adds ℓ1"),
        ({"method": gs.RDA(gamma=0)}, "γ = 0 needs a strongly convex penalty"),
        ({"method": gs.Fobos("theory"), "alphas": [0.1, 0.0]}, "step='theory' needs a bound"),
    ],
    ids=str,
)
def test_wrong_settings_say_what_is_right_before_any_work(settings, words):
    path = gs.OnlineClassifierCV(**settings)
    with pytest.raises(ValueError, match=words):
        path.fit(X, LOGISTIC.y)
    assert not hasattr(path, "alpha_")


def test_custom_penalties_are_refused_in_words():
    class Own:
        def value(self, w):
            return 0.0

        def prox(self, v, step=1.0):
            return v

    with pytest.raises(ValueError, match="Python object"):
        gs.OnlineClassifierCV(penalty=Own()).fit(X, LOGISTIC.y)


def test_the_search_is_that_of_one_strength():
    """The same candidates, cut and kept in the same way."""
    path = gs.OnlineClassifierCV(ALPHAS, method="ftrl", shuffle=False).fit(X, LOGISTIC.y)
    trainer = path._trainer
    rows = Rows(*csr_arrays(SPARSE), LOGISTIC.coded, None)[:32]
    for alpha, step in zip(path.alphas_, path.path_step_, strict=True):
        setup = replace(trainer.setup, alpha=float(alpha))
        assert step == step_search.choose(
            trainer.method, trainer.penalty, setup, trainer.targets.loss, trainer.loss_call, rows
        )


# The picture


@pytest.mark.parametrize("y", [LOGISTIC.y, MULTINOMIAL.y], ids=["one output", "three outputs"])
def test_the_picture(y):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    path = gs.OnlineClassifierCV([0.1, 0.01, 0.0], method=gs.Fobos(0.5)).fit(X, y)
    display = gs.PathDisplay.from_estimator(path, top=3)
    assert len(display.axes_) == 3
    assert display.weights.shape == (3, 3)
    assert_array_equal(display.alphas, path.alphas_)
    display.figure_.canvas.draw()
    lines = display.axes_[1].lines
    assert_array_equal(lines[0].get_ydata(), path.path_nonzeros_)
    again = gs.PathDisplay.from_estimator(path, axes=display.axes_)
    assert again.figure_ is display.figure_
    matplotlib.pyplot.close(display.figure_)


def test_a_picture_needs_a_path():
    with pytest.raises(ValueError, match="needs a fitted estimator with a path"):
        gs.PathDisplay.from_estimator(gs.OnlineClassifier().fit(X, LOGISTIC.y))
    with pytest.raises(ValueError, match="needs a fitted estimator with a path"):
        gs.PathDisplay.from_estimator(gs.OnlineClassifierCV())
