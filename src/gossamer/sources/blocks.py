"""Blocks of rows, the thread that reads ahead, and what happens to lines that cannot be read."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING, Any

from gossamer import output
from gossamer.registry import record

if TYPE_CHECKING:  # NumPy is imported while the first blocks are read
    from gossamer.sources.rows import Rows
    from gossamer.validation import Array

ROWS = 8192  # rows of a block that is cut from memory
AHEAD = 32  # blocks read and not yet learned from


class ReadError(ValueError):
    """Data that cannot be read; the message says where and why."""


@record
class Position:
    """Where a block ends, so that reading can resume there."""

    file: int = 0  # the number of the file
    offset: int = 0  # bytes read from it
    line: int = 0  # lines read from it
    rows: int = 0  # rows read from all files


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
    """Some rows of a source, and what is known about them."""

    rows: Rows  # compact; y holds the labels
    width: int  # largest feature + 1, or the number of columns
    position: Position
    share: float = 0.0  # fraction of the source read so far, 0 if unknown
    tags: list[str] | None = None
    bad: tuple[BadLine, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def starts(self) -> Array:
        """Where each row begins, and the last one ends."""
        import numpy as np

        return np.concatenate([np.zeros(1, np.int64), self.rows.ends])

    @property
    def index(self) -> Array:
        """The features of the entries, sorted in each row."""
        return self.rows.index

    @property
    def value(self) -> Array:
        """The values of the entries, finite."""
        return self.rows.value

    @property
    def label(self) -> Array | None:
        """Numbers or strings, or None if there are no labels."""
        return self.rows.y

    @property
    def weight(self) -> Array | None:
        """The weights of the rows, or None for all ones."""
        return self.rows.weight

    @property
    def offset(self) -> Array | None:
        """What is added to the margins of the rows, or None if the data has no offsets."""
        return self.rows.offset

    def cut(self, most: int) -> Iterator[Block]:
        """Yield the rows in blocks of at most `most` rows."""
        if len(self) <= most:
            yield self
            return
        import numpy as np

        for first in range(0, len(self), most):
            yield self.taken(np.arange(first, min(first + most, len(self))))

    def taken(self, which: Array) -> Block:
        """Return some of the rows, compact."""
        from dataclasses import replace

        tags = None if self.tags is None else [self.tags[i] for i in which]
        return replace(self, rows=self.rows.taken(which).compact(), tags=tags)


class Ahead:
    """The items of an iterator, made ahead by a thread; parsing releases the interpreter's lock."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._queue: Queue[Any] = Queue(AHEAD)
        self._stopped = threading.Event()
        self._process = os.getpid()
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
        """Stop the thread and free the items it has made."""
        if os.getpid() != self._process:  # a fork has no such thread, and the locks may be locked for ever
            return
        self._stopped.set()
        while True:
            try:
                self._queue.get_nowait()
            except Empty:
                break
        self._thread.join(timeout=1.0)


class Rejects:
    """What to do with lines that cannot be read: "stop" raises, "skip" counts, "quarantine" also writes them to a file.

    >>> Rejects("ignore")
    Traceback (most recent call last):
    ...
    ValueError: on_error must be 'stop', 'skip' or ('quarantine', path); 'ignore' was given.
    """

    def __init__(self, policy: Any = "stop") -> None:
        if isinstance(policy, tuple) and len(policy) == 2 and policy[0] == "quarantine":
            self.path: str | None = output.target_of(policy[1])[0]
        elif policy in ("stop", "skip"):
            self.path = None
        else:
            raise ValueError(f"on_error must be 'stop', 'skip' or ('quarantine', path); {policy!r} was given.")
        self.stops = policy == "stop"
        self.count = 0
        self.examples: list[str] = []  # the first few
        self.size = 0  # of the file

    def start(self, count: int = 0, size: int = 0) -> None:
        """Start, or resume from a checkpoint: lines collected after it are dropped."""
        self.count, self.size, self.examples = count, size, []
        if self.path is not None:
            with open(self.path, "ab") as file:
                file.truncate(size)

    def take(self, bad: tuple[BadLine, ...]) -> None:
        """Raise, count or collect the lines."""
        if not bad:
            return
        if self.stops:
            shown = bad[0].text[:80].decode("utf-8", "replace")
            raise ReadError(f"{bad[0]}\n  {shown}\nskip such lines with on_error='skip'.")
        self.count += len(bad)
        self.examples += [str(line) for line in bad[: max(0, 5 - len(self.examples))]]
        if self.path is not None:
            with open(self.path, "ab") as file:
                file.write(b"".join(line.text + b"\n" for line in bad))
                self.size = file.tell()
