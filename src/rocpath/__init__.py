"""Models that rank: maximise the area under the ROC curve by exact line search."""

from rocpath import changepoint
from rocpath.breakpoints import ErrorBreakpoints
from rocpath.descent import Descent, minimize_aum
from rocpath.estimators import AUCClassifier
from rocpath.interval_regression import IntervalRegression
from rocpath.line_search import (
    Lines,
    aum_path,
    best_auc_step,
    best_aum_step,
    sweep,
)
from rocpath.penalty_regressor import PenaltyRegressor
from rocpath.roc import (
    RocCurve,
    auc,
    aum,
    aum_derivatives,
    aum_gradient,
    roc_curve,
)
from rocpath.step_paths import AumPath, BestStep, StepPath

__all__ = [
    "AUCClassifier",
    "AumPath",
    "BestStep",
    "Descent",
    "ErrorBreakpoints",
    "IntervalRegression",
    "Lines",
    "PenaltyRegressor",
    "RocCurve",
    "StepPath",
    "auc",
    "aum",
    "aum_derivatives",
    "aum_gradient",
    "aum_path",
    "best_auc_step",
    "best_aum_step",
    "changepoint",
    "minimize_aum",
    "roc_curve",
    "sweep",
]
