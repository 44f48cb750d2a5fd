"""What skglm tests of its data fits, penalties and solvers (skglm/tests), of ours."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.linear_model import (
    GammaRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    MultiTaskLasso,
    PoissonRegressor,
    QuantileRegressor,
)
from sklearn.model_selection import GridSearchCV, KFold

import gossamer as gs
from peers.ledger import Ledger

ledger = Ledger(
    "skglm/tests",
    {
        "There is no estimator of a covariance matrix.": """
            test_covariance.test_glasso_equivalence_sklearn test_covariance.test_glasso_warm_start
            test_covariance.test_glasso_weights test_covariance.test_glasso_adaptive""",
        "There is no Cox loss: survival times are not among the targets.": """
            test_datafits.test_cox test_estimators.test_CoxEstimator test_estimators.test_CoxEstimator_sparse
            test_estimators.test_Cox_sk_like_estimator test_estimators.test_Cox_sk_like_estimator_sparse
            test_estimators.test_Cox_sk_compatibility test_estimators.test_equivalence_cox_SLOPE_cox_L1
            test_estimators.test_cox_SLOPE test_lbfgs_solver.test_L2_Cox""",
        "There is no sorted ℓ1 norm.": """
            test_penalties.test_slope_lasso test_penalties.test_slope test_estimators.test_SLOPE_printing""",
        "Penalties are convex, so there is no sum of logarithms.": "test_penalties.test_logsum_prox",
        "A problem is given by rows and targets, not by its Hessian or Gram matrix.": """
            test_datafits.test_HessianQuadratic""",
        "Docstrings of ours are checked by ruff and by tests/test_docs.py.": """
            test_docstring_parameters.test_function_docstring test_docstring_parameters.test_docstring""",
        "The checks of scikit-learn run in tests/batch/test_estimators.py.": "test_estimators.test_check_estimator",
        "How a solver chooses or speeds up its work inside is no setting of ours.": """
            test_group.test_ws_strategy test_group.test_anderson_acceleration""",
        "Norms and slices of sparse matrices are no functions of ours for users.": """
            test_sparse_ops.test_spectral_norm test_sparse_ops.test_slice_cols_sparse""",
    },
    since="0.5",
)
experimental = Ledger(
    "skglm/experimental/tests",
    {
        "There is no square-root lasso.": """
            test_sqrt_lasso.test_alpha_max test_sqrt_lasso.test_vs_statsmodels test_sqrt_lasso.test_prox_newton_cp
            test_sqrt_lasso.test_PDCD_WS test_sqrt_lasso.test_lasso_sqrt_lasso_equivalence""",
        "There is no smoothed quantile loss; Huber is the smooth loss of the median.": """
            test_quantile_huber.test_quantile_huber_matches_sklearn""",
        "Penalties are convex, so nothing is reweighted.": "test_reweighted.test_decreasing_loss",
    },
    since="0.5",
)
ports = ledger.ports

# Their settings → ours: the strength is α, of the penalty there and of the estimator here.
PENALTIES = [
    gs.L1(),
    gs.ElasticNet(0.5),
    gs.L1(np.arange(10.0)),
    gs.NonNegativeL1(),
    gs.Box(0, 0.3),
    gs.GroupL2(np.arange(10) // 3),
    gs.SparseGroupL2(0.5, np.arange(10) // 3),
]
SOLVERS = ["coordinate", "fista", "sparsa"]
layouts = pytest.mark.parametrize("as_x", [np.array, sp.csc_array], ids=["dense", "sparse"])


def data(rows=20, columns=10, targets=1, density=1.0, seed=0):
    random = np.random.RandomState(seed)
    X = random.randn(rows, columns)
    X[:, 1:] = 0.6 * X[:, :-1] + 0.8 * X[:, 1:]
    X = X * (random.uniform(size=X.shape) < density)
    Y = X @ (random.randn(columns, targets) * (np.arange(columns) % 2)[:, None]) + 0.3 * random.randn(rows, targets)
    return X, Y if targets > 1 else Y[:, 0]


def fit(kind, loss, penalty, alpha, X, y, weight=None, **rest):
    return kind(loss, penalty, alpha, **{"tol": 1e-12, "max_iter": 20_000} | rest).fit(X, y, weight)


def regression(loss, penalty, alpha, X, y, weight=None, **rest):
    return fit(gs.BatchRegressor, loss, penalty, alpha, X, y, weight, **rest)


def logistic(penalty, alpha, X, y, **rest):
    return fit(gs.BatchClassifier, "logistic", penalty, alpha, X, y, **rest)


def distance(penalty, W, G, alpha):
    """How far W is from a fixed point of the proximal gradient step, for a gradient G."""
    return np.abs(W - penalty.prox(W - 0.1 * G, 0.1 * alpha)).max()


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("solver", SOLVERS)
@ports("test_penalties.test_subdiff_diff")
def test_the_optimality_condition_holds(penalty, solver):
    X, y = data()
    model = regression("squared", penalty, 0.01, X, y, solver=solver, fit_intercept=False)
    assert distance(penalty, model.coef_, X.T @ (X @ model.coef_ - y) / 20, 0.01) < 1e-5


@pytest.mark.parametrize("penalty", [gs.GroupL2(), gs.GroupLInf(), gs.SparseGroupL2(0.5), gs.L2()], ids=str)
@ports("test_penalties.test_subdiff_diff_block")
def test_the_optimality_condition_holds_for_several_targets(penalty):
    X, Y = data(targets=4)
    W = regression("squared", penalty, 0.05, X, Y, fit_intercept=False).coef_.T
    assert distance(penalty, W, X.T @ (X @ W - Y) / 20, 0.05) < 1e-5


@pytest.mark.parametrize("intercept", [True, False])
@ports("test_penalties.test_nnls")
def test_non_negative_least_squares(intercept):
    X, y = data(30, 8)
    theirs = LinearRegression(positive=True, fit_intercept=intercept).fit(X, y)
    for penalty, alpha in [(gs.Box(0, np.inf), 1.0), (gs.NonNegativeL1(), 0.0)]:
        ours = regression("squared", penalty, alpha, X, y, fit_intercept=intercept, solver="sparsa")
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


@pytest.mark.parametrize("intercept", [True, False])
@ports("test_datafits.test_huber_datafit")
def test_huber_is_least_where_a_general_solver_finds_it(intercept):
    X, y = data()
    y[:3] += 10
    model = regression(gs.Huber(0.5), "none", 0.0, X, y, fit_intercept=intercept, solver="fista")

    def objective(v):
        r = X @ v[:10] + v[10] * intercept - y
        value = np.where(np.abs(r) <= 0.5, 0.5 * r**2, 0.5 * (np.abs(r) - 0.25)).mean()
        slope = np.clip(r, -0.5, 0.5) / len(y)
        return value, np.append(X.T @ slope, slope.sum() * intercept)

    best = minimize(objective, np.zeros(11), jac=True, method="BFGS", options={"gtol": 1e-10})
    assert model.objective_ <= best.fun + 1e-8
    np.testing.assert_allclose(model.coef_, best.x[:10], atol=1e-3)


@ports("test_datafits.test_log_datafit")
def test_slope_and_curvature_of_the_logistic_loss():
    z, y = 3 * np.random.RandomState(0).randn(20), np.sign(np.random.RandomState(1).randn(20))
    slope = gs.Logistic().slope(z, y)
    e = np.exp(-y * z)
    np.testing.assert_allclose(slope, -y * e / (1 + e))
    step = 1e-5
    curvature = (gs.Logistic().slope(z + step, y) - gs.Logistic().slope(z - step, y)) / (2 * step)
    np.testing.assert_allclose(curvature, e / (1 + e) ** 2, rtol=1e-7)
    np.testing.assert_allclose(curvature, -slope * (y + slope), rtol=1e-7)


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
@ports("test_datafits.test_poisson", "test_datafits.test_gamma")
def test_sparse_counts_and_sizes(loss):
    """The optimality condition: |∂F/∂w_j| ≤ α, with equality and the opposite sign where w_j ≠ 0."""
    X, y = data(30, 12)
    y, alpha = np.abs(y) + 0.1, 0.05
    model = regression(loss, "l1", alpha, X, y, fit_intercept=False)
    mean = np.exp(X @ model.coef_)
    G = X.T @ (mean - y if loss == "poisson" else 1 - y / mean) / 30
    used = model.coef_ != 0
    assert 0 < used.sum() < 12
    np.testing.assert_allclose(G[used], -alpha * np.sign(model.coef_[used]), atol=1e-6)
    assert np.abs(G[~used]).max() <= alpha + 1e-9


@pytest.mark.parametrize("intercept", [True, False])
@ports("test_datafits.test_sample_weights")
def test_weights_are_repetitions(intercept):
    X, y = data(20, 50)
    again = np.random.RandomState(0).choice(20, 60)
    weight = np.bincount(again, minlength=20)
    ours = [
        regression("squared", "l1", 0.1, A, b, w, fit_intercept=intercept)
        for A, b, w in [(X, y, weight), (X[again], y[again], None)]
    ]
    assert ours[0].objective_ == pytest.approx(ours[1].objective_, rel=1e-9)
    np.testing.assert_allclose(ours[0].coef_, ours[1].coef_, atol=1e-5)


@layouts
@pytest.mark.parametrize("intercept", [True, False])
@ports("test_estimators.test_estimator", "test_gram_solver.test_vs_lasso_sklearn", "test_fista.test_fista_solver")
def test_all_solvers_agree_with_scikit_learn(as_x, intercept):
    X, y = data(30, 40, density=0.6)
    theirs = Lasso(0.05, fit_intercept=intercept, tol=1e-12, max_iter=50_000).fit(X, y)
    for solver in SOLVERS:
        ours = regression("squared", "l1", 0.05, as_x(X), y, fit_intercept=intercept, solver=solver)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


@layouts
@pytest.mark.parametrize("l1_ratio", [1, 0.7, 0])
@ports(
    "test_estimators.test_SparseLogReg_elasticnet",
    "test_lbfgs_solver.test_lbfgs_L2_logreg",
    "test_prox_newton.test_pn_vs_sklearn",
    "test_estimators.test_generic_estimator",
    "test_estimators.test_estimator_predict",
)
def test_logistic_regression_agrees_with_scikit_learn(as_x, l1_ratio):
    X, y = data(40, 15, density=0.7)
    y = np.sign(y)
    for intercept in (True, False):
        theirs = LogisticRegression(
            C=1 / (40 * 0.05), l1_ratio=l1_ratio, solver="saga", fit_intercept=intercept, tol=1e-11, max_iter=50_000
        ).fit(X, y)
        ours = logistic(gs.ElasticNet(l1_ratio), 0.05, as_x(X), y, fit_intercept=intercept)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
        assert (ours.predict(as_x(X)) == theirs.predict(X)).all()


@layouts
@ports("test_estimators.test_mtl_vs_sklearn", "test_estimators.test_mtl_path")
def test_several_targets_agree_with_scikit_learn(as_x):
    X, Y = data(30, 20, targets=3)
    for alpha, intercept in itertools.product((0.5, 0.05), (True, False)):
        theirs = MultiTaskLasso(alpha, fit_intercept=intercept, tol=1e-12, max_iter=50_000).fit(X, Y)
        ours = regression("squared", "group_l2", alpha, as_x(X), Y, fit_intercept=intercept)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


@ports("test_estimators.test_generic_get_params")
def test_settings_of_parts_are_parameters():
    model = gs.BatchRegressor(gs.Huber(2.0), gs.ElasticNet(0.3), 4.0)
    assert model.get_params()["alpha"] == 4.0
    assert (model.get_params()["loss"].delta, model.get_params()["penalty"].l1_ratio) == (2.0, 0.3)
    assert gs.OnlineClassifier(method=gs.Fobos(0.5)).get_params()["method__step"] == 0.5


@ports("test_estimators.test_grid_search", "test_cv.test_elasticnet_cv_matches_sklearn")
def test_a_grid_search_agrees_with_scikit_learn():
    X, y = data(40, 15)
    grid = {"alpha": gs.alpha_max(X, y) * np.geomspace(1, 0.01, 5)}
    ours = GridSearchCV(gs.BatchRegressor(tol=1e-10), grid, cv=KFold(4)).fit(X, y)
    theirs = GridSearchCV(Lasso(tol=1e-10, max_iter=50_000), grid, cv=KFold(4)).fit(X, y)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-4)
    chosen = gs.BatchRegressorCV(alphas=grid["alpha"], cv=KFold(4), select="best", tol=1e-10).fit(X, y)
    errors = GridSearchCV(Lasso(tol=1e-10), grid, cv=KFold(4), scoring="neg_mean_squared_error").fit(X, y)
    assert chosen.alpha_ == errors.best_params_["alpha"]


@pytest.mark.parametrize("penalty", [gs.L1(), gs.ElasticNet(0.3), gs.L1(np.arange(1.0, 11))], ids=str)
@ports("test_estimators.test_warm_start")
def test_a_warm_start_ends_at_once(penalty):
    X, y = data()
    for kind, target in [(gs.BatchRegressor, y), (gs.BatchClassifier, np.sign(y))]:
        model = kind(penalty=penalty, alpha=0.05, tol=1e-6, warm_start=True).fit(X, target)
        assert model.fit(X, target).n_iter_ == 1


def random_groups(count, features, shuffle, seed=0):
    random = np.random.RandomState(seed)
    labels = np.sort(np.append(np.arange(count), random.randint(count, size=features - count)))
    return random.permutation(labels) if shuffle else labels


@pytest.mark.parametrize(("count", "features", "shuffle"), [(10, 50, True), (10, 50, False), (17, 53, False)])
@ports("test_group.test_alpha_max", "test_group.test_vs_celer_grouplasso", "test_group.test_intercept_grouplasso")
def test_the_group_lasso_by_its_optimality_condition(count, features, shuffle):
    X, y = data(60, features)
    groups, weights = random_groups(count, features, shuffle), np.abs(np.random.RandomState(1).randn(count)) + 0.1
    penalty = gs.GroupL2(groups, weights)
    norms = [np.linalg.norm(X[:, groups == g].T @ y) / 60 / weights[g] for g in range(count)]
    top = gs.alpha_max(X, y, penalty=penalty, fit_intercept=False)
    assert top == pytest.approx(max(norms))
    assert (regression("squared", penalty, top * (1 + 1e-9), X, y, fit_intercept=False).coef_ == 0).all()
    model = regression("squared", penalty, top / 10, X, y)
    residual = X @ model.coef_ + model.intercept_[0] - y
    assert residual.mean() == pytest.approx(0, abs=1e-6)
    for g in range(count):
        w, gradient = model.coef_[groups == g], X[:, groups == g].T @ residual / 60
        if w.any():
            np.testing.assert_allclose(gradient, -top / 10 * weights[g] * w / np.linalg.norm(w), atol=1e-4)
        else:
            assert np.linalg.norm(gradient) <= top / 10 * weights[g] * (1 + 1e-6)


@pytest.mark.parametrize("positive", [True, False])
@ports("test_group.test_equivalence_lasso", "test_group.test_equivalence_logreg")
def test_groups_of_one_are_l1(positive):
    X, y = data(30, 30)
    weights = np.abs(np.random.RandomState(0).randn(30)) + 0.1
    grouped = (gs.NonNegativeGroupL2 if positive else gs.GroupL2)(np.arange(30), weights)
    single = (gs.NonNegativeL1 if positive else gs.L1)(weights)
    pair = [regression("squared", penalty, 0.02, X, y, fit_intercept=False).coef_ for penalty in (grouped, single)]
    np.testing.assert_allclose(*pair, atol=1e-4)
    pair = [logistic(penalty, 0.02, X, np.sign(y), fit_intercept=False).coef_ for penalty in (grouped, single)]
    np.testing.assert_allclose(*pair, atol=1e-4)


@layouts
@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
@ports(
    "test_estimators.test_GroupLasso_estimator",
    "test_estimators.test_GroupLasso_estimator_positive",
    "test_estimators.test_GroupLasso_estimator_sparse_vs_dense",
)
def test_the_group_lasso_on_sparse_and_dense_rows(as_x, positive, intercept):
    X, y = data(30, 20, density=0.5)
    groups = random_groups(6, 20, True)
    penalty = (gs.NonNegativeGroupL2 if positive else gs.GroupL2)(groups, np.arange(1.0, 7))
    model = regression("squared", penalty, 0.05, as_x(X), y, fit_intercept=intercept)
    residual = X @ model.coef_ + model.intercept_[0] - y
    assert distance(penalty, model.coef_, X.T @ residual / 30, 0.05) < 1e-5
    assert not positive or (model.coef_ >= 0).all()


@ports("test_group.test_sparse_group")
def test_the_sparse_group_lasso_zeroes_groups_and_single_weights():
    X, y = data(100, 30)
    penalty = gs.SparseGroupL2(0.5, np.arange(30) // 3)
    w = regression("squared", penalty, 0.3, X, y, fit_intercept=False).coef_.reshape(10, 3)
    used = (w != 0).sum(axis=1)
    assert (used == 0).any()
    assert ((used > 0) & (used < 3)).any()


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
@pytest.mark.parametrize("intercept", [True, False])
@ports(
    "test_group.test_group_logreg",
    "test_group.test_poisson_group_gradient",
    "test_group.test_poisson_group_solver",
    "test_group.test_poisson_vs_poisson_group_equivalence",
)
def test_groups_with_other_losses(loss, intercept):
    X, y = data(40, 12, density=0.7)
    y = np.sign(y) if loss == "logistic" else np.round(np.abs(y))
    for groups in (np.arange(12) // 3, np.arange(12)):
        penalty = gs.GroupL2(groups)
        fits = []
        for solver, as_x in [("coordinate", sp.csc_array), ("coordinate", np.array), ("fista", np.array)]:
            settings = {"fit_intercept": intercept, "solver": solver}
            kind = gs.BatchClassifier if loss == "logistic" else gs.BatchRegressor
            fits.append(fit(kind, loss, penalty, 0.05, as_x(X), y, **settings))
        for other in fits[1:]:
            np.testing.assert_allclose(other.coef_, fits[0].coef_, atol=1e-4)


@ports("test_group.test_check_group_compatible", "test_validation.test_datafit_penalty_solver_compatibility")
def test_what_does_not_go_together_is_refused_in_words():
    X, y = data()
    for settings in [
        {"solver": "coordinate", "penalty": "simplex"},
        {"solver": "fista", "loss": "quantile"},
        {"solver": "interior_point", "penalty": "group_l2"},
        {"solver": "projected_gradient", "penalty": "l1"},
    ]:
        with pytest.raises(ValueError, match=r"does not go with|cannot handle") as caught:
            gs.BatchRegressor(**settings).fit(X, y)
        assert "Use" in str(caught.value)


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
@ports("test_estimators.test_inverse_link_prediction")
def test_predictions_are_means(loss):
    random = np.random.RandomState(42)
    X, y = random.randn(20, 5), random.randint(1, 6, 20)
    theirs = (PoissonRegressor if loss == "poisson" else GammaRegressor)(alpha=0.0, max_iter=10_000, tol=1e-10)
    ours = regression(loss, "none", 0.0, X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.fit(X, y).predict(X), rtol=1e-4)


@pytest.mark.parametrize("quantile", [0.3, 0.7])
@experimental.ports("test_quantile_regression.test_PDCD_WS")
def test_quantile_regression_to_five_digits(quantile):
    X, y = data(50, 10)
    theirs = QuantileRegressor(quantile=quantile, alpha=0.05, fit_intercept=False).fit(X, y)
    ours = regression(gs.Quantile(quantile), "l1", 0.05, X, y, fit_intercept=False, max_iter=300)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize("each", [ledger, experimental], ids=lambda each: each.upstream)
def test_the_ledger_is_complete(each):
    each.check()
