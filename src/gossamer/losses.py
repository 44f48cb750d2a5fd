"""Losses ℓ(z, y): z is the margin or prediction, y the target.

Every loss has

- ``value(z, y)`` and ``slope(z, y)`` = ∂ℓ/∂z with its true sign (a subgradient at a kink),
- ``link(z)``: what it predicts from z, a probability, a mean, or z itself,
- ``lipschitz`` ≥ |slope| and ``smoothness`` ≥ change of slope per change of z, or None where there is no such number,
- ``kind``: "binary" (y = ±1), "regression" (y real), "multiclass" (y = 0 … k−1) or "multitask".

Arrays go in and come out; z and y broadcast. All losses are finite and accurate for |z| up to 1e8.
"""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar, cast

import numpy as np

from gossamer import _core
from gossamer.frozen import record
from gossamer.registry import resolve as _resolve
from gossamer.validation import Array, floats, number, shape_words

__all__ = [
    "CompiledLoss",
    "EpsilonInsensitive",
    "Exponential",
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
]

ANY = (0, 1, 2)


def _doubles(v: Any, name: str, ndim: tuple[int, ...] = ANY) -> Array:
    return floats(v, name, ndim=ndim).astype(np.float64, copy=False)


class _ScalarLoss:
    """A loss of two numbers, over arrays."""

    kind: ClassVar[str]
    probabilistic: ClassVar[bool] = False
    lipschitz: float | None = None
    smoothness: float | None = None

    def value(self, z: Any, y: Any) -> Any:
        """Return ℓ(z, y), element by element."""
        return self._apply(_core.loss_value, z, y)

    def slope(self, z: Any, y: Any) -> Any:
        """Return ∂ℓ/∂z, element by element."""
        return self._apply(_core.loss_slope, z, y)

    def link(self, z: Any) -> Any:
        """Return the prediction that z stands for."""
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
        """Return `y` as float64 if every entry is a target of this loss, and say which is not otherwise."""
        return _doubles(y, "y")

    def _core(self) -> Any:
        raise NotImplementedError


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
    probabilistic = True

    def _core(self) -> Any:
        return _core.Logistic()


@record
class Hinge(_MarginLoss):
    """Hinge loss: [1 − yz]₊, y = ±1. The slope at the kink yz = 1 is 0.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Hinge().value([0.5, 2.0], [1, 1])
    array([0.5, 0. ])
    """

    lipschitz = 1.0

    def _core(self) -> Any:
        return _core.Hinge()


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

    def _core(self) -> Any:
        return _core.SquaredHinge()


@record
class Exponential(_MarginLoss):
    """Exponential loss: e^{−yz}, y = ±1, the loss of boosting.

    Its minimiser is half the log odds, so the link is 1 / (1 + e^{−2z}). Past −yz = 600 the loss goes on along its
    tangent, so that it stays finite.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Exponential().value(1.0, -1).round(4)
    np.float64(2.7183)
    """

    probabilistic = True

    def _core(self) -> Any:
        return _core.Exponential()


class _RegressionLoss(_ScalarLoss):
    """A loss with real targets."""

    kind = "regression"


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

    def _core(self) -> Any:
        return _core.Squared()


@record
class EpsilonInsensitive(_RegressionLoss):
    """ε-insensitive loss: [|z − y| − ε]₊, y real, ε ≥ 0; ε = 0 is the absolute error.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.EpsilonInsensitive(epsilon=0.5).value([1.25, 3.0], 1.0)
    array([0. , 1.5])
    """

    epsilon: float = 0.1
    lipschitz = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", number(self.epsilon, "epsilon", least=0))

    def _core(self) -> Any:
        return _core.EpsilonInsensitive(self.epsilon)


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", number(self.epsilon, "epsilon", least=0))

    def _core(self) -> Any:
        return _core.LogEpsilonInsensitive(self.epsilon)


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", number(self.delta, "delta", above=0))

    @property
    def lipschitz(self) -> float:  # type: ignore[override]
        """The largest |slope|: δ."""
        return self.delta

    def _core(self) -> Any:
        return _core.Huber(self.delta)


@record
class Quantile(_RegressionLoss):
    """Quantile (pinball) loss: q [y − z]₊ + (1 − q) [z − y]₊, y real, 0 < q < 1.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Quantile(q=0.75).value([0.0, 2.0], 1.0)
    array([0.75, 0.25])
    """

    q: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", number(self.q, "q", above=0, below=1))

    @property
    def lipschitz(self) -> float:  # type: ignore[override]
        """The largest |slope|: max(q, 1 − q)."""
        return max(self.q, 1 - self.q)

    def _core(self) -> Any:
        return _core.Quantile(self.q)


@record
class Poisson(_RegressionLoss):
    """Poisson loss with the log link: e^z − yz, y ≥ 0 (the constant log y! is left out).

    Its link is the mean e^z. Past z = 600 the loss goes on along its tangent, so that it stays finite.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Poisson().slope(0.0, [0, 1, 3])
    array([ 1.,  0., -2.])
    """

    def check_targets(self, y: Any) -> Array:
        """Return `y` as float64 if no entry is negative."""
        y = _doubles(y, "y")
        _refuse_targets("Poisson", y, y < 0, "targets of 0 or more")
        return y

    def _core(self) -> Any:
        return _core.Poisson()


@record
class CompiledLoss(_ScalarLoss):
    """A loss of your own at full speed: two compiled functions of (z, y), as `scipy.LowLevelCallable` objects.

    Their signature is ``double (double, double)``; a numba ``cfunc`` or a ctypes function gives one. That the loss is
    convex, and its slope the derivative of its value in z, is up to you.

    Parameters
    ----------
    value_at, slope_at : scipy.LowLevelCallable
        ℓ(z, y) and ∂ℓ/∂z.
    kind : "regression" or "binary"
        What y holds: real targets, or ±1.
    lipschitz, smoothness : float, optional
        Bounds on |slope| and on its change, where they exist.

    Examples
    --------
    A Python function turned into a C function by ctypes (a compiled one is what makes it fast):

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
    kind: str = "regression"  # type: ignore[misc]
    lipschitz: float | None = None
    smoothness: float | None = None

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


class _MulticlassLoss:
    """A loss of all k outputs of an example and its class."""

    kind: ClassVar[str] = "multiclass"
    probabilistic: ClassVar[bool] = False
    lipschitz: float | None = None
    smoothness: float | None = None

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
        """Return the prediction that z stands for, in the shape of z."""
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
            raise ValueError(f"{type(self).__name__} needs at least 2 outputs a row; z is {shape_words(z.shape)}.")
        y = self.check_targets(y, rows.shape[1]).reshape(-1)
        if len(y) != len(rows):
            raise ValueError(f"y must hold one class a row of z; z has {len(rows)} rows and y has {len(y)} entries.")
        return rows, y, z.ndim == 2

    def check_targets(self, y: Any, outputs: int) -> Array:
        """Return `y` as int64 if every entry is a class 0 … outputs − 1, and say which is not otherwise."""
        y = _doubles(y, "y", (0, 1))
        bad = (y != np.floor(y)) | (y < 0) | (y >= outputs)
        _refuse_targets(type(self).__name__, y, bad, f"classes 0 to {outputs - 1}")
        return y.astype(np.int64)

    def _core(self) -> Any:
        raise NotImplementedError


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
    probabilistic = True

    def _core(self) -> Any:
        return _core.Multinomial()


@record
class MulticlassHinge(_MulticlassLoss):
    """Multiclass hinge loss: max_r (1[r ≠ y] + z_r − z_y), y = 0 … k−1; ‖slope‖ ≤ √2.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.MulticlassHinge().value([[0.0, 0.5, 3.0]], [2])
    array([0.])
    """

    lipschitz = float(np.sqrt(2))

    def _core(self) -> Any:
        return _core.MulticlassHinge()


@record
class Multitask:
    """Multitask loss: Σ_r ℓ(z_r, y_r) over the k outputs of an example, for any scalar loss ℓ.

    z and y are n × k. `lipschitz` and `smoothness` are those of ℓ: ‖slope‖ is at most √k · lipschitz.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Multitask(gs.Squared()).value([[1.0, 2.0]], [[0.0, 0.0]])
    array([2.5])
    """

    loss: Any
    kind: ClassVar[str] = "multitask"

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", resolve(self.loss))
        if isinstance(self.loss, (_MulticlassLoss, Multitask)):
            raise TypeError(f"Multitask adds up a scalar loss; {type(self.loss).__name__} is not one.")

    @property
    def lipschitz(self) -> float | None:
        """The Lipschitz constant of one output."""
        return cast("float | None", getattr(self.loss, "lipschitz", None))

    @property
    def smoothness(self) -> float | None:
        """The smoothness of one output, and so of the sum."""
        return cast("float | None", getattr(self.loss, "smoothness", None))

    @property
    def probabilistic(self) -> bool:
        """Whether the link is a probability."""
        return bool(getattr(self.loss, "probabilistic", False))

    def value(self, z: Any, y: Any) -> Any:
        """Return the n sums over the outputs."""
        return np.sum(self.loss.value(z, y), axis=-1)

    def slope(self, z: Any, y: Any) -> Any:
        """Return ∂ℓ/∂z, in the shape of z."""
        return self.loss.slope(z, y)

    def link(self, z: Any) -> Any:
        """Return the prediction of every output."""
        return self.loss.link(z)


BY_NAME = {
    "logistic": Logistic,
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "exponential": Exponential,
    "squared": Squared,
    "epsilon_insensitive": EpsilonInsensitive,
    "log_epsilon_insensitive": LogEpsilonInsensitive,
    "huber": Huber,
    "quantile": Quantile,
    "poisson": Poisson,
    "multinomial": Multinomial,
    "multiclass_hinge": MulticlassHinge,
}


def resolve(spec: Any) -> Any:
    """Return the loss called `spec`; an object with `value` and `slope` is taken as it is.

    Examples
    --------
    >>> from gossamer import losses
    >>> losses.resolve("huber")
    Huber(delta=1.0)
    """
    return _resolve(spec, BY_NAME, "loss", ("value", "slope"))
