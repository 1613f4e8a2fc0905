"""The command ``fit``: read a table, fit a TableClassifier, and write its results."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from rocpath.cli.early_checks import shown_name
from rocpath.cli.files import opened, write_folder
from rocpath.cli.options import Folder, RowRoles
from rocpath.cli.table_output import chosen_positive, note_columns, show_evaluation, show_fit
from rocpath.cli.terminal import progress_bar, say
from rocpath.files.tables import read_table
from rocpath.tables.classifier import TableClassifier
from rocpath.tables.evaluation import TableEvaluation
from rocpath.tables.fold_fits import Progress


def fit_tables(
    model: TableClassifier,
    table: str,
    label: str,
    roles: RowRoles,
    encoding: str | None,
    to: Folder,
    *,
    is_accepted: bool,
    test: str | None,
) -> None:
    """Fit a model to one or several files, and write the results."""
    title = shown_name(table)
    # Categories are read as text from the start, as in predict, and so are numbers whose
    # decimal separator is given.
    text = [
        name
        for name, kind in (model.types or {}).items()
        if kind == "category" or kind.startswith("number:")
    ]
    rows = read_table(opened(table), text=text, encoding=encoding)
    columns = {"groups": roles.group, "time": roles.time, "sample_weight": roles.weight}
    with _confirmed(model, rows, label, to, is_accepted=is_accepted) as step:
        model.fit(rows, label, progress=step, **columns)
    try:
        evaluation = None if test is None else _evaluate_on(model, test, roles, encoding)
    except ValueError:
        # The fit may have taken a long time: save it even if the test file is invalid.
        write_fit(model, title, to)
        raise
    write_fit(model, title, to, evaluation)


@contextmanager
def _confirmed(
    model: TableClassifier, rows: pl.DataFrame, label: str, to: Folder, *, is_accepted: bool
) -> Iterator[Progress]:
    """Set the positive label, and show notes and progress during the fit."""
    classes = chosen_positive(rows, label, model.positive, is_accepted=is_accepted)
    with progress_bar(quiet=to.quiet) as progress:

        def step(number: int, *of: Any) -> None:
            if number == 0 and not to.quiet:
                note_columns(classes, model.columns_, model.warnings_)
            progress(number, *of)

        model.set_params(positive=classes.positive)
        yield step


def _evaluate_on(
    model: TableClassifier, test: str, roles: RowRoles, encoding: str | None
) -> TableEvaluation:
    known = model.model_
    rows = read_table(opened(test), text=known.text, codes=known.codes, encoding=encoding)
    # Test rows may lack the columns of groups and weights.
    group, weight = (name if name in rows.columns else None for name in (roles.group, roles.weight))
    found = model.evaluate(rows, groups=group, sample_weight=weight)
    show_evaluation(f"Test rows, {shown_name(test)}", found)
    return found


def write_fit(
    model: TableClassifier, title: str, to: Folder, test: TableEvaluation | None = None
) -> None:
    """Write the results of a fit, and show them."""
    files = model.to_files(title=title, test=test)
    # Written after everything is computed, so that an error leaves no partial results.
    write_folder(to.out, files, force=to.force)
    show_fit(model, title, quiet=to.quiet, test=test)
    if "report.html" in files:
        say(f"Open {Path(to.out) / 'report.html'}")
    else:
        say(f"Wrote {to.out}. For a report, run pip install 'rocpath[report]'")
