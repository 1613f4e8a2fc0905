"""Models that rank: maximise the area under the ROC curve by exact line search."""

from rocpath.breakpoints import ErrorBreakpoints
from rocpath.line_search import BestStep, Lines, StepPath, best_auc_step, sweep
from rocpath.roc import (
    RocCurve,
    auc,
    aum,
    aum_derivatives,
    aum_gradient,
    roc_curve,
)

__all__ = [
    "BestStep",
    "ErrorBreakpoints",
    "Lines",
    "RocCurve",
    "StepPath",
    "auc",
    "aum",
    "aum_derivatives",
    "aum_gradient",
    "best_auc_step",
    "roc_curve",
    "sweep",
]
