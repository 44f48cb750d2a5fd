"""Threads: how many, and what becomes of errors in them."""

import os
import threading

import joblib
import numpy as np
import pytest

import gossamer as gs
from gossamer import methods
from gossamer.estimators import parallel

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def test_none_is_all_cores_or_what_joblib_says():
    assert parallel.threads() == parallel.threads(-1) == CORES
    assert parallel.threads(-CORES - 7) == 1
    assert parallel.threads(np.int64(5)) == 5
    with joblib.parallel_config(n_jobs=7):
        assert parallel.threads() == 7
        assert parallel.threads(2) == 2
    with joblib.parallel_config(backend="threading", n_jobs=-1):
        assert parallel.threads() == CORES


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_worker_of_joblib_uses_one_thread(backend):
    jobs = joblib.Parallel(n_jobs=2, backend=backend)
    assert jobs(joblib.delayed(parallel.threads)() for _ in range(2)) == [1, 1]


@pytest.mark.parametrize("wrong", [0, 1.5, "all", True])
def test_other_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match="n_jobs must be None, a positive number of threads, or -1"):
        parallel.threads(wrong)
    for model in (gs.OnlineClassifierCV(n_jobs=wrong), gs.BatchClassifierCV(n_jobs=wrong)):
        with pytest.raises(ValueError, match="n_jobs must be"):
            model.fit([[0.0], [1.0]] * 10, [0, 1] * 10)


@pytest.mark.parametrize("count", [1, 3])
def test_results_come_in_order(count):
    first = threading.Event()

    def work(x):
        if count > 1:  # the first ends last
            first.wait() if x == 0 else first.set()
        return -x

    assert list(parallel.each(work, range(9), count)) == [-x for x in range(9)]
    assert list(parallel.each(work, [], count)) == []


@pytest.mark.parametrize("count", [1, 3])
def test_an_error_in_a_thread_is_raised_in_the_caller(count):
    before, done = threading.active_count(), []

    def work(x):
        if x == 1:
            raise ZeroDivisionError(x)
        done.append(x)
        return x

    results = parallel.each(work, range(1000), count)
    assert next(results) == 0
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert threading.active_count() == before
    assert len(done) < 1000 or count > 1


def test_an_error_in_the_search_for_steps_is_raised_in_the_caller(monkeypatch):
    make = methods.Method.make_lanes

    def failing(method, penalty, setup, settings, *rest):
        if threading.current_thread() is not threading.main_thread():
            raise MemoryError("no memory for lanes")
        return make(method, penalty, setup, settings, *rest)

    monkeypatch.setattr(methods.Method, "make_lanes", failing)
    X = np.random.default_rng(0).normal(size=(100, 5))
    with pytest.raises(MemoryError, match="no memory for lanes"):
        gs.OnlineClassifierCV(n_jobs=2).fit(X, X[:, 0] > 0)


def test_threads_change_nothing():
    X = np.random.default_rng(0).normal(size=(2000, 40))
    y = X[:, 0] > X[:, 1]
    one, three = (gs.OnlineClassifierCV(n_jobs=n, random_state=0).fit(X, y) for n in (1, 3))
    np.testing.assert_array_equal(one.path_loss_, three.path_loss_)
    np.testing.assert_array_equal(one.path_step_, three.path_step_)
    np.testing.assert_array_equal(one.coef_, three.coef_)
