"""Batch learning: estimators, paths and cross-validation, the objective, certificates and solvers."""

from gossamer.registry import rooms

HOMES = {
    "estimators": "BatchClassifier BatchRegressor",
    "cv": "BatchClassifierCV BatchRegressorCV regularization_path RegularizationPath alpha_max",
    "proof": "certify Proof",
    "solvers": "BatchFobos SpaRSA FISTA ProjectedGradient CoordinateDescent InteriorPoint Smoothing",
}
__all__ = [name for names in HOMES.values() for name in names.split()]
__getattr__ = rooms(__name__, HOMES)
