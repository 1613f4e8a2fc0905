"""The AUC: its value from blocks of sorted rows, and the score test of its interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, cast

import numpy as np

from rocpath.evaluation.groups import (
    GroupSums,
    Jackknife,
    concordant_within_groups,
    pairs_within_groups,
)
from rocpath.evaluation.influence import ScoreBlocks, Variance, class_sums, place_rows
from rocpath.evaluation.metrics.metric import ClassVariance, Column, Estimate
from rocpath.evaluation.metrics.scales import t_quantile
from rocpath.evaluation.score_interval import (
    ClassSpread,
    DesignEffect,
    expected_spread,
    score_interval,
    shrunk_variance,
)
from rocpath.sample import Sample
from rocpath.validation import Floats


@dataclass(frozen=True)
class AreaScale:
    """The areas that the score test does not reject (score_interval.py)."""

    def limits(
        self, column: Column, center: float, variance: Variance, confidence: float
    ) -> tuple[float, float]:
        """Return the limits of the interval."""
        area = cast("AreaColumn", column)
        limits = score_interval(
            area.share,
            *area.model_spreads,
            confidence=confidence,
            max_fpr=area.model_limit,
            design=area.design_effect(center, variance),
            excess=area.weight_excess,
        )
        low, high = (area.scaled(limit * area.largest) for limit in limits)
        return low, high

    def cautious_variance(self, column: Column, variance: Variance) -> float:
        """Return the variance of the score test at the estimate."""
        area = cast("AreaColumn", column)
        effect = area.design_effect(column.value, variance)
        shrunk = shrunk_variance(area.share, *area.model_spreads, max_fpr=area.model_limit)
        factor = 1.0 if effect is None else effect.factor
        extra = area.weight_excess * area.share * (1.0 - area.share)
        if area.share in (0.0, 1.0):
            # The model has no variance there, so the width of the interval is used.
            low, high = self.limits(column, column.value, variance, 0.95)
            return ((high - low) / t_quantile(np.inf, 0.95)) ** 2
        return float(max((factor * shrunk + extra) * area.scale**2, variance.value))


@dataclass(frozen=True)
class AUC:
    """Area under the ROC curve; ties count one half."""

    name = "AUC"
    outcome: ClassVar[Literal["labels"]] = "labels"
    scale = AreaScale()
    bounds = (0.0, 1.0)
    digits = 3
    region: ClassVar[dict[str, float]] = {"max_fpr": 1.0, "min_tpr": 0.0}

    def scaled(self, area: float) -> float:
        """Return the area itself."""
        return area

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the AUC and the influence of each row."""
        column = self.column(sample, score)
        return Estimate(column.value, column.influence)

    def column(self, sample: Sample, score: Floats) -> "AreaColumn":
        """Sort the rows once, for the value, its variance and its interval."""
        return AreaColumn(self, sample, score)


@dataclass(frozen=True, eq=False)
class AreaColumn(Column):
    """The area under the part of a ROC curve in a region."""

    @property
    def max_fpr(self) -> float:
        """Upper limit of the false positive rate."""
        return float(self.metric.region["max_fpr"])

    @property
    def min_tpr(self) -> float:
        """Lower limit of the true positive rate."""
        return float(self.metric.region["min_tpr"])

    @cached_property
    def blocks(self) -> ScoreBlocks:
        """Weights and structural components by block of the sorted rows."""
        return place_rows(
            self.score, self.sample.is_positive, self.sample.weight, self.max_fpr, self.min_tpr
        )

    @property
    def largest(self) -> float:
        """The area of the region."""
        return self.max_fpr * (1.0 - self.min_tpr)

    @property
    def share(self) -> float:
        """The share of the region that is below the curve."""
        return self.blocks.area / self.largest

    @property
    def value(self) -> float:
        """The (partial) AUC."""
        return self.scaled(self.blocks.area)

    def scaled(self, area: float) -> float:
        """Return an area on the scale of the metric."""
        return float(self.metric.scaled(area))

    @cached_property
    def scale(self) -> float:
        """The range of the metric, per share of the region."""
        low, high = self.metric.bounds
        return float(high - low)

    @cached_property
    def deviation(self) -> Any:
        """The centered structural component of each row, on the scale of the metric."""
        deviation = self.blocks.deviations(self.sample.is_positive)
        return deviation if self._factor == 1.0 else deviation * self._factor

    @property
    def _factor(self) -> float:
        """The change of the metric per unit of area."""
        return self.scale / self.largest

    @cached_property
    def influence(self) -> Any:
        """The influence of each row."""
        blocks, sample = self.blocks, self.sample
        scale = np.where(sample.is_positive, 1.0 / blocks.tp.sum(), 1.0 / blocks.fp.sum())
        if sample.weight is not None:
            scale *= sample.weight
        return scale * self.deviation

    def contrast_variances(self, panel: Sequence[Column], weight: Floats) -> list[ClassVariance]:
        """Return the variances of the classes of a weighted sum of columns of these rows."""
        if self.sample.weight is not None:
            return super().contrast_variances(panel, weight)
        columns = cast("Sequence[AreaColumn]", panel)
        used = np.flatnonzero(weight).tolist()
        difference = np.asarray(sum(float(weight[k]) * columns[k].deviation for k in used))
        single = [
            sum(float(weight[k] ** 2) * panel[k].single_variances[c] for k in used)
            for c in range(2)
        ]
        # Deviations of a class are divided by its number of rows.
        scale = [1.0 / (free + 1.0) for free in self.n_free]
        return self.variances_of_two_classes(difference, single, scale)

    @cached_property
    def square_sums(self) -> tuple[Floats, Floats]:
        """The sums of squared weights of positives and negatives, by block."""
        blocks, weight = self.blocks, self.sample.weight
        if weight is None:
            return blocks.tp, blocks.fp
        label = self.sample.is_positive[blocks.order]
        return class_sums(label, weight[blocks.order] ** 2, blocks.start)

    @cached_property
    def spreads(self) -> tuple[ClassSpread, ClassSpread]:
        """The variances of the components of positives and of negatives, per share."""
        blocks, squares = self.blocks, self.square_sums
        return (
            ClassSpread.from_deviations(blocks.positive / self.largest, blocks.tp, squares[0]),
            ClassSpread.from_deviations(blocks.negative / self.largest, blocks.fp, squares[1]),
        )

    @property
    def model_limit(self) -> float:
        """The limit of the false positive rate in the model of two normal distributions."""
        # A lower limit of the TPR is an upper limit of the FPR with exchanged classes.
        return self.max_fpr if self._is_limited_by_fpr else 1.0 - self.min_tpr

    @property
    def _is_limited_by_fpr(self) -> bool:
        return self.max_fpr <= 1.0 - self.min_tpr

    @property
    def model_spreads(self) -> tuple[ClassSpread, ClassSpread]:
        """The variances of the classes in the order of the model."""
        positive, negative = self.spreads
        return (positive, negative) if self._is_limited_by_fpr else (negative, positive)

    @cached_property
    def single_variances(self) -> list[float]:
        """The model's variances of classes with a single row, negatives first."""
        if not any(side.is_single for side in self.spreads):
            return [0.0, 0.0]
        expected = expected_spread(self.share, *self.model_spreads, self.model_limit)[:2]
        models = expected if self._is_limited_by_fpr else expected[::-1]
        return [
            self.scale**2 * float(model) / side.n_rows if side.is_single else 0.0
            for side, model in zip(self.spreads, models, strict=True)
        ][::-1]

    @cached_property
    def n_free(self) -> list[float]:
        """Effective number of rows of each class, minus one, negatives first."""
        return [side.n_rows - 1.0 for side in reversed(self.spreads)]

    @cached_property
    def class_variances(self) -> list[ClassVariance]:
        """DeLong's variance by class, negatives first; the model's for a single row."""
        return [
            ClassVariance(self.scale**2 * side.variance / side.n_rows + single, side.freedom)
            for side, single in zip(reversed(self.spreads), self.single_variances, strict=True)
        ]

    @cached_property
    def weight_excess(self) -> float:
        """Variance for rows that could have large weights but were not sampled.

        A class may lack the rows of large weight that its population has.
        """
        sample = self.sample
        if sample.weight is None:
            return 0.0
        sides = [sample.weight[mask] for _, mask in sample.class_masks]
        return sum(excess_of_weights(w.max(), w.sum(), float((w > 0).sum())) for w in sides)

    @cached_property
    def group_sums(self) -> GroupSums:
        """Sums of the components by group, if rows are grouped."""
        sample: Any = self.sample
        return GroupSums.from_rows(sample.unit, sample.is_positive, sample.weight, self.deviation)

    @cached_property
    def group_shares(self) -> Floats:
        """The share of each group in the weight of each class, negatives first."""
        return self.group_sums.weight / self.group_sums.total

    @cached_property
    def group_influence(self) -> Floats:
        """The sum of the influences in each group, negatives first."""
        return self.group_sums.deviation / self.group_sums.total

    @cached_property
    def standard_error(self) -> float:
        """DeLong's standard error, or Obuchowski's if rows are grouped."""
        if self.sample.unit is None:
            return float(np.sqrt(sum(part.value for part in self.class_variances)))
        return float(np.sqrt(self.group_sums.variance))

    @cached_property
    def jackknife(self) -> Jackknife | None:
        """The leave-one-group-out estimates, which are known at once for the full AUC."""
        if self.largest < 1:
            return None
        return Jackknife.from_sums(self.group_sums, self.value, self._concordant_within())

    def _concordant_within(self) -> Floats:
        """Return the total weight of the concordant pairs within each group."""
        sample, blocks = self.sample, self.blocks
        code = cast("Any", sample.unit)
        label = sample.is_positive
        weight = sample.weight
        if weight is None and not blocks.is_mixed:
            return concordant_within_groups(code[blocks.order], label[blocks.order])
        return pairs_within_groups(code, blocks, self.score, label, weight).concordant

    def design_effect(self, center: float, variance: Variance) -> DesignEffect | None:
        """Return how far the variance exceeds that of independent rows, if not None."""
        if self.sample.unit is None:
            return None
        independent = sum(side.variance / side.n_rows for side in self.spreads)
        clustered = variance.value / self.scale**2
        if min(independent, clustered) > 1e-24:
            factor = clustered / independent
        else:
            # The variance of a perfect ranking is zero, so rows of a group are assumed equal.
            n_rows = [side.n_rows for side in reversed(self.spreads)]
            factor = float((n_rows * (self.group_shares**2).sum(axis=1)).max())
        share = self.share + (center - self.value) / self.scale
        return DesignEffect(factor, variance.freedom, share)


def excess_of_weights(largest: float, total: float, n_rows: float) -> float:
    """Return the variance for rows of a class with large weights that were not sampled.

    It is half the squared share of one more row of the largest weight, minus that of
    equal weights, in units of the variance of a single row.
    """
    share = float(largest) / (float(total) + float(largest))
    return 0.5 * max(share**2 - 1.0 / (float(n_rows) + 1.0) ** 2, 0.0)
