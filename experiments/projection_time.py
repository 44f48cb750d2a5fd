"""The time of the projection onto the ℓ1 ball, by pivots, by sorting, and by a heap for sparse changes."""

from __future__ import annotations

from time import process_time

import numpy as np

import gossamer as gs
from experiments import frame

CLAIM = frame.Claim(
    id="P5",
    paper="Duchi et al. 2008",
    place="abstract, §§4 to 6",
    sentence="The first performs exact projection in O(n) expected time, where n is the dimension of the space. The "
    "second works on vectors k of whose elements are perturbed outside the ℓ1-ball, projecting in O(k log(n)) time.",
    theorem=True,
)

CHANGES = 1000


def run(size):
    """Time all three at growing sizes, best of several runs."""
    sizes = size.pick((10**3, 10**4, 10**5, 10**6, 10**7), (10**3, 10**4, 10**5, 10**6))
    pivot, sorting, agree = [], [], []
    for n in sizes:
        v = np.random.default_rng(n + 5).standard_normal(n)
        radius = 0.1 * np.abs(v).sum()
        repeats = max(size.pick(10, 5), 10**5 // n)
        pivot.append(_best(lambda v=v, radius=radius: gs.project_l1_ball(v, radius), repeats))
        sorting.append(_best(lambda v=v, radius=radius: _by_sorting(v, radius), repeats))
        agree.append(np.abs(gs.project_l1_ball(v, radius) - _by_sorting(v, radius)).max())
        size.log(f"n = {n:.0e}: pivots {1e3 * pivot[-1]:.3f} ms, sorting {1e3 * sorting[-1]:.3f} ms")
    dimensions = size.pick((10**4, 10**5, 10**6, 10**7), (10**4, 10**5, 10**6))
    tree = [_tree_step(d, size.pick(30, 10)) for d in dimensions]
    return {
        "n": sizes,
        "pivots": pivot,
        "sorting": sorting,
        "d": dimensions,
        "tree": tree,
        "difference": max(agree),
    }


def judge(numbers):
    """Fit the exponents."""
    large = [i for i, n in enumerate(numbers["n"]) if n >= 10**4]
    sizes, pivot, sorting = (np.array(numbers[name])[large] for name in ("n", "pivots", "sorting"))
    growth, slower = _exponent(sizes, pivot), max(pivot / sorting)
    tree_growth = _exponent(numbers["d"], numbers["tree"])
    checks = [
        frame.at_most("exponent of the time of pivots in n, from 1e4 on", growth, 1.1, quick=False),
        frame.at_most("exponent of the time of a sparse update in d", tree_growth, 0.5),
        frame.at_most("largest difference of the two projections", numbers["difference"], 1e-9),
    ]
    aims = [
        frame.at_most("exponent of the time of pivots in n, from 1e4 on", growth, 1.1),
        frame.at_most("time of pivots / sorting, the largest from 1e4 on", slower, 1),
        frame.at_most("exponent of the time of a sparse update in d", tree_growth, 1),
        frame.at_most("largest difference of the two projections", numbers["difference"], 1e-9),
    ]
    notes = [
        "Normal entries, radius a tenth of their norm; sorting is Figure 1 of the paper in NumPy. CPU time.",
        f"A sparse update changes {CHANGES:,} of the weights, half of which are non-zero; it is our heap with lazy "
        "deletion, not the paper's red-black tree.",
    ]
    key = f"n^{growth:.2f}, {1 / slower:.1f} times as fast as sorting or more; sparse update d^{tree_growth:.2f}"
    return frame.Verdict(checks, key, aims, notes)


def _best(call, repeats):
    """Return the best time of several calls."""
    times = []
    for _ in range(repeats):
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


def _by_sorting(v, radius):
    """Project as the paper's Figure 1 reads."""
    u = np.sort(np.abs(v))[::-1]
    sums = np.cumsum(u)
    last = np.flatnonzero(u * np.arange(1, len(u) + 1) > sums - radius)[-1]
    theta = (sums[last] - radius) / (last + 1)
    return np.sign(v) * np.maximum(np.abs(v) - theta, 0)


def _tree_step(d, repeats):
    """Return the best time of a sparse update of a point with half of its weights non-zero."""
    random = np.random.default_rng(d + 5)
    v = random.standard_normal(d)
    ball = gs.SparseL1Ball(d, float(np.maximum(np.abs(v) - np.median(np.abs(v)), 0).sum()))
    ball.update(np.arange(d), v)

    def step():
        ball.update(at, deltas)

    times = []
    for _ in range(repeats):
        at = random.choice(d, CHANGES, replace=False, shuffle=False)
        deltas = 0.7 * random.standard_normal(CHANGES)
        times.append(_best(step, 1))
    return min(times)


def _exponent(sizes, times):
    """Return the slope of log time over log size, by least squares."""
    return np.polyfit(np.log(sizes), np.log(times), 1)[0]


def draw(figure, numbers):
    """Draw times over sizes."""
    left, right = figure.subplots(1, 2)
    left.loglog(numbers["n"], numbers["sorting"], "o-", label="sorting")
    left.loglog(numbers["n"], numbers["pivots"], "o-", label="pivots")
    left.loglog(numbers["n"], 1e-8 * np.array(numbers["n"]), "k:", label="10 ns an entry")
    left.set(xlabel="n", ylabel="seconds")
    left.legend()
    right.loglog(numbers["d"], numbers["tree"], "o-", label="heap, sparse update")
    right.loglog(numbers["n"][1:], numbers["pivots"][1:], "o-", label="pivots, whole vector")
    right.set(xlabel="d", ylabel="seconds")
    right.legend()
