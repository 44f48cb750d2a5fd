"""Labels of any type, and weights of classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.utils import compute_class_weight

from online.tasks import MANY, THREE, TWO, N, X, classifier


@pytest.mark.parametrize(
    "labels",
    [(0, 1), (-1, 1), (5, 3), (1.0, 2.0), (False, True), ("b", "a"), (10**12, 1)],
    ids=repr,
)
def test_any_two_labels(labels):
    y = np.array(labels)[(TWO == "yes").astype(int)]
    model = classifier(max_passes=3).fit(X, y)
    assert_array_equal(model.classes_, np.unique(y))
    assert set(model.predict(X)) <= set(labels)
    assert model.score(X, y) > 0.8
    flipped = np.array(labels)[1] == model.classes_[0]
    plain = classifier(max_passes=3).fit(X, (TWO == "yes") != flipped)
    assert_array_equal(model.coef_, plain.coef_)


def test_object_labels():
    model = classifier(max_passes=3).fit(X, THREE.astype(object))
    assert model.classes_.dtype == object
    assert model.score(X, THREE.astype(object)) > 0.8


def test_a_column_of_labels_warns():
    with pytest.warns(UserWarning, match="column-vector"):
        model = classifier().fit(X, TWO[:, None])
    assert_array_equal(model.coef_, classifier().fit(X, TWO).coef_)


def test_sparse_indicators_are_indicators():
    model = classifier().fit(X, sp.csr_array(MANY))
    assert_array_equal(model.coef_, classifier().fit(X, MANY).coef_)


def test_class_weight_multiplies_the_weights_of_examples():
    weights = {"no": 0.5, "yes": 3.0}
    each = np.where(TWO == "yes", 3.0, 0.5)
    model = classifier(class_weight=weights).fit(X, TWO)
    assert_array_equal(model.coef_, classifier().fit(X, TWO, sample_weight=each).coef_)
    both = classifier(class_weight=weights).fit(X, TWO, sample_weight=np.full(N, 2.0))
    assert_array_equal(both.coef_, classifier().fit(X, TWO, sample_weight=2 * each).coef_)
    taught = classifier(class_weight=weights).partial_fit(X, TWO, classes=["no", "yes"])
    plain = classifier().partial_fit(X, TWO, classes=["no", "yes"], sample_weight=each)
    assert_array_equal(taught.coef_, plain.coef_)


def test_class_weight_of_three_classes_in_small_blocks():
    weights = {"ant": 0.5, "bee": 3.0, "cat": 1.0}
    whole = classifier(class_weight=weights).partial_fit(X, THREE, classes=["ant", "bee", "cat"])
    rows = classifier(class_weight=weights)
    for i in range(N):
        rows.partial_fit(X[i : i + 1], THREE[i : i + 1], classes=["ant", "bee", "cat"])
    assert_array_equal(rows.coef_, whole.coef_)


def test_balanced_class_weight():
    each = compute_class_weight("balanced", classes=np.unique(THREE), y=THREE)
    expected = classifier().fit(X, THREE, sample_weight=each[np.searchsorted(np.unique(THREE), THREE)])
    assert_array_equal(classifier(class_weight="balanced").fit(X, THREE).coef_, expected.coef_)
    with pytest.raises(ValueError, match="needs all rows at once"):
        classifier(class_weight="balanced").partial_fit(X, TWO, classes=["no", "yes"])
    with pytest.raises(ValueError, match="class_weight is for one label per row"):
        classifier(class_weight={0: 1.0, 1: 2.0}).fit(X, MANY)
