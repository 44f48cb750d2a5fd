"""One encoder: every form of a table gives the same rows to the bit, those of the slow twin."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import gossamer as gs
from gossamer.sources.blocks import ReadError
from sources.slow_table import slow_row

N = 1500  # more than the rows that are looked at
WORDS = ["Not", "good,", "NOT", "bad", "at", "all:", "ÀÉ", "Ωmega", "Привет", "it's", "great"]


def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(N) < 0.1, np.nan, np.round(rng.normal(40, 9, N), 2)),
            "city": np.where(rng.random(N) < 0.1, None, rng.choice(["Rome", "Oslo", "New York"], N)),
            "review": [" ".join(rng.choice(WORDS, rng.integers(4, 12))) for _ in range(N)],
            "when": (pd.Timestamp("2020-02-27") + pd.to_timedelta(rng.integers(0, 9999, N), "h")).astype(str),
            "log_time": np.arange(N) * 7 + 1_600_000_000,
            "zip": rng.choice([10115, 20095, 80331], N),
            "w": rng.integers(1, 4, N) / 2,
            "exposure": np.round(rng.normal(size=N), 3),
            "y": rng.choice(["yes", "no"], N),
        }
    )
    frame.loc[1200, ["when", "city"]] = [None, "?"]
    return frame


OPTIONS = {"weight": "w", "offset": "exposure", "ngrams": 2, "interactions": [("city", "zip"), ("age", "age")]}
ROLES = ["number", "category", "text", "date", "date", "category", "weight", "offset", "target"]


def forms(folder):
    frame = table()
    typed = frame.assign(when=pd.to_datetime(frame["when"]))
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_parquet(folder / "a.parquet", row_group_size=400)
    frame.to_feather(folder / "a.feather")
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    return {
        "csv": folder / "a.csv",
        "pandas": frame,
        "pandas, dates by type": typed,
        "pandas, another index": frame.set_index(np.arange(N)[::-1] * 3),
        "polars": pl.from_pandas(frame),
        "polars, dates by type": pl.from_pandas(typed),
        "polars, lazy": pl.from_pandas(frame).lazy(),
        "arrow": arrow,
        "arrow, dictionary": arrow.set_column(1, "city", arrow["city"].dictionary_encode()),
        "batches": arrow.to_reader(max_chunksize=77),
        "parquet": folder / "a.parquet",
        "feather": folder / "a.feather",
        "duckdb relation": duckdb.sql("select * from frame"),
    }


@pytest.mark.parametrize("exact", [False, True])
def test_every_form_gives_the_same_bits(tmp_path, exact):
    more = {"one_hot": True} if exact else {"bits": 20}
    wanted = None
    for form, data in forms(tmp_path).items():
        source = gs.source(data, **OPTIONS, **more)
        found = gs.read(source)
        X, y = found
        assert list(source.columns.roles.values()) == ROLES, form
        parts = (X.indptr, X.indices, X.data, y, found.weight, found.offset)
        wanted = wanted or (parts, source.columns.settings())
        for part, theirs in zip(parts, wanted[0], strict=True):
            assert_array_equal(part, theirs, err_msg=form)
        assert source.columns.settings() == wanted[1], form


def test_the_slow_twin(tmp_path):
    source = gs.source(forms(tmp_path)["csv"], one_hot=True, **OPTIONS)
    X, _ = gs.read(source)
    cells = pd.read_csv(tmp_path / "a.csv", dtype=str, keep_default_na=False).to_dict("records")
    for i, row in enumerate(cells):
        slow = slow_row(source.columns, row)
        part = slice(X.indptr[i], X.indptr[i + 1])
        fast = {source.name(j): x for j, x in zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)}
        assert set(fast) == set(slow), i
        assert all(abs(fast[name] - slow[name]) <= 1e-14 * abs(slow[name]) for name in slow)


def test_a_stream_is_read_once():
    source = gs.source(pa.table({"x": [1.5, 2.5], "y": [0, 1]}).to_reader())
    source.settle()
    assert source.head() == {"x": ["1.5", "2.5"], "y": ["0", "1"]}
    assert gs.read(source)[0].shape == (2, 1)
    with pytest.raises(ReadError, match="only once"):
        gs.read(source)


KINDS = {
    "prices": ([f"{i}.5" for i in range(500)], "continuous", 500),
    "two numbers": (["0", "1", "1"], "two", 2),
    "words": (["a", "b", "c"] * 9, "classes", 3),
    "digits": ([str(i % 10) for i in range(500)], "classes", 10),
    "counts": ([str(k) for k in np.random.default_rng(0).poisson(1.2, 800)], "counts", None),
    "large": ([str(i * 977) for i in range(500)], "continuous", 500),
}


@pytest.mark.parametrize(("cells", "kind", "levels"), KINDS.values(), ids=KINDS)
def test_the_kind_of_a_target(tmp_path, cells, kind, levels):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{i}.5,{cell}\n" for i, cell in enumerate(cells)))
    found = gs.source(path).target_kind()
    assert found == kind
    assert levels is None or found.levels == levels
