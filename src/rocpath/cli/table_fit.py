"""Fit a model to a table, judge it, and write down all that was found."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from rocpath.auc_statistics.threshold_targets import (
    NO_TARGETS,
    ThresholdTargets,
    point_for_target,
)
from rocpath.cli.comparison import Comparison, compare_methods, folds_for
from rocpath.cli.files import write_folder
from rocpath.cli.table_report import (
    TableFit,
    contents,
    findings,
    headline,
    verdicts,
)
from rocpath.cli.terminal import agreed, progress_bar, say, show_table
from rocpath.tables.columns import column, feature_columns, listed
from rocpath.tables.labels import binary_label
from rocpath.tables.leaks import suspect_leaks
from rocpath.tables.model import fit_table_model
from rocpath.tables.rankers import methods_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from rocpath.cli.options import Folder
    from rocpath.cli.table_report import Findings
    from rocpath.tables.audit import ColumnAudit
    from rocpath.tables.columns import FeatureColumns
    from rocpath.tables.labels import BinaryLabel, KnownLabels
    from rocpath.tables.model import TableModel
    from rocpath.tables.rankers import ModelChoice

FEWEST_TO_JUDGE = 10  # rows of a class; with fewer a note warns


class Request(NamedTuple):
    """What to fit."""

    title: str
    label: str
    positive: str | None = None
    left_out: tuple[str, ...] = ()
    seed: int = 0
    model: ModelChoice = "auto"
    types: Mapping[str, str] = MappingProxyType({})
    is_fast: bool = False
    accepts_positive: bool = False
    targets: ThresholdTargets = NO_TARGETS

    @property
    def text(self) -> list[str]:
        """Columns to be read as text from the start, as predict reads them too."""
        return [name for name, kind in self.types.items() if kind == "category"]


def fit_table(table: pl.DataFrame, request: Request, to: Folder) -> None:
    """Fit a model, compare it with baselines, and write the results."""
    label = binary_label(table, request.label, request.positive)
    if request.positive is None and not request.accepts_positive:
        doubt(label)
    # A name that is mistyped would leave in what must be left out.
    for name in request.left_out:
        column(table, name, "--drop")
    left_out = {request.label, *request.left_out}
    features, audit = feature_columns(table, left_out, request.types)
    audit = suspect_leaks(table, features, audit, label.is_positive)
    if not to.quiet:
        note_columns(label, features, audit)
    # Two stages more: the fit to all rows, and the report.
    n_methods = len(methods_for(request.model))
    n_fits = 0 if request.is_fast else n_methods * folds_for(label)
    with progress_bar(n_fits + 2, quiet=to.quiet, n_round=n_methods) as progress:
        fit = _fitted(table, request, label, features, audit, progress)
        progress("writing the report")
        found = findings(fit)
        files = contents(fit, found)
    # After all is made, so that no half of a result is left by an error.
    write_folder(to.out, files, force=to.force)
    show_comparison(request.title, label, fit.comparison)
    _tell_result(request, fit, found, quiet=to.quiet)
    if "report.html" in files:
        say(f"Open {Path(to.out) / 'report.html'}")
    else:
        say(f"Wrote {to.out}; for a report too: pip install 'rocpath[report]'")


def _fitted(
    table: pl.DataFrame,
    request: Request,
    label: BinaryLabel,
    features: FeatureColumns,
    audit: list[ColumnAudit],
    progress: Callable[[str], None],
) -> TableFit:
    """Compare the methods unless told not to, and fit the best to all rows."""
    comparison = Comparison.skipped()
    if not request.is_fast:
        comparison = compare_methods(
            table,
            label,
            features,
            random_state=request.seed,
            progress=progress,
            methods=methods_for(request.model),
            max_fpr=request.targets.max_fpr,
        )
    method = comparison.best(request.model)
    progress(f"{method}, all rows")
    model = fit_table_model(
        table,
        label,
        features,
        method=method,
        random_state=request.seed,
        max_fpr=request.targets.max_fpr,
    )
    # Of two promises predict could keep only one, and nobody said which.
    if comparison.score and request.targets.n_given == 1:
        score = comparison.score[method]
        model = _with_threshold(model, label, score, request.targets)
    targets = request.targets
    return TableFit(
        table, request.title, label, model, method, comparison, audit, targets
    )


def _with_threshold(
    model: TableModel,
    label: BinaryLabel,
    score: NDArray[np.float64],
    targets: ThresholdTargets,
) -> TableModel:
    """Let the model call rows positive as its one promise asks, if it can be kept."""
    # On rows held out, as the threshold is for scores of new rows.
    try:
        point = point_for_target(label.is_positive, score, targets)
    except ValueError as error:
        say(f"note: {error}")
        return model
    return replace(model, threshold=point.threshold)


def _tell_result(
    request: Request, fit: TableFit, found: Findings, *, quiet: bool
) -> None:
    is_best = request.model == "auto" and not request.is_fast
    area = "AUC" if request.targets.max_fpr is None else "mean TPR"
    why = f"the largest {area}" if is_best else f"--model {request.model}"
    why += ", judged by no rows held out: --fast" if request.is_fast else ""
    say(f"Saved: {fit.method}, fitted to all rows ({why}).")
    if quiet:
        return
    if found.view is not None:
        say(headline(fit, found))
    if fit.model.threshold is not None:
        say(
            f"predict calls rows {fit.label.positive!r} from a score of "
            f"{fit.model.threshold:.4g} on."
        )
    elif request.targets.n_given > 1:
        say("note: with one promise only, predict would keep it.")


def doubt(label: BinaryLabel | KnownLabels) -> None:
    """Ask whether the more frequent label is meant to be positive."""
    # What is looked for is mostly the rarer kind; a ranking of the other is upside
    # down, and its AUC looks just as good.
    if label.n_positive <= label.n_negative:
        return
    chosen = (
        "no --positive was given, and the last in the alphabet, "
        f"{label.positive!r}, is the more frequent label ({label.n_positive:,} of "
        f"{label.n_positive + label.n_negative:,} rows)"
    )
    # A script has nobody to ask: it must say which, and fails until it does.
    if not agreed(f"{chosen}. Rank it high?"):
        raise ValueError(
            f"{chosen}: name the one to rank high, as --positive {label.negative!r}, "
            "or take it with --yes."
        )


def note_columns(
    label: BinaryLabel | KnownLabels,
    features: FeatureColumns,
    audit: list[ColumnAudit],
) -> None:
    """Say what was decided about labels and columns, and how to change it."""
    n_rows = label.n_positive + label.n_negative
    say(
        f"positive: {label.positive!r} of column {label.column!r}, "
        f"{label.n_positive:,} of {n_rows:,} rows (change with --positive)."
    )
    # Whatever was decided about a column is said here, with the option that changes it.
    kinds = Counter(one.kind for one in audit)
    names = {"number": "numbers", "category": "categories", "date": "dates"}
    taken = ", ".join(
        f"{kinds[kind]} {kind if kinds[kind] == 1 else name}"
        for kind, name in names.items()
    )
    say(f"columns: {taken}, {kinds['drop']} left out (change with --type COLUMN=KIND).")
    for one in audit:
        if one.kind == "drop":
            say(f"note: column {one.column!r} is left out: {one.why}.")
            continue
        if one.is_suspect:
            say(
                f"note: column {one.column!r}: {one.why}. If it is known only after "
                f"the label, leave it out with --drop {one.column!r}."
            )
        if one.n_unreadable:
            values = listed(map(repr, features.unreadable[one.column]))
            say(
                f"note: column {one.column!r} is taken for a {one.kind}; "
                f"{one.n_unreadable:,} of its values cannot be read, so taken as "
                f"missing: {values}."
            )
        elif one.column in features.style:
            say(f"note: column {one.column!r} is taken for a {one.kind}: {one.why}.")
    # The fit goes on: a ranking may be right though its AUC cannot be known.
    fewest = min(label.n_positive, label.n_negative)
    if fewest < FEWEST_TO_JUDGE:
        say(f"note: one label has only {fewest} rows; too few to know an AUC.")


def show_comparison(title: str, label: BinaryLabel, comparison: Comparison) -> None:
    """Show how well each method ranks, and say what that shows."""

    def lead(metric: dict[str, float]) -> str:
        if "our_lead" not in metric:
            return ""
        return f"{metric['our_lead']:+.4f} ± {metric['our_lead_standard_error']:.4f}"

    # With --fast nothing was compared.
    if not comparison.metrics:
        return
    n_parts = comparison.n_folds
    area = "AUC" if comparison.max_fpr is None else "mean TPR"
    # In the title: a wide header would break the numbers below it.
    part = "" if area == "AUC" else f"; TPR up to an FPR of {comparison.max_fpr:g}"
    show_table(
        f"{title}: {label.counted}{part}",
        (
            f"method, {n_parts} part{'s' if n_parts > 1 else ''} held out",
            area,
            "95% interval",
            f"{comparison.ours} leads by",
        ),
        [
            (
                method,
                f"{metric[comparison.judged_by]:.4f}",
                f"{metric['low']:.3f} to {metric['high']:.3f}",
                lead(metric),
            )
            for method, metric in comparison.metrics.items()
        ],
    )
    for line in verdicts(label, comparison):
        say(line)
