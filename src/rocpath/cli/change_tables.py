"""Results of changepoint commands: tables of changes and sequences, and metrics."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rocpath.cli.sequence_tables import MEANS, NOTE, WORTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocpath.changepoint import ChangeWorth, LearnedDetector, Segmentation
    from rocpath.cli.sequence_tables import SequenceTable


def changes_table(
    table: SequenceTable, found: Sequence[Segmentation], worth: Sequence[ChangeWorth]
) -> pl.DataFrame:
    """List the changes: their positions, the means before and after, and their worth.

    A skipped sequence has one row with a note, to distinguish it from a sequence
    without changes.
    """
    sequence = table.options.sequence or "sequence"
    position = table.options.position or "position"
    first = table.sequences[0]
    # Of common changes, the means of each column.
    means = [f"{name}_{side}" for name in first.columns for side in ("before", "after")] or MEANS
    rows: list[dict[str, Any]] = []
    for one, model, own in zip(table.sequences, found, worth, strict=True):
        for k, change in enumerate(model.changes.tolist()):
            values = np.ravel(np.column_stack((model.mean[k], model.mean[k + 1]))).tolist()
            row = {sequence: one.name, position: one.written[change]}
            row |= {name: float(getattr(own, name)[k]) for name in WORTH}
            rows.append(row | dict(zip(means, values, strict=True)))
    rows += [{sequence: one.sequence, NOTE: one.note} for one in table.skipped]
    numbers = dict.fromkeys([*means, *WORTH], pl.Float64)
    schema: dict[str, Any] = {
        sequence: pl.String,
        position: first.written.dtype,
        **numbers,
        NOTE: pl.String,
    }
    changes = pl.DataFrame(rows, schema=schema).with_columns(pl.col(WORTH).fill_nan(None))
    # Numbers of a CSV file are text here, so that they stay as they are written.
    number = changes[position].cast(pl.Int64, strict=False)
    if number.cast(pl.String).eq_missing(changes[position].cast(pl.String)).all():
        changes = changes.with_columns(number)
    return changes


def summary_table(table: SequenceTable, found: Sequence[Segmentation]) -> pl.DataFrame:
    """List the length, penalty and number of changes of each sequence."""
    sequence = table.options.sequence or "sequence"
    rows: list[dict[str, Any]] = [
        {sequence: one.name, "n_observations": len(one.value), "penalty": model.penalty}
        | {"n_changes": model.n_changes}
        for one, model in zip(table.sequences, found, strict=True)
    ]
    rows += [{sequence: one.sequence, NOTE: one.note} for one in table.skipped]
    numbers = {"n_observations": pl.Int64, "penalty": pl.Float64, "n_changes": pl.Int64}
    return pl.DataFrame(rows, schema={sequence: pl.String, **numbers, NOTE: pl.String})


def detection_summary(found: Sequence[Segmentation], penalty: float | None) -> str:
    """Return the numbers of changes and sequences, in a sentence."""
    n_changes = sum(one.n_changes for one in found)
    rule = "default of each sequence" if penalty is None else f"{penalty:g}"
    return f"{n_changes:,} changes, {len(found):,} sequences; penalty: {rule}."


def fit_metrics(detector: LearnedDetector, table: SequenceTable) -> str:
    """Return the settings and the cross-validated label errors as JSON."""
    evaluation, comparison = detector.evaluation_, detector.comparison_
    settings = detector.get_params(deep=False)
    metrics = {
        "source": table.options.shown_name,
        "n_sequences": detector.n_labeled_,
        "n_labels": detector.n_labels_,
        "n_folds": comparison.n_folds,
        "n_groups": evaluation.problem.n_groups,
        **{k: v for k, v in settings.items() if k not in ("regressor", "search")},
        "columns": table.options.columns,
        "headline": detector.headline(),
        "fewest_label_errors": evaluation.fewest_errors,
        "methods": {
            one.name: {**asdict(one), "auc": evaluation.roc[one.name].auc}
            for one in comparison.scores
        },
        "skipped": [one._asdict() for one in table.skipped],
    }
    return json.dumps(metrics, indent=2) + "\n"
