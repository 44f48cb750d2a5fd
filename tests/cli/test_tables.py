"""Raw tables at the command line: a table of what is given → what must be said, and how the command ends."""

import json
import math
import random

import pytest

import gossamer as gs
from gossamer.cli import arguments as cli


def table(header, row, rows=400, seed=0):
    """Return the text of a table whose rows come from a function of a source of random numbers and the row's number."""
    draw = random.Random(seed)
    return "\n".join([header, *(",".join(map(str, row(draw, i))) for i in range(rows))]) + "\n"


def price(draw, i):
    x, city = draw.gauss(50, 10), draw.choice(["Rome", "Oslo", "Lyon"])
    return x, city, round(3 * x + {"Rome": 40}.get(city, 0) + draw.gauss(0, 5), 2)


def gaps(draw, i):
    x, y = draw.gauss(0, 1), draw.gauss(0, 1)
    cell = draw.choice(["NA", "?", "-", "null", "N/A", ""]) if draw.random() < 0.1 else f"{x:.3f}"
    return cell, f"{y:.3f}", "yes" if x + y > 0 else "no"


def late(draw, i):
    x = draw.gauss(0, 1)
    return "NA" if i == 1150 else f"{x:.3f}", int(x > 0)


def ordered(draw, i):
    y = int(i >= 200)
    return draw.gauss(y, 1), draw.gauss(0, 1), y


def identified(draw, i):
    x = draw.gauss(0, 1)
    return f"u{10_000 + 3 * i}", f"{x:.3f}", int(x + draw.gauss(0, 1) > 0)


def leaking(draw, i):
    y = draw.random() < 0.4
    return draw.gauss(y, 1), "closed" if y else "open", "won" if y else "lost"


def constant(draw, i):
    x = draw.gauss(0, 1)
    return 7, f"{x:.3f}", int(x > 0)


def review(draw, i):
    good = draw.random() < 0.5
    words = draw.choices(["the", "a", "film", "plot", "it", "was", "and", "with"], k=8)
    words[draw.randrange(8)] = draw.choice(["great", "superb"] if good else ["awful", "boring"])
    return " ".join(words), "up" if good else "down"


def dated(draw, i):
    month, day = draw.randrange(1, 13), draw.randrange(1, 29)
    return f"2024-{month:02}-{day:02}", f"{draw.gauss(10 * (month > 6), 2):.2f}"


def visits(draw, i):
    x = draw.gauss(0, 0.7)
    mean, count, left = math.exp(1 + x), 0, draw.random()
    share = math.exp(-mean)
    while left > share:
        left, count = left - share, count + 1
        share *= mean / count
    return f"{x:.3f}", count


def flower(draw, i):
    kind = draw.randrange(3)
    return f"{draw.gauss(kind, 0.5):.2f}", f"{draw.gauss(-kind, 0.5):.2f}", ["setosa", "versicolor", "virginica"][kind]


def coded(draw, i):
    kind = draw.choice([1005, 1010, 20596, 31001])
    return kind, f"{draw.gauss(0, 1):.2f}", int((kind in (1010, 31001)) ^ (draw.random() < 0.1))


def nameless(draw, i):
    """Codes whose columns have no names; in one of them the codes are small."""
    codes = [draw.choice([1005, 1010, 20596]), draw.choice([320, 300, 216]), draw.choice([1722, 2299, 79])]
    small = draw.randrange(4)
    return *codes, small, draw.randrange(9), int((small in (1, 3)) ^ (draw.random() < 0.1))


def noise(draw, i):
    return f"{draw.gauss(0, 1):.2f}", f"{draw.gauss(0, 1):.2f}", int(draw.random() < 0.3)


def coded_gap(draw, i):
    x = draw.gauss(20, 5)
    return -99 if draw.random() < 0.2 else f"{x:.1f}", f"{x + draw.gauss(0, 1):.2f}"


def labelled(draw, i):
    kind = draw.randrange(40)
    return f"{draw.gauss(kind, 0.3):.2f}", 1 + kind


def measures(draw, i):
    """Columns whose units differ by a factor of a million, and a target far from zero."""
    a, b = draw.gauss(1000, 200), draw.gauss(0.003, 0.0005)
    return f"{a:.1f}", f"{b:.6f}", f"{500 + 0.1 * a - 8000 * b + draw.gauss(0, 2):.2f}"


def decimal_comma(draw, i):
    x = draw.gauss(0, 1)
    return f"{x:.3f}".replace(".", ","), f"{3 * x + draw.gauss(0, 0.1):.2f}"


def unnamed(draw, i):
    x = draw.gauss(0, 1)
    return i, f"{x:.3f}", int(x + draw.gauss(0, 1) > 0)


PRICES = table("area,city,price", price)
PIPES = PRICES.replace(",", "|")
TRAIN = {  # the table, options, exit code, and what must be said
    "numbers": (PRICES, "--target price", 0, ["different numbers", "regression (--loss squared)"]),
    "numbers as classes": (
        PRICES,
        "--target price --loss logistic",
        2,
        ["'price' holds", "different numbers in 400 rows: that is regression", "Use --loss squared", "--classes"],
    ),
    "counts": (table("x,visits", visits), "--target visits", 0, ["counts, 0 …", "--loss poisson"]),
    "counts as an amount": (table("x,visits", visits), "--target visits --loss squared", 0, ["R²"]),
    "two words": (table("a,b,bought", gaps), "--target bought", 0, ["two classes: ", "--loss logistic", "AUC"]),
    "three words": (table("a,b,kind", flower), "--target kind", 0, ["3 classes: ", "--loss multinomial"]),
    "many labels": (table("x,y", labelled), "--loss multinomial", 0, ["error"]),
    "gaps": (table("a,b,bought", gaps), "--target bought", 0, ["a       number", "b       number"]),
    "a gap after the first rows": (table("a,y", late, 1200), "", 0, ["a       number"]),
    "a code for gaps": (
        table("age,pulse", coded_gap), "--target pulse --missing=-99", 0, ["age     number"]
    ),
    "sorted": (
        table("a,b,y", ordered), "", 0,
        ["warning: the labels come in runs (2 in ", "Train with --shuffle"],
    ),
    "an identifier": (table("user,x,y", identified), "", 0, ["user    ignore", "all different"]),
    "an answer": (
        table("x,status,result", leaking), "--target result", 0,
        ["warning: column 'status' gives the answer away: each of its 2 values has one class", "--ignore status"],
    ),
    "an answer that is left out": (table("x,status,result", leaking), "--target result --ignore status", 0, ["given"]),
    "a constant": (table("k,x,y", constant), "", 0, ["warning: column 'k' is constant: 7"]),
    "text": (table("review,verdict", review), "--target verdict", 0, ["review   text", "error"]),
    "dates": (table("day,sales", dated), "--target sales", 0, ["day     date", "2024-01-"]),
    "codes": (table("place_id,x,y", coded), "", 0, ["place_id  category", "codes with 4 levels"]),
    "codes by their neighbours": (
        table("C1,C14,C15,C18,rooms,y", nameless), "", 0,
        ["C18     category", "4 levels, codes as C1", "rooms   number"],
    ),
    "nothing to learn": (table("a,b,y", noise), "", 0, ["warning: nothing was learned: no feature has a weight"]),
    "a wrong name": (PRICES, "--target price --ignore ctiy", 1, ["no column 'ctiy'", "'city'"]),
    "a wrong target": (PRICES, "--target prize", 1, ["no column 'prize'", "'price'"]),
    "no target": (PRICES, "", 1, ["which column is the target?", "--target price", "area, city, price"]),
    "one class": ("x,y\n" + "1,0\n2,0\n" * 50, "", 1, ["All labels are 0"]),
    "no rows": ("x,y\n", "", 1, ["no rows"]),
    "nothing at all": ("", "", 1, ["no rows"]),
    "a word among numbers": (
        PRICES.replace("\n", "\nmany,Rome,3.5\n", 2), "--target price", 1, ["column 'area'", "'many' was found"]
    ),
    "semicolons": (PRICES.replace(",", ";"), "--target price", 0, ["city    category", "regression"]),
    "a byte order mark": ("\ufeff" + PRICES, "--target price", 0, ["area    number"]),
    "a decimal comma": (
        table("x;y", decimal_comma).replace(",", ";").replace(";", ",", 1), "", 1, ["first line names 2 columns"],
    ),
    "a decimal comma in the target": (
        "x;y\n" + "1;2,5\n2;3,5\n3;4,25\n4;0,5\n5;1,0\n" * 9, "", 2,
        ["'y' holds numbers that are written like '2,5'", "5 classes", "as in 1234.5", "--classes"],
    ),
    "money": (
        PRICES[:-1].replace("\n", "\n$") + "\n", "--target price", 0,
        ["column 'area' holds numbers that are written like '$", "and they are ignored", "as in 1234.5"],
    ),
    "an index without a name": (table(",x,y", unnamed), "", 0, ["ignore", "all different", "x       number"]),
    "more cells than names": (
        PRICES.replace("\n", ",\n").replace(",\n", "\n", 1), "--target price", 1,
        ["the first row has 4 cells", "names 3 columns (area, city, price)", "The rows end with a delimiter"],
    ),
    "two cells more than names": (
        PRICES.replace("\n", ",a,b\n").replace(",a,b\n", "\n", 1), "--target price", 1,
        ["the first row has 5 cells", "names 3 columns (area, city, price)", "--delimiter"],
    ),
    "dates in two readings": (
        table("day,sales", lambda draw, i: (f"{i % 9 + 1:02}/{i % 7 + 1:02}/2024", i % 9 + 0.5)), "--target sales", 0,
        ["day     date", "dates, day or month first", "read as day first", "write them as 2024-12-31"],
    ),
    "dates in one reading": (
        table("day,sales", lambda draw, i: (f"{i % 9 + 1}/{i % 27 + 1}/2024", i % 9 + 0.5)), "--target sales", 0,
        ["day     date", "looks like dates"],
    ),
    "a target of texts": (
        table("review,verdict", review), "--target review", 2,
        ["'review' holds 400 different words in 400 rows: that is no class", "another column by --target"],
    ),
    "names of rows, as R writes them": (
        "\n".join(f"{i},{line}" if i else line for i, line in enumerate(PRICES.splitlines())), "--target price", 1,
        ["the first row has 4 cells", "add a name such as id to the first line"],
    ),
    "a title": (
        "# Flats 2024\n" + PRICES, "--target price", 1,
        ["the first row has 3 cells, but the first line names 1 column (# Flats 2024)", "If it is a title"],
    ),
    "a delimiter for spreadsheets": (
        "sep=;\n" + PRICES.replace(",", ";"), "--target price", 1, ["(sep=, )", "remove it (tail -n +2)"],
    ),
    "zeros, then amounts": (
        "x,claim\n" + "".join(f"{i % 7},0.00\n" for i in range(1100)) + "3,99.5\n" * 50, "--target claim", 1,
        ["one value: 0.00 100%", "numbers such as 99.5, which is regression: --loss squared"],
    ),
    "one row": ("x,y\n1,170\n", "", 1, ["2 columns, 1 row\n", "If other rows have others, name all of them"]),
    "no names": (
        PRICES.split("\n", 1)[1].replace("Rome", "1").replace("Oslo", "2").replace("Lyon", "3"), "--target price", 1,
        ["no column 'price'", "The first line holds numbers; if it is data: --no-header"],
    ),
    "bars": (PIPES, "--target price", 0, ["city    category", "regression"]),
    "units": (table("a,b,y", measures), "", 0, ["R² 0.9"]),
    "interactions": (table("a,b,kind", flower), "--target kind --category a --interact a:b", 0, ["a       category"]),
}  # fmt: skip


def trained(folder, monkeypatch, text, options, holdout="0.25"):
    monkeypatch.chdir(folder)
    (folder / "data.csv").write_text(text, encoding="utf-8")
    return cli.main(["train", "data.csv", *options.split(), "--holdout", holdout])


@pytest.mark.parametrize(("text", "options", "code", "words"), TRAIN.values(), ids=TRAIN)
def test_train(tmp_path, monkeypatch, capsys, text, options, code, words):
    assert trained(tmp_path, monkeypatch, text, options) == code
    said = capsys.readouterr()
    assert said.out == ""
    for word in words:
        assert word in said.err
    assert (tmp_path / "data.gsm").exists() == (code == 0)


@pytest.mark.parametrize("method", ["auto", "adagrad"])
def test_numbers_are_standardised_unless_told_otherwise(tmp_path, monkeypatch, capsys, method):
    for standardize in ("auto", "yes", "no"):
        options = f"--method {method} --standardize {standardize} -o {standardize}.gsm"
        assert trained(tmp_path, monkeypatch, *TRAIN["units"][:1], options) == 0
    auto, yes, no = (gs.load(tmp_path / f"{name}.gsm").value for name in ("auto", "yes", "no"))
    assert auto.tolist() == yes.tolist() != no.tolist()
    (tmp_path / "words.csv").write_text("a,y\n" + "red,1\nblue,0\n" * 20, encoding="utf-8")
    code = cli.main(["train", "words.csv", "--method", method, "--standardize", "yes"])
    assert code == (2 if method == "adagrad" else 0)
    assert method == "auto" or "--standardize yes is for tables with columns of numbers" in capsys.readouterr().err


GOOD = ["numbers", "counts", "two words", "three words", "text", "dates", "codes", "codes by their neighbours", "units"]


@pytest.mark.parametrize("name", GOOD)
def test_the_first_command_makes_a_sound_model(tmp_path, monkeypatch, capsys, name):
    """Nothing is said against it, and it is much better than the model without features."""
    text, options, _, _ = TRAIN[name]
    assert trained(tmp_path, monkeypatch, text, options) == 0
    assert "warning" not in capsys.readouterr().err
    test = gs.load("data.gsm").facts["holdout"]
    if "r2" in test:
        assert test["r2"] > 0.5
        assert test["rmse"] < 0.7 * test["constant_rmse"]
    else:
        assert test["error"] < 0.6 * test["constant_error"]


@pytest.mark.parametrize("name", TRAIN)
def test_look_and_train_read_alike(tmp_path, monkeypatch, capsys, name):
    text, options, code, _ = TRAIN[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    given = [word for word in options.split() if word not in ("--loss", "logistic", "squared", "multinomial")]
    looked = cli.main(["look", "data.csv", *given])
    shown = capsys.readouterr()
    if code == 0:
        assert looked == 0
        assert shown.err == ""
        cli.main(["train", "data.csv", *options.split()])
        begin = [line for line in shown.out.splitlines() if not line.startswith(("rows: ", "warning: "))]
        assert capsys.readouterr().err.splitlines()[: len(begin)] == begin
        cli.main(["look", "data.csv", *given, "--json"])
        facts = json.loads(capsys.readouterr().out)
        assert facts["rows"] == len(text.splitlines()) - 1
        assert facts["target"]["loss"] in ("logistic", "multinomial", "poisson", "squared")


def test_a_look_before_there_is_a_target(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(PRICES)
    assert cli.main(["look", "data.csv"]) == 0
    shown = capsys.readouterr().out
    for words in ("price   number", "target: none is named; name the column to learn by --target", "rows: 400, with "):
        assert words in shown
    assert cli.main(["look", "data.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["target"] is None
    assert cli.main(["look", "data.csv", "--target", "prize"]) == 1
    assert "Did you mean 'price'?" in capsys.readouterr().err
    (tmp_path / "data.csv").write_text("x,y\n1,0\n2,\n3,1\n")
    assert cli.main(["look", "data.csv"]) == 1  # a column of that name is the target, as for train
    assert "the row has no label" in capsys.readouterr().err


@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_the_table_fits_the_terminal(tmp_path, monkeypatch, capsys, width):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(width))
    for name in ("numbers", "text", "codes"):
        (tmp_path / "data.csv").write_text(TRAIN[name][0])
        assert cli.main(["look", "data.csv", *TRAIN[name][1].split()]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(len(line) for line in lines if line.startswith("  ")) <= width


def test_a_table_without_an_ending(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices").write_text(PRICES)
    assert cli.main(["look", "prices", "--target", "price"]) == 0
    assert "city    category" in capsys.readouterr().out


def test_units_do_not_matter(tmp_path, monkeypatch):
    """Metres or millimetres: the same features, and weights a thousand times smaller."""
    rows = [line.split(",") for line in PRICES.splitlines()]
    scaled = "\n".join([",".join(rows[0])] + [f"{1024 * float(a)!r},{b},{c}" for a, b, c in rows[1:]]) + "\n"
    answers = []
    for text in (PRICES, scaled):
        assert trained(tmp_path, monkeypatch, text, "--target price") == 0
        answers.append(gs.load("data.gsm"))
    one, other = answers
    assert one.names == other.names
    area = one.names.index("area")
    assert one.value[area] == pytest.approx(1024 * other.value[area], rel=1e-9)
    assert one.facts["holdout"]["r2"] == pytest.approx(other.facts["holdout"]["r2"], rel=1e-9)


def test_the_numbers_of_the_end_are_those_of_the_model(tmp_path, monkeypatch, capsys):
    assert trained(tmp_path, monkeypatch, table("a,b,bought", gaps), "--target bought --passes 3 --alpha 0.01") == 0
    said = capsys.readouterr().err
    facts = gs.load("data.gsm").facts
    assert f"{facts['rows']} rows × 3 passes" in said
    assert f"{facts['holdout']['rows']} held out" in said
    assert facts["rows"] + facts["holdout"]["rows"] == 400
    assert f"progressive loss {facts['progressive_loss']:.5f}, training loss {facts['training_loss']:.5f}" in said
    assert trained(tmp_path, monkeypatch, table("a,b,bought", gaps), "--target bought --alpha 0.01") == 0
    assert gs.load("data.gsm").facts["progressive_loss"] == facts["progressive_loss"]  # of the first pass, always
