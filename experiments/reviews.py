"""Stochastic FOBOS beside SpaRSA on reviews: training objective and test error over operations (Figure 9)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import gossamer as gs
from experiments import counting, data, frame

CLAIM = frame.Claim(
    id="F7",
    paper="Duchi & Singer 2009",
    place="§7.4, Figure 9",
    sentence="Effectively, before SPARSA finishes two steps, the stochastic methods have arrived at approximate "
    "solutions that attain the minimal test set error rates.",
    setup="stand-in: 8,000 reviews, of which 1,000 are held out (the paper: 10,000), and fewer pairs of words",
    unstated=("how the first step of SpaRSA is found: by a power iteration, whose products count",),
)
ALPHA = 3e-5
SHARES = {"FOBOS": 1.0, "FOBOS, step / 5": 0.2}


def run(size):
    """Follow objective and test error over random splits."""
    D = data.load("amazon", size)
    X, y = sp.vstack([D.X, D.X_test]).tocsr(), np.concatenate([D.y, D.y_test])
    pairs = data.word_pairs("amazon", X.shape[1])
    X = X[:, pairs] if pairs is not None else X
    X.data[:] = 1.0
    splits, gradients, aside = size.pick((10, 40, 1000), (1, 40, 300))
    runs = {method: [] for method in ("SpaRSA", *SHARES)}
    for split in range(splits):
        seed = np.random.default_rng(700 + split)
        order = seed.permutation(len(y))
        test, train = order[:aside], order[aside:]
        problem = counting.Problem(X[train], y[train], gs.Logistic(), gs.L1(), ALPHA)
        budget, X_test, y_test = gradients * 4 * problem.size, X[test], y[test]

        def measure(w, problem=problem, X_test=X_test, y_test=y_test):
            return problem.value(w), float(np.mean(np.where(X_test @ w > 0, 1, -1) != y_test))

        traces = {"SpaRSA": counting.batch(problem, gs.SpaRSA(), measure, budget)}
        for method, share in SHARES.items():
            iterates = counting.stochastic(problem, gs.InverseSqrt(share * problem.first_step), len(train) // 10, seed)
            traces[method] = counting.follow(iterates, measure, budget, 80)
        two = traces["SpaRSA"].operations[2]
        for method, trace in traces.items():
            marks = np.linspace(0, 1, 41)[1:] ** 2 * budget
            late = [v[1] for v in trace.values[-max(len(trace.values) // 10, 1) :]]
            runs[method].append(
                {
                    "early": trace.at(two)[1],
                    "end": float(np.mean(late)),
                    "curve": trace.at(marks) if len(trace.values) > 2 else np.full((40, 2), np.nan),
                    "two": two / (4 * problem.size),
                }
            )
        size.log(
            f"split {split + 1}: " + ", ".join(f"{m} {r[-1]['early']:.3f}, {r[-1]['end']:.3f}" for m, r in runs.items())
        )
    found = {
        method: {what: np.mean([run[what] for run in of], axis=0) for what in ("early", "end", "two")}
        | {
            "deviation": np.std([run["early"] - run["end"] for run in of]),
            "curve": np.mean([run["curve"] for run in of], axis=0).T,
        }
        for method, of in runs.items()
    }
    notes = [
        f"Data: {D.source}, {'pairs of words only' if pairs is not None else 'all columns'}: {X.shape[1]:,} "
        f"features of 0 and 1; {len(y) - aside:,} rows to learn from, {aside:,} held out, {splits} splits.",
        f"Theory's first step is {problem.first_step:.0f}; batches of 10% of the rows, as in the paper.",
    ]
    return {"methods": found, "gradients": gradients, "notes": notes}


def judge(numbers):
    """Compare the error when SpaRSA has made two steps with the final one."""
    of = numbers["methods"]
    checks = [
        frame.at_most(
            f"{method}: test error after two steps of SpaRSA over its own final one",
            of[method]["early"] - of[method]["end"],
            0.01,
            quick=False,
        )
        for method in SHARES
    ]
    early = min(of[method]["early"] for method in SHARES)
    aims = [
        frame.at_most(
            "test error of FOBOS after two steps of SpaRSA over its final one",
            early - min(of[m]["end"] for m in SHARES),
            0.01,
        ),
        frame.at_most("test error of FOBOS over that of SpaRSA then", early - of["SpaRSA"]["early"], 0.0),
    ]
    notes = [
        *numbers["notes"],
        f"Two steps of SpaRSA cost {of['SpaRSA']['two']:.1f} full gradients, its power iteration included.",
        "Test error then and at the end: "
        + ", ".join(f"{method} {found['early']:.4f}, {found['end']:.4f}" for method, found in of.items())
        + f" (the end is after {numbers['gradients']} full gradients).",
    ]
    key = "; ".join(
        f"{m}: {of[m]['early'] - of[m]['end']:+.4f} over its final error ({of[m]['end']:.3f})" for m in SHARES
    )
    return frame.Verdict(checks, key + f"; SpaRSA's final error {of['SpaRSA']['end']:.3f}", aims, notes)


def draw(figure, numbers):
    """Draw objective (left) and test error (right) over operations; the line marks two steps of SpaRSA."""
    figure.set_size_inches(9, 4)
    work = np.linspace(0, 1, 41)[1:] ** 2 * numbers["gradients"]
    for axis, part, what in zip(figure.subplots(1, 2), (0, 1), ("objective", "test error"), strict=True):
        for method, found in numbers["methods"].items():
            curve = np.array([np.nan if v is None else v for v in found["curve"][part]], float)
            axis.plot(work, curve, label=method)
        axis.axvline(numbers["methods"]["SpaRSA"]["two"], color="gray", ls=":")
        axis.set(xlabel="work in full gradients", ylabel=what, **({"yscale": "log"} if part == 0 else {}))
        axis.legend()
