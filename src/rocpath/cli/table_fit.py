"""The command ``fit``: read a table, fit a TableClassifier, and write its results."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from rocpath.cli import many_files
from rocpath.cli.early_checks import file_names, shown_name
from rocpath.cli.files import write_folder
from rocpath.cli.options import Folder, RowRoles, Source
from rocpath.cli.table_output import chosen_positive, note_columns, show_evaluation, show_fit
from rocpath.cli.terminal import progress_bar, say
from rocpath.tables.classifier import TableClassifier
from rocpath.tables.evaluation import TableEvaluation


def fit_tables(
    model: TableClassifier,
    table: str,
    label: str,
    roles: RowRoles,
    source: Source,
    to: Folder,
    *,
    is_accepted: bool,
    test: str | None,
) -> None:
    """Fit a model to one or several files, and write the results."""
    title = shown_name(table)
    # Categories are read as text from the start, as in predict.
    text = [name for name, kind in (model.types or {}).items() if kind == "category"]
    reading: dict[str, Any] = {"text": text, "encoding": source.encoding}
    if many_files.runs_on_dask(table, source):
        _check_supported(model, roles, test)
        from rocpath.dask.file_tables import fit_files, sample_files

        with many_files.connect(source.scheduler) as client:
            where = {"client": client, "verbose": not to.quiet}
            sample = sample_files(file_names(table), label, **reading, **where)
            with _confirmed(model, sample.frame, label, to, is_accepted=is_accepted):
                fit_files(model.set_params(model="linear"), sample, **where)
        if sample.frame.height < sample.n_rows:
            title += f", {sample.frame.height:,} of {sample.n_rows:,} rows"
    else:
        rows = many_files.read_tables(table, **reading)
        columns = {"groups": roles.group, "time": roles.time, "sample_weight": roles.weight}
        with _confirmed(model, rows, label, to, is_accepted=is_accepted):
            model.fit(rows, label, **columns)
    try:
        evaluation = None if test is None else _evaluate_on(model, test, roles, source)
    except ValueError:
        # The fit may have taken a long time: save it even if the test file is invalid.
        write_fit(model, title, to)
        raise
    write_fit(model, title, to, evaluation)


def _check_supported(model: TableClassifier, roles: RowRoles, test: str | None) -> None:
    if model.model not in ("auto", "linear"):
        raise ValueError(
            f"--model must be auto or linear on Dask, got {model.model}: other models "
            "require --engine memory."
        )
    if any(roles) or test is not None:
        raise ValueError(
            "--group, --time, --weight and --test are not supported on Dask: use "
            "--engine memory, or rocpath evaluate for test files."
        )


@contextmanager
def _confirmed(
    model: TableClassifier, rows: pl.DataFrame, label: str, to: Folder, *, is_accepted: bool
) -> Iterator[None]:
    """Set the positive label, and show notes and progress during the fit."""
    known = chosen_positive(rows, label, model.positive, is_accepted=is_accepted)
    with progress_bar(quiet=to.quiet) as progress:

        def step(number: int, *of: Any) -> None:
            if number == 0 and not to.quiet:
                note_columns(known, model.columns_, model.warnings_)
            progress(number, *of)

        model.set_params(positive=known.positive, progress=step)
        yield


def _evaluate_on(
    model: TableClassifier, test: str, roles: RowRoles, source: Source
) -> TableEvaluation:
    known = model.model_
    rows = many_files.read_tables(
        test, text=known.text, codes=known.codes, encoding=source.encoding
    )
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
