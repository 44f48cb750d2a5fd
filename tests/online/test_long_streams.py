"""Long streams: lazy sums do not drift from an eager twin that does every round of every feature in long double.

The suite runs 20,000 rounds; GOSSAMER_ROUNDS=10000000 runs as many as that, and prints the errors.
"""

import os

import numpy as np
import pytest
import scipy.sparse as sp

import gossamer as gs

ROUNDS = int(os.environ.get("GOSSAMER_ROUNDS", "20000"))
PERIODS = (2, 997, 9001)  # feature j comes in every so many rounds, the first of them otherwise
ALPHA, RATIO, GAMMA, PERIOD = 1e-4, 0.7, 0.3, 10
L = np.longdouble


def soft(v, s):
    return v - s if v > s else v + s if v < -s else L(0)


def elastic(v, s):
    return soft(v, s * L(RATIO)) / (1 + s * (1 - L(RATIO)))


def berhu(v, s):
    shrunk = v / (1 + s / L(GAMMA))
    return shrunk if abs(shrunk) > GAMMA else soft(v, s)


class Primal:
    """FOBOS: w − ηg, then the prox of every feature."""

    def __init__(self, prox, step, every=1):
        self.w, self.prox, self.step, self.every = [L(0)] * 3, prox, step, every

    def learn(self, t, j, y):
        eta = L(self.step(t))
        self.w[j] = self.w[j] - eta * (self.w[j] - y)
        if t % self.every == 0:
            s = eta * L(ALPHA) * self.every
            self.w = [self.prox(v, s) for v in self.w]


class Group(Primal):
    """FOBOS with ‖w‖₂."""

    def learn(self, t, j, y):
        eta = L(self.step(t))
        self.w[j] = self.w[j] - eta * (self.w[j] - y)
        norm, s = np.sqrt(sum(v * v for v in self.w)), eta * L(ALPHA)
        self.w = [v * (1 - s / norm) if norm > s else L(0) for v in self.w]


class Adaptive:
    """AdaGrad, primal: a step of its own for every feature, and its prox in every round."""

    def __init__(self, eta):
        self.w, self.s, self.c, self.eta = [L(0)] * 3, [L(0)] * 3, [L(0)] * 3, L(eta)

    def learn(self, t, j, y):
        g = self.w[j] - y
        self.s[j] += g * g
        self.c[j] = self.eta / np.sqrt(self.s[j])
        self.w[j] -= self.c[j] * g
        self.w = [soft(v, c * L(ALPHA)) for v, c in zip(self.w, self.c, strict=True)]


class Dual:
    """RDA (gamma) or AdaGrad's dual form (eta): the weights from the sums of gradients, in every round."""

    def __init__(self, gamma=None, eta=None):
        self.w, self.sums, self.s, self.gamma, self.eta = [L(0)] * 3, [L(0)] * 3, [L(0)] * 3, gamma, eta

    def learn(self, t, j, y):
        g = self.w[j] - y
        self.sums[j] += g
        self.s[j] += g * g
        level = L(t) * L(ALPHA)
        for i in range(3):
            if self.gamma is not None:
                c = 1 / (L(self.gamma) * np.sqrt(L(t)))
            else:
                c = L(self.eta) / np.sqrt(self.s[i]) if self.s[i] > 0 else L(0)
            self.w[i] = soft(-c * self.sums[i], c * level)


class Proximal:
    """FTRL-Proximal: the sums of gradients, less the pull to the iterates, in every round."""

    def __init__(self, eta, beta):
        self.w, self.sums, self.s, self.eta, self.beta = [L(0)] * 3, [L(0)] * 3, [L(0)] * 3, L(eta), L(beta)

    def learn(self, t, j, y):
        g, before = self.w[j] - y, np.sqrt(self.s[j])
        self.s[j] += g * g
        self.sums[j] += g - (np.sqrt(self.s[j]) - before) / self.eta * self.w[j]
        level = L(t) * L(ALPHA)
        for i in range(3):
            c = self.eta / (self.beta + np.sqrt(self.s[i])) if self.s[i] > 0 else L(0)
            self.w[i] = soft(-c * self.sums[i], c * level)


def constant(t):
    return 0.05


def falling(t):
    return 0.5 / np.sqrt(np.float64(t))


FIXED = gs.Constant(0.05)
CASES = {
    "fobos": (gs.Fobos(FIXED), gs.L1(), lambda: Primal(soft, constant)),
    "fobos, falling steps": (gs.Fobos(0.5), gs.L1(), lambda: Primal(soft, falling)),
    "elastic net": (gs.Fobos(FIXED), gs.ElasticNet(RATIO), lambda: Primal(elastic, constant)),
    "berhu": (gs.Fobos(FIXED), gs.Berhu(GAMMA), lambda: Primal(berhu, constant)),
    "non-negative": (gs.Fobos(FIXED), gs.NonNegativeL1(), lambda: Primal(lambda v, s: max(v - s, L(0)), constant)),
    "truncated gradient": (gs.TruncatedGradient(FIXED, PERIOD), gs.L1(), lambda: Primal(soft, constant, PERIOD)),
    "adagrad fobos": (gs.AdaGrad(0.5, "fobos"), gs.L1(), lambda: Adaptive(0.5)),
    "l2 norm": (gs.Fobos(FIXED), gs.L2(), lambda: Group(None, constant)),
    "rda": (gs.RDA(50.0), gs.L1(), lambda: Dual(gamma=50.0)),
    "adagrad rda": (gs.AdaGrad(0.5), gs.L1(), lambda: Dual(eta=0.5)),
    "ftrl": (gs.FTRL(0.5, 0.75), gs.L1(), lambda: Proximal(0.5, 0.75)),
}
TWINS = {}  # of each case: the last weights and their average


def stream():
    random = np.random.default_rng(0)
    t = np.arange(1, ROUNDS + 1)
    feature = np.where(t % PERIODS[2] == 0, 2, np.where(t % PERIODS[1] == 0, 1, 0))
    return feature, np.array([1.5, -0.8, 2.2])[feature] + random.normal(size=ROUNDS)


FEATURE, Y = stream()


def twin(case):
    if case not in TWINS:
        made, total = CASES[case][2](), np.zeros(3, L)
        for t, (j, y) in enumerate(zip(FEATURE.tolist(), Y.tolist(), strict=True), 1):
            made.learn(t, j, y)
            total += made.w
        TWINS[case] = np.array(made.w), total / ROUNDS
    return TWINS[case]


def data():
    return sp.csr_array((np.ones(ROUNDS), FEATURE.astype(np.int32), np.arange(ROUNDS + 1)), shape=(ROUNDS, 3))


def assert_close(case, found, expected):
    error = float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))
    print(f"{case}: relative error {error:.1e} after {ROUNDS} rounds")
    assert error < 1e-11 * max(1, ROUNDS / 1e6)


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize("case", CASES)
def test_lazy_sums_do_not_drift(case, average):
    method, penalty, _ = CASES[case]
    model = gs.OnlineRegressor("squared", penalty, ALPHA, method, fit_intercept=False, average=average, shuffle=False)
    model.fit(data(), Y)
    assert (model.coef_ != 0).any()
    assert_close(f"{case}, {'average' if average else 'last'}", model.coef_, twin(case)[1 if average else 0])


@pytest.mark.parametrize("case", ["fobos", "elastic net", "berhu", "adagrad fobos", "rda", "adagrad rda", "ftrl"])
def test_lazy_sums_of_lanes_do_not_drift(case):
    method, penalty, _ = CASES[case]
    settings = {"penalty": penalty, "method": method, "fit_intercept": False, "shuffle": False}
    model = gs.OnlineRegressorCV([0.01, ALPHA, 0.0], **settings).fit(data(), Y)
    assert_close(f"{case}, lanes", model.at(ALPHA).coef_, twin(case)[0])
