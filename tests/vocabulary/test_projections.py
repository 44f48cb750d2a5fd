import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
import laws
import reference
from catalogue import ONE_A_FEATURE, PROJECTIONS, over
from draws import values

BY_ROWS = [entry for entry in PROJECTIONS if entry.by_rows]
WHOLE = [entry for entry in PROJECTIONS if not entry.by_rows]


@over(PROJECTIONS)
@given(data=st.data())
def test_projection_is_the_twins(entry, data):
    v = data.draw(st.one_of([values(shape) for shape in entry.shapes]))
    if entry.by_rows and v.ndim == 2:
        expected = np.stack([entry.twin(row, **entry.settings) for row in v])
    else:
        expected = entry.twin(v, **entry.settings)
    laws.assert_near(entry(v), expected, max(2.0, np.abs(v).max()), 1e-12)


@over(BY_ROWS)
@pytest.mark.parametrize("rows", [0, 1, 3, 4, 7])
def test_rows_are_projected_one_by_one(entry, rows):
    v = np.random.default_rng(rows).normal(size=(rows, 6)) * 3
    assert_array_equal(entry(v), np.reshape([entry(row) for row in v], v.shape))


@over([entry for entry in BY_ROWS if "weights" not in entry.name])
@pytest.mark.parametrize("width", range(1, 41))
def test_rows_of_every_width(entry, width):
    # around 32 entries the search changes; odd and even widths are padded differently
    v = np.random.default_rng(width).normal(size=(5, width)) * 3
    expected = np.stack([entry.twin(row, **entry.settings) for row in v])
    laws.assert_near(entry(v), expected, 3.0, 1e-13)


@pytest.mark.parametrize("width", [*range(1, 41), 100])
def test_weighted_rows_of_every_width(width):
    rng = np.random.default_rng(width)
    v, a = rng.normal(size=(4, width)) * 3, rng.choice([0.0, 0.5, 1.0, 2.0], size=width)
    expected = np.stack([reference.project_weighted_l1_ball(row, 1.5, a) for row in v])
    laws.assert_near(gs.project_l1_ball(v, 1.5, a), expected, 3.0, 1e-12)


@pytest.mark.parametrize("width", range(1, 41))
def test_group_rules_of_every_width(width):
    w = np.random.default_rng(width).normal(size=(9, width)) * 3
    penalty = gs.GroupLInf()
    laws.assert_near(penalty.prox(w, 0.7), reference.prox(penalty, w, 0.7), 3.0, 1e-13)
    laws.assert_near(gs.project_group_linf_ball(w, 4.0), reference.project_group_linf_ball(w, 4.0), 3.0, 1e-12)
    laws.assert_near(gs.project_group_l2_ball(w, 4.0), reference.project_group_l2_ball(w, 4.0), 3.0, 1e-12)


# Large inputs: the search looks at a sample first (from 8192 entries on), and adversaries try to mislead it.


def spike(n):
    v = np.full(n, 1e-9)
    v[n // 3] = 1e9
    return v


def hidden_from_the_sample(n):
    """All the weight sits where a strided sample does not look."""
    v = np.zeros(n)
    v[1::2] = np.random.default_rng(0).exponential(size=len(v[1::2]))
    return v


def seen_by_the_sample_only(n):
    v = np.full(n, 1e-3)
    v[:: max(n // 4096, 8)] = 5.0
    return v


INPUTS = {
    "normal": lambda n: np.random.default_rng(0).normal(size=n),
    "heavy": lambda n: np.random.default_rng(0).standard_cauchy(size=n),
    "geometric": lambda n: 2.0 ** -(np.arange(n) % 1000),
    "geometric, reversed": lambda n: 2.0 ** -(np.arange(n)[::-1] % 1000),
    "harmonic": lambda n: 1.0 / np.arange(1, n + 1),
    "one huge": spike,
    "all equal": lambda n: np.full(n, 0.3),
    "zeros": np.zeros,
    "rising": lambda n: np.linspace(-1, 1, n),
    "falling": lambda n: np.linspace(1, -1, n),
    "many ties": lambda n: np.random.default_rng(0).integers(-3, 4, size=n).astype(float),
    "hidden from the sample": hidden_from_the_sample,
    "seen by the sample only": seen_by_the_sample_only,
    "squares": lambda n: (np.arange(n) / n) ** 2,
    "exponents": lambda n: np.exp(-np.linspace(0, 700, n)),
}
SIZES = [31, 32, 33, 34, 1000, 8191, 8192, 8193, 70_000]


def assert_projects(v, radius, tolerance=1e-12):
    laws.assert_near(gs.project_simplex(v, radius), reference.project_simplex(v, radius), radius, tolerance)
    laws.assert_near(gs.project_l1_ball(v, radius), reference.project_l1_ball(v, radius), radius, tolerance)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("make", INPUTS.values(), ids=INPUTS)
def test_every_size(make, n):
    v = make(n)
    for radius in (1e-6, 1.0, 50.0, 0.5 * np.abs(v).sum() or 1.0):
        assert_projects(v, radius)


@pytest.mark.parametrize("make", INPUTS.values(), ids=INPUTS)
def test_a_million(make):
    v = make(1_000_000)
    assert_projects(v, 10.0, 1e-10)
    caps = np.abs(v) - np.abs(gs.project_l1_ball(v, 10.0))
    laws.assert_near(gs.LInf().prox(v, 10.0), np.copysign(caps, v), np.abs(v).max(), 1e-10)


@pytest.mark.parametrize("n", [33, 1000, 8192, 70_000])
@pytest.mark.parametrize("make", INPUTS.values(), ids=INPUTS)
def test_weighted_of_every_size(make, n):
    v, a = make(n), np.random.default_rng(1).choice([0.0, 0.1, 1.0, 30.0], size=n)
    for radius in (1e-3, 5.0):
        expected = reference.project_weighted_l1_ball(v, radius, a)
        laws.assert_near(gs.project_l1_ball(v, radius, a), expected, max(radius, np.abs(v).max()), 1e-10)


@given(v=st.sampled_from([(3,), (33,), (40,)]).flatmap(values), radius=st.sampled_from([1e-3, 1.0, 7.0]))
def test_l1_ball_is_the_simplex_of_sizes(v, radius):
    if np.abs(v).sum() > radius:
        assert_array_equal(gs.project_l1_ball(v, radius), np.copysign(gs.project_simplex(np.abs(v), radius), v))
    laws.assert_near(
        gs.project_l1_ball(v, radius, np.ones(v.size)), gs.project_l1_ball(v, radius), max(radius, np.abs(v).max())
    )


@given(v=values((40,)), radius=st.sampled_from([1e-300, 1e-3, 1.0, 1e150, 1e300, 1e308]))
def test_simplex_sums_to_the_radius(v, radius):
    p = gs.project_simplex(v, radius)
    assert np.all(p >= 0)
    assert_allclose(np.sum(p / radius), 1, rtol=1e-12)


@over([entry for entry in PROJECTIONS if entry.shapes[0] != (6,) and "box" not in entry.name])
@pytest.mark.parametrize("power", [-900, -400, 400, 900])
def test_projection_scales(entry, power):
    # a power of two changes no digit: only an overflow or underflow inside would show
    v, factor = np.random.default_rng(3).normal(size=(5, 4)) * 3, 2.0**power
    scaled = entry.function(v * factor, radius=2.0 * factor) / factor
    laws.assert_near(scaled, entry(v), 2.0, 1e-14)
    weighted = gs.project_l1_ball(v[0] * factor, 2.0 * factor, [1.0, 2.0, 0.0, 0.5]) / factor
    laws.assert_near(weighted, gs.project_l1_ball(v[0], 2.0, [1.0, 2.0, 0.0, 0.5]), 2.0, 1e-14)


@over([entry for entry in PROJECTIONS if "box" not in entry.name and "weights" not in entry.name])
def test_the_hugest_numbers(entry):
    # the norms overflow, the answer does not
    p = entry(np.full(entry.shapes[-1], 1e308))
    assert np.all(np.isfinite(p))
    assert np.any(p > 0)


@pytest.mark.parametrize("size", [1e8, 1e12, 1e16, 1e150])
@over([entry for entry in PROJECTIONS if "box" not in entry.name])
def test_far_outside_still_ends_inside(entry, size):
    rng = np.random.default_rng(2)
    for _ in range(10):
        p = entry(size * (1 + rng.uniform(size=entry.shapes[-1])))
        twin = entry.function(p, **entry.settings)
        laws.assert_near(twin, p, 2.0, 1e-9)


def test_weights_of_every_size():
    v = np.array([3.0, -2.0, 1.0, 0.5])
    for weights in ([1e150, 1.0, 1e-150, 0.0], [1e-200] * 4, [1e200] * 4):
        p = gs.project_l1_ball(v, 1.0, weights)
        assert np.sum(np.array(weights) * np.abs(p)) <= 1 + 1e-9
        assert np.all(np.abs(p) <= np.abs(v))


def test_box_bounds_broadcast():
    v = np.array([[-3.0, 0.5, 9.0], [1.0, -1.0, 2.0]])
    assert_array_equal(gs.project_box(v, [-1, 0, 1], [1, 1, 5]), np.clip(v, [-1, 0, 1], [1, 1, 5]))
    assert_array_equal(gs.project_box(v, -np.inf, [[0], [1]]), np.minimum(v, [[0], [1]]))
    assert_array_equal(gs.project_box(v, -np.inf, np.inf), v)


@over(WHOLE)
def test_a_vector_is_one_column(entry):
    v = np.random.default_rng(4).normal(size=6) * 3
    assert_array_equal(entry(v), entry(v.reshape(-1, 1)).ravel())


def test_empty():
    assert gs.project_l1_ball([]).shape == (0,)
    assert gs.project_l2_ball(np.zeros((3, 0))).shape == (3, 0)
    assert gs.project_simplex(np.zeros((0, 3))).shape == (0, 3)
    assert gs.project_simplex([], radius=0).shape == (0,)
    assert gs.project_group_l2_ball(np.zeros((0, 2))).shape == (0, 2)
    assert gs.project_group_linf_ball(np.zeros((2, 0))).shape == (2, 0)
    assert gs.project_l1_ball(np.zeros((2, 0)), 1.0, []).shape == (2, 0)
    for empty in ([], np.zeros((2, 0))):
        with pytest.raises(ValueError, match="The simplex of no entries is empty"):
            gs.project_simplex(empty)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gs.project_l1_ball([1.0], -1), "radius must be finite and ≥ 0; -1 was given"),
        (lambda: gs.project_simplex([1.0], np.inf), "radius must be finite"),
        (lambda: gs.project_l2_ball([1.0], np.nan), "radius must be finite"),
        (lambda: gs.project_group_l2_ball([[1.0]], -0.5), "radius must be finite"),
        (lambda: gs.project_group_linf_ball([[1.0]], -0.5), "radius must be finite"),
        (lambda: gs.project_l1_ball([1.0], 10**400), "radius must be finite"),
        (lambda: gs.project_l1_ball([1.0, 2.0], 1.0, [1.0]), "v is a vector of length 2, there are 1 weights"),
        (lambda: gs.project_l1_ball(np.ones((3, 2)), 1.0, [1.0] * 3), "v is a 3 × 2 matrix, there are 3 weights"),
        (lambda: gs.project_l1_ball([1.0], 1.0, [-1.0]), r"weights must be non-negative; weights\[0\] is -1"),
        (lambda: gs.project_l1_ball([1.0], 1.0, [np.nan]), "weights must be non-negative; weights.0. is nan"),
        (lambda: gs.project_l1_ball([1.0], 1.0, 2.0), "weights must be a vector; it is a single number"),
        (lambda: gs.project_box([1.0], 1, 0), "low must not be above high"),
        (lambda: gs.project_box([1.0, 2.0], [0, 1], [1, 0]), "low must not be above high"),
        (lambda: gs.project_box([1.0], np.nan, 0), "low and high must not be NaN"),
        (lambda: gs.project_box([1.0, 2.0], [0, 0, 0], 1), "low and high must fit v: v is a vector of length 2"),
        (lambda: gs.project_box([1.0, 2.0], [[0], [0]], 1), "low and high must fit v"),
        (lambda: gs.project_group_l2_ball(np.ones(3), 1.0, [[0, 1]]), "they cover 2 features, but there are 3"),
    ],
)
def test_bad_settings(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("radius", [None, "1", True, [1.0], 1j])
@over([entry for entry in PROJECTIONS if "box" not in entry.name])
def test_radius_is_a_number(entry, radius):
    with pytest.raises(TypeError, match="radius must be a number"):
        entry.function(np.ones(entry.shapes[0]), **{**entry.settings, "radius": radius})


def test_weights_leave_their_argument_alone():
    a = np.array(ONE_A_FEATURE)
    gs.project_l1_ball(np.ones((2, 6)), 0.5, a)
    assert_array_equal(a, ONE_A_FEATURE)
    assert a.flags.writeable
