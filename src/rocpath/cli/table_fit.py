"""The command ``fit``: read a table, fit a TableClassifier, and write its results."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rocpath.cli import many_files
from rocpath.cli.files import shown_name, write_folder
from rocpath.cli.many_files import read_tables, runs_on_dask
from rocpath.cli.table_output import chosen_positive, note_columns, show_evaluation, show_fit
from rocpath.cli.terminal import fit_progress, say
from rocpath.tables.classifier import TableClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from rocpath.cli.options import Folder, RowRoles, Targets, Where
    from rocpath.tables.evaluation import TableEvaluation
    from rocpath.tables.rankers import ModelChoice


class FitRequest(NamedTuple):
    """Arguments of the command."""

    table: str
    label: str
    positive: str | None
    roles: RowRoles
    test: str | None
    drop: tuple[str, ...]
    types: Mapping[str, str]
    model: ModelChoice
    is_fast: bool
    accepts_positive: bool
    targets: Targets
    seed: int
    encoding: str | None
    where: Where
    to: Folder

    @property
    def text(self) -> list[str]:
        """Columns to be read as text from the start, as predict reads them too."""
        return [name for name, kind in self.types.items() if kind == "category"]


def run_fit(request: FitRequest) -> None:
    """Fit a model, compare it with baselines, and write the results."""
    if runs_on_dask(request.table, *request.where):
        _fit_on_dask(request)
        return
    rows = read_tables(request.table, text=request.text, encoding=request.encoding)
    roles = request.roles
    with _classifier(request, rows) as model:
        model.fit(
            rows, request.label, groups=roles.group, time=roles.time, sample_weight=roles.weight
        )
    test = None
    if request.test is not None:
        test = _evaluate_on(model, request)
    write_fit(model, request.table, request.to, test)


def _fit_on_dask(request: FitRequest) -> None:
    """Fit a linear ranking to the rows of all files."""
    if request.model not in ("auto", "linear"):
        raise ValueError(
            f"--model must be auto or linear on Dask, got {request.model}: other "
            "models need --engine memory."
        )
    if any(request.roles) or request.test is not None:
        raise ValueError(
            "--group, --time, --weight and --test are not supported on Dask: use "
            "--engine memory, or rocpath evaluate for test files."
        )
    from rocpath.dask.file_tables import fit_files, sample_files

    files, is_shown = many_files.file_names(request.table), not request.to.quiet
    with many_files.connect(request.where.scheduler) as client:
        sample = sample_files(
            files,
            request.label,
            text=request.text,
            encoding=request.encoding,
            client=client,
            verbose=is_shown,
        )
        with _classifier(request._replace(model="linear"), sample.frame) as model:
            fit_files(model, sample, client=client, verbose=is_shown)
    title, n_sampled = request.table, sample.frame.height
    if n_sampled < sample.n_rows:
        title += f", {n_sampled:,} of {sample.n_rows:,} rows"
    write_fit(model, title, request.to)


@contextmanager
def _classifier(request: FitRequest, rows: pl.DataFrame) -> Iterator[TableClassifier]:
    """Yield a classifier that shows its progress, to be fitted to rows."""
    label = chosen_positive(
        rows, request.label, request.positive, is_accepted=request.accepts_positive
    )
    model = TableClassifier(
        request.model,
        positive=label.positive,
        types=dict(request.types),
        drop=request.drop,
        fast=request.is_fast,
        random_state=request.seed,
        **request.targets._asdict(),
    )

    def notes() -> None:
        if not request.to.quiet:
            note_columns(label, model.columns_, model.warnings_)

    with fit_progress(notes, quiet=request.to.quiet) as progress:
        yield model.set_params(progress=progress)


def _evaluate_on(model: TableClassifier, request: FitRequest) -> TableEvaluation:
    known, test = model.model_, str(request.test)
    rows = read_tables(test, text=known.text, codes=known.codes, encoding=request.encoding)
    # Test rows may lack the columns of groups and weights.
    group, weight = (
        name if name in rows.columns else None
        for name in (request.roles.group, request.roles.weight)
    )
    found = model.evaluate(rows, groups=group, sample_weight=weight)
    show_evaluation(f"Test rows, {shown_name(test)}", found)
    return found


def write_fit(
    model: TableClassifier, table: str, to: Folder, test: TableEvaluation | None = None
) -> None:
    """Write the results of a fit, and show them."""
    title = shown_name(table)
    files = model.to_files(title=title, test=test)
    # After all is computed, so that an error leaves no half of a result.
    write_folder(to.out, files, force=to.force)
    show_fit(model, title, quiet=to.quiet)
    if "report.html" in files:
        say(f"Open {Path(to.out) / 'report.html'}")
    else:
        say(f"Wrote {to.out}; for a report: pip install 'rocpath[report]'")
