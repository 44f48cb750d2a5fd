import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
import laws
from catalogue import (
    GROUPS,
    LABELS,
    NAMES,
    NORMS,
    ONE_A_FEATURE,
    ONE_A_GROUP,
    PENALTIES,
    SETS,
    by_name,
    largest_shape,
    over,
)
from draws import cases, tame, values

WITH_DUAL = [entry for entry in PENALTIES if entry.has_dual]
WITHOUT_DUAL = [entry for entry in PENALTIES if not entry.has_dual]
UNDER_DUAL = [entry for entry in WITH_DUAL if not entry.penalty.is_set and entry.name != "none"]
THRESHOLDS = [
    entry
    for entry in PENALTIES
    # no threshold in ‖w‖² and the KL divergence; a box keeps −0.0 where it is inside
    if type(entry.penalty).__name__ not in {"NoPenalty", "L2Squared", "KL", "Box"}
    and entry.name != "elastic net, ρ = 0"
]
many = settings(max_examples=20)  # for each of some fifty entries


@over(PENALTIES)
@many
@given(data=st.data())
def test_value_is_the_twins(entry, data):
    laws.check_value_twin(entry, *data.draw(cases(entry)))


@over(PENALTIES)
@settings(max_examples=60)
@given(data=st.data())
def test_prox_is_the_twins(entry, data):
    laws.check_prox_twin(entry, *data.draw(cases(entry)))


@over(WITH_DUAL)
@many
@given(data=st.data())
def test_dual_norm_is_the_twins(entry, data):
    laws.check_dual_norm_twin(entry, data.draw(cases(entry))[0])


@over(PENALTIES)
@many
@given(data=st.data())
def test_value_of_prox_is_finite(entry, data):
    laws.check_value_of_prox_is_finite(entry, *data.draw(cases(entry)))


@over(PENALTIES)
@many
@given(data=st.data())
def test_prox_meets_the_optimality_condition(entry, data):
    laws.check_optimal(entry, *data.draw(cases(entry, tame)))


@over(PENALTIES)
@many
@given(data=st.data())
def test_prox_is_the_minimiser(entry, data):
    v, step = data.draw(cases(entry))
    laws.check_minimiser(entry, v, step, data.draw(values(v.shape)))


@over(PENALTIES)
@many
@given(data=st.data())
def test_prox_is_firmly_non_expansive(entry, data):
    v, step = data.draw(cases(entry))
    laws.check_firmly_non_expansive(entry, v, data.draw(values(v.shape)), step)


@over(PENALTIES)
@many
@given(data=st.data())
def test_step_zero_is_the_identity_or_the_projection(entry, data):
    laws.check_step_zero(entry, data.draw(cases(entry))[0])


@over([entry for entry in PENALTIES if entry.adds_up])
@many
@given(data=st.data())
def test_two_steps_are_one(entry, data):
    v, first = data.draw(cases(entry))
    laws.check_steps_add_up(entry, v, first, first * data.draw(st.sampled_from([0.0, 0.3, 1.0, 4.0])))


@over([entry for entry in PENALTIES if entry.adds_up is False])
def test_two_steps_are_not_one(entry):
    # no lazy sum of steps for these: everyday inputs must show it
    rng = np.random.default_rng(0)
    apart = 0.0
    for _ in range(20):
        two, one = laws.two_steps_against_one(entry, 3 * rng.normal(size=largest_shape(entry)), 0.3, 0.4)
        apart = max(apart, np.abs(two - one).max())
    assert apart > 1e-3


@given(v=tame((6,)), first=st.floats(0, 5), second=st.floats(0, 5))
def test_l2_squared_steps_multiply(v, first, second):
    prox = gs.L2Squared().prox
    assert_allclose(prox(prox(v, first), second), prox(v, (1 + first) * (1 + second) - 1), rtol=1e-14, atol=1e-300)


@over([entry for entry in NORMS if entry.name != "elastic net, ρ = 1"])
@many
@given(data=st.data())
def test_the_rest_lies_in_the_dual_ball(entry, data):
    laws.check_dual_ball_holds_the_rest(entry, *data.draw(cases(entry)))


@over(NORMS)
@many
@given(data=st.data())
def test_holder(entry, data):
    u, _ = data.draw(cases(entry))
    laws.check_holder(entry, u, data.draw(values(u.shape)))


@over(NORMS)
@many
@given(data=st.data())
def test_dual_norm_is_reached(entry, data):
    laws.check_dual_norm_is_reached(entry, data.draw(cases(entry, tame))[0])


@over(UNDER_DUAL)
@many
@given(data=st.data())
def test_prox_is_zero_from_the_dual_norm_on(entry, data):
    laws.check_zero_iff_under_dual_norm(entry, data.draw(cases(entry, tame))[0])


@over(THRESHOLDS)
@many
@given(data=st.data())
def test_under_the_threshold_is_exactly_zero(entry, data):
    v, step = data.draw(cases(entry, tame))
    laws.check_exact_zeros(entry, v + 0.0, step)


@over(NORMS)
@many
@given(data=st.data())
def test_prox_of_a_norm_scales(entry, data):
    v, step = data.draw(cases(entry, tame))
    laws.check_scaling(entry, v, step, data.draw(st.sampled_from([-900, -500, -1, 500, 900])))


@over(SETS)
@many
@given(data=st.data())
def test_projection_is_feasible(entry, data):
    laws.check_feasible(entry, data.draw(cases(entry))[0])


@over(SETS)
@many
@given(data=st.data())
def test_projection_is_idempotent(entry, data):
    laws.check_idempotent(entry, data.draw(cases(entry))[0])


@over(SETS)
@many
@given(data=st.data())
def test_projection_is_the_nearest_point(entry, data):
    v, _ = data.draw(cases(entry))
    laws.check_projection_is_nearest(entry, v, data.draw(values(v.shape)))


@over(SETS)
@many
@given(data=st.data())
def test_inside_is_unchanged(entry, data):
    laws.check_inside_is_unchanged(entry, data.draw(cases(entry))[0])


@over(SETS)
def test_sets_take_any_step(entry):
    v = np.random.default_rng(1).normal(size=largest_shape(entry)) * 3
    assert_array_equal(entry.penalty.prox(v, 0), entry.penalty.prox(v, 1e9))


@over(SETS)
def test_outside_has_infinite_value(entry):
    assert entry.penalty.value(np.full(largest_shape(entry), -1e6)) == math.inf


@over(WITHOUT_DUAL)
def test_no_dual_norm_says_so(entry):
    with pytest.raises(TypeError, match="has no dual norm"):
        entry.penalty.dual_norm(np.ones(largest_shape(entry)))


# Equivalences

matrices = st.sampled_from([(6,), (6, 1), (6, 3)]).flatmap(values)
steps = st.one_of(st.sampled_from([0.0, 0.5, 1.0, 1e3]), st.floats(0, 10))


def assert_same_penalty(one, other, v, step):
    unit = np.abs(v).max(initial=0.0)
    laws.assert_near(one.prox(v, step), other.prox(v, step), unit, 1e-13)
    assert one.value(v) == pytest.approx(other.value(v), rel=1e-12, abs=1e-300)
    assert one.dual_norm(v) == pytest.approx(other.dual_norm(v), rel=1e-12, abs=1e-300)


RHO = 0.3
SAME = {
    "elastic net of ρ = 1 is l1": (gs.ElasticNet(1), gs.L1()),
    "elastic net of ρ = 0 is l2 squared": (gs.ElasticNet(0), gs.L2Squared()),
    "weighted elastic net of ρ = 1 is weighted l1": (gs.ElasticNet(1, ONE_A_FEATURE), gs.L1(ONE_A_FEATURE)),
    "berhu with a huge γ is l1": (gs.Berhu(1e200), gs.L1()),
    "sparse group of ρ = 0 is group l2": (gs.SparseGroupL2(0, GROUPS), gs.GroupL2(GROUPS)),
    "sparse group of ρ = 1 is l1": (gs.SparseGroupL2(1, GROUPS), gs.L1()),
    "sparse group rows of ρ = 0 are group l2 rows": (gs.SparseGroupL2(0.0), gs.GroupL2()),
    "labels are lists, l2": (gs.GroupL2(LABELS, ONE_A_GROUP), gs.GroupL2(GROUPS, ONE_A_GROUP)),
    "labels are lists, linf": (gs.GroupLInf(LABELS, ONE_A_GROUP), gs.GroupLInf(GROUPS, ONE_A_GROUP)),
    "labels are lists, sparse": (gs.SparseGroupL2(RHO, np.array(LABELS)), gs.SparseGroupL2(RHO, GROUPS)),
    "names are lists": (gs.GroupL2(NAMES), gs.GroupL2([np.array(group) for group in GROUPS])),
    "a single group is the norm, l2": (gs.GroupL2([range(6)]), gs.L2()),
    "a single group is the norm, linf": (gs.GroupLInf([range(6)]), gs.LInf()),
    "groups of one are rows, l2": (gs.GroupL2([[j] for j in range(6)]), gs.GroupL2()),
    "groups of one are rows, linf": (gs.GroupLInf([[j] for j in range(6)]), gs.GroupLInf()),
    "weights of one are no weights, l1": (gs.L1(np.ones(6)), gs.L1()),
    "weights of one are no weights, groups": (gs.GroupLInf(GROUPS, [1, 1, 1]), gs.GroupLInf(GROUPS)),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
@given(v=matrices, step=steps)
def test_same_penalty(one, other, v, step):
    assert_same_penalty(one, other, v, step)


@pytest.mark.parametrize("norm", [gs.GroupL2(), gs.GroupLInf(), gs.SparseGroupL2()], ids=repr)
@given(v=values((7,)), step=steps)
def test_rows_of_one_number_are_l1(norm, v, step):
    assert_same_penalty(norm, gs.L1(), v, step)


@given(v=tame((6,)), step=st.floats(0, 10), ratio=st.floats(0, 1))
def test_elastic_net_is_l1_then_scaling(v, step, ratio):
    expected = gs.L1().prox(v, step * ratio) / (1 + step * (1 - ratio))
    assert_allclose(gs.ElasticNet(ratio).prox(v, step), expected, rtol=1e-14)


@given(v=tame((6, 2)), step=st.floats(0, 10), ratio=st.floats(0, 1))
def test_sparse_group_is_l1_then_group(v, step, ratio):
    expected = gs.GroupL2(GROUPS).prox(gs.L1().prox(v, step * ratio), step * (1 - ratio))
    laws.assert_near(gs.SparseGroupL2(ratio, GROUPS).prox(v, step), expected, np.abs(v).max(), 1e-13)


@given(v=matrices)
def test_balls_of_rows_of_one_number_are_the_l1_ball(v):
    column, expected = v.reshape(-1, 1), gs.L1Ball(2.0).prox(v.ravel())
    laws.assert_near(gs.GroupL2Ball(2.0).prox(column).ravel(), expected, 2.0, 1e-13)
    unit = max(2.0, np.abs(v).max())
    laws.assert_near(gs.GroupLInfBall(2.0).prox(v.ravel()), expected, unit, 1e-13)
    laws.assert_near(gs.L1Ball(2.0, np.ones(v.size)).prox(v.ravel()), expected, unit, 1e-13)


@pytest.mark.parametrize(
    ("lists", "labels"),
    [
        (gs.GroupL2Ball(2.0, GROUPS), gs.GroupL2Ball(2.0, LABELS)),
        (gs.GroupLInfBall(2.0, GROUPS), gs.GroupLInfBall(2.0, LABELS)),
    ],
    ids=["l2", "linf"],
)
@given(v=matrices)
def test_balls_of_labels_are_balls_of_lists(lists, labels, v):
    assert_array_equal(lists.prox(v), labels.prox(v))


REORDERED = [4, 2, 5, 0, 1, 3]  # feature i of the new order is feature REORDERED[i] of the old


def reorder(penalty):
    """Return the same penalty over the features in their new order."""
    settings = {name: getattr(penalty, name) for name in penalty.__dataclass_fields__}
    if settings.get("groups") is not None:
        settings["groups"] = [[REORDERED.index(j) for j in group] for group in settings["groups"]]
    for name in ("weights", "low", "high", "prior"):
        if np.size(settings.get(name)) == 6:
            settings[name] = np.asarray(settings[name])[REORDERED]
    return type(penalty)(**settings)


@over([entry for entry in PENALTIES if (6,) in entry.shapes or entry.shapes[0] == (0,)])
@many
@given(data=st.data())
def test_order_of_features_does_not_matter(entry, data):
    v = data.draw(values((6,)))
    moved = reorder(entry.penalty)
    laws.assert_near(moved.prox(v[REORDERED], 0.5), entry.penalty.prox(v, 0.5)[REORDERED], entry.unit(v), 1e-12)
    assert moved.value(v[REORDERED]) == pytest.approx(entry.penalty.value(v), rel=1e-12)


# Moreau, against the projections by name


@given(v=st.sampled_from([(1,), (7,), (40,)]).flatmap(values), step=steps)
def test_moreau_against_projections(v, step):
    unit = np.abs(v).max()
    laws.assert_near(v - gs.LInf().prox(v, step), gs.project_l1_ball(v, step), unit, 1e-13)
    laws.assert_near(v - gs.L2().prox(v, step), gs.project_l2_ball(v, step), unit, 1e-13)
    laws.assert_near(v - gs.L1().prox(v, step), gs.project_box(v, -step, step), unit, 1e-13)


@given(w=st.sampled_from([(1, 3), (4, 3), (9, 2), (6, 33)]).flatmap(values), step=steps)
def test_moreau_row_by_row(w, step):
    unit = np.abs(w).max()
    laws.assert_near(w - gs.GroupLInf().prox(w, step), gs.project_l1_ball(w, step), unit, 1e-13)
    laws.assert_near(w - gs.GroupL2().prox(w, step), gs.project_l2_ball(w, step), unit, 1e-13)


# Corners


@over(
    [by_name(name) for name in ("l1", "berhu", "elastic net", "elastic net, ρ = 1", "elastic net, ρ = 0", "l2 squared")]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_huge_step_leaves_no_nan(entry, dtype):
    # 1e200 is beyond float32, and 1e200 · 1e200 beyond float64
    v = np.array([1.0, -2.0, 0.0], dtype)
    for penalty in (entry.penalty, type(entry.penalty)(**{**vars(entry.penalty), "weights": [1e200, 1, 1e200]})):
        assert_allclose(penalty.prox(v, 1e200), 0, atol=1e-30)


def test_berhu_of_a_gamma_beyond_float32():
    v = np.array([1.0, -2.0], np.float32)
    assert_array_equal(gs.Berhu(1e-60).prox(v, 0), v)
    assert_array_equal(gs.Berhu(1e60).prox(v, 0.5), [0.5, -1.5])


def test_kl_keeps_the_simplex_where_v_is_huge():
    for size in (1e8, 1e17, 1e150, -1e150):
        assert_allclose(gs.KL().prox([size, size, size]), 1 / 3, rtol=1e-12)


def test_kl_of_a_small_step_is_the_projection():
    v = np.array([0.9, 0.4, -3.0, 0.35])
    for step in (1e-12, 1e-100, 1e-300):
        assert_allclose(gs.KL().prox(v, step), gs.project_simplex(v), atol=1e-10)


def test_kl_of_a_large_step_is_the_prior():
    prior = np.array([0.5, 0.25, 0.25, 0.0])
    assert_allclose(gs.KL(prior).prox([3.0, -1.0, 0.0, 9.0], 1e12), prior, atol=1e-10)


def test_kl_value():
    prior = [0.5, 0.5, 0.0]
    assert gs.KL(prior).value([0.25, 0.75, 0.0]) == pytest.approx(0.25 * math.log(0.5) + 0.75 * math.log(1.5))
    assert gs.KL(prior).value([0.25, 0.5, 0.25]) == math.inf
    assert gs.KL(prior).value([0.25, 0.5, 0.0]) == math.inf
    assert gs.KL([1e-320, 1 - 1e-320]).value([0.5, 0.5]) < 1000


@over(SETS)
def test_value_of_the_hugest_numbers(entry):
    # sums and differences overflow here; the answer is ∞ (or 0 for the orthant), without a warning
    w = np.full(largest_shape(entry), 1.7e308)
    assert entry.penalty.value(w) == (0 if entry.name == "orthant" else math.inf)
    assert entry.penalty.value(-w) == math.inf


def test_a_wide_box_holds_huge_numbers():
    assert gs.Box(-1.7e308, 1.7e308).value([1.6e308]) == 0
    v = np.array([1.0, -2.0], np.float32)
    assert_array_equal(gs.Box(-1e300, 1e300).prox(v), v)


def test_sets_say_that_they_are():
    assert {type(entry.penalty).__name__ for entry in SETS} == {
        "Simplex",
        "L1Ball",
        "L2Ball",
        "Box",
        "GroupL2Ball",
        "GroupLInfBall",
    }
