"""The commands on tables of labelled rows: fit, predict, evaluate, path, demo."""

from __future__ import annotations

import json
from typing import Annotated

import numpy as np
import polars as pl
import typer
from scipy.special import expit

from rocpath.breakpoints import ErrorBreakpoints
from rocpath.cli import changepoint_commands, table_fit
from rocpath.cli.comparison import delong_auc
from rocpath.cli.saved_models import model_state
from rocpath.cli.table_columns import (
    BinaryLabel,
    binary_label,
    column,
    known_label,
    numbers_of,
)
from rocpath.cli.table_model import TableModel
from rocpath.cli.tables import (
    check_file,
    check_folder,
    check_table_file,
    read_model,
    read_table,
    shown_name,
    temporary_table,
    write_table,
    write_text,
)
from rocpath.cli.terminal import examples, say, show_table
from rocpath.line_search import Lines
from rocpath.pages.step_view import StepVariant, step_view

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(changepoint_commands.app, name="changepoint")

TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE", help="A .csv, .tsv or .parquet file; - for CSV on stdin."
    ),
]
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model.skops, or the folder of a fit.")
]
LabelOption = Annotated[str, typer.Option(metavar="COLUMN", help="Column of labels.")]
ModelLabelOption = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column of labels; by default as in the fit."),
]
PositiveOption = Annotated[
    str | None,
    typer.Option(
        metavar="VALUE",
        help="The label to rank high; of two, by default the last in the alphabet.",
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Overwrite what is already there.")
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", help="Show no progress and no notes.")
]

_DIABETES_COLUMNS = (
    "age",
    "sex",
    "body mass index",
    "blood pressure",
    "total cholesterol",
    "LDL",
    "HDL",
    "total cholesterol / HDL",
    "log triglycerides",
    "blood sugar",
)


@app.callback(
    invoke_without_command=True,
    epilog=examples("rocpath demo", "rocpath fit TABLE.csv --label COLUMN"),
)
def start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.")
    ] = False,
) -> None:
    """Models that rank: maximise the area under the ROC curve (AUC)."""
    if version:
        typer.echo(f"rocpath {table_fit.version()}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(
    epilog=examples(
        "rocpath fit patients.csv --label outcome --positive died --out patients-model",
        "zcat clicks.csv.gz | rocpath fit - --label clicked --drop user_id",
    )
)
def fit(
    table: TableArgument,
    label: LabelOption,
    positive: PositiveOption = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column to leave out; may be repeated."),
    ] = None,
    out: Annotated[
        str, typer.Option(metavar="DIR", help="Folder of the results.")
    ] = "rocpath-fit",
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of all random choices.")
    ] = 0,
    force: ForceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Fit a ranking model to a table, and compare it with logistic regression.

    Columns may hold numbers, booleans, dates, categories, and missing values. Writes
    model.skops, metrics.json and report.html into the folder. A lead is sure from two
    standard errors on.
    """
    check_folder(out, force=force)
    rows = read_table(table)
    table_fit.fit_table(
        rows,
        table_fit.Request(
            title=shown_name(table),
            label=label,
            positive=positive,
            left_out=tuple(drop or ()),
            seed=seed,
        ),
        out=out,
        force=force,
        quiet=quiet,
    )


@app.command(
    epilog=examples(
        "rocpath predict patients-model new.csv --id patient --out scores.csv",
        "cat new.csv | rocpath predict patients-model - | sort -t, -k1 -g -r | head",
    )
)
def predict(
    model: ModelArgument,
    table: TableArgument,
    out: Annotated[
        str,
        typer.Option(metavar="SCORES", help="A .csv, .tsv or .parquet file; - stdout."),
    ] = "-",
    id_column: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Column to copy to the scores."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Score the rows of a table: log-odds, probability and predicted label."""
    check_table_file(out, force=force)
    fitted = _load(model)
    rows = read_table(table, text=fitted.features.category)
    score = fitted.scores(rows)
    scores = pl.DataFrame(
        {
            "score": score,
            "probability": expit(score),
            "prediction": np.where(score > 0, fitted.positive, fitted.negative),
        }
    )
    if id_column is not None:
        name = column(rows, id_column, "id")
        if id_column in scores.columns:
            raise ValueError(
                f"id column {id_column!r} has the name of a column of scores: rename "
                "it."
            )
        scores.insert_column(0, name)
    write_table(scores, out, force=force)


@app.command(
    epilog=examples(
        "rocpath evaluate patients-model test.csv --label outcome",
        "rocpath evaluate patients-model test.csv --json | jq .auc",
    )
)
def evaluate(
    model: ModelArgument,
    table: TableArgument,
    label: ModelLabelOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of a table.")
    ] = False,
) -> None:
    """Measure the AUC of a model on a table with labels.

    The standard error is DeLong's.
    """
    fitted = _load(model)
    rows, truth = _known_rows(fitted, table, label)
    area = delong_auc(fitted.scores(rows), truth.is_positive)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "auc": area.value,
                    "standard_error": area.standard_error,
                    "positive": fitted.positive,
                    "negative": fitted.negative,
                    "n_positive": truth.n_positive,
                    "n_negative": truth.n_negative,
                }
            )
        )
        return
    show_table(
        f"{model} on {shown_name(table)}",
        ("", "value"),
        (
            ("AUC", f"{area.value:.4f}"),
            ("standard error", f"{area.standard_error:.4f}"),
            (f"rows of {fitted.positive!r} (positive)", f"{truth.n_positive:,}"),
            (f"rows of {fitted.negative!r}", f"{truth.n_negative:,}"),
        ),
    )


@app.command(
    epilog=examples(
        "rocpath path scores.csv --label y --predictions old --direction change",
        "rocpath path patients.csv --model patients-model --out path.html",
    )
)
def path(
    table: TableArgument,
    label: ModelLabelOption = None,
    predictions: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Predictions at step 0.")
    ] = None,
    direction: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Their change for a step of 1."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Instead of two columns: scores of a model, down its AUM gradient.",
        ),
    ] = None,
    positive: PositiveOption = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE.html", help="Page to explore the steps with."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Search the best step along a line of predictions, for AUM and for AUC."""
    if out is not None:
        check_file(out, force=force)
    if (model is None) != (predictions is not None and direction is not None):
        raise ValueError("give either --predictions and --direction, or --model.")
    if model is not None and positive is not None:
        raise ValueError("--positive is for --predictions; a model has its own.")
    if model is not None:
        lines = _model_lines(_load(model), table, label)
    elif label is None:
        raise ValueError("name the column of labels with --label.")
    else:
        rows = read_table(table)
        truth = binary_label(rows, label, positive)
        moved = (
            column(rows, str(predictions), "predictions"),
            column(rows, str(direction), "direction"),
        )
        lines = Lines.from_predictions(
            ErrorBreakpoints.from_labels(truth.is_positive, positive=True),
            *(numbers_of(series, may_miss=False).to_numpy() for series in moved),
        )
    view = step_view(lines)
    within = f"; best AUC within {view.auc_tol:g}" if view.auc_tol else ""
    start = StepVariant("start", 0.0, view.aum.value[0], view.auc.value[0])
    show_table(
        f"Steps for {len(lines):,} lines{within}",
        ("choice", "step", "AUM", "AUC"),
        [
            (name, f"{step:.6g}", f"{aum:.6g}", f"{auc:.6f}")
            for name, step, aum, auc in (start, *view.variants)
        ],
    )
    if out is not None:
        from rocpath.pages.explorer import explorer_html

        write_text(
            explorer_html(lines, title=f"Steps of {shown_name(table)}"),
            out,
            force=force,
        )
        say(f"Open {out}")


@app.command(
    epilog=examples(
        "rocpath demo --out demo",
    )
)
def demo(
    out: Annotated[
        str, typer.Option(metavar="DIR", help="Folder of the results.")
    ] = "rocpath-demo",
    force: ForceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Fit the diabetes table that comes with scikit-learn, as `fit` would.

    Which patients are in the tenth whose disease goes on fastest? Few are, and the
    columns do not tell them apart well: there is something to rank.
    """
    from sklearn.datasets import load_diabetes

    check_folder(out, force=force)
    X, progression = load_diabetes(return_X_y=True, scaled=False)
    is_fast = progression > np.quantile(progression, 0.9)
    rows = pl.DataFrame(X, schema=_DIABETES_COLUMNS)
    rows = rows.with_columns(progression=np.where(is_fast, "fast", "slow"))
    with temporary_table(rows, "diabetes.csv") as table:
        request = table_fit.Request(
            title="diabetes.csv", label="progression", positive="fast"
        )
        table_fit.fit_table(
            read_table(table), request, out=out, force=force, quiet=quiet
        )


def _load(model: str) -> TableModel:
    state = model_state(read_model(model), "table", source=model)
    return TableModel.from_state(state)


def _known_rows(
    model: TableModel, table: str, label: str | None
) -> tuple[pl.DataFrame, BinaryLabel]:
    """Read rows with labels that the model knows."""
    rows = read_table(table, text=model.features.category)
    return rows, known_label(
        rows,
        label or model.label,
        positive=model.positive,
        negative=model.negative,
    )


def _model_lines(model: TableModel, table: str, label: str | None) -> Lines:
    rows, truth = _known_rows(model, table, label)
    return model.descent_lines(rows, truth.is_positive)
