"""Statistics of a sequence from which its penalty can be predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import finite_vector, read_only
from rocpath.changepoint.segmentation_passes import check_observations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

_QUANTILES = (0, 25, 50, 75, 100)
_STATISTICS = (*(f"quantile_{q}" for q in _QUANTILES), "mean", "variance")
_SERIES: dict[str, Callable[[Any], Any]] = {
    "data": lambda x: x,
    "abs_data": np.abs,
    "squared_data": np.square,
    "diff": np.diff,
    "abs_diff": lambda x: np.abs(np.diff(x)),
    "squared_diff": lambda x: np.square(np.diff(x)),
}
_TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "": lambda value: value,
    "log": np.log,
    "log1p": np.log1p,
    "loglog": lambda value: np.log(np.log(value)),
    "sqrt": np.sqrt,
}
_BASE_NAMES = ("length", *(f"{a}.{b}" for a in _SERIES for b in _STATISTICS))
_NAMES = tuple(
    f"{transform}.{name}" if transform else name
    for transform in _TRANSFORMS
    for name in _BASE_NAMES
)


@dataclass(frozen=True, slots=True, eq=False)
class SequenceFeatures:
    """Hold the features of one sequence or of many.

    Attributes
    ----------
    value : array, shape (n_features,) or (n_sequences, n_features)
        Minus infinity or not a number where a logarithm or root does not exist.
    name : tuple of str
        Name of each feature: ``length``, then ``series.statistic``, with the transform
        in front of it, such as ``log.abs_diff.mean``.
    is_finite : array of bool, shape (n_features,)
        Whether the feature is finite for every sequence.
    """

    value: NDArray[np.float64]
    name: tuple[str, ...]
    is_finite: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.name)


def sequence_features(x: ArrayLike | Sequence[ArrayLike]) -> SequenceFeatures:
    """Compute the usual statistics of a sequence, as they are and under logarithms.

    Length, quantiles (0, 25, 50, 75, 100%), mean and variance of the data, of its
    differences, and of the absolute values and squares of both; each also under log,
    log(1 + value), log log and square root. Those that do not exist are kept as they
    are and reported; estimators drop such columns.

    Parameters
    ----------
    x : array-like, shape (n,), or list of such
        One sequence, or many. Repeat run-length coded values (``np.repeat``) first.

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
    if isinstance(x, (list, tuple)) and any(np.ndim(one) > 0 for one in x):
        value = np.stack([_features(f"x[{k}]", one) for k, one in enumerate(x)])
        is_finite = np.asarray(np.isfinite(value).all(axis=0))
    else:
        value = _features("x", x)
        is_finite = np.isfinite(value)
    return SequenceFeatures(read_only(value), _NAMES, read_only(is_finite))


def _features(name: str, sequence: Any) -> NDArray[np.float64]:
    x = finite_vector(name, sequence)
    check_observations(name, x, "normal")
    base = [float(x.size)]
    for series in _SERIES.values():
        base += _statistics(series(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.concatenate(
            [transform(np.array(base)) for transform in _TRANSFORMS.values()]
        )


def _statistics(values: NDArray[np.float64]) -> list[float]:
    if values.size == 0:  # the differences of a single observation
        return [np.nan] * len(_STATISTICS)
    quantiles = np.percentile(values, _QUANTILES)
    return [*quantiles.tolist(), float(values.mean()), float(values.var())]
