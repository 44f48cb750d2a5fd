"""Run all experiments, or those named: `make reproduce ARGS="F10 R1 --quick"`.

Full-size runs write JSON and figures into experiments/results and rewrite experiments/RESULTS.md; quick ones write into
build/experiments.
"""

from __future__ import annotations

import argparse

from experiments import frame


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description="Re-run the papers' tables and figures.")
    parser.add_argument(
        "ids", nargs="*", metavar="ID", help=f"which ones; all if none is named: {' '.join(frame.ids())}"
    )
    parser.add_argument("--quick", action="store_true", help="small problems, seconds instead of minutes")
    parser.add_argument("--redraw", action="store_true", help="run nothing: figures and RESULTS.md from the JSON files")
    wanted = parser.parse_args()
    chosen = [id_.upper() for id_ in wanted.ids] or frame.ids()
    for id_ in chosen:
        if id_ not in frame.ids():
            parser.error(f"There is no experiment {id_!r}; there are {', '.join(frame.ids())}.")
    size = frame.Size(wanted.quick, lambda text: print(f"  {text}", flush=True))
    root = frame.HERE if not wanted.quick else frame.HERE.parent / "build" / "experiments"
    folder = root / "results"
    for id_ in chosen:
        if wanted.redraw:
            frame.redraw(id_, folder)
            continue
        print(f"{id_}: {frame.module(id_).PAPER}", flush=True)
        result = frame.execute(id_, size, folder)
        frame.write_results(folder, root / "RESULTS.md")
        for check in result["checks"]:
            print(
                f"  {frame.Check(**check)}"
                + ("" if check["quick"] or not wanted.quick else " (only judged at full size)")
            )
        for table in result["tables"]:
            print(table)
        print(f"  {result['our_number']}; {result['seconds']:.1f} s", flush=True)
    frame.write_results(folder, root / "RESULTS.md")


if __name__ == "__main__":
    main()
