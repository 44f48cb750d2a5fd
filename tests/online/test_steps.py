"""Steps: any schedule, and the choice of "auto" and "theory"."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import gossamer as gs
from gossamer.online import step_search
from online.matrix import penalty_for
from online.problems import LOGISTIC, ONE_AND_THREE, N, X, assert_is_the_twin, assert_same_weights, over, weights

STEPS = {
    "constant": gs.Constant(0.3),
    "1/√t": gs.InverseSqrt(0.3),
    "1/(Ht)": gs.InverseTime(2.0),
    "a function": lambda t: 0.3 / (1 + 0.1 * t),
    "a function of one number": lambda t: 0.2,
}


@pytest.mark.parametrize("name", ["l1", "elastic net", "berhu", "group l2, groups", "l1 ball", "l2 squared"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@over("problem", ONE_AND_THREE)
def test_any_schedule(name, step, average, problem):
    method, penalty = gs.Fobos(step=STEPS[step]), penalty_for(name, problem.outputs)
    model = problem.model(method, penalty, average=average)
    for begin in range(0, N, 17):
        problem.teach(model, X, slice(begin, begin + 17))
    twin = problem.twin(method, penalty, X)
    assert_same_weights(weights(model), twin.average_weights if average else twin.weights)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("method", [gs.TruncatedGradient, gs.Subgradient, gs.ExponentiatedGradient])
def test_any_schedule_with_the_other_methods(method, step):
    method = method(step=STEPS[step])
    penalty = gs.NoPenalty() if isinstance(method, gs.ExponentiatedGradient) else gs.L1()
    model = LOGISTIC.teach(LOGISTIC.model(method, penalty), X)
    assert_is_the_twin(model, LOGISTIC.twin(method, penalty, X))


# "auto" and "theory"


AUTO = {
    "adagrad": (gs.AdaGrad(), "l1"),
    "adagrad fobos": (gs.AdaGrad(form="fobos"), "l1"),
    "fobos": (gs.Fobos(), "l1"),
    "fobos, ball": (gs.Fobos(), "l1_ball"),
    "fobos, theory": (gs.Fobos(step="theory"), "l1"),
    "fobos, theory, ball": (gs.Fobos(step="theory"), "l2_ball"),
    "rda": (gs.RDA(), "l1"),
    "rda, theory": (gs.RDA(gamma="theory"), "l2_squared"),
    "ftrl": (gs.FTRL(), "l1"),
    "truncated gradient": (gs.TruncatedGradient(), "l1"),
    "subgradient, theory": (gs.Subgradient(step="theory"), "l1"),
    "eg": (gs.ExponentiatedGradient(), "none"),
}


def stream(n):
    random = np.random.default_rng(11)
    X = sp.random_array((n, 30), density=0.2, rng=random, format="csr", data_sampler=random.normal)
    labels = (X @ random.normal(size=30) + random.normal(size=n) * 0.3 > 0).astype(int)
    return X, labels


def auto_model(case, average=False):
    method, penalty = AUTO[case]
    return gs.OnlineClassifier("logistic", penalty, 1e-3, method, average=average)


def learned(model, X, y, edges, sample_weight=None):
    for begin, end in pairwise(edges):
        weight = None if sample_weight is None else sample_weight[begin:end]
        model.partial_fit(X[begin:end], y[begin:end], classes=[0, 1], sample_weight=weight)
    return model


def assert_equal_models(one, other):
    assert one.step_ == other.step_
    assert_array_equal(one.coef_, other.coef_)
    assert_array_equal(one.intercept_, other.intercept_)
    assert one.progressive_loss_ == other.progressive_loss_


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize("case", AUTO)
def test_the_automatic_step_does_not_depend_on_the_calls(case, average, monkeypatch):
    monkeypatch.setattr(step_search, "PREFIX", 64)
    X, y = stream(150)
    rows = auto_model(case, average)
    marks = [1, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 66, 127, 128, 129, 150]
    blocks = auto_model(case, average)
    for before, n in zip([0, *marks[:-1]], marks, strict=True):
        learned(rows, X, y, range(before, n + 1))
        learned(blocks, X, y, [before, n])
        whole = learned(auto_model(case, average), X, y, [0, n])
        assert_equal_models(rows, whole)
        assert_equal_models(blocks, whole)


@pytest.mark.parametrize("case", ["adagrad", "fobos", "fobos, theory", "rda"])
@pytest.mark.parametrize(
    "n", [step_search.PREFIX - 1, step_search.PREFIX, step_search.PREFIX + 1, step_search.PREFIX + 500]
)
def test_the_automatic_step_around_the_end_of_the_prefix(case, n):
    X, y = stream(n)
    random = np.random.default_rng(n)
    weight = random.integers(0, 3, n).astype(float)
    whole = learned(auto_model(case), X, y, [0, n], weight)
    cuts = np.sort(random.choice(np.arange(1, n), 20, replace=False))
    assert_equal_models(learned(auto_model(case), X, y, [0, *cuts, n], weight), whole)
    prefix = step_search.PREFIX
    near = [0, 1000, *range(prefix - 20, n, 1), n] if n <= prefix + 1 else [0, prefix, n]
    assert_equal_models(learned(auto_model(case), X, y, near, weight), whole)


KEPT = {
    "an array": lambda X: X.toarray() + 0.01,
    "an array with zeros": lambda X: X.toarray(),
    "CSR": lambda X: X.copy(),
}


@pytest.mark.parametrize("kind", KEPT)
@pytest.mark.parametrize("case", AUTO)
def test_the_rows_that_decide_are_kept_as_they_were_given(case, kind):
    """What the caller does with its arrays after a call changes nothing."""
    X, y = stream(60)
    changed, unchanged = auto_model(case), auto_model(case)
    for begin in (0, 20, 40):
        part = slice(begin, begin + 20)
        given = KEPT[kind](X[part])
        learned(changed, given, y[part], [0, 20])
        (given.data if sp.issparse(given) else given)[:] = 0.0
        learned(unchanged, KEPT[kind](X[part]), y[part], [0, 20])
    assert_equal_models(changed, unchanged)


def test_the_automatic_step_row_by_row_through_the_whole_prefix():
    X, y = stream(step_search.PREFIX + 3)
    n = len(y)
    assert_equal_models(
        learned(auto_model("adagrad"), X, y, range(n + 1)), learned(auto_model("adagrad"), X, y, [0, n])
    )


@pytest.mark.parametrize("case", AUTO)
def test_the_chosen_step_is_the_step_that_is_used(case):
    """Giving the step that was chosen leads to the same model."""
    X, y = stream(300)
    method, _ = AUTO[case]
    found = learned(auto_model(case), X, y, [0, 300])
    name = "gamma" if isinstance(method, gs.RDA) else "step"
    given = auto_model(case).set_params(method=replace(method, **{name: found.step_}))
    assert_equal_models(learned(given, X, y, [0, 300]), found)


@pytest.mark.parametrize("case", ["adagrad", "fobos", "rda", "ftrl"])
def test_the_automatic_step_predicts_better_than_a_bad_one(case):
    X, y = stream(2000)
    found = learned(auto_model(case), X, y, [0, 2000])
    method, _ = AUTO[case]
    name = "gamma" if isinstance(method, gs.RDA) else "step"
    for factor in (1e-3, 1e3):
        bad = auto_model(case).set_params(method=replace(method, **{name: found.step_ * factor}))
        assert found.progressive_loss_ < learned(bad, X, y, [0, 2000]).progressive_loss_


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_adagrad_does_not_see_the_units_of_a_feature(unit):
    X, y = stream(400)
    scaled = sp.csr_array(X * np.where(np.arange(30) % 2, unit, 1.0))
    one, other = (learned(auto_model("adagrad").set_params(alpha=0.0), Z, y, [0, 400]) for Z in (X, scaled))
    np.testing.assert_allclose(other.decision_function(scaled), one.decision_function(X), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("form", ["rda", "fobos"])
def test_adagrad_is_not_fooled_by_a_tiny_first_value(form):
    X = np.array([[1e-6], [1.0], [-1.0], [1.0], [-1.0]])
    settings = {"method": gs.AdaGrad(0.1, form), "alpha": 0.0, "fit_intercept": False, "shuffle": False}
    up = gs.OnlineClassifier(**settings).fit(X, [1, 1, 0, 1, 0])
    down = gs.OnlineClassifier(**settings).fit(X, [0, 1, 0, 1, 0])
    assert 0 < up.coef_[0, 0] < 1
    assert down.progressive_loss_ < 1


def test_a_state_of_another_size_is_refused():
    trainer = gs.OnlineClassifier(shuffle=False).fit(*stream(40))._trainer
    state = trainer.__getstate__()
    state["learner"] = {name: values[:-1] for name, values in state["learner"].items()}
    with pytest.raises(ValueError, match="holds 2 numbers, and 3 are needed"):
        trainer.__setstate__(state)
