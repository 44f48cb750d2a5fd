"""`gossamer train --workers N`, and models of tables: names and ways to read are kept."""

import numpy as np
import pandas as pd
import pytest

import gossamer as gs
import gossamer.dask as gd
from gossamer.cli import arguments as cli


def table(path, n=600):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"word": random.choice(["red", "green", "blue"], n), "x": random.standard_normal(n).round(3)})
    frame["y"] = ((frame.word == "red") + frame.x > 0.5).astype(int)
    frame.to_csv(path, index=False)
    return frame


@pytest.mark.parametrize("kind", ["OnlineClassifier", "BatchClassifier"])
def test_a_model_of_a_table_keeps_names_and_reads_other_tables(tmp_path, kind):
    frame = table(tmp_path / "t.csv")
    model = getattr(gd, kind)(alpha=1e-3, client="local")
    model.fit(tmp_path / "t.csv", target="y", bits=10, partition_bytes=2000)
    assert "word=red" in set(model.nonzero_features_)
    gs.save(model, tmp_path / "m.gsm")
    loaded = gs.load(tmp_path / "m.gsm")
    found = loaded.predict(str(tmp_path / "t.csv"))
    assert (found == frame.y).mean() > 0.9
    np.testing.assert_array_equal(model.predict(frame), found)


def test_the_command_line_learns_on_workers(tmp_path, capsys):
    table(tmp_path / "t.csv")
    args = ["train", str(tmp_path / "t.csv"), "-o", str(tmp_path / "m.gsm"), "--target", "y", "--bits", "10"]
    assert cli.main([*args, "--workers", "1", "--merges", "2"]) == 0
    assert "600 rows" in capsys.readouterr().err
    assert gs.load(tmp_path / "m.gsm").n_features == 1024 + 2


@pytest.mark.parametrize("more", [["--holdout", "0.1"], ["--checkpoint", "c"], ["--dask", "tcp://127.0.0.1:1"]])
def test_what_the_command_line_refuses(tmp_path, more, capsys):
    table(tmp_path / "t.csv")
    assert cli.main(["train", str(tmp_path / "t.csv"), "-o", str(tmp_path / "m.gsm"), "--workers", "2", *more]) != 0
    assert "--workers" in capsys.readouterr().err
