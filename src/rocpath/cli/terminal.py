"""Output of commands: tables on standard output, everything else on standard error."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rocpath.model_comparison import ModelComparison

_GAP = "  "  # between two columns


def say(message: str) -> None:
    """Show a line on standard error, so that standard output can be piped."""
    sys.stderr.write(f"{_printable(message)}\n")


def ask(question: str) -> bool | None:
    """Ask a yes-or-no question; None if nobody is there to answer it."""
    # A question into a pipe would wait forever, or consume a line of the table.
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    while True:
        sys.stderr.write(f"{_printable(question)} [y/n] ")
        sys.stderr.flush()
        # Not typer's prompt, which hides interrupts.
        answer = sys.stdin.readline()
        if not answer:
            return None
        if answer.strip().lower() in ("y", "yes", "n", "no"):
            return answer.strip().lower().startswith("y")


def show_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show a table on standard output, with every number whole.

    A table that is wider than the terminal is shown as one line per value.
    """
    cells = [[_printable(cell) for cell in row] for row in (header, *rows)]
    width = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [_printable(title)]
    n_columns = shutil.get_terminal_size().columns
    if sys.stdout.isatty() and sum(width) + len(_GAP) * len(width) > n_columns:
        for name, *values in cells[1:]:
            lines.append(name)
            pairs = zip(cells[0][1:], values, strict=True)
            lines += [f"{_GAP}{key}: {value}" for key, value in pairs if value]
    else:
        for name, *values in cells:
            # Names to the left, numbers to the right.
            own = map(str.rjust, values, width[1:])
            lines.append(_GAP.join((name.ljust(width[0]), *own)).rstrip())
    sys.stdout.write("\n".join(lines) + "\n")


def show_comparison(title: str, comparison: ModelComparison) -> None:
    """Show the scores of all models, and the findings."""
    show_table(title, comparison.header, comparison.rows)
    for line in comparison.findings():
        say(line)


@contextmanager
def progress_bar(
    n_stages: int, *, quiet: bool, n_round: int | None = None
) -> Iterator[Callable[[str], None]]:
    """Yield a function that starts a stage, shown as a bar in a terminal.

    Rounds of ``n_round`` stages take about the same time: after each, the remaining
    time is shown, as a line where there is no terminal.
    """
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    is_bar = console.is_terminal and not quiet
    bar = progress.Progress(
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
        disable=not is_bar,
    )
    started = time.monotonic()
    n_done, left = -1, ""  # the first stage to start completes none

    def start(stage: str) -> None:
        nonlocal n_done, left
        n_done += 1
        # Only after whole rounds: stages of one round may differ widely.
        if n_round and n_done and n_done % n_round == 0 and n_done < n_stages:
            left = time_left(time.monotonic() - started, n_done, n_stages)
            if not (quiet or is_bar):
                say(f"{n_done} of {n_stages} steps done, {left}")
        shown = f"{stage} ({left})" if left else stage
        bar.update(task, advance=1, description=shown)

    with bar:
        task = bar.add_task("", total=n_stages, completed=-1)
        yield start


@contextmanager
def count_progress(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Give a function of the numbers done and in total that shows a bar."""
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    is_bar = console.is_terminal and not quiet
    with progress.Progress(console=console, transient=True, disable=not is_bar) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@contextmanager
def fit_progress(
    before: Callable[[], None], *, quiet: bool
) -> Iterator[Callable[[int, int, str], None]]:
    """Yield the progress callback of a fit, with a bar of as many steps as it has.

    ``before`` is called at the first step.
    """
    with ExitStack() as stack:
        bars: list[Callable[[str], None]] = []

        def step(_: int, n_steps: int, text: str) -> None:
            if not bars:
                before()
                n_round = max(1, (n_steps - 2) // 5)
                bar = progress_bar(n_steps, quiet=quiet, n_round=n_round)
                bars.append(stack.enter_context(bar))
            bars[0](text)

        yield step


def time_left(elapsed: float, n_done: int, n_stages: int) -> str:
    """Describe the time of the remaining stages, if they are like the first ones."""
    # Below 1 s it would be 0, and from 99.5 s on seconds are too precise.
    seconds = elapsed / n_done * (n_stages - n_done)
    if seconds < 99.5:
        return f"about {max(seconds, 1):.0f} s left"
    return f"about {seconds / 60:.0f} min left"


def _printable(text: str) -> str:
    """Show control characters instead of obeying them."""
    # A name in a table could move the cursor, or clear the screen.
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
