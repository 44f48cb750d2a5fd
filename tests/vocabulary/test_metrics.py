"""Metrics against their definitions."""

import numpy as np
import pytest

import gossamer as gs


def test_coverage_is_the_rank_of_the_true_class():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(50, 6))
    y = rng.integers(6, size=50)
    ranks = [sorted(range(6), key=lambda r, row=row: -row[r]).index(c) for row, c in zip(scores, y, strict=True)]
    assert gs.coverage(y, scores) == pytest.approx(np.mean(ranks))
    assert gs.coverage([1], [[0.0, 1.0]]) == 0.0
    assert gs.coverage([1], [[0.5, 0.5]]) == 1.0
    for bad in (([3], [[0.0, 1.0]]), ([0, 1], [[0.0, 1.0]]), ([0.5], [[0.0, 1.0]]), ([], np.empty((0, 2)))):
        with pytest.raises(ValueError, match=r"coverage|y_true"):
            gs.coverage(*bad)
