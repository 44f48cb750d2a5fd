"""Run all experiments, or those named: `make reproduce ARGS="F10 R1 --quick"`.

Full-size runs write JSON and figures into experiments/results and rewrite experiments/RESULTS.md; quick ones write into
build/experiments. A run that was interrupted goes on where it was: call it again in the same way.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from time import perf_counter

from experiments import frame, report

BUILD = frame.HERE.parent / "build" / "experiments"


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description="Re-run the papers' tables and figures.")
    parser.add_argument(
        "ids", nargs="*", metavar="ID", help=f"which ones; all if none is named: {' '.join(frame.ids())}"
    )
    parser.add_argument("--quick", action="store_true", help="small problems, seconds instead of minutes")
    parser.add_argument("--afresh", action="store_true", help="forget what an interrupted run has done")
    parser.add_argument("--redraw", action="store_true", help="run nothing: figures and RESULTS.md from the JSON files")
    wanted = parser.parse_args()
    chosen = [id_.upper() for id_ in wanted.ids] or frame.ids()
    for id_ in chosen:
        if id_ not in frame.ids():
            parser.error(f"There is no experiment {id_!r}; there are {', '.join(frame.ids())}.")
    root = BUILD if wanted.quick else frame.HERE
    folder = root / "results"
    if wanted.redraw:
        for id_ in chosen:
            if (result := frame.result_of(id_, folder)) is not None:
                frame.save_figure(id_, result["numbers"], folder)
        report.write(folder, root / "RESULTS.md")
        return
    size = frame.Size(wanted.quick, lambda text: print(f"  {text}", flush=True))
    for id_ in remaining(chosen, wanted.quick, wanted.afresh):
        print(f"  {frame.module(id_).CLAIM.sentence}", flush=True)
        frame.execute(id_, size, folder)
        verdict = frame.module(id_).judge(frame.result_of(id_, folder)["numbers"])
        report.write(folder, root / "RESULTS.md")
        for check in verdict.checks:
            print(f"  {check}" + ("" if check.quick or not wanted.quick else " (only judged at full size)"))
        for check in verdict.aims:
            print(f"  our aim: {check}")
        print("\n".join([*verdict.tables, f"  {verdict.key}"]), flush=True)


def remaining(chosen: list[str], quick: bool, afresh: bool) -> Iterator[str]:
    """Yield what is still to do, say how far it is, and keep a journal of what is done until all is."""
    journal = BUILD / ("quick.json" if quick else "full.json")
    done = json.loads(journal.read_text()) if journal.exists() and not afresh else {}
    done = done if all(id_ in chosen for id_ in done) else {}
    expected = {id_: (frame.result_of(id_, frame.HERE / "results") or {}).get("seconds", 300.0) for id_ in chosen}
    start, spent = perf_counter(), 0.0
    for id_ in chosen:
        if id_ in done:
            print(f"{id_}: done by the run that was interrupted", flush=True)
            continue
        left = sum(expected[other] for other in chosen if other not in done)
        pace = (perf_counter() - start) / spent if spent else 1.0
        time = "" if quick else f", about {left * pace / 60:.0f} minutes left"
        print(f"{id_}: {len(done)} of {len(chosen)} done{time}", flush=True)
        yield id_
        spent += expected[id_]
        done[id_] = True
        journal.parent.mkdir(parents=True, exist_ok=True)
        journal.write_text(json.dumps(done))
    journal.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
