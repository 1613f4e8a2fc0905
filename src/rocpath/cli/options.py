"""Arguments and options that several commands share, some of them in groups."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    get_type_hints,
)

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocpath.auc_statistics.threshold_targets import ThresholdTargets


def examples(*commands: str) -> str:
    """Return the end of a help page."""
    # The first character tells typer to leave the lines as they are.
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def command(app: typer.Typer, *lines: str) -> Callable[[Any], Any]:
    """Make a function a command, with examples at the end of its help page.

    A parameter that is a group, a named tuple of options, stands for its fields; what
    the fields are by default is in the parameter's own default.
    """

    def made(run: Callable[..., None]) -> Callable[..., None]:
        parameters = inspect.signature(run, eval_str=True).parameters.values()
        groups = {
            one.name: one.annotation
            for one in parameters
            if hasattr(one.annotation, "_fields")
        }

        @wraps(run)
        def grouped(**given: Any) -> None:
            for name, group in groups.items():
                given[name] = group(*(given.pop(field) for field in group._fields))
            run(**given)

        every = [field for one in parameters for field in _fields(one)]
        # Typer reads both.
        grouped.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        grouped.__annotations__ = {one.name: one.annotation for one in every}
        return app.command(epilog=examples(*lines))(grouped)

    return made


def _fields(one: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """Give the fields of a group as parameters, or a parameter that is none."""
    if not hasattr(one.annotation, "_fields"):
        yield one.replace(kind=one.KEYWORD_ONLY)
        return
    group, is_told = one.annotation, one.default is not one.empty
    known = one.default._asdict() if is_told else group._field_defaults
    for name, kind in get_type_hints(group, include_extras=True).items():
        default = known.get(name, one.empty)
        yield one.replace(
            name=name, kind=one.KEYWORD_ONLY, default=default, annotation=kind
        )


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
MaxFprOption = Annotated[
    float | None,
    typer.Option(
        metavar="RATE",
        help="Judge by the area left of this false positive rate, and call rows "
        "positive at most at this rate.",
    ),
]
ScoresOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B,...", help="Columns of scores; by default all but the labels."
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


class Promised(NamedTuple):
    """Promises: each is about the rows called positive, and any can be asked for."""

    max_fpr: MaxFprOption = None
    min_precision: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Call rows positive such that this share of them is."
        ),
    ] = None
    top: Annotated[
        int | None,
        typer.Option(
            metavar="K", min=1, help="Call the K rows ranked highest positive."
        ),
    ] = None

    @property
    def targets(self) -> ThresholdTargets:
        """The targets of the library; errors name the option as it is written."""
        from rocpath.arguments import share_between
        from rocpath.auc_statistics.threshold_targets import ThresholdTargets

        for option, rate in (
            ("--max-fpr", self.max_fpr),
            ("--min-precision", self.min_precision),
        ):
            if rate is not None:
                share_between(option, rate)
        return ThresholdTargets(*self)


class Where(NamedTuple):
    """Where the rows of a table are read."""

    engine: Annotated[
        Literal["auto", "memory", "dask"],
        typer.Option(
            help="Where to read rows; auto takes Dask for files of over half the "
            "memory."
        ),
    ] = "auto"
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="A running Dask scheduler, as tcp://host:8786."
        ),
    ] = None


class Folder(NamedTuple):
    """The folder of the results, and how they get there."""

    out: Annotated[str, typer.Option(metavar="DIR", help="Folder of the results.")]
    force: ForceOption = False
    quiet: QuietOption = False
