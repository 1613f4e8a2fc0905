"""Segmentation by robust costs, and by costs of several columns or parameters.

These searches hold the data in memory and have no labels or constraints.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import rocpath._core as _core
from rocpath.arguments import finite_number, finite_vector, read_only, same_length
from rocpath.changepoint.noise import difference_variance

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

# Thresholds in standard deviations of the noise: 3 as Fearnhead and Rigaill recommend,
# 1.345 for 95% efficiency with normal noise.
ROBUST = {"biweight": 3.0, "huber": 1.345}
COLUMN = {"normal": "mean", "mean_variance": "mean_variance"}
_LARGEST = 1e100  # squares of observations can still be summed
_N_REFINED = 5  # intervals of centers whose losses are computed without cancellation
# Smallest variance of a segment, relative to that of the noise.
_SMALLEST_VARIANCE = 1e-6


class ArrayModels(NamedTuple):
    """The best models: costs, changes, and means of the segments."""

    cost: list[float]
    changes: list[NDArray[np.int64]]
    mean: list[NDArray[np.float64]]
    n: int


def is_array_cost(x: Any, cost: str) -> bool:
    """Return whether a search of this module is needed."""
    return cost in ROBUST or cost == "mean_variance" or np.ndim(x) == 2


def array_models(
    x: ArrayLike,
    *,
    cost: str,
    weights: ArrayLike | None,
    penalty: float | None = None,
    max_changes: int = 0,
    min_length: int = 1,
    threshold: float | None = None,
    **refused: Any,
) -> ArrayModels:
    """Find the best models for a penalty, or with 0..max_changes changes."""
    _refuse(x, cost, min_length, refused)
    value, weight, index = _rows(x, weights)
    n_all = np.shape(x)[0]
    if penalty is None and max_changes >= len(value):
        raise ValueError(
            f"max_changes must be below the length of x, {len(value)}, got {max_changes}."
        )
    if min_length > len(value):
        raise ValueError(
            f"min_length must be at most the length of x, {len(value)}, got {min_length}."
        )
    # Far from zero, differences of sums would cancel.
    origin = np.median(value, axis=0)
    centered = value - origin
    how = (penalty is not None, 0.0 if penalty is None else penalty, max_changes)
    if cost in ROBUST:
        column = np.ascontiguousarray(centered[:, 0])
        threshold = robust_threshold(column, weight, cost, threshold)
        low, high = float(column.min()), float(column.max())
        centers = (low, high if low < high else low + 1.0)
        if low == high:  # a constant sequence has no changes at any penalty
            how = (how[0], np.inf, how[2])
        found = _core.robust_changes(cost, column, weight, centers, threshold, *how)

        def fit(part: slice) -> tuple[float, Any]:
            return _robust_fit(column[part], weight[part], cost, threshold)
    else:
        floor = np.array([_variance_floor(one, weight) for one in centered.T])
        shortest = max(min_length, 2 if cost == "mean_variance" else 1)
        flat = np.ascontiguousarray(centered).ravel()
        if (centered == centered[0]).all():
            how = (how[0], np.inf, how[2])
        found = _core.column_changes(COLUMN[cost], flat, weight, floor, shortest, *how)

        def fit(part: slice) -> tuple[float, Any]:
            return _column_fit(centered[part], weight[part], cost, floor)

    return _models(found, fit, origin, index, n_all, is_table=np.ndim(x) == 2)


def segment_costs(
    x: NDArray[np.float64], weight: NDArray[np.float64], cost: str
) -> Callable[[int, int], float]:
    """Return a function that computes the cost of the segment from start to end."""
    value, weight, index = _rows(x, weight)
    value = value if cost == "poisson" else value - np.median(value, axis=0)
    floor = np.zeros(value.shape[1])
    threshold = 1.0
    if cost in ROBUST:
        threshold = robust_threshold(value[:, 0], weight, cost)
    elif cost == "mean_variance":
        floor = np.array([_variance_floor(one, weight) for one in value.T])

    def cost_of(start: int, end: int) -> float:
        rows = slice(*np.searchsorted(index, (start, end)))
        own, w = value[rows], weight[rows]
        if cost == "poisson":
            total = float(w @ own[:, 0])
            return total - total * float(np.log(total / w.sum())) if total > 0 else 0.0
        if cost in ROBUST:
            return _robust_fit(own[:, 0], w, cost, threshold)[0]
        return _column_fit(own, w, cost, floor)[0]

    return cost_of


def noise_scaled(
    x: NDArray[np.float64], weights: ArrayLike | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return columns in units of their noise, their medians and these units."""
    value, weight, _ = _rows(x, weights)
    unit = np.array([difference_variance(one, weight) for one in value.T])
    unit = np.sqrt(np.where(unit > 0, unit, 1.0))
    median = np.median(value, axis=0)
    return (np.asarray(x, dtype=np.float64) - median) / unit, median, unit


def _models(
    found: dict[str, Any],
    fit: Any,
    origin: NDArray[np.float64],
    index: NDArray[np.intp],
    n_all: int,
    *,
    is_table: bool,
) -> ArrayModels:
    models = ArrayModels([], [], [], n_all)
    ends = np.cumsum(np.maximum(found["n_changes"], 0))
    every = np.split(found["change"].astype(np.int64), ends[:-1])
    for count, changes in zip(found["n_changes"], every, strict=True):
        if count < 0:  # impossible, as segments must have a minimum length
            models.cost.append(np.inf)
            models.changes.append(changes)
            models.mean.append(np.empty((0, origin.size)) if is_table else np.empty(0))
            continue
        edge = [0, *changes.tolist(), index.size]
        fits = [fit(slice(a, b)) for a, b in pairwise(edge)]
        mean = np.array([one for _, one in fits]).reshape(len(fits), -1) + origin
        models.cost.append(float(sum(one for one, _ in fits)))
        models.changes.append(read_only(index[changes].astype(np.int64)))
        models.mean.append(read_only(mean if is_table else mean[:, 0]))
    return models


def _refuse(x: ArrayLike, cost: str, min_length: int, refused: dict[str, Any]) -> None:
    shape = f"x of shape {np.shape(x)}"
    what = f"cost={cost!r}" if cost != "normal" else shape
    for name, given in refused.items():
        if given is not None:
            raise ValueError(f"{name} must be None for {what}, got {given!r}.")
    if np.ndim(x) == 2 and cost not in COLUMN:
        raise ValueError(f"x must be one-dimensional for cost={cost!r}, got {shape}.")
    if cost in ROBUST and min_length > 1:
        raise ValueError(f"min_length must be 1 for cost={cost!r}, got {min_length}.")


def _rows(
    x: ArrayLike, weights: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    """Return the rows without missing values, their weights and their indices."""
    value = np.array(x, dtype=np.float64)
    if value.ndim not in (1, 2) or value.size == 0:
        raise ValueError(
            "x must have one or two dimensions and at least one observation, got shape "
            f"{value.shape}."
        )
    value = value.reshape(len(value), -1)
    weight = np.ones(len(value))
    if weights is not None:
        weight = finite_vector("weights", weights)
        same_length(x=value[:, 0], weights=weight)
        if not (weight > 0).all():
            raise ValueError(f"weights must be positive, got {weight.min()}.")
    index = np.flatnonzero(~np.isnan(value).any(axis=1))
    if index.size == 0:
        raise ValueError("x must have an observation that is not NaN, got none.")
    value = value[index]
    if not np.abs(value).max() <= _LARGEST:
        raise ValueError(f"x must be at most {_LARGEST:g} in size, got {np.abs(value).max()}.")
    return value, np.ascontiguousarray(weight[index]), index


def robust_threshold(
    x: NDArray[np.float64], weight: NDArray[np.float64], cost: str, threshold: float | None = None
) -> float:
    """Return the given threshold, or that of the noise."""
    if threshold is not None:
        if not finite_number("threshold", threshold) > 0:
            raise ValueError(f"threshold must be positive, got {threshold}.")
        return float(threshold)
    # Outliers must not raise the threshold, so no fraction of the variance here.
    noise = difference_variance(x, weight, least=0.0) or difference_variance(x, weight)
    return ROBUST[cost] * float(np.sqrt(noise)) or 1.0


def _variance_floor(x: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the smallest variance of a segment: that of rounding, if values repeat."""
    distinct = np.unique(x)
    step = float(np.diff(distinct).min()) if 1 < distinct.size < x.size else 0.0
    noise = _SMALLEST_VARIANCE * difference_variance(x, weight)
    return max(step**2 / 12, noise, np.finfo(float).tiny)


def _column_fit(
    x: NDArray[np.float64], weight: NDArray[np.float64], cost: str, floor: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    total = weight.sum()
    mean = weight @ x / total
    square = weight @ (x - mean) ** 2
    if cost == "normal":
        return float(square.sum()), mean
    variance = np.maximum(square / total, floor)
    return float((total * (np.log(variance) - 1) + square / variance).sum()), mean


def robust_loss(distance: NDArray[np.float64], cost: str, threshold: float) -> NDArray[np.float64]:
    """Return the loss of distances from the center of a segment."""
    size = np.abs(distance)
    square = size**2
    if cost == "biweight":
        return np.asarray(np.minimum(square, threshold**2))
    far = threshold * (2 * size - threshold)
    return np.asarray(np.where(size <= threshold, square, far))


def _robust_fit(
    x: NDArray[np.float64], weight: NDArray[np.float64], cost: str, threshold: float
) -> tuple[float, float]:
    """Return the smallest loss of a segment, and the center that attains it.

    Between the places x - threshold and x + threshold the loss is quadratic.
    """
    place = np.concatenate((x - threshold, x + threshold))
    order = np.argsort(place, kind="stable")
    w, wx, far = weight, weight * x, weight * threshold
    zero = np.zeros(x.size)
    # Coefficients of the square and of the slope; the loss is compared directly.
    slope = -2 * far if cost == "huber" else zero
    enter = (w, -2 * wx - slope)
    leave = (-w, 2 * wx - slope)
    square, linear = (
        np.cumsum(np.concatenate(pair)[order]) for pair in zip(enter, leave, strict=True)
    )
    linear += slope.sum()
    place = place[order]
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.where(square > 0.5 * w.min(), -linear / (2 * square), place)
    center = np.clip(turn[:-1], place[:-1], place[1:])
    center = np.unique(np.concatenate((center, place[:1])))
    # Exactly at the candidates that a rough evaluation shows to be the best.
    rough = _rough_losses(center, x, weight, cost, threshold)
    best = center[np.argsort(rough, kind="stable")[:_N_REFINED]]
    loss = [float(weight @ robust_loss(x - c, cost, threshold)) for c in best]
    k = int(np.argmin(loss))
    return loss[k], float(best[k])


def _rough_losses(
    center: NDArray[np.float64],
    x: NDArray[np.float64],
    weight: NDArray[np.float64],
    cost: str,
    threshold: float,
) -> NDArray[np.float64]:
    """Return losses at sorted centers from sums over the sorted data."""
    order = np.argsort(x, kind="stable")
    x, weight = x[order], weight[order]
    sums = [np.concatenate(([0.0], np.cumsum(one))) for one in (weight, weight * x, weight * x**2)]
    low = np.searchsorted(x, center - threshold, side="left")
    high = np.searchsorted(x, center + threshold, side="right")
    inside = [one[high] - one[low] for one in sums]
    near = inside[2] - 2 * center * inside[1] + center**2 * inside[0]
    if cost == "biweight":
        return np.asarray(near + threshold**2 * (sums[0][-1] - inside[0]))
    n_below, below = sums[0][low], sums[1][low]
    n_above, above = (one[-1] - one[high] for one in sums[:2])
    distance = (center * n_below - below) + (above - center * n_above)
    return np.asarray(near + threshold * (2 * distance - threshold * (n_below + n_above)))
