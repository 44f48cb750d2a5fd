"""What scikit-learn tests of Lasso, ElasticNet and their kin, of our batch estimators and paths.

The files are linear_model/tests/test_coordinate_descent.py and test_sparse_coordinate_descent.py.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, LassoCV, LinearRegression, MultiTaskLasso, Ridge, lasso_path
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gossamer as gs
from peers.ledger import Ledger

dense = Ledger(
    "sklearn/linear_model/tests/test_coordinate_descent.py",
    {
        "The layout of X in memory is a matter of their compiled code; ours takes any.": """
            test_set_order_dense test_set_order_sparse""",
        "There is one compiled solver, and the laws of tests/batch compare it with all other solvers.": """
            test_cython_solver_equivalence""",
        "There is no precompute: no Gram matrix is given or kept.": """
            test_elasticnet_precompute_incorrect_gram test_elasticnet_precompute_gram_weighted_samples
            test_elasticnet_precompute_gram test_overridden_gram_matrix test_lassoCV_does_not_set_precompute""",
        "The strength 0 needs no warning: it is least squares, with a certificate as any other.": """
            test_lasso_alpha_warning""",
        "There is no elastic net on the non-negative orthant; NonNegativeL1 is the lasso there.": """
            test_enet_positive_constraint test_enet_cv_positive_constraint""",
        "Several targets with one strength are allowed in cross-validation.": "test_multioutput_enetcv_error",
        "Coordinates are taken in a fixed order, so that results do not depend on a seed.": "test_random_descent",
        "Functions take no parameters beyond those they name, so Python itself refuses others.": """
            test_path_unknown_parameter""",
        "There is no check_input and no copy_X: input is always checked, and never written to.": """
            test_check_input_false test_enet_copy_X_True test_enet_copy_X_False_check_input_False
            test_enet_path_check_input_false""",
        "Routing of metadata is a matter of scikit-learn; fit takes X, y and sample_weight.": """
            test_cv_estimators_reject_params_with_no_routing_enabled""",
        "It is about a parameter that scikit-learn removes.": "test_path_function_deprecated_n_alphas",
        "The share of the elastic net is a setting of the penalty; a grid search chooses among penalties.": """
            test_multitask_enet_and_lasso_cv test_1d_multioutput_enet_and_multitask_enet_cv""",
    },
    since="1.9",
)
sparse = Ledger(
    "sklearn/linear_model/tests/test_sparse_coordinate_descent.py",
    {"There is no sparse_coef_: sparsify makes coef_ itself sparse.": "test_sparse_coef"},
    since="1.9",
)
ports = dense.ports


# Their settings → ours: the same objective, mean ½(z − y)² + α Ω(w). MultiTaskLasso has the penalty on rows.
def lasso(alpha=1.0, *, positive=False, **rest):
    return gs.BatchRegressor("squared", "non_negative_l1" if positive else "l1", alpha, **{"tol": 1e-10} | rest)


def enet(alpha=1.0, l1_ratio=0.5, **rest):
    return gs.BatchRegressor("squared", gs.ElasticNet(l1_ratio), alpha, **{"tol": 1e-10} | rest)


def multi_task(alpha=1.0, **rest):
    return gs.BatchRegressor("squared", "group_l2", alpha, **{"tol": 1e-10} | rest)


def lasso_cv(alphas=10, eps=1e-3, cv=3, penalty="l1", **rest):
    return gs.BatchRegressorCV("squared", penalty, alphas=alphas, alpha_min_ratio=eps, cv=cv, select="best", **rest)


layouts = pytest.mark.parametrize("as_x", [np.array, sp.csc_array, sp.csr_array], ids=["dense", "csc", "csr"])


def wide(rows=50, columns=200, informative=10, targets=1):
    """More features than rows, of which the first matter; rows to learn from and rows to test on."""
    random = np.random.RandomState(0)
    w = random.randn(columns, targets) * (np.arange(columns) < informative)[:, None]
    X, new = random.randn(rows, columns), random.randn(rows, columns)
    y, new_y = X @ w, new @ w
    return (X, y, new, new_y) if targets > 1 else (X, y[:, 0], new, new_y[:, 0])


LINE_X, LINE_Y = np.array([[-1.0], [0.0], [1.0]]), np.array([-1.0, 0.0, 1.0])


@layouts
@ports("test_lasso_zero", "test_coef_shape_not_zero")
@sparse.ports("test_lasso_zero")
def test_nothing_to_learn(as_x):
    model = lasso(0.1).fit(as_x(np.zeros((3, 1))), np.zeros(3))
    assert model.coef_.tolist() == [0.0]
    assert model.predict(np.array([[1.0], [2.0]])).tolist() == [0.0, 0.0]
    assert model.dual_gap_ == 0
    assert lasso(fit_intercept=False).fit(as_x(np.ones((3, 1))), np.ones(3)).coef_.shape == (1,)


@ports("test_enet_nonfinite_params")
def test_what_overflows_is_refused():
    random = np.random.RandomState(0)
    X = np.finfo(float).max * random.uniform(size=(10, 2))
    model = enet(0.1)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"finite|nan|large|overflow|range"):
        model.fit(X, random.randint(0, 2, 10))
    assert not hasattr(model, "coef_")


@layouts
@ports("test_lasso_toy", "test_enet_toy", "test_lasso_readonly_data")
@sparse.ports("test_enet_toy_list_input", "test_enet_toy_explicit_sparse_input")
@pytest.mark.parametrize("weight", [None, np.full(3, 2.0)], ids=["plain", "weighted"])
def test_a_line_by_hand(as_x, weight):
    """½·⅔(1 − w)² + α(ρ|w| + (1 − ρ)½w²) is least at w = [⅔ − αρ]₊ / (⅔ + α(1 − ρ))."""
    X, y = LINE_X.copy(), LINE_Y.copy()
    X.flags.writeable = y.flags.writeable = False
    for alpha in (0.0, 1e-8, 0.1, 0.5, 1.0):
        for ratio in (1.0, 0.5, 0.3, 0.0):
            w = max(2 / 3 - alpha * ratio, 0) / (2 / 3 + alpha * (1 - ratio))
            model = enet(alpha, ratio).fit(as_x(X), y, weight)
            np.testing.assert_allclose(model.coef_, [w], rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(model.predict(as_x([[2.0], [3.0]])), [2 * w, 3 * w], rtol=1e-6, atol=1e-9)
            assert 0 <= model.dual_gap_ < 1e-9


@ports("test_lasso_dual_gap")
def test_the_gap_bounds_and_is_no_larger_than_theirs():
    X, y, *_ = wide(10, 30)
    alpha = 0.01 * np.abs(X.T @ y).max() / 10
    model = lasso(alpha, fit_intercept=False, tol=1e-3).fit(X, y)
    residual = y - X @ model.coef_
    primal = 0.5 * np.mean(residual**2) + alpha * np.abs(model.coef_).sum()
    feasible = residual / max(np.abs(X.T @ residual).max() / (10 * alpha), 1)
    theirs = primal - 0.5 * (np.mean(y**2) - np.mean((y - feasible) ** 2))
    best = lasso(alpha, fit_intercept=False, tol=1e-13).fit(X, y).objective_
    assert model.objective_ == pytest.approx(primal, rel=1e-12)
    assert primal - best - 1e-12 <= model.dual_gap_ <= theirs * (1 + 1e-6) + 1e-12


@ports("test_lasso_cv", "test_lasso_cv_with_some_model_selection")
def test_cross_validation_chooses_as_they_do():
    X, y, new, new_y = wide()
    ours, theirs = lasso_cv(tol=1e-6).fit(X, y), LassoCV(alphas=10, eps=1e-3, cv=3, tol=1e-8, max_iter=50_000).fit(X, y)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-6)
    assert ours.alpha_ == pytest.approx(theirs.alpha_)
    np.testing.assert_allclose(2 * ours.path_loss_, theirs.mse_path_.mean(axis=1), rtol=2e-2)
    assert ours.score(new, new_y) > 0.99
    X, y = load_diabetes(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), lasso_cv(cv=ShuffleSplit(3, random_state=0))).fit(X, y)
    assert pipe.score(X, y) > 0.4


@ports("test_lasso_positive_constraint", "test_lasso_cv_positive_constraint", "test_enet_path_positive")
def test_the_non_negative_lasso():
    assert lasso(0.1, positive=True).fit(LINE_X, -LINE_Y).coef_.tolist() == [0.0]
    X, y, *_ = wide(targets=2)
    assert min(lasso_cv(3, 0.1, 2).fit(X, y[:, 0]).coef_) < 0
    assert min(lasso_cv(3, 0.1, 2, penalty="non_negative_l1").fit(X, y[:, 0]).coef_) >= 0
    theirs = Lasso(0.5, positive=True, tol=1e-10).fit(X, y[:, 0])
    np.testing.assert_allclose(lasso(0.5, positive=True).fit(X, y[:, 0]).coef_, theirs.coef_, atol=1e-6)
    path = gs.regularization_path(X, y, penalty="non_negative_l1", alphas=5)
    assert all(coef.min() >= 0 for coef in path.coefs)


@pytest.mark.parametrize("alphas", [(1, -1, -100), (-0.1, -1.0, -10.0), (1, 1.0, "1"), (), (np.nan,), 0])
@ports("test_lassocv_alphas_validation")
def test_strengths_are_checked(alphas):
    random = np.random.RandomState(0)
    with pytest.raises((ValueError, TypeError), match="alphas"):
        lasso_cv(alphas, cv=2).fit(random.randn(6, 3), random.randn(6))


@layouts
@pytest.mark.parametrize("targets", [1, 2])
@ports(
    "test_lasso_path_return_models_vs_new_return_gives_same_coefficients",
    "test_enet_path",
    "test_sparse_dense_descent_paths",
)
@sparse.ports("test_path_parameters")
def test_paths_are_theirs(as_x, targets):
    X, y, *_ = wide(50, 20, targets=targets)
    penalty = "group_l2" if targets > 1 else "l1"
    ours = gs.regularization_path(
        as_x(X), y, penalty=penalty, alphas=10, alpha_min_ratio=1e-3, tol=1e-13, fit_intercept=False
    )
    alphas, coefs, _ = lasso_path(X, y, eps=1e-3, alphas=10, tol=1e-12, max_iter=20_000)
    np.testing.assert_allclose(ours.alphas, alphas, rtol=1e-9)
    for k, coef in enumerate(ours.coefs):
        np.testing.assert_allclose(np.squeeze(coef.toarray()), coefs[..., k], atol=2e-5)


@ports("test_warm_start", "test_warm_start_convergence", "test_warm_start_convergence_with_regularizer_decrement")
@layouts
def test_a_warm_start_is_a_head_start(as_x):
    X, y, *_ = wide()
    cold = enet(1e-3, tol=1e-6).fit(as_x(X), y)
    again = enet(1e-3, tol=1e-6).fit(as_x(X), y)
    assert cold.n_iter_ == again.n_iter_ > 1
    warm = again.set_params(warm_start=True).fit(as_x(X), y)
    assert warm.n_iter_ == 1  # the first look at the gap ends it
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=0.02)
    X, y = load_diabetes(return_X_y=True)
    strong = enet(1e-4, warm_start=True, tol=1e-6).fit(as_x(X), y)
    weak = strong.set_params(alpha=1e-5).fit(as_x(X), y)
    assert weak.n_iter_ <= enet(1e-5, tol=1e-6).fit(as_x(X), y).n_iter_ + 1


@pytest.mark.parametrize("value", [0.0, 5.0, -1e6])
@ports("test_uniform_targets")
def test_a_constant_is_its_intercept(value):
    random = np.random.RandomState(0)
    X, new = random.random_sample((10, 3)), random.random_sample((10, 3))
    for penalty in ("l1", "elastic_net"):
        model = lasso_cv(3, penalty=penalty).fit(X, np.full(10, value))
        np.testing.assert_allclose(model.predict(new), value, rtol=1e-14)
    y = np.column_stack([np.full(10, value), np.full(10, 2 * value)])
    np.testing.assert_allclose(lasso_cv(3, penalty="group_l2").fit(X, y).predict(new), y, rtol=1e-14)


@ports("test_multi_task_lasso_vs_skglm")
def test_rows_of_targets_against_the_number_of_another_solver():
    X, Y = np.vander(np.arange(5.0), 4), np.arange(15.0).reshape(5, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = multi_task(0.1, tol=1e-12, max_iter=20_000).fit(X, Y)
    assert model.objective_ == pytest.approx(0.4965993692547902, rel=1e-8)
    np.testing.assert_allclose(model.intercept_, np.array([0, 1, 2]) + 0.219942959407, rtol=1e-4)
    np.testing.assert_allclose(
        model.coef_, np.tile([-0.032075014794, 0.25430904614, 2.44785152982, 0], (3, 1)), atol=1e-4
    )


@ports("test_multi_task_lasso_and_enet", "test_multi_task_lasso_readonly_data", "test_warm_start_multitask_lasso")
def test_equal_targets_have_equal_weights():
    X, y, *_ = wide()
    Y = np.column_stack([y, y])
    X.flags.writeable = Y.flags.writeable = False
    model = multi_task(1.0, tol=1e-8, warm_start=True).fit(X, Y)
    assert 0 <= model.dual_gap_ < 1e-5
    np.testing.assert_allclose(model.coef_[0], model.coef_[1], atol=1e-12)
    np.testing.assert_allclose(model.coef_, MultiTaskLasso(1.0, tol=1e-12).fit(X, Y).coef_, atol=1e-3)
    assert model.fit(X, Y).n_iter_ == 1
    with pytest.warns(ConvergenceWarning, match="Stopped after 1 iterations"):
        multi_task(0.1, tol=1e-10, max_iter=1).fit(X, Y)


@layouts
@ports("test_enet_multitarget")
@sparse.ports("test_enet_multitarget", "test_same_multiple_output_sparse_dense")
def test_targets_do_not_touch_each_other(as_x):
    X, Y, *_ = wide(10, 8, 10, targets=3)
    together = enet(0.01, tol=1e-12).fit(as_x(X), Y)
    for k in range(3):
        alone = enet(0.01, tol=1e-12).fit(as_x(X), Y[:, k])
        np.testing.assert_allclose(together.coef_[k], alone.coef_, atol=1e-5)
        assert together.intercept_[k] == pytest.approx(alone.intercept_[0], abs=1e-5)


@ports("test_1d_multioutput_lasso_and_multitask_lasso_cv")
def test_one_column_is_a_vector():
    X, y, *_ = wide(columns=10)
    flat, column = lasso_cv(5, 2e-3).fit(X, y), lasso_cv(5, 2e-3, penalty="group_l2").fit(X, y[:, None])
    assert flat.alpha_ == pytest.approx(column.alpha_)
    np.testing.assert_allclose(flat.coef_, column.coef_[0], atol=1e-4)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@ports("test_sparse_input_dtype_enet_and_lassocv", "test_sparse_input_convergence_warning")
def test_sparse_layouts_and_dtypes(index):
    X, y, *_ = wide(50, 25)
    X = np.where(np.abs(X) > 0.5, X, 0)
    given = sp.csr_matrix(X)
    given.indices, given.indptr = given.indices.astype(index), given.indptr.astype(index)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = lasso_cv(5).fit(given, y)
        np.testing.assert_allclose(lasso_cv(5).fit(X.astype(np.float32), y).coef_, model.coef_, atol=1e-3)
    with pytest.warns(ConvergenceWarning):
        lasso_cv(5, max_iter=1, tol=0).fit(given, y)


@ports("test_lasso_non_float_y", "test_multi_task_lasso_cv_dtype", "test_enet_float_precision")
def test_numbers_of_any_type():
    X = np.array([[0, 0], [1, 1], [-1, -1]])
    np.testing.assert_array_equal(lasso().fit(X, [0, 1, 2]).coef_, lasso().fit(X, [0.0, 1.0, 2.0]).coef_)
    X = np.random.RandomState(42).binomial(1, 0.5, size=(10, 3))
    model = lasso_cv(5, cv=5, penalty="group_l2", tol=1e-6).fit(X, X[:, [0, 0]])
    np.testing.assert_allclose(model.coef_, [[1, 0, 0]] * 2, atol=3e-3)
    X, y, *_ = wide(20, 10)
    for intercept in (True, False):
        models = [
            enet(0.5, fit_intercept=intercept, tol=1e-6).fit(X.astype(t), y.astype(t)) for t in (np.float64, np.float32)
        ]
        np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=1e-4)


@ports("test_enet_l1_ratio")
def test_no_grid_without_l1():
    X, y = np.array([[1, 2, 4, 5, 8], [3, 5, 7, 7, 8.0]]).T, np.array([12, 10, 11, 21, 5.0])
    for penalty in (gs.ElasticNet(0), "l2_squared"):
        with pytest.raises(ValueError, match="give alphas yourself"):
            lasso_cv(penalty=penalty, cv=2).fit(X, y)
    ends = [lasso_cv([10, 0.1], cv=2, penalty=gs.ElasticNet(r), tol=1e-9).fit(X, y).coef_ for r in (0, 1e-5)]
    np.testing.assert_allclose(*ends, atol=1e-3)


@ports("test_enet_coordinate_descent_raises_convergence", "test_convergence_warnings")
def test_a_fit_that_stops_short_says_so():
    X, y = np.array([[-1.0, -1, 1, 1], [1, 1, -1, -1.1]]), np.array([-1.0, 1.1])
    model = lasso(1e-10, fit_intercept=False, max_iter=1, tol=1e-14, warm_start=True)
    model.coef_ = np.array([1.0, 1, 1, 1000])
    with pytest.warns(ConvergenceWarning, match="Stopped after 1 iterations"):
        model.fit(X, y)
    random = np.random.RandomState(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        multi_task(0.1, tol=1e-4).fit(random.standard_normal((300, 100)), random.standard_normal((300, 3)))


@layouts
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("make", [enet, multi_task])
@ports(
    "test_enet_sample_weight_consistency",
    "test_sample_weight_invariance",
    "test_enet_sample_weight_does_not_overwrite_sample_weight",
)
def test_weights_count_as_repetitions(as_x, make, intercept):
    random = np.random.RandomState(0)
    X, y = random.rand(10, 5), random.rand(10)
    y = y if make is enet else np.column_stack([y, 2 * y])
    weight = random.uniform(0.01, 2, 10)
    kept = weight.copy()

    def fit(rows, weight=None):
        model = make(0.01, fit_intercept=intercept, tol=1e-12).fit(as_x(X[rows]), y[rows], weight)
        return np.append(model.coef_.ravel(), model.intercept_)

    every = np.arange(10)
    for same in (np.ones(10), 123.0):
        np.testing.assert_allclose(fit(every, same), fit(every), atol=1e-6)
    np.testing.assert_allclose(fit(every, np.pi * weight), fit(every, weight), atol=1e-6)
    without = np.where(every < 5, weight, 0)
    np.testing.assert_allclose(fit(every, without), fit(every[:5], weight[:5]), atol=1e-6)
    doubled, twice = np.where(every < 5, 2 * weight, weight), np.append(every, every[:5])
    np.testing.assert_allclose(fit(every, doubled), fit(twice, weight[twice]), atol=1e-6)
    np.testing.assert_array_equal(weight, kept)


@layouts
@pytest.mark.parametrize("intercept", [True, False])
@ports("test_enet_cv_sample_weight_correctness", "test_enet_cv_sample_weight_consistency")
def test_weights_count_as_repetitions_in_cross_validation(as_x, intercept):
    random = np.random.RandomState(1)
    X, w = random.rand(30, 5), 10 * random.rand(5) * (np.arange(5) > 1)
    y, group = X @ w + random.rand(30), np.repeat([0, 1, 2], 10)
    weight = np.where(group == 0, random.randint(0, 5, 30), 1)
    assert (weight == 0).any()
    again = np.repeat(np.arange(30), weight)

    def fit(rows, weight=None):
        splits = list(LeaveOneGroupOut().split(X[rows], groups=group[rows]))
        return lasso_cv(cv=splits, fit_intercept=intercept, tol=1e-9).fit(as_x(X[rows]), y[rows], weight)

    weighted, repeated = fit(np.arange(30), weight.astype(float)), fit(again)
    np.testing.assert_allclose(weighted.alphas_, repeated.alphas_)
    np.testing.assert_allclose(weighted.path_loss_, repeated.path_loss_, rtol=1e-5)
    assert weighted.alpha_ == pytest.approx(repeated.alpha_)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
    same = [
        lasso_cv(fit_intercept=intercept).fit(as_x(X), y, w).coef_ for w in (None, np.ones(30), np.full(30, 2.0), 123.0)
    ]
    np.testing.assert_allclose(same, [same[0]] * 4, rtol=1e-6)


@ports("test_enet_cv_grid_search")
def test_the_choice_is_that_of_a_grid_search():
    X, y = make_regression(200, 10, effective_rank=10, n_informative=6, noise=10, random_state=0)
    alphas = np.logspace(0, -5, 8)
    ours = lasso_cv(alphas, cv=5, tol=1e-8).fit(X, y)
    search = GridSearchCV(lasso(tol=1e-8), {"alpha": alphas}, cv=5, scoring="neg_mean_squared_error").fit(X, y)
    assert ours.alpha_ == pytest.approx(search.best_params_["alpha"])


@layouts
@pytest.mark.parametrize("penalty", ["l1", "elastic_net", "non_negative_l1"])
@pytest.mark.parametrize("weight", [None, np.array([1.0, 10.0, 1.0, 10.0])], ids=["plain", "weighted"])
@pytest.mark.parametrize("intercept", [True, False])
@ports("test_enet_alpha_max")
def test_the_largest_strength_is_the_smallest_that_zeroes_all(as_x, penalty, weight, intercept):
    X = np.array([[3.0, -1.0], [2.0, -5.0], [5.0, -3.0], [1.0, -4.0]])
    y = X @ np.array([1.0, -2.0])
    settings = {"penalty": penalty, "fit_intercept": intercept}
    top = gs.alpha_max(as_x(X), y, sample_weight=weight, **settings)
    fits = [gs.BatchRegressor(alpha=f * top, tol=1e-12, **settings).fit(as_x(X), y, weight) for f in (1 + 1e-9, 0.99)]
    assert np.abs(fits[0].coef_).max() <= 1e-9
    assert np.abs(fits[1].coef_).max() > 1e-3


@ports("test_linear_models_cv_fit_with_loky")
def test_read_only_data_in_cross_validation():
    X, y = make_regression(2000, 3, random_state=0)
    X.flags.writeable = y.flags.writeable = False
    assert lasso_cv(n_jobs=2).fit(X, y).score(X, y) > 0.99


@pytest.mark.parametrize("ridge_alpha", [1e-6, 1e-1, 1.0, 1e6])
@pytest.mark.parametrize("targets", [1, 3])
@ports("test_enet_ridge_consistency")
def test_no_l1_is_ridge(ridge_alpha, targets):
    random = np.random.RandomState(0)
    X, y = make_regression(300, 40, n_targets=targets, effective_rank=10, n_informative=30, random_state=random)
    weight = random.uniform(0.01, 10, 300)
    ridge = Ridge(ridge_alpha, solver="svd").fit(X, y, weight)
    model = enet(ridge_alpha / weight.sum(), 0.0, tol=1e-14, max_iter=20_000).fit(X, y, weight)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), atol=1e-5 * np.abs(y).max())


@pytest.mark.parametrize("rank", [None, 10])
@ports("test_enet_ols_consistency")
def test_strength_zero_is_least_squares(rank):
    random = np.random.RandomState(0)
    X, y = make_regression(300, 40, effective_rank=rank, n_informative=30, random_state=random)
    weight = random.uniform(0.01, 10, 300)
    model = enet(0.0, tol=1e-15, max_iter=20_000).fit(X, y, weight)
    least = LinearRegression().fit(X, y, weight)
    np.testing.assert_allclose(model.predict(X), least.predict(X), atol=1e-5 * np.abs(y).max())


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.1, 1e-3])
@sparse.ports(
    "test_sparse_enet_not_as_toy_dataset",
    "test_sparse_lasso_not_as_toy_dataset",
    "test_sparse_dense_equality",
    "test_sparse_enet_coordinate_descent",
    "test_sparse_read_only_buffer",
)
def test_sparse_and_dense_are_one_problem(intercept, alpha):
    random = np.random.RandomState(42)
    X = random.normal(size=(100, 60)) * (random.uniform(size=(100, 60)) > 0.5)
    y = X @ (random.normal(size=60) * (np.arange(60) < 10)) + 4 * intercept
    given = sp.csc_matrix(X[50:])
    given.data.flags.writeable = False
    for make in (lasso, enet):
        fits = [make(alpha, fit_intercept=intercept).fit(A, y[50:]) for A in (given, X[50:])]
        assert max(fit.dual_gap_ for fit in fits) < 1e-6
        np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, atol=1e-3)
        assert fits[0].score(X[:50], y[:50]) > 0.85
    theirs = ElasticNet(alpha, fit_intercept=intercept, tol=1e-12, max_iter=50_000).fit(X[50:], y[50:])
    np.testing.assert_allclose(fits[0].coef_, theirs.coef_, atol=1e-3)


@sparse.ports("test_same_output_sparse_dense_lasso_and_enet_cv")
def test_sparse_and_dense_choose_the_same():
    X, y, *_ = wide(40, 10)
    X = np.where(np.abs(X) > 0.5, X, 0)
    fits = [lasso_cv(20, tol=1e-8).fit(A, y) for A in (X, sp.csc_array(X))]
    assert fits[0].alpha_ == pytest.approx(fits[1].alpha_)
    np.testing.assert_allclose(fits[0].path_loss_, fits[1].path_loss_, rtol=1e-5)


@pytest.mark.parametrize("ledger", [dense, sparse], ids=lambda ledger: ledger.upstream)
def test_the_ledger_is_complete(ledger):
    ledger.check()
