"""scikit-learn's own checks. Nothing is expected to fail."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import gossamer as gs

ESTIMATORS = [
    gs.BoostingClassifier(),
    gs.BoostingClassifier("group_l2", 1e-2, "grad", order="greedy", max_rounds=50),
    gs.BoostingClassifier(features="stumps", alpha=1e-2),
    gs.BoostingClassifier(features="kernel", alpha=1e-2),
    gs.BoostingClassifier(order="random", max_rounds=100, random_state=0),
    gs.BoostingRegressor(),
    gs.BoostingRegressor(features="products", alpha=1e-2, max_rounds=30),
    gs.BoostingRegressor("l2_squared", bound="grad", loss="squared", order="cyclic", max_rounds=100),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)
