"""Label errors as a function of a penalty: constant between penalties, by example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import finite_vector, refuse_any, same_length, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False)
class PenaltyRows:
    """Rows of penalty errors, by example, from the largest penalty to 0."""

    example: NDArray[np.int64]
    min_penalty: NDArray[np.float64]
    fp: NDArray[np.float64]
    fn: NDArray[np.float64]

    @classmethod
    def sorted(
        cls, example: ArrayLike, min_penalty: ArrayLike, fp: ArrayLike, fn: ArrayLike
    ) -> PenaltyRows:
        """Check the rows and put them in order."""
        columns: dict[str, NDArray[Any]] = {
            "example": whole_numbers("example", example),
            "min_penalty": finite_vector("min_penalty", min_penalty),
            "fp": finite_vector("fp", fp),
            "fn": finite_vector("fn", fn),
        }
        same_length(**columns)
        if columns["example"].size == 0:
            raise ValueError("example must name at least one row, got none.")
        for name, column in columns.items():
            refuse_any(column < 0, f"{name} must not be negative", column)
        # Predictions are minus log penalties, so in this order they grow.
        order = np.lexsort((-columns["min_penalty"], columns["example"]))
        rows = cls(**{name: column[order] for name, column in columns.items()})
        is_last = np.append(rows.example[1:] != rows.example[:-1], True)
        # Else errors between 0 and the smallest penalty would be unknown.
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

    def largest_errors(self) -> tuple[float, float]:
        """Sum over examples the largest FP and FN that a prediction can cause."""
        # Errors that remain at the largest penalty (FP) or at penalty 0 (FN) are no
        # prediction's fault, so they are not part of a rate either.
        start = np.flatnonzero(np.append(True, self.example[1:] != self.example[:-1]))
        end = np.append(start[1:], self.example.size) - 1
        largest_fp = np.maximum.reduceat(self.fp, start) - self.fp[start]
        largest_fn = np.maximum.reduceat(self.fn, start) - self.fn[end]
        return float(largest_fp.sum()), float(largest_fn.sum())
