"""Which weights are found to be zero when whole rows of the true W are, with ℓ1/ℓ2, ℓ1/ℓ∞ and ℓ1.

The paper's strength is the one that leaves about half of the weights zero. Here the whole path around it is followed,
by accelerated FOBOS, so that what is found can be read off at any share of zeros.
"""

from __future__ import annotations

import numpy as np

import gossamer as gs
from experiments import frame, problems

ID = "F10"
PAPER = "Duchi & Singer 2009, Figure 11 left"
STATEMENT = (
    "With half of the rows of W zero, mixed norms find almost all zero rows at the strength that leaves half of the "
    "weights zero; ℓ1 finds no zero row at all."
)
PAPER_NUMBER = "ℓ1/ℓ2 96.3%, ℓ1/ℓ∞ 94.5%, ℓ1 0%"
WHY = (
    "The paper leaves approximately 50% zeros, and gives neither the strength nor how W is drawn. Its numbers are "
    "ours at 54% zeros (96.7 and 94.7%). And they depend on W: on two problems each ℓ1/ℓ2 found at 50% zeros 91.1% "
    "with normal W, 94.8% with uniform W and 96.2% with W of signs, whose rows are equally long; without label noise "
    "98.0%. Not the solver: 600 steps of plain FOBOS gave 92.5% at 49.4% zeros, where this path, followed to 1e-3, "
    "gives 91.8%."
)
PENALTIES = {  # their names, and strengths around that which leaves half of the weights zero, as shares of the largest
    "ℓ1/ℓ2": ("group_l2", np.geomspace(0.7, 0.5, 9)),
    "ℓ1/ℓ∞": ("group_linf", np.geomspace(0.7, 0.5, 9)),
    "ℓ1": ("l1", np.geomspace(0.06, 0.01, 5)),
}
SHARES = (0.5, 0.51, 0.52, 0.54)


def zeros_along(X, y, penalty, strengths):
    """Return which weights are zero at every strength, strengths × d × k."""
    most = gs.alpha_max(X, y, loss="logistic", penalty=penalty, fit_intercept=False)
    path = gs.regularization_path(
        X, y, loss="logistic", penalty=penalty, alphas=most * strengths, solver="fista", tol=1e-3, fit_intercept=False
    )
    return np.stack([coef.toarray().T == 0 for coef in path.coefs])


def run(size):
    """Follow the paths of all problems; read off what is found where half of the weights are zero."""
    n, d, k, repeats = size.pick((1000, 200, 30, 20), (400, 40, 16, 1))
    draws = [problems.multinomial(n, d, k, d // 2, 0.1, np.random.default_rng(seed))[:2] for seed in range(repeats)]
    truth = np.repeat([[1], [0]], d // 2, axis=0) @ np.ones((1, k), int)
    numbers = {"truth": truth, "zeros": {}, "found": {}, "maps": {}}
    for name, (penalty, strengths) in PENALTIES.items():
        strengths = size.pick(strengths, np.geomspace(0.7, 0.1, 5))
        zero = np.array([zeros_along(X, y, penalty, strengths) for X, y in draws])
        numbers["zeros"][name] = zero.mean(axis=(0, 2, 3))
        numbers["found"][name] = zero.all(axis=3)[:, :, : d // 2].mean(axis=(0, 2))
        numbers["maps"][name] = zero.mean(axis=0)[np.argmin(np.abs(numbers["zeros"][name] - 0.5))]
        size.log(f"{name}: zeros {numbers['zeros'][name].round(3)}, zero rows {numbers['found'][name].round(3)}")
    at = {  # what is found at these shares of zeros, between neighbours on the path
        name: np.interp(SHARES, numbers["zeros"][name][::-1], numbers["found"][name][::-1]) for name in PENALTIES
    }
    found = {name: float(of[0]) for name, of in at.items()}
    checks = [
        frame.at_least("zero rows found by ℓ1/ℓ2", found["ℓ1/ℓ2"], 0.96, quick=False),
        frame.at_least("zero rows found by ℓ1/ℓ∞", found["ℓ1/ℓ∞"], 0.94, quick=False),
        frame.at_most("zero rows found by ℓ1", found["ℓ1"], 0.0),
        frame.at_least("zero rows found by ℓ1/ℓ2 over those found by ℓ1", found["ℓ1/ℓ2"] - found["ℓ1"], 0.5),
    ]
    notes = [
        f"{name}: zero rows found at "
        + ", ".join(f"{share:.0%} zeros {of:.1%}" for share, of in zip(SHARES, at[name], strict=True))
        + f" (the path goes from {min(numbers['zeros'][name]):.0%} to {max(numbers['zeros'][name]):.0%})."
        for name in PENALTIES
    ]
    return frame.Outcome(numbers, checks, notes, ", ".join(f"{name} {share:.1%}" for name, share in found.items()))


def draw(figure, numbers):
    """Draw the true pattern and the three found ones: white is always zero, black never."""
    figure.set_size_inches(8, 5)
    axes = figure.subplots(1, 4, sharey=True)
    maps = {"true W": numbers["truth"], **numbers["maps"]}
    for axis, (name, share) in zip(axes, maps.items(), strict=True):
        axis.imshow(share, cmap="gray", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        axis.set(title=name, xlabel="output")
    axes[0].set_ylabel("feature")
