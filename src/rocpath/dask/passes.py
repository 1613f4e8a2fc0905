"""Passes over partitions, on the workers of a client or on Dask's local scheduler."""

import asyncio
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError as LocalCancelledError
from contextlib import contextmanager
from math import inf, isqrt
from typing import Any, NamedTuple, Self
from weakref import WeakSet

import dask.config
from dask.base import compute, persist
from dask.delayed import delayed
from dask.utils import parse_timedelta
from distributed import CancelledError, Client, KilledWorker, default_client, futures_of

from rocpath.dask.progress import write_nothing
from rocpath.memory import available_memory

_MIN_FAN_IN = 16  # minimum number of results that a task combines
_MIN_PAUSE, _MAX_PAUSE = 0.001, 0.1  # seconds between two checks of pending tasks
# Fraction of the workers' memory; passes need memory too, and Dask spills at 0.6.
_SHARE_TO_KEEP = 0.4
_SECONDS_BETWEEN_CHECKS = 2.0  # each check for workers is a request to the scheduler
_SECONDS_TO_WARNING = 5.0  # time without a worker before the warning
_TIMEOUT_SETTING, _DEFAULT_TIMEOUT = "rocpath.no-worker-timeout", "5 minutes"

Function = Callable[..., Any]
Column = Sequence[Any]  # tasks or values, one for each partition
Tasks = list[Any]

# Ctrl-C during a pass sets this event, because Python ignores exceptions that are raised
# in a callback of the garbage collector, and distributed registers such a callback.
_is_interrupted = threading.Event()


class Passes:
    """Runner of tasks that counts passes over X and releases kept results at the end.

    The context manager releases the results that workers keep, even after an error or
    Ctrl-C. If no worker is connected, a pass warns, and raises a ``TimeoutError`` after
    the time ``rocpath.no-worker-timeout`` in Dask's configuration (5 minutes by default).

    Parameters
    ----------
    client : Client, optional
        Dask client that runs the computation. The default is the most recent client
        or, if there is none, Dask's local scheduler.
    progress : callable, optional
        Function called at the start of a pass and whenever tasks complete, with the
        name of the pass, the number of completed tasks and the total number of tasks.
    """

    def __init__(
        self, client: Client | None = None, progress: Callable[..., None] = write_nothing
    ) -> None:
        self.client = _running_client(client)
        self.n_passes = 0
        self._show = progress
        self._handles_interrupts = False
        # References are weak, so that workers drop results that are no longer needed.
        self._kept: WeakSet[Any] = WeakSet()
        # References to the inputs of tasks are held until a pass ends: tasks hold none, and
        # the scheduler may read a graph after its inputs have been released.
        self._held: list[Any] = []

    def __enter__(self) -> Self:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            _is_interrupted.clear()
            signal.signal(signal.SIGINT, _interrupt)
            self._handles_interrupts = True
        return self

    def __exit__(self, error: object, *_: object) -> None:
        for future in list(self._kept):
            future.release()
        if self._handles_interrupts:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            # Without an error, an interrupt after the last pass would be lost.
            if error is None:
                _raise_interrupt()

    @property
    def memory_limits(self) -> list[int]:
        """Memory limit of each worker in bytes; 0 or None if there is no limit."""
        if self.client is None:
            return [available_memory()]
        with _explained_errors(self.client):
            # By default, only the first few workers are listed.
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return [worker["memory_limit"] for worker in workers]

    @property
    def memory_to_keep(self) -> float:
        """Number of bytes that workers can keep between passes."""
        limits = self.memory_limits
        return _SHARE_TO_KEEP * sum(limits) if all(limits) else inf

    def each(self, function: Function, /, *columns: Column, **shared: Any) -> Tasks:
        """Return a task ``function(*entries, **shared)`` for every partition.

        Shared arguments are sent only once, not with every task.
        """
        # Tasks are not pure, because hashing the arguments would take longer than many of
        # them do.
        task = delayed(_WithShared(function), pure=False)
        sent_once = delayed(shared, pure=False, traverse=False)
        self._held.append(columns)
        return [task(*entries, sent_once) for entries in zip(*columns, strict=True)]

    def keep(self, tasks: Column) -> Tasks:
        """Compute results that the workers keep as inputs of later tasks."""
        if self.client is None:
            return list(persist(*tasks))
        with _explained_errors(self.client):
            kept = list(self.client.persist(list(tasks)))
        self._kept.update(futures_of(kept))
        self._held.append(kept)
        return kept

    def exchange(self, pieces: Tasks, join: Function, n_pieces: int) -> Tasks:
        """Join and keep the pieces of all partitions that have the same index."""
        joined = delayed(join, pure=False)
        return self.keep([joined([one[k] for one in pieces]) for k in range(n_pieces)])

    def run(self, name: str, function: Function, /, *columns: Column, **shared: Any) -> Any:
        """Apply a function to every partition, as `each` does, and return the results."""
        return self.results(name, self.each(function, *columns, **shared))

    def results(self, name: str, tasks: Column, *, reads_x: bool = False) -> Any:
        """Run tasks and return their results in order."""
        self._show(name, 0, len(tasks))
        self.n_passes += reads_x
        _raise_interrupt()
        if self.client is None:
            found = list(compute(*tasks))
        else:
            with _explained_errors(self.client):
                found = self._compute(self.client, name, tasks)
        for result in found:
            if isinstance(result, _Invalid):
                raise result.error
        self._show(name, len(tasks), len(tasks))
        # Graphs are read in order, so the inputs of all earlier ones can be released.
        self._held.clear()
        return found

    def _compute(self, client: Client, name: str, tasks: Column) -> list[Any]:
        futures = client.compute(list(tasks))
        # A closing client accepts tasks but never reports their completion.
        _check_connected(client)
        gathering = None
        try:
            for _ in _pauses(client):
                n_done = sum(one.done() for one in futures)
                # A failed task ends the pass at once; its error is raised below.
                if n_done == len(futures) or any(one.status == "error" for one in futures):
                    break
                if n_done > 0:
                    self._show(name, n_done, len(futures))
            # Results are requested only now: distributed would log a traceback if a request
            # for unfinished tasks were canceled.
            gather = client.gather(futures, asynchronous=True)
            gathering = asyncio.run_coroutine_threadsafe(gather, client.loop.asyncio_loop)  # type: ignore[union-attr]
            for _ in _pauses(client):
                if gathering.done():
                    break
            return list(gathering.result())
        finally:
            if gathering is not None:
                gathering.cancel()
            # After Ctrl-C, this drops pending tasks, and running tasks complete.
            for future in futures:
                future.release()

    def total(self, name: str, tasks: Column, combine: Function, *, reads_x: bool = False) -> Any:
        """Run tasks and combine their results, in order."""
        # Results are combined in two steps, so that neither a worker nor the client ever
        # holds all of them.
        size = max(isqrt(len(tasks)), _MIN_FAN_IN)
        combined = delayed(combine, pure=False)
        subtotals = [combined(list(tasks[k : k + size])) for k in range(0, len(tasks), size)]
        return combine(self.results(name, subtotals, reads_x=reads_x))


class ReturnInvalid:
    """Wrapper of a function that returns errors about invalid input.

    If errors were raised, workers would print a traceback for every partition. A
    returned error is raised only once, on the client.
    """

    def __init__(self, function: Function) -> None:
        # Dask names tasks after the function.
        self._function, self.__name__ = function, function.__name__

    def __call__(self, *arguments: Any, **shared: Any) -> Any:
        """Call the function, or return the first argument that is a returned error."""
        for argument in arguments:
            if isinstance(argument, _Invalid):
                return argument
        try:
            return self._function(*arguments, **shared)
        except (TypeError, ValueError) as error:
            return _Invalid(error)


class _Invalid(NamedTuple):
    error: Exception


class _WithShared:
    """Wrapper of a function that takes its shared keyword arguments as a dictionary."""

    def __init__(self, function: Function) -> None:
        self._function, self.__name__ = function, function.__name__

    def __call__(self, *arguments: Any) -> Any:
        *entries, shared = arguments
        return self._function(*entries, **shared)


def _interrupt(*signal_and_frame: Any) -> None:
    _is_interrupted.set()
    signal.default_int_handler(*signal_and_frame)


def _raise_interrupt() -> None:
    if _is_interrupted.is_set() and threading.current_thread() is threading.main_thread():
        _is_interrupted.clear()
        raise KeyboardInterrupt


def _pauses(client: Client) -> Iterator[None]:
    """Yield after increasing pauses; if there is no worker, warn and finally raise."""
    limit = parse_timedelta(dask.config.get(_TIMEOUT_SETTING, _DEFAULT_TIMEOUT))
    pause, has_warned = _MIN_PAUSE, False
    last_check = last_worker = time.monotonic()
    while True:
        # Short passes are not delayed, and long passes are polled less often.
        time.sleep(pause)
        pause = min(1.2 * pause, _MAX_PAUSE)
        _raise_interrupt()
        # Dask itself waits forever if another thread closes the client.
        _check_connected(client)
        now = time.monotonic()
        if now - last_check >= _SECONDS_BETWEEN_CHECKS:
            last_check = now
            if client.scheduler_info(n_workers=1)["workers"]:
                last_worker = now
            elif now - last_worker >= limit:
                raise TimeoutError(
                    f"no worker was connected to the scheduler for {now - last_worker:.0f} "
                    "seconds. Start workers, or increase the timeout with "
                    f'dask.config.set({{"{_TIMEOUT_SETTING}": "1 hour"}}).'
                )
            elif not has_warned and now - last_worker >= _SECONDS_TO_WARNING:
                has_warned = True
                warnings.warn(
                    "No worker is connected to the scheduler: waiting for one, up to "
                    f"{limit:.0f} seconds ({_TIMEOUT_SETTING} in Dask's configuration).",
                    RuntimeWarning,
                    stacklevel=2,
                )
        yield


@contextmanager
def _explained_errors(client: Client) -> Iterator[None]:
    """Convert cluster errors to errors that suggest a remedy."""
    _check_connected(client)
    try:
        yield
    # Dask's message names the failed task, which the user did not write.
    except KilledWorker as error:
        raise MemoryError(
            "several workers died while running the same task: a partition and the "
            "results computed from it do not fit into the memory of a worker, or workers "
            "are being killed. Use smaller partitions or workers with more memory."
        ) from error
    except (CancelledError, LocalCancelledError) as error:
        raise RuntimeError(
            "the tasks were canceled before completion: the client was closed or "
            "restarted, or it lost its connection to the scheduler."
        ) from error
    except Exception:
        # Errors such as "IOLoop is closed" are probably caused by a lost connection.
        _check_connected(client)
        raise


def _running_client(client: Client | None) -> Client | None:
    if client is None:
        # Without a client, Dask runs in threads of this process.
        try:
            client = default_client()
        except ValueError:
            return None
    if not isinstance(client, Client):
        raise TypeError(f"client must be a distributed.Client, got {type(client).__name__}.")
    _check_connected(client)
    return client


def _check_connected(client: Client) -> None:
    if client.status != "running":
        raise RuntimeError(
            f"client must be connected to its scheduler, got status {client.status!r}."
        )
