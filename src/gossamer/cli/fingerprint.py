"""Fingerprints of the files that a run reads, so that it does not resume on other data.

A fingerprint is the size of a file and a checksum of it: of all of it up to 16 MiB, of 256 pieces spread evenly over a
larger one, which takes milliseconds for any size. Of standard input and pipes only what was read first is compared,
when it comes again (sources/text.py), and a line says so.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from gossamer.sources import files

PIECES, PIECE = 256, 1 << 16


def of(paths: list[str]) -> list[dict[str, Any]]:
    """Return the fingerprints of files: path, size, checksum, and the time of the last change."""
    found: list[dict[str, Any]] = []
    for path in paths:
        if not files.rereadable(path):
            found.append({"path": path, "size": None, "sum": None, "changed": None})
            continue
        about = Path(path).stat()
        found.append(
            {"path": path, "size": about.st_size, "sum": _sum(path, about.st_size), "changed": about.st_mtime_ns}
        )
    return found


def _sum(path: str, size: int) -> str:
    """Return a checksum of the first `size` bytes of a file."""
    checksum = hashlib.sha256()
    with Path(path).open("rb") as file:
        if size <= PIECES * PIECE:
            checksum.update(file.read(size))
        else:
            for i in range(PIECES):
                file.seek(i * (size - PIECE) // (PIECES - 1))
                checksum.update(file.read(PIECE))
    return checksum.hexdigest()


def compare(before: list[dict[str, Any]], now: list[dict[str, Any]], folder: Any) -> list[str]:
    """Raise if the files are not those that the run began with; return notes on what may have changed."""
    names, given = [f["path"] for f in before], [f["path"] for f in now]
    if names != given:
        raise ValueError(
            f"The run in {folder} began with other files: {_some(names)}; now there are {_some(given)}. "
            + _instead(folder)
        )
    notes = []
    for old, new in zip(before, now, strict=True):
        path = old["path"]
        if (old["size"] is None) != (new["size"] is None):
            raise ValueError(f"{path} was {_kind(old)} when the run began, and is {_kind(new)} now. {_instead(folder)}")
        if old["size"] is None:
            name = "Standard input" if path == files.STDIN else f"{path}, a pipe,"
            notes.append(
                f"{name} can be compared with what the run began with by its first bytes only: what was read of it is "
                "skipped, so that the same data must come again from its start"
            )
            continue
        if new["size"] > old["size"] and _sum(path, old["size"]) == old["sum"]:
            raise ValueError(
                f"{path} has grown from {old['size']} to {new['size']} bytes since the run in {folder} began. To learn "
                f"from all of it, delete the folder and start again; to finish the run as it began, cut the file: "
                f"truncate -s {old['size']}."
            )
        if (new["size"], new["sum"]) != (old["size"], old["sum"]):
            sizes = f"{old['size']} bytes then, {new['size']} now" if new["size"] != old["size"] else "of the same size"
            raise ValueError(f"{path} is not the file that the run began with ({sizes}). {_instead(folder)}")
        if new["changed"] != old["changed"] and new["size"] > PIECES * PIECE:
            notes.append(
                f"{path} was written to since the run began; its size and {PIECES} pieces of it are the same, "
                "the rest was not compared"
            )
    return notes


def _instead(folder: Any) -> str:
    return f"Put back what it read, or delete {folder} and start again."


def _kind(of: dict[str, Any]) -> str:
    return "a pipe" if of["size"] is None else "a file"


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f", … ({len(names)} files)" if len(names) > 5 else "")
