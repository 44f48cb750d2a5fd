"""How much the test error of online methods depends on the order of the rows: 100 permutations of the digits 6 and 7.

Averages are over all iterates of the pass.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import gossamer as gs
from experiments import data, frame, pairs

CLAIM = frame.Claim(
    id="R2",
    paper="Xiao 2009",
    place="§5, Figure 3",
    sentence="For the SGD and TG methods, the testing error rates of w_T vary a lot for different random sequences. In "
    "contrast, the RDA method demonstrates very robust performance (small standard deviations) for w_T … Note that "
    "w̄_T "
    "obtained by SGD and TG have much smaller error rates than those of RDA and batch optimization, especially for "
    "larger λ.",
)

NAMES = ("SGD", "TG, K = 10", "RDA, γρ = 25")


def run(size):
    """Learn from every permutation with every method and strength."""
    alphas = size.pick((0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0), (0.1, 1.0, 10.0))
    digits = data.load("mnist", size)
    both = _inked(pairs.pair(digits, 6, 7))
    found = {(name, alpha): [] for name in NAMES for alpha in alphas}
    repeats = size.pick(100, 10)
    for seed in range(repeats):
        order = np.random.default_rng(3200 + seed).permutation(len(both.y))[: size.pick(None, 1000)]
        X, y = both.X[order], both.y[order]
        for (name, alpha), rows in found.items():
            last, mean = (_learned(name, alpha, X, y, average) for average in (False, True))
            rows.append((both.error(last), pairs.count(name, last), both.error(mean), pairs.count(name, mean)))
        if seed % 10 == 9:
            size.log(f"{seed + 1} of {repeats} permutations")
    columns = ("error", "non-zeros", "mean's error", "mean's non-zeros")
    numbers = {"alphas": alphas, "batch": _batch(both, alphas, size)}
    for name in NAMES:
        table = np.array([found[name, alpha] for alpha in alphas])  # strength, permutation, column
        numbers[name] = {c: table[:, :, i].mean(axis=1) for i, c in enumerate(columns)}
        numbers[name] |= {f"std of {c}": table[:, :, i].std(axis=1) for i, c in enumerate(columns)}
    numbers["notes"] = [
        *digits.notes,
        f"{repeats} permutations of {len(y):,} rows.",
    ]
    return numbers


def judge(numbers):
    """Compare the deviations of the last weights, and the errors of the averaged ones."""
    alphas, one = numbers["alphas"], numbers["alphas"].index(1.0)
    spread = {name: np.array(numbers[name]["std of error"]) for name in NAMES}
    errors = {name: numbers[name]["error"] for name in NAMES}
    aims = [
        frame.at_most(f"std of the error, RDA / {name}, the largest over α", np.max(spread[NAMES[2]] / spread[name]), 1)
        for name in NAMES[:2]
    ]
    checks = [
        frame.below(
            f"std of the error, RDA / {name}, the largest over α", np.max(spread[NAMES[2]] / spread[name]), 1, "paper"
        )
        for name in NAMES[:2]
    ]
    at, most = alphas.index(10.0), {}
    for name in NAMES[:2]:
        mean = numbers[name]["mean's error"][at]
        others = min(numbers[NAMES[2]]["mean's error"][at], errors[NAMES[2]][at], numbers["batch"]["error"][at])
        most[name] = mean / others
    checks += [
        frame.below(
            f"error of the averaged weights of {name} over the best of RDA's and batch, at α = 10",
            ratio,
            1,
            "paper",
            quick=False,
        )
        for name, ratio in most.items()
    ]
    key = "error at α = 1: " + ", ".join(f"{n} {errors[n][one]:.4f} ± {spread[n][one]:.4f}" for n in NAMES)
    return frame.Verdict(checks, key, aims, numbers["notes"])


def _inked(both):
    """Return the pair without the pixels that are white in all rows: their weights stay zero."""
    some = np.flatnonzero(both.X.getnnz(axis=0))
    return replace(both, X=both.X[:, some], X_test=both.X_test[:, some])


def _learned(name, alpha, X, y, average):
    """Return the weights after one pass, or the average of all on the way."""
    return pairs.online(name, alpha, len(y), average=average).partial_fit(X, y, classes=[-1, 1]).coef_[0]


def _batch(both, alphas, size):
    rows = slice(size.pick(None, 1000))
    models = [gs.BatchClassifier(alpha=alpha, fit_intercept=False).fit(both.X[rows], both.y[rows]) for alpha in alphas]
    weights = [model.coef_[0] for model in models]
    return {"error": [both.error(w) for w in weights], "non-zeros": [np.count_nonzero(w) for w in weights]}


def draw(figure, numbers):
    """Draw error rates and non-zeros over α, of the last weights above and of averages below."""
    figure.set_size_inches(10, 8)
    grid = figure.subplots(4, 4, sharex=True, sharey="row")
    rows = ("error", "non-zeros", "mean's error", "mean's non-zeros")
    for name, column in zip(NAMES, grid.T, strict=False):
        column[0].set_title(name)
        for what, axes in zip(rows, column, strict=True):
            axes.errorbar(
                numbers["alphas"], numbers[name][what], numbers[name][f"std of {what}"], capsize=2, marker="o", ms=3
            )
    grid[0, 3].set_title("batch")
    for what, axes in zip(rows[:2], grid[:2, 3], strict=True):
        axes.plot(numbers["alphas"], numbers["batch"][what], marker="o", ms=3)
    for what, axes in zip(
        ("error of w", "non-zeros of w", "error of mean w", "non-zeros of mean w"), grid[:, 0], strict=True
    ):
        axes.set(xscale="log", ylabel=what)
    for axes in grid[[0, 2]].ravel():
        axes.set_ylim(0, 0.12)
    for axes in grid[3]:
        axes.set_xlabel("α")
    for axes in grid[2:, 3]:
        axes.set_axis_off()
