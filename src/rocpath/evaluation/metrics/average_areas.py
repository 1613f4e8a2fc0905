"""The interval of an average of AUCs, over strata or over classes."""

from dataclasses import dataclass

import numpy as np

from rocpath.evaluation.influence import Variance
from rocpath.evaluation.metrics.metric import Column
from rocpath.evaluation.metrics.scales import PlainScale
from rocpath.evaluation.score_interval import scaled_interval


@dataclass(frozen=True)
class AverageAreaScale(PlainScale):
    """Intervals by the score test, with the variance observed for the average."""

    def limits(
        self, column: Column, center: float, variance: Variance, confidence: float
    ) -> tuple[float, float]:
        """Return the limits of the interval."""
        sizes = class_sizes(column)
        return scaled_interval(column.value, *variance, sizes, confidence=confidence)

    def cautious_variance(self, column: Column, variance: Variance) -> float:
        """Return the variance, with one more stratum or row of the smallest class."""
        value, n = column.value, min(class_sizes(column)) + 2.0
        rate = (column.value * (n - 2.0) + 1.0) / n
        model = rate * (1.0 - rate) / (n + 1.0) if value in (0.0, 1.0) else 0.0
        return max(variance.value, model)


def class_sizes(column: Column) -> tuple[int, int]:
    """Return the number of rows of the smallest class, and of all others."""
    counts = [int(np.count_nonzero(mask)) for _, mask in column.sample.class_masks]
    if len(counts) == 2:
        return counts[1], counts[0]
    return min(counts), sum(counts) - min(counts)
