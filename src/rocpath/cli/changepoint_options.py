"""Arguments and options of the commands on long tables of sequences, in groups."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import typer

from rocpath.cli.options import ForceOption, QuietOption


def _column(role: str, usual: str) -> Any:
    # None is the default, not the usual name: a column that was told must be there,
    # while a usual one may be missing.
    text = f"Column of {role}; by default {usual}."
    return typer.Option(metavar="COLUMN", help=text)


class Sequences(NamedTuple):
    """A table of sequences, and how to read it."""

    sequences: Annotated[
        str,
        typer.Argument(
            metavar="SEQUENCES",
            help="Table with columns sequence, value, and if need be position and "
            "weight; or a bedGraph file.",
        ),
    ]
    sequence: Annotated[str | None, _column("names of sequences", "sequence")] = None
    position: Annotated[
        str | None, _column("positions", "position, if it is there")
    ] = None
    value: Annotated[str | None, _column("values", "value")] = None
    weight: Annotated[str | None, _column("weights", "weight, if it is there")] = None
    fill: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Value where no run of a bedGraph file is; by default a gap is a "
            "fault.",
        ),
    ] = None


class Labels(NamedTuple):
    """A table of labels, and how to read it."""

    labels: Annotated[
        str,
        typer.Argument(
            metavar="LABELS",
            help="Table with columns sequence, start, end, kind; or a BED file.",
        ),
    ]
    start: Annotated[str | None, _column("starts of labels", "start")] = None
    end: Annotated[str | None, _column("ends of labels", "end")] = None
    kind: Annotated[str | None, _column("kinds of labels", "kind")] = None


class Segmenting(NamedTuple):
    """Which segmentations are tried."""

    # As many models are kept of every sequence, and time grows with them.
    max_changes: Annotated[
        int, typer.Option(min=1, help="Most changes of a sequence to try.")
    ]
    # Written out: types of the library would be imported, with numpy, for a help page.
    cost: Annotated[
        Literal["normal", "poisson"], typer.Option(help="Cost of a segment.")
    ] = "normal"
    constraint: Annotated[
        Literal["up_down"] | None,
        typer.Option(help="Means go up and down in turn, as for labels of peaks."),
    ] = None


class Page(NamedTuple):
    """The file of a page, and how it gets there."""

    out: Annotated[str, typer.Option(metavar="FILE", help="The page; - for stdout.")]
    force: ForceOption = False
    quiet: QuietOption = False


PenaltyOption = Annotated[
    float | None,
    typer.Option(
        min=0, help="Price of a change; by default from the noise of a sequence."
    ),
]
FirstLabelsOption = Annotated[
    str | None,
    typer.Option(
        metavar="LABELS",
        help="Labels to begin with: a table with columns sequence, start, end, "
        "kind, or a BED file.",
    ),
]
GroupOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column, of either table, of what belongs together: a region, a "
        "person. Sequences of a group are held out together.",
    ),
]
