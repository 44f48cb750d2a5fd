"""Batch learning against optima that this library did not compute: cvxpy's, on random problems.

Problems mix losses, penalties, scales of y and of columns, offsets, sample weights and forms of X. Every solver that
does not refuse must return an objective that is true for its weights, a gap that reaches down to the outside optimum,
and no more than `tol` above it; or warn, with the gap.

GOSSAMER_OUTSIDE=1000 makes it 1,000 problems, and GOSSAMER_OUTSIDE_FROM=1000 the next ones.
"""

import os
import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import gossamer as gs
from gossamer.batch.solvers.base import SOLVERS

cp = pytest.importorskip("cvxpy", reason="the outside optima are cvxpy's")

PROBLEMS = int(os.environ.get("GOSSAMER_OUTSIDE", "120"))
FIRST = int(os.environ.get("GOSSAMER_OUTSIDE_FROM", "0"))
TOL = 1e-6
EPS = 2.0**-52
GROUPS = [[0, 1], [2, 3, 4]]  # of five features

# Losses: values in extended precision, and the outside expression


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def huber(r, d):
    return np.where(np.abs(r) <= d, r * r / 2, d * (np.abs(r) - d / 2))


def tail(r, e):
    return np.maximum(np.abs(r) - e, 0)


BINARY = {
    "logistic": (lambda z, y: softplus(-y * z), lambda z, y: cp.logistic(-cp.multiply(y, z))),
    "hinge": (lambda z, y: np.maximum(1 - y * z, 0), lambda z, y: cp.pos(1 - cp.multiply(y, z))),
    "squared_hinge": (
        lambda z, y: np.maximum(1 - y * z, 0) ** 2 / 2,
        lambda z, y: cp.square(cp.pos(1 - cp.multiply(y, z))) / 2,
    ),
    "exponential": (lambda z, y: np.exp(-y * z), lambda z, y: cp.exp(-cp.multiply(y, z))),
}
COUNTS = {
    "poisson": (lambda z, y: np.exp(z) - y * z, lambda z, y: cp.exp(z) - cp.multiply(y, z)),
    "gamma": (lambda z, y: y * np.exp(-z) + z, lambda z, y: cp.multiply(y, cp.exp(-z)) + z),
    "tweedie": (
        lambda z, y: 2 * np.exp(z / 2) + 2 * y * np.exp(-z / 2),
        lambda z, y: 2 * cp.exp(z / 2) + 2 * cp.multiply(y, cp.exp(-z / 2)),
    ),
}
# Of a residual r: ours for a setting t, values, expression, and m with ℓ(s r, s t) = s^m ℓ(r, t)
REAL = {
    "squared": (lambda t: gs.Squared(), lambda r, t: r * r / 2, lambda r, t: cp.square(r) / 2, 2),
    "huber": (gs.Huber, huber, lambda r, t: cp.huber(r, t) / 2, 2),
    "epsilon_insensitive": (gs.EpsilonInsensitive, tail, lambda r, t: cp.pos(cp.abs(r) - t), 1),
    "quantile": (
        lambda t: gs.Quantile(0.3),
        lambda r, t: np.where(r < 0, -0.3 * r, 0.7 * r),
        lambda r, t: cp.maximum(-0.3 * r, 0.7 * r),
        1,
    ),
}


def log_tail(r, t):
    return softplus(r - t) + softplus(-r - t)


def log_tail_expression(r, t):
    return cp.logistic(r - t) + cp.logistic(-r - t)


NAMES = [*BINARY, *COUNTS, *REAL, "log_epsilon_insensitive", "multinomial", "two targets"]


# Penalties


def blocks(w, norm):
    return cp.sum([norm(w[group, :]) for group in GROUPS])


def berhu(w, gamma):
    return cp.sum(cp.abs(w) + cp.square(cp.pos(cp.abs(w) - gamma)) / (2 * gamma))


# Ours for weights in units of D; Ω and the constraints for weights in units of 1; m with Ω(D w) = D^m Ω(w)
PENALTIES = {
    "none": (lambda D: gs.NoPenalty(), lambda w: 0 * cp.sum(w), None, 1),
    "l1": (lambda D: gs.L1(), lambda w: cp.sum(cp.abs(w)), None, 1),
    "l1, weights": (
        lambda D: gs.L1(weights=[1.0, 0.5, 2.0, 1.0, 3.0]),
        lambda w: cp.sum(np.array([[1.0, 0.5, 2.0, 1.0, 3.0]]) @ cp.abs(w)),
        None,
        1,
    ),
    "elastic net": (lambda D: gs.ElasticNet(D / (1 + D)), None, None, None),  # both parts of one size; see Problem
    "l2 squared": (lambda D: gs.L2Squared(), lambda w: cp.sum_squares(w) / 2, None, 2),
    "berhu": (lambda D: gs.Berhu(0.5 * D), lambda w: berhu(w, 0.5), None, 1),
    "l2": (lambda D: gs.L2(), lambda w: cp.norm(cp.vec(w, order="C"), 2), None, 1),
    "linf": (lambda D: gs.LInf(), lambda w: cp.max(cp.abs(w)), None, 1),
    "group l2": (lambda D: gs.GroupL2(groups=GROUPS), lambda w: blocks(w, lambda v: cp.norm(v, "fro")), None, 1),
    "rows l2": (lambda D: gs.GroupL2(), lambda w: cp.sum(cp.norm(w, 2, axis=1)), None, 1),
    "group linf": (lambda D: gs.GroupLInf(groups=GROUPS), lambda w: blocks(w, lambda v: cp.max(cp.abs(v))), None, 1),
    "sparse group l2": (
        lambda D: gs.SparseGroupL2(0.5),
        lambda w: 0.5 * cp.sum(cp.abs(w)) + 0.5 * cp.sum(cp.norm(w, 2, axis=1)),
        None,
        1,
    ),
    "non-negative l1": (lambda D: gs.NonNegativeL1(), lambda w: cp.sum(w), lambda w: [w >= 0], 1),
    "l1 ball": (lambda D: gs.L1Ball(D), None, lambda w: [cp.sum(cp.abs(w)) <= 1], 1),
    "l2 ball": (lambda D: gs.L2Ball(D), None, lambda w: [cp.norm(cp.vec(w, order="C"), 2) <= 1], 1),
    "simplex": (lambda D: gs.Simplex(D), None, lambda w: [w >= 0, cp.sum(w) == 1], 1),
    "box": (lambda D: gs.Box(-0.5 * D, D), None, lambda w: [w >= -0.5, w <= 1], 1),
    "group l2 ball": (
        lambda D: gs.GroupL2Ball(D, groups=GROUPS),
        None,
        lambda w: [blocks(w, lambda v: cp.norm(v, "fro")) <= 1],
        1,
    ),
}


class Problem:
    """One random problem: ours in the units drawn, the outside one in units of its own, centred and scaled."""

    def __init__(self, seed):
        rng = np.random.default_rng([19, seed])
        self.loss, self.penalty = NAMES[seed % len(NAMES)], list(PENALTIES)[seed % len(PENALTIES)]
        self.n, self.d, self.k = int(rng.integers(20, 60)), 5, 1
        base = rng.standard_normal((self.n, self.d)) * (rng.random((self.n, self.d)) < rng.choice([0.5, 1.0]))
        base[0] = 1.0  # no column is empty
        self.spread = 10.0 ** (rng.uniform(-4, 4) + rng.uniform(-1, 1, self.d) * rng.choice([0, 1]))
        shifts = rng.choice([0.0, 10.0 ** rng.uniform(0, 6)]) * rng.standard_normal(self.d)
        self.fit_intercept = bool(rng.random() < 0.8)
        self.X = base * self.spread + (shifts * self.spread if self.fit_intercept else 0.0)
        self.weight = rng.choice([0, 1]) * 10.0 ** rng.uniform(-3, 3, self.n)
        self.weight = np.ones(self.n) if not self.weight.any() else self.weight
        self.p = self.weight / self.weight.sum()
        signal = base @ rng.standard_normal((self.d, 3)) + 0.5 * rng.standard_t(3, (self.n, 3))
        self.s = self.c = 1.0
        t = 10.0 ** rng.uniform(-2, 1)
        if self.loss in BINARY:
            self.y, self.made = np.where(signal[:, 0] > 0, 1.0, -1.0), self.loss
            self.value, self.expression = BINARY[self.loss]
        elif self.loss in COUNTS:
            self.y, self.made = rng.poisson(np.exp(np.clip(signal[:, 0] / 2, -2, 4))) + 1.0, self.loss
            self.value, self.expression = COUNTS[self.loss]
        elif self.loss == "multinomial":
            self.y, self.k, self.made = signal.argmax(axis=1).astype(float), 3, "logistic"
        elif self.loss == "log_epsilon_insensitive":
            self.y, self.made = (
                3 * signal[:, 0] + rng.choice([0, 1e5]) * self.fit_intercept,
                gs.LogEpsilonInsensitive(t),
            )
            self.value, self.expression = (
                (lambda z, y: log_tail(z - y, t)),
                (lambda z, y: log_tail_expression(z - y, t)),
            )
        else:
            name = "huber" if self.loss == "two targets" else self.loss
            make, value, expression, power = REAL[name]
            self.k = 2 if self.loss == "two targets" else 1
            self.s = 10.0 ** rng.uniform(-4, 4)
            self.c = self.s**power
            self.made = make(t * self.s)
            offset = rng.choice([0.0, 10.0 ** rng.uniform(0, 7)]) * self.fit_intercept
            self.y = self.s * (signal[:, : self.k] + offset)
            self.y = self.y[:, 0] if self.k == 1 else self.y
            self.value = lambda z, y: value(z - y, t * self.s)
            self.expression = lambda z, y: expression(z - y, t)
        self.unit = self.s / np.exp(np.mean(np.log(self.spread)))  # of w
        make, self.omega, self.constraints, self.order = PENALTIES[self.penalty]
        self.ours = make(self.unit)
        self.strength = 10.0 ** rng.uniform(-3, -0.3)  # in the units of the outside problem, where F is about 1
        if self.order is None:  # α ρ |w| + α (1 − ρ) w² / 2, of the ρ that is left after rounding
            self.alpha = self.strength * self.c * (1 + self.unit) / self.unit**2
            linear = self.alpha * self.ours.l1_ratio * self.unit / self.c / self.strength
            square = self.alpha * (1 - self.ours.l1_ratio) * self.unit**2 / self.c / self.strength
            self.omega = lambda w: linear * cp.sum(cp.abs(w)) + square * cp.sum_squares(w) / 2
        else:  # α Ω(w) = c · strength · Ω(w / unit)
            self.alpha = 1.0 if self.omega is None else self.strength * self.c * self.unit**-self.order
        form = rng.choice(["dense", "fortran", "csr", "csc"])
        forms = {"dense": np.asarray, "fortran": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}
        self.form = forms[form]
        self.name = f"{seed}: {self.loss}, {self.penalty}, {form}, intercept {self.fit_intercept}"

    def outside(self):
        """Return W and b of the outside optimum, in our units and extended precision, or None if it has none."""
        middle = np.average(self.X, axis=0, weights=self.p) if self.fit_intercept else np.zeros(self.d)
        y0 = np.median(self.y, axis=0) if self.fit_intercept and self.made_of_residual() else 0.0
        u, b = cp.Variable((self.d, self.k)), cp.Variable(self.k)
        scaled = (self.X - middle) * (self.unit / self.s)
        z = scaled @ u + (np.ones((self.n, 1)) @ cp.reshape(b, (1, self.k), order="C") if self.fit_intercept else 0)
        y = ((self.y - y0) / self.s).reshape(self.n, -1)
        if self.loss == "multinomial":
            right = np.eye(3)[self.y.astype(int)]
            loss = self.p @ (cp.log_sum_exp(z, axis=1) - cp.sum(cp.multiply(right, z), axis=1))
        else:
            loss = cp.sum(self.p @ self.expression(z, y))
        total = loss if self.omega is None else loss + self.strength * self.omega(u)
        problem = cp.Problem(cp.Minimize(total), self.constraints(u) if self.constraints else [])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                problem.solve(solver=cp.CLARABEL)
            except cp.SolverError:
                return None
        if problem.status not in ("optimal", "optimal_inaccurate") or u.value is None:
            return None
        W = self.ours.prox(u.value[:, 0] * self.unit if self.k == 1 else u.value * self.unit, 0.0).reshape(
            self.d, self.k
        )
        W = W.astype(np.longdouble)
        b = (b.value * np.longdouble(self.s) if self.fit_intercept else np.zeros(self.k)) + y0
        return W, b - middle.astype(np.longdouble) @ W

    def made_of_residual(self):
        return self.loss in REAL or self.loss in ("log_epsilon_insensitive", "two targets")

    def value_at(self, W, b):
        """Return F in extended precision, and a bound on what rounding W and b to doubles changes."""
        W, b = W.astype(np.longdouble), np.asarray(b, np.longdouble)
        z = self.X.astype(np.longdouble) @ W + b
        y = self.y.astype(np.longdouble).reshape(self.n, -1)
        rounding = np.abs(self.X) @ np.abs(W) + np.abs(b) + (np.abs(y) if self.made_of_residual() else 0.0)
        rounding *= (self.d + 2) * EPS  # of d products, their sum, b and y
        if self.loss == "multinomial":
            top = z.max(axis=1, keepdims=True)
            each = top + np.log(np.exp(z - top).sum(axis=1, keepdims=True)) - np.take_along_axis(z, y.astype(int), 1)
            off = 2 * rounding
        else:
            each = self.value(z, y)
            off = np.maximum(*(np.abs(self.value(z + by, y) - each) for by in (rounding, -rounding)))
        value = np.sum(self.p @ each)
        if self.omega is not None:
            value += self.c * self.strength * float(self.omega(cp.Constant(W.astype(float) / self.unit)).value)
        return float(value), float(np.sum(self.p @ off)) + (self.n + self.d) * EPS * abs(float(value))


def fitted(problem, solver):
    """Return the fitted estimator and the warnings, or None if the solver refuses."""
    regression = problem.made_of_residual() or problem.loss in COUNTS
    make = gs.BatchRegressor if regression else gs.BatchClassifier
    loss = gs.Tweedie(1.5) if problem.made == "tweedie" else problem.made
    model = make(loss, problem.ours, problem.alpha, solver, tol=TOL, max_iter=300, fit_intercept=problem.fit_intercept)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model.fit(problem.form(problem.X), problem.y, sample_weight=problem.weight)
        except ValueError as error:
            refusal = str(error)
        else:
            return model, said
    assert re.search(r"does not go with .*: .*\. .*Use", refusal), refusal
    return None


@pytest.mark.parametrize("part", range(8))
def test_against_outside_optima(part):
    known = 0
    for seed in range(FIRST + part, FIRST + PROBLEMS, 8):
        problem = Problem(seed)
        optimum = problem.outside()
        best, noise = problem.value_at(*optimum) if optimum is not None else (np.inf, 0.0)
        found = {}
        for name in sorted(set(SOLVERS) - {"auto"}):
            result = fitted(problem, name)
            if result is None:
                continue
            model, said = result
            where = f"{problem.name}, {name}"
            W = np.ascontiguousarray(np.atleast_2d(model.coef_).T)
            b = np.broadcast_to(model.intercept_, problem.k)
            true, off = problem.value_at(W, b)
            assert abs(true - model.objective_) <= off, f"{where}: the objective is {true}, not {model.objective_}"
            bounded = model.certificate_ == "duality gap"
            if bounded:
                assert model.dual_gap_ >= true - best - off - noise, f"{where}: {model.dual_gap_} < {true - best}"
            short = [str(w.message) for w in said if issubclass(w.category, ConvergenceWarning)]
            assert len(short) == len(said), where
            if short:
                assert re.search(r"relative (duality gap|prox-gradient residual) of [\d.e+-]+", short[0]), where
            found[name] = true, off, bounded, bool(short), model.dual_gap_
        scale = problem.c  # F in the units of the outside problem is about 1
        for name, (true, off, bounded, short, _) in found.items():
            if not short:
                low = min(best, *(value for value, *_ in found.values()))
                room = (20 * TOL if bounded else 1e-3) * scale
                assert true - low <= room + off + noise, (
                    f"{problem.name}, {name}: {true} is {(true - low) / scale:.1e} above"
                )
        known += optimum is not None
        assert any(not short for *_, short, _ in found.values()) or problem.loss in KINKS, problem.name
    assert known >= 0.9 * len(range(FIRST + part, FIRST + PROBLEMS, 8))


KINKS = ("hinge", "epsilon_insensitive", "quantile")
