"""What must not matter: how the data is cut, stored, or weighted by nothing."""

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import gossamer as gs
from catalogue import by_name
from online.matrix import LAST_OR_AVERAGE, METHODS, REFUSED, alpha_for, penalty_for
from online.problems import LOGISTIC, ONE_AND_THREE, PROBLEMS, N, X, assert_is_the_twin, assert_same_model, over


@over("problem", ONE_AND_THREE)
@pytest.mark.parametrize(("method", "name", "average"), LAST_OR_AVERAGE)
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


@pytest.mark.parametrize("method", [name for name in METHODS if name != "step free"])  # it knows rows seen before
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
@pytest.mark.parametrize(
    ("method", "center"),
    [("step free", False), ("step free", True), *[(name, "auto") for name in ("fobos", "rda", "adagrad rda")]],
)
@over("problem", ONE_AND_THREE)
def test_storage_changes_nothing(form, method, problem, center):
    data = single_valued(X)
    stored = STORAGE[form](data)
    if form == "read-only":
        for array in (stored.data, stored.indices, stored.indptr):
            array.flags.writeable = False
    dense = problem.teach(problem.model(METHODS[method], "l1", center=center), data)
    for calls in (1, 2):  # the second call may take a short cut through the checks
        model = problem.model(METHODS[method], "l1", center=center)
        if calls == 1:
            problem.teach(model, stored)
        else:
            problem.teach(model, data, slice(0, 1))
            rest = slice(1, None)
            part = stored[1:] if form == "lists" else STORAGE[form](data[rest])
            model.partial_fit(part, problem.y[rest])
        assert_array_equal(model.coef_, dense.coef_)
        assert_array_equal(model.intercept_, dense.intercept_)


@pytest.mark.parametrize("method", METHODS)
@over("problem", ONE_AND_THREE)
def test_an_array_without_zeros_is_its_csr(method, problem):
    full = np.where(X == 0, 0.5, X)
    penalty = next(name for name in ("l1", "none", "l2 squared") if name not in REFUSED[method])
    settings = {"penalty": penalty_for(penalty, problem.outputs), "alpha": alpha_for(method), "center": False}
    dense = problem.teach(problem.model(METHODS[method], **settings), full)
    sparse = problem.teach(problem.model(METHODS[method], **settings), sp.csr_array(full))
    assert_array_equal(dense.coef_, sparse.coef_)
    assert_array_equal(dense.intercept_, sparse.intercept_)


@pytest.mark.parametrize("method", ["fobos", "rda", "adagrad rda", "adagrad fobos", "ftrl", "subgradient"])
def test_unsorted_and_duplicate_indices_add_up(method):
    messy = shuffled_and_split(X)
    kept = messy.copy()
    model = LOGISTIC.teach(LOGISTIC.model(METHODS[method], "l1"), messy)
    tidy = LOGISTIC.teach(LOGISTIC.model(METHODS[method], "l1"), messy.toarray())
    assert_same_model(model, tidy)
    for name in ("data", "indices", "indptr"):  # the caller's matrix is left alone
        assert_array_equal(getattr(messy, name), getattr(kept, name))


# Weights of examples, and the intercept


@pytest.mark.parametrize("step", ["fixed", "auto"])
@pytest.mark.parametrize("method", METHODS)
def test_an_example_without_weight_changes_nothing(method, step):
    name = next(n for n in ("l1", "none", "l2 squared") if n not in REFUSED[method])
    chosen = METHODS[method]
    if step == "auto" and not method.startswith(("pegasos", "step free")):
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
    centred = X.shape[1] if METHODS[method].centres else 0
    assert_is_the_twin(model, problem.twin(METHODS[method], penalty, X, alpha, sample_weight, centred=centred))


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("method", [gs.Fobos(step=0.5), gs.StepFree()], ids=["fobos", "step free"])
@over("problem", [*ONE_AND_THREE, PROBLEMS["squared"], PROBLEMS["poisson"]])
def test_without_an_intercept(problem, fit_intercept, method):
    model = problem.teach(problem.model(method, "l1", fit_intercept=fit_intercept), sp.csr_array(X))
    assert_is_the_twin(model, problem.twin(method, gs.L1(), X, fit_intercept=fit_intercept))
    assert model.intercept_.any() == fit_intercept


def test_the_centred_features_are_shown():
    table = pd.DataFrame({"size": np.arange(40.0) % 7, "city": list("abcd") * 10})
    y = (table["size"] > 3).to_numpy().astype(int)
    data = table[["size"]].to_numpy()
    for model in (gs.OnlineClassifier(), gs.OnlineClassifierCV()):
        assert model.fit(data, y).centered_features_.tolist() == [0]
        assert model.fit(sp.csr_array(data), y).centered_features_.tolist() == []
        assert [str(name) for name in model.fit(table, y).centered_features_] == ["size"]
    assert gs.OnlineClassifier(center=False).fit(data, y).centered_features_.tolist() == []
    assert gs.OnlineClassifier(center=True).fit(sp.csr_array(data), y).centered_features_.tolist() == [0]
