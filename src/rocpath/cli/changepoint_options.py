"""Arguments and options of the commands on long tables of sequences."""

from __future__ import annotations

from typing import Annotated, Literal

import typer


def _column(role: str, usual: str) -> object:
    # None is the default, not the usual name: a column that was told must be there,
    # while a usual one may be missing.
    text = f"Column of {role}; by default {usual}."
    return typer.Option(metavar="COLUMN", help=text)


SequencesArgument = Annotated[
    str,
    typer.Argument(
        metavar="SEQUENCES",
        help="Table with columns sequence, value, and if need be position and weight; "
        "or a bedGraph file.",
    ),
]
SequenceOption = Annotated[str | None, _column("names of sequences", "sequence")]
PositionOption = Annotated[str | None, _column("positions", "position, if it is there")]
ValueOption = Annotated[str | None, _column("values", "value")]
WeightOption = Annotated[str | None, _column("weights", "weight, if it is there")]
FillOption = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="Value where no run of a bedGraph file is; by default a gap is a fault.",
    ),
]
# Written out: the types of the library would be imported, with numpy, for a help page.
CostOption = Annotated[
    Literal["normal", "poisson"], typer.Option(help="Cost of a segment.")
]
ConstraintOption = Annotated[
    Literal["up_down"] | None,
    typer.Option(help="Means go up and down in turn, as for labels of peaks."),
]
# As many models are kept of every sequence, and time grows with them.
MaxChangesOption = Annotated[
    int, typer.Option(min=1, help="Most changes of a sequence to try.")
]
PenaltyOption = Annotated[
    float | None,
    typer.Option(
        min=0, help="Price of a change; by default from the noise of a sequence."
    ),
]
ShownChangesOption = Annotated[
    int, typer.Option(min=1, help="Most changes that the page shows.")
]
LabelsArgument = Annotated[
    str,
    typer.Argument(
        metavar="LABELS",
        help="Table with columns sequence, start, end, kind; or a BED file.",
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
StartOption = Annotated[str | None, _column("starts of labels", "start")]
EndOption = Annotated[str | None, _column("ends of labels", "end")]
KindOption = Annotated[str | None, _column("kinds of labels", "kind")]
GroupOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column, of either table, of what belongs together: a region, a "
        "person. Sequences of a group are held out together.",
    ),
]
PageOption = Annotated[
    str, typer.Option("--out", metavar="FILE", help="The page; - for stdout.")
]
