"""Which column of a table a feature comes from: its name says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gossamer.validation import Array


class Origins:
    """The columns that features come from, found by their names once and kept.

    `city=Rome`, `review:great` and `when:hour=14` come from the columns `city`, `review` and `when`; an interaction
    `user=3*item=7` comes from `user*item`.

    >>> names = {0: "age", 1: "age=missing", 2: "city=Rome", 3: "user=3*item=7"}
    >>> origins = Origins(["age", "city", "user", "item"], [("user", "item")], names.get)
    >>> origins.columns, origins.of(np.array([2, 0, 1, 3]))
    (['age', 'city', 'user', 'item', 'user*item'], array([1, 0, 0, 4]))
    """

    def __init__(self, columns: Sequence[str], interactions: Sequence[Any], name: Callable[[int], str | None]) -> None:
        self.columns = [*columns, *("*".join(pair) for pair in interactions)]
        self._numbers = {column: number for number, column in enumerate(self.columns)}
        self._pairs = [tuple(pair) for pair in interactions]
        self._name = name
        self._known = np.full(0, -1, np.int64)

    def of(self, features: Array) -> Array:
        """Return the number of the column of each feature; -1 where its name is not known."""
        width = int(features.max(initial=-1)) + 1
        if width > len(self._known):
            wide = np.full(max(width, 2 * len(self._known)), -1, np.int64)
            wide[: len(self._known)] = self._known
            self._known = wide
        found = self._known[features]
        if (found < 0).any():
            for feature in np.unique(features[found < 0]).tolist():
                self._known[feature] = self._column(self._name(feature) or "")
            found = self._known[features]
        return found

    def _column(self, name: str) -> int:
        if name in self._numbers:
            return self._numbers[name]
        for first, second in self._pairs if "*" in name else ():
            begins = name.startswith(tuple(f"{first}{mark}" for mark in "=:*"))
            if begins and (name.endswith(f"*{second}") or any(f"*{second}{mark}" in name for mark in "=:")):
                return self._numbers[f"{first}*{second}"]
        ends = [at for at, letter in enumerate(name) if letter in "=:"]
        return next((self._numbers[name[:at]] for at in reversed(ends) if name[:at] in self._numbers), -1)
