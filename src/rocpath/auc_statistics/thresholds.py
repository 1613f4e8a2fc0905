"""Choose a score threshold that satisfies constraints on its error rates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocpath.arguments import describe, finite_number, share_between, whole_number
from rocpath.auc_statistics.labeled_sample import LabeledSample
from rocpath.auc_statistics.operating_points import (
    OperatingPoint,
    RankedRows,
    RateBounds,
    bounds_of_any_threshold,
    operating_point,
)
from rocpath.auc_statistics.rate_bounds import rate_bounds
from rocpath.auc_statistics.threshold_constraints import (
    FeasibleRegion,
    ThresholdCosts,
    feasible_region,
)


def choose_threshold(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    min_precision: float | None = None,
    top: int | None = None,
    cost: tuple[float, float] | None = None,
    confidence: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    positive: Any = None,
) -> OperatingPoint:
    """Choose a score threshold that satisfies constraints on its error rates.

    Among the thresholds that satisfy all constraints, the one with the smallest cost is
    chosen. Without ``cost``, as many rows as possible are predicted positive, or as few
    as possible if ``min_tpr`` is the only constraint.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values, from rows that the model was not
        fitted to.
    scores : array-like, shape (n_rows,)
        Scores, larger for rows that are more likely to be positive.
    max_fpr : float, optional
        Maximum false positive rate.
    min_tpr : float, optional
        Minimum true positive rate.
    min_precision : float, optional
        Minimum precision.
    top : int, optional
        Maximum number of the given rows that are predicted positive.
    cost : tuple of float, optional
        Costs of a false positive and of a false negative.
    confidence : float, optional
        Probability with which all constraints on rates hold simultaneously for new rows
        (with Bonferroni's correction). The cost that is minimized is then an upper
        bound for new rows with this confidence. By default, rates and costs are those
        of the given rows.
    sample_weight : array-like, shape (n_rows,), optional
        Non-negative weight of each row. With unequal weights, ``confidence`` must be
        None.
    groups : array-like, shape (n_rows,), optional
        Group of each row; groups are independent. Each rate is then the mean of the
        rates of the groups, and the guarantee is for a random row of a new group. With
        groups, ``cost`` must be None; with ``confidence``, ``min_precision`` must also
        be None.
    positive : label, optional
        Positive class; by default, the larger of the two labels.

    Returns
    -------
    OperatingPoint

    Raises
    ------
    ValueError
        If no threshold satisfies the constraints. The message states which values are
        possible.

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> y, score = np.arange(400) % 2, np.arange(400) + 150 * (np.arange(400) % 2)
    >>> rp.choose_threshold(y, score, max_fpr=0.1).fpr
    0.1
    >>> sure = rp.choose_threshold(y, score, max_fpr=0.1, confidence=0.95)
    >>> sure.fpr, bool(sure.fpr_interval[1] <= 0.1)
    (0.06, True)
    """
    targets = check_targets(
        max_fpr=max_fpr, min_tpr=min_tpr, min_precision=min_precision, top=top, cost=cost
    )
    if confidence is not None:
        confidence = share_between("confidence", confidence)
    sample = LabeledSample.of(y, sample_weight, positive, groups)
    score = sample.scores("scores", scores)
    is_used = slice(None) if sample.weight is None else sample.weight > 0
    sample = checked_sample(sample, targets, confidence)
    group = None if sample.groups is None else sample.groups.code
    rows = RankedRows.of(sample.is_positive, score[is_used], sample.weight, group)
    return choose_operating_point(rows, targets, confidence)


def checked_sample(
    sample: LabeledSample, targets: dict[str, Any], confidence: float | None
) -> LabeledSample:
    """Drop rows of weight 0 and equal weights; raise if a target is not supported."""
    if sample.weight is not None:
        rows = np.flatnonzero(sample.weight)
        weight = sample.weight[rows]
        unequal = weight if weight.min() < weight.max() else None
        groups = None if sample.groups is None else sample.groups.take(rows)
        sample = LabeledSample(sample.is_positive[rows], unequal, groups)
    if sample.weight is not None and sample.groups is not None:
        raise ValueError("groups must be None with unequal sample_weight.")
    unit = "row" if sample.weight is None else "weight"
    _refuse_unbounded(unit if sample.groups is None else "group", targets, confidence)
    return sample


def _refuse_unbounded(unit: str, targets: dict[str, Any], confidence: float | None) -> None:
    """Raise if a target needs a bound that is not available for weights or groups."""
    if unit == "weight" and confidence is not None:
        raise ValueError(
            "confidence must be None with unequal sample_weight, got "
            f"{confidence:g}: the bounds on error rates require equal weights."
        )
    unbounded = {"cost"} if confidence is None else {"cost", "min_precision"}
    for name in unbounded & targets.keys() if unit == "group" else ():
        raise ValueError(
            f"{name} must be None with groups: a guarantee for correlated rows requires a "
            "rate that is monotone in the threshold. Use max_fpr, min_tpr or top, or keep "
            "one row of each group."
        )


def check_targets(**targets: Any) -> dict[str, Any]:
    """Validate the targets that are given; raise if there are none."""
    given = {name: checked_target(name, one) for name, one in targets.items() if one is not None}
    if not given:
        raise ValueError(f"at least one of {', '.join(targets)} must be given.")
    return given


def checked_target(name: str, target: Any) -> Any:
    """Validate a rate, a number of rows, or a pair of costs."""
    if name == "top":
        return whole_number(name, target, least=1)
    if name != "cost":
        return share_between(name, target)
    if not isinstance(target, (tuple, list)) or len(target) != 2:
        raise ValueError(
            "cost must be a pair (the costs of a false positive and a false negative), got "
            f"{describe(target)}."
        )
    pair = finite_number("cost", target[0]), finite_number("cost", target[1])
    if min(pair) < 0 or max(pair) == 0:
        raise ValueError(f"cost must be non-negative and not both 0, got {describe(target)}.")
    return pair


def choose_operating_point(
    rows: RankedRows, targets: dict[str, Any], confidence: float | None
) -> OperatingPoint:
    """Choose among the thresholds that satisfy all constraints (validated targets)."""
    _refuse_unbounded(rows.unit, targets, confidence)
    n_guaranteed = max(sum(name != "top" for name in targets), 1)
    level = None if confidence is None else 1.0 - (1.0 - confidence) / n_guaranteed
    regions = {
        name: feasible_region(rows, name, target, level)
        for name, target in targets.items()
        if name != "cost"
    }
    feasible = np.ones(rows.score.size, dtype=bool)
    for region in regions.values():
        feasible &= region.is_feasible
    allowed = np.flatnonzero(feasible)
    if allowed.size == 0:
        raise _no_common_threshold(rows, targets, regions, confidence)
    if "cost" not in targets:
        index = int(allowed[0 if set(targets) == {"min_tpr"} else -1])
        return _point(rows, index, targets, regions, confidence)
    costs = ThresholdCosts.of(rows, targets["cost"], level)
    ranking = costs.seen if confidence is None else costs.highest
    index = int(allowed[np.argmin(ranking[allowed])])
    return replace(
        _point(rows, index, targets, regions, confidence),
        expected_cost=float(costs.seen[index]) / rows.n_rows,
        expected_cost_interval=(float(costs.lowest[index]), float(costs.highest[index])),
    )


def _point(
    rows: RankedRows,
    index: int,
    targets: dict[str, Any],
    regions: dict[str, FeasibleRegion],
    confidence: float | None,
) -> OperatingPoint:
    """Return the operating point of a threshold, with bounds on its rates."""
    # A rank that does not depend on the scores needs no correction for selection, and
    # rows of the other class have no influence on it.
    is_rank = set(targets) in ({"max_fpr"}, {"min_tpr"})
    n_guaranteed = max(sum(name != "top" for name in targets), 1)

    def bounds(level: float) -> RateBounds:
        n_positive, n_negative = rows.n_positive, rows.n_negative
        if is_rank:
            tpr = rows.bounds(rows.tp[index], n_positive, level)
            fpr = rows.bounds(rows.fp[index], n_negative, level)
        else:
            tpr, fpr = bounds_of_any_threshold(rows, index, level)
            if confidence is None:
                return tpr, fpr
        # With ties, there may be fewer errors than allowed; the bound is for the allowed ones.
        each = 1.0 - (1.0 - level) / n_guaranteed
        if "max_fpr" in regions:
            highest = rows.highest(regions["max_fpr"].limit, n_negative, each)
            fpr = min(fpr[0], highest), highest
        if "min_tpr" in regions:
            lowest = 1.0 - rows.highest(regions["min_tpr"].limit, n_positive, each)
            tpr = lowest, max(tpr[1], lowest)
        return tpr, fpr

    point = operating_point(rows, index, bounds, confidence)
    if confidence is None or "min_precision" not in regions:
        return point
    # The guarantee is for all rows above the next score, so the threshold is just above it.
    is_last = index + 1 == rows.score.size
    limit = -np.inf if is_last else np.nextafter(rows.score[index + 1], np.inf)
    each = regions["min_precision"].limit
    precision = rate_bounds(rows.tp[index], rows.n_predicted[index], each)
    return replace(point, threshold=float(limit), precision_interval=precision)


def _no_common_threshold(
    rows: RankedRows,
    targets: dict[str, Any],
    regions: dict[str, FeasibleRegion],
    confidence: float | None,
) -> ValueError:
    """Return an error that lists the thresholds that each constraint allows."""
    ranges = []
    for name, region in regions.items():
        high, low = rows.score[region.is_feasible][[0, -1]]
        ranges.append(f"{name} = {targets[name]:g} allows thresholds from {low:.4g} to {high:.4g}")
    sure = "" if confidence is None else f" with confidence {confidence:g}"
    return ValueError(f"no threshold satisfies all constraints{sure}: {', '.join(ranges)}.")
