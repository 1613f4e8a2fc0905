"""Pictures, with matplotlib: displays as scikit-learn has them, and two functions."""

from rocpath.plots.comparisons import plot_comparison, plot_complexity
from rocpath.plots.descents import DescentDisplay
from rocpath.plots.label_errors import LabelErrorDisplay
from rocpath.plots.line_searches import LineSearchDisplay
from rocpath.plots.roc_errors import ROCErrorDisplay

__all__ = [
    "DescentDisplay",
    "LabelErrorDisplay",
    "LineSearchDisplay",
    "ROCErrorDisplay",
    "plot_comparison",
    "plot_complexity",
]
