"""Make golden values with the library that is imported. To be run on purpose only:

    cd tests && PYTHONPATH=/where/it/is:. python -m golden.make

What is there came from revision 752e6fa and stays: cases that are missing are added, no others are touched. To accept a
change of behaviour, name the cases (the beginning of their names) after the command; they are made anew, or go if there
are no such cases any more.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

import gossamer as gs
from golden import batch, old_files, online, stored


def wanted(name, kept, anew):
    return name not in kept or name.startswith(anew)


def make_online(anew):
    weights, refusals = {}, {}
    if (stored.FOLDER / "weights.npz").exists():
        weights, refusals = stored.weights(), stored.refusals()
    known = {**weights, **refusals}
    for kept in (weights, refusals):
        for name in [name for name in kept if name.startswith(anew)]:
            del kept[name]
    for name, (_, tell_refusal) in online.CASES.items():
        if wanted(name, known, anew):
            found = online.run(name)
            if not isinstance(found, str):
                weights[name] = found
            elif tell_refusal:
                refusals[name] = found
    stored.keep_weights(weights)
    stored.keep_refusals(refusals)
    print(f"{len(weights)} vectors of weights, {len(refusals)} refusals")


def make_files(anew):
    """Names begin with "checkpoint" or "model"."""
    files = stored.files() if stored.OLD_FILES.exists() else {}
    for name in [name for name in files if name.startswith(anew)]:
        del files[name]
    for name in old_files.RUNS:
        if f"checkpoint | {name}" not in files:
            with tempfile.TemporaryDirectory() as folder:
                files[f"checkpoint | {name}"], files[f"checkpoint | {name} | whole"] = old_files.made(name, folder)
    for name, fit in old_files.MODELS.items():
        if f"model | {name}" not in files:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "model.gsm")
                gs.save(fit(), path)
                files[f"model | {name}"] = path.read_bytes()
                files[f"model | {name} | answers"] = json.dumps(old_files.answers(gs.load(path))).encode()
    stored.keep_files(files)
    print(f"{len(files)} old files")


def make_objectives(anew):
    kept = stored.objectives() if (stored.FOLDER / "objectives.json").exists() else {}
    kept = {name: value for name, value in kept.items() if not name.startswith(anew)}
    for name in batch.CASES:
        if name not in kept:
            found = batch.run(name)
            if isinstance(found, str) and name.startswith("boosting"):
                continue  # these sentences list all penalties there are
            kept[name] = found if isinstance(found, str) else [float(f"{x:.12g}") for x in np.atleast_1d(found)]
    stored.keep_objectives(kept)
    print(f"{len(kept)} objectives")


def main(anew):
    print(f"made with {gs.__file__}")
    make_online(anew)
    make_files(anew)
    make_objectives(anew)


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
