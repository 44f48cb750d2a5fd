import copy
import pickle

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import gossamer as gs
import reference

FEATURES = 60  # steps of up to 15 entries go through the sparse rule, longer ones through the dense one

indices = st.lists(st.integers(0, FEATURES - 1), max_size=14)
shares = st.sampled_from([0.0, 1.0, -1.0, 0.25, -0.5, 0.1, 1e-3, -1e-6, 1e-12, 1e-300, 5.0, -30.0, 1e3])
huge = st.sampled_from([1e8, -1e8, 1e20, -1e150])


def agree(ball, w, radius):
    ours = ball.to_array()
    np.testing.assert_allclose(ours, w, rtol=0, atol=1e-10 * radius)
    apart = (ours != 0) != (w != 0)
    assert np.all(np.maximum(np.abs(ours), np.abs(w))[apart] < 1e-11 * radius)
    assert ball.nnz == np.count_nonzero(ours)
    assert ball.norm1 <= radius * (1 + 1e-12)
    assert ball.norm1 == pytest.approx(np.abs(ours).sum(), rel=1e-10, abs=1e-12 * radius)


class SparseAgainstDense(RuleBasedStateMachine):
    @initialize(radius=st.sampled_from([1.0, 10.0, 1e-3, 1e-150, 1e150]))
    def start(self, radius):
        self.radius = radius
        self.ball = gs.SparseL1Ball(FEATURES, radius)
        self.dense = reference.DenseL1Ball(FEATURES, radius)

    def step(self, at, deltas):
        self.ball.update(at, deltas)
        self.dense.update(at, deltas)
        agree(self.ball, self.dense.w, self.radius)
        self.dense.w = self.ball.to_array()  # rounding is not to pile up between the two

    @rule(at=indices, data=st.data())
    def move(self, at, data):
        self.step(at, [data.draw(shares) * self.radius for _ in at])

    @rule(at=st.integers(0, FEATURES - 1), far=huge)
    def leap(self, at, far):
        self.step([at, (at + 1) % FEATURES], [far * self.radius, 0.9 * far * self.radius])

    @rule(at=indices)
    def remove(self, at):
        at = sorted(set(at))
        self.step(at, -self.ball[at])

    @rule(at=indices)
    def flip(self, at):
        at = sorted(set(at))
        self.step(at, -2 * self.ball[at])

    @rule(at=st.integers(0, FEATURES - 1), share=shares)
    def repeat_an_index(self, at, share):
        self.step([at] * 5, [share * self.radius, 0.0, -share * self.radius / 2, 0.0, share * self.radius])

    @rule(seed=st.integers(0, 99))
    def move_all(self, seed):
        self.step(np.arange(FEATURES), np.random.default_rng(seed).normal(size=FEATURES) * self.radius)

    @rule(seed=st.integers(0, 99))
    def creep(self, seed):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            self.step(rng.integers(0, FEATURES, 3), rng.normal(size=3) * 0.01 * self.radius)

    @rule()
    def round_trip(self):
        before = self.ball.to_array()
        self.ball = pickle.loads(pickle.dumps(self.ball))
        np.testing.assert_allclose(self.ball.to_array(), before, rtol=0, atol=1e-14 * self.radius)

    @rule()
    def do_nothing(self):
        before = self.ball.to_array()
        self.step([], [])
        np.testing.assert_array_equal(self.ball.to_array(), before)

    @invariant()
    def inside(self):
        assert self.ball.norm1 <= self.radius * (1 + 1e-12)


TestSparseAgainstDense = SparseAgainstDense.TestCase
TestSparseAgainstDense.settings = settings(max_examples=40, stateful_step_count=25)


@pytest.mark.parametrize("size", [0.001, 0.05, 1.0])
def test_a_long_run(size):
    d, radius, rng = 2000, 4.0, np.random.default_rng(0)
    ball, w = gs.SparseL1Ball(d, radius), np.zeros(d)
    # indices like words: a few common, many rare
    popularity = 1 / np.arange(1, d + 1)
    draws = rng.choice(d, size=(3000, 12), p=popularity / popularity.sum())
    for at in draws:
        deltas = rng.normal(size=12) * size
        ball.update(at, deltas)
        np.add.at(w, at, deltas)
        w = gs.project_l1_ball(w, radius)
        agree(ball, w, radius)


def test_many_steps_do_not_drift():
    ball, w, rng = gs.SparseL1Ball(400, 1.0), np.zeros(400), np.random.default_rng(1)
    for _ in range(20_000):
        at, delta = rng.integers(0, 400, 1), rng.normal(size=1) * 0.1
        ball.update(at, delta)
        w[at] += delta
        w = gs.project_l1_ball(w)
    agree(ball, w, 1.0)


def test_inside_nothing_is_shrunk():
    ball = gs.SparseL1Ball(100, 10.0)
    ball.update([3, 7], [1.5, -2.5])
    ball.update([3, 9], [0.25, 1.0])
    assert ball[[3, 7, 9]].tolist() == [1.75, -2.5, 1.0]
    assert (ball.nnz, ball.norm1) == (3, 5.25)


def test_removed_to_zero():
    ball = gs.SparseL1Ball(100, 10.0)
    ball.update([3, 7], [1.5, -2.5])
    ball.update([3], [-1.5])
    assert ball[3] == 0.0
    assert ball.nnz == 1
    ball.update([7], [2.5])
    assert (ball.nnz, ball.norm1) == (0, 0.0)
    assert not np.any(ball.to_array())


@pytest.mark.parametrize("far", [1e8, 1e16, 1e20, 1e150])
def test_leaps(far):
    ball = gs.SparseL1Ball(100, 1.0)
    ball.update([5, 6], [0.2, 0.3])
    ball.update([0, 1], [far, 0.5 * far])
    np.testing.assert_allclose(ball[[0, 1, 5, 6]], [1, 0, 0, 0], atol=1e-10)
    ball.update([7], [-0.5])
    np.testing.assert_allclose(ball[[0, 7]], [0.75, -0.25], atol=1e-10)


def test_reading():
    ball = gs.SparseL1Ball(n_features=9, radius=2.0)
    ball.update([1, 4], [0.5, -0.25])
    assert ball[4] == -0.25
    assert np.ndim(ball[4]) == 0
    assert ball[np.int32(1)] == 0.5
    np.testing.assert_array_equal(ball[[4, 0, 4]], [-0.25, 0.0, -0.25])
    np.testing.assert_array_equal(ball[np.array([1, 4], np.uint8)], [0.5, -0.25])
    assert ball[[]].shape == (0,)
    assert len(ball) == ball.n_features == 9
    assert ball.radius == 2.0
    assert repr(ball) == "SparseL1Ball(n_features=9, radius=2, nnz=2)"
    ball.to_array()[:] = 7  # a copy
    assert ball.norm1 == 0.75


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_copies_are_apart(clone):
    ball = gs.SparseL1Ball(100, 1.0)
    ball.update([3, 7, 50], [1.5, -2.5, 1.0])
    other = clone(ball)
    np.testing.assert_allclose(other.to_array(), ball.to_array(), rtol=1e-15)
    assert (other.nnz, other.radius, other.n_features) == (ball.nnz, ball.radius, ball.n_features)
    before = ball.to_array()
    other.update([3], [-9.0])
    np.testing.assert_array_equal(ball.to_array(), before)


def test_no_features():
    ball = gs.SparseL1Ball(0)
    ball.update([], [])
    assert (ball.nnz, ball.norm1, ball.to_array().shape) == (0, 0.0, (0,))
    with pytest.raises(IndexError):
        ball[0]


@pytest.mark.parametrize(
    ("at", "deltas", "error", "words"),
    [
        ([0, 100], [1.0, 1.0], IndexError, "indices must be 0 to 99; 100 was given"),
        ([0, -1], [1.0, 1.0], IndexError, "indices must be 0 to 99; -1 was given"),
        ([0, 2**40], [1.0, 1.0], IndexError, "indices must be 0 to 99"),
        ([0, 1], [1.0], ValueError, "they have 2 and 1 entries"),
        ([0, 1], [1.0, np.nan], ValueError, r"deltas must be finite; deltas\[1\] is nan"),
        ([0, 1], [np.inf, 1.0], ValueError, "deltas must be finite"),
        ([0, 1], [[1.0, 1.0]], ValueError, "deltas must be a vector"),
        ([0, 1], ["a", "b"], TypeError, "deltas must hold real numbers"),
        ([[0, 1]], [1.0, 1.0], TypeError, "indices must be a vector of whole numbers"),
        ([0.0, 1.0], [1.0, 1.0], TypeError, "indices must be a vector of whole numbers"),
        ([True, False], [1.0, 1.0], TypeError, "indices must be a vector of whole numbers"),
        (3, 1.0, TypeError, "indices must be a vector of whole numbers"),
    ],
)
def test_bad_steps_change_nothing(at, deltas, error, words):
    ball = gs.SparseL1Ball(100, 1.0)
    ball.update([3, 7, 50], [1.5, -2.5, 1.0])
    before = ball.to_array(), ball.nnz, ball.norm1
    with pytest.raises(error, match=words):
        ball.update(at, deltas)
    np.testing.assert_array_equal(ball.to_array(), before[0])
    assert (ball.nnz, ball.norm1) == before[1:]


@pytest.mark.parametrize(
    ("at", "error"), [(100, IndexError), (-1, IndexError), ("a", TypeError), (1.5, TypeError), (slice(2), TypeError)]
)
def test_bad_reading(at, error):
    with pytest.raises(error, match="indices must be"):
        gs.SparseL1Ball(100)[at]


@pytest.mark.parametrize("n", [-1, 2.5, "3", None, True])
def test_bad_sizes(n):
    with pytest.raises(ValueError, match="n_features must be a whole number"):
        gs.SparseL1Ball(n)


@pytest.mark.parametrize("radius", [0, -1.0, np.inf, np.nan])
def test_bad_radius(radius):
    with pytest.raises(ValueError, match="radius must be finite and > 0"):
        gs.SparseL1Ball(3, radius)
