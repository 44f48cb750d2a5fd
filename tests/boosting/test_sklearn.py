"""scikit-learn's own checks. What is expected to fail is listed with its reason; there is nothing else."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import gossamer as gs

# Weights and repetitions are compared to the seventh digit, so what is compared must be that near to the optimum.
EXACT = 1e-10
ESTIMATORS = [
    gs.BoostingClassifier(tol=EXACT),
    gs.BoostingClassifier("group_l2", 1e-2, "grad", order="greedy", max_rounds=50),
    gs.BoostingClassifier(features="stumps", alpha=1e-2, tol=EXACT),
    gs.BoostingClassifier(features="kernel", alpha=1e-2),
    gs.BoostingRegressor(tol=EXACT),
    gs.BoostingRegressor(features=gs.ProductFeatures(max_degree=2), alpha=5e-2, tol=EXACT, max_rounds=100),
    gs.BoostingRegressor("l2_squared", bound="grad", loss="squared", order="random", max_rounds=100, random_state=0),
]

PERCEPTRON = (
    "the perceptron that chooses the support set passes over a repeated example twice, over a weighted one once"
)
SATURATED = "its unscaled data makes margins beyond 37, whose probabilities round to 1 and tie"


def expected_to_fail(estimator):
    if estimator.features == "kernel":
        checks = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
        return dict.fromkeys(checks, PERCEPTRON)
    if isinstance(estimator, gs.BoostingClassifier) and estimator.alpha == 1e-3:
        return {"check_classifier_multioutput": SATURATED}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_to_fail)
def test_scikit_learn(estimator, check):
    check(estimator)
