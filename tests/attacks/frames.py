"""Tables: data frames and Arrow data with odd cells, roles, text and interactions; a look at hostile files."""

from __future__ import annotations

import decimal
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import gossamer as gs
from attacks.problems import run, write
from attacks.rows import SOUND, Either, Row, exits, refused

ROWS_ = 40
REFUSED_OR_SOUND = Either((refused(), SOUND))


def frame(**columns: Any) -> Any:
    """Return a data frame with a number, a word and a target; more columns may be given."""
    import pandas as pd

    at = np.arange(ROWS_)
    given = {"x": np.sin(at), "city": np.array(["a", "b", "c"])[at % 3], "y": at % 2}
    return pd.DataFrame(given | columns)


def learn(columns: Callable[[], dict[str, Any]], **options: Any) -> None:
    """Learn from a frame; what was learned must be finite, and answer each row."""
    data = frame(**columns())
    model = gs.OnlineClassifier().fit(data, target="y", **options)
    assert np.isfinite(model.coef_).all()
    assert len(model.predict(data)) == len(data)


def all_are(cell: Any) -> dict[str, Any]:
    column = np.empty(ROWS_, object)
    column[:] = [cell] * ROWS_
    return {"d": column}


def days(**how: Any) -> Any:
    import pandas as pd

    return pd.Series(pd.date_range("2020-01-01", periods=ROWS_, **how))


WORDS = " ".join(f"w{i}" for i in range(3000))
CELLS: dict[str, tuple[Callable[[], dict[str, Any]], Any]] = {
    "dates, some missing": (lambda: {"d": days().where(np.arange(ROWS_) % 3 > 0)}, SOUND),
    "dates with a time zone": (lambda: {"d": days(tz="US/Eastern")}, SOUND),
    "durations": (lambda: {"d": days() - days()[0]}, refused("'d'")),
    "lists": (lambda: all_are([1, 2]), refused("'d'")),
    "mappings": (lambda: all_are({"a": 1}), refused("'d'")),
    "bytes that are no text": (lambda: all_are(b"\xff\xfe"), REFUSED_OR_SOUND),
    "half of a surrogate pair": (lambda: all_are("a\ud800"), REFUSED_OR_SOUND),
    "a NUL": (lambda: all_are("a\0b"), SOUND),
    "line ends, tabs and quotes": (lambda: all_are('a\nb\t,"='), SOUND),
    "a decimal of 1e400": (lambda: all_are(decimal.Decimal("1e400")), REFUSED_OR_SOUND),
    "infinity": (lambda: {"d": np.where(np.arange(ROWS_) == 3, np.inf, 1.0)}, refused("row 4", "'d'")),
    "1e308": (lambda: {"d": np.where(np.arange(ROWS_) == 3, 1e308, 1.0)}, refused("1e+308")),
    "1e-30 first": (lambda: {"d": np.where(np.arange(ROWS_) == 0, 1e-30, 1.0)}, SOUND),
    "complex numbers": (lambda: {"d": np.ones(ROWS_) * 1j}, REFUSED_OR_SOUND),
    "nothing": (lambda: all_are(None), SOUND),
    "NaN": (lambda: {"d": np.full(ROWS_, np.nan)}, SOUND),
    "a target with a gap": (lambda: {"y": np.where(np.arange(ROWS_) == 3, np.nan, 1.0)}, refused("row 4")),
    "a target of dates": (lambda: {"y": days()}, refused("dates")),
    "a target of lists": (lambda: {"y": all_are([1])["d"]}, refused("'y'")),
}
OPTIONS: dict[str, tuple[dict[str, Any], Callable[[], dict[str, Any]], Any]] = {
    "roles that are a list": ({"roles": ["x"]}, dict, refused("roles")),
    "roles that are a word": ({"roles": "x"}, dict, refused("roles")),
    "a role that is unknown": ({"roles": {"x": "dance"}}, dict, refused("dance")),
    "a role of no column": ({"roles": {"z": "text"}}, dict, refused("'z'")),
    "a role of the target": ({"roles": {"y": "text"}}, dict, refused("'y'")),
    "dates that are words": ({"roles": {"city": "date"}}, dict, refused("'city'")),
    "numbers that are words": ({"roles": {"city": "number"}}, dict, refused("'city'")),
    "numbers as text": ({"roles": {"x": "text"}}, dict, SOUND),
    "an interaction with itself": ({"interactions": [("city", "city")]}, dict, SOUND),
    "an interaction with the target": ({"interactions": [("city", "y")]}, dict, refused("'y'")),
    "an interaction of one": ({"interactions": [("city",)]}, dict, refused("pairs")),
    "an interaction that is a word": ({"interactions": "city:x"}, dict, refused("pairs")),
    "9 million products in a row": (
        {"roles": {"d": "text", "e": "text"}, "interactions": [("d", "e")]},
        lambda: all_are(WORDS) | {"e": all_are(WORDS)["d"]},
        refused("4 million"),
    ),
    "a word of 3 MB": ({"roles": {"d": "text"}}, lambda: {"d": ["a" * 3_000_000, *["b"] * (ROWS_ - 1)]}, SOUND),
    "a text of 100,000 words": ({"roles": {"d": "text"}, "ngrams": 3}, lambda: all_are("a b " * 50_000), SOUND),
    "ngrams of 0": ({"ngrams": 0}, dict, refused("ngrams")),
    "ngrams of 10^9": ({"ngrams": 10**9}, dict, refused("ngrams")),
    "ngrams of 2.5": ({"ngrams": 2.5}, dict, refused("ngrams")),
    "bits of 99": ({"bits": 99}, dict, refused("bits")),
    "a shuffle of -1": ({"shuffle": -1}, dict, refused("shuffle")),
    "negative weights": ({"weight": "w"}, lambda: {"w": -np.ones(ROWS_)}, refused("row 1", "negative")),
    "weights that are missing": ({"weight": "w"}, lambda: {"w": np.full(ROWS_, np.nan)}, refused("missing")),
    "offsets that are dates": ({"offset": "w"}, lambda: {"w": days()}, refused("'w'")),
}


def arrow(column: Callable[[], Any]) -> None:
    """Learn from an Arrow table with this column."""
    import pyarrow as pa

    table = pa.table({"a": column(), "y": [0, 1] * (ROWS_ // 2)})
    assert np.isfinite(gs.OnlineClassifier().fit(table, target="y").coef_).all()


def made(values: list[Any], kind: str, cast: str | None = None) -> Callable[[], Any]:
    def make() -> Any:
        import pyarrow as pa

        column = pa.array(values * (ROWS_ // len(values)), getattr(pa, kind)())
        return column if cast is None else column.cast(getattr(pa, cast)("s") if cast == "timestamp" else pa.date32())

    return make


def null_in_dictionary() -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array([0, 1] * (ROWS_ // 2)), pa.array(["u", None]))


def run_ends() -> Any:
    import pyarrow as pa

    return pa.RunEndEncodedArray.from_arrays([ROWS_], ["u"])


def not_utf8() -> Any:
    import pyarrow as pa

    buffers = pa.array([b"\xff\xfe"] * ROWS_).buffers()[1:]
    return pa.Array.from_buffers(pa.string(), ROWS_, [None, *buffers])


ARROW = {
    "times of day": (lambda: np.full(ROWS_, 3, "timedelta64[s]"), refused("'a'")),
    "seconds of 2^62": (made([2**62, -(2**62)], "int64", "timestamp"), REFUSED_OR_SOUND),
    "days of 2^31": (made([2**31 - 1, -(2**31)], "int32", "date32"), REFUSED_OR_SOUND),
    "a null in a dictionary": (null_in_dictionary, SOUND),
    "run ends": (run_ends, REFUSED_OR_SOUND),
    "strings that are not UTF-8": (not_utf8, REFUSED_OR_SOUND),
    "no type": (lambda: [None] * ROWS_, refused("missing values")),
}

TABLE = "d,x,y\n" + "".join(f"2020-01-{1 + i % 28:02d},{i},{i % 2}\n" for i in range(ROWS_))
DONE = Either((exits(0), exits(1)))
TEXTS: dict[str, tuple[str | bytes, list[str], Any]] = {
    "nothing": ("", [], DONE),
    "a header alone": ("a,y\n", [], DONE),
    "a header without a line end": ("a,y", [], DONE),
    "NULs": (b"\0" * 5000, [], DONE),
    "UTF-16": (TABLE.encode("utf-16"), [], exits(1, "UTF-16", "target", "byte order")),
    "a quote that stays open": (f'{TABLE}"abc', [], DONE),
    "a cell of 3 MB": ("a,y\n" + "1" * 3_000_000 + ",1\n2,0\n", [], DONE),
    "two columns of one name": ("a,a,y\n1,2,1\n3,4,0\n", [], exits(1, "'a'")),
    "lines of other lengths": ("a,y\n1,1\n1,2,3,4\n2\n3,0\n", [], exits(1)),
    "a date that is none": (f"{TABLE}2020-13-45,5,1\n", [], DONE),
    "a date of the year 999999999": (TABLE.replace("2020-01-05", "999999999-01-05"), ["--date", "d"], DONE),
    "words among dates": (TABLE.replace("2020-01-05", "soon"), ["--date", "d"], exits(1, "'d'")),
    "20,000 columns": (",".join(f"c{i}" for i in range(20_000)) + ",y\n" + ("1," * 20_000 + "1\n") * 3, [], DONE),
    "escapes of a terminal": ('"\x1b[31mred",y\n1,1\n2,0\n', [], DONE),
    "an interaction with itself": (TABLE, ["--interact", "d:d"], DONE),
    "an interaction of 40": (TABLE, ["--interact", ":".join("x" * 40)], Either((exits(1, "pairs"), exits(2)))),
    "an interaction with the target": (TABLE, ["--interact", "x:y"], exits(1, "'y'")),
    "no Parquet file": (b"PAR1" + bytes(400) + b"PAR1", ["--format", "arrow"], exits(1)),
    "no gzip file": (b"\x1f\x8b" + bytes(range(200)), [], exits(1)),
}


def look(text: str | bytes, words: list[str]) -> int:
    """Look at a file; no character that a terminal would obey may come out."""
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = run("look", write(text), *words)
    assert "\x1b" not in out.getvalue()
    return code


def train(text: str | bytes, words: list[str]) -> int:
    """Train on a file; a model that was written is finite."""
    code = run("train", write(text), "-o", "m.gsm", "-q", *words)
    if code == 0:
        model = gs.load("m.gsm")
        assert np.isfinite(model.value).all()
    return code


def look_at_a_fifo() -> int:
    os.mkfifo("f.csv")
    if os.fork() == 0:
        Path("f.csv").write_text(TABLE)
        os._exit(0)
    return run("look", "f.csv")


def rows() -> list[Row]:
    made_rows = [Row(f"frame: {kind}", partial(learn, cells), must) for kind, (cells, must) in CELLS.items()]
    for kind, (options, cells, must) in OPTIONS.items():
        made_rows.append(Row(f"frame: {kind}", partial(learn, cells, **options), must))
    made_rows += [Row(f"arrow: {kind}", partial(arrow, column), must) for kind, (column, must) in ARROW.items()]
    for kind, (text, words, must) in TEXTS.items():
        made_rows.append(Row(f"look at {kind}", partial(look, text, words), must))
        made_rows.append(Row(f"train on {kind}", partial(train, text, words), must))
    made_rows.append(Row("look at a pipe", look_at_a_fifo, exits(0)))
    made_rows.append(Row("look at a folder", lambda: run("look", "/"), exits(1)))
    made_rows.append(Row("look at /dev/null", lambda: run("look", "/dev/null"), exits(1)))
    return made_rows


ROWS = rows()
