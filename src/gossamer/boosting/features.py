"""Candidate features of boosting: what may enter the model, and how it is computed from raw data.

A kind of candidate is an object with

- ``propose(X, used)``: the features that may enter now, given the list of features in use; any hashable descriptions,
- ``evaluate(X, features)``: an n × len(features) matrix, dense or sparse, of their values on any data,
- ``name(feature, names)``, optional: a readable name; `names` are those of the columns of X, or None,
- ``takes_sparse``, optional: False if X must be dense.

That is all a kind of your own needs. The kinds here add ``ready(X, labels)``, which returns the kind with what it
learns from the training data, and ``pool(X)``, which scores without computing every candidate: see `Pool`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from gossamer import _core
from gossamer.estimators import wide
from gossamer.registry import Registry
from gossamer.validation import FEWER, Array, check_memory, floats, number, shape_words, sparse_matrix, whole
from gossamer.validation import weights as check_weights

__all__ = ["ColumnFeatures", "KernelFeatures", "ProductFeatures", "StumpFeatures"]

KINDS = Registry("kind of feature", ("evaluate",))

Feature = Hashable
Scored = tuple[float, Feature]

BLOCK = 256  # candidates computed at a time


def columns_of(matrix: Any) -> Any:
    """Return the matrix as the core reads it, by columns; CSC and dense column-major data is not copied."""
    if sp.issparse(matrix):
        csc = matrix.tocsc()
        if not csc.has_canonical_format:
            csc = csc.copy() if csc is matrix else csc
            csc.sum_duplicates()
        value = csc.data if csc.data.dtype in (np.float32, np.float64) else csc.data.astype(np.float64)
        start, row = np.ascontiguousarray(csc.indptr, np.int64), np.ascontiguousarray(csc.indices, np.int32)
        return _core.Design.sparse(start, row, np.ascontiguousarray(value), csc.shape[0], False, 1)
    single = isinstance(matrix, np.ndarray) and matrix.dtype == np.float32
    dense = np.asarray(matrix, np.float32 if single else np.float64)
    return _core.Design.dense(np.ascontiguousarray(dense.T), False, 1)


@dataclass(frozen=True)
class Scoring:
    """What a pool needs to score: the state of boosting, and the tolerance."""

    booster: Any
    slack: float
    threads: int

    def columns(self, columns: Any, count: int, **known: Any) -> Array:
        """Return the score of every column."""
        scores = np.empty(count)
        given = {"scales": None, "weights": None, "factor": None, **known}
        self.booster.score(columns, slack=self.slack, threads=self.threads, scores=scores, **given)
        return scores


def _top(scores: Array, count: int) -> Array:
    """Return the places of the `count` largest scores above zero, best first, the earlier of two equal ones first."""
    above = np.flatnonzero(scores > 0)
    return above[np.argsort(-scores[above], kind="stable")[:count]]


def _best_columns(scores: Array, used: Sequence[Any], count: int) -> list[Scored]:
    """Return the `count` best columns that are not in use and score above zero, best first."""
    scores[np.asarray(used, dtype=np.intp)] = 0
    return [(float(scores[j]), int(j)) for j in _top(scores, count)]


class Pool:
    """The candidates on one training set."""

    fixed = True  # whether the candidates are the same in every round, and few enough to use all

    def best(self, scoring: Scoring, used: Sequence[Feature], count: int) -> list[Scored]:
        """Return the `count` best features that are not in use and score above zero, best first."""
        raise NotImplementedError

    def add(self, booster: Any, features: Sequence[Feature]) -> None:
        """Put features in use."""
        raise NotImplementedError

    def adopt(self, booster: Any) -> list[Feature]:
        """Put all features in use and return them; for fixed pools."""
        raise NotImplementedError

    def intercept(self, b: Array, features: Sequence[Feature], W: Array) -> Array:
        """Return the intercept for the features as `evaluate` returns them."""
        return b


class _ProposedPool(Pool):
    """Candidates that are computed block by block, in every round."""

    def __init__(self, kind: Any, X: Any) -> None:
        self.kind, self.X = kind, X

    def best(self, scoring: Scoring, used: Sequence[Feature], count: int) -> list[Scored]:
        seen = set(used)
        found: list[Scored] = []
        for block in _blocks(f for f in self.kind.propose(self.X, list(used)) if not (f in seen or seen.add(f))):  # type: ignore[func-returns-value]
            scores = scoring.columns(columns_of(computed(self.kind, self.X, block)), len(block))
            found += [(float(scores[i]), block[i]) for i in _top(scores, count)]
            found = sorted(found, key=lambda pair: -pair[0])[:count]
        return found

    def add(self, booster: Any, features: Sequence[Feature]) -> None:
        booster.add(columns_of(computed(self.kind, self.X, features)), np.arange(len(features)), None)

    def adopt(self, booster: Any) -> list[Feature]:
        features = list(dict.fromkeys(self.kind.propose(self.X, [])))
        booster.adopt(columns_of(computed(self.kind, self.X, features)), np.arange(len(features)), None)
        return features


def _blocks(features: Iterable[Feature]) -> Iterable[list[Feature]]:
    block: list[Feature] = []
    for feature in features:
        block.append(feature)
        if len(block) == BLOCK:
            yield block
            block = []
    if block:
        yield block


def computed(kind: Any, X: Any, features: Sequence[Feature]) -> Any:
    """Return the values of the features on X, checked: n × len(features), finite."""
    values = kind.evaluate(X, list(features))
    if not sp.issparse(values):
        values = floats(values, "The values of the features", ndim=(2,))
    else:
        values = sparse_matrix(values, f"What {type(kind).__name__}.evaluate returned", ("csc", "csr"))
        if values.data.dtype.kind not in "biuf" or not np.isfinite(values.data).all():
            raise ValueError(f"{type(kind).__name__}.evaluate must return finite real numbers.")
    if values.shape != (X.shape[0], len(features)):
        raise ValueError(
            f"{type(kind).__name__}.evaluate must return one row per example and one column per feature, "
            f"{X.shape[0]} × {len(features)}; it returned {shape_words(values.shape)}."
        )
    return values


def column_name(j: int, names: Any) -> str:
    """Return the name of column j of X: "x3" where there are no names."""
    return f"x{j}" if names is None else str(names[j])


@KINDS.part("columns")
@dataclass(frozen=True)
class ColumnFeatures:
    """The columns of X themselves, sparse or dense, millions of them without copying.

    A feature is the number of a column.

    Examples
    --------
    >>> import numpy as np, gossamer as gs
    >>> gs.ColumnFeatures().evaluate(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), [2, 0])
    array([[3., 1.],
           [6., 4.]])
    """

    def pool(self, X: Any, weights: Array | None = None, centre: Array | None = None) -> Pool:
        """Return the candidates on X; `weights` are the ω of the columns in the penalty.

        Of a sparse X with far more columns than entries, columns without entries are no candidates. `centre` is
        subtracted from the columns of a dense X, and the intercept is adjusted. Without it, columns far from zero would
        be almost collinear with the intercept, and convergence would be slow.
        """
        return _ColumnPool(X, weights, None if sp.issparse(X) else centre)

    def evaluate(self, X: Any, features: Sequence[Any]) -> Any:
        """Return those columns of X."""
        which = np.asarray(features, dtype=np.intp)
        if wide.touched(X) is None or X.format != "csr":
            return X[:, which]
        order = np.argsort(which)
        return wide.selected(X, which[order])[:, np.argsort(order)]

    def name(self, feature: Any, names: Any = None) -> str:
        """Return the name of the column."""
        return column_name(feature, names)


class _ColumnPool(Pool):
    """All columns of a matrix."""

    def __init__(self, X: Any, weights: Array | None, centre: Array | None) -> None:
        self.centre = centre
        numbers = wide.touched(X)
        if numbers is None:
            check_memory(8 * 4 * X.shape[1], f"Boosting with {X.shape[1]:,} columns", FEWER)
            numbers = np.arange(X.shape[1])
        else:
            X, weights = wide.selected(X, numbers), None if weights is None else weights[numbers]
        self.numbers: Array = numbers  # of the candidates among all columns
        self.columns = columns_of(X if centre is None else (X - centre).astype(X.dtype, copy=False))
        self.count, self.weights = X.shape[1], weights
        self.barred = np.zeros(self.count, bool)
        if weights is not None:
            self.barred = np.isinf(weights)
            self.weights = np.where(self.barred, 1.0, weights)
        self.scales: Array | None = None

    def best(self, scoring: Scoring, used: Sequence[Feature], count: int) -> list[Scored]:
        if self.scales is None:
            self.scales = np.empty(self.count)
            scoring.booster.scales(self.columns, self.scales)
        scores = scoring.columns(self.columns, self.count, scales=self.scales, weights=self.weights)
        scores[self.barred] = 0
        scores[self._places(used)] = 0
        return [(float(scores[j]), int(self.numbers[j])) for j in _top(scores, count)]

    def _places(self, features: Sequence[Any]) -> Array:
        return np.searchsorted(self.numbers, np.asarray(features, np.int64))

    def _given(self, which: Array) -> tuple[Any, Array, Array | None]:
        return self.columns, which, None if self.weights is None else np.ascontiguousarray(self.weights[which])

    def add(self, booster: Any, features: Sequence[Feature]) -> None:
        booster.add(*self._given(self._places(features)))

    def adopt(self, booster: Any) -> list[Feature]:
        which = np.flatnonzero(~self.barred)
        booster.adopt(*self._given(which))
        return [int(j) for j in self.numbers[which]]

    def intercept(self, b: Array, features: Sequence[Any], W: Array) -> Array:
        return b if self.centre is None else b - self.centre[np.asarray(features, dtype=np.intp)] @ W


@KINDS.part("products")
@dataclass(frozen=True, eq=False)
class ProductFeatures:
    """Products of columns of any degree: a feature in use times any column may enter next.

    A feature is the sorted tuple of its columns; the columns themselves may enter from the start, as products with the
    constant. Columns are divided by their largest size in the training data, so products stay within [−1, 1]: products
    of many columns are small, the penalty keeps them out, and growth ends.

    Parameters
    ----------
    max_degree : int, optional
        The most factors of a product; no limit by default.
    scale : vector, optional
        The divisors of the columns; by default their largest size in the training data.

    References
    ----------
    Duchi, Singer: Boosting with structural sparsity, ICML 2009, §6.

    Examples
    --------
    >>> import numpy as np, gossamer as gs
    >>> kind = gs.ProductFeatures(scale=[1, 1, 1])
    >>> kind.name((0, 2), ["rm", "age", "lstat"]), kind.name((1, 1), ["rm", "age", "lstat"])
    ('rm × lstat', 'age²')
    >>> kind.evaluate(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), [(0, 2), (1, 1)])
    array([[ 3.,  4.],
           [24., 25.]])
    """

    max_degree: int | None = None
    scale: Any = None

    def __post_init__(self) -> None:
        if self.scale is not None:
            object.__setattr__(self, "scale", check_weights(self.scale, "scale"))
            if not self.scale.all():
                raise ValueError("scale must be above 0; it holds 0.")
        whole(self.max_degree, "max_degree", optional=True)

    def ready(self, X: Any, labels: Array | None) -> ProductFeatures:
        """Return the kind with its scale, found from X if it was not given."""
        if self.scale is not None:
            if len(self.scale) != X.shape[1]:
                raise ValueError(f"scale must hold one number per column; it has {len(self.scale)} for {X.shape[1]}.")
            return self
        largest = abs(X).max(axis=0)
        largest = np.asarray(largest.toarray() if sp.issparse(largest) else largest, np.float64).ravel()
        return replace(self, scale=np.where(largest > 0, largest, 1.0))

    def pool(self, X: Any) -> Pool:
        """Return the candidates on X."""
        return _ProductPool(self, X)

    def parents(self, used: Sequence[Any]) -> list[Any]:
        """Return the factors of the columns: the constant and the features in use."""
        return [(), *(f for f in used if self.max_degree is None or len(f) < self.max_degree)]

    def propose(self, X: Any, used: Sequence[Any]) -> Iterable[Any]:
        """Return the products of columns with the constant and with the features in use."""
        return ((*sorted((*parent, j)),) for parent in self.parents(used) for j in range(X.shape[1]))

    def evaluate(self, X: Any, features: Sequence[Any]) -> Any:
        """Return the products."""
        needed = sorted({j for feature in features for j in feature})
        place = {j: i for i, j in enumerate(needed)}
        base = X[:, np.asarray(needed, dtype=np.intp)]
        dense = (base.toarray() if sp.issparse(base) else np.asarray(base)) / self.scale[needed]
        out = np.empty((X.shape[0], len(features)), order="F")
        for i, feature in enumerate(features):
            out[:, i] = np.prod(dense[:, [place[j] for j in feature]], axis=1)
        return out

    def name(self, feature: Any, names: Any = None) -> str:
        """Return for instance "rm × lstat"."""
        powers = {j: feature.count(j) for j in feature}
        return " × ".join(column_name(j, names) + _superscript(power) for j, power in powers.items())


def _superscript(power: int) -> str:
    return "" if power == 1 else str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


class _ProductPool(_ProposedPool):
    """Products, scored without computing them: the rows of X are weighted by the feature that multiplies them."""

    fixed = False

    def __init__(self, kind: ProductFeatures, X: Any) -> None:
        super().__init__(kind, X)
        scaled = X @ sp.diags_array(1 / kind.scale) if sp.issparse(X) else X / kind.scale
        self.columns, self.count = columns_of(scaled), X.shape[1]
        self.values: dict[Any, Array] = {}  # of the features in use

    def best(self, scoring: Scoring, used: Sequence[Any], count: int) -> list[Scored]:
        taken = set(used)
        self.values = {f: self.values[f] for f in used if f in self.values}
        found: dict[Feature, float] = {}
        for parent in self.kind.parents(used):
            factor = self._value(parent) if parent else None
            scores = scoring.columns(self.columns, self.count, factor=factor)
            for j in _top(scores, count + len(taken)):
                feature = tuple(sorted((*parent, int(j))))
                if feature not in taken:
                    found[feature] = float(scores[j])
        return sorted(((score, f) for f, score in found.items()), key=lambda pair: (-pair[0], pair[1]))[:count]

    def _value(self, feature: Any) -> Array:
        if feature not in self.values:
            self.values[feature] = np.ascontiguousarray(computed(self.kind, self.X, [feature])[:, 0], np.float64)
        return self.values[feature]

    def adopt(self, booster: Any) -> list[Feature]:
        raise ValueError(
            "Products depend on the features in use, so they have no fixed order; use 'corrective' or 'greedy'."
        )


@KINDS.part("stumps")
@dataclass(frozen=True)
class StumpFeatures:
    """Decision stumps: +1 where a column is above a cut, −1 elsewhere.

    A feature is a column and a cut. Cuts are half-way between neighbouring values of the training data.

    Parameters
    ----------
    max_cuts : int, optional
        The most cuts of a column, at even quantiles; by default all of them.

    Examples
    --------
    >>> import numpy as np, gossamer as gs
    >>> gs.StumpFeatures().evaluate(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), [(0, 2.5)])
    array([[-1.],
           [ 1.]])
    >>> gs.StumpFeatures().name((0, 2.5), ["age"])
    'age > 2.5'
    """

    max_cuts: int | None = None
    takes_sparse: ClassVar[bool] = False  # zeros matter as much as other values

    def __post_init__(self) -> None:
        whole(self.max_cuts, "max_cuts", optional=True)

    def pool(self, X: Any) -> Pool:
        """Return the candidates on X."""
        return _StumpPool(self, np.asarray(X))

    def cuts(self, column: Array) -> Array:
        """Return the cuts of a column."""
        values = np.unique(column)
        if self.max_cuts is not None and len(values) > self.max_cuts + 1:
            inner = np.arange(1, self.max_cuts + 1) / (self.max_cuts + 1)
            values = np.unique(np.quantile(column, np.concatenate([[0], inner, [1]]), method="lower"))
        middle = values[:-1] / 2 + values[1:] / 2
        return np.where(middle < values[1:], middle, values[:-1])  # adjacent floating-point numbers have no middle

    def propose(self, X: Any, used: Sequence[Any]) -> Iterable[Any]:
        """Return all stumps on X."""
        return ((j, float(cut)) for j in range(X.shape[1]) for cut in self.cuts(np.asarray(X)[:, j]))

    def evaluate(self, X: Any, features: Sequence[Any]) -> Any:
        """Return the stumps."""
        columns = X[:, np.array([j for j, _ in features], dtype=np.intp)]
        return np.where(columns > np.array([cut for _, cut in features]), 1.0, -1.0)

    def name(self, feature: Any, names: Any = None) -> str:
        """Return for instance "age > 2.5"."""
        return f"{column_name(feature[0], names)} > {feature[1]:.6g}"


class _StumpPool(_ProposedPool):
    """All stumps, scored from sums over the values between two cuts."""

    fixed = False

    def __init__(self, kind: StumpFeatures, X: Array) -> None:
        super().__init__(kind, X)
        cuts = [kind.cuts(X[:, j]) for j in range(X.shape[1])]
        self.code = np.array([np.searchsorted(c, X[:, j], side="left") for j, c in enumerate(cuts)], np.int32)
        self.start = np.concatenate([[0], np.cumsum([len(c) for c in cuts])]).astype(np.int64)
        self.cut = np.concatenate([*cuts, np.empty(0)])
        self.place: dict[Any, int] = {}  # the numbers of the stumps added

    def best(self, scoring: Scoring, used: Sequence[Any], count: int) -> list[Scored]:
        """Return the best stump of each column, best first."""
        scores = np.empty(len(self.cut))
        scoring.booster.score_stumps(self.code, self.start, scoring.slack, scoring.threads, scores)
        scores[[self.place[f] for f in used]] = 0
        ends = [(a, b) for a, b in zip(self.start[:-1], self.start[1:], strict=True) if a < b]
        tops = np.array([a + int(np.argmax(scores[a:b])) for a, b in ends], dtype=np.intp)
        found: list[Scored] = []
        for i in tops[_top(scores[tops], count)]:
            feature = (int(np.searchsorted(self.start, i, side="right")) - 1, float(self.cut[i]))
            self.place[feature] = int(i)
            found.append((float(scores[i]), feature))
        return found


@KINDS.part("kernel")
@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """Gaussian kernel against a support set: K(x, s) = e^{−γ‖x − s‖²} for each example s of the set.

    A feature is the number of a support example.

    Parameters
    ----------
    gamma : float or "scale", default "scale"
        γ > 0; "scale" is 1 / (number of columns · variance of X).
    support : matrix, optional
        The support set, one row per example. By default the training examples on which one pass of the kernel
        perceptron makes a mistake; in regression, evenly spaced ones.
    max_support : int, default 3000
        The most examples of a support set that is chosen here.

    References
    ----------
    Duchi, Singer: Boosting with structural sparsity, ICML 2009, §6.

    Examples
    --------
    >>> import numpy as np, gossamer as gs
    >>> kind = gs.KernelFeatures(gamma=0.5, support=[[1.0, 2.0, 3.0]])
    >>> kind.evaluate(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), [0]).round(4)
    array([[1.],
           [0.]])
    """

    gamma: Any = "scale"
    support: Any = None
    max_support: int = 3000

    def __post_init__(self) -> None:
        if not isinstance(self.gamma, str):
            number(self.gamma, "gamma", above=0)
        elif self.gamma != "scale":
            raise ValueError(f"gamma must be a number above 0 or 'scale'; {self.gamma!r} was given.")
        whole(self.max_support, "max_support")
        if self.support is not None and not sp.issparse(self.support):
            object.__setattr__(self, "support", floats(self.support, "support", ndim=(2,)))

    def ready(self, X: Any, labels: Array | None) -> KernelFeatures:
        """Return the kind with γ and the support set, found from X if not given.

        `labels` are the classes 0, 1, …, or None in regression.
        """
        gamma = self.gamma
        if gamma == "scale":
            size = X.shape[0] * X.shape[1]
            mean = X.sum() / size
            square = (X.multiply(X).sum() if sp.issparse(X) else np.sum(np.square(X, dtype=np.float64))) / size
            variance = square - mean**2
            gamma = 1.0 / (X.shape[1] * variance) if variance > 1e-12 * square else 1.0
        if self.support is not None:
            if self.support.shape[1] != X.shape[1]:
                raise ValueError(
                    f"The support set must have the {X.shape[1]} columns of X; it is {shape_words(self.support.shape)}."
                )
            return replace(self, gamma=float(gamma))
        known = replace(self, gamma=float(gamma), support=np.zeros((0, X.shape[1])))
        rows = known._evenly(X.shape[0]) if labels is None else known._mistakes(X, labels)
        return replace(known, support=X[rows].copy())

    def _evenly(self, n: int) -> Array:
        return np.unique(np.linspace(0, n - 1, min(n, self.max_support)).astype(np.intp))

    def _mistakes(self, X: Any, labels: Array) -> Array:
        """Return the examples on which one pass of the perceptron errs: f_r(x) = Σ_s ±K(x, s), all classes at once."""
        chosen: list[int] = []
        signs = np.zeros((X.shape[0], int(labels.max()) + 1))  # what each mistake adds to the classes
        for begin in range(0, X.shape[0], BLOCK):
            rows = np.arange(begin, min(begin + BLOCK, X.shape[0]))
            among = np.array([*chosen, *rows], dtype=np.intp)
            K = gaussian(X[rows], X[among], self.gamma)
            for i, row in enumerate(rows):
                scores = K[i] @ signs[among]
                wrong = int(np.argmax(np.where(np.arange(len(scores)) == labels[row], -np.inf, scores)))
                if scores[labels[row]] <= scores[wrong]:
                    signs[row, labels[row]], signs[row, wrong] = 1.0, -1.0
                    chosen.append(int(row))
                    if len(chosen) == self.max_support:
                        return np.array(chosen, dtype=np.intp)
        return np.array(chosen, dtype=np.intp)

    def pool(self, X: Any) -> Pool:
        """Return the candidates on X."""
        return _KernelPool(self, X)

    def propose(self, X: Any, used: Sequence[Any]) -> Iterable[Any]:
        """Return all support examples."""
        return range(self.support.shape[0])

    def evaluate(self, X: Any, features: Sequence[Any]) -> Any:
        """Return K(x, s)."""
        return gaussian(X, self.support[np.asarray(features, dtype=np.intp)], self.gamma)

    def name(self, feature: Any, names: Any = None) -> str:
        """Return for instance "K(x, s17)"."""
        return f"K(x, s{feature})"


class _KernelPool(_ProposedPool):
    """Kernel evaluations, kept if they fit into 512 MB and recomputed in every round otherwise."""

    def __init__(self, kind: KernelFeatures, X: Any) -> None:
        super().__init__(kind, X)
        self.count = kind.support.shape[0]
        fits = X.shape[0] * self.count * 8 <= 512 << 20
        self.columns = columns_of(kind.evaluate(X, range(self.count))) if fits else None

    def best(self, scoring: Scoring, used: Sequence[Any], count: int) -> list[Scored]:
        if self.columns is None:
            return super().best(scoring, used, count)
        scores = scoring.columns(self.columns, self.count)
        return _best_columns(scores, used, count)


def gaussian(X: Any, S: Any, gamma: float) -> Array:
    """Return e^{−γ‖x − s‖²} for all rows x of X and s of S."""
    cross = X @ S.T
    cross = cross.toarray() if sp.issparse(cross) else np.asarray(cross)
    distance = _squares(X)[:, None] - 2.0 * cross + _squares(S)[None, :]
    return np.exp(-gamma * np.maximum(distance, 0.0))


def _squares(A: Any) -> Array:
    """Return ‖a‖² of every row."""
    return np.asarray(A.multiply(A).sum(axis=1)).ravel() if sp.issparse(A) else np.einsum("ij,ij->i", A, A)


def resolve(spec: Any) -> Any:
    """Return the kind of candidate called `spec`; an object with `evaluate` is taken as it is."""
    kind = KINDS.resolve(spec)
    if not callable(getattr(kind, "pool", None)) and not callable(getattr(kind, "propose", None)):
        raise TypeError(f"A kind of feature needs propose and evaluate; {type(kind).__name__} has no propose.")
    return kind


def pool_of(kind: Any, X: Any) -> Pool:
    """Return the candidates of a kind on X."""
    return kind.pool(X) if callable(getattr(kind, "pool", None)) else _ProposedPool(kind, X)


def name_of(kind: Any, feature: Any, names: Any) -> str:
    """Return the readable name of a feature."""
    return str(kind.name(feature, names)) if callable(getattr(kind, "name", None)) else str(feature)
