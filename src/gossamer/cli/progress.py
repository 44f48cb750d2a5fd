"""Progress of a training run, and the line on standard error that shows it."""

from __future__ import annotations

import math
import sys
import time

from gossamer.online.stream import Streaming
from gossamer.registry import record


@record
class Progress:
    """How far a run has come."""

    stream: Streaming
    passes: int  # complete passes
    seen: int  # rows, counted over all passes
    share: float  # fraction of this pass that is done, 0 if unknown


class Meter:
    """A line of live progress on standard error: examples, rate, progressive loss, non-zeros, time left."""

    def __init__(self, passes: int, quiet: bool, remember: bool = False) -> None:
        self.passes = passes
        self.remember = remember
        self.history: list[tuple[int, float]] = []  # rows seen, and the mean loss by then
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
        if self.remember:
            self._keep(progress.seen, trainer.strategy.mean_loss(trainer))
        if not self.shows or now - self.last < 0.25:
            return
        rate = (progress.seen - self.first) / max(self.seconds, 1e-9)
        loss, used = trainer.strategy.mean_loss(trainer), trainer.strategy.count_used(trainer)
        left = (
            (1 - done) * self.seconds / (done - self.begun_at) if progress.share > 0 and done > self.begun_at else None
        )
        line = f"{progress.seen:,} examples  {rate:,.0f}/s  loss {loss:.5f}  {used:,} features"
        line += "" if left is None else f"  {100 * done:.0f}%  {left:.0f} s left"
        sys.stderr.write("\r" + line.ljust(self.width))
        sys.stderr.flush()
        self.width, self.last = len(line), time.perf_counter()

    def _keep(self, seen: int, loss: float) -> None:
        if math.isfinite(loss):
            self.history.append((seen, loss))
        if len(self.history) > 400:  # keep every second value of a long stream
            del self.history[1::2]

    def clear(self) -> None:
        """Wipe the line."""
        self.seconds = time.perf_counter() - self.began
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
