"""Convex sets, and the divergence to a point of one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import _core
from gossamer.groups import NamedGroups, parsed
from gossamer.penalties.base import PENALTIES, Penalty, checked_step
from gossamer.penalties.of_blocks import L2, GroupL2, GroupLInf, feature_groups, found
from gossamer.penalties.of_numbers import L1
from gossamer.projections import (
    check_bounds,
    project_box,
    project_group_l2_ball,
    project_group_linf_ball,
    project_l1_ball,
    project_l2_ball,
    project_simplex,
)
from gossamer.registry import record, refusal
from gossamer.validation import Array, floats, frozen, into, number
from gossamer.validation import weights as check_weights

if TYPE_CHECKING:
    from gossamer.methods import Setup


class _Set(Penalty):
    """A convex set; `_excess` measures how far outside a point is, relative to the set's size."""

    is_set = constrains = True

    def _excess(self, w: Array) -> float:
        raise NotImplementedError

    def _project(self, v: Array, out: Array | None) -> Array:
        raise NotImplementedError

    def value(self, w: Any) -> float:
        """Return 0 inside the set and ∞ outside."""
        w = floats(w, "w")
        return 0.0 if self._excess(w) <= (1e-4 if w.dtype == np.float32 else 1e-9) else math.inf

    def prox(self, v: Any, step: float = 1.0, *, out: Array | None = None) -> Array:
        """Return the projection of v, for any step."""
        v, _ = floats(v, "v"), checked_step(step)
        return self._project(v, out)

    def reach(self, alpha: float, start: float) -> float | None:
        """Return None: not every set is bounded."""
        return None

    def has_dual(self, alpha: float) -> bool:
        """Return whether the set is bounded, so that every slope gives a bound."""
        return True

    def shrinkages(self, alpha: float, G: Array) -> list[tuple[float, float]]:
        """Return 1 and the support function of the set at −G."""
        return [(1.0, self.support(G))]

    def support(self, G: Array) -> float:
        """Return max <−G, w> over the set."""
        raise NotImplementedError


class _Ball(_Set):
    """{norm(w) ≤ radius}."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", number(self.radius, "radius", least=0))
        self._norm()

    def _norm(self) -> Penalty:
        raise NotImplementedError

    def _excess(self, w: Array) -> float:
        return (self._norm().value(w) - self.radius) / (self.radius or 1.0)

    def dual_norm(self, v: Any) -> float:
        """Return the dual of the norm that the ball bounds."""
        return self._norm().dual_norm(v)

    def reach(self, alpha: float, start: float) -> float | None:
        """Return the radius: ‖w‖₂ is at most the norm."""
        return self.radius

    def support(self, G: Array) -> float:
        """Return max <−G, w> over the ball."""
        return float(self.radius * self.dual_norm(-G))


def _flat(project: Any, v: Array, out: Array | None, *args: Any) -> Array:
    """Apply `project` to a matrix as one long vector."""
    return into(out, v, lambda x, result: project(x.reshape(-1), *args, out=result.reshape(-1)))


@PENALTIES.part("simplex")
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

    def reach(self, alpha: float, start: float) -> float | None:
        return self.radius

    def support(self, G: Array) -> float:
        return float(self.radius * np.max(-G))

    def whole_prox(self, setup: Setup) -> Any:
        return _core.set_prox(_core.Simplex(self.radius), setup.features, setup.outputs)

    @property
    def primal_cost(self) -> str:  # type: ignore[override]
        return "z k log d" if self.radius > 0 else "d k"

    def online_primal(self, setup: Setup) -> Any:
        if self.radius == 0:
            return super().online_primal(setup)
        return _core.simplex_fobos(self.radius, setup.core())


@PENALTIES.part("l1_ball")
@record
class L1Ball(_Ball):
    """The ℓ1 ball {Σ_j a_j |w_j| ≤ radius}, with a_j = 1 unless `weights` are given.

    Parameters
    ----------
    radius : float
        The bound, ≥ 0.
    weights : vector, optional
        One a_j ≥ 0 per feature; 0 leaves a feature free, ∞ bars it.

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

    def _norm(self) -> Penalty:
        return L1(self.weights)

    def _project(self, v: Array, out: Array | None) -> Array:
        if self.weights is None:
            return _flat(project_l1_ball, v, out, self.radius)
        a = L1(self.weights)._weights_for(v)
        return _flat(project_l1_ball, v, out, self.radius, np.repeat(a, v.size // len(v)) if len(v) else a)

    def has_dual(self, alpha: float) -> bool:
        return self._all_penalised

    def whole_prox(self, setup: Setup) -> Any:
        if self.weights is None:
            return _core.set_prox(_core.L1Ball(self.radius), setup.features, setup.outputs)
        return _core.weighted_l1_ball_prox(self.radius, self._weights_over(setup.features), setup.outputs)

    @property
    def primal_cost(self) -> str:  # type: ignore[override]
        return "z k log d" if self.weights is None and self.radius > 0 else "d k"

    def online_primal(self, setup: Setup) -> Any:
        if self.weights is not None or self.radius == 0:
            return super().online_primal(setup)
        return _core.l1_ball_fobos(self.radius, setup.core())


@PENALTIES.part("l2_ball")
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
    primal_cost = dual_cost = "z k"

    def _norm(self) -> Penalty:
        return L2()

    def _project(self, v: Array, out: Array | None) -> Array:
        return _flat(project_l2_ball, v, out, self.radius)

    def online_primal(self, setup: Setup) -> Any:
        return _core.l2_ball_fobos(self.radius, setup.core())

    def online_dual(self, setup: Setup) -> Any:
        return _core.l2_ball_rda(self.radius, setup.core())


@PENALTIES.part()
@record
class Box(_Set):
    """The box {low ≤ w ≤ high}; ``Box(0, math.inf)`` is the non-negative orthant, ``Box(-r, r)`` the ℓ∞ ball.

    Parameters
    ----------
    low, high : float or array
        The bounds, one for all or one per feature; they may be infinite.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Box(-1, 1).prox([-3.0, 0.5, 2.0])
    array([-1. ,  0.5,  1. ])
    """

    low: Any
    high: Any
    primal_cost = dual_cost = "z k"

    def __post_init__(self) -> None:
        low, high = check_bounds(self.low, self.high)
        if low.ndim > 1 or high.ndim > 1:
            raise ValueError("low and high must be numbers or vectors of one number per feature.")
        for name, bound in (("low", low), ("high", high)):
            object.__setattr__(self, name, frozen(bound) if bound.ndim else float(bound))

    def _bounds(self, w: Array) -> tuple[Array, Array]:
        low, high = (np.asarray(b) for b in (self.low, self.high))
        for bound in (low, high):
            if bound.ndim and len(bound) != len(w):
                raise ValueError(f"low and high must fit v: there are {len(bound)} bounds and {len(w)} features.")
        if w.ndim == 2:  # one bound per feature: the same for all outputs
            low, high = (b[:, None] if b.ndim else b for b in (low, high))
        return low, high

    def _excess(self, w: Array) -> float:
        low, high = self._bounds(w)
        with np.errstate(invalid="ignore", over="ignore"):
            beyond = np.maximum(low - w, w - high) / np.maximum(1.0, np.abs(w))
        return float(beyond.max(initial=-math.inf))

    def _project(self, v: Array, out: Array | None) -> Array:
        return project_box(v, *self._bounds(v), out=out)

    def has_dual(self, alpha: float) -> bool:
        return bool(np.all(np.isfinite(self.low)) and np.all(np.isfinite(self.high)))

    def support(self, G: Array) -> float:
        low, high = self._bounds(G)
        return float(np.sum(np.maximum(-G * low, -G * high)))

    @property
    def sums_over_features(self) -> bool:
        """Whether the bounds are the same for all features."""
        return np.ndim(self.low) == np.ndim(self.high) == 0

    @property
    def acts_on_rows(self) -> bool:
        """True."""
        return True

    def rows(self, features: int) -> tuple[Any, Any] | None:
        if self.sums_over_features:
            return _core.Box(self.low, self.high), None
        low, high = (np.broadcast_to(np.asarray(b, np.float64), (features,)) for b in (self.low, self.high))
        return _core.Bounds(np.ascontiguousarray(low), np.ascontiguousarray(high)), None

    def single_form(self, features: int) -> tuple[Any, Any] | None:
        return (_core.Box(self.low, self.high), None) if self.sums_over_features else None


@record
class _GroupBall(_Ball):
    """{Σ_g ‖W_g‖ ≤ radius}: groups are rows, or the user's."""

    radius: float = 1.0
    groups: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", parsed(self.groups))
        super().__post_init__()

    def bound(self, known: Any) -> Any:
        return replace(self, groups=self.groups.over(known)) if isinstance(self.groups, NamedGroups) else self

    def growing(self, columns: list[str]) -> Any:
        if not isinstance(self.groups, NamedGroups):
            return self
        raise refusal(
            "Online learning from a source",
            f"{self.label} with groups by name",
            "features keep coming, and a ball has no rule for groups that grow.",
            "Use GroupL2, or a batch estimator.",
        )

    def whole_prox(self, setup: Setup) -> Any:
        groups = feature_groups(self.groups, setup.features)
        return self._ball_prox()(self.radius, groups, setup.features, setup.outputs)

    @property
    def _found(self) -> Any:
        return None if self.groups is None else found(self.groups)

    def _ball_prox(self) -> Any:
        raise NotImplementedError


@PENALTIES.part("group_l2_ball")
@record
class GroupL2Ball(_GroupBall):
    """The ℓ1/ℓ2 ball {Σ_g ‖W_g‖₂ ≤ radius}.

    Parameters
    ----------
    radius : float
        The bound, ≥ 0.
    groups : optional
        Groups of features: lists of numbers, or names that an estimator finds in a data frame or a table
        (``{"place": ["city", "zip"]}``, ``"columns"``; see docs/online.md). By default every row of a matrix is one.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.GroupL2Ball(radius=4.0).prox([[3.0, 4.0], [0.6, 0.8]])
    array([[2.4, 3.2],
           [0. , 0. ]])
    """

    def _norm(self) -> Penalty:
        return GroupL2(self.groups)

    def _project(self, v: Array, out: Array | None) -> Array:
        return project_group_l2_ball(v, self.radius, self._found, out=out)

    def _ball_prox(self) -> Any:
        return _core.group_l2_ball_prox


@PENALTIES.part("group_linf_ball")
@record
class GroupLInfBall(_GroupBall):
    """The ℓ1/ℓ∞ ball {Σ_g ‖W_g‖∞ ≤ radius}.

    Parameters
    ----------
    radius : float
        The bound, ≥ 0.
    groups : optional
        Groups of features: lists of numbers, or names that an estimator finds in a data frame or a table
        (``{"place": ["city", "zip"]}``, ``"columns"``; see docs/online.md). By default every row of a matrix is one.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.GroupLInfBall(radius=2.0).prox([[3.0, 2.0], [0.5, -0.5]])
    array([[2., 2.],
           [0., 0.]])
    """

    def _norm(self) -> Penalty:
        return GroupLInf(self.groups)

    def _project(self, v: Array, out: Array | None) -> Array:
        return project_group_linf_ball(v, self.radius, self._found, out=out)

    def reach(self, alpha: float, start: float) -> float | None:
        return None  # ‖W_g‖∞ does not bound ‖W_g‖₂

    def _ball_prox(self) -> Any:
        return _core.group_linf_ball_prox


@PENALTIES.part("kl")
@record
class KL(Penalty):
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
    constrains = True
    has_dual_norm = False

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
            raise ValueError(f"prior must hold one number per entry: it has {len(self.prior)} and w has {size}.")
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
        v, step = floats(v, "v"), checked_step(step)
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

    def reach(self, alpha: float, start: float) -> float | None:
        return None

    def whole_prox(self, setup: Setup) -> Any:
        return _core.kl_prox(self.prior_for(setup.features * setup.outputs))

    def online_dual(self, setup: Setup) -> Any:
        if setup.alpha <= 0:
            raise refusal("RDA", self.label, "its weights are p exp(-G / (tα)).", "Use alpha > 0.")
        return _core.kl_rda(self.prior_for(setup.features * setup.outputs), setup.core())

    def has_dual(self, alpha: float) -> bool:
        return alpha > 0

    def shrinkages(self, alpha: float, G: Array) -> list[tuple[float, float]]:
        return [(1.0, self.conjugate(alpha, G))]

    def conjugate(self, alpha: float, G: Array) -> float:
        p, v = self.prior_for(G.size), -G.reshape(-1) / alpha
        used = p > 0
        top = v[used].max()
        return float(alpha * (top + np.log(np.sum(p[used] * np.exp(v[used] - top)))))
