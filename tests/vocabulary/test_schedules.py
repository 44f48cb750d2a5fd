import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import gossamer as gs
from gossamer.schedules import steps

EACH = [gs.Constant(0.5), gs.InverseSqrt(2.0), gs.InverseTime(0.25)]
over_each = pytest.mark.parametrize("schedule", EACH, ids=repr)


@over_each
def test_a_schedule_is_a_frozen_setting(schedule):
    name = "h" if isinstance(schedule, gs.InverseTime) else "c"
    with pytest.raises(AttributeError):
        setattr(schedule, name, 3.0)
    assert schedule == type(schedule)(getattr(schedule, name))
    assert schedule != type(schedule)(17.0)
    assert pickle.loads(pickle.dumps(schedule)) == copy.deepcopy(schedule) == schedule
    assert eval(repr(schedule), vars(gs) | {type(schedule).__name__: type(schedule)}) == schedule


@over_each
def test_whole_rounds_and_floats_are_the_same(schedule):
    t = np.arange(1, 50)
    assert_array_equal(schedule(t), schedule(t.astype(float)))


def test_formulas():
    t = np.arange(1, 1000)
    assert_array_equal(gs.Constant(0.5)(t), np.full(999, 0.5))
    assert_array_equal(gs.InverseSqrt(2.0)(t), 2.0 / np.sqrt(t))
    assert_array_equal(gs.InverseTime(0.25)(t), 1 / (0.25 * t))


@pytest.mark.parametrize("made", [gs.Constant, gs.InverseSqrt, gs.InverseTime])
@pytest.mark.parametrize("wrong", [0, -1.0, np.inf, np.nan])
def test_numbers_must_be_positive_and_finite(made, wrong):
    with pytest.raises(ValueError, match="finite and > 0"):
        made(wrong)


@pytest.mark.parametrize("made", [gs.Constant, gs.InverseSqrt, gs.InverseTime])
@pytest.mark.parametrize("wrong", ["0.1", None, [1.0], True])
def test_numbers_must_be_numbers(made, wrong):
    with pytest.raises(TypeError, match="must be a number"):
        made(wrong)


@over_each
def test_steps_of_consecutive_blocks_are_the_steps_of_all(schedule):
    parts = [steps(schedule, 1, 10), steps(schedule, 11, 1), steps(schedule, 12, 0), steps(schedule, 12, 30)]
    assert_array_equal(np.concatenate(parts), steps(schedule, 1, 41))


def test_a_function_may_answer_with_one_number_or_with_lists():
    assert_array_equal(steps(lambda t: 0.5, 3, 4), np.full(4, 0.5))
    assert_array_equal(steps(lambda t: [1.0 / x for x in t], 1, 3), [1.0, 1 / 2, 1 / 3])
    assert_array_equal(steps(lambda t: np.float32(0.5) / t, 1, 2), [0.5, 0.25])


def test_steps_are_contiguous_doubles_whatever_the_function_returns():
    found = steps(lambda t: np.repeat(1 / t, 2)[::2].astype(np.float32), 1, 5)
    assert found.dtype == np.float64
    assert found.flags.c_contiguous


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda t: t - 3, "at round 1 the step is -2.0"),
        (lambda t: np.where(t == 4, np.nan, 1.0), "at round 4 the step is nan"),
        (lambda t: np.where(t == 2, np.inf, 1.0), "at round 2 the step is inf"),
        (lambda t: 0.0, "at round 1 the step is 0.0"),
        (lambda t: np.ones(3), "one step per round"),
        (lambda t: np.ones((len(t), 2)), "one step per round"),
    ],
)
def test_wrong_steps_are_named(function, words):
    with pytest.raises(ValueError, match=words):
        steps(function, 1, 5)


@pytest.mark.parametrize("method", [gs.Fobos, gs.TruncatedGradient, gs.Subgradient, gs.ExponentiatedGradient])
def test_a_number_is_a_decreasing_step(method):
    assert_array_equal(method(step=0.5).steps(0.5, 1, 4), 0.5 / np.sqrt(np.arange(1.0, 5.0)))
    assert_array_equal(method(step=gs.Constant(1.0)).steps(gs.Constant(1.0), 1, 4), np.ones(4))


@pytest.mark.parametrize("method", [gs.AdaGrad, gs.FTRL])
def test_a_number_is_constant_for_methods_that_adapt(method):
    assert_array_equal(method(step=0.5).steps(0.5, 1, 3), np.full(3, 0.5))
    assert method(step=gs.Constant(0.5)).step == gs.Constant(0.5)
    for schedule in (gs.InverseSqrt(1.0), lambda t: 1 / t):
        with pytest.raises(ValueError, match="adapts its steps itself"):
            method(step=schedule)
    with pytest.raises(ValueError, match="theory"):
        method(step="theory")


@pytest.mark.parametrize(
    "method", [gs.Fobos, gs.AdaGrad, gs.FTRL, gs.TruncatedGradient, gs.Subgradient, gs.ExponentiatedGradient]
)
def test_wrong_steps_of_methods(method):
    with pytest.raises(ValueError, match="'auto' or 'theory'"):
        method(step="fast")
    for wrong in (0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="step must be finite"):
            method(step=wrong)
    for wrong in (None, [0.1], gs.Constant):
        with pytest.raises(TypeError, match="step must be a number"):
            method(step=wrong)


def test_wrong_settings_of_methods():
    for make, words in [
        (lambda: gs.RDA(gamma=-1), "gamma"),
        (lambda: gs.RDA(rho=-1), "rho"),
        (lambda: gs.RDA(gamma=np.nan), "gamma"),
        (lambda: gs.FTRL(beta=-0.1), "beta"),
        (lambda: gs.AdaGrad(form="primal"), "'rda' or 'fobos'"),
        (lambda: gs.TruncatedGradient(period=0), "period"),
        (lambda: gs.TruncatedGradient(period=2.5), "period"),
        (lambda: gs.TruncatedGradient(threshold=0), "threshold"),
        (lambda: gs.TruncatedGradient(threshold=np.nan), "threshold"),
        (lambda: gs.ExponentiatedGradient(radius=0), "radius"),
        (lambda: gs.ExponentiatedGradient(step="theory"), "theory"),
    ]:
        with pytest.raises(ValueError, match=words):
            make()
    with pytest.raises(TypeError, match="gamma must be a number"):
        gs.RDA(gamma="fast")


@pytest.mark.parametrize("name", gs.methods.__all__)
def test_methods_are_settings(name):
    method = getattr(gs, name)()
    assert method == pickle.loads(pickle.dumps(method)) == copy.deepcopy(method)
    assert type(method)(**method.get_params()) == method
    changed = next(iter(method.get_params()))
    value = {"project": False, "radius": 2.0, "gamma": 3.0}.get(changed, 0.125)
    assert getattr(copy.copy(method).set_params(**{changed: value}), changed) == value
    assert eval(repr(method), {name: type(method), "inf": np.inf}) == method
    with pytest.raises(AttributeError):
        setattr(method, changed, value)
    with pytest.raises(TypeError):
        method.set_params(nonsense=1)
