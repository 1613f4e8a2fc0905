"""Labels and weights of rows as integer multiples of a unit that all partitions share.

Sums over rows are therefore exact and do not depend on the partitioning. The unit is
determined first, by the same rule as in memory (:class:`rocpath.search.breakpoints.Jumps`).
"""

from math import fsum, gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import rocpath._core as _core
from rocpath.dask.partitions import Partition, PartitionedRows

Vector = NDArray[np.float64]
Jumps = NDArray[np.int8] | NDArray[np.int64]  # from `label_jumps`


class ClassUnit(NamedTuple):
    """Unit of the weights of a class."""

    total: int  # sum of the counts
    unit: float = 1.0


class WeightUnits(NamedTuple):
    """Units of the weights of both classes."""

    negative: ClassUnit
    positive: ClassUnit

    @property
    def in_core(self) -> tuple[float, float, float]:
        """Units of FP and TP, and the divisor that converts them to rates."""
        n_negative, n_positive = self.negative.total, self.positive.total
        # Comparing k / N with j / P is equivalent to comparing k P with j N: in this unit,
        # the rates of any partition are integers.
        common = gcd(n_negative, n_positive)
        fp_unit, tp_unit = n_positive // common, n_negative // common
        return float(fp_unit), float(tp_unit), float(fp_unit * n_negative)


def label_jumps(rows: Partition, positives: NDArray[Any], units: WeightUnits) -> Jumps:
    """Return the weight of each row in units, negative for the negative class."""
    is_positive = np.isin(rows.y, positives)
    if rows.sample_weight is None:
        return np.where(is_positive, np.int8(1), np.int8(-1))
    jump = np.empty(is_positive.size, dtype=np.int64)
    # Each class has its own unit: in the unit of the other, counts may exceed 64 bits.
    for one, members, sign in zip(units, (~is_positive, is_positive), (-1, 1), strict=True):
        jump[members] = sign * _core.count_units(rows.sample_weight[members], one.unit)
    return jump


def common_units(rows: PartitionedRows, positives: NDArray[Any]) -> WeightUnits:
    """Find the units of the weights of the positive classes and of the others."""
    if not rows.is_weighted:
        is_positive = np.isin(rows.classes, positives)
        n_positive = int(rows.class_counts[is_positive].sum())
        return WeightUnits(ClassUnit(sum(rows.n_rows) - n_positive), ClassUnit(n_positive))
    return WeightUnits(*(_class_unit(rows, positives, side) for side in (False, True)))


def _class_unit(rows: PartitionedRows, positives: NDArray[Any], is_positive: bool) -> ClassUnit:
    passes = rows.passes
    side = {"positives": positives, "is_positive": is_positive}
    weights = passes.keep(passes.each(_class_weights, rows.tasks, **side))
    ranges = passes.run("weight units", _jump_range, weights)
    smallest, total, lowest_bit = zip(*ranges, strict=True)
    are_multiples = all(passes.run("weight units", _are_multiples, weights, unit=min(smallest)))
    unit = _core.jump_unit(min(smallest), fsum(total), min(lowest_bit), are_multiples)
    return ClassUnit(sum(passes.run("weight units", _count_sum, weights, unit=unit)), unit)


def _class_weights(rows: Partition, positives: NDArray[Any], is_positive: bool) -> Vector:
    return rows.weight[np.isin(rows.y, positives) == is_positive]


def _jump_range(weight: Vector) -> tuple[float, float, int]:
    return _core.jump_range(weight)


def _are_multiples(weight: Vector, unit: float) -> bool:
    return _core.are_multiples(weight, unit)


def _count_sum(weight: Vector, unit: float) -> int:
    return int(_core.count_units(weight, unit).sum())
