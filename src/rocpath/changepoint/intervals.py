"""Confidence intervals for the locations of changes.

A likelihood-ratio set contains the locations whose cost exceeds the smallest one by at
most a limit. Around a change, the cost is a random walk with drift on either side, whose
maximum has an exponential distribution [1]_. So with noise of long-run variance v, the
set of all locations with a deviance of at most q v, where (1 - exp(-q / 2))² is the
confidence, contains the change with that probability.

.. [1] Siegmund, "Confidence sets in change-point problems", 1988. Eo & Morley,
   "Likelihood-ratio-based confidence sets for the timing of structural breaks", 2015.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.changepoint.cost_properties import COSTS, CostProperties
from rocpath.changepoint.residual_models import ResidualModel, model_of_changes
from rocpath.changepoint.search import CheckedSequence, checked_sequence
from rocpath.changepoint.segment_costs import SegmentCost
from rocpath.validation import Floats, read_only

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(24)


def location_intervals(
    x: Floats,
    changes: NDArray[np.int64],
    *,
    cost: SegmentCost,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> NDArray[np.int64]:
    """Return the first and last index of the confidence interval of each change.

    Neighboring changes are treated as known, so an interval lies between them.
    """
    sequence = checked_sequence(x, weights, cost=cost)
    at = changes if sequence.index is None else np.searchsorted(sequence.index, changes)
    edge = np.concatenate(([0], at, [sequence.weight.size]))
    interval = np.column_stack((at, at)) if at.size else np.empty((0, 2), dtype=np.int64)
    quantile = -2 * np.log1p(-np.sqrt(confidence))
    columns = [checked_sequence(one, weights, cost=cost) for one in _columns(sequence, x, weights)]
    models = [model_of_changes(one, at) for one in columns]
    for k in range(at.size):
        part = slice(edge[k], edge[k + 2])
        excess = _excess(sequence, part, int(edge[k + 1] - edge[k]), [m.center for m in models], k)
        limit = quantile * _scale(sequence, models, k) * COSTS[sequence.cost].deviance_unit
        # The first entry is the cost of a change at the second observation.
        inside = edge[k] + 1 + np.flatnonzero(excess - excess.min() <= limit)
        interval[k] = min(inside[0], at[k]), max(inside[-1], at[k])
    return read_only(sequence.original(interval))


def _columns(sequence: CheckedSequence, x: Floats, weights: Any) -> list[Floats]:
    """Return each column of the original sequence."""
    if np.ndim(x) == 1:
        return [x]
    is_used = np.ones(len(x), bool)
    if sequence.index is not None:
        is_used = np.isin(np.arange(len(x)), sequence.index)
    return [np.where(is_used, column, np.nan) for column in x.T]


def _scale(sequence: CheckedSequence, models: list[ResidualModel], k: int) -> float:
    """Return the long-run variance of the noise in the direction of a change."""
    properties = COSTS[sequence.cost]
    if properties.power == 0 and not properties.is_likelihood:
        return 1.0
    least = 1.0 if properties.is_likelihood else np.finfo(float).tiny
    if len(models) == 1:
        return max(models[0].long_run_variance, least)
    jump = np.array([one.center[k + 1] - one.center[k] for one in models])
    deviation = np.sqrt([one.long_run_variance for one in models])
    residual = np.array([one.residual for one in models])
    size = np.sqrt((residual**2).sum(axis=1, keepdims=True))
    unit = residual / np.where(size > 0, size, 1.0)
    weighted = jump * deviation
    return max(float(weighted @ (unit @ unit.T) @ weighted / (jump @ jump or 1.0)), least)


def _excess(
    sequence: CheckedSequence, part: slice, first: int, centers: list[Floats], k: int
) -> Floats:
    """Return the cost of each location of a change, up to a constant.

    The change is after the first, second, ... observation of the part.
    """
    properties = COSTS[sequence.cost]
    x = (sequence.x[part] - sequence.origin).reshape(part.stop - part.start, -1)
    w = sequence.weight[part]
    if properties.is_likelihood:
        return _by_parameters(x[:, 0], w, centers[0][k], centers[0][k + 1], properties)
    if sequence.cost == "mean_variance":
        return _by_variance(x, w, first)
    if properties.uses_time:
        return _by_lines(x[:, 0], sequence.time[part], w)
    if properties.is_robust:
        low, high = np.sort(centers[0][k : k + 2])
        x = np.clip(x, low - sequence.threshold, high + sequence.threshold)
    # The decrease of the sum of squares, with the means of both segments.
    x = x - np.average(x, axis=0, weights=w)
    total, moment = np.cumsum(w)[:-1, None], np.cumsum(w[:, None] * x, axis=0)[:-1]
    return np.asarray(-(moment**2 * (1 / total + 1 / (w.sum() - total))).sum(axis=1))


def _by_parameters(
    x: Floats, w: Floats, before: float, after: float, properties: CostProperties
) -> Floats:
    """Use the means of both segments, with the declared variance V of the family.

    The derivative of the cost of x is (mean - x) / V(mean), up to a factor.
    """
    # A mean of zero has an infinite cost for any other observation; half an event is added.
    least = 0.5 / w.sum() * max(float(x.max()), np.finfo(float).tiny)
    most = min(properties.most_x, np.finfo(float).max)
    low, high = np.clip([before, after], least, most - (least if most == 1 else 0))
    mean = np.exp(np.log(low) + (np.log(high) - np.log(low)) * (_NODES + 1) / 2)
    step = _NODE_WEIGHTS / 2 * (np.log(high) - np.log(low)) * mean
    ratio = 2 * properties.deviance_unit * step / properties.variance_of_mean(mean)
    # Cost with the mean after the change, minus that with the mean before it.
    more = w * (float(ratio @ mean) - x * float(ratio.sum()))
    return np.asarray(-np.cumsum(more)[:-1])


def _by_variance(x: Floats, w: Floats, first: int) -> Floats:
    """Use the means and variances of both segments."""
    costs = []
    for rows in (slice(first), slice(first, None)):
        mean = np.average(x[rows], axis=0, weights=w[rows])
        variance = np.average((x[rows] - mean) ** 2, axis=0, weights=w[rows])
        variance = np.maximum(variance, np.finfo(float).tiny)
        costs.append((w[:, None] * (np.log(variance) + (x - mean) ** 2 / variance)).sum(axis=1))
    return np.asarray(np.cumsum(costs[0] - costs[1])[:-1])


def _by_lines(x: Floats, time: Floats, w: Floats) -> Floats:
    """Use the least-squares lines of both sides of each location."""
    x, time = x - np.average(x, weights=w), time - np.average(time, weights=w)
    sums = np.cumsum(w * np.array([np.ones_like(x), time, x, time**2, time * x, x**2]), axis=1)
    total = 0.0
    for n, t, v, tt, tv, vv in (sums[:, :-1], sums[:, -1:] - sums[:, :-1]):
        spread = tt - t**2 / n
        slope = np.divide(tv - t * v / n, spread, out=np.zeros_like(spread), where=spread > 1e-9)
        total = total + vv - v**2 / n - slope * (tv - t * v / n)
    return np.asarray(total)
