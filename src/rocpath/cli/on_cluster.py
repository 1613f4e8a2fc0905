"""The commands fit and evaluate for tables in several files, on Dask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocpath.auc_statistics.threshold_targets import ThresholdTargets
from rocpath.cli import many_files
from rocpath.cli.files import shown_name, write_folder
from rocpath.cli.table_output import confirmed, note_columns
from rocpath.cli.terminal import fit_progress, say, show_comparison
from rocpath.tables.classifier import TableClassifier
from rocpath.tables.preparation import MIN_ROWS_OF_A_CLASS

if TYPE_CHECKING:
    from rocpath.cli.options import Targets
    from rocpath.cli.table_fit import FitRequest
    from rocpath.dask.file_tables import FilesFit, TableSample
    from rocpath.tables.evaluation import TableEvaluation
    from rocpath.tables.labels import KnownLabels
    from rocpath.tables.model import TableModel


def fit_on_cluster(request: FitRequest, cluster: many_files.Cluster) -> None:
    """Fit a linear ranking to the rows of all files, and write the results."""
    from rocpath.dask.file_tables import fit_files, sample_files
    from rocpath.dask.progress import progress_line

    _check_supported(request)
    to, files = request.to, many_files.file_names(request.table)
    with many_files.running_client(cluster) as client, progress_line(is_shown=not to.quiet) as show:
        where: dict[str, Any] = {"client": client, "progress": show}
        sample = sample_files(
            files, request.label, text=request.text, encoding=request.encoding, **where
        )
        known = confirmed(
            sample.known_labels(request.positive),
            request.positive,
            is_accepted=request.accepts_positive,
        )
        model = _classifier(request, known)

        def notes() -> None:
            if not to.quiet:
                note_columns(known, model.columns_, model.warnings_)

        with fit_progress(notes, quiet=to.quiet) as progress:
            model.set_params(progress=progress)
            fit = fit_files(model, sample, **where)
    _write(request, model, sample, known, fit)


def evaluate_on_cluster(
    model: TableModel,
    table: str,
    columns: dict[str, str | None],
    targets: Targets,
    scheduler: str | None,
) -> TableEvaluation:
    """Evaluate a model on the rows of all files."""
    from rocpath.dask.file_tables import evaluate_files
    from rocpath.dask.progress import progress_line

    with (
        many_files.running_client(many_files.Cluster(scheduler)) as client,
        progress_line(is_shown=True) as show,
    ):
        return evaluate_files(
            model,
            many_files.file_names(table),
            columns["label"],
            groups=columns["group"],
            sample_weight=columns["weight"],
            targets=ThresholdTargets(*targets),
            client=client,
            progress=show,
        )


def _check_supported(request: FitRequest) -> None:
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


def _classifier(request: FitRequest, known: KnownLabels) -> TableClassifier:
    # A comparison needs some rows of each class.
    n_rarer = min(known.n_positive, known.n_negative)
    return TableClassifier(
        "linear",
        positive=known.positive,
        types=dict(request.types),
        drop=request.drop,
        fast=request.is_fast or n_rarer < MIN_ROWS_OF_A_CLASS,
        random_state=request.seed,
        **request.targets._asdict(),
    )


def _write(
    request: FitRequest,
    model: TableClassifier,
    sample: TableSample,
    known: KnownLabels,
    fit: FilesFit,
) -> None:
    title, out = shown_name(request.table), request.to.out
    n_rows, n_sampled = known.n_positive + known.n_negative, sample.frame.height
    if n_sampled < n_rows:
        title += f", {n_sampled:,} of {n_rows:,} rows"
    files = model.to_files(title=title)
    metrics = json.loads(files["metrics.json"]) | known.summary
    metrics |= {
        "auc_of_training_rows": fit.auc.value,
        "low": fit.auc.low,
        "high": fit.auc.high,
        "n_files": len(sample.files),
        "n_sampled_rows": n_sampled,
        "n_passes": fit.n_passes,
    }
    files["metrics.json"] = json.dumps(metrics, indent=2) + "\n"
    write_folder(out, files, force=request.to.force)
    if model.comparison_ is not None:
        show_comparison(f"{title}: {model.fit_.label.counted}", model.comparison_)
    say(
        f"AUC {fit.auc.value:.4f} on the {n_rows:,} training rows of "
        f"{len(sample.files):,} files; {fit.n_passes} passes. Wrote {out}."
    )
    if "report.html" in files:
        say(f"Open {Path(out) / 'report.html'}")
