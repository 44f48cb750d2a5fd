"""The svmlight (libsvm) text format."""

from __future__ import annotations

from typing import Any

from gossamer import _core
from gossamer.sources.text import TextSource


class Svmlight(TextSource):
    """`label feature:value …` lines. Features are numbered from 0 or 1; "auto" looks for a 0 in the first block."""

    def __init__(self, paths: Any, *, zero_based: Any = "auto", **options: Any) -> None:
        super().__init__(paths, **options)
        if zero_based not in (True, False, "auto"):
            raise ValueError(f"zero_based must be True, False or 'auto'; {zero_based!r} was given.")
        self._base = {True: 0, False: 1, "auto": -1}[zero_based]

    def _make_parser(self) -> Any:
        return _core.SvmlightParser(self._base, self.limits)

    @property
    def base(self) -> int:
        """The number of the first feature; -1 if the first block has not decided it yet."""
        return self._base if self._parser is None else self._parser.base

    def settings(self) -> dict[str, Any]:
        return {"format": "svmlight"} | ({} if self.base < 0 else {"zero_based": self.base == 0})

    def state(self) -> dict[str, Any]:
        return {"base": self.base}

    def restore(self, state: dict[str, Any]) -> None:
        self._base, self._parser = int(state["base"]), None
