"""The thresholds that satisfy a constraint on error rates, and their costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.auc_statistics.operating_points import DEFAULT_CONFIDENCE, RankedRows
from rocpath.auc_statistics.rate_bounds import (
    highest_rate,
    largest_count_below,
    lowest_rate,
    rate_bounds,
    rising_ranks,
    simultaneous_rates,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


class FeasibleRegion(NamedTuple):
    """The places that satisfy a constraint, and the bound that they guarantee."""

    is_feasible: NDArray[np.bool_]
    bound: Any = None


def _few_false_positives(rows: RankedRows, rate: float, confidence: float | None) -> FeasibleRegion:
    """Allow places above a negative of a rank that only their number decides."""
    # The fraction of the negatives above that rank has a Beta distribution (Wilks), and
    # so the bound holds for all higher thresholds at once.
    if confidence is None:
        allowed = rate * rows.n_negative * (1.0 + 1e-12)
        return FeasibleRegion(rows.fp <= allowed, int(allowed))
    count = largest_count_below(rate, rows.n_negative, confidence)
    if count < 0:
        possible = float(highest_rate(0, rows.n_negative, confidence))
        raise _out_of_reach("max_fpr", rate, "smallest", possible, rows, confidence)
    return FeasibleRegion(rows.fp <= count, count)


def _many_true_positives(rows: RankedRows, rate: float, confidence: float | None) -> FeasibleRegion:
    """Allow places at or below a positive of a rank that only their number decides."""
    if confidence is None:
        # A rate such as 1 - 0.9 has been rounded; whole numbers are farther apart.
        allowed = (1.0 - rate) * rows.n_positive * (1.0 + 1e-12)
        if not rows.is_weighted:
            allowed = np.floor(allowed)
        return FeasibleRegion(rows.n_positive - rows.tp <= allowed, int(allowed))
    count = largest_count_below(1.0 - rate, rows.n_positive, confidence)
    if count < 0:
        possible = 1.0 - float(highest_rate(0, rows.n_positive, confidence))
        raise _out_of_reach("min_tpr", rate, "largest", possible, rows, confidence)
    return FeasibleRegion(rows.n_positive - rows.tp <= count, count)


def _precise(rows: RankedRows, rate: float, confidence: float | None) -> FeasibleRegion:
    """Allow places that are precise enough."""
    if confidence is None:
        is_feasible = rows.precision >= rate
        if not is_feasible.any():
            possible = float(rows.precision.max())
            raise _out_of_reach("min_precision", rate, "largest", possible, rows, None)
        return FeasibleRegion(is_feasible)
    # Above the row of a given rank all rows are independent draws, and the positives
    # among them are binomial. Ranks that could never be precise enough are not tested:
    # were all rows of a rank positive, the bound would be (missing / n) ** (1 / rank).
    missing = 1.0 - confidence
    rank = rising_ranks(1, rows.n_rows)
    tested = rank[rank >= np.log(missing / rank.size) / np.log(rate)]
    is_feasible = np.zeros(rows.score.size, dtype=bool)
    if tested.size:
        places, low, each = _precision_bounds(rows, tested, missing)
        is_feasible[places[low >= rate]] = True
    if not is_feasible.any():
        possible = float(_precision_bounds(rows, rank, missing)[1].max())
        raise _out_of_reach("min_precision", rate, "largest", possible, rows, confidence)

    def bounds(place: int) -> tuple[float, float]:
        n_called = int(rows.tp[place] + rows.fp[place])
        return rate_bounds(int(rows.tp[place]), n_called, each)

    return FeasibleRegion(is_feasible, bounds)


def _precision_bounds(
    rows: RankedRows, rank: NDArray[np.int64], missing: float
) -> tuple[NDArray[np.intp], NDArray[np.float64], float]:
    """Return the places of ranks, a lower bound for all of them, and its confidence."""
    each = 1.0 - missing / rank.size
    called = rows.tp + rows.fp
    place = np.searchsorted(called, rank, side="right") - 1
    return place, lowest_rate(rows.tp[place], called[place], each), each


def _top_rows(rows: RankedRows, n_rows: int, confidence: float | None) -> FeasibleRegion:
    """Allow places that predict at most so many rows positive."""
    return FeasibleRegion(rows.n_called <= n_rows)


REGIONS = {
    "max_fpr": _few_false_positives,
    "min_tpr": _many_true_positives,
    "min_precision": _precise,
    "top": _top_rows,
}


class PlaceCosts(NamedTuple):
    """By place: the cost of the given rows, and bounds on that of a new row."""

    seen: NDArray[np.float64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]

    @classmethod
    def of(
        cls, rows: RankedRows, cost: tuple[float, float], confidence: float | None
    ) -> PlaceCosts:
        """Compute costs at all thresholds, including the one above all scores."""
        seen = cost[0] * rows.fp + cost[1] * (rows.n_positive - rows.tp)
        if rows.is_weighted:
            unknown = np.full(seen.size, np.nan)
            return cls(seen, unknown, unknown)
        missing = 1.0 - (confidence or DEFAULT_CONFIDENCE)
        # The error probability is divided: a third to TPR, a third to FPR, and a sixth
        # to each bound of the share of positives, both of which matter here.
        low_tpr, high_tpr = simultaneous_rates(rows.n_positive, 1.0 - missing / 3.0)
        low_fpr, high_fpr = simultaneous_rates(rows.n_negative, 1.0 - missing / 3.0)
        share = np.array(rate_bounds(rows.n_positive, rows.n_rows, 1.0 - missing / 6.0))
        share = share[:, None]

        def costs(fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> Any:
            return cost[0] * (1.0 - share) * fpr + cost[1] * share * (1.0 - tpr)

        # Linear in the share of positives, so that its bounds are the worst cases.
        return cls(
            seen,
            costs(low_fpr[rows.fp], high_tpr[rows.tp]).min(axis=0),
            costs(high_fpr[rows.fp], low_tpr[rows.tp]).max(axis=0),
        )


def _out_of_reach(
    name: str, rate: float, best: str, possible: float, rows: RankedRows, confidence: float | None
) -> ValueError:
    sure = "" if confidence is None else f" with confidence {confidence:g}"
    # Rounded to the side that can be guaranteed.
    digits = 1e4
    shown = np.ceil(possible * digits) if best == "smallest" else possible * digits // 1
    return ValueError(
        f"{name} = {rate:g} is out of reach{sure}: with {rows.n_positive:g} positive "
        f"and {rows.n_negative:g} negative rows the {best} possible value is "
        f"{shown / digits:g}."
    )
