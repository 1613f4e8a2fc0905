"""AUC of partitioned scores, with confidence intervals and tests.

AUCs are exact, or within a tolerance that is verified from counts alone. Standard errors
depend on the structural component of each row, which depends on its rank. Ranks are
computed from counts in at most 2¹⁵ bins, with a separate bin for each frequent score. If
there are fewer distinct scores, ranks are exact; otherwise the relative difference from
the in-memory standard error is less than 10⁻⁶.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from distributed import Client

from rocpath.dask.partitions import PartitionedRows
from rocpath.dask.passes import Passes
from rocpath.dask.score_columns import PartitionedColumn, PartitionedSample
from rocpath.dask.scores import Buckets, GroupedRows, PartitionedScores
from rocpath.evaluation.columns import interval_of
from rocpath.evaluation.comparison_results import MetricComparison
from rocpath.evaluation.comparisons import auc_comparison_of, checked_margin, comparison_of
from rocpath.evaluation.designs import design_of
from rocpath.evaluation.intervals import auc_metric
from rocpath.evaluation.metrics.auc import AUC
from rocpath.evaluation.metrics.names import metric_of
from rocpath.evaluation.metrics.partial_auc import PartialAUC
from rocpath.evaluation.results import AUCComparison, AUCInterval
from rocpath.validation import nonnegative_number, share_between

_N_BINS_OF_BOUNDS = (2**10, 2**14, 2**17)  # tried in turn until the tolerance is met


def auc(
    y: Any,
    scores: Any,
    *,
    sample_weight: Any = None,
    tol: float | None = None,
    client: Client | None = None,
) -> float:
    """Compute the area under the ROC curve of partitioned scores.

    Ties count as one half. Scores are sorted into buckets, so that pairs of scores in
    different buckets are counted from the bucket sizes. Without weights, or with
    weights that are multiples of a common unit, the result is bitwise identical to that
    of :func:`rocpath.auc`; with other weights, the relative difference is about 1e-15,
    due to rounding.

    Parameters
    ----------
    y : Dask array or series, shape (n_rows,)
        Labels of exactly two values; the larger is the positive class.
    scores : Dask array or series, shape (n_rows,)
        Scores; higher scores indicate the positive class.
    sample_weight : Dask array or series, shape (n_rows,), optional
        Sample weights. Rows with weight 0 are dropped.
    tol : float, optional
        Maximum difference from the exact AUC. If counts in bins guarantee it, scores
        are not shuffled. By default, the result is exact.
    client : Client, optional
        Dask client that runs the computation. The default is the most recent client
        or, if there is none, Dask's local scheduler.

    Returns
    -------
    float

    Examples
    --------
    >>> import dask.array as da
    >>> from rocpath.dask import auc
    >>> y = da.from_array([0, 0, 1, 1], chunks=2)
    >>> auc(y, da.from_array([7, 2, 9, 4], chunks=2))
    0.75
    """
    with Passes(client) as passes:
        labeled = PartitionedScores.read(passes, y, scores, sample_weight=sample_weight)
        if tol is not None:
            certified = certified_auc(labeled, nonnegative_number("tol", tol))
            if certified is not None:
                return certified
        return Buckets.from_scores(labeled).auc()


def auc_interval(
    y: Any,
    scores: Any,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    client: Client | None = None,
) -> AUCInterval:
    """Compute the AUC of partitioned scores with a confidence interval.

    The method is that of :func:`rocpath.auc_interval`.

    Parameters
    ----------
    y, scores : Dask arrays or series, shape (n_rows,)
        Labels and scores, as for :func:`auc`.
    confidence : float
        Confidence level, between 0 and 1.
    max_fpr : float, optional
        Maximum false positive rate of the partial AUC. The default is the full AUC.
    sample_weight : Dask array or series, shape (n_rows,), optional
        Sample weights. Rows with weight 0 are dropped.
    groups : Dask array or series, shape (n_rows,), optional
        Group of each row, such as a patient, for cluster-robust standard errors. Rows
        of a group may be in different partitions.
    client : Client, optional
        Dask client, as for :func:`auc`.

    Returns
    -------
    AUCInterval

    Examples
    --------
    >>> import dask.array as da
    >>> from rocpath.dask import auc_interval
    >>> y = da.from_array([0, 0, 0, 1, 1, 1], chunks=2)
    >>> auc_interval(y, da.from_array([1, 2, 4, 3, 5, 6], chunks=2))
    AUC 0.889 (95% CI 0.305 to 0.990), 3 positives, 3 negatives
    """
    return interval(
        y,
        scores,
        auc_metric(max_fpr),
        confidence=confidence,
        sample_weight=sample_weight,
        groups=groups,
        client=client,
    )


def interval(
    y: Any,
    scores: Any,
    metric: Any = "auc",
    *,
    confidence: float = 0.95,
    sample_weight: Any = None,
    groups: Any = None,
    client: Client | None = None,
) -> AUCInterval:
    """Compute the AUC or a partial AUC of partitioned scores with its interval.

    The method is that of :func:`rocpath.interval`.

    Parameters
    ----------
    y, scores : Dask arrays or series, shape (n_rows,)
        Labels and scores, as for :func:`auc`.
    metric : str or metric
        "auc" or a ``rocpath.metrics.PartialAUC``.
    confidence, sample_weight, groups, client
        Same as for :func:`auc_interval`.

    Returns
    -------
    AUCInterval

    Examples
    --------
    >>> import dask.array as da
    >>> from rocpath.dask import interval
    >>> y = da.from_array([0, 0, 0, 1, 1, 1], chunks=2)
    >>> interval(y, da.from_array([1, 2, 4, 3, 5, 6], chunks=2))
    AUC 0.889 (95% CI 0.305 to 0.990), 3 positives, 3 negatives
    """
    level = share_between("confidence", confidence)
    columns = {"sample_weight": sample_weight, "groups": groups}
    with _columns(client, y, scores, metric, **columns) as panel:
        result = interval_of(design_of([panel]), 0, level)
    assert isinstance(result, AUCInterval)
    return result


def compare_auc(
    y: Any,
    scores: Any,
    other_scores: Any,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    margin: float | None = None,
    client: Client | None = None,
) -> AUCComparison:
    """Compare the AUCs of two scores of the same partitioned rows by DeLong's test.

    The method is that of :func:`rocpath.compare_auc`.

    Parameters
    ----------
    y, scores, other_scores : Dask arrays or series, shape (n_rows,)
        Labels and both scores, as for :func:`auc`.
    confidence, max_fpr, sample_weight, groups, client
        Same as for :func:`auc_interval`.
    margin : float, optional
        Positive margin for tests of non-inferiority and equivalence.

    Returns
    -------
    AUCComparison

    Examples
    --------
    >>> import dask.array as da
    >>> from rocpath.dask import compare_auc
    >>> y, score = da.arange(8, chunks=4) // 4, da.from_array([1, 2, 3, 5, 4, 6, 7, 8])
    >>> compare_auc(y, score, da.from_array([1, 5, 3, 7, 2, 4, 8, 6]))
    AUC 0.938 and 0.625: difference +0.3125 (95% CI -0.1016 to +0.7266), p = 0.11
    """
    level, margin = share_between("confidence", confidence), checked_margin(margin)
    columns = {"other_scores": other_scores, "sample_weight": sample_weight, "groups": groups}
    with _columns(client, y, scores, auc_metric(max_fpr), **columns) as panel:
        return auc_comparison_of(design_of([panel]), level, margin)


def compare(
    y: Any,
    scores: dict[str, Any],
    metric: Any = "auc",
    *,
    confidence: float = 0.95,
    sample_weight: Any = None,
    groups: Any = None,
    margin: float | None = None,
    client: Client | None = None,
) -> MetricComparison:
    """Compare the AUC or a partial AUC of two scores of the same partitioned rows.

    The method is that of :func:`rocpath.compare`.

    Parameters
    ----------
    y : Dask array or series, shape (n_rows,)
        Labels, as for :func:`auc`.
    scores : dict of Dask arrays or series
        Two scores, by name.
    metric : str or metric
        "auc" or a ``rocpath.metrics.PartialAUC``.
    confidence, sample_weight, groups, margin, client
        Same as for :func:`compare_auc`.

    Returns
    -------
    MetricComparison

    Examples
    --------
    >>> import dask.array as da
    >>> from rocpath.dask import compare
    >>> y, score = da.arange(8, chunks=4) // 4, da.from_array([1, 2, 3, 5, 4, 6, 7, 8])
    >>> round(compare(y, {"a": score, "b": da.from_array([1, 5, 3, 7, 2, 4, 8, 6])}).difference, 4)
    0.3125
    """
    level, margin = share_between("confidence", confidence), checked_margin(margin)
    if not isinstance(scores, dict) or len(scores) != 2:
        raise ValueError("scores must be a dict with two entries for Dask.")
    first, second = scores.values()
    columns = {"other_scores": second, "sample_weight": sample_weight, "groups": groups}
    with _columns(client, y, first, metric, **columns) as panel:
        names = [(str(name), None) for name in scores]
        return comparison_of(design_of([panel]), names, level, margin)


def certified_auc(scores: PartitionedScores, tol: float) -> float | None:
    """Return the AUC from counts in bins, or None if they do not guarantee ``tol``."""
    for n_bins in _N_BINS_OF_BOUNDS:
        bins = scores.bins(n_bins)
        negative, positive = bins.sums[:, 1]
        below = np.cumsum(negative) - negative
        within = negative * positive
        n_pairs = negative.sum() * positive.sum()
        # In a bin of one score, all pairs are ties.
        uncertain = within[bins.low < bins.high].sum()
        if 0.5 * uncertain <= tol * n_pairs:
            return float((positive @ below + 0.5 * within.sum()) / n_pairs)
    return None


@contextmanager
def _columns(
    client: Client | None, y: Any, scores: Any, metric: Any, **columns: Any
) -> Iterator[list[PartitionedColumn]]:
    """Check all columns in one pass, and yield the ROC curve of each score."""
    metric = metric_of(metric)
    if not isinstance(metric, (AUC, PartialAUC)):
        raise ValueError(
            f"metric must be 'auc' or a rocpath.metrics.PartialAUC for Dask, got {metric.name!r}."
        )
    with Passes(client) as passes:
        rows = PartitionedRows.read(passes, "scores", scores, y=y, is_binary=True, **columns)
        labeled = PartitionedScores.from_rows(rows, rows.classes[1:])
        groups = columns["groups"]
        grouped = None if groups is None else GroupedRows.from_scores(labeled)
        sample: Any = PartitionedSample(labeled, grouped, tuple(rows.classes.tolist()))
        names = ["score", *(["other_score"] if "other_scores" in columns else [])]
        yield [PartitionedColumn.from_sample(metric, sample, name) for name in names]
