"""What a threshold of scores does: rates of errors, with bounds for new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rocpath.auc_statistics.influence import falling_order
from rocpath.auc_statistics.rate_bounds import rate_bounds, simultaneous_rates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Interval = tuple[float, float]
DEFAULT_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoint:
    """Hold a threshold, and the rates of the rows it was chosen by.

    Rows whose score is at least ``threshold`` are called positive. Each end of an
    interval is a bound that holds for new rows with ``confidence``, the choice of the
    threshold taken into account.

    Attributes
    ----------
    threshold : float
        Between two scores; above all of them if no row is called positive.
    tpr, fpr, precision : float
        Shares called positive of the positives and of the negatives, and of positives
        among those called positive; not a number if there are none.
    tpr_interval, fpr_interval, precision_interval : tuple of float
        Their bounds.
    expected_cost : float or None
        Cost of a row on average, if costs were given.
    expected_cost_interval : tuple of float or None
        Its bounds.
    confidence : float
        Of the bounds: as asked for, or 0.95.
    """

    threshold: float
    tpr: float
    fpr: float
    precision: float
    tpr_interval: Interval
    fpr_interval: Interval
    precision_interval: Interval
    expected_cost: float | None
    expected_cost_interval: Interval | None
    confidence: float


class RankedRows(NamedTuple):
    """Distinct scores from the largest, and the rows of each class at or above them.

    The first is larger than all, with no rows.
    """

    score: NDArray[np.float64]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]

    @classmethod
    def of(
        cls, is_positive: NDArray[np.bool_], score: NDArray[np.float64]
    ) -> RankedRows:
        """Sort rows by their scores."""
        order = falling_order(score)
        ranked = score[order]
        # No threshold stands between equal scores, so only the last of them is a place.
        last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        tp = np.cumsum(is_positive[order])[last]
        nothing = np.nextafter(ranked[0], np.inf)
        return cls(
            np.append(nothing, ranked[last]),
            np.append(0, tp),
            np.append(0, last + 1 - tp),
        )

    @property
    def n_positive(self) -> int:
        """Return the number of positives."""
        return int(self.tp[-1])

    @property
    def n_negative(self) -> int:
        """Return the number of negatives."""
        return int(self.fp[-1])

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return self.n_positive + self.n_negative

    @property
    def precision(self) -> NDArray[np.float64]:
        """Return the share of positives at or above each score."""
        # Nothing called positive is never precise enough.
        return np.append(0.0, self.tp[1:] / (self.tp + self.fp)[1:])

    def threshold(self, place: int) -> float:
        """Return a number in the middle between this score and the next."""
        score = float(self.score[place])
        if place in (0, self.score.size - 1):
            return score
        following = float(self.score[place + 1])
        middle = 0.5 * score + 0.5 * following
        # Neighboring float64 numbers have no middle.
        return middle if middle > following else score


class Rates(NamedTuple):
    """Hold bounds of both rates."""

    tpr: Interval
    fpr: Interval


def rates_of_any_place(rows: RankedRows, place: int) -> Callable[[float], Rates]:
    """Return bounds that hold however the place was chosen."""
    tp, fp = int(rows.tp[place]), int(rows.fp[place])

    def rates(level: float) -> Rates:
        # Who looks at all places and takes the best has looked at luck too: so the
        # bounds hold for all places at once.
        tpr = simultaneous_rates(rows.n_positive, level)
        fpr = simultaneous_rates(rows.n_negative, level)
        return Rates(
            (float(tpr[0][tp]), float(tpr[1][tp])),
            (float(fpr[0][fp]), float(fpr[1][fp])),
        )

    return rates


def operating_point(
    rows: RankedRows,
    place: int,
    rates: Callable[[float], Rates],
    confidence: float | None,
) -> OperatingPoint:
    """Call the rows at this place and above positive."""
    tp, fp = int(rows.tp[place]), int(rows.fp[place])
    level = confidence or DEFAULT_CONFIDENCE
    tpr_interval, fpr_interval = rates(level)
    # Precision follows from TPR, FPR and the share of positives: three bounds, each of
    # which may fail in a third of the cases left.
    third = 1.0 - (1.0 - level) / 3.0
    tpr, fpr = rates(third)
    share = rate_bounds(rows.n_positive, rows.n_rows, third)
    return OperatingPoint(
        threshold=rows.threshold(place),
        tpr=tp / rows.n_positive,
        fpr=fp / rows.n_negative,
        precision=tp / (tp + fp) if tp + fp else float("nan"),
        tpr_interval=tpr_interval,
        fpr_interval=fpr_interval,
        precision_interval=(
            _precision(share[0], tpr[0], fpr[1], 0.0),
            _precision(share[1], tpr[1], fpr[0], 1.0),
        ),
        expected_cost=None,
        expected_cost_interval=None,
        confidence=level,
    )


def _precision(share: float, tpr: float, fpr: float, otherwise: float) -> float:
    called = share * tpr + (1.0 - share) * fpr
    return share * tpr / called if called > 0 else otherwise
