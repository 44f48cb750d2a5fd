"""What fitted linear models share: weights shown dense or sparse, margins, and predictions from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from gossamer import losses, targets
from gossamer.arrays import Array


class Linear(BaseEstimator):
    """A model with `coef_` and `intercept_`."""

    coef_: Any  # one row an output, or a vector for one real target
    intercept_: Array
    _targets: targets.Targets  # how y is coded

    @property
    def nonzero_features_(self) -> Array:
        """The features with a weight: their names where the data had names, their numbers otherwise."""
        check_is_fitted(self)
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else np.atleast_2d(self.coef_)
        used = np.flatnonzero(coef.any(axis=0))
        names = getattr(self, "feature_names_in_", None)
        return used if names is None else names[used]

    def sparsify(self) -> Any:
        """Make `coef_` a sparse matrix; return self."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(np.atleast_2d(self.coef_)) if not sp.issparse(self.coef_) else self.coef_
        return self

    def densify(self) -> Any:
        """Make `coef_` an array; return self."""
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            dense = self.coef_.toarray()
            self.coef_ = dense[0] if self._targets.kind == "regression" and self._targets.flat else dense
        return self

    def _decide(self, X: Any) -> Array:
        """Return z = X W + b, n × k."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32], reset=False)
        W = self.coef_.T if sp.issparse(self.coef_) else np.atleast_2d(self.coef_).T
        Z = X @ W
        return np.asarray(Z.toarray() if sp.issparse(Z) else Z) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags


def has_probabilities(estimator: Any) -> bool:
    """Return whether the loss gives probabilities; say which do otherwise."""
    loss = losses.resolve(estimator.loss)
    if not getattr(loss, "probabilistic", False):
        raise AttributeError(f"{type(loss).__name__} does not give probabilities; 'logistic' and 'multinomial' do.")
    return True


class LinearClassifier(ClassifierMixin, Linear):
    """Scores, classes and probabilities."""

    classes_: Array
    loss: Any

    def decision_function(self, X: Any) -> Array:
        """Return the scores: one a row for two classes, one a class or label otherwise."""
        z = self._decide(X)
        if self._targets.kind == "binary":
            return z[:, 0]
        if self._targets.kind != "multilabel" and z.shape[1] == 2:
            return z[:, 1] - z[:, 0]
        return z

    def predict(self, X: Any) -> Array:
        """Return the classes, or a matrix of 0 and 1 for several labels."""
        z = self.decision_function(X)
        if self._targets.kind == "multilabel":
            return (z > 0).astype(int)
        if z.ndim == 1:
            return self.classes_[(z > 0).astype(int)]
        return self.classes_[np.argmax(z, axis=1)]

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class (or of each label)."""
        z = self._decide(X)
        p = self._targets.loss.link(z)
        if self._targets.kind == "binary":
            return np.hstack([1 - p, p])
        if self._targets.kind == "one_vs_rest":
            total = p.sum(axis=1, keepdims=True)
            return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])
        return p

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class LinearRegressor(RegressorMixin, Linear):
    """Predictions of real targets."""

    def predict(self, X: Any) -> Array:
        """Return the predictions: the mean for "poisson", z otherwise."""
        z = self._decide(X)
        z = self._targets.loss.link(z)
        return z[:, 0] if self._targets.flat else z
