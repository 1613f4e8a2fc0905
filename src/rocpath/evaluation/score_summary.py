"""Summary of scores for reports: thresholds, ROC band, calibration and lift."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from rocpath.evaluation.calibration import CalibrationBin, calibration_bins
from rocpath.evaluation.operating_points import RankedRows, operating_point
from rocpath.evaluation.roc_bands import ROCBand, roc_band
from rocpath.evaluation.threshold_targets import (
    GUARANTEED,
    NO_TARGETS,
    NamedPoint,
    ThresholdTargets,
    target_point,
    target_points,
)
from rocpath.sample import Sample
from rocpath.validation import Floats

_TOP = 0.1  # fraction of the rows whose lift is reported
# Common targets, shown in addition to those that the user requested.
_COMMON_FPR = (0.01, 0.05, 0.1)
_COMMON_PRECISION = (0.5, 0.8, 0.9)


class ThresholdGrid(NamedTuple):
    """Thresholds in descending order, with the true and false positives at each."""

    threshold: Floats
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]


class Lift(NamedTuple):
    """Number of positives among the rows with the largest scores."""

    n_rows: int
    n_positive: int
    share: float  # fraction of all positives
    factor: float  # ratio of the share to that expected in a random sample of n_rows


class ScoreSummary(NamedTuple):
    """Statistics that a report shows for the log-odds of held-out rows."""

    n_positive: int
    n_negative: int
    grid: ThresholdGrid
    band: ROCBand
    calibration: list[CalibrationBin]
    points: list[NamedPoint]
    lift: Lift
    max_fpr: float | None


def summarize_scores(
    is_positive: NDArray[np.bool_],
    score: Floats,
    targets: ThresholdTargets = NO_TARGETS,
    *,
    groups: NDArray[np.intp] | None = None,
    sample_weight: Floats | None = None,
    claim: str = GUARANTEED,
) -> ScoreSummary:
    """Compute the statistics that a report shows for the log-odds of held-out rows.

    With groups, the rates of thresholds are means over groups, and all bounds are for
    new groups. ``claim`` describes what the bounds of the targets
    mean. Weights affect only the rates of thresholds.

    Examples
    --------
    >>> import numpy as np
    >>> from rocpath.evaluation.score_summary import summarize_scores
    >>> is_positive = np.arange(20) % 4 == 3
    >>> summarize_scores(is_positive, np.arange(20) - 10.0).lift
    Lift(n_rows=2, n_positive=1, share=0.2, factor=2.0)
    """
    sample = Sample.from_labels(is_positive, sample_weight=sample_weight, groups=groups)
    rows = RankedRows.from_scores(is_positive, score)
    given = {"groups": groups, "sample_weight": sample_weight}
    points = target_points(is_positive, score, targets, claim, **given)
    points.append(_point_above_half(sample, score))
    points += _common_points(is_positive, score, targets, **given)
    return ScoreSummary(
        rows.n_positive,
        rows.n_negative,
        _grid(rows, points),
        roc_band(is_positive, score, groups=sample.unit),
        calibration_bins(is_positive, expit(score), groups=sample.unit),
        points,
        _lift(rows),
        targets.max_fpr,
    )


def _common_points(
    is_positive: NDArray[np.bool_], score: Floats, targets: ThresholdTargets, **sample: Any
) -> list[NamedPoint]:
    """Choose thresholds for the common targets that can be met."""
    top = target_point(is_positive, score, ThresholdTargets(top=_n_top(score.size)), **sample)
    points = [NamedPoint("the top 10% of rows", top)]
    for name, rates in (("max_fpr", _COMMON_FPR), ("min_precision", _COMMON_PRECISION)):
        for rate in rates:
            if rate != getattr(targets, name):
                one = replace(NO_TARGETS, **{name: rate})  # type: ignore[arg-type]
                points += target_points(is_positive, score, one, **sample)[:1]
    # A threshold without predicted positives is not informative.
    return [one._replace(is_requested=False) for one in points if one.point.tp + one.point.fp > 0]


def _point_above_half(sample: Sample, score: Floats) -> NamedPoint:
    """Return the operating point at a probability of one half."""
    rows = RankedRows.from_scores(sample.is_positive, score, sample.weight, sample.unit)
    # Scores are log-odds: rows with a score above 0 have a probability above one half.
    index = int(np.count_nonzero(rows.score[1:] > 0))
    point = replace(operating_point(rows, index), threshold=0.0)
    return NamedPoint("probability above one half", point)


def _n_top(n_rows: int) -> int:
    return max(1, round(_TOP * n_rows))


def _lift(rows: RankedRows) -> Lift:
    # Rows tied at the boundary count proportionally.
    n_top = _n_top(rows.n_rows)
    found = float(np.interp(n_top, rows.n_predicted, rows.tp))
    share = found / rows.n_positive
    return Lift(n_top, round(found), share, share / (n_top / rows.n_rows))


def _grid(rows: RankedRows, points: list[NamedPoint]) -> ThresholdGrid:
    """Choose thresholds for a slider: those of the band, and all named points."""
    named = np.searchsorted(rows.n_predicted, [one.point.tp + one.point.fp for one in points])
    index = np.union1d(rows.grid(), named)
    threshold = np.array([rows.threshold(int(one)) for one in index])
    return ThresholdGrid(threshold, rows.tp[index], rows.fp[index])
