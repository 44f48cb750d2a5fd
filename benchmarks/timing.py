"""Best times of alternating runs, and the table that sets what was measured beside its target.

Times of one run differ from those of the next by more than what is measured, so targets are ratios of best times of
runs that took turns.

Memory matters as much as noise: a process that has freed no large block yet gets its arrays from the system, page by
page, which takes longer than most of what is measured here. `bytes` below puts the allocator of glibc in the state of
one that has run for a while, where freed blocks of up to 32 MB are used again.

With GOSSAMER_CPU_TIME=1 times are those of all threads of the process, for a machine that does other work too.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, process_time

bytes(31 << 20)
clock = process_time if os.environ.get("GOSSAMER_CPU_TIME") else perf_counter


def seconds(function: Callable[[], object]) -> float:
    """Return the time of one call."""
    start = clock()
    function()
    return clock() - start


def best(*functions: Callable[[], object], repeats: int = 20) -> list[float]:
    """Return the best time of each function: a warm-up, then `repeats` rounds in which they take turns."""
    for function in functions:
        function()
    rounds = [[seconds(function) for function in functions] for _ in range(repeats)]
    return [min(times) for times in zip(*rounds, strict=True)]


@dataclass(frozen=True)
class Row:
    """One line of the table; without a target it is there for orientation."""

    what: str
    measured: float
    at_least: float | None = None
    at_most: float | None = None
    unit: str = "×"

    @property
    def target(self) -> str:
        """The target in words."""
        if self.at_least is not None:
            return f"≥ {self.at_least:g}{self.unit}"
        return "" if self.at_most is None else f"≤ {self.at_most:g}{self.unit}"

    @property
    def verdict(self) -> str:
        """Whether the target holds."""
        if self.at_least is not None:
            return "holds" if self.measured >= self.at_least else "MISSED"
        if self.at_most is not None:
            return "holds" if self.measured <= self.at_most else "MISSED"
        return ""


def show(title: str, rows: list[Row], notes: list[str] | None = None) -> None:
    """Print a table of measured numbers and targets, and notes under it."""
    width = max(len(row.what) for row in rows)
    print(f"\n{title}")
    for row in rows:
        measured = f"{row.measured:.2f}{row.unit}"
        print(f"  {row.what:<{width}}  {measured:>9}  {row.target:>8}  {row.verdict}".rstrip())
    for note in notes or []:
        print(f"    {note}")
