"""Bootstrap intervals of a user's own metric."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.evaluation.results import MetricInterval
from rocpath.sample import Sample
from rocpath.validation import Floats, check_none, share_between, whole_number


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
    return MetricInterval(
        name=name, value=estimate, low=low, high=high, confidence=confidence, **sample.counts
    )


def _resampler(sample: Sample, rng: np.random.Generator) -> Callable[[], NDArray[np.intp]]:
    """Return a function that resamples rows within classes, or whole groups."""
    if sample.unit is None:
        sides = [np.flatnonzero(side) for side in (sample.is_positive, ~sample.is_positive)]
        return lambda: np.concatenate([rng.choice(side, side.size) for side in sides])
    rows = np.argsort(sample.unit, kind="stable")
    groups = np.split(rows, np.flatnonzero(np.diff(sample.unit[rows])) + 1)
    n = len(groups)
    return lambda: np.concatenate([groups[k] for k in rng.integers(n, size=n)])
