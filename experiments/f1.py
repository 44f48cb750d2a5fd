"""How the first step decides the run of FOBOS, and what the step chosen by theory is worth (Figures 1 to 3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import gossamer as gs
from experiments import counting, frame, problems

ID = "F1"
PAPER = "Duchi & Singer 2009, Figures 1 to 3"
STATEMENT = (
    "FOBOS is sensitive to the first step, but the step that theory suggests from estimates of D and G is competitive "
    "with the best one found in hindsight when steps fall like 1/√t."
)
PAPER_NUMBER = "shown as curves"
WHY = (
    "With all examples a step there is no noise, and longer steps than theory's 2.4 pay the more the longer the run: "
    "2.6 times the best of the grid after 36 rounds, 5.3 times after 200. The best is 5, and the paper says of 4.6 "
    "that it did well too, and leaves it out of its figure; of the steps that it draws, up to 2.15, theory's is the "
    "best (.49 of the next). Our data is easier than the paper's: at its strength 95% of the optimum are zero, there "
    "roughly 50%; with a thousandth of the strength there still are 65% (see the notes). The stochastic runs hold."
)
GRID = (0.05, 0.15, 0.5, 1.5, 5.0, 15.0, 50.0)
DECAYS = {"1/√t": np.sqrt, "1/t": float}


def theory(problem, name):
    """Return the paper's first step for 1/√t: D/(√7 G) for the logistic loss, D/(4G) for the hinge loss."""
    return problem.first_step if name == "logistic" else np.sqrt(2 / problem.alpha) / (4 * problem.row_length)


def run(size):
    """Run every step of the grid, for both losses, both decays, all examples and 10% of them, with the same work."""
    grid = size.pick(GRID, GRID[2:5])
    n, d, repeats, rounds = size.pick((400, 800, 10, 2000), (200, 80, 1, 200))
    alpha, curves, steps, zeros, first = 0.25 / np.sqrt(n), {}, {}, [], None
    for repeat in range(repeats):
        seed = np.random.default_rng(repeat)
        X = problems.correlated(n, d, 0.2, seed)
        y = problems.noisy_signs(X, problems.half_sparse(d, seed), 0.05, seed)
        for name, loss, penalty in (("logistic", gs.Logistic(), gs.L1()), ("hinge", gs.Hinge(), gs.L2Squared())):
            problem = counting.Problem(X, y, loss, penalty, alpha)
            if name == "logistic":
                w, best = problem.solve(1e-8)
                first = first or problem
                zeros.append(np.mean(w == 0))
            else:
                best = hinge_optimum(problem)
            steps.setdefault(name, []).append(theory(problem, name))
            for batch in (n, n // 10):
                if name == "hinge" and batch == n:
                    continue  # the paper shows the stochastic one only
                for decay, divide in DECAYS.items():
                    for c in (*grid, theory(problem, name)):
                        key = f"{name}, {'all' if batch == n else '10%'}, {decay}"
                        runs = curves.setdefault(key, {}).setdefault(f"{c:g}" if c in grid else "theory", [])
                        step = lambda t, c=c, divide=divide: c / divide(t)  # noqa: E731
                        runs.append(gaps(problem, best, step, batch, rounds // (10 if batch == n else 1), seed))
        size.log(f"repeat {repeat + 1} of {repeats}")
    means = {key: {c: np.mean(runs, axis=0) for c, runs in of.items()} for key, of in curves.items()}
    ratios = {
        key: of["theory"][-1] / min(curve[-1] for c, curve in of.items() if c != "theory") for key, of in means.items()
    }
    numbers = {
        "rounds": {key: marks(rounds // (10 if "all" in key else 1)) for key in means},
        "curves": means,
        "ratios": ratios,
        "theory": {name: float(np.mean(some)) for name, some in steps.items()},
    }
    checks = [
        frame.at_most(f"{key}: F − F* with theory's step over the best of the grid", ratio, 3, quick="all" not in key)
        for key, ratio in ratios.items()
        if key.endswith("1/√t")
    ]
    told = ", ".join(f"{key[:-6]} {ratio:.2g}×" for key, ratio in ratios.items() if key.endswith("1/√t"))
    ours = f"F − F* over that of the best step: {told}"
    notes = [f"Theory's first steps: {', '.join(f'{name} {c:.2g}' for name, c in numbers['theory'].items())}."]
    key = "logistic, all, 1/√t"
    shown = numbers["rounds"][key][[-20, -10, -5, -1]]
    for what, most in (
        ("the best of the grid", np.inf),
        ("the best of the steps that the paper draws, up to 2.15", 2.15),
    ):
        least = np.min([curve for c, curve in means[key].items() if c != "theory" and float(c) <= most], axis=0)
        along = ", ".join(f"{ratio:.2f}" for ratio in (means[key]["theory"] / least)[[-20, -10, -5, -1]])
        notes.append(f"{key}: F − F* over {what}, after {', '.join(map(str, shown))} rounds: {along}.")
    weaker = [np.mean(replace(first, alpha=alpha / share).solve(1e-4)[0] == 0) for share in (10, 100, 1000)]
    notes.append(
        f"Zeros of the optimum with the logistic loss: {np.mean(zeros):.0%}; the paper says roughly 50%. With a tenth, "
        f"a hundredth and a thousandth of the strength (first repeat): {', '.join(f'{share:.0%}' for share in weaker)}."
    )
    return frame.Outcome(numbers, checks, notes, ours)


def hinge_optimum(problem):
    """Return F* for the hinge loss and ½‖w‖²: minus min of ½‖Au‖²/α − mean(u) over 0 ≤ u ≤ 1, A = (yX)'/n."""
    from scipy.optimize import minimize

    n = len(problem.y)
    A = (problem.X * problem.y[:, None]).T / n

    def dual(u):
        w = A @ u / problem.alpha
        return problem.alpha / 2 * w @ w - u.mean(), A.T @ w - 1 / n

    found = minimize(
        dual,
        np.full(n, 0.5),
        jac=True,
        bounds=[(0, 1)] * n,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-13, "gtol": 1e-9},
    )
    return -found.fun


def marks(rounds):
    """Return the rounds at which F is looked at, denser early."""
    return np.unique(np.geomspace(1, rounds, 60).round().astype(int))


def gaps(problem, best, step, batch, rounds, seed):
    """Return F − F* at the marks."""
    iterates, at, out = counting.stochastic(problem, step, batch, seed), set(marks(rounds).tolist()), []
    for t, (_, w) in enumerate(iterates):
        if t in at:
            out.append(problem.value(w) - best)
        if t == rounds:
            return out
    return out


def draw(figure, numbers):
    """Draw F − F* over the rounds, one panel a figure half, the step of theory in bold red."""
    figure.set_size_inches(9, 11)
    for axis, (key, of) in zip(figure.subplots(3, 2).flat, numbers["curves"].items(), strict=True):
        for c, curve in of.items():
            style = {"color": "red", "lw": 2.5, "zorder": 3} if c == "theory" else {"lw": 1}
            axis.loglog(numbers["rounds"][key], curve, label=c, **style)
        axis.set(title=key, xlabel="round", ylabel="F − F*")
        axis.legend(title="first step", fontsize=7)
