"""What optax tests of its projections and losses (optax/projections, optax/losses), of ours."""

import numpy as np
import pytest

import gossamer as gs
from peers.ledger import Ledger

projections = Ledger(
    "optax/projections/_projections_test.py",
    {
        "A vector, a half-space and a hyperplane of weights are no sets of ours.": """
            ProjectionsTest.test_projection_vector ProjectionsTest.test_projection_hyperplane
            ProjectionsTest.test_projection_halfspace_1 ProjectionsTest.test_projection_halfspace_2""",
        "Spheres are not convex; ours are balls.": """
            ProjectionsTest.test_projection_l1_sphere ProjectionsTest.test_projection_l2_sphere""",
        "Weights are an array, not a tree of arrays.": "ProjectionsTest.test_projection_simplex_pytree",
    },
    since="0.2",
)
classification = Ledger(
    "optax/losses/_classification_test.py",
    {
        "Labels are classes, not distributions over them, so masks and axes of logits do not arise.": """
            SoftmaxCrossEntropyTest.test_per_logit_mask SoftmaxCrossEntropyTest.test_mask
            SoftmaxCrossEntropyTest.test_axis SoftmaxCrossEntropyWithIntegerLabelsTest.test_per_logit_mask
            SoftmaxCrossEntropyWithIntegerLabelsTest.test_axis SoftmaxCrossEntropyWithIntegerLabelsTest.test_axes
            SafeSoftmaxCrossEntropyTest.*""",
        "The loss is not one of ours: it is for neural networks or for targets that are distributions.": """
            PolyLossTest.* SparsemaxTest.* GeneralizedKLDivergenceTest.* KLDivergenceTest.*
            KLDivergenceWithLogTargetsTest.* CTCTest.* SigmoidFocalLossTest.*""",
        "There is no perceptron loss; its name points to the hinge.": "PerceptronTest.*",
    },
    since="0.2",
)
regression = Ledger(
    "optax/losses/_regression_test.py",
    {
        "The loss is not one of ours: Huber is the robust one, and directions are no targets.": """
            LogCoshTest.* CosineDistanceTest.*""",
        "A vector and a column broadcast, as in NumPy; estimators check the shapes of their targets.": """
            SquaredErrorTest.test_shape_mismatch L2LossTest.test_shape_mismatch""",
    },
    since="0.2",
)

# Their settings → ours. A scale or radius is the radius of the set. Labels 0 and 1 are y = −1 and +1.
# squared_error has no ½, so it is twice ours; l2_loss is ours.
VECTORS = {
    "vector": np.array([0.5, 2.1, -3.5]),
    "matrix": np.array([[0.5, 2.1, -3.5], [1.0, 2.0, 3.0]]),
}
BALLS = {
    "l1": (gs.L1Ball, lambda w: np.abs(w).sum()),
    "l2": (gs.L2Ball, np.linalg.norm),
    "linf": (lambda radius: gs.Box(-radius, radius), lambda w: np.abs(w).max()),
}


@projections.ports("ProjectionsTest.test_projection_non_negative", "ProjectionsTest.test_projection_box")
@projections.ports("ProjectionsTest.test_projection_hypercube")
def test_boxes():
    v = np.array([-1.0, 2.0, 3.0])
    np.testing.assert_array_equal(gs.Box(0, np.inf).prox(v, 1.0), [0, 2, 3])
    for low, high in [(0.0, 2.0), (np.zeros(3), np.full(3, 2.0)), (0.0, np.full(3, 2.0))]:
        np.testing.assert_array_equal(gs.project_box(v, low, high), [0, 2, 2])
        np.testing.assert_array_equal(gs.Box(low, high).prox(v, 7.0), [0, 2, 2])
    for side, expected in [(1.0, [0, 1, 0.5]), (0.8, [0, 0.8, 0.5])]:
        np.testing.assert_array_equal(gs.Box(0, side).prox([-1.0, 2.0, 0.5], 1.0), expected)


@pytest.mark.parametrize("radius", [1.0, 0.8])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@projections.ports("ProjectionsTest.test_projection_simplex_array", "ProjectionsTest.test_projection_simplex_vmap")
def test_the_simplex(radius, dtype):
    for v in np.random.RandomState(0).randn(4, 50).astype(dtype):
        p = gs.project_simplex(v, radius)
        assert p.dtype == dtype
        assert p.sum() == pytest.approx(radius, rel=1e-5)
        assert p.min() >= 0
        assert p.max() <= radius


@pytest.mark.parametrize("radius", [1.0, 0.8])
@projections.ports("ProjectionsTest.test_projection_simplex_edge_case")
def test_the_simplex_at_the_edge(radius):
    for far in (-1e300, -1e18):
        np.testing.assert_allclose(gs.project_simplex([0.0, 0.0, far], radius), [radius / 2, radius / 2, 0])
    with pytest.raises(ValueError, match="finite"):  # theirs takes −∞ as a place that stays empty
        gs.project_simplex([0.0, 0.0, -np.inf], radius)


@projections.ports("ProjectionsTest.test_projection_simplex_jacobian")
def test_the_slope_of_the_projection_onto_the_simplex():
    """On a support S the projection is linear: its Jacobian is diag(1_S) − 1_S 1_Sᵀ / |S|."""
    random = np.random.RandomState(0)
    v, direction = random.rand(5), random.randn(5)
    inside = (gs.project_simplex(v) > 0).astype(float)
    jacobian = np.diag(inside) - np.outer(inside, inside) / inside.sum()
    step = 1e-6
    ahead, behind = gs.project_simplex(v + step * direction), gs.project_simplex(v - step * direction)
    np.testing.assert_allclose((ahead - behind) / (2 * step), jacobian @ direction, atol=1e-8)


@pytest.mark.parametrize("norm", BALLS)
@pytest.mark.parametrize("data", VECTORS)
@projections.ports("ProjectionsTest.test_projection_ball", "ProjectionsTest.test_projection_l2_ball_grad_at_zero")
@projections.ports("ProjectionsTest.test_projection_l1_ball_grad_at_zero")
def test_balls(norm, data):
    ball, size = BALLS[norm]
    v = VECTORS[data]
    for radius in (2 * size(v), size(v)):
        np.testing.assert_allclose(ball(radius).prox(v, 1.0), v, rtol=1e-12)
    assert size(ball(size(v) / 2).prox(v, 1.0)) == pytest.approx(size(v) / 2)
    for tiny in (0.0, 1e-300, 1e-8):  # inside the ball it is the identity, at zero too
        np.testing.assert_array_equal(ball(1.0).prox(np.full_like(v, tiny), 1.0), np.full_like(v, tiny))


LOGITS = np.array([[10.0, 1.0, -2.0], [1.0, 4.0, 0.2]])


@classification.ports("SoftmaxCrossEntropyTest.test_scalar", "SoftmaxCrossEntropyTest.test_batched")
@classification.ports("SoftmaxCrossEntropyTest.test_gradient", "SoftmaxCrossEntropyWithIntegerLabelsTest.test_gradient")
@classification.ports(
    "SoftmaxCrossEntropyWithIntegerLabelsTest.test_consistent_with_softmax_cross_entropy_scalar",
    "SoftmaxCrossEntropyWithIntegerLabelsTest.test_consistent_with_softmax_cross_entropy_batched",
)
def test_cross_entropy():
    classes = np.array([1, 0])
    expected = -np.log((np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True))[[0, 1], classes])
    loss = gs.Multinomial()
    np.testing.assert_allclose(loss.value(LOGITS, classes), expected)
    assert loss.value(LOGITS[0], classes[0]) == pytest.approx(9.00013, abs=1e-4)
    for i, k in np.ndindex(2, 3):
        step = np.zeros((2, 3))
        step[i, k] = 1e-6
        difference = (loss.value(LOGITS + step, classes) - loss.value(LOGITS - step, classes))[i] / 2e-6
        assert loss.slope(LOGITS, classes)[i, k] == pytest.approx(difference, abs=1e-8)


@pytest.mark.parametrize("large", [1e9, -1e9])
@pytest.mark.parametrize("small", [1e-9, -1e-9])
@classification.ports("SigmoidCrossEntropyTest.test_sigmoid_cross_entropy")
def test_logistic_loss_at_extreme_scores(large, small):
    loss = gs.Logistic()
    for y in (1, -1):
        assert loss.value(large, y) == pytest.approx(max(-y * large, 0), rel=1e-12, abs=1e-300)
        assert loss.value(small, y) == pytest.approx(np.log(2), rel=1e-8)
        assert loss.value(0.0, y) == pytest.approx(np.log(2), rel=1e-15)


@classification.ports("HingeTest.test_binary", "HingeTest.test_batched_binary")
@classification.ports("HingeTest.test_multi_class", "HingeTest.test_batched_multi_class")
def test_hinges():
    z, y = np.array([10.0, 20.0, 0.5]), np.array([1, -1, 1])
    np.testing.assert_allclose(gs.Hinge().value(z, y), np.maximum(1 - z * y, 0))
    assert gs.Hinge().value(10.0, 1) == 0
    scores, classes = np.array([[10.0, 3.0], [11.0, -2.0], [0.2, 0.1]]), np.array([1, 0, 0])
    other = scores + 1.0
    other[[0, 1, 2], classes] -= 1.0
    expected = other.max(axis=1) - scores[[0, 1, 2], classes]
    np.testing.assert_allclose(gs.MulticlassHinge().value(scores, classes), expected)


@regression.ports("SquaredErrorTest.test_scalar", "SquaredErrorTest.test_batched")
@regression.ports("L2LossTest.test_scalar", "L2LossTest.test_batched")
def test_squared_loss():
    z, y = np.array([-2.0, -1.0, 0.5, 1.0]), np.array([-1.5, 0.0, -1.0, 1.0])
    np.testing.assert_allclose(2 * gs.Squared().value(z, y), (z - y) ** 2)
    assert gs.Squared().value(-2.0, -1.5) == 0.125


@regression.ports("HuberLossTest.test_scalar", "HuberLossTest.test_batched")
def test_huber_loss():
    z, y = np.array([-2.0, 0.5, 0.0, 0.5, 2.0, 4.0, 132.0]), np.array([0.0, -0.5, 0.0, 1.0, 1.0, 2.0, 0.3])
    np.testing.assert_allclose(gs.Huber(1.0).value(z, y), [1.5, 0.5, 0.0, 0.125, 0.5, 1.5, 131.2])
    assert gs.Huber(1.0).value(-2.0, 0.0) == 1.5


@pytest.mark.parametrize("ledger", [projections, classification, regression], ids=lambda ledger: ledger.upstream)
def test_the_ledger_is_complete(ledger):
    ledger.check()
