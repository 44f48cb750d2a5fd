"""Every field of a model's header, replaced by every kind of wrong value: a sentence, or a sound model.

The short form changes some fields in some ways; GOSSAMER_FUZZ=1 changes all of them in all ways.
"""

import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest

from gossamer import losses
from gossamer.cli import arguments as cli
from gossamer.model import file_format, model
from hostile_files import DROP, changed, places, sealed

LONG = "GOSSAMER_FUZZ" in os.environ
ODD = [
    *(DROP, None, True, False, -1, 0, 1, 2, 30, 31, 2**31, 2**63, 10**400, -0.5, 1e308, 1.5),
    *("", "x", "l1", "squared", "\x00", "é" * 300, "\ud800", "*/ \"'", "__class__", "city=Paris", ",", '"', "\n"),
    *([], [[]], [None], ["x"], ["x", "x"], [1, "x"], [0, 1], [1e308], ["logistic", {}], [["a", "<f8", 2**60]]),
    *({}, {"x": 1}, {"": ""}, {"a": {"b": [1]}}, {"bits": 30}, {"block": -1}, {"format": "csv"}),
]
DEEP = json.loads("[" * 300 + "]" * 300)

rng = np.random.default_rng(0)
VALUES = np.round(rng.normal(size=(120, 3)), 3)
CLASSES = np.argmax(VALUES, axis=1)
DATA = {
    "a.svm": "".join(
        f"{y} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) + "\n" for y, x in zip(CLASSES, VALUES, strict=True)
    ),
    "a.vw": "".join(f"{x[0]} |f " + " ".join(f"w{j}:{v}" for j, v in enumerate(x)) + "\n" for x in VALUES),
    "a.csv": "x,y z,city,target\n"
    + "".join(
        f"{a},{b},{['Rome', 'Paris', 'Oslo'][k]},{'yes' if c > 0 else 'no'}\n"
        for (a, b, c), k in zip(VALUES, CLASSES, strict=True)
    ),
}
MODELS = {
    "several classes": ("a.svm", []),
    "hashed names": ("a.vw", ["--loss", "huber"]),
    "exact names": ("a.vw", ["--loss", "squared", "--bits", "0"]),
    "hashed columns": ("a.csv", ["--delimiter", ","]),
    "one-hot columns": ("a.csv", ["--one-hot", "--loss", "hinge"]),
}


def variants(header, draw):
    """Yield changed headers: each place with odd values, and unknown fields."""
    header = {name: value for name, value in header.items() if name != "arrays"}
    header["facts"] = {name: header["facts"][name] for name in ("rows", "penalty")}  # not the whole path
    for path in [path for path in places(header) if path]:
        values = [*ODD, DEEP]
        for value in values if LONG else draw.sample(values, 4):
            yield changed(header, path, value)
    for name in ("input", "facts", "shared"):
        for value in (1, "x", [1], None):
            yield changed(header, (name, "unknown"), value)
    yield header | {"unknown": 1}
    for settings in (
        {"block": -1},
        {"bits": 30},
        {"on_error": "skip"},
        {"max_features": 2**40},
        {"paths": "/etc/passwd"},
    ):
        yield changed(header, ("input",), header["input"] | settings)


@pytest.mark.parametrize(("name", "more"), MODELS.values(), ids=MODELS)
def test_any_field_may_be_wrong(tmp_path, monkeypatch, capsys, name, more):
    monkeypatch.chdir(tmp_path)
    data = tmp_path / name
    data.write_text(DATA[name])
    assert cli.main(["train", name, "-o", "m.gsm", "-q", "--alpha", "1e-3", *more]) == 0
    header, arrays = file_format.read("m.gsm")
    commands = [["inspect", "h.gsm"], ["inspect", "h.gsm", "--json"], ["predict", "h.gsm", name, "-o", "out"]]
    commands += [["export", "h.gsm", "--to", to, "-o", "out"] for to in ("json", "c", "sql")]
    outcomes = {0: 0, 1: 0}
    for other in variants(header, random.Random(name)):
        (tmp_path / "h.gsm").write_bytes(sealed(other, arrays))
        for command in commands:
            capsys.readouterr()
            code = cli.main(command)
            said = capsys.readouterr()
            outcomes[code] += 1
            if code == 1:
                assert 1 <= len(said.err.splitlines()) <= 3, said.err
                assert len(said.err) < 1000, said.err
            else:
                assert said.err == ""
                if "--json" in command:
                    json.loads(said.out, parse_constant=_refuse)
            if code == 1 and "h.gsm: " in said.err:
                break  # it does not load: the other commands say the same
    assert outcomes[1] > 50
    assert outcomes[0] > 10


def _refuse(word):
    raise AssertionError(f"{word} is not JSON")


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from gossamer.cli.arguments import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer takes memory of its own")
@pytest.mark.parametrize("name", ["a.vw", "a.csv"])
def test_the_bits_of_a_file_claim_no_memory(tmp_path, name):
    """2^30 hashed names would take 16 GiB; predictions need none of them."""
    (tmp_path / name).write_text(DATA[name])
    loss = ["--loss", "squared"] if name == "a.vw" else []
    path = tmp_path / "m.gsm"
    assert cli.main(["train", str(tmp_path / name), "-o", str(path), "-q", "--alpha", "1e-3", *loss]) == 0
    header, arrays = file_format.read(path)
    path.write_bytes(sealed(changed(header, ("input", "bits"), 30) | {"n_features": 2**31}, arrays))
    command = [sys.executable, "-c", LIMITED, "predict", str(path), str(tmp_path / name)]
    command += ["--max-features", str(2**31 - 1)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len(done.stdout.split()) == len(VALUES)


def test_every_source_is_in_the_table(tmp_path):
    """What sources say of themselves is what the table of input settings allows, format by format."""
    import pandas as pd

    import gossamer as gs

    seen = {}
    for name, text in DATA.items():
        (tmp_path / name).write_text(text)
        for options in (
            {},
            *(
                {
                    "csv": [{"delimiter": ","}, {"one_hot": True}, {"offset": "x"}],
                    "vw": [{"bits": 0}, {"interactions": [("f", "f")]}],
                }.get(name[2:], [])
            ),
        ):
            source = gs.source(tmp_path / name, **options)
            list(source.blocks())
            seen.setdefault(source.settings()["format"], set()).update(source.settings())
    frame = pd.read_csv(tmp_path / "a.csv")
    frame.to_parquet(tmp_path / "a.parquet")
    for data, options in (
        (frame, {}),
        (frame, {"one_hot": True, "offset": "x"}),
        (tmp_path / "a.parquet", {"offset": "x"}),
    ):
        source = gs.source(data, **options)
        list(source.blocks())
        seen.setdefault(source.settings().get("format"), set()).update(source.settings())
    seen["arrow"].add("one_hot")
    assert {name: set(table) for name, table in model.INPUT.items()} == seen


@pytest.mark.parametrize("starts", [[0, 2**63 - 1, -(10**15), 0, 4, 5], [0, 1, -(2**63), -1, 4, 5], [0, 2, 1, 3, 4, 5]])
def test_places_of_weights_whose_differences_overflow(tmp_path, starts):
    """Differences of such numbers wrap around and look as if they never fell."""
    a = {"features": np.arange(5), "starts": np.arange(6), "output": np.zeros(5, np.int32), "value": np.ones(5)}
    made = model.Model("regression", losses.Squared(), None, 5, *a.values(), np.zeros(1))
    model.save(made, tmp_path / "m.gsm")
    header, arrays = file_format.read(tmp_path / "m.gsm")
    (tmp_path / "h.gsm").write_bytes(sealed(header, arrays | {"starts": np.array(starts)}))
    with pytest.raises(ValueError, match="places of the weights"):
        model.load(tmp_path / "h.gsm")
