"""Fit and evaluate models of tables on Dask, where every file is a partition.

What columns are, and the inputs they become, is decided by some rows of every file; by
these rows the report compares methods. The ranking is that of `rocpath.dask`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.pipeline import Pipeline

from rocpath.cli import many_files
from rocpath.cli.files import read_table, shown_name, write_folder
from rocpath.cli.table_output import confirmed, note_columns
from rocpath.cli.terminal import fit_progress, say, show_comparison
from rocpath.tables.columns import column, feature_columns
from rocpath.tables.evaluation import TableEvaluation
from rocpath.tables.fit import FitSettings, fit_table
from rocpath.tables.folds import RowDesign
from rocpath.tables.labels import (
    BinaryLabel,
    KnownLabels,
    known_positives,
    label_kinds,
    label_text,
)
from rocpath.tables.leaks import suspect_leaks
from rocpath.tables.model import TableModel, table_inputs
from rocpath.tables.preparation import MIN_ROWS_OF_A_CLASS, PreparedTable
from rocpath.tables.result_files import result_files

if TYPE_CHECKING:
    from rocpath.auc_statistics.results import AUCInterval
    from rocpath.cli.options import Targets
    from rocpath.cli.table_fit import FitRequest
    from rocpath.tables.columns import ColumnAudit, TableFeatures

_SAMPLED_ROWS = 20_000  # of all files, by which columns and methods are judged


def refuse_beyond_ranking(model: str, n_promises: int) -> None:
    """Raise if more is asked for than a linear ranking and its AUC."""
    if model not in ("auto", "linear") or n_promises:
        raise ValueError(
            "on Dask only the linear ranking is fitted, without thresholds: drop "
            "--model, --max-fpr, --min-precision and --top, or read the rows with "
            "--engine memory."
        )


def fit_on_cluster(request: FitRequest, cluster: many_files.Cluster) -> None:
    """Fit a linear ranking to all files, evaluate it on some rows, and write it."""
    from rocpath.dask import AUCClassifier, auc_interval
    from rocpath.dask.passes import Passes
    from rocpath.dask.progress import progress_line

    refuse_beyond_ranking(request.model, request.targets.n_given)
    if any(request.roles) or request.test is not None:
        raise ValueError(
            "on Dask rows are independent and of equal weight: drop --group, --time, "
            "--weight and --test, or read the rows with --engine memory."
        )
    out, force, quiet = request.to
    names = many_files.file_names(request.table)
    with (
        many_files.running_client(cluster) as client,
        progress_line(is_shown=not quiet) as show,
        Passes(client, show) as passes,
    ):
        looked = _looked_at(passes, names, request)
        _note(looked, quiet=quiet)
        X, y = looked.reading.arrays(passes, names)
        ranking = AUCClassifier(
            random_state=request.seed, verbose=not quiet, client=client
        )
        ranking.fit(X, y)
        area = auc_interval(y, ranking.decision_function(X), client=client)
    files = _files(looked, request, ranking, area, quiet=quiet)
    write_folder(out, files, force=force)
    say(
        f"AUC {area.value:.4f} on the {looked.n_rows:,} rows fitted to, in "
        f"{len(names):,} files; {ranking.n_passes_} passes. Wrote {out}."
    )
    if "report.html" in files:
        say(f"Open {Path(out) / 'report.html'}")


class _Looked(NamedTuple):
    """What a first look tells: how files are read, and some rows of each of them."""

    reading: _Reading
    known: KnownLabels
    n_files: int
    sample: pl.DataFrame
    label: BinaryLabel  # of the sample
    audit: list[ColumnAudit]

    @property
    def n_rows(self) -> int:
        return self.known.n_positive + self.known.n_negative


def _looked_at(passes: Any, names: list[str], request: FitRequest) -> _Looked:
    """Decide by some rows of every file how all are read; those rows come too."""
    label = request.label
    # Some of every file, as files are often sorted, by a day or a place.
    state = (label, request.text, -(-_SAMPLED_ROWS // len(names)))
    looks = passes.results("first look", passes.each(_first_look, names, state=state))
    for name, (sample, _) in zip(names, looks, strict=True):
        many_files.check_columns(name, sample.columns, looks[0][0].columns)
    known = _labels(label, request.positive, [counts for _, counts in looks])
    sample = pl.concat([one for one, _ in looks], how="vertical_relaxed")
    # A name that is mistyped would leave in what must be left out.
    for name in request.drop:
        column(sample, name, "--drop")
    features, audit = feature_columns(sample, {label, *request.drop}, request.types)
    # Before the counts of all files are used for a question about them.
    known = confirmed(known, request.positive, is_accepted=request.accepts_positive)
    kinds = (known.positive, known.negative)
    sampled = BinaryLabel.of(label, *kinds, known_positives(sample[label], *kinds))
    audit = suspect_leaks(sample, features, audit, sampled.is_positive)
    columns = table_inputs(features, is_dense=False).fit(features.of(sample))
    reading = _Reading(features, columns, label, known.positive)
    return _Looked(reading, known, len(names), sample, sampled, audit)


def _note(looked: _Looked, *, quiet: bool) -> None:
    if not quiet:
        note_columns(looked.known, looked.audit)


def _files(
    looked: _Looked,
    request: FitRequest,
    ranking: Any,
    area: AUCInterval,
    *,
    quiet: bool,
) -> dict[str, bytes | str]:
    """Return the files of a fit: as in memory, by the rows that came here."""
    reading, label = looked.reading, looked.label
    steps = [("columns", reading.columns), ("ranking", ranking.to_local())]
    frame = reading.features.of(looked.sample)
    model = TableModel.from_pipeline(
        Pipeline(steps), reading.features, frame, looked.known
    )
    # Nothing is learned from a comparison with too few rows of a class.
    n_rarer = min(label.n_positive, label.n_negative)
    is_fast = request.is_fast or n_rarer < MIN_ROWS_OF_A_CLASS
    if not (is_fast or quiet):
        n_rows = label.is_positive.size
        say(f"Comparing models on {n_rows:,} of the rows (--fast skips it).")
    prepared = PreparedTable(
        looked.sample, label, reading.features, looked.audit, RowDesign(), []
    )
    with fit_progress(lambda: None, quiet=quiet) as progress:
        settings = FitSettings(
            "linear", is_fast=is_fast, random_state=request.seed, progress=progress
        )
        fit = fit_table(prepared, settings, model)
    title = shown_name(request.table)
    if label.is_positive.size < looked.n_rows:
        title += f", {label.is_positive.size:,} of {looked.n_rows:,} rows"
    files = result_files(fit, title=title)
    if fit.comparison is not None:
        show_comparison(f"{title}: {label.counted}", fit.comparison)
    metrics = json.loads(files["metrics.json"]) | _metrics(looked, ranking, area)
    files["metrics.json"] = json.dumps(metrics, indent=2) + "\n"
    return files


def _metrics(looked: _Looked, ranking: Any, area: AUCInterval) -> dict[str, Any]:
    # The area is that of rows the model has seen; its name says so, and the held-out
    # one stands beside it.
    metrics = {
        "auc_of_fitted_rows": area.value,
        "low": area.low,
        "high": area.high,
        "n_files": looked.n_files,
        "n_rows_judged_by": looked.sample.height,
        "n_passes": ranking.n_passes_,
        **looked.known.summary,
    }
    # Of few rows no ranking is judged by parts held out.
    history = ranking.history_[0]
    if history.stage_auc.size:
        metrics["held_out_auc"] = float(history.stage_auc[history.chosen])
    return metrics


def evaluate_files(
    model: TableModel,
    table: str,
    label: str | None,
    targets: Targets,
    scheduler: str | None,
) -> TableEvaluation:
    """Estimate the AUC of a model on the rows of all files."""
    from rocpath.dask import auc_interval
    from rocpath.dask.passes import Passes
    from rocpath.dask.progress import progress_line

    refuse_beyond_ranking("auto", targets.n_given)
    names = many_files.file_names(table)
    name = label or model.label
    cluster = many_files.Cluster(scheduler)
    with (
        many_files.running_client(cluster) as client,
        progress_line(is_shown=True) as show,
        Passes(client, show) as passes,
    ):
        # Kept, so that files are read and scored once, and not for scores and labels.
        tasks = passes.keep(passes.each(_scored_file, names, state=(model, name)))
        sizes = passes.results("scoring", passes.each(_label_counts, tasks))
        scores, y = (
            _array(passes.each(_column_of, tasks, state=k), (), dtype)
            for k, dtype in ((0, np.float64), (1, bool))
        )
        area = auc_interval(y, scores, client=client)
    n_positive, n_negative = np.sum(sizes, axis=0).tolist()
    counts = (int(n_positive), int(n_negative))
    known = KnownLabels(name, model.positive, model.negative, *counts)
    return TableEvaluation(known, area)


class _Reading(NamedTuple):
    """How a file becomes inputs and labels."""

    features: TableFeatures
    columns: Any  # the transformer that makes inputs of features
    label: str
    positive: str

    def arrays(self, passes: Any, names: list[str]) -> tuple[Any, Any]:
        """Return lazy inputs and labels; a file is a part."""
        parts = passes.each(_read_part, names, state=self)
        width = len(self.columns.get_feature_names_out())
        X = _array(passes.each(_column_of, parts, state=0), (width,), np.float64)
        return X, _array(passes.each(_column_of, parts, state=1), (), bool)


def _array(tasks: list[Any], width: tuple[int, ...], dtype: Any) -> Any:
    import dask.array as da

    # How many rows a file has is known once it is read.
    parts = [da.from_delayed(one, (np.nan, *width), dtype=dtype) for one in tasks]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def _first_look(name: str, state: tuple[str, list[str], int]) -> Any:
    """Return some rows of a file, and how often it has each label."""
    label, text, n_rows = state
    table = read_table(name, text=text)
    # Counted over all rows: a rare label may be in none of the few.
    counts = label_text(column(table, label, "label")).value_counts()
    # Evenly spaced, as rows are often sorted too.
    place = np.linspace(0, table.height, min(n_rows, table.height), endpoint=False)
    return table[place.astype(np.int64)], dict(counts.iter_rows())


def _labels(
    label: str, positive: str | None, counts: list[dict[str, int]]
) -> KnownLabels:
    """Find the two kinds of labels in all files."""
    total: dict[str, int] = {}
    for of_file in counts:
        for value, count in of_file.items():
            total[value] = total.get(value, 0) + count
    positive, negative = label_kinds(label, sorted(total), positive)
    n_positive = total[positive]
    n_negative = sum(total.values()) - n_positive
    return KnownLabels(label, positive, negative, n_positive, n_negative)


def _read_part(name: str, reading: _Reading) -> tuple[Any, Any]:
    # As the first look read them: a file whose values all look like numbers must not
    # be read otherwise than its neighbors.
    text = {*reading.features.category, *reading.features.style}
    table = read_table(name, text=text)
    X = reading.columns.transform(reading.features.of(table))
    labels = label_text(column(table, reading.label, "label"))
    return X, (labels == reading.positive).to_numpy()


def _column_of(part: tuple[Any, ...], place: int) -> Any:
    return part[place]


def _scored_file(name: str, state: tuple[TableModel, str]) -> tuple[Any, Any]:
    model, label = state
    table = read_table(name, text=model.text, codes=model.codes)
    # A file may well be of one kind, but not of a third.
    series = column(table, label, "label")
    is_positive = known_positives(series, model.positive, model.negative)
    return model.scores(table), is_positive


def _label_counts(scored: tuple[Any, Any], _: None) -> tuple[int, int]:
    n_positive = int(np.count_nonzero(scored[1]))
    return n_positive, scored[1].size - n_positive
