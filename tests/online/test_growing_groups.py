"""Groups whose features keep coming: as if they had been known, however the rows are cut, and after a pickle."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
from gossamer import _core
from gossamer.estimators import targets
from gossamer.groups import Known
from gossamer.online.strategies import OneStrength
from gossamer.online.trainer import Trainer
from gossamer.sources.rows import Rows, csr_arrays

N, D, COLUMNS = 400, 150, ["a", "b", "c", "d", "e"]
rng = np.random.default_rng(5)
COLUMN = rng.integers(0, len(COLUMNS), D)
X = sp.csr_array(sp.random(N, D, 0.06, format="csr", random_state=3))
EFFECT = rng.standard_normal(D) * (COLUMN < 2)
Y = (X @ EFFECT + 0.2 * rng.standard_normal(N) > 0).astype(float)
THREE = rng.integers(0, 3, N).astype(float)
METHODS = {"fobos": gs.Fobos(0.5), "rda": gs.RDA(2.0), "fobos auto": gs.Fobos(), "rda auto": gs.RDA()}
SPECS = {"columns": "columns", "named": {"ab": ["a", "b"], "c": ["c"]}}
CUTS = [0, 1, 7, 100, 101, 300, N]

methods = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
specs = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
averages = pytest.mark.parametrize("average", [False, True], ids=["last", "average"])


def trainer(method, spec, *, y=Y, features=D, average=False, fixed=False, weights=None, alpha=0.005):
    penalty = gs.GroupL2(groups=spec, weights=weights)
    known = Known(features, names=[f"f{j}" for j in range(features)], columns=COLUMNS, column_of=COLUMN[:features])
    penalty = penalty.bound(known) if fixed else penalty.growing(COLUMNS)
    coded = targets.for_labels(np.unique(y), gs.Logistic(), grow=False)
    return Trainer(method, penalty, OneStrength(alpha), coded, features, average=average)


def taught(learner, cuts=(0, N), y=Y, pickled=False):
    for begin, end in pairwise(cuts):
        rows = Rows(*csr_arrays(X[begin:end]), learner.targets.encode(y[begin:end]))
        learner.assign(rows, lambda features: COLUMN[features])
        learner.learn(rows)
        learner = pickle.loads(pickle.dumps(learner)) if pickled else learner
    return learner


@averages
@specs
@methods
@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
def test_many_calls_are_one(method, spec, average, y):
    whole, cut, pickled = (
        taught(trainer(method, spec, y=y, average=average), cuts, y, again)
        for cuts, again in (((0, N), False), (CUTS, False), (CUTS, True))
    )
    for other in (cut, pickled):
        assert other.setting == whole.setting
        for mine, its in zip(whole.read(), other.read(), strict=True):
            assert_array_equal(mine, its)
        assert_array_equal(whole.penalty.groups.of(np.arange(D)), other.penalty.groups.of(np.arange(D)))


@averages
@specs
@methods
@pytest.mark.parametrize("alpha", [0.005, 0.05])
def test_growing_groups_are_as_if_they_had_been_known(method, spec, average, alpha):
    grown = taught(trainer(method, spec, average=average, alpha=alpha), CUTS)
    known = taught(trainer(method, spec, average=average, alpha=alpha, fixed=True))
    assert grown.setting == known.setting
    (W, b), (V, c) = grown.read(), known.read()
    assert_allclose(W, V, rtol=1e-9, atol=1e-13)
    assert_allclose(b, c, rtol=1e-9, atol=1e-13)
    if not average:
        assert_array_equal(W == 0, V == 0)


@pytest.mark.parametrize("method", ["fobos", "rda"])
def test_weights_of_groups_and_barred_groups(method):
    weights = {"ab": 0.5, "c": np.inf}
    grown = taught(trainer(METHODS[method], SPECS["named"], weights=weights), CUTS)
    known = taught(trainer(METHODS[method], SPECS["named"], weights=weights, fixed=True))
    assert_allclose(grown.read()[0], known.read()[0], rtol=1e-9, atol=1e-13)
    assert not grown.read()[0][COLUMN == 2].any()
    assert grown.read()[0][COLUMN < 2].any()


@methods
@specs
def test_features_and_groups_grow_together(method, spec):
    """Rows that know the first features only come first; then the learner gets more."""
    narrow = X[:, :60]
    first = trainer(method, spec, features=60)
    rows = Rows(*csr_arrays(sp.csr_array(narrow[:200])), first.targets.encode(Y[:200]))
    first.assign(rows, lambda features: COLUMN[features])
    first.learn(rows)
    wide = first.grown(D, first.targets)
    for begin, end in ((200, 250), (250, N)):
        rows = Rows(*csr_arrays(X[begin:end]), wide.targets.encode(Y[begin:end]))
        wide.assign(rows, lambda features: COLUMN[features])
        wide.learn(rows)
    padded = sp.csr_array(sp.vstack([sp.hstack([narrow[:200], sp.csr_array((200, D - 60))]), X[200:]]))
    known = trainer(method, spec, fixed=True)
    known.learn(Rows(*csr_arrays(padded), known.targets.encode(Y)))
    assert_allclose(wide.read()[0], known.read()[0], rtol=1e-9, atol=1e-13)


def test_many_groups_of_one_feature_each():
    """More of them than a learner had room for: it grows, and nothing else changes."""
    n, d = 300, 5000
    wide = sp.csr_array(sp.random(n, d, 0.01, format="csr", random_state=1))
    y = (wide.sum(axis=1) > 0.25 * 50 * 0.02 * 100).astype(float)
    y[:2] = 0, 1
    coded = targets.for_labels(np.array([0.0, 1.0]), gs.Logistic(), grow=False)

    def learned(cuts):
        penalty = gs.GroupL2(groups={"first": ["a"]}).growing(["a", "b"])
        made = Trainer(gs.Fobos(1.0), penalty, OneStrength(1e-3), coded, d)
        for begin, end in pairwise(cuts):
            rows = Rows(*csr_arrays(wide[begin:end]), coded.encode(y[begin:end]))
            made.assign(rows, lambda features: (features >= 100).astype(np.int64))
            made.learn(rows)
        return made

    one, many = learned([0, n]), learned([0, 10, 20, 150, n])
    assert one.penalty.groups.count > 1 << 10
    assert_array_equal(one.read()[0], many.read()[0])
    fixed = gs.GroupL2(groups={"first": list(range(100))}).bound(Known(d))
    known = Trainer(gs.Fobos(1.0), fixed, OneStrength(1e-3), coded, d)
    known.learn(Rows(*csr_arrays(wide), coded.encode(y)))
    assert_allclose(one.read()[0], known.read()[0], rtol=1e-9, atol=1e-13)


# The compiled part


def compiled(**state):
    setup = _core.Setup(4, 1, 0.1, True)
    return _core.group_fobos(_core.FeatureGroups(np.array([0, 1]), np.array([0, 1, 2]), None, grows=True), setup)


def test_a_feature_in_use_keeps_its_group():
    learner = compiled()
    rows = Rows(*csr_arrays(sp.csr_array([[1.0, 0, 0, 0]])), np.array([[1.0]]))
    rows.teach(learner, np.ones(1), _core.loss_call(gs.Logistic()._core()))
    learner.assign(np.array([1, 2], np.int32), np.array([0, 1], np.int32))  # not yet in use
    learner.assign(np.array([0], np.int32), np.array([0], np.int32))  # as it is
    with pytest.raises(ValueError, match="a feature in use cannot change its group"):
        learner.assign(np.array([0], np.int32), np.array([1], np.int32))


@pytest.mark.parametrize(("feature", "group"), [(4, 0), (-1, 0), (0, 2), (0, -1)])
def test_no_such_feature_or_group(feature, group):
    with pytest.raises(ValueError, match="there is no such feature or group"):
        compiled().assign(np.array([feature], np.int32), np.array([group], np.int32))


def test_other_learners_have_no_groups_that_grow():
    fixed = _core.group_fobos(
        _core.FeatureGroups(np.arange(4), np.array([0, 2, 4]), None), _core.Setup(4, 1, 0.1, True)
    )
    with pytest.raises(ValueError, match="there is no such feature or group"):
        fixed.assign(np.array([0], np.int32), np.array([1], np.int32))
    single = gs.Fobos().make(gs.L1(), gs.methods.Setup(4, 1, 0.1, True))
    with pytest.raises(ValueError, match="no groups that grow"):
        single.assign(np.array([0], np.int32), np.array([0], np.int32))
    with pytest.raises(ValueError, match="couples features and cannot grow"):
        fixed.grown(5, 1)
    with pytest.raises(ValueError, match="as many groups as before"):
        compiled().grown(4, 1, _core.FeatureGroups(np.empty(0, np.int64), np.array([0, 0]), None, grows=True))
    with pytest.raises(ValueError, match="one at least"):
        _core.group_rda(_core.FeatureGroups(None, None, None, grows=True), _core.Setup(4, 1, 0.1, True))


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([0, 0, 0, 1], "a feature is in two groups"),
        ([4, 0], "'members' holds 4"),
        ([0, 2], "'members' holds 2"),
        ([0.5, 0], "a whole number"),
        ([0], "its last record is not complete"),
    ],
)
def test_a_hostile_state_of_members(members, words):
    learner = compiled()
    state = learner.state()
    with pytest.raises(ValueError, match=words):
        learner.restore(state | {"members": np.array(members, float)})
    for name, values in learner.state().items():
        assert_array_equal(values, state[name])
    learner.restore(state | {"members": np.array([3.0, 1.0, 0.0, 0.0])})
    assert_array_equal(learner.state()["members"], [0, 0, 3, 1])
