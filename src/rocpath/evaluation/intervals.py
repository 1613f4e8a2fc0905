"""Confidence intervals of any metric, for any design."""

from typing import Any

from numpy.typing import ArrayLike

from rocpath.evaluation.columns import design_warnings, interval_of, panel_of
from rocpath.evaluation.designs import design_of
from rocpath.evaluation.metrics.names import metric_of
from rocpath.evaluation.results import MetricInterval
from rocpath.sample import Sample
from rocpath.validation import share_between


def interval(
    y: ArrayLike,
    scores: ArrayLike,
    metric: Any = "auc",
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    positive: Any = None,
) -> MetricInterval:
    """Compute a metric with its standard error and a confidence interval.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values.
    scores : array-like, shape (n_rows,)
        Scores, larger for rows that are more likely to be positive.
    metric : str or metric
        "auc", "average_precision", "brier", or an object of ``rocpath.metrics``.

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6])
    AUC 0.889 (95% CI 0.305 to 0.990), 3 positives, 3 negatives
    """
    sample = Sample.from_outcome(y, groups=groups, sample_weight=sample_weight, positive=positive)
    column = {"scores": sample.scores("scores", scores)}
    design = design_of([panel_of(metric_of(metric), sample, column)])
    warnings = design_warnings(sample)
    return interval_of(design, 0, share_between("confidence", confidence), warnings)
