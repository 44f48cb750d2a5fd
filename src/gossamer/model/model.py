"""Fitted models: non-zero weights and their names, predictions, and the model file, which holds data only."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from gossamer import __version__, _core, losses, sources
from gossamer.estimators.targets import Targets
from gossamer.model import file_format, schema
from gossamer.registry import record, settings
from gossamer.sources.base import Source
from gossamer.sources.blocks import Block
from gossamer.sources.columns import agrees
from gossamer.sources.matrices import Matrices
from gossamer.sources.roles import ROLES
from gossamer.validation import Array, floats

__all__ = ["Model", "load", "save"]

SCHEMA = 1  # version of the header; older files still load
KINDS = ("binary", "multiclass", "one_vs_rest", "multilabel", "regression")
CELLS = 1 << 24  # scores computed at a time, which bounds the memory for many classes
LEAST, MOST = -(1 << 63), (1 << 64) - 1  # classes that are whole numbers
_ARRAYS = {"features": np.int64, "starts": np.int64, "output": np.int32, "value": np.float64, "intercept": np.float64}


@record
class Model:
    """A fitted linear model: all that prediction and export need, without scikit-learn.

    Parameters
    ----------
    kind : str
        "binary", "multiclass", "one_vs_rest", "multilabel" or "regression".
    loss : loss
        Its link turns scores into predictions.
    classes : array or None
        The labels.
    n_features : int
        The columns of the data.
    features, starts, output, value : arrays
        The features with weights, and their non-zero weights: feature p has entries starts[p] … starts[p + 1] − 1.
    intercept : array
        One per output.
    names : list of str or None
        Of the features with weights.
    flat : bool
        Regression: whether predictions are a vector.
    shared : dict
        Names that were hashed to the same number.
    input : dict
        How the data was read, so that other data is read in the same way.
    facts : dict
        Facts about the training: penalty, alpha, method, rows, losses.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> estimator = gs.OnlineClassifier(alpha=0.05, random_state=0).fit(X, y)
    >>> model = gs.Model.of(estimator)
    >>> len(model.features), model.names[0]
    (13, 'mean radius')
    >>> bool((model.predict(X) == estimator.predict(X)).all())
    True
    """

    kind: str
    loss: Any
    classes: Array | None
    n_features: int
    features: Array
    starts: Array
    output: Array
    value: Array
    intercept: Array
    names: list[str] | None = None
    flat: bool = True
    shared: dict[str, str] = field(default_factory=dict)
    input: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(estimator: Any) -> Model:
        """Return the model of a fitted estimator of this library; a model is returned as it is."""
        if isinstance(estimator, Model):
            return estimator
        coded = getattr(estimator, "_targets", None)
        if not isinstance(coded, Targets):
            raise TypeError(f"A fitted linear estimator of gossamer is needed; {type(estimator).__name__} was given.")
        coef, used, width = estimator.coef_, None, None
        if hasattr(coef, "toarray"):
            used, width = np.unique(coef.indices).astype(np.int64), coef.shape[1]
            coef = _columns(coef, used)
        W = np.atleast_2d(coef).T
        b = np.broadcast_to(np.asarray(estimator.intercept_, np.float64).reshape(-1), (W.shape[1],))
        names: Any = getattr(estimator, "source_names_", None)
        settings_of_input = getattr(estimator, "source_settings_", {})
        if names is None and hasattr(estimator, "feature_names_in_"):
            names = dict(enumerate(estimator.feature_names_in_.tolist()))
            settings_of_input = {"numbers": list(names.values()), "categories": []}
        given = {name: getattr(estimator, name, None) for name in ("penalty", "alpha", "method", "solver")}
        facts = {name: value if _plain(value) else repr(value) for name, value in given.items() if value is not None}
        if getattr(estimator, "fit_intercept", True) is False:
            facts["fit_intercept"] = False
        if getattr(estimator, "standardize", False):
            facts["standardize"] = True
        for name in ("t_", "progressive_loss_", "dual_gap_", "objective_"):
            if isinstance(getattr(estimator, name, None), (int, float)):
                facts[name.rstrip("_")] = getattr(estimator, name)
        if used is None:
            return from_weights(coded, W, b, names, input=settings_of_input, facts=facts)
        names = None if names is None else {i: names[j] for i, j in enumerate(used.tolist())}
        model = from_weights(coded, W, b, names, n_features=width, input=settings_of_input, facts=facts)
        return replace(model, features=used[model.features])

    # Predictions

    @property
    def targets(self) -> Targets:
        """How labels are coded."""
        return Targets(self.kind, len(self.intercept), self.loss, self.classes, self.flat)

    def blocks(self, data: Any, **options: Any) -> Iterator[Block]:
        """Yield the blocks of data, read in the same way as the training data."""
        rows, _ = self.opened(data, options)
        return rows.blocks()

    def opened(self, data: Any, options: dict[str, Any]) -> tuple[Source, Model]:
        """Return data as a source, and this model with its features numbered as in the source."""
        rows = data
        if not isinstance(data, Source):
            rows = sources.again(data, self.input, **{"need_labels": False} | options)
            if rows.names is not None:
                rows.names.forget()  # memory follows the data, not the number of bits in a file
        if isinstance(rows, Matrices) and rows.features not in (None, self.n_features):
            raise ValueError(f"The data has {rows.features} columns; the model has {self.n_features} features.")
        return rows, self.renumbered(rows.recall(self.features, self.names))

    def renumbered(self, features: Array) -> Model:
        """Return the same model with its features renumbered."""
        if features is self.features:
            return self
        order = np.argsort(features, kind="stable")
        lengths = np.diff(self.starts)[order]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.arange(starts[-1]) + np.repeat(self.starts[:-1][order] - starts[:-1], lengths)
        return Model(
            **{f.name: getattr(self, f.name) for f in fields(self)}
            | {
                "features": np.ascontiguousarray(features[order], np.int64),
                "starts": starts,
                "output": self.output[entries],
                "value": self.value[entries],
                "names": None if self.names is None else [self.names[i] for i in order],
            }
        )

    @cached_property
    def _scorer(self) -> Any:
        return _core.Scorer(self.features, self.starts, self.output, self.value)

    def scores(self, block: Block) -> Array:
        """Return z = X W + b of a block plus its offsets, n × outputs; features without a weight are ignored."""
        z = np.tile(self.intercept, (len(block), 1))
        self._scorer(block.starts, block.index, block.value, z)
        return z if block.rows.offset is None else z + block.rows.offset[:, None]

    def each_scores(self, data: Any, **options: Any) -> Iterator[tuple[Block, Array]]:
        """Yield the blocks of data and their scores."""
        rows, model = self.opened(data, options)
        for whole in rows.blocks():
            for block in whole.cut(max(1, CELLS // len(self.intercept))):
                yield block, model.scores(block)

    def _all_scores(self, data: Any, offset: Any = None) -> Array:
        z = np.concatenate([np.empty((0, len(self.intercept))), *(z for _, z in self.each_scores(data))])
        if offset is None:
            return z
        self.targets.check_offset()
        offset = floats(offset, "offset", ndim=(1,))
        if len(offset) != len(z):
            raise ValueError(f"offset must have one entry per row: there are {len(offset)} offsets and {len(z)} rows.")
        return z + offset[:, None]

    def decision_function(self, X: Any, *, offset: Any = None) -> Array:
        """Return the scores of a matrix, table, file or source: a vector for two classes, else one column per output.

        `offset` is one number per row that is added to the scores.
        """
        return self.targets.decisions(self._all_scores(X, offset))

    def predict(self, X: Any, *, offset: Any = None) -> Array:
        """Return the labels, or the numbers that regression predicts."""
        return self.targets.predictions(self._all_scores(X, offset))

    def predict_proba(self, X: Any, *, offset: Any = None) -> Array:
        """Return the probability of each class or label."""
        return self.targets.probabilities(self._all_scores(X, offset))

    @property
    def labels(self) -> list[Any]:
        """The classes as a list, empty for regression."""
        return [] if self.classes is None else self.classes.tolist()

    @property
    def output_names(self) -> list[str]:
        """The name of each output."""
        if self.classes is None or self.kind == "binary":
            return [f"output_{r}" for r in range(len(self.intercept))]
        return [str(c) for c in self.labels]

    @property
    def probabilistic(self) -> bool:
        """Whether the model predicts probabilities."""
        return bool(self.loss.probabilistic)

    # Weights

    @property
    def weights(self) -> Array:
        """The weights of the features with weights, one row per feature and one column per output."""
        return self.weights_of(np.arange(len(self.features)))

    def weights_of(self, places: Array) -> Array:
        """Return the weights of some entries of `features`, one row per feature and one column per output."""
        cells = len(places) * len(self.intercept)
        if cells > max(CELLS, 256 * len(self.value)):
            raise ValueError(f"{cells:,} weights, nearly all of them zero, are too many to write down one by one.")
        lengths = np.diff(self.starts)[places]
        entries = np.arange(lengths.sum()) + np.repeat(self.starts[:-1][places] - np.cumsum(lengths) + lengths, lengths)
        W = np.zeros((len(places), len(self.intercept)))
        W[np.repeat(np.arange(len(places)), lengths), self.output[entries]] = self.value[entries]
        return W

    @property
    def sizes(self) -> Array:
        """The largest |weight| of each feature with weights."""
        largest, some = np.zeros(len(self.features)), np.diff(self.starts) > 0
        if some.any():
            largest[some] = np.maximum.reduceat(np.abs(self.value), self.starts[:-1][some])
        return largest

    def name(self, place: int) -> str:
        """Return the name of entry `place` of `features`."""
        if self.names is not None:
            return self.names[place]
        return str(int(self.features[place]) + (1 if self.input.get("zero_based") is False else 0))


def used_features(W: Array) -> Array:
    """Return the features with a non-zero weight (rows of W)."""
    return np.flatnonzero(W if W.shape[1] == 1 else W.any(axis=1)).astype(np.int64)


def _columns(coef: Any, used: Array) -> Array:
    """Return these columns of a CSR matrix as an array; all others are empty."""
    dense = np.zeros((coef.shape[0], len(used)))
    rows = np.repeat(np.arange(coef.shape[0]), np.diff(coef.indptr))
    dense[rows, np.searchsorted(used, coef.indices)] = coef.data
    return dense


def from_weights(
    coded: Targets, W: Array, b: Array, names: Any = None, *, n_features: int | None = None, **rest: Any
) -> Model:
    """Return the model with these weights (features × outputs); `names` is a mapping from features, or None."""
    used = used_features(W)
    kept = W[used]
    place, output = np.nonzero(kept)
    return Model(
        coded.kind,
        coded.loss,
        coded.classes,
        W.shape[0] if n_features is None else n_features,
        used,
        np.concatenate([[0], np.cumsum(np.bincount(place, minlength=len(used)))]).astype(np.int64),
        output.astype(np.int32),
        np.ascontiguousarray(kept[place, output], np.float64),
        np.array(b, np.float64),
        None if names is None else [str(names[j]) for j in used.tolist()],
        coded.flat,
        **rest,
    )


# The file


def save(model: Any, path: Any) -> None:
    """Write a model, or the model of a fitted estimator, to one file of data: names and weights, never code.

    Examples
    --------
    >>> import gossamer as gs
    >>> import pathlib, tempfile
    >>> model = gs.OnlineRegressor(alpha=0.1).fit([[1.0, 0.0], [2.0, 0.0]], [1.0, 2.0])
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.gsm")
    >>> gs.save(model, path)
    >>> bool((gs.load(path).predict([[3.0, 1.0]]) == model.predict([[3.0, 1.0]])).all())
    True
    """
    m = Model.of(model)
    header = {
        "schema": SCHEMA,
        "library": __version__,
        "kind": m.kind,
        "loss": _loss_words(m.loss),
        "classes": _classes_words(m.classes),
        "n_features": m.n_features,
        "names": m.names,
        "flat": m.flat,
        "shared": m.shared,
        "input": m.input,
        "facts": _finite(m.facts),
    }
    arrays = {name: getattr(m, name).astype(kind) for name, kind in _ARRAYS.items()}
    checked(header | {"arrays": []}, arrays)  # what is written can be loaded
    file_format.write(path, header, arrays)


def load(path: Any) -> Model:
    """Return the model in a file; every part of the file is checked. See `save`.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.load("pyproject.toml")
    Traceback (most recent call last):
    ...
    gossamer.model.file_format.FileError: pyproject.toml: this is not a file of gossamer, or it is cut short.
    """
    try:
        header, arrays = file_format.read(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {str(path)!r}. gossamer.save(model, path) writes one.") from None
    try:
        return checked(header, arrays)
    except file_format.FileError as error:
        raise file_format.FileError(f"{path}: {error}") from None


def checked(header: dict[str, Any], arrays: dict[str, Array]) -> Model:
    """Return the model of a header and arrays, or raise `FileError` if they are not valid."""
    if header.get("schema") != SCHEMA:
        raise file_format.FileError(
            f"this is not a model file, or it has a later version (written by gossamer {header.get('library')!r}); "
            f"this is gossamer {__version__}."
        )
    schema.check(header, HEADER)
    for name, kind in _ARRAYS.items():
        if name not in arrays or arrays[name].dtype != kind:
            raise file_format.FileError(f"the array {name!r} is missing or of another type.")
    a, k = arrays, len(arrays["intercept"])
    width, names = header["n_features"], header["names"]
    _require(k >= 1, "kind of model")
    f, s = a["features"], a["starts"]
    _require(len(f) == 0 or (f[0] >= 0 and f[-1] < width and bool((f[1:] > f[:-1]).all())), "features")
    increasing = len(s) == len(f) + 1 and s[0] == 0 and bool((s[1:] >= s[:-1]).all())  # differences may overflow
    _require(increasing and s[-1] == len(a["value"]) == len(a["output"]), "places of the weights")
    _require(len(a["output"]) == 0 or (a["output"].min() >= 0 and a["output"].max() < k), "outputs of the weights")
    _require(bool(np.isfinite(a["value"]).all()) and bool(np.isfinite(a["intercept"]).all()), "weights")
    _require(names is None or len(names) == len(f), "names of the features")
    _check_input(header["input"], f, names)
    loss, classes = _loss_of(header["loss"]), classes_of(header["classes"])
    expected = {"binary": 2 if k == 1 else -1, "regression": 0}.get(header["kind"], k)
    _require((0 if classes is None else len(classes)) == expected, "number of classes")
    _require(header["kind"] != "regression" or not header["flat"] or k == 1, "shape of the predictions")
    wanted = {"regression": ("regression",), "multiclass": ("multiclass",)}.get(header["kind"], ("binary",))
    _require(loss.kind in wanted, "loss")
    return Model(
        header["kind"],
        loss,
        classes,
        width,
        f,
        s,
        a["output"],
        a["value"],
        a["intercept"],
        names,
        header["flat"],
        header["shared"],
        header["input"],
        header["facts"],
    )


# What the header holds: what each field is called in messages, and what it must be.

_NAME = schema.maybe(schema.text)
_NAMES = schema.listed(schema.text, distinct=True)
_DELIMITER = schema.Rule("a tab or a printable character", lambda v: schema.is_delimiter(v))
_PAIR = schema.Rule(
    "a list of two names", lambda v: isinstance(v, list) and len(v) == 2 and all(map(schema.is_text, v))
)
COLUMNS: schema.Table = {
    "target": ("target column", _NAME),
    "weight": ("weight column", _NAME),
    "numbers": ("columns of numbers", schema.maybe(_NAMES)),
    "categories": ("columns of categories", _NAMES),
    "bits": ("bits of the hash", schema.whole(0, 30)),
    "one_hot": ("one-hot setting", schema.flag),
    "offset": ("offset column", _NAME),
    "roles": ("roles of the columns", schema.mapped(schema.one_of(*ROLES))),
    "learned": ("what was learned of the columns", schema.mapped(schema.anything)),
    "missing": ("words for missing values", schema.listed(schema.text)),
    "ngrams": ("number of words", schema.whole(1, 10)),
    "interactions": ("interactions", schema.listed(_PAIR)),
}
_FORMAT = {"format": ("format", schema.one_of(*sources.FORMATS))}
INPUT: dict[str | None, schema.Table] = {  # by format; None is a data frame or a matrix
    None: COLUMNS,
    "svmlight": _FORMAT | {"zero_based": ("zero_based setting", schema.flag)},
    "vw": _FORMAT | {name: COLUMNS[name] for name in ("bits", "interactions")},
    "csv": _FORMAT | COLUMNS | {"header": ("header setting", schema.flag), "delimiter": ("delimiter", _DELIMITER)},
    "arrow": _FORMAT | COLUMNS,
}
_PLAIN_CLASS = schema.Rule(
    f"a string, true or false, a finite number, or a whole number from {LEAST} to {MOST}",
    lambda v: (
        schema.is_text(v)
        or isinstance(v, bool)
        or (LEAST <= v <= MOST if isinstance(v, int) else isinstance(v, float) and math.isfinite(v))
    ),
)
_CLASSES = schema.listed(_PLAIN_CLASS, distinct=True)
HEADER: schema.Table = {
    "schema": ("version", schema.one_of(SCHEMA)),
    "library": ("version of the library", schema.text),
    "kind": ("kind of model", schema.one_of(*KINDS)),
    "loss": ("loss", schema.Rule("a list of a name and settings", lambda v: isinstance(v, list) and len(v) == 2)),
    "classes": ("classes", schema.maybe(_CLASSES)),
    "n_features": ("number of features", schema.whole(0, 2**31)),
    "names": ("names of the features", schema.maybe(schema.listed(schema.text))),
    "flat": ("shape of the predictions", schema.flag),
    "shared": ("shared names", schema.mapped(schema.text)),
    "input": ("input settings", schema.mapped(schema.anything)),
    "facts": ("facts", schema.mapped(schema.anything)),
    "arrays": ("arrays", schema.Rule("a list", lambda v: isinstance(v, list))),  # checked by `file_format`
}


def _check_input(given: dict[str, Any], features: Array, names: list[str] | None) -> None:
    """Raise unless the settings can read data, and agree with the features and their names."""
    if "format" in given:
        schema.demand(given["format"], _FORMAT["format"][1], "format")
    schema.check(given, INPUT[given.get("format")], every=False, where="input settings")
    if given and given.get("format") not in ("svmlight", "vw"):
        _require("numbers" in given and "categories" in given, "input settings (columns are missing)")
        _require(agrees(given), "input settings (the columns do not agree)")
    numbers, bits = given.get("numbers") or [], given.get("bits", 0)
    exact = bits == 0 or given.get("one_hot", False)  # features are found by their names
    if not exact and (given.get("categories") or given.get("format") == "vw"):
        first = len(numbers) if "learned" not in given else 2 * (len(numbers) + len(given["learned"].get("dates", ())))
        _require(len(features) == 0 or features[-1] < first + (1 << bits), "features (beyond the hash)")
    if names is not None:
        known = zip(features.tolist(), names, strict=True)
        _require(all(j >= len(numbers) or numbers[j] == name for j, name in known), "names of the columns")
        _require(not (exact and schema.doubled(names)), "names of the features (one comes twice)")


def _require(holds: Any, what: str) -> None:
    if not holds:
        raise file_format.FileError(f"invalid {what}: the model file is corrupt.")


def _plain(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))


def _finite(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts without infinities and NaN, which JSON does not have."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in facts.items()}


def _loss_words(loss: Any) -> list[Any]:
    return [loss_name(loss), settings(loss)]


def loss_name(loss: losses.Loss) -> str:
    """Return the name of a loss of the library, or raise if it is not one."""
    name = losses.LOSSES.name_of(loss)
    if name is None:
        raise is_code(loss)
    return name


def refuse_offset(model: Model, where: str) -> None:
    """Raise if the model reads offsets from a column, for which there is no place."""
    name = model.input.get("offset")
    if name is not None:
        raise ValueError(
            f"The model adds the column {name!r} to its scores (offset), and {where} has no place for it: export it "
            "to SQL with layout='wide', or to JSON."
        )


def is_code(loss: losses.Loss) -> ValueError:
    """Return the error for a loss that is Python code."""
    return ValueError(f"{loss.label} cannot be written to a file: it is code. Use a loss of the library.")


def _loss_of(words: Any) -> Any:
    kind = losses.LOSSES.get(words[0]) if isinstance(words[0], str) else None
    _require(kind is not None and isinstance(words[1], dict), "loss")
    _require(all(map(schema.is_plain, words[1].values())), "settings of the loss")
    try:
        return kind(**words[1])  # type: ignore[misc]
    except (TypeError, ValueError, OverflowError):
        raise file_format.FileError("invalid settings of the loss: the model file is corrupt.") from None


def _classes_words(classes: Array | None) -> Any:
    if classes is None:
        return None
    values = classes.tolist()
    if not all(_plain(v) for v in values):
        raise ValueError(
            f"Only classes that are numbers or strings can be written to a file; these hold {values[0]!r}."
        )
    return values


def classes_of(values: Any) -> Array | None:
    """Return the classes in a list of JSON values, or None; raise `FileError` if they are not valid."""
    if values is None:
        return None
    schema.demand(values, _CLASSES, "classes")
    _require(len(values) > 0 and len({type(v) for v in values}) == 1, "classes")
    if isinstance(values[0], str):  # in an array each takes the memory of the longest
        _require(len(values) * max(map(len, values)) <= CELLS, "classes")
    classes = np.array(values)
    _require(classes.dtype.kind in "biufU" and classes.tolist() == values, "classes")  # -1 and 2^63 have no common type
    return classes
