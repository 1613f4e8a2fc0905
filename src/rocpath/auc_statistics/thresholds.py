"""Choose a threshold of scores that satisfies constraints on its error rates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import (
    describe,
    finite_number,
    finite_vector,
    label_weights,
    positive_labels,
    same_length,
    share_between,
    whole_number,
)
from rocpath.auc_statistics.group_rates import GroupRates
from rocpath.auc_statistics.groups import RowGroups
from rocpath.auc_statistics.operating_points import (
    OperatingPoint,
    RankedRows,
    Rates,
    operating_point,
    rates_of_any_place,
)
from rocpath.auc_statistics.rate_bounds import highest_rate, lowest_rate, rate_bounds
from rocpath.auc_statistics.threshold_constraints import REGIONS, FeasibleRegion, PlaceCosts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_RATES = ("max_fpr", "min_tpr", "min_precision")


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
    """Choose a threshold of scores that satisfies constraints on its error rates.

    Among the thresholds that satisfy all constraints, the one with the smallest cost is
    chosen. Without ``cost``, as many rows as possible are predicted positive, or as few
    as possible if ``min_tpr`` is the only constraint.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels of exactly two values, of rows that the scores were not fitted to.
    scores : array-like, shape (n_rows,)
        Scores that are larger for rows that are more likely positive.
    max_fpr : float, optional
        Largest false positive rate.
    min_tpr : float, optional
        Smallest true positive rate.
    min_precision : float, optional
        Smallest precision.
    top : int, optional
        Largest number of the given rows that are predicted positive.
    cost : tuple of float, optional
        Costs of a false positive and of a false negative.
    confidence : float, optional
        Probability with which all constraints on rates hold for new rows at once (the
        confidence is divided among them by Bonferroni's inequality). The cost is then
        the largest one that new rows can have with this confidence. By default, rates
        and costs are those of the given rows.
    sample_weight : array-like, shape (n_rows,), optional
        Non-negative weight of each row. Unequal weights exclude ``confidence``.
    groups : array-like, shape (n_rows,), optional
        Group of each row; groups are independent. Rates are then means of the rates of
        the groups, and the guarantee is for a random row of a new group. With
        ``confidence`` only ``max_fpr``, ``min_tpr`` and ``top`` can be given.
    positive : label, optional
        Positive class. By default it is the larger of the two labels.

    Returns
    -------
    OperatingPoint

    Raises
    ------
    ValueError
        If no threshold satisfies the constraints. The message states what is possible.

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
    is_positive = positive_labels(y, positive)
    score = finite_vector("scores", scores, copy=False)
    same_length(y=is_positive, scores=score)
    weight = None
    if sample_weight is not None:
        is_positive, score, weight, groups = _weighted(
            is_positive, score, label_weights(is_positive, sample_weight), groups
        )
    if weight is not None and confidence is not None:
        raise ValueError(
            "confidence must be None with unequal sample_weight, got "
            f"{confidence:g}: the bounds on error rates need rows that count alike."
        )
    if groups is not None:
        if weight is not None:
            raise ValueError("groups must be None with unequal sample_weight.")
        together = RowGroups.of("groups", groups, score.size)
        if together.n_groups < score.size:
            rates = GroupRates.of(is_positive, score, together)
            return rates.choose(targets, confidence)
    return choose_place(RankedRows.of(is_positive, score, weight), targets, confidence)


def check_targets(**targets: Any) -> dict[str, Any]:
    """Return the targets that are given, checked, or raise if there is none."""
    given = {name: one for name, one in targets.items() if one is not None}
    if not given:
        raise ValueError(f"at least one of {', '.join(targets)} must be given.")
    for name, target in given.items():
        if name in _RATES:
            given[name] = share_between(name, target)
        elif name == "top":
            given[name] = whole_number(name, target, least=1)
        else:
            given[name] = _costs(target)
    return given


def _weighted(
    is_positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    weight: NDArray[np.float64],
    groups: ArrayLike | None,
) -> Any:
    """Drop rows of weight 0, and the weights if all others are equal."""
    is_used = weight > 0
    kept = weight[is_used]
    if groups is not None:
        groups = np.asarray(groups)[is_used]
    unequal = kept if kept.min() < kept.max() else None
    return is_positive[is_used], score[is_used], unequal, groups


def choose_place(
    rows: RankedRows, targets: dict[str, Any], confidence: float | None
) -> OperatingPoint:
    """Choose among the places that satisfy all constraints, given checked targets."""
    level = confidence
    n_guaranteed = sum(name in (*_RATES, "cost") for name in targets)
    if confidence is not None and n_guaranteed > 1:
        level = 1.0 - (1.0 - confidence) / n_guaranteed
    regions = {}
    for name, target in targets.items():
        if name != "cost":
            regions[name] = REGIONS[name](rows, target, level)
    feasible = np.ones(rows.score.size, dtype=bool)
    for region in regions.values():
        feasible &= region.is_feasible
    places = np.flatnonzero(feasible)
    if places.size == 0:
        raise _no_common_threshold(rows, targets, regions, confidence)
    if "cost" in targets:
        costs = PlaceCosts.of(rows, targets["cost"], level)
        ranking = costs.seen if confidence is None else costs.highest
        place = int(places[np.argmin(ranking[places])])
    elif set(targets) == {"min_tpr"}:
        place = int(places[0])
    else:
        place = int(places[-1])
    point = _point(rows, place, targets, regions, confidence)
    if "cost" not in targets:
        return point
    return replace(
        point,
        expected_cost=float(costs.seen[place]) / rows.n_rows,
        expected_cost_interval=(float(costs.lowest[place]), float(costs.highest[place])),
    )


def _point(
    rows: RankedRows,
    place: int,
    targets: dict[str, Any],
    regions: dict[str, FeasibleRegion],
    confidence: float | None,
) -> OperatingPoint:
    """Return the operating point at a place, with bounds on its rates."""
    rates = rates_of_any_place(rows, place)
    # A rank that is fixed before any score is seen needs no allowance for the choice,
    # and rows of the other class had no part in it.
    if set(targets) == {"max_fpr"}:
        rates = _rates_of_rank(rows, place, fp=regions["max_fpr"].bound)
    elif set(targets) == {"min_tpr"}:
        rates = _rates_of_rank(rows, place, missed=regions["min_tpr"].bound)
    point = operating_point(rows, place, rates, confidence)
    if confidence is None or rows.is_weighted:
        return point
    level = 1.0 - (1.0 - confidence) / max(sum(name in _RATES for name in targets), 1)
    if "max_fpr" in targets:
        bound = float(highest_rate(regions["max_fpr"].bound, rows.n_negative, level))
        low = min(point.fpr_interval[0], bound)
        point = replace(point, fpr_interval=(low, bound))
    if "min_tpr" in targets:
        missed = float(highest_rate(regions["min_tpr"].bound, rows.n_positive, level))
        high = max(point.tpr_interval[1], 1.0 - missed)
        point = replace(point, tpr_interval=(1.0 - missed, high))
    if "min_precision" in targets:
        bounds = regions["min_precision"].bound
        # The guarantee is for rows above the next score, which need not be at this one.
        is_last = place + 1 == rows.score.size
        limit = -np.inf if is_last else np.nextafter(rows.score[place + 1], np.inf)
        point = replace(point, threshold=float(limit), precision_interval=bounds(place))
    return point


def _rates_of_rank(
    rows: RankedRows, place: int, *, fp: int | None = None, missed: int | None = None
) -> Any:
    """Return bounds at a rank of one class that only its number of rows decides."""
    tp_here, fp_here = int(rows.tp[place]), int(rows.fp[place])
    missed_here = rows.n_positive - tp_here

    def rates(level: float) -> Rates:
        if fp is not None:
            return Rates(
                rate_bounds(tp_here, rows.n_positive, level),
                (
                    float(lowest_rate(fp_here, rows.n_negative, level)),
                    # Ties may leave fewer than allowed: the bound is for those allowed.
                    float(highest_rate(fp, rows.n_negative, level)),
                ),
            )
        return Rates(
            (
                1.0 - float(highest_rate(missed, rows.n_positive, level)),
                1.0 - float(lowest_rate(missed_here, rows.n_positive, level)),
            ),
            rate_bounds(fp_here, rows.n_negative, level),
        )

    return rates


def _costs(cost: Any) -> tuple[float, float]:
    if not isinstance(cost, (tuple, list)) or len(cost) != 2:
        raise ValueError(
            "cost must be a pair, of a false positive and of a false negative, got "
            f"{describe(cost)}."
        )
    pair = finite_number("cost", cost[0]), finite_number("cost", cost[1])
    if min(pair) < 0 or max(pair) == 0:
        raise ValueError(f"cost must not be negative or both 0, got {describe(cost)}.")
    return pair


def _no_common_threshold(
    rows: RankedRows,
    targets: dict[str, Any],
    regions: dict[str, FeasibleRegion],
    confidence: float | None,
) -> ValueError:
    """Explain which thresholds each constraint allows."""
    ranges = []
    for name, region in regions.items():
        places = np.flatnonzero(region.is_feasible)
        if places.size == 0:
            ranges.append(f"{name} = {targets[name]:g} allows none")
            continue
        high, low = rows.score[places[0]], rows.score[places[-1]]
        ranges.append(f"{name} = {targets[name]:g} allows {low:.4g} to {high:.4g}")
    sure = "" if confidence is None else f" with confidence {confidence:g}"
    return ValueError(
        f"no threshold satisfies all constraints{sure}: of the scores at which rows "
        f"are predicted positive, {', '.join(ranges)}."
    )
