"""Rows in random order, with bounded memory: pieces of files in random order, and rows shuffled within a window.

Plain text files are cut once into pieces of a fixed size, whose order is drawn; the rows of some pieces are shuffled
together. What can only be read from its beginning on (compressed files, pipes, tables) is read in its order, and
the rows of each window are shuffled. Neither depends on the blocks in which a source is read.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gossamer.registry import record
from gossamer.sources import files
from gossamer.sources.base import Source
from gossamer.sources.blocks import ROWS, Block, Position, ReadError
from gossamer.sources.text import LONGEST, Parsed, TextSource

if TYPE_CHECKING:
    from gossamer.sources.rows import Rows

PIECE = 1 << 20  # bytes of a piece, more where a line is longer
PIECES = 16  # in a window
WINDOW_ROWS, WINDOW_ENTRIES = 1 << 16, 1 << 23  # of a window of rows in their order


@record
class Piece:
    """Whole lines of a file."""

    file: int
    begin: int
    end: int
    line: int  # lines before it


class Shuffled(Source):
    """The rows of another source in an order that follows from `seed`: the same in every pass, and in every run."""

    def __init__(self, inner: Source, seed: int) -> None:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise ValueError(f"shuffle must be a whole number ≥ 0, the seed of the order; {seed!r} was given.")
        super().__init__()
        self.inner, self.seed = inner, seed
        self.rejects = inner.rejects
        self._pieces: list[Piece] | None = None

    def __getattr__(self, name: str) -> Any:  # whatever else is known of the data
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    rereadable = property(lambda self: self.inner.rereadable)
    need_labels = property(lambda self: self.inner.need_labels)
    features = property(lambda self: self.inner.features)
    names = property(lambda self: self.inner.names)

    def settle(self) -> None:
        self.inner.settle()

    def settings(self) -> dict[str, Any]:
        return self.inner.settings()  # other data is read in its order

    def state(self) -> dict[str, Any]:
        return self.inner.state()

    def restore(self, state: dict[str, Any]) -> None:
        self.inner.restore(state)

    def close(self) -> None:
        super().close()
        self.inner.close()

    def begin(self) -> None:
        """Do nothing: `blocks` begins to read."""

    @property
    def by_pieces(self) -> bool:
        """Whether pieces come in random order; otherwise rows move only within a window."""
        return isinstance(self.inner, TextSource) and all(map(_is_plain, self.inner.paths))

    def _read(self, start: Position) -> Iterator[Block]:
        """Yield shuffled windows in blocks. A position is the number of the window, and the rows used of it."""
        import numpy as np

        windows = self._windows_of_pieces(start.file) if self.by_pieces else self._windows_of_rows(start.file)
        used, rows = start.offset, start.rows
        for number, window in enumerate(windows, start.file):
            order = np.random.default_rng([self.seed, number]).permutation(len(window))
            for begin in range(used, max(len(window), 1), ROWS):
                end = min(begin + ROWS, len(window))
                rows += end - begin
                at = Position(number, end, 0, rows) if end < len(window) else Position(number + 1, 0, 0, rows)
                bad = () if begin else window.bad  # they count once, with the first rows
                yield replace(window.taken(order[begin:end]), position=at, bad=bad)
            used = 0

    # Pieces of files in random order

    def _windows_of_pieces(self, first: int) -> Generator[Block, None, None]:
        import numpy as np

        inner = self.inner
        assert isinstance(inner, TextSource)
        if self._pieces is None:
            self._pieces = _pieces_of(inner)
        order = np.random.default_rng(self.seed).permutation(len(self._pieces)).tolist()
        groups = [order[i : i + PIECES] for i in range(0, len(order), PIECES)]
        for number in range(first, len(groups)):
            parts = [_parsed(inner, self._pieces[i]) for i in groups[number]]
            yield replace(_joined(parts), share=(number + 1) / len(groups))

    # Rows of a source that is read from its beginning on

    def _windows_of_rows(self, first: int) -> Iterator[Block]:
        """Yield windows of so many rows or entries, wherever blocks end."""
        number, parts, rows, entries = 0, list[Block](), 0, 0
        begun, self.inner._begun = self.inner._begun, None
        reading = begun or self.inner._ahead(Position())
        try:
            for read in reading:
                block = self.inner._block(read)
                begin = 0
                while begin < len(block) or (begin == 0 and block.bad):
                    end = _end_of_window(block, begin, WINDOW_ROWS - rows, WINDOW_ENTRIES - entries)
                    parts.append(_sliced(block, begin, end))
                    rows, entries = rows + end - begin, entries + len(parts[-1].index)
                    if end < len(block) or rows >= WINDOW_ROWS or entries >= WINDOW_ENTRIES:
                        if number >= first:
                            yield _joined(parts)
                        number, parts, rows, entries = number + 1, [], 0, 0
                    begin = end
                    if begin == 0:
                        break
            if parts and number >= first:
                yield _joined(parts)
        finally:
            reading.close()


def _sliced(block: Block, begin: int, end: int) -> Block:
    """Return some rows of a block; the first ones have its bad lines."""
    tags = None if block.tags is None else block.tags[begin:end]
    bad = () if begin else block.bad
    return replace(block, rows=block.rows[begin:end].compact(), tags=tags, bad=bad)


def _end_of_window(block: Block, begin: int, rows: int, entries: int) -> int:
    """Return the end of the rows that still fit into a window; one row fits always."""
    import numpy as np

    starts = block.starts
    fits = int(np.searchsorted(starts, starts[begin] + entries, side="right")) - 1
    return min(len(block), max(begin + 1, min(begin + rows, fits)))


def _is_plain(path: str) -> bool:
    """Return whether a file can be read from any place on."""
    if not files.rereadable(path):
        return False
    with files.opened(path) as file:
        return file.plain


def _pieces_of(source: TextSource) -> list[Piece]:
    """Cut the files of a source at line ends."""
    pieces: list[Piece] = []
    for number, path in enumerate(source.paths):
        opened = source._opened(Position(number))
        if opened is None:
            continue
        opened.close()
        begin, line, cut = len(opened.preamble), opened.preamble.count(b"\n"), source._parser.cut
        with open(path, "rb") as file:
            file.seek(begin)
            text = b""
            while more := file.read(PIECE):
                text += more
                # Without a line end for long, a quote is not closed: then any line end will do.
                if end := cut(text) or (text.rfind(b"\n") + 1 if len(text) > LONGEST else 0):
                    pieces.append(Piece(number, begin, begin + end, line))
                    begin, line, text = begin + end, line + text.count(b"\n", 0, end), text[end:]
            if text:
                pieces.append(Piece(number, begin, begin + len(text), line))
    if pieces:
        _parsed(source, pieces[0])  # the first lines may decide how the others are read
    return pieces


def _parsed(source: TextSource, piece: Piece) -> Block:
    with open(source.paths[piece.file], "rb") as file:
        file.seek(piece.begin)
        text = file.read(piece.end - piece.begin)
    if len(text) < piece.end - piece.begin:
        raise ReadError(f"{source.paths[piece.file]} has become shorter while it was read.")
    text += b"" if text.endswith(b"\n") else b"\n"
    rows = source._parser.parse(text)
    return source._block(Parsed(rows, memoryview(text), piece.line, Position(piece.file), 0.0))


def _joined(parts: list[Block]) -> Block:
    """Return blocks as one."""
    import numpy as np

    from gossamer.sources.rows import Rows

    if len(parts) == 1:
        return parts[0]
    filled = [part.rows for part in parts]
    moved = np.cumsum([0, *(len(rows.index) for rows in filled)])[:-1]

    def all_of(arrays: list[Any], usual: Any) -> Any:
        if all(array is None for array in arrays):
            return None
        return np.concatenate([usual(len(r)) if a is None else a for a, r in zip(arrays, filled, strict=True)])

    labels = [rows.y for rows in filled if len(rows)]
    rows: Rows = Rows(
        np.concatenate([rows.begins + m for rows, m in zip(filled, moved, strict=True)]),
        np.concatenate([rows.ends + m for rows, m in zip(filled, moved, strict=True)]),
        np.concatenate([rows.index for rows in filled]),
        np.concatenate([rows.value for rows in filled]),
        None if any(y is None for y in labels) else np.concatenate(labels or [np.empty(0)]),
        all_of([rows.weight for rows in filled], np.ones),
        all_of([rows.offset for rows in filled], np.zeros),
    )
    tags = [part.tags for part in parts]
    return Block(
        rows,
        max(part.width for part in parts),
        parts[-1].position,
        parts[-1].share,
        None
        if all(t is None for t in tags)
        else [x for t, p in zip(tags, parts, strict=True) for x in t or [""] * len(p)],
        tuple(bad for part in parts for bad in part.bad),
    )
