"""What `import gossamer` takes once NumPy is there, in fresh processes."""

from __future__ import annotations

import subprocess
import sys

from timing import Row, show

CODE = "import numpy, time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
IMPORT = "import gossamer"
LOAD = "from gossamer import losses, methods, penalties, projections, schedules"
RUNS = 15


def seconds_of(statement):
    """Return the time of a statement in a process of its own that has imported NumPy."""
    run = subprocess.run([sys.executable, "-c", CODE.format(statement)], check=True, capture_output=True, text=True)
    return float(run.stdout)


def main():
    rounds = [(seconds_of(IMPORT), seconds_of(LOAD)) for _ in range(RUNS)]
    bare, loaded = (1e3 * min(times) for times in zip(*rounds, strict=True))
    show(
        f"Import time on top of NumPy, best of {RUNS} processes",
        [
            Row("import gossamer", bare, at_most=50, unit=" ms"),
            Row("the whole catalogue (no estimators)", loaded, at_most=50, unit=" ms"),
        ],
    )


if __name__ == "__main__":
    main()
