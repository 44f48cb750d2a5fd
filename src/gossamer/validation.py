"""Checks of arrays, numbers, words, memory and `n_jobs`, and the errors for anything else."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer import _core

Array = NDArray[Any]
MOST_STRENGTHS = 1_000_000  # of a path: a mistyped number must not take all memory
SMALL = 1 << 30  # bytes of memory that are not checked
FEWER = (
    "Use fewer features: keep the columns that have entries (columns, index = numpy.unique(X.indices, "
    "return_inverse=True), then scipy.sparse.csr_array((X.data, index, X.indptr))), or hash to fewer by bits= of "
    "gossamer.source."
)


def shape_words(shape: tuple[int, ...]) -> str:
    """Describe a shape for error messages: "a vector of length 3", "a 2 × 3 matrix"."""
    if len(shape) == 1:
        return f"a vector of length {shape[0]}"
    if len(shape) == 2:
        return f"a {shape[0]} × {shape[1]} matrix"
    return f"an array with {len(shape)} dimensions" if shape else "a single number"


def refuse_masked(v: Any, name: str) -> None:
    """Raise for an array with a mask, or rows of such arrays: NumPy would drop the mask."""
    for array in v if isinstance(v, (list, tuple)) else (v,):
        if type(array) is not np.ndarray and isinstance(array, np.ndarray) and isinstance(array, np.ma.MaskedArray):
            raise TypeError(f"{name} is a masked array; fill or drop the masked entries first, e.g. {name}.filled(0).")


def refuse_odd(v: Any, name: str) -> None:
    """Raise if an array, a list or a table holds what NumPy would convert to other numbers in silence.

    These are dates and masked arrays. A table must not have two columns of one name.
    """
    refuse_masked(v, name)
    if isinstance(v, dict) and not hasattr(v, "tocsr"):  # SciPy's dictionaries of keys are dicts
        raise TypeError(f"{name} is a dict; a table or a matrix is needed, for instance pandas.DataFrame({name}).")
    if isinstance(v, (list, tuple)):
        with contextlib.suppress(ValueError):  # of rows of different lengths, which others report
            v = np.asarray(v)
    if not hasattr(v, "columns"):
        _refuse_dates(name, getattr(v, "dtype", None))
        return
    names = list(v.column_names if hasattr(v, "column_names") else v.columns)  # the former of Arrow
    if len(set(names)) < len(names):
        double = next(column for column in names if names.count(column) > 1)
        raise ValueError(f"{name} has two columns called {double!r}; rename or drop one of them.")
    kinds = v.schema.types if hasattr(v, "column_names") else getattr(v, "dtypes", ())
    for column, kind in zip(names, kinds, strict=False):
        _refuse_dates(f"Column {column!r} of {name}", kind)


def _refuse_dates(what: str, dtype: Any) -> None:
    if _is_temporal(dtype):
        raise TypeError(
            f"{what} holds dates or times ({dtype}); numbers are needed. Convert them first, for instance to days: "
            "(dates - dates.min()) / np.timedelta64(1, 'D')."
        )


def _is_temporal(dtype: Any) -> bool:
    if hasattr(dtype, "kind"):  # NumPy, pandas
        return dtype.kind in ("M", "m")
    if hasattr(dtype, "is_temporal"):  # polars
        return bool(dtype.is_temporal())
    return str(dtype).startswith(("timestamp", "date", "time", "duration"))  # Arrow


def floats(v: Any, name: str, *, ndim: tuple[int, ...] = (1, 2), finite: bool = True) -> Array:
    """Return `v` as a C-contiguous array, float32 if it is float32 and float64 otherwise; by default checked finite."""
    if hasattr(v, "toarray"):
        raise TypeError(f"{name} is a sparse matrix; a dense array is needed. Pass {name}.toarray().")
    refuse_masked(v, name)
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


def sparse_matrix(X: Any, name: str, formats: tuple[str, ...] = ("csr",)) -> Any:
    """Return a sparse matrix of SciPy in one of the formats, with its indices sorted and duplicates added up.

    Its arrays may have been changed by hand, and the compiled code of SciPy trusts them. So they are checked first,
    once, in time proportional to the entries. The result is a copy where X was not so.
    """
    if X.ndim != 2:
        raise ValueError(f"{name} must be a matrix; it is {shape_words(X.shape)}.")
    if X.dtype.kind == "c":
        raise ValueError(f"{name} must hold real numbers; its dtype is {X.dtype}.")
    if X.format not in ("csr", "csc"):
        _check_before_conversion(X, name)
        X = (
            X.tocsr() if X.format == "lil" else X.asformat(formats[0])
        )  # the columns of a LIL matrix are not yet checked
    order = _line_order(X, name)
    if X.format not in formats:
        X = X.asformat(formats[0])
        order = _line_order(X, name)
    if order == _core.LineOrder.canonical:
        return X
    X = type(X)((X.data, X.indices, X.indptr), shape=X.shape, copy=True)  # forgets what X believes of its order
    X.sum_duplicates()
    return X


def _line_order(X: Any, name: str) -> Any:
    """Return whether the arrays of a CSR or CSC matrix are canonical; raise if they are invalid."""
    rows, columns = X.shape
    lines, length = (rows, columns) if X.format == "csr" else (columns, rows)
    return _order_of(X, name, lines, length)


def _order_of(X: Any, name: str, lines: int, length: int) -> Any:
    starts, index = np.asarray(X.indptr), np.asarray(X.indices)
    for array, word in ((starts, "indptr"), (index, "indices")):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            _invalid(X, name, f"{word} must be a vector of whole numbers; it is an array of {array.dtype}")
    if len(starts) != lines + 1:
        _invalid(X, name, f"indptr must have {lines + 1} entries for this shape, and it has {len(starts)}")
    kind = np.int32 if starts.dtype == index.dtype == np.int32 else np.int64
    starts = np.ascontiguousarray(starts, kind)
    index = np.ascontiguousarray(index[: np.shape(X.data)[0]], kind)
    order = _core.line_order(starts, index, length)
    if order == _core.LineOrder.invalid:
        _invalid(X, name, _line_fault(starts, index, length))
    return order


def _line_fault(starts: Array, index: Array, length: int) -> str:
    """Say what is wrong with the lines of a matrix."""
    if starts[0] != 0:
        return f"indptr must begin with 0, and it begins with {starts[0]}"
    falls = np.flatnonzero(starts[1:] < starts[:-1])
    if len(falls):
        i = int(falls[0])
        return f"indptr must not fall, and it falls from {starts[i]} to {starts[i + 1]} at {i + 1}"
    if starts[-1] > len(index):
        return f"indptr ends with {starts[-1]}, and there are {len(index)} entries"
    n = int(np.flatnonzero((index < 0) | (index >= length))[0])
    return f"indices must lie in 0 … {length - 1}, and indices[{n}] is {index[n]}"


def _check_before_conversion(X: Any, name: str) -> None:
    """Raise unless SciPy can convert a COO, BSR or LIL matrix safely; it checks other formats itself."""
    if X.format == "bsr":
        high, wide = X.data.shape[1:] if X.data.ndim == 3 else (0, 0)
        if not (high and wide) or X.shape[0] % high or X.shape[1] % wide:
            _invalid(X, name, f"blocks of {high} × {wide} do not divide a {X.shape[0]} × {X.shape[1]} matrix")
        _order_of(X, name, X.shape[0] // high, X.shape[1] // wide)
    if X.format == "coo":
        for axis, index in enumerate(X.coords):
            word = ("row", "col")[axis]
            index, most = np.asarray(index), X.shape[axis]
            if index.shape != X.data.shape or index.ndim != 1 or index.dtype.kind not in "iu":
                _invalid(X, name, f"{word} must be a vector of whole numbers, one per entry")
            if len(index) and not (index.min() >= 0 and index.max() < most):
                n = int(np.flatnonzero((index < 0) | (index >= most))[0])
                _invalid(X, name, f"{word} must lie in 0 … {most - 1}, and {word}[{n}] is {index[n]}")
    if X.format == "lil":
        lengths = [(len(columns), len(values)) for columns, values in zip(X.rows, X.data, strict=False)]
        if len(X.rows) != len(X.data) or len(X.rows) != X.shape[0] or any(a != b for a, b in lengths):
            _invalid(X, name, "rows and data must have one list per row, of equal length")


def _invalid(X: Any, name: str, why: str) -> None:
    raise ValueError(f"{name} is not a valid {X.format.upper()} matrix: {why}. Were its arrays changed by hand?")


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
        count = int(alphas)
        if not least <= count <= MOST_STRENGTHS:
            raise ValueError(
                f"alphas must be {least} to {MOST_STRENGTHS:,} strengths, or a sequence of strengths; "
                f"{count if abs(count) < 10**18 else 'a number beyond 10^18'} was given."
            )
        return count
    if np.ndim(alphas) == 0:
        raise ValueError(f"alphas must be a whole number or a sequence of strengths; {alphas!r} was given.")
    given = floats(alphas, "alphas", ndim=(1,)).astype(np.float64)
    if len(given) == 0:
        raise ValueError("alphas must hold at least one strength; it is empty.")
    if given.min() < 0:
        raise ValueError(f"alphas must not be negative; they hold {given.min():g}.")
    return np.unique(given)[::-1].copy()


def thread_count(n_jobs: int | None = None) -> int:
    """Return the number of threads for `n_jobs`.

    None is the number of joblib's `parallel_config`, or all cores that this process may use if there is none. -1 is all
    cores, -2 all but one.

    >>> thread_count(3), thread_count(-1) == thread_count()
    (3, True)
    """
    if n_jobs is None:
        n_jobs = _of_joblib()
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs == 0:
        raise ValueError(f"n_jobs must be None, a positive number of threads, or -1 for all; {n_jobs!r} was given.")
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def _of_joblib() -> int:
    """Return the `n_jobs` of joblib's context: one thread in its workers, all cores where there is no context."""
    if "joblib" not in sys.modules:  # the command line does not load it
        return -1
    from joblib.parallel import get_active_backend

    backend, n_jobs = get_active_backend()
    return n_jobs or (1 if backend.nesting_level else -1)


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


def check_memory(needed: float, what: str, instead: str) -> None:
    """Raise a MemoryError if `what` needs more bytes than are available; `instead` says what would do.

    Small needs are not checked. A large one is compared with what the system, the control group and the limit of the
    process (`ulimit -v`) leave.
    """
    if needed < SMALL:
        return
    left = available()
    if needed > left:
        raise MemoryError(
            f"{what} takes about {needed / 1e9:.1f} GB of memory, and {left / 1e9:.1f} GB are available. {instead}"
        )


def available() -> float:
    """Return how many bytes this process can still take; infinity if the system does not say."""
    return max(0.0, min(_of_system(), _of_group(), _of_process()))


def _of_system() -> float:
    from pathlib import Path  # loads slowly, and is seldom needed

    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return math.inf
    free = (1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return next(free, math.inf)


def _of_group() -> float:
    """Return what the control group of a container leaves, in either version of control groups."""
    from pathlib import Path

    root, left = Path("/sys/fs/cgroup"), math.inf
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            left = min(left, float((root / limit).read_text()) - float((root / used).read_text()))
        except (OSError, ValueError):  # no such file; the limit is "max"
            continue
    return left


def _of_process() -> float:
    from pathlib import Path

    try:
        import resource
    except ImportError:  # not a POSIX system
        return math.inf
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return math.inf
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return float(most)
    return float(most - pages * resource.getpagesize())
