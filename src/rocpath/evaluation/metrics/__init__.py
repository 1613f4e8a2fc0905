"""Metrics: the value, and the influence of each row on it."""

from rocpath.evaluation.metrics.auc import AUC
from rocpath.evaluation.metrics.average_precision import AveragePrecision
from rocpath.evaluation.metrics.brier import Brier
from rocpath.evaluation.metrics.rates import AtThreshold, PrecisionAtK

__all__ = ["AUC", "AtThreshold", "AveragePrecision", "Brier", "PrecisionAtK"]
