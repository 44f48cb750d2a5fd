"""What the tests of the path share: strengths, methods, penalties, and a strength as if it were alone."""

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
from online.problems import features

ALPHAS = [0.3, 0.1, 0.04, 0.01, 0.001, 0.0]
METHODS = {
    "step free": gs.StepFree(),
    "fobos": gs.Fobos(step=0.5),
    "fobos, a schedule": gs.Fobos(step=gs.Constant(0.2)),
    "rda": gs.RDA(gamma=2.0),
    "adagrad rda": gs.AdaGrad(step=0.4),
    "adagrad fobos": gs.AdaGrad(step=0.4, form="fobos"),
    "ftrl": gs.FTRL(step=0.5, beta=0.5),
}
AUTO = {
    "fobos": gs.Fobos(),
    "fobos theory": gs.Fobos("theory"),
    "rda": gs.RDA(),
    "rda theory": gs.RDA("theory"),
    "adagrad rda": gs.AdaGrad(),
    "adagrad fobos": gs.AdaGrad(form="fobos"),
    "ftrl": gs.FTRL(),
}
WEIGHTS = np.array([1.0, 0.5, 2.0, 1.5, 0.7, 1.0])
PENALTIES = {
    "l1": gs.L1(),
    "l1, weights": gs.L1(weights=WEIGHTS),
    "non-negative l1": gs.NonNegativeL1(),
    "elastic net": gs.ElasticNet(0.7),
    "elastic net, weights": gs.ElasticNet(0.7, weights=WEIGHTS),
    "ridge": gs.L2Squared(),
    "berhu": gs.Berhu(0.1),
    "berhu, weights": gs.Berhu(0.1, weights=WEIGHTS),
    "group l2": gs.GroupL2(),
    "group l2, weights": gs.GroupL2(weights=WEIGHTS),
    "group linf": gs.GroupLInf(),
    "sparse group": gs.SparseGroupL2(0.5),
}
X = features()
SPARSE = sp.csr_array(X)


def rounding_of(path):
    """Return how far a strength of a path may be from itself alone: the rule without a step keeps floats."""
    return 2e-4 if path._trainer.method.free_of_steps else 1e-12


def path_of(estimator):
    return gs.OnlineRegressorCV if estimator is gs.OnlineRegressor else gs.OnlineClassifierCV


def alone(path, problem, X, y, alpha, **settings):
    """Return the estimator with one strength, fitted to the same rows."""
    settings = {"shuffle": False, "select": path.select} | settings
    model = problem.estimator(problem.loss, path.penalty, float(alpha), path.method, **settings)
    return model.fit(X, y)


def assert_same_weights(one, other, rounding=1e-12):
    """To 1e-6 of the largest, and the same zeros but for ties; or to another rounding."""
    scale = np.abs(other).max(initial=0.0)
    assert_allclose(one, other, rtol=max(rounding, 1e-6), atol=max(rounding, 1e-9) * scale)
    differ = (one != 0) != (other != 0)
    assert np.abs(np.where(differ, one - other, 0.0)).max(initial=0.0) <= rounding * max(scale, 1.0)


def assert_each_is_as_if_alone(path, problem, X, y, **settings):
    used, rounding = 0, rounding_of(path)
    for i, alpha in enumerate(path.alphas_):
        single = alone(path, problem, X, y, alpha, **settings)
        mine = path.at(alpha)
        assert_same_weights(mine.coef_, single.coef_, rounding)
        assert_same_weights(path.coef_path_[i].toarray(), np.atleast_2d(single.coef_), rounding)
        assert_allclose(mine.intercept_, single.intercept_, rtol=max(rounding, 1e-6), atol=rounding)
        assert_allclose(path.intercept_path_[i], mine.intercept_, rtol=rounding, atol=rounding)
        assert abs(path.path_nonzeros_[i] - np.count_nonzero(single.coef_)) <= (rounding > 1e-9)
        if settings.get("max_passes", 1) == 1:
            assert_allclose(path.path_loss_[i], single.progressive_loss_, rtol=max(rounding, 1e-9))
        assert_allclose(mine.progressive_loss_, single.progressive_loss_, rtol=max(rounding, 1e-9))
        if not callable(single.step_):
            assert_allclose(path.path_step_[i], single.step_, rtol=1e-12)
        assert mine.t_ == single.t_
        used += np.count_nonzero(single.coef_)
    assert used > 0
    chosen = path.at()
    assert chosen.alpha == path.alpha_
    assert_allclose(path.coef_, chosen.coef_, rtol=rounding, atol=rounding)
    if rounding < 1e-9:
        assert_array_equal(path.predict(X), chosen.predict(X))
