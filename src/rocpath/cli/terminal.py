"""What commands show in the terminal: tables on standard output, the rest beside it."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.text import Text


def say(message: str) -> None:
    """Show a line on standard error, such that standard output can be piped."""
    sys.stderr.write(f"{_printable(message)}\n")


def agreed(question: str) -> bool:
    """Ask for a yes or no; where nobody is there to ask, it is no."""
    # A question into a pipe would wait for ever, or eat a line of the table.
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    import typer

    return typer.confirm(_printable(question), err=True)


def show_table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Show a table on standard output: text left, the numbers after it right."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table()
    for place, name in enumerate(header):
        side: Literal["left", "right"] = "right" if place else "left"
        # The first column names the rows, and a name that is cut could be any.
        table.add_column(_plain(name), justify=side, no_wrap=not place)
    for row in rows:
        table.add_row(*map(_plain, row))
    # Rich would exit with an error when the reader of a pipe has left.
    with console.capture() as captured:
        console.print(_plain(title), soft_wrap=True)
        console.print(table)
    sys.stdout.write(captured.get())


@contextmanager
def progress_bar(
    n_stages: int, *, quiet: bool, n_round: int | None = None
) -> Iterator[Callable[[str], None]]:
    """Give a function that starts a stage, shown as a bar in a terminal.

    Rounds of so many stages take about equally long: from the first on, the time left
    is told, where there is no terminal by a line for each round.
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


def time_left(elapsed: float, n_done: int, n_stages: int) -> str:
    """Say how long the stages to come will take, if they are as those that were."""
    # Below 1 s it would say 0, and from 99.5 s on seconds promise too much.
    seconds = elapsed / n_done * (n_stages - n_done)
    if seconds < 99.5:
        return f"about {max(seconds, 1):.0f} s left"
    return f"about {seconds / 60:.0f} min left"


def _plain(text: str) -> Text:
    """Show text as it is: no markup of it acts."""
    from rich.text import Text

    return Text(_printable(text))


def _printable(text: str) -> str:
    """Show control characters instead of obeying them."""
    # A name in a table could move the cursor, or clear the screen.
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
