"""Threads of the core: limits, identical results, and systems without threads."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rocpath as rp
from rocpath import _core

linux = pytest.mark.skipif(sys.platform != "linux", reason="requires the resource limits of Linux")
without_sanitizer = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="AddressSanitizer needs more memory than these limits allow",
)

SEARCHES = """
import numpy as np
import rocpath as rp
rng = np.random.default_rng(0)
bp = rp.ErrorBreakpoints.from_labels(np.arange({n}) % 3 == 0)
lines = rp.Lines.from_predictions(bp, *rng.normal(size=(2, {n})))
"""


def drawn_lines(n, seed=0):
    rng = np.random.default_rng(seed)
    bp = rp.ErrorBreakpoints.from_labels(np.arange(n) % 3 == 0)
    return rp.Lines.from_predictions(bp, *rng.normal(size=(2, n)))


def answers(lines):
    path = rp.sweep(lines, max_crossings=20_000)
    best_auc, best_aum = rp.best_auc_step(lines), rp.best_aum_step(lines)
    kinks = rp.aum_path(lines)
    columns = path.step, path.aum, path.auc, kinks.step, kinks.aum
    numbers = best_auc.step, best_auc.value, best_aum.step, best_aum.value
    return b"".join(column.tobytes() for column in columns), numbers


def run(code, **environment):
    settings = {**os.environ, "OMP_NUM_THREADS": "2", **environment}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={name: value for name, value in settings.items() if value},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_one_and_two_threads_give_the_same_results():
    lines = drawn_lines(2000)
    large = drawn_lines(250_000)
    with rp.thread_limit(1):
        alone = answers(lines), rp.best_aum_step(large).step
    with rp.thread_limit(2):
        assert (answers(lines), rp.best_aum_step(large).step) == alone


def test_eight_python_threads_give_the_same_results():
    problems = [drawn_lines(1500, seed) for seed in range(8)]
    expected = [answers(lines) for lines in problems]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(answers, problems)) == expected


def test_the_limit_applies_only_to_the_block_and_the_thread():
    before = _core.thread_limit()
    with rp.thread_limit(3):
        assert _core.thread_limit() == 3
        with rp.thread_limit(1):
            assert _core.thread_limit() == 1
        assert _core.thread_limit() == 3
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(_core.thread_limit).result() == before
    assert _core.thread_limit() == before
    with pytest.raises(ValueError, match="n must be an integer of at least 1, got 0"):
        rp.thread_limit(0).__enter__()


@pytest.mark.parametrize(
    ("rocpath", "openmp", "expected"),
    [("3", "2", "3"), ("", "5", "5"), ("", "4,2", "4"), ("1", "", "1")],
)
def test_environment_variables_set_the_limit(rocpath, openmp, expected):
    code = "from rocpath import _core; print(_core.thread_limit())"
    done = run(code, ROCPATH_NUM_THREADS=rocpath, OMP_NUM_THREADS=openmp)
    assert done.stdout.strip() == expected


def test_a_limit_that_is_not_a_number_is_rejected():
    code = SEARCHES.format(n=600) + "rp.best_auc_step(lines)"
    done = run(code, ROCPATH_NUM_THREADS="many")
    assert "ValueError: ROCPATH_NUM_THREADS must be a positive integer, got 'many'." in done.stderr


@linux
def test_searches_run_after_a_fork():
    code = SEARCHES.format(n=3000) + (
        "import os\n"
        "value = rp.best_auc_step(lines).value\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if rp.best_auc_step(lines).value == value else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert run(code).stdout.strip() == "0"


@linux
@without_sanitizer
def test_searches_run_where_no_thread_can_be_started():
    # The stack of a thread is as large as the stack limit when Python starts.
    inner = SEARCHES.format(n=3000) + (
        "import resource, threading\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        "try:\n"
        "    threading.Thread(target=print).start()\n"
        "except RuntimeError:\n"
        "    print('no thread', rp.best_auc_step(lines).value, len(rp.sweep(lines)))\n"
    )
    code = (
        "import os, resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_STACK, (8 << 30, 8 << 30))\n"
        f"os.execv(sys.executable, [sys.executable, '-c', {inner!r}])\n"
    )
    done = run(code, OPENBLAS_NUM_THREADS="1")
    lines = drawn_lines(3000)
    expected = f"no thread {rp.best_auc_step(lines).value} {len(rp.sweep(lines))}"
    assert done.stdout.strip() == expected, done.stderr


@linux
@without_sanitizer
@pytest.mark.parametrize("search", ["rp.best_auc_step(lines)", "rp.sweep(lines)"])
def test_too_little_memory_raises_an_error_with_the_size(search):
    code = SEARCHES.format(n=200_000) + (
        "import resource\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "limit = used + (24 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "try:\n"
        f"    {search}\n"
        "except MemoryError as error:\n"
        "    print(error)\n"
    )
    done = run(code, OPENBLAS_NUM_THREADS="1")
    assert "GB" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


@pytest.mark.filterwarnings("ignore")
def test_joblib_workers_share_the_cores():
    joblib = pytest.importorskip("joblib")
    n_cores = joblib.cpu_count()
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(_limit)() for _ in range(2))
    assert max(found) <= max(n_cores // 2, 1)


def _limit():
    return _core.thread_limit()
