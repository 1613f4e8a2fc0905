"""AUC of scores in parts: exact, or certified to a tolerance by counts alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import rocpath._core as _core
from rocpath.arguments import nonnegative_number, share_between
from rocpath.auc_statistics.intervals import AUCInterval, interval_of_spreads
from rocpath.auc_statistics.score_interval import ClassSpread
from rocpath.dask.buckets import Buckets, ClassScores, Scored, splitters
from rocpath.dask.parts import Part, examined, make_parts
from rocpath.dask.passes import Passes
from rocpath.dask.weights import WeightUnits, agreed_units, counted_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distributed import Client
    from numpy.typing import NDArray

    from rocpath.dask.buckets import Below, Bucket

_BUCKETS_TO_COUNT = (2**10, 2**14, 2**17)  # tried in turn, for a tolerance


def auc(
    y: Any,
    scores: Any,
    *,
    sample_weight: Any = None,
    tol: float | None = None,
    client: Client | None = None,
) -> float:
    """Compute the area under the ROC curve of scores in parts, ties counting one half.

    Scores are sorted into buckets, such that pairs of different buckets need no more
    than counts. The result is that of :func:`rocpath.auc`, to the last bit.

    Parameters
    ----------
    y : Dask array or series, shape (n_rows,)
        Labels of exactly two values; the larger is the positive class.
    scores : Dask array or series, shape (n_rows,)
        Larger for rows that are more likely positive.
    sample_weight : Dask array or series, shape (n_rows,), optional
        How much each row counts; rows of weight 0 are left out.
    tol : float, optional
        Stop where counts alone prove the result to be within this of the exact AUC;
        then no score leaves its worker.
    client : Client, optional
        Whose workers compute; by default the last one made, or none.

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
        scored, n_rows = _scored(passes, y, scores, sample_weight)
        if tol is not None:
            near = certified_auc(passes, scored, nonnegative_number("tol", tol))
            if near is not None:
                return near
        return exact_auc(Buckets.shuffled(passes, scored, n_rows))


def auc_interval(
    y: Any, scores: Any, *, confidence: float = 0.95, client: Client | None = None
) -> AUCInterval:
    """Compute an AUC of scores in parts, with its standard error and an interval.

    It is the interval of :func:`rocpath.auc_interval`, from the same sums.

    Parameters
    ----------
    y, scores : Dask arrays or series, shape (n_rows,)
        As for :func:`auc`.
    confidence : float
        Between 0 and 1.
    client : Client, optional
        As for :func:`auc`.

    Returns
    -------
    AUCInterval

    Examples
    --------
    >>> import dask.array as da
    >>> from rocpath.dask import auc_interval
    >>> y = da.from_array([0, 0, 0, 1, 1, 1], chunks=2)
    >>> area = auc_interval(y, da.from_array([1, 2, 4, 3, 5, 6], chunks=2))
    >>> print(f"{area.value:.3f}, from {area.low:.3f} to {area.high:.3f}")
    0.889, from 0.396 to 0.986
    """
    confidence = share_between("confidence", confidence)
    with Passes(client) as passes:
        buckets = Buckets.shuffled(passes, *_scored(passes, y, scores))
        area = exact_auc(buckets)
        moments = buckets.each("measuring spreads", partial(_moments, area))
    positive, negative = np.sum(moments, axis=0)
    spreads = [
        ClassSpread.of_rows(n_rows, *of_class)
        for n_rows, of_class in (
            (sum(buckets.n_positive), positive),
            (sum(buckets.n_negative), negative),
        )
    ]
    return interval_of_spreads(area, spreads, confidence, 1.0)


def exact_auc(buckets: Buckets) -> float:
    """Count all pairs in the right order twice, and ties once."""
    within = buckets.each("counting pairs", _doubled_pairs)
    n_negative, n_positive = sum(buckets.n_negative), sum(buckets.n_positive)
    # As the core does: one rounding of each whole number, one of the quotient.
    return float(sum(within)) / float(2 * n_negative * n_positive)


def partial_auc(buckets: Buckets, max_fpr: float) -> float:
    """Compute the area left of a false positive rate; a tie counts in proportion."""
    areas = buckets.each("counting pairs", partial(_area_left_of, max_fpr))
    return float(sum(areas)) / sum(buckets.n_positive)


def certified_auc(passes: Passes, scored: Sequence[Any], tol: float) -> float | None:
    """Bound the AUC by counts of ever smaller buckets; None if it stays uncertain."""
    for n_buckets in _BUCKETS_TO_COUNT:
        sampled = splitters(passes, scored, n_buckets)
        # A score that is drawn often gets a bucket of its own: its pairs are ties.
        edge = np.union1d(sampled, np.nextafter(sampled, np.inf))
        tasks = passes.each(_bucket_counts, scored, state=edge)
        counts = passes.total("counting scores", tasks, _summed)
        bound = _bounded(counts, edge)
        if bound.doubt <= tol:
            return bound.value
    return None


class _Bound(NamedTuple):
    """An AUC, and how far it may be off."""

    value: float
    doubt: float


def _bounded(counts: NDArray[np.int64], edge: NDArray[np.float64]) -> _Bound:
    negative, positive = (column.astype(object) for column in counts.T)
    below = np.concatenate(([0], np.cumsum(negative)[:-1]))
    within = negative * positive
    is_single = np.append(False, edge[1:] == np.nextafter(edge[:-1], np.inf))
    is_single = np.append(is_single, False)
    n_pairs = int(negative.sum() * positive.sum())
    doubled = int((2 * positive * below + within).sum())
    uncertain = int(within[~is_single].sum())
    return _Bound(doubled / (2 * n_pairs), 0.5 * (uncertain / n_pairs))


def _bucket_counts(scored: Scored, edge: NDArray[np.float64]) -> NDArray[np.int64]:
    score, (is_positive, units) = scored
    place = 2 * np.searchsorted(edge, score, side="right") + is_positive
    size = 2 * edge.size + 2
    if units is None:
        return np.bincount(place, minlength=size).reshape(-1, 2)
    counts = np.zeros(size, dtype=np.int64)
    np.add.at(counts, place, units)
    return counts.reshape(-1, 2)


def _summed(counts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.asarray(np.sum(counts, axis=0))


def _doubled_pairs(bucket: Bucket, below: Below) -> int:
    """Count pairs of a bucket's positives with negatives up to there."""
    negative, positive = bucket
    high, low = _core.doubled_pairs(
        negative.score, _repeats(negative), positive.score, _repeats(positive)
    )
    # Whole numbers of Python, as these may exceed 64 bits.
    return (high << 64) + low + 2 * below.negative * positive.total


def _repeats(scores: ClassScores) -> NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64) if scores.repeats is None else scores.repeats


def _area_left_of(max_fpr: float, bucket: Bucket, below: Below) -> float:
    """Sum what a bucket's positives add to the area, as rows in memory do."""
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


def _moments(area: float, bucket: Bucket, below: Below) -> NDArray[np.float64]:
    """Sum squares and fourth powers of what rows of each class add to the AUC."""

    def powers(rows: ClassScores, others: ClassScores, below: int, total: int) -> Any:
        doubled = others.below(rows.score, "left") + others.below(rows.score, "right")
        share_below = (below + 0.5 * doubled) / total
        mean = area if rows is bucket.positive else 1.0 - area
        square = (share_below - mean) ** 2
        return rows.counts @ square, rows.counts @ square**2

    negative, positive = bucket
    return np.array(
        [
            powers(positive, negative, below.negative, below.n_negative),
            powers(negative, positive, below.positive, below.n_positive),
        ]
    )


def _scored(
    passes: Passes, y: Any, scores: Any, sample_weight: Any = None
) -> tuple[list[Any], int]:
    """Check labels, scores and weights, and return tasks of `Scored`."""
    parts = make_parts("scores", scores, y, sample_weight)
    parts, facts = examined(passes, "scores", parts, n_classes=2)
    units = None
    if facts.are_weighted:
        units = agreed_units(passes, parts, facts.classes[1:])
    state = facts.classes[1:], units
    scored = passes.keep(passes.each(_counted_scores, parts, state=state))
    return scored, sum(facts.n_rows)


def _counted_scores(
    part: Part, state: tuple[NDArray[Any], WeightUnits | None]
) -> Scored:
    return Scored(part.X.astype(np.float64, copy=False), counted_labels(part, *state))
