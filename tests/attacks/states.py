"""States of learners that come from outside: by pickle, by `restore`, through a checkpoint with a right checksum."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import gossamer as gs
from attacks.problems import DENSE, TWO, D, check, checkpoint, csr, forged, run, stopped
from attacks.rows import REFUSED_OR_SOUND, Either, Row, exits, raises
from gossamer.model import file_format

LEARNERS: dict[str, dict[str, Any]] = {
    "fobos, l1": {"method": gs.Fobos(0.5), "penalty": "l1"},
    "fobos, elastic net": {"method": gs.Fobos(0.5), "penalty": "elastic_net"},
    "fobos, simplex": {"method": gs.Fobos(0.5), "penalty": gs.Simplex(1.0)},
    "fobos, l1 ball": {"method": gs.Fobos(0.5), "penalty": gs.L1Ball(1.0)},
    "fobos, l2 ball": {"method": gs.Fobos(0.5), "penalty": gs.L2Ball(1.0)},
    "fobos, groups": {"method": gs.Fobos(0.5), "penalty": gs.GroupL2(groups=np.arange(D) // 2)},
    "fobos, average": {"method": gs.Fobos(0.5), "penalty": "l1", "average": True},
    "rda": {"method": gs.RDA(1.0), "penalty": "l1"},
    "rda, groups": {"method": gs.RDA(1.0), "penalty": gs.GroupL2(groups=np.arange(D) // 2)},
    "adagrad": {"method": gs.AdaGrad(0.1), "penalty": "l1"},
    "adagrad, fobos form": {"method": gs.AdaGrad(0.1, form="fobos"), "penalty": "l1"},
    "ftrl": {"method": gs.FTRL(0.1), "penalty": "l1"},
    "truncated gradient": {"method": gs.TruncatedGradient(0.5), "penalty": "l1"},
    "pegasos": {"method": gs.Pegasos(), "penalty": "l2_squared", "alpha": 0.1},
    "step free": {"method": gs.StepFree(), "penalty": "l1"},
    "step free, rows": {"method": gs.StepFree(), "penalty": "group_l2"},
    "step free, box": {"method": gs.StepFree(), "penalty": gs.Box(-1.0, 1.0)},
    "step free, centred": {"method": gs.StepFree(), "penalty": "l1", "center": True},
    "eg": {"method": gs.ExponentiatedGradient(1.0, 0.1), "penalty": "none"},
}


def made(name: str) -> Any:
    if name == "path":
        return gs.OnlineClassifierCV(alphas=4).fit(csr(), TWO)
    return gs.OnlineClassifier(**{"alpha": 0.01} | LEARNERS[name]).fit(csr(), TWO)


def all_numbers(value: float) -> Callable[[Any], Any]:
    return lambda v: np.full_like(v, value)


def first_number(value: float) -> Callable[[Any], Any]:
    return lambda v: np.concatenate([[value], v[1:]]) if len(v) else v


CHANGES: dict[str, Callable[[Any], Any]] = {
    "NaN": first_number(np.nan),
    "-1": all_numbers(-1.0),
    "1e15": first_number(1e15),
    "1e270": all_numbers(1e270),
    "1e-40": first_number(1e-40),
    "nothing": lambda v: v[:0],
    "one more": lambda v: np.concatenate([v, [0.0]]),
    "reversed": lambda v: v[::-1].copy(),
    "zeros": np.zeros_like,
}


def tampered(name: str, change: str, only: str = "") -> None:
    """Change each vector of a learner, one after the other: a ValueError, or a learner that goes on soundly."""
    model = made(name)
    trainer = model._trainer
    for vector in [v for v in trainer.learner.state() if only in v]:
        state = trainer.__getstate__()
        state["learner"] = {k: v.copy() for k, v in state["learner"].items()}
        state["learner"][vector] = CHANGES[change](state["learner"][vector])
        other = type(trainer).__new__(type(trainer))
        try:
            other.__setstate__(state)
            model._trainer, model._read_once = other, type(model._read_once)()
            check(model)
            model.partial_fit(csr(), TWO)  # what diverges here says so
            check(model)
        except AssertionError as error:
            raise AssertionError(f"{vector}: {error}") from None
        except ValueError as refusal:
            if len(str(refusal)) < 15:
                raise AssertionError(f"{vector}: the error says nothing: {refusal}") from None


def learner_rows() -> list[Row]:
    rows = []
    for name in [*LEARNERS, "path"]:
        for change in CHANGES:
            rows.append(Row(f"state of {name}, {change}", partial(tampered, name, change), REFUSED_OR_SOUND, 4.0))
    return rows


def with_state(change: Callable[[dict[str, Any]], None]) -> None:
    """Change what is around the learner: the attributes of the trainer."""
    model = made("fobos, l1")
    trainer = model._trainer
    state = trainer.__getstate__()
    change(state)
    other = type(trainer).__new__(type(trainer))
    other.__setstate__(state)
    model._trainer = other
    model.partial_fit(csr(), TWO)
    check(model)


def setting(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(state: dict[str, Any]) -> None:
        state[name] = value

    return change


def learner_state(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    def changed(state: dict[str, Any]) -> None:
        state["learner"] = dict(state["learner"])
        change(state["learner"])

    return changed


PARTS = ["method", "penalty", "strategy", "targets", "setup", "setting", "learner", "decided", "buffer", "repeats"]
ATTRIBUTES = {
    "an empty learner": setting("learner", {}),
    "a learner that is a list": setting("learner", [1, 2]),
    "a vector of integers": learner_state(lambda s: s.update(levels=np.arange(D))),
    "a vector of words": learner_state(lambda s: s.update(levels=np.array(["a"] * D))),
    "a matrix in place of a vector": learner_state(lambda s: s.update(levels=np.zeros((D, D)))),
    "a list in place of a vector": learner_state(lambda s: s.update(levels=[0.0] * D)),
    "None in place of a vector": learner_state(lambda s: s.update(levels=None)),
    "no counts": learner_state(lambda s: s.pop("counts")),
    "an unknown vector": learner_state(lambda s: s.update(other=np.zeros(3))),
    "a setup of more features": lambda s: s.update(setup=type(s["setup"])(10**9, 1, 0.1, True, False)),
    "a setup of no outputs": lambda s: s.update(setup=type(s["setup"])(D, 0, 0.1, True, False)),
    "a step of NaN": setting("setting", np.nan),
    "a step of -1": setting("setting", -1.0),
    "a buffer that is a word": setting("buffer", "rows"),
    "decided: a word": setting("decided", "yes"),
    "spans that are words": setting("repeats", ["a"]),
}


def attribute_rows() -> list[Row]:
    types = (ValueError, TypeError, KeyError, AttributeError, MemoryError)
    must = Either((raises(types), REFUSED_OR_SOUND))
    rows = [
        Row(f"state of a trainer: {kind}", partial(with_state, change), must) for kind, change in ATTRIBUTES.items()
    ]
    for name in PARTS:
        lacks = raises(ValueError, f"without {name}")
        rows.append(Row(f"state of a trainer: no {name}", partial(with_state, partial(without, name)), lacks))
    return rows


def without(name: str, state: dict[str, Any]) -> None:
    del state[name]


def damaged(change: Callable[[bytes], bytes]) -> None:
    data = pickle.dumps(made("fobos, simplex"))
    try:
        model = pickle.loads(change(data))
        check(model)
    except Exception as error:  # of pickle itself; a crash is what must not happen
        raise ValueError(f"the pickle was refused: {error!r}") from None


def flipped(seed: int) -> Callable[[bytes], bytes]:
    """Numbers of the state are changed, the rest of the pickle stays as it is."""

    def change(data: bytes) -> bytes:
        random, out = np.random.default_rng(seed), bytearray(data)
        raw = np.asarray(made("fobos, simplex")._trainer.learner.state()["simplex_heap"]).tobytes()
        at = data.find(raw)
        assert at > 0
        out[at : at + len(raw)] = random.permutation(np.frombuffer(raw) * 7 - 3).tobytes()
        return bytes(out)

    return change


def pickle_rows() -> list[Row]:
    cuts = {"nothing": 0, "one byte": 1, "half": -1}
    rows = [
        Row(
            f"a pickle cut to {kind}",
            lambda n=n: damaged(lambda d: d[: len(d) // 2 if n < 0 else n]),
            raises(ValueError, "refused"),
        )
        for kind, n in cuts.items()
    ]
    rows += [
        Row(f"a pickle whose heap is shuffled, seed {seed}", partial(damaged, flipped(seed)), REFUSED_OR_SOUND, 4.0)
        for seed in range(4)
    ]
    return rows


# Through a checkpoint: the checksum is right, the state is not.

CHECKPOINTED = {
    "fobos, simplex": ("--method", "fobos(step=0.5)", "--penalty", "simplex(1.0)", "--features", "6"),
    "fobos, l1": ("--method", "fobos(step=0.5)", "--alpha", "0.01"),
    "fobos, elastic net": ("--method", "fobos(step=0.5)", "--penalty", "elastic_net", "--alpha", "0.01"),
    "adagrad": ("--alpha", "0.01", "--method", "adagrad"),
    "path": ("--path", "4", "--method", "adagrad"),
    "step free": ("--alpha", "0.01", "--method", "step_free"),
    "step free path": ("--path", "4"),
}


def through_checkpoint(name: str, change: str, vector: str) -> int:
    command = stopped(*CHECKPOINTED[name])

    def forge(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        learner = header["state"]["dict"]["trainer"]["dict"]["learner"]["dict"]
        places = [v for k, v in learner.items() if k.startswith(vector)]
        assert places, list(learner)
        for place in places:
            whole = np.zeros(int(np.prod(place["shape"])))
            whole[: len(arrays[place["array"]])] = arrays[place["array"]]
            arrays[place["array"]] = np.asarray(CHANGES[change](whole), "<f8")
            place["shape"] = [len(arrays[place["array"]])]

    forged(str(checkpoint()), forge, file_format.CRASH_MAGIC)
    return finite(run(*command))


def finite(code: int) -> int:
    """Require that a model that was written is finite."""
    if code == 0:
        check_model(gs.load("m.gsm"))
    return code


def check_model(model: Any) -> None:
    assert np.isfinite(model.value).all()
    assert np.isfinite(model.predict(DENSE)).all()


def checkpoint_rows() -> list[Row]:
    vectors = {
        "fobos, simplex": ("simplex_heap", "simplex_class", "simplex_parent", "simplex_raw", "simplex_count"),
        "fobos, l1": ("levels", "lazy_total", "counts", "intercept"),
        "fobos, elastic net": ("slots", "lazy_product", "lazy_sum"),
        "adagrad": ("slots", "rounds"),
        "path": ("slots", "lane_losses"),
        "step free": ("slots", "rounds", "squares", "bins", "damping", "base_sums", "slope_units", "slope_squares"),
        "step free path": ("slots", "units", "lane_losses", "base_squares"),
    }
    must = Either((exits(1), exits(0)))
    rows = []
    for name, all_vectors in vectors.items():
        for vector in all_vectors:
            for change in ("-1", "1e15", "NaN"):
                title = f"checkpoint of {name}, {vector}: {change}"
                rows.append(Row(title, partial(through_checkpoint, name, change, vector), must, 4.0))
    return rows


ROWS = [*learner_rows(), *attribute_rows(), *pickle_rows(), *checkpoint_rows()]
