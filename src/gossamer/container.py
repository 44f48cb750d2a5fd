"""One file of data: a JSON header, raw arrays, a checksum. No pickle, no code; read with nothing taken on trust.

8 bytes   the magic word
8 bytes   the length h of the header, little-endian
h bytes   the header, JSON in UTF-8; "arrays" lists name, type and length of each array
...       the arrays, little-endian, one after the other
32 bytes  SHA-256 of all that comes before
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.arrays import Array

MAGIC = b"gossamer"
TYPES = {"<f8", "<f4", "<i8", "<i4", "|u1"}
_SUM = 32


class FileError(ValueError):
    """A file that is not what it should be."""


def write(path: Any, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write a file so that at any instant, whatever happens, either the old or the new one is there, whole."""
    path = Path(path)
    kept = {name: np.ascontiguousarray(a).astype(a.dtype.newbyteorder("<"), copy=False) for name, a in arrays.items()}
    listed = [[name, a.dtype.str, len(a)] for name, a in kept.items()]
    words = json.dumps(header | {"arrays": listed}, ensure_ascii=False, allow_nan=False).encode()
    checksum = hashlib.sha256()
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        with temporary.open("xb") as file:
            parts: list[Any] = [MAGIC, len(words).to_bytes(8, "little"), words, *(a.data for a in kept.values())]
            for part in parts:
                checksum.update(part)
                file.write(part)
            file.write(checksum.digest())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read(path: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays of a file; raises `FileError` unless it is whole."""
    data = Path(path).read_bytes()
    try:
        return parse(data)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


def parse(data: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays in these bytes. Nothing larger than the bytes themselves is made."""
    if len(data) < len(MAGIC) + 8 + _SUM or data[: len(MAGIC)] != MAGIC:
        raise FileError("this is not a file of gossamer, or it is cut short.")
    body, checksum = memoryview(data)[:-_SUM], data[-_SUM:]
    if hashlib.sha256(body).digest() != checksum:
        raise FileError("the checksum is wrong: the file is broken or cut short.")
    start = len(MAGIC) + 8
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    if length > len(body) - start:
        raise FileError("the header is longer than the file.")
    try:
        header = json.loads(bytes(body[start : start + length]).decode("utf-8"))
    except (ValueError, RecursionError):
        raise FileError("the header is not JSON.") from None
    if not isinstance(header, dict) or not isinstance(header.get("arrays"), list):
        raise FileError("the header does not list the arrays.")
    at, arrays = start + length, {}
    for entry in header["arrays"]:
        if not (isinstance(entry, list) and len(entry) == 3 and isinstance(entry[0], str) and entry[1] in TYPES):
            raise FileError("the header describes an array that cannot be.")
        name, kind, count = entry
        size = count * np.dtype(kind).itemsize if isinstance(count, int) and count >= 0 else -1
        if not 0 <= size <= len(body) - at or name in arrays:
            raise FileError(f"the array {name!r} does not fit into the file.")
        arrays[name] = np.frombuffer(body[at : at + size], np.dtype(kind)).astype(np.dtype(kind).newbyteorder("="))
        at += size
    if at != len(body):
        raise FileError("the file is longer than its arrays.")
    return header, arrays
