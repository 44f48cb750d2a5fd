"""Projected gradient with line search: minimise f(W) over a set, f smooth.

    W_{t+1} = Π(W_t − g_t/a),     a from Barzilai and Borwein, doubled until f has fallen enough.

It is forward-backward splitting with a set as the penalty, and f never rises.

Duchi, Shalev-Shwartz, Singer, Chandra: Efficient projections onto the ℓ1-ball, ICML 2008; Birgin, Martínez, Raydan:
Nonmonotone spectral projected gradient methods, SIAM J. Optimization 2000.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gossamer.batch.objective import Objective, Point
from gossamer.batch.solvers.base import Solver
from gossamer.batch.solvers.sparsa import barzilai_borwein
from gossamer.validation import Array, number


@dataclass(frozen=True)
class ProjectedGradient(Solver):
    """Projected gradient with line search, for smooth losses over a set.

    Parameters
    ----------
    look_every : int
        How many iterations there are between two looks at the gap: two lines of `verbose`, two calls of callbacks.

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

    patience = 10

    def __post_init__(self) -> None:
        number(self.look_every, "look_every", least=1)

    def check(self, objective: Objective) -> None:
        """Refuse penalties that are not sets, and losses with kinks."""
        self.needs_a_slope(objective)
        if not objective.penalty.is_set:
            name = objective.penalty.label
            raise self.refuse(name, "it projects, and that is not a set.", "Use solver='auto', or a set as L1Ball.")

    def iterates(self, objective: Objective, W: Array) -> Iterator[Array | Point]:
        """Yield the points W_1, W_2 and so on."""
        yield from barzilai_borwein(objective, W, 1, 1e-4)
