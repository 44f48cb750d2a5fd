"""Online learning: estimators, paths in one pass, the trainer, and the search for steps."""

from gossamer.registry import rooms

HOMES = {
    "estimators": "OnlineClassifier OnlineRegressor",
    "cv": "OnlineClassifierCV OnlineRegressorCV",
}
__all__ = [name for names in HOMES.values() for name in names.split()]
__getattr__ = rooms(__name__, HOMES)
