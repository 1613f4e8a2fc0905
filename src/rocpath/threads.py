"""Limit on the number of threads of the compiled core."""

from collections.abc import Iterator
from contextlib import contextmanager

import rocpath._core as _core
from rocpath.validation import whole_number


@contextmanager
def thread_limit(n: int) -> Iterator[None]:
    """Limit the threads of searches that this thread calls in a ``with`` block.

    Otherwise the limit is the environment variable ``ROCPATH_NUM_THREADS``, or else
    ``OMP_NUM_THREADS``, which joblib and Dask set for their workers, or else the number
    of cores. A search uses at most two threads, and all searches of a process together
    start at most one thread fewer than the limit. Results do not depend on the limit.

    Parameters
    ----------
    n : int
        Maximum number of threads, including the calling one: 1 starts none.

    Examples
    --------
    >>> import rocpath as rp
    >>> lines = rp.Lines([7, 2, 0, 4], [0, 0.5, 0, -0.5], [1, 1, 0, 0], [0, 0, -1, -1])
    >>> with rp.thread_limit(1):
    ...     best = rp.best_auc_step(lines)
    >>> best.value
    1.0
    """
    before = _core.thread_limit()
    _core.set_thread_limit(min(whole_number("n", n, least=1), 2**20))
    try:
        yield
    finally:
        _core.set_thread_limit(before)
