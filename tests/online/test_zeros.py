"""Exact zeros: under the threshold a weight is 0.0, and the strength of the matrix is not idle."""

import numpy as np
import pytest
import scipy.sparse as sp

import gossamer as gs
from online.matrix import ALLOWED, METHODS, penalty_for
from online.problems import ONE_AND_THREE, X, over, weights

SHRINKING = [
    "l1",
    "elastic net",
    "berhu",
    "l2",
    "linf",
    "non-negative l1",
    "group l2, rows",
    "group l2, groups",
    "group linf, rows",
    "group linf, groups, weights",
    "sparse group l2, rows",
    "sparse group l2, groups",
]


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize(
    ("method", "name"),
    [(m, n) for m, n in ALLOWED if n in SHRINKING and m not in ("subgradient", "truncated gradient, θ")],
)
def test_under_the_threshold_weights_are_exactly_zero(method, name, problem):
    model = problem.teach(problem.model(METHODS[method], penalty_for(name, problem.outputs), alpha=20.0), X)
    W = weights(model)
    assert not W.any()
    assert not np.signbit(W).any()
    assert len(model.nonzero_features_) == 0


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize("method", ["fobos", "rda", "adagrad rda", "adagrad fobos", "ftrl", "truncated gradient"])
def test_the_matrix_has_zeros_and_others(method, problem):
    """Features that matter have weights, and the strength of the matrix is not idle."""
    W = weights(problem.teach(problem.model(METHODS[method], "l1"), X))
    assert W[0].any()
    assert not W[5].any()
    free = weights(problem.teach(problem.model(METHODS[method], "l1", alpha=0.0), X))
    assert (W == 0).sum() > (free == 0).sum()


@pytest.mark.parametrize("seed", range(3))
def test_what_was_seen_once_has_hardly_a_weight(seed):
    """Words that one row has are below the noise of their slopes, those of many rows are not."""
    random = np.random.default_rng(seed)
    common = sp.csr_array((random.random((400, 5)) < 0.5).astype(float))
    once = sp.eye_array(400, format="csr")
    y = (common @ [3.0, -3.0, 2.0, -2.0, 0.0] + random.logistic(size=400) > 0).astype(int)
    data = sp.hstack([common, once], "csr")
    settings = {"shuffle": False, "alpha": 0.0}

    def largest(**more):
        w = np.abs(gs.OnlineClassifier(**settings, **more).fit(data, y).coef_.ravel())
        return w[:5].max(), w[5:].max()

    often, first = largest()
    assert 0 <= first < 0.1 * often
    often, rare = largest(select="sparsest")
    assert often > 0 == rare
    assert largest(method=gs.StepFree(noise=0.0))[1] > 3 * first  # without a threshold
