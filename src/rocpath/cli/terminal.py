"""Output of commands: tables on standard output, everything else on standard error."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_SECONDS_BETWEEN_LINES = 10.0


def say(message: str) -> None:
    """Show a line on standard error, so that standard output can be piped."""
    sys.stderr.write(f"{_printable(message)}\n")


def ask(question: str) -> bool | None:
    """Ask a yes-or-no question; return None if it cannot be answered."""
    # Without a terminal, reading could block, or consume a line of the table.
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    # The signal handler of Polars does not interrupt a read; this restores that of Python.
    signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
    while True:
        sys.stderr.write(f"{_printable(question)} [y/n] ")
        sys.stderr.flush()
        # Typer's prompt is not used, since it hides interrupts.
        answer = sys.stdin.readline()
        if not answer:
            return None
        if answer.strip().lower() in ("y", "yes", "n", "no"):
            return answer.strip().lower().startswith("y")


def show_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show a table on standard output without truncating cells.

    A table that is wider than the terminal is shown as one line per value.
    """
    # Imported here, so that --help is fast.
    from rocpath.evaluation.results import text_table

    head, *cells = [[_printable(cell) for cell in row] for row in (header, *rows)]
    lines = [_printable(title), *text_table(head, cells).splitlines()]
    width = max(map(len, lines[1:]))
    if sys.stdout.isatty() and width > shutil.get_terminal_size().columns:
        del lines[1:]
        for name, *values in cells:
            lines.append(name)
            pairs = zip(head[1:], values, strict=True)
            lines += [f"  {key}: {value}" for key, value in pairs if value]
    sys.stdout.write("\n".join(lines) + "\n")


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Callable[..., None]]:
    """Yield a progress callback that takes a step number, a total and a description.

    It shows a bar in a terminal, and elsewhere a line with the remaining time at most
    every ten seconds.
    """
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    columns = (
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.description}", markup=False),
    )
    is_bar = console.is_terminal and not quiet
    shown_at, started = time.monotonic(), time.monotonic()

    def step(number: int, n_steps: int, text: str = "segmenting") -> None:
        nonlocal shown_at
        now = time.monotonic()
        bar.update(task, completed=number, total=n_steps, description=text)
        if number and not is_bar and not quiet and now - shown_at >= _SECONDS_BETWEEN_LINES:
            shown_at, left = now, (now - started) / number * (n_steps - number)
            say(f"{number} of {n_steps} steps done, about {max(left, 1):.0f} s left")

    with progress.Progress(*columns, console=console, transient=True, disable=not is_bar) as bar:
        task = bar.add_task("", total=None)
        yield step


def _printable(text: str) -> str:
    """Escape control characters."""
    # Otherwise a name in a table could move the cursor or clear the screen.
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
