"""Norms of blocks: of the rows of a matrix, of groups of features, or of all weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import _core
from gossamer.groups import Groups, GrowingGroups, NamedGroups, parsed
from gossamer.penalties.base import PENALTIES, Penalty, as_columns, checked_step
from gossamer.penalties.of_numbers import check_ratio
from gossamer.registry import nearest, record, refusal
from gossamer.validation import Array, floats, into, shape_words
from gossamer.validation import weights as check_weights

if TYPE_CHECKING:
    from gossamer.methods import Setup


def _as_one_row(w: Array) -> Array:
    return w.reshape(1, -1)


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
        v, step = floats(v, "v"), checked_step(step)
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

    def online_groups(self, features: int) -> Any:
        return self._feature_groups(features) if isinstance(self.groups, GrowingGroups) else None

    def online_primal(self, setup: Setup) -> Any:
        return _core.group_fobos(self._feature_groups(setup.features), setup.core())

    def online_dual(self, setup: Setup) -> Any:
        return _core.group_rda(self._feature_groups(setup.features), setup.core())


class _Grouped(_Blockwise):
    """Blocks are the rows of a matrix, or the user's groups of features."""

    on_rows = True
    groups_grow = False  # whether there is an online rule for groups that grow

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", parsed(self.groups))
        if isinstance(self.weights, Mapping):
            object.__setattr__(self, "weights", _weights_by_name(self.weights, self.groups))
            return
        self._freeze_weights()
        if self.groups is None or self.weights is None or getattr(self.groups, "by_column", False):
            return
        groups = len(self.groups.names if isinstance(self.groups, GrowingGroups) else self.groups)
        if len(self.weights) != groups:
            raise ValueError(
                f"weights must hold one number per group: there are {len(self.weights)} weights and {groups} groups."
            )

    def _matrix(self, w: Array) -> Array:
        return as_columns(w)

    def _blocks(self, w: Array) -> tuple[Any, Any, Any]:
        if self.groups is not None:
            groups = found(self.groups)
            groups.check_covers(len(w))
            return self.weights, groups.ordered, groups.starts
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
        return feature_groups(self.groups, features, self._online_weights)

    @property
    def grows(self) -> bool:
        return self.groups is None or isinstance(self.groups, GrowingGroups)

    def bound(self, known: Any) -> Any:
        if not isinstance(self.groups, NamedGroups):
            return self
        groups = self.groups.over(known)
        return replace(self, groups=groups, weights=self._weights_of(self.groups, groups.names))  # type: ignore[type-var]

    def growing(self, columns: list[str]) -> Any:
        if not isinstance(self.groups, NamedGroups):
            return self
        if not self.groups_grow:
            raise refusal(
                "Online learning from a source",
                f"{self.label} with groups by name",
                "features keep coming, and only the group lasso has a rule for groups that grow.",
                "Use GroupL2, or a batch estimator.",
            )
        groups = GrowingGroups(self.groups, columns)
        return replace(self, groups=groups, weights=self._weights_of(self.groups, groups.names))  # type: ignore[type-var]

    def _weights_of(self, named: NamedGroups, names: Any) -> Any:
        """Return one weight per group, given those of the groups that have a name: the others are 1."""
        if self.weights is None:
            return None
        given = self.weights
        if not isinstance(given, Mapping):
            keys = list(named.lists) or list(names)
            if len(keys) != len(given):
                raise ValueError(
                    f"weights must hold one number per group: there are {len(given)} weights and {len(keys)} groups."
                )
            given = dict(zip(keys, given.tolist(), strict=True))
        for name in given:
            if name not in names:
                raise ValueError(f"weights hold {name!r}, and there is no such group.{nearest(str(name), names)}")
        return np.array([given.get(name, 1.0) for name in names])

    def barred(self) -> Array | None:
        groups = super().barred()
        if groups is None or self.groups is None:
            return groups
        number = self.groups.of(np.arange(self.groups.n_features))
        return np.where((number >= 0) & (number < len(groups)), groups[np.minimum(number, len(groups) - 1)], False)

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
        groups = found(self.groups)
        return self._core(), self.weights, groups.ordered, groups.starts

    def boosted(self) -> tuple[Any, Any] | None:
        return self._core(), None


def found(groups: Any) -> Groups:
    """Return groups of features, or raise if they wait for names."""
    if not isinstance(groups, Groups):
        raise ValueError(
            f"groups={groups!r} are names, which an estimator finds in a data frame or a table when it is fitted. "
            "Elsewhere give the numbers of the features: groups=[[0, 2], [1]]."
        )
    return groups


def _weights_by_name(weights: Mapping[Any, Any], groups: Any) -> dict[Any, float]:
    if not isinstance(groups, NamedGroups):
        raise TypeError("weights by name need groups by name: groups={'place': ['city', 'zip']}, or groups='columns'.")
    numbers = check_weights(list(weights.values()), "weights", infinite=True).tolist()
    return dict(zip(weights, numbers, strict=True))


def feature_groups(groups: Any, features: int, weights: Any = None) -> Any:
    """Return the compiled groups of features: the user's, or rows if there are none."""
    if groups is None:
        return _core.FeatureGroups(None, None, weights)
    if isinstance(groups, GrowingGroups):
        number = groups.of(np.arange(features))
        members = np.flatnonzero(number >= 0)
        members = members[np.argsort(number[members], kind="stable")]
        starts = np.searchsorted(number[members], np.arange(groups.room + 1))
        ones = np.ones(groups.room)
        if weights is not None:
            ones[: len(weights)] = weights
        return _core.FeatureGroups(members, starts, None if weights is None else ones, grows=True)
    groups = found(groups)
    groups.check_covers(features)
    return _core.FeatureGroups(groups.ordered, groups.starts, weights)


@PENALTIES.part("group_l2", same=("group_lasso", "l1/l2", "l21"))
@record
class GroupL2(_Grouped, _Euclidean):
    """Group lasso, ℓ1/ℓ2: Ω(W) = Σ_g ω_g ‖W_g‖₂. A group is kept or zeroed as a whole.

    Parameters
    ----------
    groups : optional
        Groups of features: lists of numbers, or names that an estimator finds in a data frame or a table
        (``{"place": ["city", "zip"]}``, ``"columns"``; see docs/online.md). By default every row of a matrix is one.
    weights : vector, optional
        One ω_g ≥ 0 per group, 1 by default; the square roots of the group sizes are a usual choice. ∞ bars a group.
        Groups by name may have weights by name; 1 is then the weight of the others.

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
    groups_grow = True

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
        Groups of features: lists of numbers, or names that an estimator finds in a data frame or a table
        (``{"place": ["city", "zip"]}``, ``"columns"``; see docs/online.md). By default every row of a matrix is one.
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
        Groups of features: lists of numbers, or names that an estimator finds in a data frame or a table
        (``{"place": ["city", "zip"]}``, ``"columns"``; see docs/online.md). By default every row of a matrix is one.
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
        check_ratio(self.l1_ratio)
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
        Groups of features: lists of numbers, or names that an estimator finds in a data frame or a table
        (``{"place": ["city", "zip"]}``, ``"columns"``; see docs/online.md). By default every row of a matrix is one.
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


@PENALTIES.part(
    "l2_norm",
    said={
        "l2": "Ridge, ½‖w‖², which other libraries call 'l2', is 'l2_squared'. The norm ‖w‖₂ without the square, which "
        "makes all weights zero at once, is 'l2_norm' or L2()."
    },
)
@record
class L2(_Euclidean):
    """ℓ2 norm, not squared: Ω(w) = ‖w‖₂; its prox is [1 − s/‖v‖]₊ v. All weights reach zero together.

    Ridge is `L2Squared`, "l2_squared".

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
