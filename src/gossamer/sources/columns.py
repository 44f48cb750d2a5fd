"""Columns of tables: the role of each, and the names of the features they make.

Features come in this order: the numbers, the days of dates, an indicator for each of them that says that the value is
missing; then everything that has a name of its own (`city=Rome`, `review:great`, `when:hour=14`), hashed or numbered in
the order in which it appears.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gossamer import _core
from gossamer.registry import nearest
from gossamer.sources.blocks import ReadError
from gossamer.sources.feature_names import BITS, FeatureNames, check_bits
from gossamer.sources.roles import FORMS, ROLES, TARGETS, Dates, codes_like_others, dates_of, guess, numbers_of

if TYPE_CHECKING:
    from gossamer.validation import Array

# How people write that there is no value, besides the empty cell.
MISSING = ("NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "?", "-")
FEATURES = ("number", "category", "text", "date")  # roles of columns that make features

_SPOKEN = {"target": "the target", "weight": "the weight", "offset": "the offset", "ignore": "ignored"}


class Columns:
    """The roles of the columns. `settle` guesses those that are not given, from the first rows.

    `missing=None` is how tables were read before missing values had features: only the empty cell is missing, it makes
    no entry, and columns without a role are left out.
    """

    def __init__(
        self,
        target: str | None = None,
        weight: str | None = None,
        offset: str | None = None,
        roles: dict[str, str] | None = None,
        categories: Sequence[str] = (),
        ignore: Sequence[str] = (),
        numbers: Sequence[str] | None = None,
        missing: Sequence[str] | None = (),
        ngrams: int = 1,
        interactions: Sequence[Sequence[str]] = (),
        bits: int = BITS,
        one_hot: bool = False,
        learned: dict[str, Any] | None = None,
    ) -> None:
        self.given = _given(target, weight, offset, roles, _listed(categories), _listed(ignore), _listed(numbers or ()))
        self.missing = None if missing is None else [str(word).strip() for word in _listed(missing)]
        self.ngrams, self.interactions = _checked_ngrams(ngrams), pairs_of(interactions)
        self.values = FeatureNames(0 if one_hot else check_bits(bits))  # of what has a name of its own
        self.target, self.weight, self.offset = (self._named(role) for role in ("target", "weight", "offset"))
        self.roles = {}  # of all columns, in the order of the table, once settled
        self.why: dict[str, str] = {}
        self.means: dict[str, float] = {}  # of numbers
        self.dates: dict[str, Dates] = {}
        if missing is None or learned is not None:
            roles = {name: role for name, role in self.given if role not in ("target", "weight", "offset")}
            self._learn(roles, learned or {}, list(numbers or ()))

    def _named(self, role: str) -> str | None:
        return next((name for name, its in self.given if its == role), None)

    def _learn(self, roles: dict[str, str], learned: dict[str, Any], numbers: list[str]) -> None:
        """Take over what an earlier reading decided; features keep the numbers they had."""
        special = {self.target: "target", self.weight: "weight", self.offset: "offset"}
        for its, names in (("number", numbers), ("date", [row[0] for row in learned.get("dates", ())])):
            if [name for name, role in roles.items() if role == its] != names:  # an order of its own
                roles = {name: roles[name] for name in names} | roles
        self.roles = roles | {name: role for name, role in special.items() if name is not None}
        self.why = dict.fromkeys(self.roles, "as before")
        self.means = dict(zip(numbers, learned.get("means", [0.0] * len(numbers)), strict=True))
        self.dates = {name: Dates(*rest) for name, *rest in learned.get("dates", ())}

    @property
    def roles(self) -> dict[str, str]:
        """The roles of all columns, in the order of the table."""
        return self._roles

    @roles.setter
    def roles(self, roles: dict[str, str]) -> None:
        self._roles = roles
        self._having: dict[str, list[str]] = {}
        for name, role in roles.items():
            self._having.setdefault(role, []).append(name)
        self._valued: list[str] | None = None

    @property
    def fills(self) -> bool:
        """Whether missing values become features."""
        return self.missing is not None

    @property
    def settled(self) -> bool:
        """Whether the roles are known."""
        return bool(self.roles)

    @property
    def missing_words(self) -> list[str]:
        """What stands for a missing value, besides the empty cell."""
        return [] if self.missing is None else [*MISSING, *self.missing]

    def having(self, role: str) -> list[str]:
        """Return the columns of a role."""
        return list(self._having.get(role, ()))

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers."""
        return self.having("number")

    @property
    def categories(self) -> list[str]:
        """The columns of categories."""
        return self.having("category")

    # Roles

    def settle(
        self,
        names: list[str],
        cells: dict[str, list[str | None]],
        types: dict[str, str],
        need_labels: bool,
        where: str,
    ) -> None:
        """Find the roles of columns with these names, first cells and types; or check that the known ones exist."""
        refuse_doubles(names, where)
        self._find_target(names, need_labels, where)
        self._refuse_unknown(names, need_labels, where)
        if self.settled:
            self._refuse_nested(types, where)
            return
        roles = self._given_roles(where)
        if not any(map(len, cells.values())):
            raise ReadError(f"{where}: there are no rows, only the names of the columns.")
        guesses = {
            name: guess(name, cells[name], types.get(name))
            for name in names
            if name not in roles and types.get(name) in KINDS
        }
        guesses |= codes_like_others(guesses, {name: len({*cells[name]} - {None}) for name in guesses})
        for name in names:
            if name in roles:
                self.why[name] = "given"
            else:
                found = guesses.get(name)
                roles[name], self.why[name] = ("?", "") if found is None else (found.role, found.why)
        self.roles = {name: roles[name] for name in names}
        self._refuse_nested(types, where)
        if not any(role in FEATURES for role in self.roles.values()):
            guessed = [f"{name} ({why})" for name, why in self.why.items() if why != "given"]
            left = next((name for name, why in self.why.items() if why != "given"), "")
            self.roles = {}
            more = f" Not used are {', '.join(guessed[:5])}; roles={{{left!r}: 'category'}} uses it." if guessed else ""
            raise ReadError(f"{where}: no column is left to learn from; there are {_some(names)}.{more}")
        for name in self.numbers:
            filled = numbers_of(cells[name])
            self.means[name] = sum(filled) / len(filled) if filled else 0.0
        for name in self.having("date"):
            found_dates = dates_of(name, cells[name], types.get(name))
            if found_dates is None:
                raise ReadError(
                    f"{where}: column {name!r} is to hold dates, but its cells are like {_example(cells[name])}."
                )
            self.dates[name] = found_dates
        self._check_interactions(where)

    def _find_target(self, names: list[str], need_labels: bool, where: str) -> None:
        if self.target is not None:
            return
        taken = {name for name, role in self.given if role == "ignore"}
        usual = [name for name in names if name.lower() in TARGETS and name not in taken]
        if usual and not (self.settled and usual[0] in self.roles):
            self.target = usual[0]
        if need_labels and self.target is None:
            raise ReadError(
                f"{where}: which column is the target? Name it, as in target={names[-1]!r}. The columns are "
                f"{_some(names)}."
            )

    def _refuse_unknown(self, names: list[str], need_labels: bool, where: str) -> None:
        labels = (self.target, self.weight, self.offset)
        roles = self.roles if self.settled else dict(self.given)
        needed = [
            name for name, role in roles.items() if name not in labels and not (self.settled and role == "ignore")
        ]
        needed += [name for name in labels if name is not None and need_labels]
        needed += [name for pair in self.interactions for name in pair]
        there = set(names)
        for name in needed:
            if name not in there:
                header = " The first line holds numbers; if it is data: header=False." if numbers_of(names) else ""
                raise ReadError(
                    f"{where}: there is no column {name!r}.{nearest(name, names)} The columns are {_some(names)}."
                    f"{header}"
                )

    def _given_roles(self, where: str) -> dict[str, str]:
        roles: dict[str, str] = {}
        for name, role in [*([(self.target, "target")] if self.target is not None else []), *self.given]:
            if roles.setdefault(name, role) != role:
                one, other = (_SPOKEN.get(r, f"a {r}") for r in (roles[name], role))
                raise ReadError(f"{where}: column {name!r} cannot be both {one} and {other}; choose one.")
        return roles

    def _refuse_nested(self, types: dict[str, str], where: str) -> None:
        for name, role in self.roles.items():
            kind = types.get(name)
            if kind not in KINDS and role != "ignore":
                raise ReadError(
                    f"{where}: column {name!r} holds values of a type that is no number, no string and no date "
                    f"({_type_word(str(kind))}). Convert it, or leave it out: ignore=[{name!r}]."
                )

    def _check_interactions(self, where: str) -> None:
        for name in (name for pair in self.interactions for name in pair):
            if self.roles[name] not in FEATURES:
                role = _SPOKEN.get(self.roles[name], f"a {self.roles[name]}")
                raise ReadError(f"{where}: column {name!r} is {role}; it cannot be part of an interaction.")

    def plan(self, names: list[str], text_target: bool) -> Any:
        """Return what the core needs to read tables whose columns have these names."""
        plan = _core.TablePlan([word.encode() for word in self.missing_words], self.fills, self.first, self.ngrams)
        values = [*self.numbers, *self.dates]
        feature = {name: j for j, name in enumerate(values)}
        for name in names:
            role = self.roles.get(name, "ignore")
            role = "class" if role == "target" and text_target else role
            role = "target" if name == self.target and role == "ignore" else role
            more: dict[str, Any] = {}
            if name in feature:
                indicator = len(values) + feature[name] if self.fills else -1
                more = {"feature": feature[name], "indicator": indicator, "mean": self.means.get(name, 0.0)}
            if name in self.dates:
                dates = self.dates[name]
                more |= {"form": dates.form, "first_day": dates.first_day, "timed": dates.timed}
            plan.add(role, name.encode("utf-8", "surrogateescape"), **more)
        for a, b in self.interactions:
            plan.cross(names.index(a), names.index(b))
        return plan

    # Features

    def _value_names(self) -> list[str]:
        """Return the names of features that are values: numbers, days, and that one of them is missing."""
        if self._valued is None:
            values = [*self.numbers, *(f"{name}:days" for name in self.dates)]
            lacking = [f"{name}=missing" for name in [*self.numbers, *self.dates]] if self.fills else []
            self._valued = values + lacking
        return self._valued

    @property
    def first(self) -> int:
        """The number of the first feature that has a name of its own."""
        return (len(self._having.get("number", ())) + len(self.dates)) * (1 + self.fills)

    @property
    def makes_names(self) -> bool:
        """Whether there are features that have names of their own."""
        return bool(self.interactions) or any(role in ("category", "text", "date") for role in self.roles.values())

    def width(self, largest: int) -> int:
        """Return the number of features, given one more than the largest that occurred."""
        if self.makes_names and self.values.size:
            return self.first + self.values.size
        return max(largest, len(self.numbers) + len(self.dates))

    @property
    def collisions(self) -> int:
        """The number of features that have more than one name."""
        return self.values.collisions

    def name(self, feature: int) -> str:
        """Return the name of a feature."""
        return self._value_names()[feature] if feature < self.first else self.values.name(feature - self.first)

    def other(self, feature: int) -> str | None:
        """Return a second name of a feature, or None."""
        return None if feature < self.first else self.values.other(feature - self.first)

    def recall(self, features: Array, names: list[str] | None) -> Array:
        """Return the numbers that these features of a model have here."""
        if names is None or not self.makes_names:
            return features
        result, named = features.copy(), features >= self.first
        own = [name for name, is_own in zip(names, named.tolist(), strict=True) if is_own]
        result[named] = self.first + self.values.recall(features[named] - self.first, own)
        return result

    def origins(self) -> tuple[list[str], list[Any]]:
        """Return the columns that make features, in the order of the table, and the interactions."""
        return [name for name, role in self.roles.items() if role in FEATURES], self.interactions

    def forget(self) -> None:
        """Keep no names of hashed features."""
        self.values.forget()

    # Reading other tables in the same way, and resuming

    def _learned(self) -> dict[str, Any]:
        if not self.fills:
            return {}
        dates = [[name, found.form, found.first_day, found.timed] for name, found in self.dates.items()]
        learned = {"means": [self.means[name] for name in self.numbers], "dates": dates}
        roles = {name: role for name, role in self.roles.items() if role not in ("target", "weight", "offset")}
        return {"roles": roles, "learned": learned}

    def settings(self) -> dict[str, Any]:
        """Return the settings that read other tables in the same way."""
        exact = self.values.bits == 0
        found: dict[str, Any] = {"target": self.target, "weight": self.weight}
        found |= {"numbers": self.numbers, "categories": self.categories} | self._learned()
        if self.fills:
            found |= {
                "missing": self.missing,
                "ngrams": self.ngrams,
                "interactions": [list(p) for p in self.interactions],
            }
        if self.offset is not None:
            found["offset"] = self.offset
        return found | ({"one_hot": True} if exact else {"bits": self.values.bits})

    def state(self) -> dict[str, Any]:
        """Return the state of reading, for a checkpoint."""
        found = {"target": self.target, "numbers": self.numbers, "categories": self.categories}
        return found | self._learned() | self.values.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from such a state."""
        self.target = state["target"]
        numbers, categories = state["numbers"], state["categories"]
        roles = state.get("roles") or dict.fromkeys(numbers, "number") | dict.fromkeys(categories, "category")
        if "learned" not in state:
            self.missing = None  # the run began when missing values made no entry
        self._learn(roles, state.get("learned", {}), numbers)
        self.values.restore(state)


def agrees(settings: dict[str, Any]) -> bool:
    """Return whether settings or a state of columns, whose fields are of their types, fit together."""
    roles, learned = settings.get("roles"), settings.get("learned")
    if roles is None or learned is None:
        return roles is None and learned is None and not settings.get("interactions")
    means, dates = learned.get("means"), learned.get("dates")
    if not (set(learned) == {"means", "dates"} and isinstance(means, list) and isinstance(dates, list)):
        return False
    fields = ((str,), (int,), (int,), (bool,))
    typed = all(
        isinstance(row, list) and len(row) == 4 and all(type(v) in kinds for v, kinds in zip(row, fields, strict=True))
        for row in dates
    )
    if not typed or not all(type(mean) is float for mean in means):
        return False
    having: dict[str, list[str]] = {role: [n for n, its in roles.items() if its == role] for role in ROLES}
    named = {"number": settings["numbers"], "category": settings["categories"], "date": [row[0] for row in dates]}
    return (
        len(means) == len(settings["numbers"])
        and all(len(names) == len(having[role]) and set(names) == set(having[role]) for role, names in named.items())
        and not any(having[role] for role in ("target", "weight", "offset"))
        and all(0 <= row[1] < len(FORMS) and abs(row[2]) < 1 << 32 for row in dates)
        and all(len(p) == 2 and all(roles.get(n) in FEATURES for n in p) for p in settings.get("interactions", ()))
        and not {settings.get(role) for role in ("target", "weight", "offset")} & {*roles}
    )


KINDS = (None, "none", "truth", "whole", "real", "string", "category", "moment")  # types that a column may have


def _given(
    target: str | None,
    weight: str | None,
    offset: str | None,
    roles: dict[str, str] | None,
    categories: list[str],
    ignore: list[str],
    numbers: list[str],
) -> list[tuple[str, str]]:
    """Return the roles that were given, as pairs of a name and a role."""
    given = [
        (name, role) for name, role in ((target, "target"), (weight, "weight"), (offset, "offset")) if name is not None
    ]
    if roles is not None and not isinstance(roles, Mapping):
        raise ValueError(f"roles must say what columns are, as in {{'zip': 'category'}}; {roles!r} was given.")
    for name, role in (roles or {}).items():
        if role not in ROLES:
            raise ValueError(
                f"There is no role {role!r} (of column {name!r}).{nearest(str(role), ROLES)} The roles are "
                f"{', '.join(ROLES)}."
            )
        given.append((name, role))
    given += [(name, "category") for name in categories] + [(name, "ignore") for name in ignore]
    given = list(dict.fromkeys(given + [(name, "number") for name in numbers]))
    for role in ("target", "weight", "offset"):
        names = [name for name, its in given if its == role]
        if len(names) > 1:
            raise ValueError(f"Only one column can be the {role}; {names[0]!r} and {names[1]!r} were given.")
    return given


def _listed(names: Iterable[str] | str) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _checked_ngrams(ngrams: Any) -> int:
    if not isinstance(ngrams, int) or isinstance(ngrams, bool) or not 1 <= ngrams <= 10:
        raise ValueError(
            f"ngrams must be a whole number from 1 to 10, the most words in a feature; {ngrams!r} was given."
        )
    return ngrams


def pairs_of(interactions: Iterable[Any]) -> list[tuple[str, str]]:
    """Return pairs of names.

    >>> pairs_of([("user", "item")])
    [('user', 'item')]
    """
    pairs = []
    for pair in interactions:
        if isinstance(pair, str) or len(tuple(pair)) != 2 or not all(isinstance(name, str) for name in pair):
            raise ValueError(f'interactions must be pairs of names, as in [("user", "item")]; {pair!r} was given.')
        pairs.append((pair[0], pair[1]))
    return list(dict.fromkeys(pairs))


def refuse_doubles(names: list[str], where: str) -> None:
    """Raise if two columns have one name."""
    if len(set(names)) < len(names):
        name = next(name for name, count in Counter(names).items() if count > 1)
        raise ReadError(f"{where}: two columns are called {name!r}; rename or drop one of them.")


def _type_word(kind: str) -> str:
    words = {"t": "times of day or durations", "+": "lists or other nested values", "d": "long decimal numbers"}
    return words.get(kind[:1], f"Arrow format {kind}")


def _example(cells: Sequence[str | None]) -> str:
    return repr(next((cell for cell in cells if cell is not None), None))


def _some(names: list[str]) -> str:
    return ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
