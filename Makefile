# The two commands of the README: `make demo` and `make test`. Both make .venv on their own.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD_REQUIRES := scikit-build-core nanobind cmake ninja
CPP := $(wildcard cpp/*.hpp cpp/*.cpp)

.PHONY: demo test lint format bench paper paper-quick sanitize docs clean

demo: $(VENV)/installed
	$(BIN)/rocpath demo --out demo --force

test: $(VENV)/installed
	$(BIN)/python -m pytest tests --pyargs rocpath

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

bench: $(VENV)/installed
	$(BIN)/python benchmarks/core_speed.py
	$(BIN)/python benchmarks/search_speed.py
	$(BIN)/python benchmarks/segmentation_speed.py

# The paper's experiments, within an hour, or smaller ones in minutes; both need ROCPATH_DATA.
paper: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/paper

paper-quick: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/paper --quick

# Runs the examples too; open docs/_build/index.html. Small matrices are slower on many threads.
docs: $(VENV)/installed-docs
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/.doctrees docs docs/_build

# The property tests against a core built with AddressSanitizer and UBSan, in a place of its own.
sanitize: $(VENV)/installed
	$(PYTHON) -m venv $(VENV)/sanitize
	$(VENV)/sanitize/bin/pip install --quiet ".[dev]" -C cmake.define.ROCPATH_SANITIZE=ON \
		-C build-dir=build/sanitize
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
		$(VENV)/sanitize/bin/python -m pytest tests -p no:cacheprovider -k "not fit_is_refused"

# Editable: Python is read from src/, and a changed C++ file is compiled at the next import.
$(VENV)/installed: pyproject.toml CMakeLists.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet $(BUILD_REQUIRES)
	$(BIN)/pip install --quiet --no-build-isolation --editable ".[dev,plot,report,cli]"
	touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/pip install --quiet "rocpath[docs]"  # installed already: only what the pages need
	touch $@

clean:
	rm -rf $(VENV) build dist docs/_build docs/api docs/gallery docs/tables
