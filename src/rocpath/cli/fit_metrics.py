"""The file metrics.json of a changepoint fit."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocpath.changepoint import LearnedDetector
    from rocpath.cli.sequence_files import LabeledTable


def fit_metrics(detector: LearnedDetector, known: LabeledTable, source: str) -> str:
    """Return the settings and the cross-validated label errors as JSON."""
    evaluation, comparison = detector.evaluation_, detector.comparison_
    settings = detector.get_params(deep=False)
    metrics = {
        "source": source,
        "n_sequences": detector.n_labeled_,
        "n_labels": detector.n_labels_,
        "n_folds": comparison.n_folds,
        "n_groups": evaluation.problem.n_groups,
        **{k: v for k, v in settings.items() if k not in ("regressor", "search")},
        "columns": known.metadata,
        "headline": detector.headline(),
        "fewest_label_errors": evaluation.fewest_errors,
        "methods": {
            one.name: {**asdict(one), "auc": evaluation.roc[one.name].auc}
            for one in comparison.scores
        },
        "skipped": [one._asdict() for one in known.table.skipped],
    }
    return json.dumps(metrics, indent=2) + "\n"
