"""Other units change the answer only as mathematics says, to the last bit: units are powers of four, over 16 orders.

With the units of y or X or the weights of all rows times c, this is how settings and answers change:

    method               y · c, squared loss      X · c, any loss        weights · c, no intercept
    FOBOS                α c                      η / c², α c            η / c, α c
    RDA                  α c                      γ c², α c              γ c, α c
    AdaGrad, both forms  η c, α c                 α c                    α c
    FTRL                 η c, β c, α c            η / c, β c, α c        β c, α c
    truncated gradient   α c, θ c                 η / c², α c, θ / c     η / c, α c
    subgradient          α c                      η / c², α c            η / c, α c
    step free            α c                      nothing                α c
    Pegasos (ℓ2²)        nothing (no projection)  α c²                   (its steps come from α)
    EG                   η / c, r c               η / c, r / c           η / c
    the answer           W c, b c                 W / c, b               W

α is that of a norm; that of ℓ2² changes by one factor c less where W grows by c, and by one more where W falls by c.
The radius of a ball changes as W does. With step="auto" the step follows by itself, and so do the strengths of a path.

Adding a constant to y, or to a column, changes nothing but the intercept of the rule without a step, which centres
them, up to rounding. With the other methods it is no such law: the intercept starts at zero and has to walk to it.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import gossamer as gs
from online.problems import PROBLEMS, X, over

UNITS = [4.0**k for k in (-13, -6, 1, 13)]  # 1.5e-8 to 6.7e7
Y = X @ np.array([1.0, -2.0, 0.5, 1.0, 0.3, 0.1]) + 0.5
WEIGHTS = 4.0 ** (np.arange(len(X)) % 3 - 1)
ALPHA = 0.04


def fobos(eta=0.5):
    return gs.Fobos(eta)


def adagrad(form):
    return lambda eta=0.4: gs.AdaGrad(eta, form)


# The method, then what c does to its settings and to α: for y, for X and for weights; None where there is no such law.
SAME = {}
METHODS = {
    "step free": (gs.StepFree, lambda c: ({}, c), lambda c: ({}, 1), lambda c: ({}, c)),
    "fobos": (fobos, lambda c: ({}, c), lambda c: ({"eta": 0.5 / c**2}, c), lambda c: ({"eta": 0.5 / c}, c)),
    "rda": (
        lambda gamma=2.0: gs.RDA(gamma),
        lambda c: ({}, c),
        lambda c: ({"gamma": 2.0 * c**2}, c),
        lambda c: ({"gamma": 2.0 * c}, c),
    ),
    "rda, ρ": (
        lambda gamma=2.0, rho=0.01: gs.RDA(gamma, rho),
        lambda c: ({"rho": 0.01 * c}, c),
        lambda c: ({"gamma": 2.0 * c**2, "rho": 0.01 / c}, c),
        lambda c: ({"gamma": 2.0 * c}, c),
    ),
    **{
        f"adagrad {form}": (adagrad(form), lambda c: ({"eta": 0.4 * c}, c), lambda c: ({}, c), lambda c: ({}, c))
        for form in ("rda", "fobos")
    },
    "ftrl": (
        lambda eta=0.5, beta=0.75: gs.FTRL(eta, beta),
        lambda c: ({"eta": 0.5 * c, "beta": 0.75 * c}, c),
        lambda c: ({"eta": 0.5 / c, "beta": 0.75 * c}, c),
        lambda c: ({"beta": 0.75 * c}, c),
    ),
    "truncated gradient": (
        lambda eta=0.5, theta=0.25: gs.TruncatedGradient(eta, 3, theta),
        lambda c: ({"theta": 0.25 * c}, c),
        lambda c: ({"eta": 0.5 / c**2, "theta": 0.25 / c}, c),
        lambda c: ({"eta": 0.5 / c}, c),
    ),
    "subgradient": (
        lambda eta=0.25: gs.Subgradient(eta),
        lambda c: ({}, c),
        lambda c: ({"eta": 0.25 / c**2}, c),
        lambda c: ({"eta": 0.25 / c}, c),
    ),
    "eg": (
        lambda eta=0.5, radius=2.0: gs.ExponentiatedGradient(radius, eta),
        lambda c: ({"eta": 0.5 / c, "radius": 2.0 * c}, 1),
        lambda c: ({"eta": 0.5 / c, "radius": 2.0 / c}, 1),
        lambda c: ({"eta": 0.5 / c}, 1),
    ),
}
BY_NORMS = [name for name in METHODS if name not in ("eg",)]
AUTO = {
    "fobos": gs.Fobos(),
    "rda": gs.RDA(),
    "adagrad rda": gs.AdaGrad(),
    "adagrad fobos": gs.AdaGrad(form="fobos"),
}


def fitted(estimator, X, y, method, alpha, penalty="l1", weight=None, **settings):
    model = estimator(penalty=penalty, alpha=alpha, method=method, shuffle=False, max_passes=3, **settings)
    return model.fit(X, y, sample_weight=weight)


def penalty_of(name):
    return "none" if name == "eg" else "l1"


@pytest.mark.parametrize(
    ("name", "average"), [(name, a) for name in METHODS for a in (False, True)[: 1 + (name != "step free")]]
)
def test_units_of_y(name, average):
    make, change, _, _ = METHODS[name]
    one = fitted(gs.OnlineRegressor, X, Y, make(), ALPHA, penalty_of(name), average=average)
    for c in UNITS:
        settings, alpha = change(c)
        other = fitted(gs.OnlineRegressor, X, c * Y, make(**settings), alpha * ALPHA, penalty_of(name), average=average)
        assert_array_equal(other.coef_, c * one.coef_)
        assert_array_equal(other.intercept_, c * one.intercept_)
        assert other.progressive_loss_ == c**2 * one.progressive_loss_
    assert one.coef_.any()


@over("problem", [PROBLEMS[name] for name in ("logistic", "hinge", "squared", "huber", "multinomial")])
@pytest.mark.parametrize("name", METHODS)
def test_units_of_features(name, problem):
    make, _, change, _ = METHODS[name]
    settings = {"penalty": penalty_of(name), "loss": problem.loss}
    one = fitted(problem.estimator, X, problem.y, make(), ALPHA, **settings)
    for c in UNITS:
        changed, alpha = change(c)
        other = fitted(problem.estimator, c * X, problem.y, make(**changed), alpha * ALPHA, **settings)
        assert_array_equal(other.coef_, one.coef_ / c)
        assert_array_equal(other.intercept_, one.intercept_)
        assert_array_equal(other.predict(c * X), one.predict(X))


@pytest.mark.parametrize("name", METHODS)
def test_units_of_weights(name):
    make, _, _, change = METHODS[name]
    settings = {"penalty": penalty_of(name), "fit_intercept": False}
    one = fitted(gs.OnlineRegressor, X, Y, make(), ALPHA, weight=WEIGHTS, **settings)
    for c in UNITS:
        changed, alpha = change(c)
        other = fitted(gs.OnlineRegressor, X, Y, make(**changed), alpha * ALPHA, weight=c * WEIGHTS, **settings)
        assert_array_equal(other.coef_, one.coef_)
        assert other.progressive_loss_ == one.progressive_loss_


@pytest.mark.parametrize("form", ["rda", "fobos"])
def test_adagrad_is_free_of_the_units_of_each_feature(form):
    units = np.array([4.0**k for k in (-13, 5, 0, 13, -2, 7)])
    method = gs.AdaGrad(0.4, form)
    one = fitted(gs.OnlineRegressor, X, Y, method, ALPHA, gs.L1(weights=np.ones(6)))
    other = fitted(gs.OnlineRegressor, X * units, Y, method, ALPHA, gs.L1(weights=units))
    assert_array_equal(other.coef_, one.coef_ / units)
    assert_array_equal(other.intercept_, one.intercept_)


FREE = {"method": "step_free", "shuffle": False, "max_passes": 2}
TASKS = [(gs.OnlineRegressor, loss) for loss in ("squared", "huber", "quantile", "poisson", "gamma")]
TASKS += [(gs.OnlineClassifier, loss) for loss in ("logistic", "hinge", "squared_hinge")]


def targets_for(estimator, loss):
    if estimator is gs.OnlineClassifier:
        return (np.median(Y) < Y).astype(int)
    return np.exp(Y) if loss in ("poisson", "gamma", "tweedie") else Y


@pytest.mark.parametrize(("estimator", "loss"), TASKS)
@pytest.mark.parametrize("center", [True, False])
def test_the_rule_without_a_step_is_free_of_the_units_of_each_feature(estimator, loss, center):
    y, units = targets_for(estimator, loss), np.array([4.0**k for k in (-13, 5, 0, 13, -2, 7)])
    one = estimator(loss, center=center, alpha=0.01, **FREE).fit(X, y)
    same = estimator(loss, center=center, alpha=0.01, **FREE).fit(X * units, y)
    assert_array_equal(same.coef_, one.coef_ / units)
    assert_array_equal(same.intercept_, one.intercept_)
    other = estimator(loss, center=center, alpha=0.01, **FREE).fit(X * 3.7e5 * units, y)  # no power of two: rounding
    scores, others = X @ one.coef_.ravel(), (X * 3.7e5 * units) @ other.coef_.ravel()
    np.testing.assert_allclose(others, scores, rtol=1e-3, atol=1e-4 * np.abs(scores).max())
    assert one.coef_.any()


@pytest.mark.parametrize("far", [1.0, 1e4, 1e7])
@pytest.mark.parametrize(
    ("estimator", "loss"), [*TASKS, (gs.OnlineClassifier, "exponential"), (gs.OnlineRegressor, "tweedie")]
)
def test_the_rule_without_a_step_is_free_of_the_origin_of_centred_features(estimator, loss, far):
    y = targets_for(estimator, loss)
    shift = far * np.array([1e3, -50.0, 0.0, 7.0, 1e4, 1.0])
    for penalty in ("l1", "elastic_net", "l2_squared", gs.Box(-0.5, 0.5)):
        one = estimator(loss, penalty, alpha=0.01, **FREE).fit(X, y)
        other = estimator(loss, penalty, alpha=0.01, **FREE).fit(X + shift, y)
        assert_same_scores(one, other, shift)
    path, how = {gs.OnlineRegressor: gs.OnlineRegressorCV, gs.OnlineClassifier: gs.OnlineClassifierCV}[estimator], FREE
    assert_same_scores(path(4, loss=loss, **how).fit(X, y), path(4, loss=loss, **how).fit(X + shift, y), shift)


@pytest.mark.parametrize("far", [1.0, 1e4, 1e7])
@pytest.mark.parametrize("penalty", ["l1", "group_l2"])
def test_so_it_is_with_several_outputs(penalty, far):
    shift = far * np.array([1e3, -50.0, 0.0, 7.0, 1e4, 1.0])
    y = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
    for loss in ("multinomial", "hinge"):
        one, other = (gs.OnlineClassifier(loss, penalty, 0.01, **FREE).fit(X + by, y) for by in (0.0, shift))
        assert_same_scores(one, other, shift)


def assert_same_scores(one, other, shift):
    """Scores agree but for rounding, of which there is as much as values are far from zero."""
    scores = X @ one.coef_.T + one.intercept_
    others = X @ other.coef_.T + (other.intercept_ + shift @ other.coef_.T)
    rounding = 1e-14 * np.abs(shift).max()
    np.testing.assert_allclose(others, scores, rtol=rounding, atol=rounding * np.abs(scores).max())
    assert scores.any()


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "epsilon_insensitive"])
@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
def test_the_rule_without_a_step_is_free_of_the_origin_of_y(loss, offset):
    for data in (X, sp.csr_array(X)):
        one = gs.OnlineRegressor(loss, alpha=0.01, **FREE).fit(data, Y)
        other = gs.OnlineRegressor(loss, alpha=0.01, **FREE).fit(data, Y + offset)
        rounding = 1e-3 + 1e-13 * offset
        np.testing.assert_allclose(other.coef_, one.coef_, atol=rounding * np.abs(one.coef_).max(), rtol=rounding)
        np.testing.assert_allclose(other.intercept_ - offset, one.intercept_, atol=rounding * np.ptp(Y))


TINY = [
    *((gs.OnlineRegressor, loss) for loss in ("squared", "huber")),
    *TASKS[-3:],
    (gs.OnlineClassifier, "multinomial"),
]


@pytest.mark.parametrize(("estimator", "loss"), TINY)
@pytest.mark.parametrize("form", ["centred", "sparse", "path"])
def test_a_first_value_that_is_rounding_gives_a_feature_no_unit(estimator, loss, form):
    random = np.random.default_rng(0)
    dense = random.normal(size=(300, 4))
    z = dense @ np.array([2.0, -1.0, 0.0, 0.0])
    y = z if estimator is gs.OnlineRegressor else np.digitize(z, [-1, 1]) if loss == "multinomial" else z > 0
    make = {gs.OnlineRegressor: gs.OnlineRegressorCV, gs.OnlineClassifier: gs.OnlineClassifierCV}[estimator]
    for tiny in (1e-20, 1e-35):
        dense[:3, 0] = tiny
        rows = dense if form == "centred" else sp.csr_array(dense)
        model = (make if form == "path" else estimator)(
            loss="logistic" if loss == "multinomial" else loss, shuffle=False, center=form == "centred"
        )
        trainer = model.fit(rows, y)._trainer
        assert model.score(rows, y) > 0.8, tiny
        for name, numbers in trainer.learner.state().items():
            assert np.isfinite(numbers).all(), (tiny, name)


@pytest.mark.parametrize("project", [True, False])
def test_units_of_pegasos(project):
    for c in UNITS:
        one = fitted(gs.OnlineRegressor, X, Y, gs.Pegasos(project), 0.5, "l2_squared")
        other = fitted(gs.OnlineRegressor, c * X, Y, gs.Pegasos(project), 0.5 * c**2, "l2_squared")
        assert_array_equal(other.coef_, one.coef_ / c)
        if not project:
            other = fitted(gs.OnlineRegressor, X, c * Y, gs.Pegasos(project), 0.5, "l2_squared")
            assert_array_equal(other.coef_, c * one.coef_)


@pytest.mark.parametrize("name", ["fobos", "rda"])
@pytest.mark.parametrize("penalty", [gs.L2Squared, gs.L1Ball, gs.L2Ball, gs.Simplex, gs.L2, gs.GroupL2])
def test_units_of_other_penalties(name, penalty):
    make, of_y, of_x, _ = METHODS[name]
    is_set = penalty in (gs.L1Ball, gs.L2Ball, gs.Simplex)
    once = 0 if penalty is gs.L2Squared else 1  # how often α has the units of W
    one = fitted(gs.OnlineRegressor, X, Y, make(), ALPHA, penalty(1.5) if is_set else penalty())
    for c in UNITS:
        for data, target, change, w in ((X, c * Y, of_y, c), (c * X, Y, of_x, 1 / c)):
            settings, alpha = change(c)
            alpha = alpha * w ** (once - 1)
            part = penalty(1.5 * w) if is_set else penalty()
            other = fitted(gs.OnlineRegressor, data, target, make(**settings), alpha * ALPHA, part)
            np.testing.assert_allclose(other.coef_, w * one.coef_, rtol=1e-12, atol=0)
    assert one.coef_.any()


@pytest.mark.parametrize("name", AUTO)
def test_a_chosen_step_follows_the_units(name):
    one = fitted(gs.OnlineRegressor, X, Y, AUTO[name], ALPHA)
    for c in UNITS:
        of_y = fitted(gs.OnlineRegressor, X, c * Y, AUTO[name], c * ALPHA)
        of_x = fitted(gs.OnlineRegressor, c * X, Y, AUTO[name], c * ALPHA)
        assert_array_equal(of_y.coef_, c * one.coef_)
        assert_array_equal(of_x.coef_, one.coef_ / c)
    assert one.coef_.any()


@pytest.mark.parametrize("select", ["best", "sparsest"])
def test_a_path_of_the_rule_without_a_step_follows_the_units(select):
    one = gs.OnlineRegressorCV(5, shuffle=False, select=select).fit(X, Y)
    for c in UNITS:
        of_y = gs.OnlineRegressorCV(5, shuffle=False, select=select).fit(X, c * Y)
        of_x = gs.OnlineRegressorCV(5, shuffle=False, select=select).fit(c * X, Y)
        assert_array_equal(of_y.alphas_, c * one.alphas_)
        assert_array_equal(of_y.coef_, c * one.coef_)
        assert_array_equal(of_x.alphas_, one.alphas_)
        assert_array_equal(of_x.coef_, one.coef_ / c)
    assert one.coef_.any()


@pytest.mark.parametrize("select", ["best", "sparsest"])
@pytest.mark.parametrize("name", AUTO)
def test_a_path_follows_the_units(name, select):
    def path(X, y):
        return gs.OnlineRegressorCV(5, method=AUTO[name], shuffle=False, select=select).fit(X, y)

    one = path(X, Y)
    for c in UNITS:
        for other, scale in ((path(X, c * Y), c), (path(c * X, Y), 1 / c)):
            assert_array_equal(other.alphas_, c * one.alphas_)
            assert other.alpha_ == c * one.alpha_
            assert_array_equal(other.coef_, scale * one.coef_)
    assert one.coef_.any()
