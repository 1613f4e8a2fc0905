"""What commands show in the terminal: tables on standard output, the rest beside it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def examples(*commands: str) -> str:
    """Return the end of a help page."""
    # The first character tells typer to leave the lines as they are.
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def say(message: str) -> None:
    """Show a line on standard error, such that standard output can be piped."""
    Console(stderr=True, soft_wrap=True).print(plain(message))


def show_table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Show a table on standard output: text left, the numbers after it right."""
    console = Console()
    console.print(plain(title), soft_wrap=True)
    table = Table()
    for place, name in enumerate(header):
        table.add_column(plain(name), justify="right" if place else "left")
    for row in rows:
        table.add_row(*map(plain, row))
    console.print(table)


def plain(text: str) -> Text:
    """Show text as it is: no markup of it acts, and no control character."""
    return Text("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))


@contextmanager
def progress_bar(n_stages: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Give a function that starts a stage; shown only in a terminal."""
    console = Console(stderr=True)
    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )
    with bar:
        task = bar.add_task("", total=n_stages)
        started = iter(range(n_stages))

        def start(stage: str) -> None:
            bar.update(task, completed=next(started, n_stages), description=stage)

        yield start
