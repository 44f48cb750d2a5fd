"""Blocks of rows on their way from a source to a learner, and the thread that reads ahead."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING, Any

from gossamer.frozen import record

if TYPE_CHECKING:  # NumPy is imported while the first blocks are read
    from gossamer.validation import Array

ROWS = 8192  # of a block that is cut from memory
AHEAD = 32  # blocks read and not yet learned from


class ReadError(ValueError):
    """Data cannot be read; the message says where and why."""


@record
class Position:
    """The end of a block, from which reading can continue."""

    file: int = 0  # number of the file
    offset: int = 0  # bytes of its text that were read
    line: int = 0  # lines of it that were read
    rows: int = 0  # rows of all files that were read


@record
class BadLine:
    """A line that could not be read."""

    path: str
    line: int
    column: int
    reason: str
    text: bytes

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}, column {self.column}: {self.reason}"


@record
class BadRow(BadLine):
    """A row of a table that could not be read: its number, and the name of the column."""

    column: Any

    def __str__(self) -> str:
        return f"{self.path}, row {self.line}, column {self.column!r}: {self.reason}"


@record
class Block:
    """Some rows: CSR arrays, labels, weights or None for all ones, tags or None."""

    starts: Array  # int64, where each row begins, and the last one ends
    index: Array  # int32, sorted in each row
    value: Array  # float64 or float32, finite
    label: Array | None  # numbers or strings, or None where there are none
    weight: Array | None
    width: int  # largest feature + 1, or the number of columns
    position: Position
    share: float = 0.0  # of the source read so far, 0 if it is not known
    tags: list[str] | None = None
    bad: tuple[BadLine, ...] = ()

    def __len__(self) -> int:
        return len(self.starts) - 1

    def cut(self, most: int) -> Iterator[Block]:
        """Yield the rows in blocks of at most `most`."""
        if len(self) <= most:
            yield self
            return
        import numpy as np

        for first in range(0, len(self), most):
            yield self.taken(np.arange(first, min(first + most, len(self))))

    def taken(self, which: Array) -> Block:
        """Return some of the rows, compact."""
        from dataclasses import replace

        import numpy as np

        lengths = np.diff(self.starts)[which]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.arange(starts[-1]) + np.repeat(self.starts[:-1][which] - starts[:-1], lengths)
        return replace(
            self,
            starts=starts,
            index=self.index[entries],
            value=self.value[entries],
            label=None if self.label is None else self.label[which],
            weight=None if self.weight is None else self.weight[which],
            tags=None if self.tags is None else [self.tags[i] for i in which],
        )


class Ahead:
    """The items of an iterator, produced ahead by a thread: parsing runs without the GIL."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._queue: Queue[Any] = Queue(AHEAD)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(items,), name="gossamer reader", daemon=True)
        self._thread.start()

    def _run(self, items: Iterator[Any]) -> None:
        try:
            for item in items:
                self._offer(item)
                if self._stopped.is_set():
                    return
            self._offer(None)
        except BaseException as error:
            self._offer(error)

    def _offer(self, item: Any) -> None:
        while not self._stopped.is_set():
            try:
                self._queue.put(item, timeout=0.1)
                return
            except Full:
                pass

    def __iter__(self) -> Iterator[Any]:
        try:
            while (item := self._queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self.close()

    def close(self) -> None:
        """End the thread and free the memory of what it read."""
        self._stopped.set()
        while True:
            try:
                self._queue.get_nowait()
            except Empty:
                break
        self._thread.join(timeout=1.0)


class Rejects:
    """What happens to lines that cannot be read: "stop" raises, "skip" counts, a path also collects them in a file.

    >>> Rejects("ignore")
    Traceback (most recent call last):
    ...
    ValueError: on_error must be 'stop', 'skip' or ('quarantine', path); 'ignore' was given.
    """

    def __init__(self, policy: Any = "stop") -> None:
        if isinstance(policy, tuple) and len(policy) == 2 and policy[0] == "quarantine":
            self.path: str | None = os.fspath(policy[1])
        elif policy in ("stop", "skip"):
            self.path = None
        else:
            raise ValueError(f"on_error must be 'stop', 'skip' or ('quarantine', path); {policy!r} was given.")
        self.stops = policy == "stop"
        self.count = 0
        self.examples: list[str] = []  # the first few
        self.size = 0  # of the file

    def start(self, count: int = 0, size: int = 0) -> None:
        """Begin, or continue after a checkpoint: what was collected later is removed."""
        self.count, self.size, self.examples = count, size, []
        if self.path is not None:
            with open(self.path, "ab") as file:
                file.truncate(size)

    def take(self, bad: tuple[BadLine, ...]) -> None:
        """Raise, count or collect bad lines."""
        if not bad:
            return
        if self.stops:
            shown = bad[0].text[:80].decode("utf-8", "replace")
            raise ReadError(f"{bad[0]}\n  {shown}\nskip such lines with on_error='skip' (--on-error skip).")
        self.count += len(bad)
        self.examples += [str(line) for line in bad[: max(0, 5 - len(self.examples))]]
        if self.path is not None:
            with open(self.path, "ab") as file:
                file.write(b"".join(line.text + b"\n" for line in bad))
                self.size = file.tell()
