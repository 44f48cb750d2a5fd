"""Learners that saw different rows become one: sums add up, zeros are exact, shares add up to what they are of."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
from gossamer.estimators import targets
from gossamer.online import merging
from gossamer.online.strategies import ManyStrengths, OneStrength
from gossamer.online.trainer import Trainer
from gossamer.sources.rows import Rows, csr_arrays
from online.problems import features

X = features(300, seed=3)
LABELS = np.digitize(X @ [1.0, -2.0, 0.5, 1.0, -1.0, 0.3], [-0.4, 0.4])
ALPHAS = np.array([0.2, 0.02, 0.0])
EXACT = {
    "rda": gs.RDA(gamma=2.0),
    "rda, rho": gs.RDA(gamma=2.0, rho=0.01),
    "adagrad": gs.AdaGrad(step=0.4),
    "ftrl": gs.FTRL(step=0.5, beta=0.7),
}
METHODS = EXACT | {"step free": gs.StepFree()}
LOSSES = {
    "two classes": (gs.Logistic(), LABELS > 0),
    "three classes": (gs.Logistic(), LABELS),
    "numbers": (gs.Squared(), X @ [1.0, -2.0, 0.5, 1.0, -1.0, 0.3] + 3),
}
STRATEGIES = {"one": lambda: OneStrength(0.02), "many": lambda: ManyStrengths(ALPHAS)}
PENALTIES = {"l1": gs.L1(), "l1, weights": gs.L1(weights=np.arange(1.0, 7.0)), "elastic net": gs.ElasticNet(0.7)}


def rows(which, coded, y, dense=False):
    if dense:
        return Rows.of_array(X[which], coded.encode(y[which]))
    return Rows(*csr_arrays(sp.csr_array(X[which])), coded.encode(y[which]))


def apart(method, loss, strategy, penalty="l1", parts=4, centred=0, weights=None):
    """Trainers that have learned from one part of the rows each."""
    made, y = LOSSES[loss]
    if made.kind == "regression":
        coded = targets.for_regression(y, made)
    else:
        coded = targets.for_labels(np.unique(y), made, grow=False)
    found = []
    for n in range(parts):
        one = Trainer(METHODS[method], PENALTIES[penalty], STRATEGIES[strategy](), coded, 6, centred=centred)
        one.learn(rows(slice(n, None, parts), coded, y, dense=centred > 0))
        found.append(one)
    return found, coded, y


def weights_of(trainer):
    learner = trainer.learner
    W, b = np.empty((learner.features, learner.outputs)), np.empty(learner.outputs)
    learner.read(W, b)
    return np.vstack([W, b])


CASES = [(m, loss, s) for m in METHODS for loss in LOSSES for s in STRATEGIES]


def tolerance(method):
    return 2e-4 if method == "step free" else 1e-9  # it keeps floats


@pytest.mark.parametrize(("method", "loss", "strategy"), CASES)
def test_one_alone_stays_as_it_is(method, loss, strategy):
    (one, *_), _, _ = apart(method, loss, strategy)
    alone = merging.merged([one])
    for name, values in one.learner.state().items():
        assert_array_equal(values, alone.learner.state()[name], err_msg=name)


@pytest.mark.parametrize(("method", "loss", "strategy"), CASES)
def test_grouping_does_not_matter(method, loss, strategy):
    found, _, _ = apart(method, loss, strategy)
    whole = merging.merged(found)
    pairs = merging.merged([merging.merged(found[:2]), merging.merged(found[2:])])
    nested = merging.merged([merging.merged([merging.merged(found[:2]), found[2]]), found[3]])
    for other in (pairs, nested):
        assert other.rounds == whole.rounds == len(X)
        assert_allclose(weights_of(other), weights_of(whole), rtol=tolerance(method), atol=tolerance(method))
    assert_allclose(pairs.loss_seen, sum(t.loss_seen for t in found))


@pytest.mark.parametrize(("method", "loss", "strategy"), CASES)
def test_shares_add_up_and_read_the_same(method, loss, strategy):
    found, _, _ = apart(method, loss, strategy)
    whole = merging.merged(found)
    shares = [merging.share(whole, n, 5) for n in range(5)]
    assert sum(s.rounds for s in shares) == whole.rounds
    if method in ("ftrl", "step free"):  # β counts in every share; corrections go by the number of examples
        return
    assert_allclose(weights_of(merging.merged(shares)), weights_of(whole), rtol=1e-9, atol=1e-9)
    assert_allclose(weights_of(shares[0]), weights_of(whole), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("method", ["rda", "adagrad", "ftrl"])
def test_objectives_add_up(method, strategy, penalty):
    """The merged weights minimise Σ_p <G_p, w> + t_p αΩ(w) + ½ Σ_j H_pj w_j²."""
    found, _, _ = apart(method, "two classes", strategy, penalty)
    W = weights_of(merging.merged(found))[:-1]
    alphas = ALPHAS if strategy == "many" else [0.02]
    scale = np.arange(1.0, 7.0) if penalty == "l1, weights" else np.ones(6)
    ridge, sharp = (0.3, 0.7) if penalty == "elastic net" else (0.0, 1.0)
    for lane, alpha in enumerate(alphas):
        G = H = T = 0
        for one in found:
            g, h = sums(one, method, lane, len(alphas))
            G, H, T = G + g, H + h, T + one.rounds
        seen, excess = H > 0, np.maximum(np.abs(G) - sharp * T * alpha * scale, 0)
        expected = -np.sign(G[seen]) * excess[seen] / (H[seen] + ridge * T * alpha)
        assert_allclose(W[seen, lane], expected, rtol=1e-9)
        assert_array_equal(W[seen, lane] == 0, expected == 0)
        assert not W[~seen, lane].any()


def sums(trainer, method, lane, lanes):
    """G and H of each feature, from the state."""
    state = trainer.learner.state()
    slots = state["sums" if "sums" in state else "slots"].reshape(6, -1)
    if method == "rda":
        steps = state["gamma"][0] * (trainer.setting.steps[lane] if lanes > 1 else 1.0)
        return slots[:, lane], np.full(6, steps * np.sqrt(trainer.rounds))
    if lanes == 1:  # s, m or √s, c, G
        c = slots[:, 2]
        return slots[:, 3], np.where(c > 0, 1 / np.where(c > 0, c, 1), 0)
    if "heads" in state:  # ℓ1: s of each lane, then G
        root, eta = np.sqrt(slots[:, lane]), state["etas"][lane]
        divisor = root + 0.7 if method == "ftrl" else root * state["heads"]
        return slots[:, lanes + lane], np.where(root > 0, divisor / eta, 0)
    first = 2 * lanes if method == "ftrl" else lanes + 1
    c = slots[:, first + lane]
    return slots[:, first + lanes + lane], np.where(c > 0, 1 / np.where(c > 0, c, 1), 0)


@pytest.mark.parametrize(("method", "loss", "strategy"), CASES)
def test_a_merged_learner_goes_on_learning(method, loss, strategy):
    found, coded, y = apart(method, loss, strategy)
    whole = merging.merged(found)
    before = weights_of(whole)
    whole.learn(rows(slice(None), coded, y))
    assert whole.rounds == 2 * len(X)
    after = weights_of(whole)
    assert np.isfinite(after).all()
    assert (after != before).any()
    assert np.abs(after).max() <= 3 * np.abs(before).max() + 0.5  # no jump: curvatures have added up too


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_learners_of_the_same_rows_become_the_same_weights(loss, strategy):
    """The rule without a step with centred columns: nothing is approximated but the noise where the parts agree."""
    found, _, _ = apart("step free", loss, strategy, parts=1, centred=6)
    twice = merging.merged([found[0], found[0]])
    assert_allclose(weights_of(twice), weights_of(found[0]), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("method", [gs.Fobos(1.0), gs.AdaGrad(form="fobos"), gs.TruncatedGradient(1.0), gs.Pegasos()])
def test_what_does_not_add_up_is_refused(method):
    with pytest.raises(ValueError, match="merges=0"):
        merging.refuse(method, gs.L1(), False)
    with pytest.raises(ValueError, match="average"):
        merging.refuse(gs.AdaGrad(), gs.L1(), True)
    with pytest.raises(ValueError, match="couples"):
        merging.refuse(gs.RDA(), gs.L1Ball(1.0), False)


def test_the_core_refuses_too():
    coded = targets.for_labels(np.array([0, 1]), gs.Logistic(), grow=False)
    one = Trainer(gs.Fobos(1.0), gs.L1(), OneStrength(0.1), coded, 6)
    with pytest.raises(ValueError, match="does not add up"):
        one.learner.merged([one.learner.state()] * 2)
    with pytest.raises(ValueError, match="no learner"):
        one.learner.merged([])
