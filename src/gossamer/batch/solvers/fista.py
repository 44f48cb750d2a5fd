"""FISTA with restarts: minimise f(W) + αΩ(W), f convex with Lipschitz gradient, Ω with a prox.

    W_t = prox(Y_t − g(Y_t)/L, α/L)
    Y_{t+1} = W_t + (θ_t − 1)/θ_{t+1} (W_t − W_{t−1}),     θ_{t+1} = (1 + √(1 + 4θ_t²))/2

F(W_T) − F* ≤ 2LD²/T². Momentum starts again whenever it points uphill, which makes the rate linear where F is strongly
convex. L begins with the curvature along the first gradient and is doubled where the quadratic bound fails.

Beck, Teboulle: A fast iterative shrinkage-thresholding algorithm, SIAM J. Imaging Sciences 2009; O'Donoghue, Candès:
Adaptive restart for accelerated gradient schemes, 2015.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from gossamer.batch.objective import Objective, Point
from gossamer.batch.solvers.base import SOLVERS, FirstOrder, dot, proximal_step
from gossamer.validation import Array


@SOLVERS.part("fista", "auto")
@dataclass(frozen=True)
class FISTA(FirstOrder):
    """Accelerated proximal gradient with restarts, for smooth losses and every penalty.

    Parameters
    ----------
    look_every : int
        Iterations between two computations of the gap, and so between two lines of `verbose` or calls of callbacks.

    References
    ----------
    Beck, Teboulle: A fast iterative shrinkage-thresholding algorithm for linear inverse problems, 2009.

    Examples
    --------
    >>> import gossamer as gs
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, 0.0, 2.0]
    >>> gs.BatchRegressor(alpha=0.1, solver=gs.FISTA(), tol=1e-8).fit(X, y).coef_.round(3)
    array([1.55, 0.  ])
    """

    look_every: int = 10

    def iterates(self, objective: Objective, W: Array) -> Iterator[Array | Point]:
        """Yield W_1, W_2 and so on."""
        lipschitz, theta, Y = objective.first_lipschitz(objective.at(W)), 1.0, W
        while True:
            V, lipschitz = proximal_step(objective, objective.at(Y), lipschitz, lambda V: (objective.loss_at(V), V))
            if dot(Y - V, V - W) > 0:
                theta = 1.0
            following = (1 + math.sqrt(1 + 4 * theta * theta)) / 2
            Y = V + (theta - 1) / following * (V - W)
            W, theta = V, following
            yield W
