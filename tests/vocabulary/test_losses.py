import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
import laws
import reference
from catalogue import LOSSES, SCALAR_LOSSES, over

margins = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 0.1, -0.1, 5e-324, 700.0, -700.0, 1e8, -1e8]),
    st.floats(-30, 30),
    st.floats(-1e8, 1e8),
)
near_margins = st.one_of(st.sampled_from([0.0, 1.0, -1.0]), st.floats(-30, 30))


@st.composite
def examples(draw, entry, elements=margins, n=None):
    """Margins and valid targets of a few examples."""
    n = draw(st.integers(1, 6)) if n is None else n
    y = draw(st.lists(entry.targets, min_size=n, max_size=n))
    return draw(arrays(np.float64, entry.shape(n), elements=elements)), entry.stack(y)


@over(LOSSES)
@given(data=st.data())
def test_loss_is_the_twins(entry, data):
    laws.check_loss_twin(entry, *data.draw(examples(entry)))


@over(LOSSES)
@given(data=st.data())
def test_slope_is_the_derivative(entry, data):
    laws.check_slope_against_differences(entry, *data.draw(examples(entry, near_margins, n=1)))


@over(LOSSES)
@given(data=st.data())
def test_loss_is_convex_and_slope_a_subgradient(entry, data):
    z, y = data.draw(examples(entry))
    laws.check_subgradient(entry, z, data.draw(arrays(np.float64, z.shape, elements=margins)), y)
    # around the kinks, where both sides count
    laws.check_subgradient(entry, z, z + data.draw(arrays(np.float64, z.shape, elements=near_margins)), y)


@over(LOSSES)
@given(data=st.data())
def test_constants_hold(entry, data):
    z, y = data.draw(examples(entry))
    laws.check_constants(entry, z, data.draw(arrays(np.float64, z.shape, elements=margins)), y)


@over([entry for entry in LOSSES if entry.loss.lipschitz is not None or entry.loss.smoothness is not None])
def test_constants_are_nearly_reached(entry):
    rng = np.random.default_rng(0)
    n, k = 4000, max(entry.outputs, 1)
    targets = {"binary": [1.0], "regression": [0.0], "multiclass": [0], "multitask": [[1.0] * k]}[entry.loss.kind]
    y = entry.stack(targets * n)
    far = rng.choice([-50.0, 50.0], size=entry.shape(n))
    # the steepest change is at the crossing of two outputs, or where the margin is 0 (± ε for that loss)
    near = rng.uniform(-1, 1, size=entry.shape(n))
    move = 1e-3 * np.sign(near)
    if entry.loss.kind == "multiclass":
        near[:, 2], move[:, 2] = -50, 0
    slope, _, _ = laws.change(entry, far, near, y)
    _, bend, apart = laws.change(entry, near, near + move, y)
    if entry.loss.lipschitz is not None:
        assert slope.max() >= 0.99 * entry.loss.lipschitz
    if entry.loss.smoothness is not None and entry.tight:
        assert np.max(bend / apart) >= 0.98 * entry.loss.smoothness


def test_no_constant_where_there_is_none():
    with_log_link = {type(entry.loss).__name__ for entry in LOSSES if entry.least is not None}
    steep = {"SquaredHinge", "Exponential", "Squared"} | with_log_link
    bent = {"Hinge", "EpsilonInsensitive", "Quantile", "MulticlassHinge", "Exponential"} | with_log_link
    for entry in LOSSES:
        loss = getattr(entry.loss, "loss", entry.loss)
        assert (entry.loss.lipschitz is None) == (type(loss).__name__ in steep)
        assert (entry.loss.smoothness is None) == (type(loss).__name__ in bent)


@over(LOSSES)
@pytest.mark.parametrize("size", [1e8, -1e8, 1e15, -1e15])
def test_finite_far_out(entry, size):
    row = {"binary": [1.0, -1.0], "multiclass": [0, 2], "multitask": [[1.0] * 3, [1.0] * 3]}.get(
        entry.loss.kind, [entry.least or 0, 3]
    )
    z, y = np.full(entry.shape(2), size), entry.stack(row)
    if entry.outputs:
        z[:, 1] = -size
    for numbers in (entry.loss.value(z, y), entry.loss.slope(z, y), entry.loss.link(z)):
        assert np.all(np.isfinite(numbers))


@over(LOSSES)
def test_empty(entry):
    z, y = np.zeros(entry.shape(0)), entry.stack([])
    y = y.reshape(entry.shape(0)) if entry.loss.kind == "multitask" else y
    assert entry.loss.value(z, y).shape == (0,)
    assert entry.loss.slope(z, y).shape == z.shape
    assert entry.loss.link(z).shape == z.shape


def test_known_numbers():
    assert gs.Logistic().value(0.0, 1) == pytest.approx(np.log(2))
    # e^{−40}: 1 + e^{−40} would round it off
    assert gs.Logistic().value(40.0, 1) == pytest.approx(np.exp(-40.0), rel=1e-14)
    assert gs.Logistic().slope(40.0, 1) == pytest.approx(-np.exp(-40.0), rel=1e-14)
    assert gs.Multinomial().value([40.0, 0.0, 0.0], 0) == pytest.approx(2 * np.exp(-40.0), rel=1e-14)
    assert_allclose(gs.Multinomial().slope([40.0, 0.0, 0.0], 0), np.exp(-40.0) * np.array([-2, 1, 1]), rtol=1e-14)
    assert gs.Hinge().slope(1.0, 1) == 0
    assert gs.Huber(delta=2.0).value(5.0, 0.0) == 8.0
    assert gs.Quantile(q=0.9).value(0.0, 1.0) == pytest.approx(0.9)


@given(z=arrays(np.float64, (4, 3), elements=margins))
def test_probabilities(z):
    p = gs.Multinomial().link(z)
    assert np.all((p >= 0) & (p <= 1))
    assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    assert_array_equal(p[np.arange(4), np.argmax(z, axis=1)], p.max(axis=1))
    for loss in (gs.Logistic(), gs.Exponential()):
        assert_allclose(loss.link(z) + loss.link(-z), 1, rtol=1e-14)
        assert np.all((loss.link(z) > 0.5) == (z > 1e-16))


@over(LOSSES)
def test_probabilistic_says_what_the_link_is(entry):
    z = np.linspace(-3, 3, 12).reshape(4, 3) if entry.outputs else np.linspace(-3, 3, 12)
    link = entry.loss.link(z)
    assert entry.loss.probabilistic == bool(np.all((link > 0) & (link < 1)))


@given(z=arrays(np.float64, 5, elements=margins), y=st.lists(st.integers(0, 1), min_size=5, max_size=5))
def test_two_classes_are_logistic(z, y):
    rows, signs = np.stack([np.zeros(5), z], axis=1), 2.0 * np.array(y) - 1
    multinomial, logistic = gs.Multinomial(), gs.Logistic()
    assert_allclose(multinomial.value(rows, y), logistic.value(z, signs), rtol=1e-13, atol=1e-300)
    assert_allclose(multinomial.slope(rows, y)[:, 1], logistic.slope(z, signs), rtol=1e-13, atol=1e-300)
    assert_allclose(multinomial.link(rows)[:, 1], logistic.link(z), rtol=1e-13, atol=1e-300)


@given(z=arrays(np.float64, 5, elements=margins), y=st.lists(st.integers(0, 1), min_size=5, max_size=5))
def test_two_classes_are_hinge(z, y):
    rows, signs = np.stack([np.zeros(5), z], axis=1), 2.0 * np.array(y) - 1
    assert_allclose(gs.MulticlassHinge().value(rows, y), gs.Hinge().value(z, signs), rtol=1e-14)
    assert_array_equal(gs.MulticlassHinge().slope(rows, y)[:, 1], gs.Hinge().slope(z, signs))


@given(row=arrays(np.float64, 3, elements=near_margins), shift=near_margins, y=st.integers(0, 2))
def test_multiclass_sees_only_differences(row, shift, y):
    for loss in (gs.Multinomial(), gs.MulticlassHinge()):
        assert loss.value(row + shift, y) == pytest.approx(loss.value(row, y), rel=1e-10, abs=1e-10)
        assert_allclose(loss.slope(row, y).sum(), 0, atol=1e-15)


@over(SCALAR_LOSSES)
@given(data=st.data())
def test_multitask_is_the_sum(entry, data):
    z, y = data.draw(examples(entry, n=6))
    task = gs.Multitask(entry.loss)
    rows = [a.reshape(2, 3) for a in (z, y)]
    assert_allclose(task.value(*rows), entry.loss.value(z, y).reshape(2, 3).sum(axis=1))
    assert_array_equal(task.slope(*rows), entry.loss.slope(z, y).reshape(2, 3))
    assert_array_equal(task.link(rows[0]), entry.loss.link(z).reshape(2, 3))
    assert (task.lipschitz, task.smoothness) == (entry.loss.lipschitz, entry.loss.smoothness)


def test_multitask_takes_a_name_and_refuses_rows():
    assert gs.Multitask("hinge") == gs.Multitask(gs.Hinge())
    for inner in (gs.Multinomial(), gs.MulticlassHinge(), gs.Multitask("squared")):
        with pytest.raises(TypeError, match="scalar loss"):
            gs.Multitask(inner)


# Shapes and types


@over(SCALAR_LOSSES)
def test_scalars_and_broadcasting(entry):
    z = np.array([[0.5, -1.0, 3.0], [0.0, 2.0, -4.0]])
    for compute in (entry.loss.value, entry.loss.slope):
        assert np.ndim(compute(0.5, 1)) == 0
        full = compute(z, np.ones((2, 3)))
        assert_array_equal(compute(z, 1), full)
        assert_array_equal(compute(z, np.ones(3)), full)
        assert_array_equal(compute(0.5, np.ones(3)), np.full(3, full[0, 0]))
        assert_array_equal(compute(z[:, ::-1], np.ones((2, 1))), full[:, ::-1])
        assert_array_equal(compute(np.asfortranarray(z), 1), full)
        assert_array_equal(compute(z.tolist(), [[1] * 3] * 2), full)
        assert compute(z.astype(np.float32), 1).dtype == np.float64
    assert np.ndim(entry.loss.link(0.5)) == 0
    assert entry.loss.link(z).shape == z.shape


@pytest.mark.parametrize("loss", [gs.Multinomial(), gs.MulticlassHinge()], ids=repr)
def test_one_row_may_be_a_vector(loss):
    z = np.array([[0.5, -1.0, 3.0], [0.0, 2.0, -4.0]])
    assert np.ndim(loss.value(z[0], 2)) == 0
    assert loss.value(z[0], 2) == loss.value(z, [2, 1])[0]
    assert_array_equal(loss.slope(z[0], 2), loss.slope(z, [2, 1])[0])
    assert_array_equal(loss.link(z[0]), loss.link(z)[0])
    assert_array_equal(loss.value(z, np.array([2.0, 1.0])), loss.value(z, np.array([2, 1], np.uint8)))


MARGIN_LOSSES = [gs.Logistic(), gs.Hinge(), gs.SquaredHinge(), gs.Exponential()]


@pytest.mark.parametrize("loss", MARGIN_LOSSES, ids=repr)
@pytest.mark.parametrize(("y", "held"), [([0, 1], "0"), ([1, 2], "2"), ([1, -0.5], "-0.5"), ([True, False], "0")])
def test_binary_targets(loss, y, held):
    with pytest.raises(ValueError, match=rf"{type(loss).__name__} needs targets of -1 and \+1; y holds {held}"):
        loss.value([0.0, 0.0], y)


@pytest.mark.parametrize("loss", [gs.Multinomial(), gs.MulticlassHinge()], ids=repr)
@pytest.mark.parametrize("y", [3, -1, 0.5, 1e300])
def test_class_targets(loss, y):
    with pytest.raises(ValueError, match="needs classes 0 to 2; y holds"):
        loss.slope(np.zeros((2, 3)), [0, y])


def test_counts_are_not_negative():
    with pytest.raises(ValueError, match="Poisson needs targets of 0 or more; y holds -1"):
        gs.Poisson().value([0.0, 0.0], [2, -1])


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="z is a vector of length 3 and y is a vector of length 2"):
        gs.Squared().value(np.zeros(3), np.zeros(2))
    with pytest.raises(
        ValueError, match="z must be a number or a vector or a matrix; it is an array with 3 dimensions"
    ):
        gs.Squared().value(np.zeros((1, 1, 1)), 0)
    for loss in (gs.Multinomial(), gs.MulticlassHinge()):
        with pytest.raises(ValueError, match="z has 2 rows and y has 3 entries"):
            loss.value(np.zeros((2, 3)), [0, 1, 2])
        with pytest.raises(ValueError, match="at least 2 outputs per row; z is a 3 × 1 matrix"):
            loss.value(np.zeros((3, 1)), [0, 0, 0])
        with pytest.raises(ValueError, match="z must be a vector or a matrix; it is a single number"):
            loss.value(1.0, 0)


@over(LOSSES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite(entry, bad):
    y = entry.stack([[1.0] * 3 if entry.loss.kind == "multitask" else 1])
    z = np.zeros(entry.shape(1))
    z.flat[0] = bad
    for call in (entry.loss.value, entry.loss.slope):
        with pytest.raises(ValueError, match="z must be finite"):
            call(z, y)
    with pytest.raises(ValueError, match="z must be finite"):
        entry.loss.link(z)
    y = y.astype(float)
    y.flat[0] = bad
    with pytest.raises(ValueError, match="y must be finite"):
        entry.loss.value(np.zeros(entry.shape(1)), y)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gs.Huber(delta=0), "delta must be finite and > 0; 0 was given"),
        (lambda: gs.Huber(delta=np.inf), "delta must be finite"),
        (lambda: gs.EpsilonInsensitive(-1), "epsilon must be finite and ≥ 0; -1 was given"),
        (lambda: gs.LogEpsilonInsensitive(np.nan), "epsilon must be finite"),
        (lambda: gs.Quantile(0), "q must be finite and > 0 and < 1; 0 was given"),
        (lambda: gs.Quantile(1.0), "q must be finite"),
    ],
)
def test_settings_out_of_range(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("bad", ["1", None, True, [1.0], 1j])
@pytest.mark.parametrize("make", [gs.Huber, gs.EpsilonInsensitive, gs.LogEpsilonInsensitive, gs.Quantile])
def test_settings_that_are_no_numbers(make, bad):
    with pytest.raises(TypeError, match="must be a number"):
        make(bad)


def test_every_loss_has_a_twin():
    for entry in LOSSES:
        assert type(entry.loss).__name__ in reference.LOSS_VALUES
        assert type(entry.loss).__name__ in reference.LOSS_SLOPES
