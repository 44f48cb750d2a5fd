"""The first code of the command: from here on Ctrl-C ends it with at most one line and code 130, at any moment.

While modules load, Ctrl-C ends the process at once: an import that is interrupted raises errors of all kinds. While a
command works (`working`), it raises KeyboardInterrupt once, so that a model is written or a half-written file removed;
the second one ends the process.
"""

import _signal  # type: ignore[import-not-found]  # the compiled part of `signal`, which takes no time to import
import os
import sys

INTERRUPTED = 130

_state = {"works": False, "told": False}


def working(works: bool = True) -> None:
    """Say whether there is something to finish: then the next Ctrl-C raises KeyboardInterrupt."""
    _state["works"] = works


def tell() -> int:
    """Say that the command was interrupted, once; return its exit code."""
    _state["works"] = False
    if not _state["told"]:
        _state["told"] = True
        if not sys.stderr.closed:
            os.write(2, b"\ninterrupted\n" if os.isatty(2) else b"interrupted\n")
    return INTERRUPTED


def _interrupt(number: int, frame: object) -> None:
    if _state["works"]:
        _state["works"] = False
        raise KeyboardInterrupt
    os._exit(tell())


def _unraisable(about: "sys.UnraisableHookArgs") -> None:
    """End the process if Ctrl-C came where nothing can be raised, such as in `__del__`."""
    if about.exc_type is KeyboardInterrupt:
        os._exit(tell())
    sys.__unraisablehook__(about)


def command() -> None:
    """Run as a process of its own and exit without freeing all modules, which takes a tenth of a short run."""
    try:
        if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:  # as of a process in the background
            _signal.signal(_signal.SIGINT, _interrupt)
        sys.unraisablehook = _unraisable
        import gc

        gc.set_threshold(100_000)  # imports make many objects and no garbage
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no command needs BLAS, and starting its threads takes time
        from gossamer.cli.arguments import FAILED, main

        try:
            code = main()
        except SystemExit as end:  # of the parser: help, or a wrong command
            code = int(end.code or 0)
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (BrokenPipeError, ValueError):  # the reading end of the pipe is closed, or `main` closed ours
            code = FAILED
    except KeyboardInterrupt:
        code = tell()
    os._exit(code)
