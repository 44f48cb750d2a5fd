"""The trainer: a learner with its settings, its state, and the first rows while they decide; and the loop over passes.

No estimator is needed to train: make `Trainer(method, penalty, strategy, targets, features)` and call `learn(rows)` as
often as there are rows. The result does not depend on how the rows are split into calls. The strategy (`strategies`)
learns at one regularization strength or at many. `passes` is the one loop over passes: `fit`, `fit_source`, paths and
the command line all use it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from gossamer import _core, methods
from gossamer.estimators.targets import Targets
from gossamer.groups import GrowingGroups
from gossamer.online import saved_state, step_search
from gossamer.online.units import Units
from gossamer.registry import record
from gossamer.sources.rows import Rows, joined
from gossamer.validation import FEWER, Array, check_memory

_REMEDY = "A smaller step would do, or features, targets and weights of moderate size."


def finite(W: Array) -> Array:
    """Return weights that were read; raise if they are not finite."""
    if not _core.all_finite(W.reshape(-1)):
        raise FloatingPointError(f"Learning has diverged: the weights are not finite. {_REMEDY}")
    return W


class Trainer:
    """One learner: a method, a penalty, a strategy, the coding of y, the number of features.

    Raises if the method cannot handle the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> import gossamer as gs
    >>> from gossamer.estimators import targets
    >>> from gossamer.online.strategies import ManyStrengths, OneStrength, nonzeros
    >>> from gossamer.sources.rows import Rows, csr_arrays
    >>> coded = targets.for_labels(np.array(["ham", "spam"]), gs.Logistic(), grow=False)
    >>> X = sp.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    >>> rows = Rows(*csr_arrays(X), coded.encode(np.array(["spam", "ham"])))
    >>> trainer = Trainer(gs.Fobos(1.0), gs.L1(), OneStrength(1e-3), coded, features=3)
    >>> trainer.learn(rows)
    >>> W, b = trainer.read()
    >>> W.shape, trainer.rounds
    ((3, 1), 2)
    >>> path = Trainer(gs.Fobos(1.0), gs.L1(), ManyStrengths(np.array([1.0, 0.1, 0.01])), coded, features=3)
    >>> path.learn(rows)
    >>> nonzeros(path.learner).tolist()
    [1, 3, 3]
    """

    def __init__(
        self,
        method: Any,
        penalty: Any,
        strategy: Any,
        targets: Targets,
        features: int,
        *,
        fit_intercept: bool = True,
        average: bool = False,
        centred: int = 0,
        sparsest: bool = False,
        standardized: int = 0,
        batch_size: int = 1,
    ) -> None:
        self.method, self.penalty, self.strategy, self.targets = method, penalty, strategy, targets
        check_memory(8 * features * targets.outputs, f"A learner with {features:,} features", FEWER)
        joint = targets.kind == "multiclass"
        more = (targets.loss.target, joint, centred, sparsest, standardized, batch_size)
        self.setup = methods.Setup(features, targets.outputs, strategy.alpha, fit_intercept, average, *more)
        self.loss_call = _core.loss_call(targets.loss._core())
        try:  # the step in use, or strengths and steps; the compiled state
            self.setting, self.learner = strategy.start(self)
        except MemoryError as error:
            size = f"{8e-9 * features * targets.outputs * strategy.lanes:.1f} GB"
            raise MemoryError(
                f"A learner with {features:,} features takes {size} of memory or more. {FEWER}"
            ) from error
        waits = strategy.decides(method) or standardized > 0
        self.decided = 0 if waits else step_search.PREFIX  # how many rows it was decided by
        if standardized:
            self.units = Units.none(standardized)
        self.buffer: Rows | None = None  # the first rows, while they may decide again
        self.pending: list[Rows] = []  # rows that wait for others to make a batch
        self.repeats: list[list[float]] = []  # spans of rounds whose rows were seen before, where the strategy judges

    @property
    def finds_bad_entries(self) -> bool:
        """Whether `learn` detects values that are not finite and indices out of range, as `Rows.check` does.

        Lanes and the search for a step do not detect them, and learners do not see barred features.
        """
        looked_at = self.strategy.judges or self.strategy.decides(self.method) or self.units is not None
        return not (looked_at or self.penalty.barred() is not None)

    # Learning

    units: Units | None = None  # of the first features, if they are standardised

    pass_began: tuple[int, Any] = (0, 0.0)  # the round at which the pass began, and the loss seen until then

    def begin_pass(self, resumed: tuple[int, Any] | None = None) -> None:
        """Begin a pass: `pass_loss` counts from here, or from where a resumed one began (`pass_began`)."""
        self.pass_began = resumed or (self.rounds, self.loss_seen)

    @property
    def pass_loss(self) -> float:
        """The weighted sum of the losses of each row of this pass before it was learned from."""
        return self.loss_seen - self.pass_began[1]

    def check_steps(self, count: int) -> None:
        """Raise if a schedule returns invalid steps for the next rounds."""
        if callable(self.method.step):
            waiting = sum(map(len, self.pending))
            self.method.steps(self.method.step, self.rounds + 1, self.setup.steps_of(waiting + count))

    def learn(self, rows: Rows, *, repeated: bool = False) -> None:
        """Learn from the rows in their order; `repeated` says that they have been seen before."""
        rows = rows.without(self.penalty.barred()).filled(self.setup.centred)
        if self.setup.batch_size == 1:
            self._learn(rows, repeated)
            return
        waiting, size = sum(map(len, self.pending)), self.setup.batch_size
        whole = max((waiting + len(rows)) // size * size - waiting, 0)
        if whole > 0:
            batches, self.pending = [*self.pending, rows[:whole]], []
            self._learn(joined(batches), repeated)
        if whole < len(rows):
            self.pending.append(rows[whole:].copied())

    def end_pass(self, *, repeated: bool = False) -> None:
        """Learn from the rows that wait for others to make a batch, as a smaller one."""
        if self.pending:
            rest, self.pending = joined(self.pending), []
            self._learn(rest, repeated)
            self.decided, self.buffer = step_search.PREFIX, None  # a replay would cut other batches

    def _learn(self, rows: Rows, repeated: bool) -> None:
        self.learner.scoring = not repeated
        counted_out = repeated and self.strategy.judges
        if counted_out:
            self._begin_repeat()
        try:
            rest = self._learn_prefix(rows) if self.decided < step_search.PREFIX and len(rows) else rows
            self._teach(self.learner, self.setting, self._in_units(rest, self.units))
        except (FloatingPointError, IndexError):  # a value or a score was not finite, or an index was out of range
            rows.check(self.setup.features)
            rows.check_size()
            raise
        finally:
            if counted_out:
                self.repeats[-1][1] = self.rounds

    def assign(self, rows: Rows, column_of: Callable[[Array], Array]) -> None:
        """Give the features of rows that are about to come their groups, if these grow; a column has a group."""
        groups = self.penalty.groups
        if not isinstance(groups, GrowingGroups):
            return
        room = groups.room
        new = groups.assign(rows.index, column_of)
        if groups.room != room:
            compiled = self.penalty.online_groups(self.setup.features)
            self.learner = self.learner.grown(self.setup.features, self.setup.outputs, compiled)
        elif len(new):
            self.learner.assign(new, groups.of(new).astype(np.int32))

    def check_finite(self, rows: Rows | None = None) -> None:
        """Raise unless the state is finite; `rows` are those learned from, if they are at hand."""
        if not self.learner.finite:
            if rows is not None:
                rows.check_size()
            raise FloatingPointError(f"Learning diverges: a sum of gradients is not finite. {_REMEDY}")

    def _begin_repeat(self) -> None:
        if self.repeats and self.repeats[-1][1] == self.rounds:
            self.repeats[-1][1] = math.inf
        else:
            self.repeats.append([self.rounds, math.inf])

    def _learn_prefix(self, rows: Rows) -> Rows:
        """Learn the rows that belong to the prefix, and decide on the setting when it is time; return the rest."""
        have = 0 if self.buffer is None else len(self.buffer)
        batch = self.setup.batch_size
        take = min(len(rows), self.setup.steps_of(step_search.PREFIX - have) * batch)  # whole batches
        new = rows[:take].copied()  # the caller may change the arrays before they are replayed
        buffer = new if self.buffer is None else self.buffer.then(new)
        deciding = step_search.deciding_rows(len(buffer))
        if self.units is not None:  # rows of any size must not be learned from in other units, not even the first ones
            deciding = min(step_search.PREFIX, 1 << (len(buffer).bit_length() - 1))
        if deciding > self.decided:
            units, setting = self.units, self.setting
            if units is not None:
                units = Units.of(buffer[:deciding], self.setup.standardized, self.setup.fit_intercept)
            known = self._in_units(buffer, units)
            if self.strategy.decides(self.method) and deciding >= step_search.FIRST:
                setting = self.strategy.choose(self, known[:deciding])
            learner = self.strategy.make(self, setting)
            began = self.pass_began[0]
            self._teach(learner, setting, known[: began * batch])
            before = learner.loss_seen  # with the new setting, what came before the pass has other losses
            self._teach(learner, setting, known[began * batch :])
            self.setting, self.learner, self.decided = setting, learner, deciding
            if units is not None:
                self.units = units
            self.pass_began = (began, before)
        else:
            try:
                self._teach(self.learner, self.setting, self._in_units(new, self.units))
            finally:  # a row may diverge, or Ctrl-C come: the rows kept are those learned from
                self.buffer = buffer[: self.rounds * batch]
        self.buffer = buffer if len(buffer) < step_search.PREFIX else None
        return rows[take:]

    def _in_units(self, rows: Rows, units: Units | None) -> Rows:
        """Return rows as the learner sees them."""
        return rows if units is None or len(rows) == 0 else units.applied(rows).without(self.penalty.barred())

    def _teach(self, learner: Any, setting: Any, rows: Rows) -> None:
        """Learn; raise if every strength has diverged, which are judged as before then."""
        tally = learner.tally if self.strategy.judges else None
        self._teach_counted(learner, setting, rows)
        if tally is not None and learner.lost == learner.lanes:
            learner.tally = tally
            raise FloatingPointError(f"Learning diverges at every strength of the path. {_REMEDY}")

    def _teach_counted(self, learner: Any, setting: Any, rows: Rows) -> None:
        """Learn; the losses of rows seen before do not count."""
        first, size, count = int(learner.rounds), self.setup.batch_size, self.setup.steps_of(len(rows))
        eta = self.method.steps(self.strategy.step_of(self.method, setting), first + 1, count)
        if not self.repeats:
            rows.teach(learner, eta, self.loss_call)
            return
        cuts = {int(r) - first for span in self.repeats for r in span if first < r < first + count}
        for begin, end in pairwise(sorted({0, count, *cuts})):
            learner.scoring = not any(since <= first + begin < until for since, until in self.repeats)
            rows[begin * size : end * size].teach(learner, eta[begin:end], self.loss_call)

    def grown(self, features: int, targets: Targets) -> Trainer:
        """Return a trainer with the same state and another number of features or outputs."""
        self.strategy.check_growth(self, targets.outputs)
        self.penalty.rows(features)  # raises if its weights are for another number of features
        check_memory(8 * features * targets.outputs, f"A learner with {features:,} features", FEWER)
        new = Trainer.__new__(Trainer)
        new.__dict__.update(self.__dict__)
        new.targets, new.setup = targets, replace(self.setup, features=features, outputs=targets.outputs)
        new.repeats = [list(span) for span in self.repeats]
        new.pending = [_widened(rows, targets) for rows in self.pending]
        compiled = self.penalty.online_groups(min(features, self.setup.features))
        new.learner = self.learner.grown(features, targets.outputs, compiled)
        if targets.outputs != self.setup.outputs:  # the kept rows are coded for fewer classes, so the step is final
            new.decided, new.buffer = step_search.PREFIX, None
        return new

    # Results

    @property
    def rounds(self) -> int:
        """Number of rows learned from."""
        return int(self.learner.rounds)

    @property
    def weight_seen(self) -> float:
        """The sum of their weights."""
        return self.learner.weight_seen

    @property
    def loss_seen(self) -> float:
        """The weighted sum of the losses of each row before it was learned from."""
        return self.learner.loss_seen

    def read(self) -> tuple[Array, Array]:
        """Return W (features × outputs) and b of one strength, averaged if `setup.average`."""
        check_memory(8 * self.setup.features * self.setup.outputs, "The weights as an array", FEWER)
        W, b = np.empty((self.setup.features, self.setup.outputs)), np.empty(self.setup.outputs)
        self.learner.read(W, b, self.setup.average)
        if self.units is not None:
            W = self.units.weights(np.arange(len(W)), W)
            b = self.units.intercepts(W[: self.setup.standardized], b)
        return finite(W), b

    def read_some(self, features: Array) -> tuple[Array, Array]:
        """Return the rows of W of some features, in their order, and b."""
        W, b = np.empty((len(features), self.setup.outputs)), np.empty(self.setup.outputs)
        self.learner.read_some(features, W, b, self.setup.average)
        if self.units is not None:
            W = self.units.weights(features, W)
            first = np.arange(self.setup.standardized, dtype=np.int32)
            own = np.empty((len(first), self.setup.outputs))
            self.learner.read_some(first, own, np.empty_like(b), self.setup.average)
            b = self.units.intercepts(self.units.weights(first, own), b)
        return finite(W), b

    def loss_on(self, rows: Rows) -> float:
        """Return the mean loss of some rows with the weights as they are, for one strength."""
        rows, features = rows.renumbered()
        W, b = self.read_some(features.astype(np.int32))
        entries = np.repeat(np.arange(len(rows)), rows.ends - rows.begins)
        Z = np.tile(b, (len(rows), 1)) + (0.0 if rows.offset is None else rows.offset[:, None])
        np.add.at(Z, entries, rows.value[:, None] * W[rows.index])
        loss = self.targets.loss
        values = loss.value(Z, rows.y[:, 0] if loss.kind == "multiclass" else rows.y)
        return float(np.average(values if values.ndim == 1 else values.sum(axis=1), weights=rows.weight))

    # Saving

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["learner"] = self.learner.state()
        state["repeats"] = [list(span) for span in self.repeats]
        state["pending"] = joined(self.pending).compact() if self.pending else None
        del state["loss_call"]
        state.pop("pass_began", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved_state.check(state, step_search.PREFIX)
        made = Trainer.__new__(Trainer)
        made.__dict__.update({name: value for name, value in state.items() if name != "learner"})
        pending = state.get("pending")  # earlier versions had no batches
        made.pending = [] if pending is None else [pending]
        made.learner = made.strategy.make(made, made.setting)
        made.learner.restore(state["learner"])
        if isinstance(made.penalty.groups, GrowingGroups):
            made.penalty.groups.recover(state["learner"]["members"])
        made.loss_call = _core.loss_call(made.targets.loss._core())
        self.__dict__.update(made.__dict__)


def _widened(rows: Rows, targets: Targets) -> Rows:
    """Return rows that are coded for all outputs: none of them is of a new class."""
    more = 0 if targets.kind == "multiclass" else targets.outputs - rows.y.shape[1]
    return replace(rows, y=np.pad(rows.y, ((0, 0), (0, more)), constant_values=-1.0)) if more else rows


@record
class Pass:
    """A complete pass."""

    number: int  # from 1
    loss: float  # the mean loss of each row before it was learned from
    held_out: float | None = None  # the mean loss of the rows held out, if there are any


@record
class Stopping:
    """When to stop before the last pass: after `patience` passes that did not lower the best loss by `tol`."""

    tol: float | None = None  # None: never
    patience: int = 1
    held_out: float | None = None  # the fraction of rows whose loss is watched instead of the progressive loss

    def parted(self, rows: Rows, random: Any) -> tuple[Rows, Rows | None]:
        """Return the rows to learn from, in their order, and those held out."""
        if self.held_out is None:
            return rows, None
        order, count = random.permutation(len(rows)), math.ceil(self.held_out * len(rows))
        if count == len(rows):
            raise ValueError(
                f"validation_fraction={self.held_out:g} of {len(rows)} rows leaves none to learn from; lower it."
            )
        return rows.taken(np.sort(order[count:])), rows.taken(order[:count])


def passes(
    trainer: Any,
    blocks: Callable[[int], Iterable[Any]],
    most: int,
    *,
    done: int = 0,
    stopping: Stopping | None = None,
    held_out: Rows | None = None,
    ends: bool = True,
) -> Iterator[Pass]:
    """Yield after each pass of a `Trainer` or `Streaming` over `blocks(number)`, up to pass `most`.

    If the pass `ends`, its last batch may have fewer rows; otherwise these rows wait for more.

    `stopping` looks at the loss of the rows held out, or else at the progressive loss of the pass. Code after a `yield`
    in a generator of blocks runs once that block has been learned from.
    """
    stopping = stopping or Stopping()
    best, waited = math.inf, 0
    for number in range(done + 1, most + 1):
        weight = trainer.weight_seen
        trainer.begin_pass()
        for block in blocks(number):
            trainer.learn(block, repeated=number > 1)
        if ends:
            trainer.end_pass(repeated=number > 1)
        now = trainer.pass_loss / max(trainer.weight_seen - weight, 1e-300)
        judged = None if held_out is None else trainer.loss_on(held_out)
        yield Pass(number, now, judged)
        watched = now if judged is None else judged
        waited = 0 if stopping.tol is None or watched < best - stopping.tol else waited + 1
        if waited == stopping.patience:
            return
        best = min(best, watched)


class SeededOrders:
    """The random orders of NumPy's RandomState, in 75 µs instead of 370 for the 20,242 rows of RCV1.

    A pass of FOBOS over these rows takes 2.2 ms.

    >>> SeededOrders(7).permutation(5).tolist() == np.random.RandomState(7).permutation(5).tolist()
    True
    """

    def __init__(self, seed: int) -> None:
        self._orders = _core.Orders(seed)

    def permutation(self, count: int) -> Array:
        """Return 0 … count − 1 in the next order."""
        order = np.empty(count, np.int64)
        self._orders.next(order)
        return order
