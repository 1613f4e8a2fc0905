"""Weights of rows as whole numbers of units that all parts share.

So sums over rows are exact, and do not depend on how rows are parted: units are agreed
on first, by the rule of rows in memory (:mod:`rocpath.jumps`).
"""

from __future__ import annotations

from math import frexp, fsum, gcd, ldexp
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.dask.parts import Part
    from rocpath.dask.passes import Passes

_LARGEST_UNIT = 2**53  # that float64 holds, and all whole numbers below it
_BITS_OF_A_SUM = 61  # of counts, so that twice a sum still fits into 64 bits


class CountedLabels(NamedTuple):
    """Which rows are positive, and how many units each counts; one without weights."""

    is_positive: NDArray[np.bool_]
    units: NDArray[np.int64] | None = None

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many units each row counts."""
        if self.units is None:
            return np.ones(self.is_positive.size, dtype=np.int64)
        return self.units

    def at(self, place: NDArray[np.int64]) -> CountedLabels:
        """Select rows."""
        units = None if self.units is None else self.units[place]
        return CountedLabels(self.is_positive[place], units)

    @classmethod
    def joined(cls, parts: list[CountedLabels]) -> CountedLabels:
        """Put the rows of parts one after the other."""
        is_positive = np.concatenate([part.is_positive for part in parts])
        if all(part.units is None for part in parts):
            return cls(is_positive)
        return cls(is_positive, np.concatenate([part.counts for part in parts]))


class ClassUnit(NamedTuple):
    """A weight is ``count * unit``, after division by the divisor; counts sum up."""

    total: int
    unit: float = 1.0
    divisor: float = 1.0

    def counts(self, weight: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return weights as whole numbers of the unit."""
        return np.rint(weight / self.divisor / self.unit).astype(np.int64)


class WeightUnits(NamedTuple):
    """The units of both classes."""

    negative: ClassUnit
    positive: ClassUnit

    @property
    def in_core(self) -> tuple[float, float, float]:
        """Units of FP and TP, and the divisor that makes rates of them."""
        if self.negative.divisor != 1.0:
            return self.negative.unit, self.positive.unit, 1.0
        # One unit for both, such that rates of any part are whole numbers: then sums
        # over parts are exact, whatever the partition.
        fp_unit, tp_unit = self._common
        return float(fp_unit), float(tp_unit), float(fp_unit * self.negative.total)

    @property
    def _common(self) -> tuple[int, int]:
        # k / N and j / P compare as k P and j N do.
        common = gcd(self.negative.total, self.positive.total)
        return self.positive.total // common, self.negative.total // common

    @property
    def are_rates_exact(self) -> bool:
        """Whether rates are whole numbers of units that float64 holds."""
        return max(self._common) <= _LARGEST_UNIT

    def labels(
        self, is_positive: NDArray[np.bool_], weight: NDArray[np.float64]
    ) -> CountedLabels:
        """Count rows in these units."""
        counts = np.empty(weight.size, dtype=np.int64)
        # Each class by itself: in units of the other, weights may be beyond 64 bits.
        for one, members in zip(self, (~is_positive, is_positive), strict=True):
            counts[members] = one.counts(weight[members])
        return CountedLabels(is_positive, counts)


def counted_labels(
    part: Part, positives: NDArray[Any], units: WeightUnits | None
) -> CountedLabels:
    """Tell apart the classes of a part's rows, and how much each counts."""
    is_positive = np.isin(part.y, positives)
    if units is None or part.weight is None:
        return CountedLabels(is_positive)
    return units.labels(is_positive, part.weight)


def agreed_units(
    passes: Passes, parts: list[Any], positives: NDArray[Any]
) -> WeightUnits:
    """Agree on units for the rows of some classes and for the others."""
    weights = passes.keep(passes.each(_by_class, parts, state=positives))
    units = _units(passes, weights, [1.0, 1.0])
    if units.are_rates_exact:
        return units
    # Units that float64 does not hold: rates are then rounded as any other jumps. They
    # divide by sums of whole numbers, which are the same for any partition.
    return _units(passes, weights, [float(one.total * one.unit) for one in units])


def _units(passes: Passes, weights: list[Any], divisors: list[float]) -> WeightUnits:
    ranges = passes.results("weights", passes.each(_ranges, weights, state=divisors))
    both = [_Range.of_parts(side) for side in zip(*ranges, strict=True)]
    smallest = [side.smallest for side in both]
    tasks = passes.each(_are_multiples, weights, state=(divisors, smallest))
    are_multiples = np.all(passes.results("weights", tasks), axis=0).tolist()
    units = [
        ClassUnit(0, side.unit(is_multiple=is_multiple), divisor)
        for side, is_multiple, divisor in zip(
            both, are_multiples, divisors, strict=True
        )
    ]
    sums = passes.results("weights", passes.each(_count_sums, weights, state=units))
    totals = [sum(side) for side in zip(*sums, strict=True)]
    return WeightUnits(
        *(unit._replace(total=sum_) for unit, sum_ in zip(units, totals, strict=True))
    )


class _Range(NamedTuple):
    """What a unit must suit: the least weight, their sum, and the last binary digit."""

    smallest: float
    total: float
    lowest_bit: int

    @classmethod
    def of(cls, weight: NDArray[np.float64]) -> _Range:
        if weight.size == 0:
            return cls(np.inf, 0.0, 2**20)
        mantissa, exponent = np.frexp(weight)
        digits = (mantissa * 2.0**53).astype(np.int64)
        # A number and its negative have their last digit in common.
        last = np.frexp((digits & -digits).astype(np.float64))[1] - 1
        lowest_bit = int((exponent - 53 + last).min())
        return cls(float(weight.min()), float(weight.sum()), lowest_bit)

    @classmethod
    def of_parts(cls, parts: tuple[_Range, ...]) -> _Range:
        smallest, total, lowest_bit = zip(*parts, strict=True)
        return cls(min(smallest), fsum(total), min(lowest_bit))

    def unit(self, *, is_multiple: bool) -> float:
        """Return the smallest weight, if all are multiples of it; else a power of two.

        The latter is the last digit, or what all digits of the sum leave room for.
        """
        if is_multiple and self.total / self.smallest < 2.0**52:
            return self.smallest
        _, exponent = frexp(self.total)
        return ldexp(1.0, max(self.lowest_bit, exponent - _BITS_OF_A_SUM, -1074))


def _by_class(part: Part, positives: NDArray[Any]) -> list[NDArray[np.float64]]:
    is_positive = np.isin(part.y, positives)
    weight = np.ones(part.y.size) if part.weight is None else part.weight
    return [weight[~is_positive], weight[is_positive]]


def _ranges(weights: list[NDArray[np.float64]], divisors: list[float]) -> list[_Range]:
    sides = zip(weights, divisors, strict=True)
    return [_Range.of(weight / divisor) for weight, divisor in sides]


def _are_multiples(
    weights: list[NDArray[np.float64]], state: tuple[list[float], list[float]]
) -> list[bool]:
    return [
        # The remainder of a division is exact.
        not np.fmod(weight / divisor, smallest).any()
        for weight, divisor, smallest in zip(weights, *state, strict=True)
    ]


def _count_sums(weights: list[NDArray[np.float64]], units: list[ClassUnit]) -> Any:
    return [
        int(unit.counts(weight).sum())
        for weight, unit in zip(weights, units, strict=True)
    ]
