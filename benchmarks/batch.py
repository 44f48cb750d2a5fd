"""Batch learning beside adelie, celer, glmnet, liblinear, scikit-learn and skglm: times to the same objective.

    python benchmarks/batch.py                    # all
    python benchmarks/batch.py lasso_path rcv1    # some: the names of the functions below

Each solver runs with falling tolerances until its objective (at every strength of a path) is within 1e-6 of the best
known; then all run in turns at the first tolerance that reached it, and the best times count. Times to compile (numba)
are kept apart and shown. Both cores are for everybody; no solver has an intercept where a peer has none.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp
from data import load
from timing import Row, seconds, show

import gossamer as gs

PRECISION = 1e-6
TOLERANCES = tuple(10.0**-e for e in range(1, 13))
AIM = 1.2


def into(found, run, *args):
    """Keep the result of a run that is timed."""
    found[:] = [run(*args)]


def race(title, value, ours, peers, best_at=1e-9, limit=25.0, repeats=3, loosest=1e-1):
    """Run everybody to the precision, in turns; show how many times as long as ours the peers take.

    `ours` and `peers` (by name) take a tolerance and return what `value` takes, which returns the objectives.
    """
    best = value(ours(best_at))
    runs = {"gossamer": ours, **peers}
    chosen, excess, colds, notes = {}, {}, {}, []
    for name, run in runs.items():
        try:
            colds[name] = seconds(partial(run, 1.0))
        except ImportError as error:
            notes.append(f"{name}: {error.name} is not installed")
            continue
        spent, seen = 0.0, {}
        for tol in (t for t in TOLERANCES if t <= loosest):
            found = []
            spent += seconds(partial(into, found, run, tol))
            seen[tol] = value(found[0])
            best = np.minimum(best, seen[tol])
            if np.max(seen[tol] / best - 1) <= PRECISION or spent > limit:
                break
        chosen[name], excess[name] = tol, seen[tol]
    times = dict.fromkeys(chosen, float("inf"))
    spent, rounds = 0.0, 0
    while rounds < repeats or (spent < 6 and rounds < 15):  # short ones more often: their times vary most
        for name, tol in chosen.items():
            took = seconds(partial(runs[name], tol))
            times[name], spent = min(times[name], took), spent + took
        rounds += 1
    for name, tol in chosen.items():
        above = np.max(excess[name] / best - 1)
        short = "" if above <= PRECISION else ", NOT THERE"
        took = f"{times[name]:.4f} s at tol {tol:g} ({above:.0e} above{short})"
        notes.append(f"{name}: {took}; first loose run {colds[name]:.2f} s")
        if above > PRECISION:
            times[name] = float("inf")
    mine = times.pop("gossamer", float("nan"))
    rows = [Row("the fastest peer / gossamer", min(times.values(), default=np.nan) / mine, at_least=AIM)]
    rows += [Row(f"{name} / gossamer", t / mine) for name, t in times.items()]
    show(title, rows, notes)


# One strength, one output, no intercept


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


def sklearn_lasso(X, y, alpha, tol, precompute=False):
    from sklearn.linear_model import Lasso

    model = Lasso(alpha=alpha, tol=tol, fit_intercept=False, max_iter=10_000, precompute=precompute)
    return model.fit(X.tocsc() if sp.issparse(X) else X, y).coef_


def adelie_glm(X, y, loss):
    import adelie

    if loss == "logistic":
        return adelie.glm.binomial(y=(y + 1) / 2, dtype=np.float64)
    return adelie.glm.gaussian(y=np.asarray(y, np.float64), dtype=np.float64)


def adelie_path(X, y, alphas, tol, loss="squared", l1_ratio=1.0, groups=None):
    """Weights, one column per strength."""
    import adelie

    settings = {} if groups is None else {"groups": groups, "penalty": np.ones(len(groups))}
    state = adelie.grpnet(
        X=X,
        glm=adelie_glm(X, y, loss),
        lmda_path=alphas,
        alpha=l1_ratio,
        intercept=False,
        tol=tol,
        irls_tol=tol,
        progress_bar=False,
        early_exit=False,
        n_threads=2,
        **settings,
    )
    return state.betas.toarray().T


def adelie_one(X, y, alpha, tol, **settings):
    return adelie_path(X, y, np.array([alpha]), tol, **settings)[:, 0]


def glmnet_path(X, y, alphas, tol, loss="squared", l1_ratio=1.0):
    """Weights, one column per strength; glmnet's squares are in units of the deviation of y."""
    from glmnet import ElasticNet, LogitNet

    settings = {"alpha": l1_ratio, "standardize": False, "fit_intercept": False, "n_splits": 0, "tol": tol}
    if loss == "logistic":
        model = LogitNet(lambda_path=alphas, **settings).fit(X, (y + 1) / 2)
        return model.coef_path_[0]
    return ElasticNet(lambda_path=alphas, **settings).fit(X, y).coef_path_


def glmnet_one(X, y, alpha, tol, **settings):
    return glmnet_path(X, y, np.array([alpha]), tol, **settings)[:, 0]


LOGISTIC = {"liblinear": liblinear, "skglm": skglm_logistic, "celer": celer_logistic}
LASSO = {"skglm": skglm_lasso, "scikit-learn": sklearn_lasso, "celer": celer_lasso}


def strength(title, X, y, alpha, loss, peers, **settings):
    value = partial(logistic if loss == "logistic" else squares, X, y, alpha)
    estimator = gs.BatchClassifier if loss == "logistic" else gs.BatchRegressor
    given = {name: partial(peer, X, y, alpha) for name, peer in peers.items()}
    race(f"{title}, α = {alpha:.3g}", value, partial(ours, estimator, X, y, alpha), given, **settings)


def rcv1():
    X, y, _, _ = load("rcv1")
    for alpha in (1e-4, 1e-5):
        strength("ℓ1-logistic on rcv1", X, y, alpha, "logistic", LOGISTIC)


def news20(alphas=(1e-3, 1e-4, 1e-5)):
    X, y, _, _ = load("news20_bigrams")
    for alpha in alphas:
        strength("ℓ1-logistic on news20_bigrams (unit rows)", X, y, alpha, "logistic", LOGISTIC, repeats=2, limit=10)


def lasso():
    X, y, _, _ = load("rcv1")
    for alpha in (1e-4, 1e-5):
        strength("ℓ1 least squares on rcv1", X, y.astype(np.float64), alpha, "squared", LASSO)


def tall(n=100_000, d=300):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X[:, :60] @ rng.standard_normal(60) / 8


def tall_lasso():
    X, z = tall()
    y = z + np.random.default_rng(1).standard_normal(len(z))
    alpha = gs.alpha_max(X, y, fit_intercept=False) / 20
    peers = {
        **LASSO,
        "scikit-learn, Gram": partial(sklearn_lasso, precompute=True),
        "adelie": adelie_one,
        "glmnet": glmnet_one,
    }
    strength("lasso, 100,000 × 300 dense", X, y, alpha, "squared", peers, limit=6)


def tall_logistic():
    X, z = tall()
    y = np.where(np.random.default_rng(1).random(len(z)) < 1 / (1 + np.exp(-3 * z)), 1.0, -1.0)
    alpha = gs.alpha_max(X, y, loss="logistic", fit_intercept=False) / 20
    peers = {
        **LOGISTIC,
        "adelie": partial(adelie_one, loss="logistic"),
        "glmnet": partial(glmnet_one, loss="logistic"),
    }
    strength("ℓ1-logistic, 100,000 × 300 dense", X, y, alpha, "logistic", peers, limit=6)


# Paths


def our_path(X, y, alphas, tol, loss="squared", penalty="l1"):
    path = gs.regularization_path(X, y, loss=loss, penalty=penalty, alphas=alphas, tol=tol, fit_intercept=False)
    return sp.vstack(path.coefs).T.toarray()


def celer_path(X, y, alphas, tol, loss="squared"):
    from celer import celer_path

    n = len(y)
    given = {"pb": "logreg", "alphas": alphas * n} if loss == "logistic" else {"pb": "lasso", "alphas": alphas}
    return celer_path(np.asfortranarray(X), y, tol=tol, **given)[1]


def sklearn_path(X, y, alphas, tol, l1_ratio=1.0):
    from sklearn.linear_model import enet_path

    return enet_path(np.asfortranarray(X), y, l1_ratio=l1_ratio, alphas=alphas, tol=tol, max_iter=100_000)[1]


def skglm_path(X, y, alphas, tol, loss="squared"):
    from skglm import Lasso, SparseLogisticRegression

    model = (SparseLogisticRegression if loss == "logistic" else Lasso)(fit_intercept=False, warm_start=True)
    model.max_iter = 200
    found = []
    for alpha in alphas:
        model.alpha, model.tol = alpha, tol * alpha
        found.append(model.fit(X, y).coef_.ravel().copy())
    return np.array(found).T


def values_of_path(X, y, alphas, loss, l1_ratio, W):
    Z = X @ W
    each = np.logaddexp(0, -y[:, None] * Z) if loss == "logistic" else (Z - y[:, None]) ** 2 / 2
    squared = (W**2).sum(axis=0) / 2
    return each.mean(axis=0) + alphas * (l1_ratio * np.abs(W).sum(axis=0) + (1 - l1_ratio) * squared)


def path(title, X, y, alphas, loss, peers, l1_ratio=1.0, **settings):
    value = partial(values_of_path, X, y, alphas, loss, l1_ratio)
    penalty = "l1" if l1_ratio == 1 else gs.ElasticNet(l1_ratio=l1_ratio)
    mine = partial(our_path, X, y, alphas, loss=loss, penalty=penalty)
    race(title, value, mine, {name: partial(peer, X, y, alphas) for name, peer in peers.items()}, **settings)


def wide(n, d, weights=50):
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((n, d)))
    return X, X[:, :weights] @ rng.standard_normal(weights) + rng.standard_normal(n)


def lasso_path():
    X, y = wide(500, 10_000)
    alphas = gs.alpha_max(X, y, fit_intercept=False) * np.geomspace(1, 0.02, 100)
    peers = {
        "adelie": adelie_path,
        "celer": celer_path,
        "glmnet": glmnet_path,
        "scikit-learn": sklearn_path,
        "skglm": skglm_path,
    }
    path("lasso path, 500 × 10,000 dense, 100 strengths to .02 α_max", X, y, alphas, "squared", peers, limit=6)


def expressions(n=72, d=7129):
    """Return data like gene expression: a few factors that all columns share, two classes that some tell apart."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) < 47, 1.0, -1.0)
    X = rng.standard_normal((n, 8)) @ rng.standard_normal((8, d)) + 1.5 * rng.standard_normal((n, d))
    X[:, :100] += y[:, None] * rng.standard_normal(100)
    return np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0)), y


def logistic_path():
    X, y = expressions()
    alphas = gs.alpha_max(X, y, loss="logistic", fit_intercept=False) * np.geomspace(1, 0.05, 50)
    peers = {
        name: partial(f, loss="logistic")
        for name, f in (("adelie", adelie_path), ("celer", celer_path), ("glmnet", glmnet_path), ("skglm", skglm_path))
    }
    title = "ℓ1-logistic path, 72 × 7,129 dense, 50 strengths to .05 α_max"
    path(title, X, y, alphas, "logistic", peers, limit=6, repeats=5)


def elastic_net_path():
    X, y = wide(2000, 5000)
    alphas = gs.alpha_max(X, y, fit_intercept=False) * 2 * np.geomspace(1, 0.02, 100)
    peers = {
        name: partial(f, l1_ratio=0.5)
        for name, f in (("adelie", adelie_path), ("glmnet", glmnet_path), ("scikit-learn", sklearn_path))
    }
    title = "elastic net path (half ℓ1), 2,000 × 5,000 dense, 100 strengths to .02 α_max"
    path(title, X, y, alphas, "squared", peers, l1_ratio=0.5, limit=10, repeats=2)


# Groups and classes


def groups_of_ten(correlation, fraction):
    rng = np.random.default_rng(0)
    n, d = 1000, 5000
    X = np.sqrt(1 - correlation) * rng.standard_normal((n, d))
    X += np.sqrt(correlation) * np.repeat(rng.standard_normal((n, d // 10)), 10, axis=1)
    X = np.asfortranarray(X)
    w = np.zeros(d)
    w[:100] = rng.standard_normal(100)
    y = X @ w + rng.standard_normal(n)
    penalty = gs.GroupL2(groups=np.arange(d) // 10)
    alpha = gs.alpha_max(X, y, penalty=penalty, fit_intercept=False) * fraction

    def value(w):
        return np.mean((X @ w - y) ** 2) / 2 + alpha * np.linalg.norm(w.reshape(-1, 10), axis=1).sum()

    def mine(tol):
        return gs.BatchRegressor(penalty=penalty, alpha=alpha, tol=tol, fit_intercept=False).fit(X, y).coef_

    def skglm_groups(tol):
        from skglm import GroupLasso

        model = GroupLasso(groups=10, alpha=alpha, tol=tol * alpha, fit_intercept=False, weights=np.ones(d // 10))
        return model.fit(X, y).coef_

    def celer_groups(tol):
        from celer import GroupLasso

        return GroupLasso(groups=10, alpha=alpha, tol=tol, fit_intercept=False).fit(X, y).coef_

    def adelie_groups(tol):
        return adelie_one(X, y, alpha, tol, groups=np.arange(0, d, 10))

    return value, mine, {"skglm": skglm_groups, "celer": celer_groups, "adelie": adelie_groups}


def user_groups():
    race("Group lasso, 1,000 × 5,000 dense, groups of ten, α_max / 20", *groups_of_ten(0.0, 0.05), limit=6)


def correlated_groups():
    title = "Group lasso, 1,000 × 5,000 dense, groups of ten correlated columns (.8), α_max / 50"
    race(title, *groups_of_ten(0.8, 0.02), limit=6)


def letters(n=1560, d=617, k=26):
    """Return data like spoken letters: 26 classes, columns that share factors."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    mixing = rng.standard_normal((40, d))
    X = (rng.standard_normal((k, 40))[y] + 0.8 * rng.standard_normal((n, 40))) @ mixing + 2 * rng.standard_normal(
        (n, d)
    )
    return np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0)), y


def path_of_classes():
    X, y = letters()
    Y = np.eye(y.max() + 1)[y]
    d, k = X.shape[1], Y.shape[1]
    alphas = gs.alpha_max(X, y, loss="multinomial", penalty="group_l2") * np.geomspace(1, 0.05, 30)

    def multinomial(W, b, alpha):
        Z = X @ W + b
        top = Z.max(axis=1, keepdims=True)
        loss = np.log(np.exp(Z - top).sum(axis=1)) + top[:, 0] - np.sum(Z * Y, axis=1)
        return loss.mean() + alpha * np.linalg.norm(W, axis=1).sum()

    def values(found):
        return np.array([multinomial(W, b, a) for (W, b), a in zip(found, alphas, strict=True)])

    def adelie_classes(tol):
        import adelie

        state = adelie.grpnet(
            X=X,
            glm=adelie.glm.multinomial(y=Y, dtype=np.float64),
            penalty=np.ones(d),
            lmda_path=alphas / k,
            tol=tol,
            irls_tol=tol,
            progress_bar=False,
            early_exit=False,
            n_threads=2,
        )
        return [(beta.toarray().reshape(d, k), b) for beta, b in zip(state.betas, state.intercepts, strict=True)]

    def mine(tol):
        found = gs.regularization_path(X, y, loss="multinomial", penalty="group_l2", alphas=alphas, tol=tol)
        return [(c.toarray().T, b) for c, b in zip(found.coefs, found.intercepts, strict=True)]

    title = "Multinomial ℓ1/ℓ2, 1,560 × 617 dense, 26 classes, 30 strengths to .05 α_max"
    race(title, values, mine, {"adelie": adelie_classes}, best_at=1e-7, loosest=1e-3, repeats=1, limit=40)


# Cross-validation as users call it: every strength and every fold, to the tolerances of the defaults


def calls(title, ours, peers, repeats=2):
    runs = {"gossamer": ours, **peers}
    times = dict.fromkeys(runs, float("inf"))
    notes = []
    for _ in range(repeats):
        for name, run in runs.items():
            found = []
            times[name] = min(times[name], seconds(partial(into, found, run)))
            notes.append(f"{name}: {found[0]}")
    mine = times.pop("gossamer")
    rows = [Row(f"{name} / gossamer", t / mine, at_least=AIM) for name, t in times.items()]
    show(title, rows, [f"gossamer: {mine:.3f} s", *sorted(set(notes))])


def regressor_cv(n=2000, d=2000):
    X, y = wide(n, d)
    regressor_calls(f"LassoCV, {n:,} × {d:,}, 100 strengths, 5 folds", X, y)


def regressor_calls(title, X, y):
    def mine():
        model = gs.BatchRegressorCV(alphas=100, cv=5, select="best").fit(X, y)
        return f"α {model.alpha_:.4g}"

    def sklearn_cv(jobs=None):
        from sklearn.linear_model import LassoCV

        return f"α {LassoCV(alphas=100, cv=5, n_jobs=jobs).fit(X, y).alpha_:.4g}"

    calls(title, mine, {"scikit-learn": sklearn_cv, "scikit-learn, n_jobs=2": partial(sklearn_cv, 2)})


def lasso_cv():
    X, y, _, _ = load("ailerons")
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    regressor_calls("LassoCV, ailerons (7,154 × 40), 100 strengths, 5 folds", X, y / y.std())


def classifier_calls(title, X, y, Cs, repeats=1):
    alphas = 1 / (len(y) * np.asarray(Cs))[::-1]

    def mine():
        model = gs.BatchClassifierCV(alphas=np.sort(alphas)[::-1], cv=5, select="best").fit(X, y)
        return f"α {model.alpha_:.4g}, accuracy on these rows {model.score(X, y):.4f}"

    def sklearn_cv(jobs=None):
        from sklearn.linear_model import LogisticRegressionCV

        model = LogisticRegressionCV(
            Cs=Cs,
            cv=5,
            l1_ratios=(1.0,),
            solver="liblinear",
            n_jobs=jobs,
            scoring="neg_log_loss",
            max_iter=1000,
            use_legacy_attributes=False,
        ).fit(X, y)
        return (
            f"α {1 / (len(y) * np.ravel(model.C_)[0]):.4g}, accuracy on these rows {np.mean(model.predict(X) == y):.4f}"
        )

    calls(title, mine, {"scikit-learn": sklearn_cv, "scikit-learn, n_jobs=2": partial(sklearn_cv, 2)}, repeats)


def classifier_cv():
    X, y, _, _ = load("rcv1")
    top = gs.alpha_max(X, y, loss="logistic")
    title = "ℓ1 LogisticRegressionCV (liblinear), rcv1, 10 strengths to α_max / 300, 5 folds"
    classifier_calls(title, X, y, 1 / (len(y) * top * np.geomspace(1, 1 / 300, 10)))


def logistic_cv():
    X, y, _, _ = load("a9a")
    classifier_calls("ℓ1 LogisticRegressionCV (liblinear), a9a, its ten Cs, 5 folds", X, y, np.logspace(-4, 4, 10))


# Growth


def growth(largest=1e8):
    """Time per entry as data grows, at the same shape and the same number of weights."""
    for form in ("dense", "sparse"):
        rows, notes, first = [], [], None
        for entries in 10.0 ** np.arange(5, np.log10(largest) + 0.5):
            X, y = grown(int(entries), form)
            alpha = 0.1 * gs.alpha_max(X, y, loss="logistic")
            found = []
            took = min(
                seconds(partial(into, found, gs.BatchClassifier(alpha=alpha).fit, X, y))
                for _ in range(3 if entries < 1e8 else 1)
            )
            per, weights = took / entries, len(found[0].nonzero_features_)
            notes.append(
                f"{entries:.0e} entries, {X.shape[0]:,} × {X.shape[1]:,}: {took:.4f} s, "
                f"{1e9 * per:.1f} ns per entry, {weights} weights, {found[0].n_iter_} iterations"
            )
            first = first or per
            rows.append(Row(f"{entries:.0e} entries: time per entry / that of 1e5", per / first))
            del X, y
        show(f"ℓ1-logistic, .1 α_max: growth, {form}", rows, notes)


def grown(entries, form):
    rng = np.random.default_rng(0)
    if form == "dense":
        d = 100
        X = rng.standard_normal((entries // d, d))
    else:
        per_row, d = 100, 10_000
        n = entries // per_row
        index = (rng.integers(0, d // per_row, (n, per_row)) + np.arange(0, d, d // per_row)).astype(np.int32)
        starts = np.arange(0, entries + 1, per_row)
        X = sp.csr_matrix((rng.standard_normal(entries), index.ravel(), starts), shape=(n, d))
    w = np.zeros(d)
    w[:: d // 20] = 1
    return X, X @ w + rng.standard_normal(X.shape[0]) * np.sqrt(
        20 * X.nnz / X.shape[0] / d if form == "sparse" else 20
    ) > 0


PARTS = (
    lasso_path,
    logistic_path,
    tall_lasso,
    tall_logistic,
    user_groups,
    correlated_groups,
    elastic_net_path,
    path_of_classes,
    regressor_cv,
    lasso_cv,
    classifier_cv,
    logistic_cv,
    rcv1,
    lasso,
    news20,
    growth,
)


def main(names=()):
    warnings.simplefilter("ignore")
    for part in PARTS:
        if not names or part.__name__ in names:
            part()


if __name__ == "__main__":
    main(sys.argv[1:])
