"""Write model files of this version for model/test_model.py; files of earlier versions stay as they are."""

import json
from pathlib import Path

import numpy as np

import gossamer as gs
from gossamer.model.model import SCHEMA

FOLDER = Path(__file__).parent / "fixtures"


def main() -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(40, 5)), 2)
    z = X @ rng.normal(size=(5, 3))
    made = {
        "binary": gs.OnlineClassifier(alpha=0.05, random_state=0).fit(X, np.where(z[:, 0] > 0, "yes", "no")),
        "multinomial": gs.OnlineClassifier(alpha=0.02, random_state=0).fit(X, np.argmax(z, axis=1)),
        "multilabel": gs.OnlineClassifier(alpha=0.02, random_state=0).fit(X, (z > 0).astype(int)),
        "regression": gs.OnlineRegressor("huber", alpha=0.02, random_state=0).fit(X, z[:, 0]),
    }
    for name, estimator in made.items():
        path = FOLDER / f"v{SCHEMA}-{name}.gsm"
        gs.save(estimator, path)
        model = gs.load(path)
        answers, scores = model.predict(X[:8]).tolist(), model.decision_function(X[:8]).tolist()
        path.with_suffix(".json").write_text(json.dumps({"X": X[:8].tolist(), "answers": answers, "scores": scores}))


if __name__ == "__main__":
    main()
