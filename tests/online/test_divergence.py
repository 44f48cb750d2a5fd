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


@pytest.mark.parametrize("method", [*matrix.METHODS])
def test_partial_fit_keeps_what_it_learned_before_the_row_that_diverges(method):
    """The model is that of the rows before, to the bit, and continues."""
    penalty = "l2_squared" if method.startswith("pegasos") else "none"
    alpha = matrix.alpha_for(method)
    y = Y.copy()
    y[30] = 1e150
    model = gs.OnlineRegressor("squared", penalty, alpha, matrix.METHODS[method])
    twin = gs.OnlineRegressor("squared", penalty, alpha, matrix.METHODS[method])
    model.partial_fit(X[:20], y[:20])
    with pytest.raises(FloatingPointError, match="example 31"):
        model.partial_fit(X[20:], y[20:])
    twin.partial_fit(X[:30], y[:30])
    assert model.t_ == twin.t_ == 30
    assert_array_equal(model.coef_, twin.coef_)
    assert_array_equal(model.intercept_, twin.intercept_)
    model.partial_fit(X[31:], Y[31:])
    assert model.t_ == 59
    assert np.isfinite(model.coef_).all()


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
