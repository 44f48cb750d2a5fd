"""The benchmarks of this tree beside those of another revision: both are built, and run in turns.

    python benchmarks/against.py 752e6fa                      # all
    python benchmarks/against.py 752e6fa online path.speed    # some files, or one function of a file
    python benchmarks/against.py HEAD~1 online --only Fobos   # the lines that a regular expression finds

Each side is installed under build/against: the revision once, by its commit; this tree as it is, by a build that goes
on from the last. Then they run in turns, one process at a time, which takes the best time of each function that the
benchmark times. The table has the best times, the median of now / before over the turns with its least and largest, and
marks lines more than 5% slower. Both run this tree's benchmarks, or the revision its own where these do not fit it.
Peers are left out where a name tells them.
"""

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import types
from functools import partial
from pathlib import Path
from statistics import median

from build import ROOT, checked_out

PARTS = {
    "online": ("rcv1_speed", "wide_speed", "call_speed", "multiclass_speed", "dense_speed", "batch_speed"),
    "path": ("speed",),
    "batch": ("rcv1", "news20", "lasso", "lasso_path", "logistic_path", "tall_lasso", "tall_logistic", "user_groups"),
    "boosting": ("scoring_speed", "fit_speed", "dense_speed", "stump_speed"),
    **dict.fromkeys(("prox", "projections", "sparse_ball", "stream"), ("main",)),
}
PEERS = r"sklearn_|SGD|AdaBoost|trees|liblinear|skglm|celer|adelie|glmnet|theirs|vowpal|svmlight_file|transposed|by_"
PEERS += "|threshold"


def described(value):
    """Return a name of a function or of its argument, the same in every process and revision."""
    if isinstance(value, partial):
        given = [*map(described, value.args), *(f"{k}={described(x)}" for k, x in value.keywords.items())]
        return f"{described(value.func)}({', '.join(filter(None, given))})"
    if isinstance(value, (type, types.MethodType)):
        return value.__name__ if isinstance(value, type) else f"{described(value.__self__)}.{value.__name__}"
    if isinstance(value, types.FunctionType):
        code, defaults = value.__code__, value.__defaults__ or ()
        names = [*code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount], *code.co_freevars]
        inside = zip(names, [*defaults, *(cell.cell_contents for cell in value.__closure__ or ())], strict=True)
        known = [*code.co_names, *(f"{k}={described(x)}" for k, x in inside if not callable(x))]
        name = value.__qualname__.replace(".<locals>", "")
        return f"{name}({', '.join(known)})" if "." in name else name
    if isinstance(value, (tuple, list)):
        return " ".join(map(described, value)) if len(value) < 20 else f"{len(value)} of {described(value[0])}"
    if hasattr(value, "shape"):
        return "×".join(map(str, value.shape)) + " float32" * (value.dtype == "float32")
    if isinstance(value, (str, Path)):
        return Path(value).name
    if type(value).__repr__ is object.__repr__:
        return " ".join(f"{k}={x}" for k, x in getattr(value, "__dict__", {}).items() if isinstance(x, int))
    return " ".join(re.sub(r"\d+\.\d{4,}(e-?\d+)?", lambda found: f"{float(found[0]):.3g}", repr(value)).split())


def measured(script, part, only):
    """Run one function of a benchmark; return the best time of each function that it timed."""
    import timing

    times, names, measure, take_turns = {}, {}, timing.seconds, timing.best

    def name_of(function):
        name = names.get(id(function)) or described(function)
        return name if re.search(only, name) and not re.search(PEERS, name) else None

    def seconds(function):
        if not (name := name_of(function)):
            raise ImportError("This is not timed.")  # as of a peer that is not installed
        times[name] = min(took := measure(function), times.get(name, float("inf")))
        return took

    def best(*functions, repeats=20):
        for f in functions:
            names[id(f)] = described(f) + f" ({len(names) + 1})" * (described(f) in names.values())
        ours = [f for f in functions if name_of(f)]
        found = dict(zip(ours, take_turns(*ours, repeats=min(5, repeats)), strict=True))
        names.clear()
        return [found.get(f, float("nan")) for f in functions]

    timing.seconds, timing.best, timing.show = seconds, best, lambda *_: None
    try:
        spec = importlib.util.spec_from_file_location(script.stem, script)
        spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
        module.memory = lambda *_: ([], [])  # takes long, and is no time
        getattr(module, part)()
    except Exception as error:  # after our times, its table misses those of the peers
        if not times and not isinstance(error, ImportError):
            sys.stderr.write(f"  ({script}, {part}: {type(error).__name__}: {error})\n")
    return times


def installed(revision):
    """Build a revision, or this tree for None; return the folders to import from and of the benchmarks."""
    folder = ROOT / "build" / "against" / (revision or "now")
    source, site = (checked_out(revision, folder / "source") if revision else ROOT), folder / "site"
    if revision is None or not site.exists():
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-build-isolation"]
        pip += ["--no-deps", "--upgrade", "--target", site, f"-Cbuild-dir={folder / 'cmake'}", source]
        subprocess.run(pip, check=True)
    return site, source / "benchmarks"


def compared(name, part, sides, options):
    """Run a function of a benchmark in turns and print its lines."""
    print(f"\n{name}.{part}", flush=True)
    times = {side: [] for side in sides}
    for turn in range(options.runs):
        for side in sorted(sides, reverse=turn % 2 == 1):
            site, benchmarks = sides[side]
            scripts = dict.fromkeys([Path(__file__).parent / f"{name}.py", benchmarks / f"{name}.py"])
            words = [sys.executable, __file__, part, "--only", options.only, "--scripts", *scripts]
            run = subprocess.run(words, check=True, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": site})
            times[side].append(json.loads(run.stdout.splitlines()[-1]))
    for line in dict.fromkeys(line for some in times.values() for took in some for line in took):
        before, now = ([took.get(line, float("nan")) for took in times[side]] for side in ("before", "now"))
        ratios = [b / a for a, b in zip(before, now, strict=True)]
        ratio = f"{median(ratios):5.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        mark = "SLOWER" if median(ratios) > 1.05 else ""
        print(f"  {1e3 * min(before):9.2f} → {1e3 * min(now):9.2f} ms  {ratio} {mark:6}  {line}")


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(PARTS)}, or NAME.FUNCTION")
    parser.add_argument("--only", default="", metavar="REGEX", help="time only the functions whose name it finds")
    parser.add_argument("--runs", type=int, default=5, help="processes of each side (default 5)")
    parser.add_argument("--scripts", nargs="+", type=Path, help=argparse.SUPPRESS)  # what one process runs
    options = parser.parse_args(words)
    if options.scripts:
        found = (measured(script, options.revision, options.only) for script in options.scripts)
        print(json.dumps(next(filter(None, found), {})))
        return
    commit = subprocess.check_output(["git", "-C", ROOT, "rev-parse", "--short", options.revision], text=True).strip()
    sides = {"before": installed(commit), "now": installed(None)}
    for name, *part in (name.split(".") for name in options.names or PARTS):
        for function in part or PARTS[name]:
            compared(name, function, sides, options)


if __name__ == "__main__":
    main(sys.argv[1:])
