"""How well the defaults learn in one pass, beside Vowpal Wabbit and scikit-learn, and what they buy.

Only α is chosen, from a grid, by progressive loss. Vowpal Wabbit's errors are those of its defaults on the same data
(logistic loss, one pass; MNIST one against all).
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from data import load
from sklearn.linear_model import LinearRegression, SGDClassifier
from timing import Row, show

import gossamer as gs

VW = {"rcv1": 0.0654, "amazon": 0.1238, "news20_bigrams": 0.0781, "a9a": 0.1488, "mnist": 0.0828}
TEXT = ("rcv1", "amazon", "news20_bigrams")
ALPHAS = tuple(float(a) for a in np.geomspace(1e-4, 1e-7, 7))
METHODS = {
    "auto": "auto",
    "adagrad fobos": gs.AdaGrad(form="fobos"),
    "ftrl": gs.FTRL(),
    "fobos auto": gs.Fobos(),
    "fobos theory": gs.Fobos("theory"),
    "rda auto": gs.RDA(),
    "rda theory": gs.RDA("theory"),
    "truncated gradient": gs.TruncatedGradient(),
}


def path(method, data, alphas=ALPHAS):
    """Return (progressive loss, test error, features used, alpha) along the grid."""
    X, y, Xt, yt = data
    rows = []
    for alpha in alphas:
        model = gs.OnlineClassifier(alpha=alpha, method=method, random_state=0).fit(X, y)
        rows.append((model.progressive_loss_, 1 - model.score(Xt, yt), len(model.nonzero_features_), alpha))
    return rows


def sklearn_best(data):
    """Return scikit-learn's lowest test error over the grid: the strength chosen with hindsight, in its favour."""
    X, y, Xt, yt = data
    fits = (
        SGDClassifier(loss="log_loss", penalty="l1", alpha=a, max_iter=1, tol=None, random_state=0).fit(X, y)
        for a in ALPHAS
    )
    return min(1 - model.score(Xt, yt) for model in fits)


def classification(names):
    rows, table = [], []
    for name in names:
        data = load(name)
        alphas = ALPHAS if name != "mnist" else ALPHAS[::3]
        peer = sklearn_best(data) if name != "mnist" else np.inf
        for label, method in METHODS.items():
            if name == "mnist" and label not in ("auto", "fobos auto", "rda auto"):
                continue
            along = path(method, data, alphas)
            loss, error, used, alpha = min(along)
            table.append(f"{name:<15} {label:<19} {alpha:8.0e} {loss:10.4f} {error:8.4f} {used:9,d}")
            if label != "auto":
                continue
            rows.append(Row(f"{name}: error, auto", error, at_most=VW[name] + 0.003, unit=""))
            if np.isfinite(peer):
                rows.append(Row(f"{name}: error over scikit-learn's, auto", error - peer, at_most=0.003, unit=""))
            if name in TEXT:
                best = min(VW[name] + 0.003, min(row[1] for row in along))
                sparse = [row for row in along if row[1] <= best + 0.01]
                share = min(row[2] for row in sparse) / data[0].shape[1] if sparse else np.inf
                rows.append(Row(f"{name}: share of features at error ≤ best + .01", share, at_most=0.25, unit=""))
    return rows, table


def regression():
    rows = []
    for name in ("ailerons", "boston"):
        X, y, Xt, yt = load(name)

        def rmse(model, Xt=Xt, yt=yt):
            return float(np.sqrt(np.mean((model.predict(Xt) - yt) ** 2)))

        least_squares = rmse(LinearRegression().fit(X, y))
        model = gs.OnlineRegressor(alpha=0.0, max_passes=20, random_state=0).fit(X, y)
        rows.append(Row(f"{name}, raw: RMSE / least squares, 20 passes", rmse(model) / least_squares, at_most=1.15))
    return rows


def main(names=None):
    warnings.simplefilter("ignore")
    rows, table = classification(names or list(VW))
    head = f"{'data':<15} {'method':<19} {'alpha':>8} {'prog. loss':>10} {'error':>8} {'used':>9}"
    show("One pass, α by progressive loss, everything else default", rows, [head, *table])
    if not names:
        show("Unscaled regression", regression())


if __name__ == "__main__":
    main(sys.argv[1:])
