"""Results of line searches: AUM and AUC as functions of the step, or a best step."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.search.roc import inside_interval
from rocpath.validation import Floats, describe


@dataclass(frozen=True, slots=True, eq=False)
class BestStep:
    """Best step of a line search, and a bound on all other steps.

    Attributes
    ----------
    step : float
        Best step, strictly inside the interval unless no float64 is. If the interval is
        unbounded, the step is near its lower end.
    interval : tuple of two floats
        Interval around the step on which AUM or AUC has the best value; its end may be
        infinite. Ends are the float64 numbers nearest to crossings. If the minimum of
        AUM is between two neighboring float64 numbers, both ends are the step, which is
        the one with the smaller AUM.
    value : float
        AUM or AUC of the lines at exactly this float64 step.
    bound : float
        Bound on all float64 steps: none has a smaller AUM, or a larger AUC, than this.
    is_global : bool
        Whether the value is the best of all steps, up to the given tolerance;
        otherwise it is the first local minimum, and the bound is trivial.
    """

    step: float
    interval: tuple[float, float]
    value: float
    bound: float
    is_global: bool


@dataclass(frozen=True, slots=True, eq=False)
class AUMPath:
    """Kinks of AUM as a function of the step; the first row is step 0.

    Attributes
    ----------
    step : array, shape (n_rows,)
        Step 0 and the steps at which the slope changes, in increasing order.
    aum : array, shape (n_rows,)
        AUM at the step or, if the step is rounded, at the exact crossing; the two
        differ by less than the slope times an ulp of the step. AUM is linear between
        rows.
    aum_slope_after : array, shape (n_rows,)
        Slope of AUM just after the step.
    end : float
        Last step of the path; infinity if it is complete.
    """

    step: Floats
    aum: Floats
    aum_slope_after: Floats
    end: float

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.step.size

    def aum_at(self, step: ArrayLike) -> Any:
        """Evaluate AUM at any step within the path.

        Parameters
        ----------
        step : float or array-like
            Steps from 0 to ``end``.

        Returns
        -------
        float or array
        """
        at, _ = self._rows_at(step)
        # Interpolation stays within the values of two rows; the last slope applies after.
        beyond = np.maximum(at - self.step[-1], 0.0)
        return np.interp(at, self.step, self.aum) + self.aum_slope_after[-1] * beyond

    @property
    def first_min(self) -> BestStep:
        """The first local minimum, after which AUM increases."""
        return smallest_aum(self, first=True)

    @property
    def global_min(self) -> BestStep:
        """The smallest AUM of the path."""
        return smallest_aum(self)

    def _rows_at(self, step: ArrayLike) -> tuple[Floats, NDArray[np.intp]]:
        """Return steps within the path, and the last row at or before each."""
        at = np.asarray(step)
        if at.dtype.kind not in "buif":
            raise TypeError(f"step must be real numbers, got {describe(step)}.")
        at = at.astype(np.float64)
        is_known = (at >= 0) & (at <= self.end) & np.isfinite(at)
        if not is_known.all():
            raise ValueError(
                f"step must be finite and in [0, {self.end}], the range of the path, "
                f"got {at[~is_known].flat[0]}."
            )
        return at, np.searchsorted(self.step, at, side="right") - 1


@dataclass(frozen=True, slots=True, eq=False)
class StepPath(AUMPath):
    """AUM and AUC at every step where lines cross; the first row is step 0.

    Attributes
    ----------
    step : array, shape (n_rows,)
        Steps in increasing order: the float64 nearest to each exact crossing. Crossings
        with the same float64 share a row.
    aum, aum_slope_after, end
        As in `AUMPath`.
    auc : array, shape (n_rows,)
        AUC or partial AUC at the step, where the lines that meet are tied.
    auc_after : array, shape (n_rows,)
        AUC from just after the step to just before the next one.
    n_groups : array of int, shape (n_rows,)
        Number of points at which lines meet at the step.
    n_swaps : array of int, shape (n_rows,)
        Number of pairs of lines whose order changes at the step. Equal lines count as
        one line.
    queue_size : array of int, shape (n_rows,)
        Number of pairs of neighboring lines that meet after the step.
    """

    auc: Floats
    auc_after: Floats
    n_groups: NDArray[np.int32]
    n_swaps: NDArray[np.int64]
    queue_size: NDArray[np.int32]

    def auc_at(self, step: ArrayLike) -> Any:
        """Evaluate AUC at any step within the path.

        Parameters
        ----------
        step
            As for `aum_at`.
        """
        at, row = self._rows_at(step)
        is_on_row = self.step[row] == at
        return np.where(is_on_row, self.auc[row], self.auc_after[row])[()]


def smallest_aum(
    path: AUMPath, *, first: bool = False, l2_slope: float = 0.0, l2_curvature: float = 0.0
) -> BestStep:
    """Find the global or the first local minimum of AUM plus a quadratic term.

    The term is ``l2_slope * s + l2_curvature * s**2 / 2``, like the L2 term of weights
    that move along a line.
    """
    row, step, value = _candidates(path, l2_slope, l2_curvature)
    if first:
        # The sum is convex on each piece, which contains a minimum if the sum increases
        # at the end of the piece.
        end = np.append(path.step[1:], path.end)[row]
        with np.errstate(invalid="ignore"):  # infinity times zero
            bend = np.where(l2_curvature > 0, l2_curvature * end, 0.0)
        rises = np.flatnonzero(path.aum_slope_after[row] + l2_slope + bend > 0)
        best = int(rises[0]) if rises.size else row.size - 1
    else:
        best = int(value.argmin())
    interval = float(step[best]), float(step[best])
    # A parabola has a single minimum; without one, AUM may be constant on an interval.
    if l2_curvature == 0 and step[best] == path.step[row[best]]:
        interval = _flat_around(path, int(row[best]), l2_slope)
    low, high = interval
    return BestStep(
        # At the ends lines are tied, and AUC differs. If the interval is unbounded, its
        # lower end is doubled, since any fixed distance would depend on the unit.
        step=inside_interval(low, high, beyond=low or 1.0),
        interval=interval,
        value=float(value[best]),
        bound=-np.inf if first else float(value[best]),
        is_global=not first,
    )


def _candidates(
    path: AUMPath, l2_slope: float, l2_curvature: float
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return the row, the best step and the value of every piece of the path."""
    row = np.arange(len(path))
    step = path.step
    slope = path.aum_slope_after + l2_slope
    end = min(path.end, np.finfo(float).max)
    if l2_curvature > 0:
        # The sum is a parabola on each piece, smallest nearest to its vertex.
        following = np.append(path.step[1:], end)
        step = np.clip(-slope / l2_curvature, path.step, following)
    elif slope[-1] < 0:
        # AUM that decreases to the end is smallest there.
        row, step = np.append(row, row[-1]), np.append(step, end)
    with np.errstate(over="ignore"):  # at the largest float64
        value = path.aum[row] + path.aum_slope_after[row] * (step - path.step[row])
    return row, step, value + step * (l2_slope + 0.5 * step * l2_curvature)


def _flat_around(path: AUMPath, row: int, l2_slope: float) -> tuple[float, float]:
    """Return the interval around a row on which the sum is constant."""
    is_flat = path.aum_slope_after + l2_slope == 0
    first = last = row
    while first > 0 and is_flat[first - 1]:
        first -= 1
    while last < len(path) and is_flat[last]:
        last += 1
    high = path.end if last == len(path) else path.step[last]
    return float(path.step[first]), float(high)
