"""The laws of the online methods: the compiled, lazy learners against the eager twin, over the whole matrix
method × loss × penalty, and what must not matter: how the data is cut, stored, or weighted by nothing.
"""

import math
import pickle
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from scipy.optimize import minimize

import gossamer as gs
import online_reference
from catalogue import PENALTIES, by_name
from gossamer.online import step_search

ALPHA = 0.04
N, D = 60, 6


def features(n=N, seed=0):
    """Rows whose six features come always, once, early only, seldom, half the time, and never."""
    random = np.random.default_rng(seed)
    t = np.arange(n)
    present = np.column_stack(
        [t >= 0, t == min(7, n - 1), t < n // 6, random.random(n) < 0.1, random.random(n) < 0.5, t < 0]
    )
    return random.normal(size=(n, D)) * 0.8 * present


@dataclass(frozen=True)
class Problem:
    """Targets as an estimator is given them, and as the loss reads them."""

    name: str
    estimator: Any
    loss: Any
    y: np.ndarray
    coded: np.ndarray  # n × targets
    coded_loss: Any
    outputs: int = 1
    classes: Any = None

    def model(self, method, penalty="none", alpha=ALPHA, **settings):
        return self.estimator(self.loss, penalty, alpha, method, **settings)

    def teach(self, model, X, rows=slice(None), sample_weight=None):
        classes = {} if self.classes is None else {"classes": self.classes}
        weight = None if sample_weight is None else sample_weight[rows]
        return model.partial_fit(X[rows], self.y[rows], sample_weight=weight, **classes)

    def twin(self, method, penalty, X, alpha=ALPHA, sample_weight=None, **settings):
        return online_reference.run(
            method, penalty, alpha, self.coded_loss, X, self.coded, sample_weight, outputs=self.outputs, **settings
        )


def problems(X, seed=1):
    """One problem a loss with one output, and the ways to have three."""
    random = np.random.default_rng(seed)
    scores = X @ random.normal(size=(X.shape[1], 3)) + random.normal(size=(len(X), 3)) * 0.3
    signs, labels = np.where(scores > 0, 1.0, -1.0), np.argmax(scores, axis=1)
    labels[:3], signs[:2] = [0, 1, 2], [[1, -1, 1], [-1, 1, -1]]
    counts = np.minimum(np.exp(scores[:, :1]).round(), 5)

    def binary(name, loss):
        return Problem(name, gs.OnlineClassifier, loss, signs[:, 0], signs[:, :1], loss, classes=[-1, 1])

    def regression(name, loss, y=scores):
        return Problem(name, gs.OnlineRegressor, loss, y[:, 0], y[:, :1], loss)

    def multiclass(name, loss, joint):
        return Problem(name, gs.OnlineClassifier, loss, labels, labels[:, None], joint, 3, [0, 1, 2])

    one_against_rest = np.where(labels[:, None] == np.arange(3), 1.0, -1.0)
    return [
        binary("logistic", gs.Logistic()),
        binary("hinge", gs.Hinge()),
        binary("squared hinge", gs.SquaredHinge()),
        binary("exponential", gs.Exponential()),
        regression("squared", gs.Squared()),
        regression("ε-insensitive", gs.EpsilonInsensitive(epsilon=0.05)),
        regression("log ε-insensitive", gs.LogEpsilonInsensitive()),
        regression("huber", gs.Huber(delta=0.3)),
        regression("quantile", gs.Quantile(q=0.8)),
        regression("poisson", gs.Poisson(), counts),
        multiclass("multinomial", gs.Logistic(), gs.Multinomial()),
        multiclass("multiclass hinge", gs.Hinge(), gs.MulticlassHinge()),
        Problem(
            "one against the rest, squared hinge",
            gs.OnlineClassifier,
            gs.SquaredHinge(),
            labels,
            one_against_rest,
            gs.SquaredHinge(),
            3,
            [0, 1, 2],
        ),
        Problem(
            "multitask logistic", gs.OnlineClassifier, gs.Logistic(), (signs > 0).astype(int), signs, gs.Logistic(), 3
        ),
        Problem("multitask squared", gs.OnlineRegressor, gs.Squared(), scores, scores, gs.Squared(), 3),
    ]


X = features()
PROBLEMS = {problem.name: problem for problem in problems(X)}
LOGISTIC, MULTINOMIAL = PROBLEMS["logistic"], PROBLEMS["multinomial"]
ONE_AND_THREE = [LOGISTIC, MULTINOMIAL]

METHODS = {
    "fobos": gs.Fobos(step=0.5),
    "rda": gs.RDA(gamma=2.0),
    "adagrad rda": gs.AdaGrad(step=0.4),
    "adagrad fobos": gs.AdaGrad(step=0.15, form="fobos"),
    "ftrl": gs.FTRL(step=0.5, beta=0.7),
    "truncated gradient": gs.TruncatedGradient(step=0.5, period=3),
    "truncated gradient, θ": gs.TruncatedGradient(step=0.5, period=2, threshold=0.2),
    "subgradient": gs.Subgradient(step=0.3),
    "pegasos": gs.Pegasos(),
    "pegasos, no projection": gs.Pegasos(project=False),
    "eg": gs.ExponentiatedGradient(radius=2.0, step=0.5),
}
EVERY_ENTRY = [entry.name for entry in PENALTIES]

# Penalties and sets whose prox looks at several features at once, or has a bound of its own for each.
COUPLED = [
    "l2",
    "linf",
    "group l2, groups",
    "group l2, labels, weights",
    "group l2, names",
    "group linf, groups, weights",
    "group linf, labels",
    "sparse group l2, groups",
    "sparse group l2, labels",
    "kl",
    "kl, prior",
    "simplex",
    "simplex, radius 5",
    "simplex, radius 0",
    "l1 ball",
    "l1 ball, radius 5",
    "l1 ball, radius 0",
    "l1 ball, weights",
    "l1 ball, weights, radius 0",
    "l2 ball",
    "l2 ball, radius 0",
    "box, one a feature",
    "group l2 ball, rows",
    "group l2 ball, groups",
    "group l2 ball, labels",
    "group linf ball, rows",
    "group linf ball, groups",
    "group linf ball, labels",
    "group linf ball, radius 0",
]
CONSTRAINTS = [
    "non-negative l1",
    "non-negative l1, weights",
    "kl",
    "kl, prior",
    *[entry.name for entry in PENALTIES if entry.penalty.is_set],
]
L1_OR_NONE = ["none", "l1", "l1, weights"]


def all_but(*kept):
    return [name for name in EVERY_ENTRY if name not in kept]


# What each method refuses, and words of the reason that it must give.
REFUSED = {
    "fobos": {},
    "rda": {},
    **dict.fromkeys(
        ("adagrad rda", "adagrad fobos", "ftrl"),
        dict.fromkeys([name for name in COUPLED if name != "box, one a feature"], "sum over features"),
    ),
    "truncated gradient": dict.fromkeys(all_but(*L1_OR_NONE), "rule for ℓ1"),
    "truncated gradient, θ": dict.fromkeys(all_but(*L1_OR_NONE), "rule for ℓ1"),
    "subgradient": dict.fromkeys(COUPLED, "sum over features") | dict.fromkeys(CONSTRAINTS, "constraint"),
    "pegasos": dict.fromkeys(all_but("l2 squared"), "method for ½"),
    "pegasos, no projection": dict.fromkeys(all_but("l2 squared"), "method for ½"),
    "eg": dict.fromkeys(all_but("none"), "radius bounds"),
}
ALLOWED = [(method, name) for method in METHODS for name in EVERY_ENTRY if name not in REFUSED[method]]


def penalty_for(name, outputs):
    """Return the catalogue's penalty; a prior has one number a weight, so it depends on the outputs."""
    if name == "kl, prior" and outputs > 1:
        prior = np.repeat(by_name(name).penalty.prior, outputs) / outputs
        return gs.KL(prior=prior / prior.sum())
    return by_name(name).penalty


def alpha_for(method):
    return 0.5 if method.startswith("pegasos") else ALPHA  # steps 1/(αt) must not be huge


def weights(model):
    """Return W, d × k."""
    return np.atleast_2d(model.coef_).T


def assert_same_weights(ours, theirs, tolerance=1e-10):
    assert ours.shape == theirs.shape
    largest = np.abs(theirs).max(initial=0.0)
    assert np.abs(ours - theirs).max(initial=0.0) <= tolerance * largest, f"{ours} is not {theirs}"
    clear = np.abs(theirs) > 1e-12 * largest
    assert_array_equal((ours != 0)[clear], (theirs != 0)[clear])
    assert np.abs(ours[~clear]).max(initial=0.0) <= 1e-12 * largest


def assert_same_numbers(ours, theirs, tolerance=1e-10):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert np.abs(ours - theirs).max(initial=0.0) <= tolerance * max(1.0, np.abs(theirs).max(initial=0.0))


def assert_is_the_twin(model, twin):
    assert_same_weights(weights(model), twin.weights)
    assert_same_numbers(model.intercept_, twin.intercept)
    assert_same_numbers(model.progressive_loss_, twin.progressive_loss)


def assert_same_model(one, other):
    """Two ways to the same model: the same non-zeros, and the same numbers up to rounding."""
    assert_array_equal(weights(one) != 0, weights(other) != 0)
    assert_same_weights(weights(one), weights(other))
    assert_same_numbers(one.intercept_, other.intercept_)
    assert_same_numbers(one.progressive_loss_, other.progressive_loss_)
    assert one.t_ == other.t_


def over(names, table):
    return pytest.mark.parametrize(names, table, ids=lambda case: case if isinstance(case, str) else case.name)


# The matrix


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


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize(("method", "name"), ALLOWED)
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


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize(("method", "name"), ALLOWED)
def test_cutting_the_data_and_saving_in_between_changes_nothing(method, name, average, problem):
    random = np.random.default_rng(3)
    sample_weight = random.integers(0, 3, N).astype(float)
    cuts = np.sort(random.choice(np.arange(1, N), 7, replace=False))
    models = []
    for edges in ([0, N], [0, *cuts, N], range(N + 1)):
        penalty = penalty_for(name, problem.outputs)
        model = problem.model(METHODS[method], penalty, alpha_for(method), average=average)
        for begin, end in pairwise(edges):
            problem.teach(model, sp.csr_array(X), slice(begin, end), sample_weight)
            if len(edges) == len(cuts) + 2:  # saved and restored between the calls
                model = pickle.loads(pickle.dumps(model))
        models.append(model)
    assert_same_model(models[1], models[0])
    assert_same_model(models[2], models[0])


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


# Entry points and storage


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize("method", METHODS)
def test_fit_without_shuffling_is_partial_fit(method, problem):
    penalty = next(name for name in ("l1", "none", "l2 squared") if name not in REFUSED[method])
    settings = {"penalty": penalty_for(penalty, problem.outputs), "alpha": alpha_for(method)}
    taught = problem.teach(problem.model(METHODS[method], **settings), X)
    fitted = problem.model(METHODS[method], shuffle=False, max_passes=1, **settings).fit(X, problem.y)
    assert_array_equal(fitted.coef_, taught.coef_)
    assert_array_equal(fitted.intercept_, taught.intercept_)
    assert fitted.progressive_loss_ == taught.progressive_loss_


@pytest.mark.parametrize("method", METHODS)
def test_two_passes_are_two_calls(method):
    penalty = next(name for name in ("l1", "none", "l2 squared") if name not in REFUSED[method])
    settings = {"penalty": by_name(penalty).penalty, "alpha": alpha_for(method)}
    taught = LOGISTIC.model(METHODS[method], **settings)
    LOGISTIC.teach(taught, X), LOGISTIC.teach(taught, X)
    fitted = LOGISTIC.model(METHODS[method], shuffle=False, max_passes=2, **settings).fit(X, LOGISTIC.y)
    assert_array_equal(fitted.coef_, taught.coef_)
    assert fitted.t_ == 2 * N


def single_valued(matrix):
    return matrix.astype(np.float32).astype(np.float64)


def with_wide_indices(matrix):
    matrix = sp.csr_array(matrix)
    return sp.csr_array((matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)), matrix.shape)


def shuffled_and_split(matrix):
    """The same matrix with every row's entries in reverse, each split in two that add up, and zeros stored."""
    matrix = sp.csr_array(matrix)
    rows = []
    for i in range(matrix.shape[0]):
        entries = slice(*matrix.indptr[i : i + 2])
        index, data = matrix.indices[entries][::-1], matrix.data[entries][::-1]
        rows.append((np.concatenate([index, index, [5]]), np.concatenate([data * 0.25, data * 0.75, [0.0]])))
    starts = np.cumsum([0, *[len(index) for index, _ in rows]])
    arrays = np.concatenate([data for _, data in rows]), np.concatenate([index for index, _ in rows]), starts
    return sp.csr_array(arrays, matrix.shape)


STORAGE = {
    "CSR matrix": sp.csr_matrix,
    "CSR array": sp.csr_array,
    "CSC matrix": sp.csc_matrix,
    "CSC array": sp.csc_array,
    "COO array": sp.coo_array,
    "int64 indices": with_wide_indices,
    "float32": lambda matrix: sp.csr_array(matrix.astype(np.float32)),
    "dense float32": lambda matrix: matrix.astype(np.float32),
    "Fortran order": np.asfortranarray,
    "strided": lambda matrix: np.repeat(matrix, 2, axis=1)[:, ::2],
    "read-only": lambda matrix: sp.csr_array(matrix),
    "lists": lambda matrix: matrix.tolist(),
}


@pytest.mark.parametrize("form", STORAGE)
@pytest.mark.parametrize("method", ["fobos", "rda", "adagrad rda"])
@over("problem", ONE_AND_THREE)
def test_storage_changes_nothing(form, method, problem):
    data = single_valued(X)
    stored = STORAGE[form](data)
    if form == "read-only":
        for array in (stored.data, stored.indices, stored.indptr):
            array.flags.writeable = False
    dense = problem.teach(problem.model(METHODS[method], "l1"), data)
    for calls in (1, 2):  # the second call may take a short cut through the checks
        model = problem.model(METHODS[method], "l1")
        if calls == 1:
            problem.teach(model, stored)
        else:
            problem.teach(model, data, slice(0, 1))
            rest = slice(1, None)
            part = stored[1:] if form == "lists" else STORAGE[form](data[rest])
            model.partial_fit(part, problem.y[rest])
        assert_array_equal(model.coef_, dense.coef_)
        assert_array_equal(model.intercept_, dense.intercept_)


@pytest.mark.parametrize("method", ["fobos", "rda", "adagrad rda", "adagrad fobos", "ftrl", "subgradient"])
def test_unsorted_and_duplicate_indices_add_up(method):
    messy = shuffled_and_split(X)
    kept = messy.copy()
    model = LOGISTIC.teach(LOGISTIC.model(METHODS[method], "l1"), messy)
    tidy = LOGISTIC.teach(LOGISTIC.model(METHODS[method], "l1"), messy.toarray())
    assert_same_model(model, tidy)
    for name in ("data", "indices", "indptr"):  # the caller's matrix is left alone
        assert_array_equal(getattr(messy, name), getattr(kept, name))


# Zeros

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


# Equivalences


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


# RDA by hand (MATH §5)


def squared_rounds():
    """Three rounds of x = (1, 2), y = 1 with the squared loss and no intercept."""
    return np.array([[1.0, 2.0]] * 3), np.ones(3)


def follow(weights_of, rounds=3):
    """w_{t+1} from the mean gradient of t rounds."""
    X, y = squared_rounds()
    w, total = np.zeros(2), np.zeros(2)
    for t in range(1, rounds + 1):
        total += (X[t - 1] @ w - y[t - 1]) * X[t - 1]
        w = weights_of(total / t, t)
    return w


def soft(v, s):
    return np.sign(v) * np.maximum(np.abs(v) - s, 0)


BY_HAND = {
    "ℓ1, ρ": (
        gs.RDA(gamma=2.0, rho=0.3),
        gs.L1(),
        lambda g, t: -(math.sqrt(t) / 2) * soft(g, 0.5 + 2 * 0.3 / math.sqrt(t)),
    ),
    "ℓ2²": (gs.RDA(gamma=0), gs.L2Squared(), lambda g, t: -g / 0.5),
    "ℓ1 and ℓ2²": (gs.RDA(gamma=0), gs.ElasticNet(l1_ratio=0.4), lambda g, t: -soft(g, 0.5 * 0.4) / (0.5 * 0.6)),
    "elastic net with ρ": (
        gs.RDA(gamma=2.0, rho=0.1),
        gs.ElasticNet(l1_ratio=0.4),
        lambda g, t: -soft(g, 0.2 + 0.2 / math.sqrt(t)) / (0.3 + 2 / math.sqrt(t)),
    ),
    "set": (gs.RDA(gamma=2.0), gs.Box(-0.5, 0.7), lambda g, t: np.clip(-math.sqrt(t) / 2 * g, -0.5, 0.7)),
    "ball": (
        gs.RDA(gamma=2.0),
        gs.L2Ball(0.5),
        lambda g, t: -g * min(math.sqrt(t) / 2, 0.5 / np.linalg.norm(g)),
    ),
    "group": (
        gs.RDA(gamma=2.0),
        gs.GroupL2(groups=[[0, 1]]),
        lambda g, t: -(math.sqrt(t) / 2) * max(1 - 0.5 / np.linalg.norm(g), 0) * g,
    ),
}


@pytest.mark.parametrize("case", BY_HAND)
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_rda_by_hand(case, rounds):
    method, penalty, weights_of = BY_HAND[case]
    model = gs.OnlineRegressor(penalty=penalty, alpha=0.5, method=method, fit_intercept=False)
    rows = squared_rounds()
    model.partial_fit(rows[0][:rounds], rows[1][:rounds])
    np.testing.assert_allclose(model.coef_, follow(weights_of, rounds), rtol=1e-10, atol=1e-14)


def test_rda_on_the_simplex_by_hand():
    def weights_of(g, t):
        p = np.array([0.25, 0.75]) * np.exp(-g / 0.5)
        return p / p.sum()

    X, y = np.array([[1.0, 0.5]]), np.array([3.0])
    model = gs.OnlineRegressor(
        penalty=gs.KL(prior=[0.25, 0.75]), alpha=0.5, method=gs.RDA(gamma=1.0), fit_intercept=False
    ).partial_fit(X, y)
    start = np.array([0.25, 0.75])
    np.testing.assert_allclose(model.coef_, weights_of((X[0] @ start - 3) * X[0], 1), rtol=1e-12)


def test_pegasos_by_hand():
    """α = ½, hinge, x = (1, 2), y = 1 twice: w = x/α, onto the ball of radius √2; then no loss, and w halves."""
    X, y = squared_rounds()
    for project, first in ((False, np.array([2.0, 4.0])), (True, np.array([2.0, 4.0]) * math.sqrt(2 / 20))):
        model = gs.OnlineClassifier("hinge", "l2_squared", 0.5, gs.Pegasos(project=project), fit_intercept=False)
        model.partial_fit(X[:1], y[:1], classes=[-1, 1])
        np.testing.assert_allclose(model.coef_[0], first, rtol=1e-14)
        model.partial_fit(X[1:2], y[1:2])
        np.testing.assert_allclose(model.coef_[0], first / 2, rtol=1e-14)


def test_exponentiated_gradient_by_hand():
    """w = r sinh(a) / Σ cosh(a), a = −Σ η g."""
    X, y = squared_rounds()
    model = gs.OnlineRegressor(
        penalty="none", method=gs.ExponentiatedGradient(radius=3.0, step=gs.Constant(0.1)), fit_intercept=False
    )
    a, w = np.zeros(2), np.zeros(2)
    for t in range(3):
        a -= 0.1 * (X[t] @ w - y[t]) * X[t]
        w = 3 * np.sinh(a) / np.cosh(a).sum()
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        np.testing.assert_allclose(model.coef_, w, rtol=1e-13)


# Weights of examples and of features


@pytest.mark.parametrize("pace", ["fixed", "auto"])
@pytest.mark.parametrize("method", METHODS)
def test_an_example_without_weight_changes_nothing(method, pace):
    name = next(n for n in ("l1", "none", "l2 squared") if n not in REFUSED[method])
    chosen = METHODS[method]
    if pace == "auto" and not method.startswith("pegasos"):
        chosen = replace(chosen, **({"gamma": "auto"} if method == "rda" else {"step": "auto"}))
    settings = {"penalty": by_name(name).penalty, "alpha": alpha_for(method)}
    keep = np.arange(N) % 3 != 1
    weighted = LOGISTIC.teach(LOGISTIC.model(chosen, **settings), X, sample_weight=keep.astype(float))
    plain = LOGISTIC.model(chosen, **settings).partial_fit(X[keep], LOGISTIC.y[keep], classes=[-1, 1])
    assert_array_equal(weighted.coef_, plain.coef_)
    assert_array_equal(weighted.intercept_, plain.intercept_)
    assert weighted.t_ == keep.sum()
    before = weighted.coef_.copy()
    weighted.partial_fit(X[:3], LOGISTIC.y[:3], sample_weight=np.zeros(3))
    assert_array_equal(weighted.coef_, before)
    assert weighted.t_ == keep.sum()


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize("method", METHODS)
def test_a_weight_scales_the_gradient(method, problem):
    name = next(n for n in ("l1", "none", "l2 squared") if n not in REFUSED[method])
    sample_weight = np.random.default_rng(5).integers(0, 4, N).astype(float)
    penalty, alpha = penalty_for(name, problem.outputs), alpha_for(method)
    model = problem.teach(problem.model(METHODS[method], penalty, alpha), X, sample_weight=sample_weight)
    assert_is_the_twin(model, problem.twin(METHODS[method], penalty, X, alpha, sample_weight))


@pytest.mark.parametrize("fit_intercept", [False, True])
@over("problem", ONE_AND_THREE)
def test_without_an_intercept(problem, fit_intercept):
    model = problem.teach(problem.model(gs.Fobos(step=0.5), "l1", fit_intercept=fit_intercept), X)
    assert_is_the_twin(model, problem.twin(gs.Fobos(step=0.5), gs.L1(), X, fit_intercept=fit_intercept))
    assert model.intercept_.any() == fit_intercept


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


# Steps

STEPS = {
    "constant": gs.Constant(0.3),
    "1/√t": gs.InverseSqrt(0.3),
    "1/(Ht)": gs.InverseTime(2.0),
    "a function": lambda t: 0.3 / (1 + 0.1 * t),
    "a function of one number": lambda t: 0.2,
}


@pytest.mark.parametrize("name", ["l1", "elastic net", "berhu", "group l2, groups", "l1 ball", "l2 squared"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@over("problem", ONE_AND_THREE)
def test_any_schedule(name, step, average, problem):
    method, penalty = gs.Fobos(step=STEPS[step]), penalty_for(name, problem.outputs)
    model = problem.model(method, penalty, average=average)
    for begin in range(0, N, 17):
        problem.teach(model, X, slice(begin, begin + 17))
    twin = problem.twin(method, penalty, X)
    assert_same_weights(weights(model), twin.average_weights if average else twin.weights)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("method", [gs.TruncatedGradient, gs.Subgradient, gs.ExponentiatedGradient])
def test_any_schedule_with_the_other_methods(method, step):
    method = method(step=STEPS[step])
    penalty = gs.NoPenalty() if isinstance(method, gs.ExponentiatedGradient) else gs.L1()
    model = LOGISTIC.teach(LOGISTIC.model(method, penalty), X)
    assert_is_the_twin(model, LOGISTIC.twin(method, penalty, X))


# "auto" and "theory"

AUTO = {
    "adagrad": (gs.AdaGrad(), "l1"),
    "adagrad fobos": (gs.AdaGrad(form="fobos"), "l1"),
    "fobos": (gs.Fobos(), "l1"),
    "fobos, ball": (gs.Fobos(), "l1_ball"),
    "fobos, theory": (gs.Fobos(step="theory"), "l1"),
    "fobos, theory, ball": (gs.Fobos(step="theory"), "l2_ball"),
    "rda": (gs.RDA(), "l1"),
    "rda, theory": (gs.RDA(gamma="theory"), "l2_squared"),
    "ftrl": (gs.FTRL(), "l1"),
    "truncated gradient": (gs.TruncatedGradient(), "l1"),
    "subgradient, theory": (gs.Subgradient(step="theory"), "l1"),
    "eg": (gs.ExponentiatedGradient(), "none"),
}


def stream(n):
    random = np.random.default_rng(11)
    X = sp.random_array((n, 30), density=0.2, rng=random, format="csr", data_sampler=random.normal)
    labels = (X @ random.normal(size=30) + random.normal(size=n) * 0.3 > 0).astype(int)
    return X, labels


def auto_model(case, average=False):
    method, penalty = AUTO[case]
    return gs.OnlineClassifier("logistic", penalty, 1e-3, method, average=average)


def learned(model, X, y, edges, sample_weight=None):
    for begin, end in pairwise(edges):
        weight = None if sample_weight is None else sample_weight[begin:end]
        model.partial_fit(X[begin:end], y[begin:end], classes=[0, 1], sample_weight=weight)
    return model


def assert_equal_models(one, other):
    assert one.step_ == other.step_
    assert_array_equal(one.coef_, other.coef_)
    assert_array_equal(one.intercept_, other.intercept_)
    assert one.progressive_loss_ == other.progressive_loss_


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize("case", AUTO)
def test_the_automatic_step_does_not_depend_on_the_calls(case, average, monkeypatch):
    monkeypatch.setattr(step_search, "PREFIX", 64)
    X, y = stream(150)
    rows = auto_model(case, average)
    marks = [1, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 66, 127, 128, 129, 150]
    blocks = auto_model(case, average)
    for before, n in zip([0, *marks[:-1]], marks, strict=True):
        learned(rows, X, y, range(before, n + 1))
        learned(blocks, X, y, [before, n])
        whole = learned(auto_model(case, average), X, y, [0, n])
        assert_equal_models(rows, whole)
        assert_equal_models(blocks, whole)


@pytest.mark.parametrize("case", ["adagrad", "fobos", "fobos, theory", "rda"])
@pytest.mark.parametrize(
    "n", [step_search.PREFIX - 1, step_search.PREFIX, step_search.PREFIX + 1, step_search.PREFIX + 500]
)
def test_the_automatic_step_around_the_end_of_the_prefix(case, n):
    X, y = stream(n)
    random = np.random.default_rng(n)
    weight = random.integers(0, 3, n).astype(float)
    whole = learned(auto_model(case), X, y, [0, n], weight)
    cuts = np.sort(random.choice(np.arange(1, n), 20, replace=False))
    assert_equal_models(learned(auto_model(case), X, y, [0, *cuts, n], weight), whole)
    near = (
        [0, 1000, *range(step_search.PREFIX - 20, n, 1), n]
        if n <= step_search.PREFIX + 1
        else [0, step_search.PREFIX, n]
    )
    assert_equal_models(learned(auto_model(case), X, y, near, weight), whole)


def test_the_automatic_step_row_by_row_through_the_whole_prefix():
    X, y = stream(step_search.PREFIX + 3)
    n = len(y)
    assert_equal_models(
        learned(auto_model("adagrad"), X, y, range(n + 1)), learned(auto_model("adagrad"), X, y, [0, n])
    )


@pytest.mark.parametrize("case", AUTO)
def test_the_chosen_step_is_the_step_that_is_used(case):
    """Giving the step that was chosen leads to the same model."""
    X, y = stream(300)
    method, _ = AUTO[case]
    found = learned(auto_model(case), X, y, [0, 300])
    name = "gamma" if isinstance(method, gs.RDA) else "step"
    given = auto_model(case).set_params(method=replace(method, **{name: found.step_}))
    assert_equal_models(learned(given, X, y, [0, 300]), found)


@pytest.mark.parametrize("case", ["adagrad", "fobos", "rda", "ftrl"])
def test_the_automatic_step_predicts_better_than_a_bad_one(case):
    X, y = stream(2000)
    found = learned(auto_model(case), X, y, [0, 2000])
    method, _ = AUTO[case]
    name = "gamma" if isinstance(method, gs.RDA) else "step"
    for factor in (1e-3, 1e3):
        bad = auto_model(case).set_params(method=replace(method, **{name: found.step_ * factor}))
        assert found.progressive_loss_ < learned(bad, X, y, [0, 2000]).progressive_loss_


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_adagrad_does_not_see_the_units_of_a_feature(unit):
    X, y = stream(400)
    scaled = sp.csr_array(X * np.where(np.arange(30) % 2, unit, 1.0))
    one, other = (learned(auto_model("adagrad").set_params(alpha=0.0), Z, y, [0, 400]) for Z in (X, scaled))
    np.testing.assert_allclose(other.decision_function(scaled), one.decision_function(X), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("form", ["rda", "fobos"])
def test_adagrad_is_not_fooled_by_a_tiny_first_value(form):
    X = np.array([[1e-6], [1.0], [-1.0], [1.0], [-1.0]])
    settings = {"method": gs.AdaGrad(0.1, form), "alpha": 0.0, "fit_intercept": False, "shuffle": False}
    up = gs.OnlineClassifier(**settings).fit(X, [1, 1, 0, 1, 0])
    down = gs.OnlineClassifier(**settings).fit(X, [0, 1, 0, 1, 0])
    assert 0 < up.coef_[0, 0] < 1
    assert down.progressive_loss_ < 1


def test_a_state_of_another_size_is_refused():
    trainer = gs.OnlineClassifier(shuffle=False).fit(*stream(40))._trainer
    state = trainer.__getstate__()
    state["learner"] = {name: values[:-1] for name, values in state["learner"].items()}
    with pytest.raises(ValueError, match="holds 2 numbers, and 3 are needed"):
        trainer.__setstate__(state)


# Regret (CLAIMS R4)


PREFIXES = [25, 50, 100, 200, 400, 800]


@cache
def unit_rows(d=15):
    random = np.random.default_rng(13)
    X = random.normal(size=(PREFIXES[-1], d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    w = np.where(np.arange(d) < 5, 4.0 * random.normal(size=d), 0)
    y = np.where(X @ w + 0.5 * random.normal(size=len(X)) > 0, 1, -1)
    return X, y


def walk(model):
    """Return the weights before each round (and after the last), learning row by row."""
    X, y = unit_rows()
    rows, path = sp.csr_array(X), [np.zeros(X.shape[1])]
    for t in range(len(y)):
        model.partial_fit(rows[t : t + 1], y[t : t + 1], classes=[-1, 1])
        path.append(model.coef_[0].copy())
    return np.array(path)


def smoothed(loss, z, y):
    """The loss and its slope; the kink of the hinge is smoothed over 0.01, so the comparator is nearly the best."""
    if isinstance(loss, gs.Logistic):
        return loss.value(z, y), loss.slope(z, y)
    short, width = 1 - y * z, 0.01
    value = np.where(short > width, short - width / 2, np.maximum(short, 0) ** 2 / (2 * width))
    return value, -y * np.clip(short / width, 0, 1)


@cache
def minimiser(loss, penalty, alpha, t):
    """argmin (1/t) Σ ℓ + αΩ over the first t rows, in w = u − v, u, v ≥ 0."""
    X, y = (a[:t] for a in unit_rows())

    def objective(uv):
        u, v = np.split(uv, 2)
        values, slopes = smoothed(loss, X @ (u - v), y)
        value, gradient = values.mean(), X.T @ slopes / t
        if isinstance(penalty, gs.L1):
            return value + alpha * uv.sum(), np.concatenate([gradient + alpha, -gradient + alpha])
        gradient = gradient + alpha * (u - v)
        return value + alpha * np.sum((u - v) ** 2) / 2, np.concatenate([gradient, -gradient])

    start = np.zeros(2 * X.shape[1])
    found = minimize(objective, start, jac=True, bounds=[(0, None)] * len(start), options={"maxiter": 300})
    u, v = np.split(found.x, 2)
    return u - v


def comparators(loss, penalty, alpha):
    return np.array([minimiser(loss, penalty, alpha, t) for t in PREFIXES])


def regrets(loss, penalty, alpha, path):
    """R_t(w) = Σ_{τ≤t} ℓ_τ(w_τ) + αΩ(w_τ) − ℓ_τ(w) − αΩ(w) for every t, a row for the best w of each prefix."""
    X, y = unit_rows()
    before = path[:-1]
    ours = loss.value(np.sum(X * before, axis=1), y) + alpha * np.array([penalty.value(w) for w in before])
    theirs = [loss.value(X @ w, y) + alpha * penalty.value(w) for w in comparators(loss, penalty, alpha)]
    return np.array([np.cumsum(ours - other) for other in theirs])


ROUND = np.arange(1, PREFIXES[-1] + 1)
GENERAL = [(gs.Logistic(), 0.01), (gs.Hinge(), 0.01), (gs.Logistic(), 0.05)]


@pytest.mark.parametrize(("loss", "alpha"), GENERAL, ids=str)
def test_regret_of_rda(loss, alpha):
    """R_t ≤ (γD² + L²/γ)√t for every w with ½‖w‖² ≤ D²; ‖g‖ ≤ L = 1 on unit rows; the best γ is L/D."""
    L, D = 1.0, np.linalg.norm(comparators(loss, gs.L1(), alpha), axis=1).max() / math.sqrt(2)
    gamma = L / D
    model = gs.OnlineClassifier(loss, gs.L1(), alpha, gs.RDA(gamma=gamma), fit_intercept=False)
    regret = regrets(loss, gs.L1(), alpha, walk(model))
    assert (regret <= (gamma * D**2 + L**2 / gamma) * np.sqrt(ROUND)).all()
    assert regret[-1, -1] > 0


@pytest.mark.parametrize(("loss", "alpha"), GENERAL, ids=str)
@pytest.mark.parametrize("c", ["best", 0.3, 3.0])
def test_regret_of_fobos(loss, alpha, c):
    """Theorem 6: R_T ≤ 2GD + (D²/(2c) + 7G²c)√T with ‖w_t − w*‖ ≤ D, and ∂f, ∂r bounded by G."""
    best = comparators(loss, gs.L1(), alpha)
    G = max(1.0, alpha * math.sqrt(best.shape[1]))
    if c == "best":  # Corollary 7: D/(4G), with twice the comparator's norm for D
        c = 2 * np.linalg.norm(best[-1]) / (4 * G)
    path = walk(gs.OnlineClassifier(loss, gs.L1(), alpha, gs.Fobos(step=c), fit_intercept=False))
    regret = regrets(loss, gs.L1(), alpha, path)
    for row, w in zip(regret, best, strict=True):
        D = max(np.linalg.norm(path - w, axis=1).max(), np.linalg.norm(path, axis=1).max())
        assert (row <= 2 * G * D + (D**2 / (2 * c) + 7 * G**2 * c) * np.sqrt(ROUND)).all()
    assert regret[-1, -1] > 0


STRONG = [(gs.Logistic(), 0.02), (gs.Hinge(), 0.05)]


@pytest.mark.parametrize(("loss", "alpha"), STRONG, ids=str)
def test_regret_of_rda_under_strong_convexity(loss, alpha):
    """β_t = 0, σ = α: R_t ≤ L²/(2σ) (6 + log t)."""
    model = gs.OnlineClassifier(loss, gs.L2Squared(), alpha, gs.RDA(gamma=0), fit_intercept=False)
    regret = regrets(loss, gs.L2Squared(), alpha, walk(model))
    assert (regret <= (6 + np.log(ROUND)) / (2 * alpha)).all()
    assert regret[-1, -1] > 0


@pytest.mark.parametrize(("loss", "alpha"), STRONG, ids=str)
@pytest.mark.parametrize("method", ["fobos", "pegasos"])
def test_regret_of_fobos_under_strong_convexity(loss, alpha, method):
    """Theorem 8, from its proof: R_T ≤ 2GD + HD² + 7G²/(2H) (1 + log T), H = α, ‖w‖ ≤ G/α (Lemma 9)."""
    chosen = gs.Fobos(step=gs.InverseTime(alpha)) if method == "fobos" else gs.Pegasos()
    path = walk(gs.OnlineClassifier(loss, gs.L2Squared(), alpha, chosen, fit_intercept=False))
    assert np.linalg.norm(path, axis=1).max() <= 1 / alpha * (1 + 1e-12)
    regret = regrets(loss, gs.L2Squared(), alpha, path)
    for row, w in zip(regret, comparators(loss, gs.L2Squared(), alpha), strict=True):
        D = np.linalg.norm(path - w, axis=1).max()
        assert (row <= 2 * D + alpha * D**2 + 3.5 / alpha * (1 + np.log(ROUND))).all()
    assert regret[-1, -1] > 0
