"""The command changepoint label: a page to label sequences in the browser."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from rocpath.cli import options
from rocpath.cli.options import command

_NAMES = ("sequence",)
_LABELS = ("sequence", "start", "end", "kind")


def add_label(app: typer.Typer) -> None:
    """Make it a command."""
    lines = (
        "rocpath changepoint label signals.csv --out labels.html",
        "rocpath changepoint label signals.csv --labels labels.csv --out labels.html",
    )
    command(app, *lines)(label)


def label(
    sequences: Annotated[
        str,
        typer.Argument(
            metavar="SEQUENCES",
            help="Table with columns sequence, value, and if need be position and "
            "weight.",
        ),
    ],
    out: Annotated[
        str, typer.Option(metavar="FILE", help="The page; - for stdout.")
    ] = "labels.html",
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="LABELS",
            help="Labels to begin with, a table with columns sequence, start, end, "
            "kind.",
        ),
    ] = None,
    max_changes: Annotated[
        int, typer.Option(min=1, help="Most changes of a sequence to try.")
    ] = 20,
    cost: Annotated[
        Literal["normal", "poisson"], typer.Option(help="Cost of a segment.")
    ] = "normal",
    constraint: Annotated[
        Literal["up_down"] | None,
        typer.Option(help="Means go up and down in turn, as for labels of peaks."),
    ] = None,
    force: options.ForceOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Make a page to label sequences in the browser.

    Mark regions with the mouse or the keyboard and say what is right in them; the page
    shows which segmentations agree, and which sequence to label next. It works offline,
    and saves the labels as a table that changepoint fit reads.
    """
    from rocpath.cli.files import check_file, read_table, write_text
    from rocpath.cli.long_tables import labels_of, sequences_of
    from rocpath.cli.terminal import say
    from rocpath.pages.labelling import labelling_html

    check_file(out, force=force)
    every = sequences_of(read_table(sequences, text=_NAMES), cost=cost)
    rows = []
    if labels is not None:
        labels_of(read_table(labels, text=_NAMES), every)  # refuses what is wrong
        rows = read_table(labels, text=_LABELS).select(_LABELS).rows()
    page = labelling_html(
        [one.name for one in every],
        [one.position for one in every],
        [one.value for one in every],
        labels=rows,
        max_changes=max_changes,
        cost=cost,
        constraint=constraint,
        weights=[one.weight for one in every],
    )
    write_text(page, out, force=force)
    if out != "-" and not quiet:
        say(f"Wrote {out}; open it in a browser.")
