"""Threads, forks, signals, memory and very wide data."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import gossamer as gs
from attacks.problems import (
    DENSE,
    ESTIMATORS,
    check,
    checkpoint,
    fitted,
    model_file,
    run,
    stopped,
    svmlight,
    table,
    target,
    write,
)
from attacks.rows import REFUSED_OR_SOUND, SOUND, Either, Row, exits, raises


def large(rows: int = 3000, columns: int = 2000) -> tuple[Any, Any]:
    random = np.random.default_rng(1)
    X = sp.random_array((rows, columns), density=0.01, rng=random).tocsr()
    return X, (np.asarray(X.sum(axis=1)).ravel() > 4.5).astype(int)


def together(works: list[Callable[[], Any]]) -> list[BaseException]:
    """Run all in threads at once; return what was raised."""
    failures: list[BaseException] = []
    start = threading.Barrier(len(works))

    def run_one(work: Callable[[], Any]) -> None:
        start.wait()
        try:
            for _ in range(8):
                work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run_one, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def learn_and(other: str, **settings: Any) -> None:
    """Two threads on one estimator: every row is learned from, or an exception says why not."""
    X, y = large()
    model = gs.OnlineClassifier(**settings).partial_fit(X, y, classes=[0, 1])
    before = model.t_
    works = [
        lambda: model.partial_fit(X, y),
        *[{"learn": lambda: model.partial_fit(X, y), "predict": lambda: model.predict(X)}[other]] * 2,
    ]
    failures = together(works)
    learning = 3 if other == "learn" else 1
    if not failures:
        assert model.t_ == before + learning * 8 * X.shape[0], "rows were lost in silence"
    for failure in failures:
        assert len(str(failure)) > 15, f"an exception without a sentence: {failure!r}"
        assert isinstance(failure, (RuntimeError, ValueError)), f"{failure!r}"
    assert np.isfinite(model.coef_).all()


def predicting(name: str) -> None:
    """Four threads predict with one estimator: all get the same answer as one."""
    X, y = large(400, 300)
    model = ESTIMATORS[name]().fit(X, y if "Classifier" in name else y * 1.5)
    want = model.predict(X)
    got: list[Any] = []
    failures = together([lambda: got.append(model.predict(X))] * 4)
    assert failures == []
    assert all(np.array_equal(answer, want) for answer in got)


def predicting_model() -> None:
    X, y = large(400, 300)
    model = gs.Model.of(gs.OnlineClassifier().fit(X, y))
    want, got = model.predict(X), []
    assert together([lambda: got.append(model.predict(X))] * 4) == []
    assert all(np.array_equal(answer, want) for answer in got)


def one_source() -> None:
    """Two threads read the blocks of one source: the rows come once each, or an exception says why not."""
    source = gs.source(write(svmlight(4000), "a.svm"), block=4000)
    counts: list[int] = []
    failures = together([lambda: counts.append(sum(len(b) for b in source.blocks()))] * 2)
    assert all(len(str(f)) > 15 for f in failures)
    assert all(count == 4000 for count in counts)


def thread_rows() -> list[Row]:
    rows = [
        Row(f"threads: {title}, learn and {other}", partial(learn_and, other, **settings), SOUND, seconds=10.0)
        for other in ("learn", "predict")
        for title, settings in {
            "fobos": {"method": gs.Fobos(0.1)},
            "auto": {},
            "simplex": {"method": gs.Fobos(0.1), "penalty": gs.Simplex(1.0)},
            "average": {"method": gs.RDA(1.0), "average": True},
        }.items()
    ]
    rows += [Row(f"threads: four predict with one {name}", partial(predicting, name), SOUND) for name in ESTIMATORS]
    rows += [Row("threads: four predict with one model", predicting_model, SOUND)]
    rows += [Row("threads: two read one source", one_source, REFUSED_OR_SOUND)]
    return rows


def in_child(work: Callable[[], Any], seconds: float = 5.0) -> None:
    """Run in a forked child: it must end by itself; what it raises is raised here."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work()
            os.write(into, b"ok")
        except BaseException as error:
            os.write(into, f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(0)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.WIFEXITED(status), f"the child died of {status}"
            words = os.read(out, 5000).decode()
            if words != "ok":
                raise RuntimeError(words)
            return
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


def half_read(kind: str) -> None:
    """A child goes on with a source that its parent has half read: it raises, or gets the rest."""
    if kind == "arrays":
        blocks = gs.source((np.ones((300_000, 2)), np.zeros(300_000))).blocks()
    else:
        text = svmlight(20_000)
        blocks = gs.source(write(text, f"a.{kind}"), "svmlight", block=2000).blocks()
    next(blocks)
    in_child(lambda: [len(block) for block in blocks])


def after_fit(name: str) -> None:
    """A child learns and predicts after its parent has used threads."""
    X, y = large(600, 200)
    ESTIMATORS[name]().fit(X, y if "Classifier" in name else y * 1.5)

    def again() -> None:
        check(ESTIMATORS[name]().fit(X, y if "Classifier" in name else y * 1.5), X)

    in_child(again, 20.0)


def fork_rows() -> list[Row]:
    either = Either((raises((RuntimeError, ValueError)), SOUND))
    rows = [
        Row(f"fork: a half read source, {kind}", partial(half_read, kind), either, 3.0) for kind in ("svm", "arrays")
    ]
    rows += [Row(f"fork: {name} after a fit", partial(after_fit, name), SOUND, 10.0) for name in ESTIMATORS]
    return rows


# Ctrl-C


def interrupt(after: float) -> threading.Event:
    """Send Ctrl-C after some seconds; return an event that is set by then."""
    sent = threading.Event()
    act = lambda: (time.sleep(after), sent.set(), os.kill(os.getpid(), signal.SIGINT))  # noqa: E731
    threading.Thread(target=act, daemon=True).start()
    return sent


def stops(work: Callable[[], Any], after: float = 0.4) -> None:
    """Ctrl-C ends it within a second: with KeyboardInterrupt, or with what it has."""
    warnings.simplefilter("ignore")
    begun = time.monotonic()
    sent = interrupt(after)
    with contextlib.suppress(KeyboardInterrupt):
        while not sent.is_set():  # what is quick is done again
            work()
        time.sleep(0.02)
    took, used = time.monotonic() - begun, time.process_time()
    assert took >= after * 0.9, "it ended before Ctrl-C: the row tests nothing"
    assert took < after + 1.0 or used < 1.0, f"it took {took - after:.1f} s to stop"


def slow(name: str) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 120))
    y = X[:, 0] + random.normal(size=len(X))
    y = (y > 0).astype(int) if "Classifier" in name else y * 1e4
    settings: dict[str, Any] = {}
    if name.startswith("Online"):
        settings = {"max_passes": 100_000, "tol": None}
    elif "CV" not in name and name.startswith("Batch"):
        settings = {
            "alpha": 1e-9,
            "tol": 1e-300,
            "max_iter": 10**9,
            "loss": "hinge" if "Classifier" in name else "quantile",
        }
    elif name.startswith("Batch"):
        settings = {"alphas": 400, "alpha_min_ratio": 1e-6, "tol": 1e-12}
    elif name.startswith("Boosting"):
        settings = {"max_rounds": 10**6} if "max_rounds" in ESTIMATORS[name]().get_params() else {}
    known = ESTIMATORS[name]().get_params()
    ESTIMATORS[name](**{k: v for k, v in settings.items() if k in known}).fit(X, y)


def slow_train(*options: str) -> None:
    run("train", write(svmlight(2000), "a.svm"), "-o", "m.gsm", "-q", "--passes", "100000", *options)


# What the installed command `gossamer` runs. While the interpreter itself starts, Ctrl-C is not ours to handle: the
# first call after `command` has taken care of it says that our code runs.
PROGRAM = "from gossamer.cli.start import command; command()"
TOLD = f"import gc, os; gc.set_threshold = lambda _: os.write(1, b'.'); {PROGRAM}"


def real_process(after: float, *words: str) -> None:
    """Ctrl-C in a process of its own: exit code 130 and at most one line, however early."""
    write(svmlight(2000), "a.svm")
    command = [sys.executable, "-c", TOLD, *words]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    process = subprocess.Popen(command, env=usual, **pipes)
    assert process.stdout is not None
    assert process.stdout.read(1) == b"."
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130, process.returncode
    assert errors in (b"", b"interrupted\n"), errors.decode()


def interrupt_rows() -> list[Row]:
    rows = [
        Row(f"Ctrl-C: fit of {name}", lambda n=name: stops(partial(slow, n)), SOUND, 5.0)
        for name in (
            "OnlineClassifier",
            "OnlineRegressorCV",
            "BatchClassifier",
            "BatchRegressor",
            "BatchClassifierCV",
            "BatchRegressorCV",
        )
    ]
    rows += [
        Row("Ctrl-C: train", lambda: stops(slow_train), SOUND, 5.0),
        Row("Ctrl-C: train with checkpoints", lambda: stops(partial(slow_train, "--checkpoint", "c")), SOUND, 5.0),
        Row("Ctrl-C: train from a pipe that is silent", silent_pipe, SOUND, 5.0),
        Row("Ctrl-C: a source that waits", waiting_source, SOUND, 5.0),
    ]
    rows += [
        Row(
            f"Ctrl-C: a process {int(1000 * after)} ms old",
            partial(real_process, after, "train", "a.svm", "-o", "m.gsm", "-q", "--passes", "100000"),
            SOUND,
            5.0,
        )
        for after in (0.0, 0.1, 0.2, 0.35)
    ]
    return rows


def silent_pipe() -> None:
    out, _ = os.pipe()
    os.dup2(out, 0)
    stops(lambda: run("train", "-", "--format", "svmlight", "-o", "m.gsm", "-q"))


def waiting_source() -> None:
    os.mkfifo("f")
    keep = os.open("f", os.O_RDWR)
    stops(lambda: list(gs.source("f", "svmlight").blocks()))
    os.close(keep)


# Memory and width


def three_entries(columns: int) -> tuple[Any, Any]:
    X = sp.csr_array((np.ones(3), ([0, 1, 2], [0, 5, columns - 1])), shape=(4, columns))
    return X, np.array([0, 1, 0, 1])


def wide_fit(name: str, columns: int, **settings: Any) -> None:
    X, y = three_entries(columns)
    model = ESTIMATORS[name](**settings).fit(X, y if "Classifier" in name else y * 1.5)
    assert len(model.predict(X)) == 4


WIDE = ("OnlineClassifier", "OnlineRegressorCV", "BatchClassifier", "BatchRegressorCV")


def wide_rows() -> list[Row]:
    said = raises((ValueError, MemoryError), "memory", "GB", "GiB", "MB", "bytes", "allocate")
    must = Either((said, SOUND))
    rows = []
    for name in ESTIMATORS:
        widths = {2**31 - 1: "2^31 - 1", 10**8: "10^8"} if name in WIDE else {2**31 - 1: "2^31 - 1"}
        for columns, words in widths.items():
            rows.append(
                Row(f"wide: {name} on {words} columns", partial(wide_fit, name, columns), must, 5.0, needs_limit=True)
            )
    rows += [
        Row(
            "wide: train on feature 2^31 - 2",
            lambda: wide_train("2147483646"),
            Either((exits(0), exits(1, "memory", "GB", "GiB"))),
            5.0,
            needs_limit=True,
        ),
        Row(
            "wide: train on feature 5 · 10^6",
            lambda: wide_train("5000000"),
            Either((exits(0), exits(1, "memory", "GB", "GiB"))),
            10.0,
            3000,
            needs_limit=True,
        ),
        Row("memory: a fit that does not fit", no_memory, raises(MemoryError), needs_limit=True),
    ]
    return rows


def wide_train(feature: str) -> int:
    text = f"1 {feature}:1\n0 1:1\n" * 5
    return run("train", write(text, "a.svm"), "-o", "m.gsm", "-q", "--max-features", "2147483647", "--alpha", "0.1")


def no_memory() -> None:
    X = np.broadcast_to(np.ones(1), (2000, 150_000))
    gs.BatchRegressor().fit(X, np.arange(2000.0))


# Several processes on one folder


def two_on_one_folder() -> None:
    """A second run on a checkpoint folder that is in use is refused, or both end well."""
    command = stopped("--alpha", "0.01")
    assert checkpoint().exists()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *command[:3], f"m{i}.gsm", *command[4:]], stderr=subprocess.PIPE
        )
        for i in range(3)
    ]
    codes = []
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert b"Traceback" not in errors, errors.decode()
        codes.append(process.returncode)
    assert 0 in codes
    models = {Path(f"m{i}.gsm").read_bytes() for i, code in enumerate(codes) if code == 0}
    assert len(models) == 1, "the runs gave different models"


def closed_pipe() -> None:
    """The reader of the predictions goes away: exit without a traceback."""
    model_file()
    write(table(60_000), "big.csv")
    command = [sys.executable, "-c", PROGRAM, "predict", "m.gsm", "big.csv"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    words = process.stderr.read().decode()
    code = process.wait(timeout=30)
    assert (code, words) == (1, ""), (code, words)


def diverging(name: str, **settings: Any) -> None:
    check(ESTIMATORS[name](**settings).fit(DENSE, target(name)))


def other_rows() -> list[Row]:
    steps: dict[str, Any] = {
        "fobos": gs.Fobos(1e300),
        "rda": gs.RDA(1e-300),
        "adagrad": gs.AdaGrad(1e300),
        "ftrl": gs.FTRL(1e300),
        "truncated gradient": gs.TruncatedGradient(1e300),
        "subgradient": gs.Subgradient(1e300),
        "fobos, 1e30": gs.Fobos(1e30),
        "a growing schedule": gs.Fobos(lambda t: 2.0**t),
    }
    rows = [
        Row(f"diverging: {kind}, {name}", partial(diverging, name, method=method, max_passes=20), REFUSED_OR_SOUND)
        for kind, method in steps.items()
        for name in ("OnlineRegressor", "OnlineClassifier")
    ]
    rows += [
        Row("two processes on one checkpoint folder", two_on_one_folder, SOUND, 10.0),
        Row("predict into a pipe that is closed", closed_pipe, SOUND, 10.0),
        Row("a checkpoint folder without rights", no_rights, exits(1), 5.0),
        Row("predictions of a fitted estimator are finite", lambda: check(fitted("BatchRegressor")), SOUND),
        Row("a learner that raised is as before", unchanged, SOUND),
    ]
    return rows


def no_rights() -> int:
    Path("c").mkdir()
    Path("c/gossamer.checkpoint").symlink_to("/proc/self/mem")
    return run("train", write(svmlight(), "a.svm"), "-o", "m.gsm", "-q", "--checkpoint", "c")


def unchanged() -> None:
    model = gs.OnlineRegressor(method=gs.Fobos(0.1)).fit(DENSE, DENSE[:, 0])
    before, t = model.coef_.copy(), model.t_
    try:
        model.partial_fit(DENSE * 1e200, DENSE[:, 0] * 1e200)
    except ValueError:
        assert model.t_ == t
        assert np.array_equal(model.coef_, before)
    assert np.isfinite(model.coef_).all()


ROWS = [*thread_rows(), *fork_rows(), *interrupt_rows(), *wide_rows(), *other_rows()]
