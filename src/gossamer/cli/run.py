"""A training run over a source: passes, held-out rows, checkpoints, and the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.cli import scaling
from gossamer.cli.notes import Notes
from gossamer.cli.progress import Progress
from gossamer.cli.tally import Tally, constant_loss
from gossamer.estimators.selection import selected
from gossamer.estimators.targets import Targets
from gossamer.model import model
from gossamer.online.path import LearnedPath
from gossamer.online.stream import Streaming, settled
from gossamer.online.trainer import passes
from gossamer.sources.base import Source
from gossamer.sources.blocks import Block
from gossamer.validation import Array

if TYPE_CHECKING:
    from gossamer.cli.checkpoint import Checkpoint


def held_out(first: int, count: int, fraction: float) -> Array:
    """Return which of the rows with these numbers are held out: a fixed random choice that depends on the number only.

    >>> bool(200 < held_out(0, 1000, 0.25).sum() < 300)
    True
    >>> bool((held_out(0, 1000, 0.25)[500:] == held_out(500, 500, 0.25)).all())
    True
    """
    with np.errstate(over="ignore"):  # splitmix64
        x = (np.arange(first + 1, first + count + 1).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return x < np.uint64(int(fraction * 2**53)) << np.uint64(11)


def parted(block: Block, fraction: float, held: bool) -> Block:
    """Return the held-out rows of a block, or the others."""
    if fraction == 0:
        return block
    which = held_out(block.position.rows - len(block), len(block), fraction)
    return block.taken(np.flatnonzero(which if held else ~which))


def run(
    stream: Streaming,
    source: Source,
    most: int = 1,
    holdout: float = 0.0,
    checkpoint: Checkpoint | None = None,
    show: Callable[[Progress], None] | None = None,
    notes: Notes | None = None,
    scale: bool = False,
) -> None:
    """Make `most` passes over all rows except those held out; resume from a checkpoint if there is one.

    With `scale`, numbers of tables are learned in units of their spread; `notes` says which.
    """
    regression = stream.problem.loss.kind == "regression"
    notes = Notes(Tally(not regression)) if notes is None else notes
    tally = notes.tally
    resumed = None if checkpoint is None else checkpoint.resume(stream, source, notes)
    position, done, seen = resumed or (None, 0, 0)
    first: Iterator[Block] | None = None
    if resumed is None:
        if scale:
            coded = stream.coded_for(None, 1) if regression else None
            notes.scaling = scaling.found(source, coded, lambda block: parted(block, holdout, held=False))
        stream.problem, first = settled(stream.problem, source)
        stream.width = stream.problem.features or 0

    def blocks(number: int) -> Iterator[Block]:
        nonlocal seen
        begins, rows = number == done + 1, 0
        if begins and resumed is not None and tally.began is not None:
            stream.begin_pass(tally.began[:2])
        else:
            tally.begin_pass(stream)
        for block in first if begins and first is not None else source.blocks(position if begins else None):
            kept = parted(block, holdout, held=False)
            yield kept if notes.scaling is None else notes.scaling.applied(kept)
            seen, rows = seen + len(block), rows + len(kept)
            tally.note(stream)
            if number == 1:
                tally.count(kept, len(block) - len(kept), stream)
            if show is not None:
                here = tally.rows if number == 1 else rows
                show(Progress(stream, number - 1, here, seen, tally.pass_loss, block.share))
            if checkpoint is not None:
                checkpoint.offer(stream, source, block.position, number - 1, seen, notes)

    try:
        for finished in passes(stream, blocks, most, done=done):
            tally.end_pass(stream, finished.number)
        stream.check_classes()
        if checkpoint is not None:
            checkpoint.settle()  # what comes next may be interrupted
    except BaseException:
        if checkpoint is not None:
            checkpoint.finish()
        raise


def choose_strength(path: LearnedPath, select: str, constant: float | None) -> tuple[int, dict[str, Any]]:
    """Return the chosen strength, and the losses and non-zeros of all; `constant` is the loss without features."""
    (loss, error), differences, nonzeros = path.progressive(), path.differences(), path.nonzeros()
    if select == "balanced":
        lane = balanced(loss, differences, nonzeros, constant)
    else:
        lane = selected(select, loss, differences, nonzeros)
    known = {
        "alpha": float(path.alphas[lane]),
        "path": {
            "alphas": path.alphas.tolist(),
            "progressive_loss": [x if math.isfinite(x) else None for x in loss.tolist()],
            "standard_error": [x if math.isfinite(x) else None for x in error.tolist()],
            "nonzeros": nonzeros.tolist(),
        },
    }
    return lane, known | {"progressive_loss": float(loss[lane]), "step": float(path.steps[lane])}


KEPT = 0.95  # of what the best strength gains over the model without features


def balanced(loss: Array, error: Array, nonzeros: Array, constant: float | None) -> int:
    """Return the sparsest strength within one standard error of the best that keeps 95% of its gain.

    The gain is over the model without features. Losses of different strengths are of the same rows, so the standard
    error alone lets too much go where there are few rows.

    >>> loss, error, nonzeros = np.array([0.69, 0.62, 0.51, 0.50]), np.full(4, 0.15), np.array([0, 3, 9, 80])
    >>> balanced(loss, error, nonzeros, 0.7), balanced(loss, np.full(4, 0.001), nonzeros, 0.7)
    (2, 3)
    """
    lowest = loss[selected("best", loss, error, nonzeros)]
    enough = None
    if constant is not None and constant > lowest:
        enough = loss <= constant - KEPT * (constant - lowest)
    return selected("sparsest", loss, error, nonzeros, enough)


def fitted(stream: Streaming, source: Source, facts: dict[str, Any], select: str, notes: Notes) -> model.Model:
    """Return the model learned so far; `select` chooses a strength if there are many."""
    trainer, tally = stream.trainer, notes.tally
    if trainer is None:
        raise ValueError("The source has no rows: there is nothing to learn from.")
    known: dict[str, Any] = {
        "rows": tally.rows,
        "progressive_loss": tally.loss / tally.weight if tally.weight > 0 else None,
        "training_loss": tally.pass_loss if tally.passes > 1 and not trainer.strategy.judges else None,
        "constant_loss": tally.constant_loss(trainer.targets),
        "step": float(trainer.setting) if isinstance(trainer.setting, (int, float)) else None,
        "collisions": source.collisions,
        "skipped_lines": source.rejects.count,
    }
    if trainer.strategy.judges:
        path = LearnedPath(trainer)
        lane, of_path = choose_strength(path, select, known["constant_loss"])
        (W, b), facts = path.read(lane), facts | of_path
    else:
        W, b = trainer.read()
    W = W[: stream.width]
    if notes.scaling is not None:
        W, b = notes.scaling.undone(W, b)
        if not (notes.scaling.spread == 1).all():  # the penalty is about weights in these units
            facts = facts | {"units": notes.scaling.spread.tolist()}
    return modelled(trainer.targets, W, b, source, known | facts)


def modelled(coded: Targets, W: Array, b: Array, source: Source, facts: dict[str, Any]) -> model.Model:
    """Return the model with these weights, features × outputs, learned from a source."""
    used = model.used_features(W)
    named = len(used) > 0 and source.name(int(used[0])) is not None
    names = {j: source.name(j) for j in used.tolist()} if named else None
    others = {j: source.other_name(j) for j in used.tolist()} if source.collisions else {}
    return model.from_weights(
        coded,
        W,
        b,
        names,
        shared={str(names[j]): other for j, other in others.items() if other} if names else {},
        input=source.settings(),
        facts=facts,
    )


MOST_SCORES = 1_000_000  # held-out rows that are ordered by their scores


def measured(fit: model.Model, source: Source, holdout: float = 0.0, commonest: Any = None) -> dict[str, Any]:
    """Return the number of held-out rows (or of all rows), and what the model does on them.

    That is the mean loss, and the error of two or more classes or R² and RMSE of numbers; with them what the model
    without features does: the best constant, or always `commonest`. Of two classes also the area under the ROC curve.
    """
    count, loss, wrong, missed, total, squares = 0, 0.0, 0.0, 0, 0.0, 0.0
    kept: list[tuple[Array, Array, Array | None]] = []
    for whole in source.blocks():
        block = parted(whole, holdout, held=True) if holdout else whole
        if len(block) == 0 or block.label is None:
            continue
        z, n = fit.scores(block), len(block)
        y = fit.targets.encode(block.label)
        values = fit.loss.value(z, y[:, 0].astype(np.int64) if fit.kind == "multiclass" else y)
        loss += float(np.sum(values))
        count += n
        answers = fit.targets.predictions(z)
        if sum(len(labels) for labels, _, _ in kept) < MOST_SCORES:
            kept.append((block.label, z[:, 0], block.rows.offset))
        if fit.kind == "regression":
            wrong += float(np.sum((answers - block.label) ** 2))
            total, squares = total + float(block.label.sum()), squares + float((block.label**2).sum())
        else:
            wrong += float(np.sum(answers != block.label))
            missed += int(np.count_nonzero(block.label != commonest))
    if count == 0:
        return {"rows": 0}
    labels = np.concatenate([labels for labels, _, _ in kept])
    offset = None if kept[0][2] is None else np.concatenate([o for _, _, o in kept if o is not None])
    result = {"rows": count, "loss": loss / count, "constant_loss": constant_loss(fit.targets, labels, None, offset)}
    if fit.kind == "regression":
        spread = squares - total**2 / count
        r2 = 1 - wrong / spread if spread > 0 else float("nan")
        return result | {"r2": r2, "rmse": math.sqrt(wrong / count), "constant_rmse": math.sqrt(max(spread, 0) / count)}
    result |= {"error": wrong / count, "wrong": int(wrong)}
    if commonest is not None:
        result |= {"commonest": commonest, "constant_error": missed / count}
    if fit.kind == "binary" and fit.targets.classes is not None:
        result["auc"] = area_under_roc(np.concatenate([z for _, z, _ in kept]), labels == fit.targets.classes[1])
    return result


def area_under_roc(scores: Array, positive: Array) -> float | None:
    """Return how often a positive row has a higher score than another; ties count half. None if there is one class.

    >>> area_under_roc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]))
    0.875
    """
    many = int(positive.sum())
    if many in (0, len(positive)):
        return None
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2  # the mean rank of equal scores, from 1
    return float((rank[place][positive].sum() - many * (many + 1) / 2) / (many * (len(positive) - many)))
