"""Data for boosting, the least objective there is, and a kind of candidate of one's own."""

import numpy as np

import boosting_reference as twin
import gossamer as gs
from gossamer.boosting import rounds

ORDERS = list(rounds.ORDERS)


def data(kind="binary", n=60, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    V = rng.normal(size=(d, 3)) * (rng.random((d, 1)) < 0.5)
    Z = X @ V + rng.normal(0, 0.7, (n, 3))
    if kind == "binary":
        return X, np.where(Z[:, 0] > 0, "spam", "ham")
    if kind == "multiclass":
        return X, np.argmax(Z, axis=1)
    if kind == "multilabel":
        return X, (Z > 0).astype(int)
    return X, Z[:, 0] if kind == "regression" else Z


def coded(model, y):
    return model._targets.encode(np.asarray(y))


def optimum(model, X, y, alpha, weight=None):
    """Return the objective of the model, and the least there is."""
    targets, c = coded(model, y), np.ones(len(y)) if weight is None else weight
    penalty, loss = gs.penalties.resolve(model.penalty), model._targets.loss
    W = np.zeros((X.shape[1], model._targets.outputs))
    W[model.features_] = model.weights_
    best = twin.solve(loss, penalty, alpha, X, targets, c, W.shape[1], model.fit_intercept)
    return (twin.objective(loss, penalty, alpha, X, targets, c, *pair) for pair in ((W, model.intercept_), best))


def estimator(kind):
    return gs.BoostingRegressor if kind in ("regression", "outputs") else gs.BoostingClassifier


class Ratios:
    """A kind of candidate of one's own."""

    def propose(self, X, used):
        d = X.shape[1]
        return [(i, j) for i in range(d) for j in range(d) if i != j]

    def evaluate(self, X, features):
        return np.stack([X[:, i] / (1 + np.abs(X[:, j])) for i, j in features], axis=1)
