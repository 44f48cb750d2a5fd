"""Methods and penalties that are the same under two names."""

import numpy as np
import pytest

import gossamer as gs
from online.matrix import METHODS
from online.problems import (
    LOGISTIC,
    ONE_AND_THREE,
    PROBLEMS,
    D,
    X,
    assert_same_model,
    assert_same_numbers,
    assert_same_weights,
    over,
    weights,
)


@over("problem", ONE_AND_THREE)
def test_truncating_every_round_is_fobos(problem):
    truncated = problem.teach(problem.model(gs.TruncatedGradient(step=0.5, period=1), "l1"), X)
    assert_same_model(truncated, problem.teach(problem.model(gs.Fobos(step=0.5), "l1"), X))


@over("problem", [*PROBLEMS.values()])
def test_without_strength_fobos_is_subgradient_descent(problem):
    models = [problem.model(m, "l1", alpha=0.0) for m in (gs.Fobos(step=0.5), gs.Subgradient(step=0.5))]
    one, other = (problem.teach(model, X) for model in models)
    assert_same_weights(weights(one), weights(other))
    assert_same_numbers(one.intercept_, other.intercept_)


@pytest.mark.parametrize("method", ["fobos", "rda", "adagrad rda", "adagrad fobos", "ftrl", "subgradient"])
def test_no_penalty_is_no_strength(method):
    one = LOGISTIC.teach(LOGISTIC.model(METHODS[method], "none"), X)
    assert_same_model(one, LOGISTIC.teach(LOGISTIC.model(METHODS[method], "l1", alpha=0.0), X))


def test_fobos_with_a_box_projects():
    low, high, w = -0.05, 0.05, np.zeros(D)
    for t, (x, y) in enumerate(zip(X, LOGISTIC.y, strict=True), 1):
        w = np.clip(w + 0.5 / np.sqrt(t) * y * x / (1 + np.exp(y * (x @ w))), low, high)
    model = LOGISTIC.model(gs.Fobos(step=0.5), gs.Box(low, high), fit_intercept=False)
    assert_same_weights(weights(LOGISTIC.teach(model, X))[:, 0], w)
    assert {low, high} & set(w)


@pytest.mark.parametrize("method", ["fobos", "rda"])
@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (gs.Box(-0.1, 0.2), gs.Box([-0.1] * D, [0.2] * D)),
        (gs.L1Ball(0.5), gs.L1Ball(0.5, weights=[1.0] * D)),
        (gs.L2(), gs.GroupL2(groups=[range(D)])),
        (gs.LInf(), gs.GroupLInf(groups=[range(D)])),
        (gs.L2Ball(0.5), gs.GroupL2Ball(0.5, groups=[range(D)])),
        (gs.GroupL2(), gs.GroupL2(groups=[[j] for j in range(D)])),
        (gs.GroupLInf(weights=range(1, 7)), gs.GroupLInf(groups=[[j] for j in range(D)], weights=range(1, 7))),
        (gs.SparseGroupL2(0.3), gs.SparseGroupL2(0.3, groups=[[j] for j in range(D)])),
        (gs.SparseGroupL2(0, groups=[[0, 1], [2, 3, 4, 5]]), gs.GroupL2(groups=[[0, 1], [2, 3, 4, 5]])),
        (gs.L2Squared(), gs.ElasticNet(l1_ratio=0)),
        (gs.ElasticNet(l1_ratio=1), gs.L1()),
        (gs.L1(), gs.L1(weights=[1.0] * D)),
        (gs.Berhu(gamma=1e9), gs.L1()),
        (gs.Berhu(), gs.Berhu(weights=[1.0] * D)),
        (gs.ElasticNet(), gs.ElasticNet(weights=[1.0] * D)),
    ],
    ids=lambda p: repr(p)[:40],
)
def test_two_names_for_one_penalty(method, problem, one, other):
    models = [problem.teach(problem.model(METHODS[method], penalty), X) for penalty in (one, other)]
    assert_same_weights(weights(models[0]), weights(models[1]))


def test_sets_hold_after_every_round():
    sets = [gs.L1Ball(0.3), gs.L2Ball(0.3), gs.Simplex(), gs.Box(-0.1, 0.1), gs.GroupL2Ball(0.3), gs.GroupLInfBall(0.3)]
    for problem in ONE_AND_THREE:
        for method in (gs.Fobos(step=2.0), gs.RDA(gamma=0.5)):
            for feasible in sets:
                model = problem.model(method, feasible)
                for t in range(20):
                    problem.teach(model, X, slice(t, t + 1))
                    assert feasible.value(weights(model)) == 0
