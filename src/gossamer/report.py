"""One page of HTML about a training: self-contained, no scripts, nothing loaded from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.model import Model

WIDTH, HEIGHT, MARGIN = 640, 260, 56  # of a picture
TOP = 30  # features in the table of weights

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 720px; margin: 2em auto; padding: 0 1em; color: #222 }}
table {{ border-collapse: collapse }} td, th {{ padding: 2px 14px 2px 0; text-align: left; font-weight: normal }}
th {{ color: #777 }} td.number {{ text-align: right; font-variant-numeric: tabular-nums }}
.bar {{ height: 10px; display: inline-block }} .more {{ background: #2a6fb0 }} .less {{ background: #c8553d }}
svg {{ width: 100%; height: auto }} text {{ font-size: 12px; fill: #666 }} h2 {{ margin: 1.6em 0 0.4em }}
</style>
<h1>{title}</h1>
{body}
</html>
"""


def write(path: Any, fit: Model, history: Sequence[tuple[int, float]] = ()) -> None:
    """Write the page of a model; `history` holds rows seen and the mean progressive loss by then."""
    facts = dict(fit.facts)
    chosen, holdout = facts.pop("path", None), facts.pop("holdout", None)
    parts = [_facts(fit, facts, holdout)]
    if len(history) > 1:
        rows, loss = np.array(history, float).T
        parts += ["<h2>Progressive loss</h2>", _curve(rows, loss, "examples", "mean loss before learning from each")]
    if chosen is not None:
        parts += ["<h2>Strengths</h2>", _path(chosen, facts["alpha"])]
    parts += [f"<h2>The {min(TOP, len(fit.features))} largest weights</h2>", _weights(fit)]
    title = f"{fit.kind.replace('_', ' ')} model, {type(fit.loss).__name__} loss"
    Path(path).write_text(PAGE.format(title=escape(title), body="\n".join(parts)), encoding="utf-8")


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


# Pictures


def _curve(x: Any, y: Any, below: str, beside: str, mark: int | None = None, falling: bool = False) -> str:
    """Return a line through points, with the least and the largest of both axes written down."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    low, high = float(y.min()), float(y.max())
    span = high - low or 1.0
    place = (x - x.min()) / (x.max() - x.min() or 1.0)
    across = MARGIN + (1 - place if falling else place) * (WIDTH - 2 * MARGIN)
    down = HEIGHT - MARGIN - (y - low) / span * (HEIGHT - 2 * MARGIN)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
    ends = (x.max(), x.min()) if falling else (x.min(), x.max())
    left, right = (f"{10**e:.2g}" if falling else f"{e:,.0f}" for e in ends)
    dot = "" if mark is None else f'<circle cx="{across[mark]:.1f}" cy="{down[mark]:.1f}" r="5" fill="#c8553d"/>'
    bottom = HEIGHT - MARGIN
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(beside)}">'
        f'<path d="M{MARGIN},{MARGIN / 2} V{bottom} H{WIDTH - MARGIN / 2}" stroke="#bbb" fill="none"/>'
        f'<polyline points="{points}" fill="none" stroke="#2a6fb0" stroke-width="2"/>{dot}'
        f'<text x="{MARGIN - 6}" y="{MARGIN + 4}" text-anchor="end">{high:.4g}</text>'
        f'<text x="{MARGIN - 6}" y="{bottom + 4}" text-anchor="end">{low:.4g}</text>'
        f'<text x="{MARGIN}" y="{bottom + 18}">{left}</text>'
        f'<text x="{WIDTH - MARGIN}" y="{bottom + 18}" text-anchor="end">{right}</text>'
        f'<text x="{WIDTH / 2}" y="{bottom + 18}" text-anchor="middle">{escape(below)}</text>'
        f'<text x="{MARGIN + 4}" y="{MARGIN / 2 + 4}">{escape(beside)}</text></svg>'
    )


def _path(path: dict[str, Any], alpha: float) -> str:
    kept = [i for i, loss in enumerate(path["progressive_loss"]) if loss is not None]
    if len(kept) < 2:
        return "<p>All but one diverged.</p>"
    x = [math.log10(max(path["alphas"][i], 1e-300)) for i in kept]
    mark = next((n for n, i in enumerate(kept) if path["alphas"][i] == alpha), None)
    loss = [path["progressive_loss"][i] for i in kept]
    count = [path["nonzeros"][i] for i in kept]
    return _curve(x, loss, "alpha", "progressive loss", mark, falling=True) + _curve(
        x, count, "alpha", "non-zero weights", mark, falling=True
    )


def _weights(fit: Model) -> str:
    order = np.argsort(-fit.sizes, kind="stable")[:TOP]
    if len(order) == 0:
        return "<p>There are none.</p>"
    W = fit.weights_of(order)
    labels = [] if fit.classes is None else [str(c) for c in fit.classes.tolist()]
    rows = []
    for i, p in enumerate(order.tolist()):
        r = int(np.argmax(np.abs(W[i])))
        length = 200 * abs(W[i, r]) / np.abs(W[0]).max()
        kind = "more" if W[i, r] > 0 else "less"
        of = escape(labels[r]) if W.shape[1] > 1 and len(labels) == W.shape[1] else ""
        rows.append(
            f'<tr><td>{escape(fit.name(p))}</td><td>{of}</td><td class="number">{W[i, r]:.5g}</td>'
            f'<td><span class="bar {kind}" style="width: {length:.0f}px"></span></td></tr>'
        )
    return f"<table>{''.join(rows)}</table>"
