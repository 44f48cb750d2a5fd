"""Numbers in units of their standard deviation, for methods that have no units of their own: `standardize` online.

The units are those of the first rows, as the step is chosen from them: after n rows, of the first 2^k ≤ min(n, 2048).
The rows are kept as long as they decide, and replayed when they do, so nothing depends on how the data is
cut. From then on the units stay, so updates are as lazy and as exact as they are for data in these units.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gossamer.model.schema import Rule, array, fault
from gossamer.registry import record
from gossamer.sources.rows import Rows
from gossamer.validation import Array


@record
class Units:
    """x → (x − mean) / spread of the first features, of which every row has a value."""

    mean: Array
    spread: Array

    @staticmethod
    def none(count: int) -> Units:
        """Return units that change nothing."""
        return Units(np.zeros(count), np.ones(count))

    @staticmethod
    def of(rows: Rows, count: int, centred: bool) -> Units:
        """Return the units of the first features of some rows; one that is the same in all has its size as the unit."""
        X = _values(rows.filled(count), count)
        mean = X.mean(axis=0)
        spread = np.sqrt(np.mean((X - mean) ** 2, axis=0))
        spread = np.where(spread > 1e-12 * np.abs(mean), spread, np.abs(mean))
        return Units(mean if centred else np.zeros(count), np.where(spread > 0, spread, 1.0))

    def applied(self, rows: Rows) -> Rows:
        """Return rows in these units."""
        count = len(self.mean)
        rows = rows.filled(count)
        if rows.dense:
            X = (_values(rows, count) - self.mean) / self.spread
            return Rows.of_array(X, rows.y, rows.weight, rows.offset)
        rows = rows.compact()
        value, ours = rows.value.astype(np.float64), rows.index < count
        where = rows.index[ours]
        value[ours] = (value[ours] - self.mean[where]) / self.spread[where]
        return replace(rows, value=value)

    def weights(self, index: Array, value: Array) -> Array:
        """Return weights of some features, or rows of weights, for the data as it is."""
        ours = index < len(self.spread)
        by = np.ones(len(index))
        by[ours] = self.spread[index[ours]]
        return value / (by if value.ndim == 1 else by[:, None])

    def intercepts(self, first: Array, b: Array) -> Array:
        """Return intercepts for the data as it is, from the weights of the first features for it."""
        return b - self.mean @ first

    @staticmethod
    def fault(units: Any, count: int) -> str | None:
        """Return what is wrong with units from outside."""
        if not isinstance(units, Units):
            return "invalid units: those of the features are needed."
        for name in ("mean", "spread"):
            rule = Rule(
                f"a vector of {count} finite numbers",
                lambda v: array(np.float64).holds(v) and v.shape == (count,) and bool(np.isfinite(v).all()),
            )
            found = fault(getattr(units, name), rule, f"units.{name}")
            if found:
                return found
        return None if (units.spread > 0).all() else "invalid units.spread: positive numbers are needed."


def _values(rows: Rows, count: int) -> Array:
    """Return the values of the first features, which every row has, as an array."""
    if rows.dense:
        return rows.value.reshape(-1, count)[rows.begins // count].astype(np.float64)
    places = rows.begins[:, None] + np.arange(count)
    return rows.value[places].astype(np.float64)
