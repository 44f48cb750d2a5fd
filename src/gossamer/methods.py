"""Online methods: how the weights follow the gradients.

A method is a frozen record. `step` is a number c, a schedule (`Constant`, `InverseSqrt`, `InverseTime`, or any
function of an array of rounds t = 1, 2, …), ``"theory"`` for the papers' rule from the problem's constants, or
``"auto"``, which tries several on the first rows and keeps the one that predicted best. A number means c / √t for
methods whose theory needs a decreasing step (`Fobos`, `TruncatedGradient`, `Subgradient`, `ExponentiatedGradient`), and
c itself for `AdaGrad` and `FTRL`, which adapt their steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from gossamer import _core
from gossamer.penalties import PENALTIES, Penalty
from gossamer.registry import Registry, Settings, record, refusal
from gossamer.schedules import Constant, steps
from gossamer.validation import Array, number, whole

__all__ = [
    "FTRL",
    "RDA",
    "AdaGrad",
    "ExponentiatedGradient",
    "Fobos",
    "Pegasos",
    "StepFree",
    "Subgradient",
    "TruncatedGradient",
]

METHODS = Registry("method", ("make", "steps"))
CUT = 1.5  # of the rule without a step: what sums of gradients must exceed their threshold by, where sparsest


class Method(Settings):
    """What all methods share: the steps, and the facts and methods that the library uses."""

    decreasing: ClassVar[bool] = True  # whether a number c means c / √t
    grows: ClassVar[bool] = True  # whether features and outputs can be added to a learner
    first_step: ClassVar[float] = 0.1  # the step while there are too few rows to choose one
    handles_coupled: ClassVar[bool] = False  # whether it handles penalties that couple features
    has_lanes: ClassVar[bool] = False  # whether there are rules for many strengths at once
    centres: ClassVar[bool] = False  # whether features that every row has can be centred
    free_of_steps: ClassVar[bool] = False  # whether there is no step to choose
    reads_by_strength: ClassVar[bool] = False  # whether its state does not hold the strength, but sums of gradients

    @property
    def searches(self) -> bool:
        """Whether the step is chosen from the first rows."""
        return isinstance(self.step, str)  # type: ignore[attr-defined]

    def step_for(self, setup: Setup) -> Any:
        """Return the step for this problem."""
        return self.step  # type: ignore[attr-defined]

    def centring(self, center: Any, fit_intercept: Any) -> Any:
        """Return which features are centred, True, False or "auto", checked; False where none can be."""
        if isinstance(center, str) and center == "auto":
            return "auto" if self.centres and fit_intercept else False
        if not isinstance(center, (bool, np.bool_)):
            raise ValueError(f"center must be True, False or 'auto'; {center!r} was given.")
        if center and not self.centres:
            given = type(self).__name__
            raise ValueError(f"center=True is for method='step_free'; {given} was given. Use center='auto'.")
        if center and not fit_intercept:
            raise ValueError("center=True makes an intercept, and fit_intercept=False wants none. Use center='auto'.")
        return bool(center)

    def steps(self, step: Any, first: int, count: int) -> Array:
        """Return the steps of rounds `first` … `first + count − 1`."""
        if callable(step):
            return steps(step, first, count)
        if self.decreasing:
            return step / np.sqrt(np.arange(first, first + count, dtype=np.float64))
        return np.full(count, float(step))

    def candidates(self, h: float, slope: float, rows: Any) -> Array:
        """Return the steps that "auto" tries, multiples of a natural scale of the problem.

        h is the curvature of the loss at zero, `slope` the root mean square of its slope there, `rows` the first rows.
        """
        return 4.0 ** np.arange(-4, 4) / (h * _mean_square(rows))

    def theory(self, distance: float, gradient: float) -> float:
        """Return the papers' step for ‖w*‖ ≤ D and ‖g‖ ≤ G: c = D / (4 G) (FOBOS, Theorem 6 and §3)."""
        return distance / (4 * gradient)

    # What it handles

    def refusal(self, penalty: Penalty, setup: Setup) -> ValueError | None:
        """Return the error that says why it cannot handle a penalty, or None if it can."""
        why = penalty.not_online or self._objection(penalty, setup)
        if why is None and not (self.handles_coupled or penalty.acts_on_rows):
            why = (
                "this method needs a penalty that is a sum over features, and this one couples them.",
                "Use method='fobos' or 'rda', or a penalty on rows.",
            )
        return None if why is None else refusal(type(self).__name__, penalty.label, *why)

    def _objection(self, penalty: Penalty, setup: Setup) -> tuple[str, str] | None:
        """Return why it cannot handle a penalty, and what to use instead."""
        return None

    def cost(self, penalty: Penalty) -> str:
        """Return the cost per example with a penalty that it can handle (see `Penalty.lazy_cost`)."""
        return "z k"

    def handles_path(self, penalty: Penalty) -> bool:
        """Return whether there is a rule for many strengths at once."""
        return self.has_lanes and _on_path(penalty)

    def path_refusal(self, penalty: Penalty) -> ValueError | None:
        """Return the error that says why there is no rule for many strengths at once, or None if there is one."""
        if self.handles_path(penalty):
            return None
        if not self.has_lanes:
            names = [repr(name) for name in _named(METHODS, lambda method: method.has_lanes)]
            why = "on a path: it has no rule for many strengths at once."
            would_do = f"Use {', '.join(names[:-1])} or {names[-1]}, or OnlineClassifier with one strength."
        else:
            every, rows = _named(PENALTIES, _on_path), _named(PENALTIES, lambda p: _on_path(p) and p.on_rows)
            single = [repr(name) for name in every if name not in rows]
            why = "on a path: it is no sum over features with a strength to choose."
            would_do = f"Use {', '.join(single)}, or {', '.join(map(repr, rows))} on rows."
        return refusal(type(self).__name__, penalty.label, why, would_do)

    # Learners

    def compiled(self, setup: Setup) -> Any:
        """Return the compiled method for a problem."""
        raise NotImplementedError

    def make(self, penalty: Penalty, setup: Setup) -> Any:
        """Return a new learner, or raise if the method cannot handle the penalty."""
        refused = self.refusal(penalty, setup)
        if refused is not None:
            raise refused
        rows = penalty.rows(setup.features)
        if rows is None:
            return self._coupled(penalty, setup)
        return self._learner(*rows, replace(setup, alpha=setup.alpha if penalty.penalises else 0.0))

    def _learner(self, form: Any, weights: Any, setup: Setup) -> Any:
        """Return the learner of a penalty on rows, from its compiled form and its weights."""
        return _core.learner(self.compiled(setup), form, weights, setup.core())

    def _coupled(self, penalty: Penalty, setup: Setup) -> Any:
        """Return the learner of a penalty that couples features."""
        raise NotImplementedError

    def make_lanes(self, penalty: Penalty, setup: Setup, lanes: Lanes, together: int = 0) -> Any:
        """Return a new learner with many lanes, or raise if there is no rule for them.

        `together` is how many lanes learn on one thread; 0 is the fastest number. The result does not depend on it.
        """
        refused = self.path_refusal(penalty)
        if refused is not None:
            raise refused
        rows = penalty.rows(setup.features)
        assert rows is not None
        return _core.learner(self.compiled(setup), *rows, setup.core_of_lanes(lanes), together)


def _mean_square(rows: Any) -> float:
    """Return the mean ‖x‖², or 1 if that is 0."""
    return float(rows.squared_norms().mean()) or 1.0


def _on_path(penalty: Penalty) -> bool:
    return penalty.penalises and penalty.sums_over_features and not penalty.is_set


def _named(parts: Registry, holds: Callable[[Any], bool]) -> list[str]:
    """Return the first name of every part whose default satisfies `holds`, in the order of the registry."""
    return [parts.name_of(part) or "" for part in parts.defaults() if holds(part)]


@record
class Setup:
    """The settings of a learner besides its method and penalty."""

    features: int
    outputs: int
    alpha: float
    fit_intercept: bool
    average: bool = False
    target: str = "labels"  # what scores are compared with: "labels", "numbers", or "rates", which are e^z
    joint: bool = False  # whether the outputs have one loss together
    centred: int = 0  # the first features, which every row has and which are centred
    sparsest: bool = False  # whether weights that are hardly above their noise are read as zero, for labels
    standardized: int = 0  # the first features, which are learned in units of their standard deviation
    batch_size: int = 1  # how many rows make a step

    def steps_of(self, rows: int) -> int:
        """Return the number of steps of some rows: the last batch may have fewer of them."""
        return -(-rows // self.batch_size)

    def core(self, alpha: float | None = None) -> Any:
        """Return the compiled form."""
        strength = self.alpha if alpha is None else alpha
        return self._with_targets(_core.Setup(self.features, self.outputs, strength, self.fit_intercept, self.average))

    def core_of_lanes(self, lanes: Lanes) -> Any:
        """Return the compiled form for many strengths."""
        alphas, steps = np.ascontiguousarray(lanes.alphas), np.ascontiguousarray(lanes.steps)
        compiled = _core.Setup(self.features, self.outputs, alphas, steps, self.fit_intercept)
        compiled.relative = lanes.relative
        return self._with_targets(compiled)

    def _with_targets(self, compiled: Any) -> Any:
        compiled.target = getattr(_core.Target, self.target)
        compiled.joint, compiled.centred = self.joint, self.centred
        compiled.cut = CUT if self.sparsest else 0.0
        compiled.batch = self.batch_size
        return compiled


@record
class Lanes:
    """The regularization strength and the step of each lane of a learner (core/path/lane_rule.hpp)."""

    alphas: Array
    steps: Array
    relative: bool = False  # whether strengths are in units of the slopes of a constant model, which the learner finds


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


@METHODS.part("step_free", "auto")
@record
class StepFree(Method):
    """The rule without a step: nothing to choose, and the units of the features do not matter.

    With x̃ the values in units of their root mean square (centred features: of their standard deviation, around their
    mean), s the slopes of the loss, Z = Σ s x̃, D² = Σ (s x̃)² and g = η √(t / Σ‖x̃‖²) after t rows,
    q w = −g soft(Z, λ D + α t) / D for the ℓ1 norm: weights below the noise of their gradient sum are exactly zero.
    docs/step_free.md explains it. The penalty is on the weights in units of the features, q w.

    Parameters
    ----------
    rate : float, optional
        η; 1 for labels, 0.25 for numbers.
    noise : float, optional
        λ ≥ 0; 0 for numbers, 0.8 for labels, 1 for labels with `select="sparsest"`.

    References
    ----------
    McMahan: Follow-the-regularized-leader and mirror descent, AISTATS 2011.
    Xiao: Dual averaging method for regularized stochastic learning and online optimization, NIPS 2009 (Eq. 10).

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.StepFree()
    StepFree(rate=None, noise=None)
    """

    rate: float | None = None
    noise: float | None = None
    decreasing: ClassVar[bool] = False
    has_lanes: ClassVar[bool] = True
    centres: ClassVar[bool] = True
    free_of_steps: ClassVar[bool] = True
    reads_by_strength: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.rate is not None:
            number(self.rate, "rate", above=0)
        if self.noise is not None:
            number(self.noise, "noise", least=0)

    @property
    def step(self) -> Any:
        """1: there is none to choose."""
        return 1.0

    def _objection(self, penalty: Penalty, setup: Setup) -> tuple[str, str] | None:
        if setup.average:
            return "its weights between two rows have no average in closed form.", "Use method='adagrad' or 'rda'."
        if setup.batch_size > 1:
            why = "what it knows of a feature comes from single rows, not from the mean gradients of batches."
            return why, "Use batch_size=1, or method='adagrad', 'rda' or 'fobos'."
        return None

    def compiled(self, setup: Setup) -> Any:
        labels = setup.target == "labels"
        rate = self.rate or (1.0 if labels else 0.25)
        usual = 0.0 if not labels else 1.0 if setup.sparsest else 0.8
        noise = usual if self.noise is None else self.noise
        return _core.StepFree(float(rate), float(noise))


@METHODS.part("fobos")
@record
class Fobos(Method):
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
    handles_coupled: ClassVar[bool] = True
    has_lanes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_step(self.step)

    def cost(self, penalty: Penalty) -> str:
        return penalty.lazy_cost if penalty.sums_over_features else penalty.primal_cost

    def compiled(self, setup: Setup) -> Any:
        return _core.Fobos()

    def _coupled(self, penalty: Penalty, setup: Setup) -> Any:
        return penalty.online_primal(setup)


@METHODS.part("rda")
@record
class RDA(Method):
    """Regularised dual averaging: w = argmin <ḡ, w> + αΩ(w) + (γ/√t) (½‖w‖² + ρ‖w‖₁), ḡ the mean gradient.

    With a set it is Nesterov's dual averaging.

    Parameters
    ----------
    gamma : number, "theory" or "auto"
        γ > 0; "theory" is G / D. γ = 0 is allowed if the penalty is strongly convex (`L2Squared`, `ElasticNet`).
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
    first_step: ClassVar[float] = 1.0
    handles_coupled: ClassVar[bool] = True
    has_lanes: ClassVar[bool] = True
    reads_by_strength: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (isinstance(self.gamma, str) and self.gamma in ("auto", "theory")):
            number(self.gamma, "gamma", least=0)
        number(self.rho, "rho", least=0)

    @property
    def step(self) -> Any:
        """γ, which sets the step."""
        return self.gamma

    def candidates(self, h: float, slope: float, rows: Any) -> Array:
        return 1.0 / super().candidates(h, slope, rows)

    def theory(self, distance: float, gradient: float) -> float:
        """Return γ = G / D (Theorem 1)."""
        return gradient / distance

    def _objection(self, penalty: Penalty, setup: Setup) -> tuple[str, str] | None:
        if self.gamma == 0 and not (penalty.strongly_convex and setup.alpha > 0):
            return "γ = 0 needs a strongly convex penalty with alpha > 0.", "Use gamma='auto'."
        if self.rho > 0 and not penalty.has_l1:
            return "ρ adds ℓ1, which this penalty has none of.", "Use rho=0 or an ℓ1 penalty."
        return None

    def cost(self, penalty: Penalty) -> str:
        return "z k" if penalty.sums_over_features else penalty.dual_cost

    def compiled(self, setup: Setup) -> Any:
        return _core.Rda(float(self.rho))

    def _coupled(self, penalty: Penalty, setup: Setup) -> Any:
        return penalty.online_dual(setup)


@METHODS.part("adagrad", near=("adam",))
@record
class AdaGrad(Method):
    """Diagonal AdaGrad with scale-free steps: feature j moves by η / (m_j √s_j), s_j = Σ ‖g_j‖², m_j the largest |x_j|.

    There is one s_j per feature, shared by its outputs, so that penalties on rows keep their exact prox. Dividing by
    m_j makes the result independent of the units of each feature.

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
    has_lanes: ClassVar[bool] = True

    @property
    def reads_by_strength(self) -> bool:  # type: ignore[override]
        """Whether it is the dual form, which keeps sums of gradients."""
        return self.form == "rda"

    def __post_init__(self) -> None:
        _check_step(self.step, numbers_only=True)
        if self.form not in ("rda", "fobos"):
            raise ValueError(f"form must be 'rda' or 'fobos'; {self.form!r} was given.")

    def candidates(self, h: float, slope: float, rows: Any) -> Array:
        return (slope / h) * 2.0 ** np.arange(-8, 0)  # it adapts to the scale of the features

    def cost(self, penalty: Penalty) -> str:
        lazy = self.form == "fobos" and penalty.sums_over_features and penalty.lazy_cost != "z k"
        return "z k + a" if lazy else "z k"

    def compiled(self, setup: Setup) -> Any:
        return _core.AdaGradDual() if self.form == "rda" else _core.AdaGradPrimal()


@METHODS.part("ftrl")
@record
class FTRL(Method):
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
    has_lanes: ClassVar[bool] = True
    reads_by_strength: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_step(self.step, numbers_only=True)
        number(self.beta, "beta", least=0)

    def candidates(self, h: float, slope: float, rows: Any) -> Array:
        return (slope / h) * 4.0 ** np.arange(-4, 3) / np.sqrt(np.mean(np.square(rows.value)) or 1.0)

    def compiled(self, setup: Setup) -> Any:
        return _core.Ftrl(float(self.beta))


@METHODS.part("truncated_gradient")
@record
class TruncatedGradient(Method):
    """Truncated gradient: plain SGD, and every K-th round a soft threshold by K η α of the weights up to θ.

    Parameters
    ----------
    step : number, schedule, "theory" or "auto"
        η_t; a number c means c / √t.
    period : int
        K ≥ 1.
    threshold : float
        θ > 0; larger weights are not changed. K = 1 and θ = ∞ is FOBOS with ℓ1.

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
        whole(self.period, "period")
        if not self.threshold > 0:
            raise ValueError(f"threshold must be positive; {self.threshold!r} was given.")

    def _objection(self, penalty: Penalty, setup: Setup) -> tuple[str, str] | None:
        if penalty.is_l1 or not penalty.penalises:
            return None
        return "truncation is a rule for ℓ1.", "Use penalty='l1', or method='fobos'."

    def compiled(self, setup: Setup) -> Any:
        return _core.TruncatedGradient(float(self.period), float(self.threshold))


@METHODS.part("subgradient", same=("sgd",))
@record
class Subgradient(Method):
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

    def _objection(self, penalty: Penalty, setup: Setup) -> tuple[str, str] | None:
        if penalty.constrains:
            return "a constraint has no useful subgradient.", "Use method='fobos', which projects."
        return None

    def cost(self, penalty: Penalty) -> str:
        return "z k + a"  # near zero a weight oscillates: there is no closed form

    def compiled(self, setup: Setup) -> Any:
        return _core.Subgradient()


@METHODS.part("pegasos")
@record
class Pegasos(Method):
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
    def step(self) -> Any:
        """1: alpha sets the step."""
        return 1.0

    def step_for(self, setup: Setup) -> Any:
        """Return α."""
        return setup.alpha

    def steps(self, step: Any, first: int, count: int) -> Array:
        """Return 1 / (αt)."""
        return 1.0 / (step * np.arange(first, first + count, dtype=np.float64))

    def _objection(self, penalty: Penalty, setup: Setup) -> tuple[str, str] | None:
        if not penalty.is_half_square:
            return "it is a method for ½‖w‖².", "Use penalty='l2_squared', or method='fobos'."
        if setup.alpha <= 0:
            return "its steps are 1/(αt).", "Use alpha > 0."
        return None

    def _learner(self, form: Any, weights: Any, setup: Setup) -> Any:
        return _core.pegasos(bool(self.project), setup.core())


@METHODS.part("eg")
@record
class ExponentiatedGradient(Method):
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

    def candidates(self, h: float, slope: float, rows: Any) -> Array:
        largest = float(np.abs(rows.value).max(initial=0.0)) or 1.0
        return 4.0 ** np.arange(-5, 3) / (slope * largest)

    def _objection(self, penalty: Penalty, setup: Setup) -> tuple[str, str] | None:
        if penalty.penalises:
            return "its radius bounds ‖w‖₁ already.", "Use penalty='none', or method='fobos'."
        return None

    def _learner(self, form: Any, weights: Any, setup: Setup) -> Any:
        return _core.exponentiated_gradient(float(self.radius), setup.core())


def resolve(spec: Any) -> Any:
    """Return the method called `spec`.

    Examples
    --------
    >>> from gossamer import methods
    >>> methods.resolve("rda")
    RDA(gamma='auto', rho=0.0)
    """
    return METHODS.resolve(spec)


def resolve_for(spec: Any, penalty: Penalty, loss: Any, average: bool = False, batch_size: int = 1) -> Any:
    """Return the method called `spec`.

    "auto" is the rule without a step; FOBOS if the penalty couples features; and AdaGrad if the weights are to be
    averaged or learned from batches: in its dual form, which is sparser, or for regression in its primal form, which
    predicts better.
    """
    if not (isinstance(spec, str) and spec == "auto"):
        return resolve(spec)
    if not penalty.acts_on_rows:
        return Fobos()
    if average or batch_size > 1:
        return AdaGrad(form="fobos" if loss.kind == "regression" else "rda")
    return StepFree()
