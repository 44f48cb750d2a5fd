"""Models and checkpoints with changes and a right checksum: each is refused in words, or works.

`make fuzz` runs it for a minute under the sanitizers; `loaders.py SECONDS SEED` repeats a run. A process of its own
loads a batch of files: a crash or a hang is reported with the file that caused it, and the next batch goes on.
"""

from __future__ import annotations

import copy
import json
import mmap
import os
import random
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gossamer as gs
from gossamer.cli.checkpoint import Checkpoint
from gossamer.model import file_format, model
from gossamer.online.strategies import ManyStrengths, OneStrength
from gossamer.online.stream import Problem, Streaming, settled

FIXTURES = Path(__file__).parents[1] / "fixtures"
BATCH = 500
PATIENCE = 60  # seconds that one file may take
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    2,
    3,
    7,
    2**31,
    2**40,
    2**63,
    10**30,
    0.5,
    1e300,
    "",
    "x",
    "a" * 50,
    [],
    [0],
    {},
]
ODD_NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e15, -1e15, 1e300, -1e300, 5e-324, np.nan, np.inf, -np.inf, 255.0, 1e9]


@dataclass(frozen=True)
class Seed:
    """A right file, and what loads it."""

    name: str
    data: bytes
    load: Callable[[bytes], object]


def load_model(data: bytes) -> object:
    """Load a model and predict."""
    made = model.checked(*file_format.parse(data))
    if made.n_features <= 1000:
        made.predict(np.ones((2, made.n_features)))
    return made


THREE = {"strategy": ManyStrengths(3)}
PROBLEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "fobos, l1": ("svm", {"method": gs.Fobos(0.5), "penalty": gs.L1(), "features": 5}),
    "fobos, elastic net, averaged": ("svm", {"method": gs.Fobos(0.5), "penalty": gs.ElasticNet(), "average": True}),
    "fobos, simplex": ("svm", {"method": gs.Fobos(0.5), "penalty": gs.Simplex(1.0), "features": 5}),
    "fobos, l1 ball": ("svm", {"method": gs.Fobos(0.5), "penalty": gs.L1Ball(1.0), "features": 5}),
    "rda, l2": ("svm", {"method": gs.RDA(1.0), "penalty": gs.L2(), "features": 5}),
    "adagrad": ("vw", {"method": gs.AdaGrad(), "penalty": gs.L1()}),
    "ftrl": ("csv", {"method": gs.FTRL(), "penalty": gs.L1()}),
    "truncated gradient": ("svm", {"method": gs.TruncatedGradient(0.5), "penalty": gs.L1()}),
    "eg": ("svm", {"method": gs.ExponentiatedGradient(1.0, 0.1), "penalty": gs.NoPenalty(), "features": 5}),
    "step free": ("svm", {"method": gs.StepFree(), "penalty": gs.L1(), "features": 5}),
    "step free, box": ("svm", {"method": gs.StepFree(), "penalty": gs.Box(-1.0, 1.0), "features": 5}),
    "step free, centred": ("csv", {"method": gs.StepFree(), "penalty": gs.GroupL2(), "center": "auto"}),
    "step free, numbers": (
        "csv",
        {"method": gs.StepFree(), "penalty": gs.L1(), "center": "auto", "loss": gs.Squared()} | THREE,
    ),
    "step free path": ("svm", {"method": gs.StepFree(), "penalty": gs.L1(), "features": 5} | THREE),
    "groups of columns": ("csv", {"method": gs.Fobos(0.5), "penalty": gs.GroupL2(groups="columns")}),
    "groups by name": ("csv", {"method": gs.RDA(1.0), "penalty": gs.GroupL2(groups={"first": ["x"]})}),
    "batches": ("svm", {"method": gs.Fobos(0.5), "penalty": gs.L1(), "features": 5, "batch_size": 4}),
    "path": ("svm", {"method": gs.AdaGrad(), "penalty": gs.L1(), "strategy": ManyStrengths(3), "features": 5}),
}
TEXTS = {
    "svm": "".join(f"{i % 2} 1:{i / 7:.3} {2 + i % 4}:{i % 3}\n" for i in range(30)),
    "vw": "".join(f"{2 * (i % 2) - 1} | a:{i} b{i % 5}\n" for i in range(30)),
    "csv": "x,color,y\n" + "".join(f"{i},{'abc'[i % 3]},{i % 2}\n" for i in range(30)),
}


class CheckpointLoader:
    """Resumes from the checkpoint of one problem, and learns on."""

    def __init__(self, folder: Path, kind: str, settings: dict[str, Any]) -> None:
        self.text = folder / f"a.{kind}"
        self.text.write_text(TEXTS[kind])
        self.folder, self.options = folder, {} if kind == "svm" else {"bits": 4}  # small files
        self.problem = Problem(**{"loss": gs.Logistic(), "strategy": OneStrength(0.01)} | settings)
        source = gs.source(self.text, **self.options)
        stream = Streaming(self.problem)
        stream.problem, blocks = settled(self.problem, source)
        stream.width = stream.problem.features or 0
        self.block = next(iter(blocks))
        stream.learn(self.block)
        checkpoint = Checkpoint(folder, 1, {"of": "the fuzzer"})
        checkpoint.save(stream, source, self.block.position, 0, len(self.block))
        checkpoint.finish()
        self.path = checkpoint.path
        self.right = self.path.read_bytes()

    def __call__(self, data: bytes) -> object:
        """Resume."""
        self.path.write_bytes(data)
        source = gs.source(self.text, **self.options)
        stream = Streaming(self.problem)
        Checkpoint(self.folder, 1, {"of": "the fuzzer"}).resume(stream, source)
        stream.learn(self.block)
        if stream.trainer.setup.features * stream.trainer.setup.outputs < 10**6 and not stream.trainer.strategy.judges:
            stream.trainer.read()
        source.name(0)
        return stream


def seeds(folder: Path) -> list[Seed]:
    """Return models of every kind and checkpoints of every problem."""
    made = [Seed(path.name, path.read_bytes(), load_model) for path in sorted(FIXTURES.glob("*.gsm"))]
    for number, (name, (kind, settings)) in enumerate(PROBLEMS.items()):
        place = folder / str(number)
        place.mkdir()
        loader = CheckpointLoader(place, kind, settings)
        made.append(Seed(name, loader.right, loader))
    for seed in made:
        seed.load(seed.data)  # what is right loads
    return made


# Changes


def changed(rng: random.Random, data: bytes) -> bytes:
    """Return a file with some changes; nearly always with a right checksum."""
    magic, body = data[:8], bytearray(data[: -file_format.SUMS[data[:8]][0]])
    if rng.random() < 0.35:
        for _ in range(rng.randint(1, 4)):
            _change_bytes(rng, body)
    else:
        body = _changed_parts(rng, body, magic)
    if rng.random() < 0.03:
        return bytes(body) + data[-4:]
    return bytes(body) + file_format.SUMS.get(bytes(body[:8]), file_format.SUMS[magic])[1]([body])


def _change_bytes(rng: random.Random, out: bytearray) -> None:
    at = rng.randrange(len(out) + 1)
    match rng.randrange(5):
        case 0:
            del out[at : at + rng.randint(1, 9)]
        case 1:
            out[at:at] = rng.randbytes(rng.randint(1, 8))
        case 2 if len(out) > 16:
            out[8:16] = struct.pack("<Q", rng.choice([0, 1, len(out), 2**63, rng.randrange(2**64)]))
        case _ if at < len(out):
            out[at] = rng.choice([0, 255, 128, rng.randrange(256)])


def _changed_parts(rng: random.Random, body: bytearray, magic: bytes) -> bytearray:
    """Change values in the header and numbers in the arrays."""
    length = int.from_bytes(body[8:16], "little")
    header, tail = json.loads(bytes(body[16 : 16 + length])), bytearray(body[16 + length :])
    if rng.random() < 0.6:
        _change_numbers(rng, header["arrays"], tail)
    if rng.random() < 0.6:
        for _ in range(rng.randint(1, 2)):
            _change_value(rng, header)
    words = json.dumps(header).encode()
    return bytearray(magic) + struct.pack("<Q", len(words)) + words + tail


def _change_value(rng: random.Random, node: Any) -> None:
    """Change one value somewhere in the tree."""
    while True:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        if not keys:
            return
        key = rng.choice(keys)
        inner = node[key]
        if isinstance(inner, (dict, list)) and inner and rng.random() < 0.8:
            node = inner
            continue
        match rng.randrange(4):
            case 0:
                del node[key]
            case 1 if isinstance(inner, (int, float)) and not isinstance(inner, bool):
                node[key] = inner + rng.choice([-1, 1, 0.5, 1000, -(2**33)])
            case 2 if isinstance(node, list):
                node.append(inner)
            case _:
                node[key] = copy.deepcopy(rng.choice(ODD))
        return


def _change_numbers(rng: random.Random, listed: list[Any], tail: bytearray) -> None:
    """Change numbers of one array, and perhaps how many there are."""
    at, places = 0, []
    for entry in listed:
        places.append((entry, at))
        at += entry[2] * SIZES[entry[1]]
    filled = [(entry, begin) for entry, begin in places if 0 < entry[2] < 10**6]
    if not filled:
        return
    entry, begin = rng.choice(filled)
    size, kind = SIZES[entry[1]], np.dtype(entry[1])
    for _ in range(rng.randint(1, 3)):
        number = rng.choice(ODD_NUMBERS)
        if kind.kind != "f":
            number = max(min(int(number) if np.isfinite(number) else 0, np.iinfo(kind).max), np.iinfo(kind).min)
        place = begin + size * rng.randrange(entry[2])
        tail[place : place + size] = np.array(number, kind).tobytes()
    if rng.random() < 0.2:
        end = begin + size * entry[2]
        if rng.random() < 0.5:
            tail[end:end] = bytes(size)
            entry[2] += 1
        else:
            del tail[end - size : end]
            entry[2] -= 1


SIZES = {"<f8": 8, "<f4": 4, "<i8": 8, "<i4": 4, "|u1": 1}


# Running


def one_file(made: list[Seed], seed: int, number: int) -> tuple[Seed, bytes]:
    """Return file `number` of a run."""
    rng = random.Random(seed * 1_000_003 + number)
    right = rng.choice(made)
    return right, changed(rng, right.data)


def load_batch(made: list[Seed], seed: int, first: int, shared: mmap.mmap) -> None:
    """Load a batch; `shared` holds the number of the file at work, and counts of what happened."""
    counts = list(struct.unpack_from("<4Q", shared, 0))
    for number in range(first, first + BATCH):
        struct.pack_into("<Q", shared, 0, number)
        right, data = one_file(made, seed, number)
        try:
            right.load(data)
            counts[1] += 1
        except (ValueError, MemoryError, FloatingPointError):  # the last where a sound state diverges
            counts[2] += 1
        except Exception as error:  # a traceback where a sentence belongs
            counts[3] += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{type(error).__name__} in {Path(where.filename).name}, line {where.lineno}"
            print(f"no sentence: {place}: {error} (file {number} of seed {seed}, {right.name})", flush=True)
        struct.pack_into("<3Q", shared, 8, *counts[1:])


def main(seconds: float, seed: int) -> int:
    """Load batches until the time is over; return how many files did harm."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    print(f"seed {seed}", flush=True)
    shared = mmap.mmap(-1, 64)
    room = "/dev/shm" if Path("/dev/shm").is_dir() else None
    harmed, first, start = 0, 0, time.monotonic()
    told: set[str] = set()
    with tempfile.TemporaryDirectory(dir=room) as folder:
        made = seeds(Path(folder))
        while time.monotonic() - start < seconds:
            words, status = _forked(lambda at=first: load_batch(made, seed, at, shared), shared)
            for line in words.splitlines():
                kind = line.split(": ")[1] if line.startswith("no sentence: ") else None
                if kind is not None and kind not in told:
                    told.add(kind)
                    print(line, flush=True)
            at = struct.unpack_from("<Q", shared, 0)[0]
            if status != 0:
                harmed += 1
                kept = Path(tempfile.gettempdir(), f"gossamer-fuzz-{seed}-{at}")
                kept.write_bytes(one_file(made, seed, at)[1])
                what = "it hangs" if status is None else f"status {status}"
                print(f"{what} on file {at} of seed {seed}, kept as {kept}\n{words[-5000:]}", flush=True)
            first = at + 1 if status != 0 else first + BATCH
        _, loaded, refused, odd = struct.unpack_from("<4Q", shared, 0)
    took = time.monotonic() - start
    print(
        f"{first:,} files in {took:.0f} s ({first / took:.0f} per second): {refused:,} refused, {loaded:,} loaded, ",
        end="",
    )
    print(f"{odd:,} without a sentence ({len(told)} kinds), {harmed} crashed or hung")
    return harmed + odd


def _forked(work: Callable[[], None], shared: mmap.mmap) -> tuple[str, int | None]:
    """Run in a process of its own; return what it printed and its status, None if it hung."""
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if child == 0:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
            try:
                work()
            except BaseException:
                traceback.print_exc()
                os._exit(9)
            os._exit(0)
        at, since = -1, time.monotonic()
        status: int | None = None
        while True:
            pid, found = os.waitpid(child, os.WNOHANG)
            if pid:
                status = found
                break
            now = struct.unpack_from("<Q", shared, 0)[0]
            if now != at:
                at, since = now, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
            time.sleep(0.02)
        printed.seek(0)
        return printed.read().decode(errors="replace"), status


if __name__ == "__main__":
    numbers = [float(word) for word in sys.argv[1:]]
    harm = main(numbers[0] if numbers else 60.0, int(numbers[1]) if len(numbers) > 1 else random.randrange(10**6))
    sys.exit(1 if harm else 0)
