"""Small problems for the rows: data, every estimator, and files to attack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import gossamer as gs
from gossamer.cli import arguments
from gossamer.model import file_format
from gossamer.online.stream import Streaming

N, D = 40, 6
_random = np.random.default_rng(0)
DENSE = np.round(_random.normal(size=(N, D)) * (_random.random((N, D)) < 0.6), 3)
REAL = DENSE @ _random.normal(size=D) + 0.1 * _random.normal(size=N)
TWO = (REAL > 0).astype(int)

ESTIMATORS = {
    name: getattr(gs, name)
    for name in (
        "OnlineClassifier",
        "OnlineRegressor",
        "OnlineClassifierCV",
        "OnlineRegressorCV",
        "BatchClassifier",
        "BatchRegressor",
        "BatchClassifierCV",
        "BatchRegressorCV",
        "BoostingClassifier",
        "BoostingRegressor",
    )
}
SOME = ("OnlineClassifier", "OnlineRegressorCV", "BatchRegressor", "BatchClassifierCV", "BoostingClassifier")


def target(name: str) -> Any:
    """Return the target that an estimator learns."""
    return TWO if "Classifier" in name else REAL


def csr() -> Any:
    """Return a copy of the data as a CSR matrix."""
    return sp.csr_array(DENSE.copy())


def fitted(name: str, **settings: Any) -> Any:
    """Return an estimator that has learned the data."""
    return ESTIMATORS[name](**settings).fit(csr(), target(name))


def check(model: Any, X: Any = None) -> Any:
    """Require that weights and predictions are finite."""
    coef = model.coef_
    assert np.isfinite(coef.toarray() if sp.issparse(coef) else coef).all(), "weights are not finite"
    assert np.isfinite(np.asarray(model.intercept_)).all(), "intercepts are not finite"
    answers = model.predict(csr() if X is None else X)
    assert answers.dtype.kind in "OUS" or np.isfinite(answers).all(), "predictions are not finite"
    return model


def run(*words: Any) -> int:
    """Run the command line; return its exit code."""
    return arguments.main([str(word) for word in words])


def write(text: str | bytes, name: str = "a.csv") -> str:
    """Write a file; return its name."""
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return name


def svmlight(rows: int = N) -> str:
    """Return the data as text, repeated to have this many rows."""
    lines = [
        f"{TWO[i % N]} " + " ".join(f"{j + 1}:{x}" for j, x in enumerate(DENSE[i % N]) if x) + "\n" for i in range(rows)
    ]
    return "".join(lines)


def table(rows: int = N) -> str:
    """Return the data as a table with a column of words."""
    lines = [f"{DENSE[i % N, 0]},{'red' if i % 3 else 'blue'},{TWO[i % N]}\n" for i in range(rows)]
    return "x,color,y\n" + "".join(lines)


def model_file(name: str = "m.gsm") -> str:
    """Write a model of a table; return the name of its file."""
    if not Path("train.csv").exists():
        write(table(), "train.csv")
    assert run("train", "train.csv", "-o", name, "-q", "--alpha", "1e-4", "--method", "adagrad") == 0
    return name


def forged(path: str, change: Any, magic: bytes = file_format.MAGIC) -> str:
    """Change the header and the arrays of a file, and redo its checksum."""
    header, arrays = file_format.parse(Path(path).read_bytes())
    listed = header.pop("arrays")
    parts = {name: arrays[name].astype(kind) for name, kind, _ in listed}
    change(header, parts)
    listed = header.pop("arrays", [[name, a.dtype.str, len(a)] for name, a in parts.items()])
    sealed(path, json.dumps(header | {"arrays": listed}).encode(), b"".join(a.tobytes() for a in parts.values()), magic)
    return path


def sealed(path: str, header: bytes, arrays: bytes = b"", magic: bytes = file_format.MAGIC) -> str:
    """Write a file of a header and arrays with a right checksum."""
    body = magic + len(header).to_bytes(8, "little") + header + arrays
    Path(path).write_bytes(body + file_format.SUMS[magic][1]([body]))
    return path


def stopped(*settings: str, folder: str = "state", rows: int = 400, data: str = "a.svm", blocks: int = 3) -> list[str]:
    """Train with checkpoints and stop after some blocks; return the command that resumes."""
    from gossamer.sources import text

    text.BLOCK = 1000
    if not Path(data).exists():
        write(svmlight(rows) if data.endswith("svm") else table(rows), data)
    command = ["train", data, "-o", "m.gsm", "-q", "--checkpoint", folder, "--every", "1", *settings]
    learn, left = Streaming.learn, [blocks]

    def stopping(self: Any, block: Any, **how: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        learn(self, block, **how)

    Streaming.learn = stopping  # type: ignore[method-assign]
    try:
        assert run(*command) == 130
    finally:
        Streaming.learn = learn  # type: ignore[method-assign]
    assert checkpoint(folder).exists()
    return command


def checkpoint(folder: str = "state") -> Path:
    """Return the path of the checkpoint."""
    return Path(folder, "gossamer.checkpoint")
