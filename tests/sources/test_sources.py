"""Sources: what is read is what a slow reader reads, however the bytes are cut, packed or broken."""

import bz2
import contextlib
import gzip
import io
import lzma
import math
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import gossamer as gs
from gossamer import sources
from gossamer.sources import blocks as blocks_module
from gossamer.sources import text as text_module
from gossamer.sources.blocks import Position, ReadError

random = np.random.default_rng(0)
DENSE = np.round(random.normal(size=(60, 12)) * (random.random((60, 12)) < 0.4), 3)
LABELS = np.where(DENSE @ random.normal(size=12) > 0, 1, -1)


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def svmlight_text(X=DENSE, y=LABELS, zero_based=False):
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, zero_based=zero_based)
    return file.getvalue()


def slow_svmlight(text):
    """Read svmlight text the obvious way: rows as dictionaries."""
    rows, labels = [], []
    for line in text.decode().splitlines():
        words = line.split("#")[0].split()
        if words:
            labels.append(float(words[0]))
            rows.append({})
            for word in words[1:]:
                j, x = word.split(":")
                if j != "qid":
                    rows[-1][int(j)] = rows[-1].get(int(j), 0.0) + float(x)
    return rows, labels


def as_rows(X):
    X = sp.csr_array(X)
    return [
        dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
        for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]


# svmlight


@pytest.mark.parametrize("zero_based", [True, False])
def test_as_scikit_learn_reads(tmp_path, zero_based):
    path = written(tmp_path / "a.svm", svmlight_text(zero_based=zero_based))
    X, y = gs.read(path)
    theirs, labels = load_svmlight_file(str(path))
    assert_array_equal(X.toarray(), theirs.toarray())
    assert_array_equal(y, labels)
    assert X.has_canonical_format


number_words = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e6, 1e6).map(lambda x: f"{x:.6g}"),
    st.integers(-(10**25), 10**25).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=25, min_value=-9, max_value=9).map(str),
    st.sampled_from(["+1", "-0", "5.", ".5", "1e-400", "4.9e-324", "2.2250738585072011e-308", "0.1E+2", "00012.50"]),
)


@given(st.lists(number_words, min_size=1, max_size=20))
def test_numbers_are_read_exactly(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("n") / "n.svm"
    written(path, "".join(f"{word} 1:{word}\n" for word in words))
    X, y = gs.read(path)
    assert_array_equal(y, [float(word) for word in words])
    assert_array_equal(X.toarray()[:, 0], [float(word) for word in words])


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.lists(st.tuples(st.integers(0, 30), st.integers(-9, 9)))), max_size=12),
    st.integers(1, 60),
    st.sampled_from(["\n", "\r\n", " \n", "\t# a comment 3:4\n", "\n\n# nothing\n"]),
    st.booleans(),
)
def test_any_order_any_cut_any_line_end(tmp_path_factory, rows, block, end, final):
    lines = [f"{y} qid:7 " + "  ".join(f"{j}:{x}" for j, x in entries) for y, entries in rows]
    text = (end.join(lines) + (end if final else "")).encode()
    path = written(tmp_path_factory.mktemp("c") / "c.svm", text)
    X, y = gs.read(path, zero_based=True, block=block, n_features=31)
    expected, labels = slow_svmlight(text)
    assert as_rows(X) == expected
    assert_array_equal(y, labels)


def test_positions_lead_back(tmp_path):
    text = svmlight_text() + b"1 1:2"
    paths = [written(tmp_path / "a.svm", text), written(tmp_path / "b.svm.gz", gzip.compress(text))]
    source = gs.source(paths, block=100)
    blocks = list(source.blocks())
    assert blocks[-1].position.rows == 122
    assert blocks[-1].share == 1.0
    for i, block in enumerate(blocks):
        rest = list(source.blocks(block.position))
        assert [b.position for b in rest] == [b.position for b in blocks[i + 1 :]]
        assert all((a.index == b.index).all() for a, b in zip(rest, blocks[i + 1 :], strict=True))


BAD_LINES = {
    "no label": (b"1:2 3:4", 2, "a label is one number"),
    "a word for a label": (b"spam 3:4", 1, "a number is needed"),
    "a label that is not finite": (b"nan 3:4", 1, "not finite"),
    "an infinite value": (b"1 3:inf", 5, "not finite"),
    "a value too large": (b"1 3:1e999", 5, "too large"),
    "values that add up to infinity": (b"1 3:1.7e308 3:1.7e308", None, "add up to infinity"),
    "no value": (b"1 3:", 5, "a number is needed"),
    "no colon": (b"1 3 4:1", 4, "a colon is needed"),
    "no feature": (b"1 :3", 3, "a feature number is needed"),
    "a negative feature": (b"1 -3:1", 3, "a feature number is needed"),
    "a feature beyond 2^31": (b"1 3000000000:1", 3, "too large"),
    "a feature beyond 2^64": (b"1 30000000000000000000000:1", 3, "too large"),
    "two signs": (b"1 3:--5", 5, "a number is needed"),
    "no space": (b"1 3:5,4:1", 6, "a space is needed"),
    "junk": (b"\x00\xff\x13PK", 1, "a number is needed"),
    "an exponent cut short": (b"1 3:5e", 6, "a space is needed"),
}


@pytest.mark.parametrize(("line", "column", "reason"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_says_where_and_why(tmp_path, line, column, reason):
    path = written(tmp_path / "bad.svm", b"1 1:1\n# fine\n" + line + b"\r\n-1 2:1\n")
    with pytest.raises(ReadError) as caught:
        gs.read(path)
    words = str(caught.value)
    assert f"{path}, line 3, column {column or ''}" in words
    assert reason in words
    X, y = gs.read(path, on_error="skip")
    assert_array_equal(X.toarray(), [[1, 0], [0, 1]])
    assert_array_equal(y, [1, -1])
    kept = tmp_path / "kept.txt"
    source = gs.source(path, on_error=("quarantine", kept))
    assert sum(map(len, source.blocks())) == 2
    assert source.rejects.count == 1
    assert kept.read_bytes() == line + b"\n"


def test_a_zero_in_a_file_that_counts_from_one(tmp_path):
    path = written(tmp_path / "late.svm", b"1 1:1 2:1\n" * 30 + b"1 0:1\n")
    with pytest.raises(ReadError, match="line 31, column 3: feature 0, but the features of this file count from 1"):
        gs.read(path, block=64)
    assert gs.read(path, zero_based=True, block=64)[0].shape == (31, 3)


def test_a_feature_that_would_claim_all_memory(tmp_path):
    path = written(tmp_path / "wide.svm", b"1 1:1\n-1 2000000000:1\n")
    with pytest.raises(ReadError, match="beyond max_features"):
        gs.OnlineClassifier().fit_source(path)
    assert gs.read(path)[0].shape == (2, 2_000_000_000)


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# only words\n", b"\r\n"])
def test_nothing_to_read(tmp_path, text):
    path = written(tmp_path / "empty.svm", text)
    X, y = gs.read(path, n_features=3)
    assert X.shape == (0, 3)
    assert len(y) == 0
    with pytest.raises(ValueError, match="no rows"):
        gs.OnlineClassifier().fit_source(path, classes=[0, 1])


def test_short_pairs_are_read_to_the_last_bit(tmp_path):
    rng, words = np.random.default_rng(0), []
    for _ in range(20_000):
        whole, places = rng.integers(0, 10 ** rng.integers(1, 10)), rng.integers(0, 11)
        word = f"{whole}.{rng.integers(0, 10**places):0{places}}" if places else str(whole)
        words.append(("-" if rng.random() < 0.3 else "") + word)
    features = np.sort(rng.choice(30_000_000, len(words), replace=False)) + 1
    rows = np.array_split(np.arange(len(words)), 500)
    lines = ["1 " + " ".join(f"{features[n]}:{words[n]}" for n in row) for row in rows]
    X, _ = gs.read(written(tmp_path / "a.svm", "\n".join(lines)))
    assert_array_equal(X.indices, features - 1)
    assert_array_equal(X.data, [float(word) for word in words])
    for word in ("1:0.5\t2:1", "1:.5 2:1", "1:5. 2:1", "1:5e-1 2:1", "1:+0.5 2:1", "1:0.5  2:1 # x", "1:0.5\r"):
        X, _ = gs.read(written(tmp_path / "b.svm", f"1 {word}\n-1 30:0.25 31:0.125 32:0.0625\n"))
        assert X.data[0] == (5.0 if word.startswith("1:5. ") else 0.5)
    for word, column in (("1:0.5x 2:1", 8), ("1:0..5 2:1", 7), ("1:--5 2:1", 5), ("0:0.5 1:1", 3), ("1.5:1 2:1", 4)):
        with pytest.raises(ReadError, match=f"line 1, column {column}:"):
            gs.read(written(tmp_path / "c.svm", f"1 {word}\n-1 30:0.25 31:0.125 32:0.0625\n"), zero_based=False)


def test_a_long_line(tmp_path, monkeypatch):
    n = 200_000
    line = b"1 " + b" ".join(b"%d:1" % j for j in range(1, n + 1))
    path = written(tmp_path / "long.svm", b"-1 1:1\n" + line + b"\n1 2:1\n")
    X, _ = gs.read(path, block=1000)
    assert X.shape == (3, n)
    assert X.nnz == n + 2
    monkeypatch.setattr(text_module, "LONGEST", 10_000)
    with pytest.raises(ReadError, match="line 2, column 10000: the line is longer than 10000 bytes"):
        gs.read(path, block=1000)
    X, y = gs.read(path, block=1000, on_error="skip")
    assert_array_equal(y, [-1, 1])
    assert_array_equal(X.toarray(), [[1, 0], [0, 1]])


PEAK = """
import sys
import gossamer as gs
try:
    X, y = gs.read(sys.argv[1], "svmlight", max_features=2**26, on_error=sys.argv[2])
    print(X.shape, X.nnz, y.tolist())
except ValueError as error:
    print(str(error)[:300])
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")  # noqa: PTH110
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer takes memory of its own")
def test_lines_of_a_hundred_megabytes(tmp_path):
    """They are read, or refused in words if they are longer still; memory stays within a few times their length."""

    def told(*words):
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *map(str, words)], capture_output=True, text=True, check=True
        )
        *said, peak = done.stdout.splitlines()
        return "\n".join(said), int(peak) / 1024

    path, n = tmp_path / "long.svm", 9_000_000
    with path.open("wb") as file:
        file.write(b"-1 1:1\n1")
        for first in range(1, n + 1, 100_000):
            file.write(b"".join(b" %d:0.5" % j for j in range(first, first + 100_000)))
        file.write(b"\n1 2:1\n")
    size = path.stat().st_size / 2**20
    assert size > 95
    said, peak = told(path, "stop")
    assert said == f"(3, {n}) {n + 2} [-1.0, 1.0, 1.0]"
    assert peak < 8 * size
    with path.open("wb") as file:
        file.write(b"-1 1:1\n")
        for _ in range(200):
            file.write(b"1" * 2**20)  # a number of 200 million digits
        file.write(b"\n1 2:1\n")
    said, peak = told(path, "stop")
    assert "line 2, column 134217728: the line is longer than 134217728 bytes" in said
    assert peak < 600
    assert told(path, "skip")[0] == "(2, 2) 2 [-1.0, 1.0]"
    path.write_bytes(np.random.default_rng(0).bytes(10**8).replace(b"\n", b"x"))
    said, peak = told(path, "stop")
    assert "line 1, column 1: a number is needed here" in said
    assert peak < 800


# Files


def zstd(text):
    return pytest.importorskip("zstandard").ZstdCompressor().compress(text)


PACKERS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_compression_is_told_by_the_bytes(tmp_path, pack):
    text = svmlight_text()
    path = written(tmp_path / "packed.svm", pack(text[:1000]) + pack(text[1000:]))  # two members
    X, y = gs.read(path)
    assert_array_equal(X.toarray(), DENSE)
    assert_array_equal(y, LABELS)


@pytest.mark.parametrize("kind", [k for k in PACKERS if k != "plain"])
@pytest.mark.parametrize("keep", [20, 0.5, -1])
def test_compressed_data_that_is_cut_short(tmp_path, kind, keep):
    packed = PACKERS[kind](random.bytes(0) + svmlight_text() * 20)
    cut = packed[: keep if isinstance(keep, int) else int(keep * len(packed))]
    with pytest.raises(ReadError, match="compressed data"):
        gs.read(written(tmp_path / "cut.svm", cut))


@pytest.mark.parametrize("kind", [k for k in PACKERS if k != "plain"])
def test_compressed_data_that_is_broken(tmp_path, kind):
    packed = bytearray(PACKERS[kind](svmlight_text() * 20))
    packed[len(packed) // 2] ^= 0xFF
    with pytest.raises(ReadError):
        gs.read(written(tmp_path / "broken.svm", bytes(packed)))


def test_patterns_and_lists(tmp_path):
    for i in range(3):
        written(tmp_path / f"part{i}.svm", f"{i} 1:{i}\n")
    assert_array_equal(gs.read(tmp_path / "part*.svm")[1], [0, 1, 2])
    assert_array_equal(gs.read([tmp_path / "part2.svm", tmp_path / "part[01].svm"])[1], [2, 0, 1])
    with pytest.raises(FileNotFoundError, match="No file matches"):
        gs.read(tmp_path / "nothing*.svm")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        gs.read(tmp_path / "nothing.svm")
    with pytest.raises(IsADirectoryError, match="name its files"):
        gs.read(tmp_path)
    with pytest.raises(ValueError, match="No file was named"):
        gs.read([])


def test_standard_input(tmp_path):
    code = "import gossamer as gs; X, y = gs.read('-', 'svmlight'); print(X.shape, y.sum())"
    for pack in (bytes, gzip.compress):
        run = subprocess.run([sys.executable, "-c", code], input=pack(svmlight_text()), capture_output=True, check=True)
        assert run.stdout.decode().split() == ["(60,", "12)", str(float(LABELS.sum()))]


def test_a_pipe(tmp_path):
    pipe = tmp_path / "pipe.svm"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(svmlight_text()))
    writer.start()
    source = gs.source(pipe)
    assert not source.rereadable
    assert sum(map(len, source.blocks())) == 60
    writer.join()


def test_an_unknown_format(tmp_path):
    with pytest.raises(ValueError, match="There is no format 'arff'"):
        gs.source(written(tmp_path / "x", "1 1:1\n"), "arff")
    with pytest.raises(ValueError, match="is unknown; give it"):
        gs.source(written(tmp_path / "y", "once upon a time\n"))
    assert gs.read(written(tmp_path / "z", "# hello\n1 1:1\n"))[0].shape == (1, 1)


def test_the_reader_stops_when_nobody_listens(tmp_path):
    path = written(tmp_path / "a.svm", svmlight_text() * 50)
    before = threading.active_count()
    for _ in gs.source(path, block=50).blocks():
        break
    assert threading.active_count() == before


def test_memory_is_bounded_whatever_the_size(tmp_path):
    path, block = tmp_path / "pipe.svm", 1 << 14
    os.mkfifo(path)
    line, written_so_far = b"1 1:1 2:1 3:1\n" * 1024, []

    def write():
        with contextlib.suppress(BrokenPipeError), path.open("wb", buffering=0) as file:
            for _ in range(2000):
                file.write(line)
                written_so_far.append(len(line))

    thread = threading.Thread(target=write)
    thread.start()
    stream = gs.source(path, block=block).blocks()
    next(stream)
    threading.Event().wait(0.3)
    assert sum(written_so_far) <= (text_module.AHEAD + text_module.FIRST + 2) * block + (1 << 18)  # and a pipe's worth
    stream.close()
    thread.join()
    assert sum(written_so_far) < 2000 * len(line)


def test_blocks_of_an_iterator_are_made_as_they_are_needed():
    made = []
    stream = gs.source((made.append(1) or (np.ones((3, 2)), np.ones(3))) for _ in range(1000)).blocks()
    next(stream)
    threading.Event().wait(0.2)
    assert len(made) <= blocks_module.AHEAD + 3
    stream.close()


def test_files_that_are_many_and_small(tmp_path):
    for k in range(30):
        written(tmp_path / f"{k:02}.svm", b"" if k % 7 == 3 else b"%d 1:%d" % (k, k + 1))
    X, y = gs.read(str(tmp_path / "*.svm"))
    kept = [k for k in range(30) if k % 7 != 3]
    assert_array_equal(y, kept)
    assert_array_equal(X.toarray()[:, 0], np.add(kept, 1))


def test_the_second_file_fails_after_the_first_was_read(tmp_path):
    paths = [written(tmp_path / "a.csv", b"y,x\n1,2\n"), written(tmp_path / "b.csv", b"y,z\n1,2\n")]
    stream = gs.source(paths).blocks()
    assert len(next(stream)) == 1
    with pytest.raises(ReadError, match="the columns are not those of"):
        next(stream)


def test_a_pipe_that_stays_silent_can_be_left(tmp_path):
    path = tmp_path / "pipe.svm"
    os.mkfifo(path)
    file = os.open(path, os.O_RDWR)
    try:
        os.write(file, b"1 1:1\n")
        source = gs.source(path, block=100)
        source.begin()
        threading.Event().wait(0.1)
        source.close()  # comes back though the writer is still there
    finally:
        os.close(file)


# Estimators


STREAMS = {
    "default": {},
    "fobos": {"method": gs.Fobos(1.0)},
    "rda": {"method": gs.RDA(1.0)},
    "averaged": {"average": True},
    "two passes": {"max_passes": 2},
    "coupled": {"penalty": gs.L2(), "method": gs.Fobos(0.5)},
    "ball": {"penalty": gs.L1Ball(3.0)},
    "eg": {"penalty": "none", "method": gs.ExponentiatedGradient(2.0, 0.1)},
}


@pytest.mark.parametrize("settings", STREAMS.values(), ids=STREAMS)
def test_a_source_teaches_what_its_rows_teach(tmp_path, settings):
    path = written(tmp_path / "a.svm", svmlight_text())
    model = gs.OnlineClassifier(**{"alpha": 1e-3, "shuffle": False} | settings)
    model.fit_source(path, block=300)
    whole = gs.OnlineClassifier(**{"alpha": 1e-3, "shuffle": False} | settings).fit(*gs.read(path))
    assert_array_equal(model.coef_, whole.coef_)
    assert_array_equal(model.intercept_, whole.intercept_)
    assert_array_equal(model.classes_, [-1, 1])
    assert (model.t_, model.n_features_in_, model.n_iter_) == (whole.t_, 12, whole.n_iter_)


@pytest.mark.parametrize(
    "settings", [{}, {"alphas": 5, "max_passes": 3}, {"method": "fobos"}, {"method": "ftrl"}], ids=str
)
def test_a_source_teaches_a_path(tmp_path, settings):
    late = b"".join(b"%d %d:1 1:0.5\n" % (1 - 2 * (i % 2), 100 * i + 2) for i in range(60))
    for text in (svmlight_text(), late):
        path = written(tmp_path / "a.svm", text)
        model = gs.OnlineClassifierCV(**{"shuffle": False} | settings).fit_source(path, block=300)
        whole = gs.OnlineClassifierCV(**{"shuffle": False} | settings).fit(*gs.read(path))
        assert_array_equal(model.coef_, whole.coef_)
        assert_array_equal(model.path_loss_, whole.path_loss_)
        assert_array_equal(model.path_nonzeros_, whole.path_nonzeros_)
        assert (model.alpha_, model.t_, model.n_iter_) == (whole.alpha_, whole.t_, whole.n_iter_)
        assert_array_equal(model.at(model.alphas_[2]).coef_, whole.at(whole.alphas_[2]).coef_)
        parts = gs.OnlineClassifierCV(**settings)
        lines = text.splitlines(keepends=True)
        for i in range(0, len(lines), 30):
            parts.partial_fit_source(written(tmp_path / "b.svm", b"".join(lines[i : i + 30])))
        if settings.get("max_passes", 1) == 1:
            assert_array_equal(parts.coef_, whole.coef_)
            assert_array_equal(parts.path_loss_, whole.path_loss_)


@pytest.mark.parametrize("kinds", [(np.float64, np.float64), (np.int32, np.int32), (np.float32, np.float64)])
def test_long_arrays_are_joined(kinds):
    parts = [np.arange(600_000 + i).astype(kind) for i, kind in enumerate(kinds)]
    joined = sources._joined(parts, np.float64)
    assert joined.dtype == kinds[1]
    assert joined.flags.writeable
    assert_array_equal(joined, np.concatenate(parts))


def test_features_that_come_late(tmp_path):
    text = b"".join(b"%d %d:1 1:0.5\n" % (1 - 2 * (i % 2), 100 * i + 2) for i in range(60))
    path = written(tmp_path / "a.svm", text)
    for settings in ({}, {"average": True}, {"method": gs.Fobos(1.0), "penalty": "group_l2"}):
        model = gs.OnlineClassifier(alpha=1e-3, shuffle=False, **settings).fit_source(path, block=100)
        whole = gs.OnlineClassifier(alpha=1e-3, shuffle=False, **settings).fit(*gs.read(path))
        assert_array_equal(model.coef_, whole.coef_)


def test_partial_fit_source_goes_on(tmp_path):
    text = svmlight_text().splitlines(keepends=True)
    first, second = (written(tmp_path / f"{i}.svm", b"".join(text[30 * i : 30 * i + 30])) for i in range(2))
    model = gs.OnlineClassifier(alpha=1e-3)
    model.partial_fit_source(first).partial_fit_source(second)
    whole = gs.OnlineClassifier(alpha=1e-3, shuffle=False, center=False).fit(DENSE, LABELS)
    assert_array_equal(model.coef_, whole.coef_)


@pytest.mark.parametrize("ordered", [False, True])
def test_classes_of_a_source(tmp_path, ordered):
    y = random.integers(3, 6, 60)
    y = np.sort(y) if ordered else y
    path = written(tmp_path / "a.svm", svmlight_text(y=y))
    model = gs.OnlineClassifier().fit_source(path, block=200)
    assert_array_equal(model.classes_, [3, 4, 5])
    assert model.classes_.dtype == np.int64
    with pytest.raises(ValueError, match=r"label 4\.0, which is not one of the classes 3, 5"):
        gs.OnlineClassifier().fit_source(path, classes=[3, 5], block=200)
    grown = gs.OnlineClassifier(grow=True).fit_source(path, block=200)
    assert sorted(grown.classes_.tolist()) == [3, 4, 5]


def test_usual_classes_need_no_second_reading(tmp_path, monkeypatch):
    path = written(tmp_path / "a.svm", b"-1 1:1\n" * 9 + b"1 2:1\n")
    source = gs.source(path, block=8)
    monkeypatch.setattr(source, "survey", None)
    assert_array_equal(gs.OnlineClassifier().fit_source(source).classes_, [-1, 1])
    only = written(tmp_path / "b.svm", b"1 1:1\n" * 5)
    with pytest.raises(ValueError, match="one class only"):
        gs.OnlineClassifier().fit_source(only)


def test_regression_from_a_source(tmp_path):
    y = np.round(DENSE @ np.arange(12), 3)
    path = written(tmp_path / "a.svm", svmlight_text(y=y))
    model = gs.OnlineRegressor(alpha=1e-3, shuffle=False).fit_source(path, block=200)
    X, labels = gs.read(path)
    assert_array_equal(model.coef_, gs.OnlineRegressor(alpha=1e-3, shuffle=False).fit(X, labels).coef_)
    assert math.isfinite(model.progressive_loss_)


def test_a_bad_line_leaves_the_estimator_unfitted(tmp_path):
    path = written(tmp_path / "a.svm", svmlight_text() + b"oops\n")
    model = gs.OnlineClassifier()
    with pytest.raises(ReadError, match="line 61"):
        model.fit_source(path, block=300)
    assert not hasattr(model, "coef_")


def test_options_of_a_source_are_given_once(tmp_path):
    path = written(tmp_path / "a.svm", svmlight_text())
    with pytest.raises(ValueError, match="as it was made"):
        gs.source(gs.source(path), zero_based=True)
    with pytest.raises(ValueError, match="zero_based must be"):
        gs.source(path, zero_based=2)


def test_class_weights(tmp_path):
    path = written(tmp_path / "a.svm", svmlight_text())
    weights = {-1: 2.0, 1: 0.5}
    model = gs.OnlineClassifier(class_weight=weights, shuffle=False).fit_source(path, block=200)
    whole = gs.OnlineClassifier(class_weight=weights, shuffle=False, center=False).fit(DENSE, LABELS)
    assert_allclose(model.coef_, whole.coef_, rtol=1e-12)


def test_start_of_a_source():
    assert Position() == Position(0, 0, 0, 0)
