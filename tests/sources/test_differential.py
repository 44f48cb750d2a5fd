"""Text against other readers of the same text: Python's `float` and `csv`, and scikit-learn's svmlight.

GOSSAMER_LONG=1 runs the long forms: 10 million numbers, 100,000 tables, 10,000 svmlight files.
"""

import csv
import io
import math
import os
import random
import re
import struct

import numpy as np
from numpy.testing import assert_array_equal
from sklearn.datasets import load_svmlight_file

import gossamer as gs
from gossamer import _core
from gossamer.sources.blocks import ReadError

LONG = os.environ.get("GOSSAMER_LONG") == "1"
NUMBERS = 10_000_000 if LONG else 100_000
TABLES = 100_000 if LONG else 400
FILES = 10_000 if LONG else 100

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


# Numbers


def any_double(rng):
    return repr(struct.unpack("d", struct.pack("Q", rng.getrandbits(63)))[0])


def short(rng):
    return f"{rng.uniform(-100, 100):.{rng.randrange(9)}f}"


def digits(rng):
    whole = "".join(rng.choices("0123456789", k=rng.randrange(1, 25)))
    places = "".join(rng.choices("0123456789", k=rng.randrange(0, 25)))
    return rng.choice(["", "-", "+"]) + whole + rng.choice(["", ".", "." + places])


def scientific(rng):
    mantissa = (
        digits(rng) if rng.random() < 0.5 else rng.choice(["." + str(rng.randrange(10**6)), str(rng.randrange(99))])
    )
    return mantissa + rng.choice("eE") + rng.choice(["", "-", "+"]) + str(rng.randrange(rng.choice([3, 25, 330])))


def halfway(rng):
    """Return a number near the middle of two doubles, exactly or with one more digit, where rounding is hardest."""
    x = struct.unpack("d", struct.pack("Q", rng.getrandbits(52) | rng.randrange(900, 1150) << 52))[0]
    a, b = x.as_integer_ratio(), math.nextafter(x, math.inf).as_integer_ratio()
    top, bottom = a[0] * b[1] + b[0] * a[1], 2 * a[1] * b[1]
    shift = bottom.bit_length() - 1  # a power of two: top · 5^shift / 10^shift
    text = str(top * 5**shift)
    return f"{text}e-{shift}" if len(text) < 100 or rng.random() < 0.5 else f"{text[:60]}e{len(text) - 60 - shift}"


def extreme(rng):
    return rng.choice(["4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1.7976931348623157e308"]) + (
        "" if rng.random() < 0.5 else "0"
    )


def quotient(rng):
    """Return a number of up to 19 digits with a point, in the middle of two doubles or next to it."""
    top, shift = 2 * rng.randrange(2**52, 2**53) + 1, rng.randrange(1, 4)
    digits = str(top * 5**shift + rng.randrange(-1, 2))
    return f"{'-' * rng.randrange(2)}{digits[:-shift]}.{digits[-shift:]}"


def soup(rng):
    return "".join(rng.choices("0123456789+-.eE", k=rng.randrange(1, 9)))


KINDS = (any_double, short, short, digits, scientific, halfway, extreme, quotient, soup)


def drawn(count, seed):
    rng = random.Random(seed)
    return [KINDS[i % len(KINDS)](rng) for i in range(count)]


def expected(text):
    """Return the number as `float` reads it, or None if it is none or not finite."""
    if NUMBER.fullmatch(text) is None:
        return None
    x = float(text)
    return x if math.isfinite(x) else None


def parsed(parser, lines):
    """Return the numbers that a parser reads, None for bad lines; every good line has one entry."""
    got = parser.parse("".join(lines).encode()).arrays()
    bad = {line - 1 for line, *_ in got["bad"]}
    good = [i for i in range(len(lines)) if i not in bad]
    return bad, good, got


def compare(found, good, wanted, texts):
    theirs = np.array([wanted[i] for i in good])
    differ = np.flatnonzero(found.view(np.uint64) != theirs.view(np.uint64))
    assert len(differ) == 0, [(texts[good[i]], float(found[i]), float(theirs[i])) for i in differ[:5]]


def table_plan(*roles):
    """Return a plan that reads as old models do: zeros are entries, and only empty cells are missing."""
    plan = _core.TablePlan([], False, 1, 1)
    for role in roles:
        plan.add(role)
    return plan


def test_numbers_as_python_reads_them():
    limits = _core.Limits(2**62, True, 2**31 - 1)
    names, classes = _core.NameTable(0, 10), _core.NameTable(0, 10)
    seed = 0
    for begin in range(0, NUMBERS, 100_000):
        texts = drawn(min(100_000, NUMBERS - begin), seed := seed + 1)
        wanted = [expected(text) for text in texts]
        refused = {i for i, x in enumerate(wanted) if x is None}
        assert 0 < len(refused) < len(texts) / 8
        # The value of a feature, followed by another one; the last value of a line; a label; a cell of a table.
        for parser, form, number in (
            (_core.SvmlightParser(0, limits), "1 7:{}\n", lambda got: got["value"]),
            (_core.SvmlightParser(0, limits), "1 1234567:{} 2345678:1\n", lambda got: got["value"][::2]),
            (_core.SvmlightParser(0, limits), "{} 1:1\n", lambda got: got["label"]),
            (
                _core.CsvParser(table_plan("number", "target"), ",", names, classes, limits),
                "{},1\n",
                lambda got: got["value"],
            ),
            (
                _core.CsvParser(table_plan("target", "number"), ";", names, classes, limits),
                '1; "{}"\r\n',
                lambda got: got["value"],
            ),
        ):
            bad, good, got = parsed(parser, [form.format(text) for text in texts])
            assert bad == refused, [texts[i] for i in sorted(bad ^ refused)[:5]]
            compare(number(got), good, wanted, texts)


# svmlight


def svmlight_text(rng):
    zero_based = rng.random() < 0.5
    lines = []
    for _ in range(rng.randrange(0, 12)):
        kind = rng.random()
        if kind < 0.1:
            lines.append(rng.choice(["", "# a comment", "   "]))
            continue
        features = sorted(rng.sample(range(0 if zero_based else 1, 40), rng.randrange(0, 8)))
        pairs = [f"{j}:{rng.choice([short, any_double, scientific])(rng)}" for j in features]
        pairs = [pair for pair in pairs if expected(pair.split(":")[1]) is not None]
        qid = [f"qid:{rng.randrange(5)}"] * (rng.random() < 0.2)
        comment = rng.choice(["", "", " # end", " #1:2"])
        lines.append(
            rng.choice([" ", "  "]).join([rng.choice(["1", "-1", "+1", "0.5", "3e2"]), *qid, *pairs]) + comment
        )
    return rng.choice(["\n", "\r\n"]).join(lines) + rng.choice(["\n", ""]), zero_based


def test_svmlight_as_scikit_learn_reads(tmp_path):
    rng, path, rows = random.Random(1), tmp_path / "a.svm", 0
    for _ in range(FILES):
        text, zero_based = svmlight_text(rng)
        path.write_bytes(text.encode())
        X, y = load_svmlight_file(str(path), n_features=40, zero_based=zero_based)
        ours, labels = gs.read(path, n_features=40, zero_based=zero_based, block=rng.choice([16, 1 << 20]))
        assert_array_equal(labels, y, err_msg=text)
        assert_array_equal(ours.toarray().view(np.uint64), X.toarray().view(np.uint64), err_msg=text)
        rows += len(y)
    assert rows > 3 * FILES


# Tables


WORDS = [
    "red",
    "blue",
    "a b",
    'say "x"',
    '5"',
    '"',
    '""',
    "x,y",
    "x;y",
    "tab\there",
    "line\nbreak",
    "cr\r\nlf",
    "é日",
    " in ",
    "#",
    "'",
]
PLAIN = re.compile(r'(?!")[^,;\t\n\r]*(?<! )')


def table_text(rng):
    """Return the text of a table of words and numbers, and its cells: quoted where they must be, and now and then."""
    delimiter, end = rng.choice(",;\t"), rng.choice(["\n", "\r\n"])
    width = rng.randrange(2, 6)
    rows = []
    for i in range(rng.randrange(1, 12)):
        cells = [rng.choice(WORDS) if rng.random() < 0.8 else "" for _ in range(width)]
        number = "" if rng.random() < 0.2 else rng.choice([short, any_double])(rng)
        rows.append([*cells, number if expected(number) is not None else "1", str(i % 2)])

    def shown(cell):
        if PLAIN.fullmatch(cell) and not cell.startswith(" ") and rng.random() < 0.7:
            return " " * (rng.random() < 0.1) + cell + " " * (rng.random() < 0.1 and bool(cell))
        return " " * (rng.random() < 0.1 and delimiter != " ") + '"' + cell.replace('"', '""') + '"'

    names = [*(f"c{j}" for j in range(width)), "number", "y"]
    lines = [delimiter.join(map(shown, row)) for row in [names, *rows]]
    for _ in range(rng.random() < 0.1):
        lines.insert(rng.randrange(1, len(lines) + 1), "")
    mark = "\ufeff" * (rng.random() < 0.2)
    return mark + end.join(lines) + end * (rng.random() < 0.7), delimiter, names, rows


def by_csv(text, delimiter):
    """Return the rows as Python reads them, without blanks before quotes."""
    reader = csv.reader(
        io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter, skipinitialspace=True
    )
    return [row for row in reader if row]


def as_read(path, width, **options):
    """Return the cells that a source reads; those that are missing make no entry."""
    source = gs.source(path, categories=[f"c{j}" for j in range(width)], one_hot=True, missing=None, **options)
    rows = []
    for block in source.blocks():
        for i in range(len(block)):
            cells = [""] * (width + 2)
            for e in range(block.starts[i], block.starts[i + 1]):
                name, value = source.name(int(block.index[e])), float(block.value[e])
                column, _, word = name.partition("=")
                if column == "number":
                    cells[width] = value
                else:
                    cells[int(column[1:])] = word
            rows.append([*cells[:-1], float(block.label[i])])
    return rows


def test_tables_as_python_reads_them(tmp_path):
    rng, path = random.Random(2), tmp_path / "a.csv"
    for _ in range(TABLES):
        text, delimiter, names, rows = table_text(rng)
        theirs = by_csv(text, delimiter)
        assert [[cell.strip(" ") for cell in row] for row in theirs] == [
            [cell.strip(" ") for cell in row] for row in [names, *rows]
        ]
        path.write_bytes(text.encode())
        wanted = [[*row[:-2], float(row[-2]) if row[-2] else "", float(row[-1])] for row in rows]
        found = as_read(path, len(names) - 2, numbers=["number"], block=rng.choice([1, 7, 40, 1 << 20]))
        assert found == wanted, repr(text)


def test_any_characters_as_python_reads_them(tmp_path):
    """Text at random: where Python reads rows of the right length, so do we, and rows of other lengths are refused."""
    rng, path, read, refused = random.Random(3), tmp_path / "a.csv", 0, 0
    for _ in range(TABLES):
        body = "".join(rng.choices('ab"",\n ', k=rng.randrange(1, 30)))
        body = body if rng.random() < 0.3 else "".join(f"{part},1\n" for part in body.split("\n"))
        text = "c0,c1,y\n" + body
        path.write_text(text)
        try:
            lines = io.StringIO(text, newline="")
            theirs = [row for row in csv.reader(lines, skipinitialspace=True, strict=True) if row][1:]
        except csv.Error:
            theirs = None
        source = gs.source(path, categories=["c0", "c1"], one_hot=True, block=rng.choice([1, 7, 1 << 20]))
        try:
            rows = sum(map(len, source.blocks()))
        except ReadError:
            rows = None
        if theirs is None:  # Python takes no blanks after a closing quote; we do
            continue
        if any(len(row) != 3 for row in theirs):
            assert rows is None, repr(text)
            refused += 1
        elif all(row[2].strip(" ") == "1" for row in theirs):
            assert rows == len(theirs), repr(text)
            words = [[cell.strip(" ") for cell in row[:2]] for row in theirs]
            assert [[cell.strip(" ") for cell in row[:2]] for row in as_read(path, 2)] == words, repr(text)
            read += 1
    assert min(read, refused) > TABLES / 50
