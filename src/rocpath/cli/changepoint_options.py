"""Arguments and options of the changepoint commands, in groups."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import typer

from rocpath.cli.options import ForceOption, QuietOption


def _column(role: str, usual: str) -> Any:
    # None and not the usual name: a given column must exist, a usual one may not.
    text = f"Column of {role}; by default {usual}."
    return typer.Option(metavar="COLUMN", help=text)


class Sequences(NamedTuple):
    """A table of sequences, and how to read it."""

    sequences: Annotated[
        str,
        typer.Argument(
            metavar="SEQUENCES",
            help="Table with columns sequence and value, and optionally position and "
            "weight or start and end of runs; or a bedGraph file.",
        ),
    ]
    sequence: Annotated[str | None, _column("names of sequences", "sequence")] = None
    position: Annotated[str | None, _column("positions", "position or timestamp, if present")] = (
        None
    )
    value: Annotated[str | None, _column("values", "value")] = None
    weight: Annotated[str | None, _column("weights", "weight, if present")] = None
    fill: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Value of gaps between the runs of a bedGraph file; by default a gap is an error.",
        ),
    ] = None
    repeated: Annotated[
        Literal["error", "mean", "keep"],
        typer.Option(
            help="Observations at the same position: an error, replaced by their mean, "
            "which is weighted by their number, or all kept."
        ),
    ] = "error"
    wide: Annotated[bool, typer.Option("--wide", help="Each numeric column is a sequence.")] = False
    common: Annotated[
        bool,
        typer.Option("--common", help="All numeric columns are one sequence, with common changes."),
    ] = False

    @property
    def shown_name(self) -> str:
        """The name of the table in titles."""
        return "standard input" if self.sequences == "-" else self.sequences


class LabelFile(NamedTuple):
    """A table of labels, and how to read it."""

    labels: Annotated[
        str,
        typer.Argument(
            metavar="LABELS", help="Table with columns sequence, start, end, kind; or a BED file."
        ),
    ]
    start: Annotated[str | None, _column("starts of labels", "start")] = None
    end: Annotated[str | None, _column("ends of labels", "end")] = None
    kind: Annotated[str | None, _column("kinds of labels", "kind")] = None


class Segmenting(NamedTuple):
    """Settings of the segmentations."""

    # Time and memory grow with it.
    max_changes: Annotated[
        int, typer.Option(min=1, help="Maximum number of changes of a sequence.")
    ]
    # Literals, as importing the types of the library would slow down --help.
    cost: Annotated[
        Literal["normal", "poisson", "biweight", "huber", "mean_variance"],
        typer.Option(help="Cost of a segment; biweight and huber are robust."),
    ] = "normal"
    constraint: Annotated[
        Literal["up_down"] | None,
        typer.Option(help="Means alternately increase and decrease; required for labels of peaks."),
    ] = None
    min_length: Annotated[
        int, typer.Option(min=1, help="Minimum number of observations in a segment.")
    ] = 1

    @property
    def search(self) -> dict[str, Any]:
        """The settings without the maximum number of changes."""
        return {k: v for k, v in self._asdict().items() if k != "max_changes"}


class Page(NamedTuple):
    """The file of a page."""

    out: Annotated[str, typer.Option(metavar="FILE", help="The page; - for stdout.")]
    force: ForceOption = False
    quiet: QuietOption = False


PenaltyOption = Annotated[
    float | None,
    typer.Option(
        min=0, help="Penalty of a change; by default it depends on the noise of each sequence."
    ),
]
FirstLabelsOption = Annotated[
    str | None,
    typer.Option(
        metavar="LABELS",
        help="Initial labels: a table with columns sequence, start, end and kind, or a BED file.",
    ),
]
GroupOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column, of either table, of groups such as persons or machines, which "
        "cross-validation keeps together.",
    ),
]
