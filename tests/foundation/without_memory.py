"""Does each work again and again, while one allocation in a thread of the core fails (failing_new.cpp).

test_threads.py runs it. Every failure must arrive in the caller as a MemoryError, and the same work must succeed
afterwards.
"""

import ctypes
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import gossamer as gs

fail_after = ctypes.CDLL(sys.argv[1]).fail_after
random = np.random.default_rng(0)
X = sp.random_array((4000, 300), density=0.05, rng=random).tocsr()
REAL = np.asarray(X @ random.normal(size=300)).ravel()
TWO, THREE = (REAL > 0).astype(int), np.digitize(REAL, np.quantile(REAL, [0.3, 0.7]))


def texts(folder):
    """Write a file of each format."""
    made = {
        "a.svm": "".join(f"{i % 2} {1 + i % 9}:{i} 20:1\n" for i in range(300)),
        "a.vw": "".join(f"{i % 2} |n w{i % 40}:{i} b\n" for i in range(300)),
        "a.csv": "x,c,y\n" + "".join(f"{i},c{i % 40},{i % 2}\n" for i in range(300)),
    }
    for name, text in made.items():
        Path(folder, name).write_text(text)
    return list(made)


def read(path):
    """Return the number of rows and the sum of all values."""
    blocks = list(gs.source(path, block=500).blocks())
    return sum(len(b) for b in blocks), sum(float(b.value.sum()) for b in blocks)


def learned(path):
    """Return a model of words, dates, gaps and pairs."""
    lines = [f"2024-01-{1 + i % 28:02d},c{i % 9},a{i % 7} b{i % 5},{i % 3 or ''},{i % 2}\n" for i in range(300)]
    path.write_text("day,city,say,x,y\n" + "".join(lines))
    roles = {"say": "text", "day": "date", "city": "category"}
    return gs.OnlineClassifier().fit(path, roles=roles, interactions=[("city", "say")], ngrams=2, block=2000, bits=10)


def works(folder):
    """Return what is done, by name."""
    done = {f"read {name}": (lambda p=Path(folder, name): read(p)) for name in texts(folder)}
    return done | {
        "lanes": lambda: gs.OnlineClassifierCV(n_jobs=4, random_state=0).fit(X, TWO).coef_.tolist(),
        "lanes, fobos": lambda: (
            gs.OnlineClassifierCV(method="fobos", n_jobs=4, random_state=0).fit(X, TWO).coef_.tolist()
        ),
        "lanes, dense": lambda: gs.OnlineClassifierCV(n_jobs=4, random_state=0).fit(X.toarray(), TWO).coef_.tolist(),
        "batches": lambda: (
            gs.OnlineClassifier(method=gs.Fobos(0.5), batch_size=2000, random_state=0).fit(X, TWO).coef_.tolist()
        ),
        "words": lambda: learned(Path(folder, "b.csv")).coef_.tolist(),
        "batch, in passes": lambda: gs.BatchClassifier(alpha=0.05).fit_source((X, TWO)).coef_.tolist(),
        "batch": lambda: gs.BatchClassifierCV(alphas=3, cv=2, n_jobs=4).fit(X, TWO).coef_.tolist(),
        "batch, fista": lambda: gs.BatchRegressor(alpha=0.1, solver="fista").fit(X, REAL).coef_.tolist(),
        "batch, three classes": lambda: gs.BatchClassifier(alpha=0.05).fit(X, THREE).coef_.tolist(),
        "boosting": lambda: gs.BoostingClassifier(alpha=0.05, n_jobs=4).fit(X, TWO).coef_.tolist(),
        "model": lambda: gs.Model.of(gs.OnlineRegressor(random_state=0).fit(X, REAL)).predict(X).tolist(),
    }


def tried(name, work, right, n):
    """Do the work with one failure; return whether an allocation failed."""
    fail_after(n)
    try:
        got = work()
    except MemoryError:
        got = None
    failed = bool(fail_after(-1))
    assert got is not None or failed, f"{name}: a MemoryError out of nothing"
    assert got is None or got == right, f"{name}: another result after a failure, n = {n}"
    return failed


def main():
    """Fail early allocations one after the other, later ones at growing distances."""
    warnings.simplefilter("ignore")
    failures = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, work in works(folder).items():
            right = work()
            assert right == work()
            n, count = 0, 0
            while n < 4000 and tried(name, work, right, n):
                n, count = n + 1 + n // 4, count + 1
            failures[name] = count
            assert work() == right
    print(" ".join(f"{name}: {count};" for name, count in failures.items()))


if __name__ == "__main__":
    main()
