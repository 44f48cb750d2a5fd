"""Golden cases of online learning: a name, and a function of the dtype of X that returns weights in one vector.

Every step is a number: nothing here depends on how a step is searched for.
"""

import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import gossamer as gs
from golden.problems import COUNTS, LABELS, PIECES, SAMPLE_WEIGHT, SCORES, SIGNS, D, X

ALPHA = 0.03
WEIGHTS = [1.0, 0.5, 0.0, 2.0, 1.0, 3.0, 1.5, 0.25, 1.0, 1.0]
GROUPS = [[4, 0, 8], [1], [5, 3, 2], [6, 7, 9]]
GROUP_WEIGHTS = [0.5, 2.0, 1.5, 0.0]

METHODS = {
    "fobos": gs.Fobos(0.5),
    "rda": gs.RDA(2.0),
    "adagrad": gs.AdaGrad(0.4),
    "adagrad fobos": gs.AdaGrad(0.4, form="fobos"),
    "ftrl": gs.FTRL(0.5),
    "truncated gradient": gs.TruncatedGradient(0.5, period=3),
    "subgradient": gs.Subgradient(0.3),
    "pegasos": gs.Pegasos(),
    "eg": gs.ExponentiatedGradient(radius=3.0, step=0.3),
}
SETTINGS = {  # other settings of the same methods, tried with fewer penalties
    "fobos, schedule": gs.Fobos(gs.InverseTime(0.2)),
    "rda, rho": gs.RDA(2.0, rho=0.05),
    "rda, gamma 0": gs.RDA(0.0),
    "ftrl, beta 0": gs.FTRL(0.5, beta=0.0),
    "truncated gradient, threshold": gs.TruncatedGradient(0.5, period=4, threshold=0.2),
    "subgradient, constant": gs.Subgradient(gs.Constant(0.05)),
    "pegasos, not projected": gs.Pegasos(project=False),
    "eg, schedule": gs.ExponentiatedGradient(radius=3.0, step=gs.InverseSqrt(0.2)),
}
ON_PATHS = ("fobos", "rda", "adagrad", "adagrad fobos", "ftrl")

PENALTIES = {
    "none": gs.NoPenalty(),
    "l1": gs.L1(),
    "l1, weights": gs.L1(weights=WEIGHTS),
    "l2 squared": gs.L2Squared(),
    "l2 squared, weights": gs.L2Squared(weights=WEIGHTS),
    "elastic net": gs.ElasticNet(0.7),
    "elastic net, weights": gs.ElasticNet(0.3, weights=WEIGHTS),
    "berhu": gs.Berhu(0.25),
    "berhu, weights": gs.Berhu(0.5, weights=WEIGHTS),
    "non-negative l1": gs.NonNegativeL1(),
    "non-negative l1, weights": gs.NonNegativeL1(weights=WEIGHTS),
    "group l2": gs.GroupL2(),
    "group l2, weights": gs.GroupL2(weights=WEIGHTS),
    "group l2, groups": gs.GroupL2(GROUPS),
    "group l2, groups, weights": gs.GroupL2(GROUPS, GROUP_WEIGHTS),
    "group linf": gs.GroupLInf(),
    "group linf, weights": gs.GroupLInf(weights=WEIGHTS),
    "group linf, groups, weights": gs.GroupLInf(GROUPS, GROUP_WEIGHTS),
    "sparse group l2": gs.SparseGroupL2(0.4),
    "sparse group l2, weights": gs.SparseGroupL2(0.4, weights=WEIGHTS),
    "sparse group l2, groups, weights": gs.SparseGroupL2(0.4, GROUPS, GROUP_WEIGHTS),
    "l2": gs.L2(),
    "linf": gs.LInf(),
    "kl": gs.KL(),
    "simplex": gs.Simplex(1.5),
    "l1 ball": gs.L1Ball(2.0),
    "l1 ball, radius 0": gs.L1Ball(0.0),
    "l1 ball, weights": gs.L1Ball(2.0, weights=WEIGHTS),
    "l2 ball": gs.L2Ball(0.75),
    "box": gs.Box(-0.25, 0.5),
    "box, by feature": gs.Box([0.0, -1.0, -np.inf, 0.125, -0.25] * 2, [0.5] * D),
    "group l2 ball": gs.GroupL2Ball(1.0),
    "group l2 ball, groups": gs.GroupL2Ball(1.0, GROUPS),
    "group linf ball": gs.GroupLInfBall(1.0),
    "group linf ball, groups": gs.GroupLInfBall(1.0, GROUPS),
}
SOME = ("none", "l1", "l2 squared", "elastic net", "non-negative l1", "berhu", "group l2", "group linf")
SINGLE_LOSSES = {
    "hinge": (gs.Hinge(), SIGNS),
    "squared hinge": (gs.SquaredHinge(), SIGNS),
    "exponential": (gs.Exponential(), SIGNS),
    "epsilon-insensitive": (gs.EpsilonInsensitive(0.1), SCORES[:, 0]),
    "log epsilon-insensitive": (gs.LogEpsilonInsensitive(0.5), SCORES[:, 0]),
    "squared": (gs.Squared(), SCORES[:, 0]),
    "quantile": (gs.Quantile(0.8), SCORES[:, 0]),
    "poisson": (gs.Poisson(), COUNTS),
    "multinomial": (gs.Multinomial(), LABELS),
    "multiclass hinge": (gs.MulticlassHinge(), LABELS),
    "one against the rest": (gs.SquaredHinge(), LABELS),
    "several labels": (gs.Logistic(), (SCORES > 0).astype(int)),
}
STRENGTHS = [0.1, 0.03, 0.005]


def csr(dtype, rows=slice(None), width=D):
    return sp.csr_matrix(X[rows, :width].astype(dtype))


def weights(model):
    return np.concatenate([np.ravel(model.coef_), model.intercept_])


def path_weights(model):
    """Return what a path knows of each strength; nothing depends on which one it chose."""
    coefs = [coef.toarray().ravel() for coef in model.coef_path_]
    return np.concatenate([*coefs, model.intercept_path_.ravel(), model.path_loss_, model.path_loss_se_])


def in_pieces(model, y, dtype, **first):
    """Learn in several calls, the third with weights of rows."""
    for number, piece in enumerate(PIECES):
        more = {"sample_weight": SAMPLE_WEIGHT[piece]} if number == 2 else {}
        model.partial_fit(csr(dtype, piece), y[piece], **more, **first)
    return model


def one(dtype, method, penalty, **settings):
    """Two classes: one output."""
    model = gs.OnlineClassifier("logistic", penalty, method=method, **{"alpha": ALPHA} | settings)
    return weights(in_pieces(model, SIGNS, dtype, classes=[-1, 1]))


def three(dtype, method, penalty, **settings):
    """Three targets: three outputs."""
    model = gs.OnlineRegressor(gs.Huber(1.0), penalty, ALPHA, method, **settings)
    return weights(in_pieces(model, SCORES, dtype))


def bare(dtype, method, penalty):
    """One output without an intercept."""
    model = gs.OnlineRegressor(gs.Huber(0.5), penalty, ALPHA, method, fit_intercept=False)
    return weights(in_pieces(model, SCORES[:, 0], dtype))


def grown(dtype, method, penalty, loss, average=False):
    """One class of three and six features; then a second class, all features, and a third class."""
    model = gs.OnlineClassifier(loss, penalty, ALPHA, method, average=average, grow=True)
    early = np.arange(len(X)) < 90
    for which, width in ((LABELS == 0) & early, 6), ((LABELS < 2) & early, 6), ((LABELS < 2) & ~early, D), (early, D):
        rows = np.flatnonzero(which)
        model.partial_fit(csr(dtype, rows, width), LABELS[rows])
    return weights(model)


def from_files(dtype, model):
    """Two files, the second with far more features: the learner grows on the way, and is cut to what came."""
    step = 150  # from one feature to the next
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, (rows, width) in enumerate(((slice(0, 60), 6), (slice(60, None), D))):
            part = csr(np.float64, rows, width)
            lines = []
            for i, label in enumerate(SIGNS[rows]):
                entries = slice(part.indptr[i], part.indptr[i + 1])
                pairs = zip(part.indices[entries], part.data[entries], strict=True)
                lines.append(f"{label} " + " ".join(f"{1 + step * j}:{x}" for j, x in pairs))
            paths.append(Path(folder, f"{number}.svm"))
            paths[-1].write_text("\n".join(lines) + "\n")
        model.fit_source(list(map(str, paths)), classes=[-1, 1])
    return path_weights(model) if hasattr(model, "coef_path_") else weights(model)


def losses(dtype, method, loss, y):
    classifies = loss.kind != "regression"
    model = (gs.OnlineClassifier if classifies else gs.OnlineRegressor)(loss, "l1", ALPHA, method)
    return weights(in_pieces(model, y, dtype, **({"classes": np.unique(y)} if classifies and y.ndim == 1 else {})))


def shuffled(dtype, method, **settings):
    """Two passes in an order that the seed decides."""
    model = gs.OnlineClassifier("logistic", "l1", ALPHA, method, max_passes=2, **{"random_state": 3} | settings)
    return weights(model.fit(csr(dtype), SIGNS))


def path(dtype, method, penalty, y, alphas=STRENGTHS, loss="logistic", go_on=None):
    """Several strengths at once, in several calls; or one of them that goes on by itself."""
    regression = np.asarray(y).dtype.kind == "f"
    estimator = gs.OnlineRegressorCV if regression else gs.OnlineClassifierCV
    model = estimator(alphas, loss, penalty, method)
    in_pieces(model, y, dtype, **({} if regression or y.ndim == 2 else {"classes": np.unique(y)}))
    return path_weights(model) if go_on is None else weights(model.at(go_on).partial_fit(csr(dtype), y))


def shuffled_path(dtype, method):
    model = gs.OnlineClassifierCV(STRENGTHS, method=method, max_passes=2, random_state=3)
    return path_weights(model.fit(csr(dtype), SIGNS))


def cases():
    """Yield a name, a function of a dtype, and whether a refusal is worth a line of its own."""
    plans = [(m, p) for m in METHODS for p in PENALTIES] + [(m, p) for m in SETTINGS for p in SOME]
    for m, p in plans:
        pair = {**METHODS, **SETTINGS}[m], PENALTIES[p]
        yield f"{m} | {p} | one", (one, *pair, {}), True
        yield f"{m} | {p} | one, averaged", (one, *pair, {"average": True}), False
        yield f"{m} | {p} | three", (three, *pair, {}), False
        yield f"{m} | {p} | three, averaged", (three, *pair, {"average": True}), False
        yield f"{m} | {p} | bare", (bare, *pair, {}), False
        if p in SOME:
            yield f"{m} | {p} | alpha 0", (one, *pair, {"alpha": 0.0}), True
    for m in METHODS:
        for p in (*SOME, "sparse group l2", "box", "l1, weights", "l2", "group l2, groups", "l1 ball"):
            pair = METHODS[m], PENALTIES[p]
            yield f"{m} | {p} | grown", (grown, *pair, {"loss": "squared_hinge"}), p != "l1, weights"
            yield f"{m} | {p} | grown, averaged", (grown, *pair, {"loss": "squared_hinge", "average": True}), False
        yield f"{m} | l1 | grown, multinomial", (grown, METHODS[m], gs.L1(), {"loss": "logistic"}), False
        for average in (False, True):
            model = gs.OnlineClassifier("logistic", "l1", ALPHA, METHODS[m], average=average)
            yield f"{m} | l1 | files{', averaged' * average}", (from_files, model, {}), False
        for name, (loss, y) in SINGLE_LOSSES.items():
            yield f"{m} | l1 | {name}", (losses, METHODS[m], loss, y, {}), False
        yield f"{m} | l1 | shuffled", (shuffled, METHODS[m], {}), False
        yield f"{m} | l1 | shuffled, balanced", (shuffled, METHODS[m], {"class_weight": "balanced"}), False
    by_numpy = {"random_state": np.int64(3)}  # RandomState itself, not what stands for it where the seed is an int
    yield "fobos | l1 | shuffled, as NumPy does", (shuffled, METHODS["fobos"], by_numpy), False
    for m, p in plans:
        pair = {**METHODS, **SETTINGS}[m], PENALTIES[p]
        yield f"path | {m} | {p} | two classes", (path, *pair, SIGNS, {}), True
        yield f"path | {m} | {p} | three classes", (path, *pair, LABELS, {}), False
    many = np.geomspace(0.5, 1e-4, 11).tolist()  # more than learn on one thread
    for m in ON_PATHS:
        l1 = METHODS[m], gs.L1()
        yield f"path | {m} | l1 | many strengths", (path, *l1, SIGNS, {"alphas": many}), False
        yield f"path | {m} | l1 | three targets", (path, *l1, SCORES, {"loss": "squared"}), False
        yield f"path | {m} | l1 | shuffled", (shuffled_path, METHODS[m], {}), False
        yield f"path | {m} | l1 | files", (from_files, gs.OnlineClassifierCV(STRENGTHS, method=METHODS[m]), {}), False
        for p in ("l1", "elastic net", "berhu", "group l2"):
            pair = METHODS[m], PENALTIES[p]
            for name, y in (("two classes", SIGNS), ("three classes", LABELS)):
                yield f"path | {m} | {p} | {name}, at one strength", (path, *pair, y, {"go_on": 0.03}), False
        for name, (loss, y) in SINGLE_LOSSES.items():
            yield f"path | {m} | l1 | {name}", (path, *l1, y, {"loss": loss, "alphas": [0.1, 0.01]}), False


CASES = {name: (call, shown) for name, call, shown in cases()}


def run(name, dtype=np.float64):
    """Return the weights of a case as one vector, or the sentence with which it is refused."""
    (function, *args, settings), _ = CASES[name]
    try:
        return function(dtype, *args, **settings)
    except ValueError as error:
        return str(error)
