"""Matplotlib figures of results."""

from rocpath.plots.changes import plot_changes
from rocpath.plots.decisions import plot_calibration, plot_decision_curve
from rocpath.plots.descents import DescentDisplay
from rocpath.plots.label_errors import plot_label_errors
from rocpath.plots.line_searches import LineSearchDisplay, plot_step_path
from rocpath.plots.reader_curves import plot_readers
from rocpath.plots.roc_curves import plot_roc, plot_roc_errors

__all__ = [
    "DescentDisplay",
    "LineSearchDisplay",
    "plot_calibration",
    "plot_changes",
    "plot_decision_curve",
    "plot_label_errors",
    "plot_readers",
    "plot_roc",
    "plot_roc_errors",
    "plot_step_path",
]
