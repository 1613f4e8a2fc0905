"""Labels and weights of rows as whole numbers of a unit that all partitions share.

Sums over rows are then exact and do not depend on the partitioning. The unit is found
first, by the rule for rows in memory (:class:`rocpath.breakpoints.Jumps`).
"""

from __future__ import annotations

from math import fsum, gcd
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import rocpath._core as _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.dask.partitions import Partition, PartitionedRows

    Weights = list[NDArray[np.float64]]  # of the negatives and of the positives

_MAX_UNIT = 2**53  # float64 represents all whole numbers up to here


class ClassUnit(NamedTuple):
    """The unit of a class: weights are ``count * unit * divisor``."""

    total: int  # of the counts
    unit: float = 1.0
    divisor: float = 1.0

    def counts(self, weight: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return weights as whole numbers of the unit."""
        return _core.count_units(weight / self.divisor, self.unit)


class WeightUnits(NamedTuple):
    """The units of both classes."""

    negative: ClassUnit
    positive: ClassUnit

    @property
    def in_core(self) -> tuple[float, float, float]:
        """Units of FP and TP, and the divisor that turns them into rates."""
        if self.negative.divisor != 1.0:
            return self.negative.unit, self.positive.unit, 1.0
        # One unit for both, in which the rates of any partition are whole numbers.
        fp_unit, tp_unit = self._common
        return float(fp_unit), float(tp_unit), float(fp_unit * self.negative.total)

    @property
    def _common(self) -> tuple[int, int]:
        # k / N and j / P compare as k P and j N do.
        common = gcd(self.negative.total, self.positive.total)
        return self.positive.total // common, self.negative.total // common

    @property
    def are_rates_exact(self) -> bool:
        """Whether float64 represents the units of rates exactly."""
        return max(self._common) <= _MAX_UNIT


def label_jumps(
    rows: Partition, state: tuple[NDArray[Any], WeightUnits]
) -> NDArray[np.int8] | NDArray[np.int64]:
    """Return the count of units of each row, negative for those of the negative class."""
    positives, units = state
    is_positive = np.isin(rows.y, positives)
    if rows.weight is None:
        return np.where(is_positive, np.int8(1), np.int8(-1))
    jump = np.empty(is_positive.size, dtype=np.int64)
    # Each class separately: in units of the other, counts may exceed 64 bits.
    jump[~is_positive] = -units.negative.counts(rows.weight[~is_positive])
    jump[is_positive] = units.positive.counts(rows.weight[is_positive])
    return jump


def common_units(rows: PartitionedRows, positives: NDArray[Any]) -> WeightUnits:
    """Find units for the rows of the positive classes and for the others."""
    if not rows.is_weighted:
        is_positive = np.isin(rows.classes, positives)
        sides = rows.class_counts[~is_positive], rows.class_counts[is_positive]
        return WeightUnits(*(ClassUnit(int(counts.sum())) for counts in sides))
    weights = rows.passes.keep(rows.each(_by_class, state=positives))
    units = _units(rows, weights, [1.0, 1.0])
    if units.are_rates_exact:
        return units
    # Otherwise rates are rounded like any other jumps. They are divided by sums of
    # whole numbers, which do not depend on the partitioning.
    return _units(rows, weights, [float(one.total * one.unit) for one in units])


def _units(rows: PartitionedRows, weights: list[Any], divisors: list[float]) -> WeightUnits:
    passes = rows.passes
    ranges = passes.results("weights", passes.each(_ranges, weights, state=divisors))
    both = []
    for side in zip(*ranges, strict=True):
        smallest, total, lowest_bit = zip(*side, strict=True)
        both.append((min(smallest), fsum(total), min(lowest_bit)))
    state = divisors, [smallest for smallest, *_ in both]
    tasks = passes.each(_are_multiples, weights, state=state)
    are_multiples = np.all(passes.results("weights", tasks), axis=0).tolist()
    units = [
        ClassUnit(0, _core.jump_unit(*side, of_class), divisor)
        for side, of_class, divisor in zip(both, are_multiples, divisors, strict=True)
    ]
    sums = passes.results("weights", passes.each(_count_sums, weights, state=units))
    totals = map(sum, zip(*sums, strict=True))
    return WeightUnits(
        *(unit._replace(total=total) for unit, total in zip(units, totals, strict=True))
    )


def _by_class(rows: Partition, positives: NDArray[Any]) -> Weights:
    is_positive = np.isin(rows.y, positives)
    weight = np.ones(rows.y.size) if rows.weight is None else rows.weight
    return [weight[~is_positive], weight[is_positive]]


def _ranges(weights: Weights, divisors: list[float]) -> list[tuple[float, float, int]]:
    sides = zip(weights, divisors, strict=True)
    return [_core.jump_range(weight / divisor) for weight, divisor in sides]


def _are_multiples(weights: Weights, state: tuple[list[float], list[float]]) -> list[bool]:
    return [
        _core.are_multiples(weight / divisor, smallest)
        for weight, divisor, smallest in zip(weights, *state, strict=True)
    ]


def _count_sums(weights: Weights, units: list[ClassUnit]) -> list[int]:
    return [int(unit.counts(weight).sum()) for weight, unit in zip(weights, units, strict=True)]
