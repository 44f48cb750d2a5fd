"""Sources with names: Vowpal Wabbit text, CSV, data frames, Parquet and Arrow."""

import csv as csv_module
import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
from gossamer import _core
from gossamer.sources.blocks import ReadError
from gossamer.sources.feature_names import FeatureNames
from sources.slow_table import slow_row

pa = pytest.importorskip("pyarrow")


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def named_rows(source):
    """Return rows as dictionaries by name, and labels, weights, tags."""
    rows, labels, weights, tags = [], [], [], []
    for block in source.blocks():
        for i in range(len(block)):
            part = slice(block.starts[i], block.starts[i + 1])
            names = [source.name(j) for j in block.index[part].tolist()]
            rows.append(dict(zip(names, block.value[part].tolist(), strict=True)))
        labels += [] if block.label is None else block.label.tolist()
        weights += [1.0] * len(block) if block.weight is None else block.weight.tolist()
        tags += block.tags or [""] * len(block)
    return rows, labels, weights, tags


# Names


@given(st.lists(st.text(max_size=12), max_size=60))
def test_exact_names_are_numbered_as_they_come(words):
    named = FeatureNames(0)
    numbers = [named.number(w) for w in words]
    order = list(dict.fromkeys(words))
    assert numbers == [order.index(w) for w in words]
    assert [named.name(i) for i in range(len(order))] == order
    again = FeatureNames(0)
    again.table.restore(named.table.state())
    assert [again.number(w) for w in words] == numbers
    assert len(again.table) == len(order)


def test_hashed_names_and_their_collisions():
    named = FeatureNames(8)
    words = [f"word {i}" for i in range(400)]
    numbers = [named.number(w) for w in words]
    assert max(numbers) < 256
    first = {}
    second = {}
    for word, number in zip(words, numbers, strict=True):
        if number in first and number not in second:
            second[number] = word
        first.setdefault(number, word)
    assert named.table.collisions == len(second) > 50
    assert all(named.name(j) == word for j, word in first.items())
    assert all(named.other(j) == word for j, word in second.items())
    counts = np.bincount(numbers, minlength=256)
    assert counts.max() <= 8  # 400 into 256
    again = FeatureNames(8)
    again.table.restore(named.table.state())
    assert again.table.collisions == len(second)
    assert all(again.other(j) == word for j, word in second.items())


def test_the_hash_does_not_change():
    """It is part of the model file."""
    named = FeatureNames(30)
    assert [named.number(w) for w in ("", "a", "color=red", "ns^a long name")] == HASHES


HASHES = [0, 340193711, 460572216, 138910714]


@pytest.mark.parametrize("state", [b"", b"\x01" + bytes(7), b"\xff" * 8, bytes(16) + b"more"])
def test_broken_names_are_refused(state):
    with pytest.raises(ValueError, match="saved names"):
        FeatureNames(0).table.restore(np.frombuffer(state, np.uint8))


@pytest.mark.parametrize("bits", [-1, 31, 1.5, True])
def test_bits_are_checked(tmp_path, bits):
    with pytest.raises(ValueError, match="bits must be a whole number from 1 to 30"):
        gs.source(written(tmp_path / "a.vw", "1 |a b\n"), bits=bits)


# Vowpal Wabbit


def test_vw_by_the_book(tmp_path):
    text = "1 2.0 'first|user:2 age:3 male |item price:0.5 |\n-1 second| plain :4\n\n| a:1e1 a:2\r\n0.5 0 |x y|z w:-1"
    source = gs.source(written(tmp_path / "a.vw", text), need_labels=False)
    rows, labels, weights, tags = named_rows(source)
    assert rows == [
        {"user^age": 6.0, "user^male": 2.0, "item^price": 0.5},
        {"plain": 1.0, "": 4.0},
        {"a": 12.0},
        {"x^y": 1.0, "z^w": -1.0},
    ]
    assert_array_equal(labels, [1, -1, np.nan, 0.5])
    assert weights == [2, 1, 1, 0]
    assert tags == ["first", "second", "", ""]


def slow_hash(name):
    """Return the hash of a name in 64 bits."""
    most = 2**64 - 1

    def mix(h):
        for _ in range(2):
            h = (h ^ (h >> 32)) * 0xD6E8FEB86659FD93 & most
        return h ^ (h >> 32)

    h, whole = mix(len(name) * 0x9E3779B97F4A7C15 & most), len(name) // 8 * 8
    for i in range(0, whole, 8):
        h = mix(h ^ int.from_bytes(name[i : i + 8], "little")) + 0x9E3779B97F4A7C15 & most
    return mix(h ^ int.from_bytes(name[whole:], "little"))


VW_NAME = st.text(st.sampled_from("ab09_=^.\x01\x1f\x7fé日"), max_size=20)
VW_SPACE = st.tuples(VW_NAME, st.lists(st.tuples(VW_NAME, st.sampled_from([1.0, 0.5, -3.0, 1e-3])), max_size=40))


@given(st.lists(st.lists(VW_SPACE, min_size=1, max_size=3), max_size=5), st.sampled_from([0, 3, 18]), st.integers(1, 9))
def test_vw_as_a_slow_parser_reads(tmp_path_factory, rows, bits, times):
    """Names of any length, in any number, in any order, more than once; and the last ones of a text."""
    rows = [[(space, features * times) for space, features in row] for row in rows]
    lines = [
        "".join(f"|{space}" + "".join(f" {name}:{x}" for name, x in features) for space, features in row)
        for row in rows
    ]
    path = written(tmp_path_factory.mktemp("vw") / "a.vw", "\n".join(lines))
    source = gs.source(path, bits=bits, need_labels=False)
    order, slow = [], []
    for row in rows:
        sums = {}
        for space, features in row:
            for name, x in features:
                whole = (f"{space}^" * bool(space) + name).encode()
                order += [] if bits or whole in order else [whole]
                number = slow_hash(whole) >> (64 - bits) if bits else order.index(whole)
                sums[number] = sums.get(number, 0.0) + x
        slow.append(dict(sorted(sums.items())))
    blocks = [block for block in source.blocks() if len(block)]
    fast = [
        dict(zip(block.index[a:b].tolist(), block.value[a:b].tolist(), strict=True))
        for block in blocks
        for a, b in zip(block.starts[:-1], block.starts[1:], strict=True)
    ]
    assert [list(row.items()) for row in fast] == [list(row.items()) for row in slow]
    assert all(source.name(j).encode() == name for j, name in enumerate(order))


@pytest.mark.parametrize("before", [0, 300])
def test_too_many_names_are_refused_where_they_are_met(before):
    text = b"1 |a" + b" x" * before + b"\n-1 |a x y:3 |b x:0.5|\n"
    limits = _core.Limits(1, True, 2**31 - 1)
    parsed = _core.VwParser(_core.NameTable(0, 2), limits).parse(text)
    assert len(parsed) == 1
    [(line, column, reason, *_)] = parsed.arrays()["bad"]
    assert (line, column) == (2, 21)
    assert "too many different names" in reason


BAD_VW = {
    "no bar": (b"1 a b", 3, "a number is needed"),
    "only a label": (b"1 2", 4, "a bar"),
    "a word for a label": (b"spam |a b", 1, "a number is needed"),
    "no label": (b"|a b", None, "no label"),
    "three numbers": (b"1 2 3 |a b", 5, "at most a label and an importance"),
    "negative importance": (b"1 -2 |a b", 3, "not negative"),
    "no value": (b"1 |a b: c", 8, "a number is needed"),
    "an infinite value": (b"1 |a b:inf", 8, "not finite"),
    "an infinite product": (b"1 |a:1e300 b:1e300", None, "infinite"),
    "two values": (b"1 |a b:1:2", 9, "a space is needed"),
    "after the tag": (b"1 'tag 3 |a b", 8, "a bar"),
}


@pytest.mark.parametrize(("line", "column", "reason"), BAD_VW.values(), ids=BAD_VW)
def test_a_bad_vw_line(tmp_path, line, column, reason):
    path = written(tmp_path / "a.vw", b"1 |a b\n" + line + b"\n-1 |c d\n")
    with pytest.raises(ReadError) as caught:
        list(gs.source(path).blocks())
    assert f"line 2, column {column or ''}" in str(caught.value)
    assert reason in str(caught.value)
    rows, labels, weights, _ = named_rows(gs.source(path, on_error="skip"))
    assert rows == [{"a^b": 1.0}, {"c^d": 1.0}]
    assert labels == [1, -1]
    assert weights == [1, 1]


def test_vw_and_svmlight_teach_the_same(tmp_path):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(50, 6)), 2)
    y = np.where(X[:, 0] > 0, 1, -1)
    lines = [f"{label} | " + " ".join(f"f{j}:{v}" for j, v in enumerate(x)) for label, x in zip(y, X, strict=True)]
    path = written(tmp_path / "a.vw", "\n".join(lines))
    model = gs.OnlineClassifier(alpha=1e-2).fit_source(path, bits=0)
    whole = gs.OnlineClassifier(alpha=1e-2, shuffle=False).fit(sp.csr_array(X), y)
    assert_array_equal(model.coef_, whole.coef_)
    assert_array_equal(model.nonzero_features_, [f"f{j}" for j in whole.nonzero_features_])
    hashed = gs.OnlineClassifier(alpha=1e-2).fit_source(path)
    assert sorted(hashed.nonzero_features_) == sorted(model.nonzero_features_)
    assert_allclose(np.sort(hashed.coef_[hashed.coef_ != 0]), np.sort(model.coef_[model.coef_ != 0]), rtol=1e-4)
    for fitted in (model, hashed):
        gs.save(fitted, tmp_path / "m.gsm")
        assert_array_equal(gs.load(tmp_path / "m.gsm").predict(path), whole.predict(X))


# Tables

FRAME = pd.DataFrame(
    {
        "age": [31.0, np.nan, 0.0, 44.0],
        "city": ["Rome", 'a "quoted", one', None, "line\nbreak"],
        "rooms": [1, 2, 3, 4],
        "w": [1.0, 2.0, 1.0, 0.5],
        "target": ["yes", "no", "no", "yes"],
    }
)
ROWS = [
    {"age": 31.0, "rooms": 1.0, "city=Rome": 1.0},
    {"age": 25.0, "age=missing": 1.0, "rooms": 2.0, 'city=a "quoted", one': 1.0},
    {"rooms": 3.0, "city=missing": 1.0},
    {"age": 44.0, "rooms": 4.0, "city=line\nbreak": 1.0},
]


def table_forms(folder):
    import pyarrow.feather as feather
    import pyarrow.parquet as parquet

    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    FRAME.to_csv(folder / "a.csv", index=False)
    FRAME.to_csv(folder / "a.tsv", index=False, sep="\t")
    (folder / "b.csv").write_bytes(b"\xef\xbb\xbf" + FRAME.to_csv(index=False, sep=";", lineterminator="\r\n").encode())
    parquet.write_table(table, folder / "a.parquet", row_group_size=3)
    feather.write_feather(table, folder / "a.feather")
    with pa.ipc.new_stream(folder / "a.ipc", table.schema) as stream:
        stream.write_table(table)
    return {
        "pandas": FRAME,
        "pandas, categories": FRAME.astype({"city": "category"}),
        "polars": pl.from_pandas(FRAME),
        "arrow": table,
        "csv": folder / "a.csv",
        "tsv": folder / "a.tsv",
        "semicolons and a mark": folder / "b.csv",
        "parquet": folder / "a.parquet",
        "feather": folder / "a.feather",
        "stream": folder / "a.ipc",
    }


FORMS = [
    "pandas",
    "pandas, categories",
    "polars",
    "arrow",
    "csv",
    "tsv",
    "semicolons and a mark",
    "parquet",
    "feather",
    "stream",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("settings", [{}, {"one_hot": True}, {"bits": 25}], ids=["hashed", "one-hot", "bits"])
def test_every_form_of_a_table_reads_the_same(tmp_path, form, settings):
    source = gs.source(table_forms(tmp_path)[form], weight="w", **settings)
    rows, labels, weights, _ = named_rows(source)
    assert rows == ROWS
    assert labels == FRAME["target"].tolist()
    assert weights == FRAME["w"].tolist()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("one_hot", [True, False])
def test_a_model_of_a_table_reads_other_forms(tmp_path, form, one_hot):
    forms = table_forms(tmp_path)
    model = gs.OnlineClassifier(alpha=1e-3, max_passes=4).fit_source(forms["csv"], ignore=["w"], one_hot=one_hot)
    gs.save(model, tmp_path / "m.gsm")
    made = gs.load(tmp_path / "m.gsm")
    assert "city=Rome" in made.names
    assert_array_equal(made.predict(forms["csv"]), FRAME["target"])
    assert_allclose(made.predict_proba(forms[form]), made.predict_proba(forms["csv"]), rtol=0)
    unknown = FRAME.assign(city="nowhere").drop(columns="target")
    assert_array_equal(made.predict_proba(unknown[::-1])[::-1], made.predict_proba(unknown))


cells = st.one_of(st.just(""), st.integers(-99, 99).map(str), st.floats(-1e9, 1e9).map(repr))
words = st.text(st.characters(blacklist_characters="\r\x00", blacklist_categories=["Cs"]), max_size=6)


@given(
    st.lists(st.tuples(cells, words, st.integers(0, 1)), min_size=1, max_size=12), st.integers(8, 200), st.booleans()
)
def test_csv_as_the_standard_library_reads(tmp_path_factory, table, block, crlf):
    file = io.StringIO()
    writer = csv_module.writer(file, lineterminator="\r\n" if crlf else "\n", quoting=csv_module.QUOTE_NONNUMERIC)
    writer.writerow(["x", "word", "y"])
    writer.writerows([(float(x) if x else None, word, y) for x, word, y in table])
    path = written(tmp_path_factory.mktemp("c") / "a.csv", file.getvalue())
    source = gs.source(path, block=block, one_hot=True, roles={"word": "category", "x": "number"})
    rows, labels, _, _ = named_rows(source)
    assert rows == [slow_row(source.columns, {"x": x, "word": word}) for x, word, _ in table]
    assert labels == [y for _, _, y in table]


BAD_CSV = {
    "too few": (b"1,red", 6, "fewer cells"),
    "too many": (b"1,red,1,2", 8, "more cells"),
    "no number": (b"x,red,1", 1, "a number is needed"),
    "half a number": (b"1x,red,1", 1, "a number is needed"),
    "infinity": (b"inf,red,1", 1, "not finite"),
    "no label": (b"1,red,", None, "no label"),
    "after a quote": (b'1,"red"x,1', 8, "a delimiter is needed"),
    "a label that is no number": (b"1,red,z", 7, "a number is needed"),
}


@pytest.mark.parametrize(("line", "column", "reason"), BAD_CSV.values(), ids=BAD_CSV)
def test_a_bad_csv_line(tmp_path, line, column, reason):
    good = b"1,red,1\n" * 1100
    path = written(tmp_path / "a.csv", b"x,color,y\n" + good + line + b"\n2,blue,0\n")
    with pytest.raises(ReadError) as caught:
        list(gs.source(path).blocks())
    assert f"line 1102, column {column or ''}" in str(caught.value)
    assert reason in str(caught.value)
    source = gs.source(path, on_error="skip")
    assert sum(map(len, source.blocks())) == 1101
    assert source.rejects.count == 1


def test_a_quote_that_is_not_closed(tmp_path):
    path = written(tmp_path / "a.csv", 'x,color,y\n1,red,1\n2,"blue,0\n3,red,1\n')
    with pytest.raises(ReadError, match="line 3, column 3: the quote is not closed"):
        list(gs.source(path).blocks())


def test_columns_that_cannot_be(tmp_path):
    with pytest.raises(ReadError, match=r"which column is the target\? Name it, as in target=.*are a, b"):
        list(gs.source(written(tmp_path / "a.csv", "a,b\n1,2\n")).blocks())
    with pytest.raises(ReadError, match="two columns are called 'a'"):
        list(gs.source(written(tmp_path / "b.csv", "a,a\n1,2\n")).blocks())
    with pytest.raises(ReadError, match="there is no column 'z'"):
        list(gs.source(written(tmp_path / "c.csv", "a,b\n1,2\n"), target="z").blocks())
    paths = [written(tmp_path / "d.csv", "a,y\n1,2\n"), written(tmp_path / "e.csv", "b,y\n1,2\n")]
    with pytest.raises(ReadError, match="the columns are not those of"):
        list(gs.source(paths).blocks())
    with pytest.raises(ReadError, match="row 2, column 'x': the number is not finite"):
        list(gs.source(pd.DataFrame({"x": [1.0, np.inf], "y": [0, 1]})).blocks())
    with pytest.raises(ReadError, match="row 2, column 'y': the row has no label"):
        list(gs.source(pd.DataFrame({"x": [1.0, 2.0], "y": ["a", None]})).blocks())
    with pytest.raises(ReadError, match="row 1, column 'w': a weight is not negative"):
        list(gs.source(pd.DataFrame({"x": [1.0], "y": [1], "w": [-1.0]}), weight="w").blocks())
    with pytest.raises(ValueError, match="delimiter must be one character"):
        gs.source(tmp_path / "a.csv", delimiter="ab")


def test_a_table_without_a_header(tmp_path):
    path = written(tmp_path / "a.csv", "1,2.5,0\n1,3.5,1\n")
    rows, labels, _, _ = named_rows(gs.source(path, header=False, target="1"))
    assert rows == [{"2": 2.5}, {"2": 3.5, "3": 1.0}]
    assert labels == [1, 1]


def test_a_broken_parquet_file(tmp_path):
    path = table_forms(tmp_path)["parquet"]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ReadError, match=r"a\.parquet"):
        list(gs.source(path).blocks())


def test_bad_rows_of_a_parquet_file(tmp_path):
    """They are told by file, row and column, skipped and counted, or collected, and the others stay as they are."""
    import pyarrow.parquet as parquet

    n = 9000  # more than a block
    x, y, w = np.arange(1.0, n + 1), np.arange(n) % 2.0, np.ones(n)
    x[5], y[[5, 17, 8500]], w[[30, 31]] = np.inf, np.nan, [-1.0, np.nan]
    color = ["red", "blue"] * (n // 2)
    whole = pa.table({"x": x, "color": color, "y": y, "w": w})
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    parquet.write_table(whole.slice(0, 100), paths[0])
    parquet.write_table(whole.slice(100), paths[1])
    with pytest.raises(ReadError, match=r"a\.parquet, row 6, column 'x': the number is not finite"):
        list(gs.source(paths, weight="w").blocks())
    kept = tmp_path / "bad.jsonl"
    bad, good = [5, 17, 30, 31, 8500], np.setdiff1d(np.arange(n), [5, 17, 30, 31, 8500])
    for policy in ("skip", ("quarantine", kept)):
        source = gs.source(paths, weight="w", on_error=policy)
        X, labels = gs.read(source)
        assert_array_equal(labels, y[good])
        assert_array_equal(np.asarray(X[:, [0]].todense()).ravel(), x[good])
        assert source.rejects.count == 5
        assert source.rejects.examples[-1] == f"{paths[1]}, row 8401, column 'y': the row has no label"
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [row["color"] for row in rows] == [color[i] for i in bad]
    assert rows[2] == {"x": 31.0, "color": "red", "y": 0.0, "w": -1.0}


def test_bad_rows_of_a_data_frame():
    frame = pd.DataFrame({"x": [1.0, "two", 3.0, None], "y": ["a", "b", None, "b"]})
    source = gs.source(frame, on_error="skip", numbers=["x"])
    X, y = gs.read(source)
    assert_array_equal(X.toarray(), [[1.0, 0.0], [2.0, 1.0]])  # the mean of the others, and an indicator
    assert y.tolist() == ["a", "b"]
    assert source.rejects.examples == [
        "the data frame, row 2, column 'x': a number is needed here; column 'x' holds numbers, and 'two' was found. "
        "Correct or empty the cell, say that it stands for a missing value (missing=['two']), or that the "
        "column holds words (roles={'x': 'category'})",
        "the data frame, row 3, column 'y': the row has no label",
    ]


def test_a_parquet_file_goes_on_where_it_was(tmp_path):
    import pyarrow.parquet as parquet

    frame = pd.DataFrame({"x": np.arange(20_000.0), "y": np.arange(20_000) % 2})
    parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "a.parquet", row_group_size=3000)
    source = gs.source(tmp_path / "a.parquet")
    blocks = list(source.blocks())
    assert blocks[-1].share == 1.0
    for i in (0, 1, len(blocks) - 2):
        rest = np.concatenate([b.label for b in source.blocks(blocks[i].position)])
        assert_array_equal(rest, frame["y"][blocks[i].position.rows :])


# Rows in memory


def test_matrices_and_iterators():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.5)
    y = np.where(X.sum(axis=1) > 0, "up", "down")
    whole = gs.OnlineClassifier(alpha=1e-2, shuffle=False, center=False).fit(X, y)
    parts = [(sp.csr_array(X[i : i + 7]), y[i : i + 7]) for i in range(0, 60, 7)]
    for data in ((X, y), parts, (sp.coo_matrix(X), y), (X.astype(np.float32).astype(float), y, np.ones(60))):
        model = gs.OnlineClassifier(alpha=1e-2, center=False).fit_source(data)
        assert_allclose(model.coef_, whole.coef_, rtol=1e-6, atol=1e-9)
    centred = gs.OnlineClassifier(alpha=1e-2, shuffle=False).fit(X, y)
    for data in ((X, y), iter([(X[:9], y[:9]), (X[9:], y[9:])])):
        model = gs.OnlineClassifier(alpha=1e-2).fit_source(data, classes=["down", "up"])
        assert_array_equal(model.coef_, centred.coef_)
    once = gs.OnlineClassifier(alpha=1e-2).fit_source(iter(parts), classes=["down", "up"])
    assert_array_equal(once.coef_, whole.coef_)
    with pytest.raises(ValueError, match="can be read only once"):
        gs.OnlineClassifier(max_passes=2).fit_source(iter(parts))
    with pytest.raises(ReadError, match="its labels are missing"):
        gs.OnlineClassifier().fit_source([(X,)], classes=[0, 1])
    with pytest.raises(ReadError, match="not negative"):
        gs.OnlineClassifier().fit_source((X, y, -np.ones(60)))
    with pytest.raises(ReadError, match="NaN or infinity"):
        list(gs.source((sp.csr_array([[np.inf]]), [1])).blocks())
