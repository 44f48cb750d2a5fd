"""The sparsity of online methods along one pass over the digits 6 and 7, and what their weights look like.

Non-zeros are counted every seventh round (so that they meet all phases of TG's period of ten); the averages of Figure 1
are over the same rounds.
"""

from __future__ import annotations

import numpy as np

import gossamer as gs
from experiments import data, frame, pairs

CLAIM = frame.Claim(
    id="R1",
    paper="Xiao 2009",
    place="§5, Figures 1 and 2",
    sentence="the RDA method maintains a much more sparse w(t) than the other two online algorithms. While the TG "
    "method generate more sparse solutions than the SGD method when λ is large, the NNZs in w(t) oscillates with a "
    "very big "
    "range. In contrast, the RDA method demonstrate a much more smooth variation in the NNZs.",
    unstated=("what λ is large: 10, the largest of the figure",),
)

ALPHAS = (0.01, 0.1, 1.0, 10.0)
ROWS = (("SGD", "TG, K = 1", "RDA, γρ = 0"), ("SGD", "TG, K = 10", "RDA, γρ = 25"))
NAMES = ("SGD", "TG, K = 1", "TG, K = 10", "RDA, γρ = 0", "RDA, γρ = 25")
STRIDE = 7


def run(size):
    """Walk every method through the pass at every strength."""
    digits = data.load("mnist", size)
    both = pairs.pair(digits, 6, 7)
    order = np.random.default_rng(3100).permutation(len(both.y))[: size.pick(None, 1000)]
    X, y = both.X[order], both.y[order]
    counts, pictures, means, spreads, ranges = {}, {}, {}, {}, {}
    for alpha in ALPHAS:
        for name in NAMES:
            walk = list(_walk(name, alpha, X, y))
            curve = np.array([pairs.count(name, w) for w in walk])
            late = curve[len(curve) // 2 :]
            key = f"{name}, α = {alpha:g}"
            counts[key], means[key], spreads[key] = frame.thin(curve), late.mean(), late.std() / late.mean()
            ranges[key] = late.max() - late.min()
            if name in ROWS[1]:
                pictures[f"{name}, w, α = {alpha:g}"] = pairs.picture(walk[-1])
                pictures[f"{name}, mean w, α = {alpha:g}"] = pairs.picture(np.mean(walk, axis=0))
        batch = gs.BatchClassifier(alpha=alpha, fit_intercept=False).fit(X, y)
        pictures[f"batch, w, α = {alpha:g}"] = pairs.picture(batch.coef_[0])
        size.log(f"α = {alpha:g}: " + ", ".join(f"{n} {means[f'{n}, α = {alpha:g}']:.0f}" for n in NAMES))

    return {
        "rounds": frame.thin(np.arange(1, 1 + len(walk)) * STRIDE),
        "counts": counts,
        "mean": means,
        "spread": spreads,
        "range": ranges,
        "pictures": pictures,
        "notes": [
            *digits.notes,
            f"One pass over {len(y):,} rows; weights of SGD and of TG with K = 10 under 1e-5 count as zero, as in the "
            "paper; counts are those of the last half of the pass.",
        ],
    }


def judge(numbers):
    """Compare counts and how they vary, in both rows of Figure 2."""
    means, spreads, ranges = numbers["mean"], numbers["spread"], numbers["range"]

    def largest(values, above, below, alphas=ALPHAS[1:]):
        return max(
            values[f"{row[above]}, α = {a:g}"] / values[f"{row[below]}, α = {a:g}"] for a in alphas for row in ROWS
        )

    rda = max(largest(means, 2, 0), largest(means, 2, 1))
    strong = max(largest(means, 2, below, ALPHAS[2:]) for below in (0, 1))
    checks = [
        frame.below("non-zeros, RDA / SGD and RDA / TG, the largest over α ≥ .1", rda, 1, "paper"),
        frame.at_most("non-zeros, RDA / SGD and RDA / TG, the largest at α = 1 and 10", strong, 0.5, quick=False),
        frame.below("non-zeros, TG / SGD, the largest at α = 10", largest(means, 1, 0, (10.0,)), 1, "paper"),
        frame.below(
            "range of the count (max − min), RDA / TG, the largest over α ≥ .1",
            largest(ranges, 2, 1),
            1,
            "paper",
            quick=False,
        ),
    ]
    aims = [
        frame.at_most("non-zeros, RDA / TG, the largest over α ≥ .1", largest(means, 2, 1), 1),
        frame.at_most("non-zeros, TG / SGD, the largest over α ≥ .1", largest(means, 1, 0), 1),
        frame.at_most("non-zeros, TG / SGD, the largest at α = 10", largest(means, 1, 0, (10.0,)), 1),
        frame.at_most("relative deviation of the count, RDA / TG, the largest", largest(spreads, 2, 1), 1),
    ]
    key = "non-zeros at α = 10: " + ", ".join(
        f"{name} {means[f'{name}, α = 10']:.0f} (range {ranges[f'{name}, α = 10']:.0f})" for name in NAMES
    )
    return frame.Verdict(checks, key, aims, numbers["notes"])


def _walk(name, alpha, X, y):
    """Yield the weights after every seventh round."""
    model = pairs.online(name, alpha, len(y))
    for begin in range(0, len(y), STRIDE):
        some = slice(begin, begin + STRIDE)
        yield model.partial_fit(X[some], y[some], classes=[-1, 1]).coef_[0].copy()


def draw(figure, numbers):
    """Draw Figure 1 above (the weights), Figure 2 below (the counts)."""
    figure.set_size_inches(8, 14)
    above, below = figure.subfigures(2, 1, height_ratios=(7, 4))
    kinds = ["SGD, w", "TG, K = 10, w", "RDA, γρ = 25, w", "batch, w"]
    kinds += ["SGD, mean w", "TG, K = 10, mean w", "RDA, γρ = 25, mean w"]
    grid = above.subplots(len(kinds), len(ALPHAS))
    for kind, row in zip(kinds, grid, strict=True):
        for alpha, axes in zip(ALPHAS, row, strict=True):
            pairs.show(axes, numbers["pictures"][f"{kind}, α = {alpha:g}"])
        row[0].set_ylabel(kind, rotation=0, ha="right", va="center")
    for alpha, axes in zip(ALPHAS, grid[0], strict=True):
        axes.set_title(f"α = {alpha:g}")
    plots = below.subplots(2, len(ALPHAS), sharex=True, sharey=True)
    for row, line in zip(ROWS, plots, strict=True):
        for alpha, axes in zip(ALPHAS, line, strict=True):
            for name in row:
                axes.plot(numbers["rounds"], numbers["counts"][f"{name}, α = {alpha:g}"], lw=0.8, label=name)
        line[0].legend(fontsize=6)
        line[0].set_ylabel("non-zeros in w(t)")
    for axes in plots[1]:
        axes.set_xlabel("rounds")
