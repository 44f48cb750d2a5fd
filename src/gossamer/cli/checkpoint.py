"""Checkpoints: a run that is killed at any time resumes, and ends with the same result to the bit.

A checkpoint is one file of data (see `file_format`). A thread writes it beside the old one, flushes it to the disk and
renames it, while learning continues.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from queue import SimpleQueue
from typing import Any

import numpy as np

from gossamer.model import file_format
from gossamer.online.old_state import converted
from gossamer.online.stream import Streaming
from gossamer.sources.base import Source
from gossamer.sources.blocks import Position
from gossamer.sources.rows import Rows
from gossamer.validation import Array

NAME = "gossamer.checkpoint"
SCHEMA = "checkpoint 1"
_OF_THE_COMMAND = ("method", "penalty", "setup", "targets", "strategy")  # rebuilt from the settings
_EARLIER_NAMES = {"pace": "setting", "paces": "steps"}  # in older checkpoints


class Checkpoint:
    """A checkpoint in a folder. A run with other `settings` does not resume from it."""

    def __init__(self, folder: Any, every: int, settings: dict[str, Any]) -> None:
        if every < 1:
            raise ValueError(f"The number of rows between checkpoints must be 1 or more; {every} was given.")
        from pathlib import Path

        self.path = Path(folder) / NAME
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for left in self.path.parent.glob(f".{NAME}.*"):  # left by a run that was killed while writing
            left.unlink()
        self.every, self.settings = every, settings
        self._saved = 0  # rows seen at the last checkpoint
        self._writing = False  # whether the thread runs: from the first checkpoint to `finish`
        self._work: SimpleQueue[Any] = SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()
        self._failure: BaseException | None = None

    def offer(self, stream: Streaming, source: Source, position: Position, passes: int, seen: int) -> None:
        """Write a checkpoint if `every` rows came since the last one, and that one has finished writing.

        `seen` counts the rows of all passes, `passes` the complete passes.
        """
        if seen - self._saved >= self.every and stream.trainer is not None and self._idle.is_set():
            self.save(stream, source, position, passes, seen)

    def save(self, stream: Streaming, source: Source, position: Position, passes: int, seen: int) -> None:
        """Hand the state to the thread that writes it."""
        self._wait()
        self._saved = seen
        classes = stream.trainer.targets.classes
        tree = {
            "settings": self.settings,
            "position": dataclasses.astuple(position),
            "passes": passes,
            "seen": seen,
            "rejects": [source.rejects.count, source.rejects.size],
            "source": source.state(),
            "width": stream.width,
            "fixed": stream.problem.features,
            "room": [stream.trainer.setup.features, stream.trainer.setup.outputs],
            "kind": stream.trainer.targets.kind,
            "classes": None if classes is None else classes.tolist(),
            "labels": sorted(stream.labels) if stream.problem.assumed else None,
            "trainer": _trainer_state(stream.trainer),
        }
        arrays: dict[str, Array] = {}
        header = {"schema": SCHEMA, "state": _packed(tree, arrays)}
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
        """Wait until the last checkpoint is on disk; end the thread."""
        self._idle.wait()
        if self._writing:
            self._work.put(None)
            self._writing = False
        self._wait()

    def resume(self, stream: Streaming, source: Source) -> tuple[Position, int, int] | None:
        """Restore the saved state; return position, passes and rows, or None if there is no checkpoint."""
        if not self.path.exists():
            return None
        header, arrays = file_format.read(self.path)
        if header.get("schema") != SCHEMA:
            raise file_format.FileError(f"{self.path}: this is not a checkpoint of this version of gossamer.")
        try:
            tree = _unpacked(header["state"], arrays)
            differ = {k for k in {*tree["settings"], *self.settings} if tree["settings"].get(k) != self.settings.get(k)}
            if differ:
                name = sorted(differ)[0]
                raise ValueError(
                    f"The checkpoint in {self.path.parent} is of another run: {name} was "
                    f"{tree['settings'].get(name)!r} and is {self.settings.get(name)!r}. "
                    "Use another folder, or delete it."
                )
            source.restore(tree["source"])
            source.rejects.start(*tree["rejects"])
            _restore(stream, tree)
            self._saved = tree["seen"]
            return Position(*tree["position"]), tree["passes"], tree["seen"]
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise file_format.FileError(f"{self.path}: the checkpoint is corrupt ({error!r}).") from None

    def delete(self) -> None:
        """Remove the file: the run is complete."""
        self.finish()
        self.path.unlink(missing_ok=True)


def _trainer_state(trainer: Any) -> dict[str, Any]:
    return {name: value for name, value in trainer.__getstate__().items() if name not in _OF_THE_COMMAND}


def _restore(stream: Streaming, tree: dict[str, Any]) -> None:
    classes = None if tree["classes"] is None else np.array(tree["classes"])
    stream.width = tree["width"]
    labels = tree.get("labels")  # not in older checkpoints
    stream.problem = dataclasses.replace(
        stream.problem, features=tree["fixed"], classes=classes, assumed=labels is not None
    )
    stream.labels = set(labels or ())
    features, outputs = tree["room"]
    fresh = stream.made(features, stream.coded_for(classes, outputs))
    state = fresh.__getstate__()
    for name, value in _renamed(tree["trainer"]).items():
        old = state.get(name)
        if name == "learner":
            state[name] = converted(value, old, features)
        elif name == "buffer":
            state[name] = None if value is None else Rows(**value)
        elif dataclasses.is_dataclass(old) and isinstance(value, dict):
            state[name] = dataclasses.replace(old, **_renamed(value))  # type: ignore[type-var]
        elif name in state:
            state[name] = value
    fresh.__setstate__(state)
    stream.trainer = fresh


def _renamed(values: dict[str, Any]) -> dict[str, Any]:
    return {_EARLIER_NAMES.get(name, name): value for name, value in values.items()}


# The state is a tree of JSON values; arrays are stored separately.


def _packed(value: Any, arrays: dict[str, Array]) -> Any:
    if isinstance(value, np.ndarray):
        name = str(len(arrays))
        flat = np.ascontiguousarray(value).reshape(-1)  # the learner's arrays are copies, so nothing writes to it
        arrays[name] = flat[: len(flat) - _zeros_at_the_end(flat)]
        return {"array": name, "shape": list(value.shape)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {"dict": {str(k): _packed(v, arrays) for k, v in value.items()}}
    if isinstance(value, (list, tuple)):
        return {"list": [_packed(v, arrays) for v in value]}
    value = value.item() if isinstance(value, np.generic) else value
    return {"float": repr(value)} if isinstance(value, float) and not math.isfinite(value) else value


def _zeros_at_the_end(flat: Array) -> int:
    """Return the number of zeros at the end: a learner has room for features that have not appeared yet."""
    end, step = len(flat), 1 << 16
    while end > 0 and step >= 1 << 10:
        begin = max(end - step, 0)
        if np.count_nonzero(flat[begin:end].view(f"u{flat.itemsize}")):
            step //= 4
        else:
            end = begin
    return len(flat) - end


def _unpacked(value: Any, arrays: dict[str, Array]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        kept, shape = arrays[value["array"]], value["shape"]
        whole = np.zeros(math.prod(shape), kept.dtype)
        whole[: len(kept)] = kept
        return whole.reshape(shape)
    if "float" in value:
        return float(value["float"])
    if "list" in value:
        return [_unpacked(v, arrays) for v in value["list"]]
    return {k: _unpacked(v, arrays) for k, v in value["dict"].items()}
