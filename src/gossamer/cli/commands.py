"""The commands: train, predict, inspect, export."""

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
from gossamer.cli import start
from gossamer.cli.progress import Meter
from gossamer.cli.run import fitted, measured, run
from gossamer.model.model import Model, load, save
from gossamer.online.strategies import ManyStrengths, OneStrength
from gossamer.online.stream import Problem, Streaming, as_classes
from gossamer.registry import Registry
from gossamer.sources.base import Source
from gossamer.sources.blocks import Block

STRENGTHS = 16  # strengths of a path
ALPHA = 1e-5  # the strength where there is no path


def part(text: str, table: Registry) -> Any:
    """Return the part named by a text such as `l1` or `elastic_net(l1_ratio=0.3)`.

    >>> part("elastic_net(l1_ratio=0.3)", penalties.PENALTIES).l1_ratio
    0.3
    """
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
    if match is None:
        raise ValueError(
            f"A {table.noun} is a name such as {next(iter(table))!r}, with settings in brackets; {text!r} was given."
        )
    name, settings = match.groups()
    make = table.named(name)
    if not settings:
        return make()
    try:
        call = ast.parse(f"f({settings})", mode="eval").body
        assert isinstance(call, ast.Call)
        given = [ast.literal_eval(value) for value in call.args]
        named = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
        return make(*given, **named)
    except (SyntaxError, TypeError, AssertionError) as error:
        raise ValueError(f"The settings of the {table.noun} {text!r} are invalid: {error}") from None


def train(options: argparse.Namespace, rows: Source) -> bool:
    """Learn a model from rows and write it; return whether learning was interrupted."""
    penalty = part(options.penalty, penalties.PENALTIES)
    auto = options.method == "auto"
    loss = part(options.loss, losses.LOSSES)
    method = methods.resolve_for("auto", penalty, loss) if auto else part(options.method, methods.METHODS)
    strategy = _strategy(options, method, penalty)
    problem = Problem(
        loss,
        penalty,
        strategy,
        method,
        not options.no_intercept,
        options.average,
        options.grow,
        None if options.classes is None else _classes(options.classes),
        options.features,
    )
    if not rows.rereadable and (options.passes > 1 or options.holdout > 0):
        raise ValueError(
            "--passes and --holdout read the data again, which is not possible with standard input and pipes."
        )
    facts = {"penalty": options.penalty, "alpha": strategy.alpha, "method": options.method, "passes": options.passes}
    stream, checkpoint = Streaming(problem), None
    if options.checkpoint is not None:
        from gossamer.cli.checkpoint import Checkpoint

        checkpoint = Checkpoint(options.checkpoint, options.every, _fingerprint(options), getattr(rows, "paths", None))
    show = Meter(options.passes, quiet=options.quiet or options.json, remember=options.report is not None)
    interrupted = False
    try:
        run(stream, rows, options.passes, options.holdout, checkpoint, show)
    except KeyboardInterrupt:
        if stream.trainer is None:
            raise
        interrupted = True
    fit = fitted(stream, rows, facts, options.select)
    show.clear()
    test = measured(fit, rows, options.holdout) if options.holdout and not interrupted else None
    fit = fit if test is None else _with_facts(fit, {"holdout": test})
    save(fit, options.output)
    if options.report is not None:
        from gossamer.model import report

        report.write(options.report, fit, show.history)
    if checkpoint is not None and not interrupted:
        checkpoint.delete()
    _tell_training(options, fit, rows, show, test, interrupted)
    return interrupted


def _strategy(options: argparse.Namespace, method: Any, penalty: Any) -> OneStrength | ManyStrengths:
    """Return the strengths to learn at: a path, unless --alpha is given or a path is not possible."""
    if options.alpha is not None:
        if options.path is not None:
            raise ValueError("--alpha is one strength and --path chooses one of several: give one of the two.")
        return OneStrength(options.alpha)
    refused = method.path_refusal(penalty)
    if options.path is not None:
        if options.average or options.grow:
            raise ValueError("--path cannot be combined with --average or --grow.")
        if refused is not None:
            raise refused
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


def _tell_training(
    options: argparse.Namespace, fit: Model, rows: Source, show: Meter, test: dict[str, float] | None, interrupted: bool
) -> None:
    facts = fit.facts
    summary = {
        "model": str(options.output),
        "rows": facts["rows"],
        "features": fit.n_features,
        "nonzero_features": len(fit.features),
        "progressive_loss": facts["progressive_loss"],
        "step": facts["step"],
        "alpha": facts["alpha"],
        "path": facts.get("path"),
        "seconds": round(show.seconds, 3),
        "skipped_lines": rows.rejects.count,
        "collisions": facts["collisions"],
        "holdout": test,
        "interrupted": interrupted,
    }
    if options.json:
        print(json.dumps(summary))
        return
    if options.quiet:
        return
    say = sys.stderr.write
    if "path" in facts:
        say(f"{'alpha':>10}  {'progressive loss':>16}  {'weights':>9}\n")
        path = facts["path"]
        for alpha, loss, count in zip(path["alphas"], path["progressive_loss"], path["nonzeros"], strict=True):
            mark = "  <- chosen" if alpha == facts["alpha"] else ""
            say(f"{alpha:>10.3g}  {'diverged' if loss is None else format(loss, '.5f'):>16}  {count:>9,}{mark}\n")
    say(f"{facts['rows']:,} examples in {show.seconds:.2f} s, progressive loss {facts['progressive_loss']:.5f}\n")
    say(f"{len(fit.features):,} of {fit.n_features:,} features have weights\n")
    if test is not None and test["rows"]:
        what = f"R² {test['r2']:.4f}" if "r2" in test else f"error {test['error']:.4f}"
        say(f"held out: {test['rows']:,.0f} examples, loss {test['loss']:.5f}, {what}\n")
    if rows.rejects.count:
        say(f"{rows.rejects.count:,} lines could not be read, for instance:\n")
        say("".join(f"  {line}\n" for line in rows.rejects.examples))
    if facts["collisions"]:
        say(f"{facts['collisions']:,} hashed features have several names, {len(fit.shared)} of them with weights\n")
    say(f"{'interrupted; ' if interrupted else ''}model written to {options.output}\n")


def predict(options: argparse.Namespace, reading: dict[str, Any]) -> None:
    """Write one line per row: the prediction, then probabilities or scores if requested."""
    fit = load(options.model)
    if options.proba and not fit.probabilistic:
        raise ValueError(f"{type(fit.loss).__name__} gives no probabilities; use --scores.")
    count = 0
    with contextlib.ExitStack() as stack:
        out: Any = sys.stdout
        if options.output is not None:
            out = stack.enter_context(output.replaced(options.output, "w"))
        for block, z in fit.each_scores(options.data, **reading):
            out.writelines(_answer_lines(fit, block, z, options))
            count += len(block)
    if options.json:
        print(json.dumps({"rows": count, "output": options.output}), file=sys.stderr)


def _answer_lines(fit: Model, block: Block, z: Any, options: argparse.Namespace) -> Iterator[str]:
    columns = [np.atleast_2d(fit.targets.predictions(z).T).T.astype(object)]
    if options.proba:
        columns.append(fit.targets.probabilities(z).astype(object))
    if options.scores:
        columns.append(np.atleast_2d(fit.targets.decisions(z).T).T.astype(object))
    tags = block.tags if block.tags is not None and any(block.tags) else None
    for i, row in enumerate(np.hstack(columns).tolist()):
        yield "\t".join([str(word) for word in row] + ([tags[i]] if tags else [])) + "\n"


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
    labels = [] if fit.classes is None else [str(c) for c in fit.classes.tolist()]
    shortened = ", ".join(labels[:10]) + (", …" if len(labels) > 10 else "")
    _show(f"{fit.kind} model, {type(fit.loss).__name__} loss" + (f", classes {shortened}" if labels else ""))
    _show(f"{len(fit.features):,} of {fit.n_features:,} features have weights")
    for name, value in fit.facts.items():
        _show(f"  {name:<18} {value}")
    if fit.shared:
        _show(
            f"{len(fit.shared)} names share their weight with another: "
            + ", ".join(f"{a} / {b}" for a, b in list(fit.shared.items())[:5])
        )
    outputs = len(fit.intercept)
    shown = range(min(outputs, 6))
    heads = ["weight"] if outputs == 1 else labels or [f"output {r}" for r in range(outputs)]
    _show("")
    _show(f"{'feature':<32}" + "".join(f"{heads[r][:12]:>14}" for r in shown) + ("  …" if outputs > 6 else ""))
    _show(f"{'(intercept)':<32}" + "".join(f"{fit.intercept[r]:>14.6g}" for r in shown))
    for i, p in enumerate(order.tolist()):
        _show(f"{fit.name(p)[:31]:<32}" + "".join(f"{W[i, r]:>14.6g}" for r in shown))


def _show(words: str) -> None:
    """Print a line; characters that a terminal would obey are written as escapes."""
    print("".join(c if c.isprintable() else ascii(c)[1:-1] for c in words))


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


def _classes(words: str) -> Any:
    values = [word.strip() for word in words.split(",")]
    try:
        return as_classes(np.array([float(v) for v in values]))
    except ValueError:
        return np.unique(np.array(values))


def _fingerprint(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that must be the same to resume from a checkpoint: all that affect learning."""
    without = {"run", "output", "checkpoint", "every", "json", "quiet", "report", "command", "select"}
    return {name: value for name, value in sorted(vars(options).items()) if name not in without}


def _with_facts(fit: Model, facts: dict[str, Any]) -> Model:
    from dataclasses import replace

    return replace(fit, facts=fit.facts | facts)
