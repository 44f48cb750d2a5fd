"""Workers that die, files that go, a scheduler that goes: real processes, and never a hang."""

import inspect
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from dask.distributed import Client, LocalCluster
from distributed.core import Status

import dask
import gossamer.dask as gd
from gossamer.dask import runs

FITS = int(os.environ.get("GOSSAMER_DASK_FITS", "2"))  # 100 is the long form: 100 of batch, 30 online


def slow(i):
    rng = np.random.default_rng(i)
    time.sleep(0.05)
    X = rng.standard_normal((200, 30))
    return X, (X[:, 0] - X[:, 1] + rng.standard_normal(200) > 0).astype(int)


def parts():
    return [dask.delayed(slow)(i) for i in range(6)]


def model(**settings):
    return gd.BatchClassifier(alpha=0.003, tol=1e-8, **settings)


class ItHangs(BaseException):
    """Not an error that a program would handle."""


class Watchdog:
    """Ends a test that takes longer than it may: it interrupts the main thread."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        self.before = signal.signal(signal.SIGALRM, self.bark)
        signal.setitimer(signal.ITIMER_REAL, self.seconds, 2.0)  # again and again: finalisers swallow what is raised

    def bark(self, *_):
        raise ItHangs(f"{self.seconds} s are over")

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


def endless(until):
    for _ in range(1200):
        if Path(until).exists():
            break
        time.sleep(0.1)


def test_the_watchdog_ends_a_fit_that_hangs(tmp_path):
    until = tmp_path / "end"
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as made,
        Client(made) as client,
    ):
        began = time.monotonic()
        with pytest.raises(ItHangs), Watchdog(1.5):
            model(client=client).fit([dask.delayed(endless)(str(until))])
        assert time.monotonic() - began < 60
        until.touch()


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 20, "distributed.deploy.lost-worker-timeout": "1h"}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as made,
    ):
        yield made


def ready(cluster):
    """Return the processes of workers that are up: a nanny gives up a worker that dies while it starts."""
    there = set(cluster.scheduler.workers)
    nannies = [w for w in list(cluster.workers.values()) if w.status is Status.running and w.worker_address in there]
    return [w.pid for w in nannies if w.pid]


def online(**settings):
    return gd.OnlineClassifier(random_state=0, max_passes=2, **settings)


@pytest.mark.parametrize(("model", "fits"), [(model, FITS), (online, max(2, 3 * FITS // 10))])
def test_fits_with_killed_workers_have_the_same_bits(cluster, model, fits):
    local = model(client="local").fit(parts())
    draw, kills = random.Random(0), []
    with Client(cluster) as client, Watchdog(60 * (1 + fits)):
        for fit in range(fits):
            client.wait_for_workers(2)
            ended = threading.Event()

            def kill(ended=ended, fit=fit):
                for _ in range(draw.choice([1, 2, 3])):  # not for ever: a machine may start workers more slowly
                    if ended.wait(draw.uniform(0.05, 1.0)):
                        break
                    pids = ready(cluster)
                    if pids:
                        os.kill(draw.choice(pids), signal.SIGKILL)
                        kills.append(fit)

            killer = threading.Thread(target=kill)
            killer.start()
            try:
                found = model(client=client).fit(parts())
            finally:
                ended.set()
                killer.join()
            assert found.coef_.tobytes() == local.coef_.tobytes()
            assert found.intercept_.tobytes() == local.intercept_.tobytes()
            assert getattr(found, "dual_gap_", None) == getattr(local, "dual_gap_", None)
    assert kills
    print(f"{fits} fits, {len(set(kills))} of them with {len(kills)} killed workers in all")


def test_a_file_that_is_gone_is_named(cluster, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n" * 10)
    (tmp_path / "b.svm").write_text("1 1:1\n-1 2:1\n" * 10)
    data = gd.source(str(tmp_path / "*.svm"))
    (tmp_path / "b.svm").unlink()
    with Client(cluster) as client, Watchdog(60), pytest.raises(FileNotFoundError, match=r"b\.svm"):
        model(client=client).fit(data)


def test_a_broken_file_is_named(cluster, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n" * 10)
    data = gd.source(str(tmp_path / "*.svm"))
    (tmp_path / "a.svm").write_text("1 1:1\n-1 zwei\n")
    with Client(cluster) as client, Watchdog(60), pytest.raises(Exception, match=r"a\.svm"):
        model(client=client).fit(data)


def greedy():
    """Take memory until the nanny ends this process."""
    held = []
    for _ in range(60):
        held.append(np.ones(6_000_000))
        time.sleep(0.05)
    return held[0][:4, None], np.array([0, 1, 0, 1])


def test_a_partition_that_needs_too_much_memory_is_named():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=1, memory_limit="700MB", dashboard_address=":0") as made,
        Client(made) as client,
        Watchdog(60),
        pytest.raises(gd.ClusterError, match=r"block \d: .* out of memory .* Use smaller partitions"),
    ):
        model(client=client).fit([parts()[0], dask.delayed(greedy)()])


def test_without_workers_it_ends_with_a_sentence_and_the_weights_so_far(monkeypatch, tmp_path):
    monkeypatch.setattr(runs, "PATIENCE", 3.0)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as made,
        Client(made) as client,
        Watchdog(60),
    ):
        m = model(client=client, checkpoint=tmp_path / "w.npz")
        run = runs.Runner.run

        def until_then(self, *args):
            if self.rounds == 5 and made.workers:
                made.scale(0)
                while client.scheduler_info()["workers"]:
                    time.sleep(0.05)
            return run(self, *args)

        monkeypatch.setattr(runs.Runner, "run", until_then)
        with pytest.raises(gd.ClusterError, match="no worker for 3 s"):
            m.fit(parts())
    monkeypatch.undo()
    assert np.isfinite(m.dual_gap_)
    assert m.coef_.shape == (1, 30)
    whole, rest = model(client="local").fit(parts()), m.set_params(client="local").fit(parts())
    assert rest.n_iter_ < whole.n_iter_
    assert abs(rest.objective_ - whole.objective_) <= 1e-8


PROGRAM = """
import os
from dask.distributed import Client
import dask, time, gossamer.dask as gd, numpy as np
{functions}
if __name__ == "__main__":
    client = Client({address!r}, timeout=10)
    from gossamer.dask import runs
    runs.PATIENCE = 5.0
    run = runs.Runner.run
    def told(self, *args):
        if self.rounds == 5: print("now", flush=True); time.sleep({pause})
        return run(self, *args)
    runs.Runner.run = told
    m = model(client=client)
    try:
        m.fit(parts())
        print("gap", m.dual_gap_ , flush=True)
    except gd.ClusterError as error:
        print("ClusterError", error, "gap", m.dual_gap_, flush=True)
    os._exit(0)
"""


def started(address, pause):
    functions = "\n".join(map(inspect.getsource, (slow, parts, model)))  # workers cannot import this file
    text = PROGRAM.format(functions=functions, address=address, pause=pause)
    command = [sys.executable, "-W", "ignore", "-c", text]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_keeps_the_certified_weights(cluster):
    program = started(cluster.scheduler_address, 1.0)
    assert program.stdout.readline() == "now\n"
    time.sleep(0.3)
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=60)
    assert "gap" in out, err


def test_a_scheduler_that_is_gone_is_said_so():
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--dashboard-address", ":0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    address = None
    for line in scheduler.stderr:
        if "Scheduler at:" in line:
            address = line.split()[-1]
            break
    worker = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            address,
            "--nthreads",
            "1",
            "--dashboard-address",
            ":0",
            "--no-nanny",
        ],
        stderr=subprocess.DEVNULL,
    )
    try:
        program = started(address, 1.0)
        assert program.stdout.readline() == "now\n", program.communicate(timeout=10)
        scheduler.kill()
        out, err = program.communicate(timeout=60)
        assert "ClusterError" in out, (out, err)
    finally:
        scheduler.kill()
        worker.kill()
        scheduler.communicate()
        worker.wait()
