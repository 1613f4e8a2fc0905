"""The constant that minimizes the number of errors, for scores in buckets."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rocpath.descent import widest_best_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.dask.buckets import Below, Bucket, Buckets


class _Intervals(NamedTuple):
    """Intervals of constants, in ascending order, and the errors in each."""

    errors: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def fewest_errors_in_buckets(buckets: Buckets, units: tuple[float, float, float]) -> float:
    """Find the constant added to all predictions that minimizes FP + FN.

    Scores are minus the thresholds.
    """
    # An interval may extend from the last score of a bucket to the first of another.
    first = buckets.each("thresholds", _first_score)
    fp_unit, tp_unit, divisor = units
    n_negative, n_positive = sum(buckets.n_negative), sum(buckets.n_positive)
    totals = n_negative * fp_unit / divisor, n_positive * tp_unit / divisor
    # From large scores to small ones, that is from small constants to large ones.
    best = buckets.each("fewest errors", partial(_best, first, totals))[::-1]
    # Beyond the smallest score all rows are predicted positive.
    last = _Intervals(*(np.array([x]) for x in (totals[0], -min(first), np.inf)))
    columns = zip(*best, last, strict=True)
    return widest_best_interval(*(np.concatenate(column) for column in columns))


def _first_score(bucket: Bucket, _: Below) -> float:
    return min((one.score[0] for one in bucket if one.score.size), default=np.inf)


def _best(
    first: list[float], totals: tuple[float, float], bucket: Bucket, below: Below
) -> _Intervals:
    """Return the intervals with the fewest errors that begin at scores of a bucket.

    Between a score and the next, rows with larger scores are predicted positive.
    """
    score = np.union1d(bucket.negative.score, bucket.positive.score)
    if score.size == 0:
        return _Intervals(score, score, score)
    above = min((one for one in first if one > score[-1]), default=np.inf)
    up_to = [one.below(score, "right") for one in bucket]
    fp = below.n_negative - below.negative - up_to[0]
    tp = below.n_positive - below.positive - up_to[1]
    fpr, tpr = fp / below.n_negative, tp / below.n_positive
    errors = fpr * totals[0] + (1.0 - tpr) * totals[1]
    low, high = -np.append(score[1:], above), -score
    # Rounding may separate equal errors, so a few more intervals are kept.
    is_best = errors <= errors.min() * (1 + 1e-11)
    return _Intervals(*(one[is_best][::-1] for one in (errors, low, high)))
