"""The rules of boosting minimise what they say, and the bounds hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boosting_reference as twin
import gossamer as gs
import reference
from gossamer import _core
from gossamer.boosting import rounds
from gossamer.boosting.features import columns_of

FAR = 30.0  # the longest step of the exponential bound, in units of a

mass = st.one_of(st.just(0.0), st.integers(1, 3000).map(lambda i: i / 100), st.sampled_from([1e-12, 1e-3, 1e4]))
weight = st.one_of(st.just(0.0), st.integers(-300, 300).map(lambda i: i / 100))
scale = st.sampled_from([0.01, 0.5, 1.0, 3.0])
strength = st.one_of(st.just(0.0), st.integers(1, 2000).map(lambda i: i / 100), st.sampled_from([1e-6, 1e3]))


@st.composite
def rows(draw, most=5):
    k = draw(st.integers(1, most))
    return [np.array(draw(st.lists(s, min_size=k, max_size=k))) for s in (mass, mass, weight)]


def minimised(rule, up, down, a, lam, w):
    out = np.empty(len(w))
    rule.minimise(up, down, a, lam, w, out)
    return out


def total(change, penalty, up, down, a, lam, w, v):
    return change(up, down, a, v - w) + lam * penalty(v)


@given(mass, mass, scale, strength, weight)
def test_ada_l1_is_the_minimiser(up, down, a, lam, w):
    rule = _core.rule(_core.Ada(1.0), _core.L1())
    up, down, w = np.array([up]), np.array([down]), np.array([w])
    got = minimised(rule, up, down, a, lam, w)

    def f(v):
        return total(twin.ada_change, lambda u: np.abs(u).sum(), up, down, a, lam, w, np.array([v]))

    at = f(got[0])
    reach = FAR * a
    best = min(twin.lowest(f, w[0] - reach, w[0] + reach), f(0.0) if abs(w[0]) <= reach else np.inf)
    scale_of = up[0] * a + down[0] * a + lam * abs(w[0]) + 1e-300
    assert at <= best + 1e-9 * scale_of
    assert rule.gain(up, down, a, lam, w, got) == pytest.approx(f(w[0]) - at, abs=1e-9 * scale_of)
    assert rule.gain(up, down, a, lam, w, got) >= -1e-12 * scale_of


@given(scale, strength, st.integers(1, 3000).map(lambda i: i / 100))
def test_ada_l1_prunes_and_keeps_exactly(a, lam, mu):
    rule = _core.rule(_core.Ada(1.0), _core.L1())
    one, none, zero = np.array([mu]), np.zeros(1), np.zeros(1)
    if mu <= lam:
        assert minimised(rule, one, none, a, lam, zero)[0] == 0.0
        assert minimised(rule, none, one, a, lam, zero)[0] == 0.0
    elif lam > 0 and np.log(mu / lam) < FAR:
        assert minimised(rule, one, none, a, lam, zero)[0] == pytest.approx(a * np.log(mu / lam), rel=1e-12)
        assert minimised(rule, none, one, a, lam, zero)[0] == pytest.approx(-a * np.log(mu / lam), rel=1e-12)
    else:
        assert abs(minimised(rule, one, none, a, lam, zero)[0]) == FAR * a
    assert minimised(rule, none, none, a, 0.0, np.array([2.0]))[0] == 2.0  # nothing pulls, nothing is penalised
    assert minimised(rule, none, none, a, 1.0, np.array([2.0]))[0] == 0.0


def capped_lowest(change, up, down, a, lam, w, free):
    """Return the least value over all caps t: below a cap every output goes as far towards its minimiser as it may."""

    def f(t):
        return change(up, down, a, np.clip(free, -t, t) - w) + lam * t

    return min(twin.lowest(f, 0.0, max(np.abs(free).max(), 1e-9)), f(0.0))


@given(rows(), scale, strength)
def test_ada_linf_is_the_minimiser(row, a, lam):
    up, down, w = row
    rule = _core.rule(_core.Ada(1.0), _core.LInf())
    got = minimised(rule, up, down, a, lam, w)
    with np.errstate(divide="ignore", invalid="ignore"):
        free = w + a * np.clip(np.log(up / down) / 2, -FAR, FAR)
    free = np.where((up == 0) & (down == 0), w, free)
    scale_of = float(np.sum(up + down) * a + lam * np.abs(w).max() + 1e-300)
    best = capped_lowest(twin.ada_change, up, down, a, lam, w, free)
    at = total(twin.ada_change, lambda v: np.abs(v).max(), up, down, a, lam, w, got)
    assert at <= best + 1e-9 * scale_of
    if lam > 0 and np.sum(np.abs(up * np.exp(w / a) - down * np.exp(-w / a))) <= lam * (1 - 1e-12):
        assert not got.any()


def test_ada_linf_survives_weights_beyond_the_exponential():
    rule = _core.rule(_core.Ada(1.0), _core.LInf())
    up, down, w = np.array([3.0, 1.0]), np.array([1.0, 2.0]), np.array([1000.0, 1000.0])
    got = minimised(rule, up, down, 1.0, 0.5, w)
    f = lambda v: total(twin.ada_change, lambda u: np.abs(u).max(), up, down, 1.0, 0.5, w, v)  # noqa: E731
    assert np.isfinite(got).all()
    for shift in np.random.default_rng(0).normal(0, 0.01, (50, 2)):
        assert f(got) <= f(got + shift)


@given(rows(most=1), scale, strength)
def test_one_output_makes_linf_l1(row, a, lam):
    up, down, w = row
    linf, l1 = (_core.rule(_core.Ada(1.0), form) for form in (_core.LInf(), _core.L1()))
    assert minimised(linf, up, down, a, lam, w) == minimised(l1, up, down, a, lam, w)


GRAD_PENALTIES = {
    "l1": gs.L1(),
    "l2_squared": gs.L2Squared(),
    "elastic_net": gs.ElasticNet(0.3),
    "berhu": gs.Berhu(),
    "group_l2": gs.GroupL2(),
    "group_linf": gs.GroupLInf(),
    "sparse_group_l2": gs.SparseGroupL2(0.3),
}


@pytest.mark.parametrize("name", GRAD_PENALTIES)
@given(rows(), scale, strength)
def test_grad_rules_are_the_prox_of_a_gradient_step(name, row, a, lam):
    up, down, w = row
    penalty = GRAD_PENALTIES[name]
    got = minimised(_core.rule(_core.Grad(0.25), penalty._core()), up, down, a, lam, w)
    expected = reference.prox(penalty, (w - a * (down - up))[None, :], a * lam)[0]
    np.testing.assert_allclose(got, expected, atol=1e-9 * (1 + np.abs(w).max() + a * max(up.max(), down.max())))


@given(mass, mass, scale, strength, weight)
def test_smooth_l1_minimises_its_bound(up, down, a, lam, w):
    """With ada the penalty is two more examples with x = 1; with grad its curvature is at most ½."""
    up, down, w, a = np.array([up]), np.array([down]), np.array([w]), min(a, 1.0)
    rises, falls = lam / (1 + np.exp(w)), lam / (1 + np.exp(-w))
    extra = {"ada": (rises, falls, a), "grad": (rises, falls, 2 / lam if lam > 0 else np.inf)}
    for bound, made in (("ada", _core.Ada(1.0)), ("grad", _core.Grad(0.25))):
        rule = _core.rule(made, _core.SmoothL1())
        got = minimised(rule, up, down, a, lam, w)
        more_up, more_down, more_a = extra[bound]

        def f(v, more=(more_up, more_down, more_a), change=twin.CHANGES[bound]):
            delta = np.array([v]) - w
            return change(up, down, a, delta) + change(*more, delta)

        reach = FAR * a if bound == "ada" else 2 * a * (up[0] + down[0] + lam) + 1
        scale_of = (up[0] + down[0] + lam) * (a + reach * (bound == "grad")) + 1e-300
        assert f(got[0]) <= twin.lowest(f, w[0] - reach, w[0] + reach) + 1e-9 * scale_of
        assert rule.gain(up, down, a, lam, w, got) >= -1e-12 * scale_of


@st.composite
def wholes(draw):
    k = draw(st.integers(1, 6))
    return [np.array(draw(st.lists(s, min_size=k, max_size=k))) for s in (mass, mass, weight, scale)]


@pytest.mark.parametrize("bound", ["ada", "grad"])
@given(wholes(), strength)
def test_the_general_linf_rule_is_the_minimiser(bound, drawn, lam):
    up, down, w, a = drawn
    made = _core.Ada(1.0) if bound == "ada" else _core.Grad(0.25)
    got = np.empty(len(w))
    _core.whole_rule(made, _core.LInf()).minimise(up, down, a, lam, w, got)
    if bound == "ada":
        with np.errstate(divide="ignore", invalid="ignore"):
            free = w + a * np.clip(np.log(up / down) / 2, -FAR, FAR)
        free = np.where((up == 0) & (down == 0), w, free)
    else:
        free = w + a * (up - down)
    change = twin.CHANGES[bound]
    at = total(change, lambda v: np.abs(v).max(), up, down, a, lam, w, got)
    scale_of = float(np.sum((up + down) ** 2 * a + (up + down) * (a + np.abs(w))) + lam * np.abs(w).max() + 1e-300)
    assert at <= capped_lowest(change, up, down, a, lam, w, free) + 1e-9 * scale_of


@given(wholes(), strength)
def test_the_whole_l2_rule_is_the_minimiser(drawn, lam):
    up, down, w, a = drawn
    got = np.empty(len(w))
    _core.whole_rule(_core.Grad(0.25), _core.L2()).minimise(up, down, a, lam, w, got)
    slope = (down - up) + (got - w) / a
    norm = np.linalg.norm(got)
    size = 1e-7 * float(np.abs(up + down).max() + np.abs(w / a).max() + lam + 1e-300)
    if norm == 0:
        assert np.linalg.norm(slope) <= lam + size
    else:
        np.testing.assert_allclose(slope + lam * got / norm, 0, atol=size)


def test_there_is_no_rule_where_there_is_none():
    for form in (_core.L2(), _core.L2Squared(), _core.ElasticNet(0.5), _core.SparseL2(0.5)):
        assert _core.rule(_core.Ada(1.0), form) is None
    assert _core.whole_rule(_core.Ada(1.0), _core.L2()) is None


# The bounds on real sums


LOSSES = {
    "logistic": (gs.Logistic(), "sign"),
    "multitask": (gs.Logistic(), "signs"),
    "exponential": (gs.Exponential(), "sign"),
    "multinomial": (gs.Multinomial(), "class"),
    "log_epsilon_insensitive": (gs.LogEpsilonInsensitive(0.3), "real"),
    "multi-output": (gs.LogEpsilonInsensitive(0.0), "reals"),
    "squared": (gs.Squared(), "real"),
    "huber": (gs.Huber(0.7), "reals"),
    "squared_hinge": (gs.SquaredHinge(), "sign"),
}
PAIRS = [(name, bound) for name in LOSSES for bound in ("ada", "grad") if bound in LOSSES[name][0].bounds]
FORMS = {
    "ada": [gs.L1(), gs.GroupLInf(), gs.SmoothL1()],
    "grad": [gs.L1(), gs.GroupL2(), gs.GroupLInf(), gs.SparseGroupL2(), gs.L2Squared(), gs.SmoothL1()],
}


def drawn_problem(kind, seed, n=12, d=4):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * rng.choice([0.1, 1, 5], d), 2) * (rng.random((n, d)) < 0.7)
    k = {"sign": 1, "real": 1, "class": 3, "signs": 3, "reals": 2}[kind]
    y = rng.choice([-1.0, 1.0], (n, k)) if kind.startswith("sign") else rng.normal(0, 2, (n, k))
    if kind == "class":
        y = rng.integers(k, size=(n, 1)).astype(float)
    return X, y, k, rng.integers(1, 4, n).astype(float)


def make(loss, penalty, bound, y, k, c, lam):
    shape = rounds.shape(bound, loss, penalty, "cyclic", None)
    return _core.booster(loss._core(), len(y), k, y.reshape(-1), c, lam, shape.bound, shape.form, shape.whole)


@pytest.mark.parametrize(("name", "bound"), PAIRS)
def test_no_update_increases_the_objective_and_gains_are_kept(name, bound):
    loss, kind = LOSSES[name]
    for seed, penalty in enumerate(FORMS[bound] * 3):
        X, y, k, c = drawn_problem(kind, seed)
        lam = [0.0, 0.5, 3.0][seed % 3]
        booster = make(loss, penalty, bound, y, k, c, lam)
        columns = columns_of(X)
        d = X.shape[1]
        W, b = np.zeros((d, k)), np.zeros(k)
        scores = np.empty(d)
        booster.score(columns, None, None, None, 0.0, 1, scores)
        booster.add(columns, np.arange(d), None)

        def value(W=W, b=b, X=X, y=y, c=c, lam=lam, penalty=penalty):
            return c @ twin.losses_of(loss, X @ W + b, y) + lam * penalty.value(W)

        before = value(W, b)
        promised = scores
        for turn in range(4 * d):
            j = turn % d
            up, down = twin.pulls(loss, X @ W + b, y, X[:, j], c)
            assert promised[j] >= 0
            booster.update(np.array([j]), 0.0)
            new = booster.weights().reshape(d, k)
            after = value(new, b)
            tiny = 1e-10 * (1 + abs(before))
            assert after <= before - promised[j] + tiny
            if X[:, j].any() and not isinstance(penalty, gs.SmoothL1):
                a = twin.SCALES[bound](loss, X[:, j], c)
                claim = -twin.CHANGES[bound](up, down, a, new[j] - W[j])
                claim += lam * (penalty.value(W[j : j + 1]) - penalty.value(new[j : j + 1]))
                assert promised[j] == pytest.approx(claim, abs=tiny, rel=1e-9)
            assert (np.delete(new, j, 0) == np.delete(W, j, 0)).all()
            W, before = new.copy(), after
            assert booster.loss() + booster.penalty() == pytest.approx(after, abs=tiny)
            booster.update_intercept()
            b = booster.intercept()
            after = value(W, b)
            assert after <= before + tiny
            before = after
            np.testing.assert_allclose(booster.margins().reshape(-1, k), X @ W + b, atol=1e-9)
            promised = np.empty(d)
            booster.gains(0.0, 1, promised)


@pytest.mark.parametrize(("name", "bound"), PAIRS)
def test_while_a_model_stands_for_the_loss_updates_are_proximal_steps_on_it(name, bound):
    loss, kind = LOSSES[name]
    for seed, penalty in enumerate(FORMS[bound]):
        X, y, k, c = drawn_problem(kind, seed)
        lam, d, rng = 0.5, X.shape[1], np.random.default_rng(seed)
        booster = make(loss, penalty, bound, y, k, c, lam)
        booster.add(columns_of(X), np.arange(d), None)
        W, b = 0.1 * rng.normal(size=(d, k)), rng.normal(size=k)
        booster.set(W.reshape(-1), b)
        Z = X @ W + b
        booster.use_model(True)
        assert booster.loss() == pytest.approx(c @ twin.losses_of(loss, Z, y))
        W, b = rng.normal(size=(d, k)), rng.normal(size=k)
        booster.set(W.reshape(-1), b)
        bent = twin.hessian(loss, Z, y)
        for turn in range(3 * d):
            j = turn % d
            before = booster.loss() + booster.penalty()
            value, slopes = twin.model(loss, Z, y, c, X @ W + b - Z)
            assert booster.loss() == pytest.approx(value, rel=1e-6, abs=1e-6)
            booster.update(np.array([j]), 0.0)
            new = booster.weights().reshape(d, k)
            curvature = np.abs(np.einsum("i,irs->rs", c * X[:, j] ** 2, bent)).sum(axis=1).max()
            if curvature > 1e-6 and not isinstance(penalty, gs.SmoothL1):
                step = W[j] - X[:, j] @ slopes / curvature
                np.testing.assert_allclose(new[j], penalty.prox(step[None], lam / curvature)[0], rtol=1e-4, atol=1e-4)
            assert booster.loss() + booster.penalty() <= before + 1e-9 * (1 + abs(before))
            before = booster.loss() + booster.penalty()
            booster.update_intercept()
            assert booster.loss() + booster.penalty() <= before + 1e-9 * (1 + abs(before))
            W, b = new, booster.intercept()
        booster.use_model(False)
        assert booster.loss() == pytest.approx(c @ twin.losses_of(loss, X @ W + b, y), rel=1e-9)


@pytest.mark.parametrize(("name", "bound"), PAIRS)
def test_no_update_together_increases_the_objective(name, bound):
    loss, kind = LOSSES[name]
    wholes = [gs.LInf(), gs.L2()] if bound == "grad" else [gs.LInf()]
    for seed, penalty in enumerate([*FORMS[bound], *wholes]):
        X, y, k, c = drawn_problem(kind, seed)
        shape = rounds.shape(bound, loss, penalty, "parallel", None)
        booster = _core.booster(loss._core(), len(y), k, y.reshape(-1), c, 0.7, shape.bound, shape.form, shape.whole)
        booster.adopt(columns_of(X), np.arange(X.shape[1]), None)
        before = booster.loss() + booster.penalty()
        for _ in range(30):
            booster.update_together(1)
            W = booster.weights().reshape(X.shape[1], k)
            after = c @ twin.losses_of(loss, X @ W, y) + 0.7 * penalty.value(W)
            assert after <= before + 1e-10 * (1 + abs(before))
            before = after


@pytest.mark.parametrize("bound", ["ada", "grad"])
def test_a_score_is_above_zero_exactly_where_the_gradient_is_above_the_strength(bound):
    duals = {"L1": np.inf, "GroupL2": 2, "GroupLInf": 1}
    penalties = [p for p in FORMS[bound] if type(p).__name__ in duals]
    for seed in range(20):
        for penalty in penalties:
            loss, kind = LOSSES["multinomial" if seed % 2 else "logistic"]
            X, y, k, c = drawn_problem(kind, seed)
            sums = [twin.pulls(loss, np.zeros((len(y), k)), y, x, c) for x in X.T]
            norms = np.array([np.linalg.norm(up - down, duals[type(penalty).__name__]) for up, down in sums])
            lam = float(np.median(norms)) * (1 + 1e-9)
            scores = np.empty(X.shape[1])
            make(loss, penalty, bound, y, k, c, lam).score(columns_of(X), None, None, None, 0.0, 1, scores)
            assert ((scores > 0) == (norms > lam)).all()
