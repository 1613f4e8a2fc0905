"""Output of the commands for tables: notes, comparisons and evaluations."""

from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from rocpath.cli.terminal import ask, say, show_table
from rocpath.files.columns import text_of
from rocpath.tables.classifier import TableClassifier
from rocpath.tables.columns import ColumnAudit, column
from rocpath.tables.evaluation import TableEvaluation
from rocpath.tables.labels import LabelColumn, two_classes
from rocpath.tables.table_warnings import TableWarning

# Command-line options that address a warning of the library.
_REMEDIES_OF_FIT = {
    "leak": "--drop {!r}",
    "groups": "--group {!r}, or --drop {!r} if the rows are independent",
    "time": "--time {!r}",
}
# Pairs of negative and positive labels that need no confirmation.
_CLEAR_LABELS = {("0", "1"), ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t")}
_REMEDIES_OF_EVALUATION = {"groups": "--group {!r}"}


def chosen_positive(
    rows: pl.DataFrame, label: str, positive: str | None, *, is_accepted: bool
) -> LabelColumn:
    """Return the classes; ask for confirmation if the default is the more frequent one.

    Usually the rarer class is of interest. A ranking for the other class is reversed,
    and has the same AUC.
    """
    series = column(rows, label, "label")
    classes, is_positive = two_classes(series.filter(text_of(series).is_not_null()), positive)
    is_clear = (classes.negative.lower(), classes.positive.lower()) in _CLEAR_LABELS
    is_rarer = classes.n_positive <= classes.n_negative
    if positive is not None or is_accepted or is_rarer or is_clear:
        return classes
    chosen = (
        f"no --positive was given, and the default, {classes.positive!r}, "
        f"is the more frequent label ({classes.n_positive:,} of "
        f"{classes.n_positive + classes.n_negative:,} rows)"
    )
    answer = ask(f"{chosen}. Is it the positive label?")
    # Without a terminal, the question cannot be answered.
    if answer is None:
        raise ValueError(
            f"{chosen}: specify the positive label, such as --positive {classes.negative!r}, or "
            "accept the default with --yes."
        )
    if answer:
        return classes
    return LabelColumn.from_counts(label, classes.negative, classes.positive, ~is_positive)


def note_columns(
    label: LabelColumn, columns: Sequence[ColumnAudit], warnings: Sequence[TableWarning] = ()
) -> None:
    """Report decisions about labels and columns, and how to change them."""
    n_rows = label.n_positive + label.n_negative
    say(
        f"positive: {label.positive!r} of column {label.column!r}, "
        f"{label.n_positive:,} of {n_rows:,} rows (change with --positive)."
    )
    kinds = Counter(audit.kind for audit in columns)
    names = {"number": "numbers", "category": "categories", "date": "dates"}
    used = ", ".join(
        f"{kinds[kind]:,} {kind if kinds[kind] == 1 else name}" for kind, name in names.items()
    )
    say(f"columns: {used}, {kinds['drop']:,} dropped (change with --type COLUMN=KIND).")
    for audit in columns:
        # Leaks are among the warnings.
        if audit.kind == "drop":
            say(f"note: column {audit.column!r} is dropped: {audit.why}.")
        elif audit.n_unreadable or "leading zeros" in audit.why or " as %" in audit.why:
            say(f"note: column {audit.column!r} is a {audit.kind}: {_reason(audit)}.")
    _show_warnings(warnings, _REMEDIES_OF_FIT)


def _show_warnings(warnings: Sequence[TableWarning], remedies: Mapping[str, str]) -> None:
    for warning in warnings:
        remedy = remedies.get(warning.kind, "").format(*2 * warning.columns)
        say(f"warning: {warning.message}{f' ({remedy})' if remedy else ''}.")


def _reason(audit: ColumnAudit) -> str:
    if audit.note or not audit.n_unreadable:
        return audit.why
    return f"{audit.why}; {audit.n_unreadable:,} are unreadable and treated as missing"


def show_fit(
    model: TableClassifier, title: str, *, quiet: bool, test: TableEvaluation | None = None
) -> None:
    """Show the comparison of the models, and describe the saved one."""
    from rocpath.tables.summaries import headline

    fit = model.fit_
    if fit.comparison is not None:
        table = fit.comparison.header, fit.comparison.rows
        show_table(f"{title}: {fit.label.counted}", *table)
        for line in fit.comparison.findings():
            say(line)
    why = f" (--model {model.model}{', --fast' if model.fast else ''})"
    if model.model == "auto" and not model.fast:
        why = " (the simplest model within one standard error of the best)"
    rows = "all rows" if model.calibration_size is None else "the rows not used for calibration"
    say(f"Saved: {fit.method}, fitted to {rows}{'' if model.model == 'scores' else why}.")
    if not quiet:
        say(f"Evaluation: {fit.evaluation}.")
    if not quiet:
        say(headline(fit, test))
        if fit.threshold_note:
            say(fit.threshold_note)


def show_evaluation(title: str, evaluation: TableEvaluation) -> None:
    """Show the AUC of a model, and the thresholds for the targets."""
    show_table(title, ("", "value"), evaluation.rows)
    if evaluation.points:
        show_table(*evaluation.point_table)
    _show_warnings(evaluation.warnings, _REMEDIES_OF_EVALUATION)
    for rule in evaluation.unreachable:
        say(f"note: no threshold meets this target on these rows: {rule}.")
