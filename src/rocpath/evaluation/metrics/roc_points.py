"""One rate at a given value of the other: points of the ROC curve.

The threshold is estimated from one class, so its rows have an influence too: it is the
slope of the ROC curve at the point times that of an error rate at a fixed threshold.
With independent rows, the interval accounts for the threshold exactly: the number of
negatives above the true threshold is binomial, and the threshold lies between two
neighboring negatives.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import special

from rocpath.evaluation.influence import Variance, class_sums, descending_order
from rocpath.evaluation.metrics.metric import Column, Estimate, kish_count
from rocpath.evaluation.metrics.scales import RateScale
from rocpath.evaluation.rate_bounds import smallest_root
from rocpath.sample import Sample
from rocpath.validation import Floats, set_fields, share_between

_NODES = 64  # nodes of the quadrature over the false positive rate of the threshold
_LARGEST_SLOPE = 3.0  # upper limit for the estimated slope of a ROC curve on probit scales
_NEAR = 0.75  # distance on the probit scale of the points that determine the slope


@dataclass(frozen=True)
class PointScale(RateScale):
    """Exact intervals for independent rows, and Wilson's intervals for other designs."""

    def limits(
        self, column: Column, center: float, variance: Variance, confidence: float
    ) -> tuple[float, float]:
        """Return the limits of the interval."""
        sample, exact_limits = column.sample, getattr(column.metric, "exact_limits", None)
        if exact_limits is None or sample.unit is not None or sample.weight is not None:
            if beyond_the_data(column.metric, sample):
                return column.metric.bounds  # type: ignore[no-any-return]
            return super().limits(column, center, variance, confidence)
        low, high = exact_limits(sample, column.score, confidence)
        return float(low), float(high)


def beyond_the_data(metric: Any, sample: Sample) -> bool:
    """Return whether less than one row is expected beyond the given rate."""
    if isinstance(metric, TPRAtFPR):
        mask, rate = ~sample.is_positive, metric.fpr
    elif isinstance(metric, FPRAtTPR):
        mask, rate = sample.is_positive, 1.0 - metric.tpr
    else:
        return False
    return kish_count(sample.weights[mask]) * rate < 1.0


class PointMetric:
    """What both metrics state about rates beyond the data."""

    def warnings_for(self, sample: Sample) -> tuple[str, ...]:
        """Return the reasons for which an interval is trivial."""
        is_exact = sample.unit is None and sample.weight is None
        if is_exact or not beyond_the_data(self, sample):
            return ()
        return ("less than one row is expected beyond the given rate.",)

    def check_comparable(self, sample: Sample) -> None:
        """Raise if differences have no valid test."""
        if beyond_the_data(self, sample):
            raise ValueError(
                f"{self.name} must expect at least one row beyond the "  # type: ignore[attr-defined]
                "given rate for a comparison: use a less extreme rate."
            )


@dataclass(frozen=True)
class TPRAtFPR(PointMetric):
    """True positive rate at a given false positive rate.

    Parameters
    ----------
    fpr : float
        False positive rate, in (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> y = np.arange(200) % 2
    >>> rp.interval(y, np.arange(200) + 60 * y, rp.metrics.TPRAtFPR(0.1))
    TPR at 10% FPR 0.410 (95% CI 0.294 to 0.523), 100 positives, 100 negatives
    """

    fpr: float
    outcome: ClassVar[Literal["labels"]] = "labels"
    scale = PointScale()
    bounds = (0.0, 1.0)
    digits = 3

    def __post_init__(self) -> None:
        set_fields(self, fpr=share_between("fpr", self.fpr))

    @property
    def name(self) -> str:
        """Name with the false positive rate."""
        return f"TPR at {100 * self.fpr:g}% FPR"

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the rate and the influence of each row."""
        curve = _Steps.from_rows(sample, score)
        index = curve.index_at(self.fpr)
        value = float(curve.tp[index] / curve.tp[-1])
        is_above = score >= curve.threshold[index]
        slope = curve.probit_slope(self.fpr)
        # The slope of the curve itself, from that on probit scales.
        z = special.ndtri((curve.tp[index] + 0.5) / (curve.tp[-1] + 1.0))
        slope *= float(np.exp(0.5 * (special.ndtri(self.fpr) ** 2 - z**2)))
        weight, is_positive = sample.weights, sample.is_positive
        fpr = float(curve.fp[index] / curve.fp[-1])
        influence = np.where(
            is_positive, (is_above - value) / curve.tp[-1], -slope * (is_above - fpr) / curve.fp[-1]
        )
        return Estimate(value, weight * influence, is_positive)

    def exact_limits(self, sample: Sample, score: Floats, confidence: float) -> tuple[float, float]:
        """Return the limits for independent rows."""
        curve = _Steps.from_rows(sample, score)
        n_negative = int(curve.fp[-1])
        missing = 0.5 * (1.0 - confidence)
        if n_negative * self.fpr < 1.0:
            return curve.limits_beyond(self.fpr, missing)
        return curve.limits_at(self.fpr, missing)


@dataclass(frozen=True)
class FPRAtTPR(PointMetric):
    """False positive rate at a given true positive rate.

    The method is that of :class:`TPRAtFPR` with exchanged classes.

    Parameters
    ----------
    tpr : float
        True positive rate, in (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> y = np.arange(200) % 2
    >>> rp.interval(y, np.arange(200) + 60 * y, rp.metrics.FPRAtTPR(0.9))
    FPR at 90% TPR 0.590 (95% CI 0.477 to 0.706), 100 positives, 100 negatives
    """

    tpr: float
    outcome: ClassVar[Literal["labels"]] = "labels"
    scale = PointScale()
    bounds = (0.0, 1.0)
    digits = 3

    def __post_init__(self) -> None:
        set_fields(self, tpr=share_between("tpr", self.tpr))

    @property
    def name(self) -> str:
        """Name with the true positive rate."""
        return f"FPR at {100 * self.tpr:g}% TPR"

    def _exchanged(self, sample: Sample) -> tuple[TPRAtFPR, Sample]:
        # With negated scores, false negatives are false positives.
        return TPRAtFPR(1.0 - self.tpr), replace(sample, is_positive=~sample.is_positive)

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the rate and the influence of each row."""
        metric, exchanged = self._exchanged(sample)
        value, influence, counted = metric.estimate(exchanged, -score)
        return Estimate(1.0 - value, -influence, counted)

    def exact_limits(self, sample: Sample, score: Floats, confidence: float) -> tuple[float, float]:
        """Return the limits for independent rows."""
        metric, exchanged = self._exchanged(sample)
        low, high = metric.exact_limits(exchanged, -score, confidence)
        return 1.0 - high, 1.0 - low


@dataclass(frozen=True)
class _Steps:
    """Thresholds in descending order, and the weights of each class at or above them.

    The first threshold is above all scores.
    """

    threshold: Floats
    tp: Floats
    fp: Floats

    @classmethod
    def from_rows(cls, sample: Sample, score: Floats) -> "_Steps":
        order = descending_order(score)
        ranked, label = score[order], sample.is_positive[order]
        start = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
        weight = None if sample.weight is None else sample.weight[order]
        tp, fp = (np.append(0.0, np.cumsum(each)) for each in class_sums(label, weight, start))
        return cls(np.append(np.inf, ranked[start]), tp, fp)

    def index_at(self, fpr: float) -> int:
        """Return the lowest threshold whose false positive rate is at most ``fpr``."""
        limit = self.fp[-1] * fpr * (1.0 + 1e-12)
        return int(np.searchsorted(self.fp, limit, side="right")) - 1

    def probit_slope(self, fpr: float) -> float:
        """Return the slope of the ROC curve on probit scales near a false positive rate."""
        # Counts are moved away from 0 and from their totals, where probits are infinite.
        x = special.ndtri((self.fp + 0.5) / (self.fp[-1] + 1.0))
        z = special.ndtri((self.tp + 0.5) / (self.tp[-1] + 1.0))
        near = np.abs(x - special.ndtri(fpr)) < _NEAR
        spread = float(np.var(x[near])) if near.sum() > 2 else 0.0
        if spread == 0:
            return 1.0
        slope = float(np.cov(x[near], z[near], bias=True)[0, 1]) / spread
        return min(max(slope, 0.0), _LARGEST_SLOPE)

    def limits_at(self, fpr: float, missing: float) -> tuple[float, float]:
        """Return limits that average over the false positive rate of the threshold.

        The threshold is just above a negative, so its rate has a Beta distribution; the
        slope of the curve leads from it to the rate at ``fpr``.
        """
        index = self.index_at(fpr)
        n_negative, n_positive = int(self.fp[-1]), int(self.tp[-1])
        n_above = int(np.floor(n_negative * fpr * (1.0 + 1e-12)))
        count = int(self.tp[index])
        node, weight = np.polynomial.legendre.leggauss(_NODES)
        at = special.betaincinv(n_above + 1.0, max(n_negative - n_above, 1), 0.5 * (node + 1.0))
        shift = self.probit_slope(fpr) * (special.ndtri(at) - special.ndtri(fpr))

        def limit(probability: float) -> float:
            def exceeds(probit: float) -> bool:
                rate = special.ndtr(probit + shift)
                # Mid-p value: the observed count contributes half of its probability.
                tails = special.bdtrc([[count - 1], [count]], n_positive, rate)
                return bool(weight @ tails.mean(axis=0) >= 2.0 * probability)

            return float(special.ndtr(smallest_root(exceeds, -9.0, 9.0)))

        value = count / n_positive
        low = 0.0 if count == 0 else limit(missing)
        high = 1.0 if count == n_positive else limit(1.0 - missing)
        return min(low, value), max(high, value)

    def limits_beyond(self, fpr: float, missing: float) -> tuple[float, float]:
        """Return limits for a rate at which less than one negative is expected.

        Given the number k of negatives above the true threshold, the positives above it
        are at least those above the k-th negative, and at most those above the next one.
        """
        n_negative, n_positive = int(self.fp[-1]), int(self.tp[-1])
        k = np.arange(int(min(n_negative, 60)) + 1)
        mass = special.bdtr(k, n_negative, fpr)
        mass = np.diff(mass, prepend=0.0)
        # Positives strictly above the k-th negative, and at or above the next one.
        at_least = np.append(0.0, self._positives_above(k[1:]))
        at_most = np.append(self._positives_at(k[1:]), n_positive)[: k.size]

        def lowest(probit: float) -> bool:
            rate = special.ndtr(probit)
            some = at_least > 0
            tail = np.ones(k.size)  # with no positives, any rate is possible
            tail[some] = special.bdtrc(at_least[some] - 1, n_positive, rate)
            return bool(mass @ tail >= missing)

        def highest(probit: float) -> bool:
            return bool(mass @ special.bdtr(at_most, n_positive, special.ndtr(probit)) < missing)

        low = float(special.ndtr(smallest_root(lowest, -9.0, 9.0)))
        high = float(special.ndtr(smallest_root(highest, -9.0, 9.0)))
        value = float(self.tp[self.index_at(fpr)] / n_positive)
        return min(low if low > 1e-12 else 0.0, value), max(
            high if high < 1 - 1e-12 else 1.0, value
        )

    def _positives_above(self, rank: Any) -> Floats:
        """Return the positives strictly above the negative of each rank."""
        index = np.searchsorted(self.fp, rank, side="left")
        return np.asarray(self.tp[index - 1])

    def _positives_at(self, rank: Any) -> Floats:
        """Return the positives at or above the negative of each rank."""
        return np.asarray(self.tp[np.searchsorted(self.fp, rank, side="left")])
