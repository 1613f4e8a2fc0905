"""The constant with the fewest errors, of scores in buckets."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rocpath.roc import inside_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.dask.buckets import Below, Bucket, Buckets

_ROUNDING = 1 + 1e-12  # errors within it are equal: sums of rates differ by rounding


class _Stretch(NamedTuple):
    """Constants with one number of errors."""

    errors: float
    low: float
    high: float

    @property
    def width(self) -> float:
        # One without an end has no middle.
        width = self.high - self.low
        return width if np.isfinite(width) else 2.0


def fewest_errors_constant(
    buckets: Buckets, units: tuple[float, float, float]
) -> float:
    """Find the constant to add to all predictions with the fewest errors, FP + FN.

    Scores are minus the thresholds; of the best stretches the widest is the safest.
    """
    # A stretch may reach from the last score of a bucket to the first of another.
    first = buckets.each("thresholds", _first_score)
    fp_unit, tp_unit, divisor = units
    n_negative, n_positive = sum(buckets.n_negative), sum(buckets.n_positive)
    totals = n_negative * fp_unit / divisor, n_positive * tp_unit / divisor
    stretches = []
    # From large scores to small ones, which is from small constants to large.
    for one in buckets.each("fewest errors", partial(_best, first, totals))[::-1]:
        if one is not None:
            stretches.append(one)
    # Beyond the smallest score all rows are called positive.
    stretches.append(_Stretch(totals[0], -min(first), np.inf))
    fewest = min(one.errors for one in stretches) * _ROUNDING
    best = max((one for one in stretches if one.errors <= fewest), key=_width)
    return inside_interval(best.low, best.high)


def _width(stretch: _Stretch) -> float:
    return stretch.width


def _scores(bucket: Bucket) -> NDArray[np.float64]:
    return np.union1d(bucket.negative.score, bucket.positive.score)


def _first_score(bucket: Bucket, _: Below) -> float:
    return min((one.score[0] for one in bucket if one.score.size), default=np.inf)


def _best(
    first: list[float], totals: tuple[float, float], bucket: Bucket, below: Below
) -> _Stretch | None:
    """Choose among the stretches from each score of a bucket up to the next one.

    There, rows of larger scores are called positive.
    """
    score = _scores(bucket)
    if score.size == 0:
        return None
    above = min((one for one in first if one > score[-1]), default=np.inf)
    up_to = [one.below(score, "right") for one in bucket]
    fp = below.n_negative - below.negative - up_to[0]
    tp = below.n_positive - below.positive - up_to[1]
    fpr, tpr = fp / below.n_negative, tp / below.n_positive
    errors = fpr * totals[0] + (1.0 - tpr) * totals[1]
    low, high = -np.append(score[1:], above), -score
    is_best = errors <= errors.min() * _ROUNDING
    # From the lowest constant to the largest, as in memory.
    stretches = map(_Stretch, errors[is_best], low[is_best], high[is_best])
    return max(list(stretches)[::-1], key=_width)
