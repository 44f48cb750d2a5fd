"""Checks of arrays, numbers and words, and the errors for anything else."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer import _core

Array = NDArray[Any]


def shape_words(shape: tuple[int, ...]) -> str:
    """Describe a shape for error messages: "a vector of length 3", "a 2 × 3 matrix"."""
    if len(shape) == 1:
        return f"a vector of length {shape[0]}"
    if len(shape) == 2:
        return f"a {shape[0]} × {shape[1]} matrix"
    return f"an array with {len(shape)} dimensions" if shape else "a single number"


def floats(v: Any, name: str, *, ndim: tuple[int, ...] = (1, 2), finite: bool = True) -> Array:
    """Return `v` as a C-contiguous array, float32 if it is float32 and float64 otherwise; by default checked finite."""
    if hasattr(v, "toarray"):
        raise TypeError(f"{name} is a sparse matrix; a dense array is needed. Pass {name}.toarray().")
    if type(v) is not np.ndarray and isinstance(v, np.ndarray) and isinstance(v, np.ma.MaskedArray):  # loads np.ma
        raise TypeError(f"{name} is a masked array; fill or drop the masked entries first, e.g. {name}.filled(0).")
    try:
        array = np.asarray(v)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array of numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; its dtype is {array.dtype}.")
    if array.ndim not in ndim:
        wanted = " or ".join({0: "a number", 1: "a vector", 2: "a matrix"}[n] for n in ndim)
        raise ValueError(f"{name} must be {wanted}; it is {shape_words(array.shape)}.")
    single = array.dtype.kind == "f" and array.dtype.itemsize == 4
    array = np.require(array, np.float32 if single else np.float64, ["C", "A"])
    if finite and not _core.all_finite(array.reshape(-1)):
        refuse_nonfinite(array, name)
    return array


def refuse_nonfinite(array: Array, name: str) -> None:
    """Raise, naming the first entry that is NaN or infinite."""
    at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    raise ValueError(f"{name} must be finite; {name}[{', '.join(map(str, at))}] is {array[at]}.")


def number(x: Any, name: str, *, above: float = -math.inf, least: float = -math.inf, below: float = math.inf) -> float:
    """Return `x` as a finite float with `least` ≤ x, `above` < x < `below`."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x.item()
    if not isinstance(x, Real) or isinstance(x, (bool, np.bool_)):
        raise TypeError(f"{name} must be a number; {x!r} was given.")
    try:
        value = float(x)
    except OverflowError:
        value = math.inf
    if not (math.isfinite(value) and value >= least and above < value < below):
        bounds = [f"≥ {least:g}"] * math.isfinite(least) + [f"> {above:g}"] * math.isfinite(above)
        bounds += [f"< {below:g}"] * math.isfinite(below)
        raise ValueError(f"{name} must be finite{''.join(' and ' + b for b in bounds)}; {x!r} was given.")
    return value


def whole(x: Any, name: str, least: int = 1, optional: bool = False) -> Any:
    """Return `x`, checked to be a whole number of at least `least`, or None if it is optional."""
    if optional and x is None:
        return x
    if not isinstance(x, (int, np.integer)) or isinstance(x, bool) or x < least:
        raise ValueError(f"{name} must be a whole number, {least} or more{', or None' * optional}; {x!r} was given.")
    return int(x)


def one_of(word: Any, name: str, words: tuple[str, ...]) -> str:
    """Return `word`, or raise if it is not one of `words`."""
    if word not in words:
        raise ValueError(f"{name} must be {' or '.join(map(repr, words))}; {word!r} was given.")
    return str(word)


def checked_alphas(alphas: Any, least: int = 1) -> int | Array:
    """Return a count of strengths, at least `least`, or the given ones without duplicates, from the largest down."""
    if isinstance(alphas, (int, np.integer)) and not isinstance(alphas, bool):
        if alphas < least:
            raise ValueError(
                f"alphas must be at least {least} strengths, or a sequence of strengths; {alphas!r} was given."
            )
        return int(alphas)
    if np.ndim(alphas) == 0:
        raise ValueError(f"alphas must be a whole number or a sequence of strengths; {alphas!r} was given.")
    given = floats(alphas, "alphas", ndim=(1,)).astype(np.float64)
    if len(given) == 0:
        raise ValueError("alphas must hold at least one strength; it is empty.")
    if given.min() < 0:
        raise ValueError(f"alphas must not be negative; they hold {given.min():g}.")
    return np.unique(given)[::-1].copy()


def weights(a: Any, name: str, *, infinite: bool = False) -> Array:
    """Return `a` as a read-only float64 vector of non-negative numbers, finite unless `infinite` allows ∞."""
    vector = floats(a, name, ndim=(1,), finite=not infinite).astype(np.float64)
    if not (vector >= 0).all():
        at = int(np.argmin(vector >= 0))
        raise ValueError(f"{name} must be non-negative; {name}[{at}] is {vector[at]}.")
    return frozen(vector)


def frozen(array: Array) -> Array:
    """Return a read-only copy."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


def into(out: Array | None, v: Array, compute: Callable[[Array, Array], object]) -> Array:
    """Run `compute(v, result)` with a new array or with `out`, which may be `v` itself or overlap it."""
    if out is None:
        result = np.empty(v.shape, v.dtype)
        compute(v, result)
        return result
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array; {type(out).__name__} was given.")
    if out.shape != v.shape or out.dtype != v.dtype:
        raise ValueError(
            f"out must be {shape_words(v.shape)} of {v.dtype}; it is {shape_words(out.shape)} of {out.dtype}."
        )
    if not out.flags.writeable:
        raise ValueError("out must be writeable; it is read-only.")
    same = out.ctypes.data == v.ctypes.data
    direct = out.flags.c_contiguous and out.flags.aligned and (same or not np.may_share_memory(out, v))
    result = out if direct else np.empty(v.shape, v.dtype)
    compute(v, result)
    if result is not out:
        out[...] = result
    return out
