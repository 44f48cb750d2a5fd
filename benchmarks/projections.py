"""The ℓ1 ball: the projection beside sorting and beside one soft threshold in NumPy, and its growth with the size."""

from __future__ import annotations

from bisect import bisect
from functools import partial

import numpy as np
from timing import Row, best, show

import gossamer as gs

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)


def by_sorting(v, radius):
    """Project as the paper's Figure 1 reads in NumPy."""
    u = np.sort(np.abs(v))[::-1]
    sums = np.cumsum(u)
    if sums[-1] <= radius:
        return v.copy()
    last = np.flatnonzero(u * np.arange(1, len(u) + 1) > sums - radius)[-1]
    return threshold(v, v.dtype.type((sums[last] - radius) / (last + 1)))


def by_tuned_sorting(v, radius):
    """Project by sorting with every trick: in place, and the cut found by bisection."""
    u = np.abs(v)
    u.sort()
    u = u[::-1]
    sums = np.cumsum(u)
    if sums[-1] <= radius:
        return v.copy()
    kept = bisect(range(len(u)), False, key=lambda k: (k + 1) * u[k] <= sums[k] - radius)
    return threshold(v, v.dtype.type((sums[kept - 1] - radius) / kept))


def threshold(v, theta):
    return v - np.clip(v, -theta, theta)


def problem(size, dtype=np.float64):
    v = np.random.default_rng(size).standard_normal(size).astype(dtype)
    return v, 0.1 * float(np.abs(v).sum(dtype=np.float64))


def against_numpy(dtype):
    v, radius = problem(1_000_000, dtype)
    w = gs.project_l1_ball(v, radius)
    for by in (by_sorting, by_tuned_sorting):
        assert np.allclose(w, by(v.astype(np.float64), radius), atol=1e-3 if dtype == np.float32 else 1e-9)
    theta = dtype(np.abs(v - w).max())
    return best(
        partial(gs.project_l1_ball, v, radius),
        partial(by_sorting, v, radius),
        partial(by_tuned_sorting, v, radius),
        partial(threshold, v, theta),
        repeats=30,
    )


def growth():
    """Return nanoseconds an entry for each size, with a new array for the result and with `out`.

    Short calls are repeated up to a million entries, so that they are not timed with the cache that 1e7 leaves.
    """

    def again(times, *args, **kwargs):
        for _ in range(times):
            gs.project_l1_ball(*args, **kwargs)

    calls, entries = [], []
    for size in SIZES:
        v, radius = problem(size)
        times = max(1, 1_000_000 // size)
        calls.append(partial(again, times, v, radius))
        calls.append(partial(again, times, v, radius, out=np.empty_like(v)))
        entries += [times * size] * 2
    per_entry = [1e9 * t / n for t, n in zip(best(*calls, repeats=20), entries, strict=True)]
    return per_entry[::2], per_entry[1::2]


def main():
    rows, notes = [], []
    for dtype in (np.float64, np.float32):
        ours, sort, tuned, soft = against_numpy(dtype)
        name = dtype.__name__
        least, most = (10, 4) if dtype is np.float64 else (None, None)
        rows.append(Row(f"{name}, 1e6: sort-based NumPy / ours", sort / ours, at_least=least))
        rows.append(Row(f"{name}, 1e6: sort-based NumPy, tuned / ours", tuned / ours))
        rows.append(Row(f"{name}, 1e6: ours / NumPy soft threshold", ours / soft, at_most=most))
        notes.append(f"{name}: ours {1e3 * ours:.2f} ms, sorting {1e3 * sort:.1f} ms, threshold {1e3 * soft:.2f} ms")
    for what, per_entry in zip(("new result", "out given"), growth(), strict=True):
        rows.append(Row(f"slowest / fastest entry, 1e4 to 1e7, {what}", max(per_entry) / min(per_entry)))
        each = ", ".join(f"{size:.0e}: {ns:.2f}" for size, ns in zip(SIZES, per_entry, strict=True))
        notes.append(f"ns an entry, {what}: {each.replace('e+0', 'e')}")
    show("project_l1_ball, normals, radius 10% of their norm", rows, notes)


if __name__ == "__main__":
    main()
