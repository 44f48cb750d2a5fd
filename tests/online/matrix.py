"""The matrix method × penalty: which pairs there are, and what mathematics forbids."""

import numpy as np

import gossamer as gs
from catalogue import PENALTIES, by_name
from online.problems import ALPHA

METHODS = {
    "step free": gs.StepFree(),
    "fobos": gs.Fobos(step=0.5),
    "rda": gs.RDA(gamma=2.0),
    "adagrad rda": gs.AdaGrad(step=0.4),
    "adagrad fobos": gs.AdaGrad(step=0.15, form="fobos"),
    "ftrl": gs.FTRL(step=0.5, beta=0.7),
    "truncated gradient": gs.TruncatedGradient(step=0.5, period=3),
    "truncated gradient, θ": gs.TruncatedGradient(step=0.5, period=2, threshold=0.2),
    "subgradient": gs.Subgradient(step=0.3),
    "pegasos": gs.Pegasos(),
    "pegasos, no projection": gs.Pegasos(project=False),
    "eg": gs.ExponentiatedGradient(radius=2.0, step=0.5),
}
EVERY_ENTRY = [entry.name for entry in PENALTIES]

# Penalties and sets whose prox looks at several features at once, or has a bound of its own for each.
COUPLED = [
    "l2",
    "linf",
    "group l2, groups",
    "group l2, labels, weights",
    "group l2, names",
    "group linf, groups, weights",
    "group linf, labels",
    "sparse group l2, groups",
    "sparse group l2, labels",
    "kl",
    "kl, prior",
    "simplex",
    "simplex, radius 5",
    "simplex, radius 0",
    "l1 ball",
    "l1 ball, radius 5",
    "l1 ball, radius 0",
    "l1 ball, weights",
    "l1 ball, weights, radius 0",
    "l2 ball",
    "l2 ball, radius 0",
    "box, one a feature",
    "group l2 ball, rows",
    "group l2 ball, groups",
    "group l2 ball, labels",
    "group linf ball, rows",
    "group linf ball, groups",
    "group linf ball, labels",
    "group linf ball, radius 0",
    *[entry.name for entry in PENALTIES if entry.couples],
]
CONSTRAINTS = [
    "non-negative l1",
    "non-negative l1, weights",
    "kl",
    "kl, prior",
    *[entry.name for entry in PENALTIES if entry.penalty.is_set or entry.constrains],
]
L1_OR_NONE = ["none", "l1", "l1, weights"]


def all_but(*kept):
    return [name for name in EVERY_ENTRY if name not in kept]


# What each method refuses, and words of the reason that it must give.
REFUSED = {
    "fobos": {},
    "rda": {},
    **dict.fromkeys(
        ("step free", "adagrad rda", "adagrad fobos", "ftrl"),
        dict.fromkeys([name for name in COUPLED if name != "box, one a feature"], "sum over features"),
    ),
    "truncated gradient": dict.fromkeys(all_but(*L1_OR_NONE), "rule for ℓ1"),
    "truncated gradient, θ": dict.fromkeys(all_but(*L1_OR_NONE), "rule for ℓ1"),
    "subgradient": dict.fromkeys(COUPLED, "sum over features") | dict.fromkeys(CONSTRAINTS, "constraint"),
    "pegasos": dict.fromkeys(all_but("l2 squared"), "method for ½"),
    "pegasos, no projection": dict.fromkeys(all_but("l2 squared"), "method for ½"),
    "eg": dict.fromkeys(all_but("none"), "radius bounds"),
}
ALLOWED = [(method, name) for method in METHODS for name in EVERY_ENTRY if name not in REFUSED[method]]
AVERAGED = [pair for pair in ALLOWED if pair[0] != "step free"]  # its weights have no average in closed form
LAST_OR_AVERAGE = [*[(*pair, False) for pair in ALLOWED], *[(*pair, True) for pair in AVERAGED]]


def penalty_for(name, outputs):
    """Return the catalogue's penalty; a prior has one number per weight, so it depends on the outputs."""
    if name == "kl, prior" and outputs > 1:
        prior = np.repeat(by_name(name).penalty.prior, outputs) / outputs
        return gs.KL(prior=prior / prior.sum())
    return by_name(name).penalty


def alpha_for(method):
    return 0.5 if method.startswith("pegasos") else ALPHA  # steps 1/(αt) must not be huge
