"""Numeric codes for missing values, such as -999 or 9999."""

from typing import Any

import numpy as np
import polars as pl

_CODES = {
    *(sign * code for code in (99, 999, 9999, 99999, 999999) for sign in (1, -1)),
    *(-9, -99.9, -999.9, -9999.9, 999.9, 9999.9),
    *(2**15 - 1, -(2**15), 2**31 - 1, -(2**31)),
}
_HUGE = 1e30  # larger values are codes, such as the largest 32-bit float, 3.4e38
_MIN_GAP = 3.0  # distance of a code from all other values, in widths of their range
_MIN_VALUES = 10  # distinct other values, to estimate their range


def sentinel_codes(series: pl.Series) -> tuple[float, ...]:
    """Return codes for missing values that lie far outside the range of a column.

    A code is either huge, or one of the usual numbers that occurs more than once. Its
    distance from all other values is more than three times their range.
    """
    if not series.dtype.is_numeric():
        return ()
    # Codes lie at the ends of the range; most columns have none and need no sorting.
    if not any(_may_be_code(end) for end in (series.min(), series.max())):
        return ()
    number = series.cast(pl.Float64).drop_nulls().to_numpy()
    value, count = np.unique(number[np.isfinite(number)], return_counts=True)
    is_code = np.abs(value) > _HUGE
    is_code |= (count > 1) & np.isin(value, list(_CODES))
    rest = value[~is_code]
    if not is_code.any() or rest.size < _MIN_VALUES:
        return ()
    # Numbers inside the range are ordinary values, such as 99 among ages.
    low, high = rest[0], rest[-1]
    distance = np.maximum(low - value, value - high)
    return tuple(value[is_code & (distance > _MIN_GAP * (high - low))].tolist())


def _may_be_code(value: Any) -> bool:
    return value is not None and (value in _CODES or abs(value) > _HUGE)
