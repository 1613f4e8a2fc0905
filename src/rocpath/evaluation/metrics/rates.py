"""Error rates at a given threshold, and the precision of the highest scores."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rocpath.evaluation.influence import descending_order
from rocpath.evaluation.metrics.metric import Estimate
from rocpath.evaluation.metrics.scales import RateScale
from rocpath.sample import Sample
from rocpath.validation import Floats, finite_number, one_of, set_fields, whole_number

_RATES = ("sensitivity", "specificity", "ppv", "npv")


@dataclass(frozen=True)
class AtThreshold:
    """An error rate if rows with at least a given score are predicted positive.

    Parameters
    ----------
    rate : {"sensitivity", "specificity", "ppv", "npv"}
        Rate to compute: the true positive rate, the true negative rate, or the
        positive or negative predictive value.
    threshold : float
        Threshold, chosen without the rows that are evaluated.

    Examples
    --------
    >>> import rocpath as rp
    >>> metric = rp.metrics.AtThreshold("sensitivity", 3)
    >>> rp.interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 2, 5, 6], metric)
    sensitivity at threshold 3 0.667 (95% CI 0.118 to 0.983), 3 positives, 3 negatives
    """

    rate: Literal["sensitivity", "specificity", "ppv", "npv"]
    threshold: float
    outcome: ClassVar[Literal["labels"]] = "labels"
    scale = RateScale(is_share=True)
    bounds = (0.0, 1.0)
    digits = 3

    def __post_init__(self) -> None:
        one_of("rate", self.rate, _RATES)
        set_fields(self, threshold=finite_number("threshold", self.threshold))

    @property
    def name(self) -> str:
        """Name of the rate and its threshold."""
        rate = self.rate.upper() if self.rate in ("ppv", "npv") else self.rate
        return f"{rate} at threshold {self.threshold:g}"

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the rate and the influence of each row."""
        is_predicted = score >= self.threshold
        if self.rate == "sensitivity":
            counted, is_success = sample.is_positive, is_predicted
        elif self.rate == "specificity":
            counted, is_success = ~sample.is_positive, ~is_predicted
        elif self.rate == "ppv":
            counted, is_success = is_predicted, sample.is_positive
        else:
            counted, is_success = ~is_predicted, ~sample.is_positive
        return share_of(sample, counted, is_success)


def share_of(sample: Sample, counted: NDArray[np.bool_], is_success: NDArray[np.bool_]) -> Estimate:
    """Return the share of successes among the counted rows; NaN if there are none."""
    weight = np.where(counted, sample.weights, 0.0)
    total = float(weight.sum())
    value = float(weight @ is_success) / total if total > 0 else float("nan")
    return Estimate(value, weight * (is_success - value) / max(total, 1e-300), counted)


@dataclass(frozen=True)
class PrecisionAtK:
    """Share of positives among the k rows with the highest scores.

    Rows that are tied at the border share the remaining places.

    Parameters
    ----------
    k : int
        Number of rows with the highest scores.

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], rp.metrics.PrecisionAtK(3)).value
    0.6666666666666666
    """

    k: float
    outcome: ClassVar[Literal["labels"]] = "labels"
    scale = RateScale()
    bounds = (0.0, 1.0)
    digits = 3

    refused: ClassVar[dict[str, str]] = {"sample_weight": "k counts rows."}

    def __post_init__(self) -> None:
        if not isinstance(self.k, float):
            set_fields(self, k=whole_number("k", self.k, least=1))

    @property
    def name(self) -> str:
        """Name with the number of rows."""
        return f"precision at {self.k:g}"

    def resized(self, share: float) -> Any:
        """Return the metric for a part of the rows: the same share of them is counted."""
        return replace(self, k=float(self.k) * share)

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the precision and the influence of each row."""
        n, k = len(sample), float(self.k)
        if k > n:
            return Estimate(float("nan"), np.zeros(n), np.ones(n, dtype=bool))
        order = descending_order(score)
        border = score[order[min(int(np.ceil(k)), n) - 1]]
        is_tied, is_above = score == border, score > border
        # Share of each row in the k places.
        place = is_above + is_tied * (k - np.count_nonzero(is_above)) / np.count_nonzero(is_tied)
        value = float(place @ sample.is_positive) / k
        # If the places become fewer, rows at the border lose theirs.
        near = order[int(0.75 * k) : int(np.ceil(1.25 * k)) + 1]
        of_border = float(np.mean(sample.is_positive[near]))
        influence = place * (sample.is_positive - of_border) / k
        return Estimate(value, influence - influence.mean(), place > 0)
