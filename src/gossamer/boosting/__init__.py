"""Boosting with structural sparsity: estimators, candidate features, and the rounds."""

from gossamer.registry import rooms

HOMES = {
    "estimators": "BoostingClassifier BoostingRegressor",
    "features": "ColumnFeatures ProductFeatures StumpFeatures KernelFeatures",
}
__all__ = [name for names in HOMES.values() for name in names.split()]
__getattr__ = rooms(__name__, HOMES)
