"""AdaBoost and GradBoost with ℓ1/ℓ∞ along the way: features come in, then go out, and the test error stays.

A round updates every feature once, in turn. MNIST is of the paper's size, all 60,000 rows and 2,766 kernel features, in
single precision; it has 20 rounds, for time.
"""

from __future__ import annotations

import numpy as np

import gossamer as gs
from experiments import data, features_for_coverage, frame, problems

CLAIM = frame.Claim(
    id="B5",
    paper="Duchi & Singer 2009 (boosting)",
    place="§6, Figures 7 right and 8",
    sentence="both AdaBoost and GradBoost indeed leverage induction during the first few thousand iterations, adding "
    "many features that contribute to decreasing the loss. They then switch to a backpruning phase in which they "
    "remove "
    "features that are not predictive enough without increasing mistakes on the test set.",
    setup="same; fewer rounds, each over all features: 200 on LandSat, 20 on MNIST",
    unstated=("λ: .05 of the largest", "what an iteration is: here a round updates every feature once"),
)


def mnist(size):
    """Return kernel features of training and test rows; the support set are the mistakes of a perceptron."""
    D = data.load("mnist", size)
    images, images_test = ((X / 255).astype(np.float32) for X in (D.X, D.X_test))
    y = D.y.astype(int)
    order = np.random.default_rng(2001).permutation(len(y))
    most = size.pick(2766, 50)
    support = gs.KernelFeatures(gamma=1 / 50, max_support=most).ready(images[order], y[order]).support
    rows = problems.sample(images, y, size.pick(len(y), 15), np.random.default_rng(2002))
    tests = slice(size.pick(10_000, 300))
    kernel = [problems.gaussian_kernel(part, support, np.float32(5)) for part in (images[rows], images_test[tests])]
    return kernel[0], y[rows], kernel[1], D.y_test[tests].astype(int), D.notes


def run(size):
    """Follow both bounds on both data sets."""
    curves, notes = {}, []
    landsat = features_for_coverage.landsat(size, size.pick(240, 20))
    sets = (("LandSat", landsat, size.pick(200, 20)), ("MNIST", mnist(size), 20))
    for name, (X, y, X_test, y_test, source), rounds in sets:
        alpha = 0.05 * gs.alpha_max(X, y, loss="logistic", penalty="group_linf")
        notes += [*source, f"{name}: {len(y):,} training rows, {X.shape[1]:,} features, {rounds} rounds."]
        for bound in ("ada", "grad"):
            model = gs.BoostingClassifier("group_linf", alpha, bound, order="cyclic", max_rounds=rounds, tol=1e-2)
            model.fit(X, y, validation=(X_test, y_test))
            used = np.array([r.nonzeros for r in model.history_])
            error = 1 - np.array([r.validation_score for r in model.history_])
            objective = np.array([r.objective for r in model.history_])
            key = f"{bound.capitalize()}Boost, {name}"
            curves[key] = {"features": used, "error": error, "objective": objective}
            size.log(f"{key}: {used.max()} features at most, {used[-1]} at the end, error {error[-1]:.4f}")
    return {"curves": curves, "notes": notes}


def judge(numbers):
    """Compare features and error at the peak and at the end."""
    checks, ends = [], []
    for key, curve in numbers["curves"].items():
        used, error = curve["features"], curve["error"]
        peak = int(np.argmax(used))
        checks += [
            frame.at_most(
                f"{key}: features at the end / at the peak", used[-1] / used[peak], 0.95, quick="LandSat" in key
            ),
            frame.at_most(
                f"{key}: rise of the test error from the peak to the end",
                error[-1] - error[peak],
                0.01,
                quick="MNIST" in key,
            ),
        ]
        ends.append(
            f"{key}: {used[peak]} features at round {peak}, {used[-1]} at the end, error {error[-1] - error[peak]:+.4f}"
        )
    return frame.Verdict(checks, "; ".join(ends), checks, numbers["notes"])


def draw(figure, numbers):
    """Draw objective, test error and features over the rounds."""
    figure.set_size_inches(11, 4)
    for what, axes in zip(("objective", "error", "features"), figure.subplots(1, 3), strict=True):
        for name, curve in numbers["curves"].items():
            axes.plot(np.arange(len(curve[what])) + 1, curve[what], label=name)
        axes.set(xlabel="rounds + 1", ylabel=what, xscale="log")
    axes.legend(fontsize=7)
