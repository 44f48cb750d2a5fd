"""The rule without a step keeps floats: over long streams their sums are right in the mean, though each is rounded.

GOSSAMER_ROUNDS=10000000 runs the long form.
"""

import os

import numpy as np
import pytest
import scipy.sparse as sp

import gossamer as gs

ROUNDS = int(os.environ.get("GOSSAMER_ROUNDS", "1000000"))
CHUNK = 250_000
FORMS = {
    "one output": (gs.OnlineClassifier, {"alpha": 1e-4}),
    "a path": (gs.OnlineClassifierCV, {"alphas": [1e-3, 1e-4]}),
    "rows": (gs.OnlineClassifier, {"alpha": 1e-4, "penalty": "elastic_net"}),
}


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_units_and_squares_do_not_drift(form, center):
    """q is the root mean square, S the sum of squared gradients in these units, of a feature that all rows have."""
    make, settings = FORMS[form]
    model, random = make(center=center, method="step_free", **settings), np.random.default_rng(0)
    squares, rows, slope_squares = 0.0, 0, 0.0
    for _ in range(0, ROUNDS, CHUNK):
        x = random.normal(size=CHUNK)
        y = (random.random(CHUNK) < 0.7).astype(int)
        X = x[:, None] if center else sp.csr_array(x[:, None])
        model.partial_fit(X, y, classes=[0, 1])
        squares, rows = squares + float(x @ x), rows + CHUNK
        slope_squares += float(np.sum((0.7 - y) ** 2 * x**2))  # y does not depend on x: the model is the constant
    state = model._trainer.learner.state()
    units = state["slots"][:2] if "units" not in state else state["units"][:2]
    S = state["slots"][2] if "units" not in state else state["slots"][0]
    q = np.sqrt(squares / rows)
    off = units[0] / q - 1, units[1] / rows - 1, S / (slope_squares / q**2) - 1
    print(f"{form}, centred: {center}: q, n and S are off by {', '.join(f'{x:.1e}' for x in off)} after {rows} rows")
    assert abs(off[0]) < 1e-3
    assert abs(off[1]) < 1e-3
    assert abs(off[2]) < 2e-2
