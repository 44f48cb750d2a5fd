"""How soon FOBOS has the sparsity that it ends with, for five strengths (Figure 11, right)."""

from __future__ import annotations

import numpy as np

import gossamer as gs
from experiments import counting, frame, problems

CLAIM = frame.Claim(
    id="F11",
    paper="Duchi & Singer 2009",
    place="§7.6, Figure 11 right",
    sentence="FOBOS quickly selects the sparsity pattern of w*, and the level of sparsity persists throughout its "
    "execution.",
    unstated=(
        "the loss of this figure: that of Figure 11 left, multiclass logistic with ℓ1",
        "the strengths: five, from .03 to .5 of the largest",
        "the number of iterations: 1,000",
    ),
)
STRENGTHS = (0.03, 0.06, 0.12, 0.25, 0.5)


def run(size):
    """Follow the zeros along deterministic FOBOS with the paper's steps: how many, and how many as in the optimum."""
    n, d, k, rounds, repeats = size.pick((1000, 200, 30, 1000, 2), (300, 40, 6, 120, 1))
    curves, agreement = ({f"{s:g} of the largest α": [] for s in STRENGTHS} for _ in range(2))
    for repeat in range(repeats):
        seed = np.random.default_rng(1100 + repeat)
        X, y, _ = problems.multinomial(n, d, k, d // 2, 0.1, seed)
        most = gs.alpha_max(X, y, loss="logistic", penalty="l1", fit_intercept=False)
        for key, share in zip(curves, STRENGTHS, strict=True):
            problem = counting.Problem(X, y, gs.Multinomial(), gs.L1(), share * most, k)
            best, _ = problem.solve(1e-7)
            iterates = counting.stochastic(problem, gs.InverseSqrt(problem.first_step), n, seed)
            walk = [W for _, (_, W) in zip(range(rounds + 1), iterates, strict=False)]
            curves[key].append([np.mean(W != 0) for W in walk])
            agreement[key].append([np.mean((W != 0) == (best != 0)) for W in walk])
        size.log(f"repeat {repeat + 1} of {repeats}")
    means = [{key: np.mean(runs, axis=0) for key, runs in of.items()} for of in (curves, agreement)]
    return {"curves": means[0], "agreement": means[1], "repeats": repeats}


def judge(numbers):
    """Check the level and the pattern, a third of the way and at the end."""
    curves, agreement = numbers["curves"], numbers["agreement"]
    rounds = len(next(iter(curves.values()))) - 1
    settled = {key: settling(curve) / rounds for key, curve in curves.items()}
    alike = {key: min(curve[rounds // 3 :]) for key, curve in agreement.items()}
    what = "share of the run until the level stays within 5 points of its last value"
    checks = [
        frame.at_most(f"{what}, the most over strengths", max(settled.values()), 1 / 3),
        frame.at_least(
            "weights that are zero or not as in w*, the least from a third of the run on and over strengths",
            min(alike.values()),
            0.95,
            quick=False,
        ),
    ]
    aims = [frame.at_most(f"{key}: {what}", share, 1 / 3) for key, share in settled.items()]
    key = f"level settled after at most {max(settled.values()):.0%} of the run; {min(alike.values()):.1%} of the "
    key += "weights as in w* or more"
    notes = [
        f"Non-zeros at the end: {', '.join(f'{curve[-1]:.0%}' for curve in curves.values())}.",
        f"Weights as in w* at the end: {', '.join(f'{curve[-1]:.1%}' for curve in agreement.values())}.",
        f"{numbers['repeats']} problems a strength, {rounds} iterations, steps D/(√7 G √t).",
    ]
    return frame.Verdict(checks, key, aims, notes)


def settling(curve, within=0.05):
    """Return the round from which on the curve stays near its last value."""
    away = np.flatnonzero(np.abs(np.asarray(curve) - curve[-1]) > within)
    return int(away[-1]) + 1 if len(away) else 0


def draw(figure, numbers):
    """Draw the share of non-zeros and of weights as in the optimum over the rounds."""
    left, right = figure.subplots(1, 2)
    for axis, what in ((left, "curves"), (right, "agreement")):
        for key, curve in numbers[what].items():
            axis.plot(frame.thin(range(len(curve))), frame.thin(curve), label=key)
        axis.set(xlabel="iteration", ylim=(0, 1.02))
    left.set_ylabel("share of non-zero weights")
    right.set_ylabel("share of weights zero or not as in w*")
    left.legend()
