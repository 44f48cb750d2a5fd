"""SpaRSA: minimise f(W) + αΩ(W), f smooth, Ω with a prox, by proximal steps of Barzilai and Borwein's length.

    W_{t+1} = prox(W_t − g_t/a, α/a),     a = <ΔW, Δg> / <ΔW, ΔW> of the step before,

with a doubled until F is under the largest of its last few values by σ/2 · a‖W_{t+1} − W_t‖².

Wright, Nowak, Figueiredo: Sparse reconstruction by separable approximation, IEEE Trans. Signal Processing 2009.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gossamer.batch.objective import Objective, Point
from gossamer.batch.solvers.base import SOLVERS, FirstOrder, dot
from gossamer.validation import Array, number


@SOLVERS.part("sparsa")
@dataclass(frozen=True)
class SpaRSA(FirstOrder):
    """Proximal steps of Barzilai and Borwein's length, for smooth losses and every penalty.

    Parameters
    ----------
    memory : int
        A step must improve on the largest of this many last values of F; with 1, F never increases.
    look_every : int
        Iterations between two computations of the gap, and so between two lines of `verbose` or calls of callbacks.

    References
    ----------
    Wright, Nowak, Figueiredo: Sparse reconstruction by separable approximation, 2009.

    Examples
    --------
    >>> import gossamer as gs
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, 0.0, 2.0]
    >>> gs.BatchRegressor(alpha=0.1, solver=gs.SpaRSA(), tol=1e-8).fit(X, y).coef_.round(3)
    array([1.55, 0.  ])
    """

    memory: int = 6
    look_every: int = 5

    def __post_init__(self) -> None:
        number(self.memory, "memory", least=1)
        super().__post_init__()

    def iterates(self, objective: Objective, W: Array) -> Iterator[Array | Point]:
        """Yield the points W_1, W_2 and so on."""
        yield from barzilai_borwein(objective, W, int(self.memory), 1e-5)


def barzilai_borwein(objective: Objective, W: Array, memory: int, sufficient: float) -> Iterator[Point]:
    """Yield the points; `sufficient` is σ."""
    point = objective.at(W)
    inverse = objective.first_lipschitz(point)
    least, most = inverse * 1e-10, inverse * 1e10
    recent = deque([point.loss + objective.penalty_at(W)], maxlen=memory)
    while True:
        inverse = min(max(inverse, least), most)
        while True:
            V = objective.prox(point.W - point.gradient / inverse, 1 / inverse)
            moved, there = V - point.W, objective.at(V)
            value = there.loss + objective.penalty_at(V)
            if value <= max(recent) - sufficient / 2 * inverse * dot(moved, moved) or inverse > 1e4 * most:
                break
            small = np.abs(moved).max(initial=0.0) <= 1e-12 * np.abs(V).max(initial=0.0)
            if value <= max(recent) + 1e-15 * abs(point.loss) and small:
                break  # the difference is rounding error
            inverse *= 2
        turned = dot(moved, there.gradient - point.gradient)
        size = dot(moved, moved)
        inverse = turned / size if size > 0 and turned > 0 and math.isfinite(turned / size) else inverse
        recent.append(value)
        point = there
        yield point
