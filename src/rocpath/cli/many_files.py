"""Tables in many files: read together into memory, or a file at a time by Dask.

On Dask every file is a partition. What columns are, and the inputs they become, is
decided by the first rows of every file; the ranking is that of `rocpath.dask`.
"""

from __future__ import annotations

import json
import logging
import os
from contextlib import contextmanager
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl

from rocpath.cli.files import (
    STANDARD_STREAM,
    check_folder,
    read_table,
    write_folder,
    write_table,
)
from rocpath.cli.terminal import say
from rocpath.memory import available_memory
from rocpath.tables.columns import column, feature_columns, label_text, listed
from rocpath.tables.model import TableModel, table_inputs
from rocpath.tables.saved_models import model_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rocpath.auc_statistics.intervals import AucInterval
    from rocpath.tables.columns import FeatureColumns

Engine = Literal["auto", "memory", "dask"]

_SAMPLED_ROWS = 20_000  # of all files, by which columns are judged
_EXPANSION = 3  # of a file in memory; Parquet packs numbers about so well
_SHARE_OF_MEMORY = 0.5


class Cluster(NamedTuple):
    """Where Dask is to run: a scheduler's address, or None for workers of our own."""

    scheduler: str | None


class KnownLabels(NamedTuple):
    """Both kinds of labels, and how many rows have them."""

    column: str
    positive: str
    negative: str
    n_positive: int
    n_negative: int

    @property
    def summary(self) -> dict[str, str | int]:
        """The labels and their counts."""
        return {
            "positive": self.positive,
            "negative": self.negative,
            "n_positive": self.n_positive,
            "n_negative": self.n_negative,
        }


def is_many(table: str) -> bool:
    """Tell whether a name stands for several files."""
    return table != STANDARD_STREAM and has_magic(table)


def file_names(table: str) -> list[str]:
    """Return the files that a name stands for, in order."""
    if not is_many(table):
        return [table]
    names = sorted(glob(table, recursive=True))
    if not names:
        raise ValueError(f"{table!r} matches no file.")
    return names


def runs_on_dask(table: str, engine: Engine, scheduler: str | None) -> bool:
    """Tell whether Dask is to read a table: if asked to, or if memory is too small."""
    if engine == "memory" and scheduler is not None:
        raise ValueError("--scheduler needs --engine dask, got --engine memory.")
    if engine == "dask" or scheduler is not None:
        if table == STANDARD_STREAM:
            raise ValueError("standard input is read by --engine memory only.")
        return True
    if engine == "memory" or not is_many(table):
        return False
    n_bytes = sum(os.path.getsize(name) for name in file_names(table))
    needed, memory = _EXPANSION * n_bytes, available_memory()
    if needed <= _SHARE_OF_MEMORY * memory:
        return False
    say(
        f"The files may take {needed / 1e9:.1f} GB of the {memory / 1e9:.1f} GB of "
        "memory: read by Dask, with workers of this machine (--engine)."
    )
    return True


def refuse_beyond_ranking(model: str, n_promises: int, png: str | None) -> None:
    """Raise if more is asked for than a linear ranking and its AUC."""
    if model not in ("auto", "linear") or n_promises or png is not None:
        raise ValueError(
            "on Dask only the linear ranking is fitted, without promises and pictures: "
            "leave out --model, --max-fpr, --min-precision, --top and --png, or read "
            "the rows with --engine memory."
        )


def read_tables(
    table: str, *, text: Iterable[str] = (), codes: Iterable[str] = ()
) -> pl.DataFrame:
    """Read one table, or the rows of several files into one."""
    kept = set(text), set(codes)
    names = file_names(table)
    tables = [read_table(name, text=kept[0], codes=kept[1]) for name in names]
    for name, one in zip(names, tables, strict=True):
        _check_columns(name, one.columns, tables[0].columns)
    return tables[0] if len(tables) == 1 else pl.concat(tables, how="vertical_relaxed")


def fit_on_cluster(
    table: str,
    cluster: Cluster,
    *,
    label: str,
    positive: str | None,
    left_out: Iterable[str],
    types: Mapping[str, str],
    seed: int,
    out: str,
    force: bool,
    quiet: bool,
) -> None:
    """Fit a linear ranking to the rows of all files, and write it."""
    from rocpath.dask import AUCClassifier, auc_interval
    from rocpath.dask.passes import Passes

    names = file_names(table)
    text = [name for name, kind in types.items() if kind == "category"]
    with running_client(cluster) as client, Passes(client) as passes:
        state = (label, text, -(-_SAMPLED_ROWS // len(names)))
        tasks = passes.each(_first_look, names, state=state)
        looks = passes.results("first look", tasks)
        for name, (sample, _) in zip(names, looks, strict=True):
            _check_columns(name, sample.columns, looks[0][0].columns)
        known = _labels(label, positive, [counts for _, counts in looks])
        sample = pl.concat([one for one, _ in looks], how="vertical_relaxed")
        features, _ = feature_columns(sample, {label, *left_out}, types)
        columns = table_inputs(features, is_dense=False).fit(features.of(sample))
        reading = _Reading(features, columns, label, known.positive)
        X, y = reading.arrays(passes, names)
        ranking = AUCClassifier(random_state=seed, verbose=not quiet, client=client)
        ranking.fit(X, y)
        area = auc_interval(y, ranking.decision_function(X), client=client)
    model = _table_model(ranking.to_local(), reading, known, sample)
    history = ranking.history_[0]
    metrics = {
        "auc_of_fitted_rows": area.value,
        "low": area.low,
        "high": area.high,
        "n_files": len(names),
        "n_passes": ranking.n_passes_,
        **known.summary,
    }
    if history.stage_auc.size:
        metrics["held_out_auc"] = float(history.stage_auc[history.chosen])
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


def evaluate_on_cluster(
    model: TableModel, table: str, label: str | None, cluster: Cluster
) -> tuple[AucInterval, KnownLabels]:
    """Measure the AUC of a model on the rows of all files."""
    from rocpath.dask import auc_interval
    from rocpath.dask.passes import Passes

    names = file_names(table)
    name = label or model.label
    with running_client(cluster) as client, Passes(client) as passes:
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


def predict_files(
    model: TableModel,
    table: str,
    out: str,
    id_column: str | None,
    *,
    cluster: Cluster | None,
    force: bool,
) -> None:
    """Write the scores of every file into a file of the same name in a folder."""
    names = file_names(table)
    check_folder(out, force=force)
    stems = [Path(name).name.removesuffix(".gz") for name in names]
    if len(set(stems)) < len(stems):
        raise ValueError(f"{table!r} matches files of the same name in other folders.")
    Path(out).mkdir(exist_ok=True)
    targets = [str(Path(out) / stem) for stem in stems]
    state = (model, id_column, force)
    if cluster is None:
        for name, target in zip(names, targets, strict=True):
            _predict_file(name, target, state)
        return
    from rocpath.dask.passes import Passes

    with running_client(cluster) as client, Passes(client) as passes:
        tasks = passes.each(_predict_file, names, targets, state=state)
        passes.results("predicting", tasks)


def predicted(
    model: TableModel, rows: pl.DataFrame, id_column: str | None
) -> pl.DataFrame:
    """Return the scores of rows, with a column that names them."""
    scores = model.predictions(rows)
    if id_column is None:
        return scores
    name = column(rows, id_column, "id")
    if id_column in scores.columns:
        raise ValueError(
            f"id column {id_column!r} has the name of a column of scores: rename it."
        )
    return scores.insert_column(0, name)


@contextmanager
def running_client(cluster: Cluster) -> Iterator[Any]:
    """Give a client of the scheduler, or of workers that end with it."""
    from distributed import Client, LocalCluster

    if cluster.scheduler is not None:
        try:
            client = Client(cluster.scheduler, set_as_default=False, timeout=10)
        except (OSError, TimeoutError) as error:
            raise ValueError(
                f"--scheduler {cluster.scheduler!r} does not answer: {error}"
            ) from None
        with client:
            yield client
        return
    with (
        LocalCluster(
            threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as workers,
        Client(workers, set_as_default=False) as client,
    ):
        yield client


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

    parts = [da.from_delayed(one, (np.nan, *width), dtype=dtype) for one in tasks]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def _first_look(name: str, state: tuple[str, list[str], int]) -> Any:
    """Return the first rows of a file, and how often it has each label."""
    label, text, n_rows = state
    table = read_table(name, text=text)
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
    values = sorted(total)
    if len(values) < 2:
        raise ValueError(
            f"label column {label!r} has only the value {values[0]!r}: two are needed."
        )
    if positive is None and len(values) > 2:
        raise ValueError(
            f"label column {label!r} has {len(values)} values ({listed(values)}): "
            "name one with --positive."
        )
    positive = values[1] if positive is None else positive
    if positive not in total:
        raise ValueError(
            f"label column {label!r} has no value {positive!r}: name one of "
            f"{listed(values)} with --positive."
        )
    others = [value for value in values if value != positive]
    negative = others[0] if len(others) == 1 else f"not {positive}"
    n_positive = total[positive]
    n_negative = sum(total.values()) - n_positive
    return KnownLabels(label, positive, negative, n_positive, n_negative)


def _read_part(name: str, reading: _Reading) -> tuple[Any, Any]:
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


def _predict_file(
    name: str, target: str, state: tuple[TableModel, str | None, bool]
) -> None:
    model, id_column, force = state
    rows = read_table(name, text=model.text, codes=model.codes)
    write_table(predicted(model, rows, id_column), target, force=force)


def _table_model(
    ranking: Any, reading: _Reading, labels: KnownLabels, sample: pl.DataFrame
) -> TableModel:
    from sklearn.pipeline import Pipeline

    features = reading.features
    frame = features.of(sample)
    numbers = {name: frame[name].drop_nulls().to_numpy() for name in features.number}
    return TableModel(
        Pipeline([("columns", reading.columns), ("ranking", ranking)]),
        features.number,
        features.category,
        labels.column,
        labels.positive,
        labels.negative,
        dict(features.style),
        dict(features.unreadable),
        {name: (float(x.min()), float(x.max())) for name, x in numbers.items()},
    )


def _check_columns(name: str, columns: list[str], first: list[str]) -> None:
    if columns != first:
        raise ValueError(
            f"{name!r} must have the columns of the first file, {listed(first)}, got "
            f"{listed(columns)}."
        )
