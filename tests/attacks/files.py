"""Model files and checkpoints that are damaged or forged, with the checksum redone where it matters."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import gossamer as gs
from attacks.problems import checkpoint, forged, model_file, run, sealed, stopped, table, write
from attacks.rows import Either, Row, exits, raises
from attacks.states import finite
from gossamer.model import file_format

BAD = raises(file_format.FileError)


def damaged(change: Callable[[bytes], bytes]) -> Any:
    path = Path(model_file())
    path.write_bytes(change(path.read_bytes()))
    return gs.load(path)


def flip(at: float) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        out = bytearray(data)
        out[int(at * (len(out) - 1))] ^= 64
        return bytes(out)

    return change


def damage_rows() -> list[Row]:
    cuts = {"no bytes": 0, "1 byte": 1, "8 bytes": 8, "16 bytes": 16, "40 bytes": 40, "all but one": -1, "half": 10**6}
    rows = [
        Row(
            f"a model file of {kind}",
            lambda n=n: damaged(lambda d: d[: len(d) // 2] if n == 10**6 else d[:n]),
            BAD,
        )
        for kind, n in cuts.items()
    ]
    rows += [
        Row(f"a model file with a bit changed at {at}", lambda p=at: damaged(flip(p)), BAD)
        for at in (0.0, 0.02, 0.2, 0.5, 0.8, 0.99, 1.0)
    ]
    others = {
        "text": b"x,y\n1,2\n",
        "zeros": bytes(1000),
        "a pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07builtins\x94.",
        "a magic word and a length of 2^64 - 1": file_format.MAGIC + b"\xff" * 8 + bytes(40),
        "two models in one": b"twice",
    }
    for kind, data in others.items():
        rows.append(
            Row(f"a model file of {kind}", lambda d=data: damaged(lambda m: m + m if d == b"twice" else d), BAD)
        )
    rows += [
        Row("a model that is a folder", lambda: Path("f").mkdir() or gs.load("f"), raises(OSError, "f")),
        Row("a model that is not there", lambda: gs.load("nothing.gsm"), raises(OSError, "nothing.gsm")),
        Row(
            "predict with a model that is not there", lambda: run("predict", "n.gsm", write(table())), exits(1, "n.gsm")
        ),
        Row("predict with a model that is text", lambda: run("predict", write("a"), write("b")), exits(1, "gossamer")),
    ]
    return rows


HEADERS = {
    "not JSON": b"{",
    "a list": b"[]",
    "a number": b"3",
    "empty": b"",
    "not UTF-8": b'{"schema": "\xff"}',
    "nested 100,000 deep": b"[" * 100_000,
    "no arrays": b'{"schema": "model 1"}',
    "arrays of numbers": b'{"arrays": [1, 2]}',
    "an array of negative length": b'{"arrays": [["a", "<f8", -1]]}',
    "an array of length 2^62": b'{"arrays": [["a", "<f8", 4611686018427387904]]}',
    "an array of length 1e400": b'{"arrays": [["a", "<f8", 1e400]]}',
    "an array of objects": b'{"arrays": [["a", "|O", 1]]}',
    "an array of a type that is a list": b'{"arrays": [["a", ["<f8"], 1]]}',
    "two arrays of one name": b'{"arrays": [["a", "<f8", 0], ["a", "<f8", 0]]}',
    "a number of 5,000 digits": b'{"arrays": [["a", "<f8", ' + b"9" * 5000 + b"]]}",
    "NaN": b'{"arrays": NaN}',
}

# What is changed in the header, and to what.
FIELDS: dict[str, list[Any]] = {
    "schema": [None, "model 999", 3],
    "kind": [None, "nonsense", ["binary"], {}],
    "n_features": [-1, 2**40, 1.5, "x", True, None, 0],
    "names": [[], [1, 2], "abc", {"a": 1}],
    "flat": ["yes", None, 3],
    "shared": [[], None, {"a": 1}],
    "loss": [
        None,
        "logistic",
        ["logistic"],
        ["nonsense", {}],
        ["logistic", {"a": 1}],
        ["huber", {"delta": -1}],
        [{}, {}],
    ],
    "classes": [[], [0], [0, 0], [0, "a"], [[0], [1]], [10**400, 1], ["a" * 10, None], {"0": 1}, 3],
    "input": [None, [], 3],
    "facts": [None, []],
}
ARRAYS: dict[str, Callable[[dict[str, Any]], None]] = {
    "features that fall": lambda a: a["features"].__setitem__(slice(None), a["features"][::-1].copy()),
    "a feature below zero": lambda a: a["features"].__setitem__(0, -1),
    "a feature beyond the last": lambda a: a["features"].__setitem__(-1, 2**40),
    "starts that fall": lambda a: a["starts"].__setitem__(-2, 10**6),
    "starts below zero": lambda a: a["starts"].__setitem__(1, -5),
    "too few starts": lambda a: a.update(starts=a["starts"][:-1]),
    "an output of 7": lambda a: a["output"].__setitem__(0, 7),
    "an output below zero": lambda a: a["output"].__setitem__(0, -1),
    "a weight of NaN": lambda a: a["value"].__setitem__(0, np.nan),
    "an intercept of infinity": lambda a: a["intercept"].__setitem__(0, np.inf),
    "no intercept": lambda a: a.update(intercept=a["intercept"][:0]),
    "weights of single precision": lambda a: a.update(value=a["value"].astype("<f4")),
    "no weights": lambda a: a.pop("value"),
}


def with_field(name: str, value: Any) -> Any:
    def change(header: dict[str, Any], _: dict[str, Any]) -> None:
        header[name] = value

    return gs.load(forged(model_file(), change))


def with_arrays(change: Callable[[dict[str, Any]], None]) -> Any:
    return gs.load(forged(model_file(), lambda _, arrays: change(arrays)))


def forged_rows() -> list[Row]:
    rows = [
        Row(f"a model file whose header is {kind}", lambda h=header: gs.load(sealed("m.gsm", h)), BAD)
        for kind, header in HEADERS.items()
    ]
    for name, values in FIELDS.items():
        for value in values:
            title = f"a model file whose {name} is {json.dumps(value)[:40]}"
            rows.append(Row(title, partial(with_field, name, value), BAD))
    rows += [Row(f"a model file with {kind}", partial(with_arrays, change), BAD) for kind, change in ARRAYS.items()]
    return rows


INPUTS = {
    "an unknown key": {"color": "red"},
    "a block of -1": {"block": -1},
    "a block of 0": {"block": 0},
    "a block that is a word": {"block": "large"},
    "30 bits": {"bits": 30},
    "31 bits": {"bits": 31},
    "bits that are a word": {"bits": "many"},
    "an unknown format": {"format": "xml"},
    "a format that is a list": {"format": ["csv"]},
    "a delimiter of two characters": {"delimiter": "ab"},
    "a delimiter that is a number": {"delimiter": 3},
    "numbers that are a number": {"numbers": 3},
    "numbers that are not in the table": {"numbers": ["height"]},
    "categories that are numbers": {"categories": [1, 2]},
    "a target that is a list": {"target": ["y"]},
    "a header that is a word": {"header": "yes"},
    "max_features of -1": {"max_features": -1},
    "max_features that is a word": {"max_features": "all"},
    "on_error that is a number": {"on_error": 7},
    "a file to write": {"on_error": ["quarantine", "written"]},
    "paths": {"paths": "other.csv"},
    "need_labels": {"need_labels": True},
}


def with_input(changes: dict[str, Any]) -> int:
    forged(model_file(), lambda header, _: header["input"].update(changes))
    code = run("predict", "m.gsm", "train.csv")
    assert not Path("written").exists(), "a model made the program write a file"
    return code


def input_rows() -> list[Row]:
    harmless = {
        "30 bits",
        "a header that is a word",
        "a block of 0",
        "need_labels",
        "an unknown format",
        "a format that is a list",
    }
    rows = []
    for kind, changes in INPUTS.items():
        must = Either((exits(1), exits(0))) if kind in harmless else exits(1)
        rows.append(Row(f"a model whose input has {kind}", partial(with_input, changes), must, megabytes=700))
    return rows


# Checkpoints

TREE: dict[str, list[Any]] = {
    "settings": [None, 3, {"list": []}],
    "position": [None, "x", {"list": [0, -5, 0, 0]}, {"list": [9, 0, 0, 0]}, {"list": [0, 10**15, 0, 0]}, {"list": []}],
    "passes": [None, "x", -1, 10**9],
    "seen": [None, "x", -1],
    "rejects": [None, {"list": ["a", "b"]}, {"list": [-1, -1]}],
    "source": [None, 3, {"list": []}],
    "width": [None, "x", -1, 2**40, 0],
    "fixed": ["x", -1, 1.5],
    "room": [None, {"list": [2**40, 1]}, {"list": [-1, 1]}, {"list": [6, 0]}, {"list": ["a", "b"]}],
    "classes": [3, {"list": []}, {"list": [0]}, {"list": [0, 0]}, {"list": [{"list": [1]}, 2]}],
    "trainer": [None, 3, {"dict": {}}, {"list": []}],
}
INNER: dict[str, Any] = {
    "learner": {"dict": {}},
    "buffer": "x",
    "setting": "fast",
    "decided": "x",
    "repeats": 7,
}
SHAPES: dict[str, Any] = {
    "of -1": [-1],
    "of 2^40": [2**40],
    "of two dimensions": [2, 3],
    "of words": ["a"],
    "of nothing": [],
    "that is a word": "long",
}


def with_tree(change: Callable[[dict[str, Any]], None]) -> int:
    command = stopped("--method", "fobos(step=0.5)", "--alpha", "0.01")
    forged(str(checkpoint()), lambda header, _: change(header["state"]["dict"]), file_format.CRASH_MAGIC)
    return finite(run(*command))


def put(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda tree: tree.__setitem__(name, value)


def put_inside(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda tree: tree["trainer"]["dict"].__setitem__(name, value)


def put_shape(shape: Any) -> Callable[[dict[str, Any]], None]:
    return lambda tree: tree["trainer"]["dict"]["learner"]["dict"]["counts"].__setitem__("shape", shape)


def with_checkpoint(change: Callable[[bytes], bytes]) -> int:
    command = stopped()
    checkpoint().write_bytes(change(checkpoint().read_bytes()))
    return run(*command)


def checkpoint_rows() -> list[Row]:
    either = Either((exits(1), exits(0)))
    rows = []
    for name, values in TREE.items():
        for value in values:
            rows.append(
                Row(
                    f"a checkpoint whose {name} is {json.dumps(value)[:40]}",
                    partial(with_tree, put(name, value)),
                    either,
                )
            )
        rows.append(
            Row(f"a checkpoint without {name}", partial(with_tree, lambda t, n=name: t.pop(n)), exits(1, "checkpoint"))
        )
    for name, value in INNER.items():
        rows.append(Row(f"a checkpoint whose {name} is odd", partial(with_tree, put_inside(name, value)), either))
    for kind, shape in SHAPES.items():
        rows.append(Row(f"a checkpoint with a shape {kind}", partial(with_tree, put_shape(shape)), either))
    damage = {
        "empty": lambda d: b"",
        "cut in half": lambda d: d[: len(d) // 2],
        "with a bit changed": flip(0.5),
        "of text": lambda d: b"a,b\n1,2\n",
        "that is a model": lambda d: Path(model_file("other.gsm")).read_bytes(),
    }
    rows += [
        Row(f"a checkpoint {kind}", partial(with_checkpoint, do), exits(1, "checkpoint")) for kind, do in damage.items()
    ]
    return rows


def resumed_with(*settings: str) -> int:
    command = stopped("--alpha", "0.01")
    return run(*command, *settings)


def resumed_after(change: Callable[[str], str]) -> int:
    command = stopped("--alpha", "0.01")
    write(change(Path("a.svm").read_text()), "a.svm")
    return run(*command)


def folder_rows() -> list[Row]:
    return [
        Row("a checkpoint of another strength", partial(resumed_with, "--alpha", "0.5"), exits(1, "alpha")),
        Row("a checkpoint of another loss", partial(resumed_with, "--loss", "hinge"), exits(1, "loss")),
        Row(
            "data that changed before the checkpoint",
            partial(resumed_after, lambda t: "1 1:9\n" + t),
            exits(1, "is not the file"),
        ),
        Row("data that is shorter than at the checkpoint", partial(resumed_after, lambda t: t[:40]), exits(1)),
        Row(
            "data that has more rows than at the checkpoint",
            partial(resumed_after, lambda t: t + t),
            Either((exits(1), exits(0))),
        ),
        Row(
            "a checkpoint folder that is a file",
            lambda: run("train", write("1 1:1\n", "a.svm"), "-o", "m", "--checkpoint", write("x", "f")),
            exits(1, "f"),
        ),
        Row("a checkpoint that is a folder", checkpoint_is_folder, exits(1)),
    ]


def checkpoint_is_folder() -> int:
    checkpoint().mkdir(parents=True)
    return run("train", write("1 1:1\n0 2:1\n", "a.svm"), "-o", "m", "--checkpoint", "state")


ROWS = [*damage_rows(), *forged_rows(), *input_rows(), *checkpoint_rows(), *folder_rows()]
