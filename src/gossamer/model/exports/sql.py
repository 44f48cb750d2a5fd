"""Export of a model as one SQL SELECT."""

from __future__ import annotations

import math
from typing import Any, assert_never

import numpy as np

from gossamer.losses import Link, Loss
from gossamer.model.model import Model, is_code


def to_sql(model: Model, table: str = "data", layout: str = "wide", key: str = "id") -> str:
    """Return one SELECT that computes the predictions for a table.

    "wide": one column per feature, named after the feature (`f12` for feature 12 if features have no names). "long":
    rows of `key`, `feature` (the number), `value`. Columns of the result: the key (long), `score_…`, `probability_…` if
    the loss has probabilities, and `prediction`.
    """
    if layout not in ("wide", "long"):
        raise ValueError(f"layout must be 'wide' or 'long'; {layout!r} was given.")
    k = len(model.intercept)
    W = model.weights
    named = [_quoted(f"score_{c}") for c in model.output_names]
    if layout == "wide":
        columns = [_quoted(model.names[p] if model.names else f"f{int(j)}") for p, j in enumerate(model.features)]
        sums = [
            _sum(
                [_sql(model.intercept[r])]
                + [f"{_sql(W[p, r])} * coalesce({c}, 0.0)" for p, c in enumerate(columns) if W[p, r]]
            )
            for r in range(k)
        ]
        scores = "SELECT *, " + ", ".join(f"{s} AS {n}" for s, n in zip(sums, named, strict=True))
        scores += f" FROM {_quoted(table)}"
        shown = "*"
    else:
        heads = ", ".join(["feature", *(f"w{r}" for r in range(k))])
        rows = [f"({int(j)}, {', '.join(_sql(w) for w in W[p])})" for p, j in enumerate(model.features)]
        rows = rows or [f"(-1, {', '.join(['0.0'] * k)})"]
        sums = [f"{_sql(model.intercept[r])} + sum(coalesce(d.value * w.w{r}, 0.0))" for r in range(k)]
        picked = ", ".join(f"{s} AS {n}" for s, n in zip(sums, named, strict=True))
        scores = (
            f"SELECT d.{_quoted(key)}, {picked} FROM {_quoted(table)} AS d "
            f"LEFT JOIN weights AS w ON d.feature = w.feature GROUP BY d.{_quoted(key)}"
        )
        shown = ", ".join([_quoted(key), *named])
    answers = [f"{e} AS {_quoted(n)}" for e, n in _sql_answers(model, named)]
    opening = ""
    if layout == "long":
        listed = ",\n".join(rows)
        opening = f"weights({heads}) AS (VALUES\n{listed}),\n"
    return f"WITH {opening}scores AS (\n{scores})\nSELECT {', '.join([shown, *answers])} FROM scores;\n"


def _sql_answers(model: Model, z: list[str]) -> list[tuple[str, str]]:
    """Return expressions and their names: probabilities if there are any, then the prediction."""
    p, labels = _linked(model.loss, z), [_sql(c) for c in model.labels]
    names = [f"probability_{c}" for c in model.labels]
    if model.kind == "regression":
        named = ["prediction"] if len(z) == 1 else [f"prediction_{r}" for r in range(len(z))]
        return list(zip(p, named, strict=True))
    answers: list[tuple[str, str]] = []
    if model.kind == "binary":
        if model.probabilistic:
            answers = [(f"1.0 - {p[0]}", names[0]), (p[0], names[1])]
        return [*answers, (f"CASE WHEN {z[0]} > 0 THEN {labels[1]} ELSE {labels[0]} END", "prediction")]
    if model.probabilistic:
        total = f"({' + '.join(p)})"
        shares = (
            p
            if model.kind != "one_vs_rest"
            else [f"CASE WHEN {total} > 0 THEN ({s}) / {total} ELSE {1.0 / len(z)!r} END" for s in p]
        )
        answers = list(zip(shares, names, strict=True))
    if model.kind == "multilabel":
        return [
            *answers,
            *(
                (f"CASE WHEN {s} > 0 THEN 1 ELSE 0 END", f"prediction_{c}")
                for s, c in zip(z, model.labels, strict=True)
            ),
        ]
    cases = []
    for r in range(len(z) - 1):  # the first one if scores are equal
        best = [f"{z[r]} > {s}" for s in z[:r]] + [f"{z[r]} >= {s}" for s in z[r + 1 :]]
        cases.append(f"WHEN {' AND '.join(best)} THEN {labels[r]}")
    return [*answers, (f"CASE {' '.join(cases)} ELSE {labels[-1]} END", "prediction")]


def _linked(loss: Loss, z: list[str]) -> list[str]:
    """Return expressions of what the loss predicts from the scores."""
    match loss.predicts:
        case Link.IDENTITY:
            return z
        case Link.EXP:
            return [_exp(s) for s in z]
        case Link.SIGMOID:
            return [f"1.0 / (1.0 + {_exp(f'-({s})')})" for s in z]
        case Link.SIGMOID_OF_TWICE:
            return [f"1.0 / (1.0 + {_exp(f'-(2.0 * {s})')})" for s in z]
        case Link.SOFTMAX:
            return [f"1.0 / ({' + '.join(_exp(f'({other}) - ({s})') for other in z)})" for s in z]
        case Link.OWN:
            raise is_code(loss)
        case unknown:
            assert_never(unknown)


def _exp(z: str) -> str:
    """Return exp, limited so that it does not overflow, which is an error in some databases."""
    return f"exp(CASE WHEN {z} > 700.0 THEN 700.0 ELSE {z} END)"


def _sum(terms: list[str]) -> str:
    """Return a sum as a balanced tree: databases limit the depth of an expression."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return f"({_sum(terms[:half])} + {_sum(terms[half:])})"


def _sql(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):  # with an exponent, which makes it double precision where decimals exist
        return f"{value:.17e}" if math.copysign(1.0, value) > 0 else f"({value:.17e})"
    return str(value)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
