"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Callable


def examples(*commands: str) -> str:
    """Return the end of a help page."""
    # The first character tells typer to leave the lines as they are.
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def command(app: typer.Typer, *lines: str) -> Callable[[Any], Any]:
    """Make a function a command, with examples at the end of its help page."""
    return app.command(epilog=examples(*lines))


TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A .csv, .tsv or .parquet file, or several as 'parts/*.parquet'; - for "
        "CSV on stdin.",
    ),
]
# A folder too, as it is what a fit was told to write.
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model.skops, or the folder of a fit.")
]
FolderOption = Annotated[
    str, typer.Option("--out", metavar="DIR", help="Folder of the results.")
]
TableFileOption = Annotated[
    str,
    typer.Option(
        "--out", metavar="FILE", help="A .csv, .tsv or .parquet file; - for stdout."
    ),
]
LabelOption = Annotated[str, typer.Option(metavar="COLUMN", help="Column of labels.")]
ModelLabelOption = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column of labels; by default as in the fit."),
]
# Two labels have an order that all commands agree on, so that it may be left out.
PositiveOption = Annotated[
    str | None,
    typer.Option(
        metavar="VALUE",
        help="The label to rank high; of two, by default the last in the alphabet.",
    ),
]
TypesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="COLUMN=KIND",
        help="What a column is: number, category, date, date:%d/%m/%Y or drop; may be "
        "repeated.",
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column to leave out; may be repeated."),
]
FastOption = Annotated[
    bool, typer.Option("--fast", help="Fit one model, and compare it with none.")
]
YesOption = Annotated[
    bool,
    typer.Option(
        "--yes", help="Take the positive label by the alphabet, however frequent."
    ),
]
ModelChoiceOption = Annotated[
    Literal["linear", "blend", "logistic", "boosting", "auto"],
    typer.Option(
        help="The model to save; auto takes the best on rows held out, and tries no "
        "blend, which takes longer."
    ),
]
PictureOption = Annotated[
    str | None,
    typer.Option("--png", metavar="DIR", help="Folder for every figure, as PNG."),
]
# Promises: each is about the rows called positive, and any number can be asked for.
MaxFprOption = Annotated[
    float | None,
    typer.Option(
        "--max-fpr",
        metavar="RATE",
        help="Judge by the area left of this false positive rate, and call rows "
        "positive at most at this rate.",
    ),
]
MinPrecisionOption = Annotated[
    float | None,
    typer.Option(
        "--min-precision",
        metavar="SHARE",
        help="Call rows positive such that this share of them is.",
    ),
]
TopOption = Annotated[
    int | None,
    typer.Option(
        "--top", metavar="K", min=1, help="Call the K rows ranked highest positive."
    ),
]
ScoresOption = Annotated[
    list[str] | None,
    typer.Option(
        "--scores",
        metavar="A,B,...",
        help="Columns of scores; by default all but the labels.",
    ),
]
# On standard output, where notes and progress never go.
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of a table.")
]
# As far as numpy takes seeds.
SeedOption = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="Seed of all random choices.")
]
# Nothing that exists is overwritten without it: it may have taken long.
ForceOption = Annotated[
    bool, typer.Option("--force", help="Overwrite what is already there.")
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", help="Show no progress and no notes.")
]
EngineOption = Annotated[
    Literal["auto", "memory", "dask"],
    typer.Option(
        help="Where to read rows; auto takes Dask for files of over half the memory."
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="A running Dask scheduler, as tcp://host:8786."
    ),
]
