"""The commands: look, train, predict, inspect, export."""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from gossamer import losses, methods, output, penalties
from gossamer.cli import scaling, start, telling
from gossamer.cli.notes import Notes
from gossamer.cli.progress import Meter
from gossamer.cli.run import fitted, measured, run
from gossamer.cli.tally import Tally
from gossamer.cli.words import UsageError, columns, printable, usage, wrapped
from gossamer.model.model import Model, load, save
from gossamer.online.strategies import ManyStrengths, OneStrength
from gossamer.online.stream import Problem, Streaming, as_classes
from gossamer.registry import Registry
from gossamer.sources import look as looking
from gossamer.sources.base import Source

STRENGTHS = 16  # strengths of a path
ALPHA = 1e-5  # the strength where there is no path


def part(text: str, table: Registry) -> Any:
    """Return the part named by a text such as `l1` or `elastic_net(l1_ratio=0.3)`.

    >>> part("elastic_net(l1_ratio=0.3)", penalties.PENALTIES).l1_ratio
    0.3
    """
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
    if match is None:
        raise UsageError(
            f"A {table.noun} is a name such as {next(iter(table))!r}, with settings in brackets; {text!r} was given."
        )
    name, settings = match.groups()
    with usage():
        make = table.named(name)
        if not settings:
            return make()
    try:
        call = ast.parse(f"f({settings})", mode="eval").body
        assert isinstance(call, ast.Call)
        given = [ast.literal_eval(value) for value in call.args]
        named = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
        return make(*given, **named)
    except (SyntaxError, TypeError, AssertionError, ValueError) as error:
        raise UsageError(f"The settings of the {table.noun} {text!r} are invalid: {error}") from None


def look(options: argparse.Namespace, rows: Source) -> None:
    """Show how data would be read, and count its rows."""
    seen = looking.look(rows)
    counted = telling.counted(seen, rows)
    if options.json:
        print(json.dumps(seen.facts_for_machines() | counted.facts, ensure_ascii=False))
        return
    warnings = [f"warning: {words}" for words in (*seen.warnings, *counted.warnings)]
    _say([*seen.lines(columns(1)), *counted.lines, *warnings], sys.stdout)


def _say(lines: list[str], out: Any) -> None:
    """Write lines for people, as wide as their terminal."""
    out.writelines(f"{line}\n" for line in wrapped(map(printable, lines), out, telling.LABEL))


def train(options: argparse.Namespace, rows: Source) -> bool:
    """Learn a model from rows and write it; return whether learning was interrupted."""
    penalty = part(options.penalty, penalties.PENALTIES)
    given = None if options.loss is None else part(options.loss, losses.LOSSES)
    auto = options.method == "auto"
    named = None if auto else part(options.method, methods.METHODS)
    classes = None if options.classes is None else _classes(options.classes, options.grow)
    if not rows.rereadable and (options.passes > 1 or options.holdout > 0):
        raise UsageError(
            "--passes and --holdout read the data again, which is not possible with standard input and pipes."
        )
    if options.alpha is not None and options.path is not None:
        raise UsageError("--alpha is one strength and --path chooses one of several: give one of the two.")
    if options.exact or options.memory is not None or options.tol is not None:
        from gossamer.cli import exact

        exact.check(options, rows)
    checkpoint = None
    if options.checkpoint is not None:
        from gossamer.cli.checkpoint import Checkpoint

        files = getattr(rows, "paths", None)
        checkpoint = Checkpoint(options.checkpoint, options.every, _fingerprint(options), files)
    try:
        return _train(options, rows, checkpoint, penalty, given, named, classes)
    except BaseException:
        if checkpoint is not None:
            checkpoint.finish()
        raise


def _train(
    options: argparse.Namespace, rows: Source, checkpoint: Any, penalty: Any, given: Any, named: Any, classes: Any
) -> bool:
    quiet = options.quiet or options.json
    seen = None if checkpoint is not None and checkpoint.path.exists() else looking.look(rows)
    if seen is not None and not quiet:
        _say(seen.lines(columns(), every=False), sys.stderr)
    loss = _loss(options, given, seen, checkpoint)
    with usage():
        problem = _problem(options, penalty, loss, named, classes)
    facts = {name: getattr(options, name) for name in ("penalty", "method", "passes")}
    facts["alpha"] = problem.strategy.alpha
    stream, notes = Streaming(problem), Notes(Tally(loss.kind != "regression"))
    show = Meter(options.passes, quiet=quiet, remember=options.report is not None)
    interrupted = False
    try:
        scale = _scales(options.standardize, problem, rows)
        run(stream, rows, options.passes, options.holdout, checkpoint, show, notes, scale)
    except KeyboardInterrupt:
        if stream.trainer is None:
            raise
        interrupted = True
    show.stop()
    facts |= {} if problem.fit_intercept else {"fit_intercept": False}
    fit = fitted(stream, rows, facts, options.select, notes)
    if options.exact and not interrupted:
        from gossamer.cli import exact

        say = (lambda words: None) if quiet else show.say
        fit, interrupted = exact.refined(options, stream, rows, fit, notes, penalty, say)
    test = None
    if options.holdout and not interrupted:
        show.say("testing on the rows held out …")
        test = measured(fit, rows, options.holdout, notes.tally.commonest())
        fit = _with_facts(fit, {"holdout": test})
    show.clear()
    save(fit, options.output)
    if options.report is not None:
        from gossamer.model import report

        report.write(options.report, fit, show.history)
    if checkpoint is not None and not interrupted:
        checkpoint.delete()
    end = telling.End(options, fit, rows, seen, notes.tally, show.seconds, test, interrupted)
    if options.json:
        print(json.dumps(end.facts(), ensure_ascii=False))
    elif not options.quiet:
        _say(end.lines(), sys.stderr)
    return interrupted


def _scales(standardize: str, problem: Problem, rows: Source) -> bool:
    """Return whether numbers are put in units of their spread; the rule without a step does so itself."""
    if standardize == "yes" and not problem.method.free_of_steps and not scaling.possible(rows):
        raise UsageError(
            "--standardize yes is for tables with columns of numbers, and this data has none. Use --method step_free, "
            "which learns all features in their own units, or --standardize auto."
        )
    if standardize == "no" or problem.method.free_of_steps:
        return False
    return standardize == "yes" or not problem.penalty.is_set


def _loss(options: argparse.Namespace, given: Any, seen: looking.Look | None, checkpoint: Any) -> Any:
    """Return the loss: the one that was given if it suits the target, or the one that follows from the target."""
    if seen is None:
        return part(checkpoint.loss(), losses.LOSSES) if given is None else given
    target, labels = seen.target, options.classes is not None or options.grow
    if target is not None and target.odd is not None and target.kind == looking.CLASSES and not labels:
        raise UsageError(
            f"The target{_called(target.name)} holds numbers that are written like {target.odd!r}: they would be "
            f"{target.levels:,} classes. Write them with digits and a point, as in 1234.5; or name the classes by "
            "--classes if they are labels."
        )
    words = None if target is None or target.kind != looking.CLASSES or target.whole else target
    if words is not None and given is None and not labels and words.levels > max(looking.ENOUGH, seen.rows / 2):
        raise UsageError(
            f"The target{_called(words.name)} holds {words.levels:,} different words in {seen.rows:,} rows: that is "
            "no class. Name another column by --target; or give --loss logistic if they are labels."
        )
    if given is not None:
        numbers = target is not None and target.kind == looking.CONTINUOUS and not target.whole and not labels
        if target is not None and numbers and given.kind != "regression":
            raise UsageError(
                f"The target{_called(target.name)} holds {target.levels:,} different numbers in {seen.rows:,} rows: "
                f"that is regression, and {given.label} is for classes. Use --loss squared (or leave --loss out); "
                "or name the classes by --classes if they are labels."
            )
        return given
    chosen = "logistic" if labels or target is None else target.loss
    if chosen == "multinomial":
        chosen = "logistic"  # of several classes it is the multinomial loss
    if checkpoint is not None:
        checkpoint.settings["loss"] = chosen
    return part(chosen, losses.LOSSES)


def _problem(options: argparse.Namespace, penalty: Any, loss: Any, named: Any, classes: Any) -> Problem:
    """Return what is to be learned."""
    average, size = options.average, options.batch_size
    method = methods.resolve_for("auto", penalty, loss, average, size) if named is None else named
    strategy, intercept = _strategy(options, method, penalty), not options.no_intercept
    alpha = 1.0 if strategy.judges else strategy.alpha
    refused = method.refusal(penalty, methods.Setup(options.features or 1, 1, alpha, intercept, batch_size=size))
    if refused is not None:
        raise refused
    more = (intercept, average, options.grow, classes, options.features)
    center = False if options.standardize == "no" else method.centring("auto", intercept)
    sparsest = strategy.judges and options.select != "best"
    return Problem(loss, penalty, strategy, method, *more, sparsest=sparsest, center=center, batch_size=size)


def _called(name: str | None) -> str:
    return "" if name is None else f" {name!r}"


def _strategy(options: argparse.Namespace, method: Any, penalty: Any) -> OneStrength | ManyStrengths:
    """Return the strengths to learn at: a path, unless --alpha is given or a path is not possible."""
    if options.alpha is not None:
        return OneStrength(options.alpha)
    refused = method.path_refusal(penalty)
    if options.path is not None:
        if options.average or options.grow:
            raise UsageError("--path cannot be combined with --average or --grow.")
        if refused is not None:
            raise UsageError(f"{refused}")
        return ManyStrengths(options.path)
    against = "--average" if options.average else "--grow" if options.grow else None
    if refused is not None:
        against = f"{type(method).__name__} with {penalty.label}"
    if against is None:
        return ManyStrengths(STRENGTHS)
    has_strength = penalty.penalises and not penalty.is_set
    if has_strength and not (options.quiet or options.json):
        sys.stderr.write(f"{against} learns one strength, not a path: alpha {ALPHA:g} (--alpha sets another)\n")
    return OneStrength(ALPHA)


def predict(options: argparse.Namespace, reading: dict[str, Any]) -> None:
    """Write one line per row: the prediction, then probabilities or scores if requested; with tabs, or as CSV."""
    fit = load(options.model)
    if options.proba and not fit.probabilistic:
        raise UsageError(f"{type(fit.loss).__name__} gives no probabilities; use --scores.")
    count, heads = 0, _heads(fit, options)
    line = _with_commas if str(options.output).lower().endswith(".csv") else _with_tabs
    with contextlib.ExitStack() as stack:
        out: Any = sys.stdout
        if options.output is not None:
            out = stack.enter_context(output.replaced(options.output, "w"))
        for block, z in fit.each_scores(options.data, **reading):
            tags = block.tags if block.tags is not None and any(block.tags) else None
            if count == 0 and options.header:
                out.write(line(heads + ["tag"] * (tags is not None)))
            out.writelines(map(line, _answers(fit, z, tags, options)))
            count += len(block)
    if options.json:
        print(json.dumps({"rows": count, "output": options.output}), file=sys.stderr)


def _heads(fit: Model, options: argparse.Namespace) -> list[str]:
    """Return the names of the columns that are written."""
    labels = [] if fit.classes is None else [printable(str(label)) for label in fit.classes.tolist()]
    outputs = len(fit.intercept)
    heads = ["label"] if labels else ["prediction"]
    if fit.kind in ("regression", "multilabel") and outputs > 1:
        heads = [f"prediction({r + 1})" for r in range(outputs)]
    if options.proba:
        heads += [f"p({label})" for label in labels]
    if options.scores:
        one = outputs == 1 or (len(labels) == 2 and fit.kind != "multilabel")
        heads += ["score"] if one else [f"score({label})" for label in labels or range(1, outputs + 1)]
    return heads


def _with_tabs(cells: list[str]) -> str:
    return "\t".join(cells) + "\n"


def _with_commas(cells: list[str]) -> str:
    """Return a line of CSV: cells that hold a comma, a quotation mark or the end of a line are quoted."""
    line = ",".join(cells)
    if line.count(",") >= len(cells) or any(mark in line for mark in '"\n\r'):
        line = ",".join(
            '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',"\n\r') else cell for cell in cells
        )
    return line + "\n"


def _answers(fit: Model, z: Any, tags: list[str] | None, options: argparse.Namespace) -> Iterator[list[str]]:
    """Yield the cells of a line: labels as they are, probabilities with 6 digits, other numbers with 9."""
    parts = [np.atleast_2d(fit.targets.predictions(z).T).T.tolist()]
    write = [str if fit.kind != "regression" else "{:.9g}".format]
    if options.proba:
        parts.append(fit.targets.probabilities(z).tolist())
        write.append("{:.6g}".format)
    if options.scores:
        parts.append(np.atleast_2d(fit.targets.decisions(z).T).T.tolist())
        write.append("{:.9g}".format)
    for i, row in enumerate(zip(*parts, strict=True)):
        cells = [word(cell) for word, some in zip(write, row, strict=True) for cell in some]
        yield cells + ([tags[i]] if tags else [])


def inspect(options: argparse.Namespace) -> None:
    """Show a summary of a model and its largest weights."""
    fit = load(options.model)
    order = np.argsort(-fit.sizes, kind="stable")[: options.top]
    W = fit.weights_of(order)
    if options.json:
        places = enumerate(order.tolist())
        rows = [{"name": fit.name(p), "feature": int(fit.features[p]), "weights": W[i].tolist()} for i, p in places]
        words = {
            "kind": fit.kind,
            "loss": type(fit.loss).__name__,
            "classes": None if fit.classes is None else fit.classes.tolist(),
            "n_features": fit.n_features,
            "nonzero_features": len(fit.features),
            "nonzero_weights": len(fit.value),
            "intercept": fit.intercept.tolist(),
            "input": fit.input,
            "facts": fit.facts,
            "shared": fit.shared,
            "largest": rows,
        }
        print(json.dumps(words, ensure_ascii=False))
        return
    _say(telling.summary(fit), sys.stdout)
    labels = [] if fit.classes is None else [str(c) for c in fit.classes.tolist()]
    outputs = len(fit.intercept)
    shown = range(min(outputs, 6))
    heads = ["weight"] if outputs == 1 else labels or [f"output {r}" for r in range(outputs)]
    _show("")
    _show(f"{'feature':<32}" + "".join(f"{heads[r][:12]:>14}" for r in shown) + ("  …" if outputs > 6 else ""))
    _show(f"{'(intercept)':<32}" + "".join(f"{fit.intercept[r]:>14.6g}" for r in shown))
    for i, p in enumerate(order.tolist()):
        _show(f"{fit.name(p)[:31]:<32}" + "".join(f"{W[i, r]:>14.6g}" for r in shown))


def _show(words: str) -> None:
    """Print a line."""
    print(printable(words))


def export(options: argparse.Namespace) -> None:
    """Export a model to another language."""
    from gossamer.model import exports

    fit = load(options.model)
    if options.to == "onnx":
        data = exports.to_onnx(fit)
    elif options.to == "sql":
        data = exports.to_sql(fit, options.table, options.layout, options.key).encode()
    else:
        data = (exports.to_c(fit, options.name) if options.to == "c" else exports.to_json(fit) + "\n").encode()
    start.working()
    if options.output is None:
        sys.stdout.buffer.write(data)
    else:
        output.write(options.output, [data])


def _classes(words: str, grow: bool) -> Any:
    values = [word.strip() for word in words.split(",")]
    try:
        classes = as_classes(np.array([float(v) for v in values]))
    except ValueError:
        classes = np.unique(np.array(values))
    if len(classes) < 2 and not grow:
        raise UsageError(f"--classes names all labels, at least two of them; {words!r} was given.")
    return classes


def _fingerprint(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that must be the same to resume from a checkpoint: all that affect learning.

    Names and values are those of older checkpoints, where there are such; options that are not given are left out.
    """
    without = {"run", "output", "checkpoint", "every", "json", "quiet", "report", "command", "select"}
    without |= {"exact", "memory", "tol"}  # of what comes after learning
    without |= {"dask", "workers", "merges"}  # of clusters, which have no checkpoints
    without |= set() if options.shuffle else {"seed"}
    without |= set() if options.batch_size > 1 else {"batch_size"}
    without |= set() if options.standardize == "yes" else {"standardize"}
    older = {"category": "categories"}
    joined = {name: ",".join(value) if name in LISTS and value else value for name, value in vars(options).items()}
    joined["no_scale"] = options.standardize == "no"
    return {older.get(name, name): value for name, value in sorted(joined.items()) if name not in without}


LISTS = ("number", "category", "text", "date", "ignore", "missing", "interact")  # options that may be repeated


def _with_facts(fit: Model, facts: dict[str, Any]) -> Model:
    from dataclasses import replace

    return replace(fit, facts=fit.facts | facts)
