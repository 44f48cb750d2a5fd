"""Export of a model as JSON: all that prediction needs."""

from __future__ import annotations

import json

from gossamer.model.model import Model, loss_name


def to_json(model: Model) -> str:
    """Return the model as JSON: the number, name and weights of every feature with weights.

    >>> import gossamer as gs
    >>> model = gs.Model.of(gs.OnlineRegressor(alpha=0.0, method=gs.Fobos(1.0)).fit([[2.0]], [1.0]))
    >>> print(to_json(model)[:54])
    {"kind": "regression", "loss": "squared", "classes": n
    """
    rows = [
        {"feature": int(j), "name": model.name(p), "weights": w}
        for p, (j, w) in enumerate(zip(model.features, model.weights.tolist(), strict=True))
    ]
    words = {
        "kind": model.kind,
        "loss": loss_name(model.loss),
        "classes": None if model.classes is None else model.classes.tolist(),
        "link": model.loss.predicts.value,
        "n_features": model.n_features,
        "intercept": model.intercept.tolist(),
        "input": model.input,
        "features": rows,
    }
    return json.dumps(words, ensure_ascii=False)
