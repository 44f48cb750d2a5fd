"""Files as streams of bytes: patterns, standard input, and compression, found from the first bytes."""

from __future__ import annotations

import contextlib
import glob
import io
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO

from gossamer.sources.blocks import ReadError

STDIN = "-"
FIRST = 4096  # bytes of a pipe by which it is known again
_LEFT: list[Input] = []  # compressed files of another process
COMPRESSED = {".gz", ".bz2", ".xz", ".zst"}


_TEXTS = " A list of strings is taken for names of files; texts to learn from are a column of a table."


def expanded(paths: Any) -> list[str]:
    """Return the files that a path, a pattern or a list of them stands for; "-" is standard input."""
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found: list[str] = []
    for path in map(os.fsdecode, listed):
        if path == STDIN or os.path.exists(path):
            found.append(path)
        elif glob.has_magic(path):
            matches = sorted(glob.glob(path, recursive=True))
            if not matches:
                raise FileNotFoundError(f"No file matches {path!r}.")
            found += matches
        elif "://" in path:
            raise FileNotFoundError(f"{path!r} is an address, not a file: download it first, or pipe it in ('-').")
        else:
            texts = "" if len(listed) < 2 or any(map(os.path.exists, listed)) else _TEXTS
            raise FileNotFoundError(f"There is no file {path!r}.{texts}")
    for path in found:
        if os.path.isdir(path):
            raise IsADirectoryError(f"{path!r} is a folder; name its files, for instance {path.rstrip('/')}/*.svm.")
    if not found:
        raise ValueError("No file was named.")
    if found.count(STDIN) > 1:
        raise ValueError("Standard input can be read only once.")
    return found


def foreign(head: bytes) -> str | None:
    r"""Return what a file is that no reader here takes, from its first bytes, and what would do; None for others.

    >>> foreign(b"PK\x03\x04 ..."), foreign(b"age,size")
    ('a spreadsheet or a ZIP archive; save it as CSV, or unpack it', None)
    """
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for first, what in _FOREIGN.items():
        if begin.startswith(first):
            return what
    return None


_FOREIGN = {
    b"pk\x03\x04": "a spreadsheet or a ZIP archive; save it as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet; save it as CSV",
    b"sqlite format 3": "a database of SQLite; pass the result of a query, for instance pandas.read_sql(…)",
    b"%pdf-": "a PDF; tables are read from CSV, Parquet and data frames",
    b"<!doctype": "a web page or XML; look at what was downloaded",
    b"<html": "a web page; look at what was downloaded",
    b"<?xml": "XML; tables are read from CSV, Parquet and data frames",
}
JSON = "JSON; make a data frame of it, for instance pandas.read_json(…), or a CSV file"


def rereadable(path: str) -> bool:
    """Return whether the file can be read twice."""
    return path != STDIN and os.path.isfile(path)


def size(path: str) -> int:
    """Return the size of a file in bytes, 0 if it is not known."""
    return os.stat(path).st_size if rereadable(path) else 0


class _Remembering(io.FileIO):
    """A pipe that remembers the first bytes that were read of it."""

    first = b""

    def readinto(self, room: Any) -> int | None:
        got = super().readinto(room)
        if got and len(self.first) < FIRST:
            self.first += bytes(memoryview(room)[: min(got, FIRST - len(self.first))])
        return got


class Input:
    """One file being read and decompressed: first by `read(n)`, then the rest through a descriptor by `flow`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._process = os.getpid()
        self.size = size(path)
        if rereadable(path):
            self._raw: Any = io.FileIO(path)
        else:
            self._raw = _Remembering(sys.stdin.fileno(), closefd=False) if path == STDIN else _Remembering(path)
        self._buffered = io.BufferedReader(self._raw, 1 << 16)
        head = self._buffered.peek(8)[:8]
        self.plain = False
        self.stream: BinaryIO
        if head.startswith(b"\x1f\x8b"):
            import gzip

            self.stream = gzip.GzipFile(fileobj=self._buffered)  # type: ignore[assignment]
        elif head.startswith(b"BZh"):
            import bz2

            self.stream = bz2.BZ2File(self._buffered)  # type: ignore[assignment]
        elif head.startswith(b"\xfd7zXZ\x00"):
            import lzma

            self.stream = lzma.LZMAFile(self._buffered)  # type: ignore[assignment]  # noqa: SIM115 (closed with the input)
        elif head.startswith(b"\x28\xb5\x2f\xfd"):
            self.stream = _zstd(self._buffered)
        else:
            self.plain, self.stream = True, self._buffered
        self.at_hand = self.plain and rereadable(path)  # reading never waits for another process
        self._pipe: tuple[int, int] | None = None  # carries decompressed bytes
        self._thread: threading.Thread | None = None
        self._flown = 0  # bytes decompressed so far
        self._broken: Exception | None = None

    @property
    def first(self) -> bytes:
        """The first bytes of what can be read only once, as far as they were read here."""
        return getattr(self._raw, "first", b"")

    def read(self, n: int) -> bytes:
        """Return the next n bytes, fewer at the end; raise `ReadError` if compressed data is corrupt."""
        try:
            return self.stream.read(n)
        except EOFError:
            raise ReadError(f"{self.path}: the compressed data ends too early; the file is truncated.") from None
        except Exception as error:  # each library has its own
            if self.plain or isinstance(error, MemoryError):
                raise
            raise ReadError(f"{self.path}: the compressed data is corrupt: {error}") from None

    def skip(self, n: int) -> None:
        """Skip n decompressed bytes."""
        if self.plain and rereadable(self.path):
            if n > self.size:
                raise ReadError(f"{self.path} is shorter than it was when the checkpoint was written.")
            self._buffered.seek(n)
            return
        while n > 0:
            got = len(self.read(min(n, 1 << 20)))
            if got == 0:
                raise ReadError(f"{self.path} is shorter than it was when the checkpoint was written.")
            n -= got

    def flow(self) -> tuple[int, bytes]:
        """Return a descriptor of the rest of the bytes, and the bytes that come before it."""
        if self.plain:
            return self._raw.fileno(), self._buffered.read1(1 << 16)
        self._pipe = os.pipe()
        self._thread = threading.Thread(target=self._pour, name="gossamer decompressor", daemon=True)
        self._thread.start()
        return self._pipe[0], b""

    def _pour(self) -> None:
        assert self._pipe is not None
        with contextlib.suppress(BrokenPipeError), os.fdopen(self._pipe[1], "wb", 0) as out:  # the reader has closed it
            try:
                while data := self.read(1 << 18):
                    self._flown += len(data)
                    while data:
                        data = data[out.write(data) :]
            except BrokenPipeError:
                raise
            except Exception as error:  # set before the reader sees the end
                self._broken = error

    def check(self) -> None:
        """Raise the error that ended the decompression, if there was one."""
        if self._broken is not None:
            raise self._broken

    def consumed(self, taken: int) -> float:
        """Return about how many bytes of the file `taken` decompressed bytes are."""
        if self.plain or self._flown == 0:
            return taken
        return float(self._raw.tell()) * min(1.0, taken / self._flown) if self.size else 0.0

    def close(self) -> None:
        """Close the file."""
        if os.getpid() != self._process and self._thread is not None:
            _LEFT.append(
                self
            )  # a fork: the lock of the stream may be locked for ever, and freeing it would wait for it
            return
        if self._pipe is not None and self._thread is not None:
            os.close(self._pipe[0])
            self._thread.join(timeout=1.0)
            if self._thread.is_alive():  # it waits for standard input
                return
        if not self.plain:
            self.stream.close()
        self._buffered.close()


@contextlib.contextmanager
def opened(path: str) -> Iterator[Input]:
    """Open a file for reading."""
    source = Input(path)
    try:
        yield source
    finally:
        source.close()


def _zstd(file: Any) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(file)
    try:
        import zstandard
    except ImportError:
        raise ImportError("Zstandard files need the package zstandard: pip install 'gossamer[zstd]'.") from None
    return io.BufferedReader(_Frames(file, zstandard), 1 << 20)


class _Frames(io.RawIOBase):
    """Zstandard frames one after the other; unlike zstandard's own reader it detects a truncated file."""

    def __init__(self, file: Any, library: Any) -> None:
        self._file, self._library = file, library
        self._frame: Any = None
        self._fed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        while not self._ready:
            # A few kilobytes at a time: this bounds the output, even of a decompression bomb.
            data = self._fed or self._file.read(1 << 13)
            self._fed = b""
            if not data:
                if self._frame is not None:
                    raise EOFError
                return 0
            if self._frame is None:
                self._frame = self._library.ZstdDecompressor().decompressobj()
            try:
                self._ready = memoryview(self._frame.decompress(data))
            except self._library.ZstdError as error:
                raise OSError(str(error)) from None
            if self._frame.eof:
                self._fed, self._frame = self._frame.unused_data, None
        n = min(len(room), len(self._ready))
        room[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        return n
