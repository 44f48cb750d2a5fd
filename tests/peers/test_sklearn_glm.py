"""What scikit-learn tests of its generalized linear models, Huber's regressor and its losses, of ours.

The files are linear_model/_glm/tests/test_glm.py, linear_model/tests/test_huber.py and _loss/tests/test_loss.py.
"""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp
from sklearn.datasets import make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, PoissonRegressor, Ridge, TweedieRegressor
from sklearn.metrics import d2_tweedie_score

import gossamer as gs
from peers.ledger import Ledger

glm = Ledger(
    "sklearn/linear_model/_glm/tests/test_glm.py",
    {
        "It is about factors of a Hessian, or about arrays on other devices.": """
            test_linalg_warning_with_newton_solver test_newton_solver_verbosity
            test_poisson_regressor_array_api_compliance test_poisson_regressor_array_api_warm_start""",
        "The link of a loss is fixed: Tweedie has the logarithm.": "test_tweedie_link_argument test_tweedie_link_auto",
        "The loss decides on the range of targets when it sees them; no tag of the estimator does.": "test_tags",
        "Among many least-squares solutions ours is one, not the shortest; predictions agree.": """
            test_glm_regression_unpenalized_hstacked_X test_glm_regression_unpenalized_vstacked_X""",
    },
    since="1.9",
)
huber = Ledger(
    "sklearn/linear_model/tests/test_huber.py",
    {
        "Their regressor estimates a scale together with the weights; δ is a setting of our loss.": """
            test_huber_scaling_invariant""",
        "An iteration of ours counts differently, and the last one is said; see the tests of max_iter.": """
            test_huber_max_iter""",
    },
    since="1.9",
)
losses = Ledger(
    "sklearn/_loss/tests/test_loss.py",
    {
        "It is about types, buffers and classes inside of their compiled losses, or about other devices.": """
            test_loss_dtype test_loss_same_as_C_functions test_graceful_squeezing test_init_gradient_and_hessians
            test_init_gradient_and_hessian_raises test_multinomial_cy_gradient test_loss_array_api test_log1pexp
            test_cy_loss_classes_module""",
        "Predictions come from scores by the link, so their range needs no check.": "test_loss_boundary_y_pred",
        "Weights of rows belong to the objective, not to the loss of one row.": "test_sample_weight_multiplies",
        "The loss and its slope are computed by one function each, for every caller.": """
            test_loss_gradients_are_the_same""",
        "Tweedie has the logarithm as its link, and no other.": "test_tweedie_log_identity_consistency",
    },
    since="1.9",
)

# Their settings → ours: the same strengths, mean half deviance + ½α‖w‖². HalfPoissonLoss, HalfGammaLoss and
# HalfTweedieLoss are ours up to what does not depend on z; y is ±1 where theirs is 0 and 1.
LOG_LINK = [gs.Poisson(), gs.Gamma(), gs.Tweedie(1.5)]


def fit(loss, alpha, X, y, weight=None, penalty="l2_squared", **rest):
    return gs.BatchRegressor(loss, penalty, alpha, **{"tol": 1e-13, "max_iter": 5000} | rest).fit(X, y, weight)


@pytest.mark.parametrize("loss", LOG_LINK, ids=str)
@pytest.mark.parametrize("intercept", [True, False])
@glm.ports("test_glm_log_regression", "test_glm_regression_unpenalized")
def test_an_exact_log_line_is_found(loss, intercept):
    X = np.array([[0, 1, 2, 3, 4], [1, 1, 1, 1, 1.0]]).T
    y = np.exp(X @ [0.2, -0.1])
    model = fit(loss, 0.0, X[:, :1] if intercept else X, y, fit_intercept=intercept)
    found = np.append(model.coef_, model.intercept_) if intercept else model.coef_
    np.testing.assert_allclose(found, [0.2, -0.1], atol=1e-5)


@pytest.mark.parametrize("loss", LOG_LINK, ids=str)
@pytest.mark.parametrize("intercept", [True, False])
@glm.ports("test_glm_regression", "test_glm_regression_hstacked_X", "test_glm_regression_vstacked_X")
def test_the_optimum_is_theirs_and_stays_for_stacked_data(loss, intercept):
    random = np.random.RandomState(0)
    X = random.randn(40, 4)
    y = np.exp(0.3 * X[:, 0] + 0.3 * random.randn(40))
    power = {"Poisson": 1, "Gamma": 2, "Tweedie": 1.5}[loss.label]
    theirs = TweedieRegressor(power=power, alpha=0.1, link="log", fit_intercept=intercept, tol=1e-10, max_iter=5000)
    theirs.fit(X, y)
    model = fit(loss, 0.1, X, y, fit_intercept=intercept)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-5)
    # every column twice at half its size shares the weight; every row twice changes nothing
    wide = fit(loss, 0.1 / 2, 0.5 * np.hstack([X, X]), y, fit_intercept=intercept)
    np.testing.assert_allclose(wide.coef_, np.tile(model.coef_, 2), atol=1e-5)
    tall = fit(loss, 0.1, np.vstack([X, X]), np.append(y, y), fit_intercept=intercept)
    np.testing.assert_allclose(tall.coef_, model.coef_, atol=1e-5)


@glm.ports("test_sample_weights_validation")
def test_weights_are_checked():
    assert fit("squared", 1.0, [[1.0]], [1.0], 1).coef_.shape == (1,)
    for wrong in ([[0.0]], [1.0, 0.0], [-1.0], [np.nan], 0.0):
        with pytest.raises(ValueError, match=r"sample_weight|sample weights"):
            fit("squared", 1.0, [[1.0]], [1.0], wrong)


@pytest.mark.parametrize(("loss", "y"), [(gs.Poisson(), -1.0), (gs.Gamma(), 0.0), (gs.Tweedie(1.5), -1.0)], ids=str)
@glm.ports("test_glm_wrong_y_range")
@losses.ports("test_loss_boundary_y_true", "test_loss_boundary", "test_loss_init_parameter_validation")
def test_targets_out_of_range_are_refused(loss, y):
    for kind in (gs.BatchRegressor, gs.OnlineRegressor):
        with pytest.raises(ValueError, match=loss.label):
            kind(loss).fit([[1.0], [1.0]], [y, 2.0])
    for wrong in (lambda: gs.Quantile(0.0), lambda: gs.Quantile(1.0), lambda: gs.Huber(0.0), lambda: gs.Huber(np.inf)):
        with pytest.raises(ValueError, match=r"q|delta"):
            wrong()
    for power in (1.0, 2.0, 0.0, np.nan):  # between 1 and 2; Poisson and Gamma are the ends
        with pytest.raises(ValueError, match="power"):
            gs.Tweedie(power)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shape", [(100, 10), (10, 30)])
@glm.ports("test_glm_identity_regression", "test_normal_ridge_comparison")
def test_the_identity_link_is_ridge(shape, intercept, weighted):
    X, y = make_regression(*shape, n_informative=8, noise=0.5, random_state=42)
    weight = np.random.RandomState(0).rand(len(y)) if weighted else None
    total = len(y) if weight is None else weight.sum()
    ridge = Ridge(total, fit_intercept=intercept, solver="svd" if shape[0] > shape[1] else "auto").fit(X, y, weight)
    model = fit("squared", 1.0, X, y, weight, fit_intercept=intercept)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=1e-3)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), atol=1e-2)


@pytest.mark.parametrize("loss", [gs.Squared(), *LOG_LINK, gs.Huber(0.3)], ids=str)
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@glm.ports("test_glm_sample_weight_consistency")
@huber.ports("test_huber_sample_weights")
def test_weights_are_repetitions(loss, alpha):
    random = np.random.RandomState(0)
    X, y = random.rand(10, 3), random.rand(10) + 0.1
    settings = {"solver": "fista"} if loss.label == "Huber" else {}

    def predicted(rows, weight=None):
        model = fit(loss, alpha, X[rows], y[rows], weight, **settings)
        return model.predict(X)

    every = np.arange(10)
    np.testing.assert_allclose(predicted(every, np.full(10, 2.0)), predicted(every), atol=1e-6)
    np.testing.assert_allclose(predicted(every, (every < 9).astype(float)), predicted(every[:9]), atol=1e-4)
    twice = np.append(every, every[:5])
    np.testing.assert_allclose(predicted(every, np.where(every < 5, 2.0, 1.0)), predicted(twice), atol=1e-4)


@pytest.mark.parametrize("intercept", [True, False])
@glm.ports("test_warm_start", "test_convergence_warning")
def test_one_iteration_is_not_enough_and_a_warm_start_goes_on(intercept):
    X, y = make_regression(100, 10, n_informative=8, noise=1.0, random_state=0)
    y = np.abs(y)
    best = fit("poisson", 1.0, X, y, fit_intercept=intercept, tol=1e-9)
    model = gs.BatchRegressor(
        "poisson", "l2_squared", 1.0, max_iter=1, tol=1e-9, warm_start=True, fit_intercept=intercept
    )
    with pytest.warns(ConvergenceWarning, match="Stopped after 1 iterations"):
        model.fit(X, y)
    assert model.objective_ > best.objective_
    model.set_params(max_iter=5000).fit(X, y)
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-3)


@pytest.mark.parametrize("solver", ["coordinate", "sparsa"])
@glm.ports("test_poisson_glmnet")
def test_poisson_against_numbers_of_glmnet(solver):
    """The numbers are what glmnet prints for s = 1 and alpha = 0, as scikit-learn's test records them."""
    X = np.array([[-2, -1, 1, 2], [0, 0, 1, 1]]).T
    model = fit("poisson", 1.0, X, [0, 1, 1, 2], solver=solver)
    np.testing.assert_allclose(model.intercept_, -0.12889386979, rtol=1e-4)
    np.testing.assert_allclose(model.coef_, [0.29019207995, 0.03741173122], rtol=1e-3)


@glm.ports("test_tweedie_score")
def test_a_better_fit_explains_more_deviance():
    X, y = make_regression(60, 4, noise=1.0, random_state=0)
    y = np.exp(y / y.std() / 2)
    for loss, power in [(gs.Poisson(), 1), (gs.Tweedie(1.5), 1.5), (gs.Gamma(), 2)]:
        ours = fit(loss, 0.01, X, y).predict(X)
        theirs = TweedieRegressor(power=power, alpha=0.01, link="log", tol=1e-9, max_iter=5000).fit(X, y).predict(X)
        scores = [d2_tweedie_score(y, prediction, power=power) for prediction in (ours, theirs)]
        assert scores[0] == pytest.approx(scores[1], abs=1e-6)
        assert scores[0] > 0.8


def outliers(rows=50, columns=5):
    """A line with a few rows whose features are noise."""
    random = np.random.RandomState(0)
    X, y = make_regression(rows, columns, noise=0.05, random_state=0)
    wrong = random.randint(0, rows, rows // 10)
    X[wrong] = 2 * random.normal(size=(len(wrong), columns))
    return X, y, np.isin(np.arange(rows), wrong)


@huber.ports("test_huber_equals_lr_for_high_epsilon", "test_huber_gradient")
def test_a_wide_huber_is_least_squares():
    X, y, _ = outliers()
    model = fit(gs.Huber(1e4), 0.0, X, y, solver="fista")
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, atol=1e-3)
    z = np.linspace(-3, 3, 61) + 0.01
    step = (gs.Huber(1.35).value(z + 1e-6, 0.0) - gs.Huber(1.35).value(z - 1e-6, 0.0)) / 2e-6
    np.testing.assert_allclose(gs.Huber(1.35).slope(z, 0.0), step, atol=1e-8)


@huber.ports("test_huber_sparse", "test_huber_warm_start", "test_huber_bool")
def test_huber_on_any_data():
    X, y, _ = outliers()
    settings = {"solver": "fista", "tol": 1e-9}
    dense, sparse = (fit(gs.Huber(1.35), 0.1, A, y, **settings) for A in (X, sp.csr_array(X)))
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-3)
    dense.set_params(warm_start=True).fit(X, y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-3)
    assert fit(gs.Huber(1.35), 0.1, X > 0, y, **settings).coef_.shape == (5,)


@huber.ports("test_huber_better_r2_score", "test_huber_and_sgd_same_results")
def test_huber_looks_away_from_outliers():
    X, y, wrong = outliers()
    robust, ridge = fit(gs.Huber(1.35), 1e-4, X, y, solver="fista"), Ridge(0.01).fit(X, y)
    assert robust.score(X[~wrong], y[~wrong]) > ridge.score(X[~wrong], y[~wrong])
    assert robust.score(X[wrong], y[wrong]) < ridge.score(X[wrong], y[wrong])
    # online and in batch the optimum is one
    scaled, noisy = X[:, :2], X[:, 0] - 0.5 * X[:, 1]
    noisy = noisy + 5 * wrong
    batch = fit(gs.Huber(1.35), 0.0, scaled, noisy, fit_intercept=False, solver="fista")
    online = gs.OnlineRegressor(gs.Huber(1.35), "none", 0.0, fit_intercept=False, max_passes=300, random_state=0)
    np.testing.assert_allclose(online.fit(scaled, noisy).coef_, batch.coef_, atol=0.1)


VALUES = [
    (gs.Squared(), 1.0, 5.0, 8, 4),
    (gs.EpsilonInsensitive(0.0), 1.0, 5.0, 4, 1),
    (gs.Quantile(0.5), 1.0, 5.0, 2, 0.5),
    (gs.Quantile(0.25), 1.0, 5.0, 3, 0.75),
    (gs.Quantile(0.25), 5.0, 1.0, 1, -0.25),
    (gs.Huber(3.0), 1.0, 5.0, 7.5, 3),
    (gs.Huber(3.0), 1.0, 3.0, 2, 2),
    (gs.Poisson(), 2.0, np.log(4), 4 - 2 * np.log(4), 2),
    (gs.Gamma(), 2.0, np.log(4), np.log(4) + 0.5, 0.5),
    (gs.Logistic(), -1, -1e20, 0, 0),
    (gs.Logistic(), 1, -1e20, 1e20, -1),
    (gs.Logistic(), -1, -37.0, 8.533047625744065e-17, 8.533047625744065e-17),
    (gs.Logistic(), 1, 37.0, 8.533047625744066e-17, -8.533047625744066e-17),
    (gs.Logistic(), 1, 232.8, np.exp(-232.8), -np.exp(-232.8)),
    (gs.Logistic(), -1, 1e3, 1e3, 1),
    (gs.Logistic(), 1, 1e3, 0, 0),
]


@pytest.mark.parametrize(("loss", "y", "z", "value", "slope"), VALUES, ids=str)
@losses.ports("test_loss_on_specific_values", "test_binomial_vs_alternative_formulation")
def test_losses_at_single_points(loss, y, z, value, slope):
    assert loss.value(z, y) == pytest.approx(value, rel=1e-14, abs=1e-300)
    assert loss.slope(z, y) == pytest.approx(slope, rel=1e-14, abs=1e-300)


@losses.ports("test_binomial_and_multinomial_loss", "test_predict_proba")
def test_two_classes_are_one_margin():
    random = np.random.RandomState(0)
    z, classes = random.normal(size=20), random.randint(0, 2, 20)
    both = np.column_stack([-z / 2, z / 2])
    np.testing.assert_allclose(gs.Logistic().value(z, 2 * classes - 1), gs.Multinomial().value(both, classes))
    np.testing.assert_allclose(gs.Logistic().link(z), gs.Multinomial().link(both)[:, 1])
    for scores in ([0.2, 0.5, 0.3], [1e4, 0, 7e-7]):
        for k in range(3):
            expected = logsumexp(scores) - scores[k]
            assert gs.Multinomial().value(scores, k) == pytest.approx(expected, rel=1e-14)


ANY = [
    gs.Squared(),
    gs.Huber(0.7),
    gs.LogEpsilonInsensitive(0.1),
    *LOG_LINK,
    gs.Logistic(),
    gs.SquaredHinge(),
    gs.Exponential(),
]


@pytest.mark.parametrize("loss", ANY, ids=str)
@losses.ports("test_gradients_hessians_numerically", "test_derivatives", "test_loss_of_perfect_prediction")
@losses.ports("test_loss_pickle")
def test_slopes_by_differences_and_losses_in_a_file(loss):
    random = np.random.RandomState(0)
    z = random.normal(size=50)
    y = np.sign(random.normal(size=50)) if loss.kind == "binary" else np.abs(random.normal(size=50)) + 0.1
    difference = (loss.value(z + 1e-6, y) - loss.value(z - 1e-6, y)) / 2e-6
    np.testing.assert_allclose(loss.slope(z, y), difference, atol=1e-7, rtol=1e-7)
    assert pickle.loads(pickle.dumps(loss)) == loss
    if loss.kind == "regression":  # a perfect prediction has slope zero
        perfect = np.log(y) if loss in LOG_LINK else y
        np.testing.assert_allclose(loss.slope(perfect, y), 0, atol=1e-12)


CONSTANTS = {
    "squared": (gs.Squared(), np.mean),
    "median": (gs.Quantile(0.5), np.median),
    "absolute": (gs.EpsilonInsensitive(0.0), np.median),
    "poisson": (gs.Poisson(), lambda y: np.log(y.mean())),
    "gamma": (gs.Gamma(), lambda y: np.log(y.mean())),
    "tweedie": (gs.Tweedie(1.5), lambda y: np.log(y.mean())),
}


@pytest.mark.parametrize("name", CONSTANTS)
@losses.ports(
    "test_loss_intercept_only", "test_specific_fit_intercept_only", "test_multinomial_loss_fit_intercept_only"
)
def test_the_best_constant(name):
    loss, functional = CONSTANTS[name]
    y = np.random.RandomState(0).exponential(size=101)
    model = gs.BatchRegressor(loss, "l1", 1e6).fit(np.random.RandomState(1).randn(101, 1), y)
    np.testing.assert_allclose(model.intercept_, functional(y), rtol=1e-5)
    classes = np.random.RandomState(0).randint(0, 4, 100)
    shares = gs.BatchClassifier("logistic", "l1", 1e6).fit(np.eye(100), classes)
    logs = np.log(np.bincount(classes) / 100)
    np.testing.assert_allclose(shares.intercept_ - shares.intercept_.mean(), logs - logs.mean(), atol=1e-5)


def test_poisson_is_theirs_for_sparse_rows():
    random = np.random.RandomState(0)
    X = random.randn(60, 6) * (random.uniform(size=(60, 6)) > 0.5)
    y = random.poisson(np.exp(0.5 * X[:, 0]))
    for alpha, intercept in itertools.product((0.01, 1.0), (True, False)):
        theirs = PoissonRegressor(alpha=alpha, fit_intercept=intercept, tol=1e-10, max_iter=5000).fit(X, y)
        model = fit("poisson", alpha, sp.csr_array(X), y, fit_intercept=intercept)
        np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize("ledger", [glm, huber, losses], ids=lambda ledger: ledger.upstream)
def test_the_ledger_is_complete(ledger):
    ledger.check()
