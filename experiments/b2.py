"""Regression with products of features: the ℓ1 booster beside classical AdaBoost and models on the base features.

Boosters minimise the log ε-insensitive loss over products that they grow from a bias. Features and targets are
standardised; errors are in standard deviations of y. Strengths are chosen by 5-fold cross-validation.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import gossamer as gs
from experiments import data, frame

ID = "B2"
PAPER = "Duchi & Singer 2009 (boosting), Figure 5"
STATEMENT = (
    "On Boston Housing and Ailerons the ℓ1 booster stops with few features and predicts better than classical AdaBoost "
    "after 1000 rounds, ℓ1 least squares and the ℓ2 hinge loss on the base features."
)
PAPER_NUMBER = "under 35 features on average"

LOSS = gs.LogEpsilonInsensitive(0.1)


def run(size):
    """Fit all four on both data sets, and follow the two boosters."""
    sets, checks, notes, ends = {}, [], [], []
    for name in size.pick(("boston", "ailerons"), ("boston",)):
        D = data.load(name, size)
        X, y, X_test, y_test = _standardised(D)
        rows = np.random.default_rng(0).permutation(len(y))[: size.pick(None, 150)]
        X, y = X[rows], y[rows]
        X_test = np.clip(X_test, X.min(axis=0), X.max(axis=0))  # long products explode beyond what was learned from
        booster = _chosen(_booster, size.pick((0.003, 0.001, 0.0003), (0.03, 0.01)), X, y, size)
        ours, features = _path(booster.fit(X, y, validation=(X_test, y_test)), y_test)
        rounds = size.pick(1000, 50)
        classical = gs.BoostingRegressor(
            "none", 0, features="products", loss=LOSS, order="greedy", batch=1, max_rounds=rounds
        )
        greedy, _ = _path(classical.fit(X, y, validation=(X_test, y_test)), y_test)
        lasso = gs.BatchRegressorCV("squared", "l1", 20, select="best").fit(X, y)
        hinge = _chosen(_hinge, (1e-3, 1e-2, 1e-1), X, y, size)
        errors = {
            "ℓ1 booster": ours[-1],
            "AdaBoost": greedy[-1],
            "ℓ1 least squares": _rmse(lasso, X_test, y_test),
            "ℓ2 hinge": _rmse(hinge, X_test, y_test),
        }
        sets[name] = {"errors": errors, "booster": ours, "features": features, "greedy": frame.thin(greedy)}
        sets[name]["rounds"] = frame.thin(np.arange(len(greedy)))
        best = min(value for key, value in errors.items() if key != "ℓ1 booster")
        stopped = int(booster.stopped_by_ == "no candidate")
        checks += [
            frame.at_least(f"{name}: the ℓ1 booster stopped by itself (1 is yes)", stopped, 1),
            frame.at_most(f"{name}: its features", features[-1], 100, quick=False),
            frame.at_most(f"{name}: its test RMSE / the best of the others", ours[-1] / best, 1, quick=False),
        ]
        ends.append(f"{name}, {features[-1]} features: " + ", ".join(f"{k} {v:.4f}" for k, v in errors.items()))
        notes += [
            *D.notes,
            f"{name}: booster's α {booster.alpha:g}, {len(ours) - 1} rounds, {len(y):,} training rows used.",
        ]
        size.log(ends[-1])
    return frame.Outcome({"sets": sets}, checks, notes, "test RMSE: " + "; ".join(ends))


def _standardised(D):
    """Return all rows in standard deviations of the training rows."""
    mean, std = D.X.mean(axis=0), D.X.std(axis=0)
    std = np.where(std > 0, std, 1)
    y, y_test = ((part - D.y.mean()) / D.y.std() for part in (D.y, D.y_test))
    return (D.X - mean) / std, y, (D.X_test - mean) / std, y_test


def _booster(alpha):
    return gs.BoostingRegressor("l1", alpha, features="products", loss=LOSS, batch=1, max_rounds=200)


def _hinge(alpha):
    return gs.BatchRegressor(gs.EpsilonInsensitive(0.1), "l2_squared", alpha, tol=1e-2)


def _chosen(make, strengths, X, y, size):
    """Return the model whose strength has the least squared error in cross-validation, fitted."""
    folds = list(KFold(size.pick(5, 3), shuffle=True, random_state=0).split(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        error = {
            a: np.mean([_rmse(make(a).fit(X[train], y[train]), X[test], y[test]) ** 2 for train, test in folds])
            for a in strengths
        }
        return make(min(strengths, key=error.get)).fit(X, y)


def _rmse(model, X, y):
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def _path(model, y_test):
    """Return the test RMSE (from R²) and the features in use after every round."""
    spread = y_test.std()
    errors = [float(spread * np.sqrt(1 - r.validation_score)) for r in model.history_]
    return errors, [r.nonzeros for r in model.history_]


def draw(figure, numbers):
    """Draw test RMSE over rounds; a star where the booster stopped, and what it is from there on."""
    sets = numbers["sets"]
    for (name, found), axes in zip(sets.items(), figure.subplots(1, len(sets), squeeze=False)[0], strict=True):
        axes.plot(found["rounds"], found["greedy"], label="AdaBoost")
        ours = found["booster"]
        axes.plot(ours, "C1", label="ℓ1 booster")
        axes.plot([len(ours) - 1, found["rounds"][-1]], [ours[-1]] * 2, "C1:")
        axes.plot(len(ours) - 1, ours[-1], "k*", ms=10)
        for (other, error), style in zip(list(found["errors"].items())[2:], ("C2--", "C3-."), strict=True):
            axes.plot([0, found["rounds"][-1]], [error] * 2, style, label=other)
        axes.set(title=name, xlabel="rounds", ylabel="test RMSE", ylim=(0.8 * ours[-1], 1.8 * ours[-1]))
        axes.legend()
