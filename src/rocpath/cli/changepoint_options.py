"""Arguments and options of the changepoint commands, in groups."""

from typing import Annotated, Any, Literal, NamedTuple

import typer

from rocpath.changepoint.segment_costs import DetectionCost
from rocpath.cli.options import ForceOption, QuietOption, option


def _column(role: str, usual: str) -> Any:
    # The default is None rather than the usual name, because a specified column must exist.
    return option("COLUMN", f"Column of {role}; by default {usual}.")


class Sequences(NamedTuple):
    """A table of sequences, and options for reading it."""

    sequences: Annotated[
        str,
        typer.Argument(
            metavar="SEQUENCES",
            help="Table with columns sequence and value, and optionally position and "
            "weight, or start and end of runs; or a bedGraph file.",
        ),
    ]
    sequence: Annotated[str | None, _column("sequence names", "sequence")] = None
    position: Annotated[
        str | None, _column("positions", "position, timestamp, time, datetime or date, if present")
    ] = None
    value: Annotated[str | None, _column("values", "value")] = None
    weight: Annotated[str | None, _column("weights", "weight, if present")] = None
    fill: Annotated[
        float | None,
        option(
            "NUMBER",
            "Value for gaps between runs of a bedGraph file; by default, a gap is an error.",
        ),
    ] = None
    repeated: Annotated[
        Literal["error", "mean", "keep"],
        typer.Option(
            help="Treatment of observations at the same position: report an error, "
            "replace them by their mean with their count as weight, or keep all."
        ),
    ] = "error"
    wide: Annotated[
        bool, typer.Option("--wide", help="Read each numeric column as a sequence.")
    ] = False
    common: Annotated[
        bool,
        typer.Option("--common", help="Read numeric columns as one sequence with common changes."),
    ] = False


class LabelFile(NamedTuple):
    """A table of labels, and options for reading it."""

    labels: Annotated[
        str,
        typer.Argument(
            metavar="LABELS", help="Table with columns sequence, start, end, kind; or a BED file."
        ),
    ]
    start: Annotated[str | None, _column("label starts", "start")] = None
    end: Annotated[str | None, _column("label ends", "end")] = None
    kind: Annotated[str | None, _column("label kinds", "kind")] = None


class Segmenting(NamedTuple):
    """Settings of the segmentations."""

    # Time and memory grow with the maximum number of changes.
    max_changes: Annotated[
        int, typer.Option(min=1, help="Maximum number of changes on a page; a fit starts with it.")
    ]
    cost: Annotated[
        DetectionCost,
        typer.Option(help="Cost of a segment; auto chooses levels, lines or levels with outliers."),
    ] = "normal"
    constraint: Annotated[
        Literal["up_down"] | None,
        typer.Option(
            help="up_down: means increase and decrease alternately; required for labels of peaks."
        ),
    ] = None
    min_length: Annotated[
        int, typer.Option(min=1, help="Minimum number of observations in a segment.")
    ] = 1


class Page(NamedTuple):
    """Output file of a page, and options for writing it."""

    out: Annotated[str, option("FILE", "HTML file to write; - for stdout.")]
    force: ForceOption = False
    quiet: QuietOption = False


PenaltyOption = Annotated[
    float | None,
    typer.Option(
        min=0, help="Penalty per change; by default it depends on the noise of each sequence."
    ),
]
PeriodOption = Annotated[
    str | None,
    option(
        "PERIOD", "Period of a seasonal pattern: observations, or a duration such as 1d or 12h."
    ),
]
ConfidenceOption = Annotated[
    float, typer.Option(min=0, max=1, help="Confidence level of the intervals of the locations.")
]
FirstLabelsOption = Annotated[
    str | None,
    option(
        "LABELS",
        "Initial labels: a table with columns sequence, start, end and kind, or a BED file.",
    ),
]
GroupOption = Annotated[
    str | None,
    option(
        "COLUMN",
        "Column of groups, such as subjects or machines, which cross-validation keeps "
        "together; it may be in either table.",
    ),
]
