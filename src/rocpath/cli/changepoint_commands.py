"""The commands on long tables of sequences: changepoint fit, changepoint predict."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from rocpath.cli import options
from rocpath.cli.label_command import add_label
from rocpath.cli.options import command, examples

app = typer.Typer(
    help="Learn where sequences change, from labelled regions.",
    epilog=examples(
        "rocpath changepoint fit signals.csv labels.csv --out signals-model",
        "rocpath changepoint predict signals-model new.csv --out changes.csv",
    ),
    rich_markup_mode=None,
)
add_label(app)

_NAMES = ("sequence",)

SequencesArgument = Annotated[
    str,
    typer.Argument(
        metavar="SEQUENCES",
        help="Table with columns sequence, value, and if need be position and weight.",
    ),
]


@command(app, "rocpath changepoint fit signals.csv labels.csv --out signals-model")
def fit(
    sequences: SequencesArgument,
    labels: Annotated[
        str,
        typer.Argument(
            metavar="LABELS", help="Table with columns sequence, start, end, kind."
        ),
    ],
    out: options.FolderOption = "rocpath-changepoint",
    max_changes: Annotated[
        int, typer.Option(min=1, help="Most changes of a sequence to try.")
    ] = 50,
    cost: Annotated[
        Literal["normal", "poisson"], typer.Option(help="Cost of a segment.")
    ] = "normal",
    constraint: Annotated[
        Literal["up_down"] | None,
        typer.Option(help="Means go up and down in turn, as for labels of peaks."),
    ] = None,
    seed: options.SeedOption = 0,
    force: options.ForceOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Learn penalties of sequences from labelled regions.

    A label says what is right in (start, end]: no_change, one_change,
    at_least_one_change, or of peaks no_peaks, peaks, peak_start, peak_end. Positions
    are row numbers from 0 within a sequence, unless there is a column of them. Whole
    weights are lengths of runs of equal values. Writes model.skops and metrics.json.
    """
    from rocpath.cli.files import check_folder, read_table
    from rocpath.cli.long_tables import labels_of, sequences_of
    from rocpath.cli.penalty_fit import Request, fit_sequences

    check_folder(out, force=force)
    every = sequences_of(read_table(sequences, text=_NAMES), cost=cost)
    known = labels_of(read_table(labels, text=_NAMES), every)
    request = Request(max_changes, cost, constraint, seed)
    fit_sequences(every, known, request, out=out, force=force, quiet=quiet)


@command(app, "rocpath changepoint predict signals-model new.csv --out changes.csv")
def predict(
    model: options.ModelArgument,
    sequences: SequencesArgument,
    out: options.TableFileOption = "-",
    force: options.ForceOption = False,
) -> None:
    """Find the changes of sequences, with the penalties that a model predicts.

    The position of a change is that of the first observation after it.
    """
    from rocpath.cli.files import check_file, read_table, write_table
    from rocpath.cli.long_tables import sequences_of
    from rocpath.cli.penalty_model import PenaltyModel
    from rocpath.cli.saved_models import load_model

    check_file(out, force=force, is_table=True)
    fitted = load_model(model, PenaltyModel)
    found = sequences_of(read_table(sequences, text=_NAMES), cost=fitted.cost)
    write_table(fitted.changes(found), out, force=force)
