"""Pairs and settings that cannot work are refused before any work, in words."""

import math

import pytest
import scipy.sparse as sp

import gossamer as gs
from online.matrix import METHODS, REFUSED, alpha_for, penalty_for
from online.problems import ALPHA, LOGISTIC, ONE_AND_THREE, D, X, over


@pytest.mark.parametrize(("method", "name"), [(m, name) for m in METHODS for name in REFUSED[m]])
@over("problem", ONE_AND_THREE)
def test_what_mathematics_forbids_is_refused_in_words(method, name, problem):
    model = problem.model(METHODS[method], penalty_for(name, problem.outputs), alpha_for(method))
    before = dict(vars(model))
    with pytest.raises(ValueError, match=REFUSED[method][name]) as refusal:
        problem.teach(model, sp.csr_array(X))
    given = type(penalty_for(name, problem.outputs)).__name__
    assert type(METHODS[method]).__name__ in str(refusal.value)
    assert given in str(refusal.value)
    assert "Use" in str(refusal.value)
    assert vars(model) == before


WORDS = {
    "pegasos without strength": (gs.Pegasos(), "l2_squared", 0.0, "alpha > 0"),
    "pegasos with weights": (gs.Pegasos(), gs.L2Squared(weights=[1.0] * D), ALPHA, "method for ½"),
    "rda, γ = 0, not strongly convex": (gs.RDA(gamma=0), "l1", ALPHA, "strongly convex"),
    "rda, γ = 0, no strength": (gs.RDA(gamma=0), "l2_squared", 0.0, "strongly convex"),
    "rda, γ = 0, lasso in disguise": (gs.RDA(gamma=0), gs.ElasticNet(l1_ratio=1), ALPHA, "strongly convex"),
    "rda, γ = 0, a feature without weight": (
        gs.RDA(gamma=0),
        gs.L2Squared(weights=[1, 1, 1, 1, 0, 1]),
        ALPHA,
        "strongly convex",
    ),
    "rda, ρ without ℓ1": (gs.RDA(gamma=1.0, rho=0.1), "l2_squared", ALPHA, "ρ adds ℓ1"),
    "rda, ρ with a set": (gs.RDA(gamma=1.0, rho=0.1), "l2_ball", ALPHA, "ρ adds ℓ1"),
    "rda, kl without strength": (gs.RDA(gamma=1.0), "kl", 0.0, "alpha > 0"),
    "theory without strength": (gs.Fobos(step="theory"), "l1", 0.0, "theory"),
    "theory without a penalty": (gs.Fobos(step="theory"), "none", ALPHA, "theory"),
    "theory, unbounded set": (gs.Fobos(step="theory"), gs.Box(0, math.inf), ALPHA, "theory"),
    "rda theory without strength": (gs.RDA(gamma="theory"), "l1", 0.0, "theory"),
    "wrong number of weights": (gs.Fobos(step=0.1), gs.L1(weights=[1.0, 2.0]), ALPHA, "has 2, the data has 6 features"),
    "wrong number of weights, ball": (
        gs.Fobos(step=0.1),
        gs.L1Ball(weights=[1.0, 2.0]),
        ALPHA,
        "has 2, the data has 6 features",
    ),
    "wrong number of groups": (gs.Fobos(step=0.1), gs.GroupL2(groups=[[0, 1], [2]]), ALPHA, "3 features"),
    "wrong number of bounds": (gs.Fobos(step=0.1), gs.Box([0.0, 0.0], 1.0), ALPHA, "2"),
    "wrong number in the prior": (gs.RDA(gamma=1.0), gs.KL(prior=[0.5, 0.5]), ALPHA, "2"),
}


@pytest.mark.parametrize("case", WORDS)
def test_settings_that_cannot_work_are_refused_before_any_work(case):
    method, penalty, alpha, words = WORDS[case]
    model = LOGISTIC.model(method, penalty, alpha)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=words):
        LOGISTIC.teach(model, X, slice(0, 3))
    assert vars(model) == before
