"""Plots of regularization paths. They need matplotlib (``pip install gossamer[report]``), loaded when first used."""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer.validation import Array

__all__ = ["PathDisplay"]


class PathDisplay:
    """Plot of a regularization path: loss, non-zeros and weights at each strength, and the strength in use.

    Parameters
    ----------
    alphas, loss, loss_se, nonzeros : arrays
        The strengths; at each of them the progressive loss, its standard error, and the number of non-zero weights.
    weights : array, strengths × features
        The weights that are drawn; with several outputs, the norm of each feature's weights.
    names : array
        The names of those features.
    alpha : float
        The strength in use.

    Attributes
    ----------
    figure_, axes_
        What was drawn, after `plot`.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = gs.OnlineClassifierCV(random_state=0).fit(X, y)
    >>> display = gs.PathDisplay.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        alphas: Array,
        loss: Array,
        loss_se: Array,
        nonzeros: Array,
        weights: Array,
        names: Array,
        alpha: float,
    ) -> None:
        self.alphas = alphas
        self.loss = loss
        self.loss_se = loss_se
        self.nonzeros = nonzeros
        self.weights = weights
        self.names = names
        self.alpha = alpha

    @classmethod
    def from_estimator(cls, estimator: Any, *, top: int = 20, axes: Any = None) -> PathDisplay:
        """Draw the path of a fitted `OnlineClassifierCV` or `OnlineRegressorCV`.

        Parameters
        ----------
        estimator : estimator
            Fitted.
        top : int, default 20
            How many features to draw: those with the largest weights anywhere on the path.
        axes : three matplotlib axes, optional
            Where to draw; a new figure if they are not given.
        """
        for needed in ("coef_path_", "path_loss_"):
            if not hasattr(estimator, needed):
                raise ValueError(
                    f"PathDisplay needs a fitted estimator with a path, such as OnlineClassifierCV; "
                    f"{type(estimator).__name__} has no {needed}."
                )
        path = estimator.coef_path_
        sizes = [np.sqrt(np.asarray(W.multiply(W).sum(axis=0))).ravel() for W in path]
        largest = np.max(sizes, axis=0)
        shown = np.argsort(-largest, kind="stable")[:top]
        shown = shown[largest[shown] > 0]
        one = path[0].shape[0] == 1
        weights = np.array(
            [
                (W[:, shown].toarray()[0] if one else size[shown]) if len(shown) else np.zeros(0)
                for W, size in zip(path, sizes, strict=True)
            ]
        )
        names = getattr(estimator, "feature_names_in_", None)
        display = cls(
            alphas=estimator.alphas_,
            loss=estimator.path_loss_,
            loss_se=estimator.path_loss_se_,
            nonzeros=estimator.path_nonzeros_,
            weights=weights,
            names=shown if names is None else names[shown],
            alpha=estimator.alpha_,
        )
        return display.plot(axes=axes)

    def plot(self, *, axes: Any = None) -> PathDisplay:
        """Draw loss, non-zeros and weights, one under the other, over the strengths; return self."""
        if axes is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ImportError("PathDisplay needs matplotlib: pip install gossamer[report].") from error
            _, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 9), layout="constrained")
        axes = np.ravel(axes)
        if len(axes) != 3:
            raise ValueError(f"PathDisplay draws on three axes; {len(axes)} were given.")
        above, middle, below = axes
        above.errorbar(self.alphas, self.loss, yerr=self.loss_se, marker="o", markersize=3, capsize=2)
        above.set_ylabel("progressive loss")
        middle.plot(self.alphas, self.nonzeros, marker="o", markersize=3, color="tab:green")
        middle.set_ylabel("non-zero weights")
        middle.set_yscale("symlog", linthresh=1)
        for line, name in zip(self.weights.T, self.names, strict=True):
            below.plot(self.alphas, line, linewidth=1, label=str(name))
        below.axhline(0.0, color="0.7", linewidth=0.8)
        below.set_ylabel("weights")
        below.set_xlabel("alpha")
        positive = self.alphas[self.alphas > 0]
        for axis in axes:
            axis.axvline(self.alpha, color="0.5", linestyle="--", linewidth=1)
            if len(positive) < len(self.alphas):
                axis.set_xscale("symlog", linthresh=positive.min() if len(positive) else 1.0)
            else:
                axis.set_xscale("log")
        self.axes_ = axes
        self.figure_ = above.figure
        return self
