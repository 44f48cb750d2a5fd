"""How well the defaults learn in one pass, beside Vowpal Wabbit, scikit-learn's SGD and river, on splits made afresh.

Everything of ours, of Vowpal Wabbit and of river is default. Of scikit-learn's SGD α is chosen with hindsight, by the
error on the test rows, in its favour. Means over seeds; river learns the first split only, as it takes minutes.
"adagrad" is the default of before. Sets named clicks1 to clicks3 are made up: thirty fields of categories, most of them
rare, little signal, a fifth of the labels positive; of "flipped" sets a quarter of the labels are flipped at random.
`make bench ARGS=quality`, or `python benchmarks/quality.py 10 rcv1 avazu` for ten seeds of some sets.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from data import load
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.linear_model import LinearRegression, SGDClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.preprocessing import StandardScaler
from timing import Row, show

import gossamer as gs

SHIPPED = {"breast cancer": load_breast_cancer, "digits": load_digits, "wine": load_wine}
CLICKS = ("clicks1", "clicks2", "clicks3")
FLIPPED = ("rcv1 flipped", "amazon flipped")
TEXT = ("rcv1", "amazon", "news20_bigrams")
SETS = (*TEXT, *FLIPPED, "avazu", *CLICKS, "a9a", "landsat", "mnist", *SHIPPED)
REGRESSIONS = ("ailerons", "boston", "diabetes")
MOST, TESTED = 30_000, 10_000  # rows
ALPHAS = (1e-3, 1e-4, 1e-5, 1e-6)
COLUMNS = ("ours", "sparsest", "adagrad", "VW", "VW coin", "VW freegrad", "SGD l1", "SGD l2", "river")


def whole(name: str) -> tuple[Any, Any]:
    """Return all rows of a set, and labels from 0."""
    if name in SHIPPED:
        X, y = SHIPPED[name](return_X_y=True)
    elif name in CLICKS:
        X, y = clicks(int(name[-1]))
    elif name in FLIPPED:
        X, y = whole(name.removesuffix(" flipped"))
        y = np.where(np.random.default_rng(0).random(len(y)) < 0.25, 1 - y, y)
    else:
        X, y, Xt, yt = load(name)
        X, y = sp.vstack([X, Xt], "csr") if sp.issparse(X) else np.vstack([X, Xt]), np.concatenate([y, yt])
    return X, np.unique(y, return_inverse=True)[1]


def clicks(seed: int, rows: int = 40_000, fields: int = 30) -> tuple[Any, Any]:
    """Return rows with one of many categories in each field, by Zipf's law; half of them have a little effect."""
    rng = np.random.default_rng(seed)
    columns, score, first = [], np.zeros(rows), 0
    for _ in range(fields):
        levels = int(10 ** rng.uniform(0.5, 3.3)) + 1
        share = 1 / np.arange(1, levels + 1) ** 1.1
        level = rng.choice(levels, size=rows, p=share / share.sum())
        score += (rng.normal(0, 0.25, levels) * (rng.random(levels) < 0.5))[level]
        columns.append(first + level)
        first += levels
    index, starts = np.column_stack(columns).ravel(), np.arange(0, rows * fields + 1, fields)
    noisy = score + rng.logistic(size=rows)
    return sp.csr_matrix((np.ones(len(index)), index, starts), (rows, first)), noisy > np.quantile(noisy, 0.8)


def split(X: Any, y: Any, seed: int) -> tuple[Any, Any, Any, Any]:
    order = np.random.default_rng(seed).permutation(len(y))
    tested = order[: min(TESTED, len(y) // 4)]
    trained = order[len(tested) : len(tested) + MOST]
    return X[trained], y[trained], X[tested], y[tested]


def entries(X: Any) -> Iterable[tuple[list[int], list[float]]]:
    """Yield features and values of each row."""
    X = sp.csr_matrix(X)
    for low, high in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        yield X.indices[low:high].tolist(), X.data[low:high].tolist()


# Each learner returns the probabilities of the classes (or scores that order them alike), and the features it uses.


def ours(X: Any, y: Any, Xt: Any) -> tuple[Any, int | None]:
    model = gs.OnlineClassifier(shuffle=False).fit(X, y)
    return model.predict_proba(Xt), len(model.nonzero_features_)


def adagrad(X: Any, y: Any, Xt: Any) -> tuple[Any, int | None]:
    model = gs.OnlineClassifier(method="adagrad", shuffle=False).fit(X, y)
    return model.predict_proba(Xt), len(model.nonzero_features_)


def sparsest(X: Any, y: Any, Xt: Any) -> tuple[Any, int | None]:
    model = gs.OnlineClassifierCV(shuffle=False).fit(X, y)
    return model.predict_proba(Xt), len(model.nonzero_features_)


def vw(more: str) -> Callable[[Any, Any, Any], tuple[Any, int | None]]:
    def learn(X: Any, y: Any, Xt: Any) -> tuple[Any, int | None]:
        from vowpalwabbit import Workspace

        k = int(y.max()) + 1
        form = "--link logistic" if k == 2 else f"--oaa {k} --probabilities"
        work = Workspace(f"--loss_function logistic {form} {more} -b 22 --quiet")
        text = [" ".join(f"{j}:{x:.9g}" for j, x in zip(*row, strict=True)) for row in entries(X)]
        for label, row in zip(y.tolist(), text, strict=True):
            work.learn(f"{label + 1 if k > 2 else 2 * label - 1} |f {row}")
        text = [" ".join(f"{j}:{x:.9g}" for j, x in zip(*row, strict=True)) for row in entries(Xt)]
        p = np.array([work.predict(f"|f {row}") for row in text])
        work.finish()
        return (np.column_stack([1 - p, p]) if k == 2 else p), None

    return learn


def sgd(penalty: str) -> Callable[[Any, Any, Any, Any], tuple[Any, int | None]]:
    def learn(X: Any, y: Any, Xt: Any, yt: Any) -> tuple[Any, int | None]:
        fits = [
            SGDClassifier(loss="log_loss", penalty=penalty, alpha=a, max_iter=1, tol=None, random_state=0).fit(X, y)
            for a in ALPHAS
        ]
        model = max(fits, key=lambda m: m.score(Xt, yt))
        return model.predict_proba(Xt), int(model.coef_.any(axis=0).sum())

    return learn


def river(X: Any, y: Any, Xt: Any) -> tuple[Any, int | None]:
    from river import linear_model

    k = int(y.max()) + 1
    model: Any = linear_model.LogisticRegression() if k == 2 else linear_model.SoftmaxRegression()
    for (j, x), label in zip(entries(X), y.tolist(), strict=True):
        model.learn_one(dict(zip(j, x, strict=True)), bool(label) if k == 2 else label)
    found = [model.predict_proba_one(dict(zip(j, x, strict=True))) for j, x in entries(Xt)]
    names = [False, True] if k == 2 else range(k)
    return np.array([[p.get(name, 0.0) for name in names] for p in found]), None


def measured(p: Any, yt: Any) -> tuple[float, float, float]:
    """Return error, log loss and, of two classes, AUC."""
    p = np.nan_to_num(np.asarray(p, float))
    error = float(np.mean(p.argmax(axis=1) != yt))
    sure = np.clip(p, 1e-6, 1)
    loss = float(log_loss(yt, sure / sure.sum(axis=1, keepdims=True), labels=range(p.shape[1])))
    return error, loss, float(roc_auc_score(yt, p[:, 1])) if p.shape[1] == 2 else np.nan


def compared(name: str, seeds: int) -> dict[str, Any]:
    """Return error, log loss, AUC and features of each learner, means over the seeds."""
    X, y = whole(name)
    found: dict[str, list[Any]] = {column: [] for column in COLUMNS}
    for seed in range(seeds):
        A, b, At, bt = split(X, y, seed)
        runs: dict[str, Callable[[], Any]] = {
            "ours": lambda A=A, b=b, At=At: ours(A, b, At),
            "sparsest": lambda A=A, b=b, At=At: sparsest(A, b, At),
            "adagrad": lambda A=A, b=b, At=At: adagrad(A, b, At),
            "VW": lambda A=A, b=b, At=At: vw("")(A, b, At),
            "VW coin": lambda A=A, b=b, At=At: vw("--coin")(A, b, At),
            "VW freegrad": lambda A=A, b=b, At=At: vw("--freegrad")(A, b, At),
            "SGD l1": lambda A=A, b=b, At=At, bt=bt: sgd("l1")(A, b, At, bt),
            "SGD l2": lambda A=A, b=b, At=At, bt=bt: sgd("l2")(A, b, At, bt),
        }
        if seed == 0 and A.shape[0] * (A.nnz / A.shape[0] if sp.issparse(A) else A.shape[1]) * (y.max() + 1) < 1e7:
            runs["river"] = lambda A=A, b=b, At=At: river(A, b, At)
        for column, run in runs.items():
            try:
                p, used = run()
            except ImportError:
                continue
            found[column].append((*measured(p, bt), np.nan if used is None else used))
    return {column: np.mean(rows, axis=0) for column, rows in found.items() if rows}


def rescaled(name: str) -> float:
    """Return the largest difference of predictions after each column was multiplied by a number of its own."""
    A, b, At, _ = split(*whole(name), 0)
    by = 10.0 ** np.random.default_rng(0).integers(-3, 4, A.shape[1])
    one = gs.OnlineClassifier(shuffle=False).fit(A, b).decision_function(At)
    other = gs.OnlineClassifier(shuffle=False).fit(A * by, b).decision_function(At * by)
    return float(np.abs(one - other).max() / np.abs(one).max())


def beyond_the_grid(name: str) -> float:
    """Return what α = 0 gains over the weakest strength of the default grid, of all that the path gains."""
    if name in REGRESSIONS:
        A, b, *_ = numbers(name, 0)
        path = gs.OnlineRegressorCV(shuffle=False).fit(A, b)
        path = gs.OnlineRegressorCV([*path.alphas_, 0.0], shuffle=False).fit(A, b)
    else:
        A, b, *_ = split(*whole(name), 0)
        path = gs.OnlineClassifierCV([*0.5 * np.geomspace(1, 1e-6, 16), 0.0], shuffle=False).fit(A, b)
    loss = path.path_loss_
    return float((loss[-2] - loss[-1]) / (loss[0] - loss.min()))


def classification(names: Iterable[str], seeds: int) -> tuple[list[Row], list[str]]:
    rows, table = [], []
    for name in names:
        means = compared(name, seeds)
        for column, (error, loss, auc, used) in means.items():
            shown = "" if np.isnan(used) else f"{used:9,.0f}"
            table.append(
                f"{name:<15} {column:<11} {error:8.4f} {loss:9.4f} {'' if np.isnan(auc) else f'{auc:.4f}':>7} {shown}"
            )
        peers = [m for column, m in means.items() if column in ("VW", "SGD l1", "SGD l2")]
        best = min(m[0] for m in peers)
        rows.append(Row(f"{name}: error over the best of VW and SGD", means["ours"][0] - best, at_most=0.002, unit=""))
        rows.append(Row(f"{name}: the same, sparsest", means["sparsest"][0] - best, at_most=0.005, unit=""))
        before = means["adagrad"]
        if name in (*TEXT, *FLIPPED, *CLICKS, "avazu"):
            used = means["sparsest"][3] / before[3]
            rows.append(Row(f"{name}: features, sparsest / adagrad", used, at_most=0.25))
        if name in (*CLICKS, "avazu"):
            rows.append(Row(f"{name}: log loss over adagrad", means["ours"][1] - before[1], at_most=0.0, unit=""))
            rows.append(Row(f"{name}: AUC below VW", means["VW"][2] - means["ours"][2], at_most=0.003, unit=""))
    return rows, table


def numbers(name: str, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return raw columns and targets of three quarters of the rows of a regression set, and of the others."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True, scaled=False)
    else:
        X, y, Xt, yt = load(name)
        X, y = np.vstack([X, Xt]), np.concatenate([y, yt])
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = order[: len(y) // 4], order[len(y) // 4 :]
    return X[train], y[train], X[test], y[test]


def regression(seeds: int) -> list[Row]:
    """One pass and twenty over raw columns, beside least squares."""
    rows = []
    for name in REGRESSIONS:
        for passes, most in ((1, 1.1), (20, 1.02)):
            ratios = []
            for seed in range(seeds):
                A, b, At, bt = numbers(name, seed)
                scaled = StandardScaler().fit(A)
                exact = LinearRegression().fit(scaled.transform(A), b)
                model = gs.OnlineRegressor(max_passes=passes, random_state=seed).fit(A, b)
                off = np.mean((model.predict(At) - bt) ** 2)
                ratios.append(np.sqrt(off / np.mean((exact.predict(scaled.transform(At)) - bt) ** 2)))
            rows.append(Row(f"{name}, raw: RMSE / least squares, passes: {passes}", np.mean(ratios), at_most=most))
    return rows


def main(names: list[str] | None = None) -> None:
    warnings.simplefilter("ignore")
    names = list(names or [])
    seeds = int(names.pop(0)) if names and names[0].isdigit() else 3
    rows, table = classification(names or SETS, seeds)
    head = f"{'data':<15} {'learner':<11} {'error':>8} {'log loss':>9} {'AUC':>7} {'features':>9}"
    show(f"One pass, everything default, {seeds} splits", rows, [head, *table])
    if not names:
        show("Raw regression", regression(seeds))
        units = [
            Row(f"{name}: change by units", rescaled(name), at_most=1e-4, unit="") for name in ("landsat", "digits")
        ]
        show("Columns in other units", units)
        ends = [Row(name, beyond_the_grid(name), at_most=0.001, unit="") for name in (*SETS, *REGRESSIONS)]
        show("What α = 0 gains over the weakest strength of the grid, of all that the path gains", ends)


if __name__ == "__main__":
    main(sys.argv[1:])
