"""Nobody asks a part for its type: what must be known about a penalty, a loss or a method stands on its class."""

import ast
import importlib
from pathlib import Path

import pytest

import gossamer as gs
from gossamer.batch.solvers.base import SOLVERS
from gossamer.boosting.features import KINDS
from gossamer.losses import LOSSES, Loss
from gossamer.methods import METHODS, Method, Setup
from gossamer.penalties import PENALTIES, Penalty

REGISTRIES = [PENALTIES, LOSSES, METHODS]
BASES = {base.__name__: base.__module__ for base in (Penalty, Loss, Method)}
PARTS = {cls.__name__: cls.__module__ for registry in REGISTRIES for cls in registry.classes} | BASES
PARTS |= {"OwnPenalty": "gossamer.penalties.base", "OwnLoss": "gossamer.losses"}
VARIABLES = {"penalty", "loss", "method", "part", "norm"}  # what parts are called where they are used
ROOT = Path(gs.__file__).parent
MODULES = {
    ".".join(("gossamer", *path.relative_to(ROOT).with_suffix("").parts)): path for path in sorted(ROOT.rglob("*.py"))
}


def questions(source, module="elsewhere"):
    """Return the lines of a module that ask for the type of a part, and what they ask."""
    tree = ast.parse(source)
    found = Questions(module)
    found.visit(tree)
    return found.asked


class Questions(ast.NodeVisitor):
    """A part's class may be called, inherited from and named in annotations; any other use asks for a type."""

    def __init__(self, module):
        self.module, self.asked = module, []

    def note(self, node, what):
        self.asked.append(f"line {node.lineno}: {what}")

    def visit_FunctionDef(self, node):
        for child in [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.decorator_list, *node.body]:
            self.visit(child)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_ClassDef(self, node):
        for child in [*node.decorator_list, *node.body]:
            self.visit(child)

    def visit_Call(self, node):
        function = last(node.func)
        if function in ("hasattr", "getattr", "vars") and node.args and last(node.args[0]) in VARIABLES:
            self.about(node, f"{function} of a part")
        if function == "type" and last(node.args[0]) in VARIABLES:
            self.about(node, "the type of a part")
        if function == "isinstance" and self.own(node.args[1]):  # in its own module, of what may be no part yet
            self.visit(node.args[0])
            return
        if not self.is_part(node.func):
            self.visit(node.func)
        for child in [*node.args, *(word.value for word in node.keywords)]:
            self.visit(child)

    def visit_Attribute(self, node):
        if self.is_part(node):
            self.note(node, f"the class {node.attr}")
        elif node.attr == "__class__" and last(node.value) in VARIABLES:
            self.about(node, "the class of a part")
        elif not (node.attr == "__name__" and is_type_of_part(node.value)):  # a name is for words
            self.visit(node.value)

    def visit_Name(self, node):
        if self.is_part(node):
            self.note(node, f"the class {node.id}")

    def visit_Compare(self, node):
        for side in [node.left, *node.comparators]:
            if isinstance(side, ast.Attribute) and side.attr in ("label", "__name__") and last_of(side) in VARIABLES:
                self.about(node, "the name of a part")
            if isinstance(side, ast.Call) and last(side.func) == "name_of":
                self.about(node, "the name of a part")
        self.generic_visit(node)

    def about(self, node, what):
        if self.module not in {*PARTS.values(), "gossamer.registry"}:
            self.note(node, what)

    def is_part(self, node):
        """Return whether an expression is the class of a part; the core has structs of the same names."""
        return last(node) in PARTS and not (isinstance(node, ast.Attribute) and last(node.value) == "_core")

    def own(self, node):
        return last(node) in BASES and BASES[last(node)] == self.module


def last(node):
    """Return the last word of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def last_of(node):
    value = node.value
    return last(value.args[0]) if isinstance(value, ast.Call) and value.args else last(value)


def is_type_of_part(node):
    return isinstance(node, ast.Call) and last(node.func) == "type" and last(node.args[0]) in VARIABLES


@pytest.mark.parametrize("module", MODULES)
def test_no_module_asks_for_the_type_of_a_part(module):
    assert questions(MODULES[module].read_text(encoding="utf-8"), module) == []


ASKING = [
    "isinstance(penalty, penalties.L1)",
    "isinstance(objective.loss, (losses.Logistic, losses.Squared))",
    "isinstance(method, methods.RDA)",
    "isinstance(p, Penalty)",
    "issubclass(type(self.penalty), L1)",
    "type(penalty) is L1",
    "type(self.loss) in known",
    "type(penalty) == type(other)",
    "penalty.__class__ is kind",
    "type(loss).__name__ == 'Squared'",
    "objective.penalty.label == 'L1'",
    "PENALTIES.name_of(p) == 'l1'",
    "ROWWISE = {penalties.L1: 1, penalties.Berhu: 2}",
    "joint = {losses.Logistic: losses.Multinomial}.get(type(loss))",
    "SINGLE = (L1, Berhu)",
    "hasattr(self.loss, '_core')",
    "getattr(penalty, 'weights', None)",
    "callable(getattr(objective.penalty, 'dual_norm', None))",
    "match penalty:\n    case penalties.L1():\n        pass",
    "match penalty:\n    case GroupL2(groups=None) | GroupLInf(groups=None):\n        pass",
    "kind = gs.L1 if sparse else gs.L2",
]


@pytest.mark.parametrize("line", ASKING)
def test_a_question_is_heard(line):
    assert questions(line)


TELLING = [
    "penalty = penalties.L1()",
    "model = gs.ElasticNet(0.5, weights=penalty.weights)",
    "def f(penalty: Penalty, loss: Loss | None = None) -> L1: ...",
    "x: Penalty = make()",
    "class Mine(Penalty): ...",
    "raise ValueError(f'{type(penalty).__name__} has no prox')",
    "_core.rule(bound, _core.L1())",
    "if loss.kind == 'multiclass' and penalty.is_set: pass",
    "isinstance(estimator, ClassifierMixin)",
    "getattr(estimator, 'loss', None)",
    "type(self) is type(other)",
]


@pytest.mark.parametrize("line", TELLING)
def test_what_asks_nothing_passes(line):
    assert questions(line) == []


# One place knows string form, class and room


ALL_REGISTRIES = [*REGISTRIES, SOLVERS, KINDS]


@pytest.mark.parametrize("registry", ALL_REGISTRIES, ids=lambda registry: registry.noun)
def test_every_part_is_public_under_its_room(registry):
    for cls in registry.classes:
        assert gs._HOME_OF[cls.__name__] == cls.__module__.split(".")[1]
        assert getattr(gs, cls.__name__) is cls


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.noun)
def test_a_module_of_the_vocabulary_offers_its_parts(registry):
    for home in {".".join(cls.__module__.split(".")[:2]) for cls in registry.classes}:
        assert sorted(importlib.import_module(home).__all__) == sorted(cls.__name__ for cls in registry.classes)


@pytest.mark.parametrize("registry", ALL_REGISTRIES, ids=lambda registry: registry.noun)
def test_a_name_and_its_part_belong_together(registry):
    for part in registry.defaults():
        name = registry.name_of(part)
        assert registry[name] is type(part)
        assert type(registry.resolve(name)) is type(part)
    with pytest.raises(ValueError, match="already"):
        registry.part(next(iter(registry)))(object)
    assert object not in registry.classes


# Facts keep what they promise

SETUP = Setup(6, 2, 0.1, True)


@pytest.mark.parametrize("penalty", PENALTIES.defaults(), ids=lambda penalty: penalty.label)
def test_the_facts_of_a_penalty(penalty):
    assert (penalty.rows(SETUP) is not None) == penalty.sums_over_features
    assert penalty.constrains or not penalty.is_set
    assert penalty.has_l1 or not penalty.is_l1
    assert penalty.not_online or gs.Fobos().make(penalty, SETUP).rounds == 0
    if penalty.sums_over_features:
        assert penalty.restricted([0, 1]) == penalty


@pytest.mark.parametrize("loss", LOSSES.defaults(), ids=lambda loss: loss.label)
def test_the_facts_of_a_loss(loss):
    assert loss.smoothness is not None or "grad" not in loss.bounds
    joint = loss.joint()
    assert joint is None or (loss.kind, joint.kind) == ("binary", "multiclass")


@pytest.mark.parametrize("method", METHODS.defaults(), ids=lambda method: type(method).__name__)
def test_the_facts_of_a_method(method):
    handled = [p for p in PENALTIES.defaults() if method.refusal(p, SETUP) is None]
    assert handled
    for penalty in PENALTIES.defaults():
        if method.path_refusal(penalty) is None:
            assert penalty in handled
