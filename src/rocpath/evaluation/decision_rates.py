"""Rates of decisions at a threshold, and the intervals of their ratios and differences.

Each rate has Wilson's interval with an effective number of rows. Intervals of functions of
two rates are formed from the distances of both to their limits (MOVER: method of variance
estimates recovery; Donner and Zou, Statistical Methods in Medical Research 21, 2012).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from rocpath.evaluation.designs import design_of
from rocpath.evaluation.metrics.metric import Column, Estimate
from rocpath.evaluation.metrics.rates import share_of
from rocpath.evaluation.metrics.scales import RateScale, t_quantile, wilson_limits
from rocpath.evaluation.results import Limits
from rocpath.sample import Sample
from rocpath.validation import Floats

ShareName = Literal[
    "sensitivity", "fpr", "specificity", "ppv", "npv", "accuracy", "predicted_positive_rate",
    "tp", "fp",
]  # fmt: skip
UNKNOWN = Limits(float("nan"), float("nan"), float("nan"))


@dataclass(frozen=True)
class ShareAtThreshold:
    """A share of rows, given those that are predicted positive.

    ``tp`` and ``fp`` are the shares of true and false positives in all rows.
    """

    share: ShareName
    threshold: float
    outcome = "labels"
    scale = RateScale(is_share=True)
    bounds = (0.0, 1.0)
    digits = 3

    @property
    def name(self) -> str:
        """Name of the share."""
        return self.share

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the share and the influence of each row."""
        is_predicted, label = score >= self.threshold, sample.is_positive
        everything = np.ones(len(sample), dtype=bool)
        counted, is_success = {
            "sensitivity": (label, is_predicted),
            "fpr": (~label, is_predicted),
            "specificity": (~label, ~is_predicted),
            "ppv": (is_predicted, label),
            "npv": (~is_predicted, ~label),
            "accuracy": (everything, label == is_predicted),
            "predicted_positive_rate": (everything, is_predicted),
            "tp": (everything, label & is_predicted),
            "fp": (everything, ~label & is_predicted),
        }[self.share]
        return share_of(sample, counted, is_success)


class SharePair(NamedTuple):
    """Two shares with intervals, and the correlation of their estimates."""

    first: Limits
    second: Limits
    correlation: float

    def ratio(self) -> Limits:
        """Return the ratio of the shares, with MOVER's interval."""
        a, b = self.first, self.second
        if np.isnan(a.value) or np.isnan(b.value) or a.value == b.value == 0:
            return UNKNOWN
        value = a.value / b.value if b.value > 0 else np.inf
        if np.isnan(a.low) or np.isnan(b.low):
            return Limits(float(value), *UNKNOWN[1:])
        product = a.value * b.value
        # Each limit is a root of a quadratic equation. The first is divided out, so that it
        # is defined if the second share is zero.
        middle = product - self.correlation * (a.value - a.low) * (b.high - b.value)
        square = middle**2 - a.low * b.high * (2.0 * a.value - a.low) * (2.0 * b.value - b.high)
        root = middle + np.sqrt(max(square, 0.0))
        low = a.low * (2.0 * a.value - a.low) / root if root > 0 else 0.0
        middle = product - self.correlation * (a.high - a.value) * (b.value - b.low)
        square = middle**2 - a.high * b.low * (2.0 * a.value - a.high) * (2.0 * b.value - b.low)
        scale = b.low * (2.0 * b.value - b.low)
        high = (middle + np.sqrt(max(square, 0.0))) / scale if scale > 0 else np.inf
        return Limits(float(value), float(max(low, 0.0)), float(high))

    def difference(self, weight: float, other_weight: float) -> Limits:
        """Return a weighted difference of the shares, with MOVER's interval."""
        a = Limits(*(weight * limit for limit in self.first))
        b = Limits(*(other_weight * limit for limit in self.second))
        value = a.value - b.value
        below = _distance(a.value - a.low, b.high - b.value, self.correlation)
        above = _distance(a.high - a.value, b.value - b.low, self.correlation)
        return Limits(value, value - below, value + above)


def _distance(first: float, second: float, correlation: float) -> float:
    square = first**2 + second**2 - 2.0 * correlation * first * second
    return float(np.sqrt(max(square, 0.0)))


@dataclass(frozen=True, eq=False)
class DecisionRates:
    """The rates of a sample if rows with at least a threshold are predicted positive."""

    sample: Sample
    score: Floats
    threshold: float
    confidence: float

    @cached_property
    def counts(self) -> dict[str, Any]:
        """Numbers of true and false positives and negatives."""
        is_predicted = self.score >= self.threshold
        n_positives, n_predicted = self.sample.counts["n_positives"], int(is_predicted.sum())
        tp = int((is_predicted & self.sample.is_positive).sum())
        fp, fn = n_predicted - tp, n_positives - tp
        return {"tp": tp, "fp": fp, "fn": fn, "tn": len(self.sample) - tp - fp - fn}

    def _fraction(self, name: ShareName) -> tuple[int, int]:
        """Return the numbers of successes and of counted rows of a share."""
        tp, fp, fn, tn = (self.counts[cell] for cell in ("tp", "fp", "fn", "tn"))
        n_rows = len(self.sample)
        return {
            "sensitivity": (tp, tp + fn),
            "fpr": (fp, fp + tn),
            "specificity": (tn, fp + tn),
            "ppv": (tp, tp + fp),
            "npv": (tn, tn + fn),
            "accuracy": (tp + tn, n_rows),
            "predicted_positive_rate": (tp + fp, n_rows),
            "tp": (tp, n_rows),
            "fp": (fp, n_rows),
        }[name]

    @property
    def _is_simple(self) -> bool:
        """Whether rows are independent with equal weights: all results depend on counts."""
        return self.sample.unit is None and self.sample.weight is None

    def share(self, name: ShareName) -> Limits:
        """Return a share with its interval; NaN if no row is counted."""
        if self._is_simple:
            hits, total = self._fraction(name)
            if total == 0:
                return UNKNOWN
            square = t_quantile(np.inf, self.confidence) ** 2
            low, high = wilson_limits(hits / total, total, square)
            return Limits(hits / total, float(low), float(high))
        column = self._column(name)
        if np.isnan(column.value):
            return UNKNOWN
        # The variance of weighted rates is too small if a few rows have most of the weight.
        if self.sample.weight is not None:
            return Limits(column.value, *UNKNOWN[1:])
        variance = design_of([[column]]).variance(np.ones(1))
        low, high = column.metric.scale.limits(column, column.value, variance, self.confidence)
        return Limits(float(column.value), float(low), float(high))

    def pair(self, first: ShareName, second: ShareName) -> SharePair:
        """Return two shares with their correlation."""
        return SharePair(self.share(first), self.share(second), self._correlation(first, second))

    @cached_property
    def lr_positive(self) -> Limits:
        """The positive likelihood ratio, sensitivity / (1 - specificity)."""
        return self.pair("sensitivity", "fpr").ratio()

    @cached_property
    def lr_negative(self) -> Limits:
        """The negative likelihood ratio, (1 - sensitivity) / specificity."""
        pair = self.pair("sensitivity", "specificity")
        missed = Limits(*(1.0 - pair.first[k] for k in (0, 2, 1)))
        return SharePair(missed, pair.second, -pair.correlation).ratio()

    def ppv(self, prevalence: float | None = None) -> Limits:
        """Return the positive predictive value, for a given prevalence."""
        if prevalence is None:
            return self.share("ppv")
        odds = (1.0 - prevalence) / prevalence
        # The ratio is infinite without false positives.
        return Limits(*(float(1.0 - odds / (ratio + odds)) for ratio in self.lr_positive))

    def npv(self, prevalence: float | None = None) -> Limits:
        """Return the negative predictive value, for a given prevalence."""
        if prevalence is None:
            return self.share("npv")
        odds = prevalence / (1.0 - prevalence)
        value, low, high = (1.0 / (1.0 + odds * ratio) for ratio in self.lr_negative)
        return Limits(value, high, low)

    def net_benefit(self, prevalence: float | None = None) -> Limits:
        """Return the net benefit: true positives minus weighted false positives, per row."""
        if not 0 < self.threshold < 1:
            return UNKNOWN
        odds = self.threshold / (1.0 - self.threshold)
        if prevalence is None:
            return self.pair("tp", "fp").difference(1.0, odds)
        rates = self.pair("sensitivity", "fpr")
        return rates.difference(prevalence, (1.0 - prevalence) * odds)

    def _column(self, name: ShareName) -> Column:
        return Column(ShareAtThreshold(name, self.threshold), self.sample, self.score)

    def _correlation(self, first: ShareName, second: ShareName) -> float:
        if self._is_simple:
            # Rates of different classes are independent, and cells are multinomial.
            if (first, second) != ("tp", "fp"):
                return 0.0
            a, b = self.counts["tp"], self.counts["fp"]
            n_rows = len(self.sample)
            return -float(np.sqrt(a * b / max((n_rows - a) * (n_rows - b), 1)))
        columns = [self._column(first), self._column(second)]
        if self.sample.weight is not None or any(np.isnan(one.value) for one in columns):
            return 0.0
        matrix = design_of([columns]).matrix
        scale = float(np.sqrt(matrix[0, 0] * matrix[1, 1]))
        return float(np.clip(matrix[0, 1] / scale, -1.0, 1.0)) if scale > 1e-24 else 0.0
