"""The tables of the guides that say what goes with what, made from the parts themselves.

    python docs/tables.py      writes every region between `<!-- table: NAME -->` and `<!-- end -->` in docs/*.md anew

`make docs-tables` does that, and a test holds the guides to it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gossamer as gs
from gossamer.boosting import rounds
from gossamer.methods import METHODS, Setup
from gossamer.penalties import PENALTIES
from gossamer.registry import settings

GROUPS = [[0, 1], [2]]
SETUP = Setup(features=3, outputs=2, alpha=0.1, fit_intercept=True)
REGION = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    bars = str.maketrans({"|": r"\|"})
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cell.translate(bars) for cell in line)} |\n" for line in lines)


def code(names: Any) -> str:
    """Return names as code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def methods() -> str:
    """Return what each method does, in the words of its docstring."""
    rows = []
    for method in METHODS.defaults():
        words = str(type(method).__doc__).split("\n")[0]
        name = f"`{type(method).__name__}` `{METHODS.name_of(method)!r}`".replace("'", '"')
        rows.append([name, words, "yes" if method.has_lanes else ""])
    return table(["method", "what it does", "many strengths in one pass"], rows)


def variants() -> Iterator[tuple[str, Any]]:
    """Yield every penalty in the forms that online rules tell apart, and what they are called."""
    for penalty in PENALTIES.defaults():
        cls, name = type(penalty), f"`{type(penalty).__name__}`"
        if penalty.not_online:
            continue
        yield f"{name} on rows" if penalty.on_rows else name, penalty
        if penalty.on_rows:
            yield f"{name} over user groups", cls(groups=GROUPS)
        elif "weights" in settings(penalty):
            yield f"{name} with unequal weights", cls(weights=[1.0, 2.0, 3.0])
    yield "`Box` with one bound for all", gs.Box(-1, 1)
    yield "`Box` with one bound per feature", gs.Box([-1, -2, -3], 1)


def online_costs() -> str:
    """Return what an example costs with each method and penalty, one row for all penalties that cost the same."""
    made = METHODS.defaults()
    rows: dict[tuple[str, ...], list[str]] = {}
    plain: dict[type, tuple[str, ...]] = {}
    for name, penalty in variants():
        fits = [method.refusal(penalty, SETUP) is None for method in made]
        costs = tuple(method.cost(penalty) if fit else "" for method, fit in zip(made, fits, strict=True))
        if costs != plain.setdefault(type(penalty), costs) or "weights" not in name:
            rows.setdefault(costs, []).append(name)
    heads = ["penalty or set", *(f"`{type(method).__name__}`" for method in made)]
    return table(heads, [[", ".join(names), *costs] for costs, names in rows.items()])


def boosting() -> str:
    """Return the losses that each bound of boosting holds for, and the penalties that it has rules for."""
    kinds = {"ada": "exponential, as in AdaBoost", "grad": "quadratic"}
    heads = ["", *(f'`bound="{bound}"`: {kinds[bound]}' for bound in rounds.BOUNDS)]
    rows = [["losses"], ["penalties"]]
    for bound in rounds.BOUNDS:
        rows[0].append(code(rounds.bounded(bound)))
        rows[1].append(code(rounds.ruled(bound)))
    return table(heads, rows)


TABLES = {"methods": methods, "online_costs": online_costs, "boosting": boosting}


def renewed(text: str) -> str:
    """Return the text of a guide with its tables made anew."""
    return REGION.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", text)


def guides() -> list[Path]:
    """Return the guides."""
    return sorted(Path(__file__).parent.glob("*.md"))


if __name__ == "__main__":
    for path in guides():
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
