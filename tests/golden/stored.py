"""The golden values on disk: weights, refusals, values of objectives, and files of old revisions."""

import io
import json
import tarfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
OLD_FILES = FOLDER / "old_files.tar.xz"


def weights():
    """Return the vectors by name."""
    with np.load(FOLDER / "weights.npz") as file:
        vectors = np.split(file["values"], file["ends"][:-1])
        return dict(zip(file["names"].tolist(), vectors, strict=True))


def keep_weights(vectors):
    names, ends = np.array(list(vectors)), np.cumsum([len(v) for v in vectors.values()])
    np.savez_compressed(FOLDER / "weights.npz", names=names, ends=ends, values=np.concatenate(list(vectors.values())))


def refusals():
    """Return the sentences by name; the file has the names by sentence."""
    found = json.loads((FOLDER / "refusals.json").read_text(encoding="utf-8"))
    return {name: sentence for sentence, names in found.items() for name in names}


def keep_refusals(sentences):
    names = {sentence: [] for sentence in sentences.values()}
    for name, sentence in sentences.items():
        names[sentence].append(name)
    _write("refusals.json", names)


def files():
    """Return the bytes of the old files by name."""
    with tarfile.open(OLD_FILES) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}


def keep_files(contents):
    with tarfile.open(OLD_FILES, "w:xz", preset=9) as archive:
        for name, content in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def objectives():
    """Return lists of values, or refusals, by name."""
    return json.loads((FOLDER / "objectives.json").read_text(encoding="utf-8"))


def keep_objectives(values):
    _write("objectives.json", values)


def _write(name, content):
    """Write JSON, one line for each name or sentence."""
    lines = (f"{json.dumps(k, ensure_ascii=False)}: {json.dumps(v, ensure_ascii=False)}" for k, v in content.items())
    (FOLDER / name).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
