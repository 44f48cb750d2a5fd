"""Files that earlier revisions wrote: checkpoints of runs that were killed, and models of every kind.

The runs read data that is made anew from a seed wherever it is needed.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import gossamer as gs
from golden import online
from golden.problems import SIGNS, X

ROWS, WIDTH = 3000, 24
EARLY, LATE = 100, 2400  # rows at the checkpoint: while the first rows decide on a step, and after
CHECKPOINT = "gossamer.checkpoint"


@dataclass(frozen=True)
class Run:
    """A command `gossamer train DATA -o … SETTINGS`, killed after its first checkpoint."""

    data: str
    settings: tuple[str, ...] = ()
    rows: int = LATE

    def command(self, output, checkpoints=None):
        words = ["train", self.data, "-o", output, "-q", *self.settings]
        return words if checkpoints is None else [*words, "--checkpoint", checkpoints, "--every", str(self.rows)]


def run(data, settings="", rows=LATE):
    return Run(data, tuple(settings.split()), rows)


RUNS = {
    "default, one strength": run("two.svm", "--alpha 1e-3"),
    "default, one strength, early": run("two.svm", "--alpha 1e-3", EARLY),
    "default, path": run("two.svm", "--path 3"),
    "default, path, early": run("two.svm", "--path 3", EARLY),
    "default, path, three classes": run("three.svm", "--path 2"),
    "default, regression": run("real.svm", "--alpha 1e-3 --loss squared"),
    "default, regression, path": run("real.svm", "--path 2 --loss squared"),
    "default, classes as they come": run("three.svm", "--alpha 1e-3 --grow --method adagrad(step=0.3)", EARLY),
    "adagrad group l2, three classes": run("three.svm", "--alpha 1e-2 --method adagrad(step=0.3) --penalty group_l2"),
    "fobos l1": run("two.svm", "--alpha 1e-3 --method fobos(step=0.5)", EARLY),
    "fobos l1, three classes": run("three.svm", "--alpha 1e-3 --method fobos(step=0.5)", EARLY),
    "fobos l1, path": run("two.svm", "--path 3 --method fobos(step=0.5)"),
    "fobos berhu": run("two.svm", "--alpha 1e-2 --method fobos(step=0.5) --penalty berhu(0.25)", EARLY),
    "fobos elastic net": run("two.svm", "--alpha 1e-2 --method fobos(step=0.5) --penalty elastic_net", EARLY),
    "fobos l1 ball": run("two.svm", "--method fobos(step=0.5) --penalty l1_ball(5.0)", EARLY),
    "fobos l2": run("two.svm", "--alpha 1e-2 --method fobos(step=0.5) --penalty l2_norm", EARLY),
    "rda l1": run("two.svm", "--alpha 1e-2 --method rda(gamma=1.0)", EARLY),
    "rda l1, three classes": run("three.svm", "--alpha 1e-2 --method rda(gamma=1.0)", EARLY),
    "rda group l2, path": run("three.svm", "--path 2 --method rda(gamma=1.0) --penalty group_l2"),
    "ftrl elastic net": run("two.svm", "--alpha 1e-2 --method ftrl(step=0.5) --penalty elastic_net", EARLY),
    "ftrl l1, path": run("two.svm", "--path 2 --method ftrl(step=0.5)"),
    "truncated gradient": run("two.svm", "--alpha 1e-3 --method truncated_gradient(step=0.5)", EARLY),
    "subgradient": run("two.svm", "--alpha 1e-2 --method subgradient(step=0.5) --penalty l2_squared", EARLY),
    "pegasos": run("two.svm", "--alpha 1e-2 --method pegasos --penalty l2_squared --loss hinge", EARLY),
    "eg": run("two.svm", "--method eg(radius=3.0,step=0.3) --penalty none", EARLY),
    "two passes": run("two.svm", "--alpha 1e-3 --passes 2 --holdout 0.1", ROWS + EARLY),
    "exact names": run("two.vw", "--alpha 1e-3 --bits 0"),
    "hashed names": run("two.vw", "--alpha 1e-3 --bits 7"),
    "categories": run("two.csv", "--alpha 1e-3 --one-hot"),
}


def write_data(folder, name, other_before=0):
    """Write one of the files; the first rows, `other_before` of them, get other labels of the same length."""
    kind, ending = name.split(".")
    random = np.random.RandomState(0)
    scores = random.randint(-2, 3, (WIDTH, 3))
    lines = ["x,kind,target"] if ending == "csv" else []
    for i in range(ROWS):
        index = np.unique(random.randint(0, WIDTH, 5))
        value = random.randint(1, 17, len(index)) / 8
        z = value @ scores[index] + random.randint(-8, 9, 3) / 8
        label = {"two": int(z[0] > 0), "three": int(np.argmax(z)), "real": 5 + int(np.clip(z[0], -5, 4))}[kind]
        if i < other_before:
            label = {"two": 1 - label, "three": (label + 1) % 3, "real": 9 - label}[kind]
        if ending == "csv":
            lines.append(f"{value[0]},{'abcdef'[index[0] % 6]},{label}")
        elif ending == "vw":
            lines.append(f"{'-+'[label]}1 | " + " ".join(f"w{j}:{x}" for j, x in zip(index, value, strict=True)))
        else:
            lines.append(f"{label} " + " ".join(f"{j + 1}:{x}" for j, x in zip(index, value, strict=True)))
    Path(folder, name).write_text("\n".join(lines) + "\n")


KILLED = f"""
import os, runpy, sys
import gossamer.sources.text
gossamer.sources.text.BLOCK = 1500
replace = os.replace
def last(source, target, **where):
    replace(source, target, **where)
    if os.path.basename(target) == {CHECKPOINT!r}:
        os._exit(9)
os.replace = last
runpy.run_module("gossamer", run_name="__main__", alter_sys=True)
"""


def made(name, folder):
    """Return the checkpoint of a killed run, and the model of one that was left alone."""
    plan = RUNS[name]
    write_data(folder, plan.data)
    subprocess.run([sys.executable, "-m", "gossamer", *plan.command("whole.gsm")], check=True, cwd=folder)
    killed = subprocess.run([sys.executable, "-c", KILLED, *plan.command("m.gsm", "state")], check=False, cwd=folder)
    assert killed.returncode == 9, name
    return Path(folder, "state", CHECKPOINT).read_bytes(), Path(folder, "whole.gsm").read_bytes()


# Models


def named(model):
    import pandas as pd

    return model.fit(pd.DataFrame(X, columns=[f"feature {j}" for j in range(X.shape[1])]), SIGNS)


def of_loss(loss, y):
    estimator = gs.OnlineRegressor if loss.kind == "regression" else gs.OnlineClassifier
    return estimator(loss, "l1", 0.03, gs.AdaGrad(0.4), shuffle=False).fit(X, y)


WORDS = np.where(SIGNS > 0, "spam", "ham")
MODELS = {
    **{name: lambda loss=loss, y=y: of_loss(loss, y) for name, (loss, y) in online.SINGLE_LOSSES.items()},
    "logistic, words": lambda: of_loss(gs.Logistic(), WORDS),
    "several targets": lambda: of_loss(gs.Huber(0.5), online.SCORES),
    "no weights": lambda: gs.OnlineClassifier(alpha=1e3, method=gs.RDA(1.0)).fit(X, SIGNS),
    "names": lambda: named(gs.OnlineClassifier(alpha=0.03, method=gs.FTRL(0.5), shuffle=False)),
    "path": lambda: gs.OnlineClassifierCV([0.1, 0.01], method=gs.Fobos(0.5), shuffle=False).fit(X, SIGNS),
    "batch": lambda: gs.BatchClassifier(alpha=0.03).fit(X, WORDS),
    "batch, poisson": lambda: gs.BatchRegressor("poisson", "elastic_net", 0.03).fit(X, online.COUNTS),
    "boosting": lambda: gs.BoostingClassifier(alpha=0.03).fit(X, online.LABELS),
}


def answers(model):
    """Return what a loaded model says of the first rows, as JSON can hold it."""
    said = {"predict": model.predict(X[:8]), "decision_function": model.decision_function(X[:8])}
    if model.probabilistic:
        said["predict_proba"] = model.predict_proba(X[:8])
    return {name: values.tolist() for name, values in said.items()} | {"names": model.names}
