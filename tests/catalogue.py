"""One list of every loss, penalty, set and projection, with variants and the traits that the laws ask for."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import gossamer as gs
import reference


def over(entries):
    """Run a test once for every entry."""
    return pytest.mark.parametrize("entry", entries, ids=[entry.name for entry in entries])


# Losses


@dataclass(frozen=True)
class LossEntry:
    name: str
    loss: Any
    targets: st.SearchStrategy  # of one y, or of a whole row of them
    outputs: int = 0  # width of a row of z; 0 for a scalar loss
    kink: Callable = lambda z, y: math.inf  # how far z is from the nearest kink
    tight: bool = True  # the smoothness is reached, not only a bound
    least: float | None = None  # targets are counts from here on

    def shape(self, n):
        return (n, self.outputs) if self.outputs else (n,)

    def stack(self, targets):
        """Return drawn targets as one array."""
        return np.array(targets, dtype=int if self.loss.kind == "multiclass" else float)


signs = st.sampled_from([-1.0, 1.0])
reals = st.one_of(st.sampled_from([0.0, 1.0, -2.5]), st.floats(-20, 20))
counts = st.integers(0, 30).map(float)
classes = st.integers(0, 2)


def multiclass_kink(z, y):
    first, second = np.sort(z + 1 - np.eye(len(z))[y])[::-1][:2]
    return first - second


def rows_of(strategy, k=3):
    return st.lists(strategy, min_size=k, max_size=k)


LOSSES = [
    LossEntry("logistic", gs.Logistic(), signs),
    LossEntry("hinge", gs.Hinge(), signs, kink=lambda z, y: abs(1 - y * z)),
    LossEntry("squared hinge", gs.SquaredHinge(), signs),
    LossEntry("exponential", gs.Exponential(), signs),
    LossEntry("squared", gs.Squared(), reals),
    LossEntry("ε-insensitive", gs.EpsilonInsensitive(), reals, kink=lambda z, y: abs(abs(z - y) - 0.1)),
    LossEntry("absolute", gs.EpsilonInsensitive(epsilon=0), reals, kink=lambda z, y: abs(z - y)),
    LossEntry("log ε-insensitive", gs.LogEpsilonInsensitive(), reals),
    LossEntry("log ε-insensitive, ε = 0", gs.LogEpsilonInsensitive(epsilon=0.0), reals),
    LossEntry("log ε-insensitive, ε = 3", gs.LogEpsilonInsensitive(epsilon=3.0), reals, tight=False),
    LossEntry("huber", gs.Huber(), reals),
    LossEntry("huber, δ = 0.01", gs.Huber(delta=0.01), reals),
    LossEntry("quantile", gs.Quantile(), reals, kink=lambda z, y: abs(z - y)),
    LossEntry("quantile, q = 0.9", gs.Quantile(q=0.9), reals, kink=lambda z, y: abs(z - y)),
    LossEntry("poisson", gs.Poisson(), counts, least=0.0),
    LossEntry("gamma", gs.Gamma(), counts.map(lambda y: y + 0.5), least=1.0),
    *(LossEntry(f"tweedie, p = {p}", gs.Tweedie(power=p), counts, least=0.0) for p in (1.5, 1.1, 1.9)),
    LossEntry("multinomial", gs.Multinomial(), classes, outputs=3),
    LossEntry("multiclass hinge", gs.MulticlassHinge(), classes, outputs=3, kink=multiclass_kink),
    LossEntry("multitask logistic", gs.Multitask("logistic"), rows_of(signs), outputs=3),
    LossEntry("multitask huber", gs.Multitask(gs.Huber(delta=2.0)), rows_of(reals), outputs=3),
    LossEntry("multitask poisson", gs.Multitask("poisson"), rows_of(counts), outputs=3),
]
SCALAR_LOSSES = [entry for entry in LOSSES if not entry.outputs]


# Penalties and sets

VECTORS = ((0,), (1,), (2,), (7,), (12,))
MATRICES = ((1, 3), (5, 1), (3, 4), (6, 2), (0, 3), (3, 0))
ANY_SHAPE = VECTORS + MATRICES
FILLED = tuple(shape for shape in ANY_SHAPE if math.prod(shape))

# Six features in three groups, in every form a user may give.
GROUPS = [[4, 0], [1], [5, 3, 2]]
LABELS = [7, 9, 20, 20, 7, 20]
NAMES = ["a", "b", "c", "c", "a", "c"]
SIX = ((6,), (6, 2))
ONE_A_FEATURE = [1.0, 0.5, 0.0, 2.0, 1.0, 3.0]
ONE_A_GROUP = [0.5, 2.0, 1.5]


@dataclass(frozen=True)
class Entry:
    name: str
    penalty: Any
    shapes: tuple = ANY_SHAPE
    is_norm: bool = False  # Ω(cw) = |c| Ω(w)
    adds_up: bool | None = None  # prox(prox(v, a), b) = prox(v, a + b): True always, False not
    size: float = 0.0  # how far the set reaches, where rounding is measured by it
    sharp: bool = False  # accurate to the size of the set even where v is huge beside it
    has_dual: bool = True
    couples: bool = False  # features, where the lists of tests/online/matrix.py do not say so
    constrains: bool = False  # the same

    def unit(self, v):
        """Return what rounding errors are relative to."""
        return self.size if self.sharp else max(self.size, float(np.abs(v).max(initial=0.0)))


def norm(name, penalty, shapes=ANY_SHAPE, adds_up=True):
    return Entry(name, penalty, shapes, is_norm=True, adds_up=adds_up)


def ball(name, penalty, shapes=ANY_SHAPE, *, sharp=True, size=None, has_dual=True):
    size = penalty.radius if size is None else size
    return Entry(name, penalty, shapes, adds_up=True, size=size, sharp=sharp, has_dual=has_dual)


PENALTIES = [
    Entry("none", gs.NoPenalty(), adds_up=True),
    norm("l1", gs.L1()),
    norm("l1, weights", gs.L1(weights=ONE_A_FEATURE), SIX),
    Entry("l2 squared", gs.L2Squared(), adds_up=False),
    Entry("l2 squared, weights", gs.L2Squared(weights=ONE_A_FEATURE), SIX, adds_up=False),
    norm("l2", gs.L2()),
    norm("linf", gs.LInf()),
    Entry("berhu", gs.Berhu(), adds_up=False),
    Entry("berhu, γ = 0.1, weights", gs.Berhu(gamma=0.1, weights=ONE_A_FEATURE), SIX, adds_up=False),
    Entry("elastic net", gs.ElasticNet(), adds_up=False),
    Entry("elastic net, ρ = 0", gs.ElasticNet(l1_ratio=0), adds_up=False),
    norm("elastic net, ρ = 1", gs.ElasticNet(l1_ratio=1)),
    Entry("elastic net, weights", gs.ElasticNet(l1_ratio=0.9, weights=ONE_A_FEATURE), SIX, adds_up=False),
    Entry("non-negative l1", gs.NonNegativeL1(), adds_up=True),
    Entry("non-negative l1, weights", gs.NonNegativeL1(weights=ONE_A_FEATURE), SIX, adds_up=True),
    norm("group l2, rows", gs.GroupL2()),
    norm("group l2, rows, weights", gs.GroupL2(weights=ONE_A_FEATURE), SIX),
    norm("group l2, groups", gs.GroupL2(groups=GROUPS), SIX),
    norm("group l2, labels, weights", gs.GroupL2(groups=LABELS, weights=ONE_A_GROUP), SIX),
    norm("group l2, names", gs.GroupL2(groups=NAMES), SIX),
    norm("group linf, rows", gs.GroupLInf()),
    norm("group linf, rows, weights", gs.GroupLInf(weights=ONE_A_FEATURE), SIX),
    norm("group linf, groups, weights", gs.GroupLInf(groups=GROUPS, weights=ONE_A_GROUP), SIX),
    norm("group linf, labels", gs.GroupLInf(groups=LABELS), SIX),
    norm("group linf, wide rows", gs.GroupLInf(), ((4, 32), (5, 33), (9, 7))),
    norm("sparse group l2, rows", gs.SparseGroupL2(), ((3, 4), (6, 2)), adds_up=False),
    norm("sparse group l2, any", gs.SparseGroupL2(l1_ratio=0.3), adds_up=None),
    norm("sparse group l2, ρ = 0", gs.SparseGroupL2(l1_ratio=0)),
    norm("sparse group l2, ρ = 1", gs.SparseGroupL2(l1_ratio=1)),
    norm("sparse group l2, groups", gs.SparseGroupL2(0.25, GROUPS, ONE_A_GROUP), SIX, adds_up=False),
    norm("sparse group l2, labels", gs.SparseGroupL2(0.75, LABELS, [0.0, 1.0, 1.0]), SIX, adds_up=False),
    *(
        Entry(
            f"non-negative group l2, {name}",
            gs.NonNegativeGroupL2(g, a),
            shapes,
            adds_up=True,
            constrains=True,
            couples=g is not None,
        )
        for name, g, a, shapes in (("rows", None, None, ANY_SHAPE), ("groups, weights", GROUPS, ONE_A_GROUP, SIX))
    ),
    Entry("kl", gs.KL(), FILLED, adds_up=False, size=1.0, sharp=True, has_dual=False),
    Entry(
        "kl, prior",
        gs.KL(prior=[0.5, 0.125, 0.0, 0.25, 1e-9, 0.125 - 1e-9]),
        ((6,), (3, 2)),
        adds_up=False,
        size=1.0,
        sharp=True,
        has_dual=False,
    ),
    ball("simplex", gs.Simplex(), FILLED, has_dual=False),
    ball("simplex, radius 5", gs.Simplex(radius=5), FILLED, has_dual=False),
    ball("simplex, radius 0", gs.Simplex(radius=0), FILLED, has_dual=False),
    ball("l1 ball", gs.L1Ball()),
    ball("l1 ball, radius 5", gs.L1Ball(radius=5)),
    ball("l1 ball, radius 0", gs.L1Ball(radius=0)),
    ball("l1 ball, weights", gs.L1Ball(2.0, weights=ONE_A_FEATURE), SIX, sharp=False),
    ball("l1 ball, weights, radius 0", gs.L1Ball(0, weights=ONE_A_FEATURE), SIX, sharp=False),
    ball("l2 ball", gs.L2Ball()),
    ball("l2 ball, radius 0", gs.L2Ball(radius=0)),
    ball("box", gs.Box(-1, 2.5), sharp=True, size=2.5, has_dual=False),
    ball("orthant", gs.Box(0, math.inf), sharp=False, size=0.0, has_dual=False),
    ball("box, one a feature", gs.Box([0, -1, -math.inf, 1, -2, 0], [1] * 6), SIX, sharp=False, size=2, has_dual=False),
    ball("group l2 ball, rows", gs.GroupL2Ball(3.0)),
    ball("group l2 ball, groups", gs.GroupL2Ball(2.0, groups=GROUPS), SIX),
    ball("group l2 ball, labels", gs.GroupL2Ball(2.0, groups=LABELS), SIX),
    ball("group linf ball, rows", gs.GroupLInfBall(3.0), sharp=False),
    ball("group linf ball, groups", gs.GroupLInfBall(2.0, groups=GROUPS), SIX, sharp=False),
    ball("group linf ball, labels", gs.GroupLInfBall(2.0, groups=LABELS), SIX, sharp=False),
    ball("group linf ball, radius 0", gs.GroupLInfBall(0), sharp=False),
]
SETS = [entry for entry in PENALTIES if entry.penalty.is_set]
NORMS = [entry for entry in PENALTIES if entry.is_norm]


def by_name(name):
    return next(entry for entry in PENALTIES if entry.name == name)


# Projections: functions of v (and out), their twins, and whether the rows of a matrix are projected one by one


@dataclass(frozen=True)
class ProjectionEntry:
    name: str
    function: Callable
    settings: dict
    twin: Callable
    by_rows: bool = True
    shapes: tuple = FILLED

    def __call__(self, v, **out):
        return self.function(v, **self.settings, **out)


def weighted_rows(v, radius, weights):
    return reference.project_weighted_l1_ball(v, radius, np.asarray(weights))


PROJECTIONS = [
    ProjectionEntry("project_simplex", gs.project_simplex, {"radius": 2.0}, reference.project_simplex),
    ProjectionEntry("project_l1_ball", gs.project_l1_ball, {"radius": 2.0}, reference.project_l1_ball),
    ProjectionEntry(
        "project_l1_ball, weights",
        gs.project_l1_ball,
        {"radius": 2.0, "weights": ONE_A_FEATURE},
        weighted_rows,
        shapes=((6,), (2, 6), (5, 6)),
    ),
    ProjectionEntry("project_l2_ball", gs.project_l2_ball, {"radius": 2.0}, reference.project_l2_ball),
    ProjectionEntry("project_box", gs.project_box, {"low": -1.0, "high": 0.5}, reference.project_box),
    ProjectionEntry(
        "project_group_l2_ball", gs.project_group_l2_ball, {"radius": 2.0}, reference.project_group_l2_ball, False
    ),
    ProjectionEntry(
        "project_group_l2_ball, groups",
        gs.project_group_l2_ball,
        {"radius": 2.0, "groups": GROUPS},
        reference.project_group_l2_ball,
        False,
        SIX,
    ),
    ProjectionEntry(
        "project_group_linf_ball", gs.project_group_linf_ball, {"radius": 2.0}, reference.project_group_linf_ball, False
    ),
    ProjectionEntry(
        "project_group_linf_ball, groups",
        gs.project_group_linf_ball,
        {"radius": 2.0, "groups": LABELS},
        reference.project_group_linf_ball,
        False,
        SIX,
    ),
]

# Every function from an array to an array of its shape, for the laws about arrays.
MAPS = [*PENALTIES, *PROJECTIONS]


def largest_shape(entry):
    """Return a shape of the entry that is not empty and shows its structure."""
    return max(entry.shapes, key=math.prod)


def mapping(entry):
    """Return the entry's function of v (and out)."""
    return entry if isinstance(entry, ProjectionEntry) else entry.penalty.prox


# SparseL1Ball keeps state and is held against reference.DenseL1Ball in a file of its own.
CATALOGUED = (
    {type(entry.penalty).__name__ for entry in PENALTIES}
    | {type(entry.loss).__name__ for entry in LOSSES}
    | {entry.function.__name__ for entry in PROJECTIONS}
    | {gs.SparseL1Ball.__name__}
)
