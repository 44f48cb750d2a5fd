"""What a clean build of the core costs: CPU seconds and the largest compiler process, per file and in total.

    python benchmarks/build.py              # the working tree
    python benchmarks/build.py --rev HEAD~3

CPU seconds (user and system, of all children) are measured, not the time on the clock, which depends on what else the
machine does. The build is CMake's and Ninja's in a temporary folder, as `pip install .` runs it, without ccache; every
compiler process is started through this file, which notes what it took.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET_SECONDS, TARGET_MEGABYTES = 200, 1024


def children():
    """Return the CPU seconds of all children that have ended, and the largest memory of one of them in MB."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def launch(log, command):
    """Run one compiler or linker and append what it took to the log."""
    code = subprocess.call(command)
    seconds, megabytes = children()
    source = next((word for word in command if word.endswith((".cpp", ".cc"))), None)
    with Path(log).open("a") as file:  # one short write: lines of processes that end together do not mix
        file.write(json.dumps([source, seconds, megabytes]) + "\n")
    return code


def tool(name):
    """Return a program of this Python's environment, or of the path."""
    return shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])) or name


def build(source, folder, jobs):
    """Build `source` in `folder`; return seconds and megabytes by file, the same of linking, and all CPU seconds."""
    log = folder / "log"
    launcher = f"{sys.executable};-IS;{Path(__file__).resolve()};--launch;{log}"
    configure = [tool("cmake"), "-S", source, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    configure += [f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DPython_EXECUTABLE={sys.executable}"]
    configure += [f"-DCMAKE_CXX_{kind}_LAUNCHER={launcher}" for kind in ("COMPILER", "LINKER")]
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "env": {**os.environ, "CCACHE_DISABLE": "1"}}
    subprocess.run(configure, **quiet)
    log.unlink(missing_ok=True)
    before, _ = children()
    subprocess.run([tool("ninja"), "-C", folder / "build", f"-j{jobs}"], **quiet)
    total = children()[0] - before
    files, linking = {}, [0.0, 0.0]
    for line in log.read_text().splitlines():
        path, seconds, megabytes = json.loads(line)
        if path is None:
            linking = [linking[0] + seconds, max(linking[1], megabytes)]
        else:
            inside = Path(path).is_relative_to(source)
            files[str(Path(path).relative_to(source)) if inside else Path(path).name] = [seconds, megabytes]
    return files, linking, total


def checked_out(revision, folder):
    """Put the files of a revision into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "-C", ROOT, "archive", revision], check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", folder], check=True, input=archive.stdout)
    return folder


def main(words):
    if words[:1] == ["--launch"]:
        sys.exit(launch(words[1], words[2:]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rev", help="a revision to build instead of the working tree")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        source = ROOT if options.rev is None else checked_out(options.rev, folder / "source")
        files, linking, total = build(source, folder, options.jobs)
    width = max(map(len, files))
    print(f"{'file':<{width}}  {'CPU s':>7}  {'MB':>5}")
    for path, (seconds, megabytes) in sorted(files.items(), key=lambda item: -item[1][0]):
        print(f"{path:<{width}}  {seconds:7.1f}  {megabytes:5.0f}")
    rest = total - linking[0] - sum(seconds for seconds, _ in files.values())
    print(f"{'linking':<{width}}  {linking[0]:7.1f}  {linking[1]:5.0f}")
    print(f"{'the stub, Ninja and this meter':<{width}}  {rest:7.1f}")
    largest = max(megabytes for _, megabytes in [*files.values(), linking])
    print(f"{f'total of {len(files)} files':<{width}}  {total:7.1f}  {largest:5.0f}")
    print(f"{'target':<{width}}  {TARGET_SECONDS:7.1f}  {TARGET_MEGABYTES:5.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])
