"""Online logistic regression over the ℓ1 ball, one example a round: the projection of sparse changes beside EG.

Two sets: RCV1, as in the paper but with words only, and 20 newsgroups with words and pairs of words; rows have length
one. The radius is ‖w‖₁ of the batch solution whose strength is best in cross-validation; others are in the
table. Steps of projections are η/√t, those of EG constant, η/√t or η/t, with the best η of a grid.
"""

from __future__ import annotations

from time import process_time

import numpy as np
from sklearn.preprocessing import normalize

import gossamer as gs
from experiments import data, frame

CLAIM = frame.Claim(
    id="P3",
    paper="Duchi et al. 2008",
    place="abstract; §7, Figure 6 right",
    sentence="We also show that in online settings gradient updates with ℓ1 projections outperform the exponentiated "
    "gradient algorithm while obtaining models with high degrees of sparsity. … EG has a run-time advantage over ℓ1 "
    "projections when the gradient is very sparse. This advantage can be seen in the right side of Fig. 6.",
    setup="stand-in: 1.4 million words and pairs of words of 20 newsgroups (the paper: 1.9 million pairs of RCV1)",
    unstated=(
        "the radius: ‖w‖₁ of the batch solution, its strength by cross-validation",
        "what is a high degree: 10% or less",
    ),
)

BLOCK = 100
SETS = {"rcv1": "RCV1, words", "news20_bigrams": "20 newsgroups, words and pairs"}


def run(size):
    """Find the best step of both methods for radii on both sets; follow the one chosen."""
    sets = {}
    for name, title in SETS.items():
        D = data.load(name, size)
        order = np.random.default_rng(4300).permutation(len(D.y))[: size.pick(None, 600)]
        X, y = normalize(D.X[order]), D.y[order]
        strengths = np.geomspace(*size.pick((1e-4, 3e-7, 9), (1e-2, 1e-3, 3)))
        batch = gs.BatchClassifierCV(alphas=strengths, select="best", fit_intercept=False, tol=1e-2).fit(X, y)
        radius = float(np.abs(batch.coef_).sum())
        found = {times: _both(times * radius, X, y, size) for times in size.pick((0.1, 0.3, 1, 3), (1,))}
        rows = []
        for times, (projected, multiplied) in found.items():
            share, losses = len(projected.nonzero_features_) / X.shape[1], _losses(projected, multiplied)
            rows.append([times, times * radius, losses[0], share, losses[1]])
            size.log(f"{title}, {rows[-1]}, {projected.method}, {multiplied.method}")
        projected, multiplied = found[1]
        rounds = np.append(np.arange(BLOCK, len(y), BLOCK), len(y))
        errors = [1 - model.score(normalize(D.X_test), D.y_test) for model in (projected, multiplied)]
        sets[title] = {
            "rows": rows,
            "seconds": [_seconds(model, X, y) for model in (projected, multiplied)],
            "t": frame.thin(rounds),
            "ℓ1": _curve(projected, X, y),
            "EG": _curve(multiplied, X, y),
            "note": f"{D.source}. {title}: {X.shape[1]:,} weights, {X.nnz / len(y):.0f} features a row, α "
            f"{batch.alpha_:.1g}, radius {radius:.0f}. Best steps: ℓ1 {projected.method.step:g}/√t, EG "
            f"{multiplied.method.step}. Test "
            f"errors "
            f"{errors[0]:.4f}, {errors[1]:.4f}.",
        }
    return {"sets": sets}


def judge(numbers):
    """Compare on the pairs of words; the words alone are information."""
    rows = {title: next(row for row in of["rows"] if row[0] == 1) for title, of in numbers["sets"].items()}
    title = SETS["news20_bigrams"]
    _, _, mine, share, theirs = rows[title]
    times = numbers["sets"][title]["seconds"]
    checks = [
        frame.below(f"{title}: cumulative loss, projection / EG", mine / theirs, 1, "paper", quick=False),
        frame.at_most(f"{title}: share of non-zeros of the projection", share, 0.1, quick=False),
        frame.below(f"{title}: CPU time of a pass, EG / projection", times[1] / times[0], 1, "paper", quick=False),
    ]
    aims, ends = [], []
    for name, (_, _, loss, part, other) in rows.items():
        aims += [
            frame.at_most(f"{name}: cumulative loss, projection / EG", loss / other, 1),
            frame.at_most(f"{name}: share of non-zeros of the projection", part, 0.1),
        ]
        ends.append(f"{name}: {loss:.4f} with {part:.1%} non-zeros; EG {other:.4f}")
    table = ["| set | radius | projection: loss | non-zeros | EG: loss |", "|---" * 5 + "|"]
    for name, of in numbers["sets"].items():
        table += [
            f"| {name} | {radius:.0f} | {l1:.4f} | {part:.1%} | {eg:.4f} |" for _, radius, l1, part, eg in of["rows"]
        ]
    notes = [of["note"] for of in numbers["sets"].values()]
    notes += [
        f"{name}: CPU seconds of a pass {of['seconds'][0]:.2f}, EG {of['seconds'][1]:.2f}."
        for name, of in numbers["sets"].items()
    ]
    return frame.Verdict(checks, "mean cumulative loss: " + "; ".join(ends), aims, notes, ["\n".join(table)])


def _seconds(model, X, y):
    """Return the CPU time of a pass, the best of three."""
    times = []
    for _ in range(3):
        start = process_time()
        gs.OnlineClassifier(**model.get_params(deep=False)).fit(X, y)
        times.append(process_time() - start)
    return min(times)


def _losses(*models):
    """Return the mean cumulative losses."""
    return [model.progressive_loss_ for model in models]


def _both(radius, X, y, size):
    """Return both methods at their best steps, fitted."""
    additive = [gs.Fobos(c) for c in size.pick((10, 30, 100, 300, 1000), (1, 3, 10))]
    steps = [gs.Constant(c) for c in size.pick((0.3, 1, 3, 10, 30), (0.01, 0.1, 1))]
    steps += [gs.InverseSqrt(c) for c in size.pick((10, 30, 100, 300, 1000), (0.3, 1, 3))]
    steps += [gs.InverseTime(1 / c) for c in size.pick((100, 1000, 1e4), (10,))]
    multiplicative = [gs.ExponentiatedGradient(radius, step) for step in steps]
    return _best(gs.L1Ball(radius), additive, X, y), _best("none", multiplicative, X, y)


def _best(penalty, methods, X, y):
    """Return the model of the method with the lowest cumulative loss."""
    models = [gs.OnlineClassifier(penalty=penalty, method=m, fit_intercept=False, shuffle=False) for m in methods]
    return min((model.fit(X, y) for model in models), key=lambda model: model.progressive_loss_)


def _curve(model, X, y):
    """Return the mean cumulative loss and the non-zeros after every hundred rounds."""
    model = gs.OnlineClassifier(**model.get_params(deep=False))
    losses, counts = [], []
    for begin in range(0, len(y), BLOCK):
        rows = slice(begin, begin + BLOCK)
        model.partial_fit(X[rows], y[rows], classes=[-1, 1])
        losses.append(model.progressive_loss_)
        counts.append(len(model.nonzero_features_))
    return {"loss": frame.thin(losses), "non-zeros": frame.thin(counts)}


def draw(figure, numbers):
    """Draw the cumulative loss and the non-zeros over the rounds, one row a set."""
    figure.set_size_inches(8, 7)
    for (title, found), (left, right) in zip(numbers["sets"].items(), figure.subplots(2, 2), strict=True):
        for name in ("ℓ1", "EG"):
            left.plot(found["t"], found[name]["loss"], label=name)
            right.plot(found["t"], found[name]["non-zeros"], label=name)
        left.set(title=title, xlabel="examples", ylabel="mean cumulative loss")
        right.set(xlabel="examples", ylabel="non-zeros", yscale="log")
    left.legend()
