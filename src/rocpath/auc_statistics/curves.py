"""Scores evaluated on labeled rows: areas, variances, and their differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from rocpath.arguments import finite_vector, label_weights, positive_labels, same_length
from rocpath.auc_statistics.groups import (
    ClusterVariance,
    GroupSums,
    RowGroups,
    n_won_within_groups,
    pairs_within_groups,
)
from rocpath.auc_statistics.influence import ScoreBlocks, class_sums, place_rows
from rocpath.auc_statistics.results import AUCComparison, AUCInterval
from rocpath.auc_statistics.score_interval import (
    ClassSpread,
    DesignEffect,
    expected_spread,
    score_interval,
    unbiased_part,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Below this ratio to the variance of either AUC, the variance of a difference is the
# rounding error of two equal rankings. One exchanged pair among 10^6 rows gives 1e-17.
_EQUAL_RANKINGS = 1e-22
_EQUAL_AREAS = 1e-14  # differences of equal areas by rounding


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
        return [
            unbiased_part(self.weight[side])
            for side in (self.is_positive, ~self.is_positive)
        ]

    def squared_influences(self, deviation: NDArray[np.float64]) -> list[float]:
        """Sum the squared influences of the positives and of the negatives."""
        weight = 1.0 if self.weight is None else self.weight
        square = (weight * deviation) ** 2
        negative, positive = np.bincount(self.is_positive, square)
        n_negative, n_positive = np.bincount(self.is_positive, self.weight)
        return [float(positive) / n_positive**2, float(negative) / n_negative**2]

    def cluster_variance(
        self, deviation: NDArray[np.float64]
    ) -> ClusterVariance | None:
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
        cls,
        sample: LabeledSample,
        score: NDArray[np.float64],
        max_fpr: float,
        confidence: float,
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
            square_sums = class_sums(
                self.sample.is_positive, weight**2, blocks.order, blocks.start
            )
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
                self._design_factor(self.cluster),
                self.cluster.freedom,
                self.center / self.max_fpr,
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
        return max(
            one.size * float(((np.bincount(one) / one.size) ** 2).sum()) for one in rows
        )


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
        share,
        positive,
        negative,
        confidence=confidence,
        max_fpr=max_fpr,
        design=design,
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


def class_variances(
    share: float, spreads: list[ClassSpread], max_fpr: float
) -> list[float]:
    """Return DeLong's variance by class; for a single row, the model's."""
    positive, negative = spreads
    expected = expected_spread(np.array(share), positive, negative, max_fpr)
    return [
        (float(model) if side.is_single else side.variance) / side.n_rows
        for side, model in zip(spreads, expected[:2], strict=True)
    ]


def compared(one: Curve, two: Curve, margin: float | None = None) -> AUCComparison:
    """Compare two scores of the same rows."""
    apart = one.deviation - two.deviation
    cluster = one.sample.cluster_variance(apart)
    if cluster is None:
        variance, stable, freedom = _delong_variance(one, two, apart), None, np.inf
    else:
        variance, stable, freedom = cluster.variance, cluster.stable, cluster.freedom
    scale = one.interval.standard_error**2 + two.interval.standard_error**2
    is_equal = abs(one.blocks.area - two.blocks.area) <= _EQUAL_AREAS
    if (
        is_equal
        and variance <= _EQUAL_RANKINGS * scale
        and (scale > 0 or _ranks_alike(one.score, two.score, one.blocks.order))
    ):
        # Scores of one order have nothing to compare; a test would divide by rounding.
        same = (one.interval.value, two.interval.value, 0.0, 0.0, 0.0, 0.0, 1.0)
        p_values = (None, None) if margin is None else (0.0, 0.0)
        return AUCComparison(*same, one.confidence, margin, *p_values)
    return difference_of(
        one.interval,
        two.interval,
        variance,
        centers=(one.center, two.center),
        stable=stable,
        freedom=freedom,
        margin=margin,
    )


def _ranks_alike(
    score: NDArray[np.float64],
    other: NDArray[np.float64],
    order: NDArray[np.unsignedinteger],
) -> bool:
    """Return whether both scores rank all rows alike; ``order`` sorts the first."""
    fall = -np.diff(score[order])
    other_fall = -np.diff(other[order])
    return bool((other_fall >= 0).all() and ((fall > 0) == (other_fall > 0)).all())


def _delong_variance(one: Curve, two: Curve, apart: NDArray[np.float64]) -> float:
    """Return DeLong's variance; for single rows, as if both AUCs were independent."""
    sample, max_fpr = one.sample, one.max_fpr
    of_means = [
        class_variances(curve.blocks.area / max_fpr, curve.spreads, max_fpr)
        for curve in (one, two)
    ]
    total = 0.0
    squares = zip(sample.squared_influences(apart), sample.unbiased_parts, strict=True)
    for k, (square, part) in enumerate(squares):
        # A single row has no deviation from its mean, and so no observable covariance.
        if one.spreads[k].is_single:
            total += (of_means[0][k] + of_means[1][k]) * max_fpr**2
        else:
            total += square / part
    return total


def difference_of(
    one: AUCInterval,
    two: AUCInterval,
    variance: float,
    *,
    centers: tuple[float, float] | None = None,
    stable: float | None = None,
    freedom: float = np.inf,
    margin: float | None = None,
) -> AUCComparison:
    """Combine two intervals by the square-and-add rule, given the variance.

    ``centers`` are the AUCs that the intervals are centered at, ``stable`` is the
    variance of the test, and ``freedom`` its degrees of freedom.
    """
    difference = one.value - two.value
    first, second = centers or (one.value, two.value)
    center = first - second
    error = float(np.sqrt(variance))
    both = one.standard_error * two.standard_error
    # Var(a - b) = Var(a) + Var(b) - 2 Cov(a, b), solved for the covariance.
    covariance = 0.5 * (one.standard_error**2 + two.standard_error**2 - variance)
    correlation = min(max(covariance / both, -1.0), 1.0) if both > 0 else 0.0

    def distance(a: float, b: float) -> float:
        square = a**2 + b**2 - 2.0 * correlation * a * b
        return float(np.sqrt(max(square, 0.0)))

    # The difference is lowest where the first AUC is low and the second high.
    below = distance(first - one.low, two.high - second)
    above = distance(one.high - first, second - two.low)
    quantile = float(special.ndtri(0.5 + 0.5 * one.confidence))
    scale = error if stable is None else float(np.sqrt(stable))

    def deviate(excess: float) -> float:
        if scale > 0:
            return excess / scale
        # Both AUCs are at an end, where the variance is zero but the interval has a
        # positive width: the test uses its width towards the hypothesis. Without any
        # width both rank alike, and the difference is rounding.
        width = below if excess > 0 else above
        return excess / width * quantile if width > 0 else 0.0

    def upper_tail(excess: float) -> float:
        return float(special.stdtr(freedom, -deviate(excess)))

    p_values: tuple[float | None, float | None] = (None, None)
    if margin is not None:
        not_worse = upper_tail(center + margin)
        p_values = not_worse, max(not_worse, upper_tail(margin - center))
    return AUCComparison(
        one.value,
        two.value,
        difference,
        error,
        min(center - below, difference),
        max(center + above, difference),
        2.0 * upper_tail(abs(center)) if scale > 0 or center else 1.0,
        one.confidence,
        margin,
        *p_values,
    )
