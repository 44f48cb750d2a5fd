"""Online estimators that learn a whole regularization path in one pass and choose a strength."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from gossamer.estimators import inputs
from gossamer.estimators.linear import in_turn
from gossamer.estimators.selection import SELECT, falls_at_the_end, selected
from gossamer.online.estimators import OnlineClassifier, OnlineRegressor, _Online, _ReadOnce
from gossamer.online.path import LearnedPath
from gossamer.online.strategies import ManyStrengths
from gossamer.online.trainer import Pass, Stopping
from gossamer.validation import Array, checked_alphas, number, one_of, whole

__all__ = ["OnlineClassifierCV", "OnlineRegressorCV"]


class _Choice:
    """The strength in use, and the non-zeros of all; `alpha` if it lies between two of the path."""

    def __init__(self, lane: int, nonzeros: Array, alpha: float | None = None) -> None:
        self.lane, self.nonzeros, self.alpha = lane, nonzeros, alpha


class _Path(_Online):
    """What the two estimators share: the strategy, the choice of a strength, and the path."""

    _single: Any  # the estimator with one strength
    # Parameters of the estimator with one strength that a path does not have.
    average: bool = False
    grow: bool = False

    _one_model = False

    def _strategy(self) -> Any:
        one_of(self.select, "select", SELECT)
        whole(self.max_nonzeros, "max_nonzeros", 0, optional=True)
        ratio = self.alpha_min_ratio
        if ratio is not None:
            ratio = number(ratio, "alpha_min_ratio", above=0, below=1)
        return ManyStrengths(checked_alphas(self.alphas, least=2), self.n_jobs, ratio)

    def _stopping(self) -> Stopping:
        return Stopping()

    def _pass_words(self, done: Pass) -> str:
        return (
            f"pass {done.number}: progressive loss {self.progressive_loss_:.6g} at alpha = {self.alpha_:.3g}, "
            f"{self.path_nonzeros_[self._choice().lane]} weights"
        )

    # The choice

    @in_turn
    def _choice(self) -> _Choice:
        """Return the strength in use, chosen once after each change of the learner."""
        path = self._path()
        if self._read_once.choice is None:
            self._read_once.choice = self._choose(path)
        return self._read_once.choice

    def _choose(self, path: LearnedPath) -> _Choice:
        nonzeros = path.nonzeros()
        loss, error = path.progressive()[0], path.differences()
        chosen = selected(self.select, loss, error, nonzeros)
        if isinstance(self.alphas, int) and falls_at_the_end(loss, chosen):
            warnings.warn(
                f"alpha_={path.alphas[chosen]:.2g} is the weakest of {len(loss)} strengths, and the loss still falls: "
                f"a weaker one may be better: alpha_min_ratio={path.alphas[-1] / path.alphas[0] / 100:.2g}.",
                stacklevel=4,
            )
        if self.max_nonzeros is None or nonzeros[chosen] <= self.max_nonzeros:
            return _Choice(chosen, nonzeros)
        between = path.within(self.max_nonzeros, nonzeros)
        if between is not None:
            return _Choice(between[0], nonzeros, between[1])
        allowed = nonzeros <= self.max_nonzeros
        if not allowed.any():
            warnings.warn(
                f"No strength has at most max_nonzeros={self.max_nonzeros} non-zero weights: the fewest are "
                f"{nonzeros.min()}, and that strength is used. Larger alphas give fewer.",
                stacklevel=4,
            )
            allowed = nonzeros == nonzeros.min()
        return _Choice(selected(self.select, loss, error, nonzeros, allowed), nonzeros)

    @in_turn
    def _read(self) -> tuple[Array, Array]:
        check_is_fitted(self, "_trainer")
        if self._read_once.weights is None:
            choice, path = self._choice(), LearnedPath(self._trainer)
            if choice.alpha is None:
                self._read_once.weights = path.read(choice.lane)
            else:
                self._read_once.weights = path.alone(choice.lane, choice.alpha).read()
        return self._read_once.weights

    @in_turn
    def _used(self) -> Array:
        return np.unique(self._path().read_sparse()[1])

    # The path

    def _path(self) -> LearnedPath:
        if not hasattr(self, "_trainer"):
            raise AttributeError("The path exists once the estimator is fitted.")
        return LearnedPath(self._trainer)

    @property
    def alphas_(self) -> Array:
        """The strengths, from the largest to the smallest."""
        return self._path().alphas

    @property
    def alpha_(self) -> float:
        """The strength in use: one of `alphas_`, or one between two of them where `max_nonzeros` asks for it."""
        choice = self._choice()
        return float(self.alphas_[choice.lane]) if choice.alpha is None else choice.alpha

    @property
    def path_loss_(self) -> Array:
        """The progressive loss at each strength."""
        return self._path().progressive()[0]

    @property
    def path_loss_se_(self) -> Array:
        """The standard error of the progressive loss at each strength."""
        return self._path().progressive()[1]

    @property
    def path_nonzeros_(self) -> Array:
        """The number of non-zero weights at each strength."""
        return self._choice().nonzeros

    @property
    def path_step_(self) -> Array:
        """The step at each strength; 1 where a schedule is followed."""
        return self._path().steps

    @property
    @in_turn
    def coef_path_(self) -> list[Any]:
        """The weights at each strength, sparse, one row per output."""
        starts, index, value = self._path().read_sparse()
        k, d = self._trainer.setup.outputs, self._trainer.setup.features
        whole = sp.csr_array((value, index, starts), shape=(len(starts) - 1, d))
        return [whole[i * k : (i + 1) * k] for i in range(len(self.alphas_))]

    @property
    @in_turn
    def intercept_path_(self) -> Array:
        """The intercepts at each strength, one column per output."""
        return self._path().intercepts()

    @property
    def progressive_loss_(self) -> float:
        """The mean loss of each example before it was learned from, at the strength in use."""
        return float(self.path_loss_[self._choice().lane])

    @property
    def step_(self) -> Any:
        """The step at the strength in use: the one chosen by "auto" or "theory", or the one given."""
        given = self._trainer.method.step if self._choice() else None
        return given if callable(given) else float(self.path_step_[self._choice().lane])

    @in_turn
    def at(self, alpha: float | None = None) -> Any:
        """Return a fitted estimator at one strength of the path; it predicts, and continues to learn on its own.

        Parameters
        ----------
        alpha : float, optional
            One of `alphas_`; by default the strength in use.
        """
        check_is_fitted(self, "_trainer")
        choice = self._choice()
        if alpha is None or alpha == choice.alpha:
            lane, alpha = choice.lane, self.alpha_
        else:
            lane = self._lane_of(alpha)
            alpha = float(self.alphas_[lane])
        shared = self._single._get_param_names()
        settings = {name: value for name, value in self.get_params(deep=False).items() if name in shared}
        model = self._single(**settings, alpha=alpha)
        model._trainer = LearnedPath(self._trainer).alone(lane, alpha)
        model._read_once = _ReadOnce()
        model._sparse = False
        for name in ("n_features_in_", "feature_names_in_", "classes_", "n_iter_", *inputs.REMEMBERED):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        return model

    def _lane_of(self, alpha: Any) -> int:
        lane = int(np.argmin(np.abs(self.alphas_ - alpha)))
        if not np.isclose(self.alphas_[lane], alpha, rtol=1e-6, atol=0):
            raise ValueError(
                f"alpha={alpha:g} is not on the path; the nearest is {float(self.alphas_[lane])!r}. "
                "alphas_ holds all, and alphas=[...] sets them."
            )
        return lane


class OnlineClassifierCV(_Path, OnlineClassifier):
    """A sparse linear classifier that learns at many regularization strengths in one pass, and chooses one.

    Each strength learns exactly what `OnlineClassifier` with that alpha, and with the same `select`, would. Every
    example is predicted at all strengths before they learn from it, so the pass itself is a validation: `path_loss_` is
    the mean of these losses, and the choice is based on it. The result does not depend on how the data is split into
    calls.

    Parameters
    ----------
    alphas : int or sequence of floats, default 16
        The strengths, or their number: then they are spaced evenly in logarithm. With the rule without a step they go
        from the slope of the logistic loss at zero, 0.5, down to a millionth of it; for numbers, from the root mean
        square of the slopes of the constant model. With other methods they go from an estimate of the strength at which
        all weights are zero down to 1e-5 of it: the dual norm of the mean gradient at zero on the first 2,048 rows, or
        on the largest power of two if there are fewer (with fewer than 16 rows it is 1).
    alpha_min_ratio : float, optional
        The last strength of a grid divided by the first, where it is not to be as above. If the weakest strength is
        chosen, and the loss still falls there, a warning says so.
    loss, penalty, method
        As in `OnlineClassifier`. The method is "step_free" ("auto"), "fobos", "rda", "adagrad" or "ftrl", the penalty a
        sum over features. If the step is chosen from the data, each strength has its own.
    select : "best" or "sparsest", default "sparsest"
        The strength with the lowest progressive loss; or, among those that are worse by no more than one standard error
        of the difference, the one with the fewest non-zero weights. With "sparsest" weights that are hardly above the
        noise of their gradients are zero, as in `OnlineClassifier`.
    max_nonzeros : int, optional
        At most this many weights are not zero. Where the choice has more, the strength is one between two of the path
        that has nearly as many; methods that keep weights, not sums of gradients ("fobos", the primal form of
        AdaGrad), choose among the strengths of the path that have at most as many.
    max_passes : int, default 1
        Passes over the data in `fit`. Only the first pass counts for the choice, as later passes predict rows that were
        seen before.
    batch_size : int, default 1
        How many rows make a step, as in `OnlineClassifier`.
    n_jobs : int, optional
        Number of threads; the result does not depend on it. By default the number of joblib's `parallel_config`, or all
        cores that this process may use.
    shuffle, center, standardize, fit_intercept, class_weight, warm_start, random_state, verbose
        As in `OnlineClassifier`.

    Attributes
    ----------
    alphas_ : array
        The strengths, from the largest to the smallest.
    alpha_ : float
        The one in use, or between two of them with `max_nonzeros`: `coef_`, `intercept_`, `predict` and all other
        methods use this strength.
    path_loss_, path_loss_se_ : arrays
        The progressive loss at each strength, and its standard error.
    path_nonzeros_ : array
        The number of non-zero weights at each strength.
    path_step_ : array
        The step at each strength.
    coef_path_ : list of sparse arrays
        The weights at each strength, one row per output.
    intercept_path_ : array
        The intercepts at each strength, one column per output.
    coef_, intercept_, classes_, nonzero_features_, centered_features_, progressive_loss_, step_, n_iter_, t_,
    n_features_in_
        As in `OnlineClassifier`.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = gs.OnlineClassifierCV(random_state=0).fit(X, y)
    >>> len(model.alphas_), model.score(X, y) > 0.9
    (16, True)
    >>> few = gs.OnlineClassifierCV(max_nonzeros=5, random_state=0).fit(X, y)
    >>> len(few.nonzero_features_) <= 5
    True
    >>> model.at(model.alphas_[3])  # doctest: +ELLIPSIS
    OnlineClassifier(alpha=...)
    """

    _single = OnlineClassifier

    def __init__(
        self,
        alphas: Any = 16,
        loss: Any = "logistic",
        penalty: Any = "l1",
        method: Any = "auto",
        *,
        alpha_min_ratio: float | None = None,
        select: str = "sparsest",
        max_nonzeros: int | None = None,
        max_passes: int = 1,
        batch_size: int = 1,
        shuffle: bool = True,
        center: Any = "auto",
        standardize: Any = False,
        fit_intercept: bool = True,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alphas = alphas
        self.loss = loss
        self.penalty = penalty
        self.method = method
        self.alpha_min_ratio = alpha_min_ratio
        self.select = select
        self.max_nonzeros = max_nonzeros
        self.max_passes = max_passes
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.center = center
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class OnlineRegressorCV(_Path, OnlineRegressor):
    """A sparse linear regressor that learns at many regularization strengths in one pass, and chooses one.

    Each strength learns exactly what `OnlineRegressor` with that alpha would; see `OnlineClassifierCV` for how the
    strengths are found and chosen.

    Parameters
    ----------
    loss : str or loss, default "squared"
        A regression loss.
    alphas, alpha_min_ratio, penalty, method, select, max_nonzeros, max_passes, batch_size, n_jobs
        As in `OnlineClassifierCV`.
    shuffle, center, standardize, fit_intercept, warm_start, random_state, verbose
        As in `OnlineRegressor`.

    Attributes
    ----------
    alphas_, alpha_, path_loss_, path_loss_se_, path_nonzeros_, path_step_, coef_path_, intercept_path_
        As in `OnlineClassifierCV`.
    coef_, intercept_, nonzero_features_, centered_features_, progressive_loss_, step_, n_iter_, t_, n_features_in_
        As in `OnlineRegressor`.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = gs.OnlineRegressorCV(max_passes=20, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.4
    True
    """

    _single = OnlineRegressor

    def __init__(
        self,
        alphas: Any = 16,
        loss: Any = "squared",
        penalty: Any = "l1",
        method: Any = "auto",
        *,
        alpha_min_ratio: float | None = None,
        select: str = "sparsest",
        max_nonzeros: int | None = None,
        max_passes: int = 1,
        batch_size: int = 1,
        shuffle: bool = True,
        center: Any = "auto",
        standardize: Any = False,
        fit_intercept: bool = True,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alphas = alphas
        self.loss = loss
        self.penalty = penalty
        self.method = method
        self.alpha_min_ratio = alpha_min_ratio
        self.select = select
        self.max_nonzeros = max_nonzeros
        self.max_passes = max_passes
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.center = center
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
