"""The ROC curve of a score: its area, structural components and interval."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from rocpath.evaluation.groups import (
    GroupSums,
    Jackknife,
    concordant_within_groups,
    pairs_within_groups,
)
from rocpath.evaluation.influence import ScoreBlocks, Variance, class_sums, place_rows
from rocpath.evaluation.results import AUCInterval
from rocpath.evaluation.score_interval import (
    ClassSpread,
    DesignEffect,
    expected_spread,
    score_interval,
)
from rocpath.sample import Sample
from rocpath.validation import Floats, rate_up_to_one, share_between


@dataclass(frozen=True)
class ScoreCurve:
    """The ROC curve of one score of a sample."""

    sample: Sample
    score: Floats
    max_fpr: float
    confidence: float
    blocks: ScoreBlocks

    @classmethod
    def of(
        cls,
        sample: Sample,
        scores: ArrayLike,
        *,
        name: str = "scores",
        max_fpr: float | None = None,
        confidence: float,
    ) -> Self:
        """Validate and sort the scores."""
        score, limit = sample.scores(name, scores), rate_up_to_one("max_fpr", max_fpr)
        blocks = place_rows(score, sample.is_positive, sample.weight, limit)
        return cls(sample, score, limit, share_between("confidence", confidence), blocks)

    @cached_property
    def deviation(self) -> Floats:
        """The centered structural component of each row."""
        return self.blocks.deviations(self.sample.is_positive)

    @cached_property
    def square_sums(self) -> tuple[Floats, Floats]:
        """The sums of squared weights of positives and negatives, by block."""
        blocks, weight = self.blocks, self.sample.weight
        if weight is None:
            return blocks.tp, blocks.fp
        label = self.sample.is_positive[blocks.order]
        return class_sums(label, weight[blocks.order] ** 2, blocks.start)

    @cached_property
    def spreads(self) -> list[ClassSpread]:
        """The variances of the components of positives and of negatives."""
        blocks, squares = self.blocks, self.square_sums
        # Components are divided by the largest possible area, as in the model's tables.
        return [
            ClassSpread.of(blocks.positive / self.max_fpr, blocks.tp, squares[0]),
            ClassSpread.of(blocks.negative / self.max_fpr, blocks.fp, squares[1]),
        ]

    @cached_property
    def class_variances(self) -> list[float]:
        """DeLong's variance by class, positives first; the model's for a single row."""
        positive, negative = self.spreads
        share = self.blocks.area / self.max_fpr
        expected = expected_spread(share, positive, negative, self.max_fpr)
        return [
            self.max_fpr**2 * (float(model) if side.is_single else side.variance) / side.n_rows
            for side, model in zip(self.spreads, expected[:2], strict=True)
        ]

    @cached_property
    def group_sums(self) -> GroupSums:
        """Sums of the components by group, if rows are grouped."""
        sample: Any = self.sample
        return GroupSums.of(sample.unit, sample.is_positive, sample.weight, self.deviation)

    @cached_property
    def jackknife(self) -> Jackknife:
        """The leave-one-group-out estimates of the area, if rows are grouped."""
        concordant = self._concordant_within() if self.max_fpr == 1 else None
        return Jackknife.of(self.group_sums, self.blocks.area, concordant)

    def _concordant_within(self) -> Floats:
        """Return the total weight of the concordant pairs within each group."""
        sample, blocks = self.sample, self.blocks
        code, label, weight = cast("Any", sample.unit), sample.is_positive, sample.weight
        if weight is None and not blocks.is_mixed:
            return concordant_within_groups(code[blocks.order], label[blocks.order])
        return pairs_within_groups(code, blocks, self.score, label, weight).concordant

    @cached_property
    def center(self) -> float:
        """The area; if rows are grouped, only over pairs from different groups."""
        return self.blocks.area if self.sample.unit is None else self.jackknife.center

    @cached_property
    def interval(self) -> AUCInterval:
        """The area with its interval."""
        if self.sample.unit is None:
            variance, design = sum(self.class_variances), None
        else:
            variance = self.group_sums.variance
            center = self.center / self.max_fpr
            design = DesignEffect(self._design_factor(), self.jackknife.variance.freedom, center)
        area, positive, negative = self.blocks.area, *self.spreads
        options = {"confidence": self.confidence, "max_fpr": self.max_fpr}
        low, high = score_interval(
            area / self.max_fpr, positive, negative, **options, design=design
        )
        is_partial = self.max_fpr < 1
        return AUCInterval(
            name=f"partial AUC (FPR up to {self.max_fpr:g})" if is_partial else "AUC",
            value=area,
            low=self.max_fpr * low,
            high=self.max_fpr * high,
            confidence=self.confidence,
            digits=4 if is_partial else 3,
            **self.sample.counts,
            standard_error=float(np.sqrt(variance)),
            max_fpr=self.max_fpr if is_partial else None,
        )

    @property
    def test_variance(self) -> Variance:
        """The variance of the area that tests use, with its degrees of freedom."""
        if self.sample.unit is not None:
            return self.jackknife.variance
        return Variance(self.interval.standard_error**2, np.inf)

    def _design_factor(self) -> float:
        """Return the ratio of the clustered variance to that of independent rows."""
        independent = sum(one.variance / one.n_rows for one in self.spreads)
        variance = self.jackknife.variance.value / self.max_fpr**2
        if min(independent, variance) > 1e-24:
            return variance / independent
        # The variance of a perfect ranking is zero, so rows of a group are assumed equal.
        share = self.group_sums.weight / self.group_sums.total
        n_rows = [spread.n_rows for spread in reversed(self.spreads)]
        return float((n_rows * (share**2).sum(axis=1)).max())
