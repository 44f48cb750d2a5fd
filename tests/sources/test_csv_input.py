"""Files and frames that a quick look takes for something else: nothing is read wrongly in silence."""

import datetime
import subprocess
import sys
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

import gossamer as gs
from gossamer.sources.blocks import ReadError


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def numbered(n=20):
    return "".join(f"{i}.5,{i % 2}\n" for i in range(n))


# A column of numbers with a cell that is none

CELLS = {
    "infinity": ("inf", "the number is not finite"),
    "minus infinity": ("-Infinity", "the number is not finite"),
    "hexadecimal": ("0x10", "a number is needed here"),
    "a NUL": ("1\x002", "a number is needed here"),
    "a NUL alone": ("\x00", "a number is needed here"),
    "a word": ("many", "a number is needed here"),
    "underscores": ("1_000", "a number is needed here"),
    "another alphabet": ("٣", "a number is needed here"),
    "too large": ("1e999", "too large for double precision"),
    "two points": ("1.2.3", "a number is needed here"),
    "a comma": ('"1,5"', "a number is needed here"),
    "two numbers": ("1 2", "a number is needed here"),
}


@pytest.mark.parametrize("at", [0, 3, 19, 1500])
@pytest.mark.parametrize(("cell", "reason"), CELLS.values(), ids=CELLS)
def test_a_cell_that_is_no_number(tmp_path, cell, reason, at):
    lines = numbered(max(at + 1, 20)).splitlines()
    lines.insert(at, f"{cell},1")
    path = written(tmp_path / "a.csv", "x,y\n" + "\n".join(lines) + "\n")
    with pytest.raises(ReadError) as caught:
        gs.read(path)
    said = str(caught.value)
    assert f"a.csv, line {at + 2}, column 1: " in said
    assert reason in said
    assert f"column 'x' holds numbers, and {cell.strip(chr(34))!r} was found" in said
    assert "roles={'x': 'category'}" in said
    assert "--" not in said
    assert "on_error='skip'" in said
    source = gs.source(path, on_error="skip")
    X, y = gs.read(source)
    assert X.shape == (len(lines) - 1, 1)
    assert source.rejects.count == 1
    X, y = gs.read(path, categories=["x"])  # as asked for
    assert len(y) == len(lines)


def test_the_right_column_is_named(tmp_path):
    rows = 'one,"a, ""b""\nc", 2.5,1\n' * 4 + '"two","d", many,0\n'
    path = written(tmp_path / "a.csv", "name,words,amount,y\n" + rows)
    with pytest.raises(
        ReadError, match=r"line 10, column 11: a number is needed here; column 'amount' .* 'many' was found"
    ):
        gs.read(path)


def test_what_a_column_holds(tmp_path):
    rows = [
        ("Rome", "1", "", "1.0", "12a"),
        ("7", "2", "NA", "2e3", "b"),
        ("Oslo", "3", "x", "-.5", "3"),
        ("", "", "", "", "c"),
    ]
    text = "city,count,word,real,code,y\n" + "".join(",".join(row) + f",{i % 2}\n" for i, row in enumerate(rows))
    source = gs.source(written(tmp_path / "a.csv", text))
    list(source.blocks())
    assert source.columns.numbers == ["count", "real"]
    assert source.columns.categories == ["city", "word", "code"]


@pytest.mark.parametrize("cell", ["NA", "?", "nan", "-", "NULL", ""])
def test_a_column_of_nothing(tmp_path, cell):
    path = written(tmp_path / "a.csv", "x,z,y\n" + "".join(f"{cell},{i},{i % 2}\n" for i in range(9)))
    source = gs.source(path)
    assert gs.read(source)[0].shape == (9, 1)
    assert (source.columns.roles["x"], source.columns.why["x"]) == ("ignore", "nothing but missing values")
    assert gs.read(path, roles={"x": "number"})[0].shape == (9, 3)  # x, z, x=missing
    assert gs.read(path, categories=["x"], one_hot=True)[0].shape == (9, 3)  # z, z=missing, x=missing


def test_labels_that_are_no_numbers(tmp_path):
    path = written(tmp_path / "a.csv", "x,y\n1,0\n2,1\n3,many\n4,1\n")
    with pytest.raises(
        ReadError, match=r"line 4, column 3: a number is needed here; column 'y' holds numbers, and 'many'"
    ):
        gs.OnlineClassifier().fit_source(path)
    model = gs.Model.of(gs.OnlineClassifier().fit_source(written(tmp_path / "b.csv", "x,y\n1,0\n2,1\n")))
    unknown = written(tmp_path / "c.csv", "x,y\n1,?\n2,?\n")  # nobody needs these labels
    assert len(model.predict(unknown)) == 2
    words = written(tmp_path / "d.csv", "x,y\n1,NA\n2,DE\n3,FR\n")
    with pytest.raises(ReadError, match="line 2, column 5: the row has no label"):
        gs.read(words)
    assert gs.read(words, on_error="skip")[1].tolist() == ["DE", "FR"]


# Headers and encodings


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("marked", [True, False])
def test_other_encodings(tmp_path, encoding, marked):
    text = ("\ufeff" * (marked and encoding[-1] == "e") + "x,y\n" + numbered()).encode(encoding)
    path = written(tmp_path / "a.csv", text)
    with pytest.raises(ReadError, match=r"UTF-16.*UTF-8 is needed. Convert it"):
        gs.read(path)


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["a.svm", "a.vw"])
def test_byte_order_marks_of_other_formats(tmp_path, mark, name):
    line = b"1 1:1\n" if name == "a.svm" else b"1 |a b\n"
    with pytest.raises(ReadError, match=r"line 1, column .* begins with the byte order mark of UTF"):
        gs.read(written(tmp_path / name, mark + line * 3))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_header_with_line_breaks_in_quotes(tmp_path, delimiter, end, mark):
    header = delimiter.join(['"weight\nin kg"', '"say ""x"""', 'height 5"', "y"])
    rows = [delimiter.join([f"{i}.5", "1", "2", str(i % 2)]) for i in range(5)]
    source = gs.source(written(tmp_path / "a.csv", mark + end.join([header, *rows]) + end))
    X, y = gs.read(source)
    assert source.columns.numbers == ["weight\nin kg", 'say "x"', 'height 5"']
    assert X[:, 0].toarray().ravel().tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert y.tolist() == [0, 1, 0, 1, 0]
    bad = gs.source(written(tmp_path / "b.csv", mark + end.join([header, *rows, "x" + delimiter * 3 + "1"]) + end))
    with pytest.raises(ReadError, match=r"b\.csv, line 8, column 1"):
        list(bad.blocks())


def test_a_quote_in_the_header_that_is_not_closed(tmp_path):
    path = written(tmp_path / "a.csv", '"x,y\n' + numbered())
    with pytest.raises(ReadError, match="line 1: invalid header: a quote is not closed; close it"):
        gs.read(path)
    with pytest.raises(ReadError, match="line 1: invalid header: new-line character"):  # line ends of old Macs
        gs.read(written(tmp_path / "b.csv", "x,y\r1,2\r"))
    with pytest.raises(ReadError, match="line 1: the line is empty; the names of the columns are needed"):
        gs.read(written(tmp_path / "c.csv", "\nx,y\n1,2\n"))


def test_a_header_longer_than_a_block(tmp_path):
    names = [f"a column with a long name {i:06d}" for i in range(40_000)]
    text = (
        ",".join([*names, "y"]) + "\n" + (",".join(["1"] * len(names)) + ",1\n" + ",".join(["2"] * len(names)) + ",0\n")
    )
    X, y = gs.read(written(tmp_path / "a.csv", text), block=1024)
    assert X.shape == (2, 40_000)
    assert y.tolist() == [1, 0]


@pytest.mark.parametrize("cell", ["1.5", "a"])
def test_many_columns_take_linear_time(tmp_path, cell):
    """30,000 columns took a minute when the names were compared with each other."""
    names = ",".join([f"c{j}" for j in range(30_000)] + ["y"])
    rows = "".join(",".join([cell] * 30_000 + [str(k % 2)]) + "\n" for k in range(3))
    path = written(tmp_path / "a.csv", names + "\n" + rows)
    begin = time.process_time()
    gs.read(path)
    assert time.process_time() - begin < 5


# Two columns of one name


@pytest.mark.parametrize("form", ["pandas", "pandas numbers", "arrow", "csv", "parquet", "feather", "ipc"])
def test_two_columns_of_one_name(tmp_path, form):
    table = pa.table([[1.0, 2.0], [3.0, 4.0], [0, 1]], names=["a", "a", "y"])
    data, name = table, "a"
    if form == "pandas":
        data = pd.DataFrame([[1.0, 3.0, 0], [2.0, 4.0, 1]], columns=["a", "a", "y"])
    elif form == "pandas numbers":  # both have the name 1 in a model
        data, name = pd.DataFrame([[1.0, 3.0, 0], [2.0, 4.0, 1]], columns=[1, "1", "y"]), "1"
    elif form == "csv":
        data = written(tmp_path / "a.csv", "a,a,y\n1,3,0\n2,4,1\n")
    elif form == "parquet":
        data = tmp_path / "a.parquet"
        parquet.write_table(table, data)
    elif form == "feather":
        data = tmp_path / "a.feather"
        feather.write_feather(table, data)
    elif form == "ipc":
        data = tmp_path / "a.ipc"
        with pa.ipc.new_stream(data, table.schema) as stream:
            stream.write_table(table)
    for call in (
        lambda: gs.OnlineClassifier().fit_source(data),
        lambda: gs.read(data),
        lambda: gs.read(data, need_labels=False),
    ):
        with pytest.raises(ReadError, match=f"two columns are called '{name}'; rename or drop one of them"):
            call()


# What the columns of frames hold


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda d: pa.table(d)], ids=["pandas", "polars", "arrow"])
@pytest.mark.parametrize("dates", [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 5), datetime.timedelta(3)])
def test_dates_in_frames(make, dates):
    if make is pd.DataFrame:
        dates = (
            pd.to_datetime([dates] * 4) if not isinstance(dates, datetime.timedelta) else pd.to_timedelta([dates] * 4)
        )
    else:
        dates = [dates] * 4
    frame = make({"x": [1.0, 2.0, 3.0, 4.0], "when": dates, "y": [0, 1, 0, 1]})
    assert gs.read(frame, ignore=["when"])[0].shape == (4, 1)
    if isinstance(dates[0], datetime.timedelta):
        with pytest.raises(ReadError, match=r"column 'when' holds values .*times of day or durations.*ignore"):
            gs.read(frame)
        return
    source = gs.source(frame)
    X, _ = gs.read(source)
    timed = getattr(dates[0], "hour", 0) > 0
    names = {source.name(j) for j in X.indices.tolist()}
    assert names == {"x", "when:weekday=wed", "when:month=1"} | ({"when:hour=5"} if timed else set())
    level = f"when=2020-01-01{' 05:00:00' * timed}"
    source = gs.source(frame, categories=["when"])
    assert level in {source.name(j) for j in gs.read(source)[0].indices.tolist()}
    with pytest.raises(ReadError, match="'when' holds dates or times"):
        gs.read(frame, target="when", ignore=["y"])


def test_objects_in_frames():
    frame = pd.DataFrame(
        {
            "int": pd.Series([1, None, 3, 4], dtype=object),
            "decimal": [Decimal("1.5"), None, Decimal(2), Decimal(3)],
            "word": ["a", None, "b", 3],
            "truth": pd.Series([True, None, False, True], dtype=object),
            "y": [0, 1, 0, 1],
        }
    )
    source = gs.source(frame, one_hot=True)
    X, _ = gs.read(source)
    assert source.columns.numbers == ["int", "decimal"]
    assert source.columns.categories == ["word", "truth"]
    assert X[:, :2].toarray().tolist() == [[1.0, 1.5], [8 / 3, 6.5 / 3], [3.0, 2.0], [4.0, 3.0]]
    frame.loc[2, "int"] = "three"
    with pytest.raises(
        ReadError,
        match="row 3, column 'int': a number is needed here; column 'int' holds numbers, and 'three' was found",
    ):
        gs.read(frame)


def test_read_takes_all_that_source_takes():
    X, y = np.eye(3), np.array([0, 1, 0])
    for data in (
        (X, y),
        pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": y}),
        [(X, y)],
        pa.table({"a": [1.0, 2.0, 3.0], "y": y}),
    ):
        assert gs.read(data)[1].tolist() == [0, 1, 0]
    assert gs.read(X.tolist(), need_labels=False)[0].shape == (3, 3)


# One class only


@pytest.mark.parametrize("label", ["0", "1", "-1", "7", "a"])
@pytest.mark.parametrize("piped", [False, True])
def test_one_class_on_the_command_line(tmp_path, label, piped):
    text = "x,y\n" + "".join(f"{i},{label}\n" for i in range(20))
    path = written(tmp_path / "a.csv", text)
    command = [sys.executable, "-m", "gossamer", "train", "-" if piped else str(path), "-o", str(tmp_path / "m.gsm")]
    ended = subprocess.run([*command, "--format", "csv"], input=text.encode(), capture_output=True)
    assert ended.returncode == 1
    assert b"at least two" in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert not (tmp_path / "m.gsm").exists()


def test_one_class_in_python(tmp_path):
    X, y = np.eye(4), np.zeros(4, int)
    model = gs.OnlineClassifier()
    for data in ((X, y), written(tmp_path / "a.svm", "-1 1:1\n-1 2:1\n"), written(tmp_path / "b.svm", "1 1:1\n")):
        with pytest.raises(ValueError, match="at least two"):
            model.fit_source(data)
        assert not hasattr(model, "coef_")
    for name in (
        "BatchClassifier",
        "BatchClassifierCV",
        "OnlineClassifier",
        "OnlineClassifierCV",
        "BoostingClassifier",
    ):
        with pytest.raises(ValueError, match="one class only, 0; a classifier needs at least two"):
            getattr(gs, name)().fit(X, y)
    model.partial_fit(X, y, classes=[0, 1])  # the other one may come later
    assert model.partial_fit(X, y).predict(X).tolist() == [0] * 4
    assert gs.OnlineClassifier().fit_source((X, y), classes=[0, 1]).classes_.tolist() == [0, 1]
    assert gs.OnlineClassifier().partial_fit_source((X, y)).classes_.tolist() == [0, 1]
    assert gs.OnlineClassifier(grow=True).fit_source((X, y)).classes_.tolist() == [0]
    late = [(X, y)] * 3 + [(X, y + 1)]  # labels 0 first, and 1 at the very end
    assert gs.OnlineClassifier().fit_source(late).classes_.tolist() == [0, 1]
    assert gs.OnlineClassifier().fit_source(iter(late)).classes_.tolist() == [0, 1]
