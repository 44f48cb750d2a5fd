"""The exact optimum of data that does not fit into memory: minimise F over a source, in bounded memory.

    first pass     labels, weights and offsets of all rows, entries per column, rows at random
    the sample     solved in memory: which columns may matter
    repeat         a pass gathers these columns; they are solved in memory, to W and a dual point u
                   a pass computes Xᵀu of all columns:  F(W) − D(su) is the duality gap of the whole problem
                   gap ≤ tol: done.  The columns with |Xᵀu| above the strength come in, those without weights go out.

Columns that are left out have the weight zero, so F(W) is that of all columns, and the gap is proved, not estimated.
If the columns that matter do not fit either, proximal Newton reads the source twice per step (`newton.py`).

El Ghaoui, Viallon, Rabbani: Safe feature elimination for the lasso, 2012; Tibshirani et al.: Strong rules for
discarding predictors in lasso-type problems, JRSS B 2012.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gossamer.batch import newton, solvers
from gossamer.batch.certificates import DUALITY_GAP, Certificate, residual
from gossamer.batch.driver import Solution, solve
from gossamer.batch.objective import Objective, Point, shares
from gossamer.batch.partitions import Raw, Shift, Spec, prepare
from gossamer.batch.passes import Found, Passes, joined
from gossamer.batch.runs import Reread
from gossamer.estimators.targets import Targets
from gossamer.registry import record
from gossamer.sources.blocks import ReadError
from gossamer.validation import Array, available

ENTRY = 64  # bytes of memory per entry of a problem: both forms, their centred copy, and what solvers keep
SQUARE = 40  # and per pair of columns, where the source is read in every step
ROUNDS = 40  # of gathering and proving
NEAR = 0.9  # of the strength: columns that pull so much are gathered too
LOOSE = 1e-2  # tol of the sample


@record
class Budget:
    """How much memory the data may take, and for what."""

    memory: float  # bytes in all

    @staticmethod
    def of(memory: Any) -> Budget:
        """Return the budget of so many bytes; None is half of what is free."""
        if memory is None:
            free = available()
            return Budget(free / 2 if math.isfinite(free) else 2.0**31)
        if isinstance(memory, bool) or not isinstance(memory, (int, float, np.number)) or not memory > 0:
            raise ValueError(f"memory must be a number of bytes above 0, or None; {memory!r} was given.")
        return Budget(float(memory))

    @property
    def sample(self) -> int:
        """How many rows and entries the sample may have."""
        return int(self.memory / 2 / ENTRY)

    def entries(self, rows: int, width: int, outputs: int) -> float:
        """Return how many entries may be gathered beside what every row and every column needs; raise if none."""
        fixed = rows * (24 + 120 * outputs) + width * (32 + 64 * outputs)
        if fixed > 0.9 * self.memory:
            raise MemoryError(
                f"{rows:,} rows and {width:,} columns need about {words_of(fixed / 0.9)} of memory, and "
                f"{words_of(self.memory)} are allowed. Allow more (memory=), or hash to fewer columns by bits=."
            )
        return (self.memory - fixed) / ENTRY


@record
class Exact:
    """A solution over all columns of a source, with few weights."""

    columns: Array  # that W is about; the weights of others are zero
    W: Array
    intercept: Array
    certificate: Certificate
    unit: float  # of gaps: that of the empty model
    rounds: int
    passes: int
    operations: int
    converged: bool
    interrupted: bool = False
    short: str = ""  # why it is not converged, if memory is the reason


@record
class Problem:
    """What is to be minimised: rows as the first pass has found them, with their coding and weights."""

    passes: Passes
    found: Found
    coded: Targets
    weight: Array | None
    penalty: Any
    alpha: float
    fit_intercept: bool
    solver: Any = "auto"
    tol: float = 1e-4
    max_iter: int = 1000

    @property
    def separable(self) -> bool:
        """Whether columns may be left out: the penalty is a sum over features or groups, smallest at zero."""
        penalty = self.penalty
        sums = penalty.sums_over_features or (penalty.on_rows and penalty.groups is not None)
        return bool(sums) and not np.asarray(penalty.prox(np.zeros(self.found.width), 0.0)).any()

    def objective(self, X: Any, columns: Array, rows: Any) -> _Recorded:
        """Return the problem over some columns and rows."""
        weight, offset = self.weight, self.found.offset
        small = self.penalty if len(columns) == self.found.width else self.penalty.restricted(columns)
        return _Recorded(
            X,
            self.coded.encode(self.found.y[rows]),
            self.coded.loss,
            small,
            self.alpha,
            outputs=self.coded.outputs,
            sample_weight=None if weight is None else weight[rows],
            fit_intercept=self.fit_intercept,
            offset=None if offset is None else offset[rows],
        )


class _Recorded(Objective):
    """A problem that keeps the best of its dual points."""

    dual: Point | None = None

    def lower_bound(self, point: Point) -> float:
        bound = super().lower_bound(point)
        best = self.memory.get("dual")
        if best is None or bound > best[0]:
            self.memory["dual"] = bound, Point(point.W, point.b.copy(), point.loss, point.slopes.copy(), point.gradient)
        return bound

    def best_dual(self, W: Array) -> Point:
        """Return the best dual point so far, balanced; at W if none was needed."""
        _, point = self.memory.get("dual", (0.0, None))
        point = self.at(W) if point is None else point
        slopes, _ = self._balanced(replace(point, gradient=np.empty_like(W)))
        return replace(point, slopes=slopes)

    def proved(self, point: Point, value: float, penalty: Any, columns: Array, W: Array) -> Certificate:
        """Return the certificate of the problem over all columns: `point` has the gradient of all."""
        whole = object.__new__(Objective)
        whole.__dict__.update(self.__dict__)
        whole.penalty, whole.features = penalty, len(point.gradient)
        if whole._has_bound:
            return Certificate(value, max(value - whole.lower_bound(point), 0.0), DUALITY_GAP)
        V = np.zeros_like(point.gradient)
        V[columns] = W
        size = residual(penalty, self.alpha, self._as_given(V), self._as_given(point.gradient), self.lipschitz())
        return Certificate(value, size, "prox-gradient residual")


def minimise(
    problem: Problem, budget: Budget, *, start: Array | None = None, tell: Callable[[str], None] = lambda words: None
) -> Exact:
    """Minimise F over all rows and columns until the gap is at most `tol` of that of the empty model.

    `start` are columns to begin with. Ctrl-C ends it at the best solution whose gap is known; before there is one, it
    is raised.
    """
    passes, found = problem.passes, problem.found
    most = budget.entries(found.rows, found.width, problem.coded.outputs)
    tell(
        f"at most {words_of(budget.memory)} of memory for {found.rows:,} rows, {found.width:,} columns and "
        f"{int(found.counts.sum()):,} entries"
    )
    some = None
    if problem.weight is not None:
        p = shares(problem.weight)
        some = None if p.all() else p > 0
    rows = slice(None) if some is None else some
    every = np.flatnonzero(found.counts) if problem.separable else np.arange(found.width)
    if found.sample.complete:
        columns = every
    else:
        if not problem.separable and found.counts.sum() > most:
            raise MemoryError(
                f"{problem.penalty.label} couples all columns, so that all {int(found.counts.sum()):,} entries are "
                f"needed at once: {words_of(ENTRY * float(found.counts.sum()))}, and {words_of(budget.memory)} are "
                "allowed. Allow more, or use a sum over features or groups, such as 'l1' or 'group_l2'."
            )
        columns = _chosen(problem, every, start, some, most)
    best: Exact | None = None
    before = math.inf
    inner, W = 0.3 * problem.tol, None
    try:
        for number in range(1, ROUNDS + 1):
            if found.sample.complete:
                X = found.sample.X[:, columns] if len(columns) < found.width else found.sample.X
                X = X if some is None else X[np.flatnonzero(some)]
            else:
                X = passes.gathered(columns, found, some)
            objective = problem.objective(X, columns, rows)
            solver = solvers.resolve(problem.solver, objective)
            while True:
                objective.memory.pop("dual", None)
                solution = solve(objective, solver, tol=inner, max_iter=problem.max_iter, start=W, screen=False)
                if solution.interrupted:
                    raise KeyboardInterrupt
                W = solution.W
                point = objective.best_dual(W)
                if found.sample.complete:
                    G = np.zeros((found.width, problem.coded.outputs))
                    G[columns] = objective.gradient(point.slopes)
                else:
                    G = passes.gradient(point.slopes, found.width, some, found.rows)
                value = solution.certificate.objective
                sure = objective.proved(replace(point, gradient=G), value, problem.penalty, columns, W)
                unit = objective.scale(sure.name)
                if best is None or sure.objective <= best.certificate.objective or sure.gap <= best.certificate.gap:
                    best = Exact(
                        columns,
                        W,
                        solution.intercept,
                        sure,
                        unit,
                        number,
                        passes.count,
                        objective.operations,
                        sure.gap <= problem.tol * unit,
                    )
                tell(
                    f"pass {passes.count}: {len(columns):,} columns in memory, {int(W.any(axis=1).sum()):,} with "
                    f"weights, objective {sure.objective:.8g}, {sure.name} {sure.gap:.3g}"
                )
                following = _next_columns(problem, columns, W, G, most)
                if best.converged or following is None or len(np.setdiff1d(following, columns)):
                    break
                if inner < 1e-3 * problem.tol or not solution.converged:
                    return best  # nothing is missing, and the solver can do no more
                inner *= 0.1
            if best.converged or found.sample.complete:
                return best
            if following is not None and sure.gap > 0.5 * before and number > 1:
                following = None if problem.found.counts[_wanted(problem, columns, W, G)].sum() > most else following
            before = sure.gap
            if following is None:
                wanted = _wanted(problem, columns, W, G)
                refused = _not_by_passes(problem, len(wanted), budget.memory)
                if refused:
                    needs = words_of(ENTRY * float(found.counts[wanted].sum()))
                    there = f"the {len(wanted):,} columns that matter need about {needs} of memory"
                    return replace(best, short=f"{there}, {words_of(most * ENTRY)} are left for them, and {refused}")
                tell("the columns that matter do not fit into this memory: every step reads the source twice")
                return _by_passes(problem, most, columns, W, solution.intercept, tell)
            V = np.zeros((found.width, problem.coded.outputs))
            V[columns] = W
            columns, W = following, np.ascontiguousarray(V[following])
            del X, objective, V, G, point
    except KeyboardInterrupt:
        if best is None:
            raise
        return replace(best, interrupted=True)
    assert best is not None
    return best


def words_of(size: float) -> str:
    """Return a number of bytes in words.

    >>> words_of(3.2e9), words_of(2e6)
    ('3.2 GB', '2 MB')
    """
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB" if size >= 1e6 else f"{size / 1e3:.3g} kB"


def _chosen(problem: Problem, every: Array, start: Array | None, some: Array | None, most: float) -> Array:
    """Return the columns to begin with: those that matter in the sample, and those of `start`."""
    found = problem.found
    if not problem.separable:
        return every
    sample, ours = found.sample, np.zeros(found.width, bool)
    numbers = sample.numbers
    chosen = np.arange(len(numbers)) if some is None else np.flatnonzero(some[numbers])
    if len(chosen):
        rows, X = numbers[chosen], sample.X[chosen]
        there = _closed(problem.penalty, np.isin(np.arange(found.width), X.indices))
        columns = np.flatnonzero(there)
        try:
            objective = problem.objective(X[:, columns], columns, rows)
            solver = solvers.resolve(problem.solver, objective)
            W = solve(objective, solver, tol=LOOSE, max_iter=100, screen=False).W
            G = objective.gradient(objective.best_dual(W).slopes)
            ours[columns[_pulling(objective.penalty, problem.alpha, W, G, NEAR) > 0]] = True
        except (ValueError, FloatingPointError):  # rows of one class only, …
            ours[:] = False
    if start is not None:
        ours[start[start < found.width]] = True
    free = problem.penalty.unpenalised()
    if free is not None:
        ours[free] = True
    ours &= found.counts > 0
    columns = np.flatnonzero(_closed(problem.penalty, ours))
    if found.counts[columns].sum() > most:  # those with most entries in the sample last
        order = columns[np.argsort(found.counts[columns], kind="stable")]
        columns = np.sort(order[np.cumsum(found.counts[order]) <= most])
    return columns if len(columns) else every[:1]


def _pulling(penalty: Any, alpha: float, W: Array, G: Array, share: float) -> Array:
    """Return how far each feature is pulled from zero at a share of the strength; features with weights are far."""
    V = penalty.prox(-G[:, 0] if G.shape[1] == 1 else -G, share * alpha).reshape(G.shape)
    return np.where(W.any(axis=1), np.inf, np.abs(V).max(axis=1, initial=0.0))


def _closed(penalty: Any, ours: Array) -> Array:
    """Return these features and all others of their groups."""
    if penalty.groups is None:
        return ours
    number = np.asarray(penalty.groups.of(np.arange(len(ours))))
    groups = np.zeros(int(number.max(initial=0)) + 1, bool)
    groups[number[ours]] = True
    return groups[number]


def _wanted(problem: Problem, columns: Array, W: Array, G: Array) -> Array:
    """Return the columns with weights and those that are pulled from zero, the most needed ones first."""
    counts, penalty = problem.found.counts, problem.penalty
    if not problem.separable:
        return columns
    V = np.zeros_like(G)
    V[columns] = W
    pulls = np.where(counts > 0, _pulling(penalty, problem.alpha, V, G, NEAR), 0.0)
    free = penalty.unpenalised()
    if free is not None:
        pulls[free] = np.inf
    wanted = np.flatnonzero(_closed(penalty, pulls > 0) & (counts > 0))
    return wanted[np.argsort(-pulls[wanted], kind="stable")]


def _next_columns(problem: Problem, columns: Array, W: Array, G: Array, most: float) -> Array | None:
    """Return the columns to gather next; None if nothing new would fit."""
    wanted = _wanted(problem, columns, W, G)
    fits = np.cumsum(problem.found.counts[wanted]) <= most
    if fits.all():
        return np.sort(wanted)
    taken = np.sort(wanted[fits])
    return None if problem.penalty.groups is not None or not len(np.setdiff1d(taken, columns)) else taken


def _by_passes(problem: Problem, most: float, columns: Array, W: Array, b: Array, tell: Callable[[str], None]) -> Exact:
    """Minimise by proximal Newton, reading the source in every round; only sums are kept."""
    passes, found, coded, penalty = problem.passes, problem.found, problem.coded, problem.penalty
    weight = np.ones(found.rows) if problem.weight is None else problem.weight

    def raws() -> Iterator[Raw]:
        seen = 0
        for blocks, rows in passes.pieces(most / 4):
            there = slice(seen, seen + rows)
            seen += rows
            if seen > found.rows:
                break
            offset = None if found.offset is None else found.offset[there]
            yield Raw(joined(blocks, found.width), found.y[there], weight[there], offset)
        if seen != found.rows:
            raise ReadError(
                f"The source had {found.rows:,} rows in the first pass, and other rows now: it was changed."
            )

    weight = weight / weight.max()
    spec = Spec(coded, found.width, float(weight.sum()), shift=_shift(problem) if problem.fit_intercept else None)
    runner: Any = Reread(raws).mapped(prepare, spec)
    kept = newton.kept_columns(runner, coded.loss, penalty, problem.alpha, coded.outputs)
    kept = np.arange(found.width) if kept is None else kept
    kept = kept[found.counts[kept] > 0] if penalty.groups is None else kept
    V = np.zeros((found.width, coded.outputs))
    V[columns] = W
    small = penalty.restricted(kept)
    runner = Reread(raws).mapped(prepare, replace(spec, kept=kept))
    b = b if spec.shift is None else spec.shift.centred(V, b)

    def report(at: Solution) -> bool:
        words = f"pass {passes.count}: {int(at.W.any(axis=1).sum()):,} columns with weights"
        tell(f"{words}, objective {at.certificate.objective:.8g}, {at.certificate.name} {at.certificate.gap:.3g}")
        return False

    sums = newton.Problem(runner, coded.loss, small, problem.alpha, len(kept), coded.outputs, problem.fit_intercept)
    solution = newton.minimise(sums, tol=problem.tol, max_iter=problem.max_iter, start=(V[kept], b), report=report)
    V[:] = 0.0
    V[kept] = solution.W
    return Exact(
        kept,
        solution.W,
        solution.intercept if spec.shift is None else spec.shift.intercept(V, solution.intercept),
        solution.certificate,
        sums.unit,
        solution.iterations,
        passes.count,
        0,
        solution.converged,
        solution.interrupted,
    )


def _shift(problem: Problem) -> Shift:
    """Return what is taken off the data; means of the rows of the sample are near enough."""
    found, coded, sample = problem.found, problem.coded, problem.found.sample
    full, p = np.flatnonzero(found.counts == found.rows), np.ones(found.rows)
    p = p / found.rows if problem.weight is None else shares(problem.weight)
    of_sample = p[sample.numbers]
    known = float(of_sample.sum())
    full = full if known > 0 else full[:0]
    y = np.zeros(coded.outputs)
    if coded.kind == "regression" and coded.loss.of_residual:
        y = p @ (found.y if found.offset is None else (found.y.T - found.offset).T).reshape(found.rows, -1)
    return Shift(full, np.asarray((of_sample / max(known, 1e-300)) @ sample.X[:, full]).ravel(), y)


def _not_by_passes(problem: Problem, columns: int, memory: float) -> str:
    """Return why the columns that matter must be in memory at once; empty if they need not."""
    coded, penalty, found = problem.coded, problem.penalty, problem.found
    mean = coded.loss.mean(coded.outputs, coded.encode(found.y[:1]), np.ones(1), 1)
    single = coded.outputs == 1 and penalty.single_form(found.width) is not None
    if not mean.has_curvature or not coded.loss.has_conjugate:
        return f"{coded.loss.label} is solved in memory only (smooth losses are not)"
    if not (single or penalty.block_form(found.width) is not None) or not penalty.has_dual(problem.alpha):
        return f"{penalty.label} with alpha={problem.alpha:g} is solved in memory only"
    curvature = SQUARE * (columns * coded.outputs) ** 2
    return f"their curvature needs {words_of(curvature)}" if curvature > memory else ""
