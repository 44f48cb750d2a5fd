"""The certificate of any linear model on any data, in one pass.

    F(W) = Σ p_i ℓ(z_i, y_i) + αΩ(W),     z = XW + b,     D(u) = −Σ p_i ℓ*(u_i, y_i) − (αΩ)*(−Xᵀ(p∘u))

The slopes of the loss at the model are a dual point once they are balanced (Σ p_i u_i = 0, if there is an intercept)
and small enough for the penalty. How much they must shrink is known after the pass only. So the pass adds up Xᵀ(p∘u)
for slopes up and slopes down apart, which balances them by two factors, and the conjugate at many shrinkages; between
two of them a chord bounds it, as it is convex. The bound is one for every model; it is tight for an optimal one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gossamer import penalties
from gossamer.batch.partitions import SHRINKAGES
from gossamer.batch.passes import matrix
from gossamer.estimators.targets import refuse_other_kind
from gossamer.model.model import Model
from gossamer.registry import record
from gossamer.sources.blocks import Block
from gossamer.validation import FEWER, Array, check_memory, number

UNBALANCED = 1e-9  # of the slopes of several classes, beyond which there is no dual point


__all__ = ["Proof", "certify"]


@record
class Proof:
    """What one pass proves about a model: F, and that F − min F is at most `gap`.

    Attributes
    ----------
    rows : int
        Rows with a weight above zero.
    loss, objective : float
        The mean loss, and with the penalty.
    bound, gap : float
        A lower bound on the minimum of F over all weights and intercepts, and objective − bound; −inf and inf if no
        bound is known.
    reason : str
        Why no bound is known, or only a trivial one; empty otherwise.

    Examples
    --------
    >>> import gossamer as gs
    >>> gs.Proof(rows=10, loss=0.25, objective=0.5, bound=0.4, gap=0.1).relative
    0.2
    """

    rows: int
    loss: float
    objective: float
    bound: float
    gap: float
    reason: str = ""

    @property
    def relative(self) -> float:
        """The gap beside the objective."""
        return self.gap / abs(self.objective) if self.objective else math.inf


def certify(model: Any, data: Any, *, penalty: Any = None, alpha: float | None = None, **options: Any) -> Proof:
    r"""Return the objective of a linear model on data, and how far it is at most from the minimum, in one pass.

    The model may come from any estimator, online or batch, or from a file, and the data may be other data than it was
    trained on: the bound holds for the minimum on this data.

    Parameters
    ----------
    model : Model, path or fitted linear estimator
        A model that knows its loss.
    data : path, data frame, (X, y), source, …
        What `gossamer.source` takes, with labels; read as the training data was.
    penalty : str or penalty, optional
        Ω, by default that of the training.
    alpha : float, optional
        The regularization strength, by default that of the training.
    **options
        Of `gossamer.source`.

    Examples
    --------
    >>> import gossamer as gs
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = gs.BatchClassifier(alpha=0.01, tol=1e-8).fit(scale(X), y)
    >>> proof = gs.certify(model, (scale(X), y))
    >>> abs(proof.objective - model.objective_) < 1e-12, 0 <= proof.gap < 1e-6
    (True, True)
    >>> gs.certify(gs.OnlineClassifier(alpha=0.01).fit(scale(X), y), (scale(X), y)).gap > proof.gap
    True
    """
    fit = Model.of(_loaded(model))
    strength, omega = _strength(fit, alpha), _penalty(fit, penalty)
    rows, fit = fit.opened(data, {"need_labels": True} | options)
    sums = _Sums(fit, _units(fit))
    for block in rows.blocks():
        if len(block):
            sums.add(block)
    return sums.proof(omega, strength)


def _loaded(model: Any) -> Any:
    import os

    from gossamer.model.model import load

    return load(model) if isinstance(model, (str, os.PathLike)) else model


def _strength(fit: Model, alpha: float | None) -> float:
    found = fit.facts.get("alpha") if alpha is None else alpha
    if not isinstance(found, (int, float)) or isinstance(found, bool):
        raise ValueError("The model does not say by which strength it was regularised: give alpha (--alpha A).")
    return number(found, "alpha", least=0)


def _penalty(fit: Model, penalty: Any) -> Any:
    """Return the penalty; that of the training is the name or the form in the facts of the model."""
    found = fit.facts.get("penalty") if penalty is None else penalty
    if found is None:
        raise ValueError("The model does not say by which penalty it was regularised: give penalty (--penalty l1).")
    if isinstance(found, str) and "(" in found:
        found = _parsed(found)
    return penalties.as_penalty(found)


def _parsed(words: str) -> Any:
    """Return the penalty that was written down as elastic_net(l1_ratio=0.5) or ElasticNet(l1_ratio=0.5)."""
    import ast

    name, _, rest = words.partition("(")
    classes = {cls.__name__: cls for cls in penalties.PENALTIES.classes}
    try:
        make = classes.get(name.strip()) or penalties.PENALTIES.named(name.strip())
        call: Any = ast.parse(f"f({rest}", mode="eval").body
        return make(*map(ast.literal_eval, call.args), **{w.arg: ast.literal_eval(w.value) for w in call.keywords})
    except (SyntaxError, ValueError, TypeError, AttributeError):
        raise ValueError(
            f"The model was regularised by {words}, which cannot be read back: give penalty (--penalty)."
        ) from None


def _units(fit: Model) -> Array:
    """Return the units in which the first features were penalised."""
    if fit.facts.get("standardize"):
        raise ValueError(
            "The model was fitted with standardize, and its penalty is about columns in units of their standard "
            "deviation, which a pass does not know. Divide the columns, and fit without standardize."
        )
    return np.asarray(fit.facts.get("units") or [], np.float64)


class _Sums:
    """Sums over the rows so far."""

    def __init__(self, fit: Model, units: Array) -> None:
        self.fit, self.units, k = fit, units, len(fit.intercept)
        self.joint = fit.loss.kind == "multiclass"
        self.rows, self.weight, self.loss, self.width = 0, 0.0, 0.0, fit.n_features
        check_memory(8.0 * self.width * (6 * k + 2), f"A certificate over {self.width:,} columns", FEWER)
        self.sizes = np.zeros(k)  # Σ |slope|
        self.slopes = np.zeros((2, k))  # those up, those down
        self.gradient = np.zeros((2, self.width, k))
        self.conjugate = np.zeros((2, 1 if self.joint else k, len(SHRINKAGES)))

    def add(self, block: Block) -> None:
        fit, k = self.fit, len(self.fit.intercept)
        if block.label is None:
            raise ValueError("The data has no labels; a certificate is about the loss.")
        refuse_other_kind(block.label, fit.kind == "regression", "this model")
        y = fit.targets.encode(block.label)
        p = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, np.float64)
        z = fit.scores(block)
        if not p.all():
            some = np.flatnonzero(p)
            block, y, p, z = block.taken(some), y[some], p[some], z[some]
        if not len(p):
            return
        self.rows, self.weight = self.rows + len(p), self.weight + float(p.sum())
        self.width = max(self.width, block.width)
        if self.width > self.gradient.shape[1]:
            more = np.zeros((2, max(self.width - self.gradient.shape[1], self.width // 2), k))
            self.gradient = np.concatenate([self.gradient, more], axis=1)
        S, none = np.empty_like(z), np.zeros(k)
        self.loss += fit.loss.mean(k, y, p, 1).slopes(z, none, S)
        self.sizes += np.abs(S).sum(axis=0)
        X = matrix(block, block.width)
        for side, part in enumerate((S,) if self.joint else (np.maximum(S, 0), np.minimum(S, 0))):
            self.slopes[side] += part.sum(axis=0)
            self.gradient[side, : block.width] += X.T @ part
        if fit.loss.has_conjugate:
            self._add_conjugates(y, p, S)

    def _add_conjugates(self, y: Array, p: Array, S: Array) -> None:
        loss, k = self.fit.loss, S.shape[1]
        if self.joint:
            mean = loss.mean(k, y, p, 1)
            self.conjugate[0, 0] += [mean.conjugate(s * S) for s in SHRINKAGES]
            return
        for r in range(k):
            for side, which in enumerate((S[:, r] > 0, S[:, r] <= 0)):
                if which.any():
                    ours = np.ascontiguousarray(y[which, r : r + 1]), np.ascontiguousarray(p[which])
                    mean, u = loss.mean(1, *ours, 1), np.ascontiguousarray(S[which, r : r + 1])
                    self.conjugate[side, r] += [mean.conjugate(s * u) for s in SHRINKAGES]

    def proof(self, penalty: Any, alpha: float) -> Proof:
        if self.rows == 0:
            raise ValueError("The data has no rows with a weight above zero: there is nothing to certify.")
        W, units = self._weights(), np.ones(self.width)
        units[: min(len(self.units), self.width)] = self.units[: self.width]
        penalty = penalty.bound(_known(self.fit, self.width)) if penalty.groups is not None else penalty
        W = W * units[:, None]
        given = W[:, 0] if W.shape[1] == 1 else W
        omega = penalty.value(given)
        loss = self.loss / self.weight
        value = loss + (alpha * omega if alpha > 0 or math.isinf(omega) else 0.0)
        bound, reason = self._bound(penalty, alpha, units)
        return Proof(self.rows, loss, float(value), bound, float(max(value - bound, 0.0)), reason)

    def _weights(self) -> Array:
        W = np.zeros((self.width, len(self.fit.intercept)))
        W[self.fit.features] = self.fit.weights
        return W

    def _bound(self, penalty: Any, alpha: float, units: Array) -> tuple[float, str]:
        loss = self.fit.loss
        if not loss.has_conjugate:
            return -math.inf, f"the conjugate of {loss.label} is not known"
        if not penalty.has_dual(alpha):
            return -math.inf, f"{penalty.label} with alpha={alpha:g} leaves weights without a penalty"
        up, down = self.slopes[0], -self.slopes[1]
        share = np.ones((2, len(up)))
        if self.fit.facts.get("fit_intercept") is not False:
            if self.joint:
                if np.any(np.abs(up) > UNBALANCED * self.sizes.max(initial=0.0)):
                    least = float(-self.conjugate[0, 0, 0] / self.weight)
                    return least, "the intercepts of the classes are not the best ones: the bound is that of any loss"
            else:
                least = np.minimum(up, down)
                share = np.stack([least / np.maximum(up, 1e-300), least / np.maximum(down, 1e-300)])
        G = (share[:, None, :] * self.gradient[:, : self.width]).sum(axis=0) / self.weight / units[:, None]
        best = -math.inf
        for s, conjugate in penalty.shrinkages(alpha, G[:, 0] if G.shape[1] == 1 else G):
            total = 0.0
            for r in range(self.conjugate.shape[1]):
                for side in range(1 if self.joint else 2):
                    factor = s if self.joint else s * share[side, r]
                    total += float(np.interp(factor, SHRINKAGES, self.conjugate[side, r]))
            found = -total / self.weight - conjugate
            best = max(best, found if math.isfinite(found) else -math.inf)
        return best, "" if math.isfinite(best) else "no dual point is near"


def _known(fit: Model, width: int) -> Any:
    from gossamer.groups import Known

    names = None
    if fit.names is not None:
        of = dict(zip(fit.features.tolist(), fit.names, strict=True))
        names = [of.get(j, str(j)) for j in range(width)]
    return Known(width, names)
