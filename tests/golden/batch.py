"""Golden cases of batch learning and boosting: values of objectives, not weights, which need not be the only ones."""

import numpy as np
import scipy.sparse as sp

import gossamer as gs
from golden.online import PENALTIES, SCORES, SIGNS
from golden.problems import COUNTS, LABELS, X

ALPHA = 0.02
LOSSES = {
    "logistic": (gs.Logistic(), SIGNS),
    "multinomial": (gs.Multinomial(), LABELS),
    "squared": (gs.Squared(), SCORES[:, 0]),
    "huber, three targets": (gs.Huber(0.5), SCORES),
}
MORE_LOSSES = {
    "squared hinge": (gs.SquaredHinge(), SIGNS),
    "exponential": (gs.Exponential(), SIGNS),
    "log epsilon-insensitive": (gs.LogEpsilonInsensitive(0.5), SCORES[:, 0]),
    "poisson": (gs.Poisson(), COUNTS),
    "several labels": (gs.Logistic(), (SCORES > 0).astype(int)),
    "squared, three targets": (gs.Squared(), SCORES),
}
SOLVERS = ("fobos", "sparsa", "fista", "projected_gradient", "coordinate", "interior_point")
BOOSTED = ("l1", "group_l2", "group_linf", "linf", "l2", "l2_squared", "elastic_net", "sparse_group_l2", "berhu")
BOOSTED += ("non_negative_l1", "smooth_l1", "none")
ORDERS = ("corrective", "greedy", "cyclic", "random", "parallel")
BOOSTED_LOSSES = {
    "two classes": ("logistic", SIGNS),
    "three classes": ("logistic", LABELS),
    "regression": ("log_epsilon_insensitive", SCORES[:, 0]),
}


def objective(design, penalty, loss, y, solver="auto", tol=1e-8, **settings):
    estimator = gs.BatchRegressor if loss.kind == "regression" else gs.BatchClassifier
    return estimator(loss, penalty, ALPHA, solver, tol=tol, max_iter=50_000, **settings).fit(design(X), y).objective_


def alpha_max(design, penalty, loss, y):
    return gs.alpha_max(design(X), y, loss=loss, penalty=penalty)


def history(_, penalty, bound, order, loss, y, features="columns", design=sp.csr_matrix):
    """Return the objective after each round."""
    regression = np.asarray(y).dtype.kind == "f"
    model = (gs.BoostingRegressor if regression else gs.BoostingClassifier)(
        penalty, ALPHA, bound, features, loss=loss, order=order, batch=3, max_rounds=6, random_state=0
    )
    return [row.objective for row in model.fit(design(X), y).history_]


def cases():
    """Yield a name, a call, and how exact the values are.

    Batch solvers reach the same objective from sparse and dense data. Boosting centres dense columns, and so goes other
    ways: such cases have names of their own.
    """
    for p, penalty in PENALTIES.items():
        for name, problem in LOSSES.items():
            yield f"batch | {p} | {name}", (objective, penalty, *problem, {}), 1e-7
            yield f"alpha max | {p} | {name}", (alpha_max, penalty, *problem, {}), 1e-9
    for p in ("l1", "elastic net, weights", "group l2", "l1 ball"):
        for name, problem in MORE_LOSSES.items():
            yield f"batch | {p} | {name}", (objective, PENALTIES[p], *problem, {}), 1e-7
        for name, problem in LOSSES.items():
            bare = {"fit_intercept": False}
            yield f"batch | {p} | {name}, no intercept", (objective, PENALTIES[p], *problem, bare), 1e-7
            for solver in SOLVERS:
                loose = {"solver": solver, "tol": 1e-5}  # some of them would take long
                yield f"batch, {solver} | {p} | {name}", (objective, PENALTIES[p], *problem, loose), 1e-4
    for name, problem in BOOSTED_LOSSES.items():
        for bound in ("ada", "grad"):
            for p in BOOSTED:
                part = "l2_norm" if p == "l2" else p  # as it was called
                for order in ORDERS:
                    told = f"boosting | {p} | {bound}, {order}, {name}"
                    yield told, (history, part, bound, order, *problem, {}), 1e-6
                dense = (history, part, bound, "corrective", *problem, {"design": np.asarray})
                yield f"boosting | {p} | {bound}, dense, {name}", dense, 1e-6
            for kind in ("products", "stumps", "kernel"):
                call = (history, "l1", bound, "corrective", *problem, {"features": kind, "design": np.asarray})
                yield f"boosting | l1 | {bound}, {kind}, {name}", call, 1e-6


CASES = {name: (call, rtol) for name, call, rtol in cases()}


def run(name, design=sp.csr_matrix):
    """Return the value or values of a case, or the sentence with which it is refused."""
    (function, *args, settings), _ = CASES[name]
    try:
        return function(design, *args, **settings)
    except (ValueError, TypeError) as error:
        return str(error)
