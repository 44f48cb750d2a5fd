"""What pyproximal tests of its proximal operators (pytests of its repository), of our penalties and sets.

Its `sigma` is the strength, so sigma · Ω with step tau is our prox with step sigma · tau.
"""

import numpy as np
import pytest
from sklearn.linear_model import Lasso, Ridge

import gossamer as gs
from peers.ledger import Ledger

ledger = Ledger(
    "pytests",
    {
        "An operator inside a penalty (a matrix, a convolution, differences) is no part of a penalty on weights.": """
            test_norms.test_L2_solver test_norms.test_L2_op test_norms.test_L2_op_solver test_norms.test_L2_dense
            test_norms.test_L2Convolve test_norms.test_TV test_proximal.test_SemiOrthogonal
            test_proximal.test_Orthogonal test_proximal.test_VStack_restriction""",
        "Penalties are convex: no count of weights, no rank, no envelope of them.": """
            test_norms.test_L0 test_norms.test_rMS test_projection.test_L0Ball test_projection.test_L0Ball_func
            test_projection.test_L10Ball test_projection.test_L10Ball_func test_proximal.test_SingularValuePenalty
            test_proximal.test_QuadraticEnvelopeCardIndicator_case01
            test_proximal.test_QuadraticEnvelopeCardIndicator_case02
            test_proximal.test_QuadraticEnvelopeCardIndicator_case03 test_proximal.test_QuadraticEnvelopeRankL2
            test_concave_penalties.*""",
        "There is no penalty on singular values.": """
            test_norms.test_Nuclear_FOM test_norms.test_Nuclear test_norms.test_Weighted_Nuclear
            test_projection.test_NuclBall""",
        "The set is not one of ours, which are balls, boxes and the simplex around zero.": """
            test_projection.test_Affine test_projection.test_Hankel test_projection.test_HalfSpace
            test_projection.test_Intersection""",
        "Weights are real numbers, so a complex point is none.": "test_projection.test_L1Ball_complex_interior",
        "A strength is a number, not a function of the iteration.": "test_norms.test_L1_func",
        "Huber's function is a loss of ours, and the reverse Huber a penalty.": """
            test_norms.test_Huber test_norms.test_HuberCircular""",
        "There is one engine, the compiled core.": "test_projection.test_Simplex_engine",
        "Penalties are not added, multiplied or composed by operators; the strength is the estimator's.": """
            test_basic.test_add test_basic.test_mul test_basic.test_precomposition_type
            test_basic.test_postcomposition_type test_basic.test_affine_addition_type""",
        "A quadratic function is a loss of an estimator, not a penalty.": """
            test_proximal.test_Quadratic test_proximal.test_DotProduct test_proximal.test_Nonlinear
            test_norms.test_L2_diff""",
        "The solvers split sums of several functions, which we do not have; those of ours are compared below.": """
            test_solver.* test_dykstra.* test_bilinear.* test_grads.*""",
    },
    since="0.11",
)
ports = ledger.ports

STEPS = [0.5, 2.0]
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def drawn(*shape, seed=10, dtype=np.float64):
    return np.random.RandomState(seed).normal(size=shape).astype(dtype)


def dual_ball(penalty, v, step):
    """The projection onto {u: dual norm of u ≤ step}, by Moreau: v − prox(v, step) for a norm."""
    return v - penalty.prox(v, step)


NORMS = {
    "l1": (gs.L1(), lambda w: np.abs(w).sum(), lambda v, s: np.clip(v, -s, s)),
    "l2": (gs.L2(), np.linalg.norm, lambda v, s: v * min(1, s / np.linalg.norm(v))),
    "linf": (gs.LInf(), lambda w: np.abs(w).max(), lambda v, s: gs.project_l1_ball(v, s)),
}


@dtypes
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", NORMS)
@ports("test_norms.test_Euclidean", "test_norms.test_L1_scalar")
def test_norms_and_their_dual_balls(name, step, dtype):
    penalty, norm, project = NORMS[name]
    v = drawn(11, dtype=dtype)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    assert penalty.value(v) == pytest.approx(norm(v), rel=tolerance)
    np.testing.assert_allclose(dual_ball(penalty, v, step), project(v, step), atol=tolerance)
    assert penalty.prox(v, step).dtype == dtype


@dtypes
@pytest.mark.parametrize("step", STEPS)
@ports("test_norms.test_L2_x", "test_proximal.test_Constant", "test_proximal.test_VStack")
def test_half_the_square_and_nothing(step, dtype):
    v = drawn(11, dtype=dtype)
    assert gs.L2Squared().value(v) == pytest.approx(0.5 * np.linalg.norm(v) ** 2, rel=1e-5)
    np.testing.assert_allclose(gs.L2Squared().prox(v, step), v / (1 + step), rtol=1e-5)
    np.testing.assert_array_equal(gs.NoPenalty().prox(v, step), v)
    # a sum over parts of the weights acts on each by itself
    for penalty in (gs.L2Squared(), gs.L1(), gs.ElasticNet(0.3)):
        parts = [penalty.prox(part, step) for part in np.split(v, [3, 5])]
        np.testing.assert_array_equal(np.concatenate(parts), penalty.prox(v, step))


@ports("test_proximal.test_VStack_error")
def test_weights_for_another_number_of_features_are_refused():
    with pytest.raises(ValueError, match="weights"):
        gs.L1(np.ones(4)).prox(np.ones(3), 1.0)
    with pytest.raises(ValueError, match="group"):
        gs.GroupL2([[0, 1], [2, 3]]).prox(np.ones(3), 1.0)


@dtypes
@pytest.mark.parametrize("step", STEPS)
@ports("test_norms.test_L1_vector", "test_norms.test_L1_2d")
def test_a_strength_for_every_feature(step, dtype):
    v = drawn(11, dtype=dtype)
    weights = np.random.RandomState(1).uniform(0.1, 2, 11)
    penalty = gs.L1(weights)
    assert penalty.value(v) == pytest.approx(np.sum(weights * np.abs(v)), rel=1e-5)
    expected = np.sign(v) * np.maximum(np.abs(v) - step * weights, 0)
    np.testing.assert_allclose(penalty.prox(v, step), expected, atol=1e-6)
    W = drawn(11, 3)  # one weight per feature, for all of its outputs
    expected = np.sign(W) * np.maximum(np.abs(W) - step * weights[:, None], 0)
    np.testing.assert_allclose(penalty.prox(W, step), expected, atol=1e-12)
    np.testing.assert_allclose(W - penalty.prox(W, step), np.clip(W, -step * weights[:, None], step * weights[:, None]))


@pytest.mark.parametrize("step", STEPS)
@ports("test_norms.test_L21", "test_norms.test_L21_plus_L1")
def test_norms_of_rows(step):
    W = drawn(10, 3)
    rows = np.linalg.norm(W, axis=1, keepdims=True)
    assert gs.GroupL2().value(W) == pytest.approx(rows.sum())
    np.testing.assert_allclose(gs.GroupL2().prox(W, step), np.maximum(1 - step / rows, 0) * W, atol=1e-12)
    mixed = gs.SparseGroupL2(0.8)
    assert mixed.value(W) == pytest.approx(0.8 * np.abs(W).sum() + 0.2 * rows.sum())
    expected = gs.GroupL2().prox(gs.L1().prox(W, 0.8 * step), 0.2 * step)
    np.testing.assert_allclose(mixed.prox(W, step), expected, atol=1e-12)


SETS = {
    "box": (gs.Box(-1, 1), lambda w: np.abs(w).max() <= 1 + 1e-6),
    "l2": (gs.L2Ball(1.0), lambda w: np.linalg.norm(w) <= 1 + 1e-6),
    "l1": (gs.L1Ball(1.0), lambda w: np.abs(w).sum() <= 1 + 1e-6),
    "simplex": (gs.Simplex(1.0), lambda w: w.min() >= 0 and abs(w.sum() - 1) < 1e-5),
}


@dtypes
@pytest.mark.parametrize("name", SETS)
@ports("test_projection.test_Box", "test_projection.test_EuclBall", "test_projection.test_L1Ball")
@ports("test_projection.test_Simplex", "test_projection.test_L1Ball_dual_inside_scaled_ball")
def test_sets_are_entered_and_not_left(name, dtype):
    penalty, holds = SETS[name]
    v = drawn(11, dtype=dtype) + 1
    assert penalty.value(v) == np.inf
    p = penalty.prox(v, 1.0)
    assert holds(p)
    assert penalty.value(p) == 0
    for step in STEPS:
        np.testing.assert_array_equal(penalty.prox(v, step), p)  # a projection, whatever the step
    again = penalty.prox(p, 1.0)
    np.testing.assert_allclose(again, p, atol=1e-6)
    # <v − p, u − p> ≤ 0 for every u of the set
    for seed in range(20):
        u = penalty.prox(drawn(11, seed=seed), 1.0)
        assert (v - p).astype(float) @ (u - p) <= 1e-5


@dtypes
@pytest.mark.parametrize("v", [[0.125, -0.25], [1.0, 0.0], [0.0, 0.0]])
@ports("test_projection.test_L1Ball_feasible_inputs")
def test_points_of_the_ball_stay(v, dtype):
    v = np.array(v, dtype)
    kept = v.copy()
    for step in STEPS:
        np.testing.assert_array_equal(gs.L1Ball(1.0).prox(v, step), kept)
    np.testing.assert_array_equal(gs.project_l1_ball(v, 1.0), kept)
    np.testing.assert_array_equal(v, kept)


@ports("test_projection.test_Simplex_multi")
def test_a_matrix_on_the_simplex_is_one_long_vector():
    W = np.abs(drawn(8, 10))
    expected = gs.project_simplex(W.ravel(), 3.0).reshape(8, 10)
    np.testing.assert_allclose(gs.Simplex(3.0).prox(W, 1.0), expected)
    assert gs.Simplex(float(W.sum())).value(W) == 0
    assert gs.Simplex(float(W.sum()) - 0.1).value(W) == np.inf


@pytest.mark.parametrize("penalty", [gs.L1(), gs.L2(), gs.GroupL2(), gs.Box(0, 1)], ids=lambda penalty: penalty.label)
@ports("test_basic.test_negativetau")
def test_a_step_is_not_negative(penalty):
    with pytest.raises(ValueError, match="step"):
        penalty.prox(np.ones((3, 1)), -1.0)


@pytest.mark.parametrize("shape", [(10, 10), (8, 10)])
def test_proximal_solvers_agree(shape):
    """Proximal gradient, with and without acceleration and steps found by search, ends where others do."""
    X = drawn(*shape, seed=0)
    y = X @ (np.eye(10)[2] + 0.5 * np.eye(10)[4])
    n = len(y)
    best = Lasso(0.5 / n, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(X, y).coef_
    for solver in ("fobos", "fista", "sparsa", "coordinate"):
        settings = {"solver": solver, "fit_intercept": False, "tol": 1e-10, "max_iter": 20_000}
        model = gs.BatchRegressor("squared", "l1", 0.5 / n, **settings).fit(X, y)
        np.testing.assert_allclose(model.coef_, best, atol=1e-3)
        ridge = gs.BatchRegressor("squared", "l2_squared", 0.1 / n, **settings).fit(X, y)
        np.testing.assert_allclose(ridge.coef_, Ridge(0.1, fit_intercept=False).fit(X, y).coef_, atol=1e-2)


def test_the_ledger_is_complete():
    ledger.check()
