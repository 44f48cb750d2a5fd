"""What every source of rows offers."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

from gossamer.registry import record
from gossamer.sources.blocks import Ahead, Block, Position, Rejects

if TYPE_CHECKING:
    from gossamer.validation import Array

MAX_FEATURES = 1 << 26  # a single number in a file must not claim all memory


@record
class Survey:
    """What one reading of a whole source tells."""

    rows: int
    width: int
    labels: Array | None  # the different ones


class Source:
    """Rows in blocks. A kind of source gives `_read`; one that names features or learns how to read gives the rest.

    What `_read` yields is made by a thread; `_block` makes a block of it when it is asked for. Text has threads of its
    own and gives `_ahead` instead.
    """

    rereadable = True  # whether `blocks` may be called again
    need_labels = True  # whether rows without a label are bad
    features: int | None = None  # the number of features, where it is known before reading

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
        """End what `begin` began and nobody asked for."""
        if self._begun is not None:
            self._begun.close()
            self._begun = None

    def blocks(self, start: Position | None = None) -> Generator[Block, None, None]:
        """Yield the blocks from a position on, read ahead by a thread."""
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
        """Read everything once, keeping nothing but the sizes and the different labels."""
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
        return None

    def other_name(self, feature: int) -> str | None:
        """Return a second name that fell on the same feature, or None."""
        return None

    @property
    def collisions(self) -> int:
        """How many features have more than one name."""
        return 0

    # Reading other data in the same way, and going on after a stop

    def settings(self) -> dict[str, Any]:
        """Return what `sources.source` needs to read other data in the same way."""
        return {}

    def recall(self, features: Array, names: list[str] | None) -> Array:
        """Return the numbers that these features of a model have in this source."""
        return features

    def state(self) -> dict[str, Any]:
        """Return what reading has found out: JSON values and arrays."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from such a state."""
