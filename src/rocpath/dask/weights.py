"""Row weights as whole numbers of a unit that all partitions share.

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

    from rocpath.dask.partitions import Partition
    from rocpath.dask.passes import Passes

_MAX_UNIT = 2**53  # float64 represents all whole numbers up to here


class CountedLabels(NamedTuple):
    """Whether each row is positive, and its count of units: one without weights."""

    is_positive: NDArray[np.bool_]
    units: NDArray[np.int64] | None = None

    @property
    def counts(self) -> NDArray[np.int64]:
        """The count of units of each row."""
        if self.units is None:
            return np.ones(self.is_positive.size, dtype=np.int64)
        return self.units

    def take(self, index: NDArray[np.int64]) -> CountedLabels:
        """Select rows."""
        units = None if self.units is None else self.units[index]
        return CountedLabels(self.is_positive[index], units)

    @classmethod
    def concatenate(cls, partitions: list[CountedLabels]) -> CountedLabels:
        """Concatenate the rows of partitions."""
        is_positive = np.concatenate([one.is_positive for one in partitions])
        if all(one.units is None for one in partitions):
            return cls(is_positive)
        return cls(is_positive, np.concatenate([one.counts for one in partitions]))


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

    def labels(self, is_positive: NDArray[np.bool_], weight: NDArray[np.float64]) -> CountedLabels:
        """Count rows in these units."""
        counts = np.empty(weight.size, dtype=np.int64)
        # Each class separately: in units of the other, counts may exceed 64 bits.
        for one, members in zip(self, (~is_positive, is_positive), strict=True):
            counts[members] = one.counts(weight[members])
        return CountedLabels(is_positive, counts)


def counted_labels(
    rows: Partition, positives: NDArray[Any], units: WeightUnits | None
) -> CountedLabels:
    """Return the labels and the counts of the rows of a partition."""
    is_positive = np.isin(rows.y, positives)
    if units is None or rows.weight is None:
        return CountedLabels(is_positive)
    return units.labels(is_positive, rows.weight)


def common_units(passes: Passes, partitions: list[Any], positives: NDArray[Any]) -> WeightUnits:
    """Find units for the rows of the positive classes and for the others."""
    weights = passes.keep(passes.each(_by_class, partitions, state=positives))
    units = _units(passes, weights, [1.0, 1.0])
    if units.are_rates_exact:
        return units
    # Otherwise rates are rounded like any other jumps. They are divided by sums of
    # whole numbers, which do not depend on the partitioning.
    return _units(passes, weights, [float(one.total * one.unit) for one in units])


def _units(passes: Passes, weights: list[Any], divisors: list[float]) -> WeightUnits:
    ranges = passes.results("weights", passes.each(_ranges, weights, state=divisors))
    both = [_combine(side) for side in zip(*ranges, strict=True)]
    state = divisors, [smallest for smallest, *_ in both]
    tasks = passes.each(_are_multiples, weights, state=state)
    are_multiples = np.all(passes.results("weights", tasks), axis=0).tolist()
    units = [
        ClassUnit(0, _core.jump_unit(*side, of_class), divisor)
        for side, of_class, divisor in zip(both, are_multiples, divisors, strict=True)
    ]
    sums = passes.results("weights", passes.each(_count_sums, weights, state=units))
    totals = [sum(side) for side in zip(*sums, strict=True)]
    return WeightUnits(
        *(unit._replace(total=total) for unit, total in zip(units, totals, strict=True))
    )


def _combine(ranges: tuple[tuple[float, float, int], ...]) -> tuple[float, float, int]:
    smallest, total, lowest_bit = zip(*ranges, strict=True)
    return min(smallest), fsum(total), min(lowest_bit)


def _by_class(rows: Partition, positives: NDArray[Any]) -> list[NDArray[np.float64]]:
    is_positive = np.isin(rows.y, positives)
    weight = np.ones(rows.y.size) if rows.weight is None else rows.weight
    return [weight[~is_positive], weight[is_positive]]


def _ranges(
    weights: list[NDArray[np.float64]], divisors: list[float]
) -> list[tuple[float, float, int]]:
    sides = zip(weights, divisors, strict=True)
    return [_core.jump_range(weight / divisor) for weight, divisor in sides]


def _are_multiples(
    weights: list[NDArray[np.float64]], state: tuple[list[float], list[float]]
) -> list[bool]:
    return [
        _core.are_multiples(weight / divisor, smallest)
        for weight, divisor, smallest in zip(weights, *state, strict=True)
    ]


def _count_sums(weights: list[NDArray[np.float64]], units: list[ClassUnit]) -> list[int]:
    return [int(unit.counts(weight).sum()) for weight, unit in zip(weights, units, strict=True)]
