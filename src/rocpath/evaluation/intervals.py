"""Confidence intervals of any metric, for any design."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from rocpath.evaluation.columns import Arguments, interval_of
from rocpath.evaluation.designs import design_of
from rocpath.evaluation.metrics.partial_auc import PartialAUC
from rocpath.evaluation.results import AUCInterval, MetricInterval
from rocpath.evaluation.subgroups import with_subgroups
from rocpath.search.partial_auc import checked_region
from rocpath.validation import share_between


def interval(
    y: Any,
    scores: ArrayLike,
    metric: Any = "auc",
    *,
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    by: ArrayLike | None = None,
    confidence: float = 0.95,
    positive: Any = None,
    weighting: Literal["pairs", "rows", "equal"] = "pairs",
    population: Literal["these", "like these"] | None = None,
    multi_class: Literal["ovr", "ovo"] = "ovr",
    average: Literal["macro", "weighted"] = "macro",
) -> MetricInterval:
    """Compute a metric with its standard error and a confidence interval.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values, or with more if ``scores`` has one
        column per class.
    scores : array-like, shape (n_rows,) or (n_rows, n_classes)
        Scores, larger for rows that are more likely to be positive. Columns are in the
        sorted order of the classes.
    metric : str or metric
        "auc", "average_precision", "brier", or an object of ``rocpath.metrics`` such as
        ``rocpath.metrics.TPRAtFPR(0.05)``.
    groups : array-like, shape (n_rows,), optional
        Group of each row, such as a patient. Rows of one group may depend on each
        other in any way; groups are independent. Without groups, all rows are assumed
        to be independent.
    strata : array-like, shape (n_rows,), optional
        Stratum of each row, such as a user or a site. The metric is computed within
        each stratum and averaged; strata with one class are skipped.
    sample_weight : array-like, shape (n_rows,), optional
        Non-negative weight of each row, for samples drawn with unequal probabilities.
        Only relative weights matter: a weight of 2 does not represent two rows.
    by : array-like, shape (n_rows,), optional
        Subgroup of each row. The result then also has the interval of each subgroup, a
        test of equal values, and the largest gap with a simultaneous interval.
    confidence : float
        Nominal coverage of the interval.
    positive : label, optional
        Positive class; by default, the larger of the two labels.
    weighting : {"pairs", "rows", "equal"}
        Weights of the strata: their numbers of pairs of a positive and a negative, their
        numbers of rows, or equal weights.
    population : {"these", "like these"}, optional
        Strata for which the interval holds: those of the sample, whose rows were
        sampled, or a population from which the strata were sampled. By default, it holds
        for strata like these if there are at least ten and no groups.
    multi_class : {"ovr", "ovo"}
        Values to average if there are several classes: of each class against the rest,
        or of each pair of classes (Hand and Till).
    average : {"macro", "weighted"}
        Weights of these values: equal, or proportional to the number of rows.

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> import rocpath as rp
    >>> y, scores = [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]
    >>> rp.interval(y, scores)
    AUC 0.889 (95% CI 0.305 to 0.990), 3 positives, 3 negatives
    >>> rp.interval(y, scores, "average_precision").value
    0.9166666666666666
    """
    arguments = Arguments.from_arguments(
        y,
        metric=metric,
        groups=groups,
        strata=strata,
        sample_weight=sample_weight,
        positive=positive,
        weighting=weighting,
        population=population,
        multi_class=multi_class,
        average=average,
        is_multiclass=np.ndim(scores) == 2,
    )
    confidence = share_between("confidence", confidence)
    columns = {"scores": arguments.score("scores", scores)}
    result = interval_of(design_of([arguments.panel(columns)]), 0, confidence, arguments)
    return result if by is None else with_subgroups(result, arguments, columns, by, confidence)


def auc_interval(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    by: ArrayLike | None = None,
    weighting: Literal["pairs", "rows", "equal"] = "pairs",
    population: Literal["these", "like these"] | None = None,
    multi_class: Literal["ovr", "ovo"] = "ovr",
    average: Literal["macro", "weighted"] = "macro",
    positive: Any = None,
) -> AUCInterval:
    """Compute an AUC with its standard error and a confidence interval.

    This is :func:`interval` for the AUC or a partial AUC. The interval consists of the
    AUC values that the score test does not reject, with the standard error expected at
    each value, like Wilson's interval for a proportion.

    Parameters
    ----------
    y, scores
        Labels and scores, as in :func:`interval`. Ties count one half.
    confidence : float
        Nominal coverage of the interval.
    max_fpr, min_tpr : float, optional
        Limits of the false and the true positive rate. The value is then the partial
        AUC, such as between 0 and ``max_fpr``.
    sample_weight, groups, strata, by, weighting, population, multi_class, average, positive
        As in :func:`interval`.

    Returns
    -------
    AUCInterval

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6])
    AUC 0.889 (95% CI 0.305 to 0.990), 3 positives, 3 negatives
    >>> patient = ["a", "a", "b", "b", "c", "c"]
    >>> rp.auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], groups=patient).n_groups
    3
    """
    result = interval(
        y,
        scores,
        auc_metric(max_fpr, min_tpr),
        groups=groups,
        strata=strata,
        sample_weight=sample_weight,
        by=by,
        confidence=confidence,
        positive=positive,
        weighting=weighting,
        population=population,
        multi_class=multi_class,
        average=average,
    )
    assert isinstance(result, AUCInterval)
    return result


def auc_metric(max_fpr: float | None, min_tpr: float | None = None) -> Any:
    """Return the metric of a region: the AUC, or a partial AUC."""
    region: Any = checked_region("scores", True, max_fpr, min_tpr)
    return "auc" if region == {"max_fpr": 1.0, "min_tpr": 0.0} else PartialAUC(**region)
