"""FOBOS beside Pegasos on ℓ2²-regularised problems, with steps 1/(αt) (Figure 4)."""

from __future__ import annotations

import numpy as np

import gossamer as gs
from experiments import frame, problems
from experiments.counting import Problem
from experiments.f1 import hinge_optimum

ID = "F2"
PAPER = "Duchi & Singer 2009, Figure 4"
STATEMENT = (
    "FOBOS performs comparably to Pegasos on the hinge loss with a projection, and slightly better on the logistic "
    "loss without one."
)
PAPER_NUMBER = "shown as curves"
WHY = (
    "At the end the two are the same: by repeats the ratio is 1.00023 ± .00030, and below 1 in 9 of 20, as to shrink "
    "by t/(t + 1) and by (t − 1)/t is soon the same. In the first rounds FOBOS is ahead, by 5% or less, as the paper "
    "says."
)
ALPHA = 0.01


def run(size):
    """Learn from random single examples; look at F along the run."""
    n, d, repeats, rounds = size.pick((1000, 400, 20, 20_000), (200, 40, 3, 2_000))
    gaps = {loss: {name: [] for name in ("FOBOS", "Pegasos")} for loss in ("hinge", "logistic")}
    for repeat in range(repeats):
        seed = np.random.default_rng(repeat)
        X = seed.standard_normal((n, d))
        y = problems.noisy_signs(X, problems.half_sparse(d, seed), 0.1, seed)
        for loss, project in (("hinge", True), ("logistic", False)):
            problem = Problem(X, y, {"hinge": gs.Hinge(), "logistic": gs.Logistic()}[loss], gs.L2Squared(), ALPHA)
            best = hinge_optimum(problem) if project else problem.solve(1e-8)[1]
            order = seed.integers(0, n, rounds)
            for name, iterates in (("FOBOS", fobos), ("Pegasos", pegasos)):
                gaps[loss][name].append([problem.value(w) - best for w in iterates(problem, order, project)])
        size.log(f"repeat {repeat + 1} of {repeats}")
    means = {loss: {name: np.mean(runs, axis=0) for name, runs in of.items()} for loss, of in gaps.items()}
    ratios = {loss: of["FOBOS"] / of["Pegasos"] for loss, of in means.items()}
    worst, last = float(ratios["hinge"][-10:].max()), float(ratios["logistic"][-1])
    checks = [
        frame.at_most("hinge: F − F* of FOBOS over Pegasos, the most over the tenths of the run", worst, 2),
        frame.at_most("logistic: F − F* of FOBOS over Pegasos at the end", last, 1),
    ]
    numbers = {"rounds": marks(rounds), "gaps": means, "ratios": ratios}
    ours = f"hinge: at most {worst:.2f}× Pegasos; logistic: {last:.4f}× at the end"
    notes = [f"α = {ALPHA}, {rounds:,} single examples a run."]
    pairs = np.divide(*gaps["logistic"].values())[:, -1]
    error = pairs.std() / np.sqrt(len(pairs))
    notes.append(
        f"Logistic, F − F* of FOBOS over Pegasos at the end, by repeats: {pairs.mean():.5f} ± {error:.5f} (standard "
        f"error), below 1 in {np.sum(pairs < 1)} of {len(pairs)}."
    )
    early = ", ".join(f"{ratio:.3f}" for ratio in ratios["logistic"][:6])
    notes.append(f"Logistic, F − F* of FOBOS over Pegasos in the first tenth of the run: {early}.")
    return frame.Outcome(numbers, checks, notes, ours)


def marks(rounds):
    """Return the rounds at which F is looked at: some early ones, then those after each tenth, the last ten."""
    return [rounds // 10 // 2**i for i in range(6, 0, -1)] + [rounds * i // 10 for i in range(1, 11)]


def pegasos(problem, order, project):
    """Yield the weights at the marks."""
    yield from learn(problem, order, gs.Pegasos(project=project))


def fobos(problem, order, project):
    """Yield the weights at the marks; the projection after a step is on the ball that holds w*."""
    if not project:
        yield from learn(problem, order, gs.Fobos(gs.InverseTime(problem.alpha)))
        return
    penalty, ball = gs.L2Squared(), gs.L2Ball(1 / np.sqrt(problem.alpha))
    w, ends = problem.origin, set(marks(len(order)))
    for t, i in enumerate(order, 1):
        step = 1 / (problem.alpha * t)
        slope = problem.loss.slope(problem.X[i : i + 1] @ w, problem.y[i : i + 1])
        w = ball.prox(penalty.prox(w - step * slope * problem.X[i], step * problem.alpha), 1.0)
        if t in ends:
            yield w


def learn(problem, order, method):
    """Yield the weights of an online estimator at the marks."""
    model = gs.OnlineClassifier(
        problem.loss, "l2_squared", problem.alpha, method=method, fit_intercept=False, shuffle=False
    )
    start = 0
    for end in marks(len(order)):
        some = order[start:end]
        yield model.partial_fit(problem.X[some], problem.y[some], classes=[-1, 1]).coef_[0].copy()
        start = end


def draw(figure, numbers):
    """Draw F − F* over the examples, hinge left, logistic right."""
    for axis, (loss, of) in zip(figure.subplots(1, 2), numbers["gaps"].items(), strict=True):
        for (name, curve), style in zip(of.items(), ("o-", "s--"), strict=True):
            axis.loglog(numbers["rounds"], curve, style, label=name)
        axis.set(title=loss, xlabel="examples", ylabel="F − F*")
        axis.legend()
