"""Groups of features in estimators: what is known of the features, and which groups are used."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gossamer.groups import Groups, GrowingGroups, Known, NamedGroups
from gossamer.validation import Array


class Grouped:
    """An estimator that knows the groups of its features."""

    _groups: Any = None  # of the penalty, found among the features; None: each feature is one

    @property
    def nonzero_groups_(self) -> Array:
        """The groups with a non-zero weight: their names, or their numbers in the list that was given.

        A feature that is in none of the groups given is a group of its own, with its own name.
        """
        features: Array = self.nonzero_features_  # type: ignore[attr-defined]
        groups = self._groups
        if not isinstance(groups, (Groups, GrowingGroups)):
            return features
        coef = self.coef_  # type: ignore[attr-defined]
        if sp.issparse(coef):
            used = np.unique(coef.indices[coef.data != 0]).astype(np.int64)
        else:
            used = np.flatnonzero(np.atleast_2d(coef).any(axis=0))
        number, first = np.unique(groups.of(used), return_index=True)
        names = [groups.name(int(group)) for group in number]
        names = [features[at] if name is None else name for name, at in zip(names, first, strict=True)]
        whole = all(isinstance(name, (int, np.integer)) for name in names)
        return np.array(names, dtype=np.int64 if whole else object)


def with_groups(estimator: Any, penalty: Any, features: int) -> Any:
    """Return the penalty of an estimator that is being fitted, with groups by name found among its features."""
    if not isinstance(penalty.groups, NamedGroups):
        return penalty
    names = getattr(estimator, "feature_names_in_", None)
    if names is None and hasattr(estimator, "source_names_"):
        names = [estimator.source_names_.get(j, str(j)) for j in range(features)]
    columns, column_of = getattr(estimator, "_source_columns", (None, None))
    return penalty.bound(Known(features, names, columns, column_of))
