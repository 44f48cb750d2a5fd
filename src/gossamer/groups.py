"""Groups of features: a partition of 0 … d−1, given as lists of indices or as one label per feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gossamer.validation import Array, frozen


class Groups:
    """A partition of the features, checked once.

    Parameters
    ----------
    spec : sequence of index sequences, or a vector with one label per feature
        ``[[0, 2], [1, 3, 4]]`` and ``[0, 1, 0, 1, 1]`` are the same two groups. Labels may be any integers or strings;
        the groups are then in the order of the sorted labels.

    Examples
    --------
    >>> from gossamer.groups import Groups
    >>> Groups([0, 1, 0, 1, 1])
    [[0, 2], [1, 3, 4]]
    >>> Groups(range(1000))
    Groups(1000 groups over 1000 features)
    """

    def __init__(self, spec: Any) -> None:
        lists = _index_lists(spec)
        if lists is None:
            labels = np.asarray(spec)
            if labels.ndim != 1 or labels.dtype.kind not in "iuUS":
                raise TypeError(
                    "groups must be a list of index lists, such as [[0, 2], [1, 3]], or a vector of one integer or "
                    f"string label per feature, such as [0, 1, 0, 1]; {type(spec).__name__} of dtype {labels.dtype} "
                    f"with {labels.ndim} dimensions was given."
                )
            _, labels = np.unique(labels, return_inverse=True)
            self.members: Array = np.argsort(labels, kind="stable").astype(np.int64)
            sizes = np.bincount(labels)
        else:
            self.members = np.concatenate([*lists, np.empty(0, np.int64)])
            sizes = np.array([len(g) for g in lists], np.int64)
            _check_partition(self.members, sizes)
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

    def restricted(self, features: Array) -> tuple[Groups, Array]:
        """Return the groups over some of the features, renumbered, and the numbers of the groups that are left.

        >>> Groups([[0, 2], [1, 3, 4]]).restricted(np.array([1, 3, 4]))
        ([[0, 1, 2]], array([1]))
        """
        label = np.empty(self.n_features, np.int64)
        label[self.members] = np.repeat(np.arange(len(self)), np.diff(self.starts))
        return Groups(label[features]), np.unique(label[features])

    def check_covers(self, n_features: int) -> None:
        """Raise unless the groups cover exactly `n_features` features."""
        if n_features != self.n_features:
            raise ValueError(
                f"groups must cover every feature: they cover {self.n_features} features, but there are {n_features}."
            )


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
            "A feature on its own is a group of one."
        )
