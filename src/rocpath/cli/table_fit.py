"""The command ``fit``: read a table, fit a TableClassifier, and write its results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rocpath.cli.files import shown_name, write_folder
from rocpath.cli.many_files import Cluster, read_tables, runs_on_dask
from rocpath.cli.table_output import chosen_positive, note_columns, show_evaluation, show_fit
from rocpath.cli.terminal import fit_progress, say
from rocpath.tables.classifier import TableClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    to = request.to
    if runs_on_dask(request.table, *request.where):
        from rocpath.cli.on_cluster import fit_on_cluster

        fit_on_cluster(request, Cluster(request.where.scheduler))
        return
    rows = read_tables(request.table, text=request.text, encoding=request.encoding)
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
        if not to.quiet:
            note_columns(label, model.columns_, model.warnings_)

    roles = request.roles
    with fit_progress(notes, quiet=to.quiet) as progress:
        model.set_params(progress=progress)
        model.fit(
            rows, request.label, groups=roles.group, time=roles.time, sample_weight=roles.weight
        )
    test = None
    if request.test is not None:
        test = _evaluate_on(model, request)
    write_fit(model, request.table, to, test)


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
