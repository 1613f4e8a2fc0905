"""What there is to see of scores of rows held out: thresholds, a band, calibration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

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
_BOUNDS = (lowest_rate, highest_rate)
_TOP = 0.1  # the share of rows whose lift is told
_MOST_GROUPS = 10  # of calibration; more would be too narrow to see
_POSITIVES_A_GROUP = 10  # expected; of fewer a share is hardly known
_RATIO = 1.02  # of the ranks of two neighboring places of the slider
# What many would ask for: shown beside what was asked.
_USUAL_FPR = (0.01, 0.05, 0.1)
_USUAL_PRECISION = (0.5, 0.8, 0.9)


class Promises(NamedTuple):
    """What a threshold is asked to keep; any of them may be missing."""

    max_fpr: float | None = None
    min_precision: float | None = None
    top: int | None = None

    @property
    def given(self) -> dict[str, Any]:
        """Those asked for, by name."""
        return {name: one for name, one in self._asdict().items() if one is not None}

    @property
    def n_given(self) -> int:
        """How many are asked for."""
        return len(self.given)

    def checked(self) -> Promises:
        """Raise if a rate is none that can be promised."""
        for name, promise in self.given.items():
            if name != "top":
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


class ROCBand(NamedTuple):
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
    band: ROCBand
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


def rule_of(name: str, promise: float) -> str:
    """Say a promise in words."""
    if name == "top":
        return f"the {promise:,} rows ranked highest"
    what, limit = {
        "max_fpr": ("false positive rate", "at most"),
        "min_precision": ("precision", "at least"),
    }[name]
    return f"{what} {limit} {100 * promise:g}%"


def promised_point(
    is_positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    promises: Promises,
    confidence: float | None = None,
) -> OperatingPoint:
    """Choose a threshold that keeps the one promise given; raise if none does."""
    ((name, promise),) = promises.given.items()
    if name == "top":
        return _top_point(RankedRows.of(is_positive, score), promise)
    return choose_threshold(
        is_positive, score, positive=True, confidence=confidence, **{name: promise}
    )


def asked_points(
    is_positive: NDArray[np.bool_], score: NDArray[np.float64], promises: Promises
) -> list[NamedPoint]:
    """Keep each promise on these rows; and for new rows with confidence, if possible.

    One that no threshold keeps is left out.
    """
    points = []
    for name, promise in promises.given.items():
        rule, one = rule_of(name, promise), Promises(**{name: promise})
        # As many rows as are asked for can be called of any table.
        for confidence in (None,) if name == "top" else (None, CONFIDENCE):
            told = rule if confidence is None else f"{rule}, promised for new rows"
            try:
                point = promised_point(is_positive, score, one, confidence)
            except ValueError:  # out of reach
                continue
            points.append(_named(is_positive, told, point, is_asked=True))
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
    top = _top_point(rows, n_top)
    points = [
        _named(is_positive, "probability above one half", above_half),
        _named(is_positive, "the tenth of rows ranked highest", top),
    ]
    usual = [Promises(max_fpr=rate) for rate in _USUAL_FPR]
    usual += [Promises(min_precision=share) for share in _USUAL_PRECISION]
    for one in usual:
        ((name, promise),) = one.given.items()
        # Not again what was asked for, nor a threshold that calls no row.
        if promise == getattr(promises, name):
            continue
        try:
            point = promised_point(is_positive, score, one)
        except ValueError:  # out of reach
            continue
        if point.tpr + point.fpr > 0:
            points.append(_named(is_positive, rule_of(name, promise), point))
    return points


def _top_point(rows: RankedRows, n_rows: int) -> OperatingPoint:
    """Call at most so many rows positive, those ranked highest."""
    place = int(np.searchsorted(rows.tp + rows.fp, n_rows, side="right")) - 1
    return _point_at(rows, place)


def _point_at(rows: RankedRows, place: int) -> OperatingPoint:
    return operating_point(rows, place, rates_of_any_place(rows, place), None)


def _named(
    is_positive: NDArray[np.bool_],
    rule: str,
    point: OperatingPoint,
    *,
    is_asked: bool = False,
) -> NamedPoint:
    n_positive = int(is_positive.sum())
    tp, fp = point.tpr * n_positive, point.fpr * (is_positive.size - n_positive)
    return NamedPoint(rule, point, round(tp), round(fp), is_asked)


def _lift(rows: RankedRows) -> Lift:
    # Of rows tied at the border their share counts.
    called = rows.tp + rows.fp
    n_top = max(1, round(_TOP * rows.n_rows))
    found = float(np.interp(n_top, called, rows.tp))
    share = found / rows.n_positive
    return Lift(n_top, round(found), share, share / (n_top / rows.n_rows))


def _places(rows: RankedRows, points: list[NamedPoint]) -> Places:
    """Choose places for a slider: those of the band, and all points named."""
    named = np.searchsorted(rows.tp + rows.fp, [one.tp + one.fp for one in points])
    place = np.union1d(_spread_places(rows), named)
    threshold = np.array([rows.threshold(int(one)) for one in place])
    return Places(threshold, rows.tp[place], rows.fp[place])


def _spread_places(rows: RankedRows) -> NDArray[np.intp]:
    """Choose places from no row to all, close together at the top of the ranking."""
    # There thresholds are chosen, and rates change most.
    ranks = rising_ranks(1, rows.n_rows, ratio=_RATIO)
    called = np.searchsorted(rows.tp + rows.fp, ranks, side="right") - 1
    return np.unique(np.append(0, called))


def _band(rows: RankedRows) -> ROCBand:
    """Bound both rates at any one threshold (Clopper and Pearson)."""
    place = _spread_places(rows)
    fp, tp = (rows.fp[place], rows.n_negative), (rows.tp[place], rows.n_positive)
    return ROCBand(
        *(bound(*count, _EACH_OF_FOUR) for count in (fp, tp) for bound in _BOUNDS)
    )
