"""Batch learning beside liblinear, skglm, celer, scikit-learn and adelie: times to the same objective, in one run.

Each solver runs with falling tolerances until its objective is within 1e-6 (relative) of the best known; the time is
that of the first tolerance that reaches it, the best of a few runs. Time to compile (numba) is kept apart and shown.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from data import load
from timing import Row, seconds, show

import gossamer as gs

PRECISION = 1e-6
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)


def logistic(X, y, alpha, w):
    return np.mean(np.logaddexp(0, -y * (X @ w))) + alpha * np.abs(w).sum()


def squares(X, y, alpha, w):
    return np.mean((X @ w - y) ** 2) / 2 + alpha * np.abs(w).sum()


def ours(estimator, X, y, alpha, tol):
    return estimator(alpha=alpha, tol=tol, fit_intercept=False).fit(X, y).coef_.ravel()


def liblinear(X, y, alpha, tol):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        l1_ratio=1, C=1 / (len(y) * alpha), solver="liblinear", fit_intercept=False, tol=tol, max_iter=10_000
    )
    return model.fit(X, y).coef_[0]


def skglm_logistic(X, y, alpha, tol):
    from skglm import SparseLogisticRegression

    return SparseLogisticRegression(alpha=alpha, tol=tol * alpha, fit_intercept=False, max_iter=200).fit(X, y).coef_[0]


def celer_logistic(X, y, alpha, tol):
    from celer import LogisticRegression

    return LogisticRegression(C=1 / (len(y) * alpha), tol=tol, fit_intercept=False).fit(X, y).coef_[0]


def skglm_lasso(X, y, alpha, tol):
    from skglm import Lasso

    return Lasso(alpha=alpha, tol=tol * alpha, fit_intercept=False, max_iter=200).fit(X, y).coef_


def celer_lasso(X, y, alpha, tol):
    from celer import Lasso

    return Lasso(alpha=alpha, tol=tol, fit_intercept=False).fit(X, y).coef_


def sklearn_lasso(X, y, alpha, tol):
    from sklearn.linear_model import Lasso

    return Lasso(alpha=alpha, tol=tol, fit_intercept=False, max_iter=10_000).fit(X, y).coef_


def sklearn_lasso_on_columns(X, y, alpha, tol):
    return sklearn_lasso(X.tocsc(), y, alpha, tol)


def into(found, run, *args):
    """Keep the result of a run that is timed."""
    found[:] = [run(*args)]


def race(peers, value, X, y, alpha, limit=25.0, repeats=2):
    """Return the time of each to the precision, compile times, and notes."""
    name, first = next(iter(peers.items()))
    best = value(X, y, alpha, first(X, y, alpha, 1e-9))
    times, notes = {}, []
    for name, peer in peers.items():
        try:
            some = slice(None, None, max(1, len(y) // 200))  # rows may be sorted by label
            cold = seconds(partial(peer, X[some], y[some], 10 * alpha, 1e-2))
        except ImportError:
            notes.append(f"{name} is not installed")
            continue
        spent = 0.0
        for tol in TOLERANCES:
            found = []
            took = seconds(partial(into, found, peer, X, y, alpha, tol))
            spent += took
            excess = value(X, y, alpha, found[0]) / best - 1
            if excess <= PRECISION or spent > limit:
                break
        runs = [took, *(seconds(partial(peer, X, y, alpha, tol)) for _ in range(repeats - 1) if spent < limit)]
        times[name] = min(runs) if excess <= PRECISION else float("inf")
        word = "" if excess <= PRECISION else f", not there in {spent:.0f} s"
        notes.append(
            f"{name}: {min(runs):.3f} s at tol {tol:g} ({excess:.0e} above{word}); first small fit {cold:.2f} s"
        )
    return times, notes


LOGISTIC = {
    "gossamer": partial(ours, gs.BatchClassifier),
    "liblinear": liblinear,
    "skglm": skglm_logistic,
    "celer": celer_logistic,
}
LASSO = {
    "gossamer": partial(ours, gs.BatchRegressor),
    "skglm": skglm_lasso,
    "scikit-learn": sklearn_lasso_on_columns,
    "celer": celer_lasso,
}


def rcv1():
    X, y, _, _ = load("rcv1")
    for alpha in (1e-4, 1e-5):
        times, notes = race(LOGISTIC, logistic, X, y, alpha)
        rows = [
            Row(f"{name} / gossamer", t / times["gossamer"], at_least=1 if name == "liblinear" else None)
            for name, t in times.items()
            if name != "gossamer"
        ]
        show(f"ℓ1-logistic on rcv1, α = {alpha:g}, no intercept", rows, notes)


def news20():
    X, y, _, _ = load("news20_bigrams")
    for alpha in (1e-4, 1e-5):
        times, notes = race(LOGISTIC, logistic, X, y, alpha, repeats=1)
        mine = times.pop("gossamer")
        rows = [Row("the fastest peer / gossamer", min(times.values(), default=np.nan) / mine, at_least=1.5)]
        rows += [Row(f"{name} / gossamer", t / mine) for name, t in times.items()]
        show(f"ℓ1-logistic on news20_bigrams (unit rows), α = {alpha:g}, no intercept", rows, notes)


def lasso():
    X, y, _, _ = load("rcv1")
    y = y.astype(np.float64)
    for alpha in (1e-4, 1e-5):
        times, notes = race(LASSO, squares, X, y, alpha)
        rows = [
            Row(f"{name} / gossamer", t / times["gossamer"], at_least=None if name == "celer" else 1)
            for name, t in times.items()
            if name != "gossamer"
        ]
        show(f"ℓ1 least squares on rcv1, α = {alpha:g}, no intercept", rows, notes)


def landsat_products():
    """Return all products of two of the 36 bands, scaled: 1,296 columns (each product of two bands comes twice)."""
    X, y, _, _ = load("landsat")
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    products = np.einsum("ij,ik->ijk", X, X).reshape(len(X), -1)
    products = (products - products.mean(axis=0)) / products.std(axis=0)
    return np.asfortranarray(products), np.unique(y, return_inverse=True)[1]


def multinomial(X, Y, W, b, alpha):
    Z = X @ W + b
    top = Z.max(axis=1, keepdims=True)
    loss = np.log(np.exp(Z - top).sum(axis=1)) + top[:, 0] - np.sum(Z * Y, axis=1)
    return loss.mean() + alpha * np.linalg.norm(W, axis=1).sum()


def path_of_classes():
    X, y = landsat_products()
    Y = np.eye(y.max() + 1)[y]
    d, k = X.shape[1], Y.shape[1]
    alphas = gs.alpha_max(X, y, loss="multinomial", penalty="group_l2") * np.geomspace(1, 1e-2, 50)

    def adelie_path(tol):
        import adelie

        glm = adelie.glm.multinomial(y=Y, dtype=np.float64)
        state = adelie.grpnet(
            X=X,
            glm=glm,
            penalty=np.ones(d) * np.sqrt(k),
            lmda_path=alphas / k / np.sqrt(k),
            tol=tol,
            irls_tol=tol,
            progress_bar=False,
            early_exit=False,
            n_threads=2,
        )
        return [(beta.toarray().reshape(d, k), b) for beta, b in zip(state.betas, state.intercepts, strict=True)]

    def our_path(tol):
        path = gs.regularization_path(X, y, loss="multinomial", penalty="group_l2", alphas=alphas, tol=tol)
        return [(c.toarray().T, b) for c, b in zip(path.coefs, path.intercepts, strict=True)]

    runs = {}
    for name, run, tol in (*(("gossamer", our_path, t) for t in (1e-2, 1e-3, 1e-4)), ("adelie", adelie_path, 1e-7)):
        found = []
        took = seconds(partial(into, found, run, tol))
        values = [multinomial(X, Y, W, b, a) for (W, b), a in zip(found[0], alphas, strict=True)]
        runs[name, tol] = took, np.array(values)
    best = np.min([values for _, values in runs.values()], axis=0)
    worst = {key: np.max(values / best - 1) for key, (_, values) in runs.items()}
    notes = [
        f"{name}, tol {tol:g}: {runs[name, tol][0]:.1f} s, at worst {worst[name, tol]:.0e} above" for name, tol in runs
    ]
    *mine, peer = runs  # ours: the loosest tolerance that is as precise
    enough = next((key for key in mine if worst[key] <= max(worst[peer], PRECISION)), mine[-1])
    rows = [Row("adelie / gossamer", runs[peer][0] / runs[enough][0], at_least=1)]
    show("Multinomial ℓ1/ℓ2, landsat products (1,296 columns), path of 50", rows, notes)


def user_groups():
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((1000, 2000)))
    w = np.zeros(2000)
    w[:100] = rng.standard_normal(100)
    y = X @ w + rng.standard_normal(1000)
    groups = [list(range(i, i + 10)) for i in range(0, 2000, 10)]
    penalty = gs.GroupL2(groups=groups)
    alpha = gs.alpha_max(X, y, penalty=penalty, fit_intercept=False) / 20

    def value(w):
        return np.mean((X @ w - y) ** 2) / 2 + alpha * np.linalg.norm(w.reshape(-1, 10), axis=1).sum()

    def mine(tol):
        return gs.BatchRegressor(penalty=penalty, alpha=alpha, tol=tol, fit_intercept=False).fit(X, y).coef_

    def theirs(tol):
        from skglm import GroupLasso

        model = GroupLasso(groups=10, alpha=alpha, tol=tol * alpha, fit_intercept=False, weights=np.ones(200))
        return model.fit(X, y).coef_

    best, times, notes = value(mine(1e-10)), {}, []
    for name, run in (("gossamer", mine), ("skglm", theirs)):
        cold = seconds(partial(run, 1.0))
        for tol in TOLERANCES:
            took = [seconds(partial(run, tol)) for _ in range(3)]
            excess = value(run(tol)) / best - 1
            if excess <= PRECISION:
                break
        times[name] = min(took)
        notes.append(f"{name}: {min(took):.3f} s at tol {tol:g} ({excess:.0e} above); first loose fit {cold:.1f} s")
    rows = [Row("skglm / gossamer", times["skglm"] / times["gossamer"], at_least=1)]
    show("Group lasso, 1,000 × 2,000 dense, groups of ten", rows, notes)


def main():
    warnings.simplefilter("ignore")
    for part in (rcv1, news20, lasso, path_of_classes, user_groups):
        try:
            part()
        except ImportError as error:
            print(f"  ({error.name} is not installed)")


if __name__ == "__main__":
    main()
