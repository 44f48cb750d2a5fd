"""The estimators that learn a path, as their users meet them."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import gossamer as gs
from gossamer import methods
from gossamer.online import step_search
from gossamer.sources.rows import Rows, csr_arrays
from online.paths import ALPHAS, METHODS, SPARSE, X
from online.problems import LOGISTIC, MULTINOMIAL, features


@pytest.mark.parametrize("seed", range(20))
def test_outputs_of_the_path(seed):
    path = gs.OnlineClassifierCV(4, penalty="group_l2", random_state=seed).fit(X, MULTINOMIAL.y)
    assert len(path.coef_path_) == 4
    assert path.coef_path_[0].shape == path.coef_.shape == (3, X.shape[1])
    lane = list(path.alphas_).index(path.alpha_)
    assert_array_equal(path.coef_path_[lane].toarray(), path.coef_)
    rows = np.count_nonzero(path.coef_, axis=0)
    assert set(rows.tolist()) <= {0, 3}


@pytest.mark.parametrize("penalty", ["l1", "elastic_net", "berhu"])
@pytest.mark.parametrize("method", [*METHODS.values(), "auto"], ids=str)
@pytest.mark.parametrize("at", [10, 40])
def test_copies_go_on_as_if_nothing_had_happened(method, penalty, at):
    path = gs.OnlineClassifierCV(4, penalty=penalty, method=method)
    LOGISTIC.teach(path, X, slice(0, at))
    copied = pickle.loads(pickle.dumps(path))
    assert_array_equal(copied.coef_, path.coef_)
    for model in (path, copied):
        LOGISTIC.teach(model, X, slice(at, 60))
    assert_array_equal(copied.coef_, path.coef_)
    assert_array_equal(copied.path_loss_, path.path_loss_)


def test_a_clone_knows_the_settings_only():
    path = gs.OnlineClassifierCV([0.1, 0.01], max_nonzeros=4).fit(X, LOGISTIC.y)
    assert clone(path).get_params() == path.get_params()
    assert not hasattr(clone(path), "alpha_")


def test_a_warm_start_goes_on():
    path = gs.OnlineClassifierCV([0.1, 0.01], method=gs.Fobos(0.5), warm_start=True, shuffle=False)
    whole = gs.OnlineClassifierCV([0.1, 0.01], method=gs.Fobos(0.5), shuffle=False).fit(X, LOGISTIC.y)
    path.fit(X[:30], LOGISTIC.y[:30]).fit(X[30:], LOGISTIC.y[30:])
    assert_array_equal(path.coef_, whole.coef_)
    assert_array_equal(path.path_loss_, whole.path_loss_)


def test_verbose_prints_a_line_a_pass(capsys):
    gs.OnlineClassifierCV(4, verbose=1, max_passes=2).fit(X, LOGISTIC.y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("pass 2: progressive loss 0.")
    assert "at alpha = " in lines[1]


@pytest.mark.parametrize("rows", [40, 3000])
def test_ctrl_c_keeps_what_was_learned(monkeypatch, rows):
    X, y = features(rows), np.where(np.arange(rows) % 2, 1.0, -1.0)
    path = gs.OnlineClassifierCV(4, max_passes=3, shuffle=False)
    teach, calls = Rows.teach, []

    def interrupted(self, learner, steps, loss):
        calls.append(len(self))
        if getattr(learner, "rounds", 0) >= rows:
            raise KeyboardInterrupt
        teach(self, learner, steps, loss)

    monkeypatch.setattr(Rows, "teach", interrupted)
    with pytest.warns(UserWarning, match="Interrupted"):
        path.fit(X, y)
    assert path.t_ >= rows
    assert path.n_iter_ == 1
    assert np.isfinite(path.predict_proba(X)).all()
    monkeypatch.undo()
    path.partial_fit(X, y)
    assert np.isfinite(path.path_loss_).all()


def test_nothing_is_there_before_fit():
    for name in ("alphas_", "alpha_", "path_loss_", "path_nonzeros_", "coef_path_", "coef_", "progressive_loss_"):
        assert not hasattr(gs.OnlineClassifierCV(), name)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alphas": 1}, "2 to 1,000,000 strengths"),
        ({"alphas": []}, "at least one strength"),
        ({"alphas": [0.1, -1.0]}, "must not be negative"),
        ({"alphas": [0.1, np.nan]}, "must be finite"),
        ({"alphas": 0.1}, "whole number or a sequence"),
        ({"alphas": True}, "whole number or a sequence"),
        ({"alphas": "many"}, "whole number or a sequence"),
        ({"select": "worst"}, "'best' or 'sparsest'"),
        ({"alpha_min_ratio": 1.0}, "alpha_min_ratio must be"),
        ({"alpha_min_ratio": 0}, "alpha_min_ratio must be"),
        ({"max_nonzeros": -1}, "0 or more"),
        ({"max_nonzeros": 2.5}, "0 or more"),
        ({"method": "pegasos", "penalty": "l2_squared"}, "Pegasos cannot handle L2Squared: on a path"),
        ({"method": "truncated_gradient"}, "TruncatedGradient cannot handle L1: on a path"),
        ({"method": "subgradient"}, "'fobos', 'rda', 'adagrad' or 'ftrl'"),
        ({"method": "eg", "penalty": "none"}, "ExponentiatedGradient cannot handle NoPenalty"),
        ({"penalty": "none"}, "no sum over features with a strength to choose"),
        ({"penalty": "l1_ball"}, "no sum over features with a strength to choose"),
        ({"penalty": "l2_norm", "method": "fobos"}, "no sum over features with a strength to choose"),
        ({"penalty": gs.GroupL2(groups=[0, 0, 1, 1, 2, 2]), "method": "fobos"}, "no sum over features"),
        ({"penalty": gs.L1(weights=[1.0, 2.0])}, "one weight per feature"),
        ({"penalty": "berhu", "method": gs.RDA(rho=1.0)}, "ρ adds ℓ1"),
        ({"method": gs.RDA(gamma=0)}, "γ = 0 needs a strongly convex penalty"),
        ({"method": gs.Fobos("theory"), "alphas": [0.1, 0.0]}, "step='theory' needs a bound"),
    ],
    ids=str,
)
def test_wrong_settings_say_what_is_right_before_any_work(settings, words):
    path = gs.OnlineClassifierCV(**settings)
    with pytest.raises(ValueError, match=words):
        path.fit(X, LOGISTIC.y)
    assert not hasattr(path, "alpha_")


def test_custom_penalties_are_refused_in_words():
    class Own:
        def value(self, w):
            return 0.0

        def prox(self, v, step=1.0):
            return v

    with pytest.raises(ValueError, match="Python object"):
        gs.OnlineClassifierCV(penalty=Own()).fit(X, LOGISTIC.y)


def test_the_search_is_that_of_one_strength():
    """The same candidates, cut and kept in the same way."""
    path = gs.OnlineClassifierCV(ALPHAS, method="ftrl", shuffle=False).fit(X, LOGISTIC.y)
    trainer = path._trainer
    rows = Rows(*csr_arrays(SPARSE), LOGISTIC.coded, None)[:32]
    for alpha, step in zip(path.alphas_, path.path_step_, strict=True):
        setup = replace(trainer.setup, alpha=float(alpha))
        assert step == step_search.choose_step(
            trainer.method, trainer.penalty, setup, trainer.targets.loss, trainer.loss_call, rows
        )


def test_an_error_in_the_search_for_steps_leaves_the_estimator_as_it_was(monkeypatch):
    path = gs.OnlineClassifierCV(4, method="adagrad", n_jobs=2, random_state=0).fit(X, LOGISTIC.y)
    before, make = dict(vars(path)), methods.Method.make_lanes

    def failing(method, penalty, setup, lanes, *rest):
        if len(lanes.alphas) > 4:
            raise MemoryError("no memory for lanes")
        return make(method, penalty, setup, lanes, *rest)

    monkeypatch.setattr(methods.Method, "make_lanes", failing)
    with pytest.raises(MemoryError, match="no memory for lanes"):
        path.fit(X, LOGISTIC.y)
    assert vars(path) == before
