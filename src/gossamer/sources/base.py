"""The interface of every source of rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

from gossamer.frozen import record
from gossamer.sources.blocks import Ahead, Block, Position, Rejects

if TYPE_CHECKING:
    from gossamer.sources.columns import Columns
    from gossamer.sources.feature_names import FeatureNames
    from gossamer.validation import Array

MAX_FEATURES = 1 << 26  # a single number in a file must not claim all memory


@record
class Survey:
    """The sizes and labels of a source, found by reading all of it once."""

    rows: int
    width: int
    labels: Array | None  # the distinct ones


class Source:
    """Rows in blocks. A kind of source defines `_read`; one that finds out how to read defines `settings` and `state`.

    A thread runs `_read`; `_block` turns what it yields into a block when it is needed. Text has threads of its own and
    defines `_ahead` instead.
    """

    rereadable = True  # whether `blocks` may be called again
    need_labels = True  # whether rows without a label are bad
    features: int | None = None  # the number of features, where it is known before reading
    names: FeatureNames | Columns | None = None  # of features, where they have any

    def __init__(self, on_error: Any = "stop") -> None:
        self.rejects = Rejects(on_error)
        self._begun: Any = None

    def _read(self, start: Position) -> Iterator[Any]:
        raise NotImplementedError

    def _ahead(self, start: Position) -> Any:
        """Start to read; return an iterable of what `_block` takes, with `close`."""
        return Ahead(self._read(start))

    def _block(self, read: Any) -> Block:
        return read

    def begin(self) -> None:
        """Start to read what `blocks` will yield from the beginning."""
        self._begun = self._ahead(Position())

    def close(self) -> None:
        """End what `begin` started, if its blocks were not read."""
        if self._begun is not None:
            self._begun.close()
            self._begun = None

    def blocks(self, start: Position | None = None) -> Generator[Block, None, None]:
        """Yield the blocks from a position on; a thread reads ahead."""
        if start is None:
            self.rejects.start()
        else:
            self.close()
        begun, self._begun = self._begun, None
        for read in begun or self._ahead(start or Position()):
            block = self._block(read)
            self.rejects.take(block.bad)
            yield block

    def survey(self) -> Survey:
        """Read everything once, keeping only the sizes and the distinct labels."""
        import numpy as np

        rows, width, labels = 0, self.features or 0, None
        for block in self.blocks():
            rows, width = rows + len(block), max(width, block.width)
            if block.label is not None and len(block):
                new = np.unique(block.label)
                labels = new if labels is None else np.union1d(labels, new)
        return Survey(rows, width, labels)

    # Names of features

    def name(self, feature: int) -> str | None:
        """Return the name of a feature, or None if features have none."""
        return None if self.names is None else self.names.name(feature)

    def other_name(self, feature: int) -> str | None:
        """Return a second name of the same feature (a hash collision), or None."""
        return None if self.names is None else self.names.other(feature)

    @property
    def collisions(self) -> int:
        """The number of features that have more than one name."""
        return 0 if self.names is None else self.names.collisions

    def recall(self, features: Array, names: list[str] | None) -> Array:
        """Return the numbers that these features of a model have in this source."""
        return features if self.names is None else self.names.recall(features, names)

    # Reading other data in the same way, and continuing after a stop

    def settings(self) -> dict[str, Any]:
        """Return what `sources.source` needs to read other data in the same way."""
        return {}

    def state(self) -> dict[str, Any]:
        """Return what reading has found out: JSON values and arrays."""
        return {} if self.names is None else self.names.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from such a state."""
        if self.names is not None:
            self.names.restore(state)
