"""Sparsity and test error along the run of FOBOS with all, 20% and 10% of the examples a step (Figure 10, left)."""

from __future__ import annotations

import numpy as np

import gossamer as gs
from experiments import counting, data, frame, problems

ID = "F8"
PAPER = "Duchi & Singer 2009, Figure 10 left"
STATEMENT = (
    "Stochastic FOBOS reaches its lowest test error sooner, but the deterministic run gets sparser all the way and "
    "ends with fewer non-zero weights at equal work."
)
PAPER_NUMBER = "shown as curves"
SHARES = {"all": 1.0, "20%": 0.2, "10%": 0.1}
ALPHA = 1e-3


def run(size):
    """Run the three batch sizes from the same step, with the same work."""
    repeats, per_class, passes = size.pick((5, 120, 300), (1, 20, 400))
    D = data.load("landsat", size)
    half = D.X.max() / 2
    products, products_test = problems.products(D.X / half - 1), problems.products(D.X_test / half - 1)
    classes, codes = np.unique(D.y, return_inverse=True)
    marks = np.linspace(0, 1, size.pick(51, 11))[1:] ** 2
    nonzeros, errors = ({name: [] for name in SHARES} for _ in range(2))
    for repeat in range(repeats):
        seed = np.random.default_rng(repeat)
        rows = problems.sample(D.X, D.y, per_class, seed)
        X, y = products[rows], codes[rows]
        c = 8 / float(np.linalg.norm(X, axis=1).mean())
        problem = counting.Problem(X, y, gs.Multinomial(), gs.L1(), ALPHA, len(classes))
        budget = passes * 4 * X.size * len(classes)

        def measure(W):
            return np.mean(W != 0), np.mean(classes[np.argmax(products_test @ W, axis=1)] != D.y_test)

        for name, share in SHARES.items():
            iterates = counting.stochastic(problem, lambda t, c=c: c / np.sqrt(t), round(share * len(y)), seed)
            trace = counting.follow(iterates, measure, budget, 50)
            some = trace.at(marks * budget)
            nonzeros[name].append(some[:, 0])
            errors[name].append(some[:, 1])
        size.log(
            f"repeat {repeat + 1} of {repeats}: "
            + ", ".join(f"{name} {runs[-1][-1]:.3f}" for name, runs in nonzeros.items())
        )
    numbers = {"work": marks * passes}
    for what, of in (("nonzeros", nonzeros), ("errors", errors)):
        numbers[what] = {name: np.mean(runs, axis=0) for name, runs in of.items()}
    last = {name: curve[-1] for name, curve in numbers["nonzeros"].items()}
    checks = [
        frame.at_least(
            f"non-zeros at the end with {name} batches over those with all examples", last[name] / last["all"], 1
        )
        for name in ("20%", "10%")
    ]
    behind = {name: numbers["nonzeros"][name] <= numbers["nonzeros"]["all"] for name in ("20%", "10%")}
    since = {name: float(max(marks[less], default=0)) for name, less in behind.items()}
    ours = "non-zeros at the end: " + ", ".join(f"{name} {share:.1%}" for name, share in last.items())
    notes = [
        *D.notes,
        f"α = {ALPHA}, steps c/√t with one c for all, {len(y)} examples, work for {passes} full gradients.",
        f"Size: {repeats} repeats (the paper: 5).",
    ]
    notes.append(
        "More non-zeros than with all from " + ", ".join(f"{w:.0%} ({n})" for n, w in since.items()) + " of the run."
    )
    return frame.Outcome(numbers, checks, notes, ours)


def draw(figure, numbers):
    """Draw test error (dashed) and share of non-zeros (solid) over the work."""
    axis = figure.subplots()
    for (name, curve), color in zip(numbers["nonzeros"].items(), ("green", "black", "blue"), strict=True):
        axis.semilogx(numbers["work"], curve, color=color, label=f"{name}: non-zeros")
        axis.semilogx(numbers["work"], numbers["errors"][name], "--", color=color, label=f"{name}: test error")
    axis.set(xlabel="work in full gradients", ylabel="share of non-zeros, test error", ylim=(0, 1))
    axis.legend()
