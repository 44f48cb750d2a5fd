"""Partitions on a cluster: one stateless task per partition and round (`gossamer.batch.runs` is the seam).

Loaded and prepared partitions are results of tasks, never scattered: what is lost with a worker is computed again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from gossamer.batch.partitions import Task
from gossamer.batch.runs import Runner

PATIENCE = 30.0  # seconds without a worker, or without the scheduler, after which a run ends
ATTEMPTS = 4  # to get a result of a task that has ended


class _LateError(Exception):
    """A result is not there."""


class ClusterError(RuntimeError):
    """The cluster could not do what was asked of it; the sentence says what happened."""


def _called(load: Any) -> Any:
    return load()


class Cluster(Runner):
    """Partitions that are results of Dask tasks."""

    def __init__(self, client: Any, futures: Sequence[Any], names: Sequence[str]) -> None:
        self.client, self.futures, self.names = client, list(futures), list(names)

    @staticmethod
    def loaded(client: Any, loaders: Sequence[Any]) -> Cluster:
        """Return a runner over what loaders return, or over Dask's delayed blocks."""
        names = [getattr(load, "name", f"partition {i}") for i, load in enumerate(loaders)]
        futures = []
        for load in loaders:
            block = getattr(load, "block", None)
            if block is None:
                futures.append(client.submit(_called, load, pure=False))
            else:  # delayed: its graph stays with the scheduler, so that it can be computed again
                futures.append(client.submit(load.made, client.compute(block), pure=False))
        return Cluster(client, futures, names)

    def __len__(self) -> int:
        return len(self.futures)

    def _each(self, task: Task, args: Sequence[tuple[Any, ...]]) -> list[Any]:
        futures = [
            self.client.submit(task, part, *own, pure=False) for part, own in zip(self.futures, args, strict=True)
        ]
        try:
            return self._gathered(futures)
        finally:
            _quietly(self.client.cancel, futures)

    def _chain(self, task: Task, start: Any, args: tuple[Any, ...]) -> Any:
        futures: list[Any] = []
        for number, part in enumerate(self.futures):
            before = futures[-1] if futures else start
            futures.append(self.client.submit(task, part, before, number, *args, pure=False))
        try:
            return self._gathered(futures, last=True)[-1]
        finally:
            _quietly(self.client.cancel, futures)

    def mapped(self, task: Task, *args: Any) -> Cluster:
        """Return the results as partitions; they stay on the workers."""
        futures = [self.client.submit(task, part, *args, pure=False) for part in self.futures]
        return Cluster(self.client, futures, self.names)

    def release(self) -> None:
        """Let go of the partitions."""
        _quietly(self.client.cancel, self.futures)

    def _gathered(self, futures: list[Any], last: bool = False) -> list[Any]:
        """Wait for the results, or the last one; raise within a minute if there is nobody left to compute them."""
        from distributed import wait as waiting

        wait: Any = waiting  # it has no types

        alone, late = None, 0
        while True:
            ready = False
            try:
                ready = not wait(futures, timeout=1.0, return_when="ALL_COMPLETED").not_done
            except TimeoutError:
                pass
            except Exception as error:
                raise ClusterError(f"The cluster is gone: {type(error).__name__}: {error}.") from error
            bad = [i for i, f in enumerate(futures) if f.status in ("error", "cancelled", "lost")]
            if ready or bad:
                try:
                    for i in bad:
                        self._result(i, futures[i])  # raises
                    if ready:
                        wanted = [len(futures) - 1] if last else range(len(futures))
                        return [self._result(i, futures[i]) for i in wanted]
                except _LateError as error:  # it went with its worker once it was there, and is computed again
                    late += 1
                    if late == ATTEMPTS:
                        raise ClusterError(str(error)) from error
            alone = self._alone_since(alone)
            if alone is not None and time.monotonic() - alone > PATIENCE:
                raise ClusterError(
                    f"The scheduler has had no worker for {PATIENCE:.0f} s: all of them are gone. Start workers and "
                    "fit again; with checkpoint= or warm_start=True it goes on from the best weights so far."
                )

    def _alone_since(self, alone: float | None) -> float | None:
        """Return since when there is no worker, or no scheduler; None while there are."""
        if self.client.status not in ("running", "connecting"):
            raise ClusterError(f"The connection to the scheduler is {self.client.status}: it is gone, or was closed.")
        workers: Any = {}
        if self.client.status == "running":
            try:
                workers = self.client.sync(self.client.scheduler.identity, n_workers=1, callback_timeout=5)["workers"]
            except Exception:  # the scheduler does not answer
                workers = {}
        if workers:
            return None
        return time.monotonic() if alone is None else alone

    def _result(self, i: int, future: Any) -> Any:
        from distributed import CancelledError, KilledWorker

        name = self.names[i]
        try:
            return future.result(timeout=PATIENCE)
        except KilledWorker as error:
            raise ClusterError(
                f"{name}: workers that had it to do died, most likely out of memory by it or by another partition. Use "
                "smaller partitions (partition_bytes=), or workers with more memory."
            ) from error
        except (CancelledError, TimeoutError, OSError) as error:
            if isinstance(error, OSError) and future.status == "error":
                raise  # of the task: a file that is gone
            if isinstance(error, TimeoutError):
                raise _LateError(f"{name}: the cluster has lost its result {ATTEMPTS} times.") from error
            raise ClusterError(f"{name}: the cluster lost it: {type(error).__name__}: {error}.") from error


def _quietly(call: Any, *args: Any) -> None:
    """Do what a broken cluster may refuse."""
    import contextlib

    with contextlib.suppress(Exception):
        call(*args)
