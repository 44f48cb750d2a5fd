"""A demonstration: two online methods compared on data that comes with scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from gossamer.online.estimators import OnlineClassifier

STRENGTHS = (1e-4, 1e-3, 1e-2)


def show() -> None:
    """Print the tables."""
    X, y = load_digits(return_X_y=True)
    # Products of neighbouring pixels are added: more features than a model should keep.
    X = np.hstack([X / 16, (X[:, 1:] / 16) * (X[:, :-1] / 16)])
    X, Xt, y, yt = train_test_split(X, y, test_size=0.3, random_state=0)
    print(f"Handwritten digits: {len(y)} examples, {X.shape[1]} features, 10 classes; multinomial loss, one pass\n")
    print(f"{'':<22}{'AdaGrad':>24}{'FOBOS':>24}")
    print(f"{'penalty':<12}{'alpha':>10}" + f"{'test error':>13}{'features':>11}" * 2)
    for penalty in ("l1", "group_l2"):
        for alpha in STRENGTHS:
            line = f"{penalty:<12}{alpha:>10.0e}"
            for method in ("adagrad", "fobos"):
                model = OnlineClassifier("multinomial", penalty, alpha, method, random_state=0)
                model.fit(X, y)
                line += f"{1 - model.score(Xt, yt):>13.3f}{len(model.nonzero_features_):>11}"
            print(line)

    print("\nThe same model, row by row: the result does not depend on how the data is cut into calls")
    rows = OnlineClassifier("multinomial", "group_l2", 1e-3, shuffle=False)
    for i in range(len(y)):
        rows.partial_fit(X[i : i + 1], y[i : i + 1], classes=range(10))
    whole = OnlineClassifier("multinomial", "group_l2", 1e-3, shuffle=False).fit(X, y)
    print(f"largest difference of the weights: {np.abs(rows.coef_ - whole.coef_).max():.1e}")
    print(f"progressive loss {rows.progressive_loss_:.4f}, features used {len(rows.nonzero_features_)} of {X.shape[1]}")
