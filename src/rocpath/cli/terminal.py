"""What commands show in the terminal: tables on standard output, the rest beside it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.text import Text


def say(message: str) -> None:
    """Show a line on standard error, such that standard output can be piped."""
    sys.stderr.write(f"{_printable(message)}\n")


def show_table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Show a table on standard output: text left, the numbers after it right."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(_plain(title), soft_wrap=True)
    table = Table()
    for place, name in enumerate(header):
        table.add_column(_plain(name), justify="right" if place else "left")
    for row in rows:
        table.add_row(*map(_plain, row))
    console.print(table)


@contextmanager
def progress_bar(n_stages: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Give a function that starts a stage; shown only in a terminal."""
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    bar = progress.Progress(
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )
    with bar:
        # The first stage to start completes none.
        task = bar.add_task("", total=n_stages, completed=-1)
        yield lambda stage: bar.update(task, advance=1, description=stage)


def _plain(text: str) -> Text:
    """Show text as it is: no markup of it acts."""
    from rich.text import Text

    return Text(_printable(text))


def _printable(text: str) -> str:
    """Show control characters instead of obeying them."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
