"""Checkpoints: a run that is killed at any time resumes, and ends with the same result to the bit.

A checkpoint is one file of data (see `file_format`). A thread writes it beside the old one, flushes it to the disk and
renames it, while learning continues. One process at a time uses the folder. A run does not resume with other settings,
or on other data.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from gossamer import output
from gossamer.cli import checkpoint_state, fingerprint
from gossamer.cli.lock import Lock
from gossamer.cli.notes import Notes
from gossamer.model import file_format
from gossamer.online.stream import Streaming
from gossamer.sources.base import MAX_FEATURES, Source
from gossamer.sources.blocks import Position
from gossamer.sources.feature_names import BITS
from gossamer.validation import Array

NAME = "gossamer.checkpoint"
SCHEMA = "checkpoint 1"
MOST_COLUMNS = 1 << 20  # of a table, beside its hashed features


class Checkpoint:
    """A checkpoint in a folder. A run with other `settings` does not resume from it; `files` are those it reads."""

    def __init__(self, folder: Any, every: int, settings: dict[str, Any], files: list[str] | None = None) -> None:
        if every < 1:
            raise ValueError(f"The number of rows between checkpoints must be 1 or more; {every} was given.")
        self.path = Path(folder) / NAME
        if self.path.parent.exists() and not self.path.parent.is_dir():
            raise ValueError(f"{str(folder)!r} is not a folder; checkpoints need one.")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(self.path.parent)
        output.check(self.path)
        for left in self.path.parent.glob(f".{NAME}.*"):  # left by a run that was killed while writing
            left.unlink()
        self.every, self.settings = every, settings
        self._files = fingerprint.of(files or [])
        self._saved = 0  # rows seen at the last checkpoint
        self._writing = False  # whether the thread runs: from the first checkpoint to `finish`
        self._work: SimpleQueue[Any] = SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()
        self._failure: BaseException | None = None

    def offer(
        self, stream: Streaming, source: Source, position: Position, passes: int, seen: int, notes: Notes | None = None
    ) -> None:
        """Write a checkpoint if `every` rows came since the last one, and that one has finished writing.

        `seen` counts the rows of all passes, `passes` the complete passes.
        """
        if seen - self._saved >= self.every and stream.trainer is not None and self._idle.is_set():
            self.save(stream, source, position, passes, seen, notes)

    def save(
        self, stream: Streaming, source: Source, position: Position, passes: int, seen: int, notes: Notes | None = None
    ) -> None:
        """Hand the state to the thread that writes it."""
        self._wait()
        self._saved = seen
        firsts = getattr(source, "firsts", {})
        known = [about | {"sum": about["sum"] or firsts.get(about["path"])} for about in self._files]
        tree = {"settings": self.settings, "files": known}
        tree |= checkpoint_state.saved(stream, source, position, passes, seen)
        tree |= {} if notes is None else {"notes": notes.state()}
        arrays: dict[str, Array] = {}
        header = {"schema": SCHEMA, "state": checkpoint_state.packed(tree, arrays)}
        self._idle.clear()
        self._work.put((header, arrays))
        if not self._writing:
            threading.Thread(target=self._write, name="gossamer checkpoint", daemon=True).start()
            self._writing = True

    def _write(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                file_format.write(self.path, work[0], work[1], file_format.CRASH_MAGIC)
            except BaseException as error:
                self._failure = error
            del work  # frees its memory
            self._idle.set()

    def _wait(self) -> None:
        self._idle.wait()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def finish(self) -> None:
        """Wait until the last checkpoint is on disk; end the thread, and let others use the folder."""
        try:
            self.settle()
        finally:
            self._lock.release()

    def settle(self) -> None:
        """Wait until the last checkpoint is on disk; end the thread."""
        self._idle.wait()
        if self._writing:
            self._work.put(None)
            self._writing = False
        self._wait()

    def resume(self, stream: Streaming, source: Source, notes: Notes | None = None) -> tuple[Position, int, int] | None:
        """Restore the saved state; return position, passes and rows, or None if there is no checkpoint.

        Everything is checked before anything is changed.
        """
        if not self.path.exists():
            return None
        tree, arrays = self._read()
        with self._naming():
            self._compare(tree)
            state = checkpoint_state.check_source(tree["source"], source)
            new = checkpoint_state.restored(stream, source, tree, arrays, self._most_features())
            position = Position(*tree["position"])
            noted = Notes.check(tree["notes"])
            _check_rejects(source, tree["rejects"])
            source.restore(state)
        pipes = {about["path"]: about["sum"] for about in tree["files"] if about["size"] is None and about["sum"]}
        getattr(source, "firsts", {}).update(pipes)
        source.rejects.start(*tree["rejects"])
        stream.__dict__.update(new.__dict__)
        if notes is not None:
            notes.restore(noted, new.trainer, tree["passes"])
        self._saved = tree["seen"]
        return position, tree["passes"], tree["seen"]

    def loss(self) -> str:
        """Return the loss of the run that is to be resumed, for a command that did not name one."""
        loss = self._read()[0]["settings"].get("loss")
        self.settings["loss"] = loss if isinstance(loss, str) else "logistic"
        return self.settings["loss"]

    def _read(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the tree of the file, each value of its type, and its arrays."""
        header, arrays = file_format.read(self.path)
        if header.get("schema") != SCHEMA:
            raise file_format.FileError(f"{self.path}: this is not a checkpoint of this version of gossamer.")
        with self._naming():
            return checkpoint_state.tree_of(header.get("state"), arrays), arrays

    @contextlib.contextmanager
    def _naming(self) -> Iterator[None]:
        """Name the file in errors about what it holds."""
        try:
            yield
        except file_format.FileError as error:
            raise file_format.FileError(f"{self.path}: {error}") from None

    def _compare(self, tree: dict[str, Any]) -> None:
        """Raise if the checkpoint is of another command or of other data."""
        before, folder = tree["settings"], self.path.parent
        if before.get("penalty") == "l2":  # the name of the norm in older checkpoints
            before = before | {"penalty": "l2_norm"}
        differ = [k for k in sorted({*before, *self.settings}) if _given(before, k) != _given(self.settings, k)]
        if differ:
            was, now = _given(before, differ[0]), _given(self.settings, differ[0])
            raise ValueError(
                f"The checkpoint in {folder} is of another run: {differ[0]} was {_shown(was)} and is {_shown(now)}. "
                "Use another folder, or delete it."
            )
        if tree["files"]:
            for note in fingerprint.compare(tree["files"], self._files, folder):
                sys.stderr.write(f"{note}\n")
            self._files = tree["files"]

    def _most_features(self) -> int:
        """Return a bound on the number of features, so that a file claims no more memory than a line of data can."""
        given = [self.settings.get(name) or 0 for name in ("max_features", "features")]
        return max(*given, MAX_FEATURES, 1 << (self.settings.get("bits") or BITS)) + MOST_COLUMNS

    def delete(self) -> None:
        """Remove the file: the run is complete."""
        try:
            self.settle()
            self.path.unlink(missing_ok=True)
        finally:
            self._lock.release()


def _given(settings: dict[str, Any], name: str) -> Any:
    """Return a setting, or None if it was not given; older checkpoints do not have all of them."""
    value = settings.get(name)
    return None if value is False else value


def _shown(value: Any) -> str:
    return "not given" if value is None else repr(value)


def _check_rejects(source: Source, saved: list[int]) -> None:
    """Raise unless the file of bad lines has what it had."""
    path = source.rejects.path
    if path is not None and saved[1] > (Path(path).stat().st_size if Path(path).exists() else 0):
        raise ValueError(f"{path} had {saved[1]} bytes of bad lines at the checkpoint and has fewer now. Put it back.")
