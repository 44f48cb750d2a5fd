"""What all estimators over partitions share: where their tasks run, and the first look at the data."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight

from gossamer.batch.partitions import Found, Spec, survey
from gossamer.batch.runs import Local, Runner
from gossamer.dask.data import Data
from gossamer.dask.runs import Cluster
from gossamer.estimators import inputs, targets
from gossamer.registry import record
from gossamer.validation import FEWER, Array, check_memory


@record
class Names:
    """Loads the names of some features that a part of a file has."""

    load: Any
    features: Array
    name: str

    def __call__(self) -> dict[int, str]:
        """Read the part again."""
        return self.load.names_of(self.features)


def as_it_is(value: Any) -> Any:
    """Return what a partition holds."""
    return value


def warn_if_open(client: Any) -> None:
    """Warn if the scheduler is on another machine and speaks plain tcp."""
    address = str(getattr(getattr(client, "scheduler", None), "address", ""))
    host = address.removeprefix("tcp://").rsplit(":", 1)[0].strip("[]")
    if address.startswith("tcp://") and not (host.startswith("127.") or host in ("localhost", "::1")):
        warnings.warn(
            f"The scheduler at {address} speaks plain tcp: Dask unpickles what it receives, so whoever reaches it "
            "can run code. Use TLS (docs/cluster.md).",
            stacklevel=4,
        )


class OverPartitions:
    """An estimator that learns from partitions of rows."""

    client: Any

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the client, which belongs to this process."""
        return super().__getstate__() | {"client": None}  # type: ignore[operator]

    def _runner(self, data: Data) -> Runner:
        """Return the partitions: in this process (client="local"), or on the cluster."""
        if self.client == "local":
            return Local.loaded(data.loaders)
        try:
            from distributed import get_client
        except ImportError:
            raise ImportError("gossamer.dask needs Dask: pip install 'gossamer[dask]'.") from None
        if self.client is not None:
            warn_if_open(self.client)
            return Cluster.loaded(self.client, data.loaders)
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "There is no Dask client. Make one (dask.distributed.Client()), or give client=; client='local' "
                "computes in this process."
            ) from None
        warn_if_open(client)
        return Cluster.loaded(client, data.loaders)

    def _name_features(self, data: Data) -> None:
        """Keep how files were read, and the names of the features in use; or the names of the columns of a frame."""
        inputs.forget(self)
        if data.names is not None:
            self.feature_names_in_ = np.array(data.names, object)
        if data.settings is None:
            return
        used: Any = self._used() if hasattr(self, "_trainer") else np.asarray(self.nonzero_features_)  # type: ignore[attr-defined]
        names: dict[int, str] = {}
        if data.named:
            asked = self._runner(Data([Names(load, used, load.name) for load in data.loaders]))
            for some in asked.run(as_it_is):
                names = some | names
            asked.release()
        self.source_settings_ = data.settings
        if data.named:
            self.source_names_ = {j: names.get(j, "") for j in used.tolist()}

    def _surveyed(self, raw: Runner, loss: Any) -> tuple[targets.Targets, Spec, Array | None]:
        """Return how y is coded, how partitions become a problem, and the shares of the classes (None: not known)."""
        classifier = isinstance(self, ClassifierMixin)
        found: list[Found] = [f for f in raw.run(survey, classifier) if f.rows]
        if not found:
            raise ValueError("The partitions have no rows: there is nothing to learn from.")
        if len({f.dims for f in found}) > 1:
            raise ValueError(f"y has different shapes in the partitions: {sorted({f.dims for f in found})}.")
        dims, factors, shares = found[0].dims, None, None
        total = float(sum(f.weight for f in found))
        if classifier and dims:
            coded = targets.for_indicators(np.zeros((1, *dims)), loss)
        elif classifier:
            labels = np.unique(np.concatenate([f.labels for f in found if f.labels is not None]))
            labels = targets.whole_numbers(labels)
            targets.refuse_other_kind(labels, False, type(self).__name__)
            coded = targets.for_labels(labels, loss, grow=False)
            given = getattr(self, "class_weight", None)
            of_class = np.zeros(len(labels))
            for f in found:
                assert f.labels is not None
                assert f.of_label is not None
                of_class[np.searchsorted(labels, f.labels)] += f.of_label
            if given is not None:
                factors = compute_class_weight(given, classes=labels, y=labels, sample_weight=of_class)
                of_class = of_class * factors
                total = float(of_class.sum())
            shares = of_class / total if total > 0 and (of_class > 0).all() else None
        else:
            coded = targets.for_regression(np.zeros((1, *dims)), loss)
        if any(f.shifted for f in found):
            coded.check_offset()
            shares = None
        if total == 0:
            raise ValueError("All sample weights are zero: there is nothing to learn from.")
        if not math.isfinite(total):
            raise ValueError("The sample weights add up to more than a float can hold; divide all of them by a number.")
        width = max(f.width for f in found)
        check_memory(48.0 * width * coded.outputs, f"Learning over partitions with {width:,} columns", FEWER)
        return coded, Spec(coded, width, total, None, factors), shares
