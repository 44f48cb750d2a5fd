"""A training run over a source: passes, held-out rows, checkpoints, and the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.cli.progress import Progress
from gossamer.estimators.selection import selected
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
) -> None:
    """Make `most` passes over all rows except those held out; resume from a checkpoint if there is one."""
    resumed = None if checkpoint is None else checkpoint.resume(stream, source)
    position, done, seen = resumed or (None, 0, 0)
    first: Iterator[Block] | None = None
    if resumed is None:
        stream.problem, first = settled(stream.problem, source)
        stream.width = stream.problem.features or 0

    def blocks(number: int) -> Iterator[Block]:
        nonlocal seen
        begins = number == done + 1
        for block in first if begins and first is not None else source.blocks(position if begins else None):
            yield parted(block, holdout, held=False)
            seen += len(block)
            if show is not None:
                show(Progress(stream, number - 1, seen, block.share))
            if checkpoint is not None:
                checkpoint.offer(stream, source, block.position, number - 1, seen)

    try:
        list(passes(stream, blocks, most, done=done))
        stream.check_classes()
        if checkpoint is not None:
            checkpoint.settle()  # what comes next may be interrupted
    except BaseException:
        if checkpoint is not None:
            checkpoint.finish()
        raise


def choose_strength(path: LearnedPath, select: str) -> tuple[int, dict[str, Any]]:
    """Return the chosen strength, and the losses and non-zeros of all."""
    (loss, error), nonzeros = path.progressive(), path.nonzeros()
    lane = selected(select, loss, error, nonzeros)
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


def fitted(stream: Streaming, source: Source, facts: dict[str, Any], select: str) -> model.Model:
    """Return the model learned so far; `select` chooses a strength if there are many."""
    trainer = stream.trainer
    if trainer is None:
        raise ValueError("The source has no rows: there is nothing to learn from.")
    if trainer.strategy.judges:
        path = LearnedPath(trainer)
        lane, of_path = choose_strength(path, select)
        (W, b), facts = path.read(lane), facts | of_path
    else:
        W, b = trainer.read()
    W = W[: stream.width]
    used = model.used_features(W)
    named = len(used) > 0 and source.name(int(used[0])) is not None
    names = {j: source.name(j) for j in used.tolist()} if named else None
    others = {j: source.other_name(j) for j in used.tolist()} if source.collisions else {}
    known = {
        "rows": trainer.rounds,
        "progressive_loss": trainer.loss_seen / trainer.weight_seen if trainer.weight_seen > 0 else None,
        "step": float(trainer.setting) if isinstance(trainer.setting, (int, float)) else None,
        "collisions": source.collisions,
        "skipped_lines": source.rejects.count,
    }
    return model.from_weights(
        trainer.targets,
        W,
        b,
        names,
        shared={str(names[j]): other for j, other in others.items() if other} if names else {},
        input=source.settings(),
        facts=known | facts,
    )


def measured(fit: model.Model, source: Source, holdout: float = 0.0) -> dict[str, float]:
    """Return the number of held-out rows (or of all rows), and the loss and error or R² of the model on them."""
    count, loss, wrong, total, squares = 0, 0.0, 0.0, 0.0, 0.0
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
        if fit.kind == "regression":
            wrong += float(np.sum((answers - block.label) ** 2))
            total, squares = total + float(block.label.sum()), squares + float((block.label**2).sum())
        else:
            wrong += float(np.sum(answers != block.label))
    if count == 0:
        return {"rows": 0}
    if fit.kind == "regression":
        spread = squares - total**2 / count
        return {"rows": count, "loss": loss / count, "r2": 1 - wrong / spread if spread > 0 else float("nan")}
    return {"rows": count, "loss": loss / count, "error": wrong / count}
