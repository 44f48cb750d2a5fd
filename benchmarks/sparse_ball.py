"""Sparse updates of a point of the ℓ1 ball beside the dense projection, as the dimension grows.

About half of the weights are non-zero and stay so: deltas of this size bring in as many weights as they drive out.
"""

from __future__ import annotations

from statistics import mean

import numpy as np
from timing import Row, seconds, show

import gossamer as gs

DIMENSIONS = (50_000, 100_000, 400_000, 1_600_000, 6_400_000)
CHANGES = 5_000
DELTA = 0.7
ROUNDS, SPARSE_STEPS, DENSE_STEPS = 12, 5, 2


class Problem:
    """One point, kept by the sparse ball and as a dense vector."""

    def __init__(self, d):
        self.d, self.rng = d, np.random.default_rng(d)
        v = self.rng.standard_normal(d)
        self.radius = float(np.maximum(np.abs(v) - np.median(np.abs(v)), 0).sum())
        self.dense = gs.project_l1_ball(v, self.radius)
        self.ball = gs.SparseL1Ball(d, self.radius)
        self.ball.update(np.arange(d), self.dense)
        self.first_nnz = self.ball.nnz
        self.sparse_times, self.dense_times = [], []

    def step(self):
        """Return random indices and deltas."""
        at = self.rng.choice(self.d, CHANGES, replace=False, shuffle=False)
        return at, DELTA * self.rng.standard_normal(CHANGES)

    def dense_step(self, at, deltas):
        """Move the dense vector."""
        self.dense[at] += deltas
        gs.project_l1_ball(self.dense, self.radius, out=self.dense)

    def run(self):
        """Take a few sparse steps, each timed alone; then a few dense ones, from where the sparse ones arrived."""
        for at, deltas in [self.step() for _ in range(SPARSE_STEPS)]:
            self.sparse_times.append(seconds(lambda at=at, deltas=deltas: self.ball.update(at, deltas)))
        self.dense[:] = self.ball.to_array()
        for at, deltas in [self.step() for _ in range(DENSE_STEPS)]:
            self.dense_times.append(seconds(lambda at=at, deltas=deltas: self.dense_step(at, deltas)))

    def check(self):
        """Take the same step both ways and compare."""
        self.dense[:] = self.ball.to_array()
        step = self.step()
        self.ball.update(*step)
        self.dense_step(*step)
        assert np.allclose(self.ball.to_array(), self.dense, atol=1e-9)


def main():
    problems = [Problem(d) for d in DIMENSIONS]
    for _ in range(ROUNDS):
        for problem in problems:
            problem.run()
    lines = [f"{'d':>9}  {'nnz':>19}  {'best ms':>8}  {'mean ms':>8}  {'dense ms':>8}  {'dense / sparse':>14}"]
    for p in problems:
        p.check()
        sparse, dense = min(p.sparse_times), min(p.dense_times)
        lines.append(
            f"{p.d:>9,}  {p.first_nnz:>9,}→{p.ball.nnz:>9,}  {1e3 * sparse:>8.3f}  {1e3 * mean(p.sparse_times):>8.3f}"
            f"  {1e3 * dense:>8.3f}  {dense / sparse:>13.2f}×"
        )
    first, last = problems[0], problems[-1]
    show(
        f"SparseL1Ball, {CHANGES:,} changes a step, best of {ROUNDS * SPARSE_STEPS} steps",
        [
            Row("d = 6.4e6: dense step / sparse step", min(last.dense_times) / min(last.sparse_times), at_least=5),
            Row("sparse step, d = 6.4e6 / d = 5e4", min(last.sparse_times) / min(first.sparse_times), at_most=4),
        ],
        lines,
    )


if __name__ == "__main__":
    main()
