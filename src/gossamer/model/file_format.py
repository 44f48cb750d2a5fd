"""The file format of models and checkpoints: a JSON header, raw arrays, a checksum. No pickle, no code.

8 bytes   a magic word
8 bytes   the length h of the header, little-endian
h bytes   the header, JSON in UTF-8; "arrays" lists name, type and length of each array
...       the arrays, little-endian, one after the other
...       a checksum of everything before it

Models end with SHA-256 (32 bytes), checkpoints with CRC-32 (4 bytes), which takes a third of the time. The magic word
says which. Reading checks every length and type before it is used.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from gossamer import output
from gossamer.validation import Array

MAGIC, CRASH_MAGIC = b"gossamer", b"gossckpt"
TYPES = {"<f8", "<f4", "<i8", "<i4", "|u1"}


class FileError(ValueError):
    """A file that is not valid."""


def _sha256(parts: Iterable[Any]) -> bytes:
    checksum = hashlib.sha256()
    for part in parts:
        checksum.update(part)
    return checksum.digest()


def _crc32(parts: Iterable[Any]) -> bytes:
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return checksum.to_bytes(4, "little")


SUMS = {MAGIC: (32, _sha256), CRASH_MAGIC: (4, _crc32)}  # length and function of the checksum


def write(path: Any, header: dict[str, Any], arrays: dict[str, Array], magic: bytes = MAGIC) -> None:
    """Write a file, whole or not at all (see `output.replaced`)."""
    kept = {name: np.ascontiguousarray(a).astype(a.dtype.newbyteorder("<"), copy=False) for name, a in arrays.items()}
    listed = [[name, a.dtype.str, len(a)] for name, a in kept.items()]
    words = json.dumps(header | {"arrays": listed}, ensure_ascii=False, allow_nan=False).encode()
    parts: list[Any] = [magic, len(words).to_bytes(8, "little"), words, *(a.data for a in kept.values())]
    parts.append(SUMS[magic][1](parts))
    output.write(path, parts)


def _is_type(word: Any) -> bool:
    return isinstance(word, str) and word in TYPES


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def read(path: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays of a file; raise `FileError` unless it is complete."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return parse(data)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


def parse(data: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays in these bytes. Nothing larger than the bytes is allocated."""
    size, checksum = SUMS.get(data[: len(MAGIC)], (0, None))
    if checksum is None or len(data) < len(MAGIC) + 8 + size:
        raise FileError("this is not a file of gossamer, or it is cut short.")
    body = memoryview(data)[:-size]
    if checksum([body]) != data[-size:]:
        raise FileError("the checksum is wrong: the file is corrupt or truncated.")
    start = len(MAGIC) + 8
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    if length > len(body) - start:
        raise FileError("the header is longer than the file.")
    try:
        header = json.loads(bytes(body[start : start + length]).decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise FileError("the header is not JSON.") from None
    if not isinstance(header, dict) or not isinstance(header.get("arrays"), list):
        raise FileError("the header does not list the arrays.")
    at, arrays = start + length, {}
    for entry in header["arrays"]:
        if not (isinstance(entry, list) and len(entry) == 3 and isinstance(entry[0], str) and _is_type(entry[1])):
            raise FileError("the header describes an invalid array.")
        name, kind, count = entry
        sound = isinstance(count, int) and not isinstance(count, bool) and count >= 0
        size = count * np.dtype(kind).itemsize if sound else -1
        if not 0 <= size <= len(body) - at or name in arrays:
            raise FileError(f"the array {name!r} does not fit into the file.")
        arrays[name] = np.frombuffer(body[at : at + size], np.dtype(kind)).astype(np.dtype(kind).newbyteorder("="))
        at += size
    if at != len(body):
        raise FileError("the file is longer than its arrays.")
    return header, arrays
