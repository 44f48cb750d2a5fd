"""What scikit-learn tests of its SGD estimators (linear_model/tests/test_sgd.py), of our online estimators."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.linear_model import ElasticNet
from sklearn.metrics import f1_score
from sklearn.model_selection import RandomizedSearchCV
from sklearn.preprocessing import MinMaxScaler, scale
from sklearn.utils import compute_class_weight

import gossamer as gs
from peers.ledger import Ledger

ledger = Ledger(
    "sklearn/linear_model/tests/test_sgd.py",
    {
        "The one-class support vector machine is no linear model with a loss and a penalty.": """
            test_warm_start_oneclass test_clone_oneclass test_partial_fit_oneclass test_partial_fit_equal_fit_oneclass
            test_late_onset_averaging_reached_oneclass test_sgd_averaged_computed_correctly_oneclass
            test_sgd_averaged_partial_fit_oneclass test_average_sparse_oneclass test_ocsvm_vs_sgdocsvm
            test_sgd_oneclass_convergence test_sgd_oneclass_vs_linear_oneclass
            test_sgd_oneclass_vs_linear_oneclass_offsets_match test_sgd_one_class_svm_estimator_type
            test_sgd_one_class_svm_formulation_with_scipy_minimize""",
        "A method is an object with its own settings, so there is no learning rate that a loss forbids.": """
            test_learning_rate_PA_raises""",
        "There is no learning_rate='adaptive': a schedule is a function of the round, AdaGrad adapts by itself.": """
            test_adaptive_longer_than_constant""",
        "There is no power_t: InverseSqrt and InverseTime are the schedules, and any function is one.": """
            test_power_t_limits""",
        "Averages are kept by the learner in the core, and no private attribute of the estimator shows them.": """
            test_plain_has_no_average_attr""",
        "Averaging has no late start: average is a bool.": """
            test_late_onset_averaging_not_reached test_late_onset_averaging_reached""",
        "There are no coef_init and intercept_init: warm_start continues from the whole state, steps included.": """
            test_provide_coef test_set_intercept_offset test_set_intercept_offset_binary
            test_set_intercept_to_intercept test_sgd_multiclass_with_init_coef test_set_coef_multiclass""",
        "A classifier refuses a regression loss in words; its labels are no numbers.": """
            test_regression_losses""",
        "There is no modified Huber loss; its name points to the squared hinge.": """
            test_loss_modified_huber""",
        "There is no squared epsilon-insensitive loss; its name points to the epsilon-insensitive loss.": """
            test_loss_squared_epsilon_insensitive""",
        "Outputs are learned together in one pass, so one classifier starts no threads of its own.": """
            test_sgd_multiclass_njobs test_multi_thread_multi_class_and_early_stopping
            test_SGDClassifier_fit_for_all_backends""",
        "The held-out rows are no object that a test could replace; their number is tested with their use.": """
            test_validation_mask_correctly_subsets""",
        "The settings of a loss live on the loss, so none can be out of date on the estimator.": """
            test_loss_function_epsilon""",
        "Weights are learned and kept in float64 for float32 data as well, which is the safer choice.": """
            test_sgd_dtype_match""",
    },
    since="1.9",
)
ports = ledger.ports

# Their settings → ours. Their squared hinge has no ½, so with it our alpha is half of theirs.
LOSS = {
    "log_loss": gs.Logistic(),
    "hinge": gs.Hinge(),
    "squared_hinge": gs.SquaredHinge(),
    "squared_error": gs.Squared(),
}
PENALTY = {"l1": gs.L1, "l2": gs.L2Squared, None: gs.NoPenalty, "elasticnet": gs.ElasticNet}


def ours(kind, *, loss=None, penalty="l2", alpha=1e-4, l1_ratio=None, eta0=None, max_iter=20, **rest):
    """Our estimator for their settings; eta0 means learning_rate='constant', which is plain subgradient descent."""
    default = "hinge" if kind is gs.OnlineClassifier else "squared_error"
    loss = LOSS.get(loss or default, loss)
    penalty = PENALTY[penalty]() if l1_ratio is None else PENALTY[penalty](l1_ratio)
    alpha = alpha / 2 if loss == gs.SquaredHinge() else alpha
    method = "auto" if eta0 is None else gs.Subgradient(gs.Constant(eta0))
    return kind(loss, penalty, alpha, method, max_passes=max_iter, random_state=0, **rest)


def classifier(**settings):
    return ours(gs.OnlineClassifier, **settings)


def regressor(**settings):
    return ours(gs.OnlineRegressor, **settings)


both = pytest.mark.parametrize("make", [classifier, regressor])
layouts = pytest.mark.parametrize("as_x", [np.array, sp.csr_array], ids=["dense", "sparse"])

POINTS = np.array([[-2.0, -1.0], [-1.0, -1.0], [-1.0, -2.0], [1.0, 1.0], [1.0, 2.0], [2.0, 1.0]])
SIDES = np.array([1, 1, 1, 2, 2, 2])
NEW = np.array([[-1.0, -1.0], [2.0, 2.0], [3.0, 2.0]])
THREE = np.array([[-1, 1], [-0.75, 0.5], [-1.5, 1.5], [1, 1], [0.75, 0.5], [1.5, 1.5], [-1, -1], [0, -0.5], [1, -1.0]])
NAMES = np.repeat(["one", "two", "three"], 3)
IRIS, SPECIES = load_iris(return_X_y=True)


def averaged_descent(X, y, eta, alpha):
    """The mean iterate of w − η(slope · x + αw), the loss ½(z − y)², by hand.

    There is no intercept: ours has a step of its own.
    """
    w, track = np.zeros(X.shape[1]), []
    for x, target in zip(X, y, strict=True):
        w = w - eta * ((x @ w - target) * x + alpha * w)
        track.append(w)
    return np.mean(track, axis=0)


AVERAGED = {"max_iter": 1, "average": True, "shuffle": False, "fit_intercept": False}


# Both


@both
@layouts
@ports("test_warm_start", "test_warm_start_multiclass")
def test_a_warm_start_goes_on_from_the_state(make, as_x):
    for X, y in [(POINTS, SIDES), (THREE, np.repeat([1, 2, 3], 3))]:
        twice = make(eta0=0.01, shuffle=False, max_iter=2).fit(as_x(X), y)
        warm = make(eta0=0.01, shuffle=False, max_iter=1, warm_start=True)
        warm.fit(as_x(X), y).fit(as_x(X), y)
        assert warm.t_ == twice.t_ == 2 * len(y)
        np.testing.assert_array_equal(warm.coef_, twice.coef_)


@both
@layouts
@ports("test_input_format")
def test_labels_in_two_columns_are_no_classes_and_several_targets_are_allowed(make, as_x):
    y = np.column_stack([SIDES, SIDES])
    if make is classifier:
        with pytest.raises(ValueError, match=r"multiclass-multioutput|0 and 1"):
            make().fit(as_x(POINTS), y)
    else:
        assert make().fit(as_x(POINTS), y).coef_.shape == (2, 2)


@both
@ports("test_clone")
def test_a_clone_with_another_penalty_is_as_one_made_with_it(make):
    changed = clone(make(penalty="l1", alpha=0.01)).set_params(penalty=gs.L2Squared()).fit(POINTS, SIDES)
    np.testing.assert_array_equal(changed.coef_, make(penalty="l2", alpha=0.01).fit(POINTS, SIDES).coef_)


@both
@pytest.mark.parametrize("held", [True, False])
@ports("test_early_stopping")
def test_fit_stops_before_the_last_pass(make, held):
    X, y = IRIS[SPECIES > 0], SPECIES[SPECIES > 0]
    assert make(early_stopping=held, tol=1e-3, max_iter=1000).fit(X, y).n_iter_ < 1000


@both
@ports("test_validation_set_not_used_for_training")
def test_held_out_rows_are_not_learned_from(make):
    settings = {"shuffle": False, "max_iter": 10}
    stopped = make(early_stopping=True, validation_fraction=0.4, n_iter_no_change=10, **settings).fit(IRIS, SPECIES)
    order = np.random.RandomState(0).permutation(150)
    kept, held = np.sort(order[60:]), order[:60]
    alone = make(**settings).fit(IRIS[kept], SPECIES[kept])
    assert stopped.n_iter_ == 10
    assert stopped.t_ == 10 * 90
    np.testing.assert_array_equal(stopped.coef_, alone.coef_)
    # what is watched is the mean loss of the rows held out
    trainer, coded = alone._trainer, alone._trainer.targets
    z = IRIS[held] @ trainer.read()[0] + trainer.read()[1]
    y = coded.encode(SPECIES[held])
    value = np.mean(coded.loss.value(z, y[:, 0] if coded.kind == "multiclass" else y))
    rows = alone._accept(IRIS[held], SPECIES[held], None, None, fresh=False, at_once=True)
    assert trainer.loss_on(rows) == pytest.approx(value, rel=1e-12)


@both
@pytest.mark.parametrize("held", [True, False])
@ports("test_n_iter_no_change")
def test_patience_means_more_passes(make, held):
    passes = [
        make(early_stopping=held, n_iter_no_change=n, tol=1e-4, max_iter=1000).fit(IRIS, SPECIES).n_iter_
        for n in (1, 2, 3, 10)
    ]
    assert passes == sorted(passes)
    assert passes[-1] >= passes[0] + 9


@both
@ports("test_not_enough_sample_for_early_stopping")
def test_some_rows_must_be_left(make):
    with pytest.raises(ValueError, match=r"validation_fraction=0.99 of 6 rows leaves none to learn from"):
        make(early_stopping=True, validation_fraction=0.99).fit(POINTS, SIDES)
    fitted = make().fit(POINTS, SIDES)
    before = fitted.coef_.copy()
    with pytest.raises(ValueError, match="leaves none"):
        fitted.set_params(early_stopping=True, validation_fraction=0.99).fit(POINTS, SIDES)
    np.testing.assert_array_equal(fitted.coef_, before)
    for fraction in (0, 1, -0.1, np.nan):
        with pytest.raises(ValueError, match="validation_fraction"):
            make(early_stopping=True, validation_fraction=fraction).fit(POINTS, SIDES)
    with pytest.raises(ValueError, match="n_iter_no_change"):
        make(n_iter_no_change=0).fit(POINTS, SIDES)


@both
@ports("test_sgd_early_stopping_with_partial_fit")
def test_a_stream_cannot_hold_rows_out(make, tmp_path):
    model = make(early_stopping=True)
    with pytest.raises(ValueError, match="partial_fit cannot: use early_stopping=False"):
        model.partial_fit(POINTS, SIDES)
    with pytest.raises(ValueError, match="a table or a file cannot: use early_stopping=False"):
        model.fit_source((POINTS, SIDES))
    assert not hasattr(model, "coef_")


@ports("test_multi_core_gridsearch_and_early_stopping")
def test_early_stopping_in_a_search():
    grid = {"alpha": np.logspace(-4, 4, 9), "n_iter_no_change": [5, 10, 50]}
    model = classifier(loss="log_loss", tol=1e-2, max_iter=200, early_stopping=True)
    search = RandomizedSearchCV(model, grid, n_iter=4, random_state=0).fit(scale(IRIS), SPECIES)
    assert search.best_score_ > 0.8


@ports("test_sgd_error_on_zero_validation_weight")
def test_rows_of_weight_zero_do_not_judge():
    model = classifier(early_stopping=True)
    with pytest.raises(ValueError, match="All sample weights are zero"):
        model.fit(IRIS, SPECIES, sample_weight=np.zeros(150))
    some = np.arange(150) % 3 == 0
    weighted = clone(model).fit(IRIS, SPECIES, sample_weight=some.astype(float))
    np.testing.assert_array_equal(weighted.coef_, model.fit(IRIS[some], SPECIES[some]).coef_)


@both
@ports("test_sgd_l1_ratio_not_used", "test_sgd_failing_penalty_validation")
def test_the_share_of_l1_belongs_to_the_elastic_net(make):
    with pytest.raises(TypeError, match="l1_ratio"):
        gs.L1(l1_ratio=0.5)
    with pytest.raises((TypeError, ValueError), match="l1_ratio"):
        gs.ElasticNet(None)
    assert make(penalty="elasticnet").fit(POINTS, SIDES).penalty.l1_ratio == 0.5


# Classification


@layouts
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
@ports("test_sgd_clf")
def test_every_loss_separates_two_clouds(as_x, loss):
    model = classifier(loss=loss, alpha=0.01, max_iter=10).fit(as_x(POINTS), SIDES)
    assert model.predict(as_x(NEW)).tolist() == [1, 2, 2]


@ports("test_sgd_predict_proba_method_access")
def test_probabilities_follow_the_loss():
    assert hasattr(gs.OnlineClassifier("logistic"), "predict_proba")
    for loss in ("hinge", "squared_hinge"):
        model = gs.OnlineClassifier(loss)
        assert not hasattr(model, "predict_log_proba")
        with pytest.raises(AttributeError, match="has no predict_proba") as caught:
            model.predict_proba  # noqa: B018
        assert "does not give probabilities" in str(caught.value)


@layouts
@ports("test_average_binary_computed_correctly", "test_sgd_averaged_computed_correctly")
def test_the_average_is_that_of_a_loop_by_hand(as_x):
    random = np.random.RandomState(0)
    X, w = random.normal(size=(20, 10)), random.normal(size=10)
    for y, eta, alpha in [(np.sign(X @ w), 0.1, 2.0), (X @ w, 0.001, 0.01)]:
        model = regressor(eta0=eta, alpha=alpha, **AVERAGED).fit(as_x(X), y)
        twin = averaged_descent(X, y, eta, alpha)
        np.testing.assert_allclose(model.coef_, twin, rtol=1e-12, atol=1e-14)


@layouts
@ports("test_sgd_multiclass_average", "test_partial_fit_multiclass_average")
def test_every_output_has_its_own_average(as_x):
    targets = np.where(NAMES[:, None] == np.unique(NAMES), 1.0, -1.0)
    model = regressor(eta0=0.001, alpha=0.01, **AVERAGED).fit(as_x(THREE), targets)
    for k in range(3):
        twin = averaged_descent(THREE, targets[:, k], 0.001, 0.01)
        np.testing.assert_allclose(model.coef_[k], twin, rtol=1e-12, atol=1e-14)
    # one-vs-rest classes: the outputs of a classifier do not touch each other either
    settings = {"loss": "squared_hinge", "eta0": 0.01, "alpha": 0.01} | AVERAGED
    together = classifier(**settings).partial_fit(as_x(THREE[:3]), NAMES[:3], np.unique(NAMES))
    together.partial_fit(as_x(THREE[3:]), NAMES[3:])
    for k, name in enumerate(together.classes_):
        alone = classifier(**settings).fit(as_x(THREE), name == NAMES)
        np.testing.assert_allclose(together.coef_[k], alone.coef_[0], rtol=1e-12)


@layouts
@ports("test_sgd_averaged_partial_fit", "test_average_sparse")
def test_the_average_does_not_depend_on_the_calls(as_x):
    X = np.kron(np.eye(4), np.ones((2, 1)))[:, [0, 0, 1, 3, 2, 2]]
    y = np.repeat([1.0, 2.0], 4)
    model = regressor(eta0=0.001, alpha=0.01, **AVERAGED)
    model.partial_fit(as_x(X[:4]), y[:4]).partial_fit(as_x(X[4:]), y[4:])
    twin = averaged_descent(X, y, 0.001, 0.01)
    np.testing.assert_allclose(model.coef_, twin, rtol=1e-12, atol=1e-14)


@ports("test_sgd_at_least_two_labels")
def test_one_class_is_refused():
    with pytest.raises(ValueError, match="one class only"):
        classifier().fit(THREE, np.ones(9))


@ports("test_partial_fit_weight_class_balanced")
def test_balanced_weights_need_all_rows_and_a_dict_works():
    balanced = classifier(class_weight="balanced")
    with pytest.raises(ValueError, match=r"needs all rows at once.*compute_class_weight\('balanced'") as caught:
        balanced.partial_fit(POINTS, SIDES, classes=[1, 2])
    classes, sample = np.array([1, 2]), np.array([1, 1, 1, 2])
    code = str(caught.value).partition("class_weight=dict")[2].partition(", with compute")[0]
    names = {
        "classes": classes,
        "sample": sample,
        "compute_class_weight": compute_class_weight,
        "dict": dict,
        "zip": zip,
    }
    weights = eval("dict" + code, names)  # the error is a recipe that runs
    assert weights == {1: 4 / 6, 2: 2.0}
    by_class = classifier(class_weight=weights, eta0=0.1).partial_fit(POINTS, SIDES, classes=classes)
    by_row = classifier(eta0=0.1).partial_fit(
        POINTS, SIDES, classes=classes, sample_weight=np.where(SIDES == 1, 4 / 6, 2.0)
    )
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)


@layouts
@ports("test_sgd_multiclass")
def test_three_classes_have_three_outputs(as_x):
    model = classifier(alpha=0.01, max_iter=20).fit(as_x(THREE), NAMES)
    assert model.coef_.shape == (3, 2)
    assert model.intercept_.shape == (3,)
    assert model.decision_function(as_x([[0.0, 0.0]])).shape == (1, 3)
    assert model.predict(as_x([[-1.5, 0.5], [1.0, 2.0], [0.0, -2.0]])).tolist() == ["one", "two", "three"]


@layouts
@ports("test_sgd_proba")
def test_probabilities_agree_with_scores(as_x):
    two = classifier(loss="log_loss", alpha=0.01, max_iter=10).fit(as_x(POINTS), SIDES)
    high, low = two.predict_proba(as_x([[3.0, 2.0], [-1.0, -1.0]]))
    assert high[1] > 0.5 > low[1]
    three = classifier(loss="log_loss", alpha=0.01, max_iter=10).fit(as_x(THREE), NAMES)
    X = as_x([[0.1, -0.1], [0.3, 0.2], [-1.0, -1.0], [3.0, 2.0]])
    p, z = three.predict_proba(X), three.decision_function(X)
    np.testing.assert_array_equal(np.argsort(p, axis=1), np.argsort(z, axis=1))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(three.predict_log_proba(X), np.log(p))


@layouts
@ports("test_sgd_l1")
def test_l1_keeps_one_of_many_like_features(as_x):
    random = np.random.RandomState(13)
    like = np.c_[random.uniform(0.8, 0.99, (8, 2)), np.ones(8)]
    X = np.where(np.arange(8)[:, None] < 4, np.c_[like[:, ::-1], 0 * like], np.c_[0 * like, like])
    y = np.repeat([1, 2], 4)
    order = random.permutation(8)
    model = classifier(penalty="l1", alpha=0.2, fit_intercept=False, max_iter=2000).set_params(method="ftrl")
    model.fit(as_x(X[order]), y[order])
    assert (model.coef_[0, 1:-1] == 0).all()
    assert (model.predict(as_x(X)) == y).all()
    copy = pickle.loads(pickle.dumps(model.sparsify()))
    assert sp.issparse(copy.coef_)
    assert (copy.predict(as_x(X)) == y).all()


CORNERS = np.array([[-1.0, -1.0], [-1.0, 0.0], [-0.8, -1.0], [1.0, 1.0], [1.0, 0.0]])
TILTED = np.array([1, 1, 1, -1, -1])


@layouts
@ports("test_class_weights", "test_sample_weights")
def test_weights_turn_the_plane(as_x):
    settings = {"alpha": 0.1, "fit_intercept": False, "max_iter": 300}
    x = as_x([[0.15, -1.0]])  # theirs, (0.2, -1), lies on the plane of the optimum, w = (-1, -0.2)
    plain = classifier(**settings).fit(as_x(CORNERS), TILTED)
    assert plain.predict(x) == 1
    np.testing.assert_allclose(plain.decision_function(as_x([[0.2, -1.0]])), 0.0, atol=0.005)
    assert classifier(**settings, class_weight={1: 0.001}).fit(as_x(CORNERS), TILTED).predict(x) == -1
    weight = np.where(TILTED == 1, 0.001, 1.0)
    assert classifier(**settings).fit(as_x(CORNERS), TILTED, weight).predict(x) == -1


@ports("test_equal_class_weight")
def test_equal_class_weights_are_none():
    X, y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([0, 0, 1, 1])
    plain = classifier(loss="log_loss", alpha=0.1, max_iter=500).fit(X, y)
    weighted = classifier(loss="log_loss", alpha=0.05, max_iter=1000, class_weight={0: 0.5, 1: 0.5}).fit(X[::2], y[::2])
    np.testing.assert_allclose(plain.coef_, weighted.coef_, atol=0.05)


@ports("test_wrong_class_weight_label", "test_wrong_sample_weights")
def test_wrong_weights_are_refused():
    with pytest.raises(ValueError, match="class"):
        classifier(class_weight={0: 0.5}).fit(POINTS, SIDES)
    with pytest.raises(ValueError, match="there are 7 weights and 6 rows"):
        classifier().fit(POINTS, SIDES, sample_weight=np.arange(7))


@ports("test_weights_multiplied")
def test_weights_of_rows_and_classes_are_multiplied():
    weight = np.random.RandomState(0).random_sample(6)
    both_kinds = classifier(alpha=0.1, class_weight={1: 0.6, 2: 0.3}).fit(POINTS, SIDES, weight)
    rows_only = classifier(alpha=0.1).fit(POINTS, SIDES, weight * np.where(SIDES == 1, 0.6, 0.3))
    np.testing.assert_allclose(both_kinds.coef_, rows_only.coef_)


@ports("test_balanced_weight")
def test_balanced_weights_mend_a_rare_class():
    order = np.random.RandomState(6).permutation(150)
    X, y = scale(IRIS)[order], SPECIES[order]
    plain = classifier(max_iter=30, shuffle=False).fit(X, y)
    balanced = classifier(max_iter=30, shuffle=False, class_weight="balanced").fit(X, y)
    assert f1_score(y, plain.predict(X), average="weighted") > 0.93
    np.testing.assert_allclose(plain.coef_, balanced.coef_, atol=1e-6)
    rare = np.concatenate([np.arange(150), np.tile(np.flatnonzero(y == 0), 10), np.tile(np.flatnonzero(y == 1), 20)])
    scores = [
        f1_score(
            y, classifier(alpha=0.1, max_iter=30, class_weight=w).fit(X[rare], y[rare]).predict(X), average="weighted"
        )
        for w in (None, "balanced")
    ]
    assert scores[1] > scores[0] + 0.05


@ports("test_partial_fit_exception")
def test_the_first_partial_fit_needs_all_classes():
    with pytest.raises(ValueError, match="classes must be passed"):
        classifier().partial_fit(POINTS, SIDES)


@layouts
@ports("test_partial_fit_binary", "test_partial_fit_multiclass", "test_partial_fit")
def test_shapes_do_not_change_between_calls(as_x):
    for X, y, outputs in [(POINTS, SIDES, 1), (THREE, NAMES, 3)]:
        model = classifier(alpha=0.01)
        for part in (slice(0, 2), slice(2, None)):
            model.partial_fit(as_x(X[part]), y[part], classes=np.unique(y))
            assert model.coef_.shape == (outputs, 2)
            assert model.intercept_.shape == (outputs,)
            assert model.decision_function(as_x([[0.0, 0.0]])).shape == ((1,) if outputs == 1 else (1, 3))
    model = regressor(alpha=0.01)
    for part in (slice(0, 2), slice(2, None)):
        model.partial_fit(as_x(POINTS[part]), SIDES[part])
        assert (model.coef_.shape, model.intercept_.shape, model.predict(as_x(NEW[:1])).shape) == ((2,), (1,), (1,))


@ports("test_fit_then_partial_fit", "test_multiple_fit")
def test_fit_may_be_followed_by_anything():
    model = classifier().fit(THREE, NAMES).partial_fit(THREE, NAMES)
    assert model.t_ == 21 * 9
    model.fit(POINTS[:, :-1], np.where(SIDES == 1, "ham", "spam"))
    assert (model.coef_.shape, model.classes_.tolist()) == ((1, 1), ["ham", "spam"])


@both
@layouts
@ports("test_partial_fit_equal_fit_classif", "test_partial_fit_equal_fit")
def test_two_calls_are_two_passes(make, as_x):
    for method in ("adagrad", gs.Subgradient(gs.Constant(0.01))):  # "auto" knows that rows of later passes were seen
        fit = make(alpha=0.01, max_iter=2, shuffle=False).set_params(method=method).fit(as_x(POINTS), SIDES)
        calls = make(alpha=0.01).set_params(method=method)
        for _ in range(2):
            calls.partial_fit(as_x(POINTS), SIDES, **({"classes": [1, 2]} if make is classifier else {}))
        assert calls.t_ == fit.t_ == 12
        np.testing.assert_array_equal(calls.coef_, fit.coef_)


# Regression


@ports("test_sgd_reg")
def test_equal_features_have_equal_weights():
    model = regressor(alpha=0.1, max_iter=2, fit_intercept=False).fit([[0, 0], [1, 1], [2, 2]], [0, 1, 2])
    assert model.coef_[0] == model.coef_[1] != 0


@layouts
@pytest.mark.parametrize(
    "loss", [gs.Squared(), gs.EpsilonInsensitive(0.01), gs.Huber(0.1)], ids=lambda loss: loss.label
)
@ports("test_sgd_least_squares_fit", "test_sgd_epsilon_insensitive", "test_sgd_huber_fit")
def test_every_loss_finds_a_line(as_x, loss):
    X = np.linspace(-5, 5, 100)[:, None]
    for y, least in [(0.5 * X[:, 0], 0.99), (0.5 * X[:, 0] + np.random.RandomState(0).randn(100), 0.5)]:
        model = regressor(loss=loss, alpha=0.1, max_iter=20, fit_intercept=False).set_params(method="adagrad")
        assert model.fit(as_x(X), y).score(as_x(X), y) > least  # "auto" penalises weights in units of the features


@layouts
@pytest.mark.parametrize("alpha", [0.01, 0.001])
@pytest.mark.parametrize("l1_ratio", [0.5, 0.8, 1.0])
@ports("test_elasticnet_convergence")
def test_many_passes_find_the_optimum(as_x, alpha, l1_ratio):
    random = np.random.RandomState(0)
    X = random.randn(1000, 5)
    y = X @ random.randn(5)
    settings = {"penalty": "elasticnet", "alpha": alpha, "l1_ratio": l1_ratio, "fit_intercept": False, "max_iter": 20}
    in_units = X / np.sqrt(np.mean(X**2, axis=0))  # in which "auto" penalises
    for method, data, passes in (("adagrad", X, 20), ("auto", in_units, 40)):
        batch = ElasticNet(alpha=alpha, l1_ratio=l1_ratio, fit_intercept=False, tol=1e-8).fit(data, y)
        online = regressor(**settings).set_params(method=method, max_passes=passes).fit(as_x(data), y)
        np.testing.assert_allclose(online.coef_, batch.coef_, atol=0.01)


# Numbers


@ports("test_l1_ratio")
def test_the_ends_of_the_elastic_net_are_l1_and_l2():
    X, y = make_classification(n_samples=300, n_features=50, n_informative=20, random_state=1234)
    for ratio, name in [(1 - 1e-10, "l1"), (1e-10, "l2")]:
        mixed = classifier(penalty="elasticnet", l1_ratio=ratio, alpha=0.001, max_iter=3).fit(X, y)
        np.testing.assert_allclose(
            mixed.coef_, classifier(penalty=name, alpha=0.001, max_iter=3).fit(X, y).coef_, atol=1e-6
        )


@ports("test_underflow_or_overflow")
def test_huge_values_are_learned_or_refused():
    random = np.random.RandomState(0)
    X = random.normal(size=(100, 10))
    X[:, :2] *= 1e300
    scaled = MinMaxScaler().fit_transform(X)
    y = scaled @ random.normal(size=10) > 0
    assert np.isfinite(classifier(loss="squared_hinge", alpha=0.1).fit(scaled, y).coef_).all()
    model = classifier(loss="squared_hinge", alpha=0.1)
    try:
        assert np.isfinite(model.fit(X, y).coef_).all()
    except ValueError:
        assert not hasattr(model, "coef_")


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@ports("test_numerical_stability_large_gradient", "test_large_regularization")
def test_large_gradients_and_strengths_stay_finite(penalty):
    wild = classifier(loss="squared_hinge", penalty=penalty, alpha=0.01, max_iter=10).fit(IRIS, SPECIES)
    assert np.isfinite(wild.coef_).all()
    strong = classifier(penalty=penalty, alpha=1e5, max_iter=6, shuffle=False).fit(IRIS, SPECIES)
    np.testing.assert_allclose(strong.coef_, 0, atol=1e-4)


@ports("test_tol_parameter")
def test_tol_decides_on_the_passes():
    X, y = scale(IRIS), SPECIES == 1
    passes = [classifier(tol=tol, max_iter=42).fit(X, y).n_iter_ for tol in (None, 0, 0.1)]
    assert passes[0] == 42 > passes[1] >= passes[2] >= 2


@ports("test_loss_hinge", "test_gradient_squared_hinge", "test_loss_epsilon_insensitive")
def test_losses_by_hand():
    z, y = np.array([1.1, -2, 0.5, 2, -0.5, 0]), np.array([1, -1, 1, -1, -1, 1.0])
    np.testing.assert_allclose(gs.Hinge().value(z, y), [0, 0, 0.5, 3, 0.5, 1])
    np.testing.assert_allclose(gs.Hinge().slope(z, y), [0, 0, -1, 1, 1, -1])
    z, y = np.array([1, -2, 1, -1, 0.5, 0.5]), np.array([1, -1, -1, 1, 1, -1.0])
    np.testing.assert_allclose(2 * gs.SquaredHinge().value(z, y), [0, 0, 4, 4, 0.25, 2.25])
    np.testing.assert_allclose(2 * gs.SquaredHinge().slope(z, y), [0, 0, 4, -4, -1, 3])
    z, y = np.array([0, 0.1, -2.05, 3.05, 2.2, 2, 2, -2]), np.array([0, 0, -2, 3, 2, -1, 2.2, 1])
    np.testing.assert_allclose(gs.EpsilonInsensitive(0.1).value(z, y), [0, 0, 0, 0, 0.1, 2.9, 0.1, 2.9], atol=1e-15)
    np.testing.assert_allclose(gs.EpsilonInsensitive(0.1).slope(z, y), [0, 0, 0, 0, 1, 1, -1, -1])


@both
@ports("test_sgd_random_state")
def test_a_seed_is_an_order_of_the_rows(make):
    X, y = (make_classification if make is classifier else make_regression)(random_state=0)
    coefs = [make(max_iter=1).set_params(random_state=seed).fit(X, y).coef_ for seed in (3, 3, 4)]
    np.testing.assert_array_equal(coefs[0], coefs[1])
    assert np.abs(coefs[0] - coefs[2]).max() > 1e-3


@both
@ports("test_sgd_verbose")
def test_one_line_per_pass(make, capsys):
    make(verbose=1, max_iter=3).fit(POINTS, SIDES)
    make(verbose=1, max_iter=2, early_stopping=True, n_iter_no_change=2).fit(POINTS, SIDES)
    lines = capsys.readouterr().out.splitlines()
    assert [line.startswith("pass ") for line in lines] == [True] * 5
    assert ["held-out" in line for line in lines] == [False] * 3 + [True] * 2


@both
@ports("test_sgd_numerical_consistency")
def test_float32_data_gives_the_same_weights(make):
    wide, narrow = (make(max_iter=22, shuffle=False).fit(POINTS.astype(t), SIDES) for t in (np.float64, np.float32))
    np.testing.assert_array_equal(wide.coef_, narrow.coef_)


def test_the_ledger_is_complete():
    ledger.check()
