"""Euclidean projections onto sets, as functions.

Each takes a vector, or a matrix whose rows are projected one by one; the mixed-norm balls take the matrix as a whole.
float32 stays float32, everything else becomes float64. `out` receives the result and may be the input itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer import _core
from gossamer.groups import Groups
from gossamer.validation import Array, floats, into, number, refuse_nonfinite, shape_words, whole
from gossamer.validation import weights as check_weights

__all__ = [
    "SparseL1Ball",
    "project_box",
    "project_group_l2_ball",
    "project_group_linf_ball",
    "project_l1_ball",
    "project_l2_ball",
    "project_simplex",
]


def _as_rows(v: Array) -> Array:
    return v.reshape(1, -1) if v.ndim == 1 else v


def _project_rows(made: Any, v: Array, out: Array | None) -> Array:
    return into(out, v, lambda a, result: _core.project(made, _as_rows(a), _as_rows(result)))


def project_simplex(v: Any, radius: float = 1.0, *, out: Array | None = None) -> Array:
    """Project onto the simplex {w ≥ 0, Σ w = radius}: w = [v − θ]₊ with the θ that makes the sum right.

    Expected linear time.

    Parameters
    ----------
    v : array
        A vector, or a matrix whose rows are projected one by one; not empty unless radius is 0.
    radius : float
        The sum of the result, ≥ 0.
    out : array, optional
        Receives the result; same shape and dtype as `v`.

    References
    ----------
    Duchi, Shalev-Shwartz, Singer, Chandra: Efficient projections onto the ℓ1-ball for learning in high dimensions,
    ICML 2008, Figure 2.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.project_simplex([0.8, 0.6, -1.0])
    array([0.6, 0.4, 0. ])
    """
    v, radius = floats(v, "v"), number(radius, "radius", least=0)
    if radius > 0 and v.shape[-1] == 0 and len(_as_rows(v)):
        raise ValueError("The simplex of no entries is empty: v needs at least one entry (or radius must be 0).")
    return _project_rows(_core.Simplex(radius), v, out)


def project_l1_ball(v: Any, radius: float = 1.0, weights: Any = None, *, out: Array | None = None) -> Array:
    """Project onto the ℓ1 ball {‖w‖₁ ≤ radius}, or, with weights a, onto {Σ a_j |w_j| ≤ radius}.

    Expected linear time. A point inside is returned as it is.

    Parameters
    ----------
    v : array
        A vector, or a matrix whose rows are projected one by one.
    radius : float
        The bound on the norm, ≥ 0.
    weights : vector, optional
        One a_j ≥ 0 for each entry of a row; 0 leaves an entry free, ∞ makes it zero.
    out : array, optional
        Receives the result; same shape and dtype as `v`.

    References
    ----------
    Duchi, Shalev-Shwartz, Singer, Chandra: Efficient projections onto the ℓ1-ball for learning in high dimensions,
    ICML 2008.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.project_l1_ball([3.0, -1.0, 0.5], radius=2.5)
    array([ 2.25, -0.25,  0.  ])
    """
    v, radius = floats(v, "v", finite=False), number(radius, "radius", least=0)
    if weights is None and v.ndim == 1:

        def compute(given: Array, result: Array) -> None:
            if not _core.project_l1_ball_checked(given, result, radius):
                refuse_nonfinite(given, "v")

        return into(out, v, compute)
    if not _core.all_finite(v.reshape(-1)):
        refuse_nonfinite(v, "v")
    if weights is None:
        return _project_rows(_core.L1Ball(radius), v, out)
    a = check_weights(weights, "weights", infinite=True)
    if len(a) != v.shape[-1]:
        raise ValueError(f"weights must match a row of v: v is {shape_words(v.shape)}, there are {len(a)} weights.")
    barred = np.isinf(a)
    if barred.any():
        v, a = np.where(barred, v.dtype.type(0), v), np.where(barred, 1.0, a)  # a zero stays zero
    return into(
        out, v, lambda given, result: _core.project_weighted_l1_ball(_as_rows(given), _as_rows(result), radius, a)
    )


def project_l2_ball(v: Any, radius: float = 1.0, *, out: Array | None = None) -> Array:
    """Project onto the ℓ2 ball {‖w‖₂ ≤ radius}: longer vectors are scaled down.

    Parameters
    ----------
    v : array
        A vector, or a matrix whose rows are projected one by one.
    radius : float
        The bound on the norm, ≥ 0.
    out : array, optional
        Receives the result; same shape and dtype as `v`.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.project_l2_ball([[3.0, 4.0], [0.3, 0.4]])
    array([[0.6, 0.8],
           [0.3, 0.4]])
    """
    return _project_rows(_core.L2Ball(number(radius, "radius", least=0)), floats(v, "v"), out)


def project_box(v: Any, low: Any, high: Any, *, out: Array | None = None) -> Array:
    """Project onto the box {low ≤ w ≤ high}: clip every entry.

    Parameters
    ----------
    v : array
        A vector or a matrix.
    low, high : float or array
        The bounds, low ≤ high, broadcast against `v`; infinite bounds are allowed.
    out : array, optional
        Receives the result; same shape and dtype as `v`.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.project_box([-2.0, 0.5, 9.0], low=0.0, high=[1.0, 1.0, 5.0])
    array([0. , 0.5, 5. ])
    """
    v = floats(v, "v")
    low, high = check_bounds(low, high)
    try:
        if np.broadcast_shapes(v.shape, low.shape, high.shape) != v.shape:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"low and high must fit v: v is {shape_words(v.shape)}, low is {shape_words(low.shape)}, "
            f"high is {shape_words(high.shape)}."
        ) from None
    with np.errstate(over="ignore"):  # a bound beyond the range of float32 is infinite
        low, high = low.astype(v.dtype), high.astype(v.dtype)
    return into(out, v, lambda a, result: np.clip(a, low, high, out=result))


def check_bounds(low: Any, high: Any) -> tuple[Array, Array]:
    """Return the bounds of a box as float64 arrays, after checking that low ≤ high and neither is NaN."""
    low, high = _bound(low, "low"), _bound(high, "high")
    if np.isnan(low).any() or np.isnan(high).any():
        raise ValueError("low and high must not be NaN.")
    if np.any(low > high):
        raise ValueError(f"low must not be above high; low = {low} and high = {high} were given.")
    return low, high


def _bound(value: Any, name: str) -> Array:
    bound = np.asarray(value)
    if bound.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be a number or an array of numbers; {value!r} was given.")
    return bound.astype(np.float64)


def _project_groups(project: Any, W: Any, radius: float, groups: Any, out: Array | None) -> Array:
    W, radius = floats(W, "W"), number(radius, "radius", least=0)
    members = starts = None
    if groups is not None:
        parsed = groups if isinstance(groups, Groups) else Groups(groups)
        parsed.check_covers(len(W))
        members, starts = parsed.ordered, parsed.starts

    def columns(v: Array) -> Array:
        return v.reshape(-1, 1) if v.ndim == 1 else v

    return into(out, W, lambda a, result: project(columns(a), columns(result), radius, members, starts))


def project_group_l2_ball(W: Any, radius: float = 1.0, groups: Any = None, *, out: Array | None = None) -> Array:
    """Project onto the ℓ1/ℓ2 ball {Σ_g ‖W_g‖₂ ≤ radius}: the group norms are projected onto the ℓ1 ball.

    Parameters
    ----------
    W : array
        A matrix, or a vector taken as a matrix of one column.
    radius : float
        The bound on the mixed norm, ≥ 0.
    groups : optional
        Groups of rows (see `gossamer.groups.Groups`); by default every row is a group.
    out : array, optional
        Receives the result; same shape and dtype as `W`.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.project_group_l2_ball([[3.0, 4.0], [0.6, 0.8]], radius=4.0)
    array([[2.4, 3.2],
           [0. , 0. ]])
    """
    return _project_groups(_core.project_group_l2_ball, W, radius, groups, out)


def project_group_linf_ball(W: Any, radius: float = 1.0, groups: Any = None, *, out: Array | None = None) -> Array:
    """Project onto the ℓ1/ℓ∞ ball {Σ_g ‖W_g‖∞ ≤ radius}: the entries of every group are clipped, each at its own level.

    Parameters
    ----------
    W : array
        A matrix, or a vector taken as a matrix of one column.
    radius : float
        The bound on the mixed norm, ≥ 0.
    groups : optional
        Groups of rows (see `gossamer.groups.Groups`); by default every row is a group.
    out : array, optional
        Receives the result; same shape and dtype as `W`.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.project_group_linf_ball([[3.0, 2.0], [0.5, -0.5]], radius=2.0)
    array([[2., 2.],
           [0., 0.]])
    """
    return _project_groups(_core.project_group_linf_ball, W, radius, groups, out)


class SparseL1Ball:
    """A point of the ℓ1 ball with sparse updates: w ← Π(w + δ) in O(k log d) when δ has k non-zeros.

    The result of every update is that of `project_l1_ball` on the whole vector. The point starts at zero. Inside is a
    heap with lazy deletion, not the paper's red-black tree: the smallest magnitudes are all that has to be found.

    Parameters
    ----------
    n_features : int
        The dimension d.
    radius : float
        The bound on ‖w‖₁, > 0.

    References
    ----------
    Duchi, Shalev-Shwartz, Singer, Chandra: Efficient projections onto the ℓ1-ball for learning in high dimensions,
    ICML 2008, §6.

    Examples
    --------
    >>> import gossamer as gs
    >>> ball = gs.SparseL1Ball(n_features=1_000_000, radius=1.0)
    >>> ball.update([7, 42], [0.75, -0.5])
    >>> ball[[7, 42, 99]]
    array([ 0.625, -0.375,  0.   ])
    >>> ball.nnz, ball.norm1
    (2, 1.0)
    """

    def __init__(self, n_features: int, radius: float = 1.0) -> None:
        self._ball = _core.SparseL1Ball(whole(n_features, "n_features", 0), number(radius, "radius", above=0))

    @property
    def n_features(self) -> int:
        """The dimension d."""
        return int(self._ball.n_features)

    @property
    def radius(self) -> float:
        """The bound on ‖w‖₁."""
        return float(self._ball.radius)

    @property
    def nnz(self) -> int:
        """Number of non-zero weights."""
        return int(self._ball.nnz)

    @property
    def norm1(self) -> float:
        """‖w‖₁."""
        return float(self._ball.norm1)

    def update(self, indices: Any, deltas: Any) -> None:
        """Add `deltas` at `indices` and project. Repeated indices add up; bad input changes nothing."""
        indices, deltas = self._check_indices(indices), floats(deltas, "deltas", ndim=(1,)).astype(np.float64)
        if len(indices) != len(deltas):
            raise ValueError(
                f"indices and deltas must have the same length; they have {len(indices)} and {len(deltas)} entries."
            )
        self._ball.update(indices, deltas)

    def __getitem__(self, indices: Any) -> Any:
        """Return the weights at `indices` (a number or a vector of numbers)."""
        single = np.ndim(indices) == 0
        at = self._check_indices([indices] if single else indices)
        out = np.empty(len(at))
        self._ball.read(at, out)
        return out[0] if single else out

    def to_array(self) -> Array:
        """Return all d weights."""
        return np.asarray(self[np.arange(self.n_features)])

    def _check_indices(self, indices: Any) -> Array:
        at = np.asarray(indices)
        if at.ndim != 1 or (at.size and at.dtype.kind not in "iu"):
            raise TypeError(f"indices must be a vector of whole numbers; {indices!r} was given.")
        if at.size and not (at.min() >= 0 and at.max() < self.n_features):
            bad = at.min() if at.min() < 0 else at.max()
            raise IndexError(f"indices must be 0 to {self.n_features - 1}; {bad} was given.")
        return np.ascontiguousarray(at, np.int64)

    def __len__(self) -> int:
        return self.n_features

    def __repr__(self) -> str:
        return f"SparseL1Ball(n_features={self.n_features}, radius={self.radius:g}, nnz={self.nnz})"

    def __getstate__(self) -> dict[str, Any]:
        w = self.to_array()
        at = np.flatnonzero(w)
        return {"n_features": self.n_features, "radius": self.radius, "indices": at, "values": w[at]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["n_features"], state["radius"])  # type: ignore[misc]
        self._ball.update(state["indices"], state["values"])
