"""The state of a run as a tree of JSON values and arrays, and back again, with every value checked.

What a trainer keeps is checked by the trainer when it takes it, the vectors of the learner by the learner.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from gossamer.groups import GrowingGroups, Known, NamedGroups
from gossamer.model import schema
from gossamer.model.file_format import FileError
from gossamer.model.model import KINDS, classes_of
from gossamer.online.old_state import converted, method_of
from gossamer.online.stream import Problem, Streaming, centred_in, columns_of
from gossamer.sources.base import Source
from gossamer.sources.blocks import Position
from gossamer.sources.columns import agrees
from gossamer.sources.roles import ROLES
from gossamer.sources.rows import Rows
from gossamer.validation import Array

SPARE = 1 << 20  # zeros that an array of the tree may have lost at its end
DEEPEST = 12  # levels of the tree
LARGEST = 1 << 31
_OF_THE_COMMAND = ("method", "penalty", "setup", "targets", "strategy")  # rebuilt from the settings
_EARLIER_NAMES = {"pace": "setting", "paces": "steps"}  # in older checkpoints


def _counts(count: int, least: int = 0, most: int = 1 << 62) -> schema.Rule:
    number = schema.whole(least, most)
    needs = f"a list of {count} items, each {number.needs},"
    return schema.Rule(needs, lambda v: schema.listed(number).holds(v) and len(v) == count)


_FIELDS = schema.Rule("an object", lambda v: isinstance(v, dict))
_NAMES = schema.listed(schema.text, distinct=True)
_BYTES = schema.array(np.uint8)
TREE: schema.Table = {
    "settings": ("settings", schema.mapped(schema.anything)),
    "position": ("position", _counts(4)),
    "passes": ("number of passes", schema.whole(0, LARGEST)),
    "seen": ("number of rows", schema.whole(0, 1 << 62)),
    "rejects": ("bad lines", _counts(2)),
    "source": ("state of reading", _FIELDS),
    "width": ("number of features", schema.whole(0, LARGEST)),
    "fixed": ("number of features", schema.maybe(schema.whole(0, LARGEST))),
    "room": ("room for features and outputs", _counts(2, 0, LARGEST)),
    "kind": ("kind of model", schema.one_of(*KINDS)),
    "classes": ("classes", schema.maybe(schema.listed(schema.anything))),
    "labels": ("labels so far", schema.maybe(schema.listed(schema.finite))),
    "trainer": ("state of learning", _FIELDS),
    "files": ("fingerprints", schema.listed(_FIELDS)),
    "notes": ("notes", schema.maybe(_FIELDS)),
    "groups": ("columns of groups", schema.maybe(_NAMES)),
}
SOURCE: schema.Table = {  # after the first block, of all formats; each has some of them
    "base": ("number of the first feature", schema.one_of(-1, 0, 1)),
    "columns": ("columns", _NAMES),
    "delimiter": ("delimiter", schema.Rule("one character", schema.is_delimiter)),
    "text_target": ("kind of target", schema.flag),
    "target": ("target column", schema.maybe(schema.text)),
    "numbers": ("columns of numbers", _NAMES),
    "categories": ("columns of categories", _NAMES),
    "roles": ("roles of the columns", schema.mapped(schema.one_of(*ROLES))),
    "learned": ("what was learned of the columns", schema.mapped(schema.anything)),
    "names": ("names", _BYTES),
    "classes": ("classes", _BYTES),
}
FILE: schema.Table = {
    "path": ("path", schema.text),
    "size": ("size of a file", schema.maybe(schema.whole(0, 1 << 62))),
    "sum": ("checksum of a file", schema.maybe(schema.text)),
    "changed": ("time of a file", schema.maybe(schema.whole(-(1 << 63), 1 << 63))),
}


# Saving


def saved(stream: Streaming, source: Source, position: Position, passes: int, seen: int) -> dict[str, Any]:
    """Return the state of a run."""
    classes, trainer, groups = stream.trainer.targets.classes, stream.trainer, stream.problem.penalty.groups
    return {
        "position": dataclasses.astuple(position),
        "passes": passes,
        "seen": seen,
        "rejects": [source.rejects.count, source.rejects.size],
        "source": source.state(),
        "width": stream.width,
        "fixed": stream.problem.features,
        "room": [trainer.setup.features, trainer.setup.outputs],
        "kind": trainer.targets.kind,
        "classes": None if classes is None else classes.tolist(),
        "labels": sorted(stream.labels) if stream.problem.assumed else None,
        "groups": groups.columns if isinstance(groups, GrowingGroups) else None,
        "trainer": {n: value for n, value in trainer.__getstate__().items() if n not in _OF_THE_COMMAND},
    }


def packed(value: Any, arrays: dict[str, Array]) -> Any:
    """Return a tree of JSON values; its arrays are added to `arrays`."""
    if isinstance(value, np.ndarray):
        name = str(len(arrays))
        flat = np.ascontiguousarray(value).reshape(-1)  # the learner's arrays are copies, so nothing writes to it
        arrays[name] = flat[: len(flat) - _zeros_at_the_end(flat)]
        return {"array": name, "shape": list(value.shape)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {"dict": {str(k): packed(v, arrays) for k, v in value.items()}}
    if isinstance(value, (list, tuple)):
        return {"list": [packed(v, arrays) for v in value]}
    value = value.item() if isinstance(value, np.generic) else value
    return {"float": repr(value)} if isinstance(value, float) and not math.isfinite(value) else value


def _zeros_at_the_end(flat: Array) -> int:
    """Return the number of zeros at the end: a learner has room for features that have not appeared yet."""
    end, step = len(flat), 1 << 16
    while end > 0 and step >= 1 << 10:
        begin = max(end - step, 0)
        if np.count_nonzero(flat[begin:end].view(f"u{flat.itemsize}")):
            step //= 4
        else:
            end = begin
    return len(flat) - end


# Restoring


def unpacked(value: Any, arrays: dict[str, Array], spare: int = SPARE, levels: int = DEEPEST) -> Any:
    """Return the value of a tree of JSON values; an array gets back at most `spare` zeros at its end."""
    if not isinstance(value, (dict, list)):
        return value
    if levels > 0 and isinstance(value, dict):
        match value:
            case {"array": str(name), "shape": [*shape]} if len(value) == 2:
                return _whole(arrays.get(name), shape, spare)
            case {"float": "inf" | "-inf" | "nan" as word} if len(value) == 1:
                return float(word)
            case {"list": [*items]} if len(value) == 1:
                return [unpacked(v, arrays, spare, levels - 1) for v in items]
            case {"dict": dict(items)} if len(value) == 1:
                return {k: unpacked(v, arrays, spare, levels - 1) for k, v in items.items()}
    raise FileError(f"invalid state: {schema.shown(value)} was found. The file is corrupt.")


def _whole(kept: Array | None, shape: list[Any], spare: int) -> Array:
    sound = kept is not None and 1 <= len(shape) <= 2 and _counts(len(shape)).holds(shape)
    if kept is None or not sound or not 0 <= math.prod(shape) - len(kept) <= spare:
        raise FileError(f"invalid array: the shape {schema.shown(shape)} does not fit it. The file is corrupt.")
    whole = np.zeros(math.prod(shape), kept.dtype)
    whole[: len(kept)] = kept
    return whole.reshape(shape)


def tree_of(state: Any, arrays: dict[str, Array]) -> dict[str, Any]:
    """Return the tree of a checkpoint, each value of its type; the learner stays packed until its size is known."""
    match state:
        case {"dict": {"trainer": {"dict": {"learner": learner, **rest}}, **others}}:
            tree = unpacked({"dict": others | {"trainer": {"dict": rest}}}, arrays)
        case _:
            raise FileError("invalid state: the learner is missing. The file is corrupt.")
    tree.setdefault("files", [])  # older checkpoints have no fingerprints
    tree.setdefault("labels", None)
    tree.setdefault("notes", None)
    tree.setdefault("groups", None)
    schema.check(tree, TREE, where="state")
    for about in tree["files"]:
        schema.check(about, FILE, where="fingerprint")
    tree["trainer"]["learner"] = learner
    return tree


def restored(stream: Streaming, source: Source, tree: dict[str, Any], arrays: dict[str, Array], most: int) -> Streaming:
    """Return a stream with the saved state; nothing is changed. `most` bounds the number of features."""
    problem, fixed, width = _with_groups(stream.problem, source, tree), tree["fixed"], tree["width"]
    method = method_of(_names_of(tree["trainer"]["learner"]), problem.method, problem.loss)
    problem = dataclasses.replace(
        problem, method=method, centred=centred_in(problem.center, source, fixed) if method.centres else 0
    )
    features, outputs = tree["room"]
    classes = classes_of(tree["classes"])
    _require((classes is None) == (problem.loss.kind == "regression"), "classes")
    named = problem.classes is None or problem.grow or tree["classes"] == problem.classes.tolist()
    _require(named, "classes (not those of the command)")
    for known in (problem.features, source.features if problem.features is None else None):
        _require(known is None or fixed == known, "number of features (not that of the command)")
    enough = features == fixed if fixed is not None else not problem.widens or features <= max(2 * width, 1 << 10)
    _require(width <= features <= most and enough, "number of features")
    labels = tree["labels"]
    settled = dataclasses.replace(problem, features=fixed, classes=classes, assumed=labels is not None)
    new = Streaming(settled, stream._reweigh)
    new.labels = set(labels or ())
    coded = new.coded_for(classes, outputs)
    _require(coded.kind == tree["kind"] and coded.outputs == outputs, "kind of model")
    new.width, new.trainer = width, new.made(features, coded)
    state, saved = new.trainer.__getstate__(), _renamed(tree["trainer"])
    _require(saved.keys().isdisjoint(_OF_THE_COMMAND), "state of learning")
    room = sum(len(vector) for vector in state["learner"].values())
    learner = unpacked(saved.pop("learner"), arrays, room)
    _require(isinstance(learner, dict) and all(isinstance(v, np.ndarray) for v in learner.values()), "learner")
    try:
        for name in saved.keys() & state.keys():  # older checkpoints have some more
            state[name] = _RECORDS.get(name, _as_it_is)(saved[name], state[name])
        state["learner"] = converted(learner, state["learner"], features)
        new.trainer.__setstate__(state)  # it checks every value
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError, OverflowError) as error:
        raise FileError(f"invalid state of learning ({error}): the checkpoint is corrupt.") from None
    return new


def _names_of(packed: Any) -> list[str]:
    """Return the names of the vectors of a learner that is still packed."""
    vectors = packed.get("dict") if isinstance(packed, dict) else None
    return list(vectors) if isinstance(vectors, dict) else []


def _with_groups(problem: Problem, source: Source, tree: dict[str, Any]) -> Problem:
    """Return the problem with its groups by name, as they were found."""
    if not isinstance(problem.penalty.groups, NamedGroups):
        return problem
    if tree["groups"] is None:
        return dataclasses.replace(problem, penalty=problem.penalty.bound(Known(tree["room"][0])))
    penalty = problem.penalty.growing(tree["groups"])
    return dataclasses.replace(problem, penalty=penalty, column_of=columns_of(penalty.groups, source))


def check_source(state: dict[str, Any], source: Source) -> dict[str, Any]:
    """Return the saved state of a source, each value of its type, with the fields that this source has."""
    fields = {name: SOURCE[name] for name in source.state() if name in state or name not in ("roles", "learned")}
    schema.check(state, fields, where="state of reading")
    if "numbers" in state and not agrees(state):
        raise FileError("invalid state of reading: the columns do not agree. The file is corrupt.")
    return state


def _as_it_is(value: Any, now: Any) -> Any:
    return value


def _setting(value: Any, now: Any) -> Any:
    """Return the step, or the strengths and their steps."""
    return dataclasses.replace(now, **_renamed(value)) if dataclasses.is_dataclass(now) else value  # type: ignore[type-var]


def _buffer(value: Any, now: Any) -> Rows | None:
    return None if value is None else Rows(**value)


_RECORDS = {"setting": _setting, "buffer": _buffer, "pending": _buffer}  # of the values that are no JSON


def _renamed(values: dict[str, Any]) -> dict[str, Any]:
    return {_EARLIER_NAMES.get(name, name): value for name, value in values.items()}


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise FileError(f"invalid {what}: the checkpoint is corrupt.")
