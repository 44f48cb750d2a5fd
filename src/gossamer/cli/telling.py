"""What is said about data that was read through, and at the end of training."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.cli.tally import Tally
from gossamer.cli.words import percent, short, size
from gossamer.estimators.selection import falls_at_the_end
from gossamer.model.model import Model
from gossamer.registry import record
from gossamer.sources import look as looking
from gossamer.sources.base import Source

LABEL = 10  # characters before the words of a line


@record
class Counted:
    """What reading everything once has found."""

    lines: list[str]
    warnings: list[str]
    facts: dict[str, Any]


def counted(seen: looking.Look, rows: Source) -> Counted:
    """Read everything once, and count."""
    kind = None if seen.target is None else seen.target.kind
    tally, width, entries = Tally(kind in (looking.TWO, looking.CLASSES)), 0, 0
    for block in rows.blocks():
        width, entries = max(width, block.width), entries + len(block.index)
        if block.label is not None and block.label.ndim == 1:
            tally.add(block.label, block.weight, None)
        else:
            tally.rows += len(block)
    disorder = tally.disorder()
    warnings = [] if disorder is None else [f"{disorder}; train with --shuffle"]
    per_row = entries / max(tally.rows, 1)
    lines = [f"rows: {tally.rows:,}, with {per_row:.3g} features each of {width:,}"]
    if rows.rejects.count:
        lines.append(f"{rows.rejects.count:,} lines could not be read, for instance:")
        lines += [f"  {line}" for line in rows.rejects.examples]
    facts = {"rows": tally.rows, "all_rows": True, "features": width, "features_per_row": per_row}
    return Counted(lines, warnings, facts | {"warnings": [*seen.warnings, *warnings]})


@record
class End:
    """The end of a training run, in words and for machines."""

    options: argparse.Namespace
    fit: Model
    rows: Source
    seen: looking.Look | None
    tally: Tally
    seconds: float
    test: dict[str, Any] | None
    interrupted: bool

    def facts(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        facts, fit = self.fit.facts, self.fit
        return {
            "model": str(self.options.output),
            "loss": type(fit.loss).__name__,
            "rows": facts["rows"],
            "passes": self.tally.passes,
            "features": fit.n_features,
            "nonzero_features": len(fit.features),
            "progressive_loss": facts["progressive_loss"],
            "training_loss": facts["training_loss"],
            "constant_loss": facts["constant_loss"],
            "step": facts["step"],
            "alpha": facts["alpha"],
            "path": facts.get("path"),
            "objective": facts.get("objective"),
            "dual_gap": facts.get("dual_gap"),
            "certificate": facts.get("certificate"),
            "seconds": round(self.seconds, 3),
            "skipped_lines": self.rows.rejects.count,
            "collisions": facts["collisions"],
            "holdout": None if self.test is None else {n: _plain(x) for n, x in self.test.items()},
            "interrupted": self.interrupted,
            "look": None if self.seen is None else self.seen.facts_for_machines(),
            "warnings": self.warnings(),
        }

    def lines(self) -> list[str]:
        """Return what people read."""
        parts = [*self._path(), self._trained(), self._learned(), *self._exact(), *self._tested(), *self._trouble()]
        parts += [f"warning: {words}" for words in self.warnings()]
        return [*parts, self._written(), *self._next()]

    # Lines

    def _path(self) -> list[str]:
        path = self.fit.facts.get("path")
        if path is None:
            return []
        lines = [f"{'alpha':>10}  {'progressive loss':>16}  {'weights':>9}"]
        for alpha, loss, count in zip(path["alphas"], path["progressive_loss"], path["nonzeros"], strict=True):
            mark = "  <- chosen" if alpha == self.fit.facts["alpha"] else ""
            lines.append(f"{alpha:>10.3g}  {'diverged' if loss is None else short(loss):>16}  {count:>9,}{mark}")
        return lines

    def _trained(self) -> str:
        tally, passes = self.tally, self.options.passes
        words = f"{tally.rows:,} rows"
        words += f" × {passes} passes" if passes > 1 and not self.interrupted else ""
        words += f" in {self.seconds:.2g} s" if self.seconds < 10 else f" in {self.seconds:,.0f} s"
        words += f", {tally.held:,} held out" if self.options.holdout else ""
        if self.interrupted:
            words += f"; interrupted in pass {tally.passes + 1}" if passes > 1 else "; interrupted"
        return _line("trained", words)

    def _learned(self) -> str:
        return _line("learned", learned(self.fit))

    def _exact(self) -> list[str]:
        facts = self.fit.facts
        if facts.get("dual_gap") is None:
            return []
        words = f"objective {facts['objective']:.8g}, {facts['certificate']} {short(facts['dual_gap'])}"
        count = facts["exact_passes"]
        return [_line("exact", f"{words}, in {count} more pass{'es' if count > 1 else ''}")]

    def _tested(self) -> list[str]:
        return [] if self.test is None else [_line("held out", tested(self.test))]

    def _trouble(self) -> list[str]:
        lines, rejects = [], self.rows.rejects
        if rejects.count:
            what = "1 line" if rejects.count == 1 else f"{rejects.count:,} lines"
            lines.append(_line("skipped", f"{what} that could not be read, for instance:"))
            lines += [_line("", example) for example in rejects.examples]
        if self.fit.facts["collisions"]:
            shared = f"{self.fit.facts['collisions']:,} hashed features have several names"
            lines.append(_line("hashing", f"{shared}, {len(self.fit.shared)} of them with weights"))
        return lines

    def _written(self) -> str:
        written = f"{self.options.output} ({size(Path(self.options.output).stat().st_size)})"
        written += f", {self.options.report}" if self.options.report is not None else ""
        return _line("wrote", written)

    def _next(self) -> list[str]:
        if self.interrupted and self.options.checkpoint is not None:
            return [_line("next", "the same command goes on from the last checkpoint")]
        first = str(self.options.data[0])
        ending = next((e for e in (".svm", ".vw", ".csv", ".tsv", ".parquet") if e in first), "")
        more = " --proba" if self.fit.probabilistic else ""
        model = self.options.output
        return [_line("next", f"gossamer inspect {model}"), _line("", f"gossamer predict {model} NEW{ending}{more}")]

    # Warnings

    def warnings(self) -> list[str]:
        """Return what should make one doubt the model."""
        found = [] if self.seen is None else list(self.seen.warnings)
        disorder = self.tally.disorder()
        shuffled = getattr(self.options, "shuffle", False)
        if disorder is not None and not shuffled:
            found.append(f"{disorder}: progressive loss and the chosen alpha mean little. Train with --shuffle")
        if self.fit.facts.get("short") is not None:
            share = f"the gap is {self.fit.facts['gap_share']:.2g} of the loss of the empty model"
            found.append(f"{share}: {self.fit.facts['short']}")
        found += self._about_learning()
        found += self._about_the_grid()
        return found

    def _about_learning(self) -> list[str]:
        facts, test = self.fit.facts, self.test
        if len(self.fit.features) == 0:
            return ["nothing was learned: no feature has a weight. A smaller --alpha or more --passes may help"]
        judged = facts if test is None or test.get("loss") is None else test
        where = "progressive" if judged is facts else "held-out"
        loss = facts["progressive_loss"] if judged is facts else judged["loss"]
        constant, found = judged.get("constant_loss"), []
        if loss is not None and constant is not None and loss >= constant:
            found.append(
                f"the model is no better than one without features: {where} loss {short(loss)}, without features "
                f"{short(constant)}. More --passes, more rows or other columns may help"
            )
        before = facts["progressive_loss"]
        if judged is test and before is not None and loss is not None and loss > 2 * max(before, 0.0) and loss > 1e-9:
            found.append(
                f"held-out loss {short(loss)} is far above progressive loss {short(before)}: the rows may be sorted "
                "(--shuffle), or the first ones unlike the others"
            )
        return found

    def _about_the_grid(self) -> list[str]:
        path, alpha = self.fit.facts.get("path"), self.fit.facts["alpha"]
        if path is None or len(self.fit.features) == 0:
            return []
        loss = np.array([math.nan if known is None else known for known in path["progressive_loss"]])
        if falls_at_the_end(loss, path["alphas"].index(alpha)):
            weaker = 10.0 ** math.floor(math.log10(alpha / 5)) if alpha > 0 else 0.0
            weakest = f"alpha {alpha:.2g} is the weakest of {len(path['alphas'])}"
            return [f"{weakest}: a weaker one may be better (--alpha {weaker:g})"]
        return []


def learned(fit: Model) -> str:
    """Return what a model has learned, in words."""
    words = f"{len(fit.features):,} of {fit.n_features:,} features have weights"
    for name in ("progressive_loss", "training_loss"):
        if fit.facts.get(name) is not None:
            words += f", {name.replace('_', ' ')} {short(fit.facts[name])}"
    if fit.facts.get("constant_loss") is not None:
        words += f" (without features {short(fit.facts['constant_loss'])})"
    return words


def tested(test: dict[str, Any]) -> str:
    """Return how a model did on the rows held out, in words."""
    if not test.get("rows"):
        return "no rows: --holdout is too small for this data"
    loss = f"loss {short(test['loss'])}"
    if test.get("constant_loss") is not None:
        loss += f" (without features {short(test['constant_loss'])})"
    if "r2" in test:
        words = f"R² {test['r2']:.4f}"
        if "rmse" in test:
            words += f", RMSE {test['rmse']:.4g} (always the mean: {test['constant_rmse']:.4g})"
        return f"{words}, {loss}"
    wrong = test.get("wrong", round(test["error"] * test["rows"]))
    error = f"error {percent(test['error'])} ({wrong:,} of {test['rows']:,}"
    if "commonest" in test:
        error += f"; always {_plain(test['commonest'])}: {percent(test['constant_error'])}"
    area = "" if test.get("auc") is None else f", AUC {test['auc']:.3f}"
    return f"{error}){area}, {loss}"


def summary(fit: Model) -> list[str]:
    """Return what a model is, and how it came to be, as lines."""
    labels = [] if fit.classes is None else [str(c) for c in fit.classes.tolist()]
    classes = f", classes {', '.join(labels[:10])}{', …' * (len(labels) > 10)}" if labels else ""
    lines = [f"{fit.kind} model, {type(fit.loss).__name__} loss{classes}"]
    if fit.kind == "binary":
        lines[0] += f" (positive weights speak for {labels[1]})"
    facts = {name: value for name, value in fit.facts.items() if value is not None}
    path = facts.pop("path", None)
    how = [f"{facts[name]:,} {name}" for name in ("rows", "passes") if isinstance(facts.get(name), int)]
    how += [f"{name} {facts[name]}" for name in ("penalty", "method") if name in facts]
    if "alpha" in facts:
        how.append(f"alpha {facts['alpha']:.3g}" + (f" of {len(path['alphas'])}" if path else ""))
    lines += [_line("trained", ", ".join(how).replace(" 1 passes", " 1 pass"))] if how else []
    lines.append(_line("learned", learned(fit)))
    if isinstance(facts.get("holdout"), dict):
        lines.append(_line("held out", tested(facts["holdout"])))
    if fit.shared:
        pairs = ", ".join(f"{a} / {b}" for a, b in list(fit.shared.items())[:5])
        lines.append(_line("hashing", f"{len(fit.shared)} names share their weight with another: {pairs}"))
    return lines


def _line(label: str, words: str) -> str:
    return f"{label:<{LABEL}}{words}"


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return int(value) if isinstance(value, float) and value == math.floor(value) and abs(value) < 2**53 else value
