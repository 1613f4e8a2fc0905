"""Labels and weights of rows as integer multiples of a unit that all partitions share.

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
    from rocpath.dask.passes import Passes

_MAX_UNIT = 2**53  # float64 represents all whole numbers up to here


class ClassUnit(NamedTuple):
    """The unit of a class: weights are ``count * unit * divisor``."""

    total: int  # of the counts
    unit: float = 1.0
    divisor: float = 1.0

    @property
    def weight(self) -> float:
        """The weight of one unit."""
        return self.unit * self.divisor

    def counts(self, weight: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return weights as integer multiples of the unit."""
        return _core.count_units(weight / self.divisor, self.unit)


class WeightUnits(NamedTuple):
    """The units of both classes."""

    negative: ClassUnit
    positive: ClassUnit

    @classmethod
    def one(cls) -> WeightUnits:
        """Return units of one."""
        return cls(ClassUnit(0), ClassUnit(0))

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
    if rows.sample_weight is None:
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
        n_positive = int(rows.class_counts[is_positive].sum())
        return WeightUnits(ClassUnit(sum(rows.n_rows) - n_positive), ClassUnit(n_positive))
    sides = [
        rows.passes.keep(rows.each(_class_weights, state=(positives, is_positive)))
        for is_positive in (False, True)
    ]
    units = WeightUnits(*(_class_unit(rows.passes, side) for side in sides))
    if units.are_rates_exact:
        return units
    # Otherwise rates are rounded like any other jumps. They are divided by sums of
    # whole numbers, which do not depend on the partitioning.
    totals = [float(one.total * one.unit) for one in units]
    return WeightUnits(*map(_class_unit, [rows.passes] * 2, sides, totals))


def _class_unit(passes: Passes, weights: list[Any], divisor: float = 1.0) -> ClassUnit:
    def each(function: Any, state: Any) -> list[Any]:
        found: list[Any] = passes.results("weights", passes.each(function, weights, state=state))
        return found

    smallest, total, lowest_bit = zip(*each(_jump_range, divisor), strict=True)
    jumps = min(smallest), fsum(total), min(lowest_bit)
    are_multiples = all(each(_are_multiples, (divisor, min(smallest))))
    unit = ClassUnit(0, _core.jump_unit(*jumps, are_multiples), divisor)
    return unit._replace(total=sum(each(_count_sum, unit)))


def _class_weights(rows: Partition, state: tuple[NDArray[Any], bool]) -> NDArray[np.float64]:
    positives, is_positive = state
    return rows.weight[np.isin(rows.y, positives) == is_positive]


def _jump_range(weight: NDArray[np.float64], divisor: float) -> tuple[float, float, int]:
    return _core.jump_range(weight / divisor)


def _are_multiples(weight: NDArray[np.float64], state: tuple[float, float]) -> bool:
    divisor, smallest = state
    return _core.are_multiples(weight / divisor, smallest)


def _count_sum(weight: NDArray[np.float64], unit: ClassUnit) -> int:
    return int(unit.counts(weight).sum())
