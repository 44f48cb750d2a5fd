"""The HTML report of a training run: one self-contained page without scripts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from gossamer import output
from gossamer.model.model import Model

WIDTH, HEIGHT = 360, 200  # of a chart, about the size at which it is shown
LEFT, RIGHT, ABOVE, BELOW = 66, 16, 12, 24  # its margins
TOP = 30  # features in the table of weights

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"/><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<style>
:root {{ color-scheme: light dark; --ink: #222; --pale: #6b6b6b; --axis: #bbb; --more: #2a6fb0; --less: #c8553d }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #ddd; --pale: #9a9a9a; --axis: #555; --more: #5b9bd5; --less: #e07a5f }}
  body {{ background: #181818 }}
}}
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2em auto; padding: 0 1em; color: var(--ink) }}
h1 {{ font-size: 1.6em; line-height: 1.25 }} h2 {{ font-size: 1.2em; margin: 1.8em 0 0.5em }}
table {{ border-collapse: collapse }} td, th {{ padding: 2px 14px 2px 0; text-align: left; font-weight: normal }}
th, figcaption {{ color: var(--pale) }} td, th {{ overflow-wrap: anywhere }}
.number {{ text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }}
.bar {{ min-width: min(300px, 40vw); padding-right: 0 }}
.bar div {{ height: 10px; background: var(--more) }} .bar .less {{ background: var(--less) }}
.pictures {{ display: grid; gap: 1em; grid-template-columns: repeat(auto-fit, minmax(min(300px, 100%), 1fr)) }}
figure {{ margin: 0; max-width: 400px }} svg {{ display: block; width: 100%; height: auto }}
text {{ font-size: 12px; fill: var(--pale) }} circle {{ fill: var(--less) }} .mark {{ color: var(--less) }}
path {{ fill: none; stroke: var(--axis) }} polyline {{ fill: none; stroke: var(--more); stroke-width: 2 }}
</style></head>
<body><h1>{title}</h1>
{body}
</body></html>
"""


def write(path: Any, fit: Model, history: Sequence[tuple[int, float]] = ()) -> None:
    """Write the page of a model; `history` holds rows seen and the mean progressive loss by then."""
    facts = dict(fit.facts)
    chosen, holdout = facts.pop("path", None), facts.pop("holdout", None)
    facts.pop("units", None)
    parts, pictures = [_facts(fit, facts, holdout)], ""
    if len(history) > 1:
        rows, loss = np.array(history, float).T
        pictures += _curve(rows, loss, "examples", "Mean loss before learning from each example")
    if chosen is not None:
        pictures += _path(chosen, facts["alpha"])
    if pictures:
        parts += ["<h2>Training</h2>", f'<div class="pictures">{pictures}</div>']
    count = len(fit.features)
    parts += [f"<h2>The {TOP} largest weights</h2>" if count > TOP else "<h2>Weights</h2>", _weights(fit)]
    title = f"{fit.kind.replace('_', ' ').capitalize()} model, {type(fit.loss).__name__} loss"
    output.write(path, [PAGE.format(title=escape(title), body="\n".join(parts)).encode()])


def _table(rows: Sequence[tuple[str, Any]]) -> str:
    return (
        "<table>" + "".join(f"<tr><th>{escape(a)}</th><td>{escape(_word(b))}</td></tr>" for a, b in rows) + "</table>"
    )


def _word(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _facts(fit: Model, facts: dict[str, Any], holdout: dict[str, Any] | None) -> str:
    rows: list[tuple[str, Any]] = [("features with weights", f"{len(fit.features):,} of {fit.n_features:,}")]
    rows += [(name.replace("_", " "), value) for name, value in facts.items() if value is not None]
    rows += [(f"held out: {name}", value) for name, value in (holdout or {}).items()]
    return _table(rows)


# Charts


def _curve(x: Any, y: Any, below: str, title: str, mark: int | None = None, falling: bool = False) -> str:
    """Return a line chart with the limits of both axes, and one marked point.

    `falling` is for powers of ten: x holds the exponents, and the largest comes first.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    low, high, right, bottom = float(y.min()), float(y.max()), WIDTH - RIGHT, HEIGHT - BELOW
    place = (x - x.min()) / (x.max() - x.min() or 1.0)
    across = LEFT + (1 - place if falling else place) * (right - LEFT)
    down = bottom - (y - low) / (high - low or 1.0) * (bottom - ABOVE)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
    first, last = (f"{10 ** x.max():.2g}", f"{10 ** x.min():.2g}") if falling else (_short(x.min()), _short(x.max()))
    texts = [
        (LEFT - 6, ABOVE + 4, "end", _short(high)),
        (LEFT - 6, bottom + 4, "end", _short(low)),
        (LEFT, bottom + 18, "start", first),
        ((LEFT + right) / 2, bottom + 18, "middle", below),
        (right, bottom + 18, "end", last),
    ]
    dot, caption = "", escape(title)
    if mark is not None:
        dot = f'<circle cx="{across[mark]:.1f}" cy="{down[mark]:.1f}" r="5"/>'
        caption += f', <span class="mark">●</span> chosen: {_short(y[mark])}'
    words = "".join(
        f'<text x="{a:.1f}" y="{b:.1f}" text-anchor="{anchor}">{escape(word)}</text>' for a, b, anchor, word in texts
    )
    return (
        f"<figure><figcaption>{caption}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f'<path d="M{LEFT},{ABOVE} V{bottom} H{right}"/><polyline points="{points}"/>{dot}{words}</svg></figure>'
    )


def _short(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e7 else f"{value:.4g}"


def _path(path: dict[str, Any], alpha: float) -> str:
    kept = [i for i, loss in enumerate(path["progressive_loss"]) if loss is not None]
    if len(kept) < 2:
        return "<p>All but one strength diverged.</p>"
    x = [math.log10(max(path["alphas"][i], 1e-300)) for i in kept]
    mark = next((n for n, i in enumerate(kept) if path["alphas"][i] == alpha), None)
    loss = [path["progressive_loss"][i] for i in kept]
    count = [path["nonzeros"][i] for i in kept]
    return _curve(x, loss, "alpha", "Mean loss by strength", mark, falling=True) + _curve(
        x, count, "alpha", "Non-zero weights by strength", mark, falling=True
    )


def _weights(fit: Model) -> str:
    order = np.argsort(-fit.sizes, kind="stable")[:TOP]
    if len(order) == 0:
        return "<p>There are none.</p>"
    W = fit.weights_of(order)
    labels = [] if fit.classes is None else [str(c) for c in fit.classes.tolist()]
    many = W.shape[1] > 1 and len(labels) == W.shape[1]
    rows = ["<tr><th>feature</th>" + "<th>class</th>" * many + '<th class="number">weight</th><th></th></tr>']
    for i, p in enumerate(order.tolist()):
        r = int(np.argmax(np.abs(W[i])))
        sign, length = "more" if W[i, r] > 0 else "less", 100 * abs(W[i, r]) / np.abs(W).max()
        rows.append(
            f"<tr><td>{escape(fit.name(p))}</td>"
            + (f"<td>{escape(labels[r])}</td>" if many else "")
            + f'<td class="number">{W[i, r]:#.4g}</td>'
            f'<td class="bar"><div class="{sign}" style="width: {length:.1f}%"></div></td></tr>'
        )
    return f"<table>{''.join(rows)}</table>"
