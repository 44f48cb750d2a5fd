"""The batch objective: the problem as a solver sees it.

    F(W) = min over b of  Σ_i p_i ℓ(W'x_i + b, y_i)  +  αΩ(W),     p_i = c_i / Σ c, c the sample weights

An offset o_i, which is not learned, is added to the margins: ℓ(W'x_i + b + o_i, y_i). A loss of z − y takes it as part
of y; otherwise the mean loss knows it, and its conjugate.

The intercept is never penalised, and solvers do not see it: every value and gradient is at the best intercept for its
W. So F is a function of W alone, as smooth as before, and the slopes balance (Σ p_i slope_i = 0), as those of the dual
point of a certificate must.

An intercept takes up any constant that is added to a column of X, or to y where the loss is one of z − y. So such
constants are subtracted before anything is computed, and numbers are as exact as those of data without them. Margins
and intercepts inside a problem are those of the centred data; `Objective.intercept` returns that of the data as given.

W is d × k: one row per feature, one column per output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from gossamer import _core
from gossamer.batch import certificates
from gossamer.batch.certificates import Certificate
from gossamer.losses import as_loss, medians
from gossamer.penalties import as_penalty
from gossamer.validation import Array, thread_count

LARGE = 1 << 20  # entries of a dense table from which it is better not to copy all columns


@dataclass(frozen=True)
class Point:
    """The smooth part of F at W."""

    W: Array  # d × k
    b: Array  # the best intercept for W, of the centred data
    loss: float  # Σ p ℓ
    slopes: Array  # n × k: p_i ∂ℓ/∂z_i
    gradient: Array  # d × k: Xᵀ slopes


@dataclass(frozen=True)
class Scales:
    """The units of a problem, from the best constant model."""

    gap: float  # its loss above the sum of the least losses: of gaps
    residual: float  # its prox-gradient step: of residuals
    length: float  # its loss per slope: of margins and intercepts


LEAST_SHARE = np.finfo(float).tiny / np.finfo(float).eps  # of a row that counts


def shares(weight: Any) -> Array:
    """Return the weights divided by their sum, which may overflow; 0 for shares whose slopes would underflow."""
    c = np.asarray(weight, np.float64) / np.max(weight)
    p = c / c.sum()
    return np.where(p < LEAST_SHARE, 0.0, p)


def design(X: Any, threads: int) -> Any:
    """Return the compiled form of X: canonical CSR or CSC, or a dense array."""
    if hasattr(X, "indptr"):
        by_rows = X.format == "csr"
        starts, index = np.ascontiguousarray(X.indptr, np.int64), np.ascontiguousarray(X.indices, np.int32)
        length = X.shape[1] if by_rows else X.shape[0]
        return _core.Design.sparse(starts, index, np.ascontiguousarray(X.data), length, by_rows, threads)
    if X.flags.f_contiguous and not X.flags.c_contiguous:
        return _core.Design.dense(X.T, False, threads)
    return _core.Design.dense(np.ascontiguousarray(X), True, threads)


def _full_columns(X: Any) -> Array | None:
    """Return which columns of a canonical sparse matrix have an entry in every row; None if none has."""
    if X.format == "csr":
        common = X.indices[: X.indptr[1]]
        for begin, end in pairwise(X.indptr[1:17].tolist()):  # after some rows of text no column is left
            common = np.intersect1d(common, X.indices[begin:end], assume_unique=True)
        if not len(common):
            return None
        entries = np.bincount(X.indices, minlength=X.shape[1])
    else:
        entries = np.diff(X.indptr)
    full = entries == X.shape[0]
    return full if full.any() else None


def centred(X: Any, p: Array, threads: int) -> tuple[Any, Array | None]:
    """Return the compiled form of X without the offsets of its columns, and the offsets (None: none is large).

    An offset is a median of a column whose mean is large beside its spread. As an entry of the column it is subtracted
    without rounding, and a constant column becomes zero. A column of a sparse matrix that is not full has none.
    """
    table = design(X, threads)
    full = _full_columns(X) if hasattr(X, "indptr") else np.ones(table.features, bool)
    if full is None:
        return table, None
    means, squares = np.empty((table.features, 1)), np.empty(table.features)
    table.gradient(p[:, None], means)
    table.weighted_squares(p, squares)
    with np.errstate(over="ignore", invalid="ignore"):  # squares of 1e155 and more; they stay as they are
        far = np.flatnonzero(full & (squares - means[:, 0] ** 2 < squares / 1024))
    if not len(far):
        return table, None
    offsets = np.zeros(table.features, X.dtype)
    offsets[far] = medians(X.tocsc()[:, far].toarray() if hasattr(X, "indptr") else X[:, far], p)
    X = X.copy()
    if not hasattr(X, "indptr"):
        X[:, far] -= offsets[far]
    elif X.format == "csr":
        X.data -= offsets[X.indices]
    else:
        X.data -= np.repeat(offsets, np.diff(X.indptr))
    return design(X, threads), offsets.astype(np.float64)


class Objective:
    """F over one table of data.

    Parameters
    ----------
    X : CSR, CSC or dense matrix
        n × d, float32 or float64; sparse ones canonical.
    y : array
        n × targets, as the loss reads it.
    loss, penalty : loss and penalty objects
        A custom loss has `value` and `slope`, a custom penalty `value` and `prox`.
    alpha : float
        The regularization strength.
    outputs : int
        k.
    sample_weight : vector, optional
        c_i > 0.
    fit_intercept : bool
        Whether there is an intercept b.
    threads : int, optional
        Number of threads, by default that of `validation.thread_count`; the result does not depend on it.
    offset : vector, optional
        o_i.
    columns, width : vector and int, optional
        If X has only some columns of the data: their numbers, and how many there are in all.
    spread : vector, optional
        What the columns of the data were divided by.

    Attributes
    ----------
    operations : int
        The cost of the products with X so far, power iterations included: 2 per non-zero of X and output, screened
        features included.
    """

    def __init__(
        self,
        X: Any,
        y: Array,
        loss: Any,
        penalty: Any,
        alpha: float,
        *,
        outputs: int = 1,
        sample_weight: Array | None = None,
        fit_intercept: bool = True,
        threads: int | None = None,
        offset: Array | None = None,
        columns: Array | None = None,
        width: int | None = None,
        spread: Array | None = None,
    ) -> None:
        self.threads = threads or thread_count()
        p = shares(np.ones(X.shape[0]) if sample_weight is None else sample_weight)
        if not p.all():
            some = np.flatnonzero(p)
            X, y, p = X[some], np.asarray(y)[some], p[some]
            offset = None if offset is None else offset[some]
        self.p = np.ascontiguousarray(p)
        n = X.shape[0]
        self.y = np.ascontiguousarray(y, np.float64).reshape(n, -1)
        self.loss, self.penalty, self.alpha = as_loss(loss), as_penalty(penalty), float(alpha)
        if offset is not None and self.loss.of_residual:
            self.y, offset = self.y - offset[:, None], None
        self._offset_x, self._offset_y = None, np.zeros(outputs)
        if fit_intercept:
            self.design, self._offset_x = centred(X, self.p, self.threads)
        else:
            self.design = design(X, self.threads)
        if fit_intercept and self.loss.of_residual:
            self._offset_y = medians(self.y, self.p)
            self.y = self.y - self._offset_y
        self.features, self.outputs, self.fit_intercept = self.design.features, outputs, fit_intercept
        self.mean = self.loss.mean(outputs, self.y, self.p, self.threads)
        self._offset = np.zeros((n, outputs)) if offset is None else np.repeat(offset[:, None], outputs, axis=1)
        if offset is not None:
            self.mean.set_offset(self._offset)
        self.nonzeros, self.operations = int(X.nnz if hasattr(X, "indptr") else X.size), 0
        self.column_length = self.nonzeros / max(self.features, 1)
        self.columns, self.width, self.spread = columns, width or self.features, spread
        self._by_rows = not hasattr(X, "indptr") and self.nonzeros > LARGE and bool(X.flags.c_contiguous)
        self._b = np.zeros(outputs)  # the last intercept, from which the next search starts
        self.memory: dict[str, Any] = {}  # state that solvers keep between strengths
        self._lipschitz: float | None = None
        self._scale: Scales | None = None

    def with_alpha(self, alpha: float) -> Objective:
        """Return the same problem with another strength; results that depend on the data only are shared."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.alpha, other._scale, other._b = float(alpha), None, self._b.copy()
        return other

    # The smooth part

    def at(self, W: Array) -> Point:
        """Return loss, slopes and gradient at W, with the best intercept."""
        Z, S = self.margins(W), np.empty((self.design.rows, self.outputs))
        loss = self._slopes(Z, S)
        return Point(W, self._b.copy(), float(loss), S, self.gradient(S))

    def loss_at(self, W: Array) -> float:
        """Return the mean loss at W, with the best intercept."""
        return float(self._slopes(self.margins(W), np.empty((self.design.rows, self.outputs))))

    def intercept(self, W: Array, b: Array) -> Array:
        """Return the intercept of the data as given, from that of the centred data."""
        return b + self._offset_y - (0.0 if self._offset_x is None else self._offset_x @ W)

    def margins(self, W: Array) -> Array:
        """Return XW, X centred."""
        Z = np.empty((self.design.rows, self.outputs))
        self.design.margins(np.ascontiguousarray(W), Z)
        self.operations += 2 * self.nonzeros * self.outputs
        return Z

    def gradient(self, S: Array) -> Array:
        """Return XᵀS."""
        G = np.empty((self.features, self.outputs))
        self.design.gradient(np.ascontiguousarray(S), G)
        self.operations += 2 * self.nonzeros * self.outputs
        return G

    def _slopes(self, Z: Array, S: Array) -> float:
        if self.fit_intercept:
            return self.mean.best_slopes(Z, self._b, S)
        return self.mean.slopes(Z, self._b, S)

    @property
    def smooth(self) -> bool:
        """Whether the loss has a slope everywhere. A custom loss is assumed to have one."""
        return bool(self.loss.taken_as_smooth or self.mean.has_curvature)

    def smoothed(self, width: float, offset: Array) -> Objective | None:
        """Return the problem with the kinks of the loss rounded off, at margins moved by n × k offsets.

        None for a loss whose kinks are not known. Its slopes give dual points of this problem.
        """
        mean = self.loss.smoothed(width, self.outputs, self.y, self.p, self._offset + offset, self.threads)
        if mean is None:
            return None
        other = self.with_alpha(self.alpha)
        other.mean, other.memory, other._scale = mean, {}, self._scales()
        other._lipschitz = self._largest_square() / width
        return other

    def in_given_units(self, W: Array, kept: Array | None = None) -> Array:
        """Return weights of all features, or of some, in the units of the data as given."""
        if self.spread is None:
            return W
        return W / (self.spread if kept is None else self.spread[kept])[:, None]

    # The penalty

    def penalty_at(self, W: Array) -> float:
        """Return αΩ(W); 0 for a point inside a set."""
        omega = self.penalty.value(self._as_given(W))
        return self.alpha * omega if self.alpha > 0 or math.isinf(omega) else 0.0

    def prox(self, V: Array, step: float) -> Array:
        """Return argmin_W ½‖W − V‖² + step · αΩ(W)."""
        return self.penalty.prox(self._as_given(V), step * self.alpha).reshape(V.shape)

    def _as_given(self, W: Array) -> Array:
        """Return W as the penalty reads it: a vector for one output."""
        return W[:, 0] if self.outputs == 1 else W

    def value_at(self, W: Array) -> float:
        """Return F(W)."""
        return self.loss_at(W) + self.penalty_at(W)

    # Certificates

    def certify(self, point: Point) -> Certificate:
        """Return F at the point, and an upper bound on F − min F."""
        value = point.loss + self.penalty_at(point.W)
        if self._has_bound:
            gap = value - self.lower_bound(point)
            return Certificate(value, max(gap, 0.0), certificates.DUALITY_GAP)
        W, G = self._as_given(point.W), self._as_given(point.gradient)
        size = certificates.residual(self.penalty, self.alpha, W, G, self.lipschitz())
        if not self.smooth:  # the slopes need not be those at W: how far they are from that counts too
            slack = point.loss + self.mean.conjugate(point.slopes) - float(np.vdot(point.gradient, point.W))
            slack -= float(point.slopes.sum(axis=0) @ point.b)
            scales = self._scales()
            size += max(slack, 0.0) / scales.gap * scales.residual
        return Certificate(value, size, certificates.RESIDUAL)

    @property
    def _has_bound(self) -> bool:
        return self.loss.has_conjugate and self.penalty.has_dual(self.alpha)

    def lower_bound(self, point: Point) -> float:
        """Return D(u) for the best of the dual points that the slopes at the point give."""
        S, G = self._balanced(point)
        bound, off = -math.inf, 0.0
        if self.fit_intercept:  # imbalance costs at most itself times the best intercept
            off = float(np.abs(S.sum(axis=0)) @ (self._scales().length + np.abs(point.b)))
        if self.alpha > 0 or self.penalty.is_set:
            for s, conjugate in self.penalty.shrinkages(self.alpha, self._as_given(G)):
                bound = max(bound, -self.mean.conjugate(S if s == 1 else s * S) - conjugate - off)
        return bound

    def _balanced(self, point: Point) -> tuple[Array, Array]:
        """Return slopes with Σ_i slope_i = 0 for every output, and their gradient."""
        S = point.slopes
        if not self.fit_intercept:
            return S, point.gradient
        sums, sizes = S.sum(axis=0), np.abs(S).sum(axis=0)
        if self.loss.kind == "multiclass":
            return self._balanced_classes(point, sums, sizes)
        if np.all(np.abs(sums) <= 1e-9 * sizes):
            return S, point.gradient
        above, below = np.maximum(S, 0), np.minimum(S, 0)
        up, down = above.sum(axis=0), -below.sum(axis=0)
        least = np.minimum(up, down)
        S = above * (least / np.maximum(up, 1e-300)) + below * (least / np.maximum(down, 1e-300))
        return S, self.gradient(S)

    def _balanced_classes(self, point: Point, sums: Array, sizes: Array) -> tuple[Array, Array]:
        """Return the same for a loss of all outputs: only u = 0 is sure to be a dual point.

        The best intercept of a class without rows is −∞, and its slopes are zero there. At a finite one they are tiny,
        and all positive: the dual point gives them to the class of the row.
        """
        absent = np.bincount(self.y[:, 0].astype(np.intp), minlength=self.outputs) == 0
        if not np.all((np.abs(sums) <= 1e-9 * sizes) | absent) or not np.all(sums[absent] <= 1e-9 * sizes.max()):
            return np.zeros_like(point.slopes), np.zeros_like(point.gradient)
        if not absent.any():
            return point.slopes, point.gradient
        S = np.where(absent, 0.0, point.slopes)
        S[np.arange(len(S)), self.y[:, 0].astype(np.intp)] += point.slopes[:, absent].sum(axis=1)
        return S, self.gradient(S)

    def enough(self, certificate: Certificate, tol: float) -> bool:
        """Return whether the gap is at most `tol` of that of the empty model."""
        return certificate.gap <= tol * self.scale(certificate.name)

    def scale(self, name: str) -> float:
        """Return the scale of gaps: the gap at W = 0 (or the nearest point of a set) with the dual point u = 0."""
        scales = self._scales()
        return scales.residual if name == certificates.RESIDUAL else scales.gap

    def _scales(self) -> Scales:
        if self._scale is None:
            if "scales" not in self.memory:  # they do not depend on the strength
                origin = self.empty()
                best = -self.mean.conjugate(np.zeros_like(origin.slopes))
                loss = origin.loss - best if math.isfinite(best) else abs(origin.loss)
                pull = float(np.abs(origin.slopes).sum())
                self.memory["scales"] = loss, loss / pull if pull > 0 else 0.0
            W, G = self.empty().W, self.empty().gradient
            loss, length = self.memory["scales"]
            size = 0.0
            if not self._has_bound:
                W, G = self._as_given(W), self._as_given(G)
                size = certificates.residual(self.penalty, self.alpha, W, G, self.lipschitz())
            self._scale = Scales(max(loss, 1e-300), max(size, 1e-300), length)
        return self._scale

    def empty(self) -> Point:
        """Return the point at the origin, which does not depend on the strength."""
        if "empty" not in self.memory:
            self.memory["empty"] = self.at(self.origin())
        return self.memory["empty"]

    def origin(self) -> Array:
        """Return W = 0, or the nearest point of a set."""
        return self.prox(np.zeros((self.features, self.outputs)), 0.0)

    # Constants

    def lipschitz(self) -> float:
        """Return an estimate of the Lipschitz constant of the gradient, by power iteration."""
        if self._lipschitz is None:
            self._lipschitz = max(self._largest_square() * self._steepness(), 1e-300)
        return self._lipschitz

    def _largest_square(self) -> float:
        """Return an estimate of the largest eigenvalue of Σ p xxᵀ, a little above it."""
        if "square" not in self.memory:
            v = np.random.default_rng(0).standard_normal((self.features, 1))
            norm, p = float(np.linalg.norm(v)), self.p[:, None]
            z = np.empty((self.design.rows, 1))
            for _ in range(30):
                v /= norm or 1.0
                self.design.margins(v, z)
                if self.fit_intercept:
                    z -= np.sum(p * z)
                self.design.gradient(p * z, v)
                self.operations += 4 * self.nonzeros
                before, norm = norm, float(np.linalg.norm(v))
                if abs(norm - before) <= 1e-3 * norm:
                    break
            self.memory["square"] = 1.05 * norm
        return float(self.memory["square"])

    def _steepness(self) -> float:
        """Return the smoothness of the loss; without one its curvature at W = 0, or slope² per loss at a kink."""
        if self.loss.smoothness is not None:
            return float(self.loss.smoothness)
        Z = np.zeros((self.design.rows, self.outputs))
        S = np.empty_like(Z)
        loss = self._slopes(Z, S)
        if not self.mean.has_curvature:
            return float(np.abs(S).sum()) ** 2 / loss if loss > 0 else 1.0
        self.mean.curvatures(Z, self._b, S)
        return float(np.max(S / self.p[:, None]))

    # Screening

    def screened(self) -> tuple[Objective, Array | None]:
        """Return the problem without the features that are certainly zero at its optimum, and the remaining features.

        Barred features are. The gradient is bounded: |g_j| ≤ Σ_i p_i |x_ij| · lipschitz, and for a margin loss only
        the rows that pull to one side count at a time. If the bound is within the strength of the penalty, w_j = 0.
        """
        bounded = self.alpha > 0 and self.loss.lipschitz is not None
        limit = self.penalty.limits(self.alpha) if bounded else None
        barred = self.penalty.barred()
        if limit is None:
            return (self, None) if barred is None else self._without(barred)
        above, below = np.empty(self.features), np.empty(self.features)
        one_sided = self.outputs == 1 and self.loss.kind == "binary"
        self.design.signed_sums(self.p * self.y[:, 0] if one_sided else self.p, above, below)
        most = np.maximum(above, below) if one_sided else above + below
        steep = self.loss.longest_slope(self.penalty.slope_order, self.outputs)
        keep = most * steep > limit * (1 - 1e-9)
        if np.count_nonzero(keep) > 0.9 * self.features and barred is None:
            return self, None
        return self._without(~keep if barred is None else ~keep | barred)

    @property
    def can_narrow(self) -> bool:
        """Whether it pays to copy only columns that may have weights, and a gap proves that the others have none."""
        single = self.outputs == 1 and self.penalty.single_form(self.features) is not None
        return self._by_rows and single and self._has_bound and self.alpha > 0 and not self.penalty.is_set

    def wanted(self, point: Point, share: float) -> Array:
        """Return the features that would not be at zero at this share of the strength, all others held."""
        return np.any(self.prox(-point.gradient, share), axis=1)

    def narrowed(self, kept: Array) -> Objective:
        """Return the problem over some features, others being zero."""
        smaller, origin = self.restricted(kept, self.penalty.restricted(kept)), self.empty()
        smaller.operations, smaller.memory["scales"] = 0, (self._scales().gap, self._scales().length)
        smaller.memory["empty"] = replace(origin, W=origin.W[kept], gradient=origin.gradient[kept])
        return smaller

    def _without(self, features: Array) -> tuple[Objective, Array]:
        kept = np.flatnonzero(~features)
        return self.restricted(kept, self.penalty.restricted(kept)), kept

    def restricted(self, kept: Array, penalty: Any) -> Objective:
        """Return the problem over some features only."""
        number = np.full(self.features, -1, np.int32)
        number[kept] = np.arange(len(kept), dtype=np.int32)
        smaller = object.__new__(type(self))
        smaller.__dict__.update(self.__dict__)
        smaller.design, smaller.features = self.design.reduced(number, len(kept)), len(kept)
        smaller._offset_x = None if self._offset_x is None else self._offset_x[kept]
        smaller.spread = None if self.spread is None else self.spread[kept]
        smaller._by_rows = False
        smaller.penalty, smaller.memory, smaller._b = penalty, {}, self._b.copy()
        smaller._lipschitz, smaller._scale = None, None
        return smaller
