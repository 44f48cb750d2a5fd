"""Data files: odd tables, odd lines, odd encodings, damaged compression."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import gossamer as gs
from attacks.problems import N, run, svmlight, table, write
from attacks.rows import SOUND, Either, Row, exits, raises

HEAD = "x,color,y\n"
GOOD = table().removeprefix(HEAD)


def train(text: str | bytes, *options: str, name: str = "a.csv") -> int:
    """Train on a file; a model that was written must be finite."""
    code = run("train", write(text, name), "-o", "m.gsm", "-q", *options)
    if code == 0:
        model = gs.load("m.gsm")
        assert np.isfinite(model.value).all()
    return code


def numbers_stay_numbers(cell: str) -> int:
    """Train on a column of numbers where one cell is none."""
    lines = GOOD.splitlines()
    lines[7] = f"{cell},red,1"
    return train(HEAD + "\n".join(lines) + "\n")


def many_columns(count: int) -> int:
    names = ",".join(f"c{i}" for i in range(count))
    row = ",".join(["1.5"] * count)
    return train(f"{names},y\n{row},1\n{row},0\n{row},1\n{row},0\n", "--alpha", "0.01")


CSVS: dict[str, tuple[Any, Any]] = {
    "empty": ("", exits(1)),
    "a header only": (HEAD, exits(1, "row")),
    "one line without an end": ("x,y", exits(1)),
    "blank lines only": ("\n\n\n", exits(1)),
    "no target column": ("a,b\n1,2\n3,4\n", exits(1, "target")),
    "one class": (HEAD + "".join(f"{i},red,1\n" for i in range(30)), exits(1, "class")),
    "two columns of one name": ("x,x,y\n1,2,1\n3,4,0\n" * 1 + "5,6,1\n", exits(1, "x")),
    "two target columns": ("y,x,y\n1,2,1\n0,4,0\n", exits(1, "y")),
    "an empty name": ("x,,y\n1,2,1\n3,4,0\n", Either((exits(0), exits(1)))),
    "too few cells": (HEAD + GOOD + "1,red\n", exits(1, "cells")),
    "too many cells": (HEAD + GOOD + "1,red,1,5\n", exits(1, "cells")),
    "an open quote": (HEAD + GOOD + '1,"red,1\n', exits(1, "quote")),
    "text after a quote": (HEAD + GOOD + '1,"red"x,1\n', exits(1, "quot")),
    "a quoted header over two lines": ('x,"col\nor",y\n' + GOOD, Either((exits(0), exits(1, "header")))),
    "UTF-16": ((HEAD + GOOD).encode("utf-16"), exits(1, "UTF-16", "encod")),
    "UTF-16 without a mark": ((HEAD + GOOD).encode("utf-16-le"), exits(1, "UTF-16", "encod", "NUL")),
    "UTF-32": ((HEAD + GOOD).encode("utf-32"), exits(1, "UTF-", "encod")),
    "Latin-1": ((HEAD + GOOD).replace("red", "r\xe9d").encode("latin-1"), Either((exits(0), exits(1)))),
    "bytes that are no text": (bytes(range(256)) * 20, exits(1)),
    "a byte order mark": (b"\xef\xbb\xbf" + table().encode(), exits(0)),
    "line ends of old Macs": (table().replace("\n", "\r"), exits(1)),
    "line ends of Windows": (table().replace("\n", "\r\n"), exits(0)),
    "no line end at the end": (table().rstrip("\n"), exits(0)),
    "a target that is missing": (HEAD + GOOD + "1,red,\n", exits(1, "label")),
    "a target of nan": (HEAD + GOOD + "1,red,nan\n", exits(1)),
    "a formula": (HEAD + GOOD + "1,=cmd|'/c calc'!A1,1\n", exits(0)),
    "a category of 1 MB": (HEAD + GOOD + f"1,{'r' * 1_000_000},1\n", exits(0)),
    "a header of 1 MB": (f"x,{'c' * 1_000_000},y\n" + GOOD, Either((exits(0), exits(1)))),
    "10,000 categories": (HEAD + "".join(f"1,c{i},{i % 2}\n" for i in range(10_000)), exits(0)),
    "a number of 10,000 digits": (HEAD + GOOD + f"{'1' * 10_000},red,1\n", exits(1, "large", "number")),
    "a number of 10,000 decimals": (HEAD + GOOD + f"0.{'1' * 10_000},red,1\n", exits(0)),
    "1e-400": (HEAD + GOOD + "1e-400,red,1\n", exits(0)),
    "1e200": (HEAD + GOOD + "1e200,red,1\n", Either((exits(0), exits(1)))),
}
CELLS = ["inf", "-inf", "1e999", "0x10", "1\x00", "\x00"]
WORDS = ["nan", "1_000", "1\u00a05", "one", "1 2", "--1", "+-1"]  # a column that holds one may be one of categories

SVMS: dict[str, tuple[Any, Any]] = {
    "empty": ("", exits(1)),
    "comments only": ("# a\n# b\n", exits(1)),
    "no colon": ("1 1 2\n", exits(1, "colon")),
    "a label that is a word": ("yes 1:2\n", exits(1, "number")),
    "no label": ("1:2 3:4\n", exits(1, "label")),
    "a feature below zero": ("1 -1:2\n0 1:1\n", exits(1, "feature")),
    "feature 2^31": ("1 2147483648:2\n0 1:1\n", exits(1, "large")),
    "feature 2^31 - 2": ("1 2147483646:2\n0 1:1\n", exits(1, "max-features")),
    "feature 1e30": (f"1 1{'0' * 30}:2\n0 1:1\n", exits(1, "large")),
    "a value of nan": ("1 1:nan\n0 1:1\n", exits(1, "finite")),
    "a value of inf": ("1 1:inf\n0 1:1\n", exits(1, "finite")),
    "a value of 1e999": ("1 1:1e999\n0 1:1\n", exits(1, "large")),
    "a value of 0x10": ("1 1:0x10\n0 1:1\n", exits(1, "space")),
    "a NUL": ("1 1:1\x00\n0 1:1\n", exits(1)),
    "NULs only": (bytes(5000), exits(1)),
    "one class": ("1 1:1\n" * 9, exits(1, "class")),
    "features that fall": ("1 3:1 2:1 1:1\n0 1:1\n", exits(0)),
    "a feature twice": ("1 1:1 1:2\n0 1:1\n", exits(0)),
    "a feature twice, beyond all bounds": ("1 1:1e308 1:1e308\n0 1:1\n", exits(1, "infinity")),
    "values of 1e200": ("1 1:1e200\n0 2:1\n" * 50, Either((exits(0), exits(1)))),
    "values of 1e-320": ("1 1:1e-320\n0 2:1\n" * 50, exits(0)),
    "feature 0 after feature 1": ("1 1:1\n0 0:1\n", exits(0)),
    "a line of 1 MB": ("1 " + " ".join(f"{j}:1" for j in range(1, 100_000)) + "\n0 1:1\n", exits(0)),
    "a label of 1e300 in regression": ("1e300 1:1\n1 2:1\n" * 9, Either((exits(0), exits(1)))),
    "a byte order mark": (b"\xef\xbb\xbf" + svmlight().encode(), Either((exits(0), exits(1)))),
    "UTF-16": (svmlight().encode("utf-16"), exits(1)),
}
VWS: dict[str, tuple[Any, Any]] = {
    "empty": ("", exits(1)),
    "no bar": ("1 a b\n", exits(1, "bar", "number")),
    "an importance below zero": ("1 -2 | a\n-1 | b\n", exits(1, "importance")),
    "an importance of 1e300": ("1 1e300 | a\n-1 | b\n" * 20, Either((exits(0), exits(1)))),
    "importances of zero": ("1 0 | a\n-1 0 | b\n" * 20, Either((exits(0), exits(1)))),
    "an importance of nan": ("1 nan | a\n-1 | b\n", exits(1, "finite", "number")),
    "a namespace of 1e300 and values of 1e300": ("1 |n:1e300 a:1e300\n-1 | b\n", exits(1, "infinite")),
    "a name of 1 MB": (f"1 | {'a' * 1_000_000}\n-1 | b\n", exits(0)),
    "names of odd bytes": (b"1 | \xff\xfe\x80 \xc3\x28\n-1 | b\n" * 9, exits(0)),
    "a bar only": ("|\n|\n", exits(1)),
    "a tag of quotes": ("1 '''' | a\n-1 | b\n" * 9, exits(0)),
    "one class": ("1 | a\n" * 9, exits(1, "class")),
}


def text_rows() -> list[Row]:
    rows = [Row(f"csv: {kind}", partial(train, text), must) for kind, (text, must) in CSVS.items()]
    rows += [
        Row(f"csv: {cell!r} among numbers", partial(numbers_stay_numbers, cell), exits(1, "number", "NUL", "finite"))
        for cell in CELLS
    ]
    rows += [
        Row(f"csv: {cell!r} among numbers", partial(numbers_stay_numbers, cell), Either((exits(0), exits(1, "number"))))
        for cell in WORDS
    ]
    for kind, (text, must) in SVMS.items():
        loss = ("--loss", "squared") if "regression" in kind else ()
        rows.append(Row(f"svmlight: {kind}", partial(train, text, *loss, name="a.svm"), must))
    rows += [Row(f"vw: {kind}", partial(train, text, name="a.vw"), must) for kind, (text, must) in VWS.items()]
    rows += [
        Row("csv: 8,000 columns", partial(many_columns, 8_000), exits(0), seconds=3.0),
        Row("csv: 100,000 columns", partial(many_columns, 100_000), exits(0), seconds=4.0),
        Row("csv: a header without rows of a hundred files", hundred_files, exits(1)),
    ]
    return rows


def hundred_files() -> int:
    for i in range(100):
        write(HEAD, f"f{i}.csv")
    return run("train", "f*.csv", "-o", "m.gsm")


def bomb(megabytes: int) -> bytes:
    """Return a gzip file of one line of spaces."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    piece = b" " * (1 << 20)
    return b"".join(packer.compress(piece) for _ in range(megabytes)) + packer.flush()


def compressed_rows() -> list[Row]:
    good = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    rows = []
    for kind, pack in good.items():
        whole = pack(svmlight(400).encode())
        broken = bytearray(whole)
        broken[len(broken) // 2 :] = bytes(b ^ 255 for b in broken[len(broken) // 2 :])
        rows += [
            Row(f"{kind}: whole", partial(train, whole, name="a.svm"), exits(0)),
            Row(
                f"{kind}: cut in half",
                partial(train, whole[: len(whole) // 2], name="a.svm"),
                exits(1, "trunc", "corrupt"),
            ),
            Row(
                f"{kind}: all but the last byte", partial(train, whole[:-1], name="a.svm"), exits(1, "trunc", "corrupt")
            ),
            Row(f"{kind}: the magic word only", partial(train, whole[:6], name="a.svm"), exits(1, "trunc", "corrupt")),
            Row(
                f"{kind}: broken in the middle",
                partial(train, bytes(broken), name="a.svm"),
                exits(1, "corrupt", "trunc"),
            ),
            Row(f"{kind}: a compressed empty file", partial(train, pack(b""), name="a.svm"), exits(1, "row")),
            Row(
                f"{kind}: text after the end",
                partial(train, whole + b"1 1:1\n", name="a.svm"),
                Either((exits(0), exits(1))),
            ),
            Row(
                f"{kind}: a table cut short",
                partial(train, pack(table(400).encode())[:-9]),
                exits(1, "trunc", "corrupt"),
            ),
        ]
    rows += [
        Row(
            "a gzip bomb: one line of 140 MB",
            lambda: train(bomb(140), name="a.svm"),
            exits(1, "long"),
            seconds=20.0,
            megabytes=900,
            needs_limit=True,
        ),
        Row(
            "a gzip bomb that is a table: one line of 140 MB",
            lambda: train(bomb(140)),
            exits(1),
            seconds=20.0,
            megabytes=1500,
            needs_limit=True,
        ),
    ]
    return rows


def read(text: str | bytes, name: str, **options: Any) -> Any:
    return gs.read(write(text, name), **options)


def wide() -> None:
    X, y = gs.read(write("1 2147483646:3\n0 1:1\n", "a.svm"))
    assert X.shape == (2, 2**31 - 2)
    assert y.tolist() == [1.0, 0.0]


def source_rows() -> list[Row]:
    value = raises(ValueError)
    return [
        Row("read: 2^31 - 2 columns", wide, SOUND),
        Row("read: an unknown format", partial(read, "1 1:1\n", "a.svm", format="xml"), raises(ValueError, "xml")),
        Row("read: an unknown option", partial(read, "1 1:1\n", "a.svm", color="red"), raises(TypeError, "color")),
        Row("read: a format that cannot be found", partial(read, "hello world\n", "a"), raises(ValueError, "format")),
        Row("read: fewer features than the data has", partial(read, "1 9:1\n", "a.svm", n_features=3), value),
        Row("read: a folder", lambda: Path("f.svm").mkdir() or gs.read("f.svm"), raises(OSError, "folder")),
        Row("read: no file", lambda: gs.read("none.svm"), raises(OSError, "none.svm")),
        Row("read: a pattern without files", lambda: gs.read("none*.svm"), raises(OSError, "none")),
        Row("read: an empty list of files", lambda: gs.read([]), raises(ValueError, "file")),
        Row(
            "read: on_error that is unknown",
            partial(read, "1 1:1\n", "a.svm", on_error="pray"),
            raises(ValueError, "pray"),
        ),
        Row("read: bits of 99", partial(read, "1 | a\n", "a.vw", bits=99), raises(ValueError, "bits")),
        Row(
            "read: a block of -5",
            partial(read, svmlight(), "a.svm", block=-5),
            raises((ValueError, TypeError), "block"),
        ),
        Row("read: a block of one byte", block_of_one, SOUND),
        Row("read: Parquet that is text", partial(read, "hello", "a.parquet"), raises((ValueError, OSError))),
        Row("read: Arrow that is cut short", partial(read, b"ARROW1\x00\x00" + bytes(50), "a.arrow"), value),
        Row("read: /dev/null", lambda: gs.read("/dev/null", format="svmlight"), SOUND),
        Row("train: /dev/null", lambda: run("train", "/dev/null", "--format", "svmlight", "-o", "m"), exits(1)),
        Row("source: rows of different widths", lambda: different_widths(), raises(ValueError)),
        Row("source: an iterator that raises", lambda: failing_iterator(), raises(RuntimeError, "the data base")),
        Row(
            "source: an iterator of words",
            lambda: gs.OnlineClassifier().fit_source(iter(["a", "b"])),
            raises((ValueError, TypeError)),
        ),
        Row("source: twice from an iterator", lambda: twice_from_iterator(), raises(ValueError, "once")),
    ]


def block_of_one() -> None:
    X, y = gs.read(write(svmlight(), "a.svm"), block=1)
    assert X.shape[0] == len(y) == N


def different_widths() -> None:
    blocks = [(np.ones((2, 3)), [0, 1]), (np.ones((2, 3, 4)), [0, 1])]
    gs.OnlineClassifier().fit_source(iter(blocks), classes=[0, 1])


def failing_iterator() -> None:
    def blocks() -> Any:
        yield np.ones((2, 3)), [0, 1]
        raise RuntimeError("the data base is gone")

    gs.OnlineClassifier().fit_source(blocks(), classes=[0, 1])


def twice_from_iterator() -> None:
    blocks = iter([(np.ones((2, 3)), [0, 1])])
    gs.OnlineClassifier(max_passes=2).fit_source(blocks, classes=[0, 1])


ROWS = [*text_rows(), *compressed_rows(), *source_rows()]
