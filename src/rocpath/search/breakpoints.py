"""Error breakpoints: predictions at which the FP and FN of an example jump."""

from collections.abc import Callable
from dataclasses import astuple, dataclass, field, replace
from math import gcd
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

import rocpath._core as _core
from rocpath.sample import label_weights, positive_labels
from rocpath.search.jump_units import multiples_and_total, rounded_to_unit, unit_multiples
from rocpath.search.penalty_rows import PenaltyRows, check_cumulative_errors
from rocpath.validation import (
    Floats,
    check_count,
    check_none,
    finite_number,
    finite_vector,
    one_of,
    read_only,
    same_length,
    set_fields,
    whole_number,
    whole_numbers,
)

Denominator = Literal["rate", "count"]


@dataclass(frozen=True, slots=True, eq=False)
class Jumps:
    """Jumps of FP and FN as floats and as integer multiples of a unit.

    ``fp_diff`` is ``fp * fp_unit / divisor``, and ``fn_diff`` is ``-tp * tp_unit /
    divisor``. The divisor is 1 unless the jumps are rates such as 1/3, which float64
    cannot represent: with it, FP and FN are compared exactly, as fractions.
    """

    fp_diff: Floats
    fn_diff: Floats
    fp: NDArray[np.int64]
    tp: NDArray[np.int64]
    fp_unit: float
    tp_unit: float
    divisor: float = 1.0
    is_monotone: bool = field(init=False)  # FP never decreases, FN never increases

    def __post_init__(self) -> None:
        """Check and freeze the arrays, and determine whether the errors are monotone."""
        for name, sign, count, diff in (
            ("fp_diff", "positive", self.fp, self.fp_diff),
            ("fn_diff", "negative", self.tp, self.fn_diff),
        ):
            read_only(count)
            read_only(diff)
            # AUC divides by both sums.
            if count.sum() <= 0:
                raise ValueError(
                    f"{name} must sum to a {sign} number, got {diff.sum()}: no example can be a "
                    f"false {sign}."
                )
        set_fields(self, is_monotone=bool(self.fp.min() >= 0 and self.tp.min() >= 0))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle through the constructor, so that arrays stay read-only."""
        return Jumps, astuple(self)[:-1]

    @classmethod
    def from_diffs(cls, fp_diff: ArrayLike, fn_diff: ArrayLike, *, size: int) -> Self:
        """Return the jumps, or raise if a size is wrong or an error cannot occur."""
        fp_diff = finite_vector("fp_diff", fp_diff)
        fn_diff = finite_vector("fn_diff", fn_diff)
        for name, diff in (("fp_diff", fp_diff), ("fn_diff", fn_diff)):
            check_count(f"{name} must have one entry", diff.size, size, "breakpoints")
        fp, fp_unit = unit_multiples("fp_diff", fp_diff)
        tp, tp_unit = unit_multiples("fn_diff", -fn_diff)
        # The jumps that the searches use, which may differ from the given ones by rounding.
        rounded = np.asarray(fp * fp_unit), np.asarray(0.0 - tp * tp_unit)
        return cls(*rounded, fp, tp, fp_unit, tp_unit)

    @classmethod
    def from_rates(
        cls,
        fp_diff: Floats,
        fn_diff: Floats,
        fp_total: float | None = None,
        fn_total: float | None = None,
    ) -> Self:
        """Return the jumps divided by totals, by default their sums."""
        fp, fp_sum = multiples_and_total("fp", fp_diff, fp_total)
        tp, tp_sum = multiples_and_total("fn", -fn_diff, fn_total)
        fp_rate = fp_diff / (fp_total or fp_diff.sum())
        fn_rate = fn_diff / (fn_total or -fn_diff.sum())
        # k / F < j / T if and only if k T < j F. Units of more than 53 bits, as of random
        # weights, are rounded, so that a rate has a relative error of at most 2**-52.
        common = gcd(fp_sum, tp_sum)
        fp_unit, tp_unit = tp_sum // common, fp_sum // common
        units = float(fp_unit), float(tp_unit), float(fp_unit * fp_sum)
        return cls(fp_rate, fn_rate, fp, tp, *units)

    @property
    def totals(self) -> tuple[float, float]:
        """Final FP and initial FN, which are the sums of their jumps."""
        fp = int(self.fp.sum()) * self.fp_unit / self.divisor
        return fp, int(self.tp.sum()) * self.tp_unit / self.divisor

    @property
    def for_core(self) -> tuple[NDArray[np.int64], NDArray[np.int64], float, float, float]:
        """Multiples, units and divisor, in the order of the arguments of the core."""
        return self.fp, self.tp, self.fp_unit, self.tp_unit, self.divisor

    def mapped(
        self, of_fp: Callable[[NDArray[Any]], Any], of_fn: Callable[[NDArray[Any]], Any]
    ) -> Self:
        """Apply one function to the jumps of FP and another to those of FN."""
        return replace(
            self,
            fp_diff=of_fp(self.fp_diff),
            fn_diff=of_fn(self.fn_diff),
            fp=of_fp(self.fp),
            tp=of_fn(self.tp),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ErrorBreakpoints:
    """Error functions of all examples, represented by their jumps.

    As the prediction of ``example[b]`` increases past ``value[b]``, its false positives
    change by ``fp_diff[b]`` and its false negatives by ``fn_diff[b]``. False positives
    are 0 for sufficiently small predictions, false negatives for sufficiently large
    ones. Breakpoints may be in any order, and errors need not be monotone. Breakpoints
    of one example at one value are merged into one with the sum of their jumps.

    Parameters
    ----------
    example : array-like of int, shape (n_breakpoints,)
        Index of the example in a vector of predictions.
    value : array-like, shape (n_breakpoints,)
        Predictions at which the errors jump.
    fp_diff, fn_diff : array-like, shape (n_breakpoints,)
        Jumps of false positives and of false negatives. Their binary digits must fit
        into 61 bits below the sum of their absolute values, except for a relative change
        of at most ``2**-50`` of each; the attributes contain the rounded jumps.
    n_examples : int, optional
        Length of the prediction vectors. The default is the largest example plus one.

    Attributes
    ----------
    is_monotone : bool
        Whether no ``fp_diff`` is negative and no ``fn_diff`` positive, as for binary
        labels. AUM is then convex in the predictions.

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> bp.fp_diff
    array([0.5, 0.5, 0. , 0. ])
    >>> bp.fn_diff
    array([ 0. ,  0. , -0.5, -0.5])
    """

    example: NDArray[np.int64]
    value: Floats
    fp_diff: Floats
    fn_diff: Floats
    n_examples: int = field(default=None, kw_only=True)  # type: ignore[assignment]
    is_monotone: bool = field(init=False)
    jumps: Jumps = field(init=False, repr=False)
    # Built only once, since areas and searches use it at every step.
    core: _core.Breakpoints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check and freeze the arrays."""
        example = whole_numbers("example", self.example)
        value = finite_vector("value", self.value)
        same_length(example=example, value=value)
        if example.size == 0:
            raise ValueError("example must have at least one entry, got none.")
        n_examples = _count_examples(example, self.n_examples)
        jumps = Jumps.from_diffs(self.fp_diff, self.fn_diff, size=value.size)
        self._set(example, value, jumps, n_examples)

    def _set(
        self, example: NDArray[np.int64], value: Floats, jumps: Jumps, n_examples: int
    ) -> Self:
        """Merge equal breakpoints, and set and freeze all fields."""
        example, value, jumps = _merge_equal(example, value, jumps)
        # Errors that only increase, or only decrease to zero, cannot be negative.
        if not jumps.is_monotone:
            check_cumulative_errors(example, value, jumps.fp_diff, jumps.fn_diff)
        set_fields(
            self,
            example=read_only(example),
            value=read_only(value),
            fp_diff=jumps.fp_diff,
            fn_diff=jumps.fn_diff,
            n_examples=n_examples,
            is_monotone=jumps.is_monotone,
            jumps=jumps,
            core=_core.Breakpoints(value, example, *jumps.for_core, jumps.is_monotone),
        )
        return self

    def __len__(self) -> int:
        """Return the number of breakpoints."""
        return self.value.size

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle with read-only arrays and exact rates."""
        return self._with_jumps, (self.example, self.value, self.jumps, self.n_examples)

    @classmethod
    def _with_jumps(cls, *checked: Any) -> Self:
        """Return breakpoints from arguments of `_set` that have already been checked."""
        return object.__new__(cls)._set(*checked)

    @classmethod
    def from_labels(
        cls,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        margin: float = 0.0,
        denominator: Denominator = "rate",
        positive: Any = None,
    ) -> Self:
        """Return one breakpoint for every binary label.

        Parameters
        ----------
        y : array-like, shape (n_examples,)
            Labels with exactly two distinct values.
        sample_weight : array-like, shape (n_examples,), optional
            Weights of the examples, 1 by default. An example with weight 0 has a
            breakpoint without a jump. Weights without a common unit, such as random
            ones, are rounded to multiples of at most ``2**-60`` of the sum of the class.
        margin : float
            Position of the breakpoints: +margin for positives and -margin for
            negatives. AUM with a positive margin is the class-balanced hinge loss,
            minimized over the intercept. Use 1 to fit a model by :func:`minimize_aum`.
        denominator : {"rate", "count"}
            Unit of the errors: ``"rate"`` divides them by the total weight of the class,
            ``"count"`` does not.
        positive : label, optional
            Positive class. The default is the larger of the two labels.

        Returns
        -------
        ErrorBreakpoints
        """
        is_positive = positive_labels(y, positive)
        weight = label_weights(is_positive, sample_weight)
        margin = finite_number("margin", margin)
        fp_diff = np.where(is_positive, 0.0, weight)
        fn_diff = np.where(is_positive, 0.0 - weight, 0.0)  # -weight would be -0.0 for 0
        if sample_weight is not None:
            fp_diff = rounded_to_unit("sample_weight", fp_diff)
            fn_diff = 0.0 - rounded_to_unit("sample_weight", -fn_diff)
        example = np.arange(is_positive.size)
        value = np.where(is_positive, margin, -margin)
        if one_of("denominator", denominator, ("rate", "count")) == "count":
            return cls(example, value, fp_diff, fn_diff)
        # float64 cannot represent 1/3, so after a division here, whether FP = FN would
        # depend on rounding.
        jumps = Jumps.from_rates(fp_diff, fn_diff)
        return cls._with_jumps(example, value, jumps, is_positive.size)

    @classmethod
    def from_penalty_errors(
        cls,
        example: ArrayLike,
        min_penalty: ArrayLike,
        fp: ArrayLike,
        fn: ArrayLike,
        *,
        denominator: Denominator = "count",
        n_examples: int | None = None,
    ) -> Self:
        """Return the breakpoints of errors that are piecewise constant in a penalty.

        Each row contains an example's errors for penalties from ``min_penalty`` up to
        the next larger one of that example; the smallest must be 0. The prediction is
        minus the log penalty, so breakpoints are at ``-log(min_penalty)``. Constants
        that no prediction can change are subtracted: from FP its value at the largest
        penalty, from FN its value at penalty 0.

        Parameters
        ----------
        example : array-like of int, shape (n_rows,)
            Index of the example in a vector of predictions.
        min_penalty : array-like, shape (n_rows,)
            Smallest penalty of the row, non-negative.
        fp, fn : array-like, shape (n_rows,)
            False positives and false negatives of the row, non-negative.
        denominator : {"count", "rate"}
            Unit of the errors: ``"rate"`` divides FP and FN by the sums over examples of
            the largest FP and the largest FN, ``"count"`` does not.
        n_examples : int, optional
            Length of the prediction vectors. The default is the largest example plus
            one.

        Returns
        -------
        ErrorBreakpoints
        """
        rows = PenaltyRows.sorted(example, min_penalty, fp, fn)
        index, value, fp_diff, fn_diff = rows.jumps()
        if n_examples is None:
            n_examples = int(rows.example.max()) + 1
        if one_of("denominator", denominator, ("rate", "count")) == "count":
            return cls(index, value, fp_diff, fn_diff, n_examples=n_examples)
        largest_fp, largest_fn = rows.largest_errors()
        for name, largest in (("fp", largest_fp), ("fn", largest_fn)):
            if largest <= 0:
                raise ValueError(
                    f"{name} must change with the penalty in some example for "
                    "denominator='rate', got constant errors."
                )
        jumps = Jumps.from_rates(fp_diff, fn_diff, largest_fp, largest_fn)
        return cls._with_jumps(index, value, jumps, _count_examples(index, n_examples))


def per_example(name: str, values: ArrayLike, bp: ErrorBreakpoints) -> Floats:
    """Return a finite vector with one entry for each example, or raise."""
    if not isinstance(bp, ErrorBreakpoints):
        raise TypeError(f"bp must be ErrorBreakpoints, got {type(bp).__name__}.")
    vector = finite_vector(name, values, copy=False)
    check_count(f"{name} must have one entry", vector.size, bp.n_examples, "examples")
    return vector


def _merge_equal(
    example: NDArray[np.int64], value: Floats, jumps: Jumps
) -> tuple[NDArray[np.int64], Floats, Jumps]:
    """Sum the jumps of each example at each value."""
    # Binary labels have one breakpoint per example, so no sort is needed.
    if (example[1:] > example[:-1]).all():
        return example, value, jumps
    order = np.lexsort((value, example))
    is_new = np.diff(example[order]) != 0
    is_new |= np.diff(value[order]) != 0
    if is_new.all():
        return example, value, jumps
    # An increase and a decrease at one value, if kept separate, would make the errors
    # look non-monotone and rule out the searches that require monotone errors.
    start = np.flatnonzero(np.append(True, is_new))
    first = order[start]

    def sums(column: NDArray[Any]) -> NDArray[Any]:
        # Integer jumps are summed as integers, so that nothing is rounded again.
        return np.add.reduceat(column[order], start)

    return example[first], value[first], jumps.mapped(sums, sums)


def _count_examples(example: NDArray[np.int64], n_examples: int | None) -> int:
    check_none(example < 0, "example must not be negative", example)
    if n_examples is None:
        return int(example.max()) + 1
    n_examples = whole_number("n_examples", n_examples, least=1)
    rule = f"example must be below n_examples = {n_examples}"
    check_none(example >= n_examples, rule, example)
    return n_examples
