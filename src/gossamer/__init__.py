"""Sparse linear models, online and in batch: minimise mean loss + α·Ω(w).

A problem has three parts: a loss, a penalty (or set), and a method or solver. Public names load when first used.
"""

TYPE_CHECKING = False  # as in `typing`, which takes longer to load than everything else here
if TYPE_CHECKING:
    from typing import Any

    from gossamer.batch.cv import *
    from gossamer.batch.estimators import *
    from gossamer.batch.solvers import *
    from gossamer.boosting.estimators import *
    from gossamer.boosting.features import *
    from gossamer.losses import *
    from gossamer.methods import *
    from gossamer.metrics import *
    from gossamer.model.display import *
    from gossamer.model.model import *
    from gossamer.online.cv import *
    from gossamer.online.estimators import *
    from gossamer.penalties import *
    from gossamer.projections import *
    from gossamer.schedules import *
    from gossamer.sources import *

__version__ = "0.1.0"

# Every public name, by the module or package it is in.
_HOMES = {
    "penalties": (
        "L1 L2 L2Squared LInf Berhu ElasticNet NonNegativeL1 GroupL2 GroupLInf SparseGroupL2 NonNegativeGroupL2 KL "
        "NoPenalty SmoothL1 Simplex L1Ball L2Ball Box GroupL2Ball GroupLInfBall"
    ),
    "methods": "StepFree Fobos RDA AdaGrad FTRL TruncatedGradient Subgradient Pegasos ExponentiatedGradient",
    "schedules": "Constant InverseSqrt InverseTime",
    "online": "OnlineClassifier OnlineRegressor OnlineClassifierCV OnlineRegressorCV",
    "batch": (
        "BatchClassifier BatchRegressor BatchClassifierCV BatchRegressorCV regularization_path RegularizationPath "
        "alpha_max certify Proof BatchFobos SpaRSA FISTA ProjectedGradient CoordinateDescent InteriorPoint "
        "Smoothing"
    ),
    "boosting": "BoostingClassifier BoostingRegressor ColumnFeatures ProductFeatures StumpFeatures KernelFeatures",
    "metrics": "coverage",
    "sources": "source read",
    "model": "Model save load PathDisplay",
    "projections": (
        "project_simplex project_l1_ball project_l2_ball project_box project_group_l2_ball project_group_linf_ball "
        "SparseL1Ball"
    ),
    "losses": (
        "Logistic Hinge SquaredHinge Exponential Squared EpsilonInsensitive LogEpsilonInsensitive Huber Quantile "
        "Poisson Gamma Tweedie Multinomial MulticlassHinge Multitask CompiledLoss"
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = list(_HOME_OF)


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name in _HOMES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
