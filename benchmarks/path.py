"""The whole regularisation path in one pass: its time beside one fit and beside a grid, and how well it chooses."""

from __future__ import annotations

import sys
import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp
from data import load
from sklearn.linear_model import SGDClassifier
from timing import Row, best, show

import gossamer as gs

ALPHAS = tuple(float(a) for a in np.geomspace(1e-3, 1e-7, 16))
METHODS = {
    "fobos": gs.Fobos(10.0),
    "rda": gs.RDA(0.1),
    "adagrad": gs.AdaGrad(0.25),
    "adagrad fobos": gs.AdaGrad(0.25, form="fobos"),
    "ftrl": gs.FTRL(1.0),
    "auto": "auto",
}
SETS = ("rcv1", "news20_bigrams", "amazon", "a9a")


def one(method, X, y):
    return gs.OnlineClassifier(alpha=1e-5, method=method, random_state=0).fit(X, y)


def sixteen(method, X, y):
    return gs.OnlineClassifierCV(ALPHAS, method=method, random_state=0).fit(X, y)


def sklearn_fit(X, y, alpha=1e-5):
    return SGDClassifier(loss="log_loss", penalty="l1", alpha=alpha, max_iter=1, tol=None, random_state=0).fit(X, y)


def sklearn_grid(X, y):
    for alpha in ALPHAS:
        sklearn_fit(X, y, alpha)


def speed():
    X, y, _, _ = load("rcv1")
    runs = {"scikit-learn": partial(sklearn_fit, X, y), "scikit-learn × 16": partial(sklearn_grid, X, y)}
    for name, method in METHODS.items():
        runs[name] = partial(one, method, X, y)
        runs[f"{name} × 16"] = partial(sixteen, method, X, y)
    times = dict(zip(runs, best(*runs.values(), repeats=25), strict=True))
    grid = times["scikit-learn × 16"]
    rows = []
    for name in METHODS:
        aim = name in ("fobos", "rda")
        path = times[f"{name} × 16"]
        rows.append(Row(f"{name}: 16 strengths / one", path / times[name], at_most=5 if aim else None))
        peer = path / times["scikit-learn"]
        most = 1.3 if aim or name == "auto" else None
        rows.append(Row(f"{name}: 16 strengths / ONE fit of scikit-learn", peer, at_most=most))
        rows.append(Row(f"{name}: scikit-learn's 16 fits / 16 strengths", grid / path, at_least=10 if aim else None))
    return rows, [f"{name}: {1e3 * t:.1f} ms" for name, t in times.items()]


def test_losses(path, X, y):
    """Return the mean logistic loss at each strength."""
    signs = np.where(y == path.classes_[1], 1.0, -1.0)
    z = ((X @ W.T).toarray() if sp.issparse(X) else (W @ X.T).T for W in path.coef_path_)
    both = zip(z, path.intercept_path_, strict=True)
    return np.array([np.mean(np.logaddexp(0.0, -signs * (scores[:, 0] + b))) for scores, b in both])


def quality(names, method):
    rows, table = [], []
    for name in names:
        X, y, Xt, yt = load(name)
        ordered = np.argsort(y, kind="stable")
        for order in ("random", "by label"):
            if order == "random":
                path = gs.OnlineClassifierCV(method=method, select="best", random_state=0).fit(X, y)
            else:
                path = gs.OnlineClassifierCV(method=method, select="best", shuffle=False).fit(X[ordered], y[ordered])
            losses = test_losses(path, Xt, yt)
            chosen = int(np.flatnonzero(path.alphas_ == path.alpha_)[0])
            over = 100 * (losses[chosen] / losses.min() - 1)
            target = 2.0 if order == "random" else None
            rows.append(Row(f"{name}, {order}: test loss over the best in hindsight", over, at_most=target, unit="%"))
            best_lane = int(np.argmin(losses))
            table.append(
                f"{name:<15} {order:<9} {path.alpha_:9.2e} {losses[chosen]:8.4f} {path.path_nonzeros_[chosen]:9,d}   "
                f"{path.alphas_[best_lane]:9.2e} {losses[best_lane]:8.4f} {path.path_nonzeros_[best_lane]:9,d}"
            )
    return rows, table


def main(names=None):
    warnings.simplefilter("ignore")
    if not names:
        rows, notes = speed()
        show("16 strengths in one pass over RCV1, ℓ1-logistic, data in memory", rows, notes)
    head = (
        f"{'data':<15} {'order':<9} {'chosen':>9} {'loss':>8} {'weights':>9}   {'best':>9} {'loss':>8} {'weights':>9}"
    )
    rows, table = quality(names or SETS, "auto")
    show("16 strengths found and chosen by the pass itself, everything default", rows, [head, *table])


if __name__ == "__main__":
    main(sys.argv[1:])
