"""Choose a threshold of scores by a promise about errors, or by their costs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import (
    describe,
    finite_number,
    finite_vector,
    positive_labels,
    same_length,
    share_between,
)
from rocpath.auc_statistics.operating_points import (
    DEFAULT_CONFIDENCE,
    OperatingPoint,
    RankedRows,
    Rates,
    operating_point,
    rates_of_any_place,
)
from rocpath.auc_statistics.rate_bounds import (
    highest_rate,
    largest_count_below,
    lowest_rate,
    rate_bounds,
    rising_ranks,
    simultaneous_rates,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def choose_threshold(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    min_precision: float | None = None,
    cost: tuple[float, float] | None = None,
    confidence: float | None = None,
    positive: Any = None,
) -> OperatingPoint:
    """Choose a threshold of scores by exactly one promise or by costs.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels of exactly two values, of rows that the scores were not fitted to.
    scores : array-like, shape (n_rows,)
        Larger for rows that are more likely positive.
    max_fpr : float, optional
        Call as many rows positive as this false positive rate allows.
    min_tpr : float, optional
        Call as few rows positive as this true positive rate allows.
    min_precision : float, optional
        Call as many rows positive as this precision allows.
    cost : tuple of float, optional
        Costs of a false positive and of a false negative; their sum is made small.
    confidence : float, optional
        Promise the rate for new rows with this confidence, or make the largest cost
        that new rows can have with this confidence small. By default the rates and
        costs of the rows given count.
    positive : label, optional
        The positive class; by default the larger of the two labels.

    Returns
    -------
    OperatingPoint

    Raises
    ------
    ValueError
        If no threshold keeps the promise; the message says what can be promised.

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
    is_positive = positive_labels(y, positive)
    score = finite_vector("scores", scores, copy=False)
    same_length(y=is_positive, scores=score)
    if confidence is not None:
        confidence = share_between("confidence", confidence)
    rows = RankedRows.of(is_positive, score)
    name, promise = _only_one(
        max_fpr=max_fpr, min_tpr=min_tpr, min_precision=min_precision, cost=cost
    )
    if name == "cost":
        return _cheapest(rows, _costs(promise), confidence)
    rate = share_between(name, promise)
    if name == "max_fpr":
        return _few_false_positives(rows, rate, confidence)
    if name == "min_tpr":
        return _many_true_positives(rows, rate, confidence)
    return _precise(rows, rate, confidence)


def _only_one(**promises: Any) -> tuple[str, Any]:
    given = [name for name, promise in promises.items() if promise is not None]
    if len(given) != 1:
        raise ValueError(
            f"exactly one of {', '.join(promises)} must be given, got "
            f"{' and '.join(given) or 'none'}."
        )
    return given[0], promises[given[0]]


def _few_false_positives(
    rows: RankedRows, rate: float, confidence: float | None
) -> OperatingPoint:
    """Stand above the negative of a rank that only their number decides."""
    # The rank is fixed before a score is looked at. So the bound on what of the
    # negatives lies above it is Wilks's, and needs no allowance for having chosen; and
    # the positives above it, which had no part in the choice, are binomial.
    n_negative = rows.n_negative
    allowed = _allowed_errors(rate, n_negative, confidence)
    if confidence is not None and allowed < 0:
        possible = float(highest_rate(0, n_negative, confidence))
        raise _out_of_reach("max_fpr", rate, "smallest", possible, rows, confidence)
    # Ties may leave fewer than allowed: the promise was made for those allowed.
    place = int(np.searchsorted(rows.fp, allowed, side="right")) - 1
    fp, tp = int(rows.fp[place]), int(rows.tp[place])

    def rates(level: float) -> Rates:
        return Rates(
            rate_bounds(tp, rows.n_positive, level),
            (
                float(lowest_rate(fp, n_negative, level)),
                float(highest_rate(allowed, n_negative, level)),
            ),
        )

    return operating_point(rows, place, rates, confidence)


def _many_true_positives(
    rows: RankedRows, rate: float, confidence: float | None
) -> OperatingPoint:
    """Stand at the positive of a rank that only their number decides."""
    # As for false positives, with positives that are missed.
    n_positive = rows.n_positive
    allowed = _allowed_errors(1.0 - rate, n_positive, confidence)
    if confidence is not None and allowed < 0:
        possible = 1.0 - float(highest_rate(0, n_positive, confidence))
        raise _out_of_reach("min_tpr", rate, "largest", possible, rows, confidence)
    place = int(np.searchsorted(rows.tp, n_positive - allowed, side="left"))
    fp, missed = int(rows.fp[place]), n_positive - int(rows.tp[place])

    def rates(level: float) -> Rates:
        return Rates(
            (
                1.0 - float(highest_rate(allowed, n_positive, level)),
                1.0 - float(lowest_rate(missed, n_positive, level)),
            ),
            rate_bounds(fp, rows.n_negative, level),
        )

    return operating_point(rows, place, rates, confidence)


def _precise(rows: RankedRows, rate: float, confidence: float | None) -> OperatingPoint:
    """Go down to the last place that is precise enough."""
    if confidence is None:
        good = np.flatnonzero(rows.precision >= rate)
        if good.size == 0:
            possible = float(rows.precision.max())
            raise _out_of_reach(
                "min_precision", rate, "largest", possible, rows, confidence
            )
        place = int(good[-1])
        return operating_point(rows, place, rates_of_any_place(rows, place), None)
    # Above the row of a given rank all rows are drawn alike, and the positives among
    # them are binomial. Ranks that could not convince are not tried.
    missing = 1.0 - confidence
    rank = rising_ranks(1, rows.n_rows)
    # If all rows of a rank were positive, their precision could still be promised only
    # from (missing / n_ranks) ** (1 / rank) on.
    convincing = rank[rank >= np.log(missing / rank.size) / np.log(rate)]
    if convincing.size:
        places, low, each = _precision_bounds(rows, convincing, missing)
        good = np.flatnonzero(low >= rate)
    if convincing.size == 0 or good.size == 0:
        possible = float(_precision_bounds(rows, rank, missing)[1].max())
        raise _out_of_reach(
            "min_precision", rate, "largest", possible, rows, confidence
        )
    place = int(places[good[-1]])
    tp = int(rows.tp[place])
    n_called = tp + int(rows.fp[place])
    precision = float(low[good[-1]]), float(highest_rate(tp, n_called, each))
    point = operating_point(rows, place, rates_of_any_place(rows, place), confidence)
    # The promise is for rows above the next score, which need not be at this one.
    is_last = place + 1 == rows.score.size
    limit = -np.inf if is_last else np.nextafter(rows.score[place + 1], np.inf)
    return replace(point, threshold=float(limit), precision_interval=precision)


def _precision_bounds(
    rows: RankedRows, rank: NDArray[np.int64], missing: float
) -> tuple[NDArray[np.intp], NDArray[np.float64], float]:
    """Return the places of ranks, a lower bound for all of them, and its confidence."""
    each = 1.0 - missing / rank.size
    called = rows.tp + rows.fp
    place = np.searchsorted(called, rank, side="right") - 1
    return place, lowest_rate(rows.tp[place], called[place], each), each


def _cheapest(
    rows: RankedRows, cost: tuple[float, float], confidence: float | None
) -> OperatingPoint:
    """Compare all thresholds, also the one that calls no row positive."""
    missing = 1.0 - (confidence or DEFAULT_CONFIDENCE)
    seen = cost[0] * rows.fp + cost[1] * (rows.n_positive - rows.tp)
    # What may fail is dealt out: a third to TPR, to FPR, and a sixth to each bound of
    # the share of positives, both of which matter here.
    low_tpr, high_tpr = simultaneous_rates(rows.n_positive, 1.0 - missing / 3.0)
    low_fpr, high_fpr = simultaneous_rates(rows.n_negative, 1.0 - missing / 3.0)
    share = np.array(rate_bounds(rows.n_positive, rows.n_rows, 1.0 - missing / 6.0))
    share = share[:, None]

    def costs(fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> Any:
        return cost[0] * (1.0 - share) * fpr + cost[1] * share * (1.0 - tpr)

    # Linear in the share of positives, so that its two bounds are the worst cases.
    highest = costs(high_fpr[rows.fp], low_tpr[rows.tp]).max(axis=0)
    lowest = costs(low_fpr[rows.fp], high_tpr[rows.tp]).min(axis=0)
    place = int(np.argmin(seen if confidence is None else highest))
    point = operating_point(rows, place, rates_of_any_place(rows, place), confidence)
    return replace(
        point,
        expected_cost=float(seen[place]) / rows.n_rows,
        expected_cost_interval=(float(lowest[place]), float(highest[place])),
    )


def _allowed_errors(rate: float, n_rows: int, confidence: float | None) -> int:
    """Return how many of the rows may be wrong, or -1 if no number can be promised."""
    if confidence is not None:
        return largest_count_below(rate, n_rows, confidence)
    # A rate such as 1 - 0.9 has been rounded; whole numbers are farther apart.
    return int(np.floor(n_rows * rate * (1.0 + 1e-12)))


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


def _out_of_reach(
    name: str,
    rate: float,
    best: str,
    possible: float,
    rows: RankedRows,
    confidence: float | None,
) -> ValueError:
    sure = "" if confidence is None else f" with confidence {confidence:g}"
    # Rounded to the side that can be promised.
    digits = 1e4
    shown = np.ceil(possible * digits) if best == "smallest" else possible * digits // 1
    return ValueError(
        f"{name} = {rate:g} is out of reach{sure}: with {rows.n_positive} positive and "
        f"{rows.n_negative} negative rows the {best} that can be promised is "
        f"{shown / digits:g}."
    )
