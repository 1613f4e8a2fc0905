"""Thresholds that satisfy a constraint on error rates, and costs of thresholds."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocpath.auc_statistics.operating_points import DEFAULT_CONFIDENCE, RankedRows
from rocpath.auc_statistics.rate_bounds import (
    lowest_rate,
    rate_bounds,
    rising_ranks,
    simultaneous_rates,
)


class FeasibleRegion(NamedTuple):
    """The thresholds that satisfy a constraint.

    For a constraint on a rate, ``limit`` is the largest allowed number of errors. For a
    constraint on the precision, it is the confidence level of the bound at each
    threshold.
    """

    is_feasible: NDArray[np.bool_]
    limit: float = 0.0


def feasible_region(
    rows: RankedRows, name: str, target: Any, confidence: float | None
) -> FeasibleRegion:
    """Return the thresholds that satisfy a constraint; raise if there are none."""
    if name == "top":
        return FeasibleRegion(rows.n_predicted <= target)
    if name == "min_precision":
        return _precise(rows, target, confidence)
    if name == "max_fpr":
        return _few_errors(rows, name, rows.fp, rows.n_negative, target, confidence)
    missed = rows.n_positive - rows.tp
    return _few_errors(rows, name, missed, rows.n_positive, 1.0 - target, confidence)


def _few_errors(
    rows: RankedRows,
    name: str,
    error: NDArray[Any],
    n_units: int,
    rate: float,
    confidence: float | None,
) -> FeasibleRegion:
    """Return the thresholds with at most the allowed number of errors.

    With independent rows, the allowed number does not depend on the scores.
    """
    if confidence is None:
        # Rates such as 1 - 0.9 are not exact; the tolerance is far smaller than one error.
        limit = rate * n_units * (1.0 + 1e-12)
        limit = np.floor(limit) if rows.unit == "row" else limit
        return FeasibleRegion(error <= limit, limit)
    # The fraction of a class above the row of a fixed rank has a Beta distribution
    # (Wilks), so the bound holds simultaneously for all thresholds on its safe side.
    counts = np.unique(error) if rows.unit == "group" else range(n_units)
    n_allowed = bisect_right(counts, rate, key=lambda one: rows.highest(one, n_units, confidence))
    if n_allowed == 0:
        possible = rows.highest(0, n_units, confidence)
        if name == "max_fpr":
            raise _out_of_reach(name, rate, possible, rows, confidence)
        raise _out_of_reach(name, 1.0 - rate, 1.0 - possible, rows, confidence)
    limit = float(counts[n_allowed - 1])
    return FeasibleRegion(error <= limit, limit)


def _precise(rows: RankedRows, rate: float, confidence: float | None) -> FeasibleRegion:
    """Return the thresholds with sufficient precision."""
    if confidence is None:
        is_feasible = rows.precision >= rate
        if not is_feasible.any():
            possible = float(rows.precision.max())
            raise _out_of_reach("min_precision", rate, possible, rows, None)
        return FeasibleRegion(is_feasible)
    # Given the row of a fixed rank, the rows above it are independent draws, and the
    # number of positives among them is binomial. Ranks that cannot meet the target are not
    # tested: even if all rows were positive, the bound would be (missing / n) ** (1 / rank).
    missing = 1.0 - confidence
    rank = rising_ranks(1, rows.n_rows)
    tested = rank[rank >= np.log(missing / rank.size) / np.log(rate)]
    is_feasible = np.zeros(rows.score.size, dtype=bool)
    if tested.size:
        index, low = _precision_bounds(rows, tested, missing)
        is_feasible[index[low >= rate]] = True
    if not is_feasible.any():
        possible = float(_precision_bounds(rows, rank, missing)[1].max())
        raise _out_of_reach("min_precision", rate, possible, rows, confidence)
    return FeasibleRegion(is_feasible, 1.0 - missing / tested.size)


def _precision_bounds(
    rows: RankedRows, rank: NDArray[np.int64], missing: float
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the threshold of each rank, and lower bounds that hold simultaneously."""
    index = np.searchsorted(rows.n_predicted, rank, side="right") - 1
    each = 1.0 - missing / rank.size
    return index, lowest_rate(rows.tp[index], rows.n_predicted[index], each)


class ThresholdCosts(NamedTuple):
    """Total cost of the given rows and bounds on the mean cost of new rows."""

    seen: NDArray[np.float64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]

    @classmethod
    def of(
        cls, rows: RankedRows, cost: tuple[float, float], confidence: float | None
    ) -> ThresholdCosts:
        """Compute costs at all thresholds, including the one above all scores."""
        seen = cost[0] * rows.fp + cost[1] * (rows.n_positive - rows.tp)
        if rows.unit == "weight":
            unknown = np.full(seen.size, np.nan)
            return cls(seen, unknown, unknown)
        missing = 1.0 - (confidence or DEFAULT_CONFIDENCE)
        # The error probability is divided: a third for TPR, a third for FPR, and a sixth
        # for each bound of the share of positives, both of which are needed here.
        low_tpr, high_tpr = simultaneous_rates(rows.n_positive, 1.0 - missing / 3.0)
        low_fpr, high_fpr = simultaneous_rates(rows.n_negative, 1.0 - missing / 3.0)
        share = np.array(rate_bounds(rows.n_positive, rows.n_rows, 1.0 - missing / 6.0))
        share = share[:, None]

        def costs(fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> Any:
            return cost[0] * (1.0 - share) * fpr + cost[1] * share * (1.0 - tpr)

        # Costs are linear in the share of positives, so the extremes are at its bounds.
        return cls(
            seen,
            costs(low_fpr[rows.fp], high_tpr[rows.tp]).min(axis=0),
            costs(high_fpr[rows.fp], low_tpr[rows.tp]).max(axis=0),
        )


def _out_of_reach(
    name: str, target: float, possible: float, rows: RankedRows, confidence: float | None
) -> ValueError:
    sure = "" if confidence is None else f" with confidence {confidence:g}"
    # Rounded in the direction that can be guaranteed.
    is_largest = name.startswith("min")
    shown = np.floor(possible * 1e4) if is_largest else np.ceil(possible * 1e4)
    sizes = f"{rows.n_positive:g} positive and {rows.n_negative:g} negative rows"
    if rows.unit == "group":
        sizes = f"positives in {rows.n_positive} groups and negatives in {rows.n_negative} groups"
    return ValueError(
        f"{name} = {target:g} is out of reach{sure}: with {sizes} the "
        f"{'largest' if is_largest else 'smallest'} possible value is {shown / 1e4:g}."
    )
