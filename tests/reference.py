"""Slow, obvious NumPy twins of the compiled catalogue, by another route where there is one."""

import math

import numpy as np
from scipy.special import expit, softmax, wrightomega

# How often an interval is halved: enough to pass the last digit of its upper end.
HALVINGS = 80


def root(excess, low, high):
    """Return the last point of [low, high] where the decreasing function `excess` is ≥ 0, entry by entry."""
    for _ in range(HALVINGS):
        middle = low / 2 + high / 2
        up = excess(middle) >= 0
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    return low


# Losses


def exp_with_tangent(x):
    return np.where(x <= 600, np.exp(np.minimum(x, 600)), np.exp(600.0) * (1 + np.maximum(x - 600, 0)))


def pinball(q, r):
    return np.maximum(q * r, (q - 1) * r)


LOSS_VALUES = {
    "Logistic": lambda _, z, y: np.logaddexp(0, -y * z),
    "Hinge": lambda _, z, y: np.maximum(1 - y * z, 0),
    "SquaredHinge": lambda _, z, y: np.maximum(1 - y * z, 0) ** 2 / 2,
    "Exponential": lambda _, z, y: exp_with_tangent(-y * z),
    "Squared": lambda _, z, y: (z - y) ** 2 / 2,
    "EpsilonInsensitive": lambda loss, z, y: np.maximum(np.abs(z - y) - loss.epsilon, 0),
    "LogEpsilonInsensitive": lambda loss, z, y: (
        np.logaddexp(0, z - y - loss.epsilon) + np.logaddexp(0, y - z - loss.epsilon)
    ),
    "Huber": lambda loss, z, y: np.where(
        np.abs(z - y) <= loss.delta, (z - y) ** 2 / 2, loss.delta * (np.abs(z - y) - loss.delta / 2)
    ),
    "Quantile": lambda loss, z, y: pinball(loss.q, y - z),
    "Poisson": lambda _, z, y: exp_with_tangent(z) - y * z,
    "Gamma": lambda _, z, y: y * exp_with_tangent(-z) + z,
    "Tweedie": lambda loss, z, y: (
        exp_with_tangent((2 - loss.power) * z) / (2 - loss.power)
        + y * exp_with_tangent((1 - loss.power) * z) / (loss.power - 1)
    ),
    "Multinomial": lambda _, z, y: np.logaddexp.reduce(z, axis=1) - z[np.arange(len(y)), y],
    "MulticlassHinge": lambda _, z, y: np.max(z + 1 - np.eye(z.shape[1])[y], axis=1) - z[np.arange(len(y)), y],
    "Multitask": lambda loss, z, y: np.sum(loss_value(loss.loss, z, y), axis=1),
}


def hinge_rows(z, y):
    out = np.zeros(z.shape)
    for row, values, c in zip(out, z, y, strict=True):
        gaps = [(r != c) + values[r] - values[c] for r in range(len(values))]
        row[max(range(len(gaps)), key=lambda r: (gaps[r], r == c))] += 1
        row[c] -= 1
    return out


LOSS_SLOPES = {
    "Logistic": lambda _, z, y: -y * expit(-y * z),
    "Hinge": lambda _, z, y: np.where(y * z < 1, -y, 0.0),
    "SquaredHinge": lambda _, z, y: -y * np.maximum(1 - y * z, 0),
    "Exponential": lambda _, z, y: -y * np.exp(np.minimum(-y * z, 600)),
    "Squared": lambda _, z, y: z - y,
    "EpsilonInsensitive": lambda loss, z, y: np.where(np.abs(z - y) > loss.epsilon, np.sign(z - y), 0.0),
    "LogEpsilonInsensitive": lambda loss, z, y: expit(z - y - loss.epsilon) - expit(y - z - loss.epsilon),
    "Huber": lambda loss, z, y: np.clip(z - y, -loss.delta, loss.delta),
    "Quantile": lambda loss, z, y: np.select([z < y, z > y], [-loss.q, 1 - loss.q], 0.0),
    "Poisson": lambda _, z, y: np.exp(np.minimum(z, 600)) - y,
    "Gamma": lambda _, z, y: 1 - y * np.exp(np.minimum(-z, 600)),
    "Tweedie": lambda loss, z, y: (
        np.exp(np.minimum((2 - loss.power) * z, 600)) - y * np.exp(np.minimum((1 - loss.power) * z, 600))
    ),
    "Multinomial": lambda _, z, y: softmax(z, axis=1) - np.eye(z.shape[1])[y],
    "MulticlassHinge": lambda _, z, y: hinge_rows(z, y),
    "Multitask": lambda loss, z, y: loss_slope(loss.loss, z, y),
}

LOSS_LINKS = {
    "Logistic": lambda _, z: expit(z),
    "Exponential": lambda _, z: expit(2 * z),
    "Poisson": lambda _, z: np.exp(np.minimum(z, 600)),
    "Gamma": lambda _, z: np.exp(np.minimum(z, 600)),
    "Tweedie": lambda _, z: np.exp(np.minimum(z, 600)),
    "Multinomial": lambda _, z: softmax(z, axis=-1),
    "Multitask": lambda loss, z: loss_link(loss.loss, z),
}


def loss_value(loss, z, y):
    return LOSS_VALUES[type(loss).__name__](loss, z, y)


def loss_slope(loss, z, y):
    return LOSS_SLOPES[type(loss).__name__](loss, z, y)


def loss_link(loss, z):
    return LOSS_LINKS.get(type(loss).__name__, lambda _, z: z)(loss, z)


# Blocks: what is penalised as one


def feature_groups(groups, d):
    """Return the groups as lists of features; groups are lists of features already, or one label per feature."""
    if groups is None:
        return [[j] for j in range(d)]
    if isinstance(groups[0], (int, np.integer, str)):
        return [[j for j in range(d) if groups[j] == label] for label in sorted(set(groups))]
    return [list(group) for group in groups]


def blocks(penalty, shape):
    """Return the flat indices and the weight of every block of an array of this shape."""
    places = np.arange(math.prod(shape)).reshape(shape[0], math.prod(shape[1:]))
    groups = feature_groups(getattr(penalty, "groups", None), shape[0])
    weights = getattr(penalty, "weights", None)
    weights = np.ones(len(groups)) if weights is None else weights
    return [(places[group].ravel(), weight) for group, weight in zip(groups, weights, strict=True)]


def as_matrix(w):
    return w.reshape(w.shape[0], math.prod(w.shape[1:]))


def whole(_, shape):
    return [(np.arange(math.prod(shape)), 1.0)]


# Single numbers: φ, the right-hand slope of φ on w ≥ 0, φ* with some slack at the edge of its domain, the dual norm


class ScalarL1:
    def __init__(self, _):
        pass

    def value(self, w):
        return abs(w)

    def slope(self, w):
        return np.ones_like(w)

    def conjugate(self, u, slack):
        return 0.0 if abs(u) <= 1 + slack else math.inf

    def dual(self, v):
        return abs(v)


class ScalarL2Squared(ScalarL1):
    def value(self, w):
        return w * w / 2

    def slope(self, w):
        return w

    def conjugate(self, u, _):
        return u * u / 2

    def dual(self, v):
        return math.inf if v else 0.0


class ScalarBerhu(ScalarL1):
    def __init__(self, penalty):
        self.gamma = penalty.gamma

    def value(self, w):
        return abs(w) if abs(w) <= self.gamma else (w * w + self.gamma**2) / (2 * self.gamma)

    def slope(self, w):
        return np.maximum(1.0, w / self.gamma)

    def conjugate(self, u, slack):
        return self.gamma * max(max(abs(u) - slack, 0) ** 2 - 1, 0) / 2


class ScalarElasticNet(ScalarL1):
    def __init__(self, penalty):
        self.ratio = penalty.l1_ratio

    def value(self, w):
        return self.ratio * abs(w) + (1 - self.ratio) * w * w / 2

    def slope(self, w):
        return self.ratio + (1 - self.ratio) * w

    def conjugate(self, u, slack):
        if self.ratio == 1:
            return super().conjugate(u, slack)
        return max(abs(u) - self.ratio - slack, 0) ** 2 / (2 * (1 - self.ratio))

    def dual(self, v):
        return 0.0 if v == 0 else math.inf if self.ratio == 0 else abs(v) / self.ratio


class ScalarNonNegativeL1(ScalarL1):
    def value(self, w):
        return w if w >= 0 else math.inf

    def conjugate(self, u, slack):
        return 0.0 if u <= 1 + slack else math.inf

    def dual(self, v):
        return max(v, 0.0)


class Elementwise:
    def __init__(self, scalar):
        self.scalar = scalar

    def value(self, penalty, w):
        phi = self.scalar(penalty)
        if self.scalar is ScalarNonNegativeL1 and np.any(w < 0):  # a weight of 0 keeps the domain
            return math.inf
        return math.fsum(a * phi.value(x) for at, a in blocks(penalty, w.shape) for x in w.flat[at].tolist())

    def prox(self, penalty, v, s):
        phi = self.scalar(penalty)
        size, strength = np.abs(v.ravel()), np.zeros(v.size)
        for at, a in blocks(penalty, v.shape):
            strength[at] = s * a
        kept = root(lambda w: size - w - strength * phi.slope(w), np.zeros(v.size), size * (1 + 1e-15))
        out = np.copysign(kept, v.ravel())
        if self.scalar is ScalarNonNegativeL1:
            out = np.maximum(out, 0)
        return out.reshape(v.shape) + 0.0

    def dual_norm(self, penalty, v):
        phi = self.scalar(penalty)
        parts = [(phi.dual(x), a) for at, a in blocks(penalty, v.shape) for x in v.flat[at]]
        return max((dual / a if a else math.inf for dual, a in parts if dual), default=0.0)

    def conjugate(self, penalty, u, slack):
        phi = self.scalar(penalty)
        total = 0.0
        for at, a in blocks(penalty, u.shape):
            for x in u.flat[at]:
                if a:
                    total += a * phi.conjugate(x / a, slack / a)
                elif x > slack or (x < -slack and self.scalar is not ScalarNonNegativeL1):
                    total = math.inf
        return total


# Blocks: norm, prox and dual norm of one block, and by how much u is outside the dual ball of radius ω


def norm2(x):
    return float(np.hypot.reduce(x, initial=0.0))


def soft(v, s):
    return np.sign(v) * np.maximum(np.abs(v) - s, 0)


class BlockL2:
    def __init__(self, _):
        pass

    def norm(self, x, weight):
        return weight * norm2(x)

    def prox(self, x, s, weight):
        return np.zeros(len(x)) if norm2(x) <= s * weight else x - x * (s * weight / norm2(x))

    def dual(self, x, weight):
        return 0.0 if not np.any(x) else norm2(x) / weight if weight else math.inf

    def outside(self, u, weight):
        return norm2(u) - weight


class BlockLInf(BlockL2):
    def norm(self, x, weight):
        return weight * np.max(np.abs(x), initial=0.0)

    def prox(self, x, s, weight):
        if np.abs(x).sum() <= s * weight:
            return np.zeros(len(x))
        cap = root(lambda c: np.maximum(np.abs(x) - c, 0).sum() - s * weight, 0.0, np.abs(x).max())
        return np.clip(x, -cap, cap) if s * weight > 0 else x

    def dual(self, x, weight):
        return 0.0 if not np.any(x) else np.abs(x).sum() / weight if weight else math.inf

    def outside(self, u, weight):
        return np.abs(u).sum() - weight


class BlockSparseL2(BlockL2):
    def __init__(self, penalty):
        self.ratio = penalty.l1_ratio

    def norm(self, x, weight):
        return self.ratio * np.abs(x).sum() + (1 - self.ratio) * weight * norm2(x)

    def prox(self, x, s, weight):
        return BlockL2(None).prox(soft(x, s * self.ratio), s, (1 - self.ratio) * weight)

    def dual(self, x, weight):
        if not np.any(x):
            return 0.0
        slack, largest = (1 - self.ratio) * weight, np.abs(x).max()
        high = min(largest / self.ratio if self.ratio else math.inf, norm2(x) / slack if slack else math.inf)
        if math.isinf(high):
            return math.inf
        return float(root(lambda t: norm2(soft(x, t * self.ratio)) - t * slack, 0.0, high * (1 + 1e-15)))

    def outside(self, u, weight):
        return norm2(soft(u, self.ratio)) - (1 - self.ratio) * weight


class BlockNonNegativeL2(BlockL2):
    def norm(self, x, weight):
        return math.inf if np.any(x < 0) else super().norm(x, weight)

    def prox(self, x, s, weight):
        return super().prox(np.maximum(x, 0), s, weight)

    def dual(self, x, weight):
        return super().dual(np.maximum(x, 0), weight)

    def outside(self, u, weight):
        return super().outside(np.maximum(u, 0), weight)


class Blockwise:
    def __init__(self, block, blocks=blocks):
        self.block, self.blocks = block, blocks

    def value(self, penalty, w):
        block = self.block(penalty)
        return float(sum(block.norm(w.flat[at], weight) for at, weight in self.blocks(penalty, w.shape)))

    def prox(self, penalty, v, s):
        block, out = self.block(penalty), np.zeros(v.size)
        for at, weight in self.blocks(penalty, v.shape):
            out[at] = block.prox(v.flat[at], s, weight)
        return out.reshape(v.shape)

    def dual_norm(self, penalty, v):
        block = self.block(penalty)
        return max((block.dual(v.flat[at], weight) for at, weight in self.blocks(penalty, v.shape)), default=0.0)

    def conjugate(self, penalty, u, slack):
        block = self.block(penalty)
        outside = [block.outside(u.flat[at], weight) for at, weight in self.blocks(penalty, u.shape)]
        return 0.0 if max(outside, default=0.0) <= slack * u.size else math.inf


# Sets: `norm` and `radius` for balls, the projection, and the conjugate, which is the support function


def project_simplex(v, radius):
    """By sorting, measured from the largest entry so that no digit of the radius is lost."""
    if radius == 0:
        return np.zeros(len(v))
    below = v - v.max()
    falling = np.sort(below)[::-1]
    cuts = (np.cumsum(falling) - radius) / np.arange(1, len(v) + 1)
    cut = cuts[np.flatnonzero(falling > cuts)[-1]]
    return np.maximum(below - cut, 0)


def project_l1_ball(v, radius):
    if np.abs(v).sum() <= radius:
        return v.copy()
    return np.sign(v) * project_simplex(np.abs(v), radius)


def project_weighted_l1_ball(v, radius, a):
    """By bisection on the multiplier."""
    size = np.abs(v)
    if (a * size).sum() <= radius:
        return v.copy()
    most = np.max(size[a > 0] / a[a > 0])
    theta = root(lambda t: (a * np.maximum(size - t * a, 0)).sum() - radius, 0.0, most)
    return np.sign(v) * (np.maximum(size - theta * a, 0) if radius > 0 else np.where(a > 0, 0, size))


def project_l2_ball(v, radius):
    return v.copy() if norm2(v) <= radius else v / norm2(v) * radius


def project_box(v, low, high):
    return np.minimum(np.maximum(v, low), high)


def project_group_l2_ball(w, radius, groups=None):
    parts = [(as_matrix(w)[group], group) for group in feature_groups(groups, len(w))]
    norms = np.array([norm2(part.ravel()) for part, _ in parts])
    out = np.zeros_like(as_matrix(w))
    for (part, group), norm, kept in zip(parts, norms, project_l1_ball(norms, radius), strict=True):
        out[group] = part if kept == norm else part / norm * kept
    return out.reshape(w.shape)


def cap_for(sizes, price):
    """Return the cap θ of one group with Σ [|v| − θ]₊ = price, and 0 when the price buys it all."""
    if sizes.sum() <= price:
        return 0.0
    return float(sizes.max() - project_simplex(sizes, price).max()) if price > 0 else float(sizes.max(initial=0.0))


def project_group_linf_ball(w, radius, groups=None):
    """By bisection on the price that all groups share."""
    parts = [(np.abs(as_matrix(w)[group]).ravel(), group) for group in feature_groups(groups, len(w))]
    if sum(sizes.max(initial=0.0) for sizes, _ in parts) <= radius:
        return w.copy()
    most = max(sizes.sum() for sizes, _ in parts)
    price = root(lambda p: sum(cap_for(sizes, float(p)) for sizes, _ in parts) - radius, 0.0, most)
    out = as_matrix(w).copy()
    for sizes, group in parts:
        cap = cap_for(sizes, float(price)) if radius > 0 else 0.0
        out[group] = np.clip(out[group], -cap, cap)
    return out.reshape(w.shape)


class Ball:
    def __init__(self, norm, project):
        self.norm, self.project = norm, project

    def value(self, ball, w):
        return 0.0 if self.norm.value(ball, w) - ball.radius <= 1e-9 * (ball.radius or 1.0) else math.inf

    def prox(self, ball, v, _):
        return self.project(ball, v)

    def dual_norm(self, ball, v):
        return self.norm.dual_norm(ball, v)

    def conjugate(self, ball, u, _):
        return ball.radius * self.dual_norm(ball, u) if np.any(u) else 0.0


def flat(project):
    return lambda ball, v: project(v.ravel(), ball.radius).reshape(v.shape)


def project_onto_l1_ball(ball, v):
    if ball.weights is None:
        return flat(project_l1_ball)(ball, v)
    a = np.repeat(ball.weights, v.size // len(v))
    return project_weighted_l1_ball(v.ravel(), ball.radius, a).reshape(v.shape)


class Simplex(Ball):
    def __init__(self):
        super().__init__(None, flat(project_simplex))

    def value(self, simplex, w):
        far = max(abs(math.fsum(w.flat) - simplex.radius), -w.min(initial=0.0))
        return 0.0 if far <= 1e-9 * (simplex.radius or 1.0) else math.inf

    def conjugate(self, simplex, u, _):
        return simplex.radius * u.max()


class Box:
    def bounds(self, box, w):
        low, high = (np.asarray(b, float) for b in (box.low, box.high))
        return [np.broadcast_to(b.reshape(-1, 1) if b.ndim and w.ndim == 2 else b, w.shape) for b in (low, high)]

    def value(self, box, w):
        low, high = self.bounds(box, w)
        slack = 1e-9 * np.maximum(1, np.abs(w))
        return 0.0 if np.all((low <= w + slack) & (w - slack <= high)) else math.inf

    def prox(self, box, v, _):
        return project_box(v, *self.bounds(box, v))

    def conjugate(self, box, u, _):
        low, high = self.bounds(box, u)
        return sum(x * (h if x > 0 else b) for x, b, h in zip(u.flat, low.flat, high.flat, strict=True) if x)


class KL:
    def prior(self, penalty, w):
        return np.full(w.size, 1 / w.size) if penalty.prior is None else np.asarray(penalty.prior)

    def value(self, penalty, w):
        p, w = self.prior(penalty, w), w.ravel()
        if abs(math.fsum(w) - 1) > 1e-9 or w.min() < -1e-9 or np.any(w[p == 0] > 0):
            return math.inf
        return sum(x * (math.log(x) - math.log(q)) for x, q in zip(w, p, strict=True) if x > 0)

    def prox(self, penalty, v, s):
        p = self.prior(penalty, v)
        out, used = np.zeros(v.size), p > 0
        u = v.ravel()[used] - v.ravel()[used].max()  # a common shift moves only the multiplier
        if s == 0:
            out[used] = project_simplex(u, 1.0)
            return out.reshape(v.shape)

        def weights(nu):
            return s * wrightomega(np.log(p[used] / s) + (u - nu) / s - 1)

        start = np.max(u + s * np.log(p[used])) - s
        nu = root(lambda t: weights(t).sum() - 1, start - 1, start + s * math.log(v.size) + 1)
        out[used] = weights(nu)
        return out.reshape(v.shape)

    def conjugate(self, penalty, u, _):
        p, u = self.prior(penalty, u), u.ravel()
        return float(np.logaddexp.reduce(np.log(p[p > 0]) + u[p > 0]))


class NoPenalty:
    def value(self, _, w):
        return 0.0

    def prox(self, _, v, s):
        return v.copy()

    def dual_norm(self, _, v):
        return math.inf if np.any(v) else 0.0

    def conjugate(self, _, u, slack):
        return 0.0 if np.all(np.abs(u) <= slack) else math.inf


TWINS = {
    "L1": Elementwise(ScalarL1),
    "L2Squared": Elementwise(ScalarL2Squared),
    "Berhu": Elementwise(ScalarBerhu),
    "ElasticNet": Elementwise(ScalarElasticNet),
    "NonNegativeL1": Elementwise(ScalarNonNegativeL1),
    "L2": Blockwise(BlockL2, whole),
    "LInf": Blockwise(BlockLInf, whole),
    "GroupL2": Blockwise(BlockL2),
    "GroupLInf": Blockwise(BlockLInf),
    "SparseGroupL2": Blockwise(BlockSparseL2),
    "NonNegativeGroupL2": Blockwise(BlockNonNegativeL2),
    "KL": KL(),
    "NoPenalty": NoPenalty(),
    "Simplex": Simplex(),
    "L1Ball": Ball(Elementwise(ScalarL1), project_onto_l1_ball),
    "L2Ball": Ball(Blockwise(BlockL2, whole), flat(project_l2_ball)),
    "Box": Box(),
    "GroupL2Ball": Ball(Blockwise(BlockL2), lambda b, w: project_group_l2_ball(w, b.radius, b.groups)),
    "GroupLInfBall": Ball(Blockwise(BlockLInf), lambda b, w: project_group_linf_ball(w, b.radius, b.groups)),
}


def value(penalty, w):
    return TWINS[type(penalty).__name__].value(penalty, w)


def prox(penalty, v, s):
    return TWINS[type(penalty).__name__].prox(penalty, v, s)


def dual_norm(penalty, v):
    return TWINS[type(penalty).__name__].dual_norm(penalty, v)


def conjugate(penalty, u, slack):
    """Return Ω*(u) = sup <u, w> − Ω(w), taking a u that is outside the domain by at most `slack` as inside."""
    return TWINS[type(penalty).__name__].conjugate(penalty, u, slack)


class DenseL1Ball:
    """The dense twin of SparseL1Ball: the whole vector is projected after every step."""

    def __init__(self, n_features, radius):
        self.w, self.radius = np.zeros(n_features), radius

    def update(self, indices, deltas):
        v = self.w.copy()
        for j, delta in zip(indices, deltas, strict=True):
            v[j] += delta
        self.w = project_l1_ball(v, self.radius)
