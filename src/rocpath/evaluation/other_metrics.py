"""Intervals for metrics that are reported alongside the AUC."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rocpath.evaluation.influence import unit_variance
from rocpath.evaluation.operating_points import RankedRows
from rocpath.evaluation.rate_bounds import smallest_root
from rocpath.evaluation.results import MetricInterval
from rocpath.sample import Sample
from rocpath.validation import Floats, check_none, share_between, whole_number

_NODES = 64  # nodes of the quadrature over the false positive rate of the threshold
_LARGEST_SLOPE = 3.0  # upper limit for the estimated slope of a ROC curve on probit scales


def tpr_at_fpr(
    y: ArrayLike, scores: ArrayLike, fpr: float, *, confidence: float = 0.95, positive: Any = None
) -> MetricInterval:
    """Compute the true positive rate at a false positive rate, with its interval.

    The threshold is estimated from the negatives, and the interval accounts for its
    uncertainty: the binomial distribution of the number of positives above it is
    averaged over the Beta distribution of its true false positive rate, using the local
    slope of the ROC curve on probit scales.

    Parameters
    ----------
    y, scores, confidence, positive
        As in :func:`auc_interval`.
    fpr : float
        False positive rate, in (0, 1).

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> y = np.arange(200) % 2
    >>> rp.tpr_at_fpr(y, np.arange(200) + 60 * y, fpr=0.1)
    TPR at 10% FPR 0.410 (95% CI 0.294 to 0.523), 100 positives, 100 negatives
    """
    sample = Sample.from_labels(y, positive=positive)
    rows = RankedRows.of(sample.is_positive, sample.scores("scores", scores))
    limits = _tpr_limits(rows, share_between("fpr", fpr), confidence)
    return _interval(sample, f"TPR at {100 * fpr:g}% FPR", limits, confidence)


def fpr_at_tpr(
    y: ArrayLike, scores: ArrayLike, tpr: float, *, confidence: float = 0.95, positive: Any = None
) -> MetricInterval:
    """Compute the false positive rate at a true positive rate, with its interval.

    The method is that of :func:`tpr_at_fpr`, with the classes exchanged.

    Parameters
    ----------
    y, scores, confidence, positive
        As in :func:`auc_interval`.
    tpr : float
        True positive rate, in (0, 1).

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> y = np.arange(200) % 2
    >>> rp.fpr_at_tpr(y, np.arange(200) + 60 * y, tpr=0.9)
    FPR at 90% TPR 0.590 (95% CI 0.477 to 0.706), 100 positives, 100 negatives
    """
    sample = Sample.from_labels(y, positive=positive)
    # With the classes exchanged and scores negated, false negatives are false positives.
    rows = RankedRows.of(~sample.is_positive, -sample.scores("scores", scores))
    tnr, low, high = _tpr_limits(rows, 1.0 - share_between("tpr", tpr), confidence)
    limits = 1.0 - tnr, 1.0 - high, 1.0 - low
    return _interval(sample, f"FPR at {100 * tpr:g}% TPR", limits, confidence)


def _interval(
    sample: Sample, name: str, limits: tuple[float, float, float], confidence: float
) -> MetricInterval:
    value, low, high = limits
    return MetricInterval(
        name=name, value=value, low=low, high=high, confidence=confidence, **sample.counts
    )


def _tpr_limits(rows: RankedRows, fpr: float, confidence: float) -> tuple[float, float, float]:
    """Return the true positive rate at a false positive rate, and its limits."""
    n_above = int(np.floor(rows.n_negative * fpr * (1.0 + 1e-12)))
    index = int(np.searchsorted(rows.fp, n_above, side="right")) - 1
    count, n_positive = int(rows.tp[index]), rows.n_positive
    # The threshold is just above the next negative, whose FPR has a Beta distribution.
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    at = special.betaincinv(n_above + 1.0, max(rows.n_negative - n_above, 1), 0.5 * (node + 1.0))
    shift = _local_slope(rows, fpr) * (special.ndtri(at) - special.ndtri(fpr))

    def limit(probability: float) -> float:
        def exceeds(probit: float) -> bool:
            rate = special.ndtr(probit + shift)
            # Mid-p value: the observed count contributes half of its probability.
            tails = special.bdtrc([[count - 1], [count]], n_positive, rate)
            return bool(weight @ tails.mean(axis=0) >= 2.0 * probability)

        return float(special.ndtr(smallest_root(exceeds, -9.0, 9.0)))

    missing, value = 0.5 * (1.0 - share_between("confidence", confidence)), count / n_positive
    low = 0.0 if count == 0 else limit(missing)
    high = 1.0 if count == n_positive else limit(1.0 - missing)
    return value, min(low, value), max(high, value)


def _local_slope(rows: RankedRows, fpr: float) -> float:
    """Return the slope of the ROC curve on probit scales near a false positive rate."""
    # Counts are moved away from 0 and from their totals, where probits are infinite.
    x = special.ndtri((rows.fp + 0.5) / (rows.n_negative + 1.0))
    z = special.ndtri((rows.tp + 0.5) / (rows.n_positive + 1.0))
    near = np.abs(x - special.ndtri(fpr)) < 0.75
    spread = float(np.var(x[near])) if near.sum() > 2 else 0.0
    if spread == 0:
        return 1.0
    slope = float(np.cov(x[near], z[near], bias=True)[0, 1]) / spread
    return min(max(slope, 0.0), _LARGEST_SLOPE)


def average_precision_interval(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
    positive: Any = None,
) -> MetricInterval:
    """Compute the average precision with a confidence interval.

    The value equals scikit-learn's ``average_precision_score``, with or without ties.
    The variance is estimated from the influence function, and the interval is symmetric
    on the logit scale.

    Parameters
    ----------
    y, scores, confidence, groups, positive
        As in :func:`auc_interval`.

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.average_precision_interval([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6]).value
    0.9166666666666666
    """
    sample = Sample.from_labels(y, groups=groups, positive=positive)
    score = sample.scores("scores", scores)
    confidence = share_between("confidence", confidence)
    value, influence = average_precision_influence(sample.is_positive, score)
    variance, freedom = unit_variance(influence, sample.unit)
    if variance <= 1e-24 or value >= 1:
        # The variance of a perfect ranking is zero. The lower limit is based on the
        # largest plausible share of positives that score below negatives.
        low, high = (1.0 - confidence) ** (1.0 / sample.counts["n_positives"]), 1.0
    else:
        quantile = float(special.stdtrit(freedom, 0.5 + 0.5 * confidence))
        half = quantile * np.sqrt(variance) / (value * (1.0 - value))
        low, high = special.expit(special.logit(value) + np.array([-half, half])).tolist()
    return _interval(sample, "average precision", (value, low, high), confidence)


def average_precision_influence(
    is_positive: NDArray[np.bool_], score: Floats
) -> tuple[float, Floats]:
    """Return the average precision, and the influence of each row on it."""
    rows = RankedRows.of(is_positive, score)
    n_positive = rows.n_positive
    precision = rows.precision
    tp_here = np.diff(rows.tp, prepend=0)
    value = float(tp_here @ precision) / n_positive
    # A row contributes to the precision at all positives with a lower or equal score: to
    # the denominator and, if it is positive, to the numerator.
    n_predicted = np.maximum(rows.n_predicted, 1)
    numerator = np.cumsum((tp_here / n_predicted)[::-1])[::-1]
    denominator = np.cumsum((tp_here * rows.tp / n_predicted**2.0)[::-1])[::-1]
    index = rows.score.size - 1 - np.searchsorted(rows.score[:0:-1], score)
    influence = is_positive * (precision[index] - value + numerator[index]) - denominator[index]
    return value, influence / n_positive


def bootstrap_interval(
    metric: Callable[[NDArray[Any], Floats], float],
    y: ArrayLike,
    scores: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | None = None,
) -> MetricInterval:
    """Compute any metric with a percentile bootstrap interval.

    Rows are resampled within each class. If rows are grouped, whole groups are
    resampled instead.

    Parameters
    ----------
    metric : callable
        Function ``metric(y, scores)`` that returns a number.
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values.
    scores : array-like, shape (n_rows,)
        Scores to pass to ``metric``.
    groups : array-like, shape (n_rows,), optional
        Group of each row.
    confidence : float
        Nominal coverage of the interval.
    n_resamples : int
        Number of bootstrap samples.
    random_state : int, optional
        Seed of the random number generator.

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> from sklearn.metrics import roc_auc_score
    >>> y = np.arange(60) % 2
    >>> found = rp.bootstrap_interval(
    ...     roc_auc_score, y, np.arange(60) + 20 * y, random_state=0
    ... )
    >>> found.low < found.value < found.high
    True
    """
    sample = Sample.from_labels(y, groups=groups)
    label = np.asarray(y)
    score = sample.scores("scores", scores)
    confidence = share_between("confidence", confidence)
    n_resamples = whole_number("n_resamples", n_resamples, least=1)
    draw = _resampler(sample, np.random.default_rng(random_state))
    found: list[float] = []
    while len(found) < n_resamples:
        rows = draw()
        # A resample of groups may contain only one class; it is then drawn again.
        if sample.is_positive[rows].any() and not sample.is_positive[rows].all():
            found.append(float(metric(label[rows], score[rows])))
    value = np.array(found)
    check_none(~np.isfinite(value), "metric must return finite numbers", value)
    missing = 0.5 * (1.0 - confidence)
    low, high = np.quantile(value, [missing, 1.0 - missing]).tolist()
    name = getattr(metric, "__name__", "metric").replace("_", " ").replace("<lambda>", "metric")
    estimate = float(metric(label, score))
    return _interval(sample, name, (estimate, low, high), confidence)


def _resampler(sample: Sample, rng: np.random.Generator) -> Callable[[], NDArray[np.intp]]:
    """Return a function that resamples rows within classes, or whole groups."""
    if sample.unit is None:
        sides = [np.flatnonzero(side) for side in (sample.is_positive, ~sample.is_positive)]
        return lambda: np.concatenate([rng.choice(side, side.size) for side in sides])
    rows = np.argsort(sample.unit, kind="stable")
    groups = np.split(rows, np.flatnonzero(np.diff(sample.unit[rows])) + 1)
    n = len(groups)
    return lambda: np.concatenate([groups[k] for k in rng.integers(n, size=n)])
