"""Passes over partitions, on the workers of a client or on Dask's local scheduler."""

from __future__ import annotations

import asyncio
import time
import warnings
from concurrent.futures import CancelledError as LocalCancelledError
from concurrent.futures import wait
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from weakref import WeakSet

import dask.config
from dask.base import compute, persist
from dask.delayed import delayed
from dask.utils import parse_timedelta
from distributed import CancelledError, Client, KilledWorker, default_client, futures_of

from rocpath.arguments import available_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_FAN_IN = 16  # results that one task of a reduction tree combines
_MIN_PAUSE, _MAX_PAUSE = 0.001, 0.1  # seconds between two looks at pending tasks
_SHARE_TO_KEEP = 0.4  # of the workers' memory; passes need some, and Dask spills at 0.6
_SECONDS_BETWEEN_CHECKS = 2.0  # of the workers: each check asks the scheduler
_SECONDS_TO_WARNING = 5.0  # without any worker
_TIMEOUT_SETTING, _DEFAULT_TIMEOUT = "rocpath.no-worker-timeout", "5 minutes"


class Passes:
    """Run tasks, count the passes over X, and release everything at the end.

    As a context manager it releases the results that workers keep, also after an error
    or Ctrl-C. While no worker is connected it warns, and raises ``TimeoutError`` after
    the time in Dask's configuration, ``rocpath.no-worker-timeout`` (5 minutes).

    Parameters
    ----------
    client : Client, optional
        Client whose workers compute. By default the most recent one; without one,
        Dask's local scheduler.
    progress : callable, optional
        Function called with the name of a pass, the number of completed tasks and the
        number of all tasks: at the start, and whenever a task completes.
    """

    def __init__(
        self, client: Client | None = None, progress: Callable[[str, int, int], None] | None = None
    ) -> None:
        self.client = _running_client(client)
        self.n_passes = 0
        self._progress = progress
        # Weak, so that workers drop results that nothing needs any more.
        self._kept: WeakSet[Any] = WeakSet()
        # Inputs of tasks, held until a pass ends: tasks do not hold them, and the
        # scheduler may read a graph after its inputs were released.
        self._held: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for future in list(self._kept):
            future.release()

    @property
    def n_workers(self) -> int:
        """Number of workers, at least one."""
        return 1 if self.client is None else max(len(_workers(self.client)), 1)

    @property
    def memory_to_keep(self) -> float:
        """Number of bytes that workers can keep between passes."""
        if self.client is None:
            return _SHARE_TO_KEEP * available_memory()
        limits = [worker["memory_limit"] for worker in _workers(self.client).values()]
        # A limit of 0 or None means that none was set.
        return _SHARE_TO_KEEP * sum(limits) if all(limits) else inf

    def each(
        self, function: Callable[..., Any], *columns: Sequence[Any], state: Any = None
    ) -> list[Any]:
        """Return a task ``function(*entries, state)`` for every partition.

        The state is sent once, not with every task.
        """
        # Not pure: hashing the arguments would take longer than many tasks.
        task = delayed(function, pure=False)
        shared = delayed(state, pure=False, traverse=False)
        self._held.append(columns)
        return [task(*entries, shared) for entries in zip(*columns, strict=True)]

    def keep(self, tasks: Sequence[Any]) -> list[Any]:
        """Let workers compute and keep the results, as inputs of later tasks."""
        if self.client is None:
            return list(persist(*tasks))
        with _explained_errors(self.client):
            kept = list(self.client.persist(list(tasks)))
        self._kept.update(futures_of(kept))
        self._held.append(kept)
        return kept

    def forget(self, kept: Iterable[Any]) -> None:
        """Let workers drop results that they kept."""
        # Released, not cancelled, which would also end tasks that still need them.
        for future in futures_of(list(kept)):
            future.release()

    def results(
        self,
        name: str,
        tasks: Sequence[Any],
        *,
        reads_x: bool = False,
        each: Callable[[Any], None] | None = None,
    ) -> Any:
        """Run tasks and return their results in order; pass each to a function."""
        self._show(name, 0, len(tasks))
        self.n_passes += reads_x
        if self.client is None:
            found = list(compute(*tasks))
            _raise_invalid(found)
            self._show(name, len(tasks), len(tasks))
        else:
            found = self._compute(self.client, name, tasks, each)
        # Graphs are read in order, so the inputs of all earlier ones are free now.
        self._held.clear()
        return found

    def _compute(self, client: Client, name: str, tasks: Sequence[Any], each: Any) -> Any:
        with _explained_errors(client):
            futures = client.compute(list(tasks))
            # A closing client accepts tasks but never reports that they ended.
            _check_connected(client)
            try:
                return self._collect(client, name, futures, each)
            finally:
                # Also after Ctrl-C: pending tasks are dropped, running ones end.
                for future in futures:
                    future.release()

    def _collect(self, client: Client, name: str, futures: list[Any], each: Any) -> Any:
        # All at once unless someone watches: every message takes time.
        if each is None and self._progress is None:
            return _gather(client, futures)
        found: dict[Any, Any] = {}
        for n_done, batch in _completed_batches(client, futures):
            for future, result in zip(batch, _gather(client, batch), strict=True):
                found[future.key] = result
                if each is not None:
                    each(result)
            self._show(name, n_done, len(futures))
        return [found[future.key] for future in futures]

    def _show(self, name: str, n_done: int, n_tasks: int) -> None:
        if self._progress is not None:
            self._progress(name, n_done, n_tasks)

    def total(
        self,
        name: str,
        tasks: Sequence[Any],
        combine: Callable[[list[Any]], Any],
        *,
        reads_x: bool = False,
    ) -> Any:
        """Run tasks and combine their results, in order, in a tree."""
        # A tree, so that neither a worker nor the client ever holds all results.
        n_tasks, level = len(tasks), _combined(tasks, combine)
        if self.client is not None and self._progress is not None and len(level) > 1:
            self._show(name, 0, n_tasks)
            level = self.keep(level)
            with _explained_errors(self.client):
                for n_done, _ in _completed_batches(self.client, futures_of(level)):
                    self._show(name, min(n_done * _FAN_IN, n_tasks), n_tasks)
            name = "adding up"
        while len(level) > 1:
            level = _combined(level, combine)
        (result,) = self.results(name, level, reads_x=reads_x)
        return result


class ReturnInvalid:
    """A function that returns errors about invalid input instead of raising them.

    An error that is raised on a worker is printed there with its traceback, for every
    partition. One that is returned is raised once, on the client.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__name__ = function.__name__  # by which Dask names tasks

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, unless an argument is such an error."""
        for argument in arguments:
            if isinstance(argument, _Invalid):
                return argument
        try:
            return self._function(*arguments)
        except (TypeError, ValueError) as error:
            return _Invalid(error)


class _Invalid(NamedTuple):
    error: Exception


def _raise_invalid(results: Iterable[Any]) -> None:
    for result in results:
        if isinstance(result, _Invalid):
            raise result.error


def _combined(tasks: Sequence[Any], combine: Callable[[list[Any]], Any]) -> list[Any]:
    """Return tasks that combine the results of a few tasks each."""
    return [
        delayed(combine, pure=False)(list(tasks[k : k + _FAN_IN]))
        for k in range(0, len(tasks), _FAN_IN)
    ]


class _WorkerWatch:
    """Warn, and later raise, while no worker is connected."""

    def __init__(self, client: Client) -> None:
        self._client = client
        now = time.monotonic()
        self._last_check = self._last_worker = now
        self._has_warned = False

    def check(self) -> None:
        """Look at the client, and every few seconds at its workers."""
        # Dask itself waits forever if another thread closes the client.
        _check_connected(self._client)
        now = time.monotonic()
        if now - self._last_check < _SECONDS_BETWEEN_CHECKS:
            return
        self._last_check = now
        if self._client.scheduler_info(n_workers=1)["workers"]:
            self._last_worker = now
            return
        seconds = now - self._last_worker
        timeout = dask.config.get(_TIMEOUT_SETTING, _DEFAULT_TIMEOUT)
        limit = parse_timedelta(timeout)
        if seconds >= limit:
            raise TimeoutError(
                f"no worker was connected to the scheduler for {seconds:.0f} seconds. "
                "Start workers, or wait longer for them by "
                f'dask.config.set({{"{_TIMEOUT_SETTING}": "1 hour"}}).'
            )
        if seconds >= _SECONDS_TO_WARNING and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"No worker is connected to the scheduler: waiting for one, up to "
                f"{limit:.0f} seconds ({_TIMEOUT_SETTING} in Dask's configuration).",
                RuntimeWarning,
                stacklevel=2,
            )


def _completed_batches(client: Client, futures: list[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the number of completed futures and the newly completed ones."""
    waiting, pause, watch = list(futures), _MIN_PAUSE, _WorkerWatch(client)
    while waiting:
        watch.check()
        batch = [future for future in waiting if future.done()]
        if batch:
            completed = set(batch)
            waiting = [future for future in waiting if future not in completed]
            yield len(futures) - len(waiting), batch
        # Short passes are not delayed, and long ones are polled less often.
        pause = _MIN_PAUSE if batch else min(2 * pause, _MAX_PAUSE)
        time.sleep(pause)


def _gather(client: Client, futures: list[Any]) -> list[Any]:
    """Send results to the client."""
    watch = _WorkerWatch(client)
    gathering = asyncio.run_coroutine_threadsafe(
        client.gather(futures, asynchronous=True),
        client.loop.asyncio_loop,  # type: ignore[union-attr]
    )
    try:
        while not gathering.done():
            watch.check()
            wait([gathering], timeout=_MAX_PAUSE)
        found = list(gathering.result())
    finally:
        gathering.cancel()
    _raise_invalid(found)
    return found


@contextmanager
def _explained_errors(client: Client) -> Iterator[None]:
    """Turn errors of the cluster into errors that name a remedy."""
    _check_connected(client)
    try:
        yield
    # Dask names the failed task, which the user did not write.
    except KilledWorker as error:
        raise MemoryError(
            "several workers died while they ran the same task: a partition and what "
            "is computed from it do not fit into the memory of a worker, or workers "
            "are being killed. Use smaller partitions or workers with more memory."
        ) from error
    except (CancelledError, LocalCancelledError) as error:
        raise RuntimeError(
            "the tasks were cancelled before they ended: the client was closed or "
            "restarted, or it lost its scheduler."
        ) from error
    except Exception:
        # The likely cause first: "IOLoop is closed" would not help anyone.
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
            f"client must be connected to its scheduler, got one that is {client.status}."
        )


def _workers(client: Client) -> dict[str, Any]:
    with _explained_errors(client):
        # All of them: by default only the first few are listed.
        workers: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    return workers
