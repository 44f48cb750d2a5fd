"""Problems for the online methods, one per loss, and what it means that two models are the same."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import gossamer as gs
import online_reference
from catalogue import SCALAR_LOSSES

ALPHA = 0.04
N, D = 60, 6


def features(n=N, seed=0):
    """Rows whose six features come always, once, early only, seldom, half the time, and never."""
    random = np.random.default_rng(seed)
    t = np.arange(n)
    present = np.column_stack(
        [t >= 0, t == min(7, n - 1), t < n // 6, random.random(n) < 0.1, random.random(n) < 0.5, t < 0]
    )
    return random.normal(size=(n, D)) * 0.8 * present


@dataclass(frozen=True)
class Problem:
    """Targets as an estimator is given them, and as the loss reads them."""

    name: str
    estimator: Any
    loss: Any
    y: np.ndarray
    coded: np.ndarray  # n × targets
    coded_loss: Any
    outputs: int = 1
    classes: Any = None

    def model(self, method, penalty="none", alpha=ALPHA, **settings):
        return self.estimator(self.loss, penalty, alpha, method, **settings)

    def teach(self, model, X, rows=slice(None), sample_weight=None):
        classes = {} if self.classes is None else {"classes": self.classes}
        weight = None if sample_weight is None else sample_weight[rows]
        return model.partial_fit(X[rows], self.y[rows], sample_weight=weight, **classes)

    def twin(self, method, penalty, X, alpha=ALPHA, sample_weight=None, **settings):
        return online_reference.run(
            method, penalty, alpha, self.coded_loss, X, self.coded, sample_weight, outputs=self.outputs, **settings
        )


def problems(X, seed=1):
    """One problem a loss with one output, and the ways to have three."""
    random = np.random.default_rng(seed)
    scores = X @ random.normal(size=(X.shape[1], 3)) + random.normal(size=(len(X), 3)) * 0.3
    signs, labels = np.where(scores > 0, 1.0, -1.0), np.argmax(scores, axis=1)
    labels[:3], signs[:2] = [0, 1, 2], [[1, -1, 1], [-1, 1, -1]]
    counts = np.minimum(np.exp(scores[:, :1]).round(), 5)

    def binary(name, loss):
        return Problem(name, gs.OnlineClassifier, loss, signs[:, 0], signs[:, :1], loss, classes=[-1, 1])

    def regression(name, loss, y=scores):
        return Problem(name, gs.OnlineRegressor, loss, y[:, 0], y[:, :1], loss)

    def multiclass(name, loss, joint):
        return Problem(name, gs.OnlineClassifier, loss, labels, labels[:, None], joint, 3, [0, 1, 2])

    one_against_rest = np.where(labels[:, None] == np.arange(3), 1.0, -1.0)
    return [
        binary("logistic", gs.Logistic()),
        binary("hinge", gs.Hinge()),
        binary("squared hinge", gs.SquaredHinge()),
        binary("exponential", gs.Exponential()),
        regression("squared", gs.Squared()),
        regression("ε-insensitive", gs.EpsilonInsensitive(epsilon=0.05)),
        regression("log ε-insensitive", gs.LogEpsilonInsensitive()),
        regression("huber", gs.Huber(delta=0.3)),
        regression("quantile", gs.Quantile(q=0.8)),
        *[regression(e.name, e.loss, counts + e.least) for e in SCALAR_LOSSES if e.least is not None],
        multiclass("multinomial", gs.Logistic(), gs.Multinomial()),
        multiclass("multiclass hinge", gs.Hinge(), gs.MulticlassHinge()),
        Problem(
            "one against the rest, squared hinge",
            gs.OnlineClassifier,
            gs.SquaredHinge(),
            labels,
            one_against_rest,
            gs.SquaredHinge(),
            3,
            [0, 1, 2],
        ),
        Problem(
            "multitask logistic", gs.OnlineClassifier, gs.Logistic(), (signs > 0).astype(int), signs, gs.Logistic(), 3
        ),
        Problem("multitask squared", gs.OnlineRegressor, gs.Squared(), scores, scores, gs.Squared(), 3),
    ]


X = features()
PROBLEMS = {problem.name: problem for problem in problems(X)}
LOGISTIC, MULTINOMIAL = PROBLEMS["logistic"], PROBLEMS["multinomial"]
ONE_AND_THREE = [LOGISTIC, MULTINOMIAL]


def weights(model):
    """Return W, d × k."""
    return np.atleast_2d(model.coef_).T


ROUNDING = 1e-10
ROUNDING_OF_FLOATS = 2e-4  # of the rule without a step, which keeps floats, in sixty rounds


def rounding_of(model):
    """Return how far two ways to the same model may be apart."""
    return ROUNDING_OF_FLOATS if model._trainer.method.free_of_steps else ROUNDING


def assert_same_weights(ours, theirs, tolerance=ROUNDING):
    assert ours.shape == theirs.shape
    largest = np.abs(theirs).max(initial=0.0)
    assert np.abs(ours - theirs).max(initial=0.0) <= tolerance * largest, f"{ours} is not {theirs}"
    least = (1e-12 if tolerance == ROUNDING else tolerance) * largest
    clear = np.abs(theirs) > least
    assert_array_equal((ours != 0)[clear], (theirs != 0)[clear])
    assert np.abs(ours[~clear]).max(initial=0.0) <= 2 * least


def assert_same_numbers(ours, theirs, tolerance=1e-10):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert np.abs(ours - theirs).max(initial=0.0) <= tolerance * max(1.0, np.abs(theirs).max(initial=0.0))


def assert_is_the_twin(model, twin):
    tolerance = rounding_of(model)
    assert_same_weights(weights(model), twin.weights, tolerance)
    assert_same_numbers(model.intercept_, twin.intercept, tolerance)
    assert_same_numbers(model.progressive_loss_, twin.progressive_loss, tolerance)


def assert_same_model(one, other):
    """Two ways to the same model: the same non-zeros, and the same numbers up to rounding."""
    assert_array_equal(weights(one) != 0, weights(other) != 0)
    assert_same_weights(weights(one), weights(other))
    assert_same_numbers(one.intercept_, other.intercept_)
    assert_same_numbers(one.progressive_loss_, other.progressive_loss_)
    assert one.t_ == other.t_


def over(names, table):
    return pytest.mark.parametrize(names, table, ids=lambda case: case if isinstance(case, str) else case.name)
