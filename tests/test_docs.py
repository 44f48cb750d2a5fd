"""Pages name what exists: files, functions, journeys as they are travelled. Measurements stand on one page."""

import importlib
import re
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import numpy as np
import pytest

import gossamer as gs
from gossamer.cli.arguments import main

ROOT = Path(__file__).parents[1]
PACKAGE, CORE = ROOT / "src" / "gossamer", ROOT / "core"
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "README.md"]
MAP, GLOSSARY, PERFORMANCE = (ROOT / "docs" / f"{name}.md" for name in ("architecture", "glossary", "performance"))

SPAN = re.compile(r"`([^`\n]+)`")
FUNCTION = re.compile(r"`([\w/]+\.(?:py|hpp|cpp)): ([\w:.]+)`")
STEP = re.compile(r"^\d+\. ")
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*(?:/|\.(?:py|hpp|cpp|md|toml))")
PLACEHOLDER = re.compile(r"\b(?:ID|FORMAT)\b")


def text_of(page):
    return page.read_text(encoding="utf-8")


def over(pages):
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.name)


# Names


def exists(path):
    """Return whether the repository has a file or folder (or some, for a pattern), from its root or the package's."""
    return any(next(root.glob(path.rstrip("/")), None) is not None for root in (ROOT, PACKAGE))


def defines(file, name):
    """Return whether a file has a function or class: Python's is imported, the core's occurs in the text."""
    if file.startswith("core/"):
        *outer, last = name.split("::")
        text = (ROOT / file).read_text(encoding="utf-8") if (ROOT / file).is_file() else ""
        here = [rf"\b{word}\b" for word in outer] + [rf"\b{last}\b *[(=]"]
        return all(re.search(word, text) for word in here)
    module = ".".join(("gossamer", *Path(file).with_suffix("").parts)).removesuffix(".__init__")
    try:
        found = importlib.import_module(module)
        for word in name.split("."):
            found = getattr(found, word)
    except (ImportError, AttributeError):
        return False
    return True


def paths_in(text):
    """Return what looks like a file or folder of the repository in the code spans of a page."""
    words = [word.rstrip(":,") for span in SPAN.findall(text) for word in span.split()]
    return [word for word in words if PATH.fullmatch(word) and not PLACEHOLDER.search(word)]


def links_in(text):
    """Return the files that a page links to, with the headings."""
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]


def leads_somewhere(link, page):
    """Return whether a link of a page is to a file that exists, and to a heading that is in it."""
    path, _, anchor = link.partition("#")
    target = page.parent / path
    return target.is_file() and (not anchor or anchor in anchors_of(text_of(target)))


def anchors_of(text):
    """Return the headings of a page as links name them."""
    return [
        re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in re.findall(r"^#+ (.*)", text, re.MULTILINE)
    ]


@over(PAGES)
def test_every_file_that_is_named_exists(page):
    assert [path for path in paths_in(text_of(page)) if not exists(path)] == []
    assert [link for link in links_in(text_of(page)) if not leads_somewhere(link, page)] == []


@over(PAGES)
def test_every_function_that_is_named_exists(page):
    assert [pair for pair in FUNCTION.findall(text_of(page)) if not defines(*pair)] == []


def test_names_that_do_not_exist_are_seen():
    text = "`core/dual.hpp` and `online/`, `tests/test_*.py`; `experiments/ID.py` `nowhere/` `gone.py: f` `f(x)`"
    assert paths_in(text) == ["core/dual.hpp", "online/", "tests/test_*.py", "nowhere/", "gone.py"]
    assert [exists(path) for path in paths_in(text)] == [False, True, True, False, False]
    assert FUNCTION.findall("`gone.py: f`, `core/online/rule.hpp: Rule::learn`") == [
        ("gone.py", "f"),
        ("core/online/rule.hpp", "Rule::learn"),
    ]
    links = links_in("[a](map.md) [b](glossary.md#glossary) [c](glossary.md#words) [d](https://e.f)")
    assert [leads_somewhere(link, GLOSSARY) for link in links] == [False, True, False]
    assert defines("online/trainer.py", "passes")
    assert not defines("online/trainer.py", "laps")
    assert not defines("online/gone.py", "passes")
    assert defines("core/online/loop.hpp", "LaneGroup::run_rows")
    assert not defines("core/online/loop.hpp", "LaneGroup::run_columns")
    assert not defines("core/online/loop.hpp", "Half::run_rows")
    assert not defines("core/gone.hpp", "f")


def test_the_readme_lists_everything_public():
    listed = set(SPAN.findall(text_of(ROOT / "README.md").split("## What exists")[1].split("## Documentation")[0]))
    assert {name for name in gs.__all__ if not name.startswith("_")} - listed == set()


# The map


def blocks_in(text):
    """Return the fenced blocks of a page, as lines."""
    return [block.splitlines() for block in re.findall(r"^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)]


def rooms_on_the_map():
    tree, root, rooms = next(iter(blocks_in(text_of(MAP)))), None, {}
    for line in filter(None, tree):
        if not line.startswith(" "):
            root = line
            rooms[root] = set()
        else:
            name, words = re.fullmatch(r"  (\S+) {2,}(\S.*)", line).groups()
            assert words
            rooms[root].add(name)
    return rooms


def test_the_map_has_every_room_and_no_other():
    there = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py"}
    there |= {f"{path.parent.name}/" for path in PACKAGE.glob("*/__init__.py")}
    core = {f"{path.name}/" for path in CORE.iterdir() if path.is_dir()}
    assert rooms_on_the_map() == {"src/gossamer/": there, "core/": core}


def test_the_layers_are_those_that_are_checked():
    linter = tomllib.loads(text_of(ROOT / "pyproject.toml"))["tool"]["importlinter"]
    layers = next(contract["layers"] for contract in linter["contracts"] if contract["type"] == "layers")
    assert blocks_in(text_of(MAP))[1] == [layer for layer in layers if layer != "__main__"]


def journeys():
    """Return the steps of each journey: what is written in its numbered list."""
    sections = text_of(MAP).split("## The journeys of data")[1].split("\n### ")[1:]
    return {
        section.splitlines()[0]: [line for line in section.splitlines() if STEP.match(line)] for section in sections
    }


def fitted(estimator):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((64, 5))
    return estimator.fit(X, np.sign(X[:, 0] + 0.5 * rng.standard_normal(64)))


def train(folder):
    path = folder / "two.svm"
    path.write_text("1 1:0.5 7:2\n-1 4:1\n" * 50)
    assert main(["train", str(path), "-o", str(folder / "two.gsm"), "--quiet"]) == 0


TRAVELLERS = {
    "Online fit": lambda folder: fitted(gs.OnlineClassifier()),
    "Path": lambda folder: fitted(gs.OnlineClassifierCV()).alpha_,
    "Batch fit": lambda folder: fitted(gs.BatchClassifier(alpha=0.01)),
    "Boosting": lambda folder: fitted(gs.BoostingClassifier(alpha=0.01)),
    "`gossamer train`": train,
}


def place(frame):
    """Return the file and the function of a frame, if it is one of the package."""
    path, home = Path(frame.f_code.co_filename), Path(gs.__file__).parent
    return (path.relative_to(home).as_posix(), frame.f_code.co_qualname) if path.is_relative_to(home) else None


def is_wrapper(frame):
    """Return whether a frame belongs to a decorator, which calls what it decorates."""
    return frame.f_code.co_qualname == "in_turn.<locals>.called"


def travelled(travel):
    """Return the functions of the package that are called, by their first call, each with the files that call it."""
    calls = {}

    def note(frame, event, _):
        here, caller = place(frame) if event == "call" else None, frame.f_back
        if here is None:
            return
        while caller is not None and (place(caller) is None or is_wrapper(caller)):  # NumPy may lie between
            caller = caller.f_back
        calls.setdefault(here, set()).add(place(caller)[0] if caller is not None else here[0])

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        travel()
    finally:
        sys.setprofile(before)
    return calls


def test_there_are_five_journeys():
    assert list(journeys()) == list(TRAVELLERS)


@pytest.mark.parametrize("name", TRAVELLERS)
def test_a_journey_has_at_most_twelve_steps_with_one_function_each(name):
    steps = journeys()[name]
    assert 0 < len(steps) <= 12
    assert [len(FUNCTION.findall(step)) for step in steps] == [1] * len(steps)
    assert any("`core/" in step for step in steps)


@pytest.mark.parametrize("name", TRAVELLERS)
def test_a_journey_is_as_it_is_travelled(name, tmp_path):
    steps = [FUNCTION.findall(step)[0] for step in journeys()[name]]
    calls = list(travelled(lambda: TRAVELLERS[name](tmp_path)))
    moments = [calls.index(step) if step in calls else None for step in steps if not step[0].startswith("core/")]
    assert None not in moments
    assert moments == sorted(moments)


def vocabulary(file):
    """Return the file, or `penalties`: a penalty and its base class call each other."""
    return "penalties" if file.startswith("penalties/") else file


def test_the_path_walks_through_twelve_files_one_way():
    fitted(gs.OnlineClassifierCV())  # what is imported on the way is no step of it
    calls = travelled(lambda: fitted(gs.OnlineClassifierCV()))
    calls = {(vocabulary(file), name): {vocabulary(f) for f in callers} for (file, name), callers in calls.items()}
    files = {file: set() for file, _ in calls}
    assert {"online/cv.py", "online/trainer.py", "sources/rows.py"} <= files.keys()
    assert len(files) <= 12
    for (file, name), callers in calls.items():
        if "<locals>" not in name and not name.endswith(("__post_init__", "__sklearn_tags__")):  # handed to who calls
            for caller in callers - {file}:
                files[caller].add(file)
    TopologicalSorter(files).prepare()  # raises if two files call each other


# Length, and measurements


def test_the_glossary_is_short():
    assert len(text_of(GLOSSARY).splitlines()) <= 40


def tables_in(text):
    """Return the rows of each table of a page, without its head."""
    found = re.findall(r"^\|.*\n\|[ |:-]+\n((?:\|.*\n?)+)", text, re.MULTILINE)
    return [[row.strip("|").split("|") for row in table.splitlines()] for table in found]


def is_measured(table):
    """Return whether a table holds results: decimals, or numbers with a unit, outside of code."""
    cells = [SPAN.sub("", cell) for row in table for cell in row]
    return any(re.search(r"\d*\.\d|\d ?(?:s|ms|µs|MB|%|×)(?!\w)", cell) for cell in cells)


@over([page for page in PAGES if page != PERFORMANCE])
def test_guides_hold_no_measurements(page):
    text = text_of(page)
    assert [table for table in tables_in(text) if is_measured(table)] == []
    assert re.findall(r"[\d.]+ (?:ms|µs)\b", text) == []


def test_measurements_stand_beside_the_command_that_makes_them():
    sections = re.split(r"^## ", text_of(PERFORMANCE), flags=re.MULTILINE)[1:]
    names = re.search(r"NAMES = \((.*?)\)", text_of(ROOT / "benchmarks" / "run.py"), re.DOTALL)[1]
    measured = [section for section in sections if any(map(is_measured, tables_in(section)))]
    assert len(measured) >= 5
    for section in measured:
        made_by = re.findall(r"`make bench ARGS=(\w+)`", section)
        assert made_by, section.splitlines()[0]
        assert [name for name in made_by if f'"{name}"' not in names] == []


def test_a_table_of_measurements_is_seen():
    head = "| data | time |\n|---|---|\n"
    assert is_measured(*tables_in(f"{head}| rcv1 | 5.7 ms |\n"))
    assert is_measured(*tables_in(f"{head}| rcv1 | 3 s |\n| a9a | .17 |\n"))
    assert is_measured(*tables_in(f"{head}| rcv1 | 12× |"))
    assert not is_measured(*tables_in(f"{head}| `ElasticNet(0.5)` | z k |\n| two classes | 1 |\n"))
