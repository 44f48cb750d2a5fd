"""Models in other languages: JSON, C, SQL, ONNX. Answers agree with the model's own."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from gossamer import losses
from gossamer.model.model import Model, loss_name
from gossamer.validation import Array

FORMS = ("json", "c", "sql", "onnx")


def _link(model: Model) -> str:
    """Return what makes predictions of scores: "identity", "exp", "sigmoid", "sigmoid2" (of 2z) or "softmax"."""
    if isinstance(model.loss, losses.Poisson):
        return "exp"
    if isinstance(model.loss, losses.Multinomial):
        return "softmax"
    return {losses.Logistic: "sigmoid", losses.Exponential: "sigmoid2"}.get(type(model.loss), "identity")


def _columns(model: Model) -> list[str]:
    """Return what each output is called."""
    if model.classes is None or model.kind == "binary":
        return [f"output_{r}" for r in range(len(model.intercept))]
    return [str(c) for c in model.classes.tolist()]


def to_json(model: Model) -> str:
    """Return the model as JSON: for every feature with weights its number, name and weights by output.

    >>> import gossamer as gs
    >>> model = gs.Model.of(gs.OnlineRegressor(alpha=0.0, method=gs.Fobos(1.0)).fit([[2.0]], [1.0]))
    >>> print(to_json(model)[:54])
    {"kind": "regression", "loss": "squared", "classes": n
    """
    name = loss_name(model.loss)
    rows = [
        {"feature": int(j), "name": model.name(p), "weights": w}
        for p, (j, w) in enumerate(zip(model.features, model.weights.tolist(), strict=True))
    ]
    words = {
        "kind": model.kind,
        "loss": name,
        "classes": None if model.classes is None else model.classes.tolist(),
        "link": _link(model),
        "n_features": model.n_features,
        "intercept": model.intercept.tolist(),
        "input": model.input,
        "features": rows,
    }
    return json.dumps(words, ensure_ascii=False)


# C


def to_c(model: Model, name: str = "model") -> str:
    """Return one C function, `long NAME(n, feature, value, out)`, that needs nothing but libm.

    It takes a sparse row, features in any order, and fills `out`: the probabilities where the loss has them, else the
    scores, or the predictions of regression. It returns the place of the class, 0 for regression.
    """
    if not name.isidentifier() or not name.isascii():
        raise ValueError(f"The name of a C function is needed; {name!r} was given.")
    k = len(model.intercept)
    link = _link(model)
    outs = 2 if model.kind == "binary" and model.probabilistic else k
    comment = ", ".join(json.dumps(c, ensure_ascii=True) for c in _labels(model)).replace("*/", "* /")
    body = {
        "identity": "    for (r = 0; r < {k}; ++r) out[r] = z[r];\n",
        "exp": "    for (r = 0; r < {k}; ++r) out[r] = exp(z[r]);\n",
        "sigmoid": "    for (r = 0; r < {k}; ++r) out[r] = 1.0 / (1.0 + exp(-z[r]));\n",
        "sigmoid2": "    for (r = 0; r < {k}; ++r) out[r] = 1.0 / (1.0 + exp(-2.0 * z[r]));\n",
        "softmax": (
            "    for (r = 0, sum = 0.0; r < {k}; ++r) sum += out[r] = exp(z[r] - z[best]);\n"
            "    for (r = 0; r < {k}; ++r) out[r] /= sum;\n"
        ),
    }[link].format(k=k)
    if outs == 2 and model.kind == "binary":
        body += "    out[1] = out[0]; out[0] = 1.0 - out[1];\n"
    if model.kind == "one_vs_rest" and model.probabilistic:
        body += (
            f"    for (r = 0, sum = 0.0; r < {k}; ++r) sum += out[r];\n"
            f"    for (r = 0; r < {k}; ++r) out[r] = sum > 0 ? out[r] / sum : 1.0 / {k};\n"
        )
    answer = {"binary": "z[0] > 0", "regression": "0", "multilabel": "0"}.get(model.kind, "best")
    return f"""/* A linear model written by gossamer. Answers: {comment or "numbers"}.
   long {name}(long n, const long long *feature, const double *value, double *out)
   A row has n entries: features (from 0) and their values. Fills {outs} numbers; returns the place of the answer. */
#include <math.h>

long {name}(long n, const long long *feature, const double *value, double *out) {{
    static const long long features[] = {{{_c_numbers(model.features) or "0"}}};
    static const long starts[] = {{{_c_numbers(model.starts)}}};
    static const int output[] = {{{_c_numbers(model.output) or "0"}}};
    static const double weight[] = {{{_c_numbers(model.value) or "0"}}};
    double z[] = {{{_c_numbers(model.intercept)}}}, sum = 0.0;
    long i, m, low, high, mid, r, best = 0;
    for (i = 0; i < n; ++i) {{
        for (low = 0, high = {len(model.features)}; low < high;) {{
            mid = low + (high - low) / 2;
            if (features[mid] < feature[i]) low = mid + 1; else high = mid;
        }}
        if (low == {len(model.features)} || features[low] != feature[i]) continue;
        for (m = starts[low]; m < starts[low + 1]; ++m) z[output[m]] += value[i] * weight[m];
    }}
    for (r = 1; r < {k}; ++r) if (z[r] > z[best]) best = r;
{body}    (void)sum; (void)best;
    return {answer};
}}
"""


def _c_numbers(values: Array) -> str:
    return ", ".join(repr(v) + ("LL" if abs(v) > 2**31 - 1 and isinstance(v, int) else "") for v in values.tolist())


def _labels(model: Model) -> list[Any]:
    return [] if model.classes is None else model.classes.tolist()


# SQL


def to_sql(model: Model, table: str = "data", layout: str = "wide", key: str = "id") -> str:
    """Return one SELECT that gives the predictions for a table.

    "wide": a column a feature, named as the features are (`f12` for feature 12 where they have no names). "long": rows
    of `key`, `feature` (the number), `value`. Columns of the answer: the key (long), `score_…`, `probability_…` where
    the loss has probabilities, and `prediction`.
    """
    if layout not in ("wide", "long"):
        raise ValueError(f"layout must be 'wide' or 'long'; {layout!r} was given.")
    k = len(model.intercept)
    W = model.weights
    named = [_quoted(f"score_{c}") for c in _columns(model)]
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
    """Return expressions and their names: probabilities where there are any, then the prediction."""
    link, labels = _link(model), [_sql(c) for c in _labels(model)]
    names = [f"probability_{c}" for c in _labels(model)]
    if model.kind == "regression":
        means = [_exp(s) if link == "exp" else s for s in z]
        return list(
            zip(means, ["prediction"] if len(z) == 1 else [f"prediction_{r}" for r in range(len(z))], strict=True)
        )
    twice = "2.0 * " if link == "sigmoid2" else ""
    p = [f"1.0 / (1.0 + {_exp(f'-({twice}{s})')})" for s in z]
    if link == "softmax":
        p = [f"1.0 / ({' + '.join(_exp(f'({other}) - ({s})') for other in z)})" for s in z]
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
                for s, c in zip(z, _labels(model), strict=True)
            ),
        ]
    cases = []
    for r in range(len(z) - 1):  # of equal scores the first one is taken
        best = [f"{z[r]} > {s}" for s in z[:r]] + [f"{z[r]} >= {s}" for s in z[r + 1 :]]
        cases.append(f"WHEN {' AND '.join(best)} THEN {labels[r]}")
    return [*answers, (f"CASE {' '.join(cases)} ELSE {labels[-1]} END", "prediction")]


def _exp(z: str) -> str:
    """Return exp, kept from overflowing, which some databases take for an error."""
    return f"exp(CASE WHEN {z} > 700.0 THEN 700.0 ELSE {z} END)"


def _sum(terms: list[str]) -> str:
    """Return a sum as a balanced tree: databases limit how deep an expression is."""
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


# ONNX


def to_onnx(model: Model) -> bytes:
    """Return an ONNX graph in double precision: input `X`, outputs `label` and `probabilities`, or `variable`.

    Only the columns with weights are looked at. Where the loss has no probabilities the scores stand in their place,
    called `scores`.
    """
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError:
        raise ImportError("ONNX needs the package onnx: pip install 'gossamer[onnx]'.") from None
    k, link = len(model.intercept), _link(model)
    nodes, constants = [], []

    def constant(name: str, array: Array) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(kind: str, inputs: list[str], output: str, **settings: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], **settings))
        return output

    if len(model.features):
        picked = node("Gather", ["X", constant("features", model.features)], "picked", axis=1)
        product = node("MatMul", [picked, constant("W", model.weights)], "product")
    else:
        first = node("Gather", ["X", constant("features", np.zeros(1, np.int64))], "picked", axis=1)
        product = node("MatMul", [first, constant("W", np.zeros((1, k)))], "product")
    z = node("Add", [product, constant("b", model.intercept)], "z")
    outputs = []
    if model.kind == "regression":
        name = node("Exp", [z], "variable") if link == "exp" else node("Identity", [z], "variable")
        outputs.append(helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None, k]))
    else:
        zero = constant("zero", np.zeros(1))
        if link == "softmax":
            p = node("Softmax", [z], "p", axis=1)
        elif link in ("sigmoid", "sigmoid2"):
            inner = z if link == "sigmoid" else node("Mul", [z, constant("two", np.array([2.0]))], "twice")
            p = node("Sigmoid", [inner], "p")
        else:
            p = z
        if model.kind == "binary" and model.probabilistic:
            rest = node("Sub", [constant("one", np.ones(1)), p], "rest")
            p = node("Concat", [rest, p], "both", axis=1)
        if model.kind == "one_vs_rest" and model.probabilistic:
            total = node("ReduceSum", [p, constant("axis", np.array([1], np.int64))], "total", keepdims=1)
            p = node("Div", [p, total], "shares")
        name = node("Identity", [p], "probabilities" if model.probabilistic else "scores")
        if model.kind == "multilabel":
            label = node("Cast", [node("Greater", [z, zero], "above")], "label", to=TensorProto.INT64)
            outputs.append(helper.make_tensor_value_info(label, TensorProto.INT64, [None, k]))
        else:
            if model.kind == "binary":
                above = node("Cast", [node("Greater", [z, zero], "above")], "place", to=TensorProto.INT64)
                place = node("Squeeze", [above, constant("columns", np.array([1], np.int64))], "flat")
            else:
                place = node("ArgMax", [z], "flat", axis=1, keepdims=0)
            assert model.classes is not None
            words = model.classes.dtype.kind == "U"
            if words:
                values = helper.make_tensor(
                    "classes", TensorProto.STRING, [len(model.classes)], [c.encode() for c in model.classes.tolist()]
                )
                constants.append(values)
            else:
                whole = model.classes.dtype.kind in "biu"
                constant("classes", model.classes.astype(np.int64 if whole else np.float64))
            label = node("Gather", ["classes", place], "label", axis=0)
            kind = TensorProto.STRING if words else TensorProto.INT64 if whole else TensorProto.DOUBLE
            outputs.append(helper.make_tensor_value_info(label, kind, [None]))
        outputs.append(helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None, None]))
    x = helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, max(model.n_features, 1)])
    graph = helper.make_graph(nodes, "gossamer", [x], outputs, constants)
    made = helper.make_model(graph, producer_name="gossamer", opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(made)
    return bytes(made.SerializeToString())
