"""Candidates: products, stumps, kernels, and those of one's own."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gossamer as gs
from boosting.problems import Ratios, coded, data
from gossamer.boosting import features


def test_products_grow_from_the_constant():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 4))
    y = 3 * X[:, 0] + 4 * X[:, 0] * X[:, 2] - 5 * X[:, 0] * X[:, 2] * X[:, 3]
    frame = pd.DataFrame(X, columns=["rm", "age", "lstat", "tax"])
    model = gs.BoostingRegressor(alpha=0.01, features="products").fit(frame, y)
    assert model.stopped_by_ == "no candidate"
    assert set(model.nonzero_features_[:3]) == {"rm", "rm × lstat", "rm × lstat × tax"}
    assert model.score(frame, y) > 0.9
    short = gs.BoostingRegressor(alpha=0.01, features=gs.ProductFeatures(max_degree=2)).fit(X, y)
    assert max(map(len, short.features_)) == 2
    assert "x0 × x2" in short.nonzero_features_
    sparse = gs.BoostingRegressor(alpha=0.01, features="products").fit(sp.csr_array(X), y)
    assert sparse.features_ == model.features_
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), model.predict(frame))


def test_products_are_scored_as_what_they_are():
    X, y = data("multiclass", d=4)
    run = gs.BoostingClassifier(alpha=0.02, features="products").fit(X, y)
    used = run.features_
    pool = features.pool_of(run._kind, X)
    plain = features._ProposedPool(run._kind, X)
    targets = coded(run, y)
    for bound in (gs._core.Ada(0.5), gs._core.Grad(0.5)):
        core = gs._core.booster(
            gs.Multinomial()._core(), len(y), 3, targets.reshape(-1), None, 0.5, bound, gs._core.L1(), None
        )
        scoring = features.Scoring(core, 0.0, 1)
        fast, slow = (p.best(scoring, used, 1000) for p in (pool, plain))
        assert len(fast) == len(slow) > 0
        assert {f: s for s, f in fast} == pytest.approx({f: s for s, f in slow})


def test_stumps_are_scored_as_what_they_are():
    X, y = data("multilabel", d=4)
    X = np.round(X, 1)
    kind = gs.StumpFeatures()
    targets = np.where(y > 0, 1.0, -1.0)
    core = gs._core.booster(
        gs.Logistic()._core(), len(y), 3, targets.reshape(-1), None, 0.5, gs._core.Ada(1.0), gs._core.LInf(), None
    )
    scoring = features.Scoring(core, 0.0, 1)
    fast = kind.pool(X).best(scoring, [], 1000)
    slow = features._ProposedPool(kind, X).best(scoring, [], 1000)
    best = {}
    for score, (j, cut) in slow:
        best.setdefault(j, (score, cut))
    assert {j: s for s, (j, _) in fast} == pytest.approx({j: s for j, (s, _) in best.items()})


def test_cuts_separate_neighbouring_values():
    kind = gs.StumpFeatures()
    assert kind.cuts(np.array([3.0, 1.0, 1.0, 2.0])).tolist() == [1.5, 2.5]
    assert len(kind.cuts(np.array([5.0, 5.0]))) == 0
    close = np.array([1.0, np.nextafter(1.0, 2)])
    assert kind.evaluate(close[:, None], [(0, kind.cuts(close)[0])])[:, 0].tolist() == [-1.0, 1.0]
    big = np.array([-1.7e308, 1.7e308])
    assert np.isfinite(kind.cuts(big)).all()
    few = gs.StumpFeatures(max_cuts=3).cuts(np.arange(100.0))
    assert len(few) <= 4
    assert gs.BoostingClassifier(alpha=0.1, features=gs.StumpFeatures(max_cuts=3)).fit(*data()).n_features_used_ > 0


def test_kernel_with_a_support_set_of_its_own_or_given():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (np.linalg.norm(X, axis=1) > 1.2).astype(int)
    model = gs.BoostingClassifier(alpha=0.003, features="kernel").fit(X, y)
    assert model.score(X, y) > 0.9
    support = model._kind.support
    assert 0 < len(support) < 300
    assert model.n_features_used_ <= len(support)
    given = gs.BoostingClassifier(alpha=0.003, features=gs.KernelFeatures(0.5, support=X[:30])).fit(X, y)
    K = np.exp(-0.5 * ((X[:, None] - X[None, :30]) ** 2).sum(axis=2))
    plain = gs.BoostingClassifier(alpha=0.003).fit(K, y)
    assert set(plain.features_) == set(given.features_)
    assert plain.history_[-1].objective == pytest.approx(given.history_[-1].objective, rel=1e-5)
    cyclic = gs.BoostingClassifier(alpha=0.003, features=given.features, order="cyclic", max_rounds=3000).fit(X, y)
    assert cyclic.history_[-1].objective == pytest.approx(given.history_[-1].objective, rel=1e-5)
    assert "K(x, s" in given.nonzero_features_[0]
    few = gs.BoostingRegressor(alpha=0.01, features=gs.KernelFeatures(max_support=20)).fit(sp.csr_array(X), y)
    assert few._kind.support.shape == (20, 2)
    assert few.predict(X).shape == (300,)


def test_the_perceptron_keeps_its_mistakes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(3, size=400)
    kind = gs.KernelFeatures(gamma=0.5)
    chosen, signs = [], []
    for i in range(400):
        scores = np.zeros(3)
        for s, sign in zip(chosen, signs, strict=True):
            scores += sign * np.exp(-0.5 * np.sum((X[i] - X[s]) ** 2))
        others = [r for r in range(3) if r != y[i]]
        worst = max(others, key=lambda r: scores[r])
        if scores[y[i]] <= scores[worst]:
            chosen.append(i)
            signs.append(np.eye(3)[y[i]] - np.eye(3)[worst])
    assert kind.ready(X, y).support.tolist() == X[chosen].tolist()


class NamedRatios(Ratios):
    def name(self, feature, names):
        return f"{names[feature[0]]} / {names[feature[1]]}"


def test_features_of_ones_own():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = gs.BoostingClassifier(alpha=0.02, features=NamedRatios()).fit(frame, y)
    assert model.stopped_by_ == "no candidate"
    assert " / " in model.nonzero_features_[0]
    plain = gs.BoostingClassifier(alpha=0.02, features=Ratios()).fit(X, y)
    assert plain.features_ == model.features_
    assert plain.nonzero_features_[0].startswith("(")
    H = Ratios().evaluate(X, list(Ratios().propose(X, [])))
    columns = gs.BoostingClassifier(alpha=0.02).fit(H, y)
    assert columns.history_[-1].objective == pytest.approx(model.history_[-1].objective, rel=1e-6)
    cyclic = gs.BoostingClassifier(alpha=0.02, features=Ratios(), order="cyclic", max_rounds=5000).fit(X, y)
    assert cyclic.history_[-1].objective == pytest.approx(model.history_[-1].objective, rel=1e-5)


class Broken(Ratios):
    def __init__(self, answer):
        self.answer = answer

    def evaluate(self, X, features):
        return self.answer(X, features)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda X, f: np.ones((len(X), 1)), "one column per feature"),
        (lambda X, f: np.full((len(X), len(f)), np.nan), "finite"),
        (lambda X, f: sp.csr_array(np.full((len(X), len(f)), np.inf)), "finite"),
        (lambda X, f: np.ones(len(X)), "matrix"),
        (lambda X, f: np.full((len(X), len(f)), "a"), "real numbers"),
    ],
)
def test_wrong_features_of_ones_own(answer, words):
    with pytest.raises((ValueError, TypeError), match=words):
        gs.BoostingClassifier(features=Broken(answer)).fit(*data())
