"""Scores evaluated on labeled rows: areas, variances, and their differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import finite_vector, label_weights, positive_labels, same_length
from rocpath.auc_statistics.groups import (
    ClusterVariance,
    GroupSums,
    RowGroups,
    n_won_within_groups,
    pairs_within_groups,
)
from rocpath.auc_statistics.influence import ScoreBlocks, class_sums, place_rows
from rocpath.auc_statistics.results import AUCInterval
from rocpath.auc_statistics.score_interval import (
    ClassSpread,
    DesignEffect,
    expected_spread,
    score_interval,
    unbiased_part,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class LabeledSample:
    """Hold checked labels, with weights and groups unless all rows count alike."""

    is_positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None = None
    groups: RowGroups | None = None

    @classmethod
    def of(
        cls,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        positive: Any = None,
        groups: ArrayLike | None = None,
    ) -> LabeledSample:
        """Check labels, weights and groups."""
        is_positive = positive_labels(y, positive)
        weight, together = None, None
        if sample_weight is not None:
            weight = label_weights(is_positive, sample_weight)
        if groups is not None:
            together = RowGroups.of("groups", groups, is_positive.size)
            if together.n_groups == is_positive.size:
                # A group for each row: independent rows.
                together = None
        return cls(is_positive, weight, together)

    def scores(self, name: str, given: ArrayLike) -> NDArray[np.float64]:
        """Check scores."""
        score = finite_vector(name, given, copy=False)
        same_length(**{"y": self.is_positive, name: score})
        return score

    @cached_property
    def counts(self) -> dict[str, int | None]:
        """Numbers of rows and groups, by the names of the results."""
        n_positives = int(np.count_nonzero(self.is_positive))
        return {
            "n_positives": n_positives,
            "n_negatives": self.is_positive.size - n_positives,
            "n_groups": None if self.groups is None else self.groups.n_groups,
        }

    @cached_property
    def unbiased_parts(self) -> list[float]:
        """The :func:`unbiased_part` of the positives and of the negatives."""
        if self.weight is None:
            sizes = self.counts["n_positives"], self.counts["n_negatives"]
            return [1.0 - 1.0 / size for size in sizes if size]
        return [unbiased_part(self.weight[side]) for side in (self.is_positive, ~self.is_positive)]

    def squared_influences(self, deviation: NDArray[np.float64]) -> list[float]:
        """Sum the squared influences of the positives and of the negatives."""
        weight = 1.0 if self.weight is None else self.weight
        square = (weight * deviation) ** 2
        negative, positive = np.bincount(self.is_positive, square)
        n_negative, n_positive = np.bincount(self.is_positive, self.weight)
        return [float(positive) / n_positive**2, float(negative) / n_negative**2]

    def cluster_variance(self, deviation: NDArray[np.float64]) -> ClusterVariance | None:
        """Return the clustered variance of an estimate, if rows are grouped."""
        if self.groups is None:
            return None
        return ClusterVariance.of(
            GroupSums.of(self.groups.code, self.is_positive, self.weight, deviation)
        )


@dataclass(frozen=True)
class Curve:
    """Hold the ROC curve of one score of a sample."""

    sample: LabeledSample
    score: NDArray[np.float64]
    max_fpr: float
    confidence: float
    blocks: ScoreBlocks

    @classmethod
    def of(
        cls, sample: LabeledSample, score: NDArray[np.float64], max_fpr: float, confidence: float
    ) -> Curve:
        """Sort the scores."""
        blocks = place_rows(score, sample.is_positive, sample.weight, max_fpr)
        return cls(sample, score, max_fpr, confidence, blocks)

    @cached_property
    def deviation(self) -> NDArray[np.float64]:
        """The centered structural component of each row."""
        return self.blocks.deviations(self.sample.is_positive)

    @cached_property
    def spreads(self) -> list[ClassSpread]:
        """The variances of the components of positives and of negatives."""
        blocks, weight = self.blocks, self.sample.weight
        # Weights of one are their own squares.
        square_sums = blocks.tp, blocks.fp
        if weight is not None:
            square_sums = class_sums(self.sample.is_positive, weight**2, blocks.order, blocks.start)
        return [
            # As a share of the largest area, as in the model's tables.
            ClassSpread.of(deviation / self.max_fpr, sums, squares, part)
            for deviation, sums, squares, part in zip(
                (blocks.positive, blocks.negative),
                (blocks.tp, blocks.fp),
                square_sums,
                self.sample.unbiased_parts,
                strict=True,
            )
        ]

    @cached_property
    def group_sums(self) -> GroupSums | None:
        """Sums of the components by group, if rows are grouped."""
        if self.sample.groups is None:
            return None
        code, label = self._ranked_groups
        weight = self.sample.weight
        return GroupSums.of(
            code,
            label,
            None if weight is None else weight[self.blocks.order],
            self.blocks.ranked_deviations(label),
        )

    @cached_property
    def _ranked_groups(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Group codes and labels from the largest score down."""
        code = self.sample.groups.code  # type: ignore[union-attr]
        order = self.blocks.order
        return code[order], self.sample.is_positive[order]

    @cached_property
    def cluster(self) -> ClusterVariance | None:
        """The clustered variance, if rows are grouped."""
        return None if self.group_sums is None else ClusterVariance.of(self.group_sums)

    @cached_property
    def center(self) -> float:
        """The area, of pairs of different groups if rows are grouped."""
        area = self.blocks.area
        # Partial areas are not sums over pairs.
        if self.group_sums is None or self.max_fpr < 1:
            return area
        n_pairs = float(self.blocks.tp.sum() * self.blocks.fp.sum())
        n_inside = float(self.group_sums.weight[0] @ self.group_sums.weight[1])
        if n_inside == 0 or n_pairs - n_inside <= 1e-9 * n_pairs:
            return area
        between = (area * n_pairs - self._n_won_inside()) / (n_pairs - n_inside)
        return min(max(between, 0.0), 1.0)

    def _n_won_inside(self) -> float:
        """Return the weight of the correctly ordered pairs of the same group."""
        sample = self.sample
        code = sample.groups.code  # type: ignore[union-attr]
        is_tied = bool(np.any((self.blocks.tp > 0) & (self.blocks.fp > 0)))
        is_small = (int(code.max()) + 1) * code.size < 2**53
        if sample.weight is None and is_small and not is_tied:
            return n_won_within_groups(*self._ranked_groups)
        inside = pairs_within_groups(
            code, self.blocks, self.score, sample.is_positive, sample.weight
        )
        return float(inside.won.sum())

    @cached_property
    def interval(self) -> AUCInterval:
        """The area with its interval."""
        design, variance = None, None
        if self.cluster is not None:
            design = DesignEffect(
                self._design_factor(self.cluster), self.cluster.freedom, self.center / self.max_fpr
            )
            variance = self.cluster.variance
        return interval_of_spreads(
            self.blocks.area,
            self.spreads,
            self.confidence,
            self.max_fpr,
            design=design,
            variance=variance,
            **self.sample.counts,
        )

    def _design_factor(self, cluster: ClusterVariance) -> float:
        """Return the ratio of the clustered variance to that of independent rows."""
        independent = sum(one.variance / one.n_rows for one in self.spreads)
        if independent > 0:
            return cluster.stable / self.max_fpr**2 / independent
        # A perfect ranking shows no variance: rows of a group may all be alike.
        code = self.sample.groups.code  # type: ignore[union-attr]
        rows = [code[self.sample.is_positive], code[~self.sample.is_positive]]
        return max(one.size * float(((np.bincount(one) / one.size) ** 2).sum()) for one in rows)


def interval_of_spreads(
    area: float,
    spreads: list[ClassSpread],
    confidence: float,
    max_fpr: float,
    *,
    design: DesignEffect | None = None,
    variance: float | None = None,
    **counts: int | None,
) -> AUCInterval:
    """Compute the interval of an area from the variances of both classes."""
    share = area / max_fpr
    positive, negative = spreads
    low, high = score_interval(
        share, positive, negative, confidence=confidence, max_fpr=max_fpr, design=design
    )
    if variance is None:
        variance = max_fpr**2 * sum(class_variances(share, spreads, max_fpr))
    return AUCInterval(
        area,
        float(np.sqrt(variance)),
        max_fpr * low,
        max_fpr * high,
        confidence,
        **counts,
        max_fpr=None if max_fpr == 1 else max_fpr,
    )


def class_variances(share: float, spreads: list[ClassSpread], max_fpr: float) -> list[float]:
    """Return DeLong's variance by class; for a single row, the model's."""
    positive, negative = spreads
    expected = expected_spread(np.array(share), positive, negative, max_fpr)
    return [
        (float(model) if side.is_single else side.variance) / side.n_rows
        for side, model in zip(spreads, expected[:2], strict=True)
    ]
