"""The commands on tables of labelled rows: fit, predict, evaluate, path, demo.

Commands import what they need when they run, so that help is there at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rocpath.cli import changepoint_commands, options
from rocpath.cli.options import command, examples

if TYPE_CHECKING:
    import polars as pl

    from rocpath.cli.table_columns import BinaryLabel
    from rocpath.cli.table_model import TableModel
    from rocpath.line_search import Lines

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)
app.add_typer(changepoint_commands.app, name="changepoint")


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
        from importlib.metadata import version as installed_version

        typer.echo(f"rocpath {installed_version('rocpath')}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@command(
    app,
    "rocpath fit patients.csv --label outcome --positive died --out patients-model",
    "zcat clicks.csv.gz | rocpath fit - --label clicked --drop user_id",
)
def fit(
    table: options.TableArgument,
    label: options.LabelOption,
    positive: options.PositiveOption = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column to leave out; may be repeated."),
    ] = None,
    out: options.FolderOption = "rocpath-fit",
    seed: options.SeedOption = 0,
    force: options.ForceOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Fit a ranking model to a table, and judge it.

    It is compared with logistic regression on rows held out; a lead is sure from two
    standard errors on. Columns may hold numbers, booleans, dates, categories, and
    missing values. Writes model.skops, metrics.json and report.html into the folder.
    """
    from rocpath.cli.files import check_folder, read_table, shown_name
    from rocpath.cli.table_fit import Request, fit_table

    check_folder(out, force=force)
    request = Request(shown_name(table), label, positive, tuple(drop or ()), seed)
    fit_table(read_table(table), request, out=out, force=force, quiet=quiet)


@command(
    app,
    "rocpath predict patients-model new.csv --id patient --out scores.csv",
    "cat new.csv | rocpath predict patients-model - | sort -t, -k1 -g -r | head",
)
def predict(
    model: options.ModelArgument,
    table: options.TableArgument,
    out: options.TableFileOption = "-",
    id_column: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Column to copy to the scores."),
    ] = None,
    force: options.ForceOption = False,
) -> None:
    """Score the rows of a table.

    Each gets its log-odds, probability and predicted label.
    """
    from rocpath.cli.files import check_file, read_table, write_table
    from rocpath.cli.table_columns import column

    check_file(out, force=force, is_table=True)
    fitted = _load(model)
    rows = read_table(table, text=fitted.category)
    scores = fitted.predictions(rows)
    if id_column is not None:
        name = column(rows, id_column, "id")
        if id_column in scores.columns:
            raise ValueError(
                f"id column {id_column!r} has the name of a column of scores: rename "
                "it."
            )
        scores.insert_column(0, name)
    write_table(scores, out, force=force)


@command(
    app,
    "rocpath evaluate patients-model test.csv --label outcome",
    "rocpath evaluate patients-model test.csv --json | jq .auc",
)
def evaluate(
    model: options.ModelArgument,
    table: options.TableArgument,
    label: options.ModelLabelOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of a table.")
    ] = False,
) -> None:
    """Measure the AUC of a model on a table with labels.

    The standard error is DeLong's.
    """
    import json

    from rocpath.cli.comparison import delong_auc
    from rocpath.cli.files import shown_name
    from rocpath.cli.terminal import show_table

    fitted = _load(model)
    rows, truth = _known_rows(fitted, table, label)
    area = delong_auc(fitted.scores(rows), truth.is_positive)
    if as_json:
        found = {"auc": area.value, "standard_error": area.standard_error}
        typer.echo(json.dumps(found | truth.summary))
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


@command(
    app,
    "rocpath path scores.csv --label y --predictions old --direction change",
    "rocpath path patients.csv --model patients-model --out path.html",
)
def path(
    table: options.TableArgument,
    label: options.ModelLabelOption = None,
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
    positive: options.PositiveOption = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE.html", help="Page to explore the steps with."),
    ] = None,
    force: options.ForceOption = False,
) -> None:
    """Search the best steps along a line of predictions.

    The best are those with the smallest AUM and with the largest AUC.
    """
    from rocpath.cli.files import check_file

    if out is not None:
        check_file(out, force=force)
    if model is not None and predictions is None and direction is None:
        lines = _model_lines(model, table, label, positive)
    elif model is None and predictions is not None and direction is not None:
        lines = _column_lines(table, label, positive, predictions, direction)
    else:
        raise ValueError("give either --predictions and --direction, or --model.")
    _show_steps(lines)
    if out is not None:
        _write_explorer(lines, table, out, force=force)


@command(app, "rocpath demo --out demo")
def demo(
    out: options.FolderOption = "rocpath-demo",
    force: options.ForceOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Fit a table that comes with scikit-learn, as fit would.

    Which diabetes patients are in the tenth whose disease goes on fastest? Few are,
    and the columns do not tell them apart well: there is something to rank.
    """
    import numpy as np
    import polars as pl
    from sklearn.datasets import load_diabetes

    from rocpath.cli.files import check_folder
    from rocpath.cli.table_fit import Request, fit_table

    check_folder(out, force=force)
    X, progression = load_diabetes(return_X_y=True, scaled=False)
    names = (
        "age,sex,body mass index,blood pressure,total cholesterol,LDL,HDL,"
        "total cholesterol / HDL,log triglycerides,blood sugar"
    )
    is_fast = progression > np.quantile(progression, 0.9)
    rows = pl.DataFrame(X, schema=names.split(","))
    rows = rows.with_columns(progression=np.where(is_fast, "fast", "slow"))
    request = Request("diabetes.csv", label="progression", positive="fast")
    fit_table(rows, request, out=out, force=force, quiet=quiet)


def _load(model: str) -> TableModel:
    from rocpath.cli.saved_models import load_model
    from rocpath.cli.table_model import TableModel

    return load_model(model, TableModel)


def _known_rows(
    model: TableModel, table: str, label: str | None
) -> tuple[pl.DataFrame, BinaryLabel]:
    """Read rows with labels that the model knows."""
    from rocpath.cli.files import read_table
    from rocpath.cli.table_columns import known_label

    rows = read_table(table, text=model.category)
    name = label or model.label
    return rows, known_label(rows, name, model.positive, model.negative)


def _model_lines(
    model: str, table: str, label: str | None, positive: str | None
) -> Lines:
    if positive is not None:
        raise ValueError("--positive is for --predictions; a model has its own.")
    fitted = _load(model)
    rows, truth = _known_rows(fitted, table, label)
    return fitted.descent_lines(rows, truth.is_positive)


def _column_lines(
    table: str,
    label: str | None,
    positive: str | None,
    predictions: str,
    direction: str,
) -> Lines:
    from rocpath.breakpoints import ErrorBreakpoints
    from rocpath.cli.files import read_table
    from rocpath.cli.table_columns import binary_label, column, numbers_of
    from rocpath.line_search import Lines

    if label is None:
        raise ValueError("name the column of labels with --label.")
    rows = read_table(table)
    truth = binary_label(rows, label, positive)
    bp = ErrorBreakpoints.from_labels(truth.is_positive, positive=True)
    moved = (
        column(rows, predictions, "predictions"),
        column(rows, direction, "direction"),
    )
    numbers = [numbers_of(series, may_miss=False).to_numpy() for series in moved]
    return Lines.from_predictions(bp, *numbers)


def _show_steps(lines: Lines) -> None:
    from rocpath.cli.terminal import show_table
    from rocpath.pages.step_view import StepVariant, step_view

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


def _write_explorer(lines: Lines, table: str, out: str, *, force: bool) -> None:
    from rocpath.cli.files import shown_name, write_text
    from rocpath.cli.terminal import say
    from rocpath.pages.explorer import explorer_html

    page = explorer_html(lines, title=f"Steps of {shown_name(table)}")
    write_text(page, out, force=force)
    say(f"Open {out}")
