"""Seasonal patterns with a known period, and detection of an unknown period."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rocpath.changepoint.segmentation_results import Segmentation
from rocpath.files.sequence_table import SequenceTable
from rocpath.validation import Floats, describe, whole_number

_MICROSECONDS = {"s": 1e6, "min": 6e7, "h": 3.6e9, "d": 8.64e10, "w": 6.048e11}
_FEWEST_PERIODS = 4  # in a sequence whose period is unknown
_SHORTEST_PERIOD = 4
_NEARLY_BEST = 0.9  # of several multiples of a period with similar correlations, the first counts


def checked_period(period: object, n: int, name: str = "x") -> int:
    """Return a period as an integer, or raise if the sequence is shorter than two periods."""
    if isinstance(period, bool) or not isinstance(period, int | np.integer):
        raise TypeError(f"period must be a whole number of observations, got {describe(period)}.")
    number = whole_number("period", period, least=2)
    if n < 2 * number:
        raise ValueError(
            f"{name} must have at least two periods of {number} observations, got {n} observations."
        )
    return number


def period_of(table: SequenceTable, period: int | str | None) -> int | None:
    """Convert a duration to a number of observations, or return a number unchanged."""
    if period is None or not isinstance(period, str):
        return period
    if period.isdigit():
        return int(period)
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|min|h|d|w)", period.strip())
    if parts is None or not table.is_time:
        units = ", ".join(_MICROSECONDS)
        raise ValueError(
            "period must be a number of observations or, if positions are times, a number with "
            f"one of the units {units}, got {period!r}."
        )
    steps = {float(np.median(np.diff(one))) for one in table.positions if len(one) > 1}
    if len(steps) > 1:
        raise ValueError(
            "period must be a number of observations if the sequences have different time steps, "
            f"got {period!r}."
        )
    duration = float(parts[1]) * _MICROSECONDS[parts[2]]
    return max(1, round(duration / steps.pop())) if steps else 1


def deseasonalized(values: Sequence[Floats], found: Sequence[Segmentation]) -> list[Floats]:
    """Subtract the seasonal pattern of each sequence that has one."""
    return [
        x if model.season is None else x - repeated(model.season, len(x))
        for x, model in zip(values, found, strict=True)
    ]


def first_pattern(x: Floats, period: int) -> Floats:
    """Return the pattern around a moving average over one period, which removes levels."""
    known = ~np.isnan(x)
    kernel = np.ones(period + 1 - period % 2)
    if period % 2 == 0:
        kernel[[0, -1]] = 0.5

    def smoothed(values: Floats) -> Floats:
        columns = values.reshape(len(values), -1).T
        return np.array([np.convolve(one, kernel, mode="same") for one in columns]).T

    total = smoothed(np.where(known, x, 0.0))
    average = total / np.maximum(smoothed(known.astype(float)), np.finfo(float).tiny)
    # A window that extends beyond the sequence does not contain a whole period.
    margin = kernel.size // 2
    average[:margin] = average[len(x) - margin :] = np.nan
    return pattern_of(x - average.reshape(x.shape), period)


def pattern_of(residual: Floats, period: int) -> Floats:
    """Return the mean of each phase, centered; NaN marks missing observations."""
    phase = np.arange(len(residual)) % period
    rows = residual.reshape(len(residual), -1)
    known = ~np.isnan(rows)
    pattern = np.zeros((period, rows.shape[1]))
    for j in range(rows.shape[1]):
        use = known[:, j]
        total = np.bincount(phase[use], rows[use, j], minlength=period)
        count = np.bincount(phase[use], minlength=period)
        pattern[:, j] = total / np.maximum(count, 1)
    pattern -= pattern.mean(axis=0)
    return np.asarray(pattern.reshape(period, *residual.shape[1:]))


def repeated(pattern: Floats, n: int) -> Floats:
    """Repeat a pattern for n observations."""
    return pattern[np.arange(n) % len(pattern)]


def dominant_period(x: NDArray[np.float64]) -> tuple[int, float]:
    """Return the period of the strongest oscillation of the autocorrelation, and its size.

    The size is the autocorrelation at the period minus that half a period away. It is
    twice the share of the seasonal variance, and negative for noise whose
    autocorrelation decays. Without an oscillation, both results are 0.
    """
    n = x.size
    lag = np.arange(_SHORTEST_PERIOD, n // _FEWEST_PERIODS + 1)
    if lag.size == 0:
        return 0, 0.0
    time = np.arange(n) - (n - 1) / 2
    centered = x - x.mean()
    centered = centered - time * float(centered @ time) / float(time @ time)
    square = np.fft.irfft(np.abs(np.fft.rfft(centered, 2 * n)) ** 2)[:n]
    if not square[0] > 0:
        return 0, 0.0
    # Each product is divided by the number of pairs that it sums.
    correlation = square / square[0] * n / (n - np.arange(n))

    # Correlations at 1/2, 1, 3/2, 2 and 5/2 periods.
    half, one, more, two, last = np.interp(
        np.outer([0.5, 1.0, 1.5, 2.0, 2.5], lag), np.arange(n), correlation
    )
    size = np.minimum(one - (half + more) / 2, two - (more + last) / 2)
    if not size.max() > 0:
        return 0, 0.0
    first = int(np.flatnonzero(size >= _NEARLY_BEST * size.max())[0])
    near = size[first : first + max(2, lag[first] // 5)]
    best = first + int(near.argmax())
    return int(lag[best]), float(size[best])
