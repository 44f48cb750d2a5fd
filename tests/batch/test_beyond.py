"""Minimising over sources in bounded memory: the answer of `fit`, by several passes, with a proof."""

import math
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import ConvergenceWarning

import gossamer as gs
from gossamer.batch import beyond
from gossamer.model.model import from_weights

ROWS, COLUMNS = 4000, 400


def problem(seed=0, rows=ROWS):
    """Sparse rows, scores with 12 weights, labels and numbers."""
    random = np.random.default_rng(seed)
    X = sp.random(rows, COLUMNS, 0.03, format="csr", random_state=seed, data_rvs=random.standard_normal)
    w = np.zeros(COLUMNS)
    w[random.choice(COLUMNS, 12, replace=False)] = 3 * random.standard_normal(12)
    z = X @ w
    return X, np.where(z + random.logistic(size=rows) > 0.3, 1, -1), z + random.standard_normal(rows) + 5


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The two problems as svmlight files."""
    folder = tmp_path_factory.mktemp("beyond")
    X, labels, numbers = problem()
    for name, y in (("labels", labels), ("numbers", numbers)):
        dump_svmlight_file(X, y, str(folder / f"{name}.svm"), zero_based=False)
    return folder


def models(loss, **settings):
    classifier = loss in ("logistic", "hinge", "squared_hinge")
    return (gs.BatchClassifier if classifier else gs.BatchRegressor)(loss, **settings), classifier


SMALL = 1.6e6  # bytes: a few of the columns fit


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", "squared", "huber", "quantile"])
@pytest.mark.parametrize(
    "penalty", ["l1", gs.ElasticNet(0.8), gs.GroupL2(groups=[range(i, i + 4) for i in range(0, 400, 4)])]
)
def test_the_answer_is_that_of_fit(files, loss, penalty):
    model, classifier = models(loss, penalty=penalty, alpha=0.01, tol=1e-6)
    path = files / ("labels.svm" if classifier else "numbers.svm")
    X, y = gs.read(path)
    whole = models(loss, penalty=penalty, alpha=0.01, tol=1e-6)[0].fit(X, y)
    few = model.fit_source(path, memory=SMALL)
    assert few.n_passes_ >= 3
    assert few.certificate_ == "duality gap"
    assert few.objective_ - whole.objective_ <= few.dual_gap_ + 1e-12
    assert whole.objective_ - few.objective_ <= whole.dual_gap_ + 1e-12
    assert few.dual_gap_ <= 1e-6 * np.abs(y).max() ** 2 / 2
    assert few.n_features_in_ == COLUMNS
    np.testing.assert_allclose(few.predict(X[:50]), whole.predict(X[:50]), atol=1e-2)


def test_what_fits_is_read_once(files):
    model = gs.BatchClassifier(alpha=0.01).fit_source(files / "labels.svm")
    assert model.n_passes_ == 1
    X, y = gs.read(files / "labels.svm")
    assert model.objective_ == pytest.approx(gs.BatchClassifier(alpha=0.01).fit(X, y).objective_, abs=1e-5)


@pytest.mark.parametrize(("loss", "alpha"), [("logistic", 0.002), ("squared", 0.005)])
def test_what_does_not_fit_is_solved_by_passes(files, loss, alpha):
    """The columns that matter are several times too many."""
    model, classifier = models(loss, alpha=alpha, tol=1e-6)
    path = files / ("labels.svm" if classifier else "numbers.svm")
    whole = models(loss, alpha=alpha, tol=1e-6)[0].fit(*gs.read(path))
    few = model.fit_source(path, memory=8.5e5)
    assert abs(few.objective_ - whole.objective_) <= 1e-6 * (1 if classifier else 30)
    assert few.n_passes_ > 6


def test_a_kinked_loss_that_does_not_fit_says_so(files):
    model = gs.BatchClassifier("hinge", alpha=0.002)
    with pytest.warns(ConvergenceWarning, match=r"columns that matter need about .* Hinge is solved in memory only"):
        model.fit_source(files / "labels.svm", memory=8e5)
    X, y = gs.read(files / "labels.svm")
    best = gs.BatchClassifier("hinge", alpha=0.002).fit(X, y)
    assert model.objective_ - best.objective_ <= model.dual_gap_


def test_too_little_memory_is_said_before_anything_is_solved(files):
    with pytest.raises(MemoryError, match=r"4,000 rows and 400 columns need about .* are allowed"):
        gs.BatchClassifier().fit_source(files / "labels.svm", memory=1e5)
    with pytest.raises(MemoryError, match=r"couples all columns"):
        gs.BatchClassifier(penalty=gs.L1Ball(1.0)).fit_source(files / "labels.svm", memory=SMALL)
    with pytest.raises(ValueError, match="memory must be a number of bytes"):
        gs.BatchClassifier().fit_source(files / "labels.svm", memory="much")


@pytest.mark.parametrize("classes", [2, 4])
def test_tables_weights_classes_and_offsets(tmp_path, classes):
    """A CSV file with numbers, categories, row weights and (for two classes) offsets."""
    random = np.random.default_rng(1)
    n = 3000
    size, kinds = random.normal(50, 2, n), random.integers(0, 40, (n, 8))
    effect = random.standard_normal((40, classes)) * (np.arange(40) < 9)[:, None]
    z = effect[kinds[:, 0]] + np.outer((size - 50) / 2, np.arange(classes))
    y = np.argmax(z + random.gumbel(size=z.shape), axis=1)
    path, shift = tmp_path / "table.csv", random.normal(size=n).round(3)
    lines = ["size,weight,shift,target," + ",".join(f"kind{j}" for j in range(8))]
    for i in range(n):
        lines.append(f"{size[i]:.4f},{1 + i % 3},{shift[i]},c{y[i]}," + ",".join(f"k{k}" for k in kinds[i]))
    path.write_text("\n".join(lines) + "\n")
    options = {"target": "target", "weight": "weight", "one_hot": True}
    options |= {"offset": "shift"} if classes == 2 else {"ignore": ["shift"]}
    settings = {"alpha": 0.004, "tol": 1e-6, "class_weight": "balanced"}
    whole = gs.BatchClassifier(**settings).fit(path, **options)
    few = gs.BatchClassifier(**settings).fit_source(path, memory=1.2e6 if classes == 2 else 2.5e6, **options)
    assert few.n_passes_ > 1
    assert few.classes_.tolist() == whole.classes_.tolist()
    assert few.objective_ == pytest.approx(whole.objective_, abs=1e-5)
    assert few.source_names_.items() <= dict(enumerate(few.feature_names_in_)).items()
    more = {"offset": shift} if classes == 2 else {}
    assert (few.predict(path, **more) == whole.predict(path, **more)).mean() > 0.999


def test_standardized_columns():
    X, y, _ = problem(6, 1500)
    X = (X @ sp.diags_array(10.0 ** (np.arange(COLUMNS) % 5))).tocsr()
    weight = 1.0 + np.arange(1500) % 2
    settings = {"alpha": 0.03, "tol": 1e-7, "standardize": True}
    whole = gs.BatchClassifier(**settings).fit(X, y, weight)
    for memory in (6e5, None):
        few = gs.BatchClassifier(**settings).fit_source(gs.source((X, y, weight)), memory=memory)
        assert (few.n_passes_ > 1) == (memory is not None)
        assert few.objective_ == pytest.approx(whole.objective_, abs=1e-7)
        np.testing.assert_allclose(few.coef_, whole.coef_, rtol=1e-2, atol=1e-9)
    with pytest.raises(ValueError, match="standardize"):
        gs.certify(whole, (X, y, weight))


def test_rows_without_weight_do_not_count(tmp_path):
    X, y, _ = problem(2, 1500)
    weight = (np.arange(1500) % 3).astype(float)
    source = gs.source((X, y, weight))
    few = gs.BatchClassifier(alpha=0.01, tol=1e-7).fit_source(source, memory=6e5)
    whole = gs.BatchClassifier(alpha=0.01, tol=1e-7).fit(X, y, weight)
    assert few.n_passes_ > 1
    assert few.objective_ == pytest.approx(whole.objective_, abs=1e-7)


def test_without_penalty_there_is_a_residual(files):
    model = gs.BatchRegressor(penalty=gs.L1(weights=np.arange(COLUMNS) > 2), alpha=0.05).fit_source(
        files / "numbers.svm", memory=SMALL
    )
    X, y = gs.read(files / "numbers.svm")
    whole = gs.BatchRegressor(penalty=gs.L1(weights=np.arange(COLUMNS) > 2), alpha=0.05).fit(X, y)
    assert model.certificate_ == "prox-gradient residual"
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-4)


def test_sources_that_cannot_be_read_again_and_changed_ones(files, tmp_path):
    X, y, _ = problem()
    with pytest.raises(ValueError, match="can be read only once"):
        gs.BatchClassifier().fit_source(pair for pair in [(X, y)])
    source = gs.source((X, y))
    blocks, calls = source.blocks, []

    def fewer(start=None):
        calls.append(1)
        for number, block in enumerate(blocks(start)):
            if len(calls) == 1 or number == 0:
                yield block if len(calls) == 1 else block.taken(np.arange(100))

    source.blocks = fewer
    with pytest.raises(ValueError, match="it was changed"):
        gs.BatchClassifier(alpha=0.01).fit_source(source, memory=SMALL)


def test_an_estimator_that_raised_is_as_before(files):
    model = gs.BatchClassifier(alpha=0.02).fit_source(files / "labels.svm")
    before = dict(vars(model))
    with pytest.raises(MemoryError):
        model.fit_source(files / "labels.svm", memory=1e5)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


def test_memory_is_bounded(tmp_path):
    """Arrays stay below what is allowed, and far below what the whole problem takes."""
    X, _, y = problem(3, 20_000)
    dump_svmlight_file(X, y, str(tmp_path / "long.svm"), zero_based=False)
    del X, y
    tracemalloc.start()
    gs.BatchRegressor(alpha=0.03).fit_source(tmp_path / "long.svm", memory=8e6)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8e6 + 10e6  # blocks that are read ahead come on top


def test_ctrl_c_keeps_the_best(files, monkeypatch):
    gathered, calls = beyond.Passes.gathered, []

    def interrupted(*given):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return gathered(*given)

    monkeypatch.setattr(beyond.Passes, "gathered", interrupted)
    with pytest.warns(UserWarning, match="Interrupted after"):
        model = gs.BatchRegressor(alpha=0.003, tol=1e-9).fit_source(files / "numbers.svm", memory=1.2e6)
    assert math.isfinite(model.dual_gap_)
    calls.append(1)
    monkeypatch.setattr(beyond.Passes, "gradient", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        gs.BatchRegressor(alpha=0.003).fit_source(files / "numbers.svm", memory=1.2e6)


# Certificates of any model


@pytest.mark.parametrize(
    "loss", ["logistic", "squared_hinge", "exponential", "squared", "huber", "log_epsilon_insensitive"]
)
@pytest.mark.parametrize("intercept", [True, False])
def test_one_pass_proves_what_fit_proves(loss, intercept):
    X, labels, numbers = problem(4, 800)
    classifier = loss in ("logistic", "squared_hinge", "exponential")
    y = labels if classifier else numbers
    kind = gs.BatchClassifier if classifier else gs.BatchRegressor
    model = kind(loss, alpha=0.02, tol=1e-7, fit_intercept=intercept).fit(X, y)
    proof = gs.certify(model, (X, y))
    assert proof.objective == pytest.approx(model.objective_, rel=1e-12)
    assert proof.reason == ""
    assert proof.gap <= 2 * model.dual_gap_ + 1e-7 * abs(proof.objective)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("penalty", ["l1", "elastic_net", "group_l2"])
def test_the_bound_holds_for_every_model(seed, penalty):
    X, labels, numbers = problem(seed, 600)
    for loss, y in (("logistic", labels), ("hinge", labels), ("squared", numbers), ("quantile", numbers)):
        classifier = loss in ("logistic", "hinge")
        best = (gs.BatchClassifier if classifier else gs.BatchRegressor)(loss, penalty, 0.01, tol=1e-8).fit(X, y)
        online = (gs.OnlineClassifier if classifier else gs.OnlineRegressor)(loss, penalty, 0.01).fit(X, y)
        proof = gs.certify(online, (X, y))
        assert proof.bound <= best.objective_
        assert proof.objective >= best.objective_ - best.dual_gap_


def test_what_has_no_bound_says_why():
    X, labels, _ = problem(5, 300)
    proof = gs.certify(gs.BatchClassifier(alpha=0.0, max_iter=3, tol=1e9).fit(X, labels), (X, labels))
    assert proof.gap == math.inf
    assert "without a penalty" in proof.reason
    with pytest.raises(ValueError, match="does not say by which penalty"):
        gs.certify(
            from_weights(
                gs.Model.of(gs.BatchClassifier(alpha=0.1).fit(X, labels)).targets,
                np.zeros((COLUMNS, 1)),
                np.zeros(1),
                facts={"alpha": 0.1},
            ),
            (X, labels),
        )
