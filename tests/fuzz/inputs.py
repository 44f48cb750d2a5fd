"""One hostile input for the readers and the model loader: it may be refused in words, and nothing else may happen."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import numpy as np

import gossamer as gs
from gossamer.model import file_format, model
from gossamer.sources.blocks import ReadError

FIXTURES = Path(__file__).parents[1] / "fixtures"
SEEDS = {
    "svmlight": b"1 1:0.5 7:2e-3 # words\n-1 qid:3 4:1 2:3 2:4\r\n+1.5 2147483646:1\n",
    "vw": b"1 2.0 'tag|user:2 age:3 male |item price:0.5 |\n-1 second| plain :4\n| a:1e1\n",
    "table": "words,when,n,y\nNot good not GOOD,2014-10-21 05:00:00,NA,1\nÀ “la” carte,2014-10-22,-3,0\n".encode(),
    "csv": b'x,color,y\n1.5,red,1\n,"a ""b"", c\nd",0\n-3e5,,1\n',
}
TOKENS = [
    b"\n",
    b"\r\n",
    b'"',
    b"|",
    b":",
    b",",
    b" ",
    b"\0",
    b"1e999",
    b"nan",
    b"-",
    b"99999999999",
    b"\xff",
    b"0:1",
    b"#",
    b"'",
]


def one_text(kind: str, data: bytes, block: int, skip: bool, folder: Path) -> int:
    """Read text; return the rows. What comes out must be CSR as the learners need it."""
    kind = {"table": "csv"}.get(kind, kind)
    path = folder / f"a.{ {'svmlight': 'svm'}.get(kind, kind) }"
    path.write_bytes(data)
    rows = 0
    try:
        source = gs.source(path, kind, block=block, on_error="skip" if skip else "stop", need_labels=False)
        for part in source.blocks():
            assert part.starts[0] == 0
            assert part.starts[-1] == len(part.index) == len(part.value)
            assert (np.diff(part.starts) >= 0).all()
            assert np.isfinite(part.value).all()
            assert part.weight is None or (len(part.weight) == len(part) and (part.weight >= 0).all())
            assert part.label is None or len(part.label) == len(part)
            if len(part.index):
                assert part.index.min() >= 0
                assert part.index.max() < part.width
                same_row = np.ones(len(part.index), bool)
                same_row[part.starts[:-1][part.starts[:-1] < len(part.index)]] = False
                assert (np.diff(part.index)[same_row[1:]] > 0).all()
            rows += len(part)
    except ReadError:
        pass
    return rows


def one_model(data: bytes) -> None:
    """Load a model; past the checksum, to what is behind it."""
    size, checksum = file_format.SUMS.get(data[:8], file_format.SUMS[file_format.MAGIC])
    body = data[:-size] if len(data) > size else data
    for sealed in (data, body + checksum([body])):
        try:
            made = model.checked(*file_format.parse(sealed))
        except file_format.FileError:
            continue
        if made.n_features <= 1000:
            made.predict(np.ones((2, made.n_features)))


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Return data with a few changes."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at = rng.randint(0, len(out))
        match rng.randint(0, 4):
            case 0:
                out[at:at] = rng.choice(TOKENS)
            case 1:
                del out[at : at + rng.randint(1, 8)]
            case 2:
                out[at:at] = out[at : at + rng.randint(1, 40)] * rng.randint(1, 4)
            case 3 if out:
                out[min(at, len(out) - 1)] = rng.randrange(256)
            case _:
                out[at:at] = rng.randbytes(rng.randint(1, 4))
    return bytes(out)


def one_input(data: bytes) -> None:
    """Give the bytes to everything that reads."""
    with tempfile.TemporaryDirectory() as folder:
        for kind in SEEDS:
            one_text(kind, data, 1 + len(data) % 97, bool(len(data) % 2), Path(folder))
    one_model(data)


def seeds() -> list[bytes]:
    """Return inputs that are right."""
    return [*SEEDS.values(), *(path.read_bytes() for path in sorted(FIXTURES.glob("*.gsm")))]
