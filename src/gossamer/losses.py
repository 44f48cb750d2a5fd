"""Losses ℓ(z, y): z is the margin or prediction, y the target.

Every loss has

- ``value(z, y)`` and ``slope(z, y)`` = ∂ℓ/∂z with its true sign (a subgradient at a kink),
- ``link(z)``: the prediction from z: a probability, a mean, or z itself,
- ``lipschitz`` ≥ |slope| and ``smoothness`` ≥ change of slope per change of z, or None if there is no bound,
- ``kind``: "binary" (y = ±1), "regression" (y real), "multiclass" (y = 0 … k−1) or "multitask".

Arrays go in and come out; z and y broadcast. All losses are finite and accurate for |z| up to 1e8.

What the rest of the library must know about a loss is on its class too: see `Loss` for the facts and methods, and
`Link` for what a loss may predict. `LOSSES.part` registers a class.
"""

from __future__ import annotations

import ctypes
import math
from enum import Enum
from typing import Any

import numpy as np

from gossamer import _core
from gossamer.registry import Registry, record
from gossamer.validation import Array, floats, number, shape_words

__all__ = [
    "CompiledLoss",
    "EpsilonInsensitive",
    "Exponential",
    "Gamma",
    "Hinge",
    "Huber",
    "LogEpsilonInsensitive",
    "Logistic",
    "MulticlassHinge",
    "Multinomial",
    "Multitask",
    "Poisson",
    "Quantile",
    "Squared",
    "SquaredHinge",
    "Tweedie",
]

LOSSES = Registry("loss", ("value", "slope"))
ANY = (0, 1, 2)


def _doubles(v: Any, name: str, ndim: tuple[int, ...] = ANY) -> Array:
    return floats(v, name, ndim=ndim).astype(np.float64, copy=False)


class Link(Enum):
    """What a loss predicts from z: a closed set, so that every export can handle all of it."""

    IDENTITY = "identity"  # z
    EXP = "exp"  # e^z
    SIGMOID = "sigmoid"  # 1 / (1 + e^{−z})
    SIGMOID_OF_TWICE = "sigmoid2"  # 1 / (1 + e^{−2z})
    SOFTMAX = "softmax"  # e^{z_r} / Σ_s e^{z_s}
    OWN = "own"  # a custom function

    @property
    def is_probability(self) -> bool:
        """Whether it lies between 0 and 1."""
        return self in (Link.SIGMOID, Link.SIGMOID_OF_TWICE, Link.SOFTMAX)


class Loss:
    """What all losses share: the facts and methods that the library uses."""

    kind: str
    predicts: Link = Link.IDENTITY
    lipschitz: float | None = None
    smoothness: float | None = None
    compiled: bool = True  # whether the core computes it
    taken_as_smooth: bool = False  # whether it is assumed to have a slope everywhere, which cannot be checked
    has_conjugate: bool = True
    smooth_kin: str = ""  # of a loss with kinks: the name of a similar loss without
    of_residual: bool = False  # whether it is a function of z − y alone: ℓ(z + c, y + c) = ℓ(z, y)
    has_best_intercept: bool = True  # whether batch solvers can find the best intercept
    for_interior_point: bool = False  # whether truncated Newton steps are known to converge
    bounds: tuple[str, ...] = ()  # the bounds of boosting that hold for it
    template: float = 1.0  # upper bound on Σ_j a_j |x_ij| in the exponential bound of boosting

    def value(self, z: Any, y: Any) -> Any:
        """Return ℓ(z, y)."""
        raise NotImplementedError

    def slope(self, z: Any, y: Any) -> Any:
        """Return ∂ℓ/∂z, in the shape of z."""
        raise NotImplementedError

    def link(self, z: Any) -> Any:
        """Return the prediction from z."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """Its name in error messages."""
        return type(self).__name__

    @property
    def target(self) -> str:
        """What scores are compared with: "labels", "numbers", or "rates", which are e^z."""
        if self.kind != "regression":
            return "labels"
        return "rates" if self.predicts is Link.EXP else "numbers"

    @property
    def probabilistic(self) -> bool:
        """Whether the link is a probability."""
        return self.predicts.is_probability

    def joint(self) -> Loss | None:
        """Return the joint loss of all classes that replaces this one for more than two classes, or None."""
        return None

    def longest_slope(self, order: float, outputs: int) -> float:
        """Return a bound on the norm of order 1, 2 or ∞ of one example's slopes, for a Lipschitz loss."""
        assert self.lipschitz is not None
        return float(self.lipschitz * outputs ** (1 / order))

    def best_constant(self, y: Array, outputs: int, weights: Array) -> Array:
        """Return an intercept to start from, one number per output, for y as it is coded: n × targets."""
        raise NotImplementedError

    def mean(self, outputs: int, y: Array, p: Array, threads: int) -> Any:
        """Return the mean loss over rows with targets y and weights p, as batch solvers see it."""
        return _core.mean_loss(self._core(), outputs, y, p, threads)

    def smoothed(self, width: float, outputs: int, y: Array, p: Array, offset: Array, threads: int) -> Any:
        """Return the mean of the loss with its kinks rounded off over a width, at z + offset; None if it has none."""
        return _core.smoothed_loss(self._core(), width, outputs, y, p, offset, threads) if self.smooth_kin else None

    def _core(self) -> Any:
        raise NotImplementedError


class _ScalarLoss(Loss):
    """A loss of two numbers, over arrays."""

    def value(self, z: Any, y: Any) -> Any:
        """Return ℓ(z, y), element by element."""
        return self._apply(_core.loss_value, z, y)

    def slope(self, z: Any, y: Any) -> Any:
        """Return ∂ℓ/∂z, element by element."""
        return self._apply(_core.loss_slope, z, y)

    def link(self, z: Any) -> Any:
        """Return the prediction from z."""
        z = _doubles(z, "z")
        out = np.empty(z.shape)
        _core.loss_link(self._core(), z.reshape(-1), out.reshape(-1))
        return out[()]

    def _apply(self, compute: Any, z: Any, y: Any) -> Any:
        z, y = _doubles(z, "z"), self.check_targets(y)
        try:
            shape = np.broadcast_shapes(z.shape, y.shape)
        except ValueError:
            raise ValueError(
                f"z and y must have one shape; z is {shape_words(z.shape)} and y is {shape_words(y.shape)}."
            ) from None
        z, y = (np.ascontiguousarray(np.broadcast_to(a, shape)) for a in (z, y))
        out = np.empty(shape)
        compute(self._core(), z.reshape(-1), y.reshape(-1), out.reshape(-1))
        return out[()]

    def check_targets(self, y: Any) -> Array:
        """Return `y` as float64 if every entry is a target of this loss; raise otherwise."""
        return _doubles(y, "y")


def _refuse_targets(loss: str, y: Array, bad: Array, needs: str) -> None:
    if bad.any():
        raise ValueError(f"{loss} needs {needs}; y holds {y[bad].flat[0]:g}.")


class _MarginLoss(_ScalarLoss):
    """A loss of the margin yz with y = ±1."""

    kind = "binary"

    def check_targets(self, y: Any) -> Array:
        y = _doubles(y, "y")
        _refuse_targets(type(self).__name__, y, np.abs(y) != 1, "targets of -1 and +1")
        return y

    def best_constant(self, y: Array, outputs: int, weights: Array) -> Array:
        """Return the log odds."""
        odds = np.clip(weights @ (y > 0) / weights.sum(), 1e-6, 1 - 1e-6)
        return np.log(odds / (1 - odds))


@LOSSES.part("logistic", same=("log_loss", "log", "logreg", "bernoulli", "deviance", "binary_crossentropy"))
@record
class Logistic(_MarginLoss):
    """Logistic loss: log(1 + e^{−yz}), y = ±1.

    Its link is the probability of y = +1, 1 / (1 + e^{−z}).

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Logistic().value([0.0, 2.0], [1, -1]).round(4)
    array([0.6931, 2.1269])
    >>> gs.Logistic().slope(0.0, 1)
    np.float64(-0.5)
    """

    lipschitz = 1.0
    smoothness = 0.25
    predicts = Link.SIGMOID
    for_interior_point = True
    bounds = ("ada", "grad")

    def joint(self) -> Loss:
        return Multinomial()

    def _core(self) -> Any:
        return _core.Logistic()


@LOSSES.part("hinge", near=("perceptron",))
@record
class Hinge(_MarginLoss):
    """Hinge loss: [1 − yz]₊, y = ±1. The slope at the kink yz = 1 is 0.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Hinge().value([0.5, 2.0], [1, 1])
    array([0.5, 0. ])
    """

    smooth_kin = "squared_hinge"
    lipschitz = 1.0

    def joint(self) -> Loss:
        return MulticlassHinge()

    def _core(self) -> Any:
        return _core.Hinge()


@LOSSES.part("squared_hinge", near=("modified_huber", "smooth_hinge"))
@record
class SquaredHinge(_MarginLoss):
    """Squared hinge loss: ½ [1 − yz]₊², y = ±1.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.SquaredHinge().value([0.0, 2.0], [1, 1])
    array([0.5, 0. ])
    """

    smoothness = 1.0
    bounds = ("grad",)

    def _core(self) -> Any:
        return _core.SquaredHinge()


@LOSSES.part("exponential", same=("exp",))
@record
class Exponential(_MarginLoss):
    """Exponential loss: e^{−yz}, y = ±1, the loss of boosting.

    Its minimiser is half the log odds, so the link is 1 / (1 + e^{−2z}). Beyond −yz = 600 the loss continues along
    its tangent, so it stays finite.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Exponential().value(1.0, -1).round(4)
    np.float64(2.7183)
    """

    predicts = Link.SIGMOID_OF_TWICE
    bounds = ("ada",)

    def best_constant(self, y: Array, outputs: int, weights: Array) -> Array:
        """Return half the log odds."""
        return super().best_constant(y, outputs, weights) / 2

    def _core(self) -> Any:
        return _core.Exponential()


class _RegressionLoss(_ScalarLoss):
    """A loss with real targets."""

    kind = "regression"

    @property
    def of_residual(self) -> bool:  # type: ignore[override]
        """Whether it is a function of z − y alone, as the core says."""
        return bool(self._core().of_residual)

    def best_constant(self, y: Array, outputs: int, weights: Array) -> Array:
        """Return a median."""
        return medians(y, weights)


def medians(columns: Array, weights: Array) -> Array:
    """Return the weighted median of every column: one of its entries."""
    order = np.argsort(columns, axis=0, kind="stable")
    middle = [np.searchsorted(np.cumsum(weights[o]), weights.sum() / 2) for o in order.T]
    each = enumerate(zip(order.T, middle, strict=True))
    return np.array([columns[o[min(m, len(o) - 1)], r] for r, (o, m) in each])


@LOSSES.part("squared", same=("squared_error", "squared_loss", "mse", "least_squares", "ls"))
@record
class Squared(_RegressionLoss):
    """Squared loss: ½ (z − y)², y real.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Squared().value(3.0, 1.0), gs.Squared().slope(3.0, 1.0)
    (np.float64(2.0), np.float64(2.0))
    """

    smoothness = 1.0
    for_interior_point = True
    bounds = ("grad",)

    def best_constant(self, y: Array, outputs: int, weights: Array) -> Array:
        """Return the mean."""
        return np.asarray(weights @ y / weights.sum())

    def _core(self) -> Any:
        return _core.Squared()


@LOSSES.part("epsilon_insensitive", near=("squared_epsilon_insensitive", "absolute_error", "mae", "lad"))
@record
class EpsilonInsensitive(_RegressionLoss):
    """ε-insensitive loss: [|z − y| − ε]₊, y real, ε ≥ 0; ε = 0 is the absolute error.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.EpsilonInsensitive(epsilon=0.5).value([1.25, 3.0], 1.0)
    array([0. , 1.5])
    """

    smooth_kin = "log_epsilon_insensitive"
    epsilon: float = 0.1
    lipschitz = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", number(self.epsilon, "epsilon", least=0))

    def _core(self) -> Any:
        return _core.EpsilonInsensitive(self.epsilon)


@LOSSES.part("log_epsilon_insensitive")
@record
class LogEpsilonInsensitive(_RegressionLoss):
    """Smooth ε-insensitive loss: log(1 + e^{z−y−ε}) + log(1 + e^{y−z−ε}), y real, ε ≥ 0.

    Its smoothness is at most ½ whatever ε.

    References
    ----------
    Duchi, Singer: Boosting with structural sparsity, ICML 2009, §6.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.LogEpsilonInsensitive(epsilon=0.0).value(1.0, 1.0).round(4)
    np.float64(1.3863)
    """

    epsilon: float = 0.1
    lipschitz = 1.0
    smoothness = 0.5
    bounds = ("ada", "grad")

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", number(self.epsilon, "epsilon", least=0))

    def _core(self) -> Any:
        return _core.LogEpsilonInsensitive(self.epsilon)


@LOSSES.part("huber")
@record
class Huber(_RegressionLoss):
    """Huber loss: ½r² for |r| ≤ δ, δ(|r| − ½δ) beyond, with r = z − y, y real, δ > 0.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Huber(delta=1.0).value([0.5, 3.0], 0.0)
    array([0.125, 2.5  ])
    """

    delta: float = 1.0
    smoothness = 1.0
    bounds = ("grad",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", number(self.delta, "delta", above=0))

    @property
    def lipschitz(self) -> float:  # type: ignore[override]
        """The largest |slope|: δ."""
        return self.delta

    def _core(self) -> Any:
        return _core.Huber(self.delta)


@LOSSES.part("quantile", same=("pinball",))
@record
class Quantile(_RegressionLoss):
    """Quantile (pinball) loss: q [y − z]₊ + (1 − q) [z − y]₊, y real, 0 < q < 1.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Quantile(q=0.75).value([0.0, 2.0], 1.0)
    array([0.75, 0.25])
    """

    smooth_kin = "huber"
    q: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", number(self.q, "q", above=0, below=1))

    @property
    def lipschitz(self) -> float:  # type: ignore[override]
        """The largest |slope|: max(q, 1 − q)."""
        return max(self.q, 1 - self.q)

    def _core(self) -> Any:
        return _core.Quantile(self.q)


@LOSSES.part("poisson")
@record
class Poisson(_RegressionLoss):
    """Poisson loss with the log link: e^z − yz, y ≥ 0 (the constant log y! is left out).

    Its link is the mean e^z. Beyond z = 600 the loss continues along its tangent, so it stays finite.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Poisson().slope(0.0, [0, 1, 3])
    array([ 1.,  0., -2.])
    """

    predicts = Link.EXP

    def check_targets(self, y: Any) -> Array:
        """Return `y` as float64 if no entry is negative."""
        y = _doubles(y, "y")
        _refuse_targets("Poisson", y, y < 0, "targets of 0 or more")
        return y

    def _core(self) -> Any:
        return _core.Poisson()


@LOSSES.part("gamma")
@record
class Gamma(_RegressionLoss):
    """Gamma loss with the log link: y e^(−z) + z, y > 0 (half the unit deviance, without what does not depend on z).

    For positive targets whose spread grows with their mean, such as costs and durations. Its link is the mean e^z. Past
    z = −600 the loss goes on along its tangent, so that it stays finite.

    References
    ----------
    McCullagh, Nelder: Generalized linear models, 1989, chapter 8.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Gamma().slope(0.0, [0.5, 1, 3])
    array([ 0.5,  0. , -2. ])
    """

    predicts = Link.EXP

    def check_targets(self, y: Any) -> Array:
        """Return `y` as float64 if all entries are positive."""
        y = _doubles(y, "y")
        _refuse_targets("Gamma", y, y <= 0, "targets above 0")
        return y

    def _core(self) -> Any:
        return _core.Gamma()


@LOSSES.part("tweedie")
@record
class Tweedie(_RegressionLoss):
    """Tweedie loss with the log link: e^((2−p)z)/(2−p) + y e^(−(p−1)z)/(p−1), y ≥ 0, p = `power`.

    Half the unit deviance, without what does not depend on z. For targets that are often exactly zero and positive
    otherwise, such as claims and sales. Its link is the mean e^z. p → 1 is `Poisson` and p → 2 is `Gamma`.

    Parameters
    ----------
    power : float
        The variance is proportional to the mean to this power, 1 < p < 2.

    References
    ----------
    Jorgensen: The theory of dispersion models, 1997, chapter 4.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Tweedie(power=1.5).slope(0.0, [0.0, 1, 3])
    array([ 1.,  0., -2.])
    """

    power: float = 1.5
    predicts = Link.EXP

    def __post_init__(self) -> None:
        if self.power in (1, 2):
            raise ValueError(
                f"power must be between 1 and 2; for {self.power:g} use {'Poisson' if self.power == 1 else 'Gamma'}()."
            )
        object.__setattr__(self, "power", number(self.power, "power", above=1, below=2))

    def check_targets(self, y: Any) -> Array:
        """Return `y` as float64 if no entry is negative."""
        y = _doubles(y, "y")
        _refuse_targets("Tweedie", y, y < 0, "targets of 0 or more")
        return y

    def _core(self) -> Any:
        return _core.Tweedie(self.power)


@LOSSES.part()
@record
class CompiledLoss(_ScalarLoss):
    """A custom loss at full speed: two compiled functions of (z, y), as `scipy.LowLevelCallable` objects.

    Their signature is ``double (double, double)``; a numba ``cfunc`` or a ctypes function gives one. It is not
    checked that the loss is convex, and that its slope is the derivative of its value in z.

    Parameters
    ----------
    value_at, slope_at : scipy.LowLevelCallable
        ℓ(z, y) and ∂ℓ/∂z.
    kind : "regression" or "binary"
        What y holds: real targets, or ±1.
    lipschitz, smoothness : float, optional
        Bounds on |slope| and on its change, if they exist.

    Examples
    --------
    A Python function turned into a C function by ctypes (only a compiled one is fast):

    >>> import ctypes, scipy, gossamer as gs
    >>> double = ctypes.c_double
    >>> c_function = ctypes.CFUNCTYPE(double, double, double)
    >>> value = c_function(lambda z, y: (z - y) ** 4 / 4)
    >>> slope = c_function(lambda z, y: (z - y) ** 3)
    >>> quartic = gs.CompiledLoss(scipy.LowLevelCallable(value), scipy.LowLevelCallable(slope))
    >>> quartic.value([3.0], [1.0])
    array([4.])
    """

    value_at: Any
    slope_at: Any
    kind: str = "regression"
    lipschitz: float | None = None
    smoothness: float | None = None
    taken_as_smooth = True
    has_conjugate = False

    def __post_init__(self) -> None:
        if self.kind not in ("regression", "binary"):
            raise ValueError(f"kind must be 'regression' or 'binary'; {self.kind!r} was given.")
        for name in ("value_at", "slope_at"):
            _address(getattr(self, name), name)

    def __deepcopy__(self, memo: Any) -> CompiledLoss:
        return self  # frozen, and its functions cannot be copied

    def check_targets(self, y: Any) -> Array:
        """Return `y` as float64, ±1 if the loss is binary."""
        y = _doubles(y, "y")
        if self.kind == "binary":
            _refuse_targets("This loss", y, np.abs(y) != 1, "targets of -1 and +1")
        return y

    def _core(self) -> Any:
        return _core.Compiled(_address(self.value_at, "value_at"), _address(self.slope_at, "slope_at"))


def _address(function: Any, name: str) -> int:
    """Return the address that a scipy.LowLevelCallable holds."""
    signature = getattr(function, "signature", None)
    if signature is None or "".join(signature.split()) != "double(double,double)":
        raise TypeError(
            f"{name} must be a scipy.LowLevelCallable with the signature 'double (double, double)'; "
            f"{type(function).__name__ if signature is None else signature} was given."
        )
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    capsule = tuple.__getitem__(function, 0)
    return int(api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule)))


class _MulticlassLoss(Loss):
    """A loss of all k outputs of an example and its class."""

    kind = "multiclass"

    def value(self, z: Any, y: Any) -> Any:
        """Return the n losses of the rows of z (n × k) with classes y; one row may be given as a vector."""
        z, y, rows = self._rows(z, y)
        out = np.empty(len(y))
        _core.loss_value(self._core(), z, y, out)
        return out if rows else out[0]

    def slope(self, z: Any, y: Any) -> Any:
        """Return ∂ℓ/∂z, in the shape of z."""
        z, y, rows = self._rows(z, y)
        out = np.empty(z.shape)
        _core.loss_slope(self._core(), z, y, out)
        return out if rows else out[0]

    def link(self, z: Any) -> Any:
        """Return the prediction from z, in the shape of z."""
        z = _doubles(z, "z", (1, 2))
        rows = np.atleast_2d(z)
        out = np.empty_like(rows)
        if out.size:
            _core.loss_link(self._core(), rows, out)
        return out.reshape(z.shape)

    def _rows(self, z: Any, y: Any) -> tuple[Array, Array, bool]:
        z = _doubles(z, "z", (1, 2))
        rows = np.atleast_2d(z)
        if rows.shape[1] < 2:
            raise ValueError(f"{type(self).__name__} needs at least 2 outputs per row; z is {shape_words(z.shape)}.")
        y = self.check_targets(y, rows.shape[1]).reshape(-1)
        if len(y) != len(rows):
            raise ValueError(f"y must hold one class per row of z; z has {len(rows)} rows and y has {len(y)} entries.")
        return rows, y, z.ndim == 2

    def check_targets(self, y: Any, outputs: int) -> Array:
        """Return `y` as int64 if every entry is a class 0 … outputs − 1; raise otherwise."""
        y = _doubles(y, "y", (0, 1))
        bad = (y != np.floor(y)) | (y < 0) | (y >= outputs)
        _refuse_targets(type(self).__name__, y, bad, f"classes 0 to {outputs - 1}")
        return y.astype(np.int64)

    def longest_slope(self, order: float, outputs: int) -> float:
        """Return the norm of e_r − e_y, the longest slope."""
        assert self.lipschitz is not None
        return float(self.lipschitz) if outputs == 1 else float(2 ** (1 / order))

    def best_constant(self, y: Array, outputs: int, weights: Array) -> Array:
        """Return the logarithms of the class frequencies, centred."""
        share = np.bincount(y[:, 0].astype(np.intp), weights, minlength=outputs)
        logs = np.log(np.maximum(share, share.sum() * 1e-6))
        return logs - logs.mean()


@LOSSES.part("multinomial", same=("softmax", "cross_entropy", "categorical_crossentropy"))
@record
class Multinomial(_MulticlassLoss):
    """Multinomial logistic loss: log Σ_r e^{z_r} − z_y, y = 0 … k−1.

    Its link is the softmax of z. The constants are for the Euclidean norm of z: ‖slope‖ ≤ √2, smoothness ½.

    References
    ----------
    Duchi, Singer: Efficient online and batch learning using forward backward splitting, JMLR 2009, Eq. 35.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Multinomial().value([[0.0, 0.0], [5.0, 0.0]], [0, 0]).round(4)
    array([0.6931, 0.0067])
    """

    lipschitz = float(np.sqrt(2))
    smoothness = 0.5
    predicts = Link.SOFTMAX
    bounds = ("ada", "grad")
    template = 0.5

    def _core(self) -> Any:
        return _core.Multinomial()


@LOSSES.part("multiclass_hinge", same=("crammer_singer",))
@record
class MulticlassHinge(_MulticlassLoss):
    """Multiclass hinge loss: max_r (1[r ≠ y] + z_r − z_y), y = 0 … k−1; ‖slope‖ ≤ √2.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.MulticlassHinge().value([[0.0, 0.5, 3.0]], [2])
    array([0.])
    """

    smooth_kin = "logistic"
    lipschitz = float(np.sqrt(2))
    has_best_intercept = False

    def _core(self) -> Any:
        return _core.MulticlassHinge()


@LOSSES.part()
@record
class Multitask(Loss):
    """Multitask loss: Σ_r ℓ(z_r, y_r) over the k outputs of an example, for any scalar loss ℓ.

    z and y are n × k. `lipschitz` and `smoothness` are those of ℓ: ‖slope‖ is at most √k · lipschitz.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Multitask(gs.Squared()).value([[1.0, 2.0]], [[0.0, 0.0]])
    array([2.5])
    """

    loss: Any
    kind = "multitask"
    compiled = False

    def __post_init__(self) -> None:
        each = as_loss(self.loss)
        object.__setattr__(self, "loss", each)
        if each.kind in ("multiclass", "multitask"):
            raise TypeError(f"Multitask adds up a scalar loss; {each.label} is not one.")
        for fact in ("lipschitz", "smoothness", "predicts", "smooth_kin"):
            object.__setattr__(self, fact, getattr(each, fact))

    @property
    def probabilistic(self) -> bool:
        """Whether the link of one output is a probability."""
        return self.loss.probabilistic

    def value(self, z: Any, y: Any) -> Any:
        """Return the n sums over the outputs."""
        return np.sum(self.loss.value(z, y), axis=-1)

    def slope(self, z: Any, y: Any) -> Any:
        """Return ∂ℓ/∂z, in the shape of z."""
        return self.loss.slope(z, y)

    def link(self, z: Any) -> Any:
        """Return the prediction of every output."""
        return self.loss.link(z)


@record
class OwnLoss(Loss):
    """A Python object with `value` and `slope`, wrapped as a loss; its other facts are read here, once."""

    given: Any
    kind: str
    compiled = False
    taken_as_smooth = True
    has_conjugate = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "smoothness", getattr(self.given, "smoothness", None))
        if callable(getattr(self.given, "link", None)):
            object.__setattr__(self, "predicts", Link.OWN)

    @property
    def label(self) -> str:
        """Its name in error messages: that of its own class."""
        return type(self.given).__name__

    @property
    def probabilistic(self) -> bool:
        """Whether the object says that its link is a probability."""
        return bool(getattr(self.given, "probabilistic", False))

    def value(self, z: Any, y: Any) -> Any:
        """Return ℓ(z, y)."""
        return self.given.value(z, y)

    def slope(self, z: Any, y: Any) -> Any:
        """Return ∂ℓ/∂z."""
        return self.given.slope(z, y)

    def link(self, z: Any) -> Any:
        """Return the object's link of z, or z itself."""
        return self.given.link(z) if self.predicts is Link.OWN else z

    def check_targets(self, y: Any) -> Array:
        """Return y as float64."""
        return _doubles(y, "y", (1, 2))

    def mean(self, outputs: int, y: Array, p: Array, threads: int) -> NumPyLoss:
        """Return the mean loss, computed by the object."""
        return NumPyLoss(self, y, p)


class NumPyLoss:
    """The mean loss of a Python object with `value` and `slope`, summed over outputs."""

    has_curvature = False

    def __init__(self, loss: Any, y: Array, p: Array) -> None:
        self.loss, self.y, self.p = loss, y, p[:, None]
        self.offset: Any = 0.0

    def set_offset(self, offset: Array) -> None:
        """Add an offset to the margins."""
        self.offset = offset

    def value(self, Z: Array, b: Array) -> float:
        """Return Σ p ℓ."""
        return float(np.sum(self.p * self.loss.value(Z + self.offset + b, self.y)))

    def slopes(self, Z: Array, b: Array, S: Array) -> float:
        """Fill S with p ∂ℓ/∂z; return the value."""
        S[...] = self.p * self.loss.slope(Z + self.offset + b, self.y)
        return self.value(Z, b)

    def best_slopes(self, Z: Array, b: Array, S: Array) -> float:
        """Move b to where the slopes balance; fill S with the slopes there; return the value."""
        at = Z + self.offset
        for r in range(Z.shape[1]):
            b[r] = self._root(at[:, r : r + 1], self.y[:, r : r + 1], float(b[r]))
        return self.slopes(Z, b, S)

    def _root(self, z: Array, y: Array, b: float) -> float:
        """Return the root of φ(b) = Σ p slope(z + b): secant steps inside a bracket, and bisection."""

        def phi(at: float) -> float:
            return float(np.sum(self.p * self.loss.slope(z + at, y)))

        here, reach = phi(b), 1.0
        start, most = b, abs(here)
        while (there := phi(b)) * here > 0 and reach < 1e15:
            start, here, most = b, there, max(most, abs(there))
            b, reach = b - math.copysign(reach, here), 4 * reach
        low, high = min(start, b), max(start, b)
        if there * here > 0 or low == high:
            return start if here else b
        f_low, f_high = phi(low), phi(high)
        for round_ in range(200):
            middle = low / 2 + high / 2
            secant = low - f_low * (high - low) / (f_high - f_low) if f_high > f_low else middle
            at = secant if round_ % 3 and low < secant < high else middle
            f = phi(at)
            if abs(f) <= 1e-14 * most or high - low <= 4e-16 * max(abs(low), abs(high)):
                return at
            low, f_low, high, f_high = (at, f, high, f_high) if f < 0 else (low, f_low, at, f)
        return low / 2 + high / 2

    def conjugate(self, S: Array) -> float:
        """Return ∞: the conjugate of a custom loss is not known."""
        return math.inf


def resolve(spec: Any) -> Any:
    """Return the loss called `spec`; an object with `value` and `slope` is taken as it is.

    Examples
    --------
    >>> from gossamer import losses
    >>> losses.resolve("huber")
    Huber(delta=1.0)
    """
    return LOSSES.resolve(spec)


def as_loss(spec: Any, kind: str | None = None) -> Loss:
    """Return the loss called `spec` with all facts and verbs: a custom object is wrapped.

    `kind` is what such an object is used for; without it, what it says, or "regression".
    """
    part = resolve(spec)
    return part if isinstance(part, Loss) else OwnLoss(part, kind or str(getattr(part, "kind", "regression")))
