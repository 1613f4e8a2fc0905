"""The commands on tables of labeled rows: fit, predict, evaluate, compare and more.

Commands import what they need when they run, so that help is there at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rocpath.cli import changepoint_commands, options
from rocpath.cli.options import command, examples

if TYPE_CHECKING:
    from rocpath.tables.labels import KnownLabels

# Errors are told by `main`, in one line; markup would act on brackets in help texts.
app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
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
    """Models that rank: maximize the area under the ROC curve (AUC)."""
    if version:
        from importlib.metadata import version as installed_version

        typer.echo(f"rocpath {installed_version('rocpath')}")
    # Without a command there is nothing to complain of: help is what was meant.
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
    drop: options.DropOption = None,
    types: options.TypesOption = None,
    model: options.ModelChoiceOption = "auto",
    fast: options.FastOption = False,
    yes: options.YesOption = False,
    promised: options.Promised = options.Promised(),
    seed: options.SeedOption = 0,
    where: options.Where = options.Where(),
    to: options.Folder = options.Folder("rocpath-fit"),
) -> None:
    """Fit a ranking model to a table, and judge it.

    AUCClassifier is compared with tuned models (logistic regression, plain and
    balanced, and gradient boosting) on rows held out, and the best is saved. Columns
    may hold numbers, booleans, dates, categories, and missing values. Writes
    model.skops, metrics.json and report.html into the folder.
    """
    from rocpath.cli.files import check_folder, shown_name
    from rocpath.cli.many_files import Cluster, read_tables, runs_on_dask
    from rocpath.cli.on_cluster import fit_on_cluster, refuse_beyond_ranking
    from rocpath.cli.table_fit import Request, fit_table
    from rocpath.tables.audit import parsed_types

    check_folder(to.out, force=to.force)
    kinds, drops = parsed_types(types or ()), tuple(drop or ())
    asked = promised.targets
    request = Request(
        shown_name(table), label, positive, drops, seed, model, kinds, fast, yes, asked
    )
    if runs_on_dask(table, *where):
        refuse_beyond_ranking(model, asked.n_given)
        fit_on_cluster(table, Cluster(where.scheduler), request, **to._asdict())
        return
    fit_table(read_tables(table, text=request.text), request, to)


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
    where: options.Where = options.Where(),
    force: options.ForceOption = False,
) -> None:
    """Score the rows of a table.

    Each gets its log-odds, probability and predicted label. Of several files, each gets
    a file of scores in the folder --out.
    """
    from rocpath.cli import many_files
    from rocpath.cli.files import check_file, read_table, write_table
    from rocpath.cli.terminal import say
    from rocpath.model_file import read_saved
    from rocpath.tables.model import TableModel

    # Several files are scored one by one also without Dask: they need not fit together.
    is_lazy = many_files.runs_on_dask(table, *where)
    if is_lazy or many_files.is_many(table):
        fitted = read_saved(model, TableModel)
        cluster = many_files.Cluster(where.scheduler) if is_lazy else None
        many_files.predict_files(
            fitted, table, out, id_column, cluster=cluster, force=force
        )
        return
    check_file(out, force=force, is_table=True)
    fitted = read_saved(model, TableModel)
    rows = read_table(table, text=fitted.text, codes=fitted.codes)
    scores = many_files.predicted(fitted, rows, id_column)
    # A score far from all that was fitted is a guess; a user may want to know.
    for note in fitted.strange_values(rows):
        say(f"note: {note}")
    write_table(scores, out, force=force)


@command(
    app,
    "rocpath evaluate patients-model test.csv --label outcome",
    "rocpath evaluate patients-model test.csv --max-fpr 0.05 --min-precision 0.9",
    "rocpath evaluate patients-model test.csv --json | jq .auc",
)
def evaluate(
    model: options.ModelArgument,
    table: options.TableArgument,
    label: options.ModelLabelOption = None,
    promised: options.Promised = options.Promised(),
    where: options.Where = options.Where(),
    as_json: options.JsonOption = False,
) -> None:
    """Measure the AUC of a model on a table with labels.

    The standard error is DeLong's; the interval holds the AUC in 95 of 100 tables.
    With promises, also the thresholds that keep them.
    """
    import json

    from rocpath.cli import many_files, on_cluster, score_tables
    from rocpath.cli.files import shown_name
    from rocpath.model_file import read_saved
    from rocpath.tables.model import TableModel

    targets = promised.targets
    fitted = read_saved(model, TableModel)
    # Of rows elsewhere only the counts of labels come here.
    truth: KnownLabels
    if many_files.runs_on_dask(table, *where):
        on_cluster.refuse_beyond_ranking("auto", targets.n_given)
        cluster = many_files.Cluster(where.scheduler)
        area, truth = on_cluster.evaluate_on_cluster(fitted, table, label, cluster)
        # Thresholds need all scores in one place.
        found = score_tables.Evaluation(area, None, [], [])
    else:
        rows = many_files.read_tables(table, text=fitted.text, codes=fitted.codes)
        truth = fitted.labels(rows, label)
        found = score_tables.evaluated(truth.is_positive, fitted.scores(rows), targets)
    if as_json:
        summary = score_tables.evaluation_summary(found, targets) | truth.summary
        typer.echo(json.dumps(summary))
    else:
        title = f"{model} on {shown_name(table)}"
        score_tables.show_evaluation(title, found, truth, targets)


@command(
    app,
    "rocpath compare scores.csv --label y --scores old,new,boosted",
    "rocpath compare scores.csv --label y --scores old,new --max-fpr 0.1 --json",
)
def compare(
    table: options.TableArgument,
    label: options.LabelOption,
    scores: options.ScoresOption = None,
    positive: options.PositiveOption = None,
    max_fpr: options.MaxFprOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Compare the AUCs of scores that a table already holds.

    All pairs are compared by DeLong's test; Holm's p-values hold for all of them
    together.
    """
    import json

    from rocpath.cli import score_tables
    from rocpath.cli.files import read_table, shown_name

    # For its message: it names the option as it is written.
    options.Promised(max_fpr).targets  # noqa: B018
    names = score_tables.split_names(scores or ())
    found = score_tables.score_table(read_table(table), label, positive, names)
    pairs = score_tables.compared_pairs(found, max_fpr)
    if as_json:
        summary = score_tables.comparison_summary(found, pairs, max_fpr)
        typer.echo(json.dumps(summary))
    else:
        score_tables.show_comparison(shown_name(table), found, pairs, max_fpr)


@command(
    app,
    "rocpath blend scores.csv --label y --scores forest,boosting,linear --out blend",
    "rocpath predict blend new_scores.csv",
)
def blend(
    table: options.TableArgument,
    label: options.LabelOption,
    scores: options.ScoresOption = None,
    positive: options.PositiveOption = None,
    seed: options.SeedOption = 0,
    to: options.Folder = options.Folder("rocpath-blend"),
) -> None:
    """Blend scores that a table already holds, for a large AUC.

    The models behind the scores must not have been fitted to these rows. Weights from
    0 up, of sum one, are judged on rows held out. Writes weights.csv, model.skops,
    which predict takes with a table of such scores, metrics.json and report.html.
    """
    from rocpath.cli.blend_scores import blend_scores
    from rocpath.cli.files import check_folder, read_table, shown_name
    from rocpath.cli.score_tables import score_table, split_names

    check_folder(to.out, force=to.force)
    found = score_table(read_table(table), label, positive, split_names(scores or ()))
    blend_scores(found, shown_name(table), to, seed=seed)


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
    from rocpath.cli.step_search import column_lines, model_lines, show_steps

    if out is not None:
        check_file(out, force=force)
    # Either way gives lines; a mixture would leave open which predictions are meant.
    if model is not None and predictions is None and direction is None:
        lines = model_lines(model, table, label, positive)
    elif model is None and predictions is not None and direction is not None:
        lines = column_lines(table, label, positive, predictions, direction)
    else:
        raise ValueError("give either --predictions and --direction, or --model.")
    show_steps(lines, table, out, force=force)


@command(app, "rocpath demo --out demo")
def demo(to: options.Folder = options.Folder("rocpath-demo")) -> None:
    """Run fit and changepoint label on simulated tables.

    Writes a table of about 5,000 rows with dates, categories and missing values, in
    which 6% of rows are positive, and response times of six servers. Shows each command
    before it runs, so that you can repeat it.
    """
    import shlex

    from rocpath.cli.demo_table import customer_table, server_table
    from rocpath.cli.files import write_folder
    from rocpath.cli.terminal import say

    table, sequences = f"{to.out}/customers.csv", f"{to.out}/servers.csv"
    page = f"{to.out}/labels.html"
    texts = {
        "customers.csv": customer_table().write_csv(),
        "servers.csv": server_table().write_csv(),
    }
    write_folder(to.out, texts, force=to.force)
    # --force, such that the commands can be repeated as they are shown.
    fit_words = ["fit", table, "--label", "cancels", "--drop", "customer"]
    for words in (
        [*fit_words, "--out", f"{to.out}/fit", "--force"],
        ["changepoint", "label", sequences, "--out", page, "--force"],
    ):
        say(f"$ rocpath {shlex.join(words)}")
        app(words + ["--quiet"] * to.quiet, prog_name="rocpath", standalone_mode=False)
