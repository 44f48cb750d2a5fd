"""What all penalties share, the registry of them, and penalties of one's own."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import _core
from gossamer.registry import Registry, record, settings
from gossamer.validation import Array, number
from gossamer.validation import weights as check_weights

if TYPE_CHECKING:
    from gossamer.methods import Setup

PENALTIES = Registry("penalty", ("value", "prox"))


def as_columns(w: Array) -> Array:
    """Return weights as a matrix: a vector is one column."""
    return w.reshape(-1, 1) if w.ndim == 1 else w


def _same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else bool(a == b)


def checked_step(step: Any) -> float:
    """Return the step of a prox, a number ≥ 0."""
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

    # Groups by name

    def bound(self, known: Any) -> Any:
        """Return Ω with its groups found among the features of some data (`gossamer.groups.Known`)."""
        return self

    def growing(self, columns: list[str]) -> Any:
        """Return Ω with groups that grow, for features that keep coming from a table with these columns."""
        return self

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
    def grows(self) -> bool:
        """Whether features can be added to a learner."""
        return self.sums_over_features

    def online_groups(self, features: int) -> Any:
        """Return the compiled groups of a learner whose groups grow, or None."""
        return None

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
