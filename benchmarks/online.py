"""Online learning beside scikit-learn, Vowpal Wabbit and river: one pass, data in memory, ratios in one run."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp
from data import load
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits
from timing import Row, best, show

import gossamer as gs

ALPHA = 1e-5
SKLEARN = {"loss": "log_loss", "alpha": ALPHA, "max_iter": 1, "tol": None, "random_state": 0}
OURS = {"fobos": gs.Fobos(10.0), "rda": gs.RDA(0.1), "adagrad": gs.AdaGrad(0.25), "ftrl": gs.FTRL(1.0), "auto": "auto"}


def fit(method, X, y, **settings):
    return gs.OnlineClassifier(alpha=ALPHA, method=method, random_state=0, **settings).fit(X, y)


def sklearn_fit(X, y, penalty="l1"):
    return SGDClassifier(penalty=penalty, **SKLEARN).fit(X, y)


def in_calls(model, X, y, size):
    blocks = [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]

    def run():
        from sklearn.base import clone

        fresh = clone(model)
        for block, labels in blocks:
            fresh.partial_fit(block, labels, classes=[-1, 1])

    return run


def wide(features, n=20_000, per_row=100):
    rng = np.random.default_rng(0)
    index = np.sort(rng.integers(features, size=(n, per_row)), axis=1).ravel().astype(np.int32)
    X = sp.csr_matrix((rng.random(n * per_row), index, np.arange(n + 1) * per_row), shape=(n, features))
    X.sum_duplicates()
    return X, np.where(rng.random(n) < 0.5, -1, 1)


def vw_examples(X, y):
    lines = []
    for i in range(len(y)):
        low, high = X.indptr[i], X.indptr[i + 1]
        pairs = zip(X.indices[low:high].tolist(), X.data[low:high].tolist(), strict=True)
        lines.append(f"{int(y[i])} |f " + " ".join(f"{j}:{x:.6g}" for j, x in pairs))
    return lines


def vw_run(lines):
    """Parse and learn; Vowpal Wabbit keeps its parsed examples, so parsing is timed by itself and taken off."""
    from vowpalwabbit import Workspace

    work = Workspace("--loss_function logistic --l1 1e-6 -b 18 --quiet")
    parsed = [work.example(line) for line in lines]

    def learn():
        for example in parsed:
            work.learn(example)

    return work, learn


def river_run(X, y, n):
    from river import linear_model, optim

    rows = [dict(zip(X[i].indices.tolist(), X[i].data.tolist(), strict=True)) for i in range(n)]

    def run():
        model = linear_model.LogisticRegression(optim.FTRLProximal(alpha=0.1, beta=1.0, l1=0.0, l2=0.0))
        for x, label in zip(rows, y[:n].tolist(), strict=True):
            model.learn_one(x, label > 0)

    return run


def rcv1_speed():
    X, y, _, _ = load("rcv1")
    runs = {name: partial(fit, method, X, y) for name, method in OURS.items()}
    runs["fobos averaged"] = partial(fit, OURS["fobos"], X, y, average=True)
    runs["rda averaged"] = partial(fit, OURS["rda"], X, y, average=True)
    runs["fobos float32"] = partial(fit, OURS["fobos"], X.astype(np.float32), y)
    runs["scikit-learn l1"] = partial(sklearn_fit, X, y)
    runs["SciPy product"] = partial(X.dot, np.ones(X.shape[1]))
    times = dict(zip(runs, best(*runs.values(), repeats=9), strict=True))
    peer = times["scikit-learn l1"]
    rows = [
        Row(
            f"RCV1: scikit-learn's ℓ1 SGD / {name}",
            peer / times[name],
            at_least={"fobos": 4, "rda": 4, "auto": 3}.get(name),
        )
        for name in OURS
    ]
    rows.append(Row("RCV1: auto / fobos", times["auto"] / times["fobos"], at_most=1.3))
    product = times["SciPy product"]
    rows += [
        Row(f"RCV1: {name} / one SciPy product", times[name] / product, at_most=most)
        for name, most in (("fobos", 2.5), ("rda", 2.5), ("auto", None))
    ]
    rows.append(Row("averaging / not, fobos", times["fobos averaged"] / times["fobos"], at_most=2))
    rows.append(Row("averaging / not, rda", times["rda averaged"] / times["rda"], at_most=2))
    rows.append(Row("float32 / float64", times["fobos float32"] / times["fobos"], at_most=1))
    return rows, [f"{name}: {1e3 * t:.1f} ms" for name, t in times.items()]


def wide_speed():
    X, y = wide(4_000_000)
    names = ("fobos", "rda", "auto")
    *ours, peer = best(*(partial(fit, OURS[name], X, y) for name in names), partial(sklearn_fit, X, y), repeats=5)
    narrow, y1 = wide(47_000)
    spread = sp.csr_matrix((narrow.data, narrow.indices * np.int32(100), narrow.indptr), shape=(len(y1), 4_700_000))
    same = sp.csr_matrix((narrow.data, narrow.indices, narrow.indptr), shape=(len(y1), 4_700_000))
    widths = (narrow, same, spread)
    times = best(*(partial(fit, OURS[name], data, y1) for name in ("fobos", "auto") for data in widths), repeats=5)
    rows = [
        Row(f"4e6 features: scikit-learn's ℓ1 SGD / {name}", peer / took, at_least=3)
        for name, took in zip(names, ours, strict=True)
    ]
    for name, (base, wider, apart) in (("fobos", times[:3]), ("auto", times[3:])):
        rows.append(Row(f"{name}, 100 times as wide, the same columns / not", wider / base, at_most=1.3))
        rows.append(Row(f"{name}, 100 times as wide, columns spread out / not", apart / base))
    return rows


def call_speed():
    X, y, _, _ = load("rcv1")
    rows = []
    for size, n in ((20, 4000), (1, 400)):
        model = gs.OnlineClassifier(alpha=ALPHA, method=OURS["fobos"])
        auto = gs.OnlineClassifier(alpha=ALPHA)
        peer = SGDClassifier(penalty="l1", loss="log_loss", alpha=ALPHA, random_state=0)
        with threadpool_limits(1):  # the threads of a BLAS product would cost it more than they bring
            *ours, theirs = best(*(in_calls(m, X[:n], y[:n], size) for m in (model, auto, peer)), repeats=3)
        for name, took in zip(("fobos", "auto"), ours, strict=True):
            rows.append(Row(f"calls of {size} rows: scikit-learn's ℓ1 SGD / {name}", theirs / took, at_least=10))
    return rows


def multiclass_speed():
    X, y, _, _ = load("news20")
    joint = gs.OnlineClassifier("multinomial", gs.GroupL2(), ALPHA, gs.Fobos(1.0), random_state=0)
    ours, theirs = best(partial(joint.fit, X, y), partial(sklearn_fit, X, y, "l2"), repeats=3)
    return [Row("20 classes, multinomial ℓ1/ℓ2 / scikit-learn's 20 ℓ2 fits", ours / theirs, at_most=1.3)]


def dense_speed():
    rng = np.random.default_rng(0)
    X, y = rng.random((60_000, 784)), rng.integers(10, size=60_000)
    fobos = gs.OnlineClassifier("multinomial", "l1", ALPHA, gs.Fobos(0.1), random_state=0)
    auto = gs.OnlineClassifier(alpha=ALPHA, random_state=0)
    *ours, theirs = best(partial(fobos.fit, X, y), partial(auto.fit, X, y), partial(sklearn_fit, X, y), repeats=2)
    return [
        Row(f"60,000 × 784, 10 classes: scikit-learn's ℓ1 SGD / {name}", theirs / took, at_least=4)
        for name, took in zip(("fobos", "auto"), ours, strict=True)
    ]


def batch_speed():
    X, y, _, _ = load("rcv1")
    sizes = (1, 10, 200, 2000)
    times = best(*(partial(fit, OURS["fobos"], X, y, batch_size=size) for size in sizes), repeats=5)
    return [
        Row(f"RCV1, fobos: batches of {size} / rows", took / times[0])
        for size, took in zip(sizes[1:], times[1:], strict=True)
    ]


def peers_speed():
    X, y, _, _ = load("rcv1")
    rows = []
    try:
        work, learn = vw_run(vw_examples(X, y))
    except ImportError:
        print("  (vowpalwabbit is not installed)")
    else:
        ours, theirs = best(partial(fit, OURS["adagrad"], X, y), learn, repeats=3)
        rows.append(Row("RCV1: Vowpal Wabbit on parsed examples / adagrad", theirs / ours))
        work.finish()
    try:
        run = river_run(X, y, 1000)
    except ImportError:
        print("  (river is not installed)")
    else:
        ours, theirs = best(partial(fit, OURS["ftrl"], X[:1000], y[:1000]), run, repeats=3)
        rows.append(Row("1,000 rows of RCV1: river's FTRL / ftrl", theirs / ours))
    return rows


def main():
    warnings.simplefilter("ignore")
    rows, notes = rcv1_speed()
    show("One pass over RCV1 in memory, ℓ1-logistic", rows, notes)
    show("Wide data, 100 non-zeros a row", wide_speed())
    show("partial_fit in small calls, RCV1", call_speed())
    show("Twenty newsgroups, counts", multiclass_speed())
    show("Dense data, several classes", dense_speed())
    show("Batches", batch_speed())
    rows = peers_speed()
    if rows:
        show("Other peers", rows)


if __name__ == "__main__":
    main()
