from . import changepoint
from .auc_statistics.intervals import (
    auc_interval,
    compare_auc,
    compare_auc_unpaired,
)
from .auc_statistics.many_curves import AUCComparisons, compare_aucs
from .auc_statistics.operating_points import OperatingPoint
from .auc_statistics.results import AUCComparison, AUCInterval
from .auc_statistics.thresholds import choose_threshold
from .breakpoints import ErrorBreakpoints
from .changepoint import IntervalRegression, PenaltyRegressor
from .descent import Descent
from .line_search import aum_path, best_auc_step, best_aum_step, sweep
from .linear_model import minimize_aum
from .lines import Lines
from .ranking import AUCBlender, AUCClassifier, ThresholdClassifier
from .roc import ROCCurve, auc, aum, aum_derivatives, aum_gradient, roc_curve
from .search_results import AUMPath, BestStep, StepPath
from .table_files.reading import read_table
from .tables.classifier import TableClassifier
from .tables.saved_models import load_model
from .threads import thread_limit

__all__ = [
    "AUCBlender",
    "AUCClassifier",
    "AUCComparison",
    "AUCComparisons",
    "AUCInterval",
    "AUMPath",
    "BestStep",
    "Descent",
    "ErrorBreakpoints",
    "IntervalRegression",
    "Lines",
    "OperatingPoint",
    "PenaltyRegressor",
    "ROCCurve",
    "StepPath",
    "TableClassifier",
    "ThresholdClassifier",
    "auc",
    "auc_interval",
    "aum",
    "aum_derivatives",
    "aum_gradient",
    "aum_path",
    "best_auc_step",
    "best_aum_step",
    "changepoint",
    "choose_threshold",
    "compare_auc",
    "compare_auc_unpaired",
    "compare_aucs",
    "load_model",
    "minimize_aum",
    "read_table",
    "roc_curve",
    "sweep",
    "thread_limit",
]
