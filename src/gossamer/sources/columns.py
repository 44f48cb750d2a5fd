"""Columns of tables: which one is the target, which hold numbers and which categories.

A column of numbers is one feature, named after it. A category makes one feature per value, `column=value`, by hashing
or one-hot (numbered in the order in which they appear). Missing values make no entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gossamer.sources.blocks import ReadError
from gossamer.sources.feature_names import BITS, FeatureNames, check_bits

if TYPE_CHECKING:
    from gossamer.validation import Array

TARGETS = ("target", "label", "y", "class")


class Columns:
    """The roles of the columns, and the names of the features they make; the first rows decide roles not given."""

    def __init__(
        self,
        target: str | None = None,
        weight: str | None = None,
        categories: Sequence[str] = (),
        ignore: Sequence[str] = (),
        numbers: Sequence[str] | None = None,
        bits: int = BITS,
        one_hot: bool = False,
    ) -> None:
        self.target, self.weight, self.ignore = target, weight, list(ignore)
        self.numbers = None if numbers is None else list(numbers)  # None until the first rows are read
        self.categories = list(categories)
        self.values = FeatureNames(0 if one_hot else check_bits(bits))  # of the categories

    def settle(self, names: list[str], is_number: Callable[[str], bool], need_labels: bool, where: str) -> None:
        """Find the roles of columns with these names, or check that the known ones exist."""
        refuse_doubles(names, where)
        if self.target is None:
            usual = [name for name in names if name.lower() in TARGETS and name not in self.ignore]
            self.target = usual[0] if usual else None
            if need_labels and self.target is None:
                raise ReadError(f"{where}: which column is the target? Name it (--target): {_some(names)}.")
        needed = [*self.categories, *self.ignore, *(self.numbers or [])]
        needed += [name for name in (self.weight, self.target) if name and need_labels]
        there = set(names)
        for name in needed:
            if name not in there:
                raise ReadError(
                    f"{where}: there is no column {name!r};{_nearest(name, names)} there are {_some(names)}."
                )
        if self.numbers is None:
            self._refuse_two_roles(where)
            taken = {self.target, self.weight, *self.ignore, *self.categories}
            free = [name for name in names if name not in taken]
            numbers = {name for name in free if is_number(name)}
            self.numbers = [name for name in free if name in numbers]
            self.categories += [name for name in free if name not in numbers]
            if not (self.numbers or self.categories):
                raise ReadError(f"{where}: no column is left to learn from; there are {_some(names)}.")

    def _refuse_two_roles(self, where: str) -> None:
        roles = [(self.target, "the target"), (self.weight, "the weight")]
        roles += [(name, "a category") for name in self.categories] + [(name, "ignored") for name in self.ignore]
        found: dict[str, str] = {}
        for name, role in roles:
            if name is not None and found.setdefault(name, role) != role:
                raise ReadError(f"{where}: column {name!r} cannot be both {found[name]} and {role}; choose one.")

    @property
    def first(self) -> int:
        """The number of the first feature from a category."""
        return len(self.numbers or [])

    def width(self, largest: int) -> int:
        """Return the number of features, given one more than the largest that occurred."""
        if not self.categories:
            return self.first
        return self.first + self.values.size if self.values.size else max(largest, self.first)

    @property
    def collisions(self) -> int:
        """The number of features that have more than one name."""
        return self.values.collisions

    def name(self, feature: int) -> str:
        """Return the name of a feature."""
        return (self.numbers or [])[feature] if feature < self.first else self.values.name(feature - self.first)

    def other(self, feature: int) -> str | None:
        """Return a second name of a feature, or None."""
        return None if feature < self.first else self.values.other(feature - self.first)

    def recall(self, features: Array, names: list[str] | None) -> Array:
        """Return the numbers that these features of a model have here."""
        if names is None or not self.categories:
            return features
        result, category = features.copy(), features >= self.first
        valued = [name for name, is_value in zip(names, category.tolist(), strict=True) if is_value]
        result[category] = self.first + self.values.recall(features[category] - self.first, valued)
        return result

    def forget(self) -> None:
        """Keep no names of hashed features."""
        self.values.forget()

    def settings(self) -> dict[str, Any]:
        """Return the settings that read other tables in the same way."""
        exact = self.values.bits == 0
        return {
            "target": self.target,
            "weight": self.weight,
            "numbers": self.numbers,
            "categories": self.categories,
        } | ({"one_hot": True} if exact else {"bits": self.values.bits})

    def state(self) -> dict[str, Any]:
        """Return the state of reading, for a checkpoint."""
        roles = {"target": self.target, "numbers": self.numbers, "categories": self.categories}
        return roles | self.values.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from such a state."""
        self.target, self.numbers, self.categories = state["target"], state["numbers"], state["categories"]
        self.values.restore(state)


def refuse_doubles(names: list[str], where: str) -> None:
    """Raise if two columns have one name."""
    if len(set(names)) < len(names):
        name = next(name for name, count in Counter(names).items() if count > 1)
        raise ReadError(f"{where}: two columns are called {name!r}; rename or drop one of them.")


# How people write that there is no number, in lower case. Such a cell does not say what its column holds.
NO_NUMBER = {
    "na",
    "n/a",
    "#n/a",
    "nan",
    "null",
    "none",
    "nil",
    "missing",
    "?",
    "-",
    "--",
    ".",
    "inf",
    "-inf",
    "infinity",
}


def holds_numbers(name: str, numbers: int, others: Sequence[str], where: str) -> bool:
    """Return whether a column holds numbers, given the number of cells that are numbers, and the other cells.

    It does if at least half of its cells are numbers, cells without a value aside. The other cells are then errors, not
    a reason to take all numbers for words.

    >>> holds_numbers("age", 9, ["NA"], "a.csv"), holds_numbers("city", 1, ["Rome", "Oslo", "NA"], "a.csv")
    (True, False)
    """
    words = sum(cell.lower() not in NO_NUMBER for cell in others)
    if others and not words and not numbers:
        raise ReadError(
            f"{where}: does column {name!r} hold numbers? Its first cells do not tell: they are like {others[0]!r}. "
            "Empty them, name the column in categories (--categories), or leave it out by ignore (--ignore)."
        )
    return numbers >= words


def _nearest(name: str, names: list[str]) -> str:
    import difflib  # loads slowly, and is seldom needed

    near = difflib.get_close_matches(name, names, n=1)
    return f" the nearest is {near[0]!r}," if near else ""


def _some(names: list[str]) -> str:
    return ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
