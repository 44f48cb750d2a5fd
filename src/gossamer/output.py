"""Files that are written: whole or not at all, and never in place of something that is not a file.

Everything the library writes goes through `replaced`: models, checkpoints, reports, exports, predictions. The new file
is written beside the old one and renamed, so at any time, even after a crash, one of the two is there, complete.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from typing import IO, Any

KINDS = {  # of what is not a file
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS}
LINKS = 40  # symbolic links that are followed, one to the next


def check(path: Any) -> None:
    """Raise unless `replaced` could write this file now. Call it before work that takes time."""
    target, old = target_of(path)
    descriptor, temporary = _beside(path, target, old)
    try:
        os.close(descriptor)
    finally:
        os.unlink(temporary)


@contextlib.contextmanager
def replaced(path: Any, mode: str = "wb") -> Iterator[IO[Any]]:
    """Open a new file that takes the place of `path` at the end, or is removed if anything raises.

    Symbolic links are followed; an old file keeps its permissions and its owner. Special files and read-only files are
    refused.
    """
    target, old = target_of(path)
    descriptor, temporary = _beside(path, target, old)
    try:
        with open(descriptor, mode, encoding=None if "b" in mode else "utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno in FULL:
            left = "there is no such file now" if old is None else "the file that was there is unchanged"
            raise _refused(path, f"could not be written ({error.strerror}); {left}.", error) from None
        raise
    if hasattr(os, "O_DIRECTORY"):
        at = os.open(os.path.dirname(target), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(at)
        finally:
            os.close(at)


def write(path: Any, parts: Iterable[Any]) -> None:
    """Write a file of these bytes, as `replaced` does."""
    with replaced(path) as file:
        for part in parts:
            file.write(part)


def target_of(path: Any) -> tuple[str, os.stat_result | None]:
    """Return the path behind symbolic links and what is there now; raise if it must not be written."""
    target = os.fsdecode(path)
    if not os.path.basename(target):
        raise _refused(path, "is not the name of a file.")
    for _ in range(LINKS):
        folder = os.path.realpath(os.path.dirname(target))
        target = os.path.join(folder, os.path.basename(target))
        if not os.path.islink(target):
            break
        if folder.startswith("/proc/"):  # such as /dev/stdout: a link to what a process has open
            raise _refused(path, "is an open file of a process; leave it out for standard output, or name a file.")
        target = os.path.join(folder, os.readlink(target))
    else:
        raise _refused(path, f"is a chain of more than {LINKS} symbolic links.")
    if not os.path.isdir(folder):
        raise _refused(path, f"cannot be written: there is no folder {folder!r}.")
    try:
        old = os.lstat(target)
    except FileNotFoundError:
        return target, None
    if not stat.S_ISREG(old.st_mode):
        kind = KINDS.get(stat.S_IFMT(old.st_mode), "a special file")
        raise _refused(path, f"is {kind}, which is never replaced; name a file.")
    if not old.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise _refused(path, "is read-only; make it writable (chmod u+w) or choose another name.")
    return target, old


def _beside(path: Any, target: str, old: os.stat_result | None) -> tuple[int, str]:
    """Return a new, empty file in the folder of `target`, with the owner and the permissions of the old one."""
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:50]}.{os.urandom(6).hex()}")
    try:
        descriptor = os.open(
            temporary,
            os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0),
            0o666 if old is None else 0o600,
        )
    except OSError as error:
        raise _refused(
            path, f"cannot be written: no file can be made in {folder!r} ({error.strerror}).", error
        ) from None
    if old is None or not hasattr(os, "fchown"):
        return descriptor, temporary
    try:
        new = os.fstat(descriptor)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, old.st_mode & 0o777)
    except OSError as error:
        os.close(descriptor)
        os.unlink(temporary)
        words = f"cannot be replaced: its owner and permissions cannot be kept ({error.strerror}). Choose another name."
        raise _refused(path, words, error) from None
    return descriptor, temporary


def _refused(path: Any, words: str, cause: OSError | None = None) -> OSError:
    error = OSError(f"{os.fspath(path)!r} {words}")
    error.errno = None if cause is None else cause.errno
    return error
