"""Batch estimators over sources that do not fit into memory: checks, the first pass, and what a fit shows."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from gossamer import losses, penalties
from gossamer.batch import beyond
from gossamer.batch.passes import Passes
from gossamer.estimators import inputs, units, wide
from gossamer.estimators.grouped import with_groups
from gossamer.estimators.linear import class_weighted, some_weight
from gossamer.estimators.mistakes import chosen_strength
from gossamer.groups import NamedGroups
from gossamer.validation import number, whole


def fit(estimator: Any, data: Any, memory: Any, options: dict[str, Any], shown: Callable[..., dict[str, Any]]) -> Any:
    """Fit an estimator to a source in bounded memory; `shown` returns its weights as attributes."""
    number(estimator.tol, "tol", least=0)
    whole(estimator.max_iter, "max_iter")
    budget = beyond.Budget.of(memory)
    new = copy.copy(estimator)  # it learns: if anything raises, the estimator is unchanged
    inputs.forget(new)
    regression = not isinstance(estimator, ClassifierMixin)
    loss = losses.as_loss(new.loss, "regression" if regression else "binary")
    penalty = penalties.as_penalty(new.penalty)
    rows = inputs.opened(new, data, options)
    if not rows.rereadable:
        raise ValueError(
            "fit_source reads the data several times, and this source can be read only once. Write it to a file, or "
            "use OnlineClassifier or OnlineRegressor, which learn in one pass."
        )
    rows.settle()
    passes = Passes(rows.blocks)
    found = passes.first(regression, type(estimator).__name__, budget.sample)
    weight = None if found.weight is None else some_weight(found.weight)
    coded = new._find_targets(found.y, loss)
    weight = class_weighted(getattr(new, "class_weight", None), found.y, weight, coded)
    if found.offset is not None:
        coded.check_offset()
    if new.fit_intercept and not coded.loss.has_best_intercept:
        raise ValueError(f"{coded.loss.label} in batch goes without an intercept: use fit_intercept=False.")
    if isinstance(penalty.groups, NamedGroups) and rows.column_names is not None:
        column_of, used = np.full(found.width, -1), np.flatnonzero(found.counts)
        column_of[used] = rows.column_of(used)
        new._source_columns = (rows.column_names, column_of)
    penalty = with_groups(new, penalty, found.width)
    new._groups = penalty.groups
    shape = (found.width, coded.outputs) if coded.outputs > 1 else (found.width,)
    penalty.value(np.zeros(shape))  # raises if the penalty does not fit the shape of W
    if units.standardizes(new.standardize, dense=False):
        found = passes.standardized(found, weight)
    problem = beyond.Problem(
        passes,
        found,
        coded,
        weight,
        penalty,
        chosen_strength(new),
        bool(new.fit_intercept),
        new.solver,
        float(new.tol),
        int(new.max_iter),
    )
    start = None
    if new.warm_start and hasattr(estimator, "coef_"):
        start = np.asarray(estimator.nonzero_features_)
    exact = beyond.minimise(problem, budget, start=start, tell=print if new.verbose else lambda words: None)
    new._targets = coded
    if coded.classes is not None:
        new.classes_ = coded.classes
    W = exact.W if passes.spread is None else exact.W / passes.spread[exact.columns, None]
    coef = wide.spread(W, exact.columns, found.width)
    new.__dict__.update(shown(coded, coef, exact.intercept))
    new.objective_, new.dual_gap_ = exact.certificate.objective, exact.certificate.gap
    new.certificate_, new.n_iter_, new.operations_ = exact.certificate.name, exact.rounds, exact.operations
    new.n_passes_, new.n_features_in_ = passes.count, found.width
    inputs.remember(new, rows, found.width, exact.columns[exact.W.any(axis=1)])
    if exact.interrupted:
        warnings.warn(f"Interrupted after {passes.count} passes: the best weights so far are kept.", stacklevel=4)
    elif not exact.converged:
        reason = (
            f"{exact.short}. Allow more (memory=), or use a larger alpha."
            if exact.short
            else "allow more iterations (max_iter), or accept a larger tol."
        )
        warnings.warn(
            f"Stopped after {passes.count} passes with a relative {exact.certificate.name} of "
            f"{exact.certificate.gap / exact.unit:.2g}, and tol is {new.tol:g}: {reason}",
            ConvergenceWarning,
            stacklevel=4,
        )
    estimator._become(new)
    return estimator
