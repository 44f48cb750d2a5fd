"""The runner: one process imports everything once and forks for each row, with a limit of time and memory.

A crash or a hang is then the end of one row. `python tests/attacks/runner.py` runs all rows and prints those that fail;
with words, those whose names hold one of them. `--settle` takes the pending rows that pass now out of pending.py.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from attacks.rows import Outcome, Row


def slower() -> float:
    """Return how many times slower this machine is than the one the limits of time were set on, at most 4."""
    times = []
    for _ in range(5):
        start = time.process_time()
        assert len({str(i): [i] for i in range(100_000)}) == 100_000
        times.append(time.process_time() - start)
    return min(max(min(times) / 0.017, 1.0), 4.0)


# Under a sanitizer no limit of memory is possible, and everything is slower.
SANITIZED = "san.so" in os.environ.get("LD_PRELOAD", "")
SLOWER = 10.0 if SANITIZED else slower()
WAIT = 8  # seconds on the clock per second of processor time: other processes may run too


class Runner:
    """The process that forks, seen from outside."""

    def __init__(self) -> None:
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2", "PYTHONWARNINGS": "default"}
        self._server = subprocess.Popen(
            [sys.executable, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )

    def run(self, row: Row) -> Outcome:
        """Run one row in a process of its own."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(row.name.encode() + b"\n")
        self._server.stdin.flush()
        told = json.loads(self._server.stdout.readline())
        return Outcome(**told | {"types": tuple(told.get("types", ()))})

    def close(self) -> None:
        """End the process."""
        self._server.communicate(timeout=60)


def serve() -> None:
    """Answer each name on standard input with the outcome of that row."""
    from attacks import planted, tables

    rows = {row.name: row for row in [*tables.ROWS, *planted.ROWS]}
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            answers.write(json.dumps(vars(_forked(rows[line.rstrip("\n")]))) + "\n")
            answers.flush()


def _forked(row: Row) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="attack", ignore_cleanup_errors=True) as folder:
        answer, errors = Path(folder, "answer"), Path(folder, "errors")
        Path(folder, "work").mkdir()
        child = os.fork()
        if child == 0:
            _run_and_exit(row, folder)
        status = _waited(child, row.seconds * SLOWER * WAIT)
        stderr = errors.read_text(errors="replace") if errors.exists() else ""
        if status is None or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)):
            return Outcome("out of time", stderr=stderr)
        if os.WIFSIGNALED(status):
            return Outcome(f"signal {os.WTERMSIG(status)}", stderr=stderr)
        if not answer.exists():
            return Outcome(f"exit {os.WEXITSTATUS(status)} without an answer", stderr=stderr)
        return Outcome(**json.loads(answer.read_text()), stderr=stderr)


def _waited(child: int, seconds: float) -> int | None:
    """Return the status of a process, or None if it had to be killed; with it goes all that it has started."""
    until, pause, status = time.monotonic() + seconds, 0.001, None
    while status is None and time.monotonic() < until:
        pid, found = os.waitpid(child, os.WNOHANG)
        if pid == child:
            status = found
        else:
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if status is None:
        os.waitpid(child, 0)
    return status


def _run_and_exit(row: Row, folder: str) -> None:
    """Run in a new process: its own group, folder, standard streams and limits."""
    os.setsid()
    os.chdir(Path(folder, "work"))
    faulthandler.disable()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, "output"), (2, "errors")):
        os.dup2(os.open(Path(folder, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seconds = int(row.seconds * SLOWER) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    if not SANITIZED:
        now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        most = now + (row.megabytes << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    told: dict[str, Any]
    try:
        result = row.do()
        told = {"end": "returned", "code": result if isinstance(result, int) else 0}
    except SystemExit as left:
        told = {"end": "returned", "code": left.code if isinstance(left.code, int) else 1}
    except BaseException as error:
        traceback.print_exc()
        types = [kind.__name__ for kind in type(error).__mro__]
        told = {"end": "raised", "types": types, "words": str(error)[:2000]}
    with contextlib.suppress(ValueError, OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    Path(folder, "answer").write_text(json.dumps(told))
    os._exit(0)


def main(words: list[str]) -> None:
    """Run the rows; print what fails, and which pending rows pass."""
    from attacks import pending, tables

    started = time.monotonic()
    chosen = [row for row in tables.ROWS if not words or any(word in row.name for word in words)]
    runner, passing, failed = Runner(), [], 0
    for row in chosen:
        start = time.monotonic()
        outcome = runner.run(row)
        took = time.monotonic() - start
        if row.must.holds(outcome):
            tries = 5 if pending.PENDING.get(row.name, "").startswith("sometimes") else 0  # a race may be won by luck
            passes = all(row.must.holds(runner.run(row)) for _ in range(tries))
            passing += [row.name] * (row.name in pending.PENDING and passes)
        elif row.name not in pending.PENDING or os.environ.get("SHOW_PENDING"):
            failed += 1
            print(f"FAILED {row.name} ({took:.1f} s)\n  must: {row.must}\n  got:  {outcome}\n", flush=True)
    runner.close()
    waiting = [row.name for row in chosen if row.name in pending.PENDING]
    print(f"{len(chosen)} rows, {failed} failed, {len(waiting)} pending, of which {len(passing)} pass now:")
    print("".join(f"  {name}\n" for name in passing), end="")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{time.monotonic() - started:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processor time")
    if "--settle" in sys.argv:
        pending.remove(passing)


if __name__ == "__main__":
    if "--serve" in sys.argv:
        serve()
    else:
        main([word for word in sys.argv[1:] if not word.startswith("-")])
