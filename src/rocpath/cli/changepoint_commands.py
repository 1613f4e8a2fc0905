"""The commands on long tables of sequences: changepoint fit, changepoint predict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

import polars as pl
import typer

from rocpath.changepoint.penalty_regressor import PenaltyRegressor
from rocpath.changepoint.segmentation import SegmentCost
from rocpath.cli.long_tables import LongSequence, features_of, labels_of, sequences_of
from rocpath.cli.penalty_model import (
    MOST_FOLDS,
    PenaltyModel,
    compare_penalties,
    error_functions,
)
from rocpath.cli.saved_models import model_bytes, model_state
from rocpath.cli.tables import (
    check_folder,
    check_table_file,
    read_model,
    read_table,
    write_folder,
    write_table,
)
from rocpath.cli.terminal import examples, progress_bar, say, show_table

if TYPE_CHECKING:
    from rocpath.changepoint import Segmentation

app = typer.Typer(
    help="Learn where sequences change, from labelled regions.",
    epilog=examples(
        "rocpath changepoint fit signals.csv labels.csv --out signals-model",
        "rocpath changepoint predict signals-model new.csv --out changes.csv",
    ),
    rich_markup_mode=None,
)

_NAMES = ("sequence",)


SequencesArgument = Annotated[
    str,
    typer.Argument(
        metavar="SEQUENCES",
        help="Table with columns sequence, value, and if need be position and weight.",
    ),
]


@app.command(
    epilog=examples(
        "rocpath changepoint fit signals.csv labels.csv --out signals-model",
    )
)
def fit(
    sequences: SequencesArgument,
    labels: Annotated[
        str,
        typer.Argument(
            metavar="LABELS", help="Table with columns sequence, start, end, kind."
        ),
    ],
    out: Annotated[
        str, typer.Option(metavar="DIR", help="Folder of the results.")
    ] = "rocpath-changepoint",
    max_changes: Annotated[
        int, typer.Option(min=1, help="Most changes of a sequence to try.")
    ] = 50,
    cost: Annotated[SegmentCost, typer.Option(help="Cost of a segment.")] = "normal",
    constraint: Annotated[
        Literal["up_down"] | None,
        typer.Option(help="Means go up and down in turn, as for labels of peaks."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of all random choices.")
    ] = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite what is already there.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Show no progress and no notes.")
    ] = False,
) -> None:
    """Learn penalties of sequences from labelled regions.

    A label says what is right in (start, end]: no_change, one_change,
    at_least_one_change, or of peaks no_peaks, peaks, peak_start, peak_end. Positions
    are row numbers from 0 within a sequence, unless there is a column of them. Whole
    weights are lengths of runs of equal values. Writes model.skops and metrics.json.
    """
    check_folder(out, force=force)
    every = sequences_of(read_table(sequences, text=_NAMES), cost=cost)
    known = labels_of(read_table(labels, text=_NAMES), every)
    used = [sequence for sequence in every if sequence.name in known]
    if len(used) < len(every) and not quiet:
        n_left = len(every) - len(used)
        say(f"note: left out, as without labels: {n_left} of {len(every)} sequences.")
    has_runs = all(sequence.has_runs for sequence in used)
    with progress_bar(len(used) + MOST_FOLDS + 1, quiet=quiet) as progress:
        functions = error_functions(
            used,
            known,
            max_changes=max_changes,
            cost=cost,
            constraint=constraint,
            progress=progress,
        )
        X, names = features_of(used, has_runs=has_runs)
        metrics = compare_penalties(X, functions, random_state=seed, progress=progress)
        progress("fitting all sequences")
        regressor = PenaltyRegressor(random_state=seed).fit(X, functions)
    model = PenaltyModel(regressor, names, cost, constraint, has_runs)
    summary = {
        "n_sequences": len(used),
        "n_labels": sum(len(one) for one in known.values()),
        "n_folds": min(MOST_FOLDS, len(used)),
        "max_changes": max_changes,
        "cost": cost,
        "constraint": constraint,
        "methods": metrics,
    }
    contents: dict[str, bytes | str] = {
        "model.skops": model_bytes("changepoint", model.state()),
        "metrics.json": json.dumps(summary, indent=2) + "\n",
    }
    write_folder(out, contents, force=force)
    _show(metrics, len(used), sum(len(one) for one in known.values()))
    say(f"Wrote {out}")


@app.command(
    epilog=examples(
        "rocpath changepoint predict signals-model new.csv --out changes.csv",
    )
)
def predict(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A model.skops, or the folder of a fit."),
    ],
    sequences: SequencesArgument,
    out: Annotated[
        str,
        typer.Option(
            metavar="CHANGES", help="A .csv, .tsv or .parquet file; - for stdout."
        ),
    ] = "-",
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite what is already there.")
    ] = False,
) -> None:
    """Find the changes of sequences, with the penalties that a model predicts.

    The position of a change is that of the first observation after it.
    """
    check_table_file(out, force=force)
    state = model_state(read_model(model), "changepoint", source=model)
    fitted = PenaltyModel.from_state(state)
    found = sequences_of(read_table(sequences, text=_NAMES), cost=fitted.cost)
    segmentations = fitted.segmentations(found)
    write_table(_changes(found, segmentations), out, force=force)


def _changes(
    sequences: list[LongSequence], segmentations: list[Segmentation]
) -> pl.DataFrame:
    rows = [
        (sequence.name, float(sequence.position[change]), float(before), float(after))
        for sequence, found in zip(sequences, segmentations, strict=True)
        for change, before, after in zip(
            found.changes, found.mean[:-1], found.mean[1:], strict=True
        )
    ]
    schema = {
        "sequence": pl.String,
        "position": pl.Float64,
        "mean_before": pl.Float64,
        "mean_after": pl.Float64,
    }
    table = pl.DataFrame(rows, schema=schema, orient="row")
    is_whole = (table["position"] % 1 == 0).all()
    return table.cast({"position": pl.Int64}) if is_whole else table


def _show(
    metrics: dict[str, dict[str, float]], n_sequences: int, n_labels: int
) -> None:
    show_table(
        f"{n_labels} labels of {n_sequences} sequences",
        ("method, on sequences held out", "AUC", "label errors"),
        [
            (method, f"{metric['auc']:.4f}", f"{metric['label_errors']:,}")
            for method, metric in metrics.items()
        ],
    )
