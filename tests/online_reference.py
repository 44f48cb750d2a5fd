"""Slow, obvious twins of the online methods: dense rows, one by one, and every weight moved in every round.

A rule holds all weights W (d × k) as they stand and has one verb, `learn(t, G)`. The gradient G of round t is x ⊗ slope
for a row x, or the mean of these over a batch of rows. All rules start at prox(0, 0): at 0, or the point of the set
nearest to it.
"""

from dataclasses import dataclass, replace

import numpy as np

import gossamer as gs
import reference


@dataclass
class Outcome:
    """What is left of a run."""

    weights: np.ndarray  # d × k, as they stand
    intercept: np.ndarray
    average_weights: np.ndarray  # mean over the rounds, each as it stood after the round
    average_intercept: np.ndarray
    progressive_loss: float  # mean loss of each example before it was learned from


def eta(step, t):
    """η_t: a number c stands for c / √t, a schedule for itself."""
    return float(np.ravel(step(np.array([float(t)])))[0]) if callable(step) else step / np.sqrt(t)


def soft(v, s):
    return np.sign(v) * np.maximum(np.abs(v) - s, 0.0)


def one_a_row(penalty, d):
    """The penalty of each row by itself, for methods that give each feature its own step."""
    if isinstance(penalty, gs.Box):
        low, high = np.broadcast_to(penalty.low, d), np.broadcast_to(penalty.high, d)
        return [gs.Box(low[j], high[j]) for j in range(d)]
    if getattr(penalty, "weights", None) is None:
        return [penalty] * d
    return [replace(penalty, weights=penalty.weights[j : j + 1]) for j in range(d)]


class Fobos:
    """v = W − η_t G_t,   W = prox(v, η_t α)."""

    def __init__(self, method, penalty, alpha, shape):
        self.method, self.penalty, self.alpha = method, penalty, alpha
        self.W = penalty.prox(np.zeros(shape), 0.0)

    def learn(self, t, G):
        step = eta(self.method.step, t)
        self.W = self.penalty.prox(self.W - step * G, step * self.alpha)


class RDA:
    """G = Σ G_t,   W = argmin <G, W> + tαΩ(W) + γ√t (½‖W‖² + ρ‖W‖₁).

    With c = 1/(γ√t) that is prox(soft(−cG, cγρ√t), ctα) = prox(soft(−cG, ρ), ctα).
    γ = 0 (ℓ2² and elastic net, with ρ₁ the share of ℓ1): W = −soft(G/t, αρ₁) / (α(1 − ρ₁)).
    Kullback-Leibler to p: W ∝ p exp(−G/(tα)), whatever γ.
    """

    def __init__(self, method, penalty, alpha, shape):
        self.method, self.penalty, self.alpha = method, penalty, alpha
        self.G = np.zeros(shape)
        self.W = penalty.prox(np.zeros(shape), 0.0)
        if isinstance(penalty, gs.KL):
            self.prior = np.full(shape, 1 / self.W.size) if penalty.prior is None else penalty.prior.reshape(shape)
            self.W = self.prior.copy()

    def learn(self, t, G):
        self.G = self.G + G
        gamma, rho = self.method.gamma, self.method.rho
        if isinstance(self.penalty, gs.KL):
            used = self.prior > 0
            power = np.where(used, -self.G / (t * self.alpha), -np.inf)
            self.W = self.prior * np.exp(power - power.max())
            self.W = self.W / self.W.sum()
        elif gamma == 0:
            share = getattr(self.penalty, "l1_ratio", 0.0)
            a = 1.0 if self.penalty.weights is None else self.penalty.weights[:, None]
            self.W = -soft(self.G / t, self.alpha * share * a) / (self.alpha * (1 - share) * a)
        else:
            c = 1 / (gamma * np.sqrt(t))
            self.W = self.penalty.prox(soft(-c * self.G, rho), c * t * self.alpha)


class AdaGradFobos:
    """Feature j has one step for all outputs, c_j = η / (m_j √s_j), s_j = Σ ‖G_j‖², m_j the largest |x_j|:
    W_j = prox(W_j − c_j G_j, c_j α). When a row shows a larger |x_j| than ever, W_j and c_j shrink to what they would
    be had it been known from the start, before the row is used.
    """

    def __init__(self, method, penalty, alpha, shape):
        self.method, self.alpha = method, alpha
        self.penalties = one_a_row(penalty, shape[0])
        self.squares, self.largest, self.c = np.zeros(shape[0]), np.zeros(shape[0]), np.zeros(shape[0])
        self.W = penalty.prox(np.zeros(shape), 0.0)

    def see(self, x):
        larger = np.abs(x) > self.largest
        ratio = np.where(larger & (self.largest > 0), self.largest / np.where(larger, np.abs(x), 1.0), 1.0)
        self.largest = np.maximum(self.largest, np.abs(x))
        self.c = self.c * ratio
        self.rescale(ratio[:, None])

    def rescale(self, ratio):
        self.W = self.prox(self.W * ratio, np.zeros(len(self.W)))

    def adapt(self, G):
        self.squares = self.squares + np.sum(G * G, axis=1)
        seen = self.squares > 0
        self.c[seen] = self.method.step / (self.largest[seen] * np.sqrt(self.squares[seen]))

    def prox(self, V, steps):
        return np.vstack([p.prox(V[j : j + 1], s) for j, (p, s) in enumerate(zip(self.penalties, steps, strict=True))])

    def learn(self, t, G):
        self.adapt(G)
        self.W = self.prox(self.W - self.c[:, None] * G, self.c * self.alpha)


class AdaGradRDA(AdaGradFobos):
    """G = Σ G_t,   W_j = prox(−c_j G_j, c_j t α), with c_j as above."""

    def __init__(self, method, penalty, alpha, shape):
        super().__init__(method, penalty, alpha, shape)
        self.G, self.t = np.zeros(shape), 0

    def rescale(self, ratio):
        if self.t:
            self.W = self.prox(-self.c[:, None] * self.G, self.c * self.t * self.alpha)

    def learn(self, t, G):
        self.adapt(G)
        self.G, self.t = self.G + G, t
        self.W = self.prox(-self.c[:, None] * self.G, self.c * t * self.alpha)


class FTRL(AdaGradFobos):
    """Z_j = Σ G_j − σ_j W_j with W as it stood in that round, σ_j = (√s_j − √s_j before) / η,
    c_j = η / (β + √s_j),   W_j = prox(−c_j Z_j, c_j t α).
    """

    def __init__(self, method, penalty, alpha, shape):
        super().__init__(method, penalty, alpha, shape)
        self.Z = np.zeros(shape)

    def see(self, x):
        pass

    def learn(self, t, G):
        before = np.sqrt(self.squares)
        self.squares = self.squares + np.sum(G * G, axis=1)
        root = np.sqrt(self.squares)
        self.Z = self.Z + G - ((root - before) / self.method.step)[:, None] * self.W
        seen = self.squares > 0
        self.c[seen] = self.method.step / (self.method.beta + root[seen])
        self.W = self.prox(-self.c[:, None] * self.Z, self.c * t * self.alpha)


class TruncatedGradient:
    """W − η_t G_t, and every K-th round trnc(v, K η_t α a_j, θ): soft-thresholded where |v| ≤ θ, unchanged above."""

    def __init__(self, method, penalty, alpha, shape):
        self.method, self.alpha = method, 0.0 if isinstance(penalty, gs.NoPenalty) else alpha
        weights = getattr(penalty, "weights", None)
        self.a = np.ones((shape[0], 1)) if weights is None else weights[:, None]
        self.W = np.zeros(shape)

    def learn(self, t, G):
        step, period = eta(self.method.step, t), self.method.period
        V = self.W - step * G
        if t % period == 0:
            V = np.where(np.abs(V) <= self.method.threshold, soft(V, period * step * self.alpha * self.a), V)
        self.W = V


class Subgradient:
    """W − η_t (G_t + α Ξ), Ξ ∈ ∂Ω(W) with W as it stood before the round; the subgradient at zero is zero."""

    def __init__(self, method, penalty, alpha, shape):
        self.method, self.penalty, self.alpha = method, penalty, alpha
        weights = getattr(penalty, "weights", None)
        self.a = np.ones((shape[0], 1)) if weights is None else weights[:, None]
        self.W = np.zeros(shape)

    def subgradient(self):
        W, p, sign = self.W, self.penalty, np.sign(self.W)
        norms = np.linalg.norm(W, axis=1, keepdims=True)
        directions = np.divide(W, norms, out=np.zeros_like(W), where=norms > 0)
        if isinstance(p, gs.NoPenalty):
            return np.zeros_like(W)
        if isinstance(p, gs.L1):
            return self.a * sign
        if isinstance(p, gs.L2Squared):
            return self.a * W
        if isinstance(p, gs.ElasticNet):
            return self.a * (p.l1_ratio * sign + (1 - p.l1_ratio) * W)
        if isinstance(p, gs.Berhu):
            return self.a * np.where(np.abs(W) <= p.gamma, sign, W / p.gamma)
        if isinstance(p, gs.GroupL2):
            return self.a * directions
        if isinstance(p, gs.GroupLInf):  # one entry of the largest size: the first
            first = np.arange(W.shape[1]) == np.argmax(np.abs(W), axis=1)[:, None]
            return self.a * first * sign
        if isinstance(p, gs.SparseGroupL2):
            return p.l1_ratio * sign + (1 - p.l1_ratio) * self.a * directions
        raise NotImplementedError(type(p).__name__)

    def learn(self, t, G):
        step = eta(self.method.step, t)
        self.W = self.W - step * (G + self.alpha * self.subgradient())


class Pegasos:
    """η = 1/(αt):   W = (1 − ηα) W − η G_t, then onto ‖W‖₂ ≤ 1/√α if it projects."""

    def __init__(self, method, penalty, alpha, shape):
        self.method, self.alpha = method, alpha
        self.W = np.zeros(shape)

    def learn(self, t, G):
        self.W = (1 - 1 / t) * self.W - G / (self.alpha * t)
        norm, radius = np.linalg.norm(self.W), 1 / np.sqrt(self.alpha)
        if self.method.project and norm > radius:
            self.W = self.W * (radius / norm)


class ExponentiatedGradient:
    """W = W⁺ − W⁻, W± ∝ W± exp(∓η_t G_t) with Σ (W⁺ + W⁻) = radius in every column, from the uniform start."""

    def __init__(self, method, penalty, alpha, shape):
        self.method = method
        self.log = np.zeros((2, *shape))  # logarithms of W⁺ and W⁻, up to a constant a column
        self.W = np.zeros(shape)

    def learn(self, t, G):
        step = eta(self.method.step, t) * G
        self.log = self.log + np.array([-step, step])
        both = np.exp(self.log - self.log.max(axis=(0, 1)))
        both = both * self.method.radius / both.sum(axis=(0, 1))
        self.W = both[0] - both[1]


def rule_for(method, penalty, alpha, shape):
    if isinstance(method, gs.AdaGrad):
        return (AdaGradRDA if method.form == "rda" else AdaGradFobos)(method, penalty, alpha, shape)
    rules = [Fobos, RDA, FTRL, TruncatedGradient, Subgradient, Pegasos, ExponentiatedGradient]
    return {rule.__name__: rule for rule in rules}[type(method).__name__](method, penalty, alpha, shape)


def steep(loss):
    """Return whether slopes grow exponentially where the score is wrong."""
    far, one = np.array([-50.0, 50.0]), np.ones(2)
    return loss.kind != "multiclass" and np.abs(reference.loss_slope(loss, far, one)).max() > 1e9


class Intercept:
    """Never penalised, and free of scale: b − ½ · (largest |slope|) · slope / √(Σ slope²), each output by itself.

    Slopes of a steep loss say nothing about a scale: those beyond 1 count as 1 in the largest.
    """

    def __init__(self, k, loss):
        self.b, self.largest, self.squares = np.zeros(k), np.zeros(k), np.zeros(k)
        self.most = 1.0 if steep(loss) else np.inf

    def learn(self, slope):
        self.largest = np.maximum(self.largest, np.minimum(np.abs(slope), self.most))
        self.squares = self.squares + slope**2
        seen = self.squares > 0
        self.b[seen] -= 0.5 * self.largest[seen] * slope[seen] / np.sqrt(self.squares[seen])


def loss_and_slope(loss, z, y):
    """ℓ(z, y), summed over the outputs of a scalar loss, and its slope for each."""
    if loss.kind == "multiclass":
        row, label = z[None, :], np.array([int(y[0])])
        return float(reference.loss_value(loss, row, label)[0]), reference.loss_slope(loss, row, label)[0]
    return float(np.sum(reference.loss_value(loss, z, y))), reference.loss_slope(loss, z, y)


def run(
    method,
    penalty,
    alpha,
    loss,
    X,
    Y,
    sample_weight=None,
    *,
    outputs=1,
    fit_intercept=True,
    passes=1,
    batch_size=1,
    **more,
):
    """Learn from the rows of the dense X in their order, with targets Y (n × targets); a weight scales the slope.

    Every `batch_size` rows with a weight make a batch; at the end of a pass it may have fewer.
    """
    X, Y = np.asarray(X, float), np.asarray(Y, float)
    weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, float)
    if isinstance(method, gs.StepFree):
        import step_free_reference

        how = {"outputs": outputs, "fit_intercept": fit_intercept, "passes": passes, "centred": 0} | more
        return step_free_reference.run(method, penalty, alpha, loss, X, Y, weights, **how)
    rule, intercept = rule_for(method, penalty, alpha, (X.shape[1], outputs)), Intercept(outputs, loss)
    total_W, total_b, total_loss, total_weight, t = np.zeros(rule.W.shape), np.zeros(outputs), 0.0, 0.0, 0
    rows = np.flatnonzero(weights)
    for batch in [rows[i : i + batch_size] for i in range(0, len(rows), batch_size)] * passes:
        t += 1
        if hasattr(rule, "see"):
            rule.see(np.abs(X[batch]).max(axis=0))
        G, mean_slope = np.zeros(rule.W.shape), np.zeros(outputs)
        for x, y, weight in zip(X[batch], Y[batch], weights[batch], strict=True):
            value, slope = loss_and_slope(loss, x @ rule.W + intercept.b, y)
            total_loss += weight * value
            total_weight += weight
            G += np.outer(x, weight * slope) / len(batch)
            mean_slope += weight * slope / len(batch)
        rule.learn(t, G)
        if fit_intercept:
            intercept.learn(mean_slope)
        total_W += rule.W
        total_b += intercept.b
    rounds = max(t, 1)
    return Outcome(
        rule.W, intercept.b, total_W / rounds, total_b / rounds, total_loss / total_weight if t else float("nan")
    )
