"""The tables of the guides are those that docs/tables.py makes from the parts."""

import importlib.util
from pathlib import Path

import pytest

from gossamer.methods import METHODS
from gossamer.penalties import PENALTIES

DOCS = Path(__file__).parents[2] / "docs"
SPEC = importlib.util.spec_from_file_location("docs_tables", DOCS / "tables.py")
tables = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tables)


@pytest.mark.parametrize("guide", tables.guides(), ids=lambda path: path.name)
def test_guides_are_up_to_date(guide):
    text = guide.read_text(encoding="utf-8")
    assert text == tables.renewed(text), "run make docs-tables"


def test_every_table_is_in_some_guide():
    shown = {name for guide in tables.guides() for _, name, _ in tables.REGION.findall(guide.read_text("utf-8"))}
    assert shown == set(tables.TABLES)


def test_every_part_is_in_the_table_of_costs():
    made = tables.online_costs()
    for cls in METHODS.classes:
        assert f"`{cls.__name__}`" in made
    for cls in PENALTIES.classes:
        assert (f"`{cls.__name__}`" in made) == (cls.not_online is None)


def test_a_table_that_is_out_of_date_is_seen():
    stale = "<!-- table: boosting -->\n| losses |\n<!-- end -->\n"
    assert tables.renewed(stale) != stale
