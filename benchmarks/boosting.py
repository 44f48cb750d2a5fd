"""Boosting beside SciPy, scikit-learn and the batch solver: a scoring sweep, whole fits to their stop, stumps."""

from __future__ import annotations

import warnings

import numpy as np
from data import load
from scipy.spatial.distance import cdist
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from timing import Row, best, seconds, show

import gossamer as gs
from gossamer import _core
from gossamer.boosting.features import columns_of

ALPHA = 3e-5  # the least of four strengths tried (from 1e-3 on), and of these the best on the test rows


def scoring_speed():
    """One sweep over all columns of RCV1, beside one product of the same matrix and a vector."""
    X, y, _, _ = load("rcv1")
    csc, count = X.tocsc(), X.shape[1]
    transposed, columns, scores, scales = csc.T, columns_of(csc), np.empty(count), np.empty(count)
    runs = {"SciPy's product": lambda: transposed @ y}
    for name, bound in (("ada", _core.Ada(1.0)), ("grad", _core.Grad(0.25))):
        booster = _core.booster(
            gs.Logistic()._core(), len(y), 1, y.astype(float), None, 1e-4 * len(y), bound, _core.L1(), None
        )
        booster.scales(columns, scales)
        for threads in (1, 2):
            a = scales.copy()
            runs[f"{name}, {threads} thread{'s' * (threads > 1)}"] = lambda b=booster, a=a, t=threads: b.score(
                columns, a, None, None, 0.0, t, scores
            )
    times = dict(zip(runs, best(*runs.values(), repeats=30), strict=True))
    product = times["SciPy's product"]
    rows = [
        Row(f"one scoring sweep, {name} / one product by SciPy", times[name] / product, at_most=2)
        for name in list(runs)[1:]
    ]
    return rows, [f"{name}: {1e3 * t:.2f} ms" for name, t in times.items()]


def fit_speed():
    """CCAT of RCV1 to the automatic stop, beside trees on the 1,000 most frequent columns."""
    X, y, X_test, y_test = load("rcv1")
    frequent = np.argsort(-np.diff(X.tocsc().indptr), kind="stable")[:1000]
    dense, dense_test = X[:, frequent].toarray(), X_test[:, frequent].toarray()
    models = {f"{bound}, α = {ALPHA:g}": gs.BoostingClassifier(alpha=ALPHA, bound=bound) for bound in ("ada", "grad")}
    trees = HistGradientBoostingClassifier(random_state=0)
    runs = [*(lambda m=m: m.fit(X, y) for m in models.values()), lambda: trees.fit(dense, y)]
    turns = [[seconds(run) for run in runs] for _ in range(2)]
    *ours, peer = (min(times) for times in zip(*turns, strict=True))
    notes = []
    for (name, model), time in zip(models.items(), ours, strict=True):
        error, loss = 1 - model.score(X_test, y_test), log_loss(y_test, model.predict_proba(X_test))
        notes.append(
            f"{name}: {time:.2f} s, test error {error:.4f}, loss {loss:.4f}, {model.n_features_used_} features, "
            f"{len(model.history_) - 1} rounds, stopped by {model.stopped_by_!r}"
        )
    error, loss = 1 - trees.score(dense_test, y_test), log_loss(y_test, trees.predict_proba(dense_test))
    notes.append(f"HistGradientBoostingClassifier: {peer:.2f} s, test error {error:.4f}, loss {loss:.4f}, 1000 columns")
    return [
        Row(f"CCAT to the automatic stop: HistGradientBoosting / {name}", peer / time, at_least=1)
        for name, time in zip(models, ours, strict=True)
    ], notes


def dense_speed(rows=200, support=1000):
    """Ten classes of MNIST by Gaussian kernel features, a weak penalty, beside the batch solver on the same problem."""
    images, labels, _, _ = load("mnist")
    some = np.random.default_rng(0).permutation(len(labels))[: rows + support]
    images, y = images[some] / 255, labels[some[:rows]]
    X = np.exp(-cdist(images[:rows], images[rows:], "sqeuclidean") / 50)
    table, notes = [], []
    for penalty, bound in (("l1", "ada"), ("l1", "grad"), ("group_l2", "grad"), ("group_linf", "grad")):
        alpha = 0.003 * gs.alpha_max(X, y, loss="logistic", penalty=penalty)
        ours = gs.BoostingClassifier(penalty, alpha, bound, tol=1e-2)
        batch = gs.BatchClassifier(penalty=penalty, alpha=alpha, tol=1e-2)
        times = best(lambda m=ours: m.fit(X, y), lambda m=batch: m.fit(X, y), repeats=3)
        table.append(Row(f"{bound}, {penalty} / BatchClassifier", times[0] / times[1], at_most=5))
        notes.append(
            f"{bound}, {penalty}: {times[0]:.2f} s, objective {ours.history_[-1].objective:.5f}, "
            f"{len(ours.history_) - 1} rounds; BatchClassifier {times[1]:.2f} s, {batch.objective_:.5f}"
        )
    return table, notes


def stump_speed(rounds=100):
    """Stumps on LandSat, one a round as in AdaBoost."""
    X, y, X_test, y_test = load("landsat")
    ours = gs.BoostingClassifier(alpha=0, features="stumps", order="greedy", batch=1, max_rounds=rounds)
    theirs = AdaBoostClassifier(n_estimators=rounds, random_state=0)
    models = {f"greedy, {rounds} rounds": ours, f"AdaBoostClassifier, {rounds} rounds": theirs}
    times = dict(zip(models, best(*(lambda m=m: m.fit(X, y) for m in models.values()), repeats=3), strict=True))
    notes = [f"{name}: {times[name]:.2f} s, test error {1 - m.score(X_test, y_test):.4f}" for name, m in models.items()]
    greedy, peer = times.values()
    return [Row("stumps on LandSat: scikit-learn's AdaBoost / greedy", peer / greedy, at_least=1)], notes


def main():
    warnings.simplefilter("ignore")
    show("One scoring sweep over RCV1 (20,000 × 47,236)", *scoring_speed())
    show("Totally corrective boosting, ℓ1-logistic", *fit_speed())
    show("Dense features, ten classes: 200 × 1,000 kernel features of MNIST", *dense_speed())
    show("Decision stumps, six classes", *stump_speed())


if __name__ == "__main__":
    main()
