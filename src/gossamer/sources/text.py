"""The base of text formats: files are split at line ends and parsed in C++ by a thread, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gossamer import _core
from gossamer.registry import record
from gossamer.sources import files
from gossamer.sources.base import MAX_FEATURES, Source
from gossamer.sources.blocks import AHEAD, BadLine, Block, Position, ReadError

if TYPE_CHECKING:
    from gossamer.validation import Array

BLOCK = 1 << 20  # bytes of text in a block
FIRST = 4  # the first block is larger by this factor: it decides on labels, columns and steps
HEAD = 1 << 18  # bytes that a format with a preamble looks at, more where they are not enough
LONGEST = 1 << 27  # bytes in a line
BYTE_ORDER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\xef\xbb\xbf": "UTF-8"}


class TextSource(Source):
    """Rows from text files. A format implements `_make_parser`, and `_preamble` if it has a header."""

    has_preamble = False

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
        self.firsts: dict[str, str] = {}  # of pipes: how many bytes were read first, and their checksum
        self._parser: Any = None  # made when the first text is read; remembers what earlier files decided

    def _make_parser(self) -> Any:
        raise NotImplementedError

    def _preamble(self, text: bytes, path: str) -> int:
        """Look at the first text of a file; return how many bytes come before the rows."""
        return 0

    def _enough(self, text: bytes) -> bool:
        """Return whether the first text of a file is all that `_preamble` looks at."""
        return True

    def _labels(self, label: Array) -> Array | None:
        """Return the labels of a block, or None if there are none."""
        import numpy as np

        return None if len(label) and np.isnan(label).all() else label

    def _why(self, reason: str, column: int, text: bytes) -> str:
        """Return why a line could not be read, given the parser's reason; a format may know more."""
        return reason

    def _width(self, width: int) -> int:
        """Return the number of features, given one more than the largest in a block."""
        return width

    def _ahead(self, start: Position) -> Reading:
        return Reading(self, start)

    def _opened(self, at: Position) -> Opened | None:
        """Start to read a file; return None if it is empty."""
        file = files.Input(self.paths[at.file])
        try:
            file.skip(at.offset)
            if at.offset:
                self._compare_first(file)
            elif file.first:
                self.firsts.setdefault(file.path, f"{len(file.first)} {_sum(file.first)}")
            head, begin = b"", 0
            if self.has_preamble and at.offset == 0:
                head = file.read(HEAD)
                if not head:
                    file.close()
                    return None
                while b"\n" not in head and len(head) <= LONGEST and (more := file.read(len(head))):
                    head += more
                while not self._enough(head) and (more := file.read(len(head))):
                    head += more
                begin = min(self._preamble(head if b"\n" in head else head + b"\n", file.path), len(head))
            if self._parser is None:
                self._parser = self._make_parser()
            descriptor, more = file.flow()
            first = self.block * FIRST if at.file == 0 and at.offset == 0 else self.block
            reader = _core.Reader(
                self._parser, descriptor, head[begin:] + more, first, self.block, LONGEST, AHEAD, file.at_hand
            )
        except BaseException:
            file.close()
            raise
        return Opened(file, reader, head[:begin])

    def _compare_first(self, file: files.Input) -> None:
        """Raise if a pipe does not begin as the one did that a checkpoint was written for."""
        count, _, known = self.firsts.get(file.path, "0 ").partition(" ")
        if count.isdigit() and 0 < int(count) <= len(file.first) and _sum(file.first[: int(count)]) != known:
            name = "Standard input" if file.path == files.STDIN else file.path
            raise ReadError(f"{name} begins with other data than when the checkpoint was written.")

    def _block(self, read: Parsed) -> Block:
        path = self.paths[read.end.file]
        if read.rows is None:
            return self._lost(read, path)
        from gossamer.sources.rows import Rows

        got, text = read.rows.arrays(), read.text or b""
        return Block(
            Rows.of(
                got["starts"], got["index"], got["value"], self._labels(got["label"]), got["weight"], got["offset"]
            ),
            self._width(got["width"]),
            read.end,
            read.share,
            tags=[str(text[b:e], "utf-8", "replace") for b, e in got["tags"].reshape(-1, 2).tolist()] or None,
            bad=tuple(
                self._bad_line(path, read.line + n, at, why, bytes(text[b:e])) for n, at, why, b, e in got["bad"]
            ),
        )

    def _bad_line(self, path: str, line: int, column: int, reason: str, text: bytes) -> BadLine:
        for mark, encoding in BYTE_ORDER_MARKS.items():
            if line == 1 and text.startswith(mark):
                why = f"the file begins with the byte order mark of {encoding}; plain UTF-8 is needed"
                return BadLine(path, line, column, why, text)
        return BadLine(path, line, column, self._why(reason, column, text), text)

    def _lost(self, read: Parsed, path: str) -> Block:
        """Return an empty block for a line that is too long to be read."""
        import numpy as np

        from gossamer.sources.rows import Rows

        why, none = f"the line is longer than {LONGEST} bytes", np.empty(0)
        bad = BadLine(path, read.line + 1, LONGEST, why, bytes(read.text or b""))
        return Block(Rows.of(np.zeros(1, np.int64), np.empty(0, np.int32), none, none), 0, read.end, bad=(bad,))


def _sum(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


@record
class Parsed:
    """A parsed piece of text that becomes a block later, as NumPy may still be loading."""

    rows: Any  # `_core.TextRows`, or None for a line that is too long
    text: memoryview | None  # the text, if bad lines or tags refer to it
    line: int  # lines before the piece
    end: Position
    share: float  # fraction of the source read so far, 0 if unknown


@record
class Opened:
    """A file that is being read."""

    file: files.Input
    reader: Any
    preamble: bytes

    def close(self) -> None:
        """End reading."""
        self.reader.close()
        self.file.close()


class Reading:
    """The files of a source, one after the other; the next one is opened while the last blocks of one are used."""

    def __init__(self, source: TextSource, start: Position) -> None:
        self._source, self._start = source, start
        self._open: list[Opened | Exception | None] = []  # this file, and the next one if it has begun
        if start.file < len(source.paths):
            self._open.append(source._opened(start))

    def __iter__(self) -> Iterator[Parsed]:
        at, last = self._start, len(self._source.paths) - 1
        sizes = [files.size(path) for path in self._source.paths]
        try:
            while at.file <= last:
                now = self._open[0]
                if isinstance(now, Exception):
                    raise now
                if now is not None:
                    for read in self._pieces(now, at, sizes):
                        if at.file < last and len(self._open) == 1 and now.reader.done:
                            self._begin(at.file + 1)
                        yield read
                        at = read.end
                if at.file < last and len(self._open) == 1:
                    self._begin(at.file + 1)
                at = Position(at.file + 1, 0, 0, at.rows)
                self._end(self._open.pop(0))
        finally:
            self.close()

    def _begin(self, number: int) -> None:
        try:
            self._open.append(self._source._opened(Position(number)))
        except Exception as error:  # raised when its turn comes
            self._open.append(error)

    def _pieces(self, now: Opened, at: Position, sizes: list[int]) -> Iterator[Parsed]:
        offset, line, rows = at.offset + len(now.preamble), at.line + now.preamble.count(b"\n"), at.rows
        for piece in now.reader:
            if piece.unended:
                now.file.check()
            lines, count = (1, 0) if piece.rows is None else (piece.rows.lines, len(piece.rows))
            text = memoryview(piece.text) if piece.rows is None or piece.rows.points else None
            offset, rows = offset + piece.length, rows + count
            share = (sum(sizes[: at.file]) + now.file.consumed(offset)) / sum(sizes) if all(sizes) else 0.0
            yield Parsed(piece.rows, text, line, Position(at.file, offset, line + lines, rows), min(1.0, share))
            line += lines
        now.file.check()

    def _end(self, opened: Opened | Exception | None) -> None:
        if isinstance(opened, Opened):
            opened.close()

    def close(self) -> None:
        """End reading."""
        while self._open:
            self._end(self._open.pop())
