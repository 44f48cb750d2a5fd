"""Batch estimators: outside references, estimator behaviour, paths and cross-validation."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, MultiTaskLasso
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

import gossamer as gs

X_BINARY, Y_BINARY = load_breast_cancer(return_X_y=True)
X_BINARY = scale(X_BINARY)
X_REAL, Y_REAL = load_diabetes(return_X_y=True)
X_REAL = scale(X_REAL)
X_IRIS, Y_IRIS = load_iris(return_X_y=True)


def squared(coef, intercept, X, y):
    return np.sum((X @ coef.T + intercept - y) ** 2) / (2 * len(y))


# Outside references


@pytest.mark.parametrize("alpha", [0.1, 5.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_lasso(alpha, intercept):
    ours = gs.BatchRegressor(alpha=alpha, tol=1e-9, fit_intercept=intercept).fit(X_REAL, Y_REAL)
    theirs = Lasso(alpha=alpha, tol=1e-12, max_iter=100_000, fit_intercept=intercept).fit(X_REAL, Y_REAL)
    value = squared(theirs.coef_, theirs.intercept_, X_REAL, Y_REAL) + alpha * np.abs(theirs.coef_).sum()
    assert math.isclose(ours.objective_, value, rel_tol=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("ratio", [0.2, 0.9])
def test_elastic_net(ratio):
    ours = gs.BatchRegressor(penalty=gs.ElasticNet(ratio), alpha=0.3, tol=1e-9).fit(X_REAL, Y_REAL)
    theirs = ElasticNet(alpha=0.3, l1_ratio=ratio, tol=1e-12, max_iter=100_000).fit(X_REAL, Y_REAL)
    value = squared(theirs.coef_, theirs.intercept_, X_REAL, Y_REAL)
    value += 0.3 * (ratio * np.abs(theirs.coef_).sum() + (1 - ratio) / 2 * np.sum(theirs.coef_**2))
    assert math.isclose(ours.objective_, value, rel_tol=1e-6)


def test_multitask_lasso():
    Y = np.column_stack([Y_REAL, X_REAL[:, 3] * 50 + Y_REAL[::-1], Y_REAL**2 / 300])
    ours = gs.BatchRegressor(penalty="group_l2", alpha=5.0, tol=1e-9).fit(X_REAL, Y)
    theirs = MultiTaskLasso(alpha=5.0, tol=1e-12, max_iter=100_000).fit(X_REAL, Y)
    value = squared(theirs.coef_, theirs.intercept_, X_REAL, Y) + 5.0 * np.linalg.norm(theirs.coef_, axis=0).sum()
    assert math.isclose(ours.objective_, value, rel_tol=1e-6)


@pytest.mark.parametrize("alpha", [1e-3, 1e-2])
@pytest.mark.parametrize("solver", ["coordinate", "interior_point", "fista"])
def test_liblinear(alpha, solver):
    n = len(Y_BINARY)
    ours = gs.BatchClassifier(alpha=alpha, solver=solver, tol=1e-8, fit_intercept=False).fit(X_BINARY, Y_BINARY)
    theirs = LogisticRegression(
        l1_ratio=1, C=1 / (n * alpha), solver="liblinear", tol=1e-10, max_iter=10_000, fit_intercept=False
    ).fit(X_BINARY, Y_BINARY)
    z = X_BINARY @ theirs.coef_[0]
    value = np.mean(np.logaddexp(0, -(2 * Y_BINARY - 1) * z)) + alpha * np.abs(theirs.coef_).sum()
    assert math.isclose(ours.objective_, value, rel_tol=1e-6)


# Behaviour


def test_forms_of_data_agree():
    fits = [
        gs.BatchClassifier(alpha=0.01, tol=1e-8).fit(form(X_BINARY), Y_BINARY).coef_
        for form in (np.asarray, np.asfortranarray, sp.csr_matrix, sp.csc_array, sp.coo_array)
    ]
    for other in fits[1:]:
        np.testing.assert_allclose(other, fits[0], atol=1e-6)
    single = gs.BatchClassifier(alpha=0.01).fit(X_BINARY.astype(np.float32), Y_BINARY)
    np.testing.assert_allclose(single.coef_, fits[0], atol=2e-2)


def test_duplicates_in_sparse_data_add_up():
    X = sp.csr_array(([1.0, 1.0, 3.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    model = gs.BatchRegressor(alpha=1e-3, tol=1e-10)
    np.testing.assert_allclose(model.fit(X, [1.0, 2.0]).coef_, model.fit(X.toarray(), [1.0, 2.0]).coef_, atol=1e-7)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "exponential"])
def test_classes(loss):
    model = gs.BatchClassifier(loss, alpha=1e-3).fit(X_IRIS, np.array(["a", "b", "c"])[Y_IRIS])
    assert model.coef_.shape == (3, 4)
    assert model.score(X_IRIS, np.array(["a", "b", "c"])[Y_IRIS]) > 0.9
    if loss != "squared_hinge":
        np.testing.assert_allclose(model.predict_proba(X_IRIS).sum(axis=1), 1)
    else:
        assert not hasattr(model, "predict_proba")


def test_labels_in_a_matrix():
    Y = np.column_stack([Y_IRIS == 0, Y_IRIS > 1]).astype(int)
    model = gs.BatchClassifier(penalty="group_l2", alpha=1e-2).fit(X_IRIS, Y)
    assert model.predict(X_IRIS).shape == Y.shape
    assert np.mean(model.predict(X_IRIS) == Y) > 0.9


def test_class_weight_is_sample_weight():
    weight = np.where(Y_BINARY == 1, 1.0, 5.0)
    a = gs.BatchClassifier(alpha=0.01, class_weight={0: 5, 1: 1}, tol=1e-9).fit(X_BINARY, Y_BINARY)
    b = gs.BatchClassifier(alpha=0.01, tol=1e-9).fit(X_BINARY, Y_BINARY, sample_weight=weight)
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-7)


def test_warm_start_goes_on():
    model = gs.BatchClassifier(alpha=0.01, tol=1e-8, warm_start=True).fit(X_BINARY, Y_BINARY)
    first = model.objective_
    model.fit(X_BINARY, Y_BINARY)
    assert model.n_iter_ == 1
    assert math.isclose(model.objective_, first, rel_tol=1e-8)


class Quartic:
    """¼ (z − y)⁴"""

    def value(self, z, y):
        return (z - y) ** 4 / 4

    def slope(self, z, y):
        return (z - y) ** 3


class HalfL1:
    def value(self, w):
        return np.abs(w).sum() / 2

    def prox(self, v, step):
        return v - np.clip(v, -step / 2, step / 2)


@pytest.mark.parametrize("solver", ["auto", "fista", "sparsa"])
def test_custom_parts(solver):
    y = Y_REAL / 100
    own = gs.BatchRegressor(Quartic(), HalfL1(), 0.1, solver, tol=1e-6).fit(X_REAL, y)
    assert own.certificate_ == "prox-gradient residual"
    twin = gs.BatchRegressor("squared", HalfL1(), 0.1, solver, tol=1e-7).fit(X_REAL, y)
    same = gs.BatchRegressor("squared", "l1", 0.05, tol=1e-9).fit(X_REAL, y)
    assert twin.certificate_ == "prox-gradient residual"
    assert math.isclose(twin.objective_, same.objective_, rel_tol=1e-6)
    z = X_REAL @ own.coef_ + own.intercept_
    G = X_REAL.T @ (z - y) ** 3 / len(y)
    assert np.all(np.abs(G) <= 0.05 * (1 + 1e-2))
    np.testing.assert_allclose(G[own.coef_ != 0], -0.05 * np.sign(own.coef_[own.coef_ != 0]), rtol=1e-2)
    assert abs(np.mean((z - y) ** 3)) < 1e-9


def test_custom_fobos():
    fit = gs.BatchRegressor(Quartic(), HalfL1(), 0.1, "fobos", tol=1e-3).fit(X_REAL, Y_REAL / 100)
    best = gs.BatchRegressor(Quartic(), HalfL1(), 0.1, tol=1e-7).fit(X_REAL, Y_REAL / 100)
    assert math.isclose(fit.objective_, best.objective_, rel_tol=1e-4)


def test_stopping_short_warns_with_the_gap():
    with pytest.warns(ConvergenceWarning, match=r"Stopped after 1 iterations with a relative duality gap of"):
        model = gs.BatchClassifier(alpha=1e-4, max_iter=1, tol=1e-12).fit(X_BINARY, Y_BINARY)
    assert model.n_iter_ == 1
    assert model.dual_gap_ > 0


def test_interrupting_keeps_the_best(monkeypatch):
    import gossamer.batch.driver

    calls = iter(range(100))
    certify = gossamer.batch.driver.Objective.certify

    def once_too_often(self, point):
        if next(calls) == 4:
            raise KeyboardInterrupt
        return certify(self, point)

    monkeypatch.setattr(gossamer.batch.driver.Objective, "certify", once_too_often)
    with pytest.warns(UserWarning, match="Interrupted after"):
        model = gs.BatchClassifier(alpha=1e-3, tol=1e-12, solver="sparsa").fit(X_BINARY, Y_BINARY)
    assert model.objective_ < math.log(2)
    assert np.any(model.coef_)


def test_progress_is_printed(capsys):
    gs.BatchClassifier(alpha=0.01, verbose=1).fit(X_BINARY, Y_BINARY)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("iteration 1: objective ")
    assert "duality gap" in lines[-1]
    assert "features used" in lines[-1]


def test_pickles_and_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X_REAL, columns=[f"f{j}" for j in range(10)])
    model = gs.BatchRegressor(alpha=5.0).fit(frame, Y_REAL)
    assert set(model.nonzero_features_) <= set(frame.columns)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(frame), model.predict(frame))
    dense = model.coef_
    assert sp.issparse(model.sparsify().coef_)
    np.testing.assert_array_equal(model.densify().coef_, dense)


BAD = {
    "alpha": ({"alpha": -1.0}, "alpha must be finite and ≥ 0"),
    "tol": ({"tol": -1.0}, "tol must be finite and ≥ 0"),
    "max_iter": ({"max_iter": 0}, "max_iter must be a whole number"),
    "loss": ({"loss": "squared"}, "needs a classification loss"),
    "solver": ({"solver": "newton"}, "There is no solver 'newton'"),
    "penalty": ({"penalty": gs.L1(weights=[1.0])}, "one number per feature"),
    "projected": ({"solver": "projected_gradient"}, "it projects"),
}


@pytest.mark.parametrize("settings", BAD.values(), ids=BAD)
def test_bad_settings(settings):
    with pytest.raises(ValueError, match=settings[1]):
        gs.BatchClassifier(**settings[0]).fit(X_BINARY, Y_BINARY)


def test_bad_weights():
    model = gs.BatchClassifier()
    for weight, words in (
        (-np.ones(569), "must not be negative"),
        (np.ones(3), "one entry per row"),
        (np.zeros(569), "All sample weights are zero"),
        (np.full(569, np.nan), "must be finite"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(X_BINARY, Y_BINARY, sample_weight=weight)


def test_multiclass_hinge_needs_no_intercept():
    with pytest.raises(ValueError, match="MulticlassHinge in batch goes without an intercept"):
        gs.BatchClassifier("multiclass_hinge").fit(X_IRIS, Y_IRIS)


# Paths


def test_path_is_what_single_fits_give():
    path = gs.regularization_path(X_BINARY, Y_BINARY, loss="logistic", alphas=8, tol=1e-8)
    assert path.nonzeros[0] == 0
    assert np.all(np.diff(path.alphas) < 0)
    assert path.certificate == "duality gap"
    for alpha, coef, value in zip(path.alphas, path.coefs, path.objectives, strict=True):
        model = gs.BatchClassifier(alpha=alpha, tol=1e-8).fit(X_BINARY, Y_BINARY)
        assert math.isclose(model.objective_, value, rel_tol=1e-6)
        np.testing.assert_allclose(coef.toarray(), model.coef_, atol=1e-2)


def test_path_over_groups_and_classes():
    path = gs.regularization_path(X_IRIS, Y_IRIS, loss="multinomial", penalty="group_l2", alphas=6, tol=1e-7)
    assert path.coefs[0].nnz == 0
    assert path.coefs[-1].shape == (3, 4)
    assert np.all(np.diff(path.objectives) < 0)


@pytest.mark.parametrize("alphas", [0, -3, [], [-1.0]])
def test_bad_alphas(alphas):
    with pytest.raises(ValueError, match="alphas must"):
        gs.regularization_path(X_REAL, Y_REAL, alphas=alphas)


def test_sets_have_no_alpha_max():
    with pytest.raises(ValueError, match="has no strength"):
        gs.alpha_max(X_REAL, Y_REAL, penalty="l1_ball")
    with pytest.raises(ValueError, match="never makes all weights zero"):
        gs.alpha_max(X_REAL, Y_REAL, penalty="l2_squared")


@pytest.mark.parametrize("select", ["best", "sparsest"])
def test_cross_validation(select):
    X, y = make_classification(300, 30, n_informative=5, random_state=0)
    model = gs.BatchClassifierCV(alphas=15, select=select, cv=4).fit(X, y)
    m = len(model.alphas_)
    assert model.path_loss_.shape == model.path_nonzeros_.shape == (m,) == (15,)
    assert [c.shape for c in model.coef_path_] == [(1, 30)] * m
    at = list(model.alphas_).index(model.alpha_)
    np.testing.assert_array_equal(model.coef_path_[at].toarray(), model.coef_)
    best = np.argmin(model.path_loss_)
    assert at == best if select == "best" else at <= best
    if select == "sparsest":
        assert model.path_loss_[at] <= model.path_loss_[best] + model.path_loss_se_[best]
    again = gs.BatchClassifierCV(alphas=15, select=select, cv=4, n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(again.path_loss_, model.path_loss_)  # folds in any order


def test_cross_validated_loss_is_that_of_the_rows_left_out():
    from sklearn.model_selection import KFold

    folds = KFold(3)
    model = gs.BatchRegressorCV(alphas=[5.0, 1.0], cv=folds, tol=1e-9).fit(X_REAL, Y_REAL)
    for a, alpha in enumerate(model.alphas_):
        found = []
        for train, test in folds.split(X_REAL):
            fold = gs.BatchRegressor(alpha=alpha, tol=1e-9).fit(X_REAL[train], Y_REAL[train])
            found.append(np.mean((fold.predict(X_REAL[test]) - Y_REAL[test]) ** 2) / 2)
        assert math.isclose(model.path_loss_[a], np.mean(found), rel_tol=1e-5)


def test_the_path_is_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    display = gs.PathDisplay.from_estimator(gs.BatchRegressorCV(alphas=5, cv=3).fit(X_REAL, Y_REAL))
    assert len(display.axes_) == 3


def test_bad_rule():
    with pytest.raises(ValueError, match="rule must be"):
        gs.BatchRegressorCV(rule="min").fit(X_REAL, Y_REAL)
    with pytest.raises(ValueError, match="select must be 'best' or 'sparsest'"):
        gs.BatchRegressorCV(select="min").fit(X_REAL, Y_REAL)


@pytest.mark.parametrize(("rule", "select"), [("best", "best"), ("one_standard_error", "sparsest")])
def test_the_old_word_is_accepted(rule, select):
    with pytest.warns(FutureWarning, match=f"rule='{rule}' is deprecated; use select='{select}'"):
        old = gs.BatchRegressorCV(alphas=9, cv=3, rule=rule).fit(X_REAL, Y_REAL)
    assert old.alpha_ == gs.BatchRegressorCV(alphas=9, cv=3, select=select).fit(X_REAL, Y_REAL).alpha_


# scikit-learn's checks: nothing is expected to fail in the fits themselves.

ESTIMATORS = [
    gs.BatchClassifier(),
    gs.BatchClassifier(alpha=1e-2, tol=1e-12),  # weights against repetitions are compared to eight digits
    gs.BatchClassifier(penalty="group_l2", alpha=1e-2, tol=1e-12),
    gs.BatchClassifier(loss="squared_hinge", penalty="l1_ball", solver="projected_gradient"),
    gs.BatchRegressor(tol=1e-12),
    gs.BatchRegressor(penalty="elastic_net", alpha=0.1, solver="sparsa", tol=1e-13),
    gs.BatchClassifierCV(alphas=4, cv=3),
    gs.BatchRegressorCV(alphas=4, cv=3),
]

LOOSE = "compared to eight digits, and the default tol stops at four; the same with tol=1e-12 passes"
TIES = "its unscaled data makes margins beyond 37, whose probabilities round to 1 and tie"
STRONG = "its data has no class apart at alpha=0.01: the answer of the stronger penalty; the default passes"
WEIGHTED = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def expected_failures(estimator):
    if type(estimator) is gs.BatchClassifier and estimator.penalty != "l1_ball":
        if estimator.alpha < 1e-2:
            return {WEIGHTED[1]: LOOSE, "check_classifier_multioutput": TIES}
        return {"check_class_weight_classifiers": STRONG}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_scikit_learn(estimator, check):
    check(estimator)
