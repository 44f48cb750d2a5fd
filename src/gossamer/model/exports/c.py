"""Export of a model as one C function."""

from __future__ import annotations

import json
from typing import assert_never

from gossamer.losses import Link, Loss
from gossamer.model.model import Model, is_code
from gossamer.validation import Array


def to_c(model: Model, name: str = "model") -> str:
    """Return one C function, `long NAME(n, feature, value, out)`, that needs nothing but libm.

    It takes a sparse row, features in any order, and fills `out` with the probabilities if the loss has them, otherwise
    with the scores, or with the predictions of regression. It returns the index of the class, 0 for regression.
    """
    if not name.isidentifier() or not name.isascii():
        raise ValueError(f"name must be the name of a C function; {name!r} was given.")
    k = len(model.intercept)
    outs = 2 if model.kind == "binary" and model.probabilistic else k
    comment = ", ".join(json.dumps(c, ensure_ascii=True) for c in model.labels).replace("*/", "* /")
    body = _linked(model.loss, k)
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


def _linked(loss: Loss, k: int) -> str:
    """Return the lines that fill `out` with what the loss predicts from `z`."""
    each = f"    for (r = 0; r < {k}; ++r) out[r] ="
    match loss.predicts:
        case Link.IDENTITY:
            return f"{each} z[r];\n"
        case Link.EXP:
            return f"{each} exp(z[r]);\n"
        case Link.SIGMOID:
            return f"{each} 1.0 / (1.0 + exp(-z[r]));\n"
        case Link.SIGMOID_OF_TWICE:
            return f"{each} 1.0 / (1.0 + exp(-2.0 * z[r]));\n"
        case Link.SOFTMAX:
            return (
                f"    for (r = 0, sum = 0.0; r < {k}; ++r) sum += out[r] = exp(z[r] - z[best]);\n"
                f"    for (r = 0; r < {k}; ++r) out[r] /= sum;\n"
            )
        case Link.OWN:
            raise is_code(loss)
        case unknown:
            assert_never(unknown)
