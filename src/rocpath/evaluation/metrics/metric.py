"""What a metric provides: its value, and the influence of each row on it.

The influence of a row is the derivative of the value with respect to the relative
weight of the row, times that weight. It is all that intervals, tests and subgroups
need: designs turn influences into variances, and scales turn variances into intervals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rocpath.evaluation.influence import Variance
from rocpath.sample import Sample
from rocpath.validation import Floats

# Below this effective number of rows minus one, one row has nearly all the weight.
_SINGLE_ROW = 1e-4


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

    ``freedom`` are the degrees of freedom of the variance, 0 if it is not an estimate.
    """

    value: float
    freedom: float


def class_variance(influence: Floats, n_free: float, single: float = 0.0) -> ClassVariance:
    """Sum the squared (corrected) influences of the rows of a class.

    ``n_free`` is their effective number minus one, and ``single`` the variance of rows
    whose influence does not show it, because they are alone in their class.
    """
    square = influence * influence
    return class_variance_of_sums(float(square.sum()), float(square @ square), n_free, single)


def class_variance_of_sums(
    total: float, fourth: float, n_free: float, single: float = 0.0
) -> ClassVariance:
    """Return the variance of a class from sums of powers of the influences of its rows."""
    if n_free < _SINGLE_ROW or total <= 0:
        return ClassVariance(total + single, 0.0)
    # The relative variance of an estimated variance is (kurtosis - 1) / n_rows, and that
    # of a chi-squared variable is 2 / freedom.
    excess = fourth - total**2 / (n_free + 1.0)
    return ClassVariance(total + single, min(n_free, 2.0 * total**2 / max(excess, 1e-300)))


def kish_count(weight: Floats) -> float:
    """Return Kish's effective number of weighted rows."""
    return float(weight.sum() ** 2 / max(float(weight @ weight), 1e-300))


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
    def n_free(self) -> list[float]:
        """Effective number of rows of each class, minus one."""
        weight = self.sample.weight
        return [
            (float(np.count_nonzero(mask)) if weight is None else kish_count(weight[mask])) - 1.0
            for _, mask in self.sample.class_masks
        ]

    @cached_property
    def row_factor(self) -> Any:
        """Factor of each influence: the square root of n / (n - 1) of its class."""
        factor = np.ones(len(self.sample))
        for (_, mask), free in zip(self.sample.class_masks, self.n_free, strict=True):
            factor[mask] = np.sqrt((free + 1.0) / free) if free > _SINGLE_ROW else 0.0
        return factor

    @property
    def single_variances(self) -> list[float]:
        """Variances of the classes with a single row, which influences do not show."""
        return [0.0] * len(self.n_free)

    def variances_of(self, influence: Floats, single: Sequence[float]) -> list[ClassVariance]:
        """Return the variance that each class contributes to a sum of influences."""
        sample = self.sample
        is_plain = type(self).row_factor is Column.row_factor and not hasattr(sample, "labels")
        if is_plain and len(self.n_free) == 2:
            return self.variances_of_two_classes(influence, single)
        corrected = influence * self.row_factor
        return [
            class_variance(corrected[mask], free, alone)
            for (_, mask), free, alone in zip(
                self.sample.class_masks, self.n_free, single, strict=True
            )
        ]

    def variances_of_two_classes(
        self, influence: Floats, single: Sequence[float], scale: Sequence[float] = (1.0, 1.0)
    ) -> list[ClassVariance]:
        """Return the same from sums over all rows and over the positives, which is faster.

        The influences of each class are multiplied by its ``scale``.
        """
        square = influence * influence
        positive = square[self.positive_rows]
        sums = np.array([square.sum(), square @ square])
        of_positive = np.array([positive.sum(), positive @ positive])
        parts = []
        for c, powers in enumerate((sums - of_positive, of_positive)):
            free = self.n_free[c]
            factor = scale[c] ** 2 * (free + 1.0) / free if free > _SINGLE_ROW else 0.0
            total, fourth = np.maximum(powers, 0.0).tolist()
            parts.append(
                class_variance_of_sums(factor * total, factor**2 * fourth, free, single[c])
            )
        return parts

    @property
    def positive_rows(self) -> NDArray[np.intp]:
        """Indices of the positives, shared by all columns of a sample."""
        shared = self.sample.__dict__
        if "positive_rows" not in shared:
            shared["positive_rows"] = np.flatnonzero(self.sample.is_positive)
        return shared["positive_rows"]  # type: ignore[no-any-return]

    @cached_property
    def class_variances(self) -> list[ClassVariance]:
        """The variances that the classes contribute, if rows are independent."""
        return self.variances_of(self.influence, self.single_variances)

    @cached_property
    def n_effective(self) -> float:
        """The effective number of independent units that a rate counts."""
        counted, sample = self.estimate.counted, self.sample
        weight = sample.weights if counted is None else sample.weights[counted]
        if sample.unit is not None:
            unit = sample.unit if counted is None else sample.unit[counted]
            weight = np.asarray(np.bincount(unit, weight), dtype=np.float64)
        return kish_count(weight)

    @cached_property
    def group_shares(self) -> Floats:
        """The share of each group in the weight of each class, one array row per class."""
        sample, unit = self.sample, self.sample.units
        n_codes = int(unit.max()) + 1
        sums = [
            np.bincount(unit[mask], None if sample.weight is None else sample.weight[mask], n_codes)
            for _, mask in sample.class_masks
        ]
        return np.array([each / max(float(each.sum()), 1e-300) for each in sums])

    @cached_property
    def group_influence(self) -> Floats:
        """The sum of the influences in each group, one array row per class."""
        unit = self.sample.units
        n_codes = int(unit.max()) + 1
        return np.array(
            [
                np.bincount(unit[mask], self.influence[mask], n_codes)
                for _, mask in self.sample.class_masks
            ]
        )

    def without_group(self, group: int) -> float:
        """Return the value without the rows of a group."""
        keep = np.flatnonzero(self.sample.units != group)
        resized = getattr(self.metric, "resized", None)
        metric = self.metric if resized is None else resized(keep.size / len(self.sample))
        return float(metric.estimate(self.sample.take(keep), self.score[keep]).value)

    def contrast_variances(self, panel: "Sequence[Column]", weight: Floats) -> list[ClassVariance]:
        """Return the variances of the classes of a weighted sum of columns of these rows."""
        used = np.flatnonzero(weight).tolist()
        influence = np.asarray(sum(weight[k] * panel[k].influence for k in used))
        # Covariances cannot be estimated from a single row of a class.
        single = [
            sum(float(weight[k] ** 2) * panel[k].single_variances[c] for k in used)
            for c in range(len(self.n_free))
        ]
        return self.variances_of(influence, single)


def column_of(metric: Any, sample: Sample, score: Floats) -> Column:
    """Return the column of a metric, which may have a faster one of its own."""
    own = getattr(metric, "column", None)
    return Column(metric, sample, score) if own is None else own(sample, score)
