"""Progress of a training run, and the line on standard error that shows it."""

from __future__ import annotations

import math
import sys
import time

from gossamer.cli import words
from gossamer.online.stream import Streaming
from gossamer.registry import record


@record
class Progress:
    """How far a run has come."""

    stream: Streaming
    passes: int  # complete passes
    rows: int  # learned from in this pass
    seen: int  # read, in all passes
    loss: float  # of this pass, of one strength
    share: float  # fraction of this pass that is done, 0 if unknown


class Meter:
    """A line of live progress on standard error: rows, share, loss, time left, rate, features, as many as fit."""

    def __init__(self, passes: int, quiet: bool, remember: bool = False) -> None:
        self.passes = passes
        self.remember = remember
        self.history: list[tuple[int, float]] = []  # rows of the first pass, and the mean loss by then
        self.shows = not quiet and sys.stderr.isatty()
        self.began = self.last = time.perf_counter()
        self.first = -1  # rows that were read before a resume
        self.begun_at = 0.0
        self.seconds = 0.0
        self.width = 0

    def __call__(self, progress: Progress) -> None:
        """Update the line, at most four times per second."""
        now = time.perf_counter()
        self.seconds = now - self.began
        done = (progress.passes + progress.share) / self.passes
        if self.first < 0:
            self.first, self.begun_at = progress.seen, done
        trainer = progress.stream.trainer
        if trainer is None:
            return
        if self.remember and progress.passes == 0:
            self._keep(progress.rows, trainer.strategy.mean_loss(trainer))
        if not self.shows or now - self.last < 0.25:
            return
        self._write(self._fields(progress, done))
        self.last = time.perf_counter()

    def _fields(self, progress: Progress, done: float) -> list[str]:
        """Return what is shown, the most important first."""
        trainer = progress.stream.trainer
        fields = [f"{progress.rows:,} rows"]
        if self.passes > 1:
            fields[0] += f" of pass {progress.passes + 1}/{self.passes}"
        if progress.share > 0:
            fields.append(f"{100 * done:.0f}%")
        loss = trainer.strategy.mean_loss(trainer)
        later = progress.passes > 0 and not trainer.strategy.judges
        fields.append(f"training loss {progress.loss:.4f}" if later else f"loss {loss:.4f}")
        if progress.share > 0 and done > self.begun_at:
            fields.append(f"{_lasting((1 - done) * self.seconds / (done - self.begun_at))} left")
        fields.append(f"{(progress.seen - self.first) / max(self.seconds, 1e-9):,.0f}/s")
        fields.append(f"{trainer.strategy.count_used(trainer):,} weights")
        return fields

    def say(self, words: str) -> None:
        """Show that something else is going on."""
        if self.shows:
            self._write([words])

    def _write(self, fields: list[str]) -> None:
        line = fitting(fields, words.columns() - 1)
        sys.stderr.write("\r" + line.ljust(self.width))
        sys.stderr.flush()
        self.width = len(line)

    def _keep(self, rows: int, loss: float) -> None:
        if math.isfinite(loss):
            self.history.append((rows, loss))
        if len(self.history) > 400:  # keep every second value of a long stream
            del self.history[1::2]

    def clear(self) -> None:
        """Wipe the line."""
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            self.width = 0

    def stop(self) -> None:
        """Stop the clock."""
        self.seconds = time.perf_counter() - self.began


def fitting(fields: list[str], width: int) -> str:
    """Return the first fields that fit into a line of this width.

    >>> fitting(["69,520 rows", "7%", "loss 0.1314", "3 s left", "260,088/s"], 40)
    '69,520 rows  7%  loss 0.1314  3 s left'
    """
    line = fields[0]
    for field in fields[1:]:
        if len(line) + 2 + len(field) > width:
            break
        line += f"  {field}"
    return line[: max(width, 0)]


def _lasting(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
