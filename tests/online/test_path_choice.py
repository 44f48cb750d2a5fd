"""The loss of every strength, the grid, the choice among them, and one strength of the path."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes

import gossamer as gs
from gossamer import _core
from gossamer.online import strategies
from gossamer.online.path import LearnedPath
from gossamer.sources.rows import Rows, csr_arrays
from online.paths import ALPHAS, METHODS, X, assert_same_weights, path_of, rounding_of
from online.problems import LOGISTIC, MULTINOMIAL, PROBLEMS

# Loss and its standard error


def test_progressive_loss_and_its_standard_error():
    """Predict, then learn; the spread over the square root of the (effective) number of rows."""
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    stream = gs.OnlineClassifierCV(ALPHAS, method=gs.Fobos(0.5))
    rows = []
    for i in range(len(X)):
        if i == 0:
            z = np.zeros(len(ALPHAS))
        else:
            z = np.array([stream.at(a).decision_function(X[i : i + 1])[0] for a in ALPHAS])
        rows.append(np.log1p(np.exp(-LOGISTIC.y[i] * z)))
        stream.partial_fit(X[i : i + 1], LOGISTIC.y[i : i + 1], classes=[-1, 1], sample_weight=weight[i : i + 1])
    mean = np.average(rows, axis=0, weights=weight)
    spread = np.average(np.square(rows - mean), axis=0, weights=weight)
    assert_allclose(stream.path_loss_, mean, rtol=1e-9)
    assert_allclose(stream.path_loss_se_, np.sqrt(spread * np.sum(weight**2)) / weight.sum(), rtol=1e-6)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_standard_errors_of_differences(n_jobs):
    """Losses of two strengths are of the same rows: the spread of their differences."""
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    alphas = np.geomspace(0.3, 1e-3, 11)  # more than learn on one thread
    path = gs.OnlineClassifierCV(alphas, method="adagrad", shuffle=False, n_jobs=n_jobs)
    path.set_params(method=gs.AdaGrad(0.4)).fit(X, LOGISTIC.y, sample_weight=weight)
    losses = []
    for alpha in alphas:
        one = gs.OnlineClassifier(alpha=alpha, method=gs.AdaGrad(0.4))
        seen = [0.0]
        for i in range(len(X)):
            one.partial_fit(X[i : i + 1], LOGISTIC.y[i : i + 1], classes=[-1, 1], sample_weight=weight[i : i + 1])
            seen.append(one.progressive_loss_ * weight[: i + 1].sum())
        losses.append(np.diff(seen) / weight)
    found = LearnedPath(path._trainer).differences()
    for i, one in enumerate(losses):
        for j, other in enumerate(losses):
            mean = np.average(one - other, weights=weight)
            spread = np.average((one - other - mean) ** 2, weights=weight)
            expected = np.sqrt(spread * np.sum(weight**2)) / weight.sum()
            assert_allclose(found[i, j], expected, rtol=1e-4, atol=1e-8)


def test_only_the_first_pass_counts():
    once = gs.OnlineClassifierCV(5, method=gs.Fobos(0.5), shuffle=False).fit(X, LOGISTIC.y)
    often = gs.OnlineClassifierCV(once.alphas_, method=gs.Fobos(0.5), shuffle=False, max_passes=4).fit(X, LOGISTIC.y)
    assert_array_equal(once.path_loss_, often.path_loss_)
    assert_array_equal(once.path_loss_se_, often.path_loss_se_)
    assert np.any(once.coef_ != often.coef_)
    more = often.partial_fit(X[:5], LOGISTIC.y[:5])
    assert np.any(more.path_loss_ != once.path_loss_)


# The grid


def test_the_grid_starts_where_weights_begin():
    """Batch optimality at zero: no weight at the top of the grid, some weight just below it."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:256] * 10, y[:256] / 50
    method = gs.AdaGrad()
    top = gs.OnlineRegressorCV(4, method=method, shuffle=False).fit(X, y).alphas_[0]
    gradient = (X - X.mean(axis=0)).T @ (y - y.mean()) / len(y)
    assert_allclose(top, np.abs(gradient).max(), rtol=1e-9)
    found = gs.OnlineRegressorCV(4, method=method).fit(X, y).alphas_
    assert_allclose(found / top, np.geomspace(1, strategies.SPAN, 4), rtol=1.0)


def test_the_grid_ends_where_it_is_told():
    for settings in ({}, {"method": "adagrad"}):
        path = gs.OnlineClassifierCV(4, alpha_min_ratio=1e-3, **settings).fit(X, LOGISTIC.y)
        assert_allclose(path.alphas_ / path.alphas_[0], np.geomspace(1, 1e-3, 4))
    data, y = load_diabetes(return_X_y=True)
    path = gs.OnlineRegressorCV(3, alpha_min_ratio=0.12, select="best", random_state=0).fit(data, y)
    with pytest.warns(UserWarning, match=r"the loss still falls: a weaker one may be better: alpha_min_ratio=0\.0012"):
        assert path.alpha_ > 0


def test_the_grid_of_the_rule_without_a_step():
    """It is known beforehand for labels; for numbers it is in units of the slopes of the constant model."""
    grid = np.geomspace(1, strategies.FREE_SPAN, 4)
    path = gs.OnlineClassifierCV(4).partial_fit(X[:1], LOGISTIC.y[:1], classes=[-1, 1])
    assert_allclose(path.alphas_, 0.5 * grid)
    data, y = load_diabetes(return_X_y=True)
    path = gs.OnlineRegressorCV(4, shuffle=False).fit(data, y)
    before = np.array([y[:i].mean() if i else y[0] for i in range(len(y))])  # the constant model, as it was then
    assert_allclose(path.alphas_, np.sqrt(np.mean((y - before) ** 2)) * grid, rtol=1e-6)
    assert path.path_nonzeros_[0] == 0 < path.path_nonzeros_[1]


@pytest.mark.parametrize(
    "penalty", ["l1", "elastic_net", "l2_squared", "berhu", "group_l2", "group_linf", gs.NonNegativeL1()]
)
def test_a_grid_for_every_penalty(penalty):
    path = gs.OnlineClassifierCV(6, penalty=penalty, shuffle=False).fit(X, MULTINOMIAL.y)
    assert len(path.alphas_) == 6
    assert np.all(np.diff(path.alphas_) < 0)
    assert 1e-4 < path.alphas_[0] < 1e4


def test_before_there_are_rows_enough():
    path = gs.OnlineClassifierCV(6, method="adagrad").partial_fit(X[:3], LOGISTIC.y[:3], classes=[-1, 1])
    assert path.alphas_[0] == 1.0
    assert np.isfinite(path.predict_proba(X)).all()
    path.partial_fit(X[3:30], LOGISTIC.y[3:30])
    assert path._trainer.decided == 16


def test_rows_of_nothing():
    path = gs.OnlineRegressorCV(3, method="adagrad").fit(np.zeros((40, 2)), np.arange(40.0))
    assert_array_equal(path.path_nonzeros_, [0, 0, 0])
    assert path.alphas_[0] == 1.0
    assert_array_equal(gs.OnlineRegressorCV(3).fit(np.zeros((40, 2)), np.arange(40.0)).path_nonzeros_, [0, 0, 0])


def test_given_strengths_are_sorted_and_unique():
    path = gs.OnlineClassifierCV([0.01, 0.1, 0.01, 0.0]).fit(X, LOGISTIC.y)
    assert_array_equal(path.alphas_, [0.1, 0.01, 0.0])


# The choice


def test_the_best_is_the_lowest_loss():
    path = gs.OnlineClassifierCV(8, select="best", shuffle=False).fit(X, LOGISTIC.y)
    assert path.alpha_ == path.alphas_[np.argmin(path.path_loss_)]
    assert path.progressive_loss_ == path.path_loss_.min()
    assert_array_equal(path.nonzero_features_, np.flatnonzero(path.coef_[0]))


def few_of_many(n=500, d=40, seed=0):
    """Two of many features matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] - X[:, 1] + rng.normal(size=n) > 0, 1, 0)


def test_the_sparsest_is_within_one_standard_error():
    X, y = few_of_many()
    path = gs.OnlineClassifierCV(40, method="adagrad", random_state=0).fit(X, y)
    assert path.select == "sparsest"
    best = np.argmin(path.path_loss_)
    error = LearnedPath(path._trainer).differences()[best]
    near = np.flatnonzero(path.path_loss_ <= path.path_loss_[best] + error)
    chosen = int(np.flatnonzero(path.alphas_ == path.alpha_)[0])
    assert chosen in near
    assert path.path_nonzeros_[chosen] == path.path_nonzeros_[near].min() <= path.path_nonzeros_[best]
    assert (error < path.path_loss_se_[best])[near].all()  # losses of the same rows are alike


def test_a_budget_of_weights():
    X, y = few_of_many()
    settings = {"method": gs.Fobos(0.5), "select": "best", "random_state": 0}  # it keeps weights: one of the path
    alphas = np.geomspace(1.0, 1e-4, 12)
    free = gs.OnlineClassifierCV(alphas, **settings).fit(X, y)
    for most in (2, 5, 40):
        path = gs.OnlineClassifierCV(alphas, max_nonzeros=most, **settings).fit(X, y)
        allowed = free.path_nonzeros_ <= most
        assert path.progressive_loss_ == free.path_loss_[allowed].min()
        assert np.count_nonzero(path.coef_) <= most


@pytest.mark.parametrize("method", ["step_free", "rda", "adagrad", "ftrl"])
def test_a_budget_between_two_strengths(method):
    """Sums of gradients are read at any strength: nearly all of the budget is used."""
    rng = np.random.default_rng(0)
    X = sp.random_array((2000, 400), density=0.1, rng=rng, format="csr")
    y = (X @ rng.normal(size=400) > 0).astype(int)
    free = gs.OnlineClassifierCV(6, method=method, select="best", random_state=0).fit(X, y)
    for most in (20, 60, 150):
        path = gs.OnlineClassifierCV(6, method=method, select="best", max_nonzeros=most, random_state=0).fit(X, y)
        assert 0.95 * most <= np.count_nonzero(path.coef_) <= most
        assert path.alpha_ not in path.alphas_
        assert_array_equal(path.path_loss_, free.path_loss_)
        one = path.at()
        assert one.alpha == path.alpha_
        assert_array_equal(one.coef_, path.coef_)
        assert_array_equal(path.at(path.alpha_).coef_, path.coef_)
    assert gs.OnlineClassifierCV(6, method=method, max_nonzeros=400, random_state=0).fit(X, y).alpha_ in free.alphas_


@pytest.mark.parametrize("budget", [50, 150, 300])
@pytest.mark.parametrize("method", ["auto", "adagrad"])
def test_a_budget_on_a_coarse_grid(method, budget):
    """Also where the weights that a weak strength has learned are many at the next strength of the grid."""
    rng = np.random.default_rng(1)
    data = sp.random_array((1500, 1200), density=0.03, rng=rng, format="csr")
    y = (data @ rng.normal(size=1200) > 0).astype(int)
    alphas = [0.1, 1e-3, 1e-6]
    path = gs.OnlineClassifierCV(alphas, method=method, select="best", max_nonzeros=budget).fit(data, y)
    assert 0.95 * budget <= np.count_nonzero(path.coef_) <= budget


def test_a_budget_that_none_meets():
    path = gs.OnlineClassifierCV([0.0, 1e-9], max_nonzeros=1).fit(X, LOGISTIC.y)
    with pytest.warns(UserWarning, match="No strength has at most max_nonzeros=1"):
        assert path.alpha_ in (0.0, 1e-9)


def test_diverging_strengths_are_not_chosen():
    path = gs.OnlineRegressorCV([10.0, 0.0], "squared", "l2_squared", gs.Fobos(gs.Constant(3.0)), shuffle=False)
    path.fit(np.full((500, 1), 2.0), np.ones(500))
    assert path.alpha_ == 10.0
    assert np.isfinite(path.coef_).all()


def test_strengths_that_overflow_are_not_chosen():
    X = np.where(np.arange(40)[:, None] % [2, 3] == 0, 1e60, -1e60)
    y = np.where(np.arange(40) % 5 == 0, 1.0, 0.0)
    path = gs.OnlineRegressorCV([1e150, 0.0], method=gs.Fobos(1.0), shuffle=False).fit(X, y)
    assert not np.isfinite(path.path_loss_[1])
    assert path.alpha_ == 1e150
    assert np.isfinite(path.coef_path_[1].toarray()).all()


@pytest.mark.parametrize("z", [0.0, 1e-300, 1e-9, 0.5, 3.0, 36.0, 700.0, 800.0, 1e8])
def test_the_logistic_loss_of_lanes_is_the_logistic_loss(z):
    """A weight of ±z, then one row more: its loss, and what it does to the weight."""
    for sign in (-1.0, 1.0):
        path = gs.OnlineRegressorCV([0.0], "squared", method=gs.Fobos(gs.Constant(1.0)), fit_intercept=False)
        learner = path.partial_fit([[1.0]], [sign * z])._trainer.learner
        state = learner.state()
        learner.restore({**state, "lane_losses": np.zeros(1)})
        row = Rows(*csr_arrays(sp.csr_array([[1.0]])), np.array([[1.0]]), None)
        row.teach(learner, np.ones(1), _core.loss_call(gs.Logistic()._core()))
        loss, slope = gs.Logistic().value([sign * z], [1.0])[0], gs.Logistic().slope([sign * z], [1.0])[0]
        assert_allclose(learner.losses[0], loss, rtol=1e-15, atol=1e-300)
        W, _ = LearnedPath(path._trainer).read(0)
        assert_allclose(W[0, 0], sign * z - slope, rtol=1e-15)


# One strength of the path


@pytest.mark.parametrize("penalty", ["l1", "elastic_net", "berhu", "group_l2"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("problem", [LOGISTIC, MULTINOMIAL, PROBLEMS["squared"]], ids=lambda p: p.name)
def test_one_strength_goes_on_learning(problem, method, penalty):
    path = path_of(problem.estimator)(ALPHAS[1:3], problem.loss, penalty, METHODS[method], shuffle=False)
    single = problem.estimator(problem.loss, penalty, ALPHAS[1], METHODS[method], select="sparsest")
    for model in (path, single):
        problem.teach(model, X, slice(0, 40))
    one = path.at(ALPHAS[1])
    problem.teach(one, X, slice(40, 60))
    problem.teach(single, X, slice(40, 60))
    assert type(one) is problem.estimator
    assert_same_weights(one.coef_, single.coef_, rounding_of(path))
    assert_allclose(one.progressive_loss_, single.progressive_loss_, rtol=max(rounding_of(path), 1e-9))
    before = path.coef_.copy()
    assert_array_equal(path.coef_, before)


def test_one_strength_goes_on_finding_its_step():
    path = gs.OnlineClassifierCV([0.01, 0.001], method="adagrad", shuffle=False)
    single = gs.OnlineClassifier(alpha=0.01, method="adagrad")
    for model in (path, single):
        LOGISTIC.teach(model, X, slice(0, 20))
    one = path.at(0.01)
    for model in (one, single):
        LOGISTIC.teach(model, X, slice(20, 60))
    assert one.step_ == single.step_
    assert_same_weights(one.coef_, single.coef_)


def test_one_strength_may_grow():
    one = gs.OnlineClassifierCV(ALPHAS, method=gs.AdaGrad(0.4)).fit(X, LOGISTIC.y).at(0.01)
    one.set_params(grow=True).partial_fit(np.ones((1, X.shape[1] + 2)), [1.0])
    assert one.coef_.shape == (1, X.shape[1] + 2)


def test_a_strength_that_is_not_there():
    path = gs.OnlineClassifierCV([0.1, 0.01]).fit(X, LOGISTIC.y)
    with pytest.raises(ValueError, match=r"alpha=0.02 is not on the path; the nearest is 0.01"):
        path.at(0.02)


@pytest.mark.parametrize("alphas", [0, 1_000_001, 10**400])
@pytest.mark.parametrize("name", ["OnlineRegressorCV", "BatchRegressorCV"])
def test_a_number_of_strengths_out_of_range(name, alphas):
    with pytest.raises(
        ValueError, match=r"alphas must be \d to 1,000,000 strengths, or a sequence of strengths; .{1,30} was"
    ):
        getattr(gs, name)(alphas=alphas).fit(np.eye(20), np.arange(20.0))
