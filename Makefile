# Every target does its own set-up: it needs Python ≥ 3.11, a C++20 compiler and make.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := CMakeLists.txt pyproject.toml $(wildcard core/*/*) $(shell find src -name '*.py')
CXX_FILES := $(wildcard core/*/*.hpp core/*/*.cpp tests/*/*.cpp)
PIP := $(BIN)/pip --disable-pip-version-check
BUILD := --no-build-isolation --no-deps -Ccmake.define.GOSSAMER_WERROR=ON

.PHONY: demo test lint format docs-tables bench reproduce sanitize sanitized sanitize-threads fuzz clean
.NOTPARALLEL:  # one pip at a time

demo: .venv/installed
	$(BIN)/gossamer demo

test: .venv/installed .venv/dev
	$(BIN)/python -m pytest -n auto tests README.md CONTRIBUTING.md
	$(BIN)/python -m pytest -q --doctest-modules --pyargs gossamer

lint: .venv/installed .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/dev
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

# The tables of the guides that say what goes with what.
docs-tables: .venv/installed
	$(BIN)/python docs/tables.py

bench: .venv/installed .venv/peers
	$(BIN)/python benchmarks/run.py $(ARGS)

# The papers' tables and figures, all or some: ARGS="F10 R1 --quick".
reproduce: .venv/installed .venv/dev
	$(BIN)/python -m experiments $(ARGS)

# The core and the tests under the address and undefined-behaviour sanitizers, installed beside the usual build.
# Reports go to files, which are shown at the end; those of undefined behaviour go to standard error, which pytest must
# not keep (--capture=sys), as it dies with the process.
SANITIZED := build/sanitize
REPORTS := $(CURDIR)/$(SANITIZED)/report
UNDER_SANITIZERS = PYTHONPATH=$(SANITIZED)/site PYTHONMALLOC=malloc \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1$(REPORTED) UBSAN_OPTIONS=print_stacktrace=1$(REPORTED) \
  LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)"
sanitize: REPORTED := :log_path=$(REPORTS)
sanitize: sanitized
	$(UNDER_SANITIZERS) $(BIN)/python -m pytest -q --capture=sys -p no:cacheprovider $(or $(ARGS),tests) \
	  || { cat $(REPORTS).*; false; }

sanitized: .venv/installed .venv/dev
	$(PIP) install -q . $(BUILD) --upgrade --target $(SANITIZED)/site -Cbuild-dir=$(SANITIZED)/cmake \
	  -Ccmake.define.GOSSAMER_SANITIZE=address,undefined -Cinstall.strip=false
	rm -f $(REPORTS).*

# Tests of threads under the thread sanitizer: readers, lanes, batch solvers, boosting, and predictions at once. Only the
# core is instrumented. Polars does not load under it, and one test measures memory, of which it takes several times as much.
THREADED := build/sanitize-threads
THREADS := tests/foundation/test_races.py tests/estimators/test_parallel.py tests/sources/test_sources.py \
  --deselect tests/sources/test_sources.py::test_lines_of_a_hundred_megabytes
sanitize-threads: .venv/installed .venv/dev
	$(PIP) install -q . $(BUILD) --upgrade --target $(THREADED)/site -Cbuild-dir=$(THREADED)/cmake \
	  -Ccmake.define.GOSSAMER_SANITIZE=thread -Cinstall.strip=false
	rm -f $(THREADED)/report.*
	PYTHONPATH=$(THREADED)/site OPENBLAS_NUM_THREADS=1 LD_PRELOAD="$$($(CXX) -print-file-name=libtsan.so)" \
	  TSAN_OPTIONS=log_path=$(CURDIR)/$(THREADED)/report:suppressions=tests/foundation/thread_sanitizer.txt:exitcode=0 \
	  $(BIN)/python -m pytest -q -p no:cacheprovider $(or $(ARGS),$(THREADS))
	@if cat $(THREADED)/report.* 2>/dev/null; then false; else echo "no race was seen"; fi

# The parsers, then model files and checkpoints, then the readers, on hostile inputs, under the sanitizers; ARGS is how
# many seconds each.
fuzz: sanitized $(SANITIZED)/parsers
	$(SANITIZED)/parsers $(or $(ARGS),60)
	$(UNDER_SANITIZERS) $(BIN)/python tests/fuzz/loaders.py $(or $(ARGS),60)
	$(UNDER_SANITIZERS) $(BIN)/python tests/fuzz/long.py $(or $(ARGS),60)

FUZZED := $(CXX) -std=c++20 -g -O2 -fsanitize=address,undefined -fno-sanitize-recover=all -Icore
$(SANITIZED)/parsers: tests/fuzz/parsers.cpp $(wildcard core/text/*) $(wildcard core/base/*)
	mkdir -p $(SANITIZED)/text
	cd $(SANITIZED)/text && $(FUZZED:-Icore=-I$(CURDIR)/core) -fsanitize-coverage=trace-pc \
	  -c $(addprefix $(CURDIR)/,$(wildcard core/text/*.cpp) $(patsubst %,core/base/%.cpp,memory threads stop))
	$(FUZZED) tests/fuzz/parsers.cpp $(SANITIZED)/text/*.o -o $@

clean:
	rm -rf .venv build

# What a user needs to build and run the library; then what only its developers need, with versions that fit both.
RUNTIME := numpy scipy scikit-learn
.venv/tools: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) install -q --upgrade pip
	$(PIP) install -q --group build $(RUNTIME)
	touch $@

.venv/dev: .venv/tools
	$(PIP) install -q --group dev $(RUNTIME)
	touch $@

.venv/peers: .venv/dev
	$(PIP) install -q --group bench
	$(PIP) install -q --no-deps adelie  # it asks for NumPy 1 and works with 2 (and needs IPython)
	touch $@

# A plain install, as users have it; the stub of the core is copied back for type checkers and editors.
.venv/installed: .venv/tools $(SOURCES)
	$(PIP) install -q . $(BUILD)
	cp "$$($(BIN)/python -c 'import gossamer._core as c, pathlib; print(pathlib.Path(c.__file__).parent)')/_core.pyi" src/gossamer/
	touch $@
