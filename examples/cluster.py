"""The estimators over partitions, on a cluster of two processes on this machine.

python examples/cluster.py
"""

import numpy as np
import scipy.sparse as sp
from dask.distributed import Client, LocalCluster

import dask
import gossamer.dask as gd


def block(i):
    """Return the rows of one partition; a worker calls it."""
    random = np.random.default_rng(i)
    X = sp.random_array((2000, 500), density=0.3, rng=random, format="csr")
    y = (X[:, :10].sum(axis=1) - X[:, 10:20].sum(axis=1) + 0.1 * random.standard_normal(2000) > 0).astype(int)
    return X, y


def main():
    """Fit, certify, predict."""
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        parts = [dask.delayed(block)(i) for i in range(4)]
        exact = gd.BatchClassifier(alpha=1e-3, client=client).fit(parts)
        print(
            f"batch:  {len(exact.nonzero_features_)} features, duality gap {exact.dual_gap_:.1e}, "
            f"{exact.n_rounds_} rounds, {exact.bytes_up_ / 1e6:.2f} MB sent up by a partition"
        )
        fast = gd.OnlineClassifier(alpha=1e-3, client=client, random_state=0).fit(parts)
        X, y = block(99)
        print(
            f"online: {len(fast.nonzero_features_)} features; accuracy on new rows: batch {exact.score(X, y):.3f}, "
            f"online {fast.score(X, y):.3f}"
        )


if __name__ == "__main__":
    main()
