"""What goes in and what comes out, for every function from an array to an array."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
from catalogue import MAPS, PENALTIES, largest_shape, mapping, over


def sample(entry, seed=0):
    """An everyday array for the entry: matrices where it takes them."""
    return np.random.default_rng(seed).normal(size=largest_shape(entry)) * 3


def same_bits(a, b):
    assert a.dtype == b.dtype
    assert_array_equal(a, b)


@over(MAPS)
def test_float32_stays_float32(entry):
    v = sample(entry).astype(np.float32)
    single, double = mapping(entry)(v), mapping(entry)(v.astype(np.float64))
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    assert_allclose(single, double, rtol=0, atol=1e-5 * np.abs(v).max())
    if hasattr(entry, "penalty") and entry.penalty.is_set:
        assert entry.penalty.value(single) == 0


@over([entry for entry in PENALTIES if not entry.penalty.is_set and entry.has_dual])
def test_float32_values(entry):
    v = np.abs(sample(entry)).astype(np.float32)
    for compute in (entry.penalty.value, entry.penalty.dual_norm):
        assert compute(v) == pytest.approx(compute(v.astype(np.float64)), rel=1e-6)


@over(MAPS)
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, bool, np.float16, np.longdouble, ">f8"])
def test_other_numbers_become_float64(entry, dtype):
    v = np.abs(sample(entry)).astype(dtype)
    same_bits(mapping(entry)(v), mapping(entry)(v.astype(np.float64)))


@over(MAPS)
def test_big_endian_float32(entry):
    v = sample(entry).astype(np.float32)
    same_bits(mapping(entry)(v.astype(">f4")), mapping(entry)(v))


@over(MAPS)
def test_lists_are_taken(entry):
    v = sample(entry)
    same_bits(mapping(entry)(v.tolist()), mapping(entry)(v))


@over(MAPS)
def test_any_memory_layout(entry):
    v = sample(entry)
    expected = mapping(entry)(v)
    spread = np.zeros(tuple(2 * n for n in v.shape))
    spread[tuple(slice(None, None, 2) for _ in v.shape)] = v
    unaligned = np.zeros(v.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(v.shape)
    unaligned[...] = v
    for given in (
        np.asfortranarray(v),
        spread[tuple(slice(None, None, 2) for _ in v.shape)],
        v[tuple(slice(None, None, -1) for _ in v.shape)].copy()[tuple(slice(None, None, -1) for _ in v.shape)],
        unaligned,
    ):
        before = given.copy()
        same_bits(mapping(entry)(given), expected)
        assert_array_equal(given, before)


@over(MAPS)
def test_input_is_not_touched(entry):
    v = sample(entry)
    before = v.copy()
    v.flags.writeable = False
    result = mapping(entry)(v)
    assert_array_equal(v, before)
    assert not np.shares_memory(result, v)
    assert result.flags.writeable


@over(MAPS)
def test_out_is_filled_and_returned(entry):
    v = sample(entry)
    expected, before = mapping(entry)(v), v.copy()
    out = np.full_like(v, 7.0)
    assert mapping(entry)(v, out=out) is out
    same_bits(out, expected)
    assert_array_equal(v, before)


@over(MAPS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_in_place(entry, dtype):
    v = sample(entry).astype(dtype)
    expected = mapping(entry)(v)
    assert mapping(entry)(v, out=v) is v
    same_bits(v, expected)


@over(MAPS)
def test_out_may_overlap(entry):
    v = sample(entry)
    expected = mapping(entry)(v)
    for there, here in ((slice(0, -1), slice(1, None)), (slice(1, None), slice(0, -1))):
        store = np.zeros(v.size + 1)
        given, out = store[there].reshape(v.shape), store[here].reshape(v.shape)
        given[...] = v
        mapping(entry)(given, out=out)
        assert_array_equal(out, expected)


@over(MAPS)
def test_out_of_any_layout(entry):
    v = sample(entry)
    expected = mapping(entry)(v)
    wide = np.zeros((*v.shape[:-1], 2 * v.shape[-1]))
    for out in (np.zeros_like(v, order="F"), wide[..., ::2], np.zeros_like(v)[::-1]):
        assert mapping(entry)(v, out=out) is out
        same_bits(out, expected)
    assert not np.any(wide[..., 1::2])


@over(MAPS)
def test_reversed_view_of_itself_as_out(entry):
    v = sample(entry)
    expected = mapping(entry)(v)
    mapping(entry)(v, out=v[::-1])
    assert_array_equal(v[::-1], expected)


@over(MAPS)
@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda v: np.ones((*v.shape[:-1], v.shape[-1] + 1)), ValueError, "out must be"),
        (lambda v: np.ones((1, *v.shape)), ValueError, "out must be"),
        (lambda v: np.ones(v.shape, np.float32), ValueError, "of float64; it is .* of float32"),
        (lambda v: np.ones(v.shape, np.int64), ValueError, "of float64; it is .* of int64"),
        (lambda v: np.broadcast_to(np.ones(1), v.shape), ValueError, "out must be writeable"),
        (lambda v: np.ones(v.shape).tolist(), TypeError, "out must be a NumPy array; list was given"),
    ],
    ids=["wider", "deeper", "float32", "integers", "read-only", "a list"],
)
def test_bad_out_is_left_alone(entry, change, error, words):
    v = sample(entry)
    out = change(v)
    with pytest.raises(error, match=words):
        mapping(entry)(v, out=out)
    assert np.all(np.asarray(out) == 1)


@over(MAPS)
def test_bad_input_leaves_out_alone(entry):
    v = sample(entry)
    out = np.ones_like(v)
    v.flat[0] = np.nan
    with pytest.raises(ValueError, match="must be finite"):
        mapping(entry)(v, out=out)
    assert np.all(out == 1)


BAD = {
    "nan": (np.array([1.0, np.nan]), ValueError, r"must be finite; \w\[1\] is nan"),
    "inf": (np.array([[1.0, 2.0], [-np.inf, 0.0]]), ValueError, r"must be finite; \w\[1, 0\] is -inf"),
    "float32 inf": (np.array([np.inf], np.float32), ValueError, "must be finite"),
    "a number": (3.0, ValueError, "must be a vector or a matrix; it is a single number"),
    "three dimensions": (np.zeros((2, 2, 2)), ValueError, "it is an array with 3 dimensions"),
    "ragged": ([[1.0], [1.0, 2.0]], ValueError, "must be a rectangular array of numbers"),
    "complex": (np.array([1j]), TypeError, "must hold real numbers; its dtype is complex128"),
    "objects": (np.array([1.0, None]), TypeError, "must hold real numbers; its dtype is object"),
    "strings": (["a", "b"], TypeError, "must hold real numbers; its dtype is <U1"),
    "dates": (np.array(["2020-01-01"], "datetime64[D]"), TypeError, "must hold real numbers"),
    "none": (None, TypeError, "must hold real numbers"),
    "sparse matrix": (scipy.sparse.csr_matrix(np.eye(2)), TypeError, r"is a sparse matrix; a dense array is needed"),
    "sparse array": (scipy.sparse.coo_array(np.eye(2)), TypeError, r"Pass \w\.toarray\(\)"),
    "masked": (np.ma.masked_array([1.0, 2.0], [True, False]), TypeError, "is a masked array"),
}


@over(MAPS)
@pytest.mark.parametrize("bad", BAD)
def test_bad_input(entry, bad):
    v, error, words = BAD[bad]
    with pytest.raises(error, match=words):
        mapping(entry)(v)


@over(PENALTIES)
@pytest.mark.parametrize("bad", BAD)
def test_bad_input_of_value_and_dual_norm(entry, bad):
    v, error, words = BAD[bad]
    for compute in (entry.penalty.value, entry.penalty.dual_norm) if entry.has_dual else (entry.penalty.value,):
        with pytest.raises(error, match=words):
            compute(v)


@over(PENALTIES)
@pytest.mark.parametrize("step", [-1, -1e-300, np.nan, np.inf])
def test_steps_out_of_range(entry, step):
    with pytest.raises(ValueError, match="step must be finite and ≥ 0"):
        entry.penalty.prox(sample(entry), step)


@over(PENALTIES)
@pytest.mark.parametrize("step", ["1", None, True, [1.0], np.ones(1), 1j])
def test_steps_that_are_no_numbers(entry, step):
    with pytest.raises(TypeError, match="step must be a number"):
        entry.penalty.prox(sample(entry), step)


@over(PENALTIES)
@pytest.mark.parametrize("step", [2, np.float32(2), np.int8(2), np.array(2.0)])
def test_steps_of_any_number_type(entry, step):
    assert_array_equal(entry.penalty.prox(sample(entry), step), entry.penalty.prox(sample(entry), 2.0))


@over([entry for entry in PENALTIES if entry.shapes[0] == (6,)])
def test_fixed_settings_refuse_other_lengths(entry):
    words = "one number per (feature|row|group)|cover every feature|low and high must fit|one number per entry"
    for call in (entry.penalty.prox, entry.penalty.value):
        with pytest.raises(ValueError, match=words):
            call(np.ones(7))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: gs.L1(weights=[1, -1]), ValueError, r"weights must be non-negative; weights\[1\] is -1"),
        (lambda: gs.L1(weights=1.0), ValueError, "weights must be a vector"),
        (lambda: gs.L2Squared(weights=[np.nan]), ValueError, "weights must be non-negative"),
        (lambda: gs.Berhu(weights=["a"]), TypeError, "weights must hold real numbers"),
        (lambda: gs.Berhu(gamma=0), ValueError, "gamma must be finite and > 0; 0 was given"),
        (lambda: gs.Berhu(gamma="1"), TypeError, "gamma must be a number"),
        (lambda: gs.ElasticNet(1.5), ValueError, "l1_ratio must be between 0 and 1; 1.5 was given"),
        (lambda: gs.ElasticNet(-0.1), ValueError, "l1_ratio must be finite and ≥ 0; -0.1 was given"),
        (lambda: gs.ElasticNet(True), TypeError, "l1_ratio must be a number"),
        (lambda: gs.SparseGroupL2(2), ValueError, "l1_ratio must be between 0 and 1"),
        (lambda: gs.GroupL2(weights=[[1.0]]), ValueError, "weights must be a vector"),
        (lambda: gs.GroupL2([[0], [1]], [1.0]), ValueError, "there are 1 weights and 2 groups"),
        (
            lambda: gs.GroupL2(weights=[1.0]).prox(np.ones((2, 2))),
            ValueError,
            "one number per row: there are 1 weights",
        ),
        (
            lambda: gs.L1([1.0]).prox(np.ones((2, 2))),
            ValueError,
            "there are 1 weights, and 2 features in a 2 × 2 matrix",
        ),
        (lambda: gs.KL(prior=[0.5, 0.6]), ValueError, "prior must sum to 1; it sums to 1.1"),
        (lambda: gs.KL(prior=[1.5, -0.5]), ValueError, "prior must be non-negative"),
        (lambda: gs.KL(prior=[]), ValueError, "prior must sum to 1"),
        (lambda: gs.KL(prior=[1.0]).value([0.5, 0.5]), ValueError, "it has 1 and w has 2"),
        (lambda: gs.KL().prox([]), ValueError, "The simplex of no entries is empty"),
        (lambda: gs.Simplex().prox([]), ValueError, "The simplex of no entries is empty"),
        (lambda: gs.L1Ball(-1), ValueError, "radius must be finite and ≥ 0"),
        (lambda: gs.Simplex(np.inf), ValueError, "radius must be finite"),
        (lambda: gs.L2Ball("1"), TypeError, "radius must be a number"),
        (lambda: gs.GroupL2Ball(-1), ValueError, "radius must be finite"),
        (lambda: gs.GroupLInfBall(None), TypeError, "radius must be a number"),
        (lambda: gs.GroupLInfBall(1.0, [[0], [0]]), ValueError, "must not overlap"),
        (lambda: gs.Box(1, 0), ValueError, "low must not be above high"),
        (lambda: gs.Box(np.nan, 0), ValueError, "low and high must not be NaN"),
        (lambda: gs.Box([[0]], 1), ValueError, "numbers or vectors"),
        (lambda: gs.Box([0, 0], 1).prox([1.0, 2.0, 3.0]), ValueError, "low and high must fit v"),
        (lambda: gs.Box([0, 0], 1).value([1.0, 2.0, 3.0]), ValueError, "low and high must fit"),
        (lambda: gs.Box("a", 1), TypeError, "low must (be|hold)"),
        (lambda: gs.Box(0, None), TypeError, "high must (be|hold)"),
        (lambda: gs.Box(1j, 2), TypeError, "low must (be|hold)"),
    ],
)
def test_bad_settings(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_settings_do_not_follow_the_users_arrays():
    a, low = np.ones(2), np.zeros(2)
    norm, box = gs.L1(weights=a), gs.Box(low, [1.0, 1.0])
    groups = [[0], [1]]
    grouped = gs.GroupL2(groups)
    a[:], low[:] = 5.0, 0.5
    groups[0].append(7)
    assert norm.value([1.0, 1.0]) == 2.0
    assert_array_equal(box.prox([-1.0, -1.0]), [0.0, 0.0])
    assert grouped == gs.GroupL2([[0], [1]])


def test_weights_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        gs.L1(weights=[1.0, 2.0]).weights[0] = 3.0
