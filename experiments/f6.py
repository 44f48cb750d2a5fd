"""Test error over operations on MNIST with a Gaussian kernel and ℓ1/ℓ2 (Figure 8); counted as `counting` says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import gossamer as gs
from experiments import counting, data, frame, problems

ID = "F6"
PAPER = "Duchi & Singer 2009, Figure 8"
STATEMENT = (
    "Before coordinate descent has visited every coordinate once, stochastic FOBOS has reached its lowest test error "
    "on MNIST with a Gaussian kernel."
)
PAPER_NUMBER = "shown as curves"
WHY = (
    "The order is the paper's: by then stochastic FOBOS is far ahead of coordinate descent and SpaRSA. But one visit "
    "to every coordinate is the work of 150 steps with 100 examples, and the error still falls after them, with the "
    "paper's first step, with a third and with a tenth of it (see the notes). A stronger α does not help: with the one "
    "for which theory's first step is the paper's 30 the errors go up and down between .38 and .72. The paper does not "
    "say how its pixels are scaled, on which the kernel depends."
)
STRONGER = "stronger α"
SHARES = {"stochastic FOBOS": 1, "first step / 3": 1 / 3, "first step / 10": 1 / 10}


def run(size):
    """Follow the test error of stochastic FOBOS, SpaRSA and coordinate descent."""
    D = data.load("mnist", size)
    n, support, n_test, batch, width = size.pick((15_000, 15_000, 2000, 100, 4.0), (400, 100, 400, 20, 1.0))
    seed = np.random.default_rng(0)
    rows = seed.permutation(len(D.y))[:n]
    n = len(rows)
    images = D.X[rows] / 255
    X = problems.gaussian_kernel(images, images[:support], width)
    X_test, y_test = problems.gaussian_kernel(D.X_test[:n_test] / 255, images[:support], width), D.y_test[:n_test]
    y, k = D.y[rows].astype(int), 10
    alpha = size.pick(0.002, 0.02) * gs.alpha_max(X, y, loss="logistic", penalty="group_l2", fit_intercept=False)
    problem = counting.Problem(X, y, gs.Multinomial(), gs.GroupL2(), alpha, k)
    once = 4 * problem.size * k  # every coordinate once: two products with every column, for every class
    budget = size.pick(4, 8) * once

    def error(W):
        return float(np.mean(np.argmax(X_test @ W, axis=1) != y_test))

    traces, c = {}, size.pick(30, 10)
    strong = replace(problem, alpha=problem.alpha * problem.first_step / c)  # for which c is the step of theory
    for name, share in {**SHARES, STRONGER: 1}.items():
        of = strong if name == STRONGER else problem
        iterates = counting.stochastic(of, gs.InverseSqrt(share * c), batch, np.random.default_rng(1))
        traces[name] = counting.follow(iterates, error, budget, 80)
        size.log(f"{name}: {[round(e, 3) for e in traces[name].values[::10]]}")
    for name, solver in (("SpaRSA", gs.SpaRSA()), ("coordinate descent", gs.CoordinateDescent())):
        traces[name] = counting.batch(problem, solver, error, size.pick(1, 5) * budget)
        size.log(f"{name}: {[round(e, 3) for e in traces[name].values]}")
    then = {name: float(trace.at(np.array([once]))[0]) for name, trace in traces.items()}
    ends = {name: float(np.mean(traces[name].values[-8:])) for name in SHARES}
    final, late = ends["stochastic FOBOS"], traces[STRONGER].values[len(traces[STRONGER].values) // 2 :]
    over, ahead = then["stochastic FOBOS"] - final, then["stochastic FOBOS"] - then["coordinate descent"]
    checks = [
        frame.at_most(
            "test error of stochastic FOBOS after the work of one visit to every coordinate, over its final one",
            over,
            0.005,
            quick=False,
        ),
        frame.at_most("the same error over that of coordinate descent then", ahead, 0.0),
    ]
    numbers = {
        "curves": {name: [frame.thin(t.operations), frame.thin(t.values)] for name, t in traces.items()},
        "once": once,
        "final": final,
    }
    notes = [
        *D.notes,
        f"Size: {n:,} examples, {X.shape[1]:,} kernel features, {len(y_test):,} test rows.",
        "Errors after that work and at the end (mean of the last 8 looks): "
        + ", ".join(f"{name} {then[name]:.4f}, {ends[name]:.4f}" for name in SHARES)
        + ".",
        f"α is {problem.alpha:.2g}. With {strong.alpha:.2g}, for which theory's first step is {c}, the errors of the "
        f"last half of the run are between {min(late):.2f} and {max(late):.2f}.",
    ]
    ours = f"{over:+.4f} over its final error ({final:.3f}) after the work of one visit to every coordinate"
    return frame.Outcome(numbers, checks, notes, ours)


def draw(figure, numbers):
    """Draw the test error over operations, the right panel magnified; the line marks one visit to every coordinate."""
    for axis, magnified in zip(figure.subplots(1, 2), (False, True), strict=True):
        for name, (operations, errors) in numbers["curves"].items():
            axis.plot(operations, errors, label=name)
        axis.axvline(numbers["once"], color="gray", ls=":")
        axis.set(xlabel="operations", ylabel="test error")
        if magnified:
            axis.set(xlim=(0, 3 * numbers["once"]), ylim=(0.5 * numbers["final"], 4 * numbers["final"]))
        axis.legend()
