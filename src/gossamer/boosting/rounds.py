"""Rounds of boosting: which features enter, in which order their weights are updated, when boosting stops.

    minimise over W:   Σ_i c_i ℓ(z_i, y_i) + λ Σ_j ω_j Ω(W_j),     λ = α Σ_i c_i

An order is a function of a `Run` that does one round and returns whether it is not yet at the optimum: see `ORDERS`. No
round increases the objective: no update does (core/boosting/rules.hpp), and Newton steps are halved until they do not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gossamer import _core
from gossamer.boosting.features import Pool, Scored, Scoring
from gossamer.losses import LOSSES, Loss
from gossamer.penalties import PENALTIES, Penalty
from gossamer.validation import Array, number

# A round ends when the largest violation is at most EXACT times that of the first sweep, or within the tolerance, or
# after STEPS Newton steps. A step solves its model to MODEL_EXACT of the violation with at most SWEEPS sweeps, and is
# halved at most HALVINGS times. Weights whose violation is below IDLE times the target are skipped. Every LOOK sweeps
# Anderson extrapolation is tried. A relative increase of the objective up to ROUNDING counts as none.
EXACT, STEPS, MODEL_EXACT, SWEEPS, HALVINGS, IDLE, LOOK, ROUNDING = 0.1, 50, 0.1, 100, 10, 0.3, 5, 1e-14

# After PACE rounds it is known how far a round goes. Boosting stops if, at this pace, y is not reached in REACH times
# all rounds, and violations are still SAME of what they were at first. That is asked where the mean loss is above FAR
# only: errors that many times larger than those that matter.
PACE, REACH, SAME, FAR = 10, 10, 0.1, 1e4


class Round(NamedTuple):
    """One round of boosting."""

    round: int  # 0 is the start
    objective: float  # mean loss + αΩ
    selected: int  # features that entered
    pruned: int  # features that were dropped
    nonzeros: int  # features in use afterwards
    score: float  # the best score, a lower bound on the decrease of the objective; NaN if the order does not score
    validation_loss: float  # mean loss on the validation data, NaN without it
    validation_score: float  # accuracy or R² there, NaN without it


class Model(NamedTuple):
    """What is learned."""

    features: list[Any]  # features with a non-zero weight
    weights: Array  # one row per feature
    intercept: Array  # one per output


# Bounds, losses and penalties


BOUNDS = ("ada", "grad")


@dataclass(frozen=True)
class Shape:
    """A bound and a penalty as the core takes them."""

    bound: Any
    form: Any  # the penalty of a row
    whole: Any  # the penalty of all of W, or None
    penalised: bool
    weights: Array | None  # ω, one per column


def shape(bound: Any, loss: Loss, penalty: Penalty, order: str, columns: int | None) -> Shape:
    """Return the compiled bound and penalty, or raise an error that says why they cannot be combined."""
    if bound not in BOUNDS:
        raise ValueError(f"bound must be 'ada' or 'grad'; {bound!r} was given.")
    if bound not in loss.bounds:
        raise ValueError(f"bound={bound!r} holds for {', '.join(sorted(bounded(bound)))}; {loss.label} was given.")
    made = _compiled(bound, loss.template, loss.smoothness)
    if penalty.groups is not None:
        raise ValueError("Boosting takes features one at a time, so groups are rows: use groups=None.")
    weights = penalty.weights
    if weights is not None and len(weights) != columns:
        raise ValueError(
            f"weights of the penalty are one per column of X, for features='columns'; there are {len(weights)} weights"
            + (f" and {columns} columns." if columns is not None else ", and features are made as needed.")
        )
    forms = penalty.boosted()
    if forms is None or not has_rule(made, *forms):
        other = "grad" if bound == "ada" else "ada"
        raise ValueError(
            f"bound={bound!r} has rules for {_ruled(bound)}; {penalty.label} was given. "
            f"bound={other!r} has rules for {_ruled(other)}."
        )
    form, whole = forms
    if whole is not None and order != "parallel":
        raise ValueError(
            f"{penalty.label} is one norm of all weights, which move together: use order='parallel'. "
            f"For one norm per feature use {penalty.rows_kin}."
        )
    return Shape(made, form, whole, penalty.penalises, weights)


def _compiled(bound: str, template: float = 1.0, smoothness: Any = 1.0) -> Any:
    return _core.Ada(template) if bound == "ada" else _core.Grad(smoothness)


def bounded(bound: str) -> list[str]:
    """Return the names of the losses that a bound holds for."""
    return [cls.__name__ for cls in LOSSES.values() if bound in cls.bounds]


def has_rule(bound: Any, form: Any, whole: Any) -> bool:
    """Return whether the core has a rule for a bound (`_core.Ada` or `_core.Grad`) and the forms of a penalty."""
    try:
        return (_core.rule(bound, form) if whole is None else _core.whole_rule(bound, whole)) is not None
    except TypeError:  # a form that is in no list of rules
        return False


def _ruled(bound: str) -> str:
    *names, last = ruled(bound)
    return f"{', '.join(names)} and {last}"


def ruled(bound: str) -> list[str]:
    """Return the names of the penalties that a bound has rules for."""
    made = _compiled(bound)
    forms = [(part.label, part.boosted()) for part in PENALTIES.defaults()]
    return [name for name, form in forms if form is not None and has_rule(made, *form)]


# One run


@dataclass
class Run:
    """The state of boosting: the booster in the core and the features in use."""

    booster: Any
    pool: Pool
    batch: int
    slack: float  # a violation up to this, in units of the gradient, counts as optimal
    threads: int
    total: float  # Σ c
    outputs: int
    fit_intercept: bool
    random: Any
    used: list[Any] = field(default_factory=list)  # features in use, in the order of the core
    score: float = float("nan")  # the best score of this round
    all_used: bool = False  # whether the order keeps every feature in the core
    path: list[Array] = field(default_factory=list)  # the last few states, for extrapolation
    far: float = float("nan")  # the largest violation of the last round's first sweep

    def best(self) -> list[Scored]:
        """Return the best features that are not in use and score above zero."""
        found = self.pool.best(Scoring(self.booster, self.slack, self.threads), self.used, self.batch)
        self.score = found[0][0] / self.total if found else 0.0
        return found

    def add(self, features: Sequence[Any]) -> None:
        """Put features in use."""
        if features:
            self.pool.add(self.booster, features)
            self.used += features

    def sweep(self, which: Array | None = None, idle: float = 0.0) -> float:
        """Update the intercept and these features (all by default); return the largest violation."""
        far = self.booster.update_intercept() if self.fit_intercept else 0.0
        return max(far, self.booster.update(np.arange(len(self.used)) if which is None else which, idle))

    def optimise(self, exact: float) -> float:
        """Optimise the weights of all features in use; return the largest violation of the first sweep."""
        far = first = self.far = self.sweep()
        near = max(self.slack, exact * far)
        for _ in range(STEPS):
            if far <= near:
                break
            self._newton(max(MODEL_EXACT * far, 0.5 * near))
            far = self.sweep(idle=IDLE * near)
        return first

    def _newton(self, near: float) -> None:
        """Step to the optimum of the quadratic model plus the penalty, halved until the objective decreases."""
        here, enough = self._state(), self.objective() * (1 + ROUNDING)
        try:
            self.booster.use_model(True)
            self._settle(near)
        finally:  # an interrupted fit continues with the loss itself
            self.booster.use_model(False)
        step = self._state() - here
        for _ in range(HALVINGS):
            if self.objective() <= enough:
                return
            step /= 2
            self._put(here + step)
        self._put(here)

    def _settle(self, near: float) -> None:
        """Sweep until all violations are at most `near`, with an extrapolation now and then."""
        self.path = []
        for _ in range(SWEEPS):
            if self.sweep(idle=IDLE * near) <= near:
                break
            self.look()

    def look(self) -> None:
        """Keep the state; once there are LOOK of them, extrapolate."""
        self.path.append(self._state())
        if len(self.path) > LOOK:
            self._leap(self.path)
            self.path = [self._state()]

    def _state(self) -> Array:
        return np.concatenate([self.booster.weights(), self.booster.intercept()])

    def _put(self, state: Array) -> None:
        split = len(state) - self.outputs
        self.booster.set(state[:split], state[split:])

    def _leap(self, path: list[Array]) -> None:
        """Try Anderson extrapolation, and keep the point if it lowers the objective.

        The updates slow down near the optimum. Anderson extrapolation finds the limit of a linear iteration:
        Σ_i c_i w_i with Σ c = 1 and the smallest ‖Σ_i c_i (w_i − w_{i−1})‖.
        """
        steps = np.diff(path, axis=0)
        with np.errstate(over="ignore", invalid="ignore"):  # steps of 1e154 and more are not extrapolated
            gram = steps @ steps.T
            gram += 1e-12 * np.trace(gram) * np.eye(len(gram))
            try:
                c = np.linalg.solve(gram, np.ones(len(gram)))
            except np.linalg.LinAlgError:
                return
        if not np.isfinite(c).all() or c.sum() == 0:
            return
        there, back, before = (c / c.sum()) @ np.array(path[1:]), path[-1], self.objective()
        there[back == 0] = 0.0
        self._put(there)
        if not self.objective() < before:
            self._put(back)

    def prune(self) -> None:
        """Drop the features whose weights are all zero."""
        if not self.all_used:
            self.used = [self.used[j] for j in self.booster.prune()]

    def model(self) -> Model:
        """Return what was learned so far."""
        W = self.booster.weights().reshape(len(self.used), self.outputs)
        rows = np.flatnonzero(W.any(axis=1))
        features, W = [self.used[j] for j in rows], W[rows]
        return Model(features, W, self.pool.intercept(self.booster.intercept(), features, W))

    def objective(self) -> float:
        """Return mean loss + αΩ."""
        return float((self.booster.loss() + self.booster.penalty()) / self.total)


def corrective(run: Run) -> bool:
    """Totally corrective: add the best `batch` features, optimise all weights, drop the zeros."""
    found = run.best()
    run.add([feature for _, feature in found])
    moved = run.optimise(EXACT if found else 0.0)
    run.prune()
    return bool(found) or moved > run.slack  # if weights moved after scoring, score again


def greedy(run: Run) -> bool:
    """Forward greedy: update the `batch` features with the best scores, new or in use, once. batch=1 is AdaBoost."""
    found = run.best()
    gains = np.empty(len(run.used))
    run.booster.gains(run.slack, run.threads, gains)
    old = [(float(gains[j]), int(j)) for j in np.flatnonzero(gains > 0)]
    ranked = sorted([(-s, 1, i) for i, (s, _) in enumerate(found)] + [(-s, 0, j) for s, j in old])[: run.batch]
    new = [found[i][1] for _, fresh, i in ranked if fresh]
    count = len(run.used)
    run.add(new)
    places = iter(range(count, len(run.used)))
    which = np.array([next(places) if fresh else i for _, fresh, i in ranked], np.int64)
    run.score = -ranked[0][0] / run.total if ranked else 0.0
    run.far = run.sweep(which)
    run.prune()
    return bool(ranked) or run.far > run.slack


def _adopt_all(run: Run) -> None:
    if not run.all_used:
        run.used, run.all_used = run.pool.adopt(run.booster), True


def _any_left(run: Run, far: float) -> bool:
    """Return whether a violation above the tolerance is left, or a feature that scores above zero."""
    run.far = far
    if far > run.slack:
        return True
    gains = np.empty(len(run.used))
    run.booster.gains(run.slack, run.threads, gains)
    return bool(gains.any())


def cyclic(run: Run) -> bool:
    """Update all features in turn."""
    _adopt_all(run)
    return _any_left(run, run.sweep())


def random(run: Run) -> bool:
    """Update all features in a new random order in each round."""
    _adopt_all(run)
    return _any_left(run, run.sweep(run.random.permutation(len(run.used))))


def parallel(run: Run) -> bool:
    """Update all features at once, each with its share of the template Σ_j a_j |x_ij| ≤ 1 (½ for multinomial loss)."""
    _adopt_all(run)
    far = run.booster.update_intercept() if run.fit_intercept else 0.0
    run.far = max(far, run.booster.update_together(run.threads))
    if run.far <= run.slack:
        return False
    run.look()
    return True


ORDERS: dict[str, Callable[[Run], bool]] = {
    "corrective": corrective,
    "greedy": greedy,
    "cyclic": cyclic,
    "random": random,
    "parallel": parallel,
}


def start(
    shape: Shape,
    loss: Any,
    y: Array,
    outputs: int,
    weights: Array | None,
    alpha: float,
    tol: float,
    *,
    offset: Array | None = None,
    **known: Any,
) -> Run:
    """Return a run before its first round: no features, and the best intercept."""
    n = len(y)
    total = float(n if weights is None else weights.sum())
    strength = alpha * total if shape.penalised else 0.0
    booster = _core.booster(
        loss._core(), n, outputs, y.reshape(-1), weights, strength, shape.bound, shape.form, shape.whole, offset
    )
    slack = tol * (strength or 1e-3 * total)
    run = Run(booster, slack=slack, total=total, outputs=outputs, **known)
    if not np.isfinite(run.objective()):
        raise ValueError(
            f"The mean loss of the empty model is not finite: y is too large, up to {np.abs(y).max():.3g}. "
            "Scale it such that an error of 1 matters."
        )
    if run.fit_intercept:
        booster.set_intercept(loss.best_constant(y, outputs, np.ones(n) if weights is None else weights))
        for _ in range(SWEEPS):
            if booster.update_intercept() <= slack:
                break
    return run


def boost(
    run: Run,
    order: str,
    max_rounds: int,
    watch: Callable[[Model], tuple[float, float]] | None,
    verbose: int,
    turn: Callable[[Model], bool] = lambda model: False,
    bounded_slope: bool = False,
) -> tuple[Model, list[Round], str]:
    """Do rounds until the optimum is reached; return the model, the record of each round, and why it stopped.

    `watch` returns the loss and the score of a model on validation data. `turn` is called with the model after every
    round and returns whether to stop. `bounded_slope` says that the loss has one, so that a round goes no further the
    larger the errors are. After an interrupt the model is that of the last complete round.
    """
    history: list[Round] = []
    last, first = run.model(), 0.0

    def record() -> None:
        nonlocal last
        model, before = run.model(), {*last.features} if history else set()
        now = {*model.features}
        seen = (float("nan"), float("nan")) if watch is None else watch(model)
        counts = len(now - before), len(before - now), len(now)
        done = Round(len(history), run.objective(), *counts, run.score, *map(float, seen))
        last = model
        history.append(done)
        if verbose:
            held = "" if watch is None else f", validation loss {done.validation_loss:.6g}"
            print(
                f"round {done.round}: objective {done.objective:.6g}, {done.nonzeros} features "
                f"(+{done.selected} −{done.pruned}){held}",
                flush=True,
            )

    try:
        record()
        for _ in range(max_rounds):
            run.score = float("nan")
            more = ORDERS[order](run)
            record()
            if not more:
                turn(last)
                return last, history, "no candidate"
            if turn(last):
                return last, history, "callback"
            first = run.far if len(history) == 2 else first
            if bounded_slope and run.far > SAME * first and _out_of_reach(history, max_rounds):
                return last, history, "out of reach"
    except KeyboardInterrupt:
        warnings.warn("Interrupted: the model is that of the last complete round.", stacklevel=3)
        return last, history, "interrupted"
    return last, history, "max_rounds"


def _out_of_reach(history: list[Round], most: int) -> bool:
    """Return whether the errors are huge, and fall by so little that no number of rounds allowed gets there."""
    if len(history) != PACE + 1 or history[0].objective < FAR:
        return False
    middle, end = history[PACE // 2].objective, history[PACE].objective
    return end > (middle - end) / (PACE - PACE // 2) * REACH * most


def check_fits(order: str, pool: Pool) -> None:
    """Raise if the order updates all features in turn and there are too many for that."""
    if order in ("cyclic", "random", "parallel") and not pool.fixed:
        raise ValueError(
            f"order={order!r} takes all features in turn, and products and stumps have too many for that: "
            "use 'corrective' or 'greedy', which score them."
        )


def check_order(order: Any, tol: Any) -> None:
    """Raise unless there is such an order and the tolerance is a number ≥ 0."""
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(map(repr, ORDERS))}; {order!r} was given.")
    number(tol, "tol", least=0)
