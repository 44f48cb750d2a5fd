"""What lightning tests of its classifiers and regressors (lightning/impl/tests), of our online and batch estimators.

Its tests compare scores on made data with recorded numbers. Ours use other data, and ask for what these numbers show:
that every loss and penalty learns, how sparse the weights are, and what they sum to.
"""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, make_classification, make_regression
from sklearn.preprocessing import scale

import gossamer as gs
from peers.ledger import Ledger

ledger = Ledger(
    "lightning/impl/tests",
    {
        "It is about a solver that we do not have, or about a dual problem in kernels.": """
            test_sag.* test_sdca.* test_prox_sdca.* test_svrg.* test_dual_cd.* test_primal_newton.*
            test_kernel_ridge.*""",
        "There is no ranking of ordered classes.": "test_prank.*",
        "Their classes of data sets are inside matters; sources of ours have tests of their own.": "test_dataset.*",
        "There is no total variation of weights.": """
            test_prox.test_tv1_denoise test_prox.test_tv1d_dtype test_fista.test_fista_multiclass_tv1d""",
        "There is no penalty on singular values.": """
            test_fista.test_fista_multiclass_trace test_fista.test_fista_regression_trace""",
        "The loss is not one of ours; its name points to the nearest.": """
            test_fista.test_fista_multiclass_l1l2_log_margin test_adagrad.test_adagrad_elastic_smooth_hinge
            test_primal_cd.test_fit_linear_binary_l2r_modified_huber""",
        "How steps are searched, or features dropped for a while, is inside the solver, and no setting.": """
            test_fista.test_fista_multiclass_l1l2_no_line_search test_fista.test_fista_multiclass_l1_no_line_search
            test_fista.test_fista_bin_l1_no_line_search test_primal_cd.test_fit_linear_binary_l1r_no_linesearch
            test_primal_cd.test_l1r_shrinking test_primal_cd.test_fit_linear_binary_l1r_log_loss_no_linesearch
            test_primal_cd.test_l1l2_multiclass_log_loss_no_linesearch
            test_primal_cd.test_l1l2_multiclass_squared_hinge_loss_no_linesearch""",
        "There is no second fit without the penalty; a user can fit the chosen columns again.": """
            test_primal_cd.test_debiasing_l1 test_primal_cd.test_debiasing_l1l2
            test_primal_cd.test_debiasing_warm_start""",
        "A classifier takes no regression loss; a regressor on coded labels does the same.": """
            test_primal_cd.test_fit_squared_loss test_primal_cd.test_fit_squared_loss_l1
            test_primal_cd.test_l1l2_multi_task_square_loss""",
        "There is no squared norm on the non-negative orthant; NonNegativeL1 and Box are there.": """
            test_sgd.test_regression_squared_loss_nn_l2 test_primal_cd.test_fit_reg_squared_loss_nn_l2""",
        "Callbacks are those of scikit-learn, tested in tests/estimators/test_callbacks.py.": """
            test_adagrad.test_adagrad_callback""",
        "The squared hinge has no joint form for many classes; it is one-vs-rest.": """
            test_sgd.test_multiclass_squared_hinge_sgd
            test_primal_cd.test_l1l2_multiclass_squared_hinge_loss""",
    },
    since="0.6",
)
ports = ledger.ports

# Their settings → ours: "log" is "logistic", "l1/l2" is "group_l2" (a feature over all classes), "nn" is
# "non_negative_l1" or a box, "l1-ball" and "simplex" are sets. C is 1/(αn), and 1/(2αn) for the squared hinge, as ours
# has a ½.
layouts = pytest.mark.parametrize("as_x", [np.array, sp.csr_array], ids=["dense", "sparse"])
SETTINGS = {"n_features": 100, "n_informative": 6, "n_redundant": 0, "class_sep": 2.0, "random_state": 0}
TWO_X, TWO = make_classification(200, n_classes=2, **SETTINGS)
THREE_X, THREE = make_classification(300, n_classes=3, n_clusters_per_class=1, **SETTINGS)
IRIS, SPECIES = load_iris(return_X_y=True)


def batch(loss, penalty, alpha, X, y, **rest):
    kind = gs.BatchClassifier if loss in ("logistic", "squared_hinge", "hinge") else gs.BatchRegressor
    return kind(loss, penalty, alpha, **{"tol": 1e-6, "max_iter": 5000} | rest).fit(X, y)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@ports("test_adagrad.test_adagrad_elastic_hinge", "test_adagrad.test_adagrad_elastic_log")
def test_adagrad_separates_two_kinds_of_iris(loss):
    X, y = IRIS[SPECIES <= 1], SPECIES[SPECIES <= 1] * 2 - 1
    model = gs.OnlineClassifier(loss, gs.ElasticNet(0.85), 0.1, "adagrad", max_passes=10, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.classes_.tolist() == [-1, 1]


@ports("test_adagrad.test_adagrad_hinge_multiclass", "test_adagrad.test_adagrad_regression")
def test_adagrad_with_more_classes_and_with_numbers():
    settings = {"method": "adagrad", "max_passes": 100, "random_state": 0}
    assert gs.OnlineClassifier("hinge", "l1", 1e-3, **settings).fit(IRIS, SPECIES).score(IRIS, SPECIES) > 0.94
    X, y = IRIS[SPECIES <= 1], SPECIES[SPECIES <= 1] * 2.0 - 1
    for loss in (gs.Squared(), gs.EpsilonInsensitive(0.0)):  # ε = 0 is the absolute error
        model = gs.OnlineRegressor(loss, "l1", 1e-4, **settings).fit(X, y)
        assert (np.sign(model.predict(X)) == y).all()


@layouts
@pytest.mark.parametrize("intercept", [True, False])
@ports("test_sgd.test_binary_linear_sgd")
def test_every_method_learns_two_classes(as_x, intercept):
    methods = {
        "hinge": [gs.Pegasos(), gs.Subgradient("auto"), gs.Subgradient(gs.Constant(0.01)), gs.Fobos()],
        "squared_hinge": [gs.Subgradient(gs.Constant(1e-3)), gs.AdaGrad()],
        "logistic": [gs.Subgradient(gs.Constant(0.01)), gs.RDA(), gs.FTRL()],
    }
    for loss, method in [(loss, method) for loss, some in methods.items() for method in some]:
        settings = {"fit_intercept": intercept, "max_passes": 10, "random_state": 0}
        model = gs.OnlineClassifier(loss, "l2_squared", 0.01, method, **settings).fit(as_x(TWO_X), TWO)
        assert model.score(as_x(TWO_X), TWO) > 0.93, (loss, method)
        assert model.classes_.tolist() == [0, 1]
        assert hasattr(model, "predict_proba") == (loss == "logistic")


@layouts
@pytest.mark.parametrize("penalty", ["l2_squared", "group_l2"])
@ports("test_sgd.test_multiclass_sgd", "test_sgd.test_multiclass_hinge_sgd", "test_sgd.test_multiclass_log_sgd")
@ports("test_sgd.test_multiclass_hinge_sgd_l1l2")
def test_three_classes_online(as_x, penalty):
    for loss, intercept in itertools.product(["hinge", "logistic"], [True, False]):
        model = gs.OnlineClassifier(loss, penalty, 1e-3, fit_intercept=intercept, max_passes=5, random_state=0)
        assert model.fit(as_x(THREE_X), THREE).score(as_x(THREE_X), THREE) > 0.85
        assert model.classes_.tolist() == [0, 1, 2]


@ports("test_sgd.test_regression_squared_loss", "test_sgd.test_regression_squared_loss_multiple_output")
def test_numbers_online():
    X, y = make_regression(100, 10, n_informative=8, random_state=0)
    single = gs.OnlineRegressor("squared", "l2_squared", 1e-4, max_passes=30, random_state=0).fit(X, y)
    assert np.mean((single.predict(X) - y) ** 2) < 1e-3 * y.var()
    double = gs.OnlineRegressor("squared", "l2_squared", 1e-4, "fobos", max_passes=30, random_state=0)
    predicted = double.fit(X, np.column_stack([y, y])).predict(X)
    np.testing.assert_array_equal(predicted[:, 0], predicted[:, 1])
    assert np.mean((predicted[:, 0] - y) ** 2) < 1e-2 * y.var()


@ports("test_sgd.test_regression_squared_loss_nn_l1", "test_primal_cd.test_fit_reg_squared_loss_nn_l1")
def test_non_negative_weights():
    random = np.random.RandomState(0)
    X = random.rand(100, 10)
    y = X @ (random.rand(10) * (np.arange(10) < 8))
    for penalty, alpha in [("non_negative_l1", 1e-6), ("non_negative_l1", 0.0), (gs.Box(0, np.inf), 1.0)]:
        online = gs.OnlineRegressor("squared", penalty, alpha, max_passes=100, random_state=0).fit(X, y)
        assert (online.coef_ >= 0).all()
        assert np.mean((online.predict(X) - y) ** 2) < 0.02
        exact = batch("squared", penalty, alpha, X, y)
        assert (exact.coef_ >= 0).all()
        assert np.mean((exact.predict(X) - y) ** 2) < 1e-4


@layouts
@pytest.mark.parametrize("penalty", ["l1", "group_l2"])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@ports("test_fista.test_fista_multiclass_l1l2", "test_fista.test_fista_multiclass_l1l2_log")
@ports("test_fista.test_fista_multiclass_l1", "test_primal_cd.test_l1l2_multiclass_log_loss")
@ports("test_primal_cd.test_l1l2_multi_task_squared_hinge_loss", "test_primal_cd.test_l1l2_multi_task_log_loss")
@ports("test_fista.test_fista_multiclass_classes", "test_primal_cd.test_fit_linear_multi_l2r")
@ports("test_sparsa.test_sparsa_multiclass_l1l2", "test_sparsa.test_sparsa_multiclass_l1")
@ports("test_sparsa.test_sparsa_multitask_l1l2", "test_sparsa.test_sparsa_multitask_l1")
def test_three_classes_in_batch(as_x, penalty, loss):
    counts = []
    for alpha, solver in [(1e-3, "auto"), (3e-2, "sparsa")]:
        model = batch(loss, penalty, alpha, as_x(THREE_X), THREE, tol=1e-4, solver=solver)
        assert model.score(as_x(THREE_X), THREE) > 0.9
        assert model.classes_.tolist() == [0, 1, 2]
        used = (model.coef_ != 0).sum(axis=0)
        assert penalty == "l1" or set(used) <= {0, 3}  # a feature is used for all classes, or for none
        counts.append(used.sum())
    assert counts[0] > counts[1] > 0


@layouts
@ports("test_fista.test_fista_bin_l1", "test_fista.test_fista_bin_classes", "test_sparsa.test_sparsa_bin_l1")
@ports("test_primal_cd.test_fit_linear_binary_l1r", "test_primal_cd.test_fit_linear_binary_l1r_log_loss")
@ports("test_primal_cd.test_fit_linear_binary_l2r", "test_primal_cd.test_fit_linear_binary_l2r_log")
def test_two_classes_in_batch(as_x):
    for loss, solver in itertools.product(["squared_hinge", "logistic"], ["fista", "coordinate", "sparsa"]):
        weak, strong = (batch(loss, "l1", a, as_x(TWO_X), TWO, solver=solver, tol=1e-4) for a in (1e-3, 5e-2))
        assert weak.score(as_x(TWO_X), TWO) >= 0.99
        assert strong.score(as_x(TWO_X), TWO) > 0.9
        assert len(weak.nonzero_features_) > len(strong.nonzero_features_) > 0
        assert weak.classes_.tolist() == [0, 1]
        assert batch(loss, "l2_squared", 1e-3, as_x(TWO_X), TWO, solver=solver).score(as_x(TWO_X), TWO) >= 0.99


@ports("test_primal_cd.test_warm_start_l1r", "test_primal_cd.test_warm_start_l1r_regression")
@ports("test_primal_cd.test_warm_start_l2r")
def test_a_warm_start_at_a_weaker_strength_uses_more_features():
    for kind, y in [(gs.BatchClassifier, TWO), (gs.BatchRegressor, 2.0 * TWO - 1)]:
        model = kind(penalty="l1", alpha=0.05, warm_start=True).fit(TWO_X, y)
        before = len(model.nonzero_features_)
        assert len(model.set_params(alpha=0.01).fit(TWO_X, y).nonzero_features_) > before


@ports("test_primal_cd.test_empty_model")
def test_an_empty_model_predicts_the_larger_class():
    model = batch("logistic", "l1", 1e3, TWO_X, TWO)
    assert len(model.nonzero_features_) == 0
    assert len(np.unique(model.predict(TWO_X))) == 1
    assert model.score(TWO_X, TWO) == max(TWO.mean(), 1 - TWO.mean())


@ports("test_fista.test_fista_regression", "test_primal_cd.test_fit_reg_squared_l2")
@ports("test_primal_cd.test_fit_reg_squared_l1", "test_primal_cd.test_fit_reg_squared_multiple_outputs")
def test_numbers_in_batch():
    y = 2.0 * TWO - 1
    assert np.mean(np.sign(batch("squared", "l1", 1e-3, TWO_X, y, solver="fista").predict(TWO_X)) == y) > 0.95
    digits, number = load_digits(n_class=2, return_X_y=True)
    digits = scale(digits)
    for penalty in ("l1", "l2_squared"):
        model = batch("squared", penalty, 1e-3, digits, number)
        assert ((model.predict(digits) > 0.5) == number).all()
    coded = np.eye(3)[THREE]
    rows = batch("squared", "group_l2", 0.02, THREE_X, coded)
    assert np.mean(rows.predict(THREE_X).argmax(axis=1) == THREE) > 0.9
    assert 0 < len(rows.nonzero_features_) < 100


@pytest.mark.parametrize("penalty", [gs.Simplex(1.0), gs.L1Ball(5.0), gs.Simplex(5.0)], ids=str)
@ports("test_fista.test_fista_regression_simplex", "test_fista.test_fista_regression_l1_ball")
def test_weights_in_a_set(penalty):
    random = np.random.RandomState(0)
    w = penalty.prox(random.randn(10) * 5, 1.0)
    X = random.randn(300, 10)
    for solver in ("fista", "sparsa", "projected_gradient"):
        model = batch("squared", penalty, 1.0, X, X @ w, solver=solver, fit_intercept=False, tol=1e-10)
        np.testing.assert_allclose(model.coef_, w, atol=1e-3)
        assert penalty.value(model.coef_) == 0
        assert np.abs(model.coef_).sum() == pytest.approx(penalty.radius, abs=1e-3)


class OwnL1:
    """A penalty by a user."""

    def value(self, w):
        return np.abs(w).sum()

    def prox(self, v, step):
        return np.sign(v) * np.maximum(np.abs(v) - step, 0)


@layouts
@ports("test_fista.test_fista_custom_prox")
def test_a_penalty_of_ones_own(as_x):
    settings = {"solver": "fista", "tol": 1e-5}
    library, own = (batch("logistic", p, 1e-2, as_x(TWO_X), TWO, **settings) for p in ("l1", OwnL1()))
    np.testing.assert_allclose(own.coef_, library.coef_, atol=2e-3)


@pytest.mark.parametrize(("size", "radius"), [(100, 10), (3, 1), (2, 1)])
@ports("test_penalty.test_proj_simplex", "test_penalty.test_proj_l1_ball")
def test_projections_against_bisection(size, radius):
    """θ with Σ [v − θ]₊ = radius, by halving an interval."""
    v = np.random.RandomState(0).rand(size)
    low, high = v.min() - radius, v.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(v - middle, 0).sum() > radius else (low, middle)
    np.testing.assert_allclose(gs.project_simplex(v, radius), np.maximum(v - low, 0), atol=1e-12)
    w = gs.project_l1_ball(np.random.RandomState(0).randn(100), 50.0)
    assert np.abs(w).sum() == pytest.approx(50)


def test_the_ledger_is_complete():
    ledger.check()
