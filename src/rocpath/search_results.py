"""What a line search returns: AUM and AUC as functions of the step, or a best step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import describe

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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
