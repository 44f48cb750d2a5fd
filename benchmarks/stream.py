"""Files: `gossamer train` beside Vowpal Wabbit, readers beside their peers, what checkpoints cost, memory. One run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
import polars as pl
from sklearn.datasets import load_svmlight_file
from timing import Row, best, show

import gossamer as gs

ROWS, COLUMNS, ENTRIES = 100_000, 47_000, 76
VW = "--loss_function logistic --l1 1e-6 -b 18 --quiet"


def write(folder, rows=ROWS):
    """Write the same rows as svmlight and as Vowpal Wabbit text, about 90 MB each."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=COLUMNS) * 5
    svm, vw = folder / "big.svm", folder / "big.vw"
    with svm.open("w") as a, vw.open("w") as b:
        for _ in range(rows):
            index = np.unique((COLUMNS * rng.random(ENTRIES) ** 3).astype(int))
            value = rng.random(len(index))
            value /= np.sqrt(value @ value)
            label = 1 if value @ w[index] > 0 else -1
            pairs = " ".join(f"{j + 1}:{x:.5f}" for j, x in zip(index.tolist(), value.tolist(), strict=True))
            a.write(f"{label} {pairs}\n")
            b.write(f"{label} | {pairs}\n")
    return svm, vw


def command(*words):
    """Return a function that runs a command in a process of its own."""
    return lambda: subprocess.run([sys.executable, "-m", *map(str, words)], check=True, capture_output=True)


def peak_memory(path, folder):
    """Return the largest memory of a training process in MB."""
    code = (
        "import sys; from gossamer.cli.arguments import main; main(sys.argv[1:]); "
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    )
    words = ["train", str(path), "-o", str(folder / "m.gsm"), "-q"]
    done = subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True, text=True)
    return float(done.stdout) / 1024


def train_speed(svm, vw, folder):
    out = folder / "m.gsm"
    train = ["gossamer", "train", svm, "-o", out, "-q", "--alpha", "1e-6"]
    runs = {
        "gossamer train": command(*train),
        "with checkpoints": command(*train, "--checkpoint", folder / "state", "--every", "10000"),
        "Vowpal Wabbit": command("vowpalwabbit", *VW.split(), "-d", vw, "-f", folder / "m.vw"),
        "gossamer train on VW text": command("gossamer", "train", vw, "-o", out, "-q", "--alpha", "1e-6"),
        "gossamer train --path 16": command("gossamer", "train", svm, "-o", out, "-q", "--path", "16"),
    }
    times = dict(zip(runs, best(*runs.values(), repeats=9), strict=True))
    ours, peer = times["gossamer train"], times["Vowpal Wabbit"]
    rows = [
        Row("gossamer train / Vowpal Wabbit", ours / peer, at_most=0.5),
        Row("gossamer train on VW text / Vowpal Wabbit", times["gossamer train on VW text"] / peer),
        Row("gossamer train --path 16 / Vowpal Wabbit", times["gossamer train --path 16"] / peer, at_most=1),
        Row("checkpoint every 10,000 rows / none", times["with checkpoints"] / ours, at_most=1.1),
    ]
    return rows, [f"{name}: {t:.2f} s" for name, t in times.items()]


def read_speed(svm):
    ours, theirs = best(lambda: gs.read(svm), lambda: load_svmlight_file(str(svm)), repeats=3)
    return [Row("scikit-learn's load_svmlight_file / gs.read", theirs / ours, at_least=12)], [
        f"gs.read: {ours:.2f} s, load_svmlight_file: {theirs:.2f} s"
    ]


def write_tables(folder, rows=200_000, texts=100_000):
    """Write CSV files of numbers, of categories and of text, and the same text for Vowpal Wabbit."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, rows)
    numbers = {f"x{j}": rng.normal(size=rows).round(5) for j in range(20)}
    levels = {f"c{j}": np.char.add("v", rng.integers(0, 10 ** (1 + j % 4), rows).astype(str)) for j in range(15)}
    pd.DataFrame(numbers | {"y": label}).to_csv(folder / "numbers.csv", index=False)
    pd.DataFrame(levels | {"y": label}).to_csv(folder / "categories.csv", index=False)
    with (folder / "text.csv").open("w") as a, (folder / "text.vw").open("w") as b:
        a.write("y,review\n")
        for y in label[:texts].tolist():
            text = " ".join(f"word{j}" for j in (50_000 * rng.random(40) ** 3).astype(int).tolist())
            a.write(f"{y},{text}\n")
            b.write(f"{2 * y - 1} | {text}\n")


def table_speed(folder):
    """Return how fast tables become blocks of rows, beside readers that only make columns, and beside VW's reading."""

    def drained(name, **options):
        return lambda: [None for _ in gs.source(folder / name, **options).blocks()]

    rows, notes = [], []
    for kind in ("numbers", "categories", "text"):
        path, roles = folder / f"{kind}.csv", {"review": "text"} if kind == "text" else None
        ours, pandas, polars = best(
            drained(path.name, target="y", roles=roles),
            partial(pd.read_csv, path),
            partial(pl.read_csv, path),
            repeats=5,
        )
        rows.append(
            Row(f"pandas.read_csv / gossamer, {kind}", pandas / ours, at_least=3 if kind == "numbers" else None)
        )
        rows.append(Row(f"polars.read_csv / gossamer, {kind}", polars / ours))
        notes.append(
            f"{kind}, {path.stat().st_size / 1e6:.0f} MB: gossamer {ours:.3f} s, {pandas:.3f} s, {polars:.3f} s"
        )
    vw = ["vowpalwabbit", "--noop", "--quiet", "-b", "18", "-d"]
    whole, start, lines, table = best(
        command(*vw, folder / "text.vw"),
        command(*vw, "/dev/null"),
        drained("text.vw"),
        drained("text.csv", target="y", roles={"review": "text"}),
        repeats=5,
    )
    rows.append(Row("Vowpal Wabbit reads / gossamer, text of VW", (whole - start) / lines, at_least=1))
    rows.append(Row("Vowpal Wabbit reads / gossamer, text in CSV", (whole - start) / table, at_least=1))
    notes.append(
        f"Vowpal Wabbit --noop without its start: {whole - start:.3f} s; gossamer {lines:.3f} s, CSV {table:.3f} s"
    )
    return rows, notes


def memory(svm, folder):
    text = svm.read_bytes()
    small, large = folder / "small.svm", folder / "large.svm"
    small.write_bytes(text[: text.rfind(b"\n", 0, 10_000_000) + 1])
    with large.open("wb") as file:
        for _ in range(-(-(10**9) // len(text))):
            file.write(text)
    low, high = peak_memory(small, folder), peak_memory(large, folder)
    size = large.stat().st_size / 1e9
    large.unlink()
    return [Row(f"peak memory, {size:.1f} GB file − 10 MB file", high - low, at_most=150, unit=" MB")], [
        f"10 MB: {low:.0f} MB, {size:.1f} GB: {high:.0f} MB"
    ]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = perf_counter()
        svm, vw = write(folder)
        size = svm.stat().st_size / 1e6
        print(f"\n({size:.0f} MB of svmlight text, {ROWS:,} rows, made in {perf_counter() - start:.0f} s)")
        rows, notes = train_speed(svm, vw, folder)
        more, words = read_speed(svm)
        show("Files, process start to model on disk", rows + more, notes + words)
        write_tables(folder)
        show("Tables, file to blocks of rows", *table_speed(folder))
        rows, notes = memory(svm, folder)
        show("Memory", rows, notes)


if __name__ == "__main__":
    main()
