"""A forked process that uses what its parent was reading, or has used: it raises, or works, and never hangs."""

import gzip
import os
import select
import signal
import time
import traceback

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gossamer as gs
from gossamer.sources.blocks import ReadError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
pytestmark = [pytestmark, pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")]


def in_fork(work, seconds=20):
    """Return what `work` returns in a forked process, as text; fail if it hangs or crashes."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            said = str(work())
        except BaseException:
            said = traceback.format_exc()
        try:
            os.write(write, said.encode()[-4000:] or b" ")
        finally:
            os._exit(0)
    os.close(write)
    until, said = time.monotonic() + seconds, b""
    try:
        while True:
            ready, _, _ = select.select([read], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                os.kill(child, signal.SIGKILL)
                pytest.fail("the forked process hangs")
            data = os.read(read, 4096)
            if not data:
                break
            said += data
    finally:
        os.close(read)
        os.waitpid(child, 0)
    return said.decode()


def raised(call):
    try:
        call()
    except ReadError as error:
        return f"refused: {error}"
    return "accepted"


def sources(folder):
    svm = "".join(f"{i % 2} 1:{i} 2:0.5\n" for i in range(60_000))
    vw = "".join(f"{i % 2} | a{i % 97} b\n" for i in range(60_000))
    csv = "x,c,y\n" + "".join(f"{i},{'ab'[i % 2]},{i % 2}\n" for i in range(60_000))
    for name, text in (("a.svm", svm), ("a.vw", vw), ("a.csv", csv)):
        (folder / name).write_text(text)
    (folder / "a.svm.gz").write_bytes(gzip.compress(svm.encode()))
    X, y = sp.random(60_000, 9, 0.3, format="csr", random_state=0), np.arange(60_000) % 2
    frame = pd.DataFrame({"x": np.arange(60_000.0), "y": y})
    return {
        "svmlight": lambda: gs.source(folder / "a.svm", block=4096),
        "gzip": lambda: gs.source(folder / "a.svm.gz", block=4096),
        "vw": lambda: gs.source(folder / "a.vw", block=4096),
        "csv": lambda: gs.source(folder / "a.csv", block=4096, one_hot=True),
        "matrix": lambda: gs.source((X, y)),
        "frame": lambda: gs.source(frame),
    }


FORMS = ["svmlight", "gzip", "vw", "csv", "matrix", "frame"]


@pytest.mark.parametrize("form", FORMS)
def test_a_half_read_source(tmp_path, form):
    make = sources(tmp_path)[form]
    source, other = make(), make()
    rows = source.blocks()
    first = len(next(rows))
    for _ in range(3):  # the thread is in another place each time

        def continued():
            return raised(lambda: next(rows))

        def begun_again():
            return raised(lambda: next(source.blocks()))

        def dropped():
            nonlocal rows
            rows.close()
            return "closed"

        assert "refused: This process is a fork" in in_fork(continued)
        assert "refused: This process is a fork" in in_fork(begun_again)
        assert in_fork(dropped) == "closed"
        first += len(next(rows))
    assert in_fork(lambda: sum(map(len, other.blocks()))) == "60000"  # nobody reads it here
    assert first + sum(map(len, rows)) == 60_000  # the parent reads on
    assert in_fork(lambda: sum(map(len, source.blocks()))) == "60000"  # nor this one any more


def test_a_source_that_has_begun(tmp_path):
    source = sources(tmp_path)["vw"]()
    source.begin()
    assert "refused: This process is a fork" in in_fork(lambda: raised(lambda: list(source.blocks())))
    assert sum(map(len, source.blocks())) == 60_000


def test_names_of_a_half_read_source(tmp_path):
    source = sources(tmp_path)["vw"]()
    rows = source.blocks()
    next(rows)
    said = in_fork(lambda: source.name(5) is not None)  # at once, or an error if the table was held
    assert said == "True" or "another process" in said
    rows.close()


@pytest.mark.parametrize(
    "make", [gs.OnlineClassifierCV, gs.BatchClassifierCV, gs.BoostingClassifier, gs.BatchClassifier]
)
def test_threads_of_the_library_after_a_fork(make):
    X, y = sp.random(400, 30, 0.3, format="csr", random_state=0), np.arange(400) % 2
    with np.errstate(all="ignore"):
        here = make(**({"random_state": 0} if "Online" in make.__name__ else {})).fit(X, y)

    def there():
        model = make(**({"random_state": 0} if "Online" in make.__name__ else {})).fit(X, y)
        assert np.array_equal(model.coef_, here.coef_)
        return np.array_equal(here.predict(X), model.predict(X))

    assert in_fork(there, 60) == "True"
