"""Common mistakes, and the words that the message must have: what was given, where, and what would do."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gossamer as gs

N = 24
X = np.random.default_rng(0).standard_normal((N, 3))
Y = np.arange(N) % 2
FRAME = pd.DataFrame(X, columns=["age", "size", "dose"])
CLASSIFIERS = [
    gs.OnlineClassifier,
    gs.BatchClassifier,
    gs.BoostingClassifier,
    gs.OnlineClassifierCV,
    gs.BatchClassifierCV,
]
REGRESSORS = [gs.OnlineRegressor, gs.BatchRegressor, gs.BoostingRegressor, gs.OnlineRegressorCV, gs.BatchRegressorCV]


def said(call):
    with pytest.raises((ValueError, TypeError, AttributeError, OSError)) as caught:
        call()
    return str(caught.value)


# Settings

SETTINGS = [
    (gs.OnlineClassifier, "max_iter", ["max_passes"]),
    (gs.OnlineClassifier, "n_iter", ["max_passes"]),
    (gs.OnlineClassifier, "epochs", ["max_passes"]),
    (gs.BatchClassifier, "max_passes", ["max_iter"]),
    (gs.BatchClassifier, "n_iter", ["max_iter"]),
    (gs.BoostingClassifier, "n_estimators", ["max_rounds"]),
    (gs.BoostingRegressor, "max_iter", ["max_rounds"]),
    (gs.OnlineClassifier, "C", ["alpha = 1 / (n C)", "alpha=1 / len(X)"]),
    (gs.BatchClassifier, "C", ["alpha = 1 / (n C)"]),
    (gs.BatchClassifierCV, "Cs", ["alphas"]),
    (gs.BatchClassifierCV, "alpha", ["alphas=50"]),
    (gs.OnlineRegressorCV, "n_alphas", ["alphas"]),
    (gs.BatchRegressor, "lam", ["alpha"]),
    (gs.OnlineClassifier, "n_jobs", ["one thread", "OnlineClassifierCV"]),
    (gs.BatchRegressor, "n_jobs", ["one thread", "BatchClassifierCV"]),
    (gs.OnlineClassifier, "eta0", ["method=gossamer.AdaGrad(step=0.1)"]),
    (gs.OnlineClassifier, "learning_rate", ["method=gossamer.AdaGrad(step=0.1)"]),
    (gs.OnlineRegressor, "power_t", ["method=gossamer.AdaGrad(step=0.1)"]),
    (gs.BatchClassifier, "learning_rate", ["no step to choose"]),
    (gs.BoostingRegressor, "learning_rate", ["no step to choose"]),
    (gs.OnlineClassifier, "l1_ratio", ["penalty=gossamer.ElasticNet(l1_ratio=0.5)"]),
    (gs.OnlineRegressor, "epsilon", ["loss=gossamer.Huber"]),
    (gs.BatchClassifier, "random_state", ["chance"]),
    (gs.BatchRegressor, "positive", ["'non_negative_l1'"]),
    (gs.BatchClassifier, "cv", ["BatchClassifierCV(cv=5)"]),
    (gs.BatchClassifier, "groups", ["penalty=gossamer.GroupL2(groups="]),
    (gs.BatchClassifier, "method", ["solver='auto'"]),
    (gs.OnlineClassifier, "solver", ["method='auto'"]),
    (gs.OnlineClassifier, "aplha", ["Did you mean 'alpha'"]),
    (gs.BatchClassifier, "penality", ["Did you mean 'penalty'"]),
    (gs.BatchClassifier, "qqq", ["Its settings are loss, penalty, alpha, solver"]),
]


@pytest.mark.parametrize(("make", "name", "words"), SETTINGS, ids=[f"{m.__name__} {n}" for m, n, _ in SETTINGS])
def test_a_setting_of_another_library(make, name, words):
    message = said(lambda: make(**{name: 1}))
    for word in [f"{make.__name__} has no setting {name!r}", *words]:
        assert word in message


def test_settings_that_exist_are_no_mistake():
    for make in CLASSIFIERS + REGRESSORS:
        known = make().get_params()
        for name, value in known.items():
            make(**{name: value})

    class Own(gs.OnlineClassifier):
        def __init__(self, more=1, **rest):
            super().__init__(**rest)
            self.more = more

    assert Own(more=2, alpha=0.5).alpha == 0.5


# Names

NAMES = [
    ({"loss": "log_loss"}, "It is called 'logistic' here"),
    ({"loss": "log"}, "'logistic'"),
    ({"loss": "mse"}, "It is called 'squared' here"),
    ({"loss": "squared_error"}, "It is called 'squared' here"),
    ({"loss": "modified_huber"}, "The nearest is 'squared_hinge'"),
    ({"penalty": "lasso"}, "It is called 'l1' here"),
    ({"penalty": "ridge"}, "It is called 'l2_squared' here"),
    ({"penalty": "elasticnet"}, "'elastic_net'"),
    ({"penalty": "l2"}, "'l2_squared'"),
    ({"penalty": "l2"}, "L2()"),
    ({"penalty": None}, "It is called 'none' here"),
    ({"penalty": gs.L1}, "pass L1()"),
    ({"alpha": -1}, "alpha must be finite and ≥ 0; -1 was given"),
]


@pytest.mark.parametrize(("settings", "words"), NAMES, ids=[f"{s} {w}" for s, w in NAMES])
@pytest.mark.parametrize("make", [gs.OnlineClassifier, gs.BatchClassifier])
def test_a_name_of_another_library(make, settings, words):
    assert words in said(lambda: make(**settings).fit(X, Y))


@pytest.mark.parametrize("make", [gs.OnlineClassifier, gs.BatchClassifier, gs.OnlineRegressor, gs.BatchRegressor])
def test_a_strength_to_be_chosen(make):
    message = said(lambda: make(alpha="auto").fit(X, Y))
    assert "'auto' was given" in message
    assert f"{make.__name__}CV chooses it" in message


def test_l2_is_still_there_as_an_object():
    assert gs.OnlineClassifier(penalty=gs.L2()).fit(X, Y).coef_.shape == (1, 3)
    assert gs.penalties.resolve("l2_norm") == gs.L2()


# Data


def spoilt(value, row=7, column=1):
    bad = X.copy()
    bad[row, column] = value
    return bad


@pytest.mark.parametrize("make", CLASSIFIERS + REGRESSORS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none(make, value):
    bad = spoilt(value)
    for data in (bad, sp.csr_array(bad), sp.csc_array(bad), bad.astype(np.float32)):
        assert f"row 7, column 1, is {value:g}." in said(lambda data=data: make().fit(data, Y))
    if np.isinf(value):  # a missing number of a table is no mistake
        named = pd.DataFrame(bad, columns=FRAME.columns)
        assert f"row 7, column 'size', is {value:g}." in said(lambda: make().fit(named, Y))


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_a_number_that_is_none_in_prediction(make):
    model = make().fit(FRAME, Y)
    bad = pd.DataFrame(spoilt(np.nan, 3, 2), columns=FRAME.columns)
    assert "row 3, column 'dose', is nan" in said(lambda: model.predict(bad))


def test_a_number_that_is_none_in_later_calls():
    model = gs.OnlineClassifier().partial_fit(X, Y, classes=[0, 1])
    weight = np.r_[np.zeros(5), np.ones(N - 5)]
    for bad in (spoilt(np.nan), sp.csr_array(spoilt(np.nan))):
        assert "row 7, column 1, is nan" in said(lambda bad=bad: model.partial_fit(bad, Y))
        assert "row 7, column 1, is nan" in said(
            lambda bad=bad: gs.OnlineClassifier().fit(bad, Y, sample_weight=weight)
        )
    assert model.t_ == N


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_real_targets_in_a_classifier(make):
    message = said(lambda: make().fit(X, X[:, 0]))
    for word in ("Unknown label type: continuous", "OnlineRegressor", "BatchRegressor"):
        assert word in message


@pytest.mark.parametrize("make", REGRESSORS)
@pytest.mark.parametrize(
    "kind", [list, np.array, lambda y: pd.Series(y, dtype=object)], ids=["list", "array", "series"]
)
def test_words_in_a_regressor(make, kind):
    message = said(lambda: make().fit(X, kind(["no", "yes"] * (N // 2))))
    for word in ("y must hold real numbers", "OnlineClassifier"):
        assert word in message


@pytest.mark.parametrize(
    ("make", "loss"),
    [
        (gs.OnlineClassifier, "hinge"),
        (gs.OnlineClassifierCV, "squared_hinge"),
        (gs.BatchClassifier, "squared_hinge"),
        (gs.BatchClassifierCV, "squared_hinge"),
    ],
)
def test_no_probabilities(make, loss):
    model = make(loss=loss).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    for method in ("predict_proba", "predict_log_proba"):
        message = said(lambda method=method: getattr(model, method)(X))
        for word in ("loss='logistic'", "decision_function", "predict_proba"):
            assert word in message


def test_partial_fit_without_classes():
    message = said(lambda: gs.OnlineClassifier().partial_fit(X, np.where(Y, "yes", "no")))
    for word in ("classes must be passed on the first call", "classes=['no', 'yes']", "grow=True"):
        assert word in message


@pytest.mark.parametrize(
    "make", [gs.BatchClassifierCV, gs.OnlineClassifierCV, gs.BoostingClassifier, gs.BatchRegressorCV]
)
def test_no_threads(make):
    assert "n_jobs must be None, a positive number" in said(lambda: make(n_jobs=0).fit(X, Y))


def test_groups_by_column_names():
    message = said(lambda: gs.BatchClassifier(penalty=gs.GroupL2({"body": ["age", "siz"]})).fit(FRAME, Y))
    assert "there is no such column. Did you mean 'size'?" in message
    message = said(lambda: gs.BatchClassifier(penalty=gs.GroupL2([[0, 1]])).fit(FRAME, Y))
    assert "groups must cover every feature" in message
    assert "dict" in message


def test_a_file_that_is_not_there(tmp_path):
    message = said(lambda: gs.load(tmp_path / "nosuch.gsm"))
    assert re.search(r"There is no file '.*nosuch\.gsm'.*gossamer\.save", message)


def test_what_is_no_table_and_no_matrix():
    words, cells = ["good", "bad"] * 12, np.array([["a", 1.0]] * N, object)
    for call, wanted in (
        (lambda: gs.OnlineClassifier().fit(words, Y), ["There is no file 'good'", "texts to learn from are a column"]),
        (lambda: gs.OnlineClassifier().fit(pd.Series(words), Y), ["a single column is no table", "to_frame()"]),
        (lambda: gs.BatchClassifier().fit({"word": words}, Y), ["X is a dict", "pandas.DataFrame(X)"]),
        (lambda: gs.BatchClassifier().fit(cells, Y), ["row 0, column 0", "fit(frame, target"]),
    ):
        message = said(call)
        for word in wanted:
            assert word in message


@pytest.mark.parametrize("make", REGRESSORS)
def test_a_target_that_is_missing_is_named(make):
    y = np.arange(N) / 2
    y[5] = np.nan
    message = said(lambda: make().fit(X, y))
    assert "y[5] is nan" in message
    assert "Leave out the rows" in message


def test_errors_of_python_name_options_of_python(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n" + "1,x,2.5\n" * 12 + "many,x,2.5\n")
    for call, wanted in (
        (lambda: gs.OnlineRegressor().fit(path), "target='c'"),
        (lambda: gs.OnlineRegressor().fit(path, target="c"), "roles={'a': 'category'}"),
        (lambda: gs.OnlineRegressor().fit(path, target="c"), "on_error='skip'"),
    ):
        message = said(call)
        assert wanted in message
        assert "--" not in message


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("data", [X, FRAME])
def test_weights_by_the_name_of_a_column(kind, data):
    assert "named by weight='dose'" in said(lambda: kind().fit(data, Y, sample_weight="dose"))
