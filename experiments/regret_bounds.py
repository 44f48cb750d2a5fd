"""The regret of RDA and FOBOS on streams with known constants, beside the bounds of the theorems, at every round.

Rows have length one, so gradients of the loss are at most L = G = 1. The regret of round t is against the best fixed
weights of ten prefixes of the stream, found in batch; it may be largest for any of them.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import gossamer as gs
from experiments import frame

CLAIM = frame.Claim(
    id="R4",
    paper="Xiao 2009; Duchi & Singer 2009",
    place="Theorem 1; Theorems 6 and 8",
    sentence="for any t ≥ 1 and any w ∈ F_D, we have R_t(w) ≤ Δ_t.",
    theorem=True,
)


def run(size):
    """Walk both methods through the stream for two losses, in the general and the strongly convex setting."""
    rounds = size.pick(10_000, 250)
    X, y = _stream(rounds, size.pick(100, 30))
    t = np.arange(1, rounds + 1)
    curves, shares = {"t": frame.thin(t)}, {}
    for loss in size.pick((gs.Logistic(), gs.Hinge()), (gs.Logistic(),)):
        for setting in (_rda, _fobos, _strong_rda, _strong_fobos):
            name, regret, bound = setting(X, y, t, loss)
            name = f"{name}, {type(loss).__name__.lower()}"
            worst = np.argmax(regret / bound, axis=0), t - 1  # the nearest to its bound, round by round
            curves[name] = {"regret": frame.thin(regret[worst]), "bound": frame.thin(bound[worst])}
            shares[name] = np.max(regret / bound)
            size.log(f"{name}: regret at most {shares[name]:.3f} of the bound, at the end {regret[:, -1].max():.1f}")
    notes = [f"A made-up stream: {rounds:,} rows of length one, {X.shape[1]} features, five of which matter."]
    return {"curves": curves, "shares": shares, "notes": notes}


def judge(numbers):
    """Check that no regret exceeds its bound."""
    shares = numbers["shares"]
    checks = [
        frame.at_most(f"{name}: regret / bound, the largest over t", share, 1, "paper")
        for name, share in shares.items()
    ]
    aims = [frame.at_most("regret / bound, the largest", max(shares.values()), 1)]
    return frame.Verdict(checks, f"regret / bound at most {max(shares.values()):.2f}", aims, numbers["notes"])


def _stream(rounds, d):
    """Return normal rows of length one and noisy signs of a sparse model."""
    random = np.random.default_rng(3400)
    X = random.standard_normal((rounds, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    w = np.where(np.arange(d) < 5, 4.0 * random.standard_normal(d), 0)
    return X, np.where(X @ w + 0.5 * random.standard_normal(rounds) > 0, 1, -1)


def _rda(X, y, t, loss):
    """R_t ≤ (γD² + L²/γ)√t for ½‖w‖² ≤ D², with the best γ = L/D: Xiao (12)."""
    alpha = 0.01
    best = _best(X, y, loss, gs.L1(), alpha)
    D = np.linalg.norm(best, axis=1).max() / np.sqrt(2)
    regret, _ = _regret(X, y, loss, gs.L1(), alpha, gs.RDA(gamma=1 / D), best)
    return "RDA, ℓ1", regret, np.tile(2 * D * np.sqrt(t), (len(best), 1))


def _fobos(X, y, t, loss):
    """R_T ≤ 2GD + (D²/(2c) + 7G²c)√T for ‖w_t − w‖ ≤ D, step c/√t: Duchi and Singer, Theorem 6."""
    alpha = 0.01
    best = _best(X, y, loss, gs.L1(), alpha)
    c = np.linalg.norm(best[-1]) / 2  # Corollary 7 with twice the norm for D
    regret, path = _regret(X, y, loss, gs.L1(), alpha, gs.Fobos(step=c), best)
    D = np.array([max(np.linalg.norm(path - w, axis=1).max(), np.linalg.norm(path, axis=1).max()) for w in best])[
        :, None
    ]
    return "FOBOS, ℓ1", regret, 2 * D + (D**2 / (2 * c) + 7 * c) * np.sqrt(t)


def _strong_rda(X, y, t, loss):
    """R_t ≤ L²/(2σ) (6 + log t) with β_t = 0: Xiao, after Theorem 1."""
    sigma = 0.05
    best = _best(X, y, loss, gs.L2Squared(), sigma)
    regret, _ = _regret(X, y, loss, gs.L2Squared(), sigma, gs.RDA(gamma=0), best)
    return "RDA, ℓ2²", regret, np.tile((6 + np.log(t)) / (2 * sigma), (len(best), 1))


def _strong_fobos(X, y, t, loss):
    """R_T ≤ 2GD + HD² + 7G²/(2H) (1 + log T), step 1/(Ht): Duchi and Singer, Theorem 8 (constants from its proof)."""
    H = 0.05
    best = _best(X, y, loss, gs.L2Squared(), H)
    regret, path = _regret(X, y, loss, gs.L2Squared(), H, gs.Fobos(step=gs.InverseTime(H)), best)
    D = np.array([np.linalg.norm(path - w, axis=1).max() for w in best])[:, None]
    return "FOBOS, ℓ2²", regret, 2 * D + H * D**2 + 3.5 / H * (1 + np.log(t))


def _best(X, y, loss, penalty, alpha):
    """Return the best fixed weights of ten prefixes."""
    model = gs.BatchClassifier(loss, penalty, alpha, fit_intercept=False, tol=1e-2)
    ends = np.geomspace(50, len(y), 10).astype(int)
    return np.array([model.fit(X[:end], y[:end]).coef_[0] for end in ends])


def _regret(X, y, loss, penalty, alpha, method, best):
    """Return R_t for every t, one row for each of the best, and the weights before each round."""
    model = gs.OnlineClassifier(loss, penalty, alpha, method, fit_intercept=False)
    rows, path = sp.csr_array(X), [np.zeros(X.shape[1])]
    for i in range(len(y) - 1):
        path.append(model.partial_fit(rows[i : i + 1], y[i : i + 1], classes=[-1, 1]).coef_[0].copy())
    path = np.array(path)
    ours = loss.value(np.sum(X * path, axis=1), y) + alpha * np.array([penalty.value(w) for w in path])
    theirs = np.array([loss.value(X @ w, y) + alpha * penalty.value(w) for w in best])
    return np.cumsum(ours - theirs, axis=1), path


def draw(figure, numbers):
    """Draw the regret and its bound over the rounds."""
    figure.set_size_inches(12, 6)
    numbers = numbers["curves"]
    names = [name for name in numbers if name != "t"]
    for name, axes in zip(names, figure.subplots(len(names) // 4, 4, sharex=True).ravel(), strict=True):
        axes.plot(numbers["t"], numbers[name]["bound"], "k--", label="bound")
        axes.plot(numbers["t"], numbers[name]["regret"], label="regret")
        axes.set_title(name)
        axes.set(xlabel="rounds", ylabel="regret")
        axes.legend()
