"""Threads at once: readers, lanes, batch solvers, boosting and predictions give what one thread gives.

`make sanitize-threads` runs this file on a core with the thread sanitizer.
"""

import gzip
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import gossamer as gs

random = np.random.default_rng(0)
X = sp.random_array((3000, 400), density=0.05, rng=random).tocsr()
REAL = np.asarray(X @ random.normal(size=400)).ravel()
TWO, THREE = (REAL > 0).astype(int), np.digitize(REAL, np.quantile(REAL, [0.3, 0.7]))


def at_once(work, count=4, times=3):
    """Return the results of some threads that do the same work."""
    results, start = [], threading.Barrier(count)

    def run():
        start.wait()
        for _ in range(times):
            results.append(work())

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == count * times
    return results


def text_of(kind):
    rows = [X[[i]] for i in range(400)]
    pairs = [list(zip(r.indices.tolist(), r.data.tolist(), strict=True)) for r in rows]
    if kind == "svm":
        return "".join(f"{TWO[i]} " + " ".join(f"{j + 1}:{x:.4f}" for j, x in p) + "\n" for i, p in enumerate(pairs))
    if kind == "vw":
        return "".join(f"{TWO[i]} | " + " ".join(f"w{j}:{x:.4f}" for j, x in p) + "\n" for i, p in enumerate(pairs))
    return "a,b,y\n" + "".join(f"{p[0][1] if p else 0},c{len(p)},{TWO[i]}\n" for i, p in enumerate(pairs))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["svm", "vw", "csv"])
def test_readers(tmp_path, kind, packed):
    path = tmp_path / f"a.{kind}{'.gz' * packed}"
    data = text_of(kind).encode()
    path.write_bytes(gzip.compress(data) if packed else data)

    def rows():
        source = gs.source(path, block=2000)
        count = sum(len(block) for block in source.blocks())
        source.name(0)  # the table of names is asked while another thread may read
        return count

    assert set(at_once(rows, 2)) == {400}


def test_names_are_asked_while_a_thread_reads(tmp_path):
    path = tmp_path / "a.vw"
    path.write_text(text_of("vw"))
    source = gs.source(path, block=1000, bits=12)
    for block in source.blocks():
        assert all(source.name(j) for j in block.index[:5].tolist())


@pytest.mark.parametrize("packed", [False, True])
def test_tables(tmp_path, packed):
    """Words, dates, numbers with gaps, products: encoded by a thread while others read the same file."""
    path = tmp_path / f"a.csv{'.gz' * packed}"
    rows = [
        f"2024-01-{1 + i % 28:02d},c{i % 40},word{i % 7} and word{i % 11},{'' if i % 5 == 0 else i / 7},{TWO[i]}\n"
        for i in range(1500)
    ]
    data = ("day,city,say,x,y\n" + "".join(rows)).encode()
    path.write_bytes(gzip.compress(data) if packed else data)

    def learned():
        roles = {"say": "text", "day": "date", "city": "category"}
        model = gs.OnlineClassifier().fit(path, roles=roles, interactions=[("city", "say")], ngrams=2, block=3000)
        return model.coef_.tobytes()

    assert len(set(at_once(learned, 2))) == 1


@pytest.mark.parametrize("data", [X, X.toarray()], ids=["sparse", "dense"])
@pytest.mark.parametrize("method", [gs.StepFree(), gs.AdaGrad(), gs.Fobos(), gs.RDA()], ids=str)
def test_lanes(method, data):
    one, many = (gs.OnlineClassifierCV(method=method, n_jobs=n, random_state=0).fit(data, TWO) for n in (1, 4))
    np.testing.assert_array_equal(one.coef_, many.coef_)


@pytest.mark.parametrize("data", [X, X.toarray()], ids=["sparse", "dense"])
def test_batches_of_rows(data):
    settings = {"method": gs.Fobos(0.5), "batch_size": 1000, "random_state": 0}
    one, many = (gs.OnlineClassifierCV(n_jobs=n, **settings).fit(data, TWO) for n in (1, 4))
    np.testing.assert_array_equal(one.coef_, many.coef_)


@pytest.mark.parametrize("data", [X[:400], X[:400, :40].toarray()], ids=["sparse", "dense"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three"])
def test_batch(y, data):
    one, many = (gs.BatchClassifierCV(alphas=4, n_jobs=n).fit(data, y[:400]) for n in (1, 4))
    np.testing.assert_array_equal(one.coef_, many.coef_)


def test_exact_fits_of_sources():
    want = gs.BatchClassifier(alpha=0.01).fit_source((X, TWO)).coef_
    for got in at_once(lambda: gs.BatchClassifier(alpha=0.01).fit_source((X, TWO)).coef_, 2, 2):
        np.testing.assert_array_equal(got, want)


def test_boosting():
    one, many = (gs.BoostingClassifier(alpha=0.01, n_jobs=n).fit(X, TWO) for n in (1, 4))
    np.testing.assert_array_equal(one.coef_, many.coef_)


MODELS = {
    "online": lambda: gs.OnlineClassifier(random_state=0).fit(X, TWO),
    "averaged": lambda: gs.OnlineClassifier(average=True, method=gs.Fobos(0.1), random_state=0).fit(X, TWO),
    "three classes": lambda: gs.OnlineClassifier(penalty="group_l2", method=gs.RDA(1.0), random_state=0).fit(X, THREE),
    "path": lambda: gs.OnlineClassifierCV(random_state=0).fit(X, TWO),
    "batch": lambda: gs.BatchRegressor().fit(X, REAL),
    "boosting": lambda: gs.BoostingRegressor(alpha=0.01).fit(X, REAL),
    "model": lambda: gs.Model.of(gs.OnlineClassifier(random_state=0).fit(X, TWO)),
}


@pytest.mark.parametrize("name", MODELS)
def test_predictions(name):
    model, want = MODELS[name](), MODELS[name]().predict(X)
    assert all(np.array_equal(got, want) for got in at_once(lambda: model.predict(X)))


def test_estimators_of_their_own():
    want = gs.OnlineClassifier(random_state=0).fit(X, TWO).coef_
    for got in at_once(lambda: gs.OnlineClassifier(random_state=0).fit(X, TWO).coef_):
        np.testing.assert_array_equal(got, want)
