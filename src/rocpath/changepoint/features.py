"""Summary statistics of sequences, used as features to predict penalties."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.changepoint.observations import observed
from rocpath.changepoint.search import check_observations
from rocpath.validation import Floats, read_only

_QUANTILES = (0, 25, 50, 75, 100)
_STATISTICS = (*(f"quantile_{q}" for q in _QUANTILES), "mean", "variance")


# Transformations of a sequence, and the power to which they raise its unit.
_SERIES: dict[str, tuple[Callable[[Any], Any], int]] = {
    "data": (lambda x: x, 1),
    "abs_data": (np.abs, 1),
    "squared_data": (np.square, 2),
    "diff": (np.diff, 1),
    "abs_diff": (lambda x: np.abs(np.diff(x)), 1),
    "squared_diff": (lambda x: np.square(np.diff(x)), 2),
}
_TRANSFORMS = ("", "log", "log1p", "loglog", "sqrt")
_BASE_NAMES = ("length", *(f"{a}.{b}" for a in _SERIES for b in _STATISTICS))
FEATURE_NAMES = tuple(
    f"{transform}.{name}" if transform else name
    for transform in _TRANSFORMS
    for name in _BASE_NAMES
)
# Absolute values below this fraction of the largest are clipped before logarithms are
# taken. It is far below measurement noise and far above the rounding errors of float64.
_FLOOR_FRACTION = 1e-9
_LARGEST = 1e300  # limit on features, so that sums over sequences do not overflow


@dataclass(frozen=True, slots=True, eq=False)
class SequenceFeatures:
    """Features of one or several sequences.

    Attributes
    ----------
    value : array, shape (n_features,) or (n_sequences, n_features)
        The features, all finite.
    name : tuple of str
        Name of each feature: ``length`` or ``series.statistic``, with the
        transformation as a prefix, as in ``log.abs_diff.mean``.
    """

    value: Floats
    name: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.name)


def sequence_features(x: ArrayLike | Sequence[ArrayLike]) -> SequenceFeatures:
    """Compute summary statistics of sequences, with and without transformations.

    The statistics are the length of the sequence, and the quantiles (0, 25, 50, 75 and
    100%), mean and variance of the data, its first differences, and the absolute values
    and squares of both. Each statistic v is included untransformed and with four
    transformations, which are defined for every number:

    - ``log``: u = log max(abs(v), floor), where the floor is 1e-9 times the largest
      absolute value of the sequence (1 if that is 0), raised to the power of the data's
      unit in v (2 for the variance of the data);
    - ``log1p``: sign(v) log(1 + abs(v));
    - ``loglog``: log u if u is at least 1, otherwise u - 1, the tangent of log at 1;
    - ``sqrt``: sign(v) sqrt(abs(v)).

    All features are finite: the differences of a single observation are defined as 0,
    and absolute values are limited to 1e300.

    Parameters
    ----------
    x : array-like, shape (n,), or list of array-like
        One sequence, or a list of sequences; NaN marks missing observations. An array
        of shape (n, d) is one sequence, whose features are averaged over its columns.
        Run-length encoded values must first be expanded with ``np.repeat``.

    Returns
    -------
    SequenceFeatures

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> features = cp.sequence_features([1.0, 3.0, 2.0])
    >>> dict(zip(features.name, features.value.tolist()))["abs_diff.mean"]
    1.5
    >>> cp.sequence_features([[1.0, 3.0, 2.0], [5.0, 6.0]]).value.shape
    (2, 215)
    """
    # A list of numbers or an array is one sequence; a list of lists is several sequences.
    if isinstance(x, (list, tuple)) and any(np.ndim(one) > 0 for one in x):
        value = np.stack([_features(f"x[{k}]", one) for k, one in enumerate(x)])
    else:
        value = _features("x", x)
    return SequenceFeatures(read_only(value), FEATURE_NAMES)


def _features(name: str, sequence: Any) -> Floats:
    if np.ndim(sequence) == 2 and isinstance(sequence, np.ndarray):
        # Features are averaged over columns, which should have the same unit.
        columns = [_features(f"{name}[:, {j}]", one) for j, one in enumerate(sequence.T)]
        return np.asarray(np.mean(columns, axis=0))
    x, _, _ = observed(name, sequence, None)
    check_observations(name, x, "normal")
    # Values are scaled by a power of two, so that squares do not overflow.
    largest, exponent = np.frexp(np.abs(x).max() or 1.0)
    x = np.ldexp(x, -exponent)
    statistic, degree = [float(x.size)], [0]
    for values, power in _SERIES.values():
        statistic += _statistics(values(x))
        # The last statistic is the variance, in the squared unit of the others.
        degree += [power] * (len(_STATISTICS) - 1) + [2 * power]
    # Floors have the units of the statistics, so that a change of unit adds constants to
    # the log features, which the intercept absorbs.
    floor = (_FLOOR_FRACTION * largest) ** np.array(degree)
    return _transformed(np.array(statistic), floor, exponent * np.array(degree))


def _transformed(statistic: Floats, floor: Floats, exponent: NDArray[np.int64]) -> Floats:
    """Transform statistics in units of 2 ** exponent."""
    with np.errstate(over="ignore"):
        value = np.clip(np.ldexp(statistic, exponent), -_LARGEST, _LARGEST)
    log = np.log(np.maximum(np.abs(statistic), floor)) + exponent * np.log(2.0)
    # The log is extended by its tangent, so that it is defined and increases everywhere.
    loglog = np.where(log >= 1, np.log(np.maximum(log, 1.0)), log - 1)
    log1p = np.copysign(np.log1p(np.abs(value)), value)
    sqrt = np.copysign(np.sqrt(np.abs(value)), value)
    return np.concatenate([value, log, log1p, loglog, sqrt])


def _statistics(values: Floats) -> list[float]:
    if values.size == 0:  # a single observation has no differences
        return [0.0] * len(_STATISTICS)
    quantiles = np.percentile(values, _QUANTILES)
    return [*quantiles.tolist(), float(values.mean()), float(values.var())]
