import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from catalogue import GROUPS, LABELS, NAMES
from gossamer.groups import Groups


def parts(groups):
    return [groups.members[a:b].tolist() for a, b in zip(groups.starts[:-1], groups.starts[1:], strict=True)]


@pytest.mark.parametrize(
    "spec",
    [
        GROUPS,
        tuple(map(tuple, GROUPS)),
        [np.array(group) for group in GROUPS],
        [np.array(group, np.uint8) for group in GROUPS],
    ],
    ids=["lists", "tuples", "arrays", "bytes"],
)
def test_lists_keep_their_order(spec):
    groups = Groups(spec)
    assert parts(groups) == GROUPS
    assert (len(groups), groups.n_features) == (3, 6)
    assert repr(groups) == "[[4, 0], [1], [5, 3, 2]]"


@pytest.mark.parametrize(
    "spec",
    [LABELS, NAMES, tuple(LABELS), np.array(LABELS), np.array(NAMES), np.array(LABELS, np.int8), np.array(NAMES, "S")],
    ids=["list", "names", "tuple", "array", "array of names", "int8", "array of bytes"],
)
def test_labels(spec):
    assert parts(Groups(spec)) == [sorted(group) for group in GROUPS]


def test_ranges_and_rows():
    assert parts(Groups([range(2), range(2, 5)])) == [[0, 1], [2, 3, 4]]
    assert parts(Groups(np.array([[0, 3], [2, 1]]))) == [[0, 3], [2, 1]]
    assert parts(Groups([-5, 3, -5])) == [[0, 2], [1]]  # labels may be any integers


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_labels_are_lists(labels):
    expected = reference.feature_groups(labels, len(labels))
    assert parts(Groups(labels)) == expected
    assert parts(Groups(expected)) == expected


@given(st.permutations(range(8)), st.sets(st.integers(1, 7)))
def test_any_partition_is_kept(order, cuts):
    lists = [part.tolist() for part in np.split(np.array(order), sorted(cuts))]
    assert parts(Groups(lists)) == lists


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ([[0, 1], [1, 2]], "groups must not overlap: feature 1 is in groups 0 and 1"),
        ([[0, 0]], "groups must not overlap: feature 0 is in groups 0 and 0"),
        ([[0], [2]], "groups must cover every feature: feature 1 is in none"),
        ([[1, 2]], "groups must cover every feature: feature 0 is in none"),
        ([[0], []], r"groups\[1\] is empty; leave it out"),
        ([[0, -1]], "groups hold the feature index -1; indices start at 0"),
        ([[0, 10**12]], "groups must cover every feature: index 1000000000000 is in"),
    ],
)
def test_not_a_partition(spec, words):
    with pytest.raises(ValueError, match=words):
        Groups(spec)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("ab", "groups must be a sequence; str was given"),
        (5, "groups must be a sequence; int was given"),
        (None, "groups must be a sequence; NoneType was given"),
        ({0, 1}, "groups must be a sequence; set was given"),
        ([0.0, 1.0], "one integer or string label per feature"),
        ([True, False], "one integer or string label per feature"),
        ([None, None], "one integer or string label per feature"),
        ([[0.0, 1.0]], r"groups\[0\] must be a list of feature indices"),
        ([["a"], ["b"]], r"groups\[0\] must be a list of feature indices"),
        ([[[0]]], r"groups\[0\] must be a list of feature indices"),
        ([[0, 1], 2], "groups"),
    ],
)
def test_not_groups(spec, words):
    with pytest.raises(TypeError, match=words):
        Groups(spec)


def test_covers():
    Groups(GROUPS).check_covers(6)
    with pytest.raises(ValueError, match="they cover 6 features, but there are 7"):
        Groups(GROUPS).check_covers(7)
