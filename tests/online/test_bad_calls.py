"""A call that raises leaves the estimator as it was."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import gossamer as gs
from online.tasks import REALS, TWO, D, N, X, assert_same_state, classifier, setting, state


def spoiled(value):
    data = X.copy()
    data[3, 2] = value
    return data


def sparse(data):
    return sp.csr_array(data)


BAD_CALLS = {
    "NaN": lambda y: (spoiled(np.nan), y, None),
    "infinity": lambda y: (spoiled(np.inf), y, None),
    "NaN, sparse": lambda y: (sparse(spoiled(np.nan)), y, None),
    "infinity, sparse": lambda y: (sparse(spoiled(-np.inf)), y, None),
    "a vector": lambda y: (X[0], y[:1], None),
    "three dimensions": lambda y: (X[:, :, None], y, None),
    "negative weight": lambda y: (X, y, np.where(np.arange(N) == 4, -1.0, 1.0)),
    "NaN weight": lambda y: (X, y, np.where(np.arange(N) == 4, np.nan, 1.0)),
    "too few weights": lambda y: (X, y, np.ones(N - 1)),
    "weights in two dimensions": lambda y: (X, y, np.ones((N, 2))),
    "fewer rows": lambda y: (X[:-1], y, None),
    "fewer targets": lambda y: (sparse(X), y[:-1], None),
    "words": lambda y: (np.full((N, D), "word"), y, None),
    "objects": lambda y: (np.full((N, D), object()), y, None),
    "complex": lambda y: (X + 1j, y, None),
    "empty": lambda y: (X[:0], y[:0], None),
    "empty, sparse": lambda y: (sparse(X)[:0], y[:0], None),
    "no features": lambda y: (X[:, :0], y, None),
    "no targets": lambda y: (X, None, None),
    "NaN target": lambda y: (X, np.full(y.shape, np.nan), None),
    "infinite target": lambda y: (sparse(X), np.full(y.shape, np.inf), None),
}
BAD_LABELS = {
    "unknown label": lambda y: (X, np.full(N, "elephant"), None),
    "labels in columns": lambda y: (X, np.column_stack([y, y]), None),
    "real numbers": lambda y: (X, REALS, None),
}
BAD_INDICATORS = {
    "real numbers": lambda y: (X, REALS, None),
    "signs": lambda y: (X, 2 * y - 1, None),
    "twos": lambda y: (X, 2 * y, None),
}
BAD_LATER = {  # not wrong in the first call
    "too wide": lambda y: (np.hstack([X, X]), y, None),
    "too narrow": lambda y: (X[:, :3], y, None),
    "too narrow, sparse": lambda y: (sparse(X[:, :3]), y, None),
    "other targets": lambda y: (X, np.column_stack([y, y, y, y]), None),
}
BAD_BY_TASK = {
    "binary": BAD_CALLS | BAD_LABELS,
    "multiclass": BAD_CALLS | BAD_LABELS,
    "multilabel": BAD_CALLS | BAD_INDICATORS,
    "regression": BAD_CALLS,
    "several outputs": BAD_CALLS,
    "binary, auto": BAD_CALLS | BAD_LABELS,
}
RAISING = [
    *[
        (t, v, when, c)
        for t in BAD_BY_TASK
        for v in ("fit", "partial_fit")
        for when in (0, 5, N)
        for c in BAD_BY_TASK[t]
    ],
    *[(t, "partial_fit", when, c) for t in BAD_BY_TASK for when in (5, N) for c in BAD_LATER],
]


@pytest.mark.parametrize(("task", "verb", "rows", "case"), RAISING)
def test_a_call_that_raises_changes_nothing(task, verb, rows, case):
    model, y, known = setting(task)
    data, targets, weight = (BAD_BY_TASK[task] | BAD_LATER)[case](y)
    if rows:
        model.partial_fit(X[:rows], y[:rows], **known)
        model.predict(X)
    before = state(model)
    arguments = known if verb == "partial_fit" else {}
    with pytest.raises((ValueError, TypeError)) as refusal:
        getattr(model, verb)(data, targets, sample_weight=weight, **arguments)
    assert len(str(refusal.value)) > 15
    assert_same_state(model, before)
    if rows:
        other, _, _ = setting(task)
        other.partial_fit(X[:rows], y[:rows], **known).partial_fit(X, y)
        assert_array_equal(model.partial_fit(X, y).coef_, other.coef_)


@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_a_step_function_that_fails_leaves_a_new_estimator_new(verb):
    for step in (lambda t: 50.5 - t, lambda t: 1 / 0):
        model = classifier(method=gs.Fobos(step=step))
        before = dict(vars(model))
        with pytest.raises((ValueError, ZeroDivisionError)):
            getattr(model, verb)(X, TWO, **({"classes": ["no", "yes"]} if verb == "partial_fit" else {}))
        assert vars(model) == before


def test_a_step_function_that_fails_later_leaves_what_was_learned():
    model = classifier(method=gs.Fobos(step=lambda t: 50.5 - t)).partial_fit(X[:40], TWO[:40], classes=["no", "yes"])
    coef, t = model.coef_.copy(), model.t_
    with pytest.raises(ValueError, match="at round 51"):
        model.partial_fit(X[40:], TWO[40:])
    assert model.t_ == t
    assert_array_equal(model.coef_, coef)
    with pytest.raises(ValueError, match="at round 51"):
        model.fit(X, TWO)
    assert model.t_ == t
    assert_array_equal(model.coef_, coef)


def test_one_class_is_refused():
    model = classifier()
    for call in (
        lambda: model.fit(X, ["no"] * N),
        lambda: model.partial_fit(X, ["no"] * N, classes=["no"]),
    ):
        with pytest.raises(ValueError, match=r"one class only, 'no'.*at least two"):
            call()
    assert not hasattr(model, "classes_")


def test_all_weights_zero():
    with pytest.raises(ValueError, match="zero"):
        classifier().fit(X, TWO, sample_weight=np.zeros(N))
    model = classifier().partial_fit(X, TWO, classes=["no", "yes"], sample_weight=np.zeros(N))
    assert model.t_ == 0
    assert not model.coef_.any()
    assert np.isnan(model.progressive_loss_)
    model.partial_fit(X, TWO)
    assert_array_equal(model.coef_, classifier().partial_fit(X, TWO, classes=["no", "yes"]).coef_)


@pytest.mark.parametrize(
    ("part", "value"), [("indices", -1), ("indices", 99), ("indptr", 1), ("indptr", 10**6)], ids=str
)
def test_a_csr_matrix_with_parts_that_do_not_fit_is_refused(part, value):
    X = sp.csr_array(np.eye(4))
    y = np.array([0, 1, 0, 1])
    model = gs.OnlineClassifier().fit(X, y)
    before = model.coef_.copy()
    getattr(X, part)[0 if part == "indices" or value == 1 else -1] = value
    for call in (gs.OnlineClassifier().fit, model.partial_fit):
        with pytest.raises(ValueError, match="not a valid CSR matrix"):
            call(X, y)
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("part", "value"), [("indices", -1), ("indices", 99), ("data", np.nan), ("data", -np.inf)])
@pytest.mark.parametrize("method", [gs.Fobos(1.0), gs.RDA(1.0), gs.AdaGrad(0.1), gs.FTRL(0.1), gs.Subgradient(1.0)])
def test_bad_entries_found_on_the_way_leave_no_trace(method, part, value, dtype, labels, fitted):
    """With a fixed step a first pass finds them as it learns: wherever they are, nothing of it stays."""
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 30), density=0.2, rng=rng, dtype=dtype).tocsr()
    y = rng.integers(labels, size=60)
    model = gs.OnlineClassifier(method=method, max_passes=2, random_state=0)
    if fitted:
        model.fit(X[:, :20], y)
    before = pickle.dumps(model)
    bad = X.copy()
    getattr(bad, part)[rng.integers(X.nnz)] = value
    with pytest.raises(ValueError, match="not a valid CSR matrix" if part == "indices" else "NaN or infinity"):
        model.fit(bad, y)
    assert pickle.dumps(model) == before
    assert np.isfinite(model.fit(X, y).coef_).all()
