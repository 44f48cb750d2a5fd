"""What is counted while reading: the order of labels, the model without features, and what is shown meanwhile."""

import io
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gossamer as gs
from gossamer.cli.progress import Meter, fitting
from gossamer.cli.run import area_under_roc
from gossamer.cli.tally import Tally, checked, constant_loss, lowest
from gossamer.estimators import targets
from gossamer.losses import LOSSES
from gossamer.model.file_format import FileError

random = np.random.default_rng(0)
TWO = random.integers(0, 2, 2000)


def tally(labels, classes=True, block=1000, weight=None):
    made = Tally(classes)
    for i in range(0, len(labels), block):
        made.add(np.asarray(labels[i : i + block]), None if weight is None else weight[i : i + block], None)
    return made


DISORDERED = {
    "sorted": (np.sort(TWO), True, "the labels come in runs (2 in 2,000 rows; "),
    "three classes": (np.repeat([0, 1, 2], 60), True, "the labels come in runs (3 in 180 rows"),
    "words": (np.repeat(["a", "b"], 100), True, "the labels come in runs (2 in 200 rows"),
    "short runs": (np.tile(np.repeat([0, 1], 10), 50), True, "the labels come in runs (100 in 1,000 rows"),
    "drifting": (random.random(4000) < np.linspace(0, 1, 4000), True, "shares of the classes change"),
    "sorted numbers": (np.sort(random.normal(size=500)), False, "hardly changes from row to row"),
    "drifting numbers": (np.linspace(0, 2, 3000) + random.normal(size=3000), False, "the target changes"),
}


@pytest.mark.parametrize(("labels", "classes", "words"), DISORDERED.values(), ids=DISORDERED)
@pytest.mark.parametrize("block", [7, 1000])
def test_disorder_is_seen_and_gone_after_shuffling(labels, classes, words, block):
    assert words in (tally(labels, classes, block).disorder() or "")
    for seed in range(20):
        shuffled = np.random.default_rng(seed).permutation(labels)
        assert tally(shuffled, classes, block).disorder() is None


@pytest.mark.parametrize("share", [0.5, 0.05, 0.005])
def test_shuffled_labels_are_never_suspected(share):
    for seed in range(50):
        draw = np.random.default_rng(seed)
        assert tally(draw.random(draw.integers(2, 3000)) < share).disorder() is None


def test_counts_do_not_depend_on_blocks():
    for labels, classes in ((TWO, True), (random.normal(size=9000), False)):
        one, many = tally(labels, classes, 10**6), tally(labels, classes, 13)
        assert (one.rows, one.changes, one.counts, one.sample) == (many.rows, many.changes, many.counts, many.sample)
        assert len(one.sample) <= 4096
        assert [n for n, _ in one.segments] == [n for n, _ in many.segments]


def test_a_tally_resumes():
    labels = np.array(["ham", "spam", "spam", "eggs"])[random.integers(0, 4, 500)]
    whole, half = tally(labels, block=50), tally(labels[:250], block=50)
    again = Tally()
    again.restore(checked(half.state()))
    for i in range(250, 500, 50):
        again.add(labels[i : i + 50], None, None)
    assert vars(again) == vars(whole)
    for name, wrong in {"rows": -1, "labels": [1, 1], "counts": np.zeros(9), "sample": np.zeros((2, 2))}.items():
        with pytest.raises(FileError, match="The file is corrupt"):
            checked(half.state() | {name: wrong})


# The model without features


@pytest.mark.parametrize("name", [name for name in LOSSES if name not in ("multitask",)])
def test_the_constant_model_is_the_best_constant(name):
    """Its loss is the lowest over a fine grid of scores."""
    loss = LOSSES.resolve(name)
    if loss.kind == "regression":
        y = np.abs(random.normal(size=60)) + 0.1
        coded = targets.for_regression(y, loss)
    else:
        y = random.integers(0, 2, 60)
        coded = targets.for_labels(np.array([0, 1]), loss, grow=False)
    weight = random.random(60)
    found = constant_loss(coded, y, weight)
    encoded = coded.encode(y)
    if coded.kind == "multiclass":
        scores = [np.array([0.0, z]) for z in np.linspace(-4, 4, 801)]
        values = [loss.value(np.tile(z, (60, 1)), encoded[:, 0].astype(int)) @ weight for z in scores]
        assert found <= min(values) / weight.sum() + (1e-9 if loss.probabilistic else np.inf)
    else:
        values = [loss.value(np.full(60, z), encoded[:, 0]) @ weight for z in np.linspace(-4, 4, 801)]
        assert found <= min(values) / weight.sum() + 1e-9
        assert found >= min(values) / weight.sum() - 1e-3


def test_weights_and_offsets_of_the_constant_model():
    y, offset = random.normal(size=80), random.normal(size=80)
    coded = targets.for_regression(y, gs.Squared())
    assert_allclose(constant_loss(coded, y + offset, None, offset), constant_loss(coded, y, None))
    twice = np.repeat(y, 2)
    assert_allclose(constant_loss(coded, twice, None), constant_loss(coded, y, np.full(80, 2.0)))
    assert lowest(abs)[1] == 0


def test_the_area_under_the_curve():
    metrics = pytest.importorskip("sklearn.metrics")
    for _ in range(20):
        scores, positive = np.round(random.normal(size=50), 1), random.random(50) < 0.4
        assert_allclose(area_under_roc(scores, positive), metrics.roc_auc_score(positive, scores))
    assert area_under_roc(scores, np.zeros(50, bool)) is None


# The line of progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("width", [20, 40, 60, 100])
def test_progress_fits_the_terminal(monkeypatch, width, tmp_path):
    """No line is longer than the terminal is wide, and none is left behind."""
    from gossamer.cli import arguments as cli

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", str(width))
    clock = iter(np.arange(0, 1e6, 0.3))
    monkeypatch.setattr("gossamer.cli.progress.time.perf_counter", lambda: next(clock))
    monkeypatch.setattr("gossamer.sources.text.BLOCK", 1000)
    data = tmp_path / "a.svm"
    data.write_text("".join(f"{y} 1:{y + 0.5} 2:1\n" for y in TWO.tolist()))
    command = ["train", str(data), "-o", str(tmp_path / "m.gsm"), "--passes=2", "--holdout=0.1", "--alpha=1e-3"]
    assert cli.main(command) == 0
    progress = next(line for line in screen.getvalue().split("\n") if "\r" in line)
    shown = [line for line in progress.split("\r")[:-1] if line.strip()]
    assert len(shown) > 10
    assert max(map(len, shown)) < width
    assert "testing on the rows held out …"[: width - 1] in [line.strip() for line in shown]
    assert any("of pass 2/2" in line for line in shown) or width == 20
    if width == 100:
        assert any("training loss" in line for line in shown)
        assert any("s left" in line for line in shown)
    assert "trained   " in screen.getvalue().split("\r")[-1]


def test_fields_are_dropped_from_the_right():
    fields = ["69,520 rows", "7%", "loss 0.1314", "3 s left", "260,088/s"]
    for width in range(60):
        line = fitting(fields, width)
        assert len(line) <= width
        assert "  ".join(fields).startswith(line)


def test_nothing_is_shown_where_there_is_no_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    meter = Meter(1, quiet=False)
    meter.say("testing")
    meter.clear()
    assert sys.stderr.getvalue() == ""
