"""Partitions: rounds and bytes of batch fits, errors of merged online learners, and a model of what a cluster costs.

    python benchmarks/cluster.py [batch] [online] [text]

Messages are counted where they are made, whatever the cluster, so partitions of `batch` and `online` are in this
process. `text` (not part of `make bench`) compares two worker processes with one process on a gigabyte of text; SIZE=MB
makes it smaller. The cost model is a model: rounds × latency + bytes / bandwidth + passes over the rows / workers.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from data import load

import dask
import gossamer as gs
import gossamer.dask as gd

LATENCY, BANDWIDTH = 0.1, 100e6  # seconds per round of Dask, bytes per second into the driver
READING, IN_MEMORY = 100e6, 1e9  # bytes of text per second and process: read, and passed over once read
PASSES, STARTING = 20, 2.0  # over the rows in a batch fit; seconds until workers are there
SEEDS = int(os.environ.get("SEEDS", "5"))


def parts_of(X, y, partitions, order=None):
    order = np.arange(len(y)) if order is None else order
    return [dask.delayed((X[i], y[i])) for i in (order[n::partitions] for n in range(partitions))]


def batch(partitions=8):
    X, y, _, _ = load("rcv1")
    print(f"rcv1, {X.shape[0]:,} rows, {partitions} partitions, gap at most 1e-6 of F(0)")
    print("alpha    rounds  MB up  MB down  non-zeros  F − F of one process  CPU s here  model: s on 8 workers")
    for alpha in (1e-3, 1e-4, 1e-5):
        plain = gs.BatchClassifier(alpha=alpha, tol=1e-9).fit(X, y)
        began = time.process_time()
        m = gd.BatchClassifier(alpha=alpha, tol=1e-6, client="local").fit(parts_of(X, y, partitions))
        took = time.process_time() - began
        model = m.n_rounds_ * LATENCY + m.bytes_up_ * partitions / BANDWIDTH + took / 8
        print(
            f"{alpha:<8g} {m.n_rounds_:6d} {m.bytes_up_ / 1e6:6.2f} {m.bytes_down_ / 1e6:8.2f} "
            f"{len(m.nonzero_features_):10d} {m.objective_ - plain.objective_:21.2e} {took:11.1f} {model:22.1f}",
            flush=True,
        )


def online(names=("rcv1", "amazon", "a9a"), alpha=1e-5):
    """Print error and non-zeros of one learner, of merged ones, and of the mean of the weights of learners apart."""
    print(f"alpha {alpha:g}, one pass, means of {SEEDS} seeds: test error / non-zeros")
    for name in names:
        X, y, X_test, y_test = load(name)
        found: dict[str, list] = {}

        def note(what, m, found=found, X_test=X_test, y_test=y_test):
            found.setdefault(what, []).append((1 - m.score(X_test, y_test), len(m.nonzero_features_)))

        for seed in range(SEEDS):
            order = np.random.default_rng(seed).permutation(len(y))
            made = {"alpha": alpha, "shuffle": False}
            note("one, the rule without a step", gs.OnlineClassifier(**made).fit(X[order], y[order]))
            note("one, AdaGrad", gs.OnlineClassifier(method="adagrad", **made).fit(X[order], y[order]))
            for count in (8, 64):
                parts = parts_of(X, y, count, order)
                made["client"] = "local"
                for merges in (1, 4):
                    note(f"P = {count}, merges={merges}", gd.OnlineClassifier(merges=merges, **made).fit(parts))
                if seed == 0:
                    free = gd.OnlineClassifier(method="step_free", merges=4, **made).fit(parts)
                    note(f"P = {count}, merges=4, the rule without a step (seed 0)", free)
                step = gs.OnlineClassifier(alpha=alpha, method="adagrad", shuffle=False)
                step = step.fit(X[order[::count]][:2048], y[order[::count]][:2048]).step_
                del made["client"]
                apart = [
                    gs.OnlineClassifier(method=gs.AdaGrad(step), **made).fit(X[order[n::count]], y[order[n::count]])
                    for n in range(count)
                ]
                W = np.mean([m.coef_ for m in apart], axis=0)
                z = X_test @ W[0] + np.mean([m.intercept_[0] for m in apart])
                error = np.mean(apart[0].classes_[(z > 0).astype(int)] != y_test)
                found.setdefault(f"P = {count}, mean of weights", []).append((error, np.count_nonzero(W)))
        for what, numbers in found.items():
            error, nonzeros = np.mean(numbers, axis=0)
            print(f"{name:8} {what:50} {error:.4f} / {nonzeros:,.0f}", flush=True)


def text():
    """Compare one process with two workers, each with one thread, on svmlight text: online, one pass."""
    from dask.distributed import Client, LocalCluster

    megabytes = int(os.environ.get("SIZE", "1000"))
    with tempfile.TemporaryDirectory() as folder:
        path, random, size = Path(folder, "big.svm"), np.random.default_rng(0), 0
        with path.open("w") as file:
            while size < megabytes * 1e6:
                index = np.sort(random.integers(1, 100_000, (2000, 60)), axis=1)
                value = random.random((2000, 60)).round(3)
                label = np.where(value[:, 0] + (index[:, 0] < 800) > 1, 1, -1)
                lines = [
                    f"{y} " + " ".join(f"{j}:{v}" for j, v in dict(zip(row, x, strict=True)).items()) + "\n"
                    for y, row, x in zip(label.tolist(), index.tolist(), value.tolist(), strict=True)
                ]
                size += file.write("".join(lines))
        print(f"{size / 1e6:.0f} MB of svmlight text, online, one pass")
        began = time.perf_counter()
        one = gs.OnlineClassifier(method="adagrad", shuffle=False).fit(path)
        alone = time.perf_counter() - began
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            began = time.perf_counter()
            two = gd.OnlineClassifier(client=client, merges=1, shuffle=False).fit(path)
            together = time.perf_counter() - began
        print(f"one process {alone:.1f} s; two workers {together:.1f} s, {together / alone:.2f} times as long")
        print(f"progressive loss {one.progressive_loss_:.4f} and {two.progressive_loss_:.4f}")


def seconds(size, workers, rounds=17, sent=3e6):
    """Return what a batch fit takes by the model: `size` bytes of text, `sent` bytes up a partition and worker."""
    alone = size / READING + PASSES * size / IN_MEMORY
    if workers == 1:
        return alone
    return alone / workers + rounds * LATENCY + sent * workers / BANDWIDTH + STARTING


def model():
    """Print from which size on workers pay, by the cost model, for a batch fit of 17 rounds and 3 MB a partition."""
    counts = (2, 8, 32, 128)
    print("model, not measured: seconds of a batch fit (17 rounds, 3 MB up a partition, 20 passes at 1 GB/s in memory)")
    print(
        "text          1 process" + "".join(f"{workers:4d} workers" for workers in counts) + "   best number of workers"
    )
    for size in (1e8, 1e9, 1e10, 1e11, 1e12):
        times = [seconds(size, workers) for workers in (1, *counts)]
        best = min(range(1, 2000), key=lambda workers, size=size: seconds(size, workers))
        print(f"{size / 1e9:7g} GB {times[0]:12.1f}" + "".join(f"{t:12.1f}" for t in times[1:]) + f"{best:25d}")
    for workers in counts:
        sizes = np.logspace(6, 13, 2000)
        pays = next(size for size in sizes if seconds(size, workers) < seconds(size, 1))
        print(f"{workers} workers are quicker than one process from {pays / 1e6:.0f} MB on")


PARTS = {"batch": batch, "online": online, "text": text, "model": model}


def main(names=("batch", "online", "model")):
    for name in names:
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:] or ("batch", "online", "model"))
