"""Commands for tables of labeled rows: fit, predict, evaluate, compare and more.

Other modules are imported when a command runs, so that --help is fast.
"""

import json
import shlex
from typing import Annotated

import typer

from rocpath.cli import changepoint_commands, early_checks, options
from rocpath.cli.options import command, examples

# `main` reports errors in one line; markup would interpret brackets in help texts.
app = typer.Typer(
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(changepoint_commands.app, name="changepoint")


@app.callback(
    invoke_without_command=True,
    epilog=examples("rocpath demo", "rocpath fit TABLE.csv --label COLUMN"),
)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Exact ROC analysis, and models that maximize the area under the ROC curve."""
    if version:
        from importlib.metadata import version as installed_version

        typer.echo(f"rocpath {installed_version('rocpath')}")
    # A call without a command is a request for help, not an error.
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@command(
    app,
    "rocpath fit patients.csv --label outcome --positive died --out patients-model",
    "rocpath fit visits.csv --label readmitted --group patient --test later.csv",
    "zcat clicks.csv.gz | rocpath fit - --label clicked --drop user_id",
)
def fit(
    table: options.TableArgument,
    label: options.LabelOption,
    positive: options.PositiveOption = None,
    roles: options.RowRoles = options.RowRoles(),
    test: options.TestOption = None,
    drop: options.DropOption = None,
    types: options.TypesOption = None,
    model: options.ModelChoiceOption = "auto",
    fast: options.FastOption = False,
    yes: options.YesOption = False,
    targets: options.Targets = options.Targets(),
    calibration_size: options.CalibrationOption = None,
    seed: options.SeedOption = 0,
    encoding: options.EncodingOption = None,
    to: options.Folder = options.Folder("rocpath-fit"),
) -> None:
    """Fit a ranking model to a table and evaluate it.

    On held-out rows, AUCClassifier is compared with tuned logistic regression (plain and
    balanced) and gradient boosting. The simplest model within one standard error of the
    best is saved. Columns may contain numbers, booleans, dates, categories and missing
    values. Writes model.skops, metrics.json and report.html to the output folder.
    """
    targets.check()
    early_checks.check_folder(to.out, force=to.force)
    dropped, kinds = tuple(drop or ()), early_checks.parsed_types(types or ())
    if label in dropped:
        raise ValueError(f"--drop must not name the label column {label!r}.")
    known = {role: [name] for role, name in roles._asdict().items()}
    early_checks.check_columns_exist(
        table, {"label": [label], "drop": dropped, "type": kinds, **known}
    )
    if test is not None:
        early_checks.check_columns_exist(test, {"label": [label]})
    from rocpath.cli.table_fit import fit_tables
    from rocpath.tables.classifier import TableClassifier

    rates = {**targets._asdict(), "calibration_size": calibration_size}
    classifier = TableClassifier(
        model, positive=positive, types=kinds, drop=dropped, fast=fast, random_state=seed, **rates
    )
    fit_tables(classifier, table, label, roles, encoding, to, is_accepted=yes, test=test)


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
        typer.Option("--id", metavar="COLUMN", help="Column to copy to the table of scores."),
    ] = None,
    encoding: options.EncodingOption = None,
    force: options.ForceOption = False,
) -> None:
    """Score the rows of a table.

    Writes the log-odds, the probability and the predicted label of each row. If TABLE
    matches several files, --out is a folder with one file of scores for each.
    """
    early_checks.check_exists(model)
    early_checks.check_columns_exist(table, {"id": [id_column]})
    from rocpath.cli.many_files import predict_files
    from rocpath.files.models import read_saved
    from rocpath.tables.model import TableModel

    known = read_saved(model, TableModel)
    predict_files(known, table, out, id_column, encoding=encoding, force=force)


@command(
    app,
    "rocpath evaluate patients-model test.csv --label outcome --group patient",
    "rocpath evaluate patients-model test.csv --max-fpr 0.05 --min-precision 0.9",
    "rocpath evaluate patients-model test.csv --json | jq .auc",
)
def evaluate(
    model: options.ModelArgument,
    table: options.TableArgument,
    label: options.ModelLabelOption = None,
    group: options.GroupOption = None,
    weight: options.WeightOption = None,
    targets: options.Targets = options.Targets(),
    encoding: options.EncodingOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Estimate the AUC of a model on a labeled table.

    Prints a 95% confidence interval, which is cluster-robust if --group is given. With
    --max-fpr, --min-precision or --top, also prints thresholds that meet these targets.
    """
    targets.check()
    early_checks.check_exists(model)
    roles = {"label": label, "group": group, "weight": weight}
    early_checks.check_columns_exist(table, {role: [name] for role, name in roles.items()})
    from rocpath.cli.many_files import evaluate_tables
    from rocpath.cli.table_output import show_evaluation
    from rocpath.files.models import read_saved
    from rocpath.tables.model import TableModel

    known = read_saved(model, TableModel)
    found = evaluate_tables(known, table, roles, targets, encoding)
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        show_evaluation(f"{model} on {table}", found)


@command(
    app,
    "rocpath compare scores.csv --label y --scores old,new,boosted",
    "rocpath compare scores.csv --label y --scores old,new --max-fpr 0.1 --json",
    "rocpath compare scores.csv --label y --group patient --out evaluation.html",
    "rocpath compare risks.csv --survival-time months --event died --scores old,new",
)
def compare(
    table: options.TableArgument,
    label: options.ScoreLabelOption = None,
    scores: options.ScoresOption = None,
    survival_time: options.SurvivalTimeOption = None,
    event: options.EventOption = None,
    positive: options.PositiveOption = None,
    max_fpr: options.MaxFprOption = None,
    group: options.GroupOption = None,
    out: Annotated[
        str | None, options.option("FILE.html", "HTML report with intervals, tests and ROC bands.")
    ] = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Compare the AUCs of several columns of scores.

    All pairs are compared by DeLong's test, with Holm's adjustment of the p-values.
    With --max-fpr, partial AUCs are compared; with --group, tests and intervals are
    cluster-robust. With --survival-time and --event, Harrell's C is compared.
    """
    options.Targets(max_fpr).check()
    options.check_outcome(label, survival_time, event)
    if out is not None:
        early_checks.check_file(out, force=force)
    names = options.split_names(scores)
    outcome = {"label": [label], "--survival-time": [survival_time], "--event": [event]}
    early_checks.check_columns_exist(table, {**outcome, "--scores": names, "group": [group]})
    from rocpath.cli.score_tables import read_outcome
    from rocpath.cli.terminal import say
    from rocpath.pages.evaluation import evaluation_report

    rows = read_outcome(table, label, positive, names, group, survival_time, event)
    evaluation = evaluation_report(
        rows.outcome, rows.score, max_fpr=max_fpr, groups=rows.groups, positive=rows.positive
    )
    if as_json:
        typer.echo(json.dumps(evaluation.to_dict()))
    else:
        typer.echo(f"{rows.name}\n{evaluation!r}")
        for finding in evaluation.findings:
            say(finding)
    if out is not None:
        evaluation.report(out, title=f"Evaluation of {rows.name}")
        say(f"Open {out}")


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
    group: options.GroupOption = None,
    seed: options.SeedOption = 0,
    to: options.Folder = options.Folder("rocpath-blend"),
) -> None:
    """Blend several columns of scores to maximize AUC.

    The models behind the scores must not have been fitted to these rows. The weights
    are non-negative and sum to one, and the blend is evaluated on held-out rows. Writes
    weights.csv, metrics.json, report.html and model.skops. The command predict applies
    the model to tables with the same columns of scores.
    """
    early_checks.check_folder(to.out, force=to.force)
    names = options.split_names(scores)
    early_checks.check_columns_exist(table, {"label": [label], "--scores": names, "group": [group]})
    from rocpath.cli.score_tables import read_scores
    from rocpath.cli.table_fit import write_fit
    from rocpath.cli.terminal import progress_bar
    from rocpath.tables.classifier import TableClassifier

    rows = read_scores(table, label, positive, names, group)
    types, positive = dict.fromkeys(rows.score, "number"), rows.label.positive
    with progress_bar(quiet=to.quiet) as progress:
        model = TableClassifier("scores", positive=positive, types=types, random_state=seed)
        model.fit(rows.rows, label, groups=group, progress=progress)
    write_fit(model, rows.name, to)


@command(
    app,
    "rocpath path scores.csv --label y --predictions old --direction change",
    "rocpath path patients.csv --model patients-model --out path.html",
)
def path(
    table: options.TableArgument,
    label: options.ModelLabelOption = None,
    predictions: Annotated[
        str | None, options.option("COLUMN", "Column of predictions at step 0.")
    ] = None,
    direction: Annotated[
        str | None, options.option("COLUMN", "Column of changes in the predictions per unit step.")
    ] = None,
    model: Annotated[
        str | None,
        options.option(
            "MODEL",
            "Model to use instead of two columns; the direction is its negative AUM gradient.",
        ),
    ] = None,
    positive: options.PositiveOption = None,
    out: Annotated[
        str | None, options.option("FILE.html", "HTML page for exploring the steps.")
    ] = None,
    force: options.ForceOption = False,
) -> None:
    """Find the best steps along a line of predictions.

    Predictions are linear functions of the step. Prints the steps that variants of the
    line search choose, such as those with the smallest AUM and the largest AUC.
    """
    columns = {"label": label, "predictions": predictions, "direction": direction}
    early_checks.check_columns_exist(table, {role: [name] for role, name in columns.items()})
    if model is not None:
        early_checks.check_exists(model)
    if out is not None:
        early_checks.check_file(out, force=force)
    from rocpath.cli import step_search

    # A mixture of columns and a model would be ambiguous.
    if model is not None and predictions is None and direction is None:
        lines = step_search.model_lines(model, table, label, positive)
    elif model is None and predictions is not None and direction is not None:
        lines = step_search.column_lines(table, label, positive, predictions, direction)
    else:
        raise ValueError("either --model or both --predictions and --direction must be given.")
    step_search.show_steps(lines, table, out, force=force)


@command(app, "rocpath demo --out demo")
def demo(to: options.Folder = options.Folder("rocpath-demo")) -> None:
    """Run fit and changepoint label on simulated tables.

    Writes two tables: about 5,000 rows of customers, 6% of them positive, with dates,
    categories and missing values, and the response times of six servers. Prints each
    command before running it, so that you can repeat it.
    """
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
    # With --force, the commands can be repeated as they are shown.
    fit_words = ["fit", table, "--label", "cancels", "--group", "customer"]
    for words in (
        [*fit_words, "--out", f"{to.out}/fit", "--force"],
        ["changepoint", "label", sequences, "--out", page, "--force"],
    ):
        say(f"$ rocpath {shlex.join(words)}")
        app(words + ["--quiet"] * to.quiet, prog_name="rocpath", standalone_mode=False)
