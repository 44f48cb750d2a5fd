"""The golden values on disk: vectors of weights, sentences of refusals, values of objectives."""

import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent


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


def objectives():
    """Return values or refusals by name."""
    return json.loads((FOLDER / "objectives.json").read_text(encoding="utf-8"))


def keep_objectives(values):
    _write("objectives.json", values)


def _write(name, content):
    (FOLDER / name).write_text(json.dumps(content, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
