"""Sparsity and test error along the run of FOBOS with all, 20% and 10% of the examples a step (Figure 10, left)."""

from __future__ import annotations

import numpy as np

import gossamer as gs
from experiments import counting, data, frame, problems

CLAIM = frame.Claim(
    id="F8",
    paper="Duchi & Singer 2009",
    place="§7.4, Figure 10 left",
    sentence="FOBOS with stochastic gradient descent gets to its minimum test classification error [sooner] … However, "
    "the deterministic version increases the level of sparsity throughout its run, while the stochastic-gradient "
    "version "
    "has highly variable sparsity levels and does not give solutions as sparse as the deterministic counterpart.",
    unstated=(
        "λ: .001",
        "the first step: 8 over the mean length of a row",
        "scaling: bytes to [−1, 1]",
        "the work: 300 full gradients",
    ),
)
SHARES = {"all": 1.0, "20%": 0.2, "10%": 0.1}
ALPHA = 1e-3


def run(size):
    """Run the three batch sizes from the same step, with the same work."""
    repeats, per_class, passes = size.pick((5, 120, 300), (1, 20, 150))
    D = data.load("landsat", size)
    half = D.X.max() / 2
    products, products_test = problems.products(D.X / half - 1), problems.products(D.X_test / half - 1)
    classes, codes = np.unique(D.y, return_inverse=True)
    marks = np.linspace(0, 1, size.pick(51, 11))[1:] ** 2
    nonzeros, errors = ({name: [] for name in SHARES} for _ in range(2))
    for repeat in range(repeats):
        seed = np.random.default_rng(800 + repeat)
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
    numbers["notes"] = [
        *D.notes,
        f"α = {ALPHA}, steps c/√t with one c for all, {len(y)} examples, {repeats} repeats.",
    ]
    return numbers


def judge(numbers):
    """Check who is sparser at the end, that the full runs go on getting sparser, and who is first at its best error."""
    work = numbers["work"]
    nonzeros, errors = ({k: frame.curve(of) for k, of in numbers[what].items()} for what in ("nonzeros", "errors"))
    last = {name: curve[-1] for name, curve in nonzeros.items()}
    late = nonzeros["all"][np.array(work) >= 0.1 * work[-1]]
    rise = float(np.max(late - np.minimum.accumulate(late)))
    soon = {name: work[int(np.argmax(of <= np.nanmin(of) + 0.01))] for name, of in errors.items()}
    some = ("20%", "10%")
    ratios = [
        frame.at_least(
            f"non-zeros at the end with {name} batches over those with all examples",
            last[name] / last["all"],
            1,
            "paper",
            quick=False,
        )
        for name in some
    ]
    checks = [
        *ratios,
        frame.at_most(
            "rise of the non-zeros with all examples over their least so far, from a tenth of the run on",
            rise,
            0.01,
            quick=False,
        ),
        *(
            frame.at_most(
                f"work to within .01 of its lowest error, {name} batches over all",
                soon[name] / soon["all"],
                1,
                "paper",
                quick=False,
            )
            for name in some
        ),
    ]
    key = "non-zeros at the end: " + ", ".join(f"{name} {share:.1%}" for name, share in last.items())
    key += (
        "; at the lowest error after " + ", ".join(f"{work:.0f} ({name})" for name, work in soon.items()) + " gradients"
    )
    return frame.Verdict(checks, key, ratios, numbers["notes"])


def draw(figure, numbers):
    """Draw test error (dashed) and share of non-zeros (solid) over the work."""
    axis = figure.subplots()
    for (name, curve), color, mark in zip(numbers["nonzeros"].items(), ("C0", "C1", "C2"), "os^", strict=True):
        style = {"color": color, "marker": mark, "ms": 3, "markevery": 4}
        axis.semilogx(numbers["work"], frame.curve(curve), "-", label=f"{name}: non-zeros", **style)
        axis.semilogx(numbers["work"], frame.curve(numbers["errors"][name]), ":", label=f"{name}: test error", **style)
    axis.set(xlabel="work in full gradients", ylabel="share of non-zeros, test error", ylim=(0, 1))
    figure.legend(loc="outside right upper")
