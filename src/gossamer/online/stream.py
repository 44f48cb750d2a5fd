"""Learning from a source: the trainer is made for the first block, and grows with the blocks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gossamer.estimators import targets
from gossamer.groups import GrowingGroups, Known, NamedGroups
from gossamer.online.trainer import Trainer
from gossamer.registry import record
from gossamer.sources.base import Source
from gossamer.sources.blocks import Block
from gossamer.validation import Array

LEAST_ROOM = 1 << 10  # features a growing learner starts with


@record
class Problem:
    """The problem to learn from a source; `classes` and `features` are None until they are found."""

    loss: Any
    penalty: Any
    strategy: Any
    method: Any
    fit_intercept: bool = True
    average: bool = False
    grow: bool = False  # whether new classes may appear later
    classes: Array | None = None
    features: int | None = None
    assumed: bool = False  # whether the labels seen first are only one of the classes
    column_of: Any = None  # for groups by name: returns the numbers of the columns that features come from
    sparsest: bool = False  # whether weights that are hardly above their noise are read as zero
    center: Any = False  # which features are centred: True, False, or "auto" for the numbers of tables and arrays
    centred: int = 0  # how many, the first ones, once the source has been looked at
    standardize: Any = False  # whether numbers are in units of their standard deviation: True, False or "auto"
    standardized: int = 0  # how many features are, the first ones, once the source has been looked at
    batch_size: int = 1  # how many rows make a step

    @property
    def widens(self) -> bool:
        """Whether new features may appear later."""
        return self.penalty.grows and self.method.grows

    @property
    def needs_classes(self) -> bool:
        """Whether classes must be found before the first row."""
        return self.loss.kind != "regression" and self.classes is None and not self.grow


def settled(problem: Problem, source: Source) -> tuple[Problem, Iterator[Block]]:
    """Return the problem with its classes, and its number of features if it cannot grow; and the blocks of the source.

    If the first block has the labels 0 and 1, or -1 and 1, these are the classes. Otherwise the source is read once
    more to find them; if it can be read only once, the classes are those of its first block.
    """
    features = source.features if problem.features is None else problem.features
    problem = replace(problem, features=features, centred=centred_in(problem.center, source, features))
    problem = replace(problem, standardized=standardized_in(problem.standardize, source))
    named = isinstance(problem.penalty.groups, NamedGroups)
    find_width = features is None and not (problem.widens or named)
    if find_width and not source.rereadable:
        raise ValueError(
            f"{type(problem.method).__name__} with {problem.penalty.label} must know the number of features "
            "before the first row, and this source can be read only once: use one that can be read again "
            "or give it features=N."
        )
    blocks = source.blocks()
    if named:
        problem, blocks = _with_groups(problem, source, blocks)
    if not problem.needs_classes and not find_width:
        return problem, blocks
    classes, assumed = problem.classes, False
    if problem.needs_classes:
        first = next(blocks, None)
        blocks = blocks if first is None else _chained(first, blocks)
        if first is not None and first.label is not None:
            refuse_other_kind(first.label, problem.loss)
            classes = usual_classes(first.label)
            assumed = classes is not None and len(targets.distinct(first.label)) == 1
    if source.rereadable and (find_width or (problem.needs_classes and classes is None)):
        blocks.close()
        survey = source.survey()
        features = survey.width if find_width else features
        if problem.needs_classes and classes is None and survey.labels is not None:
            refuse_other_kind(survey.labels, problem.loss)
            classes = as_classes(survey.labels)
        blocks = source.blocks()
    return replace(problem, classes=classes, features=features, assumed=assumed), blocks


def centred_in(center: Any, source: Source, features: int | None) -> int:
    """Return how many features are centred: the first ones."""
    if center is False:
        return 0
    if center is True and source.column_names is None:
        if features is None:
            raise ValueError("center=True needs the number of features before the first row; use center='auto'.")
        return features
    return source.numbers


def standardized_in(standardize: Any, source: Source) -> int:
    """Return how many features are standardised: the first ones, numbers of which every row has a value."""
    if standardize is False:
        return 0
    if standardize is True and source.numbers == 0:
        raise ValueError(
            "standardize=True is for arrays and for numbers of tables, and this source has none: the spread of a "
            "feature that few rows have is not known from the first rows. Use method='step_free', which learns all "
            "features in their own units, or standardize='auto'."
        )
    return source.numbers


def _with_groups(
    problem: Problem, source: Source, blocks: Generator[Block, None, None]
) -> tuple[Problem, Generator[Block, None, None]]:
    """Return the problem with the groups of its penalty found among the columns of the source, and the blocks."""
    first = next(blocks, None)  # the columns are known once it is read
    blocks = blocks if first is None else _chained(first, blocks)
    if source.column_names is not None:
        penalty = problem.penalty.growing(source.column_names)
        return replace(problem, penalty=penalty, column_of=columns_of(penalty.groups, source)), blocks
    features = problem.features
    if features is None:
        if not source.rereadable:
            raise ValueError(
                "groups by name need a table, or the number of features: use a source that can be read again "
                "or give it features=N."
            )
        blocks.close()
        features = source.survey().width
        blocks = source.blocks()
    return replace(problem, features=features, penalty=problem.penalty.bound(Known(features))), blocks


def columns_of(groups: GrowingGroups, source: Source) -> Callable[[Array], Array]:
    """Return what finds the columns that features of a source come from, by the numbers that the groups know.

    It may be another source than the one in which the groups were found, or one that was restored.
    """
    known = {name: number for number, name in enumerate(groups.columns)}

    def column_of(features: Array) -> Array:
        names = source.column_names or []
        others = [name for name in names if name not in known]
        if others or not names:
            raise ValueError(
                f"The groups were found in a table with the columns {', '.join(known)}; this source has "
                f"{', '.join(others) or 'no columns'}."
            )
        here, numbers = source.column_of(features), np.array([known[name] for name in names])
        return np.where(here >= 0, numbers[here], -1)

    return column_of


def _chained(first: Block, rest: Generator[Block, None, None]) -> Generator[Block, None, None]:
    yield first
    yield from rest


def refuse_other_kind(labels: Array, loss: Any) -> None:
    """Raise if the labels are words and the loss is for numbers, or fractions and the loss is for classes."""
    regression = loss.kind == "regression"
    targets.refuse_other_kind(labels, regression, "OnlineRegressor" if regression else "OnlineClassifier")


def usual_classes(labels: Array) -> Array | None:
    """Return the classes 0 and 1, or -1 and 1, if the labels are among these; None otherwise."""
    found = set(targets.distinct(labels).tolist())
    for usual in ({0.0, 1.0}, {-1.0, 1.0}):
        if found <= usual and found != {1.0}:
            return np.array(sorted(usual), np.int64) if found else None
    return None


def as_classes(labels: Array) -> Array:
    """Return the distinct labels, whole numbers as integers."""
    return targets.whole_numbers(targets.distinct(labels))


class Streaming:
    """A learner that is fed with blocks.

    `reweigh(labels, weight, targets)` returns the weights of rows times those of their classes.
    """

    def __init__(self, problem: Problem, reweigh: Callable[..., Array | None] | None = None) -> None:
        self.problem = problem
        self.trainer: Any = None  # made for the first block
        self.width = problem.features or 0  # number of features so far
        self.labels: set[Any] = set()  # the first two labels, where the classes are assumed
        self._reweigh = reweigh

    @property
    def weight_seen(self) -> float:
        """The sum of the weights of all rows so far."""
        return 0.0 if self.trainer is None else self.trainer.weight_seen

    def begin_pass(self, resumed: tuple[int, Any] | None = None) -> None:
        """Begin a pass: `pass_loss` counts from here, or from where a resumed one began."""
        if self.trainer is not None:
            self.trainer.begin_pass(resumed)

    @property
    def pass_loss(self) -> float:
        """The weighted sum of the losses of each row of this pass before it was learned from."""
        return 0.0 if self.trainer is None else self.trainer.pass_loss

    def learn(self, block: Block, *, repeated: bool = False) -> None:
        """Learn from the rows of a block in their order; `repeated` says that they were seen before."""
        if len(block) == 0:
            return
        if block.label is None:
            raise ValueError("The rows have no labels to learn from.")
        if block.label.ndim > 1:
            raise ValueError(
                f"A table is learned from block by block, with one target per row; y has {block.label.shape[1]} "
                "columns. Read all of it first: X, _ = gossamer.read(table, need_labels=False)."
            )
        coded = self._coded(block.label)
        encoded = coded.encode(block.label)
        if block.rows.offset is not None:
            coded.check_offset()
        weight = block.weight if self._reweigh is None else self._reweigh(block.label, block.weight, coded)
        if self.problem.assumed and len(self.labels) < 2:
            self.labels.update(targets.distinct(block.label)[:2].tolist())
        self.trainer = self._trainer_for(block.width, coded)
        self.width = max(self.width, block.width)
        rows = replace(block.rows, y=encoded, weight=weight).without_zero_weights()
        rows.check_size()
        self.trainer.check_steps(len(rows))
        if self.problem.column_of is not None:
            self.trainer.assign(rows, self.problem.column_of)
        self.trainer.learn(rows, repeated=repeated)

    def end_pass(self, *, repeated: bool = False) -> None:
        """Learn from the rows that wait for others to make a batch."""
        if self.trainer is not None:
            self.trainer.end_pass(repeated=repeated)

    def _coded(self, labels: Array) -> targets.Targets:
        problem = self.problem
        refuse_other_kind(labels, problem.loss)
        if self.trainer is not None:
            known = self.trainer.targets
            return known.with_new_classes(as_classes(labels)) if problem.grow and known.classes is not None else known
        if problem.loss.kind == "regression":
            return self.coded_for(None, 1)
        classes = usual_classes(labels) if problem.classes is None and not problem.grow else problem.classes
        return self.coded_for(as_classes(labels) if classes is None else classes, 0)

    def _trainer_for(self, width: int, coded: targets.Targets) -> Any:
        """Return a trainer that has room for this many features and these outputs."""
        problem, fixed = self.problem, self.problem.features
        if fixed is not None and width > fixed:
            raise ValueError(f"The number of features is {fixed}, but a row has feature number {width} (from 1).")
        if self.trainer is None:
            return self.made((_room(width) if problem.widens else width) if fixed is None else fixed, coded)
        have = self.trainer.setup
        room = have.features if width <= have.features else _room(width)
        if (room, coded.outputs) == (have.features, have.outputs):
            return self.trainer
        return self.trainer.grown(room, coded)

    def made(self, room: int, coded: targets.Targets) -> Any:
        """Return a new trainer."""
        p = self.problem
        return Trainer(
            p.method,
            p.penalty,
            p.strategy,
            coded,
            room,
            fit_intercept=p.fit_intercept,
            average=p.average,
            centred=p.centred,
            sparsest=p.sparsest,
            standardized=p.standardized,
            batch_size=p.batch_size,
        )

    def coded_for(self, classes: Array | None, outputs: int) -> targets.Targets:
        """Return the coding of these classes, or of real targets."""
        if classes is None:
            return targets.for_regression(np.empty((0, outputs)) if outputs > 1 else np.empty(0), self.problem.loss)
        return targets.for_labels(classes, self.problem.loss, self.problem.grow)

    def check_classes(self) -> None:
        """Raise if the classes were assumed to be the usual two, and only one of them appeared."""
        if self.problem.assumed and len(self.labels) == 1:
            raise ValueError(
                f"All labels are {min(self.labels):g}; a classifier needs at least two classes. "
                "If rows of the other one will come later, name both by classes=."
            )

    def finished(self) -> Any:
        """Return the trainer with exactly the features that appeared."""
        if self.trainer is None:
            raise ValueError("The source has no rows: there is nothing to learn from.")
        if self.trainer.setup.features != self.width:
            self.trainer = self.trainer.grown(self.width, self.trainer.targets)
        self.trainer.check_finite()
        return self.trainer


def _room(width: int) -> int:
    """Return the next power of two, so that growing is rare."""
    return max(LEAST_ROOM, 1 << (width - 1).bit_length())
