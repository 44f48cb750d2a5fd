"""Settings are frozen, compare by value, and can be copied and written down."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import gossamer as gs
from catalogue import GROUPS, LOSSES, PENALTIES, largest_shape, over
from gossamer.groups import Groups

PARTS = [*LOSSES, *PENALTIES]


def part(entry):
    return entry.loss if hasattr(entry, "loss") else entry.penalty


@over(PARTS)
def test_settings_are_frozen(entry):
    for field in dataclasses.fields(part(entry)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(part(entry), field.name, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        part(entry).anything = 1


CLONES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}


@over(PARTS)
@pytest.mark.parametrize("clone", CLONES.values(), ids=CLONES)
def test_copies_are_equal_and_work(entry, clone):
    original, other = part(entry), clone(part(entry))
    assert other == original
    assert hash(other) == hash(original)
    assert repr(other) == repr(original)
    if hasattr(entry, "penalty"):
        v = np.full(largest_shape(entry), 0.75)
        np.testing.assert_array_equal(other.prox(v), original.prox(v))


@over(PARTS)
def test_made_again_is_equal(entry):
    original = part(entry)
    again = type(original)(**{f.name: getattr(original, f.name) for f in dataclasses.fields(original)})
    assert again == original
    assert hash(again) == hash(original)


def test_no_two_entries_are_equal():
    for entries in (LOSSES, PENALTIES):
        parts = [part(entry) for entry in entries]
        same = {
            (a.name, b.name)
            for a, x in zip(entries, parts, strict=True)
            for b, y in zip(entries, parts, strict=True)
            if a is not b and x == y
        }
        # these take other shapes, not other settings
        assert same <= {
            ("group linf, rows", "group linf, wide rows"),
            ("group linf, wide rows", "group linf, rows"),
        }
    assert gs.L1() != "l1"
    assert gs.L1() != gs.L2()
    assert gs.L1(weights=[1.0, 2.0]) != gs.L1(weights=[2.0, 1.0])
    assert gs.L1(weights=[1.0, 2.0]) != gs.L1()


@over([entry for entry in PARTS if "array(" not in repr(part(entry))])
def test_repr_makes_it_again(entry):
    names = {**{name: getattr(gs, name) for name in gs.__all__}, "inf": np.inf}
    assert eval(repr(part(entry)), names) == part(entry)


GROUP_FORMS = {
    "lists": lambda: GROUPS,
    "arrays": lambda: [np.array(group) for group in GROUPS],
    "labels in an array": lambda: np.array([0, 1, 2, 2, 0, 2]),
    "Groups": lambda: Groups(GROUPS),
}


@pytest.mark.parametrize("form", GROUP_FORMS.values(), ids=GROUP_FORMS)
@pytest.mark.parametrize(
    "make", [gs.GroupL2, gs.GroupLInf, lambda g: gs.GroupL2Ball(1.0, g)], ids=["l2", "linf", "ball"]
)
def test_groups_compare_by_value(make, form):
    assert make(form()) == make(form())
    for clone in CLONES.values():
        assert clone(make(form())) == make(form())
    assert make(form()) != make([[0, 1], [2, 3, 4, 5]])


@pytest.mark.parametrize("number", [2, np.float32(2), np.int64(2), np.array(2.0)], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("make", [gs.Huber, gs.LogEpsilonInsensitive, gs.Berhu, gs.L1Ball, gs.Simplex, gs.GroupL2Ball])
def test_settings_of_any_number_type(make, number):
    assert make(number) == make(2.0)
    assert hash(make(number)) == hash(make(2.0))
