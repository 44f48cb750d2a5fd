"""Boosting as a whole: it reaches the optimum, prunes exactly, stops honestly, and predicts by itself."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import boosting_reference as twin
import gossamer as gs
from gossamer.boosting import features, rounds

ORDERS = list(rounds.ORDERS)
FIXED = ["cyclic", "random", "parallel"]


def data(kind="binary", n=60, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    V = rng.normal(size=(d, 3)) * (rng.random((d, 1)) < 0.5)
    Z = X @ V + rng.normal(0, 0.7, (n, 3))
    if kind == "binary":
        return X, np.where(Z[:, 0] > 0, "spam", "ham")
    if kind == "multiclass":
        return X, np.argmax(Z, axis=1)
    if kind == "multilabel":
        return X, (Z > 0).astype(int)
    return X, Z[:, 0] if kind == "regression" else Z


def coded(model, y):
    return model._targets.encode(np.asarray(y))


def optimum(model, X, y, alpha, weight=None):
    """Return the objective of the model, and the least there is."""
    targets, c = coded(model, y), np.ones(len(y)) if weight is None else weight
    penalty, loss = gs.penalties.resolve(model.penalty), model._targets.loss
    W = np.zeros((X.shape[1], model._targets.outputs))
    W[model.features_] = model.weights_
    best = twin.solve(loss, penalty, alpha, X, targets, c, W.shape[1], model.fit_intercept)
    return (twin.objective(loss, penalty, alpha, X, targets, c, *pair) for pair in ((W, model.intercept_), best))


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


def estimator(kind):
    return gs.BoostingRegressor if kind in ("regression", "outputs") else gs.BoostingClassifier


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
@pytest.mark.parametrize(("penalty", "bound"), [("linf", "ada"), ("linf", "grad"), ("l2", "grad")])
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


# What must not matter


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_how_the_data_is_held_makes_no_difference(kind, order):
    X, y = data(kind, d=12)
    plain = estimator(kind)(alpha=0.03, order=order, batch=3, max_rounds=20, random_state=0, fit_intercept=False)
    exact = estimator(kind)(alpha=0.03, order=order, batch=3, tol=1e-7, max_rounds=5000, random_state=0)
    forms = (sp.csc_matrix(X), sp.csr_matrix(X), sp.csr_array(X), np.asfortranarray(X), sp.coo_matrix(X))
    dense = clone(plain).fit(X, y)
    for other in forms:  # step by step the same
        same = clone(plain).fit(other, y)
        assert same.features_ == dense.features_
        np.testing.assert_allclose(same.weights_, dense.weights_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(same._decide(other), same._decide(X), atol=1e-12)
    if order != "parallel":  # with an intercept dense columns are centred: another way to the same end
        np.testing.assert_allclose(clone(exact).fit(X, y).coef_, clone(exact).fit(forms[0], y).coef_, atol=1e-5)
    single = clone(plain).fit(X.astype(np.float32), y)
    assert set(single.features_) == set(dense.features_)
    np.testing.assert_allclose(single.coef_, dense.coef_, atol=1e-4)


def test_columns_far_from_zero_are_no_harder():
    X, y = data()
    near, away = (gs.BoostingClassifier(alpha=0.02, tol=1e-6).fit(A, y) for A in (X, X + 1000))
    assert away.features_ == near.features_
    assert len(away.history_) == len(near.history_)
    np.testing.assert_allclose(away.coef_, near.coef_, atol=1e-6)
    np.testing.assert_allclose(away.decision_function(X + 1000), near.decision_function(X), atol=1e-4)


def test_the_number_of_threads_changes_nothing():
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 5000), density=0.01, rng=rng, format="csc")
    y = rng.integers(3, size=300)
    for more in ({}, {"order": "parallel", "max_rounds": 20}, {"order": "greedy", "max_rounds": 20}):
        one, two = (gs.BoostingClassifier(alpha=1e-3, n_jobs=jobs, **more).fit(X, y) for jobs in (1, 3))
        assert one.features_ == two.features_
        assert (one.weights_ == two.weights_).all()
    X = rng.normal(size=(200, 20))
    y = rng.integers(2, size=200)
    one, two = (gs.BoostingClassifier(alpha=0.02, features="stumps", n_jobs=jobs).fit(X, y) for jobs in (None, -1))
    assert one.features_ == two.features_
    assert (one.weights_ == two.weights_).all()


def test_data_is_not_changed_and_columns_are_not_copied():
    X, y = data()
    X = sp.csc_array(X)
    X.data.flags.writeable = X.indices.flags.writeable = False
    before = X.toarray()
    gs.BoostingClassifier(alpha=0.01, order="cyclic", max_rounds=5).fit(X, y)
    assert (X.toarray() == before).all()


@pytest.mark.parametrize("features", ["columns", "products", "stumps"])
@pytest.mark.parametrize("bound", ["ada", "grad"])
def test_a_weight_is_a_repetition_and_zero_is_absence(bound, features):
    X, y = data("multiclass", d=5)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, len(y))
    model = gs.BoostingClassifier(alpha=0.05, bound=bound, features=features, tol=1e-8)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)
    assert weighted.history_[-1].objective == pytest.approx(repeated.history_[-1].objective, abs=1e-9)


def test_class_weights_are_sample_weights():
    X, y = data()
    weighted = gs.BoostingClassifier(alpha=0.02, class_weight={"ham": 1, "spam": 3}, tol=1e-8).fit(X, y)
    by_hand = gs.BoostingClassifier(alpha=0.02, tol=1e-8).fit(X, y, sample_weight=np.where(y == "spam", 3, 1))
    np.testing.assert_allclose(weighted.coef_, by_hand.coef_)
    assert gs.BoostingClassifier(alpha=0.02, class_weight="balanced").fit(X, y).n_features_used_ > 0


def test_penalty_weights():
    X, y = data()
    weights = np.array([0, 1, 1, 1, 100, 1, 1, 1.0])
    for bound in ("ada", "grad"):
        for order in ("corrective", "cyclic"):
            penalty = gs.L1(weights=weights)
            model = gs.BoostingClassifier(penalty, 0.05, bound, order=order, tol=1e-6, max_rounds=5000).fit(X, y)
            got, best = optimum(model, X, y, 0.05)
            assert got == pytest.approx(best, abs=1e-7)
            assert 0 in model.features_
            assert 4 not in model.features_


# Candidates


def test_products_grow_from_the_constant():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 4))
    y = 3 * X[:, 0] + 4 * X[:, 0] * X[:, 2] - 5 * X[:, 0] * X[:, 2] * X[:, 3]
    frame = pd.DataFrame(X, columns=["rm", "age", "lstat", "tax"])
    model = gs.BoostingRegressor(alpha=0.01, features="products").fit(frame, y)
    assert model.stopped_by_ == "no candidate"
    assert set(model.nonzero_features_[:3]) == {"rm", "rm × lstat", "rm × lstat × tax"}
    assert model.score(frame, y) > 0.9
    short = gs.BoostingRegressor(alpha=0.01, features=gs.ProductFeatures(max_degree=2)).fit(X, y)
    assert max(map(len, short.features_)) == 2
    assert "x0 × x2" in short.nonzero_features_
    sparse = gs.BoostingRegressor(alpha=0.01, features="products").fit(sp.csr_array(X), y)
    assert sparse.features_ == model.features_
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), model.predict(frame))


def test_products_are_scored_as_what_they_are():
    X, y = data("multiclass", d=4)
    run = gs.BoostingClassifier(alpha=0.02, features="products").fit(X, y)
    used = run.features_
    pool = features.pool_of(run._kind, X)
    plain = features._ProposedPool(run._kind, X)
    targets = coded(run, y)
    for bound in (gs._core.Ada(0.5), gs._core.Grad(0.5)):
        core = gs._core.booster(
            gs.Multinomial()._core(), len(y), 3, targets.reshape(-1), None, 0.5, bound, gs._core.L1(), None
        )
        scoring = features.Scoring(core, 0.0, 1)
        fast, slow = (p.best(scoring, used, 1000) for p in (pool, plain))
        assert len(fast) == len(slow) > 0
        assert {f: s for s, f in fast} == pytest.approx({f: s for s, f in slow})


def test_stumps_are_scored_as_what_they_are():
    X, y = data("multilabel", d=4)
    X = np.round(X, 1)
    kind = gs.StumpFeatures()
    targets = np.where(y > 0, 1.0, -1.0)
    core = gs._core.booster(
        gs.Logistic()._core(), len(y), 3, targets.reshape(-1), None, 0.5, gs._core.Ada(1.0), gs._core.LInf(), None
    )
    scoring = features.Scoring(core, 0.0, 1)
    fast = kind.pool(X).best(scoring, [], 1000)
    slow = features._ProposedPool(kind, X).best(scoring, [], 1000)
    best = {}
    for score, (j, cut) in slow:
        best.setdefault(j, (score, cut))
    assert {j: s for s, (j, _) in fast} == pytest.approx({j: s for j, (s, _) in best.items()})


def test_cuts_separate_neighbouring_values():
    kind = gs.StumpFeatures()
    assert kind.cuts(np.array([3.0, 1.0, 1.0, 2.0])).tolist() == [1.5, 2.5]
    assert len(kind.cuts(np.array([5.0, 5.0]))) == 0
    close = np.array([1.0, np.nextafter(1.0, 2)])
    assert kind.evaluate(close[:, None], [(0, kind.cuts(close)[0])])[:, 0].tolist() == [-1.0, 1.0]
    big = np.array([-1.7e308, 1.7e308])
    assert np.isfinite(kind.cuts(big)).all()
    few = gs.StumpFeatures(max_cuts=3).cuts(np.arange(100.0))
    assert len(few) <= 4
    assert gs.BoostingClassifier(alpha=0.1, features=gs.StumpFeatures(max_cuts=3)).fit(*data()).n_features_used_ > 0


def test_kernel_with_a_support_set_of_its_own_or_given():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (np.linalg.norm(X, axis=1) > 1.2).astype(int)
    model = gs.BoostingClassifier(alpha=0.003, features="kernel").fit(X, y)
    assert model.score(X, y) > 0.9
    support = model._kind.support
    assert 0 < len(support) < 300
    assert model.n_features_used_ <= len(support)
    given = gs.BoostingClassifier(alpha=0.003, features=gs.KernelFeatures(0.5, support=X[:30])).fit(X, y)
    K = np.exp(-0.5 * ((X[:, None] - X[None, :30]) ** 2).sum(axis=2))
    plain = gs.BoostingClassifier(alpha=0.003).fit(K, y)
    assert set(plain.features_) == set(given.features_)
    assert plain.history_[-1].objective == pytest.approx(given.history_[-1].objective, rel=1e-5)
    cyclic = gs.BoostingClassifier(alpha=0.003, features=given.features, order="cyclic", max_rounds=3000).fit(X, y)
    assert cyclic.history_[-1].objective == pytest.approx(given.history_[-1].objective, rel=1e-5)
    assert "K(x, s" in given.nonzero_features_[0]
    few = gs.BoostingRegressor(alpha=0.01, features=gs.KernelFeatures(max_support=20)).fit(sp.csr_array(X), y)
    assert few._kind.support.shape == (20, 2)
    assert few.predict(X).shape == (300,)


def test_the_perceptron_keeps_its_mistakes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(3, size=400)
    kind = gs.KernelFeatures(gamma=0.5)
    chosen, signs = [], []
    for i in range(400):
        scores = np.zeros(3)
        for s, sign in zip(chosen, signs, strict=True):
            scores += sign * np.exp(-0.5 * np.sum((X[i] - X[s]) ** 2))
        others = [r for r in range(3) if r != y[i]]
        worst = max(others, key=lambda r: scores[r])
        if scores[y[i]] <= scores[worst]:
            chosen.append(i)
            signs.append(np.eye(3)[y[i]] - np.eye(3)[worst])
    assert kind.ready(X, y).support.tolist() == X[chosen].tolist()


class Ratios:
    """A kind of candidate of one's own."""

    def propose(self, X, used):
        d = X.shape[1]
        return [(i, j) for i in range(d) for j in range(d) if i != j]

    def evaluate(self, X, features):
        return np.stack([X[:, i] / (1 + np.abs(X[:, j])) for i, j in features], axis=1)


class NamedRatios(Ratios):
    def name(self, feature, names):
        return f"{names[feature[0]]} / {names[feature[1]]}"


def test_features_of_ones_own():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = gs.BoostingClassifier(alpha=0.02, features=NamedRatios()).fit(frame, y)
    assert model.stopped_by_ == "no candidate"
    assert " / " in model.nonzero_features_[0]
    plain = gs.BoostingClassifier(alpha=0.02, features=Ratios()).fit(X, y)
    assert plain.features_ == model.features_
    assert plain.nonzero_features_[0].startswith("(")
    H = Ratios().evaluate(X, list(Ratios().propose(X, [])))
    columns = gs.BoostingClassifier(alpha=0.02).fit(H, y)
    assert columns.history_[-1].objective == pytest.approx(model.history_[-1].objective, rel=1e-6)
    cyclic = gs.BoostingClassifier(alpha=0.02, features=Ratios(), order="cyclic", max_rounds=5000).fit(X, y)
    assert cyclic.history_[-1].objective == pytest.approx(model.history_[-1].objective, rel=1e-5)


class Broken(Ratios):
    def __init__(self, answer):
        self.answer = answer

    def evaluate(self, X, features):
        return self.answer(X, features)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda X, f: np.ones((len(X), 1)), "one column a feature"),
        (lambda X, f: np.full((len(X), len(f)), np.nan), "finite"),
        (lambda X, f: sp.csr_array(np.full((len(X), len(f)), np.inf)), "finite"),
        (lambda X, f: np.ones(len(X)), "matrix"),
        (lambda X, f: np.full((len(X), len(f)), "a"), "real numbers"),
    ],
)
def test_wrong_features_of_ones_own(answer, words):
    with pytest.raises((ValueError, TypeError), match=words):
        gs.BoostingClassifier(features=Broken(answer)).fit(*data())


# What a user sees


def test_history_follows_validation_data():
    X, y = data("multiclass", n=200)
    model = gs.BoostingClassifier(alpha=0.01, batch=2).fit(X[:150], y[:150], validation=(X[150:], y[150:]))
    last = model.history_[-1]
    assert last.validation_score == model.score(X[150:], y[150:])
    z = model.decision_function(X[150:])
    assert last.validation_loss == pytest.approx(gs.Multinomial().value(z, y[150:]).mean())
    assert np.isnan(gs.BoostingClassifier().fit(X, y).history_[-1].validation_loss)
    for kind in ("binary", "multilabel", "regression", "outputs"):
        X, y = data(kind, n=100)
        model = estimator(kind)(alpha=0.05).fit(X[:70], y[:70], validation=(X[70:], y[70:]))
        assert model.history_[-1].validation_score == pytest.approx(model.score(X[70:], y[70:]))
        assert model.history_[-1].validation_loss > 0
    assert pd.DataFrame(model.history_).shape[1] == 8


def test_verbose_prints_a_line_a_round(capsys):
    X, y = data()
    model = gs.BoostingClassifier(alpha=0.02, batch=2, verbose=1).fit(X, y, validation=(X, y))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(model.history_)
    assert lines[1].startswith("round 1: objective 0.")
    assert "validation loss" in lines[1]


def test_an_interrupt_leaves_a_usable_model():
    class Interrupting(Ratios):
        calls = 0

        def propose(self, X, used):
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt
            return super().propose(X, used)

    X, y = data()
    with pytest.warns(UserWarning, match="Interrupted"):
        model = gs.BoostingClassifier(alpha=0.01, features=Interrupting(), batch=2).fit(X, y)
    assert model.stopped_by_ == "interrupted"
    assert len(model.history_) == 3
    two = gs.BoostingClassifier(alpha=0.01, features=Ratios(), batch=2, max_rounds=2).fit(X, y)
    assert (model.decision_function(X) == two.decision_function(X)).all()


@pytest.mark.parametrize("features", ["columns", "products", "stumps", "kernel"])
def test_pickles_predict_the_same(features):
    X, y = data("multiclass")
    model = gs.BoostingClassifier(alpha=0.02, features=features).fit(X, y)
    other = pickle.loads(pickle.dumps(model))
    assert (other.predict_proba(X) == model.predict_proba(X)).all()
    assert other.history_ == model.history_ or np.isnan(model.history_[0].score)
    assert len(pickle.dumps(model)) < 60_000  # the training data is not in it


def test_what_it_predicts():
    for kind in ("binary", "multiclass", "multilabel"):
        X, y = data(kind, n=200)
        model = gs.BoostingClassifier(alpha=0.01).fit(X, y)
        assert model.score(X, y) > 0.5
        P = model.predict_proba(X)
        if kind == "multilabel":
            assert ((P > 0.5) == model.predict(X)).all()
        else:
            np.testing.assert_allclose(P.sum(axis=1), 1)
            assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()
            np.testing.assert_allclose(model.predict_log_proba(X), np.log(P))
    X, y = data("multiclass")
    one_vs_rest = gs.BoostingClassifier(alpha=0.01, loss="exponential").fit(X, y)
    assert one_vs_rest.predict_proba(X).shape == (len(y), 3)
    hinge = gs.BoostingClassifier(alpha=0.01, loss="squared_hinge", bound="grad").fit(X, y)
    assert not hasattr(hinge, "predict_proba")


def test_empty_columns_and_constant_ones():
    X, y = data()
    X = np.hstack([X, np.zeros((len(y), 2)), np.ones((len(y), 1)), np.full((len(y), 1), 1e-320)])
    for order in ORDERS:
        for form in (X, sp.csc_array(X)):
            model = gs.BoostingClassifier(alpha=0.02, order=order, max_rounds=200).fit(form, y)
            assert not {8, 9, 11} & set(model.features_)
            assert np.isfinite(model.weights_).all()


# What is refused


REFUSED = [
    ({"alpha": -1}, "alpha must be"),
    ({"bound": "newton"}, "bound must be 'ada' or 'grad'; 'newton' was given"),
    ({"penalty": "group_l2"}, "bound='ada' has rules for L1, GroupLInf.*GroupL2 was given.*'grad' has rules for"),
    ({"penalty": "l2_squared"}, "bound='ada' has rules"),
    ({"penalty": "l2", "order": "parallel"}, "bound='ada' has rules"),
    ({"penalty": "l2", "bound": "grad"}, "order='parallel'.*GroupL2"),
    ({"penalty": "linf"}, "order='parallel'.*GroupLInf"),
    ({"penalty": "simplex", "bound": "grad"}, "bound='grad' has rules"),
    ({"penalty": "group_l3"}, "There is no penalty 'group_l3'"),
    ({"penalty": gs.GroupL2(groups=[[0, 1], [2, 3, 4, 5, 6, 7]]), "bound": "grad"}, "groups=None"),
    ({"penalty": gs.L1(weights=[1, 2])}, "one a column of X.*2 weights and 8 columns"),
    ({"penalty": gs.L1(weights=[1, 2]), "features": "stumps"}, "made as needed"),
    ({"loss": "hinge"}, "bound='ada' holds for Exponential, LogEpsilonInsensitive, Logistic, Multinomial; Hinge"),
    ({"loss": "exponential", "bound": "grad"}, "bound='grad' holds for"),
    ({"loss": "squared"}, "classification loss"),
    ({"order": "backwards"}, "order must be one of 'corrective'"),
    ({"order": "cyclic", "features": "products"}, "'corrective' or 'greedy'"),
    ({"order": "cyclic", "features": "stumps"}, "'corrective' or 'greedy'"),
    ({"batch": 0}, "batch must be a whole number"),
    ({"max_rounds": 1.5}, "max_rounds must be a whole number"),
    ({"tol": -1}, "tol must be"),
    ({"features": "polynomials"}, "There is no kind of feature 'polynomials'"),
    ({"features": 3}, "evaluate"),
    ({"features": gs.L1}, "object, not a class"),
    ({"features": gs.KernelFeatures(support=[[1.0]])}, "8 columns of X"),
    ({"features": gs.ProductFeatures(scale=[1.0])}, "one number a column"),
    ({"n_jobs": 0}, "n_jobs must be"),
]


@pytest.mark.parametrize(("settings", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_does_not_fit_is_refused_in_words_and_leaves_no_trace(settings, words):
    X, y = data()
    model = gs.BoostingClassifier(alpha=0.02).fit(X, y)
    before = model.decision_function(X)
    model.set_params(**settings)
    with pytest.raises((ValueError, TypeError), match=words):
        model.fit(X, y)
    assert (model.decision_function(X) == before).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gs.KernelFeatures(gamma=-1), "gamma must be"),
        (lambda: gs.KernelFeatures(gamma="big"), "gamma must be"),
        (lambda: gs.KernelFeatures(max_support=0), "max_support must be"),
        (lambda: gs.KernelFeatures(support=[1.0]), "support must be a matrix"),
        (lambda: gs.ProductFeatures(max_degree=0), "max_degree must be"),
        (lambda: gs.ProductFeatures(scale=[0.0]), "above 0"),
        (lambda: gs.StumpFeatures(max_cuts=0), "max_cuts must be"),
        (lambda: gs.SmoothL1().prox([1.0]), "no prox"),
    ],
)
def test_settings_are_checked(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_bad_data_is_refused():
    X, y = data()
    model = gs.BoostingClassifier()
    with pytest.raises(TypeError, match="dense data is required"):
        gs.BoostingClassifier(features="stumps").fit(sp.csr_array(X), y)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="negative"):
        model.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="one entry a row"):
        model.fit(X, y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="All sample weights are zero"):
        model.fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(TypeError, match="pair"):
        model.fit(X, y, validation=X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="not one of the classes"):
        model.fit(X, y, validation=(X, np.full(len(y), "eggs")))
    assert not hasattr(model, "n_features_in_")


# Coverage


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


def test_no_warnings_on_plain_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, y = data()
        gs.BoostingClassifier().fit(X, y).predict(X)
