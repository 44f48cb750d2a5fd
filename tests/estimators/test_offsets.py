"""Offsets: one number per row that is added to its scores and not learned."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
from batch.test_laws import SOLVERS, scalar
from catalogue import LOSSES
from gossamer.batch.objective import Objective
from online.matrix import METHODS
from online.paths import METHODS as WITH_LANES

RNG = np.random.default_rng(5)
N, D = 120, 5
X = RNG.standard_normal((N, D)) * (RNG.random((N, D)) < 0.6)
OFFSET = RNG.normal(0.3, 1.2, N)
Z = X @ np.array([1.0, -0.5, 0.0, 0.4, 0.0])
REAL = Z + OFFSET + 0.1 * RNG.standard_normal(N)
TWO = (Z + OFFSET + RNG.logistic(size=N) > 0).astype(int)
COUNTS = RNG.poisson(np.exp(0.5 * Z + OFFSET)).astype(float)

ESTIMATORS = {
    "online": (gs.OnlineClassifier(random_state=0, max_passes=2), TWO),
    "online, regression": (gs.OnlineRegressor(random_state=0), REAL),
    "online, path": (gs.OnlineClassifierCV(alphas=4, random_state=0), TWO),
    "online, path, counts": (gs.OnlineRegressorCV(alphas=4, loss="poisson", random_state=0), COUNTS),
    "batch": (gs.BatchClassifier(alpha=0.01), TWO),
    "batch, regression": (gs.BatchRegressor(alpha=0.01), REAL),
    "batch, counts": (gs.BatchRegressor("poisson", alpha=0.01), COUNTS),
    "batch, path": (gs.BatchClassifierCV(alphas=5, cv=3), TWO),
    "boosting": (gs.BoostingClassifier(alpha=0.01), TWO),
    "boosting, regression": (gs.BoostingRegressor(alpha=0.01), REAL),
}


def new(name):
    from sklearn.base import clone

    estimator, y = ESTIMATORS[name]
    return clone(estimator), y


@pytest.mark.parametrize("name", ESTIMATORS)
def test_zeros_change_nothing(name):
    estimator, y = new(name)
    plain = pickle.loads(pickle.dumps(estimator)).fit(X, y)
    with_zeros = estimator.fit(X, y, offset=np.zeros(N))
    assert_array_equal(with_zeros.coef_, plain.coef_)
    assert_array_equal(with_zeros.intercept_, plain.intercept_)
    assert_array_equal(with_zeros.predict(X, offset=np.zeros(N)), plain.predict(X))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_offset_helps_where_the_data_has_one(name):
    """The data is made with it: scores with it are better than those of a model that does not know it."""
    estimator, y = new(name)
    blind = pickle.loads(pickle.dumps(estimator)).fit(X, y).score(X, y)
    assert estimator.fit(X, y, offset=OFFSET).score(X, y, offset=OFFSET) > blind


@pytest.mark.parametrize("name", ESTIMATORS)
def test_predictions_add_it(name):
    estimator, y = new(name)
    estimator.fit(X, y, offset=OFFSET)
    if hasattr(estimator, "classes_"):
        assert_array_equal(estimator.decision_function(X, offset=OFFSET), estimator.decision_function(X) + OFFSET)
        odds = 1 / (1 + np.exp(-estimator.decision_function(X, offset=OFFSET)))
        assert_allclose(estimator.predict_proba(X, offset=OFFSET)[:, 1], odds, rtol=1e-12)
    elif "counts" in name:
        assert_allclose(estimator.predict(X, offset=OFFSET), estimator.predict(X) * np.exp(OFFSET), rtol=1e-12)
    else:
        assert_array_equal(estimator.predict(X, offset=OFFSET), estimator.predict(X) + OFFSET)
    model = gs.Model.of(estimator)
    assert_allclose(model.predict(X, offset=OFFSET), estimator.predict(X, offset=OFFSET), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_table_may_have_it_in_a_column(name):
    pd = pytest.importorskip("pandas")
    estimator, y = new(name)
    frame = pd.DataFrame({f"x{j}": X[:, j] for j in range(D)}).assign(exposure=OFFSET, y=y, city="Rome")
    frame.loc[::3, "city"] = "Oslo"
    apart = pickle.loads(pickle.dumps(estimator)).fit(frame.drop(columns="exposure"), target="y", offset=OFFSET)
    estimator.fit(frame, target="y", offset="exposure")
    assert_array_equal(estimator.coef_, apart.coef_)
    assert_array_equal(estimator.predict(frame), apart.predict(frame.drop(columns="exposure"), offset=OFFSET))
    assert estimator.score(frame) == apart.score(frame.drop(columns="exposure"), offset=OFFSET)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_bad_offsets_are_refused(name):
    estimator, y = new(name)
    with pytest.raises(ValueError, match="one entry per row: there are 3 offsets and 120 rows"):
        estimator.fit(X, y, offset=OFFSET[:3])
    with pytest.raises(ValueError, match=r"offset\[7\] is nan"):
        estimator.fit(X, y, offset=np.where(np.arange(N) == 7, np.nan, OFFSET))
    estimator.fit(X, y)
    with pytest.raises(ValueError, match="one entry per row"):
        estimator.predict(X, offset=OFFSET[:3])


@pytest.mark.parametrize("estimator", [gs.OnlineClassifier(), gs.BatchClassifier(), gs.BoostingClassifier()])
def test_where_it_changes_nothing_it_is_refused(estimator):
    with pytest.raises(ValueError, match="changes nothing"):
        estimator.fit(X, np.arange(N) % 3, offset=OFFSET)


# Online


@pytest.mark.parametrize("method", METHODS)
def test_squared_loss_learns_the_rest_of_y(method):
    """A loss of z − y: ℓ(z + o, y) = ℓ(z, y − o)."""
    chosen, penalty = METHODS[method], "l2_squared" if "pegasos" in method else "l1"
    penalty = "none" if method == "eg" else penalty
    settings = {"penalty": penalty, "alpha": 0.01, "method": chosen, "shuffle": False}
    with_offset = gs.OnlineRegressor(**settings).fit(X, REAL, offset=OFFSET)
    rest = gs.OnlineRegressor(**settings).fit(X, REAL - OFFSET)
    assert_allclose(with_offset.coef_, rest.coef_, rtol=1e-9, atol=1e-12)
    assert_allclose(with_offset.intercept_, rest.intercept_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "entry", [e for e in LOSSES if e.loss.kind in ("binary", "regression")], ids=lambda entry: entry.name
)
def test_the_loss_of_the_empty_model_is_that_of_the_offset(entry):
    loss = scalar(entry.loss)
    binary = loss.kind == "binary"
    y = 2.0 * TWO - 1 if binary else COUNTS + (entry.least or 0)
    estimator = (gs.OnlineClassifier if binary else gs.OnlineRegressor)(
        loss, alpha=1e9, method=gs.Fobos(step=1e-12), fit_intercept=False, shuffle=False
    )
    estimator.fit(X, y, offset=OFFSET)
    assert_allclose(estimator.progressive_loss_, np.mean(loss.value(OFFSET, y)), rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_one_call_is_many_and_dense_is_sparse(method):
    penalty = {"pegasos": "l2_squared", "pegasos, no projection": "l2_squared", "eg": "none"}.get(method, "l1")
    settings = {"penalty": penalty, "alpha": 0.01, "method": METHODS[method], "shuffle": False}
    settings["center"] = METHODS[method].centres
    whole = gs.OnlineClassifier(**settings).fit(X, TWO, offset=OFFSET)
    parts = gs.OnlineClassifier(**settings)
    for begin in range(0, N, 17):
        part = slice(begin, begin + 17)
        parts.partial_fit(sp.csr_array(X[part]), TWO[part], classes=[0, 1], offset=OFFSET[part])
        parts = pickle.loads(pickle.dumps(parts))
    assert_array_equal(parts.coef_, whole.coef_)
    assert_array_equal(parts.intercept_, whole.intercept_)


def test_rows_that_decide_on_the_step_are_kept_with_their_offsets():
    whole = gs.OnlineClassifier(method=gs.Fobos(), shuffle=False).fit(X, TWO, offset=OFFSET)
    parts = gs.OnlineClassifier(method=gs.Fobos(), shuffle=False)
    for begin in range(0, N, 7):
        part = slice(begin, begin + 7)
        offset = None if begin == 7 else OFFSET[part]
        parts.partial_fit(X[part], TWO[part], classes=[0, 1], offset=offset)
        parts = pickle.loads(pickle.dumps(parts))
    assert parts._trainer.buffer is not None
    changed = OFFSET.copy()
    changed[7:14] = 0
    assert_array_equal(
        parts.coef_, gs.OnlineClassifier(method=gs.Fobos(), shuffle=False).fit(X, TWO, offset=changed).coef_
    )
    assert not np.array_equal(parts.coef_, whole.coef_)


@pytest.mark.parametrize("method", WITH_LANES)
def test_a_strength_of_a_path_learns_as_alone(method):
    alphas = [0.1, 0.01, 0.0]
    how = {"method": WITH_LANES[method], "select": "sparsest", "shuffle": False}
    path = gs.OnlineClassifierCV(alphas, **how).fit(X, TWO, offset=OFFSET)
    for alpha, coef in zip(alphas, path.coef_path_, strict=True):
        alone = gs.OnlineClassifier(alpha=alpha, **how).fit(X, TWO, offset=OFFSET)
        floats = 1e-7 if method == "step free" else 1e-9  # it keeps floats, and adds them up in another order
        assert_allclose(coef.toarray(), alone.coef_, rtol=1e-6, atol=floats)


# Batch


BY_LOSS = {"logistic": TWO, "squared": REAL, "poisson": COUNTS, "hinge": TWO, "quantile": REAL}
KINKED = ("hinge", "quantile")
SOLVED = [(solver, loss) for solver in SOLVERS for loss in BY_LOSS if (solver == "smoothing") == (loss in KINKED)]
SOLVED.remove(("interior_point", "poisson"))


@pytest.mark.parametrize(("solver", "loss"), SOLVED)
def test_solvers_agree(solver, loss):
    chosen, penalty, alpha, y = SOLVERS[solver], gs.L1(), 0.01, BY_LOSS[loss]
    if solver == "projected_gradient":
        penalty, alpha = gs.L1Ball(0.5), 1.0
    make = gs.BatchClassifier if y is TWO else gs.BatchRegressor
    settings = {"penalty": penalty, "alpha": alpha, "tol": 1e-9, "max_iter": 20000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = make(loss, solver=chosen, **settings).fit(X, y, offset=OFFSET)
        other = make(loss, **settings).fit(sp.csr_array(X), y, offset=OFFSET)
    assert_allclose(one.coef_, other.coef_, atol=2e-4)
    assert_allclose(one.objective_, other.objective_, rtol=1e-7)
    z = X @ one.coef_.ravel() + one.intercept_ + OFFSET
    coded = 2.0 * TWO - 1 if y is TWO else y
    by_hand = np.mean(gs.losses.resolve(loss).value(z, coded)) + alpha * penalty.value(one.coef_.ravel())
    assert_allclose(one.objective_, by_hand, rtol=1e-7)
    assert one.dual_gap_ <= 1e-6


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "entry", [e for e in LOSSES if e.loss.kind in ("binary", "regression")], ids=lambda entry: entry.name
)
def test_certificates_bound_the_distance_to_the_optimum(entry, fit_intercept):
    loss, rng = scalar(entry.loss), np.random.default_rng(3)
    y = (2.0 * TWO - 1 if loss.kind == "binary" else COUNTS + (entry.least or 0))[:, None]
    objective = Objective(X, y, loss, gs.L1(), 0.02, fit_intercept=fit_intercept, offset=OFFSET)
    points = [0.3 * scale * rng.standard_normal((D, 1)) for scale in (0.0, 0.1, 1.0) for _ in range(4)]
    values = [objective.certify(objective.at(W)) for W in points]
    best = min(value.objective for value in values)
    for W, found in zip(points, values, strict=True):
        b = objective.at(W).b + objective._offset_y
        by_hand = np.mean(loss.value(X @ W + b + OFFSET[:, None], y)) + 0.02 * np.abs(W).sum()
        if objective._offset_x is None:
            assert_allclose(found.objective, by_hand, rtol=1e-9)
        if found.name == "duality gap":
            assert found.objective - found.gap <= best + 1e-12 * abs(best)


@pytest.mark.parametrize(("loss", "y"), [("logistic", TWO), ("squared", REAL), ("poisson", COUNTS)])
def test_the_same_for_all_rows_is_a_shift_of_the_intercept(loss, y):
    make = gs.BatchClassifier if loss == "logistic" else gs.BatchRegressor
    plain = make(loss, alpha=0.01, tol=1e-10).fit(X, y)
    shifted = make(loss, alpha=0.01, tol=1e-10).fit(X, y, offset=np.full(N, 0.7))
    assert_allclose(shifted.coef_, plain.coef_, atol=1e-6)
    assert_allclose(shifted.intercept_ + 0.7, plain.intercept_, atol=1e-6)
    assert shifted.dual_gap_ <= 1e-9


def test_exposure_is_a_weight_of_rates():
    """Σ e·exp(z) − y·z = Σ e (exp(z) − (y/e) z): counts with log e as offset are rates with the weights e."""
    exposure = np.exp(OFFSET)
    counts = gs.BatchRegressor("poisson", alpha=0.01, tol=1e-10).fit(X, COUNTS, offset=OFFSET)
    alpha = 0.01 * N / exposure.sum()
    rates = gs.BatchRegressor("poisson", alpha=alpha, tol=1e-10).fit(X, COUNTS / exposure, sample_weight=exposure)
    assert_allclose(counts.coef_, rates.coef_, atol=1e-6)
    assert_allclose(counts.intercept_, rates.intercept_, atol=1e-6)


def test_rows_without_weight_do_not_count():
    weight = (np.arange(N) % 4 > 0).astype(float)
    some = weight > 0
    one = gs.BatchClassifier(alpha=0.01).fit(X, TWO, weight, offset=OFFSET)
    assert_array_equal(one.coef_, gs.BatchClassifier(alpha=0.01).fit(X[some], TWO[some], offset=OFFSET[some]).coef_)
    with_cv = gs.BatchClassifierCV(alphas=5, cv=3)
    assert with_cv.fit(X, TWO, weight, offset=OFFSET).path_loss_.shape == (5,)


def test_paths_and_the_largest_strength_know_it():
    top = gs.alpha_max(X, TWO, loss="logistic", offset=OFFSET)
    assert not gs.BatchClassifier(alpha=1.001 * top, tol=1e-10).fit(X, TWO, offset=OFFSET).coef_.any()
    assert gs.BatchClassifier(alpha=0.98 * top, tol=1e-10).fit(X, TWO, offset=OFFSET).coef_.any()
    path = gs.regularization_path(X, TWO, loss="logistic", alphas=[0.05, 0.01], offset=OFFSET, tol=1e-10)
    alone = gs.BatchClassifier(alpha=0.01, tol=1e-10).fit(X, TWO, offset=OFFSET)
    assert_allclose(path.coefs[-1].toarray(), alone.coef_, atol=1e-6)


# Boosting


@pytest.mark.parametrize("bound", ["ada", "grad"])
def test_boosting_finds_the_optimum_that_batch_finds(bound):
    scaled = X / np.abs(X).max(axis=0)
    one = gs.BoostingClassifier(alpha=0.01, bound=bound, tol=1e-6).fit(scaled, TWO, offset=OFFSET)
    other = gs.BatchClassifier(alpha=0.01, tol=1e-10).fit(scaled, TWO, offset=OFFSET)
    assert_allclose(one.coef_, other.coef_, atol=1e-4)
    assert_allclose(one.intercept_, other.intercept_, atol=1e-4)


def test_boosting_watches_validation_data_with_its_offsets():
    fitted = gs.BoostingClassifier(alpha=0.01).fit(X, TWO, validation=(X, TWO, OFFSET), offset=OFFSET)
    z = fitted.decision_function(X, offset=OFFSET)
    assert_allclose(fitted.history_[-1].validation_loss, np.mean(np.log1p(np.exp(-(2 * TWO - 1) * z))), rtol=1e-9)
    assert fitted.history_[-1].validation_score == fitted.score(X, TWO, offset=OFFSET)
