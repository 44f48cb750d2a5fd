"""scikit-learn's progress callbacks: begun and ended in order, a usable model at each end, and able to stop a fit."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import scale

import gossamer as gs

pytest.importorskip("sklearn.callback")


class Recorder:
    """Writes down what happens, scores what is fitted so far, and stops after so many parts."""

    def __init__(self, stop_after=None):
        self.events, self.scores, self.stop_after, self.ended = [], [], stop_after, 0

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.events.append("begin " + context.task_name)

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.events.append("end " + context.task_name)
        if fitted_estimator is not None and X is not None and context.task_name != "fold":
            self.scores.append(fitted_estimator.score(X, y))
        self.ended += context.task_name != "fit"
        return self.ended == self.stop_after

    def teardown(self, estimator, context):
        self.events.append("teardown")


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return scale(X), scale(y)


CASES = {
    "online": (gs.OnlineClassifier(max_passes=4, random_state=0), cancer, "pass"),
    "online, regression": (gs.OnlineRegressor(max_passes=4, random_state=0), diabetes, "pass"),
    "path": (gs.OnlineClassifierCV(alphas=4, max_passes=4, random_state=0), cancer, "pass"),
    "batch": (gs.BatchClassifier(alpha=1e-3), cancer, "iteration"),
    "batch, regression": (gs.BatchRegressor(alpha=1e-3, solver="fista"), diabetes, "iteration"),
    "boosting": (gs.BoostingClassifier(alpha=1e-2, batch=2), cancer, "round"),
    "boosting, regression": (gs.BoostingRegressor(alpha=1e-2, batch=2), diabetes, "round"),
}


@pytest.mark.parametrize("name", CASES)
def test_parts_begin_and_end_in_order_with_a_model(name):
    model, data, part = CASES[name]
    recorder = Recorder()
    model = clone(model).set_callbacks(recorder)
    X, y = data()
    model.fit(X, y)
    parts = sum(event == "begin " + part for event in recorder.events)
    middle = [f"begin {part}", f"end {part}"] * parts
    assert recorder.events == ["setup", "begin fit", *middle, "end fit", "teardown"]
    assert parts > 1
    assert recorder.scores[-1] == pytest.approx(model.score(X, y))
    assert not hasattr(model, "_callback_fit_ctx")


@pytest.mark.parametrize("name", CASES)
def test_the_result_is_the_same_with_callbacks(name):
    model, data, _ = CASES[name]
    X, y = data()
    plain, watched = clone(model).fit(X, y), clone(model).set_callbacks(Recorder()).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, watched.coef_)


@pytest.mark.filterwarnings("ignore:Stopped after")
@pytest.mark.parametrize("name", CASES)
def test_a_callback_stops_the_fit(name):
    model, data, part = CASES[name]
    recorder = Recorder(stop_after=2)
    X, y = data()
    stopped = clone(model).set_callbacks(recorder).fit(X, y)
    assert recorder.events.count("end " + part) == 2
    assert recorder.events[-2:] == ["end fit", "teardown"]
    assert stopped.predict(X).shape == y.shape


@pytest.mark.parametrize("name", CASES)
def test_a_fit_that_raises_tears_down_and_leaves_no_trace(name):
    model, data, _ = CASES[name]
    recorder = Recorder()
    X, y = data()
    model = clone(model).set_callbacks(recorder)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 1, np.nan, X), y)
    assert recorder.events in ([], ["setup", "begin fit", f"begin {CASES[name][2]}", "teardown"])
    assert not hasattr(model, "_callback_fit_ctx")


@pytest.mark.parametrize("solver", ["coordinate", "fista", "sparsa", "interior_point", "fobos"])
@pytest.mark.filterwarnings("ignore:Stopped after")
def test_operations_grow_and_can_be_limited(solver):
    class Budget(Recorder):
        operations = ()

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            if fitted_estimator is None or context.task_name == "fit":
                return False
            self.operations += (fitted_estimator.operations_,)
            return self.operations[-1] > 100_000

    budget = Budget()
    X, y = diabetes()
    model = gs.BatchRegressor(alpha=1e-3, solver=solver, tol=1e-12).set_callbacks(budget).fit(X, y)
    assert model.operations_ == budget.operations[-1]
    assert all(a < b for a, b in itertools.pairwise((X.size, *budget.operations)))
    assert all(operations <= 100_000 for operations in budget.operations[:-1])


def test_solvers_look_as_often_as_told():
    X, y = diabetes()
    for solver in (gs.FISTA(look_every=3), gs.SpaRSA(look_every=3), gs.BatchFobos(look_every=3)):
        model = gs.BatchRegressor(alpha=1e-3, solver=solver, tol=1e-6).fit(X, y)
        assert model.n_iter_ % 3 == 0


def test_folds_are_parts_of_cross_validation():
    recorder = Recorder()
    X, y = cancer()
    gs.BatchClassifierCV(alphas=5, cv=3).set_callbacks(recorder).fit(X, y)
    assert recorder.events == [
        "setup", "begin fit", *["begin fold", "end fold"] * 4, "end fit", "teardown",
    ]  # fmt: skip


def test_the_progress_bar_of_scikit_learn_shows_passes(capsys):
    from sklearn.callback import ProgressBar

    pytest.importorskip("rich")
    X, y = cancer()
    gs.OnlineClassifier(max_passes=3, random_state=0).set_callbacks(ProgressBar()).fit(X, y)
    assert "100%" in capsys.readouterr().out
