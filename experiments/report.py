"""RESULTS.md, made from the JSON files of a folder: the headline, the table, and the details."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments import frame
from experiments.frame import Check, Claim, Verdict

INTRODUCTION = """\
Written by `make reproduce`; `make reproduce ARGS="ID"` makes one row again. A row quotes the paper's sentence and
checks that, and nothing else. Every check is a number of the run beside a bound, and says whose the bound is: the
paper's, or ours where the paper gives none. Where the paper prints numbers, the check is applied to them as well. **Our
aim** is stricter than the sentence, or at least set without it, and stays in a column of its own. Set-up: `same` as the
paper's, or a `stand-in` for data that cannot be had; what the paper leaves unstated is listed with the details. It was
chosen before the run, and nothing is tuned on the outcome; only the run of F4 was made longer, as it says. Time is CPU
time.
"""
HEAD = "| id | the paper's sentence | set-up | verdict | key number | our aim | time |\n" + "|---" * 7 + "|"


def write(folder: Path, target: Path) -> None:
    """Write RESULTS.md from the JSON files of a folder."""
    target.write_text(text(folder, target), encoding="utf-8")


def text(folder: Path, target: Path) -> str:
    """Return RESULTS.md as the JSON files of a folder have it."""
    results = {id_: frame.result_of(id_, folder) for id_ in frame.ids()}
    judged = {id_: _judged(id_, result) for id_, result in results.items()}
    claims = [id_ for id_ in results if not frame.module(id_).CLAIM.theorem]
    theorems = [id_ for id_ in results if frame.module(id_).CLAIM.theorem]
    lines = ["# The papers, re-run", "", f"**{headline(judged)}**", "", INTRODUCTION, *_places(results), "", HEAD]
    lines += [_row(id_, results[id_], judged[id_]) for id_ in claims]
    lines += ["", "Theorems:", "", HEAD, *(_row(id_, results[id_], judged[id_]) for id_ in theorems), ""]
    for id_ in (*claims, *theorems):
        lines += _section(id_, judged[id_], folder, target)
    return "\n".join(lines)


def _judged(id_: str, result: dict[str, Any] | None) -> Verdict | None:
    return None if result is None else frame.module(id_).judge(result["numbers"])


def headline(judged: dict[str, Verdict | None]) -> str:
    """Return the sentence that says it all."""
    words = [frame.word(frame.module(id_).CLAIM, verdict) for id_, verdict in judged.items() if verdict is not None]
    counts = {each: words.count(each) for each in (frame.REPRODUCES, frame.PARTLY, frame.DOES_NOT, frame.NOT_TESTABLE)}
    untestable = [id_ for id_, verdict in judged.items() if verdict is None and frame.module(id_).CLAIM.untestable]
    counts[frame.NOT_TESTABLE] += len(untestable)
    missing = len(judged) - sum(counts.values())
    aims = [all(check.holds for check in verdict.aims) for verdict in judged.values() if verdict and verdict.aims]
    counted = (
        f"{counts[frame.REPRODUCES]} of {len(judged)} reproduce as stated, {counts[frame.PARTLY]} partly, "
        f"{counts[frame.DOES_NOT]} do not, {counts[frame.NOT_TESTABLE]} cannot be tested"
    )
    counted += f", {missing} are not re-run" if missing else ""
    return f"{counted}; of our {len(aims)} stricter aims {sum(aims)} hold."


def _places(results: dict[str, Any]) -> list[str]:
    found = {id_: result for id_, result in results.items() if result is not None}
    places = sorted({result["environment"] for result in found.values()})
    lines = []
    for place in places:
        which = ", ".join(id_ for id_, result in found.items() if result["environment"] == place)
        lines.append(f"Environment: {place}" + (f" ({which})" if len(places) > 1 else "") + ".")
    missing = [id_ for id_ in results if id_ not in found]
    if missing:
        lines += ["", f"Not re-run: {', '.join(missing)}. These rows have no numbers."]
    small = [id_ for id_, result in found.items() if result["size"] == "quick"]
    if small:
        lines += ["", f"Small runs, which judge nothing: {', '.join(small)}."]
    return lines


def said(claim: Claim, verdict: Verdict | None) -> str:
    """Return the verdict as the table has it."""
    if verdict is None:
        return frame.NOT_TESTABLE if claim.untestable else "not re-run"
    word = frame.word(claim, verdict)
    if word == frame.PARTLY:
        return f"**partly ({sum(check.holds for check in verdict.checks)} of {len(verdict.checks)})**"
    return f"**{word}**" if word == frame.DOES_NOT else word


def _aim(verdict: Verdict | None) -> str:
    if verdict is None or not verdict.aims:
        return "–"
    held = [check.holds for check in verdict.aims]
    return "holds" if all(held) else f"no ({sum(held)} of {len(held)})"


def aims(verdict: Verdict) -> list[Check]:
    """Return the aims: their bounds are ours, even where a check of the sentence has the same."""
    return [replace(check, source="ours", printed=None) for check in verdict.aims]


def _row(id_: str, result: dict[str, Any] | None, verdict: Verdict | None) -> str:
    claim = frame.module(id_).CLAIM
    setup = claim.setup + ("; unstated parts" if claim.unstated else "")
    key = verdict.key if verdict else "not re-run"
    time = f"{result['cpu_seconds']:.0f} s" if result else "–"
    cells = [f"[{id_}](#{id_.lower()})", f"“{claim.sentence}” ({claim.paper}, {claim.place})"]
    cells += [setup, said(claim, verdict), key, _aim(verdict), time]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _section(id_: str, verdict: Verdict | None, folder: Path, target: Path) -> list[str]:
    claim = frame.module(id_).CLAIM
    lines = [f"## {id_}", "", f"> {claim.sentence}", ">", f"> {claim.paper}, {claim.place}", ""]
    lines.append(f"Verdict: {said(claim, verdict)}. Set-up: {claim.setup}.")
    lines += [f"Unstated, chosen before the run: {'; '.join(claim.unstated)}."] if claim.unstated else []
    lines += [f"Why it cannot be tested: {claim.untestable}"] if claim.untestable else []
    lines.append("")
    if verdict is None:
        return [*lines, "Not re-run: there are no numbers of this set-up.", ""]
    lines += [f"- {check}" for check in verdict.checks]
    lines += [f"- Our aim: {aim}" for aim in aims(verdict)]
    lines += [f"- {note}" for note in verdict.notes]
    if claim.tried and frame.word(claim, verdict) != frame.REPRODUCES:
        lines.append(f"- What was tried: {claim.tried}")
    for table in verdict.tables:
        lines += ["", table]
    figure = (folder / f"{id_}.svg").relative_to(target.parent).as_posix()
    return [*lines, "", f"![{id_}: {claim.paper}, {claim.place}]({figure})", ""]
