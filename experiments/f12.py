"""Test error at given shares of non-zero rows: LandSat with products of features, MNIST with a Gaussian kernel.

A cell is the lowest error of the optima with at most that share of non-zero rows: on LandSat along a path of
strengths, on MNIST at strengths searched for so that the share is just under each level. Of the 1296 products of
LandSat's 36 features most are there twice (ab and ba); FOBOS gives both the same weight. Here a pair is one column,
which is the same problem, and counts as two rows.
"""

from __future__ import annotations

import numpy as np

import gossamer as gs
from experiments import data, frame, problems

ID = "F12"
PAPER = "Duchi & Singer 2009, Tables 2 and 3"
STATEMENT = (
    "On LandSat ℓ1/ℓ2 has the lowest error at every share of non-zero rows; on MNIST ℓ1 and ℓ1/ℓ2 are comparable and "
    "ℓ1/ℓ∞ is behind."
)
PAPER_NUMBER = "LandSat .29, .25, .22, .19 with ℓ1/ℓ2 at 5, 10, 20, 40%"
WHY = (
    "LandSat: our cells are optima, .02 to .17 better than the paper's, which come from runs of FOBOS. They use at "
    "most 11 to 19% of the rows at .003 of the largest strength, so that the cells of 20 and 40% are the end of the "
    "path, where the penalties differ by noise: ℓ1/ℓ2 minus ℓ1 is +.0007 ± .0012. At 5 and 10% ℓ1/ℓ2 is the best. "
    "MNIST is as the paper says: ℓ1 and ℓ1/ℓ2 are within .015, and ℓ1/ℓ∞ is behind both, at 40% behind ℓ1/ℓ2 only; "
    "every cell is better than the paper's, by .02 to .17. MNIST has 1,000 of the paper's 15,000 kernel features and "
    "one of its ten repeats: all of them are between 67 and 860 hours by the cost at 1,000 to 4,000 features, measured "
    "apart (experiments/f12.py, `mnist`)."
)
LEVELS = (0.05, 0.1, 0.2, 0.4)
PENALTIES = {"ℓ1": "l1", "ℓ1/ℓ2": "group_l2", "ℓ1/ℓ∞": "group_linf"}
PAPER_TABLES = {
    "LandSat": {"ℓ1": (0.43, 0.30, 0.26, 0.22), "ℓ1/ℓ2": (0.29, 0.25, 0.22, 0.19), "ℓ1/ℓ∞": (0.40, 0.30, 0.26, 0.22)},
    "MNIST": {"ℓ1": (0.37, 0.26, 0.15, 0.08), "ℓ1/ℓ2": (0.36, 0.26, 0.15, 0.08), "ℓ1/ℓ∞": (0.47, 0.31, 0.24, 0.16)},
}


def landsat(size, seed):
    """Return rows to learn from and to test on: products of features, 120 rows a class as in the paper's Figure 10."""
    D = data.load("landsat", size)
    rows = problems.sample(D.X, D.y, size.pick(120, 30), seed)
    first, second = np.triu_indices(D.X.shape[1])
    X, X_test = (Z[:, first] * Z[:, second] for Z in (D.X[rows] / 255, D.X_test / 255))
    return *problems.standardised(X, X_test), D.y[rows], D.y_test, np.where(first == second, 1, 2), D.source


def mnist(size, seed):
    """Return rows to learn from and to test on: a Gaussian kernel against images of the training set.

    There are as many rows as in the paper, and for time 1,000 of its 15,000 kernel features and one of its ten repeats.
    CPU seconds, measured apart: a fit of ℓ1/ℓ2 from zero with 5% of the rows takes 7.5, 13.5 and 37 with 1,000, 2,000
    and 4,000 features, with 10% 12, 30 and 58, powers of 1.15 and 1.16. Weaker penalties grow faster: a search of ℓ1
    down to 28% takes 75 and 320 with 1,000 and 2,000, a power of 2.1. From the thousand seconds of MNIST here, all
    15,000 features (3 GB) ten times are between 67 and 860 hours. A looser tol than .003 does not do: at the strength
    of ℓ1/ℓ2 for 10%, .01 gives 128 non-zero rows and error .137, .003 99 and .138, .0001 95 and .139.
    """
    D = data.load("mnist", size)
    n, support, scale = size.pick((15_000, 1000, 5.0), (300, 100, 1.0))
    rows = seed.permutation(len(D.y))[:n]
    images, images_test = ((X / 255).astype(np.float32) for X in (D.X[rows], D.X_test))
    X, X_test = (problems.gaussian_kernel(Z, images[:support], np.float32(scale)) for Z in (images, images_test))
    return *problems.standardised(X, X_test), D.y[rows], D.y_test, np.ones(support), D.source


def along_path(X, X_test, y, y_test, copies, penalty, size):
    """Return (share of non-zero rows, test error) of the optima along falling strengths."""
    most, classes = gs.alpha_max(X, y, loss="logistic", penalty=penalty), np.unique(y)
    alphas = most * np.geomspace(0.95, 3e-3, size.pick(20, 8))
    path = gs.regularization_path(X, y, loss="logistic", penalty=penalty, alphas=alphas, tol=1e-3)
    curve = []
    for coef, intercept in zip(path.coefs, path.intercepts, strict=True):
        predicted = classes[np.argmax(X_test @ coef.T + intercept, axis=1)]
        used = coef.toarray().any(axis=0)
        curve.append((float(copies @ used / copies.sum()), float(np.mean(predicted != y_test))))
    return curve


def at_the_levels(X, X_test, y, y_test, copies, penalty, size):
    """Return (share of non-zero rows, test error) of optima, among them one just under each level.

    The strength is halved until the share is over the level, then the two strengths around the level come closer.
    """
    strong = gs.alpha_max(X, y, loss="logistic", penalty=penalty)
    model = gs.BatchClassifier(penalty=penalty, alpha=strong, tol=3e-3, warm_start=True).fit(X, y)
    curve = [(0.0, float(1 - model.score(X_test, y_test)))]
    for level in LEVELS:
        weak, share = 0.0, 0.0
        while not 0.97 * level <= share <= level and weak < 0.98 * strong:
            alpha = float(np.sqrt(strong * weak)) or strong / 2
            share = float(model.set_params(alpha=alpha).fit(X, y).coef_.any(axis=0).mean())
            curve.append((share, float(1 - model.score(X_test, y_test))))
            size.log(f"{penalty}, strength {alpha:.2g}: {share:.1%} of the rows, error {curve[-1][1]:.4f}")
            strong, weak = (alpha, weak) if share <= level else (strong, alpha)
    return sorted(curve)


def at_level(curve, level):
    """Return the lowest error on the curve with at most this share of non-zero rows."""
    return min(error for share, error in curve if share <= level)


def run(size):
    """Fit the paths, read the errors off at the paper's levels."""
    repeats = size.pick(3, 1)
    errors, curves, sources, samples = {}, {}, [], {}
    for name, make, count, follow in (("LandSat", landsat, repeats, along_path), ("MNIST", mnist, 1, at_the_levels)):
        found = {penalty: [] for penalty in PENALTIES}
        for repeat in range(count):
            *rows, source = make(size, np.random.default_rng(repeat))
            for penalty, spec in PENALTIES.items():
                curve = follow(*rows, spec, size)
                found[penalty].append([at_level(curve, level) for level in LEVELS])
                if repeat == 0:
                    curves.setdefault(name, {})[penalty] = curve
                size.log(f"{name} {repeat + 1}, {penalty}: {', '.join(f'{e:.3f}' for e in found[penalty][-1])}")
        ends = ", ".join(
            f"{penalty} {', '.join(f'{max(s for s, _ in curve if s <= level):.1%}' for level in LEVELS)}"
            for penalty, curve in curves[name].items()
        )
        sources.append(
            f"Data: {source}; {rows[0].shape[0]:,} rows with {rows[0].shape[1]:,} features to learn from, "
            f"repeated {count} times. Non-zero rows nearest under the levels, first repeat: {ends}."
        )
        samples[name] = found
        errors[name] = {penalty: np.mean(rows, axis=0) for penalty, rows in found.items()}
    numbers = {"levels": LEVELS, "errors": errors, "curves": curves, "paper": PAPER_TABLES}
    of = errors["LandSat"]
    behind = np.max(of["ℓ1/ℓ2"] - np.minimum(of["ℓ1"], of["ℓ1/ℓ∞"]))
    deviations = np.std(np.subtract(*[samples["LandSat"][p] for p in ("ℓ1/ℓ2", "ℓ1")]), axis=0, ddof=repeats > 1)
    sources.append(
        "LandSat, ℓ1/ℓ2 minus ℓ1 at the levels: "
        + ", ".join(
            f"{m:+.4f} ± {s / np.sqrt(repeats):.4f}" for m, s in zip(of["ℓ1/ℓ2"] - of["ℓ1"], deviations, strict=True)
        )
        + " (standard error)."
    )
    worse = {
        name: max(np.max(np.subtract(mine[p], PAPER_TABLES[name][p])) for p in PENALTIES)
        for name, mine in errors.items()
    }
    checks = [
        frame.at_most(
            "LandSat: error of ℓ1/ℓ2 over the better of the others, the most over the levels", behind, 0, quick=False
        ),
        frame.at_most("LandSat: error over the paper's, the most over the cells", worse["LandSat"], 0.05, quick=False),
        frame.at_most("MNIST: error over the paper's, the most over the cells", worse["MNIST"], 0.05, quick=False),
        frame.at_most(
            "LandSat: error of ℓ1/ℓ2 with 40% of the rows over that with 5%", of["ℓ1/ℓ2"][-1] - of["ℓ1/ℓ2"][0], 0
        ),
    ]
    ours = "LandSat " + ", ".join(f"{e:.3f}" for e in of["ℓ1/ℓ2"]) + " with ℓ1/ℓ2"
    return frame.Outcome(numbers, checks, sources, ours, [table(name, mine) for name, mine in errors.items()])


def table(name, errors):
    """Return the paper's table beside ours."""
    head = " | ".join(f"{penalty} paper | {penalty} ours" for penalty in PENALTIES)
    lines = [f"{name}: test error.", "", f"| non-zero rows | {head} |", "|---" * 7 + "|"]
    for i, level in enumerate(LEVELS):
        cells = " | ".join(f"{PAPER_TABLES[name][p][i]:.2f} | {errors[p][i]:.3f}" for p in PENALTIES)
        lines.append(f"| {level:.0%} | {cells} |")
    return "\n".join(lines)


def draw(figure, numbers):
    """Draw error over the share of non-zero rows, ours as curves, the paper's cells as crosses."""
    for axis, (name, of) in zip(figure.subplots(1, 2), numbers["errors"].items(), strict=True):
        for i, (penalty, errors) in enumerate(of.items()):
            axis.plot(numbers["levels"], errors, "o-", color=f"C{i}", label=f"{penalty}, ours")
            axis.plot(
                numbers["levels"], numbers["paper"][name][penalty], "x:", color=f"C{i}", label=f"{penalty}, paper"
            )
        axis.set(title=name, xlabel="share of non-zero rows", ylabel="test error")
        axis.legend()
