"""Arguments and options that several commands share."""

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import typer
from typer.core import TyperCommand


def examples(*commands: str) -> str:
    """Return the examples at the end of a help page."""
    # The first character, a backspace, keeps typer from reflowing the lines.
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


class PlainUsage(TyperCommand):
    """Command whose usage line shows required arguments without braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the options and arguments of the usage line."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


def command(app: typer.Typer, *lines: str) -> Callable[[Any], Any]:
    """Register a function as a command, with examples at the end of its help page.

    A parameter whose type is a named tuple of options is expanded into one option per
    field; its default supplies the defaults of the fields.
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
        # Typer reads both attributes.
        grouped.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        grouped.__annotations__ = {one.name: one.annotation for one in every}
        return app.command(epilog=examples(*lines), cls=PlainUsage)(grouped)

    return register


def _fields(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """Yield the fields of a group as parameters, and any other parameter unchanged."""
    if not hasattr(parameter.annotation, "_fields"):
        yield parameter.replace(kind=parameter.KEYWORD_ONLY)
        return
    group, is_given = parameter.annotation, parameter.default is not parameter.empty
    defaults = parameter.default._asdict() if is_given else group._field_defaults
    for name, kind in get_type_hints(group, include_extras=True).items():
        default = defaults.get(name, parameter.empty)
        yield parameter.replace(
            name=name, kind=parameter.KEYWORD_ONLY, default=default, annotation=kind
        )


def split_names(given: list[str] | None) -> list[str]:
    """Split column names at commas."""
    return [name.strip() for one in given or () for name in one.split(",") if name.strip()]


def option(metavar: str, text: str) -> Any:
    """Return an option with a placeholder for its value, and a help text."""
    return typer.Option(metavar=metavar, help=text)


TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        show_default=False,
        help="A .csv, .tsv, .parquet, .feather or .xlsx file; for several files, a quoted "
        "pattern such as 'parts/*.csv' or a folder of Parquet files; - for CSV on stdin.",
    ),
]
# A folder is also accepted, since fit writes one.
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model.skops file, or the output folder of fit.")
]
TableFileOption = Annotated[
    str, typer.Option("--out", metavar="FILE", help="A .csv, .tsv or .parquet file; - for stdout.")
]
LabelOption = Annotated[str, option("COLUMN", "Column of labels.")]
ScoreLabelOption = Annotated[
    str | None, option("COLUMN", "Column of labels; or give --survival-time and --event.")
]
SurvivalTimeOption = Annotated[
    str | None, option("COLUMN", "Column of times until the event or the end of observation.")
]
EventOption = Annotated[
    str | None, option("COLUMN", "Column of events: 1 if the event occurred, 0 if not (censored).")
]
ModelLabelOption = Annotated[
    str | None, option("COLUMN", "Column of labels; by default that of the model.")
]
PositiveOption = Annotated[
    str | None, option("VALUE", "Positive label; by default the second of two in sorted order.")
]
TypesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="COLUMN=KIND",
        help="Type of a column: number, number:, (decimal comma), number:., category, date, "
        "date:%d/%m/%Y or drop; may be repeated.",
    ),
]
DropOption = Annotated[list[str] | None, option("COLUMN", "Column to drop; may be repeated.")]
TestOption = Annotated[
    str | None,
    option("TABLE", "Table of labeled rows for evaluation, which are not used in the fit."),
]
FastOption = Annotated[bool, typer.Option("--fast", help="Fit one model without a comparison.")]
CalibrationOption = Annotated[
    float | None,
    option(
        "SHARE",
        "Share of the rows or groups on which the threshold is chosen, such as 0.4; the model "
        "is fitted to the others, so that the threshold is guaranteed.",
    ),
]
YesOption = Annotated[
    bool,
    typer.Option(
        "--yes", help="Accept the default positive label even if it is the more frequent one."
    ),
]
ModelChoiceOption = Annotated[
    Literal["linear", "blend", "logistic", "boosting", "auto"],
    typer.Option(
        help="Model to save; auto selects the simplest within one standard error of "
        "the best, but does not try a blend, which takes longer."
    ),
]
MaxFprOption = Annotated[
    float | None, option("RATE", "Maximum false positive rate for partial AUCs and thresholds.")
]
ScoresOption = Annotated[
    list[str] | None,
    option("A,B,...", "Columns of scores; by default all except labels and groups."),
]
# Notes and progress go to standard error, so that standard output is valid JSON.
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
# The range of seeds that NumPy accepts.
SeedOption = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of all random choices.")]
# Results may be expensive to compute, so they are overwritten only on request.
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Hide progress and notes.")]
GroupOption = Annotated[
    str | None,
    option(
        "COLUMN",
        "Column of groups of dependent rows, such as customers, for cluster-robust intervals.",
    ),
]
EncodingOption = Annotated[str | None, option("NAME", "Encoding of CSV files, such as latin-1.")]
WeightOption = Annotated[str | None, option("COLUMN", "Column of row weights.")]


def check_outcome(label: str | None, survival_time: str | None, event: str | None) -> None:
    """Raise unless there are labels, or censored times with events."""
    if (survival_time is None) != (event is None):
        raise ValueError("--survival-time and --event must be given together.")
    if (label is None) == (event is None):
        raise ValueError("either --label, or --survival-time and --event, must be given.")


class Targets(NamedTuple):
    """Targets for thresholds, all of them optional."""

    max_fpr: MaxFprOption = None
    min_precision: Annotated[float | None, option("SHARE", "Minimum precision for thresholds.")] = (
        None
    )
    top: Annotated[
        int | None,
        typer.Option(metavar="K", min=1, help="Maximum number of rows predicted positive."),
    ] = None

    def check(self) -> None:
        """Raise an error that names the option if a rate is not between 0 and 1."""
        rates = {"--max-fpr": self.max_fpr, "--min-precision": self.min_precision}
        for option, rate in rates.items():
            if rate is not None and not 0 < rate < 1:
                raise ValueError(f"{option} must be above 0 and below 1, got {rate:g}.")


class RowRoles(NamedTuple):
    """Columns of groups, times and weights."""

    group: GroupOption = None
    time: Annotated[
        str | None,
        option(
            "COLUMN", "Column of times: models are trained on the past and evaluated on the future."
        ),
    ] = None
    weight: WeightOption = None


class Folder(NamedTuple):
    """Output folder, and options for writing to it."""

    out: Annotated[str, option("DIR", "Output folder.")]
    force: ForceOption = False
    quiet: QuietOption = False
