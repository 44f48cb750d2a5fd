"""SQL is never wrong: it answers as the model does, or it is refused, by the export or by the database."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import gossamer as gs
from gossamer.model import exports

duckdb = pytest.importorskip("duckdb")
rng = np.random.default_rng(0)
N = 60
X = np.round(rng.normal(size=(N, 3)), 3)
FRAME = pd.DataFrame(X, columns=["x", "y z", "w"])
PARTS = np.argmax(X @ rng.normal(size=(3, 3)), axis=1)
SETTINGS = {"alpha": 1e-3, "random_state": 0}


def answers(engine, query, tables):
    """Return the rows that a database answers, as dicts; `tables` are frames by name."""
    database = (sqlite3 if engine == "sqlite" else duckdb).connect(":memory:")
    try:
        for name, frame in tables.items():
            types = {"f": "DOUBLE", "i": "BIGINT"}
            columns = ", ".join(f'"{c}" {types.get(frame[c].dtype.kind, "VARCHAR")}' for c in frame)
            database.execute(f'CREATE TABLE "{name}" ({columns})')
            rows = frame.astype(object).to_numpy().tolist()
            database.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * frame.shape[1])})', rows)
        done = database.execute(query)
        names = [about[0] for about in done.description]
        assert len({name.lower() for name in names}) == len(names)
        return [dict(zip(names, row, strict=True)) for row in done.fetchall()]
    finally:
        database.close()


over_engines = pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
ERRORS = (sqlite3.OperationalError, duckdb.Error)


def regression(frame=FRAME):
    return gs.Model.of(gs.OnlineRegressor(**SETTINGS).fit(frame, X @ [1.0, 2.0, -1.0] + 3))


def columns_model(tmp_path, *, with_categories, **options):
    path = tmp_path / "a.csv"
    frame = FRAME.assign(city=np.where(PARTS > 0, "Paris", "Rome"), target=X[:, 0] + 5.0 * (PARTS > 0))
    (frame if with_categories else frame.drop(columns="city")).to_csv(path, index=False)
    made = gs.OnlineRegressor(**SETTINGS).fit_source(str(path), **options)
    return gs.Model.of(made)


@over_engines
def test_columns_of_numbers(tmp_path, engine):
    made = columns_model(tmp_path, with_categories=False)
    got = answers(engine, exports.to_sql(made), {"data": FRAME})
    assert_allclose([row["prediction"] for row in got], made.predict(FRAME), rtol=1e-9)


@pytest.mark.parametrize("one_hot", [True, False])
def test_a_value_of_a_column_is_not_a_column(tmp_path, one_hot):
    made = columns_model(tmp_path, with_categories=True, one_hot=one_hot)
    assert any("city=" in name for name in made.names)
    with pytest.raises(ValueError, match="is a value of a column, not a column"):
        exports.to_sql(made)


@over_engines
@pytest.mark.parametrize("one_hot", [True, False])
def test_categories_in_a_long_table(tmp_path, engine, one_hot):
    made = columns_model(tmp_path, with_categories=True, one_hot=one_hot)
    (block,) = made.blocks(str(tmp_path / "a.csv"))
    _, model = made.opened(str(tmp_path / "a.csv"), {})
    assert model.features.tolist() == made.features.tolist() or one_hot
    place = dict(zip(made.names, made.features.tolist(), strict=True))
    frame = pd.read_csv(tmp_path / "a.csv")
    rows = [(i, place[c], row[c]) for i, row in frame.iterrows() for c in ("x", "y z", "w") if c in place]
    rows += [(i, place[f"city={row.city}"], 1.0) for i, row in frame.iterrows() if f"city={row.city}" in place]
    got = answers(
        engine, exports.to_sql(made, layout="long"), {"data": pd.DataFrame(rows, columns=["id", "feature", "value"])}
    )
    got = [row["prediction"] for row in sorted(got, key=lambda row: row["id"])]
    assert_allclose(got, made.predict(str(tmp_path / "a.csv")), rtol=1e-9)
    assert len(block) == N


@over_engines
@pytest.mark.parametrize("name", ["prediction", "score_output_0", "Prediction", "SCORE_OUTPUT_0"])
def test_a_column_named_like_a_result_is_an_error(engine, name):
    query = exports.to_sql(regression())
    with pytest.raises(ERRORS, match=r"(?i)ambiguous"):
        answers(engine, query, {"data": FRAME.assign(**{name: 7.0})})


@over_engines
@pytest.mark.parametrize("name", ["results", "s", "t", "id", "scores", "f0"])
def test_other_columns_pass(engine, name):
    made = regression()
    got = answers(engine, exports.to_sql(made), {"data": FRAME.assign(**{name: 7.0})})
    assert_allclose([row["prediction"] for row in got], made.predict(FRAME), rtol=1e-9)
    assert {row[name] for row in got} == {7.0}


@over_engines
@pytest.mark.parametrize("missing", ["x", "y z"])
def test_a_column_that_is_missing_is_an_error(engine, missing):
    """SQLite reads an unknown name in double quotes as a string, unless the table is named."""
    with pytest.raises(ERRORS, match=r"(?i)column"):
        answers(engine, exports.to_sql(regression()), {"data": FRAME.drop(columns=missing)})


@over_engines
@pytest.mark.parametrize("table", ["scores", "Weights", "s", "t", "d", "results", 'a "b"; --'])
@pytest.mark.parametrize("layout", ["wide", "long"])
def test_any_name_of_the_table(engine, layout, table):
    made = regression()
    rows = [(i, int(j), x[j]) for i, x in enumerate(X) for j in range(3)]
    frame = FRAME if layout == "wide" else pd.DataFrame(rows, columns=["id", "feature", "value"])
    query = exports.to_sql(made, table, layout)
    got = answers(engine, query, {table.replace('"', '""'): frame})
    got = got if layout == "wide" else sorted(got, key=lambda row: row["id"])
    assert_allclose([row["prediction"] for row in got], made.predict(FRAME), rtol=1e-9)


@over_engines
@pytest.mark.parametrize("labels", [["a", "A", "b"], ["ß", "SS", "ss"], ["0", "1", "x'y"], ["*/", "-- ", '"']])
def test_classes_that_differ_in_case_only(engine, labels):
    made = gs.Model.of(gs.OnlineClassifier(**SETTINGS).fit(FRAME, np.array(labels)[PARTS]))
    got = answers(engine, exports.to_sql(made), {"data": FRAME})
    assert [row["prediction"] for row in got] == made.predict(FRAME).tolist()
    names = [name for name in got[0] if name.startswith("probability_")]
    assert_allclose([[row[name] for name in names] for row in got], made.predict_proba(FRAME), atol=1e-9)


@over_engines
def test_many_classes(engine):
    """The list of results has no depth: databases limit that of an expression."""
    k = 150
    a = [np.array([0]), np.array([0, k]), np.arange(k, dtype=np.int32), np.linspace(-1, 1, k), np.zeros(k)]
    made = gs.Model("multilabel", gs.Logistic(), np.arange(k), 1, *a)
    got = answers(engine, exports.to_sql(made), {"data": pd.DataFrame({"f0": [1.0, -2.0]})})
    expected = made.predict(np.array([[1.0], [-2.0]]))
    assert [[row[f"prediction_{c}"] for c in range(k)] for row in got] == expected.tolist()


@over_engines
def test_offsets_are_added_or_refused(tmp_path, engine):
    """A model that read a column of offsets adds it, where the export has a place for it."""
    path, frame = tmp_path / "a.csv", FRAME.assign(label=PARTS > 0).rename(columns={"w": "far"})
    frame["label"] = frame["label"].astype(int)
    frame.to_csv(path, index=False)
    model = gs.OnlineClassifier(**SETTINGS).fit(path, target="label", offset="far")
    rows, made = answers(engine, exports.to_sql(gs.Model.of(model)), {"data": frame}), gs.Model.of(model)
    (score,) = (name for name in rows[0] if name.startswith("score_"))
    assert_allclose([row[score] for row in rows], model.decision_function(path), rtol=1e-9)
    for export in (exports.to_c, exports.to_onnx, lambda made: exports.to_sql(made, layout="long")):
        with pytest.raises(ValueError, match="adds the column 'far' to its scores"):
            export(made)
    assert '"far"' in exports.to_json(made)


def test_what_cannot_be_right_is_refused():
    made = regression()
    for key in ("feature", "VALUE", "prediction", "score_output_0"):
        with pytest.raises(ValueError, match="is also the name of another column"):
            exports.to_sql(made, layout="long", key=key)
    with pytest.raises(ValueError, match="NUL character"):
        exports.to_sql(made, "a\0b")
    twice = gs.Model(**{**vars_of(made), "names": ["x", "x", "w"]})
    with pytest.raises(ValueError, match="Two features are called 'x'"):
        exports.to_sql(twice)
    shared = gs.Model(**{**vars_of(made), "shared": {"w": "v"}})
    with pytest.raises(ValueError, match="'w' shares its weight with 'v'"):
        exports.to_sql(shared)
    assert "WITH weights" in exports.to_sql(shared, layout="long")


def vars_of(made):
    from dataclasses import fields

    return {f.name: getattr(made, f.name) for f in fields(made)}
