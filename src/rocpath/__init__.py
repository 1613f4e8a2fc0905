"""Models that rank: maximise the area under the ROC curve by exact line search."""

from rocpath.breakpoints import ErrorBreakpoints
from rocpath.line_search import Lines, StepPath, sweep
from rocpath.roc import (
    RocCurve,
    auc,
    aum,
    aum_derivatives,
    aum_gradient,
    roc_curve,
)

__all__ = [
    "ErrorBreakpoints",
    "Lines",
    "RocCurve",
    "StepPath",
    "auc",
    "aum",
    "aum_derivatives",
    "aum_gradient",
    "roc_curve",
    "sweep",
]
