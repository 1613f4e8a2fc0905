"""Everything a report shows about scores: thresholds, a ROC band, calibration, lift."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit

from rocpath.auc_statistics.group_rates import GroupRates
from rocpath.auc_statistics.groups import RowGroups
from rocpath.auc_statistics.operating_points import (
    DEFAULT_CONFIDENCE,
    OperatingPoint,
    RankedRows,
    operating_point,
    rates_of_any_place,
)
from rocpath.auc_statistics.rate_bounds import rate_bounds
from rocpath.auc_statistics.roc_bands import (
    ROCBand,
    grouped_rate_bounds,
    grouped_roc_band,
    roc_band,
    spread_places,
)
from rocpath.auc_statistics.threshold_targets import (
    NO_TARGETS,
    NamedPoint,
    ThresholdTargets,
    describe_target,
    rows_called,
    target_point,
    target_points,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TOP = 0.1  # fraction of the rows whose lift is reported
_MAX_CALIBRATION_GROUPS = 10  # more would be too narrow to see
_POSITIVES_PER_GROUP = 10  # expected; with fewer the observed rate is hardly known
# Targets that are common in practice, shown beside those that the user requested.
_COMMON_FPR = (0.01, 0.05, 0.1)
_COMMON_PRECISION = (0.5, 0.8, 0.9)


class CalibrationGroup(NamedTuple):
    """Rows of similar probability: its mean, and the observed share of positives."""

    probability: float
    share: float
    low: float
    high: float
    n_rows: int


class ThresholdGrid(NamedTuple):
    """Thresholds from the highest to the lowest, and the rows at or above each."""

    threshold: NDArray[np.float64]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]


class Lift(NamedTuple):
    """How many of the positives have the largest scores."""

    n_rows: int
    n_positive: int
    share: float  # of all positives
    factor: float  # ratio to the share expected in a random sample of n_rows


class ScoreSummary(NamedTuple):
    """What a report shows about scores that are log-odds of held-out rows."""

    n_positive: int
    n_negative: int
    grid: ThresholdGrid
    band: ROCBand
    calibration: list[CalibrationGroup]
    points: list[NamedPoint]
    lift: Lift
    max_fpr: float | None


def summarize_scores(
    is_positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    targets: ThresholdTargets = NO_TARGETS,
    *,
    groups: NDArray[np.intp] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
) -> ScoreSummary:
    """Compute what a report shows about scores that are log-odds of held-out rows.

    With groups, rates of thresholds are means over groups and all bounds are for new
    groups. Weights change only the rates of thresholds.

    Examples
    --------
    >>> import numpy as np
    >>> from rocpath.auc_statistics.score_summary import summarize_scores
    >>> is_positive = np.arange(20) % 4 == 3
    >>> summarize_scores(is_positive, np.arange(20) - 10.0).lift
    Lift(n_rows=2, n_positive=1, share=0.2, factor=2.0)
    """
    rows = RankedRows.of(is_positive, score)
    sample = {"groups": groups, "sample_weight": sample_weight}
    points = target_points(is_positive, score, targets, **sample)
    points += _common_points(is_positive, score, targets, **sample)
    together = None if groups is None else RowGroups.of("groups", groups, score.size)
    return ScoreSummary(
        rows.n_positive,
        rows.n_negative,
        _grid(rows, points),
        roc_band(rows) if together is None else grouped_roc_band(is_positive, score, together),
        calibration_groups(is_positive, expit(score), together),
        points,
        _lift(rows),
        targets.max_fpr,
    )


def calibration_groups(
    is_positive: NDArray[np.bool_],
    probability: NDArray[np.float64],
    together: RowGroups | None = None,
) -> list[CalibrationGroup]:
    """Group rows by probability, with equal expected numbers of positives."""
    # Groups of equal numbers of rows would mostly hold no positive of a rare class.
    order = np.argsort(probability, kind="stable")
    expected = np.cumsum(probability[order])
    n_groups = int(expected[-1] // _POSITIVES_PER_GROUP)
    n_groups = min(max(n_groups, 2), _MAX_CALIBRATION_GROUPS, order.size)
    edges = np.searchsorted(expected, expected[-1] * np.arange(1, n_groups) / n_groups)
    level = 0.5 * (1.0 + DEFAULT_CONFIDENCE)
    groups = []
    for rows in np.split(order, edges):
        if rows.size:
            label = is_positive[rows]
            count = int(label.sum())
            bounds = rate_bounds(count, rows.size, level)
            if together is not None:
                bounds = grouped_rate_bounds(together.code[rows], label, level)
            mean = float(probability[rows].mean())
            groups.append(CalibrationGroup(mean, count / rows.size, *bounds, rows.size))
    return groups


def _common_points(
    is_positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    targets: ThresholdTargets,
    **sample: Any,
) -> list[NamedPoint]:
    """Choose thresholds for common targets, where the rows allow them."""
    # Scores are log-odds: a probability above one half is one above 0.
    half = _point_above(0.0, is_positive, score, **sample)
    tp, n_called = int((is_positive & (score > 0)).sum()), int((score > 0).sum())
    points = [NamedPoint("probability above one half", half, tp, n_called - tp)]
    n_top = max(1, round(_TOP * score.size))
    common = [("the top 10% of rows", ThresholdTargets(top=n_top))]
    for name, rates in (("max_fpr", _COMMON_FPR), ("min_precision", _COMMON_PRECISION)):
        for rate in rates:
            if rate != getattr(targets, name):
                one = replace(NO_TARGETS, **{name: rate})  # type: ignore[arg-type]
                common.append((describe_target(name, rate), one))
    for rule, one in common:
        try:
            point = target_point(is_positive, score, one, **sample)
        except ValueError:  # no threshold reaches it
            continue
        # A threshold that predicts no row positive teaches nothing.
        if point.tpr + point.fpr > 0:
            points.append(NamedPoint(rule, point, *rows_called(is_positive, score, point)))
    return points


def _point_above(
    threshold: float,
    is_positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    *,
    groups: NDArray[np.intp] | None,
    sample_weight: NDArray[np.float64] | None,
) -> OperatingPoint:
    """Predict the rows with larger scores positive."""
    rows = RankedRows.of(is_positive, score, sample_weight)
    place = max(int(np.searchsorted(-rows.score, -threshold, side="left")) - 1, 0)
    if groups is not None and sample_weight is None:
        together = RowGroups.of("groups", groups, score.size)
        point = GroupRates.of(is_positive, score, together).point(place, DEFAULT_CONFIDENCE)
    else:
        point = operating_point(rows, place, rates_of_any_place(rows, place), None)
    return replace(point, threshold=threshold)


def _lift(rows: RankedRows) -> Lift:
    # Of rows tied at the border their share counts.
    n_called = rows.tp + rows.fp
    n_top = max(1, round(_TOP * rows.n_rows))
    found = float(np.interp(n_top, n_called, rows.tp))
    share = found / rows.n_positive
    return Lift(n_top, round(found), share, share / (n_top / rows.n_rows))


def _grid(rows: RankedRows, points: list[NamedPoint]) -> ThresholdGrid:
    """Choose thresholds for a slider: those of the band, and all named points."""
    named = np.searchsorted(rows.tp + rows.fp, [one.tp + one.fp for one in points])
    place = np.union1d(spread_places(rows), named)
    threshold = np.array([rows.threshold(int(one)) for one in place])
    return ThresholdGrid(threshold, rows.tp[place], rows.fp[place])
