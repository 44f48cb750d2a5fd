"""Penalties Ω(w) and sets: one thing, with the same verbs.

Every one has

- ``value(w)``: Ω(w); for a set 0 inside and ∞ outside,
- ``prox(v, step)`` = argmin_w ½‖w − v‖² + step · Ω(w); for a set the projection, whatever the step,
- ``dual_norm(v)``: the least λ ≥ 0 with v ∈ λ ∂Ω(0). That is the dual norm where Ω is a norm, and the strength from
  which on w = 0 is optimal in every case. A ball has the dual norm of the norm it bounds.
- ``is_set``: True for a set.

w is a vector over the features, or a matrix with one row a feature and one column an output. Group penalties take rows
as groups, or the user's groups of features (over all outputs); all others take a matrix as one long vector. Weights are
one number a feature (`L1` and its kin) or one a group. The strength α belongs to the estimator, not to the penalty.

A point counts as inside a set when it is so up to rounding: 1e-9 of the radius, 1e-4 in float32.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from gossamer import _core
from gossamer.frozen import record
from gossamer.groups import Groups
from gossamer.projections import (
    check_bounds,
    project_box,
    project_group_l2_ball,
    project_group_linf_ball,
    project_l1_ball,
    project_l2_ball,
    project_simplex,
)
from gossamer.registry import resolve as _resolve
from gossamer.validation import Array, floats, frozen, into, number, shape_words
from gossamer.validation import weights as check_weights

__all__ = [
    "KL",
    "L1",
    "L2",
    "Berhu",
    "Box",
    "ElasticNet",
    "GroupL2",
    "GroupL2Ball",
    "GroupLInf",
    "GroupLInfBall",
    "L1Ball",
    "L2Ball",
    "L2Squared",
    "LInf",
    "NoPenalty",
    "NonNegativeL1",
    "Simplex",
    "SparseGroupL2",
]


def _as_columns(w: Array) -> Array:
    return w.reshape(-1, 1) if w.ndim == 1 else w


def _as_one_row(w: Array) -> Array:
    return w.reshape(1, -1)


def _same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else bool(a == b)


class _Penalty:
    """What all penalties share: settings that compare by value, and clear answers to what does not exist."""

    is_set: ClassVar[bool] = False

    def value(self, w: Any) -> float:
        """Return Ω(w)."""
        raise NotImplementedError

    def prox(self, v: Any, step: float = 1.0, *, out: Array | None = None) -> Array:
        """Return argmin_w ½‖w − v‖² + step · Ω(w)."""
        raise NotImplementedError

    def dual_norm(self, v: Any) -> float:
        """Return the least λ ≥ 0 with v ∈ λ ∂Ω(0)."""
        raise TypeError(f"{type(self).__name__} has no dual norm: it is neither a norm nor the ball of one.")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            _same(getattr(self, f.name), getattr(other, f.name))
            for f in fields(self)  # type: ignore[arg-type]
        )

    def __hash__(self) -> int:
        return hash(type(self))

    def _freeze_weights(self) -> None:
        given = self.weights  # type: ignore[attr-defined]
        object.__setattr__(self, "weights", None if given is None else check_weights(given, "weights"))


def _step(step: Any) -> float:
    return number(step, "step", least=0)


class _Elementwise(_Penalty):
    """Σ_j a_j φ(w_j), the same φ for every number."""

    weights: Any

    def _core(self) -> Any:
        raise NotImplementedError

    def _weights_for(self, w: Array) -> Any:
        if self.weights is not None and len(self.weights) != len(w):
            raise ValueError(
                f"weights must hold one number a feature: there are {len(self.weights)} weights, "
                f"and {len(w)} features in {shape_words(w.shape)}."
            )
        return self.weights

    def value(self, w: Any) -> float:
        w = floats(w, "w")
        return float(_core.value(self._core(), _as_columns(w), self._weights_for(w)))

    def prox(self, v: Any, step: float = 1.0, *, out: Array | None = None) -> Array:
        v, step = floats(v, "v"), _step(step)
        a, made = self._weights_for(v), self._core()
        return into(out, v, lambda x, result: _core.prox(made, _as_columns(x), _as_columns(result), step, a))

    def dual_norm(self, v: Any) -> float:
        v = floats(v, "v")
        return float(_core.dual(self._core(), _as_columns(v), self._weights_for(v)))


class _Blockwise(_Penalty):
    """Σ_b ω_b ‖w_b‖ over blocks; here the whole vector is one block."""

    def _core(self) -> Any:
        raise NotImplementedError

    def _blocks(self, w: Array) -> tuple[Any, Any, Any]:
        return None, None, None

    def _matrix(self, w: Array) -> Array:
        return _as_one_row(w)

    def value(self, w: Any) -> float:
        w = floats(w, "w")
        return float(_core.value(self._core(), self._matrix(w), *self._blocks(w)))

    def prox(self, v: Any, step: float = 1.0, *, out: Array | None = None) -> Array:
        v, step = floats(v, "v"), _step(step)
        made, blocks = self._core(), self._blocks(v)
        return into(out, v, lambda x, result: _core.prox(made, self._matrix(x), self._matrix(result), step, *blocks))

    def dual_norm(self, v: Any) -> float:
        v = floats(v, "v")
        return float(_core.dual(self._core(), self._matrix(v), *self._blocks(v)))


class _Grouped(_Blockwise):
    """Blocks are the rows of a matrix, or the user's groups of features."""

    groups: Any
    weights: Any
    parsed_groups: Groups | None

    def __post_init__(self) -> None:
        self._freeze_weights()
        parsed = self.groups if self.groups is None or isinstance(self.groups, Groups) else Groups(self.groups)
        object.__setattr__(self, "groups", parsed)
        object.__setattr__(self, "parsed_groups", parsed)
        if parsed is not None and self.weights is not None and len(self.weights) != len(parsed):
            raise ValueError(
                f"weights must hold one number a group: there are {len(self.weights)} weights and {len(parsed)} groups."
            )

    def _matrix(self, w: Array) -> Array:
        return _as_columns(w)

    def _blocks(self, w: Array) -> tuple[Any, Any, Any]:
        parsed = self.parsed_groups
        if parsed is not None:
            parsed.check_covers(len(w))
            return self.weights, parsed.members, parsed.starts
        if self.weights is not None and len(self.weights) != len(w):
            raise ValueError(
                f"weights must hold one number a row: there are {len(self.weights)} weights, and w is "
                f"{shape_words(w.shape)}."
            )
        return self.weights, None, None


@record
class NoPenalty(_Penalty):
    """No penalty: Ω(w) = 0.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.NoPenalty().prox([1.0, -2.0], step=5.0)
    array([ 1., -2.])
    """

    def value(self, w: Any) -> float:
        """Return 0."""
        floats(w, "w")
        return 0.0

    def prox(self, v: Any, step: float = 1.0, *, out: Array | None = None) -> Array:
        """Return v."""
        v, _ = floats(v, "v"), _step(step)
        return into(out, v, lambda x, result: np.copyto(result, x))

    def dual_norm(self, v: Any) -> float:
        """Return 0 for v = 0 and ∞ otherwise."""
        return math.inf if np.any(floats(v, "v")) else 0.0


@record
class L1(_Elementwise):
    """ℓ1 norm: Ω(w) = Σ_j a_j |w_j|, with a_j = 1 unless `weights` are given.

    Its prox is the soft threshold v − clip(v, −s, s).

    Parameters
    ----------
    weights : vector, optional
        One a_j ≥ 0 a feature; 0 leaves a feature unpenalised.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.L1().prox([3.0, -0.5, 1.0], step=1.0)
    array([2., 0., 0.])
    >>> gs.L1(weights=[1, 0, 2]).value([1.0, 1.0, 1.0])
    3.0
    """

    weights: Any = None

    def __post_init__(self) -> None:
        self._freeze_weights()

    def _core(self) -> Any:
        return _core.L1()


@record
class L2Squared(_Elementwise):
    """Half the squared ℓ2 norm: Ω(w) = ½ Σ_j a_j w_j²; its prox is v / (1 + s).

    Parameters
    ----------
    weights : vector, optional
        One a_j ≥ 0 a feature.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.L2Squared().prox([3.0, -1.0], step=1.0)
    array([ 1.5, -0.5])
    """

    weights: Any = None

    def __post_init__(self) -> None:
        self._freeze_weights()

    def _core(self) -> Any:
        return _core.L2Squared()


@record
class Berhu(_Elementwise):
    """Reverse Huber: Ω(w) = Σ_j a_j b(w_j), b(w) = |w| for |w| ≤ γ and (w² + γ²) / (2γ) beyond.

    Sparse like ℓ1 near zero, gentle with large weights' signs like ℓ2² far out.

    Parameters
    ----------
    gamma : float
        Where ℓ1 turns into ℓ2², > 0.
    weights : vector, optional
        One a_j ≥ 0 a feature.

    References
    ----------
    Duchi, Singer: Efficient online and batch learning using forward backward splitting, JMLR 2009, §5.4.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Berhu(gamma=1.0).prox([0.5, 1.5, 6.0], step=1.0)
    array([0. , 0.5, 3. ])
    """

    gamma: float = 1.0
    weights: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", number(self.gamma, "gamma", above=0))
        self._freeze_weights()

    def _core(self) -> Any:
        return _core.Berhu(self.gamma)


def _check_ratio(ratio: Any) -> None:
    number(ratio, "l1_ratio", least=0)
    if ratio > 1:
        raise ValueError(f"l1_ratio must be between 0 and 1; {ratio!r} was given.")


@record
class ElasticNet(_Elementwise):
    """Elastic net: Ω(w) = Σ_j a_j (ρ |w_j| + (1 − ρ) ½ w_j²), ρ = `l1_ratio`; its prox is ℓ1's, then a scaling.

    Parameters
    ----------
    l1_ratio : float
        The share ρ of ℓ1, between 0 and 1.
    weights : vector, optional
        One a_j ≥ 0 a feature.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.ElasticNet(l1_ratio=0.5).prox([3.5, -0.25], step=1.0)
    array([2., 0.])
    """

    l1_ratio: float = 0.5
    weights: Any = None

    def __post_init__(self) -> None:
        _check_ratio(self.l1_ratio)
        self._freeze_weights()

    def _core(self) -> Any:
        return _core.ElasticNet(self.l1_ratio)


@record
class NonNegativeL1(_Elementwise):
    """ℓ1 on the non-negative orthant: Ω(w) = Σ_j a_j w_j for w ≥ 0, ∞ otherwise; its prox is [v − s]₊.

    Parameters
    ----------
    weights : vector, optional
        One a_j ≥ 0 a feature; 0 keeps only the sign constraint.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.NonNegativeL1().prox([3.0, 0.5, -2.0], step=1.0)
    array([2., 0., 0.])
    """

    weights: Any = None

    def __post_init__(self) -> None:
        self._freeze_weights()

    def value(self, w: Any) -> float:
        """Return Ω(w)."""
        w = floats(w, "w")
        return math.inf if np.any(w < 0) else L1(self.weights).value(w)

    def _core(self) -> Any:
        return _core.NonNegativeL1()


@record
class L2(_Blockwise):
    """ℓ2 norm (not squared): Ω(w) = ‖w‖₂; its prox is [1 − s/‖v‖]₊ v. All weights reach zero together.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.L2().prox([3.0, 4.0], step=2.5)
    array([1.5, 2. ])
    """

    def _core(self) -> Any:
        return _core.L2()


@record
class LInf(_Blockwise):
    """ℓ∞ norm: Ω(w) = max_j |w_j|; its prox caps every entry at one θ, with Σ_j [|v_j| − θ]₊ = s.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.LInf().prox([3.0, -2.0, 0.5], step=2.0)
    array([ 1.5, -1.5,  0.5])
    """

    def _core(self) -> Any:
        return _core.LInf()


@record
class GroupL2(_Grouped):
    """Group lasso, ℓ1/ℓ2: Ω(W) = Σ_g ω_g ‖W_g‖₂. A group is kept or zeroed as a whole.

    Parameters
    ----------
    groups : optional
        Groups of features (see `gossamer.groups.Groups`); by default every row of a matrix is a group.
    weights : vector, optional
        One ω_g ≥ 0 a group, 1 by default; the square roots of the group sizes are a usual choice.

    References
    ----------
    Duchi, Singer: Efficient online and batch learning using forward backward splitting, JMLR 2009, §5.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.GroupL2().prox([[3.0, 4.0], [0.3, 0.4]], step=1.0)
    array([[2.4, 3.2],
           [0. , 0. ]])
    >>> gs.GroupL2(groups=[[0, 1], [2]]).value([3.0, 4.0, -2.0])
    7.0
    """

    groups: Any = None
    weights: Any = None

    def _core(self) -> Any:
        return _core.L2()


@record
class GroupLInf(_Grouped):
    """ℓ1/ℓ∞: Ω(W) = Σ_g ω_g ‖W_g‖∞. A group is zeroed as a whole, and its largest weights are evened out.

    Parameters
    ----------
    groups : optional
        Groups of features (see `gossamer.groups.Groups`); by default every row of a matrix is a group.
    weights : vector, optional
        One ω_g ≥ 0 a group, 1 by default.

    References
    ----------
    Duchi, Singer: Efficient online and batch learning using forward backward splitting, JMLR 2009, §5.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.GroupLInf().prox([[3.0, -2.0], [0.5, 0.25]], step=1.0)
    array([[ 2., -2.],
           [ 0.,  0.]])
    """

    groups: Any = None
    weights: Any = None

    def _core(self) -> Any:
        return _core.LInf()


@record
class SparseGroupL2(_Grouped):
    """Sparse group lasso: Ω(W) = ρ ‖W‖₁ + (1 − ρ) Σ_g ω_g ‖W_g‖₂, ρ = `l1_ratio`.

    Whole groups are zeroed, and single weights inside those that stay; its prox is ℓ1's, then the group rule.

    Parameters
    ----------
    l1_ratio : float
        The share ρ of ℓ1, between 0 and 1.
    groups : optional
        Groups of features (see `gossamer.groups.Groups`); by default every row of a matrix is a group.
    weights : vector, optional
        One ω_g ≥ 0 a group, 1 by default.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.SparseGroupL2(l1_ratio=0.5).prox([[3.5, 4.5, 0.25]], step=1.0)
    array([[2.7, 3.6, 0. ]])
    """

    l1_ratio: float = 0.5
    groups: Any = None
    weights: Any = None

    def __post_init__(self) -> None:
        _check_ratio(self.l1_ratio)
        super().__post_init__()

    def _core(self) -> Any:
        return _core.SparseL2(self.l1_ratio)


class _Set(_Penalty):
    """A convex set; `_excess` measures how far outside a point is, relative to the set's size."""

    is_set = True

    def _excess(self, w: Array) -> float:
        raise NotImplementedError

    def _project(self, v: Array, out: Array | None) -> Array:
        raise NotImplementedError

    def value(self, w: Any) -> float:
        """Return 0 inside the set and ∞ outside."""
        w = floats(w, "w")
        return 0.0 if self._excess(w) <= (1e-4 if w.dtype == np.float32 else 1e-9) else math.inf

    def prox(self, v: Any, step: float = 1.0, *, out: Array | None = None) -> Array:
        """Return the projection of v, whatever the step."""
        v, _ = floats(v, "v"), _step(step)
        return self._project(v, out)


class _Ball(_Set):
    """{norm(w) ≤ radius}."""

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", number(self.radius, "radius", least=0))
        self._norm()

    def _norm(self) -> _Penalty:
        raise NotImplementedError

    def _excess(self, w: Array) -> float:
        return (self._norm().value(w) - self.radius) / (self.radius or 1.0)

    def dual_norm(self, v: Any) -> float:
        """Return the dual of the norm that the ball bounds."""
        return self._norm().dual_norm(v)


def _flat(project: Any, v: Array, out: Array | None, *args: Any) -> Array:
    """Apply `project` to a matrix as one long vector."""
    return into(out, v, lambda x, result: project(x.reshape(-1), *args, out=result.reshape(-1)))


@record
class Simplex(_Set):
    """The simplex {w ≥ 0, Σ w = radius}.

    Parameters
    ----------
    radius : float
        The sum, ≥ 0.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Simplex().prox([0.8, 0.6, -1.0])
    array([0.6, 0.4, 0. ])
    """

    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", number(self.radius, "radius", least=0))

    def _excess(self, w: Array) -> float:
        with np.errstate(over="ignore"):
            off = abs(float(np.sum(w, dtype=np.float64)) - self.radius)
        return max(off, -float(w.min(initial=0.0))) / (self.radius or 1.0)

    def _project(self, v: Array, out: Array | None) -> Array:
        return _flat(project_simplex, v, out, self.radius)


@record
class L1Ball(_Ball):
    """The ℓ1 ball {Σ_j a_j |w_j| ≤ radius}, with a_j = 1 unless `weights` are given.

    Parameters
    ----------
    radius : float
        The bound, ≥ 0.
    weights : vector, optional
        One a_j ≥ 0 a feature; 0 leaves a feature free.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.L1Ball(radius=2.5).prox([3.0, -1.0, 0.5])
    array([ 2.25, -0.25,  0.  ])
    """

    radius: float = 1.0
    weights: Any = None

    def __post_init__(self) -> None:
        self._freeze_weights()
        super().__post_init__()

    def _norm(self) -> _Penalty:
        return L1(self.weights)

    def _project(self, v: Array, out: Array | None) -> Array:
        if self.weights is None:
            return _flat(project_l1_ball, v, out, self.radius)
        a = L1(self.weights)._weights_for(v)
        return _flat(project_l1_ball, v, out, self.radius, np.repeat(a, v.size // len(v)) if len(v) else a)


@record
class L2Ball(_Ball):
    """The ℓ2 ball {‖w‖₂ ≤ radius}.

    Parameters
    ----------
    radius : float
        The bound, ≥ 0.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.L2Ball(radius=1.0).prox([3.0, 4.0])
    array([0.6, 0.8])
    """

    radius: float = 1.0

    def _norm(self) -> _Penalty:
        return L2()

    def _project(self, v: Array, out: Array | None) -> Array:
        return _flat(project_l2_ball, v, out, self.radius)


@record
class Box(_Set):
    """The box {low ≤ w ≤ high}; ``Box(0, math.inf)`` is the non-negative orthant, ``Box(-r, r)`` the ℓ∞ ball.

    Parameters
    ----------
    low, high : float or array
        The bounds, one for all or one a feature; they may be infinite.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Box(-1, 1).prox([-3.0, 0.5, 2.0])
    array([-1. ,  0.5,  1. ])
    """

    low: Any
    high: Any

    def __post_init__(self) -> None:
        low, high = check_bounds(self.low, self.high)
        if low.ndim > 1 or high.ndim > 1:
            raise ValueError("low and high must be numbers or vectors of one number a feature.")
        for name, bound in (("low", low), ("high", high)):
            object.__setattr__(self, name, frozen(bound) if bound.ndim else float(bound))

    def _bounds(self, w: Array) -> tuple[Array, Array]:
        low, high = (np.asarray(b) for b in (self.low, self.high))
        for bound in (low, high):
            if bound.ndim and len(bound) != len(w):
                raise ValueError(f"low and high must fit v: there are {len(bound)} bounds and {len(w)} features.")
        if w.ndim == 2:  # one bound a feature: the same for all outputs
            low, high = (b[:, None] if b.ndim else b for b in (low, high))
        return low, high

    def _excess(self, w: Array) -> float:
        low, high = self._bounds(w)
        with np.errstate(invalid="ignore", over="ignore"):
            beyond = np.maximum(low - w, w - high) / np.maximum(1.0, np.abs(w))
        return float(beyond.max(initial=-math.inf))

    def _project(self, v: Array, out: Array | None) -> Array:
        return project_box(v, *self._bounds(v), out=out)


@record
class GroupL2Ball(_Ball):
    """The ℓ1/ℓ2 ball {Σ_g ‖W_g‖₂ ≤ radius}.

    Parameters
    ----------
    radius : float
        The bound, ≥ 0.
    groups : optional
        Groups of features (see `gossamer.groups.Groups`); by default every row of a matrix is a group.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.GroupL2Ball(radius=4.0).prox([[3.0, 4.0], [0.6, 0.8]])
    array([[2.4, 3.2],
           [0. , 0. ]])
    """

    radius: float = 1.0
    groups: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "_made", GroupL2(self.groups))
        object.__setattr__(self, "groups", self.parsed_groups)
        super().__post_init__()

    @property
    def parsed_groups(self) -> Groups | None:
        """The groups, checked; None for rows."""
        return self._made.parsed_groups  # type: ignore[attr-defined]

    def _norm(self) -> _Penalty:
        return self._made  # type: ignore[attr-defined]

    def _project(self, v: Array, out: Array | None) -> Array:
        return project_group_l2_ball(v, self.radius, self.parsed_groups, out=out)


@record
class GroupLInfBall(_Ball):
    """The ℓ1/ℓ∞ ball {Σ_g ‖W_g‖∞ ≤ radius}.

    Parameters
    ----------
    radius : float
        The bound, ≥ 0.
    groups : optional
        Groups of features (see `gossamer.groups.Groups`); by default every row of a matrix is a group.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.GroupLInfBall(radius=2.0).prox([[3.0, 2.0], [0.5, -0.5]])
    array([[2., 2.],
           [0., 0.]])
    """

    radius: float = 1.0
    groups: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "_made", GroupLInf(self.groups))
        object.__setattr__(self, "groups", self.parsed_groups)
        super().__post_init__()

    @property
    def parsed_groups(self) -> Groups | None:
        """The groups, checked; None for rows."""
        return self._made.parsed_groups  # type: ignore[attr-defined]

    def _norm(self) -> _Penalty:
        return self._made  # type: ignore[attr-defined]

    def _project(self, v: Array, out: Array | None) -> Array:
        return project_group_linf_ball(v, self.radius, self.parsed_groups, out=out)


@record
class KL(_Penalty):
    """Kullback-Leibler divergence to a prior p on the simplex: Ω(w) = Σ_j w_j log(w_j / p_j) for w ≥ 0, Σ w = 1.

    With a step of 0 its prox is the projection onto the simplex.

    Parameters
    ----------
    prior : vector, optional
        p ≥ 0 with Σ p = 1; uniform by default. Where p_j = 0, w_j is 0.

    References
    ----------
    Xiao: Dual averaging method for regularized stochastic learning and online optimization, NIPS 2009.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.KL().value([0.5, 0.5])
    0.0
    >>> gs.KL().prox([1.0, 0.0], step=1.0).round(4)
    array([0.6626, 0.3374])
    """

    prior: Any = None

    def __post_init__(self) -> None:
        if self.prior is None:
            return
        p = check_weights(self.prior, "prior")
        if not math.isclose(p.sum(), 1.0, rel_tol=1e-9):
            raise ValueError(f"prior must sum to 1; it sums to {p.sum():g}. Divide it by its sum.")
        object.__setattr__(self, "prior", p)

    def prior_for(self, size: int) -> Array:
        """Return the prior over `size` weights."""
        if self.prior is None:
            return np.full(size, 1.0 / max(size, 1))
        if len(self.prior) != size:
            raise ValueError(f"prior must hold one number an entry: it has {len(self.prior)} and w has {size}.")
        return np.asarray(self.prior)

    def value(self, w: Any) -> float:
        """Return Ω(w)."""
        w = floats(w, "w")
        p, flat = self.prior_for(w.size), w.reshape(-1).astype(np.float64)
        if Simplex().value(w) > 0 or np.any((flat > 0) & (p == 0)):
            return math.inf
        used = flat > 0
        return float(np.sum(flat[used] * (np.log(flat[used]) - np.log(p[used]))))

    def prox(self, v: Any, step: float = 1.0, *, out: Array | None = None) -> Array:
        """Return argmin_w ½‖w − v‖² + step · Ω(w)."""
        v, step = floats(v, "v"), _step(step)
        p = self.prior_for(v.size)
        if v.size == 0:
            raise ValueError("The simplex of no entries is empty: v needs at least one entry.")
        if step > 0:
            return into(out, v, lambda x, result: _core.prox_kl(x.reshape(-1), result.reshape(-1), step, p))
        used = p > 0

        def compute(x: Array, result: Array) -> None:
            flat = np.zeros(x.size, x.dtype)
            flat[used] = project_simplex(x.reshape(-1)[used])
            result[...] = flat.reshape(x.shape)

        return into(out, v, compute)


BY_NAME = {
    "none": NoPenalty,
    "l1": L1,
    "l2": L2,
    "l2_squared": L2Squared,
    "linf": LInf,
    "berhu": Berhu,
    "elastic_net": ElasticNet,
    "group_l2": GroupL2,
    "group_linf": GroupLInf,
    "sparse_group_l2": SparseGroupL2,
    "non_negative_l1": NonNegativeL1,
    "kl": KL,
    "simplex": Simplex,
    "l1_ball": L1Ball,
    "l2_ball": L2Ball,
    "group_l2_ball": GroupL2Ball,
    "group_linf_ball": GroupLInfBall,
}


def resolve(spec: Any) -> Any:
    """Return the penalty or set called `spec`; an object with `value` and `prox` is taken as it is.

    Examples
    --------
    >>> from gossamer import penalties
    >>> penalties.resolve("elastic_net")
    ElasticNet(l1_ratio=0.5, weights=None)
    """
    return _resolve(spec, BY_NAME, "penalty", ("value", "prox"))
