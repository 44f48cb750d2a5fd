"""The compiled, lazy learners against the eager twin, over the whole matrix method × loss × penalty."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import gossamer as gs
from online.matrix import ALLOWED, AVERAGED, CONSTRAINTS, COUPLED, EVERY_ENTRY, METHODS, REFUSED, alpha_for, penalty_for
from online.paths import path_of
from online.problems import (
    ALPHA,
    LOGISTIC,
    MULTINOMIAL,
    ONE_AND_THREE,
    PROBLEMS,
    X,
    assert_is_the_twin,
    assert_same_numbers,
    assert_same_weights,
    over,
    problems,
    weights,
)
from online_reference import soft


def test_the_matrix_is_whole():
    assert {type(method).__name__ for method in METHODS.values()} == set(gs.methods.__all__)
    assert set(METHODS) == set(REFUSED)
    assert set(COUPLED) | set(CONSTRAINTS) <= set(EVERY_ENTRY)
    losses = {type(p.coded_loss).__name__ for p in PROBLEMS.values()}
    assert losses | {"Multitask", "CompiledLoss"} == set(gs.losses.__all__)


@over("problem", [*PROBLEMS.values()])
@pytest.mark.parametrize(("method", "name"), ALLOWED)
def test_lazy_is_eager(method, name, problem):
    penalty, alpha = penalty_for(name, problem.outputs), alpha_for(method)
    model = problem.model(METHODS[method], penalty, alpha)
    problem.teach(model, sp.csr_array(X))
    assert_is_the_twin(model, problem.twin(METHODS[method], penalty, X, alpha))


@over("problem", [*PROBLEMS.values()])
@pytest.mark.parametrize("name", [name for method, name in ALLOWED if method == "step free"])
def test_centred_is_eager(name, problem):
    """Of the rule without a step: every row has all features, zero or not."""
    method, penalty = METHODS["step free"], penalty_for(name, problem.outputs)
    model = problem.teach(problem.model(method, penalty), X)
    assert_is_the_twin(model, problem.twin(method, penalty, X, centred=X.shape[1]))
    same = problem.teach(problem.model(method, penalty, center=True), sp.csr_array(X))
    np.testing.assert_array_equal(same.coef_, model.coef_)
    np.testing.assert_array_equal(same.intercept_, model.intercept_)


@over("problem", [problem for problem in PROBLEMS.values() if problem.estimator is gs.OnlineClassifier])
@pytest.mark.parametrize("name", ["l1", "l1, weights", "elastic net"])
def test_the_sparsest_is_eager(name, problem):
    method, penalty = METHODS["step free"], penalty_for(name, problem.outputs)
    random = np.random.default_rng(8)
    data = random.normal(size=(400, 6)) * (random.random((400, 6)) < 0.3)
    problem = next(p for p in problems(data) if p.name == problem.name)
    plain, cut = (
        problem.teach(problem.model(method, penalty, 1e-3, select=s), sp.csr_array(data)) for s in ("best", "sparsest")
    )
    twin = problem.twin(method, penalty, data, 1e-3, sparsest=True)
    assert_same_weights(weights(cut), twin.weights, 1e-3)
    assert_same_numbers(cut.progressive_loss_, twin.progressive_loss, 2e-3)  # rounding may cut a weight a round earlier
    assert np.count_nonzero(cut.coef_) <= np.count_nonzero(plain.coef_)
    if name == "elastic net":
        whole = problem.teach(problem.model(gs.StepFree(noise=1.0), penalty, 1e-3), sp.csr_array(data))
        np.testing.assert_array_equal(cut.coef_, whole.coef_)  # λ is 1, but the cut is for the ℓ1 norm
    several = path_of(problem.estimator)([0.1, 1e-3], problem.loss, penalty, method)
    problem.teach(several, sp.csr_array(data))
    assert_same_weights(weights(several.at(1e-3)), weights(cut), 1e-3)


def test_the_sparsest_has_fewer_weights():
    random = np.random.default_rng(1)
    data = sp.csr_array(random.normal(size=(3000, 300)) * (random.random((3000, 300)) < 0.05))
    y = (data @ np.where(np.arange(300) < 30, 1.0, 0.0) + random.normal(size=3000) > 0).astype(int)
    best, sparsest = (gs.OnlineClassifier(select=select, shuffle=False).fit(data, y) for select in ("best", "sparsest"))
    assert np.count_nonzero(sparsest.coef_) < 0.85 * np.count_nonzero(best.coef_)
    assert sparsest.coef_[0, :30].all()
    assert sparsest.score(data, y) > best.score(data, y) - 0.01


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize(("method", "name"), AVERAGED)
def test_the_average_is_the_mean_of_the_iterates(method, name, problem):
    penalty, alpha = penalty_for(name, problem.outputs), alpha_for(method)
    model = problem.model(METHODS[method], penalty, alpha, average=True)
    problem.teach(model, sp.csr_array(X))
    twin = problem.twin(METHODS[method], penalty, X, alpha)
    assert_same_weights(weights(model), twin.average_weights)
    assert_same_numbers(model.intercept_, twin.average_intercept)
    assert_same_numbers(model.progressive_loss_, twin.progressive_loss)


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize("rho", [0.02, 0.3])
@pytest.mark.parametrize("name", ["l1", "l1, weights", "non-negative l1", "non-negative l1, weights", "elastic net"])
def test_the_average_with_more_of_l1(name, rho, problem):
    penalty, method = penalty_for(name, problem.outputs), gs.RDA(gamma=1.0, rho=rho)
    model = problem.model(method, penalty, ALPHA, average=True)
    problem.teach(model, sp.csr_array(X))
    twin = problem.twin(method, penalty, X, ALPHA)
    assert_same_weights(weights(model), twin.average_weights)


WIDE = 24


def wide_data(n=70):
    random = np.random.default_rng(7)
    return random.normal(size=(n, WIDE)) * (random.random((n, WIDE)) < 0.15)


EACH = np.linspace(0, 3, WIDE)
IN_SEVEN = {"groups": np.arange(WIDE) % 7, "weights": np.linspace(0, 3, 7)}
WIDE_ROWS = {
    "l1": gs.L1(weights=EACH),
    "elastic net": gs.ElasticNet(0.7, weights=EACH),
    "berhu": gs.Berhu(0.1, weights=EACH),
    "non-negative l1": gs.NonNegativeL1(weights=EACH),
    "group l2": gs.GroupL2(weights=EACH),
    "group linf": gs.GroupLInf(weights=EACH),
    "sparse group l2": gs.SparseGroupL2(0.4, weights=EACH),
}
WIDE_COUPLED = {
    "group l2, groups": gs.GroupL2(**IN_SEVEN),
    "group linf, groups": gs.GroupLInf(**IN_SEVEN),
    "sparse group l2, groups": gs.SparseGroupL2(0.4, **IN_SEVEN),
    "l2": gs.L2(),
    "l2 ball": gs.L2Ball(1.0),
    "weighted l1 ball": gs.L1Ball(1.0, weights=EACH),
    "l1 ball": gs.L1Ball(1.0),
    "simplex": gs.Simplex(1.0),
    "box": gs.Box(-EACH / 30, EACH / 15),
}
WIDE_PENALTIES = WIDE_ROWS | WIDE_COUPLED
WIDE_PAIRS = [
    *[(m, name) for m in ("fobos", "rda") for name in WIDE_PENALTIES],
    *[(m, name) for m in ("adagrad rda", "adagrad fobos", "ftrl") for name in [*WIDE_ROWS, "box"]],
    *[("subgradient", name) for name in WIDE_ROWS if name != "non-negative l1"],
    *[(m, "l1") for m in ("truncated gradient", "truncated gradient, θ")],
]


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize(("method", "name"), WIDE_PAIRS)
def test_wider_data_with_a_weight_for_each_feature(method, name, average):
    X, penalty = wide_data(), WIDE_PENALTIES[name]
    for problem in problems(X):
        if problem.name in ("logistic", "multinomial"):
            model = problem.teach(problem.model(METHODS[method], penalty, 0.01, average=average), sp.csr_array(X))
            twin = problem.twin(METHODS[method], penalty, X, 0.01)
            assert_same_weights(weights(model), twin.average_weights if average else twin.weights)


# Long runs: gaps, and more rounds than the records of lazy.hpp hold (65,536)


ROUNDS = 66_200


def long_data():
    """Two features that come back every few hundred rounds, two that come back once at the very end."""
    random = np.random.default_rng(9)
    X = np.zeros((ROUNDS, 4))
    X[::97, 0] = random.normal(size=len(X[::97]))
    X[5::1013, 1] = 2.0
    X[[3, ROUNDS - 3], 2] = 3.0
    X[[4, ROUNDS - 2], 3] = 0.5
    return X, random.integers(0, 3, ROUNDS)


def group(W, s):
    norms = np.sqrt(np.sum(W * W, axis=1, keepdims=True))
    return W * (np.maximum(norms - s, 0) / np.maximum(norms, 1e-300))


def berhu(W, s, gamma):
    size = np.abs(W)
    return np.where(size <= s + gamma, soft(W, s), W / (1 + s / gamma))


SOME = np.array([[1.0], [0.5], [0.1], [2.0]])
LONG = {  # the method, the penalty, outputs, and a round without a gradient: W, η_t α → W
    "elastic net": (gs.Fobos, gs.ElasticNet(0.5), 1, lambda W, s: soft(W, s / 2) / (1 + s / 2)),
    "elastic net, weights": (
        gs.Fobos,
        gs.ElasticNet(0.5, weights=SOME[:, 0]),
        1,
        lambda W, s: soft(W, s * SOME / 2) / (1 + s * SOME / 2),
    ),
    "berhu": (gs.Fobos, gs.Berhu(gamma=0.2), 1, lambda W, s: berhu(W, s, 0.2)),
    "sparse group": (gs.Fobos, gs.SparseGroupL2(0.5), 3, lambda W, s: group(soft(W, s / 2), s / 2)),
    "l1": (gs.Fobos, gs.L1(), 1, soft),
    "subgradient": (gs.Subgradient, gs.ElasticNet(0.2), 1, lambda W, s: W - s * (0.2 * np.sign(W) + 0.8 * W)),
}


def long_run(method, outputs, round_of, alpha, X, y):
    """FOBOS and subgradient descent with 1/√t, no intercept; most rows are empty."""
    W, total = np.zeros((X.shape[1], outputs)), np.zeros((X.shape[1], outputs))
    filled, etas = X.any(axis=1), 1 / np.sqrt(np.arange(1.0, len(X) + 1))
    for t, eta in enumerate(etas):
        step = 0.0
        if filled[t]:
            z = X[t] @ W
            if outputs == 1:
                sign = 1.0 if y[t] else -1.0
                slope = -sign / (1 + np.exp(sign * z))
            else:
                slope = np.exp(z) / np.exp(z).sum() - (np.arange(outputs) == y[t])
            step = eta * np.outer(X[t], slope)
        W = round_of(W - step, eta * alpha) if method is gs.Fobos else round_of(W, eta * alpha) - step
        total += W
    return W, total / len(X)


@pytest.mark.parametrize("case", LONG)
def test_more_rounds_than_the_record_holds(case):
    method, penalty, outputs, round_of = LONG[case]
    X, y = long_data()
    y = y if outputs > 1 else np.minimum(y, 1)
    expected = long_run(method, outputs, round_of, 1e-3, X, y)
    assert np.abs(expected[0][:, 0]).min() > 0
    for average in (False, True):
        settings = {"average": average, "fit_intercept": False}
        model = gs.OnlineClassifier("logistic", penalty, 1e-3, method(step=1.0), **settings)
        for begin, end in pairwise([0, 30_000, 65_535, 65_537, ROUNDS]):
            model.partial_fit(sp.csr_array(X[begin:end]), y[begin:end], classes=range(max(outputs, 2)))
        assert_same_weights(weights(model), expected[average])


@pytest.mark.parametrize(
    ("penalty", "k"),
    [(gs.ElasticNet(0.02), 1), (gs.Berhu(gamma=1e-3), 1), (gs.ElasticNet(0.02), 3), (gs.L2Squared(), 1)],
)
@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
def test_decay_beyond_the_range_of_numbers(penalty, k, average):
    """Π (1 + ηα(1 − ρ)) passes 1e100 again and again."""
    problem = LOGISTIC if k == 1 else MULTINOMIAL
    method, X = gs.Fobos(step=gs.Constant(0.5)), np.tile(globals()["X"], (10, 1))
    problem = replace(problem, y=np.tile(problem.y, 10), coded=np.tile(problem.coded, (10, 1)))
    model = problem.teach(problem.model(method, penalty, 10.0, average=average), X)
    twin = problem.twin(method, penalty, X, 10.0)
    assert_same_weights(weights(model), twin.average_weights if average else twin.weights)
