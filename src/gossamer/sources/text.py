"""Text formats: bytes cut at line ends, parsed in C++ without the interpreter's lock, a block at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gossamer import _core
from gossamer.records import record
from gossamer.sources import files
from gossamer.sources.base import MAX_FEATURES, Source
from gossamer.sources.blocks import BadLine, Block, Position

if TYPE_CHECKING:
    from gossamer.arrays import Array

BLOCK = 1 << 20  # bytes of text in a block
FIRST = 4  # times as much in the first one, which decides on much: labels, columns, steps
LONGEST = 1 << 27  # bytes of a line
WAITING = 2  # pieces handed to the parser and not yet parsed


class TextSource(Source):
    """Rows from files of text. A format gives `_make_parser`; one with a header also `_preamble`."""

    parsers = 1  # pieces parsed at the same time: one where what a piece holds changes how later ones are read

    def __init__(
        self,
        paths: Any,
        *,
        on_error: Any = "stop",
        need_labels: bool = True,
        max_features: int = MAX_FEATURES,
        block: int | None = None,
    ) -> None:
        super().__init__(on_error)
        self.paths = files.expanded(paths)
        self.need_labels = need_labels
        self.rereadable = all(files.rereadable(path) for path in self.paths)
        self.block = BLOCK if block is None else block
        self.limits = _core.Limits(1 if self.rejects.stops else 2**62, need_labels, min(max_features, 2**31 - 1))
        self._parser: Any = None  # made when the first text is there; knows what earlier files told

    def _make_parser(self) -> Any:
        raise NotImplementedError

    def _preamble(self, text: bytes, path: str) -> int:
        """Look at the first text of a file; return how many bytes of it come before the rows."""
        return 0

    def _labels(self, label: Array) -> Array | None:
        """Return the labels of a block, or None where there are none."""
        import numpy as np

        return None if len(label) and np.isnan(label).all() else label

    def _width(self, width: int) -> int:
        """Return the number of features, given that of the largest one in a block."""
        return width

    _cut: Callable[[bytes, int], int] = staticmethod(lambda text, known: text.rfind(b"\n", known) + 1)

    def _read(self, start: Position) -> Iterator[Parsed]:
        at = start
        sizes = [files.size(path) for path in self.paths]
        with ThreadPoolExecutor(self.parsers, "gossamer parser") as pool:
            for number in range(start.file, len(self.paths)):
                if number > start.file:
                    at = Position(number, 0, 0, at.rows)
                with files.opened(self.paths[number]) as file:
                    file.skip(at.offset)
                    for piece, rows in self._parsed(pool, file, at):
                        line = at.line + piece.text.count(b"\n", 0, piece.begin)  # before what was parsed
                        lines, count = (1, 0) if rows is None else (rows.lines, len(rows))
                        end = Position(at.file, at.offset + piece.length, line + lines, at.rows + count)
                        read = sum(sizes[:number]) + piece.consumed
                        share = min(1.0, read / sum(sizes)) if all(sizes) else 0.0
                        text = memoryview(piece.text)[piece.begin :] if rows is None or rows.points else None
                        yield Parsed(rows, text, line, end, share)
                        at = end

    def _parsed(self, pool: ThreadPoolExecutor, file: files.Input, at: Position) -> Iterator[tuple[Piece, Any]]:
        """Yield the pieces of a file, parsed; the next ones are read and handed over meanwhile."""
        waiting: deque[tuple[Piece, Future[Any] | None]] = deque()
        first = at.offset == 0
        begin = self.block * FIRST if at.rows == 0 and first else self.block
        for piece in pieces(file.read, self.block, self._cut, begin):
            piece.consumed = file.consumed
            if first:
                piece.begin, first = min(self._preamble(piece.text, self.paths[at.file]), piece.end), False
            if self._parser is None:
                self._parser = self._make_parser()
            future = None if piece.lost else pool.submit(self._parser.parse, piece.text, piece.begin, piece.end)
            waiting.append((piece, future))
            while len(waiting) >= (WAITING if self._decided() else 1):
                earlier, done = waiting.popleft()
                yield earlier, done and done.result()
        for earlier, done in waiting:
            yield earlier, done and done.result()

    def _decided(self) -> bool:
        """Return whether pieces may be handed over before earlier ones are parsed."""
        return True

    def _block(self, read: Parsed) -> Block:
        path = self.paths[read.end.file]
        if read.rows is None:
            return self._lost(read, path)
        got, text = read.rows.arrays(), read.text or b""
        return Block(
            got["starts"],
            got["index"],
            got["value"],
            self._labels(got["label"]),
            got["weight"],
            self._width(got["width"]),
            read.end,
            read.share,
            tags=[str(text[b:e], "utf-8", "replace") for b, e in got["tags"].reshape(-1, 2).tolist()] or None,
            bad=tuple(BadLine(path, read.line + n, at, why, bytes(text[b:e])) for n, at, why, b, e in got["bad"]),
        )

    def _lost(self, read: Parsed, path: str) -> Block:
        """Return an empty block for a line that is too long to be read."""
        import numpy as np

        why, none = f"the line is longer than {LONGEST} bytes", np.empty(0)
        bad = BadLine(path, read.line + 1, LONGEST, why, bytes(read.text or b""))
        return Block(np.zeros(1, np.int64), np.empty(0, np.int32), none, none, None, 0, read.end, bad=(bad,))


@record
class Parsed:
    """A piece that was parsed, on its way to become a block: it needs no NumPy, which may still be loading."""

    rows: Any  # `_core.TextRows`, or None for a line that is too long
    text: memoryview | None  # where bad lines and tags are
    line: int  # lines before it
    end: Position
    share: float  # of the source read so far, 0 if it is not known


@dataclass
class Piece:
    """Text that begins with whole lines; or the beginning of a line that is too long."""

    text: bytes
    end: int  # where the whole lines end
    length: int  # bytes of the file that they stand for
    lost: bool = False
    begin: int = 0  # where the rows begin
    consumed: int = 0  # bytes of the file that were read so far


def pieces(
    read: Callable[[int], bytes], size: int, cut: Callable[[bytes, int], int], first: int | None = None
) -> Iterator[Piece]:
    r"""Yield pieces of up to `size` bytes, more where a line is longer; where one ends depends on where it begins only.

    >>> import io
    >>> cut = lambda text, known: text.rfind(b"\n", known) + 1
    >>> [piece.text[: piece.end] for piece in pieces(io.BytesIO(b"one\ntwo\nthree").read, 6, cut)]
    [b'one\n', b'two\n', b'three\n']
    """
    rest, room = b"", first or size
    while data := read(room - len(rest) if len(rest) < room else min(len(rest), max(LONGEST - len(rest), 0) + 1)):
        text = rest + data if rest else data
        end = cut(text, len(rest))
        if end == 0 and len(text) > LONGEST:
            length, data = len(text), b""
            while (end := data.find(b"\n") + 1) == 0 and (data := read(size)):
                length += len(data)
            rest, room = data[end:], size
            yield Piece(text[:80], 0, length - len(rest), lost=True)
            continue
        if end:
            yield Piece(text, end, end)
            room = size
        rest = text[end:]
    if rest:
        yield Piece(rest + b"\n", len(rest) + 1, len(rest))
