"""Models that rank: maximise the area under the ROC curve by exact line search."""

from rocpath.breakpoints import ErrorBreakpoints
from rocpath.line_search import (
    AumPath,
    BestStep,
    Lines,
    StepPath,
    aum_path,
    best_auc_step,
    best_aum_step,
    sweep,
)
from rocpath.roc import (
    RocCurve,
    auc,
    aum,
    aum_derivatives,
    aum_gradient,
    roc_curve,
)

__all__ = [
    "AumPath",
    "BestStep",
    "ErrorBreakpoints",
    "Lines",
    "RocCurve",
    "StepPath",
    "auc",
    "aum",
    "aum_derivatives",
    "aum_gradient",
    "aum_path",
    "best_auc_step",
    "best_aum_step",
    "roc_curve",
    "sweep",
]
