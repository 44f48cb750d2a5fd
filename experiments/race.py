"""The race of F3 and F4: operations to the optimum of ℓ1-logistic regression, method by method.

How operations are counted: see `counting`. The stochastic methods take batches of 10% of the examples and the steps of
theory, D/(√7 G) / √t with D = F(0)/α; stochastic projected gradient does the same on the ℓ1 ball of the optimum.
Coordinate descent is the paper's (Tseng and Yun, Armijo line search); that of this library is shown as information.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import gossamer as gs
from experiments import counting, frame, problems

SOLVERS = {
    "SpaRSA": gs.SpaRSA(),
    "interior point": gs.InteriorPoint(),
    "our coordinate descent": gs.CoordinateDescent(),
    "deterministic FOBOS": gs.BatchFobos("theory"),
}
MINE, CYCLIC = "stochastic FOBOS", "coordinate descent"
UNSTATED = (
    "how far a method is followed: until it is within 10⁻², at most ten times the work of the figure",
    "the covariance: AAᵀ/m + .01 I with mean |ρ| .2 or .3",
    "the batches of the stochastic methods: 10% of the examples, as in §7.1",
    "the constants of the line search: σ = .1, halving, as in Meier et al.",
)
CLOSE, LONGER = 1e-2, 10  # a method that is not within 1e-2 goes on beyond the figure, up to so many times its work


def problem_with(zeros, n, d, correlation, seed):
    """Return the problem whose optimum has this share of zeros; for none, with a millionth of the largest strength."""
    X = problems.correlated(n, d, correlation, seed)
    y = problems.noisy_signs(X, problems.half_sparse(d, seed), 0.05, seed)
    problem = counting.Problem(X, y, gs.Logistic(), gs.L1(), 1.0)
    most = gs.alpha_max(X, y, loss="logistic", fit_intercept=False)
    share = lambda alpha: np.mean(replace(problem, alpha=alpha).solve(1e-5)[0] == 0)  # noqa: E731
    return replace(
        problem, alpha=problems.strength_for(zeros, share, most, least=1e-4 * most) if zeros else 1e-6 * most
    )


def plain(problem) -> Iterator[tuple[float, np.ndarray]]:
    """Yield (operations, w) of Tseng and Yun's coordinate descent: one weight after another, a Newton step by a prox.

    The step is halved until F falls by a tenth of what it promised. A visit counts 2 for every row for the slope, 2 for
    the curvature, and 4 for every step tried: margins and loss.
    """
    X, n, y, alpha, loss = problem.X, len(problem.y), problem.y, problem.alpha, problem.loss
    w, operations, margins = problem.origin, 0.0, np.zeros(n)
    columns = np.ascontiguousarray(X.T)
    squares = columns * columns
    yield operations, w
    value, slopes = float(np.mean(loss.value(margins, y))), loss.slope(margins, y)
    bends = slopes * (-y - slopes)
    while True:
        for j, x in enumerate(columns):
            slope, bend = float(slopes @ x) / n, max(float(bends @ squares[j]) / n, 1e-10)
            far = w[j] - slope / bend
            move = float(np.sign(far) * max(abs(far) - alpha / bend, 0.0)) - w[j]
            operations += 4 * n
            while abs(move) > 1e-10:
                longer = alpha * (abs(w[j] + move) - abs(w[j]))
                operations += 4 * n
                there = float(np.mean(loss.value(margins + move * x, y)))
                if there - value + longer <= 0.1 * (move * slope + longer):
                    w, margins, value = w.copy(), margins + move * x, there
                    w[j] += move
                    slopes = loss.slope(margins, y)
                    bends = slopes * (-y - slopes)
                    break
                move /= 2
            yield operations, w


def race(problem, budget, size):
    """Return what came out: curves of F − F* by method, operations to 1e-2, and what F was at half and all the work.

    The work is that of the figure; a method that is not within 1e-2 by then goes on until it is.
    """
    w, best = problem.solve(1e-8)
    most = size.pick(LONGER, 1) * budget
    until = counting.Until(budget, CLOSE, most)

    def gap(w):
        return max(problem.value(w) - best, 1e-9)

    traces = {name: counting.batch(problem, solver, gap, until) for name, solver in SOLVERS.items()}
    traces[CYCLIC] = counting.follow(plain(problem), gap, until)
    ball = replace(problem, penalty=gs.L1Ball(float(np.abs(w).sum())), alpha=0.0)
    for name, of in (("stochastic projected", ball), (MINE, problem)):
        step, seed = gs.InverseSqrt(problem.first_step), np.random.default_rng(300)
        traces[name] = counting.follow(counting.stochastic(of, step, len(problem.y) // 10, seed), gap, until)
    reached = {name: trace.first_under(CLOSE) for name, trace in traces.items()}
    size.log(f"{np.mean(w == 0):.0%} zeros: " + ", ".join(f"{name} {found:.2g}" for name, found in reached.items()))
    return {
        "zeros": np.mean(w == 0),
        "start": gap(problem.origin),
        "budget": budget,
        "most": most,
        "reached": reached,
        "half": {name: trace.at(budget / 2) for name, trace in traces.items()},
        "end": {name: trace.at(budget) for name, trace in traces.items()},
        "curves": {name: within(trace, budget) for name, trace in traces.items()},
    }


def within(trace, budget):
    """Return the curve of a trace within the budget."""
    looks = int(np.searchsorted(trace.operations, budget)) + 1
    return [frame.thin(trace.operations[:looks]), frame.thin(trace.values[:looks])]


def over(found, above, below):
    """Return the ratio of the operations to 1e-2, and in which direction it is only a bound: "", "≥" or "≤".

    A method that is never there needs more than the most that it was given.
    """
    one, other = (found["reached"][name] for name in (above, below))
    if one is None and other is None:
        return np.nan, ""
    most = found.get("most", found["budget"])
    ratio = (one or most) / (other or most)
    return ratio, "≥" if one is None else "≤" if other is None else ""


def over_told(found, above, below):
    """Return that ratio in words."""
    ratio, bound = over(found, above, below)
    return bound + frame.told(ratio, ".2g")


def growth(first, last, above, below):
    """Return what such a ratio grows by from one problem to another, and in which direction it is only a bound.

    NaN where it cannot be said at all.
    """
    (start, of_start), (end, of_end) = over(first, above, below), over(last, above, below)
    bounds = {of_end, {"≥": "≤", "≤": "≥", "": ""}[of_start]} - {""}
    return (end / start, bounds.pop() if bounds else "") if len(bounds) < 2 else (np.nan, "")


def at_least(found):
    """Return the growth if it is that or more, NaN if it may be less."""
    return found[0] if found[1] != "≤" else np.nan


def at_most(found):
    """Return the growth if it is that or less, NaN if it may be more."""
    return found[0] if found[1] != "≥" else np.nan


def told(key, found):
    """Return a line on a race."""
    every = (f"{name} {ops:.2g}" if ops else f"{name} not" for name, ops in found["reached"].items())
    most, end = found.get("most", found["budget"]), found["end"]
    return (
        f"{key} ({found['zeros']:.0%} zeros), operations to F − F* ≤ 1e-2, of {most:.2g}: {', '.join(every)}. "
        f"F(0) − F* is {found['start']:.2g}; after {found['budget']:.2g} stochastic FOBOS has {end[MINE]:.2g}, SpaRSA "
        f"{end['SpaRSA']:.2g}."
    )


def draw(figure, races):
    """Draw F − F* over operations, one panel a race."""
    rows = -(-len(races) // 2)
    figure.set_size_inches(10, 3.4 * rows + 0.6)
    axes = list(figure.subplots(rows, 2, squeeze=False).flat)
    for axis in axes[len(races) :]:
        axis.set_axis_off()
    for axis, (key, found) in zip(axes, races.items(), strict=False):
        for name, (operations, gaps) in found["curves"].items():
            axis.semilogy(operations, gaps, label=name, lw=2 if name == MINE else 1.2)
        axis.set(title=key, xlabel="operations", ylabel="F − F*", ylim=(1e-7, None))
        axis.set_xlim(0, found["budget"])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
