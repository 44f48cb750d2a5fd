"""Metrics that scikit-learn does not have in this form."""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer.validation import floats, shape_words

__all__ = ["coverage"]


def coverage(y_true: Any, scores: Any) -> float:
    """Return the mean rank of the true class among the scores, counted from 0.

    Classes with the same score as the true one are ranked before it.

    Parameters
    ----------
    y_true : vector of n classes
        0 … k−1, the columns of `scores`.
    scores : n × k matrix
        The higher the better, for instance from `decision_function`.

    References
    ----------
    Duchi, Singer: Boosting with structural sparsity, ICML 2009, §6.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.coverage([0, 2], [[0.9, 0.1, 0.0], [0.5, 0.1, 0.4]])
    0.5
    """
    scores = floats(scores, "scores", ndim=(2,))
    y = floats(y_true, "y_true", ndim=(1,))
    if len(y) != len(scores):
        raise ValueError(
            f"y_true must hold one class per row of scores; it has {len(y)}, and scores is {shape_words(scores.shape)}."
        )
    if len(y) == 0:
        raise ValueError("coverage needs at least one row.")
    if np.any((y != np.floor(y)) | (y < 0) | (y >= scores.shape[1])):
        raise ValueError(
            f"y_true must hold classes 0 to {scores.shape[1] - 1}, the columns of scores; for other labels pass "
            "np.searchsorted(classes_, y)."
        )
    own = scores[np.arange(len(y)), y.astype(np.intp)]
    return float(np.mean(np.sum(scores >= own[:, None], axis=1) - 1))
