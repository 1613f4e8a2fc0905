"""The operating point of a threshold: error rates with bounds for new rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.auc_statistics.influence import falling_order
from rocpath.auc_statistics.rate_bounds import (
    Interval,
    highest_loss,
    highest_rate,
    rate_bounds,
    simultaneous_rates,
)
from rocpath.auc_statistics.results import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from numpy.typing import NDArray

DEFAULT_CONFIDENCE = 0.95
_UNKNOWN = (float("nan"), float("nan"))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OperatingPoint(Sentence):
    """Hold a threshold and its error rates on the rows from which it was chosen.

    Rows whose score is at least ``threshold`` are predicted positive. Each limit of an
    interval is a one-sided bound that holds for new rows with ``confidence``, with the
    choice of the threshold taken into account. If rows are grouped, only the bounds
    of constrained rates take it into account.

    Attributes
    ----------
    threshold : float
        Number between two scores; above all of them if no row is predicted positive.
    tpr, fpr, precision : float
        True positive rate, false positive rate and precision; the precision is NaN if
        no row is predicted positive.
    tpr_interval, fpr_interval, precision_interval : tuple of float
        Bounds of the rates; NaN for rows with unequal weights, and for the precision
        of grouped rows.
    expected_cost : float or None
        Mean cost of a row, if costs were given.
    expected_cost_interval : tuple of float or None
        Bounds of the mean cost.
    confidence : float
        Confidence of the bounds: the one given, or 0.95.
    tp, fp : int
        Number of true and of false positives among the rows.
    """

    threshold: float
    tpr: float
    fpr: float
    precision: float
    tpr_interval: Interval = _UNKNOWN
    fpr_interval: Interval = _UNKNOWN
    precision_interval: Interval = _UNKNOWN
    expected_cost: float | None = None
    expected_cost_interval: Interval | None = None
    confidence: float = DEFAULT_CONFIDENCE
    tp: int = 0
    fp: int = 0

    def __repr__(self) -> str:
        parts = []
        for name in ("tpr", "fpr", "precision"):
            low, high = getattr(self, f"{name}_interval")
            bounds = "" if np.isnan(low) else f" ({low:.3f} to {high:.3f})"
            shown = name if name == "precision" else name.upper()
            parts.append(f"{shown} {getattr(self, name):.3f}{bounds}")
        if self.expected_cost is not None:
            parts.append(f"cost {self.expected_cost:.4g}")
        return (
            f"threshold {self.threshold:.6g}: {', '.join(parts)}, each bound with "
            f"confidence {self.confidence:g}"
        )


class RankedRows(NamedTuple):
    """Distinct scores from the largest, and the rows of each class at or above them.

    The first score is larger than all, with no rows. ``tp`` and ``fp`` are numbers of
    rows, sums of their weights, or sums of the rates of groups; ``n_called`` always
    counts rows.
    """

    score: NDArray[np.float64]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    n_called: NDArray[np.int64]
    unit: Literal["row", "weight", "group"] = "row"
    n_true: NDArray[np.int64] | None = None  # positives, if ``tp`` does not count them

    @classmethod
    def of(
        cls,
        is_positive: NDArray[np.bool_],
        score: NDArray[np.float64],
        weight: NDArray[np.float64] | None = None,
        group: NDArray[np.intp] | None = None,
    ) -> RankedRows:
        """Sort rows by their scores; the rows of a group and class share a weight of 1."""
        unit: Literal["row", "weight", "group"] = "row" if weight is None else "weight"
        if group is not None:
            unit = "group"
            key = np.where(is_positive, group + int(group.max()) + 1, group)
            weight = 1.0 / np.bincount(key)[key]
        order = falling_order(score)
        ranked = score[order]
        # No threshold separates equal scores, so only the last of them is a candidate.
        last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        label = is_positive[order]
        tp = n_true = np.cumsum(label)[last]
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
            unit,
            np.append(0, n_true),
        )

    @property
    def n_positive(self) -> int:
        """Number of positives or of groups with positives, or the sum of their weights."""
        return self._total(self.tp)  # type: ignore[no-any-return]

    @property
    def n_negative(self) -> int:
        """Number of negatives or of groups with negatives, or the sum of their weights."""
        return self._total(self.fp)  # type: ignore[no-any-return]

    def _total(self, sums: NDArray[Any]) -> Any:
        return sums[-1] if self.unit == "weight" else round(float(sums[-1]))

    @property
    def n_rows(self) -> int:
        """Number of rows, or the sum of their weights."""
        return self.n_positive + self.n_negative

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of positives at or above each score."""
        # Without predicted positives it is undefined; 0 satisfies no constraint.
        true, called = self.n_true_called, self.n_called
        if self.unit == "weight":
            true, called = self.tp, self.tp + self.fp
        return np.divide(true, called, out=np.zeros(called.size), where=called > 0)

    @property
    def n_true_called(self) -> NDArray[np.int64]:
        """Number of positives at or above each score."""
        return self.tp if self.n_true is None else self.n_true

    def threshold(self, place: int) -> float:
        """Return a number in the middle between this score and the next."""
        score = float(self.score[place])
        if place in (0, self.score.size - 1):
            return score
        following = float(self.score[place + 1])
        middle = 0.5 * score + 0.5 * following
        # There is no number between neighboring float64 numbers.
        return middle if middle > following else score

    def highest(self, loss: float, n_units: int, confidence: float) -> float:
        """Return the upper bound of a rate for new rows, or for rows of a new group."""
        if self.unit == "group":
            return highest_loss(loss, n_units, confidence)
        return float(highest_rate(loss, n_units, confidence))

    def bounds(self, count: float, n_units: int, confidence: float) -> Interval:
        """Return both bounds of a rate at a place that was chosen independently of the rows."""
        lowest = 1.0 - self.highest(n_units - count, n_units, confidence)
        return lowest, self.highest(count, n_units, confidence)


RateBounds = tuple[Interval, Interval]  # of TPR and FPR


def bounds_of_any_place(rows: RankedRows, place: int, confidence: float) -> RateBounds:
    """Return bounds of both rates that hold however the place was chosen."""
    if rows.unit == "group":
        return (
            rows.bounds(rows.tp[place], rows.n_positive, confidence),
            rows.bounds(rows.fp[place], rows.n_negative, confidence),
        )
    # The best of all places is best partly by chance, so that the bounds must hold for
    # all places at once.
    tpr, fpr = (simultaneous_rates(n, confidence) for n in (rows.n_positive, rows.n_negative))
    tp, fp = int(rows.tp[place]), int(rows.fp[place])
    return (float(tpr[0][tp]), float(tpr[1][tp])), (float(fpr[0][fp]), float(fpr[1][fp]))


def operating_point(
    rows: RankedRows, place: int, bounds: Callable[[float], RateBounds], confidence: float | None
) -> OperatingPoint:
    """Return the operating point at a place, with bounds unless rows are weighted."""
    level = confidence or DEFAULT_CONFIDENCE
    tp = int(rows.n_true_called[place])
    point = OperatingPoint(
        threshold=rows.threshold(place),
        tpr=float(rows.tp[place] / rows.n_positive),
        fpr=float(rows.fp[place] / rows.n_negative),
        precision=float(rows.precision[place]) if place else float("nan"),
        confidence=level,
        tp=tp,
        fp=int(rows.n_called[place]) - tp,
    )
    if rows.unit == "weight":
        return point
    tpr_interval, fpr_interval = bounds(level)
    point = replace(point, tpr_interval=tpr_interval, fpr_interval=fpr_interval)
    if rows.unit == "group":
        return point
    # Precision follows from TPR, FPR and the share of positives: three bounds, each
    # with a third of the error probability.
    third = 1.0 - (1.0 - level) / 3.0
    tpr, fpr = bounds(third)
    share = rate_bounds(rows.n_positive, rows.n_rows, third)
    lowest = _precision(share[0], tpr[0], fpr[1], 0.0)
    return replace(point, precision_interval=(lowest, _precision(share[1], tpr[1], fpr[0], 1.0)))


def _precision(share: float, tpr: float, fpr: float, otherwise: float) -> float:
    called = share * tpr + (1.0 - share) * fpr
    return share * tpr / called if called > 0 else otherwise
