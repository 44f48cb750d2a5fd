"""Memory: what a step needs, checked before it is allocated.

Small needs are not checked. A large one is compared with what the system, the control group and the limit of the
process (`ulimit -v`) leave; if it is more, a MemoryError says how much is needed and what to do.
"""

from __future__ import annotations

import math
from pathlib import Path

SMALL = 1 << 30  # bytes that are not checked
FEWER = (
    "Use fewer features: keep the columns that have entries (columns, index = numpy.unique(X.indices, "
    "return_inverse=True), then scipy.sparse.csr_array((X.data, index, X.indptr))), or hash to fewer by bits= of "
    "gossamer.source."
)


def check_memory(needed: float, what: str, instead: str) -> None:
    """Raise a MemoryError if `what` needs more bytes than are available; `instead` says what would do."""
    if needed < SMALL:
        return
    left = available()
    if needed > left:
        raise MemoryError(
            f"{what} takes about {needed / 1e9:.1f} GB of memory, and {left / 1e9:.1f} GB are available. {instead}"
        )


def available() -> float:
    """Return how many bytes this process can still take; infinity if the system does not say."""
    return max(0.0, min(_of_system(), _of_group(), _of_process()))


def _of_system() -> float:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return math.inf
    free = (1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return next(free, math.inf)


def _of_group() -> float:
    """Return what the control group of a container leaves, in either version of control groups."""
    root, left = Path("/sys/fs/cgroup"), math.inf
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            left = min(left, float((root / limit).read_text()) - float((root / used).read_text()))
        except (OSError, ValueError):  # no such file; the limit is "max"
            continue
    return left


def _of_process() -> float:
    try:
        import resource
    except ImportError:  # not a POSIX system
        return math.inf
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return math.inf
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return float(most)
    return float(most - pages * resource.getpagesize())
