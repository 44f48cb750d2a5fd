"""A quick form of every experiment: it runs without the data folder, its checks hold where they show, it draws."""

import json
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from matplotlib.figure import Figure

import gossamer as gs
from experiments import __main__, counting, frame, pegasos, race, report
from experiments.sweep import Sweep

RESULTS = frame.HERE / "RESULTS.md"
FOLDER = frame.HERE / "results"

pytest.importorskip("sklearn.callback")  # by which runs of the batch solvers are followed


def test_all_claims_are_there():
    letters = "".join(id_[0] for id_ in frame.ids())
    assert [letters.count(letter) for letter in frame.LETTERS] == [13, 4, 5, 5]
    assert [id_ for id_ in frame.ids() if frame.module(id_).CLAIM.theorem] == ["R4", "P5"]


@pytest.mark.parametrize("id_", frame.ids())
def test_quick(id_, tmp_path, monkeypatch):
    monkeypatch.setenv("GOSSAMER_DATA", str(tmp_path / "none"))
    frame.execute(id_, frame.Size(quick=True, log=lambda text: None), tmp_path)
    verdict = frame.module(id_).judge(frame.result_of(id_, tmp_path)["numbers"])
    broken = [str(check) for check in verdict.checks if check.quick and not check.holds]
    assert not broken
    assert verdict.checks
    assert verdict.aims
    assert verdict.key
    assert (tmp_path / f"{id_}.png").stat().st_size > 5_000


@pytest.mark.parametrize("id_", frame.ids())
def test_committed(id_):
    """The committed row is what the numbers of a full-size run say, with the paper's sentence; or it says no run."""
    result, text, claim = frame.result_of(id_, FOLDER), RESULTS.read_text(encoding="utf-8"), frame.module(id_).CLAIM
    row = next(line for line in text.splitlines() if line.startswith(f"| [{id_}]"))
    assert claim.sentence.replace("|", "\\|") in row
    assert claim.place in row
    if result is None:
        assert "not re-run" in row
        return
    assert result["size"] == "full"
    verdict = frame.module(id_).judge(result["numbers"])
    assert verdict.key.replace("|", "\\|") in row
    assert f"| {report.said(claim, verdict)} |" in row
    assert all(str(check) in text for check in (*verdict.checks, *report.aims(verdict)))
    figure = Figure()
    frame.module(id_).draw(figure, result["numbers"])
    assert figure.axes or figure.subfigs


def test_the_results_are_what_the_stored_numbers_say():
    assert report.text(FOLDER, RESULTS) == RESULTS.read_text(encoding="utf-8")


def test_the_headline_counts_the_verdicts():
    judged = {
        id_: None if (result := frame.result_of(id_, FOLDER)) is None else frame.module(id_).judge(result["numbers"])
        for id_ in frame.ids()
    }
    assert report.headline(judged) in RESULTS.read_text(encoding="utf-8")


def test_a_check_that_the_papers_own_number_fails_is_not_among_those_with_results():
    for id_ in frame.ids():
        if (result := frame.result_of(id_, FOLDER)) is not None:
            for check in frame.module(id_).judge(result["numbers"]).checks:
                assert check.printed is None or check.kept_by(check.printed), check


def test_a_check_is_not_kept_by_nan():
    for check in (frame.at_most("", np.nan, 1), frame.below("", np.nan, 1), frame.at_least("", np.nan, 1)):
        assert not check.holds


def test_a_verdict_in_a_word():
    claim = frame.Claim("X1", "paper", "place", "sentence")
    good, bad = frame.at_most("", 0, 1), frame.at_most("", 2, 1)
    assert frame.word(claim, frame.Verdict([good, good], "")) == frame.REPRODUCES
    assert frame.word(claim, frame.Verdict([good, bad], "")) == frame.PARTLY
    assert frame.word(claim, frame.Verdict([bad], "")) == frame.DOES_NOT
    assert frame.word(replace(claim, untestable="why"), frame.Verdict([good], "")) == frame.NOT_TESTABLE
    assert report.said(claim, frame.Verdict([good, bad], "")) == "**partly (1 of 2)**"
    assert report.said(claim, None) == "not re-run"


def test_thin():
    assert frame.thin(range(1000), 3) == [0, 500, 999]
    assert frame.thin([1.0, 2.0], 200) == [1.0, 2.0]


def test_json_has_null_for_what_is_no_number():
    assert frame.plain({"a": [np.inf, 1.0], "b": np.float64("nan"), "c": np.array(2.5)}) == {
        "a": [None, 1.0],
        "b": None,
        "c": 2.5,
    }
    assert np.array_equal(frame.curve([1.0, None]), [1.0, np.nan], equal_nan=True)


def test_a_method_that_was_not_looked_at_has_no_value():
    trace = counting.Trace([0.0, 10.0, 20.0], [5.0, 3.0, 1.0])
    assert np.array_equal(trace.at([5.0, 10.0, 15.0, 21.0]), [np.nan, 3.0, 2.0, np.nan], equal_nan=True)
    assert replace(trace, ended=True).at(21.0) == 1.0
    assert trace.first_under(3.0) == 10.0
    assert trace.first_under(0.5) == np.inf


def test_a_run_that_was_interrupted_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(__main__, "BUILD", tmp_path)
    first = __main__.remaining(["F1", "F2", "F3"], True, False)
    assert [next(first), next(first)] == ["F1", "F2"]  # F2 is begun, not done
    assert json.loads((tmp_path / "quick.json").read_text()) == {"F1": True}
    assert list(__main__.remaining(["F1", "F2", "F3"], True, False)) == ["F2", "F3"]
    assert "F1: done by the run that was interrupted" in capsys.readouterr().out
    assert list(__main__.remaining(["F1", "F2", "F3"], True, False)) == ["F1", "F2", "F3"]


def test_stochastic_runs_are_those_of_the_online_estimator():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 8)), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    problem = counting.Problem(X, y, gs.Logistic(), gs.L1(), 0.02)
    model = gs.OnlineClassifier("logistic", "l1", 0.02, gs.Fobos(0.7), batch_size=6, fit_intercept=False, shuffle=False)
    seed = np.random.default_rng(1)
    walk = counting.stochastic(problem, gs.InverseSqrt(0.7), 6, np.random.default_rng(1))
    operations, _ = next(walk)
    for _ in range(30):
        rows = seed.choice(60, 6, replace=False)
        model.partial_fit(X[rows], y[rows], classes=[-1, 1])
        before, (operations, w) = operations, next(walk)
        assert np.allclose(model.coef_[0], w, rtol=1e-12, atol=1e-14)
        assert operations - before == 4 * 6 * 8


def test_the_papers_coordinate_descents_find_the_optimum():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 10))
    single = counting.Problem(X, np.where(rng.random(80) < 0.5, 1.0, -1.0), gs.Logistic(), gs.L1(), 0.02)
    several = counting.Problem(X, rng.integers(0, 3, 80), gs.Multinomial(), gs.GroupL2(), 0.02, 3)
    for problem, walk in ((single, race.plain(single)), (several, Sweep(several))):
        _, least = problem.solve(1e-8)
        (operations, W) = next(islice(walk, 600, None))
        assert operations >= 600 * 4 * 80 * problem.outputs
        assert problem.value(W) - least < 1e-5


@pytest.mark.parametrize(
    ("method", "rule"), [("FOBOS", gs.Fobos(gs.InverseTime(0.05))), ("Pegasos", gs.Pegasos(project=False))]
)
def test_full_gradients_of_fobos_and_pegasos_are_those_of_the_online_estimator(method, rule):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 6)), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    problem = counting.Problem(X, y, gs.Logistic(), gs.L2Squared(), 0.05)
    model = gs.OnlineClassifier("logistic", "l2_squared", 0.05, rule, batch_size=40, fit_intercept=False)
    model.set_params(shuffle=False)
    for w in pegasos.learn(problem, [slice(None)] * 20, method, False):
        assert np.allclose(model.partial_fit(X, y, classes=[-1, 1]).coef_[0], w, rtol=1e-9)
