"""Choose a score threshold that satisfies constraints on its error rates."""

from bisect import bisect_right
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.evaluation.operating_points import (
    DEFAULT_CONFIDENCE,
    OperatingPoint,
    RankedRows,
    operating_point,
    shared_level,
)
from rocpath.evaluation.rate_bounds import (
    geometric_ranks,
    lowest_rate,
    rate_bounds,
    simultaneous_rates,
)
from rocpath.sample import Sample
from rocpath.validation import (
    Floats,
    check_none,
    describe,
    finite_number,
    finite_vector,
    same_length,
    share_between,
    whole_number,
)


def choose_threshold(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    min_precision: float | None = None,
    top: int | None = None,
    cost: tuple[float, float] | ArrayLike | None = None,
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
    cost : tuple of float, or array-like, shape (n_rows,), optional
        Costs of a false positive and of a false negative, or the cost of an error for
        each row, such as the amount of a payment; ``confidence`` must then be None.
    confidence : float, optional
        Probability with which all constraints on rates hold simultaneously for new rows
        (with the Bonferroni correction). The cost that is minimized is then an upper
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
    >>> point = rp.choose_threshold(y, score, max_fpr=0.1, confidence=0.95)
    >>> point.fpr, bool(point.fpr_interval[1] <= 0.1)
    (0.06, True)
    """
    sample = Sample.from_labels(y, sample_weight=sample_weight, groups=groups, positive=positive)
    score = sample.scores("scores", scores)
    if cost is not None and not isinstance(cost, (tuple, list)) and np.ndim(cost) == 1:
        cost = RowCosts.from_rows(sample, score, cost)
    targets = check_targets(
        max_fpr=max_fpr, min_tpr=min_tpr, min_precision=min_precision, top=top, cost=cost
    )
    if confidence is not None:
        confidence = share_between("confidence", confidence)
    is_used = slice(None) if sample.weight is None else sample.weight > 0
    sample = checked_sample(sample, targets, confidence)
    rows = RankedRows.from_scores(sample.is_positive, score[is_used], sample.weight, sample.unit)
    return choose_operating_point(rows, targets, confidence)


class RowCosts(NamedTuple):
    """The total cost of errors at each threshold, from the cost of each row."""

    total: Floats

    @classmethod
    def from_rows(cls, sample: Sample, score: Floats, cost: ArrayLike) -> Self:
        """Sum the costs of false positives and false negatives."""
        amount = finite_vector("cost", cost)
        same_length(y=sample.is_positive, cost=amount)
        check_none(amount < 0, "cost must not be negative", amount)
        used = np.flatnonzero(sample.weights)
        weighted = (amount * sample.weights)[used]
        rows = RankedRows.from_scores(sample.is_positive[used], score[used], weighted)
        return cls(rows.fp + (rows.tp[-1] - rows.tp))


def checked_sample(sample: Sample, targets: dict[str, Any], confidence: float | None) -> Sample:
    """Drop rows with weight 0, and weights that are all equal; check the targets."""
    if sample.weight is not None:
        rows = np.flatnonzero(sample.weight)
        weight = sample.weight[rows]
        unequal = weight if weight.min() < weight.max() else None
        groups = None if sample.unit is None else sample.unit[rows]
        sample = Sample(sample.is_positive[rows], unequal, groups)
    if sample.weight is not None and sample.unit is not None:
        raise ValueError("groups must be None with unequal sample_weight.")
    unit = "row" if sample.weight is None else "weight"
    _check_bounds(unit if sample.unit is None else "group", targets, confidence)
    if isinstance(targets.get("cost"), RowCosts) and confidence is not None:
        raise ValueError(
            f"confidence must be None with the costs of rows, got {confidence:g}: bounds on "
            "costs require the same cost for all errors of a class."
        )
    return sample


def _check_bounds(unit: str, targets: dict[str, Any], confidence: float | None) -> None:
    """Raise if a target needs a bound that is not available for weights or groups."""
    if unit == "weight" and confidence is not None:
        raise ValueError(
            "confidence must be None with unequal sample_weight, got "
            f"{confidence:g}: the bounds on error rates require equal weights."
        )
    unbounded = ("cost",) if confidence is None else ("cost", "min_precision")
    unsupported = [name for name in unbounded if name in targets]
    if unit == "group" and unsupported:
        raise ValueError(
            f"{unsupported[0]} must be None with groups: a guarantee for correlated rows requires "
            "a rate that is monotone in the threshold. Use max_fpr, min_tpr or top, or keep "
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
    if isinstance(target, RowCosts):
        return target
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
    """Choose among the thresholds that satisfy all targets, which must be validated."""
    _check_bounds(rows.unit, targets, confidence)
    level = None if confidence is None else shared_level(confidence, targets)
    feasible, limits = {}, {}
    for name, target in targets.items():
        feasible[name], limits[name] = feasible_thresholds(
            rows, name, target, level, stated=confidence
        )
    allowed = np.flatnonzero(np.all(list(feasible.values()), axis=0))
    if allowed.size == 0:
        raise _no_common_threshold(rows, targets, feasible, confidence)
    index = int(allowed[0 if set(targets) == {"min_tpr"} else -1])
    changes: dict[str, Any] = {}
    if "cost" in targets:
        observed, lowest, highest = _threshold_costs(rows, targets["cost"], level)
        ranking = observed if confidence is None else highest
        index = int(allowed[np.argmin(ranking[allowed])])
        changes["expected_cost"] = float(observed[index]) / rows.n_rows
        changes["expected_cost_interval"] = float(lowest[index]), float(highest[index])
    if confidence is not None and "min_precision" in targets:
        # The guarantee is for all rows above the next score, so the threshold is just above it.
        is_last = index + 1 == rows.score.size
        threshold = -np.inf if is_last else np.nextafter(rows.score[index + 1], np.inf)
        changes["threshold"] = float(threshold)
        counts = rows.tp[index], rows.n_predicted[index]
        changes["precision_interval"] = rate_bounds(*counts, limits["min_precision"])
    return replace(operating_point(rows, index, confidence, limits), **changes)


def feasible_thresholds(
    rows: RankedRows,
    name: str,
    target: Any,
    confidence: float | None,
    *,
    stated: float | None = None,
) -> tuple[NDArray[np.bool_], float]:
    """Return a mask of the thresholds that satisfy a constraint, and its limit, or raise.

    ``stated`` is the confidence of all constraints together, for messages.

    For a constraint on a rate, the limit is the largest allowed number of errors. For a
    constraint on the precision, it is the confidence level of the bound at each
    threshold.
    """
    if name == "cost":  # an objective, which excludes no threshold
        return np.ones(rows.score.size, dtype=bool), 0.0
    if name == "top":
        return rows.n_predicted <= target, 0.0
    if name == "min_precision":
        return _precise_thresholds(rows, target, confidence, stated)
    error = rows.fp
    n_units = rows.n_negative
    rate = target
    if name == "min_tpr":
        error = rows.n_positive - rows.tp
        n_units = rows.n_positive
        rate = 1.0 - target
    if confidence is None:
        # Rates such as 1 - 0.9 are not exact; the tolerance is far smaller than one error.
        limit = rate * n_units * (1.0 + 1e-12)
        limit = float(np.floor(limit)) if rows.unit == "row" else limit
        return error <= limit, limit
    # The fraction of a class above the row of a fixed rank has a Beta distribution
    # (Wilks), so the bound holds simultaneously for all thresholds on its safe side. With
    # independent rows, the allowed number of errors does not depend on the scores.
    counts = np.unique(error) if rows.unit == "group" else range(n_units)
    n_allowed = bisect_right(counts, rate, key=lambda one: rows.highest(one, n_units, confidence))
    if n_allowed == 0:
        possible = rows.highest(0, n_units, confidence)
        possible = possible if name == "max_fpr" else 1.0 - possible
        raise _impossible_constraint(name, target, possible, rows, stated or confidence)
    limit = float(counts[n_allowed - 1])
    return error <= limit, limit


def _precise_thresholds(
    rows: RankedRows, rate: float, confidence: float | None, stated: float | None
) -> tuple[NDArray[np.bool_], float]:
    """Return a mask of the thresholds with sufficient precision, and the limit."""
    if confidence is None:
        is_feasible = rows.precision >= rate
        if not is_feasible.any():
            possible = float(rows.precision.max())
            raise _impossible_constraint("min_precision", rate, possible, rows, None)
        return is_feasible, 0.0
    # Given the row of a fixed rank, the rows above it are independent draws, and the
    # number of positives among them is binomial. Ranks that cannot meet the target are not
    # tested: even if all rows were positive, the bound would be (missing / n) ** (1 / rank).
    missing = 1.0 - confidence
    rank = geometric_ranks(1, rows.n_rows)
    tested = rank[rank >= np.log(missing / rank.size) / np.log(rate)]
    is_feasible = np.zeros(rows.score.size, dtype=bool)
    if tested.size:
        index, low = _precision_bounds(rows, tested, missing)
        is_feasible[index[low >= rate]] = True
    if not is_feasible.any():
        possible = float(_precision_bounds(rows, rank, missing)[1].max())
        raise _impossible_constraint("min_precision", rate, possible, rows, stated or confidence)
    return is_feasible, 1.0 - missing / tested.size


def _precision_bounds(
    rows: RankedRows, rank: NDArray[np.int64], missing: float
) -> tuple[NDArray[np.intp], Floats]:
    """Return the threshold of each rank, and lower bounds that hold simultaneously."""
    index = np.searchsorted(rows.n_predicted, rank, side="right") - 1
    each = 1.0 - missing / rank.size
    return index, lowest_rate(rows.tp[index], rows.n_predicted[index], each)


def _threshold_costs(
    rows: RankedRows, cost: tuple[float, float] | RowCosts, confidence: float | None
) -> tuple[Floats, Floats, Floats]:
    """Return the total cost of the given rows, and bounds on the mean cost of new rows."""
    if isinstance(cost, RowCosts):
        unknown = np.full(cost.total.size, np.nan)
        return cost.total, unknown, unknown
    observed = cost[0] * rows.fp + cost[1] * (rows.n_positive - rows.tp)
    if rows.unit == "weight":
        unknown = np.full(observed.size, np.nan)
        return observed, unknown, unknown
    missing = 1.0 - (confidence or DEFAULT_CONFIDENCE)
    # The error probability is divided: a third for TPR, a third for FPR, and a sixth for
    # each bound of the share of positives, both of which are needed here.
    low_tpr, high_tpr = simultaneous_rates(rows.n_positive, 1.0 - missing / 3.0)
    low_fpr, high_fpr = simultaneous_rates(rows.n_negative, 1.0 - missing / 3.0)
    shares = rate_bounds(rows.n_positive, rows.n_rows, 1.0 - missing / 6.0)
    share = np.array(shares)[:, None]

    def costs(fpr: Floats, tpr: Floats) -> Any:
        return cost[0] * (1.0 - share) * fpr + cost[1] * share * (1.0 - tpr)

    # Costs are linear in the share of positives, so the extremes are at its bounds.
    lowest = costs(low_fpr[rows.fp], high_tpr[rows.tp]).min(axis=0)
    return observed, lowest, costs(high_fpr[rows.fp], low_tpr[rows.tp]).max(axis=0)


def _impossible_constraint(
    name: str, target: float, possible: float, rows: RankedRows, confidence: float | None
) -> ValueError:
    verb = "attained" if confidence is None else f"guaranteed with confidence {confidence:g}"
    # The value is rounded in the direction that can be guaranteed.
    is_largest = name.startswith("min")
    shown = np.floor(possible * 1e4) if is_largest else np.ceil(possible * 1e4)
    sizes = f"{rows.n_positive:g} positive and {rows.n_negative:g} negative rows"
    if rows.unit == "group":
        sizes = f"positives in {rows.n_positive} groups and negatives in {rows.n_negative} groups"
    return ValueError(
        f"{name} = {target:g} cannot be {verb}: with {sizes} the "
        f"{'largest' if is_largest else 'smallest'} possible value is {shown / 1e4:g}."
    )


def _no_common_threshold(
    rows: RankedRows,
    targets: dict[str, Any],
    feasible: dict[str, NDArray[np.bool_]],
    confidence: float | None,
) -> ValueError:
    """Return an error that lists the thresholds that each constraint allows."""
    ranges = []
    for name, is_feasible in feasible.items():
        if not is_feasible.all():
            high, low = rows.score[is_feasible][[0, -1]]
            limits = f"thresholds from {low:.4g} to {high:.4g}"
            ranges.append(f"{name} = {targets[name]:g} allows {limits}")
    level = "" if confidence is None else f" with confidence {confidence:g}"
    return ValueError(f"no threshold satisfies all constraints{level}: {', '.join(ranges)}.")
