"""Operations to a given precision on made-up least squares and logistic regression with ℓ1.

As in the paper, interior point and coordinate descent minimise F = mean loss + α‖w‖₁, the projected methods minimise
the mean loss over ‖w‖₁ ≤ ‖w*‖₁, w* the minimiser of F. What is shown is how far each is above its own minimum, as a
share of where it starts, over counted operations (see counting.py). α is 5% of the strength that makes all zero, which
leaves about half of the weights zero, as many as in the weights that made the data; the table has other strengths.
Steps are η/√t with the η of a grid that is first at 1e-2; stochastic ones see 25% or 10% of the rows, whichever is
first.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

import gossamer as gs
from experiments import counting, frame, problems

ID = "P1"
PAPER = "Duchi et al. 2008, Figures 4 and 5"
STATEMENT = (
    "Projected gradient methods, stochastic ones above all, are the first at a precision of 1e-2; with n = 4000 "
    "interior point falls behind."
)
PAPER_NUMBER = "shown as curves"
WHY = (
    "The strength, which the paper does not state. At ours (half of the weights zero, as in the data) a few steps with "
    "full gradients are enough, and the noise of sampling costs more than it saves. The table tests it: with α a "
    "thousandth of the largest, stochastic steps are the first for least squares (9.9 gradients, coordinate descent "
    "11.4), and behind only projected steps for the logistic loss (10.4 and 7.0; coordinate descent 23.3); with larger "
    "α they fall behind. Neither batches (25 or 10% of the rows, the better one) nor steps (best inside the grid) turn "
    "it. The paper says of projected methods in general that they are quick to 1e-2; that holds: one of them is the "
    "first or second in all four. Interior point is the last in all four."
)


def run(size):
    """Follow five methods on both losses in both dimensions."""
    curves, checks, ends = {}, [], []
    small, large = size.pick((800, 4000), (60, 120))
    for loss, name in ((gs.Squared(), "least squares"), (gs.Logistic(), "logistic")):
        for n in (small, large):
            traces, _ = _compare(loss, n, 0.05, size)
            first = {method: trace.first_under(1e-2) for method, trace in traces.items()}
            key = f"{name}, n = {n}"
            curves[key] = {method: _curve(trace) for method, trace in traces.items()}
            others = {method: ops for method, ops in first.items() if method != "stochastic"}
            ratio = first["stochastic"] / min(others.values())
            checks.append(frame.at_most(f"{key}: operations to 1e-2, stochastic / best other", ratio, 1, quick=False))
            if n == large:
                behind = first["stochastic"] / first["interior point"]
                what = f"{key}: operations to 1e-2, stochastic / interior point"
                checks.append(frame.at_most(what, behind, 1, quick=False))
            ends.append(f"{key}: " + ", ".join(f"{method} {ops:.1e}" for method, ops in first.items()))
            size.log(ends[-1])
    ours = "operations to 1e-2: " + "; ".join(ends)
    return frame.Outcome({"curves": curves}, checks, ["Made-up data."], ours, [_strengths(small, size)])


def _strengths(n, size):
    """Return a table of the operations to 1e-2 over the strength, in gradients with all rows."""
    table = []
    for loss, name in ((gs.Squared(), "least squares"), (gs.Logistic(), "logistic")):
        for share in size.pick((0.5, 0.2, 0.05, 0.01, 0.001), (0.01,)):
            traces, zeros = _compare(loss, n, share, size)
            needs = " | ".join(f"{trace.first_under(1e-2) / (4 * n * n):.1f}" for trace in traces.values())
            table.append(f"| {name} | {share:g} | {zeros:.0%} | {needs} |")
            size.log(table[-1])
    head = f"| loss | α / largest | zeros | {' | '.join(traces)} |\n" + "|---" * 8 + "|\n"
    return f"Operations to 1e-2, in gradients with all rows, n = {n}.\n\n" + head + "\n".join(table)


def _compare(loss, n, share, size):
    """Return the traces of all methods on one problem, and the share of zeros in its solution."""
    seed = np.random.default_rng(n)
    X, w = seed.standard_normal((n, n)), problems.half_sparse(n, seed)
    y = X @ w + seed.standard_normal(n) if isinstance(loss, gs.Squared) else problems.noisy_signs(X, w, 0.1, seed)
    kind = "squared" if isinstance(loss, gs.Squared) else "logistic"
    alpha = share * gs.alpha_max(X, y, loss=kind, fit_intercept=False)
    penalised = counting.Problem(X, y, loss, gs.L1(), alpha)
    best, least = penalised.solve(tol=1e-5)
    ball = replace(penalised, penalty=gs.L1Ball(float(np.abs(best).sum())), alpha=0.0)
    start, low = float(np.mean(loss.value(np.zeros(n), y))), float(np.mean(loss.value(X @ best, y)))

    def above(w):
        return (penalised.value(w) - least) / start

    def above_in_ball(w):
        return (float(np.mean(loss.value(X @ w, y))) - low) / start

    budget = 4.0 * X.size * 40  # as many gradients
    traces = {
        "coordinate descent": counting.batch(penalised, gs.CoordinateDescent(), above, budget, tol=1e-5),
        "interior point": counting.batch(penalised, gs.InteriorPoint(), above, 10 * budget, tol=1e-3),
        "projected, line search": counting.batch(ball, gs.ProjectedGradient(), above_in_ball, budget, tol=1e-5),
    }
    # The first step reaches about ‖w*‖₁ with η of this size.
    scale = np.abs(best).max() / np.abs(penalised.gradient(np.zeros(n))).max()
    kinds = (
        ("projected", (1,), size.pick((0.4, 0.7, 1, 2, 4), (1,))),
        ("stochastic", (4, 10), size.pick((0.1, 0.2, 0.4, 0.7, 1, 2), (0.4,))),
    )
    for name, batches, factors in kinds:
        tries = []
        for parts, factor in product(batches, factors):
            iterates = counting.stochastic(ball, inverse_root(factor * scale), n // parts, np.random.default_rng(0))
            tries.append(counting.follow(iterates, above_in_ball, 1.5 * budget, points=100))
        traces[name] = min(tries, key=lambda trace: (trace.first_under(1e-2), trace.values[-1]))
    return traces, np.mean(best == 0)


def inverse_root(c):
    """Return η_t = c/√t."""
    return lambda t: c / np.sqrt(t)


def _curve(trace):
    return {"operations": frame.thin(trace.operations, 100), "value": frame.thin(trace.values, 100)}


def draw(figure, numbers):
    """Draw the precision over the operations."""
    figure.set_size_inches(9, 7)
    for (name, found), axes in zip(numbers["curves"].items(), figure.subplots(2, 2).ravel(), strict=True):
        for method, curve in found.items():
            axes.loglog(np.maximum(curve["operations"], 1), np.maximum(curve["value"], 1e-7), label=method)
        axes.axhline(1e-2, color="gray", lw=0.5)
        axes.set(title=name, xlabel="operations", ylabel="above the minimum, share of the start", ylim=(1e-5, 2))
        axes.set_xlim(left=min(c["operations"][1] for c in found.values()))
    axes.legend(fontsize=7)
