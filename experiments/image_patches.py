"""Error of image patches described by few dictionary vectors that all patches share (Figure 12)."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_sample_images
from sklearn.exceptions import ConvergenceWarning

import gossamer as gs
from experiments import frame

CLAIM = frame.Claim(
    id="F13",
    paper="Duchi & Singer 2009",
    place="§7.6, Figure 12",
    sentence="the mixed-norm regularizers (ℓ1/ℓ2 and ℓ1/ℓ∞) achieve lower reconstruction error as a function of "
    "dictionary sparsity than strict ℓ1-regularization. The ℓ1/ℓ2-regularization also gives a slight, but significant, "
    "reconstruction improvement over ℓ1/ℓ∞-regularization.",
    setup="stand-in: 20 sets of patches of two photographs of scikit-learn (the paper: 100 images)",
    unstated=("the dictionary: patches of the left halves",),
)
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
        seed = np.random.default_rng(1300 + repeat)
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
    notes = [
        "Data: the two sample images of scikit-learn; dictionary from their left halves, patches from the right ones.",
        f"{repeats} sets of {count} patches, {len(dictionary)} dictionary vectors.",
    ]
    of = {name: np.array(some) for name, some in errors.items()}
    better = (of["ℓ1/ℓ∞"] - of["ℓ1/ℓ2"]).mean(axis=1)
    return {
        "levels": LEVELS,
        "errors": {name: some.mean(axis=0) for name, some in of.items()},
        "difference": [better.mean(), better.std() / np.sqrt(repeats)],
        "curves": curves,
        "notes": notes,
    }


def judge(numbers):
    """Compare the errors at every level of use."""
    means = {name: np.array(of) for name, of in numbers["errors"].items()}
    over = {
        "ℓ1/ℓ2 over ℓ1/ℓ∞": np.max(means["ℓ1/ℓ2"] / means["ℓ1/ℓ∞"]),
        "ℓ1/ℓ∞ over ℓ1": np.max(means["ℓ1/ℓ∞"] / means["ℓ1"]),
        "ℓ1/ℓ2 over ℓ1": np.max(means["ℓ1/ℓ2"] / means["ℓ1"]),
    }
    checks = [
        frame.below(
            f"error of {what}, the most over the levels of use", ratio, 1, "paper", quick=what == "ℓ1/ℓ2 over ℓ1"
        )
        for what, ratio in over.items()
    ]
    mean, error = numbers["difference"]
    checks.append(
        frame.at_least("ℓ1/ℓ∞ minus ℓ1/ℓ2 in standard errors", mean / error if error else np.inf, 2, quick=False)
    )
    aims = [
        frame.at_most(f"error of {what}, the most over the levels", ratio, 1) for what, ratio in list(over.items())[:2]
    ]
    aims.append(frame.at_most("error of ℓ1/ℓ2 over ℓ1 at the middle level", means["ℓ1/ℓ2"][2] / means["ℓ1"][2], 1))
    key = "at 10% of the dictionary: " + ", ".join(f"{name} {of[2]:.3f}" for name, of in means.items())
    notes = [*numbers["notes"], f"ℓ1/ℓ∞ minus ℓ1/ℓ2, over the levels: {mean:.4f} ± {error:.4f} (standard error)."]
    return frame.Verdict(checks, key, aims, notes)


def draw(figure, numbers):
    """Draw the error over the share of the dictionary in use."""
    axis = figure.subplots()
    for name, errors in numbers["errors"].items():
        axis.plot(numbers["levels"], errors, "o-", label=name)
    axis.set(xlabel="share of the dictionary in use", ylabel="squared error of a patch")
    axis.legend()
