"""Censored times: how long each row was observed, and whether its event occurred."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.validation import (
    Floats,
    check_masked,
    check_none,
    describe,
    finite_vector,
    read_only,
    same_length,
    set_fields,
)


@dataclass(frozen=True, eq=False, repr=False)
class Survival:
    """Censored times, as the outcome ``y`` of functions that measure rankings.

    A structured array of scikit-survival with one Boolean and one numeric field is
    accepted instead, so it need not be converted.

    Parameters
    ----------
    time : array-like, shape (n_rows,)
        Time until the event or until the end of the observation, non-negative.
    event : array-like, shape (n_rows,)
        Whether the event occurred: Booleans, or 0 and 1. Rows without it are censored.

    Attributes
    ----------
    time : array of float
        Time of each row.
    event : array of bool
        Whether the event of each row occurred.

    Examples
    --------
    >>> import rocpath as rp
    >>> y = rp.Survival(time=[5, 8, 3, 9], event=[1, 0, 1, 1])
    >>> y
    Survival(4 rows, 3 events, time from 3 to 9)
    """

    time: Floats
    event: NDArray[np.bool_]

    def __init__(self, time: ArrayLike, event: ArrayLike) -> None:
        times = finite_vector("time", time)
        check_none(times < 0, "time must not be negative", times)
        indicator = finite_vector("event", event)
        is_indicator = (indicator == 0) | (indicator == 1)
        check_none(~is_indicator, "event must be False or True, or 0 or 1", indicator)
        same_length(time=times, event=indicator)
        set_fields(self, time=times, event=read_only(indicator == 1))

    @classmethod
    def from_outcome(cls, y: Any) -> Self | None:
        """Return censored times, or None if an outcome consists of labels.

        Parameters
        ----------
        y : Survival, structured array or array-like
            Outcome of each row; a structured array has a field of events and one of times.

        Returns
        -------
        Survival or None
        """
        if isinstance(y, cls):
            return y
        check_masked("y", y)
        names = getattr(getattr(y, "dtype", None), "names", None)
        if not names:
            return None
        by_kind = {y.dtype[name].kind: name for name in names}
        indicator, times = by_kind.pop("b", None), list(by_kind.values())
        if len(names) != 2 or indicator is None or len(times) != 1:
            raise ValueError(
                "y must be labels, Survival(time, event), or an array with a Boolean field "
                f"and a field of times, got fields {describe(names)}."
            )
        return cls(y[times[0]], y[indicator])

    def __len__(self) -> int:
        return self.time.size

    def __getitem__(self, rows: Any) -> Self:
        """Select rows."""
        return type(self)(self.time[rows], self.event[rows])

    def __repr__(self) -> str:
        events = int(np.count_nonzero(self.event))
        if not len(self):
            return "Survival(0 rows)"
        return (
            f"Survival({len(self):,} rows, {events:,} events, time from {self.time.min():g} "
            f"to {self.time.max():g})"
        )
