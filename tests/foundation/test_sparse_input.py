"""Sparse matrices whose arrays were changed by hand: every estimator, method and function refuses them in words."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import gossamer as gs
from gossamer import _core
from gossamer.validation import sparse_matrix

ROWS, COLUMNS = 30, 12
LABELS = np.arange(ROWS) % 2
ESTIMATORS = [
    name
    for name in gs.__all__
    if name.endswith(("Classifier", "Regressor", "ClassifierCV", "RegressorCV")) and name[0].isupper()
]


def good(format="csr", seed=0):
    X = sp.random(ROWS, COLUMNS, 0.4, random_state=seed, format="csr")
    if format == "bsr":
        return X.tobsr((2, 3))
    return X.asformat(format)


# Changes of CSR, CSC and BSR arrays, and words of the error.


def falling(X):
    X.indptr[3] = 10**6


def falls_by_one(X):
    X.indptr[2] = X.indptr[3] + 1


def starts_late(X):
    X.indptr[0] = 1


def starts_before(X):
    X.indptr[0] = -(10**7)


def ends_beyond(X):
    X.indptr[-1] = 10**8


def ends_one_beyond(X):
    X.indptr[-1] += 1


def starts_missing(X):
    X.indptr = X.indptr[:-2]


def negative(X):
    X.indices[3] = -1


def very_negative(X):
    X.indices[3] = -(10**9)


def too_large(X):
    X.indices[-1] = max(X.shape)


def far_too_large(X):
    X.indices[0] = 10**9


def large_in_64_bits(X):
    X.indices = X.indices.astype(np.int64)
    X.indices[2] = 2**32 + 1


def large_in_64_bits_everywhere(X):
    large_in_64_bits(X)
    X.indptr = X.indptr.astype(np.int64)


def unsigned(X):
    X.indices = X.indices.astype(np.uint64)
    X.indices[1] = 2**64 - 1


def floats(X):
    X.indices = X.indices.astype(float)


def float_starts(X):
    X.indptr = X.indptr.astype(float)


def matrix_of_indices(X):
    X.indices = X.indices[:, None]


def few_values(X):
    X.data = X.data[: len(X.data) // 2].copy()


LINES = {
    falling: "indptr must not fall",
    falls_by_one: "indptr must not fall",
    starts_late: "indptr must begin with 0",
    starts_before: "indptr must begin with 0",
    ends_beyond: "indptr ends with 100000000",
    ends_one_beyond: "indptr ends with",
    starts_missing: "indptr must have .* entries",
    negative: r"indices\[3\] is -1",
    very_negative: r"indices\[3\] is -1000000000",
    too_large: "indices must lie in 0 …",
    far_too_large: r"indices\[0\] is 1000000000",
    large_in_64_bits: r"indices\[2\] is 4294967297",
    large_in_64_bits_everywhere: r"indices\[2\] is 4294967297",
    unsigned: r"indices\[1\] is -1",
    floats: "indices must be a vector of whole numbers; it is an array of float64",
    float_starts: "indptr must be a vector of whole numbers",
    matrix_of_indices: "indices must be a vector",
    few_values: "indptr ends with",
}


def row_negative(X):
    X.coords[0][2] = -5


def column_too_large(X):
    X.coords[1][2] = 10**8


def fewer_rows(X):
    X.coords = (X.coords[0][:-4], X.coords[1])


def float_rows(X):
    X.coords = (X.coords[0].astype(float), X.coords[1])


COORDINATES = {
    row_negative: r"row\[2\] is -5",
    column_too_large: r"col\[2\] is 100000000",
    fewer_rows: "row must be a vector of whole numbers, one per entry",
    float_rows: "row must be a vector of whole numbers",
}


def lil_column(X):
    X.rows[4] = [10**7]
    X.data[4] = [1.0]


def lil_values(X):
    X.data[4] = [1.0] * 10**5


LISTS = {lil_column: "indices must lie in", lil_values: "rows and data must have one list per row"}

CASES = [
    *[("csr", change, words) for change, words in LINES.items()],
    *[("csc", change, words) for change, words in LINES.items()],
    *[("bsr", change, words) for change, words in LINES.items()],
    *[("coo", change, words) for change, words in COORDINATES.items()],
    *[("lil", change, words) for change, words in LISTS.items()],
]
OVER_CASES = pytest.mark.parametrize(
    ("format", "change", "words"), CASES, ids=[f"{format}-{change.__name__}" for format, change, _ in CASES]
)


def broken(format, change):
    X = good(format)
    change(X)
    return X


def raises(call, words):
    with pytest.raises(ValueError, match=rf"not a valid (CSR|CSC|BSR|COO|LIL) matrix: .*{words}"):
        call()


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: getattr(gs, name)().fit(good(), LABELS) for name in ESTIMATORS}


METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score")


def test_all_estimators_are_here():
    assert len(ESTIMATORS) == 10


@OVER_CASES
def test_estimators_refuse(fitted, format, change, words):
    for name, model in fitted.items():
        X = broken(format, change)
        before = dict(vars(model))
        raises(lambda model=model, X=X: model.fit(X, LABELS), words)
        assert vars(model) == before, name
        if hasattr(model, "partial_fit"):
            raises(lambda model=model, X=X: model.partial_fit(X, LABELS), words)
        for method in METHODS:
            if hasattr(model, method):
                call = getattr(model, method)
                raises(lambda call=call, X=X, m=method: call(X, LABELS) if m == "score" else call(X), words)
        if name.startswith("Boosting"):
            raises(lambda model=model, X=X: model.fit(good(), LABELS, validation=(X, LABELS)), words)


@OVER_CASES
def test_functions_and_sources_refuse(fitted, format, change, words):
    X, model = broken(format, change), gs.Model.of(fitted["BatchClassifier"])
    for call in (
        lambda: gs.alpha_max(X, LABELS),
        lambda: gs.regularization_path(X, LABELS, alphas=3),
        lambda: gs.read((X, LABELS)),
        lambda: gs.read(X, need_labels=False),
        lambda: list(gs.source((X, LABELS)).blocks()),
        lambda: list(gs.source(iter([(good(), LABELS), (X, LABELS)])).blocks()),
        lambda: gs.OnlineClassifier().fit_source((X, LABELS)),
        lambda: model.predict(X),
        lambda: model.predict_proba(X),
        lambda: model.decision_function(X),
    ):
        raises(call, words)


@pytest.mark.parametrize("change", [falling, negative, ends_beyond])
def test_a_sparse_y_is_checked(change):
    y = sp.csr_array((np.arange(ROWS * 3).reshape(ROWS, 3) % 2).astype(float))
    change(y)
    for model in (gs.BatchClassifier(), gs.OnlineClassifier(), gs.BoostingClassifier()):
        with pytest.raises(ValueError, match="y is not a valid CSR matrix"):
            model.fit(good(), y)


@pytest.mark.parametrize("change", [falling, negative, far_too_large, ends_beyond, floats])
def test_features_of_ones_own_are_checked(change):
    class Broken:
        def propose(self, X, used):
            return [0, 1]

        def evaluate(self, X, features):
            found = sp.csr_matrix(X[:, features])
            change(found)
            return found

    with pytest.raises(ValueError, match=r"What Broken.evaluate returned is not a valid CSR matrix"):
        gs.BoostingClassifier(features=Broken()).fit(good(), LABELS)


# Matrices that are valid, and not canonical


def shuffled(X):
    """Return the same matrix with the entries of each line in another order, and the first one of each split in two."""
    rng = np.random.default_rng(1)
    index, value, starts = [], [], [0]
    for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        order = rng.permutation(np.arange(begin, end))
        index += [*X.indices[order], *X.indices[order[:1]]]
        value += [*X.data[order[:1]] * 0.25, *X.data[order[1:]], *X.data[order[:1]] * 0.75]
        starts.append(len(index))
    return type(X)((value, index, starts), shape=X.shape)


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("claimed", [False, True])
def test_any_order_is_the_same_matrix(fitted, format, claimed):
    X = good(format)
    messy = shuffled(X)
    if claimed:  # a claim that SciPy believes, as it would after the arrays of a canonical matrix are changed
        messy.has_sorted_indices = messy.has_canonical_format = True
    before = [a.copy() for a in (messy.data, messy.indices, messy.indptr)]
    tidy = sparse_matrix(messy, "X", (format,))
    assert_array_equal(tidy.indices, X.indices)
    np.testing.assert_allclose(tidy.data, X.data, rtol=1e-15)
    for name, model in fitted.items():
        np.testing.assert_allclose(model.predict(messy), model.predict(X), rtol=1e-12, err_msg=name)
        again = getattr(gs, name)(**({"random_state": 0} if "Online" in name else {}))
        twin = getattr(gs, name)(**({"random_state": 0} if "Online" in name else {}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, expected = again.fit(messy, LABELS).coef_, twin.fit(X, LABELS).coef_
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9, err_msg=name)
    for a, b in zip((messy.data, messy.indices, messy.indptr), before, strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
@pytest.mark.parametrize("make", ["matrix", "array"])
def test_every_format_is_taken(fitted, format, make):
    X = good(format) if format != "dia" else sp.diags_array([np.arange(1.0, 13)], shape=(ROWS, COLUMNS), offsets=[0])
    X = getattr(sp, f"{format}_{make}")(X)
    for name, model in fitted.items():
        np.testing.assert_allclose(model.predict(X), model.predict(X.toarray()), rtol=1e-12, err_msg=name)
    assert_array_equal(gs.read(X, need_labels=False)[0].toarray(), X.toarray())


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_line_order_by_the_slow_way(kind):
    rng = np.random.default_rng(0)
    counts = dict.fromkeys(_core.LineOrder, 0)
    for _ in range(2000):
        lines, length = rng.integers(0, 5), int(rng.integers(0, 6))
        starts = np.concatenate([[0], np.cumsum(rng.integers(0, 4, lines))]).astype(kind)
        if rng.random() < 0.2:
            starts[rng.integers(len(starts))] += rng.choice([-1, 1])
        index = rng.integers(0, max(length, 1), max(int(starts.max()), 0)).astype(kind)
        if rng.random() < 0.7 and (np.diff(starts) >= 0).all() and starts[0] == 0:
            for b, e in itertools.pairwise(starts):
                index[b:e] = np.sort(index[b:e])
        if len(index) and rng.random() < 0.1:
            index[rng.integers(len(index))] = rng.choice([-1, length, np.iinfo(kind).min, np.iinfo(kind).max])
        valid = starts[0] == 0 and (np.diff(starts) >= 0).all() and starts[-1] <= len(index)
        valid = valid and all(0 <= i < length for i in index[: starts[-1]])
        rows = [index[b:e] for b, e in itertools.pairwise(starts)] if valid else []
        rises = all((np.diff(row) > 0).all() for row in rows)
        expected = ("canonical" if rises else "valid") if valid else "invalid"
        found = _core.line_order(starts, index, length)
        assert found == getattr(_core.LineOrder, expected), (starts, index, length)
        counts[found] += 1
    assert min(counts.values()) > 100


def test_line_order_across_the_parts_of_a_long_matrix():
    index = np.tile(np.arange(1000, dtype=np.int32), 400)
    starts = np.arange(0, 400_001, 1000, dtype=np.int32)
    assert _core.line_order(starts, index, 1000) == _core.LineOrder.canonical
    for at in (1 << 17, (1 << 17) - 1, (1 << 17) + 1, 399_999):
        for x, expected in ((-1, "invalid"), (1000, "invalid"), (index[at - 1], "valid")):
            changed = index.copy()
            changed[at] = x
            if at % 1000:
                assert _core.line_order(starts, changed, 1000) == getattr(_core.LineOrder, expected)
