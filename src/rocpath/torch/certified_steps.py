"""Certified globally best steps for one layer of a ReLU network, by branch and bound.

A prediction is a difference P - Q of convex functions of the step. On a window of steps, a
chord of P minus a tangent of Q bounds it from above, and a tangent of P minus a chord of Q
bounds it from below. With upper bounds for positives and lower bounds for negatives, AUC
is at least and AUM at most that of the network. These bounds are lines, so exact line
searches bound the objective on each window. Windows are split until the best bound is
attained.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

import rocpath._core as _core
from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.line_search import best_auc_step, best_aum_step, sweep
from rocpath.search.lines import Lines
from rocpath.search.roc import auc, aum
from rocpath.search.search_results import BestStep, StepPath
from rocpath.torch.moved_layer import Kinks, MovedLayer, RowLines
from rocpath.torch.network_parts import Vector
from rocpath.validation import nonnegative_number, one_of

_NARROW = 1e-6  # width of a window, relative to its end, below which ties are resolved


def certified_step(
    network: nn.Module,
    layer: nn.Linear,
    X: Tensor,
    y: ArrayLike | Tensor,
    direction: Sequence[Tensor],
    *,
    metric: Literal["auc", "aum"] = "auc",
    tol: float = 1e-4,
    max_step: float | None = None,
) -> BestStep:
    """Find the globally best step along a direction of one layer of a ReLU network.

    The weights of the layer become ``weight + step * direction``, with ``step >= 0``.
    The user guide describes the method and its cost.

    Parameters
    ----------
    network : nn.Sequential
        Network with one output. From ``layer`` on, it must alternate between ``nn.Linear``
        and ``nn.ReLU``, apart from dropout and batch normalization; before ``layer``, any
        modules are allowed. The network is run in evaluation mode and in float64, in which
        batch normalization is part of the linear layers, and is not modified.
    layer : nn.Linear
        Layer of the network whose parameters change.
    X : Tensor, shape (n_examples, ...)
        Inputs of the network.
    y : array-like or Tensor, shape (n_examples,)
        Labels of two classes.
    direction : sequence of Tensor
        Direction of each parameter, with the shapes of ``layer.parameters()``.
    metric : {"auc", "aum"}
        Metric to maximize (AUC) or minimize (AUM).
    tol : float
        Absolute tolerance of the metric: no step is better by more than this.
    max_step : float, optional
        Maximum step. By default, it is infinite for the last layer. For other layers, it is
        2**20 times the ratio of the largest parameter of the layer to the largest entry of
        the direction: beyond this step, the parameters are a multiple of the direction, up
        to a relative error of one millionth.

    Returns
    -------
    BestStep
        ``value`` is the metric of a forward pass in float64 at ``step``. No step has a
        smaller AUM, and no float64 step a larger AUC, than ``bound``. For a hidden layer,
        the bound counts every pair that rounding may order either way as correctly ordered,
        unless no unit of the layer is active for either row or the rows are equal. For
        the last layer, predictions are lines with float64 coefficients, as in
        `best_auc_step`; pairs that are closer than the rounding errors of these
        coefficients may be ordered differently. ``is_global`` is True if the bound is
        within ``tol`` of the value; it is False only if predictions coincide, or are closer
        than their rounding errors.
        ``interval`` is a range of steps around ``step`` in which no predictions cross and
        none has a kink; for AUM, it is the step itself.

    Examples
    --------
    >>> import torch
    >>> from rocpath.torch import certified_step
    >>> network = torch.nn.Sequential(
    ...     torch.nn.Linear(1, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1)
    ... )
    >>> with torch.no_grad():
    ...     for parameter, values in zip(network.parameters(), [[1, -1], [0, 0], [1, 1], [0]]):
    ...         _ = parameter.copy_(torch.tensor(values).reshape(parameter.shape))
    >>> X = torch.tensor([[-2.0], [-1.0], [1.0], [2.0]])
    >>> direction = [torch.tensor([[1.0], [1.0]]), torch.zeros(2)]
    >>> best = certified_step(network, network[0], X, [0, 0, 1, 1], direction)
    >>> best.value, best.bound
    (1.0, 1.0)
    """
    one_of("metric", metric, ("auc", "aum"))
    tolerance = nonnegative_number("tol", tol)
    moved = MovedLayer.from_network(network, layer, X, y, direction)
    limit = moved.default_max_step if max_step is None else nonnegative_number("max_step", max_step)
    return _Search(moved, metric, tolerance, limit).run()


def layer_path(
    network: nn.Module,
    layer: nn.Linear,
    X: Tensor,
    y: ArrayLike | Tensor,
    direction: Sequence[Tensor],
    *,
    max_step: float | None = None,
) -> StepPath:
    """Compute AUM and AUC along a direction of one layer, at every crossing and kink.

    Between two kinks, predictions are lines, which `sweep` handles exactly, up to the
    rounding of the predictions at a kink. The number of rows of the path grows with the
    square of the number of examples, so this function is for hundreds of examples.

    Parameters
    ----------
    network, layer, X, y, direction, max_step
        Same as for :func:`certified_step`, but without a default limit on the step.

    Returns
    -------
    StepPath
        Rows for step 0, every kink of a prediction, and every crossing of predictions.

    Examples
    --------
    >>> import torch
    >>> from rocpath.torch import layer_path
    >>> network = torch.nn.Sequential(torch.nn.Linear(1, 1))
    >>> with torch.no_grad():
    ...     _ = network[0].weight.fill_(-1.0)
    >>> direction = [torch.ones(1, 1), torch.zeros(1)]
    >>> path = layer_path(network, network[0], torch.tensor([[0.0], [1.0]]), [0, 1], direction)
    >>> path.step, path.auc, path.auc_after
    (array([0., 1.]), array([0. , 0.5]), array([0., 1.]))
    """
    limit = np.inf if max_step is None else nonnegative_number("max_step", max_step)
    moved = MovedLayer.from_network(network, layer, X, y, direction)
    bp = ErrorBreakpoints.from_labels(moved.is_positive)
    ray = moved.ray(limit)
    lines = ray.lines
    kinks = ray.kinks
    low = 0.0
    cells: list[dict[str, NDArray[Any]]] = []
    for high in np.append(np.unique(kinks.step), limit):
        start = lines.intercept + lines.slope * low
        found = sweep(Lines.from_predictions(bp, start, lines.slope), max_step=high - low)
        named = {column.name: getattr(found, column.name) for column in fields(found)}
        cell = {name: column for name, column in named.items() if isinstance(column, np.ndarray)}
        # Crossings and kinks at the end of a cell are in the first row of the next one.
        is_inside = (low + cell["step"] < high) | (cell["step"] == 0)
        cells.append({name: column[is_inside] for name, column in cell.items()})
        cells[-1]["step"] += low
        n_passed = np.searchsorted(kinks.step, high, side="right")
        lines, kinks = lines.after(kinks.take(slice(n_passed))), kinks.take(slice(n_passed, None))
        low = high
    columns: dict[str, Any] = {
        name: np.concatenate([cell[name] for cell in cells]) for name in cells[0]
    }
    return StepPath(**columns, end=limit)


class _Window(NamedTuple):
    """Range of steps, with the lines at its start, its kinks, and a bound on the objective."""

    low: float
    high: float
    lines: RowLines
    kinks: Kinks
    bound: float = np.nan
    step: float = np.nan
    interval: tuple[float, float] = (np.nan, np.nan)

    @property
    def split(self) -> float | None:
        """Step at which to split, or None if a split would not improve the bound."""
        kink = self.kinks.step
        if kink.size == 0 or np.nextafter(self.low, self.high) == self.high:
            return None
        inside = kink[np.searchsorted(kink, self.low, "right") : np.searchsorted(kink, self.high)]
        n_before = np.searchsorted(inside, self.step, "right")
        if inside.size == 0:
            # Kinks are only at an end of the window: split off a narrow part at that end.
            is_first = kink[0] == self.low
            step = self.low * (1 + 0.5 * _NARROW) if is_first else self.high * (1 - 0.5 * _NARROW)
        elif 0.1 * inside.size < n_before < 0.9 * inside.size:
            step = self.step
        else:
            # The best step of the bound would leave nearly all kinks on one side.
            step = float(inside[inside.size // 2])
        return step if self.low < step < self.high else 0.5 * self.low + 0.5 * self.high


class _Search:
    """Branch and bound over windows of steps."""

    def __init__(self, moved: MovedLayer, metric: str, tol: float, max_step: float) -> None:
        self._moved, self._is_auc = moved, metric == "auc"
        self._tol, self._max_step = tol, max_step
        self._ray = moved.ray(max_step)
        self._has_kinks = self._ray.kinks.step.size > 0
        self._inactive = moved.inactive_prediction if len(moved.layers) > 1 else np.nan
        self._is_resting = moved.resting_rows()
        self._bp = ErrorBreakpoints.from_labels(moved.is_positive)
        self._sign = np.where(moved.is_positive, 1.0, -1.0)
        self._tied_row, self._tied_share = _tied_pairs(moved.source, moved.is_positive)
        # The objective is AUC or minus AUM.
        self._best_objective, self._best_step = -np.inf, 0.0

    def run(self) -> BestStep:
        """Split windows until the best bound is attained or its window cannot be split."""
        queue: list[tuple[float, int, _Window]] = []
        windows, n_windows = [_Window(0.0, self._max_step, *self._ray[:2])], 0
        bounded = self._bounded_auc if self._is_auc else self._bounded_aum
        while True:
            for window in map(bounded, windows):
                heapq.heappush(queue, (-window.bound, n_windows, window))
                n_windows += 1
            best, value = queue[0][2], self._best_objective
            # A forward pass may break ties, and thereby exceed the bound of exact arithmetic.
            bound = max(best.bound, value)
            is_global, split = bound - value <= self._tol, best.split
            if is_global or split is None:
                interval = self._interval(best)
                return BestStep(self._best_step, interval, abs(value), abs(bound), is_global)
            windows = self._halves(heapq.heappop(queue)[2], split)

    def _evaluate(self, step: float) -> float:
        """Return the objective of a forward pass, and record the best one so far."""
        scores = self._moved.scores(step)
        objective = auc(self._bp, scores) if self._is_auc else -aum(self._bp, scores)
        if objective > self._best_objective:
            self._best_objective, self._best_step = objective, float(step)
        return objective

    def _bounded_auc(self, window: _Window) -> _Window:
        """Return the window with its bound on AUC and the step that attains it."""
        intercept, slope, is_moved = self._relaxed(window)
        tolerance = self._inner_tolerance(window, intercept, slope)
        best = _core.best_auc_step_along(
            self._bp.core, intercept, slope, window.low, window.high, tolerance, 1.0, 0.0
        )
        # Equal rows are tied, although the bounds of a positive and a negative differ.
        n_tied = self._tied_share[is_moved[self._tied_row]].sum()
        bound = best["bound"]
        if n_tied:
            bound = min(bound - 0.5 * n_tied + 2.0**-50, 1.0)
        if self._has_kinks and window.kinks.step.size == 0:
            # The lines without rounding errors have wider plateaus.
            exact = _core.best_auc_step_along(
                self._bp.core, *window.lines, window.low, window.high, 0.0, 1.0, 0.0
            )
            self._evaluate(exact["step"])
        if self._evaluate(best["step"]) < bound and not self._has_kinks:
            # The plateau exists only because of rounding. A wider one may be nearly as good.
            lines = Lines.from_predictions(self._bp, intercept, slope)
            wider = best_auc_step(lines, tol=self._tol, max_step=window.high, rounding=2.0**-40)
            self._evaluate(wider.step)
        return window._replace(bound=float(bound), step=best["step"], interval=best["interval"])

    def _bounded_aum(self, window: _Window) -> _Window:
        """Return the window with its bound on AUM and the step that attains it."""
        intercept, slope, _ = self._relaxed(window)
        low, high = window.low, window.high
        start = intercept + slope * low
        if low > 0:
            start += self._sign * 2.0**-51 * (abs(intercept) + abs(slope) * low)
        lines = Lines.from_predictions(self._bp, start, slope)
        width = None if np.isinf(high) else np.nextafter(high - low, np.inf)
        least = best_aum_step(lines, max_step=width)
        # Between two float64 steps, AUM may be smaller, by at most its slope times the gap.
        largest_slope = np.sum(abs(lines.slope) * (lines.fp_diff - lines.fn_diff))
        smallest = least.value * (1.0 - 2.0**-40) - largest_slope * np.spacing(least.step)
        step = min(low + least.step, high)
        self._evaluate(step)
        return window._replace(bound=-max(float(smallest), 0.0), step=step)

    def _inner_tolerance(self, window: _Window, intercept: Vector, slope: Vector) -> float:
        """Return the tolerance of a line search, a fraction of the error of its lines.

        With kinks, it does not depend on ``tol``, so that a smaller ``tol`` only continues
        the same search.
        """
        if not self._has_kinks:
            return self._tol
        if window.kinks.step.size == 0:
            return 0.0
        low, high = window.low, window.high
        middle = low if np.isinf(high) else 0.5 * low + 0.5 * high
        error = auc(self._bp, intercept + slope * middle) - self._evaluate(middle)
        return max(0.25 * error, 0.0)

    def _relaxed(self, window: _Window) -> tuple[Vector, Vector, NDArray[np.bool_]]:
        """Return lines above positives and below negatives, and whether they differ from rows."""
        low, high, lines, kinks = window[:4]
        kink, bend = np.clip(kinks.step, low, high), kinks.slope_change
        # Fractions of each bend that are part of the slopes of the chord and of the tangent
        # at the middle of the window.
        if np.isinf(high):
            chord, tangent = np.ones(kink.size), kink <= low
        else:
            chord, tangent = (high - kink) / (high - low), kink < 0.5 * low + 0.5 * high
        after = lines.after(kinks)
        if high - low <= _NARROW * min(high, 1e300):
            # All kinks inside are at the same step, up to rounding. A constant is the better
            # tangent: its ties with other rows are exact.
            tangent |= (after.slope == 0)[kinks.row]
            tangent &= (lines.slope != 0)[kinks.row]
        is_chord = (bend > 0) == (self._sign[kinks.row] > 0)
        n_kinks, n_passed, n_chords, intercept_change, slope_change = (
            np.bincount(kinks.row, weight, len(self._sign))
            for weight in (
                *(None, tangent, is_chord),
                np.where(is_chord, -bend * chord * low, kinks.intercept_change * tangent),
                np.where(is_chord, bend * chord, bend * tangent),
            )
        )
        # A tangent that is a line of the row itself is not rounded.
        is_after = (n_chords == 0) & (n_passed == n_kinks)
        intercept = np.where(is_after, after.intercept, lines.intercept + intercept_change)
        slope = np.where(is_after, after.slope, lines.slope + slope_change)
        is_rounded = (n_chords > 0) | ((n_passed > 0) & ~is_after)
        # Lines are rounded outward. Without active units, predictions are computed alike: such
        # rows are frequent, and their ties are not broken.
        is_exact = ~is_rounded & (slope == 0) & (intercept == self._inactive) & ~self._is_resting
        is_rounded = ~is_exact if self._is_auc else np.ones_like(is_exact)
        outward = self._sign * is_rounded
        intercept += outward * self._ray.intercept_error
        slope += outward * self._ray.slope_error
        return intercept, slope, (n_kinks > 0) | (is_rounded & (self._ray.intercept_error > 0))

    def _halves(self, window: _Window, step: float) -> list[_Window]:
        """Split a window; a kink at the split is in both halves, because its step is rounded."""
        kinks = window.kinks
        first, last = (np.searchsorted(kinks.step, step, side) for side in ("left", "right"))
        lines = window.lines.after(kinks.take(slice(first)))
        return [
            _Window(window.low, step, window.lines, kinks.take(slice(last))),
            _Window(step, window.high, lines, kinks.take(slice(first, None))),
        ]

    def _interval(self, window: _Window) -> tuple[float, float]:
        """Return a range around the best step without kinks or crossings."""
        step, kinks = self._best_step, self._ray.kinks
        if not self._is_auc:
            return step, step
        if step == window.step and not self._has_kinks:
            low, high = window.interval
            return low, min(high, self._max_step)
        n_passed = int(np.searchsorted(kinks.step, step, side="right"))
        low = kinks.step[n_passed - 1] if n_passed else 0.0
        high = kinks.step[n_passed] if n_passed < kinks.step.size else np.inf
        intercept, slope = self._ray.lines.after(kinks.take(slice(n_passed)))
        prediction = intercept + slope * step
        order = np.argsort(prediction)
        with np.errstate(all="ignore"):
            ahead = -np.diff(prediction[order]) / np.diff(slope[order])
        # The first crossings on either side are between neighbors.
        low = max(low, step + float(ahead[ahead < 0].max(initial=-np.inf)))
        high = min(high, step + float(ahead[ahead > 0].min(initial=np.inf)))
        return float(low), min(float(high), self._max_step)


def _tied_pairs(
    source: NDArray[np.intp], is_positive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return one row of each group of equal rows with both labels, and its share of pairs."""
    _, first, group = np.unique(source, return_index=True, return_inverse=True)
    n_positive = np.bincount(group, is_positive)
    share = n_positive * (np.bincount(group) - n_positive)
    share /= np.sum(is_positive) * np.sum(~is_positive)
    return first[share > 0], share[share > 0]
