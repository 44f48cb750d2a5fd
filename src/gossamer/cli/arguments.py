"""The arguments of the command line. This module loads fast; `commands` does the work.

Reading starts before NumPy is imported, so the first blocks are parsed by the time it is.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import gossamer
from gossamer import output, sources
from gossamer.cli import start
from gossamer.cli.words import UsageError, columns, did_you_mean, with_flags
from gossamer.sources import files
from gossamer.sources.base import Source

EXAMPLES = {  # of each command, and of all
    None: """
a first look, a model, its answers:
  gossamer look houses.csv --target price
  gossamer train houses.csv --target price --holdout 0.1
  gossamer predict houses.gsm new_houses.csv -o answers.csv

gossamer COMMAND --help has the options of a command, with examples.
exit codes: 0 success, 1 invalid data or model, 2 usage error, 130 interrupted
""",
    "look": """
see how a table would be read, before anything is learned:
  gossamer look houses.csv --target price
say what a column is where the guess is wrong:
  gossamer look houses.csv --target price --category zip --ignore id
""",
    "train": """
predict a column of a table; the loss follows from what the column holds:
  gossamer train houses.csv --target price
test on a tenth of the rows, and write a page about it:
  gossamer train clicks.csv.gz --target click -o clicks.gsm --holdout 0.1 --report clicks.html
say what columns are, cross two of them, and take words in pairs:
  gossamer train visits.csv --target bought --category zip --interact user:item --text query --ngrams 2
choose loss, penalty and strength yourself; several files, in Vowpal Wabbit's format:
  gossamer train 'day*.vw' -o clicks.gsm --loss logistic --penalty 'elastic_net(l1_ratio=0.9)' --alpha 1e-6
the best possible weights, with a proof, also of a file that is larger than memory:
  gossamer train clicks.csv.gz --target click --exact --memory 2G
learn from a pipe, and go on where a killed run stopped:
  zcat big.vw.gz | gossamer train - --format vw -o big.gsm --checkpoint state --every 100000
""",
    "predict": """
write a table of answers, with the probability of each class (.csv: with commas; otherwise with tabs):
  gossamer predict clicks.gsm today.csv --proba -o answers.csv
one answer per line, for other programs:
  gossamer predict clicks.gsm today.csv | sort | uniq -c
""",
    "certify": """
how far a model is at most from the best possible one with its penalty, on any data:
  gossamer certify clicks.gsm clicks.csv.gz
""",
    "inspect": """
what a model is, and its largest weights:
  gossamer inspect clicks.gsm --top 30
""",
    "export": """
a function of C, a query for a database, or a graph for other runtimes:
  gossamer export clicks.gsm --to c -o clicks.c
  gossamer export clicks.gsm --to sql --layout long -o clicks.sql
  gossamer export clicks.gsm --to onnx -o clicks.onnx
""",
    "demo": """
a raw table, a look at it, a model, its answers and a page, in a folder of their own:
  gossamer demo
""",
}


OK, FAILED, USAGE = 0, 1, 2  # argparse exits with 2 too


def _whole(least: int, most: float = math.inf) -> Callable[[str], int]:
    """Return the type of an option that is a whole number within bounds."""

    def parsed(text: str) -> int:
        try:
            value = int(text)
        except ValueError:  # a word, or thousands of digits
            value = None
        if value is None or not least <= value <= most:
            bounds = f"from {least} to {most:,.0f}" if most < math.inf else f"of {least} or more"
            raise argparse.ArgumentTypeError(f"a whole number {bounds} is needed; {_short(text)} was given")
        return value

    return parsed


def _fraction(text: str) -> float:
    return _real(text, lambda value: 0 <= value < 1, "a fraction from 0 to below 1")


def _strength(text: str) -> float:
    needed = "a finite number of 0 or more (without --alpha it is chosen)"
    return _real(text, lambda value: 0 <= value < math.inf, needed)


def _bytes(text: str) -> float:
    """Return a number of bytes.

    >>> _bytes("500M"), _bytes("2G"), _bytes("1e9")
    (500000000.0, 2000000000.0, 1000000000.0)
    """
    factor = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}.get(text[-1:].lower())
    number = text if factor is None else text[:-1]
    needed = "a number of bytes, such as 500M or 2G,"
    return (factor or 1.0) * _real(number, lambda value: 0 < value < math.inf, needed)


def _delimiter(text: str) -> str:
    if len(text) != 1 or not text.isascii() or text in '"\r\n\0':
        raise argparse.ArgumentTypeError(f"one character, such as ',' or ';', is needed; {_short(text)} was given")
    return text


def _real(text: str, right: Callable[[float], bool], needed: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not right(value):
        raise argparse.ArgumentTypeError(f"{needed} is needed; {_short(text)} was given")
    return value


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:20]}…{text[-10:]}")


def look(options: argparse.Namespace) -> int:
    """Show how data would be read."""
    with contextlib.closing(_looked_at(options, _reading(options))) as rows:
        from gossamer.cli import commands

        commands.look(options, rows)
    return OK


def _looked_at(options: argparse.Namespace, reading: dict[str, Any]) -> Source:
    """Return the source of the data, of which nobody may have said yet what is to be learned."""
    from gossamer.sources.columns import Columns

    rows = _opened(options, reading)
    if options.target is None and isinstance(rows.names, Columns) and rows.rereadable:
        without = _opened(options, reading | {"need_labels": False})
        without.settle()
        if isinstance(without.names, Columns) and without.names.target is None:
            return without
        without.close()
    return rows


def train(options: argparse.Namespace) -> int:
    """Learn a model from files."""
    if options.output is None:
        options.output = default_output(options.data[0])
    reading = _reading(options)
    quarantined = options.on_error[1:2] if options.on_error else []
    _check_outputs([options.output, options.report, *quarantined], options.data)
    if options.dask is not None or options.workers is not None:
        from gossamer.cli import cluster

        start.working()
        cluster.train(options, reading)
        return OK
    with contextlib.closing(_opened(options, reading)) as rows:
        if options.checkpoint is None or _is_empty(options.checkpoint):
            rows.begin()
        from gossamer.cli import commands

        start.working()
        return start.INTERRUPTED if commands.train(options, rows) else OK


def default_output(data: str) -> str:
    """Return the name of the model of some data, in this folder.

    >>> default_output("data/clicks.train.csv.gz"), default_output("day*.vw"), default_output("-")
    ('clicks.train.gsm', 'day.gsm', 'model.gsm')
    """
    name = data.rpartition("/")[2].replace("*", "").replace("?", "")
    endings = files.COMPRESSED | {ending for _, _, known in sources.FORMATS.values() for ending in known}
    while "." in name and (end := name[name.rindex(".") :].lower()) in endings:
        name = name[: -len(end)]
    return f"{name.strip('-.') or 'model'}.gsm"


def predict(options: argparse.Namespace) -> int:
    """Write the predictions of a model, one line per row."""
    options.output = None if options.output == files.STDIN else options.output
    options.header = options.output is not None if options.header is None else options.header
    reading = _reading(options)
    quarantined = options.on_error[1:2] if options.on_error else []
    _check_outputs([options.output, *quarantined], [options.model, *options.data])
    from gossamer.cli import commands

    start.working()
    commands.predict(options, reading | ({"format": options.format} if options.format else {}))
    return OK


def certify(options: argparse.Namespace) -> int:
    """Print how far a model is at most from the optimum."""
    reading = _reading(options) | ({"format": options.format} if options.format else {})
    from gossamer.cli import exact

    exact.prove(options, reading)
    return OK


def inspect(options: argparse.Namespace) -> int:
    """Show a summary of a model and its largest weights."""
    files.expanded(options.model)  # raises if there is none
    from gossamer.cli import commands

    commands.inspect(options)
    return OK


def export(options: argparse.Namespace) -> int:
    """Export a model to another language."""
    options.output = None if options.output == files.STDIN else options.output
    _check_outputs([options.output], [options.model])
    from gossamer.cli import commands

    commands.export(options)
    return OK


def demo(options: argparse.Namespace) -> int:
    """Walk from a raw table to a model in seconds."""
    from gossamer.cli import demo as demonstration

    return demonstration.show(options.folder)


def _check_outputs(outputs: list[str | None], inputs: list[str]) -> None:
    """Raise unless these files can be written, and are neither each other nor one of the files that are read."""
    read = {os.path.realpath(path) for path in files.expanded(inputs) if path != files.STDIN}
    written = set()
    start.working()  # a check makes a file and removes it
    for path in outputs:
        if path is None:
            continue
        if path == files.STDIN:
            raise UsageError("A model is a file: '-', standard output, is for predict and export.")
        output.check(path)
        real = os.path.realpath(path)
        if real in read:
            raise UsageError(f"{path!r} would replace a file that is read; choose another name.")
        if real in written:
            raise UsageError(f"{path!r} is named for two files; choose another name.")
        written.add(real)
    start.working(False)


def _is_empty(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:  # the folder does not exist
        return True


def _opened(options: argparse.Namespace, reading: dict[str, Any]) -> Source:
    """Return the source of the data; raise if an option is not one of its format."""
    paths = files.expanded(options.data)
    format = options.format or sources.detect(paths[0])
    for name in reading:
        having = [other for other in sources.FORMATS if name in sources.OPTIONS[other]]
        if name not in sources.OPTIONS[format] and having:
            roles = [f"--{role}" for role in ROLES if name == "roles" and getattr(options, role)]
            flag = roles[0] if roles else FLAGS.get(name, f"--{name}")
            table = " A table is read by --format csv, with --delimiter where it is a rare one."
            more = table if "csv" in having and options.format is None else ""
            raise UsageError(f"{flag} is for {', '.join(having)}; {paths[0]!r} is {format}.{more}")
    return sources.source(paths, format, **reading)


ROLES = ("number", "category", "text", "date", "ignore")


def _reading(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the source that were given."""
    names = ("max_features", "bits", "target", "weight", "offset", "delimiter", "ngrams")
    given = {name: getattr(options, name) for name in names if getattr(options, name, None) is not None}
    for name in ("zero_based", "one_hot"):
        if getattr(options, name, False):
            given[name] = True
    if getattr(options, "no_header", False):
        given["header"] = False
    if roles := _roles(options):
        given["roles"] = roles
    if missing := _listed(getattr(options, "missing", None)):
        given["missing"] = missing
    if crossed := _listed(getattr(options, "interact", None)):
        given["interactions"] = [_crossed(pair) for pair in crossed]
    if getattr(options, "shuffle", False):
        given["shuffle"] = options.seed
    if options.on_error is not None and options.on_error != ["stop"]:
        if options.on_error[0] == "quarantine" and len(options.on_error) == 2:
            given["on_error"] = ("quarantine", options.on_error[1])
        elif options.on_error == ["skip"]:
            given["on_error"] = "skip"
        else:
            raise UsageError(
                f"--on-error is stop, skip, or quarantine FILE; {' '.join(options.on_error)!r} was given. "
                "It takes all words up to the next option: name DATA before it."
            )
    return given


def _listed(words: list[str] | None) -> list[str]:
    """Return the names of an option that is given several times, or once with commas."""
    return [name for word in words or () for name in word.split(",") if name]


def _roles(options: argparse.Namespace) -> dict[str, str]:
    """Return the roles that were given, by column."""
    roles: dict[str, str] = {}
    for role in ROLES:
        for name in _listed(getattr(options, role, None)):
            if roles.setdefault(name, role) != role:
                raise UsageError(f"Column {name!r} is named by --{roles[name]} and by --{role}; choose one.")
    for role in ("target", "weight", "offset"):
        column = getattr(options, role, None)
        if column in roles:
            raise UsageError(f"Column {column!r} is named by --{roles[column]} and by --{role}; choose one.")
    return roles


def _crossed(pair: str) -> tuple[str, ...]:
    names = tuple(pair.split(":"))
    if len(names) < 2 or not all(names):
        raise UsageError(f"--interact takes two columns with a colon between, as in user:item; {pair!r} was given.")
    return names


def _add_reading(parser: argparse.ArgumentParser, everything: bool) -> None:
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--format", choices=list(sources.FORMATS), help="by default found from the file ending or the first line"
    )
    group.add_argument(
        "--on-error",
        nargs="+",
        metavar="WHAT",
        help="what to do with invalid lines: stop (default), skip, or quarantine FILE",
    )
    group.add_argument(
        "--max-features", type=_whole(1), metavar="N", help="reject rows with a larger feature number (default 2^26)"
    )
    if everything:
        group.add_argument(
            "--zero-based",
            action="store_true",
            help="svmlight: features are numbered from 0 (default: found from the first block)",
        )
        group.add_argument(
            "--bits",
            type=_whole(0, 30),
            metavar="B",
            help="hash names into 2^B features (default 18; vw: 0 for exact names)",
        )
        _add_columns(parser.add_argument_group("columns of tables", "Names are separated by commas, or given again."))


def _add_columns(group: Any) -> None:
    group.add_argument("--target", metavar="COLUMN", help="the one to predict (default: target, label, y or class)")
    group.add_argument("--weight", metavar="COLUMN", help="the weights of the rows")
    group.add_argument("--offset", metavar="COLUMN", help="added to the score, such as the logarithm of an exposure")
    for role, words in {
        "number": "hold numbers",
        "category": "hold categories, even if they look like numbers",
        "text": "hold text, read word by word",
        "date": "hold dates or times",
        "ignore": "are left out",
    }.items():
        others = ("--categories",) if role == "category" else ()
        group.add_argument(f"--{role}", *others, dest=role, action="append", metavar="A,B", help=f"those that {words}")
    group.add_argument("--missing", action="append", metavar="A,B", help="cells that hold no value, besides NA, ?, …")
    group.add_argument("--ngrams", type=_whole(1, 10), metavar="N", help="text: also N words in a row (default 1)")
    group.add_argument("--interact", action="append", metavar="A:B", help="features for pairs of values of two columns")
    group.add_argument("--one-hot", action="store_true", help="one feature per category instead of hashing")
    group.add_argument(
        "--delimiter", type=_delimiter, metavar="C", help="csv: the separator (default: found from the first line)"
    )
    group.add_argument("--no-header", action="store_true", help="csv: there is no header; columns are named 1, 2, …")


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def _add_data(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "data", nargs="+", metavar="DATA", help="files or patterns, plain or compressed; - is standard input"
    )


def _add_look(p: argparse.ArgumentParser) -> None:
    _add_data(p)
    _add_reading(p, everything=True)
    p.add_argument("--json", action="store_true", help="print one line of JSON")


def _add_train(p: argparse.ArgumentParser) -> None:
    _add_data(p)
    p.add_argument(
        "-o", "--output", metavar="MODEL", help="the model file to write (default: DATA with the ending .gsm, here)"
    )
    p.add_argument(
        "--loss", help="such as logistic, squared, 'huber(delta=2)' (default: follows from what the target holds)"
    )
    p.add_argument("--penalty", default="l1", help="such as l1, group_l2, 'elastic_net(l1_ratio=0.5)' (default l1)")
    p.add_argument(
        "--path",
        type=_whole(2, 1_000_000),
        metavar="N",
        help="learn N regularization strengths in one pass and keep one (default 16)",
    )
    p.add_argument(
        "--select",
        choices=["balanced", "best", "sparsest"],
        default="balanced",
        help="the strength to keep: the lowest loss; or the sparsest model within one standard error of it; or that, "
        "if it keeps 95%% of what the best gains over a model without features (balanced, default)",
    )
    p.add_argument("--alpha", type=_strength, metavar="A", help="learn one model, with this regularization strength")
    p.add_argument("--method", default="auto", help="such as adagrad, 'fobos(step=1.0)' (default auto)")
    p.add_argument(
        "--passes", type=_whole(1), default=1, metavar="N", help="number of passes over the data (default 1)"
    )
    p.add_argument("--batch-size", type=_whole(1), default=1, metavar="N", help="rows that make one step (default 1)")
    p.add_argument(
        "--holdout",
        type=_fraction,
        default=0.0,
        metavar="FRACTION",
        help="fraction of the rows to keep out of training and test on",
    )
    p.add_argument("--shuffle", action="store_true", help="read the rows in a random order, for files that are sorted")
    p.add_argument("--seed", type=_whole(0, 2**32 - 1), default=0, metavar="N", help="of the random order (default 0)")
    p.add_argument("--average", action="store_true", help="use the average of all iterates")
    p.add_argument(
        "--standardize",
        choices=["auto", "yes", "no"],
        default="auto",
        help="numbers in units of their spread: of tables (auto, default); yes, or an error where that is not possible",
    )
    p.add_argument(
        "--exact", action="store_true", help="go on to the optimum of all rows, with a proof; reads the data again"
    )
    p.add_argument("--memory", type=_bytes, metavar="N", help="with --exact: bytes for the data, as in 500M (half)")
    p.add_argument("--tol", type=_strength, metavar="T", help="with --exact: the gap that is small enough (1e-4)")
    p.add_argument("--no-scale", action="store_const", const="no", dest="standardize", help="--standardize no")
    p.add_argument("--no-intercept", action="store_true", help="learn no intercept")
    p.add_argument("--classes", metavar="A,B", help="all labels, as in --classes=-1,1 (default: found in the data)")
    p.add_argument("--grow", action="store_true", help="add new classes when they appear")
    p.add_argument(
        "--features",
        type=_whole(1, 2**31 - 1),
        metavar="N",
        help="the number of features (default: found in the data)",
    )
    p.add_argument("--report", metavar="FILE.html", help="also write a report on the training and the model")
    p.add_argument(
        "--checkpoint", metavar="DIR", help="save the state in this folder, and resume from it after a crash"
    )
    p.add_argument("--dask", metavar="ADDRESS", help="learn on a Dask cluster: the address of its scheduler")
    p.add_argument("--workers", type=_whole(1), metavar="N", help="learn on N processes of this machine, with Dask")
    p.add_argument(
        "--merges",
        type=_whole(0),
        default=4,
        metavar="R",
        help="with --dask or --workers: how often learners are merged in a pass; 0: one after the other (default 4)",
    )
    p.add_argument(
        "--every",
        type=_whole(1),
        default=100_000,
        metavar="N",
        help="number of rows between checkpoints (default 100000)",
    )
    _add_reading(p, everything=True)
    _add_output(p)


def _add_predict(p: argparse.ArgumentParser) -> None:
    p.add_argument("model", metavar="MODEL")
    p.add_argument("data", nargs="+", metavar="DATA")
    p.add_argument("-o", "--output", metavar="FILE", help="the file to write (default: standard output)")
    p.add_argument("--proba", action="store_true", help="add the probability of each class")
    p.add_argument("--scores", action="store_true", help="add the scores")
    p.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="begin with a line that names the columns (default: with -o FILE)",
    )
    _add_reading(p, everything=False)
    _add_output(p)


def _add_certify(p: argparse.ArgumentParser) -> None:
    p.add_argument("model", metavar="MODEL")
    p.add_argument("data", nargs="+", metavar="DATA", help="files or patterns with labels")
    p.add_argument("--penalty", help="such as l1 (default: that of the training)")
    p.add_argument("--alpha", type=_strength, metavar="A", help="the strength (default: that of the training)")
    _add_reading(p, everything=False)
    p.add_argument("--json", action="store_true", help="print one line of JSON")


def _add_inspect(p: argparse.ArgumentParser) -> None:
    p.add_argument("model", metavar="MODEL")
    p.add_argument("--top", type=_whole(0), default=20, metavar="N", help="number of features to show (default 20)")
    _add_output(p)


def _add_export(p: argparse.ArgumentParser) -> None:
    p.add_argument("model", metavar="MODEL")
    p.add_argument("--to", required=True, choices=["json", "onnx", "sql", "c"])
    p.add_argument("-o", "--output", metavar="FILE", help="the file to write (default: standard output)")
    p.add_argument(
        "--layout",
        choices=["wide", "long"],
        default="wide",
        help="sql: one column per feature, or rows of key, feature, value",
    )
    p.add_argument("--table", default="data", help="sql: the table to read (default data)")
    p.add_argument("--key", default="id", help="sql, long: the column that identifies a row (default id)")
    p.add_argument("--name", default="model", help="c: the name of the function (default model)")


def _add_demo(p: argparse.ArgumentParser) -> None:
    p.add_argument("folder", nargs="?", default="gossamer-demo", metavar="FOLDER", help="default: gossamer-demo")


COMMANDS = {  # the help, the function and the options of each
    "look": ("show how data would be read: columns, target, warnings", look, _add_look),
    "train": ("learn a model from files", train, _add_train),
    "predict": ("write the predictions of a model, one line per row", predict, _add_predict),
    "certify": ("prove how far a model is at most from the optimum", certify, _add_certify),
    "inspect": ("show a summary of a model and its largest weights", inspect, _add_inspect),
    "export": ("export a model to JSON, ONNX, SQL or C", export, _add_export),
    "demo": ("from a raw table to a model, in seconds, offline", demo, _add_demo),
}


class _Layout(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal, found without importing `shutil` as argparse does."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=columns(1) - 2)


# What other programs call an option, and what it is here.
_CALLED = {
    **dict.fromkeys(("--max-iter", "--max_iter", "--epochs", "--n-iter"), "The number of passes is --passes."),
    **dict.fromkeys(("--C", "-C", "--lambda"), "The regularization strength is --alpha: 1 / (n C), with n rows."),
    **dict.fromkeys(("--l1", "--l2"), "The penalty is --penalty l1 or l2_squared, and its strength --alpha."),
    **dict.fromkeys(("--loss_function", "--loss-function"), "The loss is --loss."),
    **dict.fromkeys(("--quadratic", "--interactions"), "Products of columns or namespaces are --interact a:b."),
    **dict.fromkeys(("--label", "--y"), "The column to predict is --target."),
}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and name the nearest option."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}\n{self.prog} --help has the options, with examples.\n")

    def refuse(self, extra: list[str]) -> NoReturn:
        """Say what is wrong with arguments that no option takes."""
        flags = [word.split("=")[0] for word in extra if word.startswith("-") and word != files.STDIN]
        if not flags:
            pair = extra[0] if len(extra[0]) == 2 and "--interact" in self._option_string_actions else ""
            vw = f" -q is --quiet here; -q {pair} of Vowpal Wabbit is --interact {':'.join(pair)}." if pair else ""
            self.error(f"{extra[0]!r} is one argument too many.{vw}")
        there = list(self._option_string_actions)
        owners = [name for name in COMMANDS if f"gossamer {name}" != self.prog and flags[0] in _options_of(name)]
        if owners:
            self.error(f"{flags[0]} is an option of gossamer {' and '.join(owners)}.")
        called = f" {_CALLED[flags[0]]}" if flags[0] in _CALLED else did_you_mean(flags[0], there)
        self.error(f"there is no option {flags[0]}.{called}")


def _options_of(name: str) -> set[str]:
    p = argparse.ArgumentParser(add_help=False)
    COMMANDS[name][2](p)
    return set(p._option_string_actions)


def parser(command: str | None = None) -> tuple[_Parser, _Parser]:
    """Return the parser, and that of the command if one is named; only its options are added, which saves time."""
    top = _Parser(
        "gossamer",
        description="Sparse linear models from tables, text and streams.",
        epilog=EXAMPLES[None].strip(),
        formatter_class=_Layout,
    )
    top.add_argument("--version", action="version", version=f"gossamer {gossamer.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    found = top
    for name, (words, run, add) in COMMANDS.items():
        p = commands.add_parser(
            name,
            help=words,
            description=f"{words[0].upper()}{words[1:]}.",
            epilog=EXAMPLES[name].strip(),
            formatter_class=_Layout,
        )
        p.set_defaults(run=run)
        if command is None or name == command:
            add(p)
        found = p if name == command else found
    return top, found


FLAGS = {  # of the options that errors name in Python's words, where they are not the same
    "on_error": "--on-error",
    "max_features": "--max-features",
    "one_hot": "--one-hot",
    "zero_based": "--zero-based",
    "interactions": "--interact",
    "categories": "--category",
    "numbers": "--number",
    "header": "--no-header",
}
SAME = (
    *("format", "target", "weight", "offset", "ignore", "missing", "ngrams", "bits", "delimiter", "shuffle", "classes"),
    *("features", "grow", "loss", "penalty", "method", "alpha", "layout", "table", "key", "name", "memory", "tol"),
)


INSTEAD = {  # of sentences that name estimators and their methods
    r"and \w+( model)? learns classes; \w+( model)? learns numbers": "which is regression: --loss squared",
    r"and \w+( model)? learns numbers; \w+( model)? learns classes": "which are classes: --loss logistic",
    r"With partial_fit, name all classes in the first call": "If other rows have others, name all of them by --classes",
}


def told(error: BaseException) -> str:
    """Return the words of an error, with flags in place of Python's options."""
    words = str(error) or type(error).__name__
    for said, instead in INSTEAD.items():
        words = re.sub(said, instead, words)
    return with_flags(words, {name: f"--{name}" for name in SAME} | FLAGS)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return its exit code: 0 success, 1 invalid data or model, 2 usage error, 130 interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    named = arguments[0] if arguments and arguments[0] in COMMANDS else None
    top, command = parser(named)
    if not arguments:
        top.print_help()
        return OK
    if named is None and not arguments[0].startswith("-"):
        top.error(f"there is no command {arguments[0]!r}.{did_you_mean(arguments[0], COMMANDS)}")
    options, extra = top.parse_known_args(arguments)
    if extra or options.command is None:
        command.refuse(extra or arguments)
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        return start.tell()
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED
    except (ValueError, OSError, ImportError, MemoryError, FloatingPointError, sources.OptionError) as error:
        words = told(error)
        if getattr(options, "json", False):
            import json

            print(json.dumps({"error": words}))
        sys.stderr.write(f"gossamer {options.command}: {words}\n")
        return USAGE if isinstance(error, (UsageError, sources.OptionError)) else FAILED
