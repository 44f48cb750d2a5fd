"""A learner on its way through the rows: what it is made with, its state, and the first rows while they decide.

No estimator is needed to train: `Trainer(method, penalty, setup, targets)`, then `learn(rows)` as often as there are
rows. The result does not depend on how the rows are cut into calls.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gossamer import _core, methods
from gossamer.estimators.targets import Targets
from gossamer.online import step_search
from gossamer.online.examples import Rows
from gossamer.schedules import steps
from gossamer.validation import Array


class Trainer:
    """One learner: a method, a penalty, the sizes and switches of `methods.Setup`, the coding of y.

    Raises where the method cannot handle the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> import gossamer as gs
    >>> from gossamer import methods
    >>> from gossamer.online import examples
    >>> from gossamer.estimators import targets
    >>> coded = targets.for_labels(np.array(["ham", "spam"]), gs.Logistic(), grow=False)
    >>> setup = methods.Setup(features=3, outputs=1, alpha=1e-3, fit_intercept=True)
    >>> trainer = Trainer(gs.Fobos(1.0), gs.L1(), setup, coded)
    >>> X = sp.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    >>> trainer.learn(examples.Rows(*examples.csr_arrays(X), coded.encode(np.array(["spam", "ham"])), None))
    >>> W, b = trainer.read()
    >>> W.shape, trainer.rounds
    ((3, 1), 2)
    """

    def __init__(self, method: Any, penalty: Any, setup: methods.Setup, targets: Targets) -> None:
        self.method, self.penalty, self.setup, self.targets = method, penalty, setup, targets
        self.learner = self._made(None)  # the compiled state
        self._loss_call = _core.loss_call(targets.loss._core())
        step_search.check(method, penalty, setup)
        searching = step_search.needs_prefix(method)
        self.pace = step_search.default_pace(method) if searching else method.pace_for(setup)  # the step in use
        self.decided = 0 if searching else step_search.PREFIX  # how many of the first rows decided on it
        self.buffer: Rows | None = None  # the first rows, while they may decide again

    @property
    def notices(self) -> bool:
        """Whether bad entries make it unsound, so that rows need no check before it is known to be of use."""
        return not step_search.needs_prefix(self.method)

    @property
    def sound(self) -> bool:
        """Whether all rows so far had features that exist and finite margins."""
        return self.learner.sound

    def _made(self, pace: Any) -> Any:
        return self.method.make(self.penalty, self.setup)

    def _choose(self, rows: Rows) -> Any:
        """Return the step that these first rows decide on."""
        return step_search.choose(self.method, self.penalty, self.setup, self.targets.loss, self._loss_call, rows)

    # Learning

    _chunk = 256  # rows between two looks at the clock, so that Ctrl-C is heard

    def check_steps(self, count: int) -> None:
        """Raise if a schedule given as a function has no proper steps for the next rounds."""
        if callable(self.method.pace):
            steps(self.method.schedule(self.method.pace), self.rounds + 1, count)

    def learn(self, rows: Rows) -> None:
        """Learn from the rows in their order."""
        if self.decided < step_search.PREFIX and len(rows):
            rows = self._learn_prefix(rows)
        self._teach(self.learner, self.pace, rows)

    def _learn_prefix(self, rows: Rows) -> Rows:
        """Learn the part of `rows` that belongs to the prefix, choosing the step when it is time; return the rest."""
        have = 0 if self.buffer is None else len(self.buffer)
        take = min(len(rows), step_search.PREFIX - have)
        new = rows.part(0, take)
        buffer = new if self.buffer is None else self.buffer.then(new)
        point = step_search.checkpoint(len(buffer))
        if point > self.decided:
            pace = self._choose(buffer.part(0, point))
            learner = self._made(pace)
            self._teach(learner, pace, buffer)
            self.pace, self.learner, self.decided = pace, learner, point
        else:
            self._teach(self.learner, self.pace, new)
        self.buffer = buffer if len(buffer) < step_search.PREFIX else None
        return rows.part(take, len(rows))

    def _teach(self, learner: Any, pace: Any, rows: Rows) -> None:
        """Learn in chunks of a fraction of a second."""
        eta = self._steps(pace, int(learner.rounds) + 1, len(rows))
        begin = 0
        while begin < len(rows):
            end = min(begin + self._chunk, len(rows))
            start = time.perf_counter()
            rows.part(begin, end).teach(learner, eta[begin:end], self._loss_call)
            took = time.perf_counter() - start
            if took > 0.2:
                self._chunk = max(1, (end - begin) // 2)
            elif took < 0.05 and end - begin == self._chunk:
                self._chunk *= 2
            begin = end

    def _steps(self, pace: Any, first: int, count: int) -> Array:
        return steps(self.method.schedule(pace), first, count)

    def grown(self, features: int, targets: Targets) -> Trainer:
        """Return a trainer with the same state, made for more features or outputs, or for fewer that all came."""
        setup = self.setup
        if not (methods.sums_over_features(self.penalty) and self.method.grows):
            raise ValueError(
                f"{type(self.method).__name__} with {type(self.penalty).__name__} couples features and cannot grow "
                f"from {setup.features} features and {setup.outputs} outputs; start with all of them, or use a "
                "penalty on single features."
            )
        wider = methods.Setup(features, targets.outputs, setup.alpha, setup.fit_intercept, setup.average)
        new = Trainer(self.method, self.penalty, wider, targets)
        new.learner = self.learner.grown(features, targets.outputs)
        new.pace, new.decided, new.buffer = self.pace, self.decided, self.buffer
        if targets.outputs != setup.outputs:  # the first rows are coded for fewer classes: the step stays
            new.decided, new.buffer = step_search.PREFIX, None
        return new

    # What is known

    @property
    def rounds(self) -> int:
        """How many rows were learned from."""
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
        """Return W (features × outputs) and b, averaged if the setup says so."""
        W, b = np.empty((self.setup.features, self.setup.outputs)), np.empty(self.setup.outputs)
        self.learner.read(W, b, self.setup.average)
        return W, b

    def read_some(self, features: Array) -> tuple[Array, Array]:
        """Return the rows of W of some features, in their order, and b."""
        W, b = np.empty((len(features), self.setup.outputs)), np.empty(self.setup.outputs)
        self.learner.read_some(features, W, b, self.setup.average)
        return W, b

    # Saving

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["learner"] = self.learner.state()
        del state["_loss_call"]
        state.pop("_chunk", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: value for name, value in state.items() if name != "learner"})
        self.learner = self._made(self.pace)
        self.learner.restore(state["learner"])
        self._loss_call = _core.loss_call(self.targets.loss._core())
