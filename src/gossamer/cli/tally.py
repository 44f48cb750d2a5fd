"""What is counted while the first pass reads: rows, labels and their order; and the best model without features."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gossamer.estimators.targets import Targets, distinct
from gossamer.model import schema
from gossamer.model.file_format import FileError
from gossamer.online.stream import Streaming
from gossamer.sources.blocks import Block
from gossamer.validation import Array

SAMPLE = 4096  # labels that are kept of numbers to predict
SEGMENTS = 64  # parts of the data whose mean labels are compared
FEW = 60  # with fewer rows nothing is said about their order


class Tally:
    """Counts of the first pass. `state` and `restore` are for checkpoints.

    >>> tally = Tally()
    >>> tally.add(np.repeat([0.0, 1.0], 50), None, None)
    >>> tally.counts, tally.changes, tally.expected_changes
    ({0.0: 50.0, 1.0: 50.0}, 1, 49.5)
    """

    def __init__(self, classes: bool = True) -> None:
        self.classes = classes  # whether labels are classes, not numbers
        self.rows = 0  # rows learned from
        self.held = 0  # rows held out
        self.loss = 0.0  # sum of the losses of these rows, each before it was learned from
        self.weight = 0.0  # sum of their weights
        self.passes = 0  # complete passes
        self.began: tuple[int, float, float] | None = None  # round, loss and weight at which this pass began
        self.pass_loss = 0.0  # mean loss of this pass so far, each row before it was learned from
        self.counts: dict[Any, float] = {}  # of the classes, weighted
        self.changes = 0  # rows with another label than the row before
        self.last: Any = None
        self.sums = [0.0, 0.0, 0.0]  # of the labels (or the numbers of the classes), their squares, and with the next
        self.sample: list[list[float]] = []  # label, weight, offset of every stride-th row
        self.stride = 1
        self.segments: list[list[float]] = []  # rows, and the sum of their labels
        self.length = 8  # rows of a full segment

    def note(self, stream: Streaming) -> None:
        """Note the loss of this pass."""
        trainer, (_, _, weight) = stream.trainer, self.began or (0, 0.0, 0.0)
        if trainer is not None and not trainer.strategy.judges:
            self.pass_loss = trainer.pass_loss / max(trainer.weight_seen - weight, 1e-300)
            self.began = (*trainer.pass_began, weight)  # it moves while the first rows decide on a step

    def end_pass(self, stream: Streaming, number: int) -> None:
        """Count the rows that were the last batch of a pass."""
        self.passes = number
        self.note(stream)
        if number == 1:
            self._take_losses(stream)

    def begin_pass(self, stream: Streaming) -> None:
        """Note where a pass begins."""
        self.began, trainer = None, stream.trainer
        if trainer is not None and not trainer.strategy.judges:
            self.began = (*trainer.pass_began, trainer.weight_seen)

    def count(self, block: Block, held: int, stream: Streaming) -> None:
        """Count a block of the first pass that was learned from, and the rows of it that were held out."""
        self.held += held
        if block.label is not None:
            self.add(block.label, block.weight, block.rows.offset)
        self._take_losses(stream)

    def _take_losses(self, stream: Streaming) -> None:
        if stream.trainer is not None and not stream.trainer.strategy.judges:
            self.loss, self.weight = stream.trainer.loss_seen, stream.trainer.weight_seen

    def add(self, labels: Array, weight: Array | None, offset: Array | None) -> None:
        """Count some rows."""
        if len(labels) == 0:
            return
        y = self._coded(labels, weight) if self.classes else labels.astype(float)
        self.changes += int(np.count_nonzero(y[1:] != y[:-1])) + int(self.last is not None and y[0] != self.last)
        products = float(y[1:] @ y[:-1]) + (0.0 if self.last is None else float(self.last * y[0]))
        for i, more in enumerate((float(y.sum()), float(y @ y), products)):
            self.sums[i] += more
        if not self.classes or offset is not None:
            self._keep(y, weight, offset)
        self._divide(y)
        self.rows, self.last = self.rows + len(y), float(y[-1])

    def _coded(self, labels: Array, weight: Array | None) -> Array:
        """Return the number of each label's class, in the order of appearance."""
        found = distinct(labels)
        if len(found) <= 2:
            place = (labels == found[-1]).astype(np.intp) * (len(found) - 1)
        else:
            place = np.searchsorted(found, labels)
        new = np.bincount(place, weight, len(found)).tolist()
        for label, count in zip(found.tolist(), new, strict=True):
            self.counts[label] = self.counts.get(label, 0.0) + count
        number = {label: float(i) for i, label in enumerate(self.counts)}
        return np.array([number[label] for label in found.tolist()])[place]

    def _keep(self, y: Array, weight: Array | None, offset: Array | None) -> None:
        """Keep every stride-th row; which ones does not depend on the blocks."""
        for i in range(-self.rows % self.stride, len(y), self.stride):
            w, o = 1.0 if weight is None else float(weight[i]), 0.0 if offset is None else float(offset[i])
            self.sample.append([float(y[i]), w, o])
        while len(self.sample) > SAMPLE:
            self.sample, self.stride = self.sample[::2], 2 * self.stride

    def _divide(self, y: Array) -> None:
        begin = 0
        while begin < len(y):
            if not self.segments or self.segments[-1][0] >= self.length:
                self.segments.append([0, 0.0])
            end = min(len(y), begin + self.length - int(self.segments[-1][0]))
            self.segments[-1][0] += end - begin
            self.segments[-1][1] += float(y[begin:end].sum())
            begin = end
            if len(self.segments) == SEGMENTS and self.segments[-1][0] == self.length:
                pairs = zip(self.segments[::2], self.segments[1::2], strict=True)
                self.segments, self.length = [[a[0] + b[0], a[1] + b[1]] for a, b in pairs], 2 * self.length

    # The order of the rows

    @property
    def expected_changes(self) -> float:
        """How often the label would change from row to row if the rows were shuffled."""
        total = sum(self.counts.values())
        return self.rows * (1 - sum((count / total) ** 2 for count in self.counts.values())) - 0.5 if total else 0.0

    def _explained(self) -> float:
        """Return the share of the variance of the labels that lies between the segments, 0 if shuffled."""
        spread = self.sums[1] - self.sums[0] ** 2 / self.rows
        if spread <= 0 or len(self.segments) < 3:
            return 0.0
        between = sum(total**2 / count for count, total in self.segments) - self.sums[0] ** 2 / self.rows
        free = len(self.segments) - 1
        by_chance = (free + 6 * math.sqrt(2 * free)) / self.rows  # the mean of χ², and six of its deviations
        return max(0.0, between / spread - by_chance)

    def disorder(self) -> str | None:
        """Return what is wrong with the order of the rows, or None."""
        if self.rows < FEW:
            return None
        expected = self.expected_changes
        if self.classes and expected >= 10 and self.changes < 0.5 * expected:
            return f"the labels come in runs ({self.changes + 1:,} in {self.rows:,} rows; {expected:,.0f} if shuffled)"
        mean = self.sums[0] / self.rows
        spread = self.sums[1] / self.rows - mean**2
        neighbours = (self.sums[2] / (self.rows - 1) - mean**2) / spread if spread > 1e-12 * mean**2 else 0.0
        if not self.classes and neighbours > 0.6:
            return f"the target hardly changes from row to row (neighbours have a correlation of {neighbours:.2f})"
        others = sum(self.counts.values()) - max(self.counts.values(), default=0.0)
        if self._explained() > 0.1 and (not self.classes or others >= 20):
            what = "shares of the classes change" if self.classes else "target changes"
            return f"the {what} from the beginning to the end of the data"
        return None

    # The model without features

    def commonest(self) -> Any:
        """Return the class with the largest weight."""
        return max(self.counts, key=lambda label: self.counts[label]) if self.counts else None

    def constant_loss(self, targets: Targets) -> float | None:
        """Return the mean loss of the best model without features, or None if it is not known."""
        if self.sample:
            y, weight, offset = np.array(self.sample).T
            if self.classes:
                labels = np.array(list(self.counts))[y.astype(int)]
                return constant_loss(targets, labels, weight, offset)
            return constant_loss(targets, y, weight, offset)
        if not self.counts:
            return None
        return constant_loss(targets, np.array(list(self.counts)), np.array(list(self.counts.values())))

    # Checkpoints

    def state(self) -> dict[str, Any]:
        """Return the counts as JSON values and arrays."""
        kept = {name: value for name, value in vars(self).items() if name not in ("classes", "counts")}
        return kept | {
            "labels": list(self.counts),
            "counts": np.array(list(self.counts.values())),
            "sample": np.array(self.sample, float).reshape(-1, 3),
            "segments": np.array(self.segments, float).reshape(-1, 2),
        }

    def recall(self, trainer: Any, passes: int) -> None:
        """Count what a trainer knows, where a checkpoint has no counts."""
        self.rows = trainer.rounds // max(passes, 1)
        if not trainer.strategy.judges:
            self.loss, self.weight = trainer.loss_seen, trainer.weight_seen

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from such a state, checked by `TALLY`."""
        kept = {name: value for name, value in state.items() if name != "labels"}
        kept["counts"] = dict(zip(state["labels"], state["counts"].tolist(), strict=True))
        kept["began"] = None if state["began"] is None else tuple(state["began"])
        kept["sample"], kept["segments"] = state["sample"].tolist(), state["segments"].tolist()
        self.__dict__.update(kept)


_rows = schema.whole(0, 1 << 62)
_numbers = schema.listed(schema.finite)
_three = schema.Rule("three numbers", lambda v: _numbers.holds(v) and len(v) == 3)
_began = schema.Rule("a round, a loss and a weight", lambda v: _three.holds(v) and _rows.holds(v[0]))
TALLY: schema.Table = {  # what a checkpoint keeps
    "rows": ("number of rows", _rows),
    "held": ("number of rows held out", _rows),
    "loss": ("sum of losses", schema.finite),
    "weight": ("sum of weights", schema.finite),
    "passes": ("number of passes", _rows),
    "began": ("begin of a pass", schema.maybe(_began)),
    "pass_loss": ("loss of a pass", schema.finite),
    "changes": ("number of changes", _rows),
    "last": ("last label", schema.maybe(schema.finite)),
    "sums": ("sums of labels", _three),
    "stride": ("stride", schema.whole(1, 1 << 62)),
    "length": ("length of a segment", schema.whole(1, 1 << 62)),
    "labels": ("labels", schema.listed(schema.either(schema.finite, schema.text), distinct=True)),
    "counts": ("counts of labels", schema.array(np.float64)),
    "sample": ("sample of labels", schema.array(np.float64, 2)),
    "segments": ("segments", schema.array(np.float64, 2)),
}


def checked(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a tally, every value checked."""
    schema.check(state, TALLY, where="counts")
    same = len(state["labels"]) == len(state["counts"])
    if not same or state["sample"].shape[1:] != (3,) or state["segments"].shape[1:] != (2,):
        raise FileError("invalid counts: their lengths do not agree. The file is corrupt.")
    numbers = [state[name].reshape(-1) for name in ("counts", "sample", "segments")]
    if not np.isfinite(np.concatenate(numbers)).all():
        raise FileError("invalid counts: they are not finite. The file is corrupt.")
    return state


def constant_loss(targets: Targets, labels: Array, weight: Array | None, offset: Array | None = None) -> float | None:
    """Return the mean loss of the best constant scores for these labels.

    >>> from gossamer import Logistic, Squared
    >>> from gossamer.estimators.targets import for_labels, for_regression
    >>> y = np.array([0, 0, 0, 1])
    >>> round(constant_loss(for_labels(np.array([0, 1]), Logistic(), False), y, None), 6)  # the entropy of 1/4
    0.562335
    >>> round(constant_loss(for_regression(y, Squared()), y, None), 6)
    0.09375
    """
    y, weight = targets.encode(labels), np.ones(len(labels)) if weight is None else weight
    total = float(weight.sum())
    if total <= 0 or (targets.kind == "regression" and y.shape[1] > 1):
        return None
    if targets.kind == "multiclass":
        shares = np.bincount(y[:, 0].astype(int), weight, targets.outputs) / total
        sure = np.eye(targets.outputs)[shares.argmax()]
        z = np.log(np.maximum(shares, 1e-12)) if targets.loss.probabilistic else sure
        values = targets.loss.value(np.tile(z, (len(y), 1)), y[:, 0].astype(np.int64))
        return float(values @ weight / total)
    return sum(lowest(mean_loss(targets.loss, y[:, k], weight, offset))[1] for k in range(y.shape[1]))


def mean_loss(loss: Any, y: Array, weight: Array | None, offset: Array | None) -> Callable[[float], float]:
    """Return the mean loss of one score for all rows, besides their offsets, as a function of it."""
    y, shift = np.ascontiguousarray(y), 0.0 if offset is None else offset
    weight = np.ones(len(y)) if weight is None else weight

    def at(score: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(loss.value(np.full(len(y), score) + shift, y) @ weight / weight.sum())
        return value if math.isfinite(value) else math.inf

    return at


def lowest(f: Callable[[float], float]) -> tuple[float, float]:
    """Return where a convex function of one number is lowest, and its value there.

    >>> x, value = lowest(lambda x: (x - 300) ** 2 + 1)
    >>> round(x, 3), round(value, 9)
    (300.0, 1.0)
    """
    step, here, value = 1.0, 0.0, f(0.0)
    for _ in range(500):
        if step < 1e-9 * max(1.0, abs(here)):
            break
        at = next(((x, y) for x in (here + step, here - step) if (y := f(x)) < value), None)
        if at is None:
            step /= 2
        else:
            (here, value), step = at, 2 * step
    return here, value
