"""Matplotlib figures of results, in the style of scikit-learn's display objects."""

from rocpath.plots.descents import DescentDisplay
from rocpath.plots.label_errors import LabelErrorDisplay
from rocpath.plots.line_searches import LineSearchDisplay
from rocpath.plots.roc_curves import plot_roc
from rocpath.plots.roc_errors import ROCErrorDisplay
from rocpath.plots.step_paths import plot_step_path

__all__ = [
    "DescentDisplay",
    "LabelErrorDisplay",
    "LineSearchDisplay",
    "ROCErrorDisplay",
    "plot_roc",
    "plot_step_path",
]
