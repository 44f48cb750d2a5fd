"""Groups by names of features and of columns."""

import numpy as np
import pytest

import gossamer as gs
from gossamer.groups import Groups, GrowingGroups, Known, NamedGroups, parsed

NAMES = np.array(["zip", "age", "city", "size"], dtype=object)
TABLE = Known(
    6,
    names=["age", "age=missing", "city=Rome", "city=Oslo", "zip=1", "zip=2"],
    columns=["age", "city", "zip"],
    column_of=np.array([0, 0, 1, 1, 2, 2]),
)


@pytest.mark.parametrize(
    ("spec", "known", "lists", "names"),
    [
        ({"place": ["city", "zip"]}, Known(4, NAMES), [[0, 2], [1], [3]], ["place", "age", "size"]),
        ({"place": ["city", "zip"], "who": "age"}, Known(4, NAMES), [[0, 2], [1], [3]], ["place", "who", "size"]),
        ([["city", 0], ["age"]], Known(4, NAMES), [[0, 2], [1], [3]], [0, 1, "size"]),
        ({"first": [1, 0]}, Known(4), [[0, 1], [2], [3]], ["first", 2, 3]),
        ({"first": [np.int64(1)]}, Known(2), [[1], [0]], ["first", 0]),
        ("columns", Known(3), [[0], [1], [2]], [0, 1, 2]),
        ("columns", Known(4, NAMES), [[0], [1], [2], [3]], list(NAMES)),
        ("columns", TABLE, [[0, 1], [2, 3], [4, 5]], ["age", "city", "zip"]),
        ({"place": ["city", "zip"]}, TABLE, [[2, 3, 4, 5], [0], [1]], ["place", "age", "age=missing"]),
        ([["city=Rome", "zip"]], TABLE, [[2, 4, 5], [0], [1], [3]], [0, "age", "age=missing", "city=Oslo"]),
    ],
)
def test_names_become_groups(spec, known, lists, names):
    found = NamedGroups(spec).over(known)
    assert isinstance(found, Groups)
    assert list(found) == lists
    assert found.names == names


def test_a_column_that_made_no_feature_is_no_group():
    known = Known(2, names=["age", "city=Rome"], columns=["age", "city", "zip"], column_of=np.array([0, 1]))
    assert NamedGroups("columns").over(known).names == ["age", "city"]
    unknown = Known(3, names=["age", "city=Rome", ""], columns=["age", "city"], column_of=np.array([0, 1, -1]))
    assert NamedGroups("columns").over(unknown).names == ["age", "city", ""]


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("rows", ValueError, "groups must be lists, a dict of lists, or 'columns'; 'rows' was given"),
        ({}, ValueError, "at least one group"),
        ({"a": []}, ValueError, r"groups\['a'\] is empty"),
        ({"a": 1.5}, TypeError, r"groups\['a'\] must be a list of names or of numbers"),
        ({"a": [1.5]}, TypeError, "must hold names or numbers of features; 1.5 was found"),
        ({"a": [True]}, TypeError, "must hold names or numbers of features; True was found"),
        ([["a"], []], ValueError, r"groups\[1\] is empty"),
    ],
)
def test_what_is_no_group(spec, error, words):
    with pytest.raises(error, match=words):
        parsed(spec)


@pytest.mark.parametrize(
    ("spec", "known", "words"),
    [
        ({"place": ["citty"]}, Known(4, NAMES), "'citty', and there is no such column. Did you mean 'city'.*zip, age"),
        ({"place": ["citty"]}, TABLE, "Did you mean 'city'.*age, city, zip"),
        ({"place": ["city"]}, Known(4), "the data has no names: pass a data frame or a table, or give the numbers"),
        ({"first": [4]}, Known(4), r"the feature 4; features are numbered 0 … 3"),
        ({"a": ["city"], "b": ["city"]}, Known(4, NAMES), "must not overlap: 'city' is in 'a' and in 'b'"),
        ({"a": ["city"], "b": [2]}, TABLE, "must not overlap: 'city=Rome' is in 'a' and in 'b'"),
    ],
)
def test_names_that_are_not_there(spec, known, words):
    with pytest.raises(ValueError, match=words):
        NamedGroups(spec).over(known)


def test_equality_and_words():
    assert NamedGroups({"a": ["x"]}) == NamedGroups({"a": "x"}) != NamedGroups([["x"]])
    assert hash(NamedGroups({"a": ["x"]})) == hash(NamedGroups({"a": "x"}))
    assert repr(gs.GroupL2(groups={"a": ["x"]})) == "GroupL2(groups={'a': ['x']}, weights=None)"
    assert gs.GroupL2(groups="columns") == gs.GroupL2(groups="columns") != gs.GroupL2()


@pytest.mark.parametrize(
    "penalty", [gs.GroupL2, gs.GroupLInf, gs.NonNegativeGroupL2, lambda **s: gs.SparseGroupL2(0.5, **s)]
)
def test_a_penalty_finds_its_groups(penalty):
    found = penalty(groups={"place": ["city", "zip"]}).bound(Known(4, NAMES))
    assert found == penalty(groups=[[0, 2], [1], [3]])
    with pytest.raises(ValueError, match=r"are names, which an estimator finds.*groups=\[\[0, 2\], \[1\]\]"):
        penalty(groups={"place": ["city", "zip"]}).value([1.0, 2.0])


@pytest.mark.parametrize("ball", [gs.GroupL2Ball, gs.GroupLInfBall])
def test_a_ball_finds_its_groups(ball):
    assert ball(2.0, {"place": ["city", "zip"]}).bound(Known(4, NAMES)) == ball(2.0, [[0, 2], [1], [3]])
    with pytest.raises(ValueError, match="are names"):
        ball(2.0, "columns").prox([1.0, 2.0])
    with pytest.raises(ValueError, match="a ball has no rule for groups that grow"):
        ball(2.0, "columns").growing(["a"])


@pytest.mark.parametrize(
    ("groups", "weights", "expected"),
    [
        ({"place": ["city", "zip"], "who": ["age"]}, {"who": 3.0}, [1.0, 3.0, 1.0]),
        ({"place": ["city", "zip"], "who": ["age"]}, [2.0, 3.0], [2.0, 3.0, 1.0]),
        ([["city", "zip"]], [2.0], [2.0, 1.0, 1.0]),
        ("columns", {"city": 2.0}, [1.0, 1.0, 2.0, 1.0]),
        ("columns", [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]),
    ],
)
def test_weights_of_groups_by_name(groups, weights, expected):
    found = gs.GroupL2(groups=groups, weights=weights).bound(Known(4, NAMES))
    assert found.weights.tolist() == expected
    assert len(found.groups) == len(expected)


def test_wrong_weights_of_groups_by_name():
    with pytest.raises(ValueError, match=r"there is no such group\. Did you mean 'place'"):
        gs.GroupL2(groups={"place": ["city"]}, weights={"plce": 2.0}).bound(Known(4, NAMES))
    with pytest.raises(ValueError, match="3 weights and 1 groups"):
        gs.GroupL2(groups={"place": ["city"]}, weights=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="3 weights and 4 groups"):
        gs.GroupL2(groups="columns", weights=[1.0, 2.0, 3.0]).bound(Known(4, NAMES))
    with pytest.raises(TypeError, match="weights by name need groups by name"):
        gs.GroupL2(groups=[[0], [1]], weights={"a": 1.0})
    with pytest.raises(ValueError, match="non-negative"):
        gs.GroupL2(groups="columns", weights={"a": -1.0})


def test_growing_groups_do_not_depend_on_the_cuts():
    """Features come in the order of the rows; those of columns without a group are numbered as they come."""
    rng = np.random.default_rng(0)
    features, column = rng.integers(0, 500, 3000), rng.integers(0, 4, 500)
    whole, parts = (GrowingGroups(NamedGroups({"ab": ["a", "b"]}), list("abcd")) for _ in range(2))
    whole.assign(features, lambda f: column[f])
    for part in np.split(features, [1, 2, 50, 1000]):
        parts.assign(part, lambda f: column[f])
    every = np.arange(500)
    np.testing.assert_array_equal(whole.of(every), parts.of(every))
    assert whole.count == parts.count == 1 + np.count_nonzero(column[np.unique(features)] >= 2)
    seen = np.isin(every, features)
    np.testing.assert_array_equal(whole.of(every) == 0, seen & (column < 2))
    np.testing.assert_array_equal(whole.of(every) < 0, ~seen)


def test_only_the_group_lasso_grows():
    assert gs.GroupL2(groups="columns").growing(["a", "b"]).grows
    for other in (gs.GroupLInf(groups="columns"), gs.SparseGroupL2(groups="columns")):
        with pytest.raises(ValueError, match=r"only the group lasso has a rule for groups that grow.*Use GroupL2"):
            other.growing(["a"])
    with pytest.raises(ValueError, match="Did you mean 'city'"):
        gs.GroupL2(groups={"x": ["cty"]}).growing(["age", "city"])
