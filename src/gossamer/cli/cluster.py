"""`gossamer train --dask ADDRESS` and `--workers N`: learning on a cluster, or on so many processes of this machine."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import dask, losses, methods, penalties
from gossamer.cli.commands import part
from gossamer.cli.words import UsageError
from gossamer.model.model import save
from gossamer.sources import source

if TYPE_CHECKING:
    import argparse

# What learning block by block has, and learning on a cluster has not.
NOT_HERE = {
    "checkpoint": None,
    "report": None,
    "grow": False,
    "features": None,
    "classes": None,
    "holdout": 0.0,
    "batch_size": 1,
    "shuffle": False,
    "json": False,
}


def train(options: argparse.Namespace, reading: dict[str, Any]) -> bool:
    """Learn a model on a cluster and write it; return False: it was not interrupted."""
    for name, usual in NOT_HERE.items():
        if getattr(options, name, usual) != usual:
            raise UsageError(f"--{name.replace('_', '-')} is not for --dask and --workers: use one process.")
    if options.dask is not None and options.workers is not None:
        raise UsageError("--dask names a cluster and --workers starts one here: give one of the two.")
    reading = reading | ({"format": options.format} if options.format else {})
    given = None if options.loss is None else part(options.loss, losses.LOSSES)
    regression = _are_numbers(options.data, reading) if given is None else given.kind == "regression"
    settings: dict[str, Any] = {
        "loss": given or ("squared" if regression else "logistic"),
        "penalty": part(options.penalty, penalties.PENALTIES),
        "method": "auto" if options.method == "auto" else part(options.method, methods.METHODS),
        "max_passes": options.passes,
        "fit_intercept": not options.no_intercept,
        "random_state": options.seed,
        "merges": options.merges,
    }
    kind: Any
    if options.alpha is None:
        kind = dask.OnlineRegressorCV if regression else dask.OnlineClassifierCV
        select = "best" if options.select == "best" else "sparsest"
        settings |= {"alphas": options.path or 16, "select": select}
    else:
        kind = dask.OnlineRegressor if regression else dask.OnlineClassifier
        settings |= {"alpha": options.alpha, "average": options.average}
    with _client(options) as client:
        model = kind(client=client, **settings).fit(options.data, **reading)
    save(model, options.output)
    if not options.quiet:
        print(
            f"{model.t_:,} rows, progressive loss {model.progressive_loss_:.4g}, {len(model.nonzero_features_):,} of "
            f"{model.n_features_in_:,} features; {model.n_rounds_} rounds of tasks, {model.bytes_up_ / 1e6:.1f} MB "
            f"sent by a partition\nmodel: {options.output}",
            file=sys.stderr,
        )
    return False


def _are_numbers(data: Any, reading: dict[str, Any]) -> bool:
    """Return whether the target of the first rows holds numbers that are not whole."""
    with contextlib.closing(source(data, **reading)) as rows:
        first = rows.peek()
    label = None if first is None else first.label
    return label is not None and label.dtype.kind == "f" and bool((label != np.floor(label)).any())


@contextlib.contextmanager
def _client(options: argparse.Namespace) -> Any:
    """Connect to the cluster, or start one."""
    try:
        import distributed
    except ImportError:
        raise UsageError("--dask and --workers need Dask: pip install 'gossamer[dask]'.") from None
    made: Any = distributed  # it has no types
    if options.dask is not None:
        with made.Client(options.dask, timeout=20) as client:
            yield client
        return
    with (
        made.LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None) as cluster,
        made.Client(cluster) as client,
    ):
        yield client
