"""FOBOS beside Pegasos on ℓ2²-regularised problems, with steps 1/(αt) (Figure 4)."""

from __future__ import annotations

import numpy as np

import gossamer as gs
from experiments import frame, problems
from experiments.counting import Problem
from experiments.step_sizes import hinge_optimum

CLAIM = frame.Claim(
    id="F2",
    paper="Duchi & Singer 2009",
    place="§7.2, Figure 4",
    sentence="FOBOS performs comparably to Pegasos on hinge (SVM) loss. … we eliminated the additional projection step "
    "and ran the algorithms with the logistic loss. In this case, FOBOS slightly outperforms Pegasos.",
    unstated=(
        "λ: .01",
        "whether gradients are of single examples or of all: both are run, 20,000 examples and 100 steps",
    ),
    tried="both kinds of gradients. To shrink by t/(t + 1) and by (t − 1)/t is soon the same: with single examples the "
    "two are equal but for noise, with full gradients FOBOS is ahead in every repeat.",
)
ALPHA = 0.01
KINDS = ("single examples", "full gradients")
LOSSES = {"hinge": gs.Hinge(), "logistic": gs.Logistic()}


def run(size):
    """Learn from random single examples and by full gradients; look at F a hundred times along the run."""
    n, d, repeats, rounds, steps = size.pick((1000, 400, 20, 20_000, 100), (200, 40, 2, 2_000, 20))
    gaps = {f"{loss}, {kind}": {"FOBOS": [], "Pegasos": []} for loss in LOSSES for kind in KINDS}
    for repeat in range(repeats):
        seed = np.random.default_rng(200 + repeat)
        X = seed.standard_normal((n, d))
        y = problems.noisy_signs(X, problems.half_sparse(d, seed), 0.1, seed)
        for name, loss in LOSSES.items():
            problem, project = Problem(X, y, loss, gs.L2Squared(), ALPHA), name == "hinge"
            best = hinge_optimum(problem) if project else problem.solve(1e-8)[1]
            order = [seed.integers(0, n, 1) for _ in range(rounds)]
            for kind, rows in zip(KINDS, (order, [slice(None)] * steps), strict=True):
                for method, runs in gaps[f"{name}, {kind}"].items():
                    walk = learn(problem, rows, method, project)
                    runs.append([problem.value(w) - best for w in walk])
        size.log(f"repeat {repeat + 1} of {repeats}")
    means = {key: {method: np.mean(runs, axis=0) for method, runs in of.items()} for key, of in gaps.items()}
    ends = {}
    for key, of in gaps.items():
        pairs = np.divide(*of.values())[:, -1]
        ends[key] = [pairs.mean(), pairs.std() / np.sqrt(repeats), int(np.sum(pairs < 1)), repeats]
    marks = {KINDS[0]: looks(rounds), KINDS[1]: looks(steps)}
    return {"rounds": marks, "gaps": means, "ends": ends}


def judge(numbers):
    """Compare the two along the run."""
    ratios = {key: np.divide(of["FOBOS"], of["Pegasos"]) for key, of in numbers["gaps"].items()}
    checks, told = [], []
    for kind in KINDS:
        hinge, logistic = ratios[f"hinge, {kind}"], ratios[f"logistic, {kind}"]
        tenths = hinge[len(hinge) // 10 - 1 :: len(hinge) // 10]
        mean = float(np.exp(np.log(logistic).mean()))
        worst = max(tenths.max(), 1 / tenths.min())
        checks += [
            frame.at_most(
                f"hinge, {kind}: F − F* of one over the other, the most over the tenths",
                worst,
                2,
                quick=kind == KINDS[0],
            ),
            frame.below(
                f"logistic, {kind}: F − F* of FOBOS over Pegasos, geometric mean over the run", mean, 1, "paper"
            ),
        ]
        told.append(f"{kind}: hinge within {worst:.3f}×, logistic {mean:.4f}×")
    single = ratios[f"hinge, {KINDS[0]}"]
    aims = [
        frame.at_most(
            "hinge: F − F* of FOBOS over Pegasos, the most over the tenths",
            single[len(single) // 10 - 1 :: len(single) // 10].max(),
            2,
        ),
        frame.at_most("logistic: F − F* of FOBOS over Pegasos at the end", ratios[f"logistic, {KINDS[0]}"][-1], 1),
    ]
    notes = [f"α = {ALPHA}; the mean is over looks that are evenly spaced."]
    for key, (mean, error, less, repeats) in numbers["ends"].items():
        notes.append(
            f"{key}, at the end, by repeats: {mean:.5f} ± {error:.5f} (standard error), below 1 in {less} of {repeats}."
        )
    return frame.Verdict(checks, "; ".join(told), aims, notes)


def looks(rounds):
    """Return the rounds at which F is looked at: a hundred, evenly spaced, or all."""
    return [rounds * i // min(rounds, 100) for i in range(1, min(rounds, 100) + 1)]


def learn(problem, rows, method, project):
    """Yield the weights at the looks: steps 1/(αt), one for every entry of `rows`; slices stand for all rows.

    FOBOS shrinks after the step, by 1/(1 + ηα), Pegasos before it, by 1 − ηα. The projection is on the ball that holds
    w*, as Pegasos has it. Single examples are learned by the estimators where these have the rule.
    """
    if isinstance(rows[0], slice) or (method == "FOBOS" and project):
        yield from _by_hand(problem, rows, method, project)
        return
    rule = gs.Pegasos(project=project) if method == "Pegasos" else gs.Fobos(gs.InverseTime(problem.alpha))
    model = gs.OnlineClassifier(
        problem.loss, "l2_squared", problem.alpha, method=rule, fit_intercept=False, shuffle=False
    )
    start = 0
    for end in looks(len(rows)):
        some = np.concatenate(rows[start:end])
        yield model.partial_fit(problem.X[some], problem.y[some], classes=[-1, 1]).coef_[0].copy()
        start = end


def _by_hand(problem, rows, method, project):
    ball, ends, w = gs.L2Ball(1 / np.sqrt(problem.alpha)), set(looks(len(rows))), problem.origin
    for t, some in enumerate(rows, 1):
        step = 1 / (problem.alpha * t)
        gradient = problem.gradient(w, some)
        if method == "FOBOS":
            w = problem.penalty.prox(w - step * gradient, step * problem.alpha)
        else:
            w = (1 - step * problem.alpha) * w - step * gradient
        if project:
            w = ball.prox(w, 1.0)
        if t in ends:
            yield w


def draw(figure, numbers):
    """Draw F − F* over the steps, hinge left, logistic right, single examples above."""
    figure.set_size_inches(9, 7)
    grid = figure.subplots(2, 2)
    for axes, kind in zip(grid, KINDS, strict=True):
        for axis, loss in zip(axes, LOSSES, strict=True):
            for (name, curve), style in zip(numbers["gaps"][f"{loss}, {kind}"].items(), ("-", "--"), strict=True):
                axis.loglog(numbers["rounds"][kind], curve, ls=style, label=name)
            axis.set(title=f"{loss}, {kind}", xlabel="steps", ylabel="F − F*")
            axis.legend()
