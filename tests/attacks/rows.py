"""A row of the attack suite: what is done, and what must happen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SECONDS, MEGABYTES = 10.0, 1500  # of processor time, and of memory beyond what the imports take


@dataclass(frozen=True)
class Outcome:
    """How the process of a row ended."""

    end: str  # "returned", "raised", or what else happened: "signal 11", "out of time"
    types: tuple[str, ...] = ()  # what was raised: its class and the classes above it
    words: str = ""  # of the exception, with the traceback where there is one
    code: int = 0  # what the command line returned
    stderr: str = ""

    def __str__(self) -> str:
        what = f"{self.end} {self.types[0] if self.types else self.code}: {self.words}"
        return f"{what.strip()}\n{self.stderr[-2000:]}".strip()


@dataclass(frozen=True)
class Raises:
    """One of these exceptions, with a sentence that holds one of the words."""

    types: tuple[type[BaseException], ...]
    words: tuple[str, ...] = ()

    def holds(self, outcome: Outcome) -> bool:
        """Return whether that is what happened; a bare exception without a sentence is not."""
        known = any(kind.__name__ in outcome.types for kind in self.types)
        sentence = outcome.words.lower()
        said = len(sentence) > 15 and (not self.words or any(word.lower() in sentence for word in self.words))
        return outcome.end == "raised" and known and said

    def __str__(self) -> str:
        return f"{' or '.join(kind.__name__ for kind in self.types)} with a sentence{_naming(self.words)}"


@dataclass(frozen=True)
class Exits:
    """An exit code of the command line, with one of the words on stderr and no traceback."""

    code: int
    words: tuple[str, ...] = ()

    def holds(self, outcome: Outcome) -> bool:
        """Return whether that is what happened."""
        said = not self.words or any(word.lower() in outcome.stderr.lower() for word in self.words)
        quiet = "Traceback" not in outcome.stderr and (self.code == 0 or outcome.stderr.strip() != "")
        return outcome.end == "returned" and outcome.code == self.code and said and quiet

    def __str__(self) -> str:
        return f"exit code {self.code}, no traceback, stderr{_naming(self.words)}"


@dataclass(frozen=True)
class Sound:
    """No exception: what the row does checks its own result."""

    def holds(self, outcome: Outcome) -> bool:
        """Return whether that is what happened."""
        return outcome.end == "returned" and outcome.code == 0

    def __str__(self) -> str:
        return "a sound result"


@dataclass(frozen=True)
class Either:
    """One of several ends."""

    ends: tuple[Any, ...]

    def holds(self, outcome: Outcome) -> bool:
        """Return whether one of them happened."""
        return any(end.holds(outcome) for end in self.ends)

    def __str__(self) -> str:
        return ", or ".join(map(str, self.ends))


def _naming(words: tuple[str, ...]) -> str:
    return f" naming {' or '.join(map(repr, words))}" if words else ""


@dataclass(frozen=True)
class Row:
    """What is done, what must happen, and how much time and memory it may take."""

    name: str
    do: Callable[[], Any]  # runs in an empty folder; an int that it returns is an exit code
    must: Any
    seconds: float = SECONDS
    megabytes: int = MEGABYTES
    needs_limit: bool = False  # has no meaning without a limit of memory (sanitizers cannot have one)


def raises(types: Any, *words: str) -> Raises:
    """Return the expectation of an exception and a word of its sentence."""
    return Raises(types if isinstance(types, tuple) else (types,), words)


def refused(*words: str) -> Raises:
    """Return the expectation of a ValueError or TypeError and a word of its sentence."""
    return Raises((ValueError, TypeError), words)


def exits(code: int, *words: str) -> Exits:
    """Return the expectation of an exit code and a word of stderr."""
    return Exits(code, words)


SOUND = Sound()
REFUSED_OR_SOUND = Either((Raises((ValueError, TypeError, ArithmeticError)), SOUND))
