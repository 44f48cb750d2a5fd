"""Features that have names: hashed into 2^bits numbers, or numbered in the order in which they come."""

from __future__ import annotations

from typing import Any

from gossamer import _core

MOST = 1 << 26  # names that are numbered in their order


def check_bits(bits: Any) -> int:
    """Return the number of bits, 0 for exact names."""
    if not isinstance(bits, int) or isinstance(bits, bool) or not 0 <= bits <= 30:
        raise ValueError(f"bits must be a whole number from 1 to 30, or 0 for exact names; {bits!r} was given.")
    return bits


class NamedFeatures:
    """Names and their numbers, shared by the parser and those who ask.

    >>> exact = NamedFeatures(0)
    >>> exact.number("red"), exact.number("blue"), exact.number("red"), exact.name(1)
    (0, 1, 0, 'blue')
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.names = _core.Names(bits, MOST)

    @property
    def size(self) -> int | None:
        """How many numbers there are, None where there may be more."""
        return 1 << self.bits if self.bits else None

    def number(self, name: str) -> int:
        """Return the number of a name."""
        number: int = self.names.number(name.encode("utf-8", "surrogateescape"))
        if number < 0:
            raise ValueError(f"There are more than {MOST} different names; hash them by bits=18.")
        return number

    def name(self, number: int) -> str:
        """Return the first name that had a number; "" if none had."""
        return _decoded(self.names.name(number))

    def other(self, number: int) -> str | None:
        """Return a second name that had it, or None."""
        return _decoded(self.names.other(number)) or None


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "replace")
