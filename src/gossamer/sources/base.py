"""The base class of all sources of rows."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gossamer.registry import record
from gossamer.sources.blocks import Ahead, Block, Position, ReadError, Rejects

if TYPE_CHECKING:
    from gossamer.sources.columns import Columns
    from gossamer.sources.feature_names import FeatureNames
    from gossamer.sources.origins import Origins
    from gossamer.validation import Array

MAX_FEATURES = 1 << 26  # so that one wrong number in a file cannot take all memory

# Fork copies neither the thread that reads nor the places of what it has read so far.
FORKED = (
    "This process is a fork of one that was reading this source, and has no thread that reads on. "
    "Make a new source in it, or fork before reading."
)


@record
class Survey:
    """What reading a whole source once has found."""

    rows: int
    width: int
    labels: Array | None  # distinct labels


class Source:
    """Rows in blocks.

    A source implements `_read`, whose items are made by a thread; `_block` turns an item into a block. Text has threads
    of its own and implements `_ahead` instead. A source whose features have names sets `names`; one that finds out how
    to read implements `settings`, `state` and `restore`.
    """

    rereadable = True  # whether `blocks` may be called again
    need_labels = True  # whether rows without a label are invalid
    features: int | None = None  # the number of features, if it is known before reading
    names: FeatureNames | Columns | None = None  # of features, if they have any

    def __init__(self, on_error: Any = "stop") -> None:
        self.rejects = Rejects(on_error)
        self._begun: Any = None
        self._peeked: Any = None  # after `peek`: the first block, and those that follow
        self._readings = 0  # how many `blocks` are being read
        self._process = os.getpid()  # that reads them

    def _read(self, start: Position) -> Iterator[Any]:
        raise NotImplementedError

    def _ahead(self, start: Position) -> Any:
        """Start to read; return an iterable, with `close`, of items for `_block`."""
        return Ahead(self._read(start))

    def _block(self, read: Any) -> Block:
        return read

    def begin(self) -> None:
        """Start to read from the beginning, before `blocks` is called."""
        self._enter()
        self._begun = self._ahead(Position())

    def close(self) -> None:
        """Stop reading that `begin` started and `blocks` did not use."""
        begun, self._begun = self._begun, None
        (_, rest), self._peeked = self._peeked or (None, None), None
        for reading in (begun, rest):
            if reading is not None:
                reading.close()

    def peek(self) -> Block | None:
        """Return the first block, or None if there is none; `blocks` yields it again."""
        if self._peeked is None:
            blocks = self.blocks()
            self._peeked = next(blocks, None), blocks
        return self._peeked[0]

    def blocks(self, start: Position | None = None) -> Generator[Block, None, None]:
        """Yield the blocks from a position on; a thread reads ahead."""
        process = self._enter()
        if start is None and self._peeked is not None:
            (first, rest), self._peeked = self._peeked, None
            try:
                if first is not None:
                    yield first
                yield from rest
            finally:
                rest.close()
            return
        if start is None:
            self.rejects.start()
        else:
            self.close()
        begun, self._begun = self._begun, None
        self._readings += 1
        try:
            for read in begun or self._ahead(start or Position()):
                block = self._block(read)
                self.rejects.take(block.bad)
                yield block
                if os.getpid() != process:
                    raise ReadError(FORKED)
        finally:
            if os.getpid() == process:
                self._readings -= 1

    def _enter(self) -> int:
        """Return the number of this process; raise if it is a fork of one that was reading the source."""
        process = os.getpid()
        if self._process != process and (self._readings or self._begun is not None):
            raise ReadError(FORKED)
        self._process = process
        return process

    def survey(self) -> Survey:
        """Read everything once; keep only the sizes and the distinct labels."""
        import numpy as np

        rows, width, labels = 0, self.features or 0, None
        for block in self.blocks():
            rows, width = rows + len(block), max(width, block.width)
            if block.label is not None and len(block):
                new = np.unique(block.label)
                labels = new if labels is None else np.union1d(labels, new)
        return Survey(rows, width, labels)

    def settle(self) -> None:
        """Decide how to read, from the first rows; only a table has to."""

    # Names of features

    def name(self, feature: int) -> str | None:
        """Return the name of a feature, or None if features have none."""
        return None if self.names is None else self.names.name(feature)

    def other_name(self, feature: int) -> str | None:
        """Return a second name that was hashed to the same feature, or None."""
        return None if self.names is None else self.names.other(feature)

    @property
    def collisions(self) -> int:
        """How many features have more than one name."""
        return 0 if self.names is None else self.names.collisions

    def recall(self, features: Array, names: list[str] | None) -> Array:
        """Return the numbers that these features of a model have in this source."""
        return features if self.names is None else self.names.recall(features, names)

    # Columns of features

    @cached_property
    def _origins(self) -> Origins | None:
        from gossamer.sources.origins import Origins

        plan: Any = getattr(self, "columns", None)
        if not hasattr(plan, "origins"):
            return None
        columns, interactions = plan.origins()
        return Origins(columns, interactions, self.name)

    @property
    def numbers(self) -> int:
        """How many of the first features are numbers that every row has: the columns of an array, those of a table."""
        return 0

    @property
    def column_names(self) -> list[str] | None:
        """The columns of the table that make features, once they are known, and its interactions; None without one."""
        return None if self._origins is None else self._origins.columns

    def column_of(self, features: Array) -> Array:
        """Return the number of the column that each of some features comes from; -1 where its name is not known."""
        import numpy as np

        return np.full(len(features), -1) if self._origins is None else self._origins.of(features)

    # Reading other data in the same way, and resuming

    def settings(self) -> dict[str, Any]:
        """Return what `sources.source` needs to read other data in the same way."""
        return {}

    def state(self) -> dict[str, Any]:
        """Return the state of reading, for a checkpoint: JSON values and arrays."""
        return {} if self.names is None else self.names.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from such a state."""
        if self.names is not None:
            self.names.restore(state)
