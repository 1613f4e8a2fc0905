"""Tables in several files, with one partition per file.

Column types, their encoding, the comparison with baselines and the threshold are
determined from a sample of rows from every file. The linear ranking is then fitted to
all rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import polars as pl
from distributed import Client
from sklearn.pipeline import Pipeline

from rocpath.dask.auc_classifier import AUCClassifier
from rocpath.dask.intervals import auc_interval
from rocpath.dask.passes import Passes, ReturnInvalid
from rocpath.dask.progress import progress_line
from rocpath.dask.thresholds import choose_threshold
from rocpath.evaluation.operating_points import OperatingPoint
from rocpath.evaluation.results import AUCInterval
from rocpath.evaluation.threshold_targets import NO_TARGETS, ThresholdTargets, points_for_targets
from rocpath.files.tables import read_table
from rocpath.tables.classifier import TableClassifier
from rocpath.tables.columns import column, concatenate, numbers_of, text_of
from rocpath.tables.dependence import count_known_rows
from rocpath.tables.evaluation import TableEvaluation
from rocpath.tables.labels import KnownLabels, known_positives
from rocpath.tables.model import TableModel
from rocpath.tables.preparation import Roles, warn_of_counts, warn_of_few

_SAMPLE_SIZE = 20_000  # total number of rows from all files


class TableSample(NamedTuple):
    """Sample of the labeled rows of several files.

    Attributes
    ----------
    files : list of str
        File names.
    label : str
        Name of the label column.
    frame : polars.DataFrame
        Evenly spaced rows of every file.
    n_rows : int
        Number of labeled rows in all files.
    encoding : str or None
        Encoding of text files.
    """

    files: Sequence[str]
    label: str
    frame: pl.DataFrame
    n_rows: int
    encoding: str | None


def sample_files(
    files: Sequence[str],
    label: str,
    *,
    text: Iterable[str] = (),
    encoding: str | None = None,
    client: Client | None = None,
    verbose: bool = False,
) -> TableSample:
    """Read all files once, and sample about 20,000 of their rows.

    Parameters
    ----------
    files : list of str
        File names. All workers must be able to read the files.
    label : str
        Name of the label column. Rows without a label are skipped.
    text : list of str
        Columns to read as text, even if their values look like numbers.
    encoding : str, optional
        Encoding of text files.
    client : Client, optional
        Dask client, as for :func:`auc`.
    verbose : bool
        Whether to show progress on standard error.

    Returns
    -------
    TableSample
    """
    # Every file is sampled, because tables are often split into files by date or place.
    given = {"label": label, "n_rows": -(-_SAMPLE_SIZE // len(files))}
    shared = {**given, "options": {"text": set(text), "encoding": encoding}}
    with progress_line(is_shown=verbose) as show, Passes(client, show) as passes:
        found = passes.run("sampling files", ReturnInvalid(_sample_file), files, **shared)
    frames, sizes = zip(*found, strict=True)
    frame = concatenate(dict(zip(files, frames, strict=True)))
    return TableSample(files, label, frame, sum(sizes), encoding)


def fit_files(
    model: TableClassifier,
    sample: TableSample,
    *,
    client: Client | None = None,
    verbose: bool = False,
) -> None:
    """Fit a classifier to the sample, and its linear ranking to the rows of all files.

    The AUC on all rows is stored in ``model.fit_.all_rows``.

    Parameters
    ----------
    model : TableClassifier
        Classifier with ``model="linear"``, which is fitted in place. Its comparison
        with baselines, its report and its threshold are computed from the sample; only
        the threshold for ``top`` is computed from all rows.
    sample : TableSample
        Result of :func:`sample_files`.
    client, verbose
        Same as for :func:`sample_files`.
    """
    fitted = _fit_sample(model, sample)
    with Passes(client) as passes:
        given = {"model": fitted, "encoding": sample.encoding}
        tasks = passes.each(ReturnInvalid(_encode_file), sample.files, **given)
        X = _lazy_array(passes, tasks, "X", len(fitted.pipeline[0].get_feature_names_out()))
        y = _lazy_array(passes, tasks, "y")
        settings: dict[str, Any] = {"max_fpr": model.max_fpr, "random_state": model.random_state}
        ranking = AUCClassifier(**settings, verbose=verbose, client=client).fit(X, y)
        scores = ranking.decision_function(X)
        area = auc_interval(y, scores, client=client)
        threshold, note = fitted.threshold, model.fit_.threshold_note
        if model.top is not None and threshold is not None:
            threshold = choose_threshold(y, scores, top=model.top, client=client).threshold
            note = (
                f"Scores of at least {threshold:.4g} are predicted positive: the "
                f"{model.top:,} highest of all {sample.n_rows:,} rows."
            )
    steps = [("columns", fitted.pipeline[0]), ("ranking", ranking.to_local())]
    fitted = replace(fitted, pipeline=Pipeline(steps), threshold=threshold)
    model.fit_ = replace(
        model.fit_,
        model=fitted,
        threshold_note=note,
        coefficients=fitted.coefficients(sample.frame),
        all_rows=_summary(area, sample) | {"n_passes": ranking.n_passes_},
    )
    model._set_model(fitted)


def _summary(area: AUCInterval, sample: TableSample) -> dict[str, Any]:
    return {
        "n_positive": area.n_positives,
        "n_negative": area.n_negatives,
        "auc_of_training_rows": area.value,
        "low": area.low,
        "high": area.high,
        "n_files": len(sample.files),
        "n_sampled_rows": sample.frame.height,
    }


def _fit_sample(model: TableClassifier, sample: TableSample) -> TableModel:
    """Fit a classifier to the sample, with ``top`` scaled to the sample size."""
    top = model.top
    if top is None:
        return model.fit(sample.frame, sample.label).model_
    share = top / sample.n_rows
    model.set_params(top=max(round(share * sample.frame.height), 1))
    fitted = model.fit(sample.frame, sample.label).model_
    model.set_params(top=top)
    return replace(fitted, parameters={**fitted.parameters, "top": top})


def evaluate_files(
    model: TableModel,
    files: Sequence[str],
    label: str | None = None,
    *,
    groups: str | None = None,
    sample_weight: str | None = None,
    targets: ThresholdTargets = NO_TARGETS,
    client: Client | None = None,
    verbose: bool = False,
) -> TableEvaluation:
    """Evaluate a model on the labeled rows of several files.

    Parameters
    ----------
    model : TableModel
        Fitted model, such as ``TableClassifier.model_``.
    files : list of str
        File names. All workers must be able to read the files.
    label, groups, sample_weight : str, optional
        Names of the columns of labels, groups and weights. The default label column is
        that of the fit.
    targets : ThresholdTargets, optional
        Constraints on the chosen thresholds.
    client, verbose
        Same as for :func:`sample_files`.

    Returns
    -------
    TableEvaluation
    """
    roles = Roles(label or model.label, groups, None, sample_weight)
    with progress_line(is_shown=verbose) as show, Passes(client, show) as passes:
        # Results are kept, so that each file is read and scored only once.
        tasks = passes.each(ReturnInvalid(_score_file), files, model=model, roles=roles)
        tasks = passes.keep(tasks)
        sizes = passes.run("scoring files", ReturnInvalid(_column), tasks, name="counts")
        given = {"groups": groups, "sample_weight": sample_weight}
        names = ["y", "scores", *(name for name, one in given.items() if one is not None)]
        columns: dict[str, Any] = {name: _lazy_array(passes, tasks, name) for name in names}
        area = auc_interval(**columns, client=client)
        partial = None
        if targets.max_fpr is not None:
            partial = auc_interval(**columns, max_fpr=targets.max_fpr, client=client)
        # `choose_threshold` supports either weights or groups.
        if sample_weight is not None:
            columns.pop("groups", None)

        def choose(one: ThresholdTargets, confidence: float | None) -> OperatingPoint:
            options = {**asdict(one), "confidence": confidence, "client": client}
            return choose_threshold(**columns, **options)

        unit = "rows" if groups is None else "groups"
        points = tuple(points_for_targets(targets, choose, unit))
    n_positive, n_negative, n_unlabeled, n_known = np.sum(sizes, axis=0).tolist()
    known = KnownLabels(roles.y, model.positive, model.negative, n_positive, n_negative)
    n_labeled = n_positive + n_negative
    warnings = (
        *warn_of_counts(n_labeled + n_unlabeled, n_unlabeled=n_unlabeled),
        *warn_of_counts(n_labeled, n_known=n_known),
        *warn_of_few(known),
    )
    return TableEvaluation(known, area, partial, targets, points, area.n_groups, warnings)


_DTYPES = {"X": float, "y": bool, "scores": float, "groups": object, "sample_weight": float}


def _lazy_array(passes: Passes, tasks: list[Any], name: str, *width: int) -> da.Array:
    """Return one column from the results of all tasks as a Dask array."""
    # The number of rows of a file is known only after it has been read.
    blocks = [
        da.from_delayed(one, (np.nan, *width), dtype=_DTYPES[name])
        for one in passes.each(ReturnInvalid(_column), tasks, name=name)
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def _column(columns: dict[str, Any], name: str) -> Any:
    return columns[name]


def _sample_file(
    name: str, label: str, n_rows: int, options: dict[str, Any]
) -> tuple[pl.DataFrame, int]:
    """Return evenly spaced labeled rows of a file, and its number of labeled rows."""
    table = _labeled_rows(read_table(name, **options), label)
    row = np.linspace(0, table.height, min(n_rows, table.height), endpoint=False)
    return table[row.astype(np.int64)], table.height


def _encode_file(name: str, model: TableModel, encoding: str | None) -> dict[str, Any]:
    # Column types are those of the sample, because a text column may look numeric in a
    # single file.
    table = read_table(name, text=model.text, codes=model.codes, encoding=encoding)
    table = _labeled_rows(table, model.label)
    # Labels that are not in the sample raise an error.
    is_positive = known_positives(table[model.label], model.positive, model.negative)
    encoder = model.pipeline[0]
    # scikit-learn's transformers do not accept a table without rows.
    X = np.zeros((0, len(encoder.get_feature_names_out())))
    if table.height:
        X = encoder.transform(model.frame(table))
    return {"X": X, "y": is_positive}


def _labeled_rows(table: pl.DataFrame, label: str) -> pl.DataFrame:
    return table.filter(text_of(column(table, label, "label")).is_not_null())


def _score_file(name: str, model: TableModel, roles: Roles) -> dict[str, Any]:
    """Score the labeled rows of a file, and return their columns and counts.

    The counts are the numbers of positives, negatives, unlabeled rows and rows that are
    also in the training data.
    """
    whole = read_table(name, text=model.text, codes=model.codes)
    table = _labeled_rows(whole, roles.y)
    given = roles.read(table)
    # A file may contain a single class, but no labels other than those of the model.
    is_positive = known_positives(given.y, model.positive, model.negative)
    n_positive = int(np.count_nonzero(is_positive))
    n_known = count_known_rows(model.frame(table), is_positive, model.row_hashes)
    n_unlabeled = whole.height - table.height
    weight = given.sample_weight
    return {
        "y": is_positive,
        "scores": model.scores(table) if table.height else np.zeros(0),
        "groups": None if given.groups is None else given.groups.to_numpy(),
        "sample_weight": None if weight is None else numbers_of(weight, may_miss=False).to_numpy(),
        "counts": (n_positive, table.height - n_positive, n_unlabeled, n_known),
    }
