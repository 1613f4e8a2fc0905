"""What there is to see of scores of rows held out: thresholds, a band, calibration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from rocpath.arguments import share_between
from rocpath.auc_statistics.operating_points import (
    OperatingPoint,
    RankedRows,
    operating_point,
    rates_of_any_place,
)
from rocpath.auc_statistics.rate_bounds import (
    highest_rate,
    lowest_rate,
    rate_bounds,
    rising_ranks,
)
from rocpath.auc_statistics.thresholds import choose_threshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONFIDENCE = 0.95
# Each of two rates with both its bounds, such that a pair lies between all four.
_EACH_OF_FOUR = 0.5 * (1.0 + CONFIDENCE**0.5)
_TOP = 0.1  # the share of rows whose lift is told
_MOST_GROUPS = 10  # of calibration; more would be too narrow to see
_POSITIVES_A_GROUP = 10  # expected; of fewer a share is hardly known
_RATIO = 1.02  # of the ranks of two neighbouring places of the slider
# What many would ask for: shown beside what was asked.
_USUAL_FPR = (0.01, 0.05, 0.1)
_USUAL_PRECISION = (0.5, 0.8, 0.9)


class Promises(NamedTuple):
    """What a threshold is asked to keep; any of them may be missing."""

    max_fpr: float | None = None
    min_precision: float | None = None
    top: int | None = None

    @property
    def n_given(self) -> int:
        """How many are asked for."""
        return sum(promise is not None for promise in self)

    def checked(self) -> Promises:
        """Raise if a rate is none that can be promised."""
        for name in ("max_fpr", "min_precision"):
            promise = getattr(self, name)
            if promise is not None:
                share_between(f"--{name.replace('_', '-')}", promise)
        return self


NO_PROMISE = Promises()


class NamedPoint(NamedTuple):
    """A threshold, by the rule that leads to it, and the rows it calls positive."""

    rule: str
    point: OperatingPoint
    tp: int
    fp: int
    is_asked: bool


class RocBand(NamedTuple):
    """Corners of the band around a ROC curve, from no row called positive to all."""

    fpr_low: NDArray[np.float64]
    fpr_high: NDArray[np.float64]
    tpr_low: NDArray[np.float64]
    tpr_high: NDArray[np.float64]


class ProbabilityGroup(NamedTuple):
    """Rows of similar probability: its mean, and how many are positive indeed."""

    probability: float
    share: float
    low: float
    high: float
    n_rows: int


class Places(NamedTuple):
    """Thresholds from the highest to the lowest, and the rows at or above each."""

    threshold: NDArray[np.float64]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]


class Lift(NamedTuple):
    """How many positives are among the rows ranked highest."""

    n_rows: int
    n_positive: int
    share: float  # of all positives
    factor: float  # of what as many rows drawn at random would hold


class ScoreView(NamedTuple):
    """Scores as log-odds of rows held out, in numbers for drawing and deciding."""

    n_positive: int
    n_negative: int
    places: Places
    band: RocBand
    calibration: list[ProbabilityGroup]
    points: list[NamedPoint]
    lift: Lift
    max_fpr: float | None


def score_view(
    is_positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    promises: Promises = NO_PROMISE,
) -> ScoreView:
    """Compute what the report shows of scores, log-odds of rows held out.

    Examples
    --------
    >>> import numpy as np
    >>> from rocpath.pages.score_view import score_view
    >>> is_positive = np.arange(20) % 4 == 3
    >>> view = score_view(is_positive, np.arange(20) - 10.0)
    >>> view.lift
    Lift(n_rows=2, n_positive=1, share=0.2, factor=2.0)
    """
    rows = RankedRows.of(is_positive, score)
    points = [
        *asked_points(is_positive, score, promises),
        *_usual(is_positive, score, rows, promises),
    ]
    return ScoreView(
        rows.n_positive,
        rows.n_negative,
        _places(rows, points),
        _band(rows),
        calibration_groups(is_positive, expit(score)),
        points,
        _lift(rows),
        promises.max_fpr,
    )


def calibration_groups(
    is_positive: NDArray[np.bool_], probability: NDArray[np.float64]
) -> list[ProbabilityGroup]:
    """Group rows by probability, as many positives expected in each."""
    # Not as many rows in each: of a rare class most groups would hold no positive.
    order = np.argsort(probability, kind="stable")
    expected = np.cumsum(probability[order])
    n_groups = int(expected[-1] // _POSITIVES_A_GROUP)
    n_groups = min(max(n_groups, 2), _MOST_GROUPS, order.size)
    edges = np.searchsorted(expected, expected[-1] * np.arange(1, n_groups) / n_groups)
    groups = []
    for part in np.split(order, edges):
        if part.size:
            count = int(is_positive[part].sum())
            low, high = rate_bounds(count, part.size, 0.5 * (1.0 + CONFIDENCE))
            mean = float(probability[part].mean())
            share = count / part.size
            groups.append(ProbabilityGroup(mean, share, low, high, part.size))
    return groups


def top_point(rows: RankedRows, n_rows: int) -> OperatingPoint:
    """Call at most so many rows positive, those ranked highest."""
    return _point_at(rows, _top_place(rows, n_rows))


def rule_of(name: str, promise: float) -> str:
    """Say a promise in words."""
    if name == "top":
        return f"the {promise:,} rows ranked highest"
    what, limit = {
        "max_fpr": ("false positive rate", "at most"),
        "min_precision": ("precision", "at least"),
    }[name]
    return f"{what} {limit} {100 * promise:g}%"


def promised_points(
    is_positive: NDArray[np.bool_], score: NDArray[np.float64], promises: Promises
) -> dict[str, OperatingPoint]:
    """Choose a threshold for each promise, as the rows given keep it; or raise."""
    rows = RankedRows.of(is_positive, score)
    points = {}
    for name, promise in promises._asdict().items():
        if promise is None:
            continue
        if name == "top":
            points[name] = top_point(rows, promise)
        else:
            points[name] = choose_threshold(
                is_positive, score, positive=True, **{name: promise}
            )
    return points


def asked_points(
    is_positive: NDArray[np.bool_], score: NDArray[np.float64], promises: Promises
) -> list[NamedPoint]:
    """Keep each promise on these rows; and for new rows with confidence, if possible.

    One that no threshold keeps is left out.
    """
    rows, points = RankedRows.of(is_positive, score), []
    for name, promise in promises._asdict().items():
        if promise is None:
            continue
        rule = rule_of(name, promise)
        if name == "top":
            points.append(_named(rows, rule, top_point(rows, promise), is_asked=True))
            continue
        for confidence in (None, CONFIDENCE):
            told = rule if confidence is None else f"{rule}, promised for new rows"
            try:
                point = choose_threshold(
                    is_positive,
                    score,
                    positive=True,
                    confidence=confidence,
                    **{name: promise},
                )
            except ValueError:  # out of reach
                continue
            points.append(_named(rows, told, point, is_asked=True))
    return points


def _usual(
    is_positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    rows: RankedRows,
    promises: Promises,
) -> list[NamedPoint]:
    """Choose thresholds that many would ask for, as far as the rows allow them."""
    # Scores are log-odds: one half is 0.
    half = max(int(np.searchsorted(-rows.score, 0.0, side="left")) - 1, 0)
    above_half = replace(_point_at(rows, half), threshold=0.0)
    n_top = max(1, round(_TOP * rows.n_rows))
    points = [
        _named(rows, "probability above one half", above_half),
        _named(rows, "the tenth of rows ranked highest", top_point(rows, n_top)),
    ]
    usual = [Promises(max_fpr=rate) for rate in _USUAL_FPR]
    usual += [Promises(min_precision=share) for share in _USUAL_PRECISION]
    for one in usual:
        name, promise = next(pair for pair in one._asdict().items() if pair[1])
        try:
            (point,) = promised_points(is_positive, score, one).values()
        except ValueError:  # out of reach
            continue
        # Not again what was asked for, nor a threshold that calls no row.
        if promise != getattr(promises, name) and point.tpr + point.fpr > 0:
            points.append(_named(rows, rule_of(name, promise), point))
    return points


def _point_at(rows: RankedRows, place: int) -> OperatingPoint:
    return operating_point(rows, place, rates_of_any_place(rows, place), None)


def _named(
    rows: RankedRows, rule: str, point: OperatingPoint, *, is_asked: bool = False
) -> NamedPoint:
    tp, fp = round(point.tpr * rows.n_positive), round(point.fpr * rows.n_negative)
    return NamedPoint(rule, point, tp, fp, is_asked)


def _top_place(rows: RankedRows, n_rows: int) -> int:
    return int(np.searchsorted(rows.tp + rows.fp, n_rows, side="right")) - 1


def _lift(rows: RankedRows) -> Lift:
    # Of rows tied at the border their share counts.
    called = rows.tp + rows.fp
    n_top = max(1, round(_TOP * rows.n_rows))
    found = float(np.interp(n_top, called, rows.tp))
    share = found / rows.n_positive
    return Lift(n_top, round(found), share, share / (n_top / rows.n_rows))


def _places(rows: RankedRows, points: list[NamedPoint]) -> Places:
    """Choose places for a slider: close together at the top, with all points named."""
    called = rows.tp + rows.fp
    # The top of a ranking is where thresholds are chosen, and where rates change most.
    ranks = rising_ranks(1, rows.n_rows, ratio=_RATIO)
    chosen = np.searchsorted(called, ranks, side="right") - 1
    named = np.searchsorted(called, [one.tp + one.fp for one in points])
    place = np.unique(np.concatenate(([0], chosen, named)))
    threshold = np.array([rows.threshold(int(one)) for one in place])
    return Places(threshold, rows.tp[place], rows.fp[place])


def _band(rows: RankedRows) -> RocBand:
    """Bound both rates at any one threshold (Clopper and Pearson)."""
    called = rows.tp + rows.fp
    ranks = rising_ranks(1, rows.n_rows, ratio=_RATIO)
    place = np.unique(np.append(0, np.searchsorted(called, ranks, side="right") - 1))
    tp, fp = rows.tp[place], rows.fp[place]
    level, n_positive, n_negative = _EACH_OF_FOUR, rows.n_positive, rows.n_negative
    return RocBand(
        lowest_rate(fp, n_negative, level),
        highest_rate(fp, n_negative, level),
        lowest_rate(tp, n_positive, level),
        highest_rate(tp, n_positive, level),
    )
