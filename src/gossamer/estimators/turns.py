"""Threads take turns at an estimator: one learns, or one reads.

The locks are kept beside the estimators, not in them: pickles, copies and clones have locks of their own.
"""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, cast

Call = TypeVar("Call", bound=Callable[..., Any])


class Turns:
    """A lock that its thread may take again, and whether what it guards is whole.

    A process that is forked while another thread learns has a copy of the estimator that is half changed.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.torn = False

    def after_fork(self) -> None:
        """Find out whether the state was being changed."""
        if self.lock.acquire(blocking=False):  # it was free, or belongs to the thread that forked
            self.lock.release()
        else:
            self.torn = True


_TURNS: weakref.WeakKeyDictionary[Any, Turns] = weakref.WeakKeyDictionary()


def in_turn(method: Call) -> Call:
    """Return the method of an estimator, called when no other thread learns or reads."""

    @functools.wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        turns = _TURNS.get(self)
        if turns is None:
            turns = _TURNS.setdefault(self, Turns())  # the same for all threads
        if turns.torn:
            raise RuntimeError(
                "Another thread was learning with this estimator when the process was forked: the copy in this process "
                "is not complete. Fork before or after learning, or give the process a pickle of the estimator."
            )
        with turns.lock:
            return method(self, *args, **kwargs)

    return cast(Call, called)


def _after_fork() -> None:
    for turns in _TURNS.values():
        turns.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
