"""Slow, obvious twins for boosting: the sums of Lemma 4.1, the bounds, and a proximal gradient solver."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, softmax

import reference

# The pulls of one feature


def pulls(loss, z, y, x, c):
    """Return μ⁺ and μ⁻ of a column x, one an output: example by example, as in the paper."""
    up, down = np.zeros(z.shape[1]), np.zeros(z.shape[1])
    for i in range(len(z)):
        for r in range(z.shape[1]):
            rises, falls = one_pull(loss, z[i], y[i], r)
            if x[i] > 0:
                up[r] += c[i] * rises * x[i]
                down[r] += c[i] * falls * x[i]
            elif x[i] < 0:
                up[r] -= c[i] * falls * x[i]
                down[r] -= c[i] * rises * x[i]
    return up, down


def one_pull(loss, z, y, r):
    """Return how much an example gains, at first order, when z_r rises and when it falls."""
    name = type(loss).__name__
    if name == "Multinomial":
        q = softmax(z)
        return (1 - q[r], 0.0) if int(y[0]) == r else (0.0, q[r])
    if name == "LogEpsilonInsensitive":
        return expit(y[r] - z[r] - loss.epsilon), expit(z[r] - y[r] - loss.epsilon)
    slope = float(reference.loss_slope(loss, z[r], y[r]))
    return max(-slope, 0.0), max(slope, 0.0)


# The bounds


def ada_change(up, down, a, delta):
    """Return the bound on the change of the loss when a row moves by delta."""
    return float(np.sum(a * (up * np.expm1(-delta / a) + down * np.expm1(delta / a))))


def grad_change(up, down, a, delta):
    return float(np.sum((down - up) * delta + delta**2 / (2 * a)))


CHANGES = {"ada": ada_change, "grad": grad_change}


def ada_scale(loss, x, c):
    return (0.5 if type(loss).__name__ == "Multinomial" else 1.0) / np.abs(x).max()


def grad_scale(loss, x, c):
    return 1 / (loss.smoothness * np.sum(c * x**2))


SCALES = {"ada": ada_scale, "grad": grad_scale}


def lowest(f, low, high):
    """Return the least value of a convex function on an interval: halving brackets, then SciPy inside."""
    points = np.linspace(low, high, 201)
    at = int(np.argmin([f(t) for t in points]))
    low, high = points[max(at - 1, 0)], points[min(at + 1, 200)]
    found = minimize_scalar(f, bounds=(low, high), method="bounded", options={"xatol": 1e-14 * max(1.0, high - low)})
    return min(float(found.fun), f(low), f(high))


# The whole problem


def losses_of(loss, z, y):
    if type(loss).__name__ == "Multinomial":
        return reference.loss_value(loss, z, y[:, 0].astype(int))
    return np.sum(reference.loss_value(loss, z, y), axis=1)


def slopes_of(loss, z, y):
    if type(loss).__name__ == "Multinomial":
        return reference.loss_slope(loss, z, y[:, 0].astype(int))
    return reference.loss_slope(loss, z, y)


def hessian(loss, z, y, h=1e-5):
    """Return the second derivatives of the losses in the margins, n × k × k, by differences of the slopes."""
    steps = h * np.eye(z.shape[1])
    return np.stack([(slopes_of(loss, z + e, y) - slopes_of(loss, z - e, y)) / (2 * h) for e in steps], axis=2)


def model(loss, z, y, c, d):
    """Return the value and the slopes of the quadratic model of the loss at z, d further on."""
    slopes = c[:, None] * slopes_of(loss, z, y)
    bent = c[:, None] * np.einsum("irs,is->ir", hessian(loss, z, y), d)
    return c @ losses_of(loss, z, y) + np.sum((slopes + bent / 2) * d), slopes + bent


def objective(loss, penalty, alpha, X, y, c, W, b):
    """Return mean loss + αΩ(W)."""
    return float(c @ losses_of(loss, X @ W + b, y) / c.sum() + alpha * penalty.value(W))


def gradient(loss, X, y, c, W, b):
    """Return the gradients of the mean loss in W and in b."""
    s = c[:, None] * slopes_of(loss, X @ W + b, y) / c.sum()
    return X.T @ s, s.sum(axis=0)


def solve(loss, penalty, alpha, X, y, c, outputs, intercept=True, steps=20_000, tol=1e-10):
    """Return W and b of the problem by accelerated proximal gradient steps with restarts."""
    ones = np.hstack([X, np.ones((len(X), 1))]) if intercept else X
    step = 1 / (loss.smoothness * np.linalg.norm(np.sqrt(c / c.sum())[:, None] * ones, 2) ** 2)
    W, b = np.zeros((X.shape[1], outputs)), np.zeros(outputs)
    V, a, t = W, b, 1.0
    for _ in range(steps):
        gW, gb = gradient(loss, X, y, c, V, a)
        new_W = penalty.prox(V - step * gW, step * alpha)
        new_b = a - step * gb if intercept else b
        if np.sum((V - new_W) * (new_W - W)) + np.sum((a - new_b) * (new_b - b)) > 0:
            t = 1.0
        new_t = (1 + np.sqrt(1 + 4 * t**2)) / 2
        V, a = new_W + (t - 1) / new_t * (new_W - W), new_b + (t - 1) / new_t * (new_b - b)
        moved = max(np.abs(new_W - W).max(), np.abs(new_b - b).max())
        W, b, t = new_W, new_b, new_t
        if moved < tol * step:
            break
    return W, b


# AdaBoost as everybody knows it


def adaboost(H, y, rounds):
    """Return the weights of classical AdaBoost over the columns of H (±1), the best of which moves in each round."""
    w = np.zeros(H.shape[1])
    for _ in range(rounds):
        q = np.exp(-y * (H @ w))
        right = np.array([q[y * h > 0].sum() for h in H.T])
        wrong = np.array([q[y * h < 0].sum() for h in H.T])
        best = int(np.argmax((np.sqrt(right) - np.sqrt(wrong)) ** 2))
        w[best] += np.log(right[best] / wrong[best]) / 2
    return w
