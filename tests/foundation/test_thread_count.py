"""What `n_jobs` means: how many threads, and that results do not depend on them."""

import os

import joblib
import numpy as np
import pytest

import gossamer as gs
from gossamer.validation import thread_count

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def test_none_is_all_cores_or_what_joblib_says():
    assert thread_count() == thread_count(-1) == CORES
    assert thread_count(-CORES - 7) == 1
    assert thread_count(np.int64(5)) == 5
    with joblib.parallel_config(n_jobs=7):
        assert thread_count() == 7
        assert thread_count(2) == 2
    with joblib.parallel_config(backend="threading", n_jobs=-1):
        assert thread_count() == CORES


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_worker_of_joblib_uses_one_thread(backend):
    jobs = joblib.Parallel(n_jobs=2, backend=backend)
    assert jobs(joblib.delayed(thread_count)() for _ in range(2)) == [1, 1]


@pytest.mark.parametrize("wrong", [0, 1.5, "all", True])
def test_other_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match="n_jobs must be None, a positive number of threads, or -1"):
        thread_count(wrong)
    for model in (gs.OnlineClassifierCV(n_jobs=wrong), gs.BatchClassifierCV(n_jobs=wrong)):
        with pytest.raises(ValueError, match="n_jobs must be"):
            model.fit([[0.0], [1.0]] * 10, [0, 1] * 10)


def test_threads_change_nothing():
    X = np.random.default_rng(0).normal(size=(2000, 40))
    y = X[:, 0] > X[:, 1]
    one, three = (gs.OnlineClassifierCV(n_jobs=n, random_state=0).fit(X, y) for n in (1, 3))
    np.testing.assert_array_equal(one.path_loss_, three.path_loss_)
    np.testing.assert_array_equal(one.path_step_, three.path_step_)
    np.testing.assert_array_equal(one.coef_, three.coef_)
