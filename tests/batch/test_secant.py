"""Curvature over partitions: its two messages are the same matrix, and gradients correct what is old."""

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from gossamer.batch import newton
from gossamer.batch.partitions import Partition, Rows, curvature
from gossamer.batch.runs import Local
from gossamer.batch.secant import ROUND, Curvature
from gossamer.estimators import targets
from gossamer.losses import as_loss
from gossamer.penalties import as_penalty


def partitions(count=4, n=60, d=200, classes=2, seed=0):
    random = np.random.default_rng(seed)
    w = random.standard_normal(d) * (np.arange(d) < 20)
    made = []
    for _ in range(count):
        X = sp.random_array((n, d), density=0.05, rng=random, format="csr")
        z = X @ w + 0.3 * random.standard_normal(n)
        y = (z > 0).astype(int) if classes == 2 else np.digitize(z, [-0.2, 0.2])
        coded = targets.for_labels(np.arange(classes), as_loss("logistic"), grow=False)
        y = np.ascontiguousarray(coded.encode(y), np.float64)
        made.append(Partition(X, y, np.full(n, 1 / (n * count)), None, coded.loss, coded.outputs))
    return made, coded


@pytest.mark.parametrize("classes", [2, 3])
def test_factors_are_the_triangle_in_fewer_bytes(classes):
    (part, *_), coded = partitions(classes=classes)
    random, d, k = np.random.default_rng(1), part.X.shape[1], coded.outputs
    W, b, every = random.standard_normal((d, k)), random.standard_normal(k), np.arange(d, dtype=np.int32)
    args = part, every, W, b, every, 150
    whole, diagonal = curvature(*args, False)
    factors, same = curvature(*args, True)
    assert isinstance(factors, Rows)
    assert sum(getattr(factors, name).nbytes for name in ("data", "indices", "indptr", "h", "p")) < whole.nbytes / 2
    np.testing.assert_allclose(factors.packed(classes > 2, 151), whole, rtol=1e-5, atol=1e-9)
    np.testing.assert_array_equal(same, diagonal)
    few, _ = curvature(part, every, W, b, every[:5], 5, True)
    assert isinstance(few, np.ndarray)  # where the triangle is smaller


def test_a_corrected_matrix_maps_the_step_to_the_change_and_stays_positive():
    random = np.random.default_rng(0)
    m, k, d = 6, 2, 10
    A = random.standard_normal((40, (m + 1) * k))
    features = np.array([0, 2, 3, 5, 7, 9])
    known = Curvature(features, A.T @ A, 1000, k)
    for _ in range(30):
        s, s_b = random.standard_normal((d, k)), random.standard_normal(k)
        H = (A * random.uniform(0.5, 2, 40)[:, None]).T @ A
        y = (H @ np.concatenate([s[features].reshape(-1), s_b])).reshape(m + 1, k)
        change = random.standard_normal((d, k))
        change[features] = y[:m]
        known.correct(s, s_b, change, y[m])
        found = known.Q @ np.concatenate([s[features].reshape(-1), s_b])
        np.testing.assert_allclose(found, y.reshape(-1), rtol=1e-8)
        assert np.linalg.eigvalsh(known.Q)[0] > 0
    before = known.Q.copy()
    known.correct(s, s_b, -change, -y[m])  # no curvature of a convex function
    np.testing.assert_array_equal(known.Q, before)
    some = features[[1, 4]]
    np.testing.assert_array_equal(known.over(some), known.Q[np.ix_([2, 3, 8, 9, 12, 13], [2, 3, 8, 9, 12, 13])])


def test_it_is_asked_again_once_rounds_cost_as_much():
    known = Curvature(np.arange(100), np.eye(101), 3 * ROUND, 1)
    assert not known.pays(np.arange(100))
    known.spent = 4 * ROUND
    assert known.pays(np.arange(100))
    assert not known.pays(np.arange(200))  # a message four times as large


def test_many_weights_are_found_with_few_bytes(monkeypatch):
    """Whatever is sent, and however seldom, the minimum is the same."""
    made, coded = partitions(count=3, n=150, d=400, seed=2)
    found = {}
    for form in ("always triangles", "triangles", "factors"):
        if form != "factors":
            monkeypatch.setattr(newton, "curvature", lambda *a: curvature(*a[:-1], False))
        if form == "always triangles":
            monkeypatch.setattr(Curvature, "pays", lambda *_: True)
        runner = Local(made)
        problem = newton.Problem(runner, coded.loss, as_penalty("l1"), 1e-4, 400, 1, True)
        with threadpool_limits(1):
            solution = newton.minimise(problem, tol=1e-8, max_iter=100)
        assert solution.converged
        found[form] = solution.certificate.objective, runner.bytes_up
        monkeypatch.undo()
    least = min(value for value, _ in found.values())
    assert max(value for value, _ in found.values()) - least <= 1e-8 * problem.unit
    assert found["factors"][1] < 0.5 * found["always triangles"][1]
    assert found["triangles"][1] < 0.95 * found["always triangles"][1]
