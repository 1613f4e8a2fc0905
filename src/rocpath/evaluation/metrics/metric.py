"""What a metric provides: its value, and the influence of each row on it.

The influence of a row is the derivative of the value with respect to the relative
weight of the row, times that weight. It is all that intervals, tests and subgroups
need: designs turn influences into variances, and scales turn variances into intervals.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rocpath.evaluation.influence import Variance
from rocpath.sample import Sample
from rocpath.validation import Floats

# Below this effective number of rows, one row has nearly all the weight.
_SINGLE_ROW = 1.0001


class Estimate(NamedTuple):
    """The value of a metric, and the influence of each row on it.

    ``counted`` marks the rows that the denominator of a rate counts; None for metrics
    that are not rates.
    """

    value: float
    influence: Floats
    counted: NDArray[np.bool_] | None = None


class IntervalScale(Protocol):
    """How the interval of a metric is formed from its value and variance."""

    def limits(
        self, column: "Column", center: float, variance: Variance, confidence: float
    ) -> tuple[float, float]:
        """Return the limits of the interval; ``center`` is the value used by tests."""

    def cautious_variance(self, column: "Column", variance: Variance) -> float:
        """Return a variance for tests of differences that is positive in small samples."""


@runtime_checkable
class Metric(Protocol):
    """A metric of scores: adding one takes one file.

    Attributes
    ----------
    name : str
        Name in results, such as "AUC".
    outcome : {"labels", "survival"}
        What ``y`` must be: labels of two classes, or censored times.
    scale : IntervalScale
        How intervals are formed.
    bounds : tuple of float
        Smallest and largest possible value.
    digits : int
        Number of decimals of the value in sentences.
    """

    @property
    def name(self) -> str:
        """Name in results."""

    @property
    def outcome(self) -> Literal["labels", "survival"]:
        """Kind of outcome that is needed."""

    @property
    def scale(self) -> IntervalScale:
        """How intervals are formed."""

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value."""

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the value, and the influence of each row."""


class ClassVariance(NamedTuple):
    """The variance that the rows of one class contribute to an estimate.

    ``n_rows`` is the effective number of rows, and ``freedom`` the degrees of freedom of
    the variance, 0 if it is not an estimate.
    """

    value: float
    freedom: float
    n_rows: float

    @classmethod
    def from_influence(cls, influence: Floats, n_rows: float) -> "ClassVariance":
        """Sum the squared influences of the rows of a class."""
        square = influence * influence
        total = float(square.sum())
        if n_rows < _SINGLE_ROW or total <= 0:
            return cls(0.0, 0.0, n_rows)
        # The relative variance of an estimated variance is (kurtosis - 1) / n_rows, and
        # that of a chi-squared variable is 2 / freedom.
        excess = float(square @ square) - total**2 / n_rows
        freedom = min(n_rows - 1.0, 2.0 * total**2 / max(excess, 1e-300))
        return cls(total / (1.0 - 1.0 / n_rows), freedom, n_rows)


def kish_count(weight: Floats) -> float:
    """Return Kish's effective number of weighted rows."""
    return float(weight.sum() ** 2 / max(float(weight @ weight), 1e-300))


def class_variances(sample: Sample, influence: Floats) -> list[ClassVariance]:
    """Return the variances that the classes contribute, negatives first."""
    return [
        ClassVariance.from_influence(
            influence[mask],
            float(np.count_nonzero(mask))
            if sample.weight is None
            else kish_count(sample.weight[mask]),
        )
        for _, mask in sample.class_masks
    ]


@dataclass(frozen=True, eq=False)
class Column:
    """A metric of one score of a sample, with all that a design asks for."""

    metric: Any
    sample: Sample
    score: Floats

    @cached_property
    def estimate(self) -> Estimate:
        """The value and the influence of each row."""
        return self.metric.estimate(self.sample, self.score)  # type: ignore[no-any-return]

    @property
    def value(self) -> float:
        """The value of the metric."""
        return self.estimate.value

    @property
    def influence(self) -> Floats:
        """The influence of each row."""
        return self.estimate.influence

    @cached_property
    def class_variances(self) -> list[ClassVariance]:
        """The variances that negatives and positives contribute, if rows are independent."""
        return class_variances(self.sample, self.influence)

    @cached_property
    def n_effective(self) -> float:
        """The effective number of independent units that a rate counts."""
        counted, sample = self.estimate.counted, self.sample
        weight = sample.weights if counted is None else sample.weights[counted]
        if sample.unit is not None:
            unit = sample.unit if counted is None else sample.unit[counted]
            weight = np.asarray(np.bincount(unit, weight), dtype=np.float64)
        return kish_count(weight)

    def without(self, rows: NDArray[np.bool_]) -> float:
        """Return the value without some rows."""
        keep = np.flatnonzero(~rows)
        resized = getattr(self.metric, "resized", None)
        metric = self.metric if resized is None else resized(keep.size / rows.size)
        return float(metric.estimate(self.sample.take(keep), self.score[keep]).value)


def column_of(metric: Any, sample: Sample, score: Floats) -> Column:
    """Return the column of a metric, which may have a faster one of its own."""
    own = getattr(metric, "column", None)
    return Column(metric, sample, score) if own is None else own(sample, score)
