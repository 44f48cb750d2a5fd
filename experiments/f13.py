"""Error of image patches described by few dictionary vectors that all patches share (Figure 12)."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_sample_images
from sklearn.exceptions import ConvergenceWarning

import gossamer as gs
from experiments import frame

ID = "F13"
PAPER = "Duchi & Singer 2009, Figure 12"
STATEMENT = (
    "At an equal share of the dictionary in use, mixed norms reconstruct better than ℓ1, and ℓ1/ℓ2 a little better "
    "than ℓ1/ℓ∞."
)
PAPER_NUMBER = "shown as curves"
PENALTIES = {"ℓ1": "l1", "ℓ1/ℓ2": "group_l2", "ℓ1/ℓ∞": "group_linf"}
LEVELS = (0.02, 0.05, 0.1, 0.15, 0.2)
SIDE = 9  # patches of 9 × 9 = 81 numbers; the paper's have 79


def patches(image, count, seed):
    """Return random patches of a grey image, each with mean zero and length one."""
    tops = seed.integers(0, image.shape[0] - SIDE, 20 * count)
    lefts = seed.integers(0, image.shape[1] - SIDE, 20 * count)
    P = np.stack([image[i : i + SIDE, j : j + SIDE].ravel() for i, j in zip(tops, lefts, strict=True)])
    P = P - P.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(P, axis=1)
    return (P[norms > 0.2] / norms[norms > 0.2, None])[:count]


def curve(dictionary, P, penalty, shares, steps):
    """Return (share of the dictionary in use, mean squared error of a patch) along falling strengths."""
    X, Y = dictionary.T, P.T  # one row a pixel, one output a patch
    most = gs.alpha_max(X, Y, penalty=penalty, fit_intercept=False)
    model = gs.BatchRegressor(
        penalty=penalty, solver="fista", tol=1e-4, max_iter=steps // 10, fit_intercept=False, warm_start=True
    )
    points = [(0.0, 1.0)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for share in shares:
            W = model.set_params(alpha=share * most).fit(X, Y).coef_
            points.append((float(np.mean(W.any(axis=0))), float(np.sum((Y - X @ W.T) ** 2) / len(P))))
            if points[-1][0] > LEVELS[-1]:
                break
    return points


def at_levels(points):
    """Return the error at every level of use, between neighbours on the curve."""
    use, errors = np.array(sorted(points)).T
    return np.interp(LEVELS, use, errors)


def run(size):
    """Describe sets of patches of real images by a dictionary of other patches."""
    words, count, repeats, strengths, steps = size.pick((1000, 120, 20, 10, 60), (150, 20, 1, 8, 50))
    images = [image.mean(axis=2) / 255 for image in load_sample_images().images]
    errors, curves = {name: [] for name in PENALTIES}, {}
    for repeat in range(repeats):
        seed = np.random.default_rng(repeat)
        left = [image[:, : image.shape[1] // 2] for image in images]
        dictionary = np.concatenate([patches(image, words // 2, seed) for image in left])
        image = images[repeat % 2][:, images[0].shape[1] // 2 :]
        P = patches(image, count, seed)
        for name, penalty in PENALTIES.items():
            points = curve(dictionary, P, penalty, np.geomspace(0.8, 0.02, strengths), steps)
            errors[name].append(at_levels(points))
            curves.setdefault(name, points)
        size.log(
            f"repeat {repeat + 1} of {repeats}: " + ", ".join(f"{name} {of[-1][2]:.3f}" for name, of in errors.items())
        )
    means = {name: np.mean(of, axis=0) for name, of in errors.items()}
    over = {
        "ℓ1/ℓ2 over ℓ1/ℓ∞": np.max(means["ℓ1/ℓ2"] / means["ℓ1/ℓ∞"]),
        "ℓ1/ℓ∞ over ℓ1": np.max(means["ℓ1/ℓ∞"] / means["ℓ1"]),
    }
    checks = [
        frame.at_most(f"error of {what}, the most over the levels of use", ratio, 1, quick=False)
        for what, ratio in over.items()
    ]
    checks.append(frame.at_most("error of ℓ1/ℓ2 over ℓ1 at the middle level", means["ℓ1/ℓ2"][2] / means["ℓ1"][2], 1))
    ours = "at 10% of the dictionary: " + ", ".join(f"{name} {of[2]:.3f}" for name, of in means.items())
    notes = [
        "Data: the two sample images of scikit-learn; dictionary from their left halves, patches from the right ones.",
        f"Size: {repeats} sets of {count} patches, {len(dictionary)} dictionary vectors; the paper has 100 images.",
    ]
    return frame.Outcome({"levels": LEVELS, "errors": means, "curves": curves}, checks, notes, ours)


def draw(figure, numbers):
    """Draw the error over the share of the dictionary in use."""
    axis = figure.subplots()
    for name, errors in numbers["errors"].items():
        axis.plot(numbers["levels"], errors, "o-", label=name)
    axis.set(xlabel="share of the dictionary in use", ylabel="squared error of a patch")
    axis.legend()
