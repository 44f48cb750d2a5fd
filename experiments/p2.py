"""Batch logistic regression over the ℓ1 ball on RCV1: projected gradient beside EG, with all rows and with a quarter.

As in the paper the radius is ‖w*‖₁ of an ℓ1-penalised problem, whose loss is then the least in the ball; the strength
of its penalty is the best one of 5-fold cross-validation. A tighter and a looser ball are in the table. Steps of
projections are η/√t, those of EG constant, η/√t or η/t, with the best η of a grid. A quarter is one of four fixed
random parts of the rows.
"""

from __future__ import annotations

from itertools import product

import numpy as np

import gossamer as gs
from experiments import data, descent, frame

ID = "P2"
PAPER = "Duchi et al. 2008, Figure 6 left"
STATEMENT = (
    "On RCV1, with all rows and with a random 25% of them a step, projections outperform exponentiated gradient "
    "both in speed and in log-loss."
)
PAPER_NUMBER = "shown as curves"

LOSS = gs.Logistic()
RUNS = tuple(product(("ℓ1", "EG"), ("all", "25%")))


def run(size):
    """Follow every method for the same CPU time, at its best step, in three balls."""
    reuters = data.load("rcv1", size)
    rows = slice(size.pick(None, 1000))
    X, y, seconds = reuters.X[rows], reuters.y[rows], size.pick(3.0, 0.05)
    strengths = np.geomspace(*size.pick((1e-4, 5e-6, 7), (3e-2, 3e-3, 3)))
    chosen = gs.BatchClassifierCV(alphas=strengths, select="best", fit_intercept=False).fit(X, y).alpha_
    table = [f"| α | radius | {' | '.join(f'{method}, {part} rows' for method, part in RUNS)} |", "|---" * 6 + "|"]
    for alpha in size.pick((5 * chosen, chosen, chosen / 3), (chosen,)):
        found, radius = _ball(X, y, alpha, seconds, size)
        ends = " | ".join(f"{found[f'{method}, {part}']['value'][-1]:.1e}" for method, part in RUNS)
        table.append(f"| {alpha:.1e} | {radius:.0f} | {ends} |")
        size.log(table[-1])
        if alpha == chosen:
            curves, notes = found, f"α {alpha:.2g}, radius {radius:.0f}, {seconds:g} CPU seconds a run. Best steps: "
    notes += "; ".join(f"{name} rows: {curve['step']}" for name, curve in curves.items())
    checks = []
    for part in ("all", "25%"):
        ours, theirs = curves[f"ℓ1, {part}"], curves[f"EG, {part}"]
        last = theirs["value"][-1]
        there = next((s for s, v in zip(ours["seconds"], ours["value"], strict=True) if v <= last), np.inf)
        share, ratio = there / theirs["seconds"][-1], ours["value"][-1] / last
        checks += [
            frame.at_most(f"excess loss at the end, ℓ1 / EG, {part} rows", ratio, 1, quick=False),
            frame.at_most(f"time to EG's last loss, ℓ1 / EG, {part} rows", share, 1, quick=False),
        ]
    ends = ", ".join(f"{name} rows {curve['value'][-1]:.1e}" for name, curve in curves.items())
    tables = ["Log-loss above the least in the ball, at the end of the run.\n\n" + "\n".join(table)]
    return frame.Outcome(
        {"curves": curves}, checks, [*reuters.notes, notes], f"excess log-loss at the end: {ends}", tables
    )


def _ball(X, y, alpha, seconds, size):
    """Return the runs of all methods at their best steps in the ball of one strength, and its radius."""
    solution = gs.BatchClassifier(alpha=alpha, fit_intercept=False, tol=1e-7).fit(X, y).coef_[0]
    radius, least = np.abs(solution).sum(), _value(X, y, solution)
    additive = [gs.InverseSqrt(c) for c in size.pick((5e3, 1e4, 2e4, 4e4, 1e5), (3, 10, 30))]
    multiplicative = [gs.Constant(c) for c in size.pick((100, 200, 300, 500, 1000), (1, 3, 10))]
    multiplicative += [gs.InverseSqrt(c) for c in size.pick((1e3, 3e3, 1e4), (1, 10))]
    multiplicative += [gs.InverseTime(1 / c) for c in size.pick((1e3, 1e4), (10,))]
    curves = {}
    for method, part in RUNS:
        steps, runs = additive if method == "ℓ1" else multiplicative, []
        for step in steps:
            iterates = _iterates(method, _gradient(X, y, 1 if part == "all" else 4), X.shape[1], radius, step)
            runs.append(descent.timed(iterates, lambda w: _value(X, y, w) - least, seconds))
        best = int(np.argmin([np.mean(run["value"][-10:]) for run in runs]))
        curves[f"{method}, {part}"] = runs[best] | {"step": str(steps[best])}
        size.log(f"{method}, {part}: {steps[best]}, {runs[best]['value'][-1]:.2e} above the least")
    return curves, radius


def _value(X, y, w):
    return float(np.mean(LOSS.value(X @ w, y)))


def _gradient(X, y, parts):
    """Return a function that computes the gradient from one random part of the rows."""
    random = np.random.default_rng(0)
    order = np.array_split(random.permutation(len(y)), parts)
    pieces = [(X[some], X[some].T.tocsr(), y[some]) for some in order]

    def gradient(w):
        some, transposed, labels = pieces[random.integers(parts)]
        return transposed @ (LOSS.slope(some @ w, labels) / len(labels))

    return gradient


def _iterates(method, gradient, d, radius, schedule):
    def step(t):
        return schedule(np.array([t]))[0]

    if method == "EG":
        return descent.exponentiated(gradient, (d,), radius, step)
    return descent.projected(gradient, np.zeros(d), lambda w: gs.project_l1_ball(w, radius), step)


def draw(figure, numbers):
    """Draw the excess loss over CPU time."""
    axes = figure.subplots()
    for name, curve in numbers["curves"].items():
        axes.semilogy(curve["seconds"], curve["value"], label=f"{name} rows")
    axes.set(xlabel="CPU seconds", ylabel="log-loss above the least in the ball")
    axes.legend()
