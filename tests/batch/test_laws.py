"""Batch learning by law: objectives against NumPy, certificates that hold, solvers that agree."""

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gossamer as gs
import reference
from catalogue import LOSSES, PENALTIES, by_name, over
from gossamer.batch import solvers
from gossamer.batch.driver import solve
from gossamer.batch.objective import Objective

SOLVERS = {
    "fobos": gs.BatchFobos(),
    "sparsa": gs.SpaRSA(),
    "fista": gs.FISTA(),
    "projected_gradient": gs.ProjectedGradient(),
    "coordinate": gs.CoordinateDescent(),
    "interior_point": gs.InteriorPoint(),
    "smoothing": gs.Smoothing(),
}


def numbers(n=40, d=6, seed=0, density=0.6):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * (rng.random((n, d)) < density)


def outputs_of(entry):
    return entry.outputs or 1


def targets_for(entry, n=40, seed=0):
    """Return y as the objective takes it, n × targets."""
    rng = np.random.default_rng(seed + 1)
    if entry.loss.kind == "multiclass":
        return rng.integers(0, entry.outputs, (n, 1)).astype(float)
    loss = getattr(entry.loss, "loss", entry.loss)
    shape = (n, outputs_of(entry))
    if loss.kind == "binary":
        return rng.choice([-1.0, 1.0], shape)
    least = next((e.least for e in LOSSES if e.loss == loss), None)
    return rng.standard_normal(shape) if least is None else rng.poisson(2.0, shape) + least


def scalar(loss):
    """Return the loss that the objective takes: a multitask loss is its own scalar one over several outputs."""
    return getattr(loss, "loss", loss)


def objective_for(entry, penalty, alpha, X=None, **settings):
    X = numbers() if X is None else X
    y = targets_for(entry, X.shape[0])
    settings.setdefault("fit_intercept", not isinstance(entry.loss, gs.MulticlassHinge))
    return Objective(X, y, scalar(entry.loss), penalty, alpha, outputs=outputs_of(entry), **settings)


def twin_loss(entry, Z, y, p):
    y = y[:, 0].astype(int) if entry.loss.kind == "multiclass" else (y if entry.outputs else y[:, 0])
    return float(np.sum(p * reference.loss_value(entry.loss, Z if entry.outputs else Z[:, 0], y)))


def twin_slope(entry, Z, y):
    if entry.loss.kind == "multiclass":
        return reference.loss_slope(entry.loss, Z, y[:, 0].astype(int))
    return reference.loss_slope(scalar(entry.loss), Z, y)


FORMS = {
    "dense": lambda X: X,
    "columns": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


@over(LOSSES)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_value_and_gradient_are_those_of_numpy(entry, form):
    X = numbers().astype(np.float32).astype(np.float64)
    c = np.random.default_rng(3).integers(1, 4, len(X))
    objective = objective_for(entry, gs.NoPenalty(), 0.0, form(X), sample_weight=c, fit_intercept=False)
    W = np.random.default_rng(4).standard_normal((6, outputs_of(entry)))
    point, p, y = objective.at(W), c / c.sum(), targets_for(entry)
    assert math.isclose(point.loss, twin_loss(entry, X @ W, y, p), rel_tol=1e-12)
    np.testing.assert_allclose(point.gradient, X.T @ (p[:, None] * twin_slope(entry, X @ W, y)), atol=1e-12)


@over([e for e in LOSSES if not isinstance(e.loss, gs.MulticlassHinge)])
def test_the_intercept_is_the_best(entry):
    objective = objective_for(entry, gs.NoPenalty(), 0.0)
    W = np.random.default_rng(4).standard_normal((6, outputs_of(entry)))
    point, Z, y, p = objective.at(W), numbers() @ W, targets_for(entry), np.full(40, 1 / 40)
    np.testing.assert_allclose(point.slopes.sum(axis=0), 0, atol=1e-9)
    for r in range(Z.shape[1]):
        for by in (-1e-3, 1e-3, 1.0, -1.0):
            b = objective.intercept(point.W, point.b) + by * np.eye(Z.shape[1])[r]
            assert twin_loss(entry, Z + b, y, p) >= point.loss - 1e-9 * abs(point.loss)
    assert math.isclose(point.loss, twin_loss(entry, Z + objective.intercept(point.W, point.b), y, p), rel_tol=1e-9)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_threads_do_not_change_a_bit(form):
    X = FORMS[form](numbers(6000, 40))
    entry = next(e for e in LOSSES if e.name == "multinomial")
    W = np.random.default_rng(0).standard_normal((40, 3))
    points = [objective_for(entry, gs.L1(), 0.1, X, threads=t).at(W) for t in (1, 2, 5)]
    for other in points[1:]:
        np.testing.assert_array_equal(other.gradient, points[0].gradient)
        np.testing.assert_array_equal(other.b, points[0].b)
        assert other.loss == points[0].loss


# Conjugates and curvatures


@over(LOSSES)
def test_fenchel_young(entry):
    """ℓ(z) + ℓ*(u) ≥ <u, z>, with equality where u is the slope at z."""
    n, rng = 200, np.random.default_rng(0)
    k = outputs_of(entry)
    objective = objective_for(entry, gs.NoPenalty(), 0.0, np.zeros((n, 1)), fit_intercept=False)
    b, p = np.zeros(k), 1 / n
    S, T = np.empty((n, k)), np.empty((n, k))
    for scale in (0.1, 1.0, 20.0):
        Z, other = scale * rng.standard_normal((2, n, k))
        value = objective.mean.slopes(Z, b, S)
        assert math.isclose(value + objective.mean.conjugate(S), np.sum(Z * S), rel_tol=1e-9, abs_tol=1e-9 * scale)
        elsewhere = objective.mean.slopes(other, b, T)
        assert elsewhere + objective.mean.conjugate(S) >= np.sum(other * S) - 1e-9 * scale
        assert value + objective.mean.conjugate(0.5 * S + 0.5 * T) >= np.sum(Z * (S + T) / 2) - 1e-9 * scale
    outside = 3.0 + np.abs(S) * 0 + p
    if scalar(entry.loss).lipschitz is not None and entry.loss.kind != "multitask":
        assert objective.mean.conjugate(outside) == math.inf


@over([e for e in LOSSES if scalar(e.loss).smoothness or isinstance(scalar(e.loss), (gs.Exponential, gs.Poisson))])
def test_curvature_is_the_change_of_slope(entry):
    if entry.loss.kind == "multiclass":
        pytest.skip("curvatures of a multiclass loss are its probabilities, which link has")
    n, k, h = 50, outputs_of(entry), 1e-6
    b = np.zeros(k)
    objective = objective_for(entry, gs.NoPenalty(), 0.0, np.zeros((n, 1)), fit_intercept=False)
    Z = np.random.default_rng(0).standard_normal((n, k))
    bent, ahead, behind = np.empty((3, n, k))
    objective.mean.curvatures(Z, b, bent)
    objective.mean.slopes(Z + h, b, ahead)
    objective.mean.slopes(Z - h, b, behind)
    np.testing.assert_allclose(bent, (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-9)


# Solvers


def problem(entry, loss_name, **settings):
    """Return the problem of a penalty with six features: one output for a vector, two for a matrix."""
    loss = next(e for e in LOSSES if e.name == loss_name)
    X = numbers(60)
    y = targets_for(loss, 60)
    if loss.loss.kind == "regression":
        y = np.abs(X @ np.array([[1.0], [-2.0], [0.0], [0.5], [0.0], [1.0]]) + 0.3 * y)
    return Objective(X, y, scalar(loss.loss), entry.penalty, 0.05, outputs=outputs_of(loss), **settings)


COUNTS = [e.name for e in LOSSES if e.least is not None and not e.outputs]
SHAPED = [e for e in PENALTIES if (6,) in e.shapes or (7,) in e.shapes]
ROWS = [e for e in SHAPED if (6, 2) in e.shapes]


def best_known(objective):
    """Return the lowest objective found by the solvers that take everything smooth."""
    return min(solve(objective, s, tol=1e-9, max_iter=300).certificate.objective for s in (gs.FISTA(), gs.SpaRSA()))


def sized(entry, shape):
    """Return whether the penalty takes weights of this shape."""
    try:
        entry.penalty.prox(np.zeros(shape))
    except ValueError:
        return False
    return True


def agree(objective):
    low = best_known(objective)
    unit = abs(objective.value_at(objective.origin()))
    for name, solver in SOLVERS.items():
        try:
            solver.check(objective)
        except ValueError:
            continue
        loose = name == "fobos"  # linear at best
        found = solve(objective, solver, tol=1e-5 if loose else 1e-8, max_iter=1000)
        excess = found.certificate.objective - low
        assert excess <= (1e-4 if loose else 1e-6) * unit, f"{name} is {excess / unit:.1e} above"
        if found.certificate.name == "duality gap":
            assert found.certificate.gap >= excess - 1e-12 * unit, name
        if not loose:
            assert found.converged, name
            check_kkt(objective, found.W, unit)
        low = min(low, found.certificate.objective)


def check_kkt(objective, W, unit):
    """W is a fixed point of the prox-gradient step."""
    G = objective.at(W).gradient
    step = 1 / objective.lipschitz()
    moved = W - objective.prox(W - step * G, step)
    assert np.abs(moved).max() <= 2e-3 * max(1.0, np.abs(W).max())
    assert math.isfinite(objective.penalty_at(W))


@over([e for e in SHAPED if sized(e, (6,))])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_all_solvers_agree(entry, loss):
    agree(problem(entry, loss))


@over([e for e in ROWS if sized(e, (6, 3))])
@pytest.mark.parametrize("loss", ["multinomial", "multitask huber"])
def test_all_solvers_agree_on_matrices(entry, loss):
    agree(problem(entry, loss))


@pytest.mark.parametrize(
    "loss", ["squared hinge", "exponential", "log ε-insensitive", "huber", "multitask logistic", *COUNTS]
)
@pytest.mark.parametrize("name", ["l1", "elastic net", "group l2, groups", "l1 ball"])
def test_all_smooth_losses(loss, name):
    agree(problem(by_name(name), loss))


KINKED = ["hinge", "ε-insensitive", "absolute", "quantile", "multiclass hinge"]


@pytest.mark.parametrize("loss", KINKED)
@over([e for e in SHAPED if e.name != "none"])
def test_losses_with_kinks_are_solved(entry, loss):
    if loss == "multiclass hinge" and not sized(entry, (6, 3)):
        pytest.skip("the penalty does not take matrices of this shape")
    objective = problem(entry, loss, fit_intercept=loss != "multiclass hinge")
    assert isinstance(solvers.resolve("auto", objective), gs.Smoothing)
    found = solve(objective, gs.Smoothing(), tol=1e-6, max_iter=2000)
    coarse = solve(objective, gs.BatchFobos(), tol=0, max_iter=50)
    assert found.converged
    assert found.certificate.objective <= coarse.certificate.objective + found.certificate.gap
    assert coarse.certificate.gap >= coarse.certificate.objective - found.certificate.objective - 1e-12
    for other in (gs.FISTA(), gs.SpaRSA(), gs.CoordinateDescent(), gs.ProjectedGradient()):
        with pytest.raises(ValueError, match="has kinks"):
            other.check(objective)


@pytest.mark.parametrize("loss", ["hinge", "quantile", "multiclass hinge"])
def test_subgradient_steps_come_near_a_kink(loss):
    objective = problem(by_name("l1"), loss, fit_intercept=loss != "multiclass hinge")
    fine = solve(objective, gs.BatchFobos(), tol=0, max_iter=200)
    assert fine.certificate.gap <= 0.1 * objective.value_at(objective.origin())


@over([e for e in SHAPED if sized(e, (6,)) and e.name not in ("none",)])
@given(seed=st.integers(0, 50), scale=st.sampled_from([0.0, 0.01, 1.0, 30.0]))
def test_the_gap_bounds_what_is_left(entry, seed, scale):
    """At any point, not only near the optimum."""
    objective = problem(entry, "logistic")
    point = objective.at(objective.prox(scale * np.random.default_rng(seed).standard_normal((6, 1)), 0.0))
    certificate = objective.certify(point)
    if certificate.name == "duality gap":
        key = entry.name
        if key not in KNOWN:
            KNOWN[key] = best_known(objective)
        assert certificate.gap >= certificate.objective - KNOWN[key] - 1e-8


KNOWN: dict[str, float] = {}


def test_which_penalties_have_no_bound():
    """What is reported as a residual is what has no dual point; everything else is a bound."""
    without = {e.name for e in SHAPED if sized(e, (6,)) and not problem(e, "logistic")._has_bound}
    assert without == {
        "none",
        "l1, weights",
        "l2 squared, weights",
        "berhu, γ = 0.1, weights",
        "elastic net, weights",
        "non-negative l1, weights",
        "group l2, rows, weights",
        "group linf, rows, weights",
        "l1 ball, weights",
        "l1 ball, weights, radius 0",
        "orthant",
        "box, one a feature",
    }


@pytest.mark.parametrize("name", ["fista", "sparsa", "coordinate", "interior_point"])
def test_integer_weights_are_repetitions(name):
    X, c = sp.csr_array(numbers(50)), np.random.default_rng(5).integers(0, 4, 50)
    y = targets_for(next(e for e in LOSSES if e.name == "logistic"), 50)[:, 0]
    again = np.repeat(np.arange(50), c)
    model = gs.BatchClassifier(alpha=0.02, solver=name, tol=1e-10)
    weighted = model.fit(X, y, sample_weight=c)
    first = weighted.coef_, weighted.intercept_, weighted.objective_
    repeated = model.fit(X[again], y[again])
    for a, b in zip(first, (repeated.coef_, repeated.intercept_, repeated.objective_), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


# α_max

NEVER_ZERO = {"none", "l2 squared", "l2 squared, weights", "elastic net, ρ = 0"}
STRONG = [e for e in SHAPED if sized(e, (6,)) and e.has_dual and not e.penalty.is_set]


@over(STRONG)
@pytest.mark.parametrize("loss", ["logistic", "squared", "poisson"])
def test_alpha_max(entry, loss):
    """From α_max on all penalised weights are exactly zero; a little under it they are not."""
    X = numbers(60)
    y = np.where(X[:, 0] + X[:, 3] > 0, 1.0, 0.0) if loss == "logistic" else np.abs(X[:, 0] - X[:, 1])
    free = np.zeros(6, bool) if getattr(entry.penalty, "weights", None) is None else None
    if entry.name in NEVER_ZERO:
        with pytest.raises(ValueError, match="never makes all weights zero"):
            gs.alpha_max(X, y, loss=loss, penalty=entry.penalty)
        return
    top = gs.alpha_max(X, y, loss=loss, penalty=entry.penalty)
    estimator = gs.BatchClassifier if loss == "logistic" else gs.BatchRegressor
    if free is None:
        if getattr(entry.penalty, "groups", None) is not None:
            return
        free = np.asarray(entry.penalty.weights) == 0
    for solver in ("auto", "fista", "sparsa"):
        fitted = [
            np.ravel(estimator(loss, entry.penalty, share * top, solver, tol=1e-9).fit(X, y).coef_)
            for share in (1 + 1e-9, 2.0, 0.99)
        ]
        assert not np.any(fitted[0][~free])
        assert not np.any(fitted[1][~free])
        assert np.any(fitted[2][~free])


def test_screening_changes_nothing():
    rng = np.random.default_rng(0)
    X = sp.random_array((200, 500), density=0.02, rng=rng, format="csr")
    y = np.where(rng.random(200) < 0.5, -1.0, 1.0)
    for penalty in (gs.L1(), gs.L1(weights=rng.random(500) + 0.5), gs.ElasticNet(0.8), gs.GroupL2()):
        objective = Objective(X, y, gs.Logistic(), penalty, 0.005)
        _, kept = objective.screened()
        assert 0 < len(kept) < 400
        whole = solve(objective, gs.CoordinateDescent(), tol=1e-10, screen=False)
        part = solve(objective, gs.CoordinateDescent(), tol=1e-10)
        assert np.any(part.W)
        np.testing.assert_allclose(part.W, whole.W, atol=1e-6)
        assert math.isclose(part.certificate.objective, whole.certificate.objective, rel_tol=1e-9)
        # The gap is that of the best bound on the way, which holds for the whole problem too.
        assert part.certificate.gap <= objective.certify(objective.at(part.W)).gap * (1 + 1e-3) + 1e-11
        assert part.certificate.objective - part.certificate.gap <= whole.certificate.objective + 1e-12


@pytest.mark.parametrize("k", [1, 3])
def test_screening_rows(k):
    rng = np.random.default_rng(1)
    X = sp.random_array((150, 300), density=0.02, rng=rng, format="csc")
    y = rng.integers(0, 3, (150, 1)).astype(float) if k == 3 else np.where(rng.random((150, 1)) < 0.5, -1.0, 1.0)
    loss = gs.Multinomial() if k == 3 else gs.SquaredHinge()
    for penalty in (gs.GroupL2(), gs.GroupLInf(), gs.L1()):
        objective = Objective(X, y, loss, penalty, 0.008, outputs=k)
        whole = solve(objective, gs.CoordinateDescent(), tol=1e-9, screen=False)
        part = solve(objective, gs.CoordinateDescent(), tol=1e-9)
        assert math.isclose(part.certificate.objective, whole.certificate.objective, rel_tol=1e-8)


def test_solvers_refuse_in_words():
    l1, group = problem(by_name("l1"), "logistic"), problem(by_name("group l2, rows"), "multinomial")
    with pytest.raises(ValueError, match="ProjectedGradient does not go with L1: it projects"):
        gs.ProjectedGradient().check(l1)
    with pytest.raises(ValueError, match="InteriorPoint does not go with Multinomial"):
        gs.InteriorPoint().check(group)
    with pytest.raises(ValueError, match="InteriorPoint does not go with features without a penalty"):
        gs.InteriorPoint().check(problem(by_name("l1, weights"), "logistic"))
    with pytest.raises(ValueError, match="CoordinateDescent does not go with LInf: the penalty couples"):
        gs.CoordinateDescent().check(problem(by_name("linf"), "logistic"))
    with pytest.raises(ValueError, match="step='theory' needs a bound"):
        gs.BatchFobos("theory").check(problem(by_name("none"), "logistic").with_alpha(0.0))
    with pytest.raises(ValueError, match=r"There is no solver 'fist'\. Did you mean 'fista'"):
        solvers.resolve("fist", l1)


@pytest.mark.parametrize("step", [0.5, "theory"])
def test_fobos_with_decreasing_steps(step):
    objective = problem(by_name("l1"), "logistic")
    low = best_known(objective)
    found = solve(objective, gs.BatchFobos(step), tol=1e-2, max_iter=2000)
    assert low <= found.certificate.objective <= low + 0.05
    assert found.certificate.gap >= found.certificate.objective - low - 1e-12


# The C++ intercept is found where the minimum is far away, or nowhere


@pytest.mark.parametrize("name", ["logistic", "squared", "poisson", "exponential", "huber", "quantile"])
def test_intercepts_far_away(name):
    entry = next(e for e in LOSSES if e.name == name)
    y = np.ones((50, 1)) if entry.loss.kind == "binary" else np.full((50, 1), 1e4)
    objective = Objective(np.zeros((50, 1)), y, entry.loss, gs.L1(), 1.0)
    point = objective.at(np.zeros((1, 1)))
    assert np.isfinite(objective.intercept(point.W, point.b)).all()
    if entry.loss.kind == "binary":
        assert point.loss < 1e-9
    else:
        expected = math.log(1e4) if name == "poisson" else 1e4
        np.testing.assert_allclose(objective.intercept(point.W, point.b), expected, rtol=1e-9)


def test_no_warning_escapes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gs.BatchClassifier(alpha=0.05).fit(numbers(), targets_for(LOSSES[0])[:, 0])


@pytest.mark.parametrize("outputs", [1, 3])
def test_products_are_counted(outputs):
    """2 for every non-zero and output: margins alone for a loss, with a gradient for a point."""
    X = numbers()
    for form in (X, sp.csr_matrix(X), sp.csc_matrix(X)):
        y = np.random.default_rng(1).standard_normal((40, outputs))
        objective = Objective(form, y, gs.Squared(), gs.L1(), 0.05, outputs=outputs)
        one = 2 * outputs * (form.nnz if sp.issparse(form) else form.size)
        objective.loss_at(objective.origin())
        assert objective.operations == one
        objective.at(objective.origin())
        assert objective.operations == 3 * one
        objective.lipschitz()  # two products with one output an iteration
        iterations, rest = divmod(objective.operations - 3 * one, 2 * one // outputs)
        assert 1 <= iterations <= 30
        assert rest == 0
        objective.lipschitz()
        assert objective.operations == 3 * one + iterations * (2 * one // outputs)


@pytest.mark.parametrize("outputs", [1, 3])
def test_visits_of_coordinate_descent_are_counted(outputs):
    """At least one visit to every block that changed, and at most 200 rounds over all of them."""
    X, y = numbers(), np.random.default_rng(1).standard_normal((40, outputs))
    objective = Objective(X, y, gs.Squared(), gs.GroupL2(), 0.05, outputs=outputs)
    W, before = objective.origin(), 0
    for _, point in zip(range(3), gs.CoordinateDescent().iterates(objective, W), strict=False):
        changed = np.count_nonzero((point.W != W).any(axis=1))
        visits = ((objective.operations - before) / (4 * outputs) - X.size) / len(X)
        assert changed <= visits <= 200 * 6
        W, before = point.W, objective.operations
    assert W.any()
