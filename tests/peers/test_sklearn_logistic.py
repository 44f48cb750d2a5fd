"""What scikit-learn tests of LogisticRegression (linear_model/tests/test_logistic.py), of our batch classifiers."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import scale
from sklearn.utils import compute_class_weight

import gossamer as gs
from peers.ledger import Ledger

ledger = Ledger(
    "sklearn/linear_model/tests/test_logistic.py",
    {
        "The private function behind their path is no estimator; ours is tested as regularization_path.": """
            test_logistic_regression_path_convergence_fail test_logistic_regression_path_coefs_multinomial
            test_logistic_regression_path_init_coefs""",
        "It is about liblinear's dual solver, its seed or its penalised intercept, which we do not have.": """
            test_liblinear_dual_random_state test_liblinear_multiclass_raises test_liblinear_with_large_values
            test_liblinear_not_stuck test_logreg_intercept_scaling_zero""",
        "The folds are judged by the loss alone: there is no scoring, no scores_ and no refit.": """
            test_logistic_cv_refit_false_non_elasticnet test_logistic_cv_mock_scorer
            test_logistic_cv_multinomial_score test_LogisticRegressionCV_no_refit test_lr_scoring_warns
            test_get_default_scorer test_scores_attribute_layout_elasticnet
            test_lr_cv_scores_differ_when_sample_weight_is_requested test_LogisticRegressionCV_on_folds
            test_LogisticRegressionCV_elasticnet_attribute_shapes test_multinomial_cv_iris""",
        "Routing of metadata is a matter of scikit-learn; fit takes X, y and sample_weight.": """
            test_lr_cv_scores_without_enabling_metadata_routing
            test_passing_params_without_enabling_metadata_routing""",
        "It is about a parameter that scikit-learn changes or removes.": """
            test_penalty_deprecated test_logisticregressioncv_warns_with_use_legacy_attributes
            test_l1_ratio_None_deprecated test_logisticregression_warns_with_n_jobs
            test_lr_penalty_l1ratio_incompatible test_l1_ratio_non_elasticnet""",
        "There are no arrays on other devices: the core computes on the processor.": """
            test_logistic_regression_array_api_compliance test_logistic_regression_array_api_warm_start""",
        "Callbacks of fits are tested in tests/estimators/test_callbacks.py.": """
            test_logistic_regression_callback_support test_logistic_regression_callback_fitted_estimator
            test_logistic_regression_callback_support_warning""",
        "There is no Newton step by Cholesky factors that could fail.": "test_newton_cholesky_fallback_to_lbfgs",
        "There is at least one iteration: max_iter must be 1 or more.": "test_zero_max_iter",
        "Weights are float64 for float32 data as well; the dtypes are compared with the solvers.": "test_dtype_match",
        "A warm start repeats no half-done iteration of a line search, so two halves are no whole.": """
            test_warm_start_newton_solver""",
    },
    since="1.9",
)
ports = ledger.ports

PENALTY = {0: "l2_squared", 1: "l1"}
SOLVERS = ["coordinate", "fista", "sparsa"]


def ours(rows, C=1.0, l1_ratio=0, **rest):
    """Our classifier for theirs: C Σ ℓ + Ω is Cn (mean ℓ + αΩ) with α = 1/(Cn); n is the sum of weights, if any."""
    penalty = PENALTY[l1_ratio] if l1_ratio in PENALTY else gs.ElasticNet(l1_ratio)
    return gs.BatchClassifier("logistic", penalty, 0.0 if np.inf == C else 1 / (C * rows), **{"tol": 1e-9} | rest)


def ours_cv(alphas=4, cv=3, l1_ratio=0, **rest):
    penalty = PENALTY[l1_ratio] if l1_ratio in PENALTY else gs.ElasticNet(l1_ratio)
    return gs.BatchClassifierCV("logistic", penalty, alphas=alphas, cv=cv, select="best", **{"tol": 1e-8} | rest)


layouts = pytest.mark.parametrize("as_x", [np.array, sp.csr_array, sp.csc_matrix], ids=["dense", "csr", "csc"])
IRIS, SPECIES = load_iris(return_X_y=True)
CORNERS = np.array([[-1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


@layouts
@ports("test_predict_2_classes", "test_predict_3_classes")
def test_small_problems_are_predicted(as_x):
    for y, settings in itertools.product([[0, 1, 1], [2, 1, 0]], [{"C": 10.0}, {"C": 100.0}]):
        model = ours(3, **settings).fit(as_x(CORNERS), y)
        p = model.predict_proba(as_x(CORNERS))
        assert model.classes_.tolist() == sorted(set(y))
        assert model.predict(as_x(CORNERS)).tolist() == y == model.classes_[p.argmax(axis=1)].tolist()
        np.testing.assert_allclose(p.sum(axis=1), 1)
    assert ours(3, fit_intercept=False).fit(as_x(CORNERS), [0, 1, 1]).intercept_ == 0


@pytest.mark.parametrize("solver", SOLVERS)
@ports("test_logistic_glmnet")
def test_against_numbers_of_glmnet(solver):
    """The numbers are what glmnet prints for lambda = 1 and alpha = 0, as scikit-learn's test records them."""
    X = np.array([[-4, -3, -2, -1, 0, 1, 2, 3, 4], [0, 0, 1, 0, 1, 1, 1, 0, 0]]).T
    model = ours(9, 1 / 9, solver=solver, tol=1e-13).fit(X, [0, 0, 0, 1, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(model.intercept_, 0.89230405539, rtol=1e-5)
    np.testing.assert_allclose(model.coef_, [[0.44464569182, 0.01457563448]], rtol=1e-4)
    model.fit(X, [0, 0, 0, 1, 1, 1, 2, 2, 2])
    intercept = model.intercept_ - model.intercept_.mean()
    np.testing.assert_allclose(intercept, [-0.12004759652, 0.2251747383, -0.1051271418], atol=1e-5)
    weights = [[-0.38023389305, -0.01226499932], [-8.164030176e-05, 4.734548012e-02], [0.3803155334, -0.0350804808]]
    np.testing.assert_allclose(model.coef_, weights, atol=1e-5)


@ports("test_check_solver_option", "test_elasticnet_l1_ratio_err_helpful")
def test_a_solver_refuses_in_words():
    with pytest.raises(ValueError, match="does not go with Simplex"):
        gs.BatchClassifier(penalty="simplex", solver="coordinate").fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match=r"no solver 'liblinear'\. The nearest is 'coordinate'"):
        gs.BatchClassifier(solver="liblinear").fit(IRIS, SPECIES)
    with pytest.raises((TypeError, ValueError), match="l1_ratio"):
        gs.ElasticNet(l1_ratio=None)


@ports("test_sparsify")
def test_sparse_weights_predict_the_same():
    X, names = scale(IRIS), load_iris().target_names[SPECIES]
    model = ours(150).fit(X, names)
    dense = model.decision_function(X)
    for given in (X, sp.coo_array(X)):
        assert sp.issparse(model.sparsify().coef_)
        np.testing.assert_allclose(model.decision_function(given), dense)
        assert not sp.issparse(model.densify().coef_)
        np.testing.assert_allclose(model.decision_function(given), dense)


@ports("test_inconsistent_input", "test_nan")
def test_wrong_input_is_refused():
    X, y = np.random.RandomState(0).random_sample((5, 10)), [0, 1, 1, 1, 1]
    with pytest.raises(ValueError, match="inconsistent number"):
        ours(5).fit(X, y[:-1])
    with pytest.raises(ValueError, match="X has 12 features"):
        ours(5).fit(X, y).predict(np.ones((3, 12)))
    X[0, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        ours(5).fit(X, y)


@ports("test_write_parameters")
def test_weights_may_be_written():
    model = ours(3).fit(CORNERS, [0, 1, 1])
    model.coef_[:] = 0
    model.intercept_[:] = 0
    np.testing.assert_array_equal(model.decision_function(CORNERS), 0)


@ports("test_consistency_path")
def test_a_path_is_single_fits():
    random = np.random.RandomState(0)
    X, y = np.concatenate([random.randn(100, 2) + 1, random.randn(100, 2)]), np.repeat([1, -1], 100)
    settings = {"loss": "logistic", "penalty": "l2_squared", "tol": 1e-12}
    path = gs.regularization_path(X, y, alphas=1 / (200 * np.logspace(0, 4, 6)), **settings)
    for alpha, coef, intercept in zip(path.alphas, path.coefs, path.intercepts, strict=True):
        alone = gs.BatchClassifier(alpha=alpha, **settings).fit(X, y)
        np.testing.assert_allclose(coef.toarray(), alone.coef_, atol=1e-4)
        np.testing.assert_allclose(intercept, alone.intercept_, atol=1e-4)


@ports("test_logistic_cv", "test_logistic_regression_cv_refit")
@pytest.mark.parametrize("l1_ratio", [0, 1])
def test_cross_validation_of_one_strength_is_a_fit(l1_ratio):
    X, y = make_classification(100, 8, random_state=0)
    chosen = ours_cv([0.01], l1_ratio=l1_ratio, tol=1e-12).fit(X, y)
    assert (chosen.alphas_.shape, chosen.path_loss_.shape, chosen.coef_.shape) == ((1,), (1,), (1, 8))
    np.testing.assert_allclose(chosen.coef_, ours(1, 100, l1_ratio, tol=1e-12).fit(X, y).coef_, atol=1e-5)


@ports("test_multinomial_logistic_regression_string_inputs")
def test_labels_may_be_words():
    X, y = make_classification(50, 5, n_classes=3, n_informative=3, random_state=0)
    words = np.array(["bar", "baz", "foo"])[y]
    for make in (lambda: ours(50), lambda: ours_cv([0.1, 0.01])):
        numbers, names = make().fit(X, y - 1), make().fit(X, words)
        np.testing.assert_allclose(numbers.coef_, names.coef_, rtol=1e-12)
        assert names.classes_.tolist() == ["bar", "baz", "foo"]
        assert set(names.predict(X)) <= {"bar", "baz", "foo"}


def test_a_class_of_weight_zero_is_never_predicted():
    X, y = make_classification(50, 5, n_classes=3, n_informative=3, random_state=0)
    words = np.array(["bar", "baz", "foo"])[y]
    weighted = ours(50, class_weight={"bar": 1, "baz": 2, "foo": 0}).fit(X, words)
    assert set(weighted.predict(X)) == {"bar", "baz"}


@ports("test_logistic_cv_folds_with_classes_missing")
def test_a_class_may_be_missing_in_a_fold():
    X, y = make_classification(60, 5, n_classes=3, n_informative=3, random_state=0)
    group = np.where(y == 2, 0, np.arange(60) % 3)  # one fold holds all of the third class
    splits = list(LeaveOneGroupOut().split(X, groups=group))
    model = ours_cv([0.1, 0.01], cv=splits).fit(X, y)
    assert np.isfinite(model.path_loss_).all()
    assert model.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("l1_ratio", [0, 0.5, 1])
@pytest.mark.parametrize("intercept", [True, False])
@ports(
    "test_logistic_regression_solvers",
    "test_saga_vs_liblinear",
    "test_logreg_l1",
    "test_LogisticRegression_elastic_net_objective",
)
def test_all_solvers_find_the_optimum(l1_ratio, intercept):
    X, y = make_classification(100, 10, n_informative=5, random_state=1)
    X = np.c_[X, np.random.RandomState(0).normal(size=(100, 3)), np.ones((100, 2))]
    theirs = LogisticRegression(
        C=0.5, l1_ratio=l1_ratio, solver="saga", fit_intercept=intercept, tol=1e-10, max_iter=20_000
    )
    best = theirs.fit(X, y).coef_[0]

    def objective(w, b):
        ridge, absolute = 0.5 * np.sum(w**2), np.abs(w).sum()
        mean = np.mean(np.logaddexp(0, -(2 * y - 1) * (X @ w + b)))
        return mean + ((1 - l1_ratio) * ridge + l1_ratio * absolute) / (0.5 * 100)

    for solver, as_x in itertools.product(SOLVERS, [np.array, sp.csr_array]):
        model = ours(100, 0.5, l1_ratio, solver=solver, fit_intercept=intercept, tol=1e-11, max_iter=20_000).fit(
            as_x(X), y
        )
        value = objective(model.coef_[0], model.intercept_[0])
        assert model.objective_ == pytest.approx(value, rel=1e-10)
        assert value <= objective(best, theirs.intercept_[0]) + 1e-9
        if l1_ratio < 1:  # two columns are equal, so with ℓ1 alone the optimum is not unique
            np.testing.assert_allclose(model.coef_[0], best, atol=1e-4)


@pytest.mark.parametrize("intercept", [True, False])
@ports("test_logistic_regression_solvers_multiclass", "test_logistic_regression_solvers_multiclass_unpenalized")
def test_all_solvers_find_the_optimum_of_three_classes(intercept):
    X, y = make_classification(60, 6, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.3, random_state=0)
    for C in (1.0, np.inf):
        theirs = LogisticRegression(C=C, fit_intercept=intercept, tol=1e-10, max_iter=5000).fit(X, y)
        expected = theirs.predict_proba(X)
        for solver in SOLVERS:
            model = ours(60, C, solver=solver, fit_intercept=intercept, tol=1e-12, max_iter=20_000).fit(X, y)
            assert model.coef_.shape == (3, 6)
            np.testing.assert_allclose(model.predict_proba(X), expected, atol=2e-5)


@ports("test_logistic_cv_sparse")
def test_sparse_and_dense_choose_the_same():
    X, y = make_classification(100, 5, random_state=0)
    X[X < 0] = 0
    dense, sparse = (ours_cv([0.1, 0.01, 0.001]).fit(A, y) for A in (X, sp.csr_array(X)))
    assert dense.alpha_ == sparse.alpha_
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-4)


@pytest.mark.parametrize("weight", [{0: 0.1, 1: 0.2}, {0: 0.1, 1: 0.2, 2: 0.5}, "balanced"])
@ports(
    "test_logistic_regressioncv_class_weights",
    "test_logistic_regression_solver_class_weights",
    "test_sample_and_class_weight_equivalence_liblinear",
    "test_logistic_regression_class_weights",
)
def test_weights_of_classes_are_weights_of_rows(weight):
    X, y = scale(IRIS)[45:], SPECIES[45:]
    if weight != "balanced" and len(weight) == 2:
        X, y = X[:55], y[:55]
    classes = np.unique(y)
    of_class = compute_class_weight(weight, classes=classes, y=y)
    rows = of_class[np.searchsorted(classes, y)]
    for penalty, as_x in itertools.product(["l1", "l2_squared"], [np.array, sp.csr_array]):
        by_class = gs.BatchClassifier(penalty=penalty, alpha=0.01, tol=1e-10, class_weight=weight).fit(as_x(X), y)
        by_row = gs.BatchClassifier(penalty=penalty, alpha=0.01, tol=1e-10).fit(as_x(X), y, rows)
        np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-9, atol=1e-12)
    folds = StratifiedKFold(3).split(X, y)
    chosen = ours_cv([0.1, 0.01], list(folds), class_weight=weight).fit(X, y)
    theirs = LogisticRegression(C=1 / (chosen.alpha_ * rows.sum()), class_weight=weight, tol=1e-10, max_iter=5000)
    np.testing.assert_allclose(chosen.predict_proba(X), theirs.fit(X, y).predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("l1_ratio", [0, 1])
@ports("test_logistic_regression_sample_weights", "test_logisticregression_liblinear_sample_weight")
def test_weights_of_rows_are_repetitions(l1_ratio):
    X, y = make_classification(60, 5, n_informative=3, n_redundant=0, random_state=0)
    group = np.repeat([0, 1, 2], 20)
    weight = np.where(group == 0, np.random.RandomState(0).randint(0, 5, 60), 1)
    again = np.repeat(np.arange(60), weight)
    weighted = ours(weight.sum(), l1_ratio=l1_ratio).fit(X, y, weight)
    np.testing.assert_allclose(
        weighted.coef_, ours(len(again), l1_ratio=l1_ratio).fit(X[again], y[again]).coef_, atol=1e-4
    )
    fits = []
    for rows, w in [(np.arange(60), weight), (again, None)]:
        splits = list(LeaveOneGroupOut().split(X[rows], groups=group[rows]))
        fits.append(ours_cv([0.1, 0.01], splits, l1_ratio).fit(X[rows], y[rows], w))
    np.testing.assert_allclose(fits[0].path_loss_, fits[1].path_loss_, rtol=1e-5)
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, atol=1e-4)


@ports("test_liblinear_decision_function_zero")
def test_a_score_of_zero_is_the_first_class():
    X, y = make_classification(5, 5, random_state=0)
    assert ours(5, fit_intercept=False).fit(X, y).predict(np.zeros((5, 5))).tolist() == [0] * 5


@ports("test_logreg_predict_proba_multinomial")
def test_one_joint_loss_fits_better_than_one_per_class():
    X, y = make_classification(10, 20, n_classes=3, n_informative=10, random_state=0)
    joint = log_loss(y, ours(10).fit(X, y).predict_proba(X))
    assert joint < log_loss(y, OneVsRestClassifier(ours(10)).fit(X, y).predict_proba(X))


@pytest.mark.parametrize("solver", ["fista", "sparsa", "fobos"])
@ports("test_max_iter", "test_n_iter")
def test_the_last_iteration_is_said(solver):
    model = gs.BatchClassifier(penalty="l1", alpha=1e-4, solver=solver, tol=1e-15, max_iter=2)
    with pytest.warns(ConvergenceWarning, match="Stopped after 20 iterations"):
        model.fit(IRIS, SPECIES == 1)
    assert model.n_iter_ == 20  # ten cheap iterations count as one


@pytest.mark.parametrize("intercept", [True, False])
@ports("test_warm_start", "test_warm_start_converge_LR")
def test_a_warm_start_stays_at_the_optimum(intercept):
    model = ours(150, fit_intercept=intercept, tol=1e-6).fit(IRIS, SPECIES)
    first = model.predict_proba(IRIS)
    for warm, near in [(True, True), (False, False)]:
        model = ours(150, fit_intercept=intercept, tol=1e-6, warm_start=warm, solver="fista").fit(IRIS, SPECIES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(max_iter=1).fit(IRIS, SPECIES)
        assert (np.abs(model.predict_proba(IRIS) - first).max() < 1e-2) == near


@ports("test_elastic_net_coeffs", "test_elastic_net_l1_l2_equivalence")
def test_the_elastic_net_lies_between_its_ends():
    X, y = make_classification(random_state=0)
    l1, middle, l2 = (ours(100, 2.0, ratio).fit(X, y).coef_ for ratio in (1, 0.5, 0))
    for a, b in itertools.combinations((l1, middle, l2), 2):
        assert np.abs(a - b).max() > 1e-3
    for C in (0.01, 1, 100):
        for ratio in (1, 0):
            mixed = gs.BatchClassifier(penalty=gs.ElasticNet(ratio), alpha=1 / (100 * C), tol=1e-9).fit(X, y)
            np.testing.assert_allclose(mixed.coef_, ours(100, C, ratio).fit(X, y).coef_, atol=1e-3)


@ports("test_elastic_net_vs_l1_l2", "test_LogisticRegressionCV_GridSearchCV_elastic_net")
@pytest.mark.parametrize("classes", [2, 3])
def test_a_grid_search_chooses_as_cross_validation_does(classes):
    X, y = make_classification(100, 8, n_classes=classes, n_informative=3, random_state=0)
    alphas, folds = np.array([0.1, 0.01, 0.001]), StratifiedKFold(4)
    grid = {"alpha": alphas, "penalty": [gs.ElasticNet(0.5), "l1"]}
    search = GridSearchCV(ours(100, tol=1e-6), grid, cv=folds, scoring="neg_log_loss").fit(X, y)
    chosen = [ours_cv(alphas, folds, ratio, tol=1e-6).fit(X, y) for ratio in (0.5, 1)]
    best = min(chosen, key=lambda model: model.path_loss_.min())
    assert search.best_params_["alpha"] == best.alpha_
    assert -search.best_score_ == pytest.approx(best.path_loss_.min(), rel=1e-3)


@pytest.mark.parametrize("l1_ratio", [0.1, 0.9])
@ports("test_elastic_net_versus_sgd")
def test_online_and_batch_find_one_optimum(l1_ratio):
    X, y = make_classification(300, 5, n_informative=5, n_redundant=0, random_state=0)
    X, penalty = scale(X), gs.ElasticNet(l1_ratio)
    batch = gs.BatchClassifier("logistic", penalty, 0.01, fit_intercept=False, tol=1e-8).fit(X, y)
    online = gs.OnlineClassifier("logistic", penalty, 0.01, fit_intercept=False, max_passes=100, random_state=0).fit(
        X, y
    )
    np.testing.assert_allclose(online.coef_, batch.coef_, atol=0.1)


@ports("test_penalty_none", "test_c_inf_no_warning")
def test_no_penalty_is_strength_zero():
    X, y = make_classification(300, 5, n_redundant=0, flip_y=0.2, random_state=0)
    none = gs.BatchClassifier(penalty="none", alpha=7.0, tol=1e-10).fit(X, y)
    zero = gs.BatchClassifier(penalty="l2_squared", alpha=0.0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(none.coef_, zero.coef_, atol=1e-4)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(none.coef_, theirs.coef_, atol=1e-4)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
@ports("test_multinomial_identifiability_on_iris")
def test_the_weights_of_classes_sum_to_zero(solver, intercept):
    model = ours(1, 100, solver=solver, fit_intercept=intercept, tol=1e-13).fit(scale(IRIS), SPECIES)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-5)
    if intercept:
        assert model.intercept_.sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("class_weight", [{0: 1.0, 1: 10.0, 2: 1.0}, "balanced"])
@ports("test_sample_weight_not_modified")
def test_weights_are_not_written_to(class_weight):
    weight = np.where(np.arange(150) < 75, 2.0, 1.0)
    kept = weight.copy()
    ours(150, class_weight=class_weight, tol=1e-3).fit(IRIS, SPECIES, sample_weight=weight)
    np.testing.assert_array_equal(weight, kept)


@pytest.mark.parametrize("solver", SOLVERS)
@ports("test_large_sparse_matrix", "test_single_feature_newton_cg")
def test_long_indices_and_single_features(solver):
    X = sp.random_array((20, 10), density=0.3, format="csr", rng=np.random.default_rng(42))
    y = np.random.RandomState(42).randint(2, size=20)
    short = ours(20, solver=solver).fit(X, y)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    np.testing.assert_allclose(ours(20, solver=solver).fit(X, y).coef_, short.coef_)
    X, y = np.array([[0.5, 0.65, 1.1, 1.25, 0.8, 0.54, 0.95, 0.7]]).T, [1, 1, 0, 0, 1, 1, 0, 1]
    theirs = LogisticRegression(tol=1e-10).fit(X, y)
    model = ours(8, solver=solver, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-4)


def test_the_ledger_is_complete():
    ledger.check()
