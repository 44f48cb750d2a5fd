"""Threads: what `n_jobs` means for all estimators and the command line, and a parallel map."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

from gossamer import _core


def threads(n_jobs: int | None = None) -> int:
    """Return the number of threads for `n_jobs`.

    None is the number of joblib's `parallel_config`, or all cores that this process may use if there is none. -1 is all
    cores, -2 all but one.

    >>> threads(3), threads(-1) == threads()
    (3, True)
    """
    if n_jobs is None:
        n_jobs = _of_joblib()
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs == 0:
        raise ValueError(f"n_jobs must be None, a positive number of threads, or -1 for all; {n_jobs!r} was given.")
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def _of_joblib() -> int:
    """Return the `n_jobs` of joblib's context: one thread in its workers, all cores where there is no context."""
    if "joblib" not in sys.modules:  # the command line does not load it
        return -1
    from joblib.parallel import get_active_backend

    backend, n_jobs = get_active_backend()
    return n_jobs or (1 if backend.nesting_level else -1)


def each(work: Callable[[Any], Any], items: Iterable[Any], count: int) -> Iterator[Any]:
    """Yield work(item) of every item in order, computed by `count` threads; an exception in a thread is raised here.

    Ctrl-C is raised here too; then the threads leave their work as it is.

    The import of `concurrent.futures` takes 7 of the 200 ms of a short `gossamer train`, so it is not used.

    >>> list(each(lambda x: x * x, range(4), 2))
    [0, 1, 4, 9]
    """
    items = list(items)
    if min(count, len(items)) < 2:
        yield from map(work, items)
        return
    waiting: SimpleQueue[int] = SimpleQueue()
    done: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
    for i in range(len(items)):
        waiting.put(i)

    stop = _core.Stop()

    def run() -> None:
        stop.obey()
        with contextlib.suppress(Empty):
            while True:
                i = waiting.get_nowait()
                try:
                    done.put((i, work(items[i]), None))
                except BaseException as error:
                    done.put((i, None, error))

    others = [threading.Thread(target=run, daemon=True) for _ in range(min(count, len(items)))]
    for other in others:
        other.start()
    found: dict[int, tuple[Any, BaseException | None]] = {}
    try:
        for i in range(len(items)):
            while i not in found:
                j, result, error = done.get()
                found[j] = (result, error)
            result, error = found.pop(i)
            if error is not None:
                raise error
            yield result
    finally:  # start no work that will not be used, and finish none
        stop.ask()
        with contextlib.suppress(Empty):
            while True:
                waiting.get_nowait()
        for other in others:
            other.join()
