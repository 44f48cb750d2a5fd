"""Groups of features: a partition of 0 … d−1, given by indices or by one label per feature, or later by names.

`NamedGroups` wait for the names of the features; `Known` says what is known of them. `GrowingGroups` get their
features one by one, as a source brings them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gossamer.registry import nearest, record
from gossamer.validation import Array, frozen


class Groups:
    """A partition of the features, checked once.

    Parameters
    ----------
    spec : sequence of index sequences, or a vector with one label per feature
        ``[[0, 2], [1, 3, 4]]`` and ``[0, 1, 0, 1, 1]`` are the same two groups. Labels may be any integers or strings;
        the groups are then in the order of the sorted labels.
    names : list, optional
        What each group is called: its label, or its number by default.

    Examples
    --------
    >>> from gossamer.groups import Groups
    >>> Groups([0, 1, 0, 1, 1])
    [[0, 2], [1, 3, 4]]
    >>> Groups(range(1000))
    Groups(1000 groups over 1000 features)
    """

    def __init__(self, spec: Any, names: list[Any] | None = None) -> None:
        lists = _index_lists(spec)
        if lists is None:
            labels = np.asarray(spec)
            if labels.ndim != 1 or labels.dtype.kind not in "iuUS":
                raise TypeError(
                    "groups must be a list of index lists, such as [[0, 2], [1, 3]], or a vector of one integer or "
                    f"string label per feature, such as [0, 1, 0, 1]; {type(spec).__name__} of dtype {labels.dtype} "
                    f"with {labels.ndim} dimensions was given."
                )
            found, labels = np.unique(labels, return_inverse=True)
            names = found.tolist() if names is None else names
            self.members: Array = np.argsort(labels, kind="stable").astype(np.int64)
            sizes = np.bincount(labels)
        else:
            self.members = np.concatenate([*lists, np.empty(0, np.int64)])
            sizes = np.array([len(g) for g in lists], np.int64)
            _check_partition(self.members, sizes)
        self.names = names
        self.members = frozen(self.members)
        # By group and then by feature: sums over a group do not depend on the order of its list.
        self.ordered = frozen(self.members[np.lexsort((self.members, np.repeat(np.arange(len(sizes)), sizes)))])
        self.starts = frozen(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    @property
    def n_features(self) -> int:
        """How many features the groups cover."""
        return len(self.members)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[list[int]]:
        return (self[group] for group in range(len(self)))

    def __getitem__(self, group: int) -> list[int]:
        """Return the features of one group."""
        if not -len(self) <= group < len(self):
            raise IndexError(f"There are {len(self)} groups; group {group} was asked for.")
        group %= len(self)
        return [int(j) for j in self.members[self.starts[group] : self.starts[group + 1]]]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Groups)
            and np.array_equal(self.members, other.members)
            and np.array_equal(self.starts, other.starts)
        )

    def __hash__(self) -> int:
        return hash((self.members.tobytes(), self.starts.tobytes()))

    def __repr__(self) -> str:
        if self.n_features <= 100:
            return repr(list(self))
        return f"Groups({len(self)} groups over {self.n_features} features)"

    def of(self, features: Array) -> Array:
        """Return the number of the group of each of some features."""
        label = np.empty(self.n_features, np.int64)
        label[self.members] = np.repeat(np.arange(len(self)), np.diff(self.starts))
        return label[features]

    def name(self, group: int) -> Any:
        """Return what a group is called."""
        return group if self.names is None else self.names[group]

    def restricted(self, features: Array) -> tuple[Groups, Array]:
        """Return the groups over some of the features, renumbered, and the numbers of the groups that are left.

        >>> Groups([[0, 2], [1, 3, 4]]).restricted(np.array([1, 3, 4]))
        ([[0, 1, 2]], array([1]))
        """
        label = self.of(features)
        return Groups(label), np.unique(label)

    def check_covers(self, n_features: int) -> None:
        """Raise unless the groups cover exactly `n_features` features."""
        if n_features != self.n_features:
            raise ValueError(
                f"groups must cover every feature: they cover {self.n_features} features, but there are {n_features}. "
                "Features that are in no list may be left out of a dict: groups={'first': [0, 1]}."
            )


@record
class Known:
    """What is known of the features of some data: how many, their names, the columns of a table that they come from."""

    features: int
    names: Any = None  # one per feature, or None
    columns: Any = None  # the names of the columns of the table; None where features are columns
    column_of: Any = None  # the number of the column of each feature, -1 where none is known


class NamedGroups:
    """Groups by names, which are found once the data is known.

    Parameters
    ----------
    spec : dict, list of lists, or "columns"
        Names of features or of columns of a table, or numbers of features: ``{"place": ["city", "zip"]}``,
        ``[["city", "zip"], ["age", 3]]``. A column of a table means all features that it makes. "columns" makes each
        column a group. Features that are in none of the groups are groups of their own.

    Examples
    --------
    >>> from gossamer.groups import Known, NamedGroups
    >>> groups = NamedGroups({"place": ["city", "zip"]})
    >>> groups
    {'place': ['city', 'zip']}
    >>> found = groups.over(Known(3, names=["zip", "age", "city"]))
    >>> found, found.names
    ([[0, 2], [1]], ['place', 'age'])
    """

    def __init__(self, spec: Any) -> None:
        self.by_column = isinstance(spec, str)
        if self.by_column and spec != "columns":
            raise ValueError(f"groups must be lists, a dict of lists, or 'columns'; {spec!r} was given.")
        lists = {} if self.by_column else spec if isinstance(spec, Mapping) else dict(enumerate(spec))
        self.keyed = isinstance(spec, Mapping)
        self.lists = {key: _entries(key, group) for key, group in lists.items()}
        if not (self.by_column or self.lists):
            raise ValueError("groups must hold at least one group; it is empty.")

    def __len__(self) -> int:
        return len(self.lists)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedGroups) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash(repr(self))

    @property
    def spec(self) -> Any:
        """The groups as they were given."""
        return "columns" if self.by_column else self.lists if self.keyed else list(self.lists.values())

    def __repr__(self) -> str:
        return repr(self.spec)

    def over(self, known: Known) -> Groups:
        """Return the groups of the features of some data."""
        label, names = np.full(known.features, -1, np.int64), list(self.lists)
        if self.by_column:
            label[:] = np.arange(known.features) if known.columns is None else known.column_of
            names = list(range(known.features) if known.names is None else known.names)
            names = names if known.columns is None else list(known.columns)
        for number, (key, group) in enumerate(self.lists.items()):
            for entry in group:
                members = self._members(entry, known)
                twice = members[(label[members] >= 0) & (label[members] != number)]
                if len(twice):
                    what, other = self._called(twice[0], known), names[label[twice[0]]]
                    raise ValueError(f"groups must not overlap: {what!r} is in {other!r} and in {key!r}.")
                label[members] = number
        free = np.flatnonzero(label < 0)
        label[free] = len(names) + np.arange(len(free))
        names += [self._called(j, known) for j in free.tolist()]
        used, label = np.unique(label, return_inverse=True)  # a column may have made no feature
        return Groups(label, [names[group] for group in used.tolist()])

    def number_of_columns(self, columns: list[str]) -> list[int | None]:
        """Return the number of the group of each column of a table; None where its features are on their own."""
        if self.by_column:
            return list(range(len(columns)))
        found: list[int | None] = [None] * len(columns)
        for number, (key, group) in enumerate(self.lists.items()):
            for entry in group:
                if not isinstance(entry, str) or entry not in columns:
                    raise _unknown(entry, columns, "column")
                at = columns.index(entry)
                if found[at] not in (None, number):
                    raise ValueError(f"groups must not overlap: column {entry!r} is in two of them, {key!r} is one.")
                found[at] = number
        return found

    def _members(self, entry: Any, known: Known) -> Array:
        if not isinstance(entry, str):
            if not 0 <= entry < known.features:
                raise ValueError(f"groups hold the feature {entry}; features are numbered 0 … {known.features - 1}.")
            return np.array([entry])
        if known.columns is not None and entry in known.columns:
            return np.flatnonzero(known.column_of == list(known.columns).index(entry))
        if known.names is None and known.columns is None:
            raise ValueError(
                f"groups hold the name {entry!r}, and the data has no names: pass a data frame or a table, or give the "
                "numbers of the features."
            )
        names = np.array([] if known.names is None else known.names, dtype=object)
        there = np.flatnonzero(names == entry)
        if not len(there):
            raise _unknown(entry, list(names if known.columns is None else known.columns), "column")
        return there

    @staticmethod
    def _called(feature: int, known: Known) -> Any:
        return int(feature) if known.names is None else known.names[feature]


class GrowingGroups:
    """Groups of features that a source brings one by one: each feature gets its group before it is first learned from.

    Parameters
    ----------
    named : NamedGroups
        The groups, by names of columns.
    columns : list of str
        The columns of the table.

    Examples
    --------
    >>> from gossamer.groups import GrowingGroups, NamedGroups
    >>> groups = GrowingGroups(NamedGroups({"place": ["city", "zip"]}), ["age", "city", "zip"])
    >>> groups.assign(np.array([7, 3, 5]), lambda features: np.array([1, 2, 0])).tolist()
    [3, 5, 7]
    >>> groups.of(np.array([3, 5, 7, 4])), groups.count, groups.name(0)
    (array([ 0,  0,  1, -1]), 2, 'place')
    """

    def __init__(self, named: NamedGroups, columns: list[str]) -> None:
        self.named, self.columns = named, list(columns)
        numbers = named.number_of_columns(self.columns)
        self._of_column = np.array([-1 if g is None else g for g in numbers], np.int64)
        self.names: list[Any] = list(columns) if named.by_column else list(named.lists)
        self.count = len(self.names)  # groups so far, with those of one feature
        self._of = np.full(0, -1, np.int32)

    @property
    def room(self) -> int:
        """How many groups a learner has room for: more than there are, if features on their own may come."""
        fixed = bool((self._of_column >= 0).all())
        return self.count if fixed else max(1 << 10, 1 << self.count.bit_length())

    @property
    def n_features(self) -> int:
        """How many features there are at most so far."""
        return len(self._of)

    def of(self, features: Array) -> Array:
        """Return the number of the group of each of some features, -1 if it has none yet."""
        found = np.full(len(features), -1, np.int64)
        there = features < len(self._of)
        found[there] = self._of[features[there]]
        return found

    def name(self, group: int) -> Any:
        """Return what a group is called; None for a feature on its own."""
        return self.names[group] if group < len(self.names) else None

    def assign(self, features: Array, column_of: Callable[[Array], Array]) -> Array:
        """Give each new feature the group of its column; return the new features, sorted.

        Features stand in the order of the rows. `column_of` returns the numbers of their columns.
        """
        fresh = features >= len(self._of)
        fresh[~fresh] = self._of[features[~fresh]] < 0
        if not fresh.any():
            return np.empty(0, np.int32)
        new, first = np.unique(features[fresh], return_index=True)
        self._room(int(new[-1]) + 1)
        columns = column_of(new)
        groups = np.where(columns >= 0, self._of_column[columns], -1)
        alone = np.flatnonzero(groups < 0)
        alone = alone[np.argsort(first[alone])]  # in the order in which they come, however the rows are cut
        groups[alone] = self.count + np.arange(len(alone))
        self.count += len(alone)
        self._of[new] = groups
        return new.astype(np.int32)

    def recover(self, members: Array) -> None:
        """Take over the groups of features that have been learned from: pairs of a feature and its group."""
        pairs = np.asarray(members).reshape(-1, 2).astype(np.int64)
        if len(pairs):
            self._room(int(pairs[:, 0].max()) + 1)
            self._of[pairs[:, 0]] = pairs[:, 1]
            self.count = max(self.count, int(pairs[:, 1].max()) + 1)

    def _room(self, features: int) -> None:
        if features > len(self._of):
            wide = np.full(max(features, 2 * len(self._of)), -1, np.int32)
            wide[: len(self._of)] = self._of
            self._of = wide

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GrowingGroups) and (self.named, self.columns) == (other.named, other.columns)

    def __hash__(self) -> int:
        return hash((self.named, tuple(self.columns)))

    def __repr__(self) -> str:
        return f"GrowingGroups({self.named!r}, {self.columns!r})"


def parsed(groups: Any) -> Any:
    """Return groups that were given as lists, labels, a dict or "columns"."""
    if groups is None or isinstance(groups, (Groups, NamedGroups, GrowingGroups)):
        return groups
    if isinstance(groups, (Mapping, str)) or _has_names(groups):
        return NamedGroups(groups)
    return Groups(groups)


def _is_list(thing: Any) -> bool:
    return isinstance(thing, (Sequence, np.ndarray)) and not isinstance(thing, (str, bytes))


def _has_names(spec: Any) -> bool:
    """Return whether some list of `spec` holds a name."""
    return _is_list(spec) and any(_is_list(group) and any(isinstance(j, str) for j in group) for group in spec)


def _entries(key: Any, group: Any) -> list[Any]:
    """Return the names and numbers of one group, checked."""
    entries = [group] if isinstance(group, (str, int, np.integer)) else group
    if not _is_list(entries):
        raise TypeError(f"groups[{key!r}] must be a list of names or of numbers of features; {group!r} was given.")
    if len(entries) == 0:
        raise ValueError(f"groups[{key!r}] is empty; leave it out.")
    for entry in entries:
        if not isinstance(entry, (str, int, np.integer)) or isinstance(entry, bool):
            raise TypeError(f"groups[{key!r}] must hold names or numbers of features; {entry!r} was found.")
    return [str(entry) if isinstance(entry, str) else int(entry) for entry in entries]


def _unknown(entry: Any, names: list[Any], noun: str) -> ValueError:
    near = nearest(entry, names) if isinstance(entry, str) else ""
    some = ", ".join(map(str, names[:10])) + (", …" if len(names) > 10 else "")
    return ValueError(f"groups hold {entry!r}, and there is no such {noun}.{near} There are: {some}.")


def _index_lists(spec: Any) -> list[Array] | None:
    """Return the index lists as arrays, or None if `spec` is a vector of labels."""
    if isinstance(spec, (str, bytes)) or not isinstance(spec, (Sequence, np.ndarray)):
        raise TypeError(f"groups must be a sequence; {type(spec).__name__} was given.")
    nested = [isinstance(g, (Sequence, np.ndarray)) and not isinstance(g, (str, bytes)) for g in spec]
    if not any(nested):
        return None
    if not all(nested):
        raise TypeError(f"groups must be all lists of indices or all labels; {spec!r} mixes the two.")
    lists = []
    for i, group in enumerate(spec):
        indices = np.asarray(group)
        if indices.size == 0:
            raise ValueError(f"groups[{i}] is empty; leave it out.")
        if indices.ndim != 1 or indices.dtype.kind not in "iu":
            raise TypeError(f"groups[{i}] must be a list of feature indices; {group!r} was given.")
        lists.append(indices.astype(np.int64))
    return lists


def _check_partition(members: Array, sizes: Array) -> None:
    if members.min() < 0:
        raise ValueError(f"groups hold the feature index {members.min()}; indices start at 0.")
    if members.max() >= 2 * len(members) + 2**20:  # far out: do not count up to it
        raise ValueError(f"groups must cover every feature: index {members.max()} is in, but few of those before it.")
    counts = np.bincount(members)
    if counts.max() > 1:
        twice = int(np.argmax(counts > 1))
        owners = np.repeat(np.arange(len(sizes)), sizes)[members == twice]
        raise ValueError(
            f"groups must not overlap: feature {twice} is in groups {' and '.join(map(str, owners[:2]))}. "
            "Give each shared feature a copy of its own column instead."
        )
    if counts.min() == 0:
        raise ValueError(
            f"groups must cover every feature: feature {int(np.argmin(counts))} is in none. "
            "A feature on its own is a group of one; a dict of lists, groups={'first': [0, 1]}, makes them by itself."
        )
