"""Boosting as a whole: it reaches the optimum, prunes exactly, stops honestly."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import boosting_reference as twin
import gossamer as gs
from boosting.problems import ORDERS, coded, data, estimator, optimum
from gossamer.boosting import rounds

CASES = [
    ("binary", "l1", "ada", {}),
    ("binary", "l1", "grad", {}),
    ("binary", "l1", "grad", {"loss": "squared_hinge"}),
    ("binary", "l1", "ada", {"fit_intercept": False}),
    ("binary", "group_linf", "ada", {}),
    ("binary", "elastic_net", "grad", {}),
    ("multiclass", "l1", "ada", {}),
    ("multiclass", "group_linf", "ada", {}),
    ("multiclass", "group_linf", "grad", {}),
    ("multiclass", "group_l2", "grad", {}),
    ("multiclass", "sparse_group_l2", "grad", {}),
    ("multilabel", "group_linf", "ada", {}),
    ("multilabel", "group_l2", "grad", {}),
    ("regression", "l1", "ada", {}),
    ("regression", "l1", "grad", {}),
    ("regression", "l2_squared", "grad", {"loss": "squared"}),
    ("regression", "l1", "grad", {"loss": "huber"}),
    ("outputs", "group_linf", "ada", {}),
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("kind", "penalty", "bound", "more"), CASES)
def test_it_reaches_the_optimum_of_the_batch_problem(kind, penalty, bound, more, order):
    if order == "parallel" and kind != "binary":
        return  # the same updates, and slow ones
    X, y = data(kind)
    alpha = 0.05
    model = estimator(kind)(
        penalty, alpha, bound, order=order, batch=3, tol=1e-5, max_rounds=20_000, random_state=0, **more
    ).fit(X, y)
    assert model.stopped_by_ == "no candidate"
    got, best = optimum(model, X, y, alpha)
    assert got <= best + 1e-7
    assert got >= best - 1e-9
    assert model.history_[-1].objective == pytest.approx(got, rel=1e-10)


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
@pytest.mark.parametrize(("penalty", "bound"), [("linf", "ada"), ("linf", "grad"), ("l2_norm", "grad")])
def test_norms_of_all_weights_reach_the_optimum_together(kind, penalty, bound):
    X, y = data(kind)
    settings = {"order": "parallel", "tol": 1e-5, "max_rounds": 30_000}
    model = gs.BoostingClassifier(penalty, 0.3, bound, **settings).fit(X, y)
    got, best = optimum(model, X, y, 0.3)
    assert best - 1e-9 <= got <= best + 1e-6


def test_kkt_conditions_and_the_same_weights_as_the_batch_problem():
    X, y = data(n=200)
    for bound in ("ada", "grad"):
        model = gs.BoostingClassifier("l1", 0.02, bound, tol=1e-8).fit(X, y)
        loss, targets, c = gs.Logistic(), coded(model, y), np.ones(len(y))
        W = model.coef_.T
        gW, gb = twin.gradient(loss, X, targets, c, W, model.intercept_)
        assert np.abs(gb).max() < 1e-9
        used = W[:, 0] != 0
        np.testing.assert_allclose(gW[used], -0.02 * np.sign(W[used]), atol=1e-9)
        assert (np.abs(gW[~used]) <= 0.02 * (1 + 1e-8)).all()
        assert 0 < used.sum() < len(used)
        expected, _ = twin.solve(loss, gs.L1(), 0.02, X, targets, c, 1)
        np.testing.assert_allclose(W, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "penalty", "bound"),
    [
        *(("binary", "l1", bound) for bound in ("ada", "grad")),
        ("multiclass", "l1", "ada"),
        ("multiclass", "group_l2", "grad"),
    ],
)
def test_the_same_model_as_the_batch_estimator(kind, penalty, bound):
    X, y = data(kind, n=150)
    ours = gs.BoostingClassifier(penalty, 0.02, bound, tol=1e-8).fit(X, y)
    batch = gs.BatchClassifier(penalty=penalty, alpha=0.02, tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, batch.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), batch.predict_proba(X), atol=1e-4)
    assert ours.history_[-1].objective == pytest.approx(batch.objective_, rel=1e-7)


@pytest.mark.parametrize(
    ("penalty", "bound"),
    [("l1", "ada"), ("l1", "grad"), ("group_l2", "grad"), ("group_linf", "ada"), ("group_linf", "grad")],
)
def test_dense_classes_take_few_rounds(penalty, bound, monkeypatch):
    # Once sure of the classes, the loss is far less curved than the bounds allow for: by their updates alone this took
    # 55 to 329 rounds, and up to two million updates.
    rng = np.random.default_rng(0)
    points, centres = rng.normal(size=(100, 4)), rng.normal(size=(200, 4))
    X = np.exp(-((points[:, None] - centres) ** 2).sum(axis=2) / 2)
    y = np.argmax(points @ rng.normal(size=(4, 5)) + 0.3 * rng.normal(size=(100, 5)), axis=1)
    alpha = 0.003 * gs.alpha_max(X, y, loss="logistic", penalty=penalty)
    updates, sweep = [], rounds.Run.sweep
    monkeypatch.setattr(
        rounds.Run, "sweep", lambda run, *more, **how: updates.append(len(run.used)) or sweep(run, *more, **how)
    )
    model = gs.BoostingClassifier(penalty, alpha, bound, tol=1e-2).fit(X, y)
    assert model.stopped_by_ == "no candidate"
    assert len(model.history_) - 1 <= 16
    assert sum(updates) <= 500_000
    batch = gs.BatchClassifier(penalty=penalty, alpha=alpha, tol=1e-2).fit(X, y)
    assert model.history_[-1].objective <= batch.objective_ * 1.01


def test_features_that_move_together_take_few_rounds():
    # With equal shares for long and short rows, and without looking where the rounds lead, it took 3,698.
    rng = np.random.default_rng(0)
    X = sp.random_array((500, 800), density=0.02, rng=rng, format="csc") @ sp.diags_array(rng.exponential(size=800))
    y = X @ rng.normal(size=800) > 0
    model = gs.BoostingClassifier("l1", 1e-3, "grad", order="parallel", tol=1e-2, max_rounds=600).fit(X, y)
    assert model.stopped_by_ == "no candidate"


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("penalty", ["l1", "group_linf"])
def test_no_round_increases_the_objective(order, penalty):
    X, y = data("multiclass")
    model = gs.BoostingClassifier(penalty, 0.02, order=order, batch=2, max_rounds=60, random_state=1).fit(X, y)
    objectives = np.array([r.objective for r in model.history_])
    assert (np.diff(objectives) <= 1e-12).all()
    assert [r.round for r in model.history_] == list(range(len(model.history_)))


@pytest.mark.parametrize("order", ORDERS)
def test_pruned_means_exactly_zero_and_history_counts(order):
    X, y = data("multiclass", d=20)
    model = gs.BoostingClassifier("group_linf", 0.05, order=order, batch=20, max_rounds=3000).fit(X, y)
    assert 0 < model.n_features_used_ < 20
    assert len(model.features_) == model.n_features_used_ == len(model.weights_)
    assert model.weights_.any(axis=1).all()
    assert (model.coef_.T[[j for j in range(20) if j not in model.features_]] == 0.0).all()
    nonzeros = 0
    for r in model.history_:
        nonzeros += r.selected - r.pruned
        assert r.nonzeros == nonzeros
    assert nonzeros == model.n_features_used_
    if order != "greedy":
        assert sum(r.pruned for r in model.history_) > 0  # weights came and went


def top_scores(model, X, y, matrix):
    """Return the largest |gradient| over columns of a matrix, in units of α, of the fitted model."""
    z = model._decide(X)
    slopes = twin.slopes_of(model._targets.loss, z, coded(model, y))
    return np.abs(matrix.T @ slopes / len(X)).max() / model.alpha


@pytest.mark.parametrize("kind", ["columns", "products", "stumps", "kernel"])
@pytest.mark.parametrize("bound", ["ada", "grad"])
@pytest.mark.parametrize("target", ["binary", "regression"])
def test_stopping_is_honest(kind, bound, target):
    X, y = data(target, n=80, d=5)
    model = estimator(target)(alpha=0.04, bound=bound, features=kind, batch=4, tol=1e-4).fit(X, y)
    assert model.stopped_by_ == "no candidate"
    assert model.history_[-1].score == 0.0
    assert model.n_features_used_ > 0
    kinds = model._kind
    pool = X if kind == "columns" else kinds.evaluate(X, list(kinds.propose(X, model.features_)))
    assert top_scores(model, X, y, pool) <= 1 + 2e-4
    # And not before: after one feature there was another.
    earlier = clone(model).set_params(max_rounds=1, batch=1).fit(X, y)
    assert earlier.stopped_by_ == "max_rounds"
    assert top_scores(earlier, X, y, pool) > 1 + 2e-4


def test_a_strong_penalty_stops_at_once():
    X, y = data()
    model = gs.BoostingClassifier(alpha=10.0).fit(X, y)
    assert (model.n_features_used_, model.stopped_by_) == (0, "no candidate")
    assert (model.predict(X) == max("ham", "spam", key=list(y).count)).all()
    share = np.mean(y == "spam")
    assert model.predict_proba(X)[0, 1] == pytest.approx(share, rel=1e-6)


def test_duplicated_columns_do_not_keep_it_from_stopping():
    X, y = data()
    model = gs.BoostingClassifier(alpha=0.01, tol=1e-6).fit(np.hstack([X, X, X]), y)
    assert model.stopped_by_ == "no candidate"
    assert model.history_[-1].objective == pytest.approx(
        gs.BoostingClassifier(alpha=0.01, tol=1e-6).fit(X, y).history_[-1].objective, abs=1e-9
    )


@pytest.mark.parametrize("loss", ["log_epsilon_insensitive", "huber"])
@pytest.mark.parametrize("scale", [1.0, 1e2, 1e4, 1e9, 1e12])
def test_targets_out_of_reach_are_told_after_ten_rounds(loss, scale):
    X, y = data("regression")
    model = gs.BoostingRegressor(bound="grad", loss=loss, max_rounds=1000)
    if scale > 1e5:
        with pytest.warns(ConvergenceWarning, match="y is out of reach.*Scale y"):
            model.fit(X, scale * y)
        assert (model.stopped_by_, model.n_iter_) == ("out of reach", 10)
        assert np.isfinite(model.coef_).all()
    else:  # nothing that can be reached is given up
        model.fit(X, scale * y)
        assert model.stopped_by_ == "no candidate"


# Baselines


def test_classical_adaboost():
    X, y = data(n=40, d=4)
    kind = gs.StumpFeatures()
    stumps = list(kind.propose(X, []))
    H, signs = kind.evaluate(X, stumps), np.where(y == "spam", 1.0, -1.0)
    settings = {"alpha": 0, "loss": "exponential", "order": "greedy", "batch": 1, "fit_intercept": False}
    model = gs.BoostingClassifier(features="stumps", max_rounds=25, **settings).fit(X, y)
    w = twin.adaboost(H, signs, 25)
    np.testing.assert_allclose(model.decision_function(X), H @ w, atol=1e-9)
    assert model.stopped_by_ == "max_rounds"
    assert dict(zip(model.features_, model.weights_[:, 0], strict=True)) == pytest.approx(
        {stumps[j]: w[j] for j in np.flatnonzero(w)}
    )


def test_separable_data_without_a_penalty_stays_finite():
    X = np.array([[1.0], [2.0], [-1.0], [-3.0]])
    for loss, bound in (("logistic", "ada"), ("exponential", "ada"), ("logistic", "grad")):
        model = gs.BoostingClassifier(alpha=0, bound=bound, loss=loss, max_rounds=50).fit(X, [1, 1, 0, 0])
        assert np.isfinite(model.weights_).all()
        assert (model.predict(X) == [1, 1, 0, 0]).all()


def test_smooth_l1_keeps_everything():
    X, y = data()
    for bound in ("ada", "grad"):
        smooth = gs.BoostingClassifier("smooth_l1", 0.05, bound, tol=1e-6).fit(X, y)
        assert smooth.n_features_used_ == X.shape[1]
        targets, c, loss = coded(smooth, y), np.ones(len(y)), gs.Logistic()
        gW, gb = twin.gradient(loss, X, targets, c, smooth.coef_.T, smooth.intercept_)
        np.testing.assert_allclose(gW, -0.05 * np.tanh(smooth.coef_.T / 2), atol=1e-6)  # the slope of the penalty
        np.testing.assert_allclose(gb, 0, atol=1e-6)
