"""A partition of the rows, and the pure functions over it that a driver adds up.

A function takes a partition and small arguments, and returns small sums. It keeps nothing: a partition that is lost is
loaded again, and gives the same bits.

    p_i = c_i / Σ c      the shares of the rows, c the sample weights of all partitions
    f(W, b) = Σ_i p_i ℓ(W'x_i + b, y_i)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from gossamer.batch.objective import LEAST_SHARE, design
from gossamer.estimators import targets
from gossamer.registry import record
from gossamer.sources.rows import refuse_large_offsets
from gossamer.validation import Array

LENGTHS = 0.5 ** np.arange(8)  # of steps that are tried in one round
SHRINKAGES = np.concatenate([[0.0], 1 - 0.5 ** np.arange(1, 40), [1.0]])  # of dual points


@record
class Raw:
    """The rows of a partition as they were read."""

    X: Any  # CSR
    y: Array | None
    weight: Array | None = None
    offset: Array | None = None
    name: str = ""  # in messages
    dense: bool = False  # whether it was an array


@record
class Found:
    """What a look at all rows of a partition has found."""

    rows: int
    width: int
    weight: float  # Σ c
    labels: Array | None  # the distinct labels, if asked for
    of_label: Array | None  # Σ c of each
    dims: tuple[int, ...]  # of y, without its rows
    kind: str  # of the type of y
    entries: int
    weighted: bool
    shifted: bool  # whether there are offsets


@record
class Spec:
    """How rows become a problem."""

    coded: targets.Targets
    width: int
    total: float  # Σ c over all partitions
    kept: Array | None = None  # the columns that stay; None: all
    class_weight: Any = None  # of each class, or None
    fold: tuple[int, int, bool] | None = None  # (number, count, the rows left out): some rows only, by their number


def survey(raw: Raw, labels: bool) -> Found:
    """Look at all rows once: sizes, sums, labels; raise if a number is not finite."""
    X, y = raw.X, raw.y
    if y is None:
        raise ValueError(f"{raw.name} has no labels to learn from.")
    if len(y) != X.shape[0]:
        raise ValueError(f"{raw.name}: there are {X.shape[0]} rows and {len(y)} entries of y.")
    if not np.isfinite(X.data).all():
        raise ValueError(f"{raw.name}: X holds NaN or infinity.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"{raw.name}: y holds NaN or infinity.")
    refuse_large_offsets(raw.offset)
    c = np.ones(len(y)) if raw.weight is None else raw.weight
    if len(c) != len(y) or not np.isfinite(c).all() or (c < 0).any():
        raise ValueError(f"{raw.name}: weights must be finite and not negative, one per row.")
    found = of_label = None
    if labels and y.ndim == 1:
        found, place = np.unique(y, return_inverse=True)
        of_label = np.bincount(place.reshape(-1), c, len(found))
    kinds = (y.ndim > 1 and set(np.unique(y[:1000]).tolist()) <= {0, 1}) if labels else False
    kind = "indicators" if kinds else y.dtype.kind
    rows, width = X.shape
    with np.errstate(over="ignore"):
        total = float(c.sum())
    weighted, shifted = raw.weight is not None, raw.offset is not None
    return Found(rows, width, total, found, of_label, y.shape[1:], kind, X.nnz, weighted, shifted)


class Partition:
    """Rows of a problem: CSR over the columns that stay, coded y, shares p, offsets."""

    def __init__(self, X: Any, y: Array, p: Array, offset: Array | None, loss: Any, outputs: int) -> None:
        self.X, self.y, self.p, self.offset, self.loss, self.outputs = X, y, p, offset, loss, outputs
        if offset is not None and loss.of_residual:
            self.y, self.offset = y - offset[:, None], None
        self._compiled: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_compiled": None}

    def __sizeof__(self) -> int:
        arrays = (self.X.data, self.X.indices, self.X.indptr, self.y, self.p)
        return 2 * sum(a.nbytes for a in arrays)

    @property
    def compiled(self) -> tuple[Any, Any]:
        """The design and the sum of losses, compiled."""
        if self._compiled is None:
            mean = self.loss.mean(self.outputs, self.y, self.p, 1)
            if self.offset is not None:
                self._shift = np.repeat(self.offset[:, None], self.outputs, axis=1)
                mean.set_offset(self._shift)
            self._compiled = design(self.X, 1), mean
        return self._compiled


def prepare(raw: Raw, spec: Spec) -> Partition:
    """Return the problem of some rows."""
    X, y, weight, offset, coded = raw.X, raw.y, raw.weight, raw.offset, spec.coded
    assert y is not None
    c = np.ones(len(y)) if weight is None else np.asarray(weight, np.float64)
    if spec.class_weight is not None and len(y):
        c = c * spec.class_weight[coded.index_of(y)]
    some = c / spec.total >= LEAST_SHARE
    if spec.fold is not None:
        number, count, out = spec.fold
        some &= (np.arange(len(y)) % count == number) == out
    if not some.all():
        X, y, c = X[some], y[some], c[some]
        offset = None if offset is None else offset[some]
    if X.shape[1] < spec.width:
        X = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], spec.width))
    if spec.kept is not None:
        X = selected(X, spec.kept)
    X = sp.csr_array(X)
    X.sum_duplicates()
    y = coded.encode(y) if len(y) else np.empty((0, 1 if coded.kind == "multiclass" else coded.outputs))
    return Partition(X, np.ascontiguousarray(y, np.float64), c / spec.total, offset, coded.loss, coded.outputs)


def selected(X: Any, columns: Array) -> Any:
    """Return some columns of a CSR matrix, numbered anew."""
    number = np.full(X.shape[1], -1, np.int32)
    number[columns] = np.arange(len(columns), dtype=np.int32)
    new = number[X.indices]
    stay = new >= 0
    starts = np.concatenate([[0], np.cumsum(stay)])[X.indptr]
    return sp.csr_array((X.data[stay], new[stay], starts), shape=(X.shape[0], len(columns)))


def bounds(part: Partition, one_sided: bool) -> tuple[Array, Array]:
    """Return Σ p x of each column over the entries that pull up and down, not less than they are, as float32."""
    above, below = np.zeros(part.X.shape[1]), np.zeros(part.X.shape[1])
    if len(part.p):
        part.compiled[0].signed_sums(part.p * part.y[:, 0] if one_sided else part.p, above, below)
    up = np.nextafter(above.astype(np.float32), np.float32(np.inf))
    down = np.nextafter(below.astype(np.float32), np.float32(np.inf))
    return np.where(above > 0, up, 0), np.where(below > 0, down, 0)


def constant(part: Partition, b: Array) -> Array:
    """Return Σ p ℓ, and per output Σ of slopes, their lengths and curvatures, of a model that is the constant b."""
    n, k = len(part.p), part.outputs
    if n == 0:
        return np.zeros((4, k))
    Z, S, h = np.zeros((n, k)), np.empty((n, k)), np.empty((n, k))
    mean = part.compiled[1]
    loss = mean.slopes(Z, b, S)
    _curvatures(part, Z, b, h)
    return np.stack([np.full(k, loss), S.sum(axis=0), np.abs(S).sum(axis=0), h.sum(axis=0)])


@record
class Evaluation:
    """Sums over rows at a point, and at points on the way to it."""

    losses: Array  # at W − (1 − t) ΔW for each length t
    slopes: Array  # Σ p ∂ℓ/∂z, per output
    sizes: Array  # Σ |p ∂ℓ/∂z|
    gradient: Array  # columns × outputs
    conjugates: Array  # Σ p ℓ*(s u, y) for each shrinkage s of the slopes u


def evaluate(part: Partition, rows: Array, new: Array, old: Array, b: Array, b_old: Array, many: bool) -> Evaluation:
    """Return the sums at W, of which only `rows` are not zero (`new`); `old` are those of the point before."""
    n, k = len(part.p), part.outputs
    lengths = len(LENGTHS) if many else 1
    d = part.X.shape[1]
    if n == 0:
        zeros = np.zeros(k)
        return Evaluation(np.zeros(lengths), zeros, zeros, np.zeros((d, k)), np.zeros(len(SHRINKAGES)))
    table, mean = part.compiled
    W, Z, S, G = np.zeros((d, k)), np.empty((n, k)), np.empty((n, k)), np.empty((d, k))
    W[rows] = new
    table.margins(W, Z)
    losses = [mean.slopes(Z, b, S)]
    if many:
        W[rows] = new - old
        D = np.empty((n, k))
        table.margins(W, D)
        losses += [mean.value(Z - (1 - t) * D, b - (1 - t) * (b - b_old)) for t in LENGTHS[1:]]
    table.gradient(S, G)
    known = part.loss.has_conjugate
    conjugates = [mean.conjugate(s * S) for s in SHRINKAGES] if known else []
    return Evaluation(np.array(losses), S.sum(axis=0), np.abs(S).sum(axis=0), G, np.array(conjugates))


def _curvatures(part: Partition, Z: Array, b: Array, h: Array) -> bool:
    """Fill in p ∂²ℓ/∂z² per output; return whether the loss couples the outputs: then it is the probabilities."""
    mean = part.compiled[1]
    mean.curvatures(Z, b, h, 1e-3 if mean.has_majorant else 0.0)
    if part.loss.kind == "multiclass":
        h[...] = part.p[:, None] * h * (1 - h)
        return True
    return False


@record
class Rows:
    """Curvature as a product: rows over some features and the intercept, and what the loss says of each row."""

    data: Array  # CSR, in float32
    indices: Array
    indptr: Array
    h: Array  # rows × outputs: curvatures, or the probabilities of classes
    p: Array  # the shares of the rows

    def packed(self, joint: bool, size: int) -> Array:
        """Return the upper triangle, as the partition would have sent it."""
        A = sp.csr_array((self.data.astype(np.float64), self.indices, self.indptr), shape=(len(self.p), size))
        return _packed(A, self.h.astype(np.float64), self.p.astype(np.float64), joint)


def curvature(
    part: Partition, rows: Array, W: Array, b: Array, some: Array, core: int, factors: bool
) -> tuple[Array | Rows, Array]:
    """Return the curvature over some columns and the intercept, in float32.

    The first `core` of these columns and the intercept: the upper triangle of Xᵀ D X, packed (for each output, if
    outputs have losses of their own), or its factors where they are the smaller message (`factors`). The other columns:
    its diagonal only.
    """
    n, k, m = len(part.p), part.outputs, len(some)
    joint = part.loss.kind == "multiclass"
    size = (core + 1) * k if joint else core + 1
    numbers = (1 if joint else k) * size * (size + 1) // 2
    diagonal = np.zeros(((m - core), k), np.float32)
    if n == 0:
        return np.zeros((1 if joint else k, numbers // (1 if joint else k)), np.float32), diagonal
    table, mean = part.compiled
    V, Z, h = np.zeros((part.X.shape[1], k)), np.empty((n, k)), np.empty((n, k))
    V[rows] = W
    table.margins(V, Z)
    mean.curvatures(Z, b, h, 1e-3 if mean.has_majorant else 0.0)
    if m > core:
        own = part.p[:, None] * h * (1 - h) if joint else h
        rest = selected(part.X, some[core:])
        rest.data = rest.data.astype(np.float64) ** 2
        diagonal[...] = rest.T @ own
    A = sp.hstack([selected(part.X, some[:core]), sp.csr_array(np.ones((n, 1)))], format="csr")
    if factors and 6 * A.nnz + 4 * n * (k + 2) < 4 * numbers and core < 1 << 16:
        arrays = (
            (A.data, np.float32),
            (A.indices, np.uint16),
            (A.indptr, np.int32),
            (h, np.float32),
            (part.p, np.float32),
        )
        return Rows(*(array.astype(kind) for array, kind in arrays)), diagonal
    return _packed(A, h, part.p, joint), diagonal


def _packed(A: Any, h: Array, p: Array, joint: bool) -> Array:
    """Return the upper triangle of Aᵀ D A over features × outputs, or one of each output."""
    size, k = A.shape[1], h.shape[1]
    if not joint:
        upper = np.triu_indices(size)
        return np.stack([_gram(A, h[:, r])[upper] for r in range(k)]).astype(np.float32)
    full = np.zeros((size, k, size, k))
    for r in range(k):
        for q in range(r, k):
            full[:, r, :, q] = _gram(A, p * h[:, r] * ((1.0 if r == q else 0.0) - h[:, q]))
            full[:, q, :, r] = full[:, r, :, q].T
    return full.reshape(size * k, size * k)[np.triu_indices(size * k)][None].astype(np.float32)


def _gram(A: Any, D: Array) -> Array:
    """Return Aᵀ diag(D) A as an array; dense blocks where A is dense enough."""
    scaled = sp.csr_array((A.data * np.repeat(D, np.diff(A.indptr)), A.indices, A.indptr), shape=A.shape)
    if A.nnz > 0.2 * A.shape[0] * A.shape[1]:
        total, step = np.zeros((A.shape[1], A.shape[1])), max(1, (1 << 24) // A.shape[1])
        for i in range(0, A.shape[0], step):
            total += A[i : i + step].toarray().T @ scaled[i : i + step].toarray()
        return total
    return (A.T @ scaled).toarray()


def held_out(part: Partition, weights: Any, intercepts: Array) -> Array:
    """Return Σ p ℓ of each of several models: sparse weights, outputs × columns each."""
    if len(part.p) == 0:
        return np.zeros(len(weights))
    table, mean = part.compiled
    Z, found = np.empty((len(part.p), part.outputs)), []
    for coef, b in zip(weights, intercepts, strict=True):
        table.margins(np.ascontiguousarray(coef.toarray().T), Z)
        found.append(mean.value(Z, b))
    return np.array(found)


def added(parts: list[Any]) -> Any:
    """Return the sum of arrays, or of evaluations field by field, in the order of the partitions."""
    if isinstance(parts[0], Evaluation):
        fields = ("losses", "slopes", "sizes", "gradient", "conjugates")
        return Evaluation(*(added([getattr(one, name) for one in parts]) for name in fields))
    if isinstance(parts[0], tuple):
        return tuple(added(list(column)) for column in zip(*parts, strict=True))
    return reduce(np.add, [np.asarray(part, np.float64) for part in parts])


Task = Callable[..., Any]
