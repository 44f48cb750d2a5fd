"""Online learning: estimators, regularization paths in one pass, and the trainer."""

from gossamer.registry import rooms

HOMES = {
    "estimators": "OnlineClassifier OnlineRegressor",
    "cv": "OnlineClassifierCV OnlineRegressorCV",
}
__all__ = [name for names in HOMES.values() for name in names.split()]
__getattr__ = rooms(__name__, HOMES)
