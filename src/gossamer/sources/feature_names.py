"""Named features: hashed into 2^bits numbers, or numbered in the order in which they appear."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from gossamer import _core

if TYPE_CHECKING:
    from gossamer.validation import Array

BITS = 18  # of the hash, by default
MOST = 1 << 26  # names that can be numbered exactly


def check_bits(bits: Any) -> int:
    """Return the number of bits, 0 for exact names."""
    if not isinstance(bits, int) or isinstance(bits, bool) or not 0 <= bits <= 30:
        raise ValueError(f"bits must be a whole number from 1 to 30, or 0 for exact names; {bits!r} was given.")
    return bits


def decoded(name: bytes) -> str:
    """Return a name of the core as a string."""
    return name.decode("utf-8", "replace")


class FeatureNames:
    """Names of features and their numbers, shared with the parser.

    >>> exact = FeatureNames(0)
    >>> exact.number("red"), exact.number("blue"), exact.number("red"), exact.name(1)
    (0, 1, 0, 'blue')
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self._keeps = True

    @cached_property
    def table(self) -> Any:
        """The names in the core, which takes memory for all numbers if names are hashed and kept."""
        try:
            return _core.NameTable(self.bits, MOST, self._keeps)
        except MemoryError:
            raise MemoryError(
                f"There is no memory for the names of 2^{self.bits} hashed features; use fewer, such as bits=18."
            ) from None

    def forget(self) -> None:
        """Keep no names of hashed features: predictions need the numbers only. Call it before reading."""
        self._keeps = False

    @property
    def size(self) -> int | None:
        """The number of features; None if names are exact."""
        return 1 << self.bits if self.bits else None

    @property
    def collisions(self) -> int:
        """The number of features that have more than one name."""
        return int(self.table.collisions)

    def number(self, name: str) -> int:
        """Return the number of a name."""
        number: int = self.table.number(name.encode("utf-8", "surrogateescape"))
        if number < 0:
            raise ValueError(f"There are more than {MOST} different names; use bits=18 to hash them.")
        return number

    def name(self, number: int) -> str:
        """Return the first name with a number; "" if there is none."""
        return decoded(self.table.name(number)) if number < len(self.table) else ""

    def other(self, number: int) -> str | None:
        """Return a second name with the number, or None."""
        return decoded(self.table.other(number)) or None

    def recall(self, features: Array, names: list[str] | None) -> Array:
        """Return the numbers that these features of a model have here."""
        if self.bits or names is None:
            return features
        import numpy as np

        return np.array([self.number(name) for name in names], np.int64)

    def state(self) -> dict[str, Any]:
        """Return the state of reading, for a checkpoint."""
        return {"names": self.table.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from such a state."""
        self.table.restore(state["names"])
