"""The operating point of a threshold: error rates with bounds for new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rocpath.auc_statistics.influence import falling_order
from rocpath.auc_statistics.rate_bounds import rate_bounds, simultaneous_rates
from rocpath.auc_statistics.results import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Interval = tuple[float, float]
DEFAULT_CONFIDENCE = 0.95
_UNKNOWN = (float("nan"), float("nan"))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OperatingPoint(Sentence):
    """Hold a threshold, and the error rates of the rows it was chosen by.

    Rows whose score is at least ``threshold`` are predicted positive. Each limit of an
    interval is a one-sided bound that holds for new rows with ``confidence``, with the
    choice of the threshold taken into account.

    Attributes
    ----------
    threshold : float
        Number between two scores; above all of them if no row is predicted positive.
    tpr, fpr, precision : float
        True positive rate, false positive rate and precision; the precision is NaN if
        no row is predicted positive.
    tpr_interval, fpr_interval, precision_interval : tuple of float
        Bounds of the rates; NaN for rows with unequal weights.
    expected_cost : float or None
        Mean cost of a row, if costs were given.
    expected_cost_interval : tuple of float or None
        Bounds of the mean cost.
    confidence : float
        Confidence of the bounds: the one given, or 0.95.
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

    def __repr__(self) -> str:
        parts = [
            f"{name} {value:.3f} ({limits[0]:.3f} to {limits[1]:.3f})"
            for name, value, limits in (
                ("TPR", self.tpr, self.tpr_interval),
                ("FPR", self.fpr, self.fpr_interval),
                ("precision", self.precision, self.precision_interval),
            )
        ]
        if self.expected_cost is not None:
            parts.append(f"cost {self.expected_cost:.4g}")
        return (
            f"threshold {self.threshold:.6g}: {', '.join(parts)}, each bound with "
            f"confidence {self.confidence:g}"
        )


class RankedRows(NamedTuple):
    """Distinct scores from the largest, and the rows of each class at or above them.

    The first score is larger than all, with no rows. With weights, ``tp`` and ``fp``
    are sums of weights, and ``n_called`` still counts rows.
    """

    score: NDArray[np.float64]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    n_called: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        is_positive: NDArray[np.bool_],
        score: NDArray[np.float64],
        weight: NDArray[np.float64] | None = None,
    ) -> RankedRows:
        """Sort rows by their scores."""
        order = falling_order(score)
        ranked = score[order]
        # No threshold separates equal scores, so only the last of them is a place.
        last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        label = is_positive[order]
        tp = np.cumsum(label)[last]
        fp = last + 1 - tp
        if weight is not None:
            tp, fp = (
                np.cumsum(np.where(side, weight[order], 0.0))[last] for side in (label, ~label)
            )
        nothing = np.nextafter(ranked[0], np.inf)
        return cls(
            np.append(nothing, ranked[last]),
            np.append(0, tp),
            np.append(0, fp),
            np.append(0, last + 1),
        )

    @property
    def is_weighted(self) -> bool:
        """Whether rows have unequal weights."""
        return self.tp.dtype.kind == "f"

    @property
    def n_positive(self) -> int:
        """Number of positives, or the sum of their weights."""
        total = self.tp[-1]
        return total if self.is_weighted else int(total)

    @property
    def n_negative(self) -> int:
        """Number of negatives, or the sum of their weights."""
        total = self.fp[-1]
        return total if self.is_weighted else int(total)

    @property
    def n_rows(self) -> int:
        """Number of rows, or the sum of their weights."""
        return self.n_positive + self.n_negative

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of positives at or above each score."""
        # A threshold that predicts nothing positive is never precise enough.
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
    """Bounds of both rates."""

    tpr: Interval
    fpr: Interval


def rates_of_any_place(rows: RankedRows, place: int) -> Callable[[float], Rates]:
    """Return bounds that hold however the place was chosen."""
    tp, fp = int(rows.tp[place]), int(rows.fp[place])

    def rates(level: float) -> Rates:
        # The best of all places is best partly by chance, so that the bounds must hold
        # for all places at once.
        tpr = simultaneous_rates(rows.n_positive, level)
        fpr = simultaneous_rates(rows.n_negative, level)
        return Rates((float(tpr[0][tp]), float(tpr[1][tp])), (float(fpr[0][fp]), float(fpr[1][fp])))

    return rates


def operating_point(
    rows: RankedRows, place: int, rates: Callable[[float], Rates], confidence: float | None
) -> OperatingPoint:
    """Predict the rows at this place and above positive."""
    level = confidence or DEFAULT_CONFIDENCE
    if rows.is_weighted:
        return _weighted_point(rows, place, level)
    tp, fp = int(rows.tp[place]), int(rows.fp[place])
    tpr_interval, fpr_interval = rates(level)
    # Precision follows from TPR, FPR and the share of positives: three bounds, each
    # with a third of the error probability.
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


def _weighted_point(rows: RankedRows, place: int, level: float) -> OperatingPoint:
    """Return weighted rates; binomial bounds need rows that count alike."""
    tp, fp = float(rows.tp[place]), float(rows.fp[place])
    return OperatingPoint(
        threshold=rows.threshold(place),
        tpr=tp / rows.n_positive,
        fpr=fp / rows.n_negative,
        precision=tp / (tp + fp) if tp + fp else float("nan"),
        tpr_interval=_UNKNOWN,
        fpr_interval=_UNKNOWN,
        precision_interval=_UNKNOWN,
        expected_cost=None,
        expected_cost_interval=None,
        confidence=level,
    )


def _precision(share: float, tpr: float, fpr: float, otherwise: float) -> float:
    called = share * tpr + (1.0 - share) * fpr
    return share * tpr / called if called > 0 else otherwise
