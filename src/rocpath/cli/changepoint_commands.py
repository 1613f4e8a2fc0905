"""The commands on long tables of sequences: changepoint segment, fit and predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rocpath.cli import options
from rocpath.cli.options import command, examples

if TYPE_CHECKING:
    pass

app = typer.Typer(
    help="Learn where sequences change, from labelled regions.",
    epilog=examples(
        "rocpath changepoint segment signals.csv --out first-look",
        "rocpath changepoint fit signals.csv labels.csv --out signals-model",
        "rocpath changepoint predict signals-model new.csv --out changes.csv",
    ),
    rich_markup_mode=None,
)


def _column(role: str, usual: str) -> object:
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
CostOption = Annotated[
    Literal["normal", "poisson"], typer.Option(help="Cost of a segment.")
]
ConstraintOption = Annotated[
    Literal["up_down"] | None,
    typer.Option(help="Means go up and down in turn, as for labels of peaks."),
]
MaxChangesOption = Annotated[
    int, typer.Option(min=1, help="Most changes of a sequence to try.")
]


@command(
    app,
    "rocpath changepoint segment signals.csv --out first-look",
    "rocpath changepoint segment load.csv --sequence host --position time "
    "--value latency_ms",
)
def segment(
    sequences: SequencesArgument,
    out: options.FolderOption = "rocpath-segment",
    penalty: Annotated[
        float | None,
        typer.Option(
            min=0, help="Price of a change; by default from the noise of a sequence."
        ),
    ] = None,
    sequence: SequenceOption = None,
    position: PositionOption = None,
    value: ValueOption = None,
    weight: WeightOption = None,
    max_changes: Annotated[
        int, typer.Option(min=1, help="Most changes that the page shows.")
    ] = 20,
    cost: CostOption = "normal",
    constraint: ConstraintOption = None,
    fill: FillOption = None,
    force: options.ForceOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Find changes of sequences without labels, and make a page to label them.

    The default penalty of a change is 2 σ² log n, where σ is the median absolute
    difference of neighbours over 0.954; for Poisson cost it is log n times the ratio of
    σ² to the mean, from 1 up. It is a way to begin: say in labels.html what is right,
    save the labels, and learn the penalty with changepoint fit. Writes changes.csv,
    sequences.csv and labels.html.
    """
    from rocpath.cli.files import check_folder, shown_name
    from rocpath.cli.first_segmentation import FirstRequest, segment_sequences
    from rocpath.cli.labelled_tables import read_sequences
    from rocpath.cli.long_tables import SequenceColumns
    from rocpath.cli.penalty_model import check_columns

    check_folder(out, force=force)
    columns = SequenceColumns(sequence, position, value, weight)
    check_columns(columns)
    table = read_sequences(sequences, columns, cost=cost, fill=fill)
    request = FirstRequest(
        shown_name(sequences), penalty, max_changes, cost, constraint, columns
    )
    segment_sequences(table, request, out=out, force=force, quiet=quiet)


@command(
    app,
    "rocpath changepoint fit signals.csv labels.csv --out signals-model",
    "rocpath changepoint fit load.csv labels.csv --sequence host --position time "
    "--value latency_ms --group rack",
    "rocpath changepoint fit coverage.bedGraph.gz labels.bed --fill 0 --cost poisson "
    "--constraint up_down",
)
def fit(
    sequences: SequencesArgument,
    labels: Annotated[
        str,
        typer.Argument(
            metavar="LABELS",
            help="Table with columns sequence, start, end, kind; or a BED file.",
        ),
    ],
    out: options.FolderOption = "rocpath-changepoint",
    sequence: SequenceOption = None,
    position: PositionOption = None,
    value: ValueOption = None,
    weight: WeightOption = None,
    start: Annotated[str | None, _column("starts of labels", "start")] = None,
    end: Annotated[str | None, _column("ends of labels", "end")] = None,
    kind: Annotated[str | None, _column("kinds of labels", "kind")] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column, of either table, of what belongs together: a region, a "
            "person. Sequences of a group are held out together.",
        ),
    ] = None,
    max_changes: MaxChangesOption = 50,
    cost: CostOption = "normal",
    constraint: ConstraintOption = None,
    fill: FillOption = None,
    png: options.PictureOption = None,
    seed: options.SeedOption = 0,
    force: options.ForceOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Learn penalties of sequences from labelled regions.

    A label says what is right in (start, end]: no_change, one_change,
    at_least_one_change, or of peaks no_peaks, peaks, peak_start, peak_end. Positions
    are numbers or times, or without a column of them row numbers from 0 within a
    sequence. Whole weights are lengths of runs of equal values. A sequence that cannot
    be read is named and left out. Writes model.skops, metrics.json and report.html.
    """
    from rocpath.cli.files import check_folder, shown_name
    from rocpath.cli.labelled_tables import read_labelled
    from rocpath.cli.long_labels import LabelColumns
    from rocpath.cli.long_tables import SequenceColumns
    from rocpath.cli.penalty_fit import Request, fit_sequences
    from rocpath.cli.penalty_model import check_columns

    check_folder(out, force=force)
    if png is not None:
        check_folder(png, force=force)
    columns = SequenceColumns(sequence, position, value, weight)
    check_columns(columns)
    every = read_labelled(
        sequences,
        labels,
        columns,
        LabelColumns(start, end, kind),
        group=group,
        cost=cost,
        fill=fill,
    )
    source = shown_name(sequences)
    request = Request(source, max_changes, cost, constraint, seed, columns, group)
    fit_sequences(every, request, out=out, force=force, quiet=quiet, png=png)


@command(app, "rocpath changepoint predict signals-model new.csv --out changes.csv")
def predict(
    model: options.ModelArgument,
    sequences: SequencesArgument,
    out: options.TableFileOption = "-",
    sequence: SequenceOption = None,
    position: PositionOption = None,
    value: ValueOption = None,
    weight: WeightOption = None,
    fill: FillOption = None,
    force: options.ForceOption = False,
) -> None:
    """Find the changes of sequences, with the penalties that a model predicts.

    The position of a change is that of the first observation after it, as it was
    written. Columns have by default the names that they had in the fit. A sequence that
    cannot be read is named, and has a row with a note in place of a change.
    """
    from rocpath.cli.files import check_file, write_table
    from rocpath.cli.labelled_tables import read_sequences
    from rocpath.cli.long_tables import SequenceColumns
    from rocpath.cli.penalty_fit import refuse_if_all_left_out, warn_of
    from rocpath.cli.penalty_model import PenaltyModel, changes_table, check_columns
    from rocpath.tables.saved_models import read_saved

    check_file(out, force=force, is_table=True)
    fitted = read_saved(model, PenaltyModel)
    told = SequenceColumns(sequence, position, value, weight)
    columns = fitted.sequence_columns(told)
    check_columns(columns)
    table = read_sequences(sequences, columns, cost=fitted.cost, fill=fill)
    segmented, at_fault = fitted.segmented(table.sequences)
    left_out = [*table.left_out, *at_fault]
    refuse_if_all_left_out([one for one, _ in segmented], left_out)
    warn_of(left_out)
    write_table(changes_table(segmented, left_out, columns), out, force=force)
