"""A folder that one process uses at a time. The lock dies with its process, however that ends."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path

NAME = "gossamer.lock"


class Lock:
    """The lock of a folder, held from its creation to `release`; raises if another process holds it."""

    def __init__(self, folder: Path) -> None:
        self._path, self._file = folder / NAME, -1
        while self._file < 0:
            self._file = _locked(self._path)
        os.ftruncate(self._file, 0)
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        os.write(self._file, f"process {os.getpid()} on {os.uname().nodename}, since {since}".encode())

    def release(self) -> None:
        """Let others use the folder; the file of the lock is removed."""
        if self._file >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.release()


def _locked(path: Path) -> int:
    """Return a descriptor that holds the lock, or -1 if the file was removed meanwhile."""
    import fcntl

    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    file = os.open(path, flags, 0o644)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(f"{str(path)!r} is not a file; use another folder for checkpoints.")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = os.read(file, 200).decode("utf-8", "replace") or "another process"
            raise OSError(
                f"The checkpoints in {str(path.parent)!r} are in use by {who}. "
                "Wait until it ends, or use another folder."
            ) from None
        try:
            same = os.fstat(file).st_ino == path.stat().st_ino
        except FileNotFoundError:
            same = False
    except BaseException:
        os.close(file)
        raise
    if not same:  # whoever held the lock has removed the file: take the new one
        os.close(file)
        return -1
    return file
