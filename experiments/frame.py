"""What every experiment is made of, how it is run, and how its results are written.

An experiment is a module named by its id, with ID, PAPER, STATEMENT, PAPER_NUMBER, optionally WHY (the reason found if
a check does not hold at full size), and

- ``run(size)``, which returns an `Outcome`;
- ``draw(figure, numbers)``, which draws the paper's figure from the numbers alone.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

HERE = Path(__file__).parent
LETTERS = "FRPB"  # of FOBOS, RDA, projections, boosting: the order of RESULTS.md


@dataclass(frozen=True)
class Size:
    """How large a run is: the paper's size, or small."""

    quick: bool = False
    log: Callable[[str], None] = print

    def pick(self, full: Any, quick: Any) -> Any:
        """Return the one of the two that goes with this size."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Check:
    """A number and the bound that it must keep; `quick` says whether a small run is enough to judge it."""

    what: str
    value: float
    bound: float
    sign: str  # "≤" or "≥"
    quick: bool = True

    @property
    def holds(self) -> bool:
        """Whether the bound is kept; never by a number that is not one."""
        return bool(self.value <= self.bound if self.sign == "≤" else self.value >= self.bound)

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        return f"{self.what}: {self.value:.5g} {self.sign} {self.bound:.5g}? {verdict}"


def at_most(what: str, value: float, bound: float, quick: bool = True) -> Check:
    """Return the check that value ≤ bound."""
    return Check(what, float(value), float(bound), "≤", quick)


def at_least(what: str, value: float, bound: float, quick: bool = True) -> Check:
    """Return the check that value ≥ bound."""
    return Check(what, float(value), float(bound), "≥", quick)


@dataclass(frozen=True)
class Outcome:
    """What a run found. `tables` are Markdown, the paper's numbers beside ours."""

    numbers: dict[str, Any]
    checks: list[Check]
    notes: list[str] = field(default_factory=list)
    our_number: str = ""
    tables: list[str] = field(default_factory=list)


def ids() -> list[str]:
    """Return the ids of all experiments, in the order of the papers."""
    found = [path.stem.upper() for path in HERE.glob("*.py") if re.fullmatch(r"[frpb]\d+", path.stem)]
    return sorted(found, key=lambda id_: (LETTERS.index(id_[0]), int(id_[1:])))


def module(id_: str) -> Any:
    """Return the module of an experiment."""
    return import_module(f"experiments.{id_.lower()}")


def thin(curve: Sequence[float] | np.ndarray, points: int = 200) -> list[float]:
    """Return at most so many points of a curve, evenly spaced, the last one included."""
    curve = np.asarray(curve)
    return curve[np.unique(np.linspace(0, len(curve) - 1, min(points, len(curve))).round().astype(int))].tolist()


def plain(value: Any) -> Any:
    """Return a value as JSON has it: lists for arrays, six digits for numbers."""
    match value:
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | np.ndarray():
            return [plain(item) for item in value]
        case bool() | np.bool_():
            return bool(value)
        case int() | np.integer():
            return int(value)
        case float() | np.floating():
            return float(f"{value:.6g}")
    return value


def environment() -> str:
    """Return what the numbers depend on besides the code."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return f"Python {platform.python_version()}, {packages}, {platform.machine()}, {os.cpu_count()} CPUs"


def execute(id_: str, size: Size, folder: Path) -> dict[str, Any]:
    """Run one experiment; write its JSON and its figure into the folder; return what the JSON holds."""
    experiment = module(id_)
    start, cpu_start = perf_counter(), process_time()
    outcome = experiment.run(size)
    seconds, cpu_seconds = perf_counter() - start, process_time() - cpu_start
    checks = [asdict(check) for check in outcome.checks]
    numbers = plain(outcome.numbers)
    result = {
        "id": id_,
        "size": size.pick("full", "quick"),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu_seconds, 1),  # seconds also count waiting, on a machine that others use too
        "environment": environment(),
        "our_number": outcome.our_number,
        "checks": plain(checks),
        "notes": outcome.notes,
        "tables": outcome.tables,
        "numbers": numbers,
    }
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, ensure_ascii=False, indent=1)
    text = re.sub(r"\[[^][{}]*\]", lambda found: re.sub(r"\n\s*(?=[-\d\]])", "", found[0]), text)  # a curve on one line
    (folder / f"{id_}.json").write_text(text + "\n", encoding="utf-8")
    save_figure(experiment, json.loads(text)["numbers"], folder / id_)
    return result


def redraw(id_: str, folder: Path) -> None:
    """Draw the figure of an experiment again from its JSON, if there is one."""
    path = folder / f"{id_}.json"
    if path.exists():
        save_figure(module(id_), json.loads(path.read_text(encoding="utf-8"))["numbers"], folder / id_)


def save_figure(experiment: Any, numbers: dict[str, Any], path: Path) -> None:
    """Draw the figure of an experiment as PNG and SVG."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "gossamer", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(8, 4), layout="constrained")
        experiment.draw(figure, numbers)
        figure.savefig(path.with_suffix(".png"), dpi=100, metadata={"Software": None})
        figure.savefig(path.with_suffix(".svg"), dpi=100, metadata={"Date": None, "Creator": None})


def write_results(folder: Path, target: Path) -> None:
    """Write RESULTS.md from the JSON files of a folder."""
    results = [
        json.loads(path.read_text(encoding="utf-8")) for id_ in ids() if (path := folder / f"{id_}.json").exists()
    ]
    target.write_text(
        "\n".join([*_head(results), *(_row(r) for r in results), "", *_sections(results, folder, target)])
    )


def _head(results: list[dict[str, Any]]) -> list[str]:
    size = " --quick" if any(r["size"] == "quick" for r in results) else ""
    command = f'make reproduce ARGS="ID{size}"'
    holding = sum(all(map(_holds, r["checks"])) for r in results)
    places = sorted({r["environment"] for r in results})
    lines = [
        "# The papers' tables and figures, re-run",
        "",
        f"Written by `make reproduce`; `{command}` makes one row again. {holding} of {len(results)} claims hold",
        "as stated; the others are shown as they came out, with the reason found. Every check is a number of the run.",
        "",
    ]
    for place in places:
        which = ", ".join(r["id"] for r in results if r["environment"] == place)
        lines.append(f"Environment: {place}" + (f" ({which})" if len(places) > 1 else "") + ".")
    missing = [id_ for id_ in ids() if id_ not in {r["id"] for r in results}]
    if missing:
        lines += ["", f"No run yet: {', '.join(missing)}."]
    head = ["", "| id | paper | what it says | the paper's number | our number | holds | time |", "|" + "---|" * 7]
    return [*lines, *head]


def _holds(check: dict[str, Any]) -> bool:
    return Check(**check).holds


def _row(result: dict[str, Any]) -> str:
    experiment = module(result["id"])
    held = [_holds(check) for check in result["checks"]]
    verdict = "holds" if all(held) else f"**no** ({sum(held)} of {len(held)} checks)"
    cells = [
        f"[{result['id']}](#{result['id'].lower()})",
        experiment.PAPER,
        experiment.STATEMENT,
        experiment.PAPER_NUMBER,
        result["our_number"],
        verdict,
        f"{result['cpu_seconds']:.0f} s CPU" if "cpu_seconds" in result else f"{result['seconds']:.0f} s",
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _sections(results: list[dict[str, Any]], folder: Path, target: Path) -> list[str]:
    lines = []
    for result in results:
        experiment, id_ = module(result["id"]), result["id"]
        lines += [f"## {id_}", "", f"{experiment.PAPER}. {experiment.STATEMENT}", ""]
        lines += [f"- {Check(**check)}" for check in result["checks"]]
        lines += [f"- {note}" for note in result["notes"]]
        if hasattr(experiment, "WHY") and not all(map(_holds, result["checks"])):
            lines.append(f"- Why it does not hold: {experiment.WHY}")
        for table in result["tables"]:
            lines += ["", table]
        figure = (folder / f"{id_}.svg").relative_to(target.parent).as_posix()
        lines += ["", f"![{id_}: {experiment.PAPER}]({figure})", ""]
    return lines
