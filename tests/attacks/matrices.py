"""What is given to estimators: malformed matrices, odd numbers, odd types, odd labels and weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

import gossamer as gs
from attacks.problems import DENSE, ESTIMATORS, REAL, SOME, TWO, D, N, check, csr, fitted, target
from attacks.rows import REFUSED_OR_SOUND, SOUND, Row, raises, refused

SHORT = 2.0  # seconds that a fit on 40 rows may take


def with_part(part: str, place: Any, value: Any) -> Any:
    X = csr()
    getattr(X, part)[place] = value
    return X


def with_array(part: str, make: Callable[[Any], Any]) -> Any:
    X = csr()
    setattr(X, part, make(getattr(X, part)))
    return X


def wide_indices(value: int) -> Any:
    X = csr()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    X.indices[7] = value
    return X


MALFORMED = {
    "indptr falls": lambda: with_part("indptr", 5, N * D),
    "indptr below zero": lambda: with_part("indptr", 3, -4),
    "indptr ends too far": lambda: with_part("indptr", -1, 10**6),
    "indptr begins late": lambda: with_part("indptr", 0, 2),
    "an index below zero": lambda: with_part("indices", 7, -1),
    "an index beyond the columns": lambda: with_part("indices", 7, D),
    "an index of 2^31 - 1": lambda: with_part("indices", 7, 2**31 - 1),
    "an index of 2^40": lambda: wide_indices(2**40),
    "too few indices": lambda: with_array("indices", lambda a: a[:-5]),
    "too few values": lambda: with_array("data", lambda a: a[:-5]),
}


def fit(name: str, X: Any, y: Any = None, weight: Any = None, **settings: Any) -> Any:
    given = {} if weight is None else {"sample_weight": weight}
    return ESTIMATORS[name](**settings).fit(X, target(name) if y is None else y, **given)


def malformed_rows() -> list[Row]:
    must = raises(ValueError, "CSR", "indptr", "indices", "index", "sparse")
    rows = []
    for kind, make in MALFORMED.items():
        for name in ESTIMATORS:
            rows.append(Row(f"fit {name}, {kind}", lambda n=name, m=make: fit(n, m()), must))
        for name in SOME:
            rows.append(Row(f"predict {name}, {kind}", lambda n=name, m=make: fitted(n).predict(m()), must))
        rows.append(Row(f"predict of a model, {kind}", lambda m=make: of_model().predict(m()), must))
        rows.append(
            Row(
                f"fit_source, {kind}", lambda m=make: gs.OnlineClassifier().fit_source((m(), TWO), classes=[0, 1]), must
            )
        )
    return rows


def of_model() -> Any:
    return gs.Model.of(fitted("OnlineClassifier"))


def lying_flags(name: str, change: Callable[[Any], None]) -> None:
    """A matrix whose flags say that it is sorted and without duplicates: right answers, or a refusal."""
    X = csr()
    change(X)
    X.has_sorted_indices = X.has_canonical_format = True
    right = sp.csr_array(sp.coo_array((X.data, (np.repeat(np.arange(N), np.diff(X.indptr)), X.indices)), shape=(N, D)))
    check(fit(name, X), right.toarray())


def reverse(X: Any) -> None:
    for i in range(N):
        part = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[part], X.data[part] = X.indices[part][::-1].copy(), X.data[part][::-1].copy()


def spread(value: float, count: int = 1) -> Any:
    X = DENSE.copy()
    X[:count, 1] = value
    return X


NUMBERS = {
    "1e200": spread(1e200),
    "1e308": spread(1e308, 3),
    "a column of 1e300": spread(1e300, N),
    "denormals": spread(5e-324, N),
    "all 1e-300": DENSE * 1e-300,
    "1e150 and 1e-150": np.where(np.arange(D) % 2 == 0, DENSE * 1e150, DENSE * 1e-150),
    "a column of zeros": spread(0.0, N),
    "a constant of 1e8": DENSE + 1e8,
}
WEIGHTS = {
    "1e-300 and 1e300": np.where(np.arange(N) % 2 == 0, 1e-300, 1e300),
    "1e308": np.full(N, 1e308),
    "denormals": np.full(N, 5e-324),
    "one of 1e300": np.where(np.arange(N) == 3, 1e300, 1.0),
    "one of 1 and zeros": (np.arange(N) < 20).astype(float),
}
BAD_WEIGHTS = {
    "negative": np.where(np.arange(N) == 3, -1.0, 1.0),
    "NaN": np.where(np.arange(N) == 3, np.nan, 1.0),
    "infinite": np.where(np.arange(N) == 3, np.inf, 1.0),
    "too few": np.ones(N - 1),
    "two columns": np.ones((N, 2)),
    "words": np.full(N, "heavy"),
    "all zero": np.zeros(N),
}
TARGETS = {
    "1e200": np.where(np.arange(N) == 2, 1e200, REAL),
    "1e308": REAL / np.abs(REAL).max() * 1e308,
    "denormals": np.sign(REAL) * 5e-324,
    "an offset of 1e8": REAL + 1e8,
    "an offset of 1e15": REAL + 1e15,
    "a constant": np.full(N, 3.0),
}


def number_rows() -> list[Row]:
    rows = []
    for name in ESTIMATORS:
        for kind, X in NUMBERS.items():
            rows.append(
                Row(f"fit {name} on X with {kind}", lambda n=name, x=X: check(fit(n, x), x), REFUSED_OR_SOUND, SHORT)
            )
        for value in (np.nan, np.inf) if name in SOME else (-np.inf,):
            rows.append(
                Row(
                    f"fit {name} on X with {value}", partial(fit, name, spread(value)), raises(ValueError, "nan", "inf")
                )
            )
        for kind, weight in WEIGHTS.items():
            rows.append(
                Row(
                    f"fit {name} with weights {kind}",
                    lambda n=name, w=weight: check(fit(n, csr(), weight=w)),
                    REFUSED_OR_SOUND,
                    SHORT,
                )
            )
    for name in ESTIMATORS:
        if "Regressor" in name:
            for kind, y in TARGETS.items():
                rows.append(
                    Row(
                        f"fit {name} on y with {kind}",
                        lambda n=name, t=y: check(fit(n, csr(), t)),
                        REFUSED_OR_SOUND,
                        SHORT,
                    )
                )
    for name in SOME[:4]:
        for kind, weight in BAD_WEIGHTS.items():
            rows.append(Row(f"fit {name} with weights {kind}", partial(fit, name, csr(), None, weight), refused()))
    return rows


class Unreadable:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("this array cannot be read")


ODD = {
    "dates": DENSE.astype("datetime64[s]"),
    "durations": DENSE.astype("timedelta64[s]"),
    "complex numbers": DENSE + 1j,
    "words": np.full((N, D), "word"),
    "bytes": np.full((N, D), b"word"),
    "objects": np.full((N, D), object()),
    "a masked array": np.ma.masked_array(DENSE, DENSE > 0),
    "three dimensions": DENSE[:, :, None],
    "one dimension": DENSE[0],
    "a number": 3.0,
    "None": None,
    "a set": {1, 2, 3},
    "a dictionary": {"a": 1},
    "rows of different lengths": [[1.0, 2.0]] * (N - 1) + [[1.0]],
    "no rows": DENSE[:0],
    "no columns": DENSE[:, :0],
    "a record array": np.zeros(N, dtype=[("a", float), ("b", int)]),
    "a sparse matrix of complex numbers": sp.csr_array(DENSE + 1j),
    "a sparse matrix without rows": csr()[:0],
    "fewer rows than targets": csr()[:-1],
}
LABELS = {
    "one class": np.zeros(N, int),
    "NaN": np.where(np.arange(N) == 3, np.nan, TWO),
    "infinity": np.where(np.arange(N) == 3, np.inf, TWO),
    "real numbers": REAL,
    "None": None,
    "too few": TWO[:-1],
    "nothing": TWO[:0],
    "three dimensions": TWO[:, None, None],
    "strings and numbers": np.array([1, "a"] * (N // 2), dtype=object),
    "dates": np.arange(N).astype("datetime64[s]") if N else None,
}


def type_rows() -> list[Row]:
    rows = []
    for kind, X in ODD.items():
        for name in ("OnlineClassifier", "BatchRegressor", "BoostingClassifier"):
            rows.append(Row(f"fit {name} on {kind}", partial(fit, name, X), refused()))
    for kind, X in list(ODD.items())[:12]:
        rows.append(
            Row(f"predict OnlineClassifier on {kind}", lambda x=X: fitted("OnlineClassifier").predict(x), refused())
        )
        rows.append(
            Row(f"predict BatchRegressor on {kind}", lambda x=X: fitted("BatchRegressor").predict(x), refused())
        )
    for kind, y in LABELS.items():
        for name in ("OnlineClassifier", "BatchClassifier", "BoostingClassifier"):
            must = REFUSED_OR_SOUND if kind == "dates" else refused()
            rows.append(Row(f"fit {name} on labels: {kind}", lambda n=name, t=y: ESTIMATORS[n]().fit(csr(), t), must))
    return rows


def frame(columns: list[str], **data: Any) -> Any:
    import pandas as pd

    made = pd.DataFrame({str(i): DENSE[:, i] for i in range(len(columns))} | data)
    made.columns = pd.Index([*columns, *data])
    return made


def other_width(width: int) -> Any:
    return np.ones((3, width))


def small_rows() -> list[Row]:
    unseen = np.where(np.arange(N) == 5, 7, TWO)
    part = partial(fitted, "OnlineClassifier")
    rows = [
        Row("partial_fit with an unseen label", lambda: part().partial_fit(csr(), unseen), refused("7", "class")),
        Row("partial_fit on more columns", lambda: part().partial_fit(other_width(D + 1), [0, 1, 0]), refused("7")),
        Row("predict on fewer columns", lambda: part().predict(other_width(2)), refused("2")),
        Row("predict of a model on fewer columns", lambda: of_model().predict(other_width(2)), refused("2")),
        Row("predict before fit", lambda: gs.BatchClassifier().predict(DENSE), raises(ValueError, "fit")),
        Row("an object whose __array__ raises", lambda: part().predict(Unreadable()), raises(RuntimeError, "read")),
        Row(
            "fit a frame with two columns of one name",
            lambda: gs.OnlineClassifier().fit(frame(["a", "b", "a"]), TWO),
            refused("a"),
        ),
        Row(
            "fit_source on a frame with two columns of one name",
            lambda: gs.OnlineClassifier().fit_source(frame(["a", "b", "a"], y=TWO), target="y"),
            refused("a"),
        ),
        Row(
            "predict a frame with other columns",
            lambda: gs.OnlineClassifier().fit(frame(["a", "b"]), TWO).predict(frame(["a", "c"])),
            refused("feature"),
        ),
        Row(
            "a weight of infinity on a feature: it is never used",
            lambda: infinite_weight("BatchRegressor"),
            SOUND,
        ),
        Row("a weight of infinity, online", lambda: infinite_weight("OnlineRegressor"), SOUND),
        Row("a weight of NaN on a feature", lambda: gs.L1(weights=[np.nan, 1.0]), refused("weights")),
        Row("a weight of -1 on a feature", lambda: gs.L1(weights=[-1.0, 1.0]), refused("weights")),
        *[
            Row(
                f"sorted and unique by its flags only: {kind}, {name}", partial(lying_flags, name, do), REFUSED_OR_SOUND
            )
            for kind, do in {"reversed": reverse, "all in one column": lambda X: X.indices.fill(2)}.items()
            for name in ("OnlineClassifier", "BatchClassifier", "BatchRegressor", "BoostingClassifier")
        ],
    ]
    settings: dict[str, dict[str, Any]] = {
        "alpha -1": {"alpha": -1.0},
        "alpha NaN": {"alpha": np.nan},
        "alpha infinite": {"alpha": np.inf},
        "alpha a word": {"alpha": "strong"},
        "an unknown penalty": {"penalty": "l7"},
        "an unknown loss": {"loss": "log_loss"},
        "a loss of scikit-learn": {"loss": "modified_huber"},
        "a penalty that is a number": {"penalty": 3},
        "too many weights": {"penalty": gs.L1(weights=np.ones(D + 3))},
        "groups beyond the features": {"penalty": gs.GroupL2(groups=np.arange(D + 4) // 2)},
    }
    for kind, given in settings.items():
        for name in ("OnlineClassifier", "BatchClassifier"):
            rows.append(Row(f"fit {name}, {kind}", lambda n=name, g=given: fit(n, csr(), **g), refused()))
    return rows


def infinite_weight(name: str) -> None:
    model = check(fit(name, csr(), penalty=gs.L1(weights=np.r_[np.inf, np.ones(D - 1)]), alpha=1e-3))
    assert model.coef_[0] == 0
    assert model.coef_.any()


ROWS = [*malformed_rows(), *number_rows(), *type_rows(), *small_rows()]
