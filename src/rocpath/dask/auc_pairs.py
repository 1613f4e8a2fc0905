"""AUC of partitioned scores: exact, or certified to a tolerance by counts alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import rocpath._core as _core
from rocpath.arguments import nonnegative_number
from rocpath.dask.buckets import Buckets, ClassScores, LabeledScores, splitters
from rocpath.dask.partitions import Partition, check_partitions, make_partitions
from rocpath.dask.passes import Passes
from rocpath.dask.weights import WeightUnits, common_units, counted_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distributed import Client
    from numpy.typing import NDArray

    from rocpath.dask.buckets import Below, Bucket

_N_BUCKETS = (2**10, 2**14, 2**17)  # tried in turn, until the tolerance is met


def auc(
    y: Any,
    scores: Any,
    *,
    sample_weight: Any = None,
    tol: float | None = None,
    client: Client | None = None,
) -> float:
    """Compute the area under the ROC curve of partitioned scores.

    Ties count one half. Scores are sorted into buckets, so that pairs of different
    buckets need only counts. Without weights, or with weights that are multiples of a
    common unit, the result equals that of :func:`rocpath.auc` to the last bit; with
    other weights it may differ by rounding, a relative 1e-15.

    Parameters
    ----------
    y : Dask array or series, shape (n_rows,)
        Labels of exactly two values; the larger is the positive class.
    scores : Dask array or series, shape (n_rows,)
        Scores, larger for rows that are more likely positive.
    sample_weight : Dask array or series, shape (n_rows,), optional
        Weights of the rows. Rows of weight 0 are dropped.
    tol : float, optional
        Maximum difference to the exact AUC. If counts prove that it is met, no score
        leaves its worker. By default the result is exact.
    client : Client, optional
        Client whose workers compute. By default the most recent client; without one,
        Dask's local scheduler.

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
        labeled, n_rows = labeled_scores(passes, y, scores, sample_weight)
        if tol is not None:
            certified = certified_auc(passes, labeled, nonnegative_number("tol", tol))
            if certified is not None:
                return certified
        return exact_auc(Buckets.shuffle(passes, labeled, n_rows))


def exact_auc(buckets: Buckets) -> float:
    """Count correctly ordered pairs twice, and ties once."""
    within = buckets.each("counting pairs", _doubled_pairs)
    n_negative, n_positive = sum(buckets.n_negative), sum(buckets.n_positive)
    # As in the core: one rounding of each whole number, and one of the quotient.
    return float(sum(within)) / float(2 * n_negative * n_positive)


def partial_auc(buckets: Buckets, max_fpr: float) -> float:
    """Compute the partial AUC up to a false positive rate."""
    areas = buckets.each("counting pairs", partial(_partial_area, max_fpr))
    return float(sum(areas)) / sum(buckets.n_positive)


def certified_auc(passes: Passes, scores: Sequence[Any], tol: float) -> float | None:
    """Bound the AUC by counts in ever smaller buckets; None if ``tol`` is not met."""
    for n_buckets in _N_BUCKETS:
        sampled = splitters(passes, scores, n_buckets)
        # A frequent score gets its own bucket, whose pairs are ties.
        edge = np.union1d(sampled, np.nextafter(sampled, np.inf))
        tasks = passes.each(_bucket_counts, scores, state=edge)
        counts = passes.total("counting scores", tasks, add_arrays)
        value, error = _bounds(counts, edge)
        if error <= tol:
            return value
    return None


def _bounds(counts: NDArray[np.int64], edge: NDArray[np.float64]) -> tuple[float, float]:
    """Return an AUC, and the largest possible difference to the exact one."""
    negative, positive = (column.astype(object) for column in counts.T)
    below = np.concatenate(([0], np.cumsum(negative)[:-1]))
    within = negative * positive
    is_single = np.append(False, edge[1:] == np.nextafter(edge[:-1], np.inf))
    is_single = np.append(is_single, False)
    n_pairs = int(negative.sum() * positive.sum())
    doubled = int((2 * positive * below + within).sum())
    uncertain = int(within[~is_single].sum())
    return doubled / (2 * n_pairs), 0.5 * (uncertain / n_pairs)


def _bucket_counts(scores: LabeledScores, edge: NDArray[np.float64]) -> NDArray[np.int64]:
    score, (is_positive, units) = scores
    index = 2 * np.searchsorted(edge, score, side="right") + is_positive
    size = 2 * edge.size + 2
    if units is None:
        return np.bincount(index, minlength=size).reshape(-1, 2)
    counts = np.zeros(size, dtype=np.int64)
    np.add.at(counts, index, units)
    return counts.reshape(-1, 2)


def add_arrays(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """Add up arrays."""
    return np.asarray(np.sum(arrays, axis=0))


def _doubled_pairs(bucket: Bucket, below: Below) -> int:
    """Count pairs of a bucket's positives with all negatives, as in `exact_auc`."""
    negative, positive = bucket
    high, low = _core.doubled_pairs(
        negative.score, _repeats(negative), positive.score, _repeats(positive)
    )
    # Python integers, because these may exceed 64 bits.
    return (high << 64) + low + 2 * below.negative * positive.total


def _repeats(scores: ClassScores) -> NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64) if scores.repeats is None else scores.repeats


def _partial_area(max_fpr: float, bucket: Bucket, below: Below) -> float:
    """Sum the contributions of a bucket's positives; ties count in proportion."""
    negative, positive = bucket
    up_to = below.negative + negative.below(positive.score, "right")
    tied = up_to - (below.negative + negative.below(positive.score, "left"))
    room = max_fpr - (below.n_negative - up_to) / below.n_negative
    share = tied / below.n_negative
    counted = np.clip(room, 0.0, share)
    part = (room > 0).astype(np.float64)
    np.divide(counted, share, out=part, where=share > 0)
    added = np.maximum(room - share, 0.0) + 0.5 * counted * part
    return float(positive.counts @ added)


def labeled_scores(
    passes: Passes, y: Any, scores: Any, sample_weight: Any = None
) -> tuple[list[Any], int]:
    """Check labels, scores and weights; return tasks of `LabeledScores`."""
    partitions = make_partitions("scores", scores, y, sample_weight)
    partitions, summary = check_partitions(passes, "scores", partitions, is_binary=True)
    positives, units = summary.classes[1:], None
    if summary.is_weighted:
        units = common_units(passes, partitions, positives)
    tasks = passes.each(partial(count_labels, "X"), partitions, state=(positives, units))
    return passes.keep(tasks), sum(summary.n_rows)


def count_labels(
    name: str, rows: Partition, state: tuple[NDArray[Any], WeightUnits | None]
) -> LabeledScores:
    """Return the scores of a partition, in the column of a name, and their labels."""
    score = getattr(rows, name).astype(np.float64, copy=False)
    return LabeledScores(score, counted_labels(rows, *state))
