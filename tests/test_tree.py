"""The tree is that of DESIGN.md: files are short, and each lies in the room of what it is about."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE, PACKAGE, TESTS = ROOT / "core", ROOT / "src" / "gossamer", ROOT / "tests"

VOCABULARY = {"losses", "penalties", "groups", "projections", "schedules", "methods", "metrics"}
FOUNDATION = {"validation", "registry", "output"}


def longer_than(lines, folder, pattern):
    long = {path for path in folder.rglob(pattern) if len(path.read_text(encoding="utf-8").splitlines()) > lines}
    return {path.relative_to(folder).as_posix() for path in long}


@pytest.mark.parametrize("folder", [CORE, PACKAGE, TESTS], ids=lambda folder: folder.name)
def test_there_is_something_to_look_at(folder):
    assert any(path.suffix in (".py", ".hpp") for path in folder.rglob("*"))


def test_no_test_file_is_over_600_lines():
    assert longer_than(600, TESTS, "*.py") == set()


def test_no_header_is_over_300_lines():
    assert longer_than(300, CORE, "*.hpp") == set()


def test_no_file_lies_loose_in_the_core():
    assert [path.name for path in CORE.iterdir() if path.is_file()] == []


def test_modules_outside_the_rooms_are_the_vocabulary_and_the_foundation():
    assert {path.stem for path in PACKAGE.glob("*.py")} <= {"__init__", "__main__"} | VOCABULARY | FOUNDATION


def test_every_folder_of_tests_is_a_room():
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    others = {"vocabulary", "foundation", "fuzz", "fixtures", "golden", "peers", "attacks"}
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= rooms | others
