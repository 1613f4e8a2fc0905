"""Progress on standard error: a bar in a terminal, otherwise one line per pass."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_BAR_WIDTH = 24  # characters
_LINE_WIDTH = 79


@contextmanager
def progress_line(*, is_shown: bool) -> Iterator[Callable[..., None]]:
    """Yield a function that shows the number of completed partitions, if requested.

    In a terminal, a single line is overwritten, and cleared at the end.
    """
    is_bar = is_shown and sys.stderr.isatty()
    try:
        yield _write_bar if is_bar else _write_line if is_shown else write_nothing
    finally:
        if is_bar:
            _overwrite("", end="\r")


def write_nothing(activity: str, n_done: int = 0, n_partitions: int = 0) -> None:
    """Show no progress."""


def _write_line(activity: str, n_done: int = 0, n_partitions: int = 0) -> None:
    # Each pass writes one line, at its start, because log files keep every line.
    if n_done == 0:
        size = f", {n_partitions:,} partitions" if n_partitions > 1 else ""
        sys.stderr.write(f"{activity}{size}\n")


def _write_bar(activity: str, n_done: int = 0, n_partitions: int = 0) -> None:
    # A single task has no intermediate progress.
    if n_partitions > 1:
        filled = _BAR_WIDTH * n_done // n_partitions
        bar = "#" * filled + "." * (_BAR_WIDTH - filled)
        activity = f"[{bar}] {n_done:,} of {n_partitions:,}  {activity}"
    # The line is cleared when the pass is done, so that later output starts on an empty line.
    is_done = n_partitions > 0 and n_done == n_partitions
    _overwrite("" if is_done else activity, end="\r" if is_done else "")


def _overwrite(text: str, end: str = "") -> None:
    sys.stderr.write(f"\r{text[:_LINE_WIDTH]:<{_LINE_WIDTH}}{end}")
    sys.stderr.flush()
