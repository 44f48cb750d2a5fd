"""Coverage on LandSat against the features that must be computed: GradBoost with ℓ1 and with ℓ1/ℓ2.

Coverage is the mean rank of the true class, 0 is best. Each penalty is fitted along falling strengths.
"""

from __future__ import annotations

import numpy as np

import gossamer as gs
from experiments import data, frame, problems

ID = "B3"
PAPER = "Duchi & Singer 2009 (boosting), Figure 6"
STATEMENT = (
    "On LandSat products, for the same coverage ℓ1 has more zeros in all, but needs at least 50% more features "
    "computed than ℓ1/ℓ2."
)
PAPER_NUMBER = "at least 1.5 times the features"

PENALTIES = {"ℓ1": "l1", "ℓ1/ℓ2": "group_l2"}


def landsat(size, per_class):
    """Return training and test rows: products of features in [−1, 1], classes numbered from 0."""
    D = data.load("landsat", size)
    rows = problems.sample(D.X, D.y, per_class, np.random.default_rng(0))
    half, classes = D.X.max() / 2, np.unique(D.y)
    X, X_test = (problems.products(part / half - 1) for part in (D.X, D.X_test))
    return X[rows], np.searchsorted(classes, D.y[rows]), X_test, np.searchsorted(classes, D.y_test), D.notes


def run(size):
    """Fit both paths; compare the features at equal coverage."""
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
    ends = [(min(p["coverage"]), max(p["coverage"])) for p in paths.values()]
    levels = np.linspace(max(low for low, _ in ends), min(high for _, high in ends), 12)[:-1]
    needed = {name: _features_at(path, levels) for name, path in paths.items()}
    ratios = needed["ℓ1"] / needed["ℓ1/ℓ2"]
    checks = [
        frame.at_least(
            "features, ℓ1 / ℓ1/ℓ2, at equal coverage (median over levels)", np.median(ratios), 1.3, quick=False
        )
    ]
    ours = f"{np.median(ratios):.2f} times the features ({ratios.min():.2f} to {ratios.max():.2f} over coverages"
    notes = [*notes, f"{len(y)} training rows; {len(levels)} levels of coverage that both paths reach."]
    return frame.Outcome({"paths": paths}, checks, notes, f"{ours} {levels[0]:.2f} to {levels[-1]:.2f})")


def _features_at(path, levels):
    """Return the share of features at these coverages, between the neighbours on the path."""
    order = np.argsort(path["coverage"])
    return np.interp(levels, np.array(path["coverage"])[order], np.array(path["rows"])[order])


def draw(figure, numbers):
    """Draw coverage over the zeros of W, and over its zero rows."""
    left, right = figure.subplots(1, 2, sharey=True)
    for name, path in numbers["paths"].items():
        left.plot(1 - np.array(path["weights"]), path["coverage"], "o-", label=name)
        right.plot(1 - np.array(path["rows"]), path["coverage"], "o-", label=name)
    left.set(xlabel="share of zeros in W", ylabel="test set coverage")
    right.set(xlabel="share of zero rows in W")
    left.legend()
