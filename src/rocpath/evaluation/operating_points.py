"""The operating point of a threshold: error rates with bounds for new rows."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rocpath.evaluation.influence import descending_order
from rocpath.evaluation.rate_bounds import (
    Interval,
    geometric_ranks,
    highest_loss,
    highest_rate,
    rate_bounds,
    simultaneous_rates,
)
from rocpath.evaluation.results import Sentence
from rocpath.validation import Floats

Unit = Literal["row", "weight", "group"]  # unit in which rates are counted
DEFAULT_CONFIDENCE = 0.95
_UNKNOWN = (float("nan"), float("nan"))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OperatingPoint(Sentence):
    """A threshold, and its error rates on the rows from which it was chosen.

    Rows whose score is at least ``threshold`` are predicted positive. Each limit of an
    interval is a one-sided bound that holds for new rows with ``confidence`` and
    accounts for the choice of the threshold. If rows are grouped, only the bounds of
    constrained rates account for it.

    Attributes
    ----------
    threshold : float
        Threshold between two adjacent scores, or above all scores if no row is
        predicted positive.
    tpr, fpr, precision : float
        True positive rate, false positive rate and precision; the precision is NaN if
        no row is predicted positive.
    tpr_interval, fpr_interval, precision_interval : tuple of float
        Lower and upper bounds of the rates; NaN for rows with unequal weights, and for
        the precision of grouped rows.
    expected_cost : float or None
        Mean cost of a row, if costs were given.
    expected_cost_interval : tuple of float or None
        Lower and upper bounds of the mean cost.
    confidence : float
        Confidence level of each bound; 0.95 if none was given.
    tp, fp : int
        Numbers of true and false positives.
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
            rate = getattr(self, name)
            parts.append(f"{shown} {rate:.3f}{bounds}" if rate == rate else f"{shown} undefined")
        if self.expected_cost is not None:
            parts.append(f"cost {self.expected_cost:.4g}")
        if not np.isnan(self.tpr_interval[0]):
            parts.append(f"each bound with confidence {self.confidence:g}")
        return f"threshold {self.threshold:.6g}: {', '.join(parts)}"


class RankedRows(NamedTuple):
    """Distinct scores in descending order, and the rows of each class at or above them.

    Each score is a candidate threshold; the first is larger than the scores of all
    rows. ``tp`` and ``fp`` are numbers of rows, sums of their weights, or sums of the
    rates of groups; ``n_predicted`` and ``n_true`` always count rows: those predicted
    positive, and the true positives among them.
    """

    score: Floats
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    n_predicted: NDArray[np.int64]
    unit: Unit
    n_true: NDArray[np.int64]

    @classmethod
    def from_scores(
        cls,
        is_positive: NDArray[np.bool_],
        score: Floats,
        weight: Floats | None = None,
        group: NDArray[np.intp] | None = None,
    ) -> Self:
        """Sort rows by score; the rows of a group and class share a weight of 1."""
        unit: Unit = "row" if weight is None else "weight"
        if group is not None:
            unit = "group"
            key = np.where(is_positive, group + int(group.max()) + 1, group)
            weight = 1.0 / np.bincount(key)[key]
        order = descending_order(score)
        ranked, label = score[order], is_positive[order]
        # No threshold separates equal scores, so only the last of them is a candidate.
        last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        sums = [np.cumsum(label)[last], np.cumsum(~label)[last]]
        if weight is not None:
            sides = np.where(label, weight[order], 0.0), np.where(label, 0.0, weight[order])
            sums += [np.cumsum(side)[last] for side in sides]
        n_true, n_false, tp, fp = (np.append(0, one) for one in (*sums[:2], *sums[-2:]))
        threshold = np.append(np.nextafter(ranked[0], np.inf), ranked[last])
        return cls(threshold, tp, fp, n_true + n_false, unit, n_true)

    @property
    def n_positive(self) -> int:
        """Number of positives or groups with positives, or the sum of weights."""
        return self._total(self.tp)  # type: ignore[no-any-return]

    @property
    def n_negative(self) -> int:
        """Number of negatives or groups with negatives, or the sum of weights."""
        return self._total(self.fp)  # type: ignore[no-any-return]

    def _total(self, sums: NDArray[Any]) -> Any:
        return sums[-1] if self.unit == "weight" else round(float(sums[-1]))

    @property
    def n_rows(self) -> int:
        """Number of rows, or the sum of their weights."""
        return self.n_positive + self.n_negative

    @property
    def precision(self) -> Floats:
        """Share of positives at or above each score."""
        true, predicted = self.n_true, self.n_predicted
        if self.unit == "weight":
            true, predicted = self.tp, self.tp + self.fp
        # If no row is predicted positive, precision is undefined; 0 satisfies no constraint.
        return np.divide(true, predicted, out=np.zeros(true.size), where=predicted > 0)

    def grid(self, *, ratio: float = 1.02) -> NDArray[np.intp]:
        """Return indices of thresholds, closest together at the top of the ranking."""
        # Thresholds are usually chosen there, and rates change fastest.
        ranks = geometric_ranks(1, int(self.n_predicted[-1]), ratio=ratio)
        index = np.searchsorted(self.n_predicted, ranks, side="right") - 1
        return np.unique(np.append(0, index))

    def threshold(self, index: int) -> float:
        """Return the midpoint between this score and the next."""
        score = float(self.score[index])
        if index in (0, self.score.size - 1):
            return score
        following = float(self.score[index + 1])
        middle = 0.5 * score + 0.5 * following
        # There is no number between two adjacent float64 numbers.
        return middle if middle > following else score

    def highest(self, loss: float, n_units: int, confidence: float) -> float:
        """Return the upper bound of a rate for new rows, or for rows of a new group."""
        if self.unit == "group":
            return highest_loss(loss, n_units, confidence)
        return float(highest_rate(loss, n_units, confidence))

    def bounds(self, count: float, n_units: int, confidence: float) -> Interval:
        """Return the bounds of a rate at a threshold independent of the rows."""
        lowest = 1.0 - self.highest(n_units - count, n_units, confidence)
        return lowest, self.highest(count, n_units, confidence)


def operating_point(
    rows: RankedRows,
    index: int,
    confidence: float | None = None,
    limits: Mapping[str, float] | None = None,
) -> OperatingPoint:
    """Return the operating point of a threshold, with bounds for unweighted rows.

    ``limits`` are those of :func:`feasible_thresholds` for the targets from which the
    threshold was chosen.
    """
    level, limits = confidence or DEFAULT_CONFIDENCE, limits or {}
    is_guaranteed = confidence is not None
    n_true = int(rows.n_true[index])
    intervals: dict[str, Any] = {}
    if rows.unit != "weight":
        tpr, fpr = _rate_intervals(rows, index, level, limits, is_guaranteed=is_guaranteed)
        intervals = {"tpr_interval": tpr, "fpr_interval": fpr}
    if rows.unit == "row":
        # Precision follows from TPR, FPR and the share of positives: three bounds, each
        # with a third of the error probability.
        third = 1.0 - (1.0 - level) / 3.0
        tpr, fpr = _rate_intervals(rows, index, third, limits, is_guaranteed=is_guaranteed)
        share = rate_bounds(rows.n_positive, rows.n_rows, third)
        lowest = _precision(share[0], tpr[0], fpr[1], 0.0)
        intervals["precision_interval"] = lowest, _precision(share[1], tpr[1], fpr[0], 1.0)
    return OperatingPoint(
        threshold=rows.threshold(index),
        tpr=float(rows.tp[index] / rows.n_positive),
        fpr=float(rows.fp[index] / rows.n_negative),
        precision=float(rows.precision[index]) if index else float("nan"),
        **intervals,
        confidence=level,
        tp=n_true,
        fp=int(rows.n_predicted[index]) - n_true,
    )


def _rate_intervals(
    rows: RankedRows, index: int, level: float, limits: Mapping[str, float], *, is_guaranteed: bool
) -> list[Interval]:
    """Return bounds of TPR and FPR that account for the choice of the threshold."""
    # A rank that does not depend on the scores needs no correction for selection, and
    # rows of the other class have no influence on it.
    is_rank = set(limits) in ({"max_fpr"}, {"min_tpr"})

    def bounds(count: Any, n_units: int) -> Interval:
        if is_rank or rows.unit == "group":
            return rows.bounds(count, n_units, level)
        # The chosen threshold is the best one partly by chance, so the bounds must hold
        # for all thresholds simultaneously.
        low, high = simultaneous_rates(n_units, level)
        return float(low[int(count)]), float(high[int(count)])

    tpr = bounds(rows.tp[index], rows.n_positive)
    fpr = bounds(rows.fp[index], rows.n_negative)
    if is_rank or is_guaranteed:
        # With ties, there may be fewer errors than allowed; the bound is for the allowed ones.
        each = shared_level(level, limits)
        if "max_fpr" in limits:
            highest = rows.highest(limits["max_fpr"], rows.n_negative, each)
            fpr = min(fpr[0], highest), highest
        if "min_tpr" in limits:
            lowest = 1.0 - rows.highest(limits["min_tpr"], rows.n_positive, each)
            tpr = lowest, max(tpr[1], lowest)
    return [tpr, fpr]


def shared_level(confidence: float, targets: Collection[str]) -> float:
    """Return the confidence level of each target that needs a bound (Bonferroni)."""
    # ``top`` needs no bound: the number of given rows predicted positive is known.
    return 1.0 - (1.0 - confidence) / max(sum(name != "top" for name in targets), 1)


def _precision(share: float, tpr: float, fpr: float, otherwise: float) -> float:
    predicted = share * tpr + (1.0 - share) * fpr
    return share * tpr / predicted if predicted > 0 else otherwise
