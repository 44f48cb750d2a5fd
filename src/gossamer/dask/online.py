"""Online estimators over partitions: a learner on each, merged a few times in a pass; or one that visits them in turn.

    merges = 0   partition 0, 1, 2, …: the learner goes from one to the next. The bits of one learner, and no speed-up.
    merges = r   r times in a pass all learners become one (online/merging.py), and go on from equal shares of it.

Methods that choose a step look at the first rows of partition 0. Curvatures go with the root of the number of rows, so
that those of P learners add up to √P times that of one over all rows; learners take √P times its step, but eight times
at most, as steps within a partition are longer too. (RDA, with one step for all features: P^⅓, four times at most.)
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from gossamer import methods, online
from gossamer.batch.partitions import Raw, Spec
from gossamer.batch.runs import Runner
from gossamer.dask.data import source
from gossamer.dask.over import OverPartitions
from gossamer.dask.predicting import Predicting, PredictingClasses
from gossamer.estimators import inputs
from gossamer.groups import Known
from gossamer.online import merging, step_search
from gossamer.online.estimators import _Online, _ReadOnce, rows_of
from gossamer.online.trainer import Trainer
from gossamer.sources.rows import Rows
from gossamer.validation import whole

__all__ = ["OnlineClassifier", "OnlineClassifierCV", "OnlineRegressor", "OnlineRegressorCV"]

LONGEST_STEP = 8.0  # times that of one learner


def rows_in(raw: Raw, spec: Spec, centred: int) -> Rows:
    """Return the rows of a partition that count, as learners read them."""
    X, y, weight, coded = raw.X, raw.y, raw.weight, spec.coded
    assert y is not None
    if spec.class_weight is not None and len(y):
        weight = (1.0 if weight is None else weight) * spec.class_weight[coded.index_of(y)]
    if X.shape[1] < spec.width:
        X = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], spec.width))
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    rows = rows_of(X, centred, coded.encode(y), weight, raw.offset).without_zero_weights()
    rows.check(spec.width)
    rows.check_size()
    return rows


def learned(rows: Rows, trainer: Trainer, piece: int, of: int, seed: Any, repeated: bool) -> Trainer:
    """Return the trainer after one piece of the rows, in a random order if there is a seed."""
    order = np.arange(len(rows)) if seed is None else np.random.default_rng(seed).permutation(len(rows))
    trainer = copy.deepcopy(trainer)  # a task may run twice
    trainer.learn(rows.taken(np.array_split(order, of)[piece]), repeated=repeated)
    return trainer


def learned_next(rows: Rows, trainer: Trainer, number: int, seed: Any, repeated: bool) -> Trainer:
    """Return the trainer after all rows of partition `number`."""
    if len(rows) == 0:
        return trainer
    return learned(rows, trainer, 0, 1, None if seed is None else (*seed, number), repeated)


def first_rows(rows: Rows, wanted: bool) -> Rows | None:
    """Return the rows that decide on a step."""
    return rows[: step_search.PREFIX].compact() if wanted else None


class _Partitioned(OverPartitions, _Online):
    """What online estimators over partitions share."""

    merges: Any
    # Parameters of the plain estimators that those over partitions do not have.
    tol: float | None = None
    early_stopping = False
    validation_fraction = 0.1
    n_iter_no_change = 1
    warm_start = False
    grow = False
    batch_size = 1

    def _fit_partitions(self, X: Any, y: Any, weight: Any, options: dict[str, Any]) -> Any:
        merges, most = whole(self.merges, "merges", 0), self._checked_passes()
        new = copy.copy(self)
        new.client = self.client
        loss, penalty, strategy = self._parts()
        data = source(X, y, weight=weight, **options)
        raw = self._runner(data)
        runner: Runner | None = None
        try:
            coded, spec, _ = self._surveyed(raw, loss)
            penalty = penalty.bound(Known(spec.width, None))
            method = self._method(penalty, coded.loss, merges > 0)
            if merges > 0:
                merging.refuse(method, penalty, bool(self.average))
            center = method.centring(self.center, self.fit_intercept)
            centred = spec.width if center is True or (center == "auto" and all(raw.run(_is_dense))) else 0
            trainer = Trainer(
                method,
                penalty,
                strategy,
                coded,
                spec.width,
                fit_intercept=bool(self.fit_intercept),
                average=bool(self.average),
                centred=centred,
                sparsest=self._checked_select() == "sparsest",
            )
            runner = raw.mapped(rows_in, spec, centred)
            seed = int(check_random_state(self.random_state).randint(2**31)) if self.shuffle else None
            for number in range(most):
                own = None if seed is None else (seed, number)
                if merges == 0:
                    trainer = runner.chain(learned_next, trainer, own, number > 0)
                else:
                    trainer = self._merged_pass(runner, trainer, merges, own, number > 0)
                if self.verbose:
                    print(f"pass {number + 1}: {trainer.rounds} rows, round {runner.rounds} of tasks", flush=True)
            trainer.check_finite()
            new.n_rounds_ = raw.rounds + runner.rounds
            new.bytes_up_, new.bytes_down_ = raw.bytes_up + runner.bytes_up, raw.bytes_down + runner.bytes_down
        finally:
            if runner is not None:
                runner.release()
            raw.release()
        new._trainer, new._read_once, new._sparse = trainer, _ReadOnce(), False
        new.n_features_in_, new.n_iter_ = spec.width, most
        if coded.classes is not None:
            new.classes_ = coded.classes
        new._name_features(data)
        inputs.forget(self)
        self.__dict__.update(new.__dict__)
        return self

    def _method(self, penalty: Any, loss: Any, merges: bool) -> Any:
        """Return the method; "auto" is AdaGrad where learners are merged, as its sums add up exactly."""
        if merges and self.method == "auto" and penalty.acts_on_rows and not self.average:
            return methods.AdaGrad()
        return methods.resolve_for(self.method, penalty, loss, bool(self.average))

    def _merged_pass(self, runner: Runner, trainer: Trainer, merges: int, seed: Any, repeated: bool) -> Trainer:
        """Return the trainer after a pass over all partitions, merged so many times."""
        count = len(runner)
        if trainer.decided < step_search.PREFIX:
            for number in range(count):  # partitions may be empty
                first = runner.run_each(first_rows, [(i == number,) for i in range(count)])[number]
                if len(first) >= step_search.FIRST:
                    break
            else:
                raise ValueError(
                    f"The first rows of a partition choose the step: {step_search.FIRST} are needed, and no partition "
                    "has as many. Give a step, or use larger partitions."
                )
            deciding = step_search.deciding_rows(len(first))
            setting = trainer.strategy.choose(trainer, first[:deciding])
            inverse = "gamma" in trainer.learner.state()
            by = min(count ** (1 / 3), 4.0) if inverse else min(count**0.5, LONGEST_STEP)
            by = by if trainer.method.searches else 1.0
            trainer.setting = trainer.strategy.scaled(setting, 1 / by if inverse else by)
            trainer.learner = trainer.strategy.make(trainer, trainer.setting)
            trainer.decided, trainer.buffer = step_search.PREFIX, None
        for piece in range(merges):
            shares = [merging.share(trainer, i, count) for i in range(count)] if trainer.rounds else [trainer] * count
            own = None if seed is None else seed
            args = [(shares[i], piece, merges, None if own is None else (*own, i), repeated) for i in range(count)]
            trainer = merging.merged(runner.run_each(learned, args))
        return trainer


def _is_dense(raw: Raw) -> bool:
    return raw.dense


class OnlineClassifier(PredictingClasses, _Partitioned, online.OnlineClassifier):
    """`gossamer.OnlineClassifier` over partitions of rows on a Dask cluster.

    Learners on the partitions are merged `merges` times in a pass; the same partitions give the same bits, whatever the
    workers. Methods whose state adds up can be merged: AdaGrad's dual form, RDA and FTRL exactly, the rule without a
    step approximately. Others, and penalties that couple features, learn with merges=0.

    Parameters
    ----------
    loss, penalty, alpha, max_passes, average, center, select, fit_intercept, class_weight, random_state, verbose
        As in `gossamer.OnlineClassifier`.
    method : str or method, default "auto"
        As there; but "auto" is AdaGrad in its dual form where learners are merged.
    shuffle : bool, default True
        Whether the rows are shuffled before each pass, each partition for itself.
    merges : int, default 4
        How many times in a pass the learners are merged. 0: one learner goes from partition to partition in their
        order, which has the bits of one learner in one process, and takes as long.
    client : dask.distributed.Client, "local" or None
        Where to compute: by default the current client. "local" is a loop in this process.

    Attributes
    ----------
    coef_, intercept_, classes_, nonzero_features_, progressive_loss_, step_, n_iter_, t_, n_features_in_
        As in `gossamer.OnlineClassifier`.
    n_rounds_, bytes_up_, bytes_down_ : int
        Rounds of tasks, and the bytes that one partition (that with the largest messages) sent and was sent.

    Examples
    --------
    >>> import dask
    >>> import gossamer.dask as gd
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> blocks = [dask.delayed((scale(X)[i::4], y[i::4])) for i in range(4)]
    >>> model = gd.OnlineClassifier(client="local", random_state=0).fit(blocks)
    >>> model.t_, model.score(scale(X), y) > 0.95
    (569, True)
    """

    def __init__(
        self,
        loss: Any = "logistic",
        penalty: Any = "l1",
        alpha: float = 1e-5,
        method: Any = "auto",
        *,
        max_passes: int = 1,
        shuffle: bool = True,
        average: bool = False,
        center: Any = "auto",
        select: str = "best",
        fit_intercept: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        merges: int = 4,
        client: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.method = method
        self.max_passes = max_passes
        self.shuffle = shuffle
        self.average = average
        self.center = center
        self.select = select
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose
        self.merges = merges
        self.client = client

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> OnlineClassifier:
        """Learn from all partitions of X: what `gossamer.dask.source` takes, with its options."""
        return self._fit_partitions(X, y, sample_weight, options)


class OnlineRegressor(Predicting, _Partitioned, online.OnlineRegressor):
    """`gossamer.OnlineRegressor` over partitions of rows on a Dask cluster.

    Parameters
    ----------
    loss, penalty, alpha, max_passes, average, center, select, fit_intercept, random_state, verbose
        As in `gossamer.OnlineRegressor`.
    method, shuffle, merges, client
        As in `gossamer.dask.OnlineClassifier`.

    Attributes
    ----------
    coef_, intercept_, nonzero_features_, progressive_loss_, step_, n_iter_, t_, n_features_in_
        As in `gossamer.OnlineRegressor`.
    n_rounds_, bytes_up_, bytes_down_
        As in `gossamer.dask.OnlineClassifier`.

    Examples
    --------
    >>> import dask
    >>> import gossamer.dask as gd
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> blocks = [dask.delayed((X[i::3], y[i::3])) for i in range(3)]
    >>> model = gd.OnlineRegressor(merges=0, shuffle=False, client="local").fit(blocks)
    >>> model.t_
    442
    """

    def __init__(
        self,
        loss: Any = "squared",
        penalty: Any = "l1",
        alpha: float = 1e-5,
        method: Any = "auto",
        *,
        max_passes: int = 1,
        shuffle: bool = True,
        average: bool = False,
        center: Any = "auto",
        select: str = "best",
        fit_intercept: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        merges: int = 4,
        client: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.method = method
        self.max_passes = max_passes
        self.shuffle = shuffle
        self.average = average
        self.center = center
        self.select = select
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.verbose = verbose
        self.merges = merges
        self.client = client

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> OnlineRegressor:
        """Learn from all partitions of X: what `gossamer.dask.source` takes, with its options."""
        return self._fit_partitions(X, y, sample_weight, options)


class OnlineClassifierCV(PredictingClasses, _Partitioned, online.OnlineClassifierCV):
    """`gossamer.OnlineClassifierCV` over partitions of rows on a Dask cluster.

    All strengths learn in the same pass and are merged together; progressive losses add up and choose the strength.

    Parameters
    ----------
    alphas, alpha_min_ratio, loss, penalty, select, max_nonzeros, max_passes, center, fit_intercept
        As in `gossamer.OnlineClassifierCV`.
    class_weight, random_state, verbose
        As in `gossamer.OnlineClassifierCV`.
    n_jobs : int, optional
        Threads of one task; 1 by default is what a worker with one thread has.
    method, shuffle, merges, client
        As in `gossamer.dask.OnlineClassifier`.

    Attributes
    ----------
    alphas_, alpha_, path_loss_, path_loss_se_, path_nonzeros_, path_step_, coef_path_, intercept_path_
        As in `gossamer.OnlineClassifierCV`.
    n_rounds_, bytes_up_, bytes_down_
        As in `gossamer.dask.OnlineClassifier`.

    Examples
    --------
    >>> import dask
    >>> import gossamer.dask as gd
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> blocks = [dask.delayed((scale(X)[i::4], y[i::4])) for i in range(4)]
    >>> model = gd.OnlineClassifierCV(client="local", random_state=0).fit(blocks)
    >>> len(model.alphas_), model.score(scale(X), y) > 0.95
    (16, True)
    """

    def __init__(
        self,
        alphas: Any = 16,
        loss: Any = "logistic",
        penalty: Any = "l1",
        method: Any = "auto",
        *,
        alpha_min_ratio: float | None = None,
        select: str = "sparsest",
        max_nonzeros: int | None = None,
        max_passes: int = 1,
        shuffle: bool = True,
        center: Any = "auto",
        fit_intercept: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = 1,
        verbose: int = 0,
        merges: int = 4,
        client: Any = None,
    ) -> None:
        self.alphas = alphas
        self.loss = loss
        self.penalty = penalty
        self.method = method
        self.alpha_min_ratio = alpha_min_ratio
        self.select = select
        self.max_nonzeros = max_nonzeros
        self.max_passes = max_passes
        self.shuffle = shuffle
        self.center = center
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.merges = merges
        self.client = client

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> OnlineClassifierCV:
        """Learn from all partitions of X: what `gossamer.dask.source` takes, with its options."""
        return self._fit_partitions(X, y, sample_weight, options)


class OnlineRegressorCV(Predicting, _Partitioned, online.OnlineRegressorCV):
    """`gossamer.OnlineRegressorCV` over partitions of rows on a Dask cluster.

    Parameters
    ----------
    alphas, alpha_min_ratio, loss, penalty, select, max_nonzeros, max_passes, center, fit_intercept
        As in `gossamer.OnlineRegressorCV`.
    random_state, verbose
        As in `gossamer.OnlineRegressorCV`.
    n_jobs
        As in `gossamer.dask.OnlineClassifierCV`.
    method, shuffle, merges, client
        As in `gossamer.dask.OnlineClassifier`.

    Attributes
    ----------
    alphas_, alpha_, path_loss_, path_loss_se_, path_nonzeros_, path_step_, coef_path_, intercept_path_
        As in `gossamer.OnlineRegressorCV`.
    n_rounds_, bytes_up_, bytes_down_
        As in `gossamer.dask.OnlineClassifier`.

    Examples
    --------
    >>> import dask
    >>> import gossamer.dask as gd
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> blocks = [dask.delayed((X[i::3], y[i::3])) for i in range(3)]
    >>> model = gd.OnlineRegressorCV(max_passes=20, client="local", random_state=0).fit(blocks)
    >>> model.score(X, y) > 0.3
    True
    """

    def __init__(
        self,
        alphas: Any = 16,
        loss: Any = "squared",
        penalty: Any = "l1",
        method: Any = "auto",
        *,
        alpha_min_ratio: float | None = None,
        select: str = "sparsest",
        max_nonzeros: int | None = None,
        max_passes: int = 1,
        shuffle: bool = True,
        center: Any = "auto",
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: int | None = 1,
        verbose: int = 0,
        merges: int = 4,
        client: Any = None,
    ) -> None:
        self.alphas = alphas
        self.loss = loss
        self.penalty = penalty
        self.method = method
        self.alpha_min_ratio = alpha_min_ratio
        self.select = select
        self.max_nonzeros = max_nonzeros
        self.max_passes = max_passes
        self.shuffle = shuffle
        self.center = center
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.merges = merges
        self.client = client

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> OnlineRegressorCV:
        """Learn from all partitions of X: what `gossamer.dask.source` takes, with its options."""
        return self._fit_partitions(X, y, sample_weight, options)
