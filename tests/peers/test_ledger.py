"""The ledger itself: a test of a peer that is in no list is noticed, and so is one that is gone."""

import importlib.util
from pathlib import Path

import pytest

from peers.ledger import Ledger, names_in

UPSTREAM = "sklearn/linear_model/tests/test_quantile.py"
HOME = Path(importlib.util.find_spec("sklearn").origin).parent / "linear_model/tests/test_quantile.py"
WHY = "It is listed here for a reason."


def listed(names, why=WHY):
    return Ledger(UPSTREAM, {why: " ".join(sorted(names))}, since="0.1")


@pytest.mark.skipif(not HOME.is_file(), reason="scikit-learn is installed without its tests")
def test_lists_are_compared_with_the_file():
    names = names_in(HOME)
    assert "test_quantile_toy_example" in names
    listed(names).check()
    ported = listed(names - {"test_quantile_toy_example"})
    with pytest.raises(AssertionError):
        ported.check()
    ported.ports("test_quantile_toy_example")
    ported.check()
    with pytest.raises(AssertionError):
        listed(names | {"test_that_is_gone"}).check()


def test_lists_are_tidy():
    with pytest.raises(AssertionError, match="twice"):
        Ledger(UPSTREAM, {WHY: "test_a test_a"}, since="0.1").check()
    both = listed({"test_a"})
    both.ports("test_a")
    with pytest.raises(AssertionError):
        both.check()
    for why in ("no sentence", "It is short."):
        with pytest.raises(AssertionError, match=r"not a sentence|too short"):
            listed({"test_a"}, why).check()


def test_names_in_classes(tmp_path):
    file = tmp_path / "test_some.py"
    file.write_text(
        "class SomeTest:\n    def setUp(self): ...\n    def test_a(self): ...\ndef test_b(): ...\ndef other(): ...\n"
    )
    assert names_in(file) == {"SomeTest.test_a", "test_b"}
