"""Comparison of modalities that several readers use to rate the same cases."""

from itertools import combinations
from typing import Any

import numpy as np
from scipy import special

from rocpath.evaluation.comparison_results import MetricDifference
from rocpath.evaluation.comparisons import checked_margin
from rocpath.evaluation.designs import design_of
from rocpath.evaluation.designs.readers import FixedFactor, ReaderDesign
from rocpath.evaluation.influence import Variance
from rocpath.evaluation.metrics.metric import column_of
from rocpath.evaluation.metrics.names import metric_of
from rocpath.evaluation.metrics.scales import t_quantile
from rocpath.evaluation.pair_tests import holm
from rocpath.evaluation.reader_ratings import ReaderRatings
from rocpath.evaluation.reader_results import ReaderComparison
from rocpath.evaluation.results import MetricInterval
from rocpath.sample import Sample
from rocpath.validation import one_of, share_between


def compare_readers(
    y: Any,
    ratings: Any,
    *,
    metric: Any = "auc",
    fixed: FixedFactor = None,
    confidence: float = 0.95,
    margin: float | None = None,
    positive: Any = None,
    modality: str = "modality",
    reader: str = "reader",
    case: str = "case",
    rating: str = "rating",
) -> ReaderComparison:
    """Compare modalities whose cases were rated by several readers.

    The method is that of Obuchowski and Rockette (1995) with the degrees of freedom of
    Hillis (2007). By default, the conclusions hold for the populations of readers and of
    cases. The design must be factorial: all readers rate all cases with all modalities.

    Parameters
    ----------
    y : array-like, shape (n_cases,), or str
        Labels of the cases, or the name of their column if ``ratings`` is a data frame.
    ratings : array-like, shape (n_modalities, n_readers, n_cases), dict, or data frame
        Ratings of the cases, larger for cases that are more likely to be positive; a
        dict of modalities, each of shape (n_readers, n_cases); or a data frame with one
        row for each rating.
    metric : str or metric
        As in :func:`interval`, such as "auc", ``rp.metrics.PartialAUC(max_fpr=0.2)`` or
        ``rp.metrics.AtThreshold("sensitivity", 3)``.
    fixed : {"readers", "cases"}, optional
        Factor that the conclusions are not generalized over. With "readers", they hold
        for these readers and the population of cases; with "cases", for these cases and
        the population of readers.
    confidence : float
        Nominal coverage of the intervals.
    margin : float, optional
        Positive margin for tests of non-inferiority and equivalence.
    positive : label, optional
        Positive label; by default the larger one.
    modality, reader, case, rating : str
        Names of the columns of a data frame.

    Returns
    -------
    ReaderComparison

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> signal = 0.7 * y + rng.normal(size=60)
    >>> ratings = {
    ...     name: [signal + noise * rng.normal(size=60) for reader in range(4)]
    ...     for name, noise in (("CT", 0.5), ("X-ray", 1.5))
    ... }
    >>> result = rp.compare_readers(y, ratings)
    >>> result.values.shape
    (2, 4)
    >>> bool(result.low < result.difference < result.high)
    True
    """
    names = {"modality": modality, "reader": reader, "case": case}
    study = ReaderRatings.from_arguments(y, ratings, names, rating)
    fixed = one_of("fixed", fixed, ("readers", "cases", None))
    sample = Sample.from_labels(study.label, positive=positive)
    design = reader_design(sample, study, metric_of(metric), fixed)
    settings = share_between("confidence", confidence), checked_margin(margin)
    return _comparison(design, study, sample, metric_of(metric), *settings)


def reader_design(
    sample: Sample, study: ReaderRatings, metric: Any, fixed: FixedFactor
) -> ReaderDesign:
    """Compute the metric for each modality and reader, and all covariances."""
    if metric.outcome != sample.outcome:
        raise ValueError(f"metric must be one of labels, got {metric.name}.")
    shape = study.rating.shape[:2]
    columns = [
        column_of(metric, sample, rating) for rating in study.rating.reshape(-1, len(sample))
    ]
    value = np.array([column.value for column in columns]).reshape(shape)
    rows = design_of([columns])
    of_modality = np.kron(np.eye(shape[0]), np.ones(shape[1]) / shape[1])
    freedom = np.array([rows.variance(contrast).freedom for contrast in of_modality])
    return ReaderDesign(value, rows.matrix.reshape(shape + shape), freedom, fixed)


def _comparison(
    design: ReaderDesign,
    study: ReaderRatings,
    sample: Sample,
    metric: Any,
    confidence: float,
    margin: float | None,
) -> ReaderComparison:
    """Compute the intervals, differences and the overall test of a design."""
    low, high = metric.bounds
    mean = design.value.mean(axis=1)
    intervals = {
        name: _interval(float(mean[k]), design.mean_variance(k), metric, sample, confidence)
        for k, name in enumerate(study.modalities)
    }
    test, variance = design.test(), design.difference_variance
    pairs = list(combinations(range(design.n_modalities), 2))
    adjusted = holm([_p_value(mean[i] - mean[j], variance) for i, j in pairs])
    return ReaderComparison(
        name=metric.name,
        intervals=intervals,
        differences={
            (study.modalities[i], study.modalities[j]): _difference(
                float(mean[i] - mean[j]), variance, high - low, confidence, margin, p
            )
            for (i, j), p in zip(pairs, adjusted, strict=True)
        },
        statistic=test.statistic,
        n_contrasts=test.n_contrasts,
        freedom=test.freedom,
        p_value=test.p_value,
        confidence=confidence,
        margin=margin,
        readers=study.readers,
        design=design,
    )


def _interval(
    value: float, variance: Variance, metric: Any, sample: Sample, confidence: float
) -> MetricInterval:
    """Return the mean of a modality with its interval, symmetric on the logit scale."""
    error, half = _error_and_half(variance, confidence)
    smallest, largest = metric.bounds
    share = (value - smallest) / (largest - smallest)
    low, high = value - half, value + half
    if 0 < share < 1:
        # With few cases, an interval that is symmetric around a mean near 1 is too short.
        width = half / ((largest - smallest) * share * (1.0 - share))
        shares = special.expit(special.logit(share) + np.array([-width, width]))
        low, high = (smallest + (largest - smallest) * shares).tolist()
    return MetricInterval(
        name=metric.name,
        value=value,
        low=max(low, smallest),
        high=min(high, largest),
        standard_error=error,
        confidence=confidence,
        positive=sample.classes[1],
        digits=metric.digits,
        **sample.counts,
    )


def _difference(
    value: float,
    variance: Variance,
    largest: float,
    confidence: float,
    margin: float | None,
    adjusted: float,
) -> MetricDifference:
    """Return the difference of two modalities, with its interval and tests."""
    error, half = _error_and_half(variance, confidence)
    not_inferior = equivalent = None
    if margin is not None:
        not_inferior = _p_value(value + margin, variance, is_one_sided=True)
        equivalent = max(not_inferior, _p_value(margin - value, variance, is_one_sided=True))
    return MetricDifference(
        value=value,
        low=max(value - half, -largest),
        high=min(value + half, largest),
        standard_error=error,
        freedom=variance.freedom,
        p_value=_p_value(value, variance),
        adjusted_p_value=adjusted,
        asymptotic_standard_error=error,
        confidence=confidence,
        margin=margin,
        non_inferiority_p_value=not_inferior,
        equivalence_p_value=equivalent,
    )


def _error_and_half(variance: Variance, confidence: float) -> tuple[float, float]:
    """Return the standard error, and half of the width of the interval."""
    error = float(np.sqrt(variance.value))
    return error, t_quantile(variance.freedom, confidence) * error


def _p_value(excess: float, variance: Variance, *, is_one_sided: bool = False) -> float:
    """Return the p-value of the hypothesis that a difference is zero, or not positive."""
    size = excess if is_one_sided else abs(excess)
    if variance.value > 0:
        tail = float(special.stdtr(variance.freedom, -size / np.sqrt(variance.value)))
    else:
        tail = 0.5 if size == 0 else float(size < 0)
    return tail if is_one_sided else 2.0 * tail
