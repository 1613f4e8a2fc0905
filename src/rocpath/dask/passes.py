"""Run passes over parts: on the workers of a client, or where Dask runs without one."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import CancelledError as LocalCancelledError
from concurrent.futures import wait
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet

from dask.base import compute, persist
from dask.delayed import delayed
from distributed import (
    CancelledError,
    Client,
    KilledWorker,
    default_client,
    futures_of,
)

from rocpath.arguments import available_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_FAN_IN = 16  # results that one task adds up; a tree of sums has such nodes
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.1  # seconds between two looks at tasks
_SHARE_TO_KEEP = 0.4  # of the workers' memory; passes need some, and Dask spills at 0.6


class Passes:
    """Run tasks, count the passes over X, and leave nothing behind.

    As a context it forgets on its way out what workers keep for it, also after an error
    or Ctrl-C.

    Parameters
    ----------
    client : Client, optional
        By default the one that was made last, if any; else Dask's own scheduler.
    progress : callable, optional
        Called with the name of a pass, how many of its tasks are done, and how many
        there are: before it starts, and whenever one is done.
    """

    def __init__(
        self,
        client: Client | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> None:
        self.client = _running(client)
        self.n_passes = 0
        self._progress = progress
        # Weak, so that workers drop what nothing here needs any more.
        self._kept: WeakSet[Any] = WeakSet()
        # What tasks take, held until a pass ends: they do not hold it themselves, and a
        # scheduler reads a graph later than what was let go after it was sent.
        self._held: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for future in list(self._kept):
            future.release()

    @property
    def n_workers(self) -> int:
        """How many workers there are."""
        if self.client is None:
            return 1
        return max(len(_workers(self.client)), 1)

    @property
    def room(self) -> float:
        """How many bytes workers can keep from one pass to the next."""
        if self.client is None:
            return _SHARE_TO_KEEP * available_memory()
        limits = [worker["memory_limit"] for worker in _workers(self.client).values()]
        # A limit of 0 or None means none was set.
        return _SHARE_TO_KEEP * sum(limits) if all(limits) else inf

    def each(
        self, function: Callable[..., Any], *columns: Sequence[Any], state: Any = None
    ) -> list[Any]:
        """Make a task of every part: ``function(*entries, state)``.

        The state travels once, not with every task.
        """
        # Not pure: to hash the arguments would take longer than many a task.
        task = delayed(function, pure=False)
        shared = delayed(state, pure=False, traverse=False)
        self._held.append(columns)
        return [task(*entries, shared) for entries in zip(*columns, strict=True)]

    def keep(self, tasks: Sequence[Any]) -> list[Any]:
        """Let workers keep the results, which later tasks take."""
        if self.client is None:
            return list(persist(*tasks))
        with _told_apart(self.client):
            kept = list(self.client.persist(list(tasks)))
        self._kept.update(futures_of(kept))
        self._held.append(kept)
        return kept

    def forget(self, kept: Iterable[Any]) -> None:
        """Let workers drop what they kept."""
        # Released, not cancelled: that also ends what other tasks still need of them.
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
        """Run tasks and return their results, in order; tell each as it comes."""
        self._show(name, 0, len(tasks))
        self.n_passes += reads_x
        if self.client is None:
            found = list(compute(*tasks))
            self._show(name, len(tasks), len(tasks))
        else:
            found = self._computed(self.client, name, tasks, each)
        # Graphs are read in turn, so all that were sent before this one were.
        self._held.clear()
        return found

    def _computed(
        self, client: Client, name: str, tasks: Sequence[Any], each: Any
    ) -> Any:
        with _told_apart(client):
            futures = client.compute(list(tasks))
            # One that is being closed takes tasks, and then never says that they ended.
            _must_run(client)
            try:
                return self._gathered(client, name, futures, each)
            finally:
                # Also after Ctrl-C: what waits is dropped, what runs ends by itself.
                for future in futures:
                    future.release()

    def _gathered(
        self, client: Client, name: str, futures: list[Any], each: Any
    ) -> Any:
        # All at once unless somebody looks on: every message takes its time.
        if each is None and self._progress is None:
            return _gather(client, futures)
        found: dict[Any, Any] = {}
        for n_done, batch in _batches(client, futures):
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
        """Run tasks and combine their results, in order, as a tree."""
        # A tree, so that no worker and no client ever holds the results of all parts.
        n_parts, level = len(tasks), _sums(tasks, combine)
        if self.client is not None and self._progress is not None and len(level) > 1:
            self._show(name, 0, n_parts)
            level = self.keep(level)
            with _told_apart(self.client):
                for n_done, _ in _batches(self.client, futures_of(level)):
                    self._show(name, min(n_done * _FAN_IN, n_parts), n_parts)
            name = "adding up"
        while len(level) > 1:
            level = _sums(level, combine)
        (result,) = self.results(name, level, reads_x=reads_x)
        return result


def _sums(tasks: Sequence[Any], combine: Callable[[list[Any]], Any]) -> list[Any]:
    """Make tasks that combine the results of some each."""
    return [
        delayed(combine, pure=False)(list(tasks[k : k + _FAN_IN]))
        for k in range(0, len(tasks), _FAN_IN)
    ]


# Both look at the client while they wait: Dask waits for ever for one that another
# thread closes.


def _batches(client: Client, futures: list[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Give how many are done, and those that just were, until all are."""
    waiting, pause = list(futures), _SHORTEST_PAUSE
    while waiting:
        _must_run(client)
        batch = [future for future in waiting if future.done()]
        if batch:
            just_done = set(batch)
            waiting = [future for future in waiting if future not in just_done]
            yield len(futures) - len(waiting), batch
        # Short passes are not held up, and long ones not asked all the time.
        pause = _SHORTEST_PAUSE if batch else min(2 * pause, _LONGEST_PAUSE)
        time.sleep(pause)


def _gather(client: Client, futures: list[Any]) -> list[Any]:
    """Bring results here."""
    gathering = asyncio.run_coroutine_threadsafe(
        client.gather(futures, asynchronous=True),
        client.loop.asyncio_loop,  # type: ignore[union-attr]
    )
    try:
        while not gathering.done():
            _must_run(client)
            wait([gathering], timeout=_LONGEST_PAUSE)
        return list(gathering.result())
    finally:
        gathering.cancel()


@contextmanager
def _told_apart(client: Client) -> Iterator[None]:
    """Turn what a cluster raises into errors that say what to do."""
    _must_run(client)
    try:
        yield
    # Dask says which task failed, which is nothing that a user has written.
    except KilledWorker as error:
        raise MemoryError(
            "workers died again and again while they ran one task: a partition and "
            "what is computed of it do not fit into a worker's memory, or something "
            "ends workers. Use smaller partitions or workers with more memory."
        ) from error
    except (CancelledError, LocalCancelledError) as error:
        raise RuntimeError(
            "the tasks were cancelled before they ended: the client was closed or "
            "restarted, or it lost its scheduler."
        ) from error
    except Exception:
        # First what may be behind it: "IOLoop is closed" tells nobody what happened.
        _must_run(client)
        raise


def _running(client: Client | None) -> Client | None:
    if client is None:
        # That there is none is no fault: Dask then runs in threads of this process.
        try:
            client = default_client()
        except ValueError:
            return None
    if not isinstance(client, Client):
        raise TypeError(
            f"client must be a distributed.Client, got {type(client).__name__}."
        )
    _must_run(client)
    return client


def _must_run(client: Client) -> None:
    if client.status != "running":
        raise RuntimeError(
            f"client must be connected to its scheduler, got one that is "
            f"{client.status}."
        )


def _workers(client: Client) -> dict[str, Any]:
    with _told_apart(client):
        # All of them: by default only the first few are told.
        workers: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    return workers
