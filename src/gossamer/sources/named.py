"""Named features: hashed into 2^bits numbers, or numbered in the order in which they appear."""

from __future__ import annotations

from typing import Any

from gossamer import _core

MOST = 1 << 26  # names that can be numbered exactly


def check_bits(bits: Any) -> int:
    """Return the number of bits, 0 for exact names."""
    if not isinstance(bits, int) or isinstance(bits, bool) or not 0 <= bits <= 30:
        raise ValueError(f"bits must be a whole number from 1 to 30, or 0 for exact names; {bits!r} was given.")
    return bits


class NamedFeatures:
    """Names and their numbers, shared with the parser.

    >>> exact = NamedFeatures(0)
    >>> exact.number("red"), exact.number("blue"), exact.number("red"), exact.name(1)
    (0, 1, 0, 'blue')
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.names = _core.Names(bits, MOST)

    @property
    def size(self) -> int | None:
        """How many numbers there are; None if names are exact."""
        return 1 << self.bits if self.bits else None

    def number(self, name: str) -> int:
        """Return the number of a name."""
        number: int = self.names.number(name.encode("utf-8", "surrogateescape"))
        if number < 0:
            raise ValueError(f"There are more than {MOST} different names; use bits=18 to hash them.")
        return number

    def name(self, number: int) -> str:
        """Return the first name with a number; "" if there is none."""
        return _decoded(self.names.name(number))

    def other(self, number: int) -> str | None:
        """Return a second name with the number, or None."""
        return _decoded(self.names.other(number)) or None


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "replace")
