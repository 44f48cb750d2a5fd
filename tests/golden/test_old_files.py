"""Checkpoints and models that earlier revisions wrote are read, and mean the same."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gossamer as gs
from golden import old_files, stored
from gossamer.cli import arguments as cli

FILES = stored.files()


@pytest.mark.parametrize("name", old_files.RUNS)
def test_a_run_goes_on_from_an_old_checkpoint(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)  # a checkpoint is of the data as it was named
    plan = old_files.RUNS[name]
    # With other labels before the checkpoint, a run that starts from the beginning cannot arrive at the same model.
    old_files.write_data(tmp_path, plan.data, other_before=plan.rows if plan.rows < old_files.ROWS else 0)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / old_files.CHECKPOINT).write_bytes(FILES[f"checkpoint | {name}"])
    (tmp_path / "whole.gsm").write_bytes(FILES[f"checkpoint | {name} | whole"])
    assert cli.main(plan.command("m.gsm", "state")) == 0
    expected, found = gs.load("whole.gsm"), gs.load("m.gsm")
    for fact in ("rows", "progressive_loss", "step"):
        if "path" not in expected.facts and expected.facts["passes"] == 1:  # of several passes it was of all of them
            assert found.facts[fact] == pytest.approx(expected.facts[fact], rel=1e-9)
    for fact, values in expected.facts.get("path", {}).items():
        assert_allclose(found.facts["path"][fact], values, rtol=1e-9)
    if found.facts["alpha"] == pytest.approx(expected.facts["alpha"], rel=1e-9):  # the same strength was chosen
        assert_same(found, expected)


def assert_same(found, expected):
    assert (found.kind, found.loss, found.n_features) == (expected.kind, expected.loss, expected.n_features)
    assert (found.names, found.shared, found.input) == (expected.names, expected.shared, expected.input)
    if expected.classes is not None:
        assert_array_equal(found.classes, expected.classes)
    for part in ("features", "starts", "output"):
        assert_array_equal(getattr(found, part), getattr(expected, part))
    assert_allclose(found.value, expected.value, rtol=1e-9, atol=1e-12)
    assert_allclose(found.intercept, expected.intercept, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", old_files.MODELS)
def test_an_old_model_answers_as_before(tmp_path, name):
    path = tmp_path / "model.gsm"
    path.write_bytes(FILES[f"model | {name}"])
    model = gs.load(path)
    expected, found = json.loads(FILES[f"model | {name} | answers"]), old_files.answers(model)
    assert found.keys() == expected.keys()
    for what, values in expected.items():
        exact = what == "names" or np.asarray(values).dtype.kind != "f"
        (assert_array_equal if exact else assert_allclose)(found[what], values)
    gs.save(model, path)
    again = old_files.answers(gs.load(path))
    assert again == found
