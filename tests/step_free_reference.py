"""A slow, obvious twin of the rule without a step (`gs.StepFree`): dense rows, doubles, all weights in every round.

A zero of a feature that is not centred means that the row does not have it.
"""

import numpy as np
from scipy.optimize import brentq

import gossamer as gs
import online_reference

BETA, SHARE, CAUTION, CUT = 0.1, 1 / 7, 10.0, 1.5


def soft(v, s):
    return np.sign(v) * np.maximum(np.abs(v) - s, 0.0)


class StepFree:
    """The state by its definition: units of the features, Z, S, t, N, s̄², a, c, and the units of the targets."""

    def __init__(self, method, penalty, alpha, loss, d, k, *, joint, fit_intercept, centred, sparsest=False):
        self.labels = loss.kind != "regression"
        self.rates = not self.labels and loss.predicts is gs.losses.Link.EXP
        self.rate = method.rate or (1.0 if self.labels else 0.25)
        usual = 0.0 if not self.labels else 1.0 if sparsest else 0.8
        self.noise = usual if method.noise is None else method.noise
        self.penalty, self.alpha, self.loss = penalty, alpha if penalty.penalises else 0.0, loss
        self.d, self.k, self.fit_intercept = d, k, fit_intercept
        rows = penalty.acts_on_rows and penalty.on_rows
        self.blocks = [np.arange(k)] if joint or rows else [np.array([r]) for r in range(k)]
        self.whole_rows = bool(rows)
        self.share = SHARE if len(self.blocks[0]) > 1 else 1.0
        self.in_units = penalty.is_set
        self.corrects = self.labels and not self.in_units
        self.cuts = sparsest and self.corrects and penalty.is_l1
        self.centred = np.arange(d) < centred
        self.n, self.mean, self.square = np.zeros(d), np.zeros(d), np.zeros(d)  # square: of x, or around the mean
        self.Z, self.S = np.zeros((d, k)), np.zeros((d, k))
        self.bZ, self.bS = np.zeros(k), np.zeros(k)
        self.t, self.N, self.fresh = 0, 0.0, 0
        self.typical, self.constant = np.zeros(k), np.zeros(k)  # s̄²; of numbers, of each output of the constant model
        self.a, self.a_seen = np.ones(k), np.zeros(k)
        self.c, self.c_seen = np.ones((4, k)), np.zeros((4, k))
        self.y_weight, self.y_mean, self.y_square, self.exposure = 0.0, np.zeros(k), np.zeros(k), 0.0
        self.weights, self.unit_known = 0.0, np.zeros(k, bool)
        self.penalties = online_reference.one_a_row(penalty, d)

    # Reading

    @property
    def q(self):
        return np.sqrt(self.square)

    @property
    def pace(self):
        return self.rate * np.sqrt(self.t / self.N) if self.t else 0.0

    @property
    def location(self):
        if self.labels or not self.fit_intercept:
            return np.zeros(self.k)
        if not self.rates:
            return self.y_mean
        with np.errstate(divide="ignore"):
            return np.where(self.y_mean > 0, np.log(self.y_mean * self.y_weight / self.exposure), 0.0)

    @property
    def spread(self):
        return np.ones(self.k) if self.labels or self.rates else np.sqrt(self.y_square)

    def divisor(self, squares):
        return np.maximum(np.sqrt(squares + BETA * self.typical), 1e-18)

    def inner(self):
        """g û of every feature and output; of a set the weights themselves."""
        D, g = self.divisor(self.S), self.pace
        if self.whole_rows and self.k > 1:
            size, noise = np.linalg.norm(self.Z, axis=1), self.noise * D[:, 0] / np.sqrt(self.share)
            excess = self.Z * np.divide(soft(size, noise), size, out=np.zeros(self.d), where=size > 0)[:, None]
        else:
            excess = soft(self.Z, self.noise * D)
        U = -g * excess / D
        unit = np.divide(self.spread, self.q[:, None], out=np.zeros((self.d, self.k)), where=self.q[:, None] > 0)
        if self.in_units:
            U = unit * U
        for j in range(self.d):
            for block in self.blocks:
                s = 0.0 if self.in_units else self.alpha * self.t * g / D[j, block[0]]
                U[j, block] = np.ravel(self.penalties[j].prox(U[j, block][None, :], s))
        return U

    def uncut(self):
        """Which weights are not read as zero."""
        if not self.cuts:
            return np.full((self.d, self.k), True)
        weights = 1.0 if self.penalty.weights is None else self.penalty.weights[:, None]
        excess = soft(self.Z, self.noise * self.divisor(self.S) + self.alpha * self.t * weights)
        return np.abs(excess) > CUT * min(1.0, np.sqrt(self.t / 8000))

    @property
    def faded(self):
        """c, whose part is that of the rows that were not seen before."""
        return 1 + (self.fresh / self.t if self.t else 1.0) * (self.c - 1)

    def bins(self):
        return np.searchsorted([4, 32, 256], self.n, side="right")

    def factors(self, corrected):
        """What g û is multiplied by, in units of the features."""
        if self.in_units:
            return np.ones((self.d, self.k))
        factor = self.a * (self.faded[self.bins()] if corrected and self.corrects else 1.0) * self.spread
        return factor * np.divide(1.0, self.q, out=np.zeros(self.d), where=self.q > 0)[:, None]

    def model(self, corrected=True):
        """W and b, for the data as it is."""
        W = self.inner() * self.factors(corrected) * self.uncut()
        b = self.location - self.spread * self.pace * self.bZ / self.divisor(self.bS) * self.fit_intercept
        return W, b - self.mean[self.centred] @ W[self.centred]

    # Learning

    def values(self, z, y):
        return online_reference.loss_and_slope(self.loss, z, y)

    def learn(self, x, y, weight, fresh=True):
        if self.t == 0 and not self.labels:
            self.y_weight, self.exposure = weight, weight
            self.y_mean = y.copy() if self.fit_intercept or self.rates else np.zeros(self.k)
        U, there = self.inner(), self.centred | (x != 0)
        off = np.where(self.centred, x - self.mean, x)
        known = np.where(self.q > 0, self.q, np.abs(off))
        before = np.divide(off, known, out=np.zeros(self.d), where=known > 0) * there
        if self.in_units:
            parts, whole = np.zeros((4, self.k)), np.zeros(self.k)
            direct = off * there @ U
        else:
            shares = U * before[:, None] * self.spread
            whole, direct, uncut = shares.sum(axis=0), 0.0, shares * self.uncut()
            parts = np.array([uncut[self.bins() == b].sum(axis=0) for b in range(4)])
        base = self.location - self.spread * self.pace * self.bZ / self.divisor(self.bS) * self.fit_intercept
        z = base + direct + self.a * whole
        faded = self.faded
        judged = base + direct + self.a * (faded * parts).sum(axis=0) if self.corrects else z
        value, at_judged = self.values(judged, y)
        slope = self.values(z, y)[1]
        if not self.labels or self.loss.lipschitz is None:
            slope = self.tempered(z, y, slope, before, weight)
        if self.corrects and fresh:
            self.correct(faded, whole, parts, slope, at_judged, weight / self.mean_weight(weight))
            self.fresh += 1
        known_unit = self.labels | self.unit_known  # before, nothing is learned
        constant = weight * self.values(self.location, y)[1]
        self.move(x, off, known, before, there, U, np.where(known_unit, weight * slope, 0.0))
        if not self.labels:
            self.constant += (constant**2 - self.constant) / self.t
            self.typical = self.typical_of_outputs(self.constant)
            self.unit_known = self.unit_known | (self.typical_of_outputs(self.spread**2) > 0)
        self.follow(y, weight)
        return value

    def mean_weight(self, weight):
        mean = self.weights / self.t if self.t else weight
        self.weights += weight
        return mean

    def typical_of_outputs(self, squares):
        """s̄² of the blocks, for each of their outputs."""
        result = np.zeros(self.k)
        for block in self.blocks:
            result[block] = self.share * squares[block].sum()
        return result

    def tempered(self, z, y, slope, before, weight):
        """s = ℓ'(z − κ s), κ what the score moves by per unit of slope."""
        result = slope.copy()
        per_feature = before[:, None] ** 2 / self.divisor(self.S)
        moved = (
            self.spread * self.pace * (self.fit_intercept / self.divisor(self.bS) + self.a * per_feature.sum(axis=0))
        )
        for r in range(self.k):
            kappa = weight * moved[r]
            if kappa <= 0 or slope[r] == 0:
                continue

            def excess(s, r=r, kappa=kappa):
                at = z.copy()
                at[r] = z[r] - kappa * s
                return s - self.values(at, y)[1][r]

            low, high = sorted([0.0, slope[r]])
            result[r] = brentq(excess, low, high, xtol=1e-300, rtol=1e-14, maxiter=1000)
        return result

    def correct(self, faded, whole, parts, slope, at_judged, weight):
        for block in self.blocks:
            gradient = float(slope[block] @ (self.a * whole)[block])
            of_bins = [float(at_judged[block] @ (self.a * faded[b] * parts[b])[block]) for b in range(4)]
            self.a_seen[block] += weight * gradient**2
            step = np.clip(weight * gradient / (CAUTION + self.a_seen[block]), -0.5, 0.5)
            self.a[block] = np.clip(self.a[block] * (1 - step), 0.1, 1.0)
            for b in range(4):
                self.c_seen[b, block] += weight * of_bins[b] ** 2
                step = np.clip(weight * of_bins[b] / (CAUTION + self.c_seen[b, block]), -0.5, 0.5)
                self.c[b, block] = np.clip(self.c[b, block] * (1 - step), 1 / 8, 8.0)

    def move(self, x, off, known, before, there, U, slope):
        n = self.n + there
        centred = self.centred
        mean = np.where(centred, self.mean + off / np.maximum(n, 1), self.mean)
        gained = np.where(centred, off * (x - mean), x**2)
        square = np.where(there, self.square + (gained - self.square) / np.maximum(n, 1), self.square)
        now = np.where(centred, x - mean, x)
        after = np.divide(now, np.sqrt(square), out=np.zeros(self.d), where=square > 0) * there
        taken = self.typical_of_outputs(slope**2)
        S = self.S + after[:, None] ** 2 * taken
        if self.pace > 0:
            unit = np.full((self.d, self.k), self.pace)
            if self.in_units:
                unit *= self.spread * np.divide(1.0, self.q, out=np.zeros(self.d), where=self.q > 0)[:, None]
            hold = (self.divisor(S) - self.divisor(self.S)) * np.divide(U, unit, out=np.zeros(U.shape), where=unit > 0)
            self.Z = self.Z - hold
        self.Z = self.Z + after[:, None] * slope
        if self.fit_intercept:
            bS = self.bS + taken
            started = self.bS > 0
            grown = np.where(started, self.divisor(bS) / self.divisor(self.bS) - 1, 0.0)
            self.bZ, self.bS = self.bZ + slope + grown * self.bZ, bS
        self.n, self.mean, self.square, self.S = n, mean, square, S
        self.t += 1
        self.N += 1 + float(after @ after)
        if self.labels:
            self.typical = self.typical + (taken - self.typical) / self.t

    def follow(self, y, weight):
        if self.labels or self.t == 1:
            return
        self.y_weight += weight
        self.exposure += weight
        part, off = weight / self.y_weight, y - self.y_mean
        if self.fit_intercept:
            self.y_mean = self.y_mean + part * off
        self.y_square = self.y_square + part * (off * (y - self.y_mean) - self.y_square)


def run(method, penalty, alpha, loss, X, Y, weights, *, outputs, fit_intercept, passes, **how):
    X, Y = np.asarray(X, float), np.asarray(Y, float)
    joint = loss.kind == "multiclass"
    rule = StepFree(method, penalty, alpha, loss, X.shape[1], outputs, joint=joint, fit_intercept=fit_intercept, **how)
    total_loss, total_weight = 0.0, 0.0
    for number in range(passes):
        for x, y, weight in zip(X, Y, weights, strict=True):
            if weight > 0:
                total_loss += weight * rule.learn(x, y, weight, fresh=number == 0)
                total_weight += weight
    W, b = rule.model()
    nan = np.full(W.shape, np.nan)
    loss_seen = total_loss / total_weight if total_weight else float("nan")
    return online_reference.Outcome(W, b, nan, nan[0] if len(nan) else b, loss_seen)
