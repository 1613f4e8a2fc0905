"""Thresholds as lines in the step size, the input of every search."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

import rocpath._core as _core
from rocpath.matrices import Columns, Matrix, as_matrix, sums_over_rows, weighted_sums
from rocpath.search.breakpoints import ErrorBreakpoints, Jumps, per_example
from rocpath.search.roc import aum_gradient
from rocpath.validation import (
    LARGEST_VALUE,
    Floats,
    finite_vector,
    read_only,
    same_length,
    set_fields,
)

_MAX_LINES = 2**32 - 1  # the core numbers lines with 32 bits
# If all thresholds are smaller, their products with jumps may underflow.
_SMALLEST_SAFE = 1e-240


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Threshold of every breakpoint as a line in the step size.

    The threshold is ``T_b(s) = intercept[b] + s * slope[b]``. As a constant that is
    added to all predictions increases past it, errors change by ``fp_diff[b]`` and
    ``fn_diff[b]``. Lines may be in any order and may repeat.

    Parameters
    ----------
    intercept, slope : array-like, shape (n_lines,)
        Intercepts and slopes of the lines.
    fp_diff, fn_diff : array-like, shape (n_lines,)
        Jumps of false positives and of false negatives, as for `ErrorBreakpoints`.

    Attributes
    ----------
    is_monotone : bool
        Whether no ``fp_diff`` is negative and no ``fn_diff`` positive.

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> prediction = [-7, -2, 0, -4]
    >>> gradient = rp.aum_gradient(bp, prediction)
    >>> lines = rp.Lines.from_predictions(bp, prediction, -gradient)
    >>> lines.intercept, lines.slope
    (array([7., 2., 0., 4.]), array([ 0. ,  0.5,  0. , -0.5]))
    """

    intercept: Floats
    slope: Floats
    fp_diff: Floats
    fn_diff: Floats
    is_monotone: bool = field(init=False)
    jumps: Jumps = field(init=False, repr=False)
    core: _core.Lines = field(init=False, repr=False)
    unit: float = field(init=False, repr=False)  # unit of the thresholds in the core

    def __post_init__(self) -> None:
        """Check and freeze the arrays."""
        intercept = finite_vector("intercept", self.intercept)
        slope = finite_vector("slope", self.slope)
        same_length(intercept=intercept, slope=slope)
        jumps = Jumps.from_diffs(self.fp_diff, self.fn_diff, size=intercept.size)
        self._set(intercept, slope, jumps)

    def __len__(self) -> int:
        """Return the number of lines."""
        return self.intercept.size

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle with read-only arrays and exact rates."""
        return self._with_jumps, (self.intercept, self.slope, self.jumps)

    @classmethod
    def _with_jumps(cls, *checked: Any) -> Self:
        """Return lines from arguments of `_set` that have already been checked."""
        return object.__new__(cls)._set(*checked)

    @classmethod
    def from_predictions(
        cls, bp: ErrorBreakpoints, predictions: ArrayLike, direction: ArrayLike
    ) -> Self:
        """Return the lines of ``predictions + s * direction``.

        Parameters
        ----------
        bp : ErrorBreakpoints
            Error functions of the examples.
        predictions, direction : array-like, shape (n_examples,)
            Predictions at step 0, and their changes for a step of size 1.

        Returns
        -------
        Lines
        """
        prediction = per_example("predictions", predictions, bp)
        change = per_example("direction", direction, bp)
        # T_b(s) = v_b - prediction - s * change for the example of b. The core rounds it
        # once, in the same way as for `roc`.
        core = bp.core.lines(prediction, change)
        return cls._with_jumps(core.intercept, core.slope, bp.jumps, core)

    @classmethod
    def down_gradient(cls, X: Matrix, bp: ErrorBreakpoints, predictions: ArrayLike) -> Self:
        """Return the lines of a gradient descent step of a linear model.

        The gradient of AUM is taken with respect to the weights of standardized
        columns, so that the units of the columns do not matter. Their centers do not
        matter either, since AUM does not depend on an added constant.

        Parameters
        ----------
        X : array or CSR matrix, shape (n_examples, n_features)
            Features.
        bp : ErrorBreakpoints
            Error functions of the examples.
        predictions : array-like, shape (n_examples,)
            Predictions of the model at step 0.

        Returns
        -------
        Lines
        """
        matrix = as_matrix("X", X)
        gradient = sums_over_rows(matrix, aum_gradient(bp, predictions))
        # One division by the scale converts the gradient to scaled columns, the other
        # converts the step back to the original columns. A constant column has an
        # infinite scale, so its weight does not change.
        change = -gradient / Columns.from_matrix(matrix).scale ** 2
        return cls.from_predictions(bp, predictions, weighted_sums(matrix, change))

    def reversed(self) -> Self:
        """Return the lines of the opposite direction: step ``s`` becomes ``-s``."""
        return self._with_jumps(self.intercept, -self.slope, self.jumps)

    def _set(
        self, intercept: Floats, slope: Floats, jumps: Jumps, core: _core.Lines | None = None
    ) -> Self:
        """Set and freeze all fields."""
        if intercept.size > _MAX_LINES:
            raise ValueError(
                f"intercept must have at most {_MAX_LINES} entries, got {intercept.size}."
            )
        core = core or _core.Lines(intercept, slope, *jumps.for_core)
        largest = core.largest
        # The difference of two numbers within the bound may exceed it.
        if not largest < LARGEST_VALUE:
            finite_vector("intercept (value - predictions)", intercept, copy=False)
        # Division by a power of two is exact and does not change the steps at which
        # lines meet. The largest threshold becomes 2**-100, so that AUM does not overflow
        # at the largest steps.
        unit = 1.0
        if 0 < largest < _SMALLEST_SAFE:
            unit = 2.0 ** (np.frexp(largest)[1] + 100)
            core = _core.Lines(intercept / unit, slope / unit, *jumps.for_core)
        set_fields(
            self,
            intercept=read_only(intercept),
            slope=read_only(slope),
            fp_diff=jumps.fp_diff,
            fn_diff=jumps.fn_diff,
            is_monotone=jumps.is_monotone,
            jumps=jumps,
            core=core,
            unit=unit,
        )
        return self


def with_rounding_margin(lines: Lines, rounding: float) -> Lines:
    """Return the lines in the worst case of a given rounding error.

    A threshold at step ``s >= 0`` may be off by ``rounding * (a + s * b)``, where ``a``
    and ``b`` are the largest absolute values of the intercepts and slopes. In the worst
    case each false positive comes that much earlier and each true positive that much
    later. AUC never increases when a pair of thresholds moves that way, so AUC of the
    returned lines is a lower bound of AUC with any such errors.
    """
    if not lines.is_monotone:
        raise ValueError(
            "rounding must be 0 unless errors are monotone (fp_diff >= 0 and "
            f"fn_diff <= 0), got {rounding}: with other errors, worse thresholds may have "
            "a larger AUC."
        )
    fp, tp = lines.jumps.fp, lines.jumps.tp
    # A line that has jumps of both kinds becomes two, which move apart.
    source = np.concatenate([np.arange(fp.size), np.flatnonzero((fp > 0) & (tp > 0))])
    is_copy = np.arange(source.size) >= fp.size
    is_split = np.isin(source, source[fp.size :])
    has_tp = np.where(is_split, is_copy, tp[source] > 0)
    sign = np.where(has_tp, 1.0, np.where(fp[source] > 0, -1.0, 0.0))
    # The sums below are rounded too, each by less than 2**-53 of the largest.
    margin = rounding + 2.0**-52

    def moved(column: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(column[source] + sign * (margin * np.abs(column).max()))

    jumps = lines.jumps.mapped(
        lambda column: np.where(is_split & is_copy, 0, column[source]),
        lambda column: np.where(is_split & ~is_copy, 0, column[source]),
    )
    return lines._with_jumps(moved(lines.intercept), moved(lines.slope), jumps)
