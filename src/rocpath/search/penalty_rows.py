"""Errors as piecewise constant functions of a penalty, and their jumps."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.validation import Floats, check_none, finite_vector, same_length, whole_numbers


@dataclass(frozen=True, slots=True, eq=False)
class PenaltyRows:
    """Errors for each interval of penalties, sorted by example and decreasing penalty."""

    example: NDArray[np.int64]
    min_penalty: Floats
    fp: Floats
    fn: Floats

    @classmethod
    def sorted(
        cls, example: ArrayLike, min_penalty: ArrayLike, fp: ArrayLike, fn: ArrayLike
    ) -> Self:
        """Check and sort the rows."""
        columns: dict[str, NDArray[Any]] = {
            "example": whole_numbers("example", example),
            "min_penalty": finite_vector("min_penalty", min_penalty),
            "fp": finite_vector("fp", fp),
            "fn": finite_vector("fn", fn),
        }
        same_length(**columns)
        if columns["example"].size == 0:
            raise ValueError("example must have at least one entry, got none.")
        for name, column in columns.items():
            check_none(column < 0, f"{name} must be non-negative", column)
        # Predictions are minus log penalties, so they increase in this order.
        order = np.lexsort((-columns["min_penalty"], columns["example"]))
        rows = cls(**{name: column[order] for name, column in columns.items()})
        is_last = np.append(rows.example[1:] != rows.example[:-1], True)
        # Otherwise errors between 0 and the smallest penalty would be unknown.
        no_zero = is_last & (rows.min_penalty != 0)
        if no_zero.any():
            worst = no_zero.argmax()
            raise ValueError(
                "min_penalty must contain 0 for every example, got a smallest value of "
                f"{rows.min_penalty[worst]} for example {rows.example[worst]}."
            )
        is_repeated = ~is_last[:-1] & (rows.min_penalty[1:] == rows.min_penalty[:-1])
        if is_repeated.any():
            worst = is_repeated.argmax()
            raise ValueError(
                "min_penalty must not repeat within an example, got "
                f"{rows.min_penalty[worst]} twice for example {rows.example[worst]}."
            )
        return rows

    def jumps(self) -> tuple[NDArray[Any], ...]:
        """Return the jumps of the errors: example, minus log penalty, FP and FN.

        They are sorted by example and prediction.
        """
        # Row k-1 has the next larger penalty of the same example, and thus a smaller
        # prediction; from it to row k, the prediction crosses -log(penalty of row k-1).
        same_example = np.flatnonzero(self.example[1:] == self.example[:-1]) + 1
        fp_diff = self.fp[same_example] - self.fp[same_example - 1]
        fn_diff = self.fn[same_example] - self.fn[same_example - 1]
        # A row without a jump would add a line that every search has to process.
        has_jump = (fp_diff != 0) | (fn_diff != 0)
        before = same_example[has_jump] - 1
        # Penalty 0 is in the last row of an example, so its logarithm is never taken.
        value = -np.log(self.min_penalty[before])
        return self.example[before], value, fp_diff[has_jump], fn_diff[has_jump]

    def largest_errors(self) -> tuple[float, float]:
        """Return the largest FP and FN that predictions can cause, summed over examples."""
        # Errors that remain at the largest penalty (FP) or at penalty 0 (FN) do not
        # depend on the prediction, so they are not part of a rate either.
        start = np.flatnonzero(np.append(True, self.example[1:] != self.example[:-1]))
        end = np.append(start[1:], self.example.size) - 1
        largest_fp = np.maximum.reduceat(self.fp, start) - self.fp[start]
        largest_fn = np.maximum.reduceat(self.fn, start) - self.fn[end]
        return float(largest_fp.sum()), float(largest_fn.sum())


def check_cumulative_errors(
    example: NDArray[np.int64], value: Floats, fp_diff: Floats, fn_diff: Floats
) -> None:
    """Raise if the FP or FN of some example is negative for some prediction."""
    order = np.lexsort((value, example))
    start = np.flatnonzero(np.append(True, np.diff(example[order]) != 0))
    n_jumps = np.diff(np.append(start, example.size))
    for name, error, diff in (
        ("fp_diff", "false positives", fp_diff[order]),
        ("fn_diff", "false negatives", fn_diff[order]),
    ):
        running = np.cumsum(diff)
        errors = running - np.repeat((running - diff)[start], n_jumps)
        if name == "fn_diff":
            # FP starts at 0, but FN ends at 0, so FN starts at minus the sum of its jumps.
            final = np.repeat(np.add.reduceat(diff, start), n_jumps)
            errors = np.minimum(errors - final, -final)
        size = np.repeat(np.add.reduceat(np.abs(diff), start), n_jumps)
        is_negative = errors < -1e-9 * size  # tolerates the rounding of rates
        if is_negative.any():
            worst = is_negative.argmax()
            raise ValueError(
                f"{name} must never make the {error} of an example negative, got "
                f"{errors[worst]} for example {example[order][worst]} at value "
                f"{value[order][worst]}."
            )
