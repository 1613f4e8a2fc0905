"""The AUC: its value from blocks of sorted rows, and the score test of its interval."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np

from rocpath.evaluation.groups import (
    GroupSums,
    Jackknife,
    concordant_within_groups,
    pairs_within_groups,
)
from rocpath.evaluation.influence import ScoreBlocks, Variance, class_sums, place_rows
from rocpath.evaluation.metrics.metric import ClassVariance, Column, Estimate
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
            area.value / area.max_fpr,
            *area.spreads,
            confidence=confidence,
            max_fpr=area.max_fpr,
            design=area.design_effect(center, variance),
            excess=area.weight_excess,
        )
        return limits[0] * area.max_fpr, limits[1] * area.max_fpr

    def cautious_variance(self, column: Column, variance: Variance) -> float:
        """Return the variance of the score test at the estimate."""
        area = cast("AreaColumn", column)
        effect = area.design_effect(column.value, variance)
        shrunk = shrunk_variance(area.value / area.max_fpr, *area.spreads, max_fpr=area.max_fpr)
        factor = 1.0 if effect is None else effect.factor
        share = area.value / area.max_fpr
        extra = area.weight_excess * share * (1.0 - share)
        return float(max((factor * shrunk + extra) * area.max_fpr**2, variance.value))


@dataclass(frozen=True)
class AUC:
    """Area under the ROC curve; ties count one half."""

    name = "AUC"
    outcome: Literal["labels"] = "labels"
    scale = AreaScale()
    bounds = (0.0, 1.0)
    digits = 3
    max_fpr = 1.0

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the AUC and the influence of each row."""
        column = self.column(sample, score)
        return Estimate(column.value, column.influence)

    def column(self, sample: Sample, score: Floats) -> "AreaColumn":
        """Sort the rows once, for the value, its variance and its interval."""
        return AreaColumn(self, sample, score)


@dataclass(frozen=True, eq=False)
class AreaColumn(Column):
    """The ROC curve of one score of a sample, up to a false positive rate."""

    @property
    def max_fpr(self) -> float:
        """Upper limit of the false positive rate."""
        return float(self.metric.max_fpr)

    @cached_property
    def blocks(self) -> ScoreBlocks:
        """Weights and structural components by block of the sorted rows."""
        return place_rows(self.score, self.sample.is_positive, self.sample.weight, self.max_fpr)

    @property
    def value(self) -> float:
        """The (partial) AUC."""
        return self.blocks.area

    @cached_property
    def deviation(self) -> Any:
        """The centered structural component of each row."""
        return self.blocks.deviations(self.sample.is_positive)

    @cached_property
    def influence(self) -> Any:
        """The influence of each row."""
        blocks, sample = self.blocks, self.sample
        scale = np.where(sample.is_positive, 1.0 / blocks.tp.sum(), 1.0 / blocks.fp.sum())
        if sample.weight is not None:
            scale *= sample.weight
        return scale * self.deviation

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
        """The variances of the components of positives and of negatives."""
        blocks, squares = self.blocks, self.square_sums
        # Components are divided by the largest possible area, as in the model's tables.
        return (
            ClassSpread.of(blocks.positive / self.max_fpr, blocks.tp, squares[0]),
            ClassSpread.of(blocks.negative / self.max_fpr, blocks.fp, squares[1]),
        )

    @cached_property
    def class_variances(self) -> list[ClassVariance]:
        """DeLong's variance by class, negatives first; the model's for a single row."""
        share = self.value / self.max_fpr
        expected = expected_spread(share, *self.spreads, self.max_fpr)
        return [
            ClassVariance(
                self.max_fpr**2 * (float(model) if side.is_single else side.variance) / side.n_rows,
                side.freedom,
                side.n_rows,
            )
            for side, model in zip(self.spreads, expected[:2], strict=True)
        ][::-1]

    @cached_property
    def weight_excess(self) -> float:
        """Variance for rows that could have large weights but were not sampled.

        A class may lack the rows of large weight that its population has. For each class
        it is half the squared share of one more row of the largest weight, minus that of
        equal weights, in units of the variance of a single row.
        """
        sample = self.sample
        if sample.weight is None:
            return 0.0
        excess = 0.0
        for _, mask in sample.class_masks:
            weight = sample.weight[mask]
            share = float(weight.max() / (weight.sum() + weight.max()))
            equal = 1.0 / (np.count_nonzero(weight) + 1.0)
            excess += 0.5 * max(share**2 - equal**2, 0.0)
        return excess

    @cached_property
    def group_sums(self) -> GroupSums:
        """Sums of the components by group, if rows are grouped."""
        sample: Any = self.sample
        return GroupSums.of(sample.unit, sample.is_positive, sample.weight, self.deviation)

    @cached_property
    def standard_error(self) -> float:
        """DeLong's standard error, or Obuchowski's if rows are grouped."""
        if self.sample.unit is None:
            return float(np.sqrt(sum(part.value for part in self.class_variances)))
        return float(np.sqrt(self.group_sums.variance))

    @cached_property
    def jackknife(self) -> Jackknife | None:
        """The leave-one-group-out estimates, which are known at once for the full AUC."""
        if self.max_fpr < 1:
            return None
        return Jackknife.of(self.group_sums, self.value, self._concordant_within())

    def _concordant_within(self) -> Floats:
        """Return the total weight of the concordant pairs within each group."""
        sample, blocks = self.sample, self.blocks
        code, label, weight = cast("Any", sample.unit), sample.is_positive, sample.weight
        if weight is None and not blocks.is_mixed:
            return concordant_within_groups(code[blocks.order], label[blocks.order])
        return pairs_within_groups(code, blocks, self.score, label, weight).concordant

    def design_effect(self, center: float, variance: Variance) -> DesignEffect | None:
        """Return how far the variance exceeds that of independent rows, if not None."""
        if self.sample.unit is None:
            return None
        independent = sum(side.variance / side.n_rows for side in self.spreads)
        clustered = variance.value / self.max_fpr**2
        if min(independent, clustered) > 1e-24:
            factor = clustered / independent
        else:
            # The variance of a perfect ranking is zero, so rows of a group are assumed equal.
            share = self.group_sums.weight / self.group_sums.total
            n_rows = [side.n_rows for side in reversed(self.spreads)]
            factor = float((n_rows * (share**2).sum(axis=1)).max())
        return DesignEffect(factor, variance.freedom, center / self.max_fpr)
