"""Results of line searches: AUM and AUC as functions of the step, or a best step."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import rocpath._core as _core
from rocpath.search.certificates import AUCCertificate, AUMCertificate
from rocpath.search.lines import Lines
from rocpath.search.roc import inside_interval
from rocpath.validation import Floats, describe, freeze_arrays, reconstruction


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
    certificate : AUCCertificate or AUMCertificate, optional
        Proof for `verify`, if it was requested.
    """

    step: float
    interval: tuple[float, float]
    value: float
    bound: float
    is_global: bool
    certificate: AUCCertificate | AUMCertificate | None = None


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
    lines : Lines or None
        Lines of the path, from which AUM at other steps is computed. Without them, AUM
        is interpolated between rows.
    """

    step: Floats
    aum: Floats
    aum_slope_after: Floats
    end: float
    lines: Lines | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        freeze_arrays(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle through the constructor, so that arrays stay read-only."""
        return reconstruction(self)

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
        if self.lines is not None:
            aum = _core.aum_at(self.lines.core, at.ravel()) * self.lines.unit
            return aum.reshape(at.shape)[()]
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
    that move along a line. Rows determine where the minimum is up to rounding, and the
    lines which float64 step is the best there.
    """
    row, step, value = _candidates(path, l2_slope, l2_curvature)
    quadratic = {"l2_slope": l2_slope, "l2_curvature": l2_curvature}
    kept = (_first_rise if first else _smallest)(path, row, step, value, **quadratic)
    intervals: dict[tuple[float, float], float] = {}
    for k in kept:
        interval = float(step[k]), float(step[k])
        # A parabola has a single minimum; without one, AUM may be constant on an interval.
        if l2_curvature == 0 and step[k] == path.step[row[k]]:
            interval = _flat_around(path, int(row[k]), l2_slope)
        intervals.setdefault(interval, float(value[k]))
    minima = [_best_near(path, *at, **quadratic, value=v) for at, v in intervals.items()]
    best = minima[0]
    for one in minima[1:]:
        if _is_smaller(path, one, best, **quadratic):
            best = one
    return replace(best, bound=-np.inf if first else best.value, is_global=not first)


def _first_rise(
    path: AUMPath,
    row: NDArray[np.intp],
    step: Floats,
    value: Floats,
    *,
    l2_slope: float,
    l2_curvature: float,
) -> NDArray[np.intp]:
    """Return the first candidate after which the sum increases, or the last one."""
    # The sum is convex on each piece, which contains a minimum if the sum increases at the
    # end of the piece.
    end = np.append(path.step[1:], path.end)[row]
    with np.errstate(invalid="ignore"):  # infinity times zero
        bend = np.where(l2_curvature > 0, l2_curvature * end, 0.0)
    rises = np.flatnonzero(path.aum_slope_after[row] + l2_slope + bend > 0)
    return rises[:1] if rises.size else np.array([row.size - 1])


def _smallest(
    path: AUMPath,
    row: NDArray[np.intp],
    step: Floats,
    value: Floats,
    *,
    l2_slope: float,
    l2_curvature: float,
) -> NDArray[np.intp]:
    """Return the candidates next to which the sum may be smallest."""
    if path.lines is None:
        return np.array([value.argmin()])
    # Steps of rows are rounded, so AUM at the float64 steps next to them may differ.
    slope = np.abs(path.aum_slope_after)
    steepest = np.maximum(slope, np.append(0.0, slope[:-1]))[row] + abs(l2_slope)
    largest = np.finfo(float).max
    finite = np.clip(value, -largest, largest)
    with np.errstate(over="ignore"):
        doubt = 2.0**-44 * np.abs(finite) + 4 * steepest * np.spacing(step)
        doubt += 2.0**-44 * np.abs(step) * (abs(l2_slope) + abs(l2_curvature * step))
        return np.flatnonzero(finite - doubt <= (finite + doubt).min())


def _best_near(
    path: AUMPath, low: float, high: float, *, l2_slope: float, l2_curvature: float, value: float
) -> BestStep:
    """Return the best float64 step of a minimum, in an interval or next to it."""
    if path.lines is None:
        # At the ends lines are tied, and AUC differs. If the interval is unbounded, its
        # lower end is doubled, since any fixed distance would depend on the unit.
        step = inside_interval(low, high, beyond=low or 1.0)
        return BestStep(step, (low, high), value, value, is_global=True)
    unit = path.lines.unit
    best = _core.minimum_near(
        path.lines.core, low, high, path.end, l2_slope / unit, l2_curvature / unit
    )
    best["value"] *= unit
    return BestStep(**best, bound=best["value"], is_global=True)


def _is_smaller(
    path: AUMPath, one: BestStep, best: BestStep, *, l2_slope: float, l2_curvature: float
) -> bool:
    """Whether the minimum at one step is smaller than at another one."""
    if path.lines is None or abs(one.value - best.value) > 2.0**-44 * abs(best.value):
        return one.value < best.value
    difference = _core.aum_difference(path.lines.core, one.step, best.step)
    distance, middle = one.step - best.step, 0.5 * one.step + 0.5 * best.step
    added = (
        distance * (l2_slope + l2_curvature * middle) * (path.lines.jumps.divisor / path.lines.unit)
    )
    return bool(difference + added < 0)


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
    changes = path.aum_slope_after + l2_slope != 0
    before = np.flatnonzero(changes[:row])
    after = row + np.flatnonzero(changes[row:])
    first = int(before[-1]) + 1 if before.size else 0
    high = path.step[after[0]] if after.size else path.end
    return float(path.step[first]), float(high)
