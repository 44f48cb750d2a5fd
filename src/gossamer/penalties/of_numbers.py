"""Sums over single numbers: Σ_j a_j φ(w_j)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from gossamer import _core
from gossamer.penalties.base import PENALTIES, Penalty, as_columns, checked_step
from gossamer.registry import record
from gossamer.validation import Array, floats, into, number, shape_words


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
        return float(_core.value(self._core(), as_columns(w), self._weights_for(w)))

    def prox(self, v: Any, step: float = 1.0, *, out: Array | None = None) -> Array:
        v, step = floats(v, "v"), checked_step(step)
        a, made = self._weights_for(v), self._core()
        return into(out, v, lambda x, result: _core.prox(made, as_columns(x), as_columns(result), step, a))

    def dual_norm(self, v: Any) -> float:
        v = floats(v, "v")
        return float(_core.dual(self._core(), as_columns(v), self._weights_for(v)))

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


def check_ratio(ratio: Any) -> None:
    """Raise unless `ratio` is a share of ℓ1."""
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
        check_ratio(self.l1_ratio)
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
        v, _ = floats(v, "v"), checked_step(step)
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
