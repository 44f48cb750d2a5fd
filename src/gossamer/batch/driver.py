"""Runs a solver: decides when to stop, what to report, and which iterate is the solution."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from gossamer.batch.certificates import DUALITY_GAP, Certificate
from gossamer.batch.objective import Objective, Point
from gossamer.validation import Array

STILL = 10  # so many certificates, and half of all, without a gain beyond rounding: there is nothing left to gain


@dataclass(frozen=True)
class Solution:
    """A solution and its certificate."""

    W: Array  # d × k
    intercept: Array  # k
    certificate: Certificate
    iterations: int
    operations: int  # cost of the solver, see `Objective`; certificates are not counted
    converged: bool
    interrupted: bool = False  # by Ctrl-C
    point: Point | None = None  # the last point, where it is the solution: another strength starts there


@dataclass(frozen=True)
class Progress:
    """What a callback sees after an iteration."""

    iteration: int
    seconds: float
    certificate: Certificate
    nonzeros: int
    W: Array  # the best weights so far
    intercept: Array
    operations: int


def solve(
    objective: Objective,
    solver: Any,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    start: Array | Point | None = None,
    report: Callable[[Progress], Any] | None = None,
    screen: bool = True,
) -> Solution:
    """Minimise the objective until the gap is at most `tol` times that of the empty model.

    `report` is called with every certificate; if it returns True, or on Ctrl-C, the best point so far is the solution.
    Ctrl-C before there is a point is raised.
    `screen` drops the features that are certainly zero; a path does that once for all strengths.
    """
    solver.check(objective)
    if screen and not isinstance(start, Point) and solver.narrows and objective.can_narrow:
        return _by_some_features(objective, solver, tol, max_iter, start, report)
    smaller, kept = objective.screened() if screen else (objective, None)
    if kept is not None:

        def whole(found: Any) -> Any:
            W = np.zeros((objective.features, objective.outputs))
            W[kept] = found.W
            return replace(found, W=W)

        reported = None if report is None else lambda progress: report(whole(progress))
        found = start.W if isinstance(start, Point) else start
        return whole(_run(smaller, solver, tol, max_iter, None if found is None else found[kept], reported))
    return _run(objective, solver, tol, max_iter, start, report)


def _by_some_features(
    objective: Objective, solver: Any, tol: float, max_iter: int, start: Array | None, report: Any
) -> Solution:
    """Solve the problem over the features that want weights, and see whether others do then: until none does.

    So a large table is read by its rows a few times, and only the columns of these features are ever copied.
    """
    point = objective.empty() if start is None else objective.at(objective.prox(np.array(start, dtype=np.float64), 0.0))
    W, spent, iterations = point.W, 0, 0
    kept, certificate = W.any(axis=1), objective.certify(point)
    bound = certificate.objective - certificate.gap  # a lower bound for all features
    while True:
        # at first some more, as there will be others that want one once these have theirs
        more = ~kept & objective.wanted(point, 1.0 if iterations else 0.8)
        kept |= more
        if not more.any() or np.count_nonzero(kept) > 0.7 * objective.features:
            found = _run(objective, solver, tol, max_iter, W, report)
            return replace(found, iterations=found.iterations + iterations, operations=found.operations + spent)
        some = np.flatnonzero(kept)
        smaller = objective.narrowed(some)

        def whole(found: Any, some: Array = some) -> Any:
            W = np.zeros((objective.features, objective.outputs))
            W[some] = found.W
            return replace(found, W=W)

        reported = None if report is None else lambda progress, whole=whole: report(whole(progress))
        found = whole(_run(smaller, solver, 0.5 * tol, max_iter, W[some] if W.any() else None, reported))
        iterations, spent = iterations + found.iterations, spent + found.operations
        last, W, interrupted = found.point, found.W, found.interrupted
        try:
            if last is None:
                point = objective.at(W)
            else:
                objective._b = last.b
                point = Point(W, last.b, last.loss, last.slopes, objective.gradient(last.slopes))
            certificate = objective.certify(point)
        except KeyboardInterrupt:
            interrupted, certificate = True, found.certificate
        else:
            bound, spent = max(bound, certificate.objective - certificate.gap), spent + 2 * objective.nonzeros
        certificate = replace(certificate, gap=max(certificate.objective - bound, 0.0))
        done = objective.enough(certificate, tol)
        if done or interrupted or not found.converged:
            now = {"iterations": iterations, "operations": spent, "converged": done or interrupted}
            return replace(found, certificate=certificate, interrupted=interrupted, point=None, **now)


def _gained(old: Certificate, new: Certificate) -> bool:
    rounding = 8 * sys.float_info.epsilon * abs(new.objective)
    return new.gap < 0.999 * old.gap or abs(old.objective - new.objective) > rounding


def _run(
    objective: Objective, solver: Any, tol: float, max_iter: int, start: Array | Point | None, report: Any
) -> Solution:
    began = perf_counter()
    if isinstance(start, Point):
        point, W = solver.begin(objective, start), start.W
    else:
        point = (
            objective.empty() if start is None else objective.at(objective.prox(np.array(start, dtype=np.float64), 0.0))
        )
        W = point.W
    best, certificate = point, objective.certify(point)
    bound = certificate.objective - certificate.gap  # the best lower bound so far
    done, iteration, operations = objective.enough(certificate, 1e-13), 0, 0
    seen, stuck, interrupted, last = [certificate], False, False, True

    def intercept() -> Array:
        return objective.intercept(best.W, best.b)

    try:
        iterates = solver.iterates(objective, W)
        while not done and not stuck and iteration < max_iter * solver.patience:
            before = objective.operations
            found = next(iterates)
            iteration, operations = iteration + 1, operations + objective.operations - before
            if iteration % solver.look_every and iteration < max_iter * solver.patience:
                continue
            point = found if isinstance(found, Point) else objective.at(found)
            now, last = objective.certify(point), False
            if not np.isfinite(now.objective):
                raise FloatingPointError(
                    f"The objective became {now.objective} in iteration {iteration}. Scale the features, use a smaller "
                    "step, or another solver."
                )
            if now.name == DUALITY_GAP:
                bound = max(bound, now.objective - now.gap)
                if now.objective <= certificate.objective:
                    best, certificate, last = replace(point, W=np.array(point.W)), now, True
                certificate = replace(certificate, gap=max(certificate.objective - bound, 0.0))
            elif now.gap <= certificate.gap:
                best, certificate, last = replace(point, W=np.array(point.W)), now, True
            stuck = len(seen) >= STILL and not _gained(seen[-max(STILL, len(seen) // 2)], certificate)
            seen.append(certificate)
            done = objective.enough(certificate, tol)
            nonzeros = int(np.count_nonzero(best.W.any(axis=1)))
            if report is not None and report(
                Progress(iteration, perf_counter() - began, certificate, nonzeros, best.W, intercept(), operations)
            ):
                break
    except KeyboardInterrupt:
        done = interrupted = True
    known = best if last and not interrupted else None
    return Solution(best.W, intercept(), certificate, iteration, operations, done, interrupted, known)
