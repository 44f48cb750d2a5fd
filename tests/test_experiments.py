"""A quick form of every experiment: it runs without the data folder, its checks hold where they show, it draws."""

import json

import pytest
from matplotlib.figure import Figure

from experiments import frame

RESULTS = frame.HERE / "RESULTS.md"

pytest.importorskip("sklearn.callback")  # by which runs of the batch solvers are followed


@pytest.mark.parametrize("id_", frame.ids())
def test_quick(id_, tmp_path, monkeypatch):
    monkeypatch.setenv("GOSSAMER_DATA", str(tmp_path / "none"))
    result = frame.execute(id_, frame.Size(quick=True), tmp_path)
    broken = [str(frame.Check(**check)) for check in result["checks"] if check["quick"]]
    assert all("DOES NOT" not in check for check in broken), broken
    assert json.loads((tmp_path / f"{id_}.json").read_text(encoding="utf-8"))["our_number"]
    assert (tmp_path / f"{id_}.png").stat().st_size > 5_000


@pytest.mark.parametrize("id_", frame.ids())
def test_committed(id_):
    """The committed row is that of a full-size run, and the figure can be drawn from its numbers; or it says no run."""
    path, text = frame.HERE / "results" / f"{id_}.json", RESULTS.read_text(encoding="utf-8")
    if not path.exists():
        assert id_ in next(line for line in text.splitlines() if line.startswith("No run yet:"))
        return
    result = json.loads(path.read_text(encoding="utf-8"))
    assert result["size"] == "full"
    assert result["checks"]
    row = next(line for line in text.splitlines() if line.startswith(f"| [{id_}]"))
    assert result["our_number"] in row
    if not all(frame.Check(**check).holds for check in result["checks"]):
        assert frame.module(id_).WHY in text
    figure = Figure()
    frame.module(id_).draw(figure, result["numbers"])
    assert figure.axes


def test_a_check_is_not_kept_by_nan():
    assert not frame.at_most("", float("nan"), 1).holds
    assert not frame.at_least("", float("nan"), 1).holds


def test_thin():
    assert frame.thin(range(1000), 3) == [0, 500, 999]
    assert frame.thin([1.0, 2.0], 200) == [1.0, 2.0]
