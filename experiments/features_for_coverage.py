"""Coverage on LandSat against the features that must be computed: GradBoost with ℓ1 and with ℓ1/ℓ2.

Coverage is the mean rank of the true class, 0 is best. Each penalty is fitted along falling strengths.
"""

from __future__ import annotations

import numpy as np

import gossamer as gs
from experiments import data, frame, problems

CLAIM = frame.Claim(
    id="B3",
    paper="Duchi & Singer 2009 (boosting)",
    place="§6, Figure 6",
    sentence="for a given performance level, the ℓ1-regularized solution is sparser in terms of the absolute number of "
    "zeros. However, the ℓ1-regularized classifier requires at least 50% more features be computed than does the "
    "ℓ1/ℓ2-regularized classifier for the same test accuracy.",
    unstated=("the strengths: seven shares of the largest, from .5 to .05",),
)

PENALTIES = {"ℓ1": "l1", "ℓ1/ℓ2": "group_l2"}


def landsat(size, per_class):
    """Return training and test rows: products of features in [−1, 1], classes numbered from 0."""
    D = data.load("landsat", size)
    rows = problems.sample(D.X, D.y, per_class, np.random.default_rng(2003))
    half, classes = D.X.max() / 2, np.unique(D.y)
    X, X_test = (problems.products(part / half - 1) for part in (D.X, D.X_test))
    return X[rows], np.searchsorted(classes, D.y[rows]), X_test, np.searchsorted(classes, D.y_test), D.notes


def run(size):
    """Fit both paths."""
    X, y, X_test, y_test, notes = landsat(size, size.pick(240, 20))
    shares = size.pick((0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05), (0.5, 0.25, 0.12))
    paths = {}
    for name, penalty in PENALTIES.items():
        most = gs.alpha_max(X, y, loss="logistic", penalty=penalty)
        points = []
        for share in shares:
            model = gs.BoostingClassifier(penalty, share * most, "grad", max_rounds=100).fit(X, y)
            cover = gs.coverage(y_test, model.decision_function(X_test))
            used = model.n_features_used_
            points.append((used / X.shape[1], np.count_nonzero(model.weights_) / X.shape[1] / (y.max() + 1), cover))
            size.log(f"{name}, {share:g} of the largest strength: {used} features, coverage {cover:.3f}")
        paths[name] = dict(zip(("rows", "weights", "coverage"), np.array(points).T, strict=True))
    return {"paths": paths, "notes": [*notes, f"{len(y)} training rows."]}


def judge(numbers):
    """Compare both shares at the levels of coverage that both paths reach."""
    paths = numbers["paths"]
    ends = [(min(p["coverage"]), max(p["coverage"])) for p in paths.values()]
    levels = np.linspace(max(low for low, _ in ends), min(high for _, high in ends), 12)[:-1]
    rows, weights = ({name: _at(path, what, levels) for name, path in paths.items()} for what in ("rows", "weights"))
    ratios, more = rows["ℓ1"] / rows["ℓ1/ℓ2"], weights["ℓ1"] / weights["ℓ1/ℓ2"]
    median, what = np.median(ratios), "features, ℓ1 / ℓ1/ℓ2, at equal coverage (median over levels)"
    checks = [
        frame.at_least(what, median, 1.5, "paper", printed=1.5, quick=False),
        frame.below("non-zeros in all, ℓ1 / ℓ1/ℓ2, the largest over levels", more.max(), 1, "paper", quick=False),
    ]
    key = f"{median:.2f} times the features ({ratios.min():.2f} to {ratios.max():.2f} over coverages "
    key += f"{levels[0]:.2f} to {levels[-1]:.2f})"
    notes = [*numbers["notes"], f"{len(levels)} levels of coverage that both paths reach."]
    return frame.Verdict(checks, key, [frame.at_least(what, median, 1.3)], notes)


def _at(path, what, levels):
    """Return the share of features or weights in use at these coverages, between the neighbours on the path."""
    order = np.argsort(path["coverage"])
    return np.interp(levels, np.array(path["coverage"])[order], np.array(path[what])[order])


def draw(figure, numbers):
    """Draw coverage over the zeros of W, and over its zero rows."""
    left, right = figure.subplots(1, 2, sharey=True)
    for name, path in numbers["paths"].items():
        left.plot(1 - np.array(path["weights"]), path["coverage"], "o-", label=name)
        right.plot(1 - np.array(path["rows"]), path["coverage"], "o-", label=name)
    left.set(xlabel="share of zeros in W", ylabel="test set coverage")
    right.set(xlabel="share of zero rows in W")
    left.legend()
