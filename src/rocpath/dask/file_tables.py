"""Tables in several files, each of which is a partition.

A sample of the rows of every file determines the types of the columns, their encoding,
the comparison with baselines and the threshold; the linear ranking is then fitted to
the rows of all files.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np
import polars as pl
from sklearn.pipeline import Pipeline

from rocpath.auc_statistics.threshold_targets import (
    NamedPoint,
    ThresholdTargets,
    point_counts,
    points_for_targets,
)
from rocpath.dask.auc_classifier import AUCClassifier
from rocpath.dask.intervals import auc_interval
from rocpath.dask.passes import Passes, ReturnInvalid
from rocpath.dask.thresholds import choose_threshold
from rocpath.table_files.reading import read_table
from rocpath.tables.columns import column, listed
from rocpath.tables.evaluation import TableEvaluation
from rocpath.tables.labels import KnownLabels, known_positives, label_kinds, label_text
from rocpath.tables.model import TableModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from distributed import Client
    from numpy.typing import NDArray

    from rocpath.auc_statistics.operating_points import OperatingPoint
    from rocpath.auc_statistics.results import AUCInterval
    from rocpath.tables.classifier import TableClassifier

    Progress = Callable[[str, int, int], None]

_SAMPLE_SIZE = 20_000  # rows of all files together


@dataclass(frozen=True)
class TableSample:
    """Hold a sample of the rows of several files, and the labels of all rows.

    Attributes
    ----------
    files : list of str
        Names of the files.
    label : str
        Column of labels.
    frame : polars.DataFrame
        Evenly spaced rows of every file.
    counts : dict of str and int
        Number of rows of each label, in all files.
    encoding : str or None
        Encoding of text files.
    """

    files: list[str]
    label: str
    frame: pl.DataFrame
    counts: dict[str, int]
    encoding: str | None = None

    def known_labels(self, positive: str | None = None) -> KnownLabels:
        """Return both classes and their numbers of rows in all files."""
        positive, negative = label_kinds(self.label, sorted(self.counts), positive)
        n_positive = self.counts[positive]
        n_negative = sum(self.counts.values()) - n_positive
        return KnownLabels(self.label, positive, negative, n_positive, n_negative)


class FilesFit(NamedTuple):
    """The AUC of a ranking on the rows of all files, to which it was fitted."""

    auc: AUCInterval
    n_passes: int


def sample_files(
    files: Sequence[str],
    label: str,
    *,
    text: Iterable[str] = (),
    encoding: str | None = None,
    client: Client | None = None,
    progress: Progress | None = None,
) -> TableSample:
    """Read all files once; return a sample of 20,000 rows and the counts of labels.

    Parameters
    ----------
    files : list of str
        Names of the files, which all workers can read.
    label : str
        Column of labels.
    text : list of str
        Columns that stay text, even if they look like numbers.
    encoding : str, optional
        Encoding of text files.
    client : Client, optional
        Client whose workers compute, as for :func:`auc`.
    progress : callable, optional
        Function called with the name of a pass, and the numbers of completed and of all
        files.

    Returns
    -------
    TableSample
    """
    # Some rows of every file, because files are often sorted by date or place.
    state = (label, set(text), encoding, -(-_SAMPLE_SIZE // len(files)))
    with Passes(client, progress) as passes:
        tasks = passes.each(ReturnInvalid(_sample_file), files, state=state)
        samples = passes.results("sampling files", tasks)
    first = samples[0][0].columns
    for name, (frame, _) in zip(files, samples, strict=True):
        check_same_columns(name, frame.columns, first)
    counts: Counter[str] = sum((counts for _, counts in samples), Counter())
    frame = pl.concat([one for one, _ in samples], how="vertical_relaxed")
    return TableSample(list(files), label, frame, dict(counts), encoding)


def fit_files(
    model: TableClassifier,
    sample: TableSample,
    *,
    client: Client | None = None,
    progress: Progress | None = None,
) -> FilesFit:
    """Fit a classifier to the sample, and its linear ranking to the rows of all files.

    Parameters
    ----------
    model : TableClassifier
        Classifier with ``model="linear"``, which is fitted in place. Its comparison and
        its report are about the sample, and so is its threshold, except for ``top``.
    sample : TableSample
        Result of :func:`sample_files`.
    client, progress
        Same as for :func:`sample_files`.

    Returns
    -------
    FilesFit
    """
    top, n_rows = model.top, sum(sample.counts.values())
    fitted = _fit_sample(model, sample, n_rows)
    with Passes(client, progress) as passes:
        tasks = passes.each(_encode_file, sample.files, state=(fitted, sample.encoding))
        width = len(fitted.pipeline[0].get_feature_names_out())
        X = _lazy_array(passes.each(_column, tasks, state=0), (width,), np.float64)
        y = _lazy_array(passes.each(_column, tasks, state=1), (), bool)
        ranking = AUCClassifier(
            max_fpr=model.max_fpr,
            random_state=model.random_state,
            verbose=progress is not None,
            client=client,
        )
        ranking.fit(X, y)
        scores = ranking.decision_function(X)
        area = auc_interval(y, scores, client=client)
        threshold, note = fitted.threshold, model.fit_.threshold_note
        if top is not None and threshold is not None:
            point = choose_threshold(y, scores, top=top, client=client)
            threshold = point.threshold
            note = f"Scores of at least {threshold:.4g} are predicted positive: the "
            note += f"{top:,} highest of all {n_rows:,} rows."
    steps = [("columns", fitted.pipeline[0]), ("ranking", ranking.to_local())]
    fitted = replace(fitted, pipeline=Pipeline(steps), threshold=threshold)
    model.fit_ = replace(
        model.fit_,
        model=fitted,
        threshold_note=note,
        coefficients=fitted.coefficients(sample.frame),
    )
    model._set_model(fitted)
    return FilesFit(area, ranking.n_passes_)


def _fit_sample(model: TableClassifier, sample: TableSample, n_rows: int) -> TableModel:
    """Fit a classifier to the sample, with a number of top rows in proportion."""
    top = model.top
    if top is not None:
        share = top / n_rows
        model.set_params(top=max(round(share * sample.frame.height), 1))
    model.fit(sample.frame, sample.label)
    model.set_params(top=top)
    if top is None:
        return model.model_
    return replace(model.model_, parameters={**model.model_.parameters, "top": top})


def evaluate_files(
    model: TableModel,
    files: Sequence[str],
    label: str | None = None,
    *,
    groups: str | None = None,
    sample_weight: str | None = None,
    targets: ThresholdTargets | None = None,
    client: Client | None = None,
    progress: Progress | None = None,
) -> TableEvaluation:
    """Evaluate a model on the labeled rows of several files.

    Parameters
    ----------
    model : TableModel
        Fitted model, such as ``TableClassifier.model_``.
    files : list of str
        Names of the files, which all workers can read.
    label, groups, sample_weight : str, optional
        Columns of labels (by default that of the fit), groups and weights.
    targets : ThresholdTargets, optional
        Targets of thresholds.
    client, progress
        Same as for :func:`sample_files`.

    Returns
    -------
    TableEvaluation
    """
    targets = ThresholdTargets() if targets is None else targets
    if groups is not None and targets.given.keys() - {"top"}:
        raise ValueError(
            "targets must not be combined with groups on Dask, got both: thresholds by "
            "group are chosen in memory (engine memory)."
        )
    name = label or model.label
    state = (model, name, groups, sample_weight)
    kinds = {"scores": np.float64, "y": bool, "groups": object, "sample_weight": float}
    with Passes(client, progress) as passes:
        # Kept, so that files are read and scored once for all columns.
        tasks = passes.each(ReturnInvalid(_score_file), files, state=state)
        tasks = passes.keep(tasks)
        sizes = passes.results("scoring", passes.each(ReturnInvalid(_count), tasks))
        columns: dict[str, Any] = {
            kind: _lazy_array(passes.each(_column, tasks, state=k), (), dtype)
            for k, (kind, dtype) in enumerate(kinds.items())
            if kind in ("scores", "y") or state[k] is not None
        }
        area = auc_interval(**columns, client=client)
        partial = None
        if targets.max_fpr is not None:
            partial = auc_interval(**columns, max_fpr=targets.max_fpr, client=client)
        points = _points(columns["y"], columns["scores"], targets, area, client)
    n_positive, n_negative = (int(n) for n in np.sum(sizes, axis=0))
    known = KnownLabels(name, model.positive, model.negative, n_positive, n_negative)
    return TableEvaluation(known, area, partial, targets, tuple(points), area.n_groups)


def check_same_columns(name: str, columns: list[str], first: list[str]) -> None:
    """Raise unless a file has the columns of the first one."""
    if columns != first:
        raise ValueError(
            f"{name!r} must have the columns of the first file, {listed(first)}, got "
            f"{listed(columns)}."
        )


def _points(
    y: Any, scores: Any, targets: ThresholdTargets, area: AUCInterval, client: Any
) -> list[NamedPoint]:
    """Choose a threshold for each target, as is done in memory."""

    def choose(one: ThresholdTargets, confidence: float | None) -> OperatingPoint:
        return choose_threshold(y, scores, **asdict(one), confidence=confidence, client=client)

    n_positives, n_negatives = area.n_positives or 0, area.n_negatives or 0
    count = partial(point_counts, n_positives=n_positives, n_negatives=n_negatives)
    return points_for_targets(targets, choose, count)


def _lazy_array(tasks: list[Any], width: tuple[int, ...], dtype: Any) -> da.Array:
    # The number of rows of a file is known only after it has been read.
    blocks = [da.from_delayed(one, (np.nan, *width), dtype=dtype) for one in tasks]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def _column(columns: tuple[Any, ...], k: int) -> Any:
    return columns[k]


def _sample_file(
    name: str, state: tuple[str, set[str], str | None, int]
) -> tuple[pl.DataFrame, Counter[str]]:
    """Return evenly spaced rows of a file, and the count of each label in all rows."""
    label, text, encoding, n_rows = state
    table = read_table(name, text=text, encoding=encoding)
    counts = label_text(column(table, label, "label")).value_counts()
    row = np.linspace(0, table.height, min(n_rows, table.height), endpoint=False)
    return table[row.astype(np.int64)], Counter(dict(counts.iter_rows()))


def _encode_file(name: str, state: tuple[TableModel, str | None]) -> tuple[Any, NDArray[np.bool_]]:
    # As for the sample: a file in which all values of a column look like numbers must
    # be read like the others.
    model, encoding = state
    table = read_table(name, text=model.text, codes=model.codes, encoding=encoding)
    labels = label_text(column(table, model.label, "label"))
    X = model.pipeline[0].transform(model.frame(table))
    return X, (labels == model.positive).to_numpy()


def _score_file(
    name: str, state: tuple[TableModel, str, str | None, str | None]
) -> tuple[Any, ...]:
    model, label, groups, weight = state
    table = read_table(name, text=model.text, codes=model.codes)
    # A file may contain one class only, but no third label.
    series = column(table, label, "label")
    is_positive = known_positives(series, model.positive, model.negative)
    group = None if groups is None else column(table, groups, "group").to_numpy()
    each = None if weight is None else column(table, weight, "weight").to_numpy()
    return model.scores(table), is_positive, group, each


def _count(columns: tuple[Any, ...], _: None) -> tuple[int, int]:
    n_positive = int(np.count_nonzero(columns[1]))
    return n_positive, columns[1].size - n_positive
