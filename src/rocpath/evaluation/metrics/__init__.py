"""Metrics: the value, and the influence of each row on it."""

from rocpath.evaluation.metrics.auc import AUC
from rocpath.evaluation.metrics.average_precision import AveragePrecision
from rocpath.evaluation.metrics.brier import Brier
from rocpath.evaluation.metrics.calibration import (
    CalibrationIntercept,
    CalibrationSlope,
    ObservedExpected,
)
from rocpath.evaluation.metrics.concordance import Concordance, UnoConcordance
from rocpath.evaluation.metrics.partial_auc import PartialAUC
from rocpath.evaluation.metrics.rates import AtThreshold, PrecisionAtK
from rocpath.evaluation.metrics.roc_points import FPRAtTPR, TPRAtFPR
from rocpath.evaluation.metrics.time_dependent_auc import TimeDependentAUC

__all__ = [
    "AUC",
    "AtThreshold",
    "AveragePrecision",
    "Brier",
    "CalibrationIntercept",
    "CalibrationSlope",
    "Concordance",
    "FPRAtTPR",
    "ObservedExpected",
    "PartialAUC",
    "PrecisionAtK",
    "TPRAtFPR",
    "TimeDependentAUC",
    "UnoConcordance",
]
