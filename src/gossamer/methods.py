"""Online methods: how the weights follow the gradients.

A method is a frozen setting. `step` is a number c, a schedule (`Constant`, `InverseSqrt`, `InverseTime`, or any
function of an array of rounds t = 1, 2, …), ``"theory"`` for the papers' rule from the problem's constants, or
``"auto"``, which tries several on the first rows and keeps the one that predicted best. A number means c / √t where the
theory asks for a decreasing step (`Fobos`, `TruncatedGradient`, `Subgradient`, `ExponentiatedGradient`), and c itself
for `AdaGrad` and `FTRL`, whose steps decrease by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from gossamer import _core, penalties
from gossamer.frozen import record
from gossamer.registry import resolve as _resolve
from gossamer.schedules import Constant, InverseSqrt, InverseTime
from gossamer.validation import number

__all__ = ["FTRL", "RDA", "AdaGrad", "ExponentiatedGradient", "Fobos", "Pegasos", "Subgradient", "TruncatedGradient"]


class _Method:
    """What all methods share: settings as scikit-learn sees them, and the schedule of steps."""

    decreasing: ClassVar[bool] = True  # whether a number c stands for c / √t
    grows: ClassVar[bool] = True  # whether features and outputs can be added to a learner

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings, for scikit-learn's ``method__step``."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Any:
        """Change settings in place, for scikit-learn's grid search, which works on copies."""
        changed = type(self)(**{**self.get_params(), **params})
        for name, value in changed.get_params().items():
            object.__setattr__(self, name, value)
        return self

    @property
    def pace(self) -> Any:
        """What the step is set by: a number, a schedule, "auto" or "theory"."""
        return self.step  # type: ignore[attr-defined]

    def pace_for(self, setup: Setup) -> Any:
        """Return what the step is set by in this problem."""
        return self.pace

    def schedule(self, pace: Any) -> Any:
        """Return the function of t that `pace` stands for."""
        if callable(pace):
            return pace
        return InverseSqrt(pace) if self.decreasing else Constant(pace)

    def make(self, penalty: Any, setup: Setup) -> Any:
        """Return a new learner, or raise if the method cannot handle the penalty."""
        raise NotImplementedError


@record
class Setup:
    """What a learner is made with, besides its method and penalty."""

    features: int
    outputs: int
    alpha: float
    fit_intercept: bool
    average: bool = False

    def core(self, alpha: float | None = None) -> Any:
        """Return the compiled form."""
        strength = self.alpha if alpha is None else alpha
        return _core.Setup(self.features, self.outputs, strength, self.fit_intercept, self.average)


def _check_step(step: Any, numbers_only: bool = False) -> None:
    if isinstance(step, str):
        if step not in ("auto", "theory"):
            raise ValueError(f"step must be a number, a schedule, 'auto' or 'theory'; {step!r} was given.")
        if step == "theory" and numbers_only:
            raise ValueError("step='theory' is for methods with one step for all features; use 'auto' or a number.")
    elif callable(step) and not isinstance(step, type):
        if numbers_only and not isinstance(step, Constant):
            raise ValueError("This method adapts its steps itself: step must be a number or 'auto', not a schedule.")
    else:
        number(step, "step", above=0)


# The row-wise compiled form of each penalty that is a sum over features.
_ROWWISE: dict[type, Callable[[Any], Any]] = {
    penalties.L1: lambda p: _core.L1(),
    penalties.L2Squared: lambda p: _core.ElasticNet(0.0),
    penalties.ElasticNet: lambda p: _core.ElasticNet(p.l1_ratio),
    penalties.Berhu: lambda p: _core.Berhu(p.gamma),
    penalties.NonNegativeL1: lambda p: _core.NonNegativeL1(),
    penalties.GroupL2: lambda p: _core.L2(),
    penalties.GroupLInf: lambda p: _core.LInf(),
    penalties.SparseGroupL2: lambda p: _core.SparseL2(p.l1_ratio),
}


def sums_over_features(penalty: Any) -> bool:
    """Return whether the compiled row-wise rules know the penalty: a sum over features (rows of W)."""
    if isinstance(penalty, penalties.Box):
        return np.ndim(penalty.low) == np.ndim(penalty.high) == 0
    if isinstance(penalty, penalties.NoPenalty):
        return True
    return type(penalty) in _ROWWISE and getattr(penalty, "groups", None) is None


def bounds_each(penalty: Any) -> bool:
    """Return whether the penalty is a box with bounds of its own for each feature."""
    return isinstance(penalty, penalties.Box) and not sums_over_features(penalty)


def rowwise(penalty: Any, setup: Setup) -> tuple[Any, Any, Any] | None:
    """Return the compiled row penalty, its weights and setup, or None if the penalty couples features."""
    if bounds_each(penalty):
        return _bounds(penalty, setup), None, setup.core()
    if not sums_over_features(penalty):
        return None
    if isinstance(penalty, penalties.NoPenalty):
        return _core.L1(), None, setup.core(alpha=0.0)
    if isinstance(penalty, penalties.Box):
        return _core.Box(float(penalty.low), float(penalty.high)), None, setup.core()
    return _ROWWISE[type(penalty)](penalty), _weights(penalty, setup), setup.core()


def _weights(penalty: Any, setup: Setup) -> Any:
    """Return the penalty's weights, one a feature, or None."""
    weights = penalty.weights
    if weights is not None and len(weights) != setup.features:
        raise ValueError(
            f"The penalty needs one weight a feature: it has {len(weights)}, the data has {setup.features} features."
        )
    return weights


def refusal(method: Any, penalty: Any, why: str, would_do: str) -> ValueError:
    """Return the error for a method that cannot handle a penalty."""
    return ValueError(f"{type(method).__name__} cannot handle {type(penalty).__name__}: {why} {would_do}")


def _known(method: Any, penalty: Any) -> None:
    if not isinstance(penalty, penalties._Penalty):
        raise refusal(
            method,
            penalty,
            "online learning runs compiled rules, and this penalty is a Python object.",
            "Use it in batch, or use one of the penalties of the library.",
        )


@record
class Fobos(_Method):
    """Forward-backward splitting: v = w − η_t g_t, then w = prox(v, η_t α). With a set it is projected subgradient.

    Parameters
    ----------
    step : number, schedule, "theory" or "auto"
        η_t; a number c means c / √t. "theory" is c = D / (4 G) with D ≥ ‖w*‖ and G ≥ ‖g‖ from the first rows.

    References
    ----------
    Duchi, Singer: Efficient online and batch learning using forward backward splitting, JMLR 2009.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.OnlineClassifier(method=gs.Fobos(step=1.0)).method
    Fobos(step=1.0)
    """

    step: Any = "auto"

    def __post_init__(self) -> None:
        _check_step(self.step)

    def make(self, penalty: Any, setup: Setup) -> Any:
        """Return a new learner."""
        _known(self, penalty)
        rows = rowwise(penalty, setup)
        return _core.learner(_core.Fobos(), *rows) if rows else _coupled_primal(penalty, setup)


@record
class _Gamma:
    """γ in every round; unlike a step it may be zero."""

    gamma: float
    may_be_zero: ClassVar[bool] = True

    def __call__(self, t: Any) -> Any:
        return np.full(len(t), self.gamma)


@record
class RDA(_Method):
    """Regularised dual averaging: w = argmin <ḡ, w> + αΩ(w) + (γ/√t) (½‖w‖² + ρ‖w‖₁), ḡ the mean gradient.

    With a set it is Nesterov's dual averaging.

    Parameters
    ----------
    gamma : number, "theory" or "auto"
        γ > 0; "theory" is G / D. γ = 0 is allowed where the penalty is strongly convex (`L2Squared`, `ElasticNet`).
    rho : float
        ρ ≥ 0: extra ℓ1 that fades like 1/√t; for penalties with an ℓ1 part.

    References
    ----------
    Xiao: Dual averaging method for regularized stochastic learning and online optimization, NIPS 2009.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.RDA(gamma=10.0, rho=0.005)
    RDA(gamma=10.0, rho=0.005)
    """

    gamma: Any = "auto"
    rho: float = 0.0
    decreasing: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not (isinstance(self.gamma, str) and self.gamma in ("auto", "theory")):
            number(self.gamma, "gamma", least=0)
        number(self.rho, "rho", least=0)

    @property
    def pace(self) -> Any:
        """γ."""
        return self.gamma

    def schedule(self, pace: Any) -> Any:
        """Return γ for every round."""
        return _Gamma(float(pace))

    def make(self, penalty: Any, setup: Setup) -> Any:
        """Return a new learner."""
        _known(self, penalty)
        strong = isinstance(penalty, penalties.L2Squared) or (
            isinstance(penalty, penalties.ElasticNet) and penalty.l1_ratio < 1
        )
        strong = strong and (penalty.weights is None or bool(np.all(penalty.weights > 0)))
        if self.gamma == 0 and not (strong and setup.alpha > 0):
            raise refusal(self, penalty, "γ = 0 needs a strongly convex penalty with alpha > 0.", "Use gamma='auto'.")
        if self.rho > 0 and not isinstance(penalty, (penalties.L1, penalties.ElasticNet, penalties.NonNegativeL1)):
            raise refusal(self, penalty, "ρ adds ℓ1, which this penalty has none of.", "Use rho=0 or an ℓ1 penalty.")
        rows = rowwise(penalty, setup)
        return _core.learner(_core.Rda(self.rho), *rows) if rows else _coupled_dual(penalty, setup)


@record
class AdaGrad(_Method):
    """Diagonal AdaGrad with scale-free steps: feature j moves by η / (m_j √s_j), s_j = Σ ‖g_j‖², m_j the largest |x_j|.

    One s_j a feature, shared by its outputs, so that penalties on rows keep their exact prox. Dividing by m_j makes the
    result independent of the units of each feature.

    Parameters
    ----------
    step : number or "auto"
        η.
    form : "rda" or "fobos"
        The dual form, w = prox(−c_j G_j, c_j t α) with the sum of gradients G, which is sparser; or the primal form.

    References
    ----------
    Duchi, Hazan, Singer: Adaptive subgradient methods for online learning and stochastic optimization, JMLR 2011.
    Ross, Mineiro, Langford: Normalized online learning, UAI 2013 (steps free of scale).

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.AdaGrad(step=0.1, form="fobos")
    AdaGrad(step=0.1, form='fobos')
    """

    step: Any = "auto"
    form: str = "rda"
    decreasing: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_step(self.step, numbers_only=True)
        if self.form not in ("rda", "fobos"):
            raise ValueError(f"form must be 'rda' or 'fobos'; {self.form!r} was given.")

    def make(self, penalty: Any, setup: Setup) -> Any:
        """Return a new learner."""
        rows = _rows_only(self, penalty, setup)
        form = _core.AdaGradDual() if self.form == "rda" else _core.AdaGradPrimal()
        return _core.learner(form, *rows)


@record
class FTRL(_Method):
    """FTRL-Proximal: w = prox(−c_j Z_j, c_j t α), c_j = η / (β + √s_j), centred at the iterates.

    Parameters
    ----------
    step : number or "auto"
        η.
    beta : float
        β ≥ 0.

    References
    ----------
    McMahan: Follow-the-regularized-leader and mirror descent, AISTATS 2011.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.FTRL(step=0.5)
    FTRL(step=0.5, beta=1.0)
    """

    step: Any = "auto"
    beta: float = 1.0
    decreasing: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_step(self.step, numbers_only=True)
        number(self.beta, "beta", least=0)

    def make(self, penalty: Any, setup: Setup) -> Any:
        """Return a new learner."""
        return _core.learner(_core.Ftrl(self.beta), *_rows_only(self, penalty, setup))


@record
class TruncatedGradient(_Method):
    """Truncated gradient: plain SGD, and every K-th round a soft threshold by K η α of the weights up to θ.

    Parameters
    ----------
    step : number, schedule, "theory" or "auto"
        η_t; a number c means c / √t.
    period : int
        K ≥ 1.
    threshold : float
        θ > 0; weights larger than it are left alone. K = 1 and θ = ∞ is FOBOS with ℓ1.

    References
    ----------
    Langford, Li, Zhang: Sparse online learning via truncated gradient, JMLR 2009.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.TruncatedGradient(step=1.0, period=5)
    TruncatedGradient(step=1.0, period=5, threshold=inf)
    """

    step: Any = "auto"
    period: int = 10
    threshold: float = math.inf

    def __post_init__(self) -> None:
        _check_step(self.step)
        if not isinstance(self.period, (int, np.integer)) or isinstance(self.period, bool) or self.period < 1:
            raise ValueError(f"period must be a whole number, 1 or more; {self.period!r} was given.")
        if not self.threshold > 0:
            raise ValueError(f"threshold must be positive; {self.threshold!r} was given.")

    def make(self, penalty: Any, setup: Setup) -> Any:
        """Return a new learner."""
        _known(self, penalty)
        if not isinstance(penalty, (penalties.L1, penalties.NoPenalty)):
            raise refusal(self, penalty, "truncation is a rule for ℓ1.", "Use penalty='l1', or method='fobos'.")
        method = _core.TruncatedGradient(float(self.period), float(self.threshold))
        return _core.learner(method, *_rows_only(self, penalty, setup))


@record
class Subgradient(_Method):
    """Subgradient descent: w − η_t (g_t + α ξ_t), ξ_t ∈ ∂Ω(w_t). The baseline that never reaches zero.

    Parameters
    ----------
    step : number, schedule, "theory" or "auto"
        η_t; a number c means c / √t.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Subgradient(step=gs.Constant(0.1))
    Subgradient(step=Constant(c=0.1))
    """

    step: Any = "auto"

    def __post_init__(self) -> None:
        _check_step(self.step)

    def make(self, penalty: Any, setup: Setup) -> Any:
        """Return a new learner."""
        _known(self, penalty)
        if penalty.is_set or isinstance(penalty, (penalties.NonNegativeL1, penalties.KL)):
            raise refusal(
                self, penalty, "a constraint has no useful subgradient.", "Use method='fobos', which projects."
            )
        rows = _rows_only(self, penalty, setup)
        return _core.learner(_core.Subgradient(), *rows)


@record
class Pegasos(_Method):
    """Pegasos: subgradient descent with ½ α ‖w‖² and η_t = 1 / (α t), projected on ‖w‖ ≤ 1/√α.

    Parameters
    ----------
    project : bool
        Whether to project.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro: Pegasos: primal estimated sub-gradient solver for SVM, ICML 2007.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Pegasos()
    Pegasos(project=True)
    """

    project: bool = True
    grows: ClassVar[bool] = False

    @property
    def pace(self) -> Any:
        """The step is set by alpha."""
        return 1.0

    def pace_for(self, setup: Setup) -> Any:
        """Return α."""
        return setup.alpha

    def schedule(self, pace: Any) -> Any:
        """Return 1/(αt)."""
        return InverseTime(pace)

    def make(self, penalty: Any, setup: Setup) -> Any:
        """Return a new learner."""
        _known(self, penalty)
        if not isinstance(penalty, penalties.L2Squared) or penalty.weights is not None:
            raise refusal(self, penalty, "it is a method for ½‖w‖².", "Use penalty='l2_squared', or method='fobos'.")
        if setup.alpha <= 0:
            raise refusal(self, penalty, "its steps are 1/(αt).", "Use alpha > 0.")
        return _core.pegasos(bool(self.project), setup.core())


@record
class ExponentiatedGradient(_Method):
    """Exponentiated gradient ±: multiplicative updates on ‖w‖₁ ≤ radius, each output by itself.

    Parameters
    ----------
    radius : float
        The norm of w⁺ + w⁻, > 0.
    step : number, schedule or "auto"
        η_t; a number c means c / √t.

    References
    ----------
    Kivinen, Warmuth: Exponentiated gradient versus gradient descent for linear predictors, 1997.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.ExponentiatedGradient(radius=10.0)
    ExponentiatedGradient(radius=10.0, step='auto')
    """

    radius: float = 1.0
    step: Any = "auto"
    grows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number(self.radius, "radius", above=0)
        _check_step(self.step)
        if self.step == "theory":
            raise ValueError("step='theory' is for methods with additive steps; use 'auto' or a number.")

    def make(self, penalty: Any, setup: Setup) -> Any:
        """Return a new learner."""
        _known(self, penalty)
        if not isinstance(penalty, penalties.NoPenalty):
            raise refusal(self, penalty, "its radius bounds ‖w‖₁ already.", "Use penalty='none', or method='fobos'.")
        return _core.exponentiated_gradient(float(self.radius), setup.core())


def _rows_only(method: Any, penalty: Any, setup: Setup) -> tuple[Any, Any, Any]:
    """Return what `rowwise` returns, or raise where it returns nothing."""
    _known(method, penalty)
    rows = rowwise(penalty, setup)
    if rows is None:
        raise refusal(
            method,
            penalty,
            "this method needs a penalty that is a sum over features, and this one couples them.",
            "Use method='fobos' or 'rda', or a penalty on rows.",
        )
    return rows


def _groups(penalty: Any, setup: Setup, weights: Any = None) -> Any:
    """Return the compiled groups of features: the user's, rows where there are none."""
    parsed = penalty.parsed_groups
    if parsed is None:
        return _core.FeatureGroups(None, None, weights)
    parsed.check_covers(setup.features)
    return _core.FeatureGroups(parsed.members, parsed.starts, weights)


def _bounds(penalty: Any, setup: Setup) -> Any:
    low, high = (np.broadcast_to(np.asarray(b, np.float64), (setup.features,)) for b in (penalty.low, penalty.high))
    return _core.Bounds(np.ascontiguousarray(low), np.ascontiguousarray(high))


def _prior(penalty: Any, setup: Setup) -> Any:
    return penalty.prior_for(setup.features * setup.outputs)


def _whole_prox(penalty: Any, setup: Setup) -> Any:
    """Return the prox over all weights at once, for the penalties that have no cheaper way: O(d k) a round."""
    d, k = setup.features, setup.outputs
    match penalty:
        case penalties.LInf():
            return _core.blockwise_prox(_core.LInf(), _core.FeatureGroups.whole(d), d, k)
        case penalties.GroupLInf():
            return _core.blockwise_prox(_core.LInf(), _groups(penalty, setup, penalty.weights), d, k)
        case penalties.SparseGroupL2():
            groups = _groups(penalty, setup, penalty.weights)
            return _core.blockwise_prox(_core.SparseL2(penalty.l1_ratio), groups, d, k)
        case penalties.Simplex():
            return _core.set_prox(_core.Simplex(penalty.radius), d, k)
        case penalties.L1Ball() if penalty.weights is None:
            return _core.set_prox(_core.L1Ball(penalty.radius), d, k)
        case penalties.L1Ball():
            return _core.weighted_l1_ball_prox(penalty.radius, _weights(penalty, setup), k)
        case penalties.GroupL2Ball():
            return _core.group_l2_ball_prox(penalty.radius, _groups(penalty, setup), d, k)
        case penalties.GroupLInfBall():
            return _core.group_linf_ball_prox(penalty.radius, _groups(penalty, setup), d, k)
        case penalties.KL():
            return _core.kl_prox(_prior(penalty, setup))
    raise TypeError(f"There is no online rule for {type(penalty).__name__}.")


def _coupled_primal(penalty: Any, setup: Setup) -> Any:
    match penalty:
        case penalties.GroupL2():
            return _core.group_fobos(_groups(penalty, setup, penalty.weights), setup.core())
        case penalties.L2():
            return _core.group_fobos(_core.FeatureGroups.whole(setup.features), setup.core())
        case penalties.L2Ball():
            return _core.l2_ball_fobos(penalty.radius, setup.core())
        case penalties.L1Ball() if penalty.weights is None and penalty.radius > 0:
            return _core.l1_ball_fobos(penalty.radius, setup.core())
        case penalties.Simplex() if penalty.radius > 0:
            return _core.simplex_fobos(penalty.radius, setup.core())
    return _core.eager_fobos(_whole_prox(penalty, setup), setup.core())


def _coupled_dual(penalty: Any, setup: Setup) -> Any:
    match penalty:
        case penalties.GroupL2():
            return _core.group_rda(_groups(penalty, setup, penalty.weights), setup.core())
        case penalties.L2():
            return _core.group_rda(_core.FeatureGroups.whole(setup.features), setup.core())
        case penalties.L2Ball():
            return _core.l2_ball_rda(penalty.radius, setup.core())
        case penalties.KL():
            if setup.alpha <= 0:
                raise refusal(RDA(), penalty, "its weights are p exp(-G / (tα)).", "Use alpha > 0.")
            return _core.kl_rda(_prior(penalty, setup), setup.core())
    return _core.eager_rda(_whole_prox(penalty, setup), setup.core())


BY_NAME = {
    "auto": AdaGrad,
    "fobos": Fobos,
    "rda": RDA,
    "adagrad": AdaGrad,
    "ftrl": FTRL,
    "truncated_gradient": TruncatedGradient,
    "subgradient": Subgradient,
    "pegasos": Pegasos,
    "eg": ExponentiatedGradient,
}


def resolve(spec: Any) -> Any:
    """Return the method called `spec`.

    Examples
    --------
    >>> from gossamer import methods
    >>> methods.resolve("rda")
    RDA(gamma='auto', rho=0.0)
    """
    return _resolve(spec, BY_NAME, "method", ("make", "schedule"))


def resolve_for(spec: Any, penalty: Any, loss: Any) -> Any:
    """Return the method called `spec`.

    "auto" is FOBOS where the penalty couples features, and AdaGrad otherwise: in its dual form, which is sparser, or in
    its primal form for regression, where it predicts better.
    """
    if isinstance(spec, str) and spec == "auto":
        form = "fobos" if loss.kind == "regression" else "rda"
        return AdaGrad(form=form) if sums_over_features(penalty) or bounds_each(penalty) else Fobos()
    return resolve(spec)
