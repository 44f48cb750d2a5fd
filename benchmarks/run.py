"""Run all benchmarks, or those named: `make bench ARGS="prox import_time"`."""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = (
    "projections",
    "prox",
    "sparse_ball",
    "import_time",
    "online",
    "quality",
    "path",
    "batch",
    "boosting",
    "stream",
    "cluster",
)


def main(names):
    for name in names:
        if name not in NAMES:
            sys.exit(f"There is no benchmark {name!r}; there are {', '.join(NAMES)}.")
    for name in names or NAMES:
        import_module(name).main()


if __name__ == "__main__":
    main(sys.argv[1:])
