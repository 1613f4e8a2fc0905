"""Arguments and options that several commands share, some of them in groups."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_type_hints

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def examples(*commands: str) -> str:
    """Return the examples at the end of a help page."""
    # The first character keeps typer from reflowing the lines.
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


class PlainUsage(TyperCommand):
    """Show required arguments in the usage line without braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the options and arguments of the usage line."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


def command(app: typer.Typer, *lines: str) -> Callable[[Any], Any]:
    """Register a function as a command, with examples at the end of its help page.

    A parameter that is a named tuple of options stands for its fields; the default of
    the parameter has the defaults of the fields.
    """

    def register(run: Callable[..., None]) -> Callable[..., None]:
        parameters = inspect.signature(run, eval_str=True).parameters.values()
        groups = {
            one.name: one.annotation for one in parameters if hasattr(one.annotation, "_fields")
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
        return app.command(epilog=examples(*lines), cls=PlainUsage)(grouped)

    return register


def _fields(one: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """Yield the fields of a group as parameters, or any other parameter itself."""
    if not hasattr(one.annotation, "_fields"):
        yield one.replace(kind=one.KEYWORD_ONLY)
        return
    group, is_given = one.annotation, one.default is not one.empty
    known = one.default._asdict() if is_given else group._field_defaults
    for name, kind in get_type_hints(group, include_extras=True).items():
        default = known.get(name, one.empty)
        yield one.replace(name=name, kind=one.KEYWORD_ONLY, default=default, annotation=kind)


def split_names(given: list[str] | None) -> list[str]:
    """Split names of columns at commas."""
    return [name.strip() for one in given or () for name in one.split(",") if name.strip()]


TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        show_default=False,
        help="Table: .csv, .tsv, .parquet, .feather or .xlsx; several files as "
        "'parts/*.parquet'; - for CSV on stdin.",
    ),
]
# A folder too, as that is what a fit writes.
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="File model.skops, or the folder of a fit.")
]
TableFileOption = Annotated[
    str, typer.Option("--out", metavar="FILE", help="A .csv, .tsv or .parquet file; - for stdout.")
]
LabelOption = Annotated[str, typer.Option(metavar="COLUMN", help="Column of labels.")]
ModelLabelOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column of labels; by default as in the fit.")
]
PositiveOption = Annotated[
    str | None,
    typer.Option(
        metavar="VALUE", help="Positive label; by default the last of two in sorted order."
    ),
]
TypesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="COLUMN=KIND",
        help="Type of a column: number, category, date, date:%d/%m/%Y or drop; may be repeated.",
    ),
]
DropOption = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Column to drop; may be repeated.")
]
TestOption = Annotated[
    str | None,
    typer.Option(metavar="TABLE", help="Labeled rows to evaluate on, never used in the fit."),
]
FastOption = Annotated[bool, typer.Option("--fast", help="Fit one model, without a comparison.")]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Accept the default positive label, however frequent.")
]
ModelChoiceOption = Annotated[
    Literal["linear", "blend", "logistic", "boosting", "auto"],
    typer.Option(
        help="Model to save; auto selects the simplest within one standard error of "
        "the best, without trying a blend, which takes longer."
    ),
]
MaxFprOption = Annotated[
    float | None,
    typer.Option(
        metavar="RATE", help="Largest false positive rate, for partial AUCs and thresholds."
    ),
]
ScoresOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B,...", help="Columns of scores; by default all but labels and groups."
    ),
]
# On standard output, where notes and progress never go.
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
# The range of numpy's seeds.
SeedOption = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of all random choices.")]
# Results may have taken long: nothing is overwritten without it.
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Hide progress and notes.")]
GroupOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Group of each row, such as a customer, for folds, intervals and tests by group.",
    ),
]
WeightOption = Annotated[str | None, typer.Option(metavar="COLUMN", help="Weight of each row.")]


class Targets(NamedTuple):
    """Targets of thresholds; any of them may be given."""

    max_fpr: MaxFprOption = None
    min_precision: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Smallest precision of the predicted positives."),
    ] = None
    top: Annotated[
        int | None,
        typer.Option(metavar="K", min=1, help="Largest number of rows predicted positive."),
    ] = None

    def check(self) -> None:
        """Raise if a rate is not between 0 and 1; errors name the option."""
        rates = {"--max-fpr": self.max_fpr, "--min-precision": self.min_precision}
        for option, rate in rates.items():
            if rate is not None and not 0 < rate < 1:
                raise ValueError(f"{option} must be above 0 and below 1, got {rate:g}.")


class RowRoles(NamedTuple):
    """Columns that describe how rows depend on each other."""

    group: GroupOption = None
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Time of each row: models are trained on the past and evaluated on the future.",
        ),
    ] = None
    weight: WeightOption = None


class Source(NamedTuple):
    """How the rows of a table are read."""

    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of CSV files, such as latin-1.")
    ] = None
    engine: Annotated[
        Literal["auto", "memory", "dask"],
        typer.Option(
            help="Where to read rows; auto uses Dask for files that may need over half the memory."
        ),
    ] = "auto"
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Running Dask scheduler, such as tcp://host:8786."),
    ] = None


class Folder(NamedTuple):
    """The folder of the results, and how they are written."""

    out: Annotated[str, typer.Option(metavar="DIR", help="Folder of the results.")]
    force: ForceOption = False
    quiet: QuietOption = False
