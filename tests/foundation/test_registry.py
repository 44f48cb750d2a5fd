import numpy as np
import pytest

import gossamer as gs
from gossamer import losses, penalties
from gossamer.registry import Registry

# The names that users and saved settings rely on.
LOSS_NAMES = {
    "logistic": gs.Logistic(),
    "hinge": gs.Hinge(),
    "squared_hinge": gs.SquaredHinge(),
    "exponential": gs.Exponential(),
    "squared": gs.Squared(),
    "epsilon_insensitive": gs.EpsilonInsensitive(),
    "log_epsilon_insensitive": gs.LogEpsilonInsensitive(),
    "huber": gs.Huber(),
    "quantile": gs.Quantile(),
    "poisson": gs.Poisson(),
    "multinomial": gs.Multinomial(),
    "multiclass_hinge": gs.MulticlassHinge(),
}
PENALTY_NAMES = {
    "none": gs.NoPenalty(),
    "l1": gs.L1(),
    "l2_norm": gs.L2(),
    "l2_squared": gs.L2Squared(),
    "linf": gs.LInf(),
    "berhu": gs.Berhu(),
    "elastic_net": gs.ElasticNet(),
    "group_l2": gs.GroupL2(),
    "group_linf": gs.GroupLInf(),
    "sparse_group_l2": gs.SparseGroupL2(),
    "l1_ball": gs.L1Ball(),
    "simplex": gs.Simplex(),
}
TABLES = [(losses.resolve, LOSS_NAMES, "loss"), (penalties.resolve, PENALTY_NAMES, "penalty")]
both = pytest.mark.parametrize(("resolve", "names", "noun"), TABLES, ids=["losses", "penalties"])


class CustomLoss:
    def value(self, z, y):
        return (z - y) ** 4

    def slope(self, z, y):
        return 4 * (z - y) ** 3


class CustomPenalty:
    def value(self, w):
        return 0.0

    def prox(self, v, step):
        return v


@both
def test_names_stand_for_their_defaults(resolve, names, noun):
    for name, expected in names.items():
        assert resolve(name) == expected


@both
def test_objects_stand_for_themselves(resolve, names, noun):
    for part in names.values():
        assert resolve(part) is part
    custom = CustomLoss() if noun == "loss" else CustomPenalty()
    assert resolve(custom) is custom


@both
def test_an_unknown_name_lists_the_right_ones(resolve, names, noun):
    with pytest.raises(ValueError, match=f"There is no {noun} 'qqq'. The names are: ") as caught:
        resolve("qqq")
    assert all(name in str(caught.value) for name in names)
    assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("resolve", "near", "meant"),
    [
        (losses.resolve, "logstic", "logistic"),
        (losses.resolve, "squared-hinge", "squared_hinge"),
        (penalties.resolve, "elasticnet", "elastic_net"),
        (penalties.resolve, "l_1", "l1"),
        (penalties.resolve, "group_l1", "group_l2"),
    ],
)
def test_a_near_name_is_suggested(resolve, near, meant):
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
        resolve(near)


@pytest.mark.parametrize(
    ("what", "name", "hint"),
    [
        ("loss", "log_loss", "It is called 'logistic' here"),
        ("loss", "modified_huber", "The nearest is 'squared_hinge'"),
        ("loss", "perceptron", "The nearest is 'hinge'"),
        ("loss", "squared_error", "It is called 'squared' here"),
        ("loss", "squared_epsilon_insensitive", "The nearest is 'epsilon_insensitive'"),
        ("loss", "pinball", "It is called 'quantile' here"),
        ("penalty", "elasticnet", "Did you mean 'elastic_net'"),
        ("penalty", "lasso", "It is called 'l1' here"),
        ("penalty", "l2", r"is 'l2_squared'.*'l2_norm' or L2\(\)"),
        ("penalty", None, "It is called 'none' here"),
        ("method", "sgd", "It is called 'subgradient' here"),
        ("solver", "lbfgs", "The nearest is 'coordinate'"),
    ],
)
def test_names_of_other_libraries_say_ours(what, name, hint):
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    estimators = {
        "method": [gs.OnlineClassifier, gs.OnlineRegressor],
        "solver": [gs.BatchClassifier, gs.BatchRegressor],
    }
    for estimator in estimators.get(what, [each for both_kinds in estimators.values() for each in both_kinds]):
        with pytest.raises((ValueError, TypeError), match=hint):
            estimator(**{what: name}).fit(X, y)


def test_a_name_belongs_to_one_part():
    fruits = Registry("fruit", ())
    fruits.part("plum", near=("cherry",))(type("Plum", (), {}))
    for names, foreign in [(("cherry",), {}), (("pear",), {"same": ("plum",)}), (("pear",), {"near": ("cherry",)})]:
        with pytest.raises(ValueError, match=r"There is a fruit '\w+' already"):
            fruits.part(*names, **foreign)(type("Pear", (), {}))
    assert list(fruits) == ["plum"]


@both
def test_a_class_is_not_an_object(resolve, names, noun):
    for part in names.values():
        with pytest.raises(TypeError, match=rf"A {noun} is an object, not a class: pass {type(part).__name__}\(\)"):
            resolve(type(part))


@both
@pytest.mark.parametrize("spec", [None, 3, 1.5, [], object(), ("l1",)])
def test_what_is_neither(resolve, names, noun, spec):
    with pytest.raises(
        TypeError, match=f"A {noun} is a name or an object with value and .*{type(spec).__name__} has no"
    ):
        resolve(spec)


def test_half_an_object_says_what_is_missing():
    with pytest.raises(TypeError, match="CustomPenalty has no slope"):
        losses.resolve(CustomPenalty())
    with pytest.raises(TypeError, match="CustomLoss has no prox"):
        penalties.resolve(CustomLoss())


def test_a_custom_loss_in_multitask():
    task = gs.Multitask(CustomLoss())
    z = np.array([[1.0, 2.0], [0.0, -1.0]])
    assert task.value(z, np.zeros((2, 2))).tolist() == [17.0, 1.0]
    assert task.slope(z, np.zeros((2, 2))).tolist() == [[4.0, 32.0], [0.0, -4.0]]
    # only value and slope were asked for: what is not known is None, not an error
    assert (task.lipschitz, task.smoothness, task.probabilistic) == (None, None, False)
