"""`train --exact`: from the online path's strength and features to the optimum of the whole file; `certify`."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gossamer import penalties
from gossamer.batch import beyond
from gossamer.batch.passes import Passes
from gossamer.batch.proof import Proof, certify
from gossamer.cli.notes import Notes
from gossamer.cli.run import modelled, parted
from gossamer.cli.words import UsageError, short
from gossamer.groups import Known, NamedGroups
from gossamer.model.model import Model, load
from gossamer.online.stream import Streaming
from gossamer.sources.base import Source
from gossamer.sources.blocks import Block


def check(options: argparse.Namespace, rows: Source) -> None:
    """Raise if an exact solution is not possible with these options."""
    if not options.exact:
        if options.memory is not None or options.tol is not None:
            raise UsageError("--memory and --tol are for --exact.")
        return
    if not rows.rereadable:
        raise UsageError("--exact reads the data again, which is not possible with standard input and pipes.")
    for flag in ("average", "grow"):
        if getattr(options, flag):
            raise UsageError(f"--exact finds the optimum of all rows; --{flag} is for learning in passes.")


def refined(
    options: argparse.Namespace,
    stream: Streaming,
    rows: Source,
    fit: Model,
    notes: Notes,
    penalty: Any,
    say: Callable[[str], None],
) -> tuple[Model, bool]:
    """Return the model at the optimum, and whether Ctrl-C ended the search; then it is the best one so far."""
    coded, scaling = stream.trainer.targets, notes.scaling
    if not (coded.loss.has_best_intercept or options.no_intercept):
        raise UsageError(f"--exact with {coded.loss.label} goes without an intercept: add --no-intercept.")

    def blocks() -> Iterator[Block]:
        for block in rows.blocks():
            kept = parted(block, options.holdout, held=False)
            yield kept if scaling is None else scaling.applied(kept)

    budget, passes = beyond.Budget.of(options.memory), Passes(blocks)
    alpha = float(fit.facts["alpha"])
    found = passes.first(coded.kind == "regression", "train", budget.sample)
    if isinstance(penalty.groups, NamedGroups):
        used, column_of = np.flatnonzero(found.counts), np.full(found.width, -1)
        column_of[used] = rows.column_of(used)
        names = [rows.name(j) or str(j) for j in range(found.width)]
        penalty = penalty.bound(Known(found.width, names, rows.column_names, column_of))
    tol = 1e-4 if options.tol is None else options.tol
    intercept = not options.no_intercept
    problem = beyond.Problem(passes, found, coded, found.weight, penalty, alpha, intercept, tol=tol)
    try:
        exact = beyond.minimise(problem, budget, start=fit.features, tell=say)
    except KeyboardInterrupt:
        return fit, True
    W = np.zeros((found.width, coded.outputs))
    W[exact.columns] = exact.W
    b = exact.intercept
    if scaling is not None:
        W, b = scaling.undone(W, b)
    proved = {
        "objective": exact.certificate.objective,
        "dual_gap": exact.certificate.gap,
        "certificate": exact.certificate.name,
        "gap_share": exact.certificate.gap / exact.unit,
        "exact_passes": passes.count,
        "short": exact.short or (None if exact.converged or exact.interrupted else "the solver made no more progress"),
    }
    return modelled(coded, W, b, rows, fit.facts | proved), exact.interrupted


def prove(options: argparse.Namespace, reading: dict[str, Any]) -> None:
    """Print the certificate of a model on data."""
    from gossamer.cli.commands import part

    penalty = None if options.penalty is None else part(options.penalty, penalties.PENALTIES)
    proof = certify(load(options.model), options.data, penalty=penalty, alpha=options.alpha, **reading)
    if options.json:
        print(json.dumps({name: _plain(value) for name, value in _facts(proof).items()}, ensure_ascii=False))
        return
    for name, words in lines(proof):
        print(f"{name:<12}{words}")


def lines(proof: Proof) -> list[tuple[str, str]]:
    """Return what is proved, for people.

    >>> lines(Proof(10, 0.25, 0.5, 0.4, 0.1))[2:]
    [('bound', '0.4: no weights have a smaller objective on this data'), ('gap', '0.1, 20% of the objective')]
    >>> lines(Proof(10, 0.25, 0.5, -math.inf, math.inf, "no weight is penalised"))[2:]
    [('bound', 'none is known: no weight is penalised')]
    """
    found = [
        ("rows", f"{proof.rows:,}"),
        ("objective", f"{proof.objective:.8g} (mean loss {short(proof.loss)})"),
    ]
    if not math.isfinite(proof.bound):
        return [*found, ("bound", f"none is known: {proof.reason}")]
    about = f" ({proof.reason})" if proof.reason else ""
    found.append(("bound", f"{proof.bound:.8g}: no weights have a smaller objective on this data{about}"))
    return [*found, ("gap", f"{proof.gap:.3g}, {100 * proof.relative:.2g}% of the objective")]


def _facts(proof: Proof) -> dict[str, Any]:
    names = ("rows", "loss", "objective", "bound", "gap", "reason")
    return {name: getattr(proof, name) for name in names} | {"relative_gap": proof.relative}


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
