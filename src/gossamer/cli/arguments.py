"""The arguments of the command line. This module loads fast; `commands` does the work.

Reading starts before NumPy is imported, so the first blocks are parsed by the time it is.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
from collections.abc import Callable
from typing import Any

import gossamer
from gossamer import output, sources
from gossamer.cli import start
from gossamer.sources import files

EXAMPLES = """examples:
  gossamer train clicks.svm.gz -o clicks.gsm
  gossamer train 'day*.vw' -o clicks.gsm --loss logistic --penalty 'elastic_net(l1_ratio=0.9)' --alpha 1e-6
  gossamer train houses.csv -o houses.gsm --loss squared --target price --holdout 0.1 --report houses.html
  zcat big.vw.gz | gossamer train - --format vw -o big.gsm --checkpoint state --every 100000
  gossamer predict clicks.gsm today.svm --proba -o answers.tsv
  gossamer inspect clicks.gsm --top 30
  gossamer export clicks.gsm --to sql --layout long -o clicks.sql

exit codes: 0 success, 1 invalid data or model, 2 usage error, 130 interrupted
"""


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
    return _real(text, lambda value: 0 <= value < math.inf, "a finite number of 0 or more")


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


def train(options: argparse.Namespace) -> int:
    """Learn a model from files."""
    quarantined = options.on_error[1:2] if options.on_error else []
    _check_outputs([options.output, options.report, *quarantined], options.data)
    with contextlib.closing(sources.source(options.data, options.format, **_reading(options))) as rows:
        if options.checkpoint is None or _is_empty(options.checkpoint):
            rows.begin()
        from gossamer.cli import commands

        start.working()
        return start.INTERRUPTED if commands.train(options, rows) else OK


def predict(options: argparse.Namespace) -> int:
    """Write the predictions of a model, one line per row."""
    options.output = None if options.output == files.STDIN else options.output
    quarantined = options.on_error[1:2] if options.on_error else []
    _check_outputs([options.output, *quarantined], [options.model, *options.data])
    from gossamer.cli import commands

    start.working()
    commands.predict(options, _reading(options) | ({"format": options.format} if options.format else {}))
    return OK


def inspect(options: argparse.Namespace) -> int:
    """Show a summary of a model and its largest weights."""
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
    """Show what the library does in seconds, on data that comes with scikit-learn."""
    from gossamer.cli import demo as demonstration

    demonstration.show()
    return OK


def _check_outputs(outputs: list[str | None], inputs: list[str]) -> None:
    """Raise unless these files can be written, and are neither each other nor one of the files that are read."""
    read = {os.path.realpath(path) for path in files.expanded(inputs) if path != files.STDIN}
    written = set()
    start.working()  # a check makes a file and removes it
    for path in outputs:
        if path is None:
            continue
        if path == files.STDIN:
            raise ValueError("A model is a file: '-', standard output, is for predict and export.")
        output.check(path)
        real = os.path.realpath(path)
        if real in read:
            raise ValueError(f"{path!r} would replace a file that is read; choose another name.")
        if real in written:
            raise ValueError(f"{path!r} is named for two files; choose another name.")
        written.add(real)
    start.working(False)


def _is_empty(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:  # the folder does not exist
        return True


def _reading(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the source that were given."""
    names = ("max_features", "bits", "target", "weight", "delimiter")
    given = {name: getattr(options, name) for name in names if getattr(options, name, None) is not None}
    for name in ("zero_based", "one_hot"):
        if getattr(options, name, False):
            given[name] = True
    if getattr(options, "no_header", False):
        given["header"] = False
    for name in ("categories", "ignore"):
        if getattr(options, name, None):
            given[name] = getattr(options, name).split(",")
    if options.on_error is not None and options.on_error != ["stop"]:
        if options.on_error[0] == "quarantine" and len(options.on_error) == 2:
            given["on_error"] = ("quarantine", options.on_error[1])
        elif options.on_error == ["skip"]:
            given["on_error"] = "skip"
        else:
            raise ValueError("--on-error is stop, skip, or quarantine FILE.")
    return given


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
        group.add_argument("--one-hot", action="store_true", help="tables: one feature per category instead of hashing")
        group.add_argument(
            "--target", metavar="COLUMN", help="tables: the column to predict (default: target, label, y or class)"
        )
        group.add_argument("--weight", metavar="COLUMN", help="tables: the column with the weights of the rows")
        group.add_argument(
            "--categories", metavar="A,B", help="tables: columns to treat as categories even if they hold numbers"
        )
        group.add_argument("--ignore", metavar="A,B", help="tables: columns to leave out")
        group.add_argument("--delimiter", metavar="C", help="csv: the separator (default: found from the first line)")
        group.add_argument(
            "--no-header", action="store_true", help="csv: there is no header; columns are named 1, 2, …"
        )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def _add_train(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "data", nargs="+", metavar="DATA", help="files or patterns, plain or compressed; - is standard input"
    )
    p.add_argument("-o", "--output", required=True, metavar="MODEL", help="the model file to write")
    p.add_argument("--loss", default="logistic", help="such as logistic, squared, 'huber(delta=2)' (default logistic)")
    p.add_argument("--penalty", default="l1", help="such as l1, group_l2, 'elastic_net(l1_ratio=0.5)' (default l1)")
    p.add_argument(
        "--path",
        type=_whole(2, 1_000_000),
        metavar="N",
        help="learn N regularization strengths in one pass and keep one (default 16)",
    )
    p.add_argument(
        "--select",
        choices=["best", "sparsest"],
        default="sparsest",
        help="the strength to keep: the lowest loss, or the sparsest model within one standard error of it "
        "(default sparsest)",
    )
    p.add_argument("--alpha", type=_strength, metavar="A", help="learn one model, with this regularization strength")
    p.add_argument("--method", default="auto", help="such as adagrad, 'fobos(step=1.0)' (default auto)")
    p.add_argument(
        "--passes", type=_whole(1), default=1, metavar="N", help="number of passes over the data (default 1)"
    )
    p.add_argument(
        "--holdout",
        type=_fraction,
        default=0.0,
        metavar="FRACTION",
        help="fraction of the rows to keep out of training and test on",
    )
    p.add_argument("--average", action="store_true", help="use the average of all iterates")
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
    _add_reading(p, everything=False)
    _add_output(p)


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


def _add_nothing(p: argparse.ArgumentParser) -> None:
    pass


COMMANDS = {  # the help, the function and the options of each
    "train": ("learn a model from files", train, _add_train),
    "predict": ("write the predictions of a model, one line per row", predict, _add_predict),
    "inspect": ("show a summary of a model and its largest weights", inspect, _add_inspect),
    "export": ("export a model to JSON, ONNX, SQL or C", export, _add_export),
    "demo": ("a short demonstration, offline", demo, _add_nothing),
}


class _Layout(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal, found without importing `shutil` as argparse does."""

    def __init__(self, prog: str) -> None:
        try:
            columns = int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size().columns
        except (ValueError, OSError):  # not a number; not a terminal
            columns = 80
        super().__init__(prog, width=columns - 2)


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser; if a command is named, only its options are added, which saves time."""
    top = argparse.ArgumentParser(
        "gossamer", description="Sparse linear models from streams.", epilog=EXAMPLES, formatter_class=_Layout
    )
    top.add_argument("--version", action="version", version=f"gossamer {gossamer.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (words, run, add) in COMMANDS.items():
        p = commands.add_parser(name, help=words, epilog=EXAMPLES if name == "train" else None, formatter_class=_Layout)
        p.set_defaults(run=run)
        if command is None or name == command:
            add(p)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return its exit code: 0 success, 1 invalid data or model, 2 usage error, 130 interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser(arguments[0] if arguments and arguments[0] in COMMANDS else None).parse_args(arguments)
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        return start.tell()
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED
    except (ValueError, OSError, ImportError, MemoryError, FloatingPointError, sources.OptionError) as error:
        words = str(error) or type(error).__name__
        if getattr(options, "json", False):
            import json

            print(json.dumps({"error": words}))
        sys.stderr.write(f"gossamer {options.command}: {words}\n")
        return USAGE if isinstance(error, sources.OptionError) else FAILED
