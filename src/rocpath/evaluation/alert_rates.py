"""Numbers of alerts per day, from the times of rows."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rocpath.evaluation.results import Limits
from rocpath.validation import check_count, check_none


class Days(NamedTuple):
    """The day of each row, counted from the first, and the number of days."""

    day: NDArray[np.intp]
    n_days: int

    @classmethod
    def from_time(cls, time: ArrayLike, n_rows: int) -> Self:
        """Convert dates, or numbers of days; days without rows count as well."""
        given: NDArray[Any] = np.asarray(time)
        check_count("time must have one entry", given.size, n_rows, "rows")
        if given.dtype.kind == "O":
            given = given.astype("datetime64[us]")
        if given.dtype.kind == "M":
            given = given.astype("datetime64[D]").astype(np.float64)
            given[np.isnat(np.asarray(time, dtype="datetime64[us]"))] = np.nan
        if given.dtype.kind not in "biuf":
            raise ValueError(f"time must be dates or numbers of days, got {given.dtype}.")
        check_none(~np.isfinite(given), "time must have no missing values", given)
        day = np.floor(given).astype(np.intp)
        return cls(day - day.min(), int(day.max() - day.min()) + 1)

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Select rows; the number of days is that of all rows."""
        return self._replace(day=self.day[rows])

    def alerts(self, is_predicted: NDArray[np.bool_], confidence: float) -> Limits:
        """Return the mean number of alerts per day, with an interval for other days.

        The counts of different days are assumed to be independent, with any distribution.
        The interval is Student's on the log scale.
        """
        count = np.bincount(self.day[is_predicted], minlength=self.n_days)
        mean = float(count.mean())
        if self.n_days < 2:
            return Limits(mean, float("nan"), float("nan"))
        # Without alerts, the limit is that of a Poisson count.
        most = -float(np.log(1.0 - confidence)) / self.n_days
        if mean == 0:
            return Limits(0.0, 0.0, most)
        # At least the variance of a Poisson count: few alerts may vary less by chance.
        variance = max(float(count.var(ddof=1)), mean) / self.n_days
        half = float(special.stdtrit(self.n_days - 1, 0.5 + 0.5 * confidence))
        factor = float(np.exp(half * np.sqrt(variance) / mean))
        return Limits(mean, mean / factor, mean * factor)
