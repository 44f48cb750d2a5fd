"""The seam: `run(task, *args)` gives one result per partition, in the order of the partitions.

`Local` is a loop in this process, and the reference. `Reread` has a source as its one partition, which is read again in
every round, block by block, and added up. `gossamer.dask` has one that submits tasks to a cluster.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gossamer.batch.partitions import Task, added


def size_of(value: Any) -> int:
    """Return the bytes of a message."""
    return len(pickle.dumps(value, protocol=5))


class Runner:
    """Partitions somewhere, and tasks on them."""

    rounds = 0  # calls of `run` so far
    sends = True  # whether results are messages, which are to be small
    bytes_up = bytes_down = 0  # the largest message of a partition in each round, added up

    def __len__(self) -> int:
        raise NotImplementedError

    def run(self, task: Task, *args: Any) -> list[Any]:
        """Return task(partition, *args) of every partition, in their order."""
        results = self._run(task, args)
        self.rounds += 1
        self.bytes_down += size_of(args)
        self.bytes_up += max(map(size_of, results), default=0)
        return results

    def run_each(self, task: Task, args: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return task(partition, *args) of every partition, each with arguments of its own."""
        results = self._each(task, args)
        self.rounds += 1
        self.bytes_down += max(map(size_of, args), default=0)
        self.bytes_up += max(map(size_of, results), default=0)
        return results

    def chain(self, task: Task, start: Any, *args: Any) -> Any:
        """Return what task(partition, before, number, *args) returns for the last partition.

        `before` is what it returned for the one before, and `start` for the first.
        """
        self.rounds += 1
        self.bytes_down += size_of((start, args))
        result = self._chain(task, start, args)
        self.bytes_up += size_of(result)
        return result

    def _run(self, task: Task, args: tuple[Any, ...]) -> list[Any]:
        return self._each(task, [args] * len(self))

    def _each(self, task: Task, args: Sequence[tuple[Any, ...]]) -> list[Any]:
        raise NotImplementedError

    def _chain(self, task: Task, start: Any, args: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def mapped(self, task: Task, *args: Any) -> Runner:
        """Return a runner over task(partition, *args), kept where the partitions are."""
        raise NotImplementedError

    def release(self) -> None:
        """Let go of the partitions."""


class Local(Runner):
    """Partitions in this process: the reference."""

    def __init__(self, partitions: Sequence[Any]) -> None:
        self.partitions = list(partitions)

    @staticmethod
    def loaded(loaders: Sequence[Any]) -> Local:
        """Return a runner over what loaders return."""
        return Local([load() for load in loaders])

    def __len__(self) -> int:
        return len(self.partitions)

    def _each(self, task: Task, args: Sequence[tuple[Any, ...]]) -> list[Any]:
        return [task(partition, *own) for partition, own in zip(self.partitions, args, strict=True)]

    def _chain(self, task: Task, start: Any, args: tuple[Any, ...]) -> Any:
        for number, partition in enumerate(self.partitions):
            start = task(partition, start, number, *args)
        return start

    def mapped(self, task: Task, *args: Any) -> Local:
        """Return the results as partitions."""
        return Local([task(partition, *args) for partition in self.partitions])


class Reread(Runner):
    """One partition that is never whole in memory: `parts` yields it piece by piece, and tasks return sums."""

    sends = False

    def __init__(self, parts: Callable[[], Iterator[Any]]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return 1

    def _run(self, task: Task, args: tuple[Any, ...]) -> list[Any]:
        total = None
        for part in self._parts():
            found = task(part, *args)
            total = found if total is None else added([total, found])
        return [] if total is None else [total]

    def mapped(self, task: Task, *args: Any) -> Reread:
        """Return a runner over task(piece, *args), computed again in every round."""
        return Reread(lambda: (task(part, *args) for part in self._parts()))
