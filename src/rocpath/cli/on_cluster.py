"""Fit and evaluate models of tables on Dask, where every file is a partition.

What columns are, and the inputs they become, is decided by the first rows of every
file; the ranking is that of `rocpath.dask`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.pipeline import Pipeline

from rocpath.cli import many_files
from rocpath.cli.files import read_table, write_folder
from rocpath.cli.terminal import say
from rocpath.tables.columns import column, feature_columns
from rocpath.tables.labels import KnownLabels, label_kinds, label_text
from rocpath.tables.model import TableModel, table_inputs
from rocpath.tables.saved_models import model_bytes

if TYPE_CHECKING:
    from rocpath.auc_statistics.intervals import AucInterval
    from rocpath.cli.table_fit import Request
    from rocpath.tables.columns import FeatureColumns

_SAMPLED_ROWS = 20_000  # of all files, by which columns are judged


def refuse_beyond_ranking(model: str, n_promises: int, png: str | None) -> None:
    """Raise if more is asked for than a linear ranking and its AUC."""
    if model not in ("auto", "linear") or n_promises or png is not None:
        raise ValueError(
            "on Dask only the linear ranking is fitted, without promises and pictures: "
            "leave out --model, --max-fpr, --min-precision, --top and --png, or read "
            "the rows with --engine memory."
        )


def fit_on_cluster(
    table: str,
    cluster: many_files.Cluster,
    request: Request,
    *,
    out: str,
    force: bool,
    quiet: bool,
) -> None:
    """Fit a linear ranking to the rows of all files, and write it."""
    from rocpath.dask import AUCClassifier, auc_interval
    from rocpath.dask.passes import Passes

    names = many_files.file_names(table)
    # The area is that of rows the model has seen; metrics.json names it so, and has the
    # held-out one beside it.
    with many_files.running_client(cluster) as client, Passes(client) as passes:
        reading, known, sample = _looked_at(passes, names, request)
        X, y = reading.arrays(passes, names)
        ranking = AUCClassifier(
            random_state=request.seed, verbose=not quiet, client=client
        )
        ranking.fit(X, y)
        area = auc_interval(y, ranking.decision_function(X), client=client)
    steps = [("columns", reading.columns), ("ranking", ranking.to_local())]
    frame = reading.features.of(sample)
    model = TableModel.made(Pipeline(steps), reading.features, frame, known)
    metrics = _metrics(ranking, area, known, len(names))
    files: dict[str, bytes | str] = {
        "model.skops": model_bytes(model),
        "metrics.json": json.dumps(metrics),
    }
    write_folder(out, files, force=force)
    if not quiet:
        say("")  # after the line of the passes
    say(
        f"AUC {area.value:.4f} on the rows fitted to, in {len(names)} files; "
        f"{ranking.n_passes_} passes. Wrote {out}."
    )


def _metrics(
    ranking: Any, area: AucInterval, known: KnownLabels, n_files: int
) -> dict[str, Any]:
    metrics = {
        "auc_of_fitted_rows": area.value,
        "low": area.low,
        "high": area.high,
        "n_files": n_files,
        "n_passes": ranking.n_passes_,
        **known.summary,
    }
    # Of few rows no ranking is judged by parts held out.
    history = ranking.history_[0]
    if history.stage_auc.size:
        metrics["held_out_auc"] = float(history.stage_auc[history.chosen])
    return metrics


def _looked_at(
    passes: Any, names: list[str], request: Request
) -> tuple[_Reading, KnownLabels, pl.DataFrame]:
    """Decide by the first rows of every file how all are read; those rows come too."""
    label = request.label
    # Some of every file, as files are often sorted, by a day or a place.
    state = (label, request.text, -(-_SAMPLED_ROWS // len(names)))
    looks = passes.results("first look", passes.each(_first_look, names, state=state))
    for name, (sample, _) in zip(names, looks, strict=True):
        many_files.check_columns(name, sample.columns, looks[0][0].columns)
    known = _labels(label, request.positive, [counts for _, counts in looks])
    sample = pl.concat([one for one, _ in looks], how="vertical_relaxed")
    left_out = {label, *request.left_out}
    features, _ = feature_columns(sample, left_out, request.types)
    columns = table_inputs(features, is_dense=False).fit(features.of(sample))
    return _Reading(features, columns, label, known.positive), known, sample


def evaluate_on_cluster(
    model: TableModel, table: str, label: str | None, cluster: many_files.Cluster
) -> tuple[AucInterval, KnownLabels]:
    """Measure the AUC of a model on the rows of all files."""
    from rocpath.dask import auc_interval
    from rocpath.dask.passes import Passes

    names = many_files.file_names(table)
    name = label or model.label
    with many_files.running_client(cluster) as client, Passes(client) as passes:
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
    return area, KnownLabels(name, model.positive, model.negative, *counts)


class _Reading(NamedTuple):
    """How a file becomes inputs and labels."""

    features: FeatureColumns
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
    """Return the first rows of a file, and how often it has each label."""
    label, text, n_rows = state
    table = read_table(name, text=text)
    # Counted over all rows: a rare label may be in none of the first.
    counts = label_text(column(table, label, "label")).value_counts()
    return table[:n_rows], dict(counts.iter_rows())


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
    # be read otherwise than its neighbours.
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
    text = label_text(column(table, label, "label"))
    return model.scores(table), (text == model.positive).to_numpy()


def _label_counts(scored: tuple[Any, Any], _: None) -> tuple[int, int]:
    n_positive = int(np.count_nonzero(scored[1]))
    return n_positive, scored[1].size - n_positive
