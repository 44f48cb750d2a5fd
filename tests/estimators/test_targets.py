import numpy as np
import pytest
from numpy.testing import assert_array_equal

import gossamer as gs
from gossamer.estimators import targets

LABELS = np.array(["ant", "bee", "cat"])


def test_two_classes_are_one_output():
    coded = targets.for_labels(np.array(["no", "yes"]), gs.Logistic(), grow=False)
    assert (coded.kind, coded.outputs, coded.loss) == ("binary", 1, gs.Logistic())
    assert_array_equal(coded.encode(np.array(["yes", "no", "yes"])), [[1.0], [-1.0], [1.0]])


@pytest.mark.parametrize(
    ("loss", "joint"),
    [
        (gs.Logistic(), gs.Multinomial()),
        (gs.Hinge(), gs.MulticlassHinge()),
        (gs.Multinomial(), gs.Multinomial()),
        (gs.MulticlassHinge(), gs.MulticlassHinge()),
    ],
    ids=repr,
)
def test_more_classes_have_a_joint_loss_where_there_is_one(loss, joint):
    coded = targets.for_labels(LABELS, loss, grow=False)
    assert (coded.kind, coded.outputs, coded.loss) == ("multiclass", 3, joint)
    assert_array_equal(coded.encode(np.array(["cat", "ant"])), [[2.0], [0.0]])


@pytest.mark.parametrize("loss", [gs.SquaredHinge(), gs.Exponential()], ids=repr)
def test_one_against_the_rest_otherwise(loss):
    coded = targets.for_labels(LABELS, loss, grow=False)
    assert (coded.kind, coded.outputs, coded.loss) == ("one_vs_rest", 3, loss)
    assert_array_equal(coded.encode(np.array(["cat", "ant"])), [[-1, -1, 1], [1, -1, -1]])


def test_a_joint_loss_with_two_classes_keeps_two_outputs():
    coded = targets.for_labels(np.array([3, 5]), gs.Multinomial(), grow=False)
    assert (coded.kind, coded.outputs) == ("multiclass", 2)


def test_indicators_are_one_output_a_label():
    y = np.array([[1, 0, 0], [0, 1, 1]])
    coded = targets.for_indicators(y, gs.Hinge())
    assert (coded.kind, coded.outputs) == ("multilabel", 3)
    assert_array_equal(coded.encode(y), [[1, -1, -1], [-1, 1, 1]])
    with pytest.raises(ValueError, match=r"binary loss such as 'logistic'.*Multinomial"):
        targets.for_indicators(y, gs.Multinomial())


def test_real_targets_keep_their_columns():
    flat = targets.for_regression(np.array([1.0, 2.0]), gs.Squared())
    assert (flat.outputs, flat.flat) == (1, True)
    assert_array_equal(flat.encode(np.array([1.0, 2.0])), [[1.0], [2.0]])
    wide = targets.for_regression(np.ones((4, 3)), gs.Huber())
    assert (wide.outputs, wide.flat) == (3, False)
    assert wide.encode(np.ones((4, 3))).shape == (4, 3)


def test_targets_of_the_wrong_sign_are_refused():
    coded = targets.for_regression(np.ones(2), gs.Poisson())
    with pytest.raises(ValueError, match=r"Poisson needs targets of 0 or more; y holds -1"):
        coded.encode(np.array([1.0, -1.0]))


def test_the_right_kind_of_loss_is_asked_for():
    with pytest.raises(ValueError, match=r"classification loss such as 'logistic'.*Squared was given"):
        targets.for_labels(LABELS, gs.Squared(), grow=False)
    with pytest.raises(ValueError, match=r"regression loss such as 'squared'.*Hinge was given"):
        targets.for_regression(np.ones(2), gs.Hinge())
    with pytest.raises(ValueError, match=r"regression loss.*Multinomial was given"):
        targets.for_regression(np.ones(2), gs.Multinomial())


@pytest.mark.parametrize("loss", [gs.Multitask("logistic"), gs.Multitask("squared")], ids=repr)
def test_multitask_comes_from_the_targets_not_from_the_loss(loss):
    with pytest.raises(ValueError, match="Multitask"):
        targets.for_labels(LABELS, loss, grow=False)
    with pytest.raises(ValueError, match="Multitask"):
        targets.for_regression(np.ones((2, 3)), loss)
    with pytest.raises(ValueError, match="Multitask"):
        targets.for_indicators(np.eye(2), loss)


def test_one_class_is_refused_unless_growing():
    with pytest.raises(ValueError, match=r"one class only, 'ant'.*at least two"):
        targets.for_labels(LABELS[:1], gs.Logistic(), grow=False)
    assert targets.for_labels(LABELS[:1], gs.Logistic(), grow=True).outputs == 1


def test_growing_keeps_one_output_a_class_from_the_start():
    coded = targets.for_labels(LABELS[:2], gs.Logistic(), grow=True)
    assert (coded.kind, coded.outputs, coded.loss) == ("multiclass", 2, gs.Multinomial())


def test_new_classes_go_to_the_end():
    coded = targets.for_labels(np.array(["bee", "cat"]), gs.Logistic(), grow=True)
    grown = coded.with_new_classes(np.array(["cat", "ant", "dog"]))
    assert_array_equal(grown.classes, ["bee", "cat", "ant", "dog"])
    assert grown.outputs == 4
    assert_array_equal(grown.encode(np.array(["ant", "bee", "dog"])), [[2.0], [0.0], [3.0]])
    assert coded.with_new_classes(np.array(["cat"])) is coded


def test_longer_names_survive_growth():
    """NumPy cuts strings to the width of an array; the classes must not be cut."""
    coded = targets.for_labels(np.array(["a", "b"]), gs.Logistic(), grow=True)
    grown = coded.with_new_classes(np.array(["a long name"]))
    assert grown.classes.tolist() == ["a", "b", "a long name"]
    assert_array_equal(grown.encode(np.array(["a long name"])), [[2.0]])


@pytest.mark.parametrize(
    ("classes", "y", "shown"),
    [
        (LABELS, ["bee", "dog"], "'dog'"),
        (np.array([1, 3, 5]), [1, 2], "2"),
        (np.array([1, 3, 5]), [7], "7"),
        (np.arange(100), [-1], "-1"),
    ],
)
def test_unknown_labels_are_named(classes, y, shown):
    coded = targets.for_labels(classes, gs.Logistic(), grow=False)
    with pytest.raises(ValueError, match=rf"label .*{shown}.*not one of the classes") as refusal:
        coded.encode(np.array(y))
    assert len(str(refusal.value)) < 300


def test_labels_in_any_order():
    coded = targets.Targets("multiclass", 4, gs.Multinomial(), np.array([9, 2, 7, 4]))
    assert_array_equal(coded.index_of(np.array([2, 4, 9, 7, 7])), [1, 3, 0, 2, 2])


def test_objects_as_labels():
    classes = np.array(["x", "y"], dtype=object)
    coded = targets.for_labels(classes, gs.Logistic(), grow=False)
    assert_array_equal(coded.encode(np.array(["y", "x"], dtype=object)), [[1.0], [-1.0]])


@pytest.mark.parametrize(
    "labels",
    [[1, -1, 1], [0, 1], [3, 1, 1, 2], [5, 5], [0.5, 2.0], [0.5, 2.0, 1.0], [7, -(2**40)], ["b", "a", "b"]],
    ids=repr,
)
def test_distinct_labels_are_those_of_numpy(labels):
    y = np.array(labels)
    found = targets.distinct(y)
    assert found.dtype == y.dtype
    assert_array_equal(found, np.unique(y))


def test_an_unknown_label_among_two_is_told():
    coded = targets.for_labels(np.array([0, 1]), gs.Logistic(), grow=False)
    with pytest.raises(ValueError, match="label 2"):
        coded.encode(np.array([0, 1, 2]))
