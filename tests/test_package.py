"""The package: its names, what importing it costs, what is installed with it."""

import importlib
import inspect
import os
import subprocess
import sys
from importlib import resources

import pytest

import gossamer as gs
from catalogue import CATALOGUED
from gossamer import losses, penalties, projections

CATALOGUE = [penalties, projections, losses]
MODULES = [importlib.import_module(f"gossamer.{home}") for home in gs._HOMES]


def test_everything_public_is_catalogued():
    # holds the user's functions, has no twin and no copies: vocabulary/test_compiled_loss.py; has no prox: boosting/
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


@pytest.mark.skipif("san.so" in os.environ.get("LD_PRELOAD", ""), reason="sanitized builds have no stub")
def test_typing_files_are_installed():
    for name in ("py.typed", "_core.pyi"):
        assert resources.files("gossamer").joinpath(name).is_file()
