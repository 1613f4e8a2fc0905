"""What a score is good for: rates at thresholds, calibration and net benefit."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rocpath.evaluation.calibration import CalibrationBin, calibration_bins
from rocpath.evaluation.calibration_summary import CalibrationSummary, summarize_calibration
from rocpath.evaluation.decision_rates import DecisionRates, ShareName
from rocpath.evaluation.metrics.scales import t_quantile, wilson_limits
from rocpath.evaluation.net_benefit import NetBenefit, decision_curve
from rocpath.evaluation.operating_points import RankedRows
from rocpath.evaluation.roc_bands import ROCBand, roc_band
from rocpath.evaluation.smooth_calibration import SmoothCalibration, smooth_calibration
from rocpath.evaluation.threshold_table import ThresholdTable, rates_at_thresholds
from rocpath.sample import Sample
from rocpath.validation import Floats

_GRID_RATIO = 1.03  # ratio of the numbers of rows predicted positive at consecutive thresholds
_GROUP_GRID_RATIO = 1.25  # coarser: each threshold requires several passes over the rows
_SHARES: tuple[ShareName, ...] = ("sensitivity", "specificity", "ppv", "npv")


class RateGrid(NamedTuple):
    """Rates with their limits at thresholds in descending order.

    ``tp`` and ``fp`` count rows; each rate has an array of limits of shape (n, 2).
    """

    threshold: Floats
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    limits: dict[str, Floats]


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreDecisions:
    """Rates at thresholds, calibration and net benefit of one score.

    Attributes
    ----------
    thresholds : ThresholdTable
        Rates at the requested thresholds.
    band : ROCBand
        Pointwise confidence band of the ROC curve.
    grid : RateGrid
        Rates at many thresholds.
    calibration : CalibrationSummary or None
        Calibration; this and the following are None if scores are not probabilities.
    bins, smooth
        Calibration curve in bins, and as a smooth function.
    net_benefit : NetBenefit or None
        Decision curve.
    """

    thresholds: ThresholdTable
    band: ROCBand
    grid: RateGrid
    calibration: CalibrationSummary | None = None
    bins: list[CalibrationBin] | None = None
    smooth: SmoothCalibration | None = None
    net_benefit: NetBenefit | None = None

    @classmethod
    def from_score(cls, sample: Sample, score: Floats, thresholds: Any, confidence: float) -> Self:
        """Evaluate one score of a sample without weights."""
        table = rates_at_thresholds(sample, score, thresholds, confidence=confidence)
        parts: dict[str, Any] = {}
        if score.min() >= 0 and score.max() <= 1:
            last = max(float(np.quantile(score, 0.99)), 0.02)
            parts = {
                "calibration": summarize_calibration(sample, score, confidence),
                "bins": calibration_bins(sample.is_positive, score, confidence, sample.unit),
                "smooth": smooth_calibration(sample, score, confidence),
                "net_benefit": decision_curve(
                    sample, score, np.linspace(0.0, min(last, 0.99), 51)[1:], confidence
                ),
            }
        return cls(
            thresholds=table,
            band=roc_band(sample.is_positive, score, confidence, groups=sample.unit),
            grid=rate_grid(sample, score, confidence),
            **parts,
        )


def rate_grid(sample: Sample, score: Floats, confidence: float) -> RateGrid:
    """Compute the rates at thresholds that are closest together at the top."""
    rows = RankedRows.from_scores(sample.is_positive, score)
    is_grouped = sample.unit is not None
    index = rows.grid(ratio=_GROUP_GRID_RATIO if is_grouped else _GRID_RATIO)
    threshold = np.array([rows.threshold(int(place)) for place in index])
    tp, fp = rows.tp[index], rows.fp[index]
    limits: dict[str, Floats]
    if is_grouped:
        found = [DecisionRates(sample, score, at, confidence) for at in threshold.tolist()]
        limits = {name: np.array([one.share(name)[1:] for one in found]) for name in _SHARES}
    else:
        counts = {
            "sensitivity": (tp, tp[-1]),
            "specificity": (fp[-1] - fp, fp[-1]),
            "ppv": (tp, tp + fp),
            "npv": (fp[-1] - fp, rows.n_rows - tp - fp),
        }
        square = t_quantile(np.inf, confidence) ** 2
        with np.errstate(invalid="ignore", divide="ignore"):
            limits = {
                name: np.array(wilson_limits(hits / total, total, square)).T
                for name, (hits, total) in counts.items()
            }
    return RateGrid(threshold, tp, fp, limits)
