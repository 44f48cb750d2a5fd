"""Multiclass logistic regression on MNIST with a Gaussian kernel, every class in its own ℓ1 ball: projections and EG.

As in the paper the support set are the mistakes of one perceptron pass, weights are ≥ 0, and a support example votes
for its own class and against the others. The radius is the mean ‖w‖₁ of the classes at the optimum of the penalised
problem (weights of any sign), its strength the best one on rows kept aside; others are in a table, from fewer rows. The
value is the mean loss over the training rows, over the number of gradients. Steps of projections are η/√t, those of EG
constant, η/√t or η/t, with the best η of a grid.
"""

from __future__ import annotations

from itertools import product

import numpy as np

import gossamer as gs
from experiments import data, descent, frame, problems

CLAIM = frame.Claim(
    id="P4",
    paper="Duchi et al. 2008",
    place="§7, Figure 7",
    sentence="We plot the multiclass logistic loss from Eq. (12) over time (as a function of the number gradient "
    "evaluations) in Fig. 7. The left side of Fig. 7 compares EG and gradient descent using …",
    setup="same; learned from 10,000 of the 60,000 rows, as it is information only",
    unstated=("the radius: that of the best strength on rows kept aside",),
    untestable="our copy of the paper stops before it says what came out. What is shown is information: whether "
    "projections or EG reach the lower loss.",
)

LOSS = gs.Multinomial()


def run(size):
    """Follow both methods, with all rows and with random batches of 1% of them."""
    D = data.load("mnist", size)
    order = np.random.default_rng(4400).permutation(len(D.y))[: size.pick(None, 400)]
    images, y = D.X[order] / 255, D.y[order].astype(int)
    support = gs.KernelFeatures(gamma=1 / 25, max_support=size.pick(2766, 100)).ready(images, y).support
    label_of = {image.tobytes(): label for image, label in zip(images, y, strict=True)}
    signs = np.where([label_of[s.tobytes()] for s in support] == np.arange(10)[:, None], 1.0, -1.0)
    few, learns, known = size.pick((1_000, 10_000, 2_000), (150, 300, 150))
    K = problems.gaussian_kernel(images[:learns].astype(np.float32), support.astype(np.float32), np.float32(12.5**0.5))
    size.log(f"{len(support)} support examples")
    radius, alpha = _radius(K[: 2 * known], y[: 2 * known], known, size)
    balls = {}
    for share in size.pick((0.1, 1, 10), (1,)):
        found = _ball(K[:few], y[:few], signs, share * radius, size)
        balls[f"{share * radius:.0f}"] = {
            name: [curve["value"][-1], curve["with η/√t"]] for name, curve in found.items()
        }
    curves = _ball(K, y[:learns], signs, radius, size)
    notes = [
        *D.notes,
        f"{len(support):,} support examples of {len(y):,} rows, {10 * len(support):,} weights, "
        f"learned from {learns:,} rows; radius {radius:.0f} a class, of α {alpha:.1g}. "
        "Best steps: " + "; ".join(f"{name}: {curve['setting']}" for name, curve in curves.items()),
        "With the best of the steps η/√t: " + ", ".join(f"{name} {c['with η/√t']:.4f}" for name, c in curves.items()),
    ]
    return {"curves": curves, "balls": balls, "few": few, "notes": notes}


def judge(numbers):
    """Compare the losses at the end."""
    curves = numbers["curves"]
    checks = [
        frame.below(
            f"loss at the end, ℓ1 / EG, {part}",
            curves[f"ℓ1, {part}"]["value"][-1] / curves[f"EG, {part}"]["value"][-1],
            1,
            quick=False,
        )
        for part in ("all rows", "1%")
    ]
    table = [f"| radius | {' | '.join(curves)} |", "|---" * 5 + "|"]
    for radius, ball in numbers["balls"].items():
        table.append(f"| {radius} | {' | '.join(f'{end:.4f} ({root:.4f})' for end, root in ball.values())} |")
    head = f"Loss at the end, {numbers['few']:,} rows; in brackets with the best of the steps η/√t.\n\n"
    key = "loss at the end: " + ", ".join(f"{name} {curve['value'][-1]:.4f}" for name, curve in curves.items())
    return frame.Verdict(checks, key, checks, numbers["notes"], [head + "\n".join(table)])


def _radius(K, y, train, size):
    """Return the mean ‖w‖₁ of a class at the strength that is best on the rows after the first `train`, and that."""
    alphas = size.pick((1e-4, 3e-5, 1e-5, 3e-6, 1e-6), (1e-2, 1e-3))
    path = gs.regularization_path(K[:train], y[:train], loss="logistic", alphas=alphas, fit_intercept=False, tol=1e-2)
    weights = [w.toarray() for w in path.coefs]
    aside = [np.mean(LOSS.value(K[train:] @ w.T, y[train:])) for w in weights]
    size.log(", ".join(f"α {alpha:.0e}: loss aside {loss:.4f}" for alpha, loss in zip(alphas, aside, strict=True)))
    best = int(np.argmin(aside))
    return np.abs(weights[best]).sum() / len(weights[best]), alphas[best]


def _ball(K, y, signs, radius, size):
    """Return the runs of both methods at their best steps, with all rows and with 1% of them."""
    additive = [gs.InverseSqrt(c) for c in size.pick((50, 100, 150, 200, 300, 500, 1000), (3, 10, 30))]
    multiplicative = [gs.Constant(c) for c in size.pick((10, 30, 60, 100, 300), (1, 3))]
    multiplicative += [gs.InverseSqrt(c) for c in size.pick((100, 300, 1e3, 3e3), (3, 10))]
    multiplicative += [gs.InverseTime(1 / c) for c in size.pick((3e3,), (10,))]
    curves = {}
    for rows, method in product((len(y), len(y) // 100), ("ℓ1", "EG")):
        schedules = additive if method == "ℓ1" else multiplicative
        runs = [_run(method, K, y, signs, radius, rows, schedule, size) for schedule in schedules]
        ends = [np.mean(run["value"][-3:]) for run in runs]
        best = int(np.argmin(ends))
        root = min(e for e, s in zip(ends, schedules, strict=True) if type(s) is gs.InverseSqrt)
        name = f"{method}, {'all rows' if rows == len(y) else '1%'}"
        curves[name] = runs[best] | {"setting": str(schedules[best]), "with η/√t": root}
        size.log(f"{name}: {schedules[best]}, {runs[best]['value'][-1]:.4f}")
    return curves


def _run(method, K, y, signs, radius, rows, schedule, size):
    """Follow one method with gradients from so many random rows, or from all."""
    random = np.random.default_rng(4400)

    def margins(part, W):
        return part @ (signs * W).T.astype(K.dtype)

    def value(W):
        return float(np.mean(LOSS.value(margins(K, W), y)))

    def gradient(W):
        some = slice(None) if rows == len(y) else random.integers(0, len(y), rows)
        part, labels = K[some], y[some]
        slopes = LOSS.slope(margins(part, W), labels).astype(K.dtype)
        return signs * (slopes.T @ part) / len(labels)

    def step(t):
        return schedule(np.array([t]))[0]

    def project(W):
        return gs.project_l1_ball(np.maximum(W, 0), radius)

    if method == "EG":
        iterates = descent.exponentiated(gradient, signs.shape, radius, step, signed=False)
    else:
        iterates = descent.projected(gradient, np.zeros(signs.shape), project, step)
    return descent.counted(iterates, value, size.pick(100, 30) if rows == len(y) else size.pick(1000, 100), looks=20)


def draw(figure, numbers):
    """Draw the loss over the gradients: all rows left, few rows right."""
    panels = figure.subplots(1, 2, sharey=True)
    for number, (name, curve) in enumerate(numbers["curves"].items()):
        panels[number // 2].semilogy(curve["step"], curve["value"], label=name)
    panels[0].set_ylabel("mean multiclass logistic loss")
    for axes in panels:
        axes.set_xlabel("gradients")
        axes.legend()
