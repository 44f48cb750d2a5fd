"""What celer tests of its lassos and of logistic regression (celer/tests), of our batch estimators."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LassoCV,
    LogisticRegression,
    MultiTaskLasso,
    MultiTaskLassoCV,
    enet_path,
    lasso_path,
)

import gossamer as gs
from gossamer.groups import Groups
from peers.ledger import Ledger

ledger = Ledger(
    "celer/tests",
    {
        "Docstrings of ours are checked by ruff and by tests/test_docs.py.": """
            test_docstring_parameters.test_docstring_parameters test_docstring_parameters.test_tabs
            test_docstring_parameters.test_documented""",
        "The checks of scikit-learn run in tests/batch/test_estimators.py.": "test_logreg.test_check_estimator",
    },
    since="0.7",
)
ports = ledger.ports

# Their settings → ours. The strengths are the same for regression, mean ½(z − y)² + α Ω(w). For logistic regression
# theirs is the sum of losses + α‖w‖₁, and C = 1/α, so that ours is 1/(Cn). weights and groups belong to the penalty.
layouts = pytest.mark.parametrize("as_x", [np.array, sp.csc_array], ids=["dense", "sparse"])


def data(rows=30, columns=50, targets=1, seed=0):
    """Correlated features, a quarter of the entries zero, and targets of a few of them with noise."""
    random = np.random.RandomState(seed)
    X = random.randn(rows, columns)
    X[:, 1:] += 0.5 * X[:, :-1]
    X = X * (random.uniform(size=X.shape) > 0.25)
    Y = X[:, :10] @ random.randn(10, targets) + 0.1 * random.randn(rows, targets)
    return X, Y if targets > 1 else Y[:, 0]


def regression(alpha, penalty="l1", **rest):
    return gs.BatchRegressor("squared", penalty, alpha, **{"tol": 1e-11, "max_iter": 5000} | rest)


def logistic(alpha, penalty="l1", **rest):
    return gs.BatchClassifier("logistic", penalty, alpha, **{"tol": 1e-11, "max_iter": 5000} | rest)


@layouts
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@ports("test_lasso.test_celer_path", "test_lasso.test_celer_single_alpha")
def test_every_gap_of_a_path_is_small(as_x, dtype, loss):
    X, y = data()
    y = np.sign(y) if loss == "logistic" else y
    empty = np.log(2) if loss == "logistic" else 0.5 * np.mean(y**2)
    for alphas in (10, [gs.alpha_max(X, y, loss=loss) / 10]):
        path = gs.regularization_path(as_x(X.astype(dtype)), y, loss=loss, alphas=alphas, tol=1e-6, fit_intercept=False)
        assert (path.dual_gaps <= 1e-6 * empty).all()
        assert (path.n_iters[1:] >= 1).all()  # at the largest strength the first look at the gap ends it


@ports("test_lasso.test_convergence_warning")
def test_too_few_iterations_are_said():
    X, y = data(10, 10)
    with pytest.warns(ConvergenceWarning, match="Stopped after 1 iterations"):
        regression(gs.alpha_max(X, y) / 100, tol=1e-16, max_iter=1).fit(X, y)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.7])
@ports("test_lasso.test_celer_path_vs_lasso_path", "test_enet.test_sk_enet_path_equivalence")
def test_a_path_is_that_of_scikit_learn(l1_ratio):
    X, y = data(40, 80)
    settings = {"eps": 1e-2, "alphas": 8, "tol": 1e-12, "max_iter": 50_000}
    their_alphas, coefs, _ = enet_path(X, y, l1_ratio=l1_ratio, **settings)
    penalty = gs.ElasticNet(l1_ratio)
    path = gs.regularization_path(
        X, y, penalty=penalty, alphas=8, alpha_min_ratio=1e-2, tol=1e-13, fit_intercept=False, max_iter=5000
    )
    np.testing.assert_allclose(path.alphas, their_alphas)
    np.testing.assert_allclose(np.array([c.toarray()[0] for c in path.coefs]).T, coefs, atol=1e-4)


@layouts
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("positive", [True, False])
@ports("test_lasso.test_LassoCV", "test_lasso.test_Lasso")
def test_lasso_and_its_cross_validation_are_those_of_scikit_learn(as_x, intercept, positive):
    X, y = data(30, 30)
    penalty = "non_negative_l1" if positive else "l1"
    alpha = gs.alpha_max(X, y, penalty=penalty, fit_intercept=intercept) / 2
    theirs = Lasso(alpha, fit_intercept=intercept, positive=positive, tol=1e-12).fit(X, y)
    ours = regression(alpha, penalty, fit_intercept=intercept).fit(as_x(X), y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    settings = {"cv": 2, "fit_intercept": intercept}
    chosen = gs.BatchRegressorCV(penalty=penalty, alphas=8, alpha_min_ratio=0.05, select="best", tol=1e-10, **settings)
    chosen.fit(as_x(X), y)
    theirs = LassoCV(eps=0.05, alphas=8, positive=positive, tol=1e-12, max_iter=50_000, **settings).fit(X, y)
    np.testing.assert_allclose(2 * chosen.path_loss_, theirs.mse_path_.mean(axis=1), rtol=1e-3)
    assert chosen.alpha_ == pytest.approx(theirs.alpha_)


@layouts
@ports("test_lasso.test_zero_column")
def test_columns_of_zeros(as_x):
    X, y = data(60, 50)
    X[:, :20] = 0
    model = regression(gs.alpha_max(X, y) / 10, tol=1e-6, fit_intercept=False).fit(as_x(X), y)
    assert model.dual_gap_ <= 1e-6 * 0.5 * np.mean(y**2)
    assert model.coef_.shape == (50,)
    assert (model.coef_[:20] == 0).all()


@ports("test_lasso.test_warm_start")
def test_a_warm_start_needs_two_iterations_at_most():
    X, y = data(100, 100)
    model = regression(1.0, tol=1e-6, warm_start=True)
    for alpha in gs.alpha_max(X, y) * np.logspace(0, -2, 6):
        model.set_params(alpha=alpha).fit(sp.csc_array(X), y)
        assert model.fit(sp.csc_array(X), y).n_iter_ <= 2


@layouts
@ports("test_lasso.test_weights_lasso", "test_enet.test_ElasticNet_Lasso_equivalence")
def test_weights_are_a_scaling_of_the_columns(as_x):
    X, y = data()
    weights = np.abs(np.random.RandomState(0).randn(50)) + 0.05
    for penalty in (gs.L1(weights), gs.ElasticNet(1.0, weights)):
        weighted = regression(0.05, penalty, fit_intercept=False).fit(as_x(X), y)
        scaled = regression(0.05, fit_intercept=False).fit(as_x(X / weights), y)
        np.testing.assert_allclose(weighted.coef_, scaled.coef_ / weights, atol=1e-4)
    for wrong in (-weights, np.where(np.arange(50) == 0, np.nan, weights)):
        with pytest.raises(ValueError, match="weights"):
            gs.L1(wrong)
    with pytest.raises(ValueError, match="weights"):
        regression(0.05, gs.L1(np.ones(51))).fit(as_x(X), y)
    free = gs.L1(np.where(np.arange(50) == 0, 0, 1))  # theirs must be above 0; with ours 0 is a feature without penalty
    assert regression(1.0001 * gs.alpha_max(X, y, penalty=free), free).fit(as_x(X), y).nonzero_features_.tolist() == [0]


@pytest.mark.parametrize("penalty", [gs.L1, lambda weights: gs.ElasticNet(0.5, weights)], ids=["l1", "elastic_net"])
@pytest.mark.parametrize("intercept", [True, False])
@ports("test_lasso.test_infinite_weights", "test_enet.test_infinite_weights")
def test_an_infinite_weight_is_a_feature_never_used(penalty, intercept):
    X, y = data(50, 40)
    weights = np.where(np.arange(40) % 5 == 0, np.inf, 1.0)
    kept = np.isfinite(weights)
    for make, target in [(regression, y), (logistic, np.sign(y))]:
        model = make(0.01, penalty(weights), fit_intercept=intercept).fit(X, target)
        assert (np.ravel(model.coef_)[~kept] == 0).all()
        alone = make(0.01, penalty(weights[kept]), fit_intercept=intercept).fit(X[:, kept], target)
        np.testing.assert_allclose(np.ravel(model.coef_)[kept], np.ravel(alone.coef_), atol=1e-4)


@ports("test_mtl.test_infinite_weights_group")
def test_an_infinite_weight_of_a_group():
    X, y = data(50, 20)
    groups, weights = np.arange(20) // 5, np.array([1.0, np.inf, 1.0, 2.0])
    model = regression(0.01, gs.GroupL2(groups, weights)).fit(X, y)
    assert (model.coef_[5:10] == 0).all()


@ports("test_lasso.test_one_iteration_alpha_max")
def test_above_the_largest_strength_one_look_is_enough():
    X, y = data(100, 50)
    model = regression(5 * gs.alpha_max(X, y, fit_intercept=False), fit_intercept=False).fit(X, y)
    assert (model.coef_ == 0).all()
    assert model.n_iter_ == 1


@ports("test_enet.test_raise_errors_l1_ratio")
def test_a_share_lies_between_0_and_1():
    for wrong in (5.0, -0.1, np.nan):
        with pytest.raises(ValueError, match="l1_ratio"):
            gs.ElasticNet(wrong)
    X, y = data()
    for ratio in (0.0, 0.5):  # theirs are not implemented; ours are
        assert logistic(0.1, gs.ElasticNet(ratio), tol=1e-6).fit(X, np.sign(y)).dual_gap_ < 1e-6


@layouts
@pytest.mark.parametrize("intercept", [True, False])
@ports("test_enet.test_sk_ElasticNet_equivalence", "test_enet.test_ElasticNetCV")
def test_the_elastic_net_is_that_of_scikit_learn(as_x, intercept):
    X, y = data()
    for ratio in (0.5, 0.8):
        ours = regression(0.1, gs.ElasticNet(ratio), fit_intercept=intercept).fit(as_x(X), y)
        theirs = ElasticNet(0.1, l1_ratio=ratio, fit_intercept=intercept, tol=1e-12, max_iter=50_000).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


@ports("test_enet.test_weighted_ElasticNet")
def test_the_elastic_net_is_a_lasso_with_more_rows():
    X, y = data()
    alpha, ratio = 0.1, 0.7
    enet = regression(alpha, gs.ElasticNet(ratio), fit_intercept=False).fit(X, y)
    more = np.vstack([X, np.sqrt(30 * alpha * (1 - ratio)) * np.eye(50)])
    lasso = regression(alpha * ratio * 30 / 80, fit_intercept=False).fit(more, np.append(y, np.zeros(50)))
    np.testing.assert_allclose(enet.coef_, lasso.coef_, atol=1e-4)


@layouts
@ports("test_logreg.test_celer_path_logreg", "test_logreg.test_binary", "test_logreg.test_multinomial")
def test_logistic_regression_is_that_of_liblinear(as_x):
    X, y = data(60, 30)
    y = np.sign(y)
    top = np.abs(X.T @ y).max() / 2
    assert gs.alpha_max(X, y, loss="logistic", fit_intercept=False) == pytest.approx(top / 60)
    for C in 1 / (top * np.geomspace(0.5, 2e-2, 3)):
        theirs = LogisticRegression(C=C, l1_ratio=1, solver="liblinear", fit_intercept=False, tol=1e-10, max_iter=5000)
        ours = logistic(1 / (60 * C), fit_intercept=False).fit(as_x(X), y)
        np.testing.assert_allclose(ours.coef_, theirs.fit(X, y).coef_, atol=1e-3)
    with pytest.raises(ValueError, match="alpha"):
        logistic(-1.0).fit(X, y)
    many = np.random.RandomState(1409).choice(4, 60)  # one-vs-rest, as theirs: columns of 0 and 1
    together = logistic(0.02, fit_intercept=False).fit(as_x(X), np.eye(4, dtype=int)[many])
    for k in range(4):
        alone = logistic(0.02, fit_intercept=False).fit(as_x(X), many == k)
        np.testing.assert_allclose(together.coef_[k], alone.coef_[0], atol=1e-4)


@layouts
@pytest.mark.parametrize("intercept", [True, False])
@ports("test_mtl.test_GroupLasso_Lasso_equivalence")
def test_groups_of_one_are_the_lasso(as_x, intercept):
    X, y = data(50, 100)
    groups = regression(0.1, gs.GroupL2(np.arange(100)), fit_intercept=intercept).fit(as_x(X), y)
    single = regression(0.1, fit_intercept=intercept).fit(as_x(X), y)
    np.testing.assert_allclose(groups.coef_, single.coef_, atol=1e-4)
    np.testing.assert_allclose(groups.intercept_, single.intercept_, atol=1e-4)


@ports("test_mtl.test_GroupLasso_MultitaskLasso_equivalence")
def test_several_targets_are_groups_of_a_longer_problem():
    X, Y = data(20, 12, targets=3)
    long = np.kron(np.eye(3), X)
    groups = np.tile(np.arange(12), 3)
    tops = [gs.alpha_max(X, Y, penalty="group_l2", fit_intercept=False)]
    tops.append(3 * gs.alpha_max(long, Y.T.ravel(), penalty=gs.GroupL2(groups), fit_intercept=False))
    assert tops[0] == pytest.approx(tops[1])
    tasks = regression(tops[0] / 10, "group_l2", fit_intercept=False).fit(X, Y)
    one = regression(tops[0] / 30, gs.GroupL2(groups), fit_intercept=False).fit(long, Y.T.ravel())
    np.testing.assert_allclose(one.coef_.reshape(3, 12), tasks.coef_, atol=1e-4)


@ports("test_mtl.test_convert_groups")
def test_groups_by_lists_and_by_labels_are_the_same():
    for lists, labels in [([[0, 1, 2], [3, 4, 5]], [0, 0, 0, 1, 1, 1]), ([[0, 2, 5], [1, 3], [4]], [0, 1, 0, 1, 2, 0])]:
        assert [list(group) for group in Groups(lists)] == [list(group) for group in Groups(labels)] == lists


@ports("test_mtl.test_mtl_path", "test_mtl.test_MultiTaskLassoCV", "test_mtl.test_MultiTaskLasso")
def test_several_targets_are_those_of_scikit_learn():
    X, Y = data(30, 30, targets=3)
    alphas, coefs, _ = lasso_path(X, Y, eps=0.05, alphas=6, tol=1e-12, max_iter=50_000)
    settings = {"alphas": 6, "alpha_min_ratio": 0.05, "tol": 1e-12, "fit_intercept": False, "max_iter": 5000}
    path = gs.regularization_path(X, Y, penalty="group_l2", **settings)
    np.testing.assert_allclose(path.alphas, alphas)
    np.testing.assert_allclose(np.stack([c.toarray() for c in path.coefs], axis=2), coefs, atol=1e-4)
    chosen = gs.BatchRegressorCV(penalty="group_l2", cv=2, select="best", **settings).fit(X, Y)
    theirs = MultiTaskLassoCV(eps=0.05, alphas=6, cv=2, fit_intercept=False, tol=1e-10, max_iter=50_000).fit(X, Y)
    assert chosen.alpha_ == pytest.approx(theirs.alpha_)
    np.testing.assert_allclose(chosen.coef_, theirs.coef_, atol=1e-3)
    for intercept in (True, False):
        theirs = MultiTaskLasso(0.5, fit_intercept=intercept, tol=1e-12, max_iter=50_000).fit(X, Y)
        ours = regression(0.5, "group_l2", fit_intercept=intercept).fit(X, Y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


@layouts
@ports("test_mtl.test_group_lasso_path", "test_mtl.test_GroupLasso", "test_mtl.test_GroupLassoCV")
def test_every_gap_of_a_path_of_groups_is_small(as_x):
    X, y = data(11, 50)
    penalty = gs.GroupL2(np.arange(50) // 5)
    path = gs.regularization_path(as_x(X), y, penalty=penalty, alphas=8, tol=1e-8, fit_intercept=False, max_iter=5000)
    assert (path.dual_gaps <= 1e-8 * 0.5 * np.mean(y**2)).all()
    assert regression(0.8, penalty, tol=1e-8).fit(as_x(X), y).dual_gap_ <= 1e-8 * 0.5 * np.mean(y**2)
    chosen = gs.BatchRegressorCV(penalty=penalty, alphas=4, cv=3, tol=1e-8, max_iter=5000).fit(as_x(X), y)
    assert chosen.dual_gap_ <= 1e-8 * 0.5 * np.mean(y**2)


@ports("test_mtl.test_weights_group_lasso", "test_mtl.test_check_weights")
def test_weights_of_groups_are_a_scaling_of_their_columns():
    X, y = data()
    groups, weights = np.arange(50) // 5, np.abs(np.random.RandomState(0).randn(10)) + 0.05
    weighted = regression(0.05, gs.GroupL2(groups, weights), fit_intercept=False).fit(X, y)
    each = np.repeat(weights, 5)
    scaled = regression(0.05, gs.GroupL2(groups), fit_intercept=False).fit(X / each, y)
    np.testing.assert_allclose(weighted.coef_, scaled.coef_ / each, atol=1e-4)
    for wrong in (-weights, np.ones(8)):
        with pytest.raises(ValueError, match="weights"):
            regression(0.05, gs.GroupL2(groups, wrong)).fit(X, y)


def test_the_ledger_is_complete():
    ledger.check()
