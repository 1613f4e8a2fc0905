"""From arguments to columns: a metric of each score of a validated sample."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rocpath.evaluation.designs import Design
from rocpath.evaluation.designs.groups import n_effective_groups
from rocpath.evaluation.metrics.auc import AUC
from rocpath.evaluation.metrics.metric import Column, column_of
from rocpath.evaluation.results import AUCInterval, MetricInterval
from rocpath.sample import Sample
from rocpath.validation import Floats, check_masked

_MIN_GROUPS = 6  # effective number of groups from which intervals were valid in simulations


def panel_of(metric: Any, sample: Sample, scores: Mapping[str, Floats]) -> list[Column]:
    """Return a column for each score of a sample."""
    if metric.outcome != sample.outcome:
        needed = {"labels": "labels of two classes", "survival": "a rocpath.Survival"}
        raise ValueError(
            f"y must be {needed[metric.outcome]} for the metric {metric.name!r}, got "
            f"{needed[sample.outcome]}."
        )
    columns = [column_of(metric, sample, score) for score in scores.values()]
    for name, column in zip(scores, columns, strict=True):
        if not np.isfinite(column.value):
            raise ValueError(
                f"{metric.name} must be defined for scores {name!r}, got no rows to count."
            )
    return columns


def named_scores(sample: Sample, scores: Any) -> dict[str, Floats]:
    """Return validated columns by name; errors name the invalid column."""
    check_masked("scores", scores)
    if not isinstance(scores, Mapping) and not hasattr(scores, "columns"):
        table = np.asarray(scores)
        if table.ndim != 2:
            raise ValueError(f"scores must be two-dimensional, got shape {table.shape}.")
        scores = dict(enumerate(np.ascontiguousarray(table.T)))
    names = list(getattr(scores, "columns", scores))
    if len(names) < 2:
        raise ValueError(f"scores must have at least two columns, got {len(names)}.")
    return {str(name): sample.scores(f"scores {str(name)!r}", scores[name]) for name in names}


def interval_of(
    design: Design, index: int, confidence: float, warnings: Sequence[str] = ()
) -> MetricInterval:
    """Return the interval of one column."""
    column = design.columns[index]
    metric, sample = column.metric, column.sample
    contrast = np.zeros(len(design.columns))
    contrast[index] = 1.0
    variance = design.variance(contrast)
    center = float(design.center[index])
    low, high = metric.scale.limits(column, center, variance, confidence)
    error = getattr(column, "standard_error", None)
    fields: dict[str, Any] = {
        "name": metric.name,
        "value": float(column.value),
        "low": float(low),
        "high": float(high),
        "confidence": confidence,
        "standard_error": float(np.sqrt(variance.value)) if error is None else error,
        "positive": sample.classes[1],
        "digits": metric.digits,
        "warnings": tuple(warnings),
        **sample.counts,
    }
    if isinstance(column.metric, AUC):
        limit = column.metric.max_fpr
        return AUCInterval(**fields, max_fpr=limit if limit < 1 else None)
    return MetricInterval(**fields)


def design_warnings(sample: Sample) -> tuple[str, ...]:
    """Return the reasons for which the design makes intervals doubtful."""
    if sample.unit is None:
        return ()
    n_groups = n_effective_groups(sample)
    if n_groups >= _MIN_GROUPS:
        return ()
    return (f"intervals and tests need about {_MIN_GROUPS} effective groups, got {n_groups:.1f}.",)
