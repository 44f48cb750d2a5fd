"""What a peer tests of its own, name by name: ported here, or not ours for a reason.

A port is our own test of the same expectation: the peer's settings are translated by a table in the file, and numbers
come from formulas, from slow twins in NumPy, or from scikit-learn.
"""

import ast
import importlib.util
import re
from importlib import metadata
from pathlib import Path

import pytest


class Ledger:
    """The tests of one file of a peer, or of a folder: names then begin with that of the file and a dot.

    `upstream` is the file or folder in the peer's package. `not_ours` maps a reason (a sentence) to the names of tests,
    separated by spaces; `file.*` or `Class.*` stands for all that begins so. `since` is the version whose tests are
    listed: older ones may lack some of them. Where the peer is not installed, the names cannot be compared with its.
    """

    def __init__(self, upstream, not_ours, since):
        self.upstream, self.since = upstream, since
        self.reason = {name: why for why, names in not_ours.items() for name in names.split()}
        self.listed = [name for names in not_ours.values() for name in names.split()]
        self.ported = set()

    def ports(self, *names):
        """Mark a test as the port of these."""
        self.ported.update(names)
        return lambda test: test

    def check(self):
        """Every test of the peer is ported or has a reason, and every name that is listed exists."""
        assert len(self.listed) == len(set(self.listed)), "a test is listed twice"
        assert self.ported.isdisjoint(self.listed), self.ported & set(self.listed)
        for why in set(self.reason.values()):
            assert re.fullmatch(r"[A-Z].*\.", why), f"not a sentence: {why}"
            assert len(why.split()) >= 5, f"too short: {why}"
        package, _, rest = self.upstream.partition("/")
        spec = importlib.util.find_spec(package)
        home = None if spec is None else Path(next(iter(spec.submodule_search_locations))) / rest
        if home is None or not home.exists():
            pytest.skip(f"{self.upstream} is not installed")
        distribution = {"sklearn": "scikit-learn"}.get(package, package)
        if version(metadata.version(distribution)) < version(self.since):
            pytest.skip(f"{package} is older than {self.since}")
        files = sorted(home.glob("test_*.py")) if home.is_dir() else [home]
        prefix = "{0}." if home.is_dir() else ""
        theirs = {prefix.format(file.stem) + name for file in files for name in names_in(file)}
        kinds = tuple(name[:-1] for name in self.listed if name.endswith(".*"))
        assert all(any(name.startswith(kind) for name in theirs) for kind in kinds), "a kind of tests is gone"
        single = {name for name in self.listed if not name.endswith(".*")}
        assert self.ported | single == {name for name in theirs if not name.startswith(kinds)}


def names_in(path):
    """The names of all tests in a file; those in a class follow its name and a dot."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found.update(f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef))
    return {name for name in found if name.rpartition(".")[2].startswith("test")}


def version(words):
    return tuple(int(word) for word in words.split(".")[:2])
