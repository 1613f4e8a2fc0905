"""Bootstrap intervals of a user's own metric, for any design."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.evaluation.metrics.within_strata import with_population
from rocpath.evaluation.results import MetricInterval
from rocpath.sample import Sample
from rocpath.validation import Floats, check_none, share_between, whole_number

_LEAST = 100  # with fewer resamples, the limits of 95% intervals would be extremes


def bootstrap_interval(
    metric: Callable[..., float],
    y: ArrayLike,
    scores: ArrayLike | Mapping[str, ArrayLike],
    *,
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    population: Literal["these", "like these"] = "these",
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | None = None,
) -> MetricInterval:
    """Compute any metric, or its difference, with a percentile bootstrap interval.

    Rows are resampled as they were sampled: all rows, whole groups, the rows of each
    stratum, or whole strata. For metrics of ``rocpath.metrics``, :func:`interval` is
    more accurate in small samples and much faster.

    Parameters
    ----------
    metric : callable
        Function ``metric(y, scores)`` that returns a number.
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values.
    scores : array-like, shape (n_rows,), or dict of two
        Scores to pass to ``metric``. With two, the result is the difference of the
        metric: the first value minus the second.
    groups : array-like, shape (n_rows,), optional
        Group of each row. Whole groups are resampled.
    strata : array-like, shape (n_rows,), optional
        Stratum of each row. Rows (or groups) are resampled within each stratum.
    sample_weight : array-like, shape (n_rows,), optional
        Weights, passed to the metric as ``sample_weight``.
    population : {"these", "like these"}
        Strata for which the interval holds. For "like these", whole strata are resampled.
    confidence : float
        Nominal coverage of the interval.
    n_resamples : int
        Number of bootstrap samples, at least 100.
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
    >>> area = rp.bootstrap_interval(
    ...     roc_auc_score, y, np.arange(60) + 20 * y, random_state=0
    ... )
    >>> area.low < area.value < area.high
    True
    """
    sample = Sample.from_labels(y, groups=groups, strata=strata, sample_weight=sample_weight)
    columns = _columns(sample, scores)
    confidence = share_between("confidence", confidence)
    n_resamples = whole_number("n_resamples", n_resamples, least=_LEAST)
    name = getattr(metric, "__name__", "metric").replace("_", " ").replace("<lambda>", "metric")
    evaluate = _evaluator(metric, np.asarray(y), columns, sample.weight)
    rows = np.arange(len(sample))
    if strata is not None and population == "like these":
        sample = with_population(sample, population)[0]
        if len(sample) < rows.size:
            raise ValueError(
                "strata must each have both classes with population='like these', got a "
                "stratum with one class."
            )
    replicate = _replicates(sample, evaluate, n_resamples, np.random.default_rng(random_state))
    missing = 0.5 * (1.0 - confidence)
    low, high = np.quantile(replicate, [missing, 1.0 - missing]).tolist()
    return MetricInterval(
        name=name if len(columns) == 1 else f"difference in {name}",
        value=evaluate(rows),
        low=low,
        high=high,
        confidence=confidence,
        standard_error=float(replicate.std(ddof=1)),
        positive=sample.classes[1],
        **sample.counts,
    )


def _replicates(
    sample: Sample,
    evaluate: Callable[[NDArray[np.intp]], float],
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the metric of each resample."""
    draw, values = _resampler(sample, rng), list[float]()
    while len(values) < n_resamples:
        rows = draw()
        # A resample may contain only one class; it is then drawn again.
        if sample.is_positive[rows].any() and not sample.is_positive[rows].all():
            values.append(evaluate(rows))
    replicate = np.array(values)
    check_none(~np.isfinite(replicate), "metric must return finite numbers", replicate)
    return replicate


def _columns(sample: Sample, scores: Any) -> list[Floats]:
    """Validate one column of scores, or two."""
    if not isinstance(scores, Mapping):
        return [sample.scores("scores", scores)]
    if len(scores) not in (1, 2):
        raise ValueError(f"scores must have one or two entries, got {len(scores)}.")
    return [sample.scores(f"scores {name!r}", score) for name, score in scores.items()]


def _evaluator(
    metric: Callable[..., float], label: NDArray[Any], columns: list[Floats], weight: Floats | None
) -> Callable[[NDArray[np.intp]], float]:
    """Return a function that computes the metric, or its difference, for some rows."""

    def evaluate(rows: NDArray[np.intp]) -> float:
        extra = {} if weight is None else {"sample_weight": weight[rows]}
        values = [float(metric(label[rows], score[rows], **extra)) for score in columns]
        return values[0] if len(values) == 1 else values[0] - values[1]

    return evaluate


def _resampler(sample: Sample, rng: np.random.Generator) -> Callable[[], NDArray[np.intp]]:
    """Return a function that resamples rows or groups, within each stratum if there are any."""
    unit, stratum = sample.units, sample.stratum
    if stratum is None or sample.group is stratum:
        stratum = np.zeros(unit.size, dtype=np.intp)
    parts = []
    for code in np.unique(stratum):
        rows = np.flatnonzero(stratum == code)
        rows = rows[np.argsort(unit[rows], kind="stable")]
        parts.append(np.split(rows, np.flatnonzero(np.diff(unit[rows])) + 1))
    if all(len(part) == sum(map(len, part)) for part in parts):
        members = [np.concatenate(part) for part in parts]
        return lambda: np.concatenate([rng.choice(rows, rows.size) for rows in members])
    return lambda: np.concatenate(
        [part[k] for part in parts for k in rng.integers(len(part), size=len(part))]
    )
