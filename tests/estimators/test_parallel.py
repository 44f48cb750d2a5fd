"""A parallel map: results come in order, and errors in threads are raised in the caller."""

import threading

import pytest

from gossamer.estimators import parallel


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
