"""Cluster faults: lost workers, failing tasks, closed clients, Ctrl-C."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import dask
import numpy as np
import pytest

import rocpath as rp

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from rocpath.dask import AUCClassifier, auc, descent, minimize_aum, passes, subsampling  # noqa: E402
from rocpath.dask.passes import Passes  # noqa: E402

pytestmark = pytest.mark.slow


def rows(n_rows=3000):
    rng = np.random.default_rng(13)
    X = np.round(rng.normal(size=(n_rows, 3)), 1)
    return X, (X @ [1.0, 0.5, -1.0] + rng.normal(size=n_rows) > 1).astype(int)


def partitioned(X, y, n_partitions=6):
    """Partition rows such that lost partitions can be recomputed."""
    size = -(-len(y) // n_partitions)
    chunks = da.core.normalize_chunks((size,), y.shape)[0]
    return (da.from_array(X, chunks=(chunks, X.shape[1])), da.from_array(y, chunks=(chunks,)))


@pytest.fixture
def kill_during(monkeypatch):
    """Kill a worker during the first pass with a given name."""

    def killer(client, name):
        is_done = []
        run = Passes.results

        def slower(entries):
            time.sleep(0.2)
            return entries

        def results(self, pass_name, tasks, **how):
            if pass_name != name or is_done:
                return run(self, pass_name, tasks, **how)
            is_done.append(True)
            pids = client.run(os.getpid)
            victim = next(iter(pids.values()))
            threading.Timer(0.1, os.kill, (victim, signal.SIGKILL)).start()
            tasks = self.each(slower, tasks)
            return run(self, pass_name, tasks, **how)

        monkeypatch.setattr(Passes, "results", results)
        return is_done

    return killer


PHASES = {
    "checking rows": "fit",
    "refitting to all rows": "fit",
    "sorting scores": "auc",
    "predicting": "descent",
    "gradient": "descent",
    "best step": "descent",
}


def result(kind, client):
    X, y = rows()
    lazy = partitioned(X, y)
    if kind == "auc":
        return auc(lazy[1], lazy[0][:, 0], client=client)
    if kind == "descent":
        start = [1.0, 0.0, 0.0]
        return minimize_aum(*lazy, coef=start, max_steps=1, client=client).coef
    settings = {"widths": (), "n_rounds": 0, "random_state": 0}
    return AUCClassifier(**settings, client=client).fit(*lazy).coef_


@pytest.mark.parametrize("phase", PHASES)
def test_a_killed_worker_does_not_change_the_result(client, kill_during, monkeypatch, phase):
    monkeypatch.setattr(subsampling, "MAX_ROWS_PER_CLASS", 300)
    monkeypatch.setattr(descent, "_FEW_ROWS", 1000)
    kind = PHASES[phase]
    expected = result(kind, None)
    client.wait_for_workers(2, timeout=180)
    is_done = kill_during(client, phase)
    np.testing.assert_allclose(result(kind, client), expected, rtol=1e-9)
    assert is_done
    client.wait_for_workers(2, timeout=180)


@pytest.mark.parametrize("memory", [0.0, 50_000.0, np.inf])
def test_rows_that_do_not_fit_into_memory_are_recomputed(client, monkeypatch, memory):
    monkeypatch.setattr(subsampling, "MAX_ROWS_PER_CLASS", 300)
    expected = result("fit", None)
    monkeypatch.setattr(Passes, "memory_to_keep", memory)
    n_held = []
    run = Passes.results

    def results(self, name, tasks, **how):
        if name == "sampling rows":
            n_held.append(n_partitions_held(client, 6 if memory == np.inf else 0))
        return run(self, name, tasks, **how)

    monkeypatch.setattr(Passes, "results", results)
    np.testing.assert_allclose(result("fit", client), expected, rtol=1e-9)
    # The 3,000 rows of 32 bytes are in six partitions, of which all or none are kept.
    assert n_held == [6 if memory == np.inf else 0]


def n_partitions_held(client, expected):
    """Wait for the expected number of partitions on the workers, and return the number."""

    def held(dask_worker):
        return sum("_partition" in str(key) for key in dask_worker.data)

    for _ in range(200):
        n_held = sum(client.run(held).values())
        if n_held == expected:
            break
        time.sleep(0.05)
    return n_held


def fail_in_second_block(block, block_info=None):
    if block_info and block_info[0]["chunk-location"][0] == 1:
        raise ZeroDivisionError("the table is broken")
    return block


def test_an_error_in_a_task_is_raised(client):
    X, y = partitioned(*rows())
    broken = X.map_blocks(fail_in_second_block, dtype=float)
    with pytest.raises(ZeroDivisionError, match="the table is broken"):
        AUCClassifier(client=client).fit(broken, y)
    assert no_task_runs(client)


def no_task_runs(client, seconds=10.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(client.processing().values()):
            return True
        time.sleep(0.05)
    return False


def slow(block):
    time.sleep(0.3)
    return block


def test_ctrl_c_stops_a_fit_and_leaves_no_task(client):
    # Without the interrupt, the fit would take a minute.
    X, y = partitioned(*rows(), n_partitions=400)
    slowly = X.map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
    main = threading.main_thread().ident
    threading.Timer(6.0, signal.pthread_kill, (main, signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        AUCClassifier(client=client).fit(slowly, y)
    assert time.monotonic() - start < 20.0
    assert no_task_runs(client)


def test_an_interrupt_that_python_ignores_is_raised_at_the_next_pass(client, monkeypatch):
    each = Passes.each

    def interrupted(self, *arguments, **how):
        # Exceptions are ignored here, as in a callback of the garbage collector.
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return each(self, *arguments, **how)

    monkeypatch.setattr(Passes, "each", interrupted)
    lazy = partitioned(*rows(300))
    for used_client in (client, None):
        with pytest.raises(KeyboardInterrupt):
            AUCClassifier(client=used_client).fit(*lazy)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    monkeypatch.undo()
    # The next fit is not interrupted.
    AUCClassifier(client=client).fit(*lazy)


def test_an_interrupt_after_the_last_pass_is_raised():
    def fit():
        with Passes(), contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        fit()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_two_concurrent_fits_on_one_client_equal_a_fit_in_memory(client):
    X, y = rows(800)
    expected = rp.AUCClassifier(random_state=0).fit(X, y).coef_
    found = {}

    def fit(name):
        model = AUCClassifier(random_state=0, client=client)
        found[name] = model.fit(*partitioned(X, y)).coef_

    threads = [threading.Thread(target=fit, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found["a"] == expected).all()
    assert (found["b"] == expected).all()


def test_a_closed_or_invalid_client_raises(client):
    X, y = partitioned(*rows(100))
    closed = distributed.Client(client.scheduler.address, set_as_default=False)
    closed.close()
    with pytest.raises(RuntimeError, match=r"client must be connected .* 'closed'"):
        AUCClassifier(client=closed).fit(X, y)
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client, got s"):
        auc(y, X[:, 0], client="tcp://127.0.0.1:1")


def test_closing_the_client_during_a_fit_raises(client):
    X, y = partitioned(*rows(), n_partitions=20)
    slowly = X.map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
    other = distributed.Client(client.scheduler.address, set_as_default=False)
    threading.Timer(0.5, other.close).start()
    with pytest.raises(RuntimeError, match="client"):
        AUCClassifier(client=other).fit(slowly, y)
    assert no_task_runs(client)


def test_inputs_of_tasks_are_held_until_they_have_run(client):
    with Passes(client) as passes:
        kept = passes.keep(passes.each(one_more, range(40)))
        assert passes.results("first", kept) == list(range(1, 41))
        tasks = passes.each(one_more, kept)
        del kept
        gc.collect()
        # The scheduler has time to release the inputs.
        time.sleep(0.5)
        assert passes.results("second", tasks) == list(range(2, 42))


def one_more(number):
    return number + 1


@pytest.fixture
def empty_cluster():
    """Start a scheduler without workers."""
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield cluster, client


def test_without_workers_a_fit_warns_and_then_raises(empty_cluster, monkeypatch):
    monkeypatch.setattr(passes, "_SECONDS_BETWEEN_CHECKS", 0.2)
    monkeypatch.setattr(passes, "_SECONDS_TO_WARNING", 0.5)
    _, client = empty_cluster
    lazy = partitioned(*rows(100))
    with (
        dask.config.set({"rocpath.no-worker-timeout": "2s"}),
        pytest.warns(RuntimeWarning, match="No worker is connected .* 2 seconds"),
        pytest.raises(TimeoutError, match=r"for 2 seconds.*rocpath.no-worker-timeout"),
    ):
        AUCClassifier(client=client).fit(*lazy)


def test_a_fit_completes_when_workers_connect_late(empty_cluster, monkeypatch):
    monkeypatch.setattr(passes, "_SECONDS_BETWEEN_CHECKS", 0.2)
    monkeypatch.setattr(passes, "_SECONDS_TO_WARNING", 0.5)
    cluster, client = empty_cluster
    X, y = rows(300)
    threading.Timer(2.0, cluster.scale, (1,)).start()
    with pytest.warns(RuntimeWarning, match="waiting for one"):
        model = AUCClassifier(random_state=0, client=client).fit(*partitioned(X, y))
    expected = rp.AUCClassifier(random_state=0).fit(X, y)
    assert (model.coef_ == expected.coef_).all()


def test_invalid_input_is_not_logged_by_the_workers(client):
    X, y = rows(600)
    X[77, 1] = np.nan
    before = sum(len(lines) for lines in client.get_worker_logs().values())
    with pytest.raises(ValueError, match=r"nan in partition 0, row 77, column 1"):
        AUCClassifier(client=client).fit(*partitioned(X, y))
    after = sum(len(lines) for lines in client.get_worker_logs().values())
    assert after == before


def large(block):
    return np.ones((block.shape[0], 100_000_000 // block.shape[0]))


def test_a_partition_too_large_for_a_worker_raises():
    X, y = partitioned(*rows(100), n_partitions=1)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="600MB", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as small,
    ):
        wide = X.map_blocks(large, dtype=float, meta=np.empty((0, 0)))
        small.run_on_scheduler(allow_one_failure)
        with pytest.raises(MemoryError, match="smaller partitions or workers"):
            AUCClassifier(client=small).fit(wide, y)


def allow_one_failure(dask_scheduler):
    """Allow a single failure, because each failure requires starting a new worker."""
    dask_scheduler.allowed_failures = 1


NO_WORKER = """
import dask, dask.array as da
from distributed import Client, LocalCluster
from rocpath.dask import auc, passes

if __name__ == "__main__":
    passes._SECONDS_BETWEEN_CHECKS = 0.2
    with LocalCluster(n_workers=0, dashboard_address=":0") as cluster, Client(cluster) as client:
        rows = da.arange(100, chunks=20)
        with dask.config.set({"rocpath.no-worker-timeout": "1s"}):
            try:
                auc(rows % 2, rows, client=client)
            except TimeoutError as error:
                print(error)
"""


def test_a_timeout_without_workers_logs_no_traceback(tmp_path):
    (tmp_path / "program.py").write_text(NO_WORKER)
    command = [sys.executable, "-W", "ignore", str(tmp_path / "program.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("no worker was connected")
    assert "Traceback" not in done.stderr
    assert "never retrieved" not in done.stderr
