"""No thread of the core can end the process; threads.cpp makes them fail."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ["base/threads", "base/memory", "text/reader", "text/svmlight", "text/lines", "text/cursor"]


pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the programs take the place of functions of the system as Linux allows it"
)


@pytest.fixture
def compiler():
    found = shutil.which(os.environ.get("CXX", "c++"))
    if found is None:
        pytest.skip("needs a C++ compiler")
    return found


def test_failures_of_threads_arrive_in_the_caller(tmp_path, compiler):
    sources = [Path(__file__).with_name("threads.cpp"), *(ROOT / "core" / f"{name}.cpp" for name in SOURCES)]
    program, data = tmp_path / "threads", tmp_path / "rows.svm"
    command = [compiler, "-std=c++20", "-O0", f"-I{ROOT / 'core'}", *sources, "-o", program, "-pthread", "-ldl"]
    subprocess.run(command, check=True)
    data.write_text("".join(f"{i % 2} {1 + i % 9}:{i}\n" for i in range(60)))
    run = subprocess.run([program, data, "60"], capture_output=True, text=True, timeout=100)
    assert (run.returncode, run.stdout, run.stderr) == (0, "all threads failed well\n", "")


@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitizer has an operator new of its own")
def test_threads_of_the_library_without_memory_raise_in_the_caller(tmp_path, compiler):
    """Readers, lanes, batch solvers and boosting, by an operator new that fails in their threads only."""
    library, script = tmp_path / "failing_new.so", Path(__file__).with_name("without_memory.py")
    source = script.with_name("failing_new.cpp")
    subprocess.run([compiler, "-std=c++20", "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    environment = os.environ | {"LD_PRELOAD": str(library)}
    command = [sys.executable, script, library]
    run = subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment)
    assert run.returncode == 0, run.stderr
    failures = {name.strip(): int(count) for name, count in re.findall(r"([^:;]+): (\d+);", run.stdout)}
    assert failures["batch"] > 10  # lanes take their memory before their threads start
