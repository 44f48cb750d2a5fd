"""Arrays and tables that NumPy would convert to other numbers in silence: every estimator refuses them in words."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier

import gossamer as gs
from foundation.test_sparse_input import ESTIMATORS, METHODS

N = 24
X = np.random.default_rng(0).normal(size=(N, 3))
Y = np.arange(N) % 2
DAYS = np.arange(3 * N).reshape(N, 3).astype("datetime64[D]")
MASKED = np.ma.masked_array(X, X > 0.5)

ODD = {
    "dates": (DAYS, TypeError, r"X holds dates or times \(datetime64\[D\]\); numbers are needed"),
    "spans": (DAYS - DAYS[0, 0], TypeError, r"X holds dates or times \(timedelta64\[D\]\)"),
    "a list of dates": ([list(row) for row in DAYS], TypeError, "X holds dates"),
    "arrow, one name twice": (pa.table(list(X.T), names=["a", "b", "a"]), ValueError, "two columns called 'a'"),
    "a mask": (MASKED, TypeError, "X is a masked array"),
    "an empty mask": (np.ma.masked_array(X), TypeError, "X is a masked array"),
    "a list of masked rows": (list(MASKED), TypeError, "X is a masked array"),
    "one name twice": (pd.DataFrame(X, columns=["a", "b", "a"]), ValueError, "X has two columns called 'a'"),
    "one number twice": (pd.DataFrame(X, columns=[0, 1, 0]), ValueError, "X has two columns called 0"),
    "complex": (X + 1j, ValueError, "Complex data not supported"),
    "words": (np.full((N, 3), "word"), ValueError, "could not convert string to float"),
    "objects with words": (np.full((N, 3), "word", dtype=object), ValueError, "could not convert string to float"),
    "objects with dates": (DAYS.astype(object), TypeError, "real number, not 'datetime.date'"),
}
DATED = {
    "pandas": pd.DataFrame({"a": X[:, 0], "when": DAYS[:, 1], "c": X[:, 2]}),
    "pandas with a zone": pd.DataFrame(
        {"a": X[:, 0], "when": pd.date_range("2020", periods=N, tz="UTC"), "c": X[:, 1]}
    ),
    "polars": pl.DataFrame({"a": X[:, 0], "when": [datetime.date(2020, 1, 1 + i) for i in range(N)], "c": X[:, 2]}),
    "arrow": pa.table({"a": X[:, 0], "when": DAYS[:, 1], "c": X[:, 2]}),
}


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: getattr(gs, name)().fit(X, Y) for name in ESTIMATORS}


@pytest.mark.parametrize("odd", ODD)
def test_odd_x(fitted, odd):
    given, error, words = ODD[odd]
    for model in fitted.values():
        for method in ("fit", "partial_fit", *METHODS):
            call = getattr(model, method, None)
            needs_y = method in ("fit", "partial_fit", "score")
            if call is not None:
                with pytest.raises(error, match=words):
                    call(given, Y) if needs_y else call(given)


@pytest.mark.parametrize("dated", DATED)
def test_tables_with_dates(fitted, dated):
    """A model of numbers refuses them; a model that learns from them has features of the dates."""
    for name, model in fitted.items():
        for method in ("partial_fit", *METHODS):
            call = getattr(model, method, None)
            if call is not None and method in ("partial_fit", "score"):
                with pytest.raises(TypeError, match="Column 'when' of X holds dates"):
                    call(DATED[dated], Y)
            elif call is not None:
                with pytest.raises(TypeError, match="Column 'when' of X holds dates"):
                    call(DATED[dated])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learned = getattr(gs, name)().fit(DATED[dated], Y)
        assert learned.source_settings_["roles"]["when"] == "date"
        assert learned.predict(DATED[dated]).shape == (N,)


def test_durations_are_refused(fitted):
    spans = pd.DataFrame(DAYS - DAYS[0, 0])
    for name, model in fitted.items():
        with pytest.raises(TypeError, match="Column 0 of X holds dates"):
            model.predict(spans)
        with pytest.raises(ValueError, match="column '0' holds values of a type that is no number"):
            getattr(gs, name)().fit(spans, Y)


@pytest.mark.parametrize("odd", [odd for odd, (given, *_) in ODD.items() if not hasattr(given, "columns")])
def test_odd_x_of_functions_and_models(fitted, odd):
    given, error, _ = ODD[odd]
    model = gs.Model.of(fitted["BatchClassifier"])
    for call in (lambda: gs.alpha_max(given, Y), lambda: gs.regularization_path(given, Y, alphas=2)):
        with pytest.raises(error):
            call()
    for call in (
        lambda: model.predict(given),
        lambda: gs.read((given, Y)),
        lambda: list(gs.source((given, Y)).blocks()),
    ):
        with pytest.raises((TypeError, ValueError), match=r"masked array|dates|must hold real numbers"):
            call()


ODD_Y = {
    "dates": (DAYS[Y, 0], "y holds dates or times"),
    "a series of dates": (pd.Series(DAYS[Y, 0]), "y holds dates or times"),
    "spans": (DAYS[Y, 0] - DAYS[0, 0], "y holds dates or times"),
    "a mask": (np.ma.masked_array(Y, Y == 1), "y is a masked array"),
    "a list of dates": (list(DAYS[Y, 0]), "y holds dates or times"),
}


@pytest.mark.parametrize(("given", "words"), ODD_Y.values(), ids=ODD_Y)
def test_odd_y(given, words):
    for name in ESTIMATORS:
        for rows in (X, sp.csr_array(X)):
            with pytest.raises(TypeError, match=words):
                getattr(gs, name)().fit(rows, given)
    for call in (
        lambda: gs.alpha_max(X, given),
        lambda: gs.OnlineClassifier().partial_fit(X, given, classes=[0, 1]),
        lambda: gs.OnlineClassifier().fit_source((X, given)),
        lambda: gs.BoostingClassifier().fit(X, Y, validation=(X, given)),
    ):
        with pytest.raises(TypeError, match=words):
            call()


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.ma.masked_array(np.ones(N), Y == 1), "sample_weight is a masked array"),
        (np.ones(N).astype("timedelta64[D]"), "sample_weight holds dates or times"),
        (DAYS[:, 0], "sample_weight holds dates or times"),
        (np.full(N, "a"), "sample_weight must hold real numbers"),
        (np.ones(N) + 1j, "sample_weight must hold real numbers"),
    ],
    ids=["a mask", "spans", "dates", "words", "complex"],
)
def test_odd_weights(weight, words):
    for name in ESTIMATORS:
        with pytest.raises(TypeError, match=words):
            getattr(gs, name)().fit(X, Y, weight)


@pytest.mark.parametrize("kind", [bool, object, np.int8, np.uint64, np.float16, np.longdouble, "U8", ">f8"])
def test_other_kinds_of_numbers_are_those_of_scikit_learn(kind):
    given = np.abs(np.round(X)).astype(int).astype(kind)
    plain = np.asarray(given, np.float64)
    theirs = SGDClassifier(random_state=0).fit(given, Y)
    assert np.array_equal(theirs.coef_, SGDClassifier(random_state=0).fit(plain, Y).coef_)
    for name in ESTIMATORS:
        make = getattr(gs, name)
        seed = {"random_state": 0} if "Online" in name else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make(**seed).fit(given, Y)
            assert np.array_equal(model.coef_, make(**seed).fit(plain, Y).coef_), name
        assert np.array_equal(model.predict(given), model.predict(plain)), name


# Values whose squares overflow


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name.startswith("Batch")])
@pytest.mark.parametrize(
    "shape", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, lambda X: X[:, ::-1][:, ::-1]]
)
@pytest.mark.parametrize("size", [1e155, 1e200, 1e300])
def test_values_too_large_for_batch(name, shape, size):
    huge = X * np.array([1.0, 1.0, size])
    with pytest.raises(ValueError, match=r"values of column 2 of X are too large: up to .*e\+.*MaxAbsScaler"):
        getattr(gs, name)().fit(shape(huge), Y)
    with pytest.raises(ValueError, match="values of column 'c' of X are too large"):
        getattr(gs, name)().fit(pd.DataFrame(huge, columns=["a", "b", "c"]), Y)
    for call in (gs.alpha_max, gs.regularization_path):
        with pytest.raises(ValueError, match="values of column 2 of X are too large"):
            call(shape(huge), Y)


def test_large_values_that_batch_takes():
    for kind, size in ((np.float64, 1e150), (np.float32, 1e30)):
        large = (X * np.array([1.0, 1.0, size])).astype(kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = gs.BatchClassifier(alpha=1e-3).fit(large, Y)
        assert np.isfinite(model.coef_).all()
