"""State from outside: every vector of every learner, changed in eight ways, is refused, or makes a sound learner.

GOSSAMER_HOSTILE=1 runs the long form: every penalty of the catalogue, and more draws.
"""

import copy
import os
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import gossamer as gs
from gossamer.estimators import targets
from gossamer.methods import Lanes
from gossamer.online.strategies import ManyStrengths, OneStrength
from gossamer.online.trainer import Trainer
from gossamer.sources.rows import Rows, csr_arrays
from online import matrix, paths
from online.problems import LOGISTIC, MULTINOMIAL, PROBLEMS, D, X, over

LONG = bool(os.environ.get("GOSSAMER_HOSTILE"))
LIMIT = 20.0  # seconds for a learner; the longest takes a hundredth of it
PENALTIES = [
    "none",
    "l1",
    "l1, weights",
    "elastic net",
    "elastic net, weights",
    "berhu",
    "l2",
    "group l2, groups",
    "group linf, labels",
    "sparse group l2, rows",
    "kl",
    "simplex",
    "l1 ball",
    "l2 ball",
    "l2 squared",
    "box, one a feature",
]
ROWS = 24


def rows_of(problem):
    return Rows(*csr_arrays(sp.csr_array(X[:ROWS])), problem.coded[:ROWS].astype(float))


def coded(problem):
    if problem.classes is None:
        return targets.for_regression(problem.y, problem.loss)
    labels = np.array(problem.classes)
    return targets.for_labels(labels, problem.loss, False)


def learned(problem, method, penalty, strategy, average, **how):
    trainer = Trainer(method, penalty, strategy, coded(problem), X.shape[1], average=average, **how)
    trainer.learn(rows_of(problem))
    return trainer


def one_changed(values, random, to):
    changed = values.copy()
    changed[random.integers(len(values))] = to
    return changed


def nudged(values, random):
    """One number becomes another one of the vector, or the next whole number."""
    changed, i = values.copy(), random.integers(len(values))
    other = values[random.integers(len(values))]
    changed[i] = other if other != changed[i] else changed[i] + 1
    return changed


CHANGES = {
    "nan": lambda v, r: one_changed(v, r, np.nan),
    "infinite": lambda v, r: one_changed(v, r, np.inf),
    "negative": lambda v, r: -np.abs(v) - 1.0,
    "huge": lambda v, r: np.full(len(v), 1e15),
    "one huge": lambda v, r: one_changed(v, r, 1e15),
    "one beyond floats": lambda v, r: one_changed(v, r, 1e300),
    "one tiny": lambda v, r: one_changed(v, r, 5e-324),
    "shuffled": lambda v, r: r.permutation(v) if len(set(v)) > 1 else v[::-1] + 1,
    "cut": lambda v, r: v[: r.integers(len(v))],
    "longer": lambda v, r: np.append(v, v[: r.integers(len(v)) + 1]),
    "fraction": lambda v, r: one_changed(v, r, v[0] + 0.37),
    "another": nudged,
}
MUST_RAISE = {"nan", "infinite"}


def attack(make, problem, seed):
    """Change each vector in each way; what is accepted must learn and be read, with finite numbers or a clear error."""
    random = np.random.default_rng(seed)
    trainer = make()
    good = trainer.learner.state()
    rows = rows_of(problem)
    outcomes, words = {}, []
    begin = time.perf_counter()
    for name, values in good.items():
        for change, by in CHANGES.items():
            if len(values) == 0 and change not in ("longer",):
                continue
            victim = make()
            changed = by(values, random) if len(values) else np.ones(3)
            try:
                victim.learner.restore(good | {name: changed})
            except ValueError as error:
                words.append(str(error))
                after = victim.learner.state()  # as it was before the call
                assert all(np.array_equal(after[n], good[n]) for n in good), (name, change)
                outcomes[name, change] = "refused"
                continue
            if not name.startswith("lane_"):  # losses of a lane that diverged are infinite
                assert change not in MUST_RAISE, f"{name} was accepted with {change}"
            try:
                victim.learn(rows)
                if victim.strategy.judges:
                    weights = np.hstack([lane_weights(victim, i) for i in range(victim.learner.lanes)])
                else:
                    weights = victim.read()[0]
                assert np.isfinite(weights).all(), (name, change)
                after = victim.learner.state()
                if all(np.isfinite(numbers).all() for n, numbers in after.items() if not n.startswith("lane_")):
                    make().learner.restore(after)  # what it became can be saved and restored
                elif trainer.method.free_of_steps:
                    raise AssertionError(f"{name} was accepted with {change}, and became infinite")
                outcomes[name, change] = "sound"
            except FloatingPointError:
                outcomes[name, change] = "diverged, told"
    assert time.perf_counter() - begin < LIMIT
    assert "refused" in outcomes.values()
    assert all("saved state does not belong" in each for each in words)
    return outcomes


def lane_weights(trainer, lane):
    W, b = np.empty((trainer.setup.features, trainer.setup.outputs)), np.empty(trainer.setup.outputs)
    trainer.learner.read_lane(lane, W, b)
    return W


def cases():
    kept = PENALTIES if not LONG else matrix.EVERY_ENTRY
    assert set(PENALTIES) <= set(matrix.EVERY_ENTRY), set(PENALTIES) - set(matrix.EVERY_ENTRY)
    for method, name in matrix.ALLOWED:
        if name not in kept:
            continue
        for problem in (LOGISTIC, MULTINOMIAL):
            for average in (False, True)[: 1 + ((method, name) in matrix.AVERAGED)]:
                yield method, name, problem, average


CASES = list(cases())


@pytest.mark.parametrize("method", matrix.METHODS)
def test_a_changed_state_is_refused_or_sound(method):
    for of, name, problem, average in CASES:
        if of != method:
            continue
        penalty, alpha = matrix.penalty_for(name, problem.outputs), matrix.alpha_for(method)
        for seed in range(4 if LONG else 1):

            def make(penalty=penalty, alpha=alpha, problem=problem, average=average):
                return learned(problem, matrix.METHODS[method], penalty, OneStrength(alpha), average)

            attack(make, problem, seed)


@over("problem", [LOGISTIC, MULTINOMIAL])
@pytest.mark.parametrize("method", paths.METHODS)
def test_a_changed_state_of_a_path_is_refused_or_sound(method, problem):
    for name, penalty in paths.PENALTIES.items():
        if LONG or name in ("l1", "l1, weights", "elastic net", "berhu", "group linf"):

            def make(penalty=penalty):
                strategy = ManyStrengths(np.array(paths.ALPHAS), 1)
                return learned(problem, paths.METHODS[method], penalty, strategy, False)

            attack(make, problem, 0)


STEP_FREE = {  # what the cases above do not reach: units of targets, means of centred features
    "numbers": ("squared", gs.L1(), {}),
    "numbers, rows": ("squared", gs.GroupL2(), {}),
    "numbers, centred": ("squared", gs.L1(), {"centred": D}),
    "numbers, centred, elastic net": ("huber", gs.ElasticNet(0.7), {"centred": D}),
    "rates": ("poisson", gs.L1(), {}),
    "rates, centred": ("poisson", gs.L1(), {"centred": D}),
    "unbounded slopes": ("exponential", gs.L1(), {"centred": D, "sparsest": True}),
    "several outputs": ("one against the rest, squared hinge", gs.L1(), {"centred": D}),
    "joint": ("multinomial", gs.L1(), {"centred": D, "sparsest": True}),
    "a box": ("squared", gs.Box(-0.5, 0.5), {"centred": D}),
}


@pytest.mark.parametrize("strategy", [OneStrength(0.01), ManyStrengths(np.array(paths.ALPHAS), 1)], ids=["one", "path"])
@pytest.mark.parametrize("case", STEP_FREE)
def test_a_changed_state_of_the_rule_without_a_step_is_refused_or_sound(case, strategy):
    name, penalty, how = STEP_FREE[case]
    if strategy.judges and penalty.is_set:
        return  # a set has no path
    for seed in range(8 if LONG else 1):
        attack(lambda: learned(PROBLEMS[name], gs.StepFree(), penalty, strategy, False, **how), PROBLEMS[name], seed)


def test_a_missing_vector_and_one_of_another_type_are_refused():
    learner = learned(LOGISTIC, gs.Fobos(0.5), gs.L1(), OneStrength(0.01), False).learner
    state = learner.state()
    for wrong in ("text", np.ones((2, 3)), None, [1.0], np.array(["a"])):
        with pytest.raises(ValueError, match="'levels' is not a vector of numbers"):
            learner.restore(state | {"levels": wrong})
    del state["levels"]
    with pytest.raises(ValueError, match="'levels' is missing"):
        learner.restore(state)


def with_rows(state, **changed):
    return state | {"buffer": replace(state["buffer"], **changed)}


def longer(values):
    return np.append(values, values[-1])


REFUSED = r"saved state|valid CSR|NaN|has a value of"
BUFFERS = {  # what is changed in the rows that are kept while they decide on a step
    "ends beyond the entries": lambda b: {"ends": b.ends + 10**9},
    "ends of another length": lambda b: {"ends": longer(b.ends)},
    "begins below zero": lambda b: {"begins": b.begins - 5},
    "begins after ends": lambda b: {"begins": b.ends + 1, "ends": b.ends},
    "index out of range": lambda b: {"index": b.index + np.int32(10**6)},
    "index below zero": lambda b: {"index": -b.index - np.int32(1)},
    "index that falls": lambda b: {"index": b.index[::-1].copy()},
    "index of one feature": lambda b: {"index": np.zeros_like(b.index)},
    "index of another type": lambda b: {"index": b.index.astype(np.int64)},
    "value nan": lambda b: {"value": b.value * np.nan},
    "value huge": lambda b: {"value": b.value * 1e200},
    "values missing": lambda b: {"value": b.value[:-3]},
    "y of another width": lambda b: {"y": np.hstack([b.y, b.y])},
    "y no class": lambda b: {"y": b.y + 1e9},
    "y no whole number": lambda b: {"y": b.y + 0.5},
    "y nan": lambda b: {"y": b.y * np.nan},
    "y missing": lambda b: {"y": None},
    "weights negative": lambda b: {"weight": -np.ones(len(b))},
    "weights of another length": lambda b: {"weight": np.ones(3)},
    "offsets nan": lambda b: {"offset": np.full(len(b), np.nan)},
    "offsets huge": lambda b: {"offset": np.full(len(b), 1e200)},
    "offsets of another length": lambda b: {"offset": np.zeros(3)},
    "rows that are dense": lambda b: {"dense": True},
}
SETTINGS = {
    "decided": [-1, 10**9, 2.5, None, "all", True],
    "setting": [-1.0, np.nan, np.inf, "auto", None],
    "repeats": [None, [1], [[3, 1]], [[0.5, 2]], [[-1, 2]], [["a", "b"]], [[0, 5], [2, 7]]],
    "learner": [None, 3, {}],
}


@over("problem", [LOGISTIC, MULTINOMIAL])
@pytest.mark.parametrize("what", [*BUFFERS, *SETTINGS])
def test_a_changed_trainer_is_refused(what, problem):
    trainer = learned(problem, gs.Fobos(), gs.L1(), OneStrength(0.01), False)
    good = trainer.__getstate__()
    assert len(good["buffer"]) == ROWS
    if what in BUFFERS:
        wrong = [with_rows(good, **BUFFERS[what](good["buffer"]))]
    else:
        wrong = [good | {what: value} for value in SETTINGS[what]]
    for state in wrong:
        victim = copy.copy(trainer)
        with pytest.raises(ValueError, match=REFUSED):
            victim.__setstate__(state)
        victim.learn(rows_of(problem))
        assert victim.rounds == 2 * ROWS
    copy.copy(trainer).__setstate__(good)


@over("problem", [LOGISTIC, MULTINOMIAL])
@pytest.mark.parametrize("what", BUFFERS)
def test_changed_rows_that_wait_for_a_batch_are_refused(what, problem):
    trainer = learned(problem, gs.Fobos(0.5), gs.L1(), OneStrength(0.01), False, batch_size=20)
    good = trainer.__getstate__()
    assert len(good["pending"]) == ROWS - 20
    wrong = replace(good["pending"], **BUFFERS[what](good["pending"]))
    victim = copy.copy(trainer)
    with pytest.raises(ValueError, match=REFUSED):
        victim.__setstate__(good | {"pending": wrong})
    copy.copy(trainer).__setstate__(good)


def learned_with_groups(problem, method, groups, average):
    """Return a trainer whose groups have grown with the rows."""
    penalty = gs.GroupL2(groups=groups).growing(["a", "b", "c"])
    trainer = Trainer(method, penalty, OneStrength(0.005), coded(problem), X.shape[1], average=average)
    rows = rows_of(problem)
    for part in (rows[:10], rows[10:]):
        trainer.assign(part, lambda features: np.asarray(features) % 3)
        trainer.learn(part)
    return trainer


@over("problem", [LOGISTIC, MULTINOMIAL])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("groups", ["columns", {"ab": ["a", "b"]}], ids=["columns", "named"])
def test_a_changed_state_of_groups_that_grow_is_refused_or_sound(groups, average, problem):
    for method in (gs.Fobos(0.5), gs.RDA(2.0)):
        for seed in range(8 if LONG else 1):
            outcomes = attack(
                lambda method=method: learned_with_groups(problem, method, groups, average), problem, seed
            )
            assert any(name == "members" for name, _ in outcomes)


def test_changed_strengths_of_a_path_are_refused():
    trainer = learned(LOGISTIC, gs.Fobos(), gs.L1(), ManyStrengths(np.array(paths.ALPHAS), 1), False)
    good = trainer.__getstate__()
    alphas, steps = good["setting"].alphas, good["setting"].steps
    for wrong in (
        Lanes(alphas * np.nan, steps),
        Lanes(alphas, -steps),
        Lanes(alphas, steps[:-1]),
        Lanes(alphas[:3], steps[:3]),
        Lanes(alphas, None),
    ):
        with pytest.raises(ValueError, match="saved state"):
            copy.copy(trainer).__setstate__(good | {"setting": wrong})
