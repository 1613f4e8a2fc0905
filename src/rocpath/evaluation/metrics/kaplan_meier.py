"""Kaplan-Meier estimates of survival and censoring, and the influence of rows on them.

A row leaves the sample by its event or by censoring. At equal times, events come first:
rows that are censored at a time are at risk of an event, but events are not at risk of
censoring (as in lifelines and scikit-survival).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rocpath.validation import Floats


@dataclass(frozen=True, eq=False)
class KaplanMeier:
    """The product of ``remaining / at_risk`` over the distinct times up to a time.

    Attributes
    ----------
    time : array
        Distinct times, in ascending order.
    estimate : array
        Estimate at each of them, after the rows of this time have left.
    at_risk, remaining : array
        Weight of the rows before and after some have left.
    index : array
        Index in ``time`` of each row.
    leaves : array of bool
        Whether a row leaves, rather than being withdrawn.
    is_of_censoring : bool
        Whether rows leave by censoring rather than by their event.
    """

    time: Floats
    estimate: Floats
    at_risk: Floats
    remaining: Floats
    index: NDArray[np.intp]
    leaves: NDArray[np.bool_]
    is_of_censoring: bool

    @classmethod
    def from_rows(
        cls,
        time: Floats,
        has_event: NDArray[np.bool_],
        weight: Floats | None = None,
        *,
        of_censoring: bool = False,
    ) -> Self:
        """Estimate the survival function of events, or that of censoring."""
        distinct, index = np.unique(time, return_inverse=True)
        events: Floats
        censored: Floats
        events, censored = (
            np.bincount(
                index[rows], None if weight is None else weight[rows], distinct.size
            ).astype(np.float64)
            for rows in (has_event, ~has_event)
        )
        later = np.append(np.cumsum((events + censored)[:0:-1])[::-1], 0.0)
        remaining = later if of_censoring else later + censored
        at_risk = later + censored + (0.0 if of_censoring else events)
        survived = np.divide(remaining, at_risk, out=np.ones(distinct.size), where=at_risk > 0)
        leaves = ~has_event if of_censoring else has_event
        estimate = np.cumprod(survived)
        return cls(distinct, estimate, at_risk, remaining, index, leaves, of_censoring)

    def place(self, time: float) -> int:
        """Return the number of distinct times up to a time."""
        return int(np.searchsorted(self.time, time, side="right"))

    def at(self, time: float) -> float:
        """Return the estimate at a time."""
        place = self.place(time)
        return float(self.estimate[place - 1]) if place else 1.0

    def influence(self, coefficient: Floats) -> Floats:
        """Return the derivative of ``coefficient @ log(estimate)`` by the weight of each row.

        There is one coefficient for each distinct time; it must be zero where the
        estimate is zero.
        """
        # The factor of a time is part of the estimate at all later times.
        factor = np.cumsum(coefficient[::-1])[::-1]
        zeros = np.zeros(factor.size)
        leaving = np.divide(factor, self.at_risk, out=zeros.copy(), where=self.remaining > 0)
        left = leaving * (self.at_risk - self.remaining)
        staying = np.divide(left, self.remaining, out=zeros, where=self.remaining > 0)
        total = np.append(0.0, np.cumsum(staying))
        # A row that is censored at a time is at risk of an event at this time.
        last = self.index if self.is_of_censoring else self.index + 1
        return np.where(self.leaves, total[self.index] - leaving[self.index], total[last])
