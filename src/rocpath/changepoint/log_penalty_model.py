"""Features as columns on one scale: finite, and within what training has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rocpath.matrices import Columns

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class FeatureColumns:
    """Hold range, median and scale of every column in training.

    A linear model that leaves the range it was fitted on can be wrong without limit:
    on new regions of a genome it was seen to make nine times the errors of a constant,
    half of them for leaving the range. So values beyond the range become its ends,
    infinite ones too.

    Attributes
    ----------
    low, high : array, shape (n_features,)
        Smallest and largest finite value; 0 if there is none.
    median : array, shape (n_features,)
        Median of the finite values, which stands for what is not a number.
    columns : Columns
        Center and scale of the columns without such values.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    median: NDArray[np.float64]
    columns: Columns

    @classmethod
    def measured(cls, X: NDArray[np.float64]) -> FeatureColumns:
        """Measure the columns of training data."""
        is_finite = np.isfinite(X)
        is_empty = ~is_finite.any(axis=0)
        known = np.where(is_finite, X, np.nan)
        # A column without a number becomes constant, and so has no weight.
        known[:, is_empty] = 0.0
        low, high = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
        median = np.nanmedian(known, axis=0)
        columns = Columns.measured(within_range(X, low, high, median))
        return cls(low, high, median, columns)

    @property
    def is_varying(self) -> NDArray[np.bool_]:
        """Which columns are not constant."""
        return np.asarray(np.isfinite(self.columns.scale))

    def scaled(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows with finite columns, of mean 0 and deviation 1 in training."""
        return self.columns.scaled(within_range(X, self.low, self.high, self.median))


def within_range(
    X: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    median: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Put the median for what is not a number, the nearer end for what is beyond."""
    return np.clip(np.where(np.isnan(X), median, X), low, high)
