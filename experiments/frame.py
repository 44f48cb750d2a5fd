"""What every experiment is made of, how it is run and judged, and how its results are written.

An experiment is a module with a `CLAIM` and

- ``run(size)``, which returns numbers that JSON can hold: all that took time to find;
- ``judge(numbers)``, which returns the `Verdict` on them, from the numbers alone;
- ``draw(figure, numbers)``, which draws the paper's figure, from the numbers alone.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

HERE = Path(__file__).parent
LETTERS = "FRPB"  # of FOBOS, RDA, projections, boosting: the order of RESULTS.md
SAME, STAND_IN = "same", "stand-in"
REPRODUCES, PARTLY, DOES_NOT, NOT_TESTABLE = "reproduces", "partly", "does not", "not testable"


@dataclass(frozen=True)
class Size:
    """How large a run is: the paper's size, or small."""

    quick: bool = False
    log: Callable[[str], None] = print

    def pick(self, full: Any, quick: Any) -> Any:
        """Return the one of the two that goes with this size."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Claim:
    """What a paper says, and what it does not say.

    `setup` is "same" or "stand-in", with words after it where they are needed; `unstated` are the settings that the
    paper leaves open; `tried` what was tried where it does not reproduce; `untestable` why it cannot be tested.
    """

    id: str
    paper: str
    place: str
    sentence: str
    setup: str = SAME
    unstated: tuple[str, ...] = ()
    tried: str = ""
    theorem: bool = False
    untestable: str = ""


def told(value: float, form: str = ".5g") -> str:
    """Return a number in words: NaN is not known."""
    return "not known" if np.isnan(value) else "∞" if value == np.inf else format(value, form)


@dataclass(frozen=True)
class Check:
    """A number and the bound that it must keep.

    `source` says whose the bound is: "paper" or "ours". `printed` is the number that the paper itself prints, to which
    the check is applied as well. `quick` says whether a small run is enough to judge it.
    """

    what: str
    value: float
    bound: float
    sign: str  # "≤", "<" or "≥"
    source: str = "ours"
    printed: float | None = None
    quick: bool = True

    def kept_by(self, value: float) -> bool:
        """Return whether a number keeps the bound; one that is not a number never does."""
        return bool({"≤": value <= self.bound, "<": value < self.bound, "≥": value >= self.bound}[self.sign])

    @property
    def holds(self) -> bool:
        """Whether the bound is kept."""
        return self.kept_by(self.value)

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        text = f"{self.what}: {told(self.value)} {self.sign} {told(self.bound)} ({self.source})? {verdict}"
        if self.printed is None:
            return text
        kept = "keeps" if self.kept_by(self.printed) else "FAILS"
        return f"{text}; the paper's own {self.printed:.5g} {kept} it"


def at_most(what: str, value: float, bound: float, source: str = "ours", **more: Any) -> Check:
    """Return the check that value ≤ bound."""
    return Check(what, float(value), float(bound), "≤", source, **more)


def below(what: str, value: float, bound: float, source: str = "ours", **more: Any) -> Check:
    """Return the check that value < bound."""
    return Check(what, float(value), float(bound), "<", source, **more)


def at_least(what: str, value: float, bound: float, source: str = "ours", **more: Any) -> Check:
    """Return the check that value ≥ bound."""
    return Check(what, float(value), float(bound), "≥", source, **more)


@dataclass(frozen=True)
class Verdict:
    """What the numbers say: of the paper's statement (`checks`), and of our stricter aim (`aims`).

    `key` is the number for the table; `tables` are Markdown, the paper's numbers beside ours.
    """

    checks: list[Check]
    key: str
    aims: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)


def word(claim: Claim, verdict: Verdict) -> str:
    """Return the verdict in a word: one of the four."""
    held = [check.holds for check in verdict.checks]
    if claim.untestable:
        return NOT_TESTABLE
    return REPRODUCES if all(held) else PARTLY if any(held) else DOES_NOT


@cache
def modules() -> dict[str, Any]:
    """Return the modules of all experiments by id, in the order of the papers."""
    names = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))
    found = (import_module(f"experiments.{name}") for name in names)
    by_id = {each.CLAIM.id: each for each in found if hasattr(each, "CLAIM")}
    return {id_: by_id[id_] for id_ in sorted(by_id, key=lambda id_: (LETTERS.index(id_[0]), int(id_[1:])))}


def ids() -> list[str]:
    """Return the ids of all experiments, in the order of the papers."""
    return list(modules())


def module(id_: str) -> Any:
    """Return the module of an experiment."""
    return modules()[id_]


def thin(curve: Sequence[float] | np.ndarray, points: int = 200) -> list[float]:
    """Return at most so many points of a curve, evenly spaced, the last one included."""
    curve = np.asarray(curve)
    return curve[np.unique(np.linspace(0, len(curve) - 1, min(points, len(curve))).round().astype(int))].tolist()


def plain(value: Any) -> Any:
    """Return a value as JSON has it: lists for arrays, six digits for numbers, null for what is infinite."""
    match value:
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case np.ndarray() if not value.ndim:
            return plain(value.item())
        case list() | tuple() | np.ndarray():
            return [plain(item) for item in value]
        case bool() | np.bool_():
            return bool(value)
        case int() | np.integer():
            return int(value)
        case float() | np.floating():
            return float(f"{value:.6g}") if np.isfinite(value) else None
    return value


def curve(values: Any) -> np.ndarray:
    """Return an array of numbers of a JSON file, NaN for null."""
    return np.array(values, float)  # None becomes NaN


def environment() -> str:
    """Return what the numbers depend on besides the code."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return f"Python {platform.python_version()}, {packages}, {platform.machine()}, {os.cpu_count()} CPUs"


def execute(id_: str, size: Size, folder: Path) -> dict[str, Any]:
    """Run one experiment; write its JSON and its figure into the folder; return what the JSON holds."""
    start, cpu_start = perf_counter(), process_time()
    numbers = plain(module(id_).run(size))
    result = {
        "id": id_,
        "size": size.pick("full", "quick"),
        "seconds": round(perf_counter() - start, 1),
        "cpu_seconds": round(process_time() - cpu_start, 1),  # seconds also count waiting, where others work too
        "environment": environment(),
        "numbers": numbers,
    }
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, ensure_ascii=False, indent=1)
    text = re.sub(r"\[[^][{}]*\]", lambda found: re.sub(r"\n\s*(?=[-\dn\]])", "", found[0]), text)  # a curve, one line
    (folder / f"{id_}.json").write_text(text + "\n", encoding="utf-8")
    save_figure(id_, numbers, folder)
    return result


def result_of(id_: str, folder: Path) -> dict[str, Any] | None:
    """Return what the JSON of an experiment holds, if there is one."""
    path = folder / f"{id_}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def save_figure(id_: str, numbers: dict[str, Any], folder: Path) -> None:
    """Draw the figure of an experiment as PNG and SVG."""
    import matplotlib
    from cycler import cycler
    from matplotlib.figure import Figure

    # In grey these colours differ in lightness; lines that cross also differ in their style.
    colours = ("#000000", "#e69f00", "#0072b2", "#cc79a7", "#009e73", "#56b4e9", "#d55e00", "#999999")
    styles = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), "-", "--")
    settings = {
        "axes.prop_cycle": cycler(color=colours, linestyle=styles),
        "svg.hashsalt": "gossamer",
        "svg.fonttype": "none",
        "font.size": 9,
        "legend.handlelength": 3.2,
    }
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(8, 4), layout="constrained")
        module(id_).draw(figure, numbers)
        path = folder / id_
        figure.savefig(path.with_suffix(".png"), dpi=100, metadata={"Software": None})
        figure.savefig(path.with_suffix(".svg"), dpi=100, metadata={"Date": None, "Creator": None})
