from . import changepoint
from .auc_statistics import AucComparison, AucInterval, auc_interval, compare_auc
from .breakpoints import ErrorBreakpoints
from .changepoint import IntervalRegression, PenaltyRegressor
from .descent import Descent
from .line_search import Lines, aum_path, best_auc_step, best_aum_step, sweep
from .linear_model import minimize_aum
from .operating_points import OperatingPoint
from .ranking import AUCClassifier, ThresholdClassifier
from .roc import RocCurve, auc, aum, aum_derivatives, aum_gradient, roc_curve
from .search_results import AumPath, BestStep, StepPath
from .threshold_choice import choose_threshold

__all__ = [
    "AUCClassifier",
    "AucComparison",
    "AucInterval",
    "AumPath",
    "BestStep",
    "Descent",
    "ErrorBreakpoints",
    "IntervalRegression",
    "Lines",
    "OperatingPoint",
    "PenaltyRegressor",
    "RocCurve",
    "StepPath",
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
    "minimize_aum",
    "roc_curve",
    "sweep",
]
