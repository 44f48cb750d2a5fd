"""How soon FOBOS has the sparsity that it ends with, for five strengths (Figure 11, right)."""

from __future__ import annotations

import numpy as np

import gossamer as gs
from experiments import counting, frame, problems

ID = "F11"
PAPER = "Duchi & Singer 2009, Figure 11 right"
STATEMENT = (
    "FOBOS quickly selects the sparsity pattern of the solution, and the level of sparsity persists through the run."
)
PAPER_NUMBER = "shown as curves"
STRENGTHS = (0.03, 0.06, 0.12, 0.25, 0.5)


def run(size):
    """Follow the share of non-zero weights along deterministic FOBOS with the paper's steps."""
    n, d, k, rounds, repeats = size.pick((1000, 200, 30, 1000, 2), (300, 40, 6, 120, 1))
    curves = {f"{s:g} of the largest α": [] for s in STRENGTHS}
    for repeat in range(repeats):
        seed = np.random.default_rng(repeat)
        X, y, _ = problems.multinomial(n, d, k, d // 2, 0.1, seed)
        most = gs.alpha_max(X, y, loss="logistic", penalty="l1", fit_intercept=False)
        for key, share in zip(curves, STRENGTHS, strict=True):
            problem = counting.Problem(X, y, gs.Multinomial(), gs.L1(), share * most, k)
            iterates = counting.stochastic(problem, gs.InverseSqrt(problem.first_step), n, seed)
            curves[key].append([np.mean(next(iterates)[1] != 0) for _ in range(rounds + 1)])
        size.log(f"repeat {repeat + 1} of {repeats}")
    curves = {key: np.mean(runs, axis=0) for key, runs in curves.items()}
    settled = {key: settling(curve) / rounds for key, curve in curves.items()}
    checks = [
        frame.at_most(f"{key}: share of the run until sparsity stays within 5 points of its last value", share, 1 / 3)
        for key, share in settled.items()
    ]
    numbers = {"curves": {key: curve.tolist() for key, curve in curves.items()}, "settled": settled}
    ours = f"settled after at most {max(settled.values()):.0%} of the run"
    ends = ", ".join(f"{curve[-1]:.0%}" for curve in curves.values())
    return frame.Outcome(
        numbers,
        checks,
        [
            f"Non-zeros at the end: {ends}.",
            f"Size: as in the paper, {repeats} problems a strength, {rounds} iterations, steps D/(√7 G √t).",
        ],
        ours,
    )


def settling(curve, within=0.05):
    """Return the round from which on the curve stays near its last value."""
    away = np.flatnonzero(np.abs(np.asarray(curve) - curve[-1]) > within)
    return int(away[-1]) + 1 if len(away) else 0


def draw(figure, numbers):
    """Draw the share of non-zeros over the rounds."""
    axis = figure.subplots()
    for key, curve in numbers["curves"].items():
        axis.plot(frame.thin(range(len(curve))), frame.thin(curve), label=key)
    axis.set(xlabel="iteration", ylabel="share of non-zero weights", ylim=(0, 1))
    axis.legend()
