"""Row-wise proxes of a tall matrix, beside vectorised NumPy."""

from __future__ import annotations

from functools import partial

import numpy as np
from timing import Row, best, show

import gossamer as gs

SHAPE = (100_000, 10)
STEP = 1.0


def scale_rows(W, norms, step):
    return W * np.maximum(1 - step / np.maximum(norms, step), 0)[:, None]


def group_l2_by_norm(W, step):
    return scale_rows(W, np.linalg.norm(W, axis=1), step)


def group_l2_by_einsum(W, step):
    return scale_rows(W, np.sqrt(np.einsum("ij,ij->i", W, W)), step)


def group_linf_by_sorting(W, step):
    """Cap every row at the largest of (sum of its k largest magnitudes − step) / k over k, or at 0."""
    u = np.sort(np.abs(W), axis=1)[:, ::-1]
    levels = (np.cumsum(u, axis=1) - step) / np.arange(1, W.shape[1] + 1)
    cap = np.maximum(levels.max(axis=1), 0)[:, None]
    return np.clip(W, -cap, cap)


def main():
    W = np.random.default_rng(0).standard_normal(SHAPE)
    l2, linf = gs.GroupL2(), gs.GroupLInf()
    for theirs in (group_l2_by_norm, group_l2_by_einsum):
        assert np.allclose(l2.prox(W, STEP), theirs(W, STEP))
    assert np.allclose(linf.prox(W, STEP), group_linf_by_sorting(W, STEP))
    ours_l2, norm, einsum, ours_linf, sort = best(
        partial(l2.prox, W, STEP),
        partial(group_l2_by_norm, W, STEP),
        partial(group_l2_by_einsum, W, STEP),
        partial(linf.prox, W, STEP),
        partial(group_linf_by_sorting, W, STEP),
        repeats=40,
    )
    show(
        f"Row-wise prox of a {SHAPE[0]:,} × {SHAPE[1]} matrix, step {STEP:g}",
        [
            Row("GroupL2: NumPy (the faster of norm and einsum) / ours", min(norm, einsum) / ours_l2, at_least=1),
            Row("GroupLInf: NumPy (row sort) / ours", sort / ours_linf, at_least=5),
        ],
        [
            f"GroupL2: ours {1e3 * ours_l2:.2f} ms, norm {1e3 * norm:.2f} ms, einsum {1e3 * einsum:.2f} ms",
            f"GroupLInf: ours {1e3 * ours_linf:.2f} ms, row sort {1e3 * sort:.1f} ms",
        ],
    )


if __name__ == "__main__":
    main()
