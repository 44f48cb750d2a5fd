"""Origins and units: fits in passes and over partitions find what a fit in memory finds, wherever the data lie."""

import numpy as np
import pytest

import gossamer as gs

dask = pytest.importorskip("dask")
gd = pytest.importorskip("gossamer.dask")

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5))
Z = X @ [1.0, -2.0, 0.5, 0.0, 0.0]
Y = Z + 0.3 * rng.normal(size=200)
MIXED = 10.0 ** np.array([-6, 4, 0, 6, -3])
TASKS = {
    "squared": (gs.BatchRegressor, gd.BatchRegressor, Y),
    "huber": (gs.BatchRegressor, gd.BatchRegressor, Y),
    "poisson": (gs.BatchRegressor, gd.BatchRegressor, np.exp(Z / 2).round()),
    "gamma": (gs.BatchRegressor, gd.BatchRegressor, np.exp(Z / 2)),
    "logistic": (gs.BatchClassifier, gd.BatchClassifier, (Y > 0).astype(int)),
    "squared_hinge": (gs.BatchClassifier, gd.BatchClassifier, (Y > 0).astype(int)),
}
FRAMES = {  # X, and what y is moved by
    "as they are": (X, 0.0),
    "X + 1e3": (X + 1e3, 0.0),
    "X + 1e6": (X + 1e6, 0.0),
    "X + 1e9": (X + 1e9, 0.0),
    "X of mixed units": (X * MIXED, 0.0),
    "X of mixed units and origins": (X * MIXED + 1e3 * MIXED, 0.0),
    "X times 1e-8": (X * 1e-8, 0.0),
    "X times 1e8": (X * 1e8, 0.0),
    "y + 1e4": (X, 1e4),
    "y + 1e6": (X, 1e6),
    "y + 1e10": (X, 1e10),
    "both": (X + 1e6, 1e6),
}


def blocks(X, y):
    return [dask.delayed((X[i::3], y[i::3])) for i in range(3)]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("loss", TASKS)
def test_the_answer_is_that_in_memory(loss, frame):
    (make, over, y), (data, by) = TASKS[loss], FRAMES[frame]
    if by and loss not in ("squared", "huber"):
        return
    alpha = 0.01 * (float(frame.split()[2]) if "times" in frame else 1.0)
    usual = make(loss, alpha=alpha, tol=1e-6).fit(data, y + by)
    passes = make(loss, alpha=alpha).fit_source((data, y + by), memory=6e4)  # too little for all columns
    parts = over(loss, alpha=alpha, client="local").fit(blocks(data, y + by))
    assert passes.n_passes_ > 3
    scale = usual.objective_
    for model in (passes, parts):
        assert model.dual_gap_ < 2e-3 * scale
        assert -1e-5 * scale < model.objective_ - usual.objective_ < model.dual_gap_ + 1e-5 * scale
        spread = np.abs(usual.coef_ * data.std(axis=0)).max()
        assert np.abs((model.coef_ - usual.coef_) * data.std(axis=0)).max() < 0.05 * spread
        found, wanted = (
            m.decision_function(data) if loss in ("logistic", "squared_hinge") else m.predict(data) - by
            for m in (model, usual)
        )
        assert np.abs(found - wanted).max() < 0.05 * np.abs(wanted).max() + 1e-15 * by


def test_rows_without_weight_do_not_count():
    wild, c = np.concatenate([X, 1e12 * X[:20]]), np.repeat([1.0, 0.0], [200, 20])
    y = np.concatenate([Y, 1e12 * Y[:20]])
    usual = gs.BatchRegressor(alpha=0.01, tol=1e-6).fit(X, Y)
    weighted = [dask.delayed((wild[i::3], y[i::3], c[i::3])) for i in range(3)]
    parts = gd.BatchRegressor(alpha=0.01, client="local").fit(weighted)
    passes = gs.BatchRegressor(alpha=0.01).fit_source([(wild, y, c)], memory=6e4)
    assert passes.n_passes_ > 3
    for model in (parts, passes):
        np.testing.assert_allclose(model.coef_, usual.coef_, atol=0.01)
        np.testing.assert_allclose(model.intercept_, usual.intercept_, atol=0.01)


def test_paths_and_where_a_fit_begins(tmp_path):
    far, moved = X + 1e6, Y + 1e6
    one = gd.BatchRegressorCV(alphas=5, cv=3, client="local").fit(blocks(X, Y))
    other = gd.BatchRegressorCV(alphas=5, cv=3, client="local").fit(blocks(far, moved))
    np.testing.assert_allclose(other.alphas_, one.alphas_, rtol=1e-6)
    np.testing.assert_allclose(other.path_loss_, one.path_loss_, rtol=1e-3)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(other.predict(far) - 1e6, one.predict(X), rtol=1e-3, atol=1e-3)
    path = gd.regularization_path(blocks(far, moved), alphas=[0.1, 0.01], client="local")
    again = gs.regularization_path(far, moved, alphas=[0.1, 0.01])
    for mine, its in zip(path.coefs, again.coefs, strict=True):
        np.testing.assert_allclose(mine.toarray(), its.toarray(), atol=1e-2)
    settings = {"alpha": 0.01, "client": "local", "checkpoint": tmp_path / "c.npz"}
    first = gd.BatchRegressor(**settings).fit(blocks(far, moved))
    second = gd.BatchRegressor(**settings).fit(blocks(far, moved))  # from the checkpoint
    assert (first.n_iter_ > 0, second.n_iter_) == (True, 0)
    np.testing.assert_array_equal(second.coef_, first.coef_)
    np.testing.assert_allclose(second.intercept_, first.intercept_, rtol=1e-12)
