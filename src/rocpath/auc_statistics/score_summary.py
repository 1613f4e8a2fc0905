"""Everything a report shows about scores: thresholds, a ROC band, calibration, lift."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from rocpath.auc_statistics.operating_points import DEFAULT_CONFIDENCE, RankedRows
from rocpath.auc_statistics.rate_bounds import rate_bounds
from rocpath.auc_statistics.roc_bands import ROCBand, roc_band, spread_places
from rocpath.auc_statistics.threshold_targets import (
    NO_TARGETS,
    NamedPoint,
    ThresholdTargets,
    describe_target,
    point_at,
    point_counts,
    point_for_target,
    points_for_targets,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    requested: Sequence[NamedPoint] | None = None,
) -> ScoreSummary:
    """Compute what a report shows about scores that are log-odds of held-out rows.

    The points of the targets are chosen as for independent rows, unless they are given
    as ``requested``.

    Examples
    --------
    >>> import numpy as np
    >>> from rocpath.auc_statistics.score_summary import summarize_scores
    >>> is_positive = np.arange(20) % 4 == 3
    >>> summarize_scores(is_positive, np.arange(20) - 10.0).lift
    Lift(n_rows=2, n_positive=1, share=0.2, factor=2.0)
    """
    rows = RankedRows.of(is_positive, score)
    if requested is None:
        requested = points_for_targets(
            targets,
            partial(point_for_target, is_positive, score),
            partial(point_counts, n_positives=rows.n_positive, n_negatives=rows.n_negative),
        )
    points = [*requested, *_common_points(is_positive, score, rows, targets)]
    return ScoreSummary(
        rows.n_positive,
        rows.n_negative,
        _grid(rows, points),
        roc_band(rows),
        calibration_groups(is_positive, expit(score)),
        points,
        _lift(rows),
        targets.max_fpr,
    )


def calibration_groups(
    is_positive: NDArray[np.bool_], probability: NDArray[np.float64]
) -> list[CalibrationGroup]:
    """Group rows by probability, with equal expected numbers of positives."""
    # Groups of equal numbers of rows would mostly hold no positive of a rare class.
    order = np.argsort(probability, kind="stable")
    expected = np.cumsum(probability[order])
    n_groups = int(expected[-1] // _POSITIVES_PER_GROUP)
    n_groups = min(max(n_groups, 2), _MAX_CALIBRATION_GROUPS, order.size)
    edges = np.searchsorted(expected, expected[-1] * np.arange(1, n_groups) / n_groups)
    groups = []
    for rows in np.split(order, edges):
        if rows.size:
            count = int(is_positive[rows].sum())
            bounds = rate_bounds(count, rows.size, 0.5 * (1.0 + DEFAULT_CONFIDENCE))
            mean = float(probability[rows].mean())
            groups.append(CalibrationGroup(mean, count / rows.size, *bounds, rows.size))
    return groups


def _common_points(
    is_positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    rows: RankedRows,
    targets: ThresholdTargets,
) -> list[NamedPoint]:
    """Choose thresholds for common targets, where the rows allow them."""
    # Scores are log-odds: a probability of one half is 0.
    half = max(int(np.searchsorted(-rows.score, 0.0, side="left")) - 1, 0)
    above_half = replace(point_at(rows, half), threshold=0.0)
    n_top = max(1, round(_TOP * rows.n_rows))
    top = point_for_target(is_positive, score, ThresholdTargets(top=n_top))
    points = [
        NamedPoint.at(is_positive, "probability above one half", above_half),
        NamedPoint.at(is_positive, "the top 10% of rows", top),
    ]
    common = [ThresholdTargets(max_fpr=rate) for rate in _COMMON_FPR]
    common += [ThresholdTargets(min_precision=share) for share in _COMMON_PRECISION]
    for one in common:
        ((name, target),) = one.given.items()
        if target == getattr(targets, name):
            continue
        try:
            point = point_for_target(is_positive, score, one)
        except ValueError:  # no threshold reaches it
            continue
        # A threshold that predicts no row positive teaches nothing.
        if point.tpr + point.fpr > 0:
            rule = describe_target(name, target)
            points.append(NamedPoint.at(is_positive, rule, point))
    return points


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
