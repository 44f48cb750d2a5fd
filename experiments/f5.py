"""Operations to reach the optimum of multinomial regression with ℓ1/ℓ2 (Figure 7); counted as `counting` says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import gossamer as gs
from experiments import counting, frame, problems
from experiments.f3 import draw as draw_race

ID = "F5"
PAPER = "Duchi & Singer 2009, Figure 7"
STATEMENT = (
    "On multinomial problems with ℓ1/ℓ2 the stochastic methods are ahead at first and lose to coordinate descent in "
    "the end."
)
PAPER_NUMBER = "shown as curves"
ZEROS = (0.6, 0.3)


def run(size):
    """Race stochastic FOBOS, stochastic projected gradient, SpaRSA and coordinate descent."""
    n, d, k, steps = size.pick((5000, 1000, 10, 400), (400, 60, 4, 200))
    seed = np.random.default_rng(0)
    X, y, _ = problems.multinomial(n, d, k, 0, 0.05, seed, problems.correlated(n, d, 0.2, seed))
    problem = counting.Problem(X, y, gs.Multinomial(), gs.GroupL2(), 1.0, k)
    most = gs.alpha_max(X, y, loss="logistic", penalty="group_l2", fit_intercept=False)
    curves, early, late = {}, {}, {}
    for zeros in size.pick(ZEROS, ZEROS[:1]):
        share = lambda alpha: np.mean(~replace(problem, alpha=alpha).solve(1e-2)[0].any(axis=1))  # noqa: E731
        alpha = problems.strength_for(zeros, share, most, least=0.01 * most, rounds=4)
        now = replace(problem, alpha=alpha)
        traces, found = race(now, 4 * problem.size * k * steps / 10, size)
        key = f"{found:.0%} zero rows"
        curves[key] = {name: [frame.thin(trace.operations), frame.thin(trace.values)] for name, trace in traces.items()}
        pass_ = np.array([4 * problem.size * k])  # the work of one full gradient
        early[key] = float(traces["stochastic FOBOS"].at(pass_)[0] / traces["coordinate descent"].at(pass_)[0])
        late[key] = traces["coordinate descent"].values[-1] / traces["stochastic FOBOS"].values[-1]
    checks = [
        frame.at_most(f"{key}: F − F* after one pass, stochastic FOBOS over coordinate descent", ratio, 1)
        for key, ratio in early.items()
    ]
    checks += [
        frame.at_most(f"{key}: F − F* at the end, coordinate descent over stochastic FOBOS", ratio, 1)
        for key, ratio in late.items()
    ]
    ours = "; ".join(
        f"{key}: {early[key]:.2g}× of coordinate descent's F − F* after one pass, {1 / late[key]:.2g}× at the end"
        for key in early
    )
    return frame.Outcome(
        {"curves": curves, "early": early, "late": late},
        checks,
        [f"Stochastic steps take 2% of the examples. Size: n = {n:,}, d = {d:,}, k = {k}, as in the paper."],
        ours,
    )


def race(problem, budget, size):
    """Return the traces of F − F* of all methods, and the share of zero rows of the optimum."""
    W, best = problem.solve(1e-6)

    def gap(W):
        return max(problem.value(W) - best, 1e-9)

    traces = {
        "SpaRSA": counting.batch(problem, gs.SpaRSA(), gap, budget),
        "coordinate descent": counting.batch(problem, gs.CoordinateDescent(), gap, 4 * budget, tol=1e-6),
    }
    G = float(np.linalg.norm(problem.X, axis=1).mean())
    c = min(float(np.linalg.norm(W)), np.log(problem.outputs) / problem.alpha) / (np.sqrt(7) * G)
    ball = replace(problem, penalty=gs.GroupL2Ball(problem.penalty.value(W)), alpha=0.0)
    for name, of in (("stochastic FOBOS", problem), ("stochastic projected", ball)):
        iterates = counting.stochastic(
            of, lambda t: 10 * c / np.sqrt(t), len(problem.y) // 50, np.random.default_rng(0)
        )
        traces[name] = counting.follow(iterates, gap, budget, 60)
    size.log(", ".join(f"{name} {trace.values[-1]:.2g}" for name, trace in traces.items()))
    return traces, float(np.mean(~W.any(axis=1)))


def draw(figure, numbers):
    """Draw F − F* over operations, one panel a strength."""
    draw_race(figure, numbers)
