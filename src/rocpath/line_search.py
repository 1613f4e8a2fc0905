"""Exact line searches: AUM and AUC as functions of the step size."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rocpath import _core
from rocpath.arguments import (
    describe,
    finite_vector,
    number_from_zero,
    one_of,
    same_length,
    set_fields,
    whole_number,
)
from rocpath.breakpoints import ErrorBreakpoints, Jumps

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

Stop = Literal["first_min_aum", "first_max_auc"]

_ROW_BYTES = 56
_MAX_LINES = 2**32 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Hold the threshold of every breakpoint as a line in the step size.

    ``T_b(s) = intercept[b] + s * slope[b]``; as a constant added to all predictions
    grows past the threshold, errors change by ``fp_diff[b]`` and ``fn_diff[b]``. Lines
    come in any order and may repeat.

    Parameters
    ----------
    intercept, slope : array-like, shape (n_lines,)
        The lines.
    fp_diff, fn_diff : array-like, shape (n_lines,)
        The jumps of the errors.

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

    intercept: NDArray[np.float64]
    slope: NDArray[np.float64]
    fp_diff: NDArray[np.float64]
    fn_diff: NDArray[np.float64]
    is_monotone: bool = field(init=False)
    jumps: Jumps = field(init=False, repr=False)

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
        """Copy and unpickle through the constructor, so that arrays stay read-only."""
        return Lines, (self.intercept, self.slope, self.fp_diff, self.fn_diff)

    @classmethod
    def from_predictions(
        cls, bp: ErrorBreakpoints, predictions: ArrayLike, direction: ArrayLike
    ) -> Lines:
        """Make the lines of ``predictions + s * direction``.

        Parameters
        ----------
        bp : ErrorBreakpoints
            The error functions.
        predictions, direction : array-like, shape (n_examples,)
            Predictions at step 0, and their change for a step of 1.

        Returns
        -------
        Lines
        """
        if not isinstance(bp, ErrorBreakpoints):
            raise TypeError(f"bp must be ErrorBreakpoints, got {type(bp).__name__}.")
        prediction = finite_vector("predictions", predictions, copy=False)
        change = finite_vector("direction", direction, copy=False)
        for name, vector in (("predictions", prediction), ("direction", change)):
            if vector.size != bp.n_examples:
                raise ValueError(
                    f"{name} must have one entry for each of the {bp.n_examples} "
                    f"examples, got {vector.size}."
                )
        with np.errstate(over="ignore"):
            intercept = bp.value - prediction[bp.example]
        lines = object.__new__(cls)
        # Subtracting from zero keeps zeros positive.
        lines._set(
            finite_vector("intercept (value - predictions)", intercept, copy=False),
            finite_vector("slope", 0.0 - change[bp.example], copy=False),
            bp.jumps,
        )
        return lines

    def _set(
        self, intercept: NDArray[np.float64], slope: NDArray[np.float64], jumps: Jumps
    ) -> None:
        if intercept.size > _MAX_LINES:
            raise ValueError(f"intercept must have at most {_MAX_LINES} entries.")
        set_fields(
            self,
            intercept=intercept,
            slope=slope,
            fp_diff=jumps.fp_diff,
            fn_diff=jumps.fn_diff,
            is_monotone=jumps.is_monotone,
            jumps=jumps,
        )


@dataclass(frozen=True, slots=True, eq=False)
class StepPath:
    """Hold AUM and AUC at every step where lines cross; the first row is step 0.

    Attributes
    ----------
    step : array, shape (n_rows,)
        Steps in increasing order: the float64 nearest to each exact crossing.
    aum : array, shape (n_rows,)
        AUM at the step. It is linear from row to row.
    aum_slope_after : array, shape (n_rows,)
        Slope of AUM just after the step.
    auc : array, shape (n_rows,)
        AUC at the step, where the lines that meet are tied.
    auc_after : array, shape (n_rows,)
        AUC from just after the step to just before the next one.
    n_groups : array of int, shape (n_rows,)
        How many groups of lines meet at the step, each in a point of its own.
    n_swaps : array of int, shape (n_rows,)
        How many pairs of lines exchange places at the step.
    queue_size : array of int, shape (n_rows,)
        How many pairs of neighbouring lines are still going to meet after the step.
    end : float
        The path is known from step 0 to here; infinity when it is complete.
    """

    step: NDArray[np.float64]
    aum: NDArray[np.float64]
    aum_slope_after: NDArray[np.float64]
    auc: NDArray[np.float64]
    auc_after: NDArray[np.float64]
    n_groups: NDArray[np.int32]
    n_swaps: NDArray[np.int64]
    queue_size: NDArray[np.int32]
    end: float

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.step.size

    def aum_at(self, step: ArrayLike) -> Any:
        """Evaluate AUM at any step within the path.

        Parameters
        ----------
        step : float or array-like
            From 0 to ``end``.

        Returns
        -------
        float or array
        """
        return _aum_at(self, step)

    def auc_at(self, step: ArrayLike) -> Any:
        """Evaluate AUC at any step within the path.

        Parameters
        ----------
        step : float or array-like
            From 0 to ``end``.

        Returns
        -------
        float or array
        """
        at, row = _rows_at(self, step)
        is_on_row = self.step[row] == at
        return np.where(is_on_row, self.auc[row], self.auc_after[row])[()]


@dataclass(frozen=True, slots=True, eq=False)
class AumPath:
    """Hold AUM as a function of the step by its kinks; the first row is step 0.

    Attributes
    ----------
    step : array, shape (n_rows,)
        Step 0 and the steps where the slope changes, increasing.
    aum : array, shape (n_rows,)
        AUM at the step. It is linear from row to row.
    aum_slope_after : array, shape (n_rows,)
        Slope of AUM just after the step.
    end : float
        The path is known from step 0 to here; infinity when it is complete.
    """

    step: NDArray[np.float64]
    aum: NDArray[np.float64]
    aum_slope_after: NDArray[np.float64]
    end: float

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.step.size

    def aum_at(self, step: ArrayLike) -> Any:
        """Evaluate AUM at any step within the path.

        Parameters
        ----------
        step : float or array-like
            From 0 to ``end``.

        Returns
        -------
        float or array
        """
        return _aum_at(self, step)

    @property
    def first_min(self) -> BestStep:
        """The first local minimum: the first stretch after which AUM rises."""
        rises = np.flatnonzero(self.aum_slope_after > 0)
        row = rises[0] if rises.size else self.step.size - 1
        return self._best(int(row), is_global=False)

    @property
    def global_min(self) -> BestStep:
        """The smallest AUM of all steps in the path."""
        row = int(self.aum.argmin())
        if np.isfinite(self.end) and self.aum_at(self.end) < self.aum[row]:
            row = self.step.size - 1
        return self._best(row, is_global=True)

    def _best(self, row: int, *, is_global: bool) -> BestStep:
        slope = self.aum_slope_after
        first = last = row
        while first > 0 and slope[first - 1] == 0:
            first -= 1
        while last < len(self) - 1 and slope[last] == 0:
            last += 1
        interval = float(self.step[first]), float(self.step[last])
        value = float(self.aum[first])
        is_last = last == len(self) - 1
        if is_last and slope[last] == 0:
            interval = interval[0], self.end
        elif is_last and slope[last] < 0 and np.isfinite(self.end):
            interval, value = (self.end, self.end), float(self.aum_at(self.end))
        low, high = interval
        step = (low + high) / 2 if np.isfinite(high) else 2 * low + (low == 0)
        return BestStep(step, interval, value, value if is_global else 0.0, is_global)


@dataclass(frozen=True, slots=True, eq=False)
class BestStep:
    """Hold the best step of a line search and what is known about all others.

    Attributes
    ----------
    step : float
        A best step: strictly inside the interval, unless that is a single point.
    interval : tuple of two floats
        The stretch around the step on which AUM or AUC keeps the best value; its end
        may be infinite.
    value : float
        AUM or AUC at the step.
    bound : float
        No step has a smaller AUM, or a larger AUC, than this.
    is_global : bool
        Whether the value is the best of all steps, up to the tolerance asked for;
        otherwise it is the first local minimum, and the bound is trivial.
    """

    step: float
    interval: tuple[float, float]
    value: float
    bound: float
    is_global: bool


def sweep(
    lines: Lines,
    *,
    stop: Stop | None = None,
    max_crossings: int | None = None,
    max_step: float | None = None,
) -> StepPath:
    """Compute AUM and AUC at every crossing of the lines, in order of the step.

    This is the paper's line search. Its "linear" variant is
    ``max_crossings=len(lines)``, its "quadratic" variant has no limit. Lines that meet
    in one point, or repeat, are handled exactly.

    Parameters
    ----------
    lines : Lines
        Thresholds as functions of the step.
    stop : {None, "first_min_aum", "first_max_auc"}
        Go on to the end; or stop where AUM has reached its first minimum, which is the
        last row's ``aum``; or at the first step after which AUC falls. For monotone
        errors the first minimum of AUM is the global one, otherwise a local one.
    max_crossings : int, optional
        Stop after that many steps with a crossing.
    max_step : float, optional
        Stop at that step.

    Returns
    -------
    StepPath

    Raises
    ------
    MemoryError
        If the path would not fit into memory; the message tells its size.

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> path = rp.sweep(lines)
    >>> path.step
    array([ 0.,  2.,  8., 10.])
    >>> path.aum
    array([1., 0., 0., 0.])
    >>> path.auc_after
    array([0.75, 1.  , 1.  , 1.  ])
    """
    _check_lines(lines)
    one_of("stop", stop, (None, "first_min_aum", "first_max_auc"))
    crossing_limit = 2**63
    if max_crossings is not None:
        crossing_limit = whole_number("max_crossings", max_crossings, least=0)
    step_limit = _checked_max_step(max_step)
    arguments = _core_arguments(lines)
    max_rows = _available_memory() // _ROW_BYTES
    ends_early = stop is not None or max_step is not None
    # Every pair of lines crosses at most once, and every crossing is at most one row.
    n_expected = min(len(lines) * (len(lines) - 1) // 2, crossing_limit) + 1
    if n_expected > max_rows:
        n_expected = min(_core.count_crossings(**arguments), crossing_limit) + 1
        if n_expected > max_rows and not ends_early:
            raise _too_long(n_expected)
    columns = _core.sweep(
        **arguments,
        stop=getattr(_core.Stop, stop or "never"),
        max_crossings=crossing_limit,
        max_step=step_limit,
        n_expected=1024 if ends_early else n_expected,
        max_rows=max_rows,
    )
    if columns.pop("is_too_long"):
        raise _too_long(n_expected)
    return StepPath(**columns)


def best_aum_step(lines: Lines, *, max_step: float | None = None) -> BestStep:
    """Find the step with the smallest AUM.

    For monotone errors AUM is convex in the step, and its minimum is found in linear
    expected time. For others the first local minimum is found by a sweep; see
    ``aum_path`` for the global one.

    Parameters
    ----------
    lines : Lines
        Thresholds as functions of the step.
    max_step : float, optional
        Largest step.

    Returns
    -------
    BestStep
        ``is_global`` tells whether the errors are monotone.

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> best = rp.best_aum_step(lines)
    >>> best.value, best.interval
    (0.0, (2.0, inf))
    """
    _check_lines(lines)
    search = _core.best_aum_step if lines.is_monotone else _core.first_min_aum
    best = search(**_core_arguments(lines), max_step=_checked_max_step(max_step))
    bound = best["value"] if lines.is_monotone else 0.0
    return BestStep(**best, bound=bound, is_global=lines.is_monotone)


def aum_path(lines: Lines, *, max_step: float | None = None) -> AumPath:
    """Compute AUM as a function of the step: every kink, and no other crossing.

    Parameters
    ----------
    lines : Lines
        Thresholds as functions of the step; any errors.
    max_step : float, optional
        Largest step.

    Returns
    -------
    AumPath

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> path = rp.aum_path(lines)
    >>> path.step, path.aum, path.aum_slope_after
    (array([0., 2.]), array([1., 0.]), array([-0.5,  0. ]))
    """
    _check_lines(lines)
    end = _checked_max_step(max_step)
    return AumPath(**_core.aum_path(**_core_arguments(lines), max_step=end), end=end)


def best_auc_step(
    lines: Lines,
    *,
    tol: float = 0.0,
    max_step: float | None = None,
    two_sided: bool = False,
    progress: Callable[[float, float, int], None] | None = None,
) -> BestStep:
    """Find the step with the largest AUC of all, by branch and bound.

    Parameters
    ----------
    lines : Lines
        Thresholds as functions of the step; any errors.
    tol : float
        Stop when no step can have an AUC larger than the best found by more than
        this. With 0 the answer is the maximum over all float64 steps.
    max_step : float, optional
        Largest step.
    two_sided : bool
        Search the steps from ``-max_step`` too, that is, the opposite direction.
    progress : callable, optional
        Called from time to time with the best value, the bound, and the number of
        windows searched.

    Returns
    -------
    BestStep
        ``value <= bound <= value + tol``.

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> best = rp.best_auc_step(lines)
    >>> best.value, best.interval
    (1.0, (2.0, inf))
    """
    _check_lines(lines)
    step_limit = _checked_max_step(max_step)
    best = _core.best_auc_step(
        **_core_arguments(lines),
        min_step=-step_limit if two_sided else 0.0,
        max_step=step_limit,
        tolerance=number_from_zero("tol", tol),
        progress=progress or (lambda *_: None),
    )
    return BestStep(**best, is_global=True)


def _rows_at(
    path: StepPath | AumPath, step: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return steps within the path and the last row at or before each."""
    at = np.asarray(step)
    if at.dtype.kind not in "buif":
        raise TypeError(f"step must be real numbers, got {describe(step)}.")
    at = at.astype(np.float64)
    is_known = (at >= 0) & (at <= path.end) & np.isfinite(at)
    if not is_known.all():
        raise ValueError(
            f"step must be finite and from 0 to {path.end}, where the path ends, "
            f"got {at[~is_known].flat[0]}."
        )
    return at, np.searchsorted(path.step, at, side="right") - 1


def _aum_at(path: StepPath | AumPath, step: ArrayLike) -> Any:
    at, row = _rows_at(path, step)
    value = path.aum[row] + path.aum_slope_after[row] * (at - path.step[row])
    # Between two rows AUM lies between theirs, and so never below zero.
    following = np.minimum(row + 1, path.step.size - 1)
    low = np.minimum(path.aum[row], path.aum[following])
    high = np.maximum(path.aum[row], path.aum[following])
    return np.where(following > row, np.clip(value, low, high), value)[()]


def _check_lines(lines: Lines) -> None:
    if not isinstance(lines, Lines):
        raise TypeError(f"lines must be Lines, got {type(lines).__name__}.")


def _checked_max_step(max_step: float | None) -> float:
    return float("inf") if max_step is None else number_from_zero("max_step", max_step)


def _available_memory() -> int:
    """Return the bytes of memory that a result may take."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 2**33


def _too_long(n_rows: int) -> MemoryError:
    return MemoryError(
        f"the path may have {n_rows:,} rows, {n_rows * _ROW_BYTES / 1e9:,.1f} GB, more "
        "than the memory at hand. Set max_crossings, max_step or stop."
    )


def _core_arguments(lines: Lines) -> dict[str, Any]:
    jumps = lines.jumps
    return {
        "intercept": lines.intercept,
        "slope": lines.slope,
        "fp": jumps.fp,
        "tp": jumps.tp,
        "fp_unit": jumps.fp_unit,
        "tp_unit": jumps.tp_unit,
    }
