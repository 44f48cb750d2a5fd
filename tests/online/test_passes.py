"""Passes: their order, where they start, when they stop."""

import os
import pickle
import signal
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import gossamer as gs
from gossamer.online.trainer import SeededOrders, passes
from online.tasks import THREE, TWO, N, X, assert_same_state, classifier, state


def test_shuffling_is_repeatable_by_seed():
    one, same, other = (classifier(random_state=seed, max_passes=2).fit(X, TWO) for seed in (3, 3, 4))
    assert_array_equal(one.coef_, same.coef_)
    assert (one.coef_ != other.coef_).any()
    unshuffled = [classifier(random_state=seed, shuffle=False).fit(X, TWO).coef_ for seed in (3, 4)]
    assert_array_equal(*unshuffled)


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**32 - 1])
def test_the_orders_of_a_seed_are_those_of_numpy(seed):
    orders, numpys = SeededOrders(seed), np.random.RandomState(seed)
    for count in (0, 1, 2, 3, 64, 65, 1000, 4096, 70_000):
        assert_array_equal(orders.permutation(count), numpys.permutation(count))
    models = [classifier(random_state=s, max_passes=2).fit(X, TWO) for s in (seed, np.random.RandomState(seed))]
    assert_array_equal(models[0].coef_, models[1].coef_)


def test_fit_forgets_unless_it_starts_warm():
    model = classifier(shuffle=False).fit(X, TWO)
    once = model.coef_.copy()
    assert_array_equal(model.fit(X, TWO).coef_, once)
    warm = classifier(shuffle=False, warm_start=True).fit(X, TWO).fit(X, TWO)
    assert warm.t_ == 2 * N
    assert_array_equal(warm.coef_, classifier(shuffle=False, max_passes=2).fit(X, TWO).coef_)


def test_a_warm_start_needs_the_same_problem():
    model = classifier(warm_start=True).fit(X, TWO)
    before = state(model)
    with pytest.raises(ValueError, match="features"):
        model.fit(X[:, :3], TWO)
    with pytest.raises(ValueError, match="'ant'"):
        model.fit(X, np.where(THREE == "ant", "ant", "no"))
    assert_same_state(model, before)


@pytest.mark.parametrize("split", [(), (7,), (1, 2, 20)])
def test_the_loss_of_a_pass_is_that_of_its_rows_with_the_step_in_use(split):
    """The step is chosen again after 32, 64, … rows, and the rows before are learned once more with it."""
    count, settings = 24, {"method": gs.AdaGrad(), "shuffle": False}
    rows = classifier(**settings)._accept(X[:count], TWO[:count], None, None, fresh=True, at_once=True)
    model = classifier(**settings)
    model._accept(X[:count], TWO[:count], None, None, fresh=True, at_once=True)
    cuts = [0, *split, count]
    steps = set()
    for done in passes(model._trainer, lambda number: [rows[a:b] for a, b in pairwise(cuts)], 12):
        step = model._trainer.setting
        steps.add(step)
        totals = [0.0]  # after each pass, with this step from the start
        twin = classifier(method=gs.AdaGrad(step=step), shuffle=False, warm_start=True)
        for _ in range(done.number):
            twin.fit(X[:count], TWO[:count])
            totals.append(twin.progressive_loss_ * twin.t_)
        assert done.loss * count == pytest.approx(totals[-1] - totals[-2], rel=1e-9)
    assert len(steps) > 1


def test_tol_stops_early():
    model = classifier(max_passes=500, tol=1e-3).fit(X, TWO)
    assert 1 < model.n_iter_ < 500
    assert model.t_ == model.n_iter_ * N
    assert classifier(max_passes=5, tol=None).fit(X, TWO).n_iter_ == 5


def test_verbose_prints_a_line_a_pass(capsys):
    classifier(max_passes=3, verbose=1).fit(X, TWO)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["pass 1", "pass 2", "pass 3"]
    assert all("progressive loss" in line and "features" in line for line in lines)
    classifier(max_passes=3).fit(X, TWO)
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def interruptible():
    """SIGINT means KeyboardInterrupt, whatever the test runner made of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("rows", [200_000, 100], ids=["long passes", "short passes"])
def test_ctrl_c_stops_and_keeps_what_was_learned(interruptible, rows):
    random = np.random.default_rng(1)
    data = sp.random_array((rows, 1000), density=0.02, format="csr", rng=random)
    y = random.integers(0, 2, rows)
    model, sent = classifier(max_passes=10**9, verbose=0), []

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.0, interrupt)
    timer.start()
    with pytest.warns(UserWarning, match="Interrupted"):
        model.fit(data, y)
    stopped = time.perf_counter()
    timer.join()
    assert stopped - sent[0] < 1.0
    assert model.t_ > 0
    assert model.predict(data[:5]).shape == (5,)
    model.partial_fit(data[:5], y[:5])
    assert pickle.loads(pickle.dumps(model)).t_ == model.t_
