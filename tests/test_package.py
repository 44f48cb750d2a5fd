import copy
import dataclasses
import importlib
import inspect
import pickle
import subprocess
import sys
from importlib import resources

import numpy as np
import pytest

import gossamer as gs
from catalogue import CATALOGUED, GROUPS, LOSSES, PENALTIES, SETS, largest_shape, over
from gossamer import losses, penalties, projections
from gossamer.groups import Groups

CATALOGUE = [penalties, projections, losses]
MODULES = [importlib.import_module(f"gossamer.{home}") for home in gs._HOMES]
PARTS = [*LOSSES, *PENALTIES]


def part(entry):
    return entry.loss if hasattr(entry, "loss") else entry.penalty


def test_everything_public_is_catalogued():
    # holds the user's functions, has no twin and no copies; has no prox: test_compiled_loss.py, test_boosting_rules.py
    own = {"CompiledLoss", "SmoothL1"}
    assert {name for module in CATALOGUE for name in module.__all__} - own == CATALOGUED


def test_all_is_what_the_modules_offer():
    assert sorted(gs.__all__) == sorted(name for module in MODULES for name in module.__all__)
    assert len(set(gs.__all__)) == len(gs.__all__)
    for module in MODULES:
        for name in module.__all__:
            assert getattr(gs, name) is getattr(module, name)


@pytest.mark.parametrize("name", gs.__all__)
def test_every_public_name_shows_an_example(name):
    words = getattr(gs, name).__doc__
    assert "Examples\n" in words
    assert ">>> " in words


@pytest.mark.parametrize("name", gs.__all__)
def test_every_public_method_is_documented(name):
    public = getattr(gs, name)
    if isinstance(public, type):
        for method in ("value", "slope", "link", "prox", "dual_norm", "update", "to_array"):
            if hasattr(public, method):
                assert inspect.getdoc(getattr(public, method)), f"{name}.{method} says nothing"


def in_a_new_process(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_import_is_light():
    code = "import sys, gossamer; print(*sys.modules)"
    assert not {"sklearn", "scipy", "gossamer.penalties", "gossamer._core"} & set(in_a_new_process(code))


def test_the_catalogue_needs_neither_scipy_nor_sklearn():
    names = [name for module in CATALOGUE for name in module.__all__]
    code = f"import sys, gossamer as gs; [getattr(gs, name) for name in {names}]; print(*sys.modules)"
    loaded = set(in_a_new_process(code))
    assert "gossamer.penalties" in loaded
    assert not {"sklearn", "scipy"} & loaded


def test_dir_shows_names_before_they_are_used():
    shown = in_a_new_process("import gossamer; print(*dir(gossamer))")
    assert set(gs.__all__) <= set(shown)
    assert "__version__" in shown
    assert shown == sorted(shown)
    assert len(set(shown)) == len(shown)


def test_dir_has_no_doubles_after_use():
    _ = gs.L1, gs.Hinge
    assert len(set(dir(gs))) == len(dir(gs))


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="module 'gossamer' has no attribute 'L3'"):
        _ = gs.L3


def test_version_is_that_of_the_package():
    assert gs.__version__ == importlib.metadata.version("gossamer")


def test_typing_files_are_installed():
    for name in ("py.typed", "_core.pyi"):
        assert resources.files("gossamer").joinpath(name).is_file()


# Settings


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


def test_sets_say_that_they_are():
    assert {type(entry.penalty).__name__ for entry in SETS} == {
        "Simplex",
        "L1Ball",
        "L2Ball",
        "Box",
        "GroupL2Ball",
        "GroupLInfBall",
    }
