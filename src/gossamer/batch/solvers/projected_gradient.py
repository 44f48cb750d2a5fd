"""Projected gradient with line search: minimise f(W) over a set, f smooth.

    W_{t+1} = Π(W_t − g_t/a),     a from Barzilai and Borwein, doubled until f has fallen enough.

It is forward-backward splitting with a set as the penalty, and f never increases.

Duchi, Shalev-Shwartz, Singer, Chandra: Efficient projections onto the ℓ1-ball, ICML 2008; Birgin, Martínez, Raydan:
Nonmonotone spectral projected gradient methods, SIAM J. Optimization 2000.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gossamer.batch.objective import Objective, Point
from gossamer.batch.solvers.base import SOLVERS, FirstOrder
from gossamer.batch.solvers.sparsa import barzilai_borwein
from gossamer.validation import Array


@SOLVERS.part("projected_gradient")
@dataclass(frozen=True)
class ProjectedGradient(FirstOrder):
    """Projected gradient with line search, for smooth losses over a set.

    Parameters
    ----------
    look_every : int
        Iterations between two computations of the gap, and so between two lines of `verbose` or calls of callbacks.

    References
    ----------
    Duchi, Shalev-Shwartz, Singer, Chandra: Efficient projections onto the ℓ1-ball for learning in high dimensions,
    ICML 2008.

    Examples
    --------
    >>> import gossamer as gs
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, 0.0, 2.0]
    >>> model = gs.BatchRegressor(penalty=gs.L1Ball(1.0), solver="projected_gradient", tol=1e-8).fit(X, y)
    >>> model.coef_.round(3)
    array([1., 0.])
    """

    look_every: int = 5

    def check(self, objective: Objective) -> None:
        """Refuse penalties that are not sets, and losses with kinks."""
        super().check(objective)
        if not objective.penalty.is_set:
            name = objective.penalty.label
            raise self.refuse(name, "it projects, and that is not a set.", "Use solver='auto', or a set as L1Ball.")

    def iterates(self, objective: Objective, W: Array) -> Iterator[Array | Point]:
        """Yield the points W_1, W_2 and so on."""
        yield from barzilai_borwein(objective, W, 1, 1e-4)
