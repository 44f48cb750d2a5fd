"""No thread of the core can end the process; threads.cpp makes them fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ["base/threads", "base/memory", "text/reader", "text/svmlight", "text/lines", "text/cursor"]


@pytest.mark.skipif(sys.platform != "linux", reason="threads.cpp takes the place of pthread_create as Linux allows it")
def test_failures_of_threads_arrive_in_the_caller(tmp_path):
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    sources = [Path(__file__).with_name("threads.cpp"), *(ROOT / "core" / f"{name}.cpp" for name in SOURCES)]
    program, data = tmp_path / "threads", tmp_path / "rows.svm"
    command = [compiler, "-std=c++20", "-O0", f"-I{ROOT / 'core'}", *sources, "-o", program, "-pthread", "-ldl"]
    subprocess.run(command, check=True)
    data.write_text("".join(f"{i % 2} {1 + i % 9}:{i}\n" for i in range(60)))
    run = subprocess.run([program, data, "60"], capture_output=True, text=True, timeout=100)
    assert (run.returncode, run.stdout, run.stderr) == (0, "all threads failed well\n", "")
