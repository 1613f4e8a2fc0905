"""The builds of the core in one wheel: selection at import, and identical results."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = Path(__file__).parent / "core_calls.py"
is_portable = importlib.util.find_spec("rocpath._core_base") is not None
has_fast_core = importlib.util.find_spec("rocpath._core_avx2") is not None


def runs_fast_core():
    from rocpath import _cpu

    return has_fast_core and _cpu.has_avx2_and_fma()


portable = pytest.mark.skipif(
    not is_portable, reason="built for this machine only; `make wheel` tests all builds"
)


def run(*command, core=None):
    environment = {k: v for k, v in os.environ.items() if k != "ROCPATH_CORE"}
    if core is not None:
        environment["ROCPATH_CORE"] = core
    return subprocess.run(
        [sys.executable, *map(str, command)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def answers(core=None):
    done = run(CALLS, core=core)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_function_of_the_core_is_called():
    recorded = answers()
    assert recorded["digests"]
    not_called = [n for n, d in recorded["digests"].items() if d == recorded["no_answer"]]
    assert not_called == []


@portable
def test_builds_return_the_same_bits():
    if not runs_fast_core():
        pytest.skip("this processor has no AVX2 and FMA")
    base, fast = answers("base"), answers("avx2")
    assert base["core"] == "rocpath._core_base"
    assert fast["core"] == "rocpath._core_avx2"
    assert base["digests"] == fast["digests"]


@portable
def test_import_chooses_the_fastest_build_that_runs():
    done = run("-c", "import rocpath._core as core; print(core.__name__)")
    expected = "_core_avx2" if runs_fast_core() else "_core_base"
    assert done.stdout.strip() == f"rocpath.{expected}", done.stderr


@portable
def test_fma_of_the_base_build_is_exact():
    from rocpath import _cpu

    assert _cpu.n_wrong_fma(200_000) == 0


@portable
def test_unknown_build_is_rejected():
    done = run("-c", "import rocpath._core", core="sse9")
    assert done.returncode != 0
    assert "ROCPATH_CORE must be 'base' or 'avx2', got 'sse9'" in done.stderr


@portable
def test_build_that_the_processor_cannot_run_is_rejected():
    code = "from rocpath import _cpu; _cpu.has_avx2_and_fma = lambda: False;import rocpath._core"
    done = run("-c", code, core="avx2")
    assert "this processor has no AVX2 and FMA: unset it" in done.stderr
    assert run("-c", code).returncode == 0
