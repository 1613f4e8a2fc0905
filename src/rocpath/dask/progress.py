"""What a long run shows on standard error: a bar in a terminal, else a line a pass."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BAR = 24  # characters
_WHOLE_LINE = 79


@contextmanager
def progress_line(*, is_shown: bool) -> Iterator[Callable[..., None] | None]:
    """Give a function that shows what is done, and of how many parts; or None.

    In a terminal one line is written over again and again, and cleared in the end.
    """
    if not is_shown:
        yield None
    elif not sys.stderr.isatty():
        yield _write_line
    else:
        try:
            yield _write_bar
        finally:
            _write_over("", end="\r")


def _write_line(doing: str, n_done: int = 0, n_parts: int = 0) -> None:
    # A file of this keeps every line: one when a pass starts.
    if n_done == 0:
        parts = f", {n_parts:,} parts" if n_parts > 1 else ""
        sys.stderr.write(f"{doing}{parts}\n")


def _write_bar(doing: str, n_done: int = 0, n_parts: int = 0) -> None:
    # Of one task nothing is known until it is there.
    if n_parts > 1:
        filled = _BAR * n_done // n_parts
        bar = "#" * filled + "." * (_BAR - filled)
        doing = f"[{bar}] {n_done:,} of {n_parts:,}  {doing}"
    # Cleared when done: what is said next must not stand behind it.
    is_done = n_parts > 0 and n_done == n_parts
    _write_over("" if is_done else doing, end="\r" if is_done else "")


def _write_over(text: str, end: str = "") -> None:
    sys.stderr.write(f"\r{text[:_WHOLE_LINE]:<{_WHOLE_LINE}}{end}")
    sys.stderr.flush()
