"""Jumps of the errors, also as whole numbers, so that sums of them are exact."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, replace
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

import rocpath._core as _core
from rocpath.arguments import (
    LARGEST_JUMPS,
    Number,
    check_count,
    finite_vector,
    read_only,
    set_fields,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Jumps:
    """Hold jumps of FP and FN, also as whole numbers of a unit.

    ``fp_diff`` is ``fp * fp_unit / divisor``, and ``fn_diff`` is ``-tp * tp_unit /
    divisor``. The divisor is 1 unless the jumps are rates, which no float64 holds: with
    it, FP and FN are compared as the fractions they are.
    """

    fp_diff: NDArray[np.float64]
    fn_diff: NDArray[np.float64]
    fp: NDArray[np.int64]
    tp: NDArray[np.int64]
    fp_unit: float
    tp_unit: float
    divisor: float = 1.0
    is_monotone: bool = field(init=False)  # FP never falls, FN never rises

    def __post_init__(self) -> None:
        """Look at the signs once: they are asked for often."""
        is_monotone = bool(self.fp.min() >= 0 and self.tp.min() >= 0)
        set_fields(self, is_monotone=is_monotone)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle with read-only arrays."""
        return _restored, astuple(self)[:-1]

    @classmethod
    def from_diffs(cls, fp_diff: ArrayLike, fn_diff: ArrayLike, *, size: int) -> Jumps:
        """Check that both have the given size and that errors are possible."""
        fp_diff = finite_vector("fp_diff", fp_diff)
        fn_diff = finite_vector("fn_diff", fn_diff)
        for name, diff in (("fp_diff", fp_diff), ("fn_diff", fn_diff)):
            check_count(f"{name} must have one entry", diff.size, size, "breakpoints")
        fp, fp_unit = _whole_numbers("fp_diff", fp_diff)
        tp, tp_unit = _whole_numbers("fn_diff", -fn_diff)
        jumps = cls(fp_diff, fn_diff, fp, tp, fp_unit, tp_unit)
        jumps._check_sums()
        return jumps

    @classmethod
    def from_rates(
        cls,
        fp_diff: NDArray[np.float64],
        fn_diff: NDArray[np.float64],
        fp_total: float | None = None,
        fn_total: float | None = None,
    ) -> Jumps:
        """Divide by totals, or by the sums; exactly, where 53 bits suffice."""
        fp, fp_sum = _whole_numbers_and_total(fp_diff, fp_total)
        tp, tp_sum = _whole_numbers_and_total(-fn_diff, fn_total)
        fp_rate = read_only(fp_diff / (fp_total or fp_diff.sum()))
        fn_rate = read_only(fn_diff / (fn_total or -fn_diff.sum()))
        # k / F and j / T compare as k T and j F do.
        common = gcd(fp_sum, tp_sum)
        fp_unit, tp_unit = tp_sum // common, fp_sum // common
        if max(fp_unit, tp_unit) > 2**53:
            # Units that float64 does not hold: rates are then rounded as any other
            # jumps.
            return cls.from_diffs(fp_rate, fn_rate, size=fp_diff.size)
        units = float(fp_unit), float(tp_unit), float(fp_unit * fp_sum)
        jumps = cls(fp_rate, fn_rate, fp, tp, *units)
        jumps._check_sums()
        return jumps

    def _check_sums(self) -> None:
        # AUC divides by both sums.
        if self.fp.sum() <= 0:
            raise ValueError(
                "fp_diff must sum to a positive number, "
                f"got {self.fp_diff.sum()}: no example can be a false positive."
            )
        if self.tp.sum() <= 0:
            raise ValueError(
                "fn_diff must sum to a negative number, "
                f"got {self.fn_diff.sum()}: no example can be a false negative."
            )

    @property
    def totals(self) -> tuple[float, float]:
        """The largest FP and the largest FN."""
        fp = int(self.fp.sum()) * self.fp_unit / self.divisor
        return fp, int(self.tp.sum()) * self.tp_unit / self.divisor

    @property
    def for_core(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], float, float, float]:
        """Counts, units and divisor, in the order in which the core takes them."""
        return self.fp, self.tp, self.fp_unit, self.tp_unit, self.divisor

    def merged(self, order: NDArray[np.intp], start: NDArray[np.intp]) -> Jumps:
        """Sum the jumps of each group, given the groups' starts in an order."""

        def sums(column: NDArray[Number]) -> NDArray[Number]:
            return read_only(np.add.reduceat(column[order], start))

        return replace(
            self,
            fp_diff=sums(self.fp_diff),
            fn_diff=sums(self.fn_diff),
            # Sums of whole numbers, not whole numbers of the sums: nothing is rounded
            # again.
            fp=sums(self.fp),
            tp=sums(self.tp),
        )


def _restored(*fields: Any) -> Jumps:
    for array in fields[:4]:
        read_only(array)
    return Jumps(*fields)


def _whole_numbers_and_total(
    diff: NDArray[np.float64], total: float | None
) -> tuple[NDArray[np.int64], int]:
    """Write jumps and what they are divided by as whole numbers of one unit."""
    if total is None:
        count, _ = _core.in_units(diff)
        return count, int(count.sum())
    # A total of jumps is mostly a whole number of their unit too.
    count, _ = _core.in_units(np.append(diff, total))
    return read_only(count[:-1]), int(count[-1])


def _whole_numbers(
    name: str, diff: NDArray[np.float64]
) -> tuple[NDArray[np.int64], float]:
    """Write the jumps as whole numbers of a unit; refuse what would be lost."""
    size = np.abs(diff)
    total = size.sum()
    if not total < LARGEST_JUMPS:
        raise ValueError(
            f"{name} must sum to less than {LARGEST_JUMPS:g} in size, got {total}."
        )
    count, unit = _core.in_units(diff)
    # Rounded to half a unit, a smaller jump would lose more than its sixth digit.
    is_lost = (np.abs(count) < 2**20) & (count * unit != diff)
    if is_lost.any():
        worst = is_lost.argmax()
        raise ValueError(
            f"{name} must not be as uneven: {diff[worst]} at index {worst} is lost "
            f"next to a sum of {total}. Leave it out or make it larger."
        )
    return count, unit
