"""Options of sources: each kind of data knows its own, and names who has the others; a column has one role."""

import inspect

import numpy as np
import pandas as pd
import pytest

import gossamer as gs
from gossamer.sources import OPTIONS, OptionError, columns, csv, matrices, svmlight, tables, text, vw
from gossamer.sources.blocks import ReadError

CLASSES = {
    "svmlight": (svmlight.Svmlight, text.TextSource),
    "vw": (vw.Vw, text.TextSource),
    "csv": (csv.Csv, columns.Columns),
    "arrow": (tables.Table, columns.Columns),
    "a table in memory": (tables.Table, columns.Columns),
    "arrays in memory": (matrices.Matrices,),
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_the_options_are_those_of_the_classes(kind):
    named = [inspect.signature(cls.__init__).parameters.values() for cls in CLASSES[kind]]
    all_of = {p.name for found in named for p in found if p.kind is not p.VAR_KEYWORD}
    shared = {"max_features", "block"} if kind == "arrow" else set()  # options of all files, which text needs
    assert set(OPTIONS[kind]) == all_of - {"self", "paths", "data", "parts"} | shared


FRAME = pd.DataFrame({"x": [1.0, 2.0], "color": ["red", "blue"], "heavy": [1.0, 2.0], "y": [0, 1]})


@pytest.fixture
def data(request, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n")
    (tmp_path / "a.vw").write_text("1 | a\n")
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    FRAME.to_parquet(tmp_path / "a.parquet")
    files = {"svmlight": "a.svm", "vw": "a.vw", "csv": "a.csv", "arrow": "a.parquet"}
    made = {kind: str(tmp_path / name) for kind, name in files.items()}
    return made | {"a table in memory": FRAME, "arrays in memory": (np.eye(2), np.arange(2.0))}


@pytest.mark.parametrize("kind", OPTIONS)
def test_other_options_are_refused_in_words(kind, data):
    every = {name for names in OPTIONS.values() for name in names}
    for name in every - {*OPTIONS[kind]}:
        with pytest.raises(OptionError, match=rf"The option {name} is for .*\. Options of {kind} are need_labels"):
            gs.source(data[kind], **{name: 1})
    with pytest.raises(OptionError, match=f"The option colour is unknown. Options of {kind} are"):
        gs.source(data[kind], colour=1)


ROLES = {
    "ignored, unknown": ({"ignore": ["colour"]}, r"no column 'colour'. Did you mean 'color'\? The columns are x, col"),
    "a category, unknown": ({"categories": ["zzz"]}, "no column 'zzz'. The columns are x, color"),
    "target and weight": ({"weight": "y"}, "column 'y' cannot be both the target and the weight"),
    "target and ignored": ({"target": "y", "ignore": ["y"]}, "column 'y' cannot be both the target and ignored"),
    "category and ignored": ({"categories": ["x"], "ignore": ["x"]}, "column 'x' cannot be both a category and ign"),
    "weight and category": ({"weight": "heavy", "categories": ["heavy"]}, "'heavy' cannot be both the weight and a"),
    "nothing left": ({"ignore": ["x", "color", "heavy"]}, "no column is left to learn from"),
}


@pytest.mark.parametrize("kind", ["csv", "arrow", "a table in memory"])
@pytest.mark.parametrize(("options", "words"), ROLES.values(), ids=ROLES)
def test_a_column_has_one_role(kind, options, words, data):
    with pytest.raises(ReadError, match=words):
        list(gs.source(data[kind], **options).blocks())


def test_a_usual_target_that_is_ignored_is_no_target(data):
    with pytest.raises(ReadError, match="which column is the target"):
        list(gs.source(data["csv"], ignore=["y"]).blocks())
