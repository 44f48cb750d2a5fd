"""Export of a model as one SQL SELECT.

Databases read names in ways that can make a wrong query run: SQLite takes an unknown column in double quotes for a
string, and a column of the table hides a result of the same name. So every column is named with its table, and a query
whose results would have names of the table fails.
"""

from __future__ import annotations

import math
from typing import Any, assert_never

import numpy as np

from gossamer.losses import Link, Loss
from gossamer.model.model import Model, is_code, refuse_offset


def to_sql(model: Model, table: str = "data", layout: str = "wide", key: str = "id") -> str:
    """Return one SELECT that computes the predictions for a table.

    "wide": one column per feature, named after the feature (`f12` for feature 12 if features have no names). "long":
    rows of `key`, `feature` (the number), `value`. Columns of the result: those of the table (wide) or the key (long),
    `score_…`, `probability_…` if the loss has probabilities, and `prediction`. They end with the class, or with its
    place if the names of two classes differ in case only, which is the same to a database. If the table has a column
    with such a name, the query fails: the column is ambiguous. A column of offsets is added to the scores (wide).
    """
    if layout not in ("wide", "long"):
        raise ValueError(f"layout must be 'wide' or 'long'; {layout!r} was given.")
    outputs, z = _outputs(model), [f"s.{_quoted(name)}" for name in _score_names(model)]
    if layout == "long" and _same(key) in {_same(name) for name in ["feature", "value", *outputs]}:
        raise ValueError(f"key {key!r} is also the name of another column; rename it, for instance in a view.")
    answers = [f"{e} AS {_quoted(n)}" for e, n in zip(_sql_answers(model, z), outputs[len(z) :], strict=True)]
    opening, scores = (_wide if layout == "wide" else _long)(model, table, key, outputs)
    name = _other_than(table, "scores")
    return f"WITH {opening}{name} AS (\n{scores})\nSELECT {', '.join(['s.*', *answers])} FROM {name} AS s;\n"


def _wide(model: Model, table: str, key: str, outputs: list[str]) -> tuple[str, str]:
    columns, W = [f"t.{_quoted(name)}" for name in _columns(model)], model.weights
    offset = [f"t.{_quoted(name)}" for name in [model.input.get("offset")] if name is not None]
    sums = [
        _sum(
            [_sql(b), *offset]
            + [f"{_sql(w)} * coalesce({c}, 0.0)" for c, w in zip(columns, W[:, r].tolist(), strict=True) if w]
        )
        for r, b in enumerate(model.intercept.tolist())
    ]
    picked = ", ".join(f"{s} AS {_quoted(n)}" for s, n in zip(sums, _score_names(model), strict=True))
    names = ", ".join(map(_quoted, outputs))
    zeros = ", ".join(f"0 AS {_quoted(name)}" for name in outputs)
    # A name without its table is ambiguous if the table has it too: an error, in every database.
    checked = f"SELECT t.* FROM {_quoted(table)} AS t CROSS JOIN (SELECT {zeros}) AS results WHERE 0 IN ({names})"
    return "", f"SELECT t.*, {picked} FROM (\n{checked}) AS t"


def _long(model: Model, table: str, key: str, outputs: list[str]) -> tuple[str, str]:
    refuse_offset(model, "a long table of features")
    k, W, weights = len(model.intercept), model.weights, _other_than(table, "weights")
    heads = ", ".join(["feature", *(f"w{r}" for r in range(k))])
    rows = [f"({int(j)}, {', '.join(_sql(w) for w in W[p])})" for p, j in enumerate(model.features)]
    rows = rows or [f"(-1, {', '.join(['0.0'] * k)})"]
    sums = [f"{_sql(b)} + sum(coalesce(d.value * w.w{r}, 0.0))" for r, b in enumerate(model.intercept.tolist())]
    picked = ", ".join(f"{s} AS {_quoted(n)}" for s, n in zip(sums, _score_names(model), strict=True))
    listed = ",\n".join(rows)
    return f"{weights}({heads}) AS (VALUES\n{listed}),\n", (
        f"SELECT d.{_quoted(key)} AS {_quoted(key)}, {picked} FROM {_quoted(table)} AS d "
        f"LEFT JOIN {weights} AS w ON d.feature = w.feature GROUP BY d.{_quoted(key)}"
    )


# Names


def _columns(model: Model) -> list[str]:
    """Return the column of each feature; raise if a feature is not a column, or two are the same."""
    if model.names is None:
        return [f"f{int(j)}" for j in model.features]
    first = len(model.input.get("numbers") or [])
    if model.input.get("categories"):
        for j, name in zip(model.features.tolist(), model.names, strict=True):
            if j >= first:
                raise ValueError(
                    f"A wide table has one column per feature, and {name!r} is a value of a column, not a column. Use "
                    "layout='long' with the numbers of the features that the export to JSON lists."
                )
    for name in model.names:
        if name in model.shared:
            raise ValueError(
                f"{name!r} shares its weight with {model.shared[name]!r} and perhaps others, so it is not one column. "
                "Train with more bits or with exact names (one_hot=True), or use layout='long'."
            )
    if len(set(model.names)) < len(model.names):
        double = next(name for name in model.names if model.names.count(name) > 1)
        raise ValueError(f"Two features are called {double!r}, so a wide table cannot have both; use layout='long'.")
    return model.names


def _score_names(model: Model) -> list[str]:
    return [f"score_{c}" for c in _distinct(model.output_names)]


def _outputs(model: Model) -> list[str]:
    """Return the names of the results: scores, probabilities if there are any, predictions."""
    labels, k = _distinct([str(c) for c in model.labels]), len(model.intercept)
    chances = [f"probability_{c}" for c in labels] if model.kind != "regression" and model.probabilistic else []
    if model.kind == "multilabel":
        answers = [f"prediction_{c}" for c in labels]
    elif model.kind == "regression" and k > 1:
        answers = [f"prediction_{r}" for r in range(k)]
    else:
        answers = ["prediction"]
    return [*_score_names(model), *chances, *answers]


def _distinct(names: list[str]) -> list[str]:
    """Return names that databases can tell apart: as they are, or else numbers."""
    return names if len({_same(name) for name in names}) == len(names) else [str(i) for i in range(len(names))]


def _other_than(table: str, name: str) -> str:
    """Return a name for a part of the query that does not hide the table."""
    return f"{name}_" if _same(table) == name else name


def _same(name: str) -> str:
    return name.casefold()


# Expressions


def _sql_answers(model: Model, z: list[str]) -> list[str]:
    """Return expressions: probabilities if there are any, then the predictions."""
    p, labels = _linked(model.loss, z), [_sql(c) for c in model.labels]
    if model.kind == "regression":
        return p
    answers: list[str] = []
    if model.kind == "binary":
        if model.probabilistic:
            answers = [f"1.0 - {p[0]}", p[0]]
        return [*answers, f"CASE WHEN {z[0]} > 0 THEN {labels[1]} ELSE {labels[0]} END"]
    if model.probabilistic:
        total = f"({' + '.join(p)})"
        answers = (
            p
            if model.kind != "one_vs_rest"
            else [f"CASE WHEN {total} > 0 THEN ({s}) / {total} ELSE {1.0 / len(z)!r} END" for s in p]
        )
    if model.kind == "multilabel":
        return [*answers, *(f"CASE WHEN {s} > 0 THEN 1 ELSE 0 END" for s in z)]
    cases = []
    for r in range(len(z) - 1):  # the first one if scores are equal
        best = [f"{z[r]} > {s}" for s in z[:r]] + [f"{z[r]} >= {s}" for s in z[r + 1 :]]
        cases.append(f"WHEN {' AND '.join(best)} THEN {labels[r]}")
    return [*answers, f"CASE {' '.join(cases)} ELSE {labels[-1]} END"]


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
        return "'" + _whole(value).replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):  # with an exponent, which makes it double precision where decimals exist
        return f"{value:.17e}" if math.copysign(1.0, value) > 0 else f"({value:.17e})"
    return str(value)


def _quoted(name: str) -> str:
    return '"' + _whole(name).replace('"', '""') + '"'


def _whole(word: str) -> str:
    if "\0" in word:
        raise ValueError(f"{word!r} has a NUL character, which ends a query: it cannot be written as SQL.")
    return word
