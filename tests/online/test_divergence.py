"""What diverges raises, and leaves finite numbers: huge steps, values, targets and weights, over the whole matrix."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
from gossamer import _core
from gossamer.methods import Lanes, Setup
from gossamer.sources.rows import Rows, csr_arrays
from online import matrix, paths
from online.problems import LOGISTIC, PROBLEMS, X, over

Y = X @ np.array([1.0, -2.0, 0.5, 1.0, 0.3, 0.1]) + 0.5
STEPS = {
    "fobos": gs.Fobos(1e300),
    "fobos, a schedule": gs.Fobos(gs.Constant(1e30)),
    "rda": gs.RDA(gamma=1e-300),
    "adagrad rda": gs.AdaGrad(step=1e300),
    "adagrad fobos": gs.AdaGrad(step=1e300, form="fobos"),
    "ftrl": gs.FTRL(step=1e300),
    "truncated gradient": gs.TruncatedGradient(step=1e300),
    "subgradient": gs.Subgradient(step=1e300),
}
MIXED = 10.0 ** np.where(np.arange(len(X)) % 3 == 0, 300.0, -300.0)
EXTREMES = {  # X, y and weights
    "X of 1e200": (X * 1e200, Y, None),
    "X of 1e-200": (X * 1e-200, Y, None),
    "X of both": (X * 10.0 ** (200 * np.sign(X)), Y, None),
    "y of 1e200": (X, Y * 1e200, None),
    "y of 1e-200": (X, Y * 1e-200, None),
    "weights of 1e300 and 1e-300": (X, Y, MIXED),
    "weights of 1e308": (X, Y, np.full(len(X), 1e308)),
    "one weight of 1e300": (X, Y, np.where(np.arange(len(X)) == 40, 1e300, 1.0)),
}


def told_or_finite(model, learn):
    """Learn; return whether an error told of the divergence. All that can be read afterwards is finite."""
    before = dict(vars(model))
    try:
        learn(model)
    except (FloatingPointError, ValueError) as error:
        words = str(error)
    else:
        words = ""
    if words:
        assert any(word in words for word in ("diverge", "up to 1e+70", "above 1e200")), words
        assert vars(model) == before  # a new estimator is new again
        return True
    try:
        coef = model.coef_
    except FloatingPointError:  # the weights are read from sums of gradients, and no row came after the last
        return True
    assert np.isfinite(coef).all()
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(model.predict(X[:3])).all() or not hasattr(model, "decision_function")
    assert np.isfinite(model.progressive_loss_)
    return False


@pytest.mark.parametrize("extreme", EXTREMES)
@pytest.mark.parametrize("method", matrix.METHODS)
def test_extreme_data_is_told_or_learned_with_finite_weights(method, extreme):
    data, y, weight = EXTREMES[extreme]
    told = 0
    for of, name in matrix.ALLOWED:
        if of != method or name not in ("none", "l1", "l2 squared", "elastic net", "l1 ball", "simplex", "l2", "kl"):
            continue
        settings = {"penalty": matrix.penalty_for(name, 1), "alpha": matrix.alpha_for(method), "shuffle": False}
        for model, target in (
            (gs.OnlineRegressor(method=matrix.METHODS[method], **settings), y),
            (gs.OnlineClassifier(method=matrix.METHODS[method], **settings), (Y > 0).astype(int)),
        ):
            told += told_or_finite(model, lambda m, t=target: m.fit(data, t, sample_weight=weight))
    if extreme == "weights of 1e308":
        assert told


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize("method", STEPS)
@over("problem", list(PROBLEMS.values()))
def test_huge_steps_are_told(problem, method, average):
    for penalty in ("none", "l1", "elastic_net", "group_l2"):
        if method == "truncated gradient" and penalty not in ("none", "l1"):
            continue
        model = problem.model(STEPS[method], penalty, average=average, shuffle=False)
        told_or_finite(model, lambda m: m.fit(X, problem.y))


def len_of(strengths):
    return f"{np.size(strengths)} given" if np.ndim(strengths) else "found"


BAD = 30  # the row that diverges: larger than all before it, so that scales of features would remember it
LARGE = np.where(np.arange(len(X))[:, None] == BAD, 1e3 * X, X)


def spoiled(task):
    """Return a class of estimators, targets and weights with which that row alone diverges."""
    at = np.arange(len(X)) == BAD
    if task == "regression":
        return gs.OnlineRegressor, np.where(at, 1e150, Y), None
    return gs.OnlineClassifier, LOGISTIC.y, np.where(at, 1e90, 1.0)


def some(part, y, weight, rows):
    known = {"classes": [-1, 1]} if isinstance(part, gs.OnlineClassifier) else {}
    return part.partial_fit(LARGE[rows], y[rows], sample_weight=None if weight is None else weight[rows], **known)


def check_the_same(model, twin, exact):
    assert model.t_ == twin.t_
    for name in ("coef_", "intercept_", "progressive_loss_"):
        assert_allclose(
            getattr(model, name), getattr(twin, name), rtol=0 if exact else 1e-9, atol=0 if exact else 1e-12
        )


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize(("method", "penalty", "average"), matrix.LAST_OR_AVERAGE)
def test_a_row_that_diverges_leaves_no_trace(method, penalty, average, task):
    """The model is that of the rows before, to the bit, and goes on as if that row had never come.

    Averages and norms of groups are brought up to date on the way, which may change the last digits.
    """
    make, y, weight = spoiled(task)
    settings = {"penalty": matrix.penalty_for(penalty, 1), "alpha": matrix.alpha_for(method), "average": average}
    model, twin = (make(method=matrix.METHODS[method], **settings) for _ in range(2))
    some(model, y, weight, slice(20))
    with pytest.raises(FloatingPointError, match="example 31"):
        some(model, y, weight, slice(20, None))
    some(twin, y, weight, slice(BAD))
    exact = not average and (penalty not in matrix.COUPLED or penalty.startswith(("l1 ball", "simplex", "kl", "box")))
    check_the_same(model, twin, exact)
    for part in (model, twin):
        some(part, y, weight, slice(BAD + 1, None))
    check_the_same(model, twin, exact)


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("method", [gs.AdaGrad(), gs.Fobos(), gs.RDA(), gs.FTRL()], ids=str)
def test_a_row_that_diverges_while_the_step_is_being_chosen(method, task):
    """The rows kept to choose the step again are those learned from."""
    make, y, weight = spoiled(task)
    model = make(method=method)
    some(model, y, weight, slice(20))
    with pytest.raises(FloatingPointError):
        some(model, y, weight, slice(20, None))
    learned = model.t_
    assert 20 <= learned <= BAD
    assert len(model._trainer.buffer) == learned
    twin = some(make(method=method), y, weight, slice(learned))
    rest = np.r_[learned:BAD, BAD + 1 : len(X)]
    for part in (model, twin):
        some(part, y, weight, rest)
    check_the_same(model, twin, True)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_partial_fit_source_keeps_the_rows_before_the_one_that_diverges(task):
    make, y, weight = spoiled(task)
    model, twin = (make(method=gs.Fobos(0.1)) for _ in range(2))
    known = {"classes": [-1, 1]} if task == "classification" else {}
    blocks = [(LARGE[i : i + 7], y[i : i + 7], None if weight is None else weight[i : i + 7]) for i in range(0, 60, 7)]
    with pytest.raises(FloatingPointError, match="example 31"):
        model.partial_fit_source(iter(blocks), **known)
    check_the_same(model, some(twin, y, weight, slice(BAD)), True)


def test_a_fit_that_diverges_leaves_a_warm_started_estimator_as_it_was():
    model = gs.OnlineRegressor(warm_start=True, method=gs.Fobos(0.1), shuffle=False).fit(X, Y)
    kept, bad = model.coef_.copy(), Y.copy()
    bad[30] = 1e150
    for _ in range(2):
        with pytest.raises(FloatingPointError):
            model.fit(X, bad)
        assert_array_equal(model.coef_, kept)
        assert model.t_ == len(X)


def test_a_first_partial_fit_that_diverges_leaves_a_new_estimator():
    model = gs.OnlineRegressor(method=gs.Fobos(0.1))
    before = dict(vars(model))
    with pytest.raises(FloatingPointError):
        model.partial_fit(X, Y * 1e200)
    assert vars(model) == before


@pytest.mark.parametrize("penalty", ["l1", "elastic_net", "group_linf"])
@pytest.mark.parametrize("method", paths.METHODS)
def test_a_strength_that_diverges_does_not_disturb_the_others(method, penalty):
    """A lane with a huge step is lost: its loss is infinite, its weights stay finite, the others are as if alone."""
    rows = Rows(*csr_arrays(sp.csr_array(X)), Y[:, None].copy())
    part, loss = gs.penalties.as_penalty(penalty), _core.loss_call(gs.Squared()._core())

    def run(alphas, steps):
        lanes = Lanes(np.array(alphas), np.array(steps))
        learner = paths.METHODS[method].make_lanes(part, Setup(6, 1, 0.0, True), lanes)
        for i in range(0, 60, 7):
            rows[i : i + 7].teach(learner, np.full(len(rows[i : i + 7]), 0.3), loss)
        W, b = np.empty((6, len(alphas))), np.empty(len(alphas))
        learner.read(W, b)
        return W, b, learner

    huge = 1e-290 if method == "rda" else 1e290
    W, b, learner = run([0.01, 0.02, 0.03], [1.0, huge, 0.5])
    only, b_only, _ = run([0.01, 0.03], [1.0, 0.5])
    assert np.isfinite(W).all()
    # A record of rounds may start anew for all lanes, which changes the last digits.
    assert_allclose(W[:, [0, 2]], only, rtol=1e-12 if penalty == "elastic_net" else 0)
    assert_allclose(b[[0, 2]], b_only, rtol=1e-12 if penalty == "elastic_net" else 0)
    if method == "rda" and penalty == "elastic_net":  # γ = 0 is allowed where the penalty is strongly convex
        assert np.isfinite(learner.losses).all()
        return
    assert learner.lost == 1
    assert np.isinf(learner.losses[1])
    assert np.isfinite(learner.losses[[0, 2]]).all()
    state = learner.state()
    learner.restore(state)  # a lost lane can be saved


def test_a_path_of_which_every_strength_diverges_is_told():
    model = gs.OnlineRegressorCV(4, method=gs.Fobos(1e300))
    before = dict(vars(model))
    with pytest.raises(FloatingPointError, match="every strength"):
        model.fit(X, Y)
    assert vars(model) == before


@pytest.mark.parametrize("strengths", [4, 10.0 ** -np.arange(1, 5), 10.0 ** -np.linspace(1, 4, 16)], ids=len_of)
@pytest.mark.parametrize("method", ["auto", gs.Fobos(0.1), gs.RDA(1.0), gs.FTRL(0.5), gs.AdaGrad(0.5)], ids=str)
def test_a_row_that_diverges_at_every_strength_does_not_end_the_path(method, strengths):
    """It is not learned from, the rows of its call are not judged, and the path goes on."""
    model = gs.OnlineRegressorCV(strengths, method=method)
    model.partial_fit(X, Y)
    path, losses, chosen = model.alphas_, model.path_loss_, model.alpha_
    bad = Y.copy()
    bad[BAD] = 1e150
    for _ in range(2):
        with pytest.raises(FloatingPointError, match="every strength"):
            model.partial_fit(X, bad)
        assert_allclose(model.alphas_, path, rtol=0.05)  # the unit of those found follows the rows before
        assert_array_equal(model.path_loss_, losses)
        assert_allclose(model.alpha_, chosen, rtol=0.05)
        assert np.isfinite(model.coef_).all()
    model.partial_fit(X, Y)
    assert np.isfinite(model.path_loss_).all()


@pytest.mark.parametrize("options", [[], ["--alpha", "1e-3"]], ids=["path", "one strength"])
def test_the_command_line_tells_and_writes_no_model(tmp_path, options):
    data, out = tmp_path / "data.svm", tmp_path / "model.gsm"
    data.write_text("".join(f"{t} 1:{x[0]} 2:{x[4]}\n" for x, t in zip(X.tolist(), Y.tolist(), strict=True)))
    command = [sys.executable, "-m", "gossamer", "train", data, "-o", out, "--loss", "squared", *options]
    done = subprocess.run([*command, "--method", "fobos(step=1e300)"], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done
    assert "diverges" in done.stderr
    assert not out.exists()


def test_class_weights_that_overflow_are_told():
    model = gs.OnlineClassifier(class_weight={-1: 1e300, 1: 1e-300})
    with pytest.raises(FloatingPointError, match="weight 1e"):
        model.fit(X, LOGISTIC.y)
    assert not hasattr(model, "coef_")


def test_the_error_names_score_slope_weight_and_step():
    words = r"at example 3: its score is 0 and the slope of its loss -1e\+80 \(its weight 1, its step 0.0577\)"
    with pytest.raises(FloatingPointError, match=words):
        gs.OnlineRegressor(method=gs.Fobos(0.1), fit_intercept=False, shuffle=False).fit(np.eye(3), [0.0, 0.0, 1e80])
