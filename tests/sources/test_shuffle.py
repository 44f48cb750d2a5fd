"""Rows in random order: all of them, the same for a seed, whatever the blocks; and from any position on."""

import gzip

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import gossamer as gs
from gossamer.sources import shuffle
from gossamer.sources.blocks import ReadError


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Make several windows of small files."""
    monkeypatch.setattr(shuffle, "PIECE", 300)
    monkeypatch.setattr(shuffle, "PIECES", 3)
    monkeypatch.setattr(shuffle, "WINDOW_ROWS", 64)
    monkeypatch.setattr(shuffle, "ROWS", 20)


N = 500
TEXTS = {
    "a.csv": "x,city,when,y\n"
    + "".join(f'{i}.5,"c{i % 7}\nz",2020-01-{1 + i % 28:02d},{int(i > N // 2)}\n' for i in range(N)),
    "a.svm": "".join(f"{int(i > N // 2)} 1:{i}.5 {i % 9 + 2}:1\n" for i in range(N)),
    "a.vw": "".join(f"{int(i > N // 2)} 't{i}|f x:{i}.5 w{i % 9}\n" for i in range(N)),
}


def made(folder, form):
    if form == "frame":
        return pd.DataFrame({"x": np.arange(N) + 0.5, "y": np.arange(N) > N // 2})
    name = form.removesuffix(".gz")
    path = folder / form
    path.write_bytes(gzip.compress(TEXTS[name].encode()) if form.endswith("gz") else TEXTS[name].encode())
    return path


def rows_of(blocks):
    """Return the first value of each row, which tells the rows apart, and its label."""
    found = []
    for block in blocks:
        values = [block.value[block.starts[i] : block.starts[i + 1]].max() for i in range(len(block))]
        found += list(zip(values, [] if block.label is None else block.label.tolist(), strict=True))
    return found


FORMS = [*TEXTS, *(f"{name}.gz" for name in TEXTS), "frame"]


@pytest.mark.parametrize("form", FORMS)
def test_all_rows_in_an_order_of_the_seed(tmp_path, form):
    data = made(tmp_path, form)
    plain, first, again, other = (
        rows_of(gs.source(data, shuffle=seed).blocks()) if seed is not None else rows_of(gs.source(data).blocks())
        for seed in (None, 1, 1, 2)
    )
    assert first == again
    assert first != plain
    assert first != other
    assert sorted(first) == sorted(other) == sorted(plain)
    assert len(plain) == N
    if form in TEXTS:  # pieces move, so that a sorted file is mixed
        labels = np.array([y for _, y in first])
        assert 0.2 < labels[: N // 2].mean() < 0.8


@pytest.mark.parametrize("form", [form for form in FORMS if form != "frame"])
def test_the_order_does_not_depend_on_blocks(tmp_path, form):
    data = made(tmp_path, form)
    orders = [rows_of(gs.source(data, shuffle=3, block=block).blocks()) for block in (100, 777, 1 << 20)]
    assert orders[0] == orders[1] == orders[2]


@pytest.mark.parametrize("form", FORMS)
def test_from_any_position_on(tmp_path, form):
    data = made(tmp_path, form)
    source = gs.source(data, shuffle=5)
    blocks = list(source.blocks())
    assert [block.position.rows for block in blocks] == np.cumsum([len(block) for block in blocks]).tolist()
    for i in (0, 1, 4, len(blocks) - 2):
        rest = rows_of(gs.source(data, shuffle=5).blocks(blocks[i].position))
        assert rest == rows_of(blocks[i + 1 :])


@pytest.mark.parametrize("form", ["a.csv", "a.csv.gz"])
def test_bad_lines_count_once(tmp_path, form):
    path = tmp_path / form
    text = ("x,y\n" + "".join(f"{i}.5,{i % 2}\n" if i % 50 else "many,1\n" for i in range(N))).encode()
    path.write_bytes(gzip.compress(text) if form.endswith("gz") else text)
    source = gs.source(path, shuffle=1, on_error="skip")
    blocks = list(source.blocks())
    assert source.rejects.count == N // 50
    assert sum(map(len, blocks)) == N - N // 50
    for i in (0, 3):
        counted = sum(len(block.bad) for block in blocks[: i + 1])
        resumed = gs.source(path, shuffle=1, on_error="skip")
        resumed.rejects.start(counted)
        list(resumed.blocks(blocks[i].position))
        assert resumed.rejects.count == N // 50
    lines = {int(line.split("line ")[1].split(",")[0]) for line in source.rejects.examples}
    assert lines <= {50 * k + 2 for k in range(N // 50)}
    with pytest.raises(ReadError, match="a number is needed here"):
        list(gs.source(path, shuffle=1).blocks())


def test_what_else_is_known_stays(tmp_path):
    path = made(tmp_path, "a.csv")
    source = gs.source(path, shuffle=0, one_hot=True)
    source.settle()
    assert source.columns.roles["when"] == "date"
    assert source.settings() == gs.source(path, one_hot=True).settings() | source.settings()
    X, _ = gs.read(source)
    assert source.name(X[0].indices[-1]).startswith("when:")
    with pytest.raises(ValueError, match="shuffle must be a whole number"):
        gs.source(path, shuffle=-1)
    model, same = (gs.OnlineClassifier(alpha=1e-3).fit_source(gs.source(path, shuffle=4)) for _ in range(2))
    assert_array_equal(model.coef_, same.coef_)


def test_tags_move_with_their_rows(tmp_path):
    for block in gs.source(made(tmp_path, "a.vw"), shuffle=2).blocks():
        numbers = [float(block.value[a:b].max()) for a, b in zip(block.starts[:-1], block.starts[1:], strict=True)]
        assert [f"t{int(x)}" for x in numbers] == [
            tag if tag != "t0" else f"t{int(numbers[i])}" for i, tag in enumerate(block.tags)
        ]
