"""Coordinate descent as the papers have it (Tseng and Yun; Meier et al.), for the multinomial loss with ℓ1/ℓ2.

A block of a feature's weights at a time: a step of the prox with the largest diagonal curvature, halved until F falls
by a tenth of what it promised. A visit counts for every row and class 2 for the slopes, 2 for the curvature, and 4 for
every step tried. It works in single precision.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from experiments import counting


class Sweep:
    """Block coordinate descent, an iterator of (operations, W); `once` is what the first visit to all has cost."""

    def __init__(self, problem: counting.Problem) -> None:
        self.problem, self.once = problem, None

    def __iter__(self) -> Iterator[tuple[float, np.ndarray]]:
        """Yield after every visit."""
        problem = self.problem
        n, d, k = *problem.X.shape, problem.outputs
        columns = np.ascontiguousarray(problem.X.T, np.float32)
        wanted = np.zeros((n, k), np.float32)
        wanted[np.arange(n), problem.y] = 1
        W, Z, operations = problem.origin, np.zeros((n, k), np.float32), 0.0
        P, value = self._softmax(Z)
        slopes, bends = P - wanted, P * (1 - P)
        yield operations, W
        while True:
            for j in range(d):
                x = columns[j]
                slope = (x @ slopes) / n
                bend = max(float(((x * x) @ bends).max()) / n, 1e-10)
                operations += 4.0 * n * k
                to = self._shrunk(W[j] - slope / bend, problem.alpha / bend)
                move, share = to - W[j], 1.0
                longer = problem.alpha * (np.linalg.norm(to) - np.linalg.norm(W[j]))
                promised = float(move @ slope) + longer
                while np.abs(move).max() * share > 1e-9:
                    operations += 4.0 * n * k
                    there = Z + np.outer(x, (share * move).astype(np.float32))
                    P_there, value_there = self._softmax(there)
                    gained = problem.alpha * (np.linalg.norm(W[j] + share * move) - np.linalg.norm(W[j]))
                    if value_there - value + gained <= 0.1 * share * promised:
                        W[j] += share * move
                        Z, P, value = there, P_there, value_there
                        slopes, bends = P - wanted, P * (1 - P)
                        break
                    share /= 2
                yield operations, W
            self.once = self.once or operations

    def _softmax(self, Z):
        P = np.exp(Z - Z.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        return P, float(-np.log(np.maximum(P[np.arange(len(P)), self.problem.y], 1e-30)).mean())

    @staticmethod
    def _shrunk(v, by):
        length = np.linalg.norm(v)
        return v * max(1 - by / length, 0.0) if length > 0 else v
