"""Error breakpoints: where each example's false positives and false negatives jump."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import rocpath._core as _core
from rocpath.arguments import (
    check_count,
    finite_number,
    finite_vector,
    one_of,
    read_only,
    refuse_any,
    same_length,
    set_fields,
    whole_number,
    whole_numbers,
)
from rocpath.binary_labels import label_weights, positive_labels
from rocpath.jumps import Jumps
from rocpath.penalty_rows import PenaltyRows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Denominator = Literal["rate", "count"]


@dataclass(frozen=True, slots=True, eq=False)
class ErrorBreakpoints:
    """Hold the error functions of all examples as their jumps.

    As the prediction of ``example[b]`` grows past ``value[b]``, its false positives
    change by ``fp_diff[b]`` and its false negatives by ``fn_diff[b]``. False positives
    start at 0 for very small predictions, false negatives end at 0 for very large
    ones. Breakpoints may come in any order, and need not be monotone; those of one
    example at one value become one, with the sum of their jumps.

    Parameters
    ----------
    example : array-like of int, shape (n_breakpoints,)
        Place of the example in a vector of predictions.
    value : array-like, shape (n_breakpoints,)
        The prediction at which the errors jump.
    fp_diff, fn_diff : array-like, shape (n_breakpoints,)
        The jumps.
    n_examples : int, optional
        Length of the prediction vectors; by default the largest example plus one.

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
    value: NDArray[np.float64]
    fp_diff: NDArray[np.float64]
    fn_diff: NDArray[np.float64]
    n_examples: int = field(default=None, kw_only=True)  # type: ignore[assignment]
    is_monotone: bool = field(init=False)
    jumps: Jumps = field(init=False, repr=False)
    # Made once: areas and searches are asked for the same breakpoints at every step.
    core: _core.Breakpoints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check and freeze the arrays."""
        example = whole_numbers("example", self.example)
        value = finite_vector("value", self.value)
        same_length(example=example, value=value)
        if example.size == 0:
            raise ValueError("example must name at least one breakpoint, got none.")
        n_examples = _count_examples(example, self.n_examples)
        jumps = Jumps.from_diffs(self.fp_diff, self.fn_diff, size=value.size)
        self._set(example, value, jumps, n_examples)

    def _set(
        self,
        example: NDArray[np.int64],
        value: NDArray[np.float64],
        jumps: Jumps,
        n_examples: int,
    ) -> None:
        example, value, jumps = _merge_equal(example, value, jumps)
        _check_cumulative_errors(example, value, jumps)
        set_fields(
            self,
            example=example,
            value=value,
            fp_diff=jumps.fp_diff,
            fn_diff=jumps.fn_diff,
            n_examples=n_examples,
            is_monotone=jumps.is_monotone,
            jumps=jumps,
            core=_core.Breakpoints(value, example, *jumps.for_core, jumps.is_monotone),
        )

    def __len__(self) -> int:
        """Return the number of breakpoints."""
        return self.value.size

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle with read-only arrays, and rates as they are."""
        return _with_jumps, (self.example, self.value, self.jumps, self.n_examples)

    @classmethod
    def from_labels(
        cls,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        margin: float = 0.0,
        denominator: Denominator = "rate",
        positive: Any = None,
    ) -> ErrorBreakpoints:
        """Make one breakpoint for every binary label.

        Parameters
        ----------
        y : array-like, shape (n_examples,)
            Labels of exactly two values.
        sample_weight : array-like, shape (n_examples,), optional
            How much each example counts; 1 by default. An example of weight 0 gets a
            breakpoint without a jump.
        margin : float
            Breakpoints stand at +margin for positives and -margin for negatives.
            AUM is then the class-balanced hinge loss, minimized over the intercept.
        denominator : {"rate", "count"}
            Divide by the total weight of the class, or do not.
        positive : label, optional
            The positive class; by default the larger of the two labels.

        Returns
        -------
        ErrorBreakpoints
        """
        is_positive = positive_labels(y, positive)
        weight = label_weights(is_positive, sample_weight)
        margin = finite_number("margin", margin)
        fp_diff = np.where(is_positive, 0.0, weight)
        fn_diff = np.where(is_positive, 0.0 - weight, 0.0)  # a weight of 0 is not -0.0
        example = np.arange(is_positive.size)
        value = np.where(is_positive, margin, -margin)
        if one_of("denominator", denominator, ("rate", "count")) == "count":
            return cls(example, value, fp_diff, fn_diff)
        # Not divided here: 1/3 is no float64, and FP = FN would be met by luck alone.
        jumps = Jumps.from_rates(fp_diff, fn_diff)
        return _with_jumps(example, value, jumps, is_positive.size)

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
    ) -> ErrorBreakpoints:
        """Make breakpoints from errors that are constant between penalties.

        Each row gives an example's errors for penalties from ``min_penalty`` up to the
        next larger one of that example; the smallest must be 0. The prediction is
        minus the log penalty, so breakpoints stand at ``-log(min_penalty)``. Constants
        that no prediction can change are taken away: from FP its value at the largest
        penalty, from FN its value at penalty 0.

        Parameters
        ----------
        example : array-like of int, shape (n_rows,)
            Place of the example in a vector of predictions.
        min_penalty : array-like, shape (n_rows,)
            Smallest penalty of the row, not negative.
        fp, fn : array-like, shape (n_rows,)
            False positives and false negatives of the row, not negative.
        denominator : {"count", "rate"}
            Keep counts, or divide by the sum over examples of the largest FP and of
            the largest FN.
        n_examples : int, optional
            Length of the prediction vectors.

        Returns
        -------
        ErrorBreakpoints
        """
        rows = PenaltyRows.sorted(example, min_penalty, fp, fn)
        # Row k-1 has the next larger penalty of the same example, so a smaller
        # prediction: passing from it to row k, the prediction grows past
        # -log(penalty of row k-1).
        same_example = np.flatnonzero(rows.example[1:] == rows.example[:-1]) + 1
        fp_diff = rows.fp[same_example] - rows.fp[same_example - 1]
        fn_diff = rows.fn[same_example] - rows.fn[same_example - 1]
        # A row that changes nothing would be a line that every search has to carry.
        has_jump = (fp_diff != 0) | (fn_diff != 0)
        before = same_example[has_jump] - 1
        fp_diff, fn_diff = fp_diff[has_jump], fn_diff[has_jump]
        if n_examples is None:
            n_examples = int(rows.example.max()) + 1
        # Penalty 0 stands in the last row of an example, which is before no other.
        value = -np.log(rows.min_penalty[before])
        bp_example = rows.example[before]
        if one_of("denominator", denominator, ("rate", "count")) == "count":
            return cls(bp_example, value, fp_diff, fn_diff, n_examples=n_examples)
        largest_fp, largest_fn = rows.largest_errors()
        for name, largest in (("fp", largest_fp), ("fn", largest_fn)):
            if largest <= 0:
                raise ValueError(
                    f"{name} must change with the penalty in some example for "
                    "denominator='rate', got none."
                )
        jumps = Jumps.from_rates(fp_diff, fn_diff, largest_fp, largest_fn)
        n_examples = _count_examples(bp_example, n_examples)
        return _with_jumps(bp_example, value, jumps, n_examples)


def per_example(
    name: str, values: ArrayLike, bp: ErrorBreakpoints
) -> NDArray[np.float64]:
    """Return a finite vector with one entry for each example, or raise."""
    if not isinstance(bp, ErrorBreakpoints):
        raise TypeError(f"bp must be ErrorBreakpoints, got {type(bp).__name__}.")
    vector = finite_vector(name, values, copy=False)
    check_count(f"{name} must have one entry", vector.size, bp.n_examples, "examples")
    return vector


def _with_jumps(
    example: NDArray[np.int64],
    value: NDArray[np.float64],
    jumps: Jumps,
    n_examples: int,
) -> ErrorBreakpoints:
    """Make breakpoints of arrays that are right, and freeze them."""
    bp = object.__new__(ErrorBreakpoints)
    bp._set(read_only(example), read_only(value), jumps, n_examples)
    return bp


def _merge_equal(
    example: NDArray[np.int64], value: NDArray[np.float64], jumps: Jumps
) -> tuple[NDArray[np.int64], NDArray[np.float64], Jumps]:
    """Sum the jumps of each example at each value."""
    # Binary labels have one breakpoint an example, and need no sort.
    if (example[1:] > example[:-1]).all():
        return example, value, jumps
    order = np.lexsort((value, example))
    sorted_example, sorted_value = example[order], value[order]
    is_first = np.append(
        True,
        (sorted_example[1:] != sorted_example[:-1])
        | (sorted_value[1:] != sorted_value[:-1]),
    )
    if is_first.all():
        return example, value, jumps
    # Apart, a rise and a fall at one value would make errors look as if they were not
    # monotone, and cost the searches that need it.
    merged = jumps.merged(order, np.flatnonzero(is_first))
    return (
        read_only(sorted_example[is_first]),
        read_only(sorted_value[is_first]),
        merged,
    )


def _count_examples(example: NDArray[np.int64], n_examples: int | None) -> int:
    refuse_any(example < 0, "example must not be negative", example)
    if n_examples is None:
        return int(example.max()) + 1
    n_examples = whole_number("n_examples", n_examples, least=1)
    rule = f"example must be below n_examples = {n_examples}"
    refuse_any(example >= n_examples, rule, example)
    return n_examples


def _check_cumulative_errors(
    example: NDArray[np.int64], value: NDArray[np.float64], jumps: Jumps
) -> None:
    """Raise if the FP or FN of some example falls below zero."""
    # Errors that only rise, or only fall to zero, cannot be negative.
    if jumps.is_monotone:
        return
    order = np.lexsort((value, example))
    start = np.flatnonzero(np.append(True, np.diff(example[order]) != 0))
    n_own = np.diff(np.append(start, example.size))
    for name, error, diff in (
        ("fp_diff", "false positives", jumps.fp_diff[order]),
        ("fn_diff", "false negatives", jumps.fn_diff[order]),
    ):
        running = np.cumsum(diff)
        errors = running - np.repeat((running - diff)[start], n_own)
        if name == "fn_diff":
            # FP starts at 0 but FN ends there, so it starts at minus its jumps' sum.
            final = np.repeat(np.add.reduceat(diff, start), n_own)
            errors = np.minimum(errors - final, -final)
        size = np.repeat(np.add.reduceat(np.abs(diff), start), n_own)
        is_negative = errors < -1e-9 * size  # rounding of rates, far below one error
        if is_negative.any():
            worst = is_negative.argmax()
            raise ValueError(
                f"{name} must never bring the {error} of an example below zero, got "
                f"{errors[worst]} for example {example[order][worst]} at value "
                f"{value[order][worst]}."
            )
