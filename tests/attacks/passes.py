"""Data that is read in passes or in partitions: certificates, exact fits, Dask; offsets, and batches of rows."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import distributed  # noqa: F401 (it is loaded before the rows fork)
import numpy as np
import scipy.sparse as sp

import dask
import gossamer as gs
import gossamer.dask as gd
from attacks.matrices import BAD_WEIGHTS, MALFORMED, NUMBERS, WEIGHTS, spread
from attacks.problems import (
    DENSE,
    ESTIMATORS,
    REAL,
    TWO,
    D,
    N,
    check,
    csr,
    fitted,
    model_file,
    run,
    svmlight,
    target,
    write,
)
from attacks.processes import stops
from attacks.rows import REFUSED_OR_SOUND, SOUND, Row, exits, raises, refused

INVALID = raises(ValueError, "CSR", "indptr", "indices", "index")


# Data read in passes


def by_source(name: str, X: Any, y: Any = None, **settings: Any) -> Any:
    return ESTIMATORS[name](**settings).fit_source(gs.source((X, target(name) if y is None else y)))


def proved(X: Any, y: Any = None, weight: Any = None, **how: Any) -> None:
    """Certify a model on this data: a gap that is a number and not negative."""
    parts = (X, TWO if y is None else y) + (() if weight is None else (weight,))
    proof = gs.certify(fitted("BatchClassifier", alpha=0.01), [parts], **how)
    assert proof.gap >= 0, proof
    assert np.isfinite(proof.objective), proof
    assert not np.isnan(proof.bound), proof


def pass_rows() -> list[Row]:
    rows = []
    for kind, make in MALFORMED.items():
        for name in ("BatchClassifier", "BatchRegressor"):
            rows.append(Row(f"fit_source of {name}, {kind}", lambda n=name, m=make: by_source(n, m()), INVALID))
        rows.append(Row(f"certify, {kind}", lambda m=make: proved(m()), INVALID))
    for kind, X in NUMBERS.items():
        for name in ("BatchClassifier", "BatchRegressor"):
            must = REFUSED_OR_SOUND
            rows.append(Row(f"fit_source of {name} on {kind}", lambda n=name, x=X: check(by_source(n, x), x), must))
        rows.append(Row(f"certify on {kind}", partial(proved, X), REFUSED_OR_SOUND))
    for value in (np.nan, np.inf):
        rows.append(Row(f"certify on {value}", partial(proved, spread(value)), refused("nan", "inf")))
        rows.append(
            Row(
                f"fit_source of BatchRegressor on {value}",
                partial(by_source, "BatchRegressor", spread(value)),
                refused(),
            )
        )
    for kind, weight in (WEIGHTS | BAD_WEIGHTS).items():
        must = refused() if kind in BAD_WEIGHTS else REFUSED_OR_SOUND
        rows.append(Row(f"certify with weights {kind}", partial(proved, csr(), None, weight), must))
        rows.append(Row(f"fit_source of BatchClassifier with weights {kind}", partial(weighted, weight), must))
    odd: dict[str, tuple[Callable[[], Any], Any]] = {
        "no rows": (lambda: proved(csr()[:0], TWO[:0]), refused("rows")),
        "other labels": (lambda: proved(csr(), TWO + 5), refused("label", "class")),
        "labels that are numbers": (lambda: proved(csr(), REAL), refused("regress", "label", "class")),
        "more columns": (lambda: proved(sp.csr_array(np.hstack([DENSE, DENSE]))), refused("columns")),
        "fewer columns": (lambda: proved(csr()[:, :2]), REFUSED_OR_SOUND),
        "a strength of nan": (lambda: proved(csr(), alpha=np.nan), refused("alpha")),
        "a strength below zero": (lambda: proved(csr(), alpha=-1.0), refused("alpha")),
        "a penalty of groups beyond": (lambda: proved(csr(), penalty=gs.GroupL2(groups=[0] * 99)), refused("group")),
        "a penalty that is no penalty": (lambda: proved(csr(), penalty="dance"), refused("dance")),
        "a model without weights": (lambda: gs.certify(gs.BatchClassifier(), (csr(), TWO)), raises(Exception, "fit")),
        "a model that is a number": (lambda: gs.certify(3, (csr(), TWO)), refused()),
    }
    return rows + [Row(f"certify: {kind}", do, must) for kind, (do, must) in odd.items()]


def weighted(weight: Any) -> None:
    check(gs.BatchClassifier().fit_source([(csr(), TWO, weight)]))


class Changing(gs.source((csr(), TWO)).__class__):  # type: ignore[misc]
    """A source that has other rows in each pass."""

    passes = 0

    def _read(self, start: Any) -> Any:
        self.passes += 1
        self.parts = [(csr()[: N - 3 * self.passes], TWO[: N - 3 * self.passes])]
        yield from super()._read(start)


def wide(width: int) -> Any:
    X = csr()
    return sp.csr_array((X.data, X.indices.astype(np.int64) * ((width - 1) // D), X.indptr), shape=(N, width))


SETTINGS: dict[str, tuple[Callable[[], Any], Any]] = {
    "memory of nothing": (lambda: gs.BatchClassifier().fit_source((csr(), TWO), memory=0), refused("memory")),
    "memory of nan": (lambda: gs.BatchClassifier().fit_source((csr(), TWO), memory=np.nan), refused("memory")),
    "memory below zero": (lambda: gs.BatchClassifier().fit_source((csr(), TWO), memory=-5), refused("memory")),
    "memory that is a word": (lambda: gs.BatchClassifier().fit_source((csr(), TWO), memory="all"), refused("memory")),
    "memory of a byte": (
        lambda: gs.BatchClassifier().fit_source((csr(), TWO), memory=1),
        raises(MemoryError, "memory"),
    ),
    "an iterator": (lambda: gs.BatchClassifier().fit_source(iter([(csr(), TWO)])), refused("several times", "once")),
    "no labels": (lambda: gs.BatchClassifier().fit_source([(csr(),)]), refused("label")),
    "no rows": (lambda: gs.BatchClassifier().fit_source((csr()[:0], TWO[:0])), refused("rows")),
    "one class": (lambda: gs.BatchClassifier().fit_source((csr(), np.ones(N, int))), refused("class", "label")),
    "2^31 - 1 columns": (
        lambda: gs.BatchClassifier().fit_source((wide(2**31 - 1), TWO)),
        raises(MemoryError, "columns"),
    ),
    "10^8 columns": (lambda: gs.BatchClassifier().fit_source((wide(10**8), TWO)), raises(MemoryError, "columns")),
    "rows that change between passes": (
        lambda: gs.BatchClassifier().fit_source(Changing([(csr(), TWO)]), memory=7000),
        refused("changed", "rows"),
    ),
}

# Offsets

OFFSETS: dict[str, tuple[Any, Any]] = {
    "nan": (np.where(np.arange(N) == 3, np.nan, 0.0), refused("offset")),
    "infinity": (np.where(np.arange(N) == 3, np.inf, 0.0), refused("offset")),
    "1e308": (np.full(N, 1e308), refused("offset")),
    "1e200 and -1e200": (np.where(np.arange(N) % 2, 1e200, -1e200), refused("offset")),
    "1e70 and -1e70": (np.where(np.arange(N) % 2, 1e70, -1e70), REFUSED_OR_SOUND),
    "1e8": (np.full(N, 1e8), REFUSED_OR_SOUND),
    "denormals": (np.full(N, 5e-324), SOUND),
    "too few": (np.zeros(N - 1), refused("offset")),
    "two columns": (np.zeros((N, 2)), refused("offset")),
    "words": (np.full(N, "far"), refused("offset")),
    "dates": (np.full(N, 3, "datetime64[s]"), refused("offset")),
    "a mask": (np.ma.masked_array(np.zeros(N), np.arange(N) > 3), refused("offset")),
    "a number": (3.0, refused("offset")),
    "complex numbers": (np.full(N, 1j), refused("offset")),
}


def offset_rows() -> list[Row]:
    rows = []
    for kind, (offset, must) in OFFSETS.items():
        for name in ESTIMATORS:
            rows.append(
                Row(
                    f"fit {name}, offsets: {kind}",
                    lambda n=name, o=offset: check(ESTIMATORS[n]().fit(csr(), target(n), offset=o)),
                    must,
                )
            )
    for kind in ("nan", "too few", "words", "a mask"):
        for name in ("OnlineClassifier", "BatchRegressor"):
            offset = OFFSETS[kind][0]
            rows.append(
                Row(
                    f"predict {name}, offsets: {kind}",
                    lambda n=name, o=offset: fitted(n).predict(csr(), offset=o),
                    refused("offset"),
                )
            )
    return rows


def table_with_offset(cells: list[str]) -> int:
    write("x,far,y\n" + "".join(f"{DENSE[i, 0]},{cells[i % len(cells)]},{TWO[i]}\n" for i in range(N)))
    code = run("train", "a.csv", "-o", "m.gsm", "-q", "--offset", "far")
    if code == 0:
        assert np.isfinite(gs.load("m.gsm").value).all()
    return code


# Batches of rows


def in_batches(size: Any, method: str = "fobos", count: int = N) -> None:
    model = gs.OnlineClassifier(method=method, batch_size=size).fit(csr()[:count], TWO[:count])
    assert np.isfinite(model.coef_).all()


BATCHES: dict[str, tuple[Callable[[], Any], Any]] = {
    "0": (lambda: in_batches(0), refused("batch_size")),
    "-1": (lambda: in_batches(-1), refused("batch_size")),
    "2.5": (lambda: in_batches(2.5), refused("batch_size")),
    "nan": (lambda: in_batches(np.nan), refused("batch_size")),
    "10^12": (lambda: in_batches(10**12), SOUND),
    "10^30": (lambda: in_batches(10**30), REFUSED_OR_SOUND),
    "40, of a rule without a step": (lambda: in_batches(40, "step_free"), REFUSED_OR_SOUND),
    "40, of the default": (lambda: in_batches(40, "auto"), REFUSED_OR_SOUND),
}


# Partitions


def parted(name: str, X: Any, y: Any = None, weight: Any = None, **settings: Any) -> Any:
    """Learn from two partitions in this process."""
    y = target(name) if y is None else y
    half, blocks = N // 2, []
    for some in (slice(0, half), slice(half, N)):
        part = (X if some.start == 0 else csr()[some], y[some] if some.start else y[: X.shape[0]])
        blocks.append(dask.delayed(part if weight is None else (*part, weight[some])))
    return OVER_PARTITIONS[name](client="local", **PARTED.get(name, {}), **settings).fit(blocks)


def malformed_half(make: Callable[[], Any]) -> Any:
    """Return the first half of a matrix whose arrays are wrong."""
    X = make()
    half = N // 2
    out = sp.csr_array(csr()[:half])
    out.indptr, out.indices, out.data = X.indptr[: half + 1], X.indices, X.data
    return out


OVER_PARTITIONS = {
    name: getattr(gd, name)  # loaded before the rows fork
    for name in (
        "OnlineClassifier",
        "OnlineRegressor",
        "OnlineClassifierCV",
        "BatchClassifier",
        "BatchRegressor",
        "BatchRegressorCV",
    )
}
PARTED: dict[str, dict[str, Any]] = {
    "OnlineRegressor": {},
    "OnlineClassifierCV": {"alphas": 4},
    "BatchClassifier": {},
    "BatchRegressorCV": {"alphas": 4, "cv": 2},
}
ODD_PARTS: dict[str, tuple[Callable[[], Any], Any]] = {
    "a masked array": (lambda: np.ma.masked_array(DENSE[: N // 2], DENSE[: N // 2] > 0), refused("mask")),
    "dates": (lambda: DENSE[: N // 2].astype("datetime64[s]"), refused("dates")),
    "words": (lambda: np.full((N // 2, D), "word"), refused()),
    "complex numbers": (lambda: DENSE[: N // 2] + 1j, refused()),
    "sparse complex numbers": (lambda: sp.csr_array(DENSE[: N // 2] + 1j), refused()),
    "three dimensions": (lambda: DENSE[: N // 2, :, None], refused()),
    "one dimension": (lambda: DENSE[0], refused()),
    "nan": (lambda: spread(np.nan)[: N // 2], refused("nan")),
    "1e200": (lambda: spread(1e200)[: N // 2], REFUSED_OR_SOUND),
    "fewer columns": (lambda: DENSE[: N // 2, :2], REFUSED_OR_SOUND),
    "no rows": (lambda: DENSE[:0], SOUND),
    "2^31 columns": (lambda: sp.csr_array((N // 2, 2**31)), raises((ValueError, MemoryError))),
    "2^31 - 1 columns": (lambda: wide(2**31 - 1)[: N // 2], raises(MemoryError, "columns", "features")),
}


def part_rows() -> list[Row]:
    rows = []
    for name in PARTED:
        cut = {kind: make for kind, make in MALFORMED.items() if kind != "indptr ends too far"}
        for kind, make in cut.items():
            rows.append(
                Row(f"partitions: {name}, {kind}", lambda n=name, m=make: parted(n, malformed_half(m)), INVALID)
            )
        for kind, (X, must) in ODD_PARTS.items():
            rows.append(Row(f"partitions: {name}, {kind}", lambda n=name, x=X: check(parted(n, x())), must))
        for kind in ("negative", "NaN", "infinite", "words", "all zero"):
            bad = BAD_WEIGHTS[kind]
            rows.append(
                Row(
                    f"partitions: {name}, weights {kind}",
                    lambda n=name, w=bad: parted(n, csr()[: N // 2], None, w),
                    refused(),
                )
            )
        for kind, weight in WEIGHTS.items():
            rows.append(
                Row(
                    f"partitions: {name}, weights {kind}",
                    lambda n=name, w=weight: check(parted(n, csr()[: N // 2], None, w)),
                    REFUSED_OR_SOUND,
                )
            )
    for name in ("OnlineRegressor", "BatchRegressor"):
        rows.append(
            Row(
                f"partitions: {name}, negative targets of poisson",
                lambda n=name: parted(n, csr()[: N // 2], REAL, loss="poisson"),
                refused("poisson", "negative"),
            )
        )
        dates = REAL.astype("datetime64[s]")
        rows.append(
            Row(
                f"partitions: {name}, targets of dates",
                lambda n=name, y=dates: parted(n, csr()[: N // 2], y),
                refused(),
            )
        )
    for name in ("OnlineClassifier", "BatchClassifier"):
        rows.append(
            Row(
                f"partitions: {name}, labels of nan",
                lambda n=name: parted(n, csr()[: N // 2], np.where(TWO, np.nan, 1.0)),
                refused(),
            )
        )
        rows.append(
            Row(f"partitions: {name}, one class", lambda n=name: parted(n, csr()[: N // 2], TWO * 0), refused("class"))
        )
    return rows


def checkpointed(path: Any) -> Any:
    return check(parted("BatchClassifier", csr()[: N // 2], checkpoint=path))


def to_special(make: Callable[[str], Any]) -> None:
    """A checkpoint of partitions whose place is no file is refused, and the place stays what it was."""
    make("c.npz")
    before = os.lstat("c.npz").st_mode
    try:
        checkpointed("c.npz")
    finally:
        assert os.lstat("c.npz").st_mode == before


def through_a_link() -> None:
    checkpointed("real.npz")
    Path("real.npz").chmod(0o600)
    Path("c.npz").symlink_to("real.npz")
    inode = Path("real.npz").stat()
    checkpointed("c.npz")
    assert Path("c.npz").is_symlink()
    assert stat.S_IMODE(Path("real.npz").stat().st_mode) == 0o600
    assert inode.st_ino


def garbled(change: Callable[[dict[str, Any]], dict[str, Any]] | bytes) -> None:
    checkpointed("c.npz")
    if isinstance(change, bytes):
        Path("c.npz").write_bytes(change)
    else:
        with np.load("c.npz") as saved:
            parts = dict(saved)
        np.savez("c.npz", **change(parts))
    checkpointed("c.npz")


GARBLED: dict[str, Any] = {
    "that is text": b"text",
    "that is empty": b"",
    "without weights": lambda p: {"intercept": p["intercept"]},
    "without intercepts": lambda p: {"coef": p["coef"]},
    "of nan": lambda p: p | {"coef": p["coef"] * np.nan},
    "of words": lambda p: p | {"coef": np.full(p["coef"].shape, "a")},
    "of 1e300": lambda p: p | {"coef": p["coef"] * 0 + 1e300},
    "of objects": lambda p: p | {"coef": np.full(p["coef"].shape, None, object)},
    "of two intercepts": lambda p: p | {"intercept": np.ones(2)},
    "of an intercept that is a word": lambda p: p | {"intercept": np.array(["a"])},
    "of another shape": lambda p: p | {"coef": np.ones((3, 3))},
}


# Ctrl-C


def long_passes(make: Callable[[Any, Any], Any]) -> None:
    """Ctrl-C ends what reads much data several times."""
    random = np.random.default_rng(0)
    X = random.normal(size=(6000, 100))
    y = (X[:, 0] + random.normal(size=len(X)) > 0).astype(int)
    stops(partial(make, X, y))


def over_partitions(name: str, X: Any, y: Any) -> None:
    blocks = [dask.delayed((X[i::4], y[i::4])) for i in range(4)]
    OVER_PARTITIONS[name](client="local", max_iter=10**6, tol=0.0).fit(blocks)


WITHOUT_END: dict[str, Callable[[Any, Any], Any]] = {
    "fit_source of BatchClassifier": lambda X, y: gs.BatchClassifier(alpha=1e-5, tol=0.0, max_iter=10**6).fit_source(
        (X, y)
    ),
    "fit_source of BatchRegressor in passes": lambda X, y: gs.BatchRegressor(
        alpha=1e-5, tol=0.0, max_iter=10**6
    ).fit_source((X, y), memory=4e6),
    "certify": lambda X, y: gs.certify(gs.BatchClassifier(alpha=1e-3).fit(X, y), [(X, y)] * 50),
    "partitions": partial(over_partitions, "BatchClassifier"),
    "partitions of BatchRegressorCV": partial(over_partitions, "BatchRegressorCV"),
    "boosting": lambda X, y: gs.BoostingClassifier(alpha=1e-6, features="products", max_rounds=10**6).fit(X, y),
}


# The command line


def exact(*words: str) -> int:
    write(svmlight(), "a.svm")
    code = run("train", "a.svm", "-o", "m.gsm", "-q", "--exact", *words)
    if code == 0:
        assert np.isfinite(gs.load("m.gsm").value).all()
    return code


def certify(*words: str, data: str | None = None) -> int:
    model_file()
    return run("certify", "m.gsm", "train.csv" if data is None else write(data, "other.csv"), *words)


COMMANDS: dict[str, tuple[Callable[[], Any], Any]] = {
    "train --exact": (exact, exits(0)),
    "train --exact --memory 0": (lambda: exact("--memory", "0"), exits(2, "memory")),
    "train --exact --memory nan": (lambda: exact("--memory", "nan"), exits(2, "memory")),
    "train --exact --memory 1": (lambda: exact("--memory", "1"), exits(1, "--memory")),
    "train --exact --memory, a word": (lambda: exact("--memory", "much"), exits(2, "memory")),
    "train --exact --memory, an empty word": (lambda: exact("--memory", ""), exits(2, "memory")),
    "train --exact --tol -1": (lambda: exact("--tol", "-1"), exits(2, "tol")),
    "train --exact --grow": (lambda: exact("--grow"), exits(2, "grow")),
    "train --memory without --exact": (
        lambda: run("train", write(svmlight(), "a.svm"), "--memory", "1G"),
        exits(2, "--exact"),
    ),
    "train --exact -o a FIFO": (lambda: (os.mkfifo("f"), exact("-o", "f"))[1], exits(1, "pipe")),
    "train --exact -": (lambda: run("train", "-", "--format", "svmlight", "--exact", "-q"), exits(2, "standard input")),
    "train --batch-size 0": (
        lambda: run("train", write(svmlight(), "a.svm"), "--batch-size", "0"),
        exits(2, "--batch-size"),
    ),
    "train --workers 0": (lambda: run("train", write(svmlight(), "a.svm"), "--workers", "0"), exits(2, "--workers")),
    "train --dask of nowhere": (
        lambda: run("train", write(svmlight(), "a.svm"), "--dask", "nonsense://x"),
        exits(1),
    ),
    "train --offset, a word": (lambda: table_with_offset(["0", "far"]), exits(1, "far")),
    "train --offset, infinity": (lambda: table_with_offset(["0", "inf"]), exits(1)),
    "train --offset, 1e300": (lambda: table_with_offset(["0", "1e300"]), exits(1, "offset")),
    "train --offset, empty cells": (lambda: table_with_offset(["0", ""]), exits(1)),
    "train --offset of no column": (
        lambda: (write("x,y\n1,0\n2,1\n"), run("train", "a.csv", "--offset", "z"))[1],
        exits(1, "'z'"),
    ),
    "train --offset, the target": (
        lambda: (write("x,y\n1,0\n2,1\n"), run("train", "a.csv", "--offset", "y"))[1],
        exits(1, "y"),
    ),
    "certify": (certify, exits(0)),
    "certify of other columns": (lambda: certify(data="a,y\n1,0\n2,1\n"), exits(1)),
    "certify of an empty file": (lambda: certify(data=""), exits(1)),
    "certify of a header": (lambda: certify(data="x,color,y\n"), exits(1)),
    "certify of other labels": (lambda: certify(data="x,color,y\n1,red,7\n2,blue,8\n"), exits(1)),
    "certify --alpha -1": (lambda: certify("--alpha", "-1"), exits(2, "alpha")),
    "certify --penalty, a word": (lambda: certify("--penalty", "dance"), exits(2, "dance")),
    "certify of no model": (lambda: run("certify", write("text", "m.gsm"), write("x,y\n1,0\n")), exits(1)),
    "demo, its table is a FIFO": (
        lambda: (Path("d").mkdir(), os.mkfifo("d/rents.csv"), run("demo", "d"))[2],
        exits(1, "pipe"),
    ),
    "certify of no file": (lambda: (model_file(), run("certify", "m.gsm", "nowhere.csv"))[1], exits(1, "nowhere")),
}


def rows() -> list[Row]:
    made = pass_rows() + offset_rows() + part_rows()
    made += [Row(f"fit_source: {kind}", do, must) for kind, (do, must) in SETTINGS.items()]
    made += [Row(f"batches of {kind}", do, must) for kind, (do, must) in BATCHES.items()]
    made += [
        Row(f"partitions: a checkpoint {kind}", partial(garbled, how), REFUSED_OR_SOUND)
        for kind, how in GARBLED.items()
    ]
    made.append(Row("partitions: a checkpoint that is a FIFO", partial(to_special, os.mkfifo), raises(OSError, "pipe")))
    made.append(
        Row("partitions: a checkpoint that is a folder", partial(to_special, os.mkdir), raises(OSError, "folder"))
    )
    made.append(
        Row("partitions: a checkpoint that is a device", lambda: checkpointed("/dev/null"), raises(OSError, "device"))
    )
    made += [Row(f"Ctrl-C: {kind}", partial(long_passes, make), SOUND, 5.0) for kind, make in WITHOUT_END.items()]
    made.append(Row("partitions: a checkpoint behind a link", through_a_link, SOUND))
    return made + [Row(kind, do, must) for kind, (do, must) in COMMANDS.items()]


ROWS = rows()
