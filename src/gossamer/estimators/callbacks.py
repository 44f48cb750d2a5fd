"""scikit-learn's progress callbacks, where its version has them (1.9 and later); elsewhere nothing is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["CallbackSupportMixin", "Tasks", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # pragma: no cover  (an older scikit-learn)

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method."""
        return method


class Tasks:
    """What `fit` tells the callbacks of an estimator: that it begins and ends, and so do its parts, one after another.

    `most` is how many parts there will be, if known. Without callbacks nothing is done.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, part: str, most: int | None = None) -> None:
        self._estimator, self._data, self._part, self._most = estimator, {"X": X, "y": y}, part, most
        self._done = 0
        self._fit: Any = None
        self._task: Any = None
        if hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx"):
            self._fit = estimator._init_callback_context(max_subtasks=most)
            self._fit.call_on_fit_task_begin(estimator=estimator, **self._data)
            self._begin()

    @property
    def heard(self) -> bool:
        """Whether there is anybody to tell."""
        return self._fit is not None

    def turn(self, fitted: Callable[[], dict[str, Any]]) -> bool:
        """Say that a part is over and the next begins; return whether a callback wants the fit to stop.

        `fitted` returns the attributes that make the estimator one that is fitted so far.
        """
        if self._task is None:
            return False
        stop = self._task.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=fitted, **self._data
        )
        self._done += 1
        self._task = None
        if not stop and self._done != self._most:
            self._begin()
        return bool(stop)

    def finish(self) -> None:
        """Say that the fit is over."""
        if self._fit is None:
            return
        if self._task is not None:  # a part that was begun, and not needed
            self._task.call_on_fit_task_end(estimator=self._estimator)
        self._fit.call_on_fit_task_end(estimator=self._estimator, reconstruction_attributes={}, **self._data)

    def _begin(self) -> None:
        self._task = self._fit.subcontext(task_name=self._part)
        self._task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
