"""The same estimators over data that lives in many places: partitions of rows on a Dask cluster.

Everything here goes through one seam, `run(task, *args)`: one stateless task per partition, results in the order of the
partitions (`runs.py`). The same partitions give the same bits, whatever the number of workers, their placement, or
their deaths on the way.
"""

from gossamer.registry import rooms

HOMES = {
    "data": "source",
    "batch": "BatchClassifier BatchRegressor",
    "path": "BatchClassifierCV BatchRegressorCV regularization_path",
    "online": "OnlineClassifier OnlineClassifierCV OnlineRegressor OnlineRegressorCV",
    "runs": "ClusterError",
}
__all__ = [name for names in HOMES.values() for name in names.split()]
__getattr__ = rooms(__name__, HOMES)
