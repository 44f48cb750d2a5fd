"""Cross-validation in batch: which strength is chosen, where it ends, what it shows, and what Ctrl-C leaves."""

import os

import numpy as np
import pytest
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold

import gossamer as gs
from gossamer.batch import cv

PROBLEMS = int(os.environ.get("GOSSAMER_PROBLEMS", "16"))  # 100 in the long form


def drawn(seed):
    """A random problem of regression, and many more rows of it."""
    random = np.random.default_rng(seed)
    n, d, k = int(random.integers(60, 200)), int(random.integers(5, 60)), int(random.integers(1, 6))
    w, noise, alike = np.zeros(d), float(random.uniform(0.3, 3)), random.uniform(0, 0.7)
    w[:k] = random.standard_normal(k)

    def rows(m):
        X = random.standard_normal((m, d))
        X[:, 1:] += alike * X[:, :-1]
        return X, X @ w + noise * random.standard_normal(m)

    return *rows(n), *rows(4000)


def test_the_chosen_strength_is_within_a_standard_error_of_the_best():
    """By the loss on new rows; LassoCV with the same folds chooses alike."""
    within = np.zeros(3, int)
    same = 0
    for seed in range(PROBLEMS):
        X, y, X_new, y_new = drawn(seed)
        folds = KFold(5, shuffle=True, random_state=0)
        model = gs.BatchRegressorCV(alphas=20, select="best", cv=folds, n_jobs=1).fit(X, y)
        sparse = gs.BatchRegressorCV(alphas=20, cv=folds, n_jobs=1).fit(X, y)
        theirs = LassoCV(alphas=model.alphas_, cv=folds, max_iter=50_000).fit(X, y)
        pairs = zip(model.coef_path_, model.intercept_path_, strict=True)
        risk = np.array([np.mean((y_new - X_new @ c.toarray()[0] - b) ** 2) / 2 for c, b in pairs])
        same += bool(np.isclose(model.alpha_, theirs.alpha_, rtol=1e-9))
        for i, alpha in enumerate((model.alpha_, sparse.alpha_, theirs.alpha_)):
            chosen = int(np.argmin(np.abs(model.alphas_ - alpha)))
            within[i] += risk[chosen] - risk.min() <= model.path_loss_se_[chosen]
    assert within[0] >= 0.92 * PROBLEMS
    assert within[1] >= 0.88 * PROBLEMS  # it is asked to be sparse
    assert within[0] >= within[2] - 1
    assert same >= 0.95 * PROBLEMS


def test_a_grid_ends_where_weaker_strengths_get_worse():
    X, y, *_ = drawn(1)
    model = gs.BatchRegressorCV(alphas=100, alpha_min_ratio=1e-5).fit(X, y)
    judged = np.isfinite(model.path_loss_)
    assert 10 < judged.sum() < 100
    assert judged[: judged.sum()].all()
    every = gs.BatchRegressorCV(alphas=model.alphas_).fit(X, y)  # strengths that were named are all judged
    assert np.isfinite(every.path_loss_).all()
    assert every.alpha_ == model.alpha_
    np.testing.assert_array_equal(every.path_loss_[judged], model.path_loss_[judged])
    assert len(model.coef_path_) == 100


def test_the_choice_does_not_depend_on_threads():
    X, y, *_ = drawn(2)
    one, two = (gs.BatchRegressorCV(alphas=30, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.path_loss_, two.path_loss_)
    assert one.alpha_ == two.alpha_


def test_progress_names_fold_and_strength(capsys):
    X, y, *_ = drawn(3)
    gs.BatchRegressorCV(alphas=20, cv=3, verbose=1).fit(X, y)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("fold")]
    assert lines[0].startswith("fold 1 of 3: 10 of 20 strengths, loss ")
    assert len(lines) >= 3


@pytest.mark.parametrize("after", [2, 13, 47])
def test_ctrl_c_leaves_a_choice_by_what_was_judged(monkeypatch, after):
    X, y, *_ = drawn(4)
    whole = gs.BatchRegressorCV(alphas=list(np.geomspace(1, 0.01, 20)), n_jobs=1).fit(X, y)
    go, calls = cv._Fold.go, []

    def interrupted(fold, end):
        for upto in range(len(fold.losses) + 1, end + 1):
            if len(calls) == after:
                raise KeyboardInterrupt
            calls.append(upto)
            go(fold, upto)
        return fold

    monkeypatch.setattr(cv._Fold, "go", interrupted)
    with pytest.warns(UserWarning, match=r"Interrupted: alpha_ is chosen by \d of 5 folds"):
        model = gs.BatchRegressorCV(alphas=list(np.geomspace(1, 0.01, 20)), n_jobs=1).fit(X, y)
    known = np.isfinite(model.path_loss_)
    assert known.any()
    assert model.alpha_ in model.alphas_[known]
    np.testing.assert_array_equal(model.alphas_, whole.alphas_)
