"""Penalties Ω(w) and sets, with the same methods.

Every penalty has

- ``value(w)``: Ω(w); for a set 0 inside and ∞ outside,
- ``prox(v, step)`` = argmin_w ½‖w − v‖² + step · Ω(w); for a set the projection, for any step,
- ``dual_norm(v)``: the smallest λ ≥ 0 with v ∈ λ ∂Ω(0). If Ω is a norm, that is its dual norm; in every case it is the
  smallest strength at which w = 0 is optimal. A ball has the dual norm of the norm it bounds.
- ``is_set``: True for a set.

w is a vector over the features, or a matrix with one row per feature and one column per output. Group penalties take
rows as groups, or the user's groups of features (over all outputs); all others take a matrix as one long vector.
Weights are one number per feature (`L1` and its kin) or one per group. A weight of ∞ bars a feature, or a whole group:
Ω is ∞ unless its weights are zero, at every strength, and they stay zero. The strength α belongs to the estimator, not
to the penalty.

A point counts as inside a set up to rounding error: 1e-9 of the radius, 1e-4 in float32.

What the rest of the library must know about a penalty is on its class too: see `Penalty` for the facts and methods and
their defaults. `PENALTIES.part` registers a class.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import _core
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
from gossamer.registry import Registry, record, refusal, settings
from gossamer.validation import Array, floats, frozen, into, number, shape_words
from gossamer.validation import weights as check_weights

if TYPE_CHECKING:
    from gossamer.methods import Setup

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
    "NonNegativeGroupL2",
    "NonNegativeL1",
    "Simplex",
    "SmoothL1",
    "SparseGroupL2",
]

PENALTIES = Registry("penalty", ("value", "prox"))


def _as_columns(w: Array) -> Array:
    return w.reshape(-1, 1) if w.ndim == 1 else w


def _as_one_row(w: Array) -> Array:
    return w.reshape(1, -1)


def _same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else bool(a == b)


def _step(step: Any) -> float:
    return number(step, "step", least=0)


class Penalty:
    """What all penalties share: equality by value, and the facts and methods that the library uses.

    The defaults are those of a norm that couples all features and has only a prox.
    """

    is_set: bool = False
    constrains: bool = False  # whether Ω is ∞ somewhere
    penalises: bool = True  # whether Ω is anything but 0
    is_l1: bool = False  # whether Ω(w) = Σ_j a_j |w_j|
    has_l1: bool = False  # whether it has an ℓ1 part, to which more ℓ1 can be added
    is_half_square: bool = False  # whether Ω(w) = ½‖w‖²
    has_dual_norm: bool = True
    slope_order: float = math.inf  # which norm of a row of the gradient `limits` bounds: 1, 2 or ∞
    weights: Any = None
    groups: Any = None
    radius: Any = None  # of a ball

    def value(self, w: Any) -> float:
        """Return Ω(w)."""
        raise NotImplementedError

    def prox(self, v: Any, step: float = 1.0, *, out: Array | None = None) -> Array:
        """Return argmin_w ½‖w − v‖² + step · Ω(w)."""
        raise NotImplementedError

    def dual_norm(self, v: Any) -> float:
        """Return the smallest λ ≥ 0 with v ∈ λ ∂Ω(0)."""
        raise TypeError(f"{self.label} has no dual norm: it is neither a norm nor the ball of one.")

    @property
    def label(self) -> str:
        """Its name in error messages."""
        return type(self).__name__

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        theirs = settings(other)
        return all(_same(value, theirs[name]) for name, value in settings(self).items())

    def __hash__(self) -> int:
        return hash(type(self))

    def _freeze_weights(self) -> None:
        if self.weights is not None:
            object.__setattr__(self, "weights", check_weights(self.weights, "weights", infinite=True))

    @property
    def _all_penalised(self) -> bool:
        """Whether no weight is zero."""
        return self.weights is None or bool(np.all(np.asarray(self.weights) > 0))

    # Over some of the features

    def restricted(self, features: Array) -> Any:
        """Return Ω over some of the features, for a sum over features or over the groups that they are all of."""
        return self if self.weights is None else replace(self, weights=self.weights[features])  # type: ignore[type-var]

    def barred(self) -> Array | None:
        """Return whether the weight of each feature is ∞, so that it is never used; None if no feature is barred."""
        return None if self.weights is None or np.isfinite(self.weights).all() else np.isinf(self.weights)

    @property
    def _online_weights(self) -> Any:
        """The weights for learners, which see no barred features: any number does there."""
        return None if self.weights is None else np.where(np.isinf(self.weights), 1.0, self.weights)

    def unpenalised(self) -> Array | None:
        """Return the features whose weight in the penalty is 0, or None if there are none."""
        return None if self._all_penalised or self.groups is not None else np.flatnonzero(self.weights == 0)

    # Strengths and bounds

    @property
    def strongly_convex(self) -> bool:
        """Whether Ω(w) − c‖w‖² is convex for some c > 0."""
        return False

    def with_faint_l1(self) -> Any:
        """Return Ω, with a small ℓ1 part if no strength would make all weights zero otherwise."""
        return self

    def reach(self, alpha: float, start: float) -> float | None:
        """Return a bound on ‖w*‖₂ by αΩ(w*) ≤ F(0) = `start`, or None if there is none."""
        return start / alpha if alpha > 0 else None

    # Online learning

    not_online: tuple[str, str] | None = None  # why it cannot be used online, and what to use instead
    on_rows: bool = False  # whether it takes the row of a feature over all outputs as one block, unless given groups

    # The cost of an example with z non-zeros, k outputs, d features and T rounds so far: for row-wise rules, whose
    # features catch up on the rounds they missed (a in all), and for the rules of `online_primal` and `online_dual`.
    lazy_cost: str = "z k"
    primal_cost: str = "d k"
    dual_cost: str = "d k"

    @property
    def sums_over_features(self) -> bool:
        """Whether it is a sum over features of the same function of each row of W, apart from weights."""
        return False

    @property
    def acts_on_rows(self) -> bool:
        """Whether it acts on each feature's row of W separately: `rows` does not return None."""
        return self.sums_over_features

    def rows(self, features: int) -> tuple[Any, Any] | None:
        """Return the compiled form on one row and the weights of the features, or None if it couples features."""
        return None

    def whole_prox(self, setup: Setup) -> Any:
        """Return the compiled prox over all weights at once, O(d k) per round."""
        raise TypeError(f"There is no online rule for {self.label}.")

    def online_primal(self, setup: Setup) -> Any:
        """Return a learner for FOBOS, for a penalty that couples features."""
        return _core.eager_fobos(self.whole_prox(setup), setup.core())

    def online_dual(self, setup: Setup) -> Any:
        """Return a learner for RDA, for a penalty that couples features."""
        return _core.eager_rda(self.whole_prox(setup), setup.core())

    def _weights_over(self, features: int) -> Any:
        """Return the weights, one per feature, or None."""
        if self.weights is not None and len(self.weights) != features:
            raise ValueError(
                f"The penalty needs one weight per feature: it has {len(self.weights)}, "
                f"the data has {features} features."
            )
        return self._online_weights

    # Certificates (see gossamer.batch.certificates); G is the gradient of the loss

    def has_dual(self, alpha: float) -> bool:
        """Return whether scaled slopes always give a finite lower bound that is tight at the optimum."""
        return alpha > 0 and self.has_dual_norm and self._all_penalised

    def shrinkages(self, alpha: float, G: Array) -> list[tuple[float, float]]:
        """Return pairs of a factor s and (αΩ)*(−sG): dual points s·u to try, given G = Xᵀ(p∘u)."""
        norm = self.dual_norm(-G)
        s = 1.0 if norm <= alpha else alpha / norm
        at_one = self.conjugate(alpha, G) if s < 1 else None
        return [(s, 0.0)] if at_one is None else [(s, 0.0), (1.0, at_one)]

    def conjugate(self, alpha: float, G: Array) -> float | None:
        """Return (αΩ)*(−G) if it is finite for every G, else None."""
        return None

    def _strengths(self, alpha: float, ndim: int = 1) -> Any:
        """Return α a_j, one per feature: a vector, or a column to go with a matrix."""
        if self.weights is None:
            return alpha
        return alpha * (self.weights[:, None] if ndim == 2 else self.weights)

    # Batch solvers

    def limits(self, alpha: float) -> Any:
        """Return the bound on the norm of order `slope_order` of a gradient row up to which W_j = 0, or None."""
        return None

    def single_form(self, features: int) -> tuple[Any, Any] | None:
        """Return the compiled form on single numbers and its weights, for one output; None if there is none."""
        return None

    def block_form(self, features: int) -> tuple[Any, Any, Any, Any] | None:
        """Return the compiled form on blocks, weights, members and starts of groups; None if there is none."""
        return None

    # Boosting

    rows_kin: str = ""  # for a norm of all weights: the penalty with one norm per feature

    def boosted(self) -> tuple[Any, Any] | None:
        """Return the compiled form on the row of one feature and that on all of W (or None); None if there is none."""
        return None


class _Elementwise(Penalty):
    """Σ_j a_j φ(w_j), the same φ for every number."""

    def _core(self) -> Any:
        raise NotImplementedError

    def _weights_for(self, w: Array) -> Any:
        if self.weights is not None and len(self.weights) != len(w):
            raise ValueError(
                f"weights must hold one number per feature: there are {len(self.weights)} weights, "
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

    @property
    def sums_over_features(self) -> bool:
        return True

    def rows(self, features: int) -> tuple[Any, Any] | None:
        return self._core(), self._weights_over(features)

    def single_form(self, features: int) -> tuple[Any, Any] | None:
        return self._core(), self.weights

    def block_form(self, features: int) -> tuple[Any, Any, Any, Any] | None:
        return self._core(), self.weights, None, None

    def boosted(self) -> tuple[Any, Any] | None:
        return self._core(), None


class _Blockwise(Penalty):
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

    def whole_prox(self, setup: Setup) -> Any:
        d, k = setup.features, setup.outputs
        return _core.blockwise_prox(self._core(), self._feature_groups(d), d, k)

    def _feature_groups(self, features: int) -> Any:
        return _core.FeatureGroups.whole(features)

    def boosted(self) -> tuple[Any, Any] | None:
        return _core.L1(), self._core()


class _Euclidean(_Blockwise):
    """‖·‖₂ of every block, for which there are online rules for blocks of any size."""

    primal_cost = dual_cost = "z k"

    def _core(self) -> Any:
        return _core.L2()

    def online_primal(self, setup: Setup) -> Any:
        return _core.group_fobos(self._feature_groups(setup.features), setup.core())

    def online_dual(self, setup: Setup) -> Any:
        return _core.group_rda(self._feature_groups(setup.features), setup.core())


class _Grouped(_Blockwise):
    """Blocks are the rows of a matrix, or the user's groups of features."""

    on_rows = True

    def __post_init__(self) -> None:
        self._freeze_weights()
        object.__setattr__(self, "groups", _parsed(self.groups))
        if self.groups is not None and self.weights is not None and len(self.weights) != len(self.groups):
            raise ValueError(
                f"weights must hold one number per group: there are {len(self.weights)} weights and "
                f"{len(self.groups)} groups."
            )

    def _matrix(self, w: Array) -> Array:
        return _as_columns(w)

    def _blocks(self, w: Array) -> tuple[Any, Any, Any]:
        if self.groups is not None:
            self.groups.check_covers(len(w))
            return self.weights, self.groups.ordered, self.groups.starts
        if self.weights is not None and len(self.weights) != len(w):
            raise ValueError(
                f"weights must hold one number per row: there are {len(self.weights)} weights, and w is "
                f"{shape_words(w.shape)}."
            )
        return self.weights, None, None

    @property
    def sums_over_features(self) -> bool:
        return self.groups is None

    def rows(self, features: int) -> tuple[Any, Any] | None:
        return None if self.groups is not None else (self._core(), self._weights_over(features))

    def _feature_groups(self, features: int) -> Any:
        return _feature_groups(self.groups, features, self._online_weights)

    def barred(self) -> Array | None:
        groups = super().barred()
        if groups is None or self.groups is None:
            return groups
        features = np.empty(self.groups.n_features, bool)
        features[self.groups.members] = np.repeat(groups, np.diff(self.groups.starts))
        return features

    def restricted(self, features: Array) -> Any:
        if self.groups is None:
            return super().restricted(features)
        smaller, kept = self.groups.restricted(features)
        weights = None if self.weights is None else self.weights[kept]
        return replace(self, groups=smaller, weights=weights)  # type: ignore[type-var]

    def single_form(self, features: int) -> tuple[Any, Any] | None:
        return None if self.groups is not None else self._on_singles(features)

    def _on_singles(self, features: int) -> tuple[Any, Any] | None:
        """Return the compiled form and weights of a simpler penalty if every row is one number, or None."""
        return None

    def block_form(self, features: int) -> tuple[Any, Any, Any, Any] | None:
        if self.groups is None:
            return self._core(), self.weights, None, None
        return self._core(), self.weights, self.groups.ordered, self.groups.starts

    def boosted(self) -> tuple[Any, Any] | None:
        return self._core(), None


def _parsed(groups: Any) -> Groups | None:
    return groups if groups is None or isinstance(groups, Groups) else Groups(groups)


def _feature_groups(groups: Groups | None, features: int, weights: Any = None) -> Any:
    """Return the compiled groups of features: the user's, or rows if there are none."""
    if groups is None:
        return _core.FeatureGroups(None, None, weights)
    groups.check_covers(features)
    return _core.FeatureGroups(groups.ordered, groups.starts, weights)


@PENALTIES.part("l1", same=("lasso",))
@record
class L1(_Elementwise):
    """ℓ1 norm: Ω(w) = Σ_j a_j |w_j|, with a_j = 1 unless `weights` are given.

    Its prox is the soft threshold v − clip(v, −s, s).

    Parameters
    ----------
    weights : vector, optional
        One a_j ≥ 0 per feature; 0 leaves a feature unpenalised, ∞ bars it: it is never used.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.L1().prox([3.0, -0.5, 1.0], step=1.0)
    array([2., 0., 0.])
    >>> gs.L1(weights=[1, 0, 2]).value([1.0, 1.0, 1.0])
    3.0
    """

    weights: Any = None
    is_l1 = has_l1 = True

    def __post_init__(self) -> None:
        self._freeze_weights()

    def _core(self) -> Any:
        return _core.L1()

    def limits(self, alpha: float) -> Any:
        return self._strengths(alpha)


FAINT = 1e-3  # the smallest share of ℓ1 used to choose a grid of strengths


def _check_ratio(ratio: Any) -> None:
    number(ratio, "l1_ratio", least=0)
    if ratio > 1:
        raise ValueError(f"l1_ratio must be between 0 and 1; {ratio!r} was given.")


@PENALTIES.part("elastic_net")
@record
class ElasticNet(_Elementwise):
    """Elastic net: Ω(w) = Σ_j a_j (ρ |w_j| + (1 − ρ) ½ w_j²), ρ = `l1_ratio`; its prox is that of ℓ1, scaled.

    Parameters
    ----------
    l1_ratio : float
        The share ρ of ℓ1, between 0 and 1.
    weights : vector, optional
        One a_j ≥ 0 per feature; ∞ bars it.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.ElasticNet(l1_ratio=0.5).prox([3.5, -0.25], step=1.0)
    array([2., 0.])
    """

    l1_ratio: float = 0.5
    weights: Any = None
    has_l1 = True

    def __post_init__(self) -> None:
        _check_ratio(self.l1_ratio)
        self._freeze_weights()

    def _core(self) -> Any:
        return _core.ElasticNet(self.l1_ratio)

    @property
    def strongly_convex(self) -> bool:
        return self.l1_ratio < 1 and self._all_penalised

    @property
    def lazy_cost(self) -> str:  # type: ignore[override]
        """Unequal weights have no closed form."""
        return "z k" if self.weights is None else "z k + a"

    def with_faint_l1(self) -> Any:
        return replace(self, l1_ratio=max(self.l1_ratio, FAINT))

    def reach(self, alpha: float, start: float) -> float | None:
        if alpha <= 0:
            return None
        if self.l1_ratio < 0.5:
            return math.sqrt(2 * start / (alpha * (1 - self.l1_ratio)))
        return start / (alpha * self.l1_ratio)

    def conjugate(self, alpha: float, G: Array) -> float | None:
        if self.l1_ratio == 1:
            return None
        a = self._strengths(alpha, G.ndim)
        over = np.maximum(np.abs(G) - a * self.l1_ratio, 0)
        return float(np.sum(over**2 / (2 * a * (1 - self.l1_ratio))))

    def limits(self, alpha: float) -> Any:
        return self._strengths(alpha * self.l1_ratio)


@PENALTIES.part("berhu")
@record
class Berhu(_Elementwise):
    """Reverse Huber: Ω(w) = Σ_j a_j b(w_j), b(w) = |w| for |w| ≤ γ and (w² + γ²) / (2γ) beyond.

    It is sparse like ℓ1 near zero, and like ℓ2² for large weights.

    Parameters
    ----------
    gamma : float
        Where ℓ1 turns into ℓ2², > 0.
    weights : vector, optional
        One a_j ≥ 0 per feature; ∞ bars it.

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

    @property
    def lazy_cost(self) -> str:  # type: ignore[override]
        """Searching the round in which a weight fell below γ takes log T; unequal weights have no closed form."""
        return "z k log T" if self.weights is None else "z k + a"

    def conjugate(self, alpha: float, G: Array) -> float | None:
        a = self._strengths(alpha, G.ndim)
        over = np.maximum((np.abs(G) / a) ** 2 - 1, 0)
        return float(np.sum(np.where(over > 0, a, 0.0) * self.gamma * over / 2))  # ∞ · 0 = 0

    def limits(self, alpha: float) -> Any:
        return self._strengths(alpha)


@PENALTIES.part("l2_squared", same=("ridge", "tikhonov", "weight_decay"))
@record
class L2Squared(_Elementwise):
    """Half the squared ℓ2 norm: Ω(w) = ½ Σ_j a_j w_j²; its prox is v / (1 + s).

    Parameters
    ----------
    weights : vector, optional
        One a_j ≥ 0 per feature; ∞ bars it.

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

    @property
    def is_half_square(self) -> bool:  # type: ignore[override]
        """Whether Ω(w) = ½‖w‖²: no weights."""
        return self.weights is None

    @property
    def strongly_convex(self) -> bool:
        return self._all_penalised

    @property
    def lazy_cost(self) -> str:  # type: ignore[override]
        """Unequal weights have no closed form."""
        return "z k" if self.weights is None else "z k + a"

    def with_faint_l1(self) -> Any:
        return ElasticNet(FAINT, weights=self.weights)

    def reach(self, alpha: float, start: float) -> float | None:
        return math.sqrt(2 * start / alpha) if alpha > 0 else None

    def rows(self, features: int) -> tuple[Any, Any] | None:
        return _core.ElasticNet(0.0), self._weights_over(features)

    def conjugate(self, alpha: float, G: Array) -> float | None:
        return float(np.sum(np.abs(G) ** 2 / (2 * self._strengths(alpha, G.ndim))))


@PENALTIES.part("non_negative_l1")
@record
class NonNegativeL1(_Elementwise):
    """ℓ1 on the non-negative orthant: Ω(w) = Σ_j a_j w_j for w ≥ 0, ∞ otherwise; its prox is [v − s]₊.

    Parameters
    ----------
    weights : vector, optional
        One a_j ≥ 0 per feature; 0 keeps only the sign constraint, ∞ bars the feature.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.NonNegativeL1().prox([3.0, 0.5, -2.0], step=1.0)
    array([2., 0., 0.])
    """

    weights: Any = None
    constrains = has_l1 = True

    def __post_init__(self) -> None:
        self._freeze_weights()

    def value(self, w: Any) -> float:
        """Return Ω(w)."""
        w = floats(w, "w")
        return math.inf if np.any(w < 0) else L1(self.weights).value(w)

    def _core(self) -> Any:
        return _core.NonNegativeL1()


@PENALTIES.part("group_l2", same=("group_lasso", "l1/l2", "l21"))
@record
class GroupL2(_Grouped, _Euclidean):
    """Group lasso, ℓ1/ℓ2: Ω(W) = Σ_g ω_g ‖W_g‖₂. A group is kept or zeroed as a whole.

    Parameters
    ----------
    groups : optional
        Groups of features (see `gossamer.groups.Groups`); by default every row of a matrix is a group.
    weights : vector, optional
        One ω_g ≥ 0 per group, 1 by default; the square roots of the group sizes are a usual choice. ∞ bars a group.

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
    slope_order = 2.0

    def _on_singles(self, features: int) -> tuple[Any, Any] | None:
        return _core.L1(), self.weights

    def limits(self, alpha: float) -> Any:
        return None if self.groups is not None else self._strengths(alpha)


@PENALTIES.part("group_linf")
@record
class GroupLInf(_Grouped):
    """ℓ1/ℓ∞: Ω(W) = Σ_g ω_g ‖W_g‖∞. A group is zeroed as a whole, and its largest weights become equal.

    Parameters
    ----------
    groups : optional
        Groups of features (see `gossamer.groups.Groups`); by default every row of a matrix is a group.
    weights : vector, optional
        One ω_g ≥ 0 per group, 1 by default; ∞ bars a group.

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
    slope_order = 1.0

    def _core(self) -> Any:
        return _core.LInf()

    def _on_singles(self, features: int) -> tuple[Any, Any] | None:
        return _core.L1(), self.weights

    def limits(self, alpha: float) -> Any:
        return None if self.groups is not None else self._strengths(alpha)


@PENALTIES.part("sparse_group_l2", same=("sparse_group_lasso",))
@record
class SparseGroupL2(_Grouped):
    """Sparse group lasso: Ω(W) = ρ ‖W‖₁ + (1 − ρ) Σ_g ω_g ‖W_g‖₂, ρ = `l1_ratio`.

    Whole groups are zeroed, and single weights inside the others; its prox is that of ℓ1, then that of the group lasso.

    Parameters
    ----------
    l1_ratio : float
        The share ρ of ℓ1, between 0 and 1.
    groups : optional
        Groups of features (see `gossamer.groups.Groups`); by default every row of a matrix is a group.
    weights : vector, optional
        One ω_g ≥ 0 per group, 1 by default; ∞ bars a group.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.SparseGroupL2(l1_ratio=0.5).prox([[3.5, 4.5, 0.25]], step=1.0)
    array([[2.7, 3.6, 0. ]])
    """

    l1_ratio: float = 0.5
    groups: Any = None
    weights: Any = None
    lazy_cost = "z k + a"

    def __post_init__(self) -> None:
        _check_ratio(self.l1_ratio)
        super().__post_init__()

    def _core(self) -> Any:
        return _core.SparseL2(self.l1_ratio)

    def has_dual(self, alpha: float) -> bool:
        return alpha > 0 and (self.l1_ratio > 0 or self._all_penalised)

    def _on_singles(self, features: int) -> tuple[Any, Any] | None:
        weights = np.ones(features) if self.weights is None else self.weights
        return _core.L1(), self.l1_ratio + (1 - self.l1_ratio) * weights  # ρ|w| + (1 − ρ) ω |w|


@PENALTIES.part("non_negative_group_l2")
@record
class NonNegativeGroupL2(_Grouped):
    """Group lasso on the non-negative orthant: Ω(W) = Σ_g ω_g ‖W_g‖₂ for W ≥ 0, ∞ otherwise.

    A group is kept or zeroed as a whole, and no weight is negative; its prox is the group rule of the positive part.

    Parameters
    ----------
    groups : optional
        Groups of features (see `gossamer.groups.Groups`); by default every row of a matrix is a group.
    weights : vector, optional
        One ω_g ≥ 0 per group, 1 by default; 0 keeps only the sign constraint, ∞ bars a group.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.NonNegativeGroupL2().prox([[3.0, 4.0], [-3.0, 0.5]], step=1.0)
    array([[2.4, 3.2],
           [0. , 0. ]])
    """

    groups: Any = None
    weights: Any = None
    constrains = True

    def value(self, w: Any) -> float:
        """Return Ω(w)."""
        return math.inf if np.any(floats(w, "w") < 0) else super().value(w)

    def _core(self) -> Any:
        return _core.NonNegativeL2()

    def _on_singles(self, features: int) -> tuple[Any, Any] | None:
        return _core.NonNegativeL1(), self.weights


@PENALTIES.part("l2")
@record
class L2(_Euclidean):
    """ℓ2 norm (not squared): Ω(w) = ‖w‖₂; its prox is [1 − s/‖v‖]₊ v. All weights reach zero together.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.L2().prox([3.0, 4.0], step=2.5)
    array([1.5, 2. ])
    """

    rows_kin = "GroupL2"


@PENALTIES.part("linf")
@record
class LInf(_Blockwise):
    """ℓ∞ norm: Ω(w) = max_j |w_j|; its prox clips every entry at θ with Σ_j [|v_j| − θ]₊ = s.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.LInf().prox([3.0, -2.0, 0.5], step=2.0)
    array([ 1.5, -1.5,  0.5])
    """

    rows_kin = "GroupLInf"

    def _core(self) -> Any:
        return _core.LInf()


@PENALTIES.part("smooth_l1")
@record
class SmoothL1(Penalty):
    """Smooth ℓ1: Ω(w) = Σ_j log(1 + e^{w_j}) + log(1 + e^{−w_j}); for boosting only.

    It is about |w| for large |w| and flat at zero, so no weight is ever exactly zero and boosting does not stop early:
    the baseline of boosting with ℓ1.

    References
    ----------
    Dekel, Shalev-Shwartz, Singer: Smooth ε-insensitive regression by loss symmetrization, JMLR 2005.

    Examples
    --------
    >>> import gossamer as gs
    >>> round(gs.SmoothL1().value([0.0, 3.0]), 4)
    4.4835
    """

    has_dual_norm = False
    not_online = ("it has no prox in closed form.", "It is a penalty of boosting only; use 'l1'.")

    def value(self, w: Any) -> float:
        """Return Ω(w)."""
        w = np.asarray(w, dtype=np.float64)
        return float(np.sum(np.logaddexp(0, w) + np.logaddexp(0, -w)))

    def prox(self, v: Any, step: float = 1.0, *, out: Array | None = None) -> Array:
        """Raise: there is no prox in closed form, and boosting needs none."""
        raise TypeError("SmoothL1 has no prox in closed form; it is a penalty of boosting only.")

    def boosted(self) -> tuple[Any, Any] | None:
        """Return its compiled form."""
        return _core.SmoothL1(), None


@PENALTIES.part("none", same=("None",))
@record
class NoPenalty(Penalty):
    """No penalty: Ω(w) = 0.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.NoPenalty().prox([1.0, -2.0], step=5.0)
    array([ 1., -2.])
    """

    penalises = False

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

    def reach(self, alpha: float, start: float) -> float | None:
        """Return None: there is no bound."""
        return None

    @property
    def sums_over_features(self) -> bool:
        """True: a sum of zeros."""
        return True

    def rows(self, features: int) -> tuple[Any, Any] | None:
        """Return ℓ1; methods give it strength 0."""
        return _core.L1(), None

    def has_dual(self, alpha: float) -> bool:
        """Return False: only slopes with a zero gradient give a bound."""
        return False

    def single_form(self, features: int) -> tuple[Any, Any] | None:
        """Return ℓ1 with weights of 0."""
        return _core.L1(), np.zeros(features)

    def block_form(self, features: int) -> tuple[Any, Any, Any, Any] | None:
        """Return ℓ1 with weights of 0."""
        return _core.L1(), np.zeros(features), None, None

    def boosted(self) -> tuple[Any, Any] | None:
        """Return ℓ1; its strength is 0."""
        return _core.L1(), None


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
        v, _ = floats(v, "v"), _step(step)
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
        object.__setattr__(self, "groups", _parsed(self.groups))
        super().__post_init__()

    def whole_prox(self, setup: Setup) -> Any:
        groups = _feature_groups(self.groups, setup.features)
        return self._ball_prox()(self.radius, groups, setup.features, setup.outputs)

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
        Groups of features (see `gossamer.groups.Groups`); by default every row of a matrix is a group.

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
        return project_group_l2_ball(v, self.radius, self.groups, out=out)

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
        Groups of features (see `gossamer.groups.Groups`); by default every row of a matrix is a group.

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
        return project_group_linf_ball(v, self.radius, self.groups, out=out)

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


@record
class OwnPenalty(Penalty):
    """A Python object with `value` and `prox`, wrapped as a penalty; its other facts are read here, once."""

    given: Any
    not_online = (
        "online learning runs compiled rules, and this penalty is a Python object.",
        "Use it in batch, or use one of the penalties of the library.",
    )

    def __post_init__(self) -> None:
        for fact in ("is_set", "radius", "weights", "groups"):
            object.__setattr__(self, fact, getattr(self.given, fact, getattr(self, fact)))
        object.__setattr__(self, "has_dual_norm", callable(getattr(self.given, "dual_norm", None)))

    @property
    def label(self) -> str:
        """Its name in error messages: that of its own class."""
        return type(self.given).__name__

    def value(self, w: Any) -> float:
        """Return Ω(w)."""
        return float(self.given.value(w))

    def prox(self, v: Any, step: float = 1.0, *, out: Array | None = None) -> Array:
        """Return the object's prox."""
        return np.asarray(self.given.prox(v, step))

    def dual_norm(self, v: Any) -> float:
        """Return the object's dual norm, if it has one."""
        return float(self.given.dual_norm(v)) if self.has_dual_norm else super().dual_norm(v)

    def shrinkages(self, alpha: float, G: Array) -> list[tuple[float, float]]:
        """Return those of a ball or a norm with the object's dual norm."""
        return [(1.0, float(self.radius * self.dual_norm(-G)))] if self.is_set else super().shrinkages(alpha, G)


def resolve(spec: Any) -> Any:
    """Return the penalty or set called `spec`; an object with `value` and `prox` is taken as it is.

    Examples
    --------
    >>> from gossamer import penalties
    >>> penalties.resolve("elastic_net")
    ElasticNet(l1_ratio=0.5, weights=None)
    """
    return PENALTIES.resolve(spec)


def as_penalty(spec: Any) -> Penalty:
    """Return the penalty called `spec` with all facts and verbs: a custom object is wrapped."""
    part = resolve(spec)
    return part if isinstance(part, Penalty) else OwnPenalty(part)
